/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the trace of a record, which may come from a stranger: each step is
 * checked by its primitive. Steps whose correctness cannot be checked are
 * refused. */
#include "record_apply.h"

#include "trace_json.h"

/* Does the step contain a promise of the user that tirc does not check: a
 * primitive unsafe_…, or a true argument assume_…? */
static bool
is_promise(const struct sched_step *step)
{
	const struct primitive *p = step->primitive;

	for (int i = 0; i < p->n_params; i++) {
		if (strncmp(p->params[i].name, "assume_", 7) == 0 &&
		    step->args[i].kind == SV_BOOL && step->args[i].u.ival) {
			return true;
		}
	}
	return strncmp(p->name, "unsafe_", 7) == 0;
}

/* The reason why the applied steps cannot come from a record that tirc tune
 * wrote; NULL if they can. */
static const char *
steps_problem(struct module *m, const struct record *r, const struct sched *s)
{
	int at = 0;

	for (int i = 0; i < s->trace.n; i++) {
		if (is_promise(&s->trace.data[i])) {
			return arena_printf(
				&m->arena,
				"its trace has a step that cannot be checked: "
				"%s",
				s->trace.data[i].text);
		}
	}
	for (int i = 0; i < r->n_decisions && at < s->samples.n; i++) {
		const struct record_decision *d = &r->decisions[i];

		at += d->word == NULL && s->samples.data[at].value == d->number;
	}
	return at == s->samples.n ? NULL
				  : "its decisions are not those of its trace";
}

const char *
record_apply(struct module *m, const struct record *r, struct sched *s,
	     bool (*check)(void *ctx, const char *by, const struct func *f),
	     void *ctx)
{
	struct sched_mark mark = sched_checkpoint(s);
	int n = m->diags.list.n;
	struct source src = {
		.name = arena_printf(&m->arena, "%s:%d", r->file, r->line),
		.text = r->trace,
		.length = strlen(r->trace),
	};
	bool good = trace_json_read(s, &src);
	const char *why = good ? steps_problem(m, r, s) : NULL;

	good = good && why == NULL && check(ctx, src.name, s->func);
	if (good) {
		return NULL;
	}
	for (int i = m->diags.list.n - 1; why == NULL && i >= n; i--) {
		if (m->diags.list.data[i].severity == DIAG_ERROR) {
			why = arena_printf(&m->arena,
					   "its trace does not apply: %s",
					   m->diags.list.data[i].message);
		}
	}
	diags_drop_errors(&m->diags, n, DIAG_COUNT);
	sched_rollback(s, mark);
	return why != NULL ? why : "its trace does not apply";
}

const char *
record_script(struct module *m, const struct record *r)
{
	struct source src = {
		.name = arena_printf(&m->arena, "%s:%d", r->file, r->line),
		.text = r->trace,
		.length = strlen(r->trace),
	};
	struct strbuf text;
	const char *copy = NULL;

	strbuf_init(&text);
	if (trace_json_python(m, &src, &text)) {
		copy = arena_strndup(&m->arena, text.data, text.len);
	}
	strbuf_release(&text);
	return copy;
}
