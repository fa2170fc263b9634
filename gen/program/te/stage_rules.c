/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules of topi (schedule_injective, schedule_dense, …): the rules of
 * default schedules make each of them from the blocks of the function,
 * whichever of these functions the program calls. */
#include "default_schedule.h"
#include "stage.h"

/* Leaves the schedule to the rules, and remembers the target of the enclosing
 * `with` for them. */
bool
stage_use_rules(struct call *c, struct pval *out)
{
	struct te_schedule *s = c->self.u.te_schedule;

	s->by_rules = true;
	s->target = c->ev->with_target;
	*out = c->self;
	return true;
}

bool
stage_left_to_rules(const struct te_schedule *s)
{
	for (int i = 0; i < s->stages.n; i++) {
		const struct stage *st = s->stages.data[i];

		if (st->events.n > 0 || st->attach == ATTACH_AT) {
			return false;
		}
	}
	return s->by_rules;
}

bool
stage_apply_rules(struct call *c, const struct te_schedule *s, struct func *f,
		  struct strbuf *text)
{
	struct eval *ev = c->ev;
	const struct pv_target *said = ev->with_target ? ev->with_target
						       : s->target;
	const char *name = ev->o->target ? ev->o->target
			   : said        ? said->name
					 : NULL;
	const struct target *target = target_load_named(ev->m, name,
							ev->o->dialect_path);
	struct kernel k = { .name = f->name, .func = f };
	int errors = ev->m->diags.list.n;

	if (!target || !eval_tick(ev, c->span, 1000)) {
		return false;
	}
	if (!default_schedule(&k, target, ev->m, NULL)) {
		return eval_locate(ev, c->span, errors);
	}
	strbuf_printf(text, "%s%s", text->len ? "; " : "", k.schedule);
	return true;
}
