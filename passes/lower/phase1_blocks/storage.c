/* SPDX-License-Identifier: Apache-2.0 */
/* Moves every ALLOC to the lowest common ancestor of the buffer's accesses, and
 * shrinks the buffer to the bounding box of the region that these accesses
 * touch.
 *
 *   acc = T.alloc_buffer((64, 56), scope="local")    for c, w:
 *   for c, w:                                            acc: [8, 7]
 *       ... acc[c * 8 + i, w * 7 + j] ...         ->     ... acc[i, j] ...
 *
 * The ALLOC of a shared array is put around the thread loops of its block, and
 * the box covers the accesses of all threads. The ALLOC of a global array is
 * put around the kernel. Invariant: within one iteration of the loops around
 * the ALLOC an element is written before it is read. Dimensions of extent 1 are
 * dropped; a buffer of ndim 0 is a scalar. */
#include "lower_passes.h"

#include "carried.h"
#include "iterate.h"
#include "pipeline_notes.h"
#include "storage_align.h"
#include "thread_loops.h"

struct window {
	struct func *func;
	const struct range *ranges;
	bool *dropped;
	int ndim;
};

static void
window_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	     const struct expr **new)
{
	const struct window *w = ctx;
	int k = 0;

	(void)at;
	for (int d = 0; d < w->ndim; d++) {
		if (!w->dropped[d]) {
			new[k++] = expr_sub(w->func->module, old[d],
					    w->ranges[d].min);
		}
	}
}

/* A constant upper bound of the extent, because local arrays need constant
 * sizes; the extent itself if no such bound is known that fits in the extent's
 * type. */
static const struct expr *
constant_extent(struct func *f, const struct expr *extent)
{
	struct analyser a;
	struct bounds b;

	if (extent->kind == EXPR_INT) {
		return extent;
	}
	analyser_init(&a, f->module);
	b = analyse_bounds(&a, extent);
	return b.max == BOUND_POS_INF ||
			       b.max > (int64_t)dtype_max_int(extent->type)
		       ? extent
		       : expr_int(f->module, extent->type, b.max);
}

static void
align(struct func *f, const struct stmt *alloc, struct range *ranges)
{
	struct arena *arena = &f->module->arena;
	int ndim = alloc->u.buffer->ndim;
	const struct expr **shape = arena_exprs(arena, ndim + 1);

	for (int d = 0; d < ndim; d++) {
		shape[d] = ranges[d].extent;
	}
	storage_align_shape(f->module, stmt_note(alloc, STORAGE_ALIGN), shape,
			    ndim);
	for (int d = 0; d < ndim; d++) {
		ranges[d].extent = shape[d];
	}
}

/* The extent that the accesses reach in dimension d, at most that of the range,
 * given the conditions around them. */
static const struct expr *
reached_extent(struct func *f, const struct access_list *uses, int d,
	       const struct range *range)
{
	struct module *m = f->module;
	const struct expr *extent = constant_extent(f, range->extent);
	int64_t all, most = 0;

	if (!expr_is_int(extent, &all)) {
		return extent;
	}
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];
		struct analyser a;
		struct bounds b;

		if (expr_has_load(x->index[d])) {
			return extent;
		}
		analyser_at(&a, m, x->at);
		b = analyse_bounds(&a, simplify(&a, expr_sub(m, x->index[d],
							     range->min)));
		if (b.max == BOUND_POS_INF || b.max >= all) {
			return extent;
		}
		most = b.max > most ? b.max : most;
	}
	return most + 1 < all ? expr_int(m, extent->type, most + 1) : extent;
}

static void
flat_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const struct window *w = ctx;
	struct module *m = w->func->module;

	(void)at;
	new[0] = old[0];
	for (int d = 1; d < w->ndim; d++) {
		new[0] = expr_add(m, expr_mul(m, new[0], w->ranges[d].extent),
				  old[d]);
	}
}

/* Gives a local array whose address a call takes a constant size. The callee
 * also has the strides, so they must not change: the array becomes
 * one-dimensional, with the largest size. */
static void
fix_size(struct func *f, struct stmt *alloc, const struct access_list *uses)
{
	struct arena *arena = &f->module->arena;
	const struct buffer *b = alloc->u.buffer;
	struct range *ranges = arena_array(arena, struct range, b->ndim + 1);
	struct window window = { f, ranges, NULL, b->ndim };
	const struct expr *size;
	int64_t all, most;

	if (buffer_const_elems(b, &all) || !buffer_max_elems(b, &most)) {
		return;
	}
	for (int d = 0; d < b->ndim; d++) {
		ranges[d].extent = b->shape[d];
	}
	size = expr_index(f->module, most);
	uses_remap(f, alloc, uses, buffer_with_shape(f->module, b, 1, &size),
		   flat_index, &window);
}

/* The number of outer dimensions of the array that may shrink: all dimensions;
 * or, if calls get the address of an element, the outer dimensions in which
 * such a call accesses only one index (a note of the pass `blocks` tells them),
 * and 0 if the array's size is not constant. */
static int
free_outer_dims(const struct stmt *alloc, const struct access_list *uses)
{
	const struct buffer *b = alloc->u.buffer;
	const struct expr *inner = stmt_note(alloc, ADDRESS_INNER_DIMS);
	int64_t n = 0, size;

	for (int i = 0; i < uses->list.n; i++) {
		if (uses->list.data[i].address) {
			return inner && expr_is_int(inner, &n) && n >= 0 &&
					       n <= b->ndim &&
					       buffer_const_elems(b, &size)
				       ? b->ndim - (int)n
				       : 0;
		}
	}
	return b->ndim;
}

/* Aligns the tiles of shared memory that matrix instructions and bulk tensor
 * copies (TMA) access, by the target's facts. */
static void
align_shared(struct func *f, struct stmt *alloc, bool is_copy_target)
{
	const struct buffer *old = alloc->u.buffer;
	struct buffer *b;

	if (!buffer_is_shared(old) || old->align_bytes > 0) {
		return;
	}
	b = buffer_with_shape(f->module, old, -1, NULL);
	b->align_bytes = (int)(is_copy_target ? f->facts.box_align_bytes
					      : f->facts.shared_align_bytes);
	stmt_replace_buffer(f, alloc, old, b);
}

static bool
any_filled(const struct access_list *uses)
{
	for (int i = 0; i < uses->list.n; i++) {
		if (uses->list.data[i].address && uses->list.data[i].fills) {
			return true;
		}
	}
	return false;
}

static void
compact(struct func *f, struct stmt *alloc, struct access_list *uses)
{
	struct arena *arena = &f->module->arena;
	const struct buffer *b = alloc->u.buffer, *small;
	struct range *ranges = arena_array(arena, struct range, b->ndim + 1);
	const struct expr **shape = arena_exprs(arena, b->ndim + 1);
	bool *dropped = arena_array(arena, bool, b->ndim + 1);
	struct window window = { f, ranges, dropped, b->ndim };
	bool same = true;
	int ndim = 0, free_dims = free_outer_dims(alloc, uses);

	if (b->strides || b->ndim == 0) {
		return;
	}
	if (free_dims == 0) {
		fix_size(f, alloc, uses);
		return;
	}
	for (int i = 0; i < uses->list.n; i++) {
		uses->list.data[i].address = false;
	}
	access_cover(f, alloc, uses->list.data, uses->list.n, ranges);
	for (int d = 0; d < b->ndim; d++) {
		if (d < free_dims) {
			ranges[d].extent = reached_extent(f, uses, d,
							  &ranges[d]);
			continue;
		}
		ranges[d].min = expr_int(f->module, b->shape[d]->type, 0);
		ranges[d].extent = b->shape[d];
	}
	if (free_dims == b->ndim) {
		align(f, alloc, ranges);
	}
	for (int d = 0; d < b->ndim; d++) {
		same &= ranges[d].extent == b->shape[d];
		dropped[d] = d < free_dims &&
			     expr_is_value(ranges[d].extent, 1);
		if (!dropped[d]) {
			shape[ndim++] = ranges[d].extent;
		}
	}
	if (same && ndim == b->ndim) {
		return;
	}
	small = buffer_with_shape(f->module, b, ndim, shape);
	uses_remap(f, alloc, uses, small, window_index, &window);
}

/* Does e have an index v % n whose v depends on a serial loop around common, as
 * for a ring buffer, which keeps elements of earlier iterations? */
static bool
has_ring(const struct expr *e, const struct stmt *common)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_FLOORMOD);
	     (e = expr_next(&it));) {
		for (const struct stmt *s = common; s; s = s->parent) {
			found |= s->kind == STMT_FOR &&
				 s->u.loop.kind != FOR_THREAD &&
				 expr_uses_var(e->args[0], s->u.loop.var);
		}
	}
	return found;
}

/* Is b a shared-memory tile that each iteration fills anew? Then it is neither
 * an accumulator nor a ring buffer: guards of its stores only exclude the tail
 * of the tile, and every iteration stores the elements that it then loads. */
static bool
is_staging_tile(const struct buffer *b, const struct access_list *uses,
		const struct stmt *common)
{
	bool ring = false;

	if (!buffer_is_shared(b)) {
		return false;
	}
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];

		for (int d = 0; !x->load && x->index && d < b->ndim; d++) {
			ring |= has_ring(x->index[d], common);
		}
		/* an update such as x = x + … or if (y < x) x = y */
		if (ring || (x->load && (x->at->kind != STMT_STORE ||
					 x->at->u.buffer == b))) {
			return false;
		}
	}
	return true;
}

/* The place of a global array: around the kernel that contains `common`,
 * because all thread blocks share the array. */
static struct stmt *
before_kernel(const struct buffer *b, struct stmt *common)
{
	struct stmt *out = common;

	for (struct stmt *s = common; s; s = s->parent) {
		if (tag_of(s) >= 0 && strcmp(b->scope, "global") == 0) {
			out = s;
		}
	}
	return out;
}

/* The place of a private array: `common`, or inside of the innermost thread
 * loop around `lowest`, even if the loops that carry the array's values are
 * further out. */
static struct stmt *
in_thread(const struct buffer *b, struct stmt *lowest, struct stmt *common)
{
	for (struct stmt *s = lowest; s != common && buffer_is_private(b);
	     s = s->parent) {
		if (tag_of(s->parent) >= 0) {
			return s;
		}
	}
	return common;
}

/* Moves the ALLOC of a shared array around the thread loops of its thread
 * block. If `wait` is set, an array in a software pipeline stays where it is,
 * because the pass `pipeline` multi-buffers it first. */
static void
hoist_shared(struct func *f, struct stmt *alloc, bool wait)
{
	struct stmt *outermost = NULL, *outside;
	struct stmt_place place;

	for (struct stmt *s = alloc; s->parent && !outermost; s = s->parent) {
		int tag = tag_of(s->parent);

		if (tag >= 0 && tag < TAG_COUNT && !tag_is_thread(tag)) {
			outermost = s;
		}
	}
	while (outermost && outermost != alloc &&
	       outermost->kind == STMT_ALLOC) {
		outermost = outermost->children[0];
	}
	if (!outermost || outermost == alloc ||
	    !buffer_is_shared(alloc->u.buffer)) {
		return;
	}
	/* The pass `pipeline` may allocate several copies of the array
	 * first. */
	for (struct stmt *s = alloc->parent; wait && s; s = s->parent) {
		if (stmt_note(s, PIPELINE_STAGE)) {
			return;
		}
	}
	stmt_replace(f, alloc, alloc->children[0]);
	place = stmt_place_of(outermost);
	outside = stmt_alloc(f, alloc->u.buffer, outermost);
	outside->notes = alloc->notes;
	stmt_put(f, place, outside);
}

/* Are the buffer's strides, if it has any, those of an array without gaps? */
static bool
is_dense(const struct buffer *b)
{
	int64_t dense = 1, stride, size;

	for (int d = b->ndim - 1; b->strides && d >= 0; d--) {
		if (!expr_is_int(b->strides[d], &stride) || stride != dense ||
		    !expr_is_int(b->shape[d], &size) ||
		    __builtin_mul_overflow(dense, size, &dense)) {
			return false;
		}
	}
	return true;
}

/* Checks that a call that gets the address of the local array b finds its elements
 * where the program puts them: the source declares b without gaps. */
static bool
check_address(struct func *f, const struct buffer *b)
{
	return is_dense(b) ||
	       func_error(f, DIAG_UNSUPPORTED,
			  "a call gets the address of '%s', a local array with "
			  "strides, which the source declares without gaps; "
			  "leave its strides out, or make it a parameter",
			  b->name);
}

bool
lower_storage(struct func *f)
{
	struct stmt_list allocs = stmts_of(&f->module->arena, f->body,
					   STMT_ALLOC);
	struct access_index index;

	access_index_init(&index, f);
	for (int i = 0; i < allocs.list.n; i++) {
		struct stmt *old = allocs.list.data[i];
		const struct buffer *b = old->u.buffer;
		struct stmt_place place;
		struct stmt *common, *lowest, *alloc;
		bool address, is_copy_target;
		struct access_list uses = access_index_of(&index, f,
							  old->children[0], b);

		if (uses.list.n == 0) {
			stmt_replace(f, old, old->children[0]);
			continue;
		}
		common = uses.list.data[0].at;
		for (int k = 1; k < uses.list.n; k++) {
			common = stmt_common(common, uses.list.data[k].at);
		}
		lowest = common;
		if (!is_staging_tile(b, &uses, common)) {
			common = carried_scope(f, old, common, &uses);
			common = uncovered_scope(f, old, common, &uses);
		}
		common = before_kernel(b, in_thread(b, lowest, common));
		alloc = old;
		/* If `common` is the ALLOC's child, the ALLOC is already in
		 * place, and removing it might splice its SEQ into another
		 * SEQ. */
		if (common != old->children[0]) {
			stmt_replace(f, old, old->children[0]);
			place = stmt_place_of(common);
			alloc = stmt_alloc(f, b, common);
			alloc->notes = old->notes;
			stmt_put(f, place, alloc);
		}
		address = access_any_address(&uses);
		if (address && !check_address(f, b)) {
			return false;
		}
		is_copy_target = any_filled(&uses);
		compact(f, alloc, &uses);
		if (address) {
			align_shared(f, alloc, is_copy_target);
		}
		hoist_shared(f, alloc, true);
	}
	return true;
}

bool
lower_shared(struct func *f)
{
	struct stmt_list allocs = stmts_of(&f->module->arena, f->body,
					   STMT_ALLOC);

	for (int i = 0; i < allocs.list.n; i++) {
		hoist_shared(f, allocs.list.data[i], false);
	}
	return true;
}
