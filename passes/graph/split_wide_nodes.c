/* SPDX-License-Identifier: Apache-2.0 */
/* Splits nodes with very many inputs or outputs, so that kernels have a
 * readable number of parameters, and compile time does not grow quadratically:
 *
 *	y = Sum (a, b, …)                s = Sum (a, b, …)     the first ones
 *	                           ->    y = Sum (s, …)        the others
 *	y = Concat (a, b, …)             c = Concat (a, …); d = Concat (…); …
 *	                           ->    y = Concat (c, d, …)
 *	a, b, … = Split (x)              s = Slice (x); t = Slice (x); …
 *	                           ->    a, … = Split (s); … = Split (t); …
 *
 * Sums keep their order. If the floats have fewer than 32 bits, the partial
 * sums are float32, as within a kernel, and only the last sum is rounded. Parts
 * of a Concat are written directly into the result if possible, and a Slice is
 * fused into its readers, so that nothing is copied. */
#include "rewrite.h"

#include "fuse.h"

/* Inserts a node like n with these inputs before n, and returns its result;
 * NULL after a diagnostic. */
static struct tensor *
part_of_node(struct graph *g, struct node *n, struct tensor **in, int count)
{
	struct node *part = insert_node(g, n, n->op_type, n->outputs[0]->name,
					in, count);

	if (node_is(n, "Concat")) {
		node_set_attr_int(g, part, "axis", node_attr_int(n, "axis", 0));
	}
	return ops_infer_node(g, part) ? part->outputs[0] : NULL;
}

/* Removes all inputs of n and returns them. If they were kept, the many uses by
 * n would slow down the insertion of parts that read the same tensors. */
static struct tensor **
take_inputs(struct graph *g, struct node *n, int *count)
{
	struct tensor **list = arena_copy(&g->module->arena, n->inputs,
					  sizeof *list * (size_t)n->n_inputs);

	*count = n->n_inputs;
	node_resize_inputs(n, 0);
	return list;
}

/* Gives n, which has no inputs, the inputs in `list`. */
static void
set_inputs(struct node *n, struct tensor *const *list, int count)
{
	node_resize_inputs(n, count);
	for (int i = 0; i < count; i++) {
		node_set_input(n, i, list[i]);
	}
}

/* Divides a Sum, Max, … of many inputs into several nodes: the partial result
 * of each node is the first input of the next. */
static bool
divide_fold(struct graph *g, struct node *n)
{
	struct tensor *list[FUSE_INPUTS_MAX];
	int all, at = 0, count = 0;
	struct tensor **in = take_inputs(g, n, &all);

	while (all - at > FUSE_INPUTS_MAX - count) {
		int more = FUSE_INPUTS_MAX - count;

		memcpy(list + count, in + at, sizeof *in * (size_t)more);
		list[0] = part_of_node(g, n, list, count + more);
		if (!list[0]) {
			return false;
		}
		at += more;
		count = 1;
	}
	memcpy(list + count, in + at, sizeof *in * (size_t)(all - at));
	set_inputs(n, list, count + all - at);
	return true;
}

/* Inserts a Cast of x before n; NULL after a diagnostic. */
static struct tensor *
cast_before(struct graph *g, struct node *n, struct tensor *x, struct dtype to)
{
	struct node *cast = insert_node(g, n, "Cast", x->name, &x, 1);

	node_set_attr_int(g, cast, "to", dtype_onnx_number(to));
	return ops_infer_node(g, cast) ? cast->outputs[0] : NULL;
}

/* Divides a Sum of narrow floats; the partial sums are not rounded to the
 * narrow type. */
static bool
divide_narrow_sum(struct graph *g, struct node *n)
{
	struct tensor *y = n->outputs[0], *narrow;
	struct tensor **wide = arena_array(&g->module->arena, struct tensor *,
					   n->n_inputs);
	struct node *sum;

	for (int i = 0; i < n->n_inputs; i++) {
		wide[i] = cast_before(g, n, n->inputs[i], dtype_of(DT_F32));
		if (!wide[i]) {
			return false;
		}
	}
	sum = insert_node(g, n, "Sum", y->name, wide, n->n_inputs);
	narrow = ops_infer_node(g, sum)
			 ? cast_before(g, n, sum->outputs[0], y->type)
			 : NULL;
	if (!narrow || !divide_fold(g, sum)) {
		return false;
	}
	graph_absorb(narrow->producer, n);
	graph_replace_uses(g, y, narrow);
	graph_remove_node(g, n, "divide", "several shorter ones");
	return true;
}

static bool
divide_concat(struct graph *g, struct node *n)
{
	int all;
	struct tensor **list = take_inputs(g, n, &all);

	while (all > FUSE_INPUTS_MAX) {
		int count = 0;

		for (int i = 0; i < all; i += FUSE_INPUTS_MAX) {
			int some = all - i < FUSE_INPUTS_MAX ? all - i
							     : FUSE_INPUTS_MAX;

			list[count] = some == 1 ? list[i]
						: part_of_node(g, n, list + i,
							       some);
			if (!list[count++]) {
				return false;
			}
		}
		all = count;
	}
	set_inputs(n, list, all);
	return true;
}

/* -- Split */

/* Inserts, before n, a Slice with the elements [from, to) of x along the
 * axis. */
static struct tensor *
slice_of(struct graph *g, struct node *n, int64_t axis, int64_t from,
	 int64_t to)
{
	struct tensor *in[4] = { n->inputs[0],
				 graph_constant_ints(g, "starts", 1, &from),
				 graph_constant_ints(g, "ends", 1, &to),
				 graph_constant_ints(g, "axes", 1, &axis) };
	struct node *slice = insert_node(g, n, "Slice", n->inputs[0]->name, in,
					 4);

	return ops_infer_node(g, slice) ? slice->outputs[0] : NULL;
}

static bool
part_sizes(const struct node *n, int64_t axis, int64_t *sizes)
{
	for (int k = 0; k < n->n_outputs; k++) {
		if (!n->outputs[k] ||
		    !expr_is_int(n->outputs[k]->shape[axis], &sizes[k])) {
			return false;
		}
	}
	return true;
}

/* Inserts a Split of x whose results are the outputs [from, to) of n. */
static struct node *
split_part(struct graph *g, struct node *n, int64_t axis, const int64_t *sizes,
	   int from, int to, struct tensor *x)
{
	struct tensor *in[2] = { x, graph_constant_ints(g, "sizes", to - from,
							sizes + from) };
	struct node *part;
	int at = 0;

	while (g->nodes.data[at] != n) {
		at++;
	}
	for (int k = from; k < to; k++) {
		n->outputs[k]->producer = NULL;
	}
	part = graph_node_at(g, at, "", "Split", n->name, in, 2,
			     n->outputs + from, to - from);
	part->op = n->op;
	node_set_attr_int(g, part, "axis", axis);
	return ops_infer_node(g, part) ? part : NULL;
}

static bool
divide_split(struct graph *g, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t *sizes = arena_array(&g->module->arena, int64_t, n->n_outputs);
	int64_t axis = node_attr_int(n, "axis", 0), at = 0;

	axis += axis < 0 ? x->ndim : 0;
	if (!part_sizes(n, axis, sizes)) {
		return true;
	}
	for (int k = 0; k < n->n_outputs; k += FUSE_INPUTS_MAX) {
		int to = k + FUSE_INPUTS_MAX;
		int64_t end = at;
		struct tensor *slice;
		struct node *part;

		to = to < n->n_outputs ? to : n->n_outputs;
		for (int i = k; i < to; i++) {
			end += sizes[i];
		}
		slice = slice_of(g, n, axis, at, end);
		part = slice ? split_part(g, n, axis, sizes, k, to, slice)
			     : NULL;
		if (!part) {
			return false;
		}
		if (k == 0) {
			graph_absorb(part, n);
		}
		at = end;
	}
	graph_remove_node(g, n, "divide", "several shorter ones");
	return true;
}

bool
graph_divide(struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int before = g->nodes.n;
		bool ok = true;

		if (n->match != NULL) {
			continue;
		}
		if (n->n_inputs > FUSE_INPUTS_MAX && node_is(n, "Sum") &&
		    dtype_is_float(n->outputs[0]->type) &&
		    dtype_bits(n->outputs[0]->type) < 32) {
			ok = divide_narrow_sum(g, n);
		} else if (n->n_inputs > FUSE_INPUTS_MAX &&
			   (node_is(n, "Sum") || node_is(n, "Max") ||
			    node_is(n, "Min"))) {
			ok = divide_fold(g, n);
		} else if (n->n_inputs > FUSE_INPUTS_MAX &&
			   node_is(n, "Concat")) {
			ok = divide_concat(g, n);
		} else if (n->n_outputs > FUSE_INPUTS_MAX &&
			   node_is(n, "Split")) {
			ok = divide_split(g, n);
		}
		if (!ok) {
			return false;
		}
		i += g->nodes.n - before;
	}
	return true;
}
