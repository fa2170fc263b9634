/* SPDX-License-Identifier: Apache-2.0 */
/* Resize with scales, sizes or a region (roi) that are known only when the
 * model runs. The importer adds nodes that compute the sizes of the result
 * (gen/onnx/sizes/size_resize.c):
 *
 *	y = Resize (x, roi, s)
 *
 *	n = tirc.RunSize (Cast (Floor (Mul (Cast (Shape (x)), s))))
 *	y = tirc.Resize (x, roi, s, n)
 *
 * roi and scales may be absent, and have an element for each of the attribute
 * axes. The positions x(i) of an axis are stored in a table, which is computed
 * once in each run, with the precision and in the order of onnxruntime: both
 * decide which element is the nearest if a position is near the middle between
 * two. */
#include "resize.h"

static bool
has_elems(struct infer *c, const struct node *n, int i, int count)
{
	const struct tensor *t = node_input(n, i);
	int64_t elems;

	if (!t || (tensor_const_elems(t, &elems) && t->ndim == 1 &&
		   elems == count && dtype_is_float(t->type))) {
		return true;
	}
	return infer_error(c, DIAG_BAD_SHAPE,
			   "'%s' must have %d elements, floats; correct the "
			   "model",
			   t->name, count);
}

bool
resize_run_axes(struct infer *c, const struct node *n, struct resize_axis *axes)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr *const *sizes;
	const int64_t *which;
	int count = node_attr_ints(n, "axes", &which), n_sizes;
	bool *seen = arena_array(&m->arena, bool, x->ndim + 1);
	bool smaller = !node_input(n, 2) ||
		       !node_attr(n, "keep_aspect_ratio_policy");
	const struct expr *two = expr_i32(m, 2), *one = expr_i32(m, 1);

	if (!infer_axes_set(c, which, count, x->ndim, seen) ||
	    !has_elems(c, n, 1, 2 * count) || !has_elems(c, n, 2, count)) {
		return false;
	}
	if (!input_elems(m, n, 3, &sizes, &n_sizes) || n_sizes != count) {
		return infer_needs_constant(c, n, 3);
	}
	for (int d = 0; d < x->ndim; d++) {
		axes[d] = (struct resize_axis){ .size = x->shape[d],
						.result = x->shape[d] };
	}
	for (int i = 0; i < count; i++) {
		struct resize_axis *a =
			&axes[which[i] < 0 ? which[i] + x->ndim : which[i]];

		a->result = sizes[i];
		a->resized = true;
		a->by_sizes = true;
		/* If scales are given, the length is rounded down; with an
		 * aspect-ratio policy, it is rounded to the nearest: then the
		 * scale is at least (result - 1/2) / size. */
		a->enlarged = dim_max(m, a->result, one);
		a->reduced = a->size;
		if (!smaller) {
			a->enlarged = expr_sub(m, expr_mul(m, a->enlarged, two),
					       one);
			a->reduced = expr_mul(m, a->reduced, two);
		}
	}
	return true;
}

static bool
mode_is(const struct node *n, const char *mode)
{
	return strcmp(node_attr_string(n, "coordinate_transformation_mode",
				       "half_pixel"),
		      mode) == 0;
}

/* Element i of an input of resize_run as a float32. */
static const struct expr *
number_at(struct module *m, const struct te_tensor *list, int i)
{
	const struct expr *at = expr_i32(m, i);

	return expr_cast(m, dtype_of(DT_F32), te_at(m, list, &at, 1));
}

/* The values from which x(i) is computed, all of type f32. */
struct source {
	const struct expr *i, *size, *result, *scale;
	const struct expr *start,
		/* the start and the end of the region, as fractions of the
		 * axis's extent */
		*end;
};

/* The position x(i) in the region of the input (roi); if the result has only
 * one element, the middle of the region. */
static const struct expr *
region_source(struct module *m, const struct source *s)
{
	const struct expr *one = expr_const(m, s->i->type, 1);
	const struct expr *two = expr_const(m, s->i->type, 2);
	const struct expr *last = expr_sub(m, s->size, one);
	const struct expr *part = expr_sub(m, s->end, s->start);
	const struct expr *middle, *x;

	middle = expr_div(m, expr_mul(m, part, last), two);
	x = expr_mul(m, expr_mul(m, s->i, part), last);
	x = expr_div(m, x, expr_max(m, one, expr_sub(m, s->result, one)));
	x = expr_select(m, expr_eq(m, s->result, one), middle, x);
	return expr_add(m, x, expr_mul(m, s->start, last));
}

/* x(i), computed as in resize_source() of resize_map.c. */
static const struct expr *
source_at(struct module *m, const struct node *n, const struct source *s)
{
	struct dtype t = s->i->type;
	const struct expr *zero = expr_const(m, t, 0);
	const struct expr *one = expr_const(m, t, 1);
	const struct expr *half = expr_const(m, t, 0.5);
	const struct expr *length = expr_mul(m, s->scale, s->size), *x;

	if (mode_is(n, "tf_crop_and_resize")) {
		return region_source(m, s);
	}
	if (mode_is(n, "asymmetric")) {
		return expr_div(m, s->i, s->scale);
	}
	if (mode_is(n, "align_corners")) {
		x = expr_mul(m, s->i, expr_sub(m, s->size, one));
		x = expr_div(m, x, expr_sub(m, length, one));
		return expr_select(m, expr_eq(m, length, one), zero, x);
	}
	x = expr_div(m, expr_add(m, s->i, half), s->scale);
	if (mode_is(n, "half_pixel_symmetric")) {
		const struct expr *more = expr_sub(m, one,
						   expr_div(m, s->result,
							    length));

		more = expr_mul(m, expr_mul(m, s->size, half), more);
		return expr_sub(m, expr_add(m, more, x), half);
	}
	if (mode_is(n, "tf_half_pixel_for_nn")) {
		return x;
	}
	x = expr_sub(m, x, half);
	return mode_is(n, "pytorch_half_pixel")
		       ? expr_select(m, expr_eq(m, s->result, one), zero, x)
		       : x;
}

/* x clamped to [-1, size]: positions beyond these ends are outside of the input
 * in the same way. -1 if x is NaN. */
static const struct expr *
near_input(struct module *m, const struct expr *x, const struct expr *size)
{
	const struct expr *least = expr_const(m, x->type, -1);

	return expr_select(m, expr_le(m, least, x),
			   expr_select(m, expr_lt(m, x, size), x, size), least);
}

void
resize_run_positions(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct resize_axis *axes)
{
	struct module *m = c->module;
	struct dtype t = dtype_of(DT_F32);
	int rank = n->inputs[0]->ndim;
	const int64_t *which;
	int count = node_attr_ints(n, "axes", &which);

	for (int i = 0; i < count; i++) {
		int d = (int)(which[i] < 0 ? which[i] + rank : which[i]);
		struct resize_axis *a = &axes[d];
		const char *name = axis_name(m, rank, d);
		struct iter_var *vars = te_axes(m, 1, &a->result, &name);
		struct source s = {
			.i = expr_cast(m, t, vars[0].var->expr),
			.size = expr_cast(m, t, a->size),
			.result = expr_cast(m, t, a->result),
			.start = expr_const(m, t, 0),
			.end = expr_const(m, t, 1),
		};

		a->crops = mode_is(n, "tf_crop_and_resize");
		s.scale = node_input(n, 2) ? number_at(m, in[2], i)
					   : expr_div(m, s.result, s.size);
		if (node_input(n, 1)) {
			s.start = number_at(m, in[1], i);
			s.end = number_at(m, in[1], count + i);
		}
		a->run_scale = s.scale;
		a->at = define_stage(c, arena_printf(&m->arena, "at_%s", name),
				     "injective", 1, vars,
				     near_input(m, source_at(m, n, &s),
						s.size));
	}
}
