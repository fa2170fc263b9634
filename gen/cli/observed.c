/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates how far rounding errors may move an element of an output. For y = a
 * - b the error depends on a and b, but the output shows only y. If each input
 * element is changed by a small random part of itself, y moves as far as
 * rounding errors of that size would move it. Where the model rounds, compares
 * or chooses, an element moves by a whole step, however small the change is.
 * The gaps between its values in several runs distinguish a step from a slope.
 *
 *	a slope: values     3.9998 3.9999 4.0000 4.0001 4.0003
 *	a step, floor(x):   3      3      4      4      4
 *
 * The gaps of a slope have similar widths; at a step a few gaps are wide and
 * the others nearly zero. So the median gap times the number of gaps is the
 * width of the slope without the step. If there is no step, the width is at
 * least the distance of the outermost values, since the median of a few gaps
 * may be small by chance. */
#include <math.h>

#include "compare.h"
#include "random.h"

#define SQRT_3 1.7320508075688772
/* A gap between values is a step if it is wider than STEP_WIDTHS times the
 * width (the median gap times the number of gaps). The widest gap between
 * random values is rarely more than half a width. */
enum { STEP_WIDTHS = 4 };

double
observed_share(const struct cli *c, const struct array *inputs, int n,
	       const struct tolerance *t, int n_results)
{
	double most = 0;

	for (int i = 0; i < n; i++) {
		if (dtype_is_float(inputs[i].type)) {
			struct tolerance own = compare_tolerance(c,
								 inputs[i].type,
								 NULL, 0);

			most = fmax(most, fmax(dtype_epsilon(inputs[i].type),
					       own.inputs));
		}
	}
	for (int i = 0; most > 0 && i < n_results; i++) {
		most = fmax(most, t[i].inputs);
	}
	return most;
}

struct array
observed_moved(struct arena *a, const struct array *x, double share,
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
		double u = random_fraction(random_next(state));

		v.f *= 1 + share * SQRT_3 * u;
		number_store(x->type, y.data, (size_t)i, v);
	}
	return y;
}

static void
insert(double *list, int n, double v)
{
	while (n > 0 && list[n - 1] > v) {
		list[n] = list[n - 1];
		n--;
	}
	list[n] = v;
}

void
observed_element(const struct observed *o, const struct array *got, int64_t i,
		 struct element *out)
{
	double gaps[OBSERVED_RUNS];
	double v = array_double(got, i);

	out->n = 0;
	out->width = 0;
	if (isfinite(v) && !o->twin) {
		insert(out->values, out->n++, v);
	}
	for (int run = 0; run < o->n; run++) {
		v = array_double(&o->runs[run], i);
		if (isfinite(v)) {
			insert(out->values, out->n++, v);
		}
	}
	for (int k = 1; k < out->n; k++) {
		insert(gaps, k - 1, out->values[k] - out->values[k - 1]);
	}
	if (out->n > 1 && (o->random == NULL || !o->random[i])) {
		out->width = (out->n - 1) * gaps[(out->n - 2) / 2];
		if (gaps[out->n - 2] <= STEP_WIDTHS * out->width) {
			out->width = fmax(out->width, out->values[out->n - 1] -
							      out->values[0]);
		}
	}
}

bool
element_steps(const struct element *e, double a, double b)
{
	double low = fmin(a, b), high = fmax(a, b);

	for (int k = 1; k < e->n; k++) {
		if (e->values[k - 1] >= low && e->values[k] <= high &&
		    e->values[k] - e->values[k - 1] > STEP_WIDTHS * e->width) {
			return true;
		}
	}
	return false;
}

double
element_width(const struct element *e, const struct observed *o,
	      const struct tolerance *t)
{
	return e->width * fmin(1, t->inputs / o->share);
}
