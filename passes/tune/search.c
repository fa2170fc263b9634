/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinate descent over the decisions of the rules.
 *
 * The registers limit the size of a tile: more rows leave room for fewer lanes.
 * So a move changes one decision, or it changes one decision to a larger
 * candidate and a second one to a smaller candidate.
 *
 * A base is a schedule at which a descent starts: the rules' own schedule, and,
 * for each rule that could also take the kernel, the first schedule by this
 * rule. A descent tries the neighbours of its best schedule: for each decision
 * the next candidates below and above, then pairs of decisions, then candidates
 * at distance 2. If a neighbour is faster, it becomes the best schedule, and
 * its neighbours are tried. A descent ends when no neighbour is faster. */
#include "search.h"

#include "random.h"

/* A descent starts at a base only if the base takes at most this many times the
 * best time. */
#define NEAR_BEST 1.3

/* A schedule: the decisions that lead to it, and its time relative to that of
 * the rules' own schedule. */
struct point {
	const struct choice *choices;
	int n;
	double ratio;
};

struct known {
	const struct choice *choices;
	int n;
};

struct base {
	struct point at;
	bool done;
};

/* A move changes one decision of the best schedule by `step` candidates; and,
 * unless `other` is -1, the decision `other` by one candidate in the other
 * direction. */
struct move {
	int decision, step, other;
};

struct search {
	struct arena *arena;
	uint64_t random;
	double least_gain;
	VEC(struct known) known;
	VEC(struct base) bases;
	/* The rules that are still to be tried, as candidates of the decision
	 * CHOICE_RULE. */
	VEC(int64_t) rows;
	int next_row;
	int base;          /* the base of the present descent, or -1 */
	struct point best; /* the best schedule of the present descent */
	/* the ratio of the best schedule that any descent has found */
	double best_ratio;
	VEC(struct move) moves;
	int next_move;
	bool started;
	/* the last candidate was the first schedule by another rule */
	bool is_row;
};

struct search *
search_new(struct arena *a, uint64_t seed, double least_gain)
{
	struct search *s = arena_new(a, struct search);

	s->arena = a;
	s->random = seed;
	s->least_gain = least_gain;
	s->base = -1;
	return s;
}

static int64_t
number_of(const struct choice *c)
{
	return c->candidates[c->taken];
}

static bool
same_decisions(const struct choice *a, int n_a, const struct choice *b, int n_b)
{
	for (int i = 0; i < n_a && n_a == n_b; i++) {
		if (strcmp(a[i].name, b[i].name) != 0 ||
		    number_of(&a[i]) != number_of(&b[i])) {
			return false;
		}
	}
	return n_a == n_b;
}

bool
search_knows(const struct search *s, const struct choices *made)
{
	for (int i = 0; i < s->known.n; i++) {
		if (same_decisions(s->known.data[i].choices, s->known.data[i].n,
				   made->asked.data, made->asked.n)) {
			return true;
		}
	}
	return false;
}

/* -- moves -- */

static bool
is_rule(const struct choice *c)
{
	return strcmp(c->name, CHOICE_RULE) == 0;
}

static void
add_move(struct search *s, int decision, int step, int other)
{
	struct move m = { decision, step, other };

	vec_push(s->arena, &s->moves, m);
}

static bool
reaches(const struct choice *c, int step)
{
	return !is_rule(c) && c->taken + step >= 0 && c->taken + step < c->n;
}

static void
add_steps(struct search *s, const int *order, int step)
{
	for (int i = 0; i < s->best.n; i++) {
		for (int sign = 1; sign >= -1; sign -= 2) {
			if (reaches(&s->best.choices[order[i]], sign * step)) {
				add_move(s, order[i], sign * step, -1);
			}
		}
	}
}

static void
add_pairs(struct search *s, const int *order)
{
	for (int i = 0; i < s->best.n; i++) {
		for (int k = 0; k < s->best.n; k++) {
			if (k != i && reaches(&s->best.choices[order[i]], 1) &&
			    reaches(&s->best.choices[order[k]], -1)) {
				add_move(s, order[i], 1, order[k]);
			}
		}
	}
}

/* Lists the moves from the best schedule: near ones first, and decisions in a
 * random order. */
static void
list_moves(struct search *s)
{
	int n = s->best.n, *order = arena_array(s->arena, int, n + 1);

	s->moves.n = s->next_move = 0;
	for (int i = 0; i < n; i++) {
		int k = (int)(random_next(&s->random) % (uint64_t)(i + 1));

		order[i] = order[k];
		order[k] = i;
	}
	add_steps(s, order, 1);
	add_pairs(s, order);
	add_steps(s, order, 2);
}

static struct search_candidate
moved(struct search *s, struct move m)
{
	struct preference *p = arena_array(s->arena, struct preference,
					   s->best.n + 1);

	for (int i = 0; i < s->best.n; i++) {
		const struct choice *c = &s->best.choices[i];
		int at = c->taken + (i == m.decision ? m.step
				     : i == m.other  ? -m.step
						     : 0);

		p[i] = (struct preference){ c->name, c->nth,
					    c->candidates[at] };
	}
	return (struct search_candidate){ p, s->best.n };
}

/* -- bases -- */

/* Starts a descent at the fastest base from which no descent was started yet.
 * Returns false if no such base is nearly as fast as the best schedule. */
static bool
begin_descent(struct search *s)
{
	int found = -1;

	for (int i = 0; i < s->bases.n; i++) {
		const struct base *b = &s->bases.data[i];

		if (!b->done && b->at.ratio <= NEAR_BEST * s->best_ratio &&
		    (found < 0 ||
		     b->at.ratio < s->bases.data[found].at.ratio)) {
			found = i;
		}
	}
	if (found < 0) {
		return false;
	}
	s->bases.data[found].done = true;
	s->base = found;
	s->best = s->bases.data[found].at;
	list_moves(s);
	return true;
}

bool
search_next(struct search *s, struct search_candidate *out)
{
	if (!s->started) {
		s->started = true;
		s->is_row = true;
		*out = (struct search_candidate){ NULL, 0 };
		return true;
	}
	s->is_row = s->next_row < s->rows.n;
	if (s->is_row) {
		struct preference *p = arena_new(s->arena, struct preference);

		*p = (struct preference){ CHOICE_RULE, 0,
					  s->rows.data[s->next_row++] };
		*out = (struct search_candidate){ p, 1 };
		return true;
	}
	while (s->bases.n > 0) {
		if (s->base < 0 && !begin_descent(s)) {
			return false;
		}
		if (s->next_move < s->moves.n) {
			*out = moved(s, s->moves.data[s->next_move++]);
			return true;
		}
		s->base = -1;
	}
	return false;
}

/* Lists the other rules that are to be tried. Those after the rules' own choice
 * come first: the table has better rules first, and the rules before the choice
 * do not apply. */
static void
list_rows(struct search *s, const struct choices *made)
{
	for (int i = 0; i < made->asked.n; i++) {
		const struct choice *c = &made->asked.data[i];

		for (int k = 1; is_rule(c) && c->nth == 0 && k < c->n; k++) {
			vec_push(s->arena, &s->rows,
				 c->candidates[(c->taken + k) % c->n]);
		}
	}
}

void
search_tell(struct search *s, enum search_outcome outcome,
	    const struct choices *made, double ratio)
{
	struct point at = { .ratio = ratio };
	bool first = s->known.n == 0;
	struct known known;
	struct base base = { 0 };

	if (made == NULL) {
		return;
	}
	at.n = made->asked.n;
	at.choices = arena_copy(s->arena, made->asked.data,
				sizeof *at.choices * (size_t)at.n);
	known = (struct known){ at.choices, at.n };
	if (!search_knows(s, made)) {
		vec_push(s->arena, &s->known, known);
	}
	if (first) {
		list_rows(s, made);
	}
	if (outcome == SEARCH_FAILED) {
		return;
	}
	if (first || ratio < s->best_ratio) {
		s->best_ratio = ratio;
	}
	if (s->is_row) {
		base.at = at;
		vec_push(s->arena, &s->bases, base);
	} else if (ratio <= s->best.ratio * (1 - s->least_gain)) {
		s->best = at;
		list_moves(s);
	}
}
