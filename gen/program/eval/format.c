/* SPDX-License-Identifier: Apache-2.0 */
/* Formats values as text: by Python's "Format Specification Mini-Language", as
 * in f"{x:>8.3f}" and "{:d}".format(x), and by the older operator %, as in
 * "%8.3f" % x. */
#include "format.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "objects.h"

enum { MOST_WIDTH = 100000 };

/* A format specification:
 * [[fill]align][sign][#][0][width][,][.precision][type] */
struct spec {
	char fill, align, sign, comma, type;
	bool alternate;
	int width, precision; /* -1 if absent */
};

static const char *
take_number(const char *at, int *out)
{
	*out = 0;
	while (isdigit((unsigned char)*at)) {
		*out = *out > MOST_WIDTH ? *out : *out * 10 + (*at - '0');
		at++;
	}
	return at;
}

static bool
is_align(char c)
{
	return c == '<' || c == '>' || c == '^' || c == '=';
}

static bool
parse_spec(struct eval *ev, struct py_span at, const char *text,
	   struct spec *out)
{
	const char *p = text;

	*out = (struct spec){ .fill = ' ', .precision = -1 };
	if (*p && is_align(p[1])) {
		out->fill = *p++;
		out->align = *p++;
	} else if (is_align(*p)) {
		out->align = *p++;
	}
	if (*p && strchr("+- ", *p)) {
		out->sign = *p++;
	}
	if (*p == '#') {
		out->alternate = true;
		p++;
	}
	if (*p == '0') {
		if (!out->align) {
			out->fill = '0';
			out->align = '=';
		}
		p++;
	}
	p = take_number(p, &out->width);
	if (*p == ',' || *p == '_') {
		out->comma = *p++;
	}
	if (*p == '.') {
		p = take_number(p + 1, &out->precision);
	}
	if (*p && strchr("bcdeEfFgGnosxX%", *p)) {
		out->type = *p++;
	}
	if (*p || out->width > MOST_WIDTH || out->precision > MOST_WIDTH) {
		return eval_error(ev, at,
				  "the format '%.40s' is none of Python's; it "
				  "is such as '>8.3f'",
				  text);
	}
	return true;
}

/* Appends the text, padded to the width of the format. If zeros are inserted, a
 * sign or prefix at the start of the text stays in front of them. */
static void
put_padded(const struct spec *s, char align, const char *text, size_t n,
	   struct strbuf *out)
{
	size_t width = (size_t)s->width, more = width > n ? width - n : 0;
	size_t before = 0, signs = 0;

	align = s->align ? s->align : align;
	if (align == '=') {
		signs = n > 0 && strchr("+- ", text[0]) ? 1 : 0;
		signs += n > signs + 1 && text[signs] == '0' &&
					 strchr("xXob", text[signs + 1])
				 ? 2
				 : 0;
		before = more;
	} else if (align == '>') {
		before = more;
	} else if (align == '^') {
		before = more / 2;
	}
	strbuf_write(out, text, signs);
	for (size_t i = 0; i < before; i++) {
		strbuf_putc(out, s->fill);
	}
	strbuf_write(out, text + signs, n - signs);
	for (size_t i = before; i < more; i++) {
		strbuf_putc(out, s->fill);
	}
}

/* Appends digits with the separator `comma` between groups of digits of the
 * whole part. */
static void
put_grouped(const char *digits, char comma, int group, struct strbuf *out)
{
	size_t whole = strspn(digits, "0123456789abcdefABCDEF");

	if (strchr(digits, '.') || strchr(digits, 'e')) {
		whole = strspn(digits, "0123456789");
	}
	for (size_t i = 0; i < whole; i++) {
		if (i > 0 && (whole - i) % (size_t)group == 0) {
			strbuf_putc(out, comma);
		}
		strbuf_putc(out, digits[i]);
	}
	strbuf_puts(out, digits + whole);
}

/* Appends a number, padded to the width: its sign and prefix in `text`, then
 * the digits, with a separator between groups of `group` digits if the format
 * has one. Frees both texts. */
static void
put_number(const struct spec *s, struct strbuf *text, struct strbuf *digits,
	   int group, struct strbuf *out)
{
	if (s->comma) {
		put_grouped(digits->data, s->comma, group, text);
	} else {
		strbuf_write(text, digits->data, digits->len);
	}
	put_padded(s, '>', text->data, text->len, out);
	strbuf_release(text);
	strbuf_release(digits);
}

static void
put_sign(const struct spec *s, bool negative, struct strbuf *out)
{
	if (negative) {
		strbuf_putc(out, '-');
	} else if (s->sign == '+' || s->sign == ' ') {
		strbuf_putc(out, s->sign);
	}
}

static void
put_int(const struct spec *s, int64_t v, struct strbuf *out)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	struct strbuf text, digits;
	char type = s->type;

	strbuf_init(&text);
	strbuf_init(&digits);
	put_sign(s, v < 0, &text);
	if (type == 'c') {
		strbuf_putc(&digits, (char)v);
	} else if (type == 'x' || type == 'X') {
		strbuf_puts(&text,
			    s->alternate ? type == 'x' ? "0x" : "0X" : "");
		strbuf_printf(&digits, type == 'x' ? "%" PRIx64 : "%" PRIX64,
			      size);
	} else if (type == 'o') {
		strbuf_puts(&text, s->alternate ? "0o" : "");
		strbuf_printf(&digits, "%" PRIo64, size);
	} else if (type == 'b') {
		int top = 63;

		strbuf_puts(&text, s->alternate ? "0b" : "");
		while (top > 0 && !(size >> top & 1)) {
			top--;
		}
		for (; top >= 0; top--) {
			strbuf_putc(&digits, size >> top & 1 ? '1' : '0');
		}
	} else {
		strbuf_printf(&digits, "%" PRIu64, size);
	}
	put_number(s, &text, &digits, type && strchr("xXob", type) ? 4 : 3,
		   out);
}

static void
put_float(const struct spec *s, double v, struct strbuf *out)
{
	char type = s->type ? s->type : 'r';
	int precision = s->precision >= 0 ? s->precision : 6;
	struct strbuf text, digits;
	double size = fabs(v);

	strbuf_init(&text);
	strbuf_init(&digits);
	put_sign(s, signbit(v) && !isnan(v), &text);
	if (!isfinite(v)) {
		bool upper = type == 'F' || type == 'E' || type == 'G';

		strbuf_puts(&digits, isnan(v) ? upper ? "NAN" : "nan"
				     : upper  ? "INF"
					      : "inf");
	} else if (type == 'r' && s->precision < 0) {
		struct py_number n = py_float(size);

		py_number_put(&n, &digits);
	} else if (type == 'e' || type == 'E') {
		strbuf_printf(&digits, type == 'e' ? "%.*e" : "%.*E", precision,
			      size);
	} else if (type == 'g' || type == 'G' || type == 'n' || type == 'r') {
		strbuf_printf(&digits,
			      s->alternate  ? "%#.*g"
			      : type == 'G' ? "%.*G"
					    : "%.*g",
			      precision, size);
		/* if the format states no type, the text must show that the
		 * number is a float */
		if (type == 'r' && !strpbrk(digits.data, ".e")) {
			strbuf_puts(&digits, ".0");
		}
	} else {
		strbuf_printf(&digits, "%.*f", precision,
			      type == '%' ? size * 100 : size);
		strbuf_puts(&digits, type == '%' ? "%" : "");
	}
	put_number(s, &text, &digits, 3, out);
}

/* Appends a value that is not a number. */
static bool
put_value(struct eval *ev, struct py_span at, const struct spec *s,
	  const struct pval *v, struct strbuf *out)
{
	struct strbuf text;
	size_t n;
	bool ok;

	strbuf_init(&text);
	ok = object_text(ev, at, v, false, &text);
	n = s->precision >= 0 && (size_t)s->precision < text.len
		    ? (size_t)s->precision
		    : text.len;
	put_padded(s, '<', text.data ? text.data : "", n, out);
	strbuf_release(&text);
	return ok;
}

static bool
put_spec(struct eval *ev, struct py_span at, const struct pval *v,
	 const struct spec *s, struct strbuf *out)
{
	bool as_float = s->type && strchr("eEfFgGn%", s->type);
	bool as_int = s->type && strchr("bcdoxX", s->type);
	struct py_number n;
	int64_t whole;

	if (v->kind == PV_EXPR && expr_is_int(v->u.expr, &whole)) {
		n = py_int(whole);
	} else if (!eval_number(ev, v, &n)) {
		if (as_float || as_int) {
			return eval_error(ev, at,
					  "the format %c is for numbers, not "
					  "for %s",
					  s->type, pv_kind_name(v->kind));
		}
		return put_value(ev, at, s, v, out);
	}
	if (n.kind == PY_NUMBER_BOOL && !s->type) {
		return put_value(ev, at, s, v, out);
	}
	if (n.kind == PY_NUMBER_FLOAT || as_float) {
		if (as_int) {
			return eval_error(ev, at,
					  "the format %c is for ints, not for "
					  "floats",
					  s->type);
		}
		put_float(s, py_number_double(&n), out);
	} else {
		put_int(s, n.i, out);
	}
	return true;
}

bool
format_value(struct eval *ev, struct py_span at, const struct pval *v,
	     char conversion, const char *spec, struct strbuf *out)
{
	struct pval shown = *v;
	struct spec s;

	if (conversion) {
		struct strbuf text;

		strbuf_init(&text);
		if (!object_text(ev, at, v, conversion != 's', &text)) {
			strbuf_release(&text);
			return false;
		}
		shown = pv_text_n(ev, text.data, text.len);
		strbuf_release(&text);
	}
	if (!spec || *spec == '\0') {
		return object_text(ev, at, &shown, false, out);
	}
	return parse_spec(ev, at, spec, &s) &&
	       put_spec(ev, at, &shown, &s, out);
}

/* -- "%" */

struct percent {
	struct eval *ev;
	struct py_span at;
	/* the elements of a tuple, or a single value */
	const struct pval *values;
	int n, next;
	const struct pv_dict *named; /* the dict for %(name)s, or NULL */
};

static bool
next_value(struct percent *p, const char *name, size_t length,
	   const struct pval **out)
{
	struct pval key;

	if (name) {
		key = pv_text_n(p->ev, name, length);
		if (!p->named) {
			return eval_error(p->ev, p->at,
					  "%%(name) needs a dict after the "
					  "operator %%");
		}
		if (!dict_get(p->ev, p->at, p->named, &key, out)) {
			return false;
		}
		return *out ||
		       eval_error(p->ev, p->at, "the dict has no key %.40s",
				  key.u.text.data);
	}
	if (p->next >= p->n) {
		return eval_error(p->ev, p->at,
				  "more formats than values after the operator "
				  "%%");
	}
	*out = &p->values[p->next++];
	return true;
}

/* Reads a conversion "%[(name)][flags][width][.precision]type", starting after
 * its %, and appends the value that it converts. *text is moved to the rest of
 * the format. */
static bool
put_percent(struct percent *p, const char **text, struct strbuf *out)
{
	const char *at = *text, *name = NULL;
	struct spec s = { .fill = ' ', .precision = -1 };
	const struct pval *v;
	size_t length = 0;
	bool zero = false, left = false, repr;
	struct pval whole;
	struct py_number n;

	if (*at == '(') {
		name = at + 1;
		length = strcspn(name, ")");
		at = name + length + (name[length] == ')');
	}
	for (; *at && strchr("-+ 0#", *at); at++) {
		left |= *at == '-';
		zero |= *at == '0';
		s.alternate |= *at == '#';
		s.sign = *at == '+' || (*at == ' ' && s.sign != '+') ? *at
								     : s.sign;
	}
	if (*at == '*') {
		if (!next_value(p, NULL, 0, &v)) {
			return false;
		}
		s.width = v->kind == PV_INT && v->u.ival >= 0 &&
					  v->u.ival <= MOST_WIDTH
				  ? (int)v->u.ival
				  : 0;
		at++;
	} else {
		at = take_number(at, &s.width);
	}
	if (*at == '.') {
		at = take_number(at + 1, &s.precision);
	}
	s.type = *at;
	if (s.width > MOST_WIDTH || s.precision > MOST_WIDTH || !s.type ||
	    !strchr("diouxXeEfFgGcrsa", s.type)) {
		return eval_error(p->ev, p->at,
				  "the format %%%.10s is none of Python's; "
				  "write %%%% for the character itself",
				  *text);
	}
	*text = at + 1;
	if (!next_value(p, name, length, &v)) {
		return false;
	}
	repr = s.type == 'r' || s.type == 'a';
	if (repr || s.type == 's') {
		struct strbuf shown;

		strbuf_init(&shown);
		if (!object_text(p->ev, p->at, v, repr, &shown)) {
			strbuf_release(&shown);
			return false;
		}
		whole = pv_text_n(p->ev, shown.data, shown.len);
		strbuf_release(&shown);
		s.type = 's';
		s.align = left ? '<' : '>';
		return put_spec(p->ev, p->at, &whole, &s, out);
	}
	s.align = left ? '<' : zero ? '=' : '>';
	s.fill = zero && !left ? '0' : ' ';
	if (s.type == 'i' || s.type == 'u') {
		s.type = 'd';
	}
	if (s.type == 'c' && v->kind == PV_STRING) {
		s.type = 's';
	} else if (strchr("dc", s.type) && eval_number(p->ev, v, &n) &&
		   n.kind == PY_NUMBER_FLOAT && fabs(n.f) < 9e18) {
		whole = pv_int((int64_t)n.f);
		v = &whole;
	}
	return put_spec(p->ev, p->at, v, &s, out);
}

bool
format_percent(struct eval *ev, struct py_span at, const struct pval *text,
	       const struct pval *values, struct pval *out)
{
	struct percent p = { .ev = ev, .at = at, .values = values, .n = 1 };
	const char *c = text->u.text.data;
	struct strbuf s;
	bool ok = true;

	if (values->kind == PV_TUPLE) {
		p.values = values->u.list->data;
		p.n = values->u.list->n;
	} else if (values->kind == PV_DICT) {
		p.named = values->u.dict;
	}
	strbuf_init(&s);
	while (ok && *c && s.len <= EVAL_MAX_ITEMS) {
		if (*c != '%') {
			strbuf_putc(&s, *c++);
		} else if (c[1] == '%') {
			strbuf_putc(&s, '%');
			c += 2;
		} else {
			c++;
			ok = put_percent(&p, &c, &s);
		}
	}
	if (ok && p.next < p.n && !p.named) {
		ok = eval_error(ev, at,
				"more values than formats before the "
				"operator %%");
	}
	if (ok && s.len > EVAL_MAX_ITEMS) {
		ok = eval_error(ev, at, "a text of more than %d bytes",
				EVAL_MAX_ITEMS);
	}
	if (ok) {
		*out = pv_text_n(ev, s.data, s.len);
		ok = eval_tick_bytes(ev, at, s.len);
	}
	strbuf_release(&s);
	return ok;
}

/* -- str.format */

struct fields {
	struct call *c;
	int next;
};

/* Sets *out to of[key], where the key stands in the field of a format, without
 * quotes. Returns false after an error. */
static bool
element(struct call *c, const struct pval *of, const struct pval *key,
	struct pval *out)
{
	struct pval index = *key;
	int number;

	if (isdigit((unsigned char)*key->u.text.data)) {
		take_number(key->u.text.data, &number);
		index = pv_int(number);
	}
	return eval_subscript(c->ev, c->span, of, &index, out);
}

/* Sets *out to the value of the field `name` of a format: "0", "name",
 * "x.shape" or "a[0]". Returns false after an error. */
static bool
field_value(struct fields *f, const char *name, size_t n, struct pval *out)
{
	struct call *c = f->c;
	const struct pv_list *values = c->args[0].u.list;
	size_t first = strcspn(name, ".[");
	const struct pval *v = NULL;
	struct pval key;
	int index;

	first = first < n ? first : n;
	key = pv_text_n(c->ev, name, first);
	if (first == 0 || isdigit((unsigned char)*name)) {
		index = first == 0 ? f->next++ : 0;
		if (first > 0) {
			take_number(key.u.text.data, &index);
		}
		v = index < values->n ? &values->data[index] : NULL;
	} else if (!dict_get(c->ev, c->span, c->args[1].u.dict, &key, &v)) {
		return false;
	}
	if (!v) {
		return call_error(c, -1, "format() has no value for {%.40s}",
				  pv_text_n(c->ev, name, n).u.text.data);
	}
	*out = *v;
	for (size_t at = first; at < n;) {
		bool dot = name[at] == '.';
		size_t part = strcspn(name + at + 1, dot ? ".[" : "]");
		struct pval of = *out;

		part = at + 1 + part > n ? n - at - 1 : part;
		key = pv_text_n(c->ev, name + at + 1, part);
		at += 1 + part + !dot;
		if (dot ? !eval_attribute(c->ev, c->span, &of, key.u.text.data,
					  out)
			: !element(c, &of, &key, out)) {
			return false;
		}
	}
	return true;
}

/* Appends one field of the format. *text: the position after the "{" of the
 * field; is moved to the rest of the format. depth: the number of fields in
 * whose formats this field is: 0 or 1. */
static bool
put_field(struct fields *f, const char **text, int depth, struct strbuf *out)
{
	struct call *c = f->c;
	const char *at = *text;
	size_t n = strcspn(at, "!:}{");
	struct strbuf spec;
	struct pval v;
	char conversion = 0;
	bool ok = field_value(f, at, n, &v);

	at += n;
	if (*at == '!' && at[1] && strchr("rsa", at[1])) {
		conversion = at[1];
		at += 2;
	}
	strbuf_init(&spec);
	if (ok && *at == ':') {
		at++;
		while (ok && *at && *at != '}') {
			if (*at == '{' && depth == 0) {
				at++;
				ok = put_field(f, &at, depth + 1, &spec);
			} else {
				strbuf_putc(&spec, *at++);
			}
		}
	}
	if (ok && *at != '}') {
		ok = call_error(c, -1,
				"a brace in the format has no matching brace");
	}
	ok = ok && format_value(c->ev, c->span, &v, conversion, spec.data, out);
	strbuf_release(&spec);
	*text = at + 1;
	return ok;
}

bool
str_format(struct call *c, struct pval *out)
{
	struct fields f = { .c = c };
	const char *at = c->self.u.text.data;
	struct strbuf s;
	bool ok = true;

	strbuf_init(&s);
	while (ok && *at && s.len <= EVAL_MAX_ITEMS) {
		if ((*at == '{' || *at == '}') && at[1] == *at) {
			strbuf_putc(&s, *at);
			at += 2;
		} else if (*at == '{') {
			at++;
			ok = put_field(&f, &at, 0, &s);
		} else {
			strbuf_putc(&s, *at++);
		}
	}
	if (ok && s.len > EVAL_MAX_ITEMS) {
		ok = call_error(c, -1, "a text of more than %d bytes",
				EVAL_MAX_ITEMS);
	}
	if (ok) {
		*out = pv_text_n(c->ev, s.data, s.len);
		ok = eval_tick_bytes(c->ev, c->span, s.len);
	}
	strbuf_release(&s);
	return ok;
}
