/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for the loops of a stage: split, tile, reorder, fuse, and
 * annotations of a loop. They are recorded as events; stage_lower.c applies
 * them. */
#include "stage.h"
#include "tir_parts.h"

/* Reads argument i, which must be a present loop of the stage. Returns false
 * after an error. */
static bool
arg_leaf(struct call *c, int i, struct axis **out)
{
	struct stage *st = c->self.u.stage;

	if (c->args[i].kind != PV_AXIS) {
		return value_kind_error(c, i, "an axis of the stage");
	}
	*out = c->args[i].u.axis;
	return stage_leaf(st, *out) >= 0 || stage_not_a_leaf(c, i, st, *out);
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

/* Reads argument i, a factor. It must be positive, and gets the type of the
 * axis. Returns false after an error. */
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
	if (!typed_fits(&c->ev->typing, c->spans[i], *out, extent->type,
			"give a factor that the type of the loop holds")) {
		return false;
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

	if (!stage_has_room(c)) {
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
	*out = stage_axes(c->ev, PV_TUPLE, made, 2);
	return true;
}

/* Reorders n loops of the stage: the positions of these loops in the nest stay
 * the same, and the loops take them in the order of `axes`. Returns false after
 * an error. */
static bool
reorder(struct call *c, struct axis *const *axes, int n)
{
	struct stage *st = c->self.u.stage;
	struct event e = { .kind = EVENT_REORDER, .span = c->span, .n = n };
	int next = 0;

	if (!stage_has_room(c)) {
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
	*out = stage_axes(c->ev, PV_TUPLE, made, 4);
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
			return stage_not_a_leaf(c, 0, st, (*axes)[i]);
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

	if (!arg_leaves(c, &axes, &n) || !stage_has_room(c)) {
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

/* Records the request e for the loop in argument i. Returns false after an
 * error. */
static bool
one_loop_at(struct call *c, int i, struct event *e)
{
	struct axis *x = NULL;

	if (!arg_leaf(c, i, &x) || !stage_has_room(c)) {
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
	e.thread = t;
	return one_loop(c, &e);
}

/* Is v the variable of a thread axis to which the stage's reduction loop is
 * bound? */
static bool
reduces_by(const struct stage *st, const struct var *v)
{
	for (int i = 0; i < st->events.n; i++) {
		const struct event *e = &st->events.data[i];

		if (e->kind == EVENT_BIND && e->thread->iv.var == v &&
		    e->axes[0]->iv.kind == ITER_REDUCE) {
			return true;
		}
	}
	return false;
}

static bool
is_first_thread(const struct stage *st, const struct expr *e)
{
	if (e->kind == EXPR_AND) {
		return is_first_thread(st, e->args[0]) &&
		       is_first_thread(st, e->args[1]);
	}
	return e->kind == EXPR_EQ && e->args[0]->kind == EXPR_VAR &&
	       expr_is_value(e->args[1], 0) &&
	       reduces_by(st, e->args[0]->u.var);
}

/* set_store_predicate(tx.var.equal(0)): only one of the threads that reduce
 * together stores the result. That is so without this request, too: the
 * argument is only checked. */
bool
stage_store_predicate(struct call *c, struct pval *out)
{
	const struct expr *e;
	int depth;

	(void)out;
	if (!arg_expr(c, 0, &e, &depth)) {
		return false;
	}
	return is_first_thread(c->self.u.stage, e) ||
	       call_error(c, 0,
			  "a store predicate is t.var.equal(0) of a thread "
			  "axis to which the stage's reduction is bound "
			  "before; for other elements that are not stored, "
			  "use te.if_then_else in the expression");
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

/* prefetch(A, loop, 1): prefetches the elements of A that the loop's next
 * iteration reads. Several requests for one loop prefetch several tensors. */
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
