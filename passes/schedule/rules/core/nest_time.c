/* SPDX-License-Identifier: Apache-2.0 */
/* How long a nest takes on one core: an estimate from operations and bytes by
 * the target's facts. */
#include "iterate.h"
#include "kernel_blocks.h"
#include "nest.h"

/* A nest runs in parallel if it takes at least as long as this number of thread
 * starts: two threads save half of the time and cost one start. */
#define STARTS_PER_NEST 3
/* The cost of a function call, in operations. */
#define CALL_OPERATIONS 16
/* The cost factor of a reduction without vectors. */
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

void
touched_add(struct touched *t, const struct buffer *b)
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

double
rules_nest_ns(struct rules *r, struct stmt *loop)
{
	struct touched t = { .func = r->s.func };
	double operations = stmt_operations(loop) / r->target->core_gflops;
	bool reduces = false, by_vectors = false;
	double bytes;

	for (struct stmt_iter it = stmt_each(loop); (loop = stmt_next(&it));) {
		const struct block *b = loop->u.block;

		by_vectors |= loop->kind == STMT_FOR &&
			      loop->u.loop.kind == FOR_VECTORIZED;
		if (loop->kind != STMT_BLOCK) {
			continue;
		}
		reduces |= block_reduces(loop);
		for (int i = 0; i < b->n_reads; i++) {
			touched_add(&t, b->reads[i].buffer);
		}
		for (int i = 0; i < b->n_writes; i++) {
			touched_add(&t, b->writes[i].buffer);
		}
	}
	if (reduces && !by_vectors) {
		operations *= SCALAR_OPERATIONS;
	}
	bytes = t.bytes / (t.bytes <= (double)r->target->l2_bytes
				   ? r->target->cache_gbytes
				   : r->target->core_gbytes);
	return operations > bytes ? operations : bytes;
}

bool
rules_worth_starts(const struct rules *r, double ns)
{
	return ns >= (double)STARTS_PER_NEST * r->target->fork_ns;
}

bool
rules_worth_parallel(struct rules *r, int loop)
{
	return r->target->cores > 1 &&
	       rules_worth_starts(r,
				  rules_nest_ns(r, func_find(r->s.func, loop)));
}
