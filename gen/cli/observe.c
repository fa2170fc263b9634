/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program on perturbed inputs if an output has elements beyond their
 * tolerance, to find how far rounding errors may move these elements. Integer
 * inputs cannot be perturbed, and quantization in a model hides perturbations
 * of its inputs. In these cases a second program is built with additional
 * inputs, which are factors of the floats that the model computes from integers
 * (passes/graph/perturb_factors.c); perturbing the factors perturbs these floats.
 *
 * Rounding errors of convolutions by Winograd's tiles do not follow from changes of
 * the inputs, either; there, factors perturb the transformed tiles.
 *
 * With --precision, weights and operands of products are rounded to a narrow
 * type. A change of the inputs does not have the same effect: an input of zeros
 * stays zero, and a weight changes for all elements that it is multiplied by.
 * So factors perturb each rounded element separately, by the field `inputs` of
 * the narrow type's tolerance, and all other elements by that of their own
 * type. */
#include <math.h>
#include <string.h>

#include "compare.h"
#include "random.h"

/* The smallest perturbation if operands of products are rounded to tf32; a
 * smaller one could vanish in the rounding. */
#define TF32_EPSILON 0x1p-10

/* Transformed tiles of Winograd's algorithm change by this part of the change of the
 * inputs, that is, by 21 units in the last place. The sums of tiles amplify a change more
 * than the sums of a direct convolution do. With this part, the width of a result is
 * about 20 times the result's error in both algorithms. */
#define TILE_PART 0.25

/* Returns for each element whether it differs between `was` and `again`, the
 * results of two runs on the same inputs; NULL if no element differs, or if the
 * two have different numbers of elements. */
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

/* Is one run of the program enough? True if each output is near the expected
 * one and no element is on the other side of a step. Otherwise more runs show
 * how many elements rounding errors move over a step. */
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

/* Runs the program p (h itself, or h->factors) several times on perturbed
 * inputs and adds the results to pairs[i].observed. shares: the perturbation of
 * each input. result[i]: the index of pair i among the results of p, or -1 to
 * leave the pair out. */
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
		/* released after each run, because weights are large */
		struct arena moved;
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
			/* the size of a result may depend on the values of
			 * inputs */
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

/* The relative perturbations of the inputs of a program: `plain` for its own
 * inputs and for factors of floats that are computed from integers, `rounded`
 * for factors of floats that --precision rounds. */
struct shares {
	double plain, rounded;
};

/* Prepares new perturbed runs for the pairs that have elements beyond their
 * tolerance: discards their earlier runs and sets observed.share. The other
 * pairs keep their earlier runs, and result[i] becomes -1 for them, and also
 * for a pair with a wrong number of elements, which no perturbation
 * explains. */
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

/* The perturbations for a program with these inputs. apart: the program has
 * factors for the floats that --precision rounds; otherwise one perturbation,
 * the largest, serves for all inputs. */
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

/* Runs h again on the same inputs, and stores in new pairs[i].observed which
 * elements differ from the first run; a twin is deterministic and does not run.
 * Returns false after an error. */
static bool
mark_random(struct harness *h, const struct array *inputs, struct pair *pairs,
	    int n)
{
	struct arena *a = &h->m->arena;
	struct array *now = arena_array(a, struct array, h->n_results + 1);

	for (int i = 0; i < n; i++) {
		pairs[i].observed = arena_new(a, struct observed);
	}
	if (h->twin) {
		return true;
	}
	if (!harness_run(h, inputs, now)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
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

/* Builds h->factors; it stays NULL if that fails or no input is added. */
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

/* The program with additional inputs that are factors of the floats that are
 * computed from integers, rounded by --precision, or tiles of Winograd's algorithm.
 * The first call builds it.
 * NULL if the model has no such floats. */
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
	if (more > 0 || has_precision(c) ||
	    tirc_summary(h->t).winograd_convolutions > 0) {
		open_factors(h, c, more);
	}
	return h->factors;
}

/* Does h->factors exist and have factors for the floats that --precision
 * rounds? */
static bool
perturbs_rounded(struct harness *h)
{
	struct harness *f = has_precision(h->cli) ? with_factors(h) : NULL;

	return f != NULL && f->n_inputs > h->n_inputs + f->n_from_integers;
}

/* For each pair: the index of its result among the results of f, the program
 * with factors, or -1 if f does not have this result. */
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

/* Runs p on perturbed inputs for the pairs that exceed their tolerance. result:
 * as for observe(). */
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
		shares[i] = i < n_plain             ? s.plain
			    : has_precision(h->cli) ? s.rounded
						    : s.plain * TILE_PART;
	}
	begin(h, pairs, s, result, n);
	for (int i = 0; i < n; i++) {
		if (result[i] >= 0) {
			pairs[i].observed->twin = h->twin || p != h;
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

/* Does a pair exceed its tolerance? */
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
	/* If the user gives --atol, that is the tolerance, and perturbed runs
	 * must not widen it. */
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
