/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of an image with fewer channels than a dot product sums. The dot
 * products sum along the rows of the image instead: the padding becomes a
 * separate node, and zeros are added to the rows of the kernel until their
 * length is a multiple of the dot product's.
 *
 *   tirc.Conv (x, w[oc][3][3][3],       p = Pad (x, 1 around, one more column)
 *              pads 1 1 1 1)       ->   tirc.Conv (p, w[oc][3][3][4], no pads) */
#include "rewrite.h"

#include "window.h"

struct image {
	struct graph *g;
	struct node *n; /* the convolution */
	int64_t kernel[2], pads[4];
	/* the number of columns of zeros that are added to each row of the
	 * kernel */
	int64_t more;
};

static bool
read_pads(struct image *m)
{
	struct window w;

	if (window_of_node(m->g->module, m->n, m->kernel, false, &w) != NULL) {
		return false;
	}
	for (int d = 0; d < 2; d++) {
		if (w.dilation[d] != 1 ||
		    !expr_is_int(w.begin[d], &m->pads[d]) ||
		    !expr_is_int(w.end[d], &m->pads[2 + d]) || m->pads[d] < 0 ||
		    m->pads[2 + d] < 0) {
			return false;
		}
	}
	return true;
}

/* Sets *m to the convolution n, if n is a convolution of bytes, of rank 4, with
 * constant weights and fewer channels than a dot product sums. False if it is
 * not, if n has a symbolic size or belongs to a backend, or if n's kernel would
 * become wider by more than a third. */
static bool
read_image(struct graph *g, struct node *n, struct image *m)
{
	const struct tensor *x, *w;
	struct dtype byte = dtype_of(g->settings->byte_type);
	int64_t channels, size, rest, depth = g->settings->byte_depth;

	if (!node_is_internal(n, "Conv") || n->match != NULL) {
		return false;
	}
	*m = (struct image){ .g = g, .n = n };
	x = n->inputs[0];
	w = n->inputs[1];
	if (x->ndim != 4 || w->ndim != 4 || !tensor_is_constant(w) ||
	    !dtype_equal(x->type, byte) || !dtype_equal(w->type, byte) ||
	    node_attr_int(n, "group", 1) != 1 ||
	    !expr_is_int(x->shape[1], &channels) || channels >= depth ||
	    !expr_is_int(x->shape[2], &size) ||
	    !expr_is_int(x->shape[3], &size) ||
	    !expr_is_int(w->shape[2], &m->kernel[0]) ||
	    !expr_is_int(w->shape[3], &m->kernel[1])) {
		return false;
	}
	rest = m->kernel[1] % depth;
	m->more = rest == 0 ? 0 : depth - rest;
	return m->more * 3 <= m->kernel[1] && read_pads(m);
}

/* The constant w with columns of zeros appended. */
static struct tensor *
widened(const struct image *m)
{
	const int64_t pads[8] = { [7] = m->more };
	struct tensor *w = m->n->inputs[1];
	struct tensor *wide;

	if (m->more == 0) {
		return w;
	}
	wide = insert_pad(m->g, m->n, w, pads, NULL);
	return wide != NULL ? finish_constant(m->g, wide->producer) : NULL;
}

/* Inserts a Pad of x: its padding, and the columns that the added zeros of the
 * kernel read. */
static struct tensor *
padded(const struct image *m)
{
	struct graph *g = m->g;
	struct tensor *x = m->n->inputs[0];
	const int64_t pads[8] = { 0, 0, m->pads[0], m->pads[1],
				  0, 0, m->pads[2], m->pads[3] + m->more };
	void *outside = arena_alloc(&g->module->arena, sizeof(int64_t));

	number_store(x->type, outside, 0,
		     (union number){ .i = node_attr_int(m->n, "outside", 0) });
	return insert_pad(g, m->n, x, pads,
			  graph_constant(g, "outside", x->type, 0, NULL,
					 outside));
}

static bool
replace(struct image *m)
{
	struct tensor *w = widened(m), *x = w != NULL ? padded(m) : NULL;
	int64_t *none = arena_array(&m->g->module->arena, int64_t, 4);
	int64_t *kernel = arena_array(&m->g->module->arena, int64_t, 2);

	if (x == NULL) {
		return false;
	}
	kernel[0] = m->kernel[0];
	kernel[1] = m->kernel[1] + m->more;
	node_set_input(m->n, 0, x);
	node_set_input(m->n, 1, w);
	node_remove_attr(m->n, "auto_pad");
	node_set_attr_ints(m->g, m->n, "pads", none, 4);
	node_set_attr_ints(m->g, m->n, "kernel_shape", kernel, 2);
	graph_note(m->g, m->n, "columns", "dot products along the rows");
	m->g->edits++;
	return ops_infer_node(m->g, m->n);
}

bool
graph_columns(struct graph *g)
{
	int n_nodes = g->nodes.n;
	struct node **nodes = arena_copy(&g->module->arena, g->nodes.data,
					 sizeof *nodes * (size_t)n_nodes);

	for (int i = 0; i < n_nodes && g->settings->slow_floats; i++) {
		struct image m;

		if (g->settings->byte_depth > 0 &&
		    read_image(g, nodes[i], &m) && !replace(&m)) {
			return false;
		}
	}
	return true;
}
