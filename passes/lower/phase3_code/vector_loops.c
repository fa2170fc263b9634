/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a vectorized loop as statements on whole vectors. Operations without
 * a vector form (calls, strided elements) process the lanes in a scalar loop
 * over a small array, so that no accumulator array is indexed by a lane:
 *
 *   for oc in T.vectorized(32):        for oc in T.unroll(2):
 *     y[oc, h] = exp(acc[oc])     ->     lanes[0:16] = acc[oc * 16:oc * 16 + 16]
 *                                        for lane in range(16):
 *                                          y[oc * 16 + lane, h] = exp(lanes[lane])
 *
 * A scalar loop also handles the tail of lanes in a loop that does not store to
 * an accumulator array, and stores that are guarded by a condition on the
 * lane. */
#include <string.h>

#include "iterate.h"
#include "vectors.h"

struct loop {
	struct vectors *x;
	struct var *var; /* the variable of the original loop */
	const struct stmt *at;
	/* the loop variable's value in the first lane of the current vector */
	const struct expr *start;
	/* vectors whose lanes are stored to an array first */
	VEC(const struct expr *) spilled;
	/* by spilled vector: the array of its lanes */
	VEC(const struct buffer *) lanes;
	struct var *lane;
	/* the number of lanes to process; in the tail, fewer than the lanes of
	 * a vector: the other lanes must not be accessed */
	int64_t n_lanes;
	/* the condition under which each lane is stored; NULL if all lanes are
	 * stored */
	const struct expr *condition;
	const struct stmt *loop; /* the original loop */
};

int64_t
vectors_rest(const struct vectors *x, const struct stmt *loop)
{
	int64_t extent = 0;

	expr_is_int(loop->args[1], &extent);
	return extent % x->type.lanes;
}

static bool
is_uniform(const struct loop *l, const struct expr *e)
{
	return !expr_uses_var(e, l->var);
}

/* Is e a load of consecutive elements? */
static bool
loads_vector(struct loop *l, const struct expr *e)
{
	const struct expr *rest;

	return e->kind == EXPR_LOAD && e->u.buffer->type.lanes == 1 &&
	       vectors_walks(l->x, l->at, e->args, e->n_args, l->var, &rest);
}

static bool
is_byte(struct dtype t)
{
	return dtype_is_int(t) && dtype_bits(t) == 8 && t.lanes == 1;
}

/* Does e load consecutive bytes, or, of consecutive bytes, the same nibble of
 * each? */
static bool
loads_bytes(struct loop *l, const struct expr *e)
{
	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_NIBBLE) {
		return is_uniform(l, e->args[1]) && is_byte(e->args[0]->type) &&
		       loads_vector(l, e->args[0]);
	}
	return is_byte(e->type) && loads_vector(l, e);
}

/* Can the target convert bytes to a vector of type t with the same number of
 * lanes, and back? */
static bool
converts_bytes(const struct loop *l, struct dtype t)
{
	return l->x->bytes && (t.kind == DT_I32 || t.kind == DT_F32);
}

/* Is e, a requantization scale, the same in all lanes, or a load of consecutive
 * elements? */
static bool
is_factor(struct loop *l, const struct expr *e)
{
	return e->type.lanes == 1 && (is_uniform(l, e) || loads_vector(l, e));
}

static bool has_vector(struct loop *l, const struct expr *e);

/* Is e a load of consecutive 16-bit floats? */
static bool
loads_halves(struct loop *l, const struct expr *e)
{
	return (e->type.kind == DT_F16 || e->type.kind == DT_BF16) &&
	       loads_vector(l, e);
}

/* Is the cast a widening of bytes or of 16-bit floats, or of 32-bit integers to
 * floats? */
static bool
widens(struct loop *l, const struct expr *e)
{
	const struct expr *from = e->args[0];

	if (l->x->halves && e->type.kind == DT_F32 && loads_halves(l, from)) {
		return true;
	}
	return converts_bytes(l, e->type) &&
	       (loads_bytes(l, from) ||
		(dtype_is_float(e->type) && from->type.kind == DT_I32 &&
		 has_vector(l, from)));
}

static bool
calls_vector(struct loop *l, const struct expr *e)
{
	if (e->u.intrin == INTRIN_FMAX) {
		return l->x->fmax && has_vector(l, e->args[0]) &&
		       has_vector(l, e->args[1]);
	}
	if (!converts_bytes(l, e->type)) {
		return false;
	}
	if (e->u.intrin == INTRIN_NEARBYINT) {
		return has_vector(l, e->args[0]);
	}
	return e->u.intrin == INTRIN_SCALE_NEAREST &&
	       has_vector(l, e->args[0]) && is_factor(l, e->args[1]);
}

/* Can e be computed with the target's vectors: one element type and plain
 * arithmetic? In a loop that converts bytes to floats, e may also be a 32-bit
 * integer operation on the bytes. */
static bool
has_vector(struct loop *l, const struct expr *e)
{
	struct vectors *x = l->x;
	bool own = e->type.kind == x->type.kind;

	if (!own && (x->type.kind != DT_F32 || e->type.kind != DT_I32 ||
		     !converts_bytes(l, e->type))) {
		return false;
	}
	if (is_uniform(l, e)) {
		return e->type.lanes == 1;
	}
	switch (e->kind) {
	case EXPR_LOAD:
		return own && e->u.buffer->type.kind == x->type.kind &&
		       loads_vector(l, e);
	case EXPR_CAST:
		return widens(l, e);
	case EXPR_CALL:
		return calls_vector(l, e);
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_MIN:
	case EXPR_MAX:
		return (dtype_is_float(e->type) ||
			(converts_bytes(l, e->type) && e->kind != EXPR_DIV)) &&
		       has_vector(l, e->args[0]) && has_vector(l, e->args[1]);
	case EXPR_IF:
	case EXPR_SELECT:
		return is_uniform(l, e->args[0]) &&
		       e->args[0]->type.lanes == 1 &&
		       has_vector(l, e->args[1]) && has_vector(l, e->args[2]);
	default:
		return false;
	}
}

static bool
reads_local(const struct vectors *x, const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		found |= vectors_is_local(x, e->u.buffer);
	}
	return found;
}

/* -- legality -- */

/* Does e have a condition that guards reads of local arrays and has no vector
 * form? In a vector, all lanes would be read before the condition is
 * evaluated. */
static bool
has_guard(struct loop *l, const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		found |= (e->kind == EXPR_IF || e->kind == EXPR_AND ||
			  e->kind == EXPR_OR) &&
			 reads_local(l->x, e) && !has_vector(l, e);
	}
	return found;
}

/* Does an expression take an address in the buffer? If so, the buffer is in
 * memory anyway. */
static bool
has_address(const struct vectors *x, const struct buffer *b)
{
	bool found = false;
	struct access_list uses = accesses_of(x->func, x->func->body, b);

	for (int i = 0; i < uses.list.n; i++) {
		found |= uses.list.data[i].address;
	}
	return found;
}

static bool
is_large(const struct vectors *x, const struct buffer *b)
{
	int64_t elems;

	return vectors_is_local(x, b) &&
	       (!buffer_const_elems(b, &elems) ||
		elems > (int64_t)VECTORS_IN_REGISTERS * x->type.lanes) &&
	       !has_address(x, b);
}

/* Does e load from local arrays with more vectors than registers? */
static bool
reads_large(const struct vectors *x, const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		found |= is_large(x, e->u.buffer);
	}
	return found;
}

/* Does the store narrow a vector to bytes? */
static bool
narrows(struct loop *l, const struct stmt *s)
{
	const struct expr *e = s->args[0];

	return converts_bytes(l, l->x->type) && is_byte(e->type) &&
	       (e->kind == EXPR_CAST ||
		(e->kind == EXPR_CALL && e->u.intrin == INTRIN_TO_INT)) &&
	       !is_uniform(l, e) && e->args[0]->type.kind == l->x->type.kind &&
	       has_vector(l, e->args[0]);
}

static bool
store_is_plain(struct loop *l, const struct stmt *s)
{
	const struct expr *rest;

	return s->u.buffer->type.lanes == 1 &&
	       vectors_walks(l->x, s, s->args + 1, s->n_args - 1, l->var,
			     &rest) &&
	       (s->u.buffer->type.kind == l->x->type.kind
			? has_vector(l, s->args[0])
			: narrows(l, s));
}

static bool
store_fits(struct loop *l, const struct stmt *s)
{
	const struct buffer *b = s->u.buffer;
	bool varies = false, guard, large;

	for (int i = 1; i < s->n_args; i++) {
		varies |= !is_uniform(l, s->args[i]);
		if (s->args[i]->type.lanes != 1 ||
		    reads_local(l->x, s->args[i])) {
			return false;
		}
	}
	guard = has_guard(l, s->args[0]);
	large = is_large(l->x, b) || reads_large(l->x, s->args[0]);
	if (l->n_lanes > 0 && (large || vectors_is_local(l->x, b))) {
		return false;
	}
	return !guard && varies && b->type.lanes == 1 &&
	       s->args[0]->type.lanes == 1 && (!large || store_is_plain(l, s));
}

/* Can a store that is guarded by a condition on the lane be executed lane by
 * lane? */
static bool
lane_if_fits(struct loop *l, const struct stmt *s)
{
	const struct stmt *store = s->children[0];

	if (s->children[1] != NULL || store->kind != STMT_STORE ||
	    s->args[0]->type.lanes != 1 || reads_local(l->x, s->args[0]) ||
	    vectors_is_local(l->x, store->u.buffer)) {
		return false;
	}
	return !reads_large(l->x, store->args[0]) && store_fits(l, store);
}

static bool
stmt_fits(struct loop *l, const struct stmt *s)
{
	l->at = s;
	switch (s->kind) {
	case STMT_STORE:
		return store_fits(l, s);
	case STMT_IF:
		if (!is_uniform(l, s->args[0])) {
			return lane_if_fits(l, s);
		}
		if (reads_local(l->x, s->args[0])) {
			return false;
		}
		break;
	case STMT_FOR:
		if (s->u.loop.kind == FOR_VECTORIZED ||
		    s->u.loop.kind == FOR_THREAD ||
		    !is_uniform(l, s->args[0]) || !is_uniform(l, s->args[1]) ||
		    reads_local(l->x, s->args[0]) ||
		    reads_local(l->x, s->args[1])) {
			return false;
		}
		break;
	case STMT_SEQ:
		break;
	default:
		return false;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL && !stmt_fits(l, s->children[i])) {
			return false;
		}
	}
	return true;
}

/* Does access b touch in each lane the same element that access a touches in
 * this lane? Then one of them can be done for all lanes before the other is
 * done. */
static bool
same_lanes(struct loop *l, const struct access *a, const struct access *b)
{
	int last = a->buffer->ndim - 1;
	const struct expr *rest;

	for (int d = 0; d <= last; d++) {
		bool varies = !is_uniform(l, a->index[d]) ||
			      !is_uniform(l, b->index[d]);

		if (!varies || a->index[d] == b->index[d]) {
			continue;
		}
		if (d < last ||
		    !vectors_walks(l->x, a->at, a->index + d, 1, l->var,
				   &rest) ||
		    !vectors_divides(l->x, a->at, rest) ||
		    !vectors_walks(l->x, b->at, b->index + d, 1, l->var,
				   &rest) ||
		    !vectors_divides(l->x, b->at, rest)) {
			return false;
		}
	}
	return true;
}

static bool
lanes_independent(struct loop *l, struct stmt *loop)
{
	struct access_list uses = accesses_of(l->x->func, loop->children[0],
					      NULL);

	for (int i = 0; i < uses.list.n; i++) {
		const struct access *store = &uses.list.data[i];

		for (int k = 0; store->load == NULL && k < uses.list.n; k++) {
			const struct access *other = &uses.list.data[k];

			if (other->buffer == store->buffer &&
			    (other->address || !same_lanes(l, store, other))) {
				return false;
			}
		}
	}
	return true;
}

bool
vectors_loop_fits(struct vectors *x, struct stmt *loop)
{
	struct loop l = { .x = x,
			  .var = loop->u.loop.var,
			  .n_lanes = vectors_rest(x, loop) };

	return stmt_fits(&l, loop->children[0]) && lanes_independent(&l, loop);
}

bool
vectors_loop_is_plain(struct vectors *x, struct stmt *loop)
{
	struct loop l = { .x = x, .var = loop->u.loop.var };
	bool bytes = false, any = false, others = false;
	const struct expr *rest;
	struct stmt *s;

	if (!vectors_loop_fits(x, loop)) {
		return false;
	}
	for (struct stmt_iter it = stmt_each_of(loop->children[0], STMT_STORE);
	     (s = stmt_next(&it));) {
		l.at = s;
		any = true;
		bytes |= is_byte(s->u.buffer->type);
		others |= !store_is_plain(&l, s) ||
			  !vectors_walks(x, s, s->args + 1, s->n_args - 1,
					 l.var, &rest) ||
			  (s->u.buffer->type.kind == x->type.kind &&
			   !vectors_divides(x, s, rest));
	}
	return any && !others && (x->loops.n > 0 || x->locals.n > 0 || bytes);
}

/* -- expressions -- */

static const struct expr **
vector_index(struct loop *l, const struct expr *const *index, int n)
{
	struct module *m = l->x->module;
	const struct expr **new = arena_exprs(&m->arena, n + 1);
	const struct expr *rest;
	struct analyser a;

	memcpy(new, index, sizeof *new *(size_t)n);
	vectors_walks(l->x, l->at, index, n, l->var, &rest);
	analyser_at(&a, m, l->at);
	rest = simplify(&a, expr_add(m, rest, l->start));
	new[n - 1] = expr_ramp(m, rest, expr_int(m, rest->type, 1),
			       l->x->type.lanes);
	return new;
}

static struct dtype
vectors_type(const struct vectors *x, struct dtype element)
{
	return (struct dtype){ element.kind, x->type.lanes };
}

static const struct expr *
vector_of(struct loop *l, const struct expr *e)
{
	struct module *m = l->x->module;
	const struct expr *args[3];

	if (is_uniform(l, e)) {
		return expr_broadcast(m, e, l->x->type.lanes);
	}
	if (e->kind == EXPR_LOAD) {
		return expr_load(m, e->u.buffer,
				 vector_index(l, e->args, e->n_args),
				 e->n_args);
	}
	for (int i = 0; i < e->n_args; i++) {
		bool condition = i == 0 && e->n_args == 3;

		args[i] = condition ? e->args[i] : vector_of(l, e->args[i]);
	}
	switch (e->kind) {
	case EXPR_IF:
	case EXPR_SELECT:
		return expr_if(m, args[0], args[1], args[2]);
	case EXPR_CAST:
		if (dtype_is_float(e->type) && is_byte(e->args[0]->type)) {
			args[0] = expr_cast(m,
					    vectors_type(l->x,
							 dtype_of(DT_I32)),
					    args[0]);
		}
		return expr_cast(m, vectors_type(l->x, e->type), args[0]);
	case EXPR_CALL:
		return expr_call(m, e->u.intrin, vectors_type(l->x, e->type),
				 args, e->n_args);
	default:
		return expr_rebuild(m, e, args);
	}
}

/* Adds an array of lanes for the vector that was added to l->spilled. */
static const struct buffer *
new_lanes(struct loop *l)
{
	struct module *m = l->x->module;
	const struct expr *lanes = expr_i32(m, l->x->type.lanes);
	struct buffer_spec spec = {
		.name = "lanes",
		.type = dtype_of(l->x->type.kind),
		.ndim = 1,
		.shape = &lanes,
		.scope = "local",
	};

	vec_push(&m->arena, &l->lanes, buffer_new(m, &spec));
	return l->lanes.data[l->lanes.n - 1];
}

/* Lane l->lane of `vector`, read from the array of the vector's lanes. Adds
 * this array if the vector has none yet. */
static const struct expr *
lane_of(struct loop *l, const struct expr *vector)
{
	struct module *m = l->x->module;
	int i = 0;

	while (i < l->spilled.n && l->spilled.data[i] != vector) {
		i++;
	}
	if (i == l->spilled.n) {
		vec_push(&m->arena, &l->spilled, vector);
		new_lanes(l);
	}
	return expr_load(m, l->lanes.data[i], &l->lane->expr, 1);
}

/* May the vector that e, a LOAD in the loop, reads end beyond its buffer? */
static bool
reads_beyond(struct loop *l, const struct expr *e)
{
	struct module *m = l->x->module;
	const struct expr *rest, *end;
	struct analyser a;

	if (is_uniform(l, e) || vectors_is_local(l->x, e->u.buffer) ||
	    !vectors_walks(l->x, l->at, e->args, e->n_args, l->var, &rest)) {
		return false;
	}
	analyser_at(&a, m, l->loop);
	end = expr_add(m, expr_add(m, rest, l->start),
		       expr_int(m, rest->type, l->x->type.lanes));
	return !prove(&a, expr_le(m, end, e->u.buffer->shape[e->n_args - 1]));
}

/* May e be computed for all lanes of the vector, including lanes that are not
 * stored? Local arrays have whole vectors; any other buffer may end before the
 * last lane. */
static bool
reads_all_lanes(struct loop *l, const struct expr *e)
{
	bool beyond = false;

	if (l->n_lanes >= l->x->type.lanes && l->condition == NULL) {
		return true;
	}
	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		beyond |= reads_beyond(l, e);
	}
	return !beyond;
}

/* Rewrite of an expression for the loop over lanes: vector expressions of local
 * arrays are replaced by elements of arrays of lanes. */
static const struct expr *
spill(void *ctx, const struct expr *e)
{
	struct loop *l = ctx;
	struct module *m = l->x->module;

	if (e->kind == EXPR_VAR && e->u.var == l->var) {
		return expr_add(m, l->start, l->lane->expr);
	}
	if (!is_uniform(l, e) && reads_local(l->x, e) && has_vector(l, e) &&
	    (e->kind == EXPR_LOAD || reads_all_lanes(l, e))) {
		return lane_of(l, vector_of(l, e));
	}
	return NULL;
}

/* -- statements -- */

static const struct expr *
all_lanes(const struct loop *l)
{
	struct module *m = l->x->module;

	return expr_ramp(m, expr_i32(m, 0), expr_i32(m, 1), l->x->type.lanes);
}

static struct stmt *
store_lanes(struct loop *l, const struct buffer *b, const struct expr *vector)
{
	const struct expr *all = all_lanes(l);

	return stmt_store(l->x->func, b, vector, &all, 1);
}

/* Does the store narrow its value? Then the store gets a loop of its own: in a
 * common loop, compilers would use the vectors of the wider type for all of the
 * loop. */
static bool
is_narrowed(const struct loop *l, const struct stmt *s)
{
	const struct expr *e = s->args[0];

	return e->kind == EXPR_CAST && e->type.lanes == 1 &&
	       dtype_bits(e->type) < dtype_bits(l->x->type) &&
	       e->args[0]->type.kind == l->x->type.kind &&
	       e->args[0]->n_args > 0 && e->args[0]->kind != EXPR_LOAD;
}

/* Is e computed, and stored with a stride? Compilers vectorize the computation
 * of e only if a loop first stores the values to consecutive elements. */
static bool
is_scattered(const struct expr *e, bool walks)
{
	return !walks && e->n_args > 0 && e->kind != EXPR_LOAD;
}

/* Is e an element of an array of lanes, possibly widened or narrowed? */
static bool
is_lane(const struct loop *l, const struct expr *e)
{
	const struct expr *from = e->kind == EXPR_CAST ? e->args[0] : e;

	for (int i = 0; i < l->lanes.n; i++) {
		if (from->kind == EXPR_LOAD &&
		    from->u.buffer == l->lanes.data[i]) {
			return true;
		}
	}
	return false;
}

/* Makes: for each lane, store made[lane]. args: the arguments of the store s in
 * terms of the lane. */
static struct stmt *
store_made(struct loop *l, const struct stmt *s, const struct buffer *made,
	   const struct expr *const *args, bool walks)
{
	struct module *m = l->x->module;
	struct var *lane = var_new(m, l->lane->name, l->lane->type);
	struct var_map map = { &l->lane, &lane->expr, 1 };
	const struct expr **index = arena_exprs(&m->arena, s->n_args);
	const struct expr *e = expr_load(m, made, &lane->expr, 1);

	for (int i = 1; i < s->n_args; i++) {
		index[i - 1] = expr_substitute(m, args[i], &map);
	}
	if (is_narrowed(l, s)) {
		e = expr_cast(m, args[0]->type, e);
	}
	return stmt_for(l->x->func, lane, expr_int(m, lane->type, 0),
			expr_int(m, lane->type, l->n_lanes),
			walks ? FOR_VECTORIZED : FOR_SERIAL,
			stmt_store(l->x->func, s->u.buffer, e, index,
				   s->n_args - 1));
}

/* Makes the store s lane by lane, from arrays of lanes to which the vectors are
 * stored first; a value for a local array is stored as a whole vector
 * afterwards. */
static struct stmt *
by_lane(struct loop *l, struct stmt *s, bool walks)
{
	struct func *f = l->x->func;
	struct module *m = l->x->module;
	const struct buffer *b = s->u.buffer, *result = NULL;
	/* the computed values, if they are stored to an array before the
	 * store */
	const struct buffer *made = NULL;
	const struct expr **args = arena_exprs(&m->arena, s->n_args);
	const struct expr *condition = NULL;
	struct stmt **list, *body;
	int n = 0;

	l->spilled.n = l->lanes.n = 0;
	l->lane = var_new(m, "lane", l->var->type);
	for (int i = 0; i < s->n_args; i++) {
		args[i] = expr_rewrite(m, s->args[i], spill, l);
	}
	if (l->condition != NULL) {
		condition = expr_rewrite(m, l->condition, spill, l);
	}
	list = arena_array(&m->arena, struct stmt *, l->spilled.n + 3);
	for (int i = 0; i < l->spilled.n; i++) {
		list[n++] = store_lanes(l, l->lanes.data[i],
					l->spilled.data[i]);
	}
	if (vectors_is_local(l->x, b)) {
		result = new_lanes(l);
		body = stmt_store(f, result, args[0], &l->lane->expr, 1);
	} else if (condition == NULL && !is_lane(l, args[0]) &&
		   (is_narrowed(l, s) ||
		    (is_scattered(args[0], walks) &&
		     args[0]->type.kind == l->x->type.kind))) {
		made = new_lanes(l);
		body = stmt_store(f, made,
				  is_narrowed(l, s) ? args[0]->args[0]
						    : args[0],
				  &l->lane->expr, 1);
	} else {
		body = stmt_store(f, b, args[0], args + 1, s->n_args - 1);
		body = condition ? stmt_if(f, condition, body, NULL) : body;
	}
	list[n++] = stmt_for(f, l->lane, expr_int(m, l->lane->type, 0),
			     expr_int(m, l->lane->type, l->n_lanes),
			     walks || made ? FOR_VECTORIZED : FOR_SERIAL, body);
	if (made != NULL) {
		list[n++] = store_made(l, s, made, args, walks);
	}
	if (result != NULL) {
		const struct expr *all = all_lanes(l);

		list[n++] = stmt_store(f, b, expr_load(m, result, &all, 1),
				       vector_index(l, s->args + 1, b->ndim),
				       b->ndim);
	}
	body = stmt_seq(f, list, n);
	for (int i = l->lanes.n - 1; i >= 0; i--) {
		body = stmt_alloc(f, l->lanes.data[i], body);
	}
	return body;
}

static void
rewrite_store(struct loop *l, struct stmt *s)
{
	struct func *f = l->x->func;
	const struct buffer *b = s->u.buffer;
	struct stmt *guard = s->parent;
	const struct expr *rest;

	l->at = s;
	l->condition = NULL;
	if (guard->kind == STMT_IF && !is_uniform(l, guard->args[0])) {
		l->condition = guard->args[0];
		stmt_replace(f, guard, by_lane(l, s, false));
		return;
	}
	if (l->n_lanes == l->x->type.lanes && store_is_plain(l, s)) {
		stmt_replace(f, s,
			     stmt_store(f, b, vector_of(l, s->args[0]),
					vector_index(l, s->args + 1, b->ndim),
					b->ndim));
	} else {
		stmt_replace(f, s,
			     by_lane(l, s,
				     vectors_walks(l->x, s, s->args + 1,
						   b->ndim, l->var, &rest)));
	}
}

/* Splits the loop into statements on n_lanes lanes each. */
static void
rewrite_loop(struct vectors *x, struct stmt *loop, int64_t n_lanes)
{
	struct module *m = x->module;
	struct loop l = { .x = x,
			  .var = loop->u.loop.var,
			  .n_lanes = n_lanes,
			  .loop = loop };
	struct stmt_list stores;
	struct var *v = var_new(m, l.var->name, l.var->type);
	const struct expr *lanes = expr_int(m, v->type, n_lanes);
	int64_t extent = 0;
	struct stmt *body;

	expr_is_int(loop->args[1], &extent);
	extent /= n_lanes;
	l.start = loop->args[0];
	if (extent > 1) {
		l.start = expr_add(m, l.start, expr_mul(m, v->expr, lanes));
	}
	stores = stmts_of(&m->arena, loop->children[0], STMT_STORE);
	for (int i = 0; i < stores.list.n; i++) {
		rewrite_store(&l, stores.list.data[i]);
	}
	body = loop->children[0];
	if (extent > 1) {
		body = stmt_for(x->func, v, expr_int(m, v->type, 0),
				expr_int(m, v->type, extent),
				extent <= VECTORS_IN_REGISTERS &&
						x->locals.n > 0
					? FOR_UNROLLED
					: FOR_SERIAL,
				body);
	}
	stmt_replace(x->func, loop, body);
}

/* Rewrites whole vectors of the loop, then the tail. */
void
vectors_rewrite_loop(struct vectors *x, struct stmt *loop)
{
	struct func *f = x->func;
	int64_t rest = vectors_rest(x, loop), extent = 0;
	struct stmt_place place;
	struct stmt *parts[2];
	struct dtype t = loop->u.loop.var->type;

	expr_is_int(loop->args[1], &extent);
	if (rest == 0 || rest == extent) {
		rewrite_loop(x, loop, rest > 0 ? rest : x->type.lanes);
		return;
	}
	place = stmt_place_of(loop);
	parts[0] = loop;
	parts[1] = stmt_clone(f, loop, true);
	stmt_set_arg(f, loop, 1, expr_int(x->module, t, extent - rest));
	stmt_set_arg(f, parts[1], 0,
		     expr_add(x->module, loop->args[0],
			      expr_int(x->module, t, extent - rest)));
	stmt_set_arg(f, parts[1], 1, expr_int(x->module, t, rest));
	stmt_put(f, place, stmt_seq(f, parts, 2));
	rewrite_loop(x, parts[0], x->type.lanes);
	rewrite_loop(x, parts[1], rest);
}
