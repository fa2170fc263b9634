/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of the rules, which a tuner can read and choose. */
#include "choices.h"

static int
asked_before(const struct choices *c, const char *name)
{
	int n = 0;

	for (int i = 0; i < c->asked.n; i++) {
		n += strcmp(c->asked.data[i].name, name) == 0;
	}
	return n;
}

bool
choices_preferred(const struct choices *c, const char *name, int64_t *number)
{
	int nth = c != NULL ? asked_before(c, name) : 0;

	for (int i = 0; c != NULL && i < c->n_preferred; i++) {
		const struct preference *p = &c->preferred[i];

		if (p->nth == nth && strcmp(p->name, name) == 0) {
			*number = p->number;
			return true;
		}
	}
	return false;
}

void
choices_note(struct choices *c, struct arena *a, const char *name,
	     const int64_t *candidates, int n, int rules, int taken)
{
	struct choice one = {
		.name = name, .n = n, .rules = rules, .taken = taken
	};

	one.nth = asked_before(c, name);
	one.candidates = arena_copy(a, candidates,
				    sizeof *candidates * (size_t)n);
	vec_push(a, &c->asked, one);
}

int
choices_ask(struct choices *c, struct arena *a, const char *name,
	    const int64_t *candidates, int n, int rules)
{
	int64_t number;
	int taken = rules;

	if (c == NULL) {
		return rules;
	}
	if (choices_preferred(c, name, &number)) {
		for (int i = 0; i < n; i++) {
			taken = candidates[i] == number ? i : taken;
		}
	}
	choices_note(c, a, name, candidates, n, rules, taken);
	return taken;
}
