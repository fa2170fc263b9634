/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the emitted program in its own folder with the user's compiler and
 * runs it. Inputs and outputs are files of raw elements. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "output_file.h"
#include "process.h"
#include "text.h"

/* The default of --repeat if --profile is given. */
enum { PROFILE_RUNS = 20 };

/* How often the program runs without --repeat. Times vary, so that a profile
 * needs several runs; on a simulator one run is enough, because it counts the
 * same instructions in each run. */
static int
default_repeat(const struct harness *h)
{
	return h->cli->tirc.profile && tirc_summary(h->t).simulator == NULL
		       ? PROFILE_RUNS
		       : 1;
}

static bool run_model(struct harness *h, const struct array *inputs,
		      struct array *outputs);

static int64_t
model_bytes(const struct harness *h)
{
	struct tirc_summary s = tirc_summary(h->t);

	return quota_plus(quota_plus(s.workspace_bytes, s.weights_bytes),
			  cli_io_bytes(h->t));
}

struct module *
harness_module(const struct cli *c)
{
	struct module *m = module_new();
	struct stat st;

	m->quota.memory_bytes = c->tirc.max_memory_bytes;
	m->quota.output_bytes = c->tirc.max_output_bytes;
	quota_of_input(m, stat(c->model, &st) == 0 ? st.st_size : 0);
	return m;
}

bool
harness_emit(struct harness *h, struct cli *c)
{
	memset(h, 0, sizeof *h);
	h->cli = c;
	h->m = harness_module(c);
	h->run = run_model;
	c->tirc.self_contained = true;
	h->t = cli_open(c);
	if (h->t == NULL || !harness_begin(h, c)) {
		return false;
	}
	if (!tirc_compile(h->t) || !tirc_write(h->t, h->folder)) {
		cli_messages(h->t);
		return false;
	}
	cli_messages(h->t);
	cli_timings(h->t);
	h->n_inputs = tirc_input_count(h->t);
	h->n_results = harness_results(h);
	h->array_bytes = model_bytes(h);
	if (c->repeat == 0) {
		c->repeat = default_repeat(h);
	}
	for (int i = 0; i < tirc_file_count(h->t); i++) {
		struct tirc_file file = tirc_file(h->t, i);

		if (file.is_source) {
			harness_add_source(h, file.name);
		}
	}
	return true;
}

bool
harness_build_model(struct harness *h)
{
	const char *text = tirc_harness(h->t);

	if (text == NULL) {
		cli_messages(h->t);
		return false;
	}
	return harness_build(h, text);
}

bool
harness_open(struct harness *h, struct cli *c)
{
	return harness_emit(h, c) && harness_find_tools(h) &&
	       harness_fits_processor(h) && harness_build_model(h);
}

struct cli *
harness_twin_options(struct harness *h)
{
	struct cli *c = arena_new(&h->m->arena, struct cli);

	*c = *h->cli;
	c->tirc.n_print_after = c->tirc.n_print_phases = 0;
	c->tirc.n_schedule_for = 0;
	c->tirc.time_passes = false;
	c->keep = NULL;
	c->steps = !c->quiet || c->steps;
	c->quiet = true;
	return c;
}

/* Sets values[d], the value of symbolic size d, if the value follows from the
 * shape of an input and the known values of the other sizes. Returns false if
 * it does not follow. */
static bool
match_dim(const struct harness *h, const struct array *inputs, int d,
	  int64_t *values)
{
	for (int i = 0; i < tirc_input_count(h->t); i++) {
		struct tirc_tensor x = tirc_input(h->t, i);

		for (int k = 0; k < x.ndim && k < inputs[i].ndim; k++) {
			int64_t v = tirc_dim_value(h->t, d, values, i, k,
						   inputs[i].shape[k]);

			if (v >= 0) {
				values[d] = v;
				return true;
			}
		}
	}
	return false;
}

/* Tries all sizes again as long as a new value was found, since the value of
 * one size may follow from that of another. */
void
harness_known_dims(const struct harness *h, const struct array *inputs,
		   int64_t *values)
{
	int n = tirc_dim_count(h->t);
	bool found = true;

	for (int d = 0; d < n; d++) {
		values[d] = -1;
	}
	while (found) {
		found = false;
		for (int d = 0; d < n; d++) {
			found |= values[d] < 0 &&
				 match_dim(h, inputs, d, values);
		}
	}
}

void
harness_dims(const struct harness *h, const struct array *inputs,
	     int64_t *values)
{
	harness_known_dims(h, inputs, values);
	for (int d = 0; d < tirc_dim_count(h->t); d++) {
		values[d] = values[d] < 0 ? tirc_dim(h->t, d).max : values[d];
	}
}

bool
harness_fit_strings(struct arena *m, struct array *a, int64_t bytes)
{
	int64_t has = a->shape[a->ndim - 1], n = has > 0 ? a->elems / has : 0;
	const uint8_t *from = a->data;
	uint8_t *to = arena_alloc(m, (size_t)(n * bytes) + 1);

	for (int64_t i = 0; i < n; i++) {
		size_t length = strnlen((const char *)from + i * has,
					(size_t)has);

		if ((int64_t)length > bytes) {
			return false;
		}
		memcpy(to + i * bytes, from + i * has, length);
	}
	a->shape[a->ndim - 1] = bytes;
	a->elems = n * bytes;
	a->data = to;
	return true;
}

/* The shape of an array as text for a message, such as "2,3"; the function
 * below does the same for a tensor of the model, such as "n,3". */
static const char *
shape_text(struct arena *m, const struct array *a)
{
	const char *text = "";

	for (int d = 0; d < a->ndim; d++) {
		text = arena_printf(m, "%s%s%lld", text, d > 0 ? "," : "",
				    (long long)a->shape[d]);
	}
	return text;
}

static const char *
words_text(struct arena *m, const struct tirc_tensor *x)
{
	const char *text = "";

	for (int d = 0; d < x->ndim; d++) {
		text = arena_printf(m, "%s%s%s", text, d > 0 ? "," : "",
				    x->words[d]);
	}
	return text;
}

/* The range of a symbolic size, widened so that it contains `size`, as an
 * argument of --dim: "n=1..501". */
static const char *
range_with(struct arena *a, struct tirc_dim dim, int64_t size)
{
	int64_t least = size < dim.min ? size : dim.min;
	int64_t most = size > dim.max ? size : dim.max;

	return size % dim.step == 0 && dim.step > 1
		       ? arena_printf(a, "%s=%lld..%lld:%lld", dim.name,
				      (long long)least, (long long)most,
				      (long long)dim.step)
		       : arena_printf(a, "%s=%lld..%lld", dim.name,
				      (long long)least, (long long)most);
}

/* Are the values that symbolic sizes have in the shape of array a within the
 * ranges of these sizes? If not, prints an error message and returns false. */
static bool
check_sizes(struct arena *m, struct tirc *t, const struct tirc_tensor *x,
	    const struct array *a)
{
	for (int d = 0; d < x->ndim; d++) {
		int64_t size = a->shape[d];

		for (int k = 0; k < tirc_dim_count(t); k++) {
			struct tirc_dim dim = tirc_dim(t, k);

			if (strcmp(dim.name, x->words[d]) != 0 ||
			    (size >= dim.min && size <= dim.max)) {
				continue;
			}
			return cli_error(
				"input '%s': %s = %lld, but %s is %lld..%lld; "
				"give --dim %s",
				x->name, dim.name, (long long)size, dim.name,
				(long long)dim.min, (long long)dim.max,
				command_quoted(m, range_with(m, dim, size)));
		}
	}
	return true;
}

bool
harness_check_input(struct arena *m, struct tirc *t, int i,
		    const struct array *a)
{
	struct tirc_tensor x = tirc_input(t, i);
	struct dtype type;
	bool same = dtype_from_name(x.dtype, &type) && array_is(a, type) &&
		    x.ndim == a->ndim;

	for (int d = 0; same && d < x.ndim; d++) {
		int64_t fixed;

		same = !text_int(x.words[d], &fixed) || fixed == a->shape[d];
	}
	return same ? check_sizes(m, t, &x, a)
		    : cli_error("input '%s' is %s [%s]; the file has %s%s [%s]",
				x.name, x.dtype, words_text(m, &x),
				a->is_bits ? "the bits of " : "",
				dtype_name(a->type), shape_text(m, a));
}

bool
harness_fit_input(struct arena *m, struct tirc *t, int i, struct array *a)
{
	struct tirc_tensor x = tirc_input(t, i);

	if (a->is_string && x.ndim == a->ndim &&
	    !harness_fit_strings(m, a, x.dims[x.ndim - 1])) {
		return cli_error("a string of input '%s' is longer than its "
				 "%lld bytes; give --string-length %s=BYTES",
				 x.name, (long long)x.dims[x.ndim - 1], x.name);
	}
	return harness_check_input(m, t, i, a);
}

bool
harness_read_times(struct harness *h, int n)
{
	FILE *f = fopen(harness_path(h, "times.txt"), "r");

	h->times_ns = arena_array(&h->m->arena, double, n + 1);
	if (f == NULL) {
		return cli_error("the program wrote no times");
	}
	for (int i = 0; i < n; i++) {
		if (fscanf(f, "%lf", &h->times_ns[i]) != 1) {
			fclose(f);
			return cli_error("the program wrote no times");
		}
	}
	fclose(f);
	return true;
}

/* The name of the file of result i. The results are the outputs and, after
 * them, the states. */
static const char *
result_file(struct harness *h, int i)
{
	const int state = i - tirc_output_count(h->t);

	return state < 0
		       ? arena_printf(&h->m->arena, "output_%d.bin", i)
		       : arena_printf(&h->m->arena, "next_state_%d.bin", state);
}

/* Reads result i of the last run from its file. The results are the outputs
 * and, after them, the states. Returns false after an error message. */
static bool
read_result(struct harness *h, int i, const int64_t *dim_values,
	    struct array *out)
{
	struct arena *a = &h->m->arena;
	int n_out = tirc_output_count(h->t), state = i - n_out;
	struct tirc_tensor x = state < 0 ? tirc_output(h->t, i)
					 : tirc_state(h->t, state).tensor;

	out->name = arena_strdup(a, x.name);
	dtype_from_name(x.dtype, &out->type);
	out->ndim = x.ndim;
	out->shape = arena_array(a, int64_t, x.ndim + 1);
	if (state < 0) {
		tirc_output_dims(h->t, i, dim_values, out->shape);
	} else {
		tirc_state_dims(h->t, state, dim_values, out->shape);
	}
	out->elems = 1;
	for (int d = 0; d < x.ndim; d++) {
		out->elems *= out->shape[d];
	}
	return harness_read_array(h, result_file(h, i), out);
}

int
state_of_input(struct tirc *t, int position)
{
	for (int i = 0; i < tirc_state_count(t); i++) {
		if (tirc_state(t, i).input == position) {
			return i;
		}
	}
	return -1;
}

int
state_of_output(struct tirc *t, int position)
{
	for (int i = 0; i < tirc_state_count(t); i++) {
		if (tirc_state(t, i).output == position) {
			return i;
		}
	}
	return -1;
}

int
harness_results(const struct harness *h)
{
	return tirc_output_count(h->t) + tirc_state_count(h->t);
}

bool
harness_set_states(struct harness *h, const struct array *states)
{
	h->states = states;
	for (int i = 0; i < tirc_state_count(h->t); i++) {
		const char *name = arena_printf(&h->m->arena, "state_%d.bin",
						i);

		if (states == NULL) {
			unlink(harness_path(h, name));
		} else if (!harness_write_array(h, name, &states[i])) {
			return false;
		}
	}
	return true;
}

/* Reads the sizes of outputs that the program computed in its run. Returns
 * false after an error message. */
static bool
read_sizes(const struct harness *h, int64_t *values)
{
	FILE *f;

	if (tirc_size_count(h->t) == 0) {
		return true;
	}
	f = fopen(harness_path(h, "sizes.txt"), "r");
	for (int i = 0; i < tirc_size_count(h->t); i++) {
		struct tirc_dim size = tirc_size(h->t, i);
		long long v;

		if (f == NULL || fscanf(f, "%lld", &v) != 1) {
			if (f != NULL) {
				fclose(f);
			}
			return cli_error("the program wrote no sizes");
		}
		if (v < size.min || v > size.max) {
			fclose(f);
			return cli_error("the program wrote %lld for the size "
					 "%s, which is from %lld to %lld",
					 v, size.name, (long long)size.min,
					 (long long)size.max);
		}
		values[i] = v;
	}
	fclose(f);
	return true;
}

static bool
expect_results(struct harness *h)
{
	bool ok;

	harness_expect_none(h);
	ok = harness_expect(h, "times.txt") &&
	     (tirc_size_count(h->t) == 0 || harness_expect(h, "sizes.txt")) &&
	     (!h->cli->tirc.profile || harness_expect(h, "profile.txt")) &&
	     (tirc_summary(h->t).simulator == NULL ||
	      harness_expect(h, "board.txt"));
	for (int i = 0; ok && i < h->n_results; i++) {
		ok = harness_expect(h, result_file(h, i));
	}
	return ok;
}

static bool
run_model(struct harness *h, const struct array *inputs, struct array *outputs)
{
	struct arena *m = &h->m->arena;
	const char *arguments = arena_printf(m, "%d", h->cli->repeat);
	int n_dims = tirc_dim_count(h->t);
	int64_t *values = arena_array(m, int64_t,
				      n_dims + tirc_size_count(h->t) + 1);

	for (int i = 0; i < h->n_inputs; i++) {
		struct array a = inputs[i];

		if (!harness_fit_input(m, h->t, i, &a) ||
		    !harness_write_array(h, arena_printf(m, "input_%d.bin", i),
					 &a)) {
			return false;
		}
	}
	harness_dims(h, inputs, values);
	for (int d = 0; d < n_dims; d++) {
		arguments = arena_printf(m, "%s %lld", arguments,
					 (long long)values[d]);
	}
	if (!expect_results(h) || !harness_execute(h, arguments) ||
	    !read_sizes(h, values + n_dims)) {
		return false;
	}
	for (int i = 0; i < h->n_results; i++) {
		if (!read_result(h, i, values, &outputs[i])) {
			return false;
		}
	}
	return harness_read_times(h, h->cli->repeat) &&
	       (tirc_summary(h->t).simulator == NULL || harness_read_board(h));
}

bool
harness_run(struct harness *h, const struct array *inputs,
	    struct array *outputs)
{
	return h->run(h, inputs, outputs);
}

struct array
harness_zeros(struct arena *a, struct tirc_tensor x)
{
	struct array y = { .name = x.name, .ndim = x.ndim, .elems = x.elems };

	dtype_from_name(x.dtype, &y.type);
	y.shape = arena_copy(a, x.dims, sizeof *x.dims * (size_t)x.ndim);
	y.data = arena_alloc(a,
			     (size_t)y.elems * (size_t)dtype_bytes(y.type) + 1);
	return y;
}

bool
harness_arrays_fit(struct harness *h)
{
	return quota_check_output(h->m,
				  (struct diag_place){ .file = h->cli->model },
				  "the arrays of all inputs and outputs",
				  cli_io_bytes(h->t));
}

void
harness_ramp(struct harness *h, int i, struct array *a)
{
	*a = harness_zeros(&h->m->arena, tirc_input(h->t, i));
	for (int64_t k = 0; k < a->elems; k++) {
		union number v;

		if (dtype_is_float(a->type)) {
			v.f = (double)(k % 17 - 8) / 8;
		} else {
			v.i = k % 2;
		}
		number_store(a->type, a->data, (size_t)k, v);
	}
}

void
harness_messages(struct harness *h)
{
	while (h->n_told < h->m->diags.list.n) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&h->m->diags.list.data[h->n_told++], &s);
		cli_error("%s", s.data);
		strbuf_release(&s);
	}
}

void
harness_close(struct harness *h)
{
	if (h->factors != NULL) {
		harness_close(h->factors);
	}
	harness_messages(h);
	free(h->folder);
	tirc_free(h->t);
	module_free(h->m);
}
