/* SPDX-License-Identifier: Apache-2.0 */
/* If with a condition that is known only when the model runs:
 *
 *	before	y = If<then={ t = Neg(x) }, else={ e = Abs(x) }>(c)
 *	after	t = Neg(x); t2 = tirc.Copy<body=1>(t)
 *		e = Abs(x); e2 = tirc.Copy<body=2>(e)
 *		y = tirc.EndIf<body=0, then=1, else=2>(c, t2, e2)
 *
 * If the results of the two branches differ in a size, each branch also returns
 * that size, and the result of the If gets a variable for it:
 *
 *		n = tirc.EndIf(c, …, Shape(t), Shape(e))
 *		tirc.RunSize(n)                 # y: float32[y_count]
 */
#include "flow.h"

#include "ops.h"

static bool
begin_if(struct importer *imp, struct deferred *d)
{
	static const char *const names[] = { "then_branch", "else_branch" };
	int n_out = d->node->n_outputs;
	tensor_list list = { 0 };

	d->flow = arena_new(&imp->tmp, struct flow);
	d->flow->id = place_begin(imp, d, 0);
	d->flow->other = place_begin(imp, d, 1);
	vec_push(&imp->tmp, &list, d->node->inputs[0]);
	for (int b = 0; b < 2; b++) {
		const Onnx__GraphProto *branch = deferred_graph(d, names[b]);
		struct tensor **out;

		if (!branch || branch->n_output < (size_t)n_out) {
			return deferred_refuse(
				imp, d,
				"a branch is missing, or has too few outputs; "
				"export the model again");
		}
		out = arena_array(&imp->tmp, struct tensor *,
				  branch->n_output + 1);
		if (!deferred_inline(imp, d, branch,
				     b == 0 ? d->flow->id : d->flow->other,
				     NULL, 0, out)) {
			return false;
		}
		for (int k = 0; k < n_out; k++) {
			vec_push(&imp->tmp, &list, out[k]);
		}
	}
	flow_set_inputs(imp, d, &list);
	return true;
}

/* The results of the then branch (a), of the else branch (b), and of the If
 * (out). */
struct results {
	tensor_list a, b, out;
	/* For each size in which the results of the branches differ, three
	 * numbers: the index of the result, the dimension, and the index of the
	 * size's variable in graph.run_sizes. */
	VEC(int64_t) sizes;
	/* for each size of a result that is read at run time: the tensor that
	 * holds the size */
	tensor_list counts;
};

static void
add_copies(struct importer *imp, struct deferred *d, struct results *r,
	   struct tensor *a, struct tensor *b, struct tensor *out)
{
	vec_push(&imp->tmp, &r->a, flow_copy(imp, d, d->flow->id, a));
	vec_push(&imp->tmp, &r->b, flow_copy(imp, d, d->flow->other, b));
	vec_push(&imp->tmp, &r->out, out);
}

/* int64[1]: size `dim` of t. */
static struct tensor *
size_of(struct importer *imp, const struct deferred *d, struct tensor *t,
	int dim)
{
	struct tensor *s = deferred_node(imp, d, "Shape", &t, 1,
					 arena_printf(&imp->tmp, "%s_size",
						      t->name));

	node_set_attr_int(imp->g, s->producer, "start", dim);
	node_set_attr_int(imp->g, s->producer, "end", dim + 1);
	return s;
}

/* Sets *most to the largest value that size `dim` of t can have; false if the
 * size has no bound. */
static bool
largest_size(const struct tensor *t, int dim, int64_t *most)
{
	struct tensor one = { .ndim = 1, .shape = &t->shape[dim] };

	return tensor_max_elems(&one, most);
}

/* Adds size `dim` of result k to r->sizes, because a and b, the result in the
 * two branches, differ in this size: makes a variable for the size and the
 * nodes that read the variable. Does nothing if the size has no bound in a
 * branch. */
static void
add_size(struct importer *imp, struct deferred *d, struct results *r, int k,
	 int dim, struct tensor *a, struct tensor *b)
{
	struct graph *g = imp->g;
	const char *name = r->out.data[k]->name;
	struct run_size size = { .proven = true };
	int64_t most, other;

	if (!largest_size(a, dim, &most) || !largest_size(b, dim, &other)) {
		return;
	}
	name = a->ndim == 1 ? arena_printf(&imp->tmp, "%s_count", name)
			    : arena_printf(&imp->tmp, "%s_%d", name, dim);
	size.var = var_new_dim(imp->m, arena_strdup(&imp->m->arena, name), 0,
			       most > other ? most : other);
	vec_push(&imp->tmp, &r->sizes, k);
	vec_push(&imp->tmp, &r->sizes, dim);
	vec_push(&imp->tmp, &r->sizes, g->run_sizes.n);
	vec_push(&imp->m->arena, &g->run_sizes, size);
	vec_push(&imp->tmp, &r->counts, graph_tensor(g, name));
	add_copies(imp, d, r, size_of(imp, d, a, dim), size_of(imp, d, b, dim),
		   r->counts.data[r->counts.n - 1]);
}

static void
add_result(struct importer *imp, struct deferred *d, struct results *r,
	   struct tensor *a, struct tensor *b, struct tensor *out)
{
	int k = r->out.n;

	add_copies(imp, d, r, a, b, out);
	for (int dim = 0; dim < a->ndim && a->ndim == b->ndim; dim++) {
		if (a->shape[dim] != b->shape[dim]) {
			add_size(imp, d, r, k, dim, a, b);
		}
	}
}

static bool
add_results(struct importer *imp, struct deferred *d, struct results *r, int k)
{
	struct tensor *a = d->node->inputs[1 + k];
	struct tensor *b = d->node->inputs[1 + d->node->n_outputs + k];
	struct tensor *out = d->node->outputs[k];
	const struct sequence *sa = sequence_find(imp, a);
	const struct sequence *sb = sequence_find(imp, b);
	struct tensor **x, **y, **z;
	struct sequence *s;

	if (!out) {
		return true;
	}
	out->producer = NULL;
	d->node->outputs[k] = NULL;
	if (!sa && !sb) {
		add_result(imp, d, r, a, b, out);
		return true;
	}
	if (!sa || !sb || sa->n != sb->n || sa->is_none != sb->is_none) {
		return deferred_refuse(imp, d,
				       "the condition depends on data, and "
				       "its branches give sequences of "
				       "different lengths, or an optional with "
				       "and without an element");
	}
	x = sequence_elems(imp, sa);
	y = sequence_elems(imp, sb);
	z = arena_array(&imp->tmp, struct tensor *, sa->n + 1);
	for (int i = 0; i < sa->n; i++) {
		z[i] = graph_tensor(imp->g, out->name);
		add_result(imp, d, r, x[i], y[i], z[i]);
	}
	s = sequence_new(imp, z, sa->n);
	s->is_none = sa->is_none;
	sequence_set(imp, out, s);
	return true;
}

static void
make_end(struct importer *imp, struct deferred *d, const struct results *r)
{
	const tensor_list *lists[] = { &r->a, &r->b };
	struct graph *g = imp->g;
	tensor_list in = { 0 };
	struct node *n;

	vec_push(&imp->tmp, &in, impossible_condition(imp, d));
	for (int b = 0; b < 2; b++) {
		for (int i = 0; i < lists[b]->n; i++) {
			vec_push(&imp->tmp, &in, lists[b]->data[i]);
		}
	}
	n = flow_node(imp, d, "EndIf", place_of_body(imp, d->body), in.data,
		      in.n, r->out.data, r->out.n);
	node_set_attr_int(g, n, "then", d->flow->id);
	node_set_attr_int(g, n, "else", d->flow->other);
	if (r->counts.n == 0) {
		return;
	}
	node_set_attr_ints(g, n, "sizes",
			   arena_copy(&imp->m->arena, r->sizes.data,
				      sizeof(int64_t) * (size_t)r->sizes.n),
			   r->sizes.n);
	for (int i = 0; i < r->counts.n; i++) {
		flow_run_size(imp, d, r->counts.data[i],
			      (int)r->sizes.data[3 * i + 2]);
	}
}

static bool
end_if(struct importer *imp, struct deferred *d)
{
	struct results r = { 0 };
	int64_t elems;

	if (d->flow->impossible[0] || d->flow->impossible[1]) {
		return impossible_if(imp, d);
	}
	if (!tensor_const_elems(d->node->inputs[0], &elems) || elems != 1 ||
	    dtype_class(d->node->inputs[0]->type) != DTC_BOOL) {
		return deferred_refuse(imp, d,
				       "its condition is not one truth value; "
				       "correct the model");
	}
	for (int k = 0; k < d->node->n_outputs; k++) {
		if (!add_results(imp, d, &r, k)) {
			return false;
		}
	}
	if (r.out.n > 0) {
		make_end(imp, d, &r);
	}
	return deferred_finish(imp, d, NULL);
}

bool
flow_if(struct importer *imp, struct deferred *d)
{
	return d->flow ? end_if(imp, d) : begin_if(imp, d);
}
