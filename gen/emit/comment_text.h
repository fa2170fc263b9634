/* SPDX-License-Identifier: Apache-2.0 */
/* Text for comments of emitted files. */
#ifndef TIRC_COMMENT_TEXT_H
#define TIRC_COMMENT_TEXT_H

#include "dialect.h"

/* A copy of text, in arena a, that is safe in a comment of the dialect and of
 * C: it is printable ASCII without comment delimiters and trigraphs. Other
 * characters are shown as <U+202E>, bytes that are not UTF-8 as <FF>. */
const char *comment_text(struct arena *a, const struct dialect *d,
			 const char *text);
/* A copy of text, which begins in the given column, wrapped to the dialect's
 * line width; further lines begin with the dialect's prefix. */
const char *comment_wrap(struct arena *a, const struct dialect *d,
			 const char *text, int column);
/* The text after the file's name in the first line of an emitted file: "from
 * net.onnx, tirc 0.1.0, target x86-64-v3". */
const char *comment_origin(struct arena *a, const struct dialect *d,
			   const char *from, const char *version,
			   const char *target);
/* The compiler flags for which a file is made, or the options, wrapped for a row
 * at the file's head. */
const char *comment_flags(struct arena *a, const struct dialect *d,
			  const char *flags);

#endif
