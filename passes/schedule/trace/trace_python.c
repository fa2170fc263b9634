/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace in its Python form and applies it: calls of methods of `sch`,
 * without control flow.
 *
 *   b = sch.get_block("C")
 *   i, j, k = sch.get_loops(b)
 *   io, ii = sch.split(i, factors=[None, 4]) */
#include "text.h"
#include "trace.h"

struct binding {
	const char *name;
	struct sched_value value;
};

struct reader {
	struct sched *s;
	struct module *m;
	const struct source *src;
	const char *schedule; /* the name of the schedule in the text */
	VEC(struct binding) names;
	bool loosely;
};

static bool value_of(struct reader *r, const struct py_node *n,
		     struct sched_value *out);

static bool
fail(struct reader *r, const struct py_node *at, const char *what)
{
	return py_error(r->m, r->src, at->span, "%s", what);
}

static void
bind_name(struct reader *r, const char *name, struct sched_value value)
{
	struct binding b = { name, value };

	vec_push(&r->m->arena, &r->names, b);
}

static bool
look_up(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	const char **names = arena_array(&r->m->arena, const char *,
					 r->names.n + 1);
	const char *nearest;

	for (int i = r->names.n - 1; i >= 0; i--) {
		if (strcmp(r->names.data[i].name, n->text) == 0) {
			*out = r->names.data[i].value;
			return true;
		}
		names[i] = r->names.data[i].name;
	}
	nearest = text_nearest(n->text, names, r->names.n);
	return nearest ? py_error(r->m, r->src, n->span,
				  "%s has no value; "
				  "did you mean %s?",
				  n->text, nearest)
		       : py_error(r->m, r->src, n->span,
				  "%s has no value; "
				  "assign one first",
				  n->text);
}

static bool
list_of(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	struct sched_value *items = arena_array(&r->m->arena,
						struct sched_value,
						n->n_kids + 1);

	for (int i = 0; i < n->n_kids; i++) {
		if (!value_of(r, n->kids[i], &items[i])) {
			return false;
		}
	}
	*out = sv_list(r->m, items, n->n_kids);
	return true;
}

/* -- values */

static const struct expr *
as_expr(struct reader *r, const struct sched_value *v)
{
	return v->kind == SV_EXPR  ? v->u.expr
	       : v->kind == SV_INT ? expr_index(r->m, v->u.ival)
				   : NULL;
}

static struct sched_value
number_or_expr(const struct expr *e)
{
	int64_t n;

	return expr_is_int(e, &n) ? sv_int(n) : sv_expr(e);
}

static bool
arithmetic(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	static const struct {
		const char *op;
		enum expr_kind kind;
	} ops[] = {
		{ "+", EXPR_ADD },      { "-", EXPR_SUB },
		{ "*", EXPR_MUL },      { "//", EXPR_FLOORDIV },
		{ "%", EXPR_FLOORMOD },
	};
	struct sched_value x, y;
	const struct expr *a, *b;

	if (!value_of(r, n->kids[0], &x) || !value_of(r, n->kids[1], &y)) {
		return false;
	}
	a = as_expr(r, &x);
	b = as_expr(r, &y);
	for (size_t i = 0; a && b && i < sizeof ops / sizeof *ops; i++) {
		bool divides = ops[i].kind == EXPR_FLOORDIV ||
			       ops[i].kind == EXPR_FLOORMOD;

		if (strcmp(n->op, ops[i].op) != 0) {
			continue;
		}
		if (divides && expr_is_value(b, 0)) {
			return fail(r, n,
				    "division by zero; give another "
				    "divisor");
		}
		*out = number_or_expr(expr_binary(r->m, ops[i].kind, a, b));
		return true;
	}
	return fail(r, n,
		    "this is not a sum, product, // or % of integers; write "
		    "one");
}

static bool
negative(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	if (!value_of(r, n->kids[0], out)) {
		return false;
	}
	if (strcmp(n->op, "-") == 0 && out->kind == SV_INT) {
		*out = sv_int((int64_t)(0 - (uint64_t)out->u.ival));
		return true;
	}
	if (strcmp(n->op, "-") == 0 && out->kind == SV_FLOAT) {
		*out = sv_float(-out->u.fval);
		return true;
	}
	return fail(r, n, "a sign needs a number; write a number");
}

/* lambda i, j: (j, i // 4, i % 4) */
static bool
index_map(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	struct index_map *map = arena_new(&r->m->arena, struct index_map);
	int outer = r->names.n;
	struct sched_value body;

	map->n_logical = n->n_params;
	map->logical = arena_array(&r->m->arena, struct var *, n->n_params + 1);
	for (int i = 0; i < n->n_params; i++) {
		if (n->params[i].kind != PY_PARAM_PLAIN) {
			return fail(r, n,
				    "an index map names each index; "
				    "write lambda i, j: …");
		}
		map->logical[i] = var_new(r->m, n->params[i].name,
					  dtype_of(DT_I32));
		bind_name(r, n->params[i].name, sv_expr(map->logical[i]->expr));
	}
	if (!value_of(r, n->kids[0], &body)) {
		return false;
	}
	r->names.n = outer;
	if (body.kind != SV_LIST) {
		body = sv_list(r->m, &body, 1);
	}
	map->n_physical = body.n;
	map->to_physical = arena_array(&r->m->arena, const struct expr *,
				       body.n + 1);
	for (int i = 0; i < body.n; i++) {
		const struct sched_value *v = &body.items[i];

		map->to_physical[i] = v->kind == SV_FLOAT
					      ? expr_float(r->m,
							   dtype_of(DT_F32),
							   v->u.fval)
					      : as_expr(r, v);
		if (!map->to_physical[i]) {
			return fail(r, n,
				    "an index map gives a tuple of "
				    "expressions; write (j, i // 4, …)");
		}
	}
	*out = sv_map(map);
	return true;
}

static bool
subscript(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	struct sched_value of, at;

	if (!n->kids[1] || n->kids[1]->kind == PY_SLICE) {
		return fail(r, n, "slices are not supported; name one item");
	}
	if (!value_of(r, n->kids[0], &of) || !value_of(r, n->kids[1], &at)) {
		return false;
	}
	if (of.kind != SV_LIST || at.kind != SV_INT) {
		return fail(r, n,
			    "this is not a list with a constant index; write "
			    "loops[0]");
	}
	if (at.u.ival < 0) {
		at.u.ival += of.n;
	}
	if (at.u.ival < 0 || at.u.ival >= of.n) {
		return py_error(r->m, r->src, n->span,
				"the list has %d items; "
				"count from 0",
				of.n);
	}
	*out = of.items[at.u.ival];
	return true;
}

/* -- calls */

static bool
is_name(const struct py_node *n, const char *name)
{
	return n->kind == PY_NAME && strcmp(n->text, name) == 0;
}

static int
param_index(const struct primitive *p, const char *name)
{
	for (int i = 0; i < p->n_params; i++) {
		if (strcmp(p->params[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static bool
keyword(struct reader *r, const struct primitive *p, const struct py_node *n,
	struct sched_value *args)
{
	const char **names = arena_array(&r->m->arena, const char *,
					 p->n_params + 1);
	int at = n->text ? param_index(p, n->text) : -1;
	const char *nearest;

	if (at >= 0) {
		return value_of(r, n->kids[0], &args[at]);
	}
	for (int i = 0; i < p->n_params; i++) {
		names[i] = p->params[i].name;
	}
	nearest = n->text ? text_nearest(n->text, names, p->n_params) : NULL;
	return nearest ? py_error(r->m, r->src, n->span,
				  "%s has no parameter "
				  "%s; did you mean %s?",
				  p->name, n->text, nearest)
		       : py_error(
				 r->m, r->src, n->span,
				 "%s has no such "
				 "parameter; docs/reference/schedules.md lists them",
				 p->name);
}

/* Collects the positional arguments for a parameter *loops. */
static bool
star(struct reader *r, const struct py_node *call, struct sched_value *out)
{
	VEC(struct sched_value) items = { 0 };

	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *n = call->kids[i];
		struct sched_value v;

		if (n->kind == PY_KEYWORD) {
			continue;
		}
		if (!value_of(r, n->kind == PY_STAR ? n->kids[0] : n, &v)) {
			return false;
		}
		if (n->kind == PY_STAR && v.kind != SV_LIST) {
			return fail(r, n,
				    "only a list can be spread; drop "
				    "the *");
		}
		for (int k = 0; n->kind == PY_STAR && k < v.n; k++) {
			vec_push(&r->m->arena, &items, v.items[k]);
		}
		if (n->kind != PY_STAR) {
			vec_push(&r->m->arena, &items, v);
		}
	}
	*out = sv_list(r->m, items.data, items.n);
	return true;
}

static bool
call_args(struct reader *r, const struct primitive *p,
	  const struct py_node *call, struct sched_value *args)
{
	bool is_star = p->n_params > 0 && p->params[0].role == PARAM_STAR;
	int at = 0;

	if (is_star && !star(r, call, &args[0])) {
		return false;
	}
	for (int i = 1; i < call->n_kids; i++) {
		const struct py_node *n = call->kids[i];

		if (n->kind == PY_KEYWORD) {
			if (!keyword(r, p, n, args)) {
				return false;
			}
			continue;
		}
		if (is_star) {
			continue;
		}
		if (n->kind == PY_STAR || at >= p->n_params) {
			return py_error(r->m, r->src, n->span,
					"%s takes %d "
					"arguments",
					p->name, p->n_params);
		}
		if (!value_of(r, n, &args[at++])) {
			return false;
		}
	}
	return true;
}

static bool
step(struct reader *r, const struct py_node *call, const char *name,
     struct sched_value *out)
{
	const struct primitive *p = sched_primitive_find(name);
	struct sched_value *args = NULL;
	int n = p ? p->n_params : 0;
	const struct diag *d;

	args = arena_array(&r->m->arena, struct sched_value, n + 1);
	if (p && !call_args(r, p, call, args)) {
		return false;
	}
	if (sched_apply(r->s, name, args, n, out)) {
		return true;
	}
	d = &r->s->diags.list.data[r->s->diags.list.n - 1];
	return py_error(r->m, r->src, call->span, "%s: %s", d->place.item,
			d->message);
}

/* sch.split(…), T.float32(0), sch.get(v) */
static bool
call(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	const struct py_node *f = n->kids[0];

	if (f->kind != PY_ATTRIBUTE) {
		return fail(r, n,
			    "only methods of the schedule can be called; "
			    "write sch.split(…)");
	}
	if (is_name(f->kids[0], r->schedule)) {
		if (strcmp(f->text, "get") == 0 && n->n_kids == 2) {
			if (!value_of(r, n->kids[1], out)) {
				return false;
			}
			if (out->kind == SV_EXPR) {
				*out = number_or_expr(
					sched_get_value(r->s, out->u.expr));
			}
			return true;
		}
		return step(r, n, f->text, out);
	}
	/* A number with its type. */
	if (f->kids[0]->kind == PY_NAME && n->n_kids == 2) {
		if (!value_of(r, n->kids[1], out)) {
			return false;
		}
		if (strncmp(f->text, "float", 5) == 0 && out->kind == SV_INT) {
			*out = sv_float((double)out->u.ival);
		}
		if (strncmp(f->text, "float", 5) == 0 ||
		    strncmp(f->text, "int", 3) == 0 ||
		    strncmp(f->text, "uint", 4) == 0 ||
		    strcmp(f->text, "bool") == 0) {
			return true;
		}
	}
	return py_error(r->m, r->src, n->span,
			"this is not a call of %s; only methods of the "
			"schedule can be called",
			r->schedule);
}

static bool
value_of(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	switch (n->kind) {
	case PY_NAME:
		return look_up(r, n, out);
	case PY_INT:
		*out = sv_int(n->ival);
		return true;
	case PY_FLOAT:
		*out = sv_float(n->fval);
		return true;
	case PY_STRING:
		*out = sv_string(n->text);
		return true;
	case PY_TRUE:
	case PY_FALSE:
		*out = sv_bool(n->kind == PY_TRUE);
		return true;
	case PY_NONE:
		*out = sv_none();
		return true;
	case PY_TUPLE:
	case PY_LIST:
		return list_of(r, n, out);
	case PY_BINARY:
		return arithmetic(r, n, out);
	case PY_UNARY:
		return negative(r, n, out);
	case PY_LAMBDA:
		return index_map(r, n, out);
	case PY_SUBSCRIPT:
		return subscript(r, n, out);
	case PY_CALL:
		return call(r, n, out);
	default:
		return fail(r, n,
			    "a schedule may contain only calls, names, lists "
			    "and numbers; rewrite this expression");
	}
}

/* -- statements */

static bool
assign(struct reader *r, const struct py_node *target, struct sched_value value)
{
	if (target->kind == PY_NAME) {
		bind_name(r, target->text, value);
		return true;
	}
	if (target->kind != PY_TUPLE && target->kind != PY_LIST) {
		return fail(r, target,
			    "values are assigned to names; write "
			    "i, j = …");
	}
	if (r->loosely && value.kind != SV_LIST && value.kind != SV_NONE) {
		value = sv_list(r->m, &value, 1);
	}
	if (value.kind != SV_LIST || value.n != target->n_kids) {
		return py_error(r->m, r->src, target->span,
				"there are %d values; assign them to as many "
				"names",
				value.kind == SV_LIST ? value.n : 1);
	}
	for (int i = 0; i < value.n; i++) {
		if (!assign(r, target->kids[i], value.items[i])) {
			return false;
		}
	}
	return true;
}

static bool
statements(struct reader *r, const struct py_node *suite)
{
	for (int i = 0; i < suite->n_kids; i++) {
		const struct py_node *n = suite->kids[i];
		struct sched_value v = { .kind = SV_NONE };

		switch (n->kind) {
		case PY_PASS:
		case PY_IMPORT:
			break;
		case PY_EXPRESSION:
			if (n->kids[0]->kind != PY_STRING &&
			    !value_of(r, n->kids[0], &v)) {
				return false;
			}
			break;
		case PY_ASSIGN:
			if (!value_of(r, n->kids[n->n_kids - 1], &v)) {
				return false;
			}
			for (int k = 0; k + 1 < n->n_kids; k++) {
				if (!assign(r, n->kids[k], v)) {
					return false;
				}
			}
			break;
		case PY_DEF:
			if (n->n_params != 1) {
				return fail(r, n,
					    "a schedule is a function "
					    "of one parameter; write def "
					    "apply_schedule(sch):");
			}
			r->schedule = n->params[0].name;
			if (!statements(r, n->kids[0])) {
				return false;
			}
			break;
		default:
			return fail(r, n,
				    "a schedule may contain only calls and "
				    "assignments; rewrite this statement");
		}
	}
	return true;
}

static bool
read_text(struct sched *s, const struct source *src, bool loosely)
{
	struct reader r = { .s = s,
			    .m = s->module,
			    .src = src,
			    .schedule = "sch",
			    .loosely = loosely };
	const struct py_node *tree = py_parse(s->module, src);

	/* Index maps may use the function's size variables. */
	for (int i = 0; i < s->func->params.n; i++) {
		const struct param *p = &s->func->params.data[i];

		if (!p->buffer) {
			bind_name(&r, p->var->name, sv_expr(p->var->expr));
		}
	}
	return tree && statements(&r, tree);
}

bool
trace_read_python(struct sched *s, const struct source *src)
{
	return read_text(s, src, false);
}

bool
trace_read_loosely(struct sched *s, const struct source *src)
{
	return read_text(s, src, true);
}
