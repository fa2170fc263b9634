/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the form and the layout of the weights: weights are in the source, or
 * in a file of bytes that the assembler includes or the caller loads. The bytes
 * are computed when the files are written. */
#include <math.h>

#include "comment_text.h"
#include "package.h"
#include "packer.h"
#include "plan.h"
#include "provenance.h"

static enum weights_form
choose_form(struct packer *k, int64_t bytes)
{
	if (k->p->weights.n == 0) {
		return WEIGHTS_AUTO;
	}
	if (k->o->graph) {
		return WEIGHTS_FILE;
	}
	if (k->o->weights != WEIGHTS_AUTO) {
		return k->o->weights;
	}
	return bytes <= k->d->weights.in_source_bytes ? WEIGHTS_C
						      : k->d->weights.large;
}

/* The least number of bytes that are written for the constants. In a source
 * file, each element takes at least a digit and a comma. */
static int64_t
least_bytes(const struct packer *k)
{
	int64_t bytes = 0;

	if (k->out->weights != WEIGHTS_C &&
	    k->out->weights != WEIGHTS_SECTION) {
		return k->blob_bytes;
	}
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];

		bytes += 2 * (w->bytes / dtype_bytes(w->buffer->type));
	}
	return bytes;
}

bool
weights_layout(struct packer *k)
{
	static const char *const words[] = {
		"auto", "c", "incbin", "file", "section",
	};
	int64_t align = k->p->target->align_bytes;
	int64_t at = BLOB_HEADER_BYTES;
	struct diag_place place = { .file = k->d->file };
	struct diag_place model = { .file = k->g->file };

	for (int i = 0; i < k->p->weights.n; i++) {
		struct weight *w = k->p->weights.data[i];

		at = (at + align - 1) / align * align;
		w->offset_bytes = at;
		at += w->bytes;
		k->out->weights_bytes += w->bytes;
		if (dialect_type(k->kernels, w->buffer->type) == NULL) {
			return false;
		}
	}
	k->blob_bytes = at;
	k->out->weights = choose_form(k, k->out->weights_bytes);
	if (!quota_check_output(k->m, model, "the model's constants",
				least_bytes(k))) {
		return false;
	}
	if (k->out->weights == WEIGHTS_AUTO ||
	    k->d->weights.forms[k->out->weights]) {
		return true;
	}
	return diag_error(&k->m->diags, DIAG_BAD_OPTION, place,
			  "dialect %s does not support weights as '%s'; "
			  "choose another form",
			  k->d->name, words[k->out->weights]);
}

/* column in which the value of a row in a comment begins */
enum { ROW_START = 3 };

/* stands for a space at which a line must not be broken */
#define TOGETHER '\t'

/* The nodes that were folded into t: "Mul_4, BatchNormalization_5". */
static const char *
folded_text(struct packer *k, const struct tensor *t, struct long_names *names)
{
	struct origin_list l = provenance_of_constant(k->a, t);
	const char *text;
	struct strbuf s;

	strbuf_init(&s);
	for (int i = 0; i < l.list.n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? ", " : "",
			      long_names_show(names,
					      origin_label(k->g,
							   l.list.data[i])));
	}
	text = arena_strdup(k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

void
add_weight_note(struct packer *k, struct tdata *row, int i, bool with_digest,
		const char *indent, struct long_names *names)
{
	const struct weight *w = k->p->weights.data[i];
	const char *index = provenance_index(k->p, w);
	const char *folded = folded_text(k, w->tensor, names), *text;
	const char *recipe = provenance_recipe(k->a, w->tensor);
	struct strbuf s;

	text = arena_printf(k->a, "%s%s%s%s%s%s",
			    names != NULL
				    ? long_names_show_quoted(names, recipe)
				    : recipe,
			    folded[0] != '\0' ? "; of " : "", folded,
			    index != NULL ? "; element " : "",
			    index != NULL ? index : "",
			    w->paired ? ", two in a byte" : "");
	text = comment_text(k->a, k->d, text);
	if (with_digest) {
		text = arena_printf(k->a, "%s; digest%c%s", text, TOGETHER,
				    DIGEST_UNKNOWN);
	}
	text = comment_wrap(k->a, k->d, text, ROW_START);
	strbuf_init(&s);
	for (const char *c = text; *c != '\0'; c++) {
		strbuf_putc(&s, *c == TOGETHER ? ' ' : *c);
		if (*c == '\n') {
			/* all rows of a note begin in the same column, after
			 * the indentation and the label */
			strbuf_puts(&s, indent);
			strbuf_printf(&s, "%.*s", ROW_START, c + 1);
			c += strlen(k->d->comment_line);
		}
	}
	text = arena_strdup(k->a, s.data);
	if (with_digest) {
		tdata_anchored(row, "note", text, ANCHOR_WEIGHT_DIGEST, i,
			       s.len - strlen(DIGEST_UNKNOWN));
	} else {
		tdata_text(row, "note", text);
	}
	strbuf_release(&s);
}

const char *
weight_line(struct packer *k, int i, const char *text, struct unit *u)
{
	const struct buffer *b = k->p->weights.data[i]->buffer;
	struct tdata *data = tdata_new(k->a);
	int align = k->p->target->align_bytes;
	int64_t extent;

	unit_need_type(u, b->type);
	tdata_text(data, "type", k->d->types[b->type.kind].spelling);
	tdata_text(data, "space", k->d->spaces[SPACE_WEIGHTS]);
	tdata_text(data, "name", k->weight_symbols[i]);
	tdata_int(data, "align",
		  b->align_bytes > align ? b->align_bytes : align);
	tdata_text(data, "section",
		   k->out->weights == WEIGHTS_SECTION
			   ? k->o->section != NULL ? k->o->section : ""
			   : NULL);
	tdata_printf(data, "macro", "%s_SECTION", k->upper);
	tdata_list(data, "extents");
	if (k->d->functions.flat && b->ndim > 0) {
		tdata_text(tdata_item(data, "extents"), "extent",
			   unit_elements(k->a, b));
	}
	for (int j = 0; j < b->ndim && !k->d->functions.flat; j++) {
		if (!expr_is_int(b->shape[j], &extent) || extent < 1) {
			extent = 1;
		}
		tdata_int(tdata_item(data, "extents"), "extent", extent);
	}
	if (b->ndim == 0) {
		tdata_int(tdata_item(data, "extents"), "extent", 1);
	}
	return packer_render(k, text, data);
}

/* -- values that need a header -- */

struct finite_check {
	struct dtype type;
	bool special;
};

static bool
check_finite(void *ctx, const void *bytes, size_t n)
{
	struct finite_check *c = ctx;
	size_t count = n / (size_t)dtype_bytes(c->type);

	for (size_t i = 0; i < count && !c->special; i++) {
		c->special = !isfinite(number_load(c->type, bytes, i).f);
	}
	return true;
}

static bool
need_special(struct packer *k, struct unit *u)
{
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		struct finite_check check = { .type = w->buffer->type };

		if (!dtype_is_float(check.type) ||
		    k->d->types[check.type.kind].is_stored_only) {
			continue;
		}
		if (!weight_stream(k->g, w, check_finite, &check)) {
			return false;
		}
		if (check.special) {
			unit_literal(u, check.type,
				     (union number){ .f = INFINITY });
		}
	}
	return true;
}

/* -- files -- */

/* Adds the file that defines the weights as arrays of C, and sets
 * k->out->definitions to its lines. Returns false after a diagnostic. */
static bool
add_arrays(struct packer *k)
{
	struct tdata *data = tdata_new(k->a);
	const char **lines = arena_array(k->a, const char *,
					 k->p->weights.n + 1);
	struct unit u;

	unit_init(&u, k->m, k->d);
	tdata_outer(data, k->data);
	tdata_list(data, "section");
	tdata_list(data, "weights");
	for (int i = 0; i < k->p->weights.n; i++) {
		struct tdata *row = tdata_item(data, "weights");

		lines[i] = weight_line(k, i, k->d->weights.define, &u);
		add_weight_note(k, row, i, false, "", NULL);
		tdata_text(row, "declaration",
			   weight_line(k, i, k->d->weights.declare, &u));
	}
	k->out->definitions = lines;
	if (k->out->weights == WEIGHTS_SECTION) {
		struct tdata *macro = tdata_new(k->a);

		tdata_printf(macro, "macro", "%s_SECTION", k->upper);
		for (int i = 0; i < k->d->weights.section.n; i++) {
			tdata_text(tdata_item(data, "section"), "line",
				   packer_render(k,
						 k->d->weights.section.data[i],
						 macro));
		}
	}
	if (!need_special(k, &u)) {
		return false;
	}
	unit_add_includes(&u, data);
	return add_template_file(k, TEMPLATE_WEIGHTS, data, FILE_WEIGHTS,
				 OUT_WEIGHTS_TEXT);
}

/* Adds the header that declares the weights, if the dialect has one. */
bool
add_weights_header(struct packer *k)
{
	struct tdata *data = tdata_new(k->a);
	struct unit u;

	if (!weights_have_header(k)) {
		return true;
	}
	unit_init(&u, k->m, k->d);
	tdata_outer(data, k->data);
	tdata_list(data, "weights");
	for (int i = 0; i < k->p->weights.n; i++) {
		struct tdata *row = tdata_item(data, "weights");

		add_weight_note(k, row, i, true, "", NULL);
		tdata_text(row, "declaration",
			   weight_line(k, i, k->d->weights.declare, &u));
	}
	unit_add_includes(&u, data);
	return add_template_file(k, TEMPLATE_WEIGHTS_HEADER, data,
				 FILE_WEIGHTS_HEADER, OUT_TEXT);
}

bool
weights_have_header(const struct packer *k)
{
	return k->d->weights.header && k->p->weights.n > 0 &&
	       (k->out->weights == WEIGHTS_C ||
		k->out->weights == WEIGHTS_SECTION);
}

static bool
add_incbin(struct packer *k)
{
	struct tdata *data = tdata_new(k->a);

	tdata_outer(data, k->data);
	tdata_list(data, "weights");
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		struct tdata *item = tdata_item(data, "weights");

		tdata_text(item, "symbol", k->weight_symbols[i]);
		tdata_int(item, "align", k->p->target->align_bytes);
		tdata_int(item, "offset", w->offset_bytes);
		tdata_int(item, "bytes", w->bytes);
	}
	return add_template_file(k, TEMPLATE_INCBIN, data, FILE_INCBIN,
				 OUT_TEXT);
}

bool
add_weights(struct packer *k)
{
	switch (k->out->weights) {
	case WEIGHTS_C:
	case WEIGHTS_SECTION:
		return add_arrays(k);
	case WEIGHTS_INCBIN:
		if (!add_incbin(k)) {
			return false;
		}
		break;
	case WEIGHTS_FILE:
		break;
	default:
		return true;
	}
	add_file(k, FILE_BLOB, OUT_WEIGHTS_BLOB, NULL, NULL);
	return true;
}
