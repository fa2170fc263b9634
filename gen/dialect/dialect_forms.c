/* SPDX-License-Identifier: Apache-2.0 */
/* What a dialect makes of operations, statements and functions: all of them
 * spelled or rejected. */
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
	"serial",
	"parallel",
	"vectorized",
	"unrolled",
	"thread",
	"if",
	"while",
	"block",
	"let",
	"let_pointer",
	"let_const_pointer",
	"array",
	"cell",
	"cell_init",
	"store",
	"store_add",
	"store_sub",
	"store_mul",
	"evaluate",
	"return",
	"assert",
	"shared_array",
	"bound",
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

void
dialect_read_headers(struct loader *l, struct json j)
{
	const cJSON *item;

	if (!json_is_object(j, false)) {
		return;
	}
	cJSON_ArrayForEach(item, j.value)
	{
		struct rare_header h = {
			.name = arena_strdup(&l->m->arena, item->string),
			.condition = json_text(json_get(j, item->string), true),
		};

		vec_push(&l->m->arena, &l->d->rare_headers, h);
	}
}

void
dialect_read_helpers(struct loader *l, struct json j)
{
	const cJSON *item;

	if (!json_is_object(j, true)) {
		return;
	}
	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct helper h = { .key = arena_strdup(&l->m->arena,
							item->string) };

		json_check_keys(row, "name needs uses contracts");
		h.name = json_text(json_get(row, "name"), true);
		h.needs = dialect_read_names(json_get(row, "needs"));
		h.uses = dialect_read_names(json_get(row, "uses"));
		h.contracts = json_bool(json_get(row, "contracts"));
		h.text = dialect_chain_file(l,
					    arena_printf(&l->m->arena,
							 "helpers/%s.tmpl",
							 h.key),
					    &h.file);
		if (h.text == NULL) {
			json_error(row, "there is no file helpers/%s.tmpl",
				   h.key);
		}
		for (int i = 0; i < h.uses.n; i++) {
			if (dialect_helper(l->d, h.uses.data[i]) == NULL) {
				json_error(json_at(json_get(row, "uses"), i),
					   "no helper before this one is "
					   "called '%s'",
					   h.uses.data[i]);
			}
		}
		vec_push(&l->m->arena, &l->d->helpers, h);
	}
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
	f->file = json_file(j);
	f->needs = dialect_read_names(json_get(j, "needs"));
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

	/* Hints may be nothing. */
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
		all = dialect_read_form(l, j);
		dialect_check_operands(j, all, id);
	} else {
		json_check_keys(
			j,
			arena_printf(
				&l->m->arena,
				"%s any short_float float int uint bool",
				"f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 "
				"f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz"));
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
dialect_read_expressions(struct loader *l, struct json j)
{
	const char *words[FORM_COUNT];

	for (int i = 0; i < FORM_COUNT; i++) {
		words[i] = form_table[i].key;
	}
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, dialect_joined(l, words, FORM_COUNT));
	for (int i = 0; i < FORM_COUNT; i++) {
		struct json row = json_get(j, words[i]);
		bool cast = i == FORM_FROM_BOOL || i == FORM_CAST_COMPOSITE;

		if (cast && row.value == NULL) {
			row = json_get(j, words[FORM_CAST]);
		}
		if (i == FORM_MUL_APART && row.value == NULL) {
			row = json_get(j, words[FORM_MUL]);
		}
		if ((i == FORM_ADD_PRODUCT || i == FORM_SELECT_ANY) &&
		    row.value == NULL) {
			continue; /* of vectors, if of any */
		}
		read_expression(l, row, (enum form_id)i);
	}
}

void
dialect_read_statements(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, dialect_joined(l, statement_keys, SAY_COUNT));
	for (int i = 0; i < SAY_COUNT; i++) {
		struct lines *s = &l->d->statements[i];
		struct json row = json_get(j, statement_keys[i]);

		if (!json_is_object(row, true)) {
			continue;
		}
		json_check_keys(row, "rejected open else close line");
		s->rejected = json_text(json_get(row, "rejected"), false);
		s->file = json_file(row);
		s->line = json_text(json_get(row, "line"), false);
		s->open = dialect_read_names(json_get(row, "open"));
		s->otherwise = dialect_read_names(json_get(row, "else"));
		s->close = dialect_read_names(json_get(row, "close"));
		if (s->rejected == NULL &&
		    (i <= SAY_BLOCK ? s->open.n == 0 : s->line == NULL)) {
			json_error(row, "neither spelled nor rejected");
		}
	}
}

void
dialect_read_functions(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(
		j, "kernel exported prototype close no_parameters array scalar "
		   "pointer helper external external_pointer "
		   "flat_arrays unique_names apart");
	json_check_keys(json_get(j, "apart"), "begin end");
	d->functions.apart_begin = dialect_read_names(
		json_get(json_get(j, "apart"), "begin"));
	d->functions.apart_end = dialect_read_names(
		json_get(json_get(j, "apart"), "end"));
	d->functions.unique = json_bool(json_get(j, "unique_names"));
	d->functions.flat = json_bool(json_get(j, "flat_arrays"));
	d->functions.prototype = dialect_read_names(json_get(j, "prototype"));
	d->functions.exported = dialect_read_names(json_get(j, "exported"));
	d->functions.helper = json_text(json_get(j, "helper"), true);
	d->functions.kernel = dialect_read_names(json_get(j, "kernel"));
	d->functions.close = dialect_read_names(json_get(j, "close"));
	d->functions.no_parameters = json_text(json_get(j, "no_parameters"),
					       true);
	d->functions.array = json_text(json_get(j, "array"), true);
	d->functions.scalar = json_text(json_get(j, "scalar"), true);
	d->functions.pointer = json_text(json_get(j, "pointer"), true);
	d->functions.external = json_text(json_get(j, "external"), true);
	d->functions.external_pointer = json_text(json_get(j,
							   "external_pointer"),
						  true);
}

static void
read_launch(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected call");
	f->no_launch = json_text(json_get(j, "rejected"), false);
	f->launch = json_text(json_get(j, "call"), false);
	if (f->no_launch == NULL && f->launch == NULL) {
		json_error(j, "neither spelled nor rejected");
	}
}

static struct dtype
type_called(struct json at, const char *name)
{
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);

		if (strcmp(dtype_short(t), name) == 0) {
			return t;
		}
	}
	json_error(at, "no type is called '%s'", name);
	return dtype_of(DT_VOID);
}

/* "wmma.accumulator": { "f32": { "spelling": …, "tile": [16, 16] } } */
static void
read_fragments(struct loader *l, struct json j)
{
	const cJSON *scope, *type;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	cJSON_ArrayForEach(scope, j.value)
	{
		struct json types = json_get(j, scope->string);

		if (!json_is_object(types, true)) {
			continue;
		}
		cJSON_ArrayForEach(type, types.value)
		{
			struct json row = json_get(types, type->string);
			struct json tile = json_get(row, "tile");
			struct fragment_form f = {
				.scope = arena_strdup(&l->m->arena,
						      scope->string),
			};

			f.type = type_called(row, type->string);
			json_check_keys(row, "spelling tile needs");
			f.spelling = json_text(json_get(row, "spelling"), true);
			f.needs = dialect_read_names(json_get(row, "needs"));
			if (json_length(tile) != 2) {
				json_error(row, "a tile of two extents is "
						"wanted");
				continue;
			}
			for (int i = 0; i < 2; i++) {
				f.tile[i] = json_int(json_at(tile, i), 1, 1024,
						     1);
			}
			vec_push(&l->m->arena, &l->d->device.fragments, f);
		}
	}
}

static void
read_models(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "host launch pointer number place");
	f->host = json_text(json_get(j, "host"), false);
	f->model_launch = json_text(json_get(j, "launch"), f->host == NULL);
	f->pointer = json_text(json_get(j, "pointer"), false);
	f->number = json_text(json_get(j, "number"), f->pointer != NULL);
	f->place = json_text(json_get(j, "place"), false);
}

static void
read_selftest(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "memory wait");
	f->memory = json_text(json_get(j, "memory"), true);
	f->wait = json_text(json_get(j, "wait"), true);
}

static void
read_async(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;
	struct json bytes = json_get(j, "bytes");

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "copy commit wait bytes needs");
	f->async_copy = json_text(json_get(j, "copy"), true);
	f->async_commit = json_text(json_get(j, "commit"), true);
	f->async_wait = json_text(json_get(j, "wait"), true);
	f->async_needs = dialect_read_names(json_get(j, "needs"));
	for (int i = 0; i < json_length(bytes); i++) {
		f->async_bytes |= json_int(json_at(bytes, i), 1, 4096, 0);
	}
}

static void
read_box_layouts(struct loader *l, struct json layouts, struct json types)
{
	struct box_forms *f = &l->d->device.boxes;
	struct arena *arena = &l->m->arena;
	const cJSON *item;

	if (!json_is_object(layouts, true) || !json_is_object(types, true)) {
		return;
	}
	cJSON_ArrayForEach(item, layouts.value)
	{
		struct json row = json_get(layouts, item->string);
		struct box_layout layout = {
			.scope = arena_strdup(arena, item->string),
		};

		json_check_keys(row, "name row_bytes");
		layout.name = json_text(json_get(row, "name"), true);
		layout.row_bytes = (int)json_int(json_get(row, "row_bytes"), 1,
						 4096, 0);
		vec_push(arena, &f->layouts, layout);
	}
	cJSON_ArrayForEach(item, types.value)
	{
		struct json row = json_get(types, item->string);
		struct box_type type = {
			.type = type_called(row, item->string),
			.name = json_text(row, true),
		};

		vec_push(arena, &f->types, type);
	}
}

static const char *
box_helper(struct loader *l, struct json j)
{
	const char *key = json_text(j, true);

	if (key != NULL && dialect_helper(l->d, key) == NULL) {
		json_error(j, "no helper is called '%s'", key);
	}
	return key;
}

/* "ranks": { "2": "copy_2d" } */
static void
read_box_ranks(struct loader *l, struct json j)
{
	const cJSON *item;

	if (!json_is_object(j, true)) {
		return;
	}
	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		struct box_rank rank = { .helper = box_helper(l, row) };

		if (item->string[0] < '1' || item->string[0] > '9' ||
		    item->string[1] != '\0') {
			json_error(row, "a number of dimensions from 1 to 9 is "
					"wanted");
		}
		rank.rank = item->string[0] - '0';
		vec_push(&l->m->arena, &l->d->device.boxes.ranks, rank);
	}
}

static void
read_boxes(struct loader *l, struct json j)
{
	struct box_forms *f = &l->d->device.boxes;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j,
			"helper source argument begin copy commit wait ranks "
			"most bytes layouts types");
	f->helper = box_helper(l, json_get(j, "helper"));
	f->source = json_text(json_get(j, "source"), true);
	f->argument = json_text(json_get(j, "argument"), true);
	f->begin = dialect_read_names(json_get(j, "begin"));
	f->copy = json_text(json_get(j, "copy"), true);
	f->commit = json_text(json_get(j, "commit"), true);
	f->wait = json_text(json_get(j, "wait"), true);
	read_box_ranks(l, json_get(j, "ranks"));
	f->most_extent = json_int(json_get(j, "most"), 1, INT32_MAX, 1);
	f->bytes = json_int(json_get(j, "bytes"), 1, 4096, 1);
	read_box_layouts(l, json_get(j, "layouts"), json_get(j, "types"));
}

static void
read_pool(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;

	if (j.value == NULL || !json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "beyond declare array before");
	f->pool_beyond = json_int(json_get(j, "beyond"), 1, INT32_MAX, 0);
	f->pool_declare = json_text(json_get(j, "declare"), true);
	f->pool_array = json_text(json_get(j, "array"), true);
	f->pool_before = json_text(json_get(j, "before"), true);
}

void
dialect_read_device(struct loader *l, struct json j)
{
	struct device_forms *f = &l->d->device;
	struct json indices = json_get(j, "indices");
	struct json barriers = json_get(j, "barriers");
	const char *tags[TAG_COUNT];

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected kernel array scalar indices barriers "
			   "shuffle_xor launch fragments models selftest async "
			   "boxes pool extent");
	f->extent = json_text(json_get(j, "extent"), false);
	if (f->extent != NULL && dialect_helper(l->d, f->extent) == NULL) {
		json_error(json_get(j, "extent"), "no helper is called '%s'",
			   f->extent);
	}
	f->shuffle_xor = json_text(json_get(j, "shuffle_xor"), false);
	read_models(l, json_get(j, "models"));
	read_selftest(l, json_get(j, "selftest"));
	f->rejected = json_text(json_get(j, "rejected"), false);
	f->file = json_file(json_get(j, "rejected"));
	if (f->rejected != NULL) {
		return;
	}
	f->kernel = dialect_read_names(json_get(j, "kernel"));
	f->array = json_text(json_get(j, "array"), true);
	f->scalar = json_text(json_get(j, "scalar"), true);
	for (int i = 0; i < TAG_COUNT; i++) {
		tags[i] = tag_name(i);
	}
	if (json_is_object(indices, true)) {
		json_check_keys(indices, dialect_joined(l, tags, TAG_COUNT));
		for (int i = 0; i < TAG_COUNT; i++) {
			f->indices[i] = json_text(json_get(indices, tags[i]),
						  true);
		}
	}
	if (json_is_object(barriers, true)) {
		json_check_keys(barriers, "shared block");
		f->barriers[BARRIER_SHARED] = json_text(json_get(barriers,
								 "shared"),
							true);
		f->barriers[BARRIER_BLOCK] = json_text(json_get(barriers,
								"block"),
						       true);
	}
	read_launch(l, json_get(j, "launch"));
	read_fragments(l, json_get(j, "fragments"));
	read_async(l, json_get(j, "async"));
	read_boxes(l, json_get(j, "boxes"));
	read_pool(l, json_get(j, "pool"));
}

void
dialect_read_access(struct loader *l, struct json j)
{
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j,
			"element call array_cast pointer_cast input output "
			"workspace weight unit flat_locals always_cast arena "
			"entry_tabs");
	l->d->access.always_cast = json_bool(json_get(j, "always_cast"));
	l->d->access.entry_tabs = (int)json_int(json_get(j, "entry_tabs"), 1, 8,
						1);
	l->d->access.arena = json_text(json_get(j, "arena"), false);
	l->d->access.element = json_text(json_get(j, "element"), true);
	l->d->access.call = json_text(json_get(j, "call"), true);
	l->d->access.array_cast = json_text(json_get(j, "array_cast"), true);
	l->d->access.pointer_cast = json_text(json_get(j, "pointer_cast"),
					      true);
	l->d->access.input = json_text(json_get(j, "input"), true);
	l->d->access.output = json_text(json_get(j, "output"), true);
	l->d->access.workspace = json_text(json_get(j, "workspace"), true);
	l->d->access.weight = json_text(json_get(j, "weight"), true);
	l->d->access.unit = json_text(json_get(j, "unit"), true);
	l->d->access.flat_locals = json_bool(json_get(j, "flat_locals"));
}
