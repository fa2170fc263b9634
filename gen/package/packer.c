/* SPDX-License-Identifier: Apache-2.0 */
/* Adds files to a package: renders templates, and breaks lines. */
#include "packer.h"

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
	k->out->files.data[k->out->files.n - 1].is_metadata = id ==
							      FILE_METADATA;
}

/* Is the file written in the dialect's language? */
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

const char *
source_text(struct packer *k, const struct dialect *d, struct tdata *data,
	    struct anchors *anchors)
{
	const char *text, *table = "";

	tdata_flag(data, "shortens", false);
	text = template_text(k, d, TEMPLATE_SOURCE, data, anchors);
	if (text != NULL) {
		table = long_names_table(k->names, text);
	}
	if (table[0] == '\0') {
		return text;
	}
	/* renders the source again, now with a line at the top that refers to
	 * the table of long names */
	tdata_flag(data, "shortens", true);
	anchors->list.n = 0;
	text = template_text(k, d, TEMPLATE_SOURCE, data, anchors);
	return arena_printf(k->a, "%s%s", text,
			    dialect_comments(d, k->a, table, NULL));
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
