/* SPDX-License-Identifier: Apache-2.0 */
/* Values as text in a format. Private to gen/program/. */
#ifndef TIRC_FORMAT_H
#define TIRC_FORMAT_H

#include "eval.h"
#include "program_parts.h"

/* Appends the value in a format of Python's mini-language, ">8.3f"; spec NULL or
 * "": as str() shows it. conversion: 'r', 's' or 'a' of {x!r}, or 0. False after an
 * error. */
bool format_value(struct eval *ev, struct py_span at, const struct pval *v,
		  char conversion, const char *spec, struct strbuf *out);
/* A name_fn: text.format(*values, **names) */
bool str_format(struct call *c, struct pval *out);
/* text % values */
bool format_percent(struct eval *ev, struct py_span at, const struct pval *text,
		    const struct pval *values, struct pval *out);

#endif
