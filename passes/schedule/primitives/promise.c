/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the values of a buffer through the function. A schedule step that may
 * change these values (the user promises that it does not) must not change
 * which memory is accessed:
 *
 *	B[i] = I[i] + 1         the values of B reach the index of A, so that
 *	C[i] = A[B[i]]          their type and their places are kept */
#include "promise.h"

#include "iterate.h"

/* The buffers, and the variables of LETs, whose values are computed from the
 * values of one buffer. */
struct flow {
	struct arena *arena;
	VEC(const struct buffer *) buffers;
	VEC(const struct var *) vars;
	/* the last walk through the function added variables or buffers to
	 * those that are followed */
	bool grown;
};

static void
add_buffer(struct flow *f, const struct buffer *b)
{
	if (vec_has(&f->buffers, b)) {
		return;
	}
	vec_push(f->arena, &f->buffers, b);
	f->grown = true;
}

static void
add_var(struct flow *f, const struct var *v)
{
	if (vec_has(&f->vars, v)) {
		return;
	}
	vec_push(f->arena, &f->vars, v);
	f->grown = true;
}

/* Is x computed from the variables and buffers that are followed? */
static bool
carries(const struct flow *f, const struct expr *x)
{
	bool found = false;

	for (int i = 0; i < f->vars.n; i++) {
		found |= expr_uses_var(x, f->vars.data[i]);
	}
	for (int i = 0; i < f->buffers.n; i++) {
		found |= expr_uses_buffer(x, f->buffers.data[i]);
	}
	return found;
}

/* Do the followed values decide which memory the operation x accesses, or what
 * it calls? Its operands are not looked into. */
static bool
decides(const struct flow *f, const struct expr *x)
{
	bool found = false;

	switch (x->kind) {
	case EXPR_IF:
	case EXPR_AND:
	case EXPR_OR: /* operands that are evaluated under a condition */
		for (int i = 1; i < x->n_args; i++) {
			found |= expr_has_load(x->args[i]);
		}
		return found && carries(f, x->args[0]);
	case EXPR_LOAD:
		for (int i = 0; i < x->n_args; i++) {
			found |= carries(f, x->args[i]);
		}
		return found;
	case EXPR_CALL:
		return !intrin_is_pure(x->u.intrin) && carries(f, x);
	default:
		return false;
	}
}

/* Follows the values through the statement s, without the statements below it.
 * True if the values decide which memory s accesses. */
static bool
follow(struct flow *f, struct stmt *s)
{
	int first = s->kind == STMT_STORE || s->kind == STMT_LET ? 1 : 0;
	bool found = false;
	const struct expr *x;

	for (int i = first; i < s->n_args; i++) {
		found |= s->args[i] != NULL && carries(f, s->args[i]);
	}
	for (struct tree_iter it = tree_each_arg(s); (x = tree_next(&it));) {
		found |= decides(f, x);
	}
	if (first == 1 && carries(f, s->args[0])) {
		if (s->kind == STMT_STORE) {
			add_buffer(f, s->u.buffer);
		} else {
			add_var(f, s->u.var);
		}
	}
	return found;
}

static bool
may_be_index(struct dtype t)
{
	return dtype_is_int(t) && dtype_bits(t) >= 32;
}

bool
values_are_data(struct edit *e, const struct buffer *b)
{
	struct flow f = { .arena = &e->m->arena };
	bool decides_access = false;
	struct stmt *s;

	add_buffer(&f, b);
	while (f.grown && !decides_access) {
		f.grown = false;
		for (struct stmt_iter it = stmt_each(e->f->body);
		     (s = stmt_next(&it));) {
			decides_access |= follow(&f, s);
		}
	}
	if (decides_access) {
		return edit_fail(e,
				 "the values of %s decide which elements are "
				 "accessed, so that they must be kept; choose "
				 "a buffer of data alone",
				 b->name);
	}
	for (int i = 0; i < f.buffers.n; i++) {
		const struct buffer *to = f.buffers.data[i];

		if (func_has_param(e->f, to) && may_be_index(to->type)) {
			return edit_fail(e,
					 "the values of %s reach %s, whose "
					 "elements may be indices elsewhere; "
					 "choose a buffer of other data",
					 b->name, to->name);
		}
	}
	return true;
}
