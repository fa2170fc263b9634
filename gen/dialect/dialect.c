/* SPDX-License-Identifier: Apache-2.0 */
/* Reads dialects: dialect.json over that of the dialect it extends, each
 * section checked for unknown keys, then for completeness: whatever a program
 * may hold is spelled or rejected. */
#include "dialect_load.h"
#include "identifiers.h"

const char *
dialect_joined(struct loader *l, const char *const *words, int n)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		if (words[i] != NULL) {
			strbuf_printf(&s, "%s%s", s.len > 0 ? " " : "",
				      words[i]);
		}
	}
	text = arena_strdup(&l->m->arena, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

struct names
dialect_read_names(struct json j)
{
	struct names names;

	names.data = json_texts(j, &names.n);
	return names;
}

/* Modes of --fp; what they have for expressions is there already. */
static void
read_fp(struct loader *l, struct json j)
{
	static const char *const modes[] = { "strict", "fast" };

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected strict fast");
	json_text(json_get(j, "rejected"), false);
	for (int i = 0; i < 2; i++) {
		struct json row = json_get(j, modes[i]);
		struct names needs, before;

		if (row.value == NULL || !json_is_object(row, true)) {
			continue;
		}
		json_check_keys(row, "needs before expressions");
		l->d->fp_modes[i] = json_get(j, "rejected").value == NULL;
		needs = dialect_read_names(json_get(row, "needs"));
		before = dialect_read_names(json_get(row, "before"));
		if (strcmp(l->fp, modes[i]) == 0) {
			l->d->fp_needs = needs;
			l->d->fp_before = before;
		}
	}
}

static void
read_dialect(struct loader *l, struct json j)
{
	json_check_keys(
		j, "extends description limits precedence types "
		   "expressions access statements functions device vectors "
		   "tasks graph regions headers helpers weights templates "
		   "files reserved source_needs "
		   "file_weights_needs comment_line entry_names fp "
		   "compliance spaces comments");
	l->d->description = json_text(json_get(j, "description"), true);
	dialect_read_limits(l, json_get(j, "limits"));
	dialect_read_precedence(l, json_get(j, "precedence"));
	dialect_read_types(l, json_get(j, "types"));
	dialect_read_headers(l, json_get(j, "headers"));
	dialect_read_helpers(l, json_get(j, "helpers"));
	dialect_check_stored(l, json_get(j, "types"));
	dialect_read_expressions(l, json_get(j, "expressions"));
	read_fp(l, json_get(j, "fp"));
	dialect_read_access(l, json_get(j, "access"));
	dialect_read_statements(l, json_get(j, "statements"));
	dialect_read_functions(l, json_get(j, "functions"));
	dialect_read_device(l, json_get(j, "device"));
	dialect_read_vectors(l, json_get(j, "vectors"));
	dialect_read_tasks(l, json_get(j, "tasks"));
	dialect_read_graph(l, json_get(j, "graph"));
	dialect_read_regions(l, json_get(j, "regions"));
	dialect_read_weights(l, json_get(j, "weights"));
	dialect_read_comments(l, json_get(j, "comments"));
	dialect_read_spaces(l, json_get(j, "spaces"), j);
	dialect_read_templates(l, json_get(j, "templates"));
	dialect_read_files(l, json_get(j, "files"));
	dialect_read_reserved(l, json_get(j, "reserved"));
	dialect_read_compliance(l, json_get(j, "compliance"));
	l->d->entry_names = dialect_read_names(json_get(j, "entry_names"));
	l->d->source_needs = dialect_read_names(json_get(j, "source_needs"));
	l->d->file_weights_needs = dialect_read_names(
		json_get(j, "file_weights_needs"));
	l->d->comment_line = json_text(json_get(j, "comment_line"), true);
	dialect_check_texts(l, j);
}

/* -- files and what they extend -- */

/* A row of these sections replaces what it extends as a whole. */
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

/* A dialect's reserved words are so beside those of what it extends. */
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

/* Loads name and what it extends, and lays them over each other. */
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
		l->chain[i] = name;
		extends = json_get(json_root(&l->reader, l->trees[i]),
				   "extends");
		name = json_text(extends, false);
	}
	merged = cJSON_Duplicate(l->trees[l->n - 1], true);
	for (int i = l->n - 2; i >= 0; i--) {
		drop_rows(merged, l->trees[i], "expressions");
		drop_rows(merged, l->trees[i], "statements");
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

/* Lays what the mode of --fp has over the whole. */
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
	if (merged != NULL &&
	    json_is_object(json_root(&l.reader, merged), true) &&
	    choose_fp(&l, merged)) {
		read_dialect(&l, json_root(&l.reader, merged));
	} else {
		l.reader.failed = true;
	}
	cJSON_Delete(merged);
	for (int i = 0; i < l.n; i++) {
		cJSON_Delete(l.trees[i]);
	}
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
	char *print;

	dialect_of_argument(m, name, &name, &dir);
	l.dir = dir;
	l.d = arena_new(&m->arena, struct dialect);
	l.d->module = m;
	l.reader.module = m;
	merged = load_chain(&l, name);
	cJSON_DeleteItemFromObjectCaseSensitive(merged, "extends");
	print = merged != NULL && !l.reader.failed ? cJSON_Print(merged) : NULL;
	if (print != NULL) {
		text = arena_printf(&m->arena, "%s\n", print);
	}
	cJSON_free(print);
	cJSON_Delete(merged);
	for (int i = 0; i < l.n; i++) {
		cJSON_Delete(l.trees[i]);
	}
	return text;
}

/* -- look-up -- */

bool
dialect_has_fmax_vectors(const struct dialect *d)
{
	return d->vectors.rejected == NULL &&
	       d->vectors.forms[FORM_FMAX] != NULL;
}

bool
dialect_wants_parts(const struct dialect *d)
{
	return d->access.arena != NULL;
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
