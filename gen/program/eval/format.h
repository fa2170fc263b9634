/* SPDX-License-Identifier: Apache-2.0 */
/* Formats values as text. Private to gen/program/. */
#ifndef TIRC_FORMAT_H
#define TIRC_FORMAT_H

#include "eval.h"
#include "program_parts.h"

/* Appends the text of the value in the format `spec` of Python's mini-language,
 * such as ">8.3f"; if spec is NULL or "", the text that str() gives.
 * conversion: the letter 'r', 's' or 'a' of {x!r}, or 0. Returns false after an
 * error. */
bool format_value(struct eval *ev, struct py_span at, const struct pval *v,
		  char conversion, const char *spec, struct strbuf *out);
/* Implements the method text.format(*values, **names). */
bool str_format(struct call *c, struct pval *out);
/* Evaluates text % values. */
bool format_percent(struct eval *ev, struct py_span at, const struct pval *text,
		    const struct pval *values, struct pval *out);

#endif
