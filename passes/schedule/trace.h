/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the steps of a schedule as text and done again. */
#ifndef TIRC_TRACE_H
#define TIRC_TRACE_H

#include "schedule.h"

/* "split(i, [4, 16])": loops and blocks by the names they have in f, arguments
 * that are as by default left out. In the module's arena. */
const char *trace_step_text(const struct func *f, const struct primitive *p,
			    const struct sched_value *args);
/* "lambda i, j: (j, i // 4, i % 4)" */
void index_map_print(struct module *m, const struct index_map *map,
		     struct strbuf *out);
bool sched_value_equal(const struct sched_value *a,
		       const struct sched_value *b);

#endif
