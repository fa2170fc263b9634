/* SPDX-License-Identifier: Apache-2.0 */
/* What the patterns of a backend found, for its templates. Whatever a pattern
 * may find has its name there, also where this match lacks it: a template can
 * ask for all of it; and has_ROLE and facts also of other patterns. */
#include <ctype.h>

#include "ops.h"
#include "regions.h"

/* Inputs of a node that a template can ask for, at least. */
enum { LEAST_INPUTS = 4 };

static const char *
lower_op(struct arena *a, const char *op)
{
	const char *dot = strrchr(op, '.');
	char *text = arena_strdup(a, dot != NULL ? dot + 1 : op);

	for (char *p = text; *p != '\0'; p++) {
		*p = (char)tolower((unsigned char)*p);
	}
	return text;
}

/* -- facts -- */

static void
put_fact(struct region_text *x, struct tdata *data, const char *name,
	 const struct fact *f)
{
	struct arena *a = x->k->a;
	bool set = f != NULL;
	union number v = { .f = set ? f->f : 0.0 };

	tdata_text(data, arena_printf(a, "%s_float", name),
		   f == NULL || f->kind == FACT_TEXT || f->kind == FACT_INTS
		   ? NULL : unit_literal(x->u, dtype_of(DT_F32), v));
	if (f == NULL) {
		tdata_text(data, name, NULL);
	} else if (f->kind == FACT_TEXT) {
		tdata_text(data, name, f->text);
		tdata_flag(data, arena_printf(a, "%s_is_%s", name, f->text),
			   true);
	} else if (f->kind == FACT_INT) {
		tdata_int(data, name, f->i);
		set = f->i != 0;
	} else if (f->kind == FACT_FLOAT) {
		tdata_text(data, name, unit_literal(x->u, dtype_of(DT_F32),
						    v));
		set = f->f != 0.0;
	} else {
		region_ints(data, name, f->ints, f->n);
		set = f->n > 0;
	}
	tdata_flag(data, arena_printf(a, "%s_set", name), set);
	tdata_flag(data, arena_printf(a, "%s_is_one", name),
		   f != NULL && (f->kind == FACT_INT ? f->i == 1
				 : f->kind == FACT_FLOAT && f->f == 1.0));
}

/* The texts that a fact may be, as far as the pattern says: flags. */
static void
put_words(struct region_text *x, struct tdata *data,
	  const struct pattern_node *n, const struct fact_rule *rule)
{
	struct arena *a = x->k->a;

	if (rule->has_default && rule->value.kind == FACT_TEXT) {
		tdata_flag(data, arena_printf(a, "%s_is_%s", rule->name,
					      rule->value.text), false);
	}
	for (int i = 0; rule->attribute != NULL && i < n->n_attributes; i++) {
		const struct attribute_condition *c = &n->attributes[i];

		for (int t = 0; t < c->n_texts; t++) {
			if (strcmp(c->name, rule->attribute) == 0) {
				tdata_flag(data, arena_printf(a, "%s_is_%s",
					rule->name, c->texts[t]), false);
			}
		}
	}
}

static void
put_facts(struct region_text *x, struct tdata *data,
	  const struct pattern_graph *p, const struct region_match *match,
	  int step)
{
	for (int i = 0; i < p->n_nodes; i++) {
		const struct pattern_node *n = &p->nodes[i];

		for (int k = 0; k < n->n_facts; k++) {
			put_words(x, data, n, &n->facts[k]);
			put_fact(x, data, n->facts[k].name,
				 match == NULL ? NULL
				 : region_match_fact(match, n->facts[k].name,
						     step));
		}
	}
}

/* -- roles -- */

static bool
within(const struct region_match *match, const struct tensor *t)
{
	return t->producer != NULL && t->producer->match == match;
}

/* The first input that comes from elsewhere. */
static const struct tensor *
outside_input(const struct region_match *match, const struct node *n)
{
	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		if (n->inputs[i] != NULL && !within(match, n->inputs[i])) {
			return n->inputs[i];
		}
	}
	return NULL;
}

static void
put_role(struct region_text *x, struct tdata *data,
	 const struct pattern_node *p, const struct region_match *match,
	 const struct node *n, const struct tensor *result)
{
	struct arena *a = x->k->a;
	const char *list = arena_printf(a, "%s_inputs", p->id);
	int count = p->n_inputs > LEAST_INPUTS ? p->n_inputs : LEAST_INPUTS;

	tdata_flag(data, arena_printf(a, "has_%s", p->id), n != NULL);
	for (int i = 0; i < p->n_ops; i++) {
		const char *op = lower_op(a, p->ops[i]);

		tdata_flag(data, arena_printf(a, "%s_is_%s", p->id, op),
			   n != NULL &&
			   strcmp(lower_op(a, n->op_type), op) == 0);
	}
	for (int i = 0; i < count; i++) {
		region_tensor_in(x, data, arena_printf(a, "%s_%d", p->id, i),
				 n != NULL && i < n->n_inputs ? n->inputs[i]
							      : NULL, result);
	}
	tdata_list(data, list);
	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		if (n->inputs[i] != NULL) {
			region_tensor(x, tdata_item(data, list), n->inputs[i],
				      result);
		}
	}
	region_tensor_in(x, data, arena_printf(a, "%s_operand", p->id),
			 outside_input(match, n), result);
	region_tensor_in(x, data, arena_printf(a, "%s_result", p->id),
			 n != NULL ? n->outputs[0] : NULL, result);
}

/* -- followers -- */

static const struct tensor *
step_operand(const struct region_match *match, int step)
{
	for (int i = 0; i < match->nodes.n; i++) {
		const struct match_node *n = &match->nodes.data[i];
		const struct tensor *t = n->step != step ? NULL
			: outside_input(match, n->node);

		if (t != NULL) {
			return t;
		}
	}
	return NULL;
}

/* What a follower has names for. */
static void
put_follower(struct region_text *x, struct tdata *data,
	     const struct pattern_graph *g, const struct region_match *match,
	     int step, bool found, const struct tensor *result)
{
	tdata_flag(data, arena_printf(x->k->a, "is_%s", g->name), found);
	put_facts(x, data, g, found ? match : NULL, step);
	for (int n = 0; n < g->n_nodes; n++) {
		put_role(x, data, &g->nodes[n], match, found
			 ? region_match_node(match, g->nodes[n].id, step)
			 : NULL, result);
	}
}

/* All that could be there, then the one that is: names may be shared. */
static void
put_followers(struct region_text *x, struct tdata *data,
	      const struct pattern *p, const struct region_match *match,
	      int step, const char *follower, const struct tensor *result)
{
	for (int found = 0; found < 2; found++) {
		for (int c = 0; c < p->n_chains; c++) {
			const struct pattern_chain *chain = &p->chains[c];

			for (int i = 0; i < chain->n_one_of; i++) {
				const struct pattern_graph *g =
					&chain->one_of[i];

				if (!found || (follower != NULL &&
				    strcmp(g->name, follower) == 0)) {
					put_follower(x, data, g, match, step,
						     found == 1, result);
				}
			}
		}
	}
}

/* Does nobody read t behind this match, nor the model's user? Inputs and
 * constants are others'. */
static bool
read_last(const struct region_text *x, const struct region_match *match,
	  const struct tensor *t)
{
	bool behind = false;

	if (t->producer == NULL || t->is_output || t->producer->match == NULL ||
	    t->producer->match->region != x->r) {
		return false;
	}
	for (int i = 0; i < x->r->matches.n; i++) {
		const struct region_match *other = x->r->matches.data[i];

		for (int u = 0; behind && u < t->uses.n; u++) {
			if (t->uses.data[u].node->match == other) {
				return false;
			}
		}
		behind = behind || other == match;
	}
	for (int u = 0; u < t->uses.n; u++) {
		const struct region_match *by = t->uses.data[u].node->match;

		if (by == NULL || by->region != x->r) {
			return false;
		}
	}
	return true;
}

static void
put_steps(struct region_text *x, struct tdata *data, const struct pattern *p,
	  const struct region_match *match)
{
	tdata_list(data, "steps");
	for (int step = 0; step < match->n_steps; step++) {
		struct tdata *item = tdata_item(data, "steps");
		const struct node *last = region_step_last(match, step);
		const char *follower = NULL;
		const struct tensor *operand;

		for (int i = 0; i < match->nodes.n; i++) {
			if (match->nodes.data[i].step == step) {
				follower = match->nodes.data[i].follower;
			}
		}
		tdata_int(item, "step", step);
		tdata_text(item, "follower", follower);
		put_followers(x, item, p, match, step, follower,
			      last != NULL ? last->outputs[0] : NULL);
		operand = step_operand(match, step);
		tdata_flag(item, "read_last", operand != NULL &&
			   read_last(x, match, operand));
		region_tensor_in(x, item, "operand", operand,
				 last != NULL ? last->outputs[0] : NULL);
		region_tensor_in(x, item, "step_result",
				 last != NULL ? last->outputs[0] : NULL, NULL);
	}
}

/* -- matches -- */

static const struct pattern *
pattern_of(const struct region_text *x, const struct region_match *match)
{
	for (int i = 0; i < x->b->n_patterns; i++) {
		if (strcmp(x->b->patterns[i].name, match->pattern) == 0) {
			return &x->b->patterns[i];
		}
	}
	return NULL;
}

/* "Conv conv1, Relu relu1" */
static const char *
node_words(struct region_text *x, const struct region_match *match)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < match->nodes.n; i++) {
		const struct node *n = match->nodes.data[i].node;
		const char *stem = name_stem(x->k->a, n->name);

		strbuf_printf(&s, "%s%s%s%s", i > 0 ? ", " : "", n->op_type,
			      stem != NULL ? " " : "",
			      stem != NULL ? stem : "");
	}
	text = comment_text(x->k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static void
put_results(struct region_text *x, struct tdata *data,
	    const struct region_match *match)
{
	const struct node *last = region_match_last(match);

	region_tensor_in(x, data, "result", last->outputs[0], NULL);
	tdata_list(data, "results");
	for (int i = 0; i < match->nodes.n; i++) {
		const struct node *n = match->nodes.data[i].node;

		for (int o = 0; o < n->n_outputs; o++) {
			const struct tensor *t = n->outputs[o];
			bool leaves = t != NULL && t->is_output;

			for (int u = 0; t != NULL && u < t->uses.n; u++) {
				leaves = leaves ||
					 t->uses.data[u].node->match != match;
			}
			if (leaves) {
				region_tensor(x, tdata_item(data, "results"),
					      t, NULL);
			}
		}
	}
}

/* What is added to the anchor's result: its own third input, or what an Add of
 * the pattern adds. */
static const struct tensor *
find_bias(const struct region_match *match)
{
	const struct node *anchor = match->anchor;

	if (anchor->op != NULL && anchor->op->fuse == FUSE_COMPUTE &&
	    anchor->n_inputs > 2 && anchor->inputs[2] != NULL) {
		return anchor->inputs[2];
	}
	for (int i = 0; i < match->nodes.n; i++) {
		const struct match_node *n = &match->nodes.data[i];

		if (n->step < 0 && strcmp(n->node->op_type, "Add") == 0 &&
		    n->node != anchor) {
			return outside_input(match, n->node);
		}
	}
	return NULL;
}

/* What other patterns of the backend may find: it is not there. */
static void
put_others(struct region_text *x, struct tdata *data)
{
	for (int i = 0; i < x->b->n_patterns; i++) {
		const struct pattern *p = &x->b->patterns[i];

		tdata_flag(data, arena_printf(x->k->a, "is_%s", p->name),
			   false);
		for (int v = 0; v < p->n_variants; v++) {
			const struct pattern_graph *g = &p->variants[v];

			put_facts(x, data, g, NULL, -1);
			for (int n = 0; n < g->n_nodes; n++) {
				tdata_flag(data, arena_printf(x->k->a,
					"has_%s", g->nodes[n].id), false);
			}
		}
	}
}

static void
put_match(struct region_text *x, struct tdata *data,
	  const struct region_match *match)
{
	const struct tensor *result = region_match_last(match)->outputs[0];
	const struct pattern *p = pattern_of(x, match);

	put_others(x, data);
	tdata_flag(data, arena_printf(x->k->a, "is_%s", match->pattern), true);
	tdata_text(data, "pattern", match->pattern);
	tdata_text(data, "op", lower_op(x->k->a, match->anchor->op_type));
	tdata_text(data, "nodes", node_words(x, match));
	region_node_facts(x, data, match->anchor);
	if (p != NULL) {
		/* The first has all nodes, also those that are optional. */
		const struct pattern_graph *g = &p->variants[0];

		put_facts(x, data, g, match, -1);
		for (int n = 0; n < g->n_nodes; n++) {
			put_role(x, data, &g->nodes[n], match,
				 region_match_node(match, g->nodes[n].id, -1),
				 result);
		}
	}
	region_tensor_in(x, data, "bias", find_bias(match), result);
	tdata_text(data, "y", region_name_of(x, result));
	put_results(x, data, match);
	tdata_list(data, "steps");
	if (p != NULL) {
		put_steps(x, data, p, match);
	}
}

void
region_matches(struct region_text *x, struct tdata *data)
{
	tdata_list(data, "matches");
	for (int i = 0; i < x->r->matches.n; i++) {
		struct tdata *item = tdata_item(data, "matches");

		tdata_int(item, "match", i);
		put_match(x, item, x->r->matches.data[i]);
	}
}
