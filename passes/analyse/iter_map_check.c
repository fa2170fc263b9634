/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the digits of the indices are independent, and that together
 * these digits cover the loops' iteration space. */
#include "iter_map_parts.h"

static const struct expr *iter_split_value(struct analyser *a,
					   const struct iter_split *s);

struct digits {
	const struct iter_mark *mark;
	VEC(struct iter_split) list;
};

struct check {
	struct detect *d;
	enum iter_level level;
	VEC(struct digits) marks;
};

static void
collect(struct check *c, const struct iter_split *part)
{
	struct arena *arena = &c->d->m->arena;
	struct digits fresh = { .mark = part->source };

	for (int i = 0; i < c->marks.n; i++) {
		if (c->marks.data[i].mark == part->source) {
			vec_push(arena, &c->marks.data[i].list, *part);
			return;
		}
	}
	vec_push(arena, &fresh.list, *part);
	vec_push(arena, &c->marks, fresh);
	/* If the mark of a part is a sum, the parts of this sum count as used,
	 * too. */
	for (int i = 0; part->source->sum && i < part->source->sum->n; i++) {
		collect(c, &part->source->sum->parts[i]);
	}
}

static bool
refuse(struct check *c, const struct iter_mark *mark, const char *what)
{
	struct strbuf text;
	struct iter_split whole = { mark,
				    expr_int(c->d->m, mark->extent->type, 1),
				    mark->extent,
				    expr_int(c->d->m, mark->extent->type, 1) };

	strbuf_init(&text);
	if (mark->var) {
		strbuf_puts(&text, mark->var->name);
	} else {
		expr_print(iter_split_value(c->d->a, &whole), &text);
	}
	c->d->why = arena_printf(&c->d->m->arena, "%s %s", text.data, what);
	strbuf_release(&text);
	return false;
}

static bool
check_digits(struct check *c, struct digits *g)
{
	struct module *m = c->d->m;
	struct analyser *a = c->d->a;
	const struct expr *next = expr_int(m, g->mark->extent->type, 1);
	int n = g->list.n;

	for (int done = 0; done < n; done++) {
		int at = -1;

		for (int i = done; i < n && at < 0; i++) {
			if (prove_equal(a, g->list.data[i].lower, next)) {
				at = i;
			}
		}
		/* digits of the mark between two used digits, which no index
		 * uses */
		for (int i = done;
		     i < n && at < 0 && c->level != ITER_MAP_BIJECTIVE; i++) {
			bool first = true;

			for (int k = done; k < n; k++) {
				first &= expr_quotient(a, g->list.data[k].lower,
						       g->list.data[i].lower) !=
					 NULL;
			}
			if (first &&
			    expr_quotient(a, g->list.data[i].lower, next)) {
				at = i;
			}
		}
		if (at < 0) {
			return refuse(c, g->mark,
				      "is used more than once, or "
				      "in part only");
		}
		struct iter_split t = g->list.data[at];

		g->list.data[at] = g->list.data[done];
		g->list.data[done] = t;
		next = simplify(a, expr_mul(m, t.lower, t.extent));
	}
	if (prove_equal(a, next, g->mark->extent)) {
		return true;
	}
	/* If only one digit of the mark is used, it takes all of its values,
	 * even if its extent does not divide that of the mark. */
	if (c->level != ITER_MAP_BIJECTIVE &&
	    (n == 1 || expr_quotient(a, g->mark->extent, next))) {
		return true;
	}
	return refuse(c, g->mark, "is cut where its extent does not divide");
}

bool
detect_check(struct detect *d, struct iter_map *map, enum iter_level level)
{
	struct check c = { .d = d, .level = level };

	if (level == ITER_MAP_ANY) {
		return true;
	}
	for (int i = 0; i < map->n; i++) {
		const struct iter_sum *s = &map->indices[i];

		if (s->n > 0 && !d->pad &&
		    !expr_is_value(s->parts[s->n - 1].scale, 1)) {
			return refuse(&c, s->parts[s->n - 1].source,
				      "is multiplied, which leaves values out");
		}
		for (int k = 0; k < s->n; k++) {
			collect(&c, &s->parts[k]);
		}
	}
	for (int i = 0; i < c.marks.n; i++) {
		if (!check_digits(&c, &c.marks.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < d->fused.n; i++) {
		const struct iter_mark *mark = d->fused.data[i].mark;
		bool used = !mark->limit;

		for (int k = 0; k < c.marks.n; k++) {
			used |= c.marks.data[k].mark == mark;
		}
		if (!used) {
			return refuse(&c, mark,
				      "is bounded but no index "
				      "consists of it");
		}
	}
	for (int i = 0; i < d->n_loops && level == ITER_MAP_BIJECTIVE; i++) {
		bool used = expr_is_value(d->marks[i].extent, 1);

		for (int k = 0; k < c.marks.n; k++) {
			used |= c.marks.data[k].mark == &d->marks[i];
		}
		if (!used) {
			return refuse(&c, &d->marks[i], "changes no index");
		}
	}
	return true;
}

/* -- as expressions */

static const struct expr *
iter_split_value(struct analyser *a, const struct iter_split *s)
{
	struct module *m = a->module;
	const struct iter_mark *mark = s->source;
	const struct expr *e = mark->var ? mark->var->expr
					 : iter_sum_value(a, mark->sum);

	e = expr_sub(m, e, s->source->min);
	e = expr_floordiv(m, e, s->lower);
	if (!prove_equal(a, expr_mul(m, s->lower, s->extent),
			 s->source->extent)) {
		e = expr_floormod(m, e, s->extent);
	}
	return expr_mul(m, e, s->scale);
}

const struct expr *
iter_sum_value(struct analyser *a, const struct iter_sum *s)
{
	const struct expr *e = NULL;

	for (int i = 0; i < s->n; i++) {
		const struct expr *x = iter_split_value(a, &s->parts[i]);

		e = e ? expr_add(a->module, e, x) : x;
	}
	return e ? expr_add(a->module, e, s->base) : s->base;
}

const struct expr *
iter_sum_extent(struct analyser *a, const struct iter_sum *s)
{
	struct module *m = a->module;
	const struct expr *most = expr_int(m, s->base->type, 1);

	for (int i = 0; i < s->n; i++) {
		const struct iter_split *p = &s->parts[i];

		if (!prove(a, expr_lt(m, expr_int(m, p->scale->type, 0),
				      p->scale))) {
			return NULL;
		}
		most = expr_add(m, most,
				expr_mul(m,
					 expr_sub(m, p->extent,
						  expr_int(m, p->extent->type,
							   1)),
					 p->scale));
	}
	return simplify(a, most);
}

bool
iter_mark_uses(const struct iter_mark *mark, const struct var *v)
{
	if (mark->var) {
		return mark->var == v;
	}
	for (int i = 0; i < mark->sum->n; i++) {
		if (iter_mark_uses(mark->sum->parts[i].source, v)) {
			return true;
		}
	}
	return false;
}
