/* SPDX-License-Identifier: Apache-2.0 */
/* Activations of several inputs. */
#include "compose.h"

/* swish(a) * b, with swish(a) = a * sigmoid(alpha * a) */
bool
compose_swiglu(struct compose *c)
{
	struct tensor *swish;

	compose_set_float(c, "alpha", node_attr_float(c->node, "alpha", 1));
	swish = compose_1(c, "swish", "Swish", compose_input(c, 0));
	compose_result(c, 0,
		       compose_2(c, "product", "Mul", swish,
				 compose_input(c, 1)));
	return true;
}
