/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a firmware package's self-test: inputs of the model's first
 * test data set, or random ones of a fixed seed, and what the interpreter
 * computes from them. A second context is for the interpreter, because a
 * compiled model has other nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

enum { RUNS = 8 };

struct values {
	struct cli *cli;
	struct tirc *compiled, *model;
	struct module *m;
	struct array *inputs;  /* of model: states are inputs, too */
	struct array *outputs; /* of model */
	double **allowed;      /* by output of compiled */
};

static struct array
array_of(struct arena *a, struct tirc_tensor x)
{
	struct array y = { .name = x.name, .ndim = x.ndim, .elems = x.elems };

	dtype_from_name(x.dtype, &y.type);
	y.shape = arena_copy(a, x.dims, sizeof *x.dims * (size_t)x.ndim + 1);
	y.data = arena_alloc(a,
			     (size_t)y.elems * (size_t)dtype_bytes(y.type) + 1);
	memset(y.data, 0, (size_t)y.elems * (size_t)dtype_bytes(y.type));
	return y;
}

/* -- inputs -- */

static bool
is_state(const struct values *v, int input)
{
	for (int i = 0; i < tirc_state_count(v->model); i++) {
		if (tirc_state(v->model, i).input == input) {
			return true;
		}
	}
	return false;
}

/* Floats from -1 to 1, all bytes, and other integers 0 or 1, which are indices
 * of most dimensions. */
static void
fill_random(struct array *x, uint64_t *state)
{
	for (int64_t i = 0; i < x->elems; i++) {
		union number n;

		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		if (dtype_is_float(x->type)) {
			n.f = (double)(*state >> 40) / 8388608 - 1;
		} else if (dtype_bits(x->type) == 8) {
			n.i = (int64_t)(*state >> 56) -
			      (dtype_is_signed(x->type) ? 128 : 0);
		} else {
			n.i = (int64_t)(*state >> 63);
		}
		number_store(x->type, x->data, (size_t)i, n);
	}
}

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

/* Copies the values of an array of the data set. */
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
		const char *path = arena_printf(&v->m->arena, "%s/input_%d.pb",
						folder, i);
		struct array *list;
		int count;

		if (is_constant(v, i)) {
			continue;
		}
		if (!is_state(v, next) &&
		    (!arrays_read(v->m, path, &list, &count) ||
		     !take(&v->inputs[next], &list[0], path))) {
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
	int n = tirc_input_count(v->model);
	uint64_t state = 0x9e3779b97f4a7c15u;
	const char **folders;

	v->inputs = arena_array(a, struct array, n + 1);
	for (int i = 0; i < n; i++) {
		v->inputs[i] = array_of(a, tirc_input(v->model, i));
		if (!is_state(v, i)) {
			fill_random(&v->inputs[i], &state);
		}
	}
	return test_folders(a, v->cli->model, &folders) == 0 ||
	       read_inputs(v, folders[0]);
}

/* -- outputs -- */

static bool
interpret(struct values *v, const struct array *inputs, struct array *outputs)
{
	struct arena *a = &v->m->arena;
	int n_in = tirc_input_count(v->model);
	int n_out = tirc_output_count(v->model);
	const void **in = arena_array(a, const void *, n_in + 1);
	void **out = arena_array(a, void *, n_out + 1);

	for (int i = 0; i < n_in; i++) {
		in[i] = inputs[i].data;
	}
	for (int i = 0; i < n_out; i++) {
		outputs[i] = array_of(a, tirc_output(v->model, i));
		out[i] = outputs[i].data;
	}
	return tirc_interpret(v->model, in, out);
}

/* Adds what rounding may change in the sums of each element, from runs on
 * inputs that differ in their last bit (error_scale.c). */
static bool
add_terms(struct values *v, double **terms)
{
	struct arena *a = &v->m->arena;
	int n_in = tirc_input_count(v->model);
	int n_out = tirc_output_count(v->model);
	struct array *moved = arena_array(a, struct array, n_in + 1);
	struct array *now = arena_array(a, struct array, n_out + 1);
	double share = error_scale_epsilon(v->inputs, n_in);
	uint64_t state = 0x9e3779b97f4a7c15u;

	for (int run = 0; share > 0 && run < RUNS; run++) {
		for (int i = 0; i < n_in; i++) {
			moved[i] = error_scale_moved(a, &v->inputs[i], share,
						     &state);
		}
		if (!interpret(v, moved, now)) {
			return false;
		}
		for (int i = 0; i < n_out; i++) {
			if (dtype_is_float(now[i].type)) {
				error_scale_see(&now[i], &v->outputs[i], share,
						terms[i]);
			}
		}
	}
	return true;
}

static double *
allowed_of(struct values *v, const struct array *y, const double *terms,
	   double step)
{
	struct tolerance t = compare_tolerance(v->cli, y->type, step);
	double *list = arena_array(&v->m->arena, double, y->elems + 1);

	for (int64_t i = 0; i < y->elems; i++) {
		double size = 0;

		if (dtype_is_float(y->type)) {
			size = fabs(number_load(y->type, y->data, (size_t)i).f);
		}
		list[i] = t.atol + t.rtol * size + t.terms * terms[i];
	}
	return list;
}

/* Does the interface of the compiled model still have this output? */
static bool
is_next_state(const struct values *v, int output)
{
	for (int i = 0; i < tirc_state_count(v->model); i++) {
		if (tirc_state(v->model, i).output == output) {
			return true;
		}
	}
	return false;
}

static bool
compute(struct values *v)
{
	struct arena *a = &v->m->arena;
	int n = tirc_output_count(v->model);
	double **terms = arena_array(a, double *, n + 1);

	v->outputs = arena_array(a, struct array, n + 1);
	if (!interpret(v, v->inputs, v->outputs)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		terms[i] = arena_array(a, double, v->outputs[i].elems + 1);
		memset(terms[i], 0,
		       (size_t)v->outputs[i].elems * sizeof *terms[i]);
	}
	if (!add_terms(v, terms)) {
		return false;
	}
	v->allowed = arena_array(a, double *, n + 1);
	for (int i = 0, next = 0; i < n; i++) {
		if (!is_next_state(v, i)) {
			double step = tirc_output(v->compiled, next).step;

			v->allowed[next++] = allowed_of(v, &v->outputs[i],
							terms[i], step);
		}
	}
	return true;
}

/* Hands over the values of inputs and outputs that are no states. */
static bool
arrange(struct values *v)
{
	struct arena *a = &v->m->arena;
	int n_in = tirc_input_count(v->model), n = 0;
	int n_out = tirc_output_count(v->model);
	const void **in = arena_array(a, const void *, n_in + 1);
	const void **out = arena_array(a, const void *, n_out + 1);

	for (int i = 0; i < n_in; i++) {
		if (!is_state(v, i)) {
			in[n++] = v->inputs[i].data;
		}
	}
	n = 0;
	for (int i = 0; i < n_out; i++) {
		if (!is_next_state(v, i)) {
			out[n++] = v->outputs[i].data;
		}
	}
	return tirc_arrange(v->compiled, in, out,
			    (const double *const *)v->allowed);
}

bool
cli_package(struct cli *c, struct tirc *compiled)
{
	struct values v = { .cli = c, .compiled = compiled };
	struct cli quiet = *c; /* the first context has printed it all */
	bool ok;

	quiet.tirc.n_print_after = 0;
	quiet.tirc.time_passes = false;
	v.model = cli_open(&quiet);
	if (v.model == NULL) {
		return false;
	}
	v.m = module_new();
	ok = find_inputs(&v) && compute(&v) && arrange(&v);
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
