/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the storages: joins tensors that share bytes, and computes live ranges
 * over the kernels. */
#include "storages.h"

#include <stdlib.h>

/* A union-find structure over tensor ids: parent[id] is a tensor that shares
 * its bytes, inside[id] the offset in bytes within the parent. */
struct joined {
	int *parent;
	int64_t *inside;
};

static int
find(const struct joined *j, int t, int64_t *offset)
{
	*offset = 0;
	while (j->parent[t] != t) {
		*offset += j->inside[t];
		t = j->parent[t];
	}
	return t;
}

/* Joins t to the tensors that share the bytes of `whole`; t starts at byte
 * `offset` of `whole`. */
static void
join(struct joined *j, const struct tensor *t, const struct tensor *whole,
     int64_t offset)
{
	int64_t in_t, in_whole;
	int a = find(j, t->id, &in_t), b = find(j, whole->id, &in_whole);

	if (a != b) {
		j->parent[a] = b;
		j->inside[a] = in_whole + offset - in_t;
	}
}

static void
join_views(const struct graph *g, struct joined *j)
{
	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];
		const struct node *n = group->nodes.data[0];

		if (group->is_view && n->inputs[0]->part_of != n->outputs[0]) {
			join(j, n->outputs[0], n->inputs[0], 0);
		}
	}
	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->part_of) {
			join(j, t, t->part_of, t->part_offset_bytes);
		}
	}
}

/* Joins tensors that share a storage: the results of both branches of an If
 * with the result of the If; and the tensors for a state of a loop, which are
 * its values before the loop, in an iteration, for the next iteration and after
 * the loop. */
static void
join_control(const struct graph *g, struct joined *j)
{
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		int first, count;

		if (node_ends_if(n)) {
			first = 1;
			count = (n->n_inputs - 1) / 2;
		} else if (node_ends_loop(n)) {
			first = node_loop_end(n).first;
			count = node_loop_end(n).states;
		} else {
			if (node_is_carry(n) &&
			    n->outputs[0]->element_of == NULL) {
				join(j, n->outputs[0], n->inputs[0], 0);
			}
			continue;
		}
		for (int k = 0; k < count; k++) {
			const struct tensor *a = n->inputs[first + k];
			const struct tensor *b = n->inputs[first + count + k];

			if (a->element_of != NULL) {
				continue;
			}
			join(j, b, a, 0);
			if (n->outputs[k] != NULL) {
				join(j, n->outputs[k], a, 0);
			}
		}
	}
}

int *
plan_flow_roots(const struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct joined j = { arena_array(a, int, g->tensors.n + 1),
			    arena_array(a, int64_t, g->tensors.n + 1) };
	int64_t inside;

	for (int i = 0; i < g->tensors.n; i++) {
		j.parent[i] = i;
	}
	join_control(g, &j);
	for (int i = 0; i < g->tensors.n; i++) {
		j.parent[i] = find(&j, i, &inside);
	}
	return j.parent;
}

static void
join_in_place(const struct program *p, struct joined *j)
{
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			const struct kernel_arg *arg = &k->args.data[a];

			if (arg->kind == ARG_TENSOR && arg->in_place) {
				join(j, arg->tensor, arg->in_place, 0);
			}
		}
	}
}

static void
join_states(const struct graph *g, struct joined *j)
{
	for (int i = 0; i < g->states.n; i++) {
		join(j, g->states.data[i].kept, g->states.data[i].before, 0);
	}
}

static bool
unbounded(struct program *p, const char *name)
{
	struct diag_place place = { .file = p->graph->file, .item = name };

	return diag_error(&p->graph->module->diags, DIAG_UNKNOWN_SHAPE, place,
			  "the size of '%s' has no upper bound; give the "
			  "symbolic dimensions bounds with "
			  "--dim NAME=MIN..MAX",
			  name);
}

static bool
buffer_bytes(struct program *p, const struct kernel_arg *arg, int64_t *bytes)
{
	int64_t elems, stored = 0;

	*bytes = 0;
	if (arg->buffer) {
		if (!buffer_max_elems(arg->buffer, &elems) ||
		    __builtin_mul_overflow(elems,
					   buffer_element_bytes(arg->buffer),
					   bytes)) {
			return unbounded(p, arg->tensor ? arg->tensor->name
							: arg->buffer->name);
		}
	}
	if (arg->tensor) {
		if (!tensor_max_elems(arg->tensor, &stored) ||
		    __builtin_mul_overflow(stored,
					   dtype_bytes(arg->tensor->type),
					   &stored)) {
			return unbounded(p, arg->tensor->name);
		}
	}
	*bytes = stored > *bytes ? stored : *bytes;
	return true;
}

static enum place_kind
kind_of(const struct tensor *t)
{
	if (t->is_state || t->in_workspace) {
		return PLACE_WORKSPACE;
	}
	if (t->is_input) {
		return PLACE_INPUT;
	}
	if (t->is_output) {
		return PLACE_OUTPUT;
	}
	return tensor_is_constant(t) ? PLACE_WEIGHT : PLACE_WORKSPACE;
}

/* Adds tensor t to a storage: sets the storage's root, type and kind to those
 * of t if t is the storage's first tensor, or its first tensor that is not in
 * the workspace (an input, output or constant). */
static void
set_storage_kind(struct storage *s, struct tensor *t)
{
	enum place_kind kind = kind_of(t);

	if (!s->root ||
	    (kind != PLACE_WORKSPACE && s->kind == PLACE_WORKSPACE)) {
		s->root = t;
		s->type = dtype_stored(t->type);
		s->kind = kind;
	}
}

static int
storage_at(struct storages *s, const struct joined *j, struct graph *g,
	   struct tensor *t)
{
	int64_t inside;
	int root = find(j, t->id, &inside);

	if (s->of[root] < 0) {
		struct storage fresh = { .kind = PLACE_NONE, .first = -1 };

		s->of[root] = s->list.n;
		vec_push(s->arena, &s->list, fresh);
		set_storage_kind(&s->list.data[s->of[root]],
				 g->tensors.data[root]);
	}
	s->of[t->id] = s->of[root];
	s->inside[t->id] = inside;
	set_storage_kind(&s->list.data[s->of[root]], t);
	return s->of[root];
}

static void
touch(struct arena *a, struct storage *s, int kernel, int64_t start_bytes,
      int64_t end_bytes, int64_t align_bytes)
{
	struct piece use = { start_bytes, end_bytes, kernel, kernel };

	vec_push(a, &s->touched, use);
	if (s->first < 0) {
		s->first = kernel;
	}
	s->last = kernel;
	s->bytes = end_bytes > s->bytes ? end_bytes : s->bytes;
	s->align_bytes = align_bytes > s->align_bytes ? align_bytes
						      : s->align_bytes;
}

static bool
touch_args(struct program *p, struct storages *s, const struct joined *j,
	   int index)
{
	struct kernel *k = p->kernels.data[index];

	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		struct storage fresh = { .kind = PLACE_WORKSPACE,
					 .scratch_of = k,
					 .first = -1 };
		int64_t bytes, align, start = 0;
		int at;

		if (arg->kind == ARG_DIM ||
		    (arg->kind == ARG_WEIGHT && !arg->tensor)) {
			continue;
		}
		if (!buffer_bytes(p, arg, &bytes)) {
			return false;
		}
		align = arg->buffer ? arg->buffer->align_bytes : 0;
		if (arg->buffer && align < dtype_bytes(arg->buffer->type)) {
			align = dtype_bytes(arg->buffer->type);
		}
		if (arg->kind == ARG_SCRATCH) {
			at = s->list.n;
			fresh.scratch = arg->buffer;
			fresh.type = dtype_of(arg->buffer->type.kind);
			vec_push(s->arena, &s->list, fresh);
			bytes = arg->scratch_bytes;
		} else {
			at = storage_at(s, j, p->graph, arg->tensor);
			start = s->inside[arg->tensor->id];
			if (bytes > s->bytes[arg->tensor->id]) {
				s->bytes[arg->tensor->id] = bytes;
			}
		}
		touch(s->arena, &s->list.data[at], index, start, start + bytes,
		      align);
	}
	return true;
}

/* -- loops: a tensor that an iteration keeps for a later one is live in the
 * whole loop */

static void
extend(struct arena *a, struct storage *s, int from, int to)
{
	struct piece begin = { 0, s->bytes, from, from };
	struct piece end = { 0, s->bytes, to, to };

	vec_push(a, &s->touched, begin);
	vec_push(a, &s->touched, end);
	s->first = from < s->first ? from : s->first;
	s->last = to > s->last ? to : s->last;
}

static bool
is_next_state(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (node_ends_loop(t->uses.data[i].node)) {
			return true;
		}
	}
	return false;
}

/* Does each iteration of the loop compute t before it reads t? */
static bool
is_local(struct graph *g, const struct tensor *t, int loop)
{
	const struct node *n = t->producer;

	return n != NULL && !node_is_carry(n) && !is_next_state(t) &&
	       graph_body_within(g, n->body, loop);
}

/* The first and the last kernel of a body (a branch or a loop) and of the
 * bodies inside of it; from > to if they have no kernel. */
struct body_range {
	int from, to;
};

/* Extends the live range of t to the first kernel of the body, because the
 * entry function reads t before it enters the body. If t is computed outside of
 * a loop around the body, each iteration reads t again, so that t is live to
 * the loop's end. */
static void
extend_read(struct graph *g, struct storages *s, const struct tensor *t,
	    int body, const struct body_range *ranges)
{
	int at = ranges[body].from;
	struct storage *x;

	while (t->element_of != NULL) {
		t = t->element_of;
	}
	if (s->of[t->id] < 0) {
		return;
	}
	for (int b = g->bodies.data[body].parent; b > 0;
	     b = g->bodies.data[b].parent) {
		if (g->bodies.data[b].is_loop &&
		    !(t->producer != NULL && is_local(g, t, b))) {
			at = ranges[b].to;
		}
	}
	x = &s->list.data[s->of[t->id]];
	extend(s->arena, x, x->first, at > x->last ? at : x->last);
}

static void
extend_over(struct program *p, struct storages *s, int body,
	    const struct body_range *ranges)
{
	struct graph *g = p->graph;
	const struct graph_body *b = &g->bodies.data[body];
	int from = ranges[body].from, to = ranges[body].to;

	extend_read(g, s, b->end->inputs[0], body, ranges);
	for (int i = from; b->is_loop && i <= to; i++) {
		const struct kernel *k = p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			const struct kernel_arg *arg = &k->args.data[a];
			int at = arg->tensor != NULL ? s->of[arg->tensor->id]
						     : -1;

			if (arg->kind == ARG_TENSOR && at >= 0 &&
			    !is_local(g, arg->tensor, body)) {
				extend(s->arena, &s->list.data[at], from, to);
			}
		}
	}
}

/* Extends the live ranges of the tensors from which the entry function reads
 * sizes: up to the last kernel that writes a part of the tensor, or, if the
 * tensor is the result of an If, up to the last kernel of both branches,
 * because the sizes are read after these kernels. */
static void
extend_sizes(const struct graph *g, struct storages *s,
	     const struct body_range *ranges)
{
	bool *sized = arena_array(s->arena, bool, s->list.n + 1);

	for (int i = 0; i < g->run_sizes.n; i++) {
		const struct node *n = g->run_sizes.data[i].read_by;
		int at = n != NULL ? s->of[n->inputs[0]->id] : -1;

		if (at >= 0 && !sized[at]) {
			struct storage *x = &s->list.data[at];

			sized[at] = true;
			extend(s->arena, x, x->first, x->last);
		}
	}
	for (int b = 1; b < g->bodies.n && g->run_sizes.n > 0; b++) {
		const struct node *end = g->bodies.data[b].end;

		for (int k = 0; end && node_ends_if(end) && k < end->n_outputs;
		     k++) {
			const struct tensor *t = end->outputs[k];
			int at = t != NULL ? s->of[t->id] : -1;
			struct storage *x = at >= 0 ? &s->list.data[at] : NULL;

			if (x != NULL && sized[at] && ranges[b].to > x->last) {
				extend(s->arena, x, x->first, ranges[b].to);
			}
		}
	}
}

/* Compares uses by time, then by position. */
static int
compare_uses(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->first != b->first) {
		return a->first < b->first ? -1 : 1;
	}
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	return a->end < b->end ? -1 : a->end > b->end;
}

static void
extend_lives(struct program *p, struct storages *s)
{
	struct graph *g = p->graph;
	struct body_range *ranges = arena_array(s->arena, struct body_range,
						g->bodies.n + 1);

	for (int b = 1; b < g->bodies.n; b++) {
		ranges[b] = (struct body_range){ p->kernels.n, -1 };
	}
	for (int i = 0; i < p->kernels.n && g->bodies.n > 0; i++) {
		for (int b = kernel_body(p->kernels.data[i]); b > 0;
		     b = g->bodies.data[b].parent) {
			ranges[b].from = i < ranges[b].from ? i
							    : ranges[b].from;
			ranges[b].to = i;
		}
	}
	for (int b = 1; b < g->bodies.n; b++) {
		if (g->bodies.data[b].end != NULL && ranges[b].to >= 0) {
			extend_over(p, s, b, ranges);
		}
	}
	extend_sizes(g, s, ranges);
	for (int i = 0; i < s->list.n; i++) {
		qsort(s->list.data[i].touched.data,
		      (size_t)s->list.data[i].touched.n,
		      sizeof *s->list.data[i].touched.data, compare_uses);
	}
}

/* Extends the live ranges of the model's states: they are live from one run to
 * the next. */
static void
extend_states(const struct program *p, struct storages *s)
{
	const struct graph *g = p->graph;

	for (int i = 0; i < g->states.n; i++) {
		const struct graph_state *state = &g->states.data[i];
		int at = s->of[state->before->id];
		struct storage *x;

		at = at >= 0 ? at : s->of[state->kept->id];
		if (at >= 0) {
			x = &s->list.data[at];
			extend(s->arena, x, 0, p->kernels.n - 1);
			qsort(x->touched.data, (size_t)x->touched.n,
			      sizeof *x->touched.data, compare_uses);
		}
	}
}

/* Extends the live range of the storage of t, if t is in the workspace, so that
 * it includes the given kernel. */
static void
extend_to(struct storages *s, const struct tensor *t, int kernel)
{
	int at = s->of[t->id];
	struct storage *x;

	if (!t->in_workspace || at < 0) {
		return;
	}
	x = &s->list.data[at];
	vec_push(s->arena, &x->touched,
		 ((struct piece){ 0, x->bytes, kernel, kernel }));
	x->first = kernel < x->first ? kernel : x->first;
	x->last = kernel > x->last ? kernel : x->last;
	qsort(x->touched.data, (size_t)x->touched.n, sizeof *x->touched.data,
	      compare_uses);
}

/* Extends the live ranges of inputs that the caller stores in the workspace
 * before a run, and of outputs that it reads there after the run. */
static void
extend_interface(const struct program *p, struct storages *s)
{
	const struct graph *g = p->graph;

	for (int i = 0; i < g->inputs.n; i++) {
		extend_to(s, g->inputs.data[i], 0);
	}
	for (int i = 0; i < g->outputs.n; i++) {
		extend_to(s, g->outputs.data[i], p->kernels.n - 1);
	}
}

bool
storages_find(struct program *p, struct storages *s)
{
	struct graph *g = p->graph;
	struct joined j;

	*s = (struct storages){ .arena = &g->module->arena,
				.n_tensors = g->tensors.n };
	s->of = arena_array(s->arena, int, g->tensors.n + 1);
	s->inside = arena_array(s->arena, int64_t, g->tensors.n + 1);
	s->bytes = arena_array(s->arena, int64_t, g->tensors.n + 1);
	j.parent = arena_array(s->arena, int, g->tensors.n + 1);
	j.inside = arena_array(s->arena, int64_t, g->tensors.n + 1);
	for (int i = 0; i < g->tensors.n; i++) {
		g->tensors.data[i]->id = i;
		j.parent[i] = i;
		s->of[i] = -1;
	}
	join_views(g, &j);
	join_control(g, &j);
	join_in_place(p, &j);
	join_states(g, &j);
	for (int i = 0; i < p->kernels.n; i++) {
		if (!touch_args(p, s, &j, i)) {
			return false;
		}
	}
	/* Tensors that no kernel has as an argument: views, concatenations,
	 * results of branches and loops. */
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];
		int64_t inside;
		int root = find(&j, i, &inside);

		if (s->of[i] < 0 && s->of[root] >= 0) {
			storage_at(s, &j, g, t);
		}
	}
	extend_lives(p, s);
	extend_states(p, s);
	extend_interface(p, s);
	for (int i = 0; i < s->list.n; i++) {
		storage_find_pieces(s->arena, &s->list.data[i]);
	}
	return true;
}

bool
storage_counts(const struct storage *s, const struct dtype *only)
{
	return s->kind == PLACE_WORKSPACE &&
	       (only == NULL || dtype_equal(s->type, *only));
}

int64_t
storages_bound(const struct storages *s, int n_kernels,
	       const struct dtype *only)
{
	int64_t *change = arena_array(s->arena, int64_t, n_kernels + 2);
	int64_t sum = 0, most = 0;

	for (int i = 0; i < s->list.n; i++) {
		const struct storage *x = &s->list.data[i];

		for (int k = 0; k < x->pieces.n; k++) {
			const struct piece *piece = &x->pieces.data[k];

			if (storage_counts(x, only)) {
				change[piece->first] += piece->end -
							piece->start;
				change[piece->last + 1] -= piece->end -
							   piece->start;
			}
		}
	}
	for (int k = 0; k < n_kernels; k++) {
		sum += change[k];
		most = sum > most ? sum : most;
	}
	return most;
}
