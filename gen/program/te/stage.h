/* SPDX-License-Identifier: Apache-2.0 */
/* TE's schedules of stages: the requests that a program makes for each stage.
 * Lowering applies them. Private to gen/program/te/stage*.c. */
#ifndef TIRC_STAGE_H
#define TIRC_STAGE_H

#include "te_parts.h"

/* The kinds of requests that a schedule records. axes, text and value are
 * members of struct event. */
enum event_kind {
	/* Splits axes[0] into axes[1] and axes[2]. factor: the extent of the
	 * inner loop; or nparts: that of the outer loop. */
	EVENT_SPLIT,
	EVENT_FUSE,    /* fuses axes[0] and axes[1] to axes[2] */
	EVENT_REORDER, /* all axes of the loop nest in their new order */
	EVENT_BIND,    /* binds axes[0] to the thread `text` */
	EVENT_MARK,    /* annotates axes[0] by the primitive `text` */
	/* replaces axes[0] and the loops inside by the intrinsic `text` */
	EVENT_TENSORIZE,
	EVENT_PRAGMA, /* gives axes[0] the pragma `text` with a value */
	/* prefetches the tensors in `text`, "A, B", in the loop axes[0] */
	EVENT_PREFETCH,
	/* moves the stage's buffer to the memory scope `text` */
	EVENT_SCOPE,
	EVENT_DOUBLE_BUFFER, /* doubles the stage's buffer */
	EVENT_ROLLING,       /* makes the stage's buffer a rolling buffer */
	/* aligns a dimension of the stage's buffer; value: dimension, factor,
	 * offset */
	EVENT_ALIGN
};

/* An operation that the program requests for a stage, with the position of the
 * request in the program. */
struct event {
	enum event_kind kind;
	struct py_span span;
	struct axis **axes;
	int n;
	const struct expr *factor, *nparts;
	/* EVENT_BIND: the thread axis of the program */
	const struct axis *thread;
	const char *text;
	struct sched_value value;
};

/* Where a stage is computed: in a loop nest of its own, in the expressions that
 * read it, or in a loop of another stage. */
enum attach { ATTACH_ROOT, ATTACH_INLINE, ATTACH_AT };

struct stage {
	struct te_schedule *schedule;
	/* the computation, which caching may change */
	struct te_stage *op;
	struct te_stage *origin; /* the computation in the program */
	/* the loops of the stage at present, outermost first */
	VEC(struct axis *) leaves;
	/* the requests in the order in which the program made them */
	VEC(struct event) events;
	enum attach attach;
	/* ATTACH_AT: the stage and its loop in which this stage is computed */
	struct stage *at;
	struct axis *at_axis;
	/* the position of the request that set `attach` */
	struct py_span attach_span;
	bool is_output; /* the stage is an argument of te.create_schedule */
};

struct te_schedule {
	VEC(struct stage *) stages; /* each stage after those that it reads */
	/* If the program makes no requests, the rules of default schedules
	 * schedule the stages (stage_rules.c). */
	bool by_rules;
	/* the target of the `with` around te.create_schedule, or NULL */
	const struct pv_target *target;
};

/* The stage that computes a buffer, or NULL. */
struct stage *stage_of_buffer(const struct te_schedule *s,
			      const struct buffer *b);
/* Adds a stage that computes op to s->stages at index `place`, and returns the
 * stage. */
struct stage *stage_add(struct eval *ev, struct te_schedule *s,
			struct te_stage *op, int place);
/* A copy of the schedule with the same loops and requests. It has stages of its
 * own, whose computations may be changed. */
struct te_schedule *stage_copy_schedule(struct eval *ev,
					const struct te_schedule *s);
/* Inlines stage i of the schedule into the stages that read it. The stage stays
 * in the list, but no stage reads it. Returns false, with the reason in *why,
 * if that is not possible. */
bool stage_inline(struct module *m, struct te_schedule *s, int i,
		  const char **why);
/* Should the rules make this schedule? They should if the program asked for
 * that and requested nothing else. */
bool stage_left_to_rules(const struct te_schedule *s);
/* Schedules f, the function of a schedule that the program leaves to the rules.
 * The target is the first of these that is given: --target, the target of the
 * enclosing `with`, the target of the schedule; or else the default target.
 * Appends the words of the rules to `text`. Returns false after an error. */
bool stage_apply_rules(struct call *c, const struct te_schedule *s,
		       struct func *f, struct strbuf *text);
/* Sets the stage's present loops to its axes in order. */
void stage_reset(struct eval *ev, struct stage *st);
/* The reduction that the stage computes, or NULL. */
const struct reduction *stage_reduction(const struct te_stage *op);
/* A list or a tuple of the axes. */
struct pval stage_axes(struct eval *ev, enum pv_kind kind,
		       struct axis *const *axes, int n);
/* Appends a request to the requests of the stage. */
void stage_event(struct eval *ev, struct stage *st, const struct event *e);
/* The index of the axis x among the stage's present loops (leaves), or -1. */
int stage_leaf(const struct stage *st, const struct axis *x);
/* May the program make one more request for a stage? Returns false after an
 * error otherwise. */
bool stage_has_room(struct call *c);
/* Reports why axis x, argument i of the call, is not a loop that the stage has
 * now: x was split or fused, or belongs to another stage. Returns false. */
bool stage_not_a_leaf(struct call *c, int i, const struct stage *st,
		      const struct axis *x);

#endif
