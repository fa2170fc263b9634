/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of functions as values of programs. Private to gen/program/. */
#ifndef TIRC_TIR_NODES_H
#define TIRC_TIR_NODES_H

#include "eval.h"
#include "program_parts.h"

/* The name of the statement's class in tvm.tir: "For". */
const char *stmt_class(const struct stmt *s);
/* Is it of the class with this name? Names of all releases are known. */
bool stmt_is_instance(const struct stmt *s, const char *name);
/* Applies a pass over PrimFuncs to each function of a module. */
bool tir_pass_apply(struct eval *ev, struct py_span at, const struct pval *pass,
		    const struct pval *module, struct pval *out);
/* Lowers f, a function of the module, with the passes that the PassContext around
 * adds (tir.add_lower_pass): those of number n run after phase n. */
bool tir_lower(struct eval *ev, struct py_span at, bool simple,
	       const struct pval *module, struct program_func *f);

#endif
