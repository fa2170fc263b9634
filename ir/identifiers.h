/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers from the model's names: sanitised, unique in as many characters as
 * compilers tell apart, no reserved word of any dialect, independent of node
 * numbering. */
#ifndef TIRC_NAMES_H
#define TIRC_NAMES_H

#include "arena.h"

/* Characters of an identifier that every C compiler tells apart (ISO C, 5.2.4.1):
 * of static functions, variables, members and macros; of external ones. */
enum { NAME_INTERNAL = 63, NAME_EXTERNAL = 31 };

struct name_slot {
	const char *name; /* NULL: free */
	int next;         /* the first number not yet tried behind it */
};

struct name_slots {
	struct name_slot *slot; /* hashed inside */
	int n, cap;
};

struct name_set {
	struct arena *arena;
	struct name_slots used;
	struct name_slots numbered;  /* texts that a number was put behind */
	const char *const *reserved; /* sorted, may be empty */
	int n_reserved;
	int max_length; /* NAME_EXTERNAL where not told otherwise */
};

void name_set_init(struct name_set *s, struct arena *a);
/* A free identifier made from text: other characters become '_', runs of
 * them one; keywords and digits in front are escaped; long names keep whole
 * words where they have them: the last ones, and the first one if it fits.
 * Adds it. */
const char *name_set_add(struct name_set *s, const char *text);
/* Is this very identifier in the set? */
bool name_set_has(const struct name_set *s, const char *name);
/* Is the identifier of text free, so that name_set_add needs no number? */
bool name_set_takes(const struct name_set *s, const char *text);
/* The readable stem of a model's name: "/layer/0/Conv_output_0" -> "layer_0",
 * numbers that only count nodes ("Conv_12", "123") give NULL. */
const char *name_stem(struct arena *a, const char *model_name);
struct node;
/* Of the constant input that carries the layer's name: "conv1.weight" and
 * "conv1_w" both name "conv1". NULL: there is none (describe.c). */
const char *stem_of_weight(struct arena *a, const struct node *n);
struct tensor;
/* The name of the model's constant behind a computed one (describe.c). */
const char *constant_name(const struct tensor *t);

#endif
