/* SPDX-License-Identifier: Apache-2.0 */
/* Provenance by node and by kernel: for each node of the model, the kernels
 * that compute the node, or why no kernel does (its fate, struct node_fate);
 * for each kernel and each constant, the model's nodes in it. The formulas of
 * constants are in provenance_constants.c. */
#include "provenance.h"

#include "provenance_constants.h"

static void
add_origin(struct arena *a, struct origin_list *l, int origin)
{
	int at = l->list.n;

	while (at > 0 && l->list.data[at - 1] > origin) {
		at--;
	}
	if (at > 0 && l->list.data[at - 1] == origin) {
		return;
	}
	vec_push(a, &l->list, origin);
	memmove(&l->list.data[at + 1], &l->list.data[at],
		sizeof l->list.data[0] * (size_t)(l->list.n - 1 - at));
	l->list.data[at] = origin;
}

/* Does the list, which is sorted, contain the origin, the index of a node of
 * the model? */
static bool
has_origin(const struct origin_list *l, int origin)
{
	int low = 0, high = l->list.n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (l->list.data[middle] < origin) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < l->list.n && l->list.data[low] == origin;
}

static void
add_node(struct arena *a, struct origin_list *l, const struct node *n)
{
	for (int i = 0; i < n->origins.n; i++) {
		add_origin(a, l, n->origins.data[i]);
	}
}

struct origin_list
provenance_computed(struct program *p, const struct kernel *k)
{
	struct origin_list l = { 0 };

	for (int i = 0; i < k->group->nodes.n; i++) {
		add_node(&p->graph->module->arena, &l, k->group->nodes.data[i]);
	}
	return l;
}

static void
add_maker(void *ctx, struct arena *a, const struct tensor *t)
{
	if (t->made_by != NULL) {
		add_node(a, ctx, t->made_by);
	}
}

struct origin_list
provenance_of_constant(struct arena *a, const struct tensor *constant)
{
	struct origin_list l = { 0 };

	constant_walk(a, constant, add_maker, &l);
	return l;
}

struct origin_list
provenance_folded(struct program *p, const struct kernel *k)
{
	struct arena *a = &p->graph->module->arena;
	struct origin_list computed = provenance_computed(p, k);
	struct origin_list in = { 0 }, l = { 0 };

	for (int i = 0; i < k->group->nodes.n; i++) {
		const struct node *n = k->group->nodes.data[i];

		for (int t = 0; t < n->n_inputs; t++) {
			if (n->inputs[t] != NULL &&
			    tensor_is_constant(n->inputs[t])) {
				constant_walk(a, n->inputs[t], add_maker, &in);
			}
		}
	}
	for (int o = 0; o < in.list.n; o++) {
		if (!has_origin(&computed, in.list.data[o])) {
			vec_push(a, &l.list, in.list.data[o]);
		}
	}
	return l;
}

/* -- by node of the model -- */

/* Records groups without a kernel: views, and groups with empty results. */
static void
record_group(const struct group *group, struct node_fate *fates)
{
	for (int i = 0; i < group->nodes.n; i++) {
		const struct node *n = group->nodes.data[i];

		for (int o = 0; o < n->origins.n; o++) {
			struct node_fate *f = &fates[n->origins.data[o]];

			if (f->kernels.n > 0) {
				continue;
			}
			f->pass = group->is_view      ? "view"
				  : group->is_control ? "control"
						      : "empty";
			f->why =
				group->is_control
					? "the function that calls the kernels does it"
				: !group->is_view
					? "its results have no elements"
				: n->inputs[0]->part_of == n->outputs[0]
					? "its inputs are written where it has them"
					: "its output is its input's bytes";
		}
	}
}

static void
record_rest(struct graph *g, int i, struct node_fate *f)
{
	const struct origin *o = &g->origins.data[i];

	if (o->pass != NULL) {
		f->why = f->pass == NULL ? o->fate
					 : arena_printf(&g->module->arena,
							"%s (%s); %s", o->fate,
							o->pass, f->why);
		f->pass = f->pass == NULL ? o->pass : f->pass;
	} else if (f->kernels.n == 0 && f->pass == NULL) {
		f->pass = "import";
		f->why = "the model's operators do without it";
	}
}

struct node_fate *
provenance_fates(struct program *p)
{
	struct graph *g = p->graph;
	struct arena *a = &g->module->arena;
	struct node_fate *fates = arena_array(a, struct node_fate,
					      g->origins.n + 1);
	bool *has_kernel = arena_array(a, bool, g->groups.n + 1);

	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];
		struct origin_list l = provenance_computed(p, k);
		struct origin_list folded = provenance_folded(p, k);

		has_kernel[k->group->id] = true;
		for (int o = 0; o < l.list.n; o++) {
			vec_push(a, &fates[l.list.data[o]].kernels, k);
		}
		for (int o = 0; o < folded.list.n; o++) {
			vec_push(a, &fates[folded.list.data[o]].folded, k);
		}
	}
	for (int i = 0; i < p->weights.n; i++) {
		const struct weight *w = p->weights.data[i];
		struct origin_list l = provenance_of_constant(a, w->tensor);

		for (int o = 0; o < l.list.n; o++) {
			vec_push(a, &fates[l.list.data[o]].weights, w);
		}
	}
	for (int i = 0; i < g->groups.n; i++) {
		if (!has_kernel[i]) {
			record_group(g->groups.data[i], fates);
		}
	}
	for (int i = 0; i < g->origins.n; i++) {
		record_rest(g, i, &fates[i]);
	}
	return fates;
}
