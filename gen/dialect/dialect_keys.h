/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of dialect.json, and placeholders that several texts
 * share. */
#ifndef TIRC_DIALECT_KEYS_H
#define TIRC_DIALECT_KEYS_H

#include "json_keys.h"

#define TYPE_FACTS                                                             \
	"type short bits math is_float one zero "                              \
	"unsigned lowest highest"
#define VECTOR_FACTS TYPE_FACTS " element lanes bytes element_bytes loose"
#define HELPER_FACTS                                                           \
	VECTOR_FACTS                                                           \
	" mask doubles shorts pairs to_float widens is_bf16 "                  \
	"to_signed four eight sixteen native from_short function to_type "     \
	"to_short to_lowest to_highest to_zero to_below to_above to_most "     \
	"is_wide exponent_bits fraction_bits lost_bits "                       \
	"bias rebias least_exponent has_infinity has_nan nan_apart one_zero "  \
	"places sign_shift to_bits "                                           \
	"sign_bits magnitude_bits largest_bits beyond_bits nan_bits least "    \
	"limit computed load store model"

/* The key of "types" whose row stands for each float of at most 8 bits for
 * which "types" has no row. */
#define BYTE_FLOAT "byte_float"

extern const struct key_table dialect_keys;

#endif
