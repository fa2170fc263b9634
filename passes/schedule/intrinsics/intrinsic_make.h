/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics that a program declares (te.decl_tensor_intrin), and
 * reference functions for the symbols that intrinsics call. */
#ifndef TIRC_INTRINSIC_MAKE_H
#define TIRC_INTRINSIC_MAKE_H

#include "te.h"
#include "tensor_intrin.h"

/* The buffers that a declaration's lowering function is given: one per input
 * of out's stage, then one per output. They have no strides of their own. The
 * program may use others of its own instead. */
const struct buffer **tensor_intrin_views(struct module *m,
					  const struct te_tensor *out, int *n);

/* What the instruction does is out's stage; compute, reset and update are
 * expressions evaluated once, over views (inputs, then outputs). reset and
 * update may be NULL. False: *why ("problem; what to do"). */
bool te_tensor_intrin(struct module *m, const char *name,
		      const struct te_tensor *out,
		      const struct buffer *const *views,
		      const struct expr *compute, const struct expr *reset,
		      const struct expr *update,
		      const struct tensor_intrin **made, const char **why);

/* A function named like the call's symbol, with the symbol's parameters, that
 * does what the intrinsic is declared to do: for impl all of desc, for reset
 * its init, for update desc without init. Not yet in m. NULL: *why. */
struct func *intrinsic_reference(struct module *m,
				 const struct tensor_call *call,
				 const char **why);
/* Adds one for every call of t to m, so that the interpreter can run and the
 * emitter can write what the program calls. */
bool intrinsic_references(struct module *m, const struct tensor_intrins *t,
			  const char **why);

#endif
