/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as text: selects the dialect's form for each kind of
 * expression. */
#include "walk_expr.h"

/* The length of the longest operand that the text of an expression may contain
 * twice. */
#define REPEATABLE_COLUMNS 24

static struct piece piece_of(struct walker *w, const struct expr *e);

static bool
is_negative_literal(const struct expr *e)
{
	if (e->kind == EXPR_INT) {
		return dtype_class(e->type) == DTC_INT && e->u.ival < 0 &&
		       e->u.ival > dtype_min_int(e->type);
	}
	return e->kind == EXPR_FLOAT && e->u.fval < 0;
}

static const struct expr *
negated_literal(struct walker *w, const struct expr *e)
{
	return e->kind == EXPR_INT ? expr_int(w->m, e->type, -e->u.ival)
				   : expr_float(w->m, e->type, -e->u.fval);
}

static bool
is_minus_one(const struct expr *e)
{
	return expr_is_value(e, -1) ||
	       (e->kind == EXPR_FLOAT && e->u.fval == -1.0);
}

/* The 8-bit type from which e, or the value of the variable e, was widened by a
 * cast; void if e is not such a value. */
static struct dtype
byte_type(struct walker *w, const struct expr *e)
{
	const struct binding *b;

	e = e->kind == EXPR_BROADCAST ? e->args[0] : e;
	b = e->kind == EXPR_VAR ? walk_find(w, e->u.var) : NULL;
	e = b != NULL && b->value != NULL ? b->value : e;
	return e->kind == EXPR_CAST && dtype_is_int(e->args[0]->type) &&
			       dtype_bits(e->args[0]->type) == 8
		       ? e->args[0]->type
		       : dtype_of(DT_VOID);
}

/* Is e a 32-bit product of two widened bytes of which at most one is signed?
 * Then the upper half of one factor is 0. */
static bool
is_short_product(struct walker *w, const struct expr *e)
{
	enum dtype_class a, b;

	if (e->kind != EXPR_MUL || dtype_class(e->type) != DTC_INT ||
	    dtype_bits(e->type) != 32) {
		return false;
	}
	a = dtype_class(byte_type(w, e->args[0]));
	b = dtype_class(byte_type(w, e->args[1]));
	return (a == DTC_UINT && (b == DTC_UINT || b == DTC_INT)) ||
	       (a == DTC_INT && b == DTC_UINT);
}

enum form_id
walk_product(const struct walker *w, struct dtype t)
{
	return w->u->apart && dtype_is_float(t) && t.lanes == 1 ? FORM_MUL_APART
								: FORM_MUL;
}

bool
walk_fuses(struct walker *w, const struct expr *e)
{
	return e->kind == EXPR_ADD && e->type.lanes > 1 &&
	       w->d->vectors.forms[FORM_ADD_PRODUCT] != NULL &&
	       is_short_product(w, e->args[1]);
}

bool
walk_multiplies_too(const struct walker *w, const struct expr *e)
{
	const struct form *f = w->d->vectors.forms[FORM_FMA];

	return e->kind == EXPR_ADD && e->type.lanes > 1 &&
	       dtype_is_float(e->type) && !w->u->apart && f != NULL &&
	       f->kind != FORM_IS_REJECTED &&
	       (e->args[0]->kind == EXPR_MUL || e->args[1]->kind == EXPR_MUL);
}

/* Prints a + -1 as a - 1, a + b * -2 as a - b * 2, and 0 - a as -a. */
static struct piece
arithmetic(struct walker *w, const struct expr *e)
{
	const struct expr *args[2] = { e->args[0], e->args[1] };
	enum expr_kind kind = e->kind;
	bool wraps = walk_may_wrap(w, e);
	bool ints = dtype_is_int(e->type);
	enum form_id id;

	if ((kind == EXPR_ADD || kind == EXPR_SUB) && !wraps) {
		const struct expr *b = args[1];

		if (kind == EXPR_ADD && is_negative_literal(args[0]) &&
		    !is_negative_literal(b)) {
			args[1] = args[0];
			args[0] = b;
			b = args[1];
		}
		if (is_negative_literal(b)) {
			args[1] = negated_literal(w, b);
			kind = kind == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
		} else if (b->kind == EXPR_MUL && ints &&
			   is_negative_literal(b->args[1]) &&
			   !walk_may_wrap(w, b)) {
			const struct expr *c = negated_literal(w, b->args[1]);

			args[1] = expr_is_value(c, 1)
					  ? b->args[0]
					  : expr_mul(w->m, b->args[0], c);
			kind = kind == EXPR_ADD ? EXPR_SUB : EXPR_ADD;
		} else if (kind == EXPR_SUB && ints &&
			   expr_is_value(args[0], 0)) {
			return walk_narrowed(w, e->type,
					     walk_apply(w, FORM_NEG, e->type,
							&args[1], 1));
		}
	}
	if (kind == EXPR_MUL) {
		int minus = is_minus_one(args[0])   ? 0
			    : is_minus_one(args[1]) ? 1
						    : -1;

		if (minus >= 0) {
			return walk_narrowed(w, e->type,
					     walk_apply(w,
							wraps ? FORM_NEG_WRAP
							      : FORM_NEG,
							e->type,
							&args[1 - minus], 1));
		}
	}
	if (kind == EXPR_SUB && wraps && expr_is_value(args[0], 0)) {
		return walk_apply(w, FORM_NEG_WRAP, e->type, &args[1], 1);
	}
	if (kind == EXPR_ADD && walk_fuses(w, e)) {
		const struct expr *three[3] = { args[0], args[1]->args[0],
						args[1]->args[1] };

		return walk_apply(w, FORM_ADD_PRODUCT, e->type, three, 3);
	}
	if (kind == EXPR_ADD && walk_multiplies_too(w, e)) {
		int product = args[1]->kind == EXPR_MUL ? 1 : 0;
		const struct expr *three[3] = { args[product]->args[0],
						args[product]->args[1],
						args[1 - product] };

		return walk_apply(w, FORM_FMA, e->type, three, 3);
	}
	id = kind == EXPR_ADD   ? wraps ? FORM_ADD_WRAP : FORM_ADD
	     : kind == EXPR_SUB ? wraps ? FORM_SUB_WRAP : FORM_SUB
	     : wraps            ? FORM_MUL_WRAP
				: walk_product(w, e->type);
	if (wraps) {
		return walk_apply(w, id, e->type, args, 2);
	}
	return walk_narrowed(w, e->type, walk_apply(w, id, e->type, args, 2));
}

static struct piece
division(struct walker *w, const struct expr *e)
{
	bool mod = e->kind == EXPR_TRUNCMOD || e->kind == EXPR_FLOORMOD;
	bool floors = e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD;
	enum form_id id;

	if (dtype_is_float(e->type)) {
		if (floors || mod) {
			walk_fail(w, "floor division of floats");
		}
		return walk_apply(w, FORM_DIV, e->type, e->args, 2);
	}
	if (walk_is_safe_divisor(w, e->args[1]) &&
	    (!floors || (!walk_is_negative(w, e->args[0]) &&
			 !walk_is_negative(w, e->args[1])))) {
		return walk_narrowed(w, e->type,
				     walk_apply(w, mod ? FORM_MOD : FORM_DIV,
						e->type, e->args, 2));
	}
	id = floors ? mod ? FORM_FLOORMOD_ANY : FORM_FLOORDIV_ANY
	     : mod  ? FORM_MOD_ANY
		    : FORM_DIV_ANY;
	return walk_apply(w, id, e->type, e->args, 2);
}

/* Is e so expensive that a result that is needed twice should be computed only
 * once? */
static bool
is_work(const struct expr *e, int depth)
{
	if ((depth == 0 && dtype_is_float(e->type) && e->n_args > 0 &&
	     e->kind != EXPR_LOAD) ||
	    e->kind == EXPR_CALL || e->kind == EXPR_SELECT ||
	    e->kind == EXPR_IF || e->kind == EXPR_MIN || e->kind == EXPR_MAX ||
	    (e->kind == EXPR_LOAD && depth > 0)) {
		return true;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (is_work(e->args[i], depth + (e->kind == EXPR_LOAD))) {
			return true;
		}
	}
	return false;
}

static bool
is_repeatable(struct walker *w, const struct expr *e)
{
	return !is_work(e, 0) &&
	       layout_width(walk_piece(w, e).text) <= REPEATABLE_COLUMNS;
}

/* The shorter type whose least and greatest numbers bound e: e is
 * min(max(x, least), greatest) or max(min(x, greatest), least) of a 32-bit
 * integer x. Void if e is another expression, or if the dialect has no form
 * FORM_SATURATE. */
static struct dtype
saturated_to(const struct walker *w, const struct expr *e)
{
	static const enum dtype_kind kinds[] = { DT_I8, DT_U8, DT_I16, DT_U16 };
	const struct form *f = w->d->forms[FORM_SATURATE][DT_I32];
	bool min = e->kind == EXPR_MIN;
	const struct expr *inner = e->args[0];

	if (f == NULL || f->kind == FORM_IS_REJECTED ||
	    !dtype_equal(e->type, dtype_of(DT_I32)) ||
	    inner->kind != (min ? EXPR_MAX : EXPR_MIN)) {
		return dtype_of(DT_VOID);
	}
	for (int i = 0; i < 4; i++) {
		struct dtype t = dtype_of(kinds[i]);
		int64_t ends[2] = { dtype_min_int(t),
				    (int64_t)dtype_max_int(t) };

		if (expr_is_value(e->args[1], ends[min]) &&
		    expr_is_value(inner->args[1], ends[!min])) {
			return t;
		}
	}
	return dtype_of(DT_VOID);
}

static struct piece
extreme(struct walker *w, const struct expr *e)
{
	bool min = e->kind == EXPR_MIN;
	const struct expr *args[2] = { e->args[0], e->args[1] };
	struct dtype bounds = saturated_to(w, e);

	if (bounds.kind != DT_VOID) {
		return walk_apply_to(w, FORM_SATURATE, e->type, bounds,
				     args[0]->args, 1);
	}
	if (dtype_is_float(e->type)) {
		if (!walk_is_number(w, args[1]) && walk_is_number(w, args[0])) {
			args[0] = e->args[1];
			args[1] = e->args[0];
		}
		if (walk_is_number(w, args[1])) {
			bool again = e->type.lanes == 1 &&
				     is_repeatable(w, args[0]) &&
				     is_repeatable(w, args[1]);

			/* the limit is a scalar, even for a vector operand */
			if (args[1]->kind == EXPR_BROADCAST) {
				args[1] = args[1]->args[0];
			}

			return walk_apply(w,
					  min     ? again ? FORM_MIN_NUMBER
							  : FORM_MIN_NUMBER_ANY
					  : again ? FORM_MAX_NUMBER
						  : FORM_MAX_NUMBER_ANY,
					  e->type, args, 2);
		}
	} else if (e->type.lanes == 1 && is_repeatable(w, args[0]) &&
		   is_repeatable(w, args[1])) {
		return walk_apply(w, min ? FORM_MIN : FORM_MAX, e->type, args,
				  2);
	}
	return walk_apply(w, min ? FORM_MIN_ANY : FORM_MAX_ANY, e->type, args,
			  2);
}

/* May the vector e have a loosely aligned type? Loads from arrays may, and so
 * may the result of an operator with a loosely aligned operand; results of
 * functions do not. */
static bool
is_loose(const struct expr *e)
{
	const struct buffer *b = e->u.buffer;

	switch (e->kind) {
	case EXPR_LOAD:
		return b->type.lanes == 1 ||
		       (!buffer_is_private(b) &&
			b->align_bytes < dtype_bytes(e->type) * e->type.lanes);
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
		return is_loose(e->args[0]) || is_loose(e->args[1]);
	default:
		return false;
	}
}

/* Is the vector e the result of an operator? Compilers give such a result a
 * type with the lanes and elements of the vector typedef, without its other
 * attributes. */
static bool
is_of_operator(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
		return true;
	case EXPR_SELECT:
	case EXPR_IF:
		return is_of_operator(e->args[1]) && is_of_operator(e->args[2]);
	default:
		return false;
	}
}

/* May compilers see two different types in the vectors a and b? */
static bool
types_differ(const struct expr *a, const struct expr *b)
{
	return is_loose(a) || is_loose(b) ||
	       is_of_operator(a) != is_of_operator(b);
}

/* The text of a conditional expression; its two values get the same type. */
static struct piece
choice(struct walker *w, const struct expr *e)
{
	if (e->args[0]->type.lanes > 1) {
		walk_fail(w, "a choice lane by lane");
		return walk_failed_piece(w);
	}
	if (e->type.lanes > 1 && w->d->vectors.forms[FORM_SELECT_ANY] != NULL &&
	    types_differ(e->args[1], e->args[2])) {
		return walk_apply(w, FORM_SELECT_ANY, e->type, e->args, 3);
	}
	return walk_apply(w, FORM_SELECT, e->type, e->args, 3);
}

/* The text of p, a composite expression of type `from`, cast to a wider type or
 * to a type of another class; some dialects have a separate form for this
 * (FORM_CAST_COMPOSITE). */
static struct piece
cast_composite(struct walker *w, struct dtype from, struct dtype to,
	       struct piece p)
{
	const struct form *f = dialect_form(w->d, FORM_CAST_COMPOSITE, to);
	const char *name;

	if (f == NULL || f->kind != FORM_IS_HELPER) {
		return f == NULL ? walk_failed_piece(w)
				 : walk_cast_text(w, to, p);
	}
	name = unit_helper(w->u, dialect_helper(w->d, f->text), from, to);
	return name != NULL ? walk_call(w, name, &p.text, 1)
			    : walk_failed_piece(w);
}

static struct piece
cast(struct walker *w, const struct expr *e)
{
	const struct expr *a = e->args[0];
	struct dtype to = walk_computed(w, e->type);
	struct dtype from = walk_computed(w, a->type);

	if (e->type.lanes > 1) {
		enum form_id id = dtype_is_int(to)        ? FORM_TO_INT
				  : dtype_bits(from) < 32 ? FORM_WIDEN
							  : FORM_CAST;

		return walk_apply_to(w, dtype_is_float(from) ? id : FORM_CAST,
				     from, to, &a, 1);
	}
	/* The cast is left out if it has no effect, or if the value is computed
	 * in a wider type and rounded once, when it is stored. */
	if (dtype_equal(from, to) || (w->whole && walk_is_lengthened(e)) ||
	    (walk_is_stored_only(w, e->type) && dtype_is_float(a->type))) {
		return walk_piece(w, a);
	}
	if (dialect_type(w->d, e->type) == NULL) {
		return walk_failed_piece(w);
	}
	if (dtype_class(e->type) == DTC_BOOL) {
		return walk_apply(w, FORM_TO_BOOL, a->type, &a, 1);
	}
	if (dtype_is_float(a->type) && dtype_is_int(e->type)) {
		return walk_apply_to(w, FORM_TO_INT, a->type, e->type, &a, 1);
	}
	if (dtype_class(from) == DTC_BOOL) {
		unit_need_type(w->u, to);
		return walk_apply(w, FORM_FROM_BOOL, to, &a, 1);
	}
	if ((dtype_class(from) != dtype_class(to) ||
	     dtype_bits(from) < dtype_bits(to)) &&
	    walk_is_composite(w, a)) {
		return cast_composite(w, from, to, walk_piece(w, a));
	}
	return walk_cast_text(w, to, walk_piece(w, a));
}

/* A comparison; 0 <= i is printed as i >= 0, which reads better. */
static struct piece
comparison(struct walker *w, const struct expr *e)
{
	static const struct {
		enum expr_kind kind;
		enum form_id id, turned;
	} table[] = {
		{ EXPR_EQ, FORM_EQ, FORM_EQ }, { EXPR_NE, FORM_NE, FORM_NE },
		{ EXPR_LT, FORM_LT, FORM_GT }, { EXPR_LE, FORM_LE, FORM_GE },
		{ EXPR_GT, FORM_GT, FORM_LT }, { EXPR_GE, FORM_GE, FORM_LE },
	};
	const struct expr *args[2] = { e->args[0], e->args[1] };
	bool turn = args[0]->n_args == 0 && args[0]->kind != EXPR_VAR &&
		    (args[1]->n_args > 0 || args[1]->kind == EXPR_VAR);
	int i = 0;

	while (table[i].kind != e->kind) {
		i++;
	}
	if (turn) {
		args[0] = e->args[1];
		args[1] = e->args[0];
	}
	return walk_apply(w, turn ? table[i].turned : table[i].id,
			  args[0]->type, args, 2);
}

struct piece
walk_piece(struct walker *w, const struct expr *e)
{
	return walk_rounded(w, e, piece_of(w, e));
}

static struct piece
piece_of(struct walker *w, const struct expr *e)
{
	struct piece p = { "", w->d->primary };
	const struct binding *b;
	union number v;
	bool addressed;

	switch (e->kind) {
	case EXPR_INT:
	case EXPR_FLOAT:
		if (dialect_type(w->d, e->type) == NULL) {
			return walk_failed_piece(w);
		}
		if (e->kind == EXPR_FLOAT) {
			v.f = e->u.fval;
		} else {
			v.i = e->u.ival;
		}
		p.text = unit_literal(w->u, e->type, v);
		if (p.text[0] == '-') {
			p.level = w->d->unary;
		}
		return p;
	case EXPR_VAR:
		b = walk_find(w, e->u.var);
		if (b == NULL) {
			walk_fail(w, "variable %s is not in scope",
				  e->u.var->name);
			return p;
		}
		p.text = b->text;
		return p;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		return arithmetic(w, e);
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return division(w, e);
	case EXPR_MIN:
	case EXPR_MAX:
		return extreme(w, e);
	case EXPR_EQ:
	case EXPR_NE:
	case EXPR_LT:
	case EXPR_LE:
	case EXPR_GT:
	case EXPR_GE:
		return comparison(w, e);
	case EXPR_AND:
		return walk_apply(w, FORM_AND, e->type, e->args, 2);
	case EXPR_OR:
		return walk_apply(w, FORM_OR, e->type, e->args, 2);
	case EXPR_NOT:
		return walk_apply(w, FORM_NOT, e->type, e->args, 1);
	case EXPR_SELECT:
	case EXPR_IF:
		return choice(w, e);
	case EXPR_CAST:
		return cast(w, e);
	case EXPR_LOAD:
		addressed = w->addressed == e;
		if (!addressed && walk_is_on_device(w, e->u.buffer)) {
			p.text = walk_read_back(w, e->u.buffer, e->args,
						e->n_args);
			return walk_loaded(w, e->type, p);
		}
		p.text = walk_element(w, e->u.buffer, e->args, e->n_args,
				      addressed ? ELEMENT_PLACE
						: ELEMENT_VALUE);
		if (e->type.lanes > e->u.buffer->type.lanes) {
			p.level = w->d->unary;
		}
		if (!addressed) {
			p.text = walk_read_vector(w, e->u.buffer, p.text);
		}
		return addressed ? p : walk_loaded(w, e->type, p);
	case EXPR_CALL:
		return walk_intrinsic(w, e);
	case EXPR_RAMP:
		return walk_apply(w, FORM_RAMP, dtype_of(DT_VOID), e->args, 2);
	case EXPR_BROADCAST:
		return walk_apply(w, FORM_BROADCAST,
				  w->d->vectors.rejected == NULL
					  ? e->type
					  : dtype_of(DT_VOID),
				  e->args, 1);
	default:
		walk_fail(w, "%s cannot be emitted", expr_kind_name(e->kind));
		return walk_failed_piece(w);
	}
}
