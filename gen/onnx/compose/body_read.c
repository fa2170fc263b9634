/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a function of a text in compositions/ and the expressions in it. */
#include "text_body.h"

#include "python.h"

/* In compositions.c, which compositions.py makes. */
extern const struct composition_text composition_table[];
extern const int composition_table_count;

const struct composition_text *
composition_texts(int *n)
{
	*n = composition_table_count;
	return composition_table;
}

const struct composition_text *
composition_text_find(const char *domain, const char *op_type)
{
	for (int i = 0; i < composition_table_count; i++) {
		const struct composition_text *row = &composition_table[i];

		if (strcmp(row->op_type, op_type) == 0 &&
		    strcmp(row->domain, domain) == 0) {
			return row;
		}
	}
	return NULL;
}

/* Converts the text of the row to a message in b, which lives as long as the
 * import. False after a diagnostic. */
static bool
read_message(struct importer *imp, const struct composition_text *row,
	     struct text_body *b)
{
	const struct source src = { row->file, row->text, strlen(row->text) };
	ProtobufCAllocator allocator = import_allocator(&imp->tmp);
	struct strbuf bytes, slim;
	const Onnx__ModelProto *model = NULL;
	const char *why;
	size_t bad;

	strbuf_init(&bytes);
	strbuf_init(&slim);
	if (onnx_text_functions(imp->m, &src, &bytes)) {
		b->source = (struct tensor_source){
			.module = imp->m,
			.base = arena_copy(&imp->m->arena, bytes.data,
					   bytes.len),
			.length = bytes.len,
			.path = row->file,
		};
		if (wire_slim(b->source.base, bytes.len, WIRE_MODEL, &slim,
			      &bad, &why)) {
			model = onnx__model_proto__unpack(&allocator, slim.len,
							  (const uint8_t *)
								  slim.data);
		}
	}
	strbuf_release(&slim);
	strbuf_release(&bytes);
	b->proto = model && model->n_functions == 1 ? model->functions[0]
						    : NULL;
	return b->proto != NULL;
}

static bool
is_plain(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
				"UVWXYZ_0123456789");

	return name[n] == '\0' && (*name < '0' || *name > '9');
}

/* Parses an expression to a tree. format: it is a text with expressions in {},
 * as in an f-string. NULL after a diagnostic. */
static const struct py_node *
parse(struct importer *imp, const struct composition_text *row,
      const char *expression, bool format)
{
	struct arena *a = &imp->m->arena;
	struct source *src = arena_new(a, struct source);
	const struct py_node *all;

	src->name = row->file;
	src->text = arena_printf(a, format ? "f\"%s\"" : "%s", expression);
	src->length = strlen(src->text);
	all = py_parse(imp->m, src);
	if (all && (all->n_kids != 1 || all->kids[0]->kind != PY_EXPRESSION)) {
		diag_error(&imp->m->diags, DIAG_BAD_PROGRAM,
			   (struct diag_place){ .file = row->file },
			   "'%s' in %s is not an expression", expression,
			   row->op_type);
		return NULL;
	}
	return all ? all->kids[0]->kids[0] : NULL;
}

static bool
is_error(const Onnx__NodeProto *p)
{
	return strcmp(p->op_type, "Error") == 0 && p->domain &&
	       strcmp(p->domain, "tirc") == 0;
}

static bool
read_node(struct importer *imp, const struct composition_text *row,
	  const Onnx__NodeProto *p, struct body_node *n)
{
	struct arena *a = &imp->m->arena;
	bool ok = true;

	n->proto = p;
	n->inputs = arena_array(a, const struct py_node *, p->n_input + 1);
	n->attrs = arena_array(a, const struct py_node *, p->n_attribute + 1);
	if (p->name && *p->name) {
		n->condition = parse(imp, row, p->name, false);
		ok = n->condition != NULL;
	}
	for (size_t i = 0; ok && i < p->n_input; i++) {
		if (!is_plain(p->input[i])) {
			n->inputs[i] = parse(imp, row, p->input[i], false);
			ok = n->inputs[i] != NULL;
		}
	}
	for (size_t i = 0; ok && i < p->n_attribute; i++) {
		const Onnx__AttributeProto *of = p->attribute[i];
		const char *ref = of->ref_attr_name;

		if (is_error(p) || (ref && *ref && !is_plain(ref))) {
			n->attrs[i] =
				is_error(p) ? parse(imp, row,
						    arena_strndup(a,
								  (char *)of->s
									  .data,
								  of->s.len),
						    true)
					    : parse(imp, row, ref, false);
			ok = n->attrs[i] != NULL;
		}
	}
	return ok;
}

const struct text_body *
body_of(struct importer *imp, const struct composition_text *row)
{
	struct arena *a = &imp->m->arena;
	struct text_body *b = arena_new(a, struct text_body);

	b->row = row;
	if (!read_message(imp, row, b)) {
		return NULL;
	}
	b->nodes = arena_array(a, struct body_node, b->proto->n_node + 1);
	for (size_t i = 0; i < b->proto->n_node; i++) {
		if (!read_node(imp, row, b->proto->node[i], &b->nodes[i])) {
			return NULL;
		}
	}
	return b;
}

const struct text_body *
body_read(struct importer *imp, const struct composition_text *row)
{
	/* the entry in the table for each text that has a mistake */
	static const struct text_body wrong;
	size_t at = (size_t)(row - composition_table);

	assert(row);
	if (!imp->texts) {
		imp->texts = arena_array(&imp->tmp, const struct text_body *,
					 composition_table_count + 1);
	}
	if (!imp->texts[at]) {
		imp->texts[at] = body_of(imp, row);
		imp->texts[at] = imp->texts[at] ? imp->texts[at] : &wrong;
	}
	return imp->texts[at] != &wrong ? imp->texts[at] : NULL;
}

bool
body_is_relay(const struct text_body *b)
{
	return strcmp(b->row->domain, "tvm.relay") == 0;
}

const Onnx__AttributeProto *
body_default(const struct text_body *b, const char *name)
{
	for (size_t i = 0; i < b->proto->n_attribute_proto; i++) {
		if (strcmp(b->proto->attribute_proto[i]->name, name) == 0) {
			return b->proto->attribute_proto[i];
		}
	}
	return NULL;
}
