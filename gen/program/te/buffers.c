/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of the elements of buffers, as programs write them. */
#include "te_parts.h"

/* Sets index[d], for each dimension d of b, to the index of the element number
 * `place`, counted from the first element in row-major order. */
static void
unravel(struct module *m, const struct buffer *b, const struct expr *place,
	const struct expr **index)
{
	for (int d = b->ndim - 1; d >= 0; d--) {
		const struct expr *size = expr_cast(m, place->type,
						    b->shape[d]);

		index[d] = d > 0 ? expr_floormod(m, place, size) : place;
		place = expr_floordiv(m, place, size);
	}
}

static bool
read_index(struct eval *ev, struct py_span at, const struct buffer *b,
	   const struct pval *v, const struct expr ***out)
{
	bool one = v->kind != PV_TUPLE && v->kind != PV_LIST;
	const struct pval *items;
	const struct expr **index;
	int n, depth;

	if (!eval_items_or_one(ev, at, v, one, &items, &n)) {
		return false;
	}
	if (n != b->ndim && n != 1) {
		return eval_error(ev, at, "%s has %d dimensions, not %d",
				  b->name, b->ndim, n);
	}
	index = arena_exprs(ev->a, b->ndim + 1);
	for (int i = 0; i < n; i++) {
		const struct expr *e;

		if (!value_expr(ev, at, &items[i], &e, &depth)) {
			return false;
		}
		if (!dtype_is_int(e->type) || e->type.lanes != 1) {
			return eval_error(ev, at,
					  "index %d of %s is of type %s; "
					  "indices are integers",
					  i, b->name, dtype_name(e->type));
		}
		if (n == b->ndim) {
			index[i] = e;
		} else {
			unravel(ev->m, b, e, index);
		}
	}
	*out = index;
	return true;
}

bool
buffer_load(struct eval *ev, struct py_span at, const struct buffer *b,
	    const struct pval *index, struct pval *out)
{
	const struct expr **list;

	if (!read_index(ev, at, b, index, &list)) {
		return false;
	}
	*out = pv_expr(expr_load(ev->m, b, list, b->ndim), 2);
	return eval_expr_fits(ev, at, out->u.expr, index->depth + 1);
}

bool
buffer_store(struct eval *ev, struct py_span at, struct func *f,
	     const struct buffer *b, const struct pval *index,
	     const struct pval *v, struct stmt **out)
{
	const struct expr **list, *value;
	struct typed x, y;
	int depth;

	if (!read_index(ev, at, b, index, &list) ||
	    !value_typed(ev, at, v, &x, &depth)) {
		return false;
	}
	if (x.weak ? !typed_convert(&ev->typing, at, &x, b->type, &value)
		   : !typed_cast(&ev->typing, at, &x, b->type, &y)) {
		return false;
	}
	*out = stmt_store(f, b, x.weak ? value : y.e, list, b->ndim);
	return eval_tick(ev, at, 1);
}

static bool
buffer_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		 const struct pval *index, struct pval *out)
{
	return buffer_load(ev, at, of->u.buffer, index, out);
}

static bool
one_lane(struct call *c, int i, const struct buffer *b)
{
	struct dtype t = b->type;

	if (arg_given(c, i) && !arg_dtype(c, i, &t)) {
		return false;
	}
	return dtype_equal(t, b->type) ||
	       call_error(c, i,
			  "elements of %s are of type %s; vectors come from "
			  "loops of the kind vectorize",
			  b->name, dtype_name(b->type));
}

/* Implements the method b.vload(index, dtype). */
bool
buffer_vload(struct call *c, struct pval *out)
{
	return one_lane(c, 1, c->self.u.buffer) &&
	       buffer_load(c->ev, c->span, c->self.u.buffer, &c->args[0], out);
}

/* Implements the method b.vstore(index, value), whose result is a statement.
 * Returns false after an error. */
bool
buffer_vstore(struct call *c, struct pval *out)
{
	struct func *f = func_new(c->ev->m, "detached");
	struct stmt *s;

	if (!buffer_store(c->ev, c->span, f, c->self.u.buffer, &c->args[0],
			  &c->args[1], &s)) {
		return false;
	}
	*out = (struct pval){ .kind = PV_STMT, .u.stmt = s };
	return true;
}

bool
value_stmt(struct eval *ev, struct py_span at, const struct pval *v,
	   struct func *f, struct stmt **out)
{
	const struct expr *e;
	int depth;

	if (v->kind == PV_STMT) {
		*out = stmt_clone(f, v->u.stmt, false);
		return eval_tick(ev, at, 1);
	}
	if (!value_expr(ev, at, v, &e, &depth)) {
		return false;
	}
	*out = stmt_evaluate(f, e);
	return true;
}

const struct kind_ops buffer_ops = { .subscript = buffer_subscript };
