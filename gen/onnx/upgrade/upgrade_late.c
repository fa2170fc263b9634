/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters that depend on the types and shapes of a node's inputs. */
#include "upgrade.h"

#include "define.h"
#include "ops.h"

#include <float.h>
#include <math.h>

static struct tensor *
known_input(const struct upgrade *u, int i)
{
	struct tensor *t = i < u->node->n_inputs ? u->node->inputs[i] : NULL;

	return t && t->typed && t->ndim >= 0 ? t : NULL;
}

/* Appends dimensions of size 1 to input i, so that the input broadcasts to a
 * tensor of rank `rank`, with the input's first dimension at `axis` of this
 * tensor. */
static void
append_ones(struct upgrade *u, int i, int axis, int rank)
{
	struct tensor *t = u->node->inputs[i];
	int from = t->ndim, n = rank - axis - from;
	int64_t *axes = arena_array(&u->imp->tmp, int64_t, rank + 1);
	struct tensor *out, *in[2];

	for (int k = 0; k < n; k++) {
		axes[k] = from + k;
	}
	if (n > 0) {
		out = upgrade_tensor(u, "aligned");
		in[0] = t;
		in[1] = graph_constant_ints(u->g,
					    arena_printf(&u->imp->tmp,
							 "%s_axes", out->name),
					    n, axes);
		upgrade_insert(u, u->pos, "Unsqueeze", in, 2, out);
		u->pos++;
		node_set_input(u->node, i, out);
	}
}

/* Before opset 7, the attribute axis says to which dimension the first
 * dimension of the second operand belongs.
 *
 *	before	y = Add<broadcast=1, axis=1>(a, b)   # a: [n, c, h, w], b: [c]
 *	after	b2 = Unsqueeze(b, [1, 2])
 *		y = Add(a, b2)
 */
bool
upgrade_broadcast(struct upgrade *u)
{
	const struct tensor *a = known_input(u, 0), *b = known_input(u, 1);
	int64_t axis = node_attr_int(u->node, "axis", -1);

	if (a && b && node_attr_int(u->node, "broadcast", 0) &&
	    node_attr(u->node, "axis")) {
		axis += axis < 0 ? a->ndim : 0;
		if (axis < 0 || axis + b->ndim > a->ndim) {
			return diag_error(&u->imp->m->diags, DIAG_BAD_ATTRIBUTE,
					  node_place(u->g, u->node),
					  "the second input does not fit into "
					  "the first at its axis; correct the "
					  "attribute");
		}
		append_ones(u, 1, (int)axis, a->ndim);
	}
	node_remove_attr(u->node, "axis");
	node_remove_attr(u->node, "broadcast");
	return true;
}

/* Before opset 7, PRelu has one slope or one for each channel. */
bool
upgrade_prelu(struct upgrade *u)
{
	const struct tensor *x = known_input(u, 0), *slope = known_input(u, 1);

	if (x && slope && slope->ndim == 1 && x->ndim > 1 &&
	    !expr_is_value(slope->shape[0], 1)) {
		append_ones(u, 1, 1, x->ndim);
	}
	return true;
}

/* From opset 23 on, QuantizeLinear divides in the type that the attribute
 * precision names, or else in that of the scale; before, and here without the
 * attribute, in at least 32 bits. */
bool
upgrade_quantize(struct upgrade *u)
{
	const struct tensor *scale = known_input(u, 1);
	int64_t number = node_attr_int(u->node, "precision", 0);
	struct dtype t = dtype_of(DT_F32);

	if (u->version >= 23 && number != 0 &&
	    (!dtype_from_onnx(number, &t) || !dtype_is_float(t) ||
	     dtype_bits(t) < 16)) {
		return upgrade_refuse(u,
				      "its precision is not a float of 16 bits "
				      "or more; correct the attribute");
	}
	if (u->version >= 23 && number == 0 && scale != NULL &&
	    dtype_is_float(scale->type) && dtype_bits(scale->type) == 16) {
		t = scale->type;
	}
	node_remove_attr(u->node, "precision");
	if (t.kind != DT_F32) {
		node_set_attr_int(u->g, u->node, "precision",
				  dtype_onnx_number(t));
	}
	return true;
}

/* Is v an integer in [least, INT32_MAX]? */
static bool
is_count(double v, double least)
{
	return v >= least && v <= INT32_MAX && v == floor(v);
}

/* In version 1, the tensor with the sizes of the parts has the type of x, also
 * a float type. */
bool
upgrade_split(struct upgrade *u)
{
	struct tensor *sizes = known_input(u, 1);
	int64_t *list;

	if (!sizes || !dtype_is_float(sizes->type)) {
		return true;
	}
	if (!tensor_known(u->imp->m, sizes)) {
		return diag_error(&u->imp->m->diags, DIAG_UNSUPPORTED,
				  node_place(u->g, u->node),
				  "the sizes of its parts are not constant; "
				  "make them an initializer");
	}
	list = arena_array(&u->imp->tmp, int64_t, sizes->n_elems + 1);
	for (int i = 0; i < sizes->n_elems; i++) {
		const struct expr *e = sizes->elems[i];

		if (e->kind != EXPR_FLOAT || !is_count(e->u.fval, 0)) {
			return diag_error(
				&u->imp->m->diags, DIAG_BAD_SHAPE,
				node_place(u->g, u->node),
				"the sizes of its parts are not whole "
				"numbers; correct the model");
		}
		list[i] = (int64_t)e->u.fval;
	}
	upgrade_input_ints(u, 1, "split", list, sizes->n_elems);
	return true;
}

/*	before	y = Tile(x, tiles, axis)
 *	after	y = Tile(x, y_repeats) */
bool
upgrade_tile(struct upgrade *u)
{
	struct tensor *x = known_input(u, 0);
	double tiles, axis;
	int64_t *repeats, at;

	if (!x || u->node->n_inputs < 3) {
		return true;
	}
	/* in version 1, tiles and axis have the type of x */
	if (!input_scalar(u->node, 1, &tiles) ||
	    !input_scalar(u->node, 2, &axis) || !is_count(tiles, 0) ||
	    !is_count(axis, -x->ndim)) {
		return diag_error(&u->imp->m->diags, DIAG_UNSUPPORTED,
				  node_place(u->g, u->node),
				  "its tiles and axis are not constant whole "
				  "numbers; make them initializers");
	}
	at = (int64_t)axis + (axis < 0 ? x->ndim : 0);
	if (at < 0 || at >= x->ndim) {
		return diag_error(&u->imp->m->diags, DIAG_BAD_ATTRIBUTE,
				  node_place(u->g, u->node),
				  "its axis is outside of the input's "
				  "dimensions; correct the model");
	}
	repeats = arena_array(&u->imp->tmp, int64_t, x->ndim + 1);
	for (int d = 0; d < x->ndim; d++) {
		repeats[d] = d == at ? (int64_t)tiles : 1;
	}
	upgrade_input_ints(u, 1, "repeats", repeats, x->ndim);
	upgrade_set_n_inputs(u, 2);
	return true;
}

/*	before	y = Clip<min=0, max=6>(x)
 *	after	y = Clip(x, y_min, y_max)
 *
 * From version 6 on, the default of an attribute is the end of float32's range,
 * so that infinities are limited, too. Of the 16-bit floats, only infinities
 * are beyond that range. */
bool
upgrade_clip(struct upgrade *u)
{
	static const char *const names[] = { "min", "max" };
	static const double defaults[] = { -FLT_MAX, FLT_MAX };
	const struct tensor *x = known_input(u, 0);

	for (int i = 0; i < 2 && x; i++) {
		const struct attr *a = node_attr(u->node, names[i]);

		if (a && a->kind == ATTR_FLOAT) {
			upgrade_input_scalar(u, i + 1, names[i], x->type, a->f);
		} else if (!a && u->version >= 6 && dtype_bits(x->type) > 16) {
			upgrade_input_scalar(u, i + 1, names[i], x->type,
					     defaults[i]);
		}
		node_remove_attr(u->node, names[i]);
	}
	return true;
}

/*	before	y = Pad<pads=[…], value=0>(x)
 *	after	y = Pad(x, y_pads, y_value) */
bool
upgrade_pad(struct upgrade *u)
{
	const struct tensor *x = known_input(u, 0);
	double value = node_attr_float(u->node, "value", 0);
	const int64_t *pads;
	int n = node_attr_ints(u->node, "pads", &pads);

	if (!x) {
		return true;
	}
	if (n > 0) {
		upgrade_input_ints(u, 1, "pads", pads, n);
	}
	if (value != 0) {
		upgrade_input_scalar(u, 2, "value", x->type, value);
	}
	node_remove_attr(u->node, "pads");
	node_remove_attr(u->node, "value");
	return true;
}

/* The only dimension from `axis` on that is not 1; `axis` if all are 1, -1 if
 * several are not. */
static int
only_dim(const struct tensor *x, int axis)
{
	int found = -1;

	for (int d = axis; d < x->ndim; d++) {
		if (!expr_is_value(x->shape[d], 1)) {
			if (found >= 0) {
				return -1;
			}
			found = d;
		}
	}
	return found >= 0 ? found : axis;
}

/* The shape of x: a constant with -1 for an unknown size; if several sizes are
 * unknown, or a size is 0, the result of a new Shape node at pos. */
static struct tensor *
shape_of(struct upgrade *u, struct tensor *x, int pos)
{
	int64_t *sizes = arena_array(&u->imp->tmp, int64_t, x->ndim + 1);
	struct tensor *shape;
	int n_open = 0;
	bool zero = false;

	for (int d = 0; d < x->ndim; d++) {
		if (!expr_is_int(x->shape[d], &sizes[d])) {
			sizes[d] = -1;
			n_open++;
		} else {
			zero = zero || sizes[d] == 0;
		}
	}
	if (n_open > 1 || zero) {
		shape = upgrade_tensor(u, "shape");
		upgrade_insert(u, pos, "Shape", &x, 1, shape);
		return shape;
	}
	return graph_constant_ints(u->g,
				   arena_printf(&u->imp->tmp, "%s_shape",
						u->node->outputs[0]->name),
				   x->ndim, sizes);
}

/* Before opset 13 the softmax operators flatten the input to a matrix: the
 * dimensions before axis become the rows, the remaining dimensions the
 * columns.
 *
 *	before	y = Softmax<axis=1>(x)          # x: [n, c, h, w]
 *	after	f = Flatten<axis=1>(x)
 *		m = Softmax<axis=1>(f)
 *		y = Reshape(m, [-1, c, h, w])
 *
 * If only one of the dimensions from axis on is not 1, the node stays, and only
 * its axis is changed. */
bool
upgrade_softmax(struct upgrade *u)
{
	struct tensor *x = known_input(u, 0);
	struct tensor *y = u->node->n_outputs > 0 ? u->node->outputs[0] : NULL;
	int64_t axis = node_attr_int(u->node, "axis", 1);

	if (!x || !y) {
		return true;
	}
	/* The operator itself reports a bad axis of a vector or scalar; only
	 * without the attribute axis does a vector get the axis 0 instead of
	 * the default 1. */
	if (x->ndim <= 1 || axis < -x->ndim || axis >= x->ndim) {
		if (x->ndim == 1 && !node_attr(u->node, "axis")) {
			axis = 0;
		}
		node_set_attr_int(u->g, u->node, "axis", axis);
		return true;
	}
	int from = (int)(axis < 0 ? axis + x->ndim : axis);
	int only = only_dim(x, from);

	if (only >= 0) {
		node_set_attr_int(u->g, u->node, "axis", only);
		return true;
	}
	struct tensor *flat = upgrade_tensor(u, "flat");
	struct tensor *soft = upgrade_tensor(u, "matrix");
	struct node *flatten = upgrade_insert(u, u->pos, "Flatten", &x, 1,
					      flat);
	node_set_attr_int(u->g, flatten, "axis", from);
	node_set_input(u->node, 0, flat);
	u->node->outputs[0] = soft;
	soft->producer = u->node;
	soft->output_index = 0;
	node_set_attr_int(u->g, u->node, "axis", 1);
	y->producer = NULL;
	struct tensor *back[] = { soft, shape_of(u, x, u->pos + 2) };

	struct node *reshape = upgrade_insert(u,
					      back[1]->producer ? u->pos + 3
								: u->pos + 2,
					      "Reshape", back, 2, y);
	if (back[1]->producer) {
		node_set_attr_int(u->g, reshape, "allowzero", 1);
	}
	return true;
}

/* Makes input i, a list with a value for each group, a list with a value for
 * each channel: each value is repeated for all channels of its group. */
static void
per_channel(struct upgrade *u, int i, const char *what, int64_t groups,
	    int64_t channels)
{
	struct tensor *t = u->node->inputs[i];
	const int64_t column[] = { groups, 1 };
	const int64_t matrix[] = { groups, channels / groups };
	const int64_t *const shapes[] = { column, matrix, &channels };
	static const char *const ops[] = { "Reshape", "Expand", "Reshape" };

	for (int k = 0; k < 3; k++) {
		const char *name = arena_printf(&u->imp->tmp, "%s%d", what, k);
		struct tensor *out = upgrade_tensor(u, name);
		struct tensor *in[] = {
			t,
			graph_constant_ints(u->g,
					    arena_printf(&u->imp->tmp,
							 "%s_shape", out->name),
					    k < 2 ? 2 : 1, shapes[k])
		};

		upgrade_insert(u, u->pos, ops[k], in, 2, out);
		u->pos++;
		t = out;
	}
	node_set_input(u->node, i, t);
}

/* Before opset 21, scale and bias have one value for each group, later one for
 * each channel.
 *
 *	before	y = GroupNormalization<num_groups=2>(x, s, b)   # s: [2]
 *	after	y = GroupNormalization<num_groups=2>(x, s2, b2) # s2: [c]
 */
bool
upgrade_group_norm(struct upgrade *u)
{
	const struct tensor *x = known_input(u, 0);
	int64_t groups = node_attr_int(u->node, "num_groups", 0), channels;

	for (int i = 1; i <= 2; i++) {
		const struct tensor *t = known_input(u, i);

		if (!t || !x || x->ndim < 2 || t->ndim != 1 || groups < 1 ||
		    !expr_is_int(x->shape[1], &channels) ||
		    channels % groups != 0) {
			return true; /* inference reports the error */
		}
		if (expr_is_value(t->shape[0], groups)) {
			per_channel(u, i, i == 1 ? "scale" : "bias", groups,
				    channels);
		}
	}
	return true;
}
