/* SPDX-License-Identifier: Apache-2.0 */
/* compute_at: moves a block into a loop of its consumer, where it computes only
 * the region that one iteration consumes.
 *
 *   for i: B[i] = A[i] * 2                       for j:
 *   for j, k:               compute_at(B, j)         for i in range(3):
 *       C[j] += B[j + k]          ->                     B[j + i] = A...
 *                                                    for k:
 *                                                        C[j] += B[j + k] */
#include "compute_at.h"

#include "copy_block.h"
#include "loop_legality.h"
#include "thread_loops.h"

static bool
drives_any(const struct stmt *loop, const struct stmt *block)
{
	for (int k = 0; k < block->u.block->n_iters; k++) {
		if (expr_uses_var(block->args[k + 1], loop->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* If an iteration of the loop accesses an element of b, does this iteration
 * contain all updates of the element by `writer`? Then the reduction may start
 * within the iteration. */
static bool
updates_complete(struct edit *e, struct stmt *writer, const struct stmt *loop,
		 const struct buffer *b)
{
	const struct stmt *first = NULL;

	for (const struct stmt *p = loop; p && p->kind != STMT_BLOCK;
	     p = p->parent) {
		if (p->kind != STMT_FOR || expr_is_value(p->args[1], 1) ||
		    !drives_any(p, writer)) {
			continue;
		}
		if (!accesses_disjoint(e, writer, p, b)) {
			return false;
		}
		first = p;
	}
	return stmt_contains(loop, writer) &&
	       (!first || bindings_injective(e->f, first, writer));
}

/* Collects the accesses of b outside of the block in out. True if all are
 * inside of the loop, and all other writers are elementwise. */
static bool
uses_inside(struct edit *e, const struct buffer *b, const struct stmt *block,
	    const struct stmt *loop, struct access_list *out)
{
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (stmt_contains(block, x->at)) {
			continue;
		}
		if (x->at == loop || !stmt_contains(loop, x->at) ||
		    (access_writes(x) &&
		     !updates_complete(e, block_around(x->at), loop, b))) {
			return false;
		}
		vec_push(&e->m->arena, &out->list, *x);
	}
	return true;
}

/* Appends to *out an access that is like x, but to the first (or, if `last`,
 * the last) element of the region r. */
static void
add_corner(struct edit *e, const struct access *x, const struct region *r,
	   bool last, struct access_list *out)
{
	struct access corner = *x;
	const struct expr **index = arena_exprs(&e->m->arena,
						r->buffer->ndim + 1);

	for (int d = 0; d < r->buffer->ndim; d++) {
		const struct expr *one = expr_int(e->m,
						  r->ranges[d].extent->type, 1);

		index[d] = r->ranges[d].min;
		if (last) {
			index[d] = expr_add(e->m, index[d],
					    expr_sub(e->m, r->ranges[d].extent,
						     one));
		}
	}
	corner.index = index;
	corner.address = false;
	vec_push(&e->m->arena, &out->list, corner);
}

/* The accesses in `uses`. An address that a call reads from is replaced by
 * accesses of the corners of the region that the call's block declares. */
static struct access_list
with_regions(struct edit *e, const struct access_list *uses)
{
	struct access_list out = { 0 };

	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];
		const struct stmt *block = x->address ? block_around(x->at)
						      : NULL;
		const struct region *r = NULL;

		for (int k = 0; block != NULL && k < block->u.block->n_reads;
		     k++) {
			if (block->u.block->reads[k].buffer == x->buffer) {
				r = &block->u.block->reads[k];
			}
		}
		if (r == NULL) {
			vec_push(&e->m->arena, &out.list, *x);
			continue;
		}
		add_corner(e, x, r, false, &out);
		add_corner(e, x, r, true, &out);
	}
	return out;
}

/* The child of the loop's body that contains s. */
static struct stmt *
body_child(const struct stmt *loop, struct stmt *s)
{
	struct stmt *body = loop->children[0];

	if (body == s || body->kind != STMT_SEQ) {
		return body;
	}
	while (s->parent != body) {
		s = s->parent;
	}
	return s;
}

int
body_child_count(const struct stmt *loop)
{
	const struct stmt *body = loop->children[0];

	return body->kind == STMT_SEQ ? body->n_children : 1;
}

int
body_child_index(const struct stmt *loop, struct stmt *s)
{
	const struct stmt *child = body_child(loop, s);
	const struct stmt *body = loop->children[0];
	int i = 0;

	while (child != body && body->children[i] != child) {
		i++;
	}
	return i;
}

bool
body_choose_index(struct edit *e, const struct stmt *loop, int lo, int hi,
		  int64_t index, int *at)
{
	*at = index == -1 ? hi : index == -2 ? lo : (int)index;
	return (index >= -2 && index <= hi && *at >= lo) ||
	       edit_fail(e,
			 "index is %lld; in loop %s the block can be at %d "
			 "to %d (-1: the last, -2: the first)",
			 (long long)index, loop->u.loop.var->name, lo, hi);
}

void
body_insert_child(struct edit *e, struct stmt *loop, struct stmt *added, int at)
{
	struct stmt *body = loop->children[0];
	int n = body_child_count(loop);
	struct stmt **list = arena_array(&e->m->arena, struct stmt *, n + 2);

	for (int i = 0; i < n; i++) {
		list[i + (i >= at)] = body->kind == STMT_SEQ ? body->children[i]
							     : body;
	}
	list[at] = added;
	stmt_set_child(e->f, loop, 0, stmt_seq(e->f, list, n + 1));
}

/* A buffer whose elements the loop writes and the block may read in the same
 * iteration of the loops that are around both; NULL if there is no such
 * buffer. */
static const struct buffer *
input_written_in(struct edit *e, struct stmt *block, struct stmt *loop)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_reads; i++) {
		struct access_list all = accesses_of(e->f, loop,
						     b->reads[i].buffer);

		for (int k = 0; k < all.list.n; k++) {
			const struct access *x = &all.list.data[k];

			if (access_writes(x) &&
			    !reads_elsewhere(e, block, loop, x)) {
				return b->reads[i].buffer;
			}
		}
	}
	return NULL;
}

/* The thread loop (`loop` itself or a loop around it) whose threads write
 * shared memory that the block reads: the block might read elements that other
 * threads have not stored yet. NULL if there is no such loop. */
static const struct stmt *
producing_threads(struct edit *e, struct stmt *block, struct stmt *loop)
{
	if (!buffer_is_shared(block->u.block->writes[0].buffer)) {
		return NULL;
	}
	for (; loop; loop = loop->parent) {
		int tag = tag_of(loop);

		if ((tag_is_thread(tag) || tag == TAG_VIRTUAL) &&
		    input_written_in(e, block, loop)) {
			return loop;
		}
	}
	return NULL;
}

/* For instructions that write through an address: is the write region that the
 * block declares for b, in each dimension d, either one element at an iter var,
 * or the full extent? Sets iter_of[d] to the number of the iter var, or to -1
 * for the full extent. */
static bool
declares_identity(const struct stmt *block, const struct buffer *b,
		  int *iter_of)
{
	const struct block *info = block->u.block;
	const struct range *r = info->writes[0].ranges;

	for (int d = 0; d < b->ndim; d++) {
		iter_of[d] = -1;
		for (int i = 0; i < info->n_iters; i++) {
			if (r[d].min == info->iters[i].var->expr &&
			    expr_is_value(r[d].extent, 1)) {
				iter_of[d] = i;
			}
		}
		if (iter_of[d] < 0 && !(expr_is_value(r[d].min, 0) &&
					r[d].extent == b->shape[d])) {
			return false;
		}
	}
	return true;
}

/* Does the block store to b, with iter vars of the block as the indices of all stores?
 * Sets iter_of[d] to the number of the iter var in dimension d. */
static bool
writes_identity(struct edit *e, struct stmt *block, const struct buffer *b,
		int *iter_of)
{
	struct access_list all = accesses_of(e->f, block, b);
	bool stores = false;

	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].address) {
			return declares_identity(block, b, iter_of);
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].load) {
			continue;
		}
		if (!identity_index(block, b, all.list.data[i].index,
				    iter_of)) {
			return false;
		}
		stores = true;
	}
	return stores;
}

void
iter_domains(const struct stmt *block, struct range *ranges)
{
	for (int i = 0; i < block->u.block->n_iters; i++) {
		ranges[i].min = block->u.block->iters[i].min;
		ranges[i].extent = block->u.block->iters[i].extent;
	}
}

/* The domain of the iter var if its extent is provably not larger than that of
 * the range r; else r. */
static struct range
within(struct edit *e, struct range r, const struct iter_var *it)
{
	struct analyser a;

	analyser_init(&a, e->m);
	if (prove(&a, expr_le(e->m, it->extent, r.extent))) {
		r.min = it->min;
		r.extent = it->extent;
	}
	return r;
}

bool
prim_compute_at(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *l, *nest;
	int last, at;
	struct access_list uses = { 0 };
	const struct buffer *buffer, *input;
	const struct stmt *threads;
	const struct stmt *reader;
	struct range *ranges, *needed;
	const char *name;
	int *iter_of;

	if (args[1].u.id == LOOP_ROOT) {
		return true;
	}
	if (args[1].u.id == LOOP_INLINE) {
		return prim_compute_inline(e, args, out);
	}
	if (!(l = edit_loop(e, args[1].u.id))) {
		return false;
	}
	name = b->u.block->name;
	if (stmt_contains(l, b) || scope_of(l) != scope_of(b)) {
		return edit_fail(e,
				 "block %s and loop %s are not in the same "
				 "scope; choose a loop around a consumer",
				 name, l->u.loop.var->name);
	}
	if (b->u.block->n_writes != 1) {
		return edit_fail(e,
				 "block %s writes several buffers; only a "
				 "block with one output can move",
				 name);
	}
	buffer = b->u.block->writes[0].buffer;
	if (func_has_param(e->f, buffer)) {
		return edit_fail(e,
				 "block %s writes the parameter %s; only "
				 "blocks that write intermediate buffers can "
				 "move",
				 name, buffer->name);
	}
	if (block_depends_on_itself(e, b)) {
		return edit_fail(e,
				 "block %s reads elements that other "
				 "iterations of it write; it cannot move",
				 name);
	}
	if (!uses_inside(e, buffer, b, l, &uses) || uses.list.n == 0) {
		return edit_fail(e,
				 "%s is also read outside of loop %s; choose "
				 "a loop around all of its readers",
				 buffer->name, l->u.loop.var->name);
	}
	reader = init_before_loop(l, &uses);
	if (reader) {
		return edit_fail(e,
				 "block %s reads %s in its init, before loop "
				 "%s; choose a loop around the whole "
				 "reduction",
				 reader->u.block->name, buffer->name,
				 l->u.loop.var->name);
	}
	input = input_written_in(e, b, l);
	if (input) {
		return edit_fail(e,
				 "loop %s writes %s, which block %s reads "
				 "before it; choose a loop that does not",
				 l->u.loop.var->name, input->name, name);
	}
	threads = producing_threads(e, b, l);
	if (threads) {
		return edit_fail(e,
				 "block %s reads elements that other threads "
				 "of loop %s store; choose a loop around "
				 "that one",
				 name, threads->u.loop.var->name);
	}
	input = input_changed(e, b, l);
	if (input) {
		return edit_fail(e,
				 "%s, which block %s reads, is overwritten "
				 "before loop %s; choose an earlier loop",
				 input->name, name, l->u.loop.var->name);
	}
	if (!runs_everywhere(e, b, b)) {
		return edit_fail(e,
				 "block %s skips elements under a condition; "
				 "it cannot move",
				 name);
	}
	iter_of = arena_array(&e->m->arena, int, buffer->ndim + 1);
	if (!writes_identity(e, b, buffer, iter_of)) {
		return edit_fail(e,
				 "block %s does not write %s at its own iter "
				 "vars; it cannot move",
				 name, buffer->name);
	}
	needed = arena_array(&e->m->arena, struct range, buffer->ndim + 1);
	ranges = arena_array(&e->m->arena, struct range,
			     b->u.block->n_iters + 1);
	uses = with_regions(e, &uses);
	access_cover(e->f, l->children[0], uses.list.data, uses.list.n, needed);
	iter_domains(b, ranges);
	for (int d = 0; d < buffer->ndim; d++) {
		if (iter_of[d] >= 0) {
			ranges[iter_of[d]] =
				within(e, needed[d],
				       &b->u.block->iters[iter_of[d]]);
		}
	}
	last = body_child_count(l);
	for (int i = 0; i < uses.list.n; i++) {
		int child = body_child_index(l, uses.list.data[i].at);

		last = child < last ? child : last;
	}
	if (!body_choose_index(e, l, 0, last, args[3].u.ival, &at)) {
		return false;
	}
	stmt_remove(e->f, b);
	nest = nest_for_block(e->f, b, ranges, l->children[0], args[2].u.ival);
	body_insert_child(e, l, nest, at);
	return true;
}
