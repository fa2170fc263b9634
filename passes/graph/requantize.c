/* SPDX-License-Identifier: Apache-2.0 */
/* Requantization by multiply and shift: each tirc.Requantize that the pass
 * `integers` made becomes one product of integers, proven exact.
 *
 *	y = tirc.Requantize (x, scale)
 *	=>
 *	y = tirc.MultiplyShift (x, multiplier, addend) {left, right}
 *	    clamp((high (x * 2^left * multiplier) + addend) >> right)
 *
 * Requantize and the new form are functions of x that never decrease and have
 * at most 256 values. The two are equal if they step from each value to the
 * next at the same x. This is proven for each channel and for all x within the
 * bounds of the sum (channel_bounds.c): each step bounds the addend, and the
 * proof succeeds if the bounds leave an addend:
 *
 *	high (T * 2^left * multiplier) + addend >= value * 2^right
 *	high ((T - 1) * 2^left * multiplier) + addend < value * 2^right
 *
 * where T is the smallest x with Requantize (x) >= value. TFLite rounds half
 * away from zero, so that negative x may need another addend: the input
 * `negative` is the difference. ONNX rounds half to even, which makes a
 * difference for scales such as 2^-7: with the attribute `even`, 1 is added
 * before the shift if the result is odd. Averages, whose factor is 1 / count,
 * round half away from zero and are proven in the same way. If the proof fails
 * for a channel, the tensor keeps its Requantize. */
#include <math.h>

#include "quantization.h"
#include "requantize.h"
#include "scalar.h"

/* |value| * 2^right must fit in 32 bits for each value of the result. */
enum { MOST_RIGHT = 21 };

/* Multipliers are tried up to this distance from the rounded exact one. */
enum { MOST_DISTANCE = 8 };

struct requantize {
	struct graph *g;
	const struct node *n;
	/* the intrinsic that defines the product of Requantize */
	enum intrin op;
	int64_t offset, zero, least, most;
	/* the number of elements of an average; 0 if the node is not an
	 * average */
	int64_t count;
	int axis;
	int64_t n_channels; /* the extent of `axis` */
	/* arrays of n_factors numbers; exponent is NULL if the node has no
	 * exponents */
	const double *factor, *exponent;
	int64_t n_factors;
	int64_t *low, *high; /* by channel: the bounds of x */
	int left, right;
	bool even;
	int32_t *multiplier;           /* by channel */
	struct addends *addend[SIGNS]; /* by channel */
	/* the largest magnitude of a sum that is shifted right */
	int64_t sum_most;
};

/* -- the definition -- */

static int64_t
clamped(const struct requantize *r, int64_t v)
{
	return v < r->least ? r->least : v > r->most ? r->most : v;
}

/* sum / count, rounded half away from zero. */
static int64_t
average_of(int64_t sum, int64_t count)
{
	return (sum + (sum > 0 ? count / 2 : -(count / 2))) / count;
}

/* The integer that Requantize gives for x in channel c. */
static int64_t
value_of(const struct requantize *r, int64_t c, int64_t x)
{
	int64_t at = r->n_factors > 1 ? c : 0, v;
	enum scalar_fault fault = SCALAR_FINE;
	struct dtype t = dtype_of(DT_I32);
	union number args[3] = { { .i = x + r->offset } };

	if (r->count > 0) {
		v = average_of(x + r->offset, r->count) + r->zero;
		return clamped(r, v);
	}
	if (r->op == INTRIN_SCALE_NEAREST) {
		args[1].f = r->factor[at];
	} else {
		args[1].i = (int64_t)r->factor[at];
		args[2].i = (int64_t)r->exponent[at];
	}
	v = scalar_call(r->op, t, t, args, &fault).i + r->zero;
	return clamped(r, v);
}

/* The factor of channel c as a real number. */
static double
scale_of(const struct requantize *r, int64_t c)
{
	int64_t at = r->n_factors > 1 ? c : 0;

	if (r->count > 0) {
		return 1.0 / (double)r->count;
	}
	return r->op == INTRIN_SCALE_NEAREST
		       ? r->factor[at]
		       : ldexp(r->factor[at], (int)r->exponent[at] - 31);
}

/* The smallest x in (below, high] with value_of(x) >= value; value_of(high) >=
 * value must hold. The search begins near the real solution. */
static int64_t
step_to(const struct requantize *r, int64_t c, int64_t below, int64_t high,
	int64_t value)
{
	double near = ceil(((double)(value - r->zero) - 0.5) / scale_of(r, c)) -
		      (double)r->offset;

	if (near - 2 > (double)below && near - 2 < (double)high &&
	    value_of(r, c, (int64_t)near - 2) < value) {
		below = (int64_t)near - 2;
	}
	if (near + 2 > (double)below && near + 2 < (double)high &&
	    value_of(r, c, (int64_t)near + 2) >= value) {
		high = (int64_t)near + 2;
	}
	while (high - below > 1) {
		int64_t x = below + (high - below) / 2;

		if (value_of(r, c, x) >= value) {
			high = x;
		} else {
			below = x;
		}
	}
	return high;
}

/* -- proofs -- */

/* The sum that is shifted to the right, before the addend is added: the high
 * word of x * 2^left * multiplier; if ties round to even, plus bit `right` of
 * this word. */
static int64_t
scaled(const struct requantize *r, int64_t c, int64_t x)
{
	int64_t high = (x * ((int64_t)1 << r->left) * r->multiplier[c]) >> 32;

	return high + (r->even ? high >> r->right & 1 : 0);
}

void
addend_at_least(int64_t *v, int64_t bound)
{
	*v = *v > bound ? *v : bound;
}

void
addend_at_most(int64_t *v, int64_t bound)
{
	*v = *v < bound ? *v : bound;
}

struct addends
both_addends(struct addends a, struct addends b)
{
	addend_at_least(&a.from, b.from);
	addend_at_most(&a.to, b.to);
	return a;
}

bool
no_addend(struct addends a)
{
	return a.to < a.from;
}

/* The range of addends for channel c with which every x from low to high gives
 * the value that Requantize gives. */
static struct addends
addends_of(const struct requantize *r, int64_t c, int64_t low, int64_t high)
{
	int64_t one = (int64_t)1 << r->right, x = low;
	int64_t first = value_of(r, c, low), last = value_of(r, c, high);
	/* the range of the addends with which the sum fits in 32 bits */
	struct addends a = { INT32_MIN - scaled(r, c, low),
			     INT32_MAX - scaled(r, c, high) };

	addend_at_least(&a.from, INT32_MIN);
	addend_at_most(&a.to, INT32_MAX);
	if (first > r->least) {
		addend_at_least(&a.from, first * one - scaled(r, c, low));
	}
	if (last < r->most) {
		addend_at_most(&a.to,
			       (last + 1) * one - 1 - scaled(r, c, high));
	}
	for (int64_t v = first + 1; v <= last && !no_addend(a); v++) {
		/* With scales above 1, the result skips some values. */
		x = value_of(r, c, x) < v ? step_to(r, c, x, high, v) : x;
		addend_at_least(&a.from, v * one - scaled(r, c, x));
		addend_at_most(&a.to, v * one - 1 - scaled(r, c, x - 1));
	}
	return a;
}

/* Finds the range of addends for the channel's current multiplier; false if
 * there is no such addend. */
static bool
find_addends(struct requantize *r, int64_t c)
{
	static const struct addends any = { INT32_MIN, INT32_MAX };
	int64_t low = r->low[c], high = r->high[c];
	struct addends negative = any, other = any;

	if (low < 0) {
		negative = addends_of(r, c, low, high < -1 ? high : -1);
	}
	if (high >= 0) {
		other = addends_of(r, c, low > 0 ? low : 0, high);
	}
	r->addend[NEGATIVE][c] = negative;
	r->addend[OTHER][c] = other;
	return !no_addend(negative) && !no_addend(other);
}

/* Is the result the same for all x of channel c, for example the lowest number,
 * before a Relu? Then the channel's multiplier is 0. The sums of such a channel
 * may be large: a channel that training has switched off has a small scale. */
static bool
is_constant(const struct requantize *r, int64_t c)
{
	return value_of(r, c, r->low[c]) == value_of(r, c, r->high[c]);
}

/* Finds a multiplier for channel c, if possible one with the same addend for
 * all x. */
static bool
prove_channel(struct requantize *r, int64_t c)
{
	double exact = ldexp(scale_of(r, c), 32 + r->right - r->left);
	double nearest = is_constant(r, c) ? 0 : nearbyint(exact);
	int distance = is_constant(r, c) ? 0 : MOST_DISTANCE;
	double found = -1;

	for (int i = 0; i <= 2 * distance; i++) {
		double m = nearest + (i % 2 == 0 ? i / 2 : -(i + 1) / 2);

		if (m < 0 || m > INT32_MAX) {
			continue;
		}
		r->multiplier[c] = (int32_t)m;
		if (!find_addends(r, c)) {
			continue;
		}
		if (!no_addend(both_addends(r->addend[NEGATIVE][c],
					    r->addend[OTHER][c]))) {
			return true;
		}
		found = found < 0 ? m : found;
	}
	if (found >= 0) {
		r->multiplier[c] = (int32_t)found;
		find_addends(r, c);
	}
	return found >= 0;
}

/* Returns the largest magnitude of x over the channels that are not constant.
 * Sets *n_constant to the number of constant channels, whose multipliers are
 * 0. */
static int64_t
most_shifted(const struct requantize *r, int64_t *n_constant)
{
	int64_t most = 1;

	*n_constant = 0;
	for (int64_t c = 0; c < r->n_channels; c++) {
		if (is_constant(r, c)) {
			++*n_constant;
			continue;
		}
		addend_at_least(&most, r->high[c]);
		addend_at_least(&most, -r->low[c]);
	}
	return most;
}

/* Sets r->left to the longest left shift with which the shifted x fits in 32
 * bits in all channels except constant ones, whose multiplier is 0. */
static void
choose_left(struct requantize *r)
{
	int64_t n_constant, most = most_shifted(r, &n_constant);

	r->left = 0;
	while (r->left < 30 && most << (r->left + 1) <= INT32_MAX) {
		r->left++;
	}
}

/* Sets r->right to the longest right shift with which multipliers and sums fit
 * in 32 bits; false if there is no such shift. */
static bool
choose_right(struct requantize *r)
{
	double scale = 0, sum = 0;

	for (int64_t c = 0; c < r->n_channels; c++) {
		double most = fmax((double)r->high[c], -(double)r->low[c]);

		if (!is_constant(r, c)) {
			scale = fmax(scale, scale_of(r, c));
			sum = fmax(sum, most * scale_of(r, c));
		}
	}
	r->right = MOST_RIGHT;
	while (r->right >= 0 &&
	       (ldexp(scale, 32 + r->right - r->left) >= 0x1p31 ||
		ldexp(sum + 512, r->right) >= 0x1p31)) {
		r->right--;
	}
	return r->right >= 0;
}

static bool
prove_all(struct requantize *r, bool even)
{
	r->even = even;
	for (int64_t c = 0; c < r->n_channels; c++) {
		if (!prove_channel(r, c)) {
			return false;
		}
	}
	return true;
}

static bool
prove(struct requantize *r)
{
	choose_left(r);
	return choose_right(r) && (prove_all(r, false) || prove_all(r, true));
}

/* -- nodes -- */

/* Reads the attributes and constants of r->n into r; if the node is for an
 * average, its count in place of factors. False if low is below -1024, if high
 * is above 1024, or if a factor is not a constant from 0 to INT32_MAX (with a
 * negative factor the result would decrease). */
static bool
read_node(struct requantize *r)
{
	const char *rounding = node_attr_string(r->n, "rounding", "nearest");
	const struct node *n = r->n;
	int64_t count = 0;

	r->offset = node_attr_int(n, "offset", 0);
	r->zero = node_attr_int(n, "zero", 0);
	r->least = node_attr_int(n, "low", -128);
	r->most = node_attr_int(n, "high", 127);
	if (r->least < -1024 || r->most > 1024) {
		return false;
	}
	if (strcmp(rounding, "average") == 0) {
		r->count = node_attr_int(n, "count", 1);
		return true;
	}
	r->op = strcmp(rounding, "nearest") == 0 ? INTRIN_SCALE_NEAREST
						 : INTRIN_SCALE_FIXED;
	r->factor = constant_doubles(r->g, n->inputs[1], &r->n_factors);
	if (r->op == INTRIN_SCALE_FIXED) {
		r->exponent = constant_doubles(r->g, n->inputs[2], &count);
		if (r->exponent == NULL || count != r->n_factors) {
			return false;
		}
	}
	for (int64_t i = 0; r->factor != NULL && i < r->n_factors; i++) {
		double scale = scale_of(r, i);

		if (!isfinite(scale) || scale < 0 || scale > INT32_MAX) {
			return false;
		}
	}
	return r->factor != NULL;
}

/* May TFLite's product wrap? It does if x * 2^exponent does not fit in 32
 * bits. */
static bool
may_wrap(const struct requantize *r, int64_t c)
{
	double exponent = r->exponent == NULL
				  ? 0
				  : r->exponent[r->n_factors > 1 ? c : 0];
	double most = fmax((double)(r->high[c] + r->offset),
			   -(double)(r->low[c] + r->offset));

	return ldexp(most, exponent > 0 ? (int)exponent : 0) > INT32_MAX;
}

/* Makes r's arrays for n channels along an axis. */
static void
set_axis(struct requantize *r, int axis, int64_t n)
{
	struct arena *a = &r->g->module->arena;

	r->axis = axis;
	r->n_channels = n;
	r->low = arena_array(a, int64_t, n);
	r->high = arena_array(a, int64_t, n);
	r->multiplier = arena_array(a, int32_t, n);
	for (int i = 0; i < SIGNS; i++) {
		r->addend[i] = arena_array(a, struct addends, n);
	}
}

/* Sets r's axis and bounds to those of the channels c of x. False if c is NULL,
 * if r's factors vary along another axis, or if a bound does not fit in 32
 * bits. */
static bool
read_channels(struct requantize *r, const struct channels *c)
{
	if (c == NULL ||
	    (r->n_factors > 1 &&
	     (node_attr_int(r->n, "axis", 1) != 1 || r->n_factors != c->n))) {
		return false;
	}
	set_axis(r, 1, c->n);
	for (int64_t i = 0; i < c->n; i++) {
		if (!(c->low[i] > INT32_MIN && c->high[i] < INT32_MAX)) {
			return false;
		}
		r->low[i] = (int64_t)c->low[i];
		r->high[i] = (int64_t)c->high[i];
	}
	return true;
}

/* Adds the bounds of w * x, for all values x of the type, to the bounds of the
 * sum of column `column`. */
static void
add_products(struct requantize *r, int64_t column, struct dtype x, int64_t w)
{
	int64_t least = dtype_min_int(x), most = dtype_max_int(x);

	r->low[column] += w * (w > 0 ? least : most);
	r->high[column] += w * (w > 0 ? most : least);
}

/* Sets r's axis and bounds to those of the columns of the matrix product whose
 * result r->n reads. False if its weights or bias are not constant, if r's
 * factors vary along another axis, or if a bound does not fit in 32 bits. */
static bool
read_columns(struct requantize *r)
{
	const struct node *p = r->n->inputs[0]->producer;
	int axis = r->n->inputs[0]->ndim - 1;
	const struct value *w;
	const double *bias;
	int64_t n, n_bias;

	if (p == NULL || !node_is_internal(p, "MatMul") ||
	    p->inputs[1]->ndim != 2 || !tensor_is_constant(p->inputs[1]) ||
	    !expr_is_int(p->inputs[1]->shape[1], &n) || n == 0 ||
	    (r->n_factors > 1 &&
	     (node_attr_int(r->n, "axis", 1) != axis || r->n_factors != n))) {
		return false;
	}
	w = tensor_value(r->g, p->inputs[1]);
	bias = constant_doubles(r->g, p->inputs[2], &n_bias);
	if (w == NULL || w->data == NULL || bias == NULL) {
		return false;
	}
	set_axis(r, axis, n);
	for (int64_t i = 0; i < n; i++) {
		r->low[i] = r->high[i] = (int64_t)bias[n_bias > 1 ? i : 0];
	}
	for (int64_t i = 0; i < w->elems; i++) {
		add_products(r, i % n, p->inputs[0]->type,
			     number_load(w->type, w->data, (size_t)i).i);
	}
	for (int64_t i = 0; i < n; i++) {
		if (r->low[i] <= INT32_MIN || r->high[i] >= INT32_MAX) {
			return false;
		}
	}
	return true;
}

/* Sets r's bounds to those of a sum over a window, which are the same for all
 * channels; false if r->n does not read such a sum. */
static bool
read_window(struct requantize *r)
{
	const struct node *p = r->n->inputs[0]->producer;

	if (p == NULL || !node_is_internal(p, "SumPool") ||
	    r->count > INT32_MAX / 256) {
		return false;
	}
	set_axis(r, 1, 1);
	r->low[0] = r->count * dtype_min_int(p->inputs[0]->type);
	r->high[0] = r->count * dtype_max_int(p->inputs[0]->type);
	return true;
}

static bool
read_bounds(struct requantize *r, struct channels *const *of)
{
	if (r->count > 0 ? !read_window(r)
			 : !read_channels(r, of[r->n->inputs[0]->id]) &&
				   !read_columns(r)) {
		return false;
	}
	for (int64_t i = 0; i < r->n_channels; i++) {
		if (may_wrap(r, i)) {
			return false;
		}
	}
	return true;
}

/* A constant of the numbers v, one for each channel; a scalar if all are equal.
 * Its name is the name of n's result followed by `ending`. */
static struct tensor *
for_channels(const struct requantize *r, const char *ending, const int32_t *v)
{
	const char *base = arena_printf(&r->g->module->arena, "%s.%s",
					r->n->outputs[0]->name, ending);
	bool equal = true;

	for (int64_t i = 1; i < r->n_channels; i++) {
		equal = equal && v[i] == v[0];
	}
	return constant_words(r->g, base, equal ? 1 : r->n_channels, v);
}

int64_t
nearest_addend(struct addends a, int64_t v)
{
	addend_at_least(&v, a.from);
	addend_at_most(&v, a.to);
	return v;
}

/* Sets chosen[c], for each channel c, to a number from the channel's range: to
 * the same number for all channels if one is in all ranges; if several are, to
 * the one nearest to v. */
static void
choose(const struct requantize *r, const struct addends *ranges, int64_t v,
       int32_t *chosen)
{
	struct addends all = { INT32_MIN, INT32_MAX };

	for (int64_t c = 0; c < r->n_channels; c++) {
		all = both_addends(all, ranges[c]);
	}
	for (int64_t c = 0; c < r->n_channels; c++) {
		chosen[c] = (int32_t)nearest_addend(no_addend(all) ? ranges[c]
								   : all,
						    v);
	}
}

/* Updates sum_most by the sums for x from low to high in channel c, with this
 * addend. The sums grow with x, except for the 1 that rounding to even may
 * add. */
static void
note_sums(struct requantize *r, int64_t c, int64_t low, int64_t high,
	  int64_t addend)
{
	if (low <= high) {
		addend_at_least(&r->sum_most, scaled(r, c, high) + addend);
		addend_at_least(&r->sum_most, -scaled(r, c, low) - addend);
	}
}

/* Sets r->sum_most, the largest magnitude that is shifted right, when the
 * addend of channel c is v[c], and v[c] + difference[c] for x below 0. */
static void
find_sum_most(struct requantize *r, const int32_t *v, const int32_t *difference)
{
	r->sum_most = 0;
	for (int64_t c = 0; c < r->n_channels; c++) {
		int64_t low = r->low[c], high = r->high[c];

		note_sums(r, c, low, high < -1 ? high : -1,
			  (int64_t)v[c] + difference[c]);
		note_sums(r, c, low > 0 ? low : 0, high, v[c]);
	}
	r->sum_most += r->even;
}

/* The addends of tirc.MultiplyShift, by channel: makes a constant with one of
 * the possible addends of each channel. If x < 0 needs another addend in a
 * channel, *negative is a constant with the differences; else NULL. Sets
 * r->sum_most. */
static struct tensor *
addends(struct requantize *r, struct tensor **negative)
{
	struct arena *a = &r->g->module->arena;
	int32_t *v = arena_array(a, int32_t, r->n_channels);
	int32_t *difference = arena_array(a, int32_t, r->n_channels);
	int64_t half = ((int64_t)1 << r->right) / 2;
	struct addends *of = r->addend[OTHER];
	bool equal = true;

	for (int64_t c = 0; c < r->n_channels; c++) {
		struct addends same = both_addends(of[c],
						   r->addend[NEGATIVE][c]);

		equal = equal && !no_addend(same);
	}
	for (int64_t c = 0; c < r->n_channels && equal; c++) {
		of[c] = both_addends(of[c], r->addend[NEGATIVE][c]);
	}
	choose(r, of, r->zero * 2 * half + half, v);
	*negative = NULL;
	if (!equal) {
		for (int64_t c = 0; c < r->n_channels; c++) {
			r->addend[NEGATIVE][c].from -= v[c];
			r->addend[NEGATIVE][c].to -= v[c];
		}
		choose(r, r->addend[NEGATIVE], 0, difference);
		*negative = graph_made_of(
			r->g, for_channels(r, "negative", difference),
			"for sums below 0, whose halves are rounded away from "
			"zero",
			NULL, NULL, 0);
	}
	find_sum_most(r, v, difference);
	return graph_made_of(
		r->g, for_channels(r, "addend", v),
		arena_printf(a,
			     "(zero point %lld + 1/2) * 2^%d, or the nearest "
			     "number that gives the results of the definition",
			     (long long)r->zero, r->right),
		NULL, NULL, 0);
}

static struct tensor *
multipliers(const struct requantize *r)
{
	struct graph *g = r->g;
	struct tensor *t = for_channels(r, "multiplier", r->multiplier);
	int shift = 32 + r->right - r->left;
	const char *form;

	if (r->count > 0) {
		return t;
	}
	form = r->op == INTRIN_SCALE_NEAREST
		       ? arena_printf(&g->module->arena,
				      "$0 * 2^%d, as integers", shift)
		       : arena_printf(&g->module->arena,
				      "$0 * 2^($1 + %d), as integers",
				      shift - 31);

	return graph_made_of(g, t, form, NULL, r->n->inputs + 1,
			     r->n->n_inputs - 1);
}

static bool
replace(struct requantize *r, struct node *n)
{
	struct graph *g = r->g;
	struct tensor *multiplier = multipliers(r), *negative;
	struct tensor *addend = addends(r, &negative);
	int64_t n_constant;

	n->op_type = "MultiplyShift";
	n->op = op_find("tirc", "MultiplyShift");
	node_resize_inputs(n, negative != NULL ? 4 : 3);
	node_set_input(n, 1, multiplier);
	node_set_input(n, 2, addend);
	if (negative != NULL) {
		node_set_input(n, 3, negative);
	}
	node_remove_attr(n, "rounding");
	node_remove_attr(n, "offset");
	node_remove_attr(n, "zero");
	node_remove_attr(n, "count");
	node_set_attr_string(g, n, "title", "Requantize");
	node_set_attr_int(g, n, "axis", r->axis);
	node_set_attr_int(g, n, "left", r->left);
	node_set_attr_int(g, n, "right", r->right);
	node_set_attr_int(g, n, "shifted_most", most_shifted(r, &n_constant));
	node_set_attr_int(g, n, "sum_most", r->sum_most);
	if (n_constant > 0) {
		node_set_attr_int(g, n, "constant_channels", n_constant);
	}
	if (r->even) {
		node_set_attr_int(g, n, "even", 1);
	}
	graph_note(g, n, "requantize",
		   "a product of integers, equal for all possible sums");
	g->edits++;
	return ops_infer_node(g, n);
}

static bool
convert(struct graph *g, struct node *n, struct channels *const *of)
{
	struct requantize r = { .g = g, .n = n };

	if (!read_node(&r) || !read_bounds(&r, of)) {
		return g->module->diags.n_errors == 0;
	}
	return prove(&r) ? replace(&r, n) : true;
}

static bool
convert_all(struct graph *g)
{
	struct arena *a = &g->module->arena;
	struct channels **of = NULL;
	int n_nodes = g->nodes.n;
	struct node **nodes = arena_copy(a, g->nodes.data,
					 sizeof *nodes * (size_t)n_nodes);

	for (int i = 0; i < n_nodes; i++) {
		if (!node_is_internal(nodes[i], "Requantize") ||
		    nodes[i]->match != NULL) {
			continue;
		}
		if (of == NULL) {
			of = arena_array(a, struct channels *,
					 g->tensors.n + 1);
			if (!channel_bounds(g, of)) {
				return false;
			}
		}
		if (!convert(g, nodes[i], of)) {
			return false;
		}
	}
	for (int i = 0; i < n_nodes; i++) {
		if ((node_is_internal(nodes[i], "Add") ||
		     node_is(nodes[i], "Add")) &&
		    nodes[i]->match == NULL && !requantize_sum(g, nodes[i])) {
			return false;
		}
	}
	return true;
}

bool
graph_requantize(struct graph *g)
{
	int before = g->edits;

	if (!g->settings->slow_floats) {
		return true;
	}
	if (!convert_all(g)) {
		return false;
	}
	if (g->edits != before) {
		graph_drop_unused_tensors(g);
		return graph_dead(g);
	}
	return true;
}
