/* SPDX-License-Identifier: Apache-2.0 */
/* Passes, pass contexts and statements as values of programs: their structs,
 * the class names of statements, and the functions that apply passes to a
 * module and lower it. Private to gen/program/. */
#ifndef TIRC_TIR_NODES_H
#define TIRC_TIR_NODES_H

#include "eval.h"
#include "program_parts.h"

/* PASS: a pass of Relay or Relax, a pass that the program defines, or a list of
 * passes. */
struct pv_pass {
	const char *name;
	/* the least opt_level of TVM at which it runs */
	int level;
	/* the graph passes with the same effect, "fold dead" */
	const char *passes;
	/* the words of a note to the user if `passes` is empty */
	const char *words;
	const struct pval *backends; /* AnnotateTarget: names of backends */
	int n_backends;
	/* the program's function f(function or module, …), or NULL */
	const struct pval *function;
	bool of_module; /* the function takes a module, and not a function */
	const struct pval *list; /* Sequential: the passes in its list */
	int n_list;
	/* Sequential: the number of passes in its list and in all lists inside
	 * of it, and the nesting depth of these lists */
	int n_all, depth;
};

/* PASS_CONTEXT: the settings of a tvm.transform.PassContext. */
struct pv_pass_context {
	int level;
	const struct pval *disabled, *required; /* names of passes */
	int n_disabled, n_required;
	/* objects whose methods are called around passes */
	const struct pval *instruments;
	int n_instruments;
	/* tir.add_lower_pass: pairs of a phase and a pass that runs after it */
	const struct pval *lower;
	int n_lower;
	bool disable_vectorize; /* tir.disable_vectorize */
	/* tir.UnrollLoop: loops with at most this many statements are unrolled
	 * (0: none); and whether the copies are written out in the source. */
	int64_t unroll_steps;
	bool unroll_explicit;
};

/* The name of the statement's class in tvm.tir, such as "For". */
const char *stmt_class(const struct stmt *s);
/* Does the statement belong to the class with this name? The names of all
 * releases of TVM are known. */
bool stmt_is_instance(const struct stmt *s, const char *name);
/* Applies a pass over PrimFuncs to each function of a module. Returns false
 * after an error. */
bool tir_pass_apply(struct eval *ev, struct py_span at, const struct pval *pass,
		    const struct pval *module, struct pval *out);
/* Lowers f, a function of the module, and runs the passes that the enclosing
 * PassContext adds (tir.add_lower_pass): a pass with number n runs after phase
 * n. Returns false after an error. */
bool tir_lower(struct eval *ev, struct py_span at, bool simple,
	       const struct pval *module, struct program_func *f);

#endif
