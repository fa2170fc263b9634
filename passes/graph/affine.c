/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis, and folding them into
 * weights. */
#include "affine.h"

#define MAX_CHANNELS (1 << 16)

void
affine_init(struct graph *g, struct affine *a)
{
	*a = (struct affine){ .axis = -1, .n = 1 };
	a->scale = arena_array(&g->module->arena, double, 1);
	a->shift = arena_array(&g->module->arena, double, 1);
	a->scale[0] = 1;
}

bool
affine_read(struct graph *g, struct tensor *constant, int ndim, bool additive,
	    struct affine *a)
{
	double *values, *other;
	int64_t n;

	*a = (struct affine){ .axis = -1 };
	if (constant->ndim < 0 || constant->ndim > ndim ||
	    tensor_bytes_max(constant) > 8 * MAX_CHANNELS) {
		return false;
	}
	for (int i = 0; i < constant->ndim; i++) {
		if (!expr_is_value(constant->shape[i], 1)) {
			if (a->axis >= 0) {
				return false;
			}
			a->axis = constant->ndim - 1 - i;
		}
	}
	values = constant_doubles(g, constant, &n);
	if (!values || n < 1) {
		return false;
	}
	other = arena_array(&g->module->arena, double, n);
	for (int64_t i = 0; i < n && additive; i++) {
		other[i] = 1;
	}
	a->n = n;
	a->scale = additive ? other : values;
	a->shift = additive ? values : other;
	a->scale_of = additive ? NULL : constant;
	a->shift_of = additive ? constant : NULL;
	return true;
}

/* a * b, or a + b; NULL is the neutral number. */
static struct tensor *
described(struct graph *g, struct tensor *a, const char *form, struct tensor *b)
{
	struct tensor *in[2] = { a, b };

	return a == NULL   ? b
	       : b == NULL ? a
			   : graph_describe(g, form, NULL, in, 2);
}

/* x * scale + shift, of which each may be NULL. */
static struct tensor *
described_map(struct graph *g, struct tensor *x, const struct affine *a)
{
	if (x != NULL) {
		x = described(g, x, "$0 * $1", a->scale_of);
	}
	return described(g, x, "$0 + $1", a->shift_of);
}

bool
affine_compose(struct graph *g, struct affine *a, const struct affine *b)
{
	struct affine c = { .axis = a->axis >= 0 ? a->axis : b->axis };

	if (a->axis >= 0 && b->axis >= 0 &&
	    (a->axis != b->axis || a->n != b->n)) {
		return false;
	}
	c.n = a->axis >= 0 ? a->n : b->n;
	c.scale_of = described(g, a->scale_of, "$0 * $1", b->scale_of);
	c.shift_of = described_map(g, a->shift_of, b);
	c.scale = arena_array(&g->module->arena, double, c.n);
	c.shift = arena_array(&g->module->arena, double, c.n);
	for (int64_t i = 0; i < c.n; i++) {
		int64_t ia = a->axis >= 0 ? i : 0, ib = b->axis >= 0 ? i : 0;

		c.scale[i] = a->scale[ia] * b->scale[ib];
		c.shift[i] = a->shift[ia] * b->scale[ib] + b->shift[ib];
	}
	*a = c;
	return true;
}

bool
affine_is_neutral(const struct affine *a, bool scale)
{
	for (int64_t i = 0; i < a->n; i++) {
		if (scale ? a->scale[i] != 1 : a->shift[i] != 0) {
			return false;
		}
	}
	return true;
}

/* values along one axis (from the front) of a tensor of that rank. */
static struct tensor *
along(struct graph *g, const char *base, struct dtype type, int ndim, int axis,
      int64_t n, const double *values)
{
	int64_t *shape = arena_array(&g->module->arena, int64_t, ndim + 1);

	for (int i = 0; i < ndim; i++) {
		shape[i] = i == axis ? n : 1;
	}
	return constant_floats(g, base, type, ndim, shape, values);
}

struct tensor *
affine_constant(struct graph *g, const struct affine *a, bool scale,
		struct dtype type, int ndim, const char *base)
{
	const double *values = scale ? a->scale : a->shift;
	struct tensor *of = scale ? a->scale_of : a->shift_of;
	struct tensor *c = a->axis < 0 ? along(g, base, type, 0, -1, 1, values)
				       : along(g, base, type, a->axis + 1, 0,
					       a->n, values);

	(void)ndim;
	return of != NULL ? graph_made_of(g, c, "$0", NULL, &of, 1) : c;
}

/* An operator whose weights can absorb an affine map: the weight's axis of
 * output channels. */
struct host {
	int weight_axis;
	int axis;    /* of the result, from the last */
	bool bias;   /* can absorb a shift in input 2 */
	double beta; /* that input 2 is multiplied by */
};

static bool
host_of(const struct node *n, struct host *h)
{
	const struct tensor *y = n->outputs[0];
	int w_ndim = n->n_inputs > 1 && n->inputs[1] ? n->inputs[1]->ndim : -1;

	*h = (struct host){ .bias = true, .beta = 1 };
	if (w_ndim < 2) {
		return false;
	}
	if (node_is(n, "Conv")) {
		h->axis = y->ndim - 2;
		h->weight_axis = 0;
		return true;
	}
	if (node_is(n, "ConvTranspose")) {
		h->axis = y->ndim - 2;
		h->weight_axis = 1;
		return node_attr_int(n, "group", 1) == 1;
	}
	if (node_is(n, "Gemm")) {
		h->weight_axis = node_attr_int(n, "transB", 0) ? 0 : 1;
		h->beta = node_attr_float(n, "beta", 1);
		return true;
	}
	if (node_is(n, "MatMul")) {
		h->weight_axis = w_ndim - 1;
		h->bias = false;
		return true;
	}
	return false;
}

static int64_t
extent_of(const struct tensor *t, int axis)
{
	int64_t extent;

	return expr_is_int(t->shape[axis], &extent) ? extent : -1;
}

bool
affine_fits(struct graph *g, const struct node *n, const struct affine *a)
{
	struct tensor *bias = node_input(n, 2);
	struct affine own;
	struct host h;
	int64_t channels;

	if (!host_of(n, &h) || !tensor_is_constant(n->inputs[1]) ||
	    !dtype_is_float(n->inputs[1]->type)) {
		return false;
	}
	channels = extent_of(n->inputs[1], h.weight_axis);
	if (channels < 1 || channels > MAX_CHANNELS ||
	    (a->axis >= 0 && (a->axis != h.axis || a->n != channels))) {
		return false;
	}
	if (!h.bias) {
		return !affine_is_neutral(a, true);
	}
	/* The bias must be constant per channel. */
	return !bias ||
	       (tensor_is_constant(bias) &&
		affine_read(g, bias, n->outputs[0]->ndim, true, &own) &&
		own.axis <= 0);
}

/* w * s with s along the channels. A product made before is replaced, so that
 * recipes stay one multiplication deep. */
static struct tensor *
scale_weight(struct graph *g, struct tensor *w, int axis, int64_t n,
	     double *values, struct tensor *of)
{
	struct arena *a = &g->module->arena;
	const struct node *made = w->recipe;
	struct tensor *s;

	if (made && node_is(made, "Mul") && made->inputs[1]->value &&
	    made->inputs[1]->ndim == w->ndim &&
	    tensor_same_shape(made->inputs[0], w)) {
		int64_t count;
		double *before = constant_doubles(g, made->inputs[1], &count);

		if (before && count == n &&
		    extent_of(made->inputs[1], axis) == n) {
			for (int64_t i = 0; i < n; i++) {
				values[i] *= before[i];
			}
			of = described(g, made->inputs[1], "$0 * $1", of);
			w = made->inputs[0];
		}
	}
	s = along(g, arena_printf(a, "%s.scale", w->name), w->type, w->ndim,
		  axis, n, values);
	if (of != NULL) {
		graph_made_of(g, s, "$0", NULL, &of, 1);
	}
	return constant_binary(g, "Mul", arena_printf(a, "%s.scaled", w->name),
			       w, s);
}

static double *
spread(struct graph *g, const struct affine *a, const double *values, int64_t n)
{
	double *out = arena_array(&g->module->arena, double, n);

	for (int64_t i = 0; i < n; i++) {
		out[i] = values[a->axis >= 0 ? i : 0];
	}
	return out;
}

static void
set_bias(struct graph *g, struct node *n, const struct host *h,
	 const struct affine *a, int64_t channels)
{
	struct tensor *old = node_input(n, 2), *bias, *of = old;
	struct affine total;
	const char *base;
	double *values;

	affine_init(g, &total);
	if (old) {
		affine_read(g, old, old->ndim, true, &total);
		for (int64_t i = 0; i < total.n; i++) {
			total.shift[i] *= h->beta;
		}
	}
	values = arena_array(&g->module->arena, double, channels);
	for (int64_t i = 0; i < channels; i++) {
		int64_t ia = a->axis >= 0 ? i : 0;

		values[i] = total.shift[total.axis >= 0 ? i : 0] *
				    a->scale[ia] +
			    a->shift[ia];
	}
	base = arena_printf(&g->module->arena, "%s.bias",
			    old ? old->name : n->outputs[0]->name);
	if (n->n_inputs < 3) {
		node_resize_inputs(n, 3);
	}
	bias = along(g, base, n->outputs[0]->type, 1, 0, channels, values);
	if (old && h->beta != 1) {
		of = graph_describe(g,
				    arena_printf(&g->module->arena, "$0 * %g",
						 h->beta),
				    NULL, &old, 1);
	}
	of = described_map(g, of, a);
	if (of != NULL) {
		graph_made_of(g, bias, "$0", NULL, &of, 1);
	}
	node_set_input(n, 2, bias);
	if (h->beta != 1) {
		node_set_attr_float(g, n, "beta", 1);
	}
}

bool
affine_absorb(struct graph *g, struct node *n, struct affine *a)
{
	struct tensor *w = n->inputs[1];
	struct host h;
	int64_t channels;

	if (!host_of(n, &h)) {
		return true;
	}
	channels = extent_of(w, h.weight_axis);
	if (h.bias && (node_input(n, 2) || !affine_is_neutral(a, false))) {
		set_bias(g, n, &h, a, channels);
	}
	if (!affine_is_neutral(a, true)) {
		w = scale_weight(g, w, h.weight_axis, channels,
				 spread(g, a, a->scale, channels), a->scale_of);
		if (!w) {
			return false;
		}
		node_set_input(n, 1, w);
	}
	/* The result is no tensor of the model, unless the whole map was
	 * absorbed; then it replaces the map's result. */
	n->outputs[0]->model_name = NULL;
	a->scale_of = NULL;
	a->shift_of = h.bias ? NULL : a->shift_of;
	for (int64_t i = 0; i < a->n; i++) {
		a->scale[i] = 1;
		if (h.bias) {
			a->shift[i] = 0;
		}
	}
	return true;
}
