/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the nodes of a composition from its text. */
#include "body_value.h"

#include "ops.h"

/* -- the nodes that wanted outputs need */

static void
note_names(struct text_map *needed, const struct py_node *e)
{
	if (e && e->kind == PY_NAME) {
		text_map_add(needed, e->text, 0);
	}
	for (int i = 0; e && i < e->n_kids; i++) {
		note_names(needed, e->kids[i]);
	}
}

static void
note_node(struct text_map *needed, const struct body_node *n)
{
	note_names(needed, n->condition);
	for (size_t i = 0; i < n->proto->n_input; i++) {
		if (!n->inputs[i]) {
			text_map_add(needed, n->proto->input[i], 0);
		}
		note_names(needed, n->inputs[i]);
	}
	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const char *ref = n->proto->attribute[i]->ref_attr_name;

		if (!n->attrs[i] && ref) {
			text_map_add(needed, ref, 0);
		}
		note_names(needed, n->attrs[i]);
	}
}

static bool
is_needed(const struct text_map *needed, const char *name)
{
	return *name && text_map_get(needed, name, -1) >= 0;
}

/* Is an output of the node needed? A node without outputs always is. */
static bool
any_needed(const struct text_map *needed, const Onnx__NodeProto *p)
{
	for (size_t k = 0; k < p->n_output; k++) {
		if (is_needed(needed, p->output[k])) {
			return true;
		}
	}
	return p->n_output == 0;
}

/* `needed` contains the names of the wanted outputs. Adds the names of all
 * tensors on which these depend, by a walk through the nodes from the last to
 * the first. */
static void
find_needed(const struct text_body *b, struct text_map *needed)
{
	for (size_t i = b->proto->n_node; i-- > 0;) {
		if (any_needed(needed, b->proto->node[i])) {
			note_node(needed, &b->nodes[i]);
		}
	}
}

/* -- attributes */

/* A list of numbers as an attribute. */
static void
set_list(struct body_frame *f, struct attr *a, const struct body_value *v)
{
	int64_t *ints = arena_array(&f->c->m->arena, int64_t, v->n + 1);
	double *floats = arena_array(&f->c->m->arena, double, v->n + 1);

	a->kind = ATTR_INTS;
	a->n = v->n;
	a->ints = ints;
	a->floats = floats;
	for (int i = 0; i < v->n && body_real(f, &v->items[i], &floats[i]);
	     i++) {
		if (v->items[i].kind == BODY_FLOAT) {
			a->kind = ATTR_FLOATS;
		} else {
			(void)body_int(f, &v->items[i], &ints[i]);
		}
	}
}

/* Sets attribute a of the next node that is made to the value v; if v is None,
 * the node does not get the attribute. False after a diagnostic. */
static bool
set_value(struct body_frame *f, struct attr a, const struct body_value *v)
{
	a.kind = ATTR_INT;
	if (v->kind == BODY_NONE) {
		return true;
	}
	if (v->kind == BODY_FLOAT) {
		a.kind = ATTR_FLOAT;
		a.f = v->number;
	} else if (v->kind == BODY_STRING) {
		a.kind = ATTR_STRING;
		a.s = arena_strdup(&f->c->m->arena, v->text);
		a.s_len = strlen(v->text);
	} else if (v->kind == BODY_TYPE) {
		a.i = dtype_onnx_number(v->type);
	} else if (v->kind == BODY_LIST) {
		set_list(f, &a, v);
	} else {
		(void)body_int(f, v, &a.i);
	}
	compose_set_attr(f->c, a);
	return !f->c->failed;
}

/* Sets the attributes of the next node that is made to the values that node n
 * of the text gives to them. False after a diagnostic. */
static bool
set_attributes(struct body_frame *f, const struct body_node *n)
{
	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const Onnx__AttributeProto *p = n->proto->attribute[i];
		const char *ref = p->ref_attr_name;
		struct body_value v;
		struct attr a;

		if (n->attrs[i] || (ref && *ref && body_name(f, ref))) {
			v = n->attrs[i] ? body_evaluate(f, n->attrs[i], ref)
					: body_named(f, ref);
			if (f->c->failed ||
			    !set_value(f, (struct attr){ .name = p->name },
				       &v)) {
				return false;
			}
		} else if (ref && *ref) {
			if (body_attribute(f, ref, &a)) {
				a.name = p->name;
				compose_set_attr(f->c, a);
			}
		} else if (import_attribute(f->c->imp, &f->body->source, p,
					    f->body->row->op_type, &a)) {
			compose_set_attr(f->c, a);
		}
	}
	return !f->c->failed;
}

/* -- inputs */

static struct body_value
input_value(struct body_frame *f, const struct body_node *n, size_t i)
{
	const char *name = n->proto->input[i];

	return n->inputs[i] ? body_evaluate(f, n->inputs[i], name)
			    : body_named(f, name);
}

/* The type that a Python number among the inputs gets: the type of the last
 * input that is a tensor of another type than bool; void if there is none. */
static struct dtype
common_type(const struct body_value *in, size_t n)
{
	struct dtype t = dtype_of(DT_VOID);

	for (size_t i = 0; i < n; i++) {
		if (in[i].kind == BODY_TENSOR &&
		    dtype_class(in[i].tensor->type) != DTC_BOOL) {
			t = in[i].tensor->type;
		}
	}
	return t;
}

/* The least number of inputs of an operator. */
static int
needed_inputs(const Onnx__NodeProto *p)
{
	int least = 0, most, outputs;

	(void)operator_limits(p->domain ? p->domain : "", p->op_type, &least,
			      &most, &outputs);
	return least;
}

static bool
read_inputs(struct body_frame *f, const struct body_node *n,
	    struct body_value *in)
{
	size_t count = n->proto->n_input;
	int least = needed_inputs(n->proto);

	for (size_t i = 0; i < count; i++) {
		in[i] = input_value(f, n, i);
		if (f->c->failed) {
			return false;
		}
		if (in[i].kind == BODY_NONE && (int)i < least &&
		    in[i].input > 0) {
			return compose_error(f->c, DIAG_BAD_MODEL,
					     "input %d is missing; %s needs it",
					     in[i].input - 1,
					     f->c->node->op_type);
		}
	}
	return true;
}

/* -- nodes */

static struct body_value
body_of_tensor(struct tensor *t)
{
	return (struct body_value){ .kind = t ? BODY_TENSOR : BODY_NONE,
				    .tensor = t };
}

static void
bind(struct body_frame *f, const char *name, struct tensor *t)
{
	body_bind(f, name, body_of_tensor(t));
}

/* The ending of the name of a new tensor, from `name`, its name in the text. In
 * a piece, if the name is y or y_part and y is an output, the name that the
 * caller gives to this output takes the place of y. */
static const char *
what_of(const struct body_frame *f, const char *name)
{
	const Onnx__FunctionProto *p = f->body->proto;

	for (size_t k = 0; f->results && k < p->n_output; k++) {
		size_t n = strlen(p->output[k]);

		if (n > 0 && strncmp(p->output[k], name, n) == 0 &&
		    (!name[n] || name[n] == '_')) {
			return arena_printf(&f->c->imp->tmp, "%s%s",
					    f->results[k], name + n);
		}
	}
	return name;
}

/* A call of a function of the texts: its inputs and attributes, and its results
 * in `out`. wanted[k]: is output k needed? names: the names that the caller
 * gives to the outputs, or NULL. */
struct body_run {
	const struct text_body *body;
	attr_list attrs;
	struct body_value *in;
	size_t n_in, n_out;
	bool *wanted;
	struct tensor **out;
	char *const *names;
};

/* Starts a call of b. The attributes that are set in c for the next node become
 * the attributes of the call. */
static struct body_run
new_run(struct compose *c, const struct text_body *b, size_t n_in, size_t n_out)
{
	struct arena *a = &c->imp->tmp;
	struct body_run r = {
		.body = b,
		.attrs = c->attrs,
		.in = arena_array(a, struct body_value, n_in + 1),
		.n_in = n_in,
		.n_out = n_out,
		.wanted = arena_array(a, bool, n_out + 1),
		.out = arena_array(a, struct tensor *, n_out + 1),
	};

	c->attrs = (attr_list){ 0 };
	return r;
}

static bool run_call(struct compose *c, const struct body_run *r);

/* Makes the nodes of the piece that node n of the text calls (row), and binds
 * its results to the names of n's outputs. The attributes were set before.
 * False after a diagnostic. */
static bool
run_piece(struct body_frame *f, const struct body_node *n,
	  const struct composition_text *row, struct body_value *in,
	  const struct text_map *needed)
{
	const Onnx__NodeProto *p = n->proto;
	struct body_run r = new_run(f->c, body_read(f->c->imp, row), p->n_input,
				    p->n_output);

	r.in = in;
	r.names = p->output;
	for (size_t k = 0; k < p->n_output; k++) {
		r.wanted[k] = is_needed(needed, p->output[k]);
	}
	if (!run_call(f->c, &r)) {
		return false;
	}
	for (size_t k = 0; k < p->n_output; k++) {
		bind(f, p->output[k], r.out[k]);
	}
	return true;
}

/* If n is a Cast, CastLike or Reshape, sets *out to the result of n: if the
 * input already has the type or shape, that is the input itself, and no node is
 * made. False if n has another operator; then *out is not set. */
static bool
run_no_change(struct body_frame *f, const struct body_node *n,
	      const struct body_value *in, struct tensor **out)
{
	const Onnx__NodeProto *p = n->proto;
	const char *what = what_of(f, p->output[0]), *op = p->op_type;
	struct compose *c = f->c;
	struct tensor *x;
	struct dtype t;

	if (in[0].kind == BODY_NONE || (p->domain && *p->domain)) {
		return false;
	}
	if (strcmp(op, "CastLike") == 0 && in[1].kind == BODY_TENSOR) {
		t = in[1].tensor->type;
		x = body_tensor(f, &in[0], t);
		*out = c->failed ? x : compose_cast(c, what, x, t);
		return true;
	}
	if (in[0].kind != BODY_TENSOR) {
		return false;
	}
	if (strcmp(op, "Cast") == 0 && c->attrs.n == 1 &&
	    dtype_from_onnx(c->attrs.data[0].i, &t)) {
		c->attrs.n = 0;
		*out = compose_cast(c, what, in[0].tensor, t);
		return true;
	}
	if (strcmp(op, "Reshape") == 0 && in[1].kind == BODY_LIST) {
		*out = compose_reshape(c, what, in[0].tensor, in[1].n,
				       body_sizes(f, &in[1]));
		return true;
	}
	return false;
}

static void
run_operator(struct body_frame *f, const struct body_node *n,
	     const struct body_value *in, const struct text_map *needed)
{
	const Onnx__NodeProto *p = n->proto;
	struct arena *a = &f->c->imp->tmp;
	struct tensor **tensors = arena_array(a, struct tensor *,
					      p->n_input + 1);
	struct tensor **out = arena_array(a, struct tensor *, p->n_output + 1);
	const char **whats = arena_array(a, const char *, p->n_output + 1);
	struct dtype type = common_type(in, p->n_input);
	int n_in = (int)p->n_input, n_out = (int)p->n_output;

	for (int i = 0; i < n_in; i++) {
		tensors[i] = body_tensor(f, &in[i], type);
	}
	while (n_in > 0 && !tensors[n_in - 1]) {
		n_in--;
	}
	for (int k = 0; k < n_out; k++) {
		whats[k] = k == 0 || is_needed(needed, p->output[k])
				   ? what_of(f, p->output[k])
				   : NULL;
	}
	while (n_out > 1 && !whats[n_out - 1]) {
		n_out--;
	}
	compose_nodes(f->c, p->domain ? p->domain : "", p->op_type, tensors,
		      n_in, whats, n_out, out);
	for (int k = 0; k < n_out; k++) {
		bind(f, p->output[k], out[k]);
	}
}

bool
body_error_kind(const char *name, enum diag_id *id)
{
	static const struct {
		const char *name;
		enum diag_id id;
	} kinds[] = {
		{ "model", DIAG_BAD_MODEL },
		{ "attribute", DIAG_BAD_ATTRIBUTE },
		{ "shape", DIAG_BAD_SHAPE },
		{ "type", DIAG_BAD_TYPE },
		{ "unsupported", DIAG_UNSUPPORTED },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			*id = kinds[i].id;
			return true;
		}
	}
	return false;
}

/* Reports the mistake that a tirc.Error describes; returns false. */
static bool
report(struct body_frame *f, const struct body_node *n)
{
	const char *kind = n->proto->attribute[0]->name;
	struct body_value v = body_evaluate(f, n->attrs[0], kind);
	enum diag_id id;

	return !f->c->failed && body_error_kind(kind, &id) &&
	       compose_error(f->c, id, "%s", v.text);
}

/* Binds the output of a Constant to the value of its only attribute. */
static bool
run_constant(struct body_frame *f, const struct body_node *n)
{
	const Onnx__NodeProto *p = n->proto;
	struct body_value v = { .kind = BODY_NONE };
	struct attr a;

	if (n->attrs[0]) {
		v = body_evaluate(f, n->attrs[0],
				  p->attribute[0]->ref_attr_name);
	} else if (!import_attribute(f->c->imp, &f->body->source,
				     p->attribute[0], f->body->row->op_type,
				     &a)) {
		return false;
	} else if (a.kind == ATTR_TENSOR) {
		bind(f, p->output[0],
		     compose_value(f->c, p->output[0], a.tensor, a.tensor_ndim,
				   a.tensor_shape));
		return true;
	} else {
		v = body_attribute_value(f, &a);
	}
	body_bind(f, p->output[0], v);
	return !f->c->failed;
}

/* The value of the first output of node n if n is not made: the first input of
 * n; None if this input is an expression or absent. */
static struct body_value
without(struct body_frame *f, const struct body_node *n)
{
	return n->proto->n_input > 0 && !n->inputs[0]
		       ? input_value(f, n, 0)
		       : (struct body_value){ .kind = BODY_NONE };
}

static bool
run_node(struct body_frame *f, const struct body_node *n,
	 const struct text_map *needed)
{
	const Onnx__NodeProto *p = n->proto;
	const char *domain = p->domain ? p->domain : "";
	struct arena *a = &f->c->imp->tmp;
	struct body_value *in = arena_array(a, struct body_value,
					    p->n_input + 2);
	const struct composition_text *piece;
	struct body_value condition;
	struct tensor *out;

	f->what = p->n_output > 0
			  ? arena_printf(a, "%s_by", what_of(f, p->output[0]))
			  : "";
	if (n->condition) {
		condition = body_evaluate(f, n->condition, p->name);
		if (f->c->failed) {
			return false;
		}
		if (!body_is_true(&condition)) {
			if (p->n_output > 0 && !body_name(f, p->output[0])) {
				body_bind(f, p->output[0], without(f, n));
			}
			return true;
		}
	}
	if (p->n_output == 0) {
		return report(f, n);
	}
	if (!*domain && strcmp(p->op_type, "Constant") == 0) {
		return run_constant(f, n);
	}
	if (!*domain && strcmp(p->op_type, "Identity") == 0) {
		f->what = what_of(f, p->output[0]);
		body_bind(f, p->output[0], input_value(f, n, 0));
		return !f->c->failed;
	}
	if (!read_inputs(f, n, in) || !set_attributes(f, n)) {
		return false;
	}
	piece = strcmp(domain, "tirc") == 0
			? composition_text_find(domain, p->op_type)
			: NULL;
	if (piece) {
		return run_piece(f, n, piece, in, needed);
	}
	if (run_no_change(f, n, in, &out)) {
		bind(f, p->output[0], out);
	} else {
		run_operator(f, n, in, needed);
	}
	return !f->c->failed;
}

static bool
run_call(struct compose *c, const struct body_run *r)
{
	struct body_frame f = {
		.c = c,
		.body = r->body,
		.attrs = r->attrs.data,
		.n_attrs = r->attrs.n,
		.results = r->names,
	};
	const Onnx__FunctionProto *p;
	struct text_map needed;

	if (!r->body || c->failed) {
		return false;
	}
	p = r->body->proto;
	text_map_init(&needed, &c->imp->tmp);
	text_map_init(&f.names, &c->imp->tmp);
	for (size_t i = 0; i < p->n_input; i++) {
		body_bind(&f, p->input[i],
			  i < r->n_in ? r->in[i]
				      : (struct body_value){ .input = 0 });
	}
	for (size_t k = 0; k < p->n_output && k < r->n_out; k++) {
		if (r->wanted[k]) {
			text_map_add(&needed, p->output[k], 0);
		}
	}
	find_needed(r->body, &needed);
	for (size_t i = 0; i < p->n_node; i++) {
		if (any_needed(&needed, p->node[i]) &&
		    !run_node(&f, &r->body->nodes[i], &needed)) {
			return false;
		}
	}
	/* an output that is not wanted becomes a result, too, if its node also
	 * computes a wanted output */
	for (size_t k = 0; k < r->n_out && k < p->n_output; k++) {
		const struct body_value *v = body_name(&f, p->output[k]);

		if (v && (r->wanted[k] || v->kind == BODY_TENSOR)) {
			r->out[k] = body_tensor(&f, v, dtype_of(DT_VOID));
		}
	}
	return !c->failed;
}

static bool
declares(const struct text_body *b, const char *name)
{
	for (size_t i = 0; i < b->proto->n_attribute; i++) {
		if (strcmp(b->proto->attribute[i], name) == 0) {
			return true;
		}
	}
	return body_default(b, name) != NULL;
}

/* Has the function all attributes of the node? ONNX's operators may have others,
 * which are ignored; in Relay's text they are mistakes. False after a
 * diagnostic. */
static bool
has_attributes(struct compose *c, const struct text_body *b)
{
	const struct node *n = c->node;

	for (int i = 0; i < n->attrs.n && body_is_relay(b); i++) {
		if (!declares(b, n->attrs.data[i].name)) {
			return compose_error(c, DIAG_BAD_ATTRIBUTE,
					     "the operator does not have the "
					     "attribute '%s'",
					     n->attrs.data[i].name);
		}
	}
	return true;
}

bool
body_compose(struct compose *c, const struct text_body *b)
{
	const struct node *n = c->node;
	struct body_run r = new_run(c, b, b->proto->n_input,
				    (size_t)n->n_outputs);
	bool any = false;

	r.attrs = (attr_list){ n->attrs.data, n->attrs.n, n->attrs.n };
	for (size_t i = 0; i < r.n_in; i++) {
		struct tensor *t = compose_input(c, (int)i);

		r.in[i] = body_of_tensor(t);
		r.in[i].input = (int)i + 1;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		r.wanted[k] = compose_wants(c, k);
		any = any || r.wanted[k];
	}
	/* If no output has a reader, because another composition has just made
	 * the node, all outputs are wanted. */
	for (int k = 0; k < n->n_outputs && !any; k++) {
		r.wanted[k] = n->outputs[k] != NULL;
	}
	if (!has_attributes(c, b) || !run_call(c, &r)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (r.out[k] && (size_t)k < b->proto->n_output &&
		    strcmp(b->proto->output[k], "strings") == 0) {
			r.out[k]->is_string = true;
		}
		compose_result(c, k, r.out[k]);
	}
	return true;
}

void
compose_piece(struct compose *c, const char *name, struct tensor *const *in,
	      int n_in, const bool *wanted, struct tensor **out, int n_out)
{
	struct body_run r =
		new_run(c,
			body_read(c->imp, composition_text_find("tirc", name)),
			(size_t)n_in, (size_t)n_out);

	for (int i = 0; i < n_in; i++) {
		r.in[i] = body_of_tensor(in[i]);
	}
	for (int k = 0; k < n_out; k++) {
		r.wanted[k] = !wanted || wanted[k];
	}
	c->failed = !run_call(c, &r);
	for (int k = 0; k < n_out; k++) {
		out[k] = c->failed ? c->stand_in : r.out[k];
	}
}
