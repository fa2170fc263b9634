/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libraries that are written in the language of tensor programs,
 * the subset of Python that tirc evaluates: operators of topi, sessions of RPC.
 * The text of a module is gen/program/texts/NAME.py. A text is evaluated when
 * a program first uses a name of its module that no table has. */
#ifndef TIRC_LIBRARY_TEXT_H
#define TIRC_LIBRARY_TEXT_H

#include "eval.h"

struct library_text {
	uint64_t in; /* the bit of the function's module */
	struct source source;
};

/* The functions of all texts. Names that begin with _ can only be used by
 * texts. */
extern const struct library text_library;
/* Is src one of these texts? */
bool library_is_text(const struct source *src);

#endif
