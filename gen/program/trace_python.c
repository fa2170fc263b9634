/* SPDX-License-Identifier: Apache-2.0 */
/* Applies a trace in the form of Python to a schedule that the caller has. The
 * trace is evaluated as a program:
 *
 *   b = sch.get_block("C")
 *   i, j, k = sch.get_loops(b)
 *   io, ii = sch.split(i, factors=[None, 4]) */
#include "trace_python.h"

#include "start.h"
#include "tir_parts.h"

/* A schedule that a program can use; it works on a copy of *s. */
static struct pval
schedule_value(struct eval *ev, const struct sched *s)
{
	struct tir_schedule *t = arena_new(ev->a, struct tir_schedule);
	struct work w = { .sched = *s, .plain = s->func };

	t->single = true;
	t->from_outside = true;
	vec_push(ev->a, &t->works, w);
	return (struct pval){ .kind = PV_SCHEDULE, .u.schedule = t };
}

/* Defines the size variables of f as names of the program, so that index maps,
 * factors and other arguments can use them. */
static void
name_sizes(struct eval *ev, const struct func *f)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		struct pval size = pv_expr(p->var->expr, 1);

		if (!p->buffer) {
			eval_scope_set(ev, ev->globals, p->var->name, &size);
		}
	}
}

/* If the text defines functions, calls the last of them with the schedule as
 * its argument. Returns false after an error. */
static bool
call_last(struct eval *ev, const struct py_node *tree, const struct pval *sch)
{
	const struct py_node *def = NULL;
	struct pval *f, unused;

	for (int i = 0; i < tree->n_kids; i++) {
		if (tree->kids[i]->kind == PY_DEF) {
			def = tree->kids[i];
		}
	}
	if (!def) {
		return true;
	}
	f = eval_scope_find(ev, ev->globals, def->text);
	if (def->n_params != 1) {
		return eval_error(ev, def->span,
				  "a schedule is a function of one parameter; "
				  "write def apply_schedule(sch):");
	}
	return eval_apply(ev, def->span, f, sch, 1, &unused);
}

static bool
run(struct sched *s, const struct source *src, bool loosely)
{
	struct program_options o = { 0 };
	struct program_result result = { .file = src->name };
	const struct py_node *tree = py_parse(s->module, src);
	struct pval sch, script = { .kind = PV_NAMESPACE };
	struct eval ev;
	bool ok;

	if (!tree) {
		return false;
	}
	eval_start(&ev, s->module, src, &o, &result);
	ev.unpacks_single = loosely;
	sch = schedule_value(&ev, s);
	script.u.names = IN_SCRIPT_TIR;
	eval_scope_set(&ev, ev.globals, "sch", &sch);
	eval_scope_set(&ev, ev.globals, "T", &script);
	name_sizes(&ev, s->func);
	ok = eval_whole(&ev, tree) && call_last(&ev, tree, &sch);
	*s = sch.u.schedule->works.data[0].sched;
	return ok;
}

bool
trace_read_python(struct sched *s, const struct source *src)
{
	return run(s, src, false);
}

bool
trace_read_loosely(struct sched *s, const struct source *src)
{
	return run(s, src, true);
}
