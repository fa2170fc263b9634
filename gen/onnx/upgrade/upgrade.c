/* SPDX-License-Identifier: Apache-2.0 */
/* Converts operators of older and newer opset versions to the canonical
 * version.
 *
 *	before	y = ReduceMean<axes=[1]>(x)             # opset 13
 *	after	y = ReduceMean(x, y_axes)               # opset 21
 *
 * The table has a row for each change of an operator's meaning. All rows that
 * are newer than a node's version are applied to the node, in order. Versions
 * above the canonical one changed only types, except for QuantizeLinear.
 * consumed_inputs, an attribute before version 6, does not change results and
 * is ignored. */
#include "upgrade.h"

#include "ops.h"

#define ANY_VERSION 1000

/* -- attributes that became inputs -- */

static void
attr_to_input(struct upgrade *u, const char *name, int i)
{
	const int64_t *v;
	int n = node_attr_ints(u->node, name, &v);

	if (node_attr(u->node, name)) {
		if (n > 0) {
			upgrade_input_ints(u, i, name, v, n);
		}
		node_remove_attr(u->node, name);
	}
}

static bool
axes_to_input(struct upgrade *u)
{
	attr_to_input(u, "axes", 1);
	return true;
}

static bool
split_to_input(struct upgrade *u)
{
	attr_to_input(u, "split", 1);
	return true;
}

static bool
split_count(struct upgrade *u)
{
	if (u->node->n_inputs < 2 && !node_attr(u->node, "num_outputs")) {
		node_set_attr_int(u->g, u->node, "num_outputs",
				  u->node->n_outputs);
	}
	return true;
}

static bool
slice_to_inputs(struct upgrade *u)
{
	attr_to_input(u, "starts", 1);
	attr_to_input(u, "ends", 2);
	attr_to_input(u, "axes", 3);
	return true;
}

static bool
topk_to_input(struct upgrade *u)
{
	int64_t k = node_attr_int(u->node, "k", -1);

	if (node_attr(u->node, "k")) {
		upgrade_input_ints(u, 1, "k", &k, 1);
		node_remove_attr(u->node, "k");
	}
	return true;
}

static bool
dft_to_input(struct upgrade *u)
{
	int64_t axis = node_attr_int(u->node, "axis", 1);
	const void *data = arena_copy(&u->imp->m->arena, &axis, sizeof axis);

	upgrade_set_n_inputs(u, 3);
	node_set_input(u->node, 2,
		       graph_constant(u->g, upgrade_name(u, "axis"),
				      dtype_of(DT_I64), 0, NULL, data));
	node_remove_attr(u->node, "axis");
	return true;
}

/* -- renames -- */

static bool
rename_scatter(struct upgrade *u)
{
	u->node->op_type = "ScatterElements";
	return true;
}

static bool
grid_sample_modes(struct upgrade *u)
{
	const char *mode = node_attr_string(u->node, "mode", "bilinear");

	if (strcmp(mode, "bilinear") == 0) {
		node_set_attr_string(u->g, u->node, "mode", "linear");
	} else if (strcmp(mode, "bicubic") == 0) {
		node_set_attr_string(u->g, u->node, "mode", "cubic");
	}
	return true;
}

static bool
roi_align_mode(struct upgrade *u)
{
	node_set_attr_string(u->g, u->node, "coordinate_transformation_mode",
			     "output_half_pixel");
	return true;
}

/* -- Upsample and Resize before 11: x_in = x_out / scale -- */

/* The attribute nearest_mode of a Resize from before opset 11: "floor", or
 * "ceil" if the image shrinks (as in onnxruntime; the specification does not
 * define the rounding). NULL if some dimensions grow and others shrink, or if
 * the scales are not constant: then the scale of each dimension decides
 * (rounds_by_scale). */
static const char *
nearest_rounding(const struct tensor *scales)
{
	const struct value *v = scales ? scales->value : NULL;
	bool grows = false, shrinks = false;

	if (!v || !v->data || v->type.kind != DT_F32) {
		return NULL;
	}
	for (int64_t i = 0; i < v->elems; i++) {
		double scale = number_load(v->type, v->data, (size_t)i).f;

		grows = grows || scale > 1;
		shrinks = shrinks || scale < 1;
	}
	return !shrinks ? "floor" : grows ? NULL : "ceil";
}

static bool
resize_asymmetric(struct upgrade *u)
{
	struct tensor *scales = u->node->n_inputs > 1 ? u->node->inputs[1]
						      : NULL;
	const char *mode = node_attr_string(u->node, "mode", "nearest");
	const char *rounding = nearest_rounding(scales);

	upgrade_set_n_inputs(u, 3);
	node_set_input(u->node, 2, scales);
	node_set_input(u->node, 1, NULL);
	if (strcmp(mode, "bilinear") == 0) {
		mode = "linear";
	}
	node_set_attr_string(u->g, u->node, "mode", mode);
	node_set_attr_string(u->g, u->node, "coordinate_transformation_mode",
			     "asymmetric");
	if (rounding != NULL) {
		node_set_attr_string(u->g, u->node, "nearest_mode", rounding);
	} else {
		node_set_attr_int(u->g, u->node, "rounds_by_scale", 1);
	}
	return true;
}

static bool
upsample_to_resize(struct upgrade *u)
{
	const struct attr *a = node_attr(u->node, "scales");

	if (a && a->kind == ATTR_FLOATS && a->n > 0) {
		float *scales = arena_array(&u->imp->m->arena, float, a->n);
		int64_t n = a->n;

		for (int i = 0; i < a->n; i++) {
			scales[i] = (float)a->floats[i];
		}
		upgrade_set_n_inputs(u, 2);
		node_set_input(u->node, 1,
			       graph_constant(u->g, upgrade_name(u, "scales"),
					      dtype_of(DT_F32), 1, &n, scales));
	}
	node_remove_attr(u->node, "scales");
	u->node->op_type = "Resize";
	return resize_asymmetric(u);
}

/* -- outputs and modes of training -- */

/* Removes the outputs from index k on; false after a diagnostic if one is
 * used. */
static bool
drop_outputs(struct upgrade *u, int k, const char *refusal)
{
	for (int i = k; i < u->node->n_outputs; i++) {
		struct tensor *t = u->node->outputs[i];

		if (t && (t->uses.n > 0 || t->is_output)) {
			return upgrade_refuse(u, refusal);
		}
		if (t) {
			t->producer = NULL;
		}
		u->node->outputs[i] = NULL;
	}
	if (u->node->n_outputs > k) {
		u->node->n_outputs = k;
	}
	return true;
}

static bool
batch_norm_spatial(struct upgrade *u)
{
	if (node_attr_int(u->node, "spatial", 1) == 0) {
		return upgrade_refuse(u, "spatial=0 is not supported; export "
					 "the model with opset 9 or newer");
	}
	node_remove_attr(u->node, "spatial");
	return true;
}

static bool
batch_norm_outputs(struct upgrade *u)
{
	return drop_outputs(u, 1,
			    "its training outputs are used; export the model "
			    "for inference");
}

/* BatchNormalization in training mode, with the mean and variance of the input,
 * becomes an operator of the domain tirc. */
static bool
batch_norm_training(struct upgrade *u)
{
	if (node_attr_int(u->node, "training_mode", 0) != 0) {
		node_remove_attr(u->node, "training_mode");
		u->node->domain = "tirc";
	}
	return true;
}

static bool
dropout_mask(struct upgrade *u)
{
	return drop_outputs(u, 1,
			    "its mask is used; export the model with "
			    "opset 10 or newer");
}

static bool
dropout_ratio(struct upgrade *u)
{
	node_remove_attr(u->node, "ratio");
	return true;
}

/* -- before opset 7 -- */

static void
attr_default_float(struct upgrade *u, const char *name, double value)
{
	if (!node_attr(u->node, name)) {
		node_set_attr_float(u->g, u->node, name, value);
	}
}

static bool
selu_constants(struct upgrade *u)
{
	attr_default_float(u, "alpha", 1.6732);
	attr_default_float(u, "gamma", 1.0507);
	return true;
}

static bool
concat_axis(struct upgrade *u)
{
	if (!node_attr(u->node, "axis")) {
		node_set_attr_int(u->g, u->node, "axis", 1);
	}
	return true;
}

static bool
reshape_to_input(struct upgrade *u)
{
	attr_to_input(u, "shape", 1);
	return true;
}

static bool
pad_rename(struct upgrade *u)
{
	const int64_t *pads;
	int n = node_attr_ints(u->node, "paddings", &pads);

	if (n > 0) {
		node_set_attr_ints(u->g, u->node, "pads", pads, n);
		node_remove_attr(u->node, "paddings");
	}
	return true;
}

/* In opset 1, the attribute p was a float. */
static bool
lp_power(struct upgrade *u)
{
	double p = node_attr_float(u->node, "p", 2);

	if (!(p >= 0 && p <= 1e6) || p != (double)(int64_t)p) {
		return upgrade_refuse(u, "its power p is not a whole number; "
					 "export the model with opset 2 or "
					 "newer");
	}
	node_set_attr_int(u->g, u->node, "p", (int64_t)p);
	return true;
}

/* Before opset 6, the type of a Cast was a name of TensorProto.DataType. */
static bool
cast_type(struct upgrade *u)
{
	const char *to = node_attr_string(u->node, "to", NULL);
	struct dtype t;

	for (int number = 1; to && dtype_from_onnx(number, &t); number++) {
		if (strcmp(dtype_onnx_name(t), to) == 0) {
			node_set_attr_int(u->g, u->node, "to", number);
			return true;
		}
	}
	return !to || upgrade_refuse(u, "its attribute 'to' names no type that "
					"tirc has; correct the model");
}

static bool
dropout_test(struct upgrade *u)
{
	if (!node_attr_int(u->node, "is_test", 0)) {
		return upgrade_refuse(u, "it drops elements at random, as its "
					 "attribute is_test is 0; set it to 1");
	}
	node_remove_attr(u->node, "is_test");
	return true;
}

static bool
batch_norm_test(struct upgrade *u)
{
	if (!node_attr_int(u->node, "is_test", 0) && u->node->n_outputs > 1) {
		return upgrade_refuse(u, "it trains, as its attribute is_test "
					 "is 0; set it to 1");
	}
	node_remove_attr(u->node, "is_test");
	return true;
}

/* In opset 1, Upsample had two factors, for height and width. */
static bool
upsample_factors(struct upgrade *u)
{
	float *scales = arena_array(&u->imp->m->arena, float, 4);
	const int64_t n = 4;

	scales[0] = 1;
	scales[1] = 1;
	scales[2] = (float)node_attr_float(u->node, "height_scale", 1);
	scales[3] = (float)node_attr_float(u->node, "width_scale", 1);
	upgrade_set_n_inputs(u, 2);
	node_set_input(u->node, 1,
		       graph_constant(u->g, upgrade_name(u, "scales"),
				      dtype_of(DT_F32), 1, &n, scales));
	node_remove_attr(u->node, "height_scale");
	node_remove_attr(u->node, "width_scale");
	return true;
}

/* -- results whose size is known only at run time -- */

/* Moves the node to the domain tirc; sizes.c then gives its result a size, or
 * replaces the node. */
static bool
to_internal(struct upgrade *u)
{
	u->node->domain = "tirc";
	return true;
}

/* before	y = Compress<axis=1>(x, c)
 * 	after	n = Shape<start=1, end=2>(x)
 * 		b = Slice(c, [0], n)
 * 		i = tirc.NonZero(b)
 * 		s = Squeeze(i, 0)
 * 		y = Gather<axis=1>(x, s)
 *
 * Elements of the condition beyond the axis are not read. Without an axis, x is
 * flattened first. */
static bool
compress_to_gather(struct upgrade *u)
{
	struct node *node = u->node, *shape;
	struct tensor *found = upgrade_tensor(u, "found");
	struct tensor *list = upgrade_tensor(u, "list"), *in[3];
	struct tensor *extent = upgrade_tensor(u, "extent");
	struct tensor *part = upgrade_tensor(u, "part");
	int64_t zero = 0, all = -1, axis = node_attr_int(node, "axis", 0);
	int at = u->pos;

	if (node->n_inputs != 2 || !node->inputs[0] || !node->inputs[1]) {
		return upgrade_refuse(u, "Compress needs two inputs; correct "
					 "the model");
	}
	if (axis < -GRAPH_MAX_RANK || axis >= GRAPH_MAX_RANK) {
		return upgrade_refuse(u, "the axis of Compress is beyond the "
					 "rank of its input; correct the "
					 "model");
	}
	if (!node_attr(node, "axis")) {
		struct tensor *flat = upgrade_tensor(u, "flat");

		in[0] = node->inputs[0];
		in[1] = graph_constant_ints(u->g, upgrade_name(u, "all"), 1,
					    &all);
		upgrade_insert(u, at++, "Reshape", in, 2, flat);
		node_set_input(node, 0, flat);
	}
	in[0] = node->inputs[0];
	shape = upgrade_insert(u, at++, "Shape", in, 1, extent);
	node_set_attr_int(u->g, shape, "start", axis);
	if (axis != -1) {
		node_set_attr_int(u->g, shape, "end", axis + 1);
	}
	in[0] = node->inputs[1];
	in[1] = graph_constant_ints(u->g, upgrade_name(u, "axis"), 1, &zero);
	in[2] = extent;
	upgrade_insert(u, at++, "Slice", in, 3, part);
	in[0] = part;
	upgrade_insert(u, at++, "NonZero", in, 1, found)->domain = "tirc";
	in[0] = found;
	upgrade_insert(u, at++, "Squeeze", in, 2, list);
	node_set_input(node, 1, list);
	node->op_type = "Gather";
	return true;
}

/* -- newer than the canonical version -- */

/* A row is applied to nodes whose opset version is less than `below`. The steps
 * of one operator are in order. late: `fn` needs the types and shapes of the
 * inputs. */
static const struct row {
	const char *op;
	int below;
	upgrade_fn *fn;
	bool late;
} rows[] = {
	{ "Add", 7, upgrade_broadcast, true },
	{ "And", 7, upgrade_broadcast, true },
	{ "BatchNormalization", 7, batch_norm_test, false },
	{ "BatchNormalization", 9, batch_norm_spatial, false },
	{ "BatchNormalization", 14, batch_norm_outputs, false },
	{ "BatchNormalization", ANY_VERSION, batch_norm_training, false },
	{ "Cast", 6, cast_type, false },
	{ "Clip", 11, upgrade_clip, true },
	{ "Compress", ANY_VERSION, compress_to_gather, false },
	{ "Concat", 4, concat_axis, false },
	{ "DFT", 20, dft_to_input, false },
	{ "Div", 7, upgrade_broadcast, true },
	{ "Dropout", 7, dropout_test, false },
	{ "Dropout", 10, dropout_mask, false },
	{ "Dropout", 12, dropout_ratio, false },
	{ "Equal", 7, upgrade_broadcast, true },
	{ "GlobalLpPool", 2, lp_power, false },
	{ "Greater", 7, upgrade_broadcast, true },
	{ "GridSample", 20, grid_sample_modes, false },
	{ "GroupNormalization", 21, upgrade_group_norm, true },
	{ "Hardmax", 13, upgrade_softmax, true },
	{ "Less", 7, upgrade_broadcast, true },
	{ "LogSoftmax", 13, upgrade_softmax, true },
	{ "LpPool", 2, lp_power, false },
	{ "Mul", 7, upgrade_broadcast, true },
	{ "NonMaxSuppression", ANY_VERSION, to_internal, false },
	{ "NonZero", ANY_VERSION, to_internal, false },
	{ "Or", 7, upgrade_broadcast, true },
	{ "PRelu", 7, upgrade_prelu, true },
	{ "Pad", 2, pad_rename, false },
	{ "Pad", 11, upgrade_pad, true },
	{ "Pow", 7, upgrade_broadcast, true },
	{ "QuantizeLinear", ANY_VERSION, upgrade_quantize, true },
	{ "ReduceL1", 18, axes_to_input, false },
	{ "ReduceL2", 18, axes_to_input, false },
	{ "ReduceLogSum", 18, axes_to_input, false },
	{ "ReduceLogSumExp", 18, axes_to_input, false },
	{ "ReduceMax", 18, axes_to_input, false },
	{ "ReduceMean", 18, axes_to_input, false },
	{ "ReduceMin", 18, axes_to_input, false },
	{ "ReduceProd", 18, axes_to_input, false },
	{ "ReduceSum", 13, axes_to_input, false },
	{ "ReduceSumSquare", 18, axes_to_input, false },
	{ "Reshape", 5, reshape_to_input, false },
	{ "Resize", 11, resize_asymmetric, false },
	{ "RoiAlign", 16, roi_align_mode, false },
	{ "Scatter", ANY_VERSION, rename_scatter, false },
	{ "Selu", 6, selu_constants, false },
	{ "Slice", 10, slice_to_inputs, false },
	{ "Softmax", 13, upgrade_softmax, true },
	{ "Split", 2, upgrade_split, true },
	{ "Split", 13, split_to_input, false },
	{ "Split", 18, split_count, false },
	{ "Squeeze", 13, axes_to_input, false },
	{ "Sub", 7, upgrade_broadcast, true },
	{ "Tile", 6, upgrade_tile, true },
	{ "TopK", 10, topk_to_input, false },
	{ "Unsqueeze", 13, axes_to_input, false },
	{ "Unique", ANY_VERSION, to_internal, false },
	{ "Upsample", 7, upsample_factors, false },
	{ "Upsample", ANY_VERSION, upsample_to_resize, false },
	{ "Xor", 7, upgrade_broadcast, true },
};

bool
is_upgraded_operator(const char *domain, const char *op_type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!*domain && strcmp(rows[i].op, op_type) == 0) {
			return true;
		}
	}
	return false;
}

/* Applies the rows that the table has for the node's operator (by its name in
 * the model): the late rows if `late` is set, else the rows that are not late.
 * False after a diagnostic. */
static bool
apply_rows(struct importer *imp, struct node *n, int pos, bool late)
{
	struct upgrade u = {
		.imp = imp,
		.g = imp->g,
		.node = n,
		.pos = pos,
		.version = imp->versions.data[n->id],
	};
	const char *op = n->op_type;

	if (*n->domain) {
		return true;
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].late == late && u.version < rows[i].below &&
		    strcmp(rows[i].op, op) == 0 && !rows[i].fn(&u)) {
			return false;
		}
	}
	return true;
}

bool
upgrade_early(struct importer *imp, int first)
{
	for (int i = first; i < imp->g->nodes.n; i++) {
		if (!apply_rows(imp, imp->g->nodes.data[i], i, false)) {
			return false;
		}
	}
	return true;
}

bool
upgrade_late(struct importer *imp, struct node *n, int pos)
{
	bool ok = apply_rows(imp, n, pos, true);

	imp->versions.data[n->id] = GRAPH_CANONICAL_OPSET;
	return ok;
}
