/* SPDX-License-Identifier: Apache-2.0 */
/* Storage-only types: values are computed in a wider type and rounded after
 * each operation.
 *
 *	C[i] = A[i] * A[i] + B[i]      (float16)
 *	->
 *	C[i] = f32_to_f16(f32_as_f16(f16_to_f32(A[i]) * f16_to_f32(A[i]))
 *			  + f16_to_f32(B[i])); */
#include "walk_expr.h"

struct dtype
walk_computed(const struct walker *w, struct dtype t)
{
	return walk_is_stored_only(w, t) ? w->d->types[t.kind].computed : t;
}

/* False for vectors, which are only loaded and converted as a whole. */
bool
walk_is_stored_only(const struct walker *w, struct dtype t)
{
	return t.lanes == 1 && w->d->types[t.kind].is_stored_only;
}

static struct piece
convert(struct walker *w, const char *helper, struct dtype from,
	struct dtype to, struct piece p)
{
	const char *name = unit_helper(w->u, dialect_helper(w->d, helper), from,
				       to);

	if (name == NULL) {
		w->failed = true;
		return p;
	}
	return walk_call(w, name, &p.text, 1);
}

/* Can the operation e have a result that is no value of e's type, so that the
 * result must be rounded? *from: the type of the result before it is
 * rounded. */
static bool
is_inexact(const struct walker *w, const struct expr *e, struct dtype *from)
{
	*from = walk_computed(w, e->type);
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
		return true;
	case EXPR_CAST:
		if (e->args[0]->type.kind == DT_F64) {
			*from = e->args[0]->type;
		}
		return !dtype_equal(e->args[0]->type, e->type);
	case EXPR_CALL:
		return e->u.intrin != INTRIN_ABS &&
		       e->u.intrin != INTRIN_COPYSIGN &&
		       e->u.intrin != INTRIN_FMAX &&
		       e->u.intrin != INTRIN_LIKELY &&
		       e->u.intrin != INTRIN_REINTERPRET;
	default:
		return false;
	}
}

struct piece
walk_loaded(struct walker *w, struct dtype t, struct piece p)
{
	if (!walk_is_stored_only(w, t) || w->failed) {
		return p;
	}
	return convert(w, w->d->types[t.kind].load, t, walk_computed(w, t), p);
}

struct piece
walk_rounded(struct walker *w, const struct expr *e, struct piece p)
{
	struct dtype from;

	if (!walk_is_stored_only(w, e->type) || w->failed ||
	    e == w->unrounded || !is_inexact(w, e, &from)) {
		return p;
	}
	return convert(w, w->d->types[e->type.kind].round, from, e->type, p);
}

const char *
walk_stored(struct walker *w, const struct expr *e)
{
	const struct expr *outer = w->unrounded;
	struct piece p = { "", w->d->primary };
	struct dtype from;

	if (!walk_is_stored_only(w, e->type)) {
		return walk_expr(w, e, w->d->assignment);
	}
	if (e->kind == EXPR_LOAD) {
		return walk_element(w, e->u.buffer, e->args, e->n_args,
				    ELEMENT_VALUE);
	}
	is_inexact(w, e, &from);
	w->unrounded = e;
	p.text = walk_expr(w, e, w->d->assignment);
	w->unrounded = outer;
	return convert(w, w->d->types[e->type.kind].store, from, e->type, p)
		.text;
}
