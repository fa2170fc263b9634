/* SPDX-License-Identifier: Apache-2.0 */
/* Reads dialects: dialect.json over that of the dialect it extends, each
 * section checked for unknown keys, then for completeness: whatever a program
 * may hold is spelled or rejected. */
#include <stdlib.h>

#include "dialect.h"
#include "json_read.h"

struct loader {
	struct dialect *d;
	struct module *m;
	const char *dir;
	struct reader reader;
	const char *chain[JSON_LAYERS_MAX]; /* names, the dialect's own first */
	cJSON *trees[JSON_LAYERS_MAX];
	int n;
};

static const struct {
	const char *key, *types;
	int n;
} form_table[] = {
#define FORM(id, key, types, n) { key, types, n },
#include "forms.def"
#undef FORM
};

static const char *const statement_keys[SAY_COUNT] = {
	"serial", "parallel", "vectorized", "unrolled", "thread", "if",
	"while", "block", "let", "let_pointer", "let_const_pointer", "array",
	"cell", "cell_init", "store", "store_add", "store_sub", "store_mul",
	"evaluate", "return", "assert",
};
_Static_assert(SAY_SERIAL == (int)FOR_SERIAL &&
	       SAY_PARALLEL == (int)FOR_PARALLEL &&
	       SAY_VECTORIZED == (int)FOR_VECTORIZED &&
	       SAY_UNROLLED == (int)FOR_UNROLLED &&
	       SAY_THREAD == (int)FOR_THREAD, "loops come first, in order");

static const char *const form_words[] = {
	[WEIGHTS_C] = "c", [WEIGHTS_INCBIN] = "incbin",
	[WEIGHTS_FILE] = "file", [WEIGHTS_SECTION] = "section",
};

static const char *const template_keys[TEMPLATE_COUNT] = {
	"header", "source", "weights", "incbin", "makefile", "cmake",
	"harness",
};

static const char *const file_keys[FILE_COUNT] = {
	"header", "source", "weights", "incbin", "blob", "makefile", "cmake",
	"metadata",
};

const char *
form_key(enum form_id id)
{
	return form_table[id].key;
}

/* -- small readers -- */

static const char *
joined(struct loader *l, const char *const *words, int n)
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

static struct names
read_names(struct json j)
{
	struct names names;

	names.data = json_texts(j, &names.n);
	return names;
}

static int
read_level(struct loader *l, struct json j, int absent)
{
	const char *name = json_text(j, absent < 0);

	for (int i = 0; name != NULL && i < l->d->n_levels; i++) {
		if (strcmp(l->d->levels[i].name, name) == 0) {
			return i;
		}
	}
	if (name != NULL) {
		json_error(j, "no level of precedence is called '%s'", name);
	}
	return absent < 0 ? 0 : absent;
}

static int
named_level(struct loader *l, struct json precedence, const char *name)
{
	for (int i = 0; i < l->d->n_levels; i++) {
		if (strcmp(l->d->levels[i].name, name) == 0) {
			return i;
		}
	}
	json_error(precedence, "there must be a level called '%s'", name);
	return 0;
}

/* -- sections -- */

static void
read_precedence(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	d->n_levels = json_length(j);
	if (d->n_levels < 1 || d->n_levels > 64) {
		json_error(j, "1 to 64 levels are wanted, loosest first");
		d->n_levels = 0;
	}
	d->levels = arena_array(&l->m->arena, struct level, d->n_levels + 1);
	for (int i = 0; i < d->n_levels; i++) {
		const char *name = json_text(json_get(json_at(j, i), "name"),
					     true);

		d->levels[i].name = name != NULL ? name : "";
	}
	for (int i = 0; i < d->n_levels; i++) {
		struct json row = json_at(j, i);
		struct json clarify = json_get(row, "clarify");
		const char *side = json_text(json_get(row, "associates"),
					     false);
		const char *where = json_text(json_get(row, "break"), false);

		json_check_keys(row, "name associates clarify break");
		d->levels[i].right = side != NULL &&
				     strcmp(side, "right") == 0;
		if (side != NULL && !d->levels[i].right &&
		    strcmp(side, "left") != 0) {
			json_error(json_get(row, "associates"),
				   "left or right");
		}
		for (int k = 0; k < json_length(clarify); k++) {
			d->levels[i].clarify |= (uint64_t)1 << read_level(l,
				json_at(clarify, k), -1);
		}
		if (where != NULL && strcmp(where, "before") == 0) {
			d->levels[i].where = BREAK_BEFORE;
		} else if (where != NULL && strcmp(where, "after") == 0) {
			d->levels[i].where = BREAK_AFTER;
		} else if (where != NULL) {
			json_error(json_get(row, "break"), "before or after");
		}
	}
	d->primary = named_level(l, j, "primary");
	d->unary = named_level(l, j, "unary");
	d->assignment = named_level(l, j, "assignment");
	d->relational = named_level(l, j, "relational");
}

static void
read_type(struct loader *l, struct json types, struct dtype t)
{
	struct spelled_type *s = &l->d->types[t.kind];
	struct json j = json_get(types, dtype_short(t));
	enum dtype_class c = dtype_class(t);
	bool number = c == DTC_INT || c == DTC_UINT || c == DTC_FLOAT;
	bool ints = c == DTC_INT || c == DTC_UINT;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected spelling literal wide_literal lowest "
			"highest unsigned infinity nan false true math "
			"short_is_int needs special_needs");
	s->rejected = json_text(json_get(j, "rejected"), false);
	if (s->rejected != NULL) {
		return;
	}
	s->spelling = json_text(json_get(j, "spelling"), true);
	s->literal = json_text(json_get(j, "literal"), number);
	s->wide_literal = json_text(json_get(j, "wide_literal"), false);
	s->lowest = json_text(json_get(j, "lowest"), ints);
	s->highest = json_text(json_get(j, "highest"), ints);
	s->unsigned_spelling = json_text(json_get(j, "unsigned"), ints);
	s->infinity = json_text(json_get(j, "infinity"), c == DTC_FLOAT);
	s->nan = json_text(json_get(j, "nan"), c == DTC_FLOAT);
	s->no = json_text(json_get(j, "false"), c == DTC_BOOL);
	s->yes = json_text(json_get(j, "true"), c == DTC_BOOL);
	s->math = json_text(json_get(j, "math"), false);
	s->promoted = json_bool(json_get(j, "short_is_int"));
	s->needs = read_names(json_get(j, "needs"));
	s->special_needs = read_names(json_get(j, "special_needs"));
}

/* What templates may say of a type. */
static void
add_facts(struct loader *l, struct dtype t)
{
	struct dialect *d = l->d;
	struct arena *a = &l->m->arena;
	struct spelled_type *s = &d->types[t.kind];
	bool special;
	union number one = { .i = 1 }, zero = { .i = 0 };

	s->facts = tdata_new(a);
	tdata_text(s->facts, "type", s->spelling);
	tdata_text(s->facts, "short", dtype_short(t));
	tdata_int(s->facts, "bits", dtype_bits(t));
	tdata_text(s->facts, "math", s->math);
	if (s->rejected != NULL || l->reader.failed) {
		return;
	}
	switch (dtype_class(t)) {
	case DTC_FLOAT:
		one.f = 1.0;
		zero.f = 0.0;
		break;
	case DTC_INT:
	case DTC_UINT:
		tdata_text(s->facts, "unsigned", s->unsigned_spelling);
		tdata_text(s->facts, "lowest", s->lowest);
		tdata_text(s->facts, "highest", s->highest);
		break;
	default:
		return;
	}
	tdata_text(s->facts, "one", dialect_literal(d, a, t, one, &special));
	tdata_text(s->facts, "zero", dialect_literal(d, a, t, zero, &special));
}

static void
read_types(struct loader *l, struct json j)
{
	const char *words[DT_COUNT];

	for (int k = 0; k < DT_COUNT; k++) {
		words[k] = dtype_short(dtype_of((enum dtype_kind)k));
	}
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, joined(l, words, DT_COUNT));
	for (int k = 0; k < DT_COUNT; k++) {
		read_type(l, j, dtype_of((enum dtype_kind)k));
	}
	for (int k = 0; k < DT_COUNT; k++) {
		add_facts(l, dtype_of((enum dtype_kind)k));
	}
}

static const struct form *
read_form(struct loader *l, struct json j)
{
	static const char *const kinds[] = {
		"rejected", "infix", "prefix", "call", "text", "helper",
	};
	struct form *f = arena_new(&l->m->arena, struct form);
	struct json operands = json_get(j, "operands");
	int found = 0;

	json_check_keys(j, "rejected infix prefix call text helper at "
			"operands needs");
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
	f->pointer = j.pointer;
	f->needs = read_names(json_get(j, "needs"));
	f->level = f->kind == FORM_IS_CALL || f->kind == FORM_IS_HELPER
		   ? l->d->primary
		   : f->kind == FORM_IS_REJECTED ? 0
		   : read_level(l, json_get(j, "at"), -1);
	for (int i = 0; i < 3; i++) {
		bool list = cJSON_IsArray(operands.value);

		f->operands[i] = read_level(l, list ? json_at(operands, i)
						    : operands, f->level);
	}
	if (f->kind == FORM_IS_HELPER &&
	    dialect_helper(l->d, f->text) == NULL) {
		json_error(json_get(j, "helper"), "no helper is called '%s'",
			   f->text);
	}
	return f;
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
	case DTC_BOOL: return "bool";
	case DTC_INT: return "int";
	case DTC_UINT: return "uint";
	case DTC_FLOAT: return "float";
	default: return "any";
	}
}

static bool
asks_for(const char *types, struct dtype t)
{
	switch (dtype_class(t)) {
	case DTC_VOID: return types[0] == '\0';
	case DTC_BOOL: return strchr(types, 'B') != NULL;
	case DTC_INT: return strchr(types, 'I') != NULL;
	case DTC_UINT: return strchr(types, 'U') != NULL;
	case DTC_FLOAT: return strchr(types, 'F') != NULL;
	default: return false;
	}
}

/* One row of "expressions": a form, or forms by type, class or "any". */
static void
read_expression(struct loader *l, struct json j, enum form_id id)
{
	struct dialect *d = l->d;
	const struct form *all = NULL;

	if (!json_is_object(j, true)) {
		return;
	}
	if (is_form(j)) {
		all = read_form(l, j);
	} else {
		json_check_keys(j, arena_printf(&l->m->arena,
			"%s any float int uint bool",
			"f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 i4 "
			"u4 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz"));
	}
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);
		struct json row = json_get(j, dtype_short(t));

		if (!asks_for(form_table[id].types, t) ||
		    d->types[k].rejected != NULL) {
			continue;
		}
		if (all != NULL) {
			d->forms[id][k] = all;
			continue;
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
			d->forms[id][k] = read_form(l, row);
		}
	}
}

static void
read_expressions(struct loader *l, struct json j)
{
	const char *words[FORM_COUNT];

	for (int i = 0; i < FORM_COUNT; i++) {
		words[i] = form_table[i].key;
	}
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, joined(l, words, FORM_COUNT));
	for (int i = 0; i < FORM_COUNT; i++) {
		read_expression(l, json_get(j, words[i]), (enum form_id)i);
	}
}

static void
read_statements(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, joined(l, statement_keys, SAY_COUNT));
	for (int i = 0; i < SAY_COUNT; i++) {
		struct lines *s = &l->d->statements[i];
		struct json row = json_get(j, statement_keys[i]);

		if (!json_is_object(row, true)) {
			continue;
		}
		json_check_keys(row, "rejected open else close line");
		s->rejected = json_text(json_get(row, "rejected"), false);
		s->line = json_text(json_get(row, "line"), false);
		s->open = read_names(json_get(row, "open"));
		s->otherwise = read_names(json_get(row, "else"));
		s->close = read_names(json_get(row, "close"));
		if (s->rejected == NULL &&
		    (i <= SAY_BLOCK ? s->open.n == 0 : s->line == NULL)) {
			json_error(row, "neither spelled nor rejected");
		}
	}
}

/* A text file of the dialect, or of the next that it extends. */
static const char *
chain_file(struct loader *l, const char *name, const char **file)
{
	for (int i = 0; i < l->n; i++) {
		const char *text = data_file(l->m, l->dir,
			arena_printf(&l->m->arena, "dialects/%s/%s",
				     l->chain[i], name), file);

		if (text != NULL) {
			return text;
		}
	}
	return NULL;
}

static void
read_helpers(struct loader *l, struct json j)
{
	const cJSON *item;

	if (!json_is_object(j, true)) {
		return;
	}
	cJSON_ArrayForEach(item, j.value) {
		struct json row = json_get(j, item->string);
		struct helper h = { .key = arena_strdup(&l->m->arena,
							item->string) };

		json_check_keys(row, "name needs");
		h.name = json_text(json_get(row, "name"), true);
		h.needs = read_names(json_get(row, "needs"));
		h.text = chain_file(l, arena_printf(&l->m->arena,
			"helpers/%s.tmpl", h.key), &h.file);
		if (h.text == NULL) {
			json_error(row, "there is no file helpers/%s.tmpl",
				   h.key);
		}
		vec_push(&l->m->arena, &l->d->helpers, h);
	}
}

static void
read_functions(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "kernel close no_parameters array scalar pointer");
	d->functions.kernel = read_names(json_get(j, "kernel"));
	d->functions.close = read_names(json_get(j, "close"));
	d->functions.no_parameters = json_text(json_get(j, "no_parameters"),
					       true);
	d->functions.array = json_text(json_get(j, "array"), true);
	d->functions.scalar = json_text(json_get(j, "scalar"), true);
	d->functions.pointer = json_text(json_get(j, "pointer"), true);
}

static void
read_access(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "element call array_cast pointer_cast input output "
			"workspace weight");
	l->d->access.element = json_text(json_get(j, "element"), true);
	l->d->access.call = json_text(json_get(j, "call"), true);
	l->d->access.array_cast = json_text(json_get(j, "array_cast"), true);
	l->d->access.pointer_cast = json_text(json_get(j, "pointer_cast"),
					      true);
	l->d->access.input = json_text(json_get(j, "input"), true);
	l->d->access.output = json_text(json_get(j, "output"), true);
	l->d->access.workspace = json_text(json_get(j, "workspace"), true);
	l->d->access.weight = json_text(json_get(j, "weight"), true);
}

static enum weights_form
weights_word(struct json j, const char *word)
{
	for (int i = WEIGHTS_C; word != NULL && i <= WEIGHTS_SECTION; i++) {
		if (strcmp(word, form_words[i]) == 0) {
			return (enum weights_form)i;
		}
	}
	json_error(j, "c, incbin, file or section is wanted here");
	return WEIGHTS_C;
}

static void
read_weights(struct loader *l, struct json j)
{
	struct dialect *d = l->d;
	struct json forms = json_get(j, "forms");

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "forms in_source_bytes large declare define end "
			"open close separator section");
	for (int i = 0; i < json_length(forms); i++) {
		struct json row = json_at(forms, i);

		d->weights.forms[weights_word(row, json_text(row, true))] =
			true;
	}
	d->weights.in_source_bytes = json_int(json_get(j, "in_source_bytes"),
					      0, INT64_C(1) << 40, 0);
	d->weights.large = weights_word(json_get(j, "large"),
				json_text(json_get(j, "large"), true));
	d->weights.declare = json_text(json_get(j, "declare"), true);
	d->weights.define = json_text(json_get(j, "define"), true);
	d->weights.end = json_text(json_get(j, "end"), true);
	d->weights.open = json_text(json_get(j, "open"), true);
	d->weights.close = json_text(json_get(j, "close"), true);
	d->weights.separator = json_text(json_get(j, "separator"), true);
	d->weights.section = read_names(json_get(j, "section"));
}

static void
read_templates(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, joined(l, template_keys, TEMPLATE_COUNT));
	for (int i = 0; i < TEMPLATE_COUNT; i++) {
		struct json row = json_get(j, template_keys[i]);
		const char *name = json_text(row, true);
		struct dialect_template *t = &l->d->templates[i];

		if (name != NULL) {
			t->text = chain_file(l, name, &t->file);
			if (t->text == NULL) {
				json_error(row, "there is no file %s", name);
			}
		}
	}
}

static void
read_files(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, joined(l, file_keys, FILE_COUNT));
	for (int i = 0; i < FILE_COUNT; i++) {
		l->d->files[i] = json_text(json_get(j, file_keys[i]), true);
	}
}

static int
compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
read_reserved(struct loader *l, struct json j)
{
	struct names words = read_names(j);
	const char **sorted = arena_copy(&l->m->arena, words.data,
		sizeof *words.data * (size_t)(words.n + 1));
	int n = 0;

	qsort(sorted, (size_t)words.n, sizeof *sorted, compare_words);
	for (int i = 0; i < words.n; i++) {
		if (n == 0 || strcmp(sorted[n - 1], sorted[i]) != 0) {
			sorted[n++] = sorted[i];
		}
	}
	l->d->reserved = (struct names){ sorted, n };
}

static void
read_limits(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "identifier_length int_bits line_columns "
			"tab_columns text_columns");
	d->identifier_length = (int)json_int(json_get(j, "identifier_length"),
					     8, 1024, 31);
	d->int_bits = (int)json_int(json_get(j, "int_bits"), 16, 64, 32);
	d->line_columns = (int)json_int(json_get(j, "line_columns"), 40,
					100000, 80);
	d->text_columns = (int)json_int(json_get(j, "text_columns"), 20,
					100000, 60);
	d->tab_columns = (int)json_int(json_get(j, "tab_columns"), 1, 16, 8);
}

static void
read_dialect(struct loader *l, struct json j)
{
	json_check_keys(j, "extends description limits precedence types "
			"expressions access statements functions helpers "
			"weights templates files reserved source_needs "
			"file_weights_needs comment_line entry_names");
	l->d->description = json_text(json_get(j, "description"), true);
	read_limits(l, json_get(j, "limits"));
	read_precedence(l, json_get(j, "precedence"));
	read_types(l, json_get(j, "types"));
	read_helpers(l, json_get(j, "helpers"));
	read_expressions(l, json_get(j, "expressions"));
	read_access(l, json_get(j, "access"));
	read_statements(l, json_get(j, "statements"));
	read_functions(l, json_get(j, "functions"));
	read_weights(l, json_get(j, "weights"));
	read_templates(l, json_get(j, "templates"));
	read_files(l, json_get(j, "files"));
	read_reserved(l, json_get(j, "reserved"));
	l->d->entry_names = read_names(json_get(j, "entry_names"));
	l->d->source_needs = read_names(json_get(j, "source_needs"));
	l->d->file_weights_needs = read_names(json_get(j,
						"file_weights_needs"));
	l->d->comment_line = json_text(json_get(j, "comment_line"), true);
}

/* -- files and what they extend -- */

/* A row of these sections replaces what it extends as a whole. */
static void
drop_rows(cJSON *base, const cJSON *over, const char *section)
{
	cJSON *rows = cJSON_GetObjectItemCaseSensitive(base, section);
	const cJSON *row;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(over,
								 section)) {
		if (cJSON_IsObject(rows) && row->string != NULL) {
			cJSON_DeleteItemFromObjectCaseSensitive(rows,
								row->string);
		}
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
				   "or more than %d deep", JSON_LAYERS_MAX);
			return NULL;
		}
		text = data_file(l->m, l->dir, arena_printf(&l->m->arena,
			"dialects/%s/dialect.json", name), &file);
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
	}
	return merged;
}

static bool
is_plain_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' &&
	       strpbrk(name, "/\\") == NULL;
}

const struct dialect *
dialect_load(struct module *m, const char *name, const char *dir)
{
	struct loader l = { .m = m, .dir = dir };
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
	l.reader.module = m;
	merged = load_chain(&l, l.d->name);
	l.d->file = l.reader.layers[0].file;
	if (merged != NULL && json_is_object(json_root(&l.reader, merged),
					     true)) {
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

/* -- look-up -- */

const struct spelled_type *
dialect_type(const struct dialect *d, struct dtype t)
{
	const struct spelled_type *s = &d->types[t.kind];
	struct diag_place place = { .file = d->file };

	if (s->rejected == NULL && t.lanes == 1) {
		return s;
	}
	diag_error(&d->module->diags, DIAG_UNSUPPORTED, place,
		   "dialect %s cannot hold %s%s: %s; choose another dialect",
		   d->name, dtype_name(t), t.lanes > 1 ? " vectors" : "",
		   s->rejected != NULL ? s->rejected : "it has no vectors");
	return NULL;
}

const struct form *
dialect_form(const struct dialect *d, enum form_id id, struct dtype t)
{
	const struct form *f = d->forms[id][t.kind];
	struct diag_place place = { .file = d->file };

	if (f != NULL && f->kind != FORM_IS_REJECTED && t.lanes == 1) {
		return f;
	}
	diag_error(&d->module->diags, DIAG_UNSUPPORTED, place,
		   "dialect %s cannot express '%s' of %s: %s; choose another "
		   "dialect", d->name, form_key(id), dtype_name(t),
		   f != NULL && f->kind == FORM_IS_REJECTED
		   ? f->text : "the operation is not defined for this type");
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
