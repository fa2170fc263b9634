/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the states of a partition: outputs that are inputs of the next run. */
#include <string.h>

#include "reading.h"

static const struct tensor *
state_output(const struct graph *g, int i)
{
	return g->outputs.data[g->states.data[i].output];
}

static const struct tensor *
state_input(const struct graph *g, int i)
{
	return g->inputs.data[g->states.data[i].input];
}

static bool
add_state(struct reading *in, struct json at, const struct tensor *output,
	  const struct tensor *input)
{
	struct graph *g = in->g;
	struct graph_state s;

	if (output == NULL || input == NULL) {
		return json_error(at, "the outputs and inputs that are states "
				      "of the model are expected here");
	}
	s = (struct graph_state){
		.output = tensor_index(output, g->outputs.data, g->outputs.n),
		.input = tensor_index(input, g->inputs.data, g->inputs.n),
	};
	if (s.output < 0 || s.input < 0 || !tensor_same_type(input, output)) {
		return json_error(at, "an output and an input of the graph are "
				      "expected here, of the same type and "
				      "shape");
	}
	for (int i = 0; i < g->states.n; i++) {
		if (g->states.data[i].output == s.output ||
		    g->states.data[i].input == s.input) {
			return json_error(at, "its output or its input belongs "
					      "to another state");
		}
	}
	vec_push(&in->m->arena, &g->states, s);
	return true;
}

static bool
read_state(struct reading *in, struct json j, int i)
{
	const struct graph *before = in->before;
	const struct tensor *output, *input;

	json_check_keys(j, "output input");
	output = read_tensor_name(in, json_get(j, "output"));
	input = read_tensor_name(in, json_get(j, "input"));
	if (in->r.failed) {
		return false;
	}
	if (before != NULL &&
	    (i >= before->states.n ||
	     strcmp(output->name, state_output(before, i)->name) != 0 ||
	     strcmp(input->name, state_input(before, i)->name) != 0)) {
		return json_error(j, "a pass cannot change the states");
	}
	return add_state(in, j, output, input);
}

/* Reads the states. The output of a backend's pass may omit them: then the
 * states of in->before, the graph given to the pass, are kept. False after a
 * diagnostic, also if the output of a pass has other states than in->before. */
bool
read_states(struct reading *in, struct json root)
{
	const struct graph *before = in->before;
	struct json list = json_get(root, "states");
	int n = json_length(list);

	for (struct json j = json_first(list); n > 0 && j.value;
	     j = json_next(list, j)) {
		if (!read_state(in, j, j.index)) {
			return false;
		}
	}
	for (int i = n; before != NULL && i < before->states.n; i++) {
		const char *output = state_output(before, i)->name;
		const char *input = state_input(before, i)->name;

		if (n > 0) {
			return json_error(list, "a pass cannot change the "
						"states");
		}
		if (!add_state(in, json_get(root, "outputs"),
			       graph_find_tensor(in->g, output),
			       graph_find_tensor(in->g, input))) {
			return false;
		}
	}
	return !in->r.failed;
}
