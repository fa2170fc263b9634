/* SPDX-License-Identifier: Apache-2.0 */
/* compute_inline inlines an elementwise block into its consumers,
 * reverse_compute_inline into its producer.
 *
 *   B[v] = A[v] * 2           compute_inline(B)
 *   C[v] = B[v] + 1                 ->              C[v] = A[v] * 2 + 1 */
#include "copy_block.h"

/* The STORE of a block that can be inlined: it must have a single STORE, only
 * spatial iter vars and no init. NULL after a diagnostic. */
static struct stmt *
plain_block(struct edit *e, struct stmt *block)
{
	const struct block *b = block->u.block;
	struct stmt *store = sole_store(block);

	if (!store || block->children[1]) {
		edit_fail(e,
			  "block %s is not a single assignment; only "
			  "injective blocks can be inlined",
			  b->name);
		return NULL;
	}
	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind != ITER_SPATIAL) {
			edit_fail(e,
				  "block %s reduces; only injective "
				  "blocks can be inlined",
				  b->name);
			return NULL;
		}
	}
	return store;
}

struct inlining {
	struct edit *e;
	const struct buffer *buffer;
	const struct expr *value;
	const struct block *block;
	const int *iter_of;
};

/* Is iter var number i the index of a dimension of the buffer? */
static bool
is_index(const int *iter_of, int ndim, int i)
{
	for (int d = 0; d < ndim; d++) {
		if (iter_of[d] == i) {
			return true;
		}
	}
	return false;
}

static const struct expr *
inline_load(void *ctx, const struct expr *x)
{
	struct inlining *in = ctx;
	struct module *m = in->e->m;
	struct var_map map = { 0 };

	if (x->kind != EXPR_LOAD || x->u.buffer != in->buffer) {
		return NULL;
	}
	map.from = arena_array(&m->arena, struct var *, in->block->n_iters + 1);
	map.to = arena_exprs(&m->arena, in->block->n_iters + 1);
	for (int d = 0; d < x->n_args; d++) {
		if (in->iter_of[d] >= 0) {
			map.from[map.n] = in->block->iters[in->iter_of[d]].var;
			map.to[map.n++] = expr_rewrite(m, x->args[d],
						       inline_load, in);
		}
	}
	for (int i = 0; i < in->block->n_iters; i++) {
		if (!is_index(in->iter_of, x->n_args, i)) {
			map.from[map.n] = in->block->iters[i].var;
			map.to[map.n++] = in->block->iters[i].min;
		}
	}
	return expr_substitute(m, in->value, &map);
}

/* The number of statements that store into b. */
static int
count_writers(struct edit *e, const struct buffer *b)
{
	int n = 0;
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		n += !all.list.data[i].load;
	}
	return n;
}

static void
refresh_users(struct edit *e, const struct access_list *uses)
{
	for (int i = 0; i < uses->list.n; i++) {
		struct stmt *b = block_around(uses->list.data[i].at);

		if (stmt_contains(e->f->body, b)) {
			block_refresh(e->f, b);
		}
	}
}

bool
prim_compute_inline(struct edit *e, const struct sched_value *args,
		    struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *store, *scope;
	struct access_list uses = { 0 };
	const struct buffer *buffer;
	const char *name;
	int *iter_of;

	(void)out;
	name = b->u.block->name;
	store = plain_block(e, b);
	if (!store) {
		return false;
	}
	buffer = store->u.buffer;
	scope = scope_of(b);
	if (!scope || !scope_owns(scope, buffer)) {
		return edit_fail(e,
				 "block %s writes %s, which is visible "
				 "outside; only intermediate buffers can be "
				 "removed",
				 name, buffer->name);
	}
	if (!edit_check_no_address(e, buffer)) {
		return false;
	}
	iter_of = arena_array(&e->m->arena, int, buffer->ndim + 1);
	if (!identity_index(b, buffer, store->args + 1, iter_of) ||
	    count_writers(e, buffer) != 1 ||
	    expr_uses_buffer(store->args[0], buffer)) {
		return edit_fail(e,
				 "block %s does not assign each element of "
				 "%s once at its own iter vars; it cannot be "
				 "inlined",
				 name, buffer->name);
	}
	for (int i = 0; i < b->u.block->n_iters; i++) {
		if (!is_index(iter_of, buffer->ndim, i) &&
		    !expr_is_value(b->u.block->iters[i].extent, 1)) {
			return edit_fail(e,
					 "iter var %s of block %s does not "
					 "index %s, so that elements are "
					 "assigned several times; it cannot "
					 "be inlined",
					 b->u.block->iters[i].var->name, name,
					 buffer->name);
		}
	}
	access_collect(e->f, e->f->body, buffer, &uses);
	for (int i = 0; i < uses.list.n; i++) {
		struct stmt *at = uses.list.data[i].at;
		struct stmt *reader = block_around(at);
		const struct buffer *input;

		while (scope_of(reader) != scope) {
			reader = scope_of(reader);
		}
		if (at == store) {
			continue;
		}
		if (!stmt_before(e->f, b, at)) {
			return edit_fail(e,
					 "block %s reads %s before block %s "
					 "writes it; it cannot be inlined",
					 block_around(at)->u.block->name,
					 buffer->name, name);
		}
		input = input_changed(e, b, reader);
		if (input) {
			return edit_fail(e,
					 "%s, which block %s reads, is "
					 "overwritten before block %s reads "
					 "%s; it cannot be inlined",
					 input->name, name,
					 block_around(at)->u.block->name,
					 buffer->name);
		}
	}
	{
		struct inlining in = { e, buffer, store->args[0], b->u.block,
				       iter_of };

		stmt_remove(e->f, b);
		stmt_rewrite(e->f, scope, inline_load, &in);
	}
	scope_drop_alloc(e->f, scope, buffer);
	refresh_users(e, &uses);
	return true;
}

/* Does the block's domain cover the whole buffer? iter_of[d]: the iter var that
 * is the index of dimension d, whose domain must be the full extent; -1 if the
 * index is 0 and the extent 1. */
static bool
covers_buffer(const struct stmt *block, const struct buffer *b,
	      const int *iter_of)
{
	for (int d = 0; d < b->ndim; d++) {
		const struct iter_var *it;

		if (iter_of[d] < 0) {
			continue;
		}
		it = &block->u.block->iters[iter_of[d]];
		if (!expr_is_value(it->min, 0) || it->extent != b->shape[d]) {
			return false;
		}
	}
	return true;
}

struct swapping {
	struct edit *e;
	const struct buffer *buffer;
	const struct expr *value;
};

static const struct expr *
swap_load(void *ctx, const struct expr *x)
{
	const struct swapping *w = ctx;

	return x->kind == EXPR_LOAD && x->u.buffer == w->buffer ? w->value
								: NULL;
}

static struct stmt *
sole_producer(struct edit *e, const struct stmt *consumer,
	      const struct buffer *b)
{
	struct stmt *store = NULL;
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (x->load ? block_around(x->at) != consumer : store != NULL) {
			return NULL;
		}
		if (!x->load) {
			store = x->at;
		}
	}
	return store;
}

/* Do all loads of b in the list `all` read the same element? */
static bool
one_element(const struct access_list *all, const struct buffer *b)
{
	const struct access *first = NULL;

	for (int i = 0; i < all->list.n; i++) {
		const struct access *x = &all->list.data[i];

		if (!x->load || x->buffer != b) {
			continue;
		}
		first = first ? first : x;
		for (int d = 0; d < b->ndim; d++) {
			if (x->index[d] != first->index[d]) {
				return false;
			}
		}
	}
	return true;
}

/* Does the store run in each instance of its block, without a condition? */
static bool
runs_with_block(const struct stmt *store)
{
	const struct stmt *s = store->parent;

	while (s && s->kind == STMT_SEQ) {
		s = s->parent;
	}
	return s && s->kind == STMT_BLOCK;
}

/* Returns the intermediate buffer that the consumer `block` loads with its own
 * iter vars as indices; (*iter_of)[d] is the number of the iter var of
 * dimension d. NULL after a diagnostic. */
static const struct buffer *
inlined_source(struct edit *e, struct stmt *block, const struct stmt *scope,
	       int **iter_of)
{
	struct stmt *store = sole_store(block);
	struct access_list all = accesses_of(e->f, store, NULL);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];
		struct stmt *from;

		if (!x->load || !scope_owns(scope, x->buffer)) {
			continue;
		}
		from = sole_producer(e, block, x->buffer);
		*iter_of = arena_array(&e->m->arena, int, x->buffer->ndim + 1);
		if (from && one_element(&all, x->buffer) &&
		    runs_with_block(from) && !block_around(from)->children[1] &&
		    identity_index(block, x->buffer, x->index, *iter_of) &&
		    covers_buffer(block, x->buffer, *iter_of)) {
			return x->buffer;
		}
	}
	return NULL;
}

/* Is the consumer's output b used between its producer and the consumer, or in
 * the producer's loops? */
static bool
used_early(struct edit *e, const struct stmt *consumer, const struct stmt *from,
	   const struct buffer *b)
{
	struct access_list all = { 0 };
	const struct stmt *block = from;
	const struct stmt *top;

	while (block->kind != STMT_BLOCK) {
		block = block->parent;
	}
	top = scope_child(block);
	access_collect(e->f, e->f->body, b, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct stmt *at = all.list.data[i].at;

		if (!stmt_contains(consumer, at) &&
		    !stmt_before(e->f, at, top) &&
		    !stmt_before(e->f, consumer, at)) {
			return true;
		}
	}
	return false;
}

bool
prim_reverse_compute_inline(struct edit *e, const struct sched_value *args,
			    struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *store, *scope, *from;
	const struct expr **parts;
	const struct buffer *buffer;
	struct swapping swap;
	struct var_map map = { 0 };
	const char *name;
	int *iter_of, used = 0;
	bool ready = true;

	(void)out;
	if (!(store = plain_block(e, b))) {
		return false;
	}
	name = b->u.block->name;
	scope = scope_of(b);
	buffer = scope ? inlined_source(e, b, scope, &iter_of) : NULL;
	if (!buffer) {
		return edit_fail(e,
				 "block %s does not read an intermediate "
				 "buffer elementwise from one assignment; it "
				 "cannot be inlined",
				 name);
	}
	from = sole_producer(e, b, buffer);
	map.from = arena_array(&e->m->arena, struct var *, buffer->ndim + 1);
	map.to = arena_exprs(&e->m->arena, buffer->ndim + 1);
	for (int d = 0; d < buffer->ndim; d++) {
		if (iter_of[d] >= 0) {
			map.from[map.n] = b->u.block->iters[iter_of[d]].var;
			map.to[map.n++] = from->args[d + 1];
			used++;
		}
	}
	if (used != b->u.block->n_iters) {
		return edit_fail(e,
				 "block %s has further iter vars than those "
				 "that index %s; it cannot be inlined",
				 name, buffer->name);
	}
	for (int i = 0; i < store->n_args; i++) {
		ready &= inputs_ready(e, store->args[i],
				      scope_child(block_around(from)), buffer);
	}
	if (!ready) {
		return edit_fail(e,
				 "block %s also reads buffers that are not "
				 "complete where %s is written; it cannot be "
				 "inlined",
				 name, buffer->name);
	}
	if (!runs_everywhere(e, b, b)) {
		return edit_fail(e,
				 "block %s skips elements under a condition; "
				 "it cannot be inlined",
				 name);
	}
	if (used_early(e, b, from, store->u.buffer)) {
		return edit_fail(e,
				 "%s is used between block %s and block %s; "
				 "it cannot be inlined",
				 store->u.buffer->name,
				 block_around(from)->u.block->name, name);
	}
	swap = (struct swapping){ e, buffer, from->args[0] };
	parts = arena_exprs(&e->m->arena, store->n_args);
	for (int i = 0; i < store->n_args; i++) {
		parts[i] = expr_substitute(e->m, store->args[i], &map);
		parts[i] = expr_rewrite(e->m, parts[i], swap_load, &swap);
	}
	stmt_set_args(e->f, from, parts, store->n_args);
	stmt_write(e->f, &from->u.buffer, &store->u.buffer,
		   sizeof(store->u.buffer));
	stmt_remove(e->f, b);
	scope_drop_alloc(e->f, scope, buffer);
	block_refresh(e->f, block_around(from));
	return true;
}
