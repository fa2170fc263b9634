/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the loop over the images of a batch: the nodes in the loop compute one
 * image, read the slices of the inputs for this image, and stack their
 * results. */
#include "images.h"
#include "rewrite.h"

int64_t
images_rows(const struct tensor *t)
{
	int64_t rows = 0, size;

	if (t->ndim >= GRAPH_MAX_RANK) {
		return 0;
	}
	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &size) || size < 1) {
			return 0;
		}
		rows = d == 0 ? size : rows;
	}
	return rows;
}

/* The shape of t, with this number of rows. */
static int64_t *
sizes_with(const struct images *b, const struct tensor *t, int64_t rows)
{
	int64_t *sizes = arena_array(&b->g->module->arena, int64_t,
				     t->ndim + 1);

	for (int d = 0; d < t->ndim; d++) {
		(void)expr_is_int(t->shape[d], &sizes[d]);
	}
	sizes[0] = rows;
	return sizes;
}

static struct node *
add_node(struct images *b, const char *op_type, int body, const char *base,
	 struct tensor *in)
{
	struct node *n = insert_node(b->g, NULL, op_type, base, &in, 1);

	n->domain = "tirc";
	n->op = op_find("tirc", op_type);
	node_set_attr_int(b->g, n, "body", body);
	return n;
}

/* t as [images][rows of an image]…; NULL after a diagnostic. */
static struct tensor *
by_iteration(struct images *b, struct tensor *t)
{
	int64_t *shape = arena_array(&b->g->module->arena, int64_t,
				     t->ndim + 2);
	struct node *n;

	shape[0] = b->count;
	memcpy(shape + 1, sizes_with(b, t, images_rows(t) / b->count),
	       sizeof *shape * (size_t)t->ndim);
	n = insert_reshape(b->g, NULL, t,
			   arena_printf(&b->g->module->arena, "%s.images",
					t->name),
			   t->ndim + 1, shape);
	return ops_infer_node(b->g, n) ? n->outputs[0] : NULL;
}

/* The image of the input t that an iteration reads; NULL after a
 * diagnostic. */
static struct tensor *
slice_of(struct images *b, struct tensor *t)
{
	struct tensor **slice = &b->slice[t->id], *all;
	struct node *copy, *n;

	if (*slice == NULL) {
		all = by_iteration(b, t);
		if (all == NULL) {
			return NULL;
		}
		copy = add_node(b, "Copy", 0, all->name, all);
		if (!ops_infer_node(b->g, copy)) {
			return NULL;
		}
		n = add_node(b, "ScanInput", b->body,
			     arena_printf(&b->g->module->arena, "%s.image",
					  t->name),
			     copy->outputs[0]);
		node_set_attr_int(b->g, n, "back", 0);
		if (ops_infer_node(b->g, n)) {
			*slice = n->outputs[0];
		}
	}
	return *slice;
}

/* Lets a node compute one image. */
static bool
make_single(struct images *b, struct node *n)
{
	const struct tensor *y = n->outputs[0];

	if (node_is(n, "Reshape")) {
		struct node *r = insert_reshape(b->g, NULL, n->inputs[0],
						y->name, y->ndim,
						sizes_with(b, y,
							   images_rows(y) /
								   b->count));

		node_set_input(n, 1, r->inputs[1]);
		graph_remove_node(b->g, r, NULL, "");
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		if (t == NULL || !t->is_input || !b->inside[t->id]) {
			continue;
		}
		t = slice_of(b, t);
		if (t == NULL) {
			return false;
		}
		node_set_input(n, i, t);
	}
	return ops_infer_node(b->g, n);
}

/* Makes readers of t that are outside of the loop read the rows of all images
 * from `stacked`, the tensor in which the loop stacks the results of the
 * images. */
static bool
read_stacked(struct images *b, struct tensor *t, struct tensor *stacked)
{
	struct graph *g = b->g;
	int64_t rows = images_rows(t);
	int n_uses = t->uses.n;
	struct use *uses = arena_copy(&g->module->arena, t->uses.data,
				      sizeof *uses * (size_t)n_uses);
	struct node *n;

	/* An output of the graph and its image change names. */
	n = insert_reshape(g, NULL, stacked,
			   arena_printf(&g->module->arena,
					t->is_output ? "%s.image" : "%s.images",
					t->name),
			   t->ndim, sizes_with(b, t, b->count * rows));
	graph_replace_uses(g, t, n->outputs[0]);
	for (int i = 0; i < n_uses; i++) {
		const struct node *user = uses[i].node;

		if (user->id >= b->n_nodes || b->taken[user->id]) {
			node_set_input(uses[i].node, uses[i].input, t);
		}
	}
	return ops_infer_node(g, n);
}

/* Ends the loop: stacks its results. */
static bool
add_end(struct images *b)
{
	struct arena *a = &b->g->module->arena;
	int n = b->results.n;
	struct tensor **in = arena_array(a, struct tensor *, n + 1);
	struct tensor **out = arena_array(a, struct tensor *, n + 1);
	struct node *end;

	for (int i = 0; i < n; i++) {
		struct tensor *t = b->results.data[i];
		struct node *copy = add_node(b, "Copy", b->body, t->name, t);

		if (!ops_infer_node(b->g, copy)) {
			return false;
		}
		in[i] = copy->outputs[0];
		out[i] = graph_tensor(b->g, t->name);
	}
	end = graph_node(b->g, "tirc", "EndLoop", "", in, n, out, n);
	end->op = op_find("tirc", "EndLoop");
	node_set_attr_int(b->g, end, "body", 0);
	node_set_attr_int(b->g, end, "loop", b->body);
	node_set_attr_int(b->g, end, "states", 0);
	node_set_attr_int(b->g, end, "trips", b->count);
	node_set_attr_int(b->g, end, "images", 1);
	if (!ops_infer_node(b->g, end)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!read_stacked(b, b->results.data[i], out[i])) {
			return false;
		}
	}
	return true;
}

/* Is t read outside of the loop, or an output of the graph? */
static bool
is_result(const struct images *b, const struct tensor *t)
{
	bool any = t->is_output;

	for (int i = 0; i < t->uses.n; i++) {
		any |= !b->taken[t->uses.data[i].node->id];
	}
	return any;
}

bool
images_make_loop(struct images *b)
{
	struct graph *g = b->g;
	int n_nodes = g->nodes.n;
	struct node **nodes = arena_copy(&g->module->arena, g->nodes.data,
					 sizeof *nodes * (size_t)n_nodes);

	b->body = g->bodies.n > 0 ? g->bodies.n : 1;
	for (int i = 0; i < n_nodes; i++) {
		for (int k = 0;
		     b->taken[nodes[i]->id] && k < nodes[i]->n_outputs; k++) {
			struct tensor *t = nodes[i]->outputs[k];

			if (t != NULL && is_result(b, t)) {
				vec_push(&g->module->arena, &b->results, t);
			}
		}
	}
	for (int i = 0; i < n_nodes; i++) {
		if (b->taken[nodes[i]->id] && !make_single(b, nodes[i])) {
			return false;
		}
	}
	if (!add_end(b) || !graph_sort(g)) {
		return false;
	}
	graph_find_bodies(g);
	return true;
}
