/* SPDX-License-Identifier: Apache-2.0 */
/* A rewrite of constants can change results in their last bits. The difference
 * is visible if a later operator has steps:
 *
 *	a = Add (x, one)        floor ((x + 1) / 10), for a whole number x,
 *	b = Div (a, ten)        is not floor (x * 0.1 + 0.1): 0.1 is rounded,
 *	y = Floor (b)           and the sum may be just below a whole number
 *
 * Here a and b are visible: a path of operators that compute elements from
 * single elements leads from them to a step. A sum of products (Conv, MatMul, a
 * mean, a normalization) ends a path: its own rounding errors are as large as
 * the difference, so that a step after the sum depends on rounding that is in
 * the model anyway. A sum of only one term does not end a path (terms.c).
 * visible.def has the operators.
 *
 * The nodes are visited from the last to the first. The state of a loop is read
 * before it is written, so that the nodes of a graph with loops are visited
 * until no mark changes. */
#include "visible.h"

#include "ops.h"
#include "rewrite.h"
#include "terms.h"

#include <math.h>

/* A normalization with a smaller epsilon is a step: it multiplies differences
 * by up to 1 / sqrt(epsilon). */
#define EPSILON_MIN 1e-10

/* The effect of an operator on a small difference in an input: the result has
 * the difference, too (PASS); the operator's own rounding error is as large
 * (STOP); the difference may become large (STEP). See visible.def. */
enum effect { PASS, STOP, STEP };

static const struct row {
	const char *domain, *op_type;
	/* the index of the input for which the row is; -1: all inputs for which
	 * no row before this one is */
	int input;
	enum effect effect;
} rows[] = {
#define EFFECT(domain, op, input, effect) { domain, #op, input, effect },
#include "visible.def"
#undef EFFECT
};

/* Is `input` the base of a Pow whose exponents are constant whole numbers from
 * 1 to 64? Then the power has neither poles nor edges. */
static bool
is_smooth_power(struct graph *g, const struct node *n, int input)
{
	int64_t count;
	const double *v = node_is(n, "Pow") && input == 0
				  ? constant_doubles(g, n->inputs[1], &count)
				  : NULL;

	for (int64_t i = 0; v != NULL && i < count; i++) {
		if (!(v[i] >= 1 && v[i] <= 64 && v[i] == (int)v[i])) {
			return false;
		}
	}
	return v != NULL;
}

/* Is n an LSTM that rounds its state to bytes in each step? */
static bool
rounds_state(const struct node *n)
{
	return node_is_internal(n, "LSTM") && node_input(n, 6) != NULL;
}

/* -- sums that round on purpose -- */

/* The constant that an Add or a Sub adds or subtracts. NULL if n is another
 * operator, or has no small constant operand. */
static double *
added_constant(struct graph *g, const struct node *n, int64_t *count)
{
	int x = node_is(n, "Add") || node_is(n, "Sub") ? only_variable_input(n)
						       : -1;

	return x >= 0 ? constant_doubles(g, n->inputs[1 - x], count) : NULL;
}

/* Is v so large that a float of type t with about this magnitude has no
 * fraction, like 2^23 or 1.5 * 2^23 for float32? Adding such a v rounds to a
 * whole number. */
static bool
rounds_to_whole(struct dtype t, double v)
{
	int exponent;
	double fraction = isfinite(v) ? fabs(frexp(v, &exponent)) : 0;

	return (fraction == 0.5 || fraction == 0.75) &&
	       exponent >= dtype_float_form(t).frac_bits;
}

/* Does a reader of n's result subtract again the number that n adds? */
static bool
is_taken_back(struct graph *g, const struct node *n, const double *added,
	      int64_t count)
{
	const struct tensor *y = n->outputs[0];

	for (int k = 0; k < y->uses.n; k++) {
		int64_t n_back;
		double *back = added_constant(g, y->uses.data[k].node, &n_back);
		int64_t both = count > n_back ? count : n_back;

		if (!back || (n_back != count && n_back != 1 && count != 1)) {
			continue;
		}
		for (int64_t i = 0; i < both; i++) {
			double a = added[i % count];

			if (a != 0 && fabs(a) == fabs(back[i % n_back])) {
				return true;
			}
		}
	}
	return false;
}

/* Is n an Add or a Sub that rounds on purpose, as (x + 2^23) - 2^23 does? */
static bool
is_rounding_sum(struct graph *g, const struct node *n)
{
	int64_t count;
	double *added = added_constant(g, n, &count);

	for (int64_t i = 0; added != NULL && i < count; i++) {
		if (rounds_to_whole(n->outputs[0]->type, added[i])) {
			return true;
		}
	}
	return added != NULL && count > 0 && is_taken_back(g, n, added, count);
}

/* Is a result of n that is read not a float, or a float of at most 8 bits, so
 * that a small difference becomes a step? */
static bool
gives_steps(const struct node *n)
{
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *y = n->outputs[i];

		if (y != NULL && (y->uses.n > 0 || y->is_output) &&
		    (!dtype_is_float(y->type) || dtype_bits(y->type) <= 8)) {
			return true;
		}
	}
	return false;
}

/* Is n a normalization that may divide by a deviation of almost 0? */
static bool
has_tiny_epsilon(const struct node *n)
{
	return n->op != NULL && n->op->fuse == FUSE_ROWWISE &&
	       node_attr_float(n, "epsilon", 1) < EPSILON_MIN;
}

static enum effect
effect_of_class(const struct node *n)
{
	switch (n->op != NULL ? n->op->fuse : FUSE_OPAQUE) {
	case FUSE_REDUCTION:
	case FUSE_COMPUTE:
	case FUSE_ROWWISE:
		return STOP;
	case FUSE_OPAQUE:
		return STEP;
	default:
		return PASS;
	}
}

static enum effect
effect_of(struct graph *g, const struct node *n, int input)
{
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++) {
		if ((rows[i].input == input || rows[i].input < 0) &&
		    strcmp(rows[i].op_type, n->op_type) == 0 &&
		    strcmp(rows[i].domain, n->domain) == 0) {
			row = &rows[i];
		}
	}
	if (row != NULL && row->effect != PASS) {
		return is_smooth_power(g, n, input) ? PASS : row->effect;
	}
	if (gives_steps(n) || is_rounding_sum(g, n) || has_tiny_epsilon(n) ||
	    rounds_state(n)) {
		return STEP;
	}
	return row != NULL ? PASS : effect_of_class(n);
}

/* Is one of n's results visible? */
static bool
is_seen_behind(const struct visible *v, const struct node *n)
{
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor *y = n->outputs[i];

		if (y != NULL && (y->id >= v->n || v->tensors[y->id])) {
			return true;
		}
	}
	return false;
}

static bool
is_seen_through(const struct visible *v, struct node *n, int input)
{
	switch (effect_of(v->graph, n, input)) {
	case STEP:
		return true;
	case STOP:
		return is_seen_behind(v, n) && !has_several_terms(v->graph, n);
	default:
		return is_seen_behind(v, n);
	}
}

/* In the loop that the node `end` ends: is a state visible at a node of the
 * body that reads it? */
static bool
is_seen_in_loop(const struct visible *v, const struct node *end)
{
	int64_t loop = node_attr_int(end, "loop", 0);

	for (int i = 0; i < v->graph->nodes.n; i++) {
		const struct node *n = v->graph->nodes.data[i];

		if (node_is_carry(n) && node_attr_int(n, "body", 0) == loop &&
		    is_seen_behind(v, n)) {
			return true;
		}
	}
	return false;
}

/* Marks the inputs of n that are visible. True if an input was not marked
 * before. */
static bool
visit(struct visible *v, struct node *n)
{
	bool looped = node_ends_loop(n) && is_seen_in_loop(v, n);
	bool changed = false;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t == NULL || !dtype_is_float(t->type) ||
		    v->tensors[t->id]) {
			continue;
		}
		v->tensors[t->id] = looped || is_seen_through(v, n, i);
		changed |= v->tensors[t->id];
	}
	return changed;
}

static void
visit_all(struct visible *v)
{
	struct graph *g = v->graph;
	bool changed = true, again = graph_has_control(g);

	v->n = g->tensors.n;
	v->tensors = arena_array(&g->module->arena, bool, v->n + 1);
	while (changed) {
		changed = false;
		for (int i = g->nodes.n - 1; i >= 0; i--) {
			changed |= visit(v, g->nodes.data[i]);
		}
		changed &= again;
	}
}

bool
visible_at(struct visible *v, const struct tensor *t)
{
	if (v->tensors == NULL) {
		visit_all(v);
	}
	if (t->id < v->n) {
		return v->tensors[t->id];
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (is_seen_through(v, t->uses.data[i].node,
				    t->uses.data[i].input)) {
			return true;
		}
	}
	return false;
}
