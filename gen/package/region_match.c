/* SPDX-License-Identifier: Apache-2.0 */
/* Adds data about the matches of a region for the backend's templates.
 * gen/byoc/region_names.c declares the names that a match may leave unset. */
#include "backend_load.h"
#include "comment_text.h"
#include "ops.h"
#include "regions.h"

/* The columns of a line that indentation and comment delimiters take, in a
 * comment that lists nodes. */
enum { LINE_AROUND = 16 + 6 };

/* -- facts -- */

void
region_plain_text(struct region_text *x, struct tdata *data, const char *key,
		  const char *name, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_ .,:+-";
	struct module *m = x->k->m;

	if (text[strspn(text, plain)] != '\0') {
		diag_error(&m->diags, DIAG_UNSUPPORTED,
			   (struct diag_place){ .file = x->k->g->file,
						.item = x->kernel->name },
			   "%s is '%s'; templates of backends take only "
			   "letters, digits, spaces and _ . , : + -",
			   name, text);
		text = "";
	}
	tdata_text(data, key, text);
}

static void
put_fact(struct region_text *x, struct tdata *data, const char *name,
	 const struct fact *f)
{
	struct arena *a = x->k->a;
	const char *real = f->kind == FACT_TEXT || f->kind == FACT_INTS
				   ? NULL
				   : unit_literal(x->u, dtype_of(DT_F32),
						  (union number){ .f = f->f });
	bool set = true;

	tdata_text(data, arena_printf(a, "%s_float", name), real);
	if (f->kind == FACT_TEXT) {
		region_plain_text(x, data, name, name, f->text);
		tdata_flag(data, arena_printf(a, "%s_is_%s", name, f->text),
			   true);
	} else if (f->kind == FACT_INT) {
		tdata_int(data, name, f->i);
		set = f->i != 0;
	} else if (f->kind == FACT_FLOAT) {
		tdata_text(data, name, real);
		set = f->f != 0.0;
	} else {
		region_ints(data, name, f->ints, f->n);
		set = f->n > 0;
	}
	tdata_flag(data, arena_printf(a, "%s_set", name), set);
	tdata_flag(data, arena_printf(a, "%s_is_one", name),
		   f->kind == FACT_INT ? f->i == 1
				       : f->kind == FACT_FLOAT && f->f == 1.0);
}

static void
put_facts(struct region_text *x, struct tdata *data,
	  const struct region_match *match, int step)
{
	for (int i = 0; i < match->facts.n; i++) {
		const struct fact *f = &match->facts.data[i];

		if (f->step == step) {
			put_fact(x, data, f->name, f);
		}
	}
}

/* -- roles -- */

static bool
within(const struct region_match *match, const struct tensor *t)
{
	return t->producer != NULL && t->producer->match == match;
}

/* The first input of n that no node of the match computes, or NULL. */
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
	 const struct match_node *role, const struct region_match *match,
	 const struct tensor *result)
{
	struct arena *a = x->k->a;
	const struct node *n = role->node;
	const char *id = role->role;
	const char *list = arena_printf(a, "%s_inputs", id);
	int n_inputs = 0;

	tdata_flag(data, arena_printf(a, "has_%s", id), true);
	tdata_flag(data,
		   arena_printf(a, "%s_is_%s", id,
				backend_op_word(a, n->op_type)),
		   true);
	tdata_list(data, list);
	for (int i = 0; i < n->n_inputs; i++) {
		region_tensor_in(x, data, arena_printf(a, "%s_%d", id, i),
				 n->inputs[i], result);
		if (n->inputs[i] != NULL) {
			n_inputs++;
			region_tensor(x, tdata_item(data, list), n->inputs[i],
				      result);
		}
	}
	tdata_int(data, arena_printf(a, "%s_n_inputs", id), n_inputs);
	region_tensor_in(x, data, arena_printf(a, "%s_operand", id),
			 outside_input(match, n), result);
	region_tensor_in(x, data, arena_printf(a, "%s_result", id),
			 n->outputs[0], result);
}

/* Adds the roles of the nodes that a step of the pattern matched; step -1 is
 * the body of the pattern. */
static void
put_roles(struct region_text *x, struct tdata *data,
	  const struct region_match *match, int step,
	  const struct tensor *result)
{
	for (int i = 0; i < match->nodes.n; i++) {
		if (match->nodes.data[i].step == step) {
			put_role(x, data, &match->nodes.data[i], match, result);
		}
	}
}

/* -- followers -- */

static const struct tensor *
step_operand(const struct region_match *match, int step)
{
	for (int i = 0; i < match->nodes.n; i++) {
		const struct match_node *n = &match->nodes.data[i];
		const struct tensor *t = n->step != step
						 ? NULL
						 : outside_input(match,
								 n->node);

		if (t != NULL) {
			return t;
		}
	}
	return NULL;
}

/* Is t computed in this region, and is this match its last reader? The match is
 * not the last reader if a later match of the region, a node outside of the
 * region, or the caller reads t. */
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
put_steps(struct region_text *x, struct tdata *data,
	  const struct region_match *match)
{
	tdata_list(data, "steps");
	for (int step = 0; step < match->n_steps; step++) {
		struct tdata *item = tdata_item(data, "steps");
		const struct node *last = region_step_last(match, step);
		const char *follower = region_role(last)->follower;
		const struct tensor *operand;

		tdata_int(item, "step", step);
		tdata_text(item, "follower", follower);
		tdata_flag(item, arena_printf(x->k->a, "is_%s", follower),
			   true);
		put_facts(x, item, match, step);
		put_roles(x, item, match, step, last->outputs[0]);
		operand = step_operand(match, step);
		tdata_flag(item, "read_last",
			   operand != NULL && read_last(x, match, operand));
		region_tensor_in(x, item, "operand", operand, last->outputs[0]);
		region_tensor_in(x, item, "step_result", last->outputs[0],
				 NULL);
	}
}

/* -- matches -- */

/* A node in a comment: its operator and, if it has one, its name, as in "Conv
 * conv1". */
static const char *
node_words(struct region_text *x, const struct node *n)
{
	struct arena *a = x->k->a;
	const char *stem = name_stem(a, n->name);

	return comment_text(a, x->k->d,
			    stem == NULL ? n->op_type
					 : arena_printf(a, "%s %s", n->op_type,
							stem));
}

/* Adds to data the names of all nodes of the match: as a single text, and as
 * lines that fit into a comment. */
static void
put_nodes(struct region_text *x, struct tdata *data,
	  const struct region_match *match)
{
	struct arena *a = x->k->a;
	const size_t most = (size_t)x->k->d->line_columns - LINE_AROUND;
	const char *all = "", *line = "";

	tdata_list(data, "node_lines");
	for (int i = 0; i < match->nodes.n; i++) {
		const char *words =
			arena_printf(a, "%s%s",
				     node_words(x, match->nodes.data[i].node),
				     i + 1 < match->nodes.n ? "," : "");

		all = arena_printf(a, "%s%s%s", all, i > 0 ? " " : "", words);
		if (*line != '\0' && strlen(line) + 1 + strlen(words) > most) {
			tdata_text(tdata_item(data, "node_lines"), "line",
				   line);
			line = "";
		}
		line = arena_printf(a, "%s%s%s", line, *line != '\0' ? " " : "",
				    words);
	}
	tdata_text(tdata_item(data, "node_lines"), "line", line);
	tdata_text(data, "nodes", all);
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
				region_tensor(x, tdata_item(data, "results"), t,
					      NULL);
			}
		}
	}
}

/* The tensor that is added to the result of the match's main operator (the
 * anchor): the operator's third input, or the other operand of an Add in the
 * match. NULL if nothing is added. */
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

static void
put_match(struct region_text *x, struct tdata *data,
	  const struct region_match *match)
{
	struct arena *a = x->k->a;
	const struct tensor *result = region_match_last(match)->outputs[0];

	tdata_flag(data, arena_printf(a, "is_%s", match->pattern), true);
	tdata_text(data, "pattern", match->pattern);
	tdata_text(data, "op", backend_op_word(a, match->anchor->op_type));
	put_nodes(x, data, match);
	region_node_facts(x, data, match->anchor);
	put_facts(x, data, match, -1);
	put_roles(x, data, match, -1, result);
	region_tensor_in(x, data, "bias", find_bias(match), result);
	tdata_text(data, "y", region_name_of(x, result));
	put_results(x, data, match);
	put_steps(x, data, match);
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
