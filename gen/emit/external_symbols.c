/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a unit calls and that are not in the module. They are
 * declared, or defined if an intrinsic has a text of the function for the
 * dialect. */
#include <stdlib.h>

#include "text.h"
#include "unit.h"

static bool
fail(struct unit *u, const struct func *f, const char *what, const char *name)
{
	struct diag_place place = { .file = u->d->file, .item = f->name };

	return diag_error(&u->m->diags, DIAG_UNSUPPORTED, place,
			  "dialect %s: %s '%s'", u->d->name, what, name);
}

static bool
same_space(const struct external_param *a, const struct external_param *b)
{
	return a->space == b->space || (a->space != NULL && b->space != NULL &&
					strcmp(a->space, b->space) == 0);
}

/* Tells the user, for security, that the source calls a function whose name
 * comes from the program: an untrusted author could make the user link any
 * function. */
static void
note_external(struct unit *u, const struct func *f, const char *name)
{
	diag_note(&u->m->diags, DIAG_UNSUPPORTED,
		  (struct diag_place){ .item = f->name },
		  "the source calls the function '%s', which only the "
		  "program names; link it, and read the program first "
		  "if it is not yours",
		  name);
}

/* Checks that no pointer passed to the function of an intrinsic has an address
 * space, since the texts of intrinsics have plain pointers. False after a
 * diagnostic. */
static bool
takes_plain_pointers(struct unit *u, const struct func *f,
		     const struct external *x)
{
	for (int i = 0; i < x->n; i++) {
		if (x->params[i].space != NULL) {
			return fail(u, f,
				    "an array in the memory of a word of "
				    "its own cannot be given to the intrinsic",
				    x->name);
		}
	}
	return true;
}

/* Sets *out to a type that holds all values of a and of b, two integers or two
 * floats. False if there is no such type. */
static bool
holds_both(struct dtype a, struct dtype b, struct dtype *out)
{
	bool sign_a = dtype_class(a) == DTC_INT,
	     sign_b = dtype_class(b) == DTC_INT;
	int bits_a = dtype_bits(a) + (sign_a ? 0 : 1);
	int bits_b = dtype_bits(b) + (sign_b ? 0 : 1);
	int bits = bits_a > bits_b ? bits_a : bits_b;

	if (a.lanes > 1 || b.lanes > 1) {
		return false;
	}
	if (dtype_is_float(a) && dtype_is_float(b)) {
		*out = dtype_of(DT_F64);
		return true;
	}
	if (!dtype_is_int(a) || !dtype_is_int(b) || bits > 64) {
		return false;
	}
	*out = dtype_of(bits > 32 ? DT_I64 : DT_I32);
	return true;
}

/* Makes the parameter x one for what another call passes, too: a pointer to
 * anything, or a number of a wider type. False if no parameter takes both. */
static bool
widen(struct unit *u, const struct external *of, struct external_param *x,
      const struct external_param *other)
{
	if (x->pointer != other->pointer) {
		return false;
	}
	if (dtype_equal(x->type, other->type)) {
		return true;
	}
	if (of->symbol != NULL) {
		return false; /* its text has types of its own */
	}
	if (x->pointer) {
		x->type = dtype_of(DT_VOID);
	} else if (!holds_both(x->type, other->type, &x->type)) {
		return false;
	}
	unit_need_type(u, x->type);
	return true;
}

/* Merges the parameters of two calls of a function: where one call passes a
 * pointer to const, the declaration has const. False after a diagnostic. */
static bool
join(struct unit *u, const struct func *f, struct external *x,
     const struct external_param *params, int n)
{
	if (x->n != n) {
		return fail(u, f,
			    "two calls with a different number of "
			    "arguments of",
			    x->name);
	}
	for (int i = 0; i < n; i++) {
		if (!widen(u, x, &x->params[i], &params[i])) {
			return fail(u, f,
				    "two calls with arguments of "
				    "different types of",
				    x->name);
		}
		if (!same_space(&x->params[i], &params[i])) {
			return fail(u, f,
				    "two calls with pointers to "
				    "different memory of",
				    x->name);
		}
		x->params[i].is_const |= params[i].is_const;
	}
	return true;
}

/* Finds the intrinsic that defines the function, and its text for the dialect;
 * adds the headers and symbols that the text uses to the unit. False after a
 * diagnostic. */
static bool
find_text(struct unit *u, const struct func *f, struct external *x)
{
	x->text = intrinsic_symbol_text(x->symbol, u->d);
	if (x->text == NULL) {
		return fail(u, f, "it has no text for the intrinsic", x->name);
	}
	for (int i = 0; i < x->text->needs.n; i++) {
		unit_need(u, x->text->needs.data[i]);
	}
	for (int i = 0; i < x->text->uses.n; i++) {
		const char *used = x->text->uses.data[i];

		if (intrinsic_set_symbol(u->intrinsics, used) == NULL) {
			return fail(u, f, "no intrinsic has the symbol", used);
		}
		if (!unit_external(u, f, used, dtype_of(DT_VOID), NULL, 0)) {
			return false;
		}
	}
	return true;
}

/* Is the name a reserved word, such as sizeof? `sizeof (x)` looks like a call
 * of a function. */
static bool
is_word(const struct dialect *d, const char *name)
{
	return d->reserved_members.n > 0 &&
	       bsearch(&name, d->reserved_members.data,
		       (size_t)d->reserved_members.n, sizeof name,
		       text_compare) != NULL;
}

bool
unit_external(struct unit *u, const struct func *f, const char *name,
	      struct dtype ret, const struct external_param *params, int n)
{
	struct external x = {
		.name = name, .printed = name, .ret = ret, .n = n
	};

	for (int i = 0; i < u->externals.n; i++) {
		if (strcmp(u->externals.data[i].name, name) == 0) {
			return join(u, f, &u->externals.data[i], params, n);
		}
	}
	if (!text_is_identifier(name, "")) {
		return fail(u, f, "no identifier:", name);
	}
	if (is_word(u->d, name)) {
		return fail(u, f,
			    "no function, but a word of the language:", name);
	}
	if (name_set_has(&u->globals, name)) {
		return fail(u, f,
			    "an external function of the name of one of the "
			    "program, which T.call_func calls:",
			    name);
	}
	if (u->intrinsics == NULL) {
		u->intrinsics = intrinsic_set_load(u->m, u->d->dir);
		if (u->intrinsics == NULL) {
			return false;
		}
	}
	if (n > 0) {
		x.params = arena_copy(u->a, params, sizeof *params * (size_t)n);
	}
	x.symbol = intrinsic_set_symbol(u->intrinsics, name);
	if (x.symbol != NULL) {
		if (!takes_plain_pointers(u, f, &x) || !find_text(u, f, &x)) {
			return false;
		}
	} else if (f != u->entry) {
		if (u->external_prefix != NULL) {
			x.printed = arena_printf(u->a, "%s%s",
						 u->external_prefix, name);
		} else {
			note_external(u, f, name);
		}
		unit_need_type(u, ret);
		for (int i = 0; i < n; i++) {
			unit_need_type(u, params[i].type);
		}
	}
	name_set_add(&u->globals, x.printed);
	vec_push(u->a, &u->externals, x);
	return true;
}

static const struct external *
find_external(const struct unit *u, const char *name)
{
	for (int i = 0; i < u->externals.n; i++) {
		if (strcmp(u->externals.data[i].name, name) == 0) {
			return &u->externals.data[i];
		}
	}
	return NULL;
}

const struct intrinsic_text *
unit_external_text(const struct unit *u, const char *name)
{
	const struct external *x = find_external(u, name);

	return x != NULL ? x->text : NULL;
}

const char *
unit_external_name(const struct unit *u, const char *name)
{
	return find_external(u, name)->printed;
}

static bool
declare(struct unit *u, const struct external *x, struct strbuf *out)
{
	struct layout l = dialect_layout(u->d, out, true, false);
	struct tdata *data = tdata_new(u->a);
	struct strbuf s, line;
	bool good = true;

	strbuf_init(&s);
	strbuf_init(&line);
	strbuf_putc(&s, MARK_OPEN);
	for (int i = 0; i < x->n && good; i++) {
		const struct external_param *p = &x->params[i];
		struct tdata *one = tdata_new(u->a);

		strbuf_puts(&s, i > 0 ? "," TEXT_SPACE : "");
		tdata_text(one, "type", u->d->types[p->type.kind].spelling);
		tdata_text(one, "space", p->space);
		tdata_flag(one, "const", p->is_const);
		good = template_render(&u->m->diags, u->d->file,
				       "/functions/external_pointer",
				       p->pointer ? u->d->functions
							    .external_pointer
						  : "{{type}}",
				       one, &s);
	}
	if (x->n == 0) {
		strbuf_puts(&s, u->d->functions.no_parameters);
	}
	strbuf_putc(&s, MARK_CLOSE);
	tdata_text(data, "type", u->d->types[x->ret.kind].spelling);
	tdata_text(data, "name", x->printed);
	tdata_text(data, "parameters", s.data);
	good = good &&
	       template_render(&u->m->diags, u->d->file, "/functions/external",
			       u->d->functions.external, data, &line);
	if (good) {
		layout_line(&l, 0, line.data);
	}
	strbuf_release(&line);
	strbuf_release(&s);
	return good;
}

/* Was the text of the symbol with index `at` already written for a symbol
 * before it that has the same file and the same values? */
static bool
is_written(const struct unit *u, int at)
{
	const struct external *y = &u->externals.data[at];

	for (int i = 0; i < at; i++) {
		const struct external *x = &u->externals.data[i];

		if (x->symbol != NULL && x->text->file != NULL &&
		    x->symbol->file != x->text->file &&
		    x->symbol->values == y->symbol->values &&
		    strcmp(x->text->file, y->text->file) == 0) {
			return true;
		}
	}
	return false;
}

bool
unit_print_externals(struct unit *u, struct strbuf *out)
{
	int declared = 0;

	for (int i = 0; i < u->externals.n; i++) {
		if (u->externals.data[i].symbol == NULL) {
			declared++;
			if (!declare(u, &u->externals.data[i], out)) {
				return false;
			}
		}
	}
	if (declared > 0) {
		strbuf_putc(out, '\n');
	}
	for (int i = 0; i < u->externals.n; i++) {
		const struct external *x = &u->externals.data[i];

		if (x->symbol == NULL || is_written(u, i)) {
			continue;
		}
		if (!intrinsic_text_print(u->m, x->symbol, x->text, u->d,
					  out)) {
			return false;
		}
		strbuf_putc(out, '\n');
	}
	return true;
}
