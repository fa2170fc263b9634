/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the function of a fusion group, without schedule, from the joined
 * tensor expressions of its operators, and its arguments.
 *
 *   group { Conv, Relu }   ->   conv1(x, w, bias, y) */
#include "identifiers.h"
#include "kernel_build.h"
#include "ops.h"
#include "repeats.h"

/* Is there a group that has both nodes? */
static bool
are_together(const struct builder *b, const struct node *n,
	     const struct node *m)
{
	if (n->group >= 0 && n->group == m->group) {
		return true;
	}
	for (int i = b->first_group[n->id]; i < b->first_group[n->id + 1];
	     i++) {
		if (group_index(b->group_list[i], m) >= 0) {
			return true;
		}
	}
	return false;
}

/* Does a node read t that no group has together with t's producer? */
static bool
used_outside(const struct builder *b, const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (!are_together(b, t->producer, t->uses.data[i].node)) {
			return true;
		}
	}
	return false;
}

bool
group_makes(const struct builder *b, const struct group *group,
	    const struct tensor *t)
{
	/* the entry function reads sizes from the result of a RunSize, so that
	 * it must be stored */
	return t->producer != NULL && t->producer->group == group->id &&
	       (t->is_output || node_run_sizes(t->producer) >= 0 ||
		used_outside(b, t));
}

/* A tensor expression whose elements are the number that the constant t has.
 * NULL if the number is not known or has no literal. */
static struct te_tensor *
literal(struct joint *j, struct tensor *t)
{
	struct module *m = j->b->m;
	const struct value *v = tensor_value(j->b->g, t);
	union number x;
	const struct expr *body;

	if (v == NULL) {
		return NULL;
	}
	x = v->data != NULL ? number_load(v->type, v->data, 0) : v->fill;
	switch (dtype_class(v->type)) {
	case DTC_FLOAT:
		body = expr_float(m, v->type, x.f);
		break;
	case DTC_BOOL:
	case DTC_INT:
	case DTC_UINT:
		body = expr_int(m, v->type, x.i);
		break;
	default:
		return NULL;
	}
	return te_compute(m, "literal", "elementwise", t->ndim,
			  te_axes(m, t->ndim, t->shape, NULL), body, NULL, 0);
}

static struct te_tensor *
find_te(struct joint *j, const struct tensor *t)
{
	for (int i = 0; i < j->made.n; i++) {
		if (j->made.data[i] == t) {
			return j->made_te.data[i];
		}
	}
	for (int i = 0; i < j->from.n; i++) {
		if (j->from.data[i] == t) {
			return j->from_te.data[i];
		}
	}
	return NULL;
}

/* The tensor expression of t, a tirc.Repeat, in which `once` is the stored
 * constant. NULL after a diagnostic or if `once` is NULL. */
static struct te_tensor *
repeated(struct joint *j, const struct tensor *t, struct te_tensor *once)
{
	struct te_tensor *te = NULL;

	return once != NULL && ops_define(j->b->g, t->recipe, &once, &te)
		       ? te
		       : NULL;
}

/* The tensor expression of t in the kernel: the result of a node that the
 * kernel computes, a literal, or a new parameter, which is named after the role
 * of `of`. NULL after a diagnostic. */
static struct te_tensor *
input_te(struct joint *j, struct tensor *t, const struct tensor *of)
{
	struct module *m = j->b->m;
	struct te_tensor *te = find_te(j, t);
	int64_t elems;

	if (te != NULL) {
		return te;
	}
	if (group_reads_once(j->k->group, t)) {
		te = repeated(j, t, input_te(j, t->recipe->inputs[0], of));
		vec_push(&m->arena, &j->made, t);
		vec_push(&m->arena, &j->made_te, te);
		return te;
	}
	if (tensor_is_constant(t) && tensor_const_elems(t, &elems) &&
	    elems == 1) {
		te = literal(j, t);
		if (te != NULL) {
			vec_push(&m->arena, &j->made, t);
			vec_push(&m->arena, &j->made_te, te);
			return te;
		}
	}
	te = te_placeholder(m,
			    name_set_add(&j->names,
					 kernel_role(&m->arena, j->k->group,
						     of)),
			    t->type, t->ndim, t->shape);
	vec_push(&m->arena, &j->from, t);
	vec_push(&m->arena, &j->from_te, te);
	return te;
}

static bool
define_node(struct joint *j, const struct node *n)
{
	struct module *m = j->b->m;
	struct te_tensor **in = arena_array(&m->arena, struct te_tensor *,
					    n->n_inputs + 1);
	struct te_tensor **out = arena_array(&m->arena, struct te_tensor *,
					     n->n_outputs + 1);

	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];

		in[i] = t != NULL ? input_te(j, t, t) : NULL;
		if (t != NULL && in[i] == NULL) {
			return false;
		}
	}
	if (!ops_define(j->b->g, n, in, out)) {
		return false;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL && out[i] != NULL) {
			vec_push(&m->arena, &j->made, n->outputs[i]);
			vec_push(&m->arena, &j->made_te, out[i]);
		}
	}
	return true;
}

static struct weight *
weight_of(struct joint *j, struct tensor *t, const struct buffer *buffer)
{
	struct module *m = j->b->m;
	struct weight *w = arena_new(&m->arena, struct weight);

	w->tensor = t;
	w->buffer = buffer;
	return w;
}

static void
add_arg(struct joint *j, struct tensor *t, const struct te_tensor *te,
	bool written)
{
	struct kernel_arg arg = { .tensor = t, .buffer = te->buffer };

	if (tensor_is_constant(t)) {
		arg.kind = ARG_WEIGHT;
		arg.weight = weight_of(j, t, te->buffer);
	} else {
		arg.kind = ARG_TENSOR;
	}
	arg.read = !written;
	arg.written = written;
	vec_push(&j->b->m->arena, &j->k->args, arg);
}

/* Does a single node compute several results of the kernel, and all of them?
 * Then the definition of this node has named each result. */
static bool
has_named_results(const struct joint *j)
{
	const struct node *producer = NULL;
	int n = 0;

	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];

		if (!arg->written) {
			continue;
		}
		if (n++ > 0 && arg->tensor->producer != producer) {
			return false;
		}
		producer = arg->tensor->producer;
	}
	return n > 1;
}

/* Names the results of the kernel: if one node computes several results, as the
 * node's definition names them; else "y". The names are made unique. */
static void
name_results(struct joint *j)
{
	bool named = has_named_results(j);
	struct module *m = j->b->m;
	struct func *f = j->k->func;

	for (int i = 0; i < j->k->args.n; i++) {
		struct kernel_arg *arg = &j->k->args.data[i];
		struct buffer_spec spec;

		if (!arg->written) {
			continue;
		}
		spec = (struct buffer_spec){
			.name = name_set_add(&j->names,
					     named ? arg->buffer->name : "y"),
			.type = arg->buffer->type,
			.ndim = arg->buffer->ndim,
			.shape = arg->buffer->shape,
		};
		arg->buffer = buffer_new(m, &spec);
		stmt_replace_buffer(f, f->body, f->params.data[i].buffer,
				    arg->buffer);
		f->params.data[i].buffer = arg->buffer;
		f->params.data[i].var = arg->buffer->data;
	}
}

enum { FEW_BESIDE = 8 };

static bool
is_short(const struct kernel_arg *arg)
{
	return arg->kind == ARG_WEIGHT && dtype_is_int(arg->buffer->type) &&
	       dtype_bits(arg->buffer->type) == 4;
}

/* Packs the elements of 4-bit constants in pairs, and notes which constants are
 * packed. Constants with few elements (zero points) keep a byte for each
 * element: packing them would save little and cost as much at each read. */
static void
pair_constants(struct joint *j)
{
	struct module *m = j->b->m;
	const char *names = NULL;
	int64_t most = 0, elems;

	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];

		if (is_short(arg) && buffer_const_elems(arg->buffer, &elems) &&
		    elems > most) {
			most = elems;
		}
	}
	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];

		if (!is_short(arg) ||
		    (buffer_const_elems(arg->buffer, &elems) &&
		     elems < most / FEW_BESIDE)) {
			continue;
		}
		arg->weight->paired = true;
		names = names == NULL ? arg->buffer->name
				      : arena_printf(&m->arena, "%s, %s", names,
						     arg->buffer->name);
	}
	if (names != NULL) {
		func_set_note(j->k->func, "packed", expr_string(m, names));
	}
}

bool
kernel_join(struct joint *j)
{
	struct builder *b = j->b;
	struct module *m = b->m;
	struct group *group = j->k->group;
	VEC(struct te_tensor *) params = { 0 };

	for (int i = 0; i < group->nodes.n; i++) {
		if (!define_node(j, group->nodes.data[i])) {
			return false;
		}
	}
	for (int constant = 0; constant < 2; constant++) {
		for (int i = 0; i < j->from.n; i++) {
			if (tensor_is_constant(j->from.data[i]) == constant) {
				vec_push(&m->arena, &params,
					 j->from_te.data[i]);
				add_arg(j, j->from.data[i], j->from_te.data[i],
					false);
			}
		}
	}
	for (int i = 0; i < j->made.n; i++) {
		struct tensor *t = j->made.data[i];

		if (t->producer != NULL && group_makes(b, group, t)) {
			vec_push(&m->arena, &params, j->made_te.data[i]);
			add_arg(j, t, j->made_te.data[i], true);
		}
	}
	j->k->func = te_to_func(m, j->k->name, params.data, params.n);
	if (j->k->func == NULL) {
		return false;
	}
	name_results(j);
	pair_constants(j);
	return true;
}
