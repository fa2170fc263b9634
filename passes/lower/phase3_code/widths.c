/* SPDX-License-Identifier: Apache-2.0 */
/* Widens loop variables and indices to 64 bits unless they provably fit 32.
 *
 *	for f in range(n * m):              for f in range(T.int64(n) * T.int64(m)):
 *	    y[f // m, f % m] = ...     ->       y[f // T.int64(m), f % T.int64(m)] = ...
 *
 * The fact object_bytes is the size of the largest object of the
 * target, a bound for symbolic sizes. */
#include "lower_passes.h"

#include "access.h"
#include "width.h"

struct widen {
	struct func *func;
	struct analyser analyser;
	struct widths widths;
};

static void widen_stmt(struct widen *x, struct stmt *s);

static const struct expr *
as_type(struct widen *x, const struct expr *e, struct dtype t)
{
	return dtype_equal(e->type, t) ? e : expr_cast(x->func->module, t, e);
}

static void
set_arg(struct widen *x, struct stmt *s, int i, const struct expr *e)
{
	if (e != s->args[i]) {
		stmt_set_arg(x->func, s, i, e);
	}
}

static void
widen_arg(struct widen *x, struct stmt *s, int i)
{
	set_arg(x, s, i,
		as_type(x, width_of(&x->widths, s->args[i]), s->args[i]->type));
}

static void
child(struct widen *x, struct stmt *s, int slot)
{
	if (slot < s->n_children && s->children[slot] != NULL) {
		widen_stmt(x, s->children[slot]);
	}
}

/* Records that v has type t from here on, in the body of the loop or LET that
 * binds it. */
static void
add_var(struct widen *x, struct var **v, struct dtype t, bool data)
{
	struct module *m = x->func->module;
	struct width_var known = { .from = *v, .data = data };

	if (!dtype_equal((*v)->type, t)) {
		struct var *to = var_new(m, (*v)->name, t);

		known.to = to->expr;
		stmt_write(x->func, v, &to, sizeof to);
	}
	vec_push(&m->arena, &x->widths.vars, known);
}

static void
widen_for(struct widen *x, struct stmt *s)
{
	struct module *m = x->func->module;
	const struct expr *min = s->args[0], *extent = s->args[1];
	const struct expr *args[2] = { width_of(&x->widths, min),
				       width_of(&x->widths, extent) };
	const struct expr *end = width_of(&x->widths, expr_add(m, min, extent));
	const struct var *v = s->u.loop.var;
	struct dtype t = dtype_bits(end->type) > dtype_bits(v->type) ? end->type
								     : v->type;

	set_arg(x, s, 0, as_type(x, args[0], t));
	set_arg(x, s, 1, as_type(x, args[1], t));
	analyser_bind(&x->analyser, v, min, extent);
	add_var(x, &s->u.loop.var, t, false);
	child(x, s, 0);
}

static void
widen_let(struct widen *x, struct stmt *s)
{
	const struct expr *value = s->args[0];
	const struct var *v = s->u.var;
	bool data = width_is_data(&x->widths, value);
	const struct expr *wide = width_of(&x->widths, value);
	struct dtype t = !data && dtype_class(v->type) == DTC_INT ? wide->type
								  : v->type;

	set_arg(x, s, 0, as_type(x, wide, t));
	if (dtype_is_int(v->type)) {
		analyser_bind_value(&x->analyser, v, value);
	}
	add_var(x, &s->u.var, t, data);
	child(x, s, 0);
}

static void
widen_if(struct widen *x, struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&x->analyser);
	const struct expr *condition = s->args[0];

	widen_arg(x, s, 0);
	analyser_assume(&x->analyser, condition);
	child(x, s, 0);
	analyser_pop(&x->analyser, mark);
	analyser_assume(&x->analyser, expr_not(x->func->module, condition));
	child(x, s, 1);
}

static void
widen_store(struct widen *x, struct stmt *s)
{
	widen_arg(x, s, 0);
	for (int i = 1; i < s->n_args; i++) {
		set_arg(x, s, i, width_of(&x->widths, s->args[i]));
	}
}

static void
widen_stmt(struct widen *x, struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&x->analyser);
	int vars = x->widths.vars.n;

	switch (s->kind) {
	case STMT_FOR:
		widen_for(x, s);
		break;
	case STMT_LET:
		widen_let(x, s);
		break;
	case STMT_IF:
		widen_if(x, s);
		break;
	case STMT_STORE:
		widen_store(x, s);
		break;
	default:
		for (int i = 0; i < s->n_args; i++) {
			if (s->args[i] != NULL) {
				widen_arg(x, s, i);
			}
		}
		for (int i = 0; i < s->n_children; i++) {
			child(x, s, i);
		}
		break;
	}
	analyser_pop(&x->analyser, mark);
	x->widths.vars.n = vars;
}

bool
lower_widths(struct func *f)
{
	struct widen x = { .func = f };

	analyser_init(&x.analyser, f->module);
	width_bind_sizes(&x.analyser, f, f->facts.object_bytes);
	f->facts.object_bytes = 0;
	x.widths.analyser = &x.analyser;
	widen_stmt(&x, f->body);
	return true;
}
