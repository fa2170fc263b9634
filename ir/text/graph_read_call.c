/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of operators in the text form of graphs:
 * "Conv name (x, w, _) {group = 1}", for nodes, and for constants that are
 * computed when they are needed. */
#include "graph_lex.h"

struct tensor *
graph_read_tensor(struct graph_reader *r)
{
	const char *name;
	struct tensor *t;
	size_t from;

	graph_line_ends(r);
	from = r->at;
	if (!graph_read_name(r, "a tensor", &name)) {
		return NULL;
	}
	t = graph_find_tensor(r->graph, name);
	if (!t) {
		graph_fail(r, from,
			   "no line above defines '%s'; move its definition "
			   "before this line",
			   name);
	}
	return t;
}

static bool
is_there(struct graph_reader *r, const char *text)
{
	size_t at = r->at;
	bool found = graph_accept(r, text);

	r->at = found ? at : r->at;
	return found;
}

/* Reads the name of an operator, "com.example.Op": the domain is the part
 * before the last point. False after a diagnostic. */
static bool
read_operator(struct graph_reader *r, struct graph_call *c)
{
	struct arena *a = &r->module->arena;
	const char *word, *point;
	size_t from = r->at;

	if (!graph_read_name(r, "an operator", &word)) {
		return false;
	}
	point = strrchr(word, '.');
	c->domain = point ? arena_strndup(a, word, (size_t)(point - word)) : "";
	c->op_type = point ? point + 1 : word;
	if (*c->op_type == '\0') {
		return graph_fail(r, from,
				  "an operator's name stands behind the point "
				  "of its domain");
	}
	c->name = "";
	return is_there(r, "(") || graph_read_name(r, "a node", &c->name);
}

static bool
read_inputs(struct graph_reader *r, struct graph_call *c)
{
	if (!graph_expect(r, "(", "inputs are in parentheses")) {
		return false;
	}
	if (graph_accept(r, ")")) {
		return true;
	}
	do {
		struct tensor *t = NULL;

		if (strcmp(graph_peek(r), "_") == 0) {
			r->at++;
		} else {
			t = graph_read_tensor(r);
		}
		if (r->failed) {
			return false;
		}
		vec_push(&r->module->arena, &c->inputs, t);
	} while (graph_accept(r, ","));
	return graph_expect(r, ")",
			    "inputs are in parentheses, separated by "
			    "commas");
}

bool
graph_read_attrs(struct graph_reader *r, struct graph_call *c)
{
	if (!graph_accept(r, "{")) {
		return true;
	}
	do {
		struct attr a = { 0 };
		size_t from = r->at;

		if (!graph_read_name(r, "an attribute", &a.name) ||
		    !graph_expect(r, "=",
				  "an attribute has the form NAME = "
				  "VALUE")) {
			return false;
		}
		for (int i = 0; i < c->attrs.n; i++) {
			if (strcmp(c->attrs.data[i].name, a.name) == 0) {
				return graph_fail(r, from,
						  "'%s' is given twice; remove "
						  "one",
						  a.name);
			}
		}
		if (!graph_read_attr(r, &a)) {
			return false;
		}
		vec_push(&r->module->arena, &c->attrs, a);
	} while (graph_accept(r, ","));
	return graph_expect(r, "}",
			    "attributes are in braces, separated by "
			    "commas");
}

bool
graph_read_call(struct graph_reader *r, struct graph_call *c)
{
	return read_operator(r, c) && read_inputs(r, c) &&
	       graph_read_attrs(r, c);
}

struct node *
graph_call_node(struct graph_reader *r, const struct graph_call *c,
		struct tensor *const *outputs, int n_outputs)
{
	struct node *n = graph_node(r->graph, c->domain, c->op_type, c->name,
				    c->inputs.data, c->inputs.n, outputs,
				    n_outputs);

	for (int i = 0; i < c->attrs.n; i++) {
		node_set_attr(r->graph, n, &c->attrs.data[i]);
	}
	return n;
}
