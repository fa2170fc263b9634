/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON as text; see the header. */
#include "json_put.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

bool
json_can_hold(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t bytes = text_character(text + i, length - i, &code);

		if (bytes == 0 || code == 0) {
			return false;
		}
		i += bytes;
	}
	return true;
}

/* Writes an escape for a code point: \u and four digits, two of these
 * (surrogates) above 16 bits. is_byte: it is a byte that is not UTF-8, which
 * becomes the replacement character. */
static void
put_code(struct strbuf *out, uint32_t code, bool is_byte)
{
	if (is_byte) {
		strbuf_puts(out, "\\ufffd");
	} else if (code > 0xffff) {
		strbuf_printf(out, "\\u%04x\\u%04x",
			      0xd800 + ((code - 0x10000) >> 10),
			      0xdc00 + ((code - 0x10000) & 0x3ff));
	} else {
		strbuf_printf(out, "\\u%04x", code);
	}
}

void
json_put(struct strbuf *out, const cJSON *value, bool lines)
{
	char *text = lines ? cJSON_Print(value) : cJSON_PrintUnformatted(value);

	/* newlines and tabs stay as they are: they can only stand between
	 * values, because cJSON escapes newlines and tabs in texts */
	text_put_with(out, text, strlen(text), "\n\t", put_code);
	cJSON_free(text);
}

void
json_put_text(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	json_put_escaped(out, text);
	strbuf_putc(out, '"');
}

void
json_put_escaped(struct strbuf *out, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\"\\");

		text_put_with(out, text, n, "", put_code);
		text += n;
		if (*text != '\0') {
			strbuf_printf(out, "\\%c", *text++);
		}
	}
}

void
json_put_int(struct strbuf *out, int64_t v)
{
	bool exact = v <= JSON_EXACT && v >= -JSON_EXACT;

	strbuf_printf(out, exact ? "%lld" : "\"%lld\"", (long long)v);
}

static void
json_put_uint(struct strbuf *out, uint64_t v)
{
	strbuf_printf(out, v > (uint64_t)JSON_EXACT ? "\"%llu\"" : "%llu",
		      (unsigned long long)v);
}

void
json_put_float(struct strbuf *out, struct dtype t, double v)
{
	char text[40];

	if (isnan(v)) {
		strbuf_puts(out, "\"nan\"");
		return;
	}
	if (isinf(v)) {
		strbuf_puts(out, v < 0 ? "\"-inf\"" : "\"inf\"");
		return;
	}
	if (v == 0) {
		strbuf_puts(out, signbit(v) ? "-0.0" : "0");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		union number back;

		snprintf(text, sizeof text, "%.*g", digits, v);
		back.f = strtod(text, NULL);
		if (number_round(t, back).f == v) {
			break;
		}
	}
	strbuf_puts(out, text);
}

void
json_put_number(struct strbuf *out, struct dtype t, union number v)
{
	if (dtype_is_float(t)) {
		json_put_float(out, t, v.f);
	} else if (dtype_class(t) == DTC_UINT) {
		json_put_uint(out, v.u);
	} else {
		json_put_int(out, v.i);
	}
}
