/* SPDX-License-Identifier: Apache-2.0 */
/* Inlines injective blocks, unless that would repeat costly functions, or make an
 * expression that takes too long to print. */
#include "iterate.h"
#include "kernel_blocks.h"
#include "memo.h"
#include "nest.h"

/* Is e a division of floats or a call of a function on floats? */
static bool
is_costly(const struct expr *e)
{
	return ((e->kind == EXPR_CALL && !expr_is_extreme(e)) ||
		e->kind == EXPR_DIV) &&
	       dtype_is_float(e->args[0]->type);
}

static bool
is_call(const struct expr *e)
{
	return e->kind == EXPR_CALL && dtype_is_float(e->type) &&
	       !expr_is_extreme(e) && e->u.intrin != INTRIN_ABS &&
	       e->u.intrin != INTRIN_NEARBYINT && e->u.intrin != INTRIN_FLOOR &&
	       e->u.intrin != INTRIN_CEIL && e->u.intrin != INTRIN_TRUNC &&
	       e->u.intrin != INTRIN_LIKELY;
}

/* Does the value of a store in s contain an expression for which is_kind is
 * true? */
static bool
store_has(struct stmt *s, bool (*is_kind)(const struct expr *e))
{
	bool found = false;
	const struct expr *e;

	for (struct stmt_iter it = stmt_each_of(s, STMT_STORE);
	     (s = stmt_next(&it));) {
		for (struct expr_iter values = expr_each(s->args[0]);
		     (e = expr_next(&values));) {
			found |= is_kind(e);
		}
	}
	return found;
}

/* The number of the block's iter vars with more than one iteration. */
static int
count_loops(const struct stmt *block)
{
	int n = 0;

	for (int i = 0; i < block->u.block->n_iters; i++) {
		n += !expr_is_value(block->u.block->iters[i].extent, 1);
	}
	return n;
}

/* Does the block read the result of a reduction? Then it computes a statistic
 * of a row. */
static bool
is_statistic(struct rules *r, int id)
{
	int *producers, n;
	bool any = false;

	if (!sched_get_producers(&r->s, id, &producers, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		any |= block_reduces(func_find(r->s.func, producers[i]));
	}
	return any;
}

/* Is the block a table: is the value that it stores computed from its iter vars
 * alone, by more than a few operations? */
static bool
is_table(const struct stmt *block)
{
	struct expr_iter it;
	int size = 0;

	if (block->u.block->n_reads > 0 ||
	    block->children[0]->kind != STMT_STORE) {
		return false;
	}
	it = expr_each(block->children[0]->args[0]);
	while (expr_next(&it) != NULL) {
		size++;
	}
	return size > 8;
}

/* The largest number of bytes of the block's output that a reduction in one of
 * the blocks `users` reads for one of its results; INT64_MAX for symbolic sizes
 * without bounds. */
static int64_t
row_bytes(struct rules *r, const struct stmt *block, const int *users, int n)
{
	const struct buffer *b = block->u.block->writes[0].buffer;
	int64_t bytes = dtype_bytes(b->type), all, most = 0;

	if (!buffer_max_elems(b, &all)) {
		return INT64_MAX;
	}
	for (int i = 0; i < n; i++) {
		const struct block *user =
			func_find(r->s.func, users[i])->u.block;
		int64_t row = 1, extent;

		for (int k = 0; k < user->n_iters; k++) {
			if (user->iters[k].kind != ITER_REDUCE) {
				continue;
			}
			row = expr_is_int(user->iters[k].extent, &extent) &&
					      extent < all / row
				      ? row * extent
				      : all;
		}
		most = row > most ? row : most;
	}
	return most * bytes;
}

/* Would inlining the block repeat a costly function? It would if a reduction
 * reads each element of the block's result many times, if several blocks read
 * the result, or if the result is a statistic of a row (such as its mean),
 * which each element of the row reads. If the target minimises memory,
 * repeating costs less than a row that is too large for the stack. */
static bool
worth_keeping(struct rules *r, int id, struct stmt *block)
{
	int *users, n;

	if (block_select_axis(block) >= 0) {
		return true;
	}
	if ((!store_has(block, is_costly) && !is_table(block)) ||
	    !sched_get_consumers(&r->s, id, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *user = func_find(r->s.func, users[i]);

		if (count_loops(user) > count_loops(block) &&
		    is_statistic(r, id)) {
			return true;
		}
	}
	if (!store_has(block, is_call) && !is_table(block)) {
		return false;
	}
	if (n > 1 &&
	    !(r->target->optimize_memory &&
	      row_bytes(r, block, users, n) > r->target->stack_limit_bytes)) {
		return true;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *user = func_find(r->s.func, users[i]);

		if (block_reduces(user) &&
		    user->u.block->n_iters > block->u.block->n_iters) {
			return true;
		}
	}
	return false;
}

/* -- the length of what is printed */

/* The largest number of nodes of a statement's expressions, where a shared node
 * counts each time it is printed: x < 0 ? x * a : x prints its operand three
 * times, and a chain of n of them the first operand 3^n times. */
enum { LONGEST = 1 << 12 };

/* State of the count of nodes that are printed for expressions. */
struct printing {
	/* the buffer whose loads are counted; NULL: all nodes are counted */
	const struct buffer *loaded;
	/* by expression: the count that was computed for it, plus 1 */
	struct memo known;
};

static int
count_prints(struct printing *p, const struct expr *e)
{
	const struct memo_entry *known = memo_get(&p->known, e);
	bool counts = p->loaded == NULL ||
		      (e->kind == EXPR_LOAD && e->u.buffer == p->loaded);
	int n = counts;

	if (known != NULL) {
		return (int)(intptr_t)known->value - 1;
	}
	for (int i = 0; i < e->n_args && n <= LONGEST; i++) {
		n += count_prints(p, e->args[i]);
	}
	n = n <= LONGEST ? n : LONGEST + 1;
	memo_put(&p->known, e, (const void *)(intptr_t)(n + 1));
	return n;
}

/* How often loads of the buffer `loaded` (NULL: all nodes) are printed in s and
 * the statements below it; at most LONGEST + 1. */
static int
prints_below(struct stmt *s, const struct buffer *loaded)
{
	struct printing p = { .loaded = loaded };
	int n = 0;

	memo_init(&p.known);
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args && n <= LONGEST; i++) {
			n += s->args[i] ? count_prints(&p, s->args[i]) : 0;
		}
	}
	memo_release(&p.known);
	return n <= LONGEST ? n : LONGEST + 1;
}

/* If the block is inlined, would a block that reads its result print more than
 * LONGEST nodes? */
static bool
would_be_long(struct rules *r, int id, struct stmt *block)
{
	const struct buffer *b = block->u.block->writes[0].buffer;
	int64_t own = prints_below(block->children[0], NULL);
	int *users, n;

	if (!sched_get_consumers(&r->s, id, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct stmt *user = func_find(r->s.func, users[i])->children[0];

		if (prints_below(user, NULL) + own * prints_below(user, b) >
		    LONGEST) {
			return true;
		}
	}
	return false;
}

static bool
is_operand(struct rules *r, int id)
{
	int *users, n;

	if (!sched_get_consumers(&r->s, id, &users, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (block_reduces(func_find(r->s.func, users[i]))) {
			return true;
		}
	}
	return false;
}

void
rules_inline(struct rules *r, enum inline_kept kept)
{
	bool again = true;

	while (again) {
		int *blocks;
		int n = sched_get_child_blocks(&r->s, 0, &blocks);

		again = false;
		/* Records a query for each block by its name in the trace. */
		for (int i = 0; i < n; i++) {
			sched_get_block(&r->s, func_find(r->s.func, blocks[i])
						       ->u.block->name);
		}
		for (int i = 0; i < n && !again; i++) {
			struct stmt *b = func_find(r->s.func, blocks[i]);

			if (block_reduces(b) || rules_is_output(r, b) ||
			    worth_keeping(r, blocks[i], b) ||
			    (kept == KEEP_ROWS &&
			     rules_is_padded_copy(r, blocks[i], b)) ||
			    (kept == KEEP_OPERANDS &&
			     is_operand(r, blocks[i])) ||
			    rules_is_bound(r, blocks[i]) ||
			    would_be_long(r, blocks[i], b)) {
				continue;
			}
			again = sched_compute_inline(&r->s, blocks[i]);
		}
	}
}
