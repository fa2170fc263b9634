/* SPDX-License-Identifier: Apache-2.0 */
/* cache_read, cache_write and cache_inplace: make a block access a copy of a
 * buffer in another scope, and add a block that copies.
 *
 *   for i: C[i] = ...     cache_write(C, 0, "local")   for i: C_local[i] = ...
 *                                   ->                 for i: C[i] = C_local[i]
 *
 * The copy is limited to the bounding box of the accesses. */
#include "copy_block.h"
#include "region.h"

static const struct buffer *
cache_buffer(struct edit *e, const struct buffer *b, const char *scope)
{
	return buffer_variant(e, b,
			      arena_printf(&e->m->arena, "%s_%s", b->name,
					   scope),
			      scope, -1, NULL);
}

static bool
gap_fail(struct edit *e, const struct buffer *b)
{
	return edit_fail(e,
			 "some elements of %s in the box to copy are never "
			 "stored, such as the padding of a layout; give the "
			 "layout a pad_value, or use reindex",
			 b->name);
}

struct stmt *
copy_box_nest(struct edit *e, const char *name, const struct buffer *to,
	      const struct buffer *from, const struct range *box,
	      const struct expr *const *like, const struct stmt *context,
	      struct stmt **copy)
{
	struct arena *arena = &e->m->arena;
	int n = to->ndim;
	struct block b = { .name = free_block_name(e, name), .n_iters = n };
	const struct expr **at = arena_exprs(arena, n + 1);
	const struct expr **bind = arena_exprs(arena, n + 1);

	b.iters = dim_iters(e, from, like);
	for (int d = 0; d < n; d++) {
		at[d] = b.iters[d].var->expr;
		bind[d] = b.iters[d].min;
	}
	*copy = stmt_block(e->f, &b, NULL, bind, NULL,
			   stmt_store(e->f, to, expr_load(e->m, from, at, n),
				      at, n));
	block_refresh(e->f, *copy);
	return nest_for_block(e->f, *copy, box, context, !context);
}

/* -- placement of the copy */

/* A list of statements into which a copy can be inserted: the children of a
 * SEQ, or the body of a scope. */
struct level {
	/* the SEQ; NULL if the statements are the body of `scope` */
	struct stmt *scope, *seq;
};

static struct stmt *
child_at(const struct level *l, struct stmt *s)
{
	struct stmt *top = l->seq ? l->seq : l->scope->children[0];

	if (s == top || top->kind != STMT_SEQ) {
		return top;
	}
	while (s->parent != top) {
		s = s->parent;
	}
	return s;
}

static bool
same_child(const struct level *l, const struct access_list *writes,
	   const struct stmt_list *readers)
{
	for (int i = 0; i < writes->list.n; i++) {
		for (int k = 0; k < readers->list.n; k++) {
			if (child_at(l, writes->list.data[i].at) ==
			    child_at(l, readers->list.data[k])) {
				return true;
			}
		}
	}
	return false;
}

struct reading {
	struct edit *e;
	const struct buffer *buffer;
	/* first: the statement before which the copy is inserted */
	struct stmt *scope, *first;
	struct stmt_list consumers;
	/* the writes of the buffer inside of the scope */
	struct access_list writes;
	struct level level;
	struct range *box;
	/* the index of the first read, whose variables name the copy's axes */
	const struct expr *const *index;
};

static bool
find_consumers(struct reading *r, const struct sched_value *list)
{
	struct edit *e = r->e;
	struct stmt_list all = { 0 };

	blocks_below(e->f, r->scope->children[0], &all);
	for (int i = 0; list->n == 0 && i < all.list.n; i++) {
		if (reads_below(e->f, all.list.data[i], r->buffer) &&
		    !writes_below(e->f, all.list.data[i], r->buffer)) {
			vec_push(&e->m->arena, &r->consumers.list,
				 all.list.data[i]);
		}
	}
	for (int i = 0; i < list->n; i++) {
		struct stmt *b = edit_block(e, list->items[i].u.id);

		if (!b) {
			return false;
		}
		if (scope_of(b) != r->scope ||
		    !reads_below(e->f, b, r->buffer) ||
		    writes_below(e->f, b, r->buffer)) {
			return edit_fail(e,
					 "block %s is not a block of this "
					 "scope that only reads %s; name "
					 "consumers",
					 b->u.block->name, r->buffer->name);
		}
		vec_push(&e->m->arena, &r->consumers.list, b);
	}
	return r->consumers.list.n > 0 ||
	       edit_fail(e,
			 "every block that reads %s also writes it; use "
			 "cache_inplace",
			 r->buffer->name);
}

/* Sets r->level to the innermost list of statements that contains the writers
 * and the consumers. */
static void
find_level(struct reading *r)
{
	struct stmt *common = r->consumers.list.data[0];

	r->level = (struct level){ r->scope, NULL };
	if (!same_child(&r->level, &r->writes, &r->consumers)) {
		return;
	}
	for (int i = 0; i < r->writes.list.n; i++) {
		common = stmt_common(common, r->writes.list.data[i].at);
	}
	for (int i = 0; i < r->consumers.list.n; i++) {
		common = stmt_common(common, r->consumers.list.data[i]);
	}
	if (common->kind == STMT_SEQ) {
		r->level.seq = common;
	}
}

/* Checks that every write of the buffer precedes the copy, or follows all reads
 * of the copy. False after a diagnostic. */
static bool
check_order(struct reading *r)
{
	struct edit *e = r->e;

	for (int i = 0; i < r->consumers.list.n; i++) {
		struct stmt *c = child_at(&r->level, r->consumers.list.data[i]);

		if (!r->first || stmt_before(e->f, c, r->first)) {
			r->first = c;
		}
	}
	for (int i = 0; i < r->writes.list.n; i++) {
		struct stmt *w = child_at(&r->level, r->writes.list.data[i].at);
		bool after = !r->level.seq;

		for (int k = 0; k < r->consumers.list.n; k++) {
			struct stmt *c = child_at(&r->level,
						  r->consumers.list.data[k]);

			after &= c != w && stmt_before(e->f, c, w);
		}
		if (w == r->first ||
		    (!stmt_before(e->f, w, r->first) && !after)) {
			return edit_fail(e,
					 "%s is written inside of the same "
					 "loops or between its readers; "
					 "cache before compute_at, or name "
					 "fewer consumers",
					 r->buffer->name);
		}
	}
	return true;
}

/* Does the box contain elements that are never stored? The box of a consumer
 * under a condition may be anywhere. */
static bool
reads_unstored(const struct reading *r)
{
	struct edit *e = r->e;
	struct range *all = arena_array(&e->m->arena, struct range,
					r->buffer->ndim + 1);
	bool always = true;

	region_full(e->m, r->buffer, all);
	for (int i = 0; i < r->consumers.list.n; i++) {
		const struct stmt *c = r->consumers.list.data[i];

		always &= c->kind != STMT_BLOCK || expr_is_value(c->args[0], 1);
	}
	return leaves_unstored(e, e->f->body, r->buffer, always ? r->box : all);
}

/* Does the read region of the buffer that the enclosing scope declares cover
 * the box? Also true if the scope declares no regions because it is the root
 * block, or if the buffer is a parameter of the function. */
static bool
scope_has_box(const struct reading *r)
{
	const struct block *b = r->scope->u.block;
	struct analyser a;

	if (scope_of(r->scope) == NULL || func_has_param(r->e->f, r->buffer)) {
		return true;
	}
	analyser_at(&a, r->e->m, r->scope->children[0]);
	for (int i = 0; i < b->n_reads; i++) {
		if (b->reads[i].buffer == r->buffer &&
		    region_covers(&a, b->reads[i].ranges, r->box,
				  r->buffer->ndim)) {
			return true;
		}
	}
	return false;
}

static bool
not_made(const struct reading *r)
{
	return edit_fail(r->e,
			 "elements of %s are read that another iteration of "
			 "the loops around stores; cache before compute_at",
			 r->buffer->name);
}

/* Finds the box that the consumers read in one execution of the copy. False
 * after a diagnostic. */
static bool
find_box(struct reading *r)
{
	struct edit *e = r->e;
	struct access_list loads = { 0 }, stores = { 0 };
	struct stmt *top = r->level.seq ? r->level.seq : r->scope->children[0];
	struct range *made;
	struct analyser a;

	for (int i = 0; i < r->consumers.list.n; i++) {
		access_collect(e->f, r->consumers.list.data[i], r->buffer,
			       &loads);
	}
	r->index = loads.list.data[0].index;
	r->box = arena_array(&e->m->arena, struct range, r->buffer->ndim + 1);
	access_cover(e->f, top, loads.list.data, loads.list.n, r->box);
	if (!func_has_param(e->f, r->buffer) && reads_unstored(r)) {
		return gap_fail(e, r->buffer);
	}
	if (!r->level.seq) {
		return scope_has_box(r) || not_made(r);
	}
	made = arena_array(&e->m->arena, struct range, r->buffer->ndim + 1);
	access_collect(e->f, top, r->buffer, &stores);
	loads.list.n = 0;
	for (int i = 0; i < stores.list.n; i++) {
		if (!stores.list.data[i].load) {
			vec_push(&e->m->arena, &loads.list,
				 stores.list.data[i]);
		}
	}
	analyser_at(&a, e->m, top);
	if (!access_box(e->f, top, loads.list.data, loads.list.n, made) ||
	    !region_covers(&a, made, r->box, r->buffer->ndim)) {
		return not_made(r);
	}
	return true;
}

/* Sets *out to the conditions outside of the level under which the writers run;
 * these conditions guard the copy, too. False after a diagnostic if writers
 * have different conditions, or if the conditions cannot be determined. */
static bool
find_condition(struct reading *r, const struct expr **out)
{
	struct module *m = r->e->m;

	*out = expr_bool(m, true);
	for (int i = 0; r->level.seq && i < r->writes.list.n; i++) {
		struct stmt *at = r->writes.list.data[i].at;
		struct stmt *block = block_around(at);
		const struct expr *cond = conditions_outside(r->e, block, at,
							     r->level.seq);

		if (!cond || (i > 0 && cond != *out)) {
			return edit_fail(r->e,
					 "block %s skips elements of %s "
					 "under a condition; cache before "
					 "compute_at",
					 block->u.block->name, r->buffer->name);
		}
		*out = cond;
	}
	return true;
}

bool
prim_cache_read(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *copy, *nest;
	struct reading r = { .e = e };
	struct access_list all = { 0 };
	const struct buffer *cache;
	const struct expr *when;

	if (!b) {
		return false;
	}
	r.buffer = read_arg(b, &args[1]);
	r.scope = scope_of(b);
	if (!r.scope) {
		return edit_fail(e,
				 "block %s is the whole function; name a "
				 "block inside",
				 b->u.block->name);
	}
	if (!edit_check_no_address(e, r.buffer) ||
	    !find_consumers(&r, &args[3])) {
		return false;
	}
	access_collect(e->f, r.scope->children[0], r.buffer, &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			vec_push(&e->m->arena, &r.writes.list,
				 all.list.data[i]);
		}
	}
	find_level(&r);
	if (!check_order(&r) || !find_box(&r) || !find_condition(&r, &when)) {
		return false;
	}
	cache = cache_buffer(e, r.buffer, args[2].u.text);
	nest = copy_box_nest(e, cache->name, cache, r.buffer, r.box, r.index,
			     r.level.seq, &copy);
	stmt_set_arg(e->f, copy, 0, expr_and(e->m, copy->args[0], when));
	for (int i = 0; i < r.consumers.list.n; i++) {
		stmt_replace_buffer(e->f, r.consumers.list.data[i], r.buffer,
				    cache);
	}
	insert_beside(e, r.first, nest, false);
	scope_add_alloc(e->f, r.scope, cache);
	*out = sv_block(copy->id);
	return true;
}

/* -- writing */

/* The index of the block's first store to b, from whose variables iter vars get
 * their names; NULL if there is no store. */
static const struct expr *const *
store_index(struct edit *e, struct stmt *block, const struct buffer *b)
{
	struct access_list all = accesses_of(e->f, block, b);

	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			return all.list.data[i].index;
		}
	}
	return NULL;
}

/* Does a statement outside of the block, but in the same child of the scope and
 * so in the same loops, use b? */
static bool
used_beside(struct edit *e, const struct buffer *b, struct stmt *block)
{
	struct access_list all = accesses_of(e->f, scope_child(block), b);

	for (int i = 0; i < all.list.n; i++) {
		if (!stmt_contains(block, all.list.data[i].at)) {
			return true;
		}
	}
	return false;
}

/* Does the block's init store the element of access x without a condition? Then
 * the element is defined wherever the block runs. */
static bool
is_started(struct edit *e, struct stmt *block, const struct access_list *all,
	   const struct access *x)
{
	for (int i = 0; block->children[1] && i < all->list.n; i++) {
		const struct access *start = &all->list.data[i];
		bool same = !start->load && start->at != x->at &&
			    stmt_contains(block->children[1], start->at) &&
			    runs_everywhere(e, block, start->at);

		for (int d = 0; same && d < x->buffer->ndim; d++) {
			same = start->index[d] == x->index[d];
		}
		if (same) {
			return true;
		}
	}
	return false;
}

/* Sets box to the bounding box of the block's stores to b. False after a
 * diagnostic. */
static bool
written_box(struct edit *e, struct stmt *block, const struct buffer *b,
	    struct range *box)
{
	int n = 0;
	struct access_list all = accesses_of(e->f, block, b);

	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].load) {
			continue;
		}
		if (!runs_everywhere(e, block, all.list.data[i].at) &&
		    !is_started(e, block, &all, &all.list.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load) {
			all.list.data[n++] = all.list.data[i];
		}
	}
	/* not the whole of a dimension where it is not known what is stored */
	if (!access_box(e->f, scope_of(block)->children[0], all.list.data, n,
			box)) {
		return false;
	}
	access_cover(e->f, scope_of(block)->children[0], all.list.data, n, box);
	return true;
}

static bool
check_written(struct edit *e, struct stmt *block, const struct buffer *buffer,
	      bool alone)
{
	if (!scope_of(block)) {
		return edit_fail(e,
				 "block %s is the whole function; name a "
				 "block inside",
				 block->u.block->name);
	}
	if (alone && sole_writer(e->f, buffer) != block) {
		return edit_fail(e,
				 "other blocks also write %s; one block must "
				 "write all of it",
				 buffer->name);
	}
	if (used_beside(e, buffer, block)) {
		return edit_fail(e,
				 "other blocks use %s inside of the loops "
				 "that write it; cache before compute_at",
				 buffer->name);
	}
	return true;
}

/* Makes the blocks in `list`, too, which consume `from`, read `to` in place of
 * it. False after a diagnostic if one of them does not read `from` after the
 * block. */
static bool
redirect(struct edit *e, struct stmt *block, const struct sched_value *list,
	 const struct buffer *from, const struct buffer *to)
{
	for (int i = 0; i < list->n; i++) {
		struct stmt *b = edit_block(e, list->items[i].u.id);

		if (!b) {
			return false;
		}
		if (b == block || scope_of(b) != scope_of(block) ||
		    !reads_below(e->f, b, from) ||
		    !stmt_before(e->f, block, b)) {
			return edit_fail(e,
					 "block %s does not read %s after "
					 "block %s; name consumers",
					 b->u.block->name, from->name,
					 block->u.block->name);
		}
		stmt_replace_buffer(e->f, b, from, to);
	}
	return true;
}

bool
prim_cache_write(struct edit *e, const struct sched_value *args,
		 struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *copy, *nest;
	const struct buffer *buffer, *cache;
	struct range *box;

	if (!b) {
		return false;
	}
	buffer = write_arg(b, &args[1]);
	box = arena_array(&e->m->arena, struct range, buffer->ndim + 1);
	if (!edit_check_no_address(e, buffer) ||
	    !check_written(e, b, buffer, true) || !check_begins(e, b, buffer)) {
		return false;
	}
	if (!written_box(e, b, buffer, box)) {
		return edit_fail(e,
				 "block %s skips elements of %s under a "
				 "condition; the copy has no values for these",
				 b->u.block->name, buffer->name);
	}
	if (leaves_unstored(e, b, buffer, box)) {
		return gap_fail(e, buffer);
	}
	cache = cache_buffer(e, buffer, args[2].u.text);
	nest = copy_box_nest(e, cache->name, buffer, cache, box,
			     store_index(e, b, buffer), NULL, &copy);
	if (!redirect(e, b, &args[3], buffer, cache)) {
		return false;
	}
	stmt_replace_buffer(e->f, b, buffer, cache);
	insert_beside(e, scope_child(b), nest, true);
	scope_add_alloc(e->f, scope_of(b), cache);
	*out = sv_block(copy->id);
	return true;
}

/* -- both */

static bool
written_outside(struct edit *e, const struct stmt *block,
		const struct buffer *b)
{
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		if (!all.list.data[i].load &&
		    !stmt_contains(block, all.list.data[i].at)) {
			return true;
		}
	}
	return false;
}

bool
prim_cache_inplace(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	struct stmt *b = edit_block(e, args[0].u.id), *in, *back, *nest;
	const struct buffer *buffer, *cache;
	struct access_list all = { 0 };
	struct range *box, *touched;
	struct sched_value made[2];

	if (!b) {
		return false;
	}
	buffer = read_arg(b, &args[1]);
	box = arena_array(&e->m->arena, struct range, buffer->ndim + 1);
	touched = arena_array(&e->m->arena, struct range, buffer->ndim + 1);
	if (!edit_check_no_address(e, buffer)) {
		return false;
	}
	if (!writes_below(e->f, b, buffer)) {
		return edit_fail(e,
				 "block %s reads %s but does not write it; "
				 "use cache_read",
				 b->u.block->name, buffer->name);
	}
	if (!check_written(e, b, buffer, false)) {
		return false;
	}
	for (int i = 0; i < b->u.block->n_iters; i++) {
		if (b->u.block->iters[i].kind == ITER_SCAN) {
			return edit_fail(e,
					 "block %s reads elements of %s that "
					 "it has stored before; these cannot "
					 "be copied in advance",
					 b->u.block->name, buffer->name);
		}
	}
	/* If an element may be skipped under a condition, the element must be
	 * copied in before it is copied back, so that it keeps its value. */
	access_collect(e->f, b, buffer, &all);
	access_cover(e->f, scope_of(b)->children[0], all.list.data, all.list.n,
		     touched);
	if (!written_box(e, b, buffer, box)) {
		memcpy(box, touched, sizeof *box * (size_t)buffer->ndim);
	}
	if (!func_has_param(e->f, buffer) &&
	    leaves_unstored(e, e->f->body, buffer, touched)) {
		return gap_fail(e, buffer);
	}
	if (!func_has_param(e->f, buffer) && !written_outside(e, b, buffer)) {
		return edit_fail(e,
				 "only block %s writes %s, so that there is "
				 "no earlier value to copy; use cache_write",
				 b->u.block->name, buffer->name);
	}
	cache = cache_buffer(e, buffer, args[2].u.text);
	nest = copy_box_nest(e, cache->name, cache, buffer, touched,
			     store_index(e, b, buffer), NULL, &in);
	insert_beside(e, scope_child(b), nest, false);
	nest = copy_box_nest(e, cache->name, buffer, cache, box,
			     store_index(e, b, buffer), NULL, &back);
	insert_beside(e, scope_child(b), nest, true);
	stmt_replace_buffer(e->f, b, buffer, cache);
	scope_add_alloc(e->f, scope_of(b), cache);
	made[0] = sv_block(in->id);
	made[1] = sv_block(back->id);
	*out = sv_list(e->m, made, 2);
	return true;
}
