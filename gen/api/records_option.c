/* SPDX-License-Identifier: Apache-2.0 */
/* The option records: kernels scheduled by measured records. A record is data of a
 * stranger: see record_apply(). */
#include "default_schedule.h"
#include "schedule.h"
#include "tirc_context.h"
#include "tuning.h"

bool
context_records(struct tirc *t)
{
	for (; t->n_records_read < t->options.n_records; t->n_records_read++) {
		if (!records_read(t->m, t->options.records[t->n_records_read],
				  &t->records)) {
			return false;
		}
	}
	return true;
}

static void
note_elsewhere(struct tirc *t, const struct kernel *k, const char *key)
{
	const struct record *r = records_elsewhere(&t->records, key, t->facts);
	const char *how = r != NULL ? facts_difference(t->m, r->facts, t->facts)
				    : NULL;

	if (r != NULL) {
		diag_note(&t->m->diags, DIAG_BAD_RECORD,
			  (struct diag_place){ .file = r->file,
					       .line = r->line,
					       .item = k->name },
			  "the record is for another target, with %s; it is "
			  "not used",
			  how != NULL ? how : "facts in another order");
	}
}

struct scheduled {
	struct tirc *t;
	const struct kernel *kernel;
	const struct sched *sched;
};

static bool
check(void *ctx, const char *by, const struct func *f)
{
	const struct scheduled *x = ctx;

	return context_check_schedule(x->t, by, f, true) &&
	       sched_check_layouts(x->sched, x->kernel);
}

enum hook_schedule
context_schedule_record(struct tirc *t, const struct kernel *k, struct sched *s,
			const char **words)
{
	struct arena *a = &t->m->arena;
	bool *is_weight = arena_array(a, bool, k->args.n + 1);
	struct tirc_record used = { .kernel = k->name };
	const struct record *r;
	const char *key, *why;

	if (t->records.list.n == 0) {
		return HOOK_SCHEDULE_NONE;
	}
	for (int i = 0; i < k->args.n; i++) {
		is_weight[i] = k->args.data[i].kind == ARG_WEIGHT;
	}
	if (t->facts == NULL) {
		t->facts = target_facts_text(t->m, t->target);
	}
	key = workload_key(s->func, is_weight);
	r = records_best(&t->records, key, t->facts);
	if (r == NULL) {
		note_elsewhere(t, k, key);
		return HOOK_SCHEDULE_NONE;
	}
	why = record_apply(t->m, r, s, check, &(struct scheduled){ t, k, s });
	if (why != NULL) {
		diag_warning(&t->m->diags, DIAG_BAD_RECORD,
			     (struct diag_place){ .file = r->file,
						  .line = r->line,
						  .item = k->name },
			     "%s; the rules schedule the kernel", why);
		return HOOK_SCHEDULE_NONE;
	}
	*words = arena_printf(a, "by a record: %s",
			      record_words(a, r->decisions, r->n_decisions));
	for (int i = 0; i < t->used_records.n; i++) {
		if (strcmp(t->used_records.data[i].kernel, k->name) == 0) {
			/* the record is in the list already: the kernel is
			 * scheduled once more */
			return HOOK_SCHEDULE_DONE;
		}
	}
	used.file = r->file;
	used.line = r->line;
	used.ratio = record_ratio(r);
	used.decisions = record_words(a, r->decisions, r->n_decisions);
	vec_push(a, &t->used_records, used);
	return HOOK_SCHEDULE_DONE;
}

int
tirc_record_count(const struct tirc *t)
{
	return t->used_records.n;
}

struct tirc_record
tirc_record(const struct tirc *t, int i)
{
	return t->used_records.data[i];
}

void
tirc_tune_model(struct tirc *t, struct tune_model *out)
{
	*out = (struct tune_model){
		.program = &t->program,
		.facts = target_facts_text(t->m, t->target),
		.dialect_path = t->options.dialect_path,
	};
}

struct module *
tirc_module(struct tirc *t)
{
	return t->m;
}
