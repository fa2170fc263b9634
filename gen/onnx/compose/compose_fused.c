/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft that onnxruntime's optimizer makes of several: a
 * matrix product with the operators after it, an addition with the activation
 * or normalization after it.
 *
 *	before	y = com.microsoft.BiasGelu(a, b)
 *	after	y_sum = Add(a, b)
 *		y = Gelu(y_sum)
 */
#include "compose.h"

/* -- activations -- */

bool
compose_gelu(struct compose *c)
{
	compose_result(c, 0, compose_1(c, "gelu", "Gelu", compose_input(c, 0)));
	return true;
}

/* Input 0, plus input 1 (the bias) if it is present. */
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
compose_gemm_fast_gelu(struct compose *c)
{
	struct tensor *x = compose_2(c, "product", "MatMul",
				     compose_input(c, 0), compose_input(c, 1));

	if (compose_input(c, 2)) {
		x = compose_2(c, "sum", "Add", x, compose_input(c, 2));
	}
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

/* -- products -- */

/* x as the operand of a matrix product. `batch`: dimension 0 has the rows and
 * the batch dimensions follow it. `columns`: the matrices are transposed. */
static struct tensor *
matrices(struct compose *c, const char *what, struct tensor *x, bool batch,
	 bool columns)
{
	int64_t perm[ONNX_MAX_RANK];
	int n = x->ndim;

	if (n < 2 || (!columns && (!batch || n == 2))) {
		return x;
	}
	for (int d = 0; d < n - 2; d++) {
		perm[d] = d + batch;
	}
	perm[n - 2] = batch ? 0 : n - 2;
	perm[n - 1] = n - 1;
	if (columns) {
		perm[n - 1] = perm[n - 2];
		perm[n - 2] = n - 1;
	}
	return compose_transpose(c, what, x, perm);
}

bool
compose_fused_matmul(struct compose *c)
{
	static const char *const whats[] = { "a", "b" };
	static const char *const batches[] = { "transBatchA", "transBatchB" };
	static const char *const columns[] = { "transA", "transB" };
	double alpha = node_attr_float(c->node, "alpha", 1);
	struct tensor *in[2], *y;

	for (int i = 0; i < 2; i++) {
		in[i] = matrices(c, whats[i], compose_input(c, i),
				 node_attr_int(c->node, batches[i], 0) != 0,
				 node_attr_int(c->node, columns[i], 0) != 0);
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
	compose_result(c, 0, compose_activate(c, y, given, 2));
	return true;
}

/* The distance of each row of a from each row of b: the sum of the squared
 * differences, or its square root. */
bool
compose_distances(struct compose *c)
{
	const char *metric = node_attr_string(c->node, "metric", "sqeuclidean");
	struct tensor *a = compose_input(c, 0), *b = compose_input(c, 1), *y;
	bool root = strcmp(metric, "euclidean") == 0;

	if (!root && strcmp(metric, "sqeuclidean") != 0) {
		return compose_refuse(c, "the metric '%s' is not supported",
				      metric);
	}
	if (a->ndim != 2 || b->ndim != 2) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its inputs need 2 dimensions each; "
				     "correct the model");
	}
	y = compose_2(c, "differences", "Sub", compose_unsqueeze(c, "a", a, 1),
		      compose_unsqueeze(c, "b", b, 0));
	y = compose_reduce(c, "sum", "ReduceSumSquare", y, 2, false);
	compose_result(c, 0, root ? compose_1(c, "root", "Sqrt", y) : y);
	return true;
}

/* -- normalizations -- */

/* Softmax over all dimensions from `axis` on together. */
bool
compose_bias_softmax(struct compose *c)
{
	struct tensor *x = compose_2(c, "sum", "Add", compose_input(c, 0),
				     compose_input(c, 1));
	int64_t axis = node_attr_int(c->node, "axis", 1);
	struct tensor *y = x;

	axis += axis < 0 ? x->ndim : 0;
	if (axis < 0 || axis >= x->ndim) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "its axis is %lld, of %d dimensions; "
				     "correct the model",
				     (long long)axis, x->ndim);
	}
	if (axis < x->ndim - 1) {
		compose_set_int(c, "axis", axis);
		y = compose_1(c, "flat", "Flatten", y);
	}
	compose_set_int(c, "axis", -1);
	y = compose_1(c, "softmax", "Softmax", y);
	compose_result(c, 0,
		       compose_reshape(c, "shaped", y, x->ndim, x->shape));
	return true;
}

/* LayerNormalization of x over its last dimension, with all of its outputs that
 * the node has; gamma, beta: numbers of the inputs. */
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
	for (int k = 0; k < n_out; k++) {
		compose_result(c, k, out[k]);
	}
}

/* Input 0 plus input 1, plus the input with the number `bias` if it is
 * present. */
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
