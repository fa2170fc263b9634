/* SPDX-License-Identifier: Apache-2.0 */
/* Reads dialects: merges dialect.json over the dialect.json that it extends,
 * checks and reads it by the table of its keys, then checks that it is
 * complete: every operation, type and statement that a program may contain must
 * be spelled or rejected. */
#include "dialect_keys.h"
#include "dialect_load.h"
#include "identifiers.h"
#include "json_put.h"

static const char *const modes[] = { "strict", "fast" };

/* Reads the headers and lines that the mode of --fp adds. choose_fp() has
 * merged its expressions into the dialect already. */
void
dialect_read_fp(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < 2; i++) {
		struct json row = json_get(j, modes[i]);

		if (row.value == NULL) {
			continue;
		}
		l->d->fp_modes[i] = json_get(j, "rejected").value == NULL;
		if (strcmp(l->fp, modes[i]) == 0) {
			l->d->fp_needs = json_names(json_get(row, "needs"));
			l->d->fp_before = json_names(json_get(row, "before"));
		}
	}
}

/* -- files and what they extend -- */

/* Prepares a merge: in this section, a row of `over`, a dialect, replaces the
 * whole row of its parent `base`. So removes the rows from `base` that `over`
 * has, too. */
static void
drop_rows(cJSON *base, const cJSON *over, const char *section)
{
	cJSON *rows = cJSON_GetObjectItemCaseSensitive(base, section);
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(over, section))
	{
		if (cJSON_IsObject(rows) && row->string != NULL) {
			cJSON_DeleteItemFromObjectCaseSensitive(rows,
								row->string);
		}
	}
}

/* Does the same as drop_rows for the expressions of the modes of --fp. */
static void
drop_mode_rows(cJSON *base, const cJSON *over)
{
	cJSON *base_modes = cJSON_GetObjectItemCaseSensitive(base, "fp");
	const cJSON *over_modes = cJSON_GetObjectItemCaseSensitive(over, "fp");

	for (int i = 0; i < 2; i++) {
		drop_rows(cJSON_GetObjectItemCaseSensitive(base_modes,
							   modes[i]),
			  cJSON_GetObjectItemCaseSensitive(over_modes,
							   modes[i]),
			  "expressions");
	}
}

/* Adds the reserved words of `base`, the parent, to those of the dialect. */
static void
add_reserved(cJSON *merged, const cJSON *base)
{
	cJSON *words = cJSON_GetObjectItemCaseSensitive(merged, "reserved");
	const cJSON *word;

	if (!cJSON_IsArray(words)) {
		return;
	}
	cJSON_ArrayForEach(word,
			   cJSON_GetObjectItemCaseSensitive(base, "reserved"))
	{
		cJSON_AddItemToArray(words, cJSON_Duplicate(word, true));
	}
}

/* Copies the row BYTE_FLOAT to the row of each float type of at most 8 bits
 * that has no row. */
static void
spread_byte_floats(cJSON *tree)
{
	cJSON *types = cJSON_GetObjectItemCaseSensitive(tree, "types");
	const cJSON *row = cJSON_GetObjectItemCaseSensitive(types, BYTE_FLOAT);

	for (int k = 0; row != NULL && k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);

		if (dtype_is_float(t) && dtype_bits(t) <= 8 &&
		    !cJSON_HasObjectItem(types, dtype_short(t))) {
			cJSON_AddItemToObject(types, dtype_short(t),
					      cJSON_Duplicate(row, true));
		}
	}
}

/* Loads the dialect `name` and the dialects that it extends, and merges them;
 * NULL after a diagnostic. */
static cJSON *
load_chain(struct loader *l, const char *name)
{
	cJSON *merged = NULL;

	while (name != NULL) {
		struct diag_place place = { .file = name };
		const char *file, *text;
		struct json extends;
		int i = l->n;

		if (i == JSON_LAYERS_MAX) {
			diag_error(&l->m->diags, DIAG_BAD_DIALECT, place,
				   "dialects extend each other in a circle, "
				   "or more than %d deep",
				   JSON_LAYERS_MAX);
			return NULL;
		}
		text = data_file(l->m, l->dir,
				 arena_printf(&l->m->arena,
					      "dialects/%s/dialect.json", name),
				 &file);
		if (text == NULL) {
			diag_error(&l->m->diags, DIAG_BAD_DIALECT, place,
				   "there is no such dialect (%s)", file);
			return NULL;
		}
		l->trees[i] = json_parse(l->m, file, text);
		if (l->trees[i] == NULL) {
			return NULL;
		}
		l->reader.layers[i].file = file;
		l->reader.layers[i].value = l->trees[i];
		l->reader.n_layers = ++l->n;
		json_check_once(json_root(&l->reader, l->trees[i]));
		spread_byte_floats(l->trees[i]);
		l->chain[i] = name;
		extends = json_get(json_root(&l->reader, l->trees[i]),
				   "extends");
		name = json_text(extends, false);
	}
	merged = cJSON_Duplicate(l->trees[l->n - 1], true);
	for (int i = l->n - 2; i >= 0; i--) {
		drop_rows(merged, l->trees[i], "expressions");
		drop_rows(merged, l->trees[i], "statements");
		drop_mode_rows(merged, l->trees[i]);
		json_merge(merged, l->trees[i]);
		if (cJSON_GetObjectItemCaseSensitive(l->trees[i], "reserved") !=
		    NULL) {
			for (int k = i + 1; k < l->n; k++) {
				add_reserved(merged, l->trees[k]);
			}
		}
	}
	return merged;
}

/* Merges the expressions that the dialect has for the mode of --fp over its
 * other expressions. False after a diagnostic if the dialect does not support
 * the mode. */
static bool
choose_fp(struct loader *l, cJSON *merged)
{
	cJSON *all = cJSON_GetObjectItemCaseSensitive(merged, "fp");
	cJSON *why = cJSON_GetObjectItemCaseSensitive(all, "rejected");
	cJSON *mode = cJSON_GetObjectItemCaseSensitive(all, l->fp);
	cJSON *rows = cJSON_GetObjectItemCaseSensitive(mode, "expressions");
	struct diag_place place = { .file = l->d->file };
	cJSON *over;

	if (strcmp(l->fp, "default") == 0) {
		return true;
	}
	if (cJSON_IsString(why) || !cJSON_IsObject(mode)) {
		return diag_error(&l->m->diags, DIAG_BAD_OPTION, place,
				  "dialect %s has no --fp %s%s%s; leave the "
				  "option out",
				  l->d->name, l->fp,
				  cJSON_IsString(why) ? ": " : "",
				  cJSON_IsString(why) ? why->valuestring : "");
	}
	if (cJSON_IsObject(rows)) {
		over = cJSON_CreateObject();
		cJSON_AddItemToObject(over, "expressions",
				      cJSON_Duplicate(rows, true));
		drop_rows(merged, over, "expressions");
		json_merge(merged, over);
		cJSON_Delete(over);
	}
	return true;
}

static bool
is_plain_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' &&
	       strpbrk(name, "/\\") == NULL;
}

static const struct dialect *
load(struct module *m, const char *name, const char *dir, const char *fp,
     const struct target *target)
{
	struct loader l = { .m = m, .dir = dir, .fp = fp, .target = target };
	struct diag_place place = { .file = name };
	cJSON *merged;

	if (!is_plain_name(name)) {
		diag_error(&m->diags, DIAG_BAD_OPTION, place,
			   "not the name of a dialect");
		return NULL;
	}
	l.d = arena_new(&m->arena, struct dialect);
	l.d->name = arena_strdup(&m->arena, name);
	l.d->module = m;
	l.d->dir = dir;
	l.reader.module = m;
	merged = load_chain(&l, l.d->name);
	l.d->file = l.reader.layers[0].file;
	l.d->chain.data = arena_copy(&m->arena, l.chain, sizeof l.chain);
	l.d->chain.n = l.n;
	if (merged != NULL) {
		l.root = json_root(&l.reader, merged);
		json_keys_check(&dialect_keys, l.root, merged);
	}
	if (merged != NULL && cJSON_IsObject(merged) && choose_fp(&l, merged)) {
		json_keys_read(&dialect_keys, l.root, "", l.d, &l);
		dialect_check_files(&l);
	} else {
		l.reader.failed = true;
	}
	cJSON_Delete(merged);
	for (int i = 0; i < l.n; i++) {
		cJSON_Delete(l.trees[i]);
	}
	l.d->requirement = target != NULL ? target->relies_on : NULL;
	l.d->inlines = target != NULL && target->inlines_helpers &&
		       l.d->functions.inlined_helper != NULL;
	return l.reader.failed ? NULL : l.d;
}

const struct dialect *
dialect_load(struct module *m, const char *name, const char *dir)
{
	return dialect_load_fp(m, name, dir, "default");
}

const struct dialect *
dialect_load_fp(struct module *m, const char *name, const char *dir,
		const char *fp)
{
	return load(m, name, dir, fp, NULL);
}

const struct dialect *
dialect_for_target(struct module *m, const struct target *t, const char *dir)
{
	return load(m, t->dialect, dir, t->fp, t);
}

const char *
dialect_merged_text(struct module *m, const char *name, const char *dir)
{
	struct loader l = { .m = m, .dir = dir, .fp = "default" };
	const char *text = NULL;
	cJSON *merged;

	dialect_of_argument(m, name, &name, &dir);
	l.dir = dir;
	l.d = arena_new(&m->arena, struct dialect);
	l.d->module = m;
	l.reader.module = m;
	merged = load_chain(&l, name);
	cJSON_DeleteItemFromObjectCaseSensitive(merged, "extends");
	if (merged != NULL && !l.reader.failed) {
		struct strbuf print;

		strbuf_init(&print);
		json_put(&print, merged, true);
		text = arena_printf(&m->arena, "%s\n", print.data);
		strbuf_release(&print);
	}
	cJSON_Delete(merged);
	for (int i = 0; i < l.n; i++) {
		cJSON_Delete(l.trees[i]);
	}
	return text;
}

/* -- look-up -- */

static bool
has_vector_form(const struct dialect *d, enum form_id id)
{
	return d->vectors.rejected == NULL && d->vectors.forms[id] != NULL;
}

bool
dialect_has_fmax_vectors(const struct dialect *d)
{
	return has_vector_form(d, FORM_FMAX);
}

bool
dialect_has_half_vectors(const struct dialect *d)
{
	return has_vector_form(d, FORM_WIDEN);
}

bool
dialect_reads_float_bits(const struct dialect *d)
{
	const struct form *f = d->forms[FORM_REINTERPRET][DT_F32];

	return f != NULL && f->kind != FORM_IS_REJECTED;
}

bool
dialect_wants_parts(const struct dialect *d)
{
	return d->access.arena != NULL;
}

bool
dialect_has_single_exit(const struct dialect *d)
{
	return d->access.single_exit;
}

bool
dialect_has_graphs(const struct dialect *d)
{
	return d->graph.rejected == NULL;
}

bool
dialect_aligns_weights(const struct dialect *d)
{
	return d->weights.aligned || d->device.rejected == NULL;
}

const char *
dialect_arena_name(const struct dialect *d, struct dtype t)
{
	struct name_set names;

	name_set_init(&names, &d->module->arena);
	names.reserved = d->reserved_members.data;
	names.n_reserved = d->reserved_members.n;
	return name_set_add(&names, dtype_short(t));
}

bool
dialect_computes(struct dtype t)
{
	return dtype_equal(dtype_stored(t), t);
}

const struct spelled_type *
dialect_type(const struct dialect *d, struct dtype t)
{
	const struct spelled_type *s = &d->types[t.kind];
	struct diag_place place = {
		.file = s->rejected != NULL ? s->file : d->vectors.file,
	};

	if (s->rejected == NULL &&
	    (t.lanes == 1 || d->vectors.rejected == NULL)) {
		return s;
	}
	diag_error(&d->module->diags, DIAG_UNSUPPORTED, place,
		   "dialect %s cannot hold %s%s: %s; choose another dialect",
		   d->name, dtype_name(t), t.lanes > 1 ? " vectors" : "",
		   s->rejected != NULL ? s->rejected : d->vectors.rejected);
	return NULL;
}

const struct form *
dialect_form(const struct dialect *d, enum form_id id, struct dtype t)
{
	const struct form *f = t.lanes == 1 ? d->forms[id][t.kind]
					    : d->vectors.forms[id];
	struct diag_place place = { .file = f != NULL ? f->file : d->file };

	if (f != NULL && f->kind != FORM_IS_REJECTED) {
		return f;
	}
	diag_error(&d->module->diags, DIAG_UNSUPPORTED, place,
		   "dialect %s cannot express '%s' of %s%s: %s; choose "
		   "another dialect",
		   d->name, form_key(id), dtype_name(t),
		   t.lanes > 1 ? " vectors" : "",
		   f != NULL && f->kind == FORM_IS_REJECTED
			   ? f->text
			   : "the operation is not defined for this type");
	return NULL;
}

bool
dialect_takes_regions(struct module *m, const struct dialect *d, bool regions)
{
	struct diag_place place = { .file = d->file };

	return !regions || d->regions.rejected == NULL ||
	       diag_error(&m->diags, DIAG_UNSUPPORTED, place,
			  "dialect %s has no places for regions of backends: "
			  "%s",
			  d->name, d->regions.rejected);
}

struct layout
dialect_layout(const struct dialect *d, struct strbuf *out,
	       bool align_with_tabs, bool deep)
{
	return (struct layout){
		.out = out,
		.columns = d->line_columns,
		.tab = d->tab_columns,
		.text_columns = d->text_columns,
		.most_columns = d->most_columns,
		.step = deep ? d->deep_columns : d->tab_columns,
		.align_with_tabs = align_with_tabs,
	};
}

const char *
dialect_header_condition(const struct dialect *d, const char *header)
{
	for (int i = 0; i < d->rare_headers.n; i++) {
		if (strcmp(d->rare_headers.data[i].name, header) == 0) {
			return d->rare_headers.data[i].condition;
		}
	}
	return NULL;
}

const struct helper *
dialect_helper(const struct dialect *d, const char *key)
{
	for (int i = 0; i < d->helpers.n; i++) {
		if (strcmp(d->helpers.data[i].key, key) == 0) {
			return &d->helpers.data[i];
		}
	}
	return NULL;
}
