/* SPDX-License-Identifier: Apache-2.0 */
/* topi: the operators of models under their names in topi. A call is converted
 * to a node of a temporary graph; shape inference and the definition of the
 * operator give the tensor expression. */
#include <assert.h>

#include "define.h"

#include "te_parts.h"
#include "text.h"

struct topi {
	const char *name;
	bool nn;
	/* map: what each parameter becomes in the node; NULL for an operator of
	 * elements (TOPI_BROADCAST, TOPI_ELEMENT) */
	const char *params, *op, *map, *constants;
};

static const struct topi rows[] = {
#define TOPI(name, params, op, map, constants)                                 \
	{ name, false, params, op, map, constants },
#define TOPI_NN(name, params, op, map, constants)                              \
	{ name, true, params, op, map, constants },
#define TOPI_BROADCAST(name, op) { name, false, "lhs, rhs", op, NULL, "" },
#define TOPI_ELEMENT(name, op) { name, false, "x", op, NULL, "" },
#include "topi.def"
#undef TOPI
#undef TOPI_BROADCAST
#undef TOPI_ELEMENT
#undef TOPI_NN
};

enum { N_ROWS = sizeof rows / sizeof *rows, MAX_INPUTS = 64 };

static uint64_t
module_of(const struct topi *row)
{
	return row->nn ? IN_TOPI_NN : IN_TOPI;
}

void
topi_list(struct arena *a, uint64_t in, enum pv_kind of, struct pv_names *list)
{
	(void)of;
	for (int i = 0; i < N_ROWS; i++) {
		if (in & module_of(&rows[i])) {
			vec_push(a, list, rows[i].name);
		}
	}
}

/* A call of a function of topi while it is converted to a node. */
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
	int64_t *pad_before;
	int n_pad;
	int depth;
};

/* -- arguments -- */

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

/* Makes argument i, a number, a constant input with the type of the tensors.
 * False after an error. */
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
	if (v->kind == PV_TENSOR) {
		return put_input(b, i, b->n, tensor_input(b, v->u.tensor),
				 v->u.tensor);
	}
	if (pv_number(v, NULL)) {
		return number_input(b, i, b->n, v);
	}
	return value_kind_error(b->c, i, "a tensor");
}

/* Makes the next input a new stage: argument i with its last two dimensions
 * exchanged. False after an error. */
static bool
transposed_input(struct build *b, int i)
{
	struct module *m = b->ev->m;
	struct te_tensor *t, *made;
	struct iter_var *axes;
	const struct expr **shape, **at;
	const char **names;
	int n;

	if (!arg_tensor(b->c, i, &t)) {
		return false;
	}
	n = t->buffer->ndim;
	if (n < 2) {
		return call_error(b->c, i, "a matrix is needed");
	}
	shape = arena_array(b->ev->a, const struct expr *, n);
	at = arena_array(b->ev->a, const struct expr *, n);
	names = arena_array(b->ev->a, const char *, n);
	for (int d = 0; d < n; d++) {
		int from = d == n - 1 ? n - 2 : d == n - 2 ? n - 1 : d;

		shape[d] = t->buffer->shape[from];
		names[d] = axis_name(m, n, d);
	}
	axes = te_axes(m, n, shape, names);
	for (int d = 0; d < n; d++) {
		int from = d == n - 1 ? n - 2 : d == n - 2 ? n - 1 : d;

		at[from] = axes[d].var->expr;
	}
	made = te_compute(m, "transpose", "injective", n, axes,
			  te_at(m, t, at, n), &t, 1);
	te_remember(b->ev, made, te_depth(b->ev, t) + 1);
	return put_input(b, i, b->n, tensor_input(b, made), made);
}

/* Reads an argument that is a list of integers or sizes. */
static bool
list_exprs(struct build *b, int i, const struct expr ***out, int *n)
{
	struct pval *items;
	int depth;

	if (!arg_items(b->c, i, &items, n)) {
		return false;
	}
	*out = arena_array(b->ev->a, const struct expr *, *n + 1);
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
list_ints(struct build *b, int i, int64_t **out, int *n)
{
	const struct expr **list;

	if (!list_exprs(b, i, &list, n)) {
		return false;
	}
	*out = arena_array(b->ev->a, int64_t, *n + 1);
	for (int k = 0; k < *n; k++) {
		if (!expr_is_int(list[k], &(*out)[k])) {
			return value_kind_error(b->c, i, "known integers");
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
		x->shape = arena_array(b->ev->a, const struct expr *, 1);
		x->shape[0] = expr_index(b->ev->m, n);
		x->elems = list;
		x->n_elems = n;
		x->is_input = true;
	}
	return put_input(b, i, at, x,
			 te_placeholder(b->ev->m, "list", dtype_of(DT_I64), 1,
					x->shape));
}

/* The value of `text`, a default in a row of topi.def, as an integer;
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

/* Makes the next input a scalar constant: argument i, an integer, or, if it is
 * not given, the value of the text `initial`. False after an error. */
static bool
int_input(struct build *b, int i, const char *initial)
{
	int64_t v = initial_int(initial, 0);
	int64_t *bytes = arena_new(b->ev->a, int64_t);
	struct tensor *x;

	if (arg_given(b->c, i) && !arg_int(b->c, i, INT32_MIN, INT32_MAX, &v)) {
		return false;
	}
	*bytes = v;
	x = graph_constant(b->g, "number", dtype_of(DT_I64), 0, NULL, bytes);
	x->elems = arena_array(b->ev->a, const struct expr *, 1);
	x->elems[0] = expr_index(b->ev->m, v);
	x->n_elems = 1;
	return put_input(b, i, b->n, x,
			 te_placeholder(b->ev->m, "number", dtype_of(DT_I64), 0,
					NULL));
}

/* -- attributes -- */

static void
set_ints(struct build *b, const char *name, const int64_t *v, int n)
{
	struct attr x = { .name = name, .kind = ATTR_INTS, .n = n, .ints = v };

	vec_push(b->ev->a, &b->attrs, x);
}

static void
set_int(struct build *b, const char *name, int64_t v)
{
	struct attr x = { .name = name, .kind = ATTR_INT, .i = v };

	vec_push(b->ev->a, &b->attrs, x);
}

static int
spatial_rank(const struct build *b)
{
	return b->n > 0 && b->inputs[0]->ndim > 2 ? b->inputs[0]->ndim - 2 : 0;
}

static bool
set_spatial(struct build *b, int i, const char *name, const char *initial)
{
	int rank = spatial_rank(b), n = 1;
	int64_t *all = arena_array(b->ev->a, int64_t, rank + 1), *given;

	if (arg_given(b->c, i)) {
		if (!list_ints(b, i, &given, &n)) {
			return false;
		}
	} else {
		given = arena_array(b->ev->a, int64_t, 1);
		given[0] = initial_int(initial, 1);
	}
	if (n != 1 && n != rank) {
		return call_error(b->c, i, "%d numbers for %d dimensions", n,
				  rank);
	}
	for (int k = 0; k < rank; k++) {
		all[k] = given[n == 1 ? 0 : k];
	}
	set_ints(b, name, all, rank);
	return true;
}

/* Sets the node's padding from an argument: one number for all sides, one for
 * each dimension, or all begins and then all ends; or "SAME", "VALID". False
 * after an error. */
static bool
set_pads(struct build *b, int i, const char *name)
{
	int rank = spatial_rank(b), n = 0;
	int64_t *all = arena_array(b->ev->a, int64_t, 2 * rank + 1), *given;
	const struct pval *v = &b->c->args[i];

	if (v->kind == PV_STRING) {
		struct attr x = { .name = "auto_pad", .kind = ATTR_STRING };

		x.s = v->u.text.data[0] == 'S' ? "SAME_UPPER" : "VALID";
		x.s_len = strlen(x.s);
		vec_push(b->ev->a, &b->attrs, x);
		return true;
	}
	if (arg_given(b->c, i) && !list_ints(b, i, &given, &n)) {
		return false;
	}
	if (n != 0 && n != 1 && n != rank && n != 2 * rank) {
		return call_error(b->c, i,
				  "%d numbers for the padding of %d "
				  "dimensions",
				  n, rank);
	}
	for (int k = 0; k < 2 * rank && n > 0; k++) {
		all[k] = given[n == 1 ? 0 : n == rank ? k % rank : k];
	}
	set_ints(b, name, all, 2 * rank);
	return true;
}

/* Selects the node's operator by a text argument, as `choices` says:
 * "op:max=MaxPool,avg=AveragePool". False after an error. */
static bool
choose_op(struct build *b, int i, const char *choices)
{
	const char *word;

	if (!arg_text(b->c, i, &word)) {
		return false;
	}
	for (const char *at = choices; *at;) {
		size_t key = strcspn(at, "="), all = strcspn(at, ",");

		if (strlen(word) == key && strncmp(at, word, key) == 0) {
			b->op = arena_strndup(b->ev->a, at + key + 1,
					      all - key - 1);
			return true;
		}
		at += all + (at[all] == ',');
	}
	return call_error(b->c, i,
			  "there is no \"%s\" here; the choices are "
			  "%s",
			  word, choices);
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
	return call_error(b->c, i, "nothing is cast to %s here",
			  dtype_name(want));
}

static bool
take_pads(struct build *b, int i, bool after)
{
	int64_t *given = NULL, *all;
	int n = 0;

	if (arg_given(b->c, i) && !list_ints(b, i, &given, &n)) {
		return false;
	}
	if (!after) {
		b->pad_before = given;
		b->n_pad = n;
		return true;
	}
	if (!given) {
		given = b->pad_before;
		n = b->n_pad;
	}
	if (n != b->n_pad) {
		return call_error(b->c, i, "%d and %d numbers", b->n_pad, n);
	}
	all = arena_array(b->ev->a, int64_t, 2 * n + 1);
	for (int k = 0; k < n; k++) {
		all[k] = b->pad_before[k];
		all[n + k] = given[k];
	}
	return put_input(b, i, b->n,
			 graph_constant_ints(b->g, "pads", 2 * n, all),
			 te_placeholder(b->ev->m, "pads", dtype_of(DT_I64), 0,
					NULL));
}

/* -- the words of a row of topi.def, one for each parameter -- */

static bool
simple_attribute(struct build *b, int i, const char *kind, const char *name,
		 const char *initial)
{
	struct attr x = { .name = name };
	int64_t v;
	bool truth;
	struct pval f;

	if (!arg_given(b->c, i)) {
		if (strcmp(kind, "float") == 0 && initial) {
			x.kind = ATTR_FLOAT;
			text_float(initial, &x.f);
			vec_push(b->ev->a, &b->attrs, x);
		} else if (initial) {
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
	if (strcmp(kind, "string") == 0) {
		x.kind = ATTR_STRING;
		if (!arg_text(b->c, i, &x.s)) {
			return false;
		}
		x.s_len = strlen(x.s);
	} else if (strcmp(kind, "float") == 0) {
		f = b->c->args[i];
		if (f.kind != PV_FLOAT && f.kind != PV_INT) {
			return value_kind_error(b->c, i, "a number");
		}
		x.kind = ATTR_FLOAT;
		x.f = f.kind == PV_FLOAT ? f.u.fval : (double)f.u.ival;
	} else {
		int64_t *list;
		int n;

		if (!list_ints(b, i, &list, &n)) {
			return false;
		}
		set_ints(b, name, list, n);
		return true;
	}
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
	if (strcmp(kind, "inT") == 0) {
		return transposed_input(b, i);
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
	if (strcmp(kind, "slice_strides") == 0) {
		return !arg_given(b->c, i) || ints_input(b, i, 4);
	}
	if (strcmp(kind, "slice_axes") == 0) {
		return !arg_given(b->c, i) || ints_input(b, i, 3);
	}
	if (strcmp(kind, "axis") == 0) {
		return int_input(b, i, initial);
	}
	if (strcmp(kind, "scalar") == 0) {
		struct pval v = pv_int(initial_int(initial, 0));

		if (arg_given(b->c, i) && !pv_number(&b->c->args[i], NULL)) {
			return value_kind_error(b->c, i, "a number");
		}
		return number_input(b, i, b->n,
				    arg_given(b->c, i) ? &b->c->args[i] : &v);
	}
	if (strcmp(kind, "spatial") == 0) {
		return set_spatial(b, i, name, initial);
	}
	if (strcmp(kind, "pads") == 0) {
		return set_pads(b, i, name);
	}
	if (strcmp(kind, "pad_before") == 0 || strcmp(kind, "pad_after") == 0) {
		return take_pads(b, i, kind[4] == 'a');
	}
	if (strcmp(kind, "op") == 0) {
		return choose_op(b, i, text + n + 1);
	}
	if (strcmp(kind, "type") == 0) {
		return set_type(b, i, name);
	}
	if (strcmp(kind, "NCHW") == 0) {
		return !arg_given(b->c, i) ||
		       (b->c->args[i].kind == PV_STRING &&
			strcmp(b->c->args[i].u.text.data, "NCHW") == 0) ||
		       call_error(b->c, i,
				  "layouts other than NCHW are made "
				  "with topi.transpose");
	}
	if (strcmp(kind, "-") == 0) {
		return !arg_given(b->c, i) ||
		       (b->c->args[i].kind == PV_INT &&
			b->c->args[i].u.ival <= 1) ||
		       b->c->args[i].kind == PV_STRING ||
		       call_error(b->c, i, "this argument is not read");
	}
	return simple_attribute(b, i, kind, name, initial);
}

static bool
constants(struct build *b)
{
	const char *text = b->row->constants, *equals = strchr(text, '=');
	int64_t channels;

	if (!equals) {
		return true;
	}
	if (strcmp(equals + 1, "channels") == 0) {
		if (b->n == 0 || b->inputs[0]->ndim < 2 ||
		    !expr_is_int(b->inputs[0]->shape[1], &channels)) {
			return call_error(b->c, 0,
					  "the number of channels is "
					  "not known");
		}
	} else {
		channels = initial_int(equals + 1, 0);
	}
	set_int(b, arena_strndup(b->ev->a, text, (size_t)(equals - text)),
		channels);
	return true;
}

/* -- the node -- */

/* Registers t and all tensors from which it is computed. */
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
define_node(struct build *b, const char *op, struct te_tensor **out)
{
	struct eval *ev = b->ev;
	struct tensor *y = graph_tensor(b->g, "out");
	struct tensor *outputs[8] = { y };
	struct te_tensor *made[8] = { NULL };
	const struct op *row = op_find("", op);
	struct node *n;

	if (!row) {
		return call_error(b->c, -1, "there is no operator %s", op);
	}
	n = graph_node(b->g, "", op, "", b->inputs, b->n, outputs, 1);
	n->op = row;
	for (int i = 0; i < b->attrs.n; i++) {
		node_set_attr(b->g, n, &b->attrs.data[i]);
	}
	if (!ops_infer_node(b->g, n) || !ops_define(b->g, n, b->te, made)) {
		return false;
	}
	*out = made[0];
	remember_all(ev, *out, b->depth + 20);
	return true;
}

static bool
topi_call(struct call *c, struct pval *out)
{
	struct build b = { .c = c, .ev = c->ev, .row = NULL };
	const char *at, *rest;
	static const struct settings open = { .open_sizes = true };
	struct te_tensor *made = NULL;
	int errors = c->ev->m->diags.list.n;

	for (int i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, c->row->name) == 0 &&
		    rows[i].nn == ((c->row->in & IN_TOPI_NN) != 0)) {
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
	if (!constants(&b)) {
		return false;
	}
	if (b.depth + 20 > EVAL_MAX_EXPR_DEPTH) {
		return call_error(c, -1, "operators more than %d levels deep",
				  EVAL_MAX_EXPR_DEPTH / 20);
	}
	rest = strchr(b.op, '>');
	if (!define_node(&b,
			 rest ? arena_strndup(c->ev->a, b.op,
					      (size_t)(rest - b.op))
			      : b.op,
			 &made)) {
		return topi_locate(c, errors);
	}
	if (rest) {
		struct build second = { .c = c,
					.ev = c->ev,
					.g = b.g,
					.row = b.row,
					.depth = b.depth };

		if (!put_input(&second, 0, 0, tensor_input(&second, made),
			       made) ||
		    !define_node(&second, rest + 1, &made)) {
			return false;
		}
	}
	te_rename(c->ev->m, made, c->row->name);
	*out = pv_tensor(c->ev, made);
	return true;
}

const struct name_row *
topi_find(struct eval *ev, uint64_t in, enum pv_kind of, const char *name)
{
	(void)of;
	for (int i = 0; i < N_ROWS; i++) {
		if ((in & module_of(&rows[i])) &&
		    strcmp(rows[i].name, name) == 0) {
			struct name_row *row = arena_new(ev->a,
							 struct name_row);

			row->in = module_of(&rows[i]);
			row->name = rows[i].name;
			row->params = rows[i].params;
			row->fn = topi_call;
			return row;
		}
	}
	return NULL;
}
