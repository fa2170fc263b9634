/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk tensor copies to shared memory (COPY_BOX, TMA). A parameter of the
 * kernel is a tensor map, the descriptor that the launch passes; groups of
 * copies complete in the order in which they are issued. */
#include "walk_stmt.h"

#include <string.h>

#include "access.h"
#include "iterate.h"

/* -- bulk copies of a kernel */

static const struct buffer *
copied_from(const struct expr *copy)
{
	return copy->args[1]->args[0]->u.buffer;
}

static const struct buffer *
copied_to(const struct expr *copy)
{
	return copy->args[0]->args[0]->u.buffer;
}

static int
rank_of(const struct expr *copy)
{
	return copy_box_rank(copy->args, copy->n_args);
}

/* Can two copies use one descriptor: the same array, box shape and destination
 * scope? */
static bool
same_source(const struct expr *x, const struct expr *y)
{
	static const enum box_part told[] = { BOX_SIZE, BOX_STRIDE,
					      BOX_EXTENT };

	if (copied_from(x) != copied_from(y) ||
	    strcmp(copied_to(x)->scope, copied_to(y)->scope) != 0 ||
	    x->n_args != y->n_args) {
		return false;
	}
	for (int d = 0; d < rank_of(x); d++) {
		for (int i = 0; i < 3; i++) {
			if (copy_box_part(x, told[i], d) !=
			    copy_box_part(y, told[i], d)) {
				return false;
			}
		}
	}
	return true;
}

static void
add_box(struct walker *w, struct box_sources *out, const struct expr *e)
{
	struct box_source source = { .copy = e, .param = -1 };
	const struct func *kernel = out->kernel;

	if (e->u.intrin != INTRIN_COPY_BOX) {
		return;
	}
	for (int i = 0; i < out->list.n; i++) {
		if (same_source(out->list.data[i].copy, e)) {
			return;
		}
	}
	for (int i = 0; i < kernel->params.n; i++) {
		if (kernel->params.data[i].buffer == copied_from(e)) {
			source.param = i;
		}
	}
	if (source.param < 0) {
		walk_fail(w, "boxes of %s, which is not a parameter",
			  copied_from(e)->name);
		return;
	}
	vec_push(w->a, &out->list, source);
}

void
walk_find_boxes(struct walker *w, const struct func *kernel,
		struct box_sources *out)
{
	const struct expr *e;

	out->kernel = kernel;
	out->list.n = 0;
	if (kernel == NULL) {
		return;
	}
	for (struct tree_iter it = tree_each_of(kernel->body, EXPR_CALL);
	     (e = tree_next(&it));) {
		if (it.at->kind == STMT_EVALUATE) {
			add_box(w, out, e);
		}
	}
}

bool
walk_only_boxes(const struct box_sources *boxes, int param)
{
	const struct func *kernel = boxes->kernel;
	struct access_list uses = { 0 };
	int copies = 0;

	if (boxes->list.n == 0 || kernel->params.data[param].buffer == NULL) {
		return false;
	}
	access_collect(kernel, kernel->body, kernel->params.data[param].buffer,
		       &uses);
	for (int i = 0; i < uses.list.n; i++) {
		const struct stmt *at = uses.list.data[i].at;

		copies += at->kind == STMT_EVALUATE &&
			  at->args[0]->kind == EXPR_CALL &&
			  at->args[0]->u.intrin == INTRIN_COPY_BOX;
	}
	return copies > 0 && copies == uses.list.n;
}

/* -- the dialect's forms */

static const struct box_layout *
layout_of(const struct walker *w, const struct buffer *b)
{
	const struct box_forms *f = &w->d->device.boxes;

	for (int i = 0; i < f->layouts.n; i++) {
		if (strcmp(f->layouts.data[i].scope, b->scope) == 0) {
			return &f->layouts.data[i];
		}
	}
	return NULL;
}

bool
walk_is_opaque(const struct walker *w, const struct buffer *b)
{
	const struct box_layout *layout = layout_of(w, b);

	return layout != NULL && layout->row_bytes > 0;
}

static const char *
type_name(const struct walker *w, struct dtype t)
{
	const struct box_forms *f = &w->d->device.boxes;

	for (int i = 0; i < f->types.n; i++) {
		if (dtype_equal(f->types.data[i].type, t)) {
			return f->types.data[i].name;
		}
	}
	return NULL;
}

/* The helper of the dialect that copies boxes of `rank` dimensions; NULL if the
 * dialect has none. */
static const struct helper *
copier(const struct walker *w, int rank)
{
	const struct box_forms *f = &w->d->device.boxes;

	for (int i = 0; i < f->ranks.n; i++) {
		if (f->ranks.data[i].rank == rank) {
			return dialect_helper(w->d, f->ranks.data[i].helper);
		}
	}
	return NULL;
}

/* Sets `dims` to the dimensions that the copy's descriptor has: all dimensions
 * except those in which both the array and the box have extent 1 and the box
 * begins at 0. Returns the number of these dimensions. */
static int
told_dims(const struct expr *copy, int *dims)
{
	int n = 0;

	for (int d = 0; d < rank_of(copy); d++) {
		if (!expr_is_value(copy_box_part(copy, BOX_SIZE, d), 1) ||
		    !expr_is_value(copy_box_part(copy, BOX_EXTENT, d), 1) ||
		    !expr_is_value(copy_box_part(copy, BOX_FIRST, d), 0)) {
			dims[n++] = d;
		}
	}
	return n;
}

static int64_t
constant(const struct expr *copy, enum box_part part, int dim)
{
	int64_t v = -1;

	expr_is_int(copy_box_part(copy, part, dim), &v);
	return v;
}

/* Does the copy refer to its source array by the address of the array's first
 * element? */
static bool
from_start(const struct expr *copy)
{
	const struct expr *first = copy->args[1]->args[0];

	for (int d = 0; d < first->n_args; d++) {
		if (!expr_is_value(first->args[d], 0)) {
			return false;
		}
	}
	return true;
}

/* Why the dialect cannot express the copy; NULL if it can. */
static const char *
refusal(struct walker *w, const struct expr *copy, const int *dims, int n)
{
	const struct box_forms *f = &w->d->device.boxes;
	struct dtype t = copied_to(copy)->type;
	const struct box_layout *layout = layout_of(w, copied_to(copy));
	int64_t bytes = dtype_bytes(t), row;

	if (f->helper == NULL) {
		return "there is no unit that copies boxes; copy by loops";
	}
	if (!from_start(copy)) {
		return "the array's address is not that of its first element";
	}
	if (type_name(w, t) == NULL) {
		return arena_printf(w->a, "no boxes of %s are copied",
				    dtype_name(t));
	}
	if (layout == NULL) {
		return arena_printf(w->a,
				    "no boxes are copied to memory of "
				    "the scope '%s'",
				    copied_to(copy)->scope);
	}
	if (copier(w, n) == NULL) {
		return arena_printf(w->a,
				    "it has %d dimensions of more than "
				    "one element, and boxes of so many are not "
				    "copied",
				    n);
	}
	row = constant(copy, BOX_EXTENT, dims[n - 1]) * bytes;
	if (constant(copy, BOX_STRIDE, dims[n - 1]) != 1 || row < 0 ||
	    row % f->bytes != 0) {
		return arena_printf(w->a,
				    "rows of %lld bytes; they have to be "
				    "multiples of %d, side by side",
				    (long long)row, (int)f->bytes);
	}
	if (layout->row_bytes > 0 && row != layout->row_bytes) {
		return arena_printf(w->a,
				    "rows of %lld bytes; those of the "
				    "scope '%s' have %d",
				    (long long)row, layout->scope,
				    layout->row_bytes);
	}
	for (int i = 0; i < n; i++) {
		if (constant(copy, BOX_EXTENT, dims[i]) < 1 ||
		    constant(copy, BOX_EXTENT, dims[i]) > f->most_extent) {
			return arena_printf(w->a,
					    "an extent that is not from "
					    "1 to %d",
					    (int)f->most_extent);
		}
		if (constant(copy, BOX_SIZE, dims[i]) < 1 ||
		    constant(copy, BOX_SIZE, dims[i]) > INT32_MAX ||
		    (i < n - 1 &&
		     constant(copy, BOX_STRIDE, dims[i]) * bytes % f->bytes !=
			     0)) {
			return arena_printf(w->a,
					    "a dimension whose elements "
					    "are not a multiple of %d bytes "
					    "apart, or of unknown size",
					    (int)f->bytes);
		}
	}
	return NULL;
}

static bool
check(struct walker *w, const struct expr *copy, int *dims, int *n)
{
	const char *why;

	*n = told_dims(copy, dims);
	why = refusal(w, copy, dims, *n);
	return why == NULL ||
	       walk_fail(w, "a box of %s to %s: %s", copied_from(copy)->name,
			 copied_to(copy)->name, why);
}

static int *
room_for_dims(struct walker *w, const struct expr *copy)
{
	return arena_array(w->a, int, rank_of(copy) + 1);
}

/* -- text */

static const char *
use_helper(struct walker *w, const struct helper *h)
{
	const char *name = unit_helper(w->u, h, dtype_of(DT_I32),
				       dtype_of(DT_I32));

	w->failed |= name == NULL;
	return name;
}

static void
need_helper(struct walker *w)
{
	use_helper(w, dialect_helper(w->d, w->d->device.boxes.helper));
}

static const char *
own_name(struct walker *w, const char *base)
{
	struct var *v = var_new(w->m, base, dtype_of(DT_HANDLE));

	return walk_bind(w, v, base)->text;
}

const char *
walk_box_parameter(struct walker *w, struct box_source *source)
{
	struct tdata *data = tdata_new(w->a);
	int n, *dims = room_for_dims(w, source->copy);

	if (!check(w, source->copy, dims, &n)) {
		return "";
	}
	need_helper(w);
	source->name = own_name(w,
				arena_printf(w->a, "%s_of_%s",
					     copied_to(source->copy)->name,
					     copied_from(source->copy)->name));
	if (w->copies == NULL) {
		w->copies = own_name(w, "copies");
		w->arrived = own_name(w, "arrived");
	}
	tdata_text(data, "name", source->name);
	return walk_render(w, w->d->device.boxes.source, data);
}

static void
add_parts(struct walker *w, struct tdata *data, const char *list,
	  const struct expr *copy, enum box_part part, const int *dims, int n)
{
	tdata_list(data, list);
	for (int i = 0; i < n; i++) {
		tdata_text(tdata_item(data, list), "n",
			   walk_expr(w, copy_box_part(copy, part, dims[i]),
				     w->d->assignment));
	}
}

const char *
walk_box_argument(struct walker *w, const struct box_source *source,
		  const char *pointer)
{
	const struct buffer *to = copied_to(source->copy);
	int n, *dims = room_for_dims(w, source->copy);
	struct tdata *data = tdata_new(w->a);

	if (!check(w, source->copy, dims, &n)) {
		return "";
	}
	need_helper(w);
	tdata_flag(data, "model", w->u->model != NULL);
	tdata_text(data, "pointer", pointer);
	tdata_text(data, "type", type_name(w, to->type));
	tdata_text(data, "layout", layout_of(w, to)->name);
	tdata_int(data, "bytes", dtype_bytes(to->type));
	tdata_int(data, "rank", n);
	add_parts(w, data, "sizes", source->copy, BOX_SIZE, dims, n);
	add_parts(w, data, "strides", source->copy, BOX_STRIDE, dims, n);
	add_parts(w, data, "extents", source->copy, BOX_EXTENT, dims, n);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	return walk_render(w, w->d->device.boxes.argument, data);
}

/* The number of mbarriers of a kernel: each group of copies that may be pending
 * has its own. While a thread waits for a group, `later` further groups may be
 * pending, and a slow thread may still wait for the previous group when another
 * thread issues the next one. No thread can be further behind: data is read
 * after a block barrier, and the next group is issued only after that
 * barrier. */
static int64_t
count_barriers(struct stmt *s)
{
	struct tree_iter it = tree_each_of(s, EXPR_CALL);
	int64_t most = 0, later;
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		if (it.at->kind == STMT_EVALUATE &&
		    e->u.intrin == INTRIN_ASYNC_WAIT &&
		    expr_is_int(e->args[0], &later) && later + 2 > most) {
			most = later + 2;
		}
	}
	return most;
}

void
walk_box_begin(struct walker *w, struct layout *l)
{
	struct tdata *data = tdata_new(w->a);
	const struct names *lines = &w->d->device.boxes.begin;
	int64_t most, groups = 1;

	if (w->boxes.list.n == 0 || w->failed) {
		return;
	}
	most = count_barriers(w->f->body);
	while (groups < most) {
		groups *= 2;
	}
	tdata_int(data, "groups", groups);
	tdata_text(data, "copies", w->copies);
	tdata_text(data, "arrived", w->arrived);
	for (int i = 0; i < lines->n; i++) {
		layout_line(l, 1, walk_render(w, lines->data[i], data));
	}
}

const char *
walk_copy_box(struct walker *w, const struct expr *e)
{
	struct tdata *data = tdata_new(w->a);
	int n, *dims = room_for_dims(w, e);
	const char *from = NULL;

	if (!check(w, e, dims, &n)) {
		return "";
	}
	if (!walk_is_awaited(w, copied_to(e))) {
		walk_fail(w,
			  "a box of %s to %s, for which nothing waits; copy "
			  "it in the first stage of a software pipeline, with "
			  "software_pipeline_async_stages",
			  copied_from(e)->name, copied_to(e)->name);
		return "";
	}
	for (int i = 0; i < w->boxes.list.n; i++) {
		if (same_source(w->boxes.list.data[i].copy, e)) {
			from = w->boxes.list.data[i].name;
		}
	}
	if (from == NULL) {
		walk_fail(w, "a box of %s outside of a kernel",
			  copied_from(e)->name);
		return "";
	}
	tdata_text(data, "callee", use_helper(w, copier(w, n)));
	tdata_text(data, "copies", w->copies);
	tdata_text(data, "to", walk_expr(w, e->args[0], w->d->assignment));
	tdata_text(data, "from", from);
	add_parts(w, data, "first", e, BOX_FIRST, dims, n);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	return walk_render(w, w->d->device.boxes.copy, data);
}

const char *
walk_box_async(struct walker *w, const struct expr *e)
{
	const struct box_forms *f = &w->d->device.boxes;
	struct tdata *data = tdata_new(w->a);

	tdata_text(data, "copies", w->copies);
	return walk_render(w,
			   e->u.intrin == INTRIN_ASYNC_WAIT ? f->wait
							    : f->commit,
			   data);
}
