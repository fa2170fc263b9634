/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a model, which stay in the workspace from run to run. If the
 * kernel that computes the next state can store it in place of the state, the
 * copy at the end of the run (passes/graph/states.c) is left out.
 *
 *	before	cell(x, past, h)        after	cell(x, past)
 *		past_kept(h, past_kept) */
#include <assert.h>

#include "kernel_build.h"

/* Removes t from the list of n tensors; returns the new number of tensors. */
static int
list_without(struct tensor **list, int n, const struct tensor *t)
{
	int at = tensor_index(t, list, n);

	assert(at >= 0);
	memmove(&list[at], &list[at + 1], sizeof *list * (size_t)(n - at - 1));
	return n - 1;
}

void
states_detach(struct graph *g)
{
	for (int i = 0; i < g->states.n; i++) {
		const struct graph_state *s = &g->states.data[i];

		s->before->is_state = true;
		s->after->is_state = true;
		s->kept->is_state = true;
		g->inputs.n = list_without(g->inputs.data, g->inputs.n,
					   s->before);
		g->outputs.n = list_without(g->outputs.data, g->outputs.n,
					    s->kept);
	}
}

bool
is_next_of(const struct graph *g, const struct tensor *before,
	   const struct tensor *after)
{
	for (int i = 0; i < g->states.n; i++) {
		if (g->states.data[i].before == before &&
		    g->states.data[i].after == after) {
			return true;
		}
	}
	return false;
}

/* The index of the kernel that writes t; -1 if no kernel does. in_place: finds
 * only a kernel that stores t over an input. */
static int
writer_of(const struct program *p, const struct tensor *t, bool in_place)
{
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			const struct kernel_arg *arg = &k->args.data[a];

			if (arg->written && arg->tensor == t &&
			    (!in_place || arg->in_place != NULL)) {
				return i;
			}
		}
	}
	return -1;
}

static void
remove_func(struct module *m, const struct func *f)
{
	int n = 0;

	for (int i = 0; i < m->funcs.n; i++) {
		if (m->funcs.data[i] != f) {
			m->funcs.data[n++] = m->funcs.data[i];
		}
	}
	m->funcs.n = n;
}

void
states_finish(struct program *p)
{
	const struct graph *g = p->graph;

	for (int i = 0; i < g->states.n; i++) {
		const struct graph_state *s = &g->states.data[i];
		int at = writer_of(p, s->kept, false);
		struct kernel *copy;

		if (at < 0) {
			continue; /* the state has no elements */
		}
		copy = p->kernels.data[at];
		memmove(&p->kernels.data[at], &p->kernels.data[at + 1],
			sizeof(struct kernel *) *
				(size_t)(p->kernels.n - at - 1));
		if (writer_of(p, s->after, true) >= 0) {
			p->kernels.n--;
			remove_func(g->module, copy->func);
		} else {
			p->kernels.data[p->kernels.n - 1] = copy;
		}
	}
}
