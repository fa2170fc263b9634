/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a firmware package of a compiled model: moves the emitted files into
 * the folders of the kind of package, and renders the templates of the kind. */
#include "firmware.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data_files.h"
#include "packer.h"
#include "text.h"
#include "version.h"

/* -- models that packages do not support -- */

static bool
refuse(struct packer *k, const char *what)
{
	return diag_error(&k->m->diags, DIAG_UNSUPPORTED,
			  (struct diag_place){ .file = k->g->file },
			  "--package: %s", what);
}

static bool
compares(struct packer *k, const struct tensor *t)
{
	return !dtype_is_float(t->type) || t->type.kind == DT_F32 ||
	       t->type.kind == DT_F64 ||
	       refuse(k, arena_printf(k->a,
				      "the self-test does not compare %s; "
				      "output '%s' needs a Cast to float32",
				      dtype_name(t->type), t->name));
}

static bool
is_possible(struct packer *k)
{
	if (k->o->graph) {
		return refuse(k, "a package holds functions; leave --form "
				 "graph out");
	}
	if (package_on_device(k)) {
		return refuse(k, "a package is for a processor; choose a "
				 "target that is not a device");
	}
	if (k->p->model != NULL || k->runtime.n > 0) {
		return refuse(k,
			      "a package has no files or memory of backends; "
			      "leave --byoc out");
	}
	if (k->g->dims.n > 0) {
		return refuse(k, "the self-test has an input of fixed sizes; "
				 "give each size with --dim");
	}
	if (k->p->given_sizes.n > 0) {
		return refuse(k, "the self-test compares outputs of fixed "
				 "sizes; the model computes a size");
	}
	if (k->out->weights == WEIGHTS_FILE ||
	    k->out->weights == WEIGHTS_INCBIN) {
		return refuse(k, "a package has its weights as source; give "
				 "--weights c or section");
	}
	if (k->d->spaces[SPACE_INTERFACE] != NULL) {
		return refuse(k, "the self-test has its arrays in the "
				 "compiler's own memory; choose a dialect "
				 "without a space for the interface");
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		if (!compares(k, k->g->outputs.data[i])) {
			return false;
		}
	}
	return true;
}

/* -- stored values -- */

/* The n elements of an array as the text of an initializer, broken into lines. */
static const char *
values_text(struct packer *k, struct dtype type, const void *data, int64_t n)
{
	struct strbuf s;
	const char *text;
	int column = 0;
	bool special;

	if (k->d->types[type.kind].is_stored_only) {
		type = dtype_of(dtype_bytes(type) == 1 ? DT_U8 : DT_U16);
	}
	strbuf_init(&s);
	for (int64_t i = 0; i < n; i++) {
		const char *one = dialect_literal(k->d, k->a, type,
						  number_load(type, data,
							      (size_t)i),
						  &special);
		int length = (int)strlen(one) + 2;

		if (column == 0 || column + length > k->d->line_columns) {
			strbuf_puts(&s, i > 0 ? "\n\t" : "\t");
			column = k->d->tab_columns;
		} else {
			strbuf_puts(&s, " ");
		}
		strbuf_printf(&s, "%s,", one);
		column += length;
	}
	text = arena_strdup(k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static struct tdata *
add_tensor(struct packer *k, struct tdata *data, const char *list, int i,
	   const struct tensor *t, const char *field, const char *macro,
	   const void *values)
{
	struct tdata *row = tdata_item(data, list);
	int64_t elems = 0;

	tensor_const_elems(t, &elems);
	tdata_int(row, "index", i);
	tdata_text(row, "name", field);
	tdata_text(row, "NAME", macro);
	tdata_text(row, "type", k->d->types[t->type.kind].spelling);
	tdata_flag(row, "held", t->in_workspace);
	tdata_flag(row, "elements", elems > 0);
	tdata_text(row, "values", values_text(k, t->type, values, elems));
	return row;
}

static bool
is_finite(const struct tensor *t, const void *values)
{
	int64_t elems = 0;

	tensor_const_elems(t, &elems);
	for (int64_t i = 0; dtype_is_float(t->type) && i < elems; i++) {
		if (!isfinite(number_load(t->type, values, (size_t)i).f)) {
			return false;
		}
	}
	return true;
}

/* Adds the tolerances of a tensor to its row. A tensor of floats has an array
 * of tolerances. Integers must be equal, or, if they are quantized floats, may
 * differ by one. */
static void
add_allowed(struct packer *k, struct tdata *row, const struct tensor *t,
	    const double *allowed)
{
	int64_t elems = 0;
	bool is_float = dtype_is_float(t->type);
	unsigned char *bytes;

	tensor_const_elems(t, &elems);
	bytes = arena_alloc(k->a, (size_t)elems * sizeof(double) + 1);
	for (int64_t i = 0; is_float && i < elems; i++) {
		number_store(t->type, bytes, (size_t)i,
			     (union number){ .f = allowed[i] });
	}
	tdata_flag(row, "float", is_float);
	tdata_flag(row, "exact", !is_float && (elems == 0 || allowed[0] < 1));
	tdata_flag(row, "step", !is_float && elems > 0 && allowed[0] >= 1);
	tdata_text(row, "allowed",
		   is_float ? values_text(k, t->type, bytes, elems) : "");
}

/* -- constants -- */

/* The first element of an array of weights: "conv_w[0][0]", or "conv_w[0]" in a
 * dialect with flat arrays. */
static const char *
first_element(struct packer *k, int i)
{
	const struct buffer *b = k->p->weights.data[i]->buffer;
	int n = k->d->functions.flat || b->ndim == 0 ? 1 : b->ndim;
	const char *text = k->weight_symbols[i];

	for (int j = 0; j < n; j++) {
		text = arena_printf(k->a, "%s[0]", text);
	}
	return text;
}

/* Adds a row for the function that computes the digests of arrays of this
 * type. */
static void
add_digest_type(struct packer *k, struct tdata *data, struct dtype type)
{
	const struct spelled_type *s = &k->d->types[type.kind];
	struct tdata *row = tdata_item(data, "constant_types");

	tdata_text(row, "type", s->spelling);
	tdata_text(row, "short", dtype_short(type));
	tdata_text(row, "space", k->d->spaces[SPACE_WEIGHTS]);
	tdata_int(row, "bytes", dtype_bytes(type));
	tdata_int(row, "bits", 8 * dtype_bytes(type));
	tdata_flag(row, "copied", dtype_is_float(type) && !s->is_stored_only);
}

/* Adds the constants of the model and the digests of their elements. */
static void
add_constants(struct packer *k, struct tdata *data)
{
	bool seen[DT_COUNT] = { false };
	struct unit u;

	unit_init(&u, k->m, k->d);
	tdata_list(data, "constants");
	tdata_list(data, "constant_types");
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		struct dtype type = w->buffer->type;
		struct tdata *row = tdata_item(data, "constants");

		if (!seen[type.kind]) {
			add_digest_type(k, data, type);
			seen[type.kind] = true;
		}
		tdata_text(row, "declaration",
			   weight_line(k, i, k->d->weights.declare, &u));
		tdata_text(row, "start", first_element(k, i));
		tdata_text(row, "short", dtype_short(type));
		tdata_int(row, "elements", w->bytes / dtype_bytes(type));
		tdata_anchored(row, "digest", DIGEST_UNKNOWN,
			       ANCHOR_WEIGHT_DIGEST, i, 0);
	}
	tdata_text(data, "weights_header",
		   weights_have_header(k) ? k->files[FILE_WEIGHTS_HEADER]
					  : NULL);
}

/* -- the self-test -- */

/* The name of the tensor that has the place `at` in the entry function; if this
 * tensor has no name, that of a view of it; if no view has one, "inner
 * tensor". */
static const char *
left_name(struct packer *k, const struct placement *at)
{
	const char *name = place_name(at);

	for (int i = 0; name == NULL && i < k->p->plan.places.n; i++) {
		const struct placement *other = &k->p->plan.places.data[i];

		if (other->tensor != NULL &&
		    graph_view_root(k->g, other->tensor) == at->tensor) {
			name = place_name(other);
		}
	}
	return name != NULL ? name : "inner tensor";
}

/* Adds the inner tensors whose elements are still in the workspace after a run.
 * A tensor with a NaN or an infinity is left out. */
static void
add_left(struct packer *k, struct tdata *data, const struct self_test *s)
{
	tdata_list(data, "inner");
	for (int i = 0; i < s->n_left; i++) {
		const struct tensor *t = s->left[i]->tensor;
		int number = k->g->outputs.n + i;
		const void *values = s->outputs[number];
		int64_t elems = 0;
		struct tdata *row;

		if (!is_finite(t, values)) {
			continue;
		}
		tensor_const_elems(t, &elems);
		row = tdata_item(data, "inner");
		tdata_int(row, "index", number);
		tdata_text(row, "name", left_name(k, s->left[i]));
		tdata_text(row, "type", k->d->types[t->type.kind].spelling);
		tdata_printf(row, "count", "%" PRId64 "ul", elems);
		tdata_printf(row, "offset", "%" PRId64 "u",
			     s->left[i]->offset_bytes);
		tdata_text(row, "values",
			   values_text(k, t->type, values, elems));
		add_allowed(k, row, t, s->allowed[number]);
	}
}

static bool
add_self_test(struct packer *k, struct tdata *data, const struct self_test *s)
{
	add_constants(k, data);
	tdata_list(data, "inputs");
	tdata_list(data, "outputs");
	for (int i = 0; i < k->g->inputs.n; i++) {
		add_tensor(k, data, "inputs", i, k->g->inputs.data[i],
			   k->input_fields[i], k->input_macros[i],
			   s->inputs[i]);
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		const struct tensor *t = k->g->outputs.data[i];
		struct tdata *row = add_tensor(k, data, "outputs", i, t,
					       k->output_fields[i],
					       k->output_macros[i],
					       s->outputs[i]);

		if (!is_finite(t, s->outputs[i])) {
			return refuse(
				k,
				arena_printf(k->a,
					     "output '%s' has an element "
					     "that is not a finite number for "
					     "the input of the self-test; "
					     "put a test_data_set_0 beside "
					     "the model",
					     t->name));
		}
		tdata_printf(row, "count", "%s_%s_COUNT", k->upper,
			     k->output_macros[i]);
		add_allowed(k, row, t, s->allowed[i]);
	}
	add_left(k, data, s);
	return true;
}

/* -- files -- */

static const char *
folder_of(const struct packer *k, const struct firmware_kind *kind,
	  const struct out_file *f)
{
	return f->is_source                         ? kind->sources
	       : text_ends_in(f->name, ".h")        ? kind->headers
	       : f->name == k->files[FILE_MAKEFILE] ? NULL
	       : f->name == k->files[FILE_CMAKE]    ? NULL
						    : kind->reports;
}

/* Changes k's records from the file `name` to the file `path`, to which the
 * file of kernels is moved. */
static void
move_kernels(struct packer *k, const char *name, const char *path)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		struct source_place *at = &k->kernel_places[i];

		if (at->file != NULL && strcmp(at->file, name) == 0) {
			at->file = path;
		}
	}
}

/* Moves the emitted files into their folders, and lists sources and headers for
 * the templates. Leaves out the metadata, which is made again when the paths of
 * all files are known. */
static void
move_emitted(struct packer *k, const struct firmware_kind *kind,
	     struct tdata *data)
{
	int n = 0;

	tdata_list(data, "sources");
	tdata_list(data, "headers");
	for (int i = 0; i < k->out->files.n; i++) {
		struct out_file f = k->out->files.data[i];
		const char *folder = folder_of(k, kind, &f);

		if (folder == NULL || f.is_metadata) {
			continue;
		}
		if (f.is_source || text_ends_in(f.name, ".h")) {
			tdata_text(tdata_item(data, f.is_source ? "sources"
								: "headers"),
				   "file", f.name);
		}
		move_kernels(k, f.name, packer_below(k, folder, f.name));
		f.name = packer_below(k, folder, f.name);
		k->out->files.data[n++] = f;
	}
	k->out->files.n = n;
	k->out->cc_line = packer_cc_line(k, kind->sources, kind->headers);
}

static bool
add_facts(struct packer *k, struct tdata *data)
{
	const char *toolchain = k->p->target->simulator.toolchain;

	tdata_outer(data, k->data);
	tdata_text(data, "tirc_version", version_text());
	tdata_text(data, "workspace_type",
		   k->p->plan.parts.n > 0 ? "struct" : "union");
	tdata_flag(data, "cross", strcmp(k->p->target->cc, "cc") != 0);
	tdata_list(data, "toolchain");
	if (toolchain != NULL && toolchain[0] != '\0') {
		tdata_text(tdata_item(data, "toolchain"), "file", toolchain);
	}
	return add_words(k, data, "cc", k->p->target->cc) &&
	       add_words(k, data, "cflags", k->cflags) &&
	       add_words(k, data, "ldflags", k->ldflags);
}

static bool
render(struct packer *k, const char *file, const char *text,
       const struct tdata *data, const char **out, struct anchors *anchors)
{
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = template_render_anchored(&k->m->diags, file, NULL, text, data, &s,
				      anchors);
	*out = arena_strdup(k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return ok;
}

/* Renders a template of the kind, and the path of the file to make, which is a
 * template too, and adds the file to the package. Fragments that all templates
 * may use are appended to the template. Returns false after a diagnostic. */
static bool
add_filled(struct packer *k, const struct firmware_kind *kind,
	   const struct firmware_file *f, const struct tdata *data)
{
	struct anchors anchors = { .arena = k->a };
	const char *file, *name, *text;
	const char *shared = data_file(k->m, NULL, "packages/fragments.tmpl",
				       &file);

	if (!render(k, kind->file, f->to, data, &name, NULL) ||
	    !render(k, f->file,
		    arena_printf(k->a, "%s%s", f->text,
				 shared != NULL ? shared : ""),
		    data, &text, &anchors)) {
		return false;
	}
	if (!firmware_stays_below(name)) {
		return refuse(k, arena_printf(k->a,
					      "the file '%s' is not below the "
					      "package",
					      name));
	}
	if (text_ends_in(name, ".c") || text_ends_in(name, ".h")) {
		text = dialect_comments(k->d, k->a, text, &anchors);
	}
	add_named_file(k, name, OUT_TEXT, text, &anchors);
	return true;
}

bool
firmware_arrange(struct package *pkg, const struct firmware_kind *kind,
		 const struct self_test *values)
{
	struct packer *k = pkg->packer;
	struct tdata *data = tdata_new(k->a);

	if (!is_possible(k) || !add_facts(k, data)) {
		return false;
	}
	move_emitted(k, kind, data);
	if (!add_self_test(k, data, values)) {
		return false;
	}
	for (int i = 0; i < kind->files.n; i++) {
		if (!add_filled(k, kind, &kind->files.data[i], data)) {
			return false;
		}
	}
	if (kind->reports != NULL) {
		k->files[FILE_METADATA] = packer_below(k, kind->reports,
						       k->files[FILE_METADATA]);
		add_metadata(k);
	}
	return kind->next == NULL ||
	       render(k, kind->file, kind->next, data, &pkg->next, NULL);
}
