/* SPDX-License-Identifier: Apache-2.0 */
/* Reads backends, matches and regions of a partition. The pattern of a match
 * must accept exactly the nodes of the match: so the pattern's conditions also
 * hold after an edit of the partition, and the match's facts for templates are
 * computed again. */
#include <math.h>
#include <string.h>

#include "backend_load.h"
#include "byoc.h"
#include "reading.h"
#include "text.h"

/* -- backends -- */

/* Has the loaded backend b the same options with the same values as when the
 * partition was made? The regions depend on them. False after a diagnostic. */
static bool
has_options(const struct backend *b, struct json options)
{
	if (options.value != NULL && !json_is_object(options, true)) {
		return false;
	}
	for (int i = 0; i < b->n_options; i++) {
		const struct backend_option *o = &b->options[i];
		struct json row = json_get(options, o->name);
		const char *value = json_text(row, false);

		if (value != NULL && strcmp(value, o->value) != 0) {
			return json_error(row,
					  "the command line has loaded the "
					  "backend with %s=%s; give --byoc "
					  "%s:%s=%s",
					  o->name, o->value, b->name, o->name,
					  value);
		}
	}
	return true;
}

static const struct backend *
load_backend(struct reading *in, struct json j, const char *name)
{
	struct arena *a = &in->m->arena;
	struct json options = json_get(j, "options");
	const struct partition_facts *f = in->facts;
	const char *named = name;
	const struct backend *b;

	for (int i = 0; i < f->n_backends; i++) {
		if (strcmp(f->backends[i]->name, name) == 0) {
			return has_options(f->backends[i], options)
				       ? f->backends[i]
				       : NULL;
		}
	}
	if (options.value != NULL && json_is_object(options, true)) {
		for (struct json one = json_first(options); one.value;
		     one = json_next(options, one)) {
			const char *value = json_text(one, true);

			if (value != NULL) {
				named = arena_printf(
					a, "%s%c%s=%s", named,
					one.value == options.value->child ? ':'
									  : ',',
					one.value->string, value);
			}
		}
	}
	if (in->r.failed) {
		return NULL;
	}
	if (!backend_is_embedded(in->m, name)) {
		json_error(j,
			   "the backend '%s' is not part of tirc; name it with "
			   "--byoc %s and its folder with --byoc-path if you "
			   "trust it",
			   name, name);
		return NULL;
	}
	b = backend_load(in->m, named, NULL, partition_run_command);
	if (b == NULL) {
		json_error(j, "the backend cannot be loaded");
	}
	return b;
}

/* Is b the backend that the graph had before the edit, with the same options as
 * in j? False after a diagnostic. */
static bool
check_backend(struct reading *in, struct json j, const struct backend *b,
	      const char *name)
{
	struct json options = json_get(j, "options");

	if (strcmp(b->name, name) != 0) {
		return json_error(json_get(j, "name"),
				  "%s is expected here; a pass cannot change "
				  "the backends",
				  b->name);
	}
	if (options.value != NULL && !json_is_object(options, true)) {
		return false;
	}
	if (cJSON_GetArraySize(options.value) != b->n_options) {
		return json_error(options, "a pass cannot change the "
					   "backends' options");
	}
	for (int i = 0; i < b->n_options; i++) {
		const struct backend_option *o = &b->options[i];
		struct json row = json_get(options, o->name);
		const char *value = json_text(row, true);

		if (value != NULL && strcmp(value, o->value) != 0) {
			json_error(row,
				   "'%s' is expected here; a pass cannot "
				   "change the backends' options",
				   o->value);
		}
	}
	return !in->r.failed;
}

static bool
check_backends(struct reading *in, struct json list)
{
	const struct graph *before = in->before;

	if (json_length(list) != before->n_backends) {
		return json_error(list, "a pass cannot change the backends");
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		const char *name = json_text(json_get(j, "name"), true);

		json_check_keys(j, "name options");
		if (name == NULL ||
		    !check_backend(in, j, before->backends[j.index], name)) {
			return false;
		}
	}
	in->g->backends = before->backends;
	in->g->n_backends = before->n_backends;
	return !in->r.failed;
}

static bool
read_backends(struct reading *in, struct json list)
{
	int n = json_length(list);
	const struct backend **backends = arena_array(&in->m->arena,
						      const struct backend *,
						      n + 1);

	if (in->before != NULL) {
		return check_backends(in, list);
	}
	if (n == 0) {
		return !in->r.failed;
	}
	in->g->backends = backends;
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		const char *name = json_text(json_get(j, "name"), true);

		json_check_keys(j, "name options");
		for (int k = 0; name != NULL && k < in->g->n_backends; k++) {
			if (strcmp(backends[k]->name, name) == 0) {
				return json_error(j,
						  "this name is given twice; "
						  "remove one");
			}
		}
		if (name != NULL) {
			backends[in->g->n_backends] = load_backend(in, j, name);
		}
		if (in->r.failed) {
			return false;
		}
		in->g->n_backends++;
	}
	return true;
}

/* Closes the backends that were loaded for this partition, which has errors;
 * backends that the caller gave stay open. */
void
read_close_backends(const struct reading *in)
{
	const struct partition_facts *f = in->facts;

	for (int i = 0; i < in->g->n_backends && in->before == NULL; i++) {
		bool given = false;

		for (int k = 0; k < f->n_backends; k++) {
			given = given || f->backends[k] == in->g->backends[i];
		}
		if (!given) {
			backend_close(in->g->backends[i]);
		}
	}
}

static const struct backend *
find_backend(struct reading *in, struct json j)
{
	const char *name = json_text(j, true);

	for (int i = 0; name != NULL && i < in->g->n_backends; i++) {
		if (strcmp(in->g->backends[i]->name, name) == 0) {
			return in->g->backends[i];
		}
	}
	if (name != NULL) {
		json_error(j, "'%s' is none of the backends above", name);
	}
	return NULL;
}

/* -- facts -- */

/* Sets *f to a fact of a match: a text, an integer, a float (also as {"float":
 * …}) or a list of integers. False after a diagnostic. */
static bool
read_fact(struct reading *in, struct json j, struct fact *f)
{
	struct arena *a = &in->m->arena;
	struct json real = json_get(j, "float");
	int n = 0;
	int64_t *ints;

	if (cJSON_IsString(j.value)) {
		f->kind = FACT_TEXT;
		f->text = json_text(j, true);
	} else if (cJSON_IsNumber(j.value) &&
		   j.value->valuedouble == floor(j.value->valuedouble)) {
		f->kind = FACT_INT;
		if (!read_int(j, &f->i)) {
			return false;
		}
		f->f = (double)f->i;
	} else if (cJSON_IsNumber(j.value) || real.value != NULL) {
		f->kind = FACT_FLOAT;
		return read_float(real.value != NULL ? real : j, &f->f);
	} else if (cJSON_IsArray(j.value)) {
		n = cJSON_GetArraySize(j.value);
		ints = arena_array(a, int64_t, n + 1);
		for (struct json one = json_first(j); one.value;
		     one = json_next(j, one)) {
			if (!read_int(one, &ints[one.index])) {
				return false;
			}
		}
		f->kind = FACT_INTS;
		f->n = n;
		f->ints = ints;
	} else {
		return json_error(j, "a string, a number or a list of integers "
				     "is expected here");
	}
	return true;
}

static bool
same_fact(const struct fact *a, const struct fact *b)
{
	if (a->kind != b->kind) {
		return (a->kind == FACT_INT || a->kind == FACT_FLOAT) &&
		       (b->kind == FACT_INT || b->kind == FACT_FLOAT) &&
		       a->f == b->f;
	}
	switch (a->kind) {
	case FACT_TEXT:
		return strcmp(a->text, b->text) == 0;
	case FACT_INT:
		return a->i == b->i;
	case FACT_FLOAT:
		return a->f == b->f || (isnan(a->f) && isnan(b->f));
	case FACT_INTS:
		return a->n == b->n &&
		       (a->n == 0 ||
			memcmp(a->ints, b->ints,
			       sizeof *a->ints * (size_t)a->n) == 0);
	}
	return false;
}

static struct fact *
find_fact(struct region_match *m, const struct fact *f)
{
	for (int i = 0; i < m->facts.n; i++) {
		if (m->facts.data[i].step == f->step &&
		    strcmp(m->facts.data[i].name, f->name) == 0) {
			return &m->facts.data[i];
		}
	}
	return NULL;
}

/* The rule for the fact `name` of a node of the pattern; NULL if no node of the
 * pattern has one. */
static const struct fact_rule *
rule_in(const struct pattern_graph *p, const char *name)
{
	for (int i = 0; i < p->n_nodes; i++) {
		for (int k = 0; k < p->nodes[i].n_facts; k++) {
			if (strcmp(p->nodes[i].facts[k].name, name) == 0) {
				return &p->nodes[i].facts[k];
			}
		}
	}
	return NULL;
}

/* Looks for the rules of fact f in the match's pattern, in all its variants; if
 * f is a fact of a step (f->step), in the chains. decision: passes may choose
 * the text of f; choice: the text of f is one of those that passes may choose.
 * False if no rule is found. */
static bool
find_rules(const struct region_match *m, const struct fact *f, bool *decision,
	   bool *choice)
{
	const struct pattern *p = backend_pattern(m->backend, m->pattern);
	VEC(const struct fact_rule *) rules = { 0 };
	struct arena scratch;
	bool found = false;

	arena_init(&scratch);
	for (int i = 0; f->step < 0 && i < p->n_variants; i++) {
		vec_push(&scratch, &rules, rule_in(&p->variants[i], f->name));
	}
	for (int c = 0; f->step >= 0 && c < p->n_chains; c++) {
		for (int i = 0; i < p->chains[c].n_one_of; i++) {
			vec_push(&scratch, &rules,
				 rule_in(&p->chains[c].one_of[i], f->name));
		}
	}
	*decision = *choice = false;
	for (int i = 0; i < rules.n; i++) {
		const struct fact_rule *rule = rules.data[i];

		found |= rule != NULL;
		for (int k = 0; rule != NULL && k < rule->n_choices; k++) {
			*decision = true;
			*choice |= f->kind == FACT_TEXT &&
				   strcmp(rule->choices[k], f->text) == 0;
		}
	}
	arena_release(&scratch);
	return found;
}

/* Reads the facts of a step of the match. Each must be equal to the one that
 * follows from the match's nodes and pattern; a decision may be any of the
 * allowed texts. False after a diagnostic. */
static bool
read_facts(struct reading *in, struct json object, int step,
	   struct region_match *m)
{
	struct arena *a = &in->m->arena;

	if (object.value == NULL) {
		return true;
	}
	if (!json_is_object(object, true)) {
		return false;
	}
	json_check_once(object);
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		struct fact f = { .name = arena_strdup(a, j.value->string),
				  .step = step };
		struct fact *own = find_fact(m, &f);
		bool decision, choice;

		if (!read_fact(in, j, &f)) {
			return false;
		}
		if (!find_rules(m, &f, &decision, &choice) || own == NULL) {
			return json_error(j,
					  "the pattern %s has no fact of this "
					  "name%s; remove it",
					  m->pattern,
					  own == NULL ? " for these nodes"
						      : "");
		}
		if (decision && choice) {
			*own = f;
		} else if (decision) {
			return json_error(j, "the fact is none of the texts "
					     "that the backend lists; choose "
					     "one of them");
		} else if (!same_fact(own, &f)) {
			return json_error(
				j, "the fact contradicts the nodes and their "
				   "pattern; remove it, or change the nodes' "
				   "attributes");
		}
	}
	return true;
}

/* -- matches -- */

struct role {
	struct node *node;
	const char *role;
	int step;
	struct json place;
};

struct roles {
	VEC(struct role) list;
};

static bool
read_roles(struct reading *in, struct json object, int step, struct roles *out)
{
	if (!json_is_object(object, true)) {
		return false;
	}
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		struct tensor *t = read_tensor_name(in, j);
		struct role r = { NULL,
				  arena_strdup(&in->m->arena, j.value->string),
				  step, j };

		if (t == NULL || t->producer == NULL) {
			return t == NULL
				       ? false
				       : json_error(
						 j,
						 "no node computes this tensor");
		}
		r.node = t->producer;
		if (r.node->match != in->open) {
			return json_error(j,
					  "the node is in another match, too; "
					  "leave it in one");
		}
		r.node->match = NULL;
		vec_push(&in->m->arena, &out->list, r);
	}
	return true;
}

static bool
has_role(const struct region_match *m, const struct role *r)
{
	for (int i = 0; i < m->nodes.n; i++) {
		const struct match_node *n = &m->nodes.data[i];

		if (n->node == r->node && n->step == r->step &&
		    strcmp(n->role, r->role) == 0) {
			return true;
		}
	}
	return false;
}

static struct region_match *
find_match(struct reading *in, struct json j, const struct backend *b,
	   const struct pattern *p, const struct roles *roles)
{
	struct region_match *m = NULL;

	for (int i = 0; m == NULL && i < roles->list.n; i++) {
		const struct role *r = &roles->list.data[i];

		if (r->step < 0 && strcmp(r->role, p->anchor) == 0) {
			m = byoc_match(in->g, b, p, r->node);
		}
	}
	for (int i = 0; m != NULL && i < roles->list.n; i++) {
		if (!has_role(m, &roles->list.data[i])) {
			json_error(roles->list.data[i].place,
				   "the pattern '%s' does not match the node "
				   "in this role",
				   p->name);
			return NULL;
		}
	}
	if (m == NULL) {
		json_error(j,
			   "the pattern '%s' of %s does not match these "
			   "nodes; its anchor is '%s', and `tirc partition "
			   "--explain` prints its conditions",
			   p->name, b->name, p->anchor);
	}
	return m;
}

static struct region_match *
read_match(struct reading *in, struct json j, const struct backend *b)
{
	const char *name = json_text(json_get(j, "pattern"), true);
	struct json steps = json_get(j, "steps");
	const struct pattern *p;
	struct region_match *m;
	struct roles roles = { 0 };
	int step = 0;

	json_check_keys(j, "pattern nodes facts steps");
	if (name == NULL) {
		return NULL;
	}
	p = backend_pattern(b, name);
	if (p == NULL) {
		json_error(json_get(j, "pattern"),
			   "%s has no pattern of this name", b->name);
		return NULL;
	}
	if (!read_roles(in, json_get(j, "nodes"), -1, &roles)) {
		return NULL;
	}
	if (json_length(steps) > 0) {
		for (struct json s = json_first(steps); s.value;
		     s = json_next(steps, s)) {
			json_check_keys(s, "name nodes facts");
			if (!read_roles(in, json_get(s, "nodes"), step++,
					&roles)) {
				return NULL;
			}
		}
	}
	m = in->r.failed ? NULL : find_match(in, j, b, p, &roles);
	if (m == NULL || !read_facts(in, json_get(j, "facts"), -1, m)) {
		return NULL;
	}
	for (struct json s = step > 0 ? json_first(steps) : (struct json){ 0 };
	     s.value; s = json_next(steps, s)) {
		if (!read_facts(in, json_get(s, "facts"), s.index, m)) {
			return NULL;
		}
	}
	for (int i = 0; i < m->nodes.n; i++) {
		m->nodes.data[i].node->match = m;
	}
	return m;
}

/* -- regions -- */

static bool
read_region_name(struct reading *in, struct json j, const char **out)
{
	const char *name = json_text(j, true);

	*out = name;
	if (name == NULL) {
		return false;
	}
	if (!text_is_identifier(name, "-")) {
		return json_error(
			j, "a name of letters, digits, _ and - is expected "
			   "here");
	}
	for (int i = 0; i < in->g->regions.n; i++) {
		if (strcmp(in->g->regions.data[i]->name, name) == 0) {
			return json_error(j, "another region has this name");
		}
	}
	return true;
}

static bool
read_attrs(struct reading *in, struct json object, struct graph_region *r)
{
	if (object.value == NULL) {
		return true;
	}
	if (!json_is_object(object, true)) {
		return false;
	}
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		struct fact f = { .name = arena_strdup(&in->m->arena,
						       j.value->string),
				  .step = -1 };

		if (region_attr(r, f.name) != NULL) {
			return json_error(j, "this name is given twice; "
					     "remove one");
		}
		if (!read_fact(in, j, &f)) {
			return false;
		}
		region_set_attr(in->g, r, &f);
	}
	return true;
}

static bool
read_region(struct reading *in, struct json j)
{
	struct json matches = json_get(j, "matches");
	const struct backend *b = find_backend(in, json_get(j, "backend"));
	struct graph_region *r;
	const char *name;

	json_check_keys(j, "name backend attrs matches");
	if (b == NULL || !read_region_name(in, json_get(j, "name"), &name)) {
		return false;
	}
	if (json_length(matches) == 0) {
		return json_error(matches, "a region without matches "
					   "computes nothing; remove it");
	}
	r = graph_region_new(in->g, b, b->name, name);
	for (struct json one = json_first(matches); one.value;
	     one = json_next(matches, one)) {
		struct region_match *m = read_match(in, one, b);

		if (m == NULL) {
			return false;
		}
		graph_region_add(in->g, r, m);
	}
	return read_attrs(in, json_get(j, "attrs"), r);
}

static bool
read_open_matches(struct reading *in, struct json list)
{
	if (json_length(list) == 0) {
		return !in->r.failed;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		const struct backend *b = find_backend(in,
						       json_get(j, "backend"));

		json_check_keys(j, "backend match");
		if (b == NULL ||
		    read_match(in, json_get(j, "match"), b) == NULL) {
			return false;
		}
	}
	return true;
}

static bool
check_regions(struct reading *in, struct json list)
{
	struct graph *g = in->g;
	const struct graph_region *one = NULL;
	int at;

	graph_region_borders(g);
	if (graph_region_sort(g, &one)) {
		graph_region_borders(g);
		return true;
	}
	for (at = 0; at < g->regions.n - 1 && g->regions.data[at] != one;) {
		at++;
	}
	return json_error(
		json_at(list, at),
		"the region needs a value that depends on its own outputs; "
		"split it in two, or remove a node from it");
}

bool
read_regions(struct reading *in, struct json root)
{
	struct json list = json_get(root, "regions");
	struct graph *g = in->g;
	bool ok;

	if (!read_backends(in, json_get(root, "backends"))) {
		return false;
	}
	if (graph_has_control(g) &&
	    (json_length(list) > 0 ||
	     json_length(json_get(root, "matches")) > 0)) {
		return json_error(list, "backends compute nothing where there "
					"are branches or loops; remove matches "
					"and regions");
	}
	in->open = arena_new(&in->m->arena, struct region_match);
	for (int k = 0; k < g->nodes.n; k++) {
		g->nodes.data[k]->match = in->open;
	}
	ok = read_open_matches(in, json_get(root, "matches")) &&
	     json_length(list) >= 0 && !in->r.failed;
	if (ok && cJSON_GetArraySize(list.value) > 0) {
		for (struct json j = json_first(list); j.value;
		     j = json_next(list, j)) {
			ok = ok && read_region(in, j);
		}
	}
	for (int k = 0; k < g->nodes.n; k++) {
		if (g->nodes.data[k]->match == in->open) {
			g->nodes.data[k]->match = NULL;
		}
	}
	return ok && (g->regions.n == 0 || check_regions(in, list));
}
