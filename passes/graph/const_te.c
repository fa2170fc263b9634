/* SPDX-License-Identifier: Apache-2.0 */
/* Constants as tensor expressions: constants with bytes are placeholders, a
 * constant with one number for all elements is a stage, and recipes are the
 * stages of their operators. */
#include "rewrite.h"

struct walk {
	struct graph *graph;
	VEC(struct tensor *) seen;
	/* for each entry of `seen`: the tensor expression that was made for
	 * it */
	VEC(struct te_tensor *) made;
	VEC(struct tensor *) sources;
	VEC(struct te_tensor *) placeholders;
};

static struct te_tensor *
splat(struct walk *w, const struct tensor *t)
{
	struct module *m = w->graph->module;
	const struct value *v = t->value;
	struct expr leaf = { .kind = EXPR_INT, .type = t->type };
	struct iter_var *axes = te_axes(m, t->ndim, t->shape, NULL);

	if (dtype_is_float(t->type)) {
		leaf.kind = EXPR_FLOAT;
		leaf.u.fval = v->fill.f;
	} else {
		leaf.u.ival = v->fill.i;
	}
	return te_compute(m, "fill", "elementwise", t->ndim, axes,
			  expr_make(m, &leaf, NULL, 0), NULL, 0);
}

static void
remember(struct walk *w, struct tensor *t, struct te_tensor *te)
{
	struct arena *a = &w->graph->module->arena;

	vec_push(a, &w->seen, t);
	vec_push(a, &w->made, te);
}

static struct te_tensor *visit(struct walk *w, struct tensor *t);

static struct te_tensor *
visit_recipe(struct walk *w, struct tensor *t)
{
	struct arena *a = &w->graph->module->arena;
	const struct node *n = t->recipe;
	struct te_tensor **in = arena_array(a, struct te_tensor *,
					    n->n_inputs + 1);
	struct te_tensor **out = arena_array(a, struct te_tensor *,
					     n->n_outputs + 1);

	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i]) {
			in[i] = visit(w, n->inputs[i]);
			if (!in[i]) {
				return NULL;
			}
		}
	}
	if (!ops_define(w->graph, n, in, out)) {
		return NULL;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] && n->outputs[i] != t) {
			remember(w, n->outputs[i], out[i]);
		}
	}
	return out[t->output_index];
}

static struct te_tensor *
visit(struct walk *w, struct tensor *t)
{
	struct arena *a = &w->graph->module->arena;
	struct te_tensor *te;

	for (int i = 0; i < w->seen.n; i++) {
		if (w->seen.data[i] == t) {
			return w->made.data[i];
		}
	}
	if (!t->value) {
		te = visit_recipe(w, t);
	} else if (!t->value->data) {
		te = splat(w, t);
	} else {
		te = te_placeholder(w->graph->module, t->name, t->type, t->ndim,
				    t->shape);
		vec_push(a, &w->sources, t);
		vec_push(a, &w->placeholders, te);
	}
	if (te) {
		remember(w, t, te);
	}
	return te;
}

struct te_tensor *
tensor_const_te(struct graph *g, struct tensor *t, struct tensor ***sources,
		struct te_tensor ***placeholders, int *n_sources)
{
	struct walk w = { .graph = g };
	struct te_tensor *te = visit(&w, t);

	*sources = w.sources.data;
	*placeholders = w.placeholders.data;
	*n_sources = w.sources.n;
	return te;
}

const struct value *
tensor_value(struct graph *g, struct tensor *t)
{
	const struct node *n = t->recipe;
	const struct value **out;

	if (t->value || !n) {
		return t->value;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && !tensor_value(g, n->inputs[i])) {
			return NULL;
		}
	}
	out = arena_array(&g->module->arena, const struct value *,
			  n->n_outputs + 1);
	if (!ops_evaluate(g, n, out)) {
		return NULL;
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] && !n->outputs[i]->value) {
			n->outputs[i]->value = out[i];
			if (!tensor_is_repeat(n->outputs[i])) {
				n->outputs[i]->recipe = NULL;
			}
		}
	}
	return t->value;
}
