/* SPDX-License-Identifier: Apache-2.0 */
/* Numeric literals of a dialect: the shortest text that reads back as the exact
 * value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialect.h"

/* Replaces the decimal separator of the locale by a point. */
static void
put_point(char *text)
{
	for (char *p = text; *p != '\0'; p++) {
		if (*p == ',') {
			*p = '.';
		}
	}
}

/* Removes zeros from an exponent, "1e-05" -> "1e-5", and adds ".0" to an
 * integer, "1" -> "1.0". */
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

/* Finds n and k such that n * 10^-k, rounded to float, is x, and n has as few
 * digits as possible. False if x is too large or too small for that, or if no n
 * is found. Double arithmetic is exact enough, except for a tie between two
 * floats. */
static bool
shortest_decimal(double x, uint64_t *n, int *k)
{
	static const double ten_to[] = {
		1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
		1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	int exponent;

	if (x < 1e-12 || x > 1e12) {
		return false;
	}
	exponent = (int)floor(log10(x));
	for (int digits = 1; digits <= 9; digits++) {
		double scale, rounded, near;
		uint64_t bits;

		*k = digits - 1 - exponent;
		scale = ten_to[*k < 0 ? -*k : *k];
		rounded = round(*k < 0 ? x / scale : x * scale);
		near = *k < 0 ? rounded * scale : rounded / scale;
		memcpy(&bits, &near, sizeof bits);
		if ((double)(float)near == x &&
		    (bits & 0x1fffffff) != 0x10000000) {
			*n = (uint64_t)rounded;
			return true;
		}
	}
	return false;
}

/* Prints the number n * 10^-k to `out`: "224.0", "0.1", "1.5e-7". */
static void
print_decimal(char *out, bool negative, uint64_t n, int k)
{
	char digits[24];
	int length = 0, point;

	while (n % 10 == 0 && n > 0) {
		n /= 10;
		k--;
	}
	do {
		digits[length++] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	point = length - k; /* the number of digits before the point */
	if (negative) {
		*out++ = '-';
	}
	if (point < -3 || point > 10) {
		*out++ = digits[--length];
		if (length > 0) {
			*out++ = '.';
		}
		while (length > 0) {
			*out++ = digits[--length];
		}
		snprintf(out, 16, "e%d", point - 1);
		return;
	}
	if (point <= 0) {
		*out++ = '0';
	}
	for (int i = 0; i < point; i++) {
		*out++ = length > 0 ? digits[--length] : '0';
	}
	*out++ = '.';
	for (int i = point; i < 0; i++) {
		*out++ = '0';
	}
	if (length == 0) {
		*out++ = '0';
	}
	while (length > 0) {
		*out++ = digits[--length];
	}
	*out = '\0';
}

void
format_float(char *out, size_t size, double v, bool single)
{
	int digits = single ? 6 : 15;
	int enough = single ? 9 : 17;
	uint64_t n;
	int k;

	if (v == floor(v) && fabs(v) < 1e10) { /* an integer */
		print_decimal(out, signbit(v) != 0, (uint64_t)fabs(v), 0);
		return;
	}
	if (single && shortest_decimal(fabs(v), &n, &k)) {
		print_decimal(out, v < 0, n, k);
		return;
	}
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
	static const char mark[] = "{{value}}";
	const char *at = strstr(format, mark);
	size_t head, n;
	char *text;

	if (at == NULL) {
		return format;
	}
	head = (size_t)(at - format);
	n = strlen(value);
	text = arena_alloc(a, strlen(format) + n);
	memcpy(text, format, head);
	memcpy(text + head, value, n);
	strcpy(text + head + n, at + sizeof mark - 1);
	return text;
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
	return with_value(a,
			  wide && s->wide_literal != NULL ? s->wide_literal
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
