/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with their statistics (softmax over channels, normalization of a few
 * terms), enough of them to fill the device: each thread computes all stages of a
 * row, and keeps their results itself.
 *
 *   for i, k: sum[i] += x[k, i]             for i in threads:
 *   for k, i: y[k, i] = x[k, i] / sum[i] ->   for k: sum += x[k, i]
 *                                             for k: y[k, i] = x[k, i] / sum
 */
#include "element_threads.h"
#include "nest.h"
#include "row_shape.h"

/* Is a row better computed by one thread than by several, or stage by stage? */
static bool
suits_one_thread(struct rules *r, const struct row_shape *w, const int *blocks,
		 int n)
{
	int64_t bytes = rows_kept_bytes(r, w, blocks, n);

	if (!rows_fill_device(r, w)) {
		return rules_no(r, "%lld rows are too few for a thread each",
				(long long)w->count);
	}
	return bytes <= ROWS_KEPT_BYTES ||
	       rules_no(r,
			"a thread would keep %lld bytes of a row, more than %d",
			(long long)bytes, ROWS_KEPT_BYTES);
}

/* Fuses the loops over rows of the output into *loop. False after a failure. */
static bool
fuse_rows(struct rules *r, const struct row_shape *w, int output, int *loop)
{
	const struct stmt *s = func_find(r->s.func, output);
	int *loops, n, n_rows = 0;

	if (!sched_get_loops(&r->s, output, &loops, &n)) {
		return false;
	}
	while (n_rows < n &&
	       rules_driven_iter(s, func_find(r->s.func, loops[n_rows])) <
		       w->rows) {
		n_rows++;
	}
	return rules_fuse_loops(r, loops, n_rows, rules_nest(output, loops, n),
				loop);
}

bool
rule_row_threads(struct rules *r, const struct kernel_blocks *k)
{
	struct row_shape w = { 0 };
	const int *blocks = k->list;
	int n = k->n, loop, thread;

	if (!rows_copy_output(r, "local", &blocks, &n) ||
	    !rows_lead(r, blocks, n) || !rows_measure(r, &w, blocks, n) ||
	    !suits_one_thread(r, &w, blocks, n) ||
	    !fuse_rows(r, &w, blocks[n - 1], &loop) ||
	    !rules_bind_threads(r, loop, &thread)) {
		return false;
	}
	for (int i = n - 2; i >= 0; i--) {
		if (!sched_set_scope(&r->s, blocks[i], 0, "local") ||
		    !sched_compute_at(&r->s, blocks[i], thread)) {
			return false;
		}
	}
	strbuf_printf(&r->words, "%sthreads  a row per thread",
		      r->words.len > 0 ? ", " : "");
	return true;
}
