/* SPDX-License-Identifier: Apache-2.0 */
/* Loop and Scan with a number of iterations that is known at compile time, as
 * one copy of the body for each iteration:
 *
 *	before	y, s = Loop<body={ … }>(2, true, x)
 *	after	x1 = …x…; x2 = …x1…; y = Identity(x2); s = Concat(…)
 *
 * The node stays while its iterations are made: its inputs are then the
 * condition, the states, and the results of each iteration, so that the
 * importer reaches it again when the nodes of the iteration are inferred. */
#include "importer.h"
#include "ops.h"

struct unrolling {
	const Onnx__GraphProto *body;
	int64_t trips; /* -1: until the condition is false */
	int64_t done;  /* iterations made */
	bool has_condition;
	int n_states, n_sliced, n_stacked;
	/* Of a Scan: the tensors that iterations read slices of. */
	struct tensor **sliced;
	const int64_t *in_axes, *in_back, *out_axes, *out_back;
	tensor_list captures;
	tensor_list slices; /* of all iterations, n_stacked each */
};

static struct tensor *
scalar(struct importer *imp, const char *name, enum dtype_kind kind, int64_t v)
{
	void *data = arena_alloc(&imp->m->arena, sizeof v);

	number_store(dtype_of(kind), data, 0, (union number){ .i = v });
	return graph_constant(imp->g, name, dtype_of(kind), 0, NULL, data);
}

static struct tensor *
change_rank(struct importer *imp, const struct deferred *d, const char *op,
	    struct tensor *x, int64_t axis)
{
	struct tensor *in[] = { x,
				graph_constant_ints(imp->g, "axis", 1, &axis) };

	return deferred_node(imp, d, op, in, 2, x->name);
}

/* The inputs of the node: the condition or NULL, the states, the slices so
 * far, the captured tensors. */
static void
set_inputs(struct deferred *d, struct tensor *condition,
	   struct tensor *const *states)
{
	struct unrolling *u = d->unrolling;
	int n = 1 + u->n_states + u->slices.n + u->captures.n, at = 0;

	node_resize_inputs(d->node, n);
	node_set_input(d->node, at++, condition);
	for (int i = 0; i < u->n_states; ++i) {
		node_set_input(d->node, at++, states[i]);
	}
	for (int i = 0; i < u->slices.n; ++i) {
		node_set_input(d->node, at++, u->slices.data[i]);
	}
	for (int i = 0; i < u->captures.n; ++i) {
		node_set_input(d->node, at++, u->captures.data[i]);
	}
}

static void
note_captures(struct importer *imp, const struct deferred *d,
	      struct unrolling *u)
{
	for (int i = d->n_inputs; i < d->node->n_inputs; ++i) {
		vec_push(&imp->tmp, &u->captures, d->node->inputs[i]);
	}
}

/* -- the end -- */

/* The stacked results when there were no iterations: a tensor without
 * elements, of the declared type and shape. */
static bool
make_empty(struct importer *imp, struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	const Onnx__ValueInfoProto *p =
		u->body->output[u->body->n_output - (size_t)u->n_stacked +
				(size_t)k];
	const Onnx__TypeProto__Tensor *type = p->type ? p->type->tensor_type
						      : NULL;
	int64_t shape[ONNX_MAX_RANK + 1] = { 0 };
	struct dtype t;

	if (!type || !type->shape || type->shape->n_dim > ONNX_MAX_RANK ||
	    !dtype_from_onnx(type->elem_type, &t)) {
		return deferred_refuse(imp, d,
				       "it has no iteration, and its body does "
				       "not declare the shape of %s",
				       import_quote(&imp->tmp, p->name));
	}
	for (size_t i = 0; i < type->shape->n_dim; ++i) {
		shape[i + 1] = type->shape->dim[i]->dim_value;
	}
	deferred_output(imp, d, u->n_states + k,
			graph_constant(imp->g, p->name, t,
				       (int)type->shape->n_dim + 1, shape,
				       arena_alloc(&imp->m->arena, 1)));
	return true;
}

static bool
stack(struct importer *imp, struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	int64_t axis = u->out_axes ? u->out_axes[k] : 0;
	bool back = u->out_back && u->out_back[k];
	int count = (int)u->done, at = u->n_states + k;
	struct tensor **parts, *out;
	struct node *n;

	if (at >= d->node->n_outputs || !d->node->outputs[at]) {
		return true;
	}
	if (count == 0) {
		return make_empty(imp, d, k);
	}
	parts = arena_array(&imp->tmp, struct tensor *, count + 1);
	for (int i = 0; i < count; ++i) {
		struct tensor *t = u->slices.data[i * u->n_stacked + k];

		parts[back ? count - 1 - i : i] = change_rank(imp, d,
							      "Unsqueeze", t,
							      axis);
	}
	out = d->node->outputs[at];
	out->producer = NULL;
	d->node->outputs[at] = NULL;
	n = deferred_make(imp, d, "Concat", parts, count, out);
	node_set_attr_int(imp->g, n, "axis", axis);
	return true;
}

static bool
finish(struct importer *imp, struct deferred *d)
{
	const struct unrolling *u = d->unrolling;

	for (int k = 0; k < u->n_states; ++k) {
		deferred_output(imp, d, k, d->node->inputs[1 + k]);
	}
	for (int k = 0; k < u->n_stacked; ++k) {
		if (!stack(imp, d, k)) {
			return false;
		}
	}
	return deferred_finish(imp, d, NULL);
}

/* -- one iteration -- */

/* The slice of a Scan's input that this iteration reads. */
static struct tensor *
slice(struct importer *imp, const struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	bool back = u->in_back && u->in_back[k];
	int64_t at = back ? u->trips - 1 - u->done : u->done;
	struct tensor *in[] = { u->sliced[k], scalar(imp, "at", DT_I64, at) };
	struct tensor *out = graph_tensor(imp->g, u->sliced[k]->name);
	struct node *n = deferred_make(imp, d, "Gather", in, 2, out);

	node_set_attr_int(imp->g, n, "axis", u->in_axes ? u->in_axes[k] : 0);
	return out;
}

static bool
iterate(struct importer *imp, struct deferred *d)
{
	struct unrolling *u = d->unrolling;
	int own = u->has_condition ? 2 : 0, n = 0;
	struct tensor **in, **out;

	in = arena_array(&imp->tmp, struct tensor *,
			 own + u->n_states + u->n_sliced + 1);
	out = arena_array(&imp->tmp, struct tensor *, u->body->n_output + 1);
	if (own) {
		in[n++] = scalar(imp, "iteration", DT_I64, u->done);
		in[n++] = scalar(imp, "condition", DT_BOOL, 1);
	}
	for (int i = 0; i < u->n_states; ++i) {
		in[n++] = d->node->inputs[1 + i];
	}
	for (int i = 0; i < u->n_sliced; ++i) {
		in[n++] = slice(imp, d, i);
	}
	if (!deferred_inline(imp, d, u->body, in, n, out)) {
		return false;
	}
	own = u->has_condition;
	for (int i = 0; i < u->n_stacked; ++i) {
		vec_push(&imp->tmp, &u->slices, out[own + u->n_states + i]);
	}
	u->done++;
	set_inputs(d, own ? out[0] : NULL, out + own);
	return graph_sort(imp->g);
}

static bool
unroll(struct importer *imp, struct deferred *d)
{
	const struct unrolling *u = d->unrolling;
	int64_t go = 1;

	if (u->done == u->trips) {
		return finish(imp, d);
	}
	if (d->node->inputs[0] && !deferred_known(imp, d, 0, &go)) {
		return deferred_refuse(imp, d,
				       "its condition depends on data, which "
				       "is not supported");
	}
	return go ? iterate(imp, d) : finish(imp, d);
}

/* -- Loop -- */

bool
expand_loop(struct importer *imp, struct deferred *d)
{
	const Onnx__GraphProto *body = deferred_graph(d, "body");
	struct unrolling *u = d->unrolling;
	struct tensor **states;
	int n_states = d->n_inputs > 2 ? d->n_inputs - 2 : 0;

	if (u) {
		return unroll(imp, d);
	}
	if (!body || body->n_input != (size_t)n_states + 2 ||
	    body->n_output < (size_t)n_states + 1) {
		return deferred_refuse(imp, d,
				       "its body is missing, or does not have "
				       "its inputs and outputs; export the "
				       "model again");
	}
	u = d->unrolling = arena_new(&imp->tmp, struct unrolling);
	u->body = body;
	u->has_condition = true;
	u->n_states = n_states;
	u->n_stacked = (int)body->n_output - 1 - n_states;
	u->trips = -1;
	note_captures(imp, d, u);
	if (d->n_inputs > 0 && d->node->inputs[0] &&
	    !deferred_known(imp, d, 0, &u->trips)) {
		return deferred_refuse(imp, d,
				       "its number of iterations depends on "
				       "data, which is not supported");
	}
	states = arena_copy(&imp->tmp, d->node->inputs + 2,
			    sizeof *states * (size_t)n_states);
	set_inputs(d, d->n_inputs > 1 ? d->node->inputs[1] : NULL, states);
	return true;
}

/* -- Scan -- */

/* A list of numbers, one for each of n; false after reporting another length. */
static bool
numbers(struct importer *imp, const struct deferred *d, const char *name, int n,
	const int64_t **list)
{
	int count = node_attr_ints(d->node, name, list);

	if (count == 0) {
		*list = NULL;
	}
	return count == 0 || count == n ||
	       deferred_refuse(imp, d,
			       "its attribute %s has %d values, not %d; "
			       "export the model again",
			       name, count, n);
}

/* The number of iterations: the size that all sliced inputs have. */
static bool
count_slices(struct importer *imp, const struct deferred *d)
{
	struct unrolling *u = d->unrolling;

	for (int i = 0; i < u->n_sliced; ++i) {
		const struct tensor *x = u->sliced[i];
		int64_t axis = u->in_axes ? u->in_axes[i] : 0, size;

		axis = axis < 0 ? axis + x->ndim : axis;
		if (axis < 0 || axis >= x->ndim ||
		    !expr_is_int(x->shape[axis], &size)) {
			return deferred_refuse(imp, d,
					       "the number of slices of '%s' "
					       "is not known at compile time",
					       x->name);
		}
		if (u->trips >= 0 && u->trips != size) {
			return deferred_refuse(imp, d,
					       "its inputs have %lld and %lld "
					       "slices; correct the model",
					       (long long)u->trips,
					       (long long)size);
		}
		u->trips = size;
	}
	return true;
}

/* Element b of the first dimension of t. */
static struct tensor *
in_batch(struct importer *imp, const struct deferred *d, struct tensor *t,
	 int64_t b)
{
	struct tensor *in[] = { t, scalar(imp, "batch", DT_I64, b) };

	return deferred_node(imp, d, "Gather", in, 2, t->name);
}

/* One element of the batch of an old Scan, as a new Scan. */
static void
scan_element(struct importer *imp, const struct deferred *d, int64_t b,
	     struct tensor **out)
{
	int n_in = d->n_inputs - 1, n_out = d->node->n_outputs;
	const struct attr *back = node_attr(d->node, "directions");
	const struct attr *count = node_attr(d->node, "num_scan_inputs");
	tensor_list in = { 0 };
	struct attr copy;
	struct node *n;

	for (int i = 0; i < n_in; ++i) {
		vec_push(&imp->tmp, &in,
			 in_batch(imp, d, d->node->inputs[1 + i], b));
	}
	for (int i = d->n_inputs; i < d->node->n_inputs; ++i) {
		vec_push(&imp->tmp, &in, d->node->inputs[i]);
	}
	for (int k = 0; k < n_out; ++k) {
		out[k] = d->node->outputs[k]
				 ? graph_tensor(imp->g,
						d->node->outputs[k]->name)
				 : NULL;
	}
	n = import_add_node(imp, "", "Scan", d->node->name, in.data, in.n, out,
			    n_out, d->origin, GRAPH_CANONICAL_OPSET);
	if (count) {
		node_set_attr(imp->g, n, count);
	}
	if (back) {
		copy = *back;
		copy.name = "scan_input_directions";
		node_set_attr(imp->g, n, &copy);
	}
	deferred_add(imp, n, d->proto, d->body, &d->attrs, n_in, d->origin);
}

/* Version 8 has the lengths of sequences first, and a batch: its elements are
 * scanned one after the other. */
static bool
expand_batch(struct importer *imp, struct deferred *d)
{
	int n_out = d->node->n_outputs;
	const struct tensor *x = d->n_inputs > 1 ? d->node->inputs[1] : NULL;
	struct tensor **out, **parts;
	int64_t batch;

	if (!x || node_input(d->node, 0) || x->ndim < 1 ||
	    !expr_is_int(x->shape[0], &batch) || batch < 1) {
		return deferred_refuse(imp, d,
				       "lengths of sequences, or a batch of a "
				       "size that is not known, are not "
				       "supported; export it with opset 9 or "
				       "newer");
	}
	out = arena_array(&imp->tmp, struct tensor *, batch * n_out + 1);
	for (int64_t b = 0; b < batch; ++b) {
		scan_element(imp, d, b, out + b * n_out);
	}
	for (int k = 0; k < n_out; ++k) {
		struct tensor *y = d->node->outputs[k];

		if (!y) {
			continue;
		}
		parts = arena_array(&imp->tmp, struct tensor *, batch + 1);
		for (int64_t b = 0; b < batch; ++b) {
			parts[b] = change_rank(imp, d, "Unsqueeze",
					       out[b * n_out + k], 0);
		}
		y->producer = NULL;
		d->node->outputs[k] = NULL;
		node_set_attr_int(imp->g,
				  deferred_make(imp, d, "Concat", parts,
						(int)batch, y),
				  "axis", 0);
	}
	return deferred_finish(imp, d, NULL);
}

static bool
start_scan(struct importer *imp, struct deferred *d)
{
	const Onnx__GraphProto *body = deferred_graph(d, "body");
	int64_t n_sliced = node_attr_int(d->node, "num_scan_inputs", -1);
	struct unrolling *u;
	struct tensor **states;

	if (!body || n_sliced < 1 || n_sliced > d->n_inputs ||
	    body->n_input != (size_t)d->n_inputs ||
	    (int64_t)body->n_output < d->n_inputs - n_sliced) {
		return deferred_refuse(imp, d,
				       "its body is missing, or does not have "
				       "its inputs; export the model again");
	}
	u = d->unrolling = arena_new(&imp->tmp, struct unrolling);
	u->body = body;
	u->trips = -1;
	u->n_sliced = (int)n_sliced;
	u->n_states = d->n_inputs - u->n_sliced;
	u->n_stacked = (int)body->n_output - u->n_states;
	u->sliced = arena_copy(&imp->tmp, d->node->inputs + u->n_states,
			       sizeof *u->sliced * (size_t)u->n_sliced);
	note_captures(imp, d, u);
	if (!numbers(imp, d, "scan_input_axes", u->n_sliced, &u->in_axes) ||
	    !numbers(imp, d, "scan_input_directions", u->n_sliced,
		     &u->in_back) ||
	    !numbers(imp, d, "scan_output_axes", u->n_stacked, &u->out_axes) ||
	    !numbers(imp, d, "scan_output_directions", u->n_stacked,
		     &u->out_back) ||
	    !count_slices(imp, d)) {
		return false;
	}
	states = arena_copy(&imp->tmp, d->node->inputs,
			    sizeof *states * (size_t)u->n_states);
	set_inputs(d, NULL, states);
	return true;
}

bool
expand_scan(struct importer *imp, struct deferred *d)
{
	if (d->unrolling) {
		return unroll(imp, d);
	}
	return d->version < 9 ? expand_batch(imp, d) : start_scan(imp, d);
}
