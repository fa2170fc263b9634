/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers made from the model's names: sanitised, unique within the number
 * of characters that compilers distinguish, different from the reserved words
 * of all dialects, and independent of how many nodes come before. */
#ifndef TIRC_IDENTIFIERS_H
#define TIRC_IDENTIFIERS_H

#include "arena.h"

/* The number of initial characters of an identifier that every C compiler
 * distinguishes (ISO C, 5.2.4.1): NAME_INTERNAL for internal identifiers and
 * macros, NAME_EXTERNAL for external ones. */
enum { NAME_INTERNAL = 63, NAME_EXTERNAL = 31 };

struct name_slot {
	const char *name; /* NULL if the slot is free */
	/* the first number that was not yet tried as a suffix */
	int next;
};

struct name_slots {
	struct name_slot *slot; /* a hash table */
	int n, cap;
};

struct name_set {
	struct arena *arena;
	struct name_slots used;
	struct name_slots numbered;  /* the texts from which identifiers with a
				      * numeric suffix were made */
	const char *const *reserved; /* sorted; may be empty */
	int n_reserved;
	int max_length; /* largest length of an identifier; by default
			 * NAME_EXTERNAL */
};

void name_set_init(struct name_set *s, struct arena *a);
/* Adds and returns an unused identifier made from text. A run of characters
 * that are not allowed becomes one '_'; keywords and leading digits are
 * escaped. A long name keeps whole words, if it has any: the last ones, and the
 * first one if it fits. */
const char *name_set_add(struct name_set *s, const char *text);
/* Is the identifier in the set? */
bool name_set_has(const struct name_set *s, const char *name);
/* Would name_set_add make an identifier without a number from text? */
bool name_set_takes(const struct name_set *s, const char *text);
/* The readable part of a name in the model: "/layer/0/Conv_output_0" gives
 * "layer_0". NULL for names that only number the nodes, such as "Conv_12" and
 * "123". */
const char *name_stem(struct arena *a, const char *model_name);
struct node;
/* The layer's name, taken from the name of a constant input of n:
 * "conv1.weight" and "conv1_w" both give "conv1". NULL if no input has such a
 * name (describe.c). */
const char *stem_of_weight(struct arena *a, const struct node *n);
struct tensor;
/* The name of the model's constant from which t was computed (describe.c). */
const char *constant_name(const struct tensor *t);

#endif
