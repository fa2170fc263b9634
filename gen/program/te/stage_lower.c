/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers a schedule of stages to a function: a stage becomes a block, a request
 * becomes a primitive. Stages are inlined first (stage_inline.c). Then each
 * stage, consumers before producers, is moved to its compute_at loop, and its
 * requests are applied in their order. So a request refers to the same loop
 * even if the stage has moved, and the order of requests for different stages
 * does not matter. */
#include "stage.h"
#include "tir_parts.h"

/* The number of bytes that one prefetch loads. It is a constant, because a
 * program is scheduled before its target is known. */
enum { CACHE_LINE = 64 };

struct placed {
	const struct axis *axis;
	int loop;
};

struct replay {
	struct call *c;
	struct eval *ev;
	struct te_schedule *schedule;
	struct sched s;
	/* for each axis in stage.leaves: its loop in the function */
	VEC(struct placed) loops;
	struct te_blocks made; /* the blocks that te_to_func() made */
	/* for each stage: the id of its block, or 0 if it has none */
	int *blocks;
	/* the steps that were applied, as text for a comment */
	struct strbuf text;
};

static int
loop_of(const struct replay *r, const struct axis *x)
{
	for (int i = r->loops.n - 1; i >= 0; i--) {
		if (r->loops.data[i].axis == x) {
			return r->loops.data[i].loop;
		}
	}
	return 0;
}

static void
set_loop(struct replay *r, const struct axis *x, int loop)
{
	struct placed p = { x, loop };

	vec_push(r->ev->a, &r->loops, p);
}

static bool
apply(struct replay *r, struct py_span at, const char *primitive,
      const struct sched_value *args, int n, struct sched_value *out)
{
	return schedule_tick(r->ev, at, r->s.func, false) &&
	       (sched_apply(&r->s, primitive, args, n, out) ||
		schedule_error(r->ev, at, &r->s, false)) &&
	       schedule_fits(r->ev, at, primitive, r->s.func);
}

static void
say(struct replay *r, const char *text)
{
	strbuf_printf(&r->text, "%s%s", r->text.len ? "; " : "", text);
}

/* -- blocks -- */

/* The block of a stage. For te.compute, te_to_func() recorded it; for other
 * stages it is the first block that writes the stage's output. NULL if no block
 * writes it, and for a stage within a scan. */
static const struct stmt *
block_of(struct replay *r, const struct te_stage *op)
{
	struct stmt_iter it;
	struct stmt *s;

	for (int i = 0; i < r->made.n; i++) {
		if (r->made.data[i].stage == op) {
			return func_find(r->s.func, r->made.data[i].block);
		}
	}
	if (op->kind == TE_SCAN || op->kind == TE_COMPUTE) {
		return NULL;
	}
	it = stmt_each_of(r->s.func->body, STMT_BLOCK);
	while ((s = stmt_next(&it)) &&
	       (!s->parent ||
		!regions_have(s->u.block->writes, s->u.block->n_writes,
			      op->out[0]->buffer))) {
	}
	return s;
}

/* Looks up each block by a step of the trace, so that the trace has all steps.
 * The names of blocks are unique in a function. Returns false after an error. */
static bool
find_blocks(struct replay *r)
{
	for (int i = 0; i < r->schedule->stages.n; i++) {
		const struct stmt *block =
			block_of(r, r->schedule->stages.data[i]->op);
		struct sched_value v;

		if (!block) {
			continue;
		}
		v = sv_string(block->u.block->name);
		if (!apply(r, r->c->span, "get_block", &v, 1, &v)) {
			return false;
		}
		r->blocks[i] = v.u.id;
	}
	return true;
}

static bool
needs_block(struct replay *r, int i, struct py_span at)
{
	return r->blocks[i] ||
	       eval_error(r->ev, at, "%s has no loops of its own here",
			  r->schedule->stages.data[i]->op->name);
}

/* -- loops -- */

/* Finds the loop of each axis of the stage, spatial axes first: the loop to
 * which the iter var of the axis is bound. If an axis has no loop, adds a loop
 * with a single iteration. Returns false after an error. */
static bool
place_axes(struct replay *r, int i, struct py_span at)
{
	struct stage *st = r->schedule->stages.data[i];
	const struct reduction *red = stage_reduction(st->op);
	struct sched_value arg = sv_block(r->blocks[i]), loops, unit;
	const struct stmt *block = func_find(r->s.func, r->blocks[i]);
	int n_axes = st->op->n_axes + (red ? red->n_axes : 0);
	int outer = 0;

	if (!apply(r, at, "get_loops", &arg, 1, &loops)) {
		return false;
	}
	if (st->attach == ATTACH_AT) {
		int parent = loop_of(r, st->at_axis);

		for (int k = 0; k < loops.n; k++) {
			if (loops.items[k].u.id == parent) {
				outer = k + 1;
			}
		}
	}
	for (int a = 0; a < n_axes; a++) {
		const struct iter_var *iv =
			a < st->op->n_axes ? &st->op->axes[a]
					   : &red->axes[a - st->op->n_axes];
		struct axis *x = pv_axis(r->ev, iv).u.axis;
		int found = 0;

		/* if there are as many loops as axes, loops and axes are in the
		 * same order */
		if (loops.n - outer == n_axes) {
			found = loops.items[outer + a].u.id;
		}
		for (int k = outer; k < loops.n && !found; k++) {
			const struct stmt *loop =
				func_find(r->s.func, loops.items[k].u.id);

			if (a < block->u.block->n_iters &&
			    a + 1 < block->n_args &&
			    expr_uses_var(block->args[a + 1],
					  loop->u.loop.var)) {
				found = loops.items[k].u.id;
			}
		}
		if (!found && st->events.n > 0) {
			if (!apply(r, at, "add_unit_loop", &arg, 1, &unit)) {
				return false;
			}
			found = unit.u.id;
		}
		if (found) {
			set_loop(r, x, found);
		}
	}
	return true;
}

/* -- requests -- */

static bool
need_loop(struct replay *r, const struct event *e, const struct axis *x,
	  int *out)
{
	*out = loop_of(r, x);
	return *out || eval_error(r->ev, e->span,
				  "the loop %s does not exist "
				  "any more",
				  x->iv.var->name);
}

static bool
rename_to(struct replay *r, const struct event *e, int loop,
	  const struct axis *x)
{
	struct sched_value v[2] = { sv_loop(loop), sv_string(x->iv.var->name) };

	set_loop(r, x, loop);
	return apply(r, e->span, "rename_loop", v, 2, NULL);
}

static bool
apply_split(struct replay *r, const struct event *e)
{
	struct sched_value args[2], factors[2], out;
	int loop;
	int64_t v;

	if (!need_loop(r, e, e->axes[0], &loop)) {
		return false;
	}
	expr_is_int(e->factor ? e->factor : e->nparts, &v);
	args[0] = sv_loop(loop);
	factors[0] = e->nparts ? sv_int(v) : sv_none();
	factors[1] = e->factor ? sv_int(v) : sv_none();
	args[1] = sv_list(r->ev->m, factors, 2);
	if (!apply(r, e->span, "split", args, 2, &out)) {
		return false;
	}
	say(r, arena_printf(r->ev->a, "split(%s, %s=%lld)",
			    e->axes[0]->iv.var->name,
			    e->factor ? "factor" : "nparts", (long long)v));
	return rename_to(r, e, out.items[0].u.id, e->axes[1]) &&
	       rename_to(r, e, out.items[1].u.id, e->axes[2]);
}

static bool
apply_fuse(struct replay *r, const struct event *e)
{
	struct sched_value loops[2], arg, out;

	for (int i = 0; i < 2; i++) {
		int loop;

		if (!need_loop(r, e, e->axes[i], &loop)) {
			return false;
		}
		loops[i] = sv_loop(loop);
	}
	arg = sv_list(r->ev->m, loops, 2);
	say(r, arena_printf(r->ev->a, "fuse(%s, %s)", e->axes[0]->iv.var->name,
			    e->axes[1]->iv.var->name));
	return apply(r, e->span, "fuse", &arg, 1, &out) &&
	       rename_to(r, e, out.u.id, e->axes[2]);
}

static bool
apply_reorder(struct replay *r, const struct event *e)
{
	struct sched_value *loops = arena_array(r->ev->a, struct sched_value,
						e->n + 1);
	struct sched_value arg;
	struct strbuf s;

	strbuf_init(&s);
	for (int i = 0; i < e->n; i++) {
		int loop;

		if (!need_loop(r, e, e->axes[i], &loop)) {
			strbuf_release(&s);
			return false;
		}
		loops[i] = sv_loop(loop);
		strbuf_printf(&s, "%s%s", i ? ", " : "",
			      e->axes[i]->iv.var->name);
	}
	say(r, arena_printf(r->ev->a, "reorder(%s)", s.data ? s.data : ""));
	strbuf_release(&s);
	arg = sv_list(r->ev->m, loops, e->n);
	return e->n < 2 || apply(r, e->span, "reorder", &arg, 1, NULL);
}

/* Moves a loop that will be vectorized inside the loops within it, so that all
 * lanes of a vector run those loops together. Returns false after an error. */
static bool
move_inside(struct replay *r, const struct event *e, int loop)
{
	VEC(struct sched_value) list = { 0 };
	const struct stmt *s = func_find(r->s.func, loop);
	struct sched_value arg;

	for (s = s->children[0]; s->kind == STMT_FOR; s = s->children[0]) {
		vec_push(r->ev->a, &list, sv_loop(s->id));
	}
	if (list.n == 0) {
		return true;
	}
	vec_push(r->ev->a, &list, sv_loop(loop));
	arg = sv_list(r->ev->m, list.data, list.n);
	return apply(r, e->span, "reorder", &arg, 1, NULL);
}

/* Applies a request that keeps its loop: a binding or an annotation. Returns
 * false after an error. */
static bool
apply_to_loop(struct replay *r, const struct event *e)
{
	struct sched_value v[3];
	int loop;

	if (!need_loop(r, e, e->axes[0], &loop)) {
		return false;
	}
	v[0] = sv_loop(loop);
	v[1] = sv_string(e->text);
	switch (e->kind) {
	case EVENT_BIND:
		say(r, arena_printf(r->ev->a, "bind(%s, %s)",
				    e->axes[0]->iv.var->name, e->text));
		return apply(r, e->span, "bind", v, 2, NULL);
	case EVENT_MARK:
		say(r, arena_printf(r->ev->a, "%s(%s)", e->text,
				    e->axes[0]->iv.var->name));
		return (strcmp(e->text, "vectorize") != 0 ||
			move_inside(r, e, loop)) &&
		       apply(r, e->span, e->text, v, 1, NULL);
	case EVENT_TENSORIZE:
		say(r, arena_printf(r->ev->a, "tensorize(%s, %s)",
				    e->axes[0]->iv.var->name, e->text));
		return apply(r, e->span, "tensorize", v, 2, NULL);
	case EVENT_PREFETCH:
		say(r, arena_printf(r->ev->a, "prefetch(%s, %s)", e->text,
				    e->axes[0]->iv.var->name));
		v[1] = sv_string("prefetch_of");
		v[2] = sv_string(e->text);
		if (!apply(r, e->span, "annotate", v, 3, NULL)) {
			return false;
		}
		v[1] = sv_string("prefetch");
		v[2] = sv_int(CACHE_LINE);
		return apply(r, e->span, "annotate", v, 3, NULL);
	default:
		v[1] = sv_string(arena_printf(r->ev->a, "pragma_%s", e->text));
		v[2] = e->value;
		return apply(r, e->span, "annotate", v, 3, NULL);
	}
}

static bool
apply_to_block(struct replay *r, const struct event *e, int i)
{
	struct sched_value v[5] = { sv_block(r->blocks[i]), sv_int(0) };

	switch (e->kind) {
	case EVENT_SCOPE:
		v[2] = sv_string(e->text);
		return apply(r, e->span, "set_scope", v, 3, NULL);
	case EVENT_DOUBLE_BUFFER:
		v[1] = sv_string("double_buffer_scope");
		v[2] = sv_int(0);
		return apply(r, e->span, "annotate", v, 3, NULL);
	case EVENT_ROLLING:
		return apply(r, e->span, "rolling_buffer", v, 2, NULL);
	default:
		v[2] = e->value.items[0];
		v[3] = e->value.items[1];
		v[4] = e->value.items[2];
		return apply(r, e->span, "storage_align", v, 5, NULL);
	}
}

static bool
apply_event(struct replay *r, const struct event *e, int i)
{
	switch (e->kind) {
	case EVENT_SPLIT:
		return apply_split(r, e);
	case EVENT_FUSE:
		return apply_fuse(r, e);
	case EVENT_REORDER:
		return apply_reorder(r, e);
	case EVENT_SCOPE:
	case EVENT_DOUBLE_BUFFER:
	case EVENT_ROLLING:
	case EVENT_ALIGN:
		return apply_to_block(r, e, i);
	default:
		return apply_to_loop(r, e);
	}
}

/* Must the request be applied after all other requests of the stage? tensorize
 * and rolling_buffer must, because they replace loops. */
static bool
comes_last(const struct event *e)
{
	return e->kind == EVENT_TENSORIZE || e->kind == EVENT_ROLLING;
}

static bool
apply_stage(struct replay *r, int i)
{
	struct stage *st = r->schedule->stages.data[i];
	struct py_span at = st->events.n > 0 ? st->events.data[0].span
					     : r->c->span;

	if (st->attach == ATTACH_INLINE || st->op->kind == TE_SCAN ||
	    (st->events.n == 0 && !r->blocks[i])) {
		return true;
	}
	if (!needs_block(r, i, at)) {
		return false;
	}
	if (st->attach == ATTACH_AT) {
		struct sched_value v[3] = { sv_block(r->blocks[i]) };
		int loop = loop_of(r, st->at_axis);

		if (!loop) {
			return eval_error(r->ev, st->attach_span,
					  "the loop %s, at which %s should be "
					  "computed, does not exist any more",
					  st->at_axis->iv.var->name,
					  st->op->name);
		}
		v[1] = sv_loop(loop);
		v[2] = sv_bool(true);
		say(r, arena_printf(r->ev->a, "compute_at(%s, %s)",
				    st->op->name, st->at_axis->iv.var->name));
		if (!apply(r, st->attach_span, "compute_at", v, 3, NULL)) {
			return false;
		}
	}
	if (!place_axes(r, i, at)) {
		return false;
	}
	for (int late = 0; late < 2; late++) {
		for (int k = 0; k < st->events.n; k++) {
			const struct event *e = &st->events.data[k];

			if (comes_last(e) == (late != 0) &&
			    !apply_event(r, e, i)) {
				return false;
			}
		}
	}
	return true;
}

/* Is the sum of the sizes of all expressions of the schedule within its limit?
 * Large expressions could not be printed. Returns false after an error
 * otherwise. */
static bool
inlined_fits(struct eval *ev, const struct te_schedule *s, struct py_span at)
{
	int64_t total = 0;

	for (int i = 0; i < s->stages.n; i++) {
		const struct te_stage *op = s->stages.data[i]->op;

		for (int k = 0; op->kind == TE_COMPUTE && k < op->n_out; k++) {
			total += eval_expr_size(ev, op->bodies[k]);
		}
	}
	return total <= EVAL_MAX_EXPR_SIZE ||
	       eval_error(ev, at,
			  "inlining makes expressions of more than "
			  "%d parts; leave some tensors as they are",
			  EVAL_MAX_EXPR_SIZE);
}

static bool
inline_stages(struct replay *r)
{
	const char *why;

	for (int i = 0; i < r->schedule->stages.n; i++) {
		const struct stage *st = r->schedule->stages.data[i];

		if (st->attach != ATTACH_INLINE) {
			continue;
		}
		say(r,
		    arena_printf(r->ev->a, "compute_inline(%s)", st->op->name));
		if (!stage_inline(r->ev->m, r->schedule, i, &why)) {
			return eval_error(r->ev, st->attach_span, "%s", why);
		}
		if (!eval_tick(r->ev, st->attach_span,
			       100 + r->schedule->stages.n) ||
		    !inlined_fits(r->ev, r->schedule, st->attach_span)) {
			return false;
		}
	}
	return true;
}

/* -- the function -- */

/* The parameters of the function: the tensors and variables in the caller's
 * list. An output that is not in the list is added as the last parameter,
 * because its elements would be lost otherwise. */
struct parameters {
	/* for each parameter: the schedule's copy of the tensor (own) and the
	 * program's tensor (plain) */
	VEC(struct te_tensor *) own, plain;
	/* for each parameter: the variable, or NULL for a tensor */
	VEC(struct var *) vars;
};

static bool
add_tensor(struct call *c, struct te_schedule *s, struct parameters *p,
	   struct te_tensor *t)
{
	struct eval *ev = c->ev;
	struct stage *st = stage_of_buffer(s, t->buffer);
	struct te_tensor *program = te_tensor_of(ev, t->buffer);

	for (int i = 0; i < p->own.n; i++) {
		if (p->own.data[i]->buffer == t->buffer) {
			return call_error(c, 1, "%s is listed twice",
					  t->buffer->name);
		}
	}
	if (t->stage && !st) {
		return call_error(c, 1, "%s is not computed in this schedule",
				  t->buffer->name);
	}
	vec_push(ev->a, &p->own, st ? st->op->out[t->index] : t);
	vec_push(ev->a, &p->plain, program ? program : t);
	vec_push(ev->a, &p->vars, NULL);
	return true;
}

static bool
add_variable(struct call *c, struct parameters *p, struct var *x)
{
	for (int i = 0; i < p->vars.n; i++) {
		if (p->vars.data[i] == x) {
			return call_error(c, 1, "%s is listed twice", x->name);
		}
	}
	vec_push(c->ev->a, &p->vars, x);
	return true;
}

static bool
list_parameters(struct call *c, struct te_schedule *s, struct parameters *p)
{
	struct pval *items;
	int n;

	if (!arg_items(c, 1, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (items[i].kind == PV_EXPR &&
		    items[i].u.expr->kind == EXPR_VAR) {
			if (!add_variable(c, p, items[i].u.expr->u.var)) {
				return false;
			}
			continue;
		}
		if (items[i].kind != PV_TENSOR) {
			return call_error(c, 1,
					  "arguments are tensors and "
					  "variables, not %s",
					  pv_kind_name(items[i].kind));
		}
		if (!add_tensor(c, s, p, items[i].u.tensor)) {
			return false;
		}
	}
	for (int i = 0; i < s->stages.n; i++) {
		struct stage *st = s->stages.data[i];

		for (int k = 0; st->is_output && k < st->op->n_out; k++) {
			const struct buffer *b = st->op->out[k]->buffer;
			bool listed = false;

			for (int j = 0; j < p->own.n; j++) {
				listed |= p->own.data[j]->buffer == b;
			}
			if (!listed && !add_tensor(c, s, p, st->op->out[k])) {
				return false;
			}
		}
	}
	return true;
}

/* Puts the parameters in the order of the caller's list; sizes that are not in
 * the list come last. Returns false after an error. */
static bool
order_params(struct call *c, struct func *f, const struct parameters *p)
{
	struct arena *a = c->ev->a;
	struct param *old = arena_copy(a, f->params.data,
				       sizeof *old * (size_t)f->params.n);
	int n = f->params.n, next = 0, at = 0;

	for (int i = 0; i < p->vars.n; i++) {
		struct var *v = p->vars.data[i];
		int found = -1;

		if (!v) {
			f->params.data[at++] = old[next];
			old[next++].var = NULL;
			continue;
		}
		for (int k = p->own.n; k < n; k++) {
			if (old[k].var == v) {
				found = k;
			}
		}
		if (found < 0) {
			/* a listed variable is a parameter even if the function
			 * does not use it */
			func_add_param(f, v, NULL);
			f->params.data[at++] = (struct param){ .var = v };
			continue;
		}
		f->params.data[at++] = old[found];
		old[found].var = NULL;
	}
	for (int k = 0; k < n; k++) {
		if (old[k].var) {
			f->params.data[at++] = old[k];
		}
	}
	return true;
}

static struct func *
make_func(struct call *c, const char *name, struct te_tensor *const *tensors,
	  int n, const struct parameters *p, struct te_blocks *blocks)
{
	struct eval *ev = c->ev;
	struct func *f;
	const char *why;

	if (!te_check_params(ev->m, tensors, n, &why)) {
		call_error(c, 1, "%s", why);
		return NULL;
	}
	f = te_to_func_blocks(ev->m, arena_strdup(ev->a, name), tensors, n,
			      blocks);
	order_params(c, f, p);
	func_set_note(f, "global_symbol", expr_string(ev->m, name));
	func_set_note(f, "tir.noalias", expr_bool(ev->m, true));
	return f;
}

bool
stage_to_func(struct call *c, struct te_schedule *s, const char *name,
	      struct program_func *out)
{
	struct eval *ev = c->ev;
	struct parameters p = { 0 };
	struct replay r = { .c = c, .ev = ev };
	struct func *f;
	bool ok;

	s = stage_copy_schedule(ev, s);
	r.schedule = s;
	strbuf_init(&r.text);
	if (!list_parameters(c, s, &p) || !inline_stages(&r)) {
		strbuf_release(&r.text);
		return false;
	}
	out->plain = make_func(c, name, p.plain.data, p.plain.n, &p, NULL);
	f = out->plain ? make_func(c, name, p.own.data, p.own.n, &p, &r.made)
		       : NULL;
	if (!f) {
		strbuf_release(&r.text);
		return false;
	}
	out->intrins = ev->intrins;
	if (stage_left_to_rules(s)) {
		ok = stage_apply_rules(c, s, f, &r.text);
		out->func = f;
		out->schedule = arena_strdup(ev->a,
					     r.text.data ? r.text.data : "");
		strbuf_release(&r.text);
		return ok;
	}
	sched_init(&r.s, f);
	r.s.intrins = ev->intrins;
	r.blocks = arena_array(ev->a, int, s->stages.n + 1);
	ok = find_blocks(&r);
	for (int i = s->stages.n - 1; ok && i >= 0; i--) {
		ok = apply_stage(&r, i);
	}
	out->func = r.s.func;
	out->schedule = arena_strdup(ev->a, r.text.data ? r.text.data : "");
	strbuf_release(&r.text);
	return ok;
}
