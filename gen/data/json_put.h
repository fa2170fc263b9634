/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON exactly: every number reads back as the same bits. Invisible
 * characters (text_is_hidden) are escaped, and a byte that is not UTF-8 becomes
 * \ufffd, so that the text can be shown on a terminal. */
#ifndef TIRC_JSON_PUT_H
#define TIRC_JSON_PUT_H

#include "arena.h"
#include "dtype.h"

struct cJSON;

/* JSON readers represent integers up to this magnitude exactly. */
#define JSON_EXACT (INT64_C(1) << 53)

/* Can JSON represent the text? It must be UTF-8 without zero bytes. */
bool json_can_hold(const char *text, size_t length);
/* Appends a value as cJSON prints it, on one line or on several. */
void json_put(struct strbuf *out, const struct cJSON *value, bool lines);
void json_put_text(struct strbuf *out, const char *text);
/* Appends a text, escaped, without quotes. */
void json_put_escaped(struct strbuf *out, const char *text);
/* Appends an integer; beyond 2^53 as a text, since readers convert numbers to
 * double. */
void json_put_int(struct strbuf *out, int64_t v);
/* Appends the shortest number that reads back as v in type t; "nan", "inf" and
 * "-inf" as texts. */
void json_put_float(struct strbuf *out, struct dtype t, double v);
void json_put_number(struct strbuf *out, struct dtype t, union number v);

#endif
