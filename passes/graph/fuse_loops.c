/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the places of the states and slices of loops, after the groups are
 * known.
 *
 * A slice is an element of the stacked tensor, at the iteration:
 *
 *	x[t]	a ScanInput's result	y[t]	a result that EndLoop stacks
 *
 * A state whose only reader computes the next state element by element is
 * updated in place; so is a state that the body does not read. Any other state
 * has two places, which take turns:
 *
 *	state[0]	 the first state
 *	state[t % 2]	 the state in iteration t
 *	state[1 - t % 2] the next state
 *	state[n % 2]	 the state after n iterations */
#include "fuse.h"

/* The index of the slice that an iteration reads or writes: the number of the
 * iteration, from 0; if `back` is set, slices are taken from the last to the
 * first. For `back`, inference has checked that the number of the last
 * iteration is known before the loop. */
static const struct expr *
slice_index(struct graph *g, const struct graph_body *loop, bool back)
{
	struct module *m = g->module;
	const struct expr *t = loop->iteration->expr, *last;
	struct loop_end e = node_loop_end(loop->end);

	if (!back) {
		return t;
	}
	last = e.counted ? expr_sub(m, loop->end->inputs[0]->elems[0],
				    expr_i32(m, 1))
			 : expr_int(m, t->type, e.trips - 1);
	return expr_sub(m, expr_cast(m, t->type, last), t);
}

static void
place(struct tensor *t, struct tensor *whole, const struct expr *at)
{
	if (t != NULL) {
		t->element_of = whole;
		t->element = at;
	}
}

static bool
is_back(const struct node *end, int slice)
{
	const int64_t *back;

	return node_attr_ints(end, "back", &back) > slice && back[slice] != 0;
}

/* Can `next` be stored over the state: does each node of the group that
 * computes `next` compute an element from elements at the same index, and does
 * only this group read the state? */
static bool
is_updated_in_place(const struct graph *g, const struct tensor *state,
		    const struct tensor *next)
{
	const struct group *group = g->groups.data[next->producer->group];

	for (int i = 0; i < state->uses.n; i++) {
		if (group_index(group, state->uses.data[i].node) < 0) {
			return false;
		}
	}
	for (int i = 0; i < group->nodes.n; i++) {
		const struct node *n = group->nodes.data[i];

		if ((n->op->fuse != FUSE_ELEMENTWISE &&
		     n->op->fuse != FUSE_BROADCAST) ||
		    !tensor_same_shape(n->outputs[0], next)) {
			return false;
		}
	}
	return !g->states_take_turns && state->uses.n > 0;
}

/* The state as the body reads it: the result of the Carry node that reads
 * `first`, its first value. */
static struct tensor *
carried(const struct tensor *first)
{
	for (int i = 0; i < first->uses.n; i++) {
		const struct node *user = first->uses.data[i].node;

		if (node_is_carry(user)) {
			return user->outputs[0];
		}
	}
	return NULL;
}

static void
place_state(struct graph *g, const struct graph_body *loop, int k)
{
	const struct node *end = loop->end;
	struct module *m = g->module;
	struct loop_end e = node_loop_end(end);
	struct tensor *first = end->inputs[e.first + k];
	struct tensor *state = carried(first), *next = end->inputs[e.next + k];
	const struct expr *turn = loop->turn->expr;
	/* With a condition, the loop may end earlier. */
	int64_t trips = e.condition ? -1 : e.trips;
	struct tensor *both;

	if (state == NULL || is_updated_in_place(g, state, next)) {
		return;
	}
	both = graph_tensor(g,
			    arena_printf(&m->arena, "%s_turns", state->name));
	both->type = first->type;
	both->typed = true;
	both->ndim = first->ndim + 1;
	both->shape = arena_exprs(&m->arena, both->ndim + 1);
	both->shape[0] = expr_index(m, 2);
	for (int d = 0; d < first->ndim; d++) {
		both->shape[d + 1] = first->shape[d];
	}
	place(first, both, expr_index(m, 0));
	place(state, both, turn);
	place(next, both, expr_sub(m, expr_int(m, turn->type, 1), turn));
	place(end->outputs[k], both,
	      trips >= 0 ? expr_index(m, trips % 2) : loop->last->expr);
}

static void
place_loop(struct graph *g, int id)
{
	const struct graph_body *loop = &g->bodies.data[id];
	const struct node *end = loop->end;
	struct loop_end e = node_loop_end(end);

	for (int k = 0; k < e.states; k++) {
		place_state(g, loop, k);
	}
	for (int k = 0; k < e.slices; k++) {
		place(end->inputs[e.slice + k], end->outputs[e.states + k],
		      slice_index(g, loop, is_back(end, k)));
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (n->body == id && n->op->fuse == FUSE_CONTROL &&
		    strcmp(n->op_type, "ScanInput") == 0) {
			place(n->outputs[0], n->inputs[0],
			      slice_index(g, loop,
					  node_attr_int(n, "back", 0) != 0));
		}
	}
}

void
fuse_loops(struct graph *g)
{
	for (int b = 1; b < g->bodies.n; b++) {
		if (g->bodies.data[b].end != NULL &&
		    g->bodies.data[b].is_loop) {
			place_loop(g, b);
		}
	}
}

/* -- copies -- */

static bool
is_viewed(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (t->uses.data[i].node->op->fuse == FUSE_VIEW) {
			return true;
		}
	}
	return false;
}

static bool
is_read_by(const struct tensor *t, const char *op_type)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (strcmp(t->uses.data[i].node->op_type, op_type) != 0) {
			return false;
		}
	}
	return t->uses.n > 0;
}

/* Is the copied tensor computed by a kernel of the same body, and is its place
 * free to choose? Then the tensor can be the result itself, and the copy is not
 * needed. */
static bool
may_be_result(const struct node *copy)
{
	const struct tensor *t = copy->inputs[0];
	const struct node *p = t->producer;

	return p != NULL && p->body == copy->body && !t->is_output &&
	       p->op->fuse != FUSE_CONTROL && p->op->fuse != FUSE_VIEW &&
	       strcmp(p->op_type, "Concat") != 0 && !node_is_control(p) &&
	       p->match == NULL && !is_viewed(t) && !tensor_read_by_control(t);
}

/* Is t the first value of a loop's state? The value of a state that the body
 * does not read is stored in the place of its first value, too. */
static bool
is_first_state(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		if (node_ends_loop(user)) {
			struct loop_end e = node_loop_end(user);
			int k = t->uses.data[i].input - e.first;

			if (k >= 0 && k < e.states) {
				return true;
			}
		}
	}
	return false;
}

/* Is the copy needed? Copies are made of constants, next states and other
 * results of a body, states after their loop, and a Scan's inputs. The copy of
 * a first state is always needed. */
static bool
is_needed(const struct node *copy)
{
	const struct tensor *x = copy->inputs[0], *y = copy->outputs[0];

	if (y->is_output || strcmp(copy->op_type, "Copy") != 0 ||
	    is_first_state(y)) {
		return true;
	}
	if (is_read_by(y, "ScanInput")) {
		return tensor_is_constant(x);
	}
	if (is_read_by(y, "EndIf") || is_read_by(y, "EndLoop")) {
		return !may_be_result(copy);
	}
	return tensor_read_by_control(y) || tensor_is_constant(x);
}

void
fuse_drop_copies(struct graph *g)
{
	graph_find_bodies(g);
	for (int i = g->nodes.n - 1; i >= 0 && g->bodies.n > 0; i--) {
		struct node *n = g->nodes.data[i];

		if (!node_is_control(n) || is_needed(n)) {
			continue;
		}
		if (n->inputs[0]->producer != NULL) {
			graph_share_origins(n->inputs[0]->producer, n);
		}
		graph_replace_uses(g, n->outputs[0], n->inputs[0]);
		n->origins.n = 0;
		graph_remove_node(g, n, NULL, "");
	}
}
