/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of graphs, which keep links in both directions consistent and record
 * changes in the origins. */
#include <assert.h>

#include "graph.h"
#include "text.h"

static bool
is_use(const struct tensor *t, int i, const struct node *n, int input)
{
	return t->uses.data[i].node == n && t->uses.data[i].input == input;
}

/* Removes a use from t's list. Searches from both ends of the list, and moves
 * the entries between the use and the nearer end: passes mostly edit the first
 * uses or the last ones. */
static void
use_remove(struct tensor *t, const struct node *n, int input)
{
	struct use *uses = t->uses.data;
	int last = t->uses.n - 1, i = 0;

	while (i <= last - i && !is_use(t, i, n, input) &&
	       !is_use(t, last - i, n, input)) {
		i++;
	}
	if (i > last - i) {
		return;
	}
	if (is_use(t, i, n, input)) {
		memmove(uses + 1, uses, sizeof *uses * (size_t)i);
		t->uses.data++;
		t->uses.cap--;
	} else {
		memmove(uses + last - i, uses + last - i + 1,
			sizeof *uses * (size_t)i);
	}
	t->uses.n--;
}

void
node_set_input(struct node *n, int i, struct tensor *t)
{
	if (n->inputs[i]) {
		use_remove(n->inputs[i], n, i);
	}
	n->graph->edits++;
	n->inputs[i] = t;
	if (t) {
		vec_push(&n->graph->module->arena, &t->uses,
			 ((struct use){ n, i }));
	}
}

struct tensor *
node_input(const struct node *n, int i)
{
	return i < n->n_inputs ? n->inputs[i] : NULL;
}

void
node_resize_inputs(struct node *n, int count)
{
	struct tensor **inputs = arena_array(&n->graph->module->arena,
					     struct tensor *, count + 1);

	for (int i = count; i < n->n_inputs; i++) {
		node_set_input(n, i, NULL);
	}
	for (int i = 0; i < n->n_inputs && i < count; i++) {
		inputs[i] = n->inputs[i];
	}
	n->inputs = inputs;
	n->n_inputs = count;
}

static void
swap_names(struct graph *g, struct tensor *a, struct tensor *b)
{
	const char *name_a = a->name, *name_b = b->name;

	/* An unused temporary name. */
	graph_rename(g, a, arena_printf(&g->module->arena, "%s.swap", name_a));
	graph_rename(g, b, name_a);
	graph_rename(g, a, name_b);
}

void
graph_replace_uses(struct graph *g, struct tensor *from, struct tensor *to)
{
	struct arena *a = &g->module->arena;

	if (from == to) {
		return;
	}
	g->edits++;
	if (to->model_name == NULL || from->is_output) {
		to->model_name = from->model_name;
		to->stored_offset = from->stored_offset;
	}
	for (int i = 0; i < from->uses.n; i++) {
		struct use *u = &from->uses.data[i];

		u->node->inputs[u->input] = to;
		vec_push(a, &to->uses, *u);
	}
	from->uses.n = 0;
	if (!from->is_output) {
		return;
	}
	to->reals = from->reals;
	to->is_string = from->is_string;
	for (int i = 0; i < g->outputs.n; i++) {
		if (g->outputs.data[i] == from) {
			g->outputs.data[i] = to;
		}
	}
	from->is_output = false;
	if (!to->is_input && !to->is_output) {
		swap_names(g, from, to);
	}
	to->is_output = true;
}

/* Has the pass already recorded this change of the origin? Without this test, a
 * pass that runs again would record the change twice. */
static bool
says_already(const struct origin *o, const char *pass, const char *why)
{
	size_t n = strlen(o->fate), m = strlen(why);

	return strcmp(o->pass, pass) == 0 && n >= m &&
	       strcmp(o->fate + n - m, why) == 0;
}

/* The text, cut at a length that a person reads: a node that is moved in
 * thousands of steps would get as many sentences. */
static const char *
bounded_fate(struct arena *a, struct origin *o, const char *text)
{
	enum { LONGEST = 1000 };
	size_t n = strlen(text);

	o->fate_is_cut = n > LONGEST;
	return o->fate_is_cut ? text_cut(a, text, LONGEST, LONGEST)
			      : arena_strndup(a, text, n);
}

static void
note_origin(struct graph *g, struct origin *o, const char *pass,
	    const char *why)
{
	struct arena *a = &g->module->arena;

	if (o->pass == NULL) {
		o->fate = bounded_fate(a, o, why);
	} else if (!o->fate_is_cut && !says_already(o, pass, why)) {
		o->fate = bounded_fate(a, o,
				       arena_printf(a, "%s (%s); %s", o->fate,
						    o->pass, why));
	}
	o->pass = pass;
}

void
graph_note(struct graph *g, const struct node *n, const char *pass,
	   const char *why)
{
	for (int i = 0; i < n->origins.n; i++) {
		note_origin(g, &g->origins.data[n->origins.data[i]], pass, why);
	}
}

/* Records the removal of a node in its origins, except in origins whose result
 * another node computes (settled). */
static void
set_fate(struct graph *g, const struct node *n, const char *pass,
	 const char *why)
{
	for (int i = 0; pass != NULL && i < n->origins.n; i++) {
		struct origin *o = &g->origins.data[n->origins.data[i]];

		if (!o->settled) {
			note_origin(g, o, pass, why);
		}
	}
}

/* The position of n in g->nodes, searched outwards from the place of the last
 * removal; -1 if n is not in the list. */
static int
position_of(const struct graph *g, const struct node *n)
{
	int from = g->edited_at;

	for (int i = 0; i <= from || from + i < g->nodes.n; i++) {
		if (from + i < g->nodes.n && g->nodes.data[from + i] == n) {
			return from + i;
		}
		if (i <= from && from - i < g->nodes.n &&
		    g->nodes.data[from - i] == n) {
			return from - i;
		}
	}
	return -1;
}

static void
take_from_order(struct graph *g, struct node *n)
{
	int at = position_of(g, n);

	g->edits++;
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i]) {
			use_remove(n->inputs[i], n, i);
		}
	}
	if (at >= 0) {
		memmove(&g->nodes.data[at], &g->nodes.data[at + 1],
			sizeof n * (size_t)(g->nodes.n - 1 - at));
		g->nodes.n--;
		g->edited_at = at;
	}
}

void
graph_remove_node(struct graph *g, struct node *n, const char *pass,
		  const char *why)
{
	set_fate(g, n, pass, why);
	take_from_order(g, n);
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] && n->outputs[i]->producer == n) {
			n->outputs[i]->producer = NULL;
		}
	}
}

void
graph_make_recipe(struct graph *g, struct node *n, const char *pass,
		  const char *why)
{
	set_fate(g, n, pass, why);
	take_from_order(g, n);
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i]) {
			n->outputs[i]->producer = NULL;
			n->outputs[i]->recipe = n;
			n->outputs[i]->made_by = n;
		}
	}
}

/* -- origins of nodes and constants -- */

static void
add_origin(struct node *n, int origin)
{
	int low = 0, high = n->origins.n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (n->origins.data[middle] < origin) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low < n->origins.n && n->origins.data[low] == origin) {
		return;
	}
	vec_push(&n->graph->module->arena, &n->origins, origin);
	memmove(&n->origins.data[low + 1], &n->origins.data[low],
		sizeof origin * (size_t)(n->origins.n - 1 - low));
	n->origins.data[low] = origin;
}

void
graph_share_origins(struct node *n, const struct node *of)
{
	for (int i = 0; n != of && i < of->origins.n; i++) {
		add_origin(n, of->origins.data[i]);
	}
}

void
graph_absorb(struct node *into, struct node *from)
{
	struct node before = *into;

	if (into == from) {
		return;
	}
	/* The shorter of both lists of origins is appended to the longer one,
	 * which is not copied: nodes may replace each other thousands of
	 * times. */
	if (from->origins.n > into->origins.n) {
		into->origins = from->origins;
		from->origins = before.origins;
	}
	graph_share_origins(into, from);
	memset(&from->origins, 0, sizeof from->origins);
}

void
graph_take_up(struct graph *g, const struct node *n, struct node *into,
	      const char *pass, const char *why)
{
	graph_note(g, n, pass, why);
	for (int i = 0; i < n->origins.n; i++) {
		g->origins.data[n->origins.data[i]].settled = true;
	}
	if (into != NULL) {
		graph_share_origins(into, n);
	}
}

static const char *
origin_output(const struct origin *o)
{
	return o->output != NULL ? o->output : "";
}

const char *
origin_label(const struct graph *g, int origin)
{
	const struct origin *o = &g->origins.data[origin];

	if (o->name != NULL && *o->name != '\0') {
		return o->name;
	}
	return *origin_output(o) != '\0'
		       ? arena_printf(&g->module->arena, "%s of %s", o->op_type,
				      origin_output(o))
		       : o->op_type;
}

const char *
origin_key(const struct graph *g, int origin)
{
	const struct origin *o = &g->origins.data[origin];
	const char *own = *origin_output(o) != '\0'
				  ? origin_output(o)
				  : arena_printf(&g->module->arena, "#%d",
						 o->index);

	return o->within < 0 ? own
			     : arena_printf(&g->module->arena, "%s/%s",
					    origin_key(g, o->within), own);
}

const char *
node_label(const struct graph *g, const struct node *n)
{
	for (int i = 0; i < n->origins.n; i++) {
		int origin = n->origins.data[i];

		if (strcmp(g->origins.data[origin].op_type, n->op_type) == 0) {
			return origin_label(g, origin);
		}
	}
	return n->origins.n > 0
		       ? origin_label(g, n->origins.data[n->origins.n - 1])
	       : *n->name != '\0' ? n->name
				  : n->op_type;
}

const char *
tensor_label(const struct tensor *t)
{
	return t->model_name != NULL ? t->model_name : t->name;
}

struct tensor *
graph_made_of(struct graph *g, struct tensor *t, const char *form,
	      const struct node *of, struct tensor *const *inputs, int n_inputs)
{
	struct arena *a = &g->module->arena;
	struct node *n = arena_new(a, struct node);

	n->op_type = arena_strdup(a, form);
	n->domain = "tirc.form";
	n->name = "";
	n->graph = g;
	n->n_inputs = n_inputs;
	n->inputs = arena_copy(a, inputs, sizeof *inputs * (size_t)n_inputs);
	if (of != NULL) {
		graph_share_origins(n, of);
	}
	t->made_by = n;
	return t;
}

struct tensor *
graph_describe(struct graph *g, const char *form, const struct node *of,
	       struct tensor *const *inputs, int n_inputs)
{
	struct tensor *t = arena_new(&g->module->arena, struct tensor);

	t->name = "";
	t->ndim = -1;
	return graph_made_of(g, t, form, of, inputs, n_inputs);
}

/* Kahn's algorithm, made stable: a binary heap of positions gives the ready
 * node that is first in the present order. */
struct ready {
	int *heap;
	int n;
};

static void
ready_push(struct ready *r, int position)
{
	int i = r->n++;

	while (i > 0 && r->heap[(i - 1) / 2] > position) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = position;
}

static int
ready_pop(struct ready *r)
{
	int top = r->heap[0], last = r->heap[--r->n], i = 0;

	for (;;) {
		int child = 2 * i + 1;

		if (child >= r->n) {
			break;
		}
		if (child + 1 < r->n && r->heap[child + 1] < r->heap[child]) {
			child++;
		}
		if (r->heap[child] >= last) {
			break;
		}
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = last;
	return top;
}

static void
report_cycle(struct graph *g, const int *missing, struct node *const *nodes,
	     int n)
{
	for (int i = 0; i < n; i++) {
		if (missing[i] > 0) {
			diag_error(&g->module->diags, DIAG_CYCLE,
				   node_place(g, nodes[i]),
				   "the node needs its own result; "
				   "break the cycle");
			return;
		}
	}
}

/* The position of the node in the list that is being sorted; -1 if it is not in
 * the list. During the sort, a node's id is its position. */
static int
position_in(struct node *const *nodes, int n, const struct node *node)
{
	return node != NULL && node->id >= 0 && node->id < n &&
			       nodes[node->id] == node
		       ? node->id
		       : -1;
}

static bool
sort_nodes(struct graph *g, struct node **list, int n)
{
	struct arena *a = &g->module->arena;
	int done = 0;
	struct node **nodes = arena_copy(a, list, sizeof *nodes * (size_t)n);
	int *missing = arena_array(a, int, n + 1);
	int *ids = arena_array(a, int, n + 1); /* ids by position */
	struct ready r = { arena_array(a, int, n + 1), 0 };

	/* During the sort, node.id holds positions; it is restored at the
	 * end. */
	for (int i = 0; i < n; i++) {
		ids[i] = nodes[i]->id;
		nodes[i]->id = i;
	}
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < nodes[i]->n_inputs; k++) {
			struct tensor *t = nodes[i]->inputs[k];

			missing[i] += t &&
				      position_in(nodes, n, t->producer) >= 0;
		}
		if (missing[i] == 0) {
			ready_push(&r, i);
		}
	}
	while (r.n > 0) {
		struct node *node = nodes[ready_pop(&r)];

		list[done++] = node;
		for (int k = 0; k < node->n_outputs; k++) {
			struct tensor *t = node->outputs[k];

			for (int u = 0; t && u < t->uses.n; u++) {
				int user = position_in(nodes, n,
						       t->uses.data[u].node);

				if (user >= 0 && --missing[user] == 0) {
					ready_push(&r, user);
				}
			}
		}
	}
	for (int i = 0; i < n; i++) {
		nodes[i]->id = ids[i];
	}
	if (done < n) {
		memcpy(list, nodes, sizeof *nodes * (size_t)n);
		report_cycle(g, missing, nodes, n);
		return false;
	}
	return true;
}

bool
graph_sort(struct graph *g)
{
	return sort_nodes(g, g->nodes.data, g->nodes.n);
}

bool
graph_sort_to(struct graph *g, int first, int to)
{
	int n = g->nodes.n - first;
	struct node **moved;

	assert(to <= first);
	if (n == 0) {
		return true;
	}
	if (!sort_nodes(g, g->nodes.data + first, n)) {
		return false;
	}
	moved = arena_copy(&g->module->arena, g->nodes.data + first,
			   sizeof *moved * (size_t)n);
	memmove(g->nodes.data + to + n, g->nodes.data + to,
		sizeof *moved * (size_t)(first - to));
	memcpy(g->nodes.data + to, moved, sizeof *moved * (size_t)n);
	return true;
}
