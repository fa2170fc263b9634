/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as other languages write them: the filters of templates (template.h). */
#ifndef TIRC_QUOTE_H
#define TIRC_QUOTE_H

#include "arena.h"

struct quote {
	const char *filter;
	/* Appends the text as the language writes it. False: it cannot be
	 * written there. */
	bool (*put)(const char *text, struct strbuf *out);
};

/* The filter whose name is the first `length` bytes of `name`; NULL: no filter has
 * this name. */
const struct quote *quote_find(const char *name, size_t length);

#endif
