/* SPDX-License-Identifier: Apache-2.0 */
/* The analyser's state: ranges and values of variables, facts, and the cache of
 * results for this state. */
#include "iterate.h"
#include "linear.h"

void
analyser_init(struct analyser *a, struct module *m)
{
	analyser_init_in(a, m, &m->arena);
}

void
analyser_init_in(struct analyser *a, struct module *m, struct arena *arena)
{
	memset(a, 0, sizeof *a);
	a->module = m;
	a->arena = arena;
	a->version = a->last_version = 1;
}

static void
changed(struct analyser *a)
{
	a->version = ++a->last_version;
}

void
analyser_bind(struct analyser *a, const struct var *v, const struct expr *min,
	      const struct expr *extent)
{
	struct analyser_var one = { .var = v };
	struct bounds lo = analyse_bounds(a, min);
	struct bounds last = analyse_bounds(a,
					    expr_add(a->module, min, extent));

	one.bounds.min = lo.min;
	one.bounds.max = last.max;
	if (last.max != BOUND_POS_INF && last.max != BOUND_NEG_INF) {
		one.bounds.max--;
	}
	if (min->kind != EXPR_INT || extent->kind != EXPR_INT) {
		one.min = min;
		one.extent = extent;
	}
	vec_push(a->arena, &a->vars, one);
	changed(a);
}

static void
bind_value(struct analyser *a, const struct var *v, const struct expr *value,
	   bool inlined)
{
	struct analyser_var one = { .var = v,
				    .value = value,
				    .inlined = inlined,
				    .data = holds_data(a, value) };

	one.bounds = analyse_bounds(a, value);
	if (one.data) {
		a->data_bits |= var_bit(v);
	}
	vec_push(a->arena, &a->vars, one);
	changed(a);
}

void
analyser_bind_value(struct analyser *a, const struct var *v,
		    const struct expr *value)
{
	bind_value(a, v, value, false);
}

void
analyser_bind_inlined(struct analyser *a, const struct var *v,
		      const struct expr *value)
{
	bind_value(a, v, value, true);
}

const struct analyser_var *
analyser_find(const struct analyser *a, const struct var *v)
{
	for (int i = a->vars.n - 1; i >= 0; i--) {
		if (a->vars.data[i].var == v) {
			return &a->vars.data[i];
		}
	}
	return NULL;
}

/* Can the value of e change between two evaluations: does e load, or call a
 * function with an effect? */
static bool
may_change(const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		found |= e->kind == EXPR_LOAD ||
			 (e->kind == EXPR_CALL && !intrin_is_pure(e->u.intrin));
	}
	return found;
}

/* Adds to the analyser the fact sum <= 0, divided by the common divisor of its
 * coefficients and rounded to integers: 4 * i - 11 <= 0 implies i - 2 <= 0. */
static void
assume_whole(struct analyser *a, const struct linear *sum)
{
	struct analyser_fact *fact;
	int64_t g = linear_gcd(sum);

	if (g < 2 || sum->constant % g == 0) {
		return;
	}
	fact = arena_new(a->arena, struct analyser_fact);
	linear_init(&fact->sum, a);
	for (int i = 0; i < sum->n; i++) {
		const struct term *t = linear_at(sum, i);

		linear_add_term(&fact->sum, t->atom, t->coeff / g);
	}
	linear_add_constant(&fact->sum, -floor_div(-sum->constant, g));
	vec_push(a->arena, &a->sums, fact);
}

/* Adds the fact x - y + offset <= 0. */
static void
assume_sum(struct analyser *a, const struct expr *x, const struct expr *y,
	   int64_t offset)
{
	struct analyser_fact *fact = arena_new(a->arena, struct analyser_fact);

	linear_of(a, x, &fact->sum);
	linear_add_expr(&fact->sum, y, -1);
	linear_add_constant(&fact->sum, offset);
	if (!fact->sum.broken) {
		vec_push(a->arena, &a->sums, fact);
		assume_whole(a, &fact->sum);
	}
}

static void
assume(struct analyser *a, const struct expr *c, bool holds)
{
	const struct expr *x = c->n_args > 0 ? c->args[0] : NULL;
	const struct expr *y = c->n_args > 1 ? c->args[1] : NULL;
	bool index = x && type_is_index(x->type);

	switch (c->kind) {
	case EXPR_AND:
	case EXPR_OR:
		if (holds == (c->kind == EXPR_AND)) {
			assume(a, x, holds);
			assume(a, y, holds);
		}
		return;
	case EXPR_NOT:
		assume(a, x, !holds);
		return;
	case EXPR_CALL:
		if (c->u.intrin == INTRIN_LIKELY) {
			assume(a, x, holds);
		}
		return;
	default:
		break;
	}
	if (!index) {
		return;
	}
	if (c->kind == (holds ? EXPR_LT : EXPR_GE)) {
		assume_sum(a, x, y, 1);
	} else if (c->kind == (holds ? EXPR_LE : EXPR_GT)) {
		assume_sum(a, x, y, 0);
	} else if (c->kind == (holds ? EXPR_GT : EXPR_LE)) {
		assume_sum(a, y, x, 1);
	} else if (c->kind == (holds ? EXPR_GE : EXPR_LT)) {
		assume_sum(a, y, x, 0);
	} else if (c->kind == (holds ? EXPR_EQ : EXPR_NE)) {
		assume_sum(a, x, y, 0);
		assume_sum(a, y, x, 0);
	}
}

void
analyser_assume(struct analyser *a, const struct expr *condition)
{
	/* A condition that loads, or calls a function with an effect, is not a
	 * fact: its value may change. */
	if (may_change(condition)) {
		return;
	}
	vec_push(a->arena, &a->facts, condition);
	assume(a, condition, true);
	changed(a);
}

struct analyser_mark
analyser_mark(const struct analyser *a)
{
	return (struct analyser_mark){ a->vars.n, a->facts.n, a->sums.n,
				       a->version };
}

void
analyser_pop(struct analyser *a, struct analyser_mark mark)
{
	a->vars.n = mark.vars;
	a->facts.n = mark.facts;
	a->sums.n = mark.sums;
	a->version = mark.version;
}

/* Most analysers answer few questions, and their tables live as long as the
 * module's arena: start small. */
enum { LEAST_CACHE = 4 };

static struct analyser_entry *
slot_of(struct analyser_entry *cache, uint32_t cap, const struct expr *e)
{
	uint32_t at = e->hash & (cap - 1);

	while (cache[at].key && cache[at].key != e) {
		at = (at + 1) & (cap - 1);
	}
	return &cache[at];
}

struct analyser_entry *
analyser_entry(struct analyser *a, const struct expr *e)
{
	struct analyser_entry *entry;

	if ((a->n_cache + 1) * 4 > a->cap_cache * 3) {
		uint32_t cap = a->cap_cache ? a->cap_cache * 2 : LEAST_CACHE;
		struct analyser_entry *cache =
			arena_array(a->arena, struct analyser_entry, cap);

		for (uint32_t i = 0; i < a->cap_cache; i++) {
			if (a->cache[i].key) {
				*slot_of(cache, cap,
					 a->cache[i].key) = a->cache[i];
			}
		}
		a->cache = cache;
		a->cap_cache = cap;
	}
	entry = slot_of(a->cache, a->cap_cache, e);
	if (!entry->key) {
		entry->key = e;
		a->n_cache++;
	}
	return entry;
}
