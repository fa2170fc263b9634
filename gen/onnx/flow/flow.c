/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose iterations are not copied stay in the graph
 * (ir/graph/graph_body.c); also the helpers that loops share with branches. A
 * Loop or Scan is imported in two steps. flow_loop() makes the nodes of the
 * body; their results become inputs of the Loop node. When inference reaches
 * the node again, these results have types and shapes, and flow_end.c replaces
 * the node by tirc.EndLoop. */
#include "flow.h"
#include "ops.h"

struct node *
flow_node(struct importer *imp, const struct deferred *d, const char *op_type,
	  int body, struct tensor *const *in, int n_in,
	  struct tensor *const *out, int n_out)
{
	struct tensor **inputs = arena_copy(&imp->tmp, in,
					    sizeof *in * (size_t)n_in);
	struct tensor **outputs = arena_copy(&imp->tmp, out,
					     sizeof *out * (size_t)n_out);
	struct node *n = import_add_node(imp, "tirc", op_type, d->node->name,
					 inputs, n_in, outputs, n_out,
					 d->origin, GRAPH_CANONICAL_OPSET);

	n->op = op_find("tirc", op_type);
	node_set_attr_int(imp->g, n, "body", body);
	return n;
}

struct tensor *
flow_tensor(struct importer *imp, const struct deferred *d, const char *op_type,
	    int body, struct tensor *in, const char *name)
{
	struct tensor *list[] = { in, NULL };
	struct tensor *out = graph_tensor(imp->g, name);

	flow_node(imp, d, op_type, body, list, in != NULL, &out, 1);
	return out;
}

struct tensor *
flow_copy(struct importer *imp, const struct deferred *d, int body,
	  struct tensor *t)
{
	return flow_tensor(imp, d, "Copy", body, t, t->name);
}

struct tensor *
flow_run_size(struct importer *imp, const struct deferred *d, struct tensor *t,
	      int number)
{
	struct tensor *size = graph_tensor(imp->g, t->name);
	struct node *n = import_add_node(imp, "tirc", "RunSize", d->node->name,
					 &t, 1, &size, 1, d->origin,
					 GRAPH_CANONICAL_OPSET);

	n->op = op_find("tirc", "RunSize");
	node_set_attr_int(imp->g, n, "first", number);
	return size;
}

void
flow_set_inputs(struct importer *imp, struct deferred *d,
		const tensor_list *list)
{
	int n_old = d->node->n_inputs;
	tensor_list all = { 0 };

	for (int i = 0; i < list->n; i++) {
		vec_push(&imp->tmp, &all, list->data[i]);
	}
	for (int i = d->n_inputs; i < n_old; i++) {
		vec_push(&imp->tmp, &all, d->node->inputs[i]);
	}
	d->n_inputs = list->n;
	node_resize_inputs(d->node, all.n);
	for (int i = 0; i < all.n; i++) {
		node_set_input(d->node, i, all.data[i]);
	}
}

struct tensor *
flow_transposed(struct importer *imp, const struct deferred *d,
		struct tensor *x, int ndim, int from, int to)
{
	int64_t *perm = arena_array(&imp->m->arena, int64_t, ndim + 1);
	struct tensor *out = graph_tensor(imp->g, x->name);
	struct node *n = deferred_make(imp, d, "Transpose", &x, 1, out);
	int at = 0;

	/* perm moves dimension `from` to `to`. */
	for (int i = 0; i < ndim; i++) {
		at += at == from;
		perm[i] = i == to ? from : at++;
	}
	node_set_attr_ints(imp->g, n, "perm", perm, ndim);
	return out;
}

int64_t
flow_axis(const int64_t *axes, int k, int ndim)
{
	int64_t axis = axes ? axes[k] : 0;

	return axis < 0 ? axis + ndim : axis;
}

/* The slice of input k that the current iteration reads. */
static struct tensor *
scan_slice(struct importer *imp, struct deferred *d, int k)
{
	const struct loop_form *form = &d->flow->form;
	struct tensor *x = form->sliced[k], *out;
	int axis = (int)flow_axis(form->in_axes, k, x->ndim);
	struct node *n;

	if (axis != 0) {
		x = flow_transposed(imp, d, x, x->ndim, axis, 0);
	}
	/* A slice of a constant has no address, so constants are copied too. */
	x = flow_copy(imp, d, place_of_body(imp, d->body), x);
	out = graph_tensor(imp->g, x->name);
	n = flow_node(imp, d, "ScanInput", d->flow->id, &x, 1, &out, 1);
	node_set_attr_int(imp->g, n, "back", form->in_back && form->in_back[k]);
	return out;
}

struct tensor *
flow_carry(struct importer *imp, const struct deferred *d, struct tensor *first,
	   const char *name)
{
	return flow_tensor(imp, d, "Carry", d->flow->id,
			   flow_copy(imp, d, place_of_body(imp, d->body),
				     first),
			   name);
}

/* If the condition does nothing but count iterations, sets the loop's
 * form.count to their number, and replaces the condition by the constant true.
 * list: the first condition and the first states; out: the next condition and
 * states. */
static void
count_by_condition(struct importer *imp, struct deferred *d, tensor_list *list,
		   struct tensor *iteration, struct tensor **out)
{
	struct tensor *count = flow_count(imp, d, iteration, out[0], out + 1);

	if (count) {
		d->flow->form.count = count;
		out[0] = list->data[0] = graph_constant(imp->g, "condition",
							dtype_of(DT_BOOL), 0,
							NULL, "\1");
	}
}

bool
flow_loop(struct importer *imp, struct deferred *d,
	  const struct loop_form *form)
{
	struct flow *flow = arena_new(&imp->tmp, struct flow);
	int n_in = (form->is_loop ? 2 : 0) + form->n_states + form->n_sliced;
	struct tensor **in = arena_array(&imp->tmp, struct tensor *, n_in + 1);
	struct tensor **out = arena_array(&imp->tmp, struct tensor *,
					  form->body->n_output + 1);
	tensor_list list = { 0 };
	int n = 0;

	d->flow = flow;
	flow->form = *form;
	flow->id = place_begin(imp, d, -1);
	flow->carried = arena_array(&imp->tmp, struct tensor *,
				    form->n_states + 2);
	if (form->is_loop) {
		in[n++] = flow_tensor(imp, d, "Iteration", flow->id, NULL,
				      form->body->input[0]->name);
		flow->condition = form->condition;
		if (!flow->condition) {
			flow->condition = graph_constant(imp->g, "condition",
							 dtype_of(DT_BOOL), 0,
							 NULL, "\1");
		}
		vec_push(&imp->tmp, &list, flow->condition);
		flow->condition = flow_carry(imp, d, flow->condition,
					     form->body->input[1]->name);
		in[n++] = flow->condition;
	}
	for (int k = 0; k < form->n_states; k++) {
		flow->carried[k] = flow_carry(imp, d, form->states[k],
					      form->body->input[n]->name);
		vec_push(&imp->tmp, &list, form->states[k]);
		in[n++] = flow->carried[k];
	}
	for (int k = 0; k < form->n_sliced; k++) {
		in[n++] = scan_slice(imp, d, k);
	}
	if (!deferred_inline(imp, d, form->body, flow->id, in, n, out)) {
		return false;
	}
	if (form->is_loop && !form->count && form->trips < 0) {
		count_by_condition(imp, d, &list, in[0], out);
	}
	for (size_t k = 0; k < form->body->n_output; k++) {
		vec_push(&imp->tmp, &list, out[k]);
	}
	if (flow->form.count) {
		vec_push(&imp->tmp, &list, flow->form.count);
	}
	flow_set_inputs(imp, d, &list);
	flow->appends = arena_array(&imp->tmp, int, form->n_states + 1);
	for (int k = 0; k < form->n_states; k++) {
		flow->appends[k] = flow_find_append(imp, d, form->states[k],
						    flow->carried[k],
						    out[form->is_loop + k]);
	}
	return true;
}
