/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that compute several results of the same shape without a sum, such as
 * the parts of a split: one nest of loops computes all of them.
 *
 *   for i, j in grid(8, 16):
 *     a[i, j] = x[i, j]              for i, j in grid(8, 16):
 *   for i, j in grid(8, 16):   ->      a[i, j] = x[i, j]
 *     b[i, j] = x[i, j + 16]           b[i, j] = x[i, j + 16] */
#include "kernel_blocks.h"

/* With more arrays, the loop would access more streams than a processor can
 * prefetch. */
enum { MOST_RESULTS = 8 };

bool
rule_several_outputs(struct rules *r, const struct kernel_blocks *k)
{
	struct sched_value *inner = arena_array(&r->module->arena,
						struct sched_value, k->n);
	struct sched_value list;

	if (k->n > MOST_RESULTS) {
		return rules_no(r, "there are more than %d results",
				MOST_RESULTS);
	}
	for (int i = 0; i < k->n; i++) {
		int *loops, n;

		if (!sched_get_loops(&r->s, k->list[i], &loops, &n) || n == 0) {
			return rules_no(r, "a result is a single element");
		}
		inner[i] = sv_loop(loops[n - 1]);
	}
	list = sv_list(r->module, inner, k->n);
	if (!sched_apply(&r->s, "merge", &list, 1, NULL)) {
		return false;
	}
	strbuf_printf(&r->words, "elementwise  %d results in one nest", k->n);
	return true;
}
