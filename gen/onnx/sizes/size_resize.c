/* SPDX-License-Identifier: Apache-2.0 */
/* Resize with scales or regions that are known only at run time (sizes.c).
 * Nodes before it compute the sizes of the result:
 *
 *	before	y = Resize (x, roi, s)            # s: float32[4], an input
 *	after	c = Cast (Floor (Mul (Cast (Shape (x)), Cast (s))))
 *		n = tirc.RunSize (c)
 *		y = tirc.Resize (x, roi, Cast (s), n)
 *
 * With keep_aspect_ratio_policy, the scale is computed from the requested
 * sizes. An axis with the constant scale 1 keeps its size. The bound of a size
 * is the one of --bound for the result, or the size of the input times the
 * largest scale; this scale follows from --bound or from the range of the
 * scale's values. */
#include <math.h>

#include "resize.h"
#include "sizes.h"

struct limits {
	double min, max;
};

struct resizing {
	struct sizing *s;
	struct tensor *x, *roi, *scales, *sizes;
	bool crops, by_policy;
	/* The axes whose sizes change: n of the n_listed axes in the node's
	 * list. For each: its number (axes), its index in the node's list
	 * (places), and the limits of its scale. */
	int n, n_listed;
	int64_t axes[ONNX_MAX_RANK], places[ONNX_MAX_RANK];
	struct limits scale[ONNX_MAX_RANK];
};

/* The tensor from which element *i of t is copied or converted, through any
 * number of nodes; *i becomes the element's index in that tensor. */
static struct tensor *
part_of(struct tensor *t, int64_t *i)
{
	struct tensor *part = t;
	int64_t elems;

	while (part) {
		const struct node *made;

		t = part;
		made = t->producer;
		part = NULL;
		if (t->elems || t->value || !made || *made->domain) {
			return t;
		}
		if (strcmp(made->op_type, "Cast") == 0) {
			part = dtype_is_float(made->inputs[0]->type)
				       ? made->inputs[0]
				       : NULL;
		}
		if (strcmp(made->op_type, "Concat") != 0 || t->ndim != 1) {
			continue;
		}
		for (int k = 0; k < made->n_inputs && !part; k++) {
			if (!tensor_const_elems(made->inputs[k], &elems)) {
				return t;
			}
			if (*i < elems) {
				part = made->inputs[k];
			} else {
				*i -= elems;
			}
		}
	}
	return t;
}

/* Sets *v to the value of element i of t; false if the element is not a
 * constant. */
static bool
known_number(struct module *m, struct tensor *t, int64_t i, double *v)
{
	const struct expr *e;

	t = part_of(t, &i);
	if (!tensor_known(m, t) || i >= t->n_elems) {
		return false;
	}
	e = t->elems[i];
	*v = e->kind == EXPR_FLOAT ? e->u.fval : (double)e->u.ival;
	return e->kind == EXPR_FLOAT || e->kind == EXPR_INT;
}

static struct limits
dim_limits(const struct expr *e)
{
	int64_t min, max;

	return size_bounds(e, &min, &max)
		       ? (struct limits){ (double)min, (double)max }
		       : (struct limits){ 0, INT32_MAX };
}

/* The size that the input `sizes` gives to the axis at index `place` of the
 * list of axes. */
static const struct expr *
size_at(const struct resizing *r, int64_t place)
{
	return r->sizes->elems[place];
}

/* Is the region of the axis a part of the axis, or computed at run time?
 * `place`: index of the axis in the list of axes. */
static bool
is_region(const struct resizing *r, int64_t place)
{
	struct module *m = r->s->u.imp->m;
	double start, end;

	return r->crops &&
	       !(known_number(m, r->roi, place, &start) &&
		 known_number(m, r->roi, place + r->n_listed, &end) &&
		 start == 0 && end == 1);
}

static bool
changes(const struct resizing *r, int64_t axis, int64_t place)
{
	double scale;

	if (r->by_policy || is_region(r, place)) {
		return true;
	}
	return r->scales ? !(known_number(r->s->u.imp->m, r->scales, place,
					  &scale) &&
			     scale == 1)
			 : size_at(r, place) != r->x->shape[axis];
}

/* Is the new size of the axis known only at run time, so that tirc.Resize must
 * compute it? */
static bool
needs_run(const struct resizing *r, int64_t axis, int64_t place)
{
	struct module *m = r->s->u.imp->m;
	int64_t size, p, q;
	double v, w;
	bool known = expr_is_int(r->x->shape[axis], &size);

	if (r->crops && (!known_number(m, r->roi, place, &v) ||
			 !known_number(m, r->roi, place + r->n_listed, &w))) {
		return true;
	}
	if (r->scales) {
		return !known_number(m, r->scales, place, &v) ||
		       (!known && v != 1 &&
			(r->crops ||
			 (v > 0 && v < 1e6 && !resize_scale_ratio(v, &p, &q))));
	}
	return (r->crops || r->by_policy) &&
	       !(known && expr_is_int(size_at(r, place), &size)) &&
	       changes(r, axis, place);
}

/* Sets r's inputs and its list of axes, and sets *needed to whether a size must
 * be computed at run time. False if the node is not valid; type inference
 * reports the error later. */
static bool
find_axes(struct resizing *r, bool *needed)
{
	struct node *n = r->s->u.node;
	struct module *m = r->s->u.imp->m;
	const struct expr *const *elems;
	const int64_t *list;
	int64_t count, wanted;
	int n_sizes;

	r->x = n->inputs[0];
	r->crops = strcmp(node_attr_string(n, "coordinate_transformation_mode",
					   ""),
			  "tf_crop_and_resize") == 0;
	r->roi = r->crops ? node_input(n, 1) : NULL;
	r->scales = node_input(n, 2);
	if (r->scales && tensor_const_elems(r->scales, &count) && count == 0) {
		r->scales = NULL;
	}
	r->sizes = r->scales ? NULL : node_input(n, 3);
	r->n_listed = node_attr_ints(n, "axes", &list);
	if (!node_attr(n, "axes")) {
		r->n_listed = r->x->ndim;
		list = NULL;
	}
	if (r->x->ndim > ONNX_MAX_RANK || r->n_listed > r->x->ndim ||
	    (r->crops && !r->roi) || (!r->scales && !r->sizes)) {
		return false;
	}
	wanted = r->n_listed;
	if (r->sizes &&
	    (!input_elems(m, n, 3, &elems, &n_sizes) || n_sizes != wanted)) {
		return false;
	}
	if ((r->scales && (!tensor_const_elems(r->scales, &count) ||
			   r->scales->ndim != 1 || count != wanted)) ||
	    (r->roi &&
	     (!tensor_const_elems(r->roi, &count) || count != 2 * wanted))) {
		return false;
	}
	r->by_policy = r->sizes &&
		       strcmp(node_attr_string(n, "keep_aspect_ratio_policy",
					       "stretch"),
			      "stretch") != 0;
	*needed = false;
	for (int i = 0; i < r->n_listed; i++) {
		int64_t axis = list ? list[i] : i;

		axis += axis < 0 ? r->x->ndim : 0;
		if (axis < 0 || axis >= r->x->ndim) {
			return false;
		}
		*needed = *needed || needs_run(r, axis, i);
		if (changes(r, axis, i)) {
			r->axes[r->n] = axis;
			r->places[r->n++] = i;
		}
	}
	return true;
}

/* -- limits -- */

/* Sets *limits to the range of the scale at index `place` of the input
 * `scales`; false after a diagnostic. */
static bool
scale_limits(struct resizing *r, int64_t place, bool needed,
	     struct limits *limits)
{
	struct importer *imp = r->s->u.imp;
	struct tensor *part = part_of(r->scales, &place);
	const char *names[] = { tensor_label(r->scales), tensor_label(part),
				tensor_label(size_root(part)) };
	const struct size_bound *bound = size_bound(imp, names, 3);
	double v;

	if (known_number(imp->m, part, place, &v)) {
		*limits = (struct limits){ v, v };
		return true;
	}
	if (bound) {
		int64_t k = bound->n == 1 || place >= bound->n ? 0 : place;

		*limits = (struct limits){ (double)bound->min[k],
					   (double)bound->max[k] };
		return true;
	}
	if (import_element_range(imp, part, &limits->min, &limits->max)) {
		/* with a margin on both sides for rounding errors */
		limits->max += fabs(limits->max) * 1e-6;
		limits->min -= fabs(limits->min) * 1e-6;
		return true;
	}
	*limits = (struct limits){ 0, INFINITY };
	return !needed || size_no_bound(r->s, names[2]);
}

/* The limits of the scale under the policy for the aspect ratio: the limits of
 * the smallest of the ratios of all axes, or, by the policy, of the largest. */
static struct limits
policy_limits(const struct resizing *r)
{
	bool least = strcmp(node_attr_string(r->s->u.node,
					     "keep_aspect_ratio_policy", ""),
			    "not_larger") == 0;
	struct limits all = { 0, 0 };

	for (int i = 0; i < r->n; i++) {
		struct limits in = dim_limits(r->x->shape[r->axes[i]]);
		struct limits out = dim_limits(size_at(r, r->places[i]));
		struct limits v = { out.min / fmax(in.max, 1),
				    out.max / fmax(in.min, 1) };

		if (i == 0) {
			all = v;
		}
		all.min = least ? fmin(all.min, v.min) : fmax(all.min, v.min);
		all.max = least ? fmin(all.max, v.max) : fmax(all.max, v.max);
	}
	return all;
}

/* -- nodes -- */

/* A constant list of n integers; its name is the name of the node's result
 * followed by `what`. */
static struct tensor *
list_constant(struct resizing *r, const char *what, int n, const int64_t *v)
{
	return graph_constant_ints(r->s->u.g,
				   arena_printf(&r->s->u.imp->tmp, "%s_%s",
						r->s->u.node->outputs[0]->name,
						what),
				   n, v);
}

static struct tensor *
one_half(struct resizing *r)
{
	static const double half = 0.5;

	return graph_constant(r->s->u.g,
			      arena_printf(&r->s->u.imp->tmp, "%s_half",
					   r->s->u.node->outputs[0]->name),
			      dtype_of(DT_F64), 0, NULL, &half);
}

/* Selects from a list with n_listed elements the elements of the axes that
 * change. twice: the list has n_listed more elements (the ends of regions after
 * their starts), from which the elements of the same axes are selected, too. */
static struct tensor *
chosen(struct resizing *r, const char *what, struct tensor *list, bool twice)
{
	int64_t at[2 * ONNX_MAX_RANK];

	if (!list || r->n == r->n_listed) {
		return list;
	}
	for (int i = 0; i < r->n; i++) {
		at[i] = r->places[i];
		at[r->n + i] = r->places[i] + r->n_listed;
	}
	return size_insert(r->s, "Gather", what, list,
			   list_constant(r,
					 arena_printf(&r->s->u.imp->tmp,
						      "%s_places", what),
					 twice ? 2 * r->n : r->n, at));
}

static struct tensor *
as_number(struct resizing *r, const char *what, struct tensor *t)
{
	return size_cast(r->s, what, t, dtype_of(DT_F64));
}

/* The sizes of the input's axes that change, as float64. */
static struct tensor *
input_sizes(struct resizing *r)
{
	struct sizing *s = r->s;
	struct tensor *shape = size_insert(s, "Shape", "shape", r->x, NULL);

	shape = size_insert(s, "Gather", "old_sizes", shape,
			    list_constant(r, "axes", r->n, r->axes));
	return as_number(r, "old_lengths", shape);
}

/* The common scale that keep_aspect_ratio_policy defines. */
static struct tensor *
policy_scales(struct resizing *r, struct tensor *old)
{
	struct sizing *s = r->s;
	const char *policy = node_attr_string(s->u.node,
					      "keep_aspect_ratio_policy", "");
	struct tensor *t = as_number(r, "wanted", r->sizes);
	int64_t n = r->n;

	t = size_insert(s, "Div", "ratios", t, old);
	t = size_insert(s,
			strcmp(policy, "not_larger") == 0 ? "ReduceMin"
							  : "ReduceMax",
			"scale", t, NULL);
	return size_insert(s, "Expand", "scales", t,
			   list_constant(r, "count", 1, &n));
}

/* Makes size variables for the sizes of the result, which nodes compute in the
 * tensor `lengths`; sizes that are known stay numbers. False after a
 * diagnostic. */
static bool
result_sizes(struct resizing *r, struct tensor *lengths)
{
	struct sizing *s = r->s;
	const char *y = tensor_label(s->u.node->outputs[0]);
	const struct size_bound *own = size_bound(s->u.imp, &y, 1);
	struct tensor *counts = size_cast(s, "counts", lengths,
					  dtype_of(DT_I64));
	int64_t *min = arena_array(&s->u.imp->tmp, int64_t, r->n + 1);
	int64_t *max = arena_array(&s->u.imp->tmp, int64_t, r->n + 1);
	struct size_bound *bound = NULL;

	for (int i = 0; i < r->n; i++) {
		struct limits in = dim_limits(r->x->shape[r->axes[i]]);
		double half = r->by_policy ? 0.5 : 0;
		double low = floor(in.min * r->scale[i].min + half);
		double high = floor(in.max * r->scale[i].max + half);

		min[i] = low > 0 ? (int64_t)fmin(low, INT32_MAX) : 0;
		max[i] = high < 0           ? 0
			 : high < INT32_MAX ? (int64_t)high
					    : INT32_MAX;
		if (max[i] > SIZE_FOUND_MAX && !own) {
			return size_no_bound(s, y);
		}
	}
	if (own) {
		int64_t *ends = arena_array(&s->u.imp->tmp, int64_t,
					    2 * r->n + 1);

		if (own->n != 1 && own->n != r->n_listed) {
			return diag_error(&s->u.imp->m->diags, DIAG_BAD_OPTION,
					  node_place(s->u.g, s->u.node),
					  "--bound %s: give one bound, or one "
					  "for each axis that it resizes",
					  y);
		}
		for (int i = 0; i < r->n; i++) {
			int64_t k = own->n == 1 ? 0 : r->places[i];

			ends[i] = own->min[k];
			ends[r->n + i] = own->max[k];
		}
		bound = arena_new(&s->u.imp->tmp, struct size_bound);
		*bound = (struct size_bound){
			.name = y, .n = r->n, .min = ends, .max = ends + r->n
		};
	}
	r->sizes = size_variables(s, counts, y, r->n, min, max, false, bound);
	return true;
}

bool
size_resize(struct sizing *s)
{
	struct resizing r = { .s = s };
	struct node *n = s->u.node;
	const char *y = tensor_label(n->outputs[0]);
	struct tensor *old, *wide, *lengths;
	bool needed;

	if (!find_axes(&r, &needed) || !needed) {
		return true;
	}
	for (int i = 0; i < r.n && (r.scales || r.by_policy); i++) {
		if (r.by_policy) {
			r.scale[i] = policy_limits(&r);
		} else if (!scale_limits(&r, r.places[i],
					 !size_bound(s->u.imp, &y, 1),
					 &r.scale[i])) {
			return false;
		}
	}
	r.roi = chosen(&r, "region", r.roi, true);
	r.scales = chosen(&r, "scales", r.scales, false);
	r.sizes = chosen(&r, "sizes", r.sizes, false);
	if (r.scales || r.by_policy) {
		old = input_sizes(&r);
		wide = r.by_policy ? policy_scales(&r, old)
				   : as_number(&r, "wide", r.scales);
		r.scales = size_cast(s, "scale", wide, dtype_of(DT_F32));
		lengths = size_insert(s, "Mul", "lengths", old, wide);
		if (r.by_policy) {
			lengths = size_insert(s, "Add", "nearest", lengths,
					      one_half(&r));
		}
		lengths = size_insert(s, "Floor", "whole", lengths, NULL);
		if (!result_sizes(&r, lengths)) {
			return false;
		}
	}
	node_set_attr_ints(s->u.g, n, "axes", r.axes, r.n);
	n->domain = "tirc";
	n->op = op_find("tirc", "Resize");
	node_resize_inputs(n, 4);
	node_set_input(n, 1, r.roi);
	node_set_input(n, 2, r.scales);
	node_set_input(n, 3, r.sizes);
	return true;
}
