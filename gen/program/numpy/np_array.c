/* SPDX-License-Identifier: Apache-2.0 */
/* numpy: makes arrays; the attributes and the shapes of arrays. */
#include "numpy.h"

#include <math.h>

/* -- creation */

/* numpy.array, asarray, ascontiguousarray and copy: copy an array. asarray
 * returns the array itself if it has the wanted type. */
bool
np_array(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;
	bool method = c->n == 0 || c->self.kind == PV_ARRAY;
	struct dtype t;

	if (!np_value(c->ev, c->span, method ? &c->self : &c->args[0], &x)) {
		return false;
	}
	t = x->type;
	if (!method && c->n > 1 && !np_arg_type(c, 1, &t)) {
		return false;
	}
	if (c->row->name[0] == 'a' && c->row->name[1] == 's' &&
	    t.kind == x->type.kind && array_is_dense(x) &&
	    c->args[0].kind == PV_ARRAY) {
		*out = c->args[0];
		return true;
	}
	x = array_cast(&w, x, t);
	if (x) {
		x->scalar = false;
	}
	return np_result(c->ev, c->span, &w, x, out);
}

/* numpy.zeros, ones, full and empty (whose elements are zeros here), which have
 * a shape as argument; and zeros_like and so on, which take the shape of
 * another array. */
bool
np_filled(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	bool full = name[0] == 'f', like = strstr(name, "_like") != NULL;
	struct pval one = pv_int(1);
	int64_t shape[ARRAY_MAX_RANK];
	struct array_work w = np_work(c->ev);
	struct array *x = NULL, *v = NULL;
	struct dtype t;
	int n;

	if ((like ? !np_arg(c, 0, &x) : !np_arg_sizes(c, 0, shape, &n)) ||
	    (full && !np_arg(c, 1, &v)) ||
	    (name[0] == 'o' && !np_value(c->ev, c->span, &one, &v))) {
		return false;
	}
	t = like ? x->type : full ? v->type : dtype_of(DT_F64);
	if (!np_arg_type(c, 1 + full, &t)) {
		return false;
	}
	x = array_new(&w, t, like ? x->ndim : n, like ? x->shape : shape);
	if (x && v && !array_store(&w, x, v)) {
		x = NULL;
	}
	return np_result(c->ev, c->span, &w, x, out);
}

bool
np_arange(struct call *c, struct pval *out)
{
	double v[3] = { 0, 0, 1 };
	struct dtype t = dtype_of(DT_I64);
	struct array_work w = np_work(c->ev);
	double n;

	for (int i = 0; i < 3; i++) {
		struct array *x;

		if (!arg_given(c, i)) {
			continue;
		}
		if (!np_arg_double(c, i, &v[i]) || !np_arg(c, i, &x)) {
			return false;
		}
		if (dtype_is_float(x->type)) {
			t = x->weak ? dtype_of(DT_F64) : x->type;
		} else if (!x->weak && !dtype_is_float(t)) {
			t = x->type;
		}
	}
	if (!arg_given(c, 1)) {
		v[1] = v[0];
		v[0] = 0;
	}
	n = ceil((v[1] - v[0]) / v[2]);
	if (v[2] == 0 || !(n < 1e12)) {
		return call_error(c, -1,
				  "arange() gives too many numbers; choose a "
				  "larger step");
	}
	return np_arg_type(c, 3, &t) &&
	       np_result(c->ev, c->span, &w,
			 array_range(&w, t, n > 0 ? (int64_t)n : 0, v[0], v[2]),
			 out);
}

bool
np_linspace(struct call *c, struct pval *out)
{
	struct dtype t = dtype_of(DT_F64);
	struct array_work w = np_work(c->ev);
	int64_t n = 50;
	bool end = true;
	double from, to, step;
	struct array *x;

	if (!np_arg_double(c, 0, &from) || !np_arg_double(c, 1, &to) ||
	    (arg_given(c, 2) && !arg_int(c, 2, 0, INT32_MAX, &n)) ||
	    (arg_given(c, 3) && !arg_bool(c, 3, &end)) ||
	    !np_arg_type(c, 4, &t)) {
		return false;
	}
	step = (to - from) / (double)(n - end > 0 ? n - end : 1);
	x = array_new(&w, dtype_of(DT_F64), 1, &n);
	for (int64_t i = 0; x && i < n; i++) {
		double v = end && i == n - 1 && n > 1 ? to
						      : (double)i * step + from;

		if (!dtype_is_float(t)) {
			v = floor(v);
		}
		array_set(x, i, (union number){ .f = v });
	}
	return np_result(c->ev, c->span, &w, x ? array_cast(&w, x, t) : NULL,
			 out);
}

/* Implements numpy.eye(N, M, k) and numpy.identity(N). Returns false after an
 * error. */
bool
np_eye(struct call *c, struct pval *out)
{
	bool eye = c->row->name[0] == 'e';
	struct dtype t = dtype_of(DT_F64);
	struct array_work w = np_work(c->ev);
	int64_t shape[2], k = 0;
	struct array *x;

	if (!arg_int(c, 0, 0, INT32_MAX, &shape[0])) {
		return false;
	}
	shape[1] = shape[0];
	if ((eye && arg_given(c, 1) &&
	     !arg_int(c, 1, 0, INT32_MAX, &shape[1])) ||
	    (eye && arg_given(c, 2) &&
	     !arg_int(c, 2, -INT32_MAX, INT32_MAX, &k)) ||
	    !np_arg_type(c, eye ? 3 : 1, &t)) {
		return false;
	}
	x = array_new(&w, t, 2, shape);
	for (int64_t i = k < 0 ? -k : 0; x && i < shape[0] && i + k < shape[1];
	     i++) {
		array_set(x, i * shape[1] + i + k, number_of_double(t, 1));
	}
	return np_result(c->ev, c->span, &w, x, out);
}

bool
np_join(struct call *c, struct pval *out)
{
	bool stack = c->row->name[0] == 's';
	struct array_work w = np_work(c->ev);
	struct array **parts;
	struct pval *items;
	int n, axis = 0;

	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	parts = arena_array(c->ev->a, struct array *, n + 1);
	for (int i = 0; i < n; i++) {
		if (!np_value(c->ev, c->spans[0], &items[i], &parts[i])) {
			return false;
		}
	}
	if (n == 0) {
		return call_error(c, 0, "no arrays to join");
	}
	if (arg_given(c, 1) &&
	    !np_arg_axis(c, 1, parts[0]->ndim + stack, &axis)) {
		return false;
	}
	return np_result(c->ev, c->span, &w,
			 array_join(&w, parts, n, axis, stack), out);
}

/* -- shapes */

bool
np_reshape(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	int64_t shape[ARRAY_MAX_RANK];
	struct array *x;
	int first, n;

	if (!np_subject(c, &x, &first) || !np_arg_sizes(c, first, shape, &n)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_reshape(&w, x, n, shape),
			 out);
}

bool
np_transpose(struct call *c, struct pval *out)
{
	int64_t given[ARRAY_MAX_RANK];
	int axes[ARRAY_MAX_RANK], first, n = 0;
	bool seen[ARRAY_MAX_RANK] = { false };
	struct array_work w = np_work(c->ev);
	struct array *x;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	if (c->n > first && arg_given(c, first) &&
	    !np_arg_sizes(c, first, given, &n)) {
		return false;
	}
	for (int d = 0; d < n; d++) {
		int64_t axis = given[d] + (given[d] < 0 ? x->ndim : 0);

		if (n != x->ndim || axis < 0 || axis >= n || seen[axis]) {
			return call_error(c, first,
					  "the axes of an array with %d "
					  "dimensions are each of 0 to %d once",
					  x->ndim, x->ndim - 1);
		}
		seen[axis] = true;
		axes[d] = (int)axis;
	}
	return np_result(c->ev, c->span, &w,
			 array_transpose(&w, x, n > 0 ? axes : NULL), out);
}

bool
np_squeeze(struct call *c, struct pval *out)
{
	bool drop[ARRAY_MAX_RANK] = { false };
	struct array_work w = np_work(c->ev);
	struct array *x;
	int first, axis;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		drop[d] = !arg_given(c, first);
	}
	if (arg_given(c, first)) {
		if (!np_arg_axis(c, first, x->ndim, &axis)) {
			return false;
		}
		drop[axis] = true;
		if (x->shape[axis] != 1) {
			return call_error(c, first,
					  "dimension %d has %lld elements, not "
					  "one",
					  axis, (long long)x->shape[axis]);
		}
	}
	return np_result(c->ev, c->span, &w, array_squeeze(&w, x, drop), out);
}

bool
np_expand_dims(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;
	int axis;

	if (!np_arg(c, 0, &x) || !np_arg_axis(c, 1, x->ndim + 1, &axis)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_expand(&w, x, axis), out);
}

bool
np_broadcast_to(struct call *c, struct pval *out)
{
	int64_t shape[ARRAY_MAX_RANK];
	struct array_work w = np_work(c->ev);
	struct array *x;
	int n;

	if (!np_arg(c, 0, &x) || !np_arg_sizes(c, 1, shape, &n)) {
		return false;
	}
	x = array_broadcast(&w, x, n, shape);
	/* the result is a copy, because a program cannot write to a view with
	 * repeated elements */
	return np_result(c->ev, c->span, &w,
			 x ? array_cast(&w, x, x->type) : NULL, out);
}

bool
np_flatten(struct call *c, struct pval *out)
{
	int64_t all = -1;
	struct array_work w = np_work(c->ev);
	struct array *x;
	int first;

	if (!np_subject(c, &x, &first)) {
		return false;
	}
	if (c->row->name[0] == 'f') {
		x = array_cast(&w, x, x->type);
	}
	return np_result(c->ev, c->span, &w,
			 x ? array_reshape(&w, x, 1, &all) : NULL, out);
}

/* Implements numpy.pad with a constant as the new elements. Returns false after
 * an error. */
bool
np_pad(struct call *c, struct pval *out)
{
	int64_t width[2 * ARRAY_MAX_RANK], shape[ARRAY_MAX_RANK];
	struct array_index inner[ARRAY_MAX_RANK];
	const char *mode = "constant";
	struct array *x, *widths, *v, *y;
	struct pval value = pv_int(0);
	struct array_work w = np_work(c->ev);

	if (!np_arg(c, 0, &x) || !np_arg(c, 1, &widths) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &mode)) ||
	    !np_value(c->ev, c->span, arg_given(c, 3) ? &c->args[3] : &value,
		      &v)) {
		return false;
	}
	if (strcmp(mode, "constant") != 0) {
		return call_error(c, 2,
				  "only pads of mode \"constant\" are "
				  "made");
	}
	shape[0] = x->ndim;
	shape[1] = 2;
	widths = array_broadcast(&w, widths, 2, shape);
	for (int d = 0; widths && d < x->ndim; d++) {
		for (int k = 0; k < 2; k++) {
			double one = array_float(widths, 2 * d + k);

			if (!(one >= 0 && one < 1e9)) {
				return call_error(c, 1,
						  "a pad cannot have %g "
						  "elements",
						  one);
			}
			width[2 * d + k] = (int64_t)one;
		}
		shape[d] = x->shape[d] + width[2 * d] + width[2 * d + 1];
		inner[d] = (struct array_index){
			.kind = INDEX_RANGE,
			.start = width[2 * d],
			.stop = width[2 * d] + x->shape[d],
			.step = 1,
			.has_start = true,
			.has_stop = true,
		};
	}
	y = widths ? array_new(&w, x->type, x->ndim, shape) : NULL;
	if (y && (!array_store(&w, y, v) ||
		  !array_assign(&w, y, inner, x->ndim, x))) {
		y = NULL;
	}
	return np_result(c->ev, c->span, &w, y, out);
}

/* -- attributes and conversions */

bool
np_attribute(struct call *c, struct pval *out)
{
	const struct array *x = c->self.u.array;
	const char *name = c->row->name;
	int64_t size = dtype_bytes(x->type);

	if (strcmp(name, "shape") == 0) {
		*out = pv_sizes(c->ev, x);
	} else if (strcmp(name, "dtype") == 0) {
		*out = pv_string(c->ev, dtype_name(x->type));
	} else {
		*out = pv_int(strcmp(name, "ndim") == 0   ? x->ndim
			      : strcmp(name, "size") == 0 ? array_elems(x)
			      : strcmp(name, "itemsize") == 0
				      ? size
				      : size * array_elems(x));
	}
	return true;
}

bool
np_astype(struct call *c, struct pval *out)
{
	struct dtype t = dtype_of(DT_F64);
	struct array_work w = np_work(c->ev);

	return np_arg_type(c, 0, &t) &&
	       np_result(c->ev, c->span, &w, array_cast(&w, c->self.u.array, t),
			 out);
}

bool
np_fill(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *v;

	(void)out;
	if (!np_arg(c, 0, &v)) {
		return false;
	}
	array_store(&w, c->self.u.array, v);
	return np_done(c->ev, c->span, &w);
}

bool
np_item(struct call *c, struct pval *out)
{
	if (array_elems(c->self.u.array) != 1) {
		return call_error(c, -1,
				  "item() needs an array with one element, not "
				  "%lld",
				  (long long)array_elems(c->self.u.array));
	}
	*out = np_python(c->ev, c->self.u.array, 0);
	return true;
}

/* The elements of x from number *at on as nested lists, one level for each
 * dimension from d on. Moves *at behind the last of them. */
static struct pval
listed(struct eval *ev, const struct array *x, int d, int64_t *at)
{
	struct pval list;

	if (d == x->ndim) {
		return np_python(ev, x, (*at)++);
	}
	list = pv_list_of(ev, PV_LIST, NULL, 0);
	for (int64_t i = 0; i < x->shape[d]; i++) {
		vec_push(ev->a, list.u.list, listed(ev, x, d + 1, at));
	}
	return list;
}

bool
np_tolist(struct call *c, struct pval *out)
{
	const struct array *x = c->self.u.array;
	int64_t at = 0, lists = 1;

	/* an array without elements may still become many empty lists */
	for (int d = 0; d < x->ndim && lists <= EVAL_MAX_ITEMS; d++) {
		lists = quota_times(lists, x->shape[d]);
		if (lists == 0) {
			break;
		}
	}
	if (lists > EVAL_MAX_ITEMS) {
		return call_error(c, -1, "a list of more than %d elements",
				  EVAL_MAX_ITEMS);
	}
	if (!eval_tick(c->ev, c->span, lists)) {
		return false;
	}
	*out = listed(c->ev, x, 0, &at);
	return true;
}

bool
np_newaxis(struct call *c, struct pval *out)
{
	(void)c;
	*out = pv_none();
	return true;
}

/* Gives the values of numpy.pi, numpy.inf and numpy.nan. */
bool
np_constant(struct call *c, struct pval *out)
{
	const char *name = c->row->name;

	*out = pv_float(strcmp(name, "pi") == 0    ? acos(-1.0)
			: strcmp(name, "inf") == 0 ? (double)INFINITY
						   : (double)NAN);
	return true;
}

bool
np_version(struct call *c, struct pval *out)
{
	*out = pv_string(c->ev, "2.0");
	return true;
}
