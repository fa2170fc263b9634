/* SPDX-License-Identifier: Apache-2.0 */
/* Folds chains of Mul, Add, Sub and Div by constants along one axis into the
 * weights and the bias of the convolution or product before; other chains
 * become one Mul and one Add.
 *
 *	a = Conv (x, w, b)
 *	c = Mul (a, s)          ->     const w2 = Mul (w, s)
 *	y = Add (c, t)                 y = Conv (x, w2, b * s + t)
 *
 * Constants are combined in double and rounded once. */
#include "affine.h"

#define MAX_LINKS 32

/* y = x * scale + shift along axis (-1: the same for all, n == 1). */
struct chain {
	struct node *links[MAX_LINKS];
	int n_links, n_muls, n_adds;
	struct affine map;
};

static bool
is_link(const struct node *n)
{
	return node_is(n, "Mul") || node_is(n, "Add") || node_is(n, "Sub") ||
	       node_is(n, "Div");
}

/* The affine map of one node; false if it is none. */
static bool
link_map(struct graph *g, struct node *n, int *x_input, struct affine *map)
{
	bool mul = node_is(n, "Mul"), sub = node_is(n, "Sub");
	bool div = node_is(n, "Div"), additive = !mul && !div;
	struct tensor *c;

	*x_input = is_link(n) ? only_variable_input(n) : -1;
	if (*x_input < 0 || ((sub || div) && *x_input != 0)) {
		return false;
	}
	c = n->inputs[1 - *x_input];
	if (!dtype_is_float(c->type) ||
	    !tensor_same_shape(n->inputs[*x_input], n->outputs[0]) ||
	    !affine_read(g, c, n->outputs[0]->ndim, additive, map)) {
		return false;
	}
	for (int64_t i = 0; i < map->n; i++) {
		if (sub) {
			map->shift[i] = -map->shift[i];
		} else if (div) {
			map->scale[i] = 1 / map->scale[i];
		}
	}
	*(additive ? &map->shift_of
		   : &map->scale_of) = graph_describe(g,
						      sub   ? "-$0"
						      : div ? "1 / $0"
							    : "$0",
						      n, &c, 1);
	return true;
}

static bool
chain_append(struct graph *g, struct chain *chain, struct node *n, int *input)
{
	struct affine map;

	if (chain->n_links == MAX_LINKS || !link_map(g, n, input, &map) ||
	    !affine_compose(g, &chain->map, &map)) {
		return false;
	}
	chain->links[chain->n_links++] = n;
	if (node_is(n, "Mul") || node_is(n, "Div")) {
		chain->n_muls++;
	} else {
		chain->n_adds++;
	}
	return true;
}

static void
drop_links(struct graph *g, struct chain *chain, struct node *into)
{
	const char *why = fate_of(g, "in the weights and the bias of %s", into);

	for (int i = chain->n_links - 1; i >= 0; i--) {
		graph_share_origins(into, chain->links[i]);
		graph_remove_node(g, chain->links[i], "fold_scale", why);
	}
}

/* Replaces the links by a Mul and an Add, as far as needed. */
static bool
rebuild(struct graph *g, struct chain *chain, struct tensor *x)
{
	struct node *last = chain->links[chain->n_links - 1], *made = NULL;
	struct tensor *y = last->outputs[0];
	bool scales = !affine_is_neutral(&chain->map, true);
	bool shifts = !affine_is_neutral(&chain->map, false);

	if (!scales && !shifts) {
		return true;
	}
	for (int step = 0; step < 2; step++) {
		struct tensor *in[2] = { x, NULL };

		if (!(step == 0 ? scales : shifts)) {
			continue;
		}
		in[1] = affine_constant(g, &chain->map, step == 0, y->type,
					y->ndim,
					arena_printf(&g->module->arena, "%s.%s",
						     y->name,
						     step == 0 ? "scale"
							       : "shift"));
		made = insert_node(g, last, step == 0 ? "Mul" : "Add",
				   arena_printf(&g->module->arena, "%s.%s",
						y->name,
						step == 0 ? "scaled"
							  : "shifted"),
				   in, 2);
		made->name = last->name;
		for (int i = 0; i < chain->n_links; i++) {
			graph_share_origins(made, chain->links[i]);
		}
		if (!ops_infer_node(g, made)) {
			return false;
		}
		x = made->outputs[0];
	}
	graph_replace_uses(g, y, x);
	for (int i = chain->n_links - 1; i >= 0; i--) {
		if (chain->n_links > 1) {
			graph_note(g, chain->links[i], "fold_scale",
				   "one scale and one shift for the chain");
		}
		chain->links[i]->origins.n = 0;
		graph_remove_node(g, chain->links[i], NULL, "");
	}
	return true;
}

static bool
fold_chain(struct graph *g, struct node *first)
{
	struct chain chain = { .n_links = 0 };
	struct tensor *x, *y;
	struct node *next = first, *producer;
	int input = 0, x_input = 0;

	affine_init(g, &chain.map);
	while (next && chain_append(g, &chain, next, &input)) {
		x_input = chain.n_links == 1 ? input : x_input;
		next = sole_user(next->outputs[0]);
	}
	if (chain.n_links == 0) {
		return true;
	}
	x = first->inputs[x_input];
	y = chain.links[chain.n_links - 1]->outputs[0];
	producer = x->producer;
	if (producer && sole_user(x) && affine_fits(g, producer, &chain.map)) {
		if (!affine_absorb(g, producer, &chain.map)) {
			return false;
		}
		if (affine_is_neutral(&chain.map, false)) {
			graph_replace_uses(g, y, x);
			drop_links(g, &chain, producer);
			return true;
		}
		/* The product's weights have the scale, the shift is left. */
		for (int i = 0; i < chain.n_links; i++) {
			graph_share_origins(producer, chain.links[i]);
		}
		return rebuild(g, &chain, x);
	}
	return chain.n_muls > 1 || chain.n_adds > 1 ||
			       (chain.n_muls > 0 && chain.n_adds > 0 &&
				!node_is(first, "Mul"))
		       ? rebuild(g, &chain, x)
		       : true;
}

/* A link whose input is a link's result is not the first of its chain. */
static bool
continues_chain(struct graph *g, struct node *n)
{
	struct affine map;
	struct node *p;
	int x_input;

	if (!link_map(g, n, &x_input, &map)) {
		return true;
	}
	p = n->inputs[x_input]->producer;
	return p && sole_user(p->outputs[0]) && link_map(g, p, &x_input, &map);
}

bool
graph_fold_scale(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int before = g->edits;

		if (!is_link(n) || continues_chain(g, n)) {
			continue;
		}
		if (!fold_chain(g, n)) {
			return false;
		}
		if (g->edits != before) {
			i = i > 0 ? i - 1 : 0;
		}
	}
	return true;
}
