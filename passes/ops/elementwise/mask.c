/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose elements depend on their position: triangles, one-hot rows,
 * reversed sequences. */
#include "dims.h"

#include <math.h>

/* ---- Trilu ---- */

bool
infer_trilu(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (x->ndim < 2) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "Trilu needs matrices; '%s' has %d "
				   "dimensions",
				   x->name, x->ndim);
	}
	if (!infer_param(c, n, 1, TYPES_SIGNED, NULL)) {
		return false;
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

bool
define_trilu(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	int rank = y->ndim, count;
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, rank), *x, *kept;
	const struct expr *k = expr_i32(m, 0), *most = k;
	const int64_t *known;

	if (input_ints(m, n, 1, &known, &count) && count == 1) {
		k = dim_offset(m, known[0], y->shape[rank - 2],
			       y->shape[rank - 1]);
		most = k;
	} else if (node_input(n, 1)) {
		/* an offset beyond the edge of the matrix has the same effect
		 * as one at the edge */
		k = define_clamped(c, define_scalar(c, n, in, 1),
				   expr_sub(m, expr_i32(m, 0),
					    y->shape[rank - 2]),
				   y->shape[rank - 1]);
		most = y->shape[rank - 1];
	}
	x = te_at(m, in[0], at, rank);
	k = dim_shifted(m, at[rank - 2], y->shape[rank - 2], k, most);
	kept = node_attr_int(n, "upper", 1) ? expr_le(m, k, at[rank - 1])
					    : expr_le(m, at[rank - 1], k);
	out[0] = define_stage(c, "trilu", "injective", rank, axes,
			      expr_select(m, kept, x,
					  expr_const(m, x->type, 0)));
	return true;
}

/* ---- tirc.Band: the keys that a query of an attention may see ----
 *
 *	y[..., i, j] = x[..., i, j] if first <= j <= last and j < count,
 *		       else -infinity
 *
 * where first = start + i - left and last = start + i + right (if left or right
 * is -1, there is no bound on that side). start is input 1 and count input 2;
 * both are broadcast to x. */

bool
infer_band(struct infer *c, struct node *n)
{
	const struct expr **shape;
	int rank;

	if (!infer_form(c, n, 0, TYPES_FLOAT, 2, INT32_MAX) ||
	    !infer_form(c, n, 1, TYPES_SIGNED, 0, INT32_MAX) ||
	    !infer_form(c, n, 2, TYPES_SIGNED, 0, INT32_MAX) ||
	    !infer_broadcast(c, (const struct tensor *const *)n->inputs,
			     n->n_inputs, &rank, &shape)) {
		return false;
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, rank, shape);
	return true;
}

#define BAND_MAX (1 << 30)

/* The largest offset that matters: the larger of BAND_MAX and the largest
 * number of queries or keys. A larger offset has the same effect. */
static int64_t
band_most(const struct tensor *y)
{
	int64_t most = BAND_MAX, size;

	for (int d = y->ndim - 2; d < y->ndim; d++) {
		if (!size_max(y->shape[d], &size)) {
			size = INT64_MAX / 4;
		}
		most = size > most ? size : most;
	}
	return most;
}

/* The value of input i for an element of the result. It is limited to [-most,
 * most] unless it is a symbolic size. NULL if the input is absent. */
static const struct expr *
band_number(struct define *c, const struct node *n, const struct te_tensor *t,
	    int i, const struct expr *const *at, struct dtype type,
	    int64_t most)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct expr *const *elems, *e;
	int64_t known;
	int count;

	if (!node_input(n, i)) {
		return NULL;
	}
	if (input_elems(m, n, i, &elems, &count) && count == 1) {
		if (expr_is_int(elems[0], &known)) {
			known = known < -most ? -most : known;
			return expr_int(m, type, known > most ? most : known);
		}
		return expr_cast(m, type, elems[0]);
	}
	e = define_broadcast(c, t, at, y->shape, y->ndim);
	if (dtype_bits(e->type) < dtype_bits(type)) {
		e = expr_cast(m, type, e);
	}
	e = expr_max(m, e, expr_int(m, e->type, -most));
	e = expr_min(m, e, expr_int(m, e->type, most));
	return expr_cast(m, type, e);
}

static bool
band_side(const struct node *n, const char *name, int64_t most, int64_t *v)
{
	*v = node_attr_int(n, name, -1);
	return *v >= 0 && *v < most;
}

bool
define_band(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	int rank = y->ndim;
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, rank);
	const struct expr *x = define_broadcast(c, in[0], at, y->shape, rank);
	const struct expr *key = at[rank - 1], *query = at[rank - 2];
	const struct expr *inside = expr_bool(m, true);
	const struct expr *start, *count;
	int64_t most = band_most(y), v;
	/* the sum of two such numbers and an index is computed in 64 bits if 32
	 * bits may not hold it */
	struct dtype t = most > BAND_MAX ? dtype_of(DT_I64) : key->type;

	start = band_number(c, n, n->n_inputs > 1 ? in[1] : NULL, 1, at, t,
			    most);
	count = band_number(c, n, n->n_inputs > 2 ? in[2] : NULL, 2, at, t,
			    most);
	query = start ? expr_add(m, query, start) : query;
	if (band_side(n, "left", most, &v)) {
		inside = expr_le(m, query, expr_add(m, key, expr_index(m, v)));
	}
	if (band_side(n, "right", most, &v)) {
		inside = expr_and(m, inside,
				  expr_le(m, key,
					  expr_add(m, query,
						   expr_index(m, v))));
	}
	if (count) {
		inside = expr_and(m, inside, expr_lt(m, key, count));
	}
	out[0] = define_stage(c, "band", "injective", rank, axes,
			      expr_select(m, inside, x,
					  expr_const(m, x->type, -INFINITY)));
	return true;
}

/* ---- OneHot ---- */

/* OneHot: the result has the shape of the indices with one more dimension, of
 * the size `depth` (input 1), at the attribute axis; and the type of the values
 * (input 2). False after a diagnostic. */
bool
infer_one_hot(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0];
	const struct expr **shape = arena_exprs(&m->arena, x->ndim + 2);
	const struct expr *const *depth, *size;
	double number;
	int axis, count, from = 0;

	if (!infer_form(c, n, 2, TYPES_ANY, 1, 1)) {
		return false;
	}
	if (!dims_equal(c, n->inputs[2]->shape[0], expr_i32(m, 2))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input 2 must contain two values, off and "
				   "on; correct its shape");
	}
	if (input_elems(m, n, 1, &depth, &count) && count == 1) {
		size = depth[0];
	} else if (input_scalar(n, 1, &number) && number >= 0 &&
		   number < 1e15) {
		size = expr_index(m, (int64_t)number);
	} else {
		return infer_needs_constant(c, n, 1);
	}
	if (!infer_axis(c, node_attr_int(n, "axis", -1), x->ndim + 1, &axis)) {
		return false;
	}
	for (int d = 0; d <= x->ndim; d++) {
		shape[d] = d == axis ? size : x->shape[from++];
	}
	infer_set(c, n->outputs[0], n->inputs[2]->type, x->ndim + 1, shape);
	return true;
}

/* All elements for an index outside of [-depth, depth) have the "off" value. */
bool
define_one_hot(struct define *c, const struct node *n,
	       struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = arena_exprs(&m->arena, y->ndim + 1);
	const struct expr *hot, *values[2];
	struct tensor *pair = n->inputs[2];
	int64_t axis = node_attr_int(n, "axis", -1);
	int rank = 0;

	axis += axis < 0 ? y->ndim : 0;
	for (int d = 0; d < y->ndim; d++) {
		if (d != axis) {
			at[rank++] = axes[d].var->expr;
		}
	}
	hot = te_at(m, in[0], at, rank);
	if (hot->type.kind == DT_U64) {
		/* as an int64, a large uint64 index would become negative */
		hot = expr_min(m, hot, expr_int(m, hot->type, INT64_MAX));
	}
	hot = convert_to(c, dtype_of(DT_I64), hot);
	hot = expr_select(m, expr_lt(m, hot, like(c, hot, 0)),
			  expr_add(m, hot,
				   expr_cast(m, hot->type, y->shape[axis])),
			  hot);
	for (int k = 0; k < 2; k++) {
		const struct expr *which = expr_i32(m, k);

		values[k] = pair->value && pair->value->elems == 2
				    ? value_literal(m, pair->value, (size_t)k)
				    : te_at(m, in[2], &which, 1);
	}
	out[0] =
		define_stage(c, "one_hot", "injective", y->ndim, axes,
			     expr_select(m,
					 expr_eq(m, hot,
						 expr_cast(m, hot->type,
							   axes[axis]
								   .var->expr)),
					 values[1], values[0]));
	return true;
}

/* ---- ReverseSequence ---- */

bool
infer_reverse_sequence(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int batch, time;

	if (!infer_axis(c, node_attr_int(n, "batch_axis", 1), x->ndim,
			&batch) ||
	    !infer_axis(c, node_attr_int(n, "time_axis", 0), x->ndim, &time)) {
		return false;
	}
	if (batch == time) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "batch_axis and time_axis are the same; "
				   "correct the model");
	}
	if (!infer_form(c, n, 1, TYPES_INTEGER, 1, 1)) {
		return false;
	}
	if (!dims_equal(c, n->inputs[1]->shape[0], x->shape[batch])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input 1 does not have one length per "
				   "sequence; correct its shape");
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, x->shape);
	return true;
}

/* A length beyond the sequence counts as the length of the sequence, a negative
 * length as 0. */
bool
define_reverse_sequence(struct define *c, const struct node *n,
			struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	struct infer checked = { c->graph, m, n };
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim), *last;
	int batch, time;

	if (!infer_axis(&checked, node_attr_int(n, "batch_axis", 1), y->ndim,
			&batch) ||
	    !infer_axis(&checked, node_attr_int(n, "time_axis", 0), y->ndim,
			&time)) {
		return false;
	}
	last = define_clamped(c, te_at(m, in[1], &at[batch], 1), expr_i32(m, 0),
			      y->shape[time]);
	last = expr_sub(m, last, expr_i32(m, 1));
	at[time] = expr_select(m, expr_le(m, at[time], last),
			       expr_sub(m, last, at[time]), at[time]);
	out[0] = define_stage(c, "reverse", "injective", y->ndim, axes,
			      te_at(m, in[0], at, y->ndim));
	return true;
}
