/* SPDX-License-Identifier: Apache-2.0 */
/* Common subexpression elimination: equal nodes are computed once; equal shapes
 * and scalars become one constant (the model's parameters stay separate,
 * because users look for them by name).
 *
 *	a = Exp (x)
 *	b = Exp (x)           ->     a = Exp (x)
 *	y = Add (a, b)               y = Add (a, a)
 *
 * A node that serves two branches moves out of both, and always runs. If a
 * condition on sizes is checked only in runs that take a branch, nodes of
 * different branches are not merged. */
#include "rewrite.h"
#include "secret_hash.h"

#define SMALL_CONSTANT 256 /* in bytes */

static uint64_t
mix_text(uint64_t h, const char *text)
{
	return secret_mix(h, secret_hash(text, strlen(text)));
}

static uint64_t
hash_attr(const struct attr *a)
{
	uint64_t h = mix_text((uint64_t)a->kind, a->name);

	switch (a->kind) {
	case ATTR_INT:
		return secret_mix(h, (uint64_t)a->i);
	case ATTR_FLOAT:
		return secret_mix(h, secret_hash(&a->f, sizeof a->f));
	case ATTR_STRING:
		return secret_mix(h, secret_hash(a->s, a->s_len));
	case ATTR_INTS:
		return secret_mix(h,
				  secret_hash(a->ints,
					      sizeof *a->ints * (size_t)a->n));
	case ATTR_FLOATS:
		return secret_mix(h,
				  secret_hash(a->floats, sizeof *a->floats *
								 (size_t)a->n));
	default:
		return h;
	}
}

/* The hash does not depend on the order of the attributes. */
static uint64_t
hash_node(const struct node *n)
{
	uint64_t h = mix_text(0, n->op_type), attrs = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		h = secret_mix(h, n->inputs[i] ? (uint64_t)n->inputs[i]->id
					       : UINT64_MAX);
	}
	for (int i = 0; i < n->attrs.n; i++) {
		attrs += hash_attr(&n->attrs.data[i]);
	}
	return secret_mix(h, attrs);
}

/* Is a result of n an output of the graph? Outputs of the graph are not merged:
 * each keeps its own node. */
static bool
gives_output(const struct node *n)
{
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] && n->outputs[i]->is_output) {
			return true;
		}
	}
	return false;
}

static bool
same_attrs(const struct node *a, const struct node *b)
{
	if (a->attrs.n != b->attrs.n) {
		return false;
	}
	for (int i = 0; i < a->attrs.n; i++) {
		const struct attr *other = node_attr(b, a->attrs.data[i].name);

		if (!other || !attr_equal(&a->attrs.data[i], other)) {
			return false;
		}
	}
	return true;
}

static bool
same_node(const struct node *a, const struct node *b)
{
	if (strcmp(a->op_type, b->op_type) != 0 ||
	    strcmp(a->domain, b->domain) != 0 || a->n_inputs != b->n_inputs ||
	    a->n_outputs != b->n_outputs || !same_attrs(a, b)) {
		return false;
	}
	for (int i = 0; i < a->n_inputs; i++) {
		if (a->inputs[i] != b->inputs[i]) {
			return false;
		}
	}
	for (int i = 0; i < a->n_outputs; i++) {
		const struct tensor *x = a->outputs[i], *y = b->outputs[i];

		if (!x != !y || (x && !dtype_equal(x->type, y->type))) {
			return false;
		}
	}
	return true;
}

/* A hash table with open addressing: slots are positions of nodes plus 1, or 0
 * if free. */
struct table {
	int *slot;
	uint32_t mask;
};

static struct table
table_new(struct arena *a, int n)
{
	uint32_t cap = 16;

	while (cap < (uint32_t)n * 2) {
		cap *= 2;
	}
	return (struct table){ arena_array(a, int, cap), cap - 1 };
}

static bool
same_constant(const struct tensor *a, const struct tensor *b)
{
	const struct value *v = a->value, *w = b->value;

	return tensor_same_type(a, b) && v->bytes == w->bytes &&
	       dtype_equal(v->type, w->type) &&
	       memcmp(v->data, w->data, v->bytes) == 0;
}

static void
merge_constants(struct graph *g)
{
	struct table table = table_new(&g->module->arena, g->tensors.n);

	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];
		const struct value *v = t->value;
		uint32_t h;

		if (!v || !v->data || v->bytes > SMALL_CONSTANT ||
		    (dtype_is_float(t->type) && v->elems > 1) ||
		    t->uses.n == 0 || t->is_input || t->is_output) {
			continue;
		}
		h = secret_hash(v->data, v->bytes);
		for (h &= table.mask; table.slot[h]; h = (h + 1) & table.mask) {
			struct tensor *same =
				g->tensors.data[table.slot[h] - 1];

			if (same_constant(same, t)) {
				graph_replace_uses(g, t, same);
				break;
			}
		}
		if (!table.slot[h]) {
			table.slot[h] = i + 1;
		}
	}
}

static void
merge_node(struct graph *g, struct node *n, struct node *same)
{
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i]) {
			graph_replace_uses(g, n->outputs[i], same->outputs[i]);
		}
	}
	graph_remove_node(g, n, "cse",
			  fate_of(g, "computes the same as %s", same));
	graph_share_origins(same, n);
}

/* Does the graph have a condition that is checked only in runs that take a
 * branch? */
static bool
checks_branches(const struct graph *g)
{
	for (int i = 0; i < g->checks.n; i++) {
		if (g->checks.data[i].unless != NULL) {
			return true;
		}
	}
	return false;
}

bool
graph_cse(struct graph *g)
{
	bool branches = checks_branches(g);
	struct table table;
	struct node **kept;
	int n_kept = 0;

	merge_constants(g);
	if (branches) {
		graph_find_bodies(g);
	}
	table = table_new(&g->module->arena, g->nodes.n);
	kept = arena_array(&g->module->arena, struct node *, g->nodes.n + 1);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		uint32_t h = (uint32_t)hash_node(n) & table.mask;

		if (gives_output(n) || node_is_control(n)) {
			continue;
		}
		for (; table.slot[h]; h = (h + 1) & table.mask) {
			struct node *same = kept[table.slot[h] - 1];

			if ((!branches || same->body == n->body) &&
			    same_node(same, n)) {
				merge_node(g, n, same);
				i--;
				break;
			}
		}
		if (!table.slot[h]) {
			kept[n_kept++] = n;
			table.slot[h] = n_kept;
		}
	}
	return true;
}
