/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pass over the graph that made an output wrong, and the node that
 * this pass made wrong. For each question the model's file is read again,
 * some of the passes run over the graph, and the interpreter runs the graph. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bisect_cmd.h"
#include "compare.h"
#include "interpreted.h"
#include "random.h"
#include "slots.h"
#include "text.h"

/* The state of a comparison of the graph with one data set, and the right
 * values for this data set. */
struct graph_bisect {
	struct bisecting *b;
	/* the options of the verb, without those that make it print */
	struct cli cli;
	struct data_set *data;
	/* the reference: the model after the first `base` runs of passes, where
	 * base is 0, or the number of runs that set the rounding; want: the
	 * outputs of this reference */
	struct tirc *model;
	int base;
	struct tirc *all; /* the model after all runs of passes */
	struct array *want;
	struct pair *pairs; /* by output */
	/* do the pairs have the results of perturbed runs? */
	bool observed;
	const char *const *names; /* the names of the passes that ran */
	int n_runs;
};

static void
quiet_options(struct graph_bisect *s)
{
	s->cli = *s->b->cli;
	s->cli.tirc.n_print_after = s->cli.tirc.n_print_phases = 0;
	s->cli.tirc.time_passes = false;
}

/* Loads the model and runs the first `runs` passes. Sets *ran to the number
 * of passes that ran, and *names to their names. NULL after an error message. */
static struct tirc *
model_after(struct graph_bisect *s, int runs, int *ran,
	    const char *const **names)
{
	struct tirc *t = interpreted_sized(&s->b->verify.fresh, &s->cli,
					   s->data->inputs);

	if (t == NULL) {
		return NULL;
	}
	*ran = runs == 0 ? 0 : tirc_graph_passes(t, runs, names);
	if (*ran < 0) {
		cli_messages(t);
		tirc_free(t);
		return NULL;
	}
	return t;
}

/* -- comparing outputs -- */

/* Runs the right model on perturbed inputs, which show what rounding may do to the
 * outputs. */
static void
observe(struct graph_bisect *s)
{
	struct arena *a = s->b->a;
	const struct harness *h = &s->b->verify.fresh;
	int n_in = tirc_input_count(h->t), n = tirc_output_count(s->model);
	struct array *moved = arena_array(a, struct array, n_in + 1), *out;
	struct tolerance *t = arena_array(a, struct tolerance, n + 1);
	uint64_t state = RANDOM_SEED;
	double share;

	s->observed = true;
	for (int i = 0; i < n; i++) {
		struct pair x = s->pairs[i];

		x.got = x.want;
		t[i] = pair_tolerance(&s->cli, &x);
	}
	share = observed_share(&s->cli, s->data->inputs, n_in, t, n);
	if (share == 0 || s->cli.atol >= 0) {
		return;
	}
	for (int i = 0; i < n; i++) {
		s->pairs[i].observed = arena_new(a, struct observed);
		s->pairs[i].observed->share = share;
		s->pairs[i].observed->twin = true;
	}
	for (int run = 0; run < OBSERVED_RUNS; run++) {
		for (int i = 0; i < n_in; i++) {
			moved[i] = observed_moved(a, &s->data->inputs[i], share,
						  &state);
		}
		if (!interpreted_run(a, s->model, moved, NULL, &out)) {
			return;
		}
		for (int i = 0; i < n; i++) {
			struct observed *o = s->pairs[i].observed;

			o->runs[o->n++] = out[i];
		}
	}
}

/* The first output that is wrong, or -1. */
static int
first_wrong(struct graph_bisect *s, const struct array *got)
{
	for (int i = 0; i < tirc_output_count(s->model); i++) {
		s->pairs[i].got = &got[i];
		if (pair_near(&s->cli, &s->pairs[i])) {
			continue;
		}
		if (!s->observed) {
			observe(s);
		}
		if (!pair_near(&s->cli, &s->pairs[i])) {
			return i;
		}
	}
	return -1;
}

/* Are the outputs of the model in t, as it is now, right? Sets *wrong to the
 * index of the first output that is wrong. */
static enum bisect_state
state_of(struct graph_bisect *s, struct tirc *t, int *wrong)
{
	struct array *got;

	if (graph_not_run(tirc_graph(t)) != NULL ||
	    !interpreted_run(s->b->a, t, s->data->inputs, NULL, &got)) {
		return BISECT_UNKNOWN;
	}
	*wrong = first_wrong(s, got);
	return *wrong >= 0 ? BISECT_WRONG : BISECT_RIGHT;
}

static enum bisect_state
ask(void *ctx, int step)
{
	struct graph_bisect *s = ctx;
	const char *const *names;
	enum bisect_state state;
	struct tirc *t;
	int ran, wrong;

	style_progress(NULL, "bisecting passes", step, s->n_runs);
	t = model_after(s, step, &ran, &names);
	state = t != NULL ? state_of(s, t, &wrong) : BISECT_UNKNOWN;
	tirc_free(t);
	return state;
}

/* "y[0][3] is 2, where 3 is right" */
static const char *
element_text(const struct graph_bisect *s, const char *name,
	     const struct pair *x)
{
	struct arena *a = s->b->a;
	struct comparison found;
	const char *at = "";
	int64_t rest;

	pair_compare(&s->cli, x, &found);
	if (!found.same_shape) {
		return arena_printf(a, "%s has another shape or type", name);
	}
	rest = found.worst;
	for (int d = x->got->ndim - 1; d >= 0; d--) {
		at = arena_printf(a, "[%lld]%s",
				  (long long)(rest % x->got->shape[d]), at);
		rest /= x->got->shape[d];
	}
	return arena_printf(a, "%s%s is %.9g, where %.9g is right", name, at,
			    array_double(x->got, found.worst),
			    array_double(x->want, found.worst));
}

/* -- the node -- */

static double
node_error(void *ctx, const struct node_result *r)
{
	struct graph_bisect *s = ctx;
	struct observed o = { .n = r->n_runs };
	struct pair x = { .got = &r->got, .want = &r->want };
	struct comparison found;

	/* A sum half-way between two steps may round to either. */
	if (!dtype_is_float(r->got.type) && dtype_bits(r->got.type) == 8 &&
	    !r->is_constant) {
		x.step = 1;
	}
	if (r->n_runs > 0) {
		o.share =
			compare_tolerance(&s->cli, r->got.type, NULL, 0).inputs;
		memcpy(o.runs, r->runs, sizeof o.runs);
		x.observed = o.share > 0 ? &o : NULL;
	}
	pair_compare(&s->cli, &x, &found);
	return !found.same_shape || (found.bad == 0 && !found.too_many)
		       ? 0
		       : fmax(found.worst_units, 1);
}

static double
node_share(void *ctx, struct dtype t)
{
	struct graph_bisect *s = ctx;
	struct tolerance own = compare_tolerance(&s->cli, t, NULL, 0);

	return fmax(own.inputs, dtype_epsilon(t));
}

/* The elements of the inputs of t's graph. */
static const void **
input_data(struct graph_bisect *s, struct tirc *t)
{
	int n = tirc_input_count(t), next = 0;
	const void **data = arena_array(s->b->a, const void *, n + 1);

	for (int i = 0; i < n; i++) {
		data[i] =
			state_of_input(t, i) < 0
				? s->data->inputs[next++].data
				: harness_zeros(s->b->a, tirc_input(t, i)).data;
	}
	return data;
}

static const char *
result_text(struct graph_bisect *s, const struct graph *g,
	    const struct node_result *r)
{
	struct arena *a = s->b->a;
	const struct pair x = { .got = &r->got, .want = &r->want };
	const char *element = element_text(s, r->tensor->model_name, &x);

	if (!r->is_constant) {
		return arena_printf(a, "%s: %s",
				    bisect_node_text(a, g, r->node), element);
	}
	return arena_printf(a, "the constant that %s: %s",
			    r->node != NULL
				    ? arena_printf(a, "%s reads",
						   bisect_node_text(a, g,
								    r->node))
				    : "is the output",
			    element);
}

/* Notes the part of the model that is wrong: the node that computes *r, from
 * its inputs to the wrong result. */
static void
note_part(struct graph_bisect *s, const struct node_result *r)
{
	struct arena *a = s->b->a;
	const struct node *n = r->node;
	const char *result = r->tensor->model_name, **list;
	struct model_part *part = &s->b->part;

	*part = (struct model_part){ .n_results = 0 };
	if (n != NULL && r->is_constant) {
		result = n->n_outputs > 0 && n->outputs[0] != NULL
				 ? n->outputs[0]->model_name
				 : NULL;
	}
	if (result == NULL) {
		return;
	}
	list = arena_array(a, const char *, 1);
	list[0] = arena_strdup(a, result);
	part->results = list;
	part->n_results = 1;
	list = arena_array(a, const char *, n != NULL ? n->n_inputs + 1 : 1);
	part->given = list;
	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (x != NULL && !tensor_is_constant(x) &&
		    x->model_name != NULL) {
			list[part->n_given++] = arena_strdup(a, x->model_name);
		}
	}
}

/* How results of nodes are compared with the right values. */
static struct node_check
check_against(struct graph_bisect *s, const struct right_values *right)
{
	return (struct node_check){ .right = right,
				    .results = s->cli.results,
				    .error = node_error,
				    .share = node_share,
				    .ctx = s };
}

/* The first node that is wrong after the first `runs` runs of passes, in words;
 * NULL if no node has a wrong result for right inputs. */
static const char *
find_node(struct graph_bisect *s, int runs)
{
	struct right_values right;
	struct node_check check = check_against(s, &right);
	struct node_result found = { .tensor = NULL };
	const char *const *names, *text = NULL;
	int ran;
	struct tirc *t = model_after(s, runs, &ran, &names);

	if (t == NULL) {
		return NULL;
	}
	if (!right_values_find(tirc_graph(s->model), input_data(s, s->model),
			       s->cli.results, s->b->a, &right) ||
	    !bisect_nodes(tirc_graph(t), input_data(s, t), &check, &found)) {
		cli_messages(t);
	} else if (found.tensor != NULL) {
		text = result_text(s, tirc_graph(t), &found);
		note_part(s, &found);
	}
	tirc_free(t);
	return text;
}

/* -- a data set -- */

/* The name of output i of the model. */
static const char *
output_name(const struct graph_bisect *s, int i)
{
	return tirc_output(s->model, i).name;
}

/* The number of runs of passes up to the last pass that sets the rounding. */
static int
runs_to_partition(const struct graph_bisect *s)
{
	int runs = 0;

	for (int i = 0; i < s->n_runs; i++) {
		if (strcmp(s->names[i], "partition") == 0) {
			runs = i + 1;
		}
	}
	return runs;
}

/* Loads the model twice, as it was read (s->model) and after all passes
 * (s->all), sets s->n_runs to the number of runs of passes, and finds the right
 * outputs. False after an error message; s->model is NULL if the interpreter
 * cannot run the model. */
static bool
begin(struct graph_bisect *s)
{
	struct harness *h = &s->b->verify.fresh;
	const char *const *names;
	int ran, n;

	s->all = model_after(s, INT_MAX, &s->n_runs, &names);
	if (s->all == NULL) {
		return false;
	}
	/* the names point into the table of passes, which outlives s->all */
	s->names = arena_copy(s->b->a, names,
			      sizeof *names * (size_t)(s->n_runs + 1));
	s->base = interpreted_rounds(h->t) ? runs_to_partition(s) : 0;
	s->model = model_after(s, s->base, &ran, &names);
	if (s->model == NULL) {
		return false;
	}
	if (graph_not_run(tirc_graph(s->model)) != NULL) {
		tirc_free(s->model);
		s->model = NULL;
		return true;
	}
	n = tirc_output_count(s->model);
	s->pairs = arena_array(s->b->a, struct pair, n + 1);
	if (!interpreted_run(s->b->a, s->model, s->data->inputs, NULL,
			     &s->want)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		int result = interpreted_result(h, i);

		s->pairs[i] = (struct pair){ .want = &s->want[i] };
		if (result < tirc_output_count(h->t)) {
			struct tirc_tensor y = tirc_output(h->t, result);

			s->pairs[i].step = y.step;
			s->pairs[i].arithmetic = y.arithmetic;
		}
	}
	return true;
}

/* Compares the outputs of the model as it was read with the expected outputs of
 * the data set. Sets the verdict if an output is wrong. */
static void
check_read(struct graph_bisect *s)
{
	struct bisecting *b = s->b;
	const struct harness *h = &b->verify.fresh;
	int n = tirc_output_count(s->model), wrong;
	struct array *got = arena_array(b->a, struct array, n + 1);
	struct pair *pairs = s->pairs;

	if (s->data->expected == NULL) {
		return;
	}
	s->pairs = arena_copy(b->a, pairs, sizeof *pairs * (size_t)(n + 1));
	for (int i = 0; i < n; i++) {
		int result = interpreted_result(h, i);

		got[i] = s->want[i];
		if (s->data->expected[result]) {
			s->pairs[i].want = &s->data->want[result];
		}
	}
	wrong = first_wrong(s, got);
	if (wrong >= 0) {
		b->verdict = arena_printf(
			b->a,
			"The import of the model, or the definition of an "
			"operator, made the output %s wrong, before any pass: "
			"in %s, %s.",
			output_name(s, wrong), s->data->where,
			element_text(s, output_name(s, wrong),
				     &s->pairs[wrong]));
		bisect_line(b, "graph", "wrong as it was read");
	}
	s->pairs = pairs;
	s->observed = false;
}

/* -- results of another program -- */

/* Reads the values of the model's tensors from the file of --layers. False after
 * an error message. */
static bool
read_layers(struct graph_bisect *s, struct right_values *out)
{
	struct arena *a = s->b->a;
	struct graph *g = tirc_graph(s->model);
	struct slots slots = slots_of_layers(&s->b->verify.fresh, g->tensors.n);

	slots.n = 0;
	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];
		struct tirc_tensor *x = &slots.tensors[slots.n];
		int64_t *dims = arena_array(a, int64_t, t->ndim + 1);

		if (t->producer == NULL || t->model_name == NULL ||
		    t->is_string || !tensor_const_elems(t, &x->elems)) {
			continue;
		}
		for (int d = 0; d < t->ndim; d++) {
			expr_is_int(t->shape[d], &dims[d]);
		}
		x->name = x->identifier = t->model_name;
		x->dtype = dtype_name(t->type);
		x->ndim = t->ndim;
		x->dims = dims;
		slots.n++;
	}
	if (!test_is_file(s->cli.layers_file) ||
	    !slots_take_archive(&s->b->verify.fresh, &slots, 1, true,
				s->cli.layers_file)) {
		return false;
	}
	*out = (struct right_values){ .values = { 0 } };
	text_map_init(&out->names, a);
	for (int i = 0; i < slots.n; i++) {
		struct array *x = &slots.arrays[i];
		struct value *v;

		if (slots.given[i] &&
		    text_map_add(&out->names, slots.tensors[i].name,
				 out->values.n)) {
			v = arena_new(a, struct value);
			v->type = x->type;
			v->data = x->data;
			v->elems = x->elems;
			v->bytes = (size_t)x->elems *
				   (size_t)dtype_bytes(x->type);
			vec_push(a, &out->values, v);
		}
	}
	return out->values.n > 0 ||
	       cli_error("%s: no array has the name of a node's result",
			 s->cli.layers_file);
}

/* Compares the results of the nodes in the model as it was read with the values
 * in the file of --layers. Sets the verdict if a result is wrong. False after
 * an error message. */
static bool
check_layers(struct graph_bisect *s)
{
	struct bisecting *b = s->b;
	struct right_values right;
	struct node_check check = check_against(s, &right);
	struct node_result found;

	if (!read_layers(s, &right)) {
		return false;
	}
	if (!bisect_nodes(tirc_graph(s->model), input_data(s, s->model), &check,
			  &found)) {
		cli_messages(s->model);
		return false;
	}
	if (found.tensor != NULL) {
		bisect_line(b, "graph", "wrong as it was read, beside %s",
			    s->cli.layers_file);
		b->verdict = arena_printf(
			b->a,
			"The import of the model, or the definition of an "
			"operator, made a node wrong, before any pass: %s.",
			result_text(s, tirc_graph(s->model), &found));
	}
	return true;
}

/* Finds the pass that made output `wrong` wrong. */
static void
find_pass(struct graph_bisect *s, int wrong)
{
	struct bisecting *b = s->b;
	const char *output = output_name(s, wrong), *node, *also = "";
	int before, step;

	step = bisect_search(s->base + 1, s->n_runs, ask, s, &before);
	style_progress_end();
	bisect_line(b, "graph", "wrong after %d of %d runs of passes: %s", step,
		    s->n_runs, s->names[step - 1]);
	for (int i = before + 1; i < step; i++) {
		also = arena_printf(b->a, "%s%s or ", also, s->names[i - 1]);
	}
	node = find_node(s, step);
	if (node == NULL) {
		node = "no node is wrong by itself";
	}
	b->verdict = arena_printf(b->a,
				  "The pass %s%s made the output %s wrong: %s.",
				  also, s->names[step - 1], output, node);
}

/* Compares the graph after all passes with the graph as it was read; begin()
 * has loaded both. False after an error message. */
static bool
compare_graphs(struct graph_bisect *s)
{
	struct bisecting *b = s->b;
	enum bisect_state state;
	int wrong = -1;

	if (s->model == NULL) {
		bisect_line(b, "graph",
			    "not compared: the interpreter runs no branches, "
			    "loops and sizes that depend on values");
		return true;
	}
	b->data = arena_copy(b->a, s->data, sizeof *s->data);
	b->base = s->base;
	if (s->cli.layers_file != NULL && !check_layers(s)) {
		return false;
	}
	if (b->verdict == NULL) {
		check_read(s);
	}
	if (b->verdict != NULL) {
		return true;
	}
	state = state_of(s, s->all, &wrong);
	if (state == BISECT_WRONG) {
		find_pass(s, wrong);
	} else if (state == BISECT_RIGHT) {
		bisect_line(b, "graph", "right after all %d runs of passes, %s",
			    s->n_runs, s->data->where);
	} else {
		bisect_line(b, "graph",
			    "not compared: the passes made loops of it");
	}
	return true;
}

static bool
bisect_data(struct bisecting *b, struct data_set *d)
{
	struct graph_bisect s = { .b = b, .data = d };
	bool ok;

	quiet_options(&s);
	ok = begin(&s) && compare_graphs(&s);
	tirc_free(s.model);
	tirc_free(s.all);
	return ok;
}

struct tirc *
bisect_right(struct bisecting *b, struct right_values *out)
{
	struct data_set d = *b->data;
	struct graph_bisect s = { .b = b, .data = &d };
	const char *const *names;
	struct tirc *t;
	int ran;

	quiet_options(&s);
	t = model_after(&s, b->base, &ran, &names);
	if (t != NULL && !right_values_find(tirc_graph(t), input_data(&s, t),
					    s.cli.results, b->a, out)) {
		cli_messages(t);
		tirc_free(t);
		return NULL;
	}
	return t;
}

/* The data sets on which the graph is compared: all data sets if the model's
 * program was not run; else the first data set for which the program was wrong,
 * or, if it was right for all, the first one. *n: how many. The states at the
 * end of a data set are the states at the start of the next one, so that only
 * the first one is compared for a model with states. */
static const char *const *
paths_to_compare(struct bisecting *b, int *n)
{
	bool first = b->runs.n > 0 || tirc_state_count(b->verify.fresh.t) > 0;

	*n = first && b->n_paths > 0 ? 1 : b->n_paths;
	return b->runs.failed_path != NULL &&
			       tirc_state_count(b->verify.fresh.t) == 0
		       ? &b->runs.failed_path
		       : b->paths;
}

bool
bisect_graph(struct bisecting *b)
{
	struct harness *h = &b->verify.fresh;
	int n;
	const char *const *paths = paths_to_compare(b, &n);
	struct data_set d = { .expected = NULL };

	if (n == 0) {
		return interpreted_inputs(h, b->runs.failed_sizes, &d) &&
		       bisect_data(b, &d);
	}
	for (int i = 0; i < n && b->verdict == NULL; i++) {
		d = (struct data_set){ .expected = NULL };
		if (!data_set_read(h, paths[i], false, &d)) {
			harness_messages(h);
			return false;
		}
		if (!bisect_data(b, &d)) {
			return false;
		}
	}
	return true;
}
