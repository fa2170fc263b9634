/* SPDX-License-Identifier: Apache-2.0 */
/* Interval analysis of quantized graphs: bounds of each channel's elements.
 *
 *	x[c] in [low, high]
 *	s = tirc.Conv (x, w, b)		b + sum of min(w * low, w * high), ...
 *	y = tirc.Requantize (s, …)	[f(low), f(high)]
 *
 * Sums are bounded term by term; a strided ConvTranspose has several sums for
 * each channel, which read different weights. Monotonic functions are evaluated
 * for the lower and the upper bounds, by the definitions of their operators. */
#include "channels.h"

#include <math.h>

#include "window.h"

/* The most elements for which a node is evaluated. */
enum { MOST_ELEMS = 1 << 18 };

/* Sets the bounds of each channel to the limits of type t; they are infinite if
 * t is a float. */
static void
type_bounds(struct channels *c, struct dtype t)
{
	bool known = dtype_is_int(t) && dtype_bits(t) <= 32;

	for (int64_t i = 0; i < c->n; i++) {
		c->low[i] = known ? (double)dtype_min_int(t) : -INFINITY;
		c->high[i] = known ? (double)dtype_max_int(t) : INFINITY;
	}
}

static struct channels *
channels_new(struct graph *g, const struct tensor *t)
{
	struct arena *a = &g->module->arena;
	struct channels *c = arena_new(a, struct channels);

	c->n = channel_count(t);
	c->low = arena_array(a, double, c->n + 1);
	c->high = arena_array(a, double, c->n + 1);
	c->needed = arena_array(a, bool, c->n + 1);
	type_bounds(c, t->type);
	return c;
}

/* -- products -- */

enum { MOST_PHASES = 4096 };

/* The weights that one output element of a product sums depend on its position
 * modulo the stride (count_phases). A phase is a number for such a position,
 * and so for a sum. */
struct phases {
	int64_t n;
	int64_t *of_tap;    /* by tap: the phase in which the tap is summed */
	double *low, *high; /* by phase */
};

/* Adds the bounds of w * x, for all x from low to high, to the bounds of a
 * sum. */
static void
add_term(int64_t w, double low, double high, double *sum_low, double *sum_high)
{
	*sum_low += (double)w * (w > 0 ? low : high);
	*sum_high += (double)w * (w > 0 ? high : low);
}

/* The number of sums that read different weights: a strided ConvTranspose has
 * one for each of the positions between its strides; other products have one
 * sum. A ConvTranspose with more than MOST_PHASES such positions is treated as
 * one sum of all weights. */
static int64_t
count_phases(const struct node *n)
{
	const int64_t *strides;
	int64_t phases = 1;

	if (!node_is_internal(n, "ConvTranspose")) {
		return 1;
	}
	for (int i = node_attr_ints(n, "strides", &strides); i-- > 0;) {
		phases *= strides[i];
		if (phases > MOST_PHASES) {
			return 1;
		}
	}
	return phases;
}

/* The number of the phase whose sum reads the tap. Along each dimension, tap k
 * adds to the positions p with (p - k * dilation) % stride = 0. */
static int64_t
phase_of_tap(const struct node *n, int64_t phases, int64_t tap)
{
	const struct tensor *w = n->inputs[1];
	const int64_t *strides, *dilations;
	int64_t phase = 0, scale = 1, kernel;
	bool dilated = node_attr_ints(n, "dilations", &dilations) > 0;

	if (phases == 1) {
		return 0;
	}
	for (int d = node_attr_ints(n, "strides", &strides); d-- > 0;) {
		if (!expr_is_int(w->shape[2 + d], &kernel)) {
			kernel = 1;
		}
		phase += scale * (tap % kernel * (dilated ? dilations[d] : 1) %
				  strides[d]);
		scale *= strides[d];
		tap /= kernel;
	}
	return phase;
}

/* Adds to sums, for each phase, the bounds of the products that are summed for
 * output channel o; they read the w->from channels of x from `first` on. The
 * bias is not included. */
static void
bound_sums(const struct node *n, const struct channel_weights *w,
	   const struct channels *x, int64_t first, int64_t o,
	   const struct phases *sums)
{
	double outside, zero = (double)channel_x_zero(n);
	bool reads = channel_reads_outside(n, &outside);

	for (int64_t i = 0; i < w->from; i++) {
		double a = x->low[first + i], b = x->high[first + i];

		a = reads && outside < a ? outside : a;
		b = reads && outside > b ? outside : b;
		for (int64_t k = 0; k < w->taps; k++) {
			int64_t phase = sums->of_tap[k];

			add_term(channel_weight(w, o, i, k), a - zero, b - zero,
				 &sums->low[phase], &sums->high[phase]);
		}
	}
}

static bool
bound_product(struct graph *g, const struct node *n, const struct channels *x,
	      struct channels *y)
{
	struct channel_weights w;
	int64_t n_bias;
	const double *bias = constant_doubles(g, n->inputs[2], &n_bias);
	struct arena *a = &g->module->arena;
	int64_t group = node_attr_int(n, "group", 1);
	struct phases sums = { .n = count_phases(n) };

	if (!channel_weights(g, n, &w) || !bias) {
		return g->module->diags.n_errors == 0;
	}
	sums.low = arena_array(a, double, sums.n);
	sums.high = arena_array(a, double, sums.n);
	sums.of_tap = arena_array(a, int64_t, w.taps + 1);
	for (int64_t k = 0; k < w.taps; k++) {
		sums.of_tap[k] = phase_of_tap(n, sums.n, k);
	}
	for (int64_t o = 0; o < y->n; o++) {
		double low = INFINITY, high = -INFINITY;

		for (int64_t i = 0; i < sums.n; i++) {
			sums.low[i] = sums.high[i] = bias[n_bias > 1 ? o : 0];
		}
		bound_sums(n, &w, x, o * group / y->n * w.from, o, &sums);
		for (int64_t i = 0; i < sums.n; i++) {
			low = fmin(low, sums.low[i]);
			high = fmax(high, sums.high[i]);
		}
		/* A sum that does not fit in 32 bits may wrap: then its bounds
		 * stay unknown. */
		if (low >= INT32_MIN && high <= INT32_MAX) {
			y->low[o] = low;
			y->high[o] = high;
		}
	}
	return true;
}

/* -- monotonic functions -- */

static bool
is_pool(const struct node *n)
{
	return n->op->fuse == FUSE_REDUCTION;
}

/* A constant with two rows, the lower and the upper bounds of x's channels, in
 * a shape that n accepts as its input. NULL if a bound or a size of the window
 * is not known, or the rows are too long. */
static struct tensor *
rows_of_bounds(struct graph *scratch, const struct node *n,
	       const struct tensor *t, const struct channels *x)
{
	int64_t shape[8] = { 2, x->n }, each = 1;
	int most = (int)(sizeof shape / sizeof *shape);
	int64_t reads = is_pool(n) ? pool_window_elems(n) : 1;
	void *data;

	if (t->ndim > most) {
		return NULL;
	}
	for (int d = 2; d < t->ndim; d++) {
		shape[d] = 1;
		if ((is_pool(n) && !expr_is_int(t->shape[d], &shape[d])) ||
		    shape[d] > MOST_ELEMS) {
			return NULL;
		}
		each *= shape[d];
		if (each * x->n > MOST_ELEMS / reads) {
			return NULL;
		}
	}
	data = arena_alloc(&scratch->module->arena,
			   (size_t)(2 * x->n * each) *
					   (size_t)dtype_bytes(t->type) +
				   1);
	for (int64_t i = 0; i < 2 * x->n * each; i++) {
		int64_t c = i / each % x->n;
		double v = i < x->n * each ? x->low[c] : x->high[c];

		if (!isfinite(v)) {
			return NULL;
		}
		number_store(t->type, data, (size_t)i,
			     dtype_is_float(t->type)
				     ? (union number){ .f = v }
				     : (union number){ .i = (int64_t)v });
	}
	return graph_constant(scratch, "x", t->type, t->ndim, shape, data);
}

/* Sets the bounds of each channel to the smaller and the larger element of the
 * two rows: with a negative factor the function decreases. `error`: the
 * relative error of each element. A channel with NaN keeps its bounds. */
static void
read_rows(struct channels *y, const struct value *v, double error)
{
	int64_t each = v->elems / (2 * y->n);

	for (int64_t c = 0; c < y->n; c++) {
		double low = INFINITY, high = -INFINITY;
		bool numbers = true;

		for (int64_t i = 0; i < 2 * each; i++) {
			int64_t at = (i / each * y->n + c) * each + i % each;
			union number e = number_load(v->type, v->data,
						     (size_t)at);
			double x = dtype_is_float(v->type) ? e.f : (double)e.i;

			numbers = numbers && !isnan(x);
			low = fmin(low, x - error * fabs(x));
			high = fmax(high, x + error * fabs(x));
		}
		if (numbers) {
			y->low[c] = low;
			y->high[c] = high;
		}
	}
}

/* The relative error of n's result: above 0 for a float average, because the
 * order in which it is summed is not known yet. */
static double
error_of(const struct node *n)
{
	return is_pool(n) && dtype_is_float(n->outputs[0]->type)
		       ? (double)pool_window_elems(n) * 0x1p-23
		       : 0;
}

/* Can a sum to which n adds its offset, or a product in TFLite's
 * requantization, exceed 32 bits and wrap? x: the bounds of these sums; NULL if
 * they are not known. */
static bool
may_wrap(struct graph *g, const struct node *n, const struct channels *x)
{
	int64_t count = 0;
	const double *exponent = NULL;
	double offset = 0;

	if (node_is_internal(n, "Requantize")) {
		offset = (double)node_attr_int(n, "offset", 0);
		exponent = n->n_inputs > 2
				   ? constant_doubles(g, n->inputs[2], &count)
				   : NULL;
	}
	for (int64_t i = 0; offset != 0 && x && i < x->n; i++) {
		if (x->low[i] + offset < INT32_MIN ||
		    x->high[i] + offset > INT32_MAX) {
			return true;
		}
	}
	for (int64_t i = 0; i < count; i++) {
		if (exponent[i] > 0) {
			return true;
		}
	}
	return false;
}

static bool
bound_function(struct graph *g, const struct node *n,
	       struct channels *const *of, struct channels *y)
{
	struct module *m = g->module;
	struct graph *scratch = graph_new(m, "bounds");
	struct tensor **in = arena_array(&m->arena, struct tensor *,
					 n->n_inputs + 1);
	const struct value *value;
	struct tensor *rows;

	if (may_wrap(g, n, n->inputs[0] ? of[n->inputs[0]->id] : NULL)) {
		return true;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *t = n->inputs[i];
		const struct value *v;
		int64_t shape[8] = { 0 };

		if (!t) {
			continue;
		}
		if (!tensor_is_constant(t)) {
			in[i] = of[t->id] ? rows_of_bounds(scratch, n, t,
							   of[t->id])
					  : NULL;
			if (!in[i]) {
				return true;
			}
			continue;
		}
		v = tensor_value(g, t);
		if (!v || !v->data || t->ndim > 1) {
			return m->diags.n_errors == 0;
		}
		shape[0] = v->elems;
		in[i] = graph_constant(scratch, t->name, t->type, t->ndim,
				       shape, v->data);
	}
	rows = constant_of(scratch, n, in);
	value = rows ? tensor_value(scratch, rows) : NULL;
	if (!value) {
		return false;
	}
	if (value->data && value->elems % (2 * y->n) == 0) {
		read_rows(y, value, error_of(n));
	}
	return true;
}

/* -- all tensors -- */

/* Copies x's bounds to y; sets infinite bounds if x is NULL, because its
 * channels are not known. */
static void
copy_bounds(struct channels *y, const struct channels *x)
{
	for (int64_t i = 0; x && i < x->n; i++) {
		y->low[i] = x->low[i];
		y->high[i] = x->high[i];
	}
}

/* The result of a MaxPool's window without an element of x is the lowest number
 * of the type, whatever the bounds of x. */
static void
bound_pool(struct graph *g, const struct node *n, const struct channels *x,
	   struct channels *y)
{
	struct window w;
	bool misses = window_of_node(g->module, n, NULL, false, &w) != NULL;

	for (int d = 0; !misses && d < w.n; d++) {
		misses = window_may_miss(g->module, &w, d);
	}
	copy_bounds(y, misses ? NULL : x);
}

static bool
bound_node(struct graph *g, const struct node *n, struct channels **of)
{
	const struct tensor *y = n->outputs[0];
	const struct channels *x = n->n_inputs > 0 && n->inputs[0]
					   ? of[n->inputs[0]->id]
					   : NULL;

	if (channel_product(n)) {
		return !x || bound_product(g, n, x, of[y->id]);
	}
	switch (channel_role(n)) {
	case CHANNELS_ALIKE:
		if (!node_is(n, "MaxPool")) {
			return bound_function(g, n, of, of[y->id]);
		}
		bound_pool(g, n, x, of[y->id]);
		return true;
	case CHANNELS_VIEW:
		copy_bounds(of[y->id], x);
		return true;
	case CHANNELS_MIXED:
	case CHANNELS_SINGLE:
	case CHANNELS_OTHER:
		break;
	}
	return true;
}

bool
channel_bounds(struct graph *g, struct channels **of)
{
	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		of[i] = channel_count(t) > 0 && !tensor_is_constant(t)
				? channels_new(g, t)
				: NULL;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!bound_node(g, g->nodes.data[i], of)) {
			return false;
		}
	}
	return true;
}
