/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with borders: the loop in which they are made, and the split of the
 * loop that fills the border. */
#include "border.h"

#include "nest.h"

/* How the sum's loads of `bordered`, the copy with borders, use an axis of the
 * results in their indices; AXIS_UNUSED if they do not use it. */
static enum axis_use
use_of_rows(const struct buffer *bordered, const struct block_access *x,
	    int axis)
{
	for (int l = 0; l < x->n_loads && axis >= 0; l++) {
		if (x->loads[l].load->u.buffer == bordered) {
			return x->loads[l].use[axis];
		}
	}
	return AXIS_UNUSED;
}

/* Does a window slide along the axis: is `bordered`, the copy with borders,
 * read at an index that is a sum of the axis and other axes? */
static bool
slides(const struct buffer *bordered, const struct block_access *x, int axis)
{
	enum axis_use use = use_of_rows(bordered, x, axis);

	return use != AXIS_UNUSED && use != AXIS_PLAIN && use != AXIS_BLOCKED &&
	       !expr_is_value(x->info->iters[axis].extent, 1);
}

int
border_place(struct rules *r, const struct buffer *bordered,
	     const struct block_access *x, int output)
{
	const struct stmt *b = func_find(r->s.func, output);
	int *loops, n, plain = 0;

	if (!sched_get_loops(&r->s, output, &loops, &n)) {
		return 0;
	}
	for (int i = 0; i < n; i++) {
		const struct stmt *loop = func_find(r->s.func, loops[i]);
		enum axis_use use = use_of_rows(bordered, x,
						rules_driven_iter(b, loop));

		if (use == AXIS_UNUSED || expr_is_value(loop->args[1], 1)) {
			continue;
		}
		if (use != AXIS_PLAIN && use != AXIS_BLOCKED) {
			return plain != 0 ? plain : loops[i];
		}
		plain = loops[i];
	}
	return 0;
}

void
border_order_axes(const struct buffer *bordered, const struct block_access *x,
		  int *axes)
{
	int n = 0, first = 0;

	while (first < x->n_spatial && !slides(bordered, x, first)) {
		first++;
	}
	for (int i = 0; i < 2 * x->n_spatial; i++) {
		int axis = i % x->n_spatial;
		bool later = first < x->n_spatial &&
			     (axis > first ||
			      (axis < first &&
			       use_of_rows(bordered, x, axis) == AXIS_UNUSED));

		if (later == (i >= x->n_spatial)) {
			axes[n++] = axis;
		}
	}
}

void
border_split(struct rules *r, int rows, int place)
{
	int *loops, n;

	if (!sched_get_loops(&r->s, rows, &loops, &n)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (loops[i] == place && i + 1 < n) {
			struct sched_value args[2] = { sv_block(rows),
						       sv_loop(loops[i + 1]) };

			sched_apply(&r->s, "decompose_padding", args, 2, NULL);
			return;
		}
	}
}
