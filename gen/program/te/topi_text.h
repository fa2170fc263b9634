/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of topi that are texts: definitions in the language of programs,
 * gen/program/te/topi/NAME.py, a file for each module. A text is evaluated when a
 * program first asks its module for a name that no table has. */
#ifndef TIRC_TOPI_TEXT_H
#define TIRC_TOPI_TEXT_H

#include "eval.h"

struct topi_text {
	uint64_t in; /* its module */
	struct source source;
};

/* The row of a function, an attribute of the module (in), whose value is the
 * function of the text; NULL if there is none. Names that begin with _ are only
 * for texts. */
const struct name_row *topi_text_find(struct eval *ev, uint64_t in,
				      const char *name);
/* Is it one of the texts? */
bool topi_is_text(const struct source *src);
struct pv_names;
/* Appends the names of the module's functions. */
void topi_text_list(struct eval *ev, uint64_t in, struct pv_names *list);

#endif
