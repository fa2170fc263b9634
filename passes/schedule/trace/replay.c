/* SPDX-License-Identifier: Apache-2.0 */
/* Replays recorded steps, with handles and sampled values of the new steps in
 * place of the recorded ones. */
#include "edit.h"
#include "trace.h"

struct replay {
	struct sched *s;
	VEC(int) old_ids;
	VEC(int) new_ids;
	VEC(struct var *) old_vars;
	VEC(const struct expr *) new_exprs;
};

static bool
translate_id(struct replay *r, struct sched_value *v)
{
	if (v->u.id < 0) {
		return true; /* LOOP_ROOT, LOOP_INLINE */
	}
	for (int i = 0; i < r->old_ids.n; i++) {
		if (r->old_ids.data[i] == v->u.id) {
			v->u.id = r->new_ids.data[i];
			return true;
		}
	}
	return false;
}

static bool
translate(struct replay *r, struct sched_value *v)
{
	struct var_map map = { r->old_vars.data, r->new_exprs.data,
			       r->old_vars.n };
	struct sched_value *items;

	switch (v->kind) {
	case SV_BLOCK:
	case SV_LOOP:
		return translate_id(r, v);
	case SV_EXPR:
		v->u.expr = expr_substitute(r->s->module, v->u.expr, &map);
		return true;
	case SV_MAP:
		v->u.map = index_map_substitute(r->s->module, v->u.map, &map);
		return true;
	case SV_LIST:
		items = arena_array(&r->s->module->arena, struct sched_value,
				    v->n + 1);
		for (int i = 0; i < v->n; i++) {
			items[i] = v->items[i];
			if (!translate(r, &items[i])) {
				return false;
			}
		}
		v->items = items;
		return true;
	default:
		return true;
	}
}

/* Records, for each result `old` of a step of the old trace, the new result
 * that replaces it. False if both do not correspond. */
static bool
learn(struct replay *r, const struct sched_value *old,
      const struct sched_value *new)
{
	struct arena *a = &r->s->module->arena;

	if (old->kind != new->kind || old->n != new->n) {
		return false;
	}
	for (int i = 0; i < old->n; i++) {
		if (!learn(r, &old->items[i], &new->items[i])) {
			return false;
		}
	}
	if ((old->kind == SV_BLOCK || old->kind == SV_LOOP) && old->u.id > 0) {
		for (int i = 0; i < r->old_ids.n; i++) {
			if (r->old_ids.data[i] == old->u.id) {
				r->new_ids.data[i] = new->u.id;
				return true;
			}
		}
		vec_push(a, &r->old_ids, old->u.id);
		vec_push(a, &r->new_ids, new->u.id);
	}
	if (old->kind == SV_EXPR && old->u.expr->kind == EXPR_VAR) {
		vec_push(a, &r->old_vars, old->u.expr->u.var);
		vec_push(a, &r->new_exprs, new->u.expr);
	}
	return true;
}

static bool
replay_step(struct replay *r, const struct sched_step *step)
{
	struct sched *s = r->s;
	int n = step->primitive->n_params;
	struct sched_value *args = arena_array(&s->module->arena,
					       struct sched_value, n + 1);
	struct sched_value result;
	struct edit e = edit_begin(s, step->primitive->name);

	for (int i = 0; i < n; i++) {
		args[i] = step->args[i];
		if (!translate(r, &args[i])) {
			return edit_fail(&e,
					 "no earlier step returned %s; get "
					 "it with a query",
					 step->primitive->params[i].name);
		}
	}
	if (!sched_apply(s, step->primitive->name, args, n, &result)) {
		return false;
	}
	if (!learn(r, &step->result, &result)) {
		s->trace.n--;
		return edit_fail(&e,
				 "this time there are %d results instead "
				 "of %d; the trace belongs to another function",
				 result.n, step->result.n);
	}
	return true;
}

bool
sched_replay(struct sched *s, const struct sched_step *steps, int n)
{
	struct replay r = { .s = s };

	for (int i = 0; i < n; i++) {
		if (!replay_step(&r, &steps[i])) {
			return false;
		}
	}
	return true;
}
