/* SPDX-License-Identifier: Apache-2.0 */
/* Hoists guards out of loops: loop-invariant conjuncts are tested outside.
 *
 *   for kh, kw:                              for kh:
 *       if 0 <= h + kh and 0 <= w + kw:  ->      if 0 <= h + kh:
 *           ...                                      for kw:
 *                                                        if 0 <= w + kw:
 *
 * Conditions with loads are not hoisted. Nor are conditions with a division by
 * an expression that may be zero when the loop has no iterations or when an
 * earlier condition fails. A LET whose value is loop-invariant moves with the
 * conditions that use its variable. Adjacent IFs with the same condition are
 * joined if the function writes none of the buffers that the condition loads
 * from; directly nested IFs are joined, too. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "thread_loops.h"

static bool
is_plain_if(const struct stmt *s)
{
	return s && s->kind == STMT_IF && !s->children[1];
}

/* Tightens the loop's constant bounds by the condition c: v < n, v <= n, n < v
 * or n <= v, with the loop's variable v and an integer n. False, with the loop
 * unchanged, if c has another form or the bounds are not constant. */
static bool
tighten(struct func *f, struct stmt *loop, const struct expr *c)
{
	struct module *m = f->module;
	const struct var *v = loop->u.loop.var;
	bool strict = c->kind == EXPR_LT;
	int64_t min, extent, bound;

	if ((c->kind != EXPR_LT && c->kind != EXPR_LE) ||
	    !expr_is_int(loop->args[0], &min) ||
	    !expr_is_int(loop->args[1], &extent)) {
		return false;
	}
	if (c->args[0] == v->expr && expr_is_int(c->args[1], &bound)) {
		int64_t end = strict ? bound : bound + 1;

		if (end < min + extent) {
			extent = end > min ? end - min : 0;
		}
	} else if (c->args[1] == v->expr && expr_is_int(c->args[0], &bound)) {
		int64_t first = strict ? bound + 1 : bound;

		if (first > min) {
			extent = first < min + extent ? min + extent - first
						      : 0;
			min = first;
		}
	} else {
		return false;
	}
	stmt_set_arg(f, loop, 0, expr_int(m, v->type, min));
	stmt_set_arg(f, loop, 1, expr_int(m, v->type, extent));
	return true;
}

/* Hoists the conjuncts that do not depend on v from the IF inside a loop, LET
 * or ALLOC. */
static void
hoist_over(struct func *f, struct stmt *s, const struct var *v)
{
	struct module *m = f->module;
	struct stmt *inner = s->children[0];
	struct conjuncts all = { 0 }, out = { 0 }, in = { 0 };
	struct stmt_place place;
	struct analyser a;
	bool tightened = false;

	if (!is_plain_if(inner)) {
		return;
	}
	analyser_at(&a, m, s);
	expr_conjuncts(m, inner->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];

		if (s->kind == STMT_FOR && tighten(f, s, c)) {
			tightened = true;
		} else if ((v && expr_uses_var(c, v)) ||
			   !expr_is_total(&a, c)) {
			vec_push(&m->arena, &in.list, c);
		} else {
			vec_push(&m->arena, &out.list, c);
			analyser_assume(&a, c);
		}
	}
	if (out.list.n == 0 && !tightened) {
		return;
	}
	if (in.list.n == 0) {
		stmt_replace(f, inner, inner->children[0]);
	} else {
		stmt_set_arg(f, inner, 0,
			     expr_conjunction(m, in.list.data, in.list.n));
	}
	if (out.list.n == 0) {
		return;
	}
	place = stmt_place_of(s);
	stmt_put(f, place,
		 stmt_if(f, expr_conjunction(m, out.list.data, out.list.n), s,
			 NULL));
}

/* Makes `if a: if b: x` one IF: `if a and b: x`. */
static void
join_nested(struct func *f, struct stmt *s)
{
	struct stmt *inner = s->children[0];

	if (s->children[1] || !is_plain_if(inner)) {
		return;
	}
	stmt_set_arg(f, s, 0, expr_and(f->module, s->args[0], inner->args[0]));
	stmt_replace(f, inner, inner->children[0]);
}

/* Does e load from a buffer to which the function writes? */
static bool
loads_stored(struct func *f, const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		found = found || func_writes(f, e->u.buffer);
	}
	return found;
}

static void
join_neighbours(struct func *f, struct stmt *seq)
{
	for (int i = 0; i + 1 < seq->n_children;) {
		struct stmt *a = seq->children[i], *b = seq->children[i + 1];
		struct stmt *pair[2];

		if (!is_plain_if(a) || !is_plain_if(b) ||
		    a->args[0] != b->args[0] || loads_stored(f, a->args[0])) {
			i++;
			continue;
		}
		pair[0] = a->children[0];
		pair[1] = b->children[0];
		stmt_set_child(f, a, 0, stmt_seq(f, pair, 2));
		if (seq->n_children == 2) {
			stmt_remove(f, b);
			return;
		}
		stmt_remove(f, b);
	}
}

/* Hoists a LET that is the whole body of the loop and does not depend on the
 * loop variable. The loop must run at least once: then the loads in the LET's
 * value are executed in any case. */
static void
hoist_let(struct func *f, struct stmt *loop)
{
	struct stmt *let = loop->children[0];
	struct stmt_place place;
	int64_t extent;

	if (!let || let->kind != STMT_LET ||
	    !expr_is_int(loop->args[1], &extent) || extent < 1 ||
	    expr_uses_var(let->args[0], loop->u.loop.var) ||
	    expr_has_effect(let->args[0]) || loads_stored(f, let->args[0])) {
		return;
	}
	place = stmt_place_of(loop);
	stmt_set_child(f, loop, 0, let->children[0]);
	stmt_put(f, place, stmt_let(f, let->u.var, let->args[0], loop));
	hoist_let(f, loop);
}

static void
hoist_below(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			hoist_below(f, s->children[i]);
		}
	}
	switch (s->kind) {
	case STMT_FOR:
		/* Thread loops stay outermost in their kernel. */
		if (s->u.loop.kind != FOR_THREAD) {
			hoist_let(f, s);
			hoist_over(f, s, s->u.loop.var);
			hoist_let(f, s);
		}
		break;
	case STMT_LET:
		hoist_over(f, s, s->u.var);
		break;
	case STMT_ALLOC:
		/* an ALLOC of a shared array stays around the thread loops */
		if (!buffer_is_shared(s->u.buffer)) {
			hoist_over(f, s, NULL);
		}
		break;
	case STMT_IF:
		join_nested(f, s);
		break;
	case STMT_SEQ:
		join_neighbours(f, s);
		break;
	default:
		break;
	}
}

bool
lower_guards(struct func *f)
{
	hoist_below(f, f->body);
	return true;
}
