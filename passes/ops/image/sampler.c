/* SPDX-License-Identifier: Apache-2.0 */
/* Interpolation at computed positions, with one tap, two taps (linear) or four
 * taps (cubic) in each dimension. Cubic: R. Keys, Cubic Convolution
 * Interpolation for Digital Image Processing, 1981, with a = -0.75, as in
 * PyTorch. */
#include "sampler.h"

#include "dims.h"

const char *
sampler_axis(struct module *m, int rank, int d)
{
	static const char *const names[] = { "x", "y", "z" };

	return rank <= 3 ? names[rank - 1 - d]
			 : arena_printf(&m->arena, "x%d", d);
}

/* Reflects index i at the ends of [0, size), or, if corners are aligned, at the
 * first and the last element. */
static const struct expr *
reflected(struct module *m, const struct expr *i, const struct expr *size,
	  bool align_corners)
{
	const struct expr *one = expr_int(m, size->type, 1), *period, *last;

	if (expr_is_value(size, 1)) {
		return expr_int(m, size->type, 0);
	}
	period = dim_add(m, size, size);
	if (align_corners) {
		period = expr_max(m, dim_sub(m, period, expr_add(m, one, one)),
				  one);
		last = period;
	} else {
		last = expr_sub(m, period, one);
	}
	i = expr_floormod(m, i, period);
	i = expr_select(m, expr_lt(m, i, size), i, expr_sub(m, last, i));
	return expr_cast(m, size->type, i);
}

/* a * s^3 - 5 a * s^2 + 8 a * s - 4 a for 1 <= s <= 2, (a + 2) * s^3 - (a + 3)
 * * s^2 + 1 for s <= 1 */
static const struct expr *
cubic_weight(struct module *m, const struct expr *s, bool far)
{
	const double a = -0.75;
	const double far_by[] = { a, -5 * a, 8 * a, -4 * a };
	const double near_by[] = { a + 2, -(a + 3), 0, 1 };
	const double *by = far ? far_by : near_by;
	const struct expr *sum = expr_float(m, s->type, by[0]);

	for (int k = 1; k < 4; k++) {
		sum = expr_mul(m, sum, s);
		if (by[k] != 0) {
			sum = expr_add(m, sum, expr_float(m, s->type, by[k]));
		}
	}
	return sum;
}

static const struct expr *
tap_weight(struct module *m, const struct expr *part, int n_taps, int t)
{
	const struct expr *one = expr_float(m, part->type, 1), *distance;

	if (n_taps == 2) {
		return t == 0 ? expr_sub(m, one, part) : part;
	}
	distance = t < 2 ? expr_add(m, part, expr_float(m, part->type, 1 - t))
			 : expr_sub(m, expr_float(m, part->type, t - 1), part);
	return cubic_weight(m, distance, t == 0 || t == 3);
}

void
sampler_set(struct sampler *p, struct step_names *names, int d,
	    const struct expr *x, const struct expr *size,
	    enum sampler_padding padding, bool align_corners)
{
	struct module *m = names->s->m;
	struct arena *a = &m->arena;
	const char *axis = sampler_axis(m, p->rank, d);
	const struct expr *zero = expr_int(m, size->type, 0), *low = x, *part;
	const struct expr *last = expr_sub(m, size, expr_int(m, size->type, 1));

	if (p->n_taps > 1) {
		low = step_name(names, arena_printf(a, "%s_floor", axis),
				expr_call1(m, INTRIN_FLOOR, x));
	}
	part = p->n_taps > 1
		       ? step_name(names, arena_printf(a, "%s_part", axis),
				   expr_sub(m, x, low))
		       : NULL;
	for (int t = 0; t < p->n_taps; t++) {
		double apart = p->n_taps == 4 ? t - 1 : t;
		const struct expr *i = expr_add(m, low,
						expr_float(m, x->type, apart));

		i = step_name(names, arena_printf(a, "%s%d", axis, t),
			      expr_cast(m, size->type, i));
		if (padding == PADDING_ZEROS) {
			p->inside[d][t] =
				step_name(names,
					  arena_printf(a, "has_%s%d", axis, t),
					  expr_and(m, expr_le(m, zero, i),
						   expr_lt(m, i, size)));
		} else {
			i = padding == PADDING_BORDER
				    ? expr_max(m, expr_min(m, i, last), zero)
				    : reflected(m, i, size, align_corners);
			i = step_name(names,
				      arena_printf(a, "at_%s%d", axis, t), i);
		}
		p->at[d][t] = i;
		if (part) {
			p->weight[d][t] =
				step_name(names,
					  arena_printf(a, "by_%s%d", axis, t),
					  tap_weight(m, part, p->n_taps, t));
		}
	}
}

struct reading {
	const struct sampler *p;
	struct module *m;
	const struct te_tensor *t;
	struct dtype wide;
	const struct expr *at[2 + SAMPLER_MAX];
};

static const struct expr *
tap(struct reading *r, int d, const struct expr *inside)
{
	struct module *m = r->m;
	const struct expr *sum = NULL, *e;

	if (d == r->p->rank) {
		e = te_at(m, r->t, r->at, 2 + d);
		e = expr_if(m, inside, e, expr_const(m, e->type, 0));
		return expr_cast(m, r->wide, e);
	}
	for (int k = 0; k < r->p->n_taps; k++) {
		const struct expr *here = r->p->inside[d][k];

		r->at[2 + d] = r->p->at[d][k];
		e = tap(r, d + 1, here ? expr_and(m, inside, here) : inside);
		if (r->p->weight[d][k]) {
			e = expr_mul(m,
				     expr_cast(m, r->wide, r->p->weight[d][k]),
				     e);
		}
		sum = sum ? expr_add(m, sum, e) : e;
	}
	return sum;
}

const struct expr *
sampler_sum(const struct sampler *p, struct module *m,
	    const struct te_tensor *t, const struct expr *batch,
	    const struct expr *channel, struct dtype wide)
{
	struct reading r = { .p = p, .m = m, .t = t, .wide = wide };

	r.at[0] = batch;
	r.at[1] = channel;
	return tap(&r, 0, expr_bool(m, true));
}
