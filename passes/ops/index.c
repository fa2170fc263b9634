/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose indices are data. Negative indices count from the end.
 * What ONNX forbids is defined: Gather* take an index modulo the size,
 * Scatter* ignore an update that is out of range. Of several updates of
 * one element the last one holds. */
#include "dims.h"

/* The constant indices of input i lie in [0, size). */
static bool
indices_known(struct module *m, const struct node *n, int i,
	      const struct expr *size)
{
	struct tensor *t = n->inputs[i];
	int64_t v, least, most;

	if (!dim_bounds(size, &least, &most) || !tensor_known(m, t)) {
		return false;
	}
	for (int k = 0; k < t->n_elems; k++) {
		if (!expr_is_int(t->elems[k], &v) || v < 0 || v >= least) {
			return false;
		}
	}
	return true;
}

/* e, an element of input i, as an index that is in range whatever the data:
 * modulo the size, which also counts negative ones from the end. */
static const struct expr *
safe_index(struct define *c, const struct node *n, int i,
	   const struct expr *e, const struct expr *size)
{
	struct module *m = c->module;
	const struct tensor *t = n->inputs[i];
	int64_t v, bound;

	if (expr_is_value(size, 1)) {
		return expr_i32(m, 0);
	}
	if (t->elems && t->n_elems == 1 && expr_is_int(t->elems[0], &v) &&
	    expr_is_int(size, &bound) && v >= -bound && v < bound) {
		return expr_index(m, v < 0 ? v + bound : v);
	}
	if (indices_known(m, n, i, size)) {
		return e;
	}
	return expr_floormod(m, e, expr_cast(m, e->type, size));
}

/* e, an element of input i, means position `at`. */
static const struct expr *
names_position(struct define *c, const struct node *n, int i,
	       const struct expr *e, const struct expr *at,
	       const struct expr *size)
{
	struct module *m = c->module;
	const struct expr *same;

	at = expr_cast(m, e->type, at);
	same = expr_eq(m, e, at);
	return indices_known(m, n, i, size)
		? same
		: expr_or(m, same, expr_eq(m, e, expr_sub(
			m, at, expr_cast(m, e->type, size))));
}

static bool
check_index_type(struct infer *c, const struct node *n, int i)
{
	struct dtype t = n->inputs[i]->type;

	if (t.kind != DT_I32 && t.kind != DT_I64) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the indices are %s; insert a Cast to int64",
				   dtype_name(t));
	}
	return true;
}

/* ---- Gather ---- */

bool
infer_gather(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	const struct expr **shape =
		arena_array(&c->module->arena, const struct expr *,
			    x->ndim + indices->ndim + 1);
	int axis, rank = 0;

	if (!check_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (d != axis) {
			shape[rank++] = x->shape[d];
			continue;
		}
		for (int k = 0; k < indices->ndim; k++) {
			shape[rank++] = indices->shape[k];
		}
	}
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
define_gather(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr **at =
		arena_array(&m->arena, const struct expr *, x->ndim + 1);
	int rank = n->inputs[1]->ndim;
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? x->ndim : 0;
	for (int d = 0; d < x->ndim; d++) {
		at[d] = index[d < axis ? d : d - 1 + rank];
	}
	at[axis] = safe_index(c, n, 1, te_at(m, in[1], index + axis, rank),
			      x->shape[axis]);
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* ---- GatherElements ---- */

bool
infer_gather_elements(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int axis;

	if (!check_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	if (indices->ndim != x->ndim) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "data and indices differ in rank: %d and "
				   "%d; correct the model", x->ndim,
				   indices->ndim);
	}
	for (int d = 0; d < x->ndim; d++) {
		int64_t most, have;

		if (d != axis && expr_is_int(indices->shape[d], &have) &&
		    expr_is_int(x->shape[d], &most) && have > most) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of the indices is "
					   "beyond that of the data; correct "
					   "the model", d);
		}
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, indices->shape);
	return true;
}

bool
define_gather_elements(struct define *c, const struct node *n,
		       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? x->ndim : 0;
	at[axis] = safe_index(c, n, 1, te_at(m, in[1], at, y->ndim),
			      x->shape[axis]);
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* ---- GatherND ---- */

/* The number of dimensions that one tuple of indices selects; 0 with a
 * diagnostic. */
static int
tuple_length(struct infer *c, const struct node *n, int batch)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int64_t length;

	if (!check_index_type(c, n, 1)) {
		return 0;
	}
	if (indices->ndim < 1 || batch < 0 || batch >= indices->ndim ||
	    !expr_is_int(indices->shape[indices->ndim - 1], &length) ||
	    length < 1 || length > x->ndim - batch) {
		infer_error(c, DIAG_BAD_SHAPE,
			    "the last dimension of the indices must be "
			    "constant, from 1 to %d; correct the model",
			    x->ndim - batch);
		return 0;
	}
	return (int)length;
}

bool
infer_gather_nd(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int64_t batch = node_attr_int(n, "batch_dims", 0);
	const struct expr **shape =
		arena_array(&c->module->arena, const struct expr *,
			    x->ndim + indices->ndim + 1);
	int rank = indices->ndim - 1, length;

	length = tuple_length(c, n, batch > 64 || batch < 0 ? -1 : (int)batch);
	if (!length) {
		return false;
	}
	for (int d = 0; d < rank; d++) {
		shape[d] = indices->shape[d];
	}
	for (int d = (int)batch + length; d < x->ndim; d++) {
		shape[rank++] = x->shape[d];
	}
	infer_set(c, n->outputs[0], x->type, rank, shape);
	return true;
}

bool
define_gather_nd(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	int q = n->inputs[1]->ndim, batch = (int)node_attr_int(
		n, "batch_dims", 0);
	const struct expr **tuple =
		arena_array(&m->arena, const struct expr *, q + 1);
	const struct expr **at =
		arena_array(&m->arena, const struct expr *, x->ndim + 1);
	int64_t length = 0;

	expr_is_int(n->inputs[1]->shape[q - 1], &length);
	for (int d = 0; d < q - 1; d++) {
		tuple[d] = index[d];
	}
	for (int d = 0; d < x->ndim; d++) {
		if (d < batch) {
			at[d] = index[d];
		} else if (d >= batch + length) {
			at[d] = index[q - 1 + d - batch - length];
		} else {
			tuple[q - 1] = expr_i32(m, d - batch);
			at[d] = safe_index(c, n, 1, te_at(m, in[1], tuple, q),
					   x->shape[d]);
		}
	}
	out[0] = define_stage(c, "gather", "gather", y->ndim, axes,
			      te_at(m, in[0], at, x->ndim));
	return true;
}

/* ---- Scatter: a reduction over the updates ---- */

/* An update, at the point r of the axes reduced over, and whether it is one
 * of the element at hand. */
struct scatter {
	struct iter_var *r;
	int n_r;
	const struct expr **r_shape;
	const struct expr *hits;
	const struct expr **at; /* in updates; at[place[k]] is r[k] */
	int *place;
	int rank; /* of updates */
};

static const struct expr *
combine(struct module *m, const char *how, const struct expr *a,
	const struct expr *b)
{
	switch (how[1]) {
	case 'd': /* add */
		return expr_add(m, a, b);
	case 'u': /* mul */
		return expr_mul(m, a, b);
	case 'a': /* max */
		return expr_max(m, a, b);
	default:
		return expr_min(m, a, b);
	}
}

static const struct reducer *
combiner(struct module *m, const char *how, struct dtype t)
{
	switch (how[1]) {
	case 'd':
		return reducer_sum(m, t);
	case 'u':
		return reducer_prod(m, t);
	case 'a':
		return reducer_max(m, t);
	default:
		return reducer_min(m, t);
	}
}

/* last = the greatest r that hits, or -1; y = updates[last], or data */
static struct te_tensor *
scatter_last(struct define *c, struct te_tensor *const *in,
	     const struct scatter *s, int rank, struct iter_var *axes)
{
	struct module *m = c->module;
	const struct expr *flat = expr_i32(m, 0), *last, *data;
	const struct expr **point =
		arena_array(&m->arena, const struct expr *, s->n_r + 1);
	const struct expr **index = axes_exprs(c, axes, rank), *total;
	struct te_tensor *stage;

	for (int k = 0; k < s->n_r; k++) {
		flat = expr_add(m, expr_mul(m, flat, s->r_shape[k]),
				s->r[k].var->expr);
	}
	total = shape_elems(m, s->r_shape, 0, s->n_r);
	flat = expr_select(m, s->hits, flat, like(c, flat, -1));
	stage = define_stage(c, "last", "reduce", rank, axes,
			     te_reduce(m, reducer_max(m, flat->type), flat,
				       s->r, s->n_r));
	axes = define_shape_axes(c, rank, stage->buffer->shape);
	for (int d = 0; d < s->rank; d++) {
		/* the axes of the first stage are those of the second */
		for (int k = 0; k < rank; k++) {
			if (s->at[d] == index[k]) {
				s->at[d] = axes[k].var->expr;
				break;
			}
		}
	}
	index = axes_exprs(c, axes, rank);
	last = te_at(m, stage, index, rank);
	dims_reindex(m, &total, 1, &last, s->r_shape, s->n_r, point);
	for (int k = 0; k < s->n_r; k++) {
		s->at[s->place[k]] = point[k];
	}
	data = te_at(m, in[0], index, rank);
	data = expr_if(m, expr_le(m, like(c, last, 0), last),
		       te_at(m, in[2], s->at, s->rank), data);
	return define_stage(c, "scatter", "gather", rank, axes, data);
}

static struct te_tensor *
scatter(struct define *c, const struct node *n, struct te_tensor *const *in,
	const struct scatter *s, struct iter_var *axes)
{
	struct module *m = c->module;
	const char *how = node_attr_string(n, "reduction", "none");
	int rank = n->inputs[0]->ndim;
	const struct reducer *reducer;
	const struct expr *update, **index;
	struct te_tensor *all;

	if (strcmp(how, "none") == 0) {
		return scatter_last(c, in, s, rank, axes);
	}
	reducer = combiner(m, how, n->inputs[0]->type);
	update = expr_if(m, s->hits, te_at(m, in[2], s->at, s->rank),
			 reducer->identity[0]);
	all = define_stage(c, "updates", "reduce", rank, axes,
			   te_reduce(m, reducer, update, s->r, s->n_r));
	axes = define_axes(c, n->outputs[0]);
	index = axes_exprs(c, axes, rank);
	return define_stage(c, "scatter", "broadcast", rank, axes,
			    combine(m, how, te_at(m, in[0], index, rank),
				    te_at(m, all, index, rank)));
}

static bool
infer_scatter(struct infer *c, struct node *n)
{
	const char *how = node_attr_string(n, "reduction", "none");
	const struct tensor *x = n->inputs[0];

	if (strcmp(how, "none") && strcmp(how, "add") && strcmp(how, "mul") &&
	    strcmp(how, "max") && strcmp(how, "min")) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "reduction '%s' is not known; correct the "
				   "model", how);
	}
	if (!dtype_equal(x->type, n->inputs[2]->type)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the updates are %s and the data %s; insert "
				   "a Cast", dtype_name(n->inputs[2]->type),
				   dtype_name(x->type));
	}
	if (strcmp(how, "none") != 0 && dtype_class(x->type) == DTC_BOOL) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "reduction '%s' of bool is not defined; "
				   "insert a Cast", how);
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

bool
infer_scatter_elements(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	const struct tensor *updates = n->inputs[2];
	int axis;

	if (!check_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (indices->ndim != x->ndim || updates->ndim != x->ndim ||
		    !dims_may_equal(indices->shape[d], updates->shape[d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "indices and updates must have the "
					   "data's rank and one shape; correct "
					   "the model");
		}
	}
	return infer_scatter(c, n);
}

bool
define_scatter_elements(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	struct iter_var *axes = define_axes(c, x), r;
	struct scatter s = { .n_r = 1, .rank = x->ndim, .r = &r };
	const struct expr *inside = expr_bool(m, true), *here, *index;
	int64_t axis = node_attr_int(n, "axis", 0);
	int place;

	axis += axis < 0 ? x->ndim : 0;
	place = (int)axis;
	s.place = &place;
	s.r_shape = &indices->shape[axis];
	r = te_reduce_axis(m, "r", indices->shape[axis]);
	s.at = axes_exprs(c, axes, x->ndim);
	here = s.at[axis];
	s.at[axis] = r.var->expr;
	for (int d = 0; d < x->ndim; d++) {
		if (d != axis && indices->shape[d] != x->shape[d]) {
			inside = expr_and(m, inside, expr_lt(
				m, s.at[d], indices->shape[d]));
		}
	}
	index = te_at(m, in[1], s.at, x->ndim);
	s.hits = expr_and(m, inside, names_position(c, n, 1, index, here,
						    x->shape[axis]));
	out[0] = scatter(c, n, in, &s, axes);
	return true;
}

bool
infer_scatter_nd(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	const struct tensor *updates = n->inputs[2];
	int q = indices->ndim, length = tuple_length(c, n, 0);
	bool fits;

	if (!length) {
		return false;
	}
	fits = updates->ndim == q - 1 + x->ndim - length;
	for (int d = 0; fits && d < updates->ndim; d++) {
		fits = dims_may_equal(updates->shape[d], d < q - 1
				      ? indices->shape[d]
				      : x->shape[d - (q - 1) + length]);
	}
	if (!fits) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the shape of the updates does not follow "
				   "from those of data and indices; correct "
				   "the model");
	}
	return infer_scatter(c, n);
}

bool
define_scatter_nd(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct arena *a = &m->arena;
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int q = indices->ndim;
	struct iter_var *axes = define_axes(c, x);
	const struct expr **tuple = arena_array(a, const struct expr *, q + 1);
	struct scatter s = { .n_r = q - 1, .rank = n->inputs[2]->ndim };
	int64_t length = 0;

	expr_is_int(indices->shape[q - 1], &length);
	s.r = arena_array(a, struct iter_var, q);
	s.at = arena_array(a, const struct expr *, s.rank + 1);
	s.place = arena_array(a, int, q);
	s.r_shape = indices->shape;
	for (int k = 0; k < q - 1; k++) {
		s.r[k] = te_reduce_axis(m, arena_printf(a, "r%d", k),
					indices->shape[k]);
		s.place[k] = k;
		s.at[k] = tuple[k] = s.r[k].var->expr;
	}
	for (int d = (int)length; d < x->ndim; d++) {
		s.at[q - 1 + d - (int)length] = axes[d].var->expr;
	}
	s.hits = expr_bool(m, true);
	for (int d = 0; d < (int)length; d++) {
		tuple[q - 1] = expr_i32(m, d);
		s.hits = expr_and(m, s.hits, names_position(
			c, n, 1, te_at(m, in[1], tuple, q),
			axes[d].var->expr, x->shape[d]));
	}
	if (s.n_r == 0) { /* one update: a loop of one, that places nothing */
		const struct expr **one = arena_array(a, const struct expr *,
						      1);

		one[0] = expr_i32(m, 1);
		s.r_shape = one;
		s.r[0] = te_reduce_axis(m, "r", one[0]);
		s.place[0] = s.rank;
		s.n_r = 1;
	}
	out[0] = scatter(c, n, in, &s, axes);
	return true;
}
