/* SPDX-License-Identifier: Apache-2.0 */
/* Vectorized loops for dialects with predicated vector operations, which have a
 * variable number of lanes: no scalar loop is needed for the tail.
 *
 *	for i in T.vectorized(10):          for (i = 0; i < 10; i += 4)
 *		y[i] = x[i] + b        ->       store(&y[i], add(load(&x[i],
 *						10 - i), all(b)), 10 - i)
 */
#include <string.h>

#include "walk_stmt.h"

/* Is the last of n indices the loop variable v plus a term that does not depend
 * on v, and are the other indices independent of v? */
static bool
walks(struct walker *w, const struct expr *const *index, int n,
      const struct var *v)
{
	struct var *var = (struct var *)(uintptr_t)v;
	const struct expr *rest;
	int64_t step;

	for (int i = 0; i < n; i++) {
		if (index[i]->type.lanes != 1 ||
		    (i < n - 1 && expr_uses_var(index[i], v))) {
			return false;
		}
	}
	return n > 0 && expr_uses_var(index[n - 1], v) &&
	       analyse_affine(&w->an, index[n - 1], &var, 1, &step, &rest) &&
	       step == 1;
}

static bool
has_form(struct walker *w, const struct expr *e)
{
	static const struct {
		enum expr_kind kind;
		enum form_id id;
	} rows[] = {
		{ EXPR_ADD, FORM_ADD },     { EXPR_SUB, FORM_SUB },
		{ EXPR_MUL, FORM_MUL },     { EXPR_DIV, FORM_DIV },
		{ EXPR_MIN, FORM_MIN_ANY }, { EXPR_MAX, FORM_MAX_ANY },
		{ EXPR_CALL, FORM_FMAX },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct form *f = w->d->vectors.forms[rows[i].id];

		if (rows[i].kind == e->kind &&
		    (e->kind != EXPR_CALL || e->u.intrin == INTRIN_FMAX)) {
			return f != NULL && f->kind != FORM_IS_REJECTED;
		}
	}
	return false;
}

static bool
is_vector(struct walker *w, const struct expr *e, const struct var *v,
	  struct dtype t)
{
	if (e->type.kind != t.kind || e->type.lanes != 1) {
		return false;
	}
	if (!expr_uses_var(e, v)) {
		return true;
	}
	if (e->kind == EXPR_LOAD) {
		return e->u.buffer->type.lanes == 1 &&
		       (e->u.buffer->strides == NULL ||
			expr_is_value(e->u.buffer->strides[e->n_args - 1],
				      1)) &&
		       walks(w, e->args, e->n_args, v);
	}
	return has_form(w, e) && is_vector(w, e->args[0], v, t) &&
	       is_vector(w, e->args[1], v, t);
}

static bool
is_part_store(struct walker *w, const struct stmt *s, const struct var *v,
	      struct dtype t)
{
	return s->kind == STMT_STORE && s->u.buffer->type.lanes == 1 &&
	       (s->u.buffer->strides == NULL ||
		expr_is_value(s->u.buffer->strides[s->n_args - 2], 1)) &&
	       walks(w, s->args + 1, s->n_args - 1, v) &&
	       is_vector(w, s->args[0], v, t);
}

/* The stores of a loop body, in the form that collect() gives them. Variables
 * of LETs are replaced by their values, which is valid because there is no
 * store between a LET and the uses of its variable. */
struct stores {
	struct walker *w;
	VEC(const struct stmt *) list;
	VEC(struct var *) vars;
	VEC(const struct expr *) values;
	bool others;
};

static const struct expr *
without_names(struct stores *x, const struct expr *e)
{
	struct var_map map = { x->vars.data, x->values.data, x->vars.n };

	return x->vars.n > 0 ? expr_substitute(x->w->m, e, &map) : e;
}

static void
collect(struct stores *x, struct stmt *s)
{
	struct func *f = (struct func *)(uintptr_t)x->w->f;
	const struct expr **index;

	switch (s->kind) {
	case STMT_STORE:
		index = arena_exprs(x->w->a, s->n_args);
		for (int i = 1; i < s->n_args; i++) {
			index[i - 1] = without_names(x, s->args[i]);
		}
		vec_push(x->w->a, &x->list,
			 stmt_store(f, s->u.buffer,
				    without_names(x, s->args[0]), index,
				    s->n_args - 1));
		break;
	case STMT_LET:
		x->others |= x->list.n > 0;
		vec_push(x->w->a, &x->values, without_names(x, s->args[0]));
		vec_push(x->w->a, &x->vars, s->u.var);
		collect(x, s->children[0]);
		x->others |= x->list.n > 1;
		break;
	case STMT_SEQ:
		for (int i = 0; i < s->n_children; i++) {
			collect(x, s->children[i]);
		}
		break;
	default:
		x->others = true;
		break;
	}
}

bool
walk_part_type(struct walker *w, struct stmt *loop, struct dtype *t)
{
	const struct vector_forms *f = &w->d->vectors;
	struct stores x = { .w = w };
	bool fits;

	if (f->rejected != NULL || f->load_part == NULL) {
		return false;
	}
	collect(&x, loop->children[0]);
	for (int k = 0; k < f->parts.n && !x.others && x.list.n > 0; k++) {
		fits = true;
		for (int i = 0; i < x.list.n && fits; i++) {
			fits = is_part_store(w, x.list.data[i],
					     loop->u.loop.var,
					     f->parts.data[k]);
		}
		if (fits) {
			*t = f->parts.data[k];
			return true;
		}
	}
	return false;
}

static const struct expr **
ramps(struct walker *w, const struct expr *const *index, int n, int lanes)
{
	const struct expr **new = arena_exprs(w->a, n + 1);

	memcpy(new, index, sizeof *new *(size_t)n);
	new[n - 1] = expr_ramp(w->m, index[n - 1],
			       expr_int(w->m, index[n - 1]->type, 1), lanes);
	return new;
}

static const struct expr *
vector_of(struct walker *w, const struct expr *e, const struct var *v,
	  int lanes)
{
	const struct expr *args[2];

	if (!expr_uses_var(e, v)) {
		return expr_broadcast(w->m, e, lanes);
	}
	if (e->kind == EXPR_LOAD) {
		return expr_load(w->m, e->u.buffer,
				 ramps(w, e->args, e->n_args, lanes),
				 e->n_args);
	}
	for (int i = 0; i < 2; i++) {
		args[i] = vector_of(w, e->args[i], v, lanes);
	}
	return expr_rebuild(w->m, e, args);
}

struct stmt *
walk_parts(struct walker *w, struct stmt *loop, struct dtype t)
{
	/* The function f owns the nodes that are made here, so its const is
	 * cast away. */
	struct func *f = (struct func *)(uintptr_t)w->f;
	struct stores x = { .w = w };
	struct stmt **list;

	collect(&x, loop->children[0]);
	list = arena_array(w->a, struct stmt *, x.list.n);
	for (int i = 0; i < x.list.n; i++) {
		const struct stmt *s = x.list.data[i];

		list[i] = stmt_store(f, s->u.buffer,
				     vector_of(w, s->args[0], loop->u.loop.var,
					       t.lanes),
				     ramps(w, s->args + 1, s->n_args - 1,
					   t.lanes),
				     s->n_args - 1);
	}
	return stmt_seq(f, list, x.list.n);
}
