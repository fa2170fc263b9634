/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft that onnxruntime's optimizer of diffusion models
 * writes: normalizations of images whose channels are the last dimension, and
 * additions of biases.
 *
 *	before	y = com.microsoft.GroupNorm<groups=8, activation=1>(x, gamma, beta)
 *	after	y_nchw = Transpose<perm=[0, 3, 1, 2]>(x)
 *		y_norm = GroupNormalization<num_groups=8>(y_nchw, gamma, beta)
 *		y_silu = Swish(y_norm)
 *		y = Transpose<perm=[0, 2, 3, 1]>(y_silu)
 */
#include "compose.h"

static bool
channels_last(const struct compose *c)
{
	return node_attr_int(c->node, "channels_last", 1) != 0;
}

/* x, normalised in groups with scale and bias from inputs 1 and 2, then silu if
 * the attribute `activation` is set. */
static bool
group_norm(struct compose *c, struct tensor *x)
{
	bool last = channels_last(c);
	struct dtype type = x->type;
	struct tensor *gamma = compose_input(c, 1);

	x = compose_cast(c, "wide", x, gamma->type);
	x = last ? compose_channels(c, "nchw", x, false) : x;
	compose_set_int(c, "num_groups", node_attr_int(c->node, "groups", 0));
	compose_set_float(c, "epsilon",
			  node_attr_float(c->node, "epsilon", 1e-5));
	x = compose_node(c, "norm", "GroupNormalization", 3, x, gamma,
			 compose_input(c, 2));
	if (node_attr_int(c->node, "activation", 0) != 0) {
		x = compose_1(c, "silu", "Swish", x);
	}
	x = last ? compose_channels(c, "nhwc", x, true) : x;
	compose_result(c, 0, compose_cast(c, "narrow", x, type));
	return true;
}

bool
compose_group_norm(struct compose *c)
{
	return group_norm(c, compose_input(c, 0));
}

/* Input i, of shape [n][c] or [c], reshaped so that it broadcasts to images. */
static struct tensor *
per_channel(struct compose *c, const char *what, int i, int image_rank)
{
	struct tensor *x = compose_input(c, i);
	const struct expr *shape[ONNX_MAX_RANK];
	int n = image_rank, at = channels_last(c) ? n - 1 : 1;

	if (!x || x->ndim > 2) {
		return x;
	}
	for (int d = 0; d < n; d++) {
		shape[d] = expr_index(c->m, 1);
	}
	shape[at] = compose_dim(c, x, -1);
	if (x->ndim == 2) {
		shape[0] = x->shape[0];
	}
	return compose_reshape(c, what, x, n, shape);
}

bool
compose_skip_group_norm(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *skip, *bias;

	if (x->ndim < 3) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its input needs at least 3 dimensions; "
				     "correct the model");
	}
	skip = per_channel(c, "skip_channels", 3, x->ndim);
	bias = per_channel(c, "bias_channels", 4, x->ndim);
	x = compose_2(c, "skip", "Add", x, skip);
	x = bias ? compose_2(c, "sum", "Add", x, bias) : x;
	compose_result(c, 1, x);
	return group_norm(c, x);
}

bool
compose_bias_add(struct compose *c)
{
	struct tensor *x = compose_2(c, "sum", "Add", compose_input(c, 0),
				     compose_input(c, 1));

	compose_result(c, 0,
		       compose_2(c, "skip", "Add", x, compose_input(c, 2)));
	return true;
}

/* The first half of the last dimension times the Gelu of the second half. */
bool
compose_bias_split_gelu(struct compose *c)
{
	struct tensor *x = compose_2(c, "sum", "Add", compose_input(c, 0),
				     compose_input(c, 1));
	const struct expr *half = expr_floordiv(c->m, compose_dim(c, x, -1),
						expr_index(c->m, 2));
	struct tensor *left, *right;

	left = compose_slice(c, "left", x, x->ndim - 1, expr_index(c->m, 0),
			     half);
	right = compose_slice(c, "right", x, x->ndim - 1, half, NULL);
	right = compose_1(c, "gelu", "Gelu", right);
	compose_result(c, 0, compose_2(c, "product", "Mul", left, right));
	return true;
}
