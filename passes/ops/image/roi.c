/* SPDX-License-Identifier: Apache-2.0 */
/* RoiAlign and MaxRoiPool: a fixed number of bins for each region of an image.
 * The sizes of the regions are data, and so are the numbers of elements of the
 * bins:
 *
 *	for r, c, h, w:
 *		find the first and last row and column of bin (h, w) of region r
 *		for ih, iw of the bin: best = max(best, x[image, c, ih, iw]) */
#include "dims.h"
#include "indices.h"
#include "steps.h"

#include <math.h>

/* The elements of an image that a bin covers along rows (d = 0) or columns (d =
 * 1). */
struct bin {
	/* start: the start of the region's first bin; size: the size of one
	 * bin; count: the number of samples or of elements in a bin */
	const struct expr *start, *size, *count;
	/* The first sample of a bin that may be in the image, and the number of
	 * consecutive samples, from that one on, that may be. */
	const struct expr *first, *near;
};

struct roi {
	struct steps s;
	struct step_names names;
	const struct node *n;
	struct te_tensor *const *in;
	/* the index of the result's element: r, c, h, w */
	const struct expr **at;
	struct dtype wide;
	double scale;
	/* the first channel of the block of channels */
	const struct expr *first;
	int64_t channels; /* the number of channels in a block */
};

static bool
infer_regions(struct infer *c, struct node *n, int columns,
	      const struct expr *height, const struct expr *width)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *rois = n->inputs[1];
	const struct expr *shape[4];

	if (!infer_form(c, n, 0, TYPES_FLOAT, 4, 4) ||
	    !infer_form(c, n, 1, TYPES_FLOAT, 2, 2)) {
		return false;
	}
	if (!dims_equal(c, rois->shape[1], expr_i32(m, columns))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "a region does not have %d numbers; correct "
				   "the shape of input 1",
				   columns);
	}
	shape[0] = rois->shape[0];
	shape[1] = x->shape[1];
	shape[2] = height;
	shape[3] = width;
	infer_set(c, n->outputs[0], x->type, 4, shape);
	/* the index of the image that a region states is taken modulo the
	 * number of images, so that there must be an image */
	infer_reads(c, x->shape[0], 4, shape);
	return true;
}

static bool
is_size(int64_t size)
{
	return size > 0 && size <= INT32_MAX;
}

bool
infer_roi_align(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	int64_t height = node_attr_int(n, "output_height", 1);
	int64_t width = node_attr_int(n, "output_width", 1);

	if (!is_size(height) || !is_size(width) ||
	    node_attr_int(n, "sampling_ratio", 0) < 0 ||
	    node_attr_int(n, "sampling_ratio", 0) > INT32_MAX) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "its output sizes or its sampling_ratio "
				   "are not valid; correct the model");
	}
	if (!infer_form(c, n, 1, TYPES_FLOAT, 2, 2) ||
	    !infer_form(c, n, 2, TYPES_SIGNED, 1, 1)) {
		return false;
	}
	if (!dims_equal(c, n->inputs[1]->shape[0], n->inputs[2]->shape[0])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input 2 does not have one image for each "
				   "region; correct its shape");
	}
	if (!infer_regions(c, n, 4, expr_i32(m, (int32_t)height),
			   expr_i32(m, (int32_t)width))) {
		return false;
	}
	/* samples outside of an image take elements at its edge */
	for (int d = 2; d < 4; d++) {
		infer_reads(c, n->inputs[0]->shape[d], 4, n->outputs[0]->shape);
	}
	return true;
}

bool
infer_max_roi_pool(struct infer *c, struct node *n)
{
	const int64_t *pooled;
	int count = node_attr_ints(n, "pooled_shape", &pooled);

	if (count != 2 || !is_size(pooled[0]) || !is_size(pooled[1])) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "pooled_shape does not have two positive "
				   "sizes; correct the model");
	}
	return infer_regions(c, n, 5, expr_i32(c->module, (int32_t)pooled[0]),
			     expr_i32(c->module, (int32_t)pooled[1]));
}

static const struct expr *
real(const struct roi *r, double v)
{
	return expr_float(r->s.m, r->wide, v);
}

/* Number k of the numbers that describe the region, as a float. */
static const struct expr *
corner(const struct roi *r, int k)
{
	struct module *m = r->s.m;
	const struct expr *at[] = { r->at[0], expr_i32(m, k) };

	return expr_mul(m, expr_cast(m, r->wide, te_at(m, r->in[1], at, 2)),
			real(r, r->scale));
}

/* The index of the image in which the region is. An index out of range is taken
 * modulo the number of images. */
static const struct expr *
image(struct roi *r, const struct expr *number)
{
	struct module *m = r->s.m;
	const struct expr *n = r->n->inputs[0]->shape[0];

	number = index_as_wide(m, number, n);
	number = expr_floormod(m, number, expr_cast(m, number->type, n));
	return step_name(&r->names, "image", expr_cast(m, n->type, number));
}

static const struct expr *
named(struct roi *r, const char *what, int d, const struct expr *value)
{
	static const char *const axes[] = { "h", "w" };

	return step_name(&r->names,
			 arena_printf(&r->s.m->arena, "%s_%s", what, axes[d]),
			 value);
}

static struct roi
roi_begin(struct define *c, const struct node *n, struct te_tensor *const *in,
	  const char *name, const struct expr *const *at,
	  struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct roi r = {
		.n = n,
		.in = in,
		.at = arena_copy(&m->arena, at, 4 * sizeof *at),
		.wide = accumulator_type(y->type),
		.scale = node_attr_float(n, "spatial_scale", 1),
	};

	r.s = steps_begin(c, name, "roi", &name, &y->type, &y->ndim,
			  (const struct expr *const *[]){ y->shape }, 1, in,
			  n->n_inputs, out);
	return r;
}

/* y[r, c, h, w] = value, after the statement `before`, which may be NULL. */
static struct stmt *
roi_store(struct roi *r, struct stmt *before, const struct expr *value)
{
	const struct buffer *y = r->s.out[0]->buffer;
	struct stmt *store = stmt_store(r->s.f, y,
					expr_cast(r->s.m, y->type, value),
					r->at, 4);

	return before ? step_seq(&r->s, 2, before, store, NULL, NULL) : store;
}

/* ---- RoiAlign ---- */

static const struct expr *
to_index(struct roi *r, const struct expr *e)
{
	return expr_call(r->s.m, INTRIN_TO_INT, dtype_of(DT_I32), &e, 1);
}

/* The number of the sample at position `at`, as a float. */
static const struct expr *
sample_number(struct roi *r, const struct bin *b, int d, const struct expr *at)
{
	struct module *m = r->s.m;
	const struct expr *bin = expr_cast(m, r->wide, r->at[2 + d]), *apart;

	apart = expr_add(m, b->start, expr_mul(m, bin, b->size));
	apart = expr_div(m, expr_sub(m, at, apart), b->size);
	return expr_sub(m, expr_mul(m, apart, expr_cast(m, r->wide, b->count)),
			real(r, 0.5));
}

/* Finds the range of samples that are at most one element outside of the image,
 * and makes it larger by one sample on each side because of rounding. So even
 * if a region, which is data, is very large, the number of samples is at most
 * twice the number of elements of the image. */
static void
find_near(struct roi *r, struct bin *b, int d)
{
	struct module *m = r->s.m;
	const struct expr *size = expr_cast(m, r->wide,
					    r->n->inputs[0]->shape[2 + d]);
	const struct expr *zero = expr_i32(m, 0), *end;

	b->first = expr_call1(m, INTRIN_FLOOR,
			      sample_number(r, b, d, real(r, -1)));
	b->first = to_index(r, expr_sub(m, b->first, real(r, 1)));
	b->first = expr_min(m, expr_max(m, b->first, zero), b->count);
	b->first = named(r, "near", d, b->first);
	end = expr_call1(m, INTRIN_CEIL, sample_number(r, b, d, size));
	end = to_index(r, expr_add(m, end, real(r, 2)));
	end = expr_min(m, expr_max(m, end, b->first), b->count);
	b->near = named(r, "samples", d, expr_sub(m, end, b->first));
}

static struct bin
align_bin(struct roi *r, int d)
{
	struct module *m = r->s.m;
	bool half = strcmp(node_attr_string(r->n,
					    "coordinate_transformation_mode",
					    "half_pixel"),
			   "half_pixel") == 0;
	int64_t ratio = node_attr_int(r->n, "sampling_ratio", 0);
	const struct expr *bins = expr_cast(m, r->wide,
					    r->n->outputs[0]->shape[2 + d]);
	const struct expr *first = corner(r, 1 - d), *end = corner(r, 3 - d);
	const struct expr *offset = real(r, half ? 0.5 : 0), *length;
	struct bin b;

	b.start = named(r, "start", d, expr_sub(m, first, offset));
	length = expr_sub(m, expr_sub(m, end, offset), b.start);
	if (!half) {
		/* A region is at least one element long. */
		length = named(r, "length", d, length);
		length = expr_select(m, expr_lt(m, length, real(r, 1)),
				     real(r, 1), length);
	}
	b.size = named(r, "size", d, expr_div(m, length, bins));
	b.count = b.near = expr_i32(m, (int32_t)ratio);
	b.first = expr_i32(m, 0);
	if (ratio == 0) {
		b.count = to_index(r, expr_call1(m, INTRIN_CEIL, b.size));
		b.count = named(r, "count", d, b.count);
		find_near(r, &b, d);
	}
	return b;
}

/* The position of sample first + i of the bin: start + bin * size + (first + i
 * + 1/2) * size / count. */
static const struct expr *
sample_position(struct roi *r, const struct bin *b, int d, const struct var *i)
{
	struct module *m = r->s.m;
	const struct expr *bin = expr_cast(m, r->wide, r->at[2 + d]);
	const struct expr *number = expr_add(m, b->first, i->expr);
	const struct expr *part = expr_add(m, expr_cast(m, r->wide, number),
					   real(r, 0.5));

	part = expr_div(m, expr_mul(m, part, b->size),
			expr_cast(m, r->wide, b->count));
	part = expr_add(m, expr_add(m, b->start, expr_mul(m, bin, b->size)),
			part);
	return named(r, "at", d, part);
}

/* The condition that the position `at` along dimension d is at most one element
 * outside of the image. */
static const struct expr *
is_near(struct roi *r, int d, const struct expr *at)
{
	struct module *m = r->s.m;
	const struct expr *size = expr_cast(m, r->wide,
					    r->n->inputs[0]->shape[2 + d]);

	return expr_and(m, expr_le(m, real(r, -1), at), expr_le(m, at, size));
}

struct pair {
	const struct expr *at[2], *weight[2];
};

/* Is every number from 0 to size exact in type t? */
static bool
is_exact(struct dtype t, const struct expr *size)
{
	int64_t most;

	return size_max(size, &most) && (double)most <= 2 / dtype_epsilon(t);
}

/* The two elements around a position along d, and their weights. A position
 * before the first element counts as 0. From the last element on, both are the
 * last element. */
static struct pair
neighbours(struct roi *r, int d, const struct expr *at)
{
	struct module *m = r->s.m;
	const struct expr *size = r->n->inputs[0]->shape[2 + d];
	const struct expr *last = expr_sub(m, size, expr_int(m, size->type, 1));
	const struct expr *end = expr_cast(m, r->wide, last), *part;
	struct pair p;

	at = expr_call2(m, INTRIN_FMAX, at, real(r, 0));
	at = named(r, "inner", d, expr_select(m, expr_lt(m, end, at), end, at));
	p.at[0] = expr_cast(m, size->type, at);
	if (!is_exact(r->wide, size)) { /* `end` may have been rounded up, as a
					 * float */
		p.at[0] = expr_min(m, p.at[0], last);
	}
	p.at[0] = named(r, "low", d, p.at[0]);
	part = expr_sub(m, at, expr_cast(m, r->wide, p.at[0]));
	p.weight[1] = named(r, "part", d, part);
	p.weight[0] = named(r, "rest", d, expr_sub(m, real(r, 1), p.weight[1]));
	p.at[1] = expr_min(m, p.at[0],
			   expr_sub(m, last, expr_int(m, size->type, 1)));
	p.at[1] = named(r, "high", d,
			expr_add(m, p.at[1], expr_int(m, size->type, 1)));
	return p;
}

/* The sum of the four weighted neighbours of a sample, or, in mode max, the
 * largest of them, as in ONNX's reference. */
static const struct expr *
sample_value(struct roi *r, const struct expr *batch, const struct pair *h,
	     const struct pair *w, bool max)
{
	struct module *m = r->s.m;
	const struct expr *sum = NULL;

	for (int k = 0; k < 4; k++) {
		const struct expr *at[] = { batch, r->at[1], h->at[k / 2],
					    w->at[k % 2] };
		const struct expr *e = expr_cast(m, r->wide,
						 te_at(m, r->in[0], at, 4));

		e = expr_mul(m, expr_mul(m, h->weight[k / 2], w->weight[k % 2]),
			     e);
		sum = !sum  ? e
		      : max ? expr_max(m, sum, e)
			    : expr_add(m, sum, e);
	}
	return sum;
}

/* for c: total[c] = value, where c is a channel of the block. */
static struct stmt *
for_channels(struct roi *r, const struct buffer *total, struct var *c,
	     const struct expr *value)
{
	const struct expr *at = c->expr;

	return step_for(&r->s, c, expr_index(r->s.m, r->channels),
			stmt_store(r->s.f, total, value, &at, 1));
}

/* Makes a new variable for a channel of the block, sets r->at[1] to this
 * channel, and returns the variable. */
static struct var *
begin_channel(struct roi *r)
{
	struct var *c = var_new(r->s.m, "c", dtype_of(DT_I32));

	r->at[1] = expr_add(r->s.m, r->first, c->expr);
	return c;
}

static const struct expr *
of_channel(struct roi *r, const struct buffer *total, const struct var *c)
{
	return expr_load(r->s.m, total, (const struct expr *[]){ c->expr }, 1);
}

/* For each channel: total = total + value or, in mode max, the larger of the
 * two. Samples far outside of the image are 0. */
static struct stmt *
add_sample(struct roi *r, const struct buffer *total, const struct expr *batch,
	   const struct bin *bins, struct var *const *i, bool max)
{
	struct module *m = r->s.m;
	struct step_names outer = r->names, near = { .s = &r->s };
	const struct expr *now, *at[2], *value;
	struct var *c;
	struct stmt *add, *other = NULL;
	struct pair pairs[2];

	r->names = (struct step_names){ .s = &r->s };
	at[0] = sample_position(r, &bins[0], 0, i[0]);
	at[1] = sample_position(r, &bins[1], 1, i[1]);
	near = r->names;
	r->names = (struct step_names){ .s = &r->s };
	pairs[0] = neighbours(r, 0, at[0]);
	pairs[1] = neighbours(r, 1, at[1]);
	c = begin_channel(r);
	now = of_channel(r, total, c);
	value = sample_value(r, batch, &pairs[0], &pairs[1], max);
	add = for_channels(r, total, c,
			   max ? expr_max(m, now, value)
			       : expr_add(m, now, value));
	add = step_named(&r->names, add);
	if (max) {
		c = begin_channel(r);
		other = for_channels(r, total, c,
				     expr_max(m, of_channel(r, total, c),
					      real(r, 0)));
	}
	add = stmt_if(r->s.f,
		      expr_and(m, is_near(r, 0, at[0]), is_near(r, 1, at[1])),
		      add, other);
	add = step_named(&near, add);
	r->names = outer;
	return add;
}

/* The axes of the loops: r, block of channels, h, w. The positions of a sample
 * are computed once for all channels of a block, whose number is set in
 * *channels. */
static struct iter_var *
align_axes(struct define *c, const struct tensor *y, int64_t *channels)
{
	enum { MOST_CHANNELS = 64 };
	static const char *const names[] = { "r", "block", "h", "w" };
	const struct expr *shape[4];
	int64_t all;

	*channels = 1;
	for (int64_t k = 2;
	     expr_is_int(y->shape[1], &all) && k <= all && k <= MOST_CHANNELS;
	     k++) {
		*channels = all % k == 0 ? k : *channels;
	}
	for (int d = 0; d < 4; d++) {
		shape[d] = y->shape[d];
	}
	shape[1] = expr_floordiv(c->module, shape[1],
				 expr_index(c->module, *channels));
	return te_axes(c->module, 4, shape, names);
}

/* Stores the result of each channel of the block of channels, computed from the
 * channel's total. */
static struct stmt *
store_totals(struct roi *r, const struct buffer *total, const struct bin *bins,
	     bool max)
{
	struct module *m = r->s.m;
	struct var *c = begin_channel(r);
	const struct expr *value = of_channel(r, total, c), *count;
	const struct expr *zero = expr_i32(m, 0);

	if (max) {
		const struct expr *all =
			expr_and(m, expr_eq(m, bins[0].near, bins[0].count),
				 expr_eq(m, bins[1].near, bins[1].count));

		value = expr_select(m, all, value,
				    expr_max(m, value, real(r, 0)));
		value = expr_select(m,
				    expr_and(m, expr_lt(m, zero, bins[0].count),
					     expr_lt(m, zero, bins[1].count)),
				    value, real(r, 0));
	} else {
		count = expr_mul(m, expr_cast(m, r->wide, bins[0].count),
				 expr_cast(m, r->wide, bins[1].count));
		value = expr_div(m, value, expr_max(m, count, real(r, 1)));
	}
	return step_for(&r->s, c, expr_index(m, r->channels),
			roi_store(r, NULL, value));
}

bool
define_roi_align(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	int64_t channels;
	struct iter_var *axes = align_axes(c, n->outputs[0], &channels);
	struct roi r = roi_begin(c, n, in, "align", axes_exprs(c, axes, 4),
				 out);
	bool max = strcmp(node_attr_string(n, "mode", "avg"), "max") == 0;
	const struct expr *size = expr_index(m, channels), *batch;
	struct buffer_spec spec = { .name = max ? "best" : "sum",
				    .type = r.wide,
				    .ndim = 1,
				    .shape = &size,
				    .scope = "local" };
	const struct buffer *total = buffer_new(m, &spec);
	struct var *i[] = { var_new(m, "ih", dtype_of(DT_I32)),
			    var_new(m, "iw", dtype_of(DT_I32)) };
	struct bin bins[2];
	struct stmt *loops;

	r.names.s = &r.s;
	r.channels = channels;
	r.first = expr_mul(m, axes[1].var->expr, size);
	batch = image(&r, te_at(m, in[2], r.at, 1));
	bins[0] = align_bin(&r, 0);
	bins[1] = align_bin(&r, 1);
	loops = add_sample(&r, total, batch, bins, i, max);
	loops = step_for(&r.s, i[1], bins[1].near, loops);
	loops = step_for(&r.s, i[0], bins[0].near, loops);
	loops = step_seq(&r.s, 3,
			 for_channels(&r, total, begin_channel(&r),
				      real(&r, max ? -INFINITY : 0)),
			 loops, store_totals(&r, total, bins, max), NULL);
	loops = step_alloc(&r.s, total, loops);
	steps_end(&r.s, axes, 4, step_named(&r.names, loops));
	return true;
}

/* ---- MaxRoiPool ---- */

/* One end of bin number `bin`, as an index of the image: with FLOOR, the first
 * element of the bin; with CEIL, the first element after the bin. */
static const struct expr *
bin_end(struct roi *r, const struct bin *b, int d, const struct expr *bin,
	enum intrin round, const char *name)
{
	struct module *m = r->s.m;
	const struct expr *size = r->n->inputs[0]->shape[2 + d];
	const struct expr *e = expr_mul(m, expr_cast(m, r->wide, bin), b->size);

	e = expr_add(m, expr_call1(m, round, e), b->start);
	e = expr_call(m, INTRIN_TO_INT, size->type, &e, 1);
	e = expr_min(m, expr_max(m, e, expr_i32(m, 0)), size);
	return named(r, name, d, e);
}

/* The first element of a bin, and the number of its elements. */
static struct bin
pool_bin(struct roi *r, int d)
{
	struct module *m = r->s.m;
	const struct expr *bins = expr_cast(m, r->wide,
					    r->n->outputs[0]->shape[2 + d]);
	const struct expr *next = expr_add(m, r->at[2 + d], expr_i32(m, 1));
	const struct expr *length, *end;
	struct bin b = { 0 };

	b.start = named(r, "start", d,
			expr_call1(m, INTRIN_ROUND, corner(r, 2 - d)));
	length = expr_sub(m, expr_call1(m, INTRIN_ROUND, corner(r, 4 - d)),
			  b.start);
	length = named(r, "length", d, expr_add(m, length, real(r, 1)));
	length = expr_select(m, expr_lt(m, length, real(r, 1)), real(r, 1),
			     length);
	b.size = named(r, "size", d, expr_div(m, length, bins));
	end = bin_end(r, &b, d, next, INTRIN_CEIL, "end");
	b.start = bin_end(r, &b, d, r->at[2 + d], INTRIN_FLOOR, "first");
	b.count = named(r, "count", d, expr_sub(m, end, b.start));
	return b;
}

/* An empty bin gives 0; a NaN is ignored, as in MaxPool. */
bool
define_max_roi_pool(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	struct roi r = roi_begin(c, n, in, "pool", axes_exprs(c, axes, 4), out);
	const struct buffer *best = step_local(&r.s, "best", r.wide);
	const struct expr *at[4], *zero = expr_i32(m, 0), *value, *some;
	struct var *i[2];
	struct bin bins[2];
	struct stmt *loops;

	r.names.s = &r.s;
	at[0] = r.at[0];
	at[1] = zero;
	at[0] = image(&r, to_index(&r, expr_cast(m, r.wide,
						 te_at(m, in[1], at, 2))));
	at[1] = r.at[1];
	for (int d = 0; d < 2; d++) {
		bins[d] = pool_bin(&r, d);
		i[d] = var_new(m, d == 0 ? "ih" : "iw", bins[d].count->type);
		at[2 + d] = expr_add(m, bins[d].start, i[d]->expr);
	}
	value = expr_cast(m, r.wide, te_at(m, in[0], at, 4));
	loops = step_set(&r.s, best,
			 expr_call2(m, INTRIN_FMAX, step_get(&r.s, best),
				    value));
	loops = step_for(&r.s, i[1], bins[1].count, loops);
	loops = step_for(&r.s, i[0], bins[0].count, loops);
	loops = step_seq(&r.s, 2, step_set(&r.s, best, real(&r, (double)NAN)),
			 loops, NULL, NULL);
	some = expr_and(m, expr_lt(m, zero, bins[0].count),
			expr_lt(m, zero, bins[1].count));
	value = expr_select(m, some, step_get(&r.s, best), real(&r, 0));
	loops = step_alloc(&r.s, best, roi_store(&r, loops, value));
	steps_end(&r.s, axes, 4, step_named(&r.names, loops));
	return true;
}
