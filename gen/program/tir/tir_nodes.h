/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the kinds PASS, PASS_CONTEXT and STMT in programs: their structs, the
 * class names of statements, and the functions that apply passes to a module and
 * lower it. Private to gen/program/. */
#ifndef TIRC_TIR_NODES_H
#define TIRC_TIR_NODES_H

#include "eval.h"
#include "program_parts.h"

/* PASS: one of Relay's, a function of the program, or several of them. */
struct pv_pass {
	const char *name;
	int level;                   /* TVM's opt_level from which on it runs */
	const char *passes;          /* tirc's, "fold dead" */
	const char *words;           /* in a note, if there are none */
	const struct pval *backends; /* of AnnotateTarget: names */
	int n_backends;
	const struct pval
		*function; /* of the program: f(function or module, …) */
	bool of_module;    /* the function takes the whole module */
	const struct pval *list; /* of Sequential */
	int n_list;
	int n_all,
		depth; /* of Sequential: the passes in its lists, and those in
			   * their lists; how many lists are in each other */
};

/* PASS_CONTEXT: tvm.transform.PassContext. */
struct pv_pass_context {
	int level;
	const struct pval *disabled, *required; /* names */
	int n_disabled, n_required;
	/* tir.add_lower_pass: pairs of a phase and a pass */
	const struct pval *lower;
	int n_lower;
	bool disable_vectorize; /* tir.disable_vectorize */
	/* tir.UnrollLoop: the most statements of loops that are unrolled (0:
	 * none), and whether the copies are written out */
	int64_t unroll_steps;
	bool unroll_explicit;
};

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
