/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the counts that a backend's patterns declare, over the matches of a
 * region. Templates use them as sizes of lists of a runtime. */
#include "regions.h"

struct sum {
	const char *name;
	int64_t value;
};

struct sums {
	struct arena *a;
	VEC(struct sum) list;
};

static void
add_to_sum(struct sums *s, const char *name, int64_t value)
{
	struct sum row = { name, value };

	for (int i = 0; i < s->list.n; i++) {
		if (strcmp(s->list.data[i].name, name) == 0) {
			s->list.data[i].value += value;
			return;
		}
	}
	vec_push(s->a, &s->list, row);
}

/* Adds to the sums: for each of the n counts, `times` times its field `number`,
 * and n_inputs times its field `each`. */
static void
add_counts(struct sums *s, const struct pattern_count *counts, int n,
	   int64_t times, int64_t n_inputs)
{
	for (int i = 0; i < n; i++) {
		add_to_sum(s, counts[i].name,
			   times * counts[i].number +
				   n_inputs * counts[i].each);
	}
}

/* The number of inputs of the nodes that a step of the pattern matched; step -1
 * is the body of the pattern. Sets *follower to the name of the step's
 * follower, or NULL. */
static int
count_inputs(const struct region_match *match, int step, const char **follower)
{
	int n = 0;

	*follower = NULL;
	for (int i = 0; i < match->nodes.n; i++) {
		const struct match_node *at = &match->nodes.data[i];

		for (int k = 0; at->step == step && k < at->node->n_inputs;
		     k++) {
			n += at->node->inputs[k] != NULL;
		}
		if (at->step == step) {
			*follower = at->follower;
		}
	}
	return n;
}

static const struct pattern_graph *
find_follower(const struct pattern *p, const char *name)
{
	for (int c = 0; c < p->n_chains; c++) {
		for (int i = 0; i < p->chains[c].n_one_of; i++) {
			if (strcmp(p->chains[c].one_of[i].name, name) == 0) {
				return &p->chains[c].one_of[i];
			}
		}
	}
	return NULL;
}

static void
count_match(struct sums *s, const struct backend *b,
	    const struct region_match *match)
{
	const struct pattern *p = backend_pattern(b, match->pattern);
	const char *follower;
	int n = count_inputs(match, -1, &follower);

	add_counts(s, p->counts, p->n_counts, 1, n);
	for (int step = 0; step < match->n_steps; step++) {
		const struct pattern_graph *g;

		n = count_inputs(match, step, &follower);
		g = find_follower(p, follower);
		if (g != NULL) {
			add_counts(s, g->counts, g->n_counts, 1, n);
		}
	}
}

void
region_counts(struct region_text *x, struct tdata *data)
{
	struct sums s = { .a = x->k->a };

	/* First adds 0 for every count of the backend's patterns, so that a
	 * count without matches is known to be 0. */
	for (int i = 0; i < x->b->n_patterns; i++) {
		const struct pattern *p = &x->b->patterns[i];

		add_counts(&s, p->counts, p->n_counts, 0, 0);
		for (int c = 0; c < p->n_chains; c++) {
			for (int k = 0; k < p->chains[c].n_one_of; k++) {
				const struct pattern_graph *g =
					&p->chains[c].one_of[k];

				add_counts(&s, g->counts, g->n_counts, 0, 0);
			}
		}
	}
	add_counts(&s, x->b->input_counts, x->b->n_input_counts, x->r->inputs.n,
		   0);
	add_counts(&s, x->b->output_counts, x->b->n_output_counts,
		   x->r->outputs.n, 0);
	for (int i = 0; i < x->r->matches.n; i++) {
		count_match(&s, x->b, x->r->matches.data[i]);
	}
	for (int i = 0; i < s.list.n; i++) {
		tdata_int(data,
			  arena_printf(x->k->a, "count_%s",
				       s.list.data[i].name),
			  s.list.data[i].value);
	}
}
