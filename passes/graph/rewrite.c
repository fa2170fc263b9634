/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the graph passes: matching, making nodes, reading constants. */
#include "rewrite.h"

bool
node_is(const struct node *n, const char *op_type)
{
	return *n->domain == '\0' && strcmp(n->op_type, op_type) == 0;
}

bool
node_is_internal(const struct node *n, const char *op_type)
{
	return strcmp(n->domain, "tirc") == 0 &&
	       strcmp(n->op_type, op_type) == 0;
}

bool
node_is_costly(const struct node *n)
{
	static const char *const names[] = {
		"Acos",  "Acosh",    "Asin", "Asinh",   "Atan", "Atanh", "Celu",
		"Cos",   "Cosh",     "Elu",  "Erf",     "Exp",  "Gelu",  "Log",
		"Mish",  "Pow",      "Selu", "Sigmoid", "Sin",  "Sinh",  "Sqrt",
		"Swish", "Softplus", "Tan",  "Tanh",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (node_is(n, names[i])) {
			return true;
		}
	}
	return false;
}

bool
tensor_read_by_control(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (t->uses.data[i].node->op->fuse == FUSE_CONTROL) {
			return true;
		}
	}
	return false;
}

int64_t
tensor_bytes_max(const struct tensor *t)
{
	int64_t bytes;

	if (!tensor_max_elems(t, &bytes) ||
	    __builtin_mul_overflow(bytes, dtype_bytes(t->type), &bytes)) {
		return INT64_MAX;
	}
	return bytes;
}

int
only_variable_input(const struct node *n)
{
	int found = -1;

	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && !tensor_is_constant(n->inputs[i])) {
			if (found >= 0) {
				return -1;
			}
			found = i;
		}
	}
	return found;
}

bool
replace_by(struct graph *g, struct node *n, struct tensor *x, const char *pass,
	   const char *why)
{
	struct tensor *y = n->outputs[0];

	if (y->is_output &&
	    (x->is_input || x->is_output || tensor_is_constant(x))) {
		return false;
	}
	graph_replace_uses(g, y, x);
	graph_remove_node(g, n, pass, why);
	return true;
}

static int
position_of(const struct graph *g, const struct node *n)
{
	for (int i = 0; n && i < g->nodes.n; i++) {
		if (g->nodes.data[i] == n) {
			return i;
		}
	}
	return -1;
}

struct node *
insert_node(struct graph *g, const struct node *before, const char *op_type,
	    const char *base, struct tensor *const *inputs, int n_inputs)
{
	struct tensor *out = graph_tensor(g, base);
	struct node *n = graph_node_at(g, position_of(g, before), "", op_type,
				       "", inputs, n_inputs, &out, 1);

	n->op = op_find("", op_type);
	if (before != NULL) {
		graph_share_origins(n, before);
	}
	return n;
}

struct node *
insert_cast(struct graph *g, const struct node *before, struct tensor *x,
	    struct dtype to, const char *base)
{
	struct node *n = insert_node(g, before, "Cast",
				     arena_printf(&g->module->arena, "%s_%s",
						  base, dtype_short(to)),
				     &x, 1);

	node_set_attr_int(g, n, "to", dtype_onnx_number(to));
	return n;
}

struct tensor *
insert_pad(struct graph *g, const struct node *before, struct tensor *x,
	   const int64_t *pads, struct tensor *outside)
{
	int64_t *list = arena_copy(&g->module->arena, pads,
				   2 * sizeof *pads * (size_t)x->ndim);
	struct tensor *in[3] = { x, NULL, outside };
	struct node *pad;

	in[1] = graph_constant_ints(g, "pads", 2 * x->ndim, list);
	pad = insert_node(g, before, "Pad", x->name, in,
			  outside != NULL ? 3 : 2);
	return ops_infer_node(g, pad) ? pad->outputs[0] : NULL;
}

struct node *
insert_reshape(struct graph *g, const struct node *before, struct tensor *x,
	       const char *name, int ndim, const int64_t *shape)
{
	const char *of = arena_printf(&g->module->arena, "%s.shape", x->name);
	struct tensor *in[2] = { x, graph_constant_ints(g, of, ndim, shape) };
	struct node *n = insert_node(g, before, "Reshape", name, in, 2);

	for (int i = 0; i < ndim; i++) {
		if (shape[i] == 0) {
			node_set_attr_int(g, n, "allowzero", 1);
		}
	}
	return n;
}

struct node *
insert_copy(struct graph *g, const struct node *before, const struct node *n,
	    const char *name, struct tensor *const *inputs)
{
	struct node *copy = insert_node(g, before, n->op_type, name, inputs,
					n->n_inputs);

	copy->domain = n->domain;
	copy->op = n->op;
	node_copy_attrs(g, copy, n);
	return copy;
}

int64_t
pool_window_elems(const struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const int64_t *sizes;
	int count = node_attr_ints(n, "kernel_shape", &sizes);
	int64_t elems = 1;

	for (int d = 2; d < x->ndim; d++) {
		int64_t size = 1;

		if (d - 2 < count) {
			size = sizes[d - 2];
		} else {
			expr_is_int(x->shape[d], &size);
		}
		if (__builtin_mul_overflow(elems, size, &elems)) {
			return INT64_MAX;
		}
	}
	return elems;
}

void
node_copy_attrs(struct graph *g, struct node *to, const struct node *from)
{
	for (int i = 0; i < from->attrs.n; i++) {
		node_set_attr(g, to, &from->attrs.data[i]);
	}
}

struct tensor *
finish_constant(struct graph *g, struct node *n)
{
	struct tensor *out = n->outputs[0];

	if (!ops_infer_node(g, n)) {
		return NULL;
	}
	graph_make_recipe(g, n, "fold", "computed from constants");
	if (tensor_bytes_max(out) <= EAGER_BYTES && !tensor_value(g, out)) {
		return NULL;
	}
	return out;
}

struct tensor *
copy_constant(struct graph *g, const struct tensor *t, const char *name)
{
	struct tensor *copy = graph_tensor(g, name);

	copy->model_name = t->model_name;
	copy->type = t->type;
	copy->typed = t->typed;
	copy->ndim = t->ndim;
	copy->shape = t->shape;
	copy->value = t->value;
	copy->recipe = t->recipe;
	copy->output_index = t->output_index;
	copy->from = t->from;
	copy->made_by = t->made_by;
	copy->elems = t->elems;
	copy->n_elems = t->n_elems;
	return copy;
}

struct tensor *
constant_of(struct graph *of, const struct node *n,
	    struct tensor *const *inputs)
{
	return finish_constant(of, insert_copy(of, NULL, n, n->outputs[0]->name,
					       inputs));
}

struct tensor *
constant_binary(struct graph *g, const char *op_type, const char *base,
		struct tensor *a, struct tensor *b)
{
	struct tensor *in[2] = { a, b };

	return finish_constant(g, insert_node(g, NULL, op_type, base, in, 2));
}

struct tensor *
constant_floats(struct graph *g, const char *base, struct dtype t, int ndim,
		const int64_t *shape, const double *values)
{
	size_t elems = 1;
	void *data;

	for (int i = 0; i < ndim; i++) {
		elems *= (size_t)shape[i];
	}
	data = arena_alloc(&g->module->arena,
			   elems * (size_t)dtype_bytes(t) + 1);
	for (size_t i = 0; i < elems; i++) {
		number_store(t, data, i, (union number){ .f = values[i] });
	}
	return graph_constant(g, base, t, ndim, shape, data);
}

static double
as_double(struct dtype t, union number v)
{
	if (dtype_is_float(t)) {
		return v.f;
	}
	return dtype_class(t) == DTC_UINT ? (double)v.u : (double)v.i;
}

double *
constant_doubles(struct graph *g, struct tensor *t, int64_t *n)
{
	const struct value *v;
	double *out;

	if (!tensor_is_constant(t) || dtype_class(t->type) == DTC_STRING ||
	    tensor_bytes_max(t) > EAGER_BYTES * 8) {
		return NULL;
	}
	v = tensor_value(g, t);
	if (!v) {
		return NULL;
	}
	out = arena_array(&g->module->arena, double, v->elems + 1);
	for (int64_t i = 0; i < v->elems; i++) {
		out[i] = as_double(v->type,
				   v->data ? number_load(v->type, v->data,
							 (size_t)i)
					   : v->fill);
	}
	*n = v->elems;
	return out;
}

bool
constant_is_all(struct graph *g, struct tensor *t, double v)
{
	int64_t n;
	double *values = constant_doubles(g, t, &n);

	for (int64_t i = 0; values && i < n; i++) {
		if (values[i] != v) {
			return false;
		}
	}
	return values && n > 0;
}

bool
tensor_is_repeat(const struct tensor *t)
{
	return t->recipe != NULL && node_is_internal(t->recipe, "Repeat");
}

bool
node_reads_elements(const struct node *n)
{
	switch (n->op->fuse) {
	case FUSE_ELEMENTWISE:
	case FUSE_BROADCAST:
	case FUSE_INJECTIVE:
	case FUSE_COMPUTE:
	case FUSE_REDUCTION:
	case FUSE_ROWWISE:
	case FUSE_ORDERED:
		return n->match == NULL;
	default:
		return false;
	}
}

const char *
fate_of(struct graph *g, const char *fmt, const struct node *n)
{
	const char *mark = strstr(fmt, "%s");

	return arena_printf(&g->module->arena, "%.*s%s%s", (int)(mark - fmt),
			    fmt, node_label(g, n), mark + 2);
}
