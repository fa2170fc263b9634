/* SPDX-License-Identifier: Apache-2.0 */
/* An ONNX file becomes a graph:
 *
 *	text as a message           onnx_text.c
 *	map, slim copy, unpack      file.c, wire.c, protobuf-c
 *	initialisers, inputs        tensor.c, inputs.c
 *	nodes, functions inlined    nodes.c, function.c, attribute.c
 *	upgrade, sort, infer        upgrade.c, finish.c
 */
#include <stdio.h>
#include <stdlib.h>

#include "bodies.h"
#include "finish.h"
#include "import_inputs.h"
#include "onnx_text.h"
#include "relay_text.h"
#include "wire.h"

/* The largest number of missing bounds that one message lists. A further
 * attempt at the import finds each of them. */
#define MISSING_BOUNDS_MAX 40

/* If t, an output of a graph, is an input or a constant, returns a new tensor,
 * the copy of t by an Identity, because every output has memory of its own;
 * else returns t. */
static struct tensor *
output_of(struct importer *imp, struct tensor *t, const char *name)
{
	struct tensor *copy;

	if (t->producer) {
		return t;
	}
	if (!t->is_input) {
		graph_rename(imp->g, t,
			     arena_printf(&imp->tmp, "%s_value", name));
	}
	copy = graph_tensor(imp->g, t->is_input ? arena_printf(&imp->tmp,
							       "%s_copy", name)
						: name);
	copy->model_name = arena_strdup(&imp->m->arena, name);
	import_add_node(imp, "", "Identity", "", &t, 1, &copy, 1, -1,
			GRAPH_CANONICAL_OPSET);
	return copy;
}

/* A tensor that is listed as an output again gets a copy, "y_1". */
static struct tensor *
output_again(struct importer *imp, struct tensor *t, const char *name)
{
	struct tensor *copy = graph_tensor(imp->g, name);

	copy->model_name = arena_strdup(&imp->m->arena, copy->name);
	import_add_node(imp, "", "Identity", "", &t, 1, &copy, 1, -1,
			GRAPH_CANONICAL_OPSET);
	return copy;
}

static bool
import_outputs(struct importer *imp, const struct body *body)
{
	struct graph *g = imp->g;

	for (size_t i = 0; i < imp->graph->n_output; i++) {
		const Onnx__ValueInfoProto *p = imp->graph->output[i];
		const char *name = p->name ? p->name : "";
		const char *item = arena_printf(&imp->tmp, "output %s",
						import_quote(&imp->tmp, name));
		struct scope_slot *slot = scope_find(&body->scope, name);

		if (!slot) {
			return diag_error(
				&imp->m->diags, DIAG_MISSING_TENSOR,
				import_place(imp, item),
				"no node computes "
				"it; correct its name or add the node");
		}
		import_unwrap_optional(imp, imp->graph->output[i]);
		if (p->type && !p->type->tensor_type &&
		    !p->type->has_sequence_type &&
		    !p->type->has_optional_type) {
			return diag_error(&imp->m->diags, DIAG_UNSUPPORTED,
					  import_place(imp, item),
					  "it is not a dense tensor; other "
					  "kinds are not supported");
		}
		struct tensor *t = slot->listed
					   ? output_again(imp, slot->tensor,
							  name)
					   : output_of(imp, slot->tensor, name);

		slot->listed = true;
		t->is_output = true;
		vec_push(&imp->m->arena, &g->outputs, t);
	}
	if (g->outputs.n == 0) {
		return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
				  import_place(imp, NULL),
				  "the model has no outputs; "
				  "there is nothing to compute");
	}
	return true;
}

/* The last part of a path without its suffix: "net" for "models/net.onnx". */
static const char *
stem_of(struct arena *a, const char *path, size_t length)
{
	size_t start = length;

	while (start > 0 && path[start - 1] != '/') {
		start--;
	}
	const char *base = arena_strndup(a, path + start, length - start);
	char *dot = strrchr(base, '.');

	if (dot && dot != base) {
		*dot = '\0';
	}
	return base;
}

/* Is the name one that an exporter gives to every graph? Such a name says
 * nothing about the model. */
static bool
is_name_of_all(const char *name)
{
	static const char *const names[] = {
		"main_graph",       /* torch.onnx */
		"torch_jit",        /* torch.onnx before 2.0 */
		"torch-jit-export", /* torch.onnx before 1.12 */
		"tf2onnx",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* The name of the model: the graph's name, unless it is one that exporters
 * always give; else the name of the file, or of its folder. */
static const char *
choose_name(struct importer *imp)
{
	const char *path = imp->source.path;
	const char *slash = strrchr(path, '/');
	const char *stem;

	if (imp->graph->name && *imp->graph->name &&
	    !is_name_of_all(imp->graph->name)) {
		return imp->graph->name;
	}
	stem = stem_of(&imp->tmp, path, strlen(path));
	if (strcmp(stem, "model") == 0 && slash && slash != path) {
		const char *folder = arena_strndup(&imp->tmp, path,
						   (size_t)(slash - path));
		const char *last = strrchr(folder, '/');

		folder = last ? last + 1 : folder;
		return *folder && *folder != '.' ? folder : stem;
	}
	return *stem ? stem : "model";
}

static bool
check_model(struct importer *imp)
{
	imp->graph = imp->model->graph;
	if (!imp->graph ||
	    (imp->graph->n_node == 0 && imp->graph->n_output == 0)) {
		return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
				  import_place(imp, NULL),
				  "the file has no graph; give an ONNX model");
	}
	for (size_t i = 0; i < imp->model->n_functions; i++) {
		const Onnx__FunctionProto *f = imp->model->functions[i];

		if (!f->name || !*f->name) {
			return diag_error(&imp->m->diags, DIAG_BAD_MODEL,
					  import_place(imp, NULL),
					  "function %zu has no "
					  "name; export the model again",
					  i);
		}
	}
	return functions_collect(imp);
}

static bool
build_graph(struct importer *imp)
{
	struct body *body = arena_new(&imp->tmp, struct body);

	*body = (struct body){
		.prefix = "",
		.where = "",
		.origin = -1,
		.within = -1,
		.source = &imp->source,
		.opsets = imp->model->opset_import,
		.n_opsets = imp->model->n_opset_import,
		.nodes = imp->graph->node,
		.n_nodes = imp->graph->n_node,
	};

	scope_init(&body->scope, &imp->tmp);
	scope_init(&imp->call_names, &imp->tmp);
	pointer_map_init(&imp->sequence_of, &imp->tmp);
	pointer_map_init(&imp->origin_of, &imp->tmp);
	return import_initializers(imp, body, imp->graph) &&
	       import_const_inputs(imp, body) && import_inputs(imp, body) &&
	       import_body(imp, body) && import_outputs(imp, body) &&
	       import_finish(imp);
}

/* Unpacks the message of the model in the source, without the contents of its
 * tensors, to the arena `a`. NULL after a diagnostic. */
static Onnx__ModelProto *
model_unpack(const struct tensor_source *source, struct arena *a)
{
	ProtobufCAllocator allocator = import_allocator(a);
	const struct diag_place place = { .file = source->path };
	struct diags *diags = &source->module->diags;
	Onnx__ModelProto *model = NULL;
	struct strbuf slim;
	const char *why;
	size_t bad;

	if (source->length == 0) {
		diag_error(diags, DIAG_BAD_PROTOBUF, place,
			   "the file is empty; get it again");
		return NULL;
	}
	strbuf_init(&slim);
	if (!wire_slim(source->base, source->length, WIRE_MODEL, &slim, &bad,
		       &why)) {
		diag_error(diags, DIAG_BAD_PROTOBUF, place,
			   "not an ONNX model, or a damaged one: %s at byte "
			   "%zu; get the file again",
			   why, bad);
	} else {
		model = onnx__model_proto__unpack(&allocator, slim.len,
						  (const uint8_t *)slim.data);
		if (model == NULL) {
			diag_error(diags, DIAG_BAD_PROTOBUF, place,
				   "not an ONNX model, or a damaged one; get "
				   "the file again");
		}
	}
	strbuf_release(&slim);
	if (source->mapped) {
		onnx_file_forget(source->base, source->length);
	}
	return model;
}

static bool
unpack_model(struct importer *imp)
{
	imp->model = model_unpack(&imp->source, &imp->tmp);
	return imp->model != NULL;
}

/* Copies the properties of the model (metadata_props). If several have the same
 * key, copies only the first of these. */
static void
add_props(struct importer *imp)
{
	struct arena *a = &imp->m->arena;
	struct text_map keys;

	text_map_init(&keys, &imp->tmp);
	for (size_t i = 0; i < imp->model->n_metadata_props; i++) {
		const Onnx__StringStringEntryProto *p =
			imp->model->metadata_props[i];
		struct model_prop prop = {
			.key = arena_strdup(a, p->key ? p->key : ""),
			.value = arena_strdup(a, p->value ? p->value : ""),
		};

		if (text_map_add(&keys, prop.key, (int)i)) {
			vec_push(a, &imp->g->props, prop);
		}
	}
}

bool
text_source(struct module *m, struct tensor_source *source,
	    bool (*read)(struct module *m, const struct source *src,
			 struct strbuf *out))
{
	const struct source src = { source->path, (const char *)source->base,
				    source->length };
	struct strbuf bytes;
	bool ok;

	if (!onnx_is_text(source->base, source->length) &&
	    !relay_is_text(source->base, source->length)) {
		return true;
	}
	strbuf_init(&bytes);
	ok = read(m, &src, &bytes);
	source->base = (const uint8_t *)bytes.data;
	source->length = bytes.len;
	source->mapped = false;
	if (ok && !onnx_file_keep(source->file, &bytes)) {
		ok = diag_error(&m->diags, DIAG_FILE_UNREADABLE,
				(struct diag_place){ .file = source->path },
				"cannot be read: out of memory");
	}
	strbuf_release(&bytes);
	return ok;
}

/* The function that converts the text of the model, if the source is a text. */
static bool (*model_of_text(const struct tensor_source *source))(
	struct module *m, const struct source *src, struct strbuf *out)
{
	return relay_is_text(source->base, source->length) ? relay_text_model
							   : onnx_text_model;
}

/* One attempt to import a model. message: the bytes of the file, or, if the
 * file is a text, the message to which the text was converted. Adds sizes that
 * the model lacks to `missing`. NULL after a diagnostic. */
static struct graph *
attempt(struct module *m, const struct tensor_source *file,
	const struct tensor_source *message,
	const struct import_options *options, missing_list *missing)
{
	struct importer imp = {
		.m = m,
		.expander = find_expander,
		.knows_operator = knows_operator,
		.options = options,
		.source = *message,
		.missing = missing,
	};
	bool ok;

	arena_init_within(&imp.tmp, &m->arena);
	imp.bound_used = arena_array(&imp.tmp, bool, options->n_bounds + 1);
	imp.length_used = arena_array(&imp.tmp, bool, options->n_sequences + 1);
	ok = unpack_model(&imp) && check_model(&imp);
	if (ok) {
		imp.g = graph_new(m, choose_name(&imp));
		imp.g->file = arena_strdup(&m->arena, file->path);
		imp.g->digest = sha256_whole_of(&m->arena, file->base,
						file->length, file->mapped);
		if (imp.model->producer_name != NULL) {
			imp.g->producer =
				arena_strdup(&m->arena,
					     imp.model->producer_name);
		}
		add_props(&imp);
		ok = build_graph(&imp);
	}
	arena_release(&imp.tmp);
	return ok ? imp.g : NULL;
}

/* Imports the model, and repeats the import as long as it finds another missing
 * bound, so that one message names all missing bounds. */
static struct graph *
import_mapped(struct module *m, const struct tensor_source *source,
	      const struct import_options *given)
{
	static const struct import_options none = { 0 };
	struct import_options options = given ? *given : none;
	int first = m->diags.list.n, known = 0, bounds = 0;
	struct tensor_source message = *source;
	missing_list missing = { 0 };
	struct graph *g;

	quota_of_input(m, (int64_t)source->length);
	if (!text_source(m, &message, model_of_text(source))) {
		return NULL;
	}
	g = attempt(m, source, &message, &options, &missing);
	while (!g && missing.n > known && bounds++ < MISSING_BOUNDS_MAX &&
	       missing.data[missing.n - 1].kind == MISSING_BOUND) {
		known = missing.n;
		missing_options(&m->arena, &missing, given ? given : &none,
				&options);
		g = attempt(m, source, &message, &options, &missing);
	}
	if (missing.n > 0) {
		missing_report(m, source->path, &missing, first);
		g = NULL;
	}
	return g;
}

/* Maps the file at path. False after a diagnostic. In both cases the caller
 * must close out->file, unless it is NULL. */
static bool
open_source(struct module *m, const char *path, const struct onnx_file *opened,
	    struct tensor_source *out)
{
	struct onnx_file *f = onnx_file_new();
	const char *why = "out of memory";
	const struct onnx_map *map = NULL;
	const char *slash = strrchr(path, '/');

	*out = (struct tensor_source){ .module = m, .file = f };
	if (f) {
		map = onnx_file_share(f, opened, path);
		map = map ? map : onnx_file_map(f, path, &m->arena, &why);
	}
	if (!map) {
		return diag_error(&m->diags, DIAG_FILE_UNREADABLE,
				  (struct diag_place){ .file = path },
				  "cannot be read: %s", why);
	}
	out->base = map->base;
	out->length = map->length;
	out->mapped = map->kind == BYTES_MAPPED;
	out->path = arena_strdup(&m->arena, path);
	out->folder = slash ? arena_strndup(&m->arena, path,
					    (size_t)(slash - path + 1))
			    : ".";
	return true;
}

const struct model_message *
onnx_describe(struct module *m, const char *path,
	      const struct onnx_file *opened, struct onnx_file **file)
{
	const struct model_message *out = NULL;
	struct tensor_source source;
	Onnx__ModelProto *model;
	struct arena tmp;

	if (open_source(m, path, opened, &source)) {
		quota_of_input(m, (int64_t)source.length);
		arena_init_within(&tmp, &m->arena);
		model = text_source(m, &source, model_of_text(&source))
				? model_unpack(&source, &tmp)
				: NULL;
		out = model ? model_describe(&source, model) : NULL;
		arena_release(&tmp);
	}
	*file = out ? source.file : NULL;
	if (!out) {
		onnx_file_close(source.file);
	}
	return out;
}

struct graph *
onnx_import(struct module *m, const char *path,
	    const struct import_options *options, struct onnx_file **file)
{
	struct tensor_source source;
	struct onnx_file *f;
	struct graph *g = NULL;

	if (open_source(m, path, options ? options->opened : NULL, &source)) {
		g = import_mapped(m, &source, options);
		quota_of_input(m, onnx_file_bytes(source.file));
	}
	f = source.file;
	*file = g ? f : NULL;
	if (!g) {
		onnx_file_close(f);
	}
	return g;
}

struct graph *
onnx_import_bytes(struct module *m, const char *name, const void *data,
		  size_t length, const struct import_options *options,
		  struct onnx_file **file)
{
	struct onnx_file *f = onnx_file_new();
	struct tensor_source source = {
		.module = m,
		.file = f,
		.base = data,
		.length = length,
		.path = arena_strdup(&m->arena, name),
	};
	struct graph *g = f ? import_mapped(m, &source, options) : NULL;

	*file = g ? f : NULL;
	if (!g) {
		onnx_file_close(f);
	}
	return g;
}
