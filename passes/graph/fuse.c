/* SPDX-License-Identifier: Apache-2.0 */
/* Operator fusion: groups nodes into kernels. Each computing node (the anchor)
 * takes the elementwise nodes after it as its epilogue, and cheap nodes before
 * it (Transpose, Slice, DequantizeLinear, …) as its prologue.
 *
 *	q = DequantizeLinear (x)         group 0 (Conv):
 *	a = Conv (q, w)            ->      q = DequantizeLinear (x)
 *	b = Add (a, skip)                  a = Conv (q, w)
 *	y = Relu (b)                       b = Add (a, skip)
 *	                                   y = Relu (b)
 *
 * A group stores one tensor, the result of its last node; an anchor with
 * several results has no epilogue. A prologue may be computed again in several
 * groups. A group's size is limited for readability (fuse.h). Groups are in
 * topological order of their last nodes. Reshape and similar views are groups
 * without code if no copy is needed. */
#include "fuse.h"

#include "graph_region.h"

/* the largest number of elementwise nodes that a row-wise node, such as a
 * Softmax, may compute again */
#define MAX_PROLOGUE 4

static bool
has_one_result(const struct node *n)
{
	for (int i = 1; i < n->n_outputs; i++) {
		if (n->outputs[i]) {
			return false;
		}
	}
	return true;
}

/* -- groups -- */

/* The size of the expression that computes one element of n's result from the
 * inputs of the group, if more[0..n_more) were in the group. The result of a
 * node that is not elementwise is a variable. */
static int
written_size(const struct fusion *f, const struct group *group,
	     const struct node *n, struct node *const *more, int n_more)
{
	int size = 1;

	if (!fuse_is_elementwise(n) && n->op->fuse != FUSE_INJECTIVE) {
		return size;
	}
	for (int i = 0; i < n->n_inputs && size <= FUSE_SIZE_MAX; i++) {
		const struct tensor *t = n->inputs[i];
		bool inside = t && t->producer &&
			      group_index(group, t->producer) >= 0;

		for (int k = 0; k < n_more && t && t->producer; k++) {
			inside |= more[k] == t->producer;
		}
		size += inside ? f->size[f->position[t->producer->id]] : 1;
	}
	return size;
}

static int
count_inputs(const struct group *group, const struct node *n)
{
	int count = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		count += t &&
			 !(t->producer && group_index(group, t->producer) >= 0);
	}
	return count;
}

/* Does the group stay within the limits (FUSE_*_MAX) if the nodes are added?
 * Sets f->size of each node to the size that it has in the group. */
static bool
has_room(struct fusion *f, const struct group *group, struct node *const *nodes,
	 int n)
{
	int inputs = 0;

	for (int i = 0; i < group->nodes.n; i++) {
		inputs += count_inputs(group, group->nodes.data[i]);
	}
	for (int i = 0; i < n; i++) {
		int size = written_size(f, group, nodes[i], nodes, i);

		if (size > FUSE_SIZE_MAX) {
			return false;
		}
		f->size[f->position[nodes[i]->id]] = size;
		inputs += count_inputs(group, nodes[i]);
	}
	return group->nodes.n + n <= FUSE_NODES_MAX &&
	       inputs <= FUSE_INPUTS_MAX + n;
}

/* Adds the prologue of n to the group, then n. */
static void
group_add(struct fusion *f, struct group *group, struct node *n)
{
	if (group_index(group, n) >= 0) {
		return;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (t && t->producer &&
		    f->sinks[f->position[t->producer->id]]) {
			group_add(f, group, t->producer);
		}
	}
	f->size[f->position[n->id]] = written_size(f, group, n, NULL, 0);
	vec_push(&f->graph->module->arena, &group->nodes, n);
}

bool
fuse_may_follow(const struct fusion *f, const struct tensor *y,
		const struct node *n)
{
	return n->group < 0 && fuse_is_elementwise(n) && has_one_result(n) &&
	       n->body == y->producer->body &&
	       tensor_same_shape(y, n->outputs[0]) &&
	       !f->sinks[f->position[n->id]];
}

static struct node *
take_epilogue(struct fusion *f, struct group *group, struct node *last)
{
	struct node *next[FUSE_EPILOGUE_MAX];
	int n;

	while (has_one_result(last) &&
	       (n = fuse_epilogue(f, last->outputs[0], next)) > 0 &&
	       has_room(f, group, next, n)) {
		for (int i = 0; i < n; i++) {
			next[i]->group = group->id;
			group_add(f, group, next[i]);
		}
		last = next[n - 1];
	}
	return last;
}

/* Does n read elements of its input several times? Then the costly chain of
 * nodes in `group`, if it has one, would be computed several times in the
 * prologue of n. Tiles of Winograd's algorithm overlap; Resize reads
 * neighbours. */
static bool
repeats_chain(const struct group *group, const struct node *n)
{
	bool costly = false;

	for (int i = 0; i < group->nodes.n; i++) {
		costly |= node_is_costly(group->nodes.data[i]);
	}
	return costly && (node_is(n, "Resize") ||
			  strcmp(n->op_type, "WinogradInput") == 0);
}

/* A node that can be the group's anchor and take the group's short elementwise
 * chain as its prologue, such as a Softmax or a sum; NULL if no node can. */
static struct node *
next_anchor(struct fusion *f, const struct group *group,
	    const struct node *last)
{
	struct node *n = sole_user(last->outputs[0]);
	int chain = 0;

	for (int i = 0; i < group->nodes.n; i++) {
		chain += !f->constant[f->position[group->nodes.data[i]->id]];
	}
	if (!n || n->group >= 0 || n->body != last->body ||
	    chain > MAX_PROLOGUE ||
	    (n->op->fuse != FUSE_ROWWISE && n->op->fuse != FUSE_REDUCTION &&
	     n->op->fuse != FUSE_ORDERED) ||
	    node_attr(n, "kernel_shape") || n->inputs[0] != last->outputs[0] ||
	    f->sinks[f->position[n->id]] || repeats_chain(group, n)) {
		return NULL;
	}
	return n;
}

/* Does control flow decide where t is stored, possibly at another place in each
 * iteration? False for the stacked result of a loop, which is a separate
 * tensor. */
static bool
is_placed(const struct tensor *t)
{
	const struct node *p = t->producer;

	return p && p->op->fuse == FUSE_CONTROL && !node_ends_if(p) &&
	       !(node_ends_loop(p) &&
		 t->output_index >= node_loop_end(p).states);
}

/* Can n be a view without a copy? A view needs a copy if its bytes would have
 * to be in two places: in an input or a constant and in an output, or in two
 * outputs. A view of a constant needs a copy, too: constants are not in the
 * workspace. (The size of such a view is known only when the model runs; else
 * the view would have been folded to a constant.) An output whose size is not
 * known before its elements are computed needs a copy, too. */
static bool
is_free_view(struct fusion *f, const struct node *n)
{
	const struct tensor *root;

	if (n->op->fuse != FUSE_VIEW) {
		return false;
	}
	root = fuse_storage_of(n->inputs[0]);
	if (is_placed(root) || tensor_is_constant(root)) {
		return false;
	}
	if (!fuse_outputs_behind(n->outputs[0])) {
		return true;
	}
	return root->producer && fuse_outputs_behind(root) == 1 &&
	       fuse_waits_for_sizes(f, n);
}

/* Is n a Concat without a copy? Each input must be stored by a kernel, and not
 * be a prologue. */
static bool
is_free_concat(struct fusion *f, const struct node *n)
{
	if (!node_is(n, "Concat")) {
		return false;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t && t->producer &&
		    (f->sinks[f->position[t->producer->id]] ||
		     fuse_storage_of(t)->producer == NULL ||
		     fuse_storage_of(t)->producer->op->fuse == FUSE_CONTROL ||
		     tensor_read_by_control(t) ||
		     t->producer->body != n->body)) {
			return false;
		}
	}
	return fuse_concat_is_free(n, f->graph->settings->part_align_bytes);
}

/* Can n have an epilogue? Not if its stores are ordered: then an element is
 * complete only after the last store. */
static bool
takes_epilogue(const struct node *n)
{
	return n->op->fuse != FUSE_OPAQUE && n->op->fuse != FUSE_ORDERED;
}

static void
make_group(struct fusion *f, struct node *n)
{
	struct arena *a = &f->graph->module->arena;
	struct group *group = arena_new(a, struct group);
	struct node *last, *anchor;

	group->id = f->groups.n;
	group->anchor = n;
	n->group = group->id;
	vec_push(a, &f->groups, group);
	if (n->op->fuse == FUSE_CONTROL) {
		group->is_control = true;
		vec_push(a, &group->nodes, n);
		return;
	}
	if (is_free_view(f, n)) {
		group->is_view = true;
		vec_push(a, &group->nodes, n);
		return;
	}
	if (is_free_concat(f, n)) {
		group->is_view = true;
		vec_push(a, &group->nodes, n);
		fuse_concat_place(n);
		return;
	}
	group_add(f, group, n);
	last = n;
	if (takes_epilogue(n)) {
		last = take_epilogue(f, group, n);
	}
	if (fuse_is_elementwise(n) &&
	    (anchor = next_anchor(f, group, last)) != NULL) {
		group->anchor = anchor;
		anchor->group = group->id;
		group_add(f, group, anchor);
		if (takes_epilogue(anchor)) {
			take_epilogue(f, group, anchor);
		}
	}
}

/* Makes each region of a backend a group. */
static void
take_regions(struct fusion *f)
{
	struct graph *g = f->graph;
	struct arena *a = &g->module->arena;

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		struct graph_region *r = n->match ? n->match->region : NULL;
		struct group *group;

		if (r == NULL || n->group >= 0) {
			continue;
		}
		group = arena_new(a, struct group);
		group->id = f->groups.n;
		group->anchor = r->matches.data[0]->anchor;
		group->region = r;
		vec_push(a, &f->groups, group);
		for (int k = i; k < g->nodes.n; k++) {
			if (region_has(r, g->nodes.data[k])) {
				g->nodes.data[k]->group = group->id;
				vec_push(a, &group->nodes, g->nodes.data[k]);
			}
		}
	}
}

/* Sorts the groups in the order of their last nodes, and renumbers the
 * groups. */
static void
sort_groups(struct fusion *f)
{
	struct graph *g = f->graph;
	struct arena *a = &g->module->arena;
	struct group **ends = arena_array(a, struct group *, g->nodes.n + 1);

	for (int i = 0; i < f->groups.n; i++) {
		struct group *group = f->groups.data[i];
		const struct node *last = group->nodes.data[group->nodes.n - 1];

		ends[f->position[last->id]] = group;
	}
	g->groups.n = 0;
	for (int i = 0; i < g->nodes.n; i++) {
		g->nodes.data[i]->group = -1;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct group *group = ends[i];

		if (!group) {
			continue;
		}
		group->id = g->groups.n;
		vec_push(a, &g->groups, group);
		for (int k = 0; k < group->nodes.n; k++) {
			struct node *n = group->nodes.data[k];

			if (n->group < 0) {
				n->group = group->id;
			}
		}
	}
}

bool
graph_fuse(struct graph *g)
{
	struct arena *a = &g->module->arena;

	fuse_drop_copies(g);

	struct fusion f = {
		.graph = g,
		.position = arena_array(a, int, g->next_node_id + 1),
		.sinks = arena_array(a, bool, g->nodes.n + 1),
		.constant = arena_array(a, bool, g->nodes.n + 1),
		.size = arena_array(a, int, g->nodes.n + 1),
	};

	for (int i = 0; i < g->nodes.n; i++) {
		g->nodes.data[i]->group = -1;
	}
	for (int i = 0; i < g->tensors.n; i++) {
		g->tensors.data[i]->part_of = NULL;
		g->tensors.data[i]->element_of = NULL;
	}
	fuse_find_sinks(&f);
	fuse_find_sizes(&f);
	take_regions(&f);
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (n->group < 0 && !f.sinks[i]) {
			make_group(&f, n);
		}
	}
	fuse_order_by_sizes(&f);
	sort_groups(&f);
	fuse_loops(g);
	return true;
}
