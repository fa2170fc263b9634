/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program on perturbed inputs, if an output has elements beyond their
 * tolerance. Integer inputs cannot be perturbed, and quantization in a model
 * hides perturbations of its inputs. Then the floats that the model computes
 * from integers are perturbed: in a second program, additional inputs are
 * factors of these floats (passes/graph/factors.c). */
#include <math.h>
#include <string.h>

#include "compare.h"
#include "random.h"

/* The smallest perturbation for products of operands that are rounded to tf32:
 * a smaller one could have no effect. */
#define TF32_EPSILON 0x1p-10

/* random[i]: does element i differ between two runs on the same inputs? NULL if
 * no element does, or their numbers differ. */
static const bool *
find_random(struct arena *a, const struct array *again, const struct array *was)
{
	size_t bytes = (size_t)dtype_bytes(was->type);
	bool *random;

	if (again->elems != was->elems ||
	    memcmp(again->data, was->data, (size_t)was->elems * bytes) == 0) {
		return NULL;
	}
	random = arena_array(a, bool, was->elems + 1);
	for (int64_t i = 0; i < was->elems; i++) {
		random[i] = memcmp((const char *)again->data +
					   (size_t)i * bytes,
				   (const char *)was->data + (size_t)i * bytes,
				   bytes) != 0;
	}
	return random;
}

/* Are there runs enough: is each output near the expected one, with no elements
 * on the other side of a step? (More runs show how many of these rounding
 * explains.) */
static bool
all_near(struct cli *c, const struct pair *pairs, int n)
{
	bool near = true;

	for (int i = 0; near && i < n; i++) {
		struct comparison found;

		pair_compare(c, &pairs[i], &found);
		near = found.same_shape && found.bad == 0 && !found.too_many &&
		       found.other_side == 0;
	}
	return near;
}

/* Runs p (h itself, or h->factors) on perturbed inputs, several times, and adds
 * its results to pairs[i].observed. result[i]: the index of pair i among the
 * results of p; -1: nothing is added to it. */
static void
observe(struct harness *h, struct harness *p, const struct array *inputs,
	double share, struct pair *pairs, const int *result, int n)
{
	struct arena *a = &h->m->arena;
	int n_in = p->n_inputs;
	struct array *given = arena_array(a, struct array, n_in + 1);
	struct array *now = arena_array(a, struct array, p->n_results + 1);
	uint64_t state = RANDOM_SEED;

	for (int run = 0; run < OBSERVED_RUNS; run++) {
		for (int i = 0; i < n_in; i++) {
			given[i] = observed_moved(a, &inputs[i], share, &state);
		}
		if (!harness_run(p, given, now)) {
			return;
		}
		for (int i = 0; i < n; i++) {
			struct observed *o = pairs[i].observed;
			const struct array *y;

			if (result[i] < 0) {
				continue;
			}
			y = &now[result[i]];
			/* the size of a result may depend on values */
			if (y->elems == pairs[i].got->elems &&
			    dtype_equal(y->type, pairs[i].got->type)) {
				o->runs[o->n++] = *y;
			}
		}
		if (run + 1 >= OBSERVED_LEAST && all_near(h->cli, pairs, n)) {
			return;
		}
	}
}

/* Prepares new perturbed runs for the pairs that have elements beyond their
 * tolerance: discards the runs in `observed`, and sets observed.share to the
 * size of the perturbation. The other pairs keep their runs, as do pairs with
 * another number of elements than expected, which no run explains: their
 * result[i] becomes -1. Returns the number of pairs that are prepared. */
static int
begin(struct harness *h, struct pair *pairs, double share, int *result, int n)
{
	struct arena *a = &h->m->arena;
	int n_far = 0;

	for (int i = 0; i < n; i++) {
		struct observed *o = pairs[i].observed;

		if (pair_near(h->cli, &pairs[i]) ||
		    pairs[i].got->elems != pairs[i].want->elems) {
			result[i] = -1;
			continue;
		}
		if (o == NULL) {
			o = pairs[i].observed = arena_new(a, struct observed);
		}
		o->n = 0;
		o->share = share;
		n_far++;
	}
	return n_far;
}

static double
share_of(struct harness *h, struct harness *p, const struct array *inputs,
	 const struct pair *pairs, int n)
{
	struct tolerance *t = arena_array(&h->m->arena, struct tolerance,
					  n + 1);
	double share;

	for (int i = 0; i < n; i++) {
		t[i] = pair_tolerance(h->cli, &pairs[i]);
	}
	share = observed_share(h->cli, inputs, p->n_inputs, t, n);
	return share > 0 && tirc_summary(h->t).tf32 ? fmax(share, TF32_EPSILON)
						    : share;
}

/* Runs h again on the same inputs, and notes the elements that differ from the
 * first run (observed.random). False after an error. */
static bool
mark_random(struct harness *h, const struct array *inputs, struct pair *pairs,
	    int n)
{
	struct arena *a = &h->m->arena;
	struct array *now = arena_array(a, struct array, h->n_results + 1);

	if (!harness_run(h, inputs, now)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (pairs[i].observed != NULL) {
			pairs[i].observed->random =
				find_random(a, &now[pairs[i].result],
					    pairs[i].got);
		}
	}
	return true;
}

/* -- floats computed from integers -- */

/* The program with additional inputs, factors of the floats that are computed
 * from integers; built by the first call. NULL if there are no such floats. */
static struct harness *
with_factors(struct harness *h)
{
	struct cli *c;
	struct tirc *t;
	int more;

	if (h->tried_factors || h->cli->tirc.regions != NULL ||
	    tirc_is_partition(h->cli->model)) {
		return h->factors;
	}
	h->tried_factors = true;
	c = harness_twin_options(h);
	c->tirc.factors = true;
	if (c->tirc.results != NULL) {
		c->tirc.results = "each";
	}
	t = cli_open(c);
	if (t == NULL) {
		return NULL;
	}
	more = tirc_input_count(t) - tirc_state_count(t) -
	       tirc_input_count(h->t);
	tirc_free(t);
	if (more > 0) {
		h->factors = arena_new(&h->m->arena, struct harness);
		if (!harness_open(h->factors, c)) {
			harness_close(h->factors);
			h->factors = NULL;
		}
	}
	return h->factors;
}

/* By pair: the index of the same result in the program f with factors. */
static int *
same_results(const struct harness *h, const struct harness *f,
	     const struct pair *pairs, int n)
{
	int *list = arena_array(&h->m->arena, int, n + 1);
	int n_out = tirc_output_count(h->t), n_f = tirc_output_count(f->t);

	for (int i = 0; i < n; i++) {
		const char *name;

		list[i] = pairs[i].result;
		if (h->cli->tirc.results == NULL) {
			continue;
		}
		if (list[i] >= n_out) {
			list[i] += n_f - n_out;
			continue;
		}
		name = tirc_output_model_name(h->t, list[i]);
		list[i] = -1;
		for (int k = 0; k < n_f && name != NULL && list[i] < 0; k++) {
			const char *own = tirc_output_model_name(f->t, k);

			list[i] = own != NULL && strcmp(own, name) == 0 ? k
									: -1;
		}
	}
	return list;
}

static struct array
ones(struct arena *a, struct tirc_tensor x)
{
	struct array y = harness_zeros(a, x);

	for (int64_t i = 0; i < y.elems; i++) {
		number_store(y.type, y.data, (size_t)i,
			     (union number){ .f = 1 });
	}
	return y;
}

static void
observe_factors(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	struct harness *f = with_factors(h);
	struct arena *a = &h->m->arena;
	int n_in = h->n_inputs;
	struct array *given;
	double share;
	int *result;

	if (f == NULL) {
		return;
	}
	given = arena_array(a, struct array, tirc_input_count(f->t) + 1);
	for (int i = 0; i < tirc_input_count(f->t); i++) {
		given[i] = i < n_in ? inputs[i] : ones(a, tirc_input(f->t, i));
	}
	share = share_of(h, f, given, pairs, n);
	result = same_results(h, f, pairs, n);
	begin(h, pairs, share, result, n);
	if (harness_set_states(f, h->states)) {
		observe(h, f, given, share, pairs, result, n);
	}
}

void
harness_observe(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	double share = share_of(h, h, inputs, pairs, n);
	int *result = arena_array(&h->m->arena, int, n + 1);

	for (int i = 0; i < n; i++) {
		result[i] = pairs[i].result;
	}
	/* --atol is the user's tolerance, which perturbed runs must not
	 * widen. */
	if (h->cli->atol >= 0 || begin(h, pairs, share, result, n) == 0 ||
	    !mark_random(h, inputs, pairs, n)) {
		return;
	}
	if (share > 0) {
		observe(h, h, inputs, share, pairs, result, n);
	}
	for (int i = 0; i < n; i++) {
		if (!pair_near(h->cli, &pairs[i])) {
			observe_factors(h, inputs, pairs, n);
			return;
		}
	}
}

bool
harness_compare(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	bool ok = true;

	harness_observe(h, inputs, pairs, n);
	for (int i = 0; i < n; i++) {
		ok = pair_report(h->cli, &pairs[i]) && ok;
	}
	return ok;
}
