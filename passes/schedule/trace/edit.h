/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives share: handles, failing softly, the trace, and moving
 * blocks about. */
#ifndef TIRC_SCHED_EDIT_H
#define TIRC_SCHED_EDIT_H

#include "primitive.h"
#include "schedule.h"
#include "scope.h"

/* One primitive at work. */
struct edit {
	struct sched *s;
	struct func *f;
	struct module *m;
	const char *primitive;
	int checkpoint;
	struct sched_value decision; /* set by sampling primitives */
};

#define PRIMITIVE(name, kind, query, what, ...) primitive_fn prim_##name;
#define PRIMITIVE_PLAIN(name, kind, query, what) primitive_fn prim_##name;
#include "primitives.def"
#undef PRIMITIVE
#undef PRIMITIVE_PLAIN

/* Loops that sample_compute_location may give beside real ones: compute_at
 * then leaves the block where it is, or inlines it. */
enum { LOOP_ROOT = -1, LOOP_INLINE = -2 };

struct edit edit_begin(struct sched *s, const char *primitive);
/* Undoes what was done since edit_begin and reports; returns false. The
 * message says reason; remedy. */
bool edit_fail(struct edit *e, const char *fmt, ...) TIRC_PRINTF(2, 3);
/* The loops of a list argument, outermost first as given; arena array. NULL
 * after reporting. */
struct stmt **edit_loops(struct edit *e, const struct sched_value *list);

/* NULL after reporting if there is no such loop or block. */
struct stmt *edit_loop(struct edit *e, int id);
struct stmt *edit_block(struct edit *e, int id);

/* False after reporting if an instruction (tensorize) holds b's address: it
 * has been told b's strides. */
bool edit_unpinned(struct edit *e, const struct buffer *b);

#endif
