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

/* Keys of types: each word has a blank in front of it. */
#define OF_0(name) " " name
#define OF_4(name) /* bytes before: the pass nibbles */
#define OF_8(name) " " name
#define OF_16(name) " " name
#define OF_32(name) " " name
#define OF_64(name) " " name
static const char blank_type_keys[] =
#define DTYPE(id, long_name, name, class, bits) OF_##bits(name)
#include "dtype.def"
#undef DTYPE
	;
#define type_keys &blank_type_keys[1]

#define NUMBER_VOID(name)
#define NUMBER_BOOL(name)
#define NUMBER_HANDLE(name)
#define NUMBER_STRING(name)
#define NUMBER_INT(name) " " name
#define NUMBER_UINT(name) " " name
#define NUMBER_FLOAT(name) " " name
static const char blank_number_keys[] =
#define DTYPE(id, long_name, name, class, bits) NUMBER_##class(name)
#include "dtype.def"
#undef DTYPE
	;
#define number_keys &blank_number_keys[1]

#define LANES_VOID(name)
#define LANES_HANDLE(name)
#define LANES_STRING(name)
#define LANES_BOOL(name) " " name "x2 " name "x4 " name "x8 " name "x16"
#define LANES_INT(name) LANES_BOOL(name)
#define LANES_UINT(name) LANES_BOOL(name)
#define LANES_FLOAT(name) LANES_BOOL(name)
static const char blank_vector_keys[] =
#define DTYPE(id, long_name, name, class, bits) LANES_##class(name)
#include "dtype.def"
#undef DTYPE
	;
#define VECTOR_KEYS &blank_vector_keys[1]

static const char blank_form_keys[] =
#define FORM(id, key, types, n) " " key
#include "forms.def"
#undef FORM
	;
#define FORM_KEYS &blank_form_keys[1]
#define FORM_TYPES                                                             \
	"any float short_float int uint bool i8 i16 i32 i64 u8 u16 u32 u64 "   \
	"f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f16 bf16 f32 f64"

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
