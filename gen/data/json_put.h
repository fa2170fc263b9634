/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON exactly: every number reads back as the same bits. Characters that
 * no reader sees (text_is_hidden) are escaped, and a byte that is no UTF-8 becomes
 * \ufffd, so the text can go to a terminal. */
#ifndef TIRC_JSON_PUT_H
#define TIRC_JSON_PUT_H

#include "arena.h"
#include "dtype.h"

struct cJSON;

/* Integers up to this, with either sign, are exact numbers in JSON. */
#define JSON_EXACT (INT64_C(1) << 53)

/* Can JSON hold the text (UTF-8 without zero bytes)? */
bool json_can_hold(const char *text, size_t length);
/* A value as cJSON prints it: on one line, or on several. */
void json_put(struct strbuf *out, const struct cJSON *value, bool lines);
void json_put_text(struct strbuf *out, const char *text);
/* The escaped text without the quotes. */
void json_put_escaped(struct strbuf *out, const char *text);
/* Beyond 2^53 as a text: readers take numbers for doubles. */
void json_put_int(struct strbuf *out, int64_t v);
/* The shortest number that t rounds to v; "nan", "inf", "-inf" as texts. */
void json_put_float(struct strbuf *out, struct dtype t, double v);
void json_put_number(struct strbuf *out, struct dtype t, union number v);

#endif
