/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions, with ONNX's formulas and default attributes. */
#include "define.h"

#include <math.h>

#define BODY(name)                                                             \
	const struct expr *body_##name(struct define *c, const struct node *n, \
				       const struct expr *const *x)

/* The attribute `name` of the node, with the default def, as a literal of the
 * type of e. */
static const struct expr *
attr_like(struct define *c, const struct node *n, const char *name, double def,
	  const struct expr *e)
{
	return like(c, e, node_attr_float(n, name, def));
}

/* min(max(e, 0), 1) */
static const struct expr *
unit_clamp(struct define *c, const struct expr *e)
{
	return expr_max(c->module, like(c, e, 0),
			expr_min(c->module, like(c, e, 1), e));
}

BODY(relu)
{
	(void)n;
	return expr_max(c->module, x[0], like(c, x[0], 0));
}

BODY(leaky_relu)
{
	struct module *m = c->module;
	const struct expr *alpha = attr_like(c, n, "alpha", 0.01, x[0]);

	return expr_select(m, expr_lt(m, x[0], like(c, x[0], 0)),
			   expr_mul(m, alpha, x[0]), x[0]);
}

BODY(prelu)
{
	struct module *m = c->module;

	(void)n;
	return expr_select(m, expr_lt(m, x[0], like(c, x[0], 0)),
			   expr_mul(m, x[1], x[0]), x[0]);
}

BODY(elu)
{
	return define_elu(c, attr_like(c, n, "alpha", 1, x[0]), x[0]);
}

BODY(selu)
{
	struct module *m = c->module;
	const struct expr *alpha = attr_like(c, n, "alpha",
					     1.67326319217681884765625, x[0]);
	const struct expr *gamma = attr_like(c, n, "gamma",
					     1.05070102214813232421875, x[0]);

	return expr_mul(m, gamma,
			expr_select(m, expr_lt(m, like(c, x[0], 0), x[0]), x[0],
				    expr_mul(m, alpha,
					     define_exp_minus_one(c, x[0]))));
}

BODY(celu)
{
	struct module *m = c->module;
	const struct expr *zero = like(c, x[0], 0);
	const struct expr *alpha = attr_like(c, n, "alpha", 1, x[0]);
	const struct expr *below =
		expr_mul(m, alpha,
			 define_exp_minus_one(c, expr_div(m, x[0], alpha)));

	return expr_add(m, expr_max(m, x[0], zero), expr_min(m, below, zero));
}

BODY(thresholded_relu)
{
	struct module *m = c->module;
	const struct expr *alpha = attr_like(c, n, "alpha", 1, x[0]);

	return expr_select(m, expr_lt(m, alpha, x[0]), x[0], like(c, x[0], 0));
}

BODY(hard_sigmoid)
{
	struct module *m = c->module;
	const struct expr *alpha = attr_like(c, n, "alpha", 0.2, x[0]);
	const struct expr *beta = attr_like(c, n, "beta", 0.5, x[0]);

	return unit_clamp(c, expr_add(m, expr_mul(m, alpha, x[0]), beta));
}

BODY(hard_swish)
{
	struct module *m = c->module;
	const struct expr *line = expr_add(m,
					   expr_mul(m, x[0],
						    like(c, x[0], 1.0 / 6)),
					   like(c, x[0], 0.5));

	(void)n;
	return expr_mul(m, x[0], unit_clamp(c, line));
}

BODY(softplus)
{
	(void)n;
	return define_softplus(c, x[0]);
}

BODY(softsign)
{
	struct module *m = c->module;

	(void)n;
	return expr_div(m, x[0],
			expr_add(m, like(c, x[0], 1),
				 expr_call1(m, INTRIN_ABS, x[0])));
}

BODY(mish)
{
	(void)n;
	return expr_mul(c->module, x[0],
			expr_call1(c->module, INTRIN_TANH,
				   define_softplus(c, x[0])));
}

/* x * (1 + erf(x / sqrt(2))) / 2, or its approximation by tanh. */
BODY(gelu)
{
	struct module *m = c->module;
	const struct expr *half = expr_mul(m, like(c, x[0], 0.5), x[0]);
	const struct expr *bend;

	if (strcmp(node_attr_string(n, "approximate", "none"), "tanh") == 0) {
		const struct expr *cube = expr_mul(m, x[0],
						   expr_mul(m, x[0], x[0]));
		const struct expr *inner =
			expr_add(m, x[0],
				 expr_mul(m, like(c, x[0], 0.044715), cube));

		/* sqrt(2 / pi) */
		bend = expr_call1(m, INTRIN_TANH,
				  expr_mul(m,
					   like(c, x[0],
						0.79788456080286535588),
					   inner));
	} else {
		/* sqrt(1 / 2) */
		bend = expr_call1(m, INTRIN_ERF,
				  expr_mul(m, x[0],
					   like(c, x[0],
						0.70710678118654752440)));
	}
	return expr_mul(m, half, expr_add(m, like(c, x[0], 1), bend));
}

BODY(swish)
{
	struct module *m = c->module;
	const struct expr *alpha = attr_like(c, n, "alpha", 1, x[0]);

	return expr_mul(m, x[0],
			expr_call1(m, INTRIN_SIGMOID,
				   expr_mul(m, x[0], alpha)));
}

/* Is v an integer of at most half of the magnitude of t's largest number? */
static bool
is_small_integer(struct dtype t, double v)
{
	return v == floor(v) && fabs(v) <= (double)(dtype_max_int(t) >> 1);
}

/* Integers are compared with an integer bound where this is possible, because
 * float32 cannot represent all integers: x > 1.5 is x > 1, and x < -1.5 is x <
 * -1. */
BODY(shrink)
{
	struct module *m = c->module;
	struct dtype t = x[0]->type;
	double lambd = node_attr_float(n, "lambd", 0.5);
	double by = node_attr_float(n, "bias", 0);
	bool whole = !dtype_is_float(t) && lambd >= 0 &&
		     is_small_integer(t, floor(lambd)) &&
		     is_small_integer(t, by) && (dtype_is_signed(t) || by >= 0);
	const struct expr *v = whole || dtype_is_float(t)
				       ? x[0]
				       : expr_cast(m, dtype_of(DT_F32), x[0]);
	const struct expr *bias = like(c, v, by);
	const struct expr *y =
		expr_select(m,
			    expr_lt(m, like(c, v, whole ? floor(lambd) : lambd),
				    v),
			    expr_sub(m, v, bias), like(c, v, 0));

	if (!whole || dtype_is_signed(t)) {
		y = expr_select(m,
				expr_lt(m, v,
					like(c, v,
					     whole ? -floor(lambd) : -lambd)),
				expr_add(m, v, bias), y);
	}
	return convert_to(c, t, y);
}

bool
infer_clip(struct infer *c, struct node *n)
{
	if (!infer_same_types(c, n)) {
		return false;
	}
	for (int i = 1; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];
		int64_t elems = 0;

		if (t && (!tensor_const_elems(t, &elems) || elems != 1)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "bound %d of Clip has %lld "
					   "elements, not 1; use Min and Max",
					   i, (long long)elems);
		}
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, n->inputs[0]->ndim,
		  n->inputs[0]->shape);
	return true;
}

/* If min > max, the result is max. */
BODY(clip)
{
	const struct expr *y = x[0];

	if (node_input(n, 1)) {
		y = expr_max(c->module, y, x[1]);
	}
	return node_input(n, 2) ? expr_min(c->module, y, x[2]) : y;
}

/* ---- Dropout, at inference: the identity and a mask of ones ---- */

bool
infer_dropout(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	double training = 0, ratio = 0.5;

	if (node_input(n, 2) && (!input_scalar(n, 2, &training) || training)) {
		if (!node_input(n, 1) || !input_scalar(n, 1, &ratio) ||
		    ratio != 0) {
			return infer_error(c, DIAG_UNSUPPORTED,
					   "Dropout in training mode is not "
					   "supported; export the model for "
					   "inference");
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	infer_set(c, node_output(n, 1), dtype_of(DT_BOOL), x->ndim, x->shape);
	return true;
}

bool
define_dropout(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);

	out[0] = define_stage(c, "dropout", "elementwise", y->ndim, axes,
			      te_at(c->module, in[0],
				    axes_exprs(c, axes, y->ndim), y->ndim));
	if (node_output(n, 1)) {
		axes = define_axes(c, y);
		out[1] = define_stage(c, "mask", "elementwise", y->ndim, axes,
				      expr_bool(c->module, true));
	}
	return true;
}
