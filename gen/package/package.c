/* SPDX-License-Identifier: Apache-2.0 */
/* All files of a compiled program: their names, the data common to all
 * templates, and the files in order. */
#include "package.h"
#include "comment_text.h"
#include "json_read.h"
#include "kernel.h"
#include "kernels.h"
#include "packer.h"
#include "plan.h"
#include "process.h"
#include "text.h"

#define FLAGS_COLUMN 14 /* the column of a banner's rows */

const char *
packer_render(struct packer *k, const char *text, const struct tdata *data)
{
	struct strbuf s;
	const char *result = "";

	strbuf_init(&s);
	if (template_render(&k->m->diags, k->d->file, text, text, data, &s) &&
	    s.data != NULL) {
		result = arena_strdup(k->a, s.data);
	}
	strbuf_release(&s);
	return result;
}

const char *
add_named_file(struct packer *k, const char *name, enum out_kind kind,
	       const char *text, const struct anchors *anchors)
{
	struct out_file f = { .name = name, .kind = kind };

	if (text != NULL) {
		struct strbuf s;
		struct layout l = dialect_layout(k->d, &s, true, false);

		if (anchors != NULL) {
			f.anchors = *anchors;
		}
		strbuf_init(&s);
		if (layout_has_marks(text)) {
			layout_text(&l, text, &f.anchors);
			text = s.data != NULL ? s.data : "";
		}
		f.text = arena_strdup(k->a, text);
		f.length = strlen(text);
		strbuf_release(&s);
		places_find(k, name, f.text, &f.anchors);
	} else {
		f.length = (size_t)k->blob_bytes;
	}
	vec_push(k->a, &k->out->files, f);
	return f.text;
}

void
add_file(struct packer *k, enum file_id id, enum out_kind kind,
	 const char *text, const struct anchors *anchors)
{
	add_named_file(k, k->files[id], kind, text, anchors);
	k->out->files.data[k->out->files.n - 1].is_source =
		id == FILE_SOURCE || id == FILE_WEIGHTS || id == FILE_INCBIN ||
		id == FILE_PROGRAM;
}

/* Is the file in the dialect's language? */
static bool
is_source(enum template_id id)
{
	return id != TEMPLATE_MAKEFILE && id != TEMPLATE_CMAKE &&
	       id != TEMPLATE_INCBIN && id != TEMPLATE_COMPLIANCE;
}

const char *
template_text(struct packer *k, const struct dialect *d, enum template_id id,
	      const struct tdata *data, struct anchors *anchors)
{
	const struct dialect_template *t = &d->templates[id];
	const char *text = NULL;
	struct strbuf s;

	strbuf_init(&s);
	if (template_render_anchored(&k->m->diags, t->file, NULL, t->text, data,
				     &s, anchors)) {
		text = arena_strdup(k->a, s.data != NULL ? s.data : "");
		if (is_source(id)) {
			text = dialect_comments(d, k->a, text, anchors);
		}
	}
	strbuf_release(&s);
	return text;
}

bool
add_template_file(struct packer *k, enum template_id id,
		  const struct tdata *data, enum file_id file,
		  enum out_kind kind)
{
	struct anchors anchors = { .arena = k->a };
	const char *text = template_text(k, k->d, id, data, &anchors);

	if (text != NULL) {
		add_file(k, file, kind, text, &anchors);
	}
	return text != NULL;
}

/* -- data for all templates -- */

static const char *
file_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void
add_origin(struct packer *k)
{
	const char *file = k->g->model != NULL  ? k->g->model
			   : k->g->file != NULL ? file_part(k->g->file)
						: "a graph";
	const char *digest = k->g->digest != NULL && k->g->digest[0] != '\0'
				     ? arena_printf(k->a, " (sha256 %s...)",
						    k->g->digest)
				     : "";

	tdata_text(k->data, "origin",
		   comment_text(k->a, k->d,
				arena_printf(k->a,
					     "from %s%s, tirc %s, target %s",
					     file, digest, k->o->version,
					     k->p->target->name)));
}

/* Libraries prefer the alignment of cache lines. */
#define LIBRARY_ALIGN 64

int64_t
planned_align(const struct packer *k)
{
	return k->p->plan.align_bytes > 0 ? k->p->plan.align_bytes
					  : k->p->target->align_bytes;
}

int64_t
workspace_align(const struct packer *k)
{
	int64_t align = planned_align(k);

	return k->p->model != NULL && align < LIBRARY_ALIGN ? LIBRARY_ALIGN
							    : align;
}

/* The branches that no run may take (gen/onnx/impossible.c). */
static void
add_refused(struct packer *k, struct tdata *d)
{
	tdata_list(d, "refused");
	for (int i = 0; i < k->g->nodes.n; i++) {
		const struct node *n = k->g->nodes.data[i];
		const struct attr *a = node_attr(n, "refused");

		if (node_run_sizes(n) >= 0 && a != NULL &&
		    a->kind == ATTR_STRING) {
			tdata_text(tdata_item(d, "refused"), "branch",
				   comment_text(k->a, k->d, a->s));
		}
	}
}

static void
add_common(struct packer *k)
{
	struct tdata *d = k->data;
	bool file = k->out->weights == WEIGHTS_FILE;
	int octets = k->d->char_bits / 8; /* of a C byte */

	for (int i = 0; i < k->p->kernels.n; i++) {
		int64_t bytes = k->p->kernels.data[i]->local_bytes;

		k->local_bytes = bytes > k->local_bytes ? bytes
							: k->local_bytes;
	}
	package_find_array_align(k);
	tdata_int(d, "local_bytes", k->local_bytes / octets);
	tdata_flag(d, "octets", octets == 1);
	tdata_int(d, "int_bits", k->d->int_bits);
	tdata_text(d, "float_type", k->d->types[DT_F32].spelling);
	tdata_text(d, "model", k->model);
	tdata_text(d, "flags",
		   comment_wrap(k->a, k->d, comment_text(k->a, k->d, k->cflags),
				FLAGS_COLUMN));
	tdata_text(d, "link_libraries",
		   comment_text(k->a, k->d, k->library_ldflags));
	tdata_text(d, "MODEL", k->upper);
	add_origin(k);
	tdata_text(d, "unit", k->d->access.unit);
	tdata_text(d, "workspace_space", k->d->spaces[SPACE_WORKSPACE]);
	tdata_text(d, "interface_space", k->d->spaces[SPACE_INTERFACE]);
	tdata_int(d, "workspace_bytes", k->p->plan.workspace_bytes / octets);
	tdata_int(d, "bound_bytes", k->p->plan.bound_bytes / octets);
	tdata_int(d, "weights_bytes", k->out->weights_bytes / octets);
	tdata_int(d, "blob_bytes", k->blob_bytes);
	tdata_int(d, "align", workspace_align(k) / octets);
	tdata_int(d, "weights_align", k->p->target->align_bytes);
	tdata_text(d, "header", k->files[FILE_HEADER]);
	tdata_text(d, "blob", k->files[FILE_BLOB]);
	tdata_text(d, "graph_file", k->files[FILE_GRAPH]);
	tdata_text(d, "compliance", k->files[FILE_COMPLIANCE]);
	tdata_flag(d, "file", file);
	tdata_flag(d, "graph", k->o->graph);
	tdata_flag(d, "tasks", k->d->tasks.used);
	if (package_on_device(k)) {
		add_device_counts(k);
	}
	tdata_flag(d, "weighs", k->p->weights.n > 0);
	tdata_flag(d, "workspace", k->p->plan.workspace_bytes > 0);
	tdata_flag(d, "has_dims", k->g->dims.n > 0 || k->p->bad_size != NULL);
	tdata_flag(d, "more",
		   file || k->g->dims.n > 0 || k->p->bad_size != NULL ||
			   k->p->model != NULL);
	regions_common(k, d);
	tdata_int(d, "order_offset", BLOB_ORDER_OFFSET);
	tdata_int(d, "digest_offset", BLOB_DIGEST_OFFSET);
	tdata_int(d, "values_offset", BLOB_HEADER_BYTES);
	tdata_printf(d, "digest_start", "%016llx", BLOB_DIGEST_START);
	tdata_printf(d, "digest_factor", "%016llx", BLOB_DIGEST_FACTOR);
	tdata_anchored(d, "digest", DIGEST_UNKNOWN, ANCHOR_WEIGHTS_DIGEST, 0,
		       0);
	tdata_text(d, "open", TEXT_OPEN);
	tdata_text(d, "close", TEXT_CLOSE);
	tdata_text(d, "br", TEXT_SPACE);
	tdata_text(d, "weights_header",
		   weights_have_header(k) ? k->files[FILE_WEIGHTS_HEADER]
					  : NULL);
	tdata_list(d, "parts");
	for (int i = 0; i < k->p->plan.parts.n; i++) {
		const struct workspace_part *part = &k->p->plan.parts.data[i];
		struct tdata *row = tdata_item(d, "parts");

		tdata_text(row, "type", k->d->types[part->type.kind].spelling);
		tdata_text(row, "name", dialect_arena_name(k->d, part->type));
		tdata_int(row, "elements", part->elems);
	}
	tdata_list(d, "dims");
	for (int i = 0; i < k->g->dims.n; i++) {
		struct dim_step given = graph_given_dim(k->g,
							k->g->dims.data[i]);
		const struct var *v = given.given;
		struct tdata *row = tdata_item(d, "dims");

		tdata_text(row, "name", k->dim_fields[i]);
		tdata_text(row, "DIM", k->dim_macros[i]);
		tdata_text(row, "multiple",
			   given.step > 1 ? arena_printf(k->a, "%lld",
							 (long long)given.step)
					  : NULL);
		tdata_text(row, "type", k->d->types[v->type.kind].spelling);
		tdata_int(row, "min", v->min);
		tdata_int(row, "max", v->max);
	}
	add_refused(k, d);
	tdata_list(d, "given_sizes");
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		const struct var *v = k->p->given_sizes.data[i].size;
		struct tdata *row = tdata_item(d, "given_sizes");

		tdata_text(row, "name", k->size_fields[i]);
		tdata_text(row, "SIZE", k->size_macros[i]);
		tdata_text(row, "type", k->d->types[v->type.kind].spelling);
		tdata_int(row, "index", i);
		tdata_int(row, "min", v->min);
		tdata_int(row, "max", v->max);
	}
}

void
add_workspace_place(struct packer *k, struct tdata *row,
		    const struct placement *at)
{
	const struct memory_plan *plan = &k->p->plan;
	struct dtype type = dtype_stored(at->tensor->type);

	tdata_int(row, "offset", at->offset_bytes / (k->d->char_bits / 8));
	for (int i = 0; i < plan->parts.n; i++) {
		const struct workspace_part *part = &plan->parts.data[i];

		if (dtype_equal(part->type, type)) {
			tdata_text(row, "array",
				   dialect_arena_name(k->d, type));
			tdata_int(row, "first_element",
				  (at->offset_bytes - part->offset_bytes) /
					  dtype_bytes(type));
		}
	}
}

/* The states that the workspace keeps: their macros, places and types. */
static void
add_states(struct packer *k)
{
	int octets = k->d->char_bits / 8;

	tdata_list(k->data, "kept");
	for (int i = 0; i < k->g->states.n; i++) {
		const struct tensor *t = k->g->states.data[i].before;
		const struct placement *at = plan_find(&k->p->plan, t);
		struct tdata *row;

		if (at == NULL) {
			continue; /* it has no elements, or no use */
		}
		row = tdata_item(k->data, "kept");
		tdata_text(row, "name",
			   comment_text(k->a, k->d, tensor_label(t)));
		tdata_text(row, "NAME", k->state_macros[i]);
		tdata_text(row, "short", short_name(t->type));
		tdata_text(row, "shape", shape_text(k, t));
		tdata_int(row, "index", i);
		add_workspace_place(k, row, at);
		tdata_int(row, "bytes", at->bytes / octets);
	}
	tdata_flag(k->data, "stateful", k->g->states.n > 0);
}

const char *
package_field(const struct package *pkg, const struct tensor *t)
{
	const struct packer *k = pkg->packer;

	for (int i = 0; k != NULL && i < k->g->inputs.n; i++) {
		if (k->g->inputs.data[i] == t) {
			return k->input_fields[i];
		}
	}
	for (int i = 0; k != NULL && i < k->g->outputs.n; i++) {
		if (k->g->outputs.data[i] == t) {
			return k->output_fields[i];
		}
	}
	return t->name;
}

const struct node_fate *
package_fates(const struct package *pkg)
{
	return packer_fates(pkg->packer);
}

const char *
package_model(const struct package *pkg)
{
	return pkg->packer->model;
}

static bool
add_header(struct packer *k)
{
	struct anchors names = { .arena = k->a }, again = names;
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = add_interface(k, "", &s, &names) && s.data != NULL;
	/* The comment at the top has the origin, which is not compared. */
	if (ok) {
		size_t body = names.list.n > 0 ? names.list.data[0].at : 0;

		tdata_printf(k->data, "version_hash", "%08x",
			     text_hash(s.data + body));
	}
	strbuf_release(&s);
	strbuf_init(&s);
	ok = ok && add_interface(k, NULL, &s, &again);
	if (ok) {
		add_file(k, FILE_HEADER, OUT_TEXT, s.data, NULL);
	}
	strbuf_release(&s);
	return ok;
}

/* -- building the package -- */

static const char *
cc_line(struct packer *k)
{
	const char *more = "";
	const char *second = k->out->weights == WEIGHTS_INCBIN
				     ? k->files[FILE_INCBIN]
			     : k->out->weights == WEIGHTS_C ||
					     k->out->weights == WEIGHTS_SECTION
				     ? k->files[FILE_WEIGHTS]
				     : "";

	for (int i = 0; i < k->runtime.n; i++) {
		if (text_ends_in(k->runtime.data[i]->name, ".c")) {
			more = arena_printf(k->a, "%s %s", more,
					    k->runtime.data[i]->name);
		}
	}
	return arena_printf(k->a, "%s %s -I. -c %s%s%s%s%s%s", k->p->target->cc,
			    k->cflags, k->files[FILE_SOURCE],
			    k->kernels != k->d ? " " : "",
			    k->kernels != k->d ? k->files[FILE_PROGRAM] : "",
			    second[0] != '\0' ? " " : "", second, more);
}

static const char *
without_ending(struct arena *a, const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? arena_strndup(a, name, (size_t)(dot - name))
			   : name;
}

static void
add_unit(struct packer *k, struct tdata *data, enum file_id file,
	 enum file_id need)
{
	struct tdata *row = tdata_item(data, "sources");

	tdata_text(row, "file", k->files[file]);
	tdata_text(row, "stem", without_ending(k->a, k->files[file]));
	tdata_list(row, "needs");
	tdata_text(tdata_item(row, "needs"), "need", k->files[need]);
}

/* Runtime files of backends are compiled, too; all sources may include their
 * headers. */
static void
add_runtime_units(struct packer *k, struct tdata *data)
{
	tdata_flag(data, "has_runtime", k->runtime.n > 0);
	tdata_list(data, "runtime_headers");
	for (int i = 0; i < k->runtime.n; i++) {
		const char *name = k->runtime.data[i]->name;
		struct tdata *row;

		if (!text_ends_in(name, ".c")) {
			tdata_text(tdata_item(data, "runtime_headers"),
				   "header", name);
			continue;
		}
		row = tdata_item(data, "sources");
		tdata_text(row, "file", name);
		tdata_text(row, "stem", without_ending(k->a, name));
		tdata_list(row, "needs");
	}
}

bool
add_words(struct packer *k, struct tdata *data, const char *list,
	  const char *text)
{
	struct command command = { 0 };

	if (text == NULL) {
		text = "";
	}
	if (!command_add(k->a, &command, text)) {
		return diag_error(&k->m->diags, DIAG_BAD_OPTION,
				  (struct diag_place){
					  .file = k->p->target->name },
				  COMMAND_QUOTE_OPEN, text);
	}
	tdata_list(data, list);
	for (int i = 0; i < command.words.n; i++) {
		tdata_text(tdata_item(data, list), "word",
			   command.words.data[i]);
	}
	return true;
}

static bool
add_build_files(struct packer *k)
{
	static const enum template_id ids[] = {
		TEMPLATE_MAKEFILE,
		TEMPLATE_CMAKE,
	};
	static const enum file_id files[] = { FILE_MAKEFILE, FILE_CMAKE };
	struct tdata *data = tdata_new(k->a);
	const char *link_options = k->p->target->ldflags;
	bool ok;

	tdata_outer(data, k->data);
	ok = add_words(k, data, "cflags", k->cflags) &&
	     add_words(k, data, "ldflags", k->ldflags) &&
	     add_words(k, data, "link_options", link_options) &&
	     add_words(k, data, "link_libraries", k->library_ldflags);
	tdata_flag(data, "has_link_options",
		   link_options != NULL && link_options[0] != '\0');
	tdata_flag(data, "assembles", k->out->weights == WEIGHTS_INCBIN);
	tdata_list(data, "sources");
	add_unit(k, data, FILE_SOURCE, FILE_HEADER);
	if (k->kernels != k->d) {
		add_unit(k, data, FILE_PROGRAM, FILE_HEADER);
	}
	if (k->out->weights == WEIGHTS_INCBIN) {
		add_unit(k, data, FILE_INCBIN, FILE_BLOB);
	} else if (k->out->weights == WEIGHTS_C ||
		   k->out->weights == WEIGHTS_SECTION) {
		add_unit(k, data, FILE_WEIGHTS, FILE_HEADER);
	}
	add_runtime_units(k, data);
	for (int i = 0; ok && i < 2; i++) {
		tdata_text(data, "self", k->files[files[i]]);
		ok = add_template_file(k, ids[i], data, files[i], OUT_TEXT);
	}
	return ok;
}

/* A host program launches a device's kernels, in the same or another
 * dialect. */
static bool
choose_host(struct packer *k, const struct emit_options *o)
{
	const struct device_forms *f = &k->kernels->device;
	struct diag_place place = { .file = k->kernels->file };

	if (!package_on_device(k)) {
		return true;
	}
	if (k->g->states.n > 0 && f->host != NULL) {
		return diag_error(
			&k->m->diags, DIAG_UNSUPPORTED, place,
			"states are not supported where a device has a buffer "
			"for each tensor; choose another target");
	}
	if (f->model_launch == NULL && f->host == NULL) {
		return diag_error(
			&k->m->diags, DIAG_UNSUPPORTED, place,
			"dialect %s is for the kernels of tensor programs; "
			"choose another target for a whole model",
			k->kernels->name);
	}
	if (o->profile) {
		return diag_error(
			&k->m->diags, DIAG_BAD_OPTION, place,
			"--profile measures processors; use the vendor's "
			"profiler for kernels of a device");
	}
	if (f->host != NULL) {
		k->d = dialect_load(k->m, f->host, k->kernels->dir);
	}
	return k->d != NULL;
}

/* The header lists the functions that the source calls, so it is made after the
 * source, but precedes it in the list. The source of the graph form has the
 * version of its header. */
static bool
add_interface_files(struct packer *k)
{
	int at = k->out->files.n;
	struct out_file header;

	if (k->o->graph) {
		return add_graph_header(k) && add_source(k);
	}
	if (!add_source(k)) {
		return false;
	}
	tdata_text(k->data, "libm",
		   math_functions(k, k->out->files.data[k->out->files.n - 1]
					     .text));
	if (!add_header(k)) {
		return false;
	}
	header = k->out->files.data[k->out->files.n - 1];
	for (int i = k->out->files.n - 1; i > at; i--) {
		k->out->files.data[i] = k->out->files.data[i - 1];
	}
	k->out->files.data[at] = header;
	return true;
}

static void
find_writers(struct packer *k)
{
	k->first_writer = arena_array(k->a, const struct kernel *,
				      k->g->tensors.n + 1);
	for (int i = k->p->kernels.n - 1; i >= 0; i--) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int a = 0; a < kernel->args.n; a++) {
			const struct kernel_arg *arg = &kernel->args.data[a];

			if (arg->tensor != NULL && arg->written) {
				k->first_writer[arg->tensor->id] = kernel;
			}
		}
	}
}

bool
package_build(struct program *p, const struct dialect *d,
	      const struct emit_options *o, struct package *out)
{
	struct packer *k = arena_new(&p->graph->module->arena, struct packer);

	memset(out, 0, sizeof *out);
	*k = (struct packer){
		.p = p, .g = p->graph, .d = d, .kernels = d, .out = out
	};
	k->m = p->graph->module;
	k->a = &k->m->arena;
	k->o = arena_copy(k->a, o, sizeof *o); /* the harness uses it later */
	if (!choose_host(k, o) || (o->graph && !graph_form_allowed(k)) ||
	    (o->profile && !profile_allowed(k))) {
		return false;
	}
	out->dialect = k->d;
	out->packer = k;
	k->data = tdata_new(k->a);
	k->kernel_of = arena_array(k->a, const struct kernel *,
				   k->g->groups.n + 1);
	for (int i = 0; i < p->kernels.n; i++) {
		k->kernel_of[p->kernels.data[i]->group->id] =
			p->kernels.data[i];
	}
	find_writers(k);
	k->kernel_places = arena_array(k->a, struct source_place,
				       p->kernels.n + 1);
	regions_prepare(k);
	name_everything(k);
	if (!weights_layout(k) || !limits_check(k)) {
		return false;
	}
	out->cc_line = cc_line(k);
	out->cflags = k->cflags;
	out->ldflags = k->ldflags;
	out->library_cflags = k->library_cflags;
	if (o->profile) {
		add_profile_calls(k);
	}
	add_common(k);
	add_states(k);
	if ((k->kernels != k->d && !add_kernels_file(k)) ||
	    (o->graph && !graph_form_describe(k)) || !add_interface_files(k) ||
	    !add_weights_header(k) || !add_weights(k) ||
	    !regions_add_runtime(k) || !add_build_files(k) ||
	    !add_compliance(k)) {
		return false;
	}
	add_metadata(k);
	return k->m->diags.n_errors == 0;
}

/* -- the harness -- */

static void
add_io(struct packer *k, struct tdata *data, const char *list, int i,
       const struct tensor *t, const char *field, const char *macro)
{
	struct tdata *row = tdata_item(data, list);

	tdata_text(row, "type", k->d->types[t->type.kind].spelling);
	tdata_int(row, "index", i);
	tdata_text(row, "name", field);
	tdata_text(row, "NAME", macro);
	tdata_flag(row, "held", t->in_workspace);
}

/* Sizes of the arrays for the measurement of bandwidth: half of each cache, and
 * the model's data, or more than the caches hold. */
static void
add_profile(struct packer *k, struct tdata *data)
{
	const struct target *t = k->p->target;
	int64_t l1 = t->l1_bytes > 0 ? t->l1_bytes : 32768;
	int64_t l2 = t->l2_bytes > 0 ? t->l2_bytes : 8 * l1;
	int64_t all = k->out->weights_bytes + k->p->plan.workspace_bytes;
	const int64_t most = INT64_C(256) << 20;

	all = all < 4 * l2 ? 4 * l2 : all > most ? most : all;
	tdata_int(data, "kernels", k->p->kernels.n);
	tdata_int(data, "l1_bytes", l1 / 2);
	tdata_int(data, "l2_bytes", l2 / 2);
	tdata_int(data, "all_bytes", all);
}

/* Adds the runtime of tasks. */
static bool
add_runtime(struct packer *k, struct tdata *data)
{
	const char *file;
	const char *text = data_file(k->m, NULL,
				     arena_printf(k->a, "runtime/%s",
						  k->d->tasks.runtime),
				     &file);
	struct diag_place place = { .file = k->d->file };

	if (text == NULL) {
		return diag_error(&k->m->diags, DIAG_BAD_DIALECT, place,
				  "/tasks/runtime: there is no %s; name a "
				  "file of runtime-c",
				  k->d->tasks.runtime);
	}
	tdata_text(data, "runtime", text);
	return true;
}

const char *
package_harness(const struct package *pkg)
{
	struct packer *k = pkg->packer;
	struct tdata *data = tdata_new(k->a);

	tdata_outer(data, k->data);
	tdata_list(data, "inputs");
	tdata_list(data, "outputs");
	tdata_list(data, "sizes");
	if (k->d->tasks.used && !add_runtime(k, data)) {
		return NULL;
	}
	tdata_list(data, "board");
	if (k->p->target->simulator.command != NULL) {
		tdata_item(data, "board");
	}
	tdata_list(data, "profile");
	if (k->o->profile) {
		add_profile(k, tdata_item(data, "profile"));
	}
	tdata_int(data, "n_arguments", 2 + k->g->dims.n);
	for (int i = 0; i < k->g->inputs.n; i++) {
		add_io(k, data, "inputs", i, k->g->inputs.data[i],
		       k->input_fields[i], k->input_macros[i]);
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		add_io(k, data, "outputs", i, k->g->outputs.data[i],
		       k->output_fields[i], k->output_macros[i]);
	}
	for (int i = 0; i < k->g->dims.n; i++) {
		struct tdata *row = tdata_item(data, "sizes");

		tdata_text(row, "name", k->dim_fields[i]);
		tdata_text(row, "type",
			   k->d->types[k->g->dims.data[i]->type.kind].spelling);
		tdata_int(row, "index", 2 + i);
	}
	return template_text(k, k->d,
			     k->o->graph ? TEMPLATE_GRAPH_HARNESS
					 : TEMPLATE_HARNESS,
			     data, NULL);
}

int
package_harness_files(const struct package *pkg)
{
	const struct packer *k = pkg->packer;

	return k->o->graph ? k->d->graph.runtime.n
			   : k->p->target->simulator.n_runtime;
}

const char *
package_harness_file(const struct package *pkg, int i, const char **name)
{
	const struct packer *k = pkg->packer;
	const char *file;

	*name = k->o->graph ? k->d->graph.runtime.data[i]
			    : k->p->target->simulator.runtime[i];
	return data_file(k->m, NULL, arena_printf(k->a, "runtime/%s", *name),
			 &file);
}

const char *
package_harness_ldflags(const struct package *pkg)
{
	const struct packer *k = pkg->packer;
	const struct simulator *s = &k->p->target->simulator;

	return k->o->graph          ? k->d->graph.ldflags
	       : s->command != NULL ? s->ldflags
				    : "";
}
