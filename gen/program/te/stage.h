/* SPDX-License-Identifier: Apache-2.0 */
/* TE's schedules of stages: the requests that a program makes for each stage.
 * They are applied when the function is lowered. Private to
 * gen/program/te/stage*.c. */
#ifndef TIRC_STAGE_H
#define TIRC_STAGE_H

#include "te_parts.h"

/* The kinds of requests that a schedule records; axes are those in event.axes,
 * `text` and value the members of struct event. */
enum event_kind {
	/* axes[0] becomes axes[1], axes[2]; factor: the extent of the inner
	 * loop, or nparts: of the outer one */
	EVENT_SPLIT,
	EVENT_FUSE,      /* axes[0], axes[1] become axes[2] */
	EVENT_REORDER,   /* all axes of the loop nest, in their new order */
	EVENT_BIND,      /* axes[0] becomes the thread `text` */
	EVENT_MARK,      /* axes[0] gets an annotation, by the primitive
			  * `text` */
	EVENT_TENSORIZE, /* axes[0] and the loops in it become the intrinsic
			  * `text` */
	EVENT_PRAGMA,    /* axes[0] gets a pragma: key `text`, and value */
	EVENT_PREFETCH,  /* in axes[0], prefetches of the tensors in `text`, "A,
			  * B" */
	EVENT_SCOPE,     /* the stage's buffer gets the memory scope `text` */
	EVENT_DOUBLE_BUFFER, /* of the stage */
	EVENT_ROLLING,       /* of the stage */
	EVENT_ALIGN /* the stage's buffer; value: a dimension, factor and
		     * offset */
};

/* A request that a program made for a stage, with its position there. */
struct event {
	enum event_kind kind;
	struct py_span span;
	struct axis **axes;
	int n;
	const struct expr *factor, *nparts;
	const struct axis *thread; /* EVENT_BIND: the program's thread axis */
	const char *text;
	struct sched_value value;
};

/* Where a stage is computed: in loops of its own, in the expressions that read
 * it, or in a loop of another stage. */
enum attach { ATTACH_ROOT, ATTACH_INLINE, ATTACH_AT };

struct stage {
	struct te_schedule *schedule;
	struct te_stage *op;       /* the computation in its current form, which
				    * caching changes */
	struct te_stage *origin;   /* as in the program */
	VEC(struct axis *) leaves; /* the current loops, outermost first */
	VEC(struct event) events;  /* the requests, in order */
	enum attach attach;
	/* ATTACH_AT: the stage, and its loop, in which this stage is
	 * computed */
	struct stage *at;
	struct axis *at_axis;
	struct py_span attach_span; /* where the program said where to compute
				     * the stage */
	bool is_output; /* the program passed it to te.create_schedule */
};

struct te_schedule {
	VEC(struct stage *) stages; /* producers first */
	/* The rules of default schedules (stage_rules.c) schedule the stages, if
	 * the program makes no request. */
	bool by_rules;
	/* the target that was named by a `with` around its making, or NULL */
	const struct pv_target *target;
};

/* The stage that computes a buffer, or NULL. */
struct stage *stage_of_buffer(const struct te_schedule *s,
			      const struct buffer *b);
/* Inserts a new stage that computes op at index `place`; returns it. */
struct stage *stage_add(struct eval *ev, struct te_schedule *s,
			struct te_stage *op, int place);
/* A copy of the schedule with stages of its own: the same loops and requests,
 * and computations that can be changed. */
struct te_schedule *stage_copy_schedule(struct eval *ev,
					const struct te_schedule *s);
/* Inlines stage i of the schedule into the stages that read it; it stays in
 * the list, and nothing reads it. False, with the reason in *why, if that is not
 * possible. */
bool stage_inline(struct module *m, struct te_schedule *s, int i,
		  const char **why);
/* Does the program leave all stages as they were made, to the rules? */
bool stage_left_to_rules(const struct te_schedule *s);
/* Schedules the function of such a schedule by the rules for the target of the
 * build, of the schedule, or the default one; adds their words to text. False
 * after an error. */
bool stage_apply_rules(struct call *c, const struct te_schedule *s,
		       struct func *f, struct strbuf *text);
/* Makes the axes of the stage its current loops, in order. */
void stage_reset(struct eval *ev, struct stage *st);
/* The reduction that a stage computes, or NULL. */
const struct reduction *stage_reduction(const struct te_stage *op);
/* The axes as a list or a tuple. */
struct pval stage_axes(struct eval *ev, enum pv_kind kind,
		       struct axis *const *axes, int n);
/* Appends a request to those of the stage. */
void stage_event(struct eval *ev, struct stage *st, const struct event *e);
/* The index of the axis x in the stage's current loops (leaves), or -1. */
int stage_leaf(const struct stage *st, const struct axis *x);
/* Is the number of requests below its limit? False after an error. */
bool stage_has_room(struct call *c);
/* Reports why axis x, argument i of the call, is not a current loop of the
 * stage: it was split, fused or belongs to another stage. Returns false. */
bool stage_not_a_leaf(struct call *c, int i, const struct stage *st,
		      const struct axis *x);

#endif
