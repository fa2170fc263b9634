/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text: see the header. */
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

/* Code points beyond 16 bits are pairs of surrogates. */
static void
put_code(struct strbuf *out, uint32_t code)
{
	if (code > 0xffff) {
		strbuf_printf(out, "\\u%04x\\u%04x",
			      0xd800 + ((code - 0x10000) >> 10),
			      0xdc00 + ((code - 0x10000) & 0x3ff));
	} else {
		strbuf_printf(out, "\\u%04x", code);
	}
}

/* Appends text with hidden characters escaped, but for those in `kept`. */
static void
put_visible(struct strbuf *out, const char *text, size_t n, const char *kept)
{
	for (size_t i = 0; i < n;) {
		size_t plain = text_printable(text + i, n - i), bytes;
		uint32_t code;

		strbuf_write(out, text + i, plain);
		i += plain;
		if (i == n) {
			break;
		}
		bytes = text_character(text + i, n - i, &code);
		if (bytes == 0) {
			put_code(out, 0xfffd);
			bytes = 1;
		} else if (text_is_hidden(code) &&
			   (code == 0 || code > 0x7f ||
			    strchr(kept, (int)code) == NULL)) {
			put_code(out, code);
		} else {
			strbuf_write(out, text + i, bytes);
		}
		i += bytes;
	}
}

void
json_put(struct strbuf *out, const cJSON *value, bool lines)
{
	char *text = lines ? cJSON_Print(value) : cJSON_PrintUnformatted(value);

	/* Between the values, which cJSON escapes, there is white space. */
	put_visible(out, text, strlen(text), "\n\t");
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

		put_visible(out, text, n, "");
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
