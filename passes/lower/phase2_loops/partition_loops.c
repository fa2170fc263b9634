/* SPDX-License-Identifier: Apache-2.0 */
/* Loop partitioning: iterations in which no guard can fail get a copy of the
 * body without guards.
 *
 *   for w_o in range(8):                  for w_o in range(8):
 *       for w_i:                              if 1 <= w_o and w_o < 7:
 *           if 0 <= w_o * 7 + w_i - 1             for w_i: ...
 *              and w_o * 7 + w_i < 57: ->     else:
 *               ...                               for w_i:
 *                                                     if 0 <= w_o * 7 + ...
 *
 * If only one end is guarded, the loop is split in two:
 *
 *   for i_o in range(3):                  for i_o in range(2):
 *       for i_i in T.vectorized(8):           for i_i in T.vectorized(8):
 *           if i_o * 8 + i_i < 19:  ->            ...
 *               ...                       for i_o in range(2, 3):
 *                                             for i_i in T.vectorized(8):
 *                                                 if i_o * 8 + i_i < 19: ...
 *
 * Applies to serial and parallel loops with the note "partition" or TVM's
 * "pragma_loop_partition_hint" (the guarded iterations are then partitioned
 * again, so that each source of a concatenation gets its own loop); and to
 * loops over tiles, with an unrolled or vectorized inner loop, if at least half
 * of the iterations need no guard and the body is small. Guards in a loop with
 * the note "early" are ignored. The guarded iterations split from a parallel
 * loop are too few for threads and run serially. Loops of symbolic extents:
 * partition_tail.c. */
#include "partition_loops.h"
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "lower.h"

struct partition {
	struct func *func;
	struct stmt *loop;
	bool forced;
	/* a guard depends on a tile loop inside of the loop */
	bool tiled;
	/* the first and the last value that the loop variable has */
	int64_t min, max;
	/* the first and the last value of the loop variable for which no guard
	 * can fail */
	int64_t first, last;
	/* statements whose guards surely hold in the iterations from `first` to
	 * `last` */
	VEC(struct stmt *) guards;
	int n_stmts;
};

bool
partition_guard(struct analyser *a, struct var *v, const struct expr *c,
		int64_t *coeff, const struct expr **rest)
{
	struct module *m = a->module;
	bool swap = c->kind == EXPR_GT || c->kind == EXPR_GE;
	bool strict = c->kind == EXPR_LT || c->kind == EXPR_GT;
	const struct expr *sum;

	if ((c->kind != EXPR_LT && c->kind != EXPR_LE && !swap) ||
	    !dtype_is_int(c->args[0]->type) || holds_data(a, c)) {
		return false;
	}
	sum = expr_sub(m, c->args[swap], c->args[!swap]);
	if (strict) {
		sum = expr_add(m, sum, expr_int(m, sum->type, 1));
	}
	return analyse_affine(a, simplify(a, sum), &v, 1, coeff, rest) &&
	       *coeff != 0;
}

bool
partition_is_tiled(struct analyser *a, const struct stmt *loop,
		   const struct stmt *s, const struct expr *rest, int64_t coeff)
{
	for (; s != loop; s = s->parent) {
		const struct expr *other;
		struct var *v;
		int64_t inner, extent;

		if (s->kind != STMT_FOR || (s->u.loop.kind != FOR_UNROLLED &&
					    s->u.loop.kind != FOR_VECTORIZED)) {
			continue;
		}
		v = s->u.loop.var;
		if (expr_is_int(s->args[1], &extent) &&
		    analyse_affine(a, rest, &v, 1, &inner, &other) &&
		    inner * extent == coeff) {
			return true;
		}
	}
	return false;
}

/* Does the loop have a note "partition" with the value 0, which forbids the
 * rewrite? (Schedules set it if guards are cheap and the body is long.) */
static bool
partition_refused(const struct stmt *loop)
{
	const struct expr *e = stmt_note(loop, "partition");

	return e && expr_is_value(e, 0);
}

bool
partition_unwanted(const struct stmt *s)
{
	return s->kind == STMT_FOR && stmt_note(s, "early");
}

bool
partition_forced(const struct stmt *loop)
{
	return stmt_note(loop, "partition") ||
	       stmt_note(loop, "loop_partition_hint") ||
	       stmt_note(loop, "pragma_loop_partition_hint");
}

static void
narrow_range(struct partition *p, struct stmt *at, const struct expr *cond)
{
	struct conjuncts all = { 0 };
	struct analyser a;

	analyser_at(&a, p->func->module, at);
	expr_conjuncts(p->func->module, cond, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *rest;
		struct bounds b;
		int64_t coeff, edge;

		if (!partition_guard(&a, p->loop->u.loop.var, all.list.data[i],
				     &coeff, &rest)) {
			continue;
		}
		b = analyse_bounds(&a, rest);
		if (b.max == BOUND_POS_INF || b.max > INT32_MAX ||
		    b.max < INT32_MIN) {
			continue;
		}
		p->tiled |= partition_is_tiled(&a, p->loop, at, rest, coeff);
		if (!p->tiled && !p->forced) {
			continue;
		}
		edge = floor_div(-b.max, coeff > 0 ? coeff : -coeff);
		if (p->forced && (coeff > 0 ? edge < p->min : -edge > p->max)) {
			/* the guard fails in all of these iterations, so that
			 * it stays */
			continue;
		}
		vec_push(&p->func->module->arena, &p->guards, at);
		if (coeff > 0 && edge < p->last) {
			p->last = edge;
		} else if (coeff < 0 && -edge > p->first) {
			p->first = -edge;
		}
	}
}

static void
find_guards(struct partition *p, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		const struct expr *e;

		if (partition_unwanted(s)) {
			stmt_skip(&it);
			continue;
		}
		p->n_stmts++;
		if (s->kind == STMT_IF) {
			narrow_range(p, s, s->args[0]);
		}
		if (s->kind != STMT_STORE) {
			continue;
		}
		for (struct expr_iter ifs = expr_each_of(s->args[0], EXPR_IF);
		     (e = expr_next(&ifs));) {
			narrow_range(p, s, e->args[0]);
		}
	}
}

void
partition_rest(struct func *f, struct stmt *loop)
{
	if (loop && loop->u.loop.kind == FOR_PARALLEL) {
		stmt_set_loop_kind(f, loop, FOR_SERIAL, NULL);
	}
}

/* Does s contain a store that is an update, whose value depends on the stored
 * buffer? If `updates` is false: does s contain a store that is not an
 * update? */
static bool
has_store(struct stmt *s, bool updates)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_STORE);
	     (s = stmt_next(&it));) {
		if (expr_uses_buffer(s->args[0], s->u.buffer) == updates) {
			return true;
		}
	}
	return false;
}

/* Notes the range of iterations of `part` on the function, for the comment that
 * explains why the reduction has two copies. */
static void
note_copy(struct partition *p, struct stmt *part)
{
	struct module *m = p->func->module;
	const char *before = note_text(func_note(p->func, PARTITION_COPIES));
	const char *text;

	if (!has_store(part, true)) {
		return;
	}
	text = arena_printf(&m->arena, "%s%s%s %lld", before ? before : "",
			    before ? ", " : "", p->loop->u.loop.var->name,
			    (long long)p->first);
	if (p->last > p->first) {
		text = arena_printf(&m->arena, "%s to %lld", text,
				    (long long)p->last);
	}
	func_set_note(p->func, PARTITION_COPIES, expr_string(m, text));
}

static struct stmt *
part_of(struct partition *p, int64_t first, int64_t end, bool original)
{
	struct func *f = p->func;
	struct stmt *loop = original ? p->loop : stmt_clone(f, p->loop, true);
	struct dtype t = loop->u.loop.var->type;

	if (first >= end) {
		return NULL;
	}
	stmt_set_arg(f, loop, 0, expr_int(f->module, t, first));
	stmt_set_arg(f, loop, 1, expr_int(f->module, t, end - first));
	return loop;
}

static void partition_loop(struct func *f, struct stmt *loop);

static void
split_loop(struct partition *p, int64_t min, int64_t end)
{
	struct stmt_place place = stmt_place_of(p->loop);
	struct stmt *parts[3];

	note_copy(p, p->loop->children[0]);
	/* The parts are cloned before the range of the original shrinks. */
	parts[0] = part_of(p, min, p->first, false);
	parts[2] = part_of(p, p->last + 1, end, false);
	parts[1] = part_of(p, p->first, p->last + 1, true);
	for (int i = 0; i < 3 && !p->forced; i += 2) {
		partition_rest(p->func, parts[i]);
	}
	stmt_put(p->func, place, stmt_seq(p->func, parts, 3));
	/* If guards are nested (x if i < a, else y if i < b, else z), each of
	 * the cases gets a loop. */
	for (int i = 0; i < 3 && p->forced; i += 2) {
		if (parts[i]) {
			partition_loop(p->func, parts[i]);
		}
	}
}

static bool
has_guard(const struct partition *p, const struct stmt *s)
{
	for (int i = 0; i < p->guards.n; i++) {
		if (stmt_contains(s, p->guards.data[i])) {
			return true;
		}
	}
	return false;
}

/* The part of the loop's body from its first to its last statement that
 * contains a guard, as one statement. */
static struct stmt *
guarded_part(struct partition *p)
{
	struct func *f = p->func;
	struct stmt *body = p->loop->children[0], *s = body, *part;
	struct stmt **list;
	int first = -1, last = -1, n = 0;

	while (s->kind == STMT_ALLOC || s->kind == STMT_LET ||
	       s->kind == STMT_FOR) {
		s = s->children[0];
	}
	if (s->kind != STMT_SEQ) {
		return body;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (has_guard(p, s->children[i])) {
			first = first < 0 ? i : first;
			last = i;
		}
	}
	if (first == 0 && last == s->n_children - 1) {
		return body;
	}
	if (first == last) {
		return s->children[first];
	}
	part = stmt_seq(f, s->children + first, last - first + 1);
	list = arena_array(&f->module->arena, struct stmt *, s->n_children);
	for (int i = 0; i < s->n_children; i++) {
		if (i == first) {
			/* This SEQ is nested on purpose; stmt_seq would flatten
			 * it. */
			list[n++] = part;
		} else if (i < first || i > last) {
			list[n++] = s->children[i];
		}
	}
	stmt_set_children(f, s, list, n);
	return part;
}

/* Does the body contain serial loops without guards? Then the body is not
 * duplicated as a whole. */
static bool
has_unguarded_loops(struct partition *p)
{
	const struct stmt *s = p->loop->children[0];
	bool loops = false;

	while (s->kind == STMT_ALLOC || s->kind == STMT_LET ||
	       (s->kind == STMT_FOR && s->u.loop.kind == FOR_SERIAL)) {
		s = s->children[0];
	}
	for (int i = 0; s->kind == STMT_SEQ && i < s->n_children; i++) {
		const struct stmt *child = s->children[i];

		loops |= child->kind == STMT_FOR &&
			 child->u.loop.kind == FOR_SERIAL &&
			 !has_guard(p, child);
	}
	return loops;
}

/* Does the guard depend on a vectorized loop? */
static bool
guards_lanes(const struct partition *p, const struct stmt *guard)
{
	for (const struct stmt *s = guard; s != p->loop; s = s->parent) {
		if (s->kind == STMT_FOR && s->u.loop.kind == FOR_VECTORIZED &&
		    expr_uses_var(guard->args[0], s->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Do the guards enclose only updates of whole vectors, as the padding of an
 * image does? A second copy of these updates in the same loop gains nothing
 * with a compiler that keeps the accumulators in registers, and makes other
 * compilers spill them to memory. */
static bool
guards_only_updates(struct partition *p)
{
	bool results = false;

	for (int i = 0; i < p->guards.n && !results; i++) {
		struct stmt *s = p->guards.data[i];

		results = guards_lanes(p, s) || has_store(s, false);
	}
	return p->guards.n > 0 && !results;
}

static void
branch_on_range(struct partition *p)
{
	struct func *f = p->func;
	struct module *m = f->module;
	const struct expr *v = p->loop->u.loop.var->expr;
	struct stmt *part = guarded_part(p);
	struct stmt_place place = stmt_place_of(part);
	const struct expr *plain =
		expr_and(m, expr_le(m, expr_int(m, v->type, p->first), v),
			 expr_lt(m, v, expr_int(m, v->type, p->last + 1)));
	struct stmt *guarded = stmt_clone(f, part, true);

	note_copy(p, part);
	stmt_put(f, place, stmt_if(f, plain, part, guarded));
}

static void
partition_loop(struct func *f, struct stmt *loop)
{
	struct partition p = { .func = f, .loop = loop };
	int64_t min, extent, end;

	p.forced = partition_forced(loop);
	if (partition_refused(loop)) {
		return;
	}
	if (loop->u.loop.kind != FOR_SERIAL &&
	    loop->u.loop.kind != FOR_PARALLEL) {
		return;
	}
	if (!expr_is_int(loop->args[0], &min) ||
	    !expr_is_int(loop->args[1], &extent)) {
		partition_tail(f, loop);
		return;
	}
	if (extent < 2) {
		return;
	}
	end = min + extent;
	p.first = p.min = min;
	p.last = p.max = end - 1;
	find_guards(&p, loop->children[0]);
	if ((p.first == min && p.last == end - 1) || p.last < p.first) {
		return;
	}
	if (!p.forced && (p.n_stmts > PARTITION_BODY_LIMIT ||
			  (p.last - p.first + 1) * 2 < extent)) {
		return;
	}
	if ((p.first == min || p.last == end - 1) &&
	    (p.forced || !has_unguarded_loops(&p))) {
		split_loop(&p, min, end);
	} else if (p.forced || !guards_only_updates(&p)) {
		branch_on_range(&p);
	}
}

static void
partition_below(struct func *f, struct stmt *s)
{
	struct stmt *child;

	/* Inner loops are partitioned first; the parts of a loop that was split
	 * are not visited again. */
	for (int i = s->n_children - 1; i >= 0; i--) {
		child = s->children[i];
		if (!child) {
			continue;
		}
		partition_below(f, child);
		if (child->kind == STMT_FOR) {
			partition_loop(f, child);
		}
	}
}

bool
lower_partition(struct func *f)
{
	partition_below(f, f->body);
	if (f->body->kind == STMT_FOR) {
		partition_loop(f, f->body);
	}
	return true;
}
