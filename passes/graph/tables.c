/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one byte become tables of their results: a chain of elementwise
 * nodes from one tensor of at most 8 bits to another, with a costly function
 * (Tanh, Sigmoid, Erf, ...) among them, or, with the setting slow_floats, any
 * float arithmetic. The executor computes the chain for each number of the
 * input's type.
 *
 *	a = DequantizeLinear (x, s, z)        const t: uint8[256] = {...}
 *	b = Tanh (a)                     ->   y = tirc.Table (x, t)
 *	y = QuantizeLinear (b, r, q)
 *
 * Constants that the chain reads have one element. Intermediate results that
 * other nodes read are still computed for them. */
#include <ctype.h>

#include "quantization.h"

enum { FORMULA_MAX = 240 };

/* How long a node takes for each element: CHEAP, less than a look-up in a
 * table; FLOATS, float arithmetic, which with vectors is as fast as a look-up;
 * COSTLY, much more than a look-up. */
enum cost { CHEAP, FLOATS, COSTLY };

/* How each tensor is computed: an entry for each tensor->id. */
struct origin_of {
	/* the tensor of which each element is a function of the element at the
	 * same index; NULL if no tensor is known */
	struct tensor *x;
	enum cost cost; /* the cost of the costliest node between x and the
			 * tensor */
};

struct chains {
	struct graph *g;
	struct node **nodes; /* the graph's nodes before the pass changed any */
	int n_nodes;
	struct origin_of *of;
	int n_of;
	/* The current chain: its nodes; then, by tensor id: whether the chain
	 * needs the tensor, the tensor's elements for all numbers of x, and its
	 * formula. */
	struct node **chain;
	bool *needed;
	struct tensor **made;
	const char **text;
};

static bool
is_small_integer(const struct tensor *t)
{
	return t->type.lanes == 1 && dtype_is_int(t->type) &&
	       dtype_bits(t->type) <= 8;
}

static bool
is_single(const struct tensor *t)
{
	int64_t elems;

	return tensor_is_constant(t) && tensor_const_elems(t, &elems) &&
	       elems == 1;
}

static bool
maps_elements(const struct node *n)
{
	return (n->op->fuse == FUSE_ELEMENTWISE ||
		n->op->fuse == FUSE_BROADCAST) &&
	       n->n_outputs == 1 && !n->match && !node_is_control(n) &&
	       node_attr_int(n, "block_size", 0) == 0;
}

/* -- finding chains -- */

/* The tensor x whose elements t's elements are functions of: that of origin_of,
 * or t itself. */
static struct tensor *
variable_of(const struct chains *c, struct tensor *t)
{
	struct tensor *x = t->id < c->n_of ? c->of[t->id].x : NULL;

	return x == NULL && is_small_integer(t) ? t : x;
}

static enum cost
cost_of(const struct node *n)
{
	bool floats = dtype_is_float(n->outputs[0]->type) ||
		      (n->n_inputs > 0 && n->inputs[0] &&
		       dtype_is_float(n->inputs[0]->type));

	return node_is_costly(n) ? COSTLY : floats ? FLOATS : CHEAP;
}

/* Is input i of n a parameter (a scale, a zero point or a bound) and not the
 * data? */
static bool
is_parameter(const struct node *n, int i)
{
	return i > 0 && (node_is(n, "QuantizeLinear") ||
			 node_is(n, "DequantizeLinear") || node_is(n, "Clip"));
}

static void
note_node(struct chains *c, const struct node *n)
{
	struct tensor *y = n->outputs[0], *x = NULL;
	enum cost cost = cost_of(n), before;

	/* The bytes of a LowBits' input may have any value: a table starts at
	 * its result, so that it has elements only for the numbers of the
	 * result's type. */
	if (node_is_internal(n, "LowBits")) {
		return;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i], *from;

		if (!t || is_single(t)) {
			continue;
		}
		from = variable_of(c, t);
		if (!from || (x && x != from) || is_parameter(n, i) ||
		    !tensor_same_shape(t, y)) {
			return;
		}
		x = from;
		before = c->of[t->id].cost;
		cost = before > cost ? before : cost;
	}
	c->of[y->id] = (struct origin_of){ .x = x, .cost = cost };
}

/* Sets c->chain to the nodes on the way from x to the result of c->nodes[last],
 * in the order of the graph; returns their number. */
static int
collect(struct chains *c, const struct tensor *x, int last)
{
	struct node **chain = c->chain;
	int n = 0, missing = 1;

	c->needed[c->nodes[last]->outputs[0]->id] = true;
	for (int i = last; i >= 0 && missing > 0; i--) {
		struct node *node = c->nodes[i];

		if (!node->outputs[0] || !c->needed[node->outputs[0]->id]) {
			continue;
		}
		c->needed[node->outputs[0]->id] = false;
		missing--;
		chain[n++] = node;
		for (int k = 0; k < node->n_inputs; k++) {
			const struct tensor *t = node->inputs[k];

			if (t && t != x && t->producer && !c->needed[t->id]) {
				c->needed[t->id] = true;
				missing++;
			}
		}
	}
	for (int i = 0; i < n / 2; i++) {
		struct node *swap = chain[i];

		chain[i] = chain[n - 1 - i];
		chain[n - 1 - i] = swap;
	}
	return n;
}

/* -- computing tables -- */

/* A constant with all numbers of x's type, from the lowest, along its last
 * dimension; it has as many dimensions as x. */
static struct tensor *
all_numbers(struct graph *g, const struct tensor *x)
{
	struct arena *a = &g->module->arena;
	int bits = dtype_bits(x->type), ndim = x->ndim > 0 ? x->ndim : 1;
	int64_t *shape = arena_array(a, int64_t, ndim);
	int64_t count = 1 << bits, low = 0;
	void *data = arena_alloc(a, (size_t)count);

	if (dtype_class(x->type) == DTC_INT) {
		low = -count / 2;
	}
	for (int64_t i = 0; i < count; i++) {
		number_store(x->type, data, (size_t)i,
			     (union number){ .i = low + i });
	}
	for (int d = 0; d < ndim; d++) {
		shape[d] = d < ndim - 1 ? 1 : count;
	}
	return graph_constant(g, "numbers", x->type, ndim, shape, data);
}

/* The result of n's operator for constants, `made` by tensor id; NULL after a
 * diagnostic. */
static struct tensor *
compute(struct graph *g, const struct node *n, struct tensor *const *made)
{
	struct tensor **in = arena_array(&g->module->arena, struct tensor *,
					 n->n_inputs + 1);

	for (int i = 0; i < n->n_inputs; i++) {
		in[i] = n->inputs[i] && made[n->inputs[i]->id]
				? made[n->inputs[i]->id]
				: n->inputs[i];
	}
	return constant_of(g, n, in);
}

/* -- describing tables -- */

static const char *
number_text(struct graph *g, struct tensor *t)
{
	int64_t n;
	const double *v = constant_doubles(g, t, &n);

	return v ? arena_printf(&g->module->arena, "%.9g", v[0]) : "constant";
}

/* The text e, in parentheses unless it needs none as an operand. */
static const char *
operand(struct arena *a, const char *e)
{
	int depth = 0;

	for (const char *c = e; *c != '\0'; c++) {
		depth += *c == '(' ? 1 : *c == ')' ? -1 : 0;
		if (depth == 0 && *c == ' ') {
			return arena_printf(a, "(%s)", e);
		}
	}
	return e;
}

static const char *
sign_of(const struct node *n)
{
	return node_is(n, "Add")   ? "+"
	       : node_is(n, "Sub") ? "-"
	       : node_is(n, "Mul") ? "*"
	       : node_is(n, "Div") ? "/"
				   : NULL;
}

/* The text "e - zero", or with another sign; "e" if the zero point is 0 or
 * absent. */
static const char *
with_zero(struct graph *g, const char *e, char sign, struct tensor *zero)
{
	struct arena *a = &g->module->arena;
	const char *z = zero ? number_text(g, zero) : "0";

	if (strcmp(z, "0") == 0) {
		return e;
	}
	sign = *z == '-' ? (sign == '-' ? '+' : '-') : sign;
	return arena_printf(a, "%s %c %s", operand(a, e), sign,
			    z + (*z == '-'));
}

/* The text "tanh(e)" or "leakyrelu(e, alpha = 0.1)". */
static const char *
call_text(struct graph *g, const struct node *n, const char *const *in)
{
	struct arena *a = &g->module->arena;
	char *name = arena_strdup(a, n->op_type);
	const char *text;

	for (char *c = name; *c != '\0'; c++) {
		*c = (char)tolower((unsigned char)*c);
	}
	text = arena_printf(a, "%s(", name);
	for (int i = 0; i < n->n_inputs; i++) {
		text = arena_printf(a, "%s%s%s", text, i > 0 ? ", " : "",
				    in[i] ? in[i] : "");
	}
	for (int i = 0; i < n->attrs.n; i++) {
		const struct attr *at = &n->attrs.data[i];

		if (at->kind == ATTR_FLOAT) {
			text = arena_printf(a, "%s, %s = %g", text, at->name,
					    at->f);
		}
	}
	return arena_printf(a, "%s)", text);
}

/* The formula of n's result, made from the formulas `in` of its inputs. */
static const char *
node_text(struct graph *g, const struct node *n, const char *const *in)
{
	struct arena *a = &g->module->arena;

	if (node_is(n, "DequantizeLinear")) {
		const char *e = with_zero(g, in[0], '-', node_input(n, 2));

		return arena_printf(a, "%s * %s", operand(a, e), in[1]);
	}
	if (node_is(n, "QuantizeLinear")) {
		return with_zero(g,
				 arena_printf(a, "round(%s / %s)",
					      operand(a, in[0]), in[1]),
				 '+', node_input(n, 2));
	}
	if (sign_of(n)) {
		return arena_printf(a, "%s %s %s", operand(a, in[0]),
				    sign_of(n), operand(a, in[1]));
	}
	return call_text(g, n, in);
}

/* The formula of the chain's result in terms of "q", an element of x; NULL if
 * it is too long. */
static const char *
chain_text(const struct chains *c, const struct tensor *x,
	   struct node *const *chain, int n)
{
	struct arena *a = &c->g->module->arena;
	const char **text = c->text;

	text[x->id] = "q";
	for (int i = 0; i < n; i++) {
		const struct node *node = chain[i];
		const char **in = arena_array(a, const char *,
					      node->n_inputs + 1);

		for (int k = 0; k < node->n_inputs; k++) {
			struct tensor *t = node->inputs[k];

			if (t) {
				in[k] = text[t->id] ? text[t->id]
						    : number_text(c->g, t);
			}
		}
		text[node->outputs[0]->id] = node_text(c->g, node, in);
		if (strlen(text[node->outputs[0]->id]) > FORMULA_MAX) {
			return NULL;
		}
	}
	return text[chain[n - 1]->outputs[0]->id];
}

/* The node whose name the table gets: the costliest one; if several are equally
 * costly, the first of them that is not a conversion at the ends of the
 * chain. */
static const struct node *
main_node(struct node *const *chain, int n)
{
	const struct node *best = chain[n - 1];
	bool conversion = true;

	for (int i = n - 1; i >= 0; i--) {
		bool converts = node_is(chain[i], "DequantizeLinear") ||
				node_is(chain[i], "QuantizeLinear");

		if (cost_of(chain[i]) > cost_of(best) ||
		    (cost_of(chain[i]) == cost_of(best) &&
		     (!converts || conversion))) {
			best = chain[i];
			conversion = converts;
		}
	}
	return best;
}

static struct tensor *
describe_table(const struct chains *c, const struct tensor *x,
	       struct node *const *chain, int n, struct tensor *table)
{
	struct graph *g = c->g;
	struct arena *a = &g->module->arena;
	const char *form = chain_text(c, x, chain, n);
	VEC(struct tensor *) sources = { 0 };
	int count = 1 << dtype_bits(x->type);
	int low = dtype_class(x->type) == DTC_INT ? -count / 2 : 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < chain[i]->n_inputs; k++) {
			struct tensor *t = chain[i]->inputs[k];

			if (t && tensor_is_constant(t)) {
				vec_push(a, &sources, t);
			}
		}
	}
	if (!form) {
		form = arena_printf(a, "%s and the operators around it",
				    main_node(chain, n)->op_type);
	}
	return graph_made_of(g, table,
			     arena_printf(a, "%s, q from %d to %d", form, low,
					  low + count - 1),
			     NULL, sources.data, sources.n);
}

/* -- the pass -- */

static bool
is_unused(const struct node *n)
{
	return n->outputs[0]->uses.n == 0 && !n->outputs[0]->is_output;
}

/* A constant with the chain's results for all numbers of x's type; NULL after a
 * diagnostic. */
static struct tensor *
make_table(struct chains *c, const struct tensor *x, struct node *const *chain,
	   int n)
{
	struct graph *g = c->g;
	struct tensor *t = NULL;
	int64_t count = 1 << dtype_bits(x->type);

	c->made[x->id] = all_numbers(g, x);
	for (int i = 0; i < n; i++) {
		t = compute(g, chain[i], c->made);
		if (!t) {
			return NULL;
		}
		c->made[chain[i]->outputs[0]->id] = t;
	}
	t = graph_constant(g, "table", t->type, 1, &count, t->value->data);
	return describe_table(c, x, chain, n, t);
}

static void
forget(struct chains *c, const struct tensor *t)
{
	c->made[t->id] = NULL;
	c->text[t->id] = NULL;
}

/* Replaces the result of c->nodes[last] by a look-up. */
static bool
replace_chain(struct chains *c, int last)
{
	struct graph *g = c->g;
	struct arena *a = &g->module->arena;
	struct tensor *y = c->nodes[last]->outputs[0], *in[2];
	struct node **chain = c->chain, *node;
	int n;

	in[0] = c->of[y->id].x;
	n = collect(c, in[0], last);
	in[1] = make_table(c, in[0], chain, n);
	if (!in[1]) {
		return false;
	}
	forget(c, in[0]);
	for (int i = 0; i < n; i++) {
		forget(c, chain[i]->outputs[0]);
	}
	node = insert_internal(g, c->nodes[last], "Table", y->name, in, 2);
	node->name = main_node(chain, n)->name;
	node_set_attr_string(g, node, "title",
			     arena_printf(a, "%s by a table",
					  main_node(chain, n)->op_type));
	if (!ops_infer_node(g, node)) {
		return false;
	}
	graph_replace_uses(g, y, node->outputs[0]);
	for (int i = n - 1; i >= 0; i--) {
		graph_note(g, chain[i], "tables",
			   "in a table of its results for each byte");
		if (is_unused(chain[i])) {
			graph_absorb(node, chain[i]);
			graph_remove_node(g, chain[i], "tables", "");
		} else {
			graph_share_origins(node, chain[i]);
		}
	}
	return true;
}

bool
graph_tables(struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct chains c = {
		.g = g,
		.nodes = arena_copy(a, g->nodes.data,
				    sizeof *g->nodes.data * (size_t)g->nodes.n),
		.n_nodes = g->nodes.n,
		.of = arena_array(a, struct origin_of, g->tensors.n + 1),
		.n_of = g->tensors.n,
		.chain = arena_array(a, struct node *, g->nodes.n + 1),
		.needed = arena_array(a, bool, g->tensors.n + 1),
		.made = arena_array(a, struct tensor *, g->tensors.n + 1),
		.text = arena_array(a, const char *, g->tensors.n + 1),
	};
	enum cost least = g->settings->slow_floats ? FLOATS : COSTLY;
	int before = g->edits;

	for (int i = 0; i < c.n_nodes; i++) {
		if (maps_elements(c.nodes[i])) {
			note_node(&c, c.nodes[i]);
		}
	}
	for (int i = c.n_nodes - 1; i >= 0; i--) {
		struct tensor *y = c.nodes[i]->outputs[0];

		if (y && y->producer == c.nodes[i] && is_small_integer(y) &&
		    c.of[y->id].x && c.of[y->id].cost >= least &&
		    !replace_chain(&c, i)) {
			return false;
		}
	}
	if (g->edits != before) {
		graph_drop_unused_tensors(g);
	}
	return true;
}
