/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, after the rule for one of them has had its say: of each nest of
 * loops the outermost one whose iterations are apart is shared. Where it has
 * too few iterations for the cores, the loops inside of it join:
 *
 *   for oc_o in range(4):             for oc_o_oh_fused in T.parallel(224):
 *     for oh in range(56):      ->      ...
 *       ...
 *
 * Of the outer loops that one goes first of which threads have the least in
 * common: rows of a large picture, output channels where there are many
 * weights. A loop does not join where a block runs for some of its iterations
 * only: tiles that do not divide an axis are set apart later.
 *
 * A nest whose work takes not much longer than starting and ending the threads
 * stays as it is. Work is operations and bytes, by the target's facts. */
#include <string.h>

#include "sched_rules.h"

/* Each thread gets so many iterations, or one more: then that is little. */
#define ITERATIONS_PER_CORE 4
/* Two threads save half of the work and cost one start: three are a gain. */
#define STARTS_PER_NEST 3
/* A function, in operations. */
#define CALL_OPERATIONS 16
/* One of a sum that no vectors add up. */
#define SCALAR_OPERATIONS 8

static double
expr_operations(const struct expr *e)
{
	double n = 0;

	if (e->kind == EXPR_LOAD) {
		return 0;
	}
	if (e->n_args > 0 && dtype_is_float(e->type)) {
		n = e->kind == EXPR_CALL && !expr_is_extreme(e)
			    ? CALL_OPERATIONS
			    : 1;
	}
	for (int i = 0; i < e->n_args; i++) {
		n += expr_operations(e->args[i]);
	}
	return n;
}

static double
stmt_operations(const struct stmt *s)
{
	double n = s->kind == STMT_STORE ? expr_operations(s->args[0]) : 0;
	int64_t extent;

	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL) {
			n += stmt_operations(s->children[i]);
		}
	}
	if (s->kind == STMT_FOR && expr_is_int(s->args[1], &extent)) {
		n *= (double)extent;
	}
	return n;
}

/* The parameters that blocks below a loop touch, each once. */
struct touched {
	const struct func *func;
	VEC(const struct buffer *) list;
	double bytes;
};

static void
touch(struct touched *t, const struct buffer *b)
{
	int64_t elems;

	for (int i = 0; i < t->list.n; i++) {
		if (t->list.data[i] == b) {
			return;
		}
	}
	vec_push(&t->func->module->arena, &t->list, b);
	for (int i = 0; i < t->func->params.n; i++) {
		if (t->func->params.data[i].buffer == b &&
		    buffer_max_elems(b, &elems)) {
			t->bytes += (double)elems * buffer_element_bytes(b);
		}
	}
}

static bool
see_block(void *ctx, struct stmt *s)
{
	if (s->kind == STMT_BLOCK) {
		for (int i = 0; i < s->u.block->n_reads; i++) {
			touch(ctx, s->u.block->reads[i].buffer);
		}
		for (int i = 0; i < s->u.block->n_writes; i++) {
			touch(ctx, s->u.block->writes[i].buffer);
		}
	}
	return true;
}

struct sums {
	bool reduces, by_vectors;
};

static bool
see_sum(void *ctx, struct stmt *s)
{
	struct sums *x = ctx;

	x->reduces |= s->kind == STMT_BLOCK && block_reduces(s);
	x->by_vectors |= s->kind == STMT_FOR &&
			 s->u.loop.kind == FOR_VECTORIZED;
	return true;
}

/* What one core takes for the loop. */
static double
nest_ns(struct rules *r, struct stmt *loop)
{
	struct touched t = { .func = r->s.func };
	double operations = stmt_operations(loop) / r->target->core_gflops;
	struct sums sums = { false, false };
	double bytes;

	stmt_visit(loop, see_sum, &sums);
	if (sums.reduces && !sums.by_vectors) {
		operations *= SCALAR_OPERATIONS;
	}
	stmt_visit(loop, see_block, &t);
	bytes = t.bytes / (t.bytes <= (double)r->target->l2_bytes
				   ? r->target->cache_gbytes
				   : r->target->core_gbytes);
	return operations > bytes ? operations : bytes;
}

bool
rules_worth_parallel(struct rules *r, int loop)
{
	return r->target->cores > 1 &&
	       nest_ns(r, func_find(r->s.func, loop)) >=
		       (double)STARTS_PER_NEST * r->target->fork_ns;
}

static int64_t
extent_of(const struct stmt *loop)
{
	int64_t n;

	return expr_is_int(loop->args[1], &n) ? n : 0;
}

struct guard_search {
	const struct var *var;
	bool found;
};

static bool
see_guard(void *ctx, struct stmt *s)
{
	struct guard_search *g = ctx;

	g->found |= s->kind == STMT_BLOCK && expr_uses_var(s->args[0], g->var);
	return !g->found;
}

/* Does a block below run for some of the loop's iterations only? */
static bool
is_guarded(struct stmt *loop)
{
	struct guard_search g = { .var = loop->u.loop.var };

	stmt_visit(loop->children[0], see_guard, &g);
	return g.found;
}

static bool
may_join(struct stmt *loop)
{
	return loop->u.loop.kind == FOR_SERIAL && loop->notes == NULL &&
	       extent_of(loop) > 0 && !is_guarded(loop);
}

/* A device of cores rather than threads runs groups of one thread each. */
static bool
in_groups(const struct rules *r)
{
	return r->target->max_threads == 1;
}

static bool
make_parallel(struct rules *r, int loop)
{
	return in_groups(r) ? sched_bind(&r->s, loop, "blockIdx.x")
			    : sched_parallel(&r->s, loop);
}

static bool
may_be_parallel(struct rules *r, int loop)
{
	struct sched_mark mark = sched_checkpoint(&r->s);
	bool ok = make_parallel(r, loop);

	sched_rollback(&r->s, mark);
	return ok;
}

/* How many of the loops, from the first one on, are to be shared as one. */
static int
count_joined(struct rules *r, const int *loops, int n)
{
	int64_t enough = (int64_t)r->target->cores * ITERATIONS_PER_CORE;
	int64_t iterations = extent_of(func_find(r->s.func, loops[0]));
	int joined = 1;

	if (!may_join(func_find(r->s.func, loops[0]))) {
		return 1;
	}
	while (iterations < enough && joined < n) {
		const struct stmt *outer = func_find(r->s.func,
						     loops[joined - 1]);
		struct stmt *next = func_find(r->s.func, loops[joined]);

		if (outer->children[0] != next || !may_join(next) ||
		    !may_be_parallel(r, loops[joined])) {
			break;
		}
		iterations *= extent_of(next);
		joined++;
	}
	return joined;
}

/* -- which loop is to be shared -- */

/* Bytes that each thread needs all of, whichever iterations of the loop it
 * gets: parameters that do not move with it. */
struct common {
	struct touched all, moving;
	const struct var *var;
};

static bool
region_moves(const struct stmt *block, const struct region *region,
	     const struct var *v)
{
	for (int d = 0; d < region->buffer->ndim; d++) {
		for (int i = 0; i < block->u.block->n_iters; i++) {
			if (expr_uses_var(block->args[1 + i], v) &&
			    expr_uses_var(region->ranges[d].min,
					  block->u.block->iters[i].var)) {
				return true;
			}
		}
	}
	return false;
}

static bool
see_common(void *ctx, struct stmt *s)
{
	struct common *c = ctx;

	if (s->kind != STMT_BLOCK) {
		return true;
	}
	for (int i = 0; i < s->u.block->n_reads; i++) {
		const struct region *region = &s->u.block->reads[i];

		touch(&c->all, region->buffer);
		if (region_moves(s, region, c->var)) {
			touch(&c->moving, region->buffer);
		}
	}
	return true;
}

static double
common_bytes(struct rules *r, int nest, int loop)
{
	struct common c = {
		.all = { .func = r->s.func },
		.moving = { .func = r->s.func },
		.var = func_find(r->s.func, loop)->u.loop.var,
	};

	stmt_visit(func_find(r->s.func, nest), see_common, &c);
	return c.all.bytes - c.moving.bytes;
}

/* Puts the loop first of which threads have the least in common, if that stays
 * in the second cache of each, which now goes through all of it in every
 * iteration. In a convolution of a large picture these are rows, in one with
 * many weights output channels. */
static void
choose_first(struct rules *r, int *loops, int n)
{
	double first = common_bytes(r, loops[0], loops[0]), least = first;
	struct sched_mark mark = sched_checkpoint(&r->s);
	int best = 0, order[MAX_AXES];

	if (!may_join(func_find(r->s.func, loops[0]))) {
		return;
	}
	for (int i = 1; i < n && i < MAX_AXES; i++) {
		struct stmt *loop = func_find(r->s.func, loops[i]);
		double bytes;

		if (loop->parent->id != loops[i - 1] || !may_join(loop) ||
		    !may_be_parallel(r, loops[i])) {
			break;
		}
		bytes = common_bytes(r, loops[0], loops[i]);
		if (bytes < least) {
			least = bytes;
			best = i;
		}
	}
	if (best == 0 || least * 2 > first ||
	    least * 2 > (double)r->target->l2_bytes) {
		return;
	}
	order[0] = loops[best];
	for (int i = 0, k = 1; i <= best; i++) {
		if (i != best) {
			order[k++] = loops[i];
		}
	}
	if (!sched_reorder(&r->s, order, best + 1)) {
		sched_rollback(&r->s, mark);
		return;
	}
	memcpy(loops, order, sizeof *loops * (size_t)(best + 1));
}

static bool
share(struct rules *r, const int *loops, int n)
{
	struct sched_mark mark = sched_checkpoint(&r->s);
	int loop = loops[0];

	if ((n == 1 || sched_fuse(&r->s, loops, n, &loop)) &&
	    make_parallel(r, loop)) {
		return true;
	}
	sched_rollback(&r->s, mark);
	return false;
}

static bool
is_in_loop(struct rules *r, int block, int loop)
{
	int *loops, n;
	bool found = false;

	if (sched_get_loops(&r->s, block, &loops, &n)) {
		for (int i = 0; i < n; i++) {
			found |= loops[i] == loop;
		}
	}
	return found;
}

/* What a nest apart uses, another group's, cannot be variables. */
static bool
share_result(struct rules *r, int block, int loop)
{
	const struct block *b = func_find(r->s.func, block)->u.block;
	int *users, n;

	if (strcmp(b->writes[0].buffer->scope, "local") != 0) {
		return true;
	}
	if (!sched_get_consumers(&r->s, block, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!is_in_loop(r, users[i], loop)) {
			return sched_set_scope(&r->s, block, 0, "global");
		}
	}
	return true;
}

static void
share_results(struct rules *r)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks);

	for (int i = 0; i < n; i++) {
		int *loops, n_loops;

		if (sched_get_loops(&r->s, blocks[i], &loops, &n_loops) &&
		    n_loops > 0) {
			share_result(r, blocks[i], loops[0]);
		}
	}
}

/* One group for all of the nest. */
static bool
one_group(struct rules *r, int block, const int *loops, int n)
{
	int loop;

	return rules_fuse_loops(r, NULL, 0, rules_nest(block, loops, n),
				&loop) &&
	       sched_bind(&r->s, loop, "blockIdx.x");
}

/* The nest's outer loops as groups; nothing is launched within a loop. */
static bool
group_nest(struct rules *r, int block, int *loops, int n)
{
	int first = 0;

	while (first < n &&
	       extent_of(func_find(r->s.func, loops[first])) == 1) {
		first++;
	}
	if (first < n && may_be_parallel(r, loops[first]) &&
	    func_find(r->s.func, loops[first])->u.loop.kind == FOR_SERIAL) {
		int joined;

		choose_first(r, loops + first, n - first);
		joined = count_joined(r, loops + first, n - first);
		if (share(r, loops + first, joined) ||
		    (joined > 1 && share(r, loops + first, 1))) {
			return true;
		}
	}
	return one_group(r, block, loops, n);
}

/* The nest around a block. */
static bool
share_nest(struct rules *r, int *loops, int n)
{
	double ns = n > 0 ? nest_ns(r, func_find(r->s.func, loops[0])) : 0;

	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int64_t extent = extent_of(loop);

		if (ns < (double)STARTS_PER_NEST * r->target->fork_ns) {
			return false;
		}
		if (extent != 1 && loop->u.loop.kind == FOR_SERIAL &&
		    may_be_parallel(r, loops[i])) {
			int joined;

			choose_first(r, loops + i, n - i);
			joined = count_joined(r, loops + i, n - i);
			return share(r, loops + i, joined) ||
			       (joined > 1 && share(r, loops + i, 1));
		}
		/* Threads would start in each of its iterations. */
		ns /= extent > 0 ? (double)extent : 1;
	}
	return false;
}

void
rules_parallel(struct rules *r)
{
	VEC(int) seen = { 0 };
	int *blocks, n = 0, shared = 0;

	if (r->target->cores < 2 && !in_groups(r)) {
		return;
	}
	n = sched_get_child_blocks(&r->s, 0, &blocks);
	for (int i = 0; i < n; i++) {
		int *loops, n_loops;
		bool again = false;

		if (!sched_get_loops(&r->s, blocks[i], &loops, &n_loops) ||
		    (n_loops == 0 && !in_groups(r))) {
			continue;
		}
		for (int k = 0; k < seen.n && n_loops > 0; k++) {
			again |= seen.data[k] == loops[0];
		}
		if (again) {
			continue;
		}
		if (in_groups(r) ? group_nest(r, blocks[i], loops, n_loops)
				 : share_nest(r, loops, n_loops)) {
			shared++;
			sched_get_loops(&r->s, blocks[i], &loops, &n_loops);
		}
		if (n_loops > 0) {
			vec_push(&r->module->arena, &seen, loops[0]);
		}
	}
	if (in_groups(r)) {
		share_results(r);
	}
	if (shared > 0) {
		strbuf_puts(&r->words,
			    in_groups(r) ? ", groups" : ", parallel");
	}
}
