/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all output of the command line. Names and texts from models, programs
 * and files are printed in a visible form, so that none of them can move the
 * cursor, change colours, reorder a line or add a line. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"

/* A conversion of a format string, such as "%-12s". */
struct conversion {
	/* the text of the conversion, with '*' replaced by its number */
	char spec[32];
	size_t n;
	int precision; /* -1 if absent */
	int longs;     /* 1 if it has l, 2 if it has ll */
	bool is_size;  /* has z */
	char letter;
};

static void
add(struct conversion *c, char letter)
{
	if (c->n + 1 < sizeof c->spec) {
		c->spec[c->n++] = letter;
		c->spec[c->n] = '\0';
	}
}

/* Reads a number in the format, or takes the argument of a '*'. Returns -1 if
 * there is neither. */
static int
read_number(const char **fmt, va_list *ap)
{
	int v = 0;

	if (**fmt == '*') {
		++*fmt;
		return va_arg(*ap, int);
	}
	if (!isdigit((unsigned char)**fmt)) {
		return -1;
	}
	for (; isdigit((unsigned char)**fmt) && v < 10000; ++*fmt) {
		v = v * 10 + (**fmt - '0');
	}
	return v;
}

static void
add_number(struct conversion *c, int v)
{
	char text[16];

	snprintf(text, sizeof text, "%d", v);
	for (const char *p = text; *p != '\0'; p++) {
		add(c, *p);
	}
}

/* Reads a conversion into *c, starting after its '%'; returns the rest of the
 * format. */
static const char *
read_conversion(struct conversion *c, const char *fmt, va_list *ap)
{
	int width;

	memset(c, 0, sizeof *c);
	add(c, '%');
	for (; *fmt != '\0' && strchr("-+ #0", *fmt) != NULL; fmt++) {
		add(c, *fmt);
	}
	width = read_number(&fmt, ap);
	if (width >= 0) {
		add_number(c, width);
	}
	c->precision = -1;
	if (*fmt == '.') {
		fmt++;
		c->precision = read_number(&fmt, ap);
	}
	for (; *fmt == 'l' || *fmt == 'z'; fmt++) {
		c->longs += *fmt == 'l';
		c->is_size |= *fmt == 'z';
	}
	c->letter = *fmt;
	return *fmt != '\0' ? fmt + 1 : fmt;
}

static void
put_text(struct strbuf *out, struct conversion *c, const char *text)
{
	size_t n = c->precision < 0 ? strlen(text)
				    : strnlen(text, (size_t)c->precision);
	struct strbuf shown;

	strbuf_init(&shown);
	text_put_visible(&shown, text, n, "");
	add(c, 's');
	strbuf_printf(out, c->spec, shown.data != NULL ? shown.data : "");
	strbuf_release(&shown);
}

static void
put_integer(struct strbuf *out, struct conversion *c, va_list *ap)
{
	bool is_signed = c->letter == 'd' || c->letter == 'i';
	long long v;

	if (c->is_size) {
		v = (long long)va_arg(*ap, size_t);
	} else if (c->longs == 2) {
		v = va_arg(*ap, long long);
	} else if (c->longs == 1) {
		v = is_signed ? va_arg(*ap, long)
			      : (long long)va_arg(*ap, unsigned long);
	} else {
		v = is_signed ? va_arg(*ap, int)
			      : (long long)va_arg(*ap, unsigned);
	}
	add(c, 'l');
	add(c, 'l');
	add(c, c->letter);
	strbuf_printf(out, c->spec, v);
}

static void
put_conversion(struct strbuf *out, struct conversion *c, va_list *ap)
{
	switch (c->letter) {
	case 's':
		put_text(out, c, va_arg(*ap, const char *));
		break;
	case 'c': {
		char one[2] = { (char)va_arg(*ap, int), '\0' };

		put_text(out, c, one);
		break;
	}
	case 'f':
	case 'g':
	case 'e':
		if (c->precision >= 0) {
			add(c, '.');
			add_number(c, c->precision);
		}
		add(c, c->letter);
		strbuf_printf(out, c->spec, va_arg(*ap, double));
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
		put_integer(out, c, ap);
		break;
	default:
		strbuf_putc(out, c->letter); /* the conversion "%%" */
		break;
	}
}

void
say_args(FILE *f, const char *fmt, va_list ap)
{
	struct strbuf out;
	va_list args;

	strbuf_init(&out);
	va_copy(args, ap);
	while (*fmt != '\0') {
		size_t n = strcspn(fmt, "%");
		struct conversion c;

		strbuf_write(&out, fmt, n);
		fmt += n;
		if (*fmt == '%') {
			fmt = read_conversion(&c, fmt + 1, &args);
			put_conversion(&out, &c, &args);
		}
	}
	va_end(args);
	fwrite(out.data != NULL ? out.data : "", 1, out.len, f);
	strbuf_release(&out);
}

void
say(FILE *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_args(f, fmt, ap);
	va_end(ap);
}

void
say_bytes(FILE *f, const char *text, size_t length)
{
	struct strbuf out;

	strbuf_init(&out);
	text_put_visible(&out, text, length, "\n\t");
	fwrite(out.data != NULL ? out.data : "", 1, out.len, f);
	strbuf_release(&out);
}

void
say_lines(FILE *f, const char *text)
{
	say_bytes(f, text, strlen(text));
}
