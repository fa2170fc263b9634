/* SPDX-License-Identifier: Apache-2.0 */
/* Each result of a reduction is summed in a variable.
 *
 *   for i, k: y[i] += x[i, k]    ->    for i:
 *                                        for k: acc += x[i, k]
 *                                        y[i] = acc */
#include "kernel_blocks.h"
#include "nest.h"

bool
rule_one_accumulator(struct rules *r, const struct kernel_blocks *k)
{
	int *loops, n, reduction = k->reduction, output = k->output;
	struct block_access x;
	const struct buffer *acc;

	if (!rules_access(r, reduction, &x)) {
		return rules_no(r, "the reduction's accesses are not plain");
	}
	if (!rules_separate_accumulator(r, &x, reduction, &output) ||
	    !sched_get_loops(&r->s, output, &loops, &n)) {
		return false;
	}
	if (rules_same_axes(r, &x, output)) {
		rules_name_loops(r, &x, output);
	}
	/* The reduction is placed in the innermost loop of the output that is
	 * inside of the loops of all its axes. */
	if (n > 0 && x.n_spatial > 0) {
		int at = n - 1;

		while (at >= 0 &&
		       !sched_compute_at(&r->s, reduction, loops[at])) {
			at--;
		}
	}
	sched_set_scope(&r->s, reduction, 0, "local");
	rules_accumulator(r, reduction, &acc);
	strbuf_puts(&r->words, "reduction  one accumulator");
	return true;
}
