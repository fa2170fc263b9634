/* SPDX-License-Identifier: Apache-2.0 */
/* Makes all files of a compiled program: chooses their names, then makes the
 * files in their order. */
#include "packer.h"
#include "process.h"
#include "text.h"

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
	/* The hash does not cover the comment at the top, which tells the
	 * model's origin and is not a part of the interface. */
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

const char *
packer_below(struct packer *k, const char *folder, const char *name)
{
	return folder[0] == '\0' ? name
				 : arena_printf(k->a, "%s/%s", folder, name);
}

const char *
packer_cc_line(struct packer *k, const char *sources, const char *headers)
{
	const char *line = arena_printf(k->a, "%s %s -I%s -c", k->p->target->cc,
					k->cflags,
					headers[0] != '\0' ? headers : ".");
	VEC(const char *) names = { 0 };

	vec_push(k->a, &names, k->files[FILE_SOURCE]);
	if (k->kernels != k->d) {
		vec_push(k->a, &names, k->files[FILE_PROGRAM]);
	}
	if (k->out->weights == WEIGHTS_INCBIN) {
		vec_push(k->a, &names, k->files[FILE_INCBIN]);
	} else if (k->out->weights == WEIGHTS_C ||
		   k->out->weights == WEIGHTS_SECTION) {
		vec_push(k->a, &names, k->files[FILE_WEIGHTS]);
	}
	for (int i = 0; i < k->runtime.n; i++) {
		if (text_ends_in(k->runtime.data[i]->name, ".c")) {
			vec_push(k->a, &names, k->runtime.data[i]->name);
		}
	}
	for (int i = 0; i < names.n; i++) {
		line = arena_printf(k->a, "%s %s", line,
				    packer_below(k, sources, names.data[i]));
	}
	return line;
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

/* Adds the runtime files of the backends. Sources among them are compiled; all
 * sources may include the headers among them. */
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
		struct tdata *item = tdata_item(data, list);
		const char *word = command.words.data[i];

		tdata_text(item, "word", word);
		/* the word is a level of optimisation, such as -O2 */
		tdata_flag(item, "level", strncmp(word, "-O", 2) == 0);
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

/* For a model on a device, chooses the dialect of the host program that
 * launches the kernels, which may be the dialect of the kernels. Returns false
 * after a diagnostic. */
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

/* Adds the header and the source. The header lists the mathematical functions
 * that the source calls, so it is made after the source; but in the list of
 * files the header comes first. In the graph form, the source contains the
 * version of the header. */
static bool
add_interface_files(struct packer *k)
{
	int at = k->out->files.n;
	struct out_file header;

	if ((k->o->graph && !add_graph_header(k)) || !add_source(k)) {
		return false;
	}
	k->math = math_functions(k,
				 k->out->files.data[k->out->files.n - 1].text);
	if (k->o->graph) {
		return true;
	}
	tdata_text(k->data, "libm", k->math);
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
	/* a copy, because package_harness() uses the options later */
	k->o = arena_copy(k->a, o, sizeof *o);
	if (!choose_host(k, o) || (o->graph && !graph_form_allowed(k)) ||
	    (o->profile && !profile_allowed(k)) ||
	    (p->traced && !trace_allowed(k))) {
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
	tell_names(k);
	k->kernel_places = arena_array(k->a, struct source_place,
				       p->kernels.n + 1);
	regions_prepare(k);
	name_everything(k);
	if (!weights_layout(k) || !limits_check(k)) {
		return false;
	}
	out->cc_line = packer_cc_line(k, "", "");
	out->cflags = k->cflags;
	out->ldflags = k->ldflags;
	out->library_cflags = k->library_cflags;
	if (o->profile) {
		add_profile_calls(k);
	}
	add_common(k);
	add_kept_states(k);
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
