/* SPDX-License-Identifier: Apache-2.0 */
/* The memory plan: offsets of tensors and scratch arrays in the workspace.
 * Symbolic sizes are planned at their maxima. */
#include "plan.h"

#include "storages.h"

/* The target's preferred alignment is used unless it costs more than this share
 * of the lower bound, as in tiny models. */
#define ALIGNMENT_COST_PERCENT 1

/* Places the blocks of all types, or of one type. */
static int64_t
place_blocks(struct storages *s, const struct dtype *only, int64_t align_bytes,
	     int64_t bound_bytes, const char **strategy)
{
	struct block_life *blocks = arena_array(s->arena, struct block_life,
						s->list.n + 1);
	int64_t size;
	int n = 0;

	for (int i = 0; i < s->list.n; i++) {
		const struct storage *x = &s->list.data[i];

		if (storage_counts(x, only)) {
			blocks[n++] = (struct block_life){
				.bytes = x->bytes,
				.align_bytes = x->align_bytes,
				.first = x->first,
				.last = x->last,
				.pieces = x->pieces.data,
				.n_pieces = x->pieces.n,
			};
		}
	}
	size = plan_offsets(s->arena, blocks, n, align_bytes, bound_bytes,
			    strategy);
	n = 0;
	for (int i = 0; i < s->list.n; i++) {
		struct storage *x = &s->list.data[i];

		if (storage_counts(x, only)) {
			x->offset_bytes = blocks[n++].offset_bytes;
		}
	}
	return size;
}

static void
choose_alignment(struct storages *s, struct memory_plan *plan, int64_t align,
		 int64_t least)
{
	int64_t limit = plan->bound_bytes +
			plan->bound_bytes * ALIGNMENT_COST_PERCENT / 100;
	int64_t best = -1, best_align = align, used = 1;

	for (int64_t at = align > 0 ? align : 1; at >= least; at /= 2) {
		const char *strategy;
		int64_t size = place_blocks(s, NULL, at, plan->bound_bytes,
					    &strategy);

		if (best < 0 || size < best) {
			best = size;
			best_align = at;
		}
		if (size <= limit) {
			break;
		}
	}
	plan->workspace_bytes = place_blocks(s, NULL, best_align,
					     plan->bound_bytes,
					     &plan->strategy);
	for (int i = 0; i < s->list.n; i++) {
		if (s->list.data[i].align_bytes > used) {
			used = s->list.data[i].align_bytes;
		}
	}
	plan->align_bytes = best_align > used ? best_align : used;
}

/* Appends the array for the elements of one type. */
static void
add_part(struct storages *s, struct memory_plan *plan, int n_kernels,
	 struct dtype t)
{
	struct workspace_part part = { t, plan->workspace_bytes, 0 };
	int64_t element = dtype_bytes(t), bytes;
	bool any = false;

	for (int i = 0; i < s->list.n; i++) {
		any |= storage_counts(&s->list.data[i], &t);
	}
	if (!any) {
		return;
	}
	bytes = place_blocks(s, &t, element, storages_bound(s, n_kernels, &t),
			     &plan->strategy);
	part.elems = (bytes + element - 1) / element;
	for (int i = 0; i < s->list.n; i++) {
		if (storage_counts(&s->list.data[i], &t)) {
			s->list.data[i].offset_bytes += part.offset_bytes;
		}
	}
	plan->workspace_bytes += part.elems * element;
	plan->align_bytes = element > plan->align_bytes ? element
							: plan->align_bytes;
	vec_push(s->arena, &plan->parts, part);
}

/* Places the array of each element type in the workspace, those of the largest
 * elements first, so that there is no padding between the arrays; the total
 * size is rounded up to the alignment. */
static void
place_by_type(struct storages *s, struct memory_plan *plan, int n_kernels)
{
	plan->align_bytes = 1;
	for (int bytes = 8; bytes >= 1; bytes /= 2) {
		for (int k = 0; k < DT_COUNT; k++) {
			struct dtype t = dtype_of((enum dtype_kind)k);

			if (dtype_bytes(t) == bytes) {
				add_part(s, plan, n_kernels, t);
			}
		}
	}
	plan->workspace_bytes = (plan->workspace_bytes + plan->align_bytes -
				 1) /
				plan->align_bytes * plan->align_bytes;
}

static int64_t
tensor_bytes(const struct tensor *t)
{
	int64_t elems;

	return tensor_max_elems(t, &elems) ? elems * dtype_bytes(t->type) : 0;
}

static void
add_places(struct program *p, const struct storages *s)
{
	struct memory_plan *plan = &p->plan;
	const struct kernel *before = NULL;

	for (int i = 0; i < s->n_tensors; i++) {
		struct placement place = {
			.tensor = p->graph->tensors.data[i],
		};
		const struct storage *x;

		if (s->of[i] < 0) {
			/* no kernel uses the tensor, so that it stays in the
			 * caller's memory */
			place.tensor->in_workspace = false;
			continue;
		}
		x = &s->list.data[s->of[i]];
		place.kind = x->kind;
		place.root = x->root;
		place.offset_bytes = s->inside[i];
		place.offset_bytes += x->kind == PLACE_WORKSPACE
					      ? x->offset_bytes
					      : 0;
		place.bytes = tensor_bytes(place.tensor);
		if (s->bytes[i] > place.bytes) {
			place.bytes = s->bytes[i];
		}
		place.first = x->first;
		place.last = x->last;
		vec_push(s->arena, &plan->places, place);
	}
	for (int i = 0; i < s->list.n; i++) {
		const struct storage *x = &s->list.data[i];
		struct placement place = {
			.scratch_of = x->scratch_of,
			.scratch = x->scratch,
			.kind = x->kind,
			.offset_bytes = x->offset_bytes,
			.bytes = x->bytes,
			.first = x->first,
			.last = x->last,
		};

		if (x->scratch_of) {
			if (x->scratch_of != before) {
				x->scratch_of->scratch_place = plan->places.n;
			}
			before = x->scratch_of;
			vec_push(s->arena, &plan->places, place);
		}
	}
}

bool
plan_memory(struct program *p)
{
	struct memory_plan *plan = &p->plan;
	struct storages s;

	*plan = (struct memory_plan){ .strategy = "none" };
	if (!storages_find(p, &s)) {
		return false;
	}
	plan->bound_bytes = storages_bound(&s, p->kernels.n, NULL);
	if (p->target && p->target->typed_workspace) {
		place_by_type(&s, plan, p->kernels.n);
	} else {
		choose_alignment(&s, plan,
				 p->target ? p->target->align_bytes : 64,
				 p->target && p->target->align_tensors
					 ? p->target->align_bytes
					 : 1);
	}
	add_places(p, &s);
	return true;
}

const struct placement *
plan_find(const struct memory_plan *p, const struct tensor *t)
{
	int low = 0, high = p->places.n;

	/* Binary search by tensor id; placements of scratch arrays, which have
	 * no tensor, are last. */
	while (low < high) {
		int middle = (low + high) / 2;
		const struct tensor *at = p->places.data[middle].tensor;

		if (at && at->id < t->id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < p->places.n && p->places.data[low].tensor == t
		       ? &p->places.data[low]
		       : NULL;
}

struct placement *
plan_find_scratch(const struct memory_plan *p, const struct kernel *k,
		  const struct buffer *scratch)
{
	for (int i = k->scratch_place; i < p->places.n; i++) {
		struct placement *at = &p->places.data[i];

		if (at->scratch_of != k) {
			return NULL;
		}
		if (at->scratch == scratch) {
			return at;
		}
	}
	return NULL;
}
