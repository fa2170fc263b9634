/* SPDX-License-Identifier: Apache-2.0 */
/* Searches values of the variables for which all ranges and facts hold and a
 * linear form is positive. If values are found, a proof that the form is never
 * positive cannot exist, so no proof is tried. The search begins with the
 * smallest value of every variable, and first gives the variables of the form's
 * last terms their largest values.
 *
 *	i < a + b, known: a <= i < a + b + c      i = a = b = 0, c = 300
 *
 * The search is short and gives up early. */
#include "linear.h"

enum { TRIAL_VARS = 128, TRIAL_SLOTS = 256, TRIAL_STEPS = 40000 };

struct trial_var {
	const struct var *var;
	/* NULL if only var->min and var->max bound the variable */
	const struct analyser_var *known;
	int64_t value, max;
};

struct trial {
	struct analyser *a;
	const struct linear *claim;
	struct trial_var vars[TRIAL_VARS];
	int16_t slots[TRIAL_SLOTS]; /* a hash table of indices into vars, plus
				     * 1 */
	int n, steps;
	bool failed;
};

static struct trial_var *
trial_variable(struct trial *t, const struct var *v)
{
	const struct analyser_var *known;
	struct bounds b;
	unsigned at = (unsigned)v->id % TRIAL_SLOTS;

	while (t->slots[at] && t->vars[t->slots[at] - 1].var != v) {
		at = (at + 1) % TRIAL_SLOTS;
	}
	if (t->slots[at]) {
		return &t->vars[t->slots[at] - 1];
	}
	known = analyser_find(t->a, v);
	b = known ? known->bounds : (struct bounds){ v->min, v->max };
	if (t->n == TRIAL_VARS || b.min == BOUND_NEG_INF || b.min > b.max) {
		t->failed = true;
		return NULL;
	}
	t->vars[t->n] = (struct trial_var){ v, known, b.min, b.max };
	t->slots[at] = (int16_t)++t->n;
	return &t->vars[t->n - 1];
}

static int64_t
trial_value(struct trial *t, const struct expr *e)
{
	const struct trial_var *v;
	int64_t x, y, z = 0;

	if (t->failed || --t->steps < 0 || !type_is_index(e->type)) {
		t->failed = true;
		return 0;
	}
	if (e->kind == EXPR_INT) {
		return e->u.ival;
	}
	if (e->kind == EXPR_VAR) {
		v = trial_variable(t, e->u.var);
		if (v && v->known && v->known->value) {
			return trial_value(t, v->known->value);
		}
		return v ? v->value : 0;
	}
	if (e->kind < EXPR_ADD || e->kind > EXPR_MAX || e->n_args != 2) {
		t->failed = true;
		return 0;
	}
	x = trial_value(t, e->args[0]);
	y = trial_value(t, e->args[1]);
	switch (e->kind) {
	case EXPR_ADD:
		t->failed |= __builtin_add_overflow(x, y, &z);
		return z;
	case EXPR_SUB:
		t->failed |= __builtin_sub_overflow(x, y, &z);
		return z;
	case EXPR_MUL:
		t->failed |= __builtin_mul_overflow(x, y, &z);
		return z;
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (y <= 0) {
			t->failed = true;
			return 0;
		}
		return e->kind == EXPR_FLOORDIV ? floor_div(x, y)
						: floor_mod(x, y);
	case EXPR_MIN:
		return x < y ? x : y;
	case EXPR_MAX:
		return x > y ? x : y;
	default:
		t->failed = true;
		return 0;
	}
}

static bool
is_positive(struct trial *t, const struct linear *l)
{
	int64_t sum = l->constant, x;

	for (int i = 0; i < l->n && !t->failed; i++) {
		t->failed |= __builtin_mul_overflow(trial_value(t,
								linear_at(l, i)
									->atom),
						    linear_at(l, i)->coeff,
						    &x) ||
			     __builtin_add_overflow(sum, x, &sum);
	}
	return sum > 0;
}

/* The number of facts and ranges that do not hold for the trial's values, plus
 * 1 if the claim does not hold. */
static int
count_unmet(struct trial *t)
{
	int n = !is_positive(t, t->claim);

	for (int i = 0; i < t->a->sums.n; i++) {
		n += is_positive(t, &t->a->sums.data[i]->sum);
	}
	for (int i = 0; i < t->n && !t->failed; i++) {
		const struct trial_var *v = &t->vars[i];
		int64_t first, extent;

		if (v->known && v->known->extent) {
			first = trial_value(t, v->known->min);
			extent = trial_value(t, v->known->extent);
			n += v->value < first || v->value - first >= extent;
		}
	}
	return n;
}

bool
linear_has_counterexample(struct analyser *a, const struct linear *l)
{
	struct trial t;
	int unmet;

	t.a = a;
	t.claim = l;
	memset(t.slots, 0, sizeof t.slots);
	t.n = 0;
	t.steps = TRIAL_STEPS;
	t.failed = false;
	unmet = count_unmet(&t);
	for (int i = t.n - 1; i >= 0 && unmet > 0 && !t.failed; i--) {
		int64_t value = t.vars[i].value;
		int now;

		if (t.vars[i].max == BOUND_POS_INF) {
			continue;
		}
		t.vars[i].value = t.vars[i].max;
		now = count_unmet(&t);
		if (now < unmet) {
			unmet = now;
		} else {
			t.vars[i].value = value;
		}
	}
	return unmet == 0 && !t.failed;
}
