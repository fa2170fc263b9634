/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as a dialect writes them: exact, and as short as exact allows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialect.h"

/* A locale may have put another sign where the point belongs. */
static void
put_point(char *text)
{
	for (char *p = text; *p != '\0'; p++) {
		if (*p == ',') {
			*p = '.';
		}
	}
}

/* "1e-05" -> "1e-5"; "1" -> "1.0". */
static void
tidy(char *text, size_t size)
{
	char *e = strchr(text, 'e');

	if (e != NULL) {
		char *from = e + 1;
		char *to = e + 1;

		if (*from == '-') {
			from++;
			to++;
		} else if (*from == '+') {
			from++;
		}
		while (*from == '0' && from[1] != '\0') {
			from++;
		}
		memmove(to, from, strlen(from) + 1);
	} else if (strchr(text, '.') == NULL && strlen(text) + 3 <= size) {
		strcat(text, ".0");
	}
}

/* How many digits a float needs: found with doubles, where ten to the power
 * of what is missing is exact; a guess, to be checked. */
static int
guess_digits(double v)
{
	static const double ten_to[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
		1e22,
	};
	double x = fabs(v);
	int exponent;

	if (x < 1e-12 || x > 1e12) {
		return 1;
	}
	exponent = (int)floor(log10(x));
	for (int digits = 1; digits < 9; digits++) {
		int k = digits - 1 - exponent;
		double scale = ten_to[k < 0 ? -k : k];
		double near = k < 0 ? round(x / scale) * scale
				    : round(x * scale) / scale;

		if ((double)(float)near == x) {
			return digits;
		}
	}
	return 9;
}

void
format_float(char *out, size_t size, double v, bool single)
{
	int digits = single ? guess_digits(v) : 15;
	int enough = single ? 9 : 17;

	for (; digits <= enough; digits++) {
		double back;

		snprintf(out, size, "%.*g", digits, v);
		if (digits == enough) {
			break;
		}
		back = single ? (double)strtof(out, NULL) : strtod(out, NULL);
		if (back == v) {
			break;
		}
	}
	put_point(out);
	tidy(out, size);
}

static const char *
with_value(struct arena *a, const char *format, const char *value)
{
	const char *at = strstr(format, "{{value}}");

	if (at == NULL) {
		return format;
	}
	return arena_printf(a, "%.*s%s%s", (int)(at - format), format, value,
			    at + strlen("{{value}}"));
}

static const char *
float_literal(const struct spelled_type *s, struct arena *a, struct dtype t,
	      double v, bool *special)
{
	char text[40];

	if (isnan(v) || isinf(v)) {
		*special = true;
		if (isnan(v)) {
			return s->nan;
		}
		return v < 0 ? arena_printf(a, "-%s", s->infinity)
			     : s->infinity;
	}
	format_float(text, sizeof text, v, dtype_bits(t) <= 32);
	return with_value(a, s->literal, text);
}

static const char *
int_literal(const struct dialect *d, const struct spelled_type *s,
	    struct arena *a, struct dtype t, union number v)
{
	char text[32];
	bool wide;

	if (dtype_class(t) == DTC_UINT) {
		wide = v.u >> (d->int_bits - 1) > 1;
		snprintf(text, sizeof text, "%llu", (unsigned long long)v.u);
	} else {
		int64_t limit = (int64_t)1 << (d->int_bits - 1);

		if (v.i == dtype_min_int(t) && dtype_bits(t) >= d->int_bits) {
			return s->lowest;
		}
		wide = v.i < -limit || v.i >= limit;
		snprintf(text, sizeof text, "%lld", (long long)v.i);
	}
	return with_value(a, wide && s->wide_literal != NULL ? s->wide_literal
							     : s->literal,
			  text);
}

const char *
dialect_literal(const struct dialect *d, struct arena *a, struct dtype t,
		union number v, bool *special)
{
	const struct spelled_type *s = &d->types[t.kind];

	*special = false;
	switch (dtype_class(t)) {
	case DTC_BOOL:
		return v.i != 0 ? s->yes : s->no;
	case DTC_FLOAT:
		return float_literal(s, a, t, v.f, special);
	default:
		return int_literal(d, s, a, t, v);
	}
}
