/* SPDX-License-Identifier: Apache-2.0 */
/* tirc tvmc run: runs the model of a package. It does not execute the package's
 * own code, which may come from a stranger, but compiles the partition in the
 * package again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "output_file.h"
#include "slots.h"
#include "tar.h"
#include "text.h"
#include "tvmc.h"

/* The defaults of --repeat and --number; tvmc has the same defaults. */
enum { USUAL_REPEAT = 1, USUAL_NUMBER = 10 };

/* -- the package -- */

/* Copies a member of the package to a file. Returns false after an error
 * message. */
static bool
extract(struct arena *a, FILE *from, const struct tar_member *m,
	const char *path)
{
	struct output o;
	bool ok;

	if (!output_open(&o, a, path)) {
		return cli_error("%s: cannot be written: %s", path,
				 strerror(errno));
	}
	ok = tar_copy(from, m, o.file);
	ok = output_close(&o, ok) && ok;
	return ok || cli_error("the package is damaged: %s cannot be copied "
			       "out of it",
			       m->name);
}

/* Copies the model out of the package into the folder and sets c->model to its
 * path. Returns false after an error message. */
static bool
unpack(struct cli *c, const char *package, FILE *from, const char *folder)
{
	struct tar_member m;
	enum tar_found found;
	bool has_json = false, has_weights = false;

	while ((found = tar_next(from, &m)) == TAR_MEMBER) {
		bool json = strcmp(m.name, "src/model.json") == 0;
		bool weights = strcmp(m.name, "src/model.weights") == 0;
		const char *path = arena_printf(&c->arena, "%s/model.%s",
						folder,
						json ? "json" : "weights");

		if (!json && !weights) {
			if (!tar_copy(from, &m, NULL)) {
				break;
			}
			continue;
		}
		if (json ? has_json : has_weights) {
			break;
		}
		if (!extract(&c->arena, from, &m, path)) {
			return false;
		}
		c->model = json ? path : c->model;
		has_json |= json;
		has_weights |= weights;
	}
	if (found == TAR_END && has_json && has_weights) {
		return true;
	}
	return cli_error(
		"%s: it is not a complete package of tirc tvmc compile, which "
		"has src/model.json and src/model.weights once each; compile "
		"the model again",
		package);
}

static bool
open_package(struct cli *c, const char *path)
{
	const char *scratch = cleanup_scratch();
	FILE *from = fopen(path, "rb");
	const char *folder;
	bool ok;

	if (from == NULL) {
		return cli_error("%s: cannot be read: %s", path,
				 strerror(errno));
	}
	folder = arena_printf(&c->arena, "%s/opened", scratch);
	ok = scratch != NULL && mkdir(folder, 0700) == 0 &&
	     unpack(c, path, from, folder);
	fclose(from);
	return ok;
}

/* -- inputs -- */

/* Fills an array as tvmc does for --fill-mode `mode`: with random floats from 0
 * to 1 or random integers from 0 to 127, with zeros, or with ones. The random
 * numbers are the same in each run. */
static void
fill(struct array *a, const char *mode, uint64_t *state)
{
	bool random = mode == NULL || strcmp(mode, "random") == 0;
	double all = random || strcmp(mode, "zeros") == 0 ? 0 : 1;

	for (int64_t i = 0; i < a->elems; i++) {
		union number v = { 0 };
		double x = all;

		if (random) {
			*state = *state * 6364136223846793005u +
				 1442695040888963407u;
			x = (double)(*state >> 40) / (double)(1 << 24);
		}
		if (dtype_is_float(a->type)) {
			v.f = x;
		} else {
			x = random ? floor(x *
					   (a->type.kind == DT_BOOL ? 2 : 128))
				   : x;
			v.i = (int64_t)x;
		}
		number_store(a->type, a->data, (size_t)i, v);
	}
}

static bool
take_inputs(struct harness *h, const struct tvmc *o, struct slots *s)
{
	uint64_t state = 1;

	if (o->inputs != NULL && !slots_take(h, s, o->inputs)) {
		return false;
	}
	for (int i = 0; i < s->n; i++) {
		if (s->given[i]) {
			continue;
		}
		if (o->inputs != NULL) {
			return cli_error("%s has no array for input '%s'",
					 o->inputs, s->tensors[i].name);
		}
		s->arrays[i] = harness_zeros(&h->m->arena, s->tensors[i]);
		fill(&s->arrays[i], o->fill, &state);
	}
	return true;
}

/* -- results -- */

/* Prints statistics of the measurements in ms; each measurement is the mean of
 * `number` runs. */
static void
print_times(struct harness *h, int repeat, int number)
{
	double *means = arena_array(&h->m->arena, double, repeat + 1);
	double sum = 0, squares = 0, median;

	for (int i = 0; i < repeat; i++) {
		for (int k = 0; k < number; k++) {
			means[i] += h->times_ns[i * number + k] / 1e6 / number;
		}
		sum += means[i];
	}
	for (int i = 0; i < repeat; i++) {
		double d = means[i] - sum / repeat;

		squares += d * d;
	}
	qsort(means, (size_t)repeat, sizeof *means, cli_compare_doubles);
	median = (means[(repeat - 1) / 2] + means[repeat / 2]) / 2;
	say(stdout,
	    "Execution time summary:\n"
	    " mean (ms)   median (ms)    max (ms)     min (ms)     std (ms)\n"
	    "%10.4f   %10.4f   %10.4f   %10.4f   %10.4f\n",
	    sum / repeat, median, means[repeat - 1], means[0],
	    sqrt(squares / repeat));
}

/* Prints the n largest elements with their positions. */
static void
print_top(const struct array *a, int64_t n)
{
	double last = INFINITY;
	int64_t last_at = -1;

	for (int64_t done = 0; done < n && done < a->elems; done++) {
		double best = -INFINITY;
		int64_t at = -1;

		for (int64_t i = 0; i < a->elems; i++) {
			union number v = number_load(a->type, a->data,
						     (size_t)i);
			double x = dtype_is_float(a->type)    ? v.f
				   : dtype_is_signed(a->type) ? (double)v.i
							      : (double)v.u;

			if ((x < last || (x == last && i > last_at)) &&
			    (at < 0 || x > best)) {
				best = x;
				at = i;
			}
		}
		if (at < 0) {
			return;
		}
		say(stdout, "%6lld  %.7g\n", (long long)at, best);
		last = best;
		last_at = at;
	}
}

static bool
execute(struct harness *h, const struct tvmc *o, int repeat, int number)
{
	int n = tirc_output_count(h->t);
	struct slots inputs = slots_of_inputs(h);
	struct array *outputs = arena_array(&h->m->arena, struct array,
					    harness_results(h) + 1);

	if (!take_inputs(h, o, &inputs) ||
	    !harness_run(h, inputs.arrays, outputs)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		outputs[i].name = arena_printf(&h->m->arena, "output_%d", i);
	}
	if (o->print_time && tirc_summary(h->t).simulator != NULL) {
		return cli_error("--print-time: a simulator counts "
				 "instructions; tirc run prints them");
	}
	if (o->print_time) {
		print_times(h, repeat, number);
	}
	if (o->print_top > 0 && n > 0) {
		print_top(&outputs[0], o->print_top);
	}
	return o->outputs == NULL || arrays_save(h->m, o->outputs, outputs, n);
}

int
tvmc_run(struct cli *c, const struct tvmc *o)
{
	int repeat = o->repeat > 0 ? (int)o->repeat : USUAL_REPEAT;
	int number = o->number > 0 ? (int)o->number : USUAL_NUMBER;
	struct harness h;
	bool ok;

	if (o->device != NULL && strcmp(o->device, "cpu") != 0) {
		cli_error("--device %s: tirc runs packages on this machine's "
			  "processor; for a GPU compile the source of the "
			  "package's target",
			  o->device);
		return CLI_USAGE;
	}
	if (o->outputs != NULL && !text_ends_in(o->outputs, ".npz")) {
		cli_error("--outputs %s: give a .npz file", o->outputs);
		return CLI_USAGE;
	}
	if ((int64_t)repeat * number > 1000000) {
		cli_error("--repeat times --number is more than 1000000");
		return CLI_USAGE;
	}
	if (!open_package(c, o->file)) {
		return CLI_INPUT;
	}
	if (o->outputs != NULL) {
		cleanup_watch_output(o->outputs);
	}
	c->quiet = !o->verbose;
	c->repeat = repeat * number;
	ok = harness_open(&h, c) && harness_arrays_fit(&h) &&
	     execute(&h, o, repeat, number);
	harness_close(&h);
	return ok ? CLI_DONE : CLI_INPUT;
}
