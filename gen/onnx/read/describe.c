/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of an ONNX file as fields with the names that the format gives
 * them. Of a graph: its inputs, outputs, initializers and nodes. */
#include "importer.h"
#include "model_message.h"

struct describer {
	struct arena *a;
	const struct tensor_source *source;
};

typedef VEC(struct model_field) field_list;

static const char *
text_of(struct describer *d, const char *text)
{
	return arena_strdup(d->a, text != NULL ? text : "");
}

static void
put_number(struct describer *d, field_list *list, const char *name, int64_t n)
{
	vec_push(d->a, list,
		 ((struct model_field){
			 .name = name, .kind = FIELD_NUMBER, .number = n }));
}

static void
put_text(struct describer *d, field_list *list, const char *name,
	 const char *text)
{
	vec_push(d->a, list,
		 ((struct model_field){ .name = name,
					.kind = FIELD_TEXT,
					.text = text_of(d, text) }));
}

static void
put_texts(struct describer *d, field_list *list, const char *name,
	  char *const *texts, size_t n)
{
	const char **copy = arena_array(d->a, const char *, n + 1);

	for (size_t i = 0; i < n; i++) {
		copy[i] = text_of(d, texts[i]);
	}
	vec_push(d->a, list,
		 ((struct model_field){ .name = name,
					.kind = FIELD_TEXTS,
					.texts = copy,
					.n = (int)n }));
}

/* Room for the n messages of a field, which the caller fills in. */
static const struct model_message **
put_messages(struct describer *d, field_list *list, const char *name, size_t n)
{
	const struct model_message **all =
		arena_array(d->a, const struct model_message *, n + 1);

	vec_push(d->a, list,
		 ((struct model_field){ .name = name,
					.kind = FIELD_MESSAGES,
					.messages = all,
					.n = (int)n }));
	return all;
}

static void
put_message(struct describer *d, field_list *list, const char *name,
	    const struct model_message *one)
{
	*put_messages(d, list, name, 1) = one;
	list->data[list->n - 1].kind = FIELD_MESSAGE;
}

static struct model_message *
message_of(struct describer *d, const char *type, const field_list *fields)
{
	struct model_message *m = arena_new(d->a, struct model_message);

	*m = (struct model_message){ .type = type,
				     .fields = fields->data,
				     .n_fields = fields->n };
	return m;
}

static const struct model_message *
shape_of(struct describer *d, const Onnx__TensorShapeProto *shape)
{
	field_list fields = { 0 };
	size_t n = shape != NULL ? shape->n_dim : 0;
	const struct model_message **dims = put_messages(d, &fields, "dim", n);

	for (size_t i = 0; i < n; i++) {
		const Onnx__TensorShapeProto__Dimension *one = shape->dim[i];
		bool value =
			one->value_case ==
			ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
		bool name =
			one->value_case ==
			ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
		field_list own = { 0 };

		put_number(d, &own, "dim_value", value ? one->dim_value : 0);
		put_text(d, &own, "dim_param", name ? one->dim_param : "");
		dims[i] = message_of(d, "Dimension", &own);
	}
	return message_of(d, "TensorShapeProto", &fields);
}

static const struct model_message *
value_info_of(struct describer *d, const Onnx__ValueInfoProto *info)
{
	const Onnx__TypeProto__Tensor *t = info->type != NULL
						   ? info->type->tensor_type
						   : NULL;
	field_list tensor = { 0 }, type = { 0 }, fields = { 0 };

	put_number(d, &tensor, "elem_type", t != NULL ? t->elem_type : 0);
	put_message(d, &tensor, "shape",
		    shape_of(d, t != NULL ? t->shape : NULL));
	put_message(d, &type, "tensor_type", message_of(d, "Tensor", &tensor));
	put_text(d, &fields, "name", info->name);
	put_message(d, &fields, "type", message_of(d, "TypeProto", &type));
	return message_of(d, "ValueInfoProto", &fields);
}

static const struct model_message *
node_of(struct describer *d, const Onnx__NodeProto *node)
{
	field_list fields = { 0 };

	put_text(d, &fields, "name", node->name);
	put_text(d, &fields, "op_type", node->op_type);
	put_text(d, &fields, "domain", node->domain);
	put_texts(d, &fields, "input", node->input, node->n_input);
	put_texts(d, &fields, "output", node->output, node->n_output);
	return message_of(d, "NodeProto", &fields);
}

/* NULL after a diagnostic. */
static const struct model_message *
tensor_of(struct describer *d, const Onnx__TensorProto *p)
{
	struct module *m = d->source->module;
	const char *name = text_of(d, p->name);
	struct tensor_content content;
	struct model_message *out;
	struct tensor *t;
	field_list fields = { 0 };

	if (!tensor_read(d->source, p, name, &content)) {
		return NULL;
	}
	put_text(d, &fields, "name", name);
	put_number(d, &fields, "data_type", p->data_type);
	vec_push(d->a, &fields,
		 ((struct model_field){ .name = "dims",
					.kind = FIELD_NUMBERS,
					.numbers = content.shape,
					.n = (int)p->n_dims }));
	out = message_of(d, "TensorProto", &fields);
	if (content.is_string) {
		return out;
	}
	t = arena_new(d->a, struct tensor);
	*t = (struct tensor){ .name = name,
			      .type = content.value->type,
			      .typed = true,
			      .ndim = content.ndim,
			      .value = content.value };
	t->shape = arena_exprs(d->a, content.ndim + 1);
	for (int i = 0; i < content.ndim; i++) {
		t->shape[i] = expr_int(m, dtype_of(DT_I64), content.shape[i]);
	}
	out->tensor = t;
	return out;
}

/* NULL after a diagnostic. */
static const struct model_message *
graph_of(struct describer *d, const Onnx__GraphProto *g)
{
	field_list fields = { 0 };
	const struct model_message **list;

	put_text(d, &fields, "name", g->name);
	list = put_messages(d, &fields, "node", g->n_node);
	for (size_t i = 0; i < g->n_node; i++) {
		list[i] = node_of(d, g->node[i]);
	}
	list = put_messages(d, &fields, "input", g->n_input);
	for (size_t i = 0; i < g->n_input; i++) {
		list[i] = value_info_of(d, g->input[i]);
	}
	list = put_messages(d, &fields, "output", g->n_output);
	for (size_t i = 0; i < g->n_output; i++) {
		list[i] = value_info_of(d, g->output[i]);
	}
	list = put_messages(d, &fields, "initializer", g->n_initializer);
	for (size_t i = 0; i < g->n_initializer; i++) {
		list[i] = tensor_of(d, g->initializer[i]);
		if (list[i] == NULL) {
			return NULL;
		}
	}
	return message_of(d, "GraphProto", &fields);
}

const struct model_message *
model_describe(const struct tensor_source *source,
	       const Onnx__ModelProto *model)
{
	struct describer d = { &source->module->arena, source };
	field_list fields = { 0 };
	const struct model_message **list, *graph;

	if (model->graph == NULL) {
		diag_error(&source->module->diags, DIAG_BAD_MODEL,
			   (struct diag_place){ .file = source->path },
			   "the file has no graph; give an ONNX model");
		return NULL;
	}
	graph = graph_of(&d, model->graph);
	if (graph == NULL) {
		return NULL;
	}
	put_number(&d, &fields, "ir_version", model->ir_version);
	put_text(&d, &fields, "producer_name", model->producer_name);
	put_message(&d, &fields, "graph", graph);
	list = put_messages(&d, &fields, "opset_import", model->n_opset_import);
	for (size_t i = 0; i < model->n_opset_import; i++) {
		field_list own = { 0 };

		put_text(&d, &own, "domain", model->opset_import[i]->domain);
		put_number(&d, &own, "version",
			   model->opset_import[i]->version);
		list[i] = message_of(&d, "OperatorSetIdProto", &own);
	}
	return message_of(&d, "ModelProto", &fields);
}
