/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizes a Resize to an equivalent form: explicit sizes of the axes that
 * change, half-pixel coordinates, ties to the later element.
 *
 *	y = Resize (x, scales [1,1,2,2])        y = Resize (x, sizes [8,8])
 *	    {nearest, asymmetric, floor}   ->       {nearest, axes = [2,3],
 *	                                             half_pixel,
 *	                                             round_prefer_ceil}
 *
 * So backends need to match only one form. */
#include "resize.h"
#include "rewrite.h"

static bool
has_text(const struct node *n, const char *attr, const char *def,
	 const char *wanted)
{
	return strcmp(node_attr_string(n, attr, def), wanted) == 0;
}

static bool
set_text(struct graph *g, struct node *n, const char *attr, const char *def,
	 const char *v)
{
	if (has_text(n, attr, def, v)) {
		return false;
	}
	node_set_attr_string(g, n, attr, v);
	return true;
}

/* Can explicit sizes replace the scales of n? They must be known for the axes
 * that change, and equal to the scaled extents. */
static bool
are_sizes_enough(const struct resize_axis *axes, int ndim)
{
	bool any = false;

	for (int d = 0; d < ndim; d++) {
		const struct resize_axis *a = &axes[d];
		int64_t size, result;

		if (!a->resized) {
			continue;
		}
		if (!expr_is_int(a->size, &size) || size <= 0 ||
		    !expr_is_int(a->result, &result) || result <= 0 ||
		    a->scale * (double)size != (double)result) {
			return false;
		}
		any = true;
	}
	return any;
}

static bool
is_by_sizes(const struct node *n, const int64_t *which, int count)
{
	const int64_t *now;

	return node_input(n, 1) == NULL && node_input(n, 2) == NULL &&
	       node_attr(n, "keep_aspect_ratio_policy") == NULL &&
	       node_attr_ints(n, "axes", &now) == count &&
	       memcmp(now, which, sizeof *which * (size_t)count) == 0;
}

static bool
by_sizes(struct graph *g, struct node *n, const struct resize_axis *axes)
{
	int ndim = n->inputs[0]->ndim, count = 0;
	int64_t *which = arena_array(&g->module->arena, int64_t, ndim);
	int64_t *sizes = arena_array(&g->module->arena, int64_t, ndim);

	for (int d = 0; d < ndim; d++) {
		if (axes[d].resized) {
			which[count] = d;
			expr_is_int(axes[d].result, &sizes[count++]);
		}
	}
	if (is_by_sizes(n, which, count)) {
		return false;
	}
	node_resize_inputs(n, 4);
	node_set_input(n, 1, NULL);
	node_set_input(n, 2, NULL);
	node_set_input(n, 3,
		       graph_constant(g,
				      arena_printf(&g->module->arena,
						   "%s.sizes", node_key(n)),
				      dtype_of(DT_I64), 1,
				      (const int64_t[]){ count }, sizes));
	node_remove_attr(n, "keep_aspect_ratio_policy");
	node_set_attr_ints(g, n, "axes", which, count);
	return true;
}

/* Is every result the element with the nearest center, and in a tie the later
 * one? */
static bool
is_nearest_middle(struct graph *g, const struct node *n,
		  const struct resize_axis *axes)
{
	for (int d = 0; d < n->inputs[0]->ndim; d++) {
		const struct resize_axis *a = &axes[d];
		const int64_t *source;

		if (!a->resized) {
			continue;
		}
		source = resize_nearest_sources(g->module, n, a);
		for (int64_t i = 0; i < a->virtual_result; i++) {
			if (source[i] != (2 * i + 1) * a->virtual_size /
						 (2 * a->virtual_result)) {
				return false;
			}
		}
	}
	return true;
}

/* Does n have half_pixel coordinates, or coordinates that differ from these
 * only for results of one element? */
static bool
is_by_middles(const struct node *n, const struct resize_axis *axes)
{
	const char *mode = node_attr_string(n, "coordinate_transformation_mode",
					    "half_pixel");
	bool several = true;

	for (int d = 0; d < n->inputs[0]->ndim; d++) {
		several = several &&
			  (!axes[d].resized || axes[d].virtual_result > 1);
	}
	return strcmp(mode, "half_pixel") == 0 ||
	       strcmp(mode, "half_pixel_symmetric") == 0 ||
	       (strcmp(mode, "pytorch_half_pixel") == 0 && several);
}

static bool
by_middles(struct graph *g, struct node *n, const struct resize_axis *axes)
{
	bool nearest = has_text(n, "mode", "nearest", "nearest");
	bool changed;

	if (nearest ? !is_nearest_middle(g, n, axes)
		    : !is_by_middles(n, axes)) {
		return false;
	}
	changed = set_text(g, n, "coordinate_transformation_mode", "half_pixel",
			   "half_pixel");
	if (nearest) {
		changed = set_text(g, n, "nearest_mode", "round_prefer_floor",
				   "round_prefer_ceil") ||
			  changed || node_attr(n, "rounds_by_scale") != NULL;
		node_remove_attr(n, "rounds_by_scale");
	}
	return changed;
}

bool
graph_resize(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		struct infer c = { g, g->module, n };
		struct resize_axis *axes;
		bool changed;

		if (!node_is(n, "Resize") || *n->domain != '\0' ||
		    has_text(n, "coordinate_transformation_mode", "half_pixel",
			     "tf_crop_and_resize")) {
			continue;
		}
		axes = arena_array(&g->module->arena, struct resize_axis,
				   n->inputs[0]->ndim + 1);
		if (!resize_axes(&c, n, axes)) {
			return false;
		}
		if (!are_sizes_enough(axes, n->inputs[0]->ndim)) {
			continue;
		}
		changed = by_middles(g, n, axes);
		changed = by_sizes(g, n, axes) || changed;
		if (changed && !ops_infer_node(g, n)) {
			return false;
		}
	}
	return true;
}
