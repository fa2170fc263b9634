/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions, blocks and functions of Relay's text. */
#include "graph.h"
#include "relay_read.h"

static bool read_expr(struct relay_reader *r, struct relay_value *out);

/* -- names -- */

void
relay_bind(struct relay_reader *r, const char *name, struct relay_value value)
{
	struct relay_scope *s = r->scope;
	int at = text_map_get(&s->names, name, -1);

	if (at >= 0) {
		s->values.data[at] = value;
		return;
	}
	text_map_add(&s->names, name, s->values.n);
	vec_push(r->tmp, &s->values, value);
}

static const struct relay_value *
look_up(const struct relay_reader *r, const char *name, size_t length)
{
	for (const struct relay_scope *s = r->scope; s; s = s->around) {
		int at = text_map_get_bytes(&s->names, name, length, -1);

		if (at >= 0) {
			return &s->values.data[at];
		}
	}
	return NULL;
}

/* -- attributes -- */

struct attr_values {
	VEC(int64_t) ints;
	VEC(double) floats;
	VEC(const char *) texts;
	bool any_float, any_text, any_number;
};

static bool
add_attr_value(struct relay_reader *r, struct attr_values *v)
{
	const struct relay_token *t = &r->next;
	bool word = t->kind == RELAY_WORD, yes = relay_at_word(r, "True");

	if (t->kind == RELAY_INT || t->kind == RELAY_FLOAT || yes ||
	    relay_at_word(r, "False")) {
		v->any_number = true;
		v->any_float |= t->kind == RELAY_FLOAT;
		vec_push(r->tmp, &v->ints,
			 t->kind == RELAY_INT ? t->i : (int64_t)yes);
		vec_push(r->tmp, &v->floats, word ? (double)yes : t->f);
	} else if (t->kind == RELAY_STRING || word) {
		v->any_text = true;
		vec_push(r->tmp, &v->texts, t->text);
	} else {
		return relay_fail(r, t,
				  "the value of an attribute is expected here: "
				  "a number, a text or a list");
	}
	if (v->any_text && v->any_number) {
		return relay_fail(r, t,
				  "a list of numbers or of texts, not "
				  "of both");
	}
	return relay_advance(r);
}

/* Reads the elements of a list or tuple; those of lists in it are elements,
 * too. */
static bool
read_attr_list(struct relay_reader *r, struct attr_values *v)
{
	const char *end = relay_at(r, "[") ? "]" : ")";
	bool more, ok = relay_enter(r) && relay_advance(r);

	more = ok && !relay_at(r, end);
	while (ok && more) {
		ok = (relay_at(r, "[") || relay_at(r, "(")
			      ? read_attr_list(r, v)
			      : add_attr_value(r, v)) &&
		     relay_more(r, end, &more);
	}
	r->depth--;
	return ok && relay_expect(r, end, "it ends the list");
}

static bool
read_attr_value(struct relay_reader *r, struct relay_attr *a)
{
	struct attr_values v = { 0 };

	if (relay_at_word(r, "None")) {
		return relay_advance(r);
	}
	a->is_list = relay_at(r, "[") || relay_at(r, "(");
	if (!(a->is_list ? read_attr_list(r, &v) : add_attr_value(r, &v))) {
		return false;
	}
	a->kind = v.any_text    ? RELAY_ATTR_STRING
		  : v.any_float ? RELAY_ATTR_FLOAT
				: RELAY_ATTR_INT;
	a->n = v.any_text ? v.texts.n : v.ints.n;
	a->ints = v.ints.data;
	a->floats = v.floats.data;
	a->texts = v.texts.data;
	return true;
}

/* Skips the value of an attribute that says nothing about results: of a
 * function, or of a call the type of its attributes. Brackets nest. */
static bool
skip_value(struct relay_reader *r)
{
	int open = 0;

	do {
		open += relay_at(r, "[") || relay_at(r, "(") ||
			relay_at(r, "{");
		open -= relay_at(r, "]") || relay_at(r, ")") ||
			relay_at(r, "}");
		if (r->next.kind == RELAY_END || open < 0) {
			return relay_fail(r, &r->next,
					  "a value is expected here");
		}
		if (!relay_advance(r)) {
			return false;
		}
	} while (open > 0 || relay_at(r, "[") || relay_at(r, "("));
	return true;
}

/* -- calls -- */

/* Is this one of the attributes that TVM prints of all calls? */
static bool
says_nothing(const char *name)
{
	return strcmp(name, "attrs_type_key") == 0 ||
	       strcmp(name, "span") == 0 || strcmp(name, "ty") == 0;
}

typedef VEC(struct relay_value) value_list;
typedef VEC(struct relay_attr) attr_list;

static bool
read_argument(struct relay_reader *r, value_list *args, attr_list *attrs)
{
	struct relay_attr a = { .name = r->next.text };
	struct relay_value v;

	if (r->next.kind != RELAY_WORD || !relay_followed_by(r, '=')) {
		if (!read_expr(r, &v)) {
			return false;
		}
		vec_push(r->tmp, args, v);
		return true;
	}
	if (!relay_advance(r) || !relay_expect(r, "=", "key=value")) {
		return false;
	}
	if (says_nothing(a.name)) {
		return skip_value(r);
	}
	if (!read_attr_value(r, &a)) {
		return false;
	}
	vec_push(r->tmp, attrs, a);
	return true;
}

/* Reads the arguments from the bracket on, and appends the call. */
static bool
read_call(struct relay_reader *r, struct relay_call *c, struct relay_value *out)
{
	const char *number = r->number, *hint = r->hint;
	value_list args = { 0 };
	attr_list attrs = { 0 };
	bool more;

	r->number = r->hint = NULL;
	if (!relay_expect(r, "(", "the arguments of a call")) {
		return false;
	}
	more = !relay_at(r, ")");
	while (more) {
		if (!read_argument(r, &args, &attrs) ||
		    !relay_more(r, ")", &more)) {
			return false;
		}
	}
	if (!relay_expect(r, ")", "it ends the arguments")) {
		return false;
	}
	r->number = number;
	r->hint = hint;
	c->args = args.data;
	c->n_args = args.n;
	c->attrs = attrs.data;
	c->n_attrs = attrs.n;
	return relay_call(r, c, out);
}

/* -- atoms -- */

static bool
read_tuple(struct relay_reader *r, struct relay_value *out)
{
	value_list items = { 0 };
	bool more, comma = false;
	struct relay_value v;

	if (!relay_advance(r)) {
		return false;
	}
	more = !relay_at(r, ")");
	while (more) {
		if (!read_expr(r, &v)) {
			return false;
		}
		vec_push(r->tmp, &items, v);
		comma |= relay_at(r, ",");
		if (!relay_more(r, ")", &more)) {
			return false;
		}
	}
	if (items.n == 1 && !comma) {
		*out = items.data[0];
	} else if (!relay_tuple(r, items.data, items.n, out)) {
		return false;
	}
	return relay_expect(r, ")", "it ends the tuple");
}

/* Sets *out to constant i of the module, which each function and branch has
 * once. */
static bool
put_meta(struct relay_reader *r, const struct relay_token *at, int i,
	 struct relay_value *out)
{
	struct relay_constant *c = &r->constants->list.data[i];
	/* functions may share large constants, but not all of them */
	size_t most = 16 * r->src->length;

	*out = (struct relay_value){ .kind = RELAY_TENSOR, .name = c->name };
	if (c->body == r->body) {
		return true;
	}
	r->constant_bytes += c->bytes;
	if (r->constant_bytes > most) {
		return relay_fail(r, at,
				  "the constants of all functions have more "
				  "than %zu bytes; give them as parameters",
				  most);
	}
	c->body = r->body;
	if (!relay_put_constant(r, arena_printf(r->tmp, "constant_%d", i),
				c->type, c->dims, c->ndim, c->data, c->bytes,
				&c->name)) {
		return false;
	}
	out->name = c->name;
	return true;
}

/* meta[relay.Constant][3] */
static bool
read_meta(struct relay_reader *r, struct relay_value *out)
{
	struct relay_token at = r->next;
	int64_t i;

	if (!relay_advance(r) ||
	    !relay_expect(r, "[", "meta[relay.Constant]")) {
		return false;
	}
	if (!relay_at_word(r, "relay.Constant")) {
		return relay_fail(r, &r->next,
				  "only meta[relay.Constant] is a "
				  "value here");
	}
	if (!relay_advance(r) ||
	    !relay_expect(r, "]", "meta[relay.Constant]") ||
	    !relay_expect(r, "[", "the number of the constant") ||
	    !relay_int(r, "the number of the constant", &i) ||
	    !relay_expect(r, "]", "it ends the number")) {
		return false;
	}
	if (i < 0 || i >= r->constants->list.n) {
		return relay_fail(r, &at,
				  "the text has no such constant: print the "
				  "module with show_meta_data=True");
	}
	return put_meta(r, &at, (int)i, out);
}

/* Is the value, the result of a function or a branch, a tensor or a tuple of
 * tensors? False after a diagnostic. */
static bool
check_result(struct relay_reader *r, const struct relay_value *v)
{
	bool flat = v->kind == RELAY_TENSOR ||
		    (v->kind == RELAY_TUPLE && v->levels == 1);

	return flat || relay_fail(r, &r->next,
				  "a result is a tensor or a tuple of tensors; "
				  "functions and tuples in tuples are not "
				  "supported");
}

/* Reads { … } of a branch as a GraphProto in a strbuf. *tuple: is its result a
 * tuple? */
static bool
read_branch(struct relay_reader *r, struct strbuf *out, relay_names *results,
	    bool *tuple)
{
	struct strbuf *nodes = r->nodes;
	uint32_t field = r->node_field;
	struct relay_scope *outer = r->scope, scope = { .around = outer };
	int body = r->body;
	struct relay_value v;
	bool ok;

	text_map_init(&scope.names, r->tmp);
	r->nodes = out;
	r->node_field = GRAPH_NODE;
	r->scope = &scope;
	r->body = ++r->n_bodies;
	ok = relay_block(r, &v) && check_result(r, &v);
	if (ok) {
		*tuple = v.kind == RELAY_TUPLE;
		relay_tensors(r, &v, results);
		for (int i = 0; ok && i < results->n; i++) {
			const char *own = relay_new_name(r, results->data[i]);

			ok = relay_put_node(r, "", "Identity",
					    &results->data[i], 1, NULL, 0, &own,
					    1);
			relay_put_value_info(out, GRAPH_OUTPUT, own, NULL);
		}
	}
	r->scope = outer;
	r->body = body;
	r->nodes = nodes;
	r->node_field = field;
	wire_put_bytes(out, GRAPH_NAME, "branch", 6);
	return ok;
}

/* Appends the node of an if with its branches; sets *out to its result. */
static bool
put_if(struct relay_reader *r, const char *condition,
       const struct strbuf *branches, int n, bool tuple,
       struct relay_value *out)
{
	struct relay_value *items = arena_array(r->tmp, struct relay_value,
						n + 1);
	size_t start = wire_open(r->nodes, r->node_field);

	wire_put_bytes(r->nodes, NODE_INPUT, condition, strlen(condition));
	for (int i = 0; i < n; i++) {
		items[i].kind = RELAY_TENSOR;
		items[i].name = relay_new_name(r, "chosen");
		wire_put_bytes(r->nodes, NODE_OUTPUT, items[i].name,
			       strlen(items[i].name));
	}
	wire_put_bytes(r->nodes, NODE_OP_TYPE, "If", 2);
	relay_put_graph(r->nodes, "then_branch", &branches[0]);
	relay_put_graph(r->nodes, "else_branch", &branches[1]);
	*out = items[0];
	if (tuple && !relay_tuple(r, items, n, out)) {
		return false;
	}
	return wire_close(r->nodes, start) ||
	       relay_fail(r, &r->next, "a branch has more than 2 GB");
}

static bool
read_if(struct relay_reader *r, struct relay_value *out)
{
	struct relay_token at = r->next;
	struct relay_value condition;
	struct strbuf branches[2];
	relay_names results[2] = { { 0 }, { 0 } };
	bool ok, tuples[2];

	strbuf_init(&branches[0]);
	strbuf_init(&branches[1]);
	ok = relay_advance(r) &&
	     relay_expect(r, "(", "if (condition) { … } else { … }") &&
	     read_expr(r, &condition) &&
	     relay_expect(r, ")", "if (condition) { … } else { … }") &&
	     read_branch(r, &branches[0], &results[0], &tuples[0]);
	if (ok && !relay_at_word(r, "else")) {
		ok = relay_fail(r, &r->next, "else is expected here");
	}
	ok = ok && relay_advance(r) &&
	     read_branch(r, &branches[1], &results[1], &tuples[1]);
	if (ok && (condition.kind != RELAY_TENSOR || results[0].n == 0 ||
		   results[0].n != results[1].n || tuples[0] != tuples[1])) {
		ok = relay_fail(r, &at,
				"an if takes a tensor, and its "
				"branches have results alike");
	}
	ok = ok &&
	     put_if(r, condition.name, branches, results[0].n, tuples[0], out);
	strbuf_release(&branches[0]);
	strbuf_release(&branches[1]);
	return ok;
}

/* Replaces a tuple by its item i. */
static bool
take_item(struct relay_reader *r, const struct relay_token *at, int64_t i,
	  struct relay_value *v)
{
	if (v->kind != RELAY_TUPLE || i < 0 || i >= v->n) {
		return relay_fail(r, at, "this has no item %d; it is %s",
				  (int)i,
				  v->kind == RELAY_TUPLE
					  ? arena_printf(r->tmp,
							 "a tuple of %d", v->n)
					  : "a tensor");
	}
	*v = v->items[i];
	return true;
}

/* Reads %x, or items of it: %input.1 is the name of a value, if there is one, or
 * else item 1 of %input. */
static bool
read_name(struct relay_reader *r, struct relay_value *out)
{
	struct relay_token at = r->next;
	size_t n = strlen(at.text);
	const struct relay_value *v = look_up(r, at.text, n);
	const char *rest = "";

	for (int items = 0; v == NULL && n > 0 && items <= RELAY_DEPTH;
	     items++) {
		while (n > 0 && at.text[n - 1] != '.') {
			n--;
		}
		if (n > 0 && at.text[n] >= '0' && at.text[n] <= '9') {
			rest = at.text + n - 1;
			v = look_up(r, at.text, n - 1);
		}
		n -= n > 0;
	}
	if (v == NULL) {
		return relay_fail(r, &at,
				  "%%%s is not known here: it is no parameter, "
				  "and no line before gives it a value",
				  at.text);
	}
	*out = *v;
	while (*rest == '.') {
		int64_t i = 0;

		for (rest++; *rest >= '0' && *rest <= '9' && i < INT32_MAX;
		     rest++) {
			i = i * 10 + (*rest - '0');
		}
		if (!take_item(r, &at, i, out)) {
			return false;
		}
	}
	return relay_advance(r);
}

/* An operator, or a word with a meaning of its own. */
static bool
read_word(struct relay_reader *r, struct relay_value *out)
{
	struct relay_call call = { .at = r->next,
				   .domain = RELAY_DOMAIN,
				   .op = r->next.text };

	if (relay_at_word(r, "if")) {
		return read_if(r, out);
	}
	if (relay_at_word(r, "meta")) {
		return read_meta(r, out);
	}
	if (relay_at_word(r, "fn")) {
		return relay_advance(r) &&
		       relay_function(r,
				      arena_printf(r->tmp, "fn_%d",
						   r->n_functions++),
				      out);
	}
	if (relay_at_word(r, "True") || relay_at_word(r, "False")) {
		struct relay_token number = r->next;

		number.kind = RELAY_INT;
		number.i = relay_at_word(r, "True");
		number.type = dtype_of(DT_BOOL);
		return relay_advance(r) && relay_put_number(r, &number, out);
	}
	if (relay_at_word(r, "None")) { /* an argument that is absent */
		*out = (struct relay_value){ .kind = RELAY_TENSOR, .name = "" };
		return relay_advance(r);
	}
	if (relay_at_word(r, "match") || relay_at_word(r, "ref") ||
	    !relay_followed_by(r, '(')) {
		return relay_fail(r, &r->next,
				  "'%s' is not supported here: write the call "
				  "of an operator, (%%x, %%y), if or fn",
				  r->next.text);
	}
	return relay_advance(r) && read_call(r, &call, out);
}

static bool
read_global(struct relay_reader *r, struct relay_value *out)
{
	int n = text_map_get(&r->globals, r->next.text, -1);

	if (n < 0) {
		return relay_fail(r, &r->next,
				  "the function @%s is not known here: define "
				  "it before; recursion is not supported",
				  r->next.text);
	}
	*out = (struct relay_value){ .kind = RELAY_FUNCTION,
				     .name = r->next.text,
				     .n_results = n };
	return relay_advance(r);
}

static bool
read_atom(struct relay_reader *r, struct relay_value *out)
{
	struct relay_token at = r->next;

	switch (at.kind) {
	case RELAY_LOCAL:
		return read_name(r, out);
	case RELAY_GLOBAL:
		return read_global(r, out);
	case RELAY_WORD:
		return read_word(r, out);
	case RELAY_INT:
	case RELAY_FLOAT:
		return relay_advance(r) && relay_put_number(r, &at, out);
	default:
		break;
	}
	if (relay_at(r, "(")) {
		return read_tuple(r, out);
	}
	if (relay_at(r, "{")) {
		struct relay_scope *outer = r->scope, own = { .around = outer };
		bool ok;

		text_map_init(&own.names, r->tmp);
		r->scope = &own;
		ok = relay_block(r, out);
		r->scope = outer;
		return ok;
	}
	return relay_fail(r, &at, "an expression is expected here");
}

/* What may follow an expression: the arguments of a call, or the number of an
 * item. */
static bool
read_rest(struct relay_reader *r, const struct relay_token *at,
	  struct relay_value *out)
{
	int64_t i;

	while (relay_at(r, "(") || relay_at(r, ".")) {
		struct relay_value of = *out;

		if (relay_at(r, "(")) {
			struct relay_call call = { .at = *at,
						   .domain = RELAY_LOCAL_DOMAIN,
						   .op = of.name };

			if (of.kind != RELAY_FUNCTION) {
				return relay_fail(r, at, "this is no function");
			}
			if (!read_call(r, &call, out)) {
				return false;
			}
			continue;
		}
		if (!relay_advance(r) ||
		    !relay_int(r, "the number of an item", &i) ||
		    !take_item(r, at, i, out)) {
			return false;
		}
	}
	return true;
}

static bool
read_expr(struct relay_reader *r, struct relay_value *out)
{
	struct relay_token at = r->next;
	bool ok = relay_enter(r) && read_atom(r, out) && read_rest(r, &at, out);

	r->depth--;
	return ok;
}

/* -- blocks -- */

/* Reads %0 = …; or let %x: T = …; which begins with the name. */
static bool
read_definition(struct relay_reader *r, bool is_let)
{
	const char *name = r->next.text;
	struct relay_value v;
	bool typed, ok;

	if (r->next.kind != RELAY_LOCAL) {
		return relay_fail(r, &r->next,
				  "a name is expected here: let %%x = …;");
	}
	if (!relay_advance(r) || !relay_accept(r, ":", &typed) ||
	    (typed && !relay_type(r)) || !relay_expect(r, "=", "%0 = …;")) {
		return false;
	}
	if (is_let || name[0] < '0' || name[0] > '9') {
		r->hint = name;
	} else {
		r->number = name;
	}
	ok = read_expr(r, &v) && relay_expect(r, ";", "it ends the definition");
	r->hint = r->number = NULL;
	if (ok) {
		relay_bind(r, name, v);
	}
	return ok;
}

bool
relay_block(struct relay_reader *r, struct relay_value *out)
{
	bool is_let;

	if (!relay_expect(r, "{", "the body of a function or a branch")) {
		return false;
	}
	for (;;) {
		is_let = relay_at_word(r, "let");
		if (!is_let && !(r->next.kind == RELAY_LOCAL &&
				 relay_followed_by(r, '='))) {
			break;
		}
		if ((is_let && !relay_advance(r)) ||
		    !read_definition(r, is_let)) {
			return false;
		}
	}
	return read_expr(r, out) && relay_expect(r, "}", "it ends the block");
}

/* -- functions -- */

bool
relay_read_params(struct relay_reader *r,
		  bool (*put)(struct relay_reader *r, void *ctx,
			      const struct relay_token *name, bool has_type),
		  void *ctx)
{
	struct relay_token name;
	bool more, typed;

	if (!relay_expect(r, "(", "the parameters of a function")) {
		return false;
	}
	more = !relay_at(r, ")");
	while (more) {
		name = r->next;
		if (name.kind == RELAY_WORD && relay_followed_by(r, '=')) {
			if (!relay_advance(r) ||
			    !relay_expect(r, "=", "key=value") ||
			    !skip_value(r)) {
				return false;
			}
		} else if (name.kind != RELAY_LOCAL) {
			return relay_fail(r, &name,
					  "a parameter is expected here: %%x: "
					  "Tensor[(1, 8), float32]");
		} else if (!relay_advance(r) || !relay_accept(r, ":", &typed) ||
			   (typed && !relay_type(r)) ||
			   !put(r, ctx, &name, typed)) {
			return false;
		}
		if (!relay_more(r, ")", &more)) {
			return false;
		}
	}
	return relay_expect(r, ")", "it ends the parameters");
}

/* Adds a parameter of a function, which is one tensor, or, if it is a tuple,
 * several. */
static bool
put_param(struct relay_reader *r, void *ctx, const struct relay_token *name,
	  bool has_type)
{
	struct strbuf *out = ctx;
	int n = has_type && !r->type.is_tensor ? r->type.n_fields : 1;
	struct relay_value *items = arena_array(r->tmp, struct relay_value,
						n + 1);

	if (has_type && r->type.is_function) {
		return relay_fail(r, name,
				  "functions as parameters are not "
				  "supported");
	}
	for (int i = 0; i < n; i++) {
		items[i].kind = RELAY_TENSOR;
		items[i].name = relay_new_name(r, name->text);
		wire_put_bytes(out, FUNCTION_INPUT, items[i].name,
			       strlen(items[i].name));
	}
	if (has_type && !r->type.is_tensor) {
		if (!relay_tuple(r, items, n, &items[n])) {
			return false;
		}
		relay_bind(r, name->text, items[n]);
	} else {
		relay_bind(r, name->text, items[0]);
	}
	return true;
}

static void
put_opset(struct strbuf *out, uint32_t field, const char *domain,
	  int64_t version)
{
	size_t start = wire_open(out, field);

	wire_put_bytes(out, 1, domain, strlen(domain));
	wire_put_int(out, 2, version);
	wire_close(out, start);
}

void
relay_put_opsets(struct strbuf *out, uint32_t field)
{
	put_opset(out, field, "", GRAPH_CANONICAL_OPSET);
	put_opset(out, field, RELAY_DOMAIN, 1);
	put_opset(out, field, RELAY_LOCAL_DOMAIN, 1);
}

/* Reads a function's body and result type into the message `out`. *n: the
 * values in its result, 0 for a tensor. */
static bool
read_function(struct relay_reader *r, struct strbuf *out, int *n)
{
	relay_names results = { 0 };
	struct relay_value v;
	bool typed;

	if (!relay_read_params(r, put_param, out) ||
	    !relay_accept(r, "->", &typed) || (typed && !relay_type(r)) ||
	    !relay_block(r, &v)) {
		return false;
	}
	if (!check_result(r, &v)) {
		return false;
	}
	relay_tensors(r, &v, &results);
	*n = v.kind == RELAY_TUPLE ? results.n : 0;
	for (int i = 0; i < results.n; i++) {
		const char *own = relay_new_name(r, results.data[i]);

		if (!relay_put_node(r, "", "Identity", &results.data[i], 1,
				    NULL, 0, &own, 1)) {
			return false;
		}
		wire_put_bytes(out, FUNCTION_OUTPUT, own, strlen(own));
	}
	return true;
}

bool
relay_function(struct relay_reader *r, const char *name,
	       struct relay_value *out)
{
	struct relay_reader outer = *r;
	struct relay_scope scope = { 0 };
	struct strbuf body;
	size_t start;
	bool ok;
	int n = 0;

	strbuf_init(&body);
	text_map_init(&scope.names, r->tmp);
	r->scope = &scope;
	r->body = ++r->n_bodies;
	r->nodes = &body;
	r->node_field = FUNCTION_NODE;
	r->number = r->hint = NULL;
	ok = read_function(r, &body, &n);
	r->scope = outer.scope;
	r->body = outer.body;
	r->nodes = outer.nodes;
	r->node_field = outer.node_field;
	r->number = outer.number;
	r->hint = outer.hint;
	if (ok) {
		start = wire_open(&r->functions, MODEL_FUNCTION);
		wire_put_bytes(&r->functions, FUNCTION_NAME, name,
			       strlen(name));
		wire_put_bytes(&r->functions, FUNCTION_DOMAIN,
			       RELAY_LOCAL_DOMAIN, strlen(RELAY_LOCAL_DOMAIN));
		relay_put_opsets(&r->functions, FUNCTION_OPSET);
		strbuf_write(&r->functions, body.data, body.len);
		ok = (wire_close(&r->functions, start) ||
		      relay_fail(r, &r->next,
				 "a function has more than 2 GB")) &&
		     (text_map_add(&r->globals, name, n) ||
		      relay_fail(r, &r->next, "there are two functions @%s",
				 name));
	}
	strbuf_release(&body);
	*out = (struct relay_value){ .kind = RELAY_FUNCTION,
				     .name = name,
				     .n_results = n };
	return ok;
}
