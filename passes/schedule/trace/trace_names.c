/* SPDX-License-Identifier: Apache-2.0 */
/* Results and uses of a trace's steps: names for printing, and queries whose
 * results are not used. */
#include "trace.h"

int
trace_n_results(const struct sched_step *step)
{
	return step->result.kind == SV_LIST   ? step->result.n
	       : step->result.kind == SV_NONE ? 0
					      : 1;
}

static const struct sched_value *
trace_result(const struct sched_step *step, int i)
{
	return step->result.kind == SV_LIST ? &step->result.items[i]
					    : &step->result;
}

static int
sample_of(const struct sched *s, const struct expr *e)
{
	for (int i = 0; i < s->samples.n && e->kind == EXPR_VAR; i++) {
		if (s->samples.data[i].var == e->u.var) {
			return i;
		}
	}
	return -1;
}

/* -- the steps that return handles */

/* For a handle: the step that returned it, plus 1, and whether a later step
 * uses it. */
struct giver {
	int step;
	bool used;
};

struct givers {
	const struct sched *s;
	VEC(struct giver) of_id;
	int *of_sample; /* by sample: the step that made it, plus 1 */
};

static struct giver *
giver_of(struct givers *g, int id)
{
	struct giver none = { 0, false };

	while (g->of_id.n <= id) {
		vec_push(&g->s->module->arena, &g->of_id, none);
	}
	return &g->of_id.data[id];
}

static void
see_uses(struct givers *g, const struct sched_value *v)
{
	for (int i = 0; i < v->n; i++) {
		see_uses(g, &v->items[i]);
	}
	if ((v->kind == SV_BLOCK || v->kind == SV_LOOP) && v->u.id > 0) {
		giver_of(g, v->u.id)->used = true;
	}
}

/* Records that the step returned the handle `id`, if no step before it did. If
 * the handle was returned in the list of a query and was not used yet, a query
 * for the block by its name takes the place of that query. */
static void
see_result(struct givers *g, int step, int id)
{
	const struct sched_step *steps = g->s->trace.data;
	struct giver *giver = giver_of(g, id);

	if (giver->step == 0 ||
	    (!giver->used && steps[giver->step - 1].primitive->is_query &&
	     steps[giver->step - 1].result.kind == SV_LIST &&
	     steps[step].result.kind == SV_BLOCK)) {
		giver->step = step + 1;
	}
}

static void
find_givers(const struct sched *s, struct givers *g)
{
	struct arena *a = &s->module->arena;

	g->s = s;
	g->of_sample = arena_array(a, int, s->samples.n + 1);
	for (int i = 0; i < s->trace.n; i++) {
		const struct sched_step *step = &s->trace.data[i];

		for (int k = 0; k < step->primitive->n_params; k++) {
			see_uses(g, &step->args[k]);
		}
		for (int k = 0; k < trace_n_results(step); k++) {
			const struct sched_value *v = trace_result(step, k);
			int at = v->kind == SV_EXPR ? sample_of(s, v->u.expr)
						    : -1;

			if (at >= 0) {
				g->of_sample[at] = i + 1;
			}
			if ((v->kind == SV_BLOCK || v->kind == SV_LOOP) &&
			    v->u.id > 0) {
				see_result(g, i, v->u.id);
			}
		}
	}
}

static bool
value_uses(const struct sched_value *v, const struct var *sample)
{
	bool uses = v->kind == SV_EXPR && expr_uses_var(v->u.expr, sample);

	for (int i = 0; v->kind == SV_MAP && i < v->u.map->n_physical; i++) {
		uses |= expr_uses_var(v->u.map->to_physical[i], sample);
	}
	return uses;
}

static void
mark_needed(const struct givers *g, const struct sched_value *v, bool *keep)
{
	for (int i = 0; i < v->n; i++) {
		mark_needed(g, &v->items[i], keep);
	}
	if ((v->kind == SV_BLOCK || v->kind == SV_LOOP) && v->u.id > 0 &&
	    v->u.id < g->of_id.n && g->of_id.data[v->u.id].step > 0) {
		keep[g->of_id.data[v->u.id].step - 1] = true;
	}
	for (int i = 0; i < g->s->samples.n; i++) {
		if (g->of_sample[i] > 0 &&
		    value_uses(v, g->s->samples.data[i].var)) {
			keep[g->of_sample[i] - 1] = true;
		}
	}
}

/* Did the step sample a compute location that is not a loop (LOOP_ROOT,
 * LOOP_INLINE)? It cannot be found out which later steps use such a value, so
 * that the step is always kept. */
static bool
returns_location(const struct sched_step *step)
{
	return step->result.kind == SV_LOOP && step->result.u.id < 0;
}

void
trace_live(const struct sched *s, bool *keep)
{
	struct givers g = { 0 };

	find_givers(s, &g);
	memset(keep, 0, sizeof *keep * (size_t)s->trace.n);
	for (int i = s->trace.n - 1; i >= 0; i--) {
		const struct sched_step *step = &s->trace.data[i];

		keep[i] |= !step->primitive->is_query || returns_location(step);
		for (int k = 0; keep[i] && k < step->primitive->n_params; k++) {
			mark_needed(&g, &step->args[k], keep);
		}
	}
}

/* -- names */

static void
name_result(const struct sched *s, struct trace_names *out,
	    const struct sched_value *v, struct trace_name name)
{
	struct trace_name none = { -1, 0, NULL };
	int at;

	if (v->kind == SV_EXPR) {
		at = sample_of(s, v->u.expr);
		while (out->of_var.n <= at) {
			vec_push(out->arena, &out->of_var, none);
		}
		if (at >= 0) {
			out->of_var.data[at] = name;
		}
		return;
	}
	/* A location that is not a loop counts as the result of the last step
	 * that sampled such a location. */
	at = v->u.id < 0 ? -v->u.id - 1 : v->u.id + 2;
	while (out->of_id.n <= at) {
		vec_push(out->arena, &out->of_id, none);
	}
	if (!out->of_id.data[at].text || v->u.id < 0) {
		out->of_id.data[at] = name;
	}
}

void
trace_name_all(const struct sched *s, const bool *keep, struct trace_names *out)
{
	memset(out, 0, sizeof *out);
	out->arena = &s->module->arena;
	for (int i = 0; i < s->trace.n; i++) {
		const struct sched_step *step = &s->trace.data[i];

		vec_push(out->arena, &out->first_result, out->of_result.n);
		for (int k = 0; keep[i] && k < trace_n_results(step); k++) {
			const struct sched_value *v = trace_result(step, k);
			struct trace_name name = { i, k, NULL };

			name.text = arena_printf(out->arena, "%c%d",
						 v->kind == SV_BLOCK  ? 'b'
						 : v->kind == SV_LOOP ? 'l'
								      : 'v',
						 out->of_result.n);
			vec_push(out->arena, &out->of_result, name.text);
			name_result(s, out, v, name);
		}
	}
}

const char *
trace_handle(const struct trace_names *names, int id)
{
	int at = id < 0 ? -id - 1 : id + 2;

	return at < names->of_id.n ? names->of_id.data[at].text : NULL;
}

/* A map from the variables of sampled values to new variables, whose names are
 * those in the trace. */
static struct var_map
sample_names(const struct sched *s, const struct trace_names *names)
{
	struct arena *a = &s->module->arena;
	int n = names->of_var.n;
	struct var **from = arena_array(a, struct var *, n + 1);
	const struct expr **to = arena_exprs(a, n + 1);
	struct var_map map = { from, to, 0 };

	for (int i = 0; i < n; i++) {
		if (names->of_var.data[i].text) {
			from[map.n] = s->samples.data[i].var;
			to[map.n++] = var_new(s->module,
					      names->of_var.data[i].text,
					      dtype_of(DT_I32))
					      ->expr;
		}
	}
	return map;
}

const struct expr *
trace_expr(const struct sched *s, const struct trace_names *names,
	   const struct expr *e)
{
	const struct var_map map = sample_names(s, names);

	return expr_substitute(s->module, e, &map);
}

const struct index_map *
trace_map(const struct sched *s, const struct trace_names *names,
	  const struct index_map *map)
{
	const struct var_map values = sample_names(s, names);

	return index_map_substitute(s->module, map, &values);
}
