/* SPDX-License-Identifier: Apache-2.0 */
/* The primitives that give a loop a kind: parallel, vectorize, unroll, and
 * bind, which binds it to a thread index of a GPU ("blockIdx.x", "threadIdx.y",
 * "vthread"); and annotate, unannotate. */
#include "iterate.h"
#include "loop_legality.h"
#include "thread_loops.h"

static bool
set_kind(struct edit *e, int loop, enum for_kind kind, const char *thread)
{
	struct stmt *l = edit_loop(e, loop);
	int64_t extent;

	if (!l) {
		return false;
	}
	if (l->u.loop.kind != FOR_SERIAL) {
		return edit_fail(e,
				 "loop %s is %s already; a loop has one "
				 "kind",
				 l->u.loop.var->name,
				 for_kind_name(l->u.loop.kind));
	}
	if ((kind == FOR_VECTORIZED || kind == FOR_UNROLLED) &&
	    !expr_is_int(l->args[1], &extent)) {
		return edit_fail(e,
				 "loop %s has no constant extent; split "
				 "it first",
				 l->u.loop.var->name);
	}
	if (kind == FOR_VECTORIZED && stmt_has(l->children[0], STMT_FOR)) {
		return edit_fail(e,
				 "loop %s contains other loops; only "
				 "an innermost loop can be vectorized",
				 l->u.loop.var->name);
	}
	if (kind == FOR_THREAD
		    ? !no_reduction(e, l, tag_is_thread(tag_of_name(thread)))
		    : kind != FOR_UNROLLED && !iterations_independent(e, l)) {
		return false;
	}
	stmt_set_loop_kind(e->f, l, kind, thread);
	return true;
}

bool
prim_parallel(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	(void)out;
	return set_kind(e, args[0].u.id, FOR_PARALLEL, NULL);
}

bool
prim_vectorize(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	(void)out;
	return set_kind(e, args[0].u.id, FOR_VECTORIZED, NULL);
}

bool
prim_unroll(struct edit *e, const struct sched_value *args,
	    struct sched_value *out)
{
	(void)out;
	return set_kind(e, args[0].u.id, FOR_UNROLLED, NULL);
}

/* Does the block, or a block between it and the loop, have a binding or
 * predicate that uses the loop's variable? */
static bool
depends_on_loop(const struct stmt *block, const struct stmt *loop)
{
	for (const struct stmt *s = block; s && s != loop; s = s->parent) {
		for (int i = 0; s->kind == STMT_BLOCK && i < s->n_args; i++) {
			if (expr_uses_var(s->args[i], loop->u.loop.var)) {
				return true;
			}
		}
	}
	return false;
}

/* Has the loop `inner` surely at least as many iterations as `outer`? */
static bool
reaches_all(const struct stmt *outer, const struct stmt *inner)
{
	int64_t n, k;

	return outer->args[1] == inner->args[1] ||
	       (expr_is_int(outer->args[1], &n) &&
		expr_is_int(inner->args[1], &k) && k >= n);
}

static bool
misses_some(const struct stmt *block, const struct stmt *outer,
	    const struct stmt *inner)
{
	return depends_on_loop(block, outer) &&
	       (depends_on_loop(block, inner) || !reaches_all(outer, inner));
}

/* Searches for two nested loops over the same thread axis: lowering executes
 * the inner one for the thread's own index. A block that depends only on the
 * inner loop is cooperative work, such as a copy to shared memory; for a block
 * that also depends on the outer loop, all iterations in which the two indices
 * differ would be lost. The result is the outermost loop over the axis that
 * conflicts in this way with `loop`, which is to be bound; NULL if there is
 * none. */
static const struct stmt *
find_second(struct stmt *loop, const char *thread)
{
	const struct stmt *other = NULL;
	struct stmt_iter it = stmt_each_of(loop->children[0], STMT_BLOCK);
	const struct stmt *s;

	while (!other && (s = stmt_next(&it)) != NULL) {
		for (const struct stmt *p = s->parent; p; p = p->parent) {
			if (p != loop && p->kind == STMT_FOR &&
			    p->u.loop.kind == FOR_THREAD &&
			    strcmp(p->u.loop.thread, thread) == 0 &&
			    (stmt_contains(loop, p)
				     ? misses_some(s, loop, p)
				     : misses_some(s, p, loop))) {
				other = p;
			}
		}
	}
	return other;
}

static bool
axis_is_free(struct edit *e, struct stmt *loop, const char *thread)
{
	const struct stmt *other = strncmp(thread, "vthread", 7) != 0
					   ? find_second(loop, thread)
					   : NULL;

	return !other ||
	       edit_fail(e,
			 "loop %s of the same nest is already bound to %s; "
			 "fuse the two or use another axis",
			 other->u.loop.var->name, thread);
}

bool
prim_bind(struct edit *e, const struct sched_value *args,
	  struct sched_value *out)
{
	struct stmt *loop;

	(void)out;
	if (tag_of_name(args[1].u.text) == TAG_UNKNOWN) {
		return edit_fail(e,
				 "there is no '%s'; there are blockIdx.x, "
				 ".y, .z, threadIdx.x, .y, .z and vthread",
				 args[1].u.text);
	}
	loop = edit_loop(e, args[0].u.id);
	if (!loop || !axis_is_free(e, loop, args[1].u.text)) {
		return false;
	}
	return set_kind(e, args[0].u.id, FOR_THREAD,
			arena_strdup(&e->m->arena, args[1].u.text));
}

static const struct expr *note_list(struct module *m,
				    const struct sched_value *list);

/* The value of an annotation as an expression; NULL for an index map. */
static const struct expr *
note_value(struct module *m, const struct sched_value *v)
{
	switch (v->kind) {
	case SV_INT:
		return expr_index(m, v->u.ival);
	case SV_FLOAT:
		return expr_float(m, dtype_of(DT_F32), v->u.fval);
	case SV_BOOL:
		return expr_bool(m, v->u.ival);
	case SV_STRING:
		return expr_string(m, v->u.text);
	case SV_EXPR:
		return v->u.expr;
	case SV_LIST:
		return note_list(m, v);
	default:
		return NULL;
	}
}

static const struct expr *
note_list(struct module *m, const struct sched_value *list)
{
	const struct expr **items = arena_exprs(&m->arena, list->n + 1);

	for (int i = 0; i < list->n; i++) {
		items[i] = note_value(m, &list->items[i]);
		if (!items[i]) {
			return NULL;
		}
	}
	return expr_list(m, items, list->n);
}

bool
prim_annotate(struct edit *e, const struct sched_value *args,
	      struct sched_value *out)
{
	const struct expr *value = note_value(e->m, &args[2]);

	(void)out;
	if (!value) {
		return edit_fail(e, "ann_val contains a handle or a map; "
				    "give numbers, strings or lists of them");
	}
	stmt_set_note(e->f, func_find(e->f, args[0].u.id), args[1].u.text,
		      value);
	return true;
}

bool
prim_unannotate(struct edit *e, const struct sched_value *args,
		struct sched_value *out)
{
	struct stmt *at = func_find(e->f, args[0].u.id);

	(void)out;
	if (!stmt_note(at, args[1].u.text)) {
		return edit_fail(e,
				 "there is no annotation \"%s\"; the "
				 "function's text shows the annotations",
				 args[1].u.text);
	}
	stmt_set_note(e->f, at, args[1].u.text, NULL);
	return true;
}
