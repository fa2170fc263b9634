/* SPDX-License-Identifier: Apache-2.0 */
/* Decomposes indices into sums of mixed-radix digits; see iter_map.h.
 *
 *	i_o * 4 + i_i                 a mark of extent 20 (i_o < 5, i_i < 4)
 *	(i_o * 4 + i_i) // 10         its digit (mark // 10) % 2
 *	i_o * 4 + i_i where < 19      a mark of extent 19
 */
#include "access.h"
#include "iter_map_parts.h"

bool
detect_fail(struct detect *d, const struct expr *e, const char *what)
{
	if (!d->why) {
		struct strbuf text;

		strbuf_init(&text);
		expr_print(e, &text);
		d->why = arena_printf(&d->m->arena, "%s %s", text.data, what);
		strbuf_release(&text);
	}
	return false;
}

const struct expr *
detect_int(struct detect *d, const struct expr *e, int64_t v)
{
	return expr_int(d->m, e->type, v);
}

/* x * y; d->overflows if it is a constant that leaves the type. */
static const struct expr *
multiply(struct detect *d, const struct expr *x, const struct expr *y)
{
	uint64_t before = d->m->n_wrapped;
	const struct expr *product = expr_mul(d->m, x, y);

	d->overflows |= d->m->n_wrapped != before;
	return simplify(d->a, product);
}

const struct expr *
expr_quotient(struct analyser *a, const struct expr *x, const struct expr *y)
{
	int64_t n, k;
	const struct expr *q;

	if (expr_is_value(y, 1)) {
		return x;
	}
	if (x == y) {
		return expr_int(a->module, x->type, 1);
	}
	if (expr_is_int(y, &k)) {
		if (k == 0) {
			return NULL;
		}
		if (expr_is_int(x, &n)) {
			return n % k == 0 ? expr_int(a->module, x->type, n / k)
					  : NULL;
		}
	}
	if (expr_is_int(x, &n)) {
		return NULL;
	}
	q = simplify(a, expr_floordiv(a->module, x, y));
	return prove_equal(a, expr_mul(a->module, q, y), x) ? q : NULL;
}

bool
detect_same(struct detect *d, const struct expr *x, const struct expr *y)
{
	int64_t n, k;

	if (x == y) {
		return true;
	}
	if (expr_is_int(x, &n) && expr_is_int(y, &k)) {
		return n == k;
	}
	return prove_equal(d->a, x, y);
}

static bool
same_digit(struct detect *d, const struct iter_split *x,
	   const struct iter_split *y)
{
	return x->source == y->source && detect_same(d, x->lower, y->lower) &&
	       detect_same(d, x->extent, y->extent);
}

/* -- sums under construction */

static void
sum_add_part(struct detect *d, struct iter_sum *s, struct iter_split part)
{
	struct iter_split *parts;

	for (int i = 0; i < s->n; i++) {
		struct iter_split *p = &s->parts[i];

		if (!same_digit(d, p, &part)) {
			continue;
		}
		p->scale = simplify(d->a, expr_add(d->m, p->scale, part.scale));
		if (expr_is_value(p->scale, 0)) {
			*p = s->parts[--s->n];
		}
		return;
	}
	parts = arena_array(&d->m->arena, struct iter_split, s->n + 1);
	for (int i = 0; i < s->n; i++) {
		parts[i] = s->parts[i];
	}
	parts[s->n++] = part;
	s->parts = parts;
}

void
detect_add(struct detect *d, struct iter_sum *s, const struct iter_sum *other,
	   const struct expr *scale)
{
	for (int i = 0; i < other->n; i++) {
		struct iter_split part = other->parts[i];

		part.scale = multiply(d, part.scale, scale);
		sum_add_part(d, s, part);
	}
	s->base = simplify(d->a, expr_add(d->m, s->base,
					  multiply(d, other->base, scale)));
}

static bool
uses_loops(const struct detect *d, const struct expr *e)
{
	for (int i = 0; i < d->n_loops; i++) {
		if (expr_uses_var(e, d->marks[i].var)) {
			return true;
		}
	}
	return false;
}

/* -- fusing parts into one mark */

/* If s has all parts of the pattern of f, all scaled by a common factor,
 * replaces them by the pattern's mark and returns true. */
static bool
apply_fused(struct detect *d, struct iter_sum *s, const struct fused *f)
{
	const struct expr *factor = NULL;
	struct iter_sum rest = { .base = s->base };
	int found = 0;

	for (int i = 0; i < s->n; i++) {
		const struct expr *k = NULL;

		for (int j = 0; j < f->pattern.n && !k; j++) {
			const struct iter_split *p = &f->pattern.parts[j];

			if (same_digit(d, p, &s->parts[i])) {
				k = expr_quotient(d->a, s->parts[i].scale,
						  p->scale);
			}
		}
		if (!k || (factor && !detect_same(d, factor, k))) {
			sum_add_part(d, &rest, s->parts[i]);
			continue;
		}
		factor = k;
		found++;
	}
	if (found < f->pattern.n || found == 0) {
		return false;
	}
	sum_add_part(d, &rest,
		     (struct iter_split){ f->mark, detect_int(d, factor, 1),
					  f->mark->extent, factor });
	rest.base = simplify(d->a, expr_add(d->m, rest.base,
					    multiply(d, f->mark->min, factor)));
	*s = rest;
	return true;
}

/* Replaces sums of parts by the marks that the predicate bounds
 * (mark.limit). */
static void
detect_apply_limits(struct detect *d, struct iter_sum *s)
{
	for (int i = 0; i < d->fused.n; i++) {
		if (d->fused.data[i].mark->limit) {
			apply_fused(d, s, &d->fused.data[i]);
		}
	}
}

/* The index of the part with the smallest scale; if scales are symbolic, of a
 * part whose scale divides the scales of all other parts; -1 if no such part is
 * found. */
static int
smallest(struct detect *d, const struct iter_sum *s)
{
	int at = -1;
	int64_t least = INT64_MAX, k;

	for (int i = 0; i < s->n; i++) {
		if (expr_is_int(s->parts[i].scale, &k) && k > 0 && k < least) {
			least = k;
			at = i;
		}
	}
	for (int i = 0; i < s->n && at < 0; i++) {
		bool divides = true;

		for (int j = 0; j < s->n; j++) {
			divides &= expr_quotient(d->a, s->parts[j].scale,
						 s->parts[i].scale) != NULL;
		}
		at = divides ? i : at;
	}
	return at;
}

/* Sorts the parts, largest scale first. False unless the scale of each part is
 * the product of the scale and the extent of the part after it; if `gaps` is
 * set, the scale may also be larger than this product. */
static bool
detect_sort(struct detect *d, struct iter_sum *s, bool gaps)
{
	struct iter_split *sorted = arena_array(&d->m->arena, struct iter_split,
						s->n + 1);
	bool *done = arena_array(&d->m->arena, bool, s->n + 1);
	const struct expr *next = NULL;

	for (int k = s->n - 1; k >= 0; k--) {
		int at = -1;
		int64_t want, least = INT64_MAX, scale;

		if (!next) {
			at = smallest(d, s);
		}
		for (int i = 0; next && i < s->n && at < 0; i++) {
			if (!done[i] &&
			    detect_same(d, s->parts[i].scale, next)) {
				at = i;
			}
		}
		for (int i = 0; gaps && next && at < 0 && i < s->n; i++) {
			if (!done[i] && expr_is_int(next, &want) &&
			    expr_is_int(s->parts[i].scale, &scale) &&
			    scale > want && scale < least) {
				least = scale;
			}
		}
		for (int i = 0; least < INT64_MAX && i < s->n; i++) {
			if (!done[i] &&
			    expr_is_value(s->parts[i].scale, least)) {
				at = i;
			}
		}
		if (at < 0) {
			return false;
		}
		done[at] = true;
		sorted[k] = s->parts[at];
		next = multiply(d, sorted[k].scale, sorted[k].extent);
	}
	s->parts = sorted;
	return true;
}

static bool
same_sum(struct detect *d, const struct iter_sum *x, const struct iter_sum *y)
{
	bool equal = x->n == y->n;

	for (int i = 0; equal && i < x->n; i++) {
		equal = same_digit(d, &x->parts[i], &y->parts[i]) &&
			detect_same(d, x->parts[i].scale, y->parts[i].scale);
	}
	return equal;
}

static struct fused *
find_fused(struct detect *d, const struct iter_sum *pattern)
{
	for (int i = 0; i < d->fused.n; i++) {
		if (same_sum(d, &d->fused.data[i].pattern, pattern)) {
			return &d->fused.data[i];
		}
	}
	return NULL;
}

/* Rounds the extent up to a multiple of `to`. */
static const struct expr *
round_up(struct detect *d, const struct expr *extent, int64_t to)
{
	if (to <= 1) {
		return extent;
	}
	return simplify(d->a,
			expr_mul(d->m,
				 expr_floordiv(d->m,
					       expr_add(d->m, extent,
							detect_int(d, extent,
								   to - 1)),
					       detect_int(d, extent, to)),
				 detect_int(d, extent, to)));
}

static int64_t
detect_pad(const struct detect *d, int mark)
{
	return mark < d->pads.n ? d->pads.data[mark] : 1;
}

/* Fuses the parts of s to at most one part plus the base. If the parts do not
 * run through consecutive values, returns false with the reason in d->why. e:
 * the expression that s stands for, for the message. */
bool
detect_fuse(struct detect *d, struct iter_sum *s, const struct expr *e)
{
	const struct expr *scale;
	struct iter_sum pattern;
	struct iter_mark *mark;
	struct iter_split part;
	struct fused *f;

	detect_apply_limits(d, s);
	if (s->n <= 1) {
		return true;
	}
	if (!detect_sort(d, s, false)) {
		return detect_fail(d, e,
				   "does not run through consecutive values");
	}
	scale = s->parts[s->n - 1].scale;
	pattern.parts = arena_array(&d->m->arena, struct iter_split, s->n);
	pattern.n = s->n;
	pattern.base = detect_int(d, scale, 0);
	for (int i = 0; i < s->n; i++) {
		pattern.parts[i] = s->parts[i];
		pattern.parts[i].scale = expr_quotient(d->a, s->parts[i].scale,
						       scale);
		if (!pattern.parts[i].scale) {
			return detect_fail(d, e, "has no common step");
		}
	}
	f = find_fused(d, &pattern);
	if (!f) {
		struct fused fresh = { .pattern = pattern };
		int at = d->fused.n;

		mark = arena_new(&d->m->arena, struct iter_mark);
		mark->min = pattern.base;
		mark->sum = arena_copy(&d->m->arena, &pattern, sizeof pattern);
		mark->unpadded = multiply(d, pattern.parts[0].scale,
					  pattern.parts[0].extent);
		mark->extent = round_up(d, mark->unpadded,
					detect_pad(d, d->n_loops + at));
		fresh.mark = mark;
		vec_push(&d->m->arena, &d->fused, fresh);
		f = &d->fused.data[at];
	}
	part = (struct iter_split){ f->mark, detect_int(d, scale, 1),
				    f->mark->extent, scale };
	s->base = simplify(d->a, expr_add(d->m, s->base,
					  multiply(d, f->mark->min, scale)));
	s->parts = arena_copy(&d->m->arena, &part, sizeof part);
	s->n = 1;
	return true;
}

/* -- quotients and remainders */

static void
want_pad(struct detect *d, const struct iter_mark *mark, int64_t to)
{
	int at = -1;
	int64_t old;

	for (int i = 0; i < d->n_loops; i++) {
		at = &d->marks[i] == mark ? i : at;
	}
	for (int i = 0; i < d->fused.n; i++) {
		at = d->fused.data[i].mark == mark ? d->n_loops + i : at;
	}
	while (d->pads.n <= at) {
		vec_push(&d->m->arena, &d->pads, 1);
	}
	old = d->pads.data[at];
	to = old / gcd(old, to) * to;
	d->padded |= to != old;
	d->pads.data[at] = to;
}

/* Called when a digit modulo c of part p is used, although c does not divide
 * the extent of p: if padding is allowed, records that the mark of p must be
 * padded. */
static void
note_remainder(struct detect *d, const struct iter_split *p,
	       const struct expr *c)
{
	int64_t lower, size;

	if (d->pad && expr_is_int(p->lower, &lower) && expr_is_int(c, &size) &&
	    lower < INT32_MAX && size < INT32_MAX) {
		want_pad(d, p->source, lower * size);
	}
}

const struct expr *
detect_ceil_div(struct detect *d, const struct expr *x, const struct expr *c)
{
	return simplify(d->a,
			expr_floordiv(d->m,
				      expr_add(d->m, x,
					       expr_sub(d->m, c,
							detect_int(d, c, 1))),
				      c));
}

/* For s = base + scale * x, with one part whose scale divides c: replaces s by
 * its quotient or remainder by c, a digit of x. */
static bool
divide_digit(struct detect *d, const struct expr *e, struct iter_sum *s,
	     const struct expr *c, bool modulo)
{
	struct iter_split *p = &s->parts[0];
	const struct expr *ratio = expr_quotient(d->a, c, p->scale);
	const struct expr *scale = p->scale, *low, *high, *even;

	if (!ratio) {
		return detect_fail(d, e,
				   "cuts between the steps of its operand");
	}
	/* base = high * scale + low, 0 <= low < scale */
	low = simplify(d->a, expr_floormod(d->m, s->base, scale));
	high = simplify(d->a, expr_floordiv(d->m, s->base, scale));
	if (!expr_is_value(high, 0) && !expr_quotient(d->a, high, ratio)) {
		return detect_fail(d, e, "divides something shifted");
	}
	even = expr_quotient(d->a, p->extent, ratio);
	if (!even && prove(d->a, expr_le(d->m, p->extent, ratio))) {
		/* x < c: the quotient does not depend on x */
		if (modulo) {
			s->base = low;
		} else {
			s->n = 0;
			s->base = simplify(d->a,
					   expr_floordiv(d->m, high, ratio));
		}
		return true;
	}
	if (!even) {
		/* A digit of x % 3, such as (x % 3) // 2, is not a digit of x
		 * unless x < 3. */
		if (!detect_same(d, expr_mul(d->m, p->lower, p->extent),
				 p->source->extent)) {
			return detect_fail(d, e,
					   "cuts a remainder that it "
					   "does not divide");
		}
		note_remainder(d, p, ratio);
	}
	if (modulo) {
		p->extent = ratio;
		s->base = low;
		return true;
	}
	p->extent = even ? even : detect_ceil_div(d, p->extent, ratio);
	p->lower = multiply(d, p->lower, ratio);
	p->scale = detect_int(d, scale, 1);
	s->base = simplify(d->a, expr_floordiv(d->m, high, ratio));
	if (expr_is_value(p->extent, 1)) {
		s->n = 0;
	}
	return true;
}

/* The simplifier turns (o * 8 + i) % 6 into (o * 2 + i) % 6. If s is the
 * reduced form of a known mark (o * 8 + i) modulo c, restores the mark. */
static void
restore_modulo(struct detect *d, struct iter_sum *s, int64_t c)
{
	int64_t have, want;

	for (int k = 0; k < d->fused.n; k++) {
		const struct iter_sum *pattern = &d->fused.data[k].pattern;
		int found = 0;

		for (int i = 0; i < s->n && s->n == pattern->n; i++) {
			for (int j = 0; j < pattern->n; j++) {
				found += same_digit(d, &s->parts[i],
						    &pattern->parts[j]) &&
					 expr_is_int(s->parts[i].scale,
						     &have) &&
					 expr_is_int(pattern->parts[j].scale,
						     &want) &&
					 floor_mod(have - want, c) == 0;
			}
		}
		if (found == s->n && found > 1) {
			s->parts = arena_copy(&d->m->arena, pattern->parts,
					      sizeof *pattern->parts *
						      (size_t)pattern->n);
			return;
		}
	}
}

/* Reads e, a quotient or remainder by c, into out: (x * c + y) // c = x + y //
 * c, with remainder y % c. Parts whose scale is divisible by c form x; the
 * remaining parts are fused to y. False with the reason in d->why. */
static bool
read_division(struct detect *d, const struct expr *e, struct iter_sum *out)
{
	const struct expr *c = e->args[1];
	bool modulo = e->kind == EXPR_FLOORMOD;
	int64_t size;
	struct iter_sum whole = { 0 }, rest = { 0 }, s;

	if (uses_loops(d, c) || expr_has_load(c)) {
		return detect_fail(d, e, "divides by something that varies");
	}
	if (!detect_read(d, e->args[0], &s)) {
		return false;
	}
	detect_apply_limits(d, &s);
	whole.base = rest.base = detect_int(d, c, 0);
	for (int i = 0; i < s.n; i++) {
		const struct expr *q = expr_quotient(d->a, s.parts[i].scale, c);
		struct iter_split part = s.parts[i];

		if (q) {
			part.scale = q;
			sum_add_part(d, &whole, part);
		} else {
			sum_add_part(d, &rest, part);
		}
	}
	rest.base = s.base;
	if (rest.n > 0) {
		if (modulo && expr_is_int(c, &size) && size > 0) {
			restore_modulo(d, &rest, size);
		}
		if (!detect_fuse(d, &rest, e->args[0]) ||
		    (rest.n == 1 && !divide_digit(d, e, &rest, c, modulo))) {
			return false;
		}
	} else {
		rest.base = simplify(d->a,
				     expr_binary(d->m, e->kind, s.base, c));
	}
	*out = rest;
	if (!modulo) {
		detect_add(d, out, &whole, detect_int(d, c, 1));
	}
	return true;
}

/* -- expressions */

static bool
read_variable(struct detect *d, const struct expr *e, struct iter_sum *out)
{
	for (int i = 0; i < d->n_loops; i++) {
		struct iter_mark *mark = &d->marks[i];

		if (mark->var != e->u.var) {
			continue;
		}
		out->base = mark->min;
		if (!expr_is_value(mark->extent, 1)) {
			sum_add_part(d, out,
				     (struct iter_split){
					     mark, detect_int(d, e, 1),
					     mark->extent,
					     detect_int(d, e, 1) });
		}
		return true;
	}
	return false;
}

bool
detect_read(struct detect *d, const struct expr *e, struct iter_sum *out)
{
	struct iter_sum x;
	const struct expr *one;

	if (!dtype_is_int(e->type) || e->type.lanes > 1 || expr_has_load(e)) {
		return detect_fail(d, e, "is not an index");
	}
	memset(out, 0, sizeof *out);
	out->base = detect_int(d, e, 0);
	one = detect_int(d, e, 1);
	if (!uses_loops(d, e)) {
		out->base = e;
		return true;
	}
	switch (e->kind) {
	case EXPR_VAR:
		return read_variable(d, e, out);
	case EXPR_CAST:
		return detect_read(d, e->args[0], out);
	case EXPR_ADD:
	case EXPR_SUB:
		for (int i = 0; i < 2; i++) {
			if (!detect_read(d, e->args[i], &x)) {
				return false;
			}
			detect_add(d, out, &x,
				   i && e->kind == EXPR_SUB
					   ? expr_neg(d->m, one)
					   : one);
		}
		return true;
	case EXPR_MUL:
		for (int i = 0; i < 2; i++) {
			if (uses_loops(d, e->args[i])) {
				continue;
			}
			if (!detect_read(d, e->args[1 - i], &x)) {
				return false;
			}
			detect_add(d, out, &x, e->args[i]);
			return true;
		}
		return detect_fail(d, e, "multiplies loop variables");
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return read_division(d, e, out);
	default:
		return detect_fail(d, e,
				   "is not a sum of loop variables, "
				   "their quotients and remainders");
	}
}

static void
make_marks(struct detect *d, const struct iter_var *loops)
{
	d->marks = arena_array(&d->m->arena, struct iter_mark, d->n_loops + 1);
	for (int i = 0; i < d->n_loops; i++) {
		d->marks[i].var = loops[i].var;
		d->marks[i].min = loops[i].min;
		d->marks[i].unpadded = loops[i].extent;
		d->marks[i].extent = round_up(d, loops[i].extent,
					      detect_pad(d, i));
	}
}

static bool
detect_all(struct detect *d, const struct iter_var *loops,
	   const struct expr *predicate, const struct expr *const *indices,
	   int n, struct iter_map *out)
{
	d->fused.n = 0;
	d->padded = d->overflows = false;
	make_marks(d, loops);
	if (!detect_predicate(d, predicate)) {
		return false;
	}
	out->n = n;
	out->indices = arena_array(&d->m->arena, struct iter_sum, n + 1);
	/* A first reading of the indices: quotients by a number c in them show
	 * to which mark a remainder modulo c belongs. */
	for (int i = 0; i < n && !d->pad; i++) {
		detect_read(d, indices[i], &out->indices[i]);
	}
	d->why = NULL;
	for (int i = 0; i < n; i++) {
		if (!detect_read(d, indices[i], &out->indices[i])) {
			return false;
		}
	}
	/* The indices are read again, because the reading of a later index may
	 * have made a mark for a sum in an earlier one. */
	for (int i = 0; i < n; i++) {
		detect_apply_limits(d, &out->indices[i]);
		if (!detect_sort(d, &out->indices[i], d->pad)) {
			return detect_fail(
				d, indices[i],
				"does not run through consecutive values");
		}
		if (d->overflows) {
			return detect_fail(d, indices[i],
					   "has more values than its type");
		}
	}
	return true;
}

bool
iter_map_detect(struct analyser *a, const struct iter_var *loops, int n_loops,
		const struct expr *predicate, const struct expr *const *indices,
		int n, enum iter_level level, struct iter_map *out)
{
	struct detect d = { .a = a, .m = a->module, .n_loops = n_loops };
	bool ok;

	memset(out, 0, sizeof *out);
	ok = detect_all(&d, loops, predicate, indices, n, out) &&
	     detect_check(&d, out, level);
	out->why = d.why;
	return ok;
}

bool
iter_map_detect_padded(struct analyser *a, const struct iter_var *loops,
		       int n_loops, const struct expr *const *indices, int n,
		       struct iter_map *out)
{
	struct detect d = {
		.a = a, .m = a->module, .n_loops = n_loops, .pad = true
	};
	bool ok;

	memset(out, 0, sizeof *out);
	/* Iterates to a fixpoint: each round rounds up the marks for the digits
	 * that the previous round found, inner marks first. */
	for (int round = 0; round < 8; round++) {
		ok = detect_all(&d, loops, NULL, indices, n, out);
		if (!ok || !d.padded) {
			break;
		}
	}
	ok = ok && detect_check(&d, out, ITER_MAP_BIJECTIVE);
	out->why = d.why;
	return ok;
}
