/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tensors of strings, and the operators on strings that have any
 * number of inputs or outputs; compositions/strings.onnxtxt has the others. */
#include "compose_strings.h"

#include "ops.h"

int64_t
string_bytes(const struct tensor *x)
{
	int64_t bytes = 1;

	/* the extent is always a number, which constants and options
	 * determine */
	expr_is_int(x->shape[x->ndim - 1], &bytes);
	return bytes;
}

struct tensor *
string_widen(struct compose *c, struct tensor *x, int64_t bytes)
{
	int64_t *pads = arena_array(&c->imp->tmp, int64_t, 2 * x->ndim);

	pads[2 * x->ndim - 1] = bytes - string_bytes(x);
	return pads[2 * x->ndim - 1] == 0
		       ? x
		       : compose_2(c, "wide", "Pad", x,
				   compose_ints(c, "pads", 2 * x->ndim, pads));
}

void
string_result(struct compose *c, int k, struct tensor *t)
{
	t->is_string = true;
	compose_result(c, k, t);
}

bool
string_inputs(struct compose *c, int first)
{
	for (int i = first; i < c->node->n_inputs; i++) {
		const struct tensor *t = compose_input(c, i);

		if (!t || !t->is_string) {
			return compose_error(c, DIAG_BAD_TYPE,
					     "input %d is not a tensor of "
					     "strings; correct the model",
					     i);
		}
	}
	return true;
}

/* Is input 0 a tensor of strings? False after a diagnostic. Every composition
 * that moves strings checks this first. */
static bool
one_string(struct compose *c)
{
	return compose_input(c, 0)->is_string || string_inputs(c, 0);
}

/* The length in bytes of the longest possible string in the inputs from index
 * `first` on; at least 1. */
static int64_t
most_bytes(struct compose *c, int first)
{
	int64_t most = 1;

	for (int i = first; i < c->node->n_inputs; i++) {
		int64_t bytes = string_bytes(compose_input(c, i));

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Sets *out to the axis counted from the start, in [0, rank). False after a
 * diagnostic. */
static bool
axis_of(struct compose *c, int64_t axis, int rank, int64_t *out)
{
	*out = axis < 0 ? axis + rank : axis;
	return (*out >= 0 && *out < rank) ||
	       compose_error(c, DIAG_BAD_ATTRIBUTE,
			     "axis %lld is outside of [%d, %d); correct the "
			     "model",
			     (long long)axis, -rank, rank);
}

/* Sets the attribute axis of the next node to that of the model's node, counted
 * from the start; to `missing` if the model's node has none. False after a
 * diagnostic. */
static bool
set_axis(struct compose *c, int64_t missing, int rank)
{
	int64_t axis;

	if (!axis_of(c, node_attr_int(c->node, "axis", missing), rank, &axis)) {
		return false;
	}
	compose_set_int(c, "axis", axis);
	return true;
}

bool
compose_string_concat_axis(struct compose *c)
{
	int n = c->node->n_inputs;
	struct tensor **in = arena_array(&c->imp->tmp, struct tensor *, n);
	const char *what = "joined";
	struct tensor *y;

	if (!string_inputs(c, 0)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		in[i] = string_widen(c, compose_input(c, i), most_bytes(c, 0));
	}
	if (!set_axis(c, 0, tensor_rank(compose_input(c, 0)))) {
		return false;
	}
	compose_nodes(c, "", "Concat", in, n, &what, 1, &y);
	string_result(c, 0, y);
	return true;
}

bool
compose_string_split_axis(struct compose *c)
{
	struct tensor *in[] = { compose_input(c, 0), compose_input(c, 1) };
	int n = c->node->n_outputs;
	struct tensor **out = arena_array(&c->imp->tmp, struct tensor *, n + 1);
	const char **whats = arena_array(&c->imp->tmp, const char *, n + 1);

	if (!one_string(c) || !set_axis(c, 0, tensor_rank(in[0]))) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		whats[k] = arena_printf(&c->imp->tmp, "part_%d", k);
	}
	compose_keep_attrs(c, "num_outputs");
	compose_nodes(c, "", "Split", in, in[1] ? 2 : 1, whats, n, out);
	for (int k = 0; k < n; k++) {
		string_result(c, k, out[k]);
	}
	return true;
}
