/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels, with their names and descriptions, and the function that
 * calls them. */
#ifndef TIRC_KERNELS_H
#define TIRC_KERNELS_H

#include "kernel.h"

/* Builds kernels from the fusion groups (tensor expressions, schedule rules,
 * lowering), chooses their order, plans the memory, then builds the entry
 * function. */
bool program_build(struct graph *g, const struct target *target,
		   const struct pass_hooks *hooks, struct program *out);

/* The kernel's function before scheduling (phase 0), built again from its
 * group. NULL after a diagnostic. */
struct func *kernel_unscheduled(struct program *p, const struct kernel *k);
/* Like kernel_unscheduled, then scheduled as in program_build. out: the
 * function and the trace. hooks may be NULL. */
bool kernel_schedule(struct program *p, const struct kernel *k,
		     const struct pass_hooks *hooks, struct sched *out);
/* A kernel like one of the program, built again with another schedule. */
struct kernel_again {
	/* the func of this kernel is scheduled; after kernel_again_lower, it is
	 * lowered */
	struct kernel *kernel;
	/* the function before its schedule, with the parameters of `kernel`; it
	 * writes the same elements as the kernel, those of halos included */
	struct func *plain;
	struct sched *sched; /* of kernel->func */
};

struct choices;
struct sched_step;

/* Builds a kernel like k again; it is not scheduled yet. False after a
 * diagnostic. */
bool kernel_again(struct program *p, const struct kernel *k,
		  struct kernel_again *out);
/* Schedules it by the rules with the candidates that `choices` prefers
 * (choices.h). False after a diagnostic. */
bool kernel_again_schedule(struct program *p, struct kernel_again *x,
			   struct choices *choices);
/* Lowers the function of x as program_build does, but with parameters that are
 * arrays of scalars, so that any program can call it. False after a
 * diagnostic. */
bool kernel_again_lower(struct program *p, struct kernel_again *x);
/* Schedules and lowers the function of x as program_build did, with `hooks`,
 * which see the function after the schedule and after each pass; at these times
 * the function has the parameters of x->plain. False after a diagnostic. */
bool kernel_again_observed(struct program *p, struct kernel_again *x,
			   const struct pass_hooks *hooks);
/* Applies the first n steps of the kernel's schedule to the function of x,
 * without what the rules do after the last step. False if a step fails. */
bool kernel_again_replay(struct program *p, struct kernel_again *x,
			 const struct sched_step *steps, int n);
/* Appends the kernel's default schedule in words, then a line for each schedule
 * rule. False after a diagnostic. */
bool kernel_explain(struct program *p, const struct kernel *k,
		    struct strbuf *out);
/* Sets the facts of a device that lowering reads: widths of memory accesses,
 * and warps. */
void kernel_note_device(const struct target *target, struct func *f);
/* Sets the facts of kernel_note_device, and the vectors that lowering may use,
 * also for parameters, because tirc emits all callers of a kernel. */
void kernel_note_vectors(const struct target *target, struct func *f);

/* describe.c: the stem of the name of a group's kernel, from the names in the
 * model or, if these have none, from the operator. */
const char *kernel_stem(struct graph *g, const struct group *group);
/* For a kernel whose nodes have no names: a name made from that of a neighbour,
 * "mul_before_conv3_3". NULL if the nodes have a name, or if no neighbour has
 * one. */
const char *kernel_neighbour(struct graph *g, const struct group *group);
/* The operator of n as a part of a name: "softmax". */
const char *operator_word(struct arena *a, const struct node *n);
/* Is n a sliding-window operator? */
bool node_has_window(const struct node *n);
const char *kernel_title(struct graph *g, const struct group *group);
const char *region_title(struct graph *g, const struct graph_region *r);
/* The names of the patterns in a region, in order: "conv (4 times), pool". */
const char *region_patterns(struct graph *g, const struct graph_region *r);
const char *weight_stem(struct graph *g, const struct kernel *k,
			const struct kernel_arg *arg);

/* entry.c: the function that calls the kernels in order. Parameters: the
 * graph's inputs and its outputs that are not in the workspace, and the weights
 * (buffers), the workspace (a handle, if there is one), the symbolic sizes. */
struct func *entry_build(struct program *p);
/* The number of pointers among the parameters of the entry function that stand
 * for inputs and outputs of the graph. */
int entry_count_pointers(const struct graph *g);

#endif
