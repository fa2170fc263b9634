/* SPDX-License-Identifier: Apache-2.0 */
/* Models in programs: the functions of graph_services.h. Each time a program
 * reads a model, the model gets a context of its own. The program's context
 * owns these contexts and the model's file, which is opened once. */
#include <stdlib.h>
#include <string.h>

#include "onnx_file.h"
#include "onnx_import.h"
#include "passes.h"
#include "text.h"
#include "tirc_context.h"

/* The most models that a program may read or build: each is a copy in memory. */
enum { MAX_MODELS = 256 };

/* Copies the messages of context `from` to context `to`; `from` may be freed
 * before `to`. */
static void
take_messages(struct tirc *to, struct tirc *from)
{
	struct diags *list = &from->m->diags;
	struct arena *a = &to->m->arena;

	for (int i = 0; i < list->list.n; i++) {
		const struct diag *one = &list->list.data[i];
		struct diag_place place = one->place;
		const char *text = arena_strdup(a, one->message);

		place.file = place.file != NULL ? arena_strdup(a, place.file)
						: NULL;
		place.item = place.item != NULL ? arena_strdup(a, place.item)
						: NULL;
		switch (one->severity) {
		case DIAG_NOTE:
			diag_note(&to->m->diags, one->id, place, "%s", text);
			break;
		case DIAG_WARNING:
			diag_warning(&to->m->diags, one->id, place, "%s", text);
			break;
		default:
			diag_error(&to->m->diags, one->id, place, "%s", text);
			break;
		}
	}
}

/* Is the memory of all models of the program within the limit of one command? False
 * after a diagnostic. */
static bool
has_memory(struct tirc *t, const char *path)
{
	size_t used = 0;

	for (int i = 0; i < t->models.n; i++) {
		used += t->models.data[i]->m->arena.used_bytes;
	}
	if (t->m->quota.memory_bytes == 0 ||
	    (int64_t)used <= t->m->quota.memory_bytes) {
		return true;
	}
	return diag_error(&t->m->diags, DIAG_BAD_PROGRAM,
			  (struct diag_place){ .file = path },
			  "the program's models take more than %lld bytes of "
			  "memory (--max-memory)",
			  (long long)t->m->quota.memory_bytes);
}

/* A context with the model of the request; NULL after a diagnostic. */
static struct tirc *
open_model(struct tirc *t, const struct graph_request *r,
	   const struct graph_build *b)
{
	struct tirc_options o = {
		.dialect_path = t->options.dialect_path,
		.optimize = t->options.optimize,
		.fp = t->options.fp,
		.input_shapes = r->shapes,
		.n_input_shapes = r->n_shapes,
		.byoc = r->backends,
		.n_byoc = r->n_backends,
		.max_output_bytes = t->options.max_output_bytes,
		.max_memory_bytes = t->options.max_memory_bytes,
	};
	struct tirc *model;

	if (!has_memory(t, r->path)) {
		return NULL;
	}
	if (t->models.n == MAX_MODELS) {
		diag_error(&t->m->diags, DIAG_BAD_PROGRAM,
			   (struct diag_place){ .file = r->path },
			   "a program may read and build at most %d models",
			   MAX_MODELS);
		return NULL;
	}
	if (b != NULL) {
		o.target = b->target;
		o.form = b->aot ? "aot" : "graph";
		o.disable_passes = b->disabled;
		o.n_disable_passes = b->n_disabled;
	}
	model = tirc_new(&o);
	model->opened = t->opened;
	vec_push(&t->m->arena, &t->models, model);
	return model;
}

/* Reads the model of the request into its context; false after diagnostics. */
static bool
load(struct tirc *model, const struct graph_request *r)
{
	struct array *values = arena_array(&model->m->arena, struct array,
					   r->n_params + 1);

	for (int i = 0; i < r->n_params; i++) {
		const struct graph_param *p = &r->params[i];
		int64_t elems = 1;

		for (int d = 0; d < p->ndim; d++) {
			elems *= p->shape[d];
		}
		values[i] = (struct array){ .name = p->name,
					    .type = p->type,
					    .ndim = p->ndim,
					    .shape = p->shape,
					    .elems = elems,
					    .data = p->data };
	}
	model->given = (struct given_model){ .text = r->text,
					     .text_bytes = r->text_bytes,
					     .values = values,
					     .n_values = r->n_params };
	return tirc_load(model, r->path);
}

/* -- the file -- */

/* The program's folder, "." for a program in the current one. */
static const char *
folder_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? arena_strndup(a, path, (size_t)(slash - path))
			     : ".";
}

static const char *
find(void *ctx, const char *name, struct diag_place place)
{
	struct tirc *t = ctx;
	struct arena *a = &t->m->arena;
	const char *folder = folder_of(a, t->program_path), *why = "no memory";
	const char *path = name[0] == '/'
				   ? name
				   : arena_printf(a, "%s/%s", folder, name);

	if (t->options.allow_files) {
		return path;
	}
	if (t->opened == NULL) {
		t->opened = onnx_file_new();
	}
	if (t->opened == NULL ||
	    onnx_file_map_beside(t->opened, "program", folder, name, a, &why) ==
		    NULL) {
		diag_error(&t->m->diags, DIAG_BAD_PROGRAM, place,
			   "%s %s, or allow all files with --allow-files", name,
			   why);
		return NULL;
	}
	return path;
}

static bool
has_backend(void *ctx, const char *name, const char **names)
{
	struct tirc *t = ctx;
	bool found = false;

	*names = "";
	for (int i = 0; i < tirc_backend_count(t); i++) {
		const char *one = tirc_backend(t, i);

		found |= strcmp(one, name) == 0;
		*names = arena_printf(&t->m->arena, "%s%s%s", *names,
				      i > 0 ? ", " : "", one);
	}
	return found;
}

/* -- the graph -- */

static bool
run_passes(struct tirc *model, const struct graph_request *r)
{
	int n;
	const struct graph_pass *passes = graph_passes(&n);

	if (r->n_passes > 0 && !context_prepare(model)) {
		return false;
	}
	for (int i = 0; i < r->n_passes; i++) {
		for (int k = 0; k < n; k++) {
			if (strcmp(passes[k].name, r->passes[i]) == 0 &&
			    !passes[k].run(model->graph)) {
				return false;
			}
		}
	}
	return true;
}

static const struct model_message *
describe(void *ctx, const char *path)
{
	struct tirc *t = ctx;
	const struct graph_request r = { .path = path };
	struct tirc *model = open_model(t, &r, NULL);
	const struct model_message *out;

	if (model == NULL) {
		return NULL;
	}
	out = onnx_describe(model->m, path, t->opened, &model->file);
	take_messages(t, model);
	return out;
}

static struct graph *
read_graph(void *ctx, const struct graph_request *r)
{
	struct tirc *t = ctx, *model = open_model(t, r, NULL);
	bool ok;

	if (model == NULL) {
		return NULL;
	}
	ok = load(model, r) && run_passes(model, r);
	take_messages(t, model);
	return ok ? model->graph : NULL;
}

static bool
types(void *ctx, const struct graph_request *r, struct arena *a,
      struct graph_weight **list, int *n)
{
	struct tirc *t = ctx, *model = open_model(t, r, NULL);
	bool ok;

	if (model == NULL) {
		return false;
	}
	model->options.open_sizes = true;
	ok = load(model, r);
	take_messages(t, model);
	*n = ok ? model->graph->outputs.n : 0;
	*list = arena_array(a, struct graph_weight, *n + 1);
	for (int i = 0; i < *n; i++) {
		const struct tensor *y = model->graph->outputs.data[i];
		int64_t *shape = arena_array(a, int64_t, y->ndim + 1);

		for (int d = 0; d < y->ndim; d++) {
			shape[d] = -1;
			expr_is_int(y->shape[d], &shape[d]);
		}
		(*list)[i] = (struct graph_weight){
			.dtype = dtype_name(y->type),
			.ndim = y->ndim,
			.shape = shape,
		};
	}
	tirc_free(model);
	t->models.n--;
	return ok;
}

/* -- the source -- */

static struct graph_weight
weight_of(struct arena *a, const struct weight *w)
{
	const struct buffer *b = w->buffer;
	int64_t *shape = arena_array(a, int64_t, b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		expr_is_int(b->shape[d], &shape[d]);
	}
	return (struct graph_weight){ .name = w->name,
				      .dtype = dtype_name(b->type),
				      .ndim = b->ndim,
				      .shape = shape };
}

static void
collect(struct tirc *model, struct graph_built *out)
{
	struct arena *a = &model->m->arena;
	VEC(struct graph_weight) weights = { 0 };
	const char *source = "";

	for (int i = 0; i < tirc_file_count(model); i++) {
		struct tirc_file f = tirc_file(model, i);

		if (f.text == NULL) {
			continue;
		}
		if (f.is_source) {
			source = arena_printf(a, "%s%s%s", source,
					      source[0] != '\0' ? "\n" : "",
					      f.text);
		} else if (text_ends_in(f.name, ".h") && out->header == NULL) {
			out->header = f.text;
		} else if (text_ends_in(f.name, "_graph.json")) {
			out->json = f.text;
		}
	}
	for (int i = 0; i < model->program.weights.n; i++) {
		vec_push(a, &weights,
			 weight_of(a, model->program.weights.data[i]));
	}
	out->model = model;
	out->name = tirc_summary(model).name;
	out->source = source;
	out->weights = weights.data;
	out->n_weights = weights.n;
}

/* Sets the form for a build that does not name one. False after diagnostics. */
static bool
choose_form(struct tirc *model, const struct graph_build *b)
{
	if (!b->any_form) {
		return true;
	}
	if (!context_prepare(model)) {
		return false;
	}
	if (!dialect_has_graphs(model->dialect) ||
	    graph_has_control(model->graph)) {
		model->options.form = "aot";
	}
	return true;
}

static bool
build(void *ctx, const struct graph_request *r, const struct graph_build *b,
      struct graph_built *out)
{
	struct tirc *t = ctx, *model = open_model(t, r, b);
	bool ok;

	*out = (struct graph_built){ 0 };
	if (model == NULL) {
		return false;
	}
	ok = load(model, r) && choose_form(model, b) && tirc_compile(model);
	take_messages(t, model);
	if (ok) {
		collect(model, out);
	}
	return ok;
}

static bool
run(void *ctx, const struct graph_request *r, const void *const *inputs,
    void *const *outputs)
{
	struct tirc *t = ctx, *model = open_model(t, r, NULL);
	bool ok;

	if (model == NULL) {
		return false;
	}
	ok = load(model, r) && tirc_interpret(model, inputs, outputs);
	take_messages(t, model);
	/* the caller owns the results */
	tirc_free(model);
	t->models.n--;
	return ok;
}

struct graph_services
context_graph_services(struct tirc *t)
{
	return (struct graph_services){ .ctx = t,
					.find = find,
					.has_backend = has_backend,
					.describe = describe,
					.read = read_graph,
					.types = types,
					.build = build,
					.run = run };
}

bool
context_write_model(struct tirc *t, const char *folder)
{
	struct tirc *model = t->built_model;
	bool ok;

	model->options.force = t->options.force;
	model->m->diags.list.n = 0;
	ok = tirc_write(model, folder);
	take_messages(t, model);
	return ok;
}
