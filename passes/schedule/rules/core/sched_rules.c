/* SPDX-License-Identifier: Apache-2.0 */
/* The state that rules share: checkpoints, and why a rule did not apply. */
#include "sched_rules.h"

struct rules_mark
rules_checkpoint(struct rules *r)
{
	return (struct rules_mark){ sched_checkpoint(&r->s), r->words.len,
				    r->choices != NULL ? r->choices->asked.n
						       : 0 };
}

bool
rules_undo(struct rules *r, struct rules_mark mark)
{
	sched_rollback(&r->s, mark.sched);
	r->words.len = mark.words;
	if (r->choices != NULL) {
		r->choices->asked.n = mark.asked;
	}
	if (r->words.data != NULL) {
		r->words.data[mark.words] = '\0';
	}
	return false;
}

bool
rules_no(struct rules *r, const char *fmt, ...)
{
	va_list ap;

	if (r->explanation != NULL) {
		va_start(ap, fmt);
		r->refusal = arena_vprintf(&r->module->arena, fmt, ap);
		va_end(ap);
		r->refused_after = r->s.diags.list.n;
	}
	return false;
}

const char *
rules_refusal(const struct rules *r, int messages)
{
	const struct diags *d = &r->s.diags;
	const char *text = r->refusal;

	if (d->list.n > messages &&
	    (text == NULL || d->list.n > r->refused_after)) {
		const struct diag *last = &d->list.data[d->list.n - 1];

		text = arena_printf(&r->module->arena, "%s: %s",
				    last->place.item, last->message);
	}
	return text != NULL ? text : "it does not fit";
}
