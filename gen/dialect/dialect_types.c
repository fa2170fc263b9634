/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a dialect's limits, levels of precedence and types. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dialect_keys.h"
#include "dialect_load.h"

int
dialect_read_level(struct loader *l, struct json j, int absent)
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

void
dialect_read_precedence(void *ctx, struct json j)
{
	struct loader *l = ctx;
	struct dialect *d = l->d;

	d->n_levels = json_length(j);
	d->levels = arena_array(&l->m->arena, struct level, d->n_levels + 1);
	for (int i = 0; i < d->n_levels; i++) {
		json_keys_read(&dialect_keys, json_at(j, i), "/precedence/*",
			       &d->levels[i], l);
		if (d->levels[i].name == NULL) {
			d->levels[i].name = "";
		}
	}
	for (int i = 0; i < d->n_levels; i++) {
		struct json row = json_at(j, i);
		struct json clarify = json_get(row, "clarify");
		const char *side = json_text(json_get(row, "associates"),
					     false);
		const char *where = json_text(json_get(row, "break"), false);

		d->levels[i].right = side != NULL && strcmp(side, "right") == 0;
		for (int k = 0; k < json_length(clarify); k++) {
			d->levels[i].clarify |=
				(uint64_t)1
				<< dialect_read_level(l, json_at(clarify, k),
						      -1);
		}
		if (where != NULL) {
			d->levels[i].where = strcmp(where, "before") == 0
						     ? BREAK_BEFORE
						     : BREAK_AFTER;
		}
	}
	if (d->n_levels == 0) {
		return;
	}
	d->primary = named_level(l, j, "primary");
	d->unary = named_level(l, j, "unary");
	d->assignment = named_level(l, j, "assignment");
	d->relational = named_level(l, j, "relational");
}

/* Reports an error if `text`, the text of a literal, lacks {{value}}: the
 * literal would be the same for all numbers. */
static void
want_value(struct json j, const char *text)
{
	if (text != NULL && strstr(text, "{{value}}") == NULL) {
		json_error(j, "a constant, whatever the number is: the text "
			      "has to have {{value}}");
	}
}

/* Reports an error if the text of a limit is a plain number other than `limit`,
 * the limit of type t. */
static void
check_limit(struct json j, const char *text, struct dtype t, int64_t limit)
{
	bool wide = dtype_class(t) == DTC_UINT && dtype_bits(t) == 64;
	char *end;
	long long v;

	if (text == NULL || (wide && limit != 0)) {
		return;
	}
	errno = 0;
	v = strtoll(text, &end, 0);
	if (end == text || errno != 0 || end[strspn(end, "uUlL")] != '\0') {
		return;
	}
	if (v != limit) {
		json_error(j, "%s has the limit %lld, not %lld", dtype_name(t),
			   (long long)limit, v);
	}
}

/* Reports an error for each text that types of this class need and that s
 * lacks. */
static void
want_texts(struct json j, const struct spelled_type *s, enum dtype_class c)
{
	const bool ints = c == DTC_INT || c == DTC_UINT;
	const struct {
		const char *key, *text;
		bool wanted;
	} rows[] = {
		{ "literal", s->literal, ints || c == DTC_FLOAT },
		{ "lowest", s->lowest, ints },
		{ "highest", s->highest, ints },
		{ "unsigned", s->unsigned_spelling, ints },
		{ "infinity", s->infinity, c == DTC_FLOAT },
		{ "nan", s->nan, c == DTC_FLOAT },
		{ "false", s->no, c == DTC_BOOL },
		{ "true", s->yes, c == DTC_BOOL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].wanted && rows[i].text == NULL) {
			json_error(json_get(j, rows[i].key), "is missing");
		}
	}
}

static void
read_type(struct loader *l, struct json types, struct dtype t)
{
	struct spelled_type *s = &l->d->types[t.kind];
	struct json j = json_get(types, dtype_short(t));
	enum dtype_class c = dtype_class(t);
	const char *computed_as;

	if (!json_is_object(j, true)) {
		return;
	}
	json_keys_read(&dialect_keys, j, "#type", s, l);
	s->file = json_file(j);
	if (s->rejected != NULL) {
		*s = (struct spelled_type){ .rejected = s->rejected,
					    .file = s->file };
		return;
	}
	json_text(json_get(j, "spelling"), true);
	computed_as = json_text(json_get(j, "computed_as"), false);
	if (computed_as != NULL && computed_as[0] != '\0') {
		*s = (struct spelled_type){
			.file = s->file,
			.spelling = s->spelling,
			.needs = s->needs,
			.is_stored_only = true,
			.load = s->load,
			.store = s->store,
			.round = s->round,
		};
		return;
	}
	want_texts(j, s, c);
	want_value(json_get(j, "literal"), s->literal);
	want_value(json_get(j, "wide_literal"), s->wide_literal);
	if (c == DTC_INT || c == DTC_UINT) {
		check_limit(json_get(j, "lowest"), s->lowest, t,
			    dtype_min_int(t));
		check_limit(json_get(j, "highest"), s->highest, t,
			    dtype_max_int(t));
	}
	s->promoted = s->promoted && dtype_bits(t) < l->d->int_bits;
}

/* Sets the type in which expressions compute a storage-only type t: a floating
 * type that can represent all its values. */
static void
complete_stored(struct loader *l, struct json types, struct dtype t)
{
	struct spelled_type *s = &l->d->types[t.kind];
	struct json j = json_get(json_get(types, dtype_short(t)),
				 "computed_as");
	const char *name = json_text(j, true);

	for (int k = 0; name != NULL && k < DT_COUNT; k++) {
		struct dtype c = dtype_of((enum dtype_kind)k);
		const struct spelled_type *from = &l->d->types[k];

		if (strcmp(dtype_short(c), name) == 0 && dtype_is_float(c) &&
		    dtype_is_float(t) && dtype_bits(c) >= 32 &&
		    dtype_bits(t) < dtype_bits(c) && from->rejected == NULL &&
		    !from->is_stored_only) {
			s->computed = c;
			s->literal = from->literal;
			s->infinity = from->infinity;
			s->nan = from->nan;
			s->math = from->math;
			s->special_needs = from->special_needs;
			return;
		}
	}
	json_error(j, "f32 or f64 is wanted, a wider type that the dialect "
		      "computes in");
}

/* Sets s->facts, the values of the placeholders about a type. */
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
	tdata_flag(s->facts, "is_float", dtype_is_float(t));
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

void
dialect_read_types(void *ctx, struct json j)
{
	struct loader *l = ctx;

	if (j.value == NULL) {
		return;
	}
	for (int k = 0; k < DT_COUNT; k++) {
		if (dialect_computes(dtype_of((enum dtype_kind)k))) {
			read_type(l, j, dtype_of((enum dtype_kind)k));
		}
	}
	for (int k = 0; k < DT_COUNT; k++) {
		if (l->d->types[k].is_stored_only) {
			complete_stored(l, j, dtype_of((enum dtype_kind)k));
		}
	}
	for (int k = 0; k < DT_COUNT; k++) {
		struct dtype t = dtype_of((enum dtype_kind)k);

		if ((dtype_is_int(t) || dtype_is_float(t)) &&
		    8 * dtype_bytes(t) < l->d->char_bits &&
		    dialect_computes(t) && l->d->types[k].rejected == NULL) {
			json_error(json_get(j, dtype_short(t)),
				   "is narrower than a "
				   "char of %d bits; reject it",
				   l->d->char_bits);
		}
	}
	for (int k = 0; k < DT_COUNT; k++) {
		if (dialect_computes(dtype_of((enum dtype_kind)k))) {
			add_facts(l, dtype_of((enum dtype_kind)k));
		}
	}
	for (int k = 0; k < DT_COUNT; k++) {
		l->d->types[k] =
			l->d->types[dtype_stored(dtype_of((enum dtype_kind)k))
					    .kind];
	}
}

void
dialect_check_stored(struct loader *l, struct json types)
{
	static const char *const keys[] = { "load", "store", "round" };

	for (int k = 0; k < DT_COUNT; k++) {
		struct json row = json_get(types, dtype_short(dtype_of(
							  (enum dtype_kind)k)));

		for (int i = 0; i < 3 && l->d->types[k].is_stored_only; i++) {
			struct json j = json_get(row, keys[i]);
			const char *name = json_text(j, true);

			if (name != NULL &&
			    dialect_helper(l->d, name) == NULL) {
				json_error(j, "no helper is called '%s'", name);
			}
		}
	}
}

void
dialect_read_limits(void *ctx, struct json j)
{
	struct loader *l = ctx;
	struct dialect *d = l->d;

	if (d->external_length > d->identifier_length) {
		d->external_length = d->identifier_length;
	}
	if (l->target != NULL) {
		d->int_bits = l->target->int_bits > 0 ? l->target->int_bits
						      : d->int_bits;
		d->char_bits = l->target->char_bits > 0 ? l->target->char_bits
							: d->char_bits;
		d->object_bytes = l->target->object_bytes > 0
					  ? l->target->object_bytes
					  : d->object_bytes;
	}
	if ((d->char_bits & (d->char_bits - 1)) != 0 ||
	    d->int_bits < d->char_bits) {
		json_error(j, "a char of 8, 16 or 32 bits, and an int that is "
			      "no shorter, are wanted");
	}
	d->most_columns = (int)json_int(json_get(j, "most_columns"),
					d->line_columns, 100000,
					d->line_columns > 100 ? d->line_columns
							      : 100);
	d->deep_columns = (int)json_int(json_get(j, "deep_columns"), 1,
					d->tab_columns,
					d->tab_columns < 4 ? d->tab_columns
							   : 4);
}
