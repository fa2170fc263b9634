/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics that a program declares (te.decl_tensor_intrin), and
 * reference functions for the symbols that intrinsics call. */
#ifndef TIRC_INTRINSIC_MAKE_H
#define TIRC_INTRINSIC_MAKE_H

#include "te.h"
#include "tensor_intrin.h"

/* The arguments of a declaration's lowering function: a buffer per input of
 * out's stage, then one per output, without strides. The program may declare
 * its own buffers instead. */
const struct buffer **tensor_intrin_views(struct module *m,
					  const struct te_tensor *out, int *n);

/* Declares an intrinsic with the semantics of out's stage. compute, reset and
 * update are the calls to emit, over views (inputs, then outputs); reset and
 * update may be NULL. False: *why ("problem; what to do"). */
bool te_tensor_intrin(struct module *m, const char *name,
		      const struct te_tensor *out,
		      const struct buffer *const *views,
		      const struct expr *compute, const struct expr *reset,
		      const struct expr *update,
		      const struct tensor_intrin **made, const char **why);

/* A function with the name, the parameters and the declared semantics of the
 * call's symbol: for impl all of desc, for reset its init, for update desc
 * without init. The function is not added to m. NULL: *why. */
struct func *intrinsic_reference(struct module *m,
				 const struct tensor_call *call,
				 const char **why);
/* Adds reference functions for all calls of t to m, so that the interpreter can
 * run the calls and the emitter can define the symbols. */
bool intrinsic_references(struct module *m, const struct tensor_intrins *t,
			  const char **why);

#endif
