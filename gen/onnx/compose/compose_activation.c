/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are an activation of several inputs, and the activations that
 * the attribute `activation` of fused operators names. */
#include "compose.h"

#include <math.h>

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

/* The activations that a fused node may name, with the names of their
 * parameters in order. */
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

struct tensor *
compose_activate(struct compose *c, struct tensor *x, const double *given,
		 int n)
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
	for (size_t i = 0; i < count; i++) {
		const struct activation *a = &activations[i];

		if (strcmp(a->op_type, name) != 0) {
			continue;
		}
		for (int k = 0; k < 2 && k < n && a->parameters[k]; k++) {
			compose_set_float(c, a->parameters[k], given[k]);
		}
		return compose_1(c, "active", name, x);
	}
	assert(!"an activation of attr_values.def");
	return x;
}
