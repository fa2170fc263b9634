/* SPDX-License-Identifier: Apache-2.0 */
/* The domain ai.onnx.ml: each node becomes nodes of ONNX's own operators, when
 * the type and the shape of its input are known.
 *
 *	before	y = ai.onnx.ml.Scaler<offset=[1, 2], scale=[3, 4]>(x)
 *	after	y_moved = Sub(x, y_offset)
 *		y = Mul(y_moved, y_scale)
 */
#include "ml.h"

#include <math.h>
#include <stdarg.h>

#include "ops.h"

/* -- helpers -- */

static const char *
ml_name(struct ml *m, const char *what)
{
	const struct tensor *y = NULL;

	for (int k = 0; k < m->n->n_outputs && !y; ++k) {
		y = m->n->outputs[k];
	}
	return arena_printf(&m->imp->tmp, "%s_%s", y ? y->name : m->n->name,
			    what);
}

static struct node *
make(struct ml *m, const char *op, const char *what, int n_in, va_list ap)
{
	struct tensor **in = arena_array(&m->imp->tmp, struct tensor *,
					 n_in + 1);

	for (int i = 0; i < n_in; ++i) {
		in[i] = va_arg(ap, struct tensor *);
	}
	return deferred_make(m->imp, m->d, op, in, n_in,
			     graph_tensor(m->imp->g, ml_name(m, what)));
}

struct node *
ml_node(struct ml *m, const char *op, const char *what, int n_in, ...)
{
	struct node *n;
	va_list ap;

	va_start(ap, n_in);
	n = make(m, op, what, n_in, ap);
	va_end(ap);
	return n;
}

struct tensor *
ml_op(struct ml *m, const char *op, const char *what, int n_in, ...)
{
	struct node *n;
	va_list ap;

	va_start(ap, n_in);
	n = make(m, op, what, n_in, ap);
	va_end(ap);
	return n->outputs[0];
}

/* A node of tirc's own operators. */
static struct node *
own_node(struct ml *m, const char *op, const char *what, struct tensor **in,
	 int n_in)
{
	struct tensor *out = graph_tensor(m->imp->g, ml_name(m, what));
	struct node *n = import_add_node(m->imp, "tirc", op, m->n->name, in,
					 n_in, &out, 1, m->d->origin,
					 GRAPH_CANONICAL_OPSET);

	n->op = op_find("tirc", op);
	return n;
}

struct node *
ml_trees(struct ml *m, struct tensor **in, int n_in)
{
	return own_node(m, "TreeEnsemble", "trees", in, n_in);
}

struct tensor *
ml_coupling(struct ml *m, struct tensor *q)
{
	return own_node(m, "PairCoupling", "probabilities", &q, 1)->outputs[0];
}

struct tensor *
ml_constant(struct ml *m, const char *what, struct dtype type,
	    const double *values, int n_dims, const int64_t *shape)
{
	int64_t n = 1;
	void *data;

	for (int d = 0; d < n_dims; ++d) {
		n *= shape[d];
	}
	data = arena_alloc(&m->imp->m->arena,
			   (size_t)(n + 1) * (size_t)dtype_bytes(type));
	for (int64_t i = 0; i < n; ++i) {
		union number from = { .f = values[i] };

		number_store(type, data, (size_t)i,
			     number_cast(type, dtype_of(DT_F64), from));
	}
	return graph_constant(m->imp->g, ml_name(m, what), type, n_dims, shape,
			      data);
}

/* A list of strings. */
static struct tensor *
ml_strings(struct ml *m, const char *what, int n, const char *const *strings)
{
	struct tensor_content c;
	struct tensor *t;

	strings_content(&m->imp->m->arena, strings, n, &c);
	t = graph_constant(m->imp->g, ml_name(m, what), c.value->type, c.ndim,
			   c.shape, c.value->data);
	t->is_string = true;
	return t;
}

struct tensor *
ml_number(struct ml *m, const char *what, struct dtype type, double value)
{
	return ml_constant(m, what, type, &value, 0, NULL);
}

struct tensor *
ml_ints(struct ml *m, const char *what, int n, const int64_t *values)
{
	return graph_constant_ints(m->imp->g, ml_name(m, what), n, values);
}

struct tensor *
ml_cast(struct ml *m, struct tensor *t, struct dtype from, struct dtype to)
{
	struct node *n;

	if (dtype_equal(from, to)) {
		return t;
	}
	n = ml_node(m, "Cast", "cast", 1, t);
	node_set_attr_int(m->imp->g, n, "to", dtype_onnx_number(to));
	return n->outputs[0];
}

/* Input 0 as float32, or as itself if it is float64. */
static struct tensor *
ml_real(struct ml *m, struct dtype *type)
{
	*type = dtype_of(m->x->type.kind == DT_F64 ? DT_F64 : DT_F32);
	return ml_cast(m, m->x, m->x->type, *type);
}

struct tensor *
ml_rows(struct ml *m, struct dtype *type)
{
	const int64_t first = 0;
	struct tensor *x = ml_real(m, type);

	return m->x->ndim == 1 ? ml_op(m, "Unsqueeze", "row", 2, x,
				       ml_ints(m, "axes", 1, &first))
			       : x;
}

static bool
ml_has(const struct ml *m, const char *name)
{
	const struct attr *a = node_attr(m->n, name);

	return a && (a->n > 0 || a->kind == ATTR_TENSOR);
}

static union number
value_element(const struct value *v, int64_t i)
{
	return v->data ? number_load(v->type, v->data, (size_t)i) : v->fill;
}

/* The elements of a tensor as doubles. */
static int
tensor_doubles(struct ml *m, const struct value *v, const double **values)
{
	double *list = arena_array(&m->imp->tmp, double, v->elems + 1);

	for (int64_t i = 0; i < v->elems; ++i) {
		list[i] = number_cast(dtype_of(DT_F64), v->type,
				      value_element(v, i))
				  .f;
	}
	*values = list;
	return (int)v->elems;
}

int
ml_floats(struct ml *m, const char *name, const double **values)
{
	const struct attr *a = node_attr(m->n, name);

	if (!a) {
		a = node_attr(m->n,
			      arena_printf(&m->imp->tmp, "%s_as_tensor", name));
	}
	if (a && a->kind == ATTR_FLOATS) {
		*values = a->floats;
		return a->n;
	}
	return a && a->kind == ATTR_TENSOR && a->tensor
		       ? tensor_doubles(m, a->tensor, values)
		       : 0;
}

int
ml_attr_ints(struct ml *m, const char *name, const int64_t **values)
{
	const struct attr *a = node_attr(m->n, name);
	const struct value *v;
	int64_t *ints;

	if (!a || a->kind != ATTR_TENSOR || !a->tensor) {
		return node_attr_ints(m->n, name, values);
	}
	v = a->tensor;
	ints = arena_array(&m->imp->tmp, int64_t, v->elems + 1);
	for (int64_t i = 0; i < v->elems; ++i) {
		ints[i] = number_cast(dtype_of(DT_I64), v->type,
				      value_element(v, i))
				  .i;
	}
	*values = ints;
	return (int)v->elems;
}

void
ml_output(struct ml *m, int k, struct tensor *t)
{
	deferred_output(m->imp, m->d, k, t);
}

bool
ml_refuse(struct ml *m, const char *why)
{
	return deferred_refuse(m->imp, m->d, "%s", why);
}

void
ml_labels(struct ml *m, const char *ints, const char *strings,
	  const int64_t **labels, int *n)
{
	const struct attr *a = node_attr(m->n, strings);
	int64_t *places;

	if (!a || a->kind != ATTR_STRINGS || a->n == 0) {
		*n = ml_attr_ints(m, ints, labels);
		return;
	}
	places = arena_array(&m->imp->tmp, int64_t, a->n);
	for (int i = 0; i < a->n; ++i) {
		places[i] = i;
	}
	m->strings = a->strings;
	*labels = places;
	*n = a->n;
}

/* The labels of ml_labels as a constant. */
static struct tensor *
label_names(struct ml *m, const char *what, const int64_t *labels, int n)
{
	const char **names = arena_array(&m->imp->tmp, const char *, n);

	if (!m->strings) {
		return ml_ints(m, what, n, labels);
	}
	for (int i = 0; i < n; ++i) {
		names[i] = m->strings[labels[i]];
	}
	return ml_strings(m, what, n, names);
}

struct tensor *
ml_post_transform(struct ml *m, struct tensor *scores)
{
	const char *how = node_attr_string(m->n, "post_transform", "NONE");

	if (strcmp(how, "NONE") == 0) {
		return scores;
	}
	if (strcmp(how, "LOGISTIC") == 0) {
		return ml_op(m, "Sigmoid", "probabilities", 1, scores);
	}
	if (strcmp(how, "SOFTMAX") == 0) {
		return ml_op(m, "Softmax", "probabilities", 1, scores);
	}
	ml_refuse(m, "its post_transform is not supported; NONE, LOGISTIC and "
		     "SOFTMAX are");
	return NULL;
}

bool
ml_classify(struct ml *m, struct tensor *best, struct tensor *scores,
	    const int64_t *labels, int n_labels)
{
	struct tensor *names;

	if (n_labels > 0) {
		names = label_names(m, "classes", labels, n_labels);
		best = ml_op(m, "Gather", "class", 2, names, best);
	}
	scores = ml_post_transform(m, scores);
	if (!scores) {
		return false;
	}
	ml_output(m, 0, best);
	ml_output(m, 1, scores);
	return true;
}

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

/* A row of norm 0 stays as it is. */
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

/* The elements of input 0 with a new last dimension, compared with all keys. */
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
			return ml_refuse(m, "its categories are no strings; "
					    "correct the model");
		}
		hot = compare_keys(m, m->x,
				   ml_strings(m, "categories", strings->n,
					      strings->strings));
	} else {
		n = ml_attr_ints(m, "cats_int64s", &keys);
		if (n == 0) {
			return ml_refuse(m, "its categories are no integers; "
					    "correct the model");
		}
		x = ml_cast(m, m->x, m->x->type, i64);
		hot = compare_keys(m, x, ml_ints(m, "categories", n, keys));
	}
	ml_output(m, 0, ml_cast(m, hot, dtype_of(DT_BOOL), f32));
	return true;
}

/* The strings or numbers of an attribute that is a tensor, as a list, whatever
 * its shape. */
static struct tensor *
list_constant(struct ml *m, const char *what, const struct attr *a)
{
	const struct value *v = a->tensor;
	int64_t bytes = a->is_string ? a->tensor_shape[a->tensor_ndim - 1] : 1;
	const int64_t shape[] = { v->elems / bytes, bytes };
	const double *doubles;
	struct tensor *t;

	if (!v->data) {
		tensor_doubles(m, v, &doubles);
		return ml_constant(m, what, v->type, doubles, 1, shape);
	}
	t = graph_constant(m->imp->g, ml_name(m, what), v->type,
			   1 + a->is_string, shape, v->data);
	t->is_string = a->is_string;
	return t;
}

/* Keys or values of a LabelEncoder as a constant of one dimension; NULL: the
 * node does not have the attribute. */
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
	for (int k = 0; k < 2; ++k) {
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

/* The value for what is no key. */
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

/* y = values[i] for the first key i that is equal to x, else a default. A key
 * that is NaN is equal to NaN. */
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

/* Strings to integers, or integers to strings. */
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

	for (int i = 0; i < m->n->n_inputs; ++i) {
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

/* The keys as a list, and the scores, whose columns belong to the keys. */
static bool
zip_map(struct ml *m)
{
	struct sequence *s = sequence_new(m->imp, 2);
	const int64_t *labels;
	int n;

	ml_labels(m, "classlabels_int64s", "classlabels_strings", &labels, &n);
	if (n == 0) {
		return ml_refuse(m, "it has no keys; correct the model");
	}
	s->is_map = true;
	s->elems[0] = label_names(m, "keys", labels, n);
	s->elems[1] = m->x;
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
	bool takes_strings; /* as its input 0 */
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
	for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
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
