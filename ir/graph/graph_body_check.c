/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the branches and loops of a graph (graph_body.c) before any other code
 * relies on them. A partition may come from a program other than tirc, and a
 * pass may break the following rules:
 *
 * - Attributes: bodies have numbers, are properly nested, and each has one end;
 *   the numbers of inputs and outputs of an end agree with its attributes.
 * - Scopes: a tensor is read only in the body that computes it or inside of it,
 *   and no output of the graph is computed inside of a body.
 * - Memory: the end of a branch or loop stores its results where its inputs
 *   are. So each input is a copy made for this end: nothing else reads it,
 *   except that the Carry of the same loop reads a first state. A last state may
 *   be in one of the two places of its state, so it is not an output of the
 *   graph. */
#include "graph.h"

/* The largest nesting depth of bodies; and how far the numbers of bodies may
 * exceed the number of nodes: passes that remove nodes leave numbers without a
 * body. */
enum { MOST_NESTED = 1000, MOST_UNUSED = 65536 };

/* A body, as described by the attributes of the node that ends the body. */
struct written_body {
	int parent; /* the body around it */
	/* the number of bodies around this one, plus 1; 0: not known yet */
	int depth;
	/* the body at which the search that first reached this body began; 0:
	 * no search has reached it yet */
	int seen;
	bool defined, is_loop;
	const struct node *end;
};

struct written {
	const struct graph *g;
	/* by number of the body; entry 0 stands for the nodes outside of all
	 * bodies */
	struct written_body *bodies;
	/* the largest number that a body has in the graph */
	int most;
	int *body_of; /* by node id: number of the body that computes the
		       * node */
};

/* -- attributes -- */

/* The number of the body that the attribute `name` of the node gives; -1 if the
 * attribute is absent or the number above `most`. */
static int
written_number(const struct node *n, const char *name, int most)
{
	int64_t id = node_attr_int(n, name, -1);

	return id >= 0 && id <= most ? (int)id : -1;
}

/* The largest number of a body in the graph, among the numbers that are within
 * the limits; 0 if no body has one. */
static int
largest_number(const struct graph *g)
{
	static const char *const names[] = { "then", "else", "loop" };
	int largest = 0, most = 2 * g->nodes.n + MOST_UNUSED;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		if (!node_ends_if(n) && !node_ends_loop(n)) {
			continue;
		}
		for (int k = 0; k < 3; k++) {
			int id = written_number(n, names[k], most);

			largest = id > largest ? id : largest;
		}
	}
	return largest;
}

static bool
write_body(struct written *w, const struct node *end, const char *name,
	   bool is_loop)
{
	int id = written_number(end, name, w->most);

	if (id <= 0 || w->bodies[id].defined) {
		return false;
	}
	w->bodies[id] = (struct written_body){
		.parent = written_number(end, "body", w->most),
		.defined = true,
		.is_loop = is_loop,
		.end = end,
	};
	return true;
}

/* May the node n be in its body? (A Carry, for example, may only be in the body
 * of a loop.) */
static bool
is_placed(const struct written *w, const struct node *n)
{
	int body = written_number(n, "body", w->most);

	if (body < 0 || (body > 0 && !w->bodies[body].defined)) {
		return false;
	}
	return node_is_control_op(n, "Copy") || node_ends_if(n) ||
	       node_ends_loop(n) ||
	       (node_needs_body(n) && w->bodies[body].is_loop);
}

/* Do the attributes of the EndLoop n agree with each other and with the numbers
 * of its inputs and outputs? */
static bool
loop_is_whole(const struct node *n)
{
	int64_t counted = node_attr_int(n, "counted", 0);
	int64_t condition = node_attr_int(n, "condition", 0);
	int64_t states = node_attr_int(n, "states", 0);
	int64_t trips = node_attr_int(n, "trips", -1);
	bool given = node_attr(n, "trips") != NULL;

	return (counted | condition | 1) == 1 &&
	       (!given || (trips >= 0 && trips < INT32_MAX && counted == 0)) &&
	       (given || counted == 1 || condition == 1) &&
	       states >= condition && states <= n->n_outputs &&
	       n->n_inputs == counted + states + n->n_outputs;
}

/* What is wrong with the attributes, inputs and outputs of n, as the end of a
 * sentence; NULL if nothing is. */
static const char *
wrong_node(struct written *w, const struct node *n)
{
	if (node_needs_body(n) && !node_is_control(n)) {
		return "it names no body";
	}
	for (int i = 0; node_is_control(n) && i < n->n_inputs; i++) {
		if (n->inputs[i] == NULL) {
			return "an input is absent";
		}
	}
	if (node_ends_if(n) && (!write_body(w, n, "then", false) ||
				!write_body(w, n, "else", false))) {
		return "the numbers of its bodies are not those of two "
		       "branches of its own";
	}
	if (node_ends_if(n) && n->n_inputs != 1 + 2 * n->n_outputs) {
		return "it does not have a condition, and an input of each "
		       "branch for each output";
	}
	if (node_ends_loop(n) && !write_body(w, n, "loop", true)) {
		return "the number of its body is not that of a loop of its "
		       "own";
	}
	if (node_ends_loop(n) && !loop_is_whole(n)) {
		return "its counted, condition, states and trips do not belong "
		       "together, or to its inputs and outputs";
	}
	return NULL;
}

/* -- nesting -- */

/* Sets the depth of body `id`; false if the body is inside of itself or of a
 * body that no node ends, or is nested too deeply. */
static bool
set_depth(struct written *w, int id)
{
	int at = id, above = 0;

	while (at > 0 && w->bodies[at].depth == 0) {
		if (!w->bodies[at].defined || w->bodies[at].seen == id) {
			return false;
		}
		w->bodies[at].seen = id;
		at = w->bodies[at].parent;
		above++;
	}
	if (at < 0 || above + w->bodies[at].depth > MOST_NESTED) {
		return false;
	}
	above += w->bodies[at].depth;
	for (at = id; at > 0 && w->bodies[at].depth == 0;
	     at = w->bodies[at].parent) {
		w->bodies[at].depth = above--;
	}
	return true;
}

static bool
within(const struct written *w, int body, int around)
{
	while (w->bodies[body].depth > w->bodies[around].depth) {
		body = w->bodies[body].parent;
	}
	return body == around;
}

/* -- scopes -- */

/* The body that computes t; 0 for inputs and constants. */
static int
body_of(const struct written *w, const struct tensor *t)
{
	return t != NULL && t->producer != NULL ? w->body_of[t->producer->id]
						: 0;
}

/* Sets the body of n: for control flow, the body that the attribute names; else
 * the innermost body in which an input of n is computed. Returns NULL, or the
 * mistake in words. */
static const char *
place(struct written *w, const struct node *n)
{
	int *body = &w->body_of[n->id];

	*body = node_is_control(n) ? (int)node_attr_int(n, "body", 0) : 0;
	for (int i = 0; !node_is_control(n) && i < n->n_inputs; i++) {
		int in = body_of(w, n->inputs[i]);

		if (within(w, in, *body)) {
			*body = in;
		} else if (!within(w, *body, in)) {
			return "it reads tensors of two bodies, neither of "
			       "which is inside of the other";
		}
	}
	return NULL;
}

static const char *const outside =
	"it reads a tensor of a body that it is not in";

/* Is t a copy in a body that only the end of a branch or loop reads? */
static bool
is_own_copy(const struct written *w, const struct tensor *t, int body)
{
	return t->producer != NULL && node_is_control_op(t->producer, "Copy") &&
	       body_of(w, t) == body && !t->is_output && t->uses.n == 1;
}

/* Is t the value of a state before the loop: a copy that only `end` (the loop's
 * EndLoop) and at most one Carry read? */
static bool
is_first_state(const struct written *w, const struct tensor *t,
	       const struct node *end)
{
	int64_t loop = node_attr_int(end, "loop", 0);
	int ends = 0, carries = 0;

	if (t->producer == NULL || !node_is_control_op(t->producer, "Copy") ||
	    body_of(w, t) != w->body_of[end->id] || t->is_output) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		ends += user == end;
		carries += node_is_carry(user) &&
			   node_attr_int(user, "body", 0) == loop;
	}
	return ends == 1 && carries <= 1 && ends + carries == t->uses.n;
}

/* The number of the loop's state whose first value, before the loop, is t; -1
 * if there is none. The loop is the one that `end` ends. */
static int
number_of_state(const struct node *end, const struct tensor *t)
{
	struct loop_end e = node_loop_end(end);

	for (int i = 0; i < t->uses.n; i++) {
		const struct use *u = &t->uses.data[i];

		if (u->node == end && u->input >= e.first &&
		    u->input < e.next) {
			return u->input - e.first;
		}
	}
	return -1;
}

static const char *
wrong_if(const struct written *w, const struct node *n)
{
	int then = (int)node_attr_int(n, "then", 0);
	int other = (int)node_attr_int(n, "else", 0);

	if (!within(w, w->body_of[n->id], body_of(w, n->inputs[0]))) {
		return outside;
	}
	for (int i = 1; i < n->n_inputs; i++) {
		if (!is_own_copy(w, n->inputs[i],
				 i <= n->n_outputs ? then : other)) {
			return "a result of a branch is not a Copy of the "
			       "branch that nothing else reads";
		}
	}
	return NULL;
}

static const char *
wrong_loop(const struct written *w, const struct node *n)
{
	struct loop_end e = node_loop_end(n);
	int loop = (int)node_attr_int(n, "loop", 0);

	if (e.counted &&
	    !within(w, w->body_of[n->id], body_of(w, n->inputs[0]))) {
		return outside;
	}
	for (int k = 0; k < e.states; k++) {
		if (!is_first_state(w, n->inputs[e.first + k], n)) {
			return "a first state is not a Copy before the loop "
			       "that nothing but one Carry reads";
		}
	}
	for (int k = 0; k < e.states; k++) {
		if (n->outputs[k] != NULL && n->outputs[k]->is_output) {
			return "a last state is an output of the graph; put a "
			       "Copy between them";
		}
	}
	for (int i = e.next; i < n->n_inputs; i++) {
		if (!is_own_copy(w, n->inputs[i], loop)) {
			return "a next state or a slice is not a Copy of the "
			       "loop that nothing else reads";
		}
	}
	return NULL;
}

/* What is wrong with the inputs of n, whose producers' bodies and own body are
 * set, as the end of a sentence; NULL if nothing is. */
static const char *
wrong_reads(const struct written *w, const struct node *n)
{
	int body = w->body_of[n->id];
	const struct written_body *b = &w->bodies[body];

	if (node_ends_if(n)) {
		return wrong_if(w, n);
	}
	if (node_ends_loop(n)) {
		return wrong_loop(w, n);
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (!within(w, body, body_of(w, n->inputs[i]))) {
			return outside;
		}
	}
	if (node_is_carry(n) && number_of_state(b->end, n->inputs[0]) < 0) {
		return "its input is not a first state of its loop";
	}
	if (node_is_control_op(n, "ScanInput")) {
		const struct node *copy = n->inputs[0]->producer;

		if (copy == NULL || !node_is_control_op(copy, "Copy") ||
		    w->body_of[copy->id] != b->parent) {
			return "its input is not a Copy before its loop";
		}
	}
	return NULL;
}

/* -- all -- */

/* Finds the first mistake in the graph's branches and loops. Returns the
 * mistake as the end of a sentence about the node *at; NULL if there is no
 * mistake. */
static const char *
check(struct written *w, const struct node **at)
{
	const struct graph *g = w->g;
	const char *wrong = NULL;

	for (int i = 0; i < g->nodes.n && wrong == NULL; i++) {
		*at = g->nodes.data[i];
		wrong = wrong_node(w, *at);
	}
	for (int id = 1; id <= w->most && wrong == NULL; id++) {
		*at = w->bodies[id].end;
		if (w->bodies[id].defined && !set_depth(w, id)) {
			wrong = "its body is inside of itself, or of a body "
				"without an end, or nested too deep";
		}
	}
	for (int i = 0; i < g->nodes.n && wrong == NULL; i++) {
		*at = g->nodes.data[i];
		if (node_is_control(*at) && !is_placed(w, *at)) {
			wrong = "its body is not one that it can be in";
		}
	}
	for (int i = 0; i < g->nodes.n && wrong == NULL; i++) {
		*at = g->nodes.data[i];
		wrong = place(w, *at);
		wrong = wrong != NULL ? wrong : wrong_reads(w, *at);
	}
	for (int i = 0; i < g->outputs.n && wrong == NULL; i++) {
		*at = g->outputs.data[i]->producer;
		if (body_of(w, g->outputs.data[i]) != 0) {
			wrong = "it computes an output of the graph inside of "
				"a body";
		}
	}
	return wrong;
}

static bool
has_control(const struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		if (node_is_control(g->nodes.data[i]) ||
		    node_needs_body(g->nodes.data[i])) {
			return true;
		}
	}
	return false;
}

const char *
graph_wrong_control(const struct graph *g, const struct node **at)
{
	struct arena tmp = { 0 };
	struct written w = { .g = g };
	const char *wrong;

	if (!has_control(g)) {
		return NULL;
	}
	w.most = largest_number(g);
	w.bodies = arena_array(&tmp, struct written_body, w.most + 1);
	w.body_of = arena_array(&tmp, int, g->next_node_id + 1);
	wrong = check(&w, at);
	arena_release(&tmp);
	return wrong;
}
