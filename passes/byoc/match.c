/* SPDX-License-Identifier: Apache-2.0 */
/* Matches a pattern around a node. The nodes of a pattern are found one by one,
 * each from a node that was found before it: as the producer of an input of
 * that node, or among the readers of that node's result. The search backtracks.
 * After the body, followers are matched, as many as possible.
 *
 *	nodes  mul: Mul (before, s)      y = Mul (x, t)
 *	       s: Sigmoid (before)       t = Sigmoid (x)
 *
 * Only nodes of the match may read a value that a node of the match passes to
 * another node of it, and only as the inputs that the pattern names: the value
 * is not in memory afterwards. */
#include "byoc.h"
#include "ops.h"
#include "rewrite.h"

struct matcher {
	struct graph *graph;
	const struct backend *backend;
	const struct pattern *pattern;
	/* the variant of the body, or the follower, that is being matched */
	const struct pattern_graph *body;
	/* the tensor that the follower reads; NULL for a body */
	struct tensor *before;
	/* by node of `body`: the matched node of the graph; NULL if not found
	 * yet */
	struct node **found;
	/* by node of `body`: true if its inputs 0 and 1 are exchanged */
	bool *swapped;
	/* the match so far: the body and the followers that are already
	 * matched */
	struct region_match *match;
};

bool
byoc_is_op(const struct pattern_node *p, const struct node *n)
{
	for (int i = 0; i < p->n_ops; i++) {
		const char *op = p->ops[i], *dot = strchr(op, '.');
		size_t length = dot != NULL ? (size_t)(dot - op) : 0;

		if (strlen(n->domain) == length &&
		    memcmp(n->domain, op, length) == 0 &&
		    strcmp(n->op_type, dot != NULL ? dot + 1 : op) == 0) {
			return true;
		}
	}
	return false;
}

static struct tensor *
input_at(const struct matcher *m, int node, const struct node *n, int i)
{
	if (m->swapped[node] && i < 2) {
		i = 1 - i;
	}
	return node_input(n, i);
}

static struct tensor *
output_at(const struct node *n, int k)
{
	return k < n->n_outputs ? n->outputs[k] : NULL;
}

/* The inputs of n, which matches `node` of the pattern, in the pattern's
 * order. */
static struct tensor **
inputs_of(const struct matcher *m, int node, const struct node *n)
{
	struct tensor **in = arena_array(&m->graph->module->arena,
					 struct tensor *, n->n_inputs + 2);

	for (int i = 0; i < n->n_inputs; i++) {
		in[i] = input_at(m, node, n, i);
	}
	return in;
}

/* The condition on input i; NULL if the pattern does not have an input i. */
static const struct tensor_condition *
input_condition(const struct pattern_node *p, int i)
{
	return i < p->n_inputs ? &p->inputs[i] : p->rest;
}

static bool
fail(const struct matcher *m, int node, const struct node *n, const char *why)
{
	const struct pattern_node *p = &m->body->nodes[node];

	byoc_note(m->graph, n, m->backend, m->pattern,
		  m->body->name != NULL ? m->body->name : p->id, why);
	return false;
}

/* -- one node -- */

/* Is t the result of the node that the condition names, or does the condition
 * name no node? If the named node has not been found yet: is t an output, with
 * the index that the condition names, of any node? */
static bool
edge_fits(const struct matcher *m, const struct tensor_condition *c,
	  const struct tensor *t)
{
	const struct node *other;

	if (c->kind != TENSOR_NODE) {
		return true;
	}
	if (c->node == BEFORE) {
		return t == m->before;
	}
	other = m->found[c->node];
	return other != NULL ? output_at(other, c->node_output) == t
			     : t != NULL && t->producer != NULL &&
				       t->output_index == c->node_output;
}

static const char *
inputs_fail(const struct matcher *m, int node, const struct node *n)
{
	const struct pattern_node *p = &m->body->nodes[node];
	int count = n->n_inputs > p->n_inputs ? n->n_inputs : p->n_inputs;

	for (int i = 0; i < count && p->check_inputs; i++) {
		const struct tensor_condition *c = input_condition(p, i);
		struct tensor *t = input_at(m, node, n, i);
		const char *what = byoc_reason(m->graph, "input %d", i);
		const char *why;

		if (c == NULL) {
			if (t != NULL) {
				return "it has more inputs than the pattern";
			}
			continue;
		}
		why = byoc_tensor_fails(m->graph, c, t, what);
		if (why != NULL) {
			return why;
		}
		if (t != NULL && !edge_fits(m, c, t)) {
			/* The node may still fit with its inputs exchanged. */
			return p->any_order
				       ? ""
				       : byoc_reason(
						 m->graph,
						 "%s is not the result of '%s'",
						 what,
						 c->node == BEFORE
							 ? "before"
							 : m->body->nodes
								   [c->node]
									   .id);
		}
	}
	return NULL;
}

static const char *
outputs_fail(const struct matcher *m, int node, const struct node *n)
{
	static const struct tensor_condition absent = {
		.kind = TENSOR_ABSENT,
		.is_static = -1,
	};
	const struct pattern_node *p = &m->body->nodes[node];
	int count = n->n_outputs > p->n_outputs ? n->n_outputs : p->n_outputs;

	for (int k = 0; k < count; k++) {
		const struct tensor_condition *c = k < p->n_outputs
							   ? &p->outputs[k]
							   : &absent;
		const char *what = byoc_reason(m->graph, "output %d", k);
		const char *why = NULL;

		if (k < p->n_outputs || (k > 0 && !p->more_outputs)) {
			why = byoc_tensor_fails(m->graph, c, output_at(n, k),
						what);
		}
		if (why != NULL) {
			return why;
		}
	}
	return NULL;
}

static const char *
facts_fail(const struct matcher *m, int node, const struct node *n)
{
	const struct pattern_node *p = &m->body->nodes[node];
	struct fact *facts;
	struct tensor **in;

	if (p->n_facts == 0) {
		return NULL;
	}
	in = inputs_of(m, node, n);
	facts = arena_array(&m->graph->module->arena, struct fact, p->n_facts);
	for (int i = 0; i < p->n_facts; i++) {
		const char *why = byoc_fact(m->graph, &p->facts[i], n, in,
					    &facts[i]);

		if (why == NULL && p->facts[i].at_least != NULL) {
			why = byoc_order_fails(m->graph, p->facts[i].at_least,
					       facts, i);
		}
		if (why != NULL) {
			return why;
		}
	}
	return NULL;
}

static bool
fits(const struct matcher *m, int node, const struct node *n)
{
	const struct pattern_node *p = &m->body->nodes[node];
	const char *why = NULL;

	if (!byoc_is_op(p, n) || n->match != NULL) {
		return false;
	}
	for (int i = 0; why == NULL && i < p->n_attributes; i++) {
		why = byoc_attribute_fails(m->graph, &p->attributes[i], n);
	}
	why = why != NULL ? why : inputs_fail(m, node, n);
	why = why != NULL ? why : outputs_fail(m, node, n);
	why = why != NULL ? why : facts_fail(m, node, n);
	why = why != NULL ? why : byoc_product_fails(n);
	if (why == NULL && p->full_windows) {
		why = byoc_windows_fail(m->graph, n);
	}
	return why == NULL || (*why != '\0' ? fail(m, node, n, why) : false);
}

/* -- all of them together -- */

static bool
is_found(const struct matcher *m, const struct node *n)
{
	for (int i = 0; i < m->body->n_nodes; i++) {
		if (m->found[i] == n) {
			return true;
		}
	}
	return false;
}

static bool
is_matched(const struct matcher *m, const struct node *n)
{
	for (int i = 0; i < m->match->nodes.n; i++) {
		if (m->match->nodes.data[i].node == n) {
			return true;
		}
	}
	return is_found(m, n);
}

/* Returns NULL if only matched nodes of the body read t, else the reason:
 * another node reads it, or it is an output of the model. */
static const char *
read_outside(const struct matcher *m, const struct tensor *t)
{
	if (t->is_output) {
		return "its result is an output of the model";
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (!is_found(m, t->uses.data[i].node)) {
			return "its result is also read outside of the match";
		}
	}
	return NULL;
}

/* Returns NULL if the node reads results of other matched nodes only by the
 * inputs for which the pattern says so, else the reason why not. */
static const char *
reads_elsewhere(const struct matcher *m, int node)
{
	const struct pattern_node *p = &m->body->nodes[node];
	const struct node *n = m->found[node];

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = input_at(m, node, n, i);
		bool edge = p->check_inputs && i < p->n_inputs &&
			    p->inputs[i].kind == TENSOR_NODE;

		if (t != NULL && t->producer != NULL && !edge &&
		    is_matched(m, t->producer)) {
			return "it also reads a value of the match in "
			       "another input than the pattern's";
		}
	}
	return NULL;
}

/* The tensor of the graph to which a reference of the pattern refers. */
static const struct tensor *
tensor_of(const struct matcher *m, struct tensor_ref ref)
{
	const struct node *n;

	if (ref.node == BEFORE) {
		return m->before;
	}
	n = m->found[ref.node];
	return ref.input < 0 ? output_at(n, 0)
			     : input_at(m, ref.node, n, ref.input);
}

static const char *
relation_fails(const struct matcher *m, const struct tensor_condition *c,
	       const struct tensor *t)
{
	const struct tensor *other;

	if (t == NULL) {
		return NULL;
	}
	if (c->same_shape.node != -1) {
		other = tensor_of(m, c->same_shape);
		if (other == NULL || !tensor_same_shape(t, other)) {
			return "the shapes differ";
		}
	}
	if (c->broadcasts_to.node != -1) {
		other = tensor_of(m, c->broadcasts_to);
		if (other == NULL || !byoc_broadcasts_to(t, other)) {
			return "the shape does not broadcast to the other";
		}
	}
	if (c->row_of.node != -1) {
		other = tensor_of(m, c->row_of);
		if (other == NULL || !byoc_is_row_of(t, other)) {
			return "it is not a row of the other";
		}
	}
	if (c->same_dtype.node != -1) {
		other = tensor_of(m, c->same_dtype);
		if (other == NULL || !dtype_equal(t->type, other->type)) {
			return "the types differ";
		}
	}
	return NULL;
}

static const char *
relations_fail(const struct matcher *m, int node)
{
	const struct pattern_node *p = &m->body->nodes[node];
	const struct node *n = m->found[node];
	const char *why = NULL;

	for (int i = 0; why == NULL && i < n->n_inputs; i++) {
		const struct tensor_condition *c = input_condition(p, i);

		if (c != NULL && p->check_inputs) {
			why = relation_fails(m, c, input_at(m, node, n, i));
		}
	}
	for (int k = 0; why == NULL && k < p->n_outputs; k++) {
		why = relation_fails(m, &p->outputs[k], output_at(n, k));
	}
	return why;
}

/* May a tensor t, which is read or written across the border of the match, have
 * this condition (c, or NULL)? Returns NULL if it may, else the reason. An
 * element of fewer than 8 bits is a byte of which only the low bits are
 * defined; a library may read the high bits, so c must name the type in
 * `dtype`. */
static const char *
takes_bits(const struct matcher *m, const struct tensor_condition *c,
	   const struct tensor *t)
{
	bool read = c == NULL || (!c->has_value && c->is_parameter != 0);
	uint64_t named = c != NULL ? c->dtypes : 0;

	if (t == NULL || dtype_bits(t->type) >= 8 || !read ||
	    (named >> t->type.kind & 1) != 0) {
		return NULL;
	}
	return byoc_reason(m->graph,
			   "%s are bytes of which the low bits count; a "
			   "pattern takes them whose dtype names the type",
			   dtype_name(t->type));
}

static const char *
bits_fail(const struct matcher *m, int node)
{
	const struct pattern_node *p = &m->body->nodes[node];
	const struct node *n = m->found[node];
	const char *why = NULL;

	for (int i = 0; why == NULL && i < n->n_inputs; i++) {
		const struct tensor *t = input_at(m, node, n, i);

		if (t != NULL &&
		    (t->producer == NULL || !is_matched(m, t->producer))) {
			why = takes_bits(m,
					 p->check_inputs ? input_condition(p, i)
							 : NULL,
					 t);
		}
	}
	for (int k = 0; why == NULL && k < n->n_outputs; k++) {
		const struct tensor *t = output_at(n, k);

		if (t != NULL && read_outside(m, t) != NULL) {
			why = takes_bits(m,
					 k < p->n_outputs ? &p->outputs[k]
							  : NULL,
					 t);
		}
	}
	return why;
}

static bool
whole_fits(const struct matcher *m)
{
	const char *why = m->before != NULL ? read_outside(m, m->before) : NULL;

	if (why != NULL) {
		return fail(m, m->body->order[0], m->found[m->body->order[0]],
			    "its input is also read outside of the match, or "
			    "is an output");
	}
	for (int i = 0; i < m->body->n_nodes; i++) {
		const struct node *n = m->found[i];

		why = reads_elsewhere(m, i);
		why = why != NULL ? why : relations_fail(m, i);
		why = why != NULL ? why : bits_fail(m, i);
		for (int k = 0;
		     why == NULL && m->body->inner[i] && k < n->n_outputs;
		     k++) {
			if (n->outputs[k] != NULL) {
				why = read_outside(m, n->outputs[k]);
			}
		}
		if (why != NULL) {
			return fail(m, i, n, why);
		}
	}
	return true;
}

/* -- the search -- */

static bool search(struct matcher *m, int step);

static bool
try_node(struct matcher *m, int step, struct node *n)
{
	int node = m->body->order[step];
	int ways = m->body->nodes[node].any_order ? 2 : 1;

	if (n == NULL || is_matched(m, n)) {
		return false;
	}
	for (int way = 0; way < ways; way++) {
		m->swapped[node] = way == 1;
		if (!fits(m, node, n)) {
			continue;
		}
		m->found[node] = n;
		if (search(m, step + 1)) {
			return true;
		}
		m->found[node] = NULL;
	}
	m->swapped[node] = false;
	return false;
}

/* The input, of a node that is already found, that the pattern's node `wanted`
 * must produce; NULL if no found node has such an input. */
static struct tensor *
read_by_found(const struct matcher *m, int wanted)
{
	for (int i = 0; i < m->body->n_nodes; i++) {
		const struct pattern_node *p = &m->body->nodes[i];

		for (int k = 0; m->found[i] != NULL && k < p->n_inputs; k++) {
			if (p->inputs[k].kind == TENSOR_NODE &&
			    p->inputs[k].node == wanted) {
				return input_at(m, i, m->found[i], k);
			}
		}
	}
	return NULL;
}

/* The result, of a node that is already found, that the pattern's node `wanted`
 * reads; NULL if there is no such result. */
static struct tensor *
read_of_found(const struct matcher *m, int wanted)
{
	const struct pattern_node *p = &m->body->nodes[wanted];

	for (int k = 0; k < p->n_inputs; k++) {
		const struct tensor_condition *c = &p->inputs[k];

		if (c->kind != TENSOR_NODE) {
			continue;
		}
		if (c->node == BEFORE) {
			return m->before;
		}
		if (m->found[c->node] != NULL) {
			return output_at(m->found[c->node], c->node_output);
		}
	}
	return NULL;
}

static bool
search(struct matcher *m, int step)
{
	struct tensor *t;

	if (step == m->body->n_nodes) {
		return whole_fits(m);
	}
	t = read_by_found(m, m->body->order[step]);
	if (t != NULL) {
		return try_node(m, step, t->producer);
	}
	t = read_of_found(m, m->body->order[step]);
	for (int i = 0; t != NULL && i < t->uses.n; i++) {
		if (try_node(m, step, t->uses.data[i].node)) {
			return true;
		}
	}
	return false;
}

/* -- the result -- */

/* Is input i left out of the parameters of the region's functions, because
 * facts tell templates its value, or because the pattern says so? */
static bool
facts_cover_input(const struct pattern_node *p, int i)
{
	const struct tensor_condition *c = p->check_inputs
						   ? input_condition(p, i)
						   : NULL;
	bool told = false;

	for (int k = 0; k < p->n_facts; k++) {
		told = told || p->facts[k].input == i;
	}
	return c != NULL && c->is_parameter >= 0 ? c->is_parameter == 0 : told;
}

/* The result of facts_cover_input for each input of the node; NULL if all are
 * false. */
static const bool *
inputs_in_facts(const struct matcher *m, int node, const struct node *n)
{
	bool *told = arena_array(&m->graph->module->arena, bool,
				 n->n_inputs + 1);
	bool any = false;

	for (int i = 0; i < n->n_inputs; i++) {
		told[i] = facts_cover_input(&m->body->nodes[node],
					    m->swapped[node] && i < 2 ? 1 - i
								      : i);
		any = any || told[i];
	}
	return any ? told : NULL;
}

static void
keep(struct matcher *m, int step)
{
	struct arena *a = &m->graph->module->arena;

	for (int i = 0; i < m->body->n_nodes; i++) {
		const struct pattern_node *p = &m->body->nodes[i];
		struct node *n = m->found[i];
		struct match_node row = { n, p->id, step, m->body->name,
					  inputs_in_facts(m, i, n) };
		struct tensor **in = inputs_of(m, i, n);

		vec_push(a, &m->match->nodes, row);
		for (int k = 0; k < p->n_facts; k++) {
			struct fact fact;

			byoc_fact(m->graph, &p->facts[k], n, in, &fact);
			fact.step = step;
			vec_push(a, &m->match->facts, fact);
		}
	}
}

static bool
match_body(struct matcher *m, const struct pattern_graph *body,
	   struct node *anchor)
{
	struct arena *a = &m->graph->module->arena;

	m->body = body;
	m->found = arena_array(a, struct node *, body->n_nodes + 1);
	m->swapped = arena_array(a, bool, body->n_nodes + 1);
	return anchor != NULL ? try_node(m, 0, anchor) : search(m, 0);
}

/* Matches one follower of the chain that reads m->before, and sets m->before to
 * the follower's result; false if none matches. */
static bool
take_follower(struct matcher *m, const struct pattern_chain *chain)
{
	for (int i = 0; m->before != NULL && i < chain->n_one_of; i++) {
		const struct pattern_graph *f = &chain->one_of[i];

		if (match_body(m, f, NULL)) {
			keep(m, m->match->n_steps++);
			m->before = output_at(m->found[f->result], 0);
			return true;
		}
	}
	return false;
}

static bool
take_chains(struct matcher *m)
{
	for (int i = 0; i < m->pattern->n_chains; i++) {
		const struct pattern_chain *chain = &m->pattern->chains[i];
		int n = 0;

		while (n < chain->max && take_follower(m, chain)) {
			n++;
		}
		if (n < chain->min) {
			byoc_note(m->graph, m->match->anchor, m->backend,
				  m->pattern, m->pattern->anchor,
				  "a node that must follow it is missing");
			return false;
		}
	}
	return true;
}

static bool
is_worth_it(const struct matcher *m)
{
	const struct pattern *p = m->pattern;
	int64_t macs = match_macs(m->match), bytes = 0;

	for (int i = 0; i < m->match->nodes.n; i++) {
		const struct node *n = m->match->nodes.data[i].node;

		for (int k = 0; k < n->n_inputs + n->n_outputs; k++) {
			const struct tensor *t =
				k < n->n_inputs ? n->inputs[k]
						: n->outputs[k - n->n_inputs];
			int64_t size = t != NULL ? tensor_bytes_max(t) : 0;

			bytes = size > INT64_MAX - bytes ? INT64_MAX
							 : bytes + size;
		}
	}
	if (macs >= p->min_macs && bytes >= p->min_bytes) {
		return true;
	}
	byoc_note(m->graph, m->match->anchor, m->backend, p, p->anchor,
		  macs < p->min_macs
			  ? byoc_reason(m->graph,
					"its %lld multiply-accumulates are not "
					"worth it (%lld would be)",
					(long long)macs, (long long)p->min_macs)
			  : byoc_reason(m->graph,
					"its %lld bytes are not worth it (%lld "
					"would be)",
					(long long)bytes,
					(long long)p->min_bytes));
	return false;
}

static bool
is_asked_for(const struct matcher *m, const struct node *anchor)
{
	const struct pattern *p = m->pattern;

	for (int i = 0; i < p->n_options; i++) {
		const struct pattern_option *o = &p->options[i];
		const char *is = backend_option(m->backend, o->name);

		if (strcmp(is, o->value) != 0) {
			byoc_note(m->graph, anchor, m->backend, p, p->anchor,
				  byoc_reason(m->graph,
					      "option %s is '%s'; '%s' is "
					      "required",
					      o->name, is, o->value));
			return false;
		}
	}
	return true;
}

struct region_match *
byoc_match(struct graph *g, const struct backend *b, const struct pattern *p,
	   struct node *anchor)
{
	struct matcher m = { .graph = g, .backend = b, .pattern = p };

	if (!is_asked_for(&m, anchor)) {
		return NULL;
	}
	for (int i = 0; i < p->n_variants; i++) {
		m.before = NULL;
		m.match = region_match_new(g, b, b->name, p->name);
		m.match->anchor = anchor;
		if (!match_body(&m, &p->variants[i], anchor)) {
			continue;
		}
		keep(&m, -1);
		m.before = output_at(m.found[p->variants[i].result], 0);
		if (take_chains(&m) && is_worth_it(&m)) {
			return m.match;
		}
	}
	return NULL;
}
