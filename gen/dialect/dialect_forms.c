/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the forms of operations and statements: a dialect must spell or reject
 * each of them. */
#include "dialect_keys.h"
#include "dialect_load.h"

static const struct {
	const char *key, *types;
	int n;
} form_table[] = {
#define FORM(id, key, types, n) { key, types, n },
#include "forms.def"
#undef FORM
};

static const char *const statement_keys[SAY_COUNT] = {
#define STATEMENT(id, key, words, doc) key,
#include "dialect.def"
};
_Static_assert(SAY_SERIAL == (int)FOR_SERIAL &&
		       SAY_PARALLEL == (int)FOR_PARALLEL &&
		       SAY_VECTORIZED == (int)FOR_VECTORIZED &&
		       SAY_UNROLLED == (int)FOR_UNROLLED &&
		       SAY_THREAD == (int)FOR_THREAD,
	       "loops come first, in order");

const char *
form_key(enum form_id id)
{
	return form_table[id].key;
}

const char *
statement_key(enum statement_id id)
{
	return statement_keys[id];
}

static bool
same_lines(const struct names *a, const struct names *b)
{
	bool same = a->n == b->n;

	for (int i = 0; same && i < a->n; i++) {
		same = strcmp(a->data[i], b->data[i]) == 0;
	}
	return same;
}

bool
dialect_has_loop(const struct dialect *d, enum statement_id id)
{
	const struct lines *own = &d->statements[id];
	const struct lines *serial = &d->statements[SAY_SERIAL];

	return own->rejected == NULL && !same_lines(&own->open, &serial->open);
}

void
dialect_read_headers(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct rare_header h = {
			.name = arena_strdup(&l->m->arena, item->string),
			.condition = json_text(json_get(j, item->string),
					       false),
		};

		vec_push(&l->m->arena, &l->d->rare_headers, h);
	}
}

static void
check_uses(struct loader *l, const struct helper *h, struct json uses)
{
	for (int i = 0; i < h->uses.n; i++) {
		if (dialect_helper(l->d, h->uses.data[i]) == NULL) {
			json_error(json_at(uses, i),
				   "no helper before this one is called '%s'",
				   h->uses.data[i]);
		}
	}
}

void
dialect_read_helpers(void *ctx, struct json j)
{
	struct loader *l = ctx;
	const cJSON *item;

	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct helper h = { .key = arena_strdup(&l->m->arena,
							item->string) };

		json_keys_read(&dialect_keys, row, "/helpers/*", &h, l);
		h.text = dialect_chain_file(l,
					    arena_printf(&l->m->arena,
							 "helpers/%s.tmpl",
							 h.key),
					    &h.file);
		if (h.text == NULL) {
			json_error(row, "there is no file helpers/%s.tmpl",
				   h.key);
		}
		check_uses(l, &h, json_get(row, "uses"));
		vec_push(&l->m->arena, &l->d->helpers, h);
	}
	dialect_check_stored(l, json_get(l->root, "types"));
}

const struct form *
dialect_read_form(struct loader *l, struct json j)
{
	static const char *const kinds[] = {
		"rejected", "infix", "prefix", "call", "text", "helper",
	};
	struct form *f = arena_new(&l->m->arena, struct form);
	struct json operands = json_get(j, "operands");
	int found = 0;

	json_keys_read(&dialect_keys, j, "#form", f, l);
	for (int k = 0; k < 6; k++) {
		const char *text = json_text(json_get(j, kinds[k]), false);

		if (text != NULL) {
			f->kind = (enum form_kind)k;
			f->text = text;
			found++;
		}
	}
	if (found != 1) {
		json_error(j, "exactly one of rejected, infix, prefix, call, "
			      "text and helper is wanted here");
	}
	f->pointer = json_pointer(j);
	f->file = json_file(j);
	f->level = f->kind == FORM_IS_CALL || f->kind == FORM_IS_HELPER
			   ? l->d->primary
		   : f->kind == FORM_IS_REJECTED
			   ? 0
			   : dialect_read_level(l, json_get(j, "at"), -1);
	for (int i = 0; i < 3; i++) {
		bool list = cJSON_IsArray(operands.value);

		f->operands[i] = dialect_read_level(l,
						    list ? json_at(operands, i)
							 : operands,
						    f->level);
	}
	if (f->kind == FORM_IS_HELPER &&
	    dialect_helper(l->d, f->text) == NULL) {
		json_error(json_get(j, "helper"), "no helper is called '%s'",
			   f->text);
	}
	return f;
}

void
dialect_check_operands(struct json j, const struct form *f, enum form_id id)
{
	static const char *const names[] = { "{{a}}", "{{b}}", "{{c}}" };

	/* Forms of hints may be empty. */
	if (f->kind != FORM_IS_TEXT || id == FORM_PREFETCH ||
	    id == FORM_LIKELY) {
		return;
	}
	for (int i = 0; i < form_table[id].n && i < 3; i++) {
		if (strstr(f->text, names[i]) == NULL) {
			json_error(json_get(j, "text"),
				   "a constant, whatever "
				   "%s is: the text has to have it",
				   names[i]);
		}
	}
}

static bool
is_form(struct json j)
{
	return json_get(j, "rejected").value || json_get(j, "infix").value ||
	       json_get(j, "prefix").value || json_get(j, "call").value ||
	       json_get(j, "text").value || json_get(j, "helper").value;
}

static const char *
class_word(struct dtype t)
{
	switch (dtype_class(t)) {
	case DTC_BOOL:
		return "bool";
	case DTC_INT:
		return "int";
	case DTC_UINT:
		return "uint";
	case DTC_FLOAT:
		return "float";
	default:
		return "any";
	}
}

static bool
asks_for(const char *types, struct dtype t)
{
	switch (dtype_class(t)) {
	case DTC_VOID:
		return types[0] == '\0';
	case DTC_BOOL:
		return strchr(types, 'B') != NULL;
	case DTC_INT:
		return strchr(types, 'I') != NULL;
	case DTC_UINT:
		return strchr(types, 'U') != NULL;
	case DTC_FLOAT:
		return strchr(types, 'F') != NULL;
	default:
		return false;
	}
}

/* Reads a row of "expressions", how an operation is spelled: one form, or
 * several by type, by class of types, or by "any". */
static void
read_expression(struct loader *l, struct json j, enum form_id id)
{
	struct dialect *d = l->d;
	const struct form *all = NULL;

	if (!json_is_object(j, true)) {
		return;
	}
	if (is_form(j)) {
		all = dialect_read_form(l, j);
		dialect_check_operands(j, all, id);
	}
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);
		struct json row = json_get(j, dtype_short(t));

		if (!asks_for(form_table[id].types, t) ||
		    !dialect_computes(t) || d->types[k].rejected != NULL ||
		    d->types[k].is_stored_only) {
			continue;
		}
		if (all != NULL) {
			d->forms[id][k] = all;
			continue;
		}
		if (row.value == NULL && dtype_class(t) == DTC_FLOAT &&
		    dtype_bits(t) <= 16) {
			row = json_get(j, "short_float");
		}
		if (row.value == NULL) {
			row = json_get(j, class_word(t));
		}
		if (row.value == NULL) {
			row = json_get(j, "any");
		}
		if (row.value == NULL) {
			json_error(j, "neither spelled nor rejected for %s",
				   dtype_name(t));
		} else if (json_is_object(row, true)) {
			d->forms[id][k] = dialect_read_form(l, row);
			dialect_check_operands(row, d->forms[id][k], id);
		}
	}
}

void
dialect_read_expressions(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < FORM_COUNT && j.value != NULL; i++) {
		struct json row = json_get(j, form_table[i].key);
		bool cast = i == FORM_FROM_BOOL || i == FORM_CAST_COMPOSITE;

		if (cast && row.value == NULL) {
			row = json_get(j, form_table[FORM_CAST].key);
		}
		if (i == FORM_MUL_APART && row.value == NULL) {
			row = json_get(j, form_table[FORM_MUL].key);
		}
		if ((i == FORM_ADD_PRODUCT || i == FORM_WIDEN ||
		     i == FORM_SELECT_ANY || i == FORM_SATURATE) &&
		    row.value == NULL) {
			continue; /* these rows may be left out: operations on
				   * vectors only, or optional operations */
		}
		read_expression(l, row, (enum form_id)i);
	}
}

void
dialect_read_statements(void *ctx, struct json j)
{
	struct loader *l = ctx;

	for (int i = 0; i < SAY_COUNT; i++) {
		struct lines *s = &l->d->statements[i];
		struct json row = json_get(j, statement_keys[i]);

		json_keys_read(&dialect_keys, row, "#statement", s, l);
		s->file = json_file(row);
		if (row.value != NULL && s->rejected == NULL &&
		    (i <= SAY_BLOCK ? s->open.n == 0 : s->line == NULL)) {
			json_error(row, "neither spelled nor rejected");
		}
	}
}
