/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a schedule: undo and copies. */
#include "schedule.h"

#include "iterate.h"

void
sched_init(struct sched *s, struct func *f)
{
	memset(s, 0, sizeof *s);
	s->func = f;
	s->module = f->module;
	diags_init(&s->diags, &f->module->arena);
	sched_seed(s, 1);
}

void
sched_seed(struct sched *s, uint64_t seed)
{
	s->random = seed;
}

struct sched_mark
sched_checkpoint(struct sched *s)
{
	return (struct sched_mark){ func_checkpoint(s->func), s->trace.n,
				    s->samples.n, s->layouts.n, s->random };
}

void
sched_rollback(struct sched *s, struct sched_mark mark)
{
	func_rollback(s->func, mark.journal);
	s->trace.n = mark.steps;
	s->samples.n = mark.samples;
	s->layouts.n = mark.layouts;
	s->random = mark.random;
}

static void
copy_ids(struct stmt *from, struct stmt *to)
{
	struct stmt_iter a = stmt_each(from), b = stmt_each(to);

	while ((from = stmt_next(&a)) != NULL) {
		stmt_next(&b)->id = from->id;
	}
}

void
sched_fork(const struct sched *s, struct sched *out)
{
	struct arena *arena = &s->module->arena;

	sched_init(out, func_clone(s->func, s->func->name));
	copy_ids(s->func->body, out->func->body);
	out->func->next_id = s->func->next_id;
	for (int i = 0; i < s->trace.n; i++) {
		vec_push(arena, &out->trace, s->trace.data[i]);
	}
	for (int i = 0; i < s->samples.n; i++) {
		vec_push(arena, &out->samples, s->samples.data[i]);
	}
	for (int i = 0; i < s->layouts.n; i++) {
		vec_push(arena, &out->layouts, s->layouts.data[i]);
	}
	out->random = s->random;
	out->intrins = s->intrins;
	out->param_align = s->param_align;
}
