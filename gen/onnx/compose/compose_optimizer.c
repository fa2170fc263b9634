/* SPDX-License-Identifier: Apache-2.0 */
/* One training step of an optimizer: updates n tensors and their moments from
 * their gradients.
 *
 *	before	x2, v2 = Momentum<alpha=a, beta=b>(r, t, x, g, v)
 *	after	x2_regular = norm_coefficient * x + g
 *		v2 = a * v + (t > 0 ? b : 1) * x2_regular
 *		x2 = x - r * v2
 */
#include "compose.h"

struct step {
	struct tensor *rate, *count; /* count: cast to the type of the rate */
	struct tensor *x, *g, *v, *h;
	struct tensor *new_x, *new_v, *new_h;
};

static double
attribute(const struct compose *c, const char *name)
{
	return node_attr_float(c->node, name, 0);
}

static struct tensor *
times(struct compose *c, const char *what, struct tensor *x, double by)
{
	return compose_with(c, what, "Mul", x, by);
}

/* The gradient plus that of the penalty norm_coefficient / 2 * x^2. */
static struct tensor *
regular(struct compose *c, const struct step *s)
{
	double norm = attribute(c, "norm_coefficient");

	return norm == 0 ? s->g
			 : compose_2(c, "regular", "Add",
				     times(c, "norm", s->x, norm), s->g);
}

/* Selects yes where the update count is positive, else no. */
static struct tensor *
later(struct compose *c, const struct step *s, const char *what,
      struct tensor *yes, struct tensor *no)
{
	return compose_node(c, what, "Where", 3,
			    compose_with(c, "started", "Greater", s->count, 0),
			    yes, no);
}

static struct tensor *
descend(struct compose *c, const struct step *s, struct tensor *by)
{
	return compose_2(c, "next", "Sub", s->x,
			 compose_2(c, "step", "Mul", by, s->rate));
}

static bool
momentum_step(struct compose *c, struct step *s)
{
	const char *mode = node_attr_string(c->node, "mode", "standard");
	struct dtype type = s->rate->type;
	struct tensor *g = regular(c, s), *beta, *by;

	beta = later(c, s, "beta",
		     compose_scalar(c, "later_beta", type,
				    attribute(c, "beta")),
		     compose_scalar(c, "first_beta", type, 1));
	s->new_v = compose_2(c, "velocity", "Add",
			     times(c, "kept", s->v, attribute(c, "alpha")),
			     compose_2(c, "more", "Mul", g, beta));
	by = s->new_v;
	if (strcmp(mode, "nesterov") == 0) {
		by = compose_2(c, "ahead", "Add", g,
			       times(c, "far", by, attribute(c, "alpha")));
	}
	s->new_x = descend(c, s, by);
	return true;
}

static bool
adagrad_step(struct compose *c, struct step *s)
{
	struct tensor *g = regular(c, s), *root, *slower;

	s->new_v = compose_2(c, "squares", "Add", s->v,
			     compose_2(c, "square", "Mul", g, g));
	root = compose_with(c, "root", "Add",
			    compose_1(c, "length", "Sqrt", s->new_v),
			    node_attr_float(c->node, "epsilon", 1e-6));
	slower = times(c, "decay", s->count, attribute(c, "decay_factor"));
	s->rate = compose_2(c, "rate", "Div", s->rate,
			    compose_with(c, "slower", "Add", slower, 1));
	s->new_x = descend(c, s, compose_2(c, "scaled", "Div", g, root));
	return true;
}

/* 1 - base^count */
static struct tensor *
bias(struct compose *c, const struct step *s, const char *what, double base)
{
	struct dtype type = s->rate->type;
	struct tensor *power;

	power = compose_2(c, "power", "Pow",
			  compose_scalar(c, "base", type, base), s->count);
	return compose_2(c, what, "Sub", compose_scalar(c, "one", type, 1),
			 power);
}

/* scale * old + (1 - scale) * new */
static struct tensor *
average(struct compose *c, const char *what, double scale, struct tensor *old,
	struct tensor *new)
{
	return compose_2(c, what, "Add", times(c, "old", old, scale),
			 times(c, "new", new, 1 - scale));
}

static bool
adam_step(struct compose *c, struct step *s)
{
	double alpha = node_attr_float(c->node, "alpha", 0.9);
	double beta = node_attr_float(c->node, "beta", 0.999);
	double post = attribute(c, "norm_coefficient_post");
	struct tensor *g = regular(c, s), *root, *rate;

	s->new_v = average(c, "mean", alpha, s->v, g);
	s->new_h = average(c, "squares", beta, s->h,
			   compose_2(c, "square", "Mul", g, g));
	root = compose_with(c, "root", "Add",
			    compose_1(c, "length", "Sqrt", s->new_h),
			    node_attr_float(c->node, "epsilon", 1e-6));
	rate = compose_2(c, "grown", "Mul", s->rate,
			 compose_1(c, "deviation", "Sqrt",
				   bias(c, s, "beta_bias", beta)));
	rate = compose_2(c, "corrected", "Div", rate,
			 bias(c, s, "alpha_bias", alpha));
	s->rate = later(c, s, "rate", rate, s->rate);
	s->new_x = descend(c, s, compose_2(c, "scaled", "Div", s->new_v, root));
	if (post != 0) {
		s->new_x = times(c, "smaller", s->new_x, 1 - post);
	}
	return true;
}

/* The inputs are the rate, the update count, then for each of `kinds` kinds (x,
 * gradient, moments) n tensors. The outputs are all of these except the
 * gradients. */
static bool
optimize(struct compose *c, int kinds,
	 bool step(struct compose *, struct step *))
{
	int n = (c->node->n_inputs - 2) / kinds;
	struct tensor *rate = compose_input(c, 0);
	struct tensor *count = compose_cast(c, "count", compose_input(c, 1),
					    rate->type);

	if (n * kinds + 2 != c->node->n_inputs) {
		return compose_error(c, DIAG_BAD_MODEL,
				     "it has %d inputs; a rate, a count and %d "
				     "for each tensor are needed",
				     c->node->n_inputs, kinds);
	}
	for (int i = 0; i < n; i++) {
		struct step s = { .rate = rate, .count = count };

		s.x = compose_input(c, 2 + i);
		s.g = compose_input(c, 2 + n + i);
		s.v = compose_input(c, 2 + 2 * n + i);
		s.h = compose_input(c, 2 + 3 * n + i);
		s.rate = compose_cast(c, "rate_cast", rate, s.x->type);
		s.count = compose_cast(c, "count_cast", count, s.x->type);
		if (!step(c, &s)) {
			return false;
		}
		compose_result(c, i, s.new_x);
		compose_result(c, n + i, s.new_v);
		if (s.new_h) {
			compose_result(c, 2 * n + i, s.new_h);
		}
	}
	return true;
}

bool
compose_momentum(struct compose *c)
{
	return optimize(c, 3, momentum_step);
}

bool
compose_adagrad(struct compose *c)
{
	return optimize(c, 3, adagrad_step);
}

bool
compose_adam(struct compose *c)
{
	return optimize(c, 4, adam_step);
}
