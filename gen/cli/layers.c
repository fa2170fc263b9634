/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test --layers: finds the first node of the model whose result is wrong.
 * Builds two programs: one has a kernel for each node and outputs the results
 * of all nodes; the other is the model with its fused kernels and also outputs
 * the tensors between them. Their results are compared with the interpreter's
 * results for the model as it was read, or with arrays of a file. If --requant
 * tflite changes the rounding of a program, the interpreter runs the graph of
 * that program after the passes that choose how results are rounded. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "data_set.h"
#include "interpreted.h"
#include "slots.h"

/* A model that also outputs the results of its nodes, with the expected value
 * of each output. Each list has an element for each output. */
struct reference {
	struct cli cli;
	struct tirc *model;
	bool rounded;       /* the passes that set the rounding have run */
	const char **names; /* names of the outputs */
	/* the indices of the outputs, in the order of the nodes that compute
	 * them */
	int *order;
	/* the expected value of each output for the current data set; NULL
	 * before the first data set */
	struct array *want;
	bool *given; /* for each output: does `want` have its value? */
};

/* A program that also outputs inner tensors of the model. */
struct probe {
	struct cli cli;
	struct harness h;
	/* the folder in --keep in which the program is built, or NULL */
	char *kept;
	bool open;
	/* the model with the program's rounding, see choose_reference() */
	struct reference rounded;
	/* the model with whose values this program's results are compared */
	struct reference *reference;
};

struct layers {
	struct cli *cli;
	struct probe each, fused;
	struct reference read; /* the model as it was read, without any pass */
};

static bool
open_probe(struct probe *p, const struct cli *c, const char *results)
{
	p->cli = *c;
	p->cli.tirc.results = results;
	p->cli.repeat = 1;
	if (strcmp(results, "each") == 0) {
		/* The kernels of this program are single nodes, not the model's
		 * fused kernels: the user's schedules for the model's kernels
		 * do not fit them. */
		p->cli.tirc.n_schedule_for = 0;
	}
	if (c->keep != NULL) {
		size_t size = strlen(c->keep) + strlen(results) + 2;

		p->kept = malloc(size);
		if (p->kept == NULL) {
			memory_exhausted();
		}
		snprintf(p->kept, size, "%s/%s", c->keep, results);
		p->cli.keep = p->kept;
	}
	p->open = true;
	return harness_open(&p->h, &p->cli) && harness_set_states(&p->h, NULL);
}

static void
close_probe(struct probe *p)
{
	if (p->open) {
		harness_close(&p->h);
	}
	free(p->kept);
}

static struct arena *
arena_of(struct layers *w)
{
	return &w->each.h.m->arena;
}

/* -- the model -- */

/* Sets r->names and r->order: the names of the outputs of the reference's
 * model, and the order in which the program has these outputs. */
static void
list_results(struct layers *w, struct reference *r)
{
	int n = tirc_output_count(r->model);

	r->order = arena_array(arena_of(w), int, n + 1);
	r->names = arena_array(arena_of(w), const char *, n + 1);
	for (int i = 0; i < n; i++) {
		int node = tirc_output_node(r->model, i), at = i;

		while (at > 0 &&
		       tirc_output_node(r->model, r->order[at - 1]) > node) {
			r->order[at] = r->order[at - 1];
			at--;
		}
		r->order[at] = i;
		r->names[i] = tirc_output_model_name(r->model, i);
		if (r->names[i] == NULL) {
			r->names[i] = tirc_output(r->model, i).name;
		}
		r->names[i] = arena_strdup(arena_of(w), r->names[i]);
	}
}

/* Loads the reference's model. With inputs, its symbolic sizes become the
 * numbers that follow from the shapes of the inputs. Returns false after an
 * error message. */
static bool
load_reference(struct layers *w, struct reference *r,
	       const struct array *inputs)
{
	tirc_free(r->model);
	r->model = inputs != NULL
			   ? interpreted_sized(&w->each.h, &r->cli, inputs)
			   : cli_open(&r->cli);
	if (r->model == NULL) {
		return false;
	}
	if (r->rounded && !tirc_partition(r->model)) {
		cli_messages(r->model);
		return false;
	}
	list_results(w, r);
	return true;
}

/* Loads the model with the outputs that `results` chooses (struct
 * tirc_options). */
static bool
open_reference(struct layers *w, struct reference *r, const char *results,
	       bool rounded)
{
	r->cli = *w->cli;
	r->cli.tirc.results = results;
	r->cli.tirc.n_print_after = 0;
	r->cli.tirc.n_print_phases = 0;
	r->cli.tirc.time_passes = false;
	r->rounded = rounded;
	return load_reference(w, r, NULL);
}

static void
close_reference(struct reference *r)
{
	tirc_free(r->model);
}

/* Sets p->reference. A program whose rounding graph passes changed is compared
 * with its own graph, any other program with the model as it was read. */
static bool
choose_reference(struct layers *w, struct probe *p)
{
	p->reference = &w->read;
	if (w->cli->layers_file != NULL && p == &w->each &&
	    interpreted_rounds(p->h.t)) {
		cli_note("a single node rounds as ONNX defines, because "
			 "--requant tflite changes the rounding only where "
			 "several nodes become one; so a difference of one "
			 "step from %s may not be an error",
			 w->cli->layers_file);
	}
	if (w->cli->layers_file != NULL || !interpreted_rounds(p->h.t)) {
		return true;
	}
	p->reference = &p->rounded;
	return open_reference(w, &p->rounded, p == &w->each ? "each" : "left",
			      true);
}

/* The index of the reference's output with this name, or -1. */
static int
find_result(const struct reference *r, const char *name)
{
	for (int i = 0; name != NULL && i < tirc_output_count(r->model); i++) {
		if (strcmp(r->names[i], name) == 0) {
			return i;
		}
	}
	return -1;
}

/* -- the right values -- */

/* Computes the expected value of each output with the interpreter. inputs: an
 * array for each input that is not a state. The states are those at the end of
 * the previous data set. Returns false after an error message. */
static bool
interpret(struct layers *w, struct reference *r, const struct array *inputs)
{
	struct arena *a = arena_of(w);

	if (tirc_dim_count(w->each.h.t) > 0 && !load_reference(w, r, inputs)) {
		return false;
	}
	if (!interpreted_run(a, r->model, inputs, r->want, &r->want)) {
		return false;
	}
	r->given = arena_array(a, bool, tirc_output_count(r->model) + 1);
	for (int i = 0; i < tirc_output_count(r->model); i++) {
		r->given[i] = true;
	}
	return true;
}

/* Reads the expected values from the file of --layers=FILE.npz, whose arrays
 * have the names of the outputs. Returns false after an error message. */
static bool
read_values(struct layers *w, struct reference *r)
{
	struct harness *h = &w->each.h;
	struct slots results = slots_of_results(h);
	int n = 0;

	if (!test_is_file(w->cli->layers_file) ||
	    !slots_take_archive(h, &results, 1, true, w->cli->layers_file)) {
		return false;
	}
	r->want = arena_array(arena_of(w), struct array,
			      tirc_output_count(r->model) + 1);
	r->given = arena_array(arena_of(w), bool,
			       tirc_output_count(r->model) + 1);
	for (int i = 0; i < results.n; i++) {
		int at = find_result(r, results.tensors[i].name);

		if (results.given[i] && at >= 0) {
			r->want[at] = results.arrays[i];
			r->given[at] = true;
			n++;
		}
	}
	return n > 0 ||
	       cli_error("%s: no array has the name of a node's result; the "
			 "first one of the model is '%s'",
			 w->cli->layers_file, r->names[r->order[0]]);
}

/* Sets the expected values for both programs. */
static bool
find_values(struct layers *w, const struct array *inputs)
{
	if (w->cli->layers_file != NULL) {
		return read_values(w, &w->read);
	}
	return interpret(w, w->each.reference, inputs) &&
	       (w->fused.reference == w->each.reference ||
		interpret(w, w->fused.reference, inputs));
}

/* -- comparing -- */

/* The text "node 3 of 12, Conv 'features.0'" for messages. */
static const char *
node_text(struct layers *w, int node)
{
	struct tirc_node n = tirc_node(w->read.model, node);
	const char *text = arena_printf(arena_of(w), "node %d of %d, %s",
					node + 1,
					tirc_node_count(w->read.model),
					n.op_type);

	return n.name[0] != '\0'
		       ? arena_printf(arena_of(w), "%s '%s'", text, n.name)
		       : text;
}

/* Makes a pair of each output of the program and its expected value, in the
 * order of the model's nodes. Returns the number of pairs. results[k]: the
 * index of pair k among the outputs of the reference. */
static int
make_pairs(struct layers *w, const struct probe *p, const struct array *got,
	   struct pair *pairs, int *results)
{
	struct tirc *t = p->h.t;
	const struct reference *r = p->reference;
	int n_results = tirc_output_count(r->model), n = 0;
	int *made = arena_array(arena_of(w), int, n_results + 1);

	for (int i = 0; i < tirc_output_count(t); i++) {
		const char *name = p == &w->fused ? tirc_output_model_name(t, i)
						  : tirc_output(t, i).name;
		int at = find_result(r, name);

		if (at >= 0) {
			made[at] = i + 1;
		}
	}
	for (int i = 0; i < n_results; i++) {
		int at = r->order[i], out = made[at] - 1;

		/* A pass may change the type of a tensor between kernels; such
		 * a tensor cannot be compared. */
		if (out < 0 || !r->given[at] ||
		    (p == &w->fused &&
		     !dtype_equal(got[out].type, r->want[at].type))) {
			continue;
		}
		pairs[n] = (struct pair){
			.result = out,
			.got = &got[out],
			.want = &r->want[at],
			.step = tirc_output(t, out).step,
			.arithmetic = tirc_output(t, out).arithmetic
		};
		results[n++] = at;
	}
	return n;
}

/* Prints the first wrong result `bad`, of n_bad wrong ones among n. result: its
 * index among the outputs of the reference. */
static void
report(struct layers *w, struct probe *p, const char *where, struct pair *bad,
       int result, int n_bad, int n)
{
	struct arena *a = arena_of(w);
	int node = tirc_output_node(p->reference->model, result);
	int kernel = p == &w->fused ? tirc_output_kernel(p->h.t, bad->result)
				    : -1;
	const char *text = node >= 0 ? node_text(w, node) : "no node";

	if (kernel >= 0) {
		struct tirc_kernel k = tirc_kernel(p->h.t, kernel);

		text = arena_printf(a, "%s, in kernel %s (%s)", text, k.name,
				    k.title);
	}
	bad->where = arena_printf(a, "%s  %s", where, text);
	pair_report(w->cli, bad);
	if (p == &w->fused) {
		say(stdout,
		    "      each node by itself is right: passes that rewrite "
		    "the graph%s, or the fused kernel, make the difference\n",
		    p->reference->rounded ? " after those that set the rounding"
					  : "");
	}
	if (w->cli->layers_file != NULL && n_bad > 1 && n_bad == n) {
		say(stdout,
		    "      so do all other results: has %s the results for "
		    "these inputs?\n",
		    w->cli->layers_file);
	} else if (n_bad > 1) {
		say(stdout,
		    "      so do the results of %d later node%s: see this one "
		    "first\n",
		    n_bad - 1, n_bad == 2 ? "" : "s");
	}
}

/* Runs the program p on the data set and compares the program's results with
 * the expected values. *n: the number of compared results; *wrong is set to
 * true if a result is wrong. Returns false after an error. */
static bool
run_probe(struct layers *w, struct probe *p, const struct data_set *d, int *n,
	  bool *wrong)
{
	struct arena *a = arena_of(w);
	struct harness *h = &p->h;
	int n_results = tirc_output_count(p->reference->model);
	int n_bad = 0, first = 0;
	struct array *got = arena_array(a, struct array,
					harness_results(h) + 1);
	struct pair *pairs = arena_array(a, struct pair, n_results + 1);
	int *results = arena_array(a, int, n_results + 1);

	if (!harness_run(h, d->inputs, got)) {
		return false;
	}
	*n = make_pairs(w, p, got, pairs, results);
	harness_observe(h, d->inputs, pairs, *n);
	for (int i = 0; i < *n; i++) {
		if (!pair_near(w->cli, &pairs[i])) {
			first = n_bad == 0 ? i : first;
			n_bad++;
		}
	}
	if (n_bad > 0 && !*wrong) {
		report(w, p, d->where, &pairs[first], results[first], n_bad,
		       *n);
	}
	*wrong |= n_bad > 0;
	return harness_set_states(h, got + tirc_output_count(h->t));
}

/* Runs the program on random inputs if `made`; otherwise on the data set at the
 * path, or, if the path is NULL, on the arrays of --input. Sets *wrong to
 * whether a result is wrong. */
static bool
run_data_set(struct layers *w, bool made, const char *path, bool *wrong)
{
	struct harness *h = &w->each.h;
	struct data_set d;
	int n_each, n_fused;

	if (made ? !interpreted_inputs(h, NULL, &d)
		 : !data_set_read(h, path, true, &d)) {
		return false;
	}
	if (!find_values(w, d.inputs)) {
		return false;
	}
	*wrong = false;
	if (!run_probe(w, &w->each, &d, &n_each, wrong) ||
	    !run_probe(w, &w->fused, &d, &n_fused, wrong)) {
		return false;
	}
	if (!*wrong && !w->cli->quiet) {
		style_word(stdout, STYLE_GREEN, "ok  ");
		say(stdout,
		    "  %s  no result of the %d nodes deviates from %s%s; "
		    "compared: %d, and %d that kernels store\n",
		    d.where, tirc_node_count(w->read.model),
		    w->cli->layers_file != NULL ? w->cli->layers_file
						: "the interpreter",
		    w->fused.reference->rounded
			    ? " with the rounding of --requant tflite"
			    : "",
		    n_each, n_fused);
	}
	return true;
}

static bool
run_all(struct layers *w, bool *wrong)
{
	const char **paths;
	int n = data_set_list(&w->each.h, &paths);
	bool ok = n <= 1 || w->cli->layers_file == NULL ||
		  cli_error("--layers=%s has the results of one data set, and "
			    "there are %d; name that one",
			    w->cli->layers_file, n);

	for (int i = 0; ok && i < (n > 0 ? n : 1); i++) {
		bool one = false;

		ok = run_data_set(w, n == 0, n > 0 ? paths[i] : NULL, &one);
		*wrong |= one;
	}
	return ok;
}

int
test_layers(struct cli *c)
{
	struct layers w = { .cli = c };
	bool ok, wrong = false;

	if (c->keep != NULL && !harness_may_keep(c->keep)) {
		return CLI_INPUT;
	}
	if (tirc_is_partition(c->model)) {
		cli_error("%s is a partition, whose nodes are not those of a "
			  "model; give --layers the ONNX model",
			  c->model);
		return CLI_INPUT;
	}
	ok = cli_find_target(c) && open_probe(&w.each, c, "each") &&
	     open_reference(&w, &w.read, "each", false);
	if (ok && tirc_output_count(w.read.model) == 0) {
		ok = cli_error("%s has no outputs", c->model);
	}
	ok = ok && open_probe(&w.fused, c, "stored") &&
	     choose_reference(&w, &w.each) && choose_reference(&w, &w.fused) &&
	     run_all(&w, &wrong);
	close_reference(&w.each.rounded);
	close_reference(&w.fused.rounded);
	close_reference(&w.read);
	close_probe(&w.fused);
	close_probe(&w.each);
	return ok && !wrong ? CLI_DONE : CLI_INPUT;
}
