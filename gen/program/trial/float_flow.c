/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the variables and arrays that depend on floats, in all functions that
 * the program's function calls. Statements may come in any order, so the
 * marking is repeated until nothing new is marked. */
#include "float_flow.h"

#include "interp.h"
#include "iterate.h"

static void
mark(struct flow *w, const struct var *v, int bits)
{
	int old = pointer_map_get(&w->marks, v, 0);

	if ((old | bits) != old) {
		pointer_map_put(&w->marks, v, old | bits);
		w->changed = true;
	}
}

bool
has_mark(const struct flow *w, const struct var *v, int bit)
{
	return (pointer_map_get(&w->marks, v, 0) & bit) != 0;
}

bool
is_call(const struct expr *e)
{
	return e->kind == EXPR_CALL && (e->u.intrin == INTRIN_CALL_FUNC ||
					e->u.intrin == INTRIN_CALL_EXTERN);
}

/* The function of the source that is called, or NULL. */
static struct part *
callee_of(const struct flow *w, const struct expr *call)
{
	bool external = call->u.intrin == INTRIN_CALL_EXTERN;

	for (int i = 0; i < w->of->n_callees; i++) {
		const struct run_callee *c = &w->of->callees[i];

		if ((external || !c->external) &&
		    strcmp(c->name, call->args[0]->u.text) == 0) {
			return &w->parts[i];
		}
	}
	return NULL;
}

bool
is_rounded(const struct flow *w, const struct expr *e)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e);
	     !found && (e = expr_next(&it));) {
		if (dtype_is_float(e->type)) {
			found = true;
		} else if (e->kind == EXPR_VAR) {
			found = has_mark(w, e->u.var, MARK_FLOAT);
		} else if (e->kind == EXPR_LOAD) {
			found = has_mark(w, e->u.buffer->data, MARK_FLOAT);
		} else if (is_call(e)) {
			const struct part *p = callee_of(w, e);

			found = p == NULL || p->result;
		}
		if (found) {
			expr_stop(&it);
		}
	}
	return found;
}

bool
any_rounded(const struct flow *w, const struct expr *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (list[i] != NULL && is_rounded(w, list[i])) {
			return true;
		}
	}
	return false;
}

const struct var *
array_of(const struct expr *arg, const struct expr **at)
{
	*at = NULL;
	if (arg->kind == EXPR_CALL && intrin_is_address(arg->u.intrin)) {
		*at = arg->args[0];
		return arg->args[0]->u.buffer->data;
	}
	return arg->kind == EXPR_VAR ? arg->u.var : NULL;
}

static void
flow_call(struct flow *w, const struct expr *call, bool control)
{
	struct part *p = callee_of(w, call);

	if (p == NULL) {
		return;
	}
	w->changed |= !p->reached || (control && !p->control);
	p->reached = true;
	p->control |= control;
	for (int i = 0; i < p->f->params.n && i + 1 < call->n_args; i++) {
		const struct param *param = &p->f->params.data[i];
		const struct expr *arg = call->args[i + 1], *at;
		const struct var *data = array_of(arg, &at);
		int bits;

		if (param->buffer == NULL) {
			if (is_rounded(w, arg)) {
				mark(w, param->var, MARK_FLOAT);
			}
			continue;
		}
		if (data == NULL) {
			continue; /* the interpreter rejects such a call */
		}
		bits = pointer_map_get(&w->marks, data, 0) |
		       pointer_map_get(&w->marks, param->buffer->data, 0);
		if (dtype_is_float(param->buffer->type) ||
		    (at != NULL && (dtype_is_float(at->type) ||
				    any_rounded(w, at->args, at->n_args)))) {
			bits |= MARK_FLOAT;
		}
		mark(w, data, bits);
		mark(w, param->buffer->data, bits);
	}
}

static void
flow_calls(struct flow *w, const struct expr *e, bool control)
{
	const struct expr *x;

	for (struct expr_iter it = expr_each(e); (x = expr_next(&it));) {
		control |= (x->kind == EXPR_IF || x->kind == EXPR_AND ||
			    x->kind == EXPR_OR) &&
			   is_rounded(w, x->args[0]);
	}
	for (struct expr_iter it = expr_each_of(e, EXPR_CALL);
	     (x = expr_next(&it));) {
		if (is_call(x)) {
			flow_call(w, x, control);
		}
	}
}

static void
flow_store(struct flow *w, const struct stmt *s, bool control)
{
	const struct buffer *b = s->u.buffer;

	if (control || dtype_is_float(b->type) ||
	    any_rounded(w, s->args, s->n_args)) {
		mark(w, b->data, MARK_FLOAT);
	}
	if (control || any_rounded(w, s->args + 1, s->n_args - 1)) {
		mark(w, b->data, MARK_MAYBE);
	}
}

/* Marks the variables and arrays that depend on floats in s. control: it
 * depends on floats whether s runs. */
static void
flow(struct flow *w, struct part *p, const struct stmt *s, bool control)
{
	bool rounded;

	if (s == NULL) {
		return;
	}
	control |= p->control;
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			flow_calls(w, s->args[i], control);
		}
	}
	rounded = any_rounded(w, s->args, s->n_args);
	switch (s->kind) {
	case STMT_FOR:
		if (rounded) {
			mark(w, s->u.loop.var, MARK_FLOAT);
		}
		control |= rounded;
		break;
	case STMT_LET:
		if (rounded) {
			mark(w, s->u.var, MARK_FLOAT);
		}
		break;
	case STMT_IF:
	case STMT_WHILE:
		control |= rounded;
		break;
	case STMT_STORE:
		flow_store(w, s, control);
		break;
	case STMT_BLOCK:
		for (int i = 0; i < s->u.block->n_iters; i++) {
			if (is_rounded(w, s->args[1 + i])) {
				mark(w, s->u.block->iters[i].var, MARK_FLOAT);
			}
		}
		control |= is_rounded(w, s->args[0]);
		break;
	case STMT_RETURN:
		w->changed |= (control && !p->control) ||
			      ((control || rounded) && !p->result);
		p->control |= control;
		p->result |= control || rounded;
		break;
	case STMT_ASSERT:
		rounded = is_rounded(w, s->args[0]);
		w->changed |= (control || rounded) && !p->control;
		p->control |= control || rounded;
		break;
	default:
		break;
	}
	for (int i = 0; i < s->n_children; i++) {
		flow(w, p, s->children[i], control);
	}
}

void
flow_all(struct flow *w)
{
	do {
		w->changed = false;
		for (int i = 0; i < w->of->n_callees; i++) {
			if (w->parts[i].reached) {
				flow(w, &w->parts[i], w->parts[i].f->body,
				     false);
			}
		}
	} while (w->changed);
}
