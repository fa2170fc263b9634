/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of the domain ai.onnx.ml. Each node is replaced by nodes of
 * other operators when the type and shape of its input are known.
 *
 *	before	y = ai.onnx.ml.Scaler<offset=[1, 2], scale=[3, 4]>(x)
 *	after	y_moved = Sub(x, y_offset)
 *		y = Mul(y_moved, y_scale)
 */
#include "ml.h"

#include <math.h>

#include "ops.h"

/* -- helpers -- */

/* -- operators on elements and features -- */

static bool
array_feature_extractor(struct ml *m)
{
	const int64_t flat = -1, row[] = { 1, -1 };
	struct tensor *at = node_input(m->n, 1), *y;
	struct node *n;

	if (!at) {
		return ml_refuse(m, "it has no indices; correct the model");
	}
	at = ml_op(m, "Reshape", "flat", 2, at, ml_ints(m, "shape", 1, &flat));
	n = ml_node(m, "Gather", "features", 2, m->x, at);
	y = n->outputs[0];
	node_set_attr_int(m->imp->g, n, "axis", -1);
	if (m->x->ndim == 1) {
		y = ml_op(m, "Reshape", "row", 2, y,
			  ml_ints(m, "row_shape", 2, row));
	}
	ml_output(m, 0, y);
	return true;
}

static bool
binarizer(struct ml *m)
{
	struct dtype type, boolean = dtype_of(DT_BOOL);
	struct tensor *x = ml_real(m, &type), *y;
	double threshold = node_attr_float(m->n, "threshold", 0);

	y = ml_op(m, "Greater", "above", 2, x,
		  ml_number(m, "threshold", type, threshold));
	ml_output(m, 0, ml_cast(m, y, boolean, m->x->type));
	return true;
}

static bool
scaler(struct ml *m)
{
	struct dtype type, f32 = dtype_of(DT_F32);
	struct tensor *x = ml_real(m, &type);
	const double *offset, *scale;
	int64_t n = ml_floats(m, "offset", &offset);

	if (n > 0) {
		x = ml_op(m, "Sub", "moved", 2, x,
			  ml_constant(m, "offset", type, offset, 1, &n));
	}
	n = ml_floats(m, "scale", &scale);
	if (n > 0) {
		x = ml_op(m, "Mul", "scaled", 2, x,
			  ml_constant(m, "scale", type, scale, 1, &n));
	}
	ml_output(m, 0, ml_cast(m, x, type, f32));
	return true;
}

/* Normalizer divides each row by the row's norm; a row whose norm is 0 is not
 * changed. */
static bool
normalizer(struct ml *m)
{
	const char *norm = node_attr_string(m->n, "norm", "MAX");
	const char *op = strcmp(norm, "L1") == 0   ? "ReduceL1"
			 : strcmp(norm, "L2") == 0 ? "ReduceL2"
						   : "ReduceMax";
	struct dtype type, f32 = dtype_of(DT_F32);
	struct tensor *x = ml_real(m, &type), *by, *none;
	const int64_t last = -1;

	by = ml_op(m, op, "norm", 2, x, ml_ints(m, "axes", 1, &last));
	none = ml_op(m, "Equal", "none", 2, by, ml_number(m, "zero", type, 0));
	by = ml_op(m, "Where", "divisor", 3, none, ml_number(m, "one", type, 1),
		   by);
	x = ml_op(m, "Div", "normalized", 2, x, by);
	ml_output(m, 0, ml_cast(m, x, type, f32));
	return true;
}

static bool
imputer(struct ml *m)
{
	bool real = dtype_is_float(m->x->type);
	double replaced =
		real ? node_attr_float(m->n, "replaced_value_float", 0)
		     : (double)node_attr_int(m->n, "replaced_value_int64", 0);
	const double *floats;
	const int64_t *ints;
	int64_t n = real ? ml_floats(m, "imputed_value_floats", &floats)
			 : ml_attr_ints(m, "imputed_value_int64s", &ints);
	struct tensor *lost, *by;

	if (n == 0) {
		return ml_refuse(m, "it has no values of its input's type; "
				    "correct the model");
	}
	if (real) {
		by = ml_constant(m, "imputed", m->x->type, floats, 1, &n);
	} else {
		by = ml_cast(m, ml_ints(m, "imputed", (int)n, ints),
			     dtype_of(DT_I64), m->x->type);
	}
	lost = real && isnan(replaced)
		       ? ml_op(m, "IsNaN", "lost", 1, m->x)
		       : ml_op(m, "Equal", "lost", 2, m->x,
			       ml_number(m, "replaced", m->x->type, replaced));
	ml_output(m, 0, ml_op(m, "Where", "filled", 3, lost, by, m->x));
	return true;
}

/* Compares each element of x with all keys, along a new last dimension. */
static struct tensor *
compare_keys(struct ml *m, struct tensor *x, struct tensor *keys)
{
	const int64_t last = -1;

	x = ml_op(m, "Unsqueeze", "column", 2, x, ml_ints(m, "last", 1, &last));
	return ml_op(m, "Equal", "equal", 2, x, keys);
}

static bool
one_hot_encoder(struct ml *m)
{
	struct dtype i64 = dtype_of(DT_I64), f32 = dtype_of(DT_F32);
	const int64_t *keys;
	struct tensor *x, *hot;
	const struct attr *strings = node_attr(m->n, "cats_strings");
	int n;

	if (!node_attr_int(m->n, "zeros", 1)) {
		return ml_refuse(m, "an unknown category is an error, as its "
				    "attribute zeros is 0, which is not "
				    "supported; set it to 1");
	}
	if (m->x->is_string) {
		if (!strings || strings->kind != ATTR_STRINGS) {
			return ml_refuse(m, "its categories are not strings; "
					    "correct the model");
		}
		hot = compare_keys(m, m->x,
				   ml_strings(m, "categories", strings->n,
					      strings->strings));
	} else {
		n = ml_attr_ints(m, "cats_int64s", &keys);
		if (n == 0) {
			return ml_refuse(m, "its categories are not integers; "
					    "correct the model");
		}
		x = ml_cast(m, m->x, m->x->type, i64);
		hot = compare_keys(m, x, ml_ints(m, "categories", n, keys));
	}
	ml_output(m, 0, ml_cast(m, hot, dtype_of(DT_BOOL), f32));
	return true;
}

/* An attribute that is a tensor of strings or numbers, as a constant list. */
static struct tensor *
list_constant(struct ml *m, const char *what, const struct attr *a)
{
	const struct value *v = a->tensor;
	int64_t bytes = a->is_string ? a->tensor_shape[a->tensor_ndim - 1] : 1;
	const int64_t shape[] = { v->elems / bytes, bytes };
	const double *doubles;
	struct tensor *t;

	if (!v->data) {
		ml_doubles(m, v, &doubles);
		return ml_constant(m, what, v->type, doubles, 1, shape);
	}
	t = graph_constant(m->imp->g, ml_name(m, what), v->type,
			   1 + a->is_string, shape, v->data);
	t->is_string = a->is_string;
	return t;
}

/* The keys or values (`what`: "keys" or "values") of a LabelEncoder as a
 * constant list; *type: their type. NULL if the node has no such attribute. */
static struct tensor *
encoder_list(struct ml *m, const char *what, struct dtype *type)
{
	static const enum dtype_kind kinds[] = { DT_I64, DT_F32 };
	const char *name;
	const double *floats;
	const int64_t *ints;
	const struct attr *a;
	int64_t n;

	a = node_attr(m->n, arena_printf(&m->imp->tmp, "%s_strings", what));
	if (a && a->kind == ATTR_STRINGS) {
		*type = dtype_of(DT_STRING);
		return ml_strings(m, what, a->n, a->strings);
	}
	for (int k = 0; k < 2; k++) {
		name = arena_printf(&m->imp->tmp, "%s_%s", what,
				    k == 0 ? "int64s" : "floats");
		*type = dtype_of(kinds[k]);
		if (ml_has(m, name)) {
			n = k == 0 ? ml_attr_ints(m, name, &ints)
				   : ml_floats(m, name, &floats);
			return k == 0 ? ml_ints(m, what, (int)n, ints)
				      : ml_constant(m, what, *type, floats, 1,
						    &n);
		}
	}
	name = arena_printf(&m->imp->tmp, "%s_tensor", what);
	if (ml_has(m, name)) {
		a = node_attr(m->n, name);
		*type = a->is_string ? dtype_of(DT_STRING) : a->tensor->type;
		return list_constant(m, what, a);
	}
	return NULL;
}

/* The default value of a LabelEncoder, which it gives for an input that is not
 * a key: read from the attributes, as a constant of the given type. */
static struct tensor *
encoder_default(struct ml *m, struct dtype type)
{
	const struct attr *a = node_attr(m->n, "default_tensor");
	const char *text = node_attr_string(m->n, "default_string", "_Unused");
	int64_t number;

	if (dtype_class(type) == DTC_STRING) {
		return a && a->kind == ATTR_TENSOR && a->is_string
			       ? list_constant(m, "default", a)
			       : ml_strings(m, "default", 1, &text);
	}
	if (a && a->kind == ATTR_TENSOR && a->tensor && a->tensor->elems == 1) {
		return ml_cast(m, list_constant(m, "default", a),
			       a->tensor->type, type);
	}
	if (dtype_is_float(type)) {
		return ml_number(m, "default", type,
				 node_attr_float(m->n, "default_float", 0));
	}
	number = node_attr_int(m->n, "default_int64", -1);
	return ml_cast(m, ml_ints(m, "default", 1, &number), dtype_of(DT_I64),
		       type);
}

/* y = values[i] for the first i with keys[i] equal to x, or the default value
 * if no key is equal. A NaN key is equal to NaN. */
static bool
encode(struct ml *m, struct tensor *keys, struct dtype key,
       struct tensor *values, struct dtype value)
{
	struct dtype i32 = dtype_of(DT_I32);
	struct tensor *equal, *at, *some, *y;
	const int64_t last = -1;
	struct node *n;

	equal = compare_keys(m,
			     keys->is_string
				     ? m->x
				     : ml_cast(m, m->x, m->x->type, key),
			     keys);
	if (dtype_is_float(key)) {
		equal = ml_op(m, "Or", "match", 2, equal,
			      ml_op(m, "And", "both_nan", 2,
				    ml_op(m, "Unsqueeze", "nan_column", 2,
					  ml_op(m, "IsNaN", "nan", 1, m->x),
					  ml_ints(m, "nan_axes", 1, &last)),
				    ml_op(m, "IsNaN", "nan_keys", 1, keys)));
	}
	equal = ml_cast(m, equal, dtype_of(DT_BOOL), i32);
	n = ml_node(m, "ArgMax", "key", 1, equal);
	node_set_attr_int(m->imp->g, n, "axis", -1);
	node_set_attr_int(m->imp->g, n, "keepdims", 0);
	at = n->outputs[0];
	n = ml_node(m, "ReduceMax", "found", 2, equal,
		    ml_ints(m, "axes", 1, &last));
	node_set_attr_int(m->imp->g, n, "keepdims", 0);
	some = ml_cast(m, n->outputs[0], i32, dtype_of(DT_BOOL));
	y = ml_op(m, "Gather", "value", 2, values, at);
	y = ml_op(m, "Where", "label", 3, some, y, encoder_default(m, value));
	ml_output(m, 0, y);
	return true;
}

static bool
label_encoder(struct ml *m)
{
	struct dtype key, value;
	struct tensor *keys = encoder_list(m, "keys", &key);
	struct tensor *values = encoder_list(m, "values", &value);

	if (!keys || !values || keys->is_string != m->x->is_string) {
		return ml_refuse(m, "it has no keys of its input's type, or no "
				    "values; correct the model");
	}
	return encode(m, keys, key, values, value);
}

/* CategoryMapper: maps strings to integers, or integers to strings, by the
 * model's table. False after a diagnostic. */
static bool
category_mapper(struct ml *m)
{
	const struct attr *names = node_attr(m->n, "cats_strings");
	struct dtype i64 = dtype_of(DT_I64), text = dtype_of(DT_STRING);
	struct tensor *strings, *numbers;
	const int64_t *ints;
	int n = ml_attr_ints(m, "cats_int64s", &ints);

	if (!names || names->kind != ATTR_STRINGS || names->n != n) {
		return ml_refuse(m, "it must have as many strings as integers; "
				    "correct the model");
	}
	strings = ml_strings(m, "strings", n, names->strings);
	numbers = ml_ints(m, "numbers", n, ints);
	return m->x->is_string ? encode(m, strings, text, numbers, i64)
			       : encode(m, numbers, i64, strings, text);
}

static bool
feature_vectorizer(struct ml *m)
{
	struct tensor **in = arena_array(&m->imp->tmp, struct tensor *,
					 m->n->n_inputs + 1);
	struct dtype f32 = dtype_of(DT_F32);
	const int64_t row[] = { 1, -1 };
	struct tensor *y;
	struct node *n;

	for (int i = 0; i < m->n->n_inputs; i++) {
		const struct tensor *t = m->n->inputs[i];

		in[i] = ml_cast(m, m->n->inputs[i], t->type, f32);
		if (t->ndim == 1) {
			in[i] = ml_op(m, "Reshape", "row", 2, in[i],
				      ml_ints(m, "shape", 2, row));
		}
	}
	y = graph_tensor(m->imp->g, ml_name(m, "features"));
	n = deferred_make(m->imp, m->d, "Concat", in, m->n->n_inputs, y);
	node_set_attr_int(m->imp->g, n, "axis", 1);
	ml_output(m, 0, y);
	return true;
}

/* ZipMap: its result is a map, the list of keys and the scores, with one column
 * for each key. */
static bool
zip_map(struct ml *m)
{
	struct tensor *pair[2] = { NULL, m->x };
	struct sequence *s;
	const int64_t *labels;
	int n;

	ml_labels(m, "classlabels_int64s", "classlabels_strings", &labels, &n);
	if (n == 0) {
		return ml_refuse(m, "it has no keys; correct the model");
	}
	pair[0] = ml_label_names(m, "keys", labels, n);
	s = sequence_new(m->imp, pair, 2);
	s->is_map = true;
	sequence_set(m->imp, m->n->outputs[0], s);
	m->n->outputs[0]->producer = NULL;
	m->n->outputs[0] = NULL;
	return true;
}

static bool
no_maps(struct ml *m)
{
	return ml_refuse(m, "its input is a map, which is not supported; give "
			    "the model a tensor");
}

/* -- the driver -- */

struct row {
	const char *op;
	ml_fn *fn;
	bool takes_strings; /* input 0 may be strings */
};

static const struct row rows[] = {
	{ "ArrayFeatureExtractor", array_feature_extractor, false },
	{ "Binarizer", binarizer, false },
	{ "CastMap", no_maps, false },
	{ "CategoryMapper", category_mapper, true },
	{ "DictVectorizer", no_maps, false },
	{ "FeatureVectorizer", feature_vectorizer, false },
	{ "Imputer", imputer, false },
	{ "LabelEncoder", label_encoder, true },
	{ "LinearClassifier", ml_linear_classifier, false },
	{ "LinearRegressor", ml_linear_regressor, false },
	{ "Normalizer", normalizer, false },
	{ "OneHotEncoder", one_hot_encoder, true },
	{ "SVMClassifier", ml_svm_classifier, false },
	{ "SVMRegressor", ml_svm_regressor, false },
	{ "Scaler", scaler, false },
	{ "TreeEnsemble", ml_tree_ensemble, false },
	{ "TreeEnsembleClassifier", ml_tree_classifier, false },
	{ "TreeEnsembleRegressor", ml_tree_regressor, false },
	{ "ZipMap", zip_map, false },
};

static const struct row *
find(const char *op_type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, op_type) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

bool
is_ml_operator(const char *domain, const char *op_type)
{
	return strcmp(domain, "ai.onnx.ml") == 0 && find(op_type);
}

bool
expand_ml(struct importer *imp, struct deferred *d)
{
	struct ml m = { .imp = imp, .d = d, .n = d->node };
	const struct row *row = find(d->node->op_type);

	if (d->node->n_inputs < 1 || !d->node->inputs[0] ||
	    d->node->inputs[0]->ndim < 1) {
		return deferred_refuse(imp, d,
				       "its input is missing or has no "
				       "dimension; correct the model");
	}
	m.x = d->node->inputs[0];
	if (m.x->is_string && !row->takes_strings) {
		return ml_refuse(&m, "its input has strings, which is not "
				     "supported");
	}
	return row->fn(&m) && deferred_finish(imp, d, NULL);
}
