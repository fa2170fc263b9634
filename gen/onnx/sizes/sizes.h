/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that are known only at run time: sizes.c, and the operators in
 * size_counts.c, size_inputs.c, size_resize.c and size_slices.c. */
#ifndef TIRC_SIZES_H
#define TIRC_SIZES_H

#include "import_inputs.h"
#include "upgrade.h"

/* Memory is planned for the largest value of a size. A bound larger than this,
 * derived from operators and not from an option, is not used. */
enum { SIZE_FOUND_MAX = 1 << 22 };

/* A node whose result has sizes that are known only at run time. */
struct sizing {
	struct upgrade u; /* u.node is the node */
	/* index in g->nodes at which the next new node is inserted */
	int at;
};

/* The --bound for one of the n names, or NULL. */
const struct size_bound *size_bound(struct importer *imp,
				    const char *const *names, int n);
/* Inserts a node with ONNX's operator op_type and the inputs a and b (b NULL:
 * only a). Returns the node's output, whose name ends in `what`. */
struct tensor *size_insert(struct sizing *s, const char *op_type,
			   const char *what, struct tensor *a,
			   struct tensor *b);
/* x converted to a type by a new Cast node. */
struct tensor *size_cast(struct sizing *s, const char *what, struct tensor *x,
			 struct dtype type);
/* A constant int64[1]. */
struct tensor *size_constant(struct sizing *s, const char *what, int64_t v);
/* Inserts tirc.RunSize of x, n integers that the entry function reads at run
 * time as sizes: integer i in [min[i], max[i]], limited further by `bound` (may
 * be NULL). proven: the integers are always in [min, max], so that the entry
 * function need not check them. Returns the sizes as a tensor. */
struct tensor *size_variables(struct sizing *s, struct tensor *x,
			      const char *stem, int n, const int64_t *min,
			      const int64_t *max, bool proven,
			      const struct size_bound *bound);
/* The tensor of which t is a view or a conversion to wider numbers, through any
 * number of nodes; t itself if it is neither. */
struct tensor *size_root(struct tensor *t);
/* Reports that --bound must give a bound for the tensor `name`, because a size
 * of n's result depends on it. Returns false. */
bool import_no_bound(struct importer *imp, const struct node *n,
		     const char *name);
/* Reports, as import_no_bound does, that the tensor `name` needs a --bound for
 * the node of s. Returns false. */
bool size_no_bound(struct sizing *s, const char *name);

/* Each of these functions is for one kind of operator: it inserts the nodes
 * that compute the sizes of the result of s->u.node. False after a
 * diagnostic. */
bool size_nonzero(struct sizing *s);
bool size_nms(struct sizing *s);
bool size_unique(struct sizing *s);
bool size_range(struct sizing *s);
bool size_slice(struct sizing *s);
bool size_split(struct sizing *s);
bool size_resize(struct sizing *s);
/* Does the same for an operator whose input i is a list of sizes, each at least
 * `least`. */
bool size_input(struct sizing *s, int i, int64_t least);

/* sizes.c: if the shape of n's result depends on data, inserts nodes at index
 * pos that compute its sizes, which the entry function reads at run time. False
 * after a diagnostic. */
bool import_sizes(struct importer *imp, struct node *n, int pos);
/* Inserts tirc.RunSize of x, one integer in [0, most], at pos, and returns its
 * result; `name` is the name of the size. */
struct tensor *import_run_size(struct importer *imp, struct node *n, int pos,
			       struct tensor *x, const char *name,
			       int64_t most);
/* element_range.c: sets *min and *max to bounds of t's elements that follow
 * from the operators that compute t; false if no finite bounds follow. Elements
 * that are NaN are left out. */
bool import_element_range(struct importer *imp, const struct tensor *t,
			  double *min, double *max);
/* index_range.c: tells the user about each Gather whose indices, which follow
 * from sizes, leave the table for the largest sizes. After inference. */
void import_note_indices(struct importer *imp);
/* Checks that each --bound was used; reports each one that was not. */
bool import_bounds_used(struct importer *imp);

#endif
