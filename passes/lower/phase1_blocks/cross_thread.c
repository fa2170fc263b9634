/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-thread reduction: a reduction loop bound to the threads of a block.
 * Each thread reduces its part; then a tree reduction combines the partial
 * results in shared memory, halving the number of active threads at each step.
 *
 *   for k_i in thread(4, "threadIdx.x"):     for k_i in thread(4, ...):
 *       for k_o in range(8):                     part = 0
 *           with T.block("B"):                   for k_o in range(8):
 *               with T.init(): B[i] = 0   ->         part = part + A[i, ...]
 *               B[i] = B[i] + A[i, k]            all[k_i] = part
 *                                                if k_i < 2:
 *                                                    all[k_i] += all[k_i + 2]
 *                                                if k_i < 1:
 *                                                    all[k_i] += all[k_i + 1]
 *                                                if k_i == 0: B[i] = all[0]
 *
 * On a target with warp shuffles (the fact warp_size) the threads of a warp
 * exchange partial results by a butterfly of shuffles; with several warps, each
 * warp stores one element to shared memory:
 *
 *   part = part + T.warp_shuffle_xor(part, 2)
 *   part = part + T.warp_shuffle_xor(part, 1)
 *
 * Several values that an update combines (argmax) are reduced together. If the update
 * takes the first of equal elements, the place of the element that was taken is one
 * value more, by which threads combine their values in the order of the source.
 *
 * A result that is declared as local becomes shared: one thread stores it, and
 * all may read it. The pass `sync` inserts the barriers. Between the outermost
 * reduction loop and the block, there must only be reduction loops. Statements
 * that come before the block and are inside of all thread loops stay there: in
 * them a thread computes the partial result that it contributes (rfactor, then
 * compute_at). */
#include "lower_passes.h"

#include <string.h>

#include "access.h"
#include "block_init.h"
#include "iterate.h"
#include "thread_loops.h"
#include "thread_reduction.h"

enum { REDUCTION_THREADS_MAX = 4096 };

struct cross {
	struct func *func;
	struct module *m;
	/* outer: the outermost reduction loop around the block */
	struct stmt *block, *outer;
	/* the reduction loops that are bound to threads, outermost first */
	struct stmt_list threads;
	/* the loops around `outer` over the other thread indices of the thread
	 * block. (A loop around `outer` over the index of a loop in `threads`
	 * adds no threads: all of these threads reduce together.) */
	struct stmt_list around;
	struct thread_reduction reduction;
	/* the reducers of a thread's part, and of the parts of two threads */
	struct block_reduction own, together;
	/* of the n values that are reduced, of which n_results have a result: the
	 * source in terms of the loop variables */
	const struct expr **sources;
	int n, n_results;
	/* B, and the index i in B[i], where the block stores; its index in terms of
	 * the loop variables */
	const struct buffer *const *results;
	const struct expr *const *index;
	/* reducing: the block's predicate; spatial: those of its conjuncts that
	 * use no reduction loops, NULL if there are none */
	const struct expr *reducing, *spatial;
};

#define cross_fail(x, ...)                                                     \
	func_error((x)->func, DIAG_UNSUPPORTED,                                \
		   "block %s reduces across threads: %s",                      \
		   (x)->block->u.block->name,                                  \
		   arena_printf(&(x)->m->arena, __VA_ARGS__))

static bool
reduces_across(const struct stmt *block)
{
	for (const struct stmt *s = block->parent; s && s->kind != STMT_BLOCK;
	     s = s->parent) {
		if (tag_is_thread(tag_of(s)) && loop_drives(s, block, true)) {
			return true;
		}
	}
	return false;
}

/* -- the reduction: its loops, its update, its predicate */

/* Is one of the reduction loops bound to this thread index? */
static bool
reduces_along(const struct cross *x, int tag)
{
	for (int i = 0; i < x->threads.list.n; i++) {
		if (tag_of(x->threads.list.data[i]) == tag) {
			return true;
		}
	}
	return false;
}

/* Is s a sequence that ends with `last`, whose other statements do not access
 * the results of the block? */
static bool
only_precedes(const struct cross *x, const struct stmt *s,
	      const struct stmt *last)
{
	const struct block *b = x->block->u.block;

	if (s->kind != STMT_SEQ || s->children[s->n_children - 1] != last) {
		return false;
	}
	for (int i = 0; i < s->n_children - 1; i++) {
		for (int k = 0; k < b->n_writes; k++) {
			if (accesses_of(x->func, s->children[i],
					b->writes[k].buffer)
				    .list.n > 0) {
				return false;
			}
		}
	}
	return true;
}

/* Sets x->outer, and collects in x->threads the reduction loops that are bound
 * to threads, and in x->around the thread loops around x->outer. False after a
 * diagnostic if there are loops or statements between the reduction loops that
 * do not belong to the reduction. */
static bool
find_loops(struct cross *x)
{
	struct arena *arena = &x->m->arena;
	struct stmt_list inner = { 0 };
	const struct stmt *below = x->block;
	bool in_threads = false;

	for (struct stmt *s = x->block->parent; s && s->kind != STMT_BLOCK;
	     s = s->parent) {
		if (s->kind == STMT_FOR && loop_drives(s, x->block, true)) {
			x->outer = s;
		}
	}
	for (struct stmt *s = x->block->parent; s != x->outer->parent;
	     below = s, s = s->parent) {
		if (s->kind != STMT_FOR) {
			if (!in_threads && only_precedes(x, s, below)) {
				continue;
			}
			return cross_fail(x,
					  "there is more than the block in "
					  "loop %s; compute the other "
					  "statements elsewhere",
					  x->outer->u.loop.var->name);
		}
		in_threads |= tag_is_thread(tag_of(s));
		if (loop_drives(s, x->block, false)) {
			return cross_fail(x,
					  "loop %s, inside of loop %s, does "
					  "not reduce; reorder it outwards",
					  s->u.loop.var->name,
					  x->outer->u.loop.var->name);
		}
		vec_push(arena, &inner.list, s);
	}
	for (int i = inner.list.n - 1; i >= 0; i--) {
		struct stmt *s = inner.list.data[i];

		if (tag_is_thread(tag_of(s))) {
			vec_push(arena, &x->threads.list, s);
		} else if (tag_of(s) >= 0) {
			return cross_fail(x,
					  "loop %s is bound to %s; only the "
					  "threads of a block can reduce "
					  "together",
					  s->u.loop.var->name,
					  s->u.loop.thread);
		}
	}
	for (struct stmt *s = x->outer->parent; s; s = s->parent) {
		if (tag_of(s) == TAG_VIRTUAL) {
			return cross_fail(x,
					  "loop %s around it is one of "
					  "virtual threads; bind another loop",
					  s->u.loop.var->name);
		}
		if (tag_is_thread(tag_of(s)) && !reduces_along(x, tag_of(s))) {
			vec_push(arena, &x->around.list, s);
		}
	}
	return true;
}

static const struct expr *
from_zero(struct module *m, const struct stmt *loop)
{
	return expr_sub(m, loop->u.loop.var->expr, loop->args[0]);
}

static const struct expr *
over_loops(struct cross *x, const struct expr *e)
{
	const struct block *b = x->block->u.block;
	struct var_map map = { .n = b->n_iters };

	map.from = arena_array(&x->m->arena, struct var *, b->n_iters + 1);
	map.to = arena_exprs(&x->m->arena, b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		map.from[i] = b->iters[i].var;
		map.to[i] = x->block->args[i + 1];
	}
	return expr_substitute(x->m, e, &map);
}

/* The number of the iteration of the reduction loops, in the order of the source. */
static const struct expr *
place_in_loops(struct cross *x, struct dtype t)
{
	struct module *m = x->m;
	const struct expr *place = NULL, *step = expr_int(m, t, 1);

	for (const struct stmt *s = x->block->parent; s != x->outer->parent;
	     s = s->parent) {
		const struct expr *v;

		if (s->kind != STMT_FOR || !loop_drives(s, x->block, true)) {
			continue;
		}
		v = expr_mul(m, expr_cast(m, t, from_zero(m, s)), step);
		place = place ? expr_add(m, v, place) : v;
		step = expr_mul(m, step, expr_cast(m, t, s->args[1]));
	}
	return place;
}

/* Reads the reduction of the block into x. False after a diagnostic if threads cannot
 * combine its values. */
static bool
find_update(struct cross *x)
{
	struct arena *arena = &x->m->arena;
	struct dtype place = x->outer->u.loop.var->type;
	struct block_reduction *own = &x->reduction.own;
	const struct expr **index, **identity;
	const char *why = thread_reduction_read(x->func, x->block, place,
						&x->reduction);
	struct reducer *r;

	if (why != NULL) {
		return cross_fail(x, "%s", why);
	}
	x->results = own->buffers;
	x->n = own->reducer->n;
	x->n_results = x->n - (x->reduction.ordered ? 1 : 0);
	x->sources = arena_exprs(arena, x->n);
	for (int k = 0; k < x->n_results; k++) {
		x->sources[k] = over_loops(x, own->sources[k]);
	}
	if (x->reduction.ordered) {
		x->sources[x->n_results] = place_in_loops(x, place);
	}
	index = arena_exprs(arena, x->results[0]->ndim + 1);
	for (int d = 0; d < x->results[0]->ndim; d++) {
		index[d] = over_loops(x, own->index[d]);
	}
	x->index = index;
	r = arena_new(arena, struct reducer);
	*r = *own->reducer;
	identity = arena_exprs(arena, x->n);
	for (int k = 0; k < x->n; k++) {
		identity[k] = over_loops(x, r->identity[k]);
	}
	r->identity = identity;
	x->own = *own;
	x->own.reducer = r;
	x->together = *own;
	x->together.reducer = x->reduction.together;
	x->together.named = false;
	return true;
}

/* Sets x->reducing and x->spatial. False after a diagnostic if a conjunct
 * without reduction loops has a load or division that another conjunct may
 * guard. */
static bool
split_predicate(struct cross *x)
{
	struct conjuncts all = { 0 }, reducing = { 0 }, spatial = { 0 };
	struct arena *arena = &x->m->arena;
	struct analyser a;

	analyser_at(&a, x->m, x->outer);
	expr_conjuncts(x->m, x->block->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		bool inner = false;

		for (struct stmt *s = x->block->parent; s != x->outer->parent;
		     s = s->parent) {
			inner |= s->kind == STMT_FOR &&
				 expr_uses_var(c, s->u.loop.var);
		}
		if (inner) {
			vec_push(arena, &reducing.list, c);
		} else if (reducing.list.n > 0 && !expr_is_total(&a, c)) {
			return cross_fail(x, "its predicate has a load or "
					     "division that a condition on "
					     "reduction loops may guard; test "
					     "that condition last");
		} else {
			vec_push(arena, &spatial.list, c);
		}
	}
	x->reducing = x->block->args[0];
	if (expr_is_value(x->reducing, 1)) {
		x->reducing = NULL;
	}
	x->spatial = expr_conjunction(x->m, spatial.list.data, spatial.list.n);
	return true;
}

/* -- the rewritten reduction */

/* Makes a buffer for each value. */
static const struct buffer **
new_buffers(struct cross *x, const char *suffix, const char *scope, int ndim,
	    const struct expr *const *shape)
{
	struct arena *arena = &x->m->arena;
	const struct buffer **list = arena_array(arena, const struct buffer *,
						 x->n);
	const struct reducer *r = x->own.reducer;

	for (int k = 0; k < x->n; k++) {
		struct buffer_spec spec = {
			.name = k < x->n_results
					? arena_printf(arena, "%s_%s",
						       x->results[k]->name,
						       suffix)
					: arena_printf(arena, "place_%s",
						       suffix),
			.type = r->lhs[k]->type,
			.ndim = ndim,
			.shape = shape,
			.scope = scope,
		};

		list[k] = buffer_new(x->m, &spec);
	}
	return list;
}

/* Returns s inside of allocations of the n buffers of the values. */
static struct stmt *
alloc_buffers(struct cross *x, const struct buffer *const *list, struct stmt *s)
{
	for (int k = x->n - 1; k >= 0; k--) {
		s = stmt_alloc(x->func, list[k], s);
	}
	return s;
}

/* The linear index of a thread among the threads that reduce one result, and in
 * *n their number; NULL if that is not constant or too large. */
static const struct expr *
reduction_thread_index(struct cross *x, int64_t *n)
{
	const struct expr *number = NULL;

	*n = 1;
	for (int i = 0; i < x->threads.list.n; i++) {
		const struct stmt *s = x->threads.list.data[i];
		const struct expr *v = from_zero(x->m, s);
		int64_t extent;

		if (!expr_is_int(s->args[1], &extent) || extent < 1 ||
		    extent > REDUCTION_THREADS_MAX / *n) {
			return NULL;
		}
		*n *= extent;
		number = number ? expr_add(x->m,
					   expr_mul(x->m, number, s->args[1]),
					   v)
				: v;
	}
	return number;
}

struct partial_results {
	const struct buffer **all; /* by value; NULL: no arrays are needed */
	/* the index of the element of the current thread; its last part is the
	 * number of the thread */
	const struct expr **index;
	int n;
};

/* Loads the element with the number `last` of each array to out. */
static void
load_at(struct cross *x, struct partial_results *t, const struct expr *last,
	const struct expr **out)
{
	t->index[t->n - 1] = last;
	for (int k = 0; k < x->n; k++) {
		out[k] = expr_load(x->m, t->all[k], t->index, t->n);
	}
}

/* Stores the values to the n buffers, at one index. */
static struct stmt *
store_all(struct cross *x, const struct buffer *const *to,
	  const struct expr *const *values, const struct expr *const *index,
	  int n)
{
	struct stmt **list = arena_array(&x->m->arena, struct stmt *, n);

	for (int k = 0; k < n; k++) {
		list[k] = stmt_store(x->func, to[k], values[k], index,
				     to[k]->ndim);
	}
	return stmt_seq(x->func, list, n);
}

static struct stmt *
store_at(struct cross *x, struct partial_results *t, const struct expr *last,
	 const struct expr *const *values)
{
	t->index[t->n - 1] = last;
	return store_all(x, t->all, values, t->index, x->n);
}

/* The values in the local variables of a thread. */
static const struct expr **
load_parts(struct cross *x, const struct buffer *const *part)
{
	const struct expr **out = arena_exprs(&x->m->arena, x->n);

	for (int k = 0; k < x->n; k++) {
		out[k] = expr_load(x->m, part[k], NULL, 0);
	}
	return out;
}

/* Makes the shared arrays of partial results: with an element for each
 * thread that reduces, and a row of such elements for each iteration of the
 * thread loops around the reduction. */
static bool
alloc_partials(struct cross *x, int64_t n, struct partial_results *t)
{
	const struct expr **shape;

	t->n = x->around.list.n + 1;
	shape = arena_exprs(&x->m->arena, t->n);
	t->index = arena_exprs(&x->m->arena, t->n);
	for (int i = 0; i < t->n - 1; i++) {
		const struct stmt *s =
			x->around.list.data[x->around.list.n - 1 - i];
		int64_t extent;

		if (!expr_is_int(s->args[1], &extent)) {
			return cross_fail(x,
					  "the extent of loop %s, around "
					  "it, is not constant",
					  s->u.loop.var->name);
		}
		shape[i] = s->args[1];
		t->index[i] = from_zero(x->m, s);
	}
	shape[t->n - 1] = expr_i32(x->m, n);
	t->all = new_buffers(x, "all", "shared", t->n, shape);
	return true;
}

/* -- by warp shuffles */

/* Do all threads of the kernel execute the reduction? If loops over one thread
 * index have different extents, some threads are guarded off. */
static bool
all_threads_active(struct cross *x)
{
	struct stmt *kernel = x->block;
	/* by tag of a thread axis: the extent of the loops bound to it; 0: none
	 * was found yet */
	int64_t extents[TAG_COUNT] = { 0 };

	for (struct stmt *s = x->block; s != NULL; s = s->parent) {
		kernel = tag_of(s) >= 0 ? s : kernel;
	}
	for (struct stmt_iter it = stmt_each(kernel);
	     (kernel = stmt_next(&it));) {
		int tag = tag_of(kernel);
		int64_t extent;

		if (!tag_is_thread(tag)) {
			continue;
		}
		if (!expr_is_int(kernel->args[1], &extent) ||
		    !expr_is_value(kernel->args[0], 0) ||
		    (extents[tag] != 0 && extents[tag] != extent)) {
			return false;
		}
		extents[tag] = extent;
	}
	return true;
}

/* The number of lanes of one warp that take part in a reduction over n threads
 * by shuffles; 0 if shuffles cannot be used, because the values are not scalars
 * of 32 bits or more, n is not a power of two, a thread of the warp would not
 * execute the shuffles, or the threads are not consecutive lanes. */
static int64_t
shuffle_lanes(struct cross *x, int64_t n)
{
	const int64_t warp = x->func->facts.warp_size;

	for (int k = 0; k < x->n; k++) {
		struct dtype t = x->own.reducer->lhs[k]->type;

		if (dtype_bits(t) < 32 || t.lanes != 1) {
			return 0;
		}
	}
	if (warp == 0 || x->threads.list.n != 1 ||
	    tag_of(x->threads.list.data[0]) != TAG_THREAD_X || n < 2 ||
	    (n & (n - 1)) != 0 || n / warp > warp || !all_threads_active(x)) {
		return 0;
	}
	return n < warp ? n : warp;
}

/* Appends a butterfly reduction to out: for each bit of the lane's number, part
 * = part op (the part of the lane whose number differs in this bit), so that
 * each of the n lanes gets the result. Several values are first brought to `other`.
 * Returns the number of statements. */
static int
butterfly(struct cross *x, const struct buffer *const *part,
	  const struct buffer *const *other, int64_t n, struct stmt **out)
{
	struct module *m = x->m;
	const struct expr **own = load_parts(x, part);
	const struct expr **others = arena_exprs(&m->arena, x->n);
	int steps = 0;

	for (int64_t bit = n / 2; bit > 0; bit /= 2) {
		for (int k = 0; k < x->n; k++) {
			const struct expr *args[] = { own[k],
						      expr_i32(m, bit) };

			others[k] = expr_call(m, INTRIN_SHUFFLE_XOR,
					      own[k]->type, args, 2);
		}
		if (x->n > 1) {
			out[steps++] = store_all(x, other, others, NULL, x->n);
			others = load_parts(x, other);
		}
		out[steps++] = reduction_update(x->func, &x->together, part,
						NULL, others);
	}
	return steps;
}

/* Reduces by shuffles within each warp, then in shared memory over one value of
 * each warp. Appends the statements to `out` and returns their number. */
static int
by_warps(struct cross *x, const struct buffer *const *part,
	 const struct buffer *const *other,
	 struct partial_results *partial_results, const struct expr *number,
	 int64_t warp, int64_t warps, struct stmt **out)
{
	struct module *m = x->m;
	const struct expr *size = expr_int(m, number->type, warp);
	const struct expr **values = arena_exprs(&m->arena, x->n);
	int k = butterfly(x, part, other, warp, out);

	if (warps == 1) {
		return k;
	}
	out[k++] = stmt_if(x->func,
			   expr_eq(m, expr_floormod(m, number, size),
				   expr_int(m, number->type, 0)),
			   store_at(x, partial_results,
				    expr_floordiv(m, number, size),
				    load_parts(x, part)),
			   NULL);
	load_at(x, partial_results,
		expr_floormod(m, number, expr_int(m, number->type, warps)),
		values);
	out[k++] = store_all(x, part, values, NULL, x->n);
	return k + butterfly(x, part, other, warps, out + k);
}

/* The statements of the sequence, with s in place of its last statement. */
static struct stmt *
with_preceding(struct func *f, const struct stmt *sequence, struct stmt *s)
{
	int n = sequence->n_children;
	struct stmt **list = arena_copy(&f->module->arena, sequence->children,
					sizeof *list * (size_t)n);

	list[n - 1] = s;
	return stmt_seq(f, list, n);
}

/* Makes the statements of one thread: part = identity, then part = part op
 * source in the serial loops. */
static void
reduce_serially(struct cross *x, const struct buffer *const *part,
		struct stmt **out)
{
	struct func *f = x->func;
	struct stmt *s = reduction_update(f, &x->own, part, NULL, x->sources);

	if (x->reducing) {
		s = stmt_if(f, x->reducing, s, NULL);
	}
	for (const struct stmt *l = x->block->parent; l != x->outer->parent;
	     l = l->parent) {
		if (l->kind == STMT_SEQ) {
			s = with_preceding(f, l, s);
		} else if (!tag_is_thread(tag_of(l))) {
			s = stmt_for(f, l->u.loop.var, l->args[0], l->args[1],
				     l->u.loop.kind, s);
			s->notes = l->notes;
		}
	}
	out[0] = reduction_init(f, &x->own, part, NULL);
	out[1] = s;
}

static struct stmt *
halving_step(struct cross *x, struct partial_results *t,
	     const struct expr *number, int64_t half, int64_t n)
{
	struct module *m = x->m;
	const struct expr *offset = expr_int(m, number->type, half);
	const struct expr *other = expr_add(m, number, offset);
	const struct expr *cond = expr_lt(m, number, offset);
	const struct expr **others = arena_exprs(&m->arena, x->n);

	if (half * 2 > n) {
		cond = expr_and(m, cond,
				expr_lt(m, other,
					expr_int(m, number->type, n)));
	}
	load_at(x, t, other, others);
	t->index[t->n - 1] = number;
	return stmt_if(x->func, cond,
		       reduction_update(x->func, &x->together, t->all, t->index,
					others),
		       NULL);
}

/* Reduces as a tree in shared memory: the number of active threads halves at
 * each step. Appends the statements to `out` and returns their number. */
static int
by_halves(struct cross *x, const struct buffer *const *part,
	  struct partial_results *partial_results, const struct expr *number,
	  int64_t n, struct stmt **out)
{
	int64_t half = 1;
	int k = 0;

	out[k++] = store_at(x, partial_results, number, load_parts(x, part));
	while (half * 2 < n) {
		half *= 2;
	}
	for (; half > 0 && n > 1; half /= 2) {
		out[k++] = halving_step(x, partial_results, number, half, n);
	}
	return k;
}

static bool
rewrite(struct cross *x)
{
	struct func *f = x->func;
	struct module *m = x->m;
	const struct buffer **part = new_buffers(x, "part", "local", 0, NULL);
	const struct buffer **other = NULL;
	const struct expr *number, *zero, *cond, **all;
	struct stmt *list[64], *s;
	struct partial_results partial_results = { 0 };
	int64_t n, warp;
	int k = 2;

	number = reduction_thread_index(x, &n);
	if (!number) {
		return cross_fail(x, "the threads are too many, or not of a "
				     "constant number");
	}
	warp = shuffle_lanes(x, n);
	if (warp < n &&
	    !alloc_partials(x, warp > 0 ? n / warp : n, &partial_results)) {
		return false;
	}
	reduce_serially(x, part, list);
	zero = expr_int(m, number->type, 0);
	if (warp > 0 && x->n > 1) {
		other = new_buffers(x, "other", "local", 0, NULL);
	}
	if (warp > 0) {
		k += by_warps(x, part, other, &partial_results, number, warp,
			      n / warp, list + k);
		all = load_parts(x, part);
	} else {
		k += by_halves(x, part, &partial_results, number, n, list + k);
		all = arena_exprs(&m->arena, x->n);
		load_at(x, &partial_results, zero, all);
	}
	cond = expr_eq(m, number, zero);
	if (x->spatial) {
		cond = expr_and(m, cond, x->spatial);
	}
	list[k++] = stmt_if(f, cond,
			    store_all(x, x->results, all, x->index,
				      x->n_results),
			    NULL);
	s = stmt_seq(f, list, k);
	if (other != NULL) {
		s = alloc_buffers(x, other, s);
	}
	s = alloc_buffers(x, part, s);
	for (int i = x->threads.list.n - 1; i >= 0; i--) {
		const struct stmt *l = x->threads.list.data[i];

		s = stmt_for(f, l->u.loop.var, l->args[0], l->args[1],
			     FOR_THREAD, s);
		s->u.loop.thread = l->u.loop.thread;
		s->notes = l->notes;
	}
	stmt_replace(f, x->outer,
		     partial_results.all != NULL
			     ? alloc_buffers(x, partial_results.all, s)
			     : s);
	return true;
}

/* One thread stores the result. A result that is declared as local, which in TVM each
 * thread has, becomes shared, so that all threads of the block can read it. */
static void
share_results(struct cross *x)
{
	for (int k = 0; k < x->n_results; k++) {
		const struct buffer *b = x->results[k];

		if (strcmp(b->scope, "local") == 0) {
			stmt_replace_buffer(x->func, x->func->body, b,
					    buffer_with_scope(x->m, b,
							      "shared"));
		}
	}
}

bool
lower_cross_thread(struct func *f)
{
	struct stmt_list blocks = { 0 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		if (reduces_across(s)) {
			vec_push(&f->module->arena, &blocks.list, s);
		}
	}
	for (int i = 0; i < blocks.list.n; i++) {
		struct cross x = { .func = f,
				   .m = f->module,
				   .block = blocks.list.data[i] };

		if (!find_loops(&x) || !find_update(&x) ||
		    !split_predicate(&x) || !rewrite(&x)) {
			return false;
		}
		share_results(&x);
	}
	return true;
}
