/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the kernels for a lower peak of live memory: a beam search over sets
 * of executed kernels. Of two orders of the same set, the one with the lower
 * peak is kept. Of all sets with the same number of kernels, those with the
 * lowest peak are kept, and, if peaks are equal, those with the fewest live
 * bytes. The kernels keep their given order if the peak does not become lower,
 * or if there are thousands of kernels: the time of the search grows with the
 * square of their number. */
#include "plan.h"

#include "storages.h"

#include <stdlib.h>

#define MAX_WIDTH 128
#define MAX_WORK 60000000LL

/* A set of kernels that have run, with the best order that was found for
 * running them. */
struct state {
	uint64_t hash; /* the hash of the set of kernels that have run */
	/* peak: the most bytes that were live at the same time so far; live:
	 * the bytes that are live after `kernel` */
	int64_t peak, live;
	/* the index of the state before `kernel` ran, in the list of all
	 * states */
	int parent;
	int kernel; /* the kernel that ran last */
	/* by kernel: the number of kernels whose results it needs and that have
	 * not run; -1 if the kernel itself has run */
	int *waiting;
	/* by storage: the number of its users that have not run: kernels, and
	 * the caller if it reads an output in this storage */
	int *left;
};

struct candidate {
	uint64_t hash;
	int64_t peak, live;
	int parent, kernel;
};

typedef VEC(int) int_vec;

struct order {
	struct program *p;
	struct arena *arena;
	struct storages s;
	int n;       /* the number of kernels */
	int *writer; /* by tensor id: the kernel that writes it, or -1 */
	/* by tensor id: 1 + the kernel to which the tensor's producers were
	 * added last */
	int *added_for;
	struct pointer_map sizes; /* of graph_number_sizes */
	/* by kernel: the kernels that must run before it, each listed once,
	 * because it reads their results or relies on sizes that they
	 * compute */
	int_vec *before;
	int_vec *after;
	/* by kernel: the storages in the workspace that the kernel reads or
	 * writes */
	int_vec *touched;
	int64_t *scratch_bytes;
	/* by storage: the number of kernels that use it; plus one if the caller
	 * stores an input there, and plus one if the caller reads an output
	 * there */
	int *touches;
	int_vec early; /* the storages that the caller fills before the run */
	/* by kernel: random bits; the hash of a set is their XOR */
	uint64_t *code;
};

static void
add_once(struct arena *a, int_vec *v, int x)
{
	for (int i = 0; i < v->n; i++) {
		if (v->data[i] == x) {
			return;
		}
	}
	vec_push(a, v, x);
}

static void add_node_sizes(struct order *o, int kernel, const struct node *n);

/* Adds the kernels that must run before `kernel` can read t to
 * o->before[kernel], and `kernel` to o->after of each. */
static void
add_producers(struct order *o, int kernel, const struct tensor *t)
{
	const struct node *n = t->producer;
	int writer = o->writer[t->id];

	if (o->added_for[t->id] == kernel + 1) {
		return;
	}
	o->added_for[t->id] = kernel + 1;
	if (writer >= 0) {
		if (writer != kernel) {
			add_once(o->arena, &o->before[kernel], writer);
			add_once(o->arena, &o->after[writer], kernel);
		}
		return;
	}
	for (int i = 0; n && i < n->n_inputs; i++) {
		if (n->inputs[i]) {
			add_producers(o, kernel, n->inputs[i]);
		}
	}
	if (n) {
		add_node_sizes(o, kernel, n);
	}
}

/* Adds to the predecessors of `kernel` the kernels that must run before the
 * entry function can read and check the sizes. */
static void
add_sizes(struct order *o, int kernel, const size_numbers *sizes)
{
	const struct graph *g = o->p->graph;

	for (int i = 0; i < sizes->n; i++) {
		const struct node *n =
			g->run_sizes.data[sizes->data[i]].read_by;

		if (n != NULL) {
			add_producers(o, kernel, n->inputs[0]);
		}
	}
}

static void
add_node_sizes(struct order *o, int kernel, const struct node *n)
{
	size_numbers sizes = { 0 };

	graph_add_node_sizes(&o->sizes, n, &sizes);
	add_sizes(o, kernel, &sizes);
}

/* Does the kernel copy the new value of a state to where it is kept for the
 * next run? */
static bool
is_kept(const struct program *p, int kernel)
{
	for (int i = 0; i < p->graph->states.n; i++) {
		if (p->graph->states.data[i].kept ==
		    p->kernels.data[kernel]->group->anchor->outputs[0]) {
			return true;
		}
	}
	return false;
}

static void
find_links(struct order *o)
{
	o->writer = arena_array(o->arena, int, o->s.n_tensors + 1);
	o->added_for = arena_array(o->arena, int, o->s.n_tensors + 1);
	graph_number_sizes(o->p->graph, &o->sizes);
	for (int i = 0; i < o->s.n_tensors; i++) {
		o->writer[i] = -1;
	}
	for (int k = 0; k < o->n; k++) {
		const struct kernel *kernel = o->p->kernels.data[k];

		for (int i = 0; i < kernel->args.n; i++) {
			const struct kernel_arg *arg = &kernel->args.data[i];

			if (arg->kind == ARG_TENSOR && arg->written) {
				o->writer[arg->tensor->id] = k;
			}
		}
	}
	for (int k = 0; k < o->n; k++) {
		const struct kernel *kernel = o->p->kernels.data[k];
		const struct group *group = kernel->group;

		for (int i = 0; i < group->nodes.n; i++) {
			add_node_sizes(o, k, group->nodes.data[i]);
		}
		add_sizes(o, k, &group->waits);
		for (int i = 0; i < kernel->args.n; i++) {
			const struct kernel_arg *arg = &kernel->args.data[i];

			if (arg->kind == ARG_DIM && arg->size_of != NULL) {
				add_producers(o, k, arg->size_of);
			}
			if (arg->kind != ARG_TENSOR) {
				continue;
			}
			if (arg->in_place) {
				add_producers(o, k, arg->in_place);
			}
			if (!arg->written) {
				add_producers(o, k, arg->tensor);
			}
		}
	}
}

/* The copies of states at the end of a run follow all other kernels. */
static void
find_last(struct order *o)
{
	int last = o->n;

	while (last > 0 && is_kept(o->p, last - 1)) {
		last--;
	}
	for (int k = last; k < o->n; k++) {
		for (int i = 0; i < last; i++) {
			add_once(o->arena, &o->before[k], i);
			add_once(o->arena, &o->after[i], k);
		}
	}
}

static void
find_touches(struct order *o)
{
	for (int k = 0; k < o->n; k++) {
		const struct kernel *kernel = o->p->kernels.data[k];

		for (int i = 0; i < kernel->args.n; i++) {
			const struct kernel_arg *arg = &kernel->args.data[i];
			int at;

			if (arg->kind == ARG_SCRATCH) {
				o->scratch_bytes[k] += arg->scratch_bytes;
			}
			if (arg->kind != ARG_TENSOR) {
				continue;
			}
			at = o->s.of[arg->tensor->id];
			if (o->s.list.data[at].kind == PLACE_WORKSPACE) {
				add_once(o->arena, &o->touched[k], at);
			}
		}
		for (int i = 0; i < o->touched[k].n; i++) {
			o->touches[o->touched[k].data[i]]++;
		}
	}
}

/* Counts the caller as a user of inputs and outputs in the workspace: the
 * caller stores the inputs before the first kernel runs, and reads the outputs
 * after the last kernel has run. */
static void
find_callers_touches(struct order *o)
{
	const struct graph *g = o->p->graph;

	for (int i = 0; i < g->inputs.n + g->outputs.n; i++) {
		const struct tensor *t =
			i < g->inputs.n ? g->inputs.data[i]
					: g->outputs.data[i - g->inputs.n];
		int at = o->s.of[t->id];

		if (!t->in_workspace || at < 0) {
			continue;
		}
		o->touches[at]++;
		if (i < g->inputs.n) {
			vec_push(o->arena, &o->early, at);
		}
	}
}

static struct state *
state_new(struct order *o)
{
	struct state *s = arena_new(o->arena, struct state);

	s->waiting = arena_array(o->arena, int, o->n + 1);
	s->left = arena_array(o->arena, int, o->s.list.n + 1);
	return s;
}

static void
state_start(struct order *o, struct state *s)
{
	s->hash = 0;
	s->live = 0;
	s->parent = s->kernel = -1;
	for (int k = 0; k < o->n; k++) {
		s->waiting[k] = o->before[k].n;
	}
	memcpy(s->left, o->touches, sizeof *s->left * (size_t)o->s.list.n);
	for (int i = 0; i < o->early.n; i++) {
		int at = o->early.data[i];

		s->left[at]--;
		s->live += o->s.list.data[at].bytes;
	}
	s->peak = s->live;
}

/* The state that follows s when kernel k runs. */
static struct candidate
next_state(const struct order *o, const struct state *s, int k)
{
	struct candidate c = { s->hash ^ o->code[k], 0, s->live, s->parent, k };
	int64_t freed = 0;

	for (int i = 0; i < o->touched[k].n; i++) {
		int at = o->touched[k].data[i];
		int64_t bytes = o->s.list.data[at].bytes;

		if (s->left[at] == o->touches[at]) {
			c.live += bytes;
		}
		if (s->left[at] == 1) {
			freed += bytes;
		}
	}
	c.peak = c.live + o->scratch_bytes[k];
	c.peak = s->peak > c.peak ? s->peak : c.peak;
	c.live -= freed;
	return c;
}

static void
advance(const struct order *o, struct state *s, const struct candidate *c)
{
	int k = c->kernel;

	s->hash = c->hash;
	s->peak = c->peak;
	s->live = c->live;
	s->parent = c->parent;
	s->kernel = k;
	s->waiting[k] = -1;
	for (int i = 0; i < o->after[k].n; i++) {
		s->waiting[o->after[k].data[i]]--;
	}
	for (int i = 0; i < o->touched[k].n; i++) {
		s->left[o->touched[k].data[i]]--;
	}
}

static void
state_copy(const struct order *o, struct state *to, const struct state *from)
{
	memcpy(to->waiting, from->waiting, sizeof *to->waiting * (size_t)o->n);
	memcpy(to->left, from->left, sizeof *to->left * (size_t)o->s.list.n);
	to->hash = from->hash;
	to->peak = from->peak;
	to->live = from->live;
}

static bool
is_better(const struct candidate *a, const struct candidate *b)
{
	if (a->peak != b->peak) {
		return a->peak < b->peak;
	}
	if (a->live != b->live) {
		return a->live < b->live;
	}
	if (a->parent != b->parent) {
		return a->parent < b->parent;
	}
	return a->kernel < b->kernel;
}

/* Moves element `at` of a heap, whose best element is the first, down to its
 * place. */
static void
sift_down(struct candidate *heap, int n, int at)
{
	struct candidate moved = heap[at];

	for (int child = 2 * at + 1; child < n; child = 2 * at + 1) {
		if (child + 1 < n &&
		    is_better(&heap[child + 1], &heap[child])) {
			child++;
		}
		if (!is_better(&heap[child], &moved)) {
			break;
		}
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* Copies the best candidates of the list, at most `most`, to `best`, and
 * returns the number copied; of candidates with the same set of kernels only
 * the best is copied. Uses a heap, because most candidates are not copied. */
static int
choose_best(struct candidate *list, int n, struct candidate *best, int most)
{
	int kept = 0;

	for (int i = n / 2 - 1; i >= 0; i--) {
		sift_down(list, n, i);
	}
	while (n > 0 && kept < most) {
		bool seen = false;

		for (int k = 0; k < kept && !seen; k++) {
			seen = best[k].hash == list[0].hash;
		}
		if (!seen) {
			best[kept++] = list[0];
		}
		list[0] = list[--n];
		sift_down(list, n, 0);
	}
	return kept;
}

static int64_t
peak_of(struct order *o, struct state *s)
{
	state_start(o, s);
	for (int k = 0; k < o->n; k++) {
		struct candidate c = next_state(o, s, k);

		advance(o, s, &c);
	}
	return s->peak;
}

/* A lower bound of the peak of every order: the largest number of live bytes
 * that a single kernel needs. */
static int64_t
floor_of(const struct order *o)
{
	int64_t most = 0;

	for (int k = 0; k < o->n; k++) {
		int64_t sum = o->scratch_bytes[k];

		for (int i = 0; i < o->touched[k].n; i++) {
			sum += o->s.list.data[o->touched[k].data[i]].bytes;
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Returns the best order that is found, as indices of kernels; NULL if the
 * search finds no order with a peak below `limit`. `width`: the number of
 * states that are kept at each step. */
static int *
search(struct order *o, int64_t limit, int width)
{
	struct arena *a = o->arena;
	struct state **now = arena_array(a, struct state *, width);
	struct state **next = arena_array(a, struct state *, width);
	int *parents = arena_array(a, int, (size_t)o->n *(size_t)width + 1);
	int *kernels = arena_array(a, int, (size_t)o->n *(size_t)width + 1);
	int *result = arena_array(a, int, o->n + 1);
	struct candidate *best = arena_array(a, struct candidate, width);
	VEC(struct candidate) found = { 0 };
	int n = 1, at = 0;

	for (int i = 0; i < width; i++) {
		now[i] = state_new(o);
		next[i] = state_new(o);
	}
	state_start(o, now[0]);
	for (int step = 0; step < o->n; step++) {
		struct state **swap = now;

		found.n = 0;
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < o->n; k++) {
				struct candidate c;

				if (now[i]->waiting[k] != 0) {
					continue;
				}
				c = next_state(o, now[i], k);
				c.parent = i;
				if (c.peak < limit) {
					vec_push(a, &found, c);
				}
			}
		}
		if (found.n == 0) {
			return NULL;
		}
		n = choose_best(found.data, found.n, best, width);
		for (int i = 0; i < n; i++) {
			const struct candidate *c = &best[i];

			state_copy(o, next[i], now[c->parent]);
			advance(o, next[i], c);
			parents[step * width + i] = c->parent;
			kernels[step * width + i] = c->kernel;
		}
		now = next;
		next = swap;
	}
	for (int step = o->n - 1; step >= 0; step--) {
		result[step] = kernels[step * width + at];
		at = parents[step * width + at];
	}
	return result;
}

static uint64_t
scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static void
reorder(struct order *o, const int *best)
{
	struct kernel **old = arena_copy(o->arena, o->p->kernels.data,
					 sizeof *old * (size_t)o->n);

	for (int i = 0; i < o->n; i++) {
		o->p->kernels.data[i] = old[best[i]];
	}
}

void
plan_order(struct program *p)
{
	struct arena *a = &p->graph->module->arena;
	struct order o = { .p = p, .arena = a, .n = p->kernels.n };
	int64_t peak, width;
	int *best;

	if (o.n < 3 || p->graph->bodies.n > 0 || !storages_find(p, &o.s)) {
		return; /* plan_memory reports the error */
	}
	o.before = arena_alloc(a, sizeof *o.before * (size_t)o.n);
	o.after = arena_alloc(a, sizeof *o.after * (size_t)o.n);
	o.touched = arena_alloc(a, sizeof *o.touched * (size_t)o.n);
	o.scratch_bytes = arena_array(a, int64_t, o.n);
	o.touches = arena_array(a, int, o.s.list.n + 1);
	o.code = arena_array(a, uint64_t, o.n);
	for (int k = 0; k < o.n; k++) {
		o.code[k] = scramble((uint64_t)k);
	}
	find_links(&o);
	find_last(&o);
	find_touches(&o);
	find_callers_touches(&o);
	peak = peak_of(&o, state_new(&o));
	if (peak <= floor_of(&o)) {
		return;
	}
	width = MAX_WORK / ((int64_t)o.n * (o.n + o.s.list.n));
	if (width < 2) {
		return;
	}
	best = search(&o, peak, (int)(width < MAX_WIDTH ? width : MAX_WIDTH));
	if (best) {
		reorder(&o, best);
	}
}
