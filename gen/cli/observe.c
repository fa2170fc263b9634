/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program on perturbed inputs, if an output has elements beyond their
 * tolerance. Integer inputs cannot be perturbed, and quantization in a model
 * hides perturbations of its inputs. Then the floats that the model computes
 * from integers are perturbed: in a second program, additional inputs are
 * factors of these floats (passes/graph/factors.c).
 *
 * With --precision, weights and operands of products are rounded to a narrow
 * type. What that does to a result does not follow from a change of the inputs:
 * an input of zeros has none, and a weight is changed for all elements that it
 * is multiplied by. So each rounded element is perturbed by itself, by the
 * `inputs` of the narrow type, and all that is not rounded by those of its own
 * type. */
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
 * its results to pairs[i].observed. shares: of each input. result[i]: the index
 * of pair i among the results of p; -1: nothing is added to it. */
static void
observe(struct harness *h, struct harness *p, const struct array *inputs,
	const double *shares, struct pair *pairs, const int *result, int n)
{
	struct arena *a = &h->m->arena;
	int n_in = p->n_inputs;
	struct array *given = arena_array(a, struct array, n_in + 1);
	struct array *now = arena_array(a, struct array, p->n_results + 1);
	uint64_t state = RANDOM_SEED;

	for (int run = 0; run < OBSERVED_RUNS; run++) {
		struct arena moved; /* weights are large */
		bool ran;

		arena_init(&moved);
		for (int i = 0; i < n_in; i++) {
			given[i] = observed_moved(&moved, &inputs[i], shares[i],
						  &state);
		}
		ran = harness_run(p, given, now);
		arena_release(&moved);
		if (!ran) {
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

/* The relative perturbations of a program: `plain`, of its inputs and of floats
 * that follow from integers; `rounded`, of what --precision rounds. */
struct shares {
	double plain, rounded;
};

/* Prepares new perturbed runs for the pairs that have elements beyond their
 * tolerance: discards the runs in `observed`, and sets observed.share to the
 * perturbation of the elements whose rounding the tolerance is for. The other
 * pairs keep their runs, as do pairs with another number of elements than
 * expected, which no run explains: their result[i] becomes -1. */
static void
begin(struct harness *h, struct pair *pairs, struct shares s, int *result,
      int n)
{
	for (int i = 0; i < n; i++) {
		struct observed *o = pairs[i].observed;

		if (pair_near(h->cli, &pairs[i]) ||
		    pairs[i].got->elems != pairs[i].want->elems) {
			result[i] = -1;
			continue;
		}
		o->n = 0;
		o->share = pair_tolerance(h->cli, &pairs[i]).inputs < s.rounded
				   ? s.plain
				   : s.rounded;
	}
}

/* The shares of a program with these inputs, if what --precision rounds is
 * perturbed (apart), or if all is perturbed by the largest one. */
static struct shares
shares_of(struct harness *h, const struct array *inputs, int n_inputs,
	  bool apart, const struct pair *pairs, int n)
{
	struct tolerance *t = arena_array(&h->m->arena, struct tolerance,
					  n + 1);
	struct shares s;

	for (int i = 0; i < n; i++) {
		t[i] = pair_tolerance(h->cli, &pairs[i]);
	}
	s.plain = observed_share(h->cli, inputs, n_inputs, t, apart ? 0 : n);
	if (s.plain > 0 && tirc_summary(h->t).tf32) {
		s.plain = fmax(s.plain, TF32_EPSILON);
	}
	s.rounded = s.plain;
	for (int i = 0; apart && i < n; i++) {
		s.rounded = fmax(s.rounded, t[i].inputs);
	}
	return s;
}

/* Runs h again on the same inputs, and notes the elements that differ from the
 * first run, in new `observed` of the pairs. False after an error. */
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
		pairs[i].observed = arena_new(a, struct observed);
		pairs[i].observed->random = find_random(a,
							&now[pairs[i].result],
							pairs[i].got);
	}
	return true;
}

/* -- factors -- */

static bool
has_precision(const struct cli *c)
{
	return c->tirc.precision != NULL &&
	       strcmp(c->tirc.precision, "f32") != 0;
}

/* Opens h->factors, which stays NULL if that fails or no input is added. */
static void
open_factors(struct harness *h, struct cli *c, int n_from_integers)
{
	struct harness *f = arena_new(&h->m->arena, struct harness);

	if (!harness_open(f, c) || f->n_inputs == h->n_inputs) {
		harness_close(f);
		return;
	}
	f->n_from_integers = n_from_integers;
	h->factors = f;
}

/* The program with additional inputs, factors of the floats that are computed
 * from integers or rounded; built by the first call. NULL if there are no such
 * floats. */
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
	if (more > 0 || has_precision(c)) {
		open_factors(h, c, more);
	}
	return h->factors;
}

/* Is what --precision rounds perturbed by factors? */
static bool
perturbs_rounded(struct harness *h)
{
	struct harness *f = has_precision(h->cli) ? with_factors(h) : NULL;

	return f != NULL && f->n_inputs > h->n_inputs + f->n_from_integers;
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

/* Runs p on perturbed inputs for the pairs that are not near. result: as for
 * observe(). */
static void
observe_far(struct harness *h, struct harness *p, const struct array *inputs,
	    struct pair *pairs, int *result, int n)
{
	int n_plain = h->n_inputs + p->n_from_integers;
	bool apart = p != h && p->n_inputs > n_plain;
	struct shares s = shares_of(h, inputs, apart ? n_plain : p->n_inputs,
				    apart, pairs, n);
	double *shares = arena_array(&h->m->arena, double, p->n_inputs + 1);

	for (int i = 0; i < p->n_inputs; i++) {
		shares[i] = i < n_plain ? s.plain : s.rounded;
	}
	begin(h, pairs, s, result, n);
	for (int i = 0; i < n; i++) {
		if (result[i] >= 0) {
			pairs[i].observed->twin = p != h;
		}
	}
	if (s.rounded > 0) {
		observe(h, p, inputs, shares, pairs, result, n);
	}
}

static void
observe_factors(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	struct harness *f = with_factors(h);
	struct arena *a = &h->m->arena;
	struct array *given;

	if (f == NULL || !harness_set_states(f, h->states)) {
		return;
	}
	given = arena_array(a, struct array, f->n_inputs + 1);
	for (int i = 0; i < f->n_inputs; i++) {
		given[i] = i < h->n_inputs ? inputs[i]
					   : ones(a, tirc_input(f->t, i));
	}
	observe_far(h, f, given, pairs, same_results(h, f, pairs, n), n);
}

/* Is a pair not near? */
static bool
any_far(struct harness *h, const struct pair *pairs, int n)
{
	for (int i = 0; i < n; i++) {
		if (!pair_near(h->cli, &pairs[i])) {
			return true;
		}
	}
	return false;
}

void
harness_observe(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	int *result = arena_array(&h->m->arena, int, n + 1);

	for (int i = 0; i < n; i++) {
		result[i] = pairs[i].result;
	}
	/* --atol is the user's tolerance, which perturbed runs must not
	 * widen. */
	if (h->cli->atol >= 0 || !any_far(h, pairs, n) ||
	    !mark_random(h, inputs, pairs, n)) {
		return;
	}
	if (!perturbs_rounded(h)) {
		observe_far(h, h, inputs, pairs, result, n);
	}
	if (any_far(h, pairs, n)) {
		observe_factors(h, inputs, pairs, n);
	}
}
bool
harness_compare(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	bool ok = true;

	harness_observe(h, inputs, pairs, n);
	for (int i = 0; i < n; i++) {
		ok = pair_report(h->cli, &pairs[i]) != PAIR_FAILED && ok;
	}
	return ok;
}
