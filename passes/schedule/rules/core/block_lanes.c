/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes along an axis that lies in blocks of several elements. */
#include "nest.h"

/* Does every access run over a whole buffer of constant size, with the axis
 * `axis` in blocks (AXIS_BLOCKED) and each other axis as a plain index? */
static bool
blocked_alike(const struct block_access *x, int axis)
{
	for (int l = -1; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];
		const struct buffer *b = l < 0 ? x->out : a->load->u.buffer;
		int64_t all = 1, extent, elems;

		for (int i = 0; i < x->info->n_iters; i++) {
			if (!expr_is_int(x->info->iters[i].extent, &extent) ||
			    (extent > 1 &&
			     a->use[i] !=
				     (i == axis ? AXIS_BLOCKED : AXIS_PLAIN))) {
				return false;
			}
			all *= extent;
		}
		if (!buffer_const_elems(b, &elems) || elems != all) {
			return false;
		}
	}
	return true;
}

bool
rules_vectorize_blocks(struct rules *r, const struct block_access *x, int axis,
		       int64_t c, int *loops, int n)
{
	int order[MAX_AXES + 1], parts[2], count = 0, lanes;

	if (!sched_split(&r->s, loops[axis], (int64_t[]){ 0, c }, 2, parts)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (i == axis) {
			order[count++] = parts[0];
		} else if (loops[i] != 0) {
			order[count++] = loops[i];
		}
	}
	order[count++] = lanes = parts[1];
	if (!sched_reorder(&r->s, order, count)) {
		return false;
	}
	if (x != NULL && dtype_bytes(x->out->type) == 1 && count >= 3 &&
	    order[count - 3] == parts[0] && blocked_alike(x, axis)) {
		sched_fuse(&r->s, order + count - 2, 2, &lanes);
	}
	return sched_vectorize(&r->s, lanes);
}
