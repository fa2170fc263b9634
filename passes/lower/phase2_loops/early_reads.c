/* SPDX-License-Identifier: Apache-2.0 */
/* For loops with the note "read_before": hoists a conditional load out of the
 * loops that it does not depend on, into a local array.
 *
 *   for oc_v, ow_i:                      for ow_i:
 *     acc[ow_i, oc_v] +=                   row[ow_i] = if_then_else(
 *       if_then_else(                ->      0 <= ow_i + kw, x[ow_i + kw], 0)
 *         0 <= ow_i + kw,                for oc_v, ow_i:
 *         x[ow_i + kw], 0) * w[oc_v]       acc[ow_i, oc_v] +=
 *                                            row[ow_i] * w[oc_v]
 *
 * A branch per lane would keep compilers from vectorizing over the lanes.
 * Conjuncts that do not depend on an inner loop stay in place, and also guard
 * the hoisted load. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "scope.h"

enum { MOST_LOOPS = 8, MOST_ELEMS = 4096 };

struct hoisting {
	struct func *func;
	/* the loop with the note "read_before", and its only store */
	struct stmt *loop, *store;
	/* the conditional load to move out of the loop; NULL if none was
	 * found */
	const struct expr *value;
	/* the inner loops on which the value depends */
	struct stmt *over[MOST_LOOPS];
	int n_over;
	const struct buffer *row;
};

static bool
uses_inner_loops(const struct hoisting *x, const struct expr *e)
{
	for (const struct stmt *s = x->store->parent; s != x->loop->parent;
	     s = s->parent) {
		if (s->kind == STMT_FOR && expr_uses_var(e, s->u.loop.var)) {
			return true;
		}
	}
	return false;
}

/* Sets x->over to the inner loops on which e depends. False if they are not
 * short, if e depends on no inner loop, or if e depends on the loop with the
 * note. */
static bool
find_loops(struct hoisting *x, const struct expr *e)
{
	int64_t elems = 1, n;

	x->n_over = 0;
	for (struct stmt *s = x->store->parent; s != x->loop; s = s->parent) {
		if (s->kind != STMT_FOR || !expr_uses_var(e, s->u.loop.var)) {
			continue;
		}
		if (x->n_over == MOST_LOOPS || !expr_is_value(s->args[0], 0) ||
		    !expr_is_int(s->args[1], &n) || n < 1 ||
		    n > MOST_ELEMS / elems) {
			return false;
		}
		elems *= n;
		x->over[x->n_over++] = s;
	}
	return x->n_over > 0 && !expr_uses_var(e, x->loop->u.loop.var);
}

/* Is an index of the load itself loaded from an array? */
static bool
index_has_load(const struct expr *load)
{
	bool any = false;

	for (int i = 0; i < load->n_args; i++) {
		any |= expr_has_load(load->args[i]);
	}
	return any;
}

/* Is e a conditional load that can be hoisted? */
static bool
is_conditional_load(struct hoisting *x, const struct expr *e)
{
	return e->kind == EXPR_IF && e->args[1]->kind == EXPR_LOAD &&
	       !expr_has_load(e->args[0]) && !expr_has_load(e->args[2]) &&
	       !index_has_load(e->args[1]) && e->type.lanes == 1 &&
	       e->args[1]->u.buffer != x->store->u.buffer && find_loops(x, e);
}

/* Finds a conditional load at or below e. Skips operands that are evaluated
 * under a condition, which would not guard the hoisted load. */
static void
find_conditional_load(struct hoisting *x, const struct expr *e)
{
	struct arena *arena = &x->func->module->arena;
	VEC(const struct expr *) left = { 0 };
	struct memo seen;

	memo_init(&seen);
	vec_push(arena, &left, e);
	while (left.n > 0 && x->value == NULL) {
		e = left.data[--left.n];
		if (!memo_add(&seen, e)) {
			continue;
		}
		if (is_conditional_load(x, e)) {
			x->value = e;
		} else if (!expr_is_lazy(e)) {
			for (int i = e->n_args - 1; i >= 0; i--) {
				vec_push(arena, &left, e->args[i]);
			}
		}
	}
	memo_release(&seen);
}

/* The store that, with loops and guards around it, is the whole body of the
 * loop; NULL if the body has other statements. */
static struct stmt *
only_store(struct stmt *loop)
{
	struct stmt *s = loop;

	while (s->kind == STMT_FOR ||
	       (s->kind == STMT_IF && s->children[1] == NULL)) {
		s = s->children[0];
	}
	return s->kind == STMT_STORE ? s : NULL;
}

static const struct expr *
read_row(void *ctx, const struct expr *e)
{
	struct hoisting *x = ctx;
	struct module *m = x->func->module;
	const struct expr *at[MOST_LOOPS];
	struct conjuncts all = { 0 }, outside = { 0 };
	const struct expr *cond, *read;

	if (e != x->value) {
		return NULL;
	}
	for (int i = 0; i < x->n_over; i++) {
		at[i] = x->over[x->n_over - 1 - i]->u.loop.var->expr;
	}
	read = expr_load(m, x->row, at, x->n_over);
	expr_conjuncts(m, e->args[0], &all);
	for (int i = 0; i < all.list.n; i++) {
		if (!uses_inner_loops(x, all.list.data[i])) {
			vec_push(&m->arena, &outside.list, all.list.data[i]);
		}
	}
	cond = expr_conjunction(m, outside.list.data, outside.list.n);
	return cond == NULL ? read : expr_if(m, cond, read, e->args[2]);
}

/* Do the loop with the note, and all loops between it and the store, run at
 * least once? A loop that may have no iterations would guard the load, too. */
static bool
loops_run(const struct hoisting *x)
{
	struct analyser a;
	bool run = true;

	analyser_at(&a, x->func->module, x->loop);
	for (const struct stmt *s = x->store->parent; s != x->loop->parent;
	     s = s->parent) {
		run &= s->kind != STMT_FOR ||
		       analyse_bounds(&a, s->args[1]).min > 0;
	}
	return run;
}

/* Lists the conjuncts of the conditions of the IFs between the loop and s, the
 * outermost first. */
static void
list_guards(const struct hoisting *x, const struct stmt *s,
	    struct conjuncts *out)
{
	if (s != x->loop) {
		list_guards(x, s->parent, out);
		if (s->kind == STMT_IF) {
			expr_conjuncts(x->func->module, s->args[0], out);
		}
	}
}

/* Splits the guards between the loop and the store, and the value's condition,
 * into the conjuncts that use loops on which the value depends (inside), and
 * the remaining conjuncts (outside), which are tested first. False if a
 * conjunct contains a load, or a division that another conjunct or a loop
 * guards; if a conjunct in `inside` also uses inner loops on which the value
 * does not depend; or if `inside` is empty. */
static bool
split_conditions(struct hoisting *x, const struct expr **inside,
		 const struct expr **outside)
{
	struct module *m = x->func->module;
	struct conjuncts all = { 0 }, in = { 0 }, out = { 0 };
	struct analyser a;

	list_guards(x, x->store->parent, &all);
	expr_conjuncts(m, x->value->args[0], &all);
	analyser_at(&a, m, x->loop);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = all.list.data[i];
		struct hoisting probe = *x;

		if (!expr_is_total(&a, c)) {
			return false;
		}
		if (!uses_inner_loops(x, c)) {
			vec_push(&m->arena, &out.list, c);
			continue;
		}
		if (!find_loops(&probe, c)) {
			return false;
		}
		for (int k = 0; k < probe.n_over; k++) {
			bool known = false;

			for (int l = 0; l < x->n_over; l++) {
				known |= x->over[l] == probe.over[k];
			}
			if (!known) {
				return false;
			}
		}
		vec_push(&m->arena, &in.list, c);
	}
	*inside = expr_conjunction(m, in.list.data, in.list.n);
	*outside = expr_conjunction(m, out.list.data, out.list.n);
	return *inside != NULL;
}

static void
make_row_buffer(struct hoisting *x)
{
	struct module *m = x->func->module;
	const struct expr *shape[MOST_LOOPS];
	struct buffer_spec spec = {
		.name = "row",
		.type = x->value->type,
		.ndim = x->n_over,
		.shape = shape,
		.scope = "local",
	};

	for (int i = 0; i < x->n_over; i++) {
		shape[i] = x->over[x->n_over - 1 - i]->args[1];
	}
	x->row = buffer_new(m, &spec);
}

static void
hoist_load(struct hoisting *x)
{
	struct func *f = x->func;
	struct module *m = f->module;
	const struct expr *inside, *outside, *at[MOST_LOOPS], *value;
	struct stmt *fill, *pair[2];
	struct stmt_place place = stmt_place_of(x->loop);

	if (!loops_run(x) || !split_conditions(x, &inside, &outside)) {
		return;
	}
	make_row_buffer(x);
	for (int i = 0; i < x->n_over; i++) {
		at[i] = x->over[x->n_over - 1 - i]->u.loop.var->expr;
	}
	value = expr_if(m, inside, x->value->args[1], x->value->args[2]);
	fill = stmt_store(f, x->row, value, at, x->n_over);
	for (int i = 0; i < x->n_over; i++) {
		fill = stmt_for(f, x->over[i]->u.loop.var, x->over[i]->args[0],
				x->over[i]->args[1], x->over[i]->u.loop.kind,
				fill);
	}
	fill = stmt_clone(f, fill, true);
	/* The loops must not be partitioned: a copy without conditions would
	 * save little, and compilers treat one of the two copies as an unlikely
	 * path. */
	stmt_set_note(f, fill, "early", expr_i32(m, 1));
	if (outside != NULL) {
		fill = stmt_if(f, outside, fill, NULL);
	}
	stmt_set_arg(f, x->store, 0,
		     expr_rewrite(m, x->store->args[0], read_row, x));
	pair[0] = fill;
	pair[1] = x->loop;
	stmt_put(f, place, stmt_alloc(f, x->row, stmt_seq(f, pair, 2)));
}

bool
lower_early_reads(struct func *f)
{
	struct stmt_list l = loops_noted(f, "read_before");

	/* Inner loops are handled before outer ones: hoisting copies the loops
	 * inside of the loop. */
	for (int i = l.list.n - 1; i >= 0; i--) {
		struct hoisting x = { .func = f, .loop = l.list.data[i] };

		stmt_set_note(f, x.loop, "read_before", NULL);
		x.store = only_store(x.loop);
		if (x.store == NULL) {
			continue;
		}
		find_conditional_load(&x, x.store->args[0]);
		if (x.value != NULL && find_loops(&x, x.value)) {
			hoist_load(&x);
		}
	}
	return true;
}
