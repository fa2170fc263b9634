/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the magnitude of the terms of an output element's sum. For y = a -
 * b the rounding error depends on a and b, but the output is only y. If each
 * input element changes by a relative distance d, up or down at random, y
 * changes by about d times the magnitude of a and b: the change divided by d is
 * the estimate. There are several runs, because a and b may change alike in one
 * of them. */
#include <math.h>
#include <string.h>

#include "compare.h"

enum { RUNS = 8 };

#define TF32_EPSILON 0x1p-10

double
error_scale_epsilon(const struct array *inputs, int n)
{
	double most = 0;

	for (int i = 0; i < n; i++) {
		if (dtype_is_float(inputs[i].type)) {
			most = fmax(most, dtype_epsilon(inputs[i].type));
		}
	}
	return most;
}

struct array
error_scale_moved(struct arena *a, const struct array *x, double share,
		  uint64_t *state)
{
	struct array y = *x;
	size_t bytes = (size_t)x->elems * (size_t)dtype_bytes(x->type);

	if (!dtype_is_float(x->type)) {
		return y;
	}
	y.data = arena_copy(a, x->data, bytes);
	for (int64_t i = 0; i < x->elems; i++) {
		union number v = number_load(x->type, x->data, (size_t)i);

		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		v.f *= *state >> 63 ? 1 + share : 1 - share;
		number_store(x->type, y.data, (size_t)i, v);
	}
	return y;
}

void
error_scale_see(const struct array *now, const struct array *was, double share,
		double *terms)
{
	for (int64_t i = 0; i < was->elems; i++) {
		double a = number_load(was->type, was->data, (size_t)i).f;
		double b = number_load(now->type, now->data, (size_t)i).f;

		if (terms[i] >= 0 && isfinite(a) && isfinite(b)) {
			terms[i] = fmax(terms[i], fabs(b - a) / share);
		}
	}
}

static double *
zeros(struct arena *a, int64_t n)
{
	double *list = arena_array(a, double, n + 1);

	for (int64_t i = 0; i < n; i++) {
		list[i] = 0;
	}
	return list;
}

/* Makes the terms of elements negative that differ between two runs on the same
 * inputs: that is no rounding error. */
static void
mark_random(const struct array *again, const struct array *was, double *terms)
{
	size_t bytes = (size_t)dtype_bytes(was->type);

	for (int64_t i = 0; i < was->elems; i++) {
		const unsigned char *a = was->data, *b = again->data;

		if (memcmp(a + (size_t)i * bytes, b + (size_t)i * bytes,
			   bytes) != 0) {
			terms[i] = -1;
		}
	}
}

/* Is every output near enough with its terms so far? More runs only raise
 * them. */
static bool
all_near(struct cli *c, struct pair *pairs, double **terms, int n)
{
	bool near = true;

	for (int i = 0; i < n; i++) {
		pairs[i].terms = terms[i];
		near = near && pair_near(c, &pairs[i]);
	}
	return near;
}

static void
measure(struct harness *h, const struct array *inputs, double share,
	struct pair *pairs, double **terms, int n)
{
	struct arena *a = &h->m->arena;
	int n_in = tirc_input_count(h->t);
	struct array *given = arena_array(a, struct array, n_in + 1);
	struct array *now = arena_array(a, struct array, n + 1);
	uint64_t state = 0x9e3779b97f4a7c15u;

	if (!harness_run(h, inputs, now)) {
		return;
	}
	for (int i = 0; i < n; i++) {
		if (terms[i] != NULL) {
			mark_random(&now[i], pairs[i].got, terms[i]);
		}
	}
	for (int run = 0; run < RUNS; run++) {
		for (int i = 0; i < n_in; i++) {
			given[i] = error_scale_moved(a, &inputs[i], share,
						     &state);
		}
		if (!harness_run(h, given, now)) {
			return;
		}
		for (int i = 0; i < n; i++) {
			if (terms[i] != NULL) {
				error_scale_see(&now[i], pairs[i].got, share,
						terms[i]);
			}
		}
		if (all_near(h->cli, pairs, terms, n)) {
			return;
		}
	}
}

/* For outputs that exceed their tolerance without terms. */
static void
find_terms(struct harness *h, const struct array *inputs, struct pair *pairs,
	   int n)
{
	double share = error_scale_epsilon(inputs, tirc_input_count(h->t));
	bool tf32 = tirc_summary(h->t).tf32;
	double **terms = arena_array(&h->m->arena, double *, n + 1);
	bool any = false;

	/* Operands rounded to tf32 show no smaller changes. */
	if (tf32 && share > 0) {
		share = fmax(share, TF32_EPSILON);
	}
	for (int i = 0; i < n; i++) {
		const struct array *got = pairs[i].got;

		terms[i] = NULL;
		if (share > 0 && h->cli->atol < 0 &&
		    dtype_is_float(got->type) &&
		    got->elems == pairs[i].want->elems &&
		    !pair_near(h->cli, &pairs[i])) {
			terms[i] = zeros(&h->m->arena, got->elems);
			any = true;
		}
	}
	if (any) {
		measure(h, inputs, share, pairs, terms, n);
	}
}

bool
harness_compare(struct harness *h, const struct array *inputs,
		struct pair *pairs, int n)
{
	bool ok = true;

	find_terms(h, inputs, pairs, n);
	for (int i = 0; i < n; i++) {
		ok = pair_report(h->cli, &pairs[i]) && ok;
	}
	return ok;
}
