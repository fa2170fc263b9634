/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that are known only when the model runs: sizes.c, and the operators in
 * size_counts.c, size_inputs.c,
 * size_resize.c and size_slices.c. */
#ifndef TIRC_ONNX_SIZES_H
#define TIRC_ONNX_SIZES_H

#include "import_inputs.h"
#include "upgrade.h"

/* Memory is planned for the largest value of a size. A larger value than this,
 * which operators give and no option, is not taken as the bound. */
enum { SIZE_FOUND_MAX = 1 << 22 };

struct sizing {
	struct upgrade u;
	int at; /* where the next node is inserted */
};

/* The bound of --bound for one of the names; NULL: no option names it. */
const struct size_bound *size_bound(struct importer *imp,
				    const char *const *names, int n);
/* Inserts a node of ONNX's with one output. */
struct tensor *size_insert(struct sizing *s, const char *op_type,
			   const char *what, struct tensor *a,
			   struct tensor *b);
struct tensor *size_cast(struct sizing *s, const char *what, struct tensor *x,
			 struct dtype type);
struct tensor *size_constant(struct sizing *s, const char *what, int64_t v);
/* Inserts tirc.RunSize of x, n integers; min and max as given, unless
 * --bound says less. */
struct tensor *size_variables(struct sizing *s, struct tensor *x,
			      const char *stem, int n, const int64_t *min,
			      const int64_t *max, bool proven,
			      const struct size_bound *bound);
/* The source of t: t is a chain of views of the source and conversions to wider
 * numbers, or the source itself. */
struct tensor *size_root(struct tensor *t);
/* Reports that the tensor called `name` needs a bound, for the size of a result of
 * n. Returns false. */
bool import_no_bound(struct importer *imp, const struct node *n,
		     const char *name);
/* The same for the node of s. */
bool size_no_bound(struct sizing *s, const char *name);

/* Operators, each with the node of s. */
bool size_nonzero(struct sizing *s);
bool size_nms(struct sizing *s);
bool size_unique(struct sizing *s);
bool size_range(struct sizing *s);
bool size_slice(struct sizing *s);
bool size_split(struct sizing *s);
bool size_resize(struct sizing *s);
/* Integers of input i become sizes, which are at least `least`. */
bool size_input(struct sizing *s, int i, int64_t least);

/* sizes.c: where the shape of n's result depends on data, inserts nodes before
 * pos that compute the sizes, for the entry function to read. */
bool import_sizes(struct importer *imp, struct node *n, int pos);
/* Inserts tirc.RunSize of x, one integer from 0 to `most`, at pos; name: of the
 * size. Its result. */
struct tensor *import_run_size(struct importer *imp, struct node *n, int pos,
			       struct tensor *x, const char *name,
			       int64_t most);
/* element_range.c: the least and the largest value of t's elements, as far as
 * its operators limit them; false: unknown. NaN is not considered. */
bool import_element_range(struct importer *imp, const struct tensor *t,
			  double *min, double *max);
/* Were all bounds of the options used? Reports each bound that was not. */
bool import_bounds_used(struct importer *imp);

#endif
