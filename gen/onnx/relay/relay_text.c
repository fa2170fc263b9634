/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of Relay's text: their heads, their functions, their function main. */
#include "relay_read.h"

static const char *
after_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) {
		at++;
	}
	return at;
}

static bool
begins(const char *at, const char *end, const char *word)
{
	return (size_t)(end - at) >= strlen(word) &&
	       memcmp(at, word, strlen(word)) == 0;
}

bool
relay_is_text(const uint8_t *data, size_t length)
{
	const char *end = (const char *)data + length;
	const char *at = after_blanks((const char *)data, end);

	if (begins(at, end, "def")) {
		at = after_blanks(at + 3, end);
		return at < end && *at == '@';
	}
	return begins(at, end, "#[version") || begins(at, end, "v0.0.") ||
	       begins(at, end, "fn (") || begins(at, end, "fn(");
}

/* -- main -- */

struct main_function {
	struct strbuf graph;  /* nodes and inputs */
	struct strbuf inputs; /* ValueInfoProtos */
};

static bool
put_input(struct relay_reader *r, void *ctx, const struct relay_token *name,
	  bool has_type)
{
	struct main_function *f = ctx;
	struct relay_value v = { .kind = RELAY_TENSOR };

	if (!has_type || !r->type.is_tensor) {
		return relay_fail(r, name,
				  "a parameter of main has the type of a "
				  "tensor: %%%s: Tensor[(1, 8), float32]",
				  name->text);
	}
	if (!text_map_add(&r->taken, name->text, 0)) {
		return relay_fail(r, name, "there are two parameters %%%s",
				  name->text);
	}
	v.name = name->text;
	relay_bind(r, name->text, v);
	relay_put_value_info(&f->inputs, GRAPH_INPUT, name->text, &r->type);
	return true;
}

/* Appends the outputs of main; each has a name of its own. */
static bool
put_outputs(struct relay_reader *r, struct main_function *f,
	    const struct relay_value *v)
{
	relay_names results = { 0 };

	relay_tensors(r, v, &results);
	if (results.n == 0) {
		return relay_fail(r, &r->next, "main has no result");
	}
	for (int i = 0; i < results.n; i++) {
		const char *own =
			relay_new_name(r,
				       results.n == 1
					       ? "output"
					       : arena_printf(r->tmp,
							      "output_%d", i));

		if (!relay_put_node(r, "", "Identity", &results.data[i], 1,
				    NULL, 0, &own, 1)) {
			return false;
		}
		relay_put_value_info(&f->inputs, GRAPH_OUTPUT, own, NULL);
	}
	return true;
}

/* Reads main from its parameters on, and appends it to the model. */
static bool
read_main(struct relay_reader *r, struct strbuf *out)
{
	struct main_function f;
	struct relay_scope scope = { 0 };
	struct relay_value v;
	size_t start;
	bool typed, ok;

	strbuf_init(&f.graph);
	strbuf_init(&f.inputs);
	text_map_init(&scope.names, r->tmp);
	r->scope = &scope;
	r->body = ++r->n_bodies;
	r->nodes = &f.graph;
	r->node_field = GRAPH_NODE;
	ok = relay_read_params(r, put_input, &f) &&
	     relay_accept(r, "->", &typed) && (!typed || relay_type(r)) &&
	     relay_block(r, &v) && put_outputs(r, &f, &v);
	if (ok) {
		start = wire_open(out, MODEL_GRAPH);
		strbuf_write(out, f.graph.data, f.graph.len);
		strbuf_write(out, f.inputs.data, f.inputs.len);
		ok = wire_close(out, start) ||
		     relay_fail(r, &r->next, "main has more than 2 GB");
	}
	strbuf_release(&f.graph);
	strbuf_release(&f.inputs);
	return ok;
}

/* -- the module -- */

/* Skips v0.0.4 or #[version = "0.0.5"]. */
static bool
read_head(struct relay_reader *r)
{
	bool more = true;

	if (r->next.kind == RELAY_WORD && strncmp(r->next.text, "v0", 2) == 0) {
		return relay_advance(r) && relay_expect(r, ".", "v0.0.4") &&
		       relay_advance(r);
	}
	while (more && relay_at(r, "#[")) {
		while (!relay_at(r, "]")) {
			if (r->next.kind == RELAY_END) {
				return relay_fail(r, &r->next,
						  "']' is expected here");
			}
			if (!relay_advance(r)) {
				return false;
			}
		}
		more = relay_advance(r);
	}
	return more;
}

/* Reads the functions; *found: main is one of them. */
static bool
read_module(struct relay_reader *r, struct strbuf *out, bool *found)
{
	struct relay_value v;
	const char *name;
	bool main;

	if (!relay_advance(r) || !read_head(r)) {
		return false;
	}
	if (relay_at_word(r, "fn")) {
		*found = true;
		return relay_advance(r) && read_main(r, out);
	}
	while (relay_at_word(r, "def")) {
		if (!relay_advance(r)) {
			return false;
		}
		name = r->next.text;
		main = strcmp(name, "main") == 0;
		if (r->next.kind != RELAY_GLOBAL || (main && *found)) {
			return relay_fail(r, &r->next,
					  "the name of another function is "
					  "expected here: def @main");
		}
		if (!relay_advance(r) ||
		    !(main ? read_main(r, out) : relay_function(r, name, &v))) {
			return false;
		}
		*found |= main;
	}
	return true;
}

/* Notes the items of numbered results in the text: %3.1. */
static void
find_items(struct relay_reader *r)
{
	const char *text = r->src->text, *end = text + r->src->length;
	enum { ITEMS_MAX = 1000 };

	for (const char *p = text; p < end; p++) {
		const char *q = p + 1, *point;
		const char *name;
		int k = 0, at;

		if (*p != '%') {
			continue;
		}
		while (q < end && *q >= '0' && *q <= '9') {
			q++;
		}
		point = q;
		if (q == p + 1 || q >= end || *q++ != '.') {
			continue;
		}
		while (q < end && *q >= '0' && *q <= '9' && k < ITEMS_MAX) {
			k = 10 * k + (*q++ - '0');
		}
		if (q == point + 1 || k >= ITEMS_MAX) {
			continue;
		}
		name = arena_strndup(r->tmp, p + 1, (size_t)(point - p - 1));
		at = text_map_get(&r->items, name, -1);
		if (at < 0) {
			text_map_add(&r->items, name, r->last.n);
			vec_push(r->tmp, &r->last, k);
		} else if (r->last.data[at] < k) {
			r->last.data[at] = k;
		}
	}
}

static bool
read_text(struct relay_reader *r, struct strbuf *out)
{
	struct relay_constants constants = { 0 };
	bool found = false;

	r->constants = &constants;
	find_items(r);
	wire_put_int(out, MODEL_IR_VERSION, 8);
	relay_put_opsets(out, MODEL_OPSET);
	if (!relay_read_constants(r, &constants) ||
	    !read_module(r, out, &found)) {
		return false;
	}
	if (r->next.kind != RELAY_END && !relay_at(r, "#[")) {
		return relay_fail(r, &r->next,
				  "a function is expected here: def @main(…) "
				  "{ … }");
	}
	if (!found) {
		return relay_fail(r, &r->next,
				  "the module has no function "
				  "@main");
	}
	strbuf_write(out, r->functions.data, r->functions.len);
	return true;
}

bool
relay_text_model(struct module *m, const struct source *src, struct strbuf *out)
{
	struct arena tmp;
	struct relay_reader r = { .m = m, .tmp = &tmp, .src = src };
	bool ok;

	arena_init_within(&tmp, &m->arena);
	strbuf_init(&r.functions);
	text_map_init(&r.taken, &tmp);
	text_map_init(&r.bases, &tmp);
	text_map_init(&r.globals, &tmp);
	text_map_init(&r.items, &tmp);
	ok = read_text(&r, out);
	strbuf_release(&r.functions);
	arena_release(&tmp);
	return ok;
}
