/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of the tensors between kernels: channels in blocks that come last,
 * so that vectors of them are contiguous, and zeroes around what is read
 * beyond its edge. */
#ifndef TIRC_LAYOUTS_H
#define TIRC_LAYOUTS_H

#include "analyse.h"
#include "kernel.h"

/* Sets tensor.layout wherever all kernels, which are not scheduled yet, read
 * and write the tensor channel by channel; places parts of concatenations
 * anew. Nothing if the target wants no blocks. */
void layouts_choose(struct program *p, struct kernel *const *kernels, int n);
/* Gives the kernel's function, which is not scheduled yet, parameters of the
 * layouts that its tensors have, and drops the tests for what lies beyond an
 * edge where zeroes are. */
void layouts_apply(struct module *m, struct kernel *k);
/* rows.c: where the kernel, which is not scheduled yet, slides a window over
 * data that lie row by row, gives it a block that copies them with what lies
 * around, and whole vectors of columns. */
void layouts_widen_rows(struct module *m, struct kernel *k,
			const struct target *target);
/* The zeroes around what the kernel, which is scheduled, writes. */
void layouts_write_halos(struct module *m, struct kernel *k);

bool layout_equal(const struct tensor_layout *a, const struct tensor_layout *b,
		  int ndim);
/* The shape in memory of t under l; arena array of *ndim. */
const struct expr **layout_shape(struct module *m, const struct tensor *t,
				 const struct tensor_layout *l, int *ndim);

/* halo.c: loads that a test keeps inside of a buffer and that count as one
 * number outside of it. */
struct guarded_load {
	struct stmt *at;
	const struct expr *test; /* the IF */
	const struct expr *load;
	int64_t outside;
};
struct guarded_loads {
	VEC(struct guarded_load) list;
};
void guarded_loads_find(struct func *f, const struct buffer *b,
			struct guarded_loads *out);
/* The bounds of a load's index, whatever the test says; false: unknown. */
bool guarded_load_bounds(struct func *f, const struct guarded_load *x, int d,
			 struct bounds *b);
/* Does the test hold wherever the index is inside of the buffer? */
bool guarded_load_holds_inside(struct func *f, const struct buffer *b,
			       const struct guarded_load *x);
/* How far they reach beyond the buffer, added to the layout's; a dimension of
 * no constant bounds stays as it is. The first load says what lies there; those
 * that want something else keep their tests. */
void guarded_loads_reach(struct func *f, const struct buffer *b,
			 const struct guarded_loads *loads,
			 struct tensor_layout *l);
/* Drops the tests of loads that stay within what is stored. */
/* e with the load in place of the test around it. */
const struct expr *guarded_load_replace(struct module *m, const struct expr *e,
					const struct expr *test,
					const struct expr *load);
void guarded_loads_open(struct func *f, const struct buffer *b,
			const struct tensor_layout *l);

#endif
