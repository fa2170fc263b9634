/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the model in the interpreter, and makes random inputs. No graph pass
 * runs before, except the passes that set the rounding. */
#include <string.h>

#include "interpreted.h"
#include "random.h"
#include "text.h"

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

static bool
same_sizes(const int64_t *a, const int64_t *b, int n)
{
	return memcmp(a, b, sizeof *a * (size_t)n) == 0;
}

int
interpreted_sizes(struct harness *h, int64_t **values)
{
	int n = tirc_dim_count(h->t), runs = 0;

	for (int run = 0; run < INTERPRETED_SIZES; run++) {
		int64_t *v = arena_array(&h->m->arena, int64_t, n + 1);
		bool again = false;

		for (int d = 0; d < n; d++) {
			struct tirc_dim dim = tirc_dim(h->t, d);
			int64_t least = dim.min > 0 ? dim.min : dim.step;
			int64_t middle = least + (dim.max - least) / 2;

			v[d] = run == 0   ? dim.max
			       : run == 1 ? least
					  : middle - middle % dim.step;
		}
		for (int k = 0; k < runs; k++) {
			again |= same_sizes(values[k], v, n);
		}
		if (!again) {
			values[runs++] = v;
		}
	}
	return runs;
}

/* The text "n = 8, m = 1" of the symbolic sizes. */
static const char *
sizes_text(struct harness *h, const int64_t *sizes)
{
	const char *text = "";

	for (int d = 0; d < tirc_dim_count(h->t); d++) {
		text = arena_printf(&h->m->arena, "%s%s%s = %lld", text,
				    d > 0 ? ", " : "", tirc_dim(h->t, d).name,
				    (long long)sizes[d]);
	}
	return text;
}

bool
interpreted_inputs(struct harness *h, const int64_t *sizes,
		   struct data_set *out)
{
	struct arena *a = &h->m->arena;
	int n = tirc_input_count(h->t);
	int64_t number = 0;
	uint64_t state;

	/* another text is refused when the model is loaded */
	if (h->cli->tirc.seed != NULL &&
	    !text_int(h->cli->tirc.seed, &number)) {
		number = 0;
	}
	state = random_seeded(number);
	*out = (struct data_set){ .where = "random inputs" };
	if (!quota_check_memory(h->m,
				(struct diag_place){ .file = h->cli->model },
				cli_io_bytes(h->t))) {
		harness_messages(h);
		return false;
	}
	if (sizes != NULL && tirc_dim_count(h->t) > 0) {
		out->where = arena_printf(a, "random inputs, %s",
					  sizes_text(h, sizes));
	}
	out->inputs = arena_array(a, struct array, n + 1);
	for (int i = 0; i < n; i++) {
		struct array *x = &out->inputs[i];

		*x = harness_zeros(a, tirc_input(h->t, i));
		if (sizes != NULL) {
			tirc_input_dims(h->t, i, sizes, x->shape);
			x->elems = 1;
			for (int d = 0; d < x->ndim; d++) {
				x->elems *= x->shape[d];
			}
		}
		interpreted_fill(x, &state);
	}
	return true;
}

/* -- the model -- */

/* Sets the options --dim of o to numbers for the symbolic sizes, taken from the
 * shapes of the inputs. */
static void
sized_options(const struct harness *h, const struct array *inputs,
	      struct tirc_options *o)
{
	struct arena *a = &h->m->arena;
	struct tirc *t = h->t;
	int n = tirc_dim_count(t), kept = 0;
	const char **list = arena_array(a, const char *, n + o->n_dims + 1);
	int64_t *values = arena_array(a, int64_t, n + 1);

	harness_dims(h, inputs, values);
	for (int i = 0; i < n; i++) {
		list[kept++] = arena_printf(a, "%s=%lld", tirc_dim(t, i).name,
					    (long long)values[i]);
	}
	for (int i = 0; i < o->n_dims; i++) {
		size_t length = strcspn(o->dims[i], "=") + 1;
		bool again = false;

		for (int k = 0; k < n; k++) {
			again |= strncmp(list[k], o->dims[i], length) == 0;
		}
		if (!again) {
			list[kept++] = o->dims[i];
		}
	}
	o->dims = list;
	o->n_dims = kept;
}

struct tirc *
interpreted_sized(const struct harness *h, struct cli *c,
		  const struct array *inputs)
{
	const struct tirc_options given = c->tirc;
	struct tirc *sized;

	sized_options(h, inputs, &c->tirc);
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

int
interpreted_result(const struct harness *h, int position)
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
			struct array x = inputs[next++];

			if (!harness_fit_input(a, model, i, &x)) {
				return false;
			}
			in[i] = x.data;
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
		int at = interpreted_result(h, i);

		d->want[at] = outputs[i];
		d->expected[at] = true;
	}
}

bool
interpreted_takes(struct harness *h, const int64_t *sizes)
{
	struct arena *a = &h->m->arena;
	struct tirc_options o = h->cli->tirc;
	struct data_set d;
	struct tirc *t;
	bool ok;

	if (!interpreted_inputs(h, sizes, &d)) {
		return false;
	}
	sized_options(h, d.inputs, &o);
	o.n_print_after = 0;
	o.progress = NULL;
	t = tirc_new(&o);
	ok = tirc_load(t, h->cli->model);
	if (!ok) {
		const char *why = "";

		for (int i = tirc_message_count(t) - 1; i >= 0; i--) {
			if (tirc_message(t, i).severity == TIRC_ERROR) {
				why = arena_strdup(a, tirc_message(t, i).text);
			}
		}
		cli_note("the model is not run with %s, because it cannot have "
			 "these sizes: %s",
			 sizes_text(h, sizes), why);
	}
	tirc_free(t);
	return ok;
}

/* The states with which h's next run begins, as a list with an element for each
 * output of the model: each state is at the position of the output that gave it
 * in the previous run. NULL if the states are zeros. */
static struct array *
outputs_before(struct harness *h, struct tirc *model)
{
	struct array *before;

	if (h->states == NULL) {
		return NULL;
	}
	before = arena_array(&h->m->arena, struct array,
			     tirc_output_count(model) + 1);
	for (int i = 0; i < tirc_state_count(model); i++) {
		before[tirc_state(model, i).output] = h->states[i];
	}
	return before;
}

bool
interpreted_results(struct harness *h, const struct array *inputs,
		    struct data_set *out)
{
	/* The options c without --print-after and --time-passes, whose output
	 * was printed when the model was compiled. Errors are still printed. */
	struct cli c = *h->cli;
	struct array *outputs;
	struct tirc *model;
	bool ok;

	c.tirc.n_print_after = 0;
	c.tirc.n_print_phases = 0;
	c.tirc.time_passes = false;
	model = interpreted_sized(h, &c, inputs);
	if (model == NULL) {
		return false;
	}
	ok = interpreted_round(h->t, model) &&
	     interpreted_run(&h->m->arena, model, inputs,
			     outputs_before(h, model), &outputs);
	if (ok) {
		expect(h, model, outputs, out);
	}
	tirc_free(model);
	return ok;
}

bool
interpreted_read(struct harness *h, const int64_t *sizes, struct data_set *out)
{
	return interpreted_inputs(h, sizes, out) &&
	       interpreted_results(h, out->inputs, out);
}
