/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that build one kernel: kernels.c, kernel_in_place.c,
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
	struct name_set names; /* the names of kernels */
	struct name_set weight_names;
	struct group **group_list; /* the groups of the node with this id are
				    * the entries from first_group[id] */
	int *first_group;          /* to first_group[id + 1] */
	/* by group: the stamp of the last search that visited it */
	int *mark, stamp;
	/* By tensor: the index of its last weight in the program's list. */
	struct pointer_map last_weights;
	struct kernel_reuse *reuse; /* NULL if each kernel is scheduled anew */
};

/* States that each element of `out` is computed from the same element of `in`,
 * and that nothing else reads that element, so that the order of elements does
 * not matter. */
struct own_element {
	const struct tensor *in, *out;
};

/* The state of building the kernel of one group. */
struct joint {
	struct builder *b;
	struct kernel *k;
	VEC(struct tensor *) from; /* tensors read from outside */
	VEC(struct te_tensor *) from_te;
	VEC(struct tensor *) made; /* tensors computed here */
	VEC(struct te_tensor *) made_te;
	struct name_set names; /* the names of the parameters */
	VEC(struct own_element) own;
};

/* kernel_join.c: must this group store t, an output of one of its nodes, for
 * other groups? */
bool group_makes(const struct builder *b, const struct group *group,
		 const struct tensor *t);
/* The function of the group and its arguments: data first, then constants, then
 * results. False after a diagnostic. */
bool kernel_join(struct joint *j);
/* kernel_region.c: the function of the group's region, with parameters and
 * without loops. False after a diagnostic. */
bool join_region(struct joint *j);
/* kernel_elements.c: parameters that are elements of larger tensors become
 * those tensors, with the element as an index. */
void kernel_place_elements(struct module *m, struct kernel *k);
/* roles.c: the parameter name of t by its role in the group's nodes, from
 * roles.def: x for data, w for weights, bias, q, k, v, ... Not unique. */
const char *kernel_role(struct arena *a, const struct group *group,
			const struct tensor *t);
/* kernel_in_place.c: in-place results: if an input's live range ends here and
 * every element is read before it is written, input and output share a pointer.
 * Threads of a device run in any order, so on a device only if
 * kernel_note_own_elements has found that each thread reads only its own
 * elements. */
void kernel_note_own_elements(struct joint *j);
void kernel_store_in_place(struct joint *j);
/* kernel_reuse.c: the lowered kernels, for reuse; NULL if kernels may not be
 * reused. */
struct kernel_reuse *kernel_reuse_new(const struct builder *b);
/* Takes over the schedule and the lowered function of a kernel that was like
 * this one before its schedule. False if there is none: then call
 * kernel_keep_lowered after lowering this one. */
bool kernel_take_lowered(struct joint *j);
void kernel_keep_lowered(struct joint *j);
/* kernel_work.c: computes the figures for the kernel's comment: operations,
 * bytes, stack. */
void kernel_measure(struct kernel *k);
/* kernel_spaces.c: notes the memory space of each parameter. Runs after the
 * memory plan. */
void kernels_note_spaces(struct program *p);
/* kernel_merge.c: kernels with equal bodies share one function; sets owner and
 * callers. Runs after the memory plan. */
void kernels_merge(struct builder *b);
/* kernel_align.c: notes the arrays of vectors that are aligned to whole
 * vectors, by their places in the memory plan. */
void kernels_align(struct program *p);

/* states.c: states_detach removes the states of the model from the lists of
 * inputs and outputs. states_finish, after all kernels are built, drops the
 * copies of states that are not needed, and makes the others the last
 * kernels. */
void states_detach(struct graph *g);
void states_finish(struct program *p);
/* Is `after` the next state of `before`? */
bool is_next_of(const struct graph *g, const struct tensor *before,
		const struct tensor *after);

#endif
