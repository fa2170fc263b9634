/* SPDX-License-Identifier: Apache-2.0 */
/* Loop states that an iteration changes only by appending to them:
 *
 *	state = Concat (state, part)         in each iteration
 *
 * The state is removed from the loop: the loop stacks the parts of all
 * iterations, and one Concat after the loop appends the stacked parts to the
 * first state. */
#include "flow.h"
#include "ops.h"

/* Is n an Identity, or a Cast to the type that its input has already? */
static bool
passes_on(const struct node *n, struct dtype type)
{
	return !*n->domain &&
	       (strcmp(n->op_type, "Identity") == 0 ||
		(strcmp(n->op_type, "Cast") == 0 &&
		 node_attr_int(n, "to", 0) == dtype_onnx_number(type)));
}

/* The Concat that appends to the state, or NULL if the body uses the state or
 * its next value in any other way. */
static struct node *
find_concat(struct dtype type, const struct tensor *carried,
	    const struct tensor *next)
{
	struct node *reader = sole_user(carried);
	const struct node *made = next->producer;

	while (reader && passes_on(reader, type)) {
		carried = reader->outputs[0];
		reader = sole_user(carried);
	}
	/* Walks back from the value for the next iteration, over nodes that
	 * pass it on unchanged, to the node that computes it. A tensor that two
	 * nodes read ends the walk. */
	while (sole_user(next) && made && passes_on(made, type)) {
		next = made->inputs[0];
		made = next->producer;
	}
	return sole_user(next) && made && made == reader && !*made->domain &&
			       strcmp(made->op_type, "Concat") == 0 &&
			       made->n_inputs > 1 && made->inputs[0] == carried
		       ? reader
		       : NULL;
}

static bool
is_empty_along(const struct tensor *t, int axis)
{
	return expr_is_value(t->shape[axis], 0);
}

int
flow_find_append(struct importer *imp, const struct deferred *d,
		 struct tensor *first, struct tensor *carried,
		 struct tensor *next)
{
	struct node *concat = find_concat(first->type, carried, next);
	int64_t axis, zero = 0;

	if (!concat || first->ndim < 1 || !node_attr(concat, "axis")) {
		return -1;
	}
	axis = node_attr_int(concat, "axis", 0);
	axis += axis < 0 ? first->ndim : 0;
	if (axis < 0 || axis >= first->ndim) {
		return -1;
	}
	if (!is_empty_along(first, (int)axis)) {
		struct tensor *in[] = {
			first, graph_constant_ints(imp->g, "from", 1, &zero),
			graph_constant_ints(imp->g, "none", 1, &zero),
			graph_constant_ints(imp->g, "along", 1, &axis)
		};

		first = deferred_node(imp, d, "Slice", in, 4, "nothing");
	}
	/* Now the Concat copies only the part: its first input has no elements.
	 * The node stays, so that inference compares the shapes of the part and
	 * of the state. */
	node_set_input(concat, 0, first);
	return (int)axis;
}

/* Reshapes t: dimensions `axis` and `axis` + 1 become one. t is a stack of
 * tensors like `part`. NULL after a diagnostic. */
static struct tensor *
merged(struct importer *imp, const struct deferred *d, struct tensor *t,
       const struct tensor *part, int axis)
{
	int64_t shape[ONNX_MAX_RANK];
	struct tensor *in[2] = { t, NULL };

	if (expr_is_value(part->shape[axis], 1)) {
		return deferred_change_rank(imp, d, "Squeeze", t, axis + 1);
	}
	for (int k = 0; k < part->ndim; k++) {
		shape[k] = k == axis ? -1 : 0;
		if (k > axis && !expr_is_int(part->shape[k], &shape[k])) {
			deferred_refuse(imp, d,
					"it appends parts to '%s' whose size "
					"is not known when the code is "
					"generated",
					part->name);
			return NULL;
		}
	}
	in[1] = graph_constant_ints(imp->g, "rows", part->ndim, shape);
	return deferred_node(imp, d, "Reshape", in, 2, t->name);
}

struct tensor *
flow_appended(struct importer *imp, const struct deferred *d,
	      struct tensor *first, struct tensor *stacked,
	      const struct tensor *part, int axis)
{
	struct tensor *t = stacked, *both[2];

	if (axis != 0) {
		t = flow_transposed(imp, d, t, part->ndim + 1, 0, axis);
	}
	t = merged(imp, d, t, part, axis);
	if (!t || is_empty_along(first, axis)) {
		return t;
	}
	both[0] = first;
	both[1] = t;
	t = deferred_node(imp, d, "Concat", both, 2, first->name);
	node_set_attr_int(imp->g, t->producer, "axis", axis);
	return t;
}
