/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build one kernel: kernels.c, kernel_share.c,
 * kernel_work.c. */
#ifndef TIRC_KERNEL_BUILD_H
#define TIRC_KERNEL_BUILD_H

#include "identifiers.h"
#include "kernels.h"
#include "pointer_map.h"

struct builder {
	struct program *p;
	struct graph *g;
	struct module *m;
	const struct pass_hooks *hooks;
	struct name_set names; /* of kernels */
	struct name_set weight_names;
	struct group **group_list; /* groups of node id: from first_group[id] */
	int *first_group;          /* to first_group[id + 1] */
	int *mark, stamp;          /* by group: which search has seen it */
	struct group **view_of;    /* by tensor id: the view group making it */
	/* Weights without a layout of their own, by tensor: where in the
	 * program's list; those of which each element has a byte or more, and
	 * paired ones. */
	struct pointer_map plain_weights[2];
};

/* What computes an element of out reads of in that one alone, and is the only
 * one to do so, in whatever order. */
struct own_element {
	const struct tensor *in, *out;
};

/* One group while it becomes a kernel. */
struct joint {
	struct builder *b;
	struct kernel *k;
	VEC(struct tensor *) from; /* tensors read from outside */
	VEC(struct te_tensor *) from_te;
	VEC(struct tensor *) made; /* tensors computed here */
	VEC(struct te_tensor *) made_te;
	struct name_set names; /* of the parameters */
	VEC(struct own_element) own;
};

/* kernel_join.c: must this group store t (an output of one of its nodes) for
 * others? */
bool group_makes(const struct builder *b, const struct group *group,
		 const struct tensor *t);
/* The function of the group and its arguments: data first, then constants, then
 * results. False: diagnosed. */
bool kernel_join(struct joint *j);
/* kernel_region.c: the group's region: parameters, no loops. False: diagnosed. */
bool join_region(struct joint *j);
/* roles.c: what a kernel calls t, by what it is for the nodes of the group, as
 * roles.def says: x for data, w for weights, bias, q, k, v, ... Not unique. */
const char *kernel_role(struct arena *a, const struct group *group,
			const struct tensor *t);
/* kernel_share.c: where an input dies here and every element is read before
 * it is written, one pointer for both. Threads of a device run in no order: there
 * only where kernel_note_own, told of the scheduled kernel, has seen that each
 * reads its own elements. */
void kernel_note_own(struct joint *j);
void kernel_share_storage(struct joint *j);
/* kernel_work.c: operations, bytes, stack: the figures of the comment. */
void kernel_measure(struct kernel *k);
/* kernel_spaces.c: notes in which memory each parameter lies. After the plan. */
void kernels_note_spaces(struct program *p);
/* kernel_merge.c: one function for all kernels that compute the same; sets owner
 * and callers of each. After the plan. */
void kernels_merge(struct builder *b);
/* kernel_align.c: notes which arrays of vectors are aligned as such, where the
 * plan has placed them. */
void kernels_align(struct program *p);

#endif
