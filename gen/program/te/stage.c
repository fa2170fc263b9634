/* SPDX-License-Identifier: Apache-2.0 */
/* TE's schedules of stages: te.create_schedule(C.op), s[C].split(…). Each
 * request of the program is checked against the loops of its stage and
 * recorded. stage_lower.c applies the recorded requests, consumers before
 * producers, so that the order of requests for different stages does not
 * matter. This file has the stages and the requests for whole stages;
 * stage_loops.c has the requests for loops. */
#include "stage.h"

/* -- the schedule -- */

static void
collect(struct eval *ev, struct te_schedule *s, struct te_stage *op)
{
	for (int i = 0; i < s->stages.n; i++) {
		if (s->stages.data[i]->op == op) {
			return;
		}
	}
	for (int i = 0; op->scan && i < op->n_out; i++) {
		if (op->scan->init[i]->stage) {
			collect(ev, s, op->scan->init[i]->stage);
		}
	}
	for (int i = 0; i < op->n_inputs; i++) {
		if (op->inputs[i]->stage) {
			collect(ev, s, op->inputs[i]->stage);
		}
	}
	for (int i = 0; op->scan && i < op->scan->n_body; i++) {
		collect(ev, s, op->scan->body[i]);
	}
	stage_add(ev, s, op, s->stages.n);
}

/* For a list of n tensors, the schedule's own copies of them. A tensor that no
 * stage computes, such as a placeholder or a state of a scan, has no copy: the
 * new list contains the tensor itself. */
static struct te_tensor **
own_tensors(struct eval *ev, const struct te_schedule *s,
	    struct te_tensor *const *from, int n)
{
	struct te_tensor **list = arena_array(ev->a, struct te_tensor *, n + 1);

	for (int i = 0; i < n; i++) {
		const struct stage *made = stage_of_buffer(s, from[i]->buffer);

		list[i] = made ? made->op->out[from[i]->index] : from[i];
	}
	return list;
}

/* Replaces op->scan, the scan of op, by a copy for this schedule. The stages of
 * the scan's steps were copied before. */
static void
own_scan(struct eval *ev, const struct te_schedule *s, struct te_stage *op)
{
	const struct te_scan *from = op->scan;
	struct te_scan *scan = arena_copy(ev->a, from, sizeof *from);

	scan->init = own_tensors(ev, s, from->init, op->n_out);
	scan->update = own_tensors(ev, s, from->update, op->n_out);
	scan->body = arena_array(ev->a, struct te_stage *, from->n_body + 1);
	for (int i = 0; i < from->n_body; i++) {
		scan->body[i] =
			stage_of_buffer(s, from->body[i]->out[0]->buffer)->op;
	}
	op->scan = scan;
}

/* Copies the program's stages for this schedule; a copy writes the same buffers
 * as the original. A schedule changes only its copies, so that a program may
 * have several schedules. */
static void
make_own(struct eval *ev, struct te_schedule *s)
{
	for (int i = 0; i < s->stages.n; i++) {
		struct te_stage *from = s->stages.data[i]->op;
		struct te_stage *op = arena_copy(ev->a, from, sizeof *from);

		op->out = arena_array(ev->a, struct te_tensor *, op->n_out);
		op->inputs = own_tensors(ev, s, from->inputs, op->n_inputs);
		for (int k = 0; k < op->n_out; k++) {
			op->out[k] = arena_copy(ev->a, from->out[k],
						sizeof *from->out[k]);
			op->out[k]->stage = op;
		}
		if (op->scan) {
			own_scan(ev, s, op);
		}
		s->stages.data[i]->op = op;
	}
}

struct te_schedule *
stage_copy_schedule(struct eval *ev, const struct te_schedule *s)
{
	struct te_schedule *copy = arena_new(ev->a, struct te_schedule);

	for (int i = 0; i < s->stages.n; i++) {
		const struct stage *st = s->stages.data[i];

		vec_push(ev->a, &copy->stages,
			 arena_copy(ev->a, st, sizeof *st));
	}
	make_own(ev, copy);
	copy->by_rules = s->by_rules;
	copy->target = s->target;
	return copy;
}

struct stage *
stage_of_buffer(const struct te_schedule *s, const struct buffer *b)
{
	for (int i = 0; i < s->stages.n; i++) {
		const struct te_stage *op = s->stages.data[i]->op;

		for (int k = 0; k < op->n_out; k++) {
			if (op->out[k]->buffer == b) {
				return s->stages.data[i];
			}
		}
	}
	return NULL;
}

const struct reduction *
stage_reduction(const struct te_stage *op)
{
	return op->kind == TE_COMPUTE && op->bodies[0]->kind == EXPR_REDUCE
		       ? op->bodies[0]->u.reduce
		       : NULL;
}

void
stage_reset(struct eval *ev, struct stage *st)
{
	const struct reduction *r = stage_reduction(st->op);

	st->leaves.n = 0;
	for (int i = 0; i < st->op->n_axes; i++) {
		vec_push(ev->a, &st->leaves,
			 pv_axis(ev, &st->op->axes[i]).u.axis);
	}
	for (int i = 0; r && i < r->n_axes; i++) {
		vec_push(ev->a, &st->leaves, pv_axis(ev, &r->axes[i]).u.axis);
	}
}

struct stage *
stage_add(struct eval *ev, struct te_schedule *s, struct te_stage *op,
	  int place)
{
	struct stage *st = arena_new(ev->a, struct stage);

	st->schedule = s;
	st->op = op;
	st->origin = op;
	stage_reset(ev, st);
	vec_push(ev->a, &s->stages, st);
	for (int i = s->stages.n - 1; i > place; i--) {
		s->stages.data[i] = s->stages.data[i - 1];
	}
	s->stages.data[place] = st;
	return st;
}

bool
stage_create_schedule(struct call *c, struct pval *out)
{
	struct te_schedule *s = arena_new(c->ev->a, struct te_schedule);
	struct te_tensor **ops;
	int n;

	if (!arg_tensors(c, 0, &ops, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!ops[i]->stage) {
			return call_error(c, 0,
					  "%s is a placeholder: there "
					  "is nothing to schedule",
					  ops[i]->buffer->name);
		}
		collect(c->ev, s, ops[i]->stage);
	}
	make_own(c->ev, s);
	for (int i = 0; i < n; i++) {
		stage_of_buffer(s, ops[i]->buffer)->is_output = true;
	}
	*out = (struct pval){ .kind = PV_TE_SCHEDULE, .u.te_schedule = s };
	return eval_tick(c->ev, c->span, s->stages.n);
}

/* Evaluates s[C] and s[C.op]. Returns false after an error. */
bool
te_schedule_stage(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out)
{
	struct stage *st;

	if (index->kind != PV_TENSOR && index->kind != PV_OP) {
		return eval_error(ev, at,
				  "a schedule has a stage for each tensor, and "
				  "%s is not a tensor",
				  pv_kind_name(index->kind));
	}
	st = stage_of_buffer(of->u.te_schedule, index->u.tensor->buffer);
	if (!st) {
		return eval_error(
			ev, at,
			index->u.tensor->stage
				? "%s is not computed in this schedule"
				: "%s is a placeholder: there is nothing to "
				  "schedule",
			index->u.tensor->buffer->name);
	}
	*out = (struct pval){ .kind = PV_STAGE, .u.stage = st };
	return true;
}

bool
stage_normalize(struct call *c, struct pval *out)
{
	*out = c->self;
	return true;
}

bool
stage_outputs(struct call *c, struct pval *out)
{
	const struct te_schedule *s = c->self.u.te_schedule;
	bool all = c->row->name[0] == 's';

	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < s->stages.n; i++) {
		struct stage *st = s->stages.data[i];
		struct pval v = { .kind = all ? PV_STAGE : PV_OP };

		if (all) {
			v.u.stage = st;
		} else {
			v.u.tensor = st->op->out[0];
		}
		if (all || st->is_output) {
			vec_push(c->ev->a, out->u.list, v);
		}
	}
	return true;
}

bool
stage_op(struct call *c, struct pval *out)
{
	*out = (struct pval){ .kind = PV_OP,
			      .depth = 1,
			      .u.tensor = c->self.u.stage->op->out[0] };
	return true;
}

/* s[C].axis and s[C].reduce_axis: the axes of the operation C. */
bool
stage_axis(struct call *c, struct pval *out)
{
	struct call of = *c;

	return stage_op(c, &of.self) && op_attribute(&of, out);
}

struct pval
stage_axes(struct eval *ev, enum pv_kind kind, struct axis *const *axes, int n)
{
	struct pval out = pv_list_of(ev, kind, NULL, 0);

	for (int i = 0; i < n; i++) {
		struct pval v = { .kind = PV_AXIS, .depth = 1 };

		v.u.axis = axes[i];
		vec_push(ev->a, out.u.list, v);
	}
	return out;
}

bool
stage_leaves(struct call *c, struct pval *out)
{
	const struct stage *st = c->self.u.stage;

	*out = stage_axes(c->ev, PV_LIST, st->leaves.data, st->leaves.n);
	return true;
}

/* -- requests -- */

int
stage_leaf(const struct stage *st, const struct axis *x)
{
	return vec_find(&st->leaves, x);
}

void
stage_event(struct eval *ev, struct stage *st, const struct event *e)
{
	ev->n_events++;
	vec_push(ev->a, &st->events, *e);
}

bool
stage_has_room(struct call *c)
{
	return c->ev->n_events < EVAL_MAX_EVENTS ||
	       call_error(c, -1, "more than %d schedule steps",
			  EVAL_MAX_EVENTS);
}

bool
stage_not_a_leaf(struct call *c, int i, const struct stage *st,
		 const struct axis *x)
{
	struct strbuf s;
	const char *why = "it belongs to another stage";

	for (int k = 0; k < st->events.n; k++) {
		const struct event *e = &st->events.data[k];

		if (e->kind == EVENT_SPLIT && e->axes[0] == x) {
			why = "it was split";
		}
		if (e->kind == EVENT_FUSE &&
		    (e->axes[0] == x || e->axes[1] == x)) {
			why = "it was fused";
		}
	}
	strbuf_init(&s);
	for (int k = 0; k < st->leaves.n; k++) {
		strbuf_printf(&s, "%s%s", k ? ", " : "",
			      st->leaves.data[k]->iv.var->name);
	}
	call_error(c, i, "%s is not a loop of %s now: %s; its loops are %s",
		   x->iv.var->name, st->op->name, why,
		   s.data ? s.data : "none");
	strbuf_release(&s);
	return false;
}

/* -- requests about the whole stage -- */

static bool
whole(struct call *c, struct event *e)
{
	if (!stage_has_room(c)) {
		return false;
	}
	e->span = c->span;
	stage_event(c->ev, c->self.u.stage, e);
	return true;
}

bool
stage_set_scope(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_SCOPE };

	*out = c->self;
	return arg_text(c, 0, &e.text) && whole(c, &e);
}

bool
stage_double_buffer(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_DOUBLE_BUFFER };

	(void)out;
	return whole(c, &e);
}

bool
stage_rolling_buffer(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_ROLLING };

	(void)out;
	return whole(c, &e);
}

bool
stage_storage_align(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_ALIGN };
	const struct stage *st = c->self.u.stage;
	int64_t factor, offset;
	struct sched_value v[3];

	(void)out;
	if (c->args[0].kind != PV_AXIS) {
		return value_kind_error(c, 0, "an axis of the stage");
	}
	if (!arg_int(c, 1, 1, INT32_MAX, &factor) ||
	    !arg_int(c, 2, 0, INT32_MAX, &offset)) {
		return false;
	}
	for (int d = 0; d < st->op->n_axes; d++) {
		if (st->op->axes[d].var == c->args[0].u.axis->iv.var) {
			v[0] = sv_int(d);
			v[1] = sv_int(factor);
			v[2] = sv_int(offset);
			e.value = sv_list(c->ev->m, v, 3);
			return whole(c, &e);
		}
	}
	return call_error(c, 0, "%s is not a dimension of %s",
			  c->args[0].u.axis->iv.var->name, st->op->name);
}

bool
stage_refuse(struct call *c, struct pval *out)
{
	(void)out;
	return call_error(c, -1,
			  "%s is not supported; bind the loops of the stages "
			  "one by one",
			  c->row->name);
}

/* -- where a stage is computed -- */

bool
stage_compute_at(struct call *c, struct pval *out)
{
	struct stage *st = c->self.u.stage, *parent;

	*out = c->self;
	if (c->args[0].kind != PV_STAGE) {
		return value_kind_error(c, 0, "a stage, as s[C] is");
	}
	parent = c->args[0].u.stage;
	if (parent->schedule != st->schedule || parent == st) {
		return call_error(c, 0,
				  "%s cannot be computed at itself or "
				  "in another schedule",
				  st->op->name);
	}
	if (c->args[1].kind != PV_AXIS) {
		return value_kind_error(c, 1, "an axis of the other stage");
	}
	if (stage_leaf(parent, c->args[1].u.axis) < 0) {
		return stage_not_a_leaf(c, 1, parent, c->args[1].u.axis);
	}
	if (st->is_output) {
		return call_error(c, -1,
				  "%s is an output: nothing after it "
				  "could compute it",
				  st->op->name);
	}
	st->attach = ATTACH_AT;
	st->at = parent;
	st->at_axis = c->args[1].u.axis;
	st->attach_span = c->span;
	return true;
}

bool
stage_compute_inline(struct call *c, struct pval *out)
{
	struct stage *st = c->self.u.stage;

	*out = c->self;
	if (st->is_output) {
		return call_error(c, -1,
				  "%s is an output and cannot be "
				  "inlined",
				  st->op->name);
	}
	if (stage_reduction(st->op)) {
		return call_error(c, -1,
				  "%s is a reduction and cannot be "
				  "inlined; compute it at a loop of what uses "
				  "it",
				  st->op->name);
	}
	st->attach = ATTACH_INLINE;
	st->attach_span = c->span;
	return true;
}

bool
stage_compute_root(struct call *c, struct pval *out)
{
	*out = c->self;
	c->self.u.stage->attach = ATTACH_ROOT;
	return true;
}
