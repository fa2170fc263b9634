/* SPDX-License-Identifier: Apache-2.0 */
/* Divides indices between outer and inner loops, for blockize:
 *
 *	v = i_o * 16 + i_i, inner loop i_i:   outer i_o, inner i_i, extent 16
 *
 * An index is a sum of parts (struct iter_split). A part is a digit of its mark
 * (struct iter_mark), which is a loop or a fused sum of loops. The sides are
 * the outer loops and the inner loops: a part goes to the side whose loops its
 * mark uses. */
#include "access.h"
#include "iter_map_parts.h"

struct division {
	struct analyser *a;
	struct module *m;
	const struct iter_var *loops;
	/* the number of loops; the first n_outer of them are the outer loops */
	int n_loops, n_outer;
};

/* Does the mark use a variable of the outer loops (outer), or of the inner
 * loops? */
static bool
mark_on_side(const struct division *v, const struct iter_mark *mark, bool outer)
{
	int from = outer ? 0 : v->n_outer;
	int to = outer ? v->n_outer : v->n_loops;

	for (int i = from; i < to; i++) {
		if (iter_mark_uses(mark, v->loops[i].var)) {
			return true;
		}
	}
	return false;
}

static bool
expr_on_side(const struct division *v, const struct expr *e, bool outer)
{
	int from = outer ? 0 : v->n_outer;
	int to = outer ? v->n_outer : v->n_loops;

	for (int i = from; i < to; i++) {
		if (expr_uses_var(e, v->loops[i].var)) {
			return true;
		}
	}
	return false;
}

/* Adds the part to out. If the part's mark uses both outer and inner loops,
 * adds the parts of the mark's sum in place of the part, recursively. False if
 * the part takes only some digits of that mark, or if the mark is a single
 * loop. */
static bool
expand(struct division *v, const struct iter_split *part, struct iter_sum *out)
{
	struct module *m = v->m;
	bool outer = mark_on_side(v, part->source, true);
	bool inner = mark_on_side(v, part->source, false);
	struct iter_split *parts;

	if (!outer || !inner) {
		parts = arena_array(&m->arena, struct iter_split, out->n + 1);
		for (int i = 0; i < out->n; i++) {
			parts[i] = out->parts[i];
		}
		parts[out->n++] = *part;
		out->parts = parts;
		return true;
	}
	if (!part->source->sum || !expr_is_value(part->lower, 1) ||
	    !prove_equal(v->a, part->extent, part->source->extent)) {
		return false;
	}
	out->base = expr_sub(m, out->base,
			     expr_mul(m, part->source->min, part->scale));
	for (int i = 0; i < part->source->sum->n; i++) {
		struct iter_split below = part->source->sum->parts[i];

		below.scale = simplify(v->a,
				       expr_mul(m, below.scale, part->scale));
		if (!expand(v, &below, out)) {
			return false;
		}
	}
	return true;
}

static bool
divide_sum(struct division *v, const struct iter_sum *sum,
	   struct iter_division *out)
{
	struct module *m = v->m;
	const struct expr *zero = expr_int(m, sum->base->type, 0);
	struct iter_sum flat = { .base = sum->base };
	struct iter_sum inner = { .base = zero }, outer = { .base = zero };

	for (int i = 0; i < sum->n; i++) {
		if (!expand(v, &sum->parts[i], &flat)) {
			return false;
		}
	}
	inner.parts = arena_array(&m->arena, struct iter_split, flat.n + 1);
	outer.parts = arena_array(&m->arena, struct iter_split, flat.n + 1);
	for (int i = 0; i < flat.n; i++) {
		if (mark_on_side(v, flat.parts[i].source, true)) {
			outer.parts[outer.n++] = flat.parts[i];
		} else {
			inner.parts[inner.n++] = flat.parts[i];
		}
	}
	out->inner_extent = iter_sum_extent(v->a, &inner);
	if (!out->inner_extent) {
		return false;
	}
	for (int i = 0; i < outer.n; i++) {
		outer.parts[i].scale = expr_quotient(v->a, outer.parts[i].scale,
						     out->inner_extent);
		if (!outer.parts[i].scale) {
			return false;
		}
	}
	out->outer_extent = iter_sum_extent(v->a, &outer);
	if (!out->outer_extent) {
		return false;
	}
	out->outer = simplify(v->a, iter_sum_value(v->a, &outer));
	out->inner = simplify(v->a, iter_sum_value(v->a, &inner));
	out->base = simplify(v->a, flat.base);
	return true;
}

/* Divides an index that is not a sum of parts, but uses only outer loops, only
 * inner loops, or none: the index becomes outer, inner or base of *out. domain:
 * the index's extent. False for other indices, or if the domain is needed and
 * NULL. */
static bool
divide_plain(struct division *v, const struct expr *e,
	     const struct expr *domain, struct iter_division *out)
{
	bool outer = expr_on_side(v, e, true);
	bool inner = expr_on_side(v, e, false);
	const struct expr *zero = expr_int(v->m, e->type, 0);
	const struct expr *one = expr_int(v->m, e->type, 1);

	if ((outer && inner) || (!domain && (outer || inner))) {
		return false;
	}
	out->base = outer || inner ? zero : e;
	out->outer = outer ? e : zero;
	out->inner = inner ? e : zero;
	out->outer_extent = outer ? domain : one;
	out->inner_extent = inner ? domain : one;
	return true;
}

/* Replaces in e the variables of loops with one iteration, which count neither
 * as outer nor as inner, by their only value. */
static const struct expr *
without_units(struct division *v, const struct expr *e)
{
	for (int i = 0; i < v->n_loops; i++) {
		struct var *unit = v->loops[i].var;
		struct iter_var it = v->loops[i];
		struct var_map map = { &unit, &it.min, 1 };

		if (expr_is_value(it.extent, 1)) {
			e = expr_substitute(v->m, e, &map);
		}
	}
	return e;
}

/* Divides the conjuncts of the predicate into those that use only outer loops,
 * which are tested first, and those that use inner loops. False if a conjunct
 * on inner loops may guard a load or a division in a later conjunct on outer
 * loops. */
static bool
divide_predicate(struct division *v, const struct expr *predicate,
		 const struct expr **outer, const struct expr **inner)
{
	struct conjuncts all = { 0 };
	bool guarded = false;

	*outer = *inner = expr_bool(v->m, true);
	if (!predicate) {
		return true;
	}
	expr_conjuncts(v->m, predicate, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct expr *c = without_units(v, all.list.data[i]);
		bool is_inner = expr_on_side(v, c, false);
		const struct expr **side = is_inner ? inner : outer;

		if (!is_inner && guarded && !expr_is_total(v->a, c)) {
			return false;
		}
		guarded |= is_inner;
		*side = expr_and(v->m, *side, c);
	}
	return true;
}

bool
iter_map_divide(struct analyser *a, const struct iter_var *loops, int n_loops,
		int n_outer, const struct expr *predicate,
		const struct expr *const *indices,
		const struct expr *const *domains, int n,
		struct iter_division *out, const struct expr **outer_predicate,
		const struct expr **inner_predicate, const char **why)
{
	struct division v = { a, a->module, loops, n_loops, n_outer };
	struct iter_map map;
	bool known = iter_map_detect(a, loops, n_loops, predicate, indices, n,
				     ITER_MAP_SURJECTIVE, &map);

	if (!divide_predicate(&v, predicate, outer_predicate,
			      inner_predicate)) {
		*why = "the predicate has a load or division that a condition "
		       "on inner loops may guard";
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct strbuf text;

		if ((known && divide_sum(&v, &map.indices[i], &out[i])) ||
		    divide_plain(&v, indices[i], domains ? domains[i] : NULL,
				 &out[i])) {
			continue;
		}
		strbuf_init(&text);
		expr_print(indices[i], &text);
		*why = known ? arena_printf(&a->module->arena,
					    "%s is not an outer part times an "
					    "extent plus an inner part",
					    text.data)
			     : map.why;
		strbuf_release(&text);
		return false;
	}
	return true;
}
