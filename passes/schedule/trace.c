/* SPDX-License-Identifier: Apache-2.0 */
/* The trace as text, one step a line. */
#include "schedule.h"

void
sched_print_trace(const struct sched *s, struct strbuf *out)
{
	for (int i = 0; i < s->trace.n; i++) {
		strbuf_printf(out, "%s\n", s->trace.data[i].text);
	}
}
