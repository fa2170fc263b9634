/* SPDX-License-Identifier: Apache-2.0 */
/* Views of arrays: other shapes, selections, and joined arrays. */
#include "array.h"
#include "quota.h"

/* A copy of the description of x with room for another rank; the data is
 * shared. */
static struct array *
view_of(struct array_work *w, const struct array *x, int ndim)
{
	struct array *v = arena_copy(w->a, x, sizeof *x);

	v->shape = arena_array(w->a, int64_t, ndim + 1);
	v->strides = arena_array(w->a, int64_t, ndim + 1);
	v->ndim = ndim;
	v->scalar = false;
	v->weak = ARRAY_STRONG;
	return v;
}

/* Moves the start of v, a view of x, to index `at` of its dimension d. An empty
 * array has no element to start at, and products with its strides may overflow:
 * v is not changed. */
static void
move_start(struct array *v, const struct array *x, int d, int64_t at)
{
	if (array_elems(x) > 0) {
		v->offset += at * x->strides[d];
	}
}

const char *
array_shape_text(struct arena *a, int ndim, const int64_t *shape)
{
	const char *text = "(";

	for (int d = 0; d < ndim; d++) {
		text = arena_printf(a, "%s%s%lld", text, d ? "," : "",
				    (long long)shape[d]);
	}
	return arena_printf(a, "%s%s)", text, ndim == 1 ? "," : "");
}

struct array *
array_reshape(struct array_work *w, const struct array *x, int ndim,
	      const int64_t *shape)
{
	int64_t have = array_elems(x), rest = 1, known[ARRAY_MAX_RANK];
	int open = -1;
	struct array *v;

	if (ndim > ARRAY_MAX_RANK) {
		return array_fail(w, "an array of %d dimensions; at most %d",
				  ndim, ARRAY_MAX_RANK);
	}
	for (int d = 0; d < ndim; d++) {
		if (shape[d] == -1 && open < 0) {
			open = d;
		} else {
			rest = shape[d] < 0 ? -1
			       : rest < 0   ? rest
					    : quota_times(rest, shape[d]);
		}
		known[d] = shape[d];
	}
	if (open >= 0 && rest > 0 && have % rest == 0) {
		known[open] = have / rest;
		rest = have;
	} else if (open >= 0) {
		rest = -1;
	}
	if (rest != have) {
		return array_fail(w,
				  "cannot reshape array of size %lld into "
				  "shape %s; choose sizes with that product",
				  (long long)have,
				  array_shape_text(w->a, ndim, shape));
	}
	if (!array_is_dense(x)) {
		x = array_cast(w, x, x->type);
		if (!x) {
			return NULL;
		}
	}
	v = view_of(w, x, ndim);
	rest = 1;
	for (int d = ndim - 1; d >= 0; d--) {
		v->shape[d] = known[d];
		v->strides[d] = rest;
		rest = quota_times(rest, known[d] > 0 ? known[d] : 1);
	}
	return v;
}

struct array *
array_transpose(struct array_work *w, const struct array *x, const int *axes)
{
	struct array *v = view_of(w, x, x->ndim);

	for (int d = 0; d < x->ndim; d++) {
		int from = axes ? axes[d] : x->ndim - 1 - d;

		v->shape[d] = x->shape[from];
		v->strides[d] = x->strides[from];
	}
	return v;
}

struct array *
array_broadcast(struct array_work *w, const struct array *x, int ndim,
		const int64_t *shape)
{
	int more = ndim - x->ndim;
	struct array *v;

	/* an assignment drops leading dimensions of length 1 that the assigned
	 * part of the array does not have */
	for (; more < 0 && x->shape[0] == 1; more++) {
		v = view_of(w, x, x->ndim - 1);
		for (int d = 0; d < v->ndim; d++) {
			v->shape[d] = x->shape[d + 1];
			v->strides[d] = x->strides[d + 1];
		}
		x = v;
	}
	for (int d = more; more >= 0 && d < ndim; d++) {
		if (x->shape[d - more] != shape[d] && x->shape[d - more] != 1) {
			more = -1;
		}
	}
	if (more < 0) {
		return array_fail(
			w,
			"shapes %s and %s do not broadcast; make them "
			"equal, or 1 in a dimension",
			array_shape_text(w->a, x->ndim, x->shape),
			array_shape_text(w->a, ndim, shape));
	}
	v = view_of(w, x, ndim);
	for (int d = 0; d < ndim; d++) {
		v->shape[d] = shape[d];
		v->strides[d] = d < more || (x->shape[d - more] == 1 &&
					     shape[d] != 1)
					? 0
					: x->strides[d - more];
	}
	return v;
}

struct array *
array_squeeze(struct array_work *w, const struct array *x, const bool *drop)
{
	struct array *v = view_of(w, x, x->ndim);

	v->ndim = 0;
	for (int d = 0; d < x->ndim; d++) {
		if (drop[d] && x->shape[d] == 1) {
			continue;
		}
		v->shape[v->ndim] = x->shape[d];
		v->strides[v->ndim++] = x->strides[d];
	}
	return v;
}

struct array *
array_expand(struct array_work *w, const struct array *x, int axis)
{
	struct array *v;

	if (x->ndim == ARRAY_MAX_RANK) {
		return array_fail(w, "an array of more than %d dimensions",
				  ARRAY_MAX_RANK);
	}
	v = view_of(w, x, x->ndim + 1);
	for (int d = 0; d < v->ndim; d++) {
		int from = d < axis ? d : d - 1;

		v->shape[d] = d == axis ? 1 : x->shape[from];
		v->strides[d] = d == axis ? 0 : x->strides[from];
	}
	return v;
}

/* -- selections */

static int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Applies a slice to dimension d of v. */
static void
take_range(struct array *v, int d, const struct array_index *r)
{
	int64_t n = v->shape[d], step = r->step, start, stop, count;

	start = step > 0 ? 0 : n - 1;
	stop = step > 0 ? n : -1;
	if (r->has_start) {
		start = r->start + (r->start < 0 ? n : 0);
		start = step > 0 ? clamp(start, 0, n) : clamp(start, -1, n - 1);
	}
	if (r->has_stop) {
		stop = r->stop + (r->stop < 0 ? n : 0);
		stop = step > 0 ? clamp(stop, 0, n) : clamp(stop, -1, n - 1);
	}
	count = step > 0 ? stop - start : start - stop;
	step = step > 0 ? step : -step;
	count = count > 0 ? (count - 1) / step + 1 : 0;
	v->offset += count > 0 ? start * v->strides[d] : 0;
	v->strides[d] = count > 1 ? v->strides[d] * r->step : 0;
	v->shape[d] = count;
}

/* Does the index take a dimension of the array? */
static bool
takes_dimension(const struct array_index *i)
{
	return i->kind == INDEX_AT || i->kind == INDEX_RANGE ||
	       i->kind == INDEX_LIST;
}

/* The view of x that the indices select without those that are lists.
 * Dimensions with a list stay whole, and *listed is the first of them in the
 * view, or -1. */
static struct array *
select_view(struct array_work *w, const struct array *x,
	    const struct array_index *index, int n, int *listed)
{
	int taken = 0, d = 0;
	struct array *v;

	*listed = -1;
	for (int i = 0; i < n; i++) {
		taken += takes_dimension(&index[i]);
	}
	if (taken > x->ndim || x->ndim - taken + n > 2 * ARRAY_MAX_RANK) {
		return array_fail(w,
				  "%d indices for an array of %d dimensions; "
				  "leave some out",
				  taken, x->ndim);
	}
	v = view_of(w, x, x->ndim + n);
	v->ndim = 0;
	for (int i = 0; i <= n; i++) {
		int whole = 0, later = 0;

		for (int k = i + 1; k < n; k++) {
			later += takes_dimension(&index[k]);
		}
		if (i == n || index[i].kind == INDEX_REST) {
			whole = x->ndim - d - later;
		}
		for (; whole > 0; whole--, d++) {
			v->shape[v->ndim] = x->shape[d];
			v->strides[v->ndim++] = x->strides[d];
		}
		if (i == n || index[i].kind == INDEX_REST) {
			continue;
		}
		if (index[i].kind == INDEX_NEW) {
			v->shape[v->ndim] = 1;
			v->strides[v->ndim++] = 0;
			continue;
		}
		if (index[i].kind == INDEX_AT) {
			int64_t at = index[i].at;

			if (at < -x->shape[d] || at >= x->shape[d]) {
				return array_fail(
					w,
					"index %lld of %lld elements in "
					"dimension %d; count from 0",
					(long long)at, (long long)x->shape[d],
					d);
			}
			at += at < 0 ? x->shape[d] : 0;
			move_start(v, x, d, at);
			d++;
			continue;
		}
		v->shape[v->ndim] = x->shape[d];
		v->strides[v->ndim] = x->strides[d++];
		if (index[i].kind == INDEX_RANGE) {
			take_range(v, v->ndim, &index[i]);
		} else if (*listed < 0) {
			*listed = v->ndim;
		}
		v->ndim++;
	}
	v->scalar = v->ndim == 0 && n > 0 && index[n - 1].kind != INDEX_REST;
	return v->ndim > ARRAY_MAX_RANK
		       ? array_fail(w, "an array of more than %d dimensions",
				    ARRAY_MAX_RANK)
		       : v;
}

/* The indices of the true elements of a list of bools. */
static struct array *
places_of(struct array_work *w, const struct array *list)
{
	int64_t n = 0, at = 0;
	struct array *out;

	for (int64_t i = 0; i < array_elems(list); i++) {
		n += array_get(list, i).i != 0;
	}
	out = array_new(w, dtype_of(DT_I64), 1, &n);
	if (!out || !array_count(w, array_elems(list))) {
		return NULL;
	}
	for (int64_t i = 0; i < array_elems(list); i++) {
		if (array_get(list, i).i != 0) {
			array_set(out, at++, (union number){ .i = i });
		}
	}
	return out;
}

/* The part of v, without dimension d, at position `at` of d. */
static struct array *
slice_at(struct array_work *w, const struct array *v, int d, int64_t at)
{
	struct array *part = view_of(w, v, v->ndim - 1);

	for (int k = 0; k < part->ndim; k++) {
		int from = k < d ? k : k + 1;

		part->shape[k] = v->shape[from];
		part->strides[k] = v->strides[from];
	}
	move_start(part, v, d, at);
	return part;
}

/* The list among the indices, converted to integers; there is one. A list of bools
 * of the rank of x selects among all its elements: then *flat is set. */
static const struct array *
only_list(struct array_work *w, const struct array *x,
	  const struct array_index *index, int n, bool *flat)
{
	const struct array *list = NULL;

	*flat = false;
	for (int i = 0; i < n; i++) {
		if (index[i].kind != INDEX_LIST) {
			continue;
		}
		if (list) {
			array_fail(w, "two arrays as indices; tirc takes one");
			return NULL;
		}
		list = index[i].list;
	}
	if (dtype_class(list->type) == DTC_BOOL) {
		bool same = list->ndim == x->ndim;

		for (int d = 0; same && d < x->ndim; d++) {
			same = list->shape[d] == x->shape[d];
		}
		if (n != 1 || !same) {
			array_fail(w, "bools as indices need the shape of the "
				      "array");
			return NULL;
		}
		*flat = true;
		return places_of(w, list);
	}
	if (!dtype_is_int(list->type)) {
		array_fail(w, "an array of %s as index; take integers",
			   dtype_name(list->type));
		return NULL;
	}
	return list;
}

/* Copies between `out` and the elements of v that `list` selects along
 * dimension d; `out` has the dimensions of `list` in place of d. to: copies
 * from `out` to v, else from v to `out`. */
static bool
move_listed(struct array_work *w, struct array *v, int d,
	    const struct array *list, struct array *out, bool to)
{
	int64_t n = array_elems(list);

	for (int64_t i = 0; i < n; i++) {
		int64_t at = array_get(list, i).i, rest = i;
		struct array *whole = out, *part;

		if (at < -v->shape[d] || at >= v->shape[d]) {
			array_fail(w, "index %lld of %lld elements",
				   (long long)at, (long long)v->shape[d]);
			return false;
		}
		at += at < 0 ? v->shape[d] : 0;
		part = slice_at(w, v, d, at);
		for (int k = list->ndim - 1; k >= 0; k--) {
			whole = slice_at(w, whole, d + k,
					 rest % list->shape[k]);
			rest /= list->shape[k];
		}
		if (!(to ? array_store(w, part, whole)
			 : array_store(w, whole, part)) ||
		    !array_count(w, 8)) {
			return false;
		}
	}
	return true;
}

/* The result of indexing dimension d of v with an array of indices: the shape
 * of v with the shape of `list` in place of dimension d. Its elements are not
 * set. */
static struct array *
listed_result(struct array_work *w, const struct array *v, int d,
	      const struct array *list, struct dtype type)
{
	int64_t shape[2 * ARRAY_MAX_RANK + 1];
	int n = 0;

	for (int k = 0; k < d; k++) {
		shape[n++] = v->shape[k];
	}
	for (int k = 0; k < list->ndim; k++) {
		shape[n++] = list->shape[k];
	}
	for (int k = d + 1; k < v->ndim; k++) {
		shape[n++] = v->shape[k];
	}
	return array_new(w, type, n, shape);
}

/* Does an index have a list? */
static bool
has_list(const struct array_index *index, int n)
{
	bool found = false;

	for (int i = 0; i < n; i++) {
		found |= index[i].kind == INDEX_LIST;
	}
	return found;
}

/* For indices one of which is a list: sets *v to the view that the other
 * indices select, *d to the dimension of *v to which the list applies, and
 * *list to this list. False after an error. */
static bool
resolve(struct array_work *w, const struct array *x,
	const struct array_index *index, int n, struct array **v, int *d,
	const struct array **list)
{
	bool flat;
	int64_t all = array_elems(x);

	*list = only_list(w, x, index, n, &flat);
	if (!*list) {
		return false;
	}
	if (flat) {
		if (!array_is_dense(x)) {
			array_fail(w, "bools as indices of a view; copy it "
				      "first");
			return false;
		}
		*v = array_reshape(w, x, 1, &all);
		*d = 0;
	} else {
		*v = select_view(w, x, index, n, d);
	}
	return *v != NULL;
}

struct array *
array_select(struct array_work *w, const struct array *x,
	     const struct array_index *index, int n)
{
	const struct array *list;
	struct array *v, *out;
	int d;

	if (!has_list(index, n)) {
		v = select_view(w, x, index, n, &d);
		if (v && v->scalar) {
			/* a number, which later stores do not change */
			return array_cast(w, v, v->type);
		}
		return v;
	}
	if (!resolve(w, x, index, n, &v, &d, &list)) {
		return NULL;
	}
	out = listed_result(w, v, d, list, x->type);
	return out && move_listed(w, v, d, list, out, false) ? out : NULL;
}

bool
array_assign(struct array_work *w, struct array *x,
	     const struct array_index *index, int n, const struct array *y)
{
	const struct array *list;
	struct array *v, *values;
	int d;

	if (!has_list(index, n)) {
		v = select_view(w, x, index, n, &d);
		return v && array_store(w, v, y);
	}
	if (!resolve(w, x, index, n, &v, &d, &list)) {
		return false;
	}
	values = listed_result(w, v, d, list, x->type);
	return values && array_store(w, values, y) &&
	       move_listed(w, v, d, list, values, true);
}

struct array *
array_join(struct array_work *w, struct array *const *list, int n, int axis,
	   bool stack)
{
	struct array **parts = arena_array(w->a, struct array *, n + 1);
	int64_t shape[ARRAY_MAX_RANK], at = 0;
	struct dtype type = list[0]->type;
	struct array *out;
	int rank = list[0]->ndim + stack;

	if (rank < 1 || rank > ARRAY_MAX_RANK || axis < 0 || axis >= rank) {
		return array_fail(w, "arrays of %d dimensions have no axis %d",
				  list[0]->ndim, axis);
	}
	for (int i = 0; i < n; i++) {
		struct array strong = { .type = type };

		type = array_common(&strong, list[i]);
		parts[i] = stack ? array_expand(w, list[i], axis) : list[i];
		if (!parts[i]) {
			return NULL;
		}
		for (int d = 0; d < rank; d++) {
			if (parts[i]->ndim != rank ||
			    (d != axis &&
			     parts[i]->shape[d] != parts[0]->shape[d])) {
				return array_fail(
					w, "shapes %s and %s cannot be joined",
					array_shape_text(w->a, list[0]->ndim,
							 list[0]->shape),
					array_shape_text(w->a, list[i]->ndim,
							 list[i]->shape));
			}
		}
		at = quota_plus(at, parts[i]->shape[axis]);
	}
	memcpy(shape, parts[0]->shape, sizeof *shape * (size_t)rank);
	shape[axis] = at;
	out = array_new(w, type, rank, shape);
	at = 0;
	for (int i = 0; out && i < n; i++) {
		struct array *part = view_of(w, out, rank);

		memcpy(part->shape, parts[i]->shape,
		       sizeof *shape * (size_t)rank);
		memcpy(part->strides, out->strides,
		       sizeof *shape * (size_t)rank);
		move_start(part, out, axis, at);
		at += parts[i]->shape[axis];
		if (!array_store(w, part, parts[i])) {
			return NULL;
		}
	}
	return out;
}

/* -- copies -- */

struct array *
array_cast(struct array_work *w, const struct array *x, struct dtype type)
{
	struct array *y = array_new(w, type, x->ndim, x->shape);

	if (!y || !array_store(w, y, x)) {
		return NULL;
	}
	y->scalar = x->scalar;
	return y;
}

bool
array_store(struct array_work *w, struct array *x, const struct array *y)
{
	const struct array *from = array_broadcast(w, y, x->ndim, x->shape);
	int64_t n = array_elems(x);
	bool same = x->type.kind == y->type.kind;

	if (!from || !array_count(w, n)) {
		return false;
	}
	if (same && array_is_dense(x) && array_is_dense(from)) {
		size_t size = (size_t)dtype_bytes(x->type);

		memmove(array_bytes(x, x->offset, n),
			array_bytes(from, from->offset, n), (size_t)n * size);
		return true;
	}
	if (x->data == from->data && n > 1) {
		/* the parts of one array may overlap */
		from = array_cast(w, from, from->type);
		if (!from) {
			return false;
		}
	}
	for (int64_t i = 0; i < n; i++) {
		union number v = array_get(from, i);

		array_set(x, i, same ? v : number_cast(x->type, from->type, v));
	}
	return true;
}
