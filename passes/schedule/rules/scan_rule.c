/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that run in order: a running sum, updates where data says. What they
 * start from is a nest of its own, or, where it is theirs alone, starts where
 * the loops around them allow it; what follows element by element joins them.
 *
 *   for i: acc[i] = 0                for i:
 *   for i, j in order:                   acc = 0
 *       acc[i] += x[i, j]      ->        for j:
 *       y[i, j] = acc[i]                     acc += x[i, j]
 *   for i, j: z[i, j] = f(y[i, j])           z[i, j] = f(acc)
 *
 * Where the outermost loop runs in order, columns that touch other elements are
 * set apart, for threads to share, and so that what is carried along stays in
 * the first cache. On a device a thread takes a column. */
#include "sched_rules.h"

#include "gemm_tile.h"
#include "loop_legality.h"

/* Elements of a column's row: some vectors, and some kilobytes of what is
 * carried along. */
enum { LEAST_COLUMN = 16, MOST_COLUMN = 512 };

/* The only block that runs in order; 0: there is none, or there are more. */
static int
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

/* What goes on element by element is done where the element is stored. */
static void
take_followers(struct rules *r, int block)
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

static bool
writes(const struct stmt *block, const struct buffer *b)
{
	for (int i = 0; i < block->u.block->n_writes; i++) {
		if (block->u.block->writes[i].buffer == b) {
			return true;
		}
	}
	return false;
}

/* The blocks that start what the block updates, consumers' order kept. */
static int
starts_of(struct rules *r, int block, int **starts)
{
	const struct stmt *s = func_find(r->s.func, block);
	int *all, n = sched_get_child_blocks(&r->s, 0, &all), count = 0;

	*starts = arena_array(&r->module->arena, int, n + 1);
	for (int i = 0; i < n; i++) {
		const struct stmt *other = func_find(r->s.func, all[i]);

		if (all[i] != block && other->u.block->n_writes == 1 &&
		    writes(s, other->u.block->writes[0].buffer)) {
			(*starts)[count++] = all[i];
		}
	}
	return count;
}

/* Puts what starts a state as far inside as it can be, in a variable or a
 * local array. False: it stays ahead. */
static bool
start_inside(struct rules *r, int start, const int *loops, int n)
{
	const struct buffer *acc;

	for (int at = n - 1; at >= 0; at--) {
		if (sched_compute_at(&r->s, start, loops[at])) {
			sched_set_scope(&r->s, start, 0, "local");
			rules_accumulator(r, start, &acc);
			return true;
		}
	}
	return false;
}

static bool
is_state(const struct rules *r, int start)
{
	const struct buffer *b =
		func_find(r->s.func, start)->u.block->writes[0].buffer;

	for (int i = 0; i < r->s.func->params.n; i++) {
		if (r->s.func->params.data[i].buffer == b) {
			return false;
		}
	}
	return true;
}

/* Which loop drives only iter vars that touch other elements? The last one;
 * -1: none. *first: the outermost loop of more than one iteration is in order,
 * and stands before it. */
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

/* The largest divisor of n that leaves so many parts, if it is enough for
 * vectors; 0: there is none. */
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

/* Splits off columns and puts them first. */
static void
set_columns_apart(struct rules *r, int block, bool carries)
{
	int *loops, n, first, parts[2], order[MAX_AXES + 1], at;
	struct sched_mark mark = sched_checkpoint(&r->s);
	int64_t extent, width, shares = r->target->cores;

	if (!sched_get_loops(&r->s, block, &loops, &n) || n > MAX_AXES) {
		return;
	}
	at = find_columns(r, block, loops, n, &first);
	if (at < 0 ||
	    !expr_is_int(func_find(r->s.func, loops[at])->args[1], &extent)) {
		return;
	}
	if (!rules_worth_parallel(r, loops[0])) {
		shares = 1;
	}
	width = column_width(extent, shares);
	if (width == 0 || width == extent || (shares == 1 && !carries) ||
	    !sched_split(&r->s, loops[at], (int64_t[]){ 0, width }, 2, parts)) {
		return;
	}
	order[0] = parts[0];
	for (int i = first; i < at; i++) {
		order[1 + i - first] = loops[i];
	}
	order[1 + at - first] = parts[1];
	if (!sched_reorder(&r->s, order, at - first + 2)) {
		sched_rollback(&r->s, mark);
	}
}

bool
rule_ordered(struct rules *r)
{
	int block = ordered_block(r), *starts, n_starts, *loops, n;
	bool carries = false;

	if (block == 0) {
		return false;
	}
	take_followers(r, block);
	n_starts = starts_of(r, block, &starts);
	for (int i = 0; i < n_starts; i++) {
		carries |= is_state(r, starts[i]);
	}
	set_columns_apart(r, block, carries);
	if (!sched_get_loops(&r->s, block, &loops, &n)) {
		return false;
	}
	for (int i = 0; i < n_starts; i++) {
		if (is_state(r, starts[i])) {
			start_inside(r, starts[i], loops, n);
		}
	}
	strbuf_puts(&r->words, carries ? "running  carried in order"
				       : "updates  in order");
	return true;
}

bool
rules_order_threads(struct rules *r)
{
	int block = ordered_block(r), *starts, n, thread;

	if (block == 0) {
		return true;
	}
	take_followers(r, block);
	if (!rules_bind_element_threads(r, block, &thread)) {
		return false;
	}
	n = starts_of(r, block, &starts);
	for (int i = 0; i < n; i++) {
		if (is_state(r, starts[i])) {
			start_inside(r, starts[i], &thread, 1);
		}
	}
	strbuf_puts(&r->words, "in order  a column per thread");
	return true;
}
