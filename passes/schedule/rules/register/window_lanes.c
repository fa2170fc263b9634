/* SPDX-License-Identifier: Apache-2.0 */
/* A contiguous axis whose elements are the lanes of a window's reduction. */
#include "window_lanes.h"

/* Is v, in the load, only in the index of the last dimension and there with
 * step 1, or in no index? *is_indexed is set if v is in an index. */
static bool
is_contiguous_in(struct rules *r, const struct expr *load, struct var *v,
		 bool *is_indexed)
{
	struct analyser a;
	const struct expr *rest;
	int64_t step;

	analyser_init(&a, r->module);
	for (int d = 0; d < load->n_args; d++) {
		if (!expr_uses_var(load->args[d], v)) {
			continue;
		}
		if (d != load->n_args - 1 ||
		    !analyse_affine(&a, load->args[d], &v, 1, &step, &rest) ||
		    step != 1) {
			return false;
		}
		*is_indexed = true;
	}
	return true;
}

int
window_find_lanes(struct rules *r, const struct block_access *x)
{
	const struct stmt *store = x->block->children[0];
	const struct expr *last = store->args[store->n_args - 1];
	bool is_indexed = false;
	int lane = -1;

	for (int i = 0; i < x->info->n_iters; i++) {
		if (store->n_args > 1 && last == x->info->iters[i].var->expr &&
		    x->info->iters[i].kind == ITER_SPATIAL) {
			lane = i;
		}
	}
	if (lane < 0 || x->most[lane] < WINDOW_LEAST_LANES) {
		return -1;
	}
	for (int l = 0; l < x->n_loads; l++) {
		if (!is_contiguous_in(r, x->loads[l].load,
				      x->info->iters[lane].var, &is_indexed)) {
			return -1;
		}
	}
	return is_indexed ? lane : -1;
}
