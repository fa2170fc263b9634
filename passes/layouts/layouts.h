/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of intermediate tensors: blocked channels with the block innermost,
 * so that vectors of channels are contiguous, and halos (zeros, or the zero
 * points of quantized tensors) for reads beyond the edges. */
#ifndef TIRC_LAYOUTS_H
#define TIRC_LAYOUTS_H

#include "analyse.h"
#include "kernel.h"

/* Sets tensor.layout of each tensor that all kernels (which are not scheduled
 * yet) access channel by channel; computes the offsets of concatenated parts
 * anew. Does nothing if the target has no channel blocks. */
void layouts_choose(struct program *p, struct kernel *const *kernels, int n);
/* Rewrites the kernel's function (not scheduled yet) to the layouts of its
 * tensors, and drops guards that halos replace. */
void layouts_apply(struct module *m, struct kernel *k);
/* padded_rows.c: if the kernel (not scheduled yet) slides a window over
 * row-major data, adds a block that copies the rows with their padding, and
 * rounds the columns up to whole vectors. */
void layouts_widen_rows(struct module *m, struct kernel *k,
			const struct target *target);
/* window_columns.c: if the kernel (not scheduled yet) reduces windows of
 * row-major data by a sum, a minimum or a maximum, adds a block that reduces the
 * columns of the rows of a window, which the windows then share; if they reach
 * into padding, also a block that copies the columns with a border. */
void layouts_reduce_columns(struct module *m, struct kernel *k,
			    const struct target *target);
/* Does the kernel (not scheduled yet) copy b with a border? It does if b has
 * 8-bit integers, if only one load reads b beyond its edges, in a sum of
 * products, and if the target prefers such copies to halos in memory. If
 * `narrow` is not set, a halo must also make b larger by at least a tenth. */
bool layouts_copies_border(struct module *m, struct func *f,
			   const struct buffer *b, bool narrow,
			   const struct target *target);
/* Adds a block to a kernel that reads a tensor beyond its edges and must copy
 * it (see tensor_layout.copied): the block copies the tensor's elements
 * together with a border. */
void layouts_copy_borders(struct module *m, struct kernel *k,
			  const struct target *target);
/* Adds the stores of the halos of the outputs to the scheduled kernel. */
void layouts_write_halos(struct module *m, struct kernel *k);

bool layout_equal(const struct tensor_layout *a, const struct tensor_layout *b,
		  int ndim);
/* The shape of t in memory with layout l: *ndim extents, in the arena. */
const struct expr **layout_shape(struct module *m, const struct tensor *t,
				 const struct tensor_layout *l, int *ndim);

/* overwrites.c: drops halos that would prevent a kernel from storing its result
 * over an input. of: the layout of each tensor, by tensor id; this array is
 * changed in place. */
void layouts_drop_halos_of_overwrites(const struct program *p,
				      struct kernel *const *kernels, int n,
				      struct tensor_layout *const *of);

/* halo.c: a load with a bounds test and a constant alternative:
 * if_then_else(test, load, constant). */
struct guarded_load {
	struct stmt *at;
	const struct expr *test; /* the IF */
	const struct expr *load;
	/* the value of the load outside of the buffer: the constant
	 * alternative */
	int64_t outside;
};
struct guarded_loads {
	VEC(struct guarded_load) list;
};
void guarded_loads_find(struct func *f, const struct buffer *b,
			struct guarded_loads *out);
/* The bounds of a load's index in dimension d, computed without the load's
 * test; false if they are not known. */
bool guarded_load_bounds(struct func *f, const struct guarded_load *x, int d,
			 struct bounds *b);
/* Sets *before and *after to the largest number of elements before the start
 * and behind the end of dimension d of b that the load reaches if its test is
 * dropped; both are at least 0. False if these numbers are not known. */
bool guarded_load_reach(struct func *f, const struct buffer *b,
			const struct guarded_load *x, int d, int64_t *before,
			int64_t *after);
/* Does the test that guards the load hold for every index that is inside of the
 * buffer b? */
bool guarded_load_holds_inside(struct func *f, const struct buffer *b,
			       const struct guarded_load *x);
/* Widens the layout's halo so that it covers the elements that the loads reach
 * beyond the buffer; dimensions in which these have no constant bounds are
 * skipped. The first load determines the halo's value; loads with another value
 * keep their guards. */
void guarded_loads_widen_halo(struct func *f, const struct buffer *b,
			      const struct guarded_loads *loads,
			      struct tensor_layout *l);
/* Drops the tests of loads that stay within the stored array. */
void guarded_loads_drop_tests(struct func *f, const struct buffer *b,
			      const struct tensor_layout *l);

#endif
