/* SPDX-License-Identifier: Apache-2.0 */
/* --state OUTPUT=INPUT: an output that is the input of the next run. */

#include "tirc_context.h"

/* The index in `list` of the tensor whose name in the model is `name`; -1 if no
 * tensor has this name. */
static int
find_name(struct tensor *const *list, int n, const char *name, size_t length)
{
	for (int i = 0; i < n; i++) {
		const char *label = tensor_label(list[i]);

		if (strlen(label) == length &&
		    memcmp(label, name, length) == 0) {
			return i;
		}
	}
	return -1;
}

/* "'a', 'b'" */
static const char *
list_of(struct tirc *t, struct tensor *const *list, int n)
{
	struct arena *a = &t->m->arena;
	const char *text = n > 0 ? "" : "none";

	for (int i = 0; i < n; i++) {
		text = arena_printf(a, "%s%s'%s'", text, i > 0 ? ", " : "",
				    tensor_label(list[i]));
	}
	return text;
}

static const char *
type_text(struct tirc *t, const struct tensor *x)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	tensor_print_type(x, &s);
	text = arena_strdup(&t->m->arena, s.data);
	strbuf_release(&s);
	return text;
}

/* Does another --state have the same input or the same output as s? */
static bool
is_taken(const struct graph *g, const struct graph_state *s)
{
	for (int i = 0; i < g->states.n; i++) {
		if (g->states.data[i].input == s->input ||
		    g->states.data[i].output == s->output) {
			return true;
		}
	}
	return false;
}

static bool
add_state(struct tirc *t, const char *text)
{
	struct graph *g = t->graph;
	struct diag_place place = { .file = g->file };
	const char *equals = strchr(text, '=');
	const struct tensor *before, *after;
	struct graph_state s = { 0 };

	if (equals == NULL || equals == text || equals[1] == '\0') {
		return context_bad_option(t, "--state", text, "OUTPUT=INPUT");
	}
	s.output = find_name(g->outputs.data, g->outputs.n, text,
			     (size_t)(equals - text));
	s.input = find_name(g->inputs.data, g->inputs.n, equals + 1,
			    strlen(equals + 1));
	if (s.output < 0 || s.input < 0) {
		return diag_error(
			&t->m->diags, DIAG_BAD_OPTION, place,
			"--state %s: the model has no %s of this name; its "
			"outputs are %s, its inputs %s",
			text, s.output < 0 ? "output" : "input",
			list_of(t, g->outputs.data, g->outputs.n),
			list_of(t, g->inputs.data, g->inputs.n));
	}
	if (is_taken(g, &s)) {
		return diag_error(&t->m->diags, DIAG_BAD_OPTION, place,
				  "--state %s: its input or its output belongs "
				  "to another state; give each once",
				  text);
	}
	before = g->inputs.data[s.input];
	after = g->outputs.data[s.output];
	if (!tensor_same_type(before, after)) {
		return diag_error(
			&t->m->diags, DIAG_BAD_OPTION, place,
			"--state %s: the output is %s, but the input is %s; a "
			"state keeps its type and shape: give both the same "
			"sizes with --input-shape or --dim, or correct the "
			"model",
			text, type_text(t, after), type_text(t, before));
	}
	vec_push(&t->m->arena, &g->states, s);
	return true;
}

bool
context_states(struct tirc *t)
{
	const struct tirc_options *o = &t->options;

	/* states of the options replace those of a partition */
	if (o->n_states > 0) {
		t->graph->states.n = 0;
	}
	if (o->n_states + t->graph->states.n > 0 && o->form != NULL &&
	    strcmp(o->form, "graph") == 0) {
		return context_bad_option(t, "--state with --form", o->form,
					  "aot: a graph's caller keeps the "
					  "states");
	}
	for (int i = 0; i < o->n_states; i++) {
		if (!add_state(t, o->states[i])) {
			return false;
		}
	}
	return true;
}

int
tirc_state_count(const struct tirc *t)
{
	return t->graph != NULL ? t->graph->states.n : 0;
}

struct tirc_state
tirc_state(struct tirc *t, int i)
{
	const struct graph_state *s = &t->graph->states.data[i];

	return (struct tirc_state){
		.input = s->input,
		.output = s->output,
		.tensor = context_tensor(t, context_state_tensor(t, i)),
	};
}
