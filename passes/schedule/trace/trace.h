/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the steps of a schedule as text, read and done again. */
#ifndef TIRC_TRACE_H
#define TIRC_TRACE_H

#include "python.h"
#include "schedule.h"

/* "split(i, [4, 16])": loops and blocks by the names they have in f, arguments
 * that are as by default left out. In the module's arena. */
const char *trace_step_text(const struct func *f, const struct primitive *p,
			    const struct sched_value *args);
/* "lambda i0, i1: (i1, i0 // 4, i0 % 4)" */
void index_map_print(struct module *m, const struct index_map *map,
		     struct strbuf *out);

/* Applies steps recorded on the same function, or on another with blocks and
 * loops of the same names and nesting, with their decisions. False after the
 * first that fails, reported on s->diags with its number; the steps before
 * stay applied. */
bool sched_replay(struct sched *s, const struct sched_step *steps, int n);

/* Which step gave a handle or a sampled value, and as which of its results.
 * A handle that several steps kept gave is the first one's. */
struct trace_name {
	int step, result;
	const char *text; /* "b0", "l1", "v2": numbered over all results */
};

/* Names of everything that the steps of a schedule give. */
struct trace_names {
	struct arena *arena;
	VEC(struct trace_name) of_id;  /* by handle; text NULL: none */
	VEC(struct trace_name) of_var; /* by the place in s->samples */
	VEC(const char *) of_result;   /* of all steps, one after another */
	VEC(int) first_result;         /* by step */
};

/* keep[i]: step i changes the function, or gives what a kept one uses. */
void trace_live(const struct sched *s, bool *keep);
/* Names for the steps kept; numbers run without holes. */
void trace_name_all(const struct sched *s, const bool *keep,
		    struct trace_names *out);
/* NULL: no step gave it. */
const char *trace_handle(const struct trace_names *names, int id);
/* The results of a step: one, or the items of a list. */
int trace_n_results(const struct sched_step *step);
/* The expression with the names of sampled values. */
const struct expr *trace_expr(const struct sched *s,
			      const struct trace_names *names,
			      const struct expr *e);

/* The trace as a Python function, as TVM's trace.show() writes it, without
 * queries that nothing uses:
 *
 *   def apply_schedule(sch):
 *       b0 = sch.get_block(name="C", func_name="main")
 *       l1, l2, l3 = sch.get_loops(block=b0)
 */
void trace_print_python(const struct sched *s, enum script_version version,
			struct strbuf *out);
/* Applies such a function, or plain statements on `sch`: calls, names, tuples,
 * subscripts by constants, arithmetic on sampled values, lambdas as index
 * maps. False after an error with position on the module's diags; steps
 * before it stay applied. */
bool trace_read_python(struct sched *s, const struct source *src);
/* The same where `x, = f()` is written also for an f that gives one value and
 * no list: made from a form that does not tell them apart. */
bool trace_read_loosely(struct sched *s, const struct source *src);

#endif
