/* SPDX-License-Identifier: Apache-2.0 */
/* GridSample, and the samples of DeformConv: elements of an image at computed
 * positions. All channels have the same positions:
 *
 *	for n, oh, ow:
 *		y, x = grid[n, oh, ow]
 *		y0, x0 = floor(y), floor(x)
 *		for c: out[n, c, oh, ow] = weights * image[n, c, y0.., x0..]
 *
 * On a CPU, the positions of linear samples are stored in arrays for a row, so
 * that all elements of one channel are read together:
 *
 *	for n, oh:
 *		for ow: at[ow], has[ow], by[ow] = computed from grid[n, oh, ow]
 *			inside[ow] = has[ow] for all taps
 *		for c, ow:
 *			if inside[ow]: out[n, c, oh, ow] = weights * image
 *			else: the same with the taps that are inside */
#include "sampler.h"

static int
taps_of(const struct node *n)
{
	const char *mode = node_attr_string(n, "mode", "linear");

	return strcmp(mode, "nearest") == 0                                 ? 1
	       : strcmp(mode, "cubic") == 0 || strcmp(mode, "bicubic") == 0 ? 4
									    : 2;
}

static int
padding_of(const struct node *n)
{
	static const char *const names[] = { "zeros", "border", "reflection" };
	const char *mode = node_attr_string(n, "padding_mode", "zeros");

	int k = 0;

	while (strcmp(mode, names[k]) != 0) {
		k++;
	}
	return k;
}

bool
infer_grid_sample(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *grid = n->inputs[1];
	int rank = x->ndim - 2;
	const struct expr *shape[2 + SAMPLER_MAX];

	if (!infer_form(c, n, 0, TYPES_NUMBER, 3, 2 + SAMPLER_MAX) ||
	    !infer_form(c, n, 1, TYPES_FLOAT, x->ndim, x->ndim)) {
		return false;
	}
	if (!dims_equal(c, grid->shape[rank + 1], expr_i32(c->module, rank)) ||
	    !dims_equal(c, grid->shape[0], x->shape[0])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the grid does not have one position of %d "
				   "numbers for each result; correct its shape",
				   rank);
	}
	for (int d = 0; d < rank + 2; d++) {
		shape[d] = d < 2 ? x->shape[d] : grid->shape[d - 1];
	}
	for (int d = 2; d < rank + 2 && padding_of(n) != PADDING_ZEROS; d++) {
		infer_reads(c, x->shape[d], x->ndim, shape);
	}
	infer_set(c, n->outputs[0], x->type, x->ndim, shape);
	return true;
}

/* x clamped to [low, high]. If x is NaN, the result is a number in this range,
 * too. */
static const struct expr *
clamp(struct module *m, const struct expr *x, const struct expr *low,
      const struct expr *high)
{
	x = expr_call2(m, INTRIN_FMAX, x, low);
	return expr_select(m, expr_lt(m, high, x), high, x);
}

/* Reflects a position at the ends of [low, high]. */
static const struct expr *
reflect(struct step_names *names, const char *axis, const struct expr *x,
	const struct expr *low, const struct expr *high)
{
	struct module *m = names->s->m;
	struct arena *a = &m->arena;
	struct dtype t = x->type;
	const struct expr *half = expr_float(m, t, 0.5), *far, *times, *rest;
	const struct expr *range = expr_sub(m, high, low), *even;

	if (range->kind == EXPR_FLOAT && range->u.fval == 0) {
		return low;
	}
	far = step_name(names, arena_printf(a, "%s_far", axis),
			expr_call1(m, INTRIN_ABS, expr_sub(m, x, low)));
	times = step_name(names, arena_printf(a, "%s_times", axis),
			  expr_call1(m, INTRIN_FLOOR, expr_div(m, far, range)));
	rest = expr_sub(m, far, expr_mul(m, times, range));
	even = expr_mul(m, times, half);
	even = expr_eq(m, expr_call1(m, INTRIN_FLOOR, even), even);
	return expr_select(m, even, expr_add(m, low, rest),
			   expr_sub(m, high, rest));
}

/* The position in dimension d that the grid gives, in elements of the image,
 * after padding_mode is applied. */
static const struct expr *
grid_position(struct step_names *names, const struct node *n, int rank, int d,
	      const struct expr *given, const struct expr *size)
{
	struct module *m = names->s->m;
	const char *axis = sampler_axis(m, rank, d);
	struct dtype t = accumulator_type(given->type);
	bool align = node_attr_int(n, "align_corners", 0) != 0;
	const struct expr *one = expr_float(m, t, 1);
	const struct expr *half = expr_float(m, t, 0.5);
	const struct expr *zero = expr_float(m, t, 0);
	const struct expr *length = expr_cast(m, t, size), *x, *low, *high;
	const struct expr *last = expr_sub(m, length, one), *inner;
	int taps = taps_of(n);

	x = expr_add(m, expr_cast(m, t, given), one);
	if (align) {
		x = expr_mul(m, expr_mul(m, x, half), last);
	} else {
		x = expr_mul(m, expr_sub(m, expr_mul(m, x, length), one), half);
	}
	if (taps == 1) {
		x = expr_call1(m, INTRIN_NEARBYINT, x);
	}
	x = step_name(names, arena_printf(&m->arena, "%s_grid", axis), x);
	switch (padding_of(n)) {
	case PADDING_ZEROS:
		/* The limits of positions: beyond them no tap is inside of the
		 * image. */
		low = expr_float(m, t, -3);
		high = expr_add(m, length, expr_float(m, t, 2));
		x = clamp(m, x, low, high);
		break;
	case PADDING_BORDER:
		/* Half an element outside, both taps are the element at the
		 * border, each with half of the weight. */
		low = expr_float(m, t, -0.5);
		high = expr_sub(m, length, half);
		inner = taps == 2 ? clamp(m, x, low, high)
				  : clamp(m, x, zero, last);
		if (taps == 4 && !align) {
			/* A position at most half an element outside is not
			 * changed. */
			inner = expr_select(m,
					    expr_and(m, expr_le(m, low, x),
						     expr_le(m, x, high)),
					    x, inner);
		}
		x = inner;
		break;
	default:
		low = align ? zero : expr_float(m, t, -0.5);
		high = align ? last : expr_sub(m, length, half);
		x = clamp(m, reflect(names, axis, x, low, high), low, high);
		break;
	}
	return step_name(names, axis, x);
}

/* Sets the taps of all dimensions for the sample at position at[2..) of the
 * result, in image at[0]. */
static void
set_taps(struct sampler *p, struct step_names *names, const struct node *n,
	 const struct te_tensor *grid, const struct expr *const *at)
{
	struct module *m = names->s->m;
	const struct tensor *x = n->inputs[0];
	const struct expr *from[2 + SAMPLER_MAX], *given;

	from[0] = at[0];
	for (int d = 0; d < p->rank; d++) {
		from[1 + d] = at[2 + d];
	}
	for (int d = 0; d < p->rank; d++) {
		from[1 + p->rank] = expr_i32(m, p->rank - 1 - d);
		given = te_at(m, grid, from, 2 + p->rank);
		given = grid_position(names, n, p->rank, d, given,
				      x->shape[2 + d]);
		sampler_set(p, names, d, given, x->shape[2 + d],
			    (enum sampler_padding)padding_of(n),
			    node_attr_int(n, "align_corners", 0) != 0);
	}
}

/* The type in which the taps are summed. */
static struct dtype
sum_type(const struct sampler *p, struct dtype t)
{
	return p->n_taps == 1      ? t
	       : dtype_is_float(t) ? accumulator_type(t)
				   : dtype_of(DT_F64);
}

/* -- with arrays for the positions of a row -- */

/* The arrays of a tap: its position, whether it is inside of the image, and its
 * weight. */
enum { AT, HAS, BY, N_KINDS, MOST_ARRAYS = 2 + SAMPLER_MAX * 2 * N_KINDS };

struct rows {
	struct steps s;
	/* set: the taps as they are computed for a row; taken: the taps as they
	 * are read from arrays */
	struct sampler set, taken;
	const struct expr **at; /* the index of the element in the result */
	/* the number of arrays of positions; the outputs of the stage are the
	 * result and these arrays */
	int n_arrays;
	struct te_tensor *made[MOST_ARRAYS];
	struct stmt *stores[MOST_ARRAYS];
	const char *names[MOST_ARRAYS];
	struct dtype types[MOST_ARRAYS];
};

static void
list_arrays(struct rows *r, const struct node *n, struct dtype index)
{
	static const char *const kinds[] = { "at", "has", "by" };
	struct module *m = r->s.m;
	struct dtype types[] = { index, dtype_of(DT_BOOL),
				 accumulator_type(n->inputs[1]->type) };

	for (int i = 0; i < r->set.rank * 2 * N_KINDS; i++) {
		int d = i / (2 * N_KINDS), kind = i % N_KINDS;

		if (kind == HAS && padding_of(n) != PADDING_ZEROS) {
			continue;
		}
		r->types[1 + r->n_arrays] = types[kind];
		r->names[1 + r->n_arrays++] =
			arena_printf(&m->arena, "row_%s_%s%d", kinds[kind],
				     sampler_axis(m, r->set.rank, d),
				     i / N_KINDS % 2);
	}
	if (padding_of(n) == PADDING_ZEROS) {
		r->types[1 + r->n_arrays] = dtype_of(DT_BOOL);
		r->names[1 + r->n_arrays++] = "row_inside";
	}
}

/* Stores `value`, computed for each position of a row, in the next free array.
 * Returns the load of this array at `w`, the position in the row that reads
 * it. */
static const struct expr *
through_array(struct rows *r, const struct expr *value, const struct expr *w)
{
	struct module *m = r->s.m;
	const struct te_tensor *to = r->made[1 + r->n_arrays];
	const struct expr *at[1 + SAMPLER_MAX];
	int rank = r->set.rank;

	at[0] = r->at[0];
	for (int d = 0; d < rank; d++) {
		at[1 + d] = r->at[2 + d];
	}
	r->stores[r->n_arrays++] = stmt_store(r->s.f, to->buffer, value, at,
					      1 + rank);
	at[rank] = w;
	return te_at(m, to, at, 1 + rank);
}

/* Stores the index, condition and weight of each tap of a row's positions in
 * arrays, and sets r->taken to the loads of these at position w. Returns the
 * load of the condition that all taps of the position are inside; NULL if they
 * are always inside. */
static const struct expr *
take_from_arrays(struct rows *r, const struct expr *w)
{
	struct module *m = r->s.m;
	const struct expr *all = NULL;

	r->taken = r->set;
	r->n_arrays = 0;
	for (int d = 0; d < r->set.rank; d++) {
		for (int t = 0; t < 2; t++) {
			const struct expr *has = r->set.inside[d][t];

			r->taken.at[d][t] = through_array(r, r->set.at[d][t],
							  w);
			if (has) {
				r->taken.inside[d][t] = through_array(r, has,
								      w);
				all = all ? expr_and(m, all, has) : has;
			}
			r->taken.weight[d][t] =
				through_array(r, r->set.weight[d][t], w);
		}
	}
	return all ? through_array(r, all, w) : NULL;
}

/* Stores the result at r->at. */
static struct stmt *
store_sum(const struct rows *r, const struct sampler *p, struct define *c,
	  const struct te_tensor *image)
{
	const struct te_tensor *to = r->made[0];
	const struct expr *sum;

	sum = sampler_sum(p, r->s.m, image, r->at[0], r->at[1],
			  sum_type(p, image->buffer->type));
	return stmt_store(r->s.f, to->buffer,
			  convert_to(c, to->buffer->type, sum), r->at,
			  2 + p->rank);
}

/* The statement that computes one element of the result. If `all` is not NULL,
 * the statement is an IF on the condition `all`, with a copy in which the taps
 * have no conditions for the case that `all` holds. */
static struct stmt *
store_element(const struct rows *r, struct define *c,
	      const struct te_tensor *image, const struct expr *all)
{
	struct sampler inside = r->taken;
	struct stmt *some = store_sum(r, &r->taken, c, image);

	if (!all) {
		return some;
	}
	memset(inside.inside, 0, sizeof inside.inside);
	return stmt_if(r->s.f, all, store_sum(r, &inside, c, image), some);
}

static bool
define_rows(struct define *c, const struct node *n, struct te_tensor *const *in,
	    struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct rows r = { .s = { .m = m },
			  .set = { .rank = x->ndim - 2, .n_taps = 2 } };
	struct iter_var *axes = define_axes(c, y), channel = axes[1];
	struct iter_var place = axes[y->ndim - 1];
	struct step_names names = { .s = &r.s };
	struct var *w = var_new(m, place.var->name, place.var->type);
	const struct expr *shape[1 + SAMPLER_MAX], *all;
	const struct expr *const *shapes[MOST_ARRAYS];
	int ndims[MOST_ARRAYS], last = y->ndim - 1;
	struct stmt *fill, *body;

	r.at = axes_exprs(c, axes, y->ndim);
	list_arrays(&r, n, x->shape[2]->type);
	shape[0] = y->shape[0];
	for (int d = 1; d < last; d++) {
		shape[d] = y->shape[1 + d];
	}
	for (int i = 0; i <= r.n_arrays; i++) {
		shapes[i] = i == 0 ? y->shape : shape;
		ndims[i] = i == 0 ? y->ndim : last;
	}
	r.names[0] = "sample";
	r.types[0] = y->type;
	r.s = steps_begin(c, "sample", "sample", r.names, r.types, ndims,
			  shapes, 1 + r.n_arrays, in, 2, r.made);
	set_taps(&r.set, &names, n, in[1], r.at);
	all = take_from_arrays(&r, w->expr);
	fill = step_named(&names, stmt_seq(r.s.f, r.stores, r.n_arrays));
	fill = step_for(&r.s, place.var, place.extent, fill);
	r.at[last] = w->expr;
	body = store_element(&r, c, in[0], all);
	body = step_for(&r.s, w, place.extent, body);
	body = step_for(&r.s, channel.var, channel.extent, body);
	for (int d = 1; d < last; d++) {
		axes[d] = axes[d + 1];
	}
	steps_end(&r.s, axes, last - 1,
		  step_seq(&r.s, 2, fill, body, NULL, NULL));
	out[0] = r.made[0];
	return true;
}

/* -- definitions in which a name is an element beside one position -- */

/* GridSample, which samples one position for each element of the result. The
 * names in the definition stand for the elements of x beside this position, its
 * taps. Bilinear
 * sampling without the setting by_threads computes the taps of a row once
 * (define_rows). */
bool
define_grid_sample(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const name[] = { "sample" };
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct sampler p = { .rank = x->ndim - 2, .n_taps = taps_of(n) };
	struct iter_var *axes, channel;
	const struct expr **at, *sum;
	struct step_names names;
	struct stmt *body;
	struct steps s;

	if (taps_of(n) == 2 && !c->graph->settings->by_threads) {
		return define_rows(c, n, in, out);
	}
	axes = define_axes(c, y);
	channel = axes[1];
	at = axes_exprs(c, axes, y->ndim);
	s = steps_begin(c, name[0], "sample", name, &y->type, &y->ndim,
			(const struct expr *const *[]){ y->shape }, 1, in, 2,
			out);
	names = (struct step_names){ .s = &s };
	set_taps(&p, &names, n, in[1], at);
	sum = sampler_sum(&p, m, in[0], at[0], at[1], sum_type(&p, x->type));
	body = stmt_store(s.f, out[0]->buffer, convert_to(c, y->type, sum), at,
			  y->ndim);
	body = step_named(&names,
			  step_for(&s, channel.var, channel.extent, body));
	for (int d = 1; d <= p.rank; d++) {
		axes[d] = axes[d + 1];
	}
	steps_end(&s, axes, y->ndim - 1, body);
	return true;
}
