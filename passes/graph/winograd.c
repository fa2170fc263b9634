/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses between direct and Winograd convolution
 * (passes/ops/product/winograd.c; Lavin & Gray 2016) for 3x3 kernels with
 * stride 1, and inserts the operators of a Winograd convolution.
 *
 *	                                u = tirc.WinogradWeights (w)
 *	y = Conv (x, w, b)       ->     v = tirc.WinogradInput (x)
 *	                                m = tirc.WinogradProduct (v, u)
 *	                                y = tirc.WinogradOutput (m, , b)
 *
 * The cost model estimates the time from the target's speeds: operations, and
 * bytes from memory, or from the second cache if the arrays that are written
 * and read again fit in it. A tile of m x m results takes (m + 2)² products per
 * channel instead of 9 m²; but there are (m + 2)² / 9 times as many weights,
 * and the transformed inputs and the sums are written and read once more. Each
 * byte of weights and workspace also has a price in time, so that a smaller
 * tile, or direct convolution, is chosen if a larger tile saves little time for
 * its memory.
 *
 * The result is not exact, and its error is not within the rounding errors of
 * the sums that it replaces. The transforms of tiles of 4 have factors up to 8,
 * and add the pixels of a whole tile: each result of a tile has an error in
 * proportion to the largest pixel of the tile, also where its own 3x3 pixels
 * are small. An infinity, a NaN, or a number that overflows when it is
 * multiplied by a hundred makes all results of its tile NaN. Winograd is never
 * chosen if the graph has the setting exact_rewrites (then the caller asks for
 * direct convolutions), or if a later operator makes the difference visible
 * (visible.c), whatever the user asks for. */
#include "identifiers.h"
#include "pairs.h"
#include "rewrite.h"
#include "visible.h"
#include "window.h"

enum { KERNEL = 3, BLOCK = 8 };

/* Winograd is chosen only if its cost is below this fraction of the cost of
 * direct convolution, and large tiles only if their cost is below this fraction
 * of the cost of small tiles. */
static const double worth = 0.8;

/* The price of a byte of weights or workspace, as a multiple of the time that
 * reading the byte from memory takes. */
static const double price = 0.25;

struct conv {
	int64_t batch, in, out; /* in, out: numbers of channels */
	/* iterations of the loop around the convolution, or 1 */
	int64_t runs;
	int64_t height, width; /* the height and width of the input */
	/* size: the height and width of the output; pads: the padding above and
	 * left of the input */
	int64_t size[2], pads[2];
	/* the number of elements of all constants of the graph together */
	double constants;
	/* the number of products that one operation of the direct convolution
	 * adds up: more than 1 if the target has a dot product for the type of
	 * the weights */
	int depth;
};

struct plan {
	/* the m of the chosen tile of m x m results; 0: direct convolution */
	int64_t tile;
	int64_t tiles[2];
	/* the estimated time, plus the price of memory, in nanoseconds */
	double cost;
};

static bool
is_f32(const struct tensor *t)
{
	return dtype_equal(t->type, dtype_of(DT_F32));
}

static bool
read_window(struct graph *g, const struct node *n, struct conv *c)
{
	static const int64_t kernel[WINDOW_MAX] = { KERNEL, KERNEL, 1, 1 };
	struct window w;

	if (window_of_node(g->module, n, kernel, false, &w) != NULL) {
		return false;
	}
	for (int d = 0; d < 2; d++) {
		if (w.stride[d] != 1 || w.dilation[d] != 1 ||
		    !expr_is_int(w.out[d], &c->size[d]) ||
		    !expr_is_int(w.begin[d], &c->pads[d]) || c->size[d] < 1) {
			return false;
		}
	}
	return true;
}

/* The number of iterations of the innermost loop around n; 1 if n is in no
 * loop, or if the number is not known. */
static int64_t
runs_of(struct graph *g, const struct node *n)
{
	const struct graph_body *b = graph_body(g, n->body);

	while (b != NULL && !b->is_loop) {
		b = graph_body(g, b->parent);
	}
	return b != NULL && b->end != NULL && node_loop_end(b->end).trips > 0
		       ? node_loop_end(b->end).trips
		       : 1;
}

/* If n is a convolution that Winograd's algorithm can compute, sets *c to its
 * sizes and returns true; else returns false. Its channels must be a multiple
 * of the channel block, the vector lanes of the transforms. */
static bool
read_conv(struct graph *g, const struct node *n, struct conv *c)
{
	const struct tensor *x, *w;
	int64_t kh, kw, per_group;

	if (!node_is(n, "Conv") || n->match != NULL) {
		return false;
	}
	x = n->inputs[0];
	w = n->inputs[1];
	c->runs = runs_of(g, n);
	c->depth = pairs_can_compute(g, n) ? g->settings->weight_depth : 1;
	return x->ndim == 4 && w->ndim == 4 && is_f32(x) && is_f32(w) &&
	       tensor_is_constant(w) && node_attr_int(n, "group", 1) == 1 &&
	       expr_is_int(x->shape[0], &c->batch) &&
	       expr_is_int(x->shape[1], &c->in) &&
	       expr_is_int(x->shape[2], &c->height) &&
	       expr_is_int(x->shape[3], &c->width) &&
	       expr_is_int(w->shape[0], &c->out) &&
	       expr_is_int(w->shape[1], &per_group) && per_group == c->in &&
	       expr_is_int(w->shape[2], &kh) && kh == KERNEL &&
	       expr_is_int(w->shape[3], &kw) && kw == KERNEL &&
	       c->in % BLOCK == 0 && c->out % BLOCK == 0 && c->batch > 0 &&
	       read_window(g, n, c);
}

/* The elements of all constants of the graph. */
static double
constants_of(const struct graph *g)
{
	double all = 0;
	int64_t elems;

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (tensor_is_constant(t) && tensor_max_elems(t, &elems)) {
			all += (double)elems;
		}
	}
	return all;
}

/* The time in nanoseconds that a core takes to read or write `floats` floats of
 * arrays that have `size` floats in total. The arrays are in the second cache,
 * in memory, or in a third cache, whose size is a multiple of that of the
 * second and whose speed is between those of the second cache and memory. */
static double
move_time(const struct settings *costs, double floats, double size)
{
	enum { THIRD = 8 };
	double bytes = sizeof(float) * size, speed = costs->conv_gbytes;

	if (bytes < costs->conv_cache_bytes) {
		speed = costs->conv_cache_gbytes;
	} else if (bytes < THIRD * (double)costs->conv_cache_bytes) {
		speed = (speed + costs->conv_cache_gbytes) / 2;
	}
	return sizeof(float) * floats / speed;
}

/* The cost of `operations` operations with `weights` weights, which move
 * `moved` floats of arrays in the workspace that have `placed` floats in total.
 * The price of memory counts once, the time counts for each run. Weights count
 * as being in the cache only if all constants of the model fit there. */
static double
cost_of(const struct settings *costs, const struct conv *c, double operations,
	double weights, double moved, double placed)
{
	double run = operations / costs->conv_gflops +
		     move_time(costs, weights, weights + c->constants) +
		     move_time(costs, moved, placed);

	return (double)c->runs * run +
	       price * sizeof(float) * (weights + placed) / costs->conv_gbytes;
}

static double
direct_cost(const struct settings *costs, const struct conv *c)
{
	double weights = (double)(KERNEL * KERNEL * c->in * c->out);
	double operations = 2 * weights / c->depth * (double)c->batch *
			    (double)(c->size[0] * c->size[1]);

	weights /= c->depth; /* the weights are stored in the narrow type */
	return cost_of(costs, c, operations, weights, 0, 0);
}

static struct plan
tiled(const struct settings *costs, const struct conv *c, int64_t tile)
{
	struct plan p = { .tile = tile };
	double points = (double)((tile + 2) * (tile + 2)), tiles, weights;
	double moved, placed;

	for (int d = 0; d < 2; d++) {
		p.tiles[d] = (c->size[d] + tile - 1) / tile;
	}
	tiles = (double)c->batch * (double)(p.tiles[0] * p.tiles[1]);
	weights = points * (double)c->in * (double)c->out;
	/* The floats that the transforms read and write; their arithmetic takes
	 * less time than that. */
	moved = (points * tiles +
		 (double)c->batch * (double)(c->height * c->width)) *
			(double)c->in +
		(points * tiles +
		 (double)c->batch * (double)(c->size[0] * c->size[1])) *
			(double)c->out;
	placed = points * tiles * (double)(c->in + c->out);
	p.cost = cost_of(costs, c, 2 * weights * tiles, weights, moved, placed);
	return p;
}

static struct plan
choose(const struct settings *costs, const struct conv *c)
{
	struct plan small = tiled(costs, c, 2), large = tiled(costs, c, 4);
	struct plan best = large.cost < worth * small.cost ? large : small;

	if (costs->conv == CONV_AUTO &&
	    best.cost >= worth * direct_cost(costs, c)) {
		best.tile = 0;
	}
	return best;
}

/* -- the operators -- */

static struct node *
insert_op(struct graph *g, const struct node *before, const char *op_type,
	  const char *base, struct tensor *const *in, int n_in,
	  const struct plan *p)
{
	struct node *n = insert_node(g, before, op_type, base, in, n_in);

	n->domain = "tirc";
	n->op = op_find("tirc", op_type);
	node_set_attr_int(g, n, "tile", p->tile);
	node_set_attr_ints(g, n, "tiles", p->tiles, 2);
	return n;
}

/* The name of the layer: the name that a direct convolution would have. */
static const char *
layer_stem(struct arena *a, const struct node *conv)
{
	const char *stem = stem_of_weight(a, conv);

	if (stem == NULL) {
		stem = name_stem(a, conv->name);
		stem = stem ? stem : name_stem(a, conv->outputs[0]->name);
		return stem ? stem : "conv";
	}
	return strstr(stem, "conv") || strstr(stem, "Conv")
		       ? stem
		       : arena_printf(a, "%s_conv", stem);
}

/* Describes n as a part of conv for the user; a function shared by several
 * layers is named after its body. */
static void
describe_as_part(struct graph *g, struct node *n, const struct node *conv,
		 const struct conv *c, const struct plan *p, const char *part)
{
	struct arena *a = &g->module->arena;
	const char *stem = layer_stem(a, conv);
	bool last = strcmp(part, "output") == 0;
	int tile = (int)p->tile;
	const char *channels = last ? arena_printf(a, "%lld", (long long)c->out)
			       : strcmp(part, "input") == 0
				       ? arena_printf(a, "%lld",
						      (long long)c->in)
				       : arena_printf(a, "%lld_%lld",
						      (long long)c->in,
						      (long long)c->out);

	n->name = last ? conv->name
		       : arena_printf(a, "%s%s%s", conv->name,
				      *conv->name ? "." : "", part);
	graph_share_origins(n, conv);
	node_set_attr_string(g, n, "stem",
			     last ? stem
				  : arena_printf(a, "%s_%s", stem, part));
	node_set_attr_string(g, n, "kernel_body",
			     arena_printf(a, "winograd_%s_%s_%lldx%lld", part,
					  channels, (long long)c->size[0],
					  (long long)c->size[1]));
	node_set_attr_string(
		g, n, "title",
		arena_printf(
			a,
			"Winograd F(%dx%d,3x3), %s of Conv 3x3, %lld -> %lld "
			"channels",
			tile, tile, part, (long long)c->in, (long long)c->out));
}

static bool
replace(struct graph *g, struct node *n, const struct conv *c,
	const struct plan *p)
{
	struct arena *a = &g->module->arena;
	struct tensor *y = n->outputs[0], *in[3] = { n->inputs[1] };
	const char *stem = layer_stem(a, n);
	const int64_t shape[3] = { c->batch, c->size[0], c->size[1] };
	struct node *input, *product, *output, *points;

	points = insert_op(g, NULL, "WinogradWeights",
			   arena_printf(a, "%s.points", in[0]->name), in, 1, p);
	in[1] = finish_constant(g, points);
	input = insert_op(g, n, "WinogradInput",
			  arena_printf(a, "%s.pixels", stem), n->inputs, 1, p);
	node_set_attr_ints(g, input, "pads", c->pads, 2);
	describe_as_part(g, input, n, c, p, "input");
	if (!in[1] || !ops_infer_node(g, input)) {
		return false;
	}
	in[0] = input->outputs[0];
	product = insert_op(g, n, "WinogradProduct",
			    arena_printf(a, "%s.sums", stem), in, 2, p);
	describe_as_part(g, product, n, c, p, "products");
	if (!ops_infer_node(g, product)) {
		return false;
	}
	in[0] = product->outputs[0];
	in[1] = NULL;
	in[2] = node_input(n, 2);
	output = insert_op(g, n, "WinogradOutput", y->name, in, in[2] ? 3 : 1,
			   p);
	node_set_attr_ints(g, output, "shape", shape, 3);
	describe_as_part(g, output, n, c, p, "output");
	if (!ops_infer_node(g, output)) {
		return false;
	}
	graph_note(g, n, "winograd", "computed by tiles, in three kernels");
	n->origins.n = 0;
	graph_replace_uses(g, y, output->outputs[0]);
	graph_remove_node(g, n, "winograd", "");
	return true;
}

bool
graph_winograd(struct graph *g)
{
	struct visible visible = { .graph = g };
	double constants = constants_of(g);

	if (graph_has_control(g)) {
		graph_find_bodies(g);
	}
	for (int i = 0; i < g->nodes.n && g->settings->conv != CONV_DIRECT;
	     i++) {
		struct node *n = g->nodes.data[i];
		struct conv c;
		struct plan p;

		if (!read_conv(g, n, &c)) {
			continue;
		}
		c.constants = constants;
		p = choose(g->settings, &c);
		if (p.tile == 0 || visible_at(&visible, n->outputs[0])) {
			continue;
		}
		if (!replace(g, n, &c, &p)) {
			return false;
		}
		i += 2; /* continue with the last of the three nodes */
	}
	return true;
}

struct winograd_memory
graph_winograd_memory(const struct graph *g)
{
	struct winograd_memory m = { 0 };

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		int64_t side = node_attr_int(n, "tile", 0) + 2, bytes, placed;

		if (!node_is_internal(n, "WinogradProduct")) {
			continue;
		}
		bytes = tensor_bytes_max(n->inputs[1]);
		placed = tensor_bytes_max(n->inputs[0]) +
			 tensor_bytes_max(n->outputs[0]);
		m.convolutions++;
		m.weights_bytes += bytes;
		m.direct_bytes += bytes / (side * side) * KERNEL * KERNEL;
		m.most_bytes = placed > m.most_bytes ? placed : m.most_bytes;
	}
	return m;
}
