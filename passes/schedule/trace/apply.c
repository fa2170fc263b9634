/* SPDX-License-Identifier: Apache-2.0 */
/* Applies primitives: checks the arguments against the row of primitives.def,
 * calls the primitive's function, rolls the program back if the function fails,
 * and records the step with its arguments and results. */
#include "edit.h"

#include "iterate.h"
#include "trace.h"
#include <assert.h>

/* -- kinds of arguments */

static const char *const kind_words[] = {
	[SV_NONE] = "None",        [SV_BLOCK] = "a block",
	[SV_LOOP] = "a loop",      [SV_INT] = "an integer",
	[SV_FLOAT] = "a number",   [SV_BOOL] = "True or False",
	[SV_STRING] = "a string",  [SV_EXPR] = "an expression",
	[SV_MAP] = "an index map", [SV_LIST] = "a list",
};

static const char *
accepted_words(struct arena *a, unsigned accepts)
{
	const char *text = NULL;

	for (int k = SV_LIST; k >= 0; k--) {
		if (!(accepts & 1u << k)) {
			continue;
		}
		text = !text ? kind_words[k]
			     : arena_printf(
				       a, "%s%s%s", kind_words[k],
				       strstr(text, " or ") &&
						       strcmp(text,
							      "True or False") !=
							       0
					       ? ", "
					       : " or ",
				       text);
	}
	return text ? text : "nothing";
}

/* The state of one application. */
struct call {
	struct edit *e;
	const struct primitive *primitive;
	struct sched_value *given; /* the arguments as the step records them */
	/* the arguments with numbers in place of sampled values */
	struct sched_value *used;
};

static bool
wrong_kind(struct call *c, const struct sched_param *p,
	   const struct sched_value *v, int item)
{
	const char *wanted = accepted_words(&c->e->m->arena, p->accepts);

	if (item >= 0) {
		return edit_fail(c->e, "%s: item %d is %s; give %s", p->name,
				 item, kind_words[v->kind], wanted);
	}
	return edit_fail(c->e, "%s is %s; give %s%s", p->name,
			 kind_words[v->kind],
			 p->is_list ? "a list, each item " : "", wanted);
}

static bool
alive(struct call *c, const struct sched_param *p, const struct sched_value *v)
{
	const struct stmt *s = func_find(c->e->f, v->u.id);

	if (v->kind == SV_BLOCK && (!s || s->kind != STMT_BLOCK)) {
		return edit_fail(c->e,
				 "%s is not a block of the function any "
				 "more; get it by name",
				 p->name);
	}
	if (v->kind == SV_LOOP &&
	    (v->u.id == LOOP_ROOT || v->u.id == LOOP_INLINE)) {
		return p->role == PARAM_PLACE ||
		       edit_fail(c->e,
				 "%s is no loop: sample_compute_location chose "
				 "to leave the block or to inline it; only "
				 "compute_at and reverse_compute_at take that",
				 p->name);
	}
	if (v->kind == SV_LOOP && (!s || s->kind != STMT_FOR)) {
		return edit_fail(c->e,
				 "%s is not a loop of the function any more; "
				 "get the loops of a block again",
				 p->name);
	}
	return true;
}

/* A copy of the map's forward direction alone, which determines the map. */
static const struct index_map *
copied_map(struct module *m, const struct index_map *map)
{
	struct arena *a = &m->arena;
	struct index_map *copy = arena_copy(a, map, sizeof *map);
	size_t in = sizeof(void *) * (size_t)map->n_logical;
	size_t out = sizeof(void *) * (size_t)map->n_physical;

	copy->logical = arena_copy(a, map->logical, in);
	copy->to_physical = arena_copy(a, map->to_physical, out);
	copy->physical_shape = NULL;
	copy->physical = NULL;
	copy->to_logical = NULL;
	copy->in_range = NULL;
	return copy;
}

/* Is the variable a size of the function: a parameter that is not a buffer's
 * pointer, or a variable of a parameter's shape? */
static bool
is_size(const struct func *f, const struct var *v)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (f->params.data[i].var == v) {
			return b == NULL;
		}
		for (int d = 0; b != NULL && d < b->ndim; d++) {
			if (expr_uses_var(b->shape[d], v)) {
				return true;
			}
		}
	}
	return false;
}

/* Has the variable a value wherever a primitive may put an expression: is it a
 * size of the function, a sampled value or an index of the map? */
static bool
is_known(const struct call *c, const struct index_map *map, const struct var *v)
{
	for (int i = 0; i < c->e->s->samples.n; i++) {
		if (c->e->s->samples.data[i].var == v) {
			return true;
		}
	}
	for (int i = 0; map != NULL && i < map->n_logical; i++) {
		if (map->logical[i] == v) {
			return true;
		}
	}
	return is_size(c->e->f, v);
}

/* Checks an expression in an argument; false after a diagnostic. A schedule may
 * come from an untrusted source: its expressions may only compute numbers, and
 * the emitted source must not call functions that the schedule names. */
static bool
check_expr(struct call *c, const struct sched_param *p,
	   const struct index_map *map, const struct expr *e)
{
	struct expr_iter it = expr_each(e);

	while ((e = expr_next(&it)) &&
	       (e->kind == EXPR_VAR ? is_known(c, map, e->u.var)
		: e->kind == EXPR_CALL
			? intrin_is_pure(e->u.intrin)
			: e->kind != EXPR_LOAD && e->kind != EXPR_REDUCE)) {
	}
	expr_stop(&it);
	if (e && e->kind == EXPR_VAR) {
		return edit_fail(
			c->e,
			"%s uses %s, which is not a size of the function "
			"and not an index of the map; use only those",
			p->name, e->u.var->name);
	}
	if (e) {
		return edit_fail(c->e,
				 "%s %s; give an expression of sizes and "
				 "indices alone",
				 p->name,
				 e->kind == EXPR_CALL ? "calls a function"
						      : "reads memory");
	}
	return true;
}

/* Checks expression i of a map. Where only a map is accepted, the expression is an
 * index; elsewhere a map may give the value of an element. */
static bool
check_mapped(struct call *c, const struct sched_param *p,
	     const struct index_map *map, int i)
{
	const struct expr *e = map->to_physical[i];

	if (p->accepts == 1u << SV_MAP &&
	    (!dtype_is_int(e->type) || e->type.lanes != 1)) {
		return edit_fail(c->e,
				 "%s: index %d is of type %s; an index is an "
				 "integer",
				 p->name, i, dtype_name(e->type));
	}
	return check_expr(c, p, map, e);
}

/* Checks the expressions in a value; false after a diagnostic. */
static bool
check_exprs(struct call *c, const struct sched_param *p,
	    const struct sched_value *v)
{
	if (v->kind == SV_EXPR) {
		return check_expr(c, p, NULL, v->u.expr);
	}
	for (int i = 0; v->kind == SV_MAP && i < v->u.map->n_physical; i++) {
		if (!check_mapped(c, p, v->u.map, i)) {
			return false;
		}
	}
	for (int i = 0; v->kind == SV_LIST && i < v->n; i++) {
		if (!check_exprs(c, p, &v->items[i])) {
			return false;
		}
	}
	return true;
}

/* Checks that the value v has a kind that parameter p accepts, or converts v to
 * such a kind. False after a diagnostic. */
static bool
check_value(struct call *c, const struct sched_param *p, struct sched_value *v,
	    int item)
{
	struct module *m = c->e->m;
	int64_t n;

	if (v->kind == SV_STRING) {
		v->u.text = arena_strdup(&m->arena, v->u.text);
	}
	if (v->kind == SV_EXPR && !p->is_input) {
		/* In traces, attributes are numbers, so sampled values are
		 * replaced by their values. */
		*v = sv_expr(sched_get_value(c->e->s, v->u.expr));
		if (expr_is_int(v->u.expr, &n) && p->accepts & 1u << SV_INT) {
			*v = sv_int(n);
		}
	}
	if (p->accepts & 1u << v->kind) {
		if (v->kind == SV_MAP) {
			v->u.map = copied_map(m, v->u.map);
		}
		return alive(c, p, v) && check_exprs(c, p, v);
	}
	if (v->kind == SV_EXPR && expr_is_int(v->u.expr, &n)) {
		*v = sv_int(n);
		return check_value(c, p, v, item);
	}
	if (v->kind == SV_EXPR && p->accepts & 1u << SV_INT &&
	    expr_is_int(sched_get_value(c->e->s, v->u.expr), &n)) {
		return true; /* sampled */
	}
	if (v->kind == SV_INT && p->accepts & 1u << SV_EXPR) {
		*v = sv_expr(expr_index(m, v->u.ival));
		return true;
	}
	if (v->kind == SV_INT && p->accepts & 1u << SV_FLOAT) {
		*v = sv_float((double)v->u.ival);
		return true;
	}
	if (v->kind == SV_BOOL && p->accepts & 1u << SV_INT) {
		*v = sv_int(v->u.ival);
		return true;
	}
	if (v->kind == SV_INT && p->accepts & 1u << SV_BOOL &&
	    (v->u.ival == 0 || v->u.ival == 1)) {
		*v = sv_bool(v->u.ival);
		return true;
	}
	if (v->kind == SV_STRING && p->accepts & 1u << SV_BLOCK) {
		return sched_apply(c->e->s, "get_block", v, 1, v);
	}
	return wrong_kind(c, p, v, item);
}

/* -- buffers of a block */

static const struct block *
named_block(struct call *c)
{
	for (int i = 0; i < c->primitive->n_params; i++) {
		if (c->given[i].kind == SV_BLOCK) {
			return func_find(c->e->f, c->given[i].u.id)->u.block;
		}
	}
	return NULL;
}

static int
region_named(const struct region *list, int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(list[i].buffer->name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static bool
check_index(struct call *c, const struct sched_param *p, bool write,
	    struct sched_value *v)
{
	const struct block *b = named_block(c);
	const struct region *list = write ? b->writes : b->reads;
	int n = write ? b->n_writes : b->n_reads;

	if (v->kind == SV_STRING) {
		const char *name = v->u.text;

		*v = sv_int(region_named(list, n, name));
		return v->u.ival >= 0 ||
		       edit_fail(c->e,
				 "%s: block %s does not %s %s; name a "
				 "buffer that it does",
				 p->name, b->name, write ? "write" : "read",
				 name);
	}
	if (v->kind == SV_EXPR) {
		*v = sv_expr(sched_get_value(c->e->s, v->u.expr));
	}
	if (!check_value(c, p, v, -1)) {
		return false;
	}
	return (v->u.ival >= 0 && v->u.ival < n) ||
	       edit_fail(c->e, "%s: block %s has no %s %lld; it has %d",
			 p->name, b->name, write ? "output" : "input",
			 (long long)v->u.ival, n);
}

static bool
check_buffer(struct call *c, const struct sched_param *p, struct sched_value *v)
{
	const struct block *b = named_block(c);
	struct sched_value pair[2];
	bool write;

	if (v->kind == SV_STRING) {
		write = region_named(b->writes, b->n_writes, v->u.text) >= 0;
		pair[1] = *v;
	} else if (v->kind == SV_LIST && v->n == 2 &&
		   v->items[0].kind == SV_STRING) {
		write = strcmp(v->items[0].u.text, "write") == 0;
		pair[1] = v->items[1];
		if (!write && strcmp(v->items[0].u.text, "read") != 0) {
			return edit_fail(c->e,
					 "%s: \"%s\" is neither "
					 "\"read\" nor \"write\"",
					 p->name, v->items[0].u.text);
		}
	} else {
		return edit_fail(c->e,
				 "%s is %s; give (\"read\" or "
				 "\"write\", number) or a buffer's name",
				 p->name, kind_words[v->kind]);
	}
	pair[0] = sv_string(write ? "write" : "read");
	if (!check_index(c, p, write, &pair[1])) {
		return false;
	}
	*v = sv_list(c->e->m, pair, 2);
	return true;
}

/* -- lists and rows */

static bool
check_list(struct call *c, const struct sched_param *p, struct sched_value *v)
{
	struct sched_value *items;

	if (v->kind != SV_LIST) {
		return wrong_kind(c, p, v, -1);
	}
	items = arena_array(&c->e->m->arena, struct sched_value, v->n + 1);
	for (int i = 0; i < v->n; i++) {
		items[i] = v->items[i];
		if (!check_value(c, p, &items[i], i)) {
			return false;
		}
	}
	v->items = items;
	return true;
}

static bool
check_arg(struct call *c, const struct sched_param *p, struct sched_value *v)
{
	if (v->kind == SV_NONE && !(p->accepts & 1u << SV_NONE)) {
		*v = p->initial;
		return p->optional ||
		       edit_fail(c->e, "%s is missing; give %s%s", p->name,
				 p->is_list ? "a list, each item " : "",
				 accepted_words(&c->e->m->arena, p->accepts));
	}
	switch (p->role) {
	case PARAM_READ_INDEX:
		return check_index(c, p, false, v);
	case PARAM_WRITE_INDEX:
		return check_index(c, p, true, v);
	case PARAM_BUFFER:
		return check_buffer(c, p, v);
	default:
		return p->is_list ? check_list(c, p, v)
				  : check_value(c, p, v, -1);
	}
}

static bool
check_args(struct call *c, const struct sched_value *args, int n_args)
{
	const struct primitive *p = c->primitive;

	if (n_args > p->n_params) {
		return edit_fail(c->e, "%d arguments; %s takes %d", n_args,
				 p->name, p->n_params);
	}
	for (int i = 0; i < p->n_params; i++) {
		c->given[i] = i < n_args ? args[i] : sv_none();
		if (i >= n_args && p->params[i].optional) {
			c->given[i] = p->params[i].initial;
		} else if (!check_arg(c, &p->params[i], &c->given[i])) {
			return false;
		}
	}
	return true;
}

/* -- sampled values */

/* The map from the variables of sampled values to the values decided for
 * them. */
static struct var_map
decided_values(struct sched *s)
{
	struct var **from = arena_array(&s->module->arena, struct var *,
					s->samples.n + 1);
	const struct expr **to = arena_exprs(&s->module->arena,
					     s->samples.n + 1);

	for (int i = 0; i < s->samples.n; i++) {
		from[i] = s->samples.data[i].var;
		to[i] = expr_index(s->module, s->samples.data[i].value);
	}
	return (struct var_map){ from, to, s->samples.n };
}

const struct expr *
sched_get_value(struct sched *s, const struct expr *e)
{
	const struct var_map values = decided_values(s);

	return expr_substitute(s->module, e, &values);
}

static struct sched_value
decided(struct sched *s, unsigned accepts, struct sched_value v)
{
	struct sched_value *items;
	struct var_map values;
	int64_t n;

	if (v.kind == SV_MAP) {
		values = decided_values(s);
		v.u.map = index_map_substitute(s->module, v.u.map, &values);
	}
	if (v.kind == SV_EXPR) {
		v.u.expr = sched_get_value(s, v.u.expr);
		if (accepts & 1u << SV_INT && expr_is_int(v.u.expr, &n)) {
			return sv_int(n);
		}
	}
	if (v.kind != SV_LIST) {
		return v;
	}
	items = arena_array(&s->module->arena, struct sched_value, v.n + 1);
	for (int i = 0; i < v.n; i++) {
		items[i] = decided(s, accepts, v.items[i]);
	}
	v.items = items;
	return v;
}

/* Makes a variable that stands for the sampled number v in later steps, so that
 * these steps can be replayed with a different number; returns it as a
 * value. */
static struct sched_value
named_sample(struct sched *s, struct sched_value v)
{
	struct sched_value *items;

	if (v.kind == SV_INT) {
		struct sched_sample sample = {
			var_new(s->module, "v", dtype_of(DT_I32)), v.u.ival
		};

		vec_push(&s->module->arena, &s->samples, sample);
		return sv_expr(sample.var->expr);
	}
	if (v.kind != SV_LIST) {
		return v;
	}
	items = arena_array(&s->module->arena, struct sched_value, v.n + 1);
	for (int i = 0; i < v.n; i++) {
		items[i] = named_sample(s, v.items[i]);
	}
	v.items = items;
	return v;
}

/* -- applying */

static bool
unknown(struct sched *s, const char *name)
{
	struct edit e = edit_begin(s, name);

	return edit_fail(&e, "there is no such primitive; "
			     "docs/reference/schedules.md lists them");
}

static bool
apply(struct call *c, const struct sched_value *args, int n_args,
      struct sched_step *step)
{
	const struct primitive *p = c->primitive;
	struct sched *s = c->e->s;

	if (!check_args(c, args, n_args)) {
		return false;
	}
	for (int i = 0; i < p->n_params; i++) {
		c->used[i] = decided(s, p->params[i].accepts, c->given[i]);
	}
	step->text = trace_step_text(c->e->f, p, c->used);
	if (!p->apply(c->e, c->used, &step->result) ||
	    (!p->is_query && !edit_check_sizes(c->e))) {
		return false;
	}
	assert(p->gives_list == (step->result.kind == SV_LIST));
	for (int i = 0; i < p->n_params; i++) {
		if (p->params[i].role == PARAM_DECISION) {
			c->given[i] = c->e->decision;
			step->result = named_sample(s, step->result);
		}
	}
	return true;
}

bool
sched_apply(struct sched *s, const char *primitive,
	    const struct sched_value *args, int n_args, struct sched_value *out)
{
	const struct primitive *p = sched_primitive_find(primitive);
	struct arena *arena = &s->module->arena;
	struct sched_mark mark = sched_checkpoint(s);
	struct sched_step step = { .primitive = p };
	struct edit e;
	struct call c = { &e, p, NULL, NULL };

	if (!p) {
		return unknown(s, primitive);
	}
	e = edit_begin(s, p->name);
	c.given = arena_array(arena, struct sched_value, p->n_params + 1);
	c.used = arena_array(arena, struct sched_value, p->n_params + 1);
	if (!apply(&c, args, n_args, &step)) {
		sched_rollback(s, mark);
		return false;
	}
	step.args = c.given;
	vec_push(arena, &s->trace, step);
	if (out) {
		*out = step.result;
	}
	return true;
}
