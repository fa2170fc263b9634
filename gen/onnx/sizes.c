/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose shape depends on data: nodes that compute the sizes come first,
 * and tirc.RunSize, whose elements become variables of the graph.
 *
 *	before	y = Expand(x, s)                # s: int64[2], an input
 *	after	n = tirc.RunSize(s)             # n = [s_0, s_1]
 *		y = Expand(x, n)                # y: [s_0, s_1]
 *
 * A variable has bounds, for the memory plan: from the operator (NonZero has at
 * most as many results as elements), or from --bound. The entry function checks
 * bounds that do not follow from the operator. */
#include "importer.h"

#include "identifiers.h"
#include "ops.h"
#include "upgrade.h"

struct sizing {
	struct upgrade u;
	int at; /* where the next node is inserted */
};

/* Is that the name, as the model or as the header has it? */
static bool
means(struct importer *imp, const char *said, const char *name)
{
	const char *clean = name_stem(&imp->tmp, name);

	return strcmp(said, name) == 0 ||
	       (clean != NULL && strcmp(said, clean) == 0);
}

/* The bound of --bound for one of the names; NULL: no option names it. */
static const struct size_bound *
find_bound(struct importer *imp, const char *const *names, int n)
{
	const struct import_options *o = imp->options;

	for (int i = 0; i < o->n_bounds; ++i) {
		for (int k = 0; k < n; ++k) {
			if (means(imp, o->bounds[i].name, names[k])) {
				imp->bound_used[i] = true;
				return &o->bounds[i];
			}
		}
	}
	return NULL;
}

bool
import_bounds_used(struct importer *imp)
{
	const struct import_options *o = imp->options;

	for (int i = 0; i < o->n_bounds; ++i) {
		if (!imp->bound_used[i]) {
			return diag_error(
				&imp->m->diags, DIAG_BAD_OPTION,
				(struct diag_place){ .file = imp->source.path },
				"--bound: no tensor %s gives a size that is "
				"known only when the model runs",
				import_quote(&imp->tmp, o->bounds[i].name));
		}
	}
	return true;
}

/* Inserts a node of ONNX's with one output. */
static struct tensor *
insert(struct sizing *s, const char *op_type, const char *what,
       struct tensor *a, struct tensor *b)
{
	struct tensor *in[2] = { a, b };
	struct tensor *out = upgrade_tensor(&s->u, what);

	upgrade_insert(&s->u, s->at++, op_type, in, b ? 2 : 1, out);
	return out;
}

static struct tensor *
insert_cast(struct sizing *s, const char *what, struct tensor *x,
	    struct dtype type)
{
	struct tensor *y = insert(s, "Cast", what, x, NULL);

	node_set_attr_int(s->u.g, y->producer, "to", dtype_onnx_number(type));
	return y;
}

static struct tensor *
int_constant(struct sizing *s, const char *what, int64_t v)
{
	return graph_constant_ints(s->u.g,
				   arena_printf(&s->u.imp->tmp, "%s_%s",
						s->u.node->outputs[0]->name,
						what),
				   1, &v);
}

static bool
is_size(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->run_sizes.n; ++i) {
		if (strcmp(g->run_sizes.data[i].var->name, name) == 0) {
			return true;
		}
	}
	for (int i = 0; i < g->dims.n; ++i) {
		if (strcmp(g->dims.data[i]->name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* A name for the variable: "y_count", or of the elements of s "s_0", "s_1",
 * with a number if another size has it. */
static const char *
size_name(struct sizing *s, const char *stem, int i, int n)
{
	struct arena *a = &s->u.imp->m->arena;
	const char *clean = name_stem(a, stem);
	const char *wanted, *name;

	stem = clean != NULL ? clean : stem;
	wanted = n == 1 ? arena_strdup(a, stem)
			: arena_printf(a, "%s_%d", stem, i);
	name = wanted;
	for (int k = 2; is_size(s->u.g, name); ++k) {
		name = arena_printf(a, "%s_%d", wanted, k);
	}
	return name;
}

/* Inserts tirc.RunSize of x, n integers; min and max as given, unless
 * --bound says less. */
static struct tensor *
insert_sizes(struct sizing *s, struct tensor *x, const char *stem, int n,
	     const int64_t *min, const int64_t *max, bool proven,
	     const struct size_bound *bound)
{
	struct graph *g = s->u.g;
	struct tensor *y = upgrade_tensor(&s->u, "size");
	struct node *node = upgrade_insert(&s->u, s->at++, "RunSize", &x, 1, y);

	node->domain = "tirc";
	node->op = op_find("tirc", "RunSize");
	node_set_attr_int(g, node, "first", g->run_sizes.n);
	for (int i = 0; i < n; ++i) {
		int64_t low = min[i], high = max[i];
		struct run_size size = { .proven = proven };

		if (bound) {
			int k = bound->n == 1 ? 0 : i;

			size.proven &= bound->min[k] <= low &&
				       bound->max[k] >= high;
			low = bound->min[k] > low ? bound->min[k] : low;
			high = bound->max[k] < high ? bound->max[k] : high;
		}
		size.var = var_new_dim(g->module, size_name(s, stem, i, n), low,
				       high);
		vec_push(&g->module->arena, &g->run_sizes, size);
	}
	return y;
}

struct tensor *
import_run_size(struct importer *imp, struct node *n, int pos, struct tensor *x,
		const char *name, int64_t most)
{
	struct sizing s = {
		.u = { .imp = imp, .g = imp->g, .node = n, .pos = pos },
		.at = pos,
	};
	const char *names[] = { tensor_label(n->outputs[0]), name };
	int64_t least = 0;

	return insert_sizes(&s, x, name, 1, &least, &most, true,
			    find_bound(imp, names, 2));
}

static bool
no_bound(struct sizing *s, const char *name)
{
	return diag_error(
		&s->u.imp->m->diags, DIAG_UNKNOWN_SHAPE,
		node_place(s->u.g, s->u.node),
		"the size of its result depends on %s, which is known only "
		"when the model runs; make it constant with --const-input, or "
		"give its largest value with --bound %s=N",
		import_quote(&s->u.imp->tmp, name), name);
}

/* -- NonZero -- */

static bool
size_nonzero(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *x = n->inputs[0], *count;
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y,
				arena_printf(&s->u.imp->tmp, "%s_count", y) };
	struct node *node;
	int64_t least = 0, most;

	if (!tensor_max_elems(x, &most)) {
		return no_bound(s, y);
	}
	count = upgrade_tensor(&s->u, "found");
	node = upgrade_insert(&s->u, s->at++, "CountNonZero", &x, 1, count);
	node->domain = "tirc";
	node->op = op_find("tirc", "CountNonZero");
	node_resize_inputs(n, 2);
	node_set_input(n, 1,
		       insert_sizes(s, count, names[1], 1, &least, &most, true,
				    find_bound(s->u.imp, names, 2)));
	return true;
}

/* -- NonMaxSuppression -- */

/* The largest number of boxes that are kept: all boxes of all classes, or fewer
 * if the largest number per class is a constant. */
static bool
most_boxes(struct sizing *s, int64_t *most)
{
	const struct tensor *scores = s->u.node->inputs[1];
	double limit;
	int64_t boxes;

	if (!tensor_max_elems(scores, most)) {
		return false;
	}
	if (input_scalar(s->u.node, 2, &limit) && scores->ndim == 3 &&
	    expr_is_int(scores->shape[2], &boxes) && boxes > 0 &&
	    limit < (double)boxes) {
		*most = *most / boxes * (limit > 0 ? (int64_t)limit : 0);
	}
	return true;
}

/*	before	y = NonMaxSuppression(boxes, scores, …)
 *	after	kept, count, sides = tirc.NonMaxSuppression(boxes, scores, …)
 *		n = tirc.RunSize(count)
 *		y = Slice(kept, 0, n, 0) */
static bool
size_nms(struct sizing *s)
{
	struct node *n = s->u.node;
	struct arena *tmp = &s->u.imp->tmp;
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y, arena_printf(tmp, "%s_count", y) };
	int64_t centers = node_attr_int(n, "center_point_box", 0);
	int64_t least = 0, most;
	struct tensor *in[5] = { NULL }, *kept, *number, *count;
	struct node *made;

	if (!node_input(n, 1) || n->n_inputs > 5) {
		return true; /* type inference reports it */
	}
	if (!most_boxes(s, &most)) {
		return no_bound(s, y);
	}
	for (int i = 0; i < n->n_inputs; ++i) {
		in[i] = n->inputs[i];
	}
	kept = upgrade_tensor(&s->u, "kept");
	number = upgrade_tensor(&s->u, "number");
	made = upgrade_insert(&s->u, s->at++, "NonMaxSuppression", in, 5, kept);
	made->domain = "tirc";
	made->op = op_find("tirc", "NonMaxSuppression");
	node_add_output(made, number);
	node_add_output(made, upgrade_tensor(&s->u, "sides"));
	node_set_attr_int(s->u.g, made, "center_point_box", centers);
	count = insert_sizes(s, number, names[1], 1, &least, &most, true,
			     find_bound(s->u.imp, names, 2));
	n->attrs.n = 0;
	n->domain = "";
	n->op_type = "Slice";
	n->op = op_find("", "Slice");
	node_resize_inputs(n, 4);
	node_set_input(n, 0, kept);
	node_set_input(n, 1, int_constant(s, "first", 0));
	node_set_input(n, 2, count);
	node_set_input(n, 3, int_constant(s, "rows", 0));
	return true;
}

/* -- Unique -- */

/* Output k of the node, for another node to compute; NULL: it is absent. */
static struct tensor *
take_output(struct node *n, int k)
{
	struct tensor *t = k < n->n_outputs ? n->outputs[k] : NULL;

	if (t) {
		n->outputs[k] = NULL;
		t->producer = NULL;
	}
	return t;
}

/* The first elements of t, as many as `count` says. */
static void
insert_head(struct sizing *s, struct tensor *t, struct tensor *count,
	    struct tensor *out)
{
	struct tensor *in[] = { t, int_constant(s, "from", 0), count,
				int_constant(s, "of", 0) };

	upgrade_insert(&s->u, s->at++, "Slice", in, 4, out);
}

/* x as rows along the axis; without an axis, its elements. *values: what the
 * result is gathered of. */
static struct tensor *
rows_of(struct sizing *s, struct tensor *x, const struct attr *axis,
	struct tensor **values)
{
	struct graph *g = s->u.g;
	int64_t perm[ONNX_MAX_RANK], shape[2] = { -1, 1 };
	int at, n = 1;

	*values = x;
	if (!axis) {
		*values = insert(s, "Reshape", "elements", x,
				 int_constant(s, "all", -1));
		return insert(s, "Reshape", "column", x,
			      graph_constant_ints(
				      g,
				      arena_printf(&s->u.imp->tmp, "%s_column",
						   s->u.node->outputs[0]->name),
				      2, shape));
	}
	at = (int)(axis->i < 0 ? axis->i + x->ndim : axis->i);
	perm[0] = at;
	for (int d = 0; d < x->ndim; ++d) {
		if (d != at) {
			perm[n++] = d;
		}
	}
	if (at > 0) {
		x = insert(s, "Transpose", "along", x, NULL);
		node_set_attr_ints(g, x->producer, "perm",
				   arena_copy(&g->module->arena, perm,
					      sizeof *perm * (size_t)n),
				   n);
	}
	x = insert(s, "Flatten", "rows", x, NULL);
	node_set_attr_int(g, x->producer, "axis", 1);
	return x;
}

/*	before	y, indices, inverse, counts = Unique(x)
 *	after	rows = Reshape(x, [-1, 1])
 *		first, inverse, all, number = tirc.Unique(rows)
 *		n = tirc.RunSize(number)
 *		indices = Slice(first, 0, n, 0)
 *		counts = Slice(all, 0, n, 0)
 *		y = Gather(x, indices) */
static bool
size_unique(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *x = n->inputs[0], *out[4], *rows, *values, *count;
	const struct attr *axis = node_attr(n, "axis");
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y,
				arena_printf(&s->u.imp->tmp, "%s_count", y) };
	struct tensor *indices = take_output(n, 1);
	struct tensor *inverse = take_output(n, 2);
	struct tensor *counts = take_output(n, 3);
	int64_t sorted = node_attr_int(n, "sorted", 1);
	int64_t along = axis ? axis->i : 0, least = 0, most;
	struct node *made;

	if (axis && (along < -x->ndim || along >= x->ndim)) {
		return diag_error(&s->u.imp->m->diags, DIAG_BAD_ATTRIBUTE,
				  node_place(s->u.g, n),
				  "axis %lld is outside of [%d, %d); correct "
				  "the model",
				  (long long)along, -x->ndim, x->ndim);
	}
	if (!tensor_max_elems(x, &most) || most > INT32_MAX) {
		return no_bound(s, y);
	}
	rows = rows_of(s, x, axis, &values);
	out[0] = upgrade_tensor(&s->u, "first");
	made = upgrade_insert(&s->u, s->at++, "Unique", &rows, 1, out[0]);
	made->domain = "tirc";
	made->op = op_find("tirc", "Unique");
	out[1] = inverse ? inverse : upgrade_tensor(&s->u, "inverse");
	out[2] = upgrade_tensor(&s->u, "all_counts");
	out[3] = upgrade_tensor(&s->u, "number");
	for (int k = 1; k < 4; ++k) {
		node_add_output(made, out[k]);
	}
	node_set_attr_int(s->u.g, made, "sorted", sorted);
	node_set_attr_int(s->u.g, made, "rows", 1);
	if (axis && expr_is_int(x->shape[along < 0 ? along + x->ndim : along],
				&least)) {
		most = least;
		least = 0;
	}
	count = insert_sizes(s, out[3], names[1], 1, &least, &most, true,
			     find_bound(s->u.imp, names, 2));
	indices = indices ? indices : upgrade_tensor(&s->u, "indices");
	insert_head(s, out[0], count, indices);
	if (counts) {
		insert_head(s, out[2], count, counts);
	}
	n->attrs.n = 0;
	n->n_outputs = 1;
	n->domain = "";
	n->op_type = "Gather";
	n->op = op_find("", "Gather");
	node_resize_inputs(n, 2);
	node_set_input(n, 0, values);
	node_set_input(n, 1, indices);
	node_set_attr_int(s->u.g, n, "axis", along);
	return true;
}

/* -- operators with an input of sizes -- */

/* The shape that the model declares of its output y; NULL: it leaves some size
 * open. */
static const Onnx__TensorShapeProto *
declared_shape(const struct importer *imp, const struct tensor *y)
{
	const Onnx__TensorShapeProto *shape = NULL;

	for (size_t i = 0; y->is_output && i < imp->graph->n_output; ++i) {
		const Onnx__ValueInfoProto *p = imp->graph->output[i];

		if (p->type && p->type->tensor_type &&
		    strcmp(p->name, tensor_label(y)) == 0) {
			shape = p->type->tensor_type->shape;
		}
	}
	for (size_t d = 0; shape && d < shape->n_dim; ++d) {
		if (shape->dim[d]->value_case !=
			    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
		    shape->dim[d]->dim_value < 1 ||
		    shape->dim[d]->dim_value > INT32_MAX) {
			return NULL;
		}
	}
	return shape;
}

/* An output of the model with a declared shape: no size that Expand, Reshape or
 * ConstantOfShape is given is larger. NULL: there is none. */
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
	for (int64_t k = 0; k < elems; ++k) {
		min[k] = 0;
		max[k] = shape->dim[skipped + k]->dim_value;
	}
	*bound = (struct size_bound){ .name = tensor_label(n->outputs[0]),
				      .n = (int)elems,
				      .min = min,
				      .max = max };
	return bound;
}

/* The caller is told of the bound, which the entry function checks. */
static void
assume_declared(struct sizing *s, const struct size_bound *bound,
		const char *sizes)
{
	struct arena *tmp = &s->u.imp->tmp;

	if (bound) {
		import_assume(s->u.imp,
			      arena_printf(tmp,
					   "the sizes in %s are at most those "
					   "of the declared shape of %s "
					   "(--bound %s=N says otherwise)",
					   import_quote(tmp, sizes),
					   import_quote(tmp, bound->name),
					   sizes));
	}
}

/* Integers of input i become sizes within the bounds of --bound. */
static bool
size_input(struct sizing *s, int i, int64_t least)
{
	struct node *n = s->u.node;
	struct tensor *t = n->inputs[i];
	const char *label = tensor_label(t);
	const char *names[] = { label, tensor_label(n->outputs[0]) };
	const struct size_bound *bound = find_bound(s->u.imp, names, 2);
	int64_t elems, *min, *max;

	if (!bound && tensor_const_elems(t, &elems) && elems <= ONNX_MAX_RANK) {
		bound = declared_bound(s, elems);
		assume_declared(s, bound, label);
	}
	if (!bound) {
		return no_bound(s, label);
	}
	if (!tensor_const_elems(t, &elems) || elems > ONNX_MAX_RANK ||
	    (bound->n != 1 && bound->n != elems)) {
		return diag_error(&s->u.imp->m->diags, DIAG_BAD_OPTION,
				  node_place(s->u.g, n),
				  "--bound %s: give one bound, or one for each "
				  "element of the tensor",
				  label);
	}
	min = arena_array(&s->u.imp->tmp, int64_t, elems + 1);
	max = arena_array(&s->u.imp->tmp, int64_t, elems + 1);
	for (int k = 0; k < elems; ++k) {
		min[k] = least;
		max[k] = INT32_MAX;
	}
	if (!dtype_equal(t->type, dtype_of(DT_I64))) {
		t = insert_cast(s, "wide", t, dtype_of(DT_I64));
	}
	if (t->ndim != 1) {
		t = insert(s, "Reshape", "list", t,
			   int_constant(s, "all", elems));
	}
	node_set_input(n, i,
		       insert_sizes(s, t, label, (int)elems, min, max, false,
				    bound));
	return true;
}

/* Range: the number of elements, max(0, (limit - start + delta - sign(delta)) /
 * delta) for integers. */
static bool
size_range(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *start = n->inputs[0], *limit = n->inputs[1];
	struct tensor *delta = n->inputs[2], *count;
	const char *label = tensor_label(n->outputs[0]);
	const char *names[] = { label,
				arena_printf(&s->u.imp->tmp, "%s_count", label),
				tensor_label(limit) };
	const struct size_bound *bound = find_bound(s->u.imp, names, 3);
	bool whole = !dtype_is_float(start->type);
	struct dtype type = whole ? dtype_of(DT_I64) : start->type;
	struct dtype own = start->type;
	int64_t least = 0, most = INT32_MAX;

	if (!bound) {
		return no_bound(s, tensor_label(limit));
	}
	if (!dtype_equal(type, own)) {
		start = insert_cast(s, "start", start, type);
		limit = insert_cast(s, "limit", limit, type);
		delta = insert_cast(s, "delta", delta, type);
	}
	count = insert(s, "Sub", "span", limit, start);
	if (whole) {
		count = insert(s, "Add", "more", count, delta);
		count = insert(s, "Sub", "less", count,
			       insert(s, "Sign", "sign", delta, NULL));
	}
	count = insert(s, "Div", "steps", count, delta);
	if (!whole) {
		count = insert(s, "Ceil", "whole_steps", count, NULL);
		count = insert_cast(s, "number", count, dtype_of(DT_I64));
	}
	count = insert(s, "Max", "count", count, int_constant(s, "none", 0));
	count = insert(s, "Reshape", "count_list", count,
		       int_constant(s, "one", 1));
	count = insert_sizes(s, count, names[1], 1, &least, &most, false,
			     bound);
	node_set_input(n, 1, n->inputs[2]);
	node_set_input(n, 2, count);
	n->domain = "tirc";
	n->op = op_find("tirc", "Range");
	return true;
}

/* -- the driver -- */

/* Is input i present, of known type and rank, without known elements? */
static bool
is_unknown(struct importer *imp, const struct node *n, int i)
{
	const struct tensor *t = node_input(n, i);
	const struct expr *const *elems;
	int count;
	double v;

	return t && t->typed && t->ndim >= 0 &&
	       !input_elems(imp->m, n, i, &elems, &count) &&
	       !input_scalar(n, i, &v);
}

static bool
all_typed(const struct node *n)
{
	for (int i = 0; i < n->n_inputs; ++i) {
		if (n->inputs[i] &&
		    (!n->inputs[i]->typed || n->inputs[i]->ndim < 0)) {
			return false;
		}
	}
	return n->n_inputs > 0 && n->inputs[0] && n->n_outputs > 0 &&
	       n->outputs[0];
}

/* Operators with an input of sizes: its number, and the least value. */
static const struct size_row {
	const char *op;
	int input;
	int64_t least;
} size_rows[] = {
	{ "ConstantOfShape", 0, 0 }, { "Expand", 1, 1 }, { "OneHot", 1, 1 },
	{ "Reshape", 1, 1 },         { "Tile", 1, 0 },   { "TopK", 1, 0 },
};

bool
import_sizes(struct importer *imp, struct node *n, int pos)
{
	struct sizing s = {
		.u = { .imp = imp, .g = imp->g, .node = n, .pos = pos },
		.at = pos,
	};

	if (!all_typed(n)) {
		return true;
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "NonMaxSuppression") == 0 && n->n_outputs == 1) {
		return size_nms(&s);
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "Unique") == 0 && !node_attr(n, "rows")) {
		return size_unique(&s);
	}
	if (strcmp(n->domain, "tirc") == 0 &&
	    strcmp(n->op_type, "NonZero") == 0 && n->n_inputs == 1) {
		return size_nonzero(&s);
	}
	if (*n->domain) {
		return true;
	}
	for (size_t i = 0; i < sizeof size_rows / sizeof size_rows[0]; ++i) {
		if (strcmp(size_rows[i].op, n->op_type) == 0 &&
		    is_unknown(imp, n, size_rows[i].input)) {
			return size_input(&s, size_rows[i].input,
					  size_rows[i].least);
		}
	}
	if (strcmp(n->op_type, "Range") == 0 && n->n_inputs == 3 &&
	    (is_unknown(imp, n, 0) || is_unknown(imp, n, 1) ||
	     is_unknown(imp, n, 2))) {
		return size_range(&s);
	}
	return true;
}
