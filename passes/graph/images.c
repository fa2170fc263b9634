/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the images of a batch one after the other, in a loop around the
 * nodes that compute them:
 *
 *	y: float32[8, 16, 32, 32] = Conv (x, w)
 *	z = Relu (y)
 *	p = Softmax (Gemm (z, v))
 *
 *	r: float32[8, 1, 3, 32, 32] = Reshape (x)
 *	a: float32[1, 3, 32, 32] = tirc.ScanInput (r) {body = 1}
 *	y: float32[1, 16, 32, 32] = Conv (a, w)
 *	b = Relu (y)
 *	c = tirc.Copy (b) {body = 1}
 *	s: float32[8, 1, 16, 32, 32] = tirc.EndLoop (c) {loop = 1, trips = 8}
 *	z = Reshape (s)
 *	p = Softmax (Gemm (z, v))
 *
 * Kernels then compute one image as if the model had a batch of one: its
 * activations stay in the cache from one kernel to the next, Concat along
 * channels needs no copy, and the workspace holds the activations of one image.
 * Each weight is read once per image instead. So a node that uses each weight
 * only a few times per image (Gemm) ends the loop: it computes the whole batch.
 *
 * A node can be in the loop if each of its rows, the indices of the first
 * dimension, depends only on the same row of its inputs (image_rows.c), or if
 * it is a view of the same bytes of an image, and if all its inputs that depend
 * on images are in the loop. A Reshape may give an image several rows, such as
 * the windows of a transformer.
 *
 * The loop is made
 *
 *	- with the setting images_apart (--optimize memory), wherever it can be;
 *	- with the setting images_cache_bytes, if it has a product, and the
 *	  images' activations at one node, all together, do not fit in this
 *	  cache.
 *
 * Exact: each image is computed by the same operators. */
#include "images.h"
#include "rewrite.h"

enum {
	/* A product that uses each weight fewer than LEAST_USES times for each
	 * image spends its time on reading weights: it is not put in the loop,
	 * but computes the whole batch. */
	LEAST_USES = 8,
	/* A loop around fewer nodes than this keeps nothing in the cache. */
	LEAST_NODES = 2,
};

/* -- which nodes can be in the loop -- */

static bool
is_view(const struct node *n)
{
	return n->op->fuse == FUSE_VIEW;
}

/* Sets by_image[i] for the inputs of n whose rows belong to images. False if an
 * input depends on images in any other way, or if no input depends on
 * images. */
static bool
inputs_by_image(const struct images *b, const struct node *n, bool *by_image)
{
	bool any = false;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		by_image[i] = t != NULL && b->inside[t->id];
		any |= by_image[i];
		if (t != NULL && b->depends[t->id] && !by_image[i]) {
			return false;
		}
	}
	return any;
}

/* Do all results of n have as many rows as the inputs by_image? If n is a view,
 * it is enough that each result has the same number of rows for each image. */
static bool
rows_agree(const struct images *b, const struct node *n, const bool *by_image)
{
	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *y = n->outputs[k];
		int64_t rows;

		if (y == NULL) {
			continue;
		}
		rows = images_rows(y);
		if (rows == 0 || rows % b->count != 0 || y->is_string ||
		    y->elems != NULL) {
			return false;
		}
		for (int i = 0; i < n->n_inputs && !is_view(n); i++) {
			if (by_image[i] && images_rows(n->inputs[i]) != rows) {
				return false;
			}
		}
	}
	return true;
}

/* The shape of t in an iteration. */
static const struct expr **
shape_of_image(const struct images *b, const struct tensor *t)
{
	const struct expr **shape = arena_copy(&b->g->module->arena, t->shape,
					       sizeof *shape * (size_t)t->ndim);

	shape[0] = expr_index(b->g->module, images_rows(t) / b->count);
	return shape;
}

/* Does inference give n's outputs the shapes of one iteration (one image) when
 * the inputs by_image have these shapes? It does not if an attribute or a
 * constant fixes the size of the batch. */
static bool
fits_image(const struct images *b, const struct node *n, const bool *by_image)
{
	struct module *m = b->g->module;
	struct node part = *n;
	int first = m->diags.list.n;
	bool good;

	if (node_is(n, "Reshape")) {
		return true; /* the shape of the state changes in the loop */
	}
	part.inputs = arena_copy(&m->arena, n->inputs,
				 sizeof *part.inputs * (size_t)n->n_inputs);
	part.outputs = arena_copy(&m->arena, n->outputs,
				  sizeof *part.outputs * (size_t)n->n_outputs);
	for (int i = 0; i < n->n_inputs; i++) {
		if (by_image[i]) {
			part.inputs[i] = arena_copy(&m->arena, n->inputs[i],
						    sizeof **part.inputs);
			part.inputs[i]->shape = shape_of_image(b, n->inputs[i]);
		}
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] != NULL) {
			part.outputs[k] = arena_copy(&m->arena, n->outputs[k],
						     sizeof **part.outputs);
		}
	}
	good = ops_infer_node(b->g, &part);
	diags_drop_errors(&m->diags, first, DIAG_COUNT);
	for (int k = 0; good && k < n->n_outputs; k++) {
		const struct tensor *y = n->outputs[k];
		struct tensor want;

		if (y != NULL) {
			want = *y;
			want.shape = shape_of_image(b, y);
			good = tensor_same_type(part.outputs[k], &want) &&
			       part.outputs[k]->elems == NULL;
		}
	}
	return good;
}

static bool
can_be_inside(const struct images *b, const struct node *n)
{
	bool *by_image = arena_array(&b->g->module->arena, bool,
				     n->n_inputs + 1);

	return n->match == NULL && inputs_by_image(b, n, by_image) &&
	       rows_agree(b, n, by_image) &&
	       (is_view(n) ? node_run_sizes(n) < 0
			   : node_keeps_rows(b->g, n, by_image)) &&
	       fits_image(b, n, by_image);
}

/* -- which nodes should be in the loop -- */

/* Is n a product that uses each weight only a few times per image? */
static bool
is_bound_by_weights(const struct images *b, const struct node *n)
{
	int64_t macs = op_macs(n), weights = 0, elems;

	for (int i = 0; i < n->n_inputs && macs > 0; i++) {
		const struct tensor *t = n->inputs[i];

		if (t != NULL && !b->inside[t->id] &&
		    tensor_max_elems(t, &elems) && elems > weights) {
			weights = elems;
		}
	}
	return macs / b->count / LEAST_USES < weights;
}

static bool
node_depends(const struct images *b, const struct node *n)
{
	for (int k = 0; k < n->n_inputs; k++) {
		if (n->inputs[k] != NULL && b->depends[n->inputs[k]->id]) {
			return true;
		}
	}
	return false;
}

static void
mark_results(struct images *b, const struct node *n, bool depends, bool take)
{
	b->taken[n->id] = take;
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] != NULL) {
			b->depends[n->outputs[k]->id] = depends;
			b->inside[n->outputs[k]->id] = take;
		}
	}
}

/* Finds the nodes of the loop: starting at the inputs, all nodes that can be in
 * the loop, up to nodes that should not be in it. */
static void
take_nodes(struct images *b)
{
	const struct graph *g = b->g;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		bool depends = node_depends(b, n);

		mark_results(b, n, depends,
			     depends && can_be_inside(b, n) &&
				     (g->settings->images_apart ||
				      !is_bound_by_weights(b, n)));
	}
}

static bool
is_read_inside(const struct images *b, const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (b->taken[t->uses.data[i].node->id]) {
			return true;
		}
	}
	return false;
}

/* Removes from the loop the views whose results no node of the loop reads: the
 * loop would copy them. Returns the number of nodes in the loop that are no
 * views. */
static int
leave_last_views(struct images *b)
{
	int count = 0;

	for (int i = b->g->nodes.n - 1; i >= 0; i--) {
		const struct node *n = b->g->nodes.data[i];

		if (b->taken[n->id] && is_view(n) &&
		    !is_read_inside(b, n->outputs[0])) {
			b->taken[n->id] = false;
			b->inside[n->outputs[0]->id] = false;
		}
		count += b->taken[n->id] && !is_view(n);
	}
	return count;
}

/* The bytes of one image in the tensors that a node reads and writes together:
 * the largest number for any node in the loop. */
static int64_t
most_bytes(const struct images *b)
{
	int64_t most = 0;

	for (int i = 0; i < b->g->nodes.n; i++) {
		const struct node *n = b->g->nodes.data[i];
		int64_t bytes = 0;

		if (!b->taken[n->id] || is_view(n)) {
			continue;
		}
		for (int k = 0; k < n->n_inputs + n->n_outputs; k++) {
			const struct tensor *t =
				k < n->n_inputs ? n->inputs[k]
						: n->outputs[k - n->n_inputs];

			if (t != NULL && b->inside[t->id]) {
				bytes += tensor_bytes_max(t) / b->count;
			}
		}
		most = bytes > most ? bytes : most;
	}
	return most;
}

static bool
has_product(const struct images *b)
{
	for (int i = 0; i < b->g->nodes.n; i++) {
		const struct node *n = b->g->nodes.data[i];

		if (b->taken[n->id] && op_macs(n) > 0) {
			return true;
		}
	}
	return false;
}

/* Would a loop around the nodes taken be of use? */
static bool
is_worth(const struct images *b, int n_nodes)
{
	const struct settings *s = b->g->settings;

	return n_nodes >= LEAST_NODES &&
	       (s->images_apart ||
		(has_product(b) &&
		 most_bytes(b) > s->images_cache_bytes / b->count));
}

/* -- the batch -- */

/* Sets the number of images to the first dimension of the inputs that have
 * images, and marks these inputs. All of them must have the same number, at
 * least 2. False if there is no batch. */
static bool
find_batch(struct images *b)
{
	const struct graph *g = b->g;

	for (int i = 0; i < g->inputs.n; i++) {
		const struct tensor *t = g->inputs.data[i];
		int64_t n = images_rows(t);

		if (t->is_string || t->elems != NULL || n < 2 ||
		    (b->count != 0 && n != b->count)) {
			continue;
		}
		b->count = n;
		b->depends[t->id] = b->inside[t->id] = true;
	}
	return b->count != 0;
}

/* Marks all nodes that depend on images as taken, which are more than a loop
 * can contain. Returns their number. */
static int
take_dependents(struct images *b)
{
	int count = 0;

	for (int i = 0; i < b->g->nodes.n; i++) {
		const struct node *n = b->g->nodes.data[i];
		bool depends = node_depends(b, n);

		mark_results(b, n, depends, depends);
		count += depends;
	}
	return count;
}

bool
graph_images(struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct images b = {
		.g = g,
		.n_nodes = g->next_node_id,
		.depends = arena_array(a, bool, g->tensors.n + 1),
		.inside = arena_array(a, bool, g->tensors.n + 1),
		.slice = arena_array(a, struct tensor *, g->tensors.n + 1),
		.taken = arena_array(a, bool, g->next_node_id + 1),
	};

	if ((!g->settings->images_apart &&
	     g->settings->images_cache_bytes == 0) ||
	    g->regions.n > 0 || g->states.n > 0 || graph_has_control(g) ||
	    !find_batch(&b) || !is_worth(&b, take_dependents(&b))) {
		return true;
	}
	take_nodes(&b);
	return !is_worth(&b, leave_last_views(&b)) || images_make_loop(&b);
}
