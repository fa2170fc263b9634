/* SPDX-License-Identifier: Apache-2.0 */
/* Value ranges of array elements: the initial values, plus the sum of all
 * updates.
 *
 * A store either replaces an element by a value that does not depend on the
 * array, or adds to the element. Within the array's live range, its ALLOC, an
 * element is one of the initial values plus updates. A store updates an element
 * at most as often as the product of the trip counts of the loops around the
 * store, inside of the ALLOC; but a loop whose variable selects the element
 * counts only once. For each execution of an IF, only one of its branches
 * counts. Of consecutive stores at different constant indices, only one
 * counts. */
#include "value_range_parts.h"

#include "analyse.h"
#include "iterate.h"

enum { MOST_LOOPS = 32, MOST_DEPTH = 8 };

static const struct bounds nothing = { 0, 0 };

/* The effect of the stores to one array: its elements are start + moved. */
struct sums {
	struct value_ranges *r;
	const struct var *data;
	bool failed;
	bool has_start;
	/* range of the values that replace an element */
	struct bounds start;
	/* range of the sum of all updates that add to an element; includes 0 */
	struct bounds moved;
};

/* The form of a stored value: the old element plus `delta` (keeps), or `start`
 * (starts), or, if both are set, one of the two by a condition. ok is false for
 * any other form. */
struct relative {
	bool ok, keeps, starts;
	struct bounds delta, start;
};

/* -- the form of one stored value -- */

struct load_search {
	const struct value_ranges *r;
	const struct var *data;
	/* variables of LETs whose values were searched already */
	VEC(const struct var *) seen;
	bool found;
};

static bool
is_new(struct load_search *x, const struct var *v)
{
	if (vec_has(&x->seen, v)) {
		return false;
	}
	vec_push(&x->r->module->arena, &x->seen, v);
	return true;
}

static void
find_load(struct load_search *x, const struct expr *e)
{
	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		if (e->kind == EXPR_LOAD) {
			x->found |= e->u.buffer->data == x->data;
			continue;
		}
		if (e->kind != EXPR_VAR || x->found || !is_new(x, e->u.var)) {
			continue;
		}
		for (int i = 0; i < x->r->binders.n; i++) {
			const struct stmt *s = x->r->binders.data[i];

			if (s->kind == STMT_LET && s->u.var == e->u.var) {
				find_load(x, s->args[0]);
			}
		}
	}
}

static bool
depends_on_array(const struct sums *s, const struct expr *e)
{
	struct load_search x = { .r = s->r, .data = s->data };

	find_load(&x, e);
	return x.found;
}

/* Does e load the element that the statement stores? */
static bool
is_own_element(const struct expr *e, const struct stmt *store)
{
	if (e->kind != EXPR_LOAD || e->u.buffer != store->u.buffer ||
	    e->n_args != store->n_args - 1) {
		return false;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (e->args[i] != store->args[i + 1]) {
			return false;
		}
	}
	return true;
}

static struct relative
either(struct relative a, struct relative b)
{
	struct relative v = { a.ok && b.ok, a.keeps || b.keeps,
			      a.starts || b.starts, nothing, nothing };

	v.delta = !a.keeps   ? b.delta
		  : !b.keeps ? a.delta
			     : bounds_union(a.delta, b.delta);
	v.start = !a.starts   ? b.start
		  : !b.starts ? a.start
			      : bounds_union(a.start, b.start);
	return v;
}

/* The form of a stored value that is `own` plus (or minus) `other`, which does
 * not depend on the array: adds the range of `other` to own.delta. */
static struct relative
moved_by(struct sums *s, struct relative own, const struct expr *other,
	 bool minus)
{
	bool fits, ok;
	struct bounds by = value_range_of(s->r, other, &fits);

	ok = minus ? value_range_sub(own.delta, by, &own.delta)
		   : value_range_add(own.delta, by, &own.delta);
	own.ok &= ok && own.keeps && !own.starts;
	return own;
}

static struct relative
relative_of(struct sums *s, const struct expr *e, const struct stmt *store)
{
	struct relative v = { .ok = false };
	bool fits;

	e = value_range_resolved(s->r, e);
	if (is_own_element(e, store)) {
		v.ok = v.keeps = true;
		return v;
	}
	if (!depends_on_array(s, e)) {
		v.ok = v.starts = true;
		v.start = value_range_of(s->r, e, &fits);
		return v;
	}
	switch (e->kind) {
	case EXPR_ADD:
		if (!depends_on_array(s, e->args[1])) {
			return moved_by(s, relative_of(s, e->args[0], store),
					e->args[1], false);
		}
		if (!depends_on_array(s, e->args[0])) {
			return moved_by(s, relative_of(s, e->args[1], store),
					e->args[0], false);
		}
		return v;
	case EXPR_SUB:
		if (!depends_on_array(s, e->args[1])) {
			return moved_by(s, relative_of(s, e->args[0], store),
					e->args[1], true);
		}
		return v;
	case EXPR_IF:
	case EXPR_SELECT:
		return either(relative_of(s, e->args[1], store),
			      relative_of(s, e->args[2], store));
	case EXPR_MIN:
	case EXPR_MAX:
		return either(relative_of(s, e->args[0], store),
			      relative_of(s, e->args[1], store));
	default:
		return v;
	}
}

/* -- how often a statement accesses one element -- */

struct loops {
	struct iter_var list[MOST_LOOPS];
	int n;
	bool failed;
};

/* Collects the loops between the statement and top (not included). If there is
 * a block between them, the block's iter vars take the place of all loops
 * around it: each point of the block's domain is executed once. */
static void
loops_around(const struct stmt *s, const struct stmt *top, struct loops *out)
{
	const struct block *b;

	for (s = s->parent; s != NULL && s != top; s = s->parent) {
		out->failed |= s->kind == STMT_WHILE || out->n + 1 > MOST_LOOPS;
		if (s->kind == STMT_FOR && !out->failed) {
			out->list[out->n++] = (struct iter_var){
				s->u.loop.var, s->args[0], s->args[1], 0
			};
		}
		if (s->kind != STMT_BLOCK || s->u.block->n_iters == 0) {
			continue;
		}
		b = s->u.block;
		out->failed |= out->n + b->n_iters > MOST_LOOPS;
		for (int i = 0; i < b->n_iters && !out->failed; i++) {
			out->list[out->n++] = b->iters[i];
		}
		return;
	}
}

static int64_t
most_trips(struct sums *s, const struct iter_var *loop)
{
	bool fits;

	return value_range_of(s->r, loop->extent, &fits).max;
}

/* Sets selects[i] for the loops whose values select distinct runs of `run`
 * elements. */
static void
selecting_loops(struct sums *s, const struct loops *loops,
		const struct expr *index, int64_t run, bool *selects)
{
	struct var *vars[MOST_LOOPS];
	int64_t coeff[MOST_LOOPS], reach = run;
	const struct expr *rest;
	bool done[MOST_LOOPS] = { false };
	struct analyser a;

	for (int i = 0; i < loops->n; i++) {
		vars[i] = loops->list[i].var;
	}
	analyser_init(&a, s->r->module);
	if (loops->n == 0 ||
	    !analyse_affine(&a, index, vars, loops->n, coeff, &rest)) {
		return;
	}
	/* In ascending order of strides: each stride must exceed the span of
	 * the loops with smaller strides. */
	for (;;) {
		int next = -1;
		int64_t trips, span;

		for (int i = 0; i < loops->n; i++) {
			coeff[i] = coeff[i] < 0 ? -coeff[i] : coeff[i];
			if (coeff[i] != 0 && !done[i] &&
			    (next < 0 || coeff[i] < coeff[next])) {
				next = i;
			}
		}
		if (next < 0) {
			break;
		}
		done[next] = true;
		trips = most_trips(s, &loops->list[next]);
		if (coeff[next] < reach || trips < 0 ||
		    __builtin_mul_overflow(coeff[next], trips, &span) ||
		    __builtin_add_overflow(reach, span - coeff[next], &reach)) {
			return;
		}
	}
	for (int i = 0; i < loops->n; i++) {
		selects[i] |= coeff[i] != 0;
	}
}

/* Computes an upper bound of the number of times that the statement accesses
 * any one element while `top` runs once (NULL: the whole function); each access
 * covers `run` elements from the index on. False if no bound is found. */
static bool
most_touches(struct sums *s, const struct stmt *at, const struct stmt *top,
	     const struct expr *const *index, int n, int64_t run,
	     int64_t *count)
{
	struct loops loops = { .n = 0 };
	bool selects[MOST_LOOPS] = { false };

	loops_around(at, top, &loops);
	for (int d = 0; d < n && !loops.failed; d++) {
		selecting_loops(s, &loops, index[d], d == n - 1 ? run : 1,
				selects);
	}
	*count = 1;
	for (int i = 0; i < loops.n && !loops.failed; i++) {
		int64_t trips = most_trips(s, &loops.list[i]);

		if (!selects[i] &&
		    (trips < 0 ||
		     __builtin_mul_overflow(*count, trips, count))) {
			return false;
		}
	}
	return !loops.failed;
}

/* -- stores and calls -- */

static void
add_start(struct sums *s, struct bounds v)
{
	s->start = s->has_start ? bounds_union(s->start, v) : v;
	s->has_start = true;
}

static bool
add_moves(struct sums *s, struct bounds delta, int64_t count)
{
	struct bounds times = { count, count };

	return value_range_mul(bounds_union(delta, nothing), times, &delta) &&
	       value_range_add(s->moved, delta, &s->moved);
}

static bool
see_store(struct sums *s, const struct stmt *store, const struct stmt *top)
{
	struct relative v = relative_of(s, store->args[0], store);
	const struct expr *index[MOST_LOOPS];
	int n = store->n_args - 1;
	int64_t run = 1, count;

	if (!v.ok || n >= MOST_LOOPS) {
		return false;
	}
	if (v.starts) {
		add_start(s, v.start);
	}
	if (!v.keeps) {
		return true;
	}
	for (int d = 0; d < n; d++) {
		index[d] = store->args[d + 1];
	}
	if (n > 0 && index[n - 1]->kind == EXPR_RAMP) {
		if (!expr_is_value(index[n - 1]->args[1], 1)) {
			return false;
		}
		run = index[n - 1]->type.lanes;
		index[n - 1] = index[n - 1]->args[0];
	}
	return most_touches(s, store, top, index, n, run, &count) &&
	       add_moves(s, v.delta, count);
}

static bool collect(struct sums *s, const struct stmt *at,
		    const struct stmt *top, int depth);

/* If e is an address through which the array may be written: the LOAD of the
 * addressed element. Else NULL. */
static const struct expr *
written_address(const struct expr *e, const struct var *data)
{
	return e->kind == EXPR_CALL && e->u.intrin == INTRIN_ADDRESS_OF &&
			       e->args[0]->kind == EXPR_LOAD &&
			       e->args[0]->u.buffer->data == data
		       ? e->args[0]
		       : NULL;
}

/* A view of `elems` elements from `first` on covers the inner dimensions of its
 * buffer. Returns the number of dimensions outside of these; *run: the number
 * of elements that the view covers in the innermost of these outer
 * dimensions. */
static int
leading_dims(const struct expr *first, int64_t elems, int64_t *run)
{
	const struct buffer *b = first->u.buffer;
	int64_t inside = b->type.lanes, extent;
	int n = first->n_args;

	*run = 1;
	if (n > 0 && inside == 1 && expr_is_int(b->shape[n - 1], &extent) &&
	    elems <= extent) {
		*run = elems;
		return n;
	}
	while (n > 0 && inside < elems &&
	       expr_is_value(first->args[n - 1], 0) &&
	       expr_is_int(b->shape[n - 1], &extent)) {
		inside *= extent;
		n--;
	}
	return inside >= elems ? n : 0;
}

/* If e is the address of an element: the LOAD of that element. Else NULL. */
static const struct expr *
addressed(const struct expr *e)
{
	return e->kind == EXPR_CALL && intrin_is_address(e->u.intrin) &&
			       e->args[0]->kind == EXPR_LOAD
		       ? e->args[0]
		       : NULL;
}

/* The index of the intrinsic's parameter whose address is argument i of the
 * call; -1 if the argument is not a parameter's address. */
static int
parameter_of(const struct func *part, const struct expr *call, int i)
{
	const struct expr *element = addressed(call->args[i]);

	for (int p = 0; element != NULL && p < part->params.n; p++) {
		if (part->params.data[p].buffer == element->u.buffer) {
			return p;
		}
	}
	return -1;
}

/* A call of a tensor intrinsic that gets an address in the array: the effect of
 * the call is found by the same analysis, applied to the intrinsic's
 * description. */
struct described {
	const struct tensor_call *known;
	struct value_ranges ranges; /* the value ranges of the description */
	struct sums sums;           /* the effect of the call on the array */
	/* the description's parameter for the array */
	const struct buffer *view;
};

/* Finds the description's parameters for the call's arguments; `first` is the
 * argument in the array. False if types or arguments do not match. */
static bool
bind_call(struct sums *s, const struct expr *call, const struct expr *first,
	  struct described *d)
{
	const struct tensor_call *known = d->known;
	const struct func *desc = known->intrin->desc;
	const struct expr *own = stmt_call_of(known->part->body,
					      INTRIN_CALL_EXTERN,
					      known->symbol);

	if (own == NULL || own->n_args != call->n_args ||
	    known->part->params.n != desc->params.n) {
		return false;
	}
	for (int i = 1; i < call->n_args; i++) {
		const struct expr *element = addressed(call->args[i]);
		int p = parameter_of(known->part, own, i);
		const struct buffer *b = p >= 0 ? desc->params.data[p].buffer
						: NULL;

		if (b == NULL || element == NULL) {
			if (element != NULL || b != NULL) {
				return false;
			}
			continue;
		}
		if (element->u.buffer->type.kind != b->type.kind) {
			return false;
		}
		if (element == first) {
			d->view = known->views[p];
			d->sums.data = b->data;
		} else {
			value_ranges_state(
				&d->ranges, b,
				value_range_of_buffer(s->r, element->u.buffer)
					.range);
		}
	}
	return d->sums.data != NULL;
}

static bool
see_call(struct sums *s, const struct expr *call, const struct stmt *at,
	 const struct stmt *top, const struct expr *first, int depth)
{
	struct described d = {
		.known = tensor_intrins_call(s->r->intrins,
					     call->args[0]->u.text),
	};
	const struct func *desc;
	int64_t count, elems, run;
	int n;

	if (d.known == NULL || depth > MOST_DEPTH) {
		return false;
	}
	desc = d.known->intrin->desc;
	value_ranges_init(&d.ranges, desc, NULL);
	d.sums.r = &d.ranges;
	if (!bind_call(s, call, first, &d) ||
	    !collect(&d.sums, desc->body, NULL, depth + 1)) {
		return false;
	}
	if (d.sums.has_start) {
		add_start(s, d.sums.start);
	}
	if (d.sums.moved.min == 0 && d.sums.moved.max == 0) {
		return true;
	}
	if (d.view->strides != NULL || !buffer_const_elems(d.view, &elems)) {
		return false;
	}
	n = leading_dims(first, elems, &run);
	return most_touches(s, at, top, first->args, n, run, &count) &&
	       add_moves(s, d.sums.moved, count);
}

/* Adds the effect of a call that gets an address of the array. False if its
 * effect is not known. */
static bool
see_addresses(struct sums *s, const struct stmt *at, const struct stmt *top,
	      int depth)
{
	struct tree_iter it = exprs_each(at->args, at->n_args);
	const struct expr *call = at->kind == STMT_EVALUATE ? at->args[0]
							    : NULL;
	const struct expr *first = NULL, *e;
	int found = 0;

	while ((e = tree_next(&it)) != NULL) {
		found += written_address(e, s->data) != NULL;
	}
	if (found == 0) {
		return true;
	}
	if (found > 1 || call == NULL || call->kind != EXPR_CALL ||
	    call->u.intrin != INTRIN_CALL_EXTERN) {
		return false;
	}
	for (int i = 1; i < call->n_args && first == NULL; i++) {
		first = written_address(call->args[i], s->data);
	}
	return first != NULL && see_call(s, call, at, top, first, depth);
}

/* Is the statement executed at most once in the array's live range? */
static bool
is_once(const struct stmt *at, const struct stmt *top)
{
	struct loops loops = { .n = 0 };

	loops_around(at, top, &loops);
	return !loops.failed && loops.n == 0;
}

/* Collects the branches of an IF that is executed at most once: only one of the
 * two branches updates the element. */
static bool
collect_branches(struct sums *s, const struct stmt *branch,
		 const struct stmt *top, int depth)
{
	struct bounds before = s->moved, moved = nothing;

	for (int i = 0; i < 2; i++) {
		s->moved = nothing;
		if (!collect(s, branch->children[i], top, depth)) {
			return false;
		}
		moved = bounds_union(moved, s->moved);
	}
	return value_range_add(before, moved, &s->moved);
}

static bool
stores_to(const struct sums *s, const struct stmt *at)
{
	return at != NULL && at->kind == STMT_STORE &&
	       at->u.buffer->data == s->data;
}

/* Have the two stores different constants as index in some dimension, so that
 * they never access the same element? */
static bool
differ(const struct stmt *a, const struct stmt *b)
{
	int64_t x, y;

	for (int d = 1; a->u.buffer == b->u.buffer && d < a->n_args; d++) {
		if (expr_is_int(a->args[d], &x) &&
		    expr_is_int(b->args[d], &y) && x != y) {
			return true;
		}
	}
	return false;
}

/* Are several children of the sequence stores to the array, and does each pair
 * of these stores differ (see differ())? Then at most one of them updates an
 * element, as in a tile that is written out. */
static bool
are_apart(const struct sums *s, const struct stmt *seq)
{
	int stores = 0;

	for (int i = 0; i < seq->n_children; i++) {
		if (!stores_to(s, seq->children[i])) {
			continue;
		}
		stores++;
		for (int k = 0; k < i; k++) {
			if (stores_to(s, seq->children[k]) &&
			    !differ(seq->children[i], seq->children[k])) {
				return false;
			}
		}
	}
	return stores > 1;
}

/* Collects the updates in a sequence for which are_apart() is true: only one of
 * its stores updates a given element. */
static bool
collect_apart(struct sums *s, const struct stmt *seq, const struct stmt *top,
	      int depth)
{
	struct bounds before = s->moved, moved = nothing;

	for (int i = 0; i < seq->n_children; i++) {
		const struct stmt *child = seq->children[i];

		if (child == NULL) {
			continue;
		}
		s->moved = stores_to(s, child) ? nothing : before;
		if (!collect(s, child, top, depth)) {
			return false;
		}
		if (stores_to(s, child)) {
			moved = bounds_union(moved, s->moved);
		} else {
			before = s->moved;
		}
	}
	return value_range_add(before, moved, &s->moved);
}

static bool
collect(struct sums *s, const struct stmt *at, const struct stmt *top,
	int depth)
{
	if ((at->kind == STMT_STORE && at->u.buffer->data == s->data &&
	     !see_store(s, at, top)) ||
	    !see_addresses(s, at, top, depth)) {
		return false;
	}
	if (at->kind == STMT_IF && at->children[0] != NULL &&
	    at->children[1] != NULL && is_once(at, top)) {
		return collect_branches(s, at, top, depth);
	}
	if (at->kind == STMT_SEQ && are_apart(s, at)) {
		return collect_apart(s, at, top, depth);
	}
	for (int i = 0; i < at->n_children; i++) {
		if (at->children[i] != NULL &&
		    !collect(s, at->children[i], top, depth)) {
			return false;
		}
	}
	return true;
}

/* -- arrays -- */

/* Sets *out to the union of the ranges of the array's elements in all ALLOCs of
 * the array below s. False if the range of an ALLOC has no bound, as for shared
 * memory that is updated. */
static bool
collect_lives(struct value_ranges *r, const struct stmt *s,
	      const struct var *data, int *lives, struct bounds *out)
{
	struct sums one = { .r = r, .data = data };
	struct bounds all;

	if (s->kind == STMT_ALLOC && s->u.buffer->data == data) {
		if (!collect(&one, s->children[0], s, 0) || !one.has_start ||
		    !value_range_add(one.start, one.moved, &all)) {
			return false;
		}
		/* Several threads may update shared memory, and the thread
		 * loops are outside of the ALLOC: no bound. */
		if (strncmp(s->u.buffer->scope, "shared", 6) == 0 &&
		    (one.moved.min != 0 || one.moved.max != 0)) {
			return false;
		}
		all = bounds_union(all, one.start);
		*out = *lives > 0 ? bounds_union(*out, all) : all;
		++*lives;
		return true;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL &&
		    !collect_lives(r, s->children[i], data, lives, out)) {
			return false;
		}
	}
	return true;
}

struct buffer_range
value_range_of_buffer(struct value_ranges *r, const struct buffer *b)
{
	struct bounds all = value_range_of_type(b->type), found = all;
	struct buffer_range fresh = { .data = b->data,
				      .range = all,
				      .is_pending = true };
	int lives = 0, at;

	if (!dtype_is_int(b->type)) {
		return fresh;
	}
	for (int i = 0; i < r->buffers.n; i++) {
		if (r->buffers.data[i].data == b->data) {
			fresh = r->buffers.data[i];
			if (!bounds_within(fresh.range, all)) {
				/* the array is also accessed as another type:
				 * the range of the stored values does not
				 * hold */
				fresh.range = all;
			}
			return fresh;
		}
	}
	at = r->buffers.n;
	vec_push(&r->module->arena, &r->buffers, fresh);
	if (r->func->body != NULL &&
	    collect_lives(r, r->func->body, b->data, &lives, &found) &&
	    lives > 0 && found.min > all.min && found.max <= all.max) {
		r->buffers.data[at].range = found;
		r->buffers.data[at].how = RANGE_SUMMED;
	}
	r->buffers.data[at].is_pending = false;
	return r->buffers.data[at];
}
