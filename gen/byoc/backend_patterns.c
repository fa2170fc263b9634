/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the patterns of a backend. A pattern that cannot match in any model is
 * an error. */
#include "backend_keys.h"
#include "loading.h"
#include "ops.h"

/* -- operators -- */

static void
check_count(struct json at, const struct op *op, const char *what, int n,
	    int min, int max, bool more)
{
	if ((max >= 0 && n > max) || (n < min && !more)) {
		json_error(at,
			   "%s has %d%s %s, not %d; the pattern cannot "
			   "match",
			   op->name, n < min ? min : max,
			   min == max ? ""
			   : n < min  ? " or more"
				      : " or fewer",
			   what, n);
	}
}

static const struct op *
operator_named(struct json at, const char *name)
{
	const char *dot = strchr(name, '.');
	struct arena *a = &at.reader->module->arena;
	const struct op *op =
		dot == NULL
			? op_find("", name)
			: op_find(arena_strndup(a, name, (size_t)(dot - name)),
				  dot + 1);

	if (op == NULL) {
		json_error(at, "'%s' is not an operator that tirc knows", name);
	}
	return op;
}

/* The smallest number of inputs that a node needs to match `list`: inputs up to
 * the last one that the list neither declares absent nor optional. */
static int
needed(const struct tensor_condition *list, int n)
{
	while (n > 0 &&
	       (list[n - 1].kind == TENSOR_ABSENT || list[n - 1].optional)) {
		n--;
	}
	return n;
}

static void
check_operators(struct json j, const struct pattern_node *n)
{
	for (int i = 0; i < n->n_ops; i++) {
		const struct op *op = operator_named(json_get(j, "op"),
						     n->ops[i]);
		int most = n->n_inputs;

		if (op == NULL) {
			continue;
		}
		if (n->check_inputs) {
			int least = needed(n->inputs, n->n_inputs);

			check_count(json_get(j, "inputs"), op, "inputs",
				    most < op->min_inputs ? most : least,
				    op->min_inputs < least ? 0 : op->min_inputs,
				    op->max_inputs, n->rest != NULL);
		}
		check_count(json_get(j, "outputs"), op, "outputs",
			    needed(n->outputs, n->n_outputs), 0,
			    op->max_outputs, true);
		for (int k = 0; k < n->n_facts; k++) {
			if (op->max_inputs >= 0 &&
			    n->facts[k].input >= op->max_inputs) {
				json_error(json_get(json_get(j, "facts"),
						    n->facts[k].name),
					   "%s has no input %d", op->name,
					   n->facts[k].input);
			}
		}
	}
}

/* -- nodes -- */

/* Reads a list of conditions on tensors. exchanges: they are outputs of a node
 * that transposes. */
static struct tensor_condition *
read_tensors(struct json list, const struct pattern_scope *s, bool exchanges,
	     int *n)
{
	struct tensor_condition *c;

	*n = json_length(list);
	c = arena_array(&list.reader->module->arena, struct tensor_condition,
			*n + 1);
	for (struct json j = json_first(list); j.value != NULL;
	     j = json_next(list, j)) {
		backend_read_tensor(j, s, &c[j.index]);
		backend_check_layout(j, exchanges, &c[j.index]);
	}
	return c;
}

static void
read_inputs(struct json j, const struct pattern_scope *s,
	    struct pattern_node *n)
{
	struct arena *a = &j.reader->module->arena;
	struct json list = json_get(j, "inputs"), rest = json_get(j, "rest");

	n->check_inputs = list.value != NULL || rest.value != NULL;
	n->inputs = read_tensors(list, s, false, &n->n_inputs);
	if (rest.value != NULL) {
		struct tensor_condition *c = arena_new(a,
						       struct tensor_condition);

		backend_read_tensor(rest, s, c);
		backend_check_layout(rest, false, c);
		if (c->kind == TENSOR_NODE) {
			json_error(rest, "the node it reads is at one input; "
					 "list it in inputs");
		}
		n->rest = c;
	}
	if (n->any_order && n->n_inputs < 2) {
		json_error(json_get(j, "any_order"),
			   "any_order needs two inputs");
	}
}

static void
read_outputs(struct json j, const struct pattern_scope *s,
	     struct pattern_node *n)
{
	struct json list = json_get(j, "outputs");
	bool exchanges = n->n_ops == 1 && strcmp(n->ops[0], "Transpose") == 0;

	n->outputs = read_tensors(list, s, exchanges, &n->n_outputs);
	for (int i = 0; i < n->n_outputs; i++) {
		const struct tensor_condition *c = &n->outputs[i];

		if (c->kind != TENSOR_ANY && c->kind != TENSOR_ABSENT) {
			json_error(json_at(list, i), "an output is any, "
						     "optional or absent");
		}
	}
}

static void
read_attributes(struct json conditions, struct pattern_node *n)
{
	struct arena *a = &conditions.reader->module->arena;

	n->attributes = arena_array(a, struct attribute_condition,
				    cJSON_GetArraySize(conditions.value) + 1);
	for (struct json row = json_first(conditions); row.value != NULL;
	     row = json_next(conditions, row)) {
		backend_read_attribute(row, arena_strdup(a, row.value->string),
				       &n->attributes[n->n_attributes++]);
	}
}

/* Checks the last fact of n: the name in its `at_least`, if present, must be
 * that of an earlier fact of n. If not, reports an error at row. */
static void
check_order(struct json row, const struct pattern_node *n)
{
	const char *other = n->facts[n->n_facts - 1].at_least;
	bool known = other == NULL;

	for (int i = 0; i < n->n_facts - 1 && !known; i++) {
		known = strcmp(n->facts[i].name, other) == 0;
	}
	if (!known) {
		json_error(json_get(row, "at_least"),
			   "'%s' is not an earlier fact of the node", other);
	}
}

static void
read_facts(struct json facts, struct pattern_node *n)
{
	struct arena *a = &facts.reader->module->arena;

	n->facts = arena_array(a, struct fact_rule,
			       cJSON_GetArraySize(facts.value) + 1);
	for (struct json row = json_first(facts); row.value != NULL;
	     row = json_next(facts, row)) {
		backend_want_word(row, row.value->string);
		backend_read_fact(row, arena_strdup(a, row.value->string),
				  &n->facts[n->n_facts++]);
		check_order(row, n);
	}
}

static const char *const taken_words[] = {
	"any", "constant", "variable", "absent", "optional", "before",
};

static void
check_id(struct json at, const struct pattern_scope *s, const char *id)
{
	bool taken = false;

	for (size_t i = 0; i < sizeof taken_words / sizeof *taken_words; i++) {
		taken = taken || strcmp(taken_words[i], id) == 0;
	}
	if (taken || !backend_is_word(id)) {
		json_error(at,
			   "'%s' cannot be the id of a node; use letters in "
			   "lower case, digits and _",
			   id);
	}
	for (int i = 0; i < s->n; i++) {
		if (strcmp(s->nodes[i].id, id) == 0) {
			json_error(at, "a node '%s' exists already", id);
		}
	}
}

static void
read_operators(struct json op, struct pattern_node *n)
{
	const char **one;

	if (!cJSON_IsString(op.value)) {
		n->ops = json_texts(op, &n->n_ops);
	} else {
		one = arena_array(&op.reader->module->arena, const char *, 1);
		one[0] = json_text(op, true);
		n->ops = one;
		n->n_ops = 1;
	}
	if (n->n_ops == 0) {
		json_error(op,
			   op.value == NULL
				   ? "is missing"
				   : "no operator fulfils this; the pattern "
				     "cannot match");
	}
}

/* Reads the next node of a pattern, and appends it to s. id: the name of the
 * node, if the node is a follower by itself (which has no "id"); else NULL. */
static void
read_node(struct json j, struct pattern_scope *s, const char *id)
{
	struct pattern_node *n = &s->nodes[s->n];

	memset(n, 0, sizeof *n);
	json_keys_read(&backend_keys, j, "#node #pattern_node", n, NULL);
	n->id = id != NULL ? id : n->id;
	check_id(json_get(j, "id"), s, n->id);
	read_operators(json_get(j, "op"), n);
	s->self = n->id;
	read_inputs(j, s, n);
	s->self = NULL;
	s->n++;
	read_outputs(j, s, n);
	read_attributes(json_get(j, "attributes"), n);
	read_facts(json_get(j, "facts"), n);
	check_operators(j, n);
	if (n->optional && s->has_before) {
		json_error(json_get(j, "optional"),
			   "a follower has all of its nodes; make another "
			   "follower of those that are there");
	} else if (n->optional && n->n_inputs == 0) {
		json_error(json_get(j, "optional"),
			   "an optional node needs inputs: the first "
			   "replaces the node if it is absent");
	}
}

static int
find_node(const struct pattern_graph *g, const char *id)
{
	for (int i = 0; i < g->n_nodes; i++) {
		if (strcmp(g->nodes[i].id, id) == 0) {
			return i;
		}
	}
	return -1;
}

static void
read_nodes(struct json list, struct pattern_graph *g, bool has_before)
{
	struct pattern_scope s = { .has_before = has_before };

	s.nodes = arena_array(&list.reader->module->arena, struct pattern_node,
			      json_length(list) + 1);
	for (struct json j = json_first(list); j.value != NULL;
	     j = json_next(list, j)) {
		read_node(j, &s, NULL);
	}
	g->nodes = s.nodes;
	g->n_nodes = s.n;
	g->result = s.n - 1;
}

/* Reads "result", the node whose result the followers of the pattern read; the
 * default is the last node. */
static void
read_result(struct json j, struct pattern_graph *g)
{
	const char *id = json_text(json_get(j, "result"), false);

	if (id != NULL) {
		g->result = find_node(g, id);
		if (g->result < 0) {
			json_error(json_get(j, "result"),
				   "there is no node '%s'", id);
			g->result = 0;
		}
	}
}

/* -- followers -- */

/* Reads a count: a number, or an object with a number and one for each
 * input. */
static struct pattern_count
read_count(struct json j)
{
	struct pattern_count count = {
		.name = arena_strdup(&j.reader->module->arena, j.value->string),
	};

	backend_want_word(j, count.name);
	if (!cJSON_IsArray(j.value)) {
		count.number = j.value->valueint;
	} else if (json_length(j) == 2) {
		count.number = json_at(j, 0).value->valueint;
		count.each = json_at(j, 1).value->valueint;
	} else {
		json_error(j, "a number is expected here, or one number and "
			      "another per input");
	}
	return count;
}

const struct pattern_count *
backend_read_counts(struct backend_loader *l, struct json j, int *n)
{
	struct pattern_count *counts;

	*n = 0;
	counts = arena_array(&l->m->arena, struct pattern_count,
			     cJSON_GetArraySize(j.value) + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		counts[(*n)++] = read_count(item);
	}
	return counts;
}

/* Reads a follower that is a single node, and has the keys of a node. */
static void
read_single(struct backend_loader *l, struct json j, struct pattern_graph *g)
{
	struct pattern_scope s = { .has_before = true };
	struct pattern_node *n;

	json_check_keys(j, json_keys_known(&backend_keys, &l->m->arena,
					   "#follower #follower_of_one #node"));
	s.nodes = arena_array(&l->m->arena, struct pattern_node, 1);
	read_node(j, &s, g->name);
	g->nodes = s.nodes;
	g->n_nodes = s.n;
	n = &g->nodes[0];
	/* by default, input 0 of a follower is the result of the node before
	 * it */
	if (!n->check_inputs) {
		n->check_inputs = true;
		n->n_inputs = 1;
		backend_any_tensor(j, n->inputs);
		n->inputs[0].kind = TENSOR_NODE;
		n->inputs[0].node = BEFORE;
	}
}

static void
read_follower(struct backend_loader *l, struct json j,
	      struct pattern_chain *chain)
{
	struct pattern_graph *g = &chain->one_of[chain->n_one_of];
	struct json nodes = json_get(j, "nodes");
	int errors = l->m->diags.n_errors;

	*g = (struct pattern_graph){ 0 };
	json_keys_read(&backend_keys, j, "#follower", g, l);
	backend_want_word(json_get(j, "name"), g->name);
	for (int i = 0; i < chain->n_one_of; i++) {
		if (strcmp(chain->one_of[i].name, g->name) == 0) {
			json_error(json_get(j, "name"),
				   "a follower '%s' exists already", g->name);
		}
	}
	g->counts = backend_read_counts(l, json_get(j, "counts"), &g->n_counts);
	if (nodes.value != NULL) {
		json_check_keys(
			j, json_keys_known(&backend_keys, &l->m->arena,
					   "#follower #follower_of_nodes"));
		read_nodes(nodes, g, true);
		read_result(j, g);
	} else {
		read_single(l, j, g);
	}
	chain->n_one_of++;
	if (l->m->diags.n_errors == errors) {
		backend_order_nodes(l->m, g, -1, j);
	}
}

static void
read_chain(struct backend_loader *l, struct json j, struct pattern_chain *chain)
{
	struct json list = json_get(j, "one_of");

	*chain = (struct pattern_chain){ 0 };
	json_keys_read(&backend_keys, j, "#chain", chain, l);
	if (chain->max == 0) {
		chain->max = chain->min > 1 ? chain->min : 1;
	}
	if (chain->min > chain->max) {
		json_error(json_get(j, "min"), "min is more than max; the "
					       "pattern cannot match");
	}
	chain->one_of = arena_array(&l->m->arena, struct pattern_graph,
				    json_length(list) + 1);
	for (struct json item = json_first(list); item.value != NULL;
	     item = json_next(list, item)) {
		read_follower(l, item, chain);
	}
}

/* -- patterns -- */

/* The value of "then": a list of chains, or the name of a list in the backend's
 * "chains". */
static struct json
find_chains(struct backend_loader *l, struct json then)
{
	const char *name = cJSON_IsString(then.value) ? then.value->valuestring
						      : NULL;
	struct json named = name != NULL ? json_get(l->chains, name) : then;

	if (name != NULL && named.value == NULL) {
		json_error(then, "chains has no '%s'", name);
	}
	return named;
}

/* Appends the chains in `then` to p. own: `then` is in the pattern itself,
 * where an element may also be the name of a list in the backend's "chains". */
static void
read_chains(struct backend_loader *l, struct json then, struct pattern *p,
	    bool own)
{
	struct arena *a = &l->m->arena;
	struct json list = find_chains(l, then);

	for (struct json item = json_first(list); item.value != NULL;
	     item = json_next(list, item)) {
		struct pattern_chain *longer;

		if (own && cJSON_IsString(item.value)) {
			read_chains(l, item, p, false);
			continue;
		}
		longer = arena_array(a, struct pattern_chain, p->n_chains + 1);
		if (p->n_chains > 0) {
			memcpy(longer, p->chains,
			       sizeof *longer * (size_t)p->n_chains);
		}
		p->chains = longer;
		read_chain(l, item, &p->chains[p->n_chains++]);
	}
}

static int
read_anchor(struct json j, const struct pattern_graph *g)
{
	const char *id = json_text(json_get(j, "anchor"), false);
	int anchor = id != NULL ? find_node(g, id) : 0;

	if (anchor < 0) {
		json_error(json_get(j, "anchor"), "there is no node '%s'", id);
		return 0;
	}
	while (id == NULL && anchor < g->n_nodes && g->nodes[anchor].optional) {
		anchor++;
	}
	if (anchor == g->n_nodes || g->nodes[anchor].optional) {
		json_error(json_get(j, "anchor"),
			   "the anchor cannot be optional");
		return 0;
	}
	return anchor;
}

static const struct backend_option *
find_option(const struct backend *b, const char *name)
{
	for (int i = 0; i < b->n_options; i++) {
		if (strcmp(b->options[i].name, name) == 0) {
			return &b->options[i];
		}
	}
	return NULL;
}

/* Reads the options of the backend that a pattern requires, with the values
 * that they must have. */
static void
read_wanted(struct backend_loader *l, struct json j, struct pattern *p)
{
	struct pattern_option *wanted;

	wanted = arena_array(&l->m->arena, struct pattern_option,
			     cJSON_GetArraySize(j.value) + 1);
	for (struct json row = json_first(j); row.value != NULL;
	     row = json_next(j, row)) {
		const char *value = json_text(row, true);
		const struct backend_option *o = find_option(l->b,
							     row.value->string);

		if (o == NULL) {
			json_error(row,
				   "the backend does not have this option");
		} else if (!backend_takes(o, value)) {
			json_error(row, "is not a value of the option");
		} else {
			wanted[p->n_options++] = (struct pattern_option){
				o->name, value
			};
		}
	}
	p->options = wanted;
}

static void
read_pattern(struct backend_loader *l, struct json j, struct pattern *p)
{
	struct json then = json_get(j, "then");
	struct pattern_graph all = { 0 };
	int errors = l->m->diags.n_errors, anchor;

	p->pointer = json_pointer(j);
	json_keys_read(&backend_keys, j, "/patterns/*", p, l);
	backend_want_word(json_get(j, "name"), p->name);
	p->counts = backend_read_counts(l, json_get(j, "counts"), &p->n_counts);
	read_wanted(l, json_get(j, "options"), p);
	read_nodes(json_get(j, "nodes"), &all, false);
	read_result(j, &all);
	read_chains(l, then, p, !cJSON_IsString(then.value));
	if (l->m->diags.n_errors != errors) {
		return;
	}
	anchor = read_anchor(j, &all);
	p->anchor = all.nodes[anchor].id;
	backend_make_variants(l->m, p, &all, anchor, json_get(j, "nodes"));
	for (int i = 0; i < p->n_variants; i++) {
		const struct pattern_graph *g = &p->variants[i];

		if (p->n_chains > 0 && g->inner[g->result]) {
			json_error(then,
				   "followers of '%s' cannot be found: "
				   "another node of the pattern reads it",
				   g->nodes[g->result].id);
			break;
		}
	}
}

void
backend_read_patterns(void *ctx, struct json j)
{
	struct backend_loader *l = ctx;

	l->b->patterns = arena_array(&l->m->arena, struct pattern,
				     json_length(j) + 1);
	for (struct json item = json_first(j); item.value != NULL;
	     item = json_next(j, item)) {
		struct pattern *p = &l->b->patterns[item.index];

		read_pattern(l, item, p);
		l->b->n_patterns = item.index + 1;
		for (int k = 0; k < item.index; k++) {
			if (strcmp(l->b->patterns[k].name, p->name) == 0) {
				json_error(json_get(item, "name"),
					   "there is a pattern '%s' already",
					   p->name);
			}
		}
	}
}
