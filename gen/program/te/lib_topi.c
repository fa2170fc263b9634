/* SPDX-License-Identifier: Apache-2.0 */
/* topi: the operators of models under topi's names. A call is converted to a
 * node of a temporary graph; the shape inference and the definition of the
 * operator then give the tensor expression. */
#include <assert.h>

#include "define.h"

#include "library_text.h"
#include "te_parts.h"
#include "text.h"

struct topi {
	const char *name;
	/* map: the use of each parameter (topi.def); NULL for an operator on
	 * elements (TOPI_BROADCAST, TOPI_ELEMENT) */
	const char *params, *op, *map, *constants;
	int n_out;
};

static const struct topi rows[] = {
#define TOPI(name, params, op, map, constants)                                 \
	{ name, params, op, map, constants, 1 },
#define TOPI_PAIR(name, params, op, map, constants)                            \
	{ name, params, op, map, constants, 2 },
#define TOPI_BROADCAST(name, op) { name, "lhs, rhs", op, NULL, "", 1 },
#define TOPI_ELEMENT(name, op) { name, "x", op, NULL, "", 1 },
#include "topi.def"
#undef TOPI
#undef TOPI_PAIR
#undef TOPI_BROADCAST
#undef TOPI_ELEMENT
};

enum { N_ROWS = sizeof rows / sizeof *rows, MAX_INPUTS = 64, MAX_OUTPUTS = 2 };

void
topi_list(struct eval *ev, uint64_t in, enum pv_kind of, struct pv_names *list)
{
	(void)of;
	for (int i = 0; i < N_ROWS; i++) {
		if (names_share(in, IN_TOPI) && rows[i].name[0] != '_') {
			vec_push(ev->a, list, rows[i].name);
		}
	}
}

/* A call of a function of topi that is being converted to a node. */
struct build {
	struct call *c;
	struct eval *ev;
	struct graph *g;
	const struct topi *row;
	struct tensor *inputs[MAX_INPUTS];
	struct te_tensor *te[MAX_INPUTS];
	int n;
	VEC(struct attr) attrs;
	const char *op;
	int depth;
};

/* -- arguments -- */

/* Do operators compute with elements of this type? */
static bool
is_element(struct dtype t)
{
	return t.lanes == 1 && (dtype_is_int(t) || dtype_is_float(t) ||
				dtype_class(t) == DTC_BOOL);
}

static struct tensor *
tensor_input(struct build *b, struct te_tensor *t)
{
	struct tensor *x = graph_tensor(b->g, t->buffer->name);
	int depth = te_depth(b->ev, t);

	x->type = t->buffer->type;
	x->typed = true;
	x->ndim = t->buffer->ndim;
	x->shape = arena_copy(b->ev->a, t->buffer->shape,
			      sizeof *x->shape * (size_t)x->ndim);
	x->is_input = true;
	b->depth = depth > b->depth ? depth : b->depth;
	return x;
}

static bool
put_input(struct build *b, int i, int at, struct tensor *x,
	  struct te_tensor *te)
{
	if (at >= MAX_INPUTS) {
		return call_error(b->c, i, "more than %d tensors", MAX_INPUTS);
	}
	b->inputs[at] = x;
	b->te[at] = te;
	b->n = at + 1 > b->n ? at + 1 : b->n;
	return true;
}

/* Converts argument i, a number, to a constant tensor, which becomes input `at`
 * of the operator. The constant has the type of the first tensor argument that
 * is not bool. Returns false after an error. */
static bool
number_input(struct build *b, int i, int at, const struct pval *v)
{
	struct dtype t = dtype_of(v->kind == PV_FLOAT ? DT_F32 : DT_I32);
	struct py_number value;
	union number n = { 0 };
	struct te_tensor *te;
	struct tensor *x;
	void *bytes;

	for (int k = b->c->n - 1; k >= 0; k--) {
		if (b->c->args[k].kind == PV_TENSOR &&
		    is_element(b->c->args[k].u.tensor->buffer->type) &&
		    dtype_class(b->c->args[k].u.tensor->buffer->type) !=
			    DTC_BOOL) {
			t = b->c->args[k].u.tensor->buffer->type;
		}
	}
	if (v->kind == PV_FLOAT && !dtype_is_float(t)) {
		return call_error(b->c, i,
				  "a float beside %s; cast the "
				  "tensor first",
				  dtype_name(t));
	}
	pv_number(v, &value);
	if (!typed_fits(&b->ev->typing, b->c->spans[i],
			typed_number(b->ev->m, &value).e, t,
			"cast the tensor to a wider type")) {
		return false;
	}
	if (dtype_is_float(t)) {
		n.f = py_number_double(&value);
	} else {
		n.i = value.i;
	}
	bytes = arena_alloc(b->ev->a, 16);
	number_store(t, bytes, 0, n);
	x = graph_constant(b->g, "number", t, 0, NULL, bytes);
	te = te_placeholder(b->ev->m, "number", t, 0, NULL);
	return put_input(b, i, at, x, te);
}

static bool
one_input(struct build *b, int i, const struct pval *v)
{
	if (v->kind == PV_TENSOR && !is_element(v->u.tensor->buffer->type)) {
		struct dtype t = v->u.tensor->buffer->type;

		return call_error(b->c, i, "no operator takes tensors of %s%s",
				  t.lanes != 1 ? "vectors of " : "",
				  dtype_name(t));
	}
	if (v->kind == PV_TENSOR) {
		return put_input(b, i, b->n, tensor_input(b, v->u.tensor),
				 v->u.tensor);
	}
	if (pv_number(v, NULL)) {
		return number_input(b, i, b->n, v);
	}
	return value_kind_error(b->c, i, "a tensor");
}

/* Reads an argument that is a list of integers or sizes. Returns false after an
 * error. */
static bool
list_exprs(struct build *b, int i, const struct expr ***out, int *n)
{
	struct pval *items;
	int depth;

	if (!arg_items(b->c, i, &items, n)) {
		return false;
	}
	*out = arena_exprs(b->ev->a, *n + 1);
	for (int k = 0; k < *n; k++) {
		if (!value_expr(b->ev, b->c->spans[i], &items[k], &(*out)[k],
				&depth)) {
			return false;
		}
		if (!dtype_is_int((*out)[k]->type)) {
			return value_kind_error(b->c, i, "integers");
		}
	}
	return true;
}

static bool
ints_input(struct build *b, int i, int at)
{
	const struct expr **list;
	struct tensor *x;
	int64_t *values;
	bool known = true;
	int n;

	if (!list_exprs(b, i, &list, &n)) {
		return false;
	}
	values = arena_array(b->ev->a, int64_t, n + 1);
	for (int k = 0; k < n; k++) {
		known &= expr_is_int(list[k], &values[k]);
	}
	if (known) {
		x = graph_constant_ints(b->g, "list", n, values);
	} else {
		x = graph_tensor(b->g, "list");
		x->type = dtype_of(DT_I64);
		x->typed = true;
		x->ndim = 1;
		x->shape = arena_exprs(b->ev->a, 1);
		x->shape[0] = expr_index(b->ev->m, n);
		x->elems = list;
		x->n_elems = n;
		x->is_input = true;
	}
	return put_input(b, i, at, x,
			 te_placeholder(b->ev->m, "list", dtype_of(DT_I64), 1,
					x->shape));
}

/* The integer in `text`, a default value in a row of topi.def; returns
 * `otherwise` if text is NULL. */
static int64_t
initial_int(const char *text, int64_t otherwise)
{
	int64_t v = otherwise;

	if (text != NULL && !text_int(text, &v)) {
		assert(!"a row of topi.def with another default");
	}
	return v;
}

/* -- attributes -- */

static void
set_int(struct build *b, const char *name, int64_t v)
{
	struct attr x = { .name = name, .kind = ATTR_INT, .i = v };

	vec_push(b->ev->a, &b->attrs, x);
}

static bool
set_type(struct build *b, int i, const char *name)
{
	struct dtype want;

	if (!arg_dtype(b->c, i, &want)) {
		return false;
	}
	if (want.lanes == 1 && dtype_onnx_number(want) != 0) {
		set_int(b, name, dtype_onnx_number(want));
		return true;
	}
	return call_error(b->c, i, "a cast to %s is not supported",
			  dtype_name(want));
}

/* -- the words of a row of topi.def, one for each parameter -- */

static bool
simple_attribute(struct build *b, int i, const char *kind, const char *name,
		 const char *initial)
{
	struct attr x = { .name = name };
	int64_t v;
	bool truth;

	if (!arg_given(b->c, i)) {
		if (initial) {
			set_int(b, name, initial_int(initial, 0));
		}
		return true;
	}
	if (strcmp(kind, "int") == 0) {
		if (b->c->args[i].kind == PV_BOOL) {
			if (!arg_bool(b->c, i, &truth)) {
				return false;
			}
			v = truth;
		} else if (!arg_int(b->c, i, INT32_MIN, INT32_MAX, &v)) {
			return false;
		}
		set_int(b, name, v);
		return true;
	}
	assert(strcmp(kind, "string") == 0);
	x.kind = ATTR_STRING;
	if (!arg_text(b->c, i, &x.s)) {
		return false;
	}
	x.s_len = strlen(x.s);
	vec_push(b->ev->a, &b->attrs, x);
	return true;
}

static bool
word(struct build *b, int i, const char *text)
{
	struct arena *a = b->ev->a;
	size_t n = strcspn(text, ":=");
	const char *kind = arena_strndup(a, text, n), *name = NULL;
	const char *equals = strchr(text, '=');
	const char *initial = equals ? equals + 1 : NULL;
	struct pval *items;
	int count;

	if (text[n] == ':') {
		name = arena_strndup(a, text + n + 1,
				     strcspn(text + n + 1, "="));
	}
	if (strcmp(kind, "in") == 0) {
		return !arg_given(b->c, i) || one_input(b, i, &b->c->args[i]);
	}
	if (strcmp(kind, "ins") == 0) {
		if (!arg_items(b->c, i, &items, &count)) {
			return false;
		}
		for (int k = 0; k < count; k++) {
			if (!one_input(b, i, &items[k])) {
				return false;
			}
		}
		return true;
	}
	if (strcmp(kind, "axes") == 0) {
		return !arg_given(b->c, i) || ints_input(b, i, b->n);
	}
	if (strcmp(kind, "scalar") == 0) {
		struct pval v = pv_int(initial_int(initial, 0));

		if (arg_given(b->c, i) && !pv_number(&b->c->args[i], NULL)) {
			return value_kind_error(b->c, i, "a number");
		}
		return number_input(b, i, b->n,
				    arg_given(b->c, i) ? &b->c->args[i] : &v);
	}
	if (strcmp(kind, "type") == 0) {
		return set_type(b, i, name);
	}
	if (strcmp(kind, "-") == 0) {
		return !arg_given(b->c, i) ||
		       (b->c->args[i].kind == PV_INT &&
			b->c->args[i].u.ival <= 1) ||
		       b->c->args[i].kind == PV_STRING ||
		       call_error(b->c, i, "this argument is not supported");
	}
	return simple_attribute(b, i, kind, name, initial);
}

static void
constants(struct build *b)
{
	const char *text = b->row->constants, *equals = strchr(text, '=');

	if (equals) {
		set_int(b,
			arena_strndup(b->ev->a, text, (size_t)(equals - text)),
			initial_int(equals + 1, 0));
	}
}

/* -- the node -- */

/* Registers t and all tensors from which it is computed (te_remember). */
static void
remember_all(struct eval *ev, struct te_tensor *t, int depth)
{
	if (te_tensor_of(ev, t->buffer)) {
		return;
	}
	te_remember(ev, t, depth);
	for (int k = 0; t->stage && k < t->stage->n_out; k++) {
		remember_all(ev, t->stage->out[k], depth);
	}
	for (int i = 0; t->stage && i < t->stage->n_inputs; i++) {
		remember_all(ev, t->stage->inputs[i], depth);
	}
}

static bool
define_node(struct build *b, const char *op, struct te_tensor **made)
{
	struct eval *ev = b->ev;
	struct tensor *outputs[MAX_OUTPUTS];
	const struct op *row = op_find("", op);
	struct node *n;

	if (!row) {
		return call_error(b->c, -1, "there is no operator %s", op);
	}
	for (int i = 0; i < b->row->n_out; i++) {
		outputs[i] = graph_tensor(b->g, "out");
	}
	n = graph_node(b->g, "", op, "", b->inputs, b->n, outputs,
		       b->row->n_out);
	n->op = row;
	for (int i = 0; i < b->attrs.n; i++) {
		node_set_attr(b->g, n, &b->attrs.data[i]);
	}
	if (!ops_infer_node(b->g, n) || !ops_define(b->g, n, b->te, made)) {
		return false;
	}
	for (int i = 0; i < b->row->n_out; i++) {
		remember_all(ev, made[i], b->depth + 20);
	}
	return true;
}

static bool
topi_call(struct call *c, struct pval *out)
{
	struct build b = { .c = c, .ev = c->ev, .row = NULL };
	const char *at, *rest;
	static const struct settings open = { .open_sizes = true };
	struct te_tensor *made[MAX_OUTPUTS] = { NULL };
	int errors = c->ev->m->diags.list.n;

	for (int i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, c->row->name) == 0) {
			b.row = &rows[i];
		}
	}
	if (c->ev->n_tensors >= EVAL_MAX_TENSORS) {
		return call_error(c, -1, "more than %d tensors",
				  EVAL_MAX_TENSORS);
	}
	if (b.row->map == NULL) {
		return topi_broadcast(c, b.row->op, out);
	}
	b.g = graph_new(c->ev->m, "topi");
	b.g->settings = &open;
	b.op = b.row->op;
	at = b.row->map;
	for (int i = 0; *at; i++) {
		size_t n = strcspn(at, " ");

		if (!word(&b, i, arena_strndup(c->ev->a, at, n))) {
			return false;
		}
		at += n + strspn(at + n, " ");
	}
	constants(&b);
	if (b.depth + 20 > EVAL_MAX_EXPR_DEPTH) {
		return call_error(c, -1, "operators more than %d levels deep",
				  EVAL_MAX_EXPR_DEPTH / 20);
	}
	rest = strchr(b.op, '>');
	if (!define_node(&b,
			 rest ? arena_strndup(c->ev->a, b.op,
					      (size_t)(rest - b.op))
			      : b.op,
			 made)) {
		return topi_locate(c, errors);
	}
	if (rest) {
		struct build second = { .c = c,
					.ev = c->ev,
					.g = b.g,
					.row = b.row,
					.depth = b.depth };

		if (!put_input(&second, 0, 0, tensor_input(&second, made[0]),
			       made[0]) ||
		    !define_node(&second, rest + 1, made)) {
			return false;
		}
	}
	if (b.row->n_out == 1) {
		te_rename(c->ev->m, made[0], c->row->name);
		*out = pv_tensor(c->ev, made[0]);
		return true;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < b.row->n_out; i++) {
		vec_push(c->ev->a, out->u.list, pv_tensor(c->ev, made[i]));
	}
	return true;
}

const struct name_row *
topi_find(struct eval *ev, uint64_t in, enum pv_kind of, const char *name)
{
	(void)of;
	for (int i = 0; i < N_ROWS; i++) {
		if (names_share(in, IN_TOPI) &&
		    strcmp(rows[i].name, name) == 0 &&
		    (name[0] != '_' || library_is_text(ev->src))) {
			struct name_row *row = arena_new(ev->a,
							 struct name_row);

			row->in = IN_TOPI;
			row->name = rows[i].name;
			row->params = rows[i].params;
			row->fn = topi_call;
			return row;
		}
	}
	return NULL;
}
