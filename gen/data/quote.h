/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as other languages quote them: the filters of templates
 * (template.h). */
#ifndef TIRC_QUOTE_H
#define TIRC_QUOTE_H

#include "arena.h"

struct quote {
	const char *filter;
	/* Appends the quoted text. False if the language cannot represent
	 * it. */
	bool (*put)(const char *text, struct strbuf *out);
};

/* The filter whose name is the first `length` bytes of `name`, or NULL. */
const struct quote *quote_find(const char *name, size_t length);

#endif
