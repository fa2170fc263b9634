/* SPDX-License-Identifier: Apache-2.0 */
/* TE's stage form: te.create_schedule(C.op), s[C].split(…). Each request is
 * checked against the stage's loops at once and kept; stage_lower.c applies
 * them, consumers first, so that their order between stages does not matter.
 */
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

/* Ours of these tensors where there is one; a scan's states are nobody's. */
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

/* The steps of a scan are stages of ours, which come before it. */
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

/* Copies of the stages that share buffers with the program's, so that one
 * program may have several schedules and each may rewrite its own. */
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

/* s[C], s[C.op] */
bool
te_schedule_stage(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out)
{
	struct stage *st;

	if (index->kind != PV_TENSOR && index->kind != PV_OP) {
		return eval_error(ev, at,
				  "a schedule has a stage for each "
				  "tensor; %s is none",
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

bool
stage_leaves(struct call *c, struct pval *out)
{
	const struct stage *st = c->self.u.stage;

	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < st->leaves.n; i++) {
		struct pval v = { .kind = PV_AXIS, .depth = 1 };

		v.u.axis = st->leaves.data[i];
		vec_push(c->ev->a, out->u.list, v);
	}
	return true;
}

/* -- requests -- */

int
stage_leaf(const struct stage *st, const struct axis *x)
{
	for (int i = 0; i < st->leaves.n; i++) {
		if (st->leaves.data[i] == x) {
			return i;
		}
	}
	return -1;
}

void
stage_event(struct eval *ev, struct stage *st, const struct event *e)
{
	ev->n_events++;
	vec_push(ev->a, &st->events, *e);
}

static bool
room_for_events(struct call *c)
{
	return c->ev->n_events < EVAL_MAX_EVENTS ||
	       call_error(c, -1, "more than %d schedule steps",
			  EVAL_MAX_EVENTS);
}

static bool
not_a_leaf(struct call *c, int i, const struct stage *st, const struct axis *x)
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
	call_error(c, i, "%s is no loop of %s now: %s; its loops are %s",
		   x->iv.var->name, st->op->name, why,
		   s.data ? s.data : "none");
	strbuf_release(&s);
	return false;
}

/* One loop of the stage. */
static bool
arg_leaf(struct call *c, int i, struct axis **out)
{
	struct stage *st = c->self.u.stage;

	if (c->args[i].kind != PV_AXIS) {
		return value_kind_error(c, i, "an axis of the stage");
	}
	*out = c->args[i].u.axis;
	return stage_leaf(st, *out) >= 0 || not_a_leaf(c, i, st, *out);
}

static struct axis *
derived(struct call *c, const struct axis *from, const char *suffix,
	const struct expr *extent)
{
	struct iter_var iv = { .kind = from->iv.kind };

	iv.var = var_new(c->ev->m,
			 arena_printf(c->ev->a, "%s_%s", from->iv.var->name,
				      suffix),
			 extent->type);
	iv.min = expr_int(c->ev->m, extent->type, 0);
	iv.extent = extent;
	return pv_axis(c->ev, &iv).u.axis;
}

static const struct expr *
ceil_div(struct module *m, const struct expr *a, const struct expr *b)
{
	int64_t x, y;

	if (expr_is_int(a, &x) && expr_is_int(b, &y)) {
		return expr_int(m, a->type, x / y + (x % y != 0));
	}
	return expr_floordiv(m,
			     expr_add(m, a,
				      expr_sub(m, b, expr_int(m, b->type, 1))),
			     b);
}

/* A factor: positive, of the axis' type. */
static bool
arg_factor(struct call *c, int i, const struct axis *x, const struct expr **out)
{
	const struct expr *extent = x->iv.extent;
	int64_t v;
	int depth;

	if (!arg_expr(c, i, out, &depth)) {
		return false;
	}
	if (!dtype_is_int((*out)->type) || depth > 100) {
		return value_kind_error(c, i, "an int");
	}
	if (!expr_is_int(*out, &v)) {
		return call_error(c, i, "a loop is split by a number");
	}
	if (v < 1 || v > INT32_MAX) {
		return call_error(c, i, "a loop cannot be split by %lld",
				  (long long)v);
	}
	*out = expr_int(c->ev->m, extent->type, v);
	return true;
}

static bool
split(struct call *c, struct axis *x, const struct expr *factor,
      const struct expr *nparts, struct axis **outer, struct axis **inner)
{
	struct eval *ev = c->ev;
	struct stage *st = c->self.u.stage;
	struct event e = { .kind = EVENT_SPLIT,
			   .span = c->span,
			   .n = 3,
			   .factor = factor,
			   .nparts = nparts };
	int at = stage_leaf(st, x);

	if (!room_for_events(c)) {
		return false;
	}
	*outer = derived(c, x, "outer",
			 nparts ? nparts
				: ceil_div(ev->m, x->iv.extent, factor));
	*inner = derived(c, x, "inner",
			 factor ? factor
				: ceil_div(ev->m, x->iv.extent, nparts));
	vec_push(ev->a, &st->leaves, NULL);
	for (int i = st->leaves.n - 1; i > at + 1; i--) {
		st->leaves.data[i] = st->leaves.data[i - 1];
	}
	st->leaves.data[at] = *outer;
	st->leaves.data[at + 1] = *inner;
	e.axes = arena_array(ev->a, struct axis *, 3);
	e.axes[0] = x;
	e.axes[1] = *outer;
	e.axes[2] = *inner;
	stage_event(ev, st, &e);
	return true;
}

static struct pval
axis_pair(struct eval *ev, struct axis *const *axes, int n)
{
	struct pval out = pv_list_of(ev, PV_TUPLE, NULL, 0);

	for (int i = 0; i < n; i++) {
		struct pval v = { .kind = PV_AXIS, .depth = 1 };

		v.u.axis = axes[i];
		vec_push(ev->a, out.u.list, v);
	}
	return out;
}

bool
stage_split(struct call *c, struct pval *out)
{
	const struct expr *factor = NULL, *nparts = NULL;
	struct axis *x, *made[2];

	if (!arg_leaf(c, 0, &x)) {
		return false;
	}
	if (arg_given(c, 1) == arg_given(c, 2)) {
		return call_error(c, -1,
				  "split() takes either factor or "
				  "nparts");
	}
	if ((arg_given(c, 1) && !arg_factor(c, 1, x, &factor)) ||
	    (arg_given(c, 2) && !arg_factor(c, 2, x, &nparts)) ||
	    !split(c, x, factor, nparts, &made[0], &made[1])) {
		return false;
	}
	*out = axis_pair(c->ev, made, 2);
	return true;
}

/* Puts the loops given into that order, in the places that they have. */
static bool
reorder(struct call *c, struct axis *const *axes, int n)
{
	struct stage *st = c->self.u.stage;
	struct event e = { .kind = EVENT_REORDER, .span = c->span, .n = n };
	int next = 0;

	if (!room_for_events(c)) {
		return false;
	}
	for (int i = 0; i < st->leaves.n; i++) {
		bool given = false;

		for (int k = 0; k < n; k++) {
			given |= axes[k] == st->leaves.data[i];
		}
		if (given) {
			st->leaves.data[i] = axes[next++];
		}
	}
	e.axes = arena_copy(c->ev->a, axes, sizeof *axes * (size_t)n);
	stage_event(c->ev, st, &e);
	return true;
}

bool
stage_tile(struct call *c, struct pval *out)
{
	const struct expr *fx, *fy;
	struct axis *x, *y, *made[4];

	if (!arg_leaf(c, 0, &x) || !arg_leaf(c, 1, &y) ||
	    !arg_factor(c, 2, x, &fx) || !arg_factor(c, 3, y, &fy)) {
		return false;
	}
	if (x == y) {
		return call_error(c, 1, "a tile needs two loops");
	}
	if (!split(c, x, fx, NULL, &made[0], &made[2]) ||
	    !split(c, y, fy, NULL, &made[1], &made[3]) ||
	    !reorder(c, made, 4)) {
		return false;
	}
	*out = axis_pair(c->ev, made, 4);
	return true;
}

static bool
arg_leaves(struct call *c, struct axis ***axes, int *n)
{
	const struct pv_list *list = c->args[0].u.list;
	struct stage *st = c->self.u.stage;

	*axes = arena_array(c->ev->a, struct axis *, list->n + 1);
	*n = list->n;
	for (int i = 0; i < list->n; i++) {
		if (list->data[i].kind != PV_AXIS) {
			return call_error(c, 0,
					  "%s() takes axes of the "
					  "stage, not %s",
					  c->row->name,
					  pv_kind_name(list->data[i].kind));
		}
		(*axes)[i] = list->data[i].u.axis;
		if (stage_leaf(st, (*axes)[i]) < 0) {
			return not_a_leaf(c, 0, st, (*axes)[i]);
		}
		for (int k = 0; k < i; k++) {
			if ((*axes)[k] == (*axes)[i]) {
				return call_error(c, 0, "%s is given twice",
						  (*axes)[i]->iv.var->name);
			}
		}
	}
	return true;
}

bool
stage_reorder(struct call *c, struct pval *out)
{
	struct axis **axes;
	int n;

	(void)out;
	return arg_leaves(c, &axes, &n) && reorder(c, axes, n);
}

bool
stage_fuse(struct call *c, struct pval *out)
{
	struct stage *st = c->self.u.stage;
	struct axis **axes, *fused;
	int n;

	if (!arg_leaves(c, &axes, &n) || !room_for_events(c)) {
		return false;
	}
	if (n == 0) {
		return call_error(c, -1, "fuse() of no loops");
	}
	fused = axes[0];
	for (int i = 1; i < n; i++) {
		struct event e = { .kind = EVENT_FUSE,
				   .span = c->span,
				   .n = 3 };
		int at = stage_leaf(st, fused);
		const struct expr *extent;
		struct axis *made;

		if (at + 1 >= st->leaves.n ||
		    st->leaves.data[at + 1] != axes[i]) {
			return call_error(c, 0,
					  "%s does not stand right "
					  "inside of %s; reorder the loops "
					  "first",
					  axes[i]->iv.var->name,
					  fused->iv.var->name);
		}
		if ((fused->iv.kind == ITER_REDUCE) !=
		    (axes[i]->iv.kind == ITER_REDUCE)) {
			return call_error(c, 0,
					  "%s and %s are not of one "
					  "kind: one of them is reduced over",
					  fused->iv.var->name,
					  axes[i]->iv.var->name);
		}
		extent = expr_mul(c->ev->m, fused->iv.extent,
				  axes[i]->iv.extent);
		made = derived(c, fused,
			       arena_printf(c->ev->a, "%s_fused",
					    axes[i]->iv.var->name),
			       extent);
		e.axes = arena_array(c->ev->a, struct axis *, 3);
		e.axes[0] = fused;
		e.axes[1] = axes[i];
		e.axes[2] = made;
		st->leaves.data[at] = made;
		for (int k = at + 1; k + 1 < st->leaves.n; k++) {
			st->leaves.data[k] = st->leaves.data[k + 1];
		}
		st->leaves.n--;
		stage_event(c->ev, st, &e);
		fused = made;
	}
	*out = (struct pval){ .kind = PV_AXIS, .depth = 1, .u.axis = fused };
	return true;
}

/* A request about one loop, which is argument i. */
static bool
one_loop_at(struct call *c, int i, struct event *e)
{
	struct axis *x = NULL;

	if (!arg_leaf(c, i, &x) || !room_for_events(c)) {
		return false;
	}
	e->span = c->span;
	e->axes = arena_array(c->ev->a, struct axis *, 1);
	e->axes[0] = x;
	e->n = 1;
	stage_event(c->ev, c->self.u.stage, e);
	return true;
}

static bool
one_loop(struct call *c, struct event *e)
{
	return one_loop_at(c, 0, e);
}

bool
stage_mark(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_MARK, .text = c->row->name };

	(void)out;
	return one_loop(c, &e);
}

bool
stage_bind(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_BIND };
	const struct axis *t = c->args[1].u.axis;
	int64_t have, want;

	(void)out;
	if (c->args[1].kind != PV_THREAD) {
		return value_kind_error(c, 1, "a te.thread_axis");
	}
	if (t->iv.extent && c->args[0].kind == PV_AXIS &&
	    expr_is_int(t->iv.extent, &want) &&
	    expr_is_int(c->args[0].u.axis->iv.extent, &have) && have != want) {
		return call_error(c, 1,
				  "the loop has %lld iterations, the "
				  "thread axis %lld",
				  (long long)have, (long long)want);
	}
	e.text = t->thread;
	return one_loop(c, &e);
}

bool
stage_tensorize(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_TENSORIZE };

	(void)out;
	if (c->args[1].kind == PV_STRING) {
		e.text = c->args[1].u.text.data;
		if (!schedule_instruction(c->ev, e.text)) {
			return false;
		}
	} else if (c->args[1].kind == PV_INTRIN) {
		e.text = c->args[1].u.intrin->name;
	} else {
		return value_kind_error(c, 1, "a tensor intrinsic");
	}
	return one_loop(c, &e);
}

bool
stage_pragma(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_PRAGMA, .value = sv_int(1) };
	const struct pval *v = &c->args[2];

	(void)out;
	if (!arg_text(c, 1, &e.text)) {
		return false;
	}
	if (arg_given(c, 2)) {
		if (v->kind != PV_INT && v->kind != PV_STRING &&
		    v->kind != PV_BOOL) {
			return value_kind_error(c, 2, "a number or a text");
		}
		e.value = v->kind == PV_STRING
				  ? sv_string(v->u.text.data)
				  : sv_int(v->kind == PV_INT ? v->u.ival
							     : v->u.boolean);
	}
	return one_loop(c, &e);
}

static bool
is_read(const struct te_schedule *s, const struct te_tensor *t)
{
	for (int i = 0; i < s->stages.n; i++) {
		const struct te_stage *op = s->stages.data[i]->op;

		for (int k = 0; k < op->n_inputs; k++) {
			if (op->inputs[k]->buffer == t->buffer) {
				return true;
			}
		}
	}
	return false;
}

/* prefetch(A, loop, 1): what the loop's next iteration reads of A. Further
 * requests about the loop name more tensors. */
bool
stage_prefetch(struct call *c, struct pval *out)
{
	struct event e = { .kind = EVENT_PREFETCH };
	struct stage *st = c->self.u.stage;
	struct te_tensor **t;
	int64_t offset;
	int n;

	(void)out;
	if (!arg_tensors(c, 0, &t, &n) ||
	    !arg_int(c, 2, INT32_MIN, INT32_MAX, &offset)) {
		return false;
	}
	if (offset != 1) {
		return call_error(c, 2,
				  "prefetch() asks for what the next "
				  "iteration reads; the offset is 1, not %lld",
				  (long long)offset);
	}
	if (n != 1) {
		return call_error(c, 0, "one tensor at a time");
	}
	if (t[0]->stage) {
		return call_error(c, 0,
				  "%s is computed here; only a "
				  "placeholder is fetched ahead",
				  t[0]->buffer->name);
	}
	if (!is_read(st->schedule, t[0])) {
		return call_error(c, 0, "nothing in this schedule reads %s",
				  t[0]->buffer->name);
	}
	e.text = t[0]->buffer->name;
	for (int i = 0; i < st->events.n; i++) {
		struct event *before = &st->events.data[i];

		if (before->kind == EVENT_PREFETCH &&
		    c->args[1].kind == PV_AXIS &&
		    before->axes[0] == c->args[1].u.axis) {
			before->text = arena_printf(c->ev->a, "%s, %s",
						    before->text, e.text);
			return true;
		}
	}
	return one_loop_at(c, 1, &e);
}

/* -- requests about the whole stage -- */

static bool
whole(struct call *c, struct event *e)
{
	if (!room_for_events(c)) {
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
	return call_error(c, 0, "%s is no dimension of %s",
			  c->args[0].u.axis->iv.var->name, st->op->name);
}

bool
stage_refuse(struct call *c, struct pval *out)
{
	(void)out;
	return call_error(c, -1,
			  "%s is not read; bind the loops of the "
			  "stages one by one",
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
		return not_a_leaf(c, 1, parent, c->args[1].u.axis);
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
