/* SPDX-License-Identifier: Apache-2.0 */
/* Models and functions of ONNX's text form. Each begins with a head:
 *
 *	<ir_version: 8, opset_import: ["": 17, "local": 1]>
 *	<domain: "local", opset_import: ["": 17]>
 *
 *	model:		head? graph function*
 *	function:	head? Name <attribute, other: float = 1.0> (x, float y) => (z)
 *			<value infos>? { nodes }
 */
#include "onnx_text.h"

/* Field numbers of the messages. */
enum {
	MODEL_IR_VERSION = 1,
	MODEL_DOMAIN = 4,
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	MODEL_PROPS = 14,
	MODEL_FUNCTION = 25,
	FUNCTION_NAME = 1,
	FUNCTION_INPUT = 4,
	FUNCTION_OUTPUT = 5,
	FUNCTION_ATTRIBUTE = 6,
	FUNCTION_NODE = 7,
	FUNCTION_OPSET = 9,
	FUNCTION_DOMAIN = 10,
	FUNCTION_ATTRIBUTE_PROTO = 11,
	FUNCTION_VALUE_INFO = 12,
	FUNCTION_OVERLOAD = 13,
	OPSET_DOMAIN = 1,
	OPSET_VERSION = 2
};

struct opset {
	struct onnx_word domain;
	int64_t version;
};

/* The content of the head <…> before a model or a function. */
struct head {
	VEC(struct opset) opsets;
	struct onnx_word domain, overload;
	int64_t ir_version;
	/* the fields are those of the head of a model, which may have more
	 * fields */
	bool is_model;
	struct strbuf props;
};

static bool
read_opsets(struct onnx_text *r, struct head *h)
{
	struct opset o;

	if (!text_expect(r, '[', "opset_import: [\"\": 17]")) {
		return false;
	}
	if (text_accept(r, ']')) {
		return true;
	}
	do {
		if (!text_string(r, "the domain of operators", &o.domain) ||
		    !text_expect(r, ':', "\"\": 17") ||
		    !text_int64(r, "the operator set's version", &o.version)) {
			return false;
		}
		vec_push(r->tmp, &h->opsets, o);
	} while (text_accept(r, ','));
	return text_expect(r, ']', "it ends the operator sets");
}

static bool
read_props(struct onnx_text *r, struct head *h)
{
	struct strbuf *out = r->out;
	bool ok;

	if (!text_expect(r, '[', "metadata_props: [\"key\": \"value\"]")) {
		return false;
	}
	if (text_accept(r, ']')) {
		return true;
	}
	r->out = &h->props;
	ok = text_entries(r, MODEL_PROPS);
	r->out = out;
	return ok && text_expect(r, ']', "it ends the properties");
}

/* Reads the value of `key`, a word at index `from`. */
static bool
read_head_value(struct onnx_text *r, struct head *h, struct onnx_word key,
		size_t from)
{
	struct onnx_word w;
	int64_t v;

	if (!text_expect(r, ':', "opset_import: [\"\": 17]")) {
		return false;
	}
	if (text_word_is(key, "opset_import")) {
		return read_opsets(r, h);
	}
	if (text_word_is(key, "domain")) {
		return text_string(r, "the domain", &h->domain);
	}
	if (text_word_is(key, "overload")) {
		return text_string(r, "the overload", &h->overload);
	}
	if (text_word_is(key, "doc_string")) {
		return text_string(r, "a text", &w);
	}
	h->is_model = true;
	if (text_word_is(key, "ir_version")) {
		return text_int64(r, "the version of the file's form",
				  &h->ir_version);
	}
	if (text_word_is(key, "metadata_props")) {
		return read_props(r, h);
	}
	if (text_word_is(key, "model_version")) {
		return text_int64(r, "the model's version", &v);
	}
	if (text_word_is(key, "producer_name") ||
	    text_word_is(key, "producer_version")) {
		return text_string(r, "a text", &w);
	}
	return text_fail(r, from,
			 "no model and no function has the property '%s'; "
			 "write ir_version, opset_import, domain, overload, "
			 "doc_string or metadata_props",
			 key.text);
}

static bool
read_head(struct onnx_text *r, struct head *h)
{
	struct onnx_word key;
	size_t from;

	h->opsets.n = 0;
	h->domain = h->overload = (struct onnx_word){ "", 0 };
	h->ir_version = 0;
	h->is_model = false;
	h->props.len = 0;
	if (!text_accept(r, '<')) {
		return true;
	}
	do {
		(void)text_peek(r);
		from = r->at;
		if (!text_word(r, "ir_version, opset_import, domain", &key) ||
		    !read_head_value(r, h, key, from)) {
			return false;
		}
	} while (text_accept(r, ','));
	return text_expect(r, '>', "it ends the properties");
}

static bool
put_opsets(struct onnx_text *r, const struct head *h, uint32_t field)
{
	for (int i = 0; i < h->opsets.n; i++) {
		size_t start = wire_open(r->out, field);

		text_put(r, OPSET_DOMAIN, h->opsets.data[i].domain);
		wire_put_int(r->out, OPSET_VERSION, h->opsets.data[i].version);
		if (!text_close(r, start)) {
			return false;
		}
	}
	return true;
}

/* -- functions */

/* Reads a function's parameters: <alpha, beta: float = 1.0>. False after a
 * diagnostic. */
static bool
read_parameters(struct onnx_text *r)
{
	struct onnx_word name;
	int c;

	if (!text_accept(r, '<')) {
		return true;
	}
	do {
		if (!text_name(r, "an attribute's name", &name)) {
			return false;
		}
		c = text_peek(r);
		if (c != ':' && c != '=') {
			text_put(r, FUNCTION_ATTRIBUTE, name);
		} else if (!text_attribute(r, FUNCTION_ATTRIBUTE_PROTO, name)) {
			return false;
		}
	} while (text_accept(r, ','));
	return text_expect(r, '>', "it ends the function's attributes");
}

/* Reads the inputs or outputs of a function, (x, float[2] y), whose types are
 * optional. False after a diagnostic. */
static bool
read_formals(struct onnx_text *r, uint32_t field)
{
	struct onnx_word name;

	if (!text_expect(r, '(', "(x, y) => (z)")) {
		return false;
	}
	if (text_accept(r, ')')) {
		return true;
	}
	do {
		if (!text_value_info(r, 0, &name)) {
			return false;
		}
		text_put(r, field, name);
	} while (text_accept(r, ','));
	return text_expect(r, ')', "it ends the function's inputs or outputs");
}

static bool
read_function(struct onnx_text *r, const struct head *h)
{
	size_t start = wire_open(r->out, MODEL_FUNCTION);
	struct onnx_word name;

	if (!text_name(r, "the function's name", &name)) {
		return false;
	}
	text_put(r, FUNCTION_NAME, name);
	text_put(r, FUNCTION_DOMAIN, h->domain);
	text_put(r, FUNCTION_OVERLOAD, h->overload);
	return put_opsets(r, h, FUNCTION_OPSET) && read_parameters(r) &&
	       read_formals(r, FUNCTION_INPUT) &&
	       text_expect(r, '=', "(x, y) => (z)") &&
	       text_expect(r, '>', "(x, y) => (z)") &&
	       read_formals(r, FUNCTION_OUTPUT) &&
	       text_values(r, FUNCTION_VALUE_INFO, 0) &&
	       text_nodes(r, FUNCTION_NODE) && text_close(r, start);
}

/* -- files */

static bool
read_graph(struct onnx_text *r, const struct head *h)
{
	struct onnx_word name;

	wire_put_int(r->out, MODEL_IR_VERSION, h->ir_version);
	text_put(r, MODEL_DOMAIN, h->domain);
	strbuf_write(r->out, h->props.data, h->props.len);
	return put_opsets(r, h, MODEL_OPSET) &&
	       text_name(r, "the graph's name", &name) &&
	       text_graph(r, MODEL_GRAPH, name);
}

static bool
read_file(struct onnx_text *r, struct head *h, bool is_model)
{
	bool ok = read_head(r, h);

	if (ok && (is_model || h->is_model)) {
		ok = read_graph(r, h);
		if (!ok || text_peek(r) < 0) {
			return ok;
		}
		ok = read_head(r, h);
	}
	ok = ok && read_function(r, h);
	while (ok && text_peek(r) >= 0) {
		ok = read_head(r, h) && read_function(r, h);
	}
	return ok;
}

static bool
read_text(struct module *m, const struct source *src, bool is_model,
	  struct strbuf *out)
{
	struct arena tmp;
	struct onnx_text r = { .m = m, .tmp = &tmp, .src = src, .out = out };
	struct head h = { .ir_version = 0 };
	bool ok;

	arena_init_within(&tmp, &m->arena);
	strbuf_init(&r.type.bytes);
	strbuf_init(&h.props);
	ok = read_file(&r, &h, is_model);
	strbuf_release(&h.props);
	strbuf_release(&r.type.bytes);
	arena_release(&tmp);
	return ok;
}

bool
onnx_text_model(struct module *m, const struct source *src, struct strbuf *out)
{
	return read_text(m, src, true, out);
}

bool
onnx_text_functions(struct module *m, const struct source *src,
		    struct strbuf *out)
{
	return read_text(m, src, false, out);
}

/* Are there control characters in the bytes? A text has none; a protobuf
 * message always has some. */
static bool
has_controls(const uint8_t *data, size_t length)
{
	enum { LOOK = 1 << 16 };

	for (size_t i = 0; i < length && i < LOOK; i++) {
		if (data[i] < 0x20 && (data[i] < '\t' || data[i] > '\r')) {
			return true;
		}
	}
	return false;
}

bool
onnx_is_text(const uint8_t *data, size_t length)
{
	const struct source src = { "", (const char *)data, length };
	struct onnx_text r = { .src = &src };
	struct onnx_word w;

	if (has_controls(data, length)) {
		return false;
	}
	if (text_peek(&r) == '<') {
		return true;
	}
	w = text_peek_word(&r);
	r.at += w.length;
	return w.length > 0 && (text_peek(&r) == '(' || text_peek(&r) == '<' ||
				text_peek(&r) == '=');
}
