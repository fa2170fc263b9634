/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of dialect.json, from dialect.def. */
#include "dialect_keys.h"

#include "dialect_load.h"
#include "json_key_rows.h"

#define LOOP "type var min end extent trips_min trips_max trips_multiple"
#define CAST "const space type inner extent value"
#define POINTER "space type element name value"
#define ARRAY_WORDS "type name extents extent align"
#define ASSIGNMENT "target br value"

/* These macros make lists of the short names of types, each name with a space
 * before it: IF_* select types by how they are stored, OF_* and LANES_* by
 * their class. */
#define IF_OWN(names) names
#define IF_I8(names) /* not in the list: stored as bytes (pass nibbles) */
#define IF_U8(names)
#define OF_VOID(name)
#define OF_BOOL(name)
#define OF_HANDLE(name)
#define OF_STRING(name)
#define OF_INT(name) " " name
#define OF_UINT(name) OF_INT(name)
#define OF_FLOAT(name) OF_INT(name)
#define LANES_VOID(name)
#define LANES_HANDLE(name)
#define LANES_STRING(name)
#define LANES_BOOL(name) " " name "x2 " name "x4 " name "x8 " name "x16"
#define LANES_INT(name) LANES_BOOL(name)
#define LANES_UINT(name) LANES_BOOL(name)
#define LANES_FLOAT(name) LANES_BOOL(name)

static const char blank_type_keys[] =
#define DTYPE(id, long_name, name, class, bits, stored, ...)                   \
	IF_##stored(" " name)
#include "dtype.def"
#undef DTYPE
	" " BYTE_FLOAT;
#define type_keys &blank_type_keys[1]

static const char blank_number_keys[] =
#define DTYPE(id, long_name, name, class, ...) OF_##class(name)
#include "dtype.def"
#undef DTYPE
	;
#define number_keys &blank_number_keys[1]

static const char blank_vector_keys[] =
#define DTYPE(id, long_name, name, class, ...) LANES_##class(name)
#include "dtype.def"
#undef DTYPE
	;
#define VECTOR_KEYS &blank_vector_keys[1]

static const char form_types[] = "any float short_float int uint bool"
#define DTYPE(id, long_name, name, class, bits, stored, ...)                   \
	IF_##stored(OF_##class(name))
#include "dtype.def"
#undef DTYPE
	;

static const char blank_form_keys[] =
#define FORM(id, key, types, n) " " key
#include "forms.def"
#undef FORM
	;
#define FORM_KEYS &blank_form_keys[1]

static const struct key rows[] = {
#define KEY KEY_ROW
#include "dialect.def"
};

static const struct key_words sets[] = {
	{ "facts of a helper", HELPER_FACTS },
	{ "facts of a vector", VECTOR_FACTS },
	{ "facts of a type", TYPE_FACTS },
	{ "facts of a loop", LOOP },
};

const struct key_table dialect_keys = {
	.title = "a dialect of tirc",
	.doc = "What a target language looks like. A dialect that extends "
	       "another need hold only what differs; rows of expressions and "
	       "statements replace the other's as a whole. The loader also "
	       "checks that, with what is extended, all is there.",
	.extends = true,
	.templates = true,
	.rows = rows,
	.n = sizeof rows / sizeof *rows,
	.sets = sets,
	.n_sets = sizeof sets / sizeof *sets,
};
