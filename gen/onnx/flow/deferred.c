/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose translation depends on the values of their inputs: nodes with
 * nested graphs, and nodes with sequences or optionals. Each is replaced by
 * other nodes during shape inference, when the types and shapes of its inputs,
 * and the values of those that are constants, are known.
 *
 *	before	y = If<then={ t = Squeeze(x) }, else={ e = Neg(x) }>(c)
 *	after	If_0/t = Squeeze(x); y = Identity(If_0/t)    # c is known: true
 *
 * The outer tensors that a node's nested graphs use ("captured tensors") become
 * inputs of the node, after the inputs that the model lists. */
#include <stdarg.h>

#include "bodies.h"
#include "ops.h"

static const struct expander *
expander_of(const struct importer *imp, const char *domain, const char *op_type)
{
	return imp->expander(import_domain(domain), op_type);
}

bool
is_deferred_operator(const struct importer *imp, const Onnx__NodeProto *p)
{
	return expander_of(imp, p->domain, p->op_type) != NULL;
}

void
deferred_add(struct importer *imp, struct node *n, const Onnx__NodeProto *p,
	     const struct body *body, const attr_list *attrs, int n_inputs,
	     int origin)
{
	struct deferred *d = arena_new(&imp->tmp, struct deferred);

	*d = (struct deferred){
		.node = n,
		.proto = p,
		.body = body,
		.attrs = *attrs,
		.n_inputs = n_inputs,
		.origin = origin,
		.version = imp->versions.data[n->id],
	};
	n->op = &deferred_op;
	vec_push(&imp->tmp, &imp->deferred, d);
}

/* -- captured tensors -- */

static bool
in_list(const char *name, char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* Does the nested graph itself define the name: as an input, an initializer or
 * a node's output? (If not, the name is from a body around it.) */
static bool
defines(const Onnx__GraphProto *graph, const char *name)
{
	for (size_t i = 0; i < graph->n_input; i++) {
		if (graph->input[i]->name &&
		    strcmp(graph->input[i]->name, name) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < graph->n_initializer; i++) {
		if (graph->initializer[i]->name &&
		    strcmp(graph->initializer[i]->name, name) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < graph->n_node; i++) {
		if (in_list(name, graph->node[i]->output,
			    graph->node[i]->n_output)) {
			return true;
		}
	}
	return false;
}

static void
capture(struct importer *imp, const struct body *body,
	const Onnx__GraphProto *graph, const char *name, tensor_list *list)
{
	struct scope_slot *slot;

	if (!name || !*name || defines(graph, name)) {
		return;
	}
	slot = import_lookup(body, name);
	if (slot && slot->tensor &&
	    tensor_index(slot->tensor, list->data, list->n) < 0) {
		vec_push(&imp->tmp, list, slot->tensor);
	}
}

static void
capture_graph(struct importer *imp, const struct body *body,
	      const Onnx__GraphProto *graph, tensor_list *list, int depth)
{
	for (size_t i = 0; i < graph->n_node && depth < ONNX_MAX_CALL_DEPTH;
	     i++) {
		const Onnx__NodeProto *p = graph->node[i];

		for (size_t k = 0; k < p->n_input; k++) {
			capture(imp, body, graph, p->input[k], list);
		}
		for (size_t k = 0; k < p->n_attribute; k++) {
			if (p->attribute[k]->g) {
				capture_graph(imp, body, p->attribute[k]->g,
					      list, depth + 1);
			}
		}
	}
	for (size_t i = 0; i < graph->n_output; i++) {
		capture(imp, body, graph, graph->output[i]->name, list);
	}
}

void
deferred_captures(struct importer *imp, const struct body *body,
		  const Onnx__NodeProto *p, tensor_list *list)
{
	for (size_t i = 0; i < p->n_attribute; i++) {
		if (p->attribute[i]->g) {
			capture_graph(imp, body, p->attribute[i]->g, list, 0);
		}
	}
}

/* -- helpers of the operators -- */

bool
deferred_refuse(struct importer *imp, const struct deferred *d, const char *fmt,
		...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(&imp->tmp, fmt, ap);
	va_end(ap);
	return diag_error(&imp->m->diags, DIAG_UNSUPPORTED,
			  node_place(imp->g, d->node), "%s", text);
}

const Onnx__GraphProto *
deferred_graph(const struct deferred *d, const char *name)
{
	for (size_t i = 0; i < d->proto->n_attribute; i++) {
		const Onnx__AttributeProto *a = d->proto->attribute[i];

		if (a->name && strcmp(a->name, name) == 0 && a->g) {
			return a->g;
		}
	}
	return NULL;
}

bool
deferred_known(struct importer *imp, const struct deferred *d, int i,
	       int64_t *v)
{
	const struct expr *const *elems;
	int n;

	return node_input(d->node, i) &&
	       input_elems(imp->m, d->node, i, &elems, &n) && n == 1 &&
	       expr_is_int(elems[0], v);
}

static bool
bind_graph_inputs(struct importer *imp, const struct deferred *d,
		  const Onnx__GraphProto *graph, struct tensor *const *in,
		  int n_in, struct body *body)
{
	if (graph->n_input != (size_t)n_in) {
		return deferred_refuse(imp, d,
				       "its nested graph has %zu inputs, not "
				       "%d; export the model again",
				       graph->n_input, n_in);
	}
	for (int i = 0; i < n_in; i++) {
		const char *name = graph->input[i]->name;

		if (!name || !*name || scope_find(&body->scope, name)) {
			return deferred_refuse(imp, d,
					       "two inputs of its nested graph "
					       "have the same name, or one has "
					       "none; export the model again");
		}
		scope_add(&body->scope, name, in[i]);
	}
	return true;
}

static bool
find_graph_outputs(struct importer *imp, const struct deferred *d,
		   const Onnx__GraphProto *graph, const struct body *body,
		   struct tensor **out)
{
	for (size_t i = 0; i < graph->n_output; i++) {
		const char *name = graph->output[i]->name;
		struct scope_slot *slot = name ? import_lookup(body, name)
					       : NULL;

		if (!slot || !slot->tensor) {
			return diag_error(
				&imp->m->diags, DIAG_MISSING_TENSOR,
				node_place(imp->g, d->node),
				"nothing computes the output %s of its nested "
				"graph; correct its name or add the node",
				import_quote(&imp->tmp, name ? name : ""));
		}
		out[i] = slot->tensor;
	}
	return true;
}

bool
deferred_inline(struct importer *imp, const struct deferred *d,
		const Onnx__GraphProto *graph, int flow,
		struct tensor *const *in, int n_in, struct tensor **out)
{
	struct body *body = arena_new(&imp->tmp, struct body);

	*body = (struct body){
		.caller = d->body,
		.outer = d->body,
		.function = d->body->function,
		.source = d->body->source,
		.where = arena_printf(&imp->tmp, " in %s",
				      node_label(imp->g, d->node)),
		.nodes = graph->node,
		.n_nodes = graph->n_node,
		.prefix = import_prefix(imp, d->body, d->proto),
		.origin = d->body->function != NULL ? d->origin : -1,
		.within = d->origin,
		.depth = d->body->depth + 1,
		.flow = flow,
		.attrs = d->body->attrs,
		.local = d->body->local,
	};
	scope_init(&body->scope, &imp->tmp);
	return bind_graph_inputs(imp, d, graph, in, n_in, body) &&
	       import_initializers(imp, body, graph) &&
	       import_body(imp, body) &&
	       find_graph_outputs(imp, d, graph, body, out);
}

struct tensor *
deferred_node(struct importer *imp, const struct deferred *d,
	      const char *op_type, struct tensor *const *in, int n_in,
	      const char *name)
{
	struct tensor *out = graph_tensor(imp->g,
					  arena_printf(&imp->tmp, "%s%s",
						       d->body->prefix, name));

	deferred_make(imp, d, op_type, in, n_in, out);
	return out;
}

struct tensor *
deferred_change_rank(struct importer *imp, const struct deferred *d,
		     const char *op_type, struct tensor *x, int64_t axis)
{
	struct tensor *in[] = { x,
				graph_constant_ints(imp->g, "axis", 1, &axis) };

	return deferred_node(imp, d, op_type, in, 2, x->name);
}

struct node *
deferred_make(struct importer *imp, const struct deferred *d,
	      const char *op_type, struct tensor *const *in, int n_in,
	      struct tensor *out)
{
	struct tensor **inputs = arena_copy(&imp->tmp, in,
					    sizeof *in * (size_t)n_in);
	struct node *n = import_add_node(imp, "", op_type, d->node->name,
					 inputs, n_in, &out, 1, d->origin,
					 GRAPH_CANONICAL_OPSET);

	n->op = op_find("", op_type);
	return n;
}

void
deferred_output(struct importer *imp, const struct deferred *d, int k,
		struct tensor *t)
{
	struct tensor *out = k < d->node->n_outputs ? d->node->outputs[k]
						    : NULL;
	const struct sequence *s = sequence_find(imp, t);

	if (!out) {
		return;
	}
	out->producer = NULL;
	d->node->outputs[k] = NULL;
	if (s) {
		sequence_set(imp, out, s);
	} else {
		deferred_make(imp, d, "Identity", &t, 1, out);
	}
}

bool
deferred_finish(struct importer *imp, struct deferred *d, const char *why)
{
	if (!why) {
		/* the new nodes have the origins of the replaced node */
		d->node->origins.n = 0;
	}
	graph_remove_node(imp->g, d->node, "import", why ? why : "");
	return true;
}

/* -- If -- */

bool
expand_if(struct importer *imp, struct deferred *d)
{
	const Onnx__GraphProto *branch;
	struct tensor **out;
	int64_t known;

	if (d->flow || !deferred_known(imp, d, 0, &known)) {
		return flow_if(imp, d);
	}
	branch = deferred_graph(d, known ? "then_branch" : "else_branch");
	if (!branch || branch->n_output < (size_t)d->node->n_outputs) {
		return deferred_refuse(imp, d,
				       "a branch is missing, or has too few "
				       "outputs; export the model again");
	}
	out = arena_array(&imp->tmp, struct tensor *, branch->n_output + 1);
	if (!deferred_inline(imp, d, branch, place_of_body(imp, d->body), NULL,
			     0, out)) {
		return false;
	}
	for (int k = 0; k < d->node->n_outputs; k++) {
		deferred_output(imp, d, k, out[k]);
	}
	return deferred_finish(imp, d, NULL);
}

/* -- FlexAttention -- */

/* Inlines the nested graph in the attribute `name`, if the node has it, with *t
 * as its input; *t becomes its result. False after a diagnostic. */
static bool
modify(struct importer *imp, const struct deferred *d, const char *name,
       struct tensor **t)
{
	const Onnx__GraphProto *graph = deferred_graph(d, name);
	struct tensor *in = *t;

	if (!graph) {
		return true;
	}
	if (graph->n_output != 1) {
		return deferred_refuse(imp, d,
				       "its %s has %zu outputs, not one; "
				       "export the model again",
				       name, graph->n_output);
	}
	return deferred_inline(imp, d, graph, place_of_body(imp, d->body), &in,
			       1, t);
}

/* Makes a node of the domain tirc that is a composition, with the attributes of
 * d; returns its output. */
static struct tensor *
flex_part(struct importer *imp, const struct deferred *d, const char *op_type,
	  struct tensor *const *in, const char *name)
{
	struct tensor *out = deferred_node(imp, d, op_type, in, 2, name);
	struct node *n = out->producer;

	n->domain = "tirc";
	n->op = NULL;
	for (int i = 0; i < d->attrs.n; i++) {
		vec_push(&imp->m->arena, &n->attrs, d->attrs.data[i]);
	}
	return out;
}

/*	before	y = FlexAttention<score_mod=f, prob_mod=g>(q, k, v)
 *	after	y_scores = tirc.FlexScores(q, k)
 *		y_probs = Softmax<axis=-1>(f(y_scores))
 *		y = tirc.FlexValues(g(y_probs), v)
 *
 * The first and last are compositions (compose_attention.c). */
bool
expand_flex(struct importer *imp, struct deferred *d)
{
	const char *name = node_key(d->node);
	struct tensor *t, *pair[2];

	if (d->n_inputs != 3 || !d->node->inputs[0] || !d->node->inputs[1] ||
	    !d->node->inputs[2]) {
		return deferred_refuse(imp, d,
				       "it needs query, key and value; correct "
				       "the model");
	}
	t = flex_part(imp, d, "FlexScores", d->node->inputs,
		      arena_printf(&imp->tmp, "%s_scores", name));
	if (!modify(imp, d, "score_mod", &t)) {
		return false;
	}
	t = deferred_node(imp, d, "Softmax", &t, 1,
			  arena_printf(&imp->tmp, "%s_probs", name));
	if (!modify(imp, d, "prob_mod", &t)) {
		return false;
	}
	pair[0] = t;
	pair[1] = d->node->inputs[2];
	t = flex_part(imp, d, "FlexValues", pair,
		      arena_printf(&imp->tmp, "%s_values", name));
	deferred_output(imp, d, 0, t);
	return deferred_finish(imp, d, NULL);
}

/* -- the driver -- */

/* The deferred node of n, or NULL. The list and the ids are both in the order
 * in which the nodes were made. */
static struct deferred *
find(const struct importer *imp, const struct node *n)
{
	int low = 0, high = imp->deferred.n;

	while (low < high) {
		int middle = (low + high) / 2;

		if (imp->deferred.data[middle]->node->id < n->id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < imp->deferred.n && imp->deferred.data[low]->node == n
		       ? imp->deferred.data[low]
		       : NULL;
}

/* Does the node have the inputs and outputs that its row requires? False after
 * a diagnostic. */
static bool
check_arity(struct importer *imp, const struct deferred *d,
	    const struct expander *row)
{
	const struct node *n = d->node;
	int needed = row->max < 0 ? d->n_inputs : row->min;

	if (d->n_inputs < row->min ||
	    (row->max >= 0 && d->n_inputs > row->max)) {
		return deferred_refuse(imp, d,
				       "it has %d inputs, and its operator "
				       "takes %s%d; correct the model",
				       d->n_inputs,
				       d->n_inputs < row->min ? "at least "
							      : "at most ",
				       d->n_inputs < row->min ? row->min
							      : row->max);
	}
	for (int i = row->first; i < needed; i++) {
		if (!n->inputs[i]) {
			return deferred_refuse(imp, d,
					       "its input %d is missing; "
					       "correct the model",
					       i);
		}
	}
	return !row->own_output || (n->n_outputs > 0 && n->outputs[0]) ||
	       deferred_refuse(imp, d, "it has no output; correct the model");
}

bool
deferred_expand(struct importer *imp, struct node *n)
{
	const struct expander *row = expander_of(imp, n->domain, n->op_type);
	struct deferred identity = { .node = n };
	struct deferred *d = find(imp, n);

	if (d) {
		bool begins = !d->unrolling && !d->flow;

		return (!begins || check_arity(imp, d, row)) &&
		       row->expand(imp, d);
	}
	/* Another node whose input is a sequence or an empty optional. */
	if (strcmp(n->op_type, "Identity") == 0 && !*n->domain) {
		deferred_output(imp, &identity, 0, n->inputs[0]);
		return deferred_finish(imp, &identity,
				       "an Identity passes its input on");
	}
	return deferred_refuse(imp, &identity,
			       "it reads a sequence or an optional without an "
			       "element, which its operator does not take");
}
