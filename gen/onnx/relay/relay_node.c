/* SPDX-License-Identifier: Apache-2.0 */
/* Writes nodes, attributes and constants as ONNX's messages. */
#include "relay_read.h"

/* Field numbers and kinds. */
enum {
	ATTR_NAME = 1,
	ATTR_FLOAT = 2,
	ATTR_INT = 3,
	ATTR_STRING = 4,
	ATTR_TENSOR = 5,
	ATTR_GRAPH = 6,
	ATTR_FLOATS = 7,
	ATTR_INTS = 8,
	ATTR_STRINGS = 9,
	ATTR_TYPE = 20,
	TYPE_FLOAT = 1,
	TYPE_INT = 2,
	TYPE_STRING = 3,
	TYPE_TENSOR = 4,
	TYPE_GRAPH = 5,
	TYPE_FLOATS = 6,
	TYPE_INTS = 7,
	TYPE_STRINGS = 8,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_RAW = 9
};

static void
put_text(struct strbuf *out, uint32_t field, const char *text)
{
	wire_put_bytes(out, field, text, strlen(text));
}

const char *
relay_new_name(struct relay_reader *r, const char *base)
{
	const char *name = base;
	int at = text_map_get(&r->bases, base, r->numbers.n);

	if (at == r->numbers.n) {
		text_map_add(&r->bases, base, at);
		vec_push(r->tmp, &r->numbers, 1);
	}
	while (!text_map_add(&r->taken, name, 0)) {
		name = arena_printf(r->tmp, "%s_%d", base,
				    ++r->numbers.data[at]);
	}
	return name;
}

bool
relay_tuple(struct relay_reader *r, const struct relay_value *items, int n,
	    struct relay_value *out)
{
	enum { TENSORS_MAX = 1 << 14, LEVELS_MAX = 64 };
	struct relay_value v = { .kind = RELAY_TUPLE, .items = items, .n = n };

	for (int i = 0; i < n && v.tensors <= TENSORS_MAX; i++) {
		bool tuple = items[i].kind == RELAY_TUPLE;

		v.tensors += tuple ? items[i].tensors : 1;
		if (tuple && items[i].levels > v.levels) {
			v.levels = items[i].levels;
		}
	}
	v.levels++;
	*out = v;
	return (v.tensors <= TENSORS_MAX && v.levels <= LEVELS_MAX) ||
	       relay_fail(r, &r->next,
			  "a tuple of more than %d tensors, or tuples in more "
			  "than %d tuples",
			  TENSORS_MAX, LEVELS_MAX);
}

void
relay_tensors(struct relay_reader *r, const struct relay_value *v,
	      relay_names *list)
{
	if (v->kind == RELAY_TENSOR) {
		vec_push(r->tmp, list, v->name);
	}
	for (int i = 0; v->kind == RELAY_TUPLE && i < v->n; i++) {
		relay_tensors(r, &v->items[i], list);
	}
}

/* -- attributes -- */

static void
put_values(struct strbuf *out, const struct relay_attr *a)
{
	for (int i = 0; i < a->n; i++) {
		if (a->kind == RELAY_ATTR_INT) {
			wire_put_int(out, a->is_list ? ATTR_INTS : ATTR_INT,
				     a->ints[i]);
		} else if (a->kind == RELAY_ATTR_FLOAT) {
			wire_put_float(out,
				       a->is_list ? ATTR_FLOATS : ATTR_FLOAT,
				       (float)a->floats[i]);
		} else {
			put_text(out, a->is_list ? ATTR_STRINGS : ATTR_STRING,
				 a->texts[i]);
		}
	}
}

static void
put_attr(struct strbuf *out, const struct relay_attr *a)
{
	static const int types[][2] = {
		[RELAY_ATTR_INT] = { TYPE_INT, TYPE_INTS },
		[RELAY_ATTR_FLOAT] = { TYPE_FLOAT, TYPE_FLOATS },
		[RELAY_ATTR_STRING] = { TYPE_STRING, TYPE_STRINGS },
	};
	size_t start;

	if (a->kind == RELAY_ATTR_NONE) {
		return;
	}
	start = wire_open(out, NODE_ATTRIBUTE);
	put_text(out, ATTR_NAME, a->name);
	put_values(out, a);
	wire_put_int(out, ATTR_TYPE, types[a->kind][a->is_list]);
	wire_close(out, start);
}

void
relay_put_graph(struct strbuf *out, const char *name,
		const struct strbuf *graph)
{
	size_t start = wire_open(out, NODE_ATTRIBUTE);

	put_text(out, ATTR_NAME, name);
	wire_put_bytes(out, ATTR_GRAPH, graph->data, graph->len);
	wire_put_int(out, ATTR_TYPE, TYPE_GRAPH);
	wire_close(out, start);
}

/* -- nodes -- */

bool
relay_put_node(struct relay_reader *r, const char *domain, const char *op,
	       const char *const *inputs, int n_in,
	       const struct relay_attr *attrs, int n_attrs,
	       const char *const *outputs, int n_out)
{
	size_t start = wire_open(r->nodes, r->node_field);

	for (int i = 0; i < n_in; i++) {
		put_text(r->nodes, NODE_INPUT, inputs[i] ? inputs[i] : "");
	}
	for (int i = 0; i < n_out; i++) {
		put_text(r->nodes, NODE_OUTPUT, outputs[i]);
	}
	put_text(r->nodes, NODE_NAME, n_out > 0 ? outputs[0] : "");
	put_text(r->nodes, NODE_OP_TYPE, op);
	for (int i = 0; i < n_attrs; i++) {
		put_attr(r->nodes, &attrs[i]);
	}
	put_text(r->nodes, NODE_DOMAIN, domain);
	return wire_close(r->nodes, start) ||
	       relay_fail(r, &r->next, "the node has more than 2 GB");
}

/* -- constants -- */

bool
relay_put_constant(struct relay_reader *r, const char *base, struct dtype type,
		   const int64_t *dims, int ndim, const void *data,
		   size_t bytes, const char **out)
{
	size_t start = wire_open(r->nodes, r->node_field), attr, tensor;

	*out = relay_new_name(r, base);
	put_text(r->nodes, NODE_OUTPUT, *out);
	put_text(r->nodes, NODE_OP_TYPE, "Constant");
	attr = wire_open(r->nodes, NODE_ATTRIBUTE);
	put_text(r->nodes, ATTR_NAME, "value");
	tensor = wire_open(r->nodes, ATTR_TENSOR);
	for (int d = 0; d < ndim; d++) {
		wire_put_int(r->nodes, TENSOR_DIMS, dims[d]);
	}
	wire_put_int(r->nodes, TENSOR_TYPE, dtype_onnx_number(type));
	wire_put_bytes(r->nodes, TENSOR_RAW, data, bytes);
	if (!wire_close(r->nodes, tensor)) {
		return relay_fail(r, &r->next, "a constant has more than 2 GB");
	}
	wire_put_int(r->nodes, ATTR_TYPE, TYPE_TENSOR);
	wire_close(r->nodes, attr);
	return wire_close(r->nodes, start) ||
	       relay_fail(r, &r->next, "a constant has more than 2 GB");
}

/* The number as the bytes of a float64, a float32 or an int64; returns their
 * type. */
static struct dtype
bytes_of(const struct relay_token *number, char bytes[8], size_t *n)
{
	float narrow = (float)number->f;

	*n = 8;
	if (number->kind == RELAY_INT) {
		memcpy(bytes, &number->i, 8);
		return dtype_of(DT_I64);
	}
	if (dtype_bits(number->type) == 64) {
		memcpy(bytes, &number->f, 8);
		return dtype_of(DT_F64);
	}
	memcpy(bytes, &narrow, 4);
	*n = 4;
	return dtype_of(DT_F32);
}

bool
relay_put_number(struct relay_reader *r, const struct relay_token *number,
		 struct relay_value *out)
{
	char bytes[8];
	size_t n;
	struct dtype stored = bytes_of(number, bytes, &n);
	int64_t to = dtype_onnx_number(number->type);
	const struct relay_attr cast = {
		.name = "to", .kind = RELAY_ATTR_INT, .n = 1, .ints = &to
	};
	const char *name;

	if (to == 0) {
		return relay_fail(r, number,
				  "numbers of the type %s are not "
				  "supported",
				  dtype_name(number->type));
	}
	if (number->kind == RELAY_INT &&
	    (dtype_is_float(number->type) ||
	     !dtype_holds(number->type, number->i))) {
		return relay_fail(
			r, number,
			"the number does not fit the type %s; write a "
			"suffix such as i64",
			dtype_name(number->type));
	}
	if (!relay_put_constant(r, "number", stored, NULL, 0, bytes, n,
				&name)) {
		return false;
	}
	*out = (struct relay_value){ .kind = RELAY_TENSOR, .name = name };
	if (dtype_equal(stored, number->type)) {
		return true;
	}
	out->name = relay_new_name(r, name);
	return relay_put_node(r, "", "Cast", &name, 1, &cast, 1, &out->name, 1);
}
