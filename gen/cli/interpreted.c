/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the model as it was read, without graph passes, in the interpreter on
 * random inputs. */
#include <string.h>

#include "interpreted.h"

/* -- inputs -- */

void
interpreted_fill(struct array *x, uint64_t *state)
{
	for (int64_t i = 0; i < x->elems; i++) {
		union number n;

		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		if (dtype_is_float(x->type)) {
			n.f = (double)(*state >> 40) / 8388608 - 1;
		} else if (dtype_is_int(x->type) && dtype_bits(x->type) == 8) {
			n.i = (int64_t)(*state >> 56) -
			      (dtype_is_signed(x->type) ? 128 : 0);
		} else {
			n.i = (int64_t)(*state >> 63);
		}
		number_store(x->type, x->data, (size_t)i, n);
	}
}

void
interpreted_inputs(struct harness *h, struct data_set *out)
{
	struct arena *a = &h->m->arena;
	int n = tirc_input_count(h->t);
	uint64_t state = INTERPRETED_SEED;

	*out = (struct data_set){ .where = "random inputs" };
	out->inputs = arena_array(a, struct array, n + 1);
	for (int i = 0; i < n; i++) {
		out->inputs[i] = harness_zeros(a, tirc_input(h->t, i));
		interpreted_fill(&out->inputs[i], &state);
	}
}

/* -- the model -- */

int
interpreted_state(struct tirc *model, int position)
{
	for (int i = 0; i < tirc_state_count(model); i++) {
		if (tirc_state(model, i).input == position) {
			return i;
		}
	}
	return -1;
}

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

/* -- results -- */

/* The index, among the program's results, of the model's output at this
 * position. */
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

static bool
interpret(struct harness *h, struct tirc *model, struct data_set *d)
{
	struct arena *a = &h->m->arena;
	int n_in = tirc_input_count(model), n_out = tirc_output_count(model);
	const void **in = arena_array(a, const void *, n_in + 1);
	void **out = arena_array(a, void *, n_out + 1);
	int next = 0;

	for (int i = 0; i < n_in; i++) {
		in[i] = interpreted_state(model, i) >= 0
				? harness_zeros(a, tirc_input(model, i)).data
				: d->inputs[next++].data;
	}
	d->want = arena_array(a, struct array, harness_results(h) + 1);
	d->expected = arena_array(a, bool, harness_results(h) + 1);
	for (int i = 0; i < n_out; i++) {
		int at = result_at(h, i);

		d->want[at] = harness_zeros(a, tirc_output(model, i));
		d->expected[at] = true;
		out[i] = d->want[at].data;
	}
	return tirc_interpret(model, in, out);
}

bool
interpreted_read(struct harness *h, struct data_set *out)
{
	/* quiet: the first context has printed everything */
	struct cli c = *h->cli;
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
	ok = interpret(h, model, out);
	if (!ok) {
		cli_messages(model);
	}
	tirc_free(model);
	return ok;
}
