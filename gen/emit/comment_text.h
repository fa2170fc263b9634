/* SPDX-License-Identifier: Apache-2.0 */
/* Text for comments of emitted files. */
#ifndef TIRC_COMMENT_TEXT_H
#define TIRC_COMMENT_TEXT_H

#include "dialect.h"

/* A copy of text in a, safe in a comment of the dialect and of C: in printable
 * ASCII, without the delimiters of comments and trigraphs. Other characters are
 * shown as <U+202E>, bytes that are no UTF-8 as <FF>. */
const char *comment_text(struct arena *a, const struct dialect *d,
			 const char *text);
/* A copy of text, which starts in that column, wrapped to the dialect's width;
 * continuation lines start with the dialect's prefix. */
const char *comment_wrap(struct arena *a, const struct dialect *d,
			 const char *text, int column);

#endif
