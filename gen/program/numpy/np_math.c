/* SPDX-License-Identifier: Apache-2.0 */
/* numpy: functions of elements, reductions, and comparisons of arrays. */
#include "numpy.h"

#include <math.h>

/* -- functions of elements */

bool
np_binary(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	struct array_work w = np_work(c->ev);
	struct array *x, *y;
	enum array_op op;

	name = strcmp(name, "divide") == 0      ? "true_divide"
	       : strcmp(name, "remainder") == 0 ? "mod"
						: name;
	op = array_op_find(name);
	if (!np_arg(c, 0, &x) || !np_arg(c, 1, &y)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_binary(&w, op, x, y), out);
}

bool
np_unary(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	struct array_work w = np_work(c->ev);
	enum array_op op;
	struct array *x;

	op = array_op_find(strcmp(name, "absolute") == 0 ? "abs" : name);
	if (!np_arg(c, 0, &x)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_unary(&w, op, x), out);
}

/* numpy.round: rounds to the nearest multiple of 10^-decimals, and to the even
 * multiple if two are equally near. */
bool
np_round(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	int64_t decimals = 0;
	struct pval scale;
	struct array *x, *by;
	bool up;
	int first;

	if (!np_subject(c, &x, &first) ||
	    (arg_given(c, first) && !arg_int(c, first, -20, 20, &decimals))) {
		return false;
	}
	up = decimals >= 0;
	scale = pv_float(pow(10, (double)(up ? decimals : -decimals)));
	if (!np_value(c->ev, c->span, &scale, &by)) {
		return false;
	}
	if (decimals != 0) {
		x = array_binary(&w, up ? ARRAY_MUL : ARRAY_DIV, x, by);
	}
	x = x ? array_unary(&w, ARRAY_RINT, x) : NULL;
	if (x && decimals != 0) {
		x = array_binary(&w, up ? ARRAY_DIV : ARRAY_MUL, x, by);
	}
	return np_result(c->ev, c->span, &w, x, out);
}

bool
np_where(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *condition, *x, *y;

	if (!np_arg(c, 0, &condition) || !np_arg(c, 1, &x) ||
	    !np_arg(c, 2, &y)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_where(&w, condition, x, y),
			 out);
}

bool
np_clip(struct call *c, struct pval *out)
{
	static const enum array_op ops[] = { ARRAY_MAX, ARRAY_MIN };
	struct array_work w = np_work(c->ev);
	struct array *x;
	int first;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	for (int i = 0; x && i < 2; i++) {
		struct array *bound;

		if (!arg_given(c, first + i)) {
			continue;
		}
		if (!np_arg(c, first + i, &bound)) {
			return false;
		}
		x = array_binary(&w, ops[i], x, bound);
	}
	return np_result(c->ev, c->span, &w, x, out);
}

bool
np_dot(struct call *c, struct pval *out)
{
	bool dot = c->row->name[0] == 'd';
	struct array_work w = np_work(c->ev);
	struct array *x, *y;
	int first;

	if (!np_subject(c, &x, &first) || !np_arg(c, first, &y)) {
		return false;
	}
	return np_result(c->ev, c->span, &w,
			 dot ? array_dot(&w, x, y) : array_matmul(&w, x, y),
			 out);
}

/* -- reductions */

static enum array_reduction
reduction(const char *name)
{
	static const char *const names[] = {
		[REDUCE_SUM] = "sum",       [REDUCE_PROD] = "prod",
		[REDUCE_MAX] = "max",       [REDUCE_MIN] = "min",
		[REDUCE_MEAN] = "mean",     [REDUCE_VAR] = "var",
		[REDUCE_STD] = "std",       [REDUCE_ALL] = "all",
		[REDUCE_ANY] = "any",       [REDUCE_ARGMAX] = "argmax",
		[REDUCE_ARGMIN] = "argmin",
	};

	for (int i = 0; i < ARRAY_REDUCTION_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			return (enum array_reduction)i;
		}
	}
	/* for the names amax and amin */
	return name[2] == 'a' ? REDUCE_MAX : REDUCE_MIN;
}

/* Sets over[d] for each axis in argument i, or for all axes if it is absent.
 * Returns false after an error. */
static bool
axes_of(struct call *c, int i, const struct array *x, bool *over)
{
	int64_t axes[ARRAY_MAX_RANK];
	int n;

	for (int d = 0; d < x->ndim; d++) {
		over[d] = !arg_given(c, i);
	}
	if (!arg_given(c, i)) {
		return true;
	}
	if (!np_arg_sizes(c, i, axes, &n)) {
		return false;
	}
	for (int k = 0; k < n; k++) {
		int64_t axis = axes[k] + (axes[k] < 0 ? x->ndim : 0);

		if (axis < 0 || axis >= x->ndim) {
			return call_error(c, i,
					  "axis %lld of an array with %d "
					  "dimensions",
					  (long long)axes[k], x->ndim);
		}
		over[axis] = true;
	}
	return true;
}

bool
np_reduce(struct call *c, struct pval *out)
{
	enum array_reduction what = reduction(c->row->name);
	bool typed = what == REDUCE_SUM || what == REDUCE_PROD ||
		     what == REDUCE_MEAN;
	bool over[ARRAY_MAX_RANK], keepdims = false;
	struct array_work w = np_work(c->ev);
	struct array *x;
	struct dtype t;
	int first, keep;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	keep = first + 1 + typed;
	t = x->type;
	if (!axes_of(c, first, x, over) ||
	    (typed && !np_arg_type(c, first + 1, &t)) ||
	    (arg_given(c, keep) && !arg_bool(c, keep, &keepdims))) {
		return false;
	}
	if (t.kind != x->type.kind) {
		x = array_cast(&w, x, t);
	}
	x = x ? array_reduce(&w, what, x, over, keepdims) : NULL;
	if (x && typed && arg_given(c, first + 1) && x->type.kind != t.kind) {
		x = array_cast(&w, x, t);
	}
	return np_result(c->ev, c->span, &w, x, out);
}

bool
np_cumulate(struct call *c, struct pval *out)
{
	bool product = strcmp(c->row->name, "cumprod") == 0;
	struct array_work w = np_work(c->ev);
	int64_t all = -1;
	struct array *x;
	int first, axis = 0;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	if (!arg_given(c, first)) {
		x = array_reshape(&w, x, 1, &all);
	} else if (!np_arg_axis(c, first, x->ndim, &axis)) {
		return false;
	}
	return np_result(c->ev, c->span, &w,
			 x ? array_cumulate(&w, x, axis, product) : NULL, out);
}

bool
np_sort(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;
	int first, axis;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	axis = x->ndim - 1;
	if (x->ndim == 0) {
		return call_error(c, -1, "a single number cannot be sorted");
	}
	if (arg_given(c, first) && !np_arg_axis(c, first, x->ndim, &axis)) {
		return false;
	}
	return np_result(c->ev, c->span, &w,
			 array_sort(&w, x, axis, c->row->name[0] == 'a'), out);
}

/* Implements numpy.linalg.norm, without an axis: the root of the sum of the
 * squares of all elements. Returns false after an error. */
bool
np_norm(struct call *c, struct pval *out)
{
	bool over[ARRAY_MAX_RANK];
	struct array_work w = np_work(c->ev);
	struct array *x;

	if (!np_arg(c, 0, &x)) {
		return false;
	}
	memset(over, true, sizeof over);
	x = array_cast(&w, x, array_float_type(x->type));
	x = x ? array_unary(&w, ARRAY_SQUARE, x) : NULL;
	x = x ? array_reduce(&w, REDUCE_SUM, x, over, false) : NULL;
	x = x ? array_unary(&w, ARRAY_SQRT, x) : NULL;
	return np_result(c->ev, c->span, &w, x, out);
}

/* -- comparisons */

/* The difference of two arrays: the number of elements that are not close, the
 * first of them, and the largest absolute and relative difference. */
struct difference {
	bool shapes; /* the shapes do not broadcast to a common one */
	int64_t elems, n;
	/* the number of the first element that is not close to its expected
	 * value */
	int64_t first;
	double absolute, relative;
};

struct closeness {
	double rtol, atol;
	bool nan_is_equal;
};

static bool
is_close(double a, double b, const struct closeness *how)
{
	if (isnan(a) || isnan(b)) {
		return how->nan_is_equal && isnan(a) && isnan(b);
	}
	if (isinf(a) || isinf(b)) {
		return a == b;
	}
	return fabs(a - b) <= how->atol + how->rtol * fabs(b);
}

/* Broadcasts *x and *y to their common shape and sets *d to their difference.
 * Returns false after an error. */
static bool
compare(struct call *c, struct array **x, struct array **y,
	const struct closeness *how, struct difference *d)
{
	struct array_work w = np_work(c->ev);
	int64_t shape[ARRAY_MAX_RANK];
	int ndim;

	*d = (struct difference){ 0 };
	d->shapes = !array_common_shape(&w, *x, *y, shape, &ndim);
	if (d->shapes) {
		return true;
	}
	*x = array_broadcast(&w, *x, ndim, shape);
	*y = array_broadcast(&w, *y, ndim, shape);
	d->elems = array_elems(*x);
	if (!array_count(&w, d->elems * 2)) {
		return np_done(c->ev, c->span, &w);
	}
	for (int64_t i = 0; i < d->elems; i++) {
		double p = array_float(*x, i), q = array_float(*y, i);
		double far = fabs(p - q);

		if (is_close(p, q, how)) {
			continue;
		}
		d->first = d->n++ == 0 ? i : d->first;
		d->absolute = far > d->absolute ? far : d->absolute;
		if (q != 0 && far / fabs(q) > d->relative) {
			d->relative = far / fabs(q);
		}
	}
	return np_done(c->ev, c->span, &w);
}

/* Reads rtol, atol and equal_nan from arguments i to i + 2. Returns false after
 * an error. */
static bool
tolerances(struct call *c, int i, struct closeness *how)
{
	return (!arg_given(c, i) || np_arg_double(c, i, &how->rtol)) &&
	       (!arg_given(c, i + 1) || np_arg_double(c, i + 1, &how->atol)) &&
	       (!arg_given(c, i + 2) || arg_bool(c, i + 2, &how->nan_is_equal));
}

bool
np_allclose(struct call *c, struct pval *out)
{
	struct closeness how = { 1e-5, 1e-8, false };
	struct difference d;
	struct array *x, *y;

	if (!np_arg(c, 0, &x) || !np_arg(c, 1, &y) || !tolerances(c, 2, &how) ||
	    !compare(c, &x, &y, &how, &d)) {
		return false;
	}
	if (d.shapes) {
		return call_error(c, -1, "the shapes do not broadcast");
	}
	*out = pv_bool(d.n == 0);
	return true;
}

static bool
same_shape(const struct array *x, const struct array *y)
{
	for (int d = 0; d < x->ndim && x->ndim == y->ndim; d++) {
		if (x->shape[d] != y->shape[d]) {
			return false;
		}
	}
	return x->ndim == y->ndim;
}

bool
np_array_equal(struct call *c, struct pval *out)
{
	struct closeness how = { 0, 0, false };
	struct difference d;
	struct array *x, *y;
	bool same;

	if (!np_arg(c, 0, &x) || !np_arg(c, 1, &y)) {
		return false;
	}
	same = same_shape(x, y);
	if (same && !compare(c, &x, &y, &how, &d)) {
		return false;
	}
	*out = pv_bool(same && d.n == 0);
	return true;
}

/* Reports the difference of two arrays with the text of numpy.testing's
 * exception. Returns false. */
static bool
differ(struct call *c, const struct array *x, const struct array *y,
       const struct difference *d, const char *wanted)
{
	struct strbuf s;
	bool ok;

	if (d->shapes) {
		return call_error(c, -1,
				  "AssertionError: the shapes of the results "
				  "do not fit");
	}
	strbuf_init(&s);
	strbuf_printf(&s, "AssertionError: not equal%s: %lld of %lld elements",
		      wanted, (long long)d->n, (long long)d->elems);
	if (d->absolute > 0) {
		strbuf_printf(&s,
			      "; the largest difference is %.6g, relative "
			      "%.6g",
			      d->absolute, d->relative);
	}
	strbuf_printf(&s, "; element %lld is %.9g and should be %.9g",
		      (long long)d->first, array_float(x, d->first),
		      array_float(y, d->first));
	ok = call_error(c, -1, "%s", s.data);
	strbuf_release(&s);
	return ok;
}

static bool
assert_close(struct call *c, const struct closeness *how, bool shapes)
{
	struct difference d;
	struct array *x, *y;

	if (!np_arg(c, 0, &x) || !np_arg(c, 1, &y)) {
		return false;
	}
	/* a single number may be compared with each element of the other
	 * array */
	shapes = shapes && x->ndim > 0 && y->ndim > 0 && !same_shape(x, y);
	if (!compare(c, &x, &y, how, &d)) {
		return false;
	}
	d.shapes |= shapes;
	return (d.n == 0 && !d.shapes) ||
	       differ(c, x, y, &d,
		      how->rtol == 0 && how->atol == 0
			      ? ""
			      : arena_printf(c->ev->a,
					     " within rtol %g and atol %g",
					     how->rtol, how->atol));
}

bool
np_assert_allclose(struct call *c, struct pval *out)
{
	struct closeness how = { 1e-7, 0, true };

	(void)out;
	return tolerances(c, 2, &how) && assert_close(c, &how, true);
}

/* Is the value a number, an array, or a list of numbers and arrays? */
static bool
are_numbers(const struct pval *v)
{
	for (int d = 0;
	     d < ARRAY_MAX_RANK && (v->kind == PV_LIST || v->kind == PV_TUPLE);
	     d++) {
		if (v->u.list->n == 0) {
			return false;
		}
		v = &v->u.list->data[0];
	}
	return pv_is_array(v) || pv_number(v, NULL);
}

bool
np_assert_equal(struct call *c, struct pval *out)
{
	struct closeness how = { 0, 0, true };
	bool same;

	(void)out;
	if (are_numbers(&c->args[0]) && are_numbers(&c->args[1])) {
		return assert_close(c, &how, true);
	}
	return eval_equal(c->ev, c->span, &c->args[0], &c->args[1], &same) &&
	       (same || call_error(c, -1,
				   "AssertionError: items are not "
				   "equal"));
}

bool
np_assert_almost(struct call *c, struct pval *out)
{
	struct closeness how = { 0, 0, true };
	int64_t decimal = c->row->name[7] == 'a' && c->row->name[8] == 'r' ? 6
									   : 7;

	(void)out;
	if (arg_given(c, 2) && !arg_int(c, 2, -20, 20, &decimal)) {
		return false;
	}
	how.atol = 1.5 * pow(10, -(double)decimal);
	return assert_close(c, &how, true);
}
