/* SPDX-License-Identifier: Apache-2.0 */
/* One training step of an optimizer: updates n tensors and their moments from
 * their gradients.
 *
 *	before	x2, v2 = Momentum<alpha=a, beta=b>(r, t, x, g, v)
 *	after	x2_regular = norm_coefficient * x + g
 *		v2 = a * v + (t > 0 ? b : 1) * x2_regular
 *		x2 = x - r * v2
 */
#include "compose.h"

/* The piece of compositions/optimizer.onnxtxt for one tensor, and its
 * attributes. */
struct step {
	const char *piece, *attributes;
	int kinds;
};

/* The inputs are the rate, the update count, then for each of `kinds` kinds (x,
 * gradient, moments) n tensors. The outputs are all of these except the
 * gradients. */
static bool
optimize(struct compose *c, const struct step *step)
{
	int kinds = step->kinds, n = (c->node->n_inputs - 2) / kinds;
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
		compose_keep_attrs(c, step->attributes);
		compose_piece(c, step->piece, in, 2 + kinds, out, kinds - 1);
		for (int k = 0; k < kinds - 1; k++) {
			compose_result(c, k * n + i, out[k]);
		}
	}
	return true;
}

bool
compose_momentum(struct compose *c)
{
	static const struct step step = { "Momentum",
					  "norm_coefficient alpha beta mode",
					  3 };

	return optimize(c, &step);
}

bool
compose_adagrad(struct compose *c)
{
	static const struct step step = {
		"Adagrad", "norm_coefficient epsilon decay_factor", 3
	};

	return optimize(c, &step);
}

bool
compose_adam(struct compose *c)
{
	static const struct step step = {
		"Adam",
		"norm_coefficient norm_coefficient_post alpha beta epsilon", 4
	};

	return optimize(c, &step);
}
