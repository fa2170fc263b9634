/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates of Resize. All of ONNX's modes are affine: x(i) = start + i *
 * step. So the index of the nearest element can be computed with an integer
 * formula (i * p + q) / r, which is found here and checked for every i. */
#include "resize.h"

#include <math.h>

enum { RATIO_MAX = 4096, STAND_IN = 64 };

/* Limits, in this order: of the size of a dimension, whose product with a scale
 * is then exact; of a result's size with tf_crop_and_resize, where every index
 * is checked; of scales, and of their inverses. */
#define SIZE_MAX_RESIZED ((int64_t)1 << 22)
#define SIZE_MAX_CROPPED ((int64_t)1 << 20)
#define SCALE_MAX 1e6

static bool
too_large(struct infer *c)
{
	return infer_error(c, DIAG_TOO_LARGE,
			   "a size is beyond what Resize supports; check the "
			   "shapes and scales");
}

static bool
mode_is(const struct node *n, const char *mode)
{
	return strcmp(node_attr_string(n, "coordinate_transformation_mode",
				       "half_pixel"),
		      mode) == 0;
}

/* The position x(i) as a double, computed in the order of ONNX's reference. */
static double
resize_source(const struct node *n, const struct resize_axis *a, int64_t i,
	      double roi_start, double roi_end)
{
	double y = (double)i, size = (double)a->virtual_size;
	/* By ONNX's node tests, align_corners uses the length scale * size,
	 * which may be a fraction; by ONNX's text, the other modes use the
	 * length of the result. */
	double length = a->scale * size, result = (double)a->virtual_result;

	if (mode_is(n, "align_corners")) {
		return length == 1 ? 0 : y * (size - 1) / (length - 1);
	}
	if (mode_is(n, "asymmetric")) {
		return y / a->scale;
	}
	if (mode_is(n, "tf_half_pixel_for_nn")) {
		return (y + 0.5) / a->scale;
	}
	if (mode_is(n, "tf_crop_and_resize")) {
		double x = result == 1 ? (roi_end - roi_start) * (size - 1) / 2
				       : y * (roi_end - roi_start) *
						 (size - 1) / (result - 1);

		return x + roi_start * (size - 1);
	}
	if (mode_is(n, "pytorch_half_pixel") && result == 1) {
		return 0;
	}
	if (mode_is(n, "half_pixel_symmetric")) {
		double adjust = (double)a->virtual_result / length;

		return size / 2 * (1 - adjust) + (y + 0.5) / a->scale - 0.5;
	}
	return (y + 0.5) / a->scale - 0.5;
}

/* Is the position x(i) independent of the sizes in the node's coordinate mode?
 * pytorch_half_pixel treats a result of length 1 in a special way; on an axis
 * that grows, such a result is the only element anyway. */
static bool
is_size_free(const struct node *n, double scale)
{
	return mode_is(n, "half_pixel") || mode_is(n, "asymmetric") ||
	       mode_is(n, "tf_half_pixel_for_nn") ||
	       (mode_is(n, "pytorch_half_pixel") && scale >= 1);
}

static bool
map_axis(struct infer *c, const struct node *n, struct resize_axis *a,
	 const double *roi)
{
	int64_t last;

	if (!expr_is_int(a->size, &a->virtual_size) ||
	    !expr_is_int(a->result, &a->virtual_result)) {
		if (a->by_sizes || !is_size_free(n, a->scale)) {
			return resize_map_symbolic(c->module, n, a) ||
			       infer_error(c, DIAG_UNSUPPORTED,
					   "Resize of a symbolic dimension in "
					   "this coordinate mode is not "
					   "supported; give the dimension "
					   "with --dim");
		}
		a->virtual_size = STAND_IN;
		a->virtual_result = (int64_t)floor(a->scale * STAND_IN);
	}
	if (a->virtual_size <= 0 || a->virtual_result <= 0) {
		a->crops = false;
		a->start = a->step = 0;
		return true;
	}
	last = a->virtual_result - 1;
	a->start = resize_source(n, a, 0, roi[0], roi[1]);
	a->step = last == 0 ? 0
			    : (resize_source(n, a, last, roi[0], roi[1]) -
			       a->start) /
				      (double)last;
	a->crops = mode_is(n, "tf_crop_and_resize");
	if (a->crops && last > SIZE_MAX_CROPPED) {
		return too_large(c);
	}
	a->inside_min = a->inside_end = 0;
	for (int64_t i = 0; a->crops && i <= last; i++) {
		double x = resize_source(n, a, i, roi[0], roi[1]);

		if (x >= 0 && x <= (double)(a->virtual_size - 1)) {
			if (a->inside_end == 0) {
				a->inside_min = i;
			}
			a->inside_end = i + 1;
		}
	}
	return true;
}

/* Reads input i, a constant, as doubles. Returns the number of its elements; 0
 * if the input is absent or empty, -1 if it is not known. */
static int
input_doubles(struct module *m, const struct node *n, int i, double **list)
{
	struct tensor *t = node_input(n, i);
	int64_t elems;

	if (!t || (tensor_const_elems(t, &elems) && elems == 0)) {
		return 0;
	}
	if (!tensor_known(m, t)) {
		return -1;
	}
	*list = arena_array(&m->arena, double, t->n_elems + 1);
	for (int k = 0; k < t->n_elems; k++) {
		const struct expr *e = t->elems[k];

		if (e->kind != EXPR_FLOAT && e->kind != EXPR_INT) {
			return -1;
		}
		(*list)[k] = e->kind == EXPR_FLOAT ? e->u.fval
						   : (double)e->u.ival;
	}
	return t->n_elems;
}

bool
resize_scale_ratio(double scale, int64_t *p, int64_t *r)
{
	for (*r = 1; *r <= 64; ++*r) {
		double nearest = round(scale * (double)*r);

		if (fabs(nearest / (double)*r - scale) < 1e-9 &&
		    nearest <= 4096) {
			*p = (int64_t)nearest;
			return true;
		}
	}
	return false;
}

/* Sets a->result to the size of the result, floor(size * scale), if the size is
 * a number, or if it is symbolic and the scale is a ratio of small integers;
 * else to NULL. */
static void
scale_axis(struct module *m, struct resize_axis *a)
{
	int64_t v, p, r;

	a->result = NULL;
	if (expr_is_int(a->size, &v)) {
		a->result = expr_index(m, (int64_t)((double)v * a->scale));
	}
	if (!a->result && resize_scale_ratio(a->scale, &p, &r)) {
		a->enlarged = expr_index(m, p);
		a->reduced = expr_index(m, r);
		a->result = dim_div(m, dim_mul(m, a->size, a->enlarged), r);
	}
}

static bool
size_axes_by_scales(struct infer *c, const struct node *n,
		    struct resize_axis *axes, const int *which, int n_which,
		    const double *scales)
{
	int64_t out;

	for (int i = 0; i < n_which; i++) {
		struct resize_axis *a = &axes[which[i]];

		if (!(scales[i] >= 1 / SCALE_MAX) || scales[i] > SCALE_MAX) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "scale %d is %g; it must be "
					   "between 1e-6 and 1e6",
					   i, scales[i]);
		}
		a->scale = scales[i];
		scale_axis(c->module, a);
		a->resized = a->scale != 1;
		if (a->result && expr_is_int(a->result, &out) &&
		    out > SIZE_MAX_RESIZED) {
			return too_large(c);
		}
		if (!a->result) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "dimension %d of '%s' is not "
					   "constant, and its scale, %.9g, is "
					   "no ratio of small integers; give "
					   "the dimension with --dim or "
					   "--input-shape, or resize to sizes",
					   which[i], n->inputs[0]->name,
					   a->scale);
		}
	}
	return true;
}

static bool
size_axes_by_sizes(struct infer *c, const struct node *n,
		   struct resize_axis *axes, const int *which, int n_which,
		   const struct expr *const *sizes)
{
	const char *policy = node_attr_string(n, "keep_aspect_ratio_policy",
					      "stretch");
	bool stretch = strcmp(policy, "stretch") == 0;
	bool smaller = strcmp(policy, "not_larger") == 0;
	double scale = 0;
	int64_t in, out;

	for (int i = 0; i < n_which; i++) {
		struct resize_axis *a = &axes[which[i]];

		a->result = sizes[i];
		a->by_sizes = true;
		if (a->size == a->result && stretch) {
			continue;
		}
		if (stretch && (!expr_is_int(a->size, &in) ||
				!expr_is_int(a->result, &out))) {
			a->enlarged = a->result;
			a->reduced = a->size;
			a->resized = true;
			continue;
		}
		if (!expr_is_int(a->result, &out)) {
			return infer_needs_constant(c, n, 3);
		}
		if (!expr_is_int(a->size, &in)) {
			return infer_error(c, DIAG_UNKNOWN_SHAPE,
					   "dimension %d of '%s', which "
					   "becomes %lld, is not constant; "
					   "give it with --dim or "
					   "--input-shape, or resize by scales",
					   which[i], n->inputs[0]->name,
					   (long long)out);
		}
		if (in > SIZE_MAX_RESIZED || out > SIZE_MAX_RESIZED) {
			return too_large(c);
		}
		if (in <= 0 || out <= 0) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of size %lld cannot "
					   "become %lld; correct the sizes",
					   which[i], (long long)in,
					   (long long)out);
		}
		a->scale = (double)out / (double)in;
		if (a->scale < 1 / SCALE_MAX || a->scale > SCALE_MAX) {
			return too_large(c);
		}
		a->resized = in != out;
		if (i == 0 || (smaller ? a->scale < scale : a->scale > scale)) {
			scale = a->scale;
		}
	}
	for (int i = 0; i < n_which && !stretch; i++) {
		struct resize_axis *a = &axes[which[i]];

		expr_is_int(a->size, &in);
		if (scale * (double)in > (double)SIZE_MAX_RESIZED) {
			return too_large(c);
		}
		a->scale = scale;
		a->result = expr_index(c->module,
				       (int64_t)(scale * (double)in + 0.5));
		a->resized = scale != 1;
	}
	return true;
}

bool
resize_axes(struct infer *c, const struct node *n, struct resize_axis *axes)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int *which = arena_array(&m->arena, int, x->ndim + 1), n_which;
	bool *seen = arena_array(&m->arena, bool, x->ndim + 1), ok;
	const int64_t *list;
	const struct expr *const *sizes;
	double *scales, *roi = NULL;
	bool crops = mode_is(n, "tf_crop_and_resize");
	int n_roi, n_scales, n_sizes;
	int64_t size;

	n_which = node_attr_ints(n, "axes", &list);
	if (!infer_axes_set(c, list, n_which, x->ndim, seen)) {
		return false;
	}
	for (int i = 0; i < n_which; i++) {
		which[i] = (int)(list[i] < 0 ? list[i] + x->ndim : list[i]);
	}
	for (int d = 0; d < x->ndim; d++) {
		if (expr_is_int(x->shape[d], &size) &&
		    size > SIZE_MAX_RESIZED) {
			return too_large(c);
		}
		axes[d] = (struct resize_axis){ .size = x->shape[d],
						.result = x->shape[d],
						.scale = 1 };
	}
	if (!node_attr(n, "axes")) {
		for (n_which = 0; n_which < x->ndim; n_which++) {
			which[n_which] = n_which;
		}
	}
	n_scales = input_doubles(m, n, 2, &scales);
	if (n_scales < 0) {
		return infer_needs_constant(c, n, 2);
	}
	n_sizes = n_which;
	if (n_scales == 0 && !input_elems(m, n, 3, &sizes, &n_sizes)) {
		return infer_needs_constant(c, n, 3);
	}
	if (n_sizes != n_which || (n_scales && n_scales != n_which)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "there are %d scales or sizes for %d "
				   "dimensions; give one for each",
				   n_scales ? n_scales : n_sizes, n_which);
	}
	ok = n_scales ? size_axes_by_scales(c, n, axes, which, n_which, scales)
		      : size_axes_by_sizes(c, n, axes, which, n_which, sizes);
	if (!ok) {
		return false;
	}
	n_roi = crops ? input_doubles(m, n, 1, &roi) : 0;
	if (crops && n_roi != 2 * n_which) {
		return infer_needs_constant(c, n, 1);
	}
	for (int i = 0; i < n_roi; i++) {
		if (!(fabs(roi[i]) <= 1e6)) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "element %d of roi is %g; it must "
					   "be a part of the image",
					   i, roi[i]);
		}
	}
	for (int i = 0; i < n_which; i++) {
		double part[2] = { 0, 1 };

		if (crops) {
			part[0] = roi[i];
			part[1] = roi[n_which + i];
		}
		axes[which[i]].resized |= part[0] != 0 || part[1] != 1;
		if (axes[which[i]].resized &&
		    !map_axis(c, n, &axes[which[i]], part)) {
			return false;
		}
	}
	return true;
}

/* ---- integer formulas ---- */

static bool
ratio_with(const struct resize_axis *a, int64_t r, struct ratio *ratio)
{
	double p = round(a->step * (double)r);
	double q = round(a->start * (double)r);
	double n = (double)a->virtual_result;

	*ratio = (struct ratio){ (int64_t)p, (int64_t)q, r };
	return r > 0 && fabs(p / (double)r - a->step) * n < 1e-6 &&
	       fabs(q / (double)r - a->start) < 1e-6 &&
	       fabs(p) * n + fabs(q) < 1e9;
}

bool
resize_ratio(const struct resize_axis *a, struct ratio *ratio)
{
	int64_t n = a->virtual_result;

	if (a->at) {
		return false;
	}
	for (int64_t r = 1; r <= RATIO_MAX; r++) {
		if (ratio_with(a, r, ratio)) {
			return true;
		}
	}
	return ratio_with(a, n, ratio) || ratio_with(a, 2 * n, ratio) ||
	       ratio_with(a, n - 1, ratio);
}

static int64_t
round_down(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Finds p and q for the given r such that source[i] == (i * p + q) / r for all
 * i < n. If `clamped` is set, a value beyond an end of the input counts as the
 * index at this end. False if there are none. */
static bool
fit_with(const int64_t *source, int64_t n, int64_t size, double step,
	 bool clamped, int64_t r, struct ratio *ratio)
{
	int64_t low = INT32_MIN / 2, high = INT32_MAX / 2;
	int64_t p = (int64_t)round(step * (double)r);

	if (r < 1 || size > INT32_MAX / r / 2) {
		return false;
	}
	for (int64_t i = 0; i < n && low <= high; i++) {
		int64_t min = source[i] * r - i * p;

		if (!(clamped && source[i] == 0) && min > low) {
			low = min;
		}
		if (!(clamped && source[i] == size - 1) && min + r - 1 < high) {
			high = min + r - 1;
		}
	}
	*ratio = (struct ratio){ p, low > 0 ? low : high < 0 ? high : 0, r };
	return low <= high;
}

/* Like fit_with, but tries several r, small numbers and numbers that the sizes
 * suggest, and takes the best. */
static bool
fit_ratio(const int64_t *source, const struct resize_axis *a, bool clamped,
	  struct ratio *ratio)
{
	int64_t n = a->virtual_result, size = a->virtual_size;
	int64_t large[4] = { n, n - 1, 2 * n, 2 * (n - 1) };
	double fraction = fabs(a->step), r0 = 1, r1 = 0;

	for (int64_t r = 1; r <= 256 && r <= 2 * n; r++) {
		if (fit_with(source, n, size, a->step, clamped, r, ratio)) {
			return true;
		}
	}
	for (int i = 0; i < 4; i++) {
		if (fit_with(source, n, size, a->step, clamped, large[i],
			     ratio)) {
			return true;
		}
	}
	/* Tries the denominators of the step's continued fraction. */
	for (int i = 0; i < 24 && r1 < 1e6; i++) {
		double whole = floor(fraction), next = whole * r1 + r0;

		r0 = r1;
		r1 = next;
		if (r1 >= 1 && r1 < 1e6 &&
		    (fit_with(source, n, size, a->step, clamped, (int64_t)r1,
			      ratio) ||
		     fit_with(source, n, size, a->step, clamped,
			      2 * (int64_t)r1, ratio))) {
			return true;
		}
		if (fraction - whole < 1e-12) {
			break;
		}
		fraction = 1 / (fraction - whole);
	}
	return false;
}

const char *
resize_rounding(const struct node *n, const struct resize_axis *a)
{
	const char *mode = node_attr_string(n, "nearest_mode",
					    "round_prefer_floor");

	if (!node_attr_int(n, "rounds_by_scale", 0)) {
		return mode;
	}
	return a->run_scale ? "floor_or_ceil" : a->scale < 1 ? "ceil" : "floor";
}

/* The position x(i) as a floating-point number of type t. */
const struct expr *
resize_position(struct module *m, const struct resize_axis *a, struct dtype t,
		const struct expr *i)
{
	if (a->at) {
		return expr_cast(m, t, te_at(m, a->at, &i, 1));
	}
	return expr_add(m,
			expr_mul(m, expr_cast(m, t, i),
				 expr_const(m, t, a->step)),
			expr_const(m, t, a->start));
}

/* The nearest index, computed in double precision, for the case that no formula
 * of small integers fits. */
static const struct expr *
nearest_in_floats(struct module *m, const char *mode,
		  const struct resize_axis *a, const struct expr *i,
		  const struct expr *last)
{
	struct dtype wide = dtype_of(a->at ? DT_F32 : DT_F64);
	const struct expr *x = resize_position(m, a, wide, i);
	const struct expr *half = expr_const(m, wide, 0.5);

	if (strcmp(mode, "floor_or_ceil") == 0) {
		x = expr_select(m,
				expr_lt(m, a->run_scale,
					expr_const(m, wide, 1)),
				expr_call1(m, INTRIN_CEIL, x),
				expr_call1(m, INTRIN_FLOOR, x));
	} else if (strcmp(mode, "floor") == 0) {
		x = expr_call1(m, INTRIN_FLOOR, x);
	} else if (strcmp(mode, "ceil") == 0) {
		x = expr_call1(m, INTRIN_CEIL, x);
	} else if (strcmp(mode, "round_prefer_ceil") == 0) {
		x = expr_call1(m, INTRIN_FLOOR, expr_add(m, x, half));
	} else {
		x = expr_call1(m, INTRIN_CEIL, expr_sub(m, x, half));
	}
	x = expr_call(m, INTRIN_TO_INT, dtype_of(DT_I32), &x, 1);
	return expr_max(m, expr_i32(m, 0), expr_min(m, x, last));
}

static int64_t
round_by_mode(const char *mode, double x)
{
	if (strcmp(mode, "round_prefer_ceil") == 0) {
		return (int64_t)floor(x + 0.5);
	}
	if (strcmp(mode, "floor") == 0) {
		return (int64_t)floor(x);
	}
	return (int64_t)(strcmp(mode, "ceil") == 0 ? ceil(x) : ceil(x - 0.5));
}

const int64_t *
resize_nearest_sources(struct module *m, const struct node *n,
		       const struct resize_axis *a)
{
	const char *mode = resize_rounding(n, a);
	int64_t size = a->virtual_size, count = a->virtual_result;
	int64_t *source = arena_array(&m->arena, int64_t, count + 1);

	for (int64_t k = 0; k < count; k++) {
		/* start and step give the position that ONNX's reference
		 * computes except for the last bits: a position near a tie
		 * between two elements is rounded to the tie. */
		double x = a->start + (double)k * a->step, near = round(2 * x);

		if (fabs(2 * x - near) < 1e-9 * (1 + fabs(x))) {
			x = near / 2;
		}
		x = (double)round_by_mode(mode, x);
		source[k] = x < 0                    ? 0
			    : x > (double)(size - 1) ? size - 1
						     : (int64_t)x;
	}
	return source;
}

/* Does the formula f, which was found for an example of a symbolic size, hold
 * for all sizes? It does if its step is the reciprocal of the scale. */
static bool
holds_for_size(const struct resize_axis *a, const struct ratio *f)
{
	int64_t known;

	return expr_is_int(a->size, &known) ||
	       fabs((double)f->p * a->scale - (double)f->r) < 1e-9;
}

const struct expr *
resize_nearest_index(struct define *c, const struct node *n,
		     const struct resize_axis *a, const struct expr *i)
{
	struct module *m = c->module;
	const char *mode = resize_rounding(n, a);
	const int64_t *source;
	int64_t size = a->virtual_size, count = a->virtual_result, low, high;
	int64_t known;
	bool fits;
	const struct expr *e, *last = expr_sub(m, a->size, expr_i32(m, 1));
	struct ratio f;

	if (a->at) {
		return nearest_in_floats(m, mode, a, i, last);
	}
	source = resize_nearest_sources(m, n, a);
	fits = fit_ratio(source, a, false, &f) && holds_for_size(a, &f);
	if (!fits &&
	    !(fit_ratio(source, a, true, &f) && holds_for_size(a, &f))) {
		return nearest_in_floats(m, mode, a, i, last);
	}
	low = f.p < 0 ? f.p * (count - 1) + f.q : f.q;
	high = f.p < 0 ? f.q : f.p * (count - 1) + f.q;
	e = expr_add(m, expr_mul(m, i, expr_index(m, f.p)), expr_index(m, f.q));
	if (low < 0) {
		e = expr_max(m, e, expr_i32(m, 0));
	}
	e = expr_floordiv(m, e, expr_index(m, f.r));
	/* A formula that was found for one size holds for all sizes if each
	 * element of the input becomes the same whole number of elements of the
	 * result. */
	if (round_down(high, f.r) > size - 1 ||
	    (!expr_is_int(a->size, &known) &&
	     !(fits && a->scale == floor(a->scale)))) {
		e = dim_min(m, e, last);
	}
	return e;
}
