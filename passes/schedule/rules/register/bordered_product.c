/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of products reads a copy with borders: a copy of a whole plane of
 * each channel, or of the few rows that one row of results reads. */
#include "border.h"
#include "kernel_blocks.h"
#include "nest.h"
#include "register_tile.h"

bool
rule_bordered_product(struct rules *r, const struct kernel_blocks *k)
{
	struct product_tile tile = {
		.reduction = k->reduction,
		.output = k->output,
	};
	struct block_access x;
	int place;

	if (!rules_access(r, k->reduction, &x) ||
	    !rules_same_axes(r, &x, k->output)) {
		return rules_no(r, "the epilogue reads the sums at other axes");
	}
	tile.bordered =
		func_find(r->s.func, k->padded_copy)->u.block->writes[0].buffer;
	if (!tiling_product(r, &tile)) {
		return false;
	}
	place = border_place(r, tile.bordered, &x, k->output);
	if (place == 0) {
		return rules_no(r, "no window slides over the copy");
	}
	if (!sched_compute_at(&r->s, k->padded_copy, place) ||
	    !sched_set_scope(&r->s, k->padded_copy, 0, "local")) {
		return false;
	}
	border_split(r, k->padded_copy, place);
	strbuf_puts(&r->words, ", copied border");
	return true;
}
