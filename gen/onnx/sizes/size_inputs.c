/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with an input that is a list of sizes (sizes.c). */
#include "ops.h"
#include "process.h"
#include "sizes.h"

/* The shape that the model declares for its output y; NULL if y is not an
 * output or the declaration is not complete. */
static const Onnx__TensorShapeProto *
declared_shape(const struct importer *imp, const struct tensor *y)
{
	const Onnx__TensorShapeProto *shape = NULL;

	for (size_t i = 0; y->is_output && i < imp->graph->n_output; i++) {
		const Onnx__ValueInfoProto *p = imp->graph->output[i];

		if (p->type && p->type->tensor_type &&
		    strcmp(p->name, tensor_label(y)) == 0) {
			shape = p->type->tensor_type->shape;
		}
	}
	for (size_t d = 0; shape && d < shape->n_dim; d++) {
		if (shape->dim[d]->value_case !=
			    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
		    shape->dim[d]->dim_value < 1 ||
		    shape->dim[d]->dim_value > INT32_MAX) {
			return NULL;
		}
	}
	return shape;
}

/* A bound for the `elems` sizes that the node reads, if it is an Expand,
 * Reshape or ConstantOfShape: from the shape that the model declares for the
 * node's result. NULL for other nodes, and if the result is no output of the
 * model with a complete declared shape. */
static const struct size_bound *
declared_bound(const struct sizing *s, int64_t elems)
{
	const struct node *n = s->u.node;
	const Onnx__TensorShapeProto *shape = declared_shape(s->u.imp,
							     n->outputs[0]);
	struct arena *tmp = &s->u.imp->tmp;
	struct size_bound *bound = arena_new(tmp, struct size_bound);
	int64_t *min = arena_array(tmp, int64_t, elems + 1);
	int64_t *max = arena_array(tmp, int64_t, elems + 1);
	bool expands = strcmp(n->op_type, "Expand") == 0;
	int64_t skipped = shape ? (int64_t)shape->n_dim - elems : -1;

	if (skipped < 0 || (skipped > 0 && !expands) ||
	    (!expands && strcmp(n->op_type, "Reshape") != 0 &&
	     strcmp(n->op_type, "ConstantOfShape") != 0)) {
		return NULL;
	}
	for (int64_t k = 0; k < elems; k++) {
		min[k] = 0;
		max[k] = shape->dim[skipped + k]->dim_value;
	}
	*bound = (struct size_bound){ .name = tensor_label(n->outputs[0]),
				      .n = (int)elems,
				      .min = min,
				      .max = max };
	return bound;
}

/* Tells the user that the entry function checks `sizes` against a bound from
 * the declared shape; tells nothing if `bound` is NULL. */
static void
assume_declared(struct sizing *s, const struct size_bound *bound,
		const char *sizes)
{
	struct arena *tmp = &s->u.imp->tmp;

	if (bound) {
		import_assume(
			s->u.imp,
			arena_printf(tmp,
				     "the sizes in %s are at most those "
				     "of the declared shape of %s "
				     "(--bound %s says otherwise)",
				     import_quote(tmp, sizes),
				     import_quote(tmp, bound->name),
				     command_quoted(tmp,
						    arena_printf(tmp, "%s=N",
								 sizes))));
	}
}

/* An input that is a list of n sizes, each of which must be at least
 * `least`. */
struct size_list {
	const char *label; /* the name of the input in messages */
	/* the bound from --bound, or from the declared shape of the result;
	 * NULL: there is no bound */
	const struct size_bound *bound;
	int n;
	int64_t least;
};

/* Has the result of n, a view or a Cast, the same numbers as the input of n,
 * which are sizes? True for signed integers and floats, if the result is not
 * narrower, and a float stays a float. */
static bool
keeps_numbers(const struct node *n)
{
	return n->inputs[0]->typed &&
	       (dtype_class(n->inputs[0]->type) == DTC_INT ||
		(dtype_is_float(n->inputs[0]->type) &&
		 dtype_is_float(n->outputs[0]->type))) &&
	       dtype_bits(n->outputs[0]->type) >=
		       dtype_bits(n->inputs[0]->type);
}

static bool
is_view(const struct node *n)
{
	static const char *const views[] = {
		"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"
	};

	for (size_t i = 0; !*n->domain && i < sizeof views / sizeof *views;
	     i++) {
		if (strcmp(n->op_type, views[i]) == 0) {
			return keeps_numbers(n);
		}
	}
	return false;
}

struct tensor *
size_root(struct tensor *t)
{
	while (t->producer && is_view(t->producer)) {
		t = t->producer->inputs[0];
	}
	return t;
}

/* A size that was already read from `root`, a tensor of one element, and whose
 * variable has a minimum of at least `least`; NULL if there is none. */
static struct tensor *
read_before(struct importer *imp, const struct tensor *root, int64_t least)
{
	for (int i = imp->read_sizes.n - 1; i >= 0; i--) {
		struct tensor *y = imp->read_sizes.data[i].size;

		if (imp->read_sizes.data[i].root == root &&
		    imp->g->run_sizes.data[node_run_sizes(y->producer)]
				    .var->min >= least) {
			return y;
		}
	}
	return NULL;
}

/* The bounds of the n sizes in t, which are elements at, at + 1, … of the list.
 * They come from --bound, the declared shape, or the range of t's values. NULL:
 * there is no bound. */
static const struct size_bound *
part_bound(struct sizing *s, const struct size_list *list, struct tensor *t,
	   int at, int n)
{
	struct arena *tmp = &s->u.imp->tmp;
	const char *names[] = { tensor_label(t), tensor_label(size_root(t)) };
	const struct size_bound *own = size_bound(s->u.imp, names, 2);
	struct size_bound *made;
	double low, high;
	int64_t *ends;

	if (own && (own->n == 1 || own->n == n)) {
		return own;
	}
	made = arena_new(tmp, struct size_bound);
	if (list->bound) {
		*made = *list->bound;
		if (made->n > 1) {
			made->min += at;
			made->max += at;
			made->n = n;
		}
		return made;
	}
	if (!import_element_range(s->u.imp, t, &low, &high) ||
	    high > SIZE_FOUND_MAX || low < -SIZE_FOUND_MAX) {
		return NULL;
	}
	ends = arena_array(tmp, int64_t, 2);
	ends[0] = (int64_t)low;
	ends[1] = (int64_t)high < list->least ? list->least : (int64_t)high;
	*made = (struct size_bound){
		.name = list->label, .n = 1, .min = &ends[0], .max = &ends[1]
	};
	return made;
}

/* Reads the n sizes in t at run time; they are the elements from index `at` of
 * the list. Returns them as int64[n]; NULL after a diagnostic. */
static struct tensor *
read_part(struct sizing *s, const struct size_list *list, struct tensor *t,
	  int at, int n)
{
	struct importer *imp = s->u.imp;
	struct tensor *root = size_root(t), *y;
	const struct size_bound *bound;
	int64_t *min = arena_array(&imp->tmp, int64_t, n + 1);
	int64_t *max = arena_array(&imp->tmp, int64_t, n + 1);

	y = n == 1 ? read_before(imp, root, list->least) : NULL;
	if (y) {
		return y;
	}
	bound = part_bound(s, list, t, at, n);
	if (!bound) {
		size_no_bound(s,
			      n == list->n ? list->label : tensor_label(root));
		return NULL;
	}
	for (int k = 0; k < n; k++) {
		min[k] = list->least;
		max[k] = INT32_MAX;
	}
	if (!dtype_equal(t->type, dtype_of(DT_I64))) {
		t = size_cast(s, "wide", t, dtype_of(DT_I64));
	}
	if (t->ndim != 1) {
		t = size_insert(s, "Reshape", "list", t,
				size_constant(s, "all", n));
	}
	y = size_variables(s, t,
			   n == list->n ? list->label : tensor_label(root), n,
			   min, max, false, bound);
	if (n == 1) {
		struct read_size read = { root, y };

		vec_push(&imp->tmp, &imp->read_sizes, read);
	}
	return y;
}

static bool
is_concat(const struct tensor *t)
{
	return t->ndim == 1 && !t->elems && !t->value && t->producer &&
	       !*t->producer->domain &&
	       strcmp(t->producer->op_type, "Concat") == 0;
}

/* The only input of the Concat that has elements; NULL if several may have. */
static struct tensor *
only_part(const struct node *concat)
{
	struct tensor *only = concat->inputs[0];
	int64_t elems;
	int n = 0;

	for (int i = 0; i < concat->n_inputs; i++) {
		if (!tensor_const_elems(concat->inputs[i], &elems) ||
		    elems > 0) {
			only = concat->inputs[i];
			n++;
		}
	}
	return n <= 1 ? only : NULL;
}

/* The tensor that t is a copy or a conversion of, through any number of nodes;
 * t itself if it is no copy or conversion. */
static struct tensor *
list_of(struct tensor *t)
{
	struct tensor *part = t;

	while (part) {
		const struct node *made;

		t = part;
		made = t->producer;
		part = NULL;
		if (is_concat(t)) {
			part = only_part(made);
		} else if (made && !t->elems && !t->value && !*made->domain &&
			   strcmp(made->op_type, "Cast") == 0 &&
			   keeps_numbers(made)) {
			part = made->inputs[0];
		}
	}
	return t;
}

/* The elements of t as int64[n], each a known size or a variable; t has the
 * elements from index `at` of the list. Inputs of a Concat without elements are
 * skipped, so that the recursion ends. */
static struct tensor *
read_list(struct sizing *s, const struct size_list *list, struct tensor *t,
	  int at)
{
	struct node *made;
	struct tensor **parts, *y;
	int64_t elems;
	int n = 0;

	t = list_of(t);
	made = t->producer;
	if (t->elems || t->value) {
		return dtype_equal(t->type, dtype_of(DT_I64))
			       ? t
			       : size_cast(s, "wide", t, dtype_of(DT_I64));
	}
	if (!is_concat(t)) {
		return read_part(s, list, t, at,
				 tensor_const_elems(t, &elems) ? (int)elems
							       : 1);
	}
	parts = arena_array(&s->u.imp->tmp, struct tensor *,
			    made->n_inputs + 1);
	for (int i = 0; i < made->n_inputs; i++) {
		if (!tensor_const_elems(made->inputs[i], &elems)) {
			return NULL;
		}
		if (elems == 0) {
			continue;
		}
		parts[n] = read_list(s, list, made->inputs[i], at);
		if (!parts[n++]) {
			return NULL;
		}
		at += (int)elems;
	}
	y = upgrade_tensor(&s->u, "sizes");
	node_set_attr_int(s->u.g,
			  upgrade_insert(&s->u, s->at++, "Concat", parts, n, y),
			  "axis", 0);
	return y;
}

bool
size_input(struct sizing *s, int i, int64_t least)
{
	struct node *n = s->u.node;
	struct tensor *t = n->inputs[i];
	const char *names[] = { tensor_label(t), tensor_label(n->outputs[0]) };
	struct size_list list = { .label = names[0], .least = least };
	int64_t elems;

	list.bound = size_bound(s->u.imp, names, 2);
	if (!tensor_const_elems(t, &elems) || elems > ONNX_MAX_RANK ||
	    (list.bound && list.bound->n != 1 && list.bound->n != elems)) {
		return !list.bound ? size_no_bound(s, list.label)
				   : diag_error(&s->u.imp->m->diags,
						DIAG_BAD_OPTION,
						node_place(s->u.g, n),
						"--bound %s: give one bound, "
						"or one for each element of "
						"the tensor",
						list.label);
	}
	list.n = (int)elems;
	if (!list.bound) {
		list.bound = declared_bound(s, elems);
		assume_declared(s, list.bound, list.label);
	}
	t = read_list(s, &list, t, 0);
	if (!t) {
		return false;
	}
	node_set_input(n, i, t);
	return true;
}

/* Range: the number of elements, max(0, (limit - start + delta - sign(delta)) /
 * delta) for integers. */
bool
size_range(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *start = n->inputs[0], *limit = n->inputs[1];
	struct tensor *delta = n->inputs[2], *count;
	const char *label = tensor_label(n->outputs[0]);
	const char *names[] = { label,
				arena_printf(&s->u.imp->tmp, "%s_count", label),
				tensor_label(limit) };
	const struct size_bound *bound = size_bound(s->u.imp, names, 3);
	bool whole = !dtype_is_float(start->type);
	struct dtype type = whole ? dtype_of(DT_I64) : start->type;
	struct dtype own = start->type;
	int64_t least = 0, most = INT32_MAX;

	if (!bound) {
		return size_no_bound(s, tensor_label(limit));
	}
	if (!dtype_equal(type, own)) {
		start = size_cast(s, "start", start, type);
		limit = size_cast(s, "limit", limit, type);
		delta = size_cast(s, "delta", delta, type);
	}
	count = size_insert(s, "Sub", "span", limit, start);
	if (whole) {
		count = size_insert(s, "Add", "more", count, delta);
		count = size_insert(s, "Sub", "less", count,
				    size_insert(s, "Sign", "sign", delta,
						NULL));
	}
	count = size_insert(s, "Div", "steps", count, delta);
	if (!whole) {
		count = size_insert(s, "Ceil", "whole_steps", count, NULL);
		count = size_cast(s, "number", count, dtype_of(DT_I64));
	}
	count = size_insert(s, "Max", "count", count,
			    size_constant(s, "none", 0));
	count = size_insert(s, "Reshape", "count_list", count,
			    size_constant(s, "one", 1));
	count = size_variables(s, count, names[1], 1, &least, &most, false,
			       bound);
	node_set_input(n, 1, n->inputs[2]);
	node_set_input(n, 2, count);
	n->domain = "tirc";
	n->op = op_find("tirc", "Range");
	return true;
}

/* -- Split by sizes -- */

/* Sets `parts` to the sizes of the results along the axis, if the model
 * declares the shapes of all outputs of the node and these sizes add up to
 * `whole`; else returns false. */
static bool
declared_parts(const struct sizing *s, int axis, const struct expr *whole,
	       int64_t *parts)
{
	const struct node *n = s->u.node;
	int64_t sum = 0;

	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *y = n->outputs[k];
		const Onnx__TensorShapeProto *shape =
			y ? declared_shape(s->u.imp, y) : NULL;

		if (!shape || shape->n_dim != (size_t)n->inputs[0]->ndim) {
			return false;
		}
		parts[k] = shape->dim[axis]->dim_value;
		sum += parts[k];
	}
	return expr_is_value(whole, sum);
}

/* The node uses the declared sizes. Adds checks to the entry function: the
 * sizes read at run time must equal the declared ones. */
static void
check_parts(struct sizing *s, const char *label, int first,
	    const int64_t *parts)
{
	struct graph *g = s->u.g;
	struct node *n = s->u.node;

	for (int k = 0; k < n->n_outputs; k++) {
		const struct expr *v = g->run_sizes.data[first + k].var->expr;

		graph_check(g, expr_eq(g->module, v,
				       expr_int(g->module, v->type, parts[k])));
	}
	node_set_input(n, 1,
		       graph_constant_ints(g, label, n->n_outputs, parts));
	import_assume(s->u.imp,
		      arena_printf(&s->u.imp->tmp,
				   "the sizes in %s are those of the declared "
				   "shapes of %s and the other parts; others "
				   "give BAD_SIZE",
				   import_quote(&s->u.imp->tmp, label),
				   import_quote(&s->u.imp->tmp,
						tensor_label(n->outputs[0]))));
}

/*	n = tirc.RunSize(sizes)		# each part is at most the whole
 *	y, z = Split(x, n)
 */
bool
size_split(struct sizing *s)
{
	struct node *n = s->u.node;
	struct graph *g = s->u.g;
	struct tensor *x = n->inputs[0], *t = n->inputs[1], one = { 0 };
	const char *label = tensor_label(t);
	int64_t axis = node_attr_int(n, "axis", 0), elems, most = INT32_MAX;
	struct arena *tmp = &s->u.imp->tmp;
	int64_t *min = arena_array(tmp, int64_t, n->n_outputs + 1);
	int64_t *max = arena_array(tmp, int64_t, n->n_outputs + 1);
	int64_t *parts = arena_array(&s->u.imp->m->arena, int64_t,
				     n->n_outputs + 1);
	const char *names[] = { label };
	int first = g->run_sizes.n;

	axis += axis < 0 ? x->ndim : 0;
	if (axis < 0 || axis >= x->ndim || !tensor_const_elems(t, &elems) ||
	    elems != n->n_outputs) {
		return true; /* type inference reports the error */
	}
	one = (struct tensor){ .ndim = 1, .shape = &x->shape[axis] };
	if (!tensor_max_elems(&one, &most) || most > INT32_MAX) {
		most = INT32_MAX;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		max[k] = most;
	}
	if (!dtype_equal(t->type, dtype_of(DT_I64))) {
		t = size_cast(s, "wide", t, dtype_of(DT_I64));
	}
	t = size_variables(s, t, label, n->n_outputs, min, max, false,
			   size_bound(s->u.imp, names, 1));
	if (declared_parts(s, (int)axis, x->shape[axis], parts)) {
		check_parts(s, label, first, parts);
	} else {
		node_set_input(n, 1, t);
	}
	return true;
}
