/* SPDX-License-Identifier: Apache-2.0 */
/* Reads traces in the form of Python. */
#ifndef TIRC_TRACE_PYTHON_H
#define TIRC_TRACE_PYTHON_H

#include "trace.h"

/* Applies a text in the form that trace_print_python() writes: plain statements
 * on `sch`, or functions, of which the last one is called with the schedule.
 * The text is evaluated as a program, with the same limits of time and memory.
 * The text can use the names of the function's sizes, and T for constants. What
 * the text prints is dropped. Returns false after an error in the module's
 * diagnostics; the steps before the error stay applied. */
bool trace_read_python(struct sched *s, const struct source *src);
/* Does the same as trace_read_python(), but also accepts `x, = f()` if f
 * returns a single value that is not a list. Text that is generated from JSON
 * needs this, because JSON does not distinguish a single value from a list with
 * one element. */
bool trace_read_loosely(struct sched *s, const struct source *src);

#endif
