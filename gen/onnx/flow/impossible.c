/* SPDX-License-Identifier: Apache-2.0 */
/* Branches of an If that are impossible because their shapes contradict each
 * other. Such a model chooses between nets for inputs of different sizes; for
 * the given size only one branch is possible, and a run that takes the other
 * branch returns an error.
 *
 * 	before	y = If<then={ t = MatMul(x, a) }, else={ e = MatMul(x, b) }>(c)
 * 		# x: [1, 4], a: [4, 1], b: [2, 1]
 * 	after	n = tirc.RunSize(c)        # the entry function checks: n is not 0
 * 		y = MatMul(x, a)
 *
 * A check of sizes that only a branch needs is done only when the branch is
 * taken. */
#include "flow.h"
#include "ops.h"
#include "pointer_map.h"
#include "process.h"

static const char *const branch_names[] = { "then_branch", "else_branch" };

/* -- messages -- */

/* Appends to `inputs` the inputs of the model on which t depends. */
static void
find_sources(struct importer *imp, struct tensor *t, tensor_list *inputs)
{
	tensor_list list = { 0 };
	struct pointer_map seen;

	pointer_map_init(&seen, &imp->tmp);
	vec_push(&imp->tmp, &list, t);
	for (int i = 0; i < list.n; i++) {
		const struct node *n = list.data[i]->producer;

		if (list.data[i]->is_input) {
			vec_push(&imp->tmp, inputs, list.data[i]);
		}
		for (int k = 0; n && k < n->n_inputs; k++) {
			if (n->inputs[k] &&
			    pointer_map_add(&seen, n->inputs[k])) {
				vec_push(&imp->tmp, &list, n->inputs[k]);
			}
		}
	}
}

/* The options that make the condition known: "--const-input sr=VALUE". NULL if
 * it depends on no input of the model, or on more than 3. */
static const char *
options_for(struct importer *imp, struct tensor *condition)
{
	tensor_list inputs = { 0 };
	const char *text = NULL;

	if (condition) {
		find_sources(imp, condition, &inputs);
	}
	if (inputs.n > 3) {
		return NULL;
	}
	for (int i = 0; i < inputs.n; i++) {
		const char *word =
			command_quoted(&imp->tmp,
				       arena_printf(&imp->tmp, "%s=VALUE",
						    tensor_label(
							    inputs.data[i])));

		text = arena_printf(&imp->tmp, "%s%s--const-input %s",
				    text ? text : "", text ? " " : "", word);
	}
	return text;
}

/* The name of a branch in messages: "else_branch of node 1 If 'y'". */
static const char *
branch_text(struct importer *imp, const struct deferred *d, int branch)
{
	return arena_printf(&imp->m->arena, "%s of %s", branch_names[branch],
			    node_place(imp->g, d->node).item);
}

void
impossible_hint(struct importer *imp, int flow)
{
	struct diags *diags = &imp->m->diags;
	const struct flow_place *at;
	const char *options;
	struct diag *last;

	flow = place_branch(imp, flow);
	if (flow == 0 || diags->list.n == 0) {
		return;
	}
	at = &imp->flows.data[flow];
	options = options_for(imp, at->of->node->inputs[0]);
	last = &diags->list.data[diags->list.n - 1];
	last->message = arena_printf(diags->arena, "%s; it is in the %s%s%s",
				     last->message,
				     branch_text(imp, at->of, at->branch),
				     options ? ", which may be left out with "
					     : "",
				     options ? options : "");
}

static void
tell(struct importer *imp, const struct deferred *d, int branch)
{
	const char *options = options_for(imp, d->node->inputs[0]);

	import_assume(imp,
		      arena_printf(&imp->tmp,
				   "the %s cannot run, because its sizes "
				   "contradict each other: a run that takes it "
				   "returns BAD_SIZE%s%s%s; %s",
				   branch_text(imp, d, branch),
				   options ? " (" : "", options ? options : "",
				   options ? " leaves the branch out)" : "",
				   d->flow->impossible[branch]));
}

/* -- removing a branch -- */

/* Do all errors from index `first` on say that shapes contradict each other?
 * False if there are no errors. */
static bool
contradict(const struct diags *diags, int first)
{
	bool any = false;

	for (int i = first; i < diags->list.n; i++) {
		const struct diag *d = &diags->list.data[i];

		if (d->severity != DIAG_ERROR) {
			continue;
		}
		if (d->id != DIAG_BAD_SHAPE && d->id != DIAG_BAD_ATTRIBUTE) {
			return false;
		}
		any = true;
	}
	return any;
}

/* The text of a diagnostic without its remedy: "node 3 MatMul 'e': the last
 * dimension …". */
static const char *
reason(struct importer *imp, const struct diag *d)
{
	const char *item = d->place.item ? d->place.item : "";

	return arena_printf(&imp->m->arena, "%s%s%.*s", item, *item ? ": " : "",
			    (int)strcspn(d->message, ";"), d->message);
}

static const struct diag *
first_error(const struct diags *diags, int first)
{
	while (diags->list.data[first].severity != DIAG_ERROR) {
		first++;
	}
	return &diags->list.data[first];
}

static void
remove_nodes(struct importer *imp, int flow)
{
	struct graph *g = imp->g;

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (!place_within(imp, place_of_node(imp, n), flow)) {
			continue;
		}
		for (int k = 0; k < n->n_inputs; k++) {
			node_set_input(n, k, NULL);
		}
	}
	for (int i = g->nodes.n - 1; i >= 0; i--) {
		struct node *n = g->nodes.data[i];

		if (place_within(imp, place_of_node(imp, n), flow)) {
			graph_remove_node(g, n, "import",
					  "it is in a branch that no run can "
					  "take");
		}
	}
}

/* Removes the records of sizes and checks that come from nodes of the
 * branch. */
static void
remove_facts(struct importer *imp, int flow)
{
	struct graph *g = imp->g;
	int kept = 0;

	for (int i = 0; i < imp->read_sizes.n; i++) {
		if (imp->read_sizes.data[i].size->producer) {
			imp->read_sizes.data[kept++] = imp->read_sizes.data[i];
		}
	}
	imp->read_sizes.n = kept;
	kept = 0;
	for (int i = 0; i < g->checks.n; i++) {
		int of = imp->check_of.data[i];

		if (!place_within(imp, of, flow)) {
			imp->check_of.data[kept] = of;
			g->checks.data[kept++] = g->checks.data[i];
		}
	}
	g->checks.n = imp->check_of.n = kept;
}

/* Removes the nodes of the branch `flow`; its results are no longer inputs of
 * the If. */
static void
remove_branch(struct importer *imp, int flow)
{
	const struct flow_place *at = &imp->flows.data[flow];
	struct node *end = at->of->node;
	int n = (at->of->n_inputs - 1) / 2;

	for (int k = 0; k < n; k++) {
		node_set_input(end, 1 + at->branch * n + k, NULL);
	}
	remove_nodes(imp, flow);
	remove_facts(imp, flow);
}

bool
impossible_branch(struct importer *imp, int flow, int first)
{
	struct diags *diags = &imp->m->diags;
	const char *why;

	flow = place_branch(imp, flow);
	if (flow == 0 || !contradict(diags, first)) {
		return false;
	}
	why = reason(imp, first_error(diags, first));
	while (flow > 0) {
		struct flow_place at = imp->flows.data[flow];

		if (!at.of->flow->impossible[!at.branch]) {
			diags_drop_errors(diags, first, DIAG_COUNT);
			remove_branch(imp, flow);
			at.of->flow->impossible[at.branch] = why;
			tell(imp, at.of, at.branch);
			return true;
		}
		/* Neither branch of this If is possible: so the branch around
		 * the If is impossible, too. */
		flow = place_branch(imp, at.parent);
	}
	return false;
}

/* -- checks at run time -- */

/* The condition of the If as a size, 0 or 1, read in the body that contains the
 * If. */
static const struct expr *
condition_of(struct importer *imp, struct deferred *d)
{
	static const int64_t one = 1;
	int around = place_of_body(imp, d->body), first;
	struct tensor *in[2] = { d->node->inputs[0], NULL }, *t;
	struct run_size size = { .var = d->flow->taken, .proven = true };
	const char *name = arena_printf(&imp->m->arena, "%s_taken",
					d->node->inputs[0]->name);

	if (size.var) {
		return size.var->expr;
	}
	first = imp->g->next_node_id;
	in[1] = graph_constant_ints(imp->g, "one", 1, &one);
	t = deferred_node(imp, d, "Reshape", in, 2, name);
	t = deferred_node(imp, d, "Cast", &t, 1, name);
	node_set_attr_int(imp->g, t->producer, "to",
			  dtype_onnx_number(dtype_of(DT_I64)));
	if (around > 0) {
		t = flow_copy(imp, d, around, t);
	}
	size.var = var_new_dim(imp->m, name, 0, 1);
	vec_push(&imp->m->arena, &imp->g->run_sizes, size);
	t = flow_run_size(imp, d, t, imp->g->run_sizes.n - 1);
	place_new(imp, first, around);
	d->flow->taken = size.var;
	d->flow->reads_taken = t->producer;
	return size.var->expr;
}

/* The expression "the branch is not taken". */
static const struct expr *
not_taken(struct importer *imp, int flow)
{
	const struct flow_place at = imp->flows.data[flow];
	const struct expr *taken = condition_of(imp, at.of);
	const struct expr *zero = expr_int(imp->m, taken->type, 0);

	return at.branch == 0 ? expr_eq(imp->m, taken, zero)
			      : expr_not(imp->m, expr_eq(imp->m, taken, zero));
}

/* Does the check use a size that is read inside of the branch? */
static bool
is_read_within(struct importer *imp, const struct expr *check, int flow)
{
	struct graph *g = imp->g;
	int element;

	for (int i = 0; i < g->run_sizes.n; i++) {
		const struct var *v = g->run_sizes.data[i].var;
		const struct node *n;

		if (!expr_uses_var(check, v)) {
			continue;
		}
		n = graph_run_size(g, v, &element);
		if (!n || place_within(imp, place_of_node(imp, n), flow)) {
			return true;
		}
	}
	return false;
}

void
impossible_checks(struct importer *imp, int flow, int first)
{
	struct graph *g = imp->g;

	flow = place_branch(imp, flow);
	for (int i = first; i < g->checks.n && flow > 0; i++) {
		const struct expr *holds = g->checks.data[i].condition;

		if (!is_read_within(imp, holds, flow)) {
			const struct expr *unless = not_taken(imp, flow);

			g->checks.data[i].unless = unless;
		}
	}
}

struct tensor *
impossible_condition(struct importer *imp, struct deferred *d)
{
	struct tensor *t;

	if (!d->flow->taken) {
		return d->node->inputs[0];
	}
	t = d->flow->reads_taken->outputs[0];
	t = deferred_node(imp, d, "Cast", &t, 1, d->node->inputs[0]->name);
	node_set_attr_int(imp->g, t->producer, "to",
			  dtype_onnx_number(dtype_of(DT_BOOL)));
	return t;
}

bool
impossible_if(struct importer *imp, struct deferred *d)
{
	int branch = d->flow->impossible[0] ? 0 : 1, n = (d->n_inputs - 1) / 2;
	int flows[2] = { d->flow->id, d->flow->other };

	graph_check(imp->g, not_taken(imp, flows[branch]));
	node_set_attr_string(imp->g, d->flow->reads_taken, "refused",
			     branch_text(imp, d, branch));
	place_join(imp, flows[!branch]);
	for (int k = 0; k < d->node->n_outputs; k++) {
		deferred_output(imp, d, k,
				d->node->inputs[1 + !branch * n + k]);
	}
	return deferred_finish(imp, d, NULL);
}
