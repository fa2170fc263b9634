/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and classes of libraries that are written in the language of tensor
 * programs, the subset of Python that tirc evaluates: operators of topi and of
 * Relay, sessions of RPC. The text of a module is gen/program/texts/NAME.py, or
 * several, NAME-PART.py. A text is evaluated when a program first uses a name of
 * its module that no table has. */
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
/* All texts, from the table that library_texts.py writes. */
extern const struct library_text library_text_table[];
extern const int library_text_count;
/* Is src one of these texts? */
static inline bool
library_is_text(const struct source *src)
{
	for (int i = 0; i < library_text_count; i++) {
		if (src == &library_text_table[i].source) {
			return true;
		}
	}
	return false;
}
/* Calls the function `name`, which a text of the module defines. Returns false
 * after an error. */
bool library_text_apply(struct eval *ev, struct py_span at, uint64_t in,
			const char *name, const struct pval *args, int n,
			struct pval *out);

#endif
