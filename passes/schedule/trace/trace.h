/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the steps of a schedule as text, read back, and replayed. */
#ifndef TIRC_TRACE_H
#define TIRC_TRACE_H

#include "python.h"
#include "schedule.h"

/* The text of a step, "split(i, [4, 16])", with the names of loops and blocks
 * in f, and without arguments that are equal to their defaults. In the module's
 * arena. */
const char *trace_step_text(const struct func *f, const struct primitive *p,
			    const struct sched_value *args);
/* Prints an index map: "lambda i0, i1: (i1, i0 // 4, i0 % 4)". */
void index_map_print(struct module *m, const struct index_map *map,
		     struct strbuf *out);

/* Applies n steps with their recorded decisions. The steps were recorded for
 * this function, or for a function whose blocks and loops have the same names
 * and nesting. False after the first step that fails, which is reported in
 * s->diags with its number; the steps before it stay applied. */
bool sched_replay(struct sched *s, const struct sched_step *steps, int n);

/* The step that returned a handle or a sampled value, and the index of the
 * result. If several of the kept steps returned the handle, this is the first
 * of them. */
struct trace_name {
	int step, result;
	/* the name of a result, "b0", "l1", "v2": numbered over all results */
	const char *text;
};

/* Names of all results of a schedule's steps. */
struct trace_names {
	struct arena *arena;
	/* by handle: the name; its text is NULL if no kept step returned the
	 * handle */
	VEC(struct trace_name) of_id;
	/* by index of a sample in s->samples: its name */
	VEC(struct trace_name) of_var;
	/* the names of results, over all steps */
	VEC(const char *) of_result;
	VEC(int) first_result; /* by step */
};

/* Sets keep[i] to whether step i changes the function, or a kept step uses a
 * result of step i. */
void trace_live(const struct sched *s, bool *keep);
/* Gives names with consecutive numbers to the results of the steps with keep[i]
 * set. */
void trace_name_all(const struct sched *s, const bool *keep,
		    struct trace_names *out);
/* The name of the handle `id`; NULL if no kept step returned it. */
const char *trace_handle(const struct trace_names *names, int id);
/* The number of a step's results: 1, or the number of items of a list. */
int trace_n_results(const struct sched_step *step);
/* The expression e with variables named as in the trace for sampled values. */
const struct expr *trace_expr(const struct sched *s,
			      const struct trace_names *names,
			      const struct expr *e);

/* The index map with the trace's names for the variables of sampled values in
 * it; the map itself if it contains no sampled values. */
const struct index_map *trace_map(const struct sched *s,
				  const struct trace_names *names,
				  const struct index_map *map);

/* Prints the trace as a Python function, as TVM's trace.show() does, without
 * queries whose results are not used:
 *
 *   def apply_schedule(sch):
 *       b0 = sch.get_block(name="C", func_name="main")
 *       l1, l2, l3 = sch.get_loops(block=b0) */
void trace_print_python(const struct sched *s, enum script_version version,
			struct strbuf *out);
#endif
