/* SPDX-License-Identifier: Apache-2.0 */
/* Makes tensor intrinsics that a program declares (te.decl_tensor_intrin), and
 * reference functions for the symbols that intrinsics call. */
#ifndef TIRC_INTRINSIC_MAKE_H
#define TIRC_INTRINSIC_MAKE_H

#include "te.h"
#include "tensor_intrin.h"

/* The arguments of a declaration's lowering function: a buffer for each input
 * of out's stage, then one for each output, without strides. A program may
 * declare other buffers in place of these. */
const struct buffer **tensor_intrin_views(struct module *m,
					  const struct te_tensor *out, int *n);

/* Declares an intrinsic with the semantics of out's stage. compute, reset and
 * update are the calls to emit, over views (inputs, then outputs); reset and
 * update may be NULL. False with the reason in *why ("problem; what to do"). */
bool te_tensor_intrin(struct module *m, const char *name,
		      const struct te_tensor *out,
		      const struct buffer *const *views,
		      const struct expr *compute, const struct expr *reset,
		      const struct expr *update,
		      const struct tensor_intrin **made, const char **why);
/* Does the same as te_tensor_intrin, but gets the statements of functions in
 * place of calls. */
bool te_tensor_intrin_of(struct module *m, const char *name,
			 const struct te_tensor *out,
			 const struct buffer *const *views,
			 const struct stmt *compute, const struct stmt *reset,
			 const struct stmt *update,
			 const struct tensor_intrin **made, const char **why);

/* A function with the name and the parameters of the call's symbol, which
 * computes what the symbol is declared to compute: if the symbol is called in
 * impl, all of desc; if in reset, the init of desc; if in update, desc without
 * its init. The function is not added to m. NULL with the reason in *why. */
struct func *intrinsic_reference(struct module *m,
				 const struct tensor_call *call,
				 const char **why);
/* Adds reference functions for all calls of t to m, so that the interpreter can
 * run the calls and the emitter can define the symbols. False with the reason
 * in *why. */
bool intrinsic_references(struct module *m, const struct tensor_intrins *t,
			  const char **why);

#endif
