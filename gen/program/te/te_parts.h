/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, expressions and functions of topi as values of programs, and the
 * library te. */
#ifndef TIRC_TE_PARTS_H
#define TIRC_TE_PARTS_H

#include "ir_builder.h"
#include "library.h"
#include "te.h"

/* Registers the n outputs of a stage with their depth (te_remember). Returns
 * the output, if `one`, or a list of the outputs. */
struct pval te_made(struct eval *ev, struct te_tensor *const *made, int n,
		    int depth, bool one);
/* Applies an operator of Python, or a function of topi, to whole tensors.
 * Returns false after an error. */
bool topi_operator(struct eval *ev, struct py_span at, const char *op,
		   const struct pval *x, const struct pval *y,
		   struct pval *out);

/* Calls the function of ir/typed with the name `name`. args: n values, one for
 * each parameter; after these the values for *args. Returns false after an
 * error. */
bool expr_function(struct call *c, const char *name, const struct pval *args,
		   int n, struct pval *out);
/* Sets *out to the operator `op` of expressions applied to all elements of one
 * or two tensors, the arguments of the call. Returns false after an error. */
bool topi_broadcast(struct call *c, const char *op, struct pval *out);
/* Gives the position of the call to the errors from index `first` on: they are
 * about a temporary node that a function of topi made. Returns false. */
bool topi_locate(struct call *c, int first);

/* Lowers a schedule of stages to a function. The second argument of the call
 * lists the parameters. Returns false after an error. */
bool stage_to_func(struct call *c, struct te_schedule *s, const char *name,
		   struct program_func *out);

/* The functions in te_library and in the struct kind_ops of each kind of
 * values: look-up of names, calls, subscripts and operators (library.h). */
const struct name_row *topi_find(struct eval *ev, uint64_t in, enum pv_kind of,
				 const char *name);
void topi_list(struct eval *ev, uint64_t in, enum pv_kind of,
	       struct pv_names *list);
bool te_call_reducer(struct eval *ev, struct py_span at, const struct pval *f,
		     const struct call_args *args, struct pval *out);
/* Evaluate A(i, j) and A[i, j]. */
bool te_call_tensor(struct eval *ev, struct py_span at, const struct pval *of,
		    const struct call_args *args, struct pval *out);
bool te_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out);
/* Evaluate operators of Python on tensors. */
bool topi_binary(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool topi_unary(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
bool te_schedule_stage(struct eval *ev, struct py_span at,
		       const struct pval *of, const struct pval *index,
		       struct pval *out);

/* -- elements of buffers (buffers.c) */

/* buffer_load makes the expression of an element of b, buffer_store the
 * statement in f that assigns to such an element. index: one index for each
 * dimension, or a single index that counts the elements in row-major order.
 * Both return false after an error. */
bool buffer_load(struct eval *ev, struct py_span at, const struct buffer *b,
		 const struct pval *index, struct pval *out);
bool buffer_store(struct eval *ev, struct py_span at, struct func *f,
		  const struct buffer *b, const struct pval *index,
		  const struct pval *v, struct stmt **out);
/* Sets *out to the value v as a statement of f: a statement is taken as it is,
 * an expression becomes a statement that evaluates it. Returns false after an
 * error. */
bool value_stmt(struct eval *ev, struct py_span at, const struct pval *v,
		struct func *f, struct stmt **out);

/* -- statements (lib_ir_builder.c) */

/* POINTER: a buffer whose elements a program reads and assigns. An assignment
 * adds a store to the statements of the builder. */
struct pv_pointer {
	struct ir_builder *builder;
	const struct buffer *buffer;
};

/* Opens a scope of the builder. Returns false after an error if there are too
 * many. */
bool ir_builder_begin(struct eval *ev, struct py_span at, struct ir_builder *b,
		      const struct ir_scope *scope);
/* A value that points to a buffer. b: the builder to which stores to elements
 * are added; NULL: the program cannot assign to the elements. */
struct pval ir_pointer(struct eval *ev, struct ir_builder *b,
		       const struct buffer *buffer);
/* Allocates a buffer that lives until the end of the builder's scope. *out: a
 * POINTER. Returns false after an error. */
bool ir_builder_new_buffer(struct eval *ev, struct py_span at,
			   struct ir_builder *b, const struct buffer_spec *spec,
			   struct pval *out);
#define NAME(in, kind, name, params, function) name_fn function;
#include "te.def"
#undef NAME

extern const struct library te_library;
extern const struct kind_ops buffer_ops;
extern const struct kind_ops hybrid_ops;
extern const struct kind_ops ir_scope_ops;
extern const struct kind_ops pointer_ops;
extern const struct kind_ops reducer_ops;
extern const struct kind_ops tag_scope_ops;
extern const struct kind_ops te_schedule_ops;
extern const struct kind_ops tensor_ops;
extern const struct kind_ops tensor_part_ops;

#endif
