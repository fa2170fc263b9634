/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move or compare strings. A tensor of strings of shape [n] is
 * stored as bytes of shape [n, bytes]; each string is filled up with zeros. So
 * most operators become the same operator on bytes:
 *
 *	before	y = Equal(a, b)			# a, b: string[3]
 *	after	y_bytes = Equal(a, b)		# a, b: uint8[3, 64]
 *		y = ReduceMin(y_bytes, [-1])
 *
 * If an operator combines several tensors of strings, the strings of all are
 * first extended to the largest number of bytes. */
#include "compose_strings.h"

#include "ops.h"

int64_t
string_bytes(const struct tensor *x)
{
	int64_t bytes = 1;

	/* never symbolic: constants and options determine it */
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
					     "input %d is no tensor of "
					     "strings; correct the model",
					     i);
		}
	}
	return true;
}

/* Is input 0 a tensor of strings? Every composition that moves strings checks
 * this first; false after a diagnostic. */
static bool
one_string(struct compose *c)
{
	return compose_input(c, 0)->is_string || string_inputs(c, 0);
}

/* The largest number of bytes of a string in the inputs from `first` on. */
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

/* Copies the attribute axis of the model's node to the next node. */
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

/* The axes in input i, counted from the start; NULL after a diagnostic. */
static const int64_t *
axes_of(struct compose *c, int i, int rank, int *n)
{
	const int64_t *given;
	int64_t *axes;

	if (!input_ints(c->m, c->node, i, &given, n)) {
		compose_refuse(c, "its axes must be constants");
		return NULL;
	}
	axes = arena_array(&c->imp->tmp, int64_t, *n + 1);
	for (int k = 0; k < *n; k++) {
		if (!axis_of(c, given[k], rank, &axes[k])) {
			return NULL;
		}
	}
	return axes;
}

/* The list `sizes` with one more element, the number of bytes. */
static struct tensor *
sizes_with(struct compose *c, struct tensor *sizes, int64_t last)
{
	return compose_concat(c, "sizes", 0, sizes,
			      compose_ints(c, "bytes", 1, &last));
}

bool
compose_string_identity(struct compose *c)
{
	string_result(c, 0, compose_input(c, 0));
	return true;
}

bool
compose_string_equal(struct compose *c)
{
	int64_t bytes;
	struct tensor *same;

	if (!string_inputs(c, 0)) {
		return false;
	}
	bytes = most_bytes(c, 0);
	same = compose_2(c, "bytes", "Equal",
			 string_widen(c, compose_input(c, 0), bytes),
			 string_widen(c, compose_input(c, 1), bytes));
	compose_result(c, 0,
		       compose_reduce(c, "equal", "ReduceMin", same, -1,
				      false));
	return true;
}

bool
compose_string_where(struct compose *c)
{
	int64_t bytes;

	if (!string_inputs(c, 1)) {
		return false;
	}
	bytes = most_bytes(c, 1);
	string_result(c, 0,
		      compose_node(c, "where", "Where", 3,
				   compose_unsqueeze(c, "condition",
						     compose_input(c, 0), -1),
				   string_widen(c, compose_input(c, 1), bytes),
				   string_widen(c, compose_input(c, 2),
						bytes)));
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

bool
compose_string_gather(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);

	if (!one_string(c) || !set_axis(c, 0, tensor_rank(x))) {
		return false;
	}
	string_result(c, 0,
		      compose_2(c, "gather", "Gather", x, compose_input(c, 1)));
	return true;
}

bool
compose_string_gather_nd(struct compose *c)
{
	if (!one_string(c)) {
		return false;
	}
	compose_keep_attrs(c, "batch_dims");
	string_result(c, 0,
		      compose_2(c, "gather", "GatherND", compose_input(c, 0),
				compose_input(c, 1)));
	return true;
}

/* GatherElements: the indices are repeated for all bytes of a string. */
bool
compose_string_gather_elements(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *at;
	const struct expr **shape;

	if (!one_string(c)) {
		return false;
	}
	at = compose_unsqueeze(c, "column", compose_input(c, 1), -1);
	shape = arena_array(&c->imp->tmp, const struct expr *, at->ndim + 1);
	for (int d = 0; d < at->ndim - 1; d++) {
		shape[d] = at->shape[d];
	}
	shape[at->ndim - 1] = x->shape[x->ndim - 1];
	at = compose_2(c, "index", "Expand", at,
		       compose_sizes(c, "index_shape", at->ndim, shape));
	if (!set_axis(c, 0, tensor_rank(x))) {
		return false;
	}
	string_result(c, 0, compose_2(c, "gather", "GatherElements", x, at));
	return true;
}

bool
compose_string_reshape(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *sizes;

	if (!one_string(c)) {
		return false;
	}
	sizes = sizes_with(c, compose_input(c, 1), string_bytes(x));
	compose_keep_attrs(c, "allowzero");
	string_result(c, 0, compose_2(c, "reshape", "Reshape", x, sizes));
	return true;
}

bool
compose_string_expand(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);

	if (!one_string(c)) {
		return false;
	}
	string_result(c, 0,
		      compose_2(c, "expand", "Expand", x,
				sizes_with(c, compose_input(c, 1),
					   string_bytes(x))));
	return true;
}

bool
compose_string_tile(struct compose *c)
{
	if (!one_string(c)) {
		return false;
	}
	string_result(c, 0,
		      compose_2(c, "tile", "Tile", compose_input(c, 0),
				sizes_with(c, compose_input(c, 1), 1)));
	return true;
}

bool
compose_string_flatten(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	int64_t axis = node_attr_int(c->node, "axis", 1);
	const struct expr *shape[3];

	axis += axis < 0 ? tensor_rank(x) : 0;
	if (!one_string(c)) {
		return false;
	}
	if (axis < 0 || axis > tensor_rank(x)) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "axis is outside of the input's "
				     "dimensions; correct the model");
	}
	shape[0] = shape[1] = expr_i32(c->m, 1);
	for (int d = 0; d < tensor_rank(x); d++) {
		shape[d >= axis] = expr_mul(c->m, shape[d >= axis],
					    x->shape[d]);
	}
	shape[2] = x->shape[x->ndim - 1];
	string_result(c, 0, compose_reshape(c, "flat", x, 3, shape));
	return true;
}

bool
compose_string_squeeze(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	int rank = tensor_rank(x), n = 0;
	int64_t *ones = arena_array(&c->imp->tmp, int64_t, rank + 1);
	const int64_t *axes = ones;

	if (!one_string(c)) {
		return false;
	}
	for (int d = 0; d < rank && !compose_input(c, 1); d++) {
		if (expr_is_value(x->shape[d], 1)) {
			ones[n++] = d;
		}
	}
	if (compose_input(c, 1)) {
		axes = axes_of(c, 1, rank, &n);
	}
	if (!axes) {
		return false;
	}
	string_result(c, 0,
		      n == 0 ? x
			     : compose_2(c, "squeezed", "Squeeze", x,
					 compose_ints(c, "axes", n, axes)));
	return true;
}

bool
compose_string_unsqueeze(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	const struct expr *const *elems;
	const int64_t *axes;
	int n = 0;

	if (!one_string(c)) {
		return false;
	}
	input_elems(c->m, c->node, 1, &elems, &n);
	axes = axes_of(c, 1, tensor_rank(x) + n, &n);
	if (!axes) {
		return false;
	}
	string_result(c, 0,
		      compose_2(c, "unsqueezed", "Unsqueeze", x,
				compose_ints(c, "axes", n, axes)));
	return true;
}

bool
compose_string_transpose(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	const struct attr *given = node_attr(c->node, "perm");
	int rank = tensor_rank(x);
	int64_t perm[ONNX_MAX_RANK];

	if (!one_string(c)) {
		return false;
	}
	if (given && given->n != rank) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "perm must have an element for each "
				     "dimension; correct the model");
	}
	for (int d = 0; d < rank; d++) {
		perm[d] = given ? given->ints[d] : rank - 1 - d;
	}
	perm[rank] = rank;
	string_result(c, 0, compose_transpose(c, "turned", x, perm));
	return true;
}

/* Slice with explicit axes: without them, the dimension of bytes would be
 * sliced. */
bool
compose_string_slice(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	const struct expr *const *elems;
	int64_t first[ONNX_MAX_RANK];
	const int64_t *axes = first;
	int n = 0;

	if (!one_string(c)) {
		return false;
	}
	if (compose_input(c, 3)) {
		axes = axes_of(c, 3, tensor_rank(x), &n);
		if (!axes) {
			return false;
		}
	} else if (!input_elems(c->m, c->node, 1, &elems, &n)) {
		return compose_refuse(c,
				      "the number of its starts must be known");
	}
	if (n > tensor_rank(x)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "it has more axes than dimensions; "
				     "correct the model");
	}
	for (int d = 0; axes == first && d < n; d++) {
		first[d] = d;
	}
	string_result(c, 0,
		      compose_node(c, "slice", "Slice", 5, x,
				   compose_input(c, 1), compose_input(c, 2),
				   compose_ints(c, "axes", n, axes),
				   compose_input(c, 4)));
	return true;
}

/* The dimension that the attribute start or end of Shape means. */
static int64_t
shape_position(const struct compose *c, const char *name, int64_t missing,
	       int rank)
{
	int64_t at = node_attr_int(c->node, name, missing);

	at += at < 0 ? rank : 0;
	return at < 0 ? 0 : at > rank ? rank : at;
}

bool
compose_string_shape(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);
	int rank = tensor_rank(x);

	compose_set_int(c, "start", shape_position(c, "start", 0, rank));
	compose_set_int(c, "end", shape_position(c, "end", rank, rank));
	compose_result(c, 0, compose_1(c, "shape", "Shape", x));
	return true;
}

bool
compose_string_size(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *shape;

	compose_set_int(c, "end", tensor_rank(x));
	shape = compose_1(c, "shape", "Shape", x);
	compose_result(c, 0,
		       compose_reduce(c, "size", "ReduceProd", shape, 0,
				      false));
	return true;
}
