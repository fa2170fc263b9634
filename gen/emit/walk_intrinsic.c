/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of intrinsic functions as text. */
#include "walk_expr.h"

static bool
form_of_intrinsic(enum intrin op, enum form_id *id)
{
	const char *name = intrin_name(op);

	for (int i = 0; i < FORM_COUNT; i++) {
		if (strcmp(form_key((enum form_id)i), name) == 0) {
			*id = (enum form_id)i;
			return true;
		}
	}
	return false;
}

/* The text of a pointer plus a number of bytes. Pointers count chars, which on
 * some targets are several of the memory plan's bytes of 8 bits. */
static struct piece
pointer_sum(struct walker *w, const struct expr *e)
{
	const struct expr *args[2] = { e->args[0], e->args[1] };
	int octets = w->d->char_bits / 8;

	if (octets > 1) {
		args[1] = simplify(&w->an,
				   expr_floordiv(w->m, args[1],
						 expr_int(w->m, args[1]->type,
							  octets)));
	}
	return walk_apply(w, FORM_PTR_ADD, dtype_of(DT_VOID), args, 2);
}

/* The text of an expression for one nibble (4 bits) of a byte. For a vector of
 * bytes: the same nibble of each byte. */
static struct piece
nibble(struct walker *w, const struct expr *e)
{
	const struct expr *which = e->args[1];
	const struct expr *args[2] = { e->args[0], which->kind == EXPR_BROADCAST
							   ? which->args[0]
							   : which };

	return walk_apply_to(w, FORM_NIBBLE, args[0]->type, e->type, args, 2);
}

/* The text of a value whose bits are interpreted as another type. A value of a
 * storage-only type is an unsigned integer in memory. */
static struct piece
reinterpret(struct walker *w, const struct expr *e)
{
	const struct expr *a = e->args[0];
	bool from = walk_is_stored_only(w, a->type);
	bool to = walk_is_stored_only(w, e->type);
	struct dtype bits = dtype_of(dtype_bytes(e->type) == 1 ? DT_U8
							       : DT_U16);
	struct piece p = { "", w->d->primary };

	if (a->type.lanes != e->type.lanes) {
		walk_fail(w, "the bits of a vector as another type; compute "
			     "with its elements");
		return p;
	}
	if (!from && !to) {
		return walk_apply_to(w, FORM_REINTERPRET, a->type, e->type,
				     e->args, 1);
	}
	if ((!from && dtype_is_float(a->type)) ||
	    (!to && dtype_is_float(e->type))) {
		a = expr_call(w->u->m, INTRIN_REINTERPRET, bits, &a, 1);
		return reinterpret(w, expr_call(w->u->m, INTRIN_REINTERPRET,
						e->type, &a, 1));
	}
	if (from) {
		p.text = walk_stored(w, a);
	} else {
		p = walk_piece(w, a);
	}
	if (!dtype_equal(from ? bits : a->type, to ? bits : e->type)) {
		p = walk_cast_text(w, to ? bits : e->type, p);
	}
	return walk_loaded(w, e->type, p);
}

struct piece
walk_intrinsic(struct walker *w, const struct expr *e)
{
	struct dtype nothing = dtype_of(DT_VOID);
	enum form_id id;
	const struct expr *outer;
	struct piece p;

	switch (e->u.intrin) {
	case INTRIN_CALL_FUNC:
	case INTRIN_CALL_EXTERN:
		return walk_call_function(w, e);
	case INTRIN_CALL_INTRIN:
		return walk_instruction(w, e);
	case INTRIN_LAUNCH:
		return walk_launch(w, e);
	case INTRIN_STORAGE_SYNC:
		return walk_barrier(w, e);
	case INTRIN_SHUFFLE_XOR:
		return walk_shuffle(w, e);
	case INTRIN_LIKELY:
		return walk_piece(w, e->args[0]);
	case INTRIN_PTR_ADD:
		if (expr_is_value(e->args[1], 0)) {
			return walk_piece(w, e->args[0]);
		}
		return pointer_sum(w, e);
	case INTRIN_ADDRESS_OF:
	case INTRIN_READ_ADDRESS_OF:
		outer = w->addressed;
		w->addressed = e->args[0];
		p = walk_apply(w, FORM_ADDRESS_OF, nothing, e->args, 1);
		w->addressed = outer;
		return p;
	case INTRIN_COPY_BOX:
		return (struct piece){ walk_copy_box(w, e), w->d->primary };
	case INTRIN_PREFETCH:
		return walk_apply(w, FORM_PREFETCH, nothing, e->args, 1);
	case INTRIN_TO_INT:
		return walk_apply_to(w, FORM_TO_INT, e->args[0]->type, e->type,
				     e->args, 1);
	case INTRIN_NIBBLE:
		return nibble(w, e);
	case INTRIN_REINTERPRET:
		return reinterpret(w, e);
	case INTRIN_BITNOT:
		/* the complement is computed here: a literal of a narrow type
		 * may have a wider type in the language */
		if (dtype_is_int(e->type) && e->args[0]->kind == EXPR_INT) {
			return walk_piece(w, expr_int(w->m, e->type,
						      ~e->args[0]->u.ival));
		}
		break;
	case INTRIN_FMOD:
		if (dtype_is_int(e->type)) {
			return walk_apply(w, FORM_MOD_ANY, e->type, e->args, 2);
		}
		break;
	case INTRIN_FMA:
		if (dtype_is_int(e->type)) {
			return walk_piece(w, expr_add(w->m,
						      expr_mul(w->m, e->args[0],
							       e->args[1]),
						      e->args[2]));
		}
		break;
	default:
		break;
	}
	if (!form_of_intrinsic(e->u.intrin, &id)) {
		walk_fail(w, "an intrinsic without a form: %s",
			  intrin_name(e->u.intrin));
		return walk_failed_piece(w);
	}
	p = walk_apply(w, id, e->args[0]->type, e->args, e->n_args);
	if (e->u.intrin == INTRIN_BITAND || e->u.intrin == INTRIN_BITOR ||
	    e->u.intrin == INTRIN_BITXOR || e->u.intrin == INTRIN_BITNOT) {
		return walk_narrowed(w, e->type, p);
	}
	return p;
}
