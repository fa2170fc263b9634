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
	struct name_set names;        /* the names of kernels */
	struct name_set weight_names; /* the names of all weights */
	/* The groups that contain a node, several for a prologue node:
	 * group_list from first_group[node.id] to before
	 * first_group[node.id + 1] */
	struct group **group_list;
	int *first_group;
	/* mark[group.id] == stamp if the current search has visited the group
	 * (kernel_in_place.c); a new search increments the stamp */
	int *mark, stamp;
	/* Maps a constant to the index in program.weights of the last weight
	 * made from it; see weight.same_tensor. */
	struct pointer_map last_weights;
	/* the kernels lowered so far: a later kernel with the same program gets
	 * the result of an earlier one (kernel_reuse.c); NULL: each kernel is
	 * scheduled anew */
	struct kernel_reuse *reuse;
};

/* Two tensors of a kernel: each element of the result `out` is computed from
 * the element of the input `in` at the same index, and no other element of
 * `out` is computed from that element, so that `out` may overwrite `in` in any
 * order of elements. */
struct own_element {
	const struct tensor *in, *out;
};

/* What is collected while the kernel of one group is built. */
struct joint {
	struct builder *b;
	struct kernel *k;
	/* The tensors that the group's nodes read and do not compute, each with
	 * its placeholder in the kernel at the same index of from_te. */
	VEC(struct tensor *) from;
	VEC(struct te_tensor *) from_te;
	/* The tensors that the nodes compute, with their expressions. */
	VEC(struct tensor *) made;
	VEC(struct te_tensor *) made_te;
	struct name_set names; /* the names of the kernel's parameters */
	/* set by kernel_note_own_elements for kernel_store_in_place */
	VEC(struct own_element) own;
};

/* kernel_join.c: must this group store t, an output of one of its nodes, for
 * other groups? */
bool group_makes(const struct builder *b, const struct group *group,
		 const struct tensor *t);
/* The function of the group and its arguments: data first, then constants, then
 * results. False after a diagnostic. */
bool kernel_join(struct joint *j);
/* kernel_region.c: as kernel_join for a group that is a backend's region: the
 * function has parameters and no loops. False after a diagnostic. */
bool join_region(struct joint *j);
/* kernel_elements.c: parameters that are elements of larger tensors become
 * those tensors, with the element as an index. */
void kernel_place_elements(struct module *m, struct kernel *k);
/* roles.c: the parameter name of t by its role in the group's nodes, from
 * roles.def: x for data, w for weights, bias, q, k, v, ... Not unique. */
const char *kernel_role(struct arena *a, const struct group *group,
			const struct tensor *t);
/* kernel_in_place.c: in-place results: if the live range of an input ends at a
 * kernel, and the kernel reads every element before it writes the element, the
 * input and the output share a pointer. Threads of a device run in any order,
 * so on a device this is done only if kernel_note_own_elements has found that
 * each thread reads only the elements that it overwrites. */
void kernel_note_own_elements(struct joint *j);
void kernel_store_in_place(struct joint *j);
/* kernel_reuse.c: the lowered kernels, for reuse; NULL if kernels may not be
 * reused. */
struct kernel_reuse *kernel_reuse_new(const struct builder *b);
/* Takes over the schedule and the lowered function of a kernel that was like
 * this one before its schedule. False if there is no such kernel: then call
 * kernel_keep_lowered after lowering this kernel. */
bool kernel_take_lowered(struct joint *j);
void kernel_keep_lowered(struct joint *j);
/* kernel_work.c: counts the operations of the joined kernel, before its layouts
 * and its schedule: the figures are those of the definition, whatever the target
 * computes twice or pads. */
void kernel_count(struct kernel *k);
/* kernel_work.c: computes the other figures for the comment of the lowered
 * kernel: multiply-accumulates, bytes, stack. */
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
 * inputs and outputs. states_finish, after all kernels are built, drops those
 * copies of states that are not needed, and makes the remaining copies the last
 * kernels. */
void states_detach(struct graph *g);
void states_finish(struct program *p);
/* Is `after` the tensor whose value the state `before` has in the next run? */
bool is_next_of(const struct graph *g, const struct tensor *before,
		const struct tensor *after);

#endif
