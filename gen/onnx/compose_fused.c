/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft in which onnxruntime's optimizer joins several:
 * products and convolutions with what follows, sums with the activation or
 * normalization after them.
 *
 *	before	y = com.microsoft.BiasGelu(a, b)
 *	after	y_sum = Add(a, b)
 *		y = Gelu(y_sum) */
#include "compose.h"

#include <math.h>

/* -- activations -- */

bool
compose_gelu(struct compose *c)
{
	compose_result(c, 0, compose_1(c, "gelu", "Gelu", compose_input(c, 0)));
	return true;
}

/* Input 0 with the bias of input 1, if there is one. */
static struct tensor *
with_bias(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *bias = compose_input(c, 1);

	return bias ? compose_2(c, "sum", "Add", x, bias) : x;
}

bool
compose_bias_gelu(struct compose *c)
{
	compose_result(c, 0, compose_1(c, "gelu", "Gelu", with_bias(c)));
	return true;
}

bool
compose_fast_gelu(struct compose *c)
{
	struct tensor *x = with_bias(c);

	compose_set_string(c, "approximate", "tanh");
	compose_result(c, 0, compose_1(c, "gelu", "Gelu", x));
	return true;
}

bool
compose_quick_gelu(struct compose *c)
{
	compose_set_float(c, "alpha", node_attr_float(c->node, "alpha", 1.702));
	compose_result(c, 0,
		       compose_1(c, "swish", "Swish", compose_input(c, 0)));
	return true;
}

/* The activation of a fused node, with the names of its parameters in order. */
static const struct activation {
	const char *op_type, *parameters[2];
} activations[] = {
	{ "Relu", { NULL } },
	{ "Sigmoid", { NULL } },
	{ "Tanh", { NULL } },
	{ "Softplus", { NULL } },
	{ "Softsign", { NULL } },
	{ "LeakyRelu", { "alpha" } },
	{ "Elu", { "alpha" } },
	{ "ThresholdedRelu", { "alpha" } },
	{ "HardSigmoid", { "alpha", "beta" } },
	{ "HardSwish", { NULL } },
};

/* given[0..n): the parameters of the activation; of Clip: its bounds. */
static struct tensor *
activate(struct compose *c, struct tensor *x, const double *given, int n)
{
	const char *name = node_attr_string(c->node, "activation", "");
	size_t count = sizeof activations / sizeof activations[0];

	if (!*name) {
		return x;
	}
	if (strcmp(name, "Clip") == 0) {
		double low = n > 0 ? given[0] : -INFINITY;
		double high = n > 1 ? given[1] : INFINITY;

		return compose_node(c, "clip", "Clip", 3, x,
				    compose_scalar(c, "min", x->type, low),
				    compose_scalar(c, "max", x->type, high));
	}
	for (size_t i = 0; i < count; ++i) {
		const struct activation *a = &activations[i];

		if (strcmp(a->op_type, name) != 0) {
			continue;
		}
		for (int k = 0; k < 2 && k < n && a->parameters[k]; ++k) {
			compose_set_float(c, a->parameters[k], given[k]);
		}
		return compose_1(c, "active", name, x);
	}
	assert(!"an activation of attr_values.def");
	return x;
}

/* -- products and convolutions -- */

bool
compose_fused_matmul(struct compose *c)
{
	struct tensor *in[2], *y;
	static const char *const whats[] = { "a", "b" };
	static const char *const names[] = { "transA", "transB" };
	double alpha = node_attr_float(c->node, "alpha", 1);

	if (node_attr_int(c->node, "transBatchA", 0) != 0 ||
	    node_attr_int(c->node, "transBatchB", 0) != 0) {
		return compose_refuse(c, "transBatchA and transBatchB are not "
					 "supported");
	}
	for (int i = 0; i < 2; ++i) {
		in[i] = compose_input(c, i);
		if (node_attr_int(c->node, names[i], 0) != 0 &&
		    in[i]->ndim > 1) {
			in[i] = compose_swap(c, whats[i], in[i], -1, -2);
		}
	}
	y = compose_2(c, "product", "MatMul", in[0], in[1]);
	if (alpha != 1) {
		y = compose_with(c, "scaled", "Mul", y, alpha);
	}
	compose_result(c, 0, y);
	return true;
}

bool
compose_fused_gemm(struct compose *c)
{
	const double given[] = {
		node_attr_float(c->node, "activation_alpha", 0.01),
		node_attr_float(c->node, "activation_beta", 0),
	};
	struct tensor *y;

	compose_keep_attrs(c, "alpha beta transA transB");
	y = compose_node(c, "gemm", "Gemm", 3, compose_input(c, 0),
			 compose_input(c, 1), compose_input(c, 2));
	compose_result(c, 0, activate(c, y, given, 2));
	return true;
}

#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides"

bool
compose_fused_conv(struct compose *c)
{
	const struct attr *given = node_attr(c->node, "activation_params");
	struct tensor *z = compose_input(c, 3), *y;

	compose_keep_attrs(c, CONV_ATTRS);
	y = compose_node(c, "conv", "Conv", 3, compose_input(c, 0),
			 compose_input(c, 1), compose_input(c, 2));
	if (z) {
		y = compose_2(c, "sum", "Add", y, z);
	}
	compose_result(c, 0,
		       activate(c, y, given ? given->floats : NULL,
				given ? given->n : 0));
	return true;
}

/* The dimensions of x as n, h, w, c or back as n, c, h, w. */
struct tensor *
compose_channels(struct compose *c, const char *what, struct tensor *x,
		 bool last)
{
	int64_t perm[ONNX_MAX_RANK];
	int n = x->ndim;

	for (int d = 1; d < n; ++d) {
		perm[d] = last ? (d == n - 1 ? 1 : d + 1)
			       : (d == 1 ? n - 1 : d - 1);
	}
	perm[0] = 0;
	return n > 2 ? compose_transpose(c, what, x, perm) : x;
}

bool
compose_nhwc_conv(struct compose *c)
{
	struct tensor *x = compose_channels(c, "nchw", compose_input(c, 0),
					    false);
	struct tensor *y;

	compose_keep_attrs(c, CONV_ATTRS);
	y = compose_node(c, "conv", "Conv", 3, x, compose_input(c, 1),
			 compose_input(c, 2));
	compose_result(c, 0, compose_channels(c, "nhwc", y, true));
	return true;
}

/* -- normalizations -- */

/* x, normalised over its last dimension, with the results of
 * LayerNormalization. */
static void
layer_norm(struct compose *c, struct tensor *x, int gamma, int beta)
{
	static const char *const whats[] = { "norm", "mean", "deviation" };
	struct tensor *in[] = { x, compose_input(c, gamma),
				compose_input(c, beta) };
	struct tensor *out[3];
	int n_out = compose_wants(c, 1) || compose_wants(c, 2) ? 3 : 1;

	compose_set_int(c, "axis", -1);
	compose_set_float(c, "epsilon",
			  node_attr_float(c->node, "epsilon", 1e-12));
	compose_nodes(c, "", "LayerNormalization", in, in[2] ? 3 : 2, whats,
		      n_out, out);
	for (int k = 0; k < n_out; ++k) {
		compose_result(c, k, out[k]);
	}
}

/* Inputs 0 and 1, and the one numbered bias. */
static struct tensor *
skip_sum(struct compose *c, int bias)
{
	struct tensor *sum = compose_2(c, "skip", "Add", compose_input(c, 0),
				       compose_input(c, 1));

	if (compose_input(c, bias)) {
		sum = compose_2(c, "sum", "Add", sum, compose_input(c, bias));
	}
	compose_result(c, 3, sum);
	return sum;
}

bool
compose_skip_layer_norm(struct compose *c)
{
	layer_norm(c, skip_sum(c, 4), 2, 3);
	return true;
}

static void
rms_norm(struct compose *c, struct tensor *x, struct tensor *scale,
	 double epsilon)
{
	compose_set_float(c, "epsilon", epsilon);
	compose_result(c, 0,
		       compose_2(c, "norm", "RMSNormalization", x, scale));
}

bool
compose_skip_rms_norm(struct compose *c)
{
	struct tensor *sum = skip_sum(c, 3);

	compose_set_int(c, "axis", -1);
	rms_norm(c, sum, compose_input(c, 2),
		 node_attr_float(c->node, "epsilon", 1e-12));
	return true;
}

bool
compose_simple_layer_norm(struct compose *c)
{
	compose_keep_attrs(c, "axis stash_type");
	rms_norm(c, compose_input(c, 0), compose_input(c, 1),
		 node_attr_float(c->node, "epsilon", 1e-5));
	return true;
}

static struct tensor *
rows_of(struct compose *c, const char *what, struct tensor *table,
	struct tensor *ids)
{
	compose_set_int(c, "axis", 0);
	return compose_2(c, what, "Gather", table, ids);
}

/* The sum of a word's, a position's and a segment's vector, normalised.
 * mask_index: the number of tokens that count, of each row of the mask. */
bool
compose_embed_layer_norm(struct compose *c)
{
	struct tensor *ids = compose_input(c, 0),
		      *segment = compose_input(c, 1);
	struct tensor *mask = compose_input(c, 7),
		      *places = compose_input(c, 8);
	struct tensor *sum, *at;

	if (ids->ndim != 2) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its tokens have %d dimensions; they need "
				     "2",
				     ids->ndim);
	}
	sum = rows_of(c, "word", compose_input(c, 2), ids);
	at = compose_input(c, 3);
	at = places ? rows_of(c, "position", at, places)
		    : compose_slice(c, "positions", at, 0, expr_index(c->m, 0),
				    ids->shape[1]);
	sum = compose_2(c, "placed", "Add", sum, at);
	if (segment && compose_input(c, 4)) {
		sum = compose_2(c, "embedded", "Add", sum,
				rows_of(c, "segment", compose_input(c, 4),
					segment));
	}
	compose_result(c, 2, sum);
	if (compose_wants(c, 1) && mask) {
		compose_result(c, 1,
			       compose_reduce(c, "mask_index", "ReduceSum",
					      mask, 1, false));
	} else if (compose_wants(c, 1)) {
		return compose_refuse(c, "its output 1 without a mask is not "
					 "supported");
	}
	compose_set_int(c, "axis", -1);
	compose_set_float(c, "epsilon",
			  node_attr_float(c->node, "epsilon", 1e-12));
	compose_result(c, 0,
		       compose_node(c, "norm", "LayerNormalization", 3, sum,
				    compose_input(c, 5), compose_input(c, 6)));
	return true;
}

/* -- names that ai.onnx has, too -- */

bool
compose_grid_sample(struct compose *c)
{
	const char *mode = node_attr_string(c->node, "mode", "bilinear");

	compose_keep_attrs(c, "align_corners padding_mode");
	compose_set_string(c, "mode",
			   strcmp(mode, "bilinear") == 0  ? "linear"
			   : strcmp(mode, "bicubic") == 0 ? "cubic"
							  : mode);
	compose_result(c, 0,
		       compose_2(c, "sample", "GridSample", compose_input(c, 0),
				 compose_input(c, 1)));
	return true;
}

static bool
same_operator(struct compose *c, const char *op_type)
{
	compose_keep_attrs(c, "axis");
	compose_result(c, 0,
		       compose_node(c, "same", op_type, 3, compose_input(c, 0),
				    compose_input(c, 1), compose_input(c, 2)));
	return true;
}

bool
compose_quantize(struct compose *c)
{
	return same_operator(c, "QuantizeLinear");
}

bool
compose_dequantize(struct compose *c)
{
	return same_operator(c, "DequantizeLinear");
}
