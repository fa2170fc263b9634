/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs of the graph. Their sizes are numbers, or names that several
 * inputs may share (size_names.c). An input for which the model has an
 * initializer is a constant. */
#include "import_inputs.h"
#include "size_names.h"

/* The largest number of bytes of a string in an input for which no
 * --string-length is given. */
#define STRING_BYTES 64

struct inputs {
	struct importer *imp;
	struct size_names names;
	info_list list; /* the inputs of the model that are not constants */
	/* dims.data[input][dimension]: the name of the dimension's size; NULL
	 * if the size is a number. */
	VEC(const char **) dims;
	VEC(struct input_sequence) sequences;
	struct scope given; /* the names of the inputs */
};

#define DIM_VALUE ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
#define DIM_PARAM ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM

static const char *
input_item(struct importer *imp, const char *name)
{
	return arena_printf(&imp->tmp, "input %s",
			    import_quote(&imp->tmp, name));
}

/* A size's name, or NULL. */
static const char *
dim_name(const Onnx__TensorShapeProto__Dimension *d)
{
	return d->value_case == DIM_PARAM && size_is_name(d->dim_param)
		       ? d->dim_param
		       : NULL;
}

/* Is the size neither a number nor a name in the model? */
static bool
is_unnamed(const Onnx__TensorShapeProto__Dimension *d)
{
	return d->value_case == DIM_VALUE ? d->dim_value == -1 : !dim_name(d);
}

static const Onnx__TensorShapeProto *
declared_shape(const Onnx__ValueInfoProto *p)
{
	return p->type && p->type->tensor_type ? p->type->tensor_type->shape
					       : NULL;
}

static const struct input_shape *
asked_shape(const struct importer *imp, const char *name)
{
	for (int i = 0; i < imp->options->n_shapes; i++) {
		if (strcmp(imp->options->shapes[i].name, name) == 0) {
			return &imp->options->shapes[i];
		}
	}
	return NULL;
}

/* The number of dimensions that the model declares for p, or else
 * --input-shape; -1 if neither does, or if there are too many. */
static int
rank_of(const struct inputs *in, const Onnx__ValueInfoProto *p)
{
	const Onnx__TensorShapeProto *s = declared_shape(p);
	const struct input_shape *asked = asked_shape(in->imp, p->name);

	if (s && s->n_dim <= ONNX_MAX_RANK) {
		return (int)s->n_dim;
	}
	return !s && asked && asked->ndim <= ONNX_MAX_RANK ? asked->ndim : -1;
}

/* Collects the names of sizes: the names in the model, and after them a new
 * name for each size that has no name. */
static void
collect_names(struct inputs *in)
{
	for (int i = 0; i < in->list.n; i++) {
		const Onnx__TensorShapeProto *s = declared_shape(
			in->list.data[i]);

		for (size_t d = 0; s && d < s->n_dim; d++) {
			if (dim_name(s->dim[d])) {
				size_names_add(&in->names, dim_name(s->dim[d]),
					       d == 0);
			}
		}
	}
	for (int i = 0; i < in->list.n; i++) {
		const Onnx__ValueInfoProto *p = in->list.data[i];
		const Onnx__TensorShapeProto *s = declared_shape(p);
		const struct input_shape *asked = asked_shape(in->imp, p->name);
		int n = rank_of(in, p);
		const char **dims = arena_array(&in->imp->tmp, const char *,
						n > 0 ? n + 1 : 1);

		for (int d = 0; d < n; d++) {
			bool number = asked && d < asked->ndim &&
				      asked->dims[d] != INPUT_SHAPE_OPEN;
			bool open = !s || is_unnamed(s->dim[d]);

			dims[d] = s ? dim_name(s->dim[d]) : NULL;
			if (!dims[d] && !number &&
			    (open || (asked && d < asked->ndim &&
				      asked->names && asked->names[d]))) {
				dims[d] = size_names_new(&in->names, p->name, d,
							 open);
			}
		}
		vec_push(&in->imp->tmp, &in->dims, dims);
	}
}

/* "'a', 'b'", or "none" */
static const char *
list_of(const struct inputs *in)
{
	struct arena *a = &in->imp->tmp;
	const char *list = NULL;

	for (int i = 0; i < in->list.n; i++) {
		const char *one = import_quote(a, in->list.data[i]->name);

		if (i == 20) {
			return arena_printf(a, "%s, …", list);
		}
		list = list ? arena_printf(a, "%s, %s", list, one) : one;
	}
	return list ? list : "none";
}

static bool
bad_option(struct inputs *in, const char *text)
{
	return diag_error(&in->imp->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = in->imp->source.path },
			  "%s", text);
}

/* Applies dimension d of the --input-shape `asked` to the size named `name`.
 * False after a diagnostic. */
static bool
apply_dim(struct inputs *in, const struct input_shape *asked, int d,
	  const char *name, const Onnx__TensorShapeProto__Dimension *declared)
{
	int64_t size = asked->dims[d];

	if (asked->names && asked->names[d]) {
		in->imp->reshaped |= declared &&
				     declared->value_case == DIM_VALUE;
		return strcmp(name, asked->names[d]) == 0 ||
		       size_names_relate(&in->names, name, asked->names[d],
					 "--input-shape");
	}
	/* the option leaves this size to the model and --dim */
	if (size == INPUT_SHAPE_OPEN) {
		return true;
	}
	if (size < 1) {
		return bad_option(
			in,
			arena_printf(&in->imp->tmp,
				     "--input-shape: dimension %d of %s is "
				     "%lld; sizes are at least 1",
				     d,
				     import_quote(&in->imp->tmp, asked->name),
				     (long long)size));
	}
	if (declared && declared->value_case == DIM_VALUE &&
	    declared->dim_value != size) {
		in->imp->reshaped = true;
	}
	return !name || size_names_bind(&in->names, name, size, size, 1,
					"--input-shape");
}

/* Applies one --input-shape: gives the numbers in it to the names of the
 * input's sizes. False after a diagnostic, for example if its rank is not the
 * rank of the input. */
static bool
apply_shape(struct inputs *in, const struct input_shape *asked)
{
	struct arena *a = &in->imp->tmp;
	const Onnx__TensorShapeProto *s;
	int at = 0;

	while (at < in->list.n &&
	       strcmp(in->list.data[at]->name, asked->name) != 0) {
		at++;
	}
	if (at == in->list.n) {
		return bad_option(
			in, arena_printf(
				    a,
				    "--input-shape: the "
				    "model has no input %s; its inputs are: %s",
				    import_quote(a, asked->name), list_of(in)));
	}
	s = declared_shape(in->list.data[at]);
	if (asked->ndim > ONNX_MAX_RANK ||
	    (s && (size_t)asked->ndim != s->n_dim)) {
		return bad_option(
			in,
			arena_printf(
				a,
				"--input-shape: the "
				"input %s has %zu dimensions in the model, not %d",
				import_quote(a, asked->name),
				s ? s->n_dim : (size_t)ONNX_MAX_RANK,
				asked->ndim));
	}
	for (int d = 0; d < asked->ndim; d++) {
		if (!apply_dim(in, asked, d, in->dims.data[at][d],
			       s ? s->dim[d] : NULL)) {
			return false;
		}
	}
	return true;
}

static bool
bind_all(struct inputs *in)
{
	const struct import_options *o = in->imp->options;

	collect_names(in);
	for (int i = 0; i < o->n_shapes; i++) {
		if (!apply_shape(in, &o->shapes[i])) {
			return false;
		}
	}
	return size_names_settle(&in->names);
}

/* Sets *max to the size of a dimension that is a number. False after a
 * diagnostic. */
static bool
fixed_dim(struct inputs *in, const Onnx__ValueInfoProto *p, int d,
	  const Onnx__TensorShapeProto__Dimension *dim, int64_t *max)
{
	if (dim->dim_value < 0) {
		return diag_error(
			&in->imp->m->diags, DIAG_BAD_SHAPE,
			import_place(in->imp, input_item(in->imp, p->name)),
			"its dimension %d is %lld, which is not a size; use "
			"--input-shape NAME:SIZE,SIZE,…",
			d, (long long)dim->dim_value);
	}
	*max = dim->dim_value;
	return true;
}

/* Sets *out to the size of dimension d of the input with index `at`, as an
 * expression, *max to the largest value of this size, and *assumed if no option
 * and no number in the model gives the size. False after a diagnostic. */
static bool
dim_expr(struct inputs *in, int at, int d, const struct expr **out,
	 int64_t *max, bool *assumed)
{
	const Onnx__ValueInfoProto *p = in->list.data[at];
	const Onnx__TensorShapeProto *s = declared_shape(p);
	const struct input_shape *asked = asked_shape(in->imp, p->name);
	const char *name = in->dims.data[at][d];

	if (asked && asked->dims[d] != INPUT_SHAPE_OPEN) {
		*max = asked->dims[d];
	} else if (name) {
		const struct size_name *row = size_names_find(&in->names, name);

		*out = row->expr;
		*max = row->max;
		*assumed = row->assumed;
		return true;
	} else if (!fixed_dim(in, p, d, s->dim[d], max)) {
		return false;
	}
	*out = expr_index(in->imp->m, *max);
	return true;
}

/* An input of strings becomes a tensor of bytes with one more dimension. */
static bool
make_bytes(struct inputs *in, struct tensor *t, const char *item, int64_t *max)
{
	struct importer *imp = in->imp;
	int64_t bytes = STRING_BYTES;

	if (t->ndim == ONNX_MAX_RANK) {
		return diag_error(&imp->m->diags, DIAG_TOO_LARGE,
				  import_place(imp, item),
				  "it has %d dimensions; strings may have %d",
				  t->ndim, ONNX_MAX_RANK - 1);
	}
	for (int i = 0; i < imp->options->n_string_lengths; i++) {
		if (strcmp(imp->options->string_lengths[i].name,
			   t->model_name) == 0) {
			bytes = imp->options->string_lengths[i].bytes;
		}
	}
	t->is_string = true;
	t->type = dtype_of(DT_U8);
	max[t->ndim] = bytes;
	t->shape[t->ndim++] = expr_index(imp->m, bytes);
	return true;
}

/* Does each --string-length name an input of strings? False after a
 * diagnostic. */
static bool
check_string_lengths(struct inputs *in)
{
	struct importer *imp = in->imp;

	for (int i = 0; i < imp->options->n_string_lengths; i++) {
		const char *name = imp->options->string_lengths[i].name;
		bool found = false;

		/* compares the name in the model, which may differ from the
		 * tensor's name */
		for (int k = 0; k < imp->g->inputs.n; k++) {
			const struct tensor *t = imp->g->inputs.data[k];

			found = found || (t->is_string &&
					  strcmp(t->model_name, name) == 0);
		}
		if (!found) {
			return bad_option(
				in,
				arena_printf(&imp->tmp,
					     "--string-length: the model "
					     "has no input of strings %s",
					     import_quote(&imp->tmp, name)));
		}
	}
	return true;
}

/* The tensor of an input; NULL after a diagnostic. */
static struct tensor *
make_input(struct inputs *in, int at)
{
	struct importer *imp = in->imp;
	const Onnx__ValueInfoProto *p = in->list.data[at];
	const char *item = input_item(imp, p->name);
	const Onnx__TensorShapeProto *s = declared_shape(p);
	const struct input_shape *asked = asked_shape(imp, p->name);
	struct tensor *t = graph_tensor(imp->g, p->name);
	int number = p->type->tensor_type->elem_type;
	int64_t max[ONNX_MAX_RANK + 1] = { 0 }, elems;

	t->model_name = arena_strdup(&imp->m->arena, p->name);
	if (!dtype_from_onnx(number, &t->type)) {
		diag_error(&imp->m->diags, DIAG_UNSUPPORTED,
			   import_place(imp, item),
			   "elements of ONNX type %d are not supported",
			   number);
		return NULL;
	}
	if (!s && !asked) {
		missing_add(imp, MISSING_SHAPE, p->name, NULL, MISSING_SIZE);
		return NULL;
	}
	if (!asked && s->n_dim > ONNX_MAX_RANK) {
		diag_error(&imp->m->diags, DIAG_TOO_LARGE,
			   import_place(imp, item),
			   "it has %zu dimensions; at most %d are supported",
			   s->n_dim, ONNX_MAX_RANK);
		return NULL;
	}
	t->typed = true;
	t->ndim = asked ? asked->ndim : (int)s->n_dim;
	t->shape = arena_exprs(&imp->m->arena, t->ndim + 2);
	for (int d = 0; d < t->ndim; d++) {
		bool assumed = false;

		if (!dim_expr(in, at, d, &t->shape[d], &max[d], &assumed)) {
			return NULL;
		}
		t->assumed_dims |= (uint32_t)assumed << d;
	}
	if (dtype_class(t->type) == DTC_STRING &&
	    !make_bytes(in, t, item, max)) {
		return NULL;
	}
	if (!tensor_check_dims(imp->m, import_place(imp, item), t->ndim, max,
			       t->type, &elems)) {
		return NULL;
	}
	t->is_input = true;
	vec_push(&imp->m->arena, &imp->g->inputs, t);
	return t;
}

static bool
check_name(struct inputs *in, const Onnx__ValueInfoProto *p)
{
	struct importer *imp = in->imp;
	const char *item = input_item(imp, p->name ? p->name : "");

	if (!p->name || !*p->name) {
		return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
				  import_place(imp, item),
				  "it has no name; export the model again");
	}
	if (scope_find(&in->given, p->name) != NULL) {
		return diag_error(&imp->m->diags, DIAG_DUPLICATE_TENSOR,
				  import_place(imp, item),
				  "two inputs have this name; rename one");
	}
	scope_add(&in->given, p->name, NULL);
	return true;
}

static bool
check_input(struct inputs *in, Onnx__ValueInfoProto *p)
{
	struct importer *imp = in->imp;
	const char *item = input_item(imp, p->name);

	if (import_unwrap_optional(imp, p)) {
		import_assume(imp,
			      arena_printf(&imp->tmp,
					   "the optional input %s is always "
					   "given",
					   import_quote(&imp->tmp, p->name)));
	}
	if (!p->type || !p->type->tensor_type) {
		return diag_error(
			&imp->m->diags, DIAG_UNSUPPORTED,
			import_place(imp, item),
			"it is not a dense tensor; other kinds are not "
			"supported");
	}
	return true;
}

/* Appends the input, or the elements of a sequence, to the list. */
static bool
list_input(struct inputs *in, Onnx__ValueInfoProto *p)
{
	struct importer *imp = in->imp;
	struct input_sequence s = { .first = in->list.n };
	bool is_sequence = false;

	if (!check_name(in, p) ||
	    !import_sequence_input(imp, p, &in->list, &s, &is_sequence)) {
		return false;
	}
	if (!is_sequence) {
		vec_push(&imp->tmp, &in->list, p);
		return check_input(in, p);
	}
	vec_push(&imp->tmp, &in->sequences, s);
	for (int k = in->list.n - s.n; k < in->list.n; k++) {
		if (!check_name(in, in->list.data[k]) ||
		    !check_input(in, in->list.data[k])) {
			return false;
		}
	}
	return true;
}

/* Makes the sequence whose elements are inputs of the graph, and binds it to
 * the name of the model's input. g->inputs has the same order as in->list. */
static void
make_sequence(struct inputs *in, const struct input_sequence *from,
	      struct body *body)
{
	struct importer *imp = in->imp;
	struct tensor *t = graph_tensor(imp->g, from->name);
	bool is_none = from->n < 0;
	struct sequence *s =
		sequence_new(imp,
			     is_none ? NULL : &imp->g->inputs.data[from->first],
			     is_none ? 0 : from->n);

	s->is_none = is_none;
	sequence_set(imp, t, s);
	scope_add(&body->scope, from->name, t);
}

/* Is input i of the list an element of a sequence? */
static bool
is_element(const struct inputs *in, int i)
{
	for (int k = 0; k < in->sequences.n; k++) {
		const struct input_sequence *s = &in->sequences.data[k];

		if (i >= s->first && i < s->first + s->n) {
			return true;
		}
	}
	return false;
}

bool
import_inputs(struct importer *imp, struct body *body)
{
	struct inputs in = { .imp = imp, .names = { .imp = imp } };
	const char *fixed = NULL;
	int n_fixed = 0, errors;
	bool ok = true;

	scope_init(&in.given, &imp->tmp);
	for (size_t i = 0; i < imp->graph->n_input; i++) {
		Onnx__ValueInfoProto *p = imp->graph->input[i];

		if (p->name && scope_find(&body->scope, p->name)) {
			if (imp->model->ir_version >= 4 &&
			    !import_is_const_input(imp, p->name)) {
				fixed = import_quote(&imp->tmp, p->name);
				n_fixed++;
			}
			continue;
		}
		if (!list_input(&in, p)) {
			return false;
		}
	}
	if (!import_lengths_used(imp)) {
		return false;
	}
	if (n_fixed == 1) {
		import_assume(
			imp,
			arena_printf(
				&imp->tmp,
				"input %s keeps the value that the model gives it",
				fixed));
	} else if (n_fixed > 1) {
		import_assume(
			imp,
			arena_printf(
				&imp->tmp,
				"%d inputs keep the values that the model gives them",
				n_fixed));
	}
	if (!bind_all(&in)) {
		return false;
	}
	errors = imp->m->diags.n_errors;
	for (int i = 0; i < in.list.n; i++) {
		struct tensor *t = make_input(&in, i);

		if (imp->m->diags.n_errors > errors) {
			return false;
		}
		ok &= t != NULL;
		/* goes on with the next input, because the inputs after this
		 * one may have missing sizes, too */
		if (!t) {
			continue;
		}
		if (!is_element(&in, i)) {
			scope_add(&body->scope, in.list.data[i]->name, t);
		}
	}
	if (!ok) {
		return false;
	}
	for (int i = 0; i < in.sequences.n; i++) {
		make_sequence(&in, &in.sequences.data[i], body);
	}
	return check_string_lengths(&in);
}
