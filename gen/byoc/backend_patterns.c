/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the patterns of a backend. A pattern that can match no model is an
 * error. */
#include "loading.h"
#include "ops.h"

enum { PRIORITY_MAX = 1000000, CHAIN_MAX = 64 };

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
		json_error(at, "'%s' is no operator that tirc knows", name);
	}
	return op;
}

/* The number of required inputs in the list. */
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

static void
read_inputs(struct json j, const struct pattern_scope *s,
	    struct pattern_node *n)
{
	struct arena *a = &j.reader->module->arena;
	struct json list = json_get(j, "inputs"), rest = json_get(j, "rest");

	n->check_inputs = list.value != NULL || rest.value != NULL;
	n->n_inputs = json_length(list);
	n->inputs = arena_array(a, struct tensor_condition, n->n_inputs + 1);
	for (int i = 0; i < n->n_inputs; i++) {
		backend_read_tensor(json_at(list, i), s, &n->inputs[i]);
		backend_check_layout(json_at(list, i), false, &n->inputs[i]);
	}
	if (rest.value != NULL) {
		struct tensor_condition *c = arena_new(a,
						       struct tensor_condition);

		backend_read_tensor(rest, s, c);
		backend_check_layout(rest, false, c);
		if (c->kind == TENSOR_NODE) {
			json_error(rest, "another node is read by an input of "
					 "its own; name it in inputs");
		}
		n->rest = c;
	}
	n->any_order = json_bool(json_get(j, "any_order"));
	if (n->any_order && n->n_inputs < 2) {
		json_error(json_get(j, "any_order"),
			   "there must be two "
			   "inputs that can change places");
	}
}

static void
read_outputs(struct json j, const struct pattern_scope *s,
	     struct pattern_node *n)
{
	struct json list = json_get(j, "outputs");
	bool exchanges = n->n_ops == 1 && strcmp(n->ops[0], "Transpose") == 0;

	n->n_outputs = json_length(list);
	n->outputs = arena_array(&j.reader->module->arena,
				 struct tensor_condition, n->n_outputs + 1);
	for (int i = 0; i < n->n_outputs; i++) {
		struct tensor_condition *c = &n->outputs[i];

		backend_read_tensor(json_at(list, i), s, c);
		backend_check_layout(json_at(list, i), exchanges, c);
		if (c->kind != TENSOR_ANY && c->kind != TENSOR_ABSENT) {
			json_error(json_at(list, i), "an output is any, "
						     "optional or absent");
		}
	}
	n->more_outputs = json_bool(json_get(j, "more_outputs"));
}

static void
read_attributes(struct json j, struct pattern_node *n)
{
	struct arena *a = &j.reader->module->arena;
	struct json conditions = json_get(j, "attributes");
	struct json facts = json_get(j, "facts");
	const cJSON *item;

	if (json_is_object(conditions, false)) {
		n->attributes =
			arena_array(a, struct attribute_condition,
				    cJSON_GetArraySize(conditions.value) + 1);
		cJSON_ArrayForEach(item, conditions.value)
		{
			backend_read_attribute(json_get(conditions,
							item->string),
					       arena_strdup(a, item->string),
					       &n->attributes
							[n->n_attributes++]);
		}
	}
	if (json_is_object(facts, false)) {
		n->facts = arena_array(a, struct fact_rule,
				       cJSON_GetArraySize(facts.value) + 1);
		cJSON_ArrayForEach(item, facts.value)
		{
			struct json row = json_get(facts, item->string);

			if (!backend_is_word(item->string)) {
				json_error(row, "a name in lower case is "
						"wanted here");
			}
			backend_read_fact(row, arena_strdup(a, item->string),
					  &n->facts[n->n_facts++]);
		}
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
			   "'%s' cannot be the id of a node; letters in "
			   "lower case, digits and _ can",
			   id);
	}
	for (int i = 0; i < s->n; i++) {
		if (strcmp(s->nodes[i].id, id) == 0) {
			json_error(at, "there is a node '%s' already", id);
		}
	}
}

#define NODE_KEYS                                                              \
	"op inputs rest any_order outputs more_outputs attributes "            \
	"facts"

/* Reads the next node of s. id: its id, unless the object has one. */
static void
read_node(struct json j, struct pattern_scope *s, const char *id)
{
	struct pattern_node *n = &s->nodes[s->n];
	struct json op = json_get(j, "op");
	const char *own;

	memset(n, 0, sizeof *n);
	n->id = "";
	if (!json_is_object(j, true)) {
		s->n++;
		return;
	}
	own = json_text(json_get(j, "id"), id == NULL);
	own = own != NULL ? own : id != NULL ? id : "";
	if (*own != '\0') {
		check_id(json_get(j, "id"), s, own);
	}
	n->id = own;
	if (cJSON_IsString(op.value)) {
		const char **ops = arena_array(&j.reader->module->arena,
					       const char *, 1);

		ops[0] = json_text(op, true);
		n->ops = ops;
		n->n_ops = 1;
	} else {
		n->ops = json_texts(op, &n->n_ops);
	}
	if (n->n_ops == 0) {
		json_error(
			op,
			op.value == NULL
				? "is missing"
				: "no operator is so; the pattern cannot match");
	}
	n->optional = json_bool(json_get(j, "optional"));
	s->self = n->id;
	read_inputs(j, s, n);
	s->self = NULL;
	s->n++;
	read_outputs(j, s, n);
	read_attributes(j, n);
	check_operators(j, n);
	if (n->optional && n->n_inputs == 0) {
		json_error(json_get(j, "optional"),
			   "what reads it when it is "
			   "left out? name its inputs");
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
read_nodes(struct json list, struct pattern_graph *g, bool has_before,
	   const char *keys)
{
	struct pattern_scope s = { .has_before = has_before };
	int n = json_length(list);

	s.nodes = arena_array(&list.reader->module->arena, struct pattern_node,
			      n + 1);
	for (int i = 0; i < n; i++) {
		json_check_keys(json_at(list, i), keys);
		read_node(json_at(list, i), &s, NULL);
	}
	if (n == 0) {
		json_error(list, list.value == NULL
					 ? "is missing"
					 : "a node at least is wanted here");
	}
	g->nodes = s.nodes;
	g->n_nodes = s.n;
	g->result = s.n - 1;
}

/* The node whose result followers read; by default the last one. */
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

/* A number, or a number and an additional one per input. */
static void
read_count(struct json j, const char *name, struct pattern_count *out)
{
	const int64_t most = 1000000;

	out->name = name;
	if (!backend_is_word(name)) {
		json_error(j, "a name in lower case is wanted here");
	}
	if (!cJSON_IsArray(j.value)) {
		out->number = json_int(j, 0, most, 0);
	} else if (json_length(j) == 2) {
		out->number = json_int(json_at(j, 0), 0, most, 0);
		out->each = json_int(json_at(j, 1), 0, most, 0);
	} else {
		json_error(j, "a number is wanted here, or one and another "
			      "for each input");
	}
}

const struct pattern_count *
backend_read_counts(struct backend_loader *l, struct json j, int *n)
{
	struct pattern_count *counts;
	const cJSON *item;

	*n = 0;
	if (!json_is_object(j, false)) {
		return NULL;
	}
	counts = arena_array(&l->m->arena, struct pattern_count,
			     cJSON_GetArraySize(j.value) + 1);
	cJSON_ArrayForEach(item, j.value)
	{
		read_count(json_get(j, item->string),
			   arena_strdup(&l->m->arena, item->string),
			   &counts[(*n)++]);
	}
	return counts;
}

static void
read_follower(struct backend_loader *l, struct json j,
	      struct pattern_chain *chain)
{
	struct pattern_graph *g = &chain->one_of[chain->n_one_of];
	struct json nodes = json_get(j, "nodes");
	int errors = l->m->diags.n_errors;

	*g = (struct pattern_graph){ 0 };
	if (!json_is_object(j, true)) {
		return;
	}
	g->name = json_text(json_get(j, "name"), true);
	if (g->name == NULL) {
		return;
	}
	if (!backend_is_word(g->name)) {
		json_error(json_get(j, "name"), "a name in lower case is "
						"wanted here");
	}
	for (int i = 0; i < chain->n_one_of; i++) {
		if (strcmp(chain->one_of[i].name, g->name) == 0) {
			json_error(json_get(j, "name"),
				   "there is a follower "
				   "'%s' already",
				   g->name);
		}
	}
	g->counts = backend_read_counts(l, json_get(j, "counts"), &g->n_counts);
	if (nodes.value != NULL) {
		json_check_keys(j, "name counts nodes result");
		read_nodes(nodes, g, true, "id " NODE_KEYS);
		read_result(j, g);
	} else {
		struct pattern_scope s = { .has_before = true };

		json_check_keys(j, "name counts " NODE_KEYS);
		s.nodes = arena_array(&l->m->arena, struct pattern_node, 1);
		read_node(j, &s, g->name);
		g->nodes = s.nodes;
		g->n_nodes = s.n;
		/* By default, the first input. */
		if (!g->nodes[0].check_inputs) {
			struct pattern_node *n = &g->nodes[0];

			n->check_inputs = true;
			n->n_inputs = 1;
			backend_any_tensor(j, n->inputs);
			n->inputs[0].kind = TENSOR_NODE;
			n->inputs[0].node = BEFORE;
		}
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
	int n = json_length(list);

	*chain = (struct pattern_chain){ 0 };
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "min max one_of");
	chain->min = (int)json_int(json_get(j, "min"), 0, CHAIN_MAX, 0);
	chain->max = (int)json_int(json_get(j, "max"), 1, CHAIN_MAX,
				   chain->min > 1 ? chain->min : 1);
	if (chain->min > chain->max) {
		json_error(json_get(j, "min"), "is more than max; the pattern "
					       "cannot match");
	}
	if (n == 0) {
		json_error(list,
			   list.value == NULL
				   ? "is missing"
				   : "a follower at least is wanted here");
	}
	chain->one_of = arena_array(&l->m->arena, struct pattern_graph, n + 1);
	for (int i = 0; i < n; i++) {
		read_follower(l, json_at(list, i), chain);
	}
}

/* -- patterns -- */

/* "then": chains, or names of the backend's "chains". */
static struct json
find_chains(struct backend_loader *l, struct json then)
{
	const char *name = cJSON_IsString(then.value) ? then.value->valuestring
						      : NULL;
	struct json named = name != NULL ? json_get(l->chains, name) : then;

	if (name != NULL && named.value == NULL) {
		json_error(then, "there is no '%s' in chains", name);
	}
	return named;
}

/* Appends the chains of `then` to p; in a list within the pattern, names refer
 * to the backend's "chains". */
static void
read_chains(struct backend_loader *l, struct json then, struct pattern *p,
	    bool own)
{
	struct arena *a = &l->m->arena;
	struct json list = find_chains(l, then);
	int n = json_length(list);

	for (int i = 0; i < n; i++) {
		struct json item = json_at(list, i);
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
			   "the node that matches are "
			   "found by cannot be optional");
		return 0;
	}
	return anchor;
}

/* The backend's options that a pattern requires, and their values. */
static void
read_wanted(struct backend_loader *l, struct json j, struct pattern *p)
{
	struct pattern_option *wanted;
	const cJSON *item;

	if (!json_is_object(j, false)) {
		return;
	}
	wanted = arena_array(&l->m->arena, struct pattern_option,
			     cJSON_GetArraySize(j.value) + 1);
	cJSON_ArrayForEach(item, j.value)
	{
		struct json row = json_get(j, item->string);
		const char *value = json_text(row, true);
		const struct backend_option *o = NULL;

		for (int i = 0; i < l->b->n_options; i++) {
			if (strcmp(l->b->options[i].name, item->string) == 0) {
				o = &l->b->options[i];
			}
		}
		if (o == NULL) {
			json_error(row, "the backend has no such option");
		} else if (value != NULL && !backend_takes(o, value)) {
			json_error(row, "is none of the option's values");
		} else if (value != NULL) {
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
	struct json cost = json_get(j, "cost"), then = json_get(j, "then");
	struct json alone = json_get(j, "alone");
	struct pattern_graph all = { 0 };
	int errors = l->m->diags.n_errors, anchor;

	p->pointer = j.pointer;
	p->name = "";
	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "name what priority counts anchor nodes result then "
			   "cost alone options");
	p->name = json_text(json_get(j, "name"), true);
	p->name = p->name != NULL ? p->name : "";
	if (*p->name != '\0' && !backend_is_word(p->name)) {
		json_error(json_get(j, "name"), "a name in lower case is "
						"wanted here");
	}
	p->what = json_text(json_get(j, "what"), false);
	p->priority = (int)json_int(json_get(j, "priority"), -PRIORITY_MAX,
				    PRIORITY_MAX, 0);
	if (json_is_object(cost, false)) {
		json_check_keys(cost, "min_macs min_bytes");
		p->min_macs = json_int(json_get(cost, "min_macs"), 0,
				       INT64_C(1) << 53, 0);
		p->min_bytes = json_int(json_get(cost, "min_bytes"), 0,
					INT64_C(1) << 53, 0);
	}
	p->counts = backend_read_counts(l, json_get(j, "counts"), &p->n_counts);
	read_wanted(l, json_get(j, "options"), p);
	p->not_alone = alone.value != NULL && !json_bool(alone);
	read_nodes(json_get(j, "nodes"), &all, false, "id optional " NODE_KEYS);
	read_result(j, &all);
	read_chains(l, then, p, !cJSON_IsString(then.value));
	if (all.n_nodes == 0 || l->m->diags.n_errors != errors) {
		return;
	}
	anchor = read_anchor(j, &all);
	p->anchor = all.nodes[anchor].id;
	backend_make_variants(l->m, p, &all, anchor, json_get(j, "nodes"));
	for (int i = 0; i < p->n_variants; i++) {
		const struct pattern_graph *g = &p->variants[i];

		if (p->n_chains > 0 && g->inner[g->result]) {
			json_error(then,
				   "what follows '%s' cannot be found: "
				   "another node of the pattern reads it",
				   g->nodes[g->result].id);
			break;
		}
	}
}

void
backend_read_patterns(struct backend_loader *l, struct json j)
{
	int n = json_length(j);

	l->b->patterns = arena_array(&l->m->arena, struct pattern, n + 1);
	if (n == 0) {
		json_error(
			j,
			j.value == NULL
				? "is missing"
				: "a backend without patterns takes nothing");
	}
	for (int i = 0; i < n; i++) {
		struct pattern *p = &l->b->patterns[i];

		read_pattern(l, json_at(j, i), p);
		l->b->n_patterns = i + 1;
		for (int k = 0; k < i; k++) {
			if (strcmp(l->b->patterns[k].name, p->name) == 0 &&
			    *p->name != '\0') {
				json_error(json_get(json_at(j, i), "name"),
					   "there is a pattern '%s' already",
					   p->name);
			}
		}
	}
}
