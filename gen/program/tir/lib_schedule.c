/* SPDX-License-Identifier: Apache-2.0 */
/* tvm.tir.Schedule: each primitive of passes/schedule/ is a method, whose
 * parameters are those in primitives.def. */
#include "intrinsics.h"
#include "iterate.h"

#include "tir_parts.h"

/* The cost of a primitive in steps of the evaluation, by the number of
 * statements of the function. A query visits QUERIED_PER_STEP statements in the
 * time of one step; a primitive that changes the function handles
 * CHANGED_PER_STEP statements in it. */
enum { QUERIED_PER_STEP = 32, CHANGED_PER_STEP = 1 };

static int64_t
steps_of(const struct func *f, bool is_query)
{
	struct stmt_iter it = stmt_each(f->body);
	int64_t n = 0;

	while (stmt_next(&it)) {
		n++;
	}
	return 100 + n / (is_query ? QUERIED_PER_STEP : CHANGED_PER_STEP);
}

bool
schedule_tick(struct eval *ev, struct py_span at, const struct func *f,
	      bool is_query)
{
	return eval_tick(ev, at, steps_of(f, is_query));
}

static struct work *
work_of(const struct pval *v)
{
	struct tir_schedule *t = v->u.schedule;

	return &t->works.data[t->current];
}

/* -- creation -- */

bool
schedule_new(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct tir_schedule *t = arena_new(ev->a, struct tir_schedule);
	const struct pv_module *module = NULL;
	int64_t seed = 1;
	int n = 1;

	if (c->args[0].kind == PV_IRMODULE) {
		module = c->args[0].u.module;
		n = module->funcs.n;
	} else if (c->args[0].kind != PV_FUNC) {
		return value_kind_error(c, 0, "a PrimFunc or an IRModule");
	}
	if (arg_given(c, 1) && !arg_int(c, 1, -1, INT32_MAX, &seed)) {
		return false;
	}
	if (n == 0) {
		return call_error(c, 0, "the module has no function");
	}
	for (int i = 0; i < n; i++) {
		struct program_func *from = module ? module->funcs.data[i]
						   : c->args[0].u.func;
		struct work *w = arena_new(ev->a, struct work);

		w->plain = from->plain ? from->plain : from->func;
		w->named = from->named;
		w->line = c->span.line;
		w->col = c->span.col;
		if (!func_find_block(from->func, "root") &&
		    from->func->body->kind != STMT_BLOCK) {
			return call_error(c, 0,
					  "%s has no blocks: it is "
					  "lowered already",
					  from->func->name);
		}
		sched_init(&w->sched, func_clone(from->func, from->func->name));
		w->sched.intrins = ev->intrins;
		sched_seed(&w->sched, seed < 1 ? 1 : (uint64_t)seed);
		vec_push(ev->a, &t->works, *w);
		if (strcmp(from->func->name, "main") == 0) {
			t->current = i;
		}
	}
	t->single = !module;
	vec_push(ev->a, &ev->schedules, t);
	*out = (struct pval){ .kind = PV_SCHEDULE, .u.schedule = t };
	return true;
}

bool
schedule_copy(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct tir_schedule *from = c->self.u.schedule;
	struct tir_schedule *t = arena_copy(ev->a, from, sizeof *from);

	memset(&t->works, 0, sizeof t->works);
	for (int i = 0; i < from->works.n; i++) {
		struct work w = from->works.data[i];

		if (!schedule_tick(ev, c->span, w.sched.func, false)) {
			return false;
		}
		sched_fork(&from->works.data[i].sched, &w.sched);
		vec_push(ev->a, &t->works, w);
	}
	vec_push(ev->a, &ev->schedules, t);
	*out = (struct pval){ .kind = PV_SCHEDULE, .u.schedule = t };
	return true;
}

static bool
choose_work(struct call *c, int i, struct tir_schedule *t, int *out)
{
	const char **names = arena_array(c->ev->a, const char *,
					 t->works.n + 1);
	const struct pval *name = &c->args[i];

	for (int k = 0; k < t->works.n; k++) {
		names[k] = t->works.data[k].sched.func->name;
	}
	if (t->single && name->kind == PV_STRING &&
	    strcmp(name->u.text.data, "main") == 0) {
		*out = 0;
		return true;
	}
	return find_function(c->ev, c->spans[i], name, names, t->works.n, out);
}

bool
schedule_work_on(struct call *c, struct pval *out)
{
	(void)out;
	return choose_work(c, 0, c->self.u.schedule,
			   &c->self.u.schedule->current);
}

/* -- queries -- */

static const char *
trace_text(struct eval *ev, const struct sched *s)
{
	struct strbuf text;
	const char *copy;

	strbuf_init(&text);
	sched_print_trace(s, &text);
	copy = arena_strdup(ev->a, text.data ? text.data : "");
	strbuf_release(&text);
	return copy;
}

/* A copy of the scheduled function, which later primitives do not change. */
static struct program_func *
snapshot(struct eval *ev, const struct work *w)
{
	struct program_func *f = arena_new(ev->a, struct program_func);

	f->stage = PROGRAM_SCHEDULED;
	f->func = func_clone(w->sched.func, w->sched.func->name);
	f->plain = w->plain;
	f->named = w->named;
	f->line = w->line;
	f->col = w->col;
	f->schedule = trace_text(ev, &w->sched);
	f->intrins = ev->intrins;
	return f;
}

bool
schedule_mod(struct call *c, struct pval *out)
{
	struct tir_schedule *t = c->self.u.schedule;
	struct pv_module *module = arena_new(c->ev->a, struct pv_module);

	for (int i = 0; i < t->works.n; i++) {
		struct work *w = &t->works.data[i];

		if (!schedule_tick(c->ev, c->span, w->sched.func, false)) {
			return false;
		}
		vec_push(c->ev->a, &module->funcs, snapshot(c->ev, w));
	}
	module->of_function = t->single;
	*out = (struct pval){ .kind = PV_IRMODULE, .u.module = module };
	return true;
}

bool
schedule_trace(struct call *c, struct pval *out)
{
	*out = (struct pval){ .kind = PV_TRACE,
			      .u.schedule = c->self.u.schedule };
	return true;
}

void
schedule_text(struct eval *ev, const struct pval *v, struct strbuf *out)
{
	struct tir_schedule *t = v->u.schedule;

	for (int i = 0; v->kind == PV_SCHEDULE && i < t->works.n; i++) {
		func_print(t->works.data[i].sched.func, ev->o->script, out);
	}
	strbuf_puts(out, trace_text(ev, &work_of(v)->sched));
}

void
schedule_finish(struct eval *ev)
{
	for (int i = 0; i < ev->schedules.n; i++) {
		const struct tir_schedule *t = ev->schedules.data[i];

		for (int k = 0; k < t->works.n; k++) {
			remember_func(ev, snapshot(ev, &t->works.data[k]));
		}
	}
}

void
handle_text(struct eval *ev, const struct pval *v, bool repr,
	    struct strbuf *out)
{
	const struct tir_schedule *t = v->u.handle.schedule;
	const struct func *f = t->works.data[v->u.handle.func].sched.func;
	const struct stmt *s = func_find(f, v->u.handle.id);

	(void)repr;
	ev->steps += steps_of(f, true);
	strbuf_puts(out, !s                      ? "(gone)"
			 : s->kind == STMT_BLOCK ? s->u.block->name
			 : s->kind == STMT_FOR   ? s->u.loop.var->name
						 : "(gone)");
}

/* sch.get(rv): the value of a sampled variable, or a loop with its bounds. */
bool
schedule_get(struct call *c, struct pval *out)
{
	const struct pval *v = &c->args[0];
	struct work *w = work_of(&c->self);
	int64_t number;

	if (v->kind == PV_EXPR) {
		const struct expr *e = sched_get_value(&w->sched, v->u.expr);

		*out = expr_is_int(e, &number) ? pv_int(number)
					       : pv_expr(e, v->depth);
		return true;
	}
	if (v->kind == PV_LOOP) {
		const struct func *f = v->u.handle.schedule->works
					       .data[v->u.handle.func]
					       .sched.func;
		const struct stmt *s = func_find(f, v->u.handle.id);
		struct iter_var iv = { .kind = ITER_SPATIAL };

		if (!schedule_tick(c->ev, c->span, f, true)) {
			return false;
		}
		if (!s || s->kind != STMT_FOR) {
			return call_error(c, 0,
					  "the loop does not exist any "
					  "more");
		}
		iv.var = s->u.loop.var;
		iv.min = s->args[0];
		iv.extent = s->args[1];
		*out = pv_axis(c->ev, &iv);
		return true;
	}
	*out = *v;
	return true;
}

/* -- arguments -- */

struct convert {
	struct call *c;
	const struct primitive *p;
	struct sched_value *args; /* the arguments that are converted already */
	/* the index, among p's parameters, of the argument to convert */
	int i;
	/* the index of the function to which the blocks and loops among the
	 * arguments belong; -1: no argument was a block or loop so far */
	int func;
};

static bool
use_handle(struct convert *k, const struct pval *v, struct sched_value *out)
{
	if (v->u.handle.schedule != k->c->self.u.schedule) {
		return call_error(k->c, k->i, "a %s of another schedule",
				  pv_kind_name(v->kind));
	}
	if (k->func >= 0 && k->func != v->u.handle.func) {
		return call_error(k->c, k->i, "a %s of another function",
				  pv_kind_name(v->kind));
	}
	k->func = v->u.handle.func;
	*out = v->kind == PV_BLOCK ? sv_block(v->u.handle.id)
				   : sv_loop(v->u.handle.id);
	return true;
}

/* Converts a lambda to an index map: its parameters are the logical indices,
 * its results the physical ones. Returns false after an error. */
static bool
convert_map(struct convert *k, const struct pval *v, struct sched_value *out)
{
	struct eval *ev = k->c->ev;
	struct py_span at = k->c->spans[k->i];
	const struct py_node *def = v->u.closure->def;
	struct index_map *map = arena_new(ev->a, struct index_map);
	struct pval *index, value, *items = &value;
	int n = def->n_params, count = 1, depth;

	map->logical = arena_array(ev->a, struct var *, n + 1);
	index = arena_array(ev->a, struct pval, n + 1);
	for (int i = 0; i < n; i++) {
		if (def->params[i].kind != PY_PARAM_PLAIN) {
			return call_error(k->c, k->i,
					  "an index map names each index; "
					  "write lambda i, j: ...");
		}
		map->logical[i] = var_new(ev->m, def->params[i].name,
					  dtype_of(DT_I32));
		index[i] = pv_expr(map->logical[i]->expr, 1);
	}
	if (!eval_apply(ev, at, v, index, n, &value) ||
	    ((value.kind == PV_TUPLE || value.kind == PV_LIST) &&
	     !eval_items(ev, at, &value, &items, &count))) {
		return false;
	}
	map->to_physical = arena_exprs(ev->a, count + 1);
	for (int i = 0; i < count; i++) {
		if (!value_expr(ev, at, &items[i], &map->to_physical[i],
				&depth)) {
			return false;
		}
	}
	map->n_logical = n;
	map->n_physical = count;
	*out = sv_map(map);
	return true;
}

static bool
convert(struct convert *k, const struct pval *v, struct sched_value *out,
	int depth)
{
	struct eval *ev = k->c->ev;
	struct sched_value *items;

	switch (v->kind) {
	case PV_NONE:
	case PV_MISSING:
		*out = sv_none();
		return true;
	case PV_BOOL:
		*out = sv_bool(v->u.boolean);
		return true;
	case PV_INT:
		*out = sv_int(v->u.ival);
		return true;
	case PV_FLOAT:
		*out = sv_float(v->u.fval);
		return true;
	case PV_STRING:
		*out = sv_string(v->u.text.data);
		return true;
	case PV_EXPR:
		*out = v->u.expr->kind == EXPR_INT ? sv_int(v->u.expr->u.ival)
		       : v->u.expr->kind == EXPR_FLOAT
			       ? sv_float(v->u.expr->u.fval)
			       : sv_expr(v->u.expr);
		return true;
	case PV_AXIS:
		*out = sv_expr(v->u.axis->iv.var->expr);
		return true;
	case PV_THREAD:
		*out = sv_string(v->u.axis->thread);
		return true;
	case PV_INTRIN:
		*out = sv_string(v->u.intrin->name);
		return true;
	case PV_BLOCK:
	case PV_LOOP:
		return use_handle(k, v, out);
	case PV_CLOSURE:
		if (k->p->params[k->i].accepts & 1u << SV_MAP) {
			return convert_map(k, v, out);
		}
		break;
	case PV_LIST:
	case PV_TUPLE:
		if (depth > 8 || v->u.list->n > 1000) {
			break;
		}
		items = arena_array(ev->a, struct sched_value,
				    v->u.list->n + 1);
		for (int i = 0; i < v->u.list->n; i++) {
			if (!convert(k, &v->u.list->data[i], &items[i],
				     depth + 1)) {
				return false;
			}
		}
		*out = sv_list(ev->m, items, v->u.list->n);
		return true;
	default:
		break;
	}
	return call_error(k->c, k->i, "%s cannot be given to %s()",
			  pv_kind_name(v->kind), k->p->name);
}

static struct pval
result_value(struct call *c, int func, const struct sched_value *v)
{
	struct pval out = pv_none();

	switch (v->kind) {
	case SV_BLOCK:
	case SV_LOOP:
		out.kind = v->kind == SV_BLOCK ? PV_BLOCK : PV_LOOP;
		out.u.handle.schedule = c->self.u.schedule;
		out.u.handle.id = v->u.id;
		out.u.handle.func = func;
		return out;
	case SV_INT:
		return pv_int(v->u.ival);
	case SV_FLOAT:
		return pv_float(v->u.fval);
	case SV_BOOL:
		return pv_bool(v->u.ival != 0);
	case SV_STRING:
		return pv_string(c->ev, v->u.text);
	case SV_EXPR:
		return pv_expr(v->u.expr, 1);
	case SV_LIST:
		out = pv_list_of(c->ev, PV_LIST, NULL, 0);
		for (int i = 0; i < v->n; i++) {
			vec_push(c->ev->a, out.u.list,
				 result_value(c, func, &v->items[i]));
		}
		return out;
	default:
		return out;
	}
}

bool
schedule_error(struct eval *ev, struct py_span at, struct sched *s, bool step)
{
	const struct diag *last = &s->diags.list.data[s->diags.list.n - 1];

	eval_error(ev, at, "%s%s%s", step ? last->place.item : "",
		   step ? ": " : "", last->message);
	ev->m->diags.list.data[ev->m->diags.list.n - 1].id = DIAG_BAD_SCHEDULE;
	return false;
}

bool
schedule_instruction(struct eval *ev, const char *name)
{
	if (tensor_intrins_find(ev->intrins, name)) {
		return true;
	}
	if (!ev->shipped) {
		ev->shipped = intrinsic_set_load(ev->m, ev->o->dialect_path);
	}
	return ev->shipped &&
	       intrinsic_find(ev->m, ev->shipped, name, ev->intrins);
}

/* Is the sum of the sizes of all expressions within its limit? Inlining copies
 * expressions, which must stay small enough to print. Returns false after an
 * error otherwise. */
bool
schedule_fits(struct eval *ev, struct py_span at, const char *primitive,
	      const struct func *f)
{
	int64_t total = 0;
	struct stmt *s;

	if (!strstr(primitive, "inline")) {
		return true;
	}
	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			total += s->args[i] ? eval_expr_size(ev, s->args[i])
					    : 0;
		}
	}
	return total <= EVAL_MAX_EXPR_SIZE ||
	       eval_error(ev, at,
			  "inlining makes expressions of more than "
			  "%d parts; leave some tensors as they are",
			  EVAL_MAX_EXPR_SIZE);
}

static bool
apply(struct call *c, struct pval *out)
{
	struct tir_schedule *t = c->self.u.schedule;
	const struct primitive *p = sched_primitive_find(c->row->name);
	struct convert k = { .c = c, .p = p, .func = -1 };
	struct sched_value result;
	struct work *w;

	if (++c->ev->n_events > EVAL_MAX_EVENTS) {
		return call_error(c, -1, "more than %d schedule steps",
				  EVAL_MAX_EVENTS);
	}
	k.args = arena_array(c->ev->a, struct sched_value, p->n_params + 1);
	for (int i = 0; i < p->n_params; i++) {
		k.i = i;
		if (arg_missing(c, i)) {
			k.args[i] = p->params[i].initial;
			continue;
		}
		if (!t->from_outside &&
		    strcmp(p->params[i].name, "func_name") == 0) {
			k.args[i] = p->params[i].initial;
			if (!arg_given(c, i)) {
				continue;
			}
			if (!choose_work(c, i, t, &k.func)) {
				return false;
			}
			k.args[i] = sv_string(c->args[i].u.text.data);
			continue;
		}
		if (!convert(&k, &c->args[i], &k.args[i], 0)) {
			return false;
		}
	}
	if (k.func < 0) {
		k.func = t->current;
	}
	w = &t->works.data[k.func];
	if (strcmp(p->name, "tensorize") == 0 && k.args[1].kind == SV_STRING &&
	    !t->from_outside &&
	    !schedule_instruction(c->ev, k.args[1].u.text)) {
		return false;
	}
	if (!schedule_tick(c->ev, c->span, w->sched.func, p->is_query)) {
		return false;
	}
	if (!sched_apply(&w->sched, p->name, k.args, p->n_params, &result)) {
		return schedule_error(c->ev, c->span, &w->sched, true);
	}
	if (!schedule_fits(c->ev, c->span, p->name, w->sched.func)) {
		return false;
	}
	*out = result_value(c, k.func, &result);
	return true;
}

/* -- methods from the table of primitives. All parameters are optional here,
 * because sched_apply() reports a missing argument with the values that the
 * argument may have. -- */

const struct name_row *
schedule_method(struct eval *ev, uint64_t in, enum pv_kind of, const char *name)
{
	const struct primitive *p = !in && of == PV_SCHEDULE
					    ? sched_primitive_find(name)
					    : NULL;
	struct name_row *row;
	struct strbuf s;

	if (!p) {
		return NULL;
	}
	strbuf_init(&s);
	for (int i = 0; i < p->n_params; i++) {
		strbuf_printf(&s, "%s%s%s%s", i ? ", " : "",
			      p->params[i].role == PARAM_STAR ? "*" : "",
			      p->params[i].name,
			      p->params[i].role == PARAM_STAR ? "" : "?");
	}
	row = arena_new(ev->a, struct name_row);
	row->of = PV_SCHEDULE;
	row->name = p->name;
	row->params = arena_strdup(ev->a, s.data ? s.data : "");
	row->fn = apply;
	strbuf_release(&s);
	return row;
}

void
schedule_names(struct eval *ev, uint64_t in, enum pv_kind of,
	       struct pv_names *list)
{
	int n;
	const struct primitive *p = sched_primitives(&n);

	for (int i = 0; !in && of == PV_SCHEDULE && i < n; i++) {
		vec_push(ev->a, list, p[i].name);
	}
}
