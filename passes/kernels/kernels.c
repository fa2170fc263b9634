/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels from fusion groups: joins each group to a function, applies
 * the default schedule, lowers it, and sets the arguments.
 *
 *   group { Conv, Relu }   ->   conv1(x, w, bias, y), lowered TIR */
#include <assert.h>

#include "backend.h"
#include "default_schedule.h"
#include "host_device.h"
#include "identifiers.h"
#include "iterate.h"
#include "kernel_build.h"
#include "layouts.h"
#include "lower.h"
#include "ops.h"
#include "plan.h"
#include "rewrite.h"
#include "trace.h"

static bool
param_is_used(const struct func *f, const struct param *p)
{
	const struct stmt *s;
	bool used;

	if (p->buffer != NULL) {
		return func_reads(f, p->buffer) || func_writes(f, p->buffer);
	}
	used = stmt_uses_var(f->body, p->var);
	for (struct stmt_iter it = stmt_each_of(f->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		for (int d = 0; d < s->u.buffer->ndim && !used; d++) {
			used = expr_uses_var(s->u.buffer->shape[d], p->var);
		}
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		/* The index in memory uses the extents of the inner dimensions,
		 * so a size among them is used. */
		for (int d = 1; b != NULL && d < b->ndim && !used; d++) {
			used = expr_uses_var(b->shape[d], p->var);
		}
	}
	return used;
}

/* The tensor from which the size v is read when the model runs; NULL if the
 * caller gives the size. */
static struct tensor *
size_tensor(const struct graph *g, const struct var *v)
{
	int index;
	struct node *n = graph_run_size(g, v, &index);

	return n != NULL ? n->outputs[0] : NULL;
}

/* Updates the arguments after a pass: parameters may have new buffers (merged
 * dimensions, packed layouts); scalars and scratch come last. Constants that
 * the definition contains (shapes, axes) and unused data are not parameters. */
static void
refresh_args(struct joint *j)
{
	struct module *m = j->b->m;
	struct kernel *k = j->k;
	struct func *f = k->func;
	int n = k->args.n, kept = 0;

	for (int i = 0; i < f->params.n; i++) {
		struct kernel_arg arg = { .kind = ARG_DIM };
		struct param param = f->params.data[i];

		if (i < n) {
			arg = k->args.data[i];
		} else {
			arg.var = param.var;
			arg.size_of = size_tensor(j->b->g, arg.var);
		}
		if (!param_is_used(f, &param)) {
			continue;
		}
		arg.buffer = param.buffer;
		if (arg.weight != NULL) {
			arg.weight->buffer = buffer_of_numbers(m, arg.buffer);
		}
		f->params.data[kept] = param;
		k->args.n = kept++;
		vec_push(&m->arena, &k->args, arg);
	}
	f->params.n = kept;
	k->args.n = kept;
}

/* Is a dimension of t 0, whatever the values of the symbolic dimensions are? */
static bool
has_no_elements(const struct tensor *t)
{
	int64_t size;

	for (int d = 0; d < t->ndim; d++) {
		if (expr_is_int(t->shape[d], &size) && size == 0) {
			return true;
		}
	}
	return false;
}

/* For a kernel that reads at computed indices: an error if a tensor that it
 * reads has no elements. (A read at other indices of such a tensor is never
 * executed.) False after a diagnostic. */
static bool
check_empty(struct joint *j)
{
	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];

		if (arg->tensor != NULL && has_no_elements(arg->tensor)) {
			return diag_error(
				&j->b->m->diags, DIAG_UNSUPPORTED,
				node_place(j->b->g, j->k->group->anchor),
				"it reads elements of '%s', which is empty",
				arg->tensor->name);
		}
	}
	return true;
}

/* -- local arrays that do not fit the stack -- */

/* Makes the last n parameters, which are local arrays that do not fit the
 * stack, scratch arguments, and records their sizes. False after a
 * diagnostic. */
static bool
plan_scratch(struct joint *j, int n)
{
	struct builder *b = j->b;
	struct func *f = j->k->func;

	for (int i = f->params.n - n; i < f->params.n; i++) {
		struct kernel_arg arg = {
			.kind = ARG_SCRATCH,
			.read = true,
			.written = true,
			.buffer = f->params.data[i].buffer,
		};
		int64_t elems;

		if (!buffer_max_elems(arg.buffer, &elems) ||
		    __builtin_mul_overflow(elems,
					   buffer_element_bytes(arg.buffer),
					   &arg.scratch_bytes)) {
			return diag_error(
				&b->m->diags, DIAG_UNKNOWN_SHAPE,
				node_place(b->g, j->k->group->anchor),
				"the size of an intermediate array has no "
				"upper bound; give the symbolic dimensions "
				"bounds with --dim NAME=MIN..MAX");
		}
		vec_push(&b->m->arena, &j->k->args, arg);
	}
	return true;
}

/* -- devices: kernels, and arrays that are live between them */

static bool
split_device(struct joint *j)
{
	const struct target *t = j->b->p->target;
	struct kernel *k = j->k;
	struct device_limits limits = {
		.max_threads = t->max_threads,
		.shared_bytes = t->shared_bytes,
	};
	int n = k->func->params.n;

	k->device = arena_new(&j->b->m->arena, struct host_device);
	if (!lower_split_host_device(j->b->m, k->func, &limits, &j->b->names,
				     k->device)) {
		return false;
	}
	k->func = k->device->host;
	/* the other arrays of the function are scratch memory now */
	k->local_bytes = 0;
	for (int i = 0; i < k->device->n_launches; i++) {
		int64_t bytes = lower_thread_bytes(
			k->device->launches[i].kernel);

		k->local_bytes = bytes > k->local_bytes ? bytes
							: k->local_bytes;
	}
	return plan_scratch(j, k->func->params.n - n);
}

/* -- one group -- */

static void
new_names(const struct builder *b, struct name_set *s)
{
	name_set_init(s, &b->m->arena);
	s->reserved = b->p->target->reserved;
	s->n_reserved = b->p->target->n_reserved;
}

/* Do the layouts a and b store the same element at each place? Their variables
 * may differ. NULL stands for the model's layout. */
static bool
same_layout(struct module *m, const struct index_map *a,
	    const struct index_map *b)
{
	struct var_map vars = { 0 };
	const struct expr **to;

	if (a == NULL || b == NULL) {
		return a == b;
	}
	if (a->n_physical != b->n_physical || a->n_logical != b->n_logical ||
	    (a->in_range == NULL) != (b->in_range == NULL)) {
		return false;
	}
	to = arena_exprs(&m->arena, a->n_physical + 1);
	for (int d = 0; d < a->n_physical; d++) {
		if (a->physical_shape[d] != b->physical_shape[d]) {
			return false;
		}
		to[d] = a->physical[d]->expr;
	}
	vars = (struct var_map){ b->physical, to, b->n_physical };
	for (int d = 0; d < a->n_logical; d++) {
		if (expr_substitute(m, b->to_logical[d], &vars) !=
		    a->to_logical[d]) {
			return false;
		}
	}
	return a->in_range == NULL ||
	       expr_substitute(m, b->in_range, &vars) == a->in_range;
}

/* A weight that already stores the tensor of w in the same layout; if there is
 * no such weight, records w and returns it. */
static struct weight *
same_weight(struct builder *b, struct weight *w)
{
	int last = pointer_map_get(&b->last_weights, w->tensor, -1);

	for (int at = last; at >= 0; at = b->p->weights.data[at]->same_tensor) {
		struct weight *x = b->p->weights.data[at];

		if (x->paired == w->paired &&
		    same_layout(b->m, x->map, w->map)) {
			return x;
		}
	}
	w->same_tensor = last;
	pointer_map_put(&b->last_weights, w->tensor, b->p->weights.n);
	return w;
}

static void
adopt_weights(struct joint *j)
{
	struct builder *b = j->b;
	struct kernel *k = j->k;

	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];
		struct weight *w = arg->weight;

		if (w == NULL) {
			continue;
		}
		arg->weight = same_weight(b, w);
		if (arg->weight != w) {
			continue;
		}
		w->index = b->p->weights.n;
		w->name = name_set_add(&b->weight_names,
				       weight_stem(b->g, k, arg));
		w->reader = k;
		w->role = arg->buffer->name;
		if (!buffer_const_elems(w->buffer, &w->elems)) {
			w->elems = 0;
		}
		w->bytes = w->elems * dtype_bytes(w->buffer->type);
		vec_push(&b->m->arena, &b->p->weights, w);
	}
}

/* A text for the name of a group's kernel; name_set_add makes it unique. If the
 * name is taken, as often for several nodes of a layer, the operator is added.
 * A node without a name is named after its neighbour. */
static const char *
free_stem(struct builder *b, const struct group *group)
{
	const char *stem = kernel_stem(b->g, group), *neighbour;
	const char *word = operator_word(&b->m->arena, group->anchor);

	if (name_set_takes(&b->names, stem)) {
		return stem;
	}
	neighbour = kernel_neighbour(b->g, group);
	if (neighbour != NULL && name_set_takes(&b->names, neighbour)) {
		return neighbour;
	}
	return strcmp(stem, word) == 0
		       ? stem
		       : arena_printf(&b->m->arena, "%s_%s", stem, word);
}

static const char by_hand[] = "written by hand";

/* The trace of a schedule as one line: "split(i, [None, 4]);
 * vectorize(i_i)". */
static const char *
trace_words(struct module *m, const struct sched *s)
{
	const char *text = "";

	for (int i = 0; i < s->trace.n; i++) {
		const struct sched_step *step = &s->trace.data[i];

		if (!step->primitive->is_query) {
			text = arena_printf(&m->arena, "%s%s%s", text,
					    text[0] ? "; " : "", step->text);
		}
	}
	return text[0] ? text : by_hand;
}

/* Lets the rules schedule the kernel, which also chooses the layouts of
 * constants, then calls the hook after_rules. */
static bool
schedule_after_rules(struct builder *b, struct kernel *k, struct sched *out)
{
	if (!default_schedule(k, b->p->target, b->m, out) ||
	    !b->hooks->after_rules(b->hooks->ctx, k->name, k->func)) {
		return false;
	}
	k->schedule = by_hand;
	if (out != NULL) {
		/* the trace describes a program that the hook has replaced, so
		 * it is removed */
		out->trace.n = 0;
	}
	return true;
}

/* Schedules with the hook `schedule`, or, if it leaves the kernel alone, with
 * the rules. */
static bool
schedule(struct builder *b, struct kernel *k, struct sched *out)
{
	const char *words = NULL;
	struct sched s;

	if (b->hooks == NULL || b->hooks->schedule == NULL) {
		return default_schedule(k, b->p->target, b->m, out);
	}
	sched_init(&s, k->func);
	sched_for_kernel(&s, k, b->p->target);
	switch (b->hooks->schedule(b->hooks->ctx, k, &s, &words)) {
	case HOOK_SCHEDULE_NONE:
		return default_schedule(k, b->p->target, b->m, out);
	case HOOK_SCHEDULE_AFTER:
		return schedule_after_rules(b, k, out);
	case HOOK_SCHEDULE_FAILED:
		return false;
	case HOOK_SCHEDULE_DONE:
		break;
	}
	func_commit(k->func);
	k->schedule = words != NULL ? words : trace_words(b->m, &s);
	if (out != NULL) {
		*out = s;
	}
	return sched_adopt_layouts(&s, k);
}

void
kernel_note_device(const struct target *target, struct func *f)
{
	if (target_wide_bytes(target) > 0) {
		f->facts.wide_bytes = target_wide_bytes(target);
	}
	if (target->warp_size > 1) {
		f->facts.warp_size = target->warp_size;
	}
	if (target->shared_align_bytes > 0) {
		f->facts.shared_align_bytes = target->shared_align_bytes;
	}
	if (target->box_align_bytes > 0) {
		f->facts.box_align_bytes = target->box_align_bytes;
	}
}

void
kernel_note_vectors(const struct target *target, struct func *f)
{
	struct target_facts *facts = &f->facts;

	/* Without vectors in the emitted code, vectorization is left to the C
	 * compiler. */
	if (target_has_vectors(target)) {
		facts->has_vectors = true;
		facts->vectors = target->vectors;
		facts->byte_vectors = target->byte_vectors;
		facts->fmax_vectors = target->fmax_vectors;
		facts->half_vectors = target->half_vectors;
	}
	facts->vector_params = target->vectors.n > 0;
	kernel_note_device(target, f);
}

/* Builds the function of the group, without a schedule. False after a
 * diagnostic. */
static bool
join_group(struct builder *b, struct group *group, struct joint *j)
{
	struct kernel *k = arena_new(&b->m->arena, struct kernel);

	*j = (struct joint){ .b = b, .k = k };
	k->group = group;
	new_names(b, &j->names);
	if (group->region != NULL) {
		k->name = name_set_add(&b->names, group->region->name);
		k->title = region_title(b->g, group->region);
		return join_region(j);
	}
	k->name = name_set_add(&b->names, free_stem(b, group));
	k->title = kernel_title(b->g, group);
	if (!kernel_join(j)) {
		return false;
	}
	kernel_place_elements(b->m, k);
	kernel_count(k);
	return true;
}

/* Finishes the kernel of a backend's region, which has neither a schedule nor
 * loops. */
static void
finish_region(struct joint *j)
{
	kernel_measure(j->k);
	adopt_weights(j);
	vec_push(&j->b->m->arena, &j->b->p->kernels, j->k);
}

/* Moves the note PARTITION_COPIES from the function to the kernel, for its
 * comment: the note has names of loops, which may differ in functions that are
 * merged. */
static void
move_copies_note(struct kernel *k)
{
	const char *copies = note_text(func_note(k->func, PARTITION_COPIES));

	if (copies != NULL) {
		k->copies = copies;
		func_set_note(k->func, PARTITION_COPIES, NULL);
	}
}

/* Prepares the scheduled function for lowering: facts of the target, stores of
 * halos. */
static void
note_for_lowering(struct program *p, struct kernel *k)
{
	kernel_note_vectors(p->target, k->func);
	layouts_write_halos(p->graph->module, k);
}

/* Schedules and lowers the kernel's function. False after a diagnostic. */
static bool
lower_kernel(struct joint *joint)
{
	struct builder *b = joint->b;
	struct kernel *k = joint->k;
	double start = hooks_start(b->hooks);

	if (!schedule(b, k, NULL)) {
		return false;
	}
	hooks_took(b->hooks, "schedule", start);
	if (b->hooks != NULL && b->hooks->after_func != NULL) {
		b->hooks->after_func(b->hooks->ctx, "schedule", k->func);
	}
	note_for_lowering(b->p, k);
	if (b->p->target->max_threads > 0) {
		kernel_note_own_elements(joint);
	}
	return lower_func(k->func, b->hooks);
}

/* Gives the arrays of a joined kernel the layouts that were chosen, before its
 * loops are scheduled. */
static void
apply_layouts(const struct builder *b, struct kernel *k)
{
	layouts_apply(b->m, k);
	layouts_reduce_columns(b->m, k, b->p->target);
	layouts_widen_rows(b->m, k, b->p->target);
	layouts_copy_borders(b->m, k, b->p->target);
}

static bool
finish_kernel(struct joint *joint)
{
	struct builder *b = joint->b;
	struct module *m = b->m;
	struct kernel *k = joint->k;

	if (k->group->region != NULL) {
		finish_region(joint);
		return true;
	}
	apply_layouts(b, k);
	if (!kernel_take_lowered(joint)) {
		if (!lower_kernel(joint)) {
			return false;
		}
		kernel_keep_lowered(joint);
	}
	move_copies_note(k);
	refresh_args(joint);
	if (!check_empty(joint)) {
		return false;
	}
	kernel_store_in_place(joint);
	if (b->p->target->max_threads > 0) {
		kernel_measure(k);
		if (!split_device(joint)) {
			return false;
		}
	} else {
		if (!plan_scratch(joint,
				  lower_scratch(k->func,
						b->p->target
							->stack_limit_bytes))) {
			return false;
		}
		kernel_measure(k);
		vec_push(&m->arena, &m->funcs, k->func);
	}
	adopt_weights(joint);
	vec_push(&m->arena, &b->p->kernels, k);
	return true;
}

/* -- all groups -- */

/* Lists the groups of each node by its id: list[first[id]..first[id + 1]). */
static void
list_groups(struct builder *b)
{
	struct graph *g = b->g;
	struct arena *a = &b->m->arena;
	int *fill = arena_array(a, int, g->next_node_id + 1), all = 0;

	b->first_group = arena_array(a, int, g->next_node_id + 2);
	b->mark = arena_array(a, int, g->groups.n + 1);
	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];

		assert(group->id == i);
		for (int k = 0; k < group->nodes.n; k++) {
			fill[group->nodes.data[k]->id]++;
		}
	}
	for (int id = 0; id <= g->next_node_id; id++) {
		b->first_group[id] = all;
		all += fill[id];
		fill[id] = b->first_group[id];
	}
	b->first_group[g->next_node_id + 1] = all;
	b->group_list = arena_array(a, struct group *, all + 1);
	for (int i = 0; i < g->groups.n; i++) {
		struct group *group = g->groups.data[i];

		for (int k = 0; k < group->nodes.n; k++) {
			int id = group->nodes.data[k]->id;

			b->group_list[fill[id]++] = group;
		}
	}
}

/* Are all results of the group that other groups read without elements? False
 * also if no result is empty, which is tested first, because finding readers
 * takes time. */
static bool
has_empty_results(const struct builder *b, const struct group *group)
{
	bool any = false;

	for (int pass = 0; pass < 2 && (pass == 0 || any); pass++) {
		for (int i = 0; i < group->nodes.n; i++) {
			const struct node *node = group->nodes.data[i];

			for (int k = 0; k < node->n_outputs; k++) {
				const struct tensor *t = node->outputs[k];

				if (t == NULL) {
					continue;
				}
				any |= has_no_elements(t);
				if (pass == 1 && !has_no_elements(t) &&
				    group_makes(b, group, t)) {
					return false;
				}
			}
		}
	}
	return any;
}

/* The number of characters that are left free for prefixes and suffixes of
 * names. */
enum { NAME_ROOM = 8 };

/* Builds all kernels in the order of the groups. False after a diagnostic. */
static bool
build_kernels(struct graph *g, const struct target *target,
	      const struct pass_hooks *hooks, struct program *out,
	      struct builder *b)
{
	struct module *m = g->module;
	struct joint *joints;
	struct kernel **kernels;
	int n = 0;

	*b = (struct builder){ .p = out, .g = g, .m = m, .hooks = hooks };
	memset(out, 0, sizeof *out);
	out->graph = g;
	out->target = target;
	new_names(b, &b->names);
	new_names(b, &b->weight_names);
	b->names.max_length = NAME_INTERNAL - NAME_ROOM;
	b->weight_names.max_length = NAME_INTERNAL - NAME_ROOM;
	pointer_map_init(&b->last_weights, &m->arena);
	list_groups(b);
	b->reuse = kernel_reuse_new(b);
	joints = arena_array(&m->arena, struct joint, g->groups.n + 1);
	kernels = arena_array(&m->arena, struct kernel *, g->groups.n + 1);
	for (int i = 0; i < g->groups.n; i++) {
		if (g->groups.data[i]->is_view ||
		    g->groups.data[i]->is_control ||
		    has_empty_results(b, g->groups.data[i])) {
			continue;
		}
		if (!quota_check_memory(m,
					node_place(g,
						   g->groups.data[i]->anchor),
					0) ||
		    !join_group(b, g->groups.data[i], &joints[n])) {
			return false;
		}
		kernels[n] = joints[n].k;
		n++;
	}
	layouts_choose(out, kernels, n);
	for (int i = 0; i < n; i++) {
		if (!finish_kernel(&joints[i])) {
			return false;
		}
	}
	states_finish(out);
	return true;
}

/* Does a kernel overwrite each loop state that fuse_loops.c has given one place
 * (element_of NULL)? If one cannot be overwritten, every state gets two places,
 * which are used in turns. */
static bool
states_are_in_place(const struct program *p)
{
	const struct graph *g = p->graph;
	int states = 0, stored = 0;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		states += node_is_carry(n) && n->outputs[0]->element_of == NULL;
	}
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			const struct tensor *t = k->args.data[a].in_place;

			stored += t != NULL && t->producer != NULL &&
				  node_is_control(t->producer);
		}
	}
	return states == stored;
}

static void
note_workspace(struct graph *g)
{
	for (int i = 0; i < g->inputs.n; i++) {
		g->inputs.data[i]->in_workspace =
			g->settings->inputs_in_workspace;
	}
	for (int i = 0; i < g->outputs.n; i++) {
		g->outputs.data[i]->in_workspace =
			g->settings->outputs_in_workspace;
	}
}

bool
program_build(struct graph *g, const struct target *target,
	      const struct pass_hooks *hooks, struct program *out)
{
	int n_funcs = g->module->funcs.n;
	struct builder b;
	double start;

	states_detach(g);
	note_workspace(g);
	if (!build_kernels(g, target, hooks, out, &b)) {
		return false;
	}
	if (!states_are_in_place(out)) {
		g->module->funcs.n = n_funcs;
		g->states_take_turns = true;
		if (!graph_fuse(g) ||
		    !build_kernels(g, target, hooks, out, &b)) {
			return false;
		}
	}
	start = hooks_start(hooks);
	plan_order(out);
	if (!plan_memory(out)) {
		return false;
	}
	kernels_align(out);
	kernels_note_spaces(out);
	kernels_merge(&b);
	hooks_took(hooks, "plan", start);
	out->traced = hooks->traced;
	out->entry = entry_build(out);
	return out->entry != NULL;
}

/* -- showing a kernel's schedule */

/* Builds a kernel like k again, without schedule; false after a diagnostic. */
static bool
join_again(struct builder *b, const struct kernel *k, struct joint *out)
{
	struct kernel *copy = arena_new(&b->m->arena, struct kernel);

	*out = (struct joint){ .b = b, .k = copy };
	copy->group = k->group;
	copy->name = k->name;
	new_names(b, &out->names);
	if (k->group->region != NULL) {
		return diag_error(
			&b->m->diags, DIAG_UNSUPPORTED,
			node_place(b->g, k->group->anchor),
			"%s is computed by backend %s: it has no loops to "
			"show or to schedule",
			k->name, k->group->region->backend->name);
	}
	if (!kernel_join(out)) {
		return false;
	}
	kernel_place_elements(b->m, copy);
	apply_layouts(b, copy);
	return true;
}

struct func *
kernel_unscheduled(struct program *p, const struct kernel *k)
{
	struct builder b = { .p = p, .g = p->graph, .m = p->graph->module };
	struct joint j;

	list_groups(&b);
	return join_again(&b, k, &j) ? j.k->func : NULL;
}

bool
kernel_schedule(struct program *p, const struct kernel *k,
		const struct pass_hooks *hooks, struct sched *out)
{
	struct builder b = {
		.p = p, .g = p->graph, .m = p->graph->module, .hooks = hooks
	};
	struct joint j;

	list_groups(&b);
	return join_again(&b, k, &j) && schedule(&b, j.k, out);
}

bool
kernel_again(struct program *p, const struct kernel *k,
	     struct kernel_again *out)
{
	struct builder b = { .p = p, .g = p->graph, .m = p->graph->module };
	struct kernel before;
	struct joint j;

	list_groups(&b);
	if (!join_again(&b, k, &j)) {
		return false;
	}
	before = *j.k;
	before.func = func_clone(j.k->func, k->name);
	layouts_write_halos(b.m, &before);
	*out = (struct kernel_again){ j.k, before.func,
				      arena_new(&b.m->arena, struct sched) };
	return true;
}

bool
kernel_again_schedule(struct program *p, struct kernel_again *x,
		      struct choices *choices)
{
	return default_schedule_chosen(x->kernel, p->target, p->graph->module,
				       choices, x->sched);
}

bool
kernel_again_lower(struct program *p, struct kernel_again *x)
{
	note_for_lowering(p, x->kernel);
	x->kernel->func->facts.vector_params = false;
	return lower_func(x->kernel->func, NULL);
}

bool
kernel_again_observed(struct program *p, struct kernel_again *x,
		      const struct pass_hooks *hooks)
{
	struct builder b = {
		.p = p, .g = p->graph, .m = p->graph->module, .hooks = hooks
	};

	if (!schedule(&b, x->kernel, x->sched)) {
		return false;
	}
	hooks->after_func(hooks->ctx, "schedule", x->kernel->func);
	note_for_lowering(p, x->kernel);
	return lower_func(x->kernel->func, hooks);
}

bool
kernel_again_replay(struct program *p, struct kernel_again *x,
		    const struct sched_step *steps, int n)
{
	sched_init(x->sched, x->kernel->func);
	sched_for_kernel(x->sched, x->kernel, p->target);
	if (!sched_replay(x->sched, steps, n)) {
		return false;
	}
	func_commit(x->kernel->func);
	return sched_adopt_layouts(x->sched, x->kernel);
}

bool
kernel_explain(struct program *p, const struct kernel *k, struct strbuf *out)
{
	struct builder b = { .p = p, .g = p->graph, .m = p->graph->module };
	struct strbuf rules;
	struct joint j;
	bool good;

	list_groups(&b);
	strbuf_init(&rules);
	good = join_again(&b, k, &j) &&
	       default_schedule_explained(j.k, p->target, b.m, &rules);
	if (good) {
		strbuf_printf(out, "%s: %s\n%s", k->name, j.k->schedule,
			      rules.data);
	}
	strbuf_release(&rules);
	return good;
}
