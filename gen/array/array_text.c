/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an array as NumPy prints it with its default options: at most 8
 * digits after the point, lines of at most 75 columns; if the array has more
 * than 1000 elements, only the first three and the last three of each
 * dimension. */
#include "array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS = 8, COLUMNS = 75, THRESHOLD = 1000, EDGE = 3 };

/* -- numbers */

/* The shortest text of digits with an exponent, "-1.25e+03", that reads back as
 * the same number of the type, in text[40]. */
static void
shortest(struct dtype t, double v, char *text)
{
	for (int digits = 0; digits <= 17; digits++) {
		union number back;

		snprintf(text, 40, "%.*e", digits, v);
		back.f = strtod(text, NULL);
		/* the conversions round to nearest, so that rounding twice could
		 * only matter for digits that are tried later */
		if (number_round(t, back).f == v) {
			return;
		}
	}
}

/* Writes the digits of text, without point and sign, to digits[20], and sets
 * *exponent to the exponent of the first digit. Returns the number of digits;
 * zeros at the end are left out. */
static int
take_digits(const char *text, char *digits, int *exponent)
{
	const char *e = strchr(text, 'e');
	int n = 0;

	for (; text < e; text++) {
		if (*text >= '0' && *text <= '9') {
			digits[n++] = *text;
		}
	}
	while (n > 1 && digits[n - 1] == '0') {
		n--;
	}
	*exponent = (int)strtol(e + 1, NULL, 10);
	return n;
}

/* The number without an exponent; at most `most` digits behind the point, without
 * zeros at the end: "12." */
static void
put_positional(struct dtype t, double v, int most, struct strbuf *out)
{
	char text[40], digits[40];
	int n, e, behind;

	shortest(t, v, text);
	n = take_digits(text, digits, &e);
	behind = n - 1 - e;
	if (behind > most) {
		size_t from = out->len;

		strbuf_printf(out, "%.*f", most, v);
		while (out->len > from && out->data[out->len - 1] == '0') {
			out->data[--out->len] = '\0';
		}
		return;
	}
	strbuf_puts(out, signbit(v) ? "-" : "");
	if (e < 0) {
		strbuf_putc(out, '0');
	}
	for (int i = 0; i <= e; i++) {
		strbuf_putc(out, i < n ? digits[i] : '0');
	}
	strbuf_putc(out, '.');
	for (int i = e < 0 ? e + 1 : 0; i < 0 && v != 0; i++) {
		strbuf_putc(out, '0');
	}
	for (int i = e + 1 > 0 ? e + 1 : 0; i < n && v != 0; i++) {
		strbuf_putc(out, digits[i]);
	}
}

/* The number with an exponent of at least `least` digits: at least `behind` digits
 * behind the point, at most 8. */
static void
put_scientific(struct dtype t, double v, int behind, int least,
	       struct strbuf *out)
{
	char text[40], digits[40];
	int n, e;

	shortest(t, v, text);
	n = take_digits(text, digits, &e);
	if (n - 1 > DIGITS || n - 1 < behind) {
		/* if more digits are shown than the shortest text has, they are
		 * those of the exact value */
		snprintf(text, sizeof text, "%.*e",
			 n - 1 > DIGITS ? DIGITS : behind, v);
		n = take_digits(text, digits, &e);
	}
	strbuf_printf(out, "%s%c.", signbit(v) ? "-" : "", digits[0]);
	for (int i = 1; i < n || i <= behind; i++) {
		strbuf_putc(out, i < n ? digits[i] : '0');
	}
	strbuf_printf(out, "e%c%0*d", e < 0 ? '-' : '+', least, abs(e));
}

/* A scalar, as str() shows it. */
static void
put_scalar(struct dtype t, double v, struct strbuf *out)
{
	double size = fabs(v);
	double most = t.kind == DT_F16 ? 1e3 : t.kind == DT_F32 ? 1e6 : 1e16;

	if (isnan(v)) {
		strbuf_puts(out, "nan");
	} else if (isinf(v)) {
		strbuf_puts(out, v < 0 ? "-inf" : "inf");
	} else if (size == 0 || (size >= 1e-4 && size < most)) {
		put_positional(t, v, 400, out);
		if (out->data[out->len - 1] == '.') {
			strbuf_putc(out, '0');
		}
	} else {
		char text[40], digits[40];
		int n, e;

		shortest(t, v, text);
		n = take_digits(text, digits, &e);
		strbuf_printf(out, "%s%c%s%.*s", signbit(v) ? "-" : "",
			      digits[0], n > 1 ? "." : "", n - 1, digits + 1);
		strbuf_printf(out, "e%c%02d", e < 0 ? '-' : '+', abs(e));
	}
}

static void
put_int(struct dtype t, union number v, struct strbuf *out)
{
	if (dtype_class(t) == DTC_BOOL) {
		strbuf_puts(out, v.i ? "True" : "False");
	} else if (dtype_class(t) == DTC_UINT) {
		strbuf_printf(out, "%" PRIu64, v.u);
	} else {
		strbuf_printf(out, "%" PRId64, v.i);
	}
}

/* -- elements: one width for all */

struct format {
	struct dtype type;
	/* the digits of exponents; 0: no number has an exponent */
	int exponent;
	/* the number of columns before the point, and of those behind it */
	int left, right;
	int width; /* of an element */
	/* the smallest and the largest absolute value of the shown numbers that
	 * are finite and not 0; 0 if there are no such numbers */
	double least, most;
};

struct printing {
	const struct array *x;
	struct format f;
	/* only the first and the last elements of each dimension are shown */
	bool summary;
	struct strbuf *out;
	size_t line; /* where the line starts in out */
	int columns; /* of a line */
};

/* The position of the decimal point in the text s, or the length of s if it has
 * none. */
static int
point_of(const struct strbuf *s)
{
	const char *dot = s->data ? strchr(s->data, '.') : NULL;

	return dot ? (int)(dot - s->data) : (int)s->len;
}

static bool
is_shown(const struct printing *p, int64_t i, int64_t n)
{
	return !p->summary || n <= 2 * EDGE || i < EDGE || i >= n - EDGE;
}

typedef void element_fn(struct format *f, union number v);

/* Calls fn for each element that is shown. */
static void
each_shown(struct printing *p, int d, int64_t at, element_fn *fn)
{
	const struct array *x = p->x;

	if (d == x->ndim) {
		fn(&p->f, array_load(x, at));
		return;
	}
	for (int64_t i = 0; i < x->shape[d]; i++) {
		if (!is_shown(p, i, x->shape[d])) {
			i = x->shape[d] - EDGE;
		}
		each_shown(p, d + 1, at + i * x->strides[d], fn);
	}
}

static void
note_size(struct format *f, union number v)
{
	double size = fabs(v.f);

	if (size > 0 && isfinite(size)) {
		f->least = f->least == 0 || size < f->least ? size : f->least;
		f->most = size > f->most ? size : f->most;
	}
}

/* Are there numbers so different, small or large that all have exponents? */
static bool
needs_exponents(struct printing *p)
{
	struct format *f = &p->f;

	each_shown(p, 0, p->x->offset, note_size);
	return f->most >= 1e8 ||
	       (f->most > 0 &&
		(f->least < 1e-4 ||
		 number_round(f->type,
			      (union number){ .f = f->most / f->least })
				 .f > 1000));
}

static int
larger(int a, int b)
{
	return a > b ? a : b;
}

static void
note_width(struct format *f, union number v)
{
	struct strbuf s;

	strbuf_init(&s);
	if (!dtype_is_float(f->type)) {
		put_int(f->type, v, &s);
		f->width = larger(f->width, (int)s.len);
	} else if (isfinite(v.f)) {
		int point, end;

		if (f->exponent) {
			put_scientific(f->type, v.f, 0, 2, &s);
			end = (int)(strchr(s.data, 'e') - s.data);
			f->exponent = larger(f->exponent, (int)s.len - end - 2);
		} else {
			put_positional(f->type, v.f, DIGITS, &s);
			end = (int)s.len;
		}
		point = point_of(&s);
		f->left = larger(f->left, point);
		f->right = larger(f->right, end - point - 1);
	}
	strbuf_release(&s);
}

/* The columns behind the point, with the exponent. */
static int
columns_behind(const struct format *f)
{
	return f->right + (f->exponent ? f->exponent + 2 : 0);
}

/* Makes room for nan and inf. */
static void
note_special(struct format *f, union number v)
{
	if (!isfinite(v.f)) {
		int wide = isnan(v.f) || v.f > 0 ? 3 : 4;

		f->left = larger(f->left, wide - columns_behind(f) - 1);
	}
}

static void
choose_format(struct printing *p)
{
	struct format *f = &p->f;

	f->type = p->x->type;
	f->width = dtype_class(f->type) == DTC_BOOL ? 5 : 0;
	f->exponent = dtype_is_float(f->type) && needs_exponents(p) ? 2 : 0;
	each_shown(p, 0, p->x->offset, note_width);
	if (dtype_is_float(f->type)) {
		each_shown(p, 0, p->x->offset, note_special);
		f->width = f->left + 1 + columns_behind(f);
	}
}

/* Appends the element, padded to the width. */
static void
put_element(const struct format *f, union number v, struct strbuf *out)
{
	struct strbuf s;
	int before, after = 0;

	strbuf_init(&s);
	if (!dtype_is_float(f->type)) {
		put_int(f->type, v, &s);
	} else if (!isfinite(v.f)) {
		strbuf_puts(&s, isnan(v.f) ? "nan" : v.f < 0 ? "-inf" : "inf");
	} else if (f->exponent) {
		put_scientific(f->type, v.f, f->right, f->exponent, &s);
	} else {
		put_positional(f->type, v.f, DIGITS, &s);
		after = f->right - ((int)s.len - point_of(&s) - 1);
	}
	before = f->width - (int)s.len - after;
	strbuf_printf(out, "%*s%s%*s", before > 0 ? before : 0, "", s.data,
		      after > 0 ? after : 0, "");
	strbuf_release(&s);
}

static void
end_line(struct printing *p, int spaces)
{
	while (p->out->len > 0 && p->out->data[p->out->len - 1] == ' ') {
		p->out->data[--p->out->len] = '\0';
	}
	strbuf_putc(p->out, '\n');
	p->line = p->out->len;
	strbuf_printf(p->out, "%*s", spaces, "");
}

/* Prints the last dimension: elements with the separator between them, each on
 * a new line if it does not fit in the current one. */
static void
put_row(struct printing *p, int64_t at, const char *separator, int indent)
{
	const struct array *x = p->x;
	int d = x->ndim - 1;
	int64_t n = x->shape[d];
	/* NumPy leaves room for the brackets, or the separator, at the end */
	size_t room = (size_t)(p->columns - x->ndim);

	for (int64_t i = 0; i < n; i++) {
		bool gap = !is_shown(p, i, n), last;
		struct strbuf s;

		strbuf_init(&s);
		if (gap) {
			i = n - EDGE - 1;
			strbuf_puts(&s, "...");
		} else {
			put_element(&p->f,
				    array_load(x, at + i * x->strides[d]), &s);
		}
		last = i == n - 1;
		if (p->out->len - p->line + s.len > room &&
		    p->out->len - p->line > (size_t)indent) {
			end_line(p, indent);
		}
		strbuf_puts(p->out, s.data);
		strbuf_puts(p->out, last ? "" : separator);
		strbuf_release(&s);
	}
}

static void
put_rows(struct printing *p, int d, int64_t at, const char *separator,
	 int prefix)
{
	const struct array *x = p->x;
	int64_t n = x->shape[d];

	strbuf_putc(p->out, '[');
	if (d == x->ndim - 1) {
		put_row(p, at, separator, prefix + x->ndim);
		strbuf_putc(p->out, ']');
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		bool gap = !is_shown(p, i, n);

		if (gap) {
			i = n - EDGE - 1;
			strbuf_puts(p->out, "...");
		} else {
			put_rows(p, d + 1, at + i * x->strides[d], separator,
				 prefix);
		}
		if (i == n - 1) {
			break;
		}
		strbuf_puts(p->out, separator);
		for (int k = d + 2; k < x->ndim; k++) {
			end_line(p, 0);
		}
		end_line(p, prefix + d + 1);
	}
	strbuf_putc(p->out, ']');
}

static void
put_one(const struct array *x, struct strbuf *out)
{
	union number v = array_get(x, 0);

	if (dtype_is_float(x->type)) {
		put_scalar(x->type, v.f, out);
	} else {
		put_int(x->type, v, out);
	}
}

static void
put_values(const struct array *x, const char *separator, int prefix,
	   struct strbuf *out)
{
	struct printing p = { .x = x,
			      .summary = array_elems(x) > THRESHOLD,
			      .out = out };

	p.line = out->len - (size_t)prefix;
	/* with repr, a column is left for the closing parenthesis */
	p.columns = COLUMNS - (prefix > 0);
	if (array_elems(x) == 0) {
		strbuf_puts(out, "[]");
		return;
	}
	choose_format(&p);
	if (x->ndim == 0) {
		put_element(&p.f, array_get(x, 0), out);
		return;
	}
	put_rows(&p, 0, x->offset, separator, prefix);
}

/* What repr() prints after the values: the shape, if the values do not show it,
 * and the type. */
static void
put_facts(const struct array *x, struct strbuf *out)
{
	int64_t n = array_elems(x);
	bool typed = n == 0 ||
		     (x->type.kind != DT_F64 && x->type.kind != DT_I64 &&
		      x->type.kind != DT_BOOL);

	if ((n == 0 && x->ndim > 1) || n > THRESHOLD) {
		strbuf_puts(out, "shape=(");
		for (int d = 0; d < x->ndim; d++) {
			strbuf_printf(out, "%s%" PRId64, d ? ", " : "",
				      x->shape[d]);
		}
		strbuf_puts(out, x->ndim == 1 ? ",)" : ")");
		strbuf_puts(out, typed ? ", " : "");
	}
	if (typed) {
		strbuf_printf(out, "dtype=%s", dtype_name(x->type));
	}
}

static void
put_scalar_repr(const struct array *x, struct strbuf *out)
{
	bool is_bool = dtype_class(x->type) == DTC_BOOL;

	strbuf_printf(out, "np.%s%s", is_bool ? "" : dtype_name(x->type),
		      is_bool ? "" : "(");
	put_one(x, out);
	strbuf_puts(out, is_bool ? "" : ")");
}

void
array_text(const struct array *x, bool repr, struct strbuf *out)
{
	size_t from = out->len, line;
	struct strbuf facts;

	if (x->scalar && repr) {
		put_scalar_repr(x, out);
		return;
	}
	strbuf_puts(out, repr ? "array(" : "");
	if (x->ndim == 0 && !(repr && dtype_is_float(x->type))) {
		put_one(x, out);
	} else {
		put_values(x, repr ? ", " : " ", repr ? 6 : 0, out);
	}
	if (!repr) {
		return;
	}
	strbuf_init(&facts);
	put_facts(x, &facts);
	line = out->len;
	while (line > from && out->data[line - 1] != '\n') {
		line--;
	}
	if (facts.len > 0) {
		strbuf_printf(out, ",%s%s",
			      out->len - line + facts.len + 2 > COLUMNS
				      ? "\n      "
				      : " ",
			      facts.data);
	}
	strbuf_putc(out, ')');
	strbuf_release(&facts);
}
