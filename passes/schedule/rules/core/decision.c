/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of rules, in the trace. */
#include "decision.h"

void
candidates_add(struct rules *r, struct candidates *c, int64_t n)
{
	for (int i = 0; i < c->list.n; i++) {
		if (c->list.data[i] == n) {
			return;
		}
	}
	vec_push(&r->module->arena, &c->list, n);
}

void
candidates_add_steps(struct rules *r, struct candidates *c, int64_t least,
		     int64_t most, int64_t step, int64_t of)
{
	for (int64_t n = (least + step - 1) / step * step; n <= most;
	     n += step) {
		if (n > 0 && of % n == 0) {
			candidates_add(r, c, n);
		}
	}
}

/* Adds the number `chosen` to the candidates unless they contain it, sorts the
 * candidates, and returns the index of `chosen`. */
static int
place_choice(struct rules *r, struct candidates *c, int64_t chosen)
{
	int at = 0;

	candidates_add(r, c, chosen);
	for (int i = 1; i < c->list.n; i++) {
		int64_t n = c->list.data[i];
		int k = i;

		for (; k > 0 && c->list.data[k - 1] > n; k--) {
			c->list.data[k] = c->list.data[k - 1];
		}
		c->list.data[k] = n;
	}
	while (c->list.data[at] != chosen) {
		at++;
	}
	return at;
}

struct sched_value
rules_decide(struct rules *r, const char *name, struct candidates *c,
	     int64_t *chosen)
{
	struct sched_value *items, *probs, args[3], number;
	int at = place_choice(r, c, *chosen), n = c->list.n;

	if (n == 1) {
		return sv_int(*chosen);
	}
	at = choices_ask(r->choices, &r->module->arena, name, c->list.data, n,
			 at);
	*chosen = c->list.data[at];
	items = arena_array(&r->module->arena, struct sched_value, n);
	probs = arena_array(&r->module->arena, struct sched_value, n);
	for (int i = 0; i < n; i++) {
		items[i] = sv_int(c->list.data[i]);
		probs[i] = sv_float(1);
	}
	args[0] = sv_list(r->module, items, n);
	args[1] = sv_list(r->module, probs, n);
	args[2] = sv_int(at);
	return sched_apply(&r->s, "sample_categorical", args, 3, &number)
		       ? number
		       : sv_int(*chosen);
}

int64_t
rules_way(struct rules *r, const char *name, struct candidates *c, int64_t own)
{
	int at;

	if (r->choices == NULL) {
		return own;
	}
	at = place_choice(r, c, own);
	if (c->list.n == 1) {
		return own;
	}
	at = choices_ask(r->choices, &r->module->arena, name, c->list.data,
			 c->list.n, at);
	return c->list.data[at];
}

const struct expr *
rules_number(struct rules *r, struct sched_value number)
{
	return number.kind == SV_EXPR ? number.u.expr
				      : expr_index(r->module, number.u.ival);
}

bool
rules_split(struct rules *r, int loop, struct sched_value number, int *parts)
{
	struct sched_value factors[2] = { sv_none(), number };
	struct sched_value args[2] = { sv_loop(loop),
				       sv_list(r->module, factors, 2) },
			   made;

	if (!sched_apply(&r->s, "split", args, 2, &made)) {
		return false;
	}
	parts[0] = made.items[0].u.id;
	parts[1] = made.items[1].u.id;
	return true;
}
