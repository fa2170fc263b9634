/* SPDX-License-Identifier: Apache-2.0 */
/* Unrolls the small inner loops of a nest that is annotated with the number of
 * statements that an unrolled body may have, as TVM's UnrollLoop does.
 *
 *   for i in T.serial(8, annotations={               for i in range(8):
 *           "pragma_auto_unroll_max_step": 16}):         for j in T.unroll(4):
 *       for j in range(4):                        ->         B[i, j] = A[i, j]
 *           B[i, j] = A[i, j]
 *
 * A loop is unrolled if its extent is constant, if all loops inside of it are
 * unrolled, and if its extent times the number of statements of its body is at
 * most the annotated number. With "pragma_unroll_explicit" the copies are
 * written out (pass "unroll"), else the C compiler makes the copies. */
#include "lower_passes.h"

enum { DEPTH_LIMIT = 8, KEEPS_LOOP = -1 };

struct unroll_limits {
	/* the largest number of statements of an unrolled body; 0: no loop is
	 * unrolled */
	int64_t max_step;
	bool write_out;
};

static int64_t
note_value(const struct stmt *s, const char *key, int64_t otherwise)
{
	const struct expr *e = stmt_note(s, key);
	int64_t v;

	return e != NULL && expr_is_int(e, &v) ? v : otherwise;
}

/* May a loop be unrolled whose body executes `steps` statements? Sets *all to
 * the number of statements that all iterations execute. */
static bool
may_unroll(const struct stmt *loop, const struct unroll_limits *limits,
	   int64_t steps, int depth, int64_t *all)
{
	int64_t n;

	if (!expr_is_int(loop->args[1], &n) || n < 1 ||
	    __builtin_mul_overflow(n, steps, all)) {
		return false;
	}
	return loop->u.loop.kind == FOR_UNROLLED ||
	       (loop->u.loop.kind == FOR_SERIAL && depth <= DEPTH_LIMIT &&
		*all <= limits->max_step);
}

static void
mark(struct func *f, struct stmt *loop, bool write_out)
{
	const enum for_kind kind = FOR_UNROLLED;

	if (loop->u.loop.kind != kind) {
		stmt_write(f, &loop->u.loop.kind, &kind, sizeof kind);
	}
	if (write_out) {
		stmt_set_note(f, loop, "unroll_now", expr_i32(f->module, 1));
	}
}

/* Unrolls loops at and below s. Returns the number of statements that s
 * executes, or KEEPS_LOOP if a loop in it is not unrolled; *depth: the nesting
 * depth of the unrolled loops in s. */
static int64_t
unroll(struct func *f, struct stmt *s, struct unroll_limits limits, int *depth)
{
	int64_t steps = s->kind == STMT_STORE || s->kind == STMT_EVALUATE;
	int64_t all;

	*depth = 0;
	if (s->kind == STMT_FOR) {
		limits.max_step = note_value(s, "pragma_auto_unroll_max_step",
					     limits.max_step);
		limits.write_out = note_value(s, "pragma_unroll_explicit",
					      limits.write_out) != 0;
	}
	for (int i = 0; i < s->n_children; i++) {
		int64_t below;
		int inner;

		if (s->children[i] == NULL) {
			continue;
		}
		below = unroll(f, s->children[i], limits, &inner);
		steps = below == KEEPS_LOOP || steps == KEEPS_LOOP
				? KEEPS_LOOP
				: steps + below;
		*depth = inner > *depth ? inner : *depth;
	}
	if (s->kind == STMT_WHILE) {
		return KEEPS_LOOP;
	}
	if (s->kind != STMT_FOR || steps == KEEPS_LOOP) {
		return steps;
	}
	if (!may_unroll(s, &limits, steps, *depth + 1, &all)) {
		return KEEPS_LOOP;
	}
	mark(f, s, limits.write_out);
	++*depth;
	return all;
}

bool
lower_auto_unroll(struct func *f)
{
	int depth;

	unroll(f, f->body, (struct unroll_limits){ 0, false }, &depth);
	return true;
}
