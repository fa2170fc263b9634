/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the values of the self-test of a firmware package. The inputs are
 * those of the model's first test data set, or random numbers with a fixed
 * seed. From these inputs the interpreter computes the outputs and the inner
 * tensors, by the nodes of the compiled model. The outputs are also compared
 * with those of the model as it was read, which a second context holds with the
 * rounding of --requant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "data_set.h"
#include "interpreted.h"
#include "random.h"
#include "text.h"

struct values {
	struct cli *cli;
	struct tirc *compiled, *model;
	struct module *m;
	/* for each input of `model`, states included: its array */
	struct array *inputs;
	/* the lengths of `given` and of `results` */
	int n_given, n_results;
	const struct array **given; /* the inputs that are not states */
	/* The outputs, and then the inner tensors that are still in the
	 * workspace after a run (tirc_left). */
	struct array *results;
	struct observed *observed; /* for each result */
	double **allowed;
};

/* -- inputs -- */

static bool
is_constant(const struct values *v, int position)
{
	for (int i = 0; i < tirc_const_input_count(v->model); i++) {
		if (tirc_const_input(v->model, i).position == position) {
			return true;
		}
	}
	return false;
}

/* Copies the elements of an array of a data set to an input. Returns false
 * after an error message if the types or the sizes differ. */
static bool
take(struct array *to, const struct array *from, const char *path)
{
	if (!dtype_equal(from->type, to->type) || from->elems != to->elems) {
		return cli_error("%s does not have the type and the size of "
				 "input '%s'; the self-test of a package needs "
				 "an input of the sizes that are given",
				 path, to->name);
	}
	memcpy(to->data, from->data,
	       (size_t)to->elems * (size_t)dtype_bytes(to->type));
	return true;
}

static bool
read_inputs(struct values *v, const char *folder)
{
	int n = tirc_input_count(v->model), next = 0;

	for (int i = 0; next < n; i++) {
		const char *file = arena_printf(&v->m->arena, "input_%d.pb", i);
		struct array x = { 0 };

		if (is_constant(v, i)) {
			continue;
		}
		if (state_of_input(v->model, next) < 0 &&
		    (!arrays_read_set(v->m, folder, file, &x) ||
		     !take(&v->inputs[next], &x,
			   arena_printf(&v->m->arena, "%s/%s", folder,
					file)))) {
			return false;
		}
		next++;
	}
	return true;
}

static bool
find_inputs(struct values *v)
{
	struct arena *a = &v->m->arena;
	int n = tirc_input_count(v->model), count, at = 0;
	uint64_t state = RANDOM_SEED;
	const char **folders;

	v->inputs = arena_array(a, struct array, n + 1);
	for (int i = 0; i < n; i++) {
		v->inputs[i] = harness_zeros(a, tirc_input(v->model, i));
		if (state_of_input(v->model, i) < 0) {
			interpreted_fill(&v->inputs[i], &state);
		}
	}
	count = test_folders(a, v->cli->model, &folders);
	while (at < count && text_ends_in(folders[at], ".npz")) {
		/* An archive is skipped, since only a folder has the data in
		 * the form that is read here. */
		at++;
	}
	return at == count || read_inputs(v, folders[at]);
}

/* -- results -- */

static struct tirc_tensor
result(const struct values *v, int i)
{
	int n = tirc_output_count(v->compiled);

	return i < n ? tirc_output(v->compiled, i)
		     : tirc_left(v->compiled, i - n);
}

static struct tolerance
tolerance_of(const struct values *v, int i)
{
	struct tirc_tensor y = result(v, i);

	return compare_tolerance(v->cli, v->results[i].type, y.arithmetic,
				 y.step);
}

/* Interprets a model on `inputs` and allocates `results`. t: the model as it
 * was read, or the compiled one. */
static bool
interpret(struct values *v, struct tirc *t, const struct array *const *inputs,
	  int n_in, struct array *results, int n_out)
{
	struct arena *a = &v->m->arena;
	const void **in = arena_array(a, const void *, n_in + 1);
	void **out = arena_array(a, void *, n_out + 1);
	bool ok;

	for (int i = 0; i < n_in; i++) {
		in[i] = inputs[i]->data;
	}
	for (int i = 0; i < n_out; i++) {
		results[i] = harness_zeros(a, t == v->model ? tirc_output(t, i)
							    : result(v, i));
		out[i] = results[i].data;
	}
	ok = tirc_interpret(t, in, out);
	style_progress_end();
	return ok;
}

/* Interprets the compiled model on perturbed inputs, to see the effect of
 * rounding errors (observed.c). Returns false after an error. */
static bool
observe(struct values *v)
{
	struct arena *a = &v->m->arena;
	struct array *moved = arena_array(a, struct array, v->n_given + 1);
	const struct array **given = arena_array(a, const struct array *,
						 v->n_given + 1);
	struct array *now = arena_array(a, struct array, v->n_results + 1);
	struct tolerance *t = arena_array(a, struct tolerance,
					  v->n_results + 1);
	uint64_t state = RANDOM_SEED;
	double share;

	for (int i = 0; i < v->n_results; i++) {
		t[i] = tolerance_of(v, i);
	}
	share = observed_share(v->cli, v->inputs, tirc_input_count(v->model), t,
			       v->n_results);
	for (int run = 0; share > 0 && run < OBSERVED_RUNS; run++) {
		for (int i = 0; i < v->n_given; i++) {
			moved[i] = observed_moved(a, v->given[i], share,
						  &state);
			given[i] = &moved[i];
		}
		if (!interpret(v, v->compiled, given, v->n_given, now,
			       v->n_results)) {
			return false;
		}
		for (int i = 0; i < v->n_results; i++) {
			struct observed *o = &v->observed[i];

			o->share = share;
			o->runs[o->n++] = now[i];
		}
	}
	return true;
}

/* The largest difference from y that element i of a result may have: its
 * tolerance, plus the height of a step if the element was on the other side of
 * a step in a perturbed run. */
static double
element_allowed(const struct observed *o, const struct tolerance *t,
		const struct array *y, int64_t i)
{
	double was = array_double(y, i), most = 0, size = fabs(was);
	struct element e;

	size = isfinite(size) ? size : 0;
	if (o->n == 0 || !dtype_is_float(y->type)) {
		return t->atol + t->rtol * size;
	}
	observed_element(o, y, i, &e);
	for (int run = 0; run < o->n; run++) {
		double now = array_double(&o->runs[run], i);

		if (element_steps(&e, was, now)) {
			most = fmax(most, fabs(now - was));
		}
	}
	return t->atol + t->rtol * size + element_width(&e, o, t) + most;
}

static double *
allowed_of(struct values *v, int result_at)
{
	const struct array *y = &v->results[result_at];
	struct tolerance t = tolerance_of(v, result_at);
	double *list = arena_array(&v->m->arena, double, y->elems + 1);

	for (int64_t i = 0; i < y->elems; i++) {
		list[i] = t.step +
			  element_allowed(&v->observed[result_at], &t, y, i);
	}
	return list;
}

/* Computes the results of the compiled model and the tolerance of each element.
 * Returns false after an error message. */
static bool
compute(struct values *v)
{
	struct arena *a = &v->m->arena;
	int n = v->n_results;

	v->observed = arena_array(a, struct observed, n + 1);
	v->results = arena_array(a, struct array, n + 1);
	if (!interpret(v, v->compiled, v->given, v->n_given, v->results, n)) {
		return false;
	}
	if (!observe(v)) {
		return false;
	}
	v->allowed = arena_array(a, double *, n + 1);
	for (int i = 0; i < n; i++) {
		v->allowed[i] = allowed_of(v, i);
	}
	return true;
}

/* Do the outputs of the model as it was read equal the compiled model's outputs
 * within the tolerances? If not, prints an error message and returns false. */
static bool
check(struct values *v)
{
	struct arena *a = &v->m->arena;
	int n_in = tirc_input_count(v->model);
	int n_out = tirc_output_count(v->model);
	const struct array **in = arena_array(a, const struct array *,
					      n_in + 1);
	struct array *want = arena_array(a, struct array, n_out + 1);
	int next = 0;

	for (int i = 0; i < n_in; i++) {
		in[i] = &v->inputs[i];
	}
	if (!interpret(v, v->model, in, n_in, want, n_out)) {
		return false;
	}
	for (int i = 0; i < n_out; i++) {
		struct tirc_tensor y = tirc_output(v->model, i);
		struct pair p;

		if (state_of_output(v->model, i) >= 0) {
			continue;
		}
		p = (struct pair){ .where = "--package",
				   .got = &v->results[next],
				   .want = &want[i],
				   .step = y.step,
				   .observed = &v->observed[next] };
		next++;
		if (!pair_near(v->cli, &p)) {
			return cli_error("output '%s' of the compiled model "
					 "is not near that of the model in the "
					 "interpreter; please report this with "
					 "the model",
					 y.name);
		}
	}
	return true;
}

/* Reads or makes the inputs, and lists in v->given those that are not states.
 * Returns false after an error message. */
static bool
begin(struct values *v)
{
	int n = tirc_input_count(v->model);

	if (!find_inputs(v)) {
		return false;
	}
	v->given = arena_array(&v->m->arena, const struct array *, n + 1);
	for (int i = 0; i < n; i++) {
		if (state_of_input(v->model, i) < 0) {
			v->given[v->n_given++] = &v->inputs[i];
		}
	}
	v->n_results = tirc_output_count(v->compiled) +
		       tirc_left_count(v->compiled);
	return true;
}

static bool
arrange(struct values *v)
{
	struct arena *a = &v->m->arena;
	const void **in = arena_array(a, const void *, v->n_given + 1);
	const void **out = arena_array(a, const void *, v->n_results + 1);

	for (int i = 0; i < v->n_given; i++) {
		in[i] = v->given[i]->data;
	}
	for (int i = 0; i < v->n_results; i++) {
		out[i] = v->results[i].data;
	}
	return tirc_arrange(v->compiled, in, out,
			    (const double *const *)v->allowed);
}

bool
cli_package(struct cli *c, struct tirc *compiled)
{
	struct values v = { .cli = c, .compiled = compiled };
	/* The options c without --print-after and --time-passes, whose output
	 * was printed when the model was compiled. Errors are still printed. */
	struct cli quiet = *c;
	bool ok;

	quiet.tirc.n_print_after = 0;
	quiet.tirc.time_passes = false;
	v.model = cli_open(&quiet);
	if (v.model == NULL) {
		return false;
	}
	v.m = module_new();
	ok = interpreted_round(compiled, v.model) && begin(&v) && compute(&v) &&
	     check(&v) && arrange(&v);
	if (!ok) {
		cli_messages(v.model);
	}
	for (int i = 0; i < v.m->diags.list.n; i++) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&v.m->diags.list.data[i], &s);
		cli_error("%s", s.data);
		strbuf_release(&s);
	}
	module_free(v.m);
	tirc_free(v.model);
	return ok;
}
