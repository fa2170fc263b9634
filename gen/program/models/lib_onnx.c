/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the parts of the package onnx that look into a model: model.graph with its
 * inputs, outputs, initializers and nodes, numpy_helper.to_array, TensorProto. */
#include "build_parts.h"
#include "numpy.h"
#include "relay_values.h"

static struct pval
part_value(const struct model_message *m)
{
	return pv_any(PV_ONNX_PART, m);
}

/* The value of a field. */
static struct pval
field_value(struct eval *ev, const struct model_field *f)
{
	struct pval list;

	switch (f->kind) {
	case FIELD_NUMBER:
		return pv_int(f->number);
	case FIELD_TEXT:
		return pv_string(ev, f->text);
	case FIELD_MESSAGE:
		return part_value(f->messages[0]);
	default:
		break;
	}
	list = pv_list_of(ev, PV_LIST, NULL, 0);
	for (int i = 0; i < f->n; i++) {
		vec_push(ev->a, list.u.list,
			 f->kind == FIELD_MESSAGES ? part_value(f->messages[i])
			 : f->kind == FIELD_TEXTS  ? pv_string(ev, f->texts[i])
						   : pv_int(f->numbers[i]));
	}
	return list;
}

static bool
field_of(struct call *c, const struct model_message *m, struct pval *out)
{
	const char *names = "";

	for (int i = 0; i < m->n_fields; i++) {
		if (strcmp(m->fields[i].name, c->row->name) == 0) {
			*out = field_value(c->ev, &m->fields[i]);
			return true;
		}
		names = arena_printf(c->ev->a, "%s%s%s", names,
				     i > 0 ? ", " : "", m->fields[i].name);
	}
	return call_error(c, -1, "%s has no %s; there are %s", m->type,
			  c->row->name, names);
}

/* The messages of the model; NULL after an error. */
static const struct model_message *
message_of(struct call *c, const struct pv_onnx *model)
{
	const struct graph_services *s = c->ev->o->graphs;
	int errors = c->ev->m->diags.list.n;

	if (*model->message == NULL && eval_tick(c->ev, c->span, 10000)) {
		*model->message = s->describe(s->ctx, model->path);
		if (*model->message == NULL) {
			eval_locate(c->ev, c->span, errors);
		}
	}
	return *model->message;
}

/* Implements model.graph, model.opset_import, … */
bool
onnx_field(struct call *c, struct pval *out)
{
	const struct model_message *m = message_of(c, c->self.u.any);

	return m != NULL && field_of(c, m, out);
}

/* Implements node.op_type, input.name, … */
bool
onnx_part_field(struct call *c, struct pval *out)
{
	return field_of(c, c->self.u.any, out);
}

/* Implements onnx.checker.check_model: is the file a model? */
bool
onnx_check(struct call *c, struct pval *out)
{
	*out = (struct pval){ .kind = PV_NONE };
	if (c->args[0].kind != PV_ONNX) {
		return value_kind_error(c, 0, "a model of onnx.load");
	}
	return message_of(c, c->args[0].u.any) != NULL;
}

/* Implements onnx.numpy_helper.to_array. */
bool
onnx_to_array(struct call *c, struct pval *out)
{
	const struct model_message *m = c->args[0].u.any;
	struct array *x;

	if (c->args[0].kind != PV_ONNX_PART ||
	    strcmp(m->type, "TensorProto") != 0) {
		return value_kind_error(c, 0, "an initializer of a model");
	}
	if (m->tensor == NULL) {
		return call_error(c, 0, "the elements are strings");
	}
	x = array_of_constant(c->ev, c->span, m->tensor);
	*out = pv_array(x);
	return x != NULL;
}

/* Implements onnx.TensorProto.FLOAT, …: the number of a type in the format. */
bool
onnx_type(struct call *c, struct pval *out)
{
	static const struct {
		const char *name;
		int number;
	} types[] = {
		{ "FLOAT", 1 },    { "UINT8", 2 },     { "INT8", 3 },
		{ "UINT16", 4 },   { "INT16", 5 },     { "INT32", 6 },
		{ "INT64", 7 },    { "STRING", 8 },    { "BOOL", 9 },
		{ "FLOAT16", 10 }, { "DOUBLE", 11 },   { "UINT32", 12 },
		{ "UINT64", 13 },  { "BFLOAT16", 16 },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(types[i].name, c->row->name) == 0) {
			*out = pv_int(types[i].number);
		}
	}
	return true;
}
