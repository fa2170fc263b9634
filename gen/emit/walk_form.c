/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect's forms of operators, with the parentheses that precedence
 * requires and those without which compilers warn. */
#include "walk_expr.h"

static const char *
as_group(struct walker *w, const char *text)
{
	if (strpbrk(text, TEXT_OPERATOR TEXT_SPACE) == NULL) {
		return text;
	}
	return arena_printf(w->a, TEXT_OPEN "%s" TEXT_CLOSE, text);
}

static const char *
in_parentheses(struct walker *w, struct piece p)
{
	return arena_printf(w->a, "(%s)", as_group(w, p.text));
}

const char *
walk_expr(struct walker *w, const struct expr *e, int level)
{
	struct piece p = walk_piece(w, e);

	return p.level < level ? in_parentheses(w, p) : as_group(w, p.text);
}

const char *
walk_compared(struct walker *w, const struct expr *e)
{
	int level = w->d->relational;
	struct piece p = walk_piece(w, e);

	return p.level <= level ||
			       (w->d->levels[level].clarify >> p.level & 1) != 0
		       ? in_parentheses(w, p)
		       : as_group(w, p.text);
}

struct piece
walk_failed_piece(struct walker *w)
{
	w->failed = true;
	return (struct piece){ "", w->d->primary };
}

bool
walk_is_lengthened(const struct expr *e)
{
	return e->kind == EXPR_CAST && e->type.lanes == 1 &&
	       dtype_class(e->type) == DTC_INT && dtype_bits(e->type) > 32 &&
	       dtype_class(e->args[0]->type) == DTC_INT;
}

/* Sets `out` to the two operands of an operator, without a cast to a wider
 * integer that the operator's implicit conversion makes unnecessary. */
static void
operands(struct walker *w, const struct expr *const *args,
	 const struct expr *out[2])
{
	for (int i = 1; i >= 0; i--) {
		const struct expr *other = i == 1 ? args[0] : out[1];

		out[i] = walk_is_lengthened(args[i]) &&
					 !walk_is_composite(w,
							    args[i]->args[0]) &&
					 dtype_equal(other->type,
						     args[i]->type) &&
					 other->kind != EXPR_INT
				 ? args[i]->args[0]
				 : args[i];
	}
}

static struct piece
infix(struct walker *w, const struct form *f, const struct expr *const *both)
{
	const struct expr *args[2];
	bool one_number = (both[0]->kind == EXPR_BROADCAST) !=
			  (both[1]->kind == EXPR_BROADCAST);
	const struct level *level = &w->d->levels[f->level];
	struct piece side[2];
	const char *text[2];
	const char *before = level->where == BREAK_BEFORE ? TEXT_OPERATOR : " ";
	const char *after = level->where == BREAK_AFTER ? TEXT_SPACE : " ";

	operands(w, both, args);
	for (int i = 0; i < 2; i++) {
		bool outer = (i == 1) == level->right;
		bool same;

		/* one_number: the operand is a scalar in place of a vector of
		 * equal lanes, because the operator broadcasts it */
		side[i] = walk_piece(w, one_number && args[i]->kind ==
								EXPR_BROADCAST
						? args[i]->args[0]
						: args[i]);
		same = side[i].level == f->level && outer;
		if (side[i].level < f->level ||
		    (side[i].level == f->level && !outer) ||
		    (level->clarify >> side[i].level & 1) != 0) {
			text[i] = in_parentheses(w, side[i]);
		} else {
			text[i] = same ? side[i].text
				       : as_group(w, side[i].text);
		}
	}
	return (struct piece){ arena_printf(w->a, "%s%s%s%s%s", text[0], before,
					    f->text, after, text[1]),
			       f->level };
}

static struct piece
prefix(struct walker *w, const struct form *f, const struct expr *arg)
{
	const char *text = walk_expr(w, arg, f->level);
	char first = text[strspn(text, TEXT_OPEN)];

	/* in parentheses, because "--x" and "&&x" would be other tokens */
	if (first == f->text[strlen(f->text) - 1]) {
		text = arena_printf(w->a, "(%s)", text);
	}
	return (struct piece){ arena_printf(w->a, "%s%s", f->text, text),
			       f->level };
}

static struct piece
call_exprs(struct walker *w, const char *callee, const struct expr *const *args,
	   int n)
{
	const char *texts[4];

	for (int i = 0; i < n; i++) {
		texts[i] = walk_expr(w, args[i], w->d->assignment);
	}
	return walk_call(w, callee, texts, n);
}

static struct piece
from_text(struct walker *w, const struct form *f, const struct tdata *facts,
	  const struct expr *const *args, int n)
{
	static const char *const names[] = { "a", "b", "c" };
	struct tdata *data = tdata_new(w->a);

	tdata_outer(data, facts);
	tdata_text(data, "br", TEXT_OPERATOR);
	for (int i = 0; i < n; i++) {
		tdata_text(data, names[i],
			   walk_expr(w, args[i], f->operands[i]));
	}
	return (struct piece){ walk_render(w, f->text, data), f->level };
}

struct piece
walk_apply_to(struct walker *w, enum form_id id, struct dtype t,
	      struct dtype to, const struct expr *const *args, int n)
{
	const struct form *f;
	const struct tdata *facts;
	const char *name;

	t = walk_computed(w, t);
	f = dialect_form(w->d, id, t);
	if (f == NULL || (t.lanes > 1 && unit_type(w->u, t) == NULL)) {
		return walk_failed_piece(w);
	}
	facts = unit_facts(w->u, t);
	for (int i = 0; i < f->needs.n; i++) {
		unit_need(w->u, f->needs.data[i]);
	}
	switch (f->kind) {
	case FORM_IS_INFIX:
		return infix(w, f, args);
	case FORM_IS_PREFIX:
		return prefix(w, f, args[0]);
	case FORM_IS_CALL:
		return call_exprs(w, walk_render(w, f->text, facts), args, n);
	case FORM_IS_HELPER:
		name = unit_helper(w->u, dialect_helper(w->d, f->text), t, to);
		return name != NULL ? call_exprs(w, name, args, n)
				    : walk_failed_piece(w);
	default:
		return from_text(w, f, facts, args, n);
	}
}

struct piece
walk_apply(struct walker *w, enum form_id id, struct dtype t,
	   const struct expr *const *args, int n)
{
	return walk_apply_to(w, id, t, t, args, n);
}

struct piece
walk_cast_text(struct walker *w, struct dtype t, struct piece p)
{
	const struct form *f = dialect_form(w->d, FORM_CAST, t);
	struct tdata *data = tdata_new(w->a);

	if (f == NULL) {
		return walk_failed_piece(w);
	}
	unit_need_type(w->u, t);
	tdata_outer(data, w->d->types[t.kind].facts);
	tdata_text(data, "a",
		   p.level < f->operands[0] ? in_parentheses(w, p)
					    : as_group(w, p.text));
	return (struct piece){ walk_render(w, f->text, data), f->level };
}

struct piece
walk_narrowed(struct walker *w, struct dtype t, struct piece p)
{
	return w->d->types[t.kind].promoted ? walk_cast_text(w, t, p) : p;
}

bool
walk_is_composite(struct walker *w, const struct expr *e)
{
	bool chooses = e->kind == EXPR_SELECT || e->kind == EXPR_IF;

	if (chooses || e->kind == EXPR_MIN || e->kind == EXPR_MAX) {
		return walk_is_composite(w, e->args[chooses ? 1 : 0]) ||
		       walk_is_composite(w, e->args[chooses ? 2 : 1]);
	}
	return w->d->levels[walk_piece(w, e).level].composite;
}
