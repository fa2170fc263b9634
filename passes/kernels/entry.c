/* SPDX-License-Identifier: Apache-2.0 */
/* The entry function as TIR: pointers into the workspace by the memory plan,
 * then the kernel calls in order.
 *
 *   let relu1_out = workspace + 0:
 *     conv1(image, conv1_w, conv1_bias, relu1_out)
 *     fc(relu1_out, fc_w, fc_bias, prob)
 */
#include <assert.h>

#include "entry.h"
#include "host_device.h"
#include "iterate.h"
#include "plan.h"

static void
add_tensor_param(struct entry *e, struct tensor *t)
{
	struct buffer_spec spec = {
		.name = name_set_add(&e->names, t->name),
		.type = dtype_stored(t->type),
		.ndim = t->ndim,
		.shape = t->shape,
	};
	const struct buffer *b = buffer_new(e->m, &spec);

	func_add_param(e->f, b->data, b);
	e->of_tensor[t->id] = b->data->expr;
}

static void
add_tensor_params(struct entry *e, struct tensor *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (!list[i]->in_workspace) {
			add_tensor_param(e, list[i]);
		}
	}
}

int
entry_count_pointers(const struct graph *g)
{
	int n = 0;

	for (int i = 0; i < g->inputs.n; i++) {
		n += !g->inputs.data[i]->in_workspace;
	}
	for (int i = 0; i < g->outputs.n; i++) {
		n += !g->outputs.data[i]->in_workspace;
	}
	return n;
}

/* The address at a byte offset, as that of an element in the workspace array of
 * the type. */
static const struct expr *
element_address(struct entry *e, struct dtype t, int64_t offset_bytes)
{
	for (int i = 0; i < e->p->plan.parts.n; i++) {
		const struct workspace_part *part = &e->p->plan.parts.data[i];
		const struct expr *at, *load;

		if (dtype_equal(part->type, t)) {
			at = expr_index(e->m,
					(offset_bytes - part->offset_bytes) /
						dtype_bytes(t));
			load = expr_load(e->m, e->parts[i], &at, 1);
			return expr_call(e->m, INTRIN_ADDRESS_OF,
					 dtype_of(DT_HANDLE), &load, 1);
		}
	}
	assert(!"no part of the workspace has this type");
	return NULL;
}

/* A pointer into the workspace, as a LET variable; each is made once. */
static const struct expr *
workspace_pointer(struct entry *e, const char *name, struct dtype t,
		  const struct placement *at)
{
	struct memory_plan *plan = &e->p->plan;
	int64_t offset_bytes = at->offset_bytes;
	struct var *v = var_new(e->m, name_set_add(&e->names, name),
				dtype_of(DT_HANDLE));
	const struct expr *args[2], *value;

	if (e->parts != NULL) {
		value = element_address(e, t, offset_bytes);
	} else {
		args[0] = e->workspace->expr;
		args[1] = expr_index(e->m, offset_bytes);
		value = expr_call(e->m, INTRIN_PTR_ADD, dtype_of(DT_HANDLE),
				  args, 2);
	}
	plan->places.data[at - plan->places.data].var = v;
	vec_push(&e->m->arena, &plan->named, (int)(at - plan->places.data));
	vec_push(&e->m->arena, &e->pointers, v);
	vec_push(&e->m->arena, &e->values, value);
	return v->expr;
}

/* Adds the workspace as one parameter, or as one parameter for each type. */
static void
add_workspace(struct entry *e)
{
	const struct memory_plan *plan = &e->p->plan;

	if (plan->workspace_bytes > 0 && plan->parts.n == 0) {
		e->workspace = var_new(e->m,
				       name_set_add(&e->names, "workspace"),
				       dtype_of(DT_HANDLE));
		func_add_param(e->f, e->workspace, NULL);
	}
	if (plan->parts.n > 0) {
		e->parts = arena_array(&e->m->arena, const struct buffer *,
				       plan->parts.n);
	}
	for (int i = 0; i < plan->parts.n; i++) {
		const struct workspace_part *part = &plan->parts.data[i];
		const struct expr *extent = expr_index(e->m, part->elems);
		struct buffer_spec spec = {
			.name = name_set_add(&e->names,
					     arena_printf(&e->m->arena,
							  "workspace_%s",
							  dtype_short(
								  part->type))),
			.type = part->type,
			.ndim = 1,
			.shape = &extent,
		};

		e->parts[i] = buffer_new(e->m, &spec);
		func_add_param(e->f, e->parts[i]->data, e->parts[i]);
	}
}

/* The name of a workspace tensor: its name in the model, or, if that is empty,
 * the name of the kernel that writes it; if this name is taken, "_out" is added
 * to it. */
static const char *
tensor_stem(struct entry *e, const struct kernel *k, const struct tensor *t)
{
	const char *stem = name_stem(&e->m->arena, t->name);

	if (stem == NULL) {
		stem = k->name;
	}
	if (!name_set_takes(&e->names, stem)) {
		return arena_printf(&e->m->arena, "%s_out", stem);
	}
	return stem;
}

/* The placement of the tensor of which t is a view, if t can use the pointer of
 * that tensor: both must start at the same place and have the same type. NULL
 * if t needs a pointer of its own. */
static const struct placement *
find_viewed(const struct entry *e, struct tensor *t, const struct placement *at)
{
	struct tensor *root = graph_view_root(e->p->graph, t);
	const struct placement *of = root != t ? plan_find(&e->p->plan, root)
					       : NULL;

	return of != NULL && of->kind == at->kind &&
			       of->offset_bytes == at->offset_bytes &&
			       dtype_equal(dtype_stored(root->type),
					   dtype_stored(t->type))
		       ? of
		       : NULL;
}

/* The place of a tensor that a branch or a loop passes on as t, or as which it
 * passes on t, if it has a pointer; NULL otherwise. */
static const struct placement *
find_passed_on(const struct entry *e, const struct tensor *t,
	       const struct placement *at)
{
	const struct placement *of = e->flow_place[e->flow_root[t->id]];

	return of != NULL && of->offset_bytes == at->offset_bytes &&
			       dtype_equal(dtype_stored(of->tensor->type),
					   dtype_stored(t->type))
		       ? of
		       : NULL;
}

static const struct expr *
tensor_pointer(struct entry *e, const struct kernel *k, struct tensor *t,
	       const struct placement *place)
{
	struct memory_plan *plan = &e->p->plan;
	struct placement *at = &plan->places.data[place - plan->places.data];
	const struct placement *of = find_viewed(e, t, at);
	int root = e->flow_root[t->id];
	const struct expr *pointer;

	of = of != NULL ? of : find_passed_on(e, t, at);
	if (of == NULL) {
		e->flow_place[root] = at;
		return workspace_pointer(e,
					 tensor_stem(e, k, e->flow_name[root]),
					 dtype_stored(t->type), at);
	}
	pointer = entry_pointer(e, k, of->tensor);
	at->of = of->of != NULL ? of->of : of;
	return pointer;
}

/* Names the places of the first `count` results of n after them; the results of
 * a loop after its states in an iteration, if its body reads these. */
static void
name_results(struct entry *e, const struct node *n, int count)
{
	for (int k = 0; k < count; k++) {
		const struct tensor **name;

		if (n->outputs[k] == NULL) {
			continue;
		}
		name = &e->flow_name[e->flow_root[n->outputs[k]->id]];
		if ((*name)->producer == NULL ||
		    !node_is_carry((*name)->producer)) {
			*name = n->outputs[k];
		}
	}
}

/* Names the place of a branch's results after the value behind the branch, and
 * that of a loop's state after the state in an iteration. */
static void
name_flow(struct entry *e)
{
	const struct graph *g = e->p->graph;

	e->flow_root = plan_flow_roots(g);
	e->flow_name = arena_array(&e->m->arena, const struct tensor *,
				   g->tensors.n + 1);
	e->flow_place = arena_array(&e->m->arena, struct placement *,
				    g->tensors.n + 1);
	for (int i = 0; i < g->tensors.n; i++) {
		e->flow_name[i] = g->tensors.data[i];
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if (node_is_carry(n) || node_ends_if(n)) {
			name_results(e, n, n->n_outputs);
		} else if (node_ends_loop(n)) {
			name_results(e, n, node_loop_end(n).states);
		}
	}
}

const struct expr *
entry_pointer(struct entry *e, const struct kernel *k, struct tensor *t)
{
	const struct placement *at;

	if (e->of_tensor[t->id] != NULL) {
		return e->of_tensor[t->id];
	}
	at = plan_find(&e->p->plan, t);
	if (at == NULL) {
		/* A view that no kernel reads has no place in the memory
		 * plan. */
		struct tensor *root = graph_view_root(e->p->graph, t);

		assert(root != t);
		return entry_pointer(e, k, root);
	}
	switch (at->kind) {
	case PLACE_WORKSPACE:
		e->of_tensor[t->id] = tensor_pointer(e, k, t, at);
		break;
	case PLACE_INPUT:
	case PLACE_OUTPUT:
		assert(at->root != t && e->of_tensor[at->root->id] != NULL);
		e->of_tensor[t->id] = e->of_tensor[at->root->id];
		break;
	default:
		assert(!"a tensor without storage");
	}
	return e->of_tensor[t->id];
}

const struct expr *
entry_read(struct entry *e, const struct kernel *k, struct tensor *t)
{
	const struct expr *pointer = entry_pointer(e, k, t);
	struct memory_plan *plan = &e->p->plan;

	for (int i = 0; i < plan->places.n; i++) {
		struct placement *at = &plan->places.data[i];

		at->read_by_entry |= at->var != NULL &&
				     at->var == pointer->u.var;
	}
	return pointer;
}

static const struct expr *
scratch_pointer(struct entry *e, const struct kernel *k,
		const struct kernel_arg *arg)
{
	const struct placement *at = plan_find_scratch(&e->p->plan, k,
						       arg->buffer);

	assert(at != NULL);
	return workspace_pointer(e,
				 arena_printf(&e->m->arena, "%s_%s", k->name,
					      arg->buffer->name),
				 dtype_of(arg->buffer->type.kind), at);
}

static bool
may_be_none(const struct entry *e, const struct expr *extent)
{
	const struct graph *g = e->p->graph;

	for (int i = 0; i < g->run_sizes.n; i++) {
		const struct var *v = g->run_sizes.data[i].var;

		if (v->min == 0 && expr_uses_var(extent, v) &&
		    (e->some == NULL || !expr_uses_var(e->some, v))) {
			return true;
		}
	}
	return false;
}

/* The statement `launch`, under the condition that the launch has blocks and
 * threads: a device refuses one without. */
static struct stmt *
guarded(struct entry *e, struct stmt *launch)
{
	const struct expr *call = launch->args[0], *some = NULL;

	for (int a = 1; a < 7; a++) {
		const struct expr *n = call->args[a], *one;

		if (may_be_none(e, n)) {
			one = expr_lt(e->m, expr_int(e->m, n->type, 0), n);
			some = some != NULL ? expr_and(e->m, some, one) : one;
		}
	}
	return some == NULL
		       ? launch
		       : stmt_if(e->f, some, stmt_evaluate(e->f, call), NULL);
}

static struct stmt *
guard_launches(struct entry *e, struct stmt *s)
{
	struct stmt_list calls = stmts_of(&e->m->arena, s, STMT_EVALUATE);

	for (int i = 0; i < calls.list.n; i++) {
		struct stmt *launch = calls.list.data[i], *with;

		if (launch->args[0]->kind != EXPR_CALL ||
		    launch->args[0]->u.intrin != INTRIN_LAUNCH) {
			continue;
		}
		with = guarded(e, launch);
		if (launch == s) {
			return with;
		}
		if (with != launch) {
			stmt_replace(e->f, launch, with);
		}
	}
	return s;
}

/* The launches of a kernel's device kernels, with the arguments in place of the
 * parameters. */
static struct stmt *
launch_kernels(struct entry *e, const struct kernel *k,
	       const struct expr *const *args)
{
	int n = k->func->params.n;
	struct var_map map = {
		.from = arena_array(&e->m->arena, struct var *, n + 1),
		.to = arena_copy(&e->m->arena, args,
				 sizeof *args * (size_t)(n + 1)),
		.n = n,
	};
	struct stmt *s = stmt_clone(e->f, k->func->body, true);

	for (int i = 0; i < n; i++) {
		map.from[i] = k->func->params.data[i].var;
	}
	stmt_substitute(e->f, s, &map);
	return guard_launches(e, s);
}

static const struct expr *
weight_pointer(const struct entry *e, const struct kernel_arg *arg)
{
	assert(e->p->weights.data[arg->weight->index] == arg->weight);
	return e->of_weight[arg->weight->index];
}

struct stmt *
entry_call(struct entry *e, const struct kernel *k)
{
	const struct expr **args = arena_exprs(&e->m->arena, k->args.n + 2);
	int n = 0;

	args[n++] = expr_string(e->m, k->func->name);
	if (k->init != NULL) {
		args[n++] = e->p->model->expr;
	}
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];

		switch (arg->kind) {
		case ARG_TENSOR:
			args[n++] = entry_pointer(e, k, arg->tensor);
			break;
		case ARG_WEIGHT:
			if (k->init == NULL) {
				args[n++] = weight_pointer(e, arg);
			}
			break;
		case ARG_SCRATCH:
			args[n++] = scratch_pointer(e, k, arg);
			break;
		case ARG_DIM:
			args[n++] = entry_flow_size(e, arg->var);
			break;
		}
	}
	if (k->device != NULL) {
		return launch_kernels(e, k, args + 1);
	}
	return stmt_evaluate(e->f, expr_call(e->m, INTRIN_CALL_FUNC,
					     dtype_of(DT_VOID), args, n));
}

static void
add_weight_params(struct entry *e)
{
	struct module *m = e->m;
	struct program *p = e->p;

	e->of_weight = arena_exprs(&m->arena, p->weights.n + 1);
	for (int i = 0; i < p->weights.n; i++) {
		struct weight *w = p->weights.data[i];
		struct buffer_spec spec = {
			.name = name_set_add(&e->names, w->name),
			.type = w->buffer->type,
			.ndim = w->buffer->ndim,
			.shape = w->buffer->shape,
			.scope = "const",
		};
		const struct buffer *b = buffer_new(m, &spec);

		func_add_param(e->f, b->data, b);
		e->of_weight[i] = b->data->expr;
	}
}

struct func *
entry_build(struct program *p)
{
	struct graph *g = p->graph;
	struct module *m = g->module;
	struct entry e = { .p = p, .m = m, .f = func_new(m, "run") };
	struct stmt *body;

	name_set_init(&e.names, &m->arena);
	e.names.max_length = NAME_INTERNAL;
	e.names.reserved = p->target->reserved;
	e.names.n_reserved = p->target->n_reserved;
	e.of_tensor = arena_exprs(&m->arena, g->tensors.n + 1);
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		name_set_add(&e.names, k->name);
		if (k->callers.n > 1) {
			name_set_add(&e.names, k->func->name);
		}
		for (int l = 1; k->device != NULL && l < k->device->n_launches;
		     l++) {
			name_set_add(&e.names,
				     k->device->launches[l].kernel->name);
		}
	}
	name_flow(&e);
	add_tensor_params(&e, g->inputs.data, g->inputs.n);
	add_tensor_params(&e, g->outputs.data, g->outputs.n);
	add_weight_params(&e);
	add_workspace(&e);
	for (int i = 0; i < g->dims.n; i++) {
		struct dim_step s = graph_given_dim(g, g->dims.data[i]);

		name_set_add(&e.names, s.given->name);
		name_set_add(&e.names, s.var->name);
		func_add_param(e.f, s.given, NULL);
	}
	if (p->model != NULL) {
		func_add_param(e.f, p->model, NULL);
	}
	entry_choose_checks(p->graph);
	if (!entry_check_formulas(&e) || !entry_find_sizes(&e)) {
		return NULL;
	}
	body = entry_divide_sizes(&e, entry_flow(&e));
	for (int i = e.pointers.n - 1; i >= 0; i--) {
		body = stmt_let(e.f, e.pointers.data[i], e.values.data[i],
				body);
	}
	e.f->body = body;
	return e.f;
}
