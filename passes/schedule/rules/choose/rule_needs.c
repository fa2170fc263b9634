/* SPDX-License-Identifier: Apache-2.0 */
/* What rules need of the blocks and of the target; sched_rules.def has a
 * sentence for each. */
#include "choose_parts.h"
#include "row_stages.h"

bool
need_anything(struct rules *r, const struct kernel_blocks *k)
{
	(void)r, (void)k;
	return true;
}

bool
need_copied_border(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n == 3 && k->n_reductions == 1 && k->n_outputs == 1 &&
	       k->output != k->reduction && k->padded_copy != 0 &&
	       k->padded_copy != k->output && k->padded_copy != k->reduction;
}

bool
need_two_reductions(struct rules *r, const struct kernel_blocks *k)
{
	int n = 2 + (k->padded_copy != 0) + (k->output != k->reduction);

	(void)r;
	return k->n_reductions == 2 && k->n_outputs == 1 && k->n == n;
}

bool
need_one_reduction(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n == 1 && k->n_reductions == 1;
}

bool
need_one_elementwise(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n == 1 && k->n_reductions == 0;
}

bool
need_outputs(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n > 1 && k->n_outputs == k->n && k->n_reductions == 0;
}

bool
need_one_sum(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n_outputs == 1 && k->n_reductions == 1 &&
	       (k->n == 1 || (k->n == 2 && k->output != k->reduction));
}

bool
need_sum_of_rows(struct rules *r, const struct kernel_blocks *k)
{
	return need_one_sum(r, k) && rules_sums_rows(r, k->reduction);
}

bool
need_few_results(struct rules *r, const struct kernel_blocks *k)
{
	return need_one_sum(r, k) && rules_has_few_results(r, k->reduction);
}

bool
need_several(struct rules *r, const struct kernel_blocks *k)
{
	return k->n_outputs == 1 && !need_one_sum(r, k) &&
	       !need_one_elementwise(r, k);
}

bool
need_rows(struct rules *r, const struct kernel_blocks *k)
{
	/* a statistic of the rows may be an output, too */
	return (k->n_outputs == 1 || k->n_reductions > 0) &&
	       !need_one_sum(r, k) && !need_one_elementwise(r, k);
}

bool
need_some_reduction(struct rules *r, const struct kernel_blocks *k)
{
	(void)r;
	return k->n_reductions > 0;
}

bool
need_reduces(struct rules *r, const struct kernel_blocks *k)
{
	return block_reduces(func_find(r->s.func, k->block));
}

/* -- the target */

bool
need_any_target(struct rules *r, const struct kernel_blocks *k)
{
	(void)r, (void)k;
	return true;
}

bool
need_tiles(struct rules *r, const struct kernel_blocks *k)
{
	(void)k;
	return !r->target->scalar_accumulators;
}

bool
need_copied_borders(struct rules *r, const struct kernel_blocks *k)
{
	(void)k;
	return r->target->copied_borders || r->target->complete_unroll > 0;
}

bool
need_vectors(struct rules *r, const struct kernel_blocks *k)
{
	(void)k;
	return rules_have_lanes(r->target);
}

bool
need_dot_loops(struct rules *r, const struct kernel_blocks *k)
{
	(void)k;
	return r->target->dot_loops != 0;
}

bool
need_products(struct rules *r, const struct kernel_blocks *k)
{
	(void)k;
	return r->target->n_products > 0;
}
