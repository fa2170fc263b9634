/* SPDX-License-Identifier: Apache-2.0 */
/* One training step of an optimizer, which has any number of tensors:
 * compositions/optimizer.onnxtxt has the step of one.
 *
 *	before	x2, v2 = Momentum<alpha=a, beta=b>(r, t, x, g, v)
 *	after	x2_regular = norm_coefficient * x + g
 *		v2 = a * v + (t > 0 ? b : 1) * x2_regular
 *		x2 = x - r * v2
 */
#include "compose.h"

/* The inputs are the rate, the update count, then for each kind (x, gradient,
 * moments) n tensors. The outputs are all of these except the gradients. */
bool
compose_optimizer(struct compose *c)
{
	int kinds = strcmp(c->node->op_type, "Adam") == 0 ? 4 : 3;
	int n = (c->node->n_inputs - 2) / kinds;
	struct tensor *rate = compose_input(c, 0);
	struct tensor *count = compose_cast(c, "count", compose_input(c, 1),
					    rate->type);

	if (n * kinds + 2 != c->node->n_inputs) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "it has %d inputs; a rate, a count and %d "
				     "for each tensor are needed",
				     c->node->n_inputs, kinds);
	}
	for (int i = 0; i < n; i++) {
		struct tensor *in[6], *out[3];
		struct tensor *x = compose_input(c, 2 + i);

		in[0] = compose_cast(c, "rate_cast", rate, x->type);
		in[1] = compose_cast(c, "count_cast", count, x->type);
		for (int k = 0; k < kinds; k++) {
			in[2 + k] = compose_input(c, 2 + k * n + i);
		}
		compose_keep_attrs(c, "norm_coefficient norm_coefficient_post "
				      "alpha beta mode epsilon decay_factor");
		compose_piece(c, c->node->op_type, in, 2 + kinds, NULL, out,
			      kinds - 1);
		for (int k = 0; k < kinds - 1; k++) {
			compose_result(c, k * n + i, out[k]);
		}
	}
	return true;
}
