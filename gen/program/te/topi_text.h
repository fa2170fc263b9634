/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of topi that are written in the language of tensor programs, the
 * subset of Python that tirc evaluates. Each module of topi has a text with
 * such operators, gen/program/te/topi/NAME.py. A text is evaluated when a
 * program first uses a name of its module that no table has. */
#ifndef TIRC_TOPI_TEXT_H
#define TIRC_TOPI_TEXT_H

#include "eval.h"

struct topi_text {
	uint64_t in; /* the bit of the function's module */
	struct source source;
};

/* The row of a function of a module (in); its value is the function that the
 * text defines. NULL if no text defines such a function. Names that begin with
 * _ can only be used by texts. */
const struct name_row *topi_text_find(struct eval *ev, uint64_t in,
				      const char *name);
/* Is src one of these texts? */
bool topi_is_text(const struct source *src);
struct pv_names;
/* Appends to *list the names of the functions that the text of the module `in`
 * defines. */
void topi_text_list(struct eval *ev, uint64_t in, struct pv_names *list);

#endif
