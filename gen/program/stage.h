/* SPDX-License-Identifier: Apache-2.0 */
/* TE's schedules: the requests for each stage, which are applied to the
 * function when it is lowered. Private to gen/program/stage*.c. */
#ifndef TIRC_STAGE_H
#define TIRC_STAGE_H

#include "eval.h"
#include "program_parts.h"

enum event_kind {
	EVENT_SPLIT,     /* axes[0] -> axes[1], axes[2] by factor or nparts */
	EVENT_FUSE,      /* axes[0], axes[1] -> axes[2] */
	EVENT_REORDER,   /* axes */
	EVENT_BIND,      /* axes[0] to text */
	EVENT_MARK,      /* axes[0] by the primitive text */
	EVENT_TENSORIZE, /* axes[0] with the intrinsic text */
	EVENT_PRAGMA,    /* axes[0], key text, value */
	EVENT_PREFETCH,  /* axes[0], names text: "A, B" */
	EVENT_SCOPE,
	EVENT_DOUBLE_BUFFER,
	EVENT_ROLLING,
	EVENT_ALIGN /* axes[0], factor, offset in value */
};

/* One request, with its place in the program. */
struct event {
	enum event_kind kind;
	struct py_span span;
	struct axis **axes;
	int n;
	const struct expr *factor, *nparts;
	const char *text;
	struct sched_value value;
};

enum attach { ATTACH_ROOT, ATTACH_INLINE, ATTACH_AT };

struct stage {
	struct te_schedule *schedule;
	struct te_stage *op;       /* the current one: caching rewrites it */
	struct te_stage *origin;   /* the program's */
	VEC(struct axis *) leaves; /* outermost first */
	VEC(struct event) events;
	enum attach attach;
	struct stage *at;
	struct axis *at_axis;
	struct py_span attach_span;
	bool is_output;
};

struct te_schedule {
	VEC(struct stage *) stages; /* producers first */
};

/* The stage that computes a tensor's buffer; NULL: none. */
struct stage *stage_of_buffer(const struct te_schedule *s,
			      const struct buffer *b);
/* Adds a stage for op, at a place in the order. */
struct stage *stage_add(struct eval *ev, struct te_schedule *s,
			struct te_stage *op, int place);
/* Sets the leaves to the op's axes. */
void stage_reset(struct eval *ev, struct stage *st);
/* The reduction of a stage, or NULL. */
const struct reduction *stage_reduction(const struct te_stage *op);
void stage_event(struct eval *ev, struct stage *st, const struct event *e);
/* The index of x among the leaves; -1: it is none. */
int stage_leaf(const struct stage *st, const struct axis *x);
/* False, with a message, if the program makes too many requests. */
bool stage_has_room(struct call *c);
/* Reports why the call's argument i, the axis x, is no loop of the stage. */
bool stage_not_a_leaf(struct call *c, int i, const struct stage *st,
		      const struct axis *x);

#endif
