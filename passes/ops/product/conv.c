/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions in one to four dimensions, any grouping:
 *
 *   y[n, oc, oh, ow] = sum over ic, kh, kw of
 *       x[n, g * ICG + ic, oh * sh + kh * dh - ph, …] * w[oc, ic, kh, kw]
 *
 * where g is the group of oc. The bias is added in a separate stage. */
#include "window.h"

#include "analyse.h"
#include "dims.h"

/* Sets kernel to the sizes of the window, which are the dimensions of the
 * weights from 2 on. False if a size is not constant. */
static bool
kernel_of_weights(const struct tensor *w, int64_t *kernel)
{
	for (int d = 2; d < w->ndim && d < 2 + WINDOW_MAX; d++) {
		if (!expr_is_int(w->shape[d], &kernel[d - 2])) {
			return false;
		}
	}
	return true;
}

static bool
conv_window(struct infer *c, struct module *m, const struct node *n,
	    const struct tensor *weights, bool transposed, struct window *w)
{
	int64_t kernel[WINDOW_MAX];
	const char *wrong;

	if (n->inputs[0]->ndim != weights->ndim) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the input has rank %d and the weights %d; "
				   "correct the shapes",
				   n->inputs[0]->ndim, weights->ndim);
	}
	if (!kernel_of_weights(weights, kernel)) {
		return infer_error(c, DIAG_UNKNOWN_SHAPE,
				   "the size of the kernel is not constant; "
				   "fix the shape of the weights");
	}
	wrong = window_of_node(m, n, kernel, transposed, w);
	return !wrong || infer_error(c, DIAG_BAD_ATTRIBUTE, "%s", wrong);
}

/* Checks the numbers of channels and the group; false after a diagnostic. */
static bool
check_channels(struct infer *c, const struct tensor *bias, int64_t group,
	       const struct expr *in_channels, const struct expr *grouped,
	       const struct expr *out_channels)
{
	if (group < 1) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "group is %lld; it must be positive",
				   (long long)group);
	}
	if (!dims_equal(c, in_channels, grouped)) {
		return infer_error(
			c, DIAG_BAD_SHAPE,
			"the numbers of channels of the input and of "
			"the weights differ; correct the shapes");
	}
	if (!dim_is_multiple(c, out_channels, expr_index(c->module, group))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the output channels cannot be divided into "
				   "%lld groups; correct the weights",
				   (long long)group);
	}
	if (bias &&
	    (bias->ndim != 1 || !dims_equal(c, bias->shape[0], out_channels))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the bias does not have one element per "
				   "output channel; correct its shape");
	}
	return true;
}

static void
set_output(struct infer *c, struct node *n, const struct window *w,
	   const struct expr *channels, struct dtype type)
{
	const struct expr *shape[2 + WINDOW_MAX] = { n->inputs[0]->shape[0],
						     channels };

	for (int d = 0; d < w->n; d++) {
		shape[2 + d] = w->out[d];
	}
	infer_set(c, n->outputs[0], type, 2 + w->n, shape);
}

static bool
infer_conv_of(struct infer *c, struct node *n, const struct tensor *weights,
	      const struct tensor *bias, struct dtype type)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	int64_t group = node_attr_int(n, "group", 1);
	struct window w;

	if (!conv_window(c, m, n, weights, false, &w) ||
	    !check_channels(c, bias, group, x->shape[1],
			    dim_mul(m, weights->shape[1], expr_index(m, group)),
			    weights->shape[0])) {
		return false;
	}
	set_output(c, n, &w, weights->shape[0], type);
	return true;
}

bool
infer_conv(struct infer *c, struct node *n)
{
	return infer_same_types(c, n) &&
	       infer_conv_of(c, n, n->inputs[1], node_input(n, 2),
			     n->inputs[0]->type);
}

bool
infer_conv_integer(struct infer *c, struct node *n)
{
	return infer_conv_of(c, n, n->inputs[1], NULL, dtype_of(DT_I32)) &&
	       infer_form(c, n, 1, TYPES_INTEGER, 1, INT32_MAX) &&
	       infer_param(c, n, 2, TYPES_INTEGER, NULL) &&
	       infer_param(c, n, 3, TYPES_INTEGER, n->inputs[1]->shape[0]) &&
	       infer_zero_point(c, n, 0, 2) && infer_zero_point(c, n, 1, 3);
}

/* Checks that the weights are integers and the bias int32; false after a
 * diagnostic. */
static bool
check_integers(struct infer *c, const struct node *n)
{
	return infer_form(c, n, 1, TYPES_INTEGER, 1, INT32_MAX) &&
	       infer_form(c, n, 2, TYPES_INTEGER, 1, 1) &&
	       (n->inputs[2]->type.kind == DT_I32 ||
		infer_error(c, DIAG_BAD_TYPE, "the bias must be int32"));
}

bool
infer_integer_conv(struct infer *c, struct node *n)
{
	return infer_conv_of(c, n, n->inputs[1], n->inputs[2],
			     dtype_of(DT_I32)) &&
	       check_integers(c, n);
}

bool
infer_qlinear_conv(struct infer *c, struct node *n)
{
	return infer_conv_of(c, n, n->inputs[3], node_input(n, 8),
			     n->inputs[7]->type) &&
	       infer_param(c, n, 1, TYPES_FLOAT, NULL) &&
	       infer_param(c, n, 2, TYPES_INTEGER, NULL) &&
	       infer_form(c, n, 3, TYPES_INTEGER, 1, INT32_MAX) &&
	       infer_param(c, n, 4, TYPES_FLOAT, n->inputs[3]->shape[0]) &&
	       infer_param(c, n, 5, TYPES_INTEGER, n->inputs[3]->shape[0]) &&
	       infer_param(c, n, 6, TYPES_FLOAT, NULL) &&
	       infer_param(c, n, 7, TYPES_INTEGER, NULL) &&
	       infer_zero_point(c, n, 0, 2) && infer_zero_point(c, n, 3, 5) &&
	       infer_form(c, n, 8, TYPES_SIGNED, 1, 1);
}

static bool
infer_transposed_of(struct infer *c, struct node *n, struct dtype type)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *weights = n->inputs[1];
	int64_t group = node_attr_int(n, "group", 1);
	const struct expr *channels;
	struct window w;

	if (!conv_window(c, m, n, weights, true, &w)) {
		return false;
	}
	channels = dim_mul(m, weights->shape[1], expr_index(m, group));
	if (!check_channels(c, node_input(n, 2), group, x->shape[1],
			    weights->shape[0], channels)) {
		return false;
	}
	if (!dim_is_multiple(c, weights->shape[0], expr_index(m, group))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the input channels cannot be divided into "
				   "%lld groups; correct the weights",
				   (long long)group);
	}
	set_output(c, n, &w, channels, type);
	return true;
}

bool
infer_conv_transpose(struct infer *c, struct node *n)
{
	return infer_same_types(c, n) &&
	       infer_transposed_of(c, n, n->inputs[0]->type);
}

bool
infer_integer_conv_transpose(struct infer *c, struct node *n)
{
	return infer_transposed_of(c, n, dtype_of(DT_I32)) &&
	       check_integers(c, n);
}

/* The index of input channel ic of the group of output channel oc; without a
 * division if there is one group, or one output channel in each group. */
static const struct expr *
input_channel(struct module *m, const struct expr *oc, const struct expr *ic,
	      const struct expr *out_channels, const struct expr *per_group,
	      int64_t group)
{
	const struct expr *size, *g;

	if (group == 1) {
		return ic;
	}
	size = expr_floordiv(m, out_channels, expr_index(m, group));
	g = expr_is_value(size, 1) ? oc : expr_floordiv(m, oc, size);
	if (expr_is_value(per_group, 1)) {
		return g;
	}
	return expr_add(m, expr_mul(m, g, per_group), ic);
}

/* y[n, oc, …] = t[n, oc, …] + bias[oc], in the output's type. */
static struct te_tensor *
add_bias(struct define *c, const struct node *n, const struct window *w,
	 struct te_tensor *t, const struct te_tensor *bias)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes;
	const struct expr **index, *e;

	if (!bias && dtype_equal(t->buffer->type, y->type)) {
		return t;
	}
	axes = window_axes(c, w, y, "oc");
	index = axes_exprs(c, axes, y->ndim);
	e = te_at(m, t, index, y->ndim);
	if (bias) {
		e = expr_add(m, e,
			     expr_cast(m, e->type,
				       te_at(m, bias, &index[1], 1)));
	}
	return define_stage(c, "bias", "broadcast", y->ndim, axes,
			    expr_cast(m, y->type, e));
}

/* The stage of the sum, in type t, of the products of x and w, each minus its
 * zero point. Narrow floats are widened after they are read, padding included,
 * so that zeros around the tensor in memory can serve as the padding. */
static struct te_tensor *
conv_sum(struct define *c, const struct node *n,
	 const struct conv_inputs *which, struct te_tensor *const *in,
	 struct dtype t, struct window *w)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct tensor *weights = n->inputs[which->weights];
	int64_t group = node_attr_int(n, "group", 1);
	struct te_tensor *data = define_unwidened(c, in[0]);
	struct dtype xt = data->buffer->type;
	struct iter_var *axes, over[1 + WINDOW_MAX];
	const struct expr *at[2 + WINDOW_MAX], *channel, *x, *k, *x_zero;

	if (!conv_window(NULL, m, n, weights, false, w)) {
		return NULL;
	}
	axes = window_axes(c, w, y, "oc");
	over[0] = te_reduce_axis(m, "ic", weights->shape[1]);
	window_taps(c, w, over + 1);
	channel = input_channel(m, axes[1].var->expr, over[0].var->expr,
				weights->shape[0], weights->shape[1], group);
	x_zero = which->outside
			 ? expr_int(m, xt, node_attr_int(n, which->outside, 0))
			 : define_param(c, n, which->x_zero, in, NULL, xt);
	x = window_load(c, w, data, axes[0].var->expr, channel, axes + 2,
			over + 1, x_zero);
	at[0] = axes[1].var->expr;
	for (int d = 0; d < 1 + w->n; d++) {
		at[1 + d] = over[d].var->expr;
	}
	k = te_at(m, in[which->weights], at, 2 + w->n);
	x = expr_cast(m, t, x);
	if (!which->outside) {
		x = expr_sub(m, x, expr_cast(m, t, x_zero));
	}
	k = expr_sub(m, expr_cast(m, t, k),
		     expr_cast(m, t,
			       define_param(c, n, which->w_zero, in, at[0],
					    k->type)));
	return define_stage(c, "conv", "conv", 2 + w->n, axes,
			    te_sum(m, expr_mul(m, x, k), over, 1 + w->n));
}

bool
define_conv(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	static const struct conv_inputs which = { 1, -1, -1, NULL };
	struct dtype t = accumulator_type(n->outputs[0]->type);
	struct window w;

	out[0] = conv_sum(c, n, &which, in, t, &w);
	if (!out[0]) {
		return false;
	}
	out[0] = add_bias(c, n, &w, out[0], node_input(n, 2) ? in[2] : NULL);
	return true;
}

struct te_tensor *
define_integer_conv(struct define *c, const struct node *n,
		    const struct conv_inputs *which,
		    struct te_tensor *const *in)
{
	struct window w;

	return conv_sum(c, n, which, in, dtype_of(DT_I32), &w);
}

/* The sum has no terms for the zero points, because the products of the zero
 * points are part of the bias; the padding has the value of x's zero point. */
bool
define_bytes_conv(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	static const struct conv_inputs which = { 1, -1, -1, "outside" };
	struct window w;

	out[0] = conv_sum(c, n, &which, in, dtype_of(DT_I32), &w);
	if (!out[0]) {
		return false;
	}
	out[0] = add_bias(c, n, &w, out[0], in[2]);
	return true;
}

bool
define_conv_integer(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	static const struct conv_inputs which = { 1, 2, 3, NULL };

	out[0] = define_integer_conv(c, n, &which, in);
	return out[0] != NULL;
}

/* ---- ConvTranspose ---- */

/* The tap and input position that contribute to an output position o along one
 * dimension, with q = o + padding: tap k reads input (q - k * dilation) /
 * stride if that is an integer. Without dilation, the taps for which it is an
 * integer are every stride-th tap from q % stride on: then the loop runs only
 * over these taps, without a test. */
struct transposed_tap {
	struct iter_var tap;
	/* k: the number of the tap; at: the index in the input that the tap
	 * reads */
	const struct expr *k, *at;
	/* the condition that the quotient, the index, is an integer; NULL if it
	 * always is */
	const struct expr *whole;
};

static struct transposed_tap
transposed_tap(struct module *m, const struct window *w, int d,
	       const struct expr *o)
{
	const struct expr *q = expr_add(m, window_index(m, w, d, o),
					w->begin[d]);
	const struct expr *stride = expr_i32(m, w->stride[d]);
	const struct expr *kernel = expr_i32(m, w->kernel[d]), *t;
	struct transposed_tap r = { .whole = NULL };

	if (w->stride[d] > 1 && w->dilation[d] == 1) {
		r.tap = te_reduce_axis(m, window_axis_name(m, w, d, "t"),
				       expr_i32(m,
						(w->kernel[d] + w->stride[d] -
						 1) / w->stride[d]));
		t = r.tap.var->expr;
		r.k = expr_add(m, expr_mul(m, t, stride),
			       expr_floormod(m, q, stride));
		r.at = expr_sub(m, expr_floordiv(m, q, stride), t);
		return r;
	}
	r.tap = te_reduce_axis(m, window_axis_name(m, w, d, "k"), kernel);
	r.k = r.tap.var->expr;
	r.at = expr_sub(m, q,
			expr_mul(m, window_index(m, w, d, r.k),
				 expr_index(m, w->dilation[d])));
	if (w->stride[d] > 1) {
		r.whole = expr_eq(m, expr_floormod(m, r.at, stride),
				  expr_i32(m, 0));
		r.at = expr_floordiv(m, r.at, stride);
	}
	return r;
}

/* The conjunction of inside and condition; without the condition if it provably
 * always holds. */
static const struct expr *
require(struct analyser *a, const struct expr *inside,
	const struct expr *condition)
{
	return prove(a, condition) ? inside
				   : expr_and(a->module, inside, condition);
}

/* x - zero, in type t. */
static const struct expr *
without_zero(struct module *m, const struct expr *x, struct dtype t,
	     int64_t zero)
{
	x = expr_cast(m, t, x);
	return zero == 0 ? x : expr_sub(m, x, expr_int(m, t, zero));
}

/* Defines the sum of the products of x - zero and the weights, in type t, plus
 * the bias. Positions outside of x and taps between the strides add nothing, so
 * that it depends on the position which weights are summed. So the products of
 * the zero point with weights cannot be part of the bias: `zero` is subtracted
 * from x instead. */
static bool
define_transposed(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct dtype t, int64_t zero,
		  struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0], *weights = n->inputs[1];
	int64_t group = node_attr_int(n, "group", 1);
	const struct expr *per_group = expr_floordiv(m, weights->shape[0],
						     expr_index(m, group));
	const struct expr *inside = expr_bool(m, true), *none = expr_i32(m, 0);
	const struct expr *x_at[2 + WINDOW_MAX], *w_at[2 + WINDOW_MAX];
	struct iter_var *axes, over[1 + WINDOW_MAX];
	const struct expr *channel, *oc, *e;
	struct analyser a;
	struct window w;

	if (!conv_window(NULL, m, n, weights, true, &w)) {
		return false;
	}
	axes = window_axes(c, &w, y, "oc");
	oc = axes[1].var->expr;
	over[0] = te_reduce_axis(m, "ic", per_group);
	channel = input_channel(m, oc, over[0].var->expr, y->shape[1],
				per_group, group);
	/* The weights have the shape [ic, oc / group, k…]. */
	x_at[0] = axes[0].var->expr;
	x_at[1] = channel;
	w_at[0] = channel;
	w_at[1] = group == 1 ? oc : expr_floormod(m, oc, weights->shape[1]);
	analyser_init(&a, m);
	for (int d = 0; d < w.n; d++) {
		const struct iter_var *o = &axes[2 + d];
		struct transposed_tap r = transposed_tap(m, &w, d,
							 o->var->expr);

		over[1 + d] = r.tap;
		analyser_bind(&a, o->var, o->min, o->extent);
		analyser_bind(&a, r.tap.var, r.tap.min, r.tap.extent);
		inside = require(&a, inside,
				 expr_lt(m, r.k, expr_i32(m, w.kernel[d])));
		inside = require(&a, inside, expr_le(m, none, r.at));
		inside = require(&a, inside, expr_lt(m, r.at, w.in[d]));
		if (r.whole) {
			inside = require(&a, inside, r.whole);
		}
		x_at[2 + d] = r.at;
		w_at[2 + d] = r.k;
	}
	e = expr_mul(m,
		     without_zero(m, te_at(m, in[0], x_at, 2 + w.n), t, zero),
		     expr_cast(m, t, te_at(m, in[1], w_at, 2 + w.n)));
	e = expr_if(m, inside, e, expr_const(m, t, 0));
	out[0] = define_stage(c, "conv", "conv", 2 + w.n, axes,
			      te_sum(m, e, over, 1 + w.n));
	out[0] = add_bias(c, n, &w, out[0], node_input(n, 2) ? in[2] : NULL);
	return true;
}

bool
define_conv_transpose(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct dtype t = accumulator_type(n->outputs[0]->type);

	return define_transposed(c, n, in, t, 0, out);
}

bool
define_bytes_conv_transpose(struct define *c, const struct node *n,
			    struct te_tensor *const *in, struct te_tensor **out)
{
	return define_transposed(c, n, in, dtype_of(DT_I32),
				 node_attr_int(n, "x_zero", 0), out);
}
