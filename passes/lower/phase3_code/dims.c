/* SPDX-License-Identifier: Apache-2.0 */
/* Drops dimensions of extent 1, and merges adjacent dimensions if all accesses
 * have fused indices for them. Parameters are changed, too: parameters are
 * dense, so that their bytes stay in place.
 *
 *   x: (1, 64, 56, 56)                      x: (200704,)
 *   for i in range(200704):            ->   for i in range(200704):
 *       y[0, i // 3136, i // 56 % 56, i % 56] = ...    y[i] = ...
 *
 * A parameter keeps at least one dimension. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"

struct dims {
	struct func *func;
	VEC(const struct buffer *) buffers;
	int ndim; /* the rank of the buffer that is being merged */
	/* the index of the dimension of `from` that is merged with the
	 * dimension after it */
	int merge;
	const struct buffer *from;
};

static void
add_buffer(struct dims *d, const struct buffer *b)
{
	if (vec_has(&d->buffers, b)) {
		return;
	}
	if (!b->strides) {
		vec_push(&d->func->module->arena, &d->buffers, b);
	}
}

/* -- squeezing */

static void
squeeze_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	      const struct expr **new)
{
	const struct dims *d = ctx;
	int k = 0;

	(void)at;
	for (int i = 0; i < d->from->ndim; i++) {
		if (!expr_is_value(d->from->shape[i], 1)) {
			new[k++] = old[i];
		}
	}
	if (k < d->ndim) {
		new[k] = expr_i32(d->func->module, 0);
	}
}

static const struct buffer *
squeeze(struct dims *d, const struct buffer *b)
{
	struct module *m = d->func->module;
	const struct buffer *to;
	const struct expr **shape = arena_exprs(&m->arena, b->ndim + 1);

	d->ndim = 0;
	d->from = b;
	for (int i = 0; i < b->ndim; i++) {
		if (!expr_is_value(b->shape[i], 1)) {
			shape[d->ndim++] = b->shape[i];
		}
	}
	if (d->ndim == 0 && func_has_param(d->func, b)) {
		shape[d->ndim++] = expr_i32(m, 1);
	}
	if (d->ndim == b->ndim) {
		return b;
	}
	to = buffer_with_shape(m, b, d->ndim, shape);
	buffer_remap(d->func, d->func->body, b, to, squeeze_index, d);
	return to;
}

/* -- merging */

struct divisions {
	int all;
	/* divisions that depend on a serial loop around the statement that
	 * computes them, and so are computed in each iteration */
	int repeated;
};

static bool
is_repeated(const struct expr *e, const struct stmt *at)
{
	for (; at != NULL; at = at->parent) {
		if (at->kind == STMT_FOR && at->u.loop.kind != FOR_THREAD &&
		    expr_uses_var(e, at->u.loop.var)) {
			return true;
		}
	}
	return false;
}

static bool
is_division(const struct expr *e)
{
	return e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD;
}

static bool
has_node(const struct expr *e, const struct expr *node)
{
	struct expr_iter it = expr_each_of(e, node->kind);

	while ((e = expr_next(&it)) != NULL && e != node) {
	}
	expr_stop(&it);
	return e != NULL;
}

/* Is the node `node` used in a condition inside of e? */
static bool
is_in_condition(const struct expr *e, const struct expr *node)
{
	struct expr_iter it = expr_each_of(e, EXPR_IF);

	while ((e = expr_next(&it)) != NULL && !has_node(e->args[0], node)) {
	}
	expr_stop(&it);
	return e != NULL;
}

static struct divisions
divisions_in(const struct expr *e, const struct stmt *at)
{
	struct divisions n = { 0, 0 };

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		if (is_division(e)) {
			n.all++;
			n.repeated += is_repeated(e, at);
		}
	}
	return n;
}

/* Is the division also used in a condition in or around the statement? */
static bool
is_guarded(const struct expr *division, const struct stmt *at)
{
	bool found = at->n_args > 0 && is_in_condition(at->args[0], division);

	for (const struct stmt *s = at->parent; s != NULL && !found;
	     s = s->parent) {
		found = s->kind == STMT_IF && has_node(s->args[0], division);
	}
	return found;
}

/* Does e contain a division that a condition also needs? */
static bool
has_guarded_division(const struct expr *e, const struct stmt *at)
{
	struct expr_iter it = expr_each(e);

	while ((e = expr_next(&it)) != NULL &&
	       !(is_division(e) && is_guarded(e, at))) {
	}
	expr_stop(&it);
	return e != NULL;
}

static bool
is_constant(const struct expr *e)
{
	int64_t v;

	return expr_is_int(e, &v);
}

/* The number of terms of the sum e that are not constant. Sets *guarded to true
 * if a term contains a division that a condition guards. */
static int
count_terms(const struct expr *e, const struct stmt *at, bool *guarded)
{
	if (e->kind == EXPR_ADD || e->kind == EXPR_SUB) {
		return count_terms(e->args[0], at, guarded) +
		       count_terms(e->args[1], at, guarded);
	}
	*guarded |= has_guarded_division(e, at);
	return !is_constant(e);
}

/* Is the index a position in a sliding window over padded data, oh + kh - 1
 * with oh from a division? The guard needs this index separately, so that a
 * merged index would be an additional computation. */
static bool
is_in_window(const struct expr *index, const struct stmt *at)
{
	bool guarded = false;

	return count_terms(index, at, &guarded) > 1 && guarded;
}

/* Returns an x for which x // extent = division and x % extent = lo; NULL if
 * none is found. If x was q * s + rest with rest < s, the division is q //
 * (extent // s). */
static const struct expr *
undivided(struct analyser *a, const struct expr *division,
	  const struct expr *lo, const struct expr *extent)
{
	struct module *m = a->module;
	const struct expr *x, *rest;
	int64_t divisor, n, s = 1;
	struct bounds b;

	if (division->kind != EXPR_FLOORDIV) {
		return NULL;
	}
	if (division->args[1] != extent) {
		if (!expr_is_int(division->args[1], &divisor) ||
		    !expr_is_int(extent, &n) || divisor < 1 || n % divisor) {
			return NULL;
		}
		s = n / divisor;
	}
	x = simplify(a, expr_mul(m, division->args[0],
				 expr_int(m, extent->type, s)));
	rest = simplify(a, expr_sub(m, lo,
				    simplify(a, expr_floormod(m, x, extent))));
	b = analyse_bounds(a, rest);
	return b.min >= 0 && b.max < s ? simplify(a, expr_add(m, x, rest))
				       : NULL;
}

/* hi * extent + lo without the division by extent, if hi is x // extent plus a
 * constant, or (x // extent plus a constant) modulo an extent, and lo is x %
 * extent. */
static const struct expr *
fused_index(struct analyser *a, const struct expr *hi, const struct expr *lo,
	    const struct expr *extent)
{
	struct module *m = a->module;
	const struct expr *row = hi->kind == EXPR_FLOORMOD ? hi->args[0] : hi;
	const struct expr *division = row, *whole;
	int64_t constant;

	if (row->kind == EXPR_ADD && expr_is_int(row->args[1], &constant)) {
		division = row->args[0];
	}
	whole = undivided(a, division, lo, extent);
	if (whole != NULL) {
		if (division != row) {
			whole = expr_add(m, whole,
					 expr_mul(m, row->args[1], extent));
		}
		if (row != hi) {
			whole = expr_floormod(m, whole,
					      expr_mul_sizes(m, extent,
							     hi->args[1]));
		}
		return simplify(a, whole);
	}
	return simplify(a, expr_add(m, expr_mul(m, hi, extent), lo));
}

/* Does an index below the merged extent fit 32 bits? A symbolic extent is
 * assumed to fit. */
static bool
fits(const struct expr *size)
{
	int64_t v;

	return !expr_is_int(size, &v) || v <= INT32_MAX;
}

/* Can the two be operands of one sum? Signed and unsigned numbers cannot. */
static bool
are_alike(const struct expr *a, const struct expr *b)
{
	return is_constant(a) || is_constant(b) ||
	       dtype_class(a->type) == dtype_class(b->type);
}

/* Does merging save a division in some access, without adding one in another?
 * If an access has two plain indices, only divisions that a loop repeats count
 * as saved: divisions of the thread index are computed once. */
static bool
worth_merging(struct dims *d, const struct buffer *b, int at,
	      const struct access_list *uses)
{
	struct module *m = d->func->module;
	const struct expr *extent = b->shape[at + 1];
	bool better = false, repeated = false, plain = false;

	if (!fits(expr_mul_sizes(m, b->shape[at], extent))) {
		return false;
	}
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];
		struct analyser a;
		struct divisions before, after;
		const struct expr *hi = x->index[at], *lo = x->index[at + 1];

		if (is_in_window(hi, x->at) || is_in_window(lo, x->at) ||
		    !are_alike(hi, lo) || !are_alike(hi, extent) ||
		    !are_alike(lo, extent)) {
			return false;
		}
		analyser_at(&a, m, x->at);
		/* Builds the sum, so that a division common to both indices
		 * counts once. */
		before = divisions_in(expr_add(m, expr_mul(m, hi, extent), lo),
				      x->at);
		after = divisions_in(fused_index(&a, hi, lo, extent), x->at);
		if (after.all > before.all) {
			return false;
		}
		plain |= before.all == 0 && !is_constant(hi) &&
			 !is_constant(lo);
		better |= after.all < before.all;
		repeated |= after.repeated < before.repeated;
	}
	return plain ? repeated : better;
}

static void
merge_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	    const struct expr **new)
{
	const struct dims *d = ctx;
	struct module *m = d->func->module;
	const struct expr *extent = d->from->shape[d->merge + 1];
	struct analyser a;
	int k = 0;

	analyser_at(&a, m, at);
	for (int i = 0; i < d->from->ndim; i++) {
		if (i == d->merge) {
			new[k++] = fused_index(&a, old[i], old[i + 1], extent);
			i++;
		} else {
			new[k++] = old[i];
		}
	}
}

static const struct buffer *
merge(struct dims *d, const struct buffer *b)
{
	struct module *m = d->func->module;

	for (int at = b->ndim - 2; at >= 0; at--) {
		const struct buffer *to;
		const struct expr **shape;
		int k = 0;
		struct access_list uses = accesses_of(d->func, d->func->body,
						      b);

		if (!worth_merging(d, b, at, &uses)) {
			continue;
		}
		shape = arena_exprs(&m->arena, b->ndim);
		for (int i = 0; i < b->ndim; i++) {
			if (i == at) {
				shape[k++] = expr_mul(m, b->shape[i],
						      b->shape[i + 1]);
				i++;
			} else {
				shape[k++] = b->shape[i];
			}
		}
		to = buffer_with_shape(m, b, k, shape);
		d->merge = at;
		d->from = b;
		buffer_remap(d->func, d->func->body, b, to, merge_index, d);
		b = to;
	}
	return b;
}

bool
lower_dims(struct func *f)
{
	struct dims d = { .func = f };
	struct stmt_list allocs = stmts_of(&f->module->arena, f->body,
					   STMT_ALLOC);

	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer) {
			add_buffer(&d, f->params.data[i].buffer);
		}
	}
	for (int i = 0; i < allocs.list.n; i++) {
		add_buffer(&d, allocs.list.data[i]->u.buffer);
	}
	for (int i = 0; i < d.buffers.n; i++) {
		const struct buffer *b = squeeze(&d, d.buffers.data[i]);

		if (b->ndim >= 2) {
			merge(&d, b);
		}
	}
	return true;
}
