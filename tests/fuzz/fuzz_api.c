/* SPDX-License-Identifier: Apache-2.0 */
/* The public C interface with any options for a model: lines "KEY VALUE". What
 * compiles can be asked for everything. Options that name files or programs are
 * the user's own and are left out. */
#define _GNU_SOURCE

#include <string.h>

#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4 };

struct list {
	const char *text[MOST];
	int n;
};

struct given {
	struct tirc_options options;
	struct list input_shapes, dims, bounds, sequences, string_lengths;
	struct list states, disable_passes;
};

static void
add(struct list *l, const char *text)
{
	if (l->n < MOST) {
		l->text[l->n++] = text;
	}
}

/* Does an option have that key? */
static bool
set(struct given *g, const char *key, const char *value)
{
	struct tirc_options *o = &g->options;
	const struct {
		const char *key;
		const char **text; /* or */
		struct list *list;
	} rows[] = {
		{ "target", &o->target, NULL },
		{ "name", &o->name, NULL },
		{ "weights", &o->weights, NULL },
		{ "section", &o->section, NULL },
		{ "form", &o->form, NULL },
		{ "optimize", &o->optimize, NULL },
		{ "conv", &o->conv, NULL },
		{ "requant", &o->requant, NULL },
		{ "precision", &o->precision, NULL },
		{ "fp", &o->fp, NULL },
		{ "seed", &o->seed, NULL },
		{ "in_workspace", &o->in_workspace, NULL },
		{ "regions", &o->regions, NULL },
		{ "package", &o->package, NULL },
		{ "input_shape", NULL, &g->input_shapes },
		{ "dim", NULL, &g->dims },
		{ "bound", NULL, &g->bounds },
		{ "sequence", NULL, &g->sequences },
		{ "string_length", NULL, &g->string_lengths },
		{ "state", NULL, &g->states },
		{ "disable_pass", NULL, &g->disable_passes },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].key, key) != 0) {
			continue;
		}
		if (rows[i].text != NULL) {
			*rows[i].text = value;
		} else {
			add(rows[i].list, value);
		}
		return true;
	}
	return false;
}

/* False: there is no option, and nothing to try. */
static bool
parse(struct given *g, char *text)
{
	struct tirc_options *o = &g->options;
	bool any = false;

	while (*text != '\0') {
		size_t n = strcspn(text, "\n"), key = strcspn(text, " \n");
		char *end = text + n + (text[n] == '\n');

		text[n] = '\0';
		if (key < n) {
			text[key] = '\0';
			any |= set(g, text, text + key + 1);
		}
		text = end;
	}
	o->input_shapes = g->input_shapes.text;
	o->n_input_shapes = g->input_shapes.n;
	o->dims = g->dims.text;
	o->n_dims = g->dims.n;
	o->bounds = g->bounds.text;
	o->n_bounds = g->bounds.n;
	o->sequences = g->sequences.text;
	o->n_sequences = g->sequences.n;
	o->string_lengths = g->string_lengths.text;
	o->n_string_lengths = g->string_lengths.n;
	o->states = g->states.text;
	o->n_states = g->states.n;
	o->disable_passes = g->disable_passes.text;
	o->n_disable_passes = g->disable_passes.n;
	return any;
}

/* Asks for everything. */
static void
ask(struct tirc *t)
{
	size_t sum = 0;

	for (int i = 0; i < tirc_input_count(t); i++) {
		sum += strlen(tirc_input(t, i).name);
	}
	for (int i = 0; i < tirc_output_count(t); i++) {
		sum += strlen(tirc_output(t, i).name);
		tirc_output_kernel(t, i);
	}
	for (int i = 0; i < tirc_state_count(t); i++) {
		sum += strlen(tirc_state(t, i).tensor.name);
	}
	for (int i = 0; i < tirc_dim_count(t); i++) {
		sum += strlen(tirc_dim(t, i).name);
	}
	for (int i = 0; i < tirc_node_count(t); i++) {
		sum += strlen(tirc_node(t, i).fate);
	}
	for (int i = 0; i < tirc_kernel_count(t); i++) {
		const char *name = tirc_kernel(t, i).name;

		if (tirc_kernel_script(t, name, i % 4, i % 2 == 0) == NULL ||
		    tirc_kernel_trace(t, name, i % 2 == 0) == NULL) {
			abort();
		}
	}
	for (int i = 0; i < tirc_file_count(t); i++) {
		sum += strlen(tirc_file(t, i).name);
	}
	for (int i = 0; i < tirc_assumption_count(t); i++) {
		sum += strlen(tirc_assumption(t, i));
	}
	sum += strlen(tirc_summary(t).compile_line);
	if (sum == 0) {
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct given g = { 0 };
	char *text = calloc(1, size + 1);
	struct tirc *t;

	if (text == NULL) {
		abort();
	}
	memcpy(text, data, size);
	if (!parse(&g, text)) {
		free(text);
		return -1;
	}
	/* As the command line, nothing else asks the machine. */
	t = tirc_new(&g.options);
	if (tirc_load(t, FUZZ_MODEL) && tirc_compile(t)) {
		ask(t);
	} else {
		fuzz_said(t);
	}
	tirc_free(t);
	free(text);
	return 0;
}
