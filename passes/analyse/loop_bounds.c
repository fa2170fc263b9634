/* SPDX-License-Identifier: Apache-2.0 */
#include "loop_bounds.h"

struct bounding {
	struct analyser an;
	int depth;
	struct loop_bounds out;
};

static void
add_loop(struct bounding *b, const struct stmt *s)
{
	struct loop_bound one = { s, b->depth, BOUND_POS_INF, false };

	if (s->kind == STMT_FOR) {
		struct bounds range = analyse_bounds(&b->an, s->args[1]);

		one.most = range.max < 0 ? 0 : range.max;
		one.is_constant = range.min == range.max;
		analyser_bind(&b->an, s->u.loop.var, s->args[0], s->args[1]);
	}
	vec_push(&b->an.module->arena, &b->out.list, one);
}

static void
walk(struct bounding *b, const struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&b->an);
	bool is_loop = s->kind == STMT_FOR || s->kind == STMT_WHILE;

	b->depth += is_loop;
	if (is_loop) {
		add_loop(b, s);
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL) {
			walk(b, s->children[i]);
		}
	}
	b->depth -= is_loop;
	analyser_pop(&b->an, mark);
}

struct loop_bounds
loop_bounds_of(const struct func *f)
{
	struct bounding b = { 0 };

	analyser_init(&b.an, f->module);
	walk(&b, f->body);
	return b.out;
}
