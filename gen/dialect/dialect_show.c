/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the dialects, and shows the spellings of one dialect: operations by
 * type, limits, statements. Both are made as JSON first, from which the text
 * for users is made. */
#include "dialect.h"
#include "dialect_keys.h"
#include "json_put.h"
#include "json_read.h"

static const char *
printed(struct module *m, cJSON *j)
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	json_put(&text, j, true);
	copy = arena_printf(&m->arena, "%s\n", text.data);
	strbuf_release(&text);
	cJSON_Delete(j);
	return copy;
}

static const char *
finished(struct module *m, struct strbuf *s)
{
	const char *text = arena_strdup(&m->arena,
					s->data != NULL ? s->data : "");

	strbuf_release(s);
	return text;
}

static void
add_targets(struct module *m, cJSON *to, const char *dialect, const char *dir)
{
	cJSON *list = cJSON_AddArrayToObject(to, "targets");
	int n;
	const char *const *names = target_names(m, &n);

	for (int i = 0; i < n; i++) {
		if (target_is_of(m, names[i], dialect, NULL)) {
			cJSON_AddItemToArray(list,
					     cJSON_CreateString(names[i]));
		}
	}
	names = target_names_in(m, dir, &n);
	for (int i = 0; i < n; i++) {
		if (target_is_of(m, names[i], dialect, dir)) {
			cJSON_AddItemToArray(list,
					     cJSON_CreateString(names[i]));
		}
	}
}

static const char *
joined(struct module *m, const cJSON *list)
{
	const char *text = "";
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		text = arena_printf(&m->arena, "%s%s%s", text,
				    text[0] != '\0' ? ", " : "",
				    item->valuestring);
	}
	return text;
}

/* -- list -- */

static bool
add_dialect(struct module *m, cJSON *list, const char *name, const char *dir)
{
	const struct dialect *d = dialect_load(m, name, dir);
	cJSON *item;

	if (d == NULL) {
		return false;
	}
	item = cJSON_CreateObject();
	cJSON_AddItemToArray(list, item);
	cJSON_AddStringToObject(item, "name", d->name);
	cJSON_AddStringToObject(item, "description", d->description);
	if (d->chain.n > 1) {
		cJSON_AddStringToObject(item, "extends", d->chain.data[1]);
	} else {
		cJSON_AddNullToObject(item, "extends");
	}
	add_targets(m, item, name, dir);
	return true;
}

const char *
dialect_list_text(struct module *m, const char *dir, bool json)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *item;
	struct strbuf s;
	int n;
	const char *const *names = dialect_names(m, &n);
	bool ok = true;

	for (int i = 0; i < n; i++) {
		ok = add_dialect(m, list, names[i], NULL) && ok;
	}
	names = dialect_names_in(m, dir, &n);
	for (int i = 0; i < n; i++) {
		ok = add_dialect(m, list, names[i], dir) && ok;
	}
	if (!ok) {
		cJSON_Delete(list);
		return NULL;
	}
	if (json) {
		return printed(m, list);
	}
	strbuf_init(&s);
	cJSON_ArrayForEach(item, list)
	{
		const cJSON *base = cJSON_GetObjectItem(item, "extends");
		const char *targets = joined(m, cJSON_GetObjectItem(item,
								    "targets"));

		strbuf_printf(&s, "%-12s %s\n",
			      cJSON_GetStringValue(
				      cJSON_GetObjectItem(item, "name")),
			      cJSON_GetStringValue(
				      cJSON_GetObjectItem(item,
							  "description")));
		strbuf_printf(&s, "%-12s %s%s; targets: %s\n", "",
			      cJSON_IsString(base) ? "extends " : "a base",
			      cJSON_IsString(base) ? base->valuestring : "",
			      targets[0] != '\0' ? targets : "none");
	}
	cJSON_Delete(list);
	return finished(m, &s);
}

/* -- show -- */

static const char *
kind_word(const struct form *f)
{
	static const char *const words[] = {
		"rejected", "infix", "prefix", "call", "text", "helper",
	};

	return words[f->kind];
}

static cJSON *
spelled(const struct form *f)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, kind_word(f), f->text);
	return j;
}

static cJSON *
type_json(const struct spelled_type *s)
{
	cJSON *j = cJSON_CreateObject();

	if (s->rejected != NULL) {
		cJSON_AddStringToObject(j, "rejected", s->rejected);
		return j;
	}
	cJSON_AddStringToObject(j, "spelling", s->spelling);
	if (s->is_stored_only) {
		cJSON_AddStringToObject(j, "computed_as",
					dtype_short(s->computed));
	}
	return j;
}

/* Adds the kind of form of each operation, by type; vectors have one common
 * column. */
static void
add_operations(cJSON *to, const struct dialect *d)
{
	cJSON *all = cJSON_AddObjectToObject(to, "operations");

	for (int i = 0; i < FORM_COUNT; i++) {
		cJSON *row = cJSON_AddObjectToObject(all,
						     form_key((enum form_id)i));
		const struct form *v = d->vectors.rejected == NULL
					       ? d->vectors.forms[i]
					       : NULL;

		for (int k = 0; k < DT_COUNT; k++) {
			const struct spelled_type *s = &d->types[k];
			const struct form *f =
				s->is_stored_only && s->rejected == NULL
					? d->forms[i][s->computed.kind]
					: d->forms[i][k];

			if (f != NULL) {
				cJSON_AddItemToObject(row,
						      dtype_short(dtype_of(
							      (enum dtype_kind)
								      k)),
						      spelled(f));
			}
		}
		if (v != NULL) {
			cJSON_AddItemToObject(row, "vectors", spelled(v));
		}
	}
}

static void
add_limits(cJSON *to, const struct dialect *d)
{
	cJSON *j = cJSON_AddObjectToObject(to, "limits");

	for (int i = 0; i < dialect_keys.n; i++) {
		const struct key *row = &dialect_keys.rows[i];

		if (json_keys_is_below(row, "/limits")) {
			cJSON_AddNumberToObject(j,
						strrchr(row->pointer, '/') + 1,
						(double)json_keys_number(row,
									 d));
		}
	}
}

static void
add_statements(cJSON *to, const struct dialect *d)
{
	cJSON *all = cJSON_AddObjectToObject(to, "statements");

	for (int i = 0; i < SAY_COUNT; i++) {
		const struct lines *s = &d->statements[i];
		cJSON *j =
			cJSON_AddObjectToObject(all,
						statement_key(
							(enum statement_id)i));
		const char *text = s->rejected != NULL ? s->rejected : s->line;

		if (text != NULL) {
			cJSON_AddStringToObject(j,
						s->rejected != NULL ? "rejected"
								    : "line",
						text);
			continue;
		}
		cJSON_AddItemToObject(j, "open",
				      cJSON_CreateStringArray(s->open.data,
							      s->open.n));
	}
}

static void
add_vectors(struct module *m, cJSON *to, const struct dialect *d,
	    const char *dir)
{
	const char *name = target_of_dialect(m, d->name, dir);
	const struct target *t = name != NULL ? target_load(m, name, dir)
					      : NULL;

	if (d->vectors.rejected != NULL) {
		cJSON_AddStringToObject(cJSON_AddObjectToObject(to, "vectors"),
					"rejected", d->vectors.rejected);
		return;
	}
	cJSON_AddStringToObject(to, "vectors",
				t != NULL
					? dtype_list_text(&m->arena, t->vectors)
					: "");
}

static cJSON *
whole(struct module *m, const struct dialect *d, const char *dir)
{
	cJSON *j = cJSON_CreateObject();
	cJSON *types;

	cJSON_AddStringToObject(j, "name", d->name);
	cJSON_AddStringToObject(j, "description", d->description);
	cJSON_AddItemToObject(j, "extends",
			      cJSON_CreateStringArray(d->chain.data + 1,
						      d->chain.n - 1));
	add_targets(m, j, d->name, dir);
	add_limits(j, d);
	types = cJSON_AddObjectToObject(j, "types");
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);

		if (dialect_computes(t)) {
			cJSON_AddItemToObject(types, dtype_short(t),
					      type_json(&d->types[k]));
		}
	}
	add_vectors(m, j, d, dir);
	add_operations(j, d);
	add_statements(j, d);
	return j;
}

/* -- as text -- */

/* The letter that stands for the kind of form in the table; the legend below
 * the table explains the letters. */
static char
letter(const cJSON *form)
{
	static const struct {
		const char *word;
		char letter;
	} table[] = {
		{ "rejected", '-' }, { "infix", 'o' }, { "prefix", 'o' },
		{ "call", 'c' },     { "text", 't' },  { "helper", 'h' },
	};

	if (form == NULL) {
		return ' ';
	}
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (cJSON_GetObjectItem(form, table[i].word) != NULL) {
			return table[i].letter;
		}
	}
	return '?';
}

static bool
is_column(const struct dialect *d, int k)
{
	struct dtype t = dtype_of((enum dtype_kind)k);
	enum dtype_class c = dtype_class(t);

	return d->types[k].rejected == NULL && !d->types[k].is_stored_only &&
	       dialect_computes(t) &&
	       (c == DTC_BOOL || c == DTC_INT || c == DTC_UINT ||
		c == DTC_FLOAT);
}

static void
print_matrix(const struct dialect *d, const cJSON *j, struct strbuf *s)
{
	const cJSON *row;
	bool vectors = d->vectors.rejected == NULL, any = false;

	strbuf_printf(s, "%-16s", "operation");
	for (int k = 0; k < DT_COUNT; k++) {
		if (is_column(d, k)) {
			strbuf_printf(s, " %s",
				      dtype_short(
					      dtype_of((enum dtype_kind)k)));
		}
	}
	strbuf_puts(s, vectors ? " vectors\n" : "\n");
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(j, "operations"))
	{
		if (row->child == NULL) {
			continue;
		}
		strbuf_printf(s, "%-16s", row->string);
		if (cJSON_GetObjectItem(row, dtype_short(dtype_of(DT_VOID)))) {
			strbuf_printf(s, " %c", letter(row->child));
		}
		for (int k = 0; k < DT_COUNT; k++) {
			const char *name = dtype_short(
				dtype_of((enum dtype_kind)k));

			if (is_column(d, k)) {
				strbuf_printf(
					s, " %*c", (int)strlen(name),
					letter(cJSON_GetObjectItem(row, name)));
			}
		}
		if (vectors) {
			strbuf_printf(s, " %7c",
				      letter(cJSON_GetObjectItem(row,
								 "vectors")));
		}
		while (s->data[s->len - 1] == ' ') {
			s->data[--s->len] = '\0';
		}
		strbuf_putc(s, '\n');
	}
	strbuf_puts(s, "\no operator, c call, t text, h helper written on use, "
		       "- refused,\nblank: not an operation of that type");
	for (int k = 0; k < DT_COUNT; k++) {
		const struct spelled_type *t = &d->types[k];

		if (t->is_stored_only && t->rejected == NULL) {
			strbuf_printf(s, "%s%s",
				      any ? ", "
					  : "\nas the type "
					    "that they are computed in: ",
				      dtype_short(
					      dtype_of((enum dtype_kind)k)));
			any = true;
		}
	}
	strbuf_putc(s, '\n');
}

static void
print_types(const struct dialect *d, struct strbuf *s)
{
	for (int k = 0; k < DT_COUNT; k++) {
		const struct spelled_type *t = &d->types[k];
		const char *name = dtype_short(dtype_of((enum dtype_kind)k));

		if (t->rejected != NULL) {
			strbuf_printf(s, "  %-10s refused: %s\n", name,
				      t->rejected);
		} else if (t->is_stored_only) {
			strbuf_printf(s, "  %-10s %s, computed as %s\n", name,
				      t->spelling, dtype_short(t->computed));
		} else {
			strbuf_printf(s, "  %-10s %s\n", name, t->spelling);
		}
	}
}

static void
print_statements(const struct dialect *d, struct strbuf *s)
{
	for (int i = 0; i < SAY_COUNT; i++) {
		const struct lines *l = &d->statements[i];
		const char *key = statement_key((enum statement_id)i);

		if (l->rejected != NULL) {
			strbuf_printf(s, "  %-18s refused: %s\n", key,
				      l->rejected);
			continue;
		}
		strbuf_printf(s, "  %-18s %s\n", key,
			      l->line != NULL ? l->line : l->open.data[0]);
		for (int k = 1; l->line == NULL && k < l->open.n; k++) {
			strbuf_printf(s, "  %-18s %s\n", "", l->open.data[k]);
		}
	}
}

const char *
dialect_show_text(struct module *m, const char *name, const char *dir,
		  bool json)
{
	const struct dialect *d;
	const cJSON *limit, *vectors;
	struct strbuf s;
	cJSON *j;

	dialect_of_argument(m, name, &name, &dir);
	d = dialect_load(m, name, dir);
	if (d == NULL) {
		return NULL;
	}
	j = whole(m, d, dir);
	if (json) {
		return printed(m, j);
	}
	strbuf_init(&s);
	strbuf_printf(&s, "%s: %s\nextends: %s\ntargets: %s\n", d->name,
		      d->description,
		      joined(m, cJSON_GetObjectItem(j, "extends")),
		      joined(m, cJSON_GetObjectItem(j, "targets")));
	vectors = cJSON_GetObjectItem(j, "vectors");
	strbuf_printf(&s, "vectors: %s\n",
		      cJSON_IsString(vectors) ? vectors->valuestring
					      : d->vectors.rejected);
	strbuf_puts(&s, "limits:");
	cJSON_ArrayForEach(limit, cJSON_GetObjectItem(j, "limits"))
	{
		strbuf_printf(&s, " %s %.0f%s", limit->string,
			      limit->valuedouble,
			      limit->next != NULL ? "," : "\n");
	}
	strbuf_puts(&s, "\ntypes:\n");
	print_types(d, &s);
	strbuf_putc(&s, '\n');
	print_matrix(d, j, &s);
	strbuf_puts(&s, "\nstatements:\n");
	print_statements(d, &s);
	cJSON_Delete(j);
	return finished(m, &s);
}
