/* SPDX-License-Identifier: Apache-2.0 */
/* A Loop or Scan with few iterations, whose number is known when the code is
 * generated, becomes one copy of the body for each iteration:
 *
 *	before	y, s = Loop<body={ … }>(2, true, x)
 *	after	x1 = …x…; x2 = …x1…; y = Identity(x2); s = Concat(…)
 *
 * The node stays in the graph until all iterations are made. Its inputs become
 * the condition and the states after the last iteration made, and the slices of
 * all iterations, so that inference visits it again after the nodes of this
 * iteration, and the next iteration can be made. */
#include "analyse.h"
#include "flow.h"
#include "ops.h"
#include "size_words.h"

struct unrolling {
	struct loop_form form;
	int64_t done; /* iterations made */
	tensor_list captures;
	tensor_list slices; /* n_stacked for each iteration */
};

static struct tensor *
scalar(struct importer *imp, const char *name, enum dtype_kind kind, int64_t v)
{
	void *data = arena_alloc(&imp->m->arena, sizeof v);

	number_store(dtype_of(kind), data, 0, (union number){ .i = v });
	return graph_constant(imp->g, name, dtype_of(kind), 0, NULL, data);
}

/* Sets the inputs of d's node: the condition (may be NULL), the states, the
 * slices that are computed so far, and the tensors from outside that the body
 * uses. */
static void
set_inputs(struct deferred *d, struct tensor *condition,
	   struct tensor *const *states)
{
	struct unrolling *u = d->unrolling;
	int n = 1 + u->form.n_states + u->slices.n + u->captures.n, at = 0;

	node_resize_inputs(d->node, n);
	node_set_input(d->node, at++, condition);
	for (int i = 0; i < u->form.n_states; i++) {
		node_set_input(d->node, at++, states[i]);
	}
	for (int i = 0; i < u->slices.n; i++) {
		node_set_input(d->node, at++, u->slices.data[i]);
	}
	for (int i = 0; i < u->captures.n; i++) {
		node_set_input(d->node, at++, u->captures.data[i]);
	}
}

static void
note_captures(struct importer *imp, const struct deferred *d,
	      struct unrolling *u)
{
	for (int i = d->n_inputs; i < d->node->n_inputs; i++) {
		vec_push(&imp->tmp, &u->captures, d->node->inputs[i]);
	}
}

/* -- the end -- */

/* Makes stacked result k of a loop that has no iterations: a tensor without
 * elements, of the declared type and shape. False after a diagnostic. */
static bool
make_empty(struct importer *imp, struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	const Onnx__ValueInfoProto *p =
		u->form.body->output[u->form.body->n_output -
				     (size_t)u->form.n_stacked + (size_t)k];
	const Onnx__TypeProto__Tensor *type = p->type ? p->type->tensor_type
						      : NULL;
	int64_t shape[ONNX_MAX_RANK + 1] = { 0 };
	struct dtype t = { 0 };
	bool declared = type && type->shape &&
			type->shape->n_dim < ONNX_MAX_RANK &&
			dtype_from_onnx(type->elem_type, &t);

	for (size_t i = 0; declared && i < type->shape->n_dim; i++) {
		const Onnx__TensorShapeProto__Dimension *dim =
			type->shape->dim[i];

		declared =
			dim->value_case ==
				ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
			dim->dim_value >= 0;
		shape[i + 1] = declared ? dim->dim_value : 0;
	}
	if (!declared) {
		return deferred_refuse(imp, d,
				       "it has no iteration, and its body does "
				       "not declare the shape of %s",
				       import_quote(&imp->tmp, p->name));
	}
	deferred_output(imp, d, u->form.n_states + k,
			graph_constant(imp->g, p->name, t,
				       (int)type->shape->n_dim + 1, shape,
				       arena_alloc(&imp->m->arena, 1)));
	return true;
}

static bool
stack(struct importer *imp, struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	int64_t axis = u->form.out_axes ? u->form.out_axes[k] : 0;
	bool back = u->form.out_back && u->form.out_back[k];
	int count = (int)u->done, at = u->form.n_states + k;
	struct tensor **parts, *out;
	struct node *n;

	if (at >= d->node->n_outputs || !d->node->outputs[at]) {
		return true;
	}
	if (count == 0) {
		return make_empty(imp, d, k);
	}
	parts = arena_array(&imp->tmp, struct tensor *, count + 1);
	for (int i = 0; i < count; i++) {
		struct tensor *t = u->slices.data[i * u->form.n_stacked + k];

		parts[back ? count - 1 - i : i] =
			deferred_change_rank(imp, d, "Unsqueeze", t, axis);
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

	for (int k = 0; k < u->form.n_states; k++) {
		deferred_output(imp, d, k, d->node->inputs[1 + k]);
	}
	for (int k = 0; k < u->form.n_stacked; k++) {
		if (!stack(imp, d, k)) {
			return false;
		}
	}
	return deferred_finish(imp, d, NULL);
}

/* -- one iteration -- */

/* The slice of input k of a Scan that the iteration under construction
 * reads. */
static struct tensor *
slice(struct importer *imp, const struct deferred *d, int k)
{
	const struct unrolling *u = d->unrolling;
	bool back = u->form.in_back && u->form.in_back[k];
	int64_t at = back ? u->form.trips - 1 - u->done : u->done;
	struct tensor *in[] = { u->form.sliced[k],
				scalar(imp, "at", DT_I64, at) };
	struct tensor *out = graph_tensor(imp->g, u->form.sliced[k]->name);
	struct node *n = deferred_make(imp, d, "Gather", in, 2, out);

	node_set_attr_int(imp->g, n, "axis",
			  u->form.in_axes ? u->form.in_axes[k] : 0);
	return out;
}

static bool
iterate(struct importer *imp, struct deferred *d)
{
	struct unrolling *u = d->unrolling;
	int own = u->form.is_loop ? 2 : 0, n = 0;
	struct tensor **in, **out;

	in = arena_array(&imp->tmp, struct tensor *,
			 own + u->form.n_states + u->form.n_sliced + 1);
	out = arena_array(&imp->tmp, struct tensor *,
			  u->form.body->n_output + 1);
	if (own) {
		in[n++] = scalar(imp, "iteration", DT_I64, u->done);
		in[n++] = scalar(imp, "condition", DT_BOOL, 1);
	}
	for (int i = 0; i < u->form.n_states; i++) {
		in[n++] = d->node->inputs[1 + i];
	}
	for (int i = 0; i < u->form.n_sliced; i++) {
		in[n++] = slice(imp, d, i);
	}
	if (!deferred_inline(imp, d, u->form.body, place_of_body(imp, d->body),
			     in, n, out)) {
		return false;
	}
	own = u->form.is_loop;
	for (int i = 0; i < u->form.n_stacked; i++) {
		vec_push(&imp->tmp, &u->slices,
			 out[own + u->form.n_states + i]);
	}
	u->done++;
	set_inputs(d, own ? out[0] : NULL, out + own);
	return true;
}

static bool
unroll(struct importer *imp, struct deferred *d)
{
	const struct unrolling *u = d->unrolling;
	int64_t go = 1;

	if (u->done == u->form.trips) {
		return finish(imp, d);
	}
	if (d->node->inputs[0] && !deferred_known(imp, d, 0, &go)) {
		return deferred_refuse(imp, d,
				       "its condition depends on data, which "
				       "is not supported");
	}
	return go ? iterate(imp, d) : finish(imp, d);
}

/* -- copies of the body, or a loop -- */

/* The body is copied for each iteration if all copies together have at most
 * this many nodes; NUMBERED_NODES_MAX is the limit for a body that uses the
 * iteration number, because shapes may depend on this number. */
enum { COPIED_NODES_MAX = 16, NUMBERED_NODES_MAX = 64 };

static bool
uses_number(const Onnx__GraphProto *body)
{
	for (size_t i = 0; i < body->n_node; i++) {
		for (size_t k = 0; k < body->node[i]->n_input; k++) {
			if (strcmp(body->node[i]->input[k],
				   body->input[0]->name) == 0) {
				return true;
			}
		}
	}
	return false;
}

/* Is the condition for the next iteration the current condition, or a constant
 * in the body? If not, it may depend on data. */
static bool
keeps_condition(const Onnx__GraphProto *body)
{
	const char *name = body->output[0]->name, *from = body->input[1]->name;

	if (strcmp(name, from) == 0) {
		return true;
	}
	for (size_t i = 0; i < body->n_initializer; i++) {
		const char *own = body->initializer[i]->name;

		if (own && strcmp(own, name) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < body->n_node; i++) {
		const Onnx__NodeProto *p = body->node[i];

		if (p->op_type && p->n_output == 1 &&
		    strcmp(p->output[0], name) == 0) {
			return strcmp(p->op_type, "Constant") == 0 ||
			       (strcmp(p->op_type, "Identity") == 0 &&
				p->n_input == 1 &&
				strcmp(p->input[0], from) == 0);
		}
	}
	return false;
}

/* Are states of the loop sequences? Then the body must be copied: sequences do
 * not exist in a loop that stays. */
static bool
has_sequences(const struct importer *imp, const struct loop_form *form)
{
	for (int i = 0; i < form->n_states; i++) {
		if (sequence_find(imp, form->states[i])) {
			return true;
		}
	}
	return false;
}

/* Is the number of iterations independent of data, because the Loop's first
 * condition is known (or absent) and keeps its value? */
static bool
knows_condition(struct importer *imp, const struct deferred *d,
		const struct loop_form *form)
{
	int64_t first;

	return (!form->condition || deferred_known(imp, d, 1, &first)) &&
	       keeps_condition(form->body);
}

static bool
is_copied(struct importer *imp, const struct deferred *d,
	  const struct loop_form *form)
{
	int most = form->is_loop && uses_number(form->body) ? NUMBERED_NODES_MAX
							    : COPIED_NODES_MAX;

	if (has_sequences(imp, form)) {
		return true;
	}
	return form->trips >= 0 &&
	       (!form->is_loop || knows_condition(imp, d, form)) &&
	       (form->trips <= 1 ||
		(form->trips <= most &&
		 (int64_t)form->body->n_node * form->trips <= most));
}

static bool
has_names(const Onnx__GraphProto *body)
{
	bool all = true;

	for (size_t i = 0; i < body->n_input; i++) {
		all = all && body->input[i]->name;
	}
	for (size_t i = 0; i < body->n_output; i++) {
		all = all && body->output[i]->name;
	}
	return all;
}

/* The first visit of the node: begins to copy the body, or makes a loop in the
 * graph. */
static bool
begin(struct importer *imp, struct deferred *d, const struct loop_form *form)
{
	struct unrolling *u;

	if (!has_names(form->body)) {
		return deferred_refuse(imp, d,
				       "an input or output of its body has no "
				       "name; export the model again");
	}
	if (!is_copied(imp, d, form)) {
		return flow_loop(imp, d, form);
	}
	if (form->count && form->trips < 0) {
		return deferred_refuse(imp, d,
				       "its states are sequences, and its "
				       "number of iterations depends on data, "
				       "which is not supported");
	}
	u = d->unrolling = arena_new(&imp->tmp, struct unrolling);
	u->form = *form;
	note_captures(imp, d, u);
	set_inputs(d, form->condition, form->states);
	return true;
}

/* -- Loop -- */

/* Checks the inputs of a Loop that limit it, if they are present: the number of
 * iterations must be one integer, and the first condition one bool. False after
 * a diagnostic. */
static bool
check_limits(struct importer *imp, const struct deferred *d,
	     const struct loop_form *form)
{
	int64_t elems;

	if (form->count &&
	    ((form->count->type.kind != DT_I64 &&
	      form->count->type.kind != DT_I32) ||
	     !tensor_const_elems(form->count, &elems) || elems != 1)) {
		return deferred_refuse(imp, d,
				       "its number of iterations is not one "
				       "integer; correct the model");
	}
	return !form->condition ||
	       (dtype_class(form->condition->type) == DTC_BOOL &&
		tensor_const_elems(form->condition, &elems) && elems == 1) ||
	       deferred_refuse(imp, d,
			       "its condition is not one truth value; correct "
			       "the model");
}

bool
expand_loop(struct importer *imp, struct deferred *d)
{
	int n = d->n_inputs > 2 ? d->n_inputs - 2 : 0;
	struct loop_form form = {
		.body = deferred_graph(d, "body"),
		.is_loop = true,
		.n_states = n,
		.trips = -1,
		.count = d->n_inputs > 0 ? d->node->inputs[0] : NULL,
		.condition = d->n_inputs > 1 ? d->node->inputs[1] : NULL,
	};

	if (d->unrolling) {
		return unroll(imp, d);
	}
	if (d->flow) {
		return flow_loop_end(imp, d);
	}
	if (!form.body || form.body->n_input != (size_t)n + 2 ||
	    form.body->n_output < (size_t)n + 1) {
		return deferred_refuse(imp, d,
				       "its body is missing, or does not have "
				       "its inputs and outputs; export the "
				       "model again");
	}
	if (!check_limits(imp, d, &form)) {
		return false;
	}
	form.n_stacked = (int)form.body->n_output - 1 - n;
	if (form.count && deferred_known(imp, d, 0, &form.trips)) {
		/* models write a huge number of iterations for "no limit" */
		if (form.trips >= INT32_MAX) {
			form.trips = -1;
			form.count = NULL;
		} else if (form.trips < 0) {
			form.trips = 0;
		}
	}
	form.states = arena_copy(&imp->tmp, d->node->inputs + 2,
				 sizeof *form.states * (size_t)n);
	return begin(imp, d, &form);
}

/* -- Scan -- */

/* Sets *list to an attribute that is a list of n numbers; to NULL without the
 * attribute. False after a diagnostic about another length. */
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

static const char *
size_text(struct importer *imp, const struct expr *size)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	size_words(graph_given_size(imp->g, size), &s);
	text = arena_strdup(&imp->tmp, s.data ? s.data : "");
	strbuf_release(&s);
	return text;
}

/* The number of slices of x along the axis, which is x's size along it, as an
 * int64[1]. */
static struct tensor *
slices_of(struct importer *imp, const struct deferred *d, struct tensor *x,
	  int64_t axis)
{
	struct tensor *count = deferred_node(imp, d, "Shape", &x, 1, "slices");

	node_set_attr_int(imp->g, count->producer, "start", axis);
	node_set_attr_int(imp->g, count->producer, "end", axis + 1);
	return count;
}

/* Sets the number of iterations in `form` to the size that all sliced inputs
 * have along their axes. False after a diagnostic if these sizes differ. */
static bool
count_slices(struct importer *imp, const struct deferred *d,
	     struct loop_form *form)
{
	const struct expr *size = NULL, *one;
	struct analyser a;
	int64_t axis = 0;

	analyser_init(&a, imp->m);
	for (int i = 0; i < form->n_sliced; i++) {
		struct tensor *x = form->sliced[i];

		axis = flow_axis(form->in_axes, i, x->ndim);
		if (axis < 0 || axis >= x->ndim) {
			return deferred_refuse(imp, d,
					       "its input '%s' of %d "
					       "dimensions does not have the "
					       "axis of its slices; correct "
					       "scan_input_axes",
					       x->name, x->ndim);
		}
		one = x->shape[axis];
		if (size && !prove_equal(&a, size, one)) {
			return deferred_refuse(
				imp, d,
				"its inputs have %s and %s slices; make them "
				"equal with --dim, or correct the model",
				size_text(imp, size), size_text(imp, one));
		}
		size = one;
	}
	if (!expr_is_int(size, &form->trips)) {
		form->count = slices_of(imp, d,
					form->sliced[form->n_sliced - 1], axis);
	}
	return true;
}

/* Element b of t along its first dimension, the batch. */
static struct tensor *
in_batch(struct importer *imp, const struct deferred *d, struct tensor *t,
	 int64_t b)
{
	struct tensor *in[] = { t, scalar(imp, "batch", DT_I64, b) };

	return deferred_node(imp, d, "Gather", in, 2, t->name);
}

/* Makes a Scan of the current version for one element of the batch. */
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

	for (int i = 0; i < n_in; i++) {
		vec_push(&imp->tmp, &in,
			 in_batch(imp, d, d->node->inputs[1 + i], b));
	}
	for (int i = d->n_inputs; i < d->node->n_inputs; i++) {
		vec_push(&imp->tmp, &in, d->node->inputs[i]);
	}
	for (int k = 0; k < n_out; k++) {
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

/* Scan of version 8 has the sequence lengths as first input, and a batch
 * dimension: the elements of the batch are scanned one after the other. */
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
	for (int64_t b = 0; b < batch; b++) {
		scan_element(imp, d, b, out + b * n_out);
	}
	for (int k = 0; k < n_out; k++) {
		struct tensor *y = d->node->outputs[k];

		if (!y) {
			continue;
		}
		parts = arena_array(&imp->tmp, struct tensor *, batch + 1);
		for (int64_t b = 0; b < batch; b++) {
			parts[b] = deferred_change_rank(imp, d, "Unsqueeze",
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
	int64_t n_sliced = node_attr_int(d->node, "num_scan_inputs", -1);
	struct loop_form form = {
		.body = deferred_graph(d, "body"),
		.trips = -1,
	};

	if (n_sliced >= 1 && n_sliced <= d->n_inputs) {
		form.n_sliced = (int)n_sliced;
		form.n_states = d->n_inputs - form.n_sliced;
	}
	if (!form.body || form.n_sliced < 1 ||
	    form.body->n_input != (size_t)d->n_inputs ||
	    (int64_t)form.body->n_output < form.n_states) {
		return deferred_refuse(imp, d,
				       "its body is missing, or does not have "
				       "its inputs; export the model again");
	}
	form.n_stacked = (int)form.body->n_output - form.n_states;
	form.states = arena_copy(&imp->tmp, d->node->inputs,
				 sizeof *form.states * (size_t)form.n_states);
	form.sliced = arena_copy(&imp->tmp, d->node->inputs + form.n_states,
				 sizeof *form.sliced * (size_t)form.n_sliced);
	return numbers(imp, d, "scan_input_axes", form.n_sliced,
		       &form.in_axes) &&
	       numbers(imp, d, "scan_input_directions", form.n_sliced,
		       &form.in_back) &&
	       numbers(imp, d, "scan_output_axes", form.n_stacked,
		       &form.out_axes) &&
	       numbers(imp, d, "scan_output_directions", form.n_stacked,
		       &form.out_back) &&
	       count_slices(imp, d, &form) && begin(imp, d, &form);
}

bool
expand_scan(struct importer *imp, struct deferred *d)
{
	if (d->unrolling) {
		return unroll(imp, d);
	}
	if (d->flow) {
		return flow_loop_end(imp, d);
	}
	return d->version < 9 ? expand_batch(imp, d) : start_scan(imp, d);
}
