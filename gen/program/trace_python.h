/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as Python. */
#ifndef TIRC_TRACE_PYTHON_H
#define TIRC_TRACE_PYTHON_H

#include "trace.h"

/* Applies a text like that of trace_print_python: plain statements on `sch`, or
 * functions, of which the last one is called with the schedule. It is evaluated
 * as a program is, within the same limits of time and memory, with names for
 * the function's sizes, and T for constants; its output is dropped. False after
 * an error with position in the module's diagnostics; the steps before it stay
 * applied. */
bool trace_read_python(struct sched *s, const struct source *src);
/* The same, but `x, = f()` is also allowed if f returns one value that is not a
 * list: for text generated from a form that does not distinguish the two. */
bool trace_read_loosely(struct sched *s, const struct source *src);

#endif
