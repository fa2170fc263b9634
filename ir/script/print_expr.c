/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as TVMScript: operators of Python with the fewest parentheses
 * that keep the tree, everything else as calls of T. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "size_words.h"

static const struct {
	const char *script;
	int strength;
} kind_facts[] = {
#define EXPR(id, payload, n, script, prec) { script, prec },
#include "expr.def"
#undef EXPR
};

void
print_type(struct printer *p, struct dtype t)
{
	strbuf_puts(p->out, dtype_name(t));
	if (t.lanes > 1) {
		strbuf_printf(p->out, "x%d", t.lanes);
	}
}

static void
print_quoted_type(struct printer *p, struct dtype t)
{
	strbuf_putc(p->out, '"');
	print_type(p, t);
	strbuf_putc(p->out, '"');
}

void
print_string(struct printer *p, const char *text)
{
	strbuf_putc(p->out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			strbuf_printf(p->out, "\\%c", c);
		} else if (c == '\n') {
			strbuf_puts(p->out, "\\n");
		} else if (c < 32 || c == 127) {
			strbuf_printf(p->out, "\\x%02x", c);
		} else {
			strbuf_putc(p->out, (char)c);
		}
	}
	strbuf_putc(p->out, '"');
}

static void
print_int(struct printer *p, const struct expr *e)
{
	enum dtype_class class = dtype_class(e->type);
	bool typed = e->type.kind != DT_I32 && !p->words;

	if (class == DTC_BOOL) {
		const char *text = e->u.ival ? "True" : "False";

		strbuf_printf(p->out,
			      p->version == SCRIPT_OLD ? "%s" : "T.bool(%s)",
			      text);
		return;
	}
	if (typed) {
		strbuf_printf(p->out, "T.%s(", dtype_name(e->type));
	}
	if (class == DTC_UINT) {
		strbuf_printf(p->out, "%llu", (unsigned long long)e->u.ival);
	} else {
		strbuf_printf(p->out, "%lld", (long long)e->u.ival);
	}
	strbuf_puts(p->out, typed ? ")" : "");
}

/* Appends a float literal: the shortest decimal number that reads back as the
 * same value of its type. */
static void
print_float(struct printer *p, const struct expr *e)
{
	double value = e->u.fval;
	double rounded = number_round(e->type, (union number){ .f = value }).f;
	char text[64];

	strbuf_printf(p->out, "T.%s(", dtype_name(e->type));
	if (isnan(value)) {
		strbuf_puts(p->out, "\"nan\"");
	} else if (isinf(value)) {
		strbuf_puts(p->out, value < 0 ? "\"-inf\"" : "\"inf\"");
	} else if (value == 0) {
		strbuf_puts(p->out, signbit(value) ? "-0.0" : "0");
	} else if (fabs(value) < 1e15 && value == floor(value)) {
		strbuf_printf(p->out, "%.0f", value);
	} else {
		for (int digits = 1; digits <= 17; digits++) {
			union number back;

			snprintf(text, sizeof text, "%.*g", digits, value);
			back.f = strtod(text, NULL);
			if (number_round(e->type, back).f == rounded) {
				break;
			}
		}
		strbuf_puts(p->out, text);
	}
	strbuf_putc(p->out, ')');
}

void
print_exprs(struct printer *p, const struct expr *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (i > 0) {
			strbuf_puts(p->out, ", ");
		}
		print_expr(p, list[i], PRINT_LOOSE);
	}
}

static void
print_index(struct printer *p, const struct expr *const *index, int n)
{
	strbuf_putc(p->out, '[');
	if (n == 0) {
		strbuf_puts(p->out, "()");
	}
	print_exprs(p, index, n);
	strbuf_putc(p->out, ']');
}

/* Prints T.name(args). The type of the result is the last argument in the old
 * spelling; in the current spelling it is the first argument, if the arguments
 * do not determine it. */
static void
print_call(struct printer *p, const char *name, const struct expr *e,
	   bool tells_type)
{
	strbuf_printf(p->out, "%s(", name);
	if (tells_type && p->version == SCRIPT_CURRENT) {
		print_quoted_type(p, e->type);
		strbuf_puts(p->out, e->n_args ? ", " : "");
	}
	print_exprs(p, e->args, e->n_args);
	if (p->version == SCRIPT_OLD) {
		strbuf_puts(p->out, e->n_args ? ", dtype=" : "dtype=");
		print_quoted_type(p, e->type);
	}
	strbuf_putc(p->out, ')');
}

/* T.call_intrin("float32", "tirx.ptx_mma", …), TVM's form for all of them */
static void
print_instruction(struct printer *p, const struct expr *e)
{
	bool old = p->version == SCRIPT_OLD;

	strbuf_puts(p->out, "T.call_intrin(");
	print_quoted_type(p, e->type);
	strbuf_printf(p->out, ", \"%s.%s\"", old ? "tir" : "tirx",
		      e->args[0]->u.text);
	strbuf_puts(p->out, e->n_args > 1 ? ", " : "");
	print_exprs(p, e->args + 1, e->n_args - 1);
	strbuf_putc(p->out, ')');
}

static void
print_intrinsic(struct printer *p, const struct expr *e)
{
	char name[64];

	if (expr_is_list(e)) {
		strbuf_putc(p->out, '[');
		print_exprs(p, e->args, e->n_args);
		strbuf_putc(p->out, ']');
		return;
	}
	if (e->u.intrin == INTRIN_CALL_INTRIN) {
		print_instruction(p, e);
		return;
	}
	snprintf(name, sizeof name, "T.%s", intrin_name(e->u.intrin));
	print_call(p, name, e, intrin_result(e->u.intrin) == RESULT_OTHER);
}

static void
print_reduce(struct printer *p, const struct expr *e)
{
	const struct reduction *r = e->u.reduce;

	strbuf_printf(p->out, "T.Reduce(");
	print_string(p, r->reducer->name);
	strbuf_puts(p->out, ", [");
	print_exprs(p, e->args, e->n_args);
	strbuf_puts(p->out, "], axis={");
	for (int i = 0; i < r->n_axes; i++) {
		strbuf_puts(p->out, i ? ", " : "");
		print_var(p, r->axes[i].var);
		strbuf_puts(p->out, ": (");
		print_expr(p, r->axes[i].min, PRINT_LOOSE);
		strbuf_puts(p->out, ", ");
		print_end(p, r->axes[i].min, r->axes[i].extent);
		strbuf_putc(p->out, ')');
	}
	strbuf_putc(p->out, '}');
	if (r->condition) {
		strbuf_puts(p->out, ", where=");
		print_expr(p, r->condition, PRINT_LOOSE);
	}
	if (r->init) {
		strbuf_puts(p->out, ", init=[");
		print_exprs(p, r->init, r->reducer->n);
		strbuf_putc(p->out, ']');
	}
	if (r->reducer->n > 1) {
		strbuf_printf(p->out, ", index=%d", r->index);
	}
	strbuf_putc(p->out, ')');
}

static void
print_operator(struct printer *p, const struct expr *e, int strength)
{
	int own = kind_facts[e->kind].strength;
	const char *script = kind_facts[e->kind].script;
	bool compares = e->kind >= EXPR_EQ && e->kind <= EXPR_GE;

	if (strength > own) {
		strbuf_putc(p->out, '(');
	}
	if (e->n_args == 1) {
		strbuf_printf(p->out, "%s ", script);
		print_expr(p, e->args[0], own);
	} else {
		/* Python chains comparisons; other operators are
		 * left-associative. */
		print_expr(p, e->args[0], compares ? own + 1 : own);
		strbuf_printf(p->out, " %s ", script);
		print_expr(p, e->args[1], own + 1);
	}
	if (strength > own) {
		strbuf_putc(p->out, ')');
	}
}

void
print_expr(struct printer *p, const struct expr *e, int strength)
{
	bool old = p->version == SCRIPT_OLD;

	if (!e) {
		strbuf_puts(p->out, "None");
		return;
	}
	switch (e->kind) {
	case EXPR_INT:
		print_int(p, e);
		break;
	case EXPR_FLOAT:
		print_float(p, e);
		break;
	case EXPR_STRING:
		print_string(p, e->u.text);
		break;
	case EXPR_VAR:
		print_var(p, e->u.var);
		break;
	case EXPR_DIV:
		if (dtype_is_float(e->type)) {
			print_operator(p, e, strength);
		} else {
			print_call(p, "T.truncdiv", e, false);
		}
		break;
	case EXPR_CAST:
		if (p->words && !dtype_is_float(e->type) &&
		    !dtype_is_float(e->args[0]->type)) {
			print_expr(p, e->args[0], strength);
			break;
		}
		strbuf_puts(p->out, old ? "T.cast(" : "T.Cast(");
		if (old) {
			print_expr(p, e->args[0], PRINT_LOOSE);
			strbuf_puts(p->out, ", ");
			print_quoted_type(p, e->type);
		} else {
			print_quoted_type(p, e->type);
			strbuf_puts(p->out, ", ");
			print_expr(p, e->args[0], PRINT_LOOSE);
		}
		strbuf_putc(p->out, ')');
		break;
	case EXPR_LOAD:
		strbuf_puts(p->out, print_buffer_name(p, e->u.buffer));
		print_index(p, e->args, e->n_args);
		break;
	case EXPR_CALL:
		print_intrinsic(p, e);
		break;
	case EXPR_IF:
	case EXPR_TRUNCMOD:
		print_call(p, kind_facts[e->kind].script, e, false);
		break;
	case EXPR_RAMP:
	case EXPR_BROADCAST:
		strbuf_printf(p->out, "%s(", kind_facts[e->kind].script);
		print_exprs(p, e->args, e->n_args);
		strbuf_printf(p->out, ", %d)", e->type.lanes);
		break;
	case EXPR_REDUCE:
		print_reduce(p, e);
		break;
	case EXPR_MIN:
	case EXPR_MAX:
	case EXPR_SELECT:
		strbuf_printf(p->out, "%s(", kind_facts[e->kind].script);
		print_exprs(p, e->args, e->n_args);
		strbuf_putc(p->out, ')');
		break;
	default:
		print_operator(p, e, strength);
		break;
	}
}

void
print_end(struct printer *p, const struct expr *min, const struct expr *extent)
{
	int64_t first, count;

	if (expr_is_value(min, 0)) {
		print_expr(p, extent, PRINT_LOOSE);
	} else if (min->type.kind == DT_I32 && expr_is_int(min, &first) &&
		   expr_is_int(extent, &count)) {
		strbuf_printf(p->out, "%lld",
			      (long long)first + (long long)count);
	} else if (extent->kind == EXPR_SUB && extent->args[1] == min) {
		print_expr(p, extent->args[0], PRINT_LOOSE);
	} else {
		print_expr(p, min, PRINT_TERM);
		strbuf_puts(p->out, " + ");
		print_expr(p, extent, PRINT_FACTOR);
	}
}

void
print_region(struct printer *p, const struct region *r)
{
	strbuf_puts(p->out, print_buffer_name(p, r->buffer));
	strbuf_putc(p->out, '[');
	if (r->buffer->ndim == 0) {
		strbuf_puts(p->out, "()");
	}
	for (int i = 0; i < r->buffer->ndim; i++) {
		const struct range *range = &r->ranges[i];

		strbuf_puts(p->out, i ? ", " : "");
		print_expr(p, range->min, PRINT_LOOSE);
		if (!expr_is_value(range->extent, 1)) {
			strbuf_putc(p->out, ':');
			print_end(p, range->min, range->extent);
		}
	}
	strbuf_putc(p->out, ']');
}

void
print_notes(struct printer *p, const struct note *notes)
{
	strbuf_putc(p->out, '{');
	for (const struct note *n = notes; n; n = n->next) {
		print_string(p, n->key);
		strbuf_puts(p->out, ": ");
		print_expr(p, n->value, PRINT_LOOSE);
		strbuf_puts(p->out, n->next ? ", " : "");
	}
	strbuf_putc(p->out, '}');
}

void
expr_print(const struct expr *e, struct strbuf *out)
{
	struct printer p;

	printer_init(&p, SCRIPT_CURRENT, out);
	print_expr(&p, e, PRINT_LOOSE);
	printer_release(&p);
}

void
size_words(const struct expr *e, struct strbuf *out)
{
	size_t start = out->len, to = start;
	struct printer p;

	printer_init(&p, SCRIPT_CURRENT, out);
	p.words = true;
	print_expr(&p, e, PRINT_LOOSE);
	printer_release(&p);
	for (size_t i = start; i < out->len; i++) {
		bool in_name = i > start &&
			       strchr("(, ", out->data[i - 1]) == NULL;

		if (!in_name && strncmp(out->data + i, "T.", 2) == 0) {
			i++;
		} else {
			out->data[to++] = out->data[i];
		}
	}
	out->data[to] = '\0';
	out->len = to;
}
