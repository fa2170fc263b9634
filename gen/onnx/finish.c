/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of the model become a graph for the passes: operators of the
 * canonical opset, in topological order, with all types and shapes inferred and
 * compared with the model's declarations. */
#include "finish.h"
#include "analyse.h"
#include "bodies.h"
#include "compose.h"
#include "ops.h"
#include "sizes.h"
#include "upgrade.h"

static bool
reads_sequence(const struct importer *imp, const struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && sequence_find(imp, n->inputs[i])) {
			return true;
		}
	}
	return false;
}

/* Removes the nodes, from index `first` on, that have no output. Makes a tensor
 * for an absent first output of the other nodes, since inference needs a first
 * output. */
static void
complete_outputs(struct importer *imp, int first)
{
	struct graph *g = imp->g;

	for (int i = g->nodes.n - 1; i >= first; i--) {
		struct node *n = g->nodes.data[i];
		bool any = false;

		for (int k = 0; k < n->n_outputs; k++) {
			any = any || n->outputs[k];
		}
		if (!any) {
			graph_remove_node(g, n, "import",
					  "a node without outputs does "
					  "nothing");
		} else if (!n->outputs[0]) {
			struct tensor *t =
				graph_tensor(g, arena_printf(&imp->tmp,
							     "%s_unused",
							     n->op_type));

			n->outputs[0] = t;
			t->producer = n;
		}
	}
}

/* Makes the nodes from index `first` on ready for shape inference: removes nodes
 * without outputs, makes a tensor for an absent first output, marks compositions,
 * checks strings, applies the upgrades to the canonical opset that need no
 * shapes, and finds their operators. False after a diagnostic. */
static bool
prepare(struct importer *imp, int first)
{
	bool ok = true;

	complete_outputs(imp, first);
	compose_mark(imp->g, first);
	for (int i = first; i < imp->g->nodes.n; i++) {
		ok = op_check_strings(imp->g, imp->g->nodes.data[i]) && ok;
	}
	return ok && upgrade_early(imp, first) &&
	       ops_resolve_from(imp->g, first);
}

/* Expands the deferred node at *pos. The new nodes, sorted, take its place, or
 * are put before it if the node stays (a loop whose iterations are being made,
 * or a branch), because the node then has outputs of the new nodes as inputs.
 * Nodes before the deferred node may be removed; *pos becomes the index of the
 * first new node. */
static bool
expand_at(struct importer *imp, int *pos)
{
	struct graph *g = imp->g;
	struct node *n = g->nodes.data[*pos];
	int old = g->nodes.n, first, new_id = g->next_node_id;

	if (!deferred_expand(imp, n)) {
		return false;
	}
	for (first = g->nodes.n;
	     first > 0 && g->nodes.data[first - 1]->id >= new_id; first--) {
	}
	*pos -= old - first; /* minus the number of removed nodes */
	if (*pos < 0 || g->nodes.data[*pos] != n) {
		++*pos; /* n itself was removed */
	}
	return prepare(imp, first) && graph_sort_to(g, first, *pos);
}

/* A Squeeze without axes removes only the dimensions that are known to be 1:
 * the rank of the result cannot depend on sizes at run time. Tells the user
 * which dimensions may be 1 and stay. */
static void
note_kept_sizes(struct importer *imp, const struct node *n)
{
	const struct tensor *x = node_input(n, 0);
	struct arena *tmp = &imp->tmp;
	struct analyser a;

	if (strcmp(n->op_type, "Squeeze") != 0 || node_input(n, 1) || !x) {
		return;
	}
	analyser_init(&a, imp->m);
	for (int d = 0; d < x->ndim; d++) {
		struct bounds b = analyse_bounds(&a, x->shape[d]);

		if (b.min < b.max && b.min <= 1 && b.max >= 1) {
			import_assume(
				imp,
				arena_printf(tmp,
					     "Squeeze without axes keeps "
					     "dimension %d of %s, which may "
					     "be 1",
					     d,
					     import_quote(tmp,
							  tensor_label(x))));
		}
	}
}

/* Infers the types and shapes of the node at *pos. Nodes that an adapter
 * inserts before this node are visited next. If the node is deferred or a
 * composition, new nodes replace it, and *pos is set so that the new nodes are
 * visited next. False after a diagnostic. */
static bool
infer_at(struct importer *imp, int *pos)
{
	struct graph *g = imp->g;
	struct node *n = g->nodes.data[*pos];
	int errors = imp->m->diags.n_errors;

	if (is_deferred(n) || reads_sequence(imp, n)) {
		if (!expand_at(imp, pos)) {
			return false;
		}
		--*pos;
		return true;
	}
	if (n->id < imp->inferred.n && imp->inferred.data[n->id]) {
		return true;
	}
	note_kept_sizes(imp, n);
	if (is_composition(n) || has_strings(n)) {
		if (!compose_node_at(imp, pos)) {
			return false;
		}
		--*pos;
		return true;
	}
	if (imp->versions.data[n->id] != GRAPH_CANONICAL_OPSET) {
		if (!upgrade_late(imp, n, *pos)) {
			return false;
		}
		n = g->nodes.data[*pos];
	}
	if (!import_sizes(imp, n, *pos)) {
		return false;
	}
	n = g->nodes.data[*pos];
	if (!ops_infer_node(g, n)) {
		return imp->m->diags.n_errors > errors
			       ? false
			       : diag_error(&imp->m->diags, DIAG_UNKNOWN_SHAPE,
					    node_place(g, n),
					    "the types and shapes of its "
					    "outputs cannot be inferred");
	}
	import_note_inferred(imp, n);
	return true;
}

/* Returns the number of the branch or loop in which inference failed; 0:
 * outside of branches and loops. It is the place of the first new node (with an
 * id of at least new_id) that has no operator; if there is no such node,
 * `flow`, the place of the visited node. */
static int
failed_in(const struct importer *imp, int flow, int new_id)
{
	for (int i = 0; i < imp->g->nodes.n; i++) {
		const struct node *n = imp->g->nodes.data[i];

		if (n->id >= new_id && !n->op) {
			return place_of_node(imp, n);
		}
	}
	return flow;
}

/* Infers the nodes in order. After the removal of an impossible branch, starts
 * again. */
static bool
infer_all(struct importer *imp)
{
	struct graph *g = imp->g;

	for (int pos = 0; pos < g->nodes.n; pos++) {
		int flow = place_of_node(imp, g->nodes.data[pos]);
		int new_id = g->next_node_id, checks = g->checks.n;
		int diags = imp->m->diags.list.n;
		bool ok = infer_at(imp, &pos);
		int first = g->nodes.n;

		place_new(imp, new_id, flow);
		if (ok) {
			impossible_checks(imp, flow, checks);
			if (!graph_sort_to(g, first, pos + 1)) {
				return false;
			}
			continue;
		}
		if (!impossible_branch(imp, flow, diags)) {
			impossible_hint(imp, failed_in(imp, flow, new_id));
			return false;
		}
		pos = -1;
	}
	return true;
}

/* The declared shape as text, "[1, 3, n]". */
static const char *
shape_text(struct arena *a, const Onnx__TensorShapeProto *s)
{
	const char *text = "[";

	for (size_t d = 0; d < s->n_dim; d++) {
		const Onnx__TensorShapeProto__Dimension *dim = s->dim[d];
		const char *sep = d > 0 ? ", " : "";

		if (dim->value_case ==
		    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
			text = arena_printf(a, "%s%s%lld", text, sep,
					    (long long)dim->dim_value);
		} else {
			text = arena_printf(a, "%s%s?", text, sep);
		}
	}
	return arena_printf(a, "%s]", text);
}

static const char *
inferred_text(struct arena *a, const struct tensor *t)
{
	const char *text = "[";

	for (int d = 0; d < tensor_rank(t); d++) {
		const char *sep = d > 0 ? ", " : "";
		int64_t v;

		if (expr_is_int(t->shape[d], &v)) {
			text = arena_printf(a, "%s%s%lld", text, sep,
					    (long long)v);
		} else {
			text = arena_printf(a, "%s%s?", text, sep);
		}
	}
	return arena_printf(a, "%s]", text);
}

static bool
shape_agrees(const struct tensor *t, const Onnx__TensorShapeProto *s)
{
	if (!s) {
		return true;
	}
	if (s->n_dim != (size_t)tensor_rank(t)) {
		return false;
	}
	for (int d = 0; d < tensor_rank(t); d++) {
		int64_t v;

		if (s->dim[d]->value_case ==
			    ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
		    expr_is_int(t->shape[d], &v) && v != s->dim[d]->dim_value &&
		    s->dim[d]->dim_value > 0) {
			return false;
		}
	}
	return true;
}

static bool
compare_type(struct importer *imp, const struct tensor *t,
	     const Onnx__TypeProto__Tensor *type, const char *item)
{
	struct dtype declared;

	if (!type->has_elem_type || type->elem_type == 0 ||
	    (dtype_from_onnx(type->elem_type, &declared) &&
	     (t->is_string ? dtype_class(declared) == DTC_STRING
			   : dtype_equal(declared, t->type)))) {
		return true;
	}
	return diag_error(&imp->m->diags, DIAG_BAD_TYPE,
			  import_place(imp, item),
			  "the model declares %s, but it is %s; correct the "
			  "declaration",
			  dtype_from_onnx(type->elem_type, &declared)
				  ? dtype_name(declared)
				  : arena_printf(&imp->tmp, "ONNX type %d",
						 type->elem_type),
			  t->is_string ? "string" : dtype_name(t->type));
}

/* Compares the shape of t with a declaration. Declarations in models are often
 * outdated: the first three differences give warnings, further ones are
 * ignored. told: the number of differences so far. */
static void
compare_shape(struct importer *imp, const struct tensor *t,
	      const Onnx__TensorShapeProto *s, const char *item, int *told)
{
	if (imp->reshaped || shape_agrees(t, s) || ++*told > 3) {
		return;
	}
	diag_warning(&imp->m->diags, DIAG_BAD_SHAPE, import_place(imp, item),
		     "the model declares its shape as %s, but the nodes give "
		     "%s; the declaration is ignored",
		     shape_text(&imp->tmp, s), inferred_text(&imp->tmp, t));
}

/* Checks the types of the outputs against the declarations; false after a
 * diagnostic. A shape that differs from its declaration gives a warning
 * only. */
static bool
compare_outputs(struct importer *imp)
{
	int told = 0;

	for (size_t i = 0; i < imp->graph->n_output; i++) {
		const Onnx__ValueInfoProto *p = imp->graph->output[i];
		const struct tensor *t = imp->g->outputs.data[i];
		const char *item = arena_printf(&imp->tmp, "output %s",
						import_quote(&imp->tmp,
							     t->name));

		if (!p->type || !p->type->tensor_type ||
		    sequence_find(imp, t)) {
			continue;
		}
		if (!compare_type(imp, t, p->type->tensor_type, item)) {
			return false;
		}
		compare_shape(imp, t, p->type->tensor_type->shape, item, &told);
	}
	return true;
}

static void
compare_value_info(struct importer *imp)
{
	int told = 0;

	for (size_t i = 0; i < imp->graph->n_value_info; i++) {
		const Onnx__ValueInfoProto *p = imp->graph->value_info[i];
		const struct tensor *t = p->name && *p->name
						 ? graph_find_tensor(imp->g,
								     p->name)
						 : NULL;

		if (t && t->ndim >= 0 && p->type && p->type->tensor_type) {
			compare_shape(imp, t, p->type->tensor_type->shape,
				      import_quote(&imp->tmp, p->name), &told);
		}
	}
}

bool
import_finish(struct importer *imp)
{
	struct graph *g = imp->g;

	/* Sorted so that the emitted code does not depend on the order in the
	 * file. */
	if (!graph_sort(g)) {
		return false;
	}
	graph_order(g);
	if (!prepare(imp, 0) || !graph_sort(g) || !infer_all(imp) ||
	    !import_bounds_used(imp) || !compare_outputs(imp) ||
	    !sequence_outputs(imp)) {
		return false;
	}
	if (imp->deferred.n > 0) {
		graph_order(g);
	}
	compare_value_info(imp);
	import_note_indices(imp);
	graph_drop_unused_tensors(g);
	return true;
}
