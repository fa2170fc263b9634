/* SPDX-License-Identifier: Apache-2.0 */
/* Explains which rule was taken, and why the other rules were not:
 *
 *   what is cheap to repeat is inlined, but for copies with borders:
 *     padded_rows        no   it needs a copy with a border, …
 *   what is cheap to repeat is inlined:
 *     recurrent          no   no loop over time has blocks inside
 *     register_tile      yes  tiles the sum in registers: …
 *     window             -    not tried */
#include "choose_parts.h"

static void
put(struct rules *r, const struct rule *rule, const char *became, int block,
    const char *text)
{
	const struct stmt *b = block != 0 ? func_find(r->s.func, block) : NULL;

	strbuf_printf(r->explanation, "  %-20s %-4s %s%s%s\n", rule->name,
		      became, b != NULL ? b->u.block->name : "",
		      b != NULL ? ": " : "", text);
}

void
explain_stage(struct rules *r, const struct rule_stage *stage)
{
	if (r->explanation != NULL) {
		strbuf_printf(r->explanation, "%s:\n", stage->sentence);
	}
}

void
explain_rule(struct rules *r, const struct rule *rule, int block,
	     const char *why)
{
	if (r->explanation != NULL) {
		put(r, rule, why == NULL ? "yes" : "no", block,
		    why == NULL ? rule->what : why);
	}
}

void
explain_nothing_left(struct rules *r)
{
	if (r->explanation != NULL) {
		strbuf_puts(r->explanation, "  no block is left\n");
	}
}

void
explain_rest(struct rules *r, const struct rule *rule)
{
	int n;
	const struct rule *rules = sched_rules_table(&n);

	if (r->explanation == NULL) {
		return;
	}
	for (const struct rule *x = rule + 1; x < rules + n; x++) {
		if (x->stage->device != rule->stage->device) {
			continue;
		}
		if (x->stage != x[-1].stage) {
			explain_stage(r, x->stage);
		}
		put(r, x, "-", 0, "not tried");
	}
}
