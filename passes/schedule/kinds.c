/* SPDX-License-Identifier: Apache-2.0 */
/* How a loop runs: parallel, vectorized, unrolled, bound to threads; and
 * annotations. */
#include "sched_edit.h"

static bool
drives_kind(const struct stmt *block, const struct var *v, enum iter_kind kind)
{
	const struct block *b = block->u.block;

	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == kind &&
		    expr_uses_var(block->args[i + 1], v)) {
			return true;
		}
	}
	return false;
}

/* No two iterations write the same element: the loop drives spatial iter
 * vars only, and some in every block. */
static bool
check_data_parallel(struct edit *e, struct stmt *loop)
{
	const struct var *v = loop->u.loop.var;
	struct stmt_list blocks = { 0 };

	blocks_below(e->f, loop, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];

		for (int k = ITER_SPATIAL; k <= ITER_OPAQUE; k++) {
			if (k != ITER_SPATIAL &&
			    drives_kind(b, v, (enum iter_kind)k)) {
				return edit_fail(e, "loop %s reduces or scans "
						 "in block %s; only loops "
						 "whose iterations are "
						 "independent can be", v->name,
						 b->u.block->name);
			}
		}
	}
	return true;
}

static bool
has_loop(void *ctx, struct stmt *s)
{
	*(bool *)ctx |= s->kind == STMT_FOR;
	return !*(bool *)ctx;
}

static bool
set_kind(struct sched *s, const char *primitive, int loop, enum for_kind kind,
	 const char *thread)
{
	struct edit e = edit_begin(s, primitive);
	struct stmt *l = edit_loop(&e, loop);
	int64_t extent;
	bool inner = false;

	if (!l) {
		return false;
	}
	if (l->u.loop.kind != FOR_SERIAL) {
		return edit_fail(&e, "loop %s is %s already; a loop has one "
				 "kind", l->u.loop.var->name,
				 for_kind_name(l->u.loop.kind));
	}
	if ((kind == FOR_VECTORIZED || kind == FOR_UNROLLED) &&
	    !expr_is_int(l->args[1], &extent)) {
		return edit_fail(&e, "loop %s has no constant extent; split "
				 "it first", l->u.loop.var->name);
	}
	if (kind == FOR_VECTORIZED) {
		stmt_visit(l->children[0], has_loop, &inner);
		if (inner) {
			return edit_fail(&e, "loop %s holds other loops; only "
					 "the innermost can be vectorized",
					 l->u.loop.var->name);
		}
	}
	if (kind != FOR_UNROLLED && !check_data_parallel(&e, l)) {
		return false;
	}
	stmt_set_loop_kind(e.f, l, kind, thread);
	return thread ? edit_done(&e, "%s, \"%s\"", l->u.loop.var->name,
				  thread)
		      : edit_done(&e, "%s", l->u.loop.var->name);
}

bool
sched_parallel(struct sched *s, int loop)
{
	return set_kind(s, "parallel", loop, FOR_PARALLEL, NULL);
}

bool
sched_vectorize(struct sched *s, int loop)
{
	return set_kind(s, "vectorize", loop, FOR_VECTORIZED, NULL);
}

bool
sched_unroll(struct sched *s, int loop)
{
	return set_kind(s, "unroll", loop, FOR_UNROLLED, NULL);
}

bool
sched_bind(struct sched *s, int loop, const char *thread)
{
	return set_kind(s, "bind", loop, FOR_THREAD,
			arena_strdup(&s->module->arena, thread));
}

bool
sched_annotate(struct sched *s, int loop_or_block, const char *key,
	       const struct expr *value)
{
	struct edit e = edit_begin(s, "annotate");
	struct stmt *at = func_find(e.f, loop_or_block);

	if (!at || (at->kind != STMT_FOR && at->kind != STMT_BLOCK)) {
		return edit_fail(&e, "%d is neither loop nor block; get it "
				 "again", loop_or_block);
	}
	stmt_set_note(e.f, at, key, value);
	return edit_done(&e, "%s, \"%s\"",
			 at->kind == STMT_FOR ? at->u.loop.var->name
					      : at->u.block->name,
			 key);
}
