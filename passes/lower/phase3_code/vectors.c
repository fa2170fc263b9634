/* SPDX-License-Identifier: Apache-2.0 */
/* Makes local arrays arrays of vectors, so that compilers keep them in vector
 * registers.
 *
 *   acc = T.alloc_buffer((7, 64))      acc = T.alloc_buffer((7, 4), "f32x16")
 *   for ow in T.unroll(7):             for ow in T.unroll(7):
 *     for oc in T.vectorized(64):  ->    for oc in T.unroll(4):
 *       acc[ow, oc] = acc[ow, oc]          acc[ow, oc] = acc[ow, oc]
 *         + x[ow] * w[oc]                    + T.Broadcast(x[ow], 16) * w[oc]
 *
 * The fact `vectors` lists the target's vector types (float32x16, float32x8;
 * best first); if the list is empty, nothing changes. An array is changed if
 * every loop that accesses it is vectorized and can be rewritten with whole
 * vectors (vector_loops.c). After that, vectorizable loops that do not access
 * changed arrays are rewritten, too. In a function without changed arrays, only
 * loops that store bytes are rewritten: compilers vectorize all other loops
 * well. With the fact vector_params, which requires that tirc emits all
 * callers, parameters that are only accessed by whole vectors become arrays of
 * vectors as well, with the same bytes. With the fact byte_vectors, bytes are
 * widened to vectors of 32-bit integers, which are scaled and narrowed to bytes
 * as vectors. */
#include "lower_passes.h"

#include <string.h>

#include "iterate.h"
#include "thread_loops.h"
#include "vectors.h"

bool
vectors_walks(struct vectors *x, const struct stmt *at,
	      const struct expr *const *index, int n, struct var *v,
	      const struct expr **rest)
{
	struct analyser a;
	int64_t step;

	for (int i = 0; i < n; i++) {
		if (index[i]->type.lanes != 1 ||
		    (i < n - 1 && expr_uses_var(index[i], v))) {
			return false;
		}
	}
	if (n == 0 || !expr_uses_var(index[n - 1], v)) {
		return false;
	}
	analyser_at(&a, x->module, at);
	return analyse_affine(&a, index[n - 1], &v, 1, &step, rest) &&
	       step == 1;
}

bool
vectors_divides(struct vectors *x, const struct stmt *at, const struct expr *e)
{
	struct analyser a;

	analyser_at(&a, x->module, at);
	return prove(&a, expr_eq(x->module,
				 expr_floormod(x->module, e,
					       expr_int(x->module, e->type,
							x->type.lanes)),
				 expr_int(x->module, e->type, 0)));
}

bool
vectors_is_local(const struct vectors *x, const struct buffer *b)
{
	return vec_has(&x->locals, b);
}

/* Is b dense and of the vectors' element type, and is its last extent a
 * multiple of the vector's lanes? */
static bool
has_whole_rows(const struct vectors *x, const struct buffer *b)
{
	int64_t last;

	return b->type.kind == x->type.kind && b->type.lanes == 1 &&
	       b->strides == NULL && b->ndim >= 1 &&
	       expr_is_int(b->shape[b->ndim - 1], &last) && last > 0 &&
	       last % x->type.lanes == 0;
}

/* -- choosing arrays and loops -- */

/* Gives each copy that the pass partition-loops made of a loop its own arrays,
 * because one copy's array may hold vectors and another's not. */
static void
unshare_arrays(struct func *f)
{
	VEC(const struct buffer *) seen = { 0 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		const struct buffer *b = s->u.buffer;
		bool again = false;

		for (int i = 0; i < seen.n; i++) {
			again |= seen.data[i] == b;
		}
		if (again) {
			stmt_replace_buffer(f, s, b,
					    buffer_with_scope(f->module, b,
							      NULL));
		} else {
			vec_push(&f->module->arena, &seen, b);
		}
	}
}

static void
find_locals(struct vectors *x)
{
	const struct stmt *s;
	int64_t elems;

	x->locals.n = 0;
	for (struct stmt_iter it = stmt_each_of(x->func->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		if (has_whole_rows(x, s->u.buffer) &&
		    buffer_const_elems(s->u.buffer, &elems) &&
		    elems <= (int64_t)VECTORS_AT_MOST * x->type.lanes &&
		    !buffer_is_shared(s->u.buffer)) {
			vec_push(&x->module->arena, &x->locals, s->u.buffer);
		}
	}
}

/* The innermost vectorized loop that is s or is around s; NULL if there is
 * none, or if its extent is not a constant above 0. */
static struct stmt *
loop_around(struct stmt *s)
{
	int64_t extent;

	while (s != NULL &&
	       (s->kind != STMT_FOR || s->u.loop.kind != FOR_VECTORIZED)) {
		s = s->parent;
	}
	return s == NULL || !expr_is_int(s->args[1], &extent) || extent < 1
		       ? NULL
		       : s;
}

/* Is the address that u takes, for an instruction, the start of a vector? False
 * for the address in a copy of a box: the sizes of the box count elements, so
 * its arrays must keep their type. */
static bool
is_vector_address(struct vectors *x, const struct access *u)
{
	const struct expr *e = u->at->args[0];

	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_COPY_BOX) {
		return false;
	}
	for (int i = 0; i < u->buffer->ndim; i++) {
		if (u->index[i]->type.lanes != 1) {
			return false;
		}
	}
	return vectors_divides(x, u->at, u->index[u->buffer->ndim - 1]);
}

/* Is the type of vectors that is tried (x->type) shorter than the longest
 * vectors, and is one of the accesses in a loop that fills the longest ones? If
 * the array became an array of shorter vectors, this loop could no longer use
 * the longest ones. (An array that has not become one of the longest vectors is
 * also accessed by loops that are too short for these, or only by loops of
 * scalars over the lanes of a vector.) */
static bool
shortens_loops(struct vectors *x, const struct access_list *uses)
{
	bool fills = false;

	for (int i = 0; i < uses->list.n; i++) {
		const struct stmt *loop = loop_around(uses->list.data[i].at);
		int64_t extent;

		fills |= loop != NULL && expr_is_int(loop->args[1], &extent) &&
			 extent % x->most_lanes == 0;
	}
	return fills && x->type.lanes < x->most_lanes;
}

/* Does b have fewer lanes than the longest vectors, and does the loop access
 * only some of them? A reduction by halves has such loops: compilers keep the
 * lanes of b in registers, but would store and reload shorter vectors. */
static bool
divides_lanes(const struct vectors *x, const struct buffer *b,
	      const struct stmt *loop)
{
	int64_t lanes, extent;

	return expr_is_int(b->shape[b->ndim - 1], &lanes) &&
	       lanes < x->most_lanes && expr_is_int(loop->args[1], &extent) &&
	       extent < lanes;
}

/* Do all loops that access b access only whole vectors of b? A loop that only
 * reads b may have a tail. */
static bool
local_fits(struct vectors *x, const struct buffer *b)
{
	struct access_list uses = accesses_of(x->func, x->func->body, b);

	if (shortens_loops(x, &uses)) {
		return false;
	}
	for (int i = 0; i < uses.list.n; i++) {
		const struct access *u = &uses.list.data[i];
		struct stmt *loop = loop_around(u->at);
		const struct expr *rest;

		if (u->address && loop == NULL && is_vector_address(x, u)) {
			continue;
		}
		if (loop == NULL || u->address || divides_lanes(x, b, loop) ||
		    (u->load == NULL && vectors_rest(x, loop) > 0) ||
		    !vectors_walks(x, u->at, u->index, b->ndim,
				   loop->u.loop.var, &rest) ||
		    !vectors_divides(x, loop, loop->args[0]) ||
		    !vectors_divides(x, u->at, rest)) {
			return false;
		}
	}
	return uses.list.n > 0;
}

static void
drop_local(struct vectors *x, const struct buffer *b)
{
	int kept = 0;

	for (int i = 0; i < x->locals.n; i++) {
		if (x->locals.data[i] != b) {
			x->locals.data[kept++] = x->locals.data[i];
		}
	}
	x->locals.n = kept;
}

static void
add_loop(struct vectors *x, struct stmt *loop)
{
	vec_add(&x->module->arena, &x->loops, loop);
}

static void
find_loops(struct vectors *x)
{
	struct access_list uses = { 0 };

	x->loops.n = 0;
	access_collect(x->func, x->func->body, NULL, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		const struct access *u = &uses.list.data[i];

		if (vectors_is_local(x, u->buffer) && !u->address) {
			add_loop(x, loop_around(u->at));
		}
	}
}

/* Drops arrays that are accessed in loops that cannot be rewritten, until all
 * remaining loops can be. */
static void
choose(struct vectors *x)
{
	bool again = true;

	for (int i = x->locals.n - 1; i >= 0; i--) {
		if (!local_fits(x, x->locals.data[i])) {
			drop_local(x, x->locals.data[i]);
		}
	}
	while (again) {
		again = false;
		find_loops(x);
		for (int i = 0; i < x->loops.n && !again; i++) {
			struct access_list uses = { 0 };

			if (vectors_loop_fits(x, x->loops.data[i])) {
				continue;
			}
			again = true;
			access_collect(x->func, x->loops.data[i], NULL, &uses);
			for (int k = 0; k < uses.list.n; k++) {
				drop_local(x, uses.list.data[k].buffer);
			}
		}
	}
}

/* Adds loops that can be rewritten as a whole, in addition to those found so
 * far, so that the arrays that they access can hold vectors, too. */
static void
find_plain(struct vectors *x)
{
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(x->func->body, STMT_FOR);
	     (s = stmt_next(&it));) {
		if (s->u.loop.kind == FOR_VECTORIZED && loop_around(s) == s &&
		    vectors_rest(x, s) == 0 &&
		    vectors_divides(x, s, s->args[0]) &&
		    vectors_loop_is_plain(x, s)) {
			add_loop(x, s);
			stmt_skip(&it);
		}
	}
}

/* -- arrays of vectors -- */

static bool
is_whole_vector(struct vectors *x, const struct access *u)
{
	int n = u->buffer->ndim;
	const struct expr *last = u->index[n - 1];

	if (u->address) {
		return vectors_is_local(x, u->buffer) &&
		       is_vector_address(x, u);
	}
	for (int i = 0; i < n - 1; i++) {
		if (u->index[i]->type.lanes != 1) {
			return false;
		}
	}
	return last->kind == EXPR_RAMP && last->type.lanes == x->type.lanes &&
	       expr_is_value(last->args[1], 1) &&
	       vectors_divides(x, u->at, last->args[0]);
}

struct retyping {
	struct vectors *x;
	const struct buffer *from;
	/* the last dimension is dropped, because its elements become one
	 * vector */
	bool drop;
};

static void
retype_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	     const struct expr **new)
{
	const struct retyping *r = ctx;
	struct module *m = r->x->module;
	int last = r->from->ndim - 1;
	const struct expr *base = old[last]->kind == EXPR_RAMP
					  ? old[last]->args[0]
					  : old[last];
	struct analyser a;

	for (int i = 0; i < last; i++) {
		new[i] = old[i];
	}
	if (!r->drop) {
		analyser_at(&a, m, at);
		new[last] = simplify(&a,
				     expr_floordiv(m, base,
						   expr_int(m, base->type,
							    r->x->type.lanes)));
	}
}

static void
retype(struct vectors *x, const struct buffer *b, bool is_param)
{
	struct module *m = x->module;
	struct retyping r = { x, b, false };
	struct buffer_spec spec = {
		.name = b->name,
		.type = x->type,
		.ndim = b->ndim,
		.scope = b->scope,
		.align_bytes = b->align_bytes,
	};
	const struct expr **shape = arena_exprs(&m->arena, b->ndim);
	const struct expr *rows;
	struct access_list uses = accesses_of(x->func, x->func->body, b);

	for (int i = 0; i < uses.list.n; i++) {
		if (!is_whole_vector(x, &uses.list.data[i])) {
			return;
		}
	}
	if (uses.list.n == 0) {
		return;
	}
	memcpy(shape, b->shape, sizeof *shape * (size_t)b->ndim);
	rows = expr_floordiv(m, shape[b->ndim - 1],
			     expr_int(m, shape[b->ndim - 1]->type,
				      x->type.lanes));
	shape[b->ndim - 1] = rows;
	r.drop = expr_is_value(rows, 1) && (!is_param || b->ndim > 1);
	spec.ndim -= r.drop;
	spec.shape = shape;
	buffer_remap(x->func, x->func->body, b, buffer_new(m, &spec),
		     retype_index, &r);
}

static void
retype_all(struct vectors *x)
{
	struct func *f = x->func;

	for (int i = 0; i < x->locals.n; i++) {
		retype(x, x->locals.data[i], false);
	}
	for (int i = 0; i < f->params.n && f->facts.vector_params; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL && has_whole_rows(x, b)) {
			retype(x, b, true);
		}
	}
}

static void
use_vectors(struct vectors *x)
{
	find_locals(x);
	choose(x);
	if (x->loops.n > 0 || x->bytes) {
		find_plain(x);
	}
	for (int i = 0; i < x->loops.n; i++) {
		vectors_rewrite_loop(x, x->loops.data[i]);
	}
	if (x->loops.n > 0) {
		retype_all(x);
	}
}

/* The largest number of lanes that the target's vectors of elements of type t
 * have; t.lanes if that is larger. */
static int
most_lanes(const struct target_facts *facts, struct dtype t)
{
	int most = t.lanes;

	for (int i = 0; i < facts->vectors.n; i++) {
		const struct dtype v = facts->vectors.data[i];

		most = v.kind == t.kind && v.lanes > most ? v.lanes : most;
	}
	return most;
}

bool
lower_vectors(struct func *f)
{
	struct target_facts *facts = &f->facts;
	struct vectors x = { .func = f,
			     .module = f->module,
			     .bytes = facts->byte_vectors,
			     .fmax = facts->fmax_vectors,
			     .halves = facts->half_vectors };

	if (facts->vectors.n > 0) {
		unshare_arrays(f);
	}
	for (int i = 0; i < facts->vectors.n; i++) {
		x.type = facts->vectors.data[i];
		x.most_lanes = most_lanes(facts, x.type);
		use_vectors(&x);
	}
	facts->has_vectors = false;
	facts->vectors.n = 0;
	facts->byte_vectors = false;
	facts->fmax_vectors = false;
	facts->half_vectors = false;
	facts->vector_params = false;
	return true;
}
