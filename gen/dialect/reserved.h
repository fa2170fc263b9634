/* SPDX-License-Identifier: Apache-2.0 */
/* Identifiers that emitted files may not use: the words of languages, in
 * templates/reserved/, and the words in a dialect's own texts. */
#ifndef TIRC_RESERVED_H
#define TIRC_RESERVED_H

#include "module.h"

struct word_list {
	VEC(const char *) list;
};

/* Adds the words in templates/reserved/NAME.txt to the list. */
void reserved_add(struct module *m, struct word_list *words, const char *name);
/* Sorts the words and removes duplicates, as name sets require. */
void reserved_sort(struct word_list *words);

#endif
