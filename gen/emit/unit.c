/* SPDX-License-Identifier: Apache-2.0 */
/* One source file in the making: headers and helpers by use. */
#include "walk.h"

void
unit_init(struct unit *u, struct module *m, const struct dialect *d)
{
	memset(u, 0, sizeof *u);
	u->m = m;
	u->d = d;
	u->a = &m->arena;
	name_set_init(&u->globals, u->a);
	u->globals.reserved = d->reserved.data;
	u->globals.n_reserved = d->reserved.n;
	u->globals.max_length = d->identifier_length;
}

void
unit_need(struct unit *u, const char *header)
{
	int i = u->headers.n;

	for (int k = 0; k < u->headers.n; k++) {
		if (strcmp(u->headers.data[k], header) == 0) {
			return;
		}
	}
	vec_push(u->a, &u->headers, header);
	while (i > 0 && strcmp(u->headers.data[i - 1], header) > 0) {
		u->headers.data[i] = u->headers.data[i - 1];
		i--;
	}
	u->headers.data[i] = header;
}

static void
need_all(struct unit *u, struct names headers)
{
	for (int i = 0; i < headers.n; i++) {
		unit_need(u, headers.data[i]);
	}
}

void
unit_need_type(struct unit *u, struct dtype t)
{
	need_all(u, u->d->types[t.kind].needs);
}

const char *
unit_literal(struct unit *u, struct dtype t, union number v)
{
	bool special;
	const char *text = dialect_literal(u->d, u->a, t, v, &special);

	if (special) {
		need_all(u, u->d->types[t.kind].special_needs);
	}
	return text;
}

/* -- helpers -- */

static union number
as_number(struct dtype t, double v)
{
	union number n;

	if (dtype_class(t) == DTC_FLOAT) {
		n.f = v;
	} else if (dtype_class(t) == DTC_UINT) {
		n.u = (uint64_t)v;
	} else {
		n.i = (int64_t)v;
	}
	return n;
}

/* The limits of an integer type as literals of a floating one: what is
 * greater than the first and less than the second fits. */
static void
add_limits(struct unit *u, struct tdata *data, struct dtype t,
	   struct dtype to)
{
	double half = 1.0;
	double below = 0.0;

	for (int i = 1; i < dtype_bits(to); i++) {
		half *= 2.0;
	}
	if (dtype_class(to) == DTC_INT) {
		below = -half;
	} else {
		half *= 2.0;
	}
	tdata_text(data, "to_below", unit_literal(u, t, as_number(t, below)));
	tdata_text(data, "to_above", unit_literal(u, t, as_number(t, half)));
}

static struct tdata *
helper_data(struct unit *u, struct dtype t, struct dtype to)
{
	const struct spelled_type *s = &u->d->types[to.kind];
	struct tdata *data = tdata_new(u->a);

	tdata_outer(data, u->d->types[t.kind].facts);
	tdata_text(data, "function", u->d->functions.helper);
	tdata_text(data, "to_type", s->spelling);
	tdata_text(data, "to_short", dtype_short(to));
	tdata_text(data, "to_lowest", s->lowest);
	tdata_text(data, "to_highest", s->highest);
	if (dtype_is_float(t) && dtype_is_int(to)) {
		add_limits(u, data, t, to);
	}
	return data;
}

static const char *
render(struct unit *u, const char *file, const char *item, const char *text,
       const struct tdata *data)
{
	struct strbuf s;
	const char *result = NULL;

	strbuf_init(&s);
	if (template_render(&u->m->diags, file, item, text, data, &s)) {
		result = arena_strdup(u->a, s.data != NULL ? s.data : "");
	}
	strbuf_release(&s);
	return result;
}

const char *
unit_helper(struct unit *u, const struct helper *h, struct dtype t,
	    struct dtype to)
{
	struct helper_use use = { .helper = h, .type = t, .to = to };

	for (int i = 0; i < u->helpers.n; i++) {
		const struct helper_use *old = &u->helpers.data[i];

		if (old->helper == h && dtype_equal(old->type, t) &&
		    dtype_equal(old->to, to)) {
			return old->name;
		}
	}
	use.name = render(u, u->d->file,
			  arena_printf(u->a, "/helpers/%s/name", h->key),
			  h->name, helper_data(u, t, to));
	if (use.name == NULL) {
		return NULL;
	}
	use.name = name_set_add(&u->globals, use.name);
	need_all(u, h->needs);
	unit_need_type(u, t);
	unit_need_type(u, to);
	vec_push(u->a, &u->helpers, use);
	return use.name;
}

bool
unit_print_helpers(struct unit *u, struct strbuf *out)
{
	for (int i = 0; i < u->helpers.n; i++) {
		const struct helper_use *use = &u->helpers.data[i];
		struct tdata *data = helper_data(u, use->type, use->to);

		tdata_text(data, "name", use->name);
		if (!template_render(&u->m->diags, use->helper->file, NULL,
				     use->helper->text, data, out)) {
			return false;
		}
		strbuf_putc(out, '\n');
	}
	return unit_print_externals(u, out);
}

bool
emit_func(struct module *m, const struct dialect *d, const struct func *f,
	  struct strbuf *out)
{
	struct unit u;
	struct strbuf text;
	bool ok;

	unit_init(&u, m, d);
	strbuf_init(&text);
	ok = unit_func(&u, f, &text) && unit_print_helpers(&u, out);
	if (ok) {
		strbuf_puts(out, text.data);
	}
	strbuf_release(&text);
	return ok;
}
