/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the rules of sched_rules.def for a kernel, stage by stage: inlines
 * injective blocks as the stage says, then lets rules take the blocks that
 * remain. */
#include "choose_parts.h"
#include "decision.h"
#include "default_schedule.h"
#include "element_threads.h"
#include "nest.h"

/* Records the decision which row of the table takes the kernel: row `taken`, or
 * the number of rows if none takes it. */
static void
ask_rule(struct rules *r, int64_t taken)
{
	bool device = r->target->max_threads > 1;
	int n, n_rows = 0, at = 0;
	const struct rule *table = sched_rules_table(&n);
	int64_t *rows;

	if (r->choices == NULL) {
		return;
	}
	rows = arena_array(&r->module->arena, int64_t, n + 1);
	for (int i = 0; i <= n; i++) {
		if (i == n || (table[i].stage->device == device &&
			       table[i].stage->over == OVER_KERNEL)) {
			at = i == taken ? n_rows : at;
			rows[n_rows++] = i;
		}
	}
	choices_note(r->choices, &r->module->arena, CHOICE_RULE, rows, n_rows,
		     at, at);
}

/* Applies a rule, and rolls the schedule back if the rule fails. Returns NULL
 * if the rule took the kernel, else the reason why not. */
static const char *
try_rule(struct rules *r, const struct rule *rule,
	 const struct kernel_blocks *k)
{
	struct arena *a = &r->module->arena;
	int messages = r->s.diags.list.n;
	struct rules_mark mark;

	if (!rule->target->holds(r, k)) {
		return arena_printf(a, "it needs %s", rule->target->sentence);
	}
	if (!rule->blocks->holds(r, k)) {
		return arena_printf(a, "it needs %s", rule->blocks->sentence);
	}
	mark = rules_checkpoint(r);
	r->refusal = NULL;
	if (rule->stage->over == OVER_KERNEL) {
		int n;

		ask_rule(r, rule - sched_rules_table(&n));
	}
	if (rule->apply(r, k)) {
		return NULL;
	}
	rules_undo(r, mark);
	return rules_refusal(r, messages);
}

static bool
take(struct rules *r, const struct rule *rule, const struct kernel_blocks *k)
{
	const char *why = try_rule(r, rule, k);

	explain_rule(r, rule, k->block, why);
	return why == NULL;
}

/* Tries the rules `first` to `last` of a stage, which take a whole kernel, on
 * all blocks that are left. True if one took them. */
static bool
take_kernel(struct rules *r, const struct rule *first, const struct rule *last,
	    const struct kernel_blocks *k)
{
	int64_t preferred;
	int n;
	const struct rule *table = sched_rules_table(&n);
	bool one = choices_preferred(r->choices, CHOICE_RULE, &preferred);

	for (const struct rule *rule = first; rule <= last; rule++) {
		if ((!one || rule - table == preferred) && take(r, rule, k)) {
			explain_rest(r, rule);
			return true;
		}
	}
	return false;
}

/* Tries the rules `first` to `last` of a stage on each of the blocks: the first
 * rule that applies takes the block. */
static void
take_blocks(struct rules *r, const struct rule *first, const struct rule *last,
	    const struct kernel_blocks *blocks)
{
	struct kernel_blocks k = *blocks;

	for (int i = 0; i < k.n; i++) {
		bool taken = false;

		/* The rule for another block may have inlined this block, or
		 * bound it to threads. */
		if (func_find(r->s.func, k.list[i]) == NULL ||
		    rules_is_bound(r, k.list[i])) {
			continue;
		}
		k.block = k.list[i];
		for (const struct rule *rule = first; rule <= last && !taken;
		     rule++) {
			taken = take(r, rule, &k);
		}
	}
}

/* Tries the stages of the table in their order. False if no rule took the
 * kernel. */
static bool
choose(struct rules *r)
{
	int n;
	const struct rule *table = sched_rules_table(&n), *end = table + n;
	const struct rule *first = table, *last;
	bool device = r->target->max_threads > 1, inlined = false;
	enum inline_kept kept = KEEP_NOTHING;
	struct kernel_blocks k;

	for (; first < end; first = last + 1) {
		const struct rule_stage *stage = first->stage;

		for (last = first; last + 1 < end && last[1].stage == stage;) {
			last++;
		}
		if (stage->device != device) {
			continue;
		}
		if (!inlined || stage->kept != kept) {
			rules_inline(r, stage->kept);
			kept = stage->kept;
			inlined = true;
		}
		explain_stage(r, stage);
		k = rules_blocks(r);
		if (k.n == 0) {
			explain_nothing_left(r);
		} else if (stage->over == OVER_BLOCKS) {
			take_blocks(r, first, last, &k);
		} else if (take_kernel(r, first, last, &k)) {
			return true;
		}
	}
	return device && rules_blocks(r).n == 0;
}

/* Reports that no schedule binds the kernel to threads, with the message of the
 * primitive that failed last. Returns false. */
static bool
no_threads(struct rules *r)
{
	struct diag_place place = { .item = r->kernel->name };
	const struct diags *d = &r->s.diags;

	return diag_error(&r->module->diags, DIAG_UNSUPPORTED, place,
			  "no schedule binds the kernel to a device's "
			  "threads: %s",
			  d->list.n > 0 ? d->list.data[d->list.n - 1].message
					: "no block can be bound");
}

void
sched_for_kernel(struct sched *s, const struct kernel *k,
		 const struct target *target)
{
	int64_t *align = arena_array(&s->module->arena, int64_t,
				     s->func->params.n + 1);

	for (int i = 0; i < s->func->params.n && i < k->args.n; i++) {
		if (k->args.data[i].kind == ARG_WEIGHT &&
		    !target->loose_weights) {
			align[i] = target->align_bytes;
		}
	}
	s->intrins = target->intrins;
	s->param_align = align;
}

static bool
wants_parallel(struct rules *r)
{
	struct candidates c = { 0 };

	if (r->target->cores > 1) {
		candidates_add(r, &c, 0);
	}
	return rules_way(r, "parallel", &c, 1) != 0;
}

static bool
schedule(struct rules *r)
{
	bool chosen;

	sched_init(&r->s, r->kernel->func);
	sched_for_kernel(&r->s, r->kernel, r->target);
	chosen = choose(r);
	if (!chosen) {
		int n;

		sched_rules_table(&n);
		ask_rule(r, n);
	}
	if (r->target->max_threads > 1) {
		if (!chosen) {
			return no_threads(r);
		}
		if (r->nests > 0) {
			rules_describe_threads(r);
		}
	} else {
		if (!chosen) {
			strbuf_puts(&r->words, "plain loops");
		}
		if (wants_parallel(r)) {
			rules_parallel(r);
		}
	}
	rules_block_sums(r);
	func_commit(r->kernel->func);
	return sched_adopt_layouts(&r->s, r->kernel);
}

static bool
schedule_kernel(struct rules *r, struct sched *out)
{
	bool good;

	strbuf_init(&r->words);
	good = schedule(r);
	if (good) {
		r->kernel->schedule = arena_strndup(&r->module->arena,
						    r->words.data,
						    r->words.len);
	}
	strbuf_release(&r->words);
	if (good && out != NULL) {
		*out = r->s;
	}
	return good;
}

bool
default_schedule(struct kernel *k, const struct target *target,
		 struct module *m, struct sched *out)
{
	return default_schedule_chosen(k, target, m, NULL, out);
}

bool
default_schedule_chosen(struct kernel *k, const struct target *target,
			struct module *m, struct choices *choices,
			struct sched *out)
{
	struct rules r = {
		.kernel = k, .target = target, .module = m, .choices = choices
	};

	return schedule_kernel(&r, out);
}

const char *
default_schedule_rule(int64_t row)
{
	int n;
	const struct rule *table = sched_rules_table(&n);

	return row >= 0 && row < n ? table[row].name : "plain";
}

bool
default_schedule_explained(struct kernel *k, const struct target *target,
			   struct module *m, struct strbuf *explanation)
{
	struct rules r = {
		.kernel = k,
		.target = target,
		.module = m,
		.explanation = explanation,
	};

	return schedule_kernel(&r, NULL);
}
