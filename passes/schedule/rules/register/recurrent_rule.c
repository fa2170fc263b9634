/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over time whose steps have several blocks (te_ordered_phases): the sums
 * of a step become register tiles, like other products, inside of the loop over
 * time, with the constant operand in the layout of the tile.
 *
 * 	for t in order:                        for t:
 * 	    for b, n, k:                           for b, n_o:
 * 	        gates[b, n] += h[b, k] * R[k, n]       acc = 0
 * 	    for b, j:                        ->        for k: acc += h * R
 * 	        h[b, j] = f(gates[b, j])               gates[b, n_o] = acc
 * 	                                           for b, j: h = f(gates) */
#include "kernel_blocks.h"
#include "loop_legality.h"
#include "register_tile.h"

/* The block that is a step of the loop over time: an ordered block that
 * contains blocks, which are listed in *inner; 0: there is no such block. */
static int
step_block(struct rules *r, int **inner, int *n_inner)
{
	int *blocks, n = sched_get_child_blocks(&r->s, 0, &blocks);

	for (int i = 0; i < n; i++) {
		if (block_is_ordered(func_find(r->s.func, blocks[i]))) {
			*n_inner = sched_get_child_blocks(&r->s, blocks[i],
							  inner);
			if (*n_inner > 0) {
				return blocks[i];
			}
		}
	}
	return 0;
}

static void
tile_sum(struct rules *r, int block)
{
	struct rules_mark mark = rules_checkpoint(r);
	struct product_tile tile = {
		.reduction = block,
		.output = block,
		.repeated = true,
	};

	if (r->target->scalar_accumulators || !tiling_product(r, &tile)) {
		rules_undo(r, mark);
	}
}

bool
rule_recurrent(struct rules *r, const struct kernel_blocks *k)
{
	int *blocks, n;
	size_t start = r->words.len;

	(void)k;
	if (step_block(r, &blocks, &n) == 0) {
		return rules_no(r, "no loop over time has blocks inside");
	}
	for (int i = 0; i < n; i++) {
		if (block_reduces(func_find(r->s.func, blocks[i]))) {
			if (r->words.len > start) {
				strbuf_puts(&r->words, "; ");
			}
			tile_sum(r, blocks[i]);
		}
	}
	strbuf_printf(&r->words, "%sstep by step",
		      r->words.len > start ? "; " : "");
	return true;
}
