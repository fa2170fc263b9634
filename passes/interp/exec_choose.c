/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the loop of a perfect nest whose iterations become the lanes of the
 * columns. A loop qualifies if its iterations store to different elements: then
 * they can run side by side, as the innermost loop. Loops whose iterations
 * continue it in memory order, in all accesses, are absorbed into it: 512 x 3 x
 * 3 becomes 4608 lanes. Instead, the innermost loop of a reduction can be
 * folded. The cheapest of all these choices is taken. */
#include "exec.h"

#include <stdlib.h>

struct access {
	const struct buffer *buffer;
	const struct expr *const *index;
	bool stores;
	bool affine; /* the index of every dimension is affine */
	bool *dim_affine;
	/* [dimension][loop]: the coefficients of the loops' variables in the
	 * index */
	int64_t *coeff;
	/* [loop]: the access's stride in elements, if it is affine */
	int64_t *flat;
};

struct nest {
	struct exec_builder *builder;
	const struct stmt *const *loops;
	const struct var **vars;
	/* by loop: the number of iterations; -1 if the number is not
	 * constant */
	int64_t *extent;
	int n;
	VEC(struct access) accesses;
	VEC(const struct expr *) seen;
	/* by loop: is its variable used outside of affine indices? */
	bool *otherwise;
	int n_nodes; /* the number of expression nodes, an estimate of the
		      * work */
};

/* ---- accesses of the body */

static void scan_expr(struct nest *x, const struct expr *e);

static void
mark_uses(struct nest *x, const struct expr *e)
{
	for (int i = 0; i < x->n; i++) {
		x->otherwise[i] |= exec_uses(x->builder, e, x->vars[i]);
	}
}

static bool
flat_stride(const struct buffer *b, int dimension, int64_t *stride)
{
	int64_t extent;

	*stride = 1;
	if (b->strides) {
		return expr_is_int(b->strides[dimension], stride);
	}
	for (int d = dimension + 1; d < b->ndim; d++) {
		if (!expr_is_int(b->shape[d], &extent)) {
			return false;
		}
		*stride *= extent;
	}
	return true;
}

static void
scan_access(struct nest *x, const struct buffer *buffer,
	    const struct expr *const *index, bool stores)
{
	struct arena *arena = x->builder->arena;
	struct access a = { .buffer = buffer,
			    .index = index,
			    .stores = stores,
			    .affine = true };

	a.dim_affine = arena_array(arena, bool, buffer->ndim + 1);
	a.coeff = arena_array(arena, int64_t, buffer->ndim * x->n + 1);
	a.flat = arena_array(arena, int64_t, x->n + 1);
	for (int d = 0; d < buffer->ndim; d++) {
		int64_t *coeff = a.coeff + d * x->n;
		int64_t stride;

		a.dim_affine[d] = exec_affine(x->builder, index[d], x->vars,
					      x->n, coeff);
		if (!a.dim_affine[d]) {
			a.affine = false;
			mark_uses(x, index[d]);
			scan_expr(x, index[d]);
			continue;
		}
		if (!flat_stride(buffer, d, &stride)) {
			a.affine = false;
			continue;
		}
		for (int i = 0; i < x->n; i++) {
			a.flat[i] += coeff[i] * stride;
		}
	}
	vec_push(arena, &x->accesses, a);
}

static void
scan_expr(struct nest *x, const struct expr *e)
{
	if (e->kind == EXPR_INT || e->kind == EXPR_FLOAT) {
		return;
	}
	if (vec_has(&x->seen, e)) {
		return;
	}
	vec_push(x->builder->arena, &x->seen, e);
	x->n_nodes++;
	if (e->kind == EXPR_LOAD) {
		scan_access(x, e->u.buffer, e->args, false);
		return;
	}
	if (e->kind == EXPR_VAR) {
		const struct exec_binding *binding = exec_find(x->builder,
							       e->u.var);

		mark_uses(x, e);
		if (binding && binding->value) {
			scan_expr(x, binding->value);
		}
	}
	for (int i = 0; i < e->n_args; i++) {
		scan_expr(x, e->args[i]);
	}
}

static void
scan_stmt(struct nest *x, const struct stmt *s)
{
	int mark = x->builder->bindings.n;

	switch (s->kind) {
	case STMT_STORE:
		scan_expr(x, s->args[0]);
		scan_access(x, s->u.buffer, s->args + 1, true);
		return;
	case STMT_BLOCK:
		scan_expr(x, s->args[0]);
		exec_bind_block(x->builder, s);
		for (int i = 0; i < s->u.block->n_iters; i++) {
			if (s->u.block->iters[i].kind == ITER_REDUCE) {
				mark_uses(x, s->args[1 + i]);
			}
		}
		break;
	case STMT_LET:
		scan_expr(x, s->args[0]);
		exec_bind(x->builder, s->u.var, s->args[0], -1, -1);
		break;
	case STMT_IF:
		scan_expr(x, s->args[0]);
		break;
	default:
		break;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			scan_stmt(x, s->children[i]);
		}
	}
	x->builder->bindings.n = mark;
}

/* ---- independent loops */

static int64_t
magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* Do different values of the loop variables give different indices? They do if
 * the loops are digits: each coefficient exceeds the range of all terms with
 * smaller coefficients together. coeff: the coefficient of each loop. */
static bool
is_injective(const struct nest *x, const int64_t *coeff)
{
	int64_t reach = 0;
	int64_t done = 0;
	int left = 0;

	for (int i = 0; i < x->n; i++) {
		left += coeff[i] != 0;
	}
	if (left == 1) {
		return true;
	}
	while (left-- > 0) {
		int next = -1;

		for (int i = 0; i < x->n; i++) {
			if (magnitude(coeff[i]) > done &&
			    (next < 0 ||
			     magnitude(coeff[i]) < magnitude(coeff[next]))) {
				next = i;
			}
		}
		/* Of several loops with equal coefficients only one is found:
		 * then no loop is left in a later turn, and next is -1. */
		if (next < 0 || magnitude(coeff[next]) <= reach ||
		    x->extent[next] < 0) {
			return false;
		}
		done = magnitude(coeff[next]);
		reach += done * (x->extent[next] - 1);
	}
	return true;
}

/* Is there a dimension of b in which the index differs between the iterations
 * of the loop, and is the same expression in all accesses of b? */
static bool
separates(const struct nest *x, const struct buffer *b, int loop)
{
	const struct access *first = NULL;

	for (int d = 0; d < b->ndim; d++) {
		bool holds = true;

		first = NULL;
		for (int i = 0; i < x->accesses.n && holds; i++) {
			const struct access *a = &x->accesses.data[i];

			if (a->buffer != b) {
				continue;
			}
			if (!first) {
				first = a;
				holds = a->dim_affine[d] &&
					a->coeff[d * x->n + loop] != 0 &&
					is_injective(x, a->coeff + d * x->n);
			} else {
				holds = a->index[d] == first->index[d];
			}
		}
		if (holds && first) {
			return true;
		}
	}
	return false;
}

static bool
is_parallel(const struct nest *x, int loop)
{
	bool stores = false;

	for (int i = 0; i < x->accesses.n; i++) {
		const struct access *a = &x->accesses.data[i];

		if (a->stores) {
			stores = true;
			if (!separates(x, a->buffer, loop)) {
				return false;
			}
		}
	}
	return stores;
}

/* ---- costs */

static double
access_cost(const struct nest *x, int loop)
{
	double cost = 0;

	for (int i = 0; i < x->accesses.n; i++) {
		const struct access *a = &x->accesses.data[i];
		int64_t step = a->affine ? magnitude(a->flat[loop]) : 0;

		cost += !a->affine  ? 3
			: step == 0 ? 0.05
			: step == 1 ? 0.25
				    : 1;
	}
	return cost;
}

/* Absorbs every loop with independent iterations whose elements continue, in
 * all accesses, those of the lanes so far. Returns the number of lanes. */
static int64_t
absorb(const struct nest *x, const bool *parallel, int loop, bool *absorbed)
{
	int64_t extent = x->extent[loop];
	bool more = extent > 0 && !x->otherwise[loop];

	memset(absorbed, 0, sizeof *absorbed * (size_t)x->n);
	for (int i = 0; i < x->accesses.n; i++) {
		more &= x->accesses.data[i].affine;
	}
	while (more) {
		more = false;
		for (int k = 0; k < x->n && !more; k++) {
			bool fits = parallel[k] && !absorbed[k] && k != loop &&
				    !x->otherwise[k] && x->extent[k] > 0;

			for (int i = 0; i < x->accesses.n && fits; i++) {
				const int64_t *flat = x->accesses.data[i].flat;

				fits = flat[k] == flat[loop] * extent;
			}
			if (fits) {
				absorbed[k] = true;
				extent *= x->extent[k];
				more = true;
			}
		}
	}
	return extent;
}

/* The only store in the body, if it can be folded over the innermost loop, in
 * which it updates a single element (exec_folded_value); else NULL. */
static const struct stmt *
find_fold(const struct nest *x, const struct stmt *s)
{
	while (s->kind == STMT_BLOCK || s->kind == STMT_ATTR) {
		s = s->children[0];
	}
	if (s->kind != STMT_STORE || !exec_folded_value(s)) {
		return NULL;
	}
	for (int i = 0; i < x->accesses.n; i++) {
		const struct access *a = &x->accesses.data[i];

		if (a->buffer == s->u.buffer &&
		    (!a->affine || a->flat[x->n - 1] != 0)) {
			return NULL;
		}
		if (a->stores && a->buffer != s->u.buffer) {
			return NULL;
		}
	}
	return s;
}

static double
overhead(const struct nest *x, int64_t extent)
{
	double lanes = extent < 0 || extent > EXEC_LANES ? EXEC_LANES
							 : (double)extent;

	return 8.0 * (x->n_nodes + 2) / (lanes < 1 ? 1 : lanes);
}

/* The number of lanes of a strip: few if the accesses of neighbouring lanes are
 * a page or more apart, because of the TLB. */
static int
strip_length(const struct nest *x, int loop)
{
	for (int i = 0; i < x->accesses.n; i++) {
		const struct access *a = &x->accesses.data[i];

		if (a->affine && magnitude(a->flat[loop]) >=
					 4096 / dtype_bytes(a->buffer->type)) {
			return EXEC_LANES / 4;
		}
	}
	return EXEC_LANES;
}

struct offer {
	struct exec_choice choice;
	double cost;
};

static void
offer(struct offer *best, const struct exec_choice *choice, double cost)
{
	if (cost < best->cost) {
		best->choice = *choice;
		best->cost = cost;
	}
}

/* If the lanes are few, offers a second loop around them, whose iterations are
 * rows of lanes, so that the columns are filled. */
static void
offer_rows(const struct nest *x, const bool *parallel,
	   const struct exec_choice *single, struct offer *best)
{
	for (int i = 0; i < x->n; i++) {
		struct exec_choice choice = *single;
		double cost = 0;

		if (!parallel[i] || i == single->lanes || single->absorbed[i] ||
		    x->extent[i] <= 1) {
			continue;
		}
		choice.rows = i;
		choice.row_extent = x->extent[i];
		choice.strip = EXEC_LANES / (int)single->extent;
		for (int k = 0; k < x->accesses.n; k++) {
			const struct access *a = &x->accesses.data[k];
			int64_t step = a->affine
					       ? magnitude(
							 a->flat[single->lanes])
					       : 0;
			bool even = a->affine &&
				    a->flat[i] == a->flat[single->lanes] *
							  single->extent;

			cost += !a->affine  ? 3
				: !even     ? 1.1
				: step == 0 ? 0.05
				: step == 1 ? 0.25
					    : 1;
		}
		offer(best, &choice,
		      cost + overhead(x, choice.row_extent * single->extent));
	}
}

static struct nest
scan_nest(struct exec_builder *b, const struct stmt *const *loops, int n,
	  const struct stmt *body)
{
	struct arena *arena = b->arena;
	struct nest x = { .builder = b, .loops = loops, .n = n };

	x.vars = arena_array(arena, const struct var *, n + 1);
	x.extent = arena_array(arena, int64_t, n + 1);
	x.otherwise = arena_array(arena, bool, n + 1);
	for (int i = 0; i < n; i++) {
		x.vars[i] = loops[i]->u.loop.var;
		if (!expr_is_int(loops[i]->args[1], &x.extent[i])) {
			x.extent[i] = -1;
		}
		/* Absorbed loops must start at 0. */
		x.otherwise[i] = !expr_is_value(loops[i]->args[0], 0);
	}
	scan_stmt(&x, body);
	return x;
}

struct exec_choice
exec_choose(struct exec_builder *b, const struct stmt *const *loops, int n,
	    const struct stmt *body)
{
	struct nest x = scan_nest(b, loops, n, body);
	bool *parallel = arena_array(b->arena, bool, n + 1);
	bool *none = arena_array(b->arena, bool, n + 1);
	struct offer best = { { -1, -1, 1, 1, EXEC_LANES, none, NULL },
			      overhead(&x, 1) };

	for (int i = 0; i < n; i++) {
		parallel[i] = is_parallel(&x, i);
	}
	for (int i = 0; i < n; i++) {
		struct exec_choice choice = { i, -1, 1, 1, 0, NULL, NULL };

		if (!parallel[i]) {
			continue;
		}
		choice.absorbed = arena_array(b->arena, bool, n + 1);
		choice.extent = absorb(&x, parallel, i, choice.absorbed);
		choice.strip = strip_length(&x, i);
		offer(&best, &choice,
		      overhead(&x, choice.extent) + access_cost(&x, i));
		if (choice.extent > 0 && choice.extent <= EXEC_LANES / 2 &&
		    expr_is_value(loops[i]->args[0], 0)) {
			offer_rows(&x, parallel, &choice, &best);
		}
	}
	const struct stmt *fold = n > 0 ? find_fold(&x, body) : NULL;

	if (fold) {
		struct exec_choice choice = {
			n - 1, -1, x.extent[n - 1], 1, EXEC_LANES, none, fold
		};

		offer(&best, &choice,
		      overhead(&x, x.extent[n - 1]) + access_cost(&x, n - 1) +
			      1.2);
	}
	return best.choice;
}
