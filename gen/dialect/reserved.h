/* SPDX-License-Identifier: Apache-2.0 */
/* Which identifiers no emitted file may have: templates/reserved/ has the words
 * of the languages, each dialect those of its own texts. */
#ifndef TIRC_RESERVED_H
#define TIRC_RESERVED_H

#include "module.h"

struct word_list {
	VEC(const char *) list;
};

/* Adds the words of templates/reserved/NAME.txt to the list. */
void reserved_add(struct module *m, struct word_list *words, const char *name);
/* Sorts the words and drops repetitions, as the searches of name sets need. */
void reserved_sort(struct word_list *words);

#endif
