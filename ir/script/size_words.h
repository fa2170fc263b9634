/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes in words, for readers who know nothing of TVMScript. */
#ifndef TIRC_SIZE_WORDS_H
#define TIRC_SIZE_WORDS_H

#include "expr.h"

/* Appends the text of a tensor's size as "max(n - 4, 1)", where expr_print()
 * has T.max. */
void size_words(const struct expr *e, struct strbuf *out);

#endif
