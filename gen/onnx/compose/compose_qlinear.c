/* SPDX-License-Identifier: Apache-2.0 */
/* QLinearConcat of com.microsoft, which has any number of inputs, and a product
 * for other compositions; the rest is in compositions/qlinear.onnxtxt. */
#include "compose.h"

/* Input i, dequantized with its scale (input i + 1) and zero point (input i +
 * 2). */
static struct tensor *
real(struct compose *c, const char *what, int i)
{
	return compose_node(c, what, "DequantizeLinear", 3, compose_input(c, i),
			    compose_input(c, i + 1), compose_input(c, i + 2));
}

/* The inputs of the node: the scale and the zero point of the result; then, for
 * each operand, the operand itself, its scale and its zero point. */
bool
compose_qlinear_concat(struct compose *c)
{
	static const char *const what = "real";
	/* the last zero point may be absent, so that the last group has only
	 * two inputs */
	int n = c->node->n_inputs / 3;
	struct tensor **parts = arena_array(&c->imp->tmp, struct tensor *,
					    n + 1);
	struct tensor *joined, *y, *in[4];

	if (n < 1 || c->node->n_inputs % 3 == 0) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "each of its tensors needs a scale and a "
				     "zero point; correct the model");
	}
	for (int i = 0; i < n; i++) {
		if (!compose_needs(c, 3, 0, 2 + 3 * i, 3 + 3 * i)) {
			return false;
		}
		parts[i] = real(c, "part", 2 + 3 * i);
	}
	compose_keep_attrs(c, "axis");
	compose_nodes(c, "", "Concat", parts, n, &what, 1, &joined);
	in[0] = joined;
	in[1] = compose_input(c, 0);
	in[2] = compose_input(c, 1);
	in[3] = compose_input(c, 2);
	compose_piece(c, "QuantizeAs", in, 4, NULL, &y, 1);
	compose_result(c, 0, y);
	return true;
}

struct tensor *
compose_scaled_product(struct compose *c, struct tensor *a, struct tensor *b,
		       struct tensor *a_zero, struct tensor *b_zero,
		       struct tensor *a_scale, struct tensor *b_scale,
		       struct tensor *bias)
{
	struct tensor *in[] = { a, b, a_zero, b_zero, a_scale, b_scale, bias };
	struct tensor *y;

	compose_piece(c, "ScaledProduct", in, 7, NULL, &y, 1);
	return y;
}
