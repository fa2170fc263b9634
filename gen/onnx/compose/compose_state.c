/* SPDX-License-Identifier: Apache-2.0 */
/* Operators over the tokens of a sequence that keep a state from one call to
 * the next. */
#include "compose.h"

/* A convolution of each channel along the sequence that uses only earlier
 * elements: the state has the last k - 1 elements of the calls before.
 *
 *	before	y, present = CausalConvWithState(x, w, b, past)  # w: [c, 1, k]
 *	after	y_padded = Concat<axis=2>(past, x)
 *		y = Conv<group=c>(y_padded, w, b)
 *		present = y_padded[:, :, -(k - 1):]
 */
bool
compose_causal_conv(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *w = compose_input(c, 1);
	struct tensor *past = compose_input(c, 3), *padded = x, *y;
	const char *act = node_attr_string(c->node, "activation", "none");
	int64_t channels, k;

	if (x->ndim != 3 || w->ndim != 3) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "the input and the weights have %d and %d "
				     "dimensions; they need 3 each",
				     x->ndim, w->ndim);
	}
	if (!compose_known_dim(c, w, 0, &channels) ||
	    !compose_known_dim(c, w, 2, &k)) {
		return false;
	}
	if (past) {
		padded = compose_concat(c, "padded", 2, past, x);
	} else if (k > 1) {
		const int64_t pads[] = { 0, 0, k - 1, 0, 0, 0 };

		padded = compose_2(c, "padded", "Pad", x,
				   compose_ints(c, "pads", 6, pads));
	}
	compose_set_int(c, "group", channels);
	y = compose_node(c, "conv", "Conv", 3, padded, w, compose_input(c, 2));
	if (strcmp(act, "none") != 0) {
		y = compose_1(c, "active", "Swish", y);
	}
	compose_result(c, 0, y);
	if (compose_wants(c, 1)) {
		compose_result(c, 1,
			       compose_slice(c, "last", padded, 2, x->shape[2],
					     NULL));
	}
	return true;
}

static bool
check_linear(struct compose *c, int64_t heads, int64_t kv_heads)
{
	const char *rule = node_attr_string(c->node, "update_rule",
					    "gated_delta");
	bool gated = strncmp(rule, "gated", 5) == 0;
	bool delta = strstr(rule, "delta") != NULL;

	if (gated != !!compose_input(c, 4) || delta != !!compose_input(c, 5)) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "the update_rule '%s' needs %s decay and "
				     "%s beta",
				     rule, gated ? "a" : "no",
				     delta ? "a" : "no");
	}
	if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "it has %lld heads of the query and %lld "
				     "of the key; the first must be a multiple",
				     (long long)heads, (long long)kv_heads);
	}
	return true;
}

/* Do the inputs have the right ranks and the right last dimensions? False after
 * a diagnostic. */
static bool
check_sizes(struct compose *c, int64_t heads, int64_t kv_heads)
{
	int64_t q, size;

	for (int i = 0; i < 6; i++) {
		const struct tensor *t = compose_input(c, i);

		if (t && t->ndim != (i == 3 ? 4 : 3)) {
			return compose_error(c, DIAG_BAD_SHAPE,
					     "'%s' has %d dimensions; %d are "
					     "needed",
					     t->name, t->ndim, i == 3 ? 4 : 3);
		}
	}
	if (!compose_known_dim(c, compose_input(c, 0), 2, &q)) {
		return false;
	}
	for (int i = 1; i < 6; i++) {
		const struct tensor *t = compose_input(c, i);
		int64_t key = q / heads * kv_heads;

		if (!t || i == 3) {
			continue;
		}
		if (!compose_known_dim(c, t, 2, &size)) {
			return false;
		}
		if ((i == 1 && size != key) || (i == 2 && size % kv_heads) ||
		    (i == 4 && size != key && size != kv_heads) ||
		    (i == 5 && size != 1 && size != kv_heads)) {
			return compose_error(c, DIAG_BAD_SHAPE,
					     "the last dimension of '%s' does "
					     "not agree with the query and "
					     "the heads; correct its shape",
					     t->name);
		}
	}
	return true;
}

/* tirc.LinearAttention, computed with at least 32-bit floats. */
bool
compose_linear_attention(struct compose *c)
{
	static const char *const whats[] = { "read", "state" };
	struct tensor *past = compose_input(c, 3), *out[2];
	struct tensor *in[] = { compose_input(c, 0), compose_input(c, 1),
				compose_input(c, 2), compose_input(c, 4),
				compose_input(c, 5), past };
	int64_t heads = node_attr_int(c->node, "q_num_heads", 0);
	int64_t kv_heads = node_attr_int(c->node, "kv_num_heads", 0);
	int n_in = past ? 6 : in[4] ? 5 : in[3] ? 4 : 3;

	if (!check_linear(c, heads, kv_heads) ||
	    !check_sizes(c, heads, kv_heads)) {
		return false;
	}
	compose_set_int(c, "q_num_heads", heads);
	compose_set_int(c, "kv_num_heads", kv_heads);
	compose_set_float(c, "scale", node_attr_float(c->node, "scale", 0));
	compose_nodes(c, "tirc", "LinearAttention", in, n_in, whats, 2, out);
	compose_result(c, 0, compose_cast(c, "cast", out[0], in[0]->type));
	compose_result(c, 1,
		       compose_cast(c, "state_cast", out[1],
				    past ? past->type : in[0]->type));
	return true;
}
