/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow in a graph: where each node is computed, and an order of the
 * nodes in which each branch and each loop's body is one range.
 *
 *	s = tirc.Copy<body=0>(init)
 *	v = tirc.Carry<body=1>(s)            loop 1:
 *	w = Mul(x, x)                           v is the state
 *	u = Add(v, w)                 ->        u = Add(v, w)
 *	n = tirc.Copy<body=1>(u)                n is the next state
 *	y = tirc.EndLoop<body=0, loop=1, …>(s, n)
 *
 * Bodies are numbered; 0 is the graph outside of all branches and loops. A node
 * of control flow names its body in the attribute `body`. Any other node is
 * computed as early as its inputs allow, hence outside of loops that do not
 * change them, but not before the branch that all its readers are in. So passes
 * may rewrite nodes as if there were no bodies. */
#include "graph.h"
#include "pointer_map.h"

bool
node_needs_body(const struct node *n)
{
	static const char *const ops[] = { "Carry", "Iteration", "ScanInput",
					   "EndIf", "EndLoop" };

	if (strcmp(n->domain, "tirc") != 0) {
		return false;
	}
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		if (strcmp(n->op_type, ops[i]) == 0) {
			return true;
		}
	}
	return false;
}

bool
node_is_control(const struct node *n)
{
	/* A fast path, since passes ask this for every node: most nodes are in
	 * ONNX's default domain, whose name is empty. */
	return *n->domain != '\0' && strcmp(n->domain, "tirc") == 0 &&
	       node_attr(n, "body") != NULL &&
	       (strcmp(n->op_type, "Copy") == 0 || node_needs_body(n));
}

bool
node_is_control_op(const struct node *n, const char *op_type)
{
	return node_is_control(n) && strcmp(n->op_type, op_type) == 0;
}

bool
node_is_carry(const struct node *n)
{
	return node_is_control_op(n, "Carry");
}

bool
graph_has_control(const struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		if (node_is_control(g->nodes.data[i])) {
			return true;
		}
	}
	return false;
}

bool
node_ends_if(const struct node *n)
{
	return node_is_control_op(n, "EndIf");
}

bool
node_ends_loop(const struct node *n)
{
	return node_is_control_op(n, "EndLoop");
}

struct loop_end
node_loop_end(const struct node *end)
{
	struct loop_end e = {
		.counted = node_attr_int(end, "counted", 0) != 0,
		.condition = node_attr_int(end, "condition", 0) != 0,
		.trips = node_attr_int(end, "trips", -1),
		.states = (int)node_attr_int(end, "states", 0),
	};

	e.first = e.counted;
	e.next = e.first + e.states;
	e.slice = e.next + e.states;
	e.slices = end->n_inputs - e.slice;
	return e;
}

/* The largest number of iterations of the loop that `end` ends: the constant
 * number, or an upper bound; INT32_MAX if there is no bound. */
static int64_t
most_trips(const struct node *end)
{
	const struct tensor *count = end->inputs[0];
	struct loop_end e = node_loop_end(end);
	int64_t most;

	if (e.counted && count->elems != NULL && count->n_elems == 1) {
		struct tensor one = { .ndim = 1, .shape = count->elems };

		return tensor_max_elems(&one, &most) ? most : INT32_MAX;
	}
	return e.trips >= 0 ? e.trips : INT32_MAX;
}

static void
add_body(struct graph *g, struct node *end, const char *attr, bool is_loop,
	 bool is_else)
{
	int id = (int)node_attr_int(end, attr, 0);
	struct graph_body none = { 0 };
	struct graph_body *b;

	while (g->bodies.n <= id) {
		vec_push(&g->module->arena, &g->bodies, none);
	}
	b = &g->bodies.data[id];
	b->parent = (int)node_attr_int(end, "body", 0);
	b->end = end;
	b->is_loop = is_loop;
	b->is_else = is_else;
	if (is_loop && b->iteration == NULL) {
		int64_t trips = most_trips(end);
		bool images = node_attr_int(end, "images", 0) != 0;

		b->iteration = var_new_dim(g->module, images ? "image" : "t", 0,
					   trips > 0 ? trips - 1 : 0);
		b->turn = var_new_dim(g->module, "turn", 0, 1);
		b->last = var_new_dim(g->module, "last", 0, 1);
	}
}

struct graph_body *
graph_body(struct graph *g, int id)
{
	return id > 0 && id < g->bodies.n ? &g->bodies.data[id] : NULL;
}

bool
graph_body_within(struct graph *g, int body, int around)
{
	while (body != around && body > 0) {
		body = g->bodies.data[body].parent;
	}
	return body == around;
}

static int
depth_of(const struct graph *g, int body)
{
	int depth = 0;

	for (; body > 0; body = g->bodies.data[body].parent) {
		depth++;
	}
	return depth;
}

int
graph_common_body(const struct graph *g, int a, int b)
{
	int da = depth_of(g, a), db = depth_of(g, b);

	for (; a != b; da > db ? da-- : db--) {
		if (da > db) {
			a = g->bodies.data[a].parent;
		} else {
			b = g->bodies.data[b].parent;
		}
	}
	return a;
}

static bool
any_uses(const struct expr *const *list, int n, const struct var *v)
{
	for (int i = 0; i < n; i++) {
		if (expr_uses_var(list[i], v)) {
			return true;
		}
	}
	return false;
}

/* Do the shapes of n's outputs, or known elements of its inputs (sizes that are
 * operands), depend on v? */
static bool
uses_size(const struct node *n, const struct var *v)
{
	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *t = n->outputs[k];

		if (t != NULL && t->ndim > 0 &&
		    any_uses(t->shape, t->ndim, v)) {
			return true;
		}
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t != NULL && t->producer == NULL && t->elems != NULL &&
		    any_uses(t->elems, t->n_elems, v)) {
			return true;
		}
	}
	return false;
}

/* If n depends on sizes that are read in bodies further inside, moves n into
 * the innermost of these bodies. */
static void
place_after_sizes(const struct graph *g, struct node *n)
{
	for (int i = 0; i < g->run_sizes.n; i++) {
		const struct node *size = g->run_sizes.data[i].read_by;

		if (size != NULL &&
		    depth_of(g, size->body) > depth_of(g, n->body) &&
		    uses_size(n, g->run_sizes.data[i].var)) {
			n->body = size->body;
		}
	}
}

/* Sets n->body to the outermost body in which n can be computed: the innermost
 * among the bodies in which its inputs are computed or the sizes that it uses
 * are read. */
static void
place_early(const struct graph *g, struct node *n)
{
	n->body = 0;
	if (node_is_control(n)) {
		n->body = (int)node_attr_int(n, "body", 0);
		return;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t != NULL && t->producer != NULL &&
		    depth_of(g, t->producer->body) > depth_of(g, n->body)) {
			n->body = t->producer->body;
		}
	}
	place_after_sizes(g, n);
}

/* Sets run_size.read_by: the node that reads each size. */
static void
find_run_sizes(struct graph *g)
{
	for (int i = 0; i < g->run_sizes.n; i++) {
		g->run_sizes.data[i].read_by = NULL;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int first = node_run_sizes(n);
		int64_t count = 0;

		if (first < 0 || !tensor_const_elems(n->outputs[0], &count)) {
			continue;
		}
		for (int k = 0; k < count; k++) {
			g->run_sizes.data[first + k].read_by = n;
		}
	}
}

/* The body in which a node reads its input i. A node that ends a branch or loop
 * reads the results of the body in this body; fuse_loops.c drops those copies
 * before such a node that are not needed. */
static int
reads_in(const struct node *n, int i)
{
	if (node_ends_if(n) && i > 0) {
		return (int)node_attr_int(n,
					  i <= n->n_outputs ? "then" : "else",
					  0);
	}
	if (node_ends_loop(n) && i >= node_loop_end(n).next) {
		return (int)node_attr_int(n, "loop", 0);
	}
	return n->body;
}

typedef VEC(struct node *) node_list;

/* By index in graph.run_sizes: the nodes that rely on the size. */
static node_list *
find_size_users(struct graph *g)
{
	struct arena *a = &g->module->arena;
	node_list *users = arena_array(a, node_list, g->run_sizes.n + 1);
	struct pointer_map numbers;

	graph_number_sizes(g, &numbers);
	for (int i = 0; i < g->nodes.n && g->run_sizes.n > 0; i++) {
		size_numbers sizes = { 0 };

		graph_add_node_sizes(&numbers, g->nodes.data[i], &sizes);
		for (int k = 0; k < sizes.n; k++) {
			vec_push(a, &users[sizes.data[k]], g->nodes.data[i]);
		}
	}
	return users;
}

/* The innermost body that contains `late` (if that is not -1) and all nodes that
 * rely on a size that n reads. */
static int
around_users(const struct graph *g, const struct node *n,
	     const node_list *size_users, int late)
{
	for (int i = 0; node_run_sizes(n) >= 0 && i < g->run_sizes.n; i++) {
		if (g->run_sizes.data[i].read_by != n) {
			continue;
		}
		for (int k = 0; k < size_users[i].n; k++) {
			int body = size_users[i].data[k]->body;

			late = late < 0 ? body
					: graph_common_body(g, late, body);
		}
	}
	return late;
}

/* Moves n inward, into the innermost branch that contains all its readers and
 * all nodes that rely on sizes that n reads, but not into a loop. */
static void
place_late(const struct graph *g, struct node *n, const node_list *size_users)
{
	int late = -1, into;

	if (node_is_control(n)) {
		return;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		const struct tensor *t = n->outputs[k];

		if (t == NULL) {
			continue;
		}
		if (t->is_output) {
			return;
		}
		for (int i = 0; i < t->uses.n; i++) {
			int body = reads_in(t->uses.data[i].node,
					    t->uses.data[i].input);

			late = late < 0 ? body
					: graph_common_body(g, late, body);
		}
	}
	late = around_users(g, n, size_users, late);
	while (late >= 0 && late != n->body) {
		for (into = late; g->bodies.data[into].parent != n->body;
		     into = g->bodies.data[into].parent) {
		}
		if (g->bodies.data[into].is_loop) {
			return;
		}
		n->body = into;
	}
}

static bool
ends_body(const struct node *n)
{
	return node_ends_if(n) || node_ends_loop(n);
}

/* The bodies that each node ends, as linked lists: `first` maps a node to the
 * first body that it ends, `next` a body to the next body with the same end. 0:
 * there is no such body. */
struct ended {
	struct pointer_map first;
	int *next;
};

static struct ended
find_ended(struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct ended e = { .next = arena_array(a, int, g->bodies.n + 1) };

	pointer_map_init(&e.first, a);
	for (int b = g->bodies.n - 1; b > 0; b--) {
		const struct node *end = g->bodies.data[b].end;

		if (end != NULL) {
			e.next[b] = pointer_map_get(&e.first, end, 0);
			pointer_map_put(&e.first, end, b);
		}
	}
	return e;
}

/* Appends the nodes of a body to `out`; the nodes of an inner branch or loop
 * come right before the node that ends it. */
static void
append_body(struct graph *g, const struct ended *ended, const node_list *of,
	    int body, node_list *out)
{
	for (int i = 0; i < of[body].n; i++) {
		struct node *n = of[body].data[i];
		int b = ends_body(n) ? pointer_map_get(&ended->first, n, 0) : 0;

		for (; b > 0; b = ended->next[b]) {
			append_body(g, ended, of, b, out);
		}
		vec_push(&g->module->arena, out, n);
	}
}

void
graph_order_by_body(struct graph *g)
{
	struct arena *a = &g->module->arena;
	node_list *of = arena_array(a, node_list, g->bodies.n + 1);
	node_list out = { 0 };
	struct ended ended = find_ended(g);

	for (int i = 0; i < g->nodes.n; i++) {
		vec_push(a, &of[g->nodes.data[i]->body], g->nodes.data[i]);
	}
	append_body(g, &ended, of, 0, &out);
	memcpy(g->nodes.data, out.data, sizeof *out.data * (size_t)g->nodes.n);
}

void
graph_find_bodies(struct graph *g)
{
	node_list *size_users;

	for (int b = 0; b < g->bodies.n; b++) {
		g->bodies.data[b].end = NULL;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		n->body = 0;
		if (node_ends_if(n)) {
			add_body(g, n, "then", false, false);
			add_body(g, n, "else", false, true);
		} else if (node_ends_loop(n)) {
			add_body(g, n, "loop", true, false);
		}
	}
	find_run_sizes(g);
	if (g->bodies.n == 0) {
		return;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		place_early(g, g->nodes.data[i]);
	}
	size_users = find_size_users(g);
	for (int i = g->nodes.n - 1; i >= 0; i--) {
		place_late(g, g->nodes.data[i], size_users);
	}
	graph_order_by_body(g);
}
