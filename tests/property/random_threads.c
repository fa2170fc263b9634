/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that bring what a function computes under threads: loops of blocks
 * that no thread runs yet are bound to any axis; then others inside of those,
 * so that threads copy and sum up together. See random_steps.h. */
#include "random_steps.h"

struct found {
	struct arena *arena;
	VEC(const struct stmt *)
	open;                         /* innermost blocks that no thread runs */
	VEC(const struct stmt *) all; /* innermost blocks */
};

static bool
is_thread(const struct stmt *s)
{
	return s->kind == STMT_FOR && s->u.loop.kind == FOR_THREAD;
}

/* Virtual ones are no kernel. */
static bool
below_thread(const struct stmt *s)
{
	while (s && (!is_thread(s) ||
		     strncmp(s->u.loop.thread, "vthread", 7) == 0)) {
		s = s->parent;
	}
	return s != NULL;
}

static bool
count_blocks(void *ctx, struct stmt *s)
{
	*(int *)ctx += s->kind == STMT_BLOCK;
	return true;
}

static bool
find(void *ctx, struct stmt *s)
{
	struct found *x = ctx;
	int n = 0;

	if (s->kind != STMT_BLOCK) {
		return true;
	}
	stmt_visit(s, count_blocks, &n);
	if (n == 1) {
		vec_push(x->arena, &x->all, s);
	}
	if (n == 1 && !below_thread(s)) {
		vec_push(x->arena, &x->open, s);
	}
	return true;
}

static void
choose_bind(struct rng *r, int loop, struct random_step *out)
{
	static const char *const axes[] = {
		"blockIdx.x",  "blockIdx.y",  "threadIdx.x", "threadIdx.y",
		"threadIdx.x", "threadIdx.z", "vthread.x",
	};

	out->primitive = sched_primitive_find("bind");
	out->args[0] = sv_loop(loop);
	out->args[1] = sv_string(
		axes[rng_below(r, sizeof axes / sizeof *axes)]);
	out->n_args = 2;
}

/* An outermost loop of one iteration, as an axis that nothing else takes:
 * what always goes. */
static void
choose_certain(struct sched *s, int block, const int *loops, int n,
	       struct random_step *out)
{
	if (n > 0 && expr_is_value(func_find(s->func, loops[0])->args[1], 1)) {
		out->primitive = sched_primitive_find("bind");
		out->args[0] = sv_loop(loops[0]);
		out->args[1] = sv_string("blockIdx.z");
		out->n_args = 2;
		return;
	}
	out->primitive = sched_primitive_find("add_unit_loop");
	out->args[0] = n > 0 ? sv_loop(loops[0]) : sv_block(block);
	out->n_args = 1;
}

/* One more loop within those that are bound, now and then. */
static bool
choose_inner(struct sched *s, struct rng *r, const struct stmt *block,
	     struct random_step *out)
{
	int *loops, n, which;

	if (!sched_get_loops(s, sched_get_block(s, block->u.block->name),
			     &loops, &n) ||
	    n == 0) {
		return false;
	}
	which = loops[rng_below(r, n)];
	choose_bind(r, which, out);
	return !is_thread(func_find(s->func, which));
}

/* -- buffers of a scope that the threads at hand do not share */

/* Loops around a block that are bound: how many, and the innermost; blocks:
 * those over blocks alone. */
static const struct stmt *
bound_around(const struct stmt *s, bool blocks, int *n)
{
	const struct stmt *innermost = NULL;

	for (*n = 0; s; s = s->parent) {
		if (is_thread(s) && (!blocks || strncmp(s->u.loop.thread,
							"blockIdx", 8) == 0)) {
			innermost = innermost ? innermost : s;
			++*n;
		}
	}
	return innermost;
}

static bool
touches(const struct block *b, const struct buffer *buffer)
{
	bool found = false;

	for (int i = 0; i < b->n_reads + b->n_writes; i++) {
		found |= (i < b->n_reads ? b->reads[i]
					 : b->writes[i - b->n_reads])
				 .buffer == buffer;
	}
	return found;
}

/* Do all that touch it stand in the same loops over blocks (and threads)? */
static bool
stays_within(const struct found *x, const struct buffer *buffer, bool blocks)
{
	const struct stmt *first = NULL;
	int n_first = -1;

	for (int i = 0; i < x->all.n; i++) {
		int n;
		const struct stmt *now = bound_around(x->all.data[i], blocks,
						      &n);

		if (!touches(x->all.data[i]->u.block, buffer)) {
			continue;
		}
		if (n_first >= 0 && (now != first || n != n_first)) {
			return false;
		}
		first = now;
		n_first = n;
	}
	/* Without such loops the threads of one kernel: not known here. */
	return first != NULL;
}

static bool
choose_scope(struct sched *s, const struct found *x, struct random_step *out)
{
	for (int i = 0; i < x->all.n; i++) {
		const struct block *b = x->all.data[i]->u.block;
		const struct buffer *buffer = b->n_writes == 1
						      ? b->writes[0].buffer
						      : NULL;
		bool local;

		if (!buffer || strcmp(buffer->scope, "global") == 0) {
			continue;
		}
		local = strcmp(buffer->scope, "local") == 0;
		if (stays_within(x, buffer, !local)) {
			continue;
		}
		out->primitive = sched_primitive_find("set_scope");
		out->args[0] = sv_block(sched_get_block(s, b->name));
		out->args[1] = sv_int(0);
		out->args[2] = sv_string(local && stays_within(x, buffer, true)
						 ? "shared"
						 : "global");
		out->n_args = 3;
		return true;
	}
	return false;
}

bool
random_thread_choose(struct sched *s, struct rng *r, bool certain,
		     struct random_step *out)
{
	struct found x = { .arena = &s->module->arena };
	const struct stmt *which;
	int *loops, n, block;

	stmt_visit(s->func->body, find, &x);
	if (x.open.n == 0 && certain) {
		return choose_scope(s, &x, out);
	}
	if (x.open.n == 0) {
		return x.all.n > 0 && rng_below(r, 2) &&
		       choose_inner(s, r, x.all.data[rng_below(r, x.all.n)],
				    out);
	}
	which = x.open.data[certain ? 0 : rng_below(r, x.open.n)];
	block = sched_get_block(s, which->u.block->name);
	if (!sched_get_loops(s, block, &loops, &n)) {
		return false;
	}
	if (certain || n == 0) {
		choose_certain(s, block, loops, n, out);
	} else {
		int a = rng_below(r, n), b = rng_below(r, n);

		choose_bind(r, loops[a < b ? a : b], out);
	}
	return true;
}
