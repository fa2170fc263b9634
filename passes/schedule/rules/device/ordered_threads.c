/* SPDX-License-Identifier: Apache-2.0 */
/* Scans, and updates at indices from data, on a device: each thread takes a
 * column, in order.
 *
 *   for j, i in order: y[j, i] = ..    ->    for j in threads:
 *                                              for i: y[j, i] = .. */
#include "element_threads.h"
#include "ordered.h"

bool
rule_ordered_threads(struct rules *r, const struct kernel_blocks *k)
{
	int *inits, n, thread;

	if (ordered_block(r) != k->block) {
		return rules_no(r, "it is not the only block with an order");
	}
	ordered_inline_consumers(r, k->block);
	if (!rules_bind_element_threads(r, k->block, &thread)) {
		return false;
	}
	n = ordered_inits(r, k->block, &inits);
	for (int i = 0; i < n; i++) {
		ordered_place_init(r, inits[i], &thread, 1);
	}
	strbuf_puts(&r->words, "in order  a column per thread");
	return true;
}
