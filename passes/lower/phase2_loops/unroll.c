/* SPDX-License-Identifier: Apache-2.0 */
/* Unrolls loops with the note unroll_now: they become a copy of the body for
 * each iteration.
 *
 *   for i in T.unroll(2, annotations={"unroll_now": 1}):     A[0] = 0
 *       A[i] = 0                                          -> A[1] = 0
 *
 * Loops of the kind UNROLLED without the note are not changed: the C compiler
 * unrolls them. The pass "rows" unrolls loops with the note unroll_last, after
 * the passes that give the last tile of an axis loops of its own. */
#include "lower_passes.h"

enum { UNROLL_LIMIT = 64 };

static struct stmt *
iteration(struct func *f, struct stmt *loop, int64_t i)
{
	struct var *v = loop->u.loop.var;
	const struct expr *value = expr_add(f->module, loop->args[0],
					    expr_int(f->module, v->type, i));
	struct var_map map = { &v, &value, 1 };
	struct stmt *copy = stmt_clone(f, loop->children[0], true);

	stmt_substitute(f, copy, &map);
	return copy;
}

static void
unroll_below(struct func *f, struct stmt *s, const char *note)
{
	int64_t n;
	struct stmt **list;

	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			unroll_below(f, s->children[i], note);
		}
	}
	if (s->kind != STMT_FOR || !stmt_note(s, note) ||
	    !expr_is_int(s->args[1], &n) || n < 1 || n > UNROLL_LIMIT) {
		return;
	}
	list = arena_array(&f->module->arena, struct stmt *, (int)n);
	for (int i = 0; i < (int)n; i++) {
		list[i] = iteration(f, s, i);
	}
	stmt_replace(f, s, stmt_seq(f, list, (int)n));
}

bool
lower_unroll(struct func *f)
{
	unroll_below(f, f->body, "unroll_now");
	return true;
}

bool
lower_rows(struct func *f)
{
	unroll_below(f, f->body, "unroll_last");
	return true;
}
