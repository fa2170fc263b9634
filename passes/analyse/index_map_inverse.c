/* SPDX-License-Identifier: Apache-2.0 */
/* The inverse of an index map.
 *
 *	(i, j) -> (i // 4, j, i % 4), i < 10:
 *		physical [3][n][4], i = p0 * 4 + p2, in range: p0 * 4 + p2 < 10
 */
#include "index_map_inverse.h"

#include "iter_map.h"

struct inverter {
	struct analyser *a;
	struct module *m;
	const struct iter_map *map;
	struct index_map *out;
	VEC(const struct iter_mark *) marks;
	/* by mark: an expression for the mark's value; NULL: not known yet */
	VEC(const struct expr *) values;
};

static const struct expr **
value_of(struct inverter *v, const struct iter_mark *mark)
{
	for (int i = 0; i < v->marks.n; i++) {
		if (v->marks.data[i] == mark) {
			return &v->values.data[i];
		}
	}
	vec_push(&v->m->arena, &v->marks, mark);
	vec_push(&v->m->arena, &v->values,
		 expr_int(v->m, mark->extent->type, 0));
	return &v->values.data[v->values.n - 1];
}

static void
restrict_range(struct inverter *v, const struct expr *c)
{
	if (prove(v->a, c)) {
		return;
	}
	v->out->in_range = v->out->in_range
				   ? expr_and(v->m, v->out->in_range, c)
				   : c;
}

/* Computes the values of a sum's parts from `whole`, the value of the sum: each
 * part is a digit of `whole`. Adds conditions to in_range that exclude values
 * of `whole` that the sum does not take. */
static void
give_digits(struct inverter *v, const struct iter_sum *sum,
	    const struct expr *whole)
{
	struct module *m = v->m;

	if (sum->n > 0) {
		const struct expr *step = sum->parts[sum->n - 1].scale;

		restrict_range(v, expr_eq(m, expr_floormod(m, whole, step),
					  expr_int(m, step->type, 0)));
	}
	for (int i = 0; i < sum->n; i++) {
		const struct iter_split *p = &sum->parts[i];
		const struct expr *digit = expr_floordiv(m, whole, p->scale);
		const struct expr **value = value_of(v, p->source);

		if (i > 0) {
			const struct expr *radix =
				expr_quotient(v->a, sum->parts[i - 1].scale,
					      p->scale);

			if (!radix) {
				radix = p->extent;
			}
			digit = expr_floormod(m, digit, radix);
			if (!prove(v->a, expr_le(m, radix, p->extent))) {
				restrict_range(v, expr_lt(m, digit, p->extent));
			}
		}
		digit = simplify(v->a, digit);
		*value = simplify(v->a, expr_add(m, *value,
						 expr_mul(m, digit, p->lower)));
	}
}

/* Have all sums that contain mark number `at` been handled? A mark that is a
 * sum passes its value to its parts, so it is handled after all sums that
 * contain it. */
static bool
in_all_sums(struct inverter *v, int at, const bool *done)
{
	for (int i = 0; i < v->marks.n; i++) {
		const struct iter_sum *s = v->marks.data[i]->sum;

		for (int k = 0; s && !done[i] && k < s->n; k++) {
			if (s->parts[k].source == v->marks.data[at]) {
				return false;
			}
		}
	}
	return true;
}

static void
resolve_marks(struct inverter *v)
{
	enum { LIMIT = 256 };
	bool done[LIMIT] = { false };

	for (int left = 1; left > 0;) {
		left = 0;
		for (int i = 0; i < v->marks.n && i < LIMIT; i++) {
			const struct iter_mark *mark = v->marks.data[i];
			const struct expr *x = v->values.data[i];

			if (done[i] || !in_all_sums(v, i, done)) {
				left += !done[i];
				continue;
			}
			done[i] = true;
			left++;
			if (!prove(v->a, expr_le(v->m, mark->extent,
						 mark->unpadded))) {
				restrict_range(v, expr_lt(v->m, x,
							  mark->unpadded));
			}
			if (mark->sum) {
				give_digits(v, mark->sum,
					    expr_add(v->m, x, mark->min));
			}
		}
	}
}

static struct iter_var *
logical_loops(struct module *m, struct var *const *vars, int n,
	      const struct expr *const *shape)
{
	struct iter_var *loops = arena_array(&m->arena, struct iter_var, n + 1);

	for (int i = 0; i < n; i++) {
		loops[i].var = vars[i];
		loops[i].min = expr_int(m, vars[i]->type, 0);
		loops[i].extent = shape[i];
		loops[i].kind = ITER_SPATIAL;
	}
	return loops;
}

static void
copy_forward(struct inverter *v, struct var *const *vars, int n_vars,
	     const struct expr *const *exprs, int n_exprs)
{
	struct arena *arena = &v->m->arena;
	struct index_map *out = v->out;

	out->n_logical = n_vars;
	out->n_physical = n_exprs;
	out->logical = arena_array(arena, struct var *, n_vars + 1);
	out->to_logical = arena_exprs(arena, n_vars + 1);
	out->to_physical = arena_exprs(arena, n_exprs + 1);
	out->physical_shape = arena_exprs(arena, n_exprs + 1);
	out->physical = arena_array(arena, struct var *, n_exprs + 1);
	for (int i = 0; i < n_vars; i++) {
		out->logical[i] = vars[i];
	}
	for (int i = 0; i < n_exprs; i++) {
		out->to_physical[i] = simplify(v->a, exprs[i]);
		out->physical[i] = var_new(v->m, arena_printf(arena, "p%d", i),
					   exprs[i]->type);
	}
}

bool
index_map_from_forward(struct module *m, struct var *const *vars, int n_vars,
		       const struct expr *const *exprs, int n_exprs,
		       const struct expr *const *shape, struct index_map **out,
		       const char **why)
{
	struct iter_var *loops = logical_loops(m, vars, n_vars, shape);
	struct iter_map map;
	struct analyser a;
	struct inverter v = { .a = &a, .m = m, .map = &map };

	analyser_init(&a, m);
	for (int i = 0; i < n_vars; i++) {
		analyser_bind(&a, vars[i], loops[i].min, loops[i].extent);
	}
	if (!iter_map_detect_padded(&a, loops, n_vars, exprs, n_exprs, &map)) {
		*why = arena_printf(&m->arena,
				    "%s; a layout gives each "
				    "element one place",
				    map.why);
		return false;
	}
	v.out = arena_new(&m->arena, struct index_map);
	copy_forward(&v, vars, n_vars, exprs, n_exprs);
	for (int d = 0; d < n_exprs; d++) {
		const struct iter_sum *s = &map.indices[d];
		const struct expr *size = iter_sum_extent(&a, s);

		if (!size || !expr_is_value(s->base, 0)) {
			*why = arena_printf(&m->arena,
					    "physical index %d "
					    "does not start at 0; shift or "
					    "reverse it",
					    d);
			return false;
		}
		v.out->physical_shape[d] = size;
		analyser_bind(&a, v.out->physical[d],
			      expr_int(m, size->type, 0), size);
	}
	for (int d = 0; d < n_exprs; d++) {
		give_digits(&v, &map.indices[d], v.out->physical[d]->expr);
	}
	resolve_marks(&v);
	for (int i = 0; i < n_vars; i++) {
		v.out->to_logical[i] = loops[i].min;
	}
	for (int i = 0; i < v.marks.n; i++) {
		for (int k = 0; k < n_vars; k++) {
			if (v.marks.data[i]->var == vars[k]) {
				v.out->to_logical[k] = v.values.data[i];
			}
		}
	}
	*out = v.out;
	return true;
}

struct index_map *
index_map_inverse(struct module *m, const struct index_map *map,
		  const struct expr *const *shape)
{
	struct index_map *out;

	if (map->in_range) {
		return NULL;
	}
	out = arena_new(&m->arena, struct index_map);
	out->n_logical = map->n_physical;
	out->n_physical = map->n_logical;
	out->logical = map->physical;
	out->physical = map->logical;
	out->to_physical = map->to_logical;
	out->to_logical = map->to_physical;
	out->physical_shape = arena_copy(&m->arena, shape,
					 sizeof(*shape) *
						 (size_t)map->n_logical);
	return out;
}
