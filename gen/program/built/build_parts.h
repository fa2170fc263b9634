/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, targets, built functions and their arrays as values of programs. */
#ifndef TIRC_BUILD_PARTS_H
#define TIRC_BUILD_PARTS_H

#include "library.h"

/* Reads argument i of the call, which is a target or its text. Returns false
 * after an error. */
bool read_target(struct call *c, int i, struct pv_target *out);

/* A value of the evaluator that stands for TVM's array x, which is in the
 * memory of the processor. */
struct pval pv_nd_of(struct eval *ev, struct array *x);
/* Functions of struct kind_ops (library.h). */
bool module_function(struct eval *ev, struct py_span at, const struct pval *of,
		     const struct pval *name, struct pval *out);
bool module_set(struct eval *ev, struct py_span at, const struct pval *of,
		const struct pval *name, const struct pval *f);
bool nd_call(struct eval *ev, struct py_span at, const struct pval *f,
	     const struct call_args *args, struct pval *out);
/* Calls f, the result of time_evaluator, with the arguments, and sets *out to
 * the times. Returns false after an error. */
bool nd_time(struct eval *ev, struct py_span at, const struct pval *f,
	     const struct call_args *args, struct pval *out);
void nd_text(struct eval *ev, const struct pval *v, bool repr,
	     struct strbuf *out);
/* Appends the script of a function, a module, a schedule or a trace, as print
 * shows it. */
void pv_script_text(struct eval *ev, const struct pval *v, bool repr,
		    struct strbuf *out);

/* tvm.compile of functions; modules of relax are compiled by the library of models. */
name_fn build_compile;
#define NAME(in, kind, name, params, function) name_fn function;
#include "build.def"
#undef NAME

extern const struct library build_library;
extern const struct kind_ops built_ops;
extern const struct kind_ops device_ops;
extern const struct kind_ops func_ops;
extern const struct kind_ops irmodule_ops;
extern const struct kind_ops nd_ops;
extern const struct kind_ops script_ops; /* for SCHEDULE and TRACE */
extern const struct kind_ops target_ops;
extern const struct kind_ops timer_ops;

#endif
