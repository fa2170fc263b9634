/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers that make the constants and nodes of a composition. */
#include "compose.h"
#include "sizes.h"

#include <stdarg.h>

#include "ops.h"

/* The name of a new tensor that ends in `what`: "y_swish" for the output y of
 * the node and "swish". */
static const char *
part_name(struct compose *c, const char *what)
{
	const char *base = node_key(c->node);

	return arena_printf(&c->imp->tmp, "%s_%s", base ? base : c->node->name,
			    what);
}

/* -- constants -- */

struct tensor *
compose_floats(struct compose *c, const char *what, struct dtype type, int ndim,
	       const int64_t *shape, const double *values)
{
	int64_t n = 1;
	void *data;

	for (int d = 0; d < ndim; d++) {
		n *= shape[d];
	}
	data = arena_alloc(&c->m->arena,
			   (size_t)(n + 1) * (size_t)dtype_bytes(type) + 16);
	for (int64_t i = 0; i < n; i++) {
		union number from = { .f = values[i] };

		number_store(type, data, (size_t)i,
			     number_cast(type, dtype_of(DT_F64), from));
	}
	return graph_constant(c->g, part_name(c, what), type, ndim, shape,
			      data);
}

struct tensor *
compose_scalar(struct compose *c, const char *what, struct dtype type,
	       double value)
{
	return compose_floats(c, what, type, 0, NULL, &value);
}

struct tensor *
compose_ints(struct compose *c, const char *what, int n, const int64_t *values)
{
	return graph_constant_ints(c->g, part_name(c, what), n, values);
}

struct tensor *
compose_constant(struct compose *c, const char *what, struct dtype type,
		 int ndim, const int64_t *shape, const void *data)
{
	return graph_constant(c->g, part_name(c, what), type, ndim, shape,
			      data);
}

struct tensor *
compose_value(struct compose *c, const char *what, const struct value *value,
	      int ndim, const int64_t *shape)
{
	struct tensor *t = graph_tensor(c->g, part_name(c, what));
	struct tensor_content content = {
		.ndim = ndim,
		.shape = arena_copy(&c->m->arena, shape,
				    sizeof *shape * (size_t)ndim),
		.value = value,
	};

	import_set_value(c->imp, t, &content);
	return t;
}

/* -- sizes -- */

/* A tensor with the single element `size`, made by a Shape node of a tensor
 * that has this size as a dimension: an input of the model's node, or a tensor
 * made so far. NULL if no tensor has this size. */
static struct tensor *
size_of_dim(struct compose *c, const struct expr *size)
{
	for (int i = 0; i < c->node->n_inputs + c->made.n; i++) {
		struct tensor *t =
			i < c->node->n_inputs
				? c->node->inputs[i]
				: c->made.data[i - c->node->n_inputs];

		for (int d = 0; t && d < t->ndim; d++) {
			if (t->shape[d] == size) {
				compose_set_int(c, "start", d);
				compose_set_int(c, "end", d + 1);
				return compose_1(c, "size", "Shape", t);
			}
		}
	}
	return NULL;
}

static const char *
operator_of(enum expr_kind kind)
{
	switch (kind) {
	case EXPR_ADD:
		return "Add";
	case EXPR_SUB:
		return "Sub";
	case EXPR_MUL:
		return "Mul";
	case EXPR_MIN:
		return "Min";
	case EXPR_MAX:
		return "Max";
	case EXPR_FLOORDIV:
		return "Div"; /* Div truncates; sizes are not negative */
	case EXPR_FLOORMOD:
		return "Mod";
	default:
		return NULL;
	}
}

/* A list with the single number `size`: a constant, or a tensor that nodes
 * compute. After a diagnostic, a stand-in, if `size` has a variable that is not
 * the size of a tensor. */
static struct tensor *
size_of(struct compose *c, const struct expr *size)
{
	struct tensor *t;
	int64_t v;

	if (expr_is_int(size, &v)) {
		return compose_ints(c, "size", 1, &v);
	}
	t = size_of_dim(c, size);
	if (t) {
		return t;
	}
	if (operator_of(size->kind)) {
		struct tensor *a = size_of(c, size->args[0]);
		struct tensor *b = size_of(c, size->args[1]);

		return compose_2(c, "size", operator_of(size->kind), a, b);
	}
	compose_error(c, DIAG_UNKNOWN_SHAPE,
		      "a size depends on sizes that no input has; fix one with "
		      "--dim");
	return c->stand_in;
}

struct tensor *
compose_sizes(struct compose *c, const char *what, int n,
	      const struct expr *const *sizes)
{
	int64_t *values = arena_array(&c->imp->tmp, int64_t, n + 1);
	struct tensor **parts = arena_array(&c->imp->tmp, struct tensor *,
					    n + 1);
	struct tensor *list;
	bool known = true;

	for (int i = 0; i < n; i++) {
		known = expr_is_int(sizes[i], &values[i]) && known;
	}
	if (known) {
		return compose_ints(c, what, n, values);
	}
	for (int i = 0; i < n; i++) {
		parts[i] = size_of(c, sizes[i]);
	}
	if (n == 1) {
		return parts[0];
	}
	compose_set_int(c, "axis", 0);
	compose_nodes(c, "", "Concat", parts, n, &what, 1, &list);
	return list;
}

/* -- attributes -- */

void
compose_set_attr(struct compose *c, struct attr attr)
{
	attr.name = arena_strdup(&c->m->arena, attr.name);
	vec_push(&c->imp->tmp, &c->attrs, attr);
}

void
compose_set_int(struct compose *c, const char *name, int64_t v)
{
	compose_set_attr(c, (struct attr){
				    .name = name, .kind = ATTR_INT, .i = v });
}

void
compose_set_float(struct compose *c, const char *name, double v)
{
	compose_set_attr(c, (struct attr){
				    .name = name, .kind = ATTR_FLOAT, .f = v });
}

void
compose_set_string(struct compose *c, const char *name, const char *v)
{
	compose_set_attr(c, (struct attr){ .name = name,
					   .kind = ATTR_STRING,
					   .s = v,
					   .s_len = strlen(v) });
}

void
compose_keep_attrs(struct compose *c, const char *names)
{
	for (size_t n; *names; names += n + (names[n] == ' ')) {
		const struct attr *a;

		n = strcspn(names, " ");
		a = node_attr(c->node, arena_strndup(&c->imp->tmp, names, n));
		if (a) {
			compose_set_attr(c, *a);
		}
	}
}

static void
compose_set_ints(struct compose *c, const char *name, int n, const int64_t *v)
{
	const int64_t *copy = arena_copy(&c->m->arena, v,
					 sizeof *v * (size_t)n);

	compose_set_attr(c, (struct attr){ .name = name,
					   .kind = ATTR_INTS,
					   .n = n,
					   .ints = copy });
}

/* -- nodes -- */

static bool
infer_next(struct compose *c)
{
	struct node *n = c->g->nodes.data[c->pos++];
	int errors = c->m->diags.n_errors;

	import_note_inferred(c->imp, n);
	if (!ops_infer_node(c->g, n)) {
		return c->m->diags.n_errors == errors &&
		       diag_error(&c->m->diags, DIAG_UNKNOWN_SHAPE,
				  node_place(c->g, n),
				  "the types and shapes of its outputs cannot "
				  "be inferred");
	}
	return true;
}

/* Infers n, the new node at c->pos; nodes that compute its sizes are put before
 * it. If n is a composition itself, replaces it. */
static bool
finish_node(struct compose *c, struct node *n)
{
	while (c->imp->versions.n <= n->id) {
		vec_push(&c->imp->tmp, &c->imp->versions,
			 GRAPH_CANONICAL_OPSET);
	}
	if (compose_resolve(n)) {
		return compose_node_at(c->imp, &c->pos);
	}
	n->op = op_find(n->domain, n->op_type);
	if (!n->op) {
		return compose_refuse(c, "it needs %s, which is not supported",
				      n->op_type);
	}
	if (!import_sizes(c->imp, n, c->pos)) {
		return false;
	}
	while (c->g->nodes.data[c->pos] != n) {
		if (!infer_next(c)) {
			return false;
		}
	}
	return infer_next(c);
}

struct tensor *
compose_run_size(struct compose *c, struct tensor *count, const char *what,
		 int64_t most)
{
	struct tensor *size;

	if (c->failed) {
		return c->stand_in;
	}
	size = import_run_size(c->imp, c->node, c->pos, count,
			       part_name(c, what), most);
	c->failed = !infer_next(c);
	return c->failed ? c->stand_in : size;
}

void
compose_nodes(struct compose *c, const char *domain, const char *op_type,
	      struct tensor *const *in, int n_in, const char *const *whats,
	      int n_out, struct tensor **out)
{
	struct node *n;

	if (c->failed) {
		for (int k = 0; k < n_out; k++) {
			out[k] = c->stand_in;
		}
		return;
	}
	for (int k = 0; k < n_out; k++) {
		out[k] = whats[k] ? graph_tensor(c->g, part_name(c, whats[k]))
				  : NULL;
	}
	n = graph_node_at(c->g, c->pos, domain, op_type, c->node->name, in,
			  n_in, out, n_out);
	graph_share_origins(n, c->node);
	for (int i = 0; i < c->attrs.n; i++) {
		vec_push(&c->m->arena, &n->attrs, c->attrs.data[i]);
	}
	c->attrs.n = 0;
	c->failed = !finish_node(c, n);
	for (int k = 0; k < n_out; k++) {
		if (c->failed) {
			out[k] = c->stand_in;
		} else if (out[k]) {
			vec_push(&c->imp->tmp, &c->made, out[k]);
		}
	}
}

struct tensor *
compose_node(struct compose *c, const char *what, const char *op_type, int n,
	     ...)
{
	struct tensor **in = arena_array(&c->imp->tmp, struct tensor *, n + 1);
	struct tensor *out;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++) {
		in[i] = va_arg(ap, struct tensor *);
	}
	va_end(ap);
	while (n > 0 && !in[n - 1]) {
		n--;
	}
	compose_nodes(c, "", op_type, in, n, &what, 1, &out);
	return out;
}

struct tensor *
compose_1(struct compose *c, const char *what, const char *op_type,
	  struct tensor *x)
{
	return compose_node(c, what, op_type, 1, x);
}

struct tensor *
compose_2(struct compose *c, const char *what, const char *op_type,
	  struct tensor *a, struct tensor *b)
{
	return compose_node(c, what, op_type, 2, a, b);
}

struct tensor *
compose_with(struct compose *c, const char *what, const char *op_type,
	     struct tensor *x, double value)
{
	const char *name = arena_printf(&c->imp->tmp, "%s_by", what);

	return compose_2(c, what, op_type, x,
			 compose_scalar(c, name, x->type, value));
}

struct tensor *
compose_cast(struct compose *c, const char *what, struct tensor *x,
	     struct dtype type)
{
	if (dtype_equal(x->type, type)) {
		return x;
	}
	compose_set_int(c, "to", dtype_onnx_number(type));
	return compose_1(c, what, "Cast", x);
}

/* -- shapes -- */

static bool
has_shape(const struct tensor *x, int n, const struct expr *const *shape)
{
	for (int d = 0; d < n && x->ndim == n; d++) {
		if (x->shape[d] != shape[d]) {
			return false;
		}
	}
	return x->ndim == n;
}

/* Sets `values` to the numbers that stand for `shape` in the constant shape of
 * a Reshape of x: 0 for a size that x has in the same dimension, -1 for one
 * unknown size. False if no numbers can stand for the shape: several sizes are
 * unknown, or a size is 0. */
static bool
shape_numbers(const struct tensor *x, int n, const struct expr *const *shape,
	      int64_t *values)
{
	int open = 0;
	bool zero = false;

	for (int d = 0; d < n; d++) {
		if (expr_is_int(shape[d], &values[d])) {
			zero = zero || values[d] == 0;
		} else if (d < x->ndim && shape[d] == x->shape[d]) {
			values[d] = 0;
		} else {
			values[d] = -1;
			open++;
		}
	}
	return open <= 1 && !zero;
}

struct tensor *
compose_reshape(struct compose *c, const char *what, struct tensor *x, int n,
		const struct expr *const *shape)
{
	const char *name = arena_printf(&c->imp->tmp, "%s_shape", what);
	int64_t *values = arena_array(&c->imp->tmp, int64_t, n + 1);
	struct tensor *to;

	if (has_shape(x, n, shape)) {
		return x;
	}
	if (shape_numbers(x, n, shape, values)) {
		to = compose_ints(c, name, n, values);
	} else {
		to = compose_sizes(c, name, n, shape);
		compose_set_int(c, "allowzero", 1);
	}
	return compose_2(c, what, "Reshape", x, to);
}

static struct tensor *
compose_transpose(struct compose *c, const char *what, struct tensor *x,
		  const int64_t *perm)
{
	compose_set_ints(c, "perm", x->ndim, perm);
	return compose_1(c, what, "Transpose", x);
}

struct tensor *
compose_swap(struct compose *c, const char *what, struct tensor *x, int a,
	     int b)
{
	int64_t perm[ONNX_MAX_RANK];

	a += a < 0 ? x->ndim : 0;
	b += b < 0 ? x->ndim : 0;
	for (int d = 0; d < x->ndim; d++) {
		perm[d] = d == a ? b : d == b ? a : d;
	}
	return compose_transpose(c, what, x, perm);
}

struct tensor *
compose_unsqueeze(struct compose *c, const char *what, struct tensor *x,
		  int axis)
{
	int64_t axes = axis;

	return compose_2(c, what, "Unsqueeze", x,
			 compose_ints(c, "axes", 1, &axes));
}

struct tensor *
compose_squeeze(struct compose *c, const char *what, struct tensor *x, int axis)
{
	int64_t axes = axis;

	return compose_2(c, what, "Squeeze", x,
			 compose_ints(c, "axes", 1, &axes));
}

struct tensor *
compose_slice(struct compose *c, const char *what, struct tensor *x, int axis,
	      const struct expr *from, const struct expr *to)
{
	int64_t axes = axis;

	to = to ? to : expr_int(c->m, dtype_of(DT_I64), INT64_MAX);
	return compose_node(c, what, "Slice", 4, x,
			    compose_sizes(c, "from", 1, &from),
			    compose_sizes(c, "to", 1, &to),
			    compose_ints(c, "axis", 1, &axes));
}

struct tensor *
compose_concat(struct compose *c, const char *what, int axis, struct tensor *a,
	       struct tensor *b)
{
	compose_set_int(c, "axis", axis);
	return compose_2(c, what, "Concat", a, b);
}

struct tensor *
compose_reduce(struct compose *c, const char *what, const char *op_type,
	       struct tensor *x, int axis, bool keep)
{
	int64_t axes = axis;

	compose_set_int(c, "keepdims", keep);
	return compose_2(c, what, op_type, x,
			 compose_ints(c, "axes", 1, &axes));
}

void
compose_result(struct compose *c, int k, struct tensor *t)
{
	if (k < c->node->n_outputs) {
		c->results[k] = t;
	}
}
