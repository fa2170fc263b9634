/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the model in the interpreter, without passes over the graph unless they
 * set the rounding, and makes random inputs. */
#include <string.h>

#include "interpreted.h"
#include "random.h"

/* -- inputs -- */

void
interpreted_fill(struct array *x, uint64_t *state)
{
	for (int64_t i = 0; i < x->elems; i++) {
		uint64_t bits = random_next(state);
		union number n;

		if (dtype_is_float(x->type)) {
			n.f = random_fraction(bits);
		} else if (dtype_is_int(x->type) && dtype_bits(x->type) == 8) {
			n.i = (int64_t)(bits >> 56) -
			      (dtype_is_signed(x->type) ? 128 : 0);
		} else {
			n.i = (int64_t)(bits >> 63);
		}
		number_store(x->type, x->data, (size_t)i, n);
	}
}

void
interpreted_inputs(struct harness *h, struct data_set *out)
{
	struct arena *a = &h->m->arena;
	int n = tirc_input_count(h->t);
	uint64_t state = RANDOM_SEED;

	*out = (struct data_set){ .where = "random inputs" };
	out->inputs = arena_array(a, struct array, n + 1);
	for (int i = 0; i < n; i++) {
		out->inputs[i] = harness_zeros(a, tirc_input(h->t, i));
		interpreted_fill(&out->inputs[i], &state);
	}
}

/* -- the model -- */

struct tirc *
interpreted_sized(const struct harness *h, struct cli *c,
		  const struct array *inputs)
{
	struct arena *a = &h->m->arena;
	struct tirc *t = h->t;
	const struct tirc_options given = c->tirc;
	int n = tirc_dim_count(t), kept = 0;
	const char **list = arena_array(a, const char *, n + given.n_dims + 1);
	int64_t *values = arena_array(a, int64_t, n + 1);
	struct tirc *sized;

	harness_dims(h, inputs, values);
	for (int i = 0; i < n; i++) {
		list[kept++] = arena_printf(a, "%s=%lld", tirc_dim(t, i).name,
					    (long long)values[i]);
	}
	for (int i = 0; i < given.n_dims; i++) {
		size_t length = strcspn(given.dims[i], "=") + 1;
		bool again = false;

		for (int k = 0; k < n; k++) {
			again |= strncmp(list[k], given.dims[i], length) == 0;
		}
		if (!again) {
			list[kept++] = given.dims[i];
		}
	}
	c->tirc.dims = list;
	c->tirc.n_dims = kept;
	sized = cli_open(c);
	c->tirc.dims = given.dims;
	c->tirc.n_dims = given.n_dims;
	return sized;
}

bool
interpreted_rounds(struct tirc *compiled)
{
	const char *rounding = tirc_summary(compiled).rounding;

	return rounding != NULL && strcmp(rounding, "tflite") == 0;
}

bool
interpreted_round(struct tirc *compiled, struct tirc *model)
{
	if (interpreted_rounds(compiled) && !tirc_partition(model)) {
		cli_messages(model);
		return false;
	}
	return true;
}

/* -- results -- */

/* The index in the results of a run, where states come last, of the model's
 * output at this position. */
static int
result_at(const struct harness *h, int position)
{
	int before = 0;

	for (int i = 0; i < tirc_state_count(h->t); i++) {
		int output = tirc_state(h->t, i).output;

		if (output == position) {
			return tirc_output_count(h->t) + i;
		}
		before += output < position;
	}
	return position - before;
}

bool
interpreted_run(struct arena *a, struct tirc *model, const struct array *inputs,
		const struct array *before, struct array **out)
{
	int n_in = tirc_input_count(model), n_out = tirc_output_count(model);
	const void **in = arena_array(a, const void *, n_in + 1);
	void **results = arena_array(a, void *, n_out + 1);
	int next = 0;
	bool ok;

	for (int i = 0; i < n_in; i++) {
		int state = state_of_input(model, i);

		if (state < 0) {
			in[i] = inputs[next++].data;
		} else if (before != NULL) {
			in[i] = before[tirc_state(model, state).output].data;
		} else {
			in[i] = harness_zeros(a, tirc_input(model, i)).data;
		}
	}
	*out = arena_array(a, struct array, n_out + 1);
	for (int i = 0; i < n_out; i++) {
		(*out)[i] = harness_zeros(a, tirc_output(model, i));
		results[i] = (*out)[i].data;
	}
	ok = tirc_interpret(model, in, results);
	style_progress_end();
	if (!ok) {
		cli_messages(model);
	}
	return ok;
}

/* Sets the expected results of d to the outputs that the interpreter computed
 * for the model. */
static void
expect(const struct harness *h, struct tirc *model, const struct array *outputs,
       struct data_set *d)
{
	struct arena *a = &h->m->arena;

	d->want = arena_array(a, struct array, harness_results(h) + 1);
	d->expected = arena_array(a, bool, harness_results(h) + 1);
	for (int i = 0; i < tirc_output_count(model); i++) {
		int at = result_at(h, i);

		d->want[at] = outputs[i];
		d->expected[at] = true;
	}
}

bool
interpreted_read(struct harness *h, struct data_set *out)
{
	/* quiet, since the messages about the model have been printed before */
	struct cli c = *h->cli;
	struct array *outputs;
	struct tirc *model;
	bool ok;

	c.tirc.n_print_after = 0;
	c.tirc.n_print_phases = 0;
	c.tirc.time_passes = false;
	interpreted_inputs(h, out);
	model = interpreted_sized(h, &c, out->inputs);
	if (model == NULL) {
		return false;
	}
	ok = interpreted_round(h->t, model) &&
	     interpreted_run(&h->m->arena, model, out->inputs, NULL, &outputs);
	if (ok) {
		expect(h, model, outputs, out);
	}
	tirc_free(model);
	return ok;
}
