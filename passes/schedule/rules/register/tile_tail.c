/* SPDX-License-Identifier: Apache-2.0 */
/* The last tile of an axis that the tile's size does not divide: it overlaps
 * the tile before (the note "overlap"), or becomes a second copy of the
 * loops. */
#include "edit.h"
#include "register_tile.h"

/* The last tile becomes a second copy of the loops if an overlapping tile would
 * take more than this many times as long. */
static const double OVERLAP_MAY_TAKE = 1.04;

/* Does the block read an element of a parameter that has the shape of the
 * parameter it writes, at the index of the element that it writes? Then both
 * parameters may share memory, and an overlapping tile would read elements that
 * are already overwritten. */
static bool
may_be_in_place(struct rules *r, int block)
{
	struct block_access x;
	const struct stmt *store;

	if (!rules_access(r, block, &x)) {
		return true;
	}
	store = x.block->children[0];
	for (int l = 0; l < x.n_loads; l++) {
		const struct expr *load = x.loads[l].load;
		bool own = x.loads[l].weight == NULL &&
			   func_has_param(r->s.func, load->u.buffer) &&
			   load->n_args == store->n_args - 1;

		for (int d = 0; own && d < load->n_args; d++) {
			own = load->args[d] == store->args[d + 1];
		}
		if (own) {
			return true;
		}
	}
	return false;
}

bool
tiling_overlap(struct rules *r, int output, int loop, const struct var *axis,
	       int64_t rest, double time, bool is_lanes)
{
	const char *name = iter_axis_name(axis->name);
	const char *number = rest < 0 ? ""
				      : arena_printf(&r->module->arena, "%lld ",
						     (long long)rest);

	if (rest == 0 || loop == 0) {
		return true;
	}
	if (may_be_in_place(r, output)) {
		strbuf_printf(&r->words,
			      ", the last %sof %s apart, as the result "
			      "may overwrite an input",
			      number, name);
		return true;
	}
	if (time > OVERLAP_MAY_TAKE) {
		strbuf_printf(&r->words,
			      ", the last %sof %s apart, as a whole "
			      "tile takes %.0f %% longer",
			      number, name, (time - 1) * 100);
		return true;
	}
	strbuf_printf(&r->words, ", the last tile of %s overlaps", name);
	/* An axis that may be shorter than its tile gets a copy of the loops.
	 * If two axes are symbolic, one copy serves both few lanes and few
	 * rows. */
	return sched_annotate(&r->s, loop, "overlap",
			      sv_int(rest < 0 && is_lanes ? 2 : 1));
}
