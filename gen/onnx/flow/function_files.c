/* SPDX-License-Identifier: Apache-2.0 */
/* Files of --functions: ONNX functions for operators that tirc does not know. A
 * file is a model (its graph is not read) or a single function, as protobuf or
 * text. A function of the same name in the model takes precedence. */
#include "bodies.h"
#include "wire.h"

static bool
bad_file(struct importer *imp, const char *path, const char *text)
{
	return diag_error(&imp->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = path },
			  "--functions: %s; give an ONNX model with functions "
			  "or a FunctionProto, in binary or in ONNX's text "
			  "form",
			  text);
}

static bool
add(struct importer *imp, const Onnx__FunctionProto *f,
    const struct tensor_source *source)
{
	struct local_function one = {
		.proto = f,
		.at = (size_t)imp->functions.n,
		.source = source,
	};

	if (!f->name || !*f->name) {
		return bad_file(imp, source->path, "a function has no name");
	}
	vec_push(&imp->tmp, &imp->functions, one);
	return true;
}

/* Reads the file as a message of the kind, and appends the slim copy of the
 * message to `out`; false if the file is not such a message. */
static bool
slim(const struct tensor_source *source, enum wire_message kind,
     struct strbuf *out)
{
	const char *why;
	size_t bad;

	strbuf_init(out);
	return wire_slim(source->base, source->length, kind, out, &bad, &why);
}

static bool
read_model(struct importer *imp, const struct tensor_source *source,
	   const struct strbuf *slim_copy)
{
	ProtobufCAllocator allocator = import_allocator(&imp->tmp);
	const Onnx__ModelProto *m =
		onnx__model_proto__unpack(&allocator, slim_copy->len,
					  (const uint8_t *)slim_copy->data);

	for (size_t i = 0; m && i < m->n_functions; i++) {
		if (!add(imp, m->functions[i], source)) {
			return false;
		}
	}
	return (m && m->n_functions > 0) ||
	       bad_file(imp, source->path, "it has no functions");
}

static bool
read_function(struct importer *imp, const struct tensor_source *source,
	      const struct strbuf *slim_copy)
{
	ProtobufCAllocator allocator = import_allocator(&imp->tmp);
	const Onnx__FunctionProto *f =
		onnx__function_proto__unpack(&allocator, slim_copy->len,
					     (const uint8_t *)slim_copy->data);

	return f ? add(imp, f, source)
		 : bad_file(imp, source->path, "it is not a function");
}

static bool
read_file(struct importer *imp, const char *path)
{
	struct tensor_source *source = arena_new(&imp->tmp,
						 struct tensor_source);
	const char *why;
	const struct onnx_map *map = onnx_file_map(imp->source.file, path,
						   &imp->m->arena, &why);
	struct strbuf copy;
	bool ok;

	if (!map) {
		return diag_error(&imp->m->diags, DIAG_FILE_UNREADABLE,
				  (struct diag_place){ .file = path },
				  "cannot be read: %s", why);
	}
	*source = (struct tensor_source){
		.module = imp->m,
		.file = imp->source.file,
		.base = map->base,
		.length = map->length,
		.mapped = map->kind == BYTES_MAPPED,
		.path = arena_strdup(&imp->m->arena, path),
	};
	if (!text_source(imp->m, source, onnx_text_functions)) {
		return false;
	}
	if (source->length > 0 && slim(source, WIRE_MODEL, &copy)) {
		ok = read_model(imp, source, &copy);
		strbuf_release(&copy);
		return ok;
	}
	if (source->length > 0) {
		strbuf_release(&copy);
	}
	if (source->length == 0 || !slim(source, WIRE_FUNCTION, &copy)) {
		return bad_file(imp, path, "it is damaged, or no ONNX file");
	}
	ok = read_function(imp, source, &copy);
	strbuf_release(&copy);
	return ok;
}

bool
function_files(struct importer *imp)
{
	for (int i = 0; i < imp->options->n_functions; i++) {
		if (!read_file(imp, imp->options->functions[i])) {
			return false;
		}
	}
	return true;
}
