/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the texts of compositions, when tirc is built. */
#include "body_value.h"
#include "ops.h"

struct check {
	struct importer *imp;
	const struct text_body *b;
	const char *op_type; /* the operator whose text is checked, for
			      * messages */
	struct text_map names, attributes, used;
	bool ok;
};

static void
wrong(struct check *k, const char *problem, const char *name)
{
	k->ok = false;
	diag_error(&k->imp->m->diags, DIAG_BAD_PROGRAM,
		   (struct diag_place){ .file = k->b->row->file },
		   "%s%s%s: %s '%s'", k->b->row->op_type,
		   k->op_type ? ", " : "", k->op_type ? k->op_type : "",
		   problem, name);
}

static bool
has(const struct text_map *m, const char *name)
{
	return text_map_get(m, name, -1) >= 0;
}

/* Notes that a tensor or an attribute is used. */
static void
use(struct check *k, const char *name)
{
	text_map_add(&k->used, name, 0);
	if (!has(&k->names, name) && !has(&k->attributes, name) &&
	    strcmp(name, "inf") != 0 && strcmp(name, "end") != 0) {
		wrong(k, "there is no tensor and no attribute", name);
	}
}

/* -- expressions */

static void
check_expression(struct check *k, const struct py_node *e)
{
	const struct py_node *of = e && e->n_kids > 0 ? e->kids[0] : NULL;

	if (!e) {
		return;
	}
	if (e->kind == PY_NAME) {
		use(k, e->text);
	}
	if (e->kind == PY_COMPREHENSION && e->n_kids == 2 &&
	    e->kids[1]->kids[0]->kind == PY_NAME) {
		text_map_add(&k->names, e->kids[1]->kids[0]->text, 0);
	}
	if (e->kind == PY_CALL &&
	    (of->kind != PY_NAME ||
	     !body_is_function(of->text, e->n_kids - 1))) {
		wrong(k, "expressions have no function",
		      of->text ? of->text : "?");
	}
	for (int i = e->kind == PY_CALL; i < e->n_kids; i++) {
		check_expression(k, e->kids[i]);
	}
}

/* -- nodes */

/* Finds the least and the largest number of inputs (-1: any number), and the
 * number of outputs, that the operator of node p allows. False if tirc has no
 * such operator and no text defines it. */
static bool
find_limits(struct check *k, const Onnx__NodeProto *p, int *least, int *most,
	    int *outputs)
{
	const char *domain = p->domain ? p->domain : "";
	const struct composition_text *row = composition_text_find(domain,
								   p->op_type);
	const struct text_body *b;

	if (row) {
		b = body_read(k->imp, row);
		*least = 0;
		*most = b ? (int)b->proto->n_input : -1;
		*outputs = b ? (int)b->proto->n_output : -1;
		return true;
	}
	return operator_limits(domain, p->op_type, least, most, outputs);
}

static void
check_arity(struct check *k, const Onnx__NodeProto *p)
{
	int least, most, outputs;

	if (!(p->domain && *p->domain) && strcmp(p->op_type, "Constant") == 0) {
		if (p->n_attribute != 1 || p->n_output != 1) {
			wrong(k, "a Constant has one attribute and one output,",
			      p->op_type);
		}
		return;
	}
	if (!find_limits(k, p, &least, &most, &outputs)) {
		wrong(k, "there is no operator", p->op_type);
	} else if ((int)p->n_input < least ||
		   (most >= 0 && (int)p->n_input > most)) {
		wrong(k, "too few or too many inputs of", p->op_type);
	} else if (p->n_output == 0 ||
		   (outputs >= 0 && (int)p->n_output > outputs)) {
		wrong(k, "too few or too many outputs of", p->op_type);
	}
}

static void
note_attributes(struct text_map *m, const struct text_body *b)
{
	for (size_t i = 0; i < b->proto->n_attribute; i++) {
		text_map_add(m, b->proto->attribute[i], 0);
	}
	for (size_t i = 0; i < b->proto->n_attribute_proto; i++) {
		text_map_add(m, b->proto->attribute_proto[i]->name, 0);
	}
}

/* Reports the attributes of a node that the text of its operator does not
 * declare. */
static void
check_attributes(struct check *k, const Onnx__NodeProto *p)
{
	const struct composition_text *row =
		composition_text_find(p->domain ? p->domain : "", p->op_type);
	const struct text_body *b = row ? body_read(k->imp, row) : NULL;
	struct text_map known;

	text_map_init(&known, &k->imp->tmp);
	if (b) {
		note_attributes(&known, b);
	}
	for (size_t i = 0; b && i < p->n_attribute; i++) {
		if (!has(&known, p->attribute[i]->name)) {
			wrong(k, "its text declares no attribute",
			      p->attribute[i]->name);
		}
	}
}

static void
check_error(struct check *k, const Onnx__NodeProto *p)
{
	enum diag_id id;

	if (p->n_attribute != 1 ||
	    !body_error_kind(p->attribute[0]->name, &id) || p->n_input > 0 ||
	    strcmp(p->op_type, "Error") != 0) {
		wrong(k,
		      "only tirc.Error has no outputs; it has one attribute: "
		      "model, attribute, shape, type or unsupported, not",
		      p->op_type);
	}
}

static void
check_node(struct check *k, const struct body_node *n)
{
	const Onnx__NodeProto *p = n->proto;

	k->op_type = p->op_type;
	check_expression(k, n->condition);
	for (size_t i = 0; i < p->n_input; i++) {
		check_expression(k, n->inputs[i]);
		if (!n->inputs[i] && *p->input[i]) {
			use(k, p->input[i]);
		}
	}
	for (size_t i = 0; i < p->n_attribute; i++) {
		const char *ref = p->attribute[i]->ref_attr_name;

		check_expression(k, n->attrs[i]);
		if (!n->attrs[i] && ref && *ref) {
			use(k, ref);
		}
	}
	if (p->n_output == 0) {
		check_error(k, p);
	} else {
		check_arity(k, p);
		check_attributes(k, p);
	}
	for (size_t i = 0; i < p->n_output; i++) {
		if (has(&k->attributes, p->output[i])) {
			wrong(k, "an attribute has the same name as the tensor",
			      p->output[i]);
		}
		text_map_add(&k->names, p->output[i], 0);
	}
}

/* -- functions */

static void
check_used(struct check *k)
{
	const Onnx__FunctionProto *p = k->b->proto;

	k->op_type = NULL;
	for (size_t i = 0; i < p->n_output; i++) {
		if (*p->output[i] && !has(&k->names, p->output[i])) {
			wrong(k, "no node computes the output", p->output[i]);
		}
		text_map_add(&k->used, p->output[i], 0);
	}
	for (size_t i = 0; i < p->n_node; i++) {
		const char *name = p->node[i]->n_output > 0
					   ? p->node[i]->output[0]
					   : "";

		if (*name && !has(&k->used, name)) {
			wrong(k, "nothing reads the tensor", name);
		}
	}
}

static bool
check_body(struct importer *imp, const struct text_body *b)
{
	struct check k = { .imp = imp, .b = b, .ok = true };
	const Onnx__FunctionProto *p = b->proto;

	text_map_init(&k.names, &imp->tmp);
	text_map_init(&k.attributes, &imp->tmp);
	text_map_init(&k.used, &imp->tmp);
	note_attributes(&k.attributes, b);
	if (p->n_opset_import != 1 ||
	    p->opset_import[0]->version != ONNX_NEWEST_OPSET) {
		wrong(&k, "the operator set is not",
		      arena_printf(&imp->tmp, "%d", ONNX_NEWEST_OPSET));
	}
	for (size_t i = 0; i < p->n_input; i++) {
		if (has(&k.attributes, p->input[i])) {
			wrong(&k, "an attribute has the name of the input",
			      p->input[i]);
		}
		text_map_add(&k.names, p->input[i], 0);
	}
	for (size_t i = 0; i < p->n_node; i++) {
		check_node(&k, &b->nodes[i]);
	}
	check_used(&k);
	return k.ok;
}

bool
composition_text_check(struct importer *imp, const struct composition_text *row)
{
	const struct text_body *b = body_of(imp, row);

	return b && check_body(imp, b);
}
