/* SPDX-License-Identifier: Apache-2.0 */
/* The second step of a loop that stays in the graph (see flow.c), done when the
 * nodes of its body have types and shapes: makes the loop's states, its stacked
 * results and tirc.EndLoop. */
#include "flow.h"
#include "ops.h"
#include "sizes.h"

/* Follows the producers of t back through Identity nodes, and returns the
 * tensor that t is a copy of; t itself if no Identity computes t. */
static struct tensor *
origin_of(struct tensor *t)
{
	while (t->producer && strcmp(t->producer->op_type, "Identity") == 0 &&
	       !*t->producer->domain) {
		t = t->producer->inputs[0];
	}
	return t;
}

static bool
known_bool(struct importer *imp, const struct deferred *d, int i, bool value)
{
	int64_t v;

	return deferred_known(imp, d, i, &v) && (v != 0) == value;
}

/* For a state that always has the value `value`: turns its Carry node into an
 * Identity of this value. The tensor `carried` stays, since results of the body
 * and other loops may refer to it. */
static void
drop_carry(struct tensor *carried, struct tensor *value)
{
	struct node *carry = carried->producer;

	carry->domain = "";
	carry->op_type = "Identity";
	carry->op = op_find("", "Identity");
	carry->attrs.n = 0;
	carry->origins.n = 0;
	node_set_input(carry, 0, value);
}

/* Does the shape of every state stay the same in an iteration? States to which
 * iterations append are left out: their shapes change. */
static bool
keeps_shapes(const struct deferred *d, struct tensor *const *first,
	     struct tensor *const *next)
{
	for (int k = 0; k < d->flow->form.n_states; k++) {
		if (d->flow->appends[k] < 0 &&
		    !tensor_same_shape(first[k], next[k])) {
			return false;
		}
	}
	return true;
}

struct loop_parts {
	tensor_list first, next, slices, out;
	/* for each stacked result: is it stacked from the last iteration to the
	 * first? */
	VEC(int64_t) back;
	bool condition;
	/* The largest number of iterations: the constant `trips`, or the value
	 * of `count`. If trips < 0 and count is NULL, the number has no
	 * limit. */
	int64_t trips;
	struct tensor *count;
	/* if the loop has stacked results: the largest number of iterations */
	int64_t most;
	VEC(const char *) stacked; /* the labels of the stacked results */
	/* the number of iterations comes from --bound: more iterations are an
	 * error */
	bool bounded;
	/* if the loop has a condition: the number of iterations that ran */
	struct tensor *done;
};

/* Adds a state to the loop's EndLoop. output: the index of the node's output
 * that gets the state's value after the loop; -1 for the condition. */
static void
add_state(struct importer *imp, struct deferred *d, struct loop_parts *p,
	  struct tensor *carried, struct tensor *next, int output)
{
	int own = place_of_body(imp, d->body);
	struct tensor *out;

	vec_push(&imp->tmp, &p->first, carried->producer->inputs[0]);
	vec_push(&imp->tmp, &p->next, flow_copy(imp, d, d->flow->id, next));
	out = graph_tensor(imp->g, carried->name);
	vec_push(&imp->tmp, &p->out, out);
	if (output >= 0 && d->node->n_outputs > output &&
	    d->node->outputs[output]) {
		deferred_output(imp, d, output, flow_copy(imp, d, own, out));
	}
}

/* -- stacked results whose number of slices depends on data -- */

static struct tensor *
number(struct importer *imp, const char *name, int64_t v)
{
	return graph_constant_ints(imp->g, name, 1, &v);
}

/* Makes a size variable in [0, most], named after `name`; returns its index in
 * graph.run_sizes. proven: the entry function need not check the bound. */
static int
new_size(struct importer *imp, const char *name, int64_t most, bool proven)
{
	struct run_size size = { .proven = proven };

	name = arena_printf(&imp->m->arena, "%s_count", name);
	size.var = var_new_dim(imp->m, name, 0, most);
	vec_push(&imp->m->arena, &imp->g->run_sizes, size);
	return imp->g->run_sizes.n - 1;
}

/* Sets p->most to the largest number of iterations of the loop. False if the
 * operators that compute the number have no upper bound. */
static bool
limit_count(struct importer *imp, struct loop_parts *p)
{
	double low, most;

	if (!import_element_range(imp, p->count, &low, &most) ||
	    most > SIZE_FOUND_MAX) {
		return false;
	}
	p->most = most > 0 ? (int64_t)most : 0;
	return true;
}

/* Makes the loop's count a size that the entry function reads. The bound of
 * this size is the one of --bound (`bound`), else the one that follows from the
 * operators. p->count becomes NULL if there is no bound. */
static void
read_count(struct importer *imp, struct deferred *d, struct loop_parts *p,
	   const struct size_bound *bound)
{
	struct tensor *in[2] = { p->count, NULL }, *t;

	if (bound) {
		p->most = bound->max[0] > 0 ? bound->max[0] : 0;
	} else if (!limit_count(imp, p)) {
		p->count = NULL;
		return;
	}
	in[1] = number(imp, "none", 0);
	t = deferred_node(imp, d, "Max", in, 2, p->count->name);
	in[0] = t;
	in[1] = number(imp, "one", 1);
	t = deferred_node(imp, d, "Reshape", in, 2, p->count->name);
	p->count = flow_run_size(imp, d, t,
				 new_size(imp, p->stacked.data[0], p->most,
					  false));
}

/* Sets p->most to the largest number of slices that a stacked result can have.
 * It follows from the number of iterations, or from --bound. */
static void
find_limit(struct importer *imp, struct deferred *d, struct loop_parts *p)
{
	const struct size_bound *bound;
	int n = p->stacked.n;

	p->most = p->trips;
	if (p->trips >= 0 || (p->count && p->count->elems &&
			      (!p->condition || limit_count(imp, p)))) {
		return;
	}
	if (p->count) {
		vec_push(&imp->tmp, &p->stacked, tensor_label(p->count));
	}
	bound = size_bound(imp, p->stacked.data, p->stacked.n);
	p->stacked.n = n;
	if (p->count) {
		read_count(imp, d, p, bound);
	} else if (bound) {
		p->trips = p->most = bound->max[0];
		p->bounded = true;
	}
}

/* Adds a state that counts the iterations, and reads it after the loop as a
 * size. */
static void
count_iterations(struct importer *imp, struct deferred *d, struct loop_parts *p)
{
	struct tensor *zero = number(imp, "none", 0), *in[2], *t;
	struct tensor *out = graph_tensor(imp->g, "iterations");

	in[0] = flow_tensor(imp, d, "Iteration", d->flow->id, NULL,
			    "iteration");
	in[1] = number(imp, "one", 1);
	t = deferred_node(imp, d, "Add", in, 2, "iterations");
	vec_push(&imp->tmp, &p->first,
		 flow_carry(imp, d, zero, "iterations")->producer->inputs[0]);
	vec_push(&imp->tmp, &p->next, flow_copy(imp, d, d->flow->id, t));
	vec_push(&imp->tmp, &p->out, out);
	t = flow_copy(imp, d, place_of_body(imp, d->body), out);
	if (p->bounded) {
		/* if the condition is still true after the last allowed
		 * iteration, the number of iterations exceeds its bound, which
		 * is an error */
		in[0] = flow_copy(imp, d, place_of_body(imp, d->body),
				  p->out.data[0]);
		in[0] = deferred_node(imp, d, "Cast", in, 1, "more");
		node_set_attr_int(imp->g, in[0]->producer, "to",
				  dtype_onnx_number(dtype_of(DT_I64)));
		in[1] = number(imp, "one", 1);
		in[0] = deferred_node(imp, d, "Reshape", in, 2, "more");
		in[1] = t;
		t = deferred_node(imp, d, "Add", in, 2, "iterations");
	}
	p->done = flow_run_size(imp, d, t,
				new_size(imp, p->stacked.data[0], p->most,
					 !p->bounded));
}

/* The slices of the iterations that ran: the first p->done slices of `all`. */
static struct tensor *
done_slices(struct importer *imp, struct deferred *d, struct loop_parts *p,
	    struct tensor *all)
{
	struct tensor *in[] = { all, number(imp, "from", 0), p->done,
				number(imp, "along", 0) };

	return deferred_node(imp, d, "Slice", in, 4, all->name);
}

/* Adds t, the slice of one iteration, to the loop's stacked results; returns
 * the tensor of all slices after the loop. NULL after a diagnostic. */
static struct tensor *
add_slices(struct importer *imp, struct deferred *d, struct loop_parts *p,
	   struct tensor *t, bool back, const char *name)
{
	struct tensor *out = graph_tensor(imp->g, t->name);

	vec_push(&imp->tmp, &p->slices, flow_copy(imp, d, d->flow->id, t));
	vec_push(&imp->tmp, &p->back, back);
	vec_push(&imp->tmp, &p->out, out);
	if (p->condition && back) {
		deferred_refuse(imp, d,
				"its result '%s' is stacked from the last "
				"iteration on, and a condition ends the loop, "
				"which is not supported",
				name);
		return NULL;
	}
	if (p->trips < 0 && !p->count) {
		import_no_bound(imp, d->node, name);
		return NULL;
	}
	return p->condition ? done_slices(imp, d, p, out) : out;
}

static bool
add_stacked(struct importer *imp, struct deferred *d, struct loop_parts *p,
	    int k, struct tensor *t)
{
	const struct loop_form *form = &d->flow->form;
	int output = form->n_states + k;
	int64_t axis = flow_axis(form->out_axes, k, t->ndim + 1);
	struct tensor *out;

	if (output >= d->node->n_outputs || !d->node->outputs[output]) {
		return true;
	}
	if (axis < 0 || axis > t->ndim) {
		return deferred_refuse(imp, d,
				       "axis %lld of its result %d is outside "
				       "of [%d, %d]; correct the model",
				       (long long)form->out_axes[k], k,
				       -t->ndim - 1, t->ndim);
	}
	out = add_slices(imp, d, p, t, form->out_back && form->out_back[k],
			 tensor_label(d->node->outputs[output]));
	if (out && axis != 0) {
		out = flow_transposed(imp, d, out, t->ndim + 1, 0, (int)axis);
	}
	if (out) {
		deferred_output(imp, d, output, out);
	}
	return out != NULL;
}

/* Makes the final value of state k, to which each iteration appends t. False
 * after a diagnostic. */
static bool
add_appended(struct importer *imp, struct deferred *d, struct loop_parts *p,
	     int k, struct tensor *first, struct tensor *t)
{
	struct tensor *out;

	drop_carry(d->flow->carried[k], first);
	if (k >= d->node->n_outputs || !d->node->outputs[k]) {
		return true;
	}
	out = add_slices(imp, d, p, t, false,
			 tensor_label(d->node->outputs[k]));
	out = out ? flow_appended(imp, d, first, out, t, d->flow->appends[k])
		  : NULL;
	if (out) {
		deferred_output(imp, d, k, out);
	}
	return out != NULL;
}

static void
find_stacked(struct importer *imp, const struct deferred *d,
	     struct loop_parts *p)
{
	const struct loop_form *form = &d->flow->form;

	for (int k = 0; k < d->node->n_outputs; k++) {
		if (d->node->outputs[k] &&
		    (k >= form->n_states || d->flow->appends[k] >= 0)) {
			vec_push(&imp->tmp, &p->stacked,
				 tensor_label(d->node->outputs[k]));
		}
	}
}

static bool
add_all_stacked(struct importer *imp, struct deferred *d, struct loop_parts *p,
		struct tensor *const *first, struct tensor *const *next)
{
	const struct loop_form *form = &d->flow->form;

	p->trips = form->trips;
	p->count = form->trips < 0 ? form->count : NULL;
	find_stacked(imp, d, p);
	if (p->stacked.n > 0) {
		find_limit(imp, d, p);
	}
	if (p->stacked.n > 0 && p->condition && (p->trips >= 0 || p->count)) {
		count_iterations(imp, d, p);
	}
	for (int k = 0; k < form->n_states; k++) {
		if (d->flow->appends[k] >= 0 &&
		    !add_appended(imp, d, p, k, first[k], next[k])) {
			return false;
		}
	}
	for (int k = 0; k < form->n_stacked; k++) {
		if (!add_stacked(imp, d, p, k, next[form->n_states + k])) {
			return false;
		}
	}
	return true;
}

static void
make_end(struct importer *imp, struct deferred *d, const struct loop_parts *p)
{
	const struct loop_form *form = &d->flow->form;
	const tensor_list *lists[] = { &p->first, &p->next, &p->slices };
	tensor_list in = { 0 };
	struct node *n;

	if (p->out.n == 0) {
		return;
	}
	if (p->count) {
		vec_push(&imp->tmp, &in, p->count);
	}
	for (int l = 0; l < 3; l++) {
		for (int i = 0; i < lists[l]->n; i++) {
			vec_push(&imp->tmp, &in, lists[l]->data[i]);
		}
	}
	n = flow_node(imp, d, "EndLoop", place_of_body(imp, d->body), in.data,
		      in.n, p->out.data, p->out.n);
	node_set_attr_int(imp->g, n, "loop", d->flow->id);
	node_set_attr_int(imp->g, n, "states", p->first.n);
	if (p->trips >= 0) {
		node_set_attr_int(imp->g, n, "trips", p->trips);
	} else if (p->count) {
		node_set_attr_int(imp->g, n, "counted", 1);
	}
	if (p->condition) {
		node_set_attr_int(imp->g, n, "condition", 1);
	}
	if (form->out_back) {
		node_set_attr_ints(imp->g, n, "back",
				   arena_copy(&imp->m->arena, p->back.data,
					      sizeof(int64_t) *
						      (size_t)p->back.n),
				   p->back.n);
	}
}

/* Makes the stacked result k of a loop that has no iterations: a tensor without
 * elements. t: the slice of the result that an iteration would compute. False
 * after a diagnostic. */
static bool
add_nothing(struct importer *imp, struct deferred *d, int k,
	    const struct tensor *t)
{
	int output = d->flow->form.n_states + k;
	int64_t shape[ONNX_MAX_RANK + 1] = { 0 };
	struct tensor *out;

	if (output >= d->node->n_outputs || !d->node->outputs[output]) {
		return true;
	}
	if (t->ndim >= ONNX_MAX_RANK) {
		return deferred_refuse(imp, d,
				       "'%s' in its body has %d dimensions, "
				       "and its stacked result has one more; "
				       "the most is %d",
				       tensor_label(t), t->ndim, ONNX_MAX_RANK);
	}
	for (int i = 0; i < t->ndim; i++) {
		if (!expr_is_int(t->shape[i], &shape[i + 1])) {
			return deferred_refuse(imp, d,
					       "it has no iteration, and the "
					       "shape of '%s' in its body is "
					       "not known",
					       tensor_label(t));
		}
	}
	out = graph_constant(imp->g, t->name, t->type, t->ndim + 1, shape,
			     arena_alloc(&imp->m->arena, 1));
	deferred_output(imp, d, output, out);
	return true;
}

/* Ends a loop that is known to have no iterations: each state keeps its first
 * value. */
static bool
end_unmade(struct importer *imp, struct deferred *d,
	   struct tensor *const *first, struct tensor *const *next)
{
	const struct loop_form *form = &d->flow->form;

	for (int k = 0; k < form->n_states; k++) {
		deferred_output(imp, d, k, first[k]);
		drop_carry(d->flow->carried[k], first[k]);
	}
	for (int k = 0; k < form->n_stacked; k++) {
		if (!add_nothing(imp, d, k, next[form->n_states + k])) {
			return false;
		}
	}
	return deferred_finish(imp, d, NULL);
}

bool
flow_loop_end(struct importer *imp, struct deferred *d)
{
	struct loop_form *form = &d->flow->form;
	struct tensor **list = arena_copy(&imp->tmp, d->node->inputs,
					  sizeof *list *
						  (size_t)d->node->n_inputs);
	int own = form->is_loop, n = form->n_states;
	struct tensor **first = list, **next = list + own + n;
	struct loop_parts p = { 0 };

	if (form->trips < 0 && form->count && form->count->elems) {
		(void)expr_is_int(form->count->elems[0], &form->trips);
	}
	if (own) {
		/* The loop needs no condition if the condition before the first
		 * iteration and all later conditions are true. */
		p.condition = !(known_bool(imp, d, 0, true) &&
				(known_bool(imp, d, own + n, true) ||
				 origin_of(next[0]) == d->flow->condition));
		/* If states change their shapes, the condition is known only
		 * for the first shapes and may become false later. */
		if (!p.condition && form->trips < 0 && !form->count &&
		    keeps_shapes(d, first + 1, next + 1)) {
			return deferred_refuse(
				imp, d,
				"neither a number of iterations nor a "
				"condition ends it; correct the model");
		}
		if (!p.condition) {
			drop_carry(d->flow->condition, first[0]);
		} else {
			add_state(imp, d, &p, d->flow->condition, next[0], -1);
		}
		first++;
		next++;
	}
	if (form->trips == 0) {
		return end_unmade(imp, d, first, next);
	}
	for (int k = 0; k < n; k++) {
		struct tensor *carried = d->flow->carried[k];

		if (d->flow->appends[k] >= 0) {
			continue;
		}
		if (origin_of(next[k]) == carried) {
			deferred_output(imp, d, k, first[k]);
			drop_carry(carried, first[k]);
		} else {
			add_state(imp, d, &p, carried, next[k], k);
		}
	}
	if (!add_all_stacked(imp, d, &p, first, next)) {
		return false;
	}
	make_end(imp, d, &p);
	return deferred_finish(imp, d, NULL);
}
