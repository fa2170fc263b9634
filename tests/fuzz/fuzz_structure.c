/* SPDX-License-Identifier: Apache-2.0 */
/* Models that protobuf takes, with a few things wrong (sizes, attributes, types,
 * constants, links, operators, names), all the way to the text of their kernels.
 * Bytes at random seldom get past protobuf; the mutator here changes the fields of
 * the messages. */
#define _GNU_SOURCE

#include <math.h>
#include <string.h>

#include "fuzz_model.h"
#include "onnx.pb-c.h"
#include "text_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

/* -- choices -- */

static uint64_t state;

/* A number below n, by xorshift64*. n 0: 0. */
static size_t
below(size_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n > 0 ? (size_t)((state * UINT64_C(2685821657736338717)) >> 33) %
			       n
		     : 0;
}

static const int64_t integers[] = {
	-3,
	-2,
	-1,
	0,
	1,
	2,
	3,
	4,
	5,
	7,
	8,
	16,
	100,
	-100,
	1000,
	65536,
	1 << 24,
	INT32_MAX,
	INT32_MIN,
	INT64_C(1) << 31,
	INT64_C(1) << 33,
	INT64_C(1) << 40,
	INT64_C(1) << 62,
	INT64_MAX,
	INT64_MIN,
};
static const float reals[] = {
	0.0f,   -0.0f, 1.0f,    -1.0f,    0.5f,      -2.5f,
	1e-30f, 1e30f, 3.4e38f, INFINITY, -INFINITY, NAN,
};
static const char *const texts[] = {
	"",        "x",       "linear", "nearest",   "cubic",   "SAME_UPPER",
	"VALID",   "reflect", "edge",   "wrap",      "CRD",     "bidirectional",
	"reverse", "sum",     "mul",    "ij,jk->ik", "...i->i", "half_pixel",
	"floor",
};
static const char *const names[] = {
	"",          "x",    "y",          "*/", "\\",           "\"",
	"a\nb",      "../x", "@digest-1@", "%s", "\xe2\x80\xae", "\xff",
	"{{model}}", "int",  "NULL",
};
static const char *const operators[] = {
#define MAP(name, ...) #name,
#define OP(name, ...) #name,
#define COMPOSE(domain, name, ...) #name,
#include "compose.def"
#include "ops.def"
#undef MAP
#undef OP
#undef COMPOSE
	"If",
	"Loop",
	"Scan",
	"SequenceAt",
	"SequenceConstruct",
	"ConcatFromSequence",
	"SplitToSequence",
	"Constant",
	"ConstantOfShape",
	"Shape",
	"Size",
};

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define ONE_OF(list) (list)[below(COUNT(list))]

/* Of the tables and of the compositions that are texts. */
static const char *
operator_name(void)
{
	int n;
	const struct composition_text *rows = composition_texts(&n);
	size_t at = below(COUNT(operators) + (size_t)n);

	return at < COUNT(operators) ? operators[at]
				     : rows[at - COUNT(operators)].op_type;
}

/* Small ones more often. */
static int64_t
integer(void)
{
	return below(10) < 6 ? integers[below(10)] : ONE_OF(integers);
}

/* -- lists of messages -- */

static void *
grown(void *list, size_t n, size_t bytes)
{
	void *more = realloc(list, (n + 1) * bytes);

	if (more == NULL) {
		abort();
	}
	return more;
}

/* Sets, adds or drops an element; value is copied. */
#define CHANGE_LIST(list, n, value)                                            \
	do {                                                                   \
		size_t how = below(10);                                        \
		if ((n) > 0 && how < 6) {                                      \
			(list)[below(n)] = (value);                            \
		} else if ((n) > 0 && how < 8) {                               \
			(n)--;                                                 \
		} else {                                                       \
			(list) = grown((list), (n), sizeof *(list));           \
			(list)[(n)++] = (value);                               \
		}                                                              \
	} while (0)

static char *
copy_of(const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL) {
		abort();
	}
	return copy;
}

static void
set_text(char **place, const char *text)
{
	char *copy = copy_of(text);

	/* protobuf-c's own empty text is not on the heap. */
	if (*place != NULL && *place != protobuf_c_empty_string) {
		free(*place);
	}
	*place = copy;
}

/* -- changes -- */

static void
change_attribute(Onnx__GraphProto *g)
{
	Onnx__NodeProto *node = g->n_node > 0 ? g->node[below(g->n_node)]
					      : NULL;
	Onnx__AttributeProto *a;

	if (node == NULL || node->n_attribute == 0) {
		return;
	}
	a = node->attribute[below(node->n_attribute)];
	if (below(20) == 0) {
		set_text(&a->name, ONE_OF(names));
	} else if (a->n_ints > 0) {
		int64_t v = integer();

		CHANGE_LIST(a->ints, a->n_ints, v);
	} else if (a->n_floats > 0) {
		float v = ONE_OF(reals);

		CHANGE_LIST(a->floats, a->n_floats, v);
	} else if (a->has_s) {
		const char *text = ONE_OF(texts);

		free(a->s.data);
		a->s.data = (uint8_t *)copy_of(text);
		a->s.len = strlen(text);
	} else if (a->has_f) {
		a->f = ONE_OF(reals);
	} else if (a->has_type && below(10) == 0) {
		a->type = (int)below(16);
	} else {
		a->has_i = 1;
		a->i = integer();
	}
}

static Onnx__TensorShapeProto__Dimension *
a_dim(const Onnx__TensorShapeProto *shape)
{
	return shape->dim[below(shape->n_dim)];
}

static void
change_shape(Onnx__GraphProto *g)
{
	Onnx__ValueInfoProto *value = g->n_input > 0
					      ? g->input[below(g->n_input)]
					      : NULL;
	Onnx__TypeProto__Tensor *type = value != NULL && value->type != NULL
						? value->type->tensor_type
						: NULL;
	size_t how = below(10);

	if (type == NULL) {
		return;
	}
	if (how < 2 || type->shape == NULL || type->shape->n_dim == 0) {
		type->has_elem_type = 1;
		type->elem_type = (int)below(28);
	} else if (how < 3) {
		Onnx__TensorShapeProto__Dimension *d = a_dim(type->shape);

		if (d->value_case ==
		    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
			set_text(&d->dim_param, ONE_OF(names));
		} else {
			d->value_case =
				ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
			d->dim_param = copy_of("n");
		}
	} else if (how < 9) {
		Onnx__TensorShapeProto__Dimension *d = a_dim(type->shape);

		if (d->value_case !=
		    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
			d->value_case =
				ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
			d->dim_value = integer();
		}
	} else {
		protobuf_c_message_free_unpacked(
			&type->shape->dim[--type->shape->n_dim]->base, NULL);
	}
}

static void
change_constant(Onnx__GraphProto *g)
{
	Onnx__TensorProto *t = g->n_initializer > 0
				       ? g->initializer[below(g->n_initializer)]
				       : NULL;
	int64_t v = integer();
	float f = ONE_OF(reals);

	if (t == NULL) {
		return;
	}
	if (t->has_raw_data && below(10) < 7) {
		bool wide = below(2) == 0;
		size_t bytes = wide ? sizeof v : sizeof f;
		size_t n = t->raw_data.len / bytes;

		if (n > 0) {
			memcpy(t->raw_data.data + below(n) * bytes,
			       wide ? (const void *)&v : (const void *)&f,
			       bytes);
		}
	} else if (below(2) == 0) {
		CHANGE_LIST(t->dims, t->n_dims, v);
	} else {
		t->has_data_type = 1;
		t->data_type = (int)below(28);
	}
}

/* The name of a value of the graph. */
static const char *
a_value(const Onnx__GraphProto *g)
{
	const Onnx__NodeProto *node = g->n_node > 0 ? g->node[below(g->n_node)]
						    : NULL;

	if (node != NULL && node->n_output > 0 && below(2) == 0) {
		return node->output[below(node->n_output)];
	}
	if (node != NULL && node->n_input > 0 && below(2) == 0) {
		return node->input[below(node->n_input)];
	}
	return g->n_input > 0 ? g->input[below(g->n_input)]->name : "x";
}

static void
change_links(Onnx__GraphProto *g)
{
	Onnx__NodeProto *node = g->n_node > 0 ? g->node[below(g->n_node)]
					      : NULL;
	const char *value = a_value(g);
	size_t how = below(10);

	if (node == NULL || value == NULL) {
		return;
	}
	if (how < 3 && node->n_input > 0) {
		set_text(&node->input[below(node->n_input)], "");
	} else if (how < 6 && node->n_input > 0) {
		set_text(&node->input[below(node->n_input)], value);
	} else if (how < 7 && node->n_input > 0) {
		free(node->input[--node->n_input]);
	} else if (how < 8) {
		node->input = grown(node->input, node->n_input,
				    sizeof *node->input);
		node->input[node->n_input++] = copy_of(value);
	} else if (how < 9 && node->n_output > 0) {
		set_text(&node->output[below(node->n_output)],
			 below(2) == 0 ? "" : value);
	} else {
		node->output = grown(node->output, node->n_output,
				     sizeof *node->output);
		node->output[node->n_output++] = copy_of("extra");
	}
}

static void
change_operator(Onnx__GraphProto *g)
{
	Onnx__NodeProto *node = g->n_node > 0 ? g->node[below(g->n_node)]
					      : NULL;

	if (node == NULL) {
		return;
	}
	if (below(20) == 0) {
		set_text(&node->domain,
			 below(2) == 0 ? "com.microsoft" : "ai.onnx.ml");
	}
	set_text(&node->op_type, operator_name());
}

static void
change_name(Onnx__GraphProto *g)
{
	const char *name = ONE_OF(names);

	if (g->n_node > 0 && below(2) == 0) {
		set_text(&g->node[below(g->n_node)]->name, name);
	} else if (g->n_input > 0 && below(2) == 0) {
		set_text(&g->input[below(g->n_input)]->name, name);
	} else if (g->n_output > 0 && below(2) == 0) {
		set_text(&g->output[below(g->n_output)]->name, name);
	} else {
		set_text(&g->name, name);
	}
}

/* A node less. */
static void
drop_node(Onnx__GraphProto *g)
{
	size_t i = below(g->n_node);

	if (g->n_node > 1) {
		onnx__node_proto__free_unpacked(g->node[i], NULL);
		g->node[i] = g->node[--g->n_node];
	}
}

/* The graph, or a graph of one of its nodes. */
static Onnx__GraphProto *
a_graph(Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_node && below(2) == 0; i++) {
		Onnx__NodeProto *node = g->node[below(g->n_node)];

		for (size_t k = 0; k < node->n_attribute; k++) {
			if (node->attribute[k]->g != NULL && below(2) == 0) {
				return a_graph(node->attribute[k]->g);
			}
		}
	}
	return g;
}

static void
change(Onnx__ModelProto *model)
{
	static void (*const changes[])(Onnx__GraphProto *) = {
		change_attribute, change_attribute, change_shape,
		change_shape,     change_constant,  change_constant,
		change_links,     change_operator,  change_name,
		drop_node,
	};

	if (model->n_opset_import > 0 && below(20) == 0) {
		model->opset_import[0]->has_version = 1;
		model->opset_import[0]->version = (int64_t)below(29);
	}
	ONE_OF(changes)(a_graph(model->graph));
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			unsigned int seed)
{
	Onnx__ModelProto *model;
	size_t n = 0;

	state = UINT64_C(0x9e3779b97f4a7c15) ^ seed;
	below(1);
	model = below(20) > 0 ? onnx__model_proto__unpack(NULL, size, data)
			      : NULL;
	if (model == NULL || model->graph == NULL) {
		if (model != NULL) {
			onnx__model_proto__free_unpacked(model, NULL);
		}
		return LLVMFuzzerMutate(data, size, max_size);
	}
	for (size_t i = 1 + below(3); i > 0; i--) {
		change(model);
	}
	n = onnx__model_proto__get_packed_size(model);
	if (n <= max_size) {
		onnx__model_proto__pack(model, data);
	}
	onnx__model_proto__free_unpacked(model, NULL);
	return n <= max_size ? n : LLVMFuzzerMutate(data, size, max_size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_compile_bytes(data, size);
	return 0;
}
