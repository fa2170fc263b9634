/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a part of an ONNX model as a model: the nodes that compute some tensors from
 * others. Nodes and constants are copied as they are in the file; the types and sizes of
 * inputs and outputs are those of the graph.
 *
 *	a = Conv (x, w)                  input a
 *	b = Relu (a)            ->       b = Relu (a)
 *	y = Softmax (b)                  output b
 */
#include <errno.h>

#include "bisect.h"
#include "onnx_file.h"
#include "output_file.h"
#include "wire.h"

/* Field numbers of ONNX's messages. */
enum {
	MODEL_GRAPH = 7,
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_ATTRIBUTE = 5,
	ATTRIBUTE_GRAPH = 6,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	TENSOR_EXTERNAL = 13
};

/* A node, or a constant, of the file. */
struct piece {
	const uint8_t *data;
	size_t length;
	const char *name; /* of a constant */
	bool needed;
	/* is it a constant whose bytes are in another file? */
	bool external;
	VEC(const char *) inputs, outputs;
};

struct part {
	struct graph *g;
	struct arena *a;
	const struct model_part *wanted;
	VEC(struct piece) nodes, constants;
	/* the node that computes the tensor, and the constant, by name of the
	 * tensor */
	struct text_map node_of, constant_of;
	const char *name; /* of the graph */
	VEC(const char *) inputs;
	/* why the part cannot be written, or NULL */
	const char *why;
};

static bool
fail(struct part *p, const char *why)
{
	p->why = why;
	return false;
}

static const char *
text_of(struct part *p, const struct wire_field *f)
{
	return arena_strndup(p->a, (const char *)f->data, f->length);
}

/* -- reading -- */

/* Has the attribute a graph? */
static bool
has_graph(const struct wire_field *attribute)
{
	struct wire_reader r = { attribute->data,
				 attribute->data + attribute->length };
	struct wire_field f;

	while (wire_next(&r, &f)) {
		if (f.number == ATTRIBUTE_GRAPH) {
			return true;
		}
	}
	return false;
}

static bool
read_node(struct part *p, const struct wire_field *field)
{
	struct piece n = { .data = field->data, .length = field->length };
	struct wire_reader r = { field->data, field->data + field->length };
	struct wire_field f;

	while (wire_next(&r, &f)) {
		if (f.number == NODE_INPUT) {
			vec_push(p->a, &n.inputs, text_of(p, &f));
		} else if (f.number == NODE_OUTPUT) {
			const char *name = text_of(p, &f);

			vec_push(p->a, &n.outputs, name);
			text_map_add(&p->node_of, name, p->nodes.n);
		} else if (f.number == NODE_ATTRIBUTE && has_graph(&f)) {
			return fail(p, "a node has a graph of its own");
		}
	}
	vec_push(p->a, &p->nodes, n);
	return true;
}

static void
read_constant(struct part *p, const struct wire_field *field)
{
	struct piece c = { .data = field->data,
			   .length = field->length,
			   .name = "" };
	struct wire_reader r = { field->data, field->data + field->length };
	struct wire_field f;

	while (wire_next(&r, &f)) {
		if (f.number == TENSOR_NAME) {
			c.name = text_of(p, &f);
		}
		c.external |= f.number == TENSOR_EXTERNAL;
	}
	text_map_add(&p->constant_of, c.name, p->constants.n);
	vec_push(p->a, &p->constants, c);
}

static bool
read_graph(struct part *p, const struct wire_field *graph)
{
	struct wire_reader r = { graph->data, graph->data + graph->length };
	struct wire_field f;

	p->name = "part";
	while (wire_next(&r, &f)) {
		if (f.number == GRAPH_NODE && !read_node(p, &f)) {
			return false;
		}
		if (f.number == GRAPH_INITIALIZER) {
			read_constant(p, &f);
		}
		if (f.number == GRAPH_NAME) {
			p->name = text_of(p, &f);
		}
	}
	return r.at == r.end || fail(p, "it is not an ONNX file");
}

/* -- the parts of a model that its outputs need -- */

static bool
is_given(const struct part *p, const char *name)
{
	for (int i = 0; i < p->wanted->n_given; i++) {
		if (strcmp(p->wanted->given[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* Marks the nodes and constants as needed that compute the tensor `name`. If
 * the tensor is one of the given tensors, it becomes an input of the part
 * instead. */
static void
need(struct part *p, const char *name)
{
	VEC(const char *) open = { 0 };
	struct text_map seen;

	text_map_init(&seen, p->a);
	for (int i = 0; i < p->inputs.n; i++) {
		text_map_add(&seen, p->inputs.data[i], 0);
	}
	vec_push(p->a, &open, name);
	for (int at = 0; at < open.n; at++) {
		const char *one = open.data[at];
		int node = text_map_get(&p->node_of, one, -1);
		int constant = text_map_get(&p->constant_of, one, -1);

		if (one[0] == '\0' || !text_map_add(&seen, one, 0)) {
			continue;
		}
		if (constant >= 0) {
			p->constants.data[constant].needed = true;
		} else if (node < 0 || (at > 0 && is_given(p, one))) {
			vec_push(p->a, &p->inputs, one);
		} else if (!p->nodes.data[node].needed) {
			struct piece *n = &p->nodes.data[node];

			n->needed = true;
			for (int i = 0; i < n->inputs.n; i++) {
				vec_push(p->a, &open, n->inputs.data[i]);
			}
		}
	}
}

/* -- writing -- */

static void
copy_field(struct strbuf *out, const struct wire_field *f)
{
	if (f->type == WIRE_BYTES) {
		wire_put_bytes(out, f->number, (const char *)f->data,
			       f->length);
	} else if (f->type == WIRE_VARINT) {
		wire_put_int(out, f->number, (int64_t)f->value);
	}
}

/* The tensor of the graph whose name in the model is `name`; NULL if the
 * graph has no such tensor. */
static struct tensor *
find_tensor(const struct part *p, const char *name)
{
	for (int i = 0; i < p->g->tensors.n; i++) {
		struct tensor *t = p->g->tensors.data[i];

		if (t->model_name != NULL && strcmp(t->model_name, name) == 0) {
			return t;
		}
	}
	return NULL;
}

/* Writes the name, type and shape of an input or output. */
static bool
put_value_info(struct part *p, struct strbuf *out, uint32_t field,
	       const char *name)
{
	const struct tensor *t = find_tensor(p, name);
	size_t info, type, tensor, shape;

	if (t == NULL || t->is_string) {
		return fail(p, "a tensor has no numbers");
	}
	info = wire_open(out, field);
	wire_put_bytes(out, 1, name, strlen(name));
	type = wire_open(out, 2);
	tensor = wire_open(out, 1);
	wire_put_int(out, 1, dtype_onnx_number(t->type));
	shape = wire_open(out, 2);
	for (int d = 0; d < t->ndim; d++) {
		size_t dim = wire_open(out, 1);
		int64_t size = 0;

		if (!expr_is_int(t->shape[d], &size)) {
			return fail(p, "a size is symbolic");
		}
		wire_put_int(out, 1, size);
		wire_close(out, dim);
	}
	wire_close(out, shape);
	wire_close(out, tensor);
	wire_close(out, type);
	return wire_close(out, info);
}

/* Writes a constant. If its bytes are in a file beside the model, they are
 * copied into the written part. */
static bool
put_constant(struct part *p, struct strbuf *out, const struct piece *c)
{
	struct tensor *t;
	const struct value *v;
	size_t start;

	if (!c->external) {
		wire_put_bytes(out, GRAPH_INITIALIZER, (const char *)c->data,
			       c->length);
		return true;
	}
	t = find_tensor(p, c->name);
	v = t != NULL ? tensor_value(p->g, t) : NULL;
	if (v == NULL || v->data == NULL || dtype_bits(v->type) < 8) {
		return fail(p, "a constant is in another file");
	}
	start = wire_open(out, GRAPH_INITIALIZER);
	for (int d = 0; d < t->ndim; d++) {
		int64_t size = 0;

		expr_is_int(t->shape[d], &size);
		wire_put_int(out, TENSOR_DIMS, size);
	}
	wire_put_int(out, TENSOR_TYPE, dtype_onnx_number(v->type));
	wire_put_bytes(out, TENSOR_NAME, c->name, strlen(c->name));
	wire_put_bytes(out, TENSOR_RAW, v->data, v->bytes);
	return wire_close(out, start);
}

static bool
put_graph(struct part *p, struct strbuf *out)
{
	const struct model_part *w = p->wanted;
	size_t start = wire_open(out, MODEL_GRAPH);
	bool ok = true;

	for (int i = 0; i < p->nodes.n; i++) {
		if (p->nodes.data[i].needed) {
			wire_put_bytes(out, GRAPH_NODE,
				       (const char *)p->nodes.data[i].data,
				       p->nodes.data[i].length);
		}
	}
	wire_put_bytes(out, GRAPH_NAME, p->name, strlen(p->name));
	for (int i = 0; ok && i < p->constants.n; i++) {
		ok = !p->constants.data[i].needed ||
		     put_constant(p, out, &p->constants.data[i]);
	}
	for (int i = 0; ok && i < p->inputs.n; i++) {
		ok = put_value_info(p, out, GRAPH_INPUT, p->inputs.data[i]);
	}
	for (int i = 0; ok && i < w->n_results; i++) {
		ok = put_value_info(p, out, GRAPH_OUTPUT, w->results[i]);
	}
	return ok && (wire_close(out, start) || fail(p, "it is too large"));
}

/* Writes the part as a model: the graph is the part's, and all other fields are
 * copied from the model. */
static bool
put_model(struct part *p, const struct onnx_map *map, struct strbuf *out)
{
	struct wire_reader r = { map->base, map->base + map->length };
	struct wire_field f;

	while (wire_next(&r, &f)) {
		if (f.number != MODEL_GRAPH) {
			copy_field(out, &f);
			continue;
		}
		if (!read_graph(p, &f)) {
			return false;
		}
		for (int i = 0; i < p->wanted->n_results; i++) {
			const char *name = p->wanted->results[i];

			if (text_map_get(&p->node_of, name, -1) < 0) {
				return fail(p, "no node of the file computes "
					       "what is wrong");
			}
			need(p, name);
		}
		if (!put_graph(p, out)) {
			return false;
		}
	}
	return r.at == r.end || fail(p, "it is not an ONNX file");
}

static bool
save(const char *path, struct arena *a, const struct strbuf *bytes)
{
	struct output o;
	bool ok = output_open(&o, a, path);

	if (ok) {
		ok = fwrite(bytes->data, 1, bytes->len, o.file) == bytes->len;
		ok = output_close(&o, ok) && ok;
	}
	return ok;
}

const char *
model_part_write(struct graph *g, const char *from,
		 const struct model_part *wanted, const char *to,
		 const char *const **inputs, int *n_inputs)
{
	struct arena *a = &g->module->arena;
	struct part p = { .g = g, .a = a, .wanted = wanted };
	struct onnx_file *file = onnx_file_new();
	const char *why = "out of memory";
	const struct onnx_map *map = file != NULL ? onnx_file_map(file, from, a,
								  &why)
						  : NULL;
	struct strbuf bytes;

	text_map_init(&p.node_of, a);
	text_map_init(&p.constant_of, a);
	strbuf_init(&bytes);
	if (map != NULL && put_model(&p, map, &bytes)) {
		why = save(to, a, &bytes) ? NULL : strerror(errno);
	} else if (map != NULL) {
		why = p.why;
	}
	strbuf_release(&bytes);
	if (file != NULL) {
		onnx_file_close(file);
	}
	*inputs = p.inputs.data;
	*n_inputs = p.inputs.n;
	return why;
}
