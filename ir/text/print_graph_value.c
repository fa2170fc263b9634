/* SPDX-License-Identifier: Apache-2.0 */
/* Names, types, constants' values and attributes in the text form of graphs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_lex.h"
#include "size_text.h"

/* constants with more elements are printed without values, unless all are
 * wanted */
#define SMALL_CONSTANT 8

/* -- names */

static void
put_quoted(const struct graph_printer *p, const char *text, size_t length)
{
	strbuf_putc(p->out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\') {
			strbuf_printf(p->out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(p->out, "\\x%02x", c);
		} else {
			strbuf_putc(p->out, (char)c);
		}
	}
	strbuf_putc(p->out, '"');
}

/* Can the name be printed without quotes? A ':' at its start or end would merge
 * with a ':' that is printed beside the name. */
static bool
is_plain(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && strspn(name, GRAPH_PLAIN) == length &&
	       name[0] != ':' && name[length - 1] != ':' &&
	       strcmp(name, "_") != 0;
}

void
graph_put_name(const struct graph_printer *p, const char *name)
{
	if (is_plain(name)) {
		strbuf_puts(p->out, name);
	} else {
		put_quoted(p, name, strlen(name));
	}
}

bool
graph_is_word(const char *text)
{
	static const char *const taken[] = { "nan",     "inf",     "tensor",
					     "graph",   "floats",  "double",
					     "doubles", "strings", NULL };

	for (int i = 0; taken[i]; i++) {
		if (strcmp(text, taken[i]) == 0) {
			return false;
		}
	}
	return is_plain(text) && strchr("0123456789-.", text[0]) == NULL;
}

/* -- types */

void
graph_put_sizes(const struct graph_printer *p, const struct expr *const *sizes,
		int n)
{
	for (int i = 0; i < n; i++) {
		int64_t v;

		strbuf_puts(p->out, i > 0 ? ", " : "");
		if (dtype_is_int(sizes[i]->type) && expr_is_int(sizes[i], &v)) {
			strbuf_printf(p->out, "%lld", (long long)v);
		} else if (p->symbols) {
			size_print(p->graph, p->symbols, sizes[i], p->out);
		} else {
			expr_print(sizes[i], p->out);
		}
	}
}

void
graph_put_type(const struct graph_printer *p, const struct tensor *t)
{
	strbuf_puts(p->out, t->typed ? dtype_name(t->type) : "?");
	if (t->ndim < 0) {
		strbuf_puts(p->out, "[?]");
		return;
	}
	strbuf_putc(p->out, '[');
	graph_put_sizes(p, t->shape, t->ndim);
	strbuf_putc(p->out, ']');
}

/* -- numbers */

/* Appends the float v as a text that reads back as the same number of type
 * `type`: with 9 digits if these suffice, else with 17. */
static void
put_real(const struct graph_printer *p, struct dtype type, double v)
{
	char text[40];
	union number again;

	if (isnan(v)) {
		strbuf_puts(p->out, "nan");
		return;
	}
	snprintf(text, sizeof text, "%.9g", v);
	again.f = strtod(text, NULL);
	if (number_round(type, again).f != v) {
		snprintf(text, sizeof text, "%.17g", v);
	}
	strbuf_puts(p->out, text);
}

static void
put_number(const struct graph_printer *p, struct dtype type, union number v)
{
	if (dtype_is_float(type)) {
		put_real(p, type, v.f);
	} else if (dtype_is_signed(type)) {
		strbuf_printf(p->out, "%lld", (long long)v.i);
	} else {
		strbuf_printf(p->out, "%llu", (unsigned long long)v.u);
	}
}

void
graph_put_value(const struct graph_printer *p, const struct value *v)
{
	if (!v->data) {
		strbuf_puts(p->out, " = splat ");
		put_number(p, v->type, v->fill);
		return;
	}
	if (v->elems > SMALL_CONSTANT && !p->whole) {
		return;
	}
	strbuf_puts(p->out, " = {");
	for (int64_t i = 0; i < v->elems; i++) {
		strbuf_puts(p->out, i > 0 ? ", " : "");
		put_number(p, v->type,
			   number_load(v->type, v->data, (size_t)i));
	}
	strbuf_putc(p->out, '}');
}

/* -- attributes: 1 is an integer, 1.0 a float32, double 1.0 a float64 */

static bool
is_single(double v)
{
	return isnan(v) || (double)(float)v == v;
}

static void
put_float(const struct graph_printer *p, double v, bool single)
{
	size_t start = p->out->len;

	put_real(p, dtype_of(single ? DT_F32 : DT_F64), v);
	if (isfinite(v) && !strpbrk(p->out->data + start, ".e")) {
		strbuf_puts(p->out, ".0");
	}
}

static void
put_floats(const struct graph_printer *p, const struct attr *a)
{
	bool single = true;

	for (int i = 0; i < a->n; i++) {
		single = single && is_single(a->floats[i]);
	}
	strbuf_puts(p->out, !single     ? "doubles ["
			    : a->n == 0 ? "floats ["
					: "[");
	for (int i = 0; i < a->n; i++) {
		strbuf_puts(p->out, i > 0 ? ", " : "");
		put_float(p, a->floats[i], single);
	}
	strbuf_putc(p->out, ']');
}

/* Prints a text, in quotes if it could be read as something else. */
static void
put_string(const struct graph_printer *p, const char *s, size_t length)
{
	if (strlen(s) == length && graph_is_word(s)) {
		strbuf_puts(p->out, s);
	} else {
		put_quoted(p, s, length);
	}
}

static void
put_list(const struct graph_printer *p, const struct attr *a)
{
	strbuf_puts(p->out,
		    a->kind == ATTR_STRINGS && a->n == 0 ? "strings [" : "[");
	for (int i = 0; i < a->n; i++) {
		strbuf_puts(p->out, i > 0 ? ", " : "");
		if (a->kind == ATTR_INTS) {
			strbuf_printf(p->out, "%lld", (long long)a->ints[i]);
		} else {
			put_string(p, a->strings[i], strlen(a->strings[i]));
		}
	}
	strbuf_putc(p->out, ']');
}

static void
put_tensor(const struct graph_printer *p, const struct attr *a)
{
	strbuf_printf(p->out, "tensor %s[", dtype_name(a->tensor->type));
	for (int i = 0; i < a->tensor_ndim; i++) {
		strbuf_printf(p->out, "%s%lld", i > 0 ? ", " : "",
			      (long long)a->tensor_shape[i]);
	}
	strbuf_putc(p->out, ']');
	graph_put_value(p, a->tensor);
}

void
graph_put_attr(const struct graph_printer *p, const struct attr *a)
{
	graph_put_name(p, a->name);
	strbuf_puts(p->out, " = ");
	switch (a->kind) {
	case ATTR_INT:
		strbuf_printf(p->out, "%lld", (long long)a->i);
		break;
	case ATTR_FLOAT:
		strbuf_puts(p->out, is_single(a->f) ? "" : "double ");
		put_float(p, a->f, is_single(a->f));
		break;
	case ATTR_STRING:
		put_string(p, a->s, a->s_len);
		break;
	case ATTR_FLOATS:
		put_floats(p, a);
		break;
	case ATTR_INTS:
	case ATTR_STRINGS:
		put_list(p, a);
		break;
	case ATTR_TENSOR:
		put_tensor(p, a);
		break;
	case ATTR_GRAPH:
		strbuf_puts(p->out, "graph ");
		graph_put_name(p, a->graph->name);
		break;
	}
}
