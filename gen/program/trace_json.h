/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as JSON, in the form of TVM's Trace.as_json: a list of instructions
 * [kind, inputs, attributes, results] and one of decisions [instruction,
 * decision]. */
#ifndef TIRC_TRACE_JSON_H
#define TIRC_TRACE_JSON_H

#include "trace.h"

/* Writes the trace, without queries whose results are unused. SCRIPT_CURRENT
 * writes GetSBlock, as current TVM does, SCRIPT_OLD GetBlock. */
void trace_json_write(const struct sched *s, enum script_version version,
		      struct strbuf *out);
/* Applies the instructions with the recorded decisions. Reads both spellings,
 * and index maps in TVM's format or as the text of a lambda. False after an
 * error on the module's diags that names the instruction; earlier instructions
 * stay applied. */
bool trace_json_read(struct sched *s, const struct source *src);

#endif
