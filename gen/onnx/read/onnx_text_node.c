/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes, nodes and graphs of ONNX's text form:
 *
 *	[label] y, z = ai.onnx.ml.Op:overload <axis = 1, k : ints = []> (x, "", w)
 *
 *	name (float x) => (float[] y) <float[2] w = {1, 2}, float t> { … }
 */
#include "onnx_text.h"

/* Field numbers of the messages. */
enum {
	ATTR_NAME = 1,
	ATTR_F = 2,
	ATTR_I = 3,
	ATTR_S = 4,
	ATTR_T = 5,
	ATTR_G = 6,
	ATTR_FLOATS = 7,
	ATTR_INTS = 8,
	ATTR_STRINGS = 9,
	ATTR_TP = 14,
	ATTR_TYPE = 20,
	ATTR_REF = 21,
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_NAME = 3,
	NODE_OP_TYPE = 4,
	NODE_ATTRIBUTE = 5,
	NODE_DOMAIN = 7,
	NODE_OVERLOAD = 8,
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	GRAPH_VALUE_INFO = 13
};

/* AttributeProto.AttributeType of a single value; the type of a list of these
 * has this number plus PER_LIST. */
enum {
	TYPE_FLOAT = 1,
	TYPE_INT = 2,
	TYPE_STRING = 3,
	TYPE_TENSOR = 4,
	TYPE_GRAPH = 5,
	PER_LIST = 5,
	TYPE_PROTO = 13
};

static const struct {
	const char *name;
	int number;
} types[] = {
	{ "float", 1 },          { "int", 2 },
	{ "string", 3 },         { "tensor", 4 },
	{ "graph", 5 },          { "floats", 6 },
	{ "ints", 7 },           { "strings", 8 },
	{ "tensors", 9 },        { "graphs", 10 },
	{ "sparse_tensor", 11 }, { "sparse_tensors", 12 },
	{ "type_proto", 13 },    { "type_protos", 14 },
};

static const char *
type_name(int number)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].number == number) {
			return types[i].name;
		}
	}
	return "nothing";
}

static bool
is_list(int type)
{
	return (type >= TYPE_FLOAT + PER_LIST &&
		type <= TYPE_GRAPH + PER_LIST) ||
	       type == 12 || type == 14;
}

/* -- attributes */

/* Is `type`, the type of the value at index `from`, the declared type? declared
 * 0: the attribute has no declared type, and any type is right. False after a
 * diagnostic. */
static bool
has_type(struct onnx_text *r, size_t from, int declared, int type)
{
	return declared == 0 || declared == type ||
	       text_fail(r, from,
			 "the attribute is declared as %s, and its value is "
			 "a value of %s; change one of them",
			 type_name(declared), type_name(type));
}

/* Reads a number or a text, alone or as an element of a list. *type: before the
 * call the required type, or 0 for any; after it the type that was read. */
static bool
read_scalar(struct onnx_text *r, bool in_list, int *type)
{
	struct onnx_literal l;
	int64_t i;
	float f;
	int got;

	if (!text_literal(r, "a number, a text in quotes, a tensor or a graph",
			  &l)) {
		return false;
	}
	got = l.kind == LITERAL_STRING                         ? TYPE_STRING
	      : l.kind == LITERAL_FLOAT || *type == TYPE_FLOAT ? TYPE_FLOAT
							       : TYPE_INT;
	if (!has_type(r, l.from, *type, got)) {
		return false;
	}
	*type = got;
	if (got == TYPE_STRING) {
		text_put(r, in_list ? ATTR_STRINGS : ATTR_S, l.word);
		return true;
	}
	if (got == TYPE_FLOAT) {
		if (!text_as_float(r, &l, &f)) {
			return false;
		}
		wire_put_float(r->out, in_list ? ATTR_FLOATS : ATTR_F, f);
		return true;
	}
	if (!text_as_int(r, &l, &i)) {
		return false;
	}
	wire_put_int(r->out, in_list ? ATTR_INTS : ATTR_I, i);
	return true;
}

/* Reads a value that begins with a type: a tensor, which is a type and its
 * content, or the type alone. *type: which of these was read. */
static bool
read_typed(struct onnx_text *r, int *type)
{
	struct onnx_word name = { "", 0 };
	int c;

	if (!text_type(r)) {
		return false;
	}
	c = text_peek(r);
	if (c != '{' && c != '=' && c != '"' && text_peek_word(r).length == 0) {
		*type = TYPE_PROTO;
		wire_put_bytes(r->out, ATTR_TP, r->type.bytes.data,
			       r->type.bytes.len);
		return true;
	}
	*type = TYPE_TENSOR;
	if (c != '{' && c != '=' && !text_name(r, "a name", &name)) {
		return false;
	}
	(void)text_accept(r, '=');
	return text_tensor(r, ATTR_T, name);
}

/* Reads one value. *type: before the call the declared type, or 0 for any;
 * after it the type that was read. */
static bool
read_value(struct onnx_text *r, int *type)
{
	int got = 0, c = text_peek(r);
	size_t from = r->at;
	struct onnx_word w;

	if (text_accept(r, '@')) {
		if (!text_name(r, "the name of the function's attribute", &w)) {
			return false;
		}
		text_put(r, ATTR_REF, w);
		return true;
	}
	if (c == '"' || text_peek_word(r).length == 0 || text_is_special(r)) {
		return read_scalar(r, false, type);
	}
	if (text_is_type(r)) {
		if (!read_typed(r, &got)) {
			return false;
		}
	} else {
		got = TYPE_GRAPH;
		if (!text_word(r, "a graph's name", &w) ||
		    !text_graph(r, ATTR_G, w)) {
			return false;
		}
	}
	if (!has_type(r, from, *type, got)) {
		return false;
	}
	*type = got;
	return true;
}

/* Reads the rest of a list after its [: the values and the ]. False after a
 * diagnostic. */
static bool
read_list(struct onnx_text *r, size_t from, int *type)
{
	int one = is_list(*type) ? *type - PER_LIST : *type;

	if (text_accept(r, ']')) {
		return is_list(*type) ||
		       text_fail(r, from,
				 "an empty list needs its type: NAME : ints = "
				 "[], or floats, or strings");
	}
	if (*type > TYPE_STRING + PER_LIST || one > TYPE_STRING) {
		return text_fail(r, from,
				 "lists of ints, floats and strings are "
				 "supported, none of %s",
				 type_name(*type));
	}
	do {
		if (!read_scalar(r, true, &one)) {
			return false;
		}
	} while (text_accept(r, ','));
	*type = one + PER_LIST;
	return text_expect(r, ']', "it ends a list");
}

bool
text_attribute(struct onnx_text *r, uint32_t field, struct onnx_word name)
{
	size_t start = wire_open(r->out, field), from;
	struct onnx_word w;
	int type = 0;

	text_put(r, ATTR_NAME, name);
	if (text_accept(r, ':')) {
		if (!text_word(r, "the attribute's type", &w)) {
			return false;
		}
		for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
			type = text_word_is(w, types[i].name) ? types[i].number
							      : type;
		}
		if (type == 0) {
			return text_fail(r, r->at - w.length,
					 "no attribute has this type; write "
					 "int, float, string, ints, floats, "
					 "strings, tensor or graph");
		}
	}
	if (!text_expect(r, '=', "the attribute's value is behind it")) {
		return false;
	}
	(void)text_peek(r);
	from = r->at;
	if (!(text_accept(r, '[') ? read_list(r, from, &type)
				  : read_value(r, &type))) {
		return false;
	}
	if (type != 0) {
		wire_put_int(r->out, ATTR_TYPE, type);
	}
	return text_close(r, start);
}

/* Reads the attributes of a node, <…>, if there are any, and sets *any to
 * whether there are. False after a diagnostic. */
static bool
read_attributes(struct onnx_text *r, bool *any)
{
	struct onnx_word name;

	*any = text_accept(r, '<');
	if (!*any) {
		return true;
	}
	do {
		if (!text_word(r, "an attribute's name", &name) ||
		    !text_attribute(r, NODE_ATTRIBUTE, name)) {
			return false;
		}
	} while (text_accept(r, ','));
	return text_expect(r, '>', "it ends the attributes");
}

/* -- nodes */

/* Reads names separated by commas; nothing or "" is an omitted one. */
static bool
read_names(struct onnx_text *r, uint32_t field)
{
	do {
		int c = text_peek(r);
		struct onnx_word w = { "", 0 };

		if (c == '"' || text_peek_word(r).length > 0) {
			if (!text_name(r, "a name", &w)) {
				return false;
			}
		} else if (c != ',') {
			return true;
		}
		text_put(r, field, w);
	} while (text_accept(r, ','));
	return true;
}

/* Reads domain.Op:overload. */
static bool
read_operator(struct onnx_text *r)
{
	struct onnx_word domain, op, w;

	if (!text_words(r, "the operator's name", &domain, &op)) {
		return false;
	}
	text_put(r, NODE_OP_TYPE, op);
	if (domain.length > 0) {
		text_put(r, NODE_DOMAIN, domain);
	}
	if (!text_accept(r, ':')) {
		return true;
	}
	if (!text_word(r, "the operator's overload", &w)) {
		return false;
	}
	text_put(r, NODE_OVERLOAD, w);
	return true;
}

static bool
read_node(struct onnx_text *r, uint32_t field)
{
	size_t start = wire_open(r->out, field);
	struct onnx_word label;
	bool any;

	if (text_accept(r, '[')) {
		if (text_peek(r) != ']') {
			if (!text_name(r, "the node's name", &label)) {
				return false;
			}
			text_put(r, NODE_NAME, label);
		}
		if (!text_expect(r, ']', "it ends the node's name")) {
			return false;
		}
	}
	if (!read_names(r, NODE_OUTPUT) ||
	    !text_expect(r, '=', "y = Add (a, b)") || !read_operator(r) ||
	    !read_attributes(r, &any) ||
	    !text_expect(r, '(', "the operator's inputs") ||
	    !read_names(r, NODE_INPUT) ||
	    !text_expect(r, ')', "it ends the inputs") ||
	    (!any && !read_attributes(r, &any))) {
		return false;
	}
	return text_close(r, start);
}

bool
text_nodes(struct onnx_text *r, uint32_t field)
{
	if (!text_expect(r, '{', "the nodes are behind it")) {
		return false;
	}
	while (!text_accept(r, '}')) {
		if (!read_node(r, field)) {
			return false;
		}
	}
	return true;
}

/* -- graphs */

/* Reads value infos separated by commas, up to `end`, as `field` of the
 * message. both: a value info with an initializer (after '=') is also an input;
 * otherwise it becomes an initializer only. */
static bool
read_values(struct onnx_text *r, uint32_t field, uint32_t initializers,
	    bool both, char end)
{
	struct onnx_word name;

	if (text_accept(r, end)) {
		return true;
	}
	do {
		size_t before = r->out->len;

		if (!text_value_info(r, field, &name)) {
			return false;
		}
		if (initializers != 0 && text_accept(r, '=')) {
			r->out->len = both ? r->out->len : before;
			if (!text_tensor(r, initializers, name)) {
				return false;
			}
		}
	} while (text_accept(r, ','));
	return text_expect(r, end, "it ends the list");
}

bool
text_values(struct onnx_text *r, uint32_t field, uint32_t initializers)
{
	return !text_accept(r, '<') ||
	       read_values(r, field, initializers, false, '>');
}

bool
text_graph(struct onnx_text *r, uint32_t field, struct onnx_word name)
{
	size_t start = wire_open(r->out, field);
	bool ok;

	text_put(r, GRAPH_NAME, name);
	ok = text_enter(r) &&
	     (!text_accept(r, '(') ||
	      read_values(r, GRAPH_INPUT, GRAPH_INITIALIZER, true, ')')) &&
	     text_expect(r, '=', "(inputs) => (outputs)") &&
	     text_expect(r, '>', "(inputs) => (outputs)") &&
	     text_expect(r, '(', "the outputs") &&
	     read_values(r, GRAPH_OUTPUT, 0, false, ')') &&
	     text_values(r, GRAPH_VALUE_INFO, GRAPH_INITIALIZER) &&
	     text_nodes(r, GRAPH_NODE) && text_close(r, start);
	r->depth--;
	return ok;
}
