/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the workspace, and the alignment of the workspace. */
#include "packer.h"

/* Libraries run faster with the alignment of cache lines. */
#define LIBRARY_ALIGN 64

int64_t
planned_align(const struct packer *k)
{
	return k->p->plan.align_bytes > 0 ? k->p->plan.align_bytes
					  : k->p->target->align_bytes;
}

int64_t
workspace_align(const struct packer *k)
{
	int64_t align = planned_align(k);

	return k->p->model != NULL && align < LIBRARY_ALIGN ? LIBRARY_ALIGN
							    : align;
}

void
add_workspace_place(struct packer *k, struct tdata *row,
		    const struct placement *at)
{
	const struct memory_plan *plan = &k->p->plan;
	struct dtype type = dtype_stored(at->tensor->type);

	tdata_int(row, "offset", at->offset_bytes / (k->d->char_bits / 8));
	for (int i = 0; i < plan->parts.n; i++) {
		const struct workspace_part *part = &plan->parts.data[i];

		if (dtype_equal(part->type, type)) {
			tdata_text(row, "array",
				   dialect_arena_name(k->d, type));
			tdata_int(row, "first_element",
				  (at->offset_bytes - part->offset_bytes) /
					  dtype_bytes(type));
		}
	}
}
