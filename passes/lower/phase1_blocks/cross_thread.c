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
	/* the value that the block stores, B[i] op source, where B[i] is the
	 * element that it stores to */
	const struct expr *combine;
	/* the value of the init and the source of the update, in terms of the
	 * loop variables */
	const struct expr *identity, *source;
	const struct expr *const *index; /* the index i in B[i] */
	/* reducing: the block's predicate; spatial: those of its conjuncts that
	 * use no reduction loops, NULL if there are none */
	const struct expr *reducing, *spatial;
	const struct buffer *result; /* B */
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
 * the result of the block? */
static bool
only_precedes(const struct cross *x, const struct stmt *s,
	      const struct stmt *last)
{
	const struct buffer *result = x->block->u.block->writes[0].buffer;

	if (s->kind != STMT_SEQ || s->children[s->n_children - 1] != last) {
		return false;
	}
	for (int i = 0; i < s->n_children - 1; i++) {
		if (accesses_of(x->func, s->children[i], result).list.n > 0) {
			return false;
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

/* Reads the update, B[i] = B[i] op source, and the init, B[i] = identity, into
 * x. False after a diagnostic if threads cannot combine such an update. */
static bool
find_update(struct cross *x)
{
	const struct stmt *store = x->block->children[0];
	const struct stmt *init = x->block->children[1];
	const struct expr **index, *value;
	const char *why;
	int own;

	why = cross_thread_refusal(x->block, &own);
	if (why != NULL) {
		return cross_fail(x, "%s", why);
	}
	value = store->args[0];
	x->combine = value;
	x->result = store->u.buffer;
	x->identity = over_loops(x, init->args[0]);
	x->source = over_loops(x, value->args[1 - own]);
	index = arena_exprs(&x->m->arena, x->result->ndim + 1);
	for (int d = 0; d < x->result->ndim; d++) {
		index[d] = over_loops(x, store->args[1 + d]);
	}
	x->index = index;
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

static const struct buffer *
new_buffer(struct cross *x, const char *suffix, const char *scope, int ndim,
	   const struct expr *const *shape)
{
	struct buffer_spec spec = {
		.name = arena_printf(&x->m->arena, "%s_%s", x->result->name,
				     suffix),
		.type = x->result->type,
		.ndim = ndim,
		.shape = shape,
		.scope = scope,
	};

	return buffer_new(x->m, &spec);
}

static const struct expr *
from_zero(struct module *m, const struct stmt *loop)
{
	return expr_sub(m, loop->u.loop.var->expr, loop->args[0]);
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
	const struct buffer *all;
	/* the index of the element of the current thread; its last part is the
	 * number of the thread */
	const struct expr **index;
	int n;
};

static const struct expr *
load_at(struct cross *x, struct partial_results *t, const struct expr *last)
{
	t->index[t->n - 1] = last;
	return expr_load(x->m, t->all, t->index, t->n);
}

static struct stmt *
store_at(struct cross *x, struct partial_results *t, const struct expr *last,
	 const struct expr *value)
{
	t->index[t->n - 1] = last;
	return stmt_store(x->func, t->all, value, t->index, t->n);
}

/* Allocates the shared array of partial results: with an element for each
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
	t->all = new_buffer(x, "all", "shared", t->n, shape);
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

	if (warp == 0 || dtype_bits(x->result->type) < 32 ||
	    x->result->type.lanes != 1 || x->threads.list.n != 1 ||
	    tag_of(x->threads.list.data[0]) != TAG_THREAD_X || n < 2 ||
	    (n & (n - 1)) != 0 || n / warp > warp || !all_threads_active(x)) {
		return 0;
	}
	return n < warp ? n : warp;
}

static const struct expr *
combined(const struct cross *x, const struct expr *a, const struct expr *b)
{
	const struct expr *both[2] = { a, b };

	return expr_rebuild(x->m, x->combine, both);
}

/* Appends a butterfly reduction to out: for each bit of the lane's number, part
 * = part op (the part of the lane whose number differs in this bit), so that
 * each of the n lanes gets the result. Returns the number of statements. */
static int
butterfly(struct cross *x, const struct buffer *part, int64_t n,
	  struct stmt **out)
{
	struct module *m = x->m;
	const struct expr *own = expr_load(m, part, NULL, 0);
	int k = 0;

	for (int64_t bit = n / 2; bit > 0; bit /= 2) {
		const struct expr *args[] = { own, expr_i32(m, bit) };
		const struct expr *other = expr_call(m, INTRIN_SHUFFLE_XOR,
						     own->type, args, 2);

		out[k++] = stmt_store(x->func, part, combined(x, own, other),
				      NULL, 0);
	}
	return k;
}

/* Reduces by shuffles within each warp, then in shared memory over one value of
 * each warp. Appends the statements to `out` and returns their number. */
static int
by_warps(struct cross *x, const struct buffer *part,
	 struct partial_results *partial_results, const struct expr *number,
	 int64_t warp, int64_t warps, struct stmt **out)
{
	struct module *m = x->m;
	const struct expr *size = expr_int(m, number->type, warp);
	int k = butterfly(x, part, warp, out);

	if (warps == 1) {
		return k;
	}
	out[k++] = stmt_if(x->func,
			   expr_eq(m, expr_floormod(m, number, size),
				   expr_int(m, number->type, 0)),
			   store_at(x, partial_results,
				    expr_floordiv(m, number, size),
				    expr_load(m, part, NULL, 0)),
			   NULL);
	out[k++] = stmt_store(x->func, part,
			      load_at(x, partial_results,
				      expr_floormod(m, number,
						    expr_int(m, number->type,
							     warps))),
			      NULL, 0);
	return k + butterfly(x, part, warps, out + k);
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
reduce_serially(struct cross *x, const struct buffer *part, struct stmt **out)
{
	struct func *f = x->func;
	struct stmt *s = stmt_store(f, part,
				    combined(x, expr_load(x->m, part, NULL, 0),
					     x->source),
				    NULL, 0);

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
	out[0] = stmt_store(f, part, x->identity, NULL, 0);
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
	const struct expr *mine = load_at(x, t, number);
	const struct expr *value = combined(x, mine, load_at(x, t, other));

	if (half * 2 > n) {
		cond = expr_and(m, cond,
				expr_lt(m, other,
					expr_int(m, number->type, n)));
	}
	return stmt_if(x->func, cond, store_at(x, t, number, value), NULL);
}

/* Reduces as a tree in shared memory: the number of active threads halves at
 * each step. Appends the statements to `out` and returns their number. */
static int
by_halves(struct cross *x, const struct buffer *part,
	  struct partial_results *partial_results, const struct expr *number,
	  int64_t n, struct stmt **out)
{
	int64_t half = 1;
	int k = 0;

	out[k++] = store_at(x, partial_results, number,
			    expr_load(x->m, part, NULL, 0));
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
	const struct buffer *part = new_buffer(x, "part", "local", 0, NULL);
	const struct expr *number, *zero, *cond, *all;
	struct stmt *list[40], *s;
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
	if (warp > 0) {
		k += by_warps(x, part, &partial_results, number, warp, n / warp,
			      list + k);
		all = expr_load(m, part, NULL, 0);
	} else {
		k += by_halves(x, part, &partial_results, number, n, list + k);
		all = load_at(x, &partial_results, zero);
	}
	cond = expr_eq(m, number, zero);
	if (x->spatial) {
		cond = expr_and(m, cond, x->spatial);
	}
	list[k++] = stmt_if(f, cond,
			    stmt_store(f, x->result, all, x->index,
				       x->result->ndim),
			    NULL);
	s = stmt_alloc(f, part, stmt_seq(f, list, k));
	for (int i = x->threads.list.n - 1; i >= 0; i--) {
		const struct stmt *l = x->threads.list.data[i];

		s = stmt_for(f, l->u.loop.var, l->args[0], l->args[1],
			     FOR_THREAD, s);
		s->u.loop.thread = l->u.loop.thread;
		s->notes = l->notes;
	}
	stmt_replace(f, x->outer,
		     partial_results.all != NULL
			     ? stmt_alloc(f, partial_results.all, s)
			     : s);
	return true;
}

/* One thread stores the result. A result that is declared as local, which in TVM each
 * thread has, becomes shared, so that all threads of the block can read it. */
static void
share_result(struct cross *x)
{
	if (strcmp(x->result->scope, "local") == 0) {
		stmt_replace_buffer(x->func, x->func->body, x->result,
				    buffer_with_scope(x->m, x->result,
						      "shared"));
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
		share_result(&x);
	}
	return true;
}
