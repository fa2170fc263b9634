/* SPDX-License-Identifier: Apache-2.0 */
/* Intrinsics for random programs: what the loops inside of some point of a
 * program compute, declared as an instruction of that size, so that tensorize
 * finds something that fits. What it does not see (an index made of two
 * loops, a use of an iter var outside of an index) gives no intrinsic, or one
 * that tensorize must refuse. */
#include "random_steps.h"

#include "intrinsic_make.h"

enum { MAX_LOOPS = 4, MAX_INPUTS = 6 };

struct maker {
	struct module *m;
	const struct stmt *block;
	const struct stmt *loop[MAX_LOOPS]; /* outermost first */
	bool spatial[MAX_LOOPS];
	struct iter_var axis[MAX_LOOPS];
	int n_loops;
	struct te_tensor *inputs[MAX_INPUTS];
	const struct expr *loads[MAX_INPUTS];
	int n_inputs;
	bool failed;
};

static bool
innermost(void *ctx, struct stmt *s)
{
	const struct stmt **found = ctx;

	if (s->kind == STMT_BLOCK) {
		*found = s;
	}
	return true;
}

/* Which loop an index runs along; -1: none; -2: several. */
static int
loop_of(struct maker *k, const struct expr *index)
{
	const struct block *b = k->block->u.block;
	int found = -1;

	for (int i = 0; i < b->n_iters; i++) {
		if (!expr_uses_var(index, b->iters[i].var)) {
			continue;
		}
		for (int l = 0; l < k->n_loops; l++) {
			if (expr_uses_var(k->block->args[i + 1],
					  k->loop[l]->u.loop.var)) {
				if (found >= 0 && found != l) {
					return -2;
				}
				found = l;
			}
		}
	}
	return found;
}

/* The dimensions that move with the loops: their loops, in order. */
static int
moving(struct maker *k, const struct expr *const *index, int n, int *loops)
{
	int count = 0;

	for (int d = 0; d < n; d++) {
		int l = loop_of(k, index[d]);

		if (l == -2 || (l >= 0 && count >= MAX_LOOPS)) {
			k->failed = true;
			return 0;
		}
		if (l >= 0) {
			loops[count++] = l;
		}
	}
	return count;
}

static const struct expr *
as_input(void *ctx, const struct expr *e)
{
	struct maker *k = ctx;
	const struct expr *shape[MAX_LOOPS], *at[MAX_LOOPS];
	int loops[MAX_LOOPS], n, which = 0;

	if (e->kind == EXPR_VAR) {
		k->failed = true; /* an iter var's value */
	}
	if (e->kind != EXPR_LOAD) {
		return NULL;
	}
	n = moving(k, e->args, e->n_args, loops);
	for (int d = 0; d < n; d++) {
		shape[d] = k->loop[loops[d]]->args[1];
		at[d] = k->axis[loops[d]].var->expr;
	}
	while (which < k->n_inputs && k->loads[which] != e) {
		which++;
	}
	if (which == MAX_INPUTS) {
		k->failed = true;
		return e;
	}
	if (which == k->n_inputs) {
		k->loads[which] = e;
		k->inputs[k->n_inputs++] =
			te_placeholder(k->m,
				       arena_printf(&k->m->arena, "x%d", which),
				       e->type, n, shape);
	}
	return te_at(k->m, k->inputs[which], at, n);
}

/* The loops between `at` and the block. */
static bool
find_loops(struct maker *k, const struct stmt *at)
{
	const struct stmt *list[MAX_LOOPS];
	int64_t extent, product = 1;

	for (const struct stmt *p = k->block; p != at; p = p->parent) {
		if (p->parent->kind != STMT_FOR && p->parent != at) {
			return false;
		}
		if (p->parent->kind != STMT_FOR) {
			break;
		}
		if (k->n_loops == MAX_LOOPS ||
		    !expr_is_int(p->parent->args[1], &extent)) {
			return false;
		}
		list[k->n_loops++] = p->parent;
		product *= extent;
	}
	for (int l = 0; l < k->n_loops; l++) {
		k->loop[l] = list[k->n_loops - 1 - l];
	}
	return product > 0 && product <= 512;
}

static void
make_axes(struct maker *k, const int *order, int n)
{
	const struct expr *shape[MAX_LOOPS];
	struct iter_var *axes;

	for (int d = 0; d < n; d++) {
		shape[d] = k->loop[order[d]]->args[1];
	}
	axes = te_axes(k->m, n, shape, NULL);
	for (int d = 0; d < n; d++) {
		k->axis[order[d]] = axes[d];
		k->spatial[order[d]] = true;
	}
	for (int l = 0; l < k->n_loops; l++) {
		if (!k->spatial[l]) {
			k->axis[l] = te_reduce_axis(k->m, "k",
						    k->loop[l]->args[1]);
		}
	}
}

static const struct expr *
call_on(struct module *m, const char *symbol, const struct buffer *const *b,
	int n)
{
	const struct expr *args[MAX_INPUTS + 2] = { expr_string(m, symbol) };

	for (int i = 0; i < n; i++) {
		const struct expr *zero[MAX_LOOPS], *first;

		for (int d = 0; d < b[i]->ndim; d++) {
			zero[d] = expr_i32(m, 0);
		}
		first = expr_load(m, b[i], zero, b[i]->ndim);
		args[i + 1] = expr_call(m, INTRIN_ADDRESS_OF,
					dtype_of(DT_HANDLE), &first, 1);
	}
	return expr_call(m, INTRIN_CALL_EXTERN, dtype_of(DT_I32), args, n + 1);
}

static const char *
declare(struct sched *s, struct maker *k, struct te_tensor *y, bool reduces,
	unsigned tag)
{
	struct module *m = k->m;
	const struct tensor_intrin *made = NULL;
	const char *why, *name = arena_printf(&m->arena, "random_%u", tag);
	const struct expr *reset = NULL, *update = NULL;
	const struct buffer **views;
	int n;

	views = tensor_intrin_views(m, y, &n);
	if (reduces) {
		reset = call_on(m, arena_printf(&m->arena, "%s_zero", name),
				views + n - 1, 1);
		update = call_on(m, arena_printf(&m->arena, "%s_add", name),
				 views, n);
	}
	if (!te_tensor_intrin(m, name, y, views, call_on(m, name, views, n),
			      reset, update, &made, &why)) {
		return NULL;
	}
	tensor_intrins_add(s->intrins, made);
	return name;
}

static struct stmt *
only_store(const struct stmt *block)
{
	return block->children[0]->kind == STMT_STORE ? block->children[0]
						      : NULL;
}

const char *
random_intrin(struct sched *s, struct rng *r, struct stmt *at)
{
	struct maker k = { .m = s->func->module };
	const struct stmt *store;
	const struct expr *value, *own;
	struct iter_var reduced[MAX_LOOPS];
	struct te_tensor *y;
	int order[MAX_LOOPS], n, n_reduced = 0;
	unsigned tag = (unsigned)rng_next(r);
	bool reduces;

	if (!at || !s->intrins || rng_below(r, 12) == 0) {
		return NULL;
	}
	stmt_visit(at, innermost, &k.block);
	if (!k.block || !(store = only_store(k.block)) || !find_loops(&k, at)) {
		return NULL;
	}
	n = moving(&k, store->args + 1, store->n_args - 1, order);
	make_axes(&k, order, n);
	value = store->args[0];
	own = expr_load(k.m, store->u.buffer, store->args + 1,
			store->n_args - 1);
	reduces = expr_uses_buffer(value, store->u.buffer);
	if (reduces) {
		if (value->kind != EXPR_ADD ||
		    (value->args[0] != own && value->args[1] != own)) {
			return NULL;
		}
		value = value->args[value->args[0] == own];
	}
	value = expr_rewrite(k.m, value, as_input, &k);
	for (int l = 0; l < k.n_loops; l++) {
		if (!k.spatial[l]) {
			reduced[n_reduced++] = k.axis[l];
		}
	}
	if (k.failed || reduces != (n_reduced > 0)) {
		return NULL;
	}
	if (reduces) {
		value = te_sum(k.m, value, reduced, n_reduced);
	}
	struct iter_var axes[MAX_LOOPS];

	for (int d = 0; d < n; d++) {
		axes[d] = k.axis[order[d]];
	}
	y = te_compute(k.m, "y", "random", n,
		       arena_copy(&k.m->arena, axes,
				  sizeof *axes * (size_t)MAX_LOOPS),
		       value, k.inputs, k.n_inputs);
	return declare(s, &k, y, reduces, tag);
}
