/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as formulas: a reduction is a sum over its named axes. */
#include "formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "access.h"
#include "analyse.h"
#include "iterate.h"

/* The largest number of bytes of a formula; a longer one is cut off.
 * Expressions share operands, so that their full text could be very long. */
enum { FORMULA_BYTES = 6000 };

struct writing {
	struct strbuf *out;
	/* NULL: the formula names buffers as the function does */
	const struct func *f;
	/* simplifies indices; NULL: indices are printed as they are */
	struct analyser *indices;
};

static const struct {
	const char *text;
	int strength; /* 0: a function's name */
} kinds[] = {
#define EXPR(id, payload, n, script, prec) { script, prec },
#include "expr.def"
#undef EXPR
};

static void put(struct writing *w, const struct expr *e, int strength);

static void
put_list(struct writing *w, const struct expr *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		put(w, list[i], 0);
	}
}

static void
put_indices(struct writing *w, const struct expr *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		put(w, w->indices ? simplify(w->indices, list[i]) : list[i], 0);
	}
}

static void
put_call(struct writing *w, const char *name, const struct expr *const *args,
	 int n)
{
	strbuf_printf(w->out, "%s(", name);
	put_list(w, args, n);
	strbuf_putc(w->out, ')');
}

/* Appends the shortest decimal number that is the same value of the type. */
static void
put_float(struct writing *w, const struct expr *e)
{
	double value = e->u.fval;
	char text[64];

	for (int digits = 1; digits <= 17; digits++) {
		union number back;

		snprintf(text, sizeof text, "%.*g", digits, value);
		back.f = strtod(text, NULL);
		if (number_round(e->type, back).f == value) {
			break;
		}
	}
	strbuf_puts(w->out, text);
}

static void
put_int(struct writing *w, const struct expr *e)
{
	if (dtype_class(e->type) == DTC_BOOL) {
		strbuf_puts(w->out, e->u.ival != 0 ? "true" : "false");
	} else if (dtype_class(e->type) == DTC_UINT) {
		strbuf_printf(w->out, "%llu", (unsigned long long)e->u.ival);
	} else {
		strbuf_printf(w->out, "%lld", (long long)e->u.ival);
	}
}

/* The name of a variable, without the prefix v_ of block variables. */
static const char *
var_name(const struct var *v)
{
	return strncmp(v->name, "v_", 2) == 0 && v->name[2] != '\0'
		       ? v->name + 2
		       : v->name;
}

/* Appends the name of a buffer. A buffer inside of the function gets a mark if
 * it has the name of a parameter. */
static void
put_buffer(struct writing *w, const struct buffer *b)
{
	bool is_taken = false;

	strbuf_puts(w->out, b->name);
	if (w->f == NULL || func_has_param(w->f, b)) {
		return;
	}
	for (int i = 0; i < w->f->params.n; i++) {
		const struct buffer *p = w->f->params.data[i].buffer;

		is_taken |= p != NULL && strcmp(p->name, b->name) == 0;
	}
	strbuf_puts(w->out, is_taken ? "'" : "");
}

static void
put_load(struct writing *w, const struct buffer *b,
	 const struct expr *const *index)
{
	put_buffer(w, b);
	strbuf_putc(w->out, '[');
	put_indices(w, index, b->ndim);
	strbuf_putc(w->out, ']');
}

static void
put_operation(struct writing *w, const struct expr *e, int strength)
{
	int own = kinds[e->kind].strength;

	if (own == 0) {
		const char *name = kinds[e->kind].text;

		put_call(w, strncmp(name, "T.", 2) == 0 ? name + 2 : name,
			 e->args, e->n_args);
		return;
	}
	strbuf_puts(w->out, own < strength ? "(" : "");
	if (e->kind == EXPR_NOT) {
		strbuf_puts(w->out, "not ");
		put(w, e->args[0], own);
	} else {
		put(w, e->args[0], own);
		strbuf_printf(w->out, " %s ", kinds[e->kind].text);
		put(w, e->args[1], own + 1);
	}
	strbuf_puts(w->out, own < strength ? ")" : "");
}

static void
put(struct writing *w, const struct expr *e, int strength)
{
	if (w->out->len > FORMULA_BYTES) {
		return;
	}
	switch (e->kind) {
	case EXPR_INT:
		put_int(w, e);
		break;
	case EXPR_FLOAT:
		put_float(w, e);
		break;
	case EXPR_STRING:
		strbuf_printf(w->out, "\"%s\"", e->u.text);
		break;
	case EXPR_VAR:
		strbuf_puts(w->out, var_name(e->u.var));
		break;
	case EXPR_LOAD:
		put_load(w, e->u.buffer, e->args);
		break;
	case EXPR_CALL:
		put_call(w, intrin_name(e->u.intrin), e->args, e->n_args);
		break;
	case EXPR_CAST:
		put_call(w, dtype_name(e->type), e->args, 1);
		break;
	case EXPR_SELECT:
	case EXPR_IF:
		strbuf_putc(w->out, '(');
		put(w, e->args[0], 1);
		strbuf_puts(w->out, " ? ");
		put(w, e->args[1], 1);
		strbuf_puts(w->out, " : ");
		put(w, e->args[2], 1);
		strbuf_putc(w->out, ')');
		break;
	default:
		put_operation(w, e, strength);
		break;
	}
}

void
formula_put(const struct expr *e, struct strbuf *out)
{
	struct writing w = { .out = out };

	put(&w, e, 0);
}

/* -- blocks -- */

/* Appends the axes of one kind of a block: "oc < 24, oh < 4". Returns their
 * number. */
static int
put_axes(struct writing *w, const struct block *b, bool spatial)
{
	int n = 0;

	for (int i = 0; i < b->n_iters; i++) {
		const struct iter_var *v = &b->iters[i];

		if ((v->kind == ITER_SPATIAL) != spatial) {
			continue;
		}
		strbuf_puts(w->out, n++ > 0 ? ", " : "");
		if (!expr_is_value(v->min, 0)) {
			put(w, v->min, 7);
			strbuf_puts(w->out, " <= ");
		}
		strbuf_printf(w->out, "%s < ", var_name(v->var));
		put(w,
		    expr_is_value(v->min, 0)
			    ? v->extent
			    : expr_add(w->f->module, v->min, v->extent),
		    7);
	}
	return n;
}

/* If the statement of a reduction is b[i] = b[i] op value: returns the name of
 * the reduction by op, and sets *value. NULL if the statement has another
 * form. */
static const char *
reduction_of(const struct stmt *s, const struct expr **value)
{
	static const struct {
		enum expr_kind kind;
		const char *name;
	} names[] = {
		{ EXPR_ADD, "sum" },
		{ EXPR_MUL, "product" },
		{ EXPR_MIN, "minimum" },
		{ EXPR_MAX, "maximum" },
	};
	const struct expr *e = s->args[0];
	int own = access_own_operand(s);

	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_FMAX &&
	    e->args[0]->kind == EXPR_LOAD &&
	    e->args[0]->u.buffer == s->u.buffer) {
		*value = e->args[1];
		return "largest number";
	}
	for (size_t i = 0; own >= 0 && i < sizeof names / sizeof *names; i++) {
		if (names[i].kind == e->kind) {
			*value = e->args[1 - own];
			return names[i].name;
		}
	}
	return NULL;
}

/* Appends the formula of the block s; false if s is a block for which there is
 * no formula. */
static bool
put_block(struct writing *w, const struct stmt *s)
{
	const struct block *b = s->u.block;
	const struct stmt *store = s->children[0];
	const struct stmt *init = s->n_children > 1 ? s->children[1] : NULL;
	const struct expr *value = NULL;
	const char *name;
	struct strbuf axes;

	if (store->kind != STMT_STORE ||
	    (init != NULL && init->kind != STMT_STORE)) {
		return false;
	}
	name = init != NULL ? reduction_of(store, &value) : NULL;
	put_load(w, store->u.buffer, store->args + 1);
	if (name != NULL) {
		strbuf_printf(w->out, " = %s over ", name);
		put_axes(w, b, false);
		strbuf_puts(w->out, " of ");
		put(w, value, 16);
		strbuf_puts(w->out, ", from ");
		put(w, init->args[0], 16);
	} else {
		strbuf_puts(w->out, init != NULL ? " starts as " : " = ");
		put(w, init != NULL ? init->args[0] : store->args[0], 0);
	}
	if (name == NULL && init != NULL) {
		strbuf_puts(w->out, ", then becomes ");
		put(w, store->args[0], 0);
		strbuf_puts(w->out, " for each ");
		put_axes(w, b, false);
	}
	strbuf_init(&axes);
	if (put_axes(&(struct writing){ &axes, w->f, NULL }, b, true) > 0) {
		strbuf_printf(w->out, ", for %s", axes.data);
	}
	strbuf_release(&axes);
	if (!expr_is_value(s->args[0], 1)) {
		strbuf_puts(w->out, ", where ");
		put(w, s->args[0], 0);
	}
	return true;
}

/* Sets *out to the lines of f as TVMScript. */
static void
lines_of_script(const struct func *f, struct formulas *out)
{
	struct arena *a = &f->module->arena;
	struct strbuf s;

	*out = (struct formulas){ .is_script = true };
	strbuf_init(&s);
	func_print(f, SCRIPT_CURRENT, &s);
	for (const char *at = s.data; at != NULL && *at != '\0';) {
		size_t n = strcspn(at, "\n");

		vec_push(a, &out->list, arena_strndup(a, at, n));
		at += n + (at[n] == '\n');
	}
	strbuf_release(&s);
}

struct formulas
formulas_of(const struct func *f)
{
	struct formulas out = { 0 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		struct strbuf text;
		struct analyser indices;
		struct writing w = { &text, f, &indices };
		bool ok;

		if (s == f->body) {
			continue;
		}
		strbuf_init(&text);
		analyser_init(&indices, f->module);
		ok = put_block(&w, s);
		if (ok && text.len > FORMULA_BYTES) {
			strbuf_puts(&text, " …");
		}
		if (ok) {
			vec_push(&f->module->arena, &out.list,
				 arena_strdup(&f->module->arena, text.data));
		}
		strbuf_release(&text);
		if (!ok) {
			lines_of_script(f, &out);
			return out;
		}
	}
	return out;
}
