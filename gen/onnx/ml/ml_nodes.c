/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, constants and attributes of the operators of ai.onnx.ml. */
#include "ml.h"

#include <stdarg.h>

#include "ops.h"

/* -- helpers -- */

const char *
ml_name(struct ml *m, const char *what)
{
	const struct tensor *y = NULL;

	for (int k = 0; k < m->n->n_outputs && !y; k++) {
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

	for (int i = 0; i < n_in; i++) {
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

/* Makes a node of the domain tirc. */
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

	for (int d = 0; d < n_dims; d++) {
		n *= shape[d];
	}
	data = arena_alloc(&m->imp->m->arena,
			   (size_t)(n + 1) * (size_t)dtype_bytes(type));
	for (int64_t i = 0; i < n; i++) {
		union number from = { .f = values[i] };

		number_store(type, data, (size_t)i,
			     number_cast(type, dtype_of(DT_F64), from));
	}
	return graph_constant(m->imp->g, ml_name(m, what), type, n_dims, shape,
			      data);
}

struct tensor *
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

struct tensor *
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

bool
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

int
ml_doubles(struct ml *m, const struct value *v, const double **values)
{
	double *list = arena_array(&m->imp->tmp, double, v->elems + 1);

	for (int64_t i = 0; i < v->elems; i++) {
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
		       ? ml_doubles(m, a->tensor, values)
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
	for (int64_t i = 0; i < v->elems; i++) {
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
	for (int i = 0; i < a->n; i++) {
		places[i] = i;
	}
	m->strings = a->strings;
	*labels = places;
	*n = a->n;
}

struct tensor *
ml_label_names(struct ml *m, const char *what, const int64_t *labels, int n)
{
	const char **names = arena_array(&m->imp->tmp, const char *, n);

	if (!m->strings) {
		return ml_ints(m, what, n, labels);
	}
	for (int i = 0; i < n; i++) {
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
		names = ml_label_names(m, "classes", labels, n_labels);
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
