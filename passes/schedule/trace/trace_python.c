/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace in its Python form and applies it: calls of methods of `sch`,
 * without control flow.
 *
 *   b = sch.get_block("C")
 *   i, j, k = sch.get_loops(b)
 *   io, ii = sch.split(i, factors=[None, 4]) */
#include "py_call.h"
#include "trace.h"
#include "typed.h"

struct binding {
	const char *name;
	struct sched_value value;
};

struct reader {
	struct sched *s;
	struct module *m;
	const struct source *src;
	struct typing typing;
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

	for (int i = r->names.n - 1; i >= 0; i--) {
		if (strcmp(r->names.data[i].name, n->text) == 0) {
			*out = r->names.data[i].value;
			return true;
		}
		names[i] = r->names.data[i].name;
	}
	return py_error(r->m, r->src, n->span, "%s has no value%s", n->text,
			py_did_you_mean(&r->m->arena, n->text, names,
					r->names.n, "assign one first"));
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

/* v as an operand; false if it is none. */
static bool
operand_of(struct reader *r, const struct sched_value *v, struct typed *out)
{
	struct py_number n;

	switch (v->kind) {
	case SV_EXPR:
		*out = typed_expr(v->u.expr);
		return true;
	case SV_INT:
	case SV_BOOL:
		n = v->kind == SV_INT ? py_int(v->u.ival)
				      : py_bool(v->u.ival != 0);
		break;
	case SV_FLOAT:
		n = py_float(v->u.fval);
		break;
	default:
		return false;
	}
	*out = typed_number(r->m, &n);
	return true;
}

static struct sched_value
value_from(const struct typed *x)
{
	struct py_number n;
	int64_t v;

	if (typed_is_number(x, &n)) {
		return n.kind == PY_NUMBER_FLOAT ? sv_float(n.f)
		       : n.kind == PY_NUMBER_INT ? sv_int(n.i)
						 : sv_bool(n.i != 0);
	}
	return expr_is_int(x->e, &v) ? sv_int(v) : sv_expr(x->e);
}

static bool
arithmetic(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	struct sched_value x, y;
	struct typed a, b, c;
	enum py_operator op;

	if (!value_of(r, n->kids[0], &x) || !value_of(r, n->kids[1], &y)) {
		return false;
	}
	if (!py_operator_find(n->op, &op) || !operand_of(r, &x, &a) ||
	    !operand_of(r, &y, &b)) {
		return fail(r, n,
			    "this is not a sum, product, // or % of integers; "
			    "write one");
	}
	if (!typed_binary(&r->typing, n->span, op, &a, &b, &c)) {
		return false;
	}
	*out = value_from(&c);
	return true;
}

static bool
sign(struct reader *r, const struct py_node *n, struct sched_value *out)
{
	struct sched_value v;
	struct typed x, y;
	enum py_operator op;

	if (!value_of(r, n->kids[0], &v)) {
		return false;
	}
	if (!py_operator_find(n->op, &op) || !operand_of(r, &v, &x)) {
		return fail(r, n, "a sign needs a number; write a number");
	}
	if (!typed_unary(&r->typing, n->span, op, &x, &y)) {
		return false;
	}
	*out = value_from(&y);
	return true;
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
		struct typed x;

		if (!operand_of(r, v, &x)) {
			return fail(r, n,
				    "an index map gives a tuple of "
				    "expressions; write (j, i // 4, …)");
		}
		if (!typed_settle(&r->typing, n->span, &x,
				  &map->to_physical[i])) {
			return false;
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

/* Arguments as they are given, before they are bound. */
struct given {
	VEC(struct py_argument) args;
	VEC(struct sched_value) values;
};

static void
give(struct reader *r, struct given *g, const struct py_node *n,
     struct sched_value v)
{
	struct py_argument arg = { n->kind == PY_KEYWORD ? n->text : NULL,
				   n->span };

	vec_push(&r->m->arena, &g->args, arg);
	vec_push(&r->m->arena, &g->values, v);
}

/* Evaluates one argument; *list is as many as the list has elements. */
static bool
argument(struct reader *r, const struct py_node *n, struct given *g)
{
	bool spreads = n->kind == PY_STAR;
	struct sched_value v;

	if (n->kind == PY_KEYWORD && !n->text) {
		return fail(r, n,
			    "there are no dicts here; write the "
			    "arguments out");
	}
	if (!value_of(r, spreads || n->kind == PY_KEYWORD ? n->kids[0] : n,
		      &v)) {
		return false;
	}
	if (spreads && v.kind != SV_LIST) {
		return fail(r, n, "only a list can be spread; drop the *");
	}
	for (int i = 0; spreads && i < v.n; i++) {
		give(r, g, n, v.items[i]);
	}
	if (!spreads) {
		give(r, g, n, v);
	}
	return true;
}

/* The parameters of a primitive. All may be omitted: sched_apply() tells of one
 * that is missing, with the values that it takes. */
static struct py_signature
signature_of(struct reader *r, const struct primitive *p)
{
	struct py_signature s = {
		.callee = p->name,
		.slots = arena_array(&r->m->arena, struct py_slot,
				     p->n_params + 1),
		.n = p->n_params,
	};

	for (int i = 0; i < s.n; i++) {
		bool star = p->params[i].role == PARAM_STAR;

		s.slots[i] = (struct py_slot){
			.name = p->params[i].name,
			.kind = star ? PY_PARAM_STAR : PY_PARAM_PLAIN,
			.optional = true,
		};
	}
	return s;
}

static bool
call_args(struct reader *r, const struct primitive *p,
	  const struct py_node *call, struct sched_value *args)
{
	struct py_signature s = signature_of(r, p);
	struct sched_value *rest;
	struct given g = { 0 };
	int *slot, n = 0;

	for (int i = 1; i < call->n_kids; i++) {
		if (!argument(r, call->kids[i], &g)) {
			return false;
		}
	}
	slot = arena_array(&r->m->arena, int, g.args.n + 1);
	rest = arena_array(&r->m->arena, struct sched_value, g.args.n + 1);
	if (!py_bind(r->m, r->src, call->span, &s, g.args.data, g.args.n,
		     slot)) {
		return false;
	}
	for (int k = 0; k < g.args.n; k++) {
		if (s.slots[slot[k]].kind == PY_PARAM_STAR) {
			rest[n++] = g.values.data[k];
		} else {
			args[slot[k]] = g.values.data[k];
		}
	}
	for (int i = 0; i < s.n; i++) {
		if (s.slots[i].kind == PY_PARAM_STAR) {
			args[i] = sv_list(r->m, rest, n);
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
	struct typed x;

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
				x = typed_expr(
					sched_get_value(r->s, out->u.expr));
				*out = value_from(&x);
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
	struct py_number number;
	struct typed literal;
	const char *error;

	if (py_number_read(n, &number, &error)) {
		literal = typed_number(r->m, &number);
		*out = value_from(&literal);
		return !error || fail(r, n, error);
	}
	switch (n->kind) {
	case PY_NAME:
		return look_up(r, n, out);
	case PY_STRING:
		*out = sv_string(n->text);
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
		return sign(r, n, out);
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
			    .typing = { s->module, src, &typing_of_programs },
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
