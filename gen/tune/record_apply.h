/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a record to a kernel. */
#ifndef TIRC_RECORD_APPLY_H
#define TIRC_RECORD_APPLY_H

#include "records.h"
#include "schedule.h"

/* Applies the trace of the record, which must have one, to the unscheduled
 * kernel of s. check: a last check of the scheduled kernel f, which returns
 * false after a diagnostic; `by` is the name of the record. Returns NULL, or
 * the reason why the record is not used; then s is unchanged, and the module
 * has no new errors. */
const char *
record_apply(struct module *m, const struct record *r, struct sched *s,
	     bool (*check)(void *ctx, const char *by, const struct func *f),
	     void *ctx);

/* The trace as Python statements on `sch`, for --schedule-for, in the arena.
 * Returns NULL after a diagnostic. */
const char *record_script(struct module *m, const struct record *r);

#endif
