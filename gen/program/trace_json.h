/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as JSON, in the form of TVM's Trace.as_json: a list of instructions
 * [kind, inputs, attributes, results] and one of decisions [instruction,
 * decision]. */
#ifndef TIRC_TRACE_JSON_H
#define TIRC_TRACE_JSON_H

#include "trace.h"

/* Without queries that nothing uses. SCRIPT_CURRENT writes GetSBlock, as TVM
 * does now, SCRIPT_OLD GetBlock. */
void trace_json_write(const struct sched *s, enum script_version version,
		      struct strbuf *out);
/* Applies the instructions; decisions are taken as they are. Both spellings,
 * index maps as TVM saves them or as the text of a lambda. False after an
 * error on the module's diags that names the instruction; those before it
 * stay applied. */
bool trace_json_read(struct sched *s, const struct source *src);

#endif
