/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of sums, from a predicate: i_o * 4 + i_i < 19 makes a mark of extent
 * 19 for the sum i_o * 4 + i_i. The mark replaces the sum in all indices. */
#include "access.h"
#include "iter_map_parts.h"

/* Reads the comparison c as 0 <= s, or as s <= 0 (then sets *at_most). False if
 * it is another condition. */
static bool
read_comparison(struct detect *d, const struct expr *c, struct iter_sum *s,
		bool *at_most)
{
	bool swap = c->kind == EXPR_GT || c->kind == EXPR_GE;
	bool strict = c->kind == EXPR_LT || c->kind == EXPR_GT;
	const struct expr *e;
	struct iter_sum negative = { 0 };
	int64_t k;

	if (c->kind != EXPR_LT && c->kind != EXPR_LE && !swap) {
		return detect_fail(d, c, "is not a bound");
	}
	e = expr_sub(d->m, c->args[swap], c->args[!swap]);
	if (strict) {
		e = expr_add(d->m, e, detect_int(d, e, 1));
	}
	if (!detect_read(d, e, s)) {
		return false;
	}
	*at_most = true;
	for (int i = 0; i < s->n; i++) {
		if (expr_is_int(s->parts[i].scale, &k) && k < 0) {
			*at_most = false;
		}
	}
	if (!*at_most) {
		negative.base = detect_int(d, e, 0);
		detect_add(d, &negative, s, detect_int(d, e, -1));
		*s = negative;
	}
	return true;
}

static struct fused *
fused_of(struct detect *d, const struct iter_mark *mark)
{
	for (int i = 0; i < d->fused.n; i++) {
		if (d->fused.data[i].mark == mark) {
			return &d->fused.data[i];
		}
	}
	return NULL;
}

/* A new mark for a part (a digit) that the predicate bounds. */
static struct fused *
limited_mark(struct detect *d, const struct iter_split *part)
{
	struct fused *f = fused_of(d, part->source), fresh = { 0 };
	struct iter_split digit = *part;
	struct iter_mark *mark;

	if (f && expr_is_value(part->lower, 1) &&
	    detect_same(d, part->extent, part->source->extent)) {
		return f;
	}
	digit.scale = detect_int(d, part->scale, 1);
	fresh.pattern.parts = arena_copy(&d->m->arena, &digit, sizeof digit);
	fresh.pattern.n = 1;
	fresh.pattern.base = detect_int(d, part->scale, 0);
	mark = arena_new(&d->m->arena, struct iter_mark);
	mark->min = fresh.pattern.base;
	mark->sum = arena_copy(&d->m->arena, &fresh.pattern,
			       sizeof fresh.pattern);
	mark->extent = mark->unpadded = part->extent;
	fresh.mark = mark;
	vec_push(&d->m->arena, &d->fused, fresh);
	return &d->fused.data[d->fused.n - 1];
}

/* Bounds x by scale * x + base <= 0; or, if !at_most, by >= 0. s holds one
 * part, with scale and base. */
static bool
bound_mark(struct detect *d, const struct expr *c, struct iter_sum *s,
	   bool at_most)
{
	struct iter_split part = s->parts[0];
	const struct expr *scale = part.scale, *edge, *end, *zero, *over;
	struct iter_mark *mark;
	struct fused *f;

	if (!prove(d->a, expr_lt(d->m, detect_int(d, scale, 0), scale))) {
		return detect_fail(d, c,
				   "bounds something that may be negative");
	}
	zero = detect_int(d, scale, 0);
	over = expr_neg(d->m, s->base);
	if (at_most) { /* x <= floor(-base / scale) */
		edge = simplify(d->a, expr_floordiv(d->m, over, scale));
		edge = simplify(d->a,
				expr_add(d->m, edge, detect_int(d, edge, 1)));
		if (prove(d->a, expr_le(d->m, part.extent, edge))) {
			return true;
		}
	} else { /* the scale is negative, and the sum is <= 0 in this case too,
		  * hence x >= ceil(-base/scale) */
		edge = detect_ceil_div(d, over, scale);
		if (prove(d->a, expr_le(d->m, edge, zero))) {
			return true;
		}
	}
	f = limited_mark(d, &part);
	mark = f->mark;
	end = mark->extent;
	if (at_most) {
		/* The extent does not count the iterations that another bound
		 * cut off at the start. */
		if (!prove(d->a, expr_le(d->m, edge, end))) {
			edge = expr_min(d->m, edge, end);
		}
		end = edge;
	} else {
		if (!prove(d->a, expr_le(d->m, edge, end))) {
			return detect_fail(d, c, "may never hold");
		}
		end = simplify(d->a, expr_sub(d->m, end, edge));
		mark->min = simplify(d->a, expr_add(d->m, mark->min, edge));
	}
	if (!prove(d->a, expr_lt(d->m, zero, end))) {
		return detect_fail(d, c, "may never hold");
	}
	mark->extent = mark->unpadded = mark->limit = end;
	return true;
}

static int
count_vars(const struct detect *d, const struct expr *c)
{
	int n = 0;

	for (int i = 0; i < d->n_loops; i++) {
		n += expr_uses_var(c, d->marks[i].var);
	}
	return n;
}

bool
detect_predicate(struct detect *d, const struct expr *predicate)
{
	struct conjuncts all = { 0 };

	if (!predicate) {
		return true;
	}
	expr_conjuncts(d->m, predicate, &all);
	/* Bounds of parts are applied before bounds of sums of these parts:
	 * conditions with fewer variables come first. */
	for (int vars = 1; vars <= d->n_loops; vars++) {
		for (int i = 0; i < all.list.n; i++) {
			const struct expr *c = all.list.data[i];
			struct iter_sum s;
			bool at_most = false;

			if (count_vars(d, c) != vars) {
				continue;
			}
			if (!read_comparison(d, c, &s, &at_most) ||
			    !detect_fuse(d, &s, c)) {
				return false;
			}
			if (s.n == 1 && !bound_mark(d, c, &s, at_most)) {
				return false;
			}
			if (s.n == 0 && !prove(d->a, c)) {
				return detect_fail(d, c, "may never hold");
			}
		}
	}
	return true;
}
