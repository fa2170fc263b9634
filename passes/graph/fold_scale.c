/* SPDX-License-Identifier: Apache-2.0 */
/* Folds chains of Mul, Add, Sub and Div by constants along one axis into the
 * weights and the bias of the convolution or product before:
 *
 * 	a = Conv (x, w, b)
 * 	c = Mul (a, s)          ->     const w2 = Mul (w, s)
 * 	y = Add (c, t)                 y = Conv (x, w2, b * s + t)
 *
 * This is exact up to rounding; affine_host.c has the conditions. Without a
 * product before them, neighbours of one kind become one node:
 *
 * 	a = Mul (x, s)          ->     y = Mul (x, s / t)
 * 	y = Div (a, t)
 *
 * - Scales: exact if all are powers of two from 1 on and their product is
 *   finite; a smaller one may round a subnormal result twice. Otherwise within
 *   rounding, if the product is finite and not subnormal, and if it and both
 *   scales are between 2^-64 and 2^64. A scale above 1 is not joined with a
 *   later scale below 1: (x * 3) / 3 is infinite for x = 2e38.
 * - Shifts: within rounding, if they have the same sign and the sum needs no
 *   rounding: x + (s + t) is then rounded once. Shifts of different signs may
 *   round on purpose: (x + 1000) - 999. Weights take them only if one of them
 *   is small beside the product.
 *
 * A scale is not moved past a shift: (x - 1.7e9) / 3600 is accurate where x is
 * about 1.7e9, x / 3600 - 472222.2 is not.
 *
 * Constants are combined in double and rounded once. Rewrites that are only
 * exact up to rounding are not done if the graph has the setting
 * exact_rewrites, if a later operator makes the difference visible (visible.c),
 * or for floats of fewer than 32 bits, whose constants are rounded much more
 * coarsely than the values that are computed. */
#include "affine.h"
#include "visible.h"

#include <math.h>

#define MAX_LINKS 32

struct chain {
	struct affine_link links[MAX_LINKS];
	int n;
	/* the tensor that the first link of the chain reads */
	struct tensor *x;
};

struct pass {
	struct graph *graph;
	struct visible visible;
};

/* -- links -- */

static void
read_chain(struct graph *g, struct node *first, struct chain *chain)
{
	struct node *next = first;

	chain->n = 0;
	while (next && chain->n < MAX_LINKS &&
	       affine_link_read(g, next, &chain->links[chain->n])) {
		chain->n++;
		next = sole_user(next->outputs[0]);
	}
	chain->x = chain->n > 0 ? chain->links[0].x : NULL;
}

/* -- weights and bias -- */

/* Returns how many links of the chain, from its first one on, the host's
 * weights and bias can take, and sets *taken to the map of these links. */
static int
links_taken(struct graph *g, const struct affine_host *host,
	    const struct chain *chain, struct affine *taken)
{
	struct affine map, unshifted;
	int n = 0, n_unshifted = -1;

	affine_init(g, &map);
	for (int i = 0; i < chain->n; i++) {
		const struct affine_link *link = &chain->links[i];

		if (!link->scales && n_unshifted < 0) {
			n_unshifted = n;
			unshifted = *taken;
		}
		if (!link->scales && affine_host_opposes(host, &map, link)) {
			*taken = unshifted;
			return n_unshifted;
		}
		if (!affine_compose(g, &map, &link->map) ||
		    !affine_host_bears(host, &map)) {
			break;
		}
		/* Without a bias, only taking a scale removes a node. */
		if ((host->has_bias || link->scales) &&
		    affine_host_takes(host, &map)) {
			n = i + 1;
			*taken = map;
		}
	}
	return n;
}

/* Inserts one node that computes the links from `first` to `last` of the chain:
 * a Mul by the scale of `map`, or an Add of its shift. Returns the result. NULL
 * after a diagnostic. */
static struct tensor *
insert_link(struct graph *g, const struct chain *chain, int first, int last,
	    const struct affine *map, bool scales, struct tensor *x)
{
	struct node *before = chain->links[last].node, *made;
	struct tensor *y = before->outputs[0], *in[2] = { x, NULL };
	const char *base = arena_printf(&g->module->arena, "%s.%s", y->name,
					scales ? "scale" : "shift");

	in[1] = affine_constant(g, map, scales, y->type, base);
	base = arena_printf(&g->module->arena, "%s.%s", y->name,
			    scales ? "scaled" : "shifted");
	made = insert_node(g, before, scales ? "Mul" : "Add", base, in, 2);
	made->name = before->name;
	for (int i = first; i <= last; i++) {
		graph_share_origins(made, chain->links[i].node);
	}
	return ops_infer_node(g, made) ? made->outputs[0] : NULL;
}

/* Removes the links from first to last; x replaces their result. */
static void
drop_links(struct graph *g, const struct chain *chain, int first, int last,
	   struct tensor *x, const char *why)
{
	graph_replace_uses(g, chain->links[last].node->outputs[0], x);
	for (int i = last; i >= first; i--) {
		struct node *n = chain->links[i].node;

		graph_note(g, n, "fold_scale", why);
		n->origins.n = 0;
		graph_remove_node(g, n, NULL, "");
	}
}

/* Folds links of the chain into the product before the chain. *done: at least
 * one link was folded into the weights or the bias. False after a
 * diagnostic. */
static bool
fold_into_host(struct pass *p, const struct chain *chain, bool *done)
{
	struct graph *g = p->graph;
	struct affine_host host;
	struct affine map = { .axis = -1 };
	struct tensor *x = chain->x;
	int n;

	*done = false;
	if (g->settings->exact_rewrites || !x->producer || !sole_user(x) ||
	    !affine_is_host(x->producer) || visible_at(&p->visible, x) ||
	    !affine_host_read(g, x->producer, &host)) {
		return true;
	}
	n = links_taken(g, &host, chain, &map);
	if (n == 0) {
		return true;
	}
	*done = true;
	if (!affine_host_absorb(g, &host, &map)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		graph_share_origins(host.node, chain->links[i].node);
	}
	if (!affine_is_neutral(&map, false)) {
		/* The weights took the scale; the shift is left. */
		x = insert_link(g, chain, 0, n - 1, &map, false, x);
	}
	if (x != NULL) {
		drop_links(g, chain, 0, n - 1, x,
			   fate_of(g, "in the weights and the bias of %s",
				   host.node));
	}
	return x != NULL;
}

/* -- links of one kind -- */

static bool
is_power_from_1(double v)
{
	int exponent;

	return isfinite(v) && fabs(v) >= 1 && fabs(frexp(v, &exponent)) == 0.5;
}

/* Does x * a overflow only if x or x * a * b overflows? */
static bool
hides_no_overflow(double a, double b)
{
	return fabs(a) <= 1 || fabs(b) >= 1;
}

/* May x * a * b become x * (a * b)? */
static bool
scales_join(struct dtype t, bool within_rounding, double a, double b)
{
	if (!affine_constant_fits(t, a * b)) {
		return false;
	}
	return (is_power_from_1(a) && is_power_from_1(b)) ||
	       (within_rounding && hides_no_overflow(a, b) &&
		affine_scale_is_moderate(a) && affine_scale_is_moderate(b) &&
		affine_scale_is_moderate(a * b));
}

/* May x + a + b become x + (a + b)? */
static bool
shifts_join(struct dtype t, double a, double b)
{
	double sum = a + b;

	return (a == 0 || b == 0 || (a > 0) == (b > 0)) && sum - a == b &&
	       sum - b == a &&
	       number_round(t, (union number){ .f = sum }).f == sum;
}

static bool
maps_join(struct pass *p, const struct affine_link *to, const struct affine *a,
	  const struct affine *b)
{
	const struct tensor *y = to->node->outputs[0];
	int64_t n = a->axis >= 0 ? a->n : b->n;
	bool within_rounding = dtype_bits(y->type) >= 32 &&
			       !p->graph->settings->exact_rewrites &&
			       !visible_at(&p->visible, to->x);

	if (a->axis >= 0 && b->axis >= 0 &&
	    (a->axis != b->axis || a->n != b->n)) {
		return false;
	}
	for (int64_t i = 0; i < n; i++) {
		int64_t ia = a->axis >= 0 ? i : 0, ib = b->axis >= 0 ? i : 0;

		if (to->scales ? !scales_join(y->type, within_rounding,
					      a->scale[ia], b->scale[ib])
			       : !within_rounding ||
					 !shifts_join(y->type, a->shift[ia],
						      b->shift[ib])) {
			return false;
		}
	}
	return true;
}

/* Joins links of one kind (scales or shifts) to one link, from `first` on, as
 * many as the conditions allow. *last: the index of the last of them. False
 * after a diagnostic. */
static bool
join_links(struct pass *p, const struct chain *chain, int first, int *last)
{
	struct graph *g = p->graph;
	const struct affine_link *links = chain->links;
	struct affine map = links[first].map;
	struct node *n = links[first].node;
	/* An earlier join may have replaced the tensor that the node reads. */
	struct tensor *x = n->inputs[only_variable_input(n)];
	bool scales = links[first].scales;

	*last = first;
	while (*last + 1 < chain->n && links[*last + 1].scales == scales &&
	       maps_join(p, &links[*last + 1], &map, &links[*last + 1].map) &&
	       affine_compose(g, &map, &links[*last + 1].map)) {
		++*last;
	}
	if (*last == first) {
		return true;
	}
	if (!affine_is_neutral(&map, scales) ||
	    links[*last].node->outputs[0]->is_output) {
		x = insert_link(g, chain, first, *last, &map, scales, x);
	}
	if (x != NULL) {
		drop_links(g, chain, first, *last, x,
			   scales ? "one scale for the chain"
				  : "one shift for the chain");
	}
	return x != NULL;
}

static bool
fold_chain(struct pass *p, struct node *first)
{
	struct chain chain;
	bool done;

	read_chain(p->graph, first, &chain);
	if (!fold_into_host(p, &chain, &done)) {
		return false;
	}
	for (int i = 0; !done && i < chain.n; i++) {
		if (!join_links(p, &chain, i, &i)) {
			return false;
		}
	}
	return true;
}

/* Is n the first link of a chain? It is not if its input is the result of a
 * link. */
static bool
is_first(struct graph *g, struct node *n)
{
	struct affine_link link;
	struct node *p;

	if (!affine_link_read(g, n, &link)) {
		return false;
	}
	p = link.x->producer;
	return !p || !sole_user(link.x) || !affine_link_read(g, p, &link);
}

bool
graph_fold_scale(struct graph *g)
{
	struct pass p = { .graph = g, .visible = { .graph = g } };

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int before = g->edits;

		if (!affine_is_link(n) || !is_first(g, n)) {
			continue;
		}
		if (!fold_chain(&p, n)) {
			return false;
		}
		if (g->edits != before) {
			i = i > 0 ? i - 1 : 0;
		}
	}
	return true;
}
