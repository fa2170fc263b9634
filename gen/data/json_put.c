/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as text: see the header. */
#include "json_put.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool
json_can_hold(const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;
	const unsigned char *end = p + length;

	while (p < end) {
		int more = *p == 0                   ? -1
			   : *p < 0x80               ? 0
			   : *p >= 0xc2 && *p < 0xe0 ? 1
			   : *p >= 0xe0 && *p < 0xf0 ? 2
			   : *p >= 0xf0 && *p < 0xf5 ? 3
						     : -1;

		if (more < 0 || end - p <= more) {
			return false;
		}
		for (int i = 1; i <= more; i++) {
			if ((p[i] & 0xc0) != 0x80) {
				return false;
			}
		}
		p += more + 1;
	}
	return true;
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
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			strbuf_printf(out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(out, "\\u%04x", c);
		} else {
			strbuf_putc(out, (char)c);
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
