/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, expressions and functions of topi in programs, and the library te. */
#ifndef TIRC_TE_PARTS_H
#define TIRC_TE_PARTS_H

#include "ir_builder.h"
#include "library.h"
#include "te.h"

/* Registers the n outputs of a stage, which have this depth (te_remember): the value
 * of the only one, or their list. */
struct pval te_made(struct eval *ev, struct te_tensor *const *made, int n,
		    int depth, bool one);
/* Applies an operator of Python, or a function of topi, to whole tensors. */
bool topi_operator(struct eval *ev, struct py_span at, const char *op,
		   const struct pval *x, const struct pval *y,
		   struct pval *out);

/* Calls a function of ir/typed by its name. args: by parameter; those of *args
 * follow. */
bool expr_function(struct call *c, const char *name, const struct pval *args,
		   int n, struct pval *out);
/* Applies an operator of topi to the one or two arguments of the call, element by
 * element. */
bool topi_broadcast(struct call *c, const char *op, struct pval *out);
/* Gives the errors from index `first` on the position of the call: they are
 * about the node that a function of topi made. Returns false. */
bool topi_locate(struct call *c, int first);

/* Lowers a schedule of stages to a function; the second argument of the call
 * lists the parameters. */
bool stage_to_func(struct call *c, struct te_schedule *s, const char *name,
		   struct program_func *out);

/* The functions that library_te.c puts into te_library and into the struct kind_ops
 * of each kind: look-up of names, calls, subscripts, operators (library.h). */
const struct name_row *topi_find(struct eval *ev, uint64_t in, enum pv_kind of,
				 const char *name);
void topi_list(struct eval *ev, uint64_t in, enum pv_kind of,
	       struct pv_names *list);
bool te_call_reducer(struct eval *ev, struct py_span at, const struct pval *f,
		     const struct call_args *args, struct pval *out);
/* A(i, j) and A[i, j] */
bool te_call_tensor(struct eval *ev, struct py_span at, const struct pval *of,
		    const struct call_args *args, struct pval *out);
bool te_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out);
/* Operators of Python on tensors. */
bool topi_binary(struct eval *ev, struct py_span at, enum py_operator op,
		 const struct pval *x, const struct pval *y, struct pval *out);
bool topi_unary(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, struct pval *out);
bool te_schedule_stage(struct eval *ev, struct py_span at,
		       const struct pval *of, const struct pval *index,
		       struct pval *out);

/* -- elements of buffers (buffers.c) */

/* An element of b, and a statement of f that assigns it: by an index for each
 * dimension, or by one from the first element on. */
bool buffer_load(struct eval *ev, struct py_span at, const struct buffer *b,
		 const struct pval *index, struct pval *out);
bool buffer_store(struct eval *ev, struct py_span at, struct func *f,
		  const struct buffer *b, const struct pval *index,
		  const struct pval *v, struct stmt **out);
/* A value as a statement of f: a statement, or an expression that is
 * evaluated. */
bool value_stmt(struct eval *ev, struct py_span at, const struct pval *v,
		struct func *f, struct stmt **out);

/* -- statements (lib_ir_builder.c) */

/* POINTER: a buffer whose elements a program reads and assigns; an assignment
 * adds a store to the builder's statements. */
struct pv_pointer {
	struct ir_builder *builder;
	const struct buffer *buffer;
};

/* Opens a scope of the builder. False after an error if there are too many. */
bool ir_builder_begin(struct eval *ev, struct py_span at, struct ir_builder *b,
		      const struct ir_scope *scope);
/* A pointer to a buffer; b NULL: its elements cannot be assigned. */
struct pval ir_pointer(struct eval *ev, struct ir_builder *b,
		       const struct buffer *buffer);
/* Allocates a buffer up to the end of the builder's scope; *out: a POINTER. */
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
