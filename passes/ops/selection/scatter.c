/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that write elements at indices from data: the data are copied, then
 * the updates are stored in order, so that the last update of an element wins.
 *
 *	for i, j: y[i, j] = x[i, j]
 *	for r in order, for j: y[at[r], j] = u[r, j]
 *
 * On a device, if there are few j, the output is divided into slices, one for
 * each thread, which applies the updates that fall in its slice: s is an
 * additional outer axis,
 *
 *	for s, for r in order: if at[r] is in slice s: y[at[r]] = u[r]
 *
 * Negative indices count from the end. An update out of range, which ONNX
 * leaves undefined, is dropped. */
#include "indices.h"

/* The number of threads of a warp, and the most slices. */
enum { LEAST_THREADS = 32, MOST_SLICES = 256 };

/* The place where an update is stored. */
struct target {
	const struct expr **at; /* the index in the output */
	const struct expr *inside;
	/* arrays of n definitions each: `entry`, the indices as read; `place`,
	 * the positions */
	struct te_let *entry, *place;
	int n;
};

static struct target
target_new(struct define *c, int rank)
{
	struct arena *a = &c->module->arena;

	return (struct target){
		.at = arena_exprs(a, rank + 1),
		.inside = expr_bool(c->module, true),
		.entry = arena_array(a, struct te_let, rank + 1),
		.place = arena_array(a, struct te_let, rank + 1)
	};
}

/* Sets dimension d of the destination, which has `size` elements, to the
 * position that e, an element of input 1, gives. `of`: the number of dimensions
 * for which an index is given. */
static void
target_index(struct define *c, const struct node *node, struct target *t, int d,
	     const struct expr *size, const struct expr *e, int of)
{
	struct module *m = c->module;
	struct var *entry, *at;
	const struct expr *v, *zero;

	if (indices_known(m, node, 1, size)) {
		t->at[d] = e;
		return;
	}
	e = index_as_wide(m, e, size);
	zero = like(c, e, 0);
	entry = var_new(m,
			of == 1 ? "entry"
				: arena_printf(&m->arena, "entry%d", d),
			e->type);
	at = var_new(m, of == 1 ? "at" : arena_printf(&m->arena, "at%d", d),
		     e->type);
	v = entry->expr;
	size = expr_cast(m, e->type, size);
	t->inside = expr_and(m, t->inside,
			     expr_and(m, expr_le(m, expr_sub(m, zero, size), v),
				      expr_lt(m, v, size)));
	t->entry[t->n] = (struct te_let){ entry, e };
	t->place[t->n++] = (struct te_let){
		at, expr_select(m, expr_lt(m, v, zero), expr_add(m, v, size), v)
	};
	t->at[d] = at->expr;
}

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
	case 'i': /* min */
		return expr_min(m, a, b);
	default: /* none */
		return b;
	}
}

/* Are there too few unordered iterations for the threads of a device? Sizes
 * that are not known count as large. */
static bool
wants_slices(const struct define *c, const struct node *n,
	     const struct iter_var *axes, int n_axes)
{
	bool constant = true;
	int64_t threads = 1, extent;

	for (int k = 0; k < n_axes; k++) {
		if (axes[k].kind == ITER_SPATIAL) {
			threads *= expr_is_int(axes[k].extent, &extent)
					   ? extent
					   : LEAST_THREADS;
		}
		if (threads >= LEAST_THREADS) {
			return false;
		}
	}
	for (int i = 0; i < n->n_inputs; i++) {
		constant &= !n->inputs[i] || tensor_is_constant(n->inputs[i]);
	}
	return c->graph->settings->by_threads && !constant;
}

/* Sets *axis to an axis over the slices of a dimension of the given size, and
 * *inside to the condition that position `at` is in the slice. False if the
 * size is not constant, or if there would be only one slice. */
static bool
slice(struct define *c, const struct expr *size, const struct expr *at,
      struct iter_var *axis, const struct expr **inside)
{
	struct module *m = c->module;
	const struct expr *first;
	int64_t elems, run;

	if (!expr_is_int(size, &elems) || elems < 2) {
		return false;
	}
	run = (elems + MOST_SLICES - 1) / MOST_SLICES;
	*axis = te_reduce_axis(m, "s",
			       expr_i32(m, (int32_t)((elems + run - 1) / run)));
	axis->kind = ITER_SPATIAL;
	first = expr_mul(m, axis->var->expr, expr_int(m, axis->var->type, run));
	first = expr_cast(m, at->type, first);
	*inside = expr_and(m, expr_le(m, first, at),
			   expr_lt(m, at,
				   expr_add(m, first,
					    like(c, at, (double)run))));
	return true;
}

/* The stage that makes the updates, one for each point of the axes; updates of
 * the same element differ only in dimension d. */
static struct te_tensor *
scatter(struct define *c, const struct node *n, struct te_tensor *const *in,
	struct iter_var *axes, int n_axes, const struct expr *update,
	const struct target *t, int d)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const char *how = node_attr_string(n, "reduction", "none");
	const char *name = "scatter";
	struct iter_var *elements = define_axes(c, y);
	struct iter_var *all = arena_array(&m->arena, struct iter_var,
					   n_axes + 1);
	struct te_tensor *out;
	struct te_let *lets = arena_array(&m->arena, struct te_let,
					  2 * t->n + 1);
	struct te_store store = {
		.at = t->at, .lets = lets, .n_first = t->n, .n_then = t->n
	};
	bool sliced = wants_slices(c, n, axes, n_axes) &&
		      slice(c, y->shape[d], t->at[d], &all[0], &store.then);

	for (int k = 0; k < n_axes; k++) {
		all[k + sliced] = axes[k];
	}
	for (int k = 0; k < t->n; k++) {
		lets[k] = t->entry[k];
		lets[t->n + k] = t->place[k];
	}
	te_ordered(m, name, "scatter", &name, &y->type, &y->ndim,
		   (const struct expr *const *[]){ y->shape }, 1, &out);
	te_ordered_start(m, out, elements,
			 te_at(m, in[0], axes_exprs(c, elements, y->ndim),
			       y->ndim));
	store.value = combine(m, how, te_at(m, out, t->at, y->ndim), update);
	store.condition = t->n > 0 ? t->inside : NULL;
	define_ordered(c, &out, 1, all, n_axes + sliced, &store, 1);
	return out;
}

static bool
infer_scatter(struct infer *c, struct node *n, struct dtype update)
{
	const char *how = node_attr_string(n, "reduction", "none");
	const struct tensor *x = n->inputs[0];

	if (!dtype_equal(x->type, update)) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "the updates are %s and the data %s; insert "
				   "a Cast",
				   dtype_name(update), dtype_name(x->type));
	}
	if (strcmp(how, "none") != 0 && dtype_class(x->type) == DTC_BOOL) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "reduction '%s' of bool is not defined; "
				   "insert a Cast",
				   how);
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

	if (!infer_index_type(c, n, 1) ||
	    !infer_axis(c, node_attr_int(n, "axis", 0), x->ndim, &axis)) {
		return false;
	}
	for (int d = 0; d < x->ndim; d++) {
		if (indices->ndim != x->ndim || updates->ndim != x->ndim ||
		    !dims_equal(c, indices->shape[d], updates->shape[d])) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "indices and updates must have "
					   "the data's rank and equal "
					   "shapes; correct the model");
		}
	}
	return infer_indices_within(c, n, axis) &&
	       infer_scatter(c, n, updates->type);
}

/* Two updates can write the same element only if their indices differ in no
 * other dimension than `axis`. */
bool
define_scatter_elements(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	struct iter_var *axes = define_axes(c, indices);
	const struct expr **from = axes_exprs(c, axes, x->ndim);
	struct target t = target_new(c, x->ndim);
	int64_t axis = node_attr_int(n, "axis", 0);

	axis += axis < 0 ? x->ndim : 0;
	axes[axis].kind = ITER_SCAN;
	for (int d = 0; d < x->ndim; d++) {
		t.at[d] = from[d];
	}
	target_index(c, n, &t, (int)axis, x->shape[axis],
		     te_at(m, in[1], from, x->ndim), 1);
	out[0] = scatter(c, n, in, axes, x->ndim,
			 te_at(m, in[2], from, x->ndim), &t, (int)axis);
	return true;
}

bool
infer_scatter_nd(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	const struct tensor *updates = n->inputs[2];
	int q = indices->ndim, length = infer_tuple_length(c, n, 0);
	bool fits;

	if (!length) {
		return false;
	}
	fits = updates->ndim == q - 1 + x->ndim - length;
	for (int d = 0; fits && d < updates->ndim; d++) {
		fits = dims_equal(c, updates->shape[d],
				  d < q - 1 ? indices->shape[d]
					    : x->shape[d - (q - 1) + length]);
	}
	if (!fits) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the shape of the updates does not match "
				   "those of data and indices; correct the "
				   "model");
	}
	return infer_scatter(c, n, updates->type);
}

/* The axes of the updates: first one for each dimension of index tuples, then
 * one for each dimension of the slice of the data that a tuple selects. */
bool
define_scatter_nd(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct arena *a = &m->arena;
	const struct tensor *x = n->inputs[0], *indices = n->inputs[1];
	int tuples = indices->ndim - 1, rank = n->inputs[2]->ndim;
	int length = x->ndim - (rank - tuples);
	struct iter_var *axes = arena_array(a, struct iter_var, rank + 1);
	const struct iter_var *slice = define_axes(c, x);
	struct target t = target_new(c, x->ndim);
	const struct expr **tuple;

	for (int k = 0; k < tuples; k++) {
		axes[k] = te_reduce_axis(m,
					 tuples == 1
						 ? "r"
						 : arena_printf(a, "r%d", k),
					 indices->shape[k]);
		axes[k].kind = ITER_SCAN;
	}
	for (int k = tuples; k < rank; k++) {
		axes[k] = slice[k - tuples + length];
	}
	tuple = axes_exprs(c, axes, tuples);
	for (int d = 0; d < x->ndim; d++) {
		if (d >= length) {
			t.at[d] = axes[tuples + d - length].var->expr;
			continue;
		}
		tuple[tuples] = expr_i32(m, d);
		target_index(c, n, &t, d, x->shape[d],
			     te_at(m, in[1], tuple, tuples + 1), length);
	}
	out[0] = scatter(c, n, in, axes, rank,
			 te_at(m, in[2], axes_exprs(c, axes, rank), rank), &t,
			 0);
	return true;
}

bool
infer_tensor_scatter(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *u = n->inputs[1];
	int axis;

	if (!infer_axis(c, node_attr_int(n, "axis", -2), x->ndim, &axis) ||
	    !infer_form(c, n, 2, TYPES_SIGNED, 1, 1)) {
		return false;
	}
	if (node_input(n, 2) &&
	    !dims_equal(c, n->inputs[2]->shape[0], x->shape[0])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input 2 does not have one position for "
				   "each sequence; correct its shape");
	}
	if (axis == 0) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "its axis is 0, that of the sequences; "
				   "correct the model");
	}
	for (int d = 0; d < x->ndim; d++) {
		if (u->ndim != x->ndim ||
		    !(d == axis ? dims_at_most(c, u->shape[d], x->shape[d])
				: dims_equal(c, u->shape[d], x->shape[d]))) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "the update does not fit into the "
					   "cache; correct the model");
		}
	}
	return infer_scatter(c, n, u->type);
}

/* Each row b of the update is stored at the positions from input 2 [b] on:
 *
 *	for i0, ..., s, ...: y[i0, ..., at[i0] + s, ...] = u[i0, ..., s, ...]
 *
 * modulo the size of the axis if the mode is circular. */
bool
define_tensor_scatter(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *u = n->inputs[1];
	bool circular = node_attr_string(n, "mode", "linear")[0] == 'c';
	struct iter_var *axes = define_axes(c, u);
	const struct expr **from = axes_exprs(c, axes, x->ndim), *first, *size;
	struct target t = target_new(c, x->ndim);
	int64_t axis = node_attr_int(n, "axis", -2);
	struct var *entry, *at;

	axis += axis < 0 ? x->ndim : 0;
	for (int d = 0; d < x->ndim; d++) {
		t.at[d] = from[d];
	}
	if (node_input(n, 2)) {
		axes[axis].kind = ITER_SCAN;
		first = expr_cast(m, dtype_of(DT_I64),
				  te_at(m, in[2], from, 1));
		entry = var_new(m, "entry", first->type);
		at = var_new(m, "at", first->type);
		size = expr_cast(m, first->type, x->shape[axis]);
		t.entry[0] = (struct te_let){
			entry, expr_add(m, first,
					expr_cast(m, first->type, from[axis]))
		};
		t.place[0] = (struct te_let){
			at, circular ? expr_floormod(m, entry->expr, size)
				     : entry->expr
		};
		t.n = 1;
		if (!circular) {
			t.inside = expr_and(m,
					    expr_le(m, like(c, first, 0),
						    entry->expr),
					    expr_lt(m, entry->expr, size));
		}
		t.at[axis] = at->expr;
	}
	out[0] = scatter(c, n, in, axes, x->ndim,
			 te_at(m, in[1], from, x->ndim), &t, (int)axis);
	return true;
}
