/* SPDX-License-Identifier: Apache-2.0 */
/* Applying a record to a kernel. */
#ifndef TIRC_RECORD_APPLY_H
#define TIRC_RECORD_APPLY_H

#include "records.h"
#include "schedule.h"

/* Applies the trace of the record, which has one, to the unscheduled kernel of s.
 * check: the last check of the scheduled kernel; `by` names the record; false
 * after a diagnostic. NULL, or why the record is not used: then s is
 * unchanged, and the module has no new errors. */
const char *
record_apply(struct module *m, const struct record *r, struct sched *s,
	     bool (*check)(void *ctx, const char *by, const struct func *f),
	     void *ctx);

/* The trace as statements on `sch` for --schedule-for, in the arena; NULL after a
 * diagnostic. */
const char *record_script(struct module *m, const struct record *r);

#endif
