/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of symbolic extent: iterations in which no guard can fail get a copy of
 * the body without guards. If only the end is guarded, the loop is split in two:
 *
 *   for i_o in range((n + 7) // 8):       for i_o in range(n // 8):
 *       for i_i in T.vectorized(8):           for i_i in T.vectorized(8):
 *           if i_o * 8 + i_i < n:   ->            ...
 *               ...                       for i_o in range(n // 8, (n + 7) // 8):
 *                                             for i_i in T.vectorized(8):
 *                                                 if i_o * 8 + i_i < n: ...
 *
 * If both ends are, as by the padding of an image, the two copies are the
 * branches of a condition:
 *
 *   for w_o in range((n + 5) // 6):       for w_o in range((n + 5) // 6):
 *       for w_i in T.unroll(6):               if 1 <= w_o and w_o < (n - 1) // 6:
 *           if 1 <= w_o * 6 + w_i and              for w_i in T.unroll(6): ...
 *              w_o * 6 + w_i < n:   ->        else:
 *               ...                               for w_i in T.unroll(6):
 *                                                     if 1 <= w_o * 6 + w_i ...
 */
#include "partition_loops.h"

#include "access.h"
#include "iterate.h"

struct tail {
	struct func *func;
	struct stmt *loop;
	bool forced, tiled;
	/* the unguarded iterations, first <= i < end; an end without guards is
	 * NULL */
	const struct expr *first, *end;
	/* guards that hold in the unguarded iterations */
	VEC(const struct expr *) guards;
	int n_stmts;
};

/* An upper bound of `rest`, an expression at statement `at`, over all
 * iterations of the loops between the partitioned loop and `at`; NULL if none
 * is known. */
static const struct expr *
largest(struct tail *t, struct analyser *a, const struct stmt *at,
	const struct expr *rest)
{
	const struct expr *lo, *hi;
	int n;
	struct iter_var *inside = loops_between(t->func, t->loop->children[0],
						at, &n);

	return analyse_cover(a, rest, inside, n, &lo, &hi) ? hi : NULL;
}

/* Does e use the variable of the loop, or a variable that a statement between
 * the loop and `at` binds? */
static bool
bound_inside(const struct tail *t, const struct stmt *at, const struct expr *e)
{
	for (; at != t->loop; at = at->parent) {
		if ((at->kind == STMT_FOR &&
		     expr_uses_var(e, at->u.loop.var)) ||
		    (at->kind == STMT_LET && expr_uses_var(e, at->u.var))) {
			return true;
		}
	}
	return expr_uses_var(e, t->loop->u.loop.var);
}

static void
add_guards_of(struct tail *t, struct stmt *at, const struct expr *cond)
{
	struct module *m = t->func->module;
	struct conjuncts all = { 0 };
	struct analyser a, outside;

	analyser_at(&a, m, at);
	analyser_at(&outside, m, t->loop);
	expr_conjuncts(m, cond, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i], *rest, *most, *edge;
		int64_t coeff;

		if (!partition_guard(&a, t->loop->u.loop.var, c, &coeff,
				     &rest)) {
			continue;
		}
		t->tiled |= partition_is_tiled(&a, t->loop, at, rest, coeff);
		most = largest(t, &a, at, rest);
		if (!most || bound_inside(t, at, most) ||
		    !expr_is_total(&outside, most) ||
		    (!t->tiled && !t->forced)) {
			continue;
		}
		/* v <= floor(-most / coeff), or v >= -floor(-most / -coeff) */
		edge = expr_floordiv(m, expr_neg(m, most),
				     expr_int(m, most->type,
					      coeff > 0 ? coeff : -coeff));
		if (coeff > 0) {
			edge = expr_add(m, edge, expr_int(m, most->type, 1));
			t->end = t->end ? expr_min(m, t->end, edge) : edge;
		} else {
			edge = expr_neg(m, edge);
			t->first = t->first ? expr_max(m, t->first, edge)
					    : edge;
		}
		vec_push(&m->arena, &t->guards, c);
	}
}

static void
find_guards(struct tail *t, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		const struct expr *e;

		if (partition_unwanted(s)) {
			stmt_skip(&it);
			continue;
		}
		t->n_stmts++;
		if (s->kind == STMT_IF) {
			add_guards_of(t, s, s->args[0]);
		}
		if (s->kind != STMT_STORE) {
			continue;
		}
		for (struct expr_iter ifs = expr_each_of(s->args[0], EXPR_IF);
		     (e = expr_next(&ifs));) {
			add_guards_of(t, s, e->args[0]);
		}
	}
}

static const struct expr *
guard_to_true(void *ctx, const struct expr *e)
{
	const struct tail *t = ctx;

	if (vec_has(&t->guards, e)) {
		return expr_bool(t->func->module, true);
	}
	return NULL;
}

/* The loop's body becomes an `if`: the branch for the range has no guards, and
 * a copy of the body in the other branch keeps them. */
static void
branch_on_range(struct tail *t)
{
	struct func *f = t->func;
	struct module *m = f->module;
	const struct expr *v = t->loop->u.loop.var->expr;
	struct stmt *body = t->loop->children[0];
	struct stmt *guarded = stmt_clone(f, body, true);
	struct stmt_place place = stmt_place_of(body);
	const struct expr *plain = expr_and(m, expr_le(m, t->first, v),
					    expr_lt(m, v, t->end));

	stmt_rewrite(f, body, guard_to_true, t);
	stmt_put(f, place, stmt_if(f, plain, body, guarded));
}

void
partition_tail(struct func *f, struct stmt *loop)
{
	struct module *m = f->module;
	struct tail t = { .func = f,
			  .loop = loop,
			  .forced = partition_forced(loop) };
	const struct expr *min = loop->args[0], *end, *middle;
	struct stmt *parts[2];
	struct stmt_place place;
	struct analyser a;

	find_guards(&t, loop->children[0]);
	if (!t.end || (!t.forced && t.n_stmts > PARTITION_BODY_LIMIT) ||
	    !dtype_equal(t.end->type, min->type)) {
		return;
	}
	analyser_at(&a, m, loop);
	end = simplify(&a, expr_add(m, min, loop->args[1]));
	middle = simplify(&a, t.end);
	if (t.first && prove(&a, expr_le(m, t.first, min))) {
		t.first = NULL;
	}
	if (prove(&a, expr_le(m, middle, min)) ||
	    (!t.first && prove(&a, expr_le(m, end, middle)))) {
		/* either all iterations are guarded or none: the loop stays */
		return;
	}
	if (t.first) {
		t.first = simplify(&a, t.first);
		t.end = middle;
		branch_on_range(&t);
		return;
	}
	if (!prove(&a, expr_le(m, middle, end))) {
		middle = expr_min(m, middle, end);
	}
	if (!prove(&a, expr_le(m, min, middle))) {
		middle = expr_max(m, middle, min);
	}
	place = stmt_place_of(loop);
	/* The clone has variables of its own, so that it keeps its guards when
	 * the guards of the original loop are dropped. */
	parts[1] = stmt_clone(f, loop, true);
	stmt_set_arg(f, parts[1], 0, middle);
	stmt_set_arg(f, parts[1], 1, simplify(&a, expr_sub(m, end, middle)));
	partition_rest(f, parts[1]);
	parts[0] = loop;
	stmt_set_arg(f, loop, 1, simplify(&a, expr_sub(m, middle, min)));
	stmt_rewrite(f, loop->children[0], guard_to_true, &t);
	stmt_put(f, place, stmt_seq(f, parts, 2));
}
