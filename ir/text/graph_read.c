/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text form of graphs, line by line: a line names only tensors of
 * earlier lines. graph_text.h shows the form. */
#include <errno.h>
#include <stdlib.h>

#include "graph_lex.h"

/* -- names of tensors */

static struct tensor *
new_tensor(struct graph_reader *r, size_t from, const char *name)
{
	if (graph_find_tensor(r->graph, name)) {
		graph_fail(r, from,
			   "'%s' is defined already; rename one of the two",
			   name);
		return NULL;
	}
	return graph_tensor(r->graph, name);
}

/* Reads "NAME: TYPE", or only the name if the type may be left out, and returns
 * the tensor. NULL after a diagnostic. */
static struct tensor *
read_typed(struct graph_reader *r, bool type_needed)
{
	const char *name;
	struct tensor *t;
	size_t from;

	graph_line_ends(r);
	from = r->at;
	if (!graph_read_name(r, "a tensor", &name)) {
		return NULL;
	}
	t = new_tensor(r, from, name);
	if (!t) {
		return NULL;
	}
	if (graph_accept(r, ":")) {
		return graph_read_type(r, t) ? t : NULL;
	}
	if (type_needed) {
		graph_expect(r, ":", "the type follows the name");
		return NULL;
	}
	return t;
}

/* Sets *elems to the number of t's elements; false after a diagnostic if that
 * number is not known. */
static bool
is_fixed(struct graph_reader *r, size_t from, const struct tensor *t,
	 int64_t *elems)
{
	return (t->typed && tensor_const_elems(t, elems)) ||
	       graph_fail(r, from,
			  "a constant needs a type and constant sizes");
}

/* -- constants */

/* Reads which output of a recipe a constant is, "[1 of 3]", if that follows.
 * False after a diagnostic. */
static bool
read_output_index(struct graph_reader *r, int64_t *index, int64_t *count)
{
	size_t from = r->at;

	*index = 0;
	*count = 1;
	if (!graph_accept(r, "[")) {
		return true;
	}
	return graph_read_int(r, index) &&
	       graph_expect(r, "of",
			    "write the output's index and their "
			    "number, as in [0 of 2]") &&
	       graph_read_int(r, count) &&
	       graph_expect(r, "]",
			    "write the output's index and their "
			    "number, as in [0 of 2]") &&
	       ((*index >= 0 && *index < *count && *count <= 1 << 20) ||
		graph_fail(r, from,
			   "the index must be from 0 to the number of "
			   "outputs less 1"));
}

/* Reads the recipe of a constant, which may only read constants. False after a
 * diagnostic. */
static bool
read_recipe(struct graph_reader *r, struct tensor *t)
{
	struct graph_call c = { 0 };
	struct tensor **outputs;
	int64_t index, count;
	size_t from;

	graph_line_ends(r);
	from = r->at;
	if (!graph_read_call(r, &c) || !read_output_index(r, &index, &count)) {
		return false;
	}
	for (int i = 0; i < c.inputs.n; i++) {
		if (c.inputs.data[i] && !tensor_is_constant(c.inputs.data[i])) {
			return graph_fail(r, from,
					  "'%s' is not a constant; leave out "
					  "'const' before what nodes compute",
					  c.inputs.data[i]->name);
		}
	}
	outputs = arena_array(&r->module->arena, struct tensor *, count);
	outputs[index] = t;
	graph_make_recipe(r->graph, graph_call_node(r, &c, outputs, (int)count),
			  "", "");
	return true;
}

static bool
read_constant(struct graph_reader *r)
{
	size_t from = r->at;
	struct tensor *t = read_typed(r, true);
	int64_t elems;
	const char *word;

	if (!t || !is_fixed(r, from, t, &elems)) {
		return false;
	}
	if (!graph_accept(r, "=")) {
		return graph_make_value(r, from, t->type, elems, &t->value);
	}
	word = graph_peek(r);
	if (*word == '\0' || strcmp(word, "splat") == 0) {
		return graph_read_value(r, t->type, elems, &t->value);
	}
	return read_recipe(r, t);
}

static bool
read_known(struct graph_reader *r)
{
	struct tensor *t = read_typed(r, true);

	return t &&
	       graph_expect(r, "=", "its known elements follow the type") &&
	       graph_read_elems(r, t);
}

/* -- inputs and outputs */

/* Reads how a quantized input or output is stored: "{scale = 0.5, zero_point =
 * 3, stored_offset = 128}". False after a diagnostic. */
static bool
read_stored(struct graph_reader *r, struct tensor *t)
{
	struct graph_call facts = { 0 };
	struct reals reals = { .scale = 1 };
	size_t from = r->at;

	if (!graph_read_attrs(r, &facts)) {
		return false;
	}
	for (int i = 0; i < facts.attrs.n; i++) {
		const struct attr *a = &facts.attrs.data[i];
		bool is_int = a->kind == ATTR_INT;

		if (strcmp(a->name, "scale") == 0 &&
		    (is_int || a->kind == ATTR_FLOAT)) {
			reals.scale = is_int ? (double)a->i : a->f;
		} else if (strcmp(a->name, "zero_point") == 0 && is_int) {
			reals.zero_point = a->i;
		} else if (strcmp(a->name, "stored_offset") == 0 && is_int) {
			t->stored_offset = a->i == 128    ? 128
					   : a->i == -128 ? -128
							  : 0;
			continue;
		} else {
			return graph_fail(r, from,
					  "expected scale, zero_point or "
					  "stored_offset with a number");
		}
		t->reals = arena_copy(&r->module->arena, &reals, sizeof reals);
	}
	return true;
}

static bool
read_input(struct graph_reader *r)
{
	struct tensor *t = read_typed(r, true);

	if (!t || !read_stored(r, t)) {
		return false;
	}
	t->is_input = true;
	vec_push(&r->module->arena, &r->graph->inputs, t);
	return true;
}

static bool
read_output(struct graph_reader *r)
{
	size_t from = r->at;
	struct tensor *t = graph_read_tensor(r);

	if (!t || !read_stored(r, t)) {
		return false;
	}
	if (t->is_output) {
		return graph_fail(r, from,
				  "'%s' is an output already; remove one of "
				  "the two lines",
				  t->name);
	}
	t->is_output = true;
	vec_push(&r->module->arena, &r->graph->outputs, t);
	return true;
}

/* "state h = past" */
static bool
read_state(struct graph_reader *r)
{
	const struct graph *g = r->graph;
	size_t from = r->at;
	struct tensor *after = graph_read_tensor(r), *before;
	struct graph_state s = { 0 };

	if (!after || !graph_expect(r, "=", "an input follows the output")) {
		return false;
	}
	before = graph_read_tensor(r);
	if (!before) {
		return false;
	}
	s.output = tensor_index(after, g->outputs.data, g->outputs.n);
	s.input = tensor_index(before, g->inputs.data, g->inputs.n);
	if (s.output < 0 || s.input < 0) {
		return graph_fail(r, from,
				  "an output and an input are expected here");
	}
	vec_push(&r->module->arena, &r->graph->states, s);
	return true;
}

/* -- dimensions and settings */

/* "1..4" */
static bool
read_range(struct graph_reader *r, int64_t *min, int64_t *max)
{
	const char *word = graph_peek(r), *dots = strstr(word, "..");
	size_t from = r->at;
	char *end[2] = { NULL, NULL };

	r->at += strlen(word);
	errno = 0;
	if (dots) {
		*min = strtoll(word, &end[0], 10);
		*max = strtoll(dots + 2, &end[1], 10);
	}
	return (dots && end[0] == dots && end[0] != word &&
		end[1] != dots + 2 && *end[1] == '\0' && errno == 0 &&
		*min >= 0 && *max >= *min) ||
	       graph_fail(r, from,
			  "bounds are expected here, as 1..4: from 0 up, the "
			  "second at least the first");
}

static bool
is_size_name(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->dims.n; i++) {
		if (strcmp(g->dims.data[i]->name, name) == 0) {
			return true;
		}
	}
	for (int i = 0; i < g->run_sizes.n; i++) {
		if (strcmp(g->run_sizes.data[i].var->name, name) == 0) {
			return true;
		}
	}
	return false;
}

/* Reads the declaration of a dimension, or of a size that is known only when
 * the model runs: "batch: 1..4". False after a diagnostic. */
static bool
read_bounds(struct graph_reader *r, struct var **out)
{
	const char *name;
	int64_t min = 0, max = 0;
	size_t from = r->at;

	if (r->symbols || r->graph->tensors.n > 0) {
		return graph_fail(r, from,
				  "dimensions must come before all tensors");
	}
	if (!graph_read_name(r, "a dimension", &name) ||
	    !graph_expect(r, ":",
			  "the name is followed by its bounds, as "
			  "1..4")) {
		return false;
	}
	if (is_size_name(r->graph, name)) {
		return graph_fail(r, from,
				  "'%s' is defined already; remove "
				  "one of the two",
				  name);
	}
	if (!read_range(r, &min, &max)) {
		return false;
	}
	*out = var_new_dim(r->module, name, min, max);
	return true;
}

static bool
read_dim(struct graph_reader *r)
{
	struct var *v;

	if (!read_bounds(r, &v)) {
		return false;
	}
	vec_push(&r->module->arena, &r->graph->dims, v);
	return true;
}

static bool
read_size(struct graph_reader *r)
{
	struct run_size size = { 0 };

	if (!read_bounds(r, &size.var)) {
		return false;
	}
	vec_push(&r->module->arena, &r->graph->run_sizes, size);
	return true;
}

/* Sets the setting that the attribute a names to the attribute's value. False
 * if no setting has this name, or if the setting cannot have this value. */
static bool
set_setting(struct settings *s, const struct attr *a)
{
	int n, i = settings_find(a->name);
	const struct setting_row *row = settings_rows(&n) + i;
	int64_t value = -1;

	if (i < 0) {
		return false;
	}
	if (row->word && a->kind == ATTR_STRING) {
		value = setting_value(row, a->s);
	} else if (!row->word && a->kind == ATTR_INT) {
		value = a->i;
	}
	if (value < 0 || value > row->most) {
		return false;
	}
	settings_set(s, i, (int)value);
	return true;
}

static bool
read_head(struct graph_reader *r)
{
	struct settings *settings = arena_new(&r->module->arena,
					      struct settings);
	struct graph_call attrs = { 0 };
	const char *name = "";
	size_t from, length;

	if (!graph_next_line(r) || strcmp(graph_peek(r), "graph") != 0) {
		return graph_fail(r, r->at,
				  "a graph begins with the line "
				  "'graph NAME'");
	}
	r->at += strlen("graph");
	if (!graph_read_string(r, &name, &length)) {
		return false;
	}
	r->graph = graph_new(r->module, name);
	r->graph->file = r->src->name;
	r->graph->settings = settings;
	from = r->at;
	if (!graph_read_attrs(r, &attrs)) {
		return false;
	}
	for (int i = 0; i < attrs.attrs.n; i++) {
		const struct attr *a = &attrs.attrs.data[i];

		if (!set_setting(settings, a)) {
			return graph_fail(r, from,
					  "%s is not a setting, or cannot have "
					  "this value",
					  a->name);
		}
	}
	return true;
}

/* -- nodes and lines */

/* Reads a node, "NAME: TYPE, … = OPERATOR (INPUTS)", with _ for an absent
 * output, and adds it to the graph. False after a diagnostic. */
static bool
read_node(struct graph_reader *r)
{
	VEC(struct tensor *) outputs = { 0 };
	struct graph_call c = { 0 };
	size_t from = r->at;
	bool any = false;

	do {
		struct tensor *t = NULL;

		if (strcmp(graph_peek(r), "_") == 0) {
			r->at++;
		} else {
			t = read_typed(r, false);
		}
		if (r->failed) {
			return false;
		}
		any = any || t;
		vec_push(&r->module->arena, &outputs, t);
	} while (graph_accept(r, ","));
	if (!any) {
		return graph_fail(r, from,
				  "a node without outputs computes nothing; "
				  "remove it");
	}
	if (!graph_expect(r, "=",
			  "a node has the form NAME: TYPE = OPERATOR "
			  "(INPUTS)") ||
	    !graph_read_call(r, &c)) {
		return false;
	}
	graph_call_node(r, &c, outputs.data, outputs.n);
	return true;
}

/* Reads the keyword `word` at the start of a line. False, with nothing read, if
 * the line begins with another word, or if the word is a tensor's name, which
 * ':', ',' or '=' follows. */
static bool
is_line(struct graph_reader *r, const char *word)
{
	const char *rest = r->src->text + r->at;
	size_t left = r->src->length - r->at, n = strlen(word);

	if (strcmp(graph_peek(r), word) != 0) {
		return false;
	}
	while (n < left && (rest[n] == ' ' || rest[n] == '\t')) {
		n++;
	}
	if (n == strlen(word) || n == left || strchr(":,=", rest[n])) {
		return false;
	}
	r->at += n;
	return true;
}

static bool
read_line(struct graph_reader *r)
{
	static const struct {
		const char *word;
		bool (*read)(struct graph_reader *r);
	} lines[] = {
		{ "dim", read_dim },     { "size", read_size },
		{ "input", read_input }, { "const", read_constant },
		{ "known", read_known }, { "output", read_output },
		{ "state", read_state },
	};
	static const char *const made[] = { "region", "group", "view" };
	size_t from;

	graph_line_ends(r);
	from = r->at;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (is_line(r, lines[i].word)) {
			return lines[i].read(r);
		}
	}
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		if (is_line(r, made[i])) {
			return graph_fail(
				r, from,
				"a %s is made by a pass and cannot be read; "
				"remove the line, but keep its nodes",
				made[i]);
		}
	}
	return read_node(r);
}

struct graph *
graph_read(struct module *m, const struct source *src, bool make_values)
{
	struct graph_reader r = {
		.module = m,
		.src = src,
		.line = 1,
		.make_values = make_values,
	};
	bool ok = read_head(&r);

	while (ok) {
		if (!graph_line_ends(&r)) {
			size_t from = r.at++;

			ok = graph_fail(&r, from,
					"the line should end here; begin a "
					"new line for the rest");
		} else if (!graph_next_line(&r)) {
			return r.graph;
		} else {
			ok = read_line(&r);
		}
	}
	return NULL;
}
