/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the node of a graph whose results differ from the model's: each node
 * runs on the right values of its inputs, which are the values of these tensors
 * in the model as it was read. tensor.model_name is the name of the model's
 * tensor with the same elements; a tensor without such a name has the value
 * that the nodes before it computed. */
#include <math.h>

#include "bisect.h"
#include "random.h"

/* -- right values -- */

static void
add(struct right_values *r, struct arena *a, const struct tensor *t)
{
	if (t != NULL && t->model_name != NULL && t->value != NULL &&
	    text_map_add(&r->names, t->model_name, r->values.n)) {
		vec_push(a, &r->values, t->value);
	}
}

bool
right_values_find(struct graph *g, const void *const *inputs,
		  struct node_results *r, struct arena *a,
		  struct right_values *out)
{
	const struct graph_run how = { .run = node_results_run, .run_ctx = r };
	bool ok = graph_run(g, inputs, &how);

	*out = (struct right_values){ .values = { 0 } };
	text_map_init(&out->names, a);
	for (int i = 0; ok && i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			add(out, a, n->inputs[k]);
		}
		for (int k = 0; k < n->n_outputs; k++) {
			add(out, a, n->outputs[k]);
		}
	}
	graph_run_end(g);
	return ok;
}

/* The right value of t; NULL if it is not known, or if t differs from the
 * model's tensor in type, size or offset. */
static const struct value *
right_value(const struct right_values *r, const struct tensor *t)
{
	int at = t->model_name != NULL
			 ? text_map_get(&r->names, t->model_name, -1)
			 : -1;
	const struct value *v = at >= 0 ? r->values.data[at] : NULL;
	int64_t elems;

	return v != NULL && t->stored_offset == 0 &&
			       dtype_equal(v->type, t->type) &&
			       tensor_const_elems(t, &elems) &&
			       elems == v->elems
		       ? v
		       : NULL;
}

/* -- comparing -- */

struct checking {
	const struct node_check *check;
	struct graph *g;
	struct arena *a;
	uint64_t state; /* of the random numbers */
	VEC(struct node_result) far;
	VEC(double) errors; /* by element of `far` */
};

/* The elements of a value as an array with the shape of t. */
static struct array
array_of(struct arena *a, const struct tensor *t, const struct value *v)
{
	struct array x = { .name = t->name,
			   .type = v->type,
			   .ndim = t->ndim,
			   .elems = v->elems,
			   .is_string = t->is_string };

	x.shape = arena_array(a, int64_t, t->ndim + 1);
	for (int d = 0; d < t->ndim; d++) {
		expr_is_int(t->shape[d], &x.shape[d]);
	}
	if (v->data != NULL) {
		x.data = arena_copy(a, v->data, v->bytes);
		return x;
	}
	x.data = arena_alloc(a, v->bytes + 1);
	for (int64_t i = 0; i < v->elems; i++) {
		number_store(v->type, x.data, (size_t)i, v->fill);
	}
	return x;
}

bool
right_values_array(struct graph *g, const struct right_values *r,
		   struct arena *a, const char *name, struct array *out)
{
	int at = text_map_get(&r->names, name, -1);

	for (int i = 0; at >= 0 && i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->model_name != NULL && strcmp(t->model_name, name) == 0) {
			*out = array_of(a, t, r->values.data[at]);
			out->name = name;
			return true;
		}
	}
	return false;
}

/* A value like v whose floats are multiplied by numbers near 1. */
static const struct value *
moved(struct checking *c, const struct tensor *t)
{
	struct value *v = arena_copy(c->a, t->value, sizeof *v);
	struct array x = array_of(c->a, t, t->value);
	double share = c->check->share(c->check->ctx, v->type);

	for (int64_t i = 0; i < x.elems; i++) {
		union number n = number_load(x.type, x.data, (size_t)i);

		n.f *= 1 + share * sqrt(3) *
				   random_fraction(random_next(&c->state));
		number_store(x.type, x.data, (size_t)i, n);
	}
	v->data = x.data;
	return v;
}

/* Runs the node on perturbed inputs, and adds its results to r. False after a
 * diagnostic. */
static bool
observe(struct checking *c, const struct node *n, struct node_result *r)
{
	const struct value **in = arena_array(c->a, const struct value *,
					      n->n_inputs + 1);
	const struct value **out = arena_array(c->a, const struct value *,
					       n->n_outputs + 1);
	bool ok = true;

	for (int k = 0; k < n->n_outputs; k++) {
		out[k] = n->outputs[k] != NULL ? n->outputs[k]->value : NULL;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		in[i] = n->inputs[i] != NULL ? n->inputs[i]->value : NULL;
	}
	for (int run = 0; ok && run < NODE_RUNS; run++) {
		for (int i = 0; i < n->n_inputs; i++) {
			struct tensor *x = n->inputs[i];

			if (x != NULL && dtype_is_float(x->type) &&
			    (x->is_input || x->producer != NULL)) {
				x->value = in[i];
				x->value = moved(c, x);
			}
		}
		ok = graph_run_node(c->g, n);
		if (ok) {
			r->runs[r->n_runs++] = array_of(c->a, r->tensor,
							r->tensor->value);
		}
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] != NULL) {
			n->inputs[i]->value = in[i];
		}
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k] != NULL) {
			n->outputs[k]->value = out[k];
		}
	}
	return ok;
}

/* Compares a tensor's value with the right value, and then puts the right
 * value in its place, so that later nodes read it. False after a diagnostic. */
static bool
check_tensor(struct checking *c, const struct node *n, struct tensor *t,
	     bool is_constant)
{
	const struct value *right = t != NULL && t->value != NULL
					    ? right_value(c->check->right, t)
					    : NULL;
	struct node_result r = { .node = n,
				 .tensor = t,
				 .is_constant = is_constant };
	double error;

	if (right == NULL || right == t->value) {
		return true;
	}
	r.got = array_of(c->a, t, t->value);
	r.want = array_of(c->a, t, right);
	error = c->check->error(c->check->ctx, &r);
	if (error > 0 && !is_constant) {
		if (!observe(c, n, &r)) {
			return false;
		}
		error = c->check->error(c->check->ctx, &r);
	}
	if (error > 0) {
		vec_push(c->a, &c->far, r);
		vec_push(c->a, &c->errors, error);
	}
	t->value = right;
	return true;
}

static bool
check_constants(void *ctx, const struct node *n)
{
	struct checking *c = ctx;

	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];

		if (x != NULL && tensor_is_constant(x) &&
		    (tensor_value(c->g, x) == NULL ||
		     !check_tensor(c, n, x, true))) {
			return false;
		}
	}
	return true;
}

static bool
check_results(void *ctx, const struct node *n)
{
	struct checking *c = ctx;

	for (int k = 0; k < n->n_outputs; k++) {
		if (!check_tensor(c, n, n->outputs[k], false)) {
			return false;
		}
	}
	return true;
}

/* If one error is this many times larger than a second one, the second one
 * counts as rounding. */
enum { MUCH_FARTHER = 16 };

bool
bisect_nodes(struct graph *g, const void *const *inputs,
	     const struct node_check *check, struct node_result *out)
{
	struct checking c = { .check = check,
			      .g = g,
			      .a = &g->module->arena,
			      .state = RANDOM_SEED };
	const struct graph_run how = { .before = check_constants,
				       .after = check_results,
				       .ctx = &c,
				       .run = node_results_run,
				       .run_ctx = check->results };
	double most = 0;
	bool ok = graph_run(g, inputs, &how);

	for (int i = 0; ok && i < g->outputs.n; i++) {
		struct tensor *y = g->outputs.data[i];

		ok = !tensor_is_constant(y) ||
		     (tensor_value(g, y) != NULL &&
		      check_tensor(&c, NULL, y, true));
	}
	graph_run_end(g);
	*out = (struct node_result){ .node = NULL };
	for (int i = 0; i < c.errors.n; i++) {
		most = fmax(most, c.errors.data[i]);
	}
	for (int i = 0; i < c.errors.n; i++) {
		if (c.errors.data[i] * MUCH_FARTHER >= most) {
			*out = c.far.data[i];
			break;
		}
	}
	return ok;
}
