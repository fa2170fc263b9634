/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the files that build the entry function. */
#ifndef TIRC_ENTRY_H
#define TIRC_ENTRY_H

#include "identifiers.h"
#include "kernels.h"
#include "pointer_map.h"

/* For each kernel, a list of the items (numbers) that come after it. last: the
 * last item of each list, or -1; next: for each item, the item before it in its
 * list, or -1. */
struct after_kernel {
	/* by kernel index + 1; entry 0: the items that come before all
	 * kernels */
	int *last;
	int *next; /* by item */
};

struct entry {
	struct program *p;
	struct module *m;
	struct func *f;
	struct name_set names;
	struct var *workspace;
	/* pointers to weights, by the weight's number */
	const struct expr **of_weight;
	/* the arrays of the workspace by element type, if each type has its own
	 * array */
	const struct buffer **parts;
	/* pointers to tensors by tensor id; NULL before a pointer's first
	 * use */
	const struct expr **of_tensor;
	/* Tensors that branches and loops pass on have one pointer. flow_root:
	 * the result of plan_flow_roots, by tensor id. By root, flow_name: the
	 * tensor after which the pointer is named; flow_place: the place of the
	 * pointer, NULL before its first use. */
	int *flow_root;
	const struct tensor **flow_name;
	struct placement **flow_place;
	/* the pointers that are variables of LETs, outermost first */
	VEC(struct var *) pointers;
	VEC(const struct expr *) values;
	int next;                   /* the index of the next kernel to call */
	struct pointer_map numbers; /* of graph_number_sizes */
	/* By index in the graph's run_sizes: the tensor and the element that
	 * hold the size, the kernel after which the size is read (-1: before
	 * the first kernel), the body in which it is read, and the load that
	 * reads it. The tensor is NULL if nothing uses the size. */
	struct tensor **size_tensor;
	int *size_index, *read_after, *read_in;
	const struct expr **size_value;
	struct after_kernel sizes_after;
	/* By index in the graph's checks: the sizes in the check. The check is
	 * made after the last kernel after which one of these sizes is read. */
	size_numbers *check_sizes;
	struct after_kernel checks_after;
	/* The condition under which the current kernel is called; it holds only
	 * if the sizes in it are not 0. NULL: the kernel is always called. */
	const struct expr *some;
	/* By body: the memory in which a loop with a condition counts its
	 * iterations; and the memory with the most iterations that a loop may
	 * make, if that number is read from a tensor. Else NULL. */
	const struct buffer **counters, **trips;
	/* the formulas of sizes to check; NULL if all sizes are constant */
	struct formulas *formulas;
};

/* The pointer to t, which is made at the first call for t. k: the kernel that
 * uses the pointer or runs next; if t has no name, the pointer is named after
 * k. */
const struct expr *entry_pointer(struct entry *e, const struct kernel *k,
				 struct tensor *t);
/* Like entry_pointer, for a tensor whose elements the entry function reads. */
const struct expr *entry_read(struct entry *e, const struct kernel *k,
			      struct tensor *t);
struct stmt *entry_call(struct entry *e, const struct kernel *k);

/* entry_flow.c: the calls of all kernels, within the branches and loops of the
 * graph. */
struct stmt *entry_flow(struct entry *e);
/* The value of the size v that is passed to a kernel: v is a size of the model,
 * or the iteration of a loop. */
const struct expr *entry_flow_size(struct entry *e, const struct var *v);

/* entry_checks.c: removes checks of the graph that hold whenever other checks
 * hold. */
void entry_choose_checks(struct graph *g);

/* entry_formulas.c: inserts checks that no formula of sizes overflows int64,
 * before all other checks. The kernels must already be lowered. False after a
 * diagnostic. */
bool entry_check_formulas(struct entry *e);
/* The formula `of` (a size or a condition) in which each operation is computed
 * in a type that can represent its result. */
const struct expr *entry_wide(const struct entry *e, const struct expr *of);

/* entry_sizes.c: finds the tensors that hold the graph's run_sizes. Adds to the
 * entry function the parameters by which it gives these sizes to its caller.
 * False after a diagnostic. */
bool entry_find_sizes(struct entry *e);
/* A new variable for a number that was read, before the number is checked or
 * limited. */
struct var *entry_given(struct entry *e, const char *name, struct dtype type);
/* Are sizes read in the body `body` after kernel number `kernel` (-1: before
 * the first kernel)? */
bool entry_reads_after(const struct entry *e, int kernel, int body);
/* Makes the loads of the sizes that are read in the body `body` after this
 * kernel (size_value). */
void entry_load_sizes(struct entry *e, int kernel, int body);
/* Returns `rest`, the calls that follow, inside of the LETs of the sizes that
 * are read in the body after this kernel, and after the checks that can then be
 * made. */
struct stmt *entry_with_sizes(struct entry *e, int kernel, int body,
			      struct stmt *rest);
/* The call of kernel k. If its results may have no elements, the call is under
 * the condition that they have some. */
struct stmt *entry_call_some(struct entry *e, const struct kernel *k);
/* Returns `rest` after checks that sizes given by the caller are multiples of
 * their steps, and inside of LETs that divide the sizes by their steps
 * (graph.steps). */
struct stmt *entry_divide_sizes(struct entry *e, struct stmt *rest);
/* The stores of the outputs' sizes that are known only at run time, for the
 * caller. */
struct stmt *entry_give_sizes(struct entry *e);

/* entry_trace.c: the calls that show tensors to the caller of a traced program:
 * all inputs and states; what kernel k wrote. */
struct stmt *entry_trace_inputs(struct entry *e);
struct stmt *entry_trace(struct entry *e, const struct kernel *k);

#endif
