/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered blocks: running sums, and updates at indices from data (scatter). The
 * block that initialises a running state is moved inside of the loops in which
 * the state lives; consumers are inlined.
 *
 *   for i: acc[i] = 0                for i:
 *   for i, j in order:                   acc = 0
 *       acc[i] += x[i, j]      ->        for j:
 *       y[i, j] = acc[i]                     acc += x[i, j]
 *   for i, j: z[i, j] = f(y[i, j])           z[i, j] = f(acc)
 *
 * If the outermost loop is ordered, an axis whose iterations access different
 * elements is split, and its outer part, a loop over columns, is put outside of
 * that loop, so that threads run in parallel and the state of a column stays in
 * the first-level cache. On a device each thread takes a column. */
#include "decision.h"
#include "kernel_blocks.h"
#include "loop_legality.h"
#include "nest.h"
#include "ordered.h"

/* The smallest and the largest number of elements of a column: a few vectors; a
 * state of a few kilobytes. */
enum { LEAST_COLUMN = 16, MOST_COLUMN = 512 };

int
ordered_block(struct rules *r)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks), found = 0;

	for (int i = 0; i < n; i++) {
		if (!block_is_ordered(func_find(r->s.func, blocks[i]))) {
			continue;
		}
		if (found != 0) {
			return 0;
		}
		found = blocks[i];
	}
	return found;
}

void
ordered_inline_consumers(struct rules *r, int block)
{
	bool again = true;

	while (again) {
		int *users, n;

		again = false;
		if (!sched_get_consumers(&r->s, block, &users, &n)) {
			return;
		}
		for (int i = 0; i < n && !again; i++) {
			again = sched_reverse_compute_inline(&r->s, users[i]);
		}
	}
}

int
ordered_inits(struct rules *r, int block, int **inits)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *all, n = sched_get_child_blocks(&r->s, 0, &all), count = 0;

	*inits = arena_array(&r->module->arena, int, n + 1);
	for (int i = 0; i < n; i++) {
		const struct stmt *other = func_find(r->s.func, all[i]);

		if (all[i] != block && other->u.block->n_writes == 1 &&
		    regions_have(s->u.block->writes, s->u.block->n_writes,
				 other->u.block->writes[0].buffer)) {
			(*inits)[count++] = all[i];
		}
	}
	return count;
}

static bool
is_internal(const struct rules *r, int init)
{
	const struct buffer *b =
		func_find(r->s.func, init)->u.block->writes[0].buffer;

	for (int i = 0; i < r->s.func->params.n; i++) {
		if (r->s.func->params.data[i].buffer == b) {
			return false;
		}
	}
	return true;
}

void
ordered_place_init(struct rules *r, int init, const int *loops, int n)
{
	const struct buffer *acc;

	if (!is_internal(r, init)) {
		return;
	}
	for (int at = n - 1; at >= 0; at--) {
		if (sched_compute_at(&r->s, init, loops[at])) {
			sched_set_scope(&r->s, init, 0, "local");
			rules_accumulator(r, init, &acc);
			return;
		}
	}
}

/* The index of the last loop that drives a spatial iter var; -1: no loop does,
 * or the outermost loop with several iterations is not ordered. *first: the
 * index of that outermost loop. */
static int
find_columns(struct rules *r, int block, const int *loops, int n, int *first)
{
	const struct stmt *s = func_find(r->s.func, block);
	int columns = -1;

	*first = -1;
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		int axis = -1;

		for (int k = 0; k < s->u.block->n_iters; k++) {
			if (expr_uses_var(s->args[1 + k], loop->u.loop.var)) {
				axis = k;
			}
		}
		if (axis < 0 || expr_is_value(loop->args[1], 1)) {
			continue;
		}
		if (s->u.block->iters[axis].kind == ITER_SPATIAL) {
			if (*first < 0) {
				return -1;
			}
			columns = i;
		} else if (*first < 0) {
			*first = i;
		}
	}
	return columns;
}

/* The largest divisor of n, at most MOST_COLUMN, that gives at least `parts`
 * columns; 0 if that is below LEAST_COLUMN or there is none. */
static int64_t
column_width(int64_t n, int64_t parts)
{
	int64_t most = n / parts < MOST_COLUMN ? n / parts : MOST_COLUMN;

	for (int64_t width = most; width >= LEAST_COLUMN; width--) {
		if (n % width == 0) {
			return width;
		}
	}
	return 0;
}

/* Splits the axis of the columns and moves the loop over columns outermost. */
static void
split_columns(struct rules *r, int block, bool carries)
{
	int *loops, n, first, parts[2], order[MAX_AXES + 1], at;
	struct rules_mark mark = rules_checkpoint(r);
	int64_t extent, width, columns = r->target->cores;
	struct candidates c = { 0 };

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return;
	}
	at = find_columns(r, block, loops, n, &first);
	if (at < 0 ||
	    !expr_is_int(func_find(r->s.func, loops[at])->args[1], &extent)) {
		return;
	}
	if (!rules_worth_parallel(r, loops[0])) {
		columns = 1;
	}
	width = column_width(extent, columns);
	if (width == 0 || width == extent || (columns == 1 && !carries)) {
		return;
	}
	candidates_add_steps(r, &c, LEAST_COLUMN,
			     MOST_COLUMN < extent ? MOST_COLUMN : extent - 1, 1,
			     extent);
	if (!rules_split(r, loops[at], rules_decide(r, "columns", &c, &width),
			 parts)) {
		rules_undo(r, mark);
		return;
	}
	order[0] = parts[0];
	for (int i = first; i < at; i++) {
		order[1 + i - first] = loops[i];
	}
	order[1 + at - first] = parts[1];
	if (!sched_reorder(&r->s, order, at - first + 2)) {
		rules_undo(r, mark);
	}
}

bool
rule_ordered(struct rules *r, const struct kernel_blocks *k)
{
	int block = ordered_block(r), *inits, n_inits, *loops, n;
	bool carries = false;

	(void)k;
	if (block == 0) {
		return rules_no(r, "there is not one block with an order");
	}
	ordered_inline_consumers(r, block);
	n_inits = ordered_inits(r, block, &inits);
	for (int i = 0; i < n_inits; i++) {
		carries |= is_internal(r, inits[i]);
	}
	split_columns(r, block, carries);
	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n_inits; i++) {
		ordered_place_init(r, inits[i], loops, n);
	}
	strbuf_puts(&r->words, carries ? "running  carried in order"
				       : "updates  in order");
	return true;
}
