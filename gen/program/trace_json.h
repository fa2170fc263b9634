/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as JSON, in the form of TVM's Trace.as_json: a list of instructions,
 * each [kind, inputs, attributes, results], and a list of decisions, each
 * [index of an instruction, decision]. */
#ifndef TIRC_TRACE_JSON_H
#define TIRC_TRACE_JSON_H

#include "trace.h"

/* Writes the trace, without instructions that only look up a block or loop
 * which is not used. SCRIPT_CURRENT writes GetSBlock, as current versions of
 * TVM do, SCRIPT_OLD writes GetBlock. */
void trace_json_write(const struct sched *s, enum script_version version,
		      struct strbuf *out);
/* Applies the instructions with the recorded decisions. Accepts the names
 * GetSBlock and GetBlock for the same instruction, and index maps in TVM's
 * saved form or as the text of a lambda. Returns false after a diagnostic that
 * names the failed instruction; the instructions before it stay applied. */
bool trace_json_read(struct sched *s, const struct source *src);

/* Appends the trace as Python statements on `sch`, in the form that
 * trace_read_python() reads. Returns false after a diagnostic. */
bool trace_json_python(struct module *m, const struct source *src,
		       struct strbuf *out);

#endif
