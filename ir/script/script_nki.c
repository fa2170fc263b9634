/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: the instructions of NKI, the language of a kind of
 * accelerators. An attribute is around the loops of one instruction on tiles; the call
 * in them says what an iteration reads and stores, and is read as that.
 *
 *   T.attr(0, "tensorized_nki_instruction", 1)
 *   for p in T.serial(4, annotations={"nki_dim": "P"}):
 *       for f in T.serial(8, annotations={"nki_dim": "F"}):
 *           T.nki.tensorreduce(B[p, 0], A[p, f], "add", False, -1)
 *
 *           B[p, 0] = A[p, f] if f == 0 else B[p, 0] + A[p, f]
 *
 * Floats of fewer than 32 bits are computed in float32, as the device does. A call
 * with other operands, or outside of such an attribute, stays a call. */
#include "expr_build.h"
#include "iterate.h"
#include "script_read.h"

enum { MAX_OPERANDS = 8 };

/* A call in an attribute. */
struct nki {
	struct script_reader *r;
	const struct stmt *attr;
	struct stmt *call;
	/* the operands, behind the instruction's name */
	const struct expr *const *args;
	int n;
};

/* An instruction: its name, the least number of its operands, and the function that
 * makes its statement, or returns NULL if the operands are of another form. */
struct nki_row {
	const char *name;
	int n;
	struct stmt *(*make)(struct nki *x);
};

/* ---- operands */

/* The operand i, in the type in which it is computed; `absent` if it is not given. */
static const struct expr *
operand(const struct nki *x, int i, double absent)
{
	struct dtype t = dtype_of(DT_F32);
	const struct expr *e;

	if (i >= x->n) {
		return expr_float(x->r->m, t, absent);
	}
	e = x->args[i];
	return dtype_is_float(e->type) && dtype_bits(e->type) < 32
		       ? expr_cast(x->r->m, t, e)
		       : e;
}

/* Is the operand i true? */
static bool
is_set(const struct nki *x, int i)
{
	return i < x->n && expr_is_value(x->args[i], 1);
}

/* The result of the operator that operand i names, on a and b, or on b and a if
 * `turned`; for an operator of one value on a. NULL if it is not known. */
static const struct expr *
apply(const struct nki *x, int i, const struct expr *a, const struct expr *b,
      bool turned)
{
	struct module *m = x->r->m;
	const char *op = i < x->n && x->args[i]->kind == EXPR_STRING
				 ? x->args[i]->u.text
				 : "";
	enum intrin f;

	if (b == NULL) {
		return (strcmp(op, "sqrt") == 0 || strcmp(op, "exp") == 0) &&
				       dtype_is_float(a->type) &&
				       intrin_from_name(op, &f)
			       ? expr_call(m, f, a->type, &a, 1)
			       : NULL;
	}
	b = expr_cast(m, a->type, b);
	if (turned) {
		const struct expr *left = b;

		b = a;
		a = left;
	}
	return strcmp(op, "add") == 0   ? expr_add(m, a, b)
	       : strcmp(op, "sub") == 0 ? expr_sub(m, a, b)
	       : strcmp(op, "mul") == 0 ? expr_mul(m, a, b)
	       : strcmp(op, "max") == 0 ? expr_max(m, a, b)
	       : strcmp(op, "min") == 0 ? expr_min(m, a, b)
					: NULL;
}

/* Stores the value to the element that operand i names. NULL if the value is NULL, or
 * the operand is no element. */
static struct stmt *
store(const struct nki *x, int i, const struct expr *value)
{
	const struct expr *to = x->args[i];

	if (value == NULL || to->kind != EXPR_LOAD) {
		return NULL;
	}
	return stmt_store(x->r->f, to->u.buffer,
			  expr_cast(x->r->m, to->type, value), to->args,
			  to->n_args);
}

/* ---- reductions */

/* Is another condition on the variable around the call? */
static bool
is_masked(const struct nki *x, const struct var *v)
{
	for (const struct stmt *s = x->call->parent; s != x->attr;
	     s = s->parent) {
		if (s->kind == STMT_IF && expr_uses_var(s->args[0], v)) {
			return true;
		}
	}
	return false;
}

/* Sets *out to the condition that the loops of the instruction over which the element
 * `to` is reduced are in their first iteration, or in their last one; NULL: there are
 * no such loops. False if another condition on these loops is around the call. */
static bool
at_end_of_loops(const struct nki *x, const struct expr *to, bool last,
		const struct expr **out)
{
	struct module *m = x->r->m;

	*out = NULL;
	for (const struct stmt *s = x->call->parent; s != x->attr;
	     s = s->parent) {
		const struct expr *at, *one;

		if (s->kind != STMT_FOR || expr_uses_var(to, s->u.loop.var)) {
			continue;
		}
		if (is_masked(x, s->u.loop.var)) {
			return false;
		}
		at = s->args[0];
		if (last) {
			at = expr_add(m, at,
				      expr_sub(m, s->args[1],
					       expr_int(m, at->type, 1)));
		}
		one = expr_eq(m, s->u.loop.var->expr, at);
		*out = *out ? expr_and(m, one, *out) : one;
	}
	return true;
}

/* Stores to the element of operand `to` the value, in the first iteration, and what
 * the operator of operand `op` makes of the element and the value, in the others. */
static struct stmt *
reduce(const struct nki *x, int to, int op, const struct expr *value)
{
	const struct expr *first, *both;

	if (!at_end_of_loops(x, x->args[to], false, &first)) {
		return NULL;
	}
	if (first == NULL) {
		return store(x, to, value);
	}
	both = apply(x, op, operand(x, to, 0), value, false);
	return both == NULL
		       ? NULL
		       : store(x, to,
			       expr_if(x->r->m, first,
				       expr_cast(x->r->m, both->type, value),
				       both));
}

/* Two statements, or NULL if one of them is NULL. */
static struct stmt *
both_of(const struct nki *x, struct stmt *a, struct stmt *b)
{
	struct stmt *list[] = { a, b };

	return a && b ? stmt_seq(x->r->f, list, 2) : NULL;
}

/* ---- instructions */

/* load, store, tensor_copy, memset: (result, value) */
static struct stmt *
make_copy(struct nki *x)
{
	return store(x, 0, x->args[1]);
}

/* matmul(result, left, right, accumulate?): the sum over the loops in which both
 * operands have the same partition. */
static struct stmt *
make_matmul(struct nki *x)
{
	struct module *m = x->r->m;
	const struct expr *sum = operand(x, 0, 0), *first = NULL;
	const struct expr *product =
		expr_mul(m, expr_cast(m, sum->type, operand(x, 1, 0)),
			 expr_cast(m, sum->type, operand(x, 2, 0)));

	if (x->n > 3 && !is_set(x, 3) &&
	    !at_end_of_loops(x, x->args[0], false, &first)) {
		return NULL;
	}
	sum = expr_add(m, sum, product);
	return store(x, 0,
		     x->n > 3 && !is_set(x, 3)
			     ? (first ? expr_if(m, first, product, sum)
				      : product)
			     : sum);
}

/* What activation computes: op(data * scale + bias), of the operands from `data` on. */
static const struct expr *
activated(const struct nki *x, int data, int op, int bias)
{
	struct module *m = x->r->m;
	const struct expr *e = operand(x, data, 0);

	e = expr_mul(m, e, expr_cast(m, e->type, operand(x, bias + 1, 1)));
	e = expr_add(m, e, expr_cast(m, e->type, operand(x, bias, 0)));
	return apply(x, op, e, NULL, false);
}

/* activation(result, data, op, bias, scale) */
static struct stmt *
make_activation(struct nki *x)
{
	return store(x, 0, activated(x, 1, 2, 3));
}

/* activation_reduce(reduced, result, data, op, reduce op, bias, scale) */
static struct stmt *
make_activation_reduce(struct nki *x)
{
	const struct expr *e = activated(x, 2, 3, 5);

	return e ? both_of(x, reduce(x, 0, 4, e), store(x, 1, e)) : NULL;
}

/* reciprocal(result, data) */
static struct stmt *
make_reciprocal(struct nki *x)
{
	const struct expr *e = operand(x, 1, 0);

	return dtype_is_float(e->type)
		       ? store(x, 0,
			       expr_div(x->r->m,
					expr_float(x->r->m, e->type, 1), e))
		       : NULL;
}

/* tensortensor(result, a, b, op), tensorscalar(result, a, b, op, turned) */
static struct stmt *
make_binary(struct nki *x)
{
	return store(x, 0,
		     apply(x, 3, operand(x, 1, 0), operand(x, 2, 0),
			   is_set(x, 4)));
}

/* tensorscalar_reduce(reduced, result, a, b, op, reduce op, turned) */
static struct stmt *
make_binary_reduce(struct nki *x)
{
	const struct expr *e = apply(x, 4, operand(x, 2, 0), operand(x, 3, 0),
				     is_set(x, 6));

	return e ? both_of(x, reduce(x, 0, 5, e), store(x, 1, e)) : NULL;
}

/* scalar_tensor_tensor, scalar_tensor_scalar(result, data, b, c, op b, op c, turned b,
 * turned c) */
static struct stmt *
make_two_binary(struct nki *x)
{
	const struct expr *e = apply(x, 4, operand(x, 1, 0), operand(x, 2, 0),
				     is_set(x, 6));

	return e ? store(x, 0, apply(x, 5, e, operand(x, 3, 0), is_set(x, 7)))
		 : NULL;
}

/* tensorreduce(result, data, op, negate, axes) */
static struct stmt *
make_reduce(struct nki *x)
{
	struct stmt *s = reduce(x, 0, 2, operand(x, 1, 0)), *negate;
	const struct expr *last, *e = operand(x, 0, 0);

	if (s == NULL || !is_set(x, 3)) {
		return s;
	}
	if (!at_end_of_loops(x, x->args[0], true, &last)) {
		return NULL;
	}
	negate = store(x, 0,
		       expr_sub(x->r->m,
				expr_cast(x->r->m, e->type,
					  expr_i32(x->r->m, 0)),
				e));
	return both_of(x, s,
		       last ? stmt_if(x->r->f, last, negate, NULL) : negate);
}

/* The variable of the loop of the instruction along the dimension, or NULL. */
static const struct var *
loop_along(const struct nki *x, const char *dimension)
{
	for (const struct stmt *s = x->call->parent; s != x->attr;
	     s = s->parent) {
		const struct expr *e = stmt_note(s, "nki_dim");

		if (s->kind == STMT_FOR && e && e->kind == EXPR_STRING &&
		    strcmp(e->u.text, dimension) == 0) {
			return s->u.loop.var;
		}
	}
	return NULL;
}

/* identity(result, size): 1 where partition and place are equal, else 0. */
static struct stmt *
make_identity(struct nki *x)
{
	const struct var *p = loop_along(x, "P"), *f = loop_along(x, "F");
	struct module *m = x->r->m;

	return p && f ? store(x, 0,
			      expr_cast(m, x->args[0]->type,
					expr_eq(m, p->expr, f->expr)))
		      : NULL;
}

/* affine_select(result, condition, value, other value) */
static struct stmt *
make_select(struct nki *x)
{
	const struct expr *a = operand(x, 2, 0);

	return store(x, 0,
		     expr_select(x->r->m, x->args[1], a,
				 expr_cast(x->r->m, a->type,
					   operand(x, 3, 0))));
}

static const struct nki_row rows[] = {
	{ "nki.load", 2, make_copy },
	{ "nki.store", 2, make_copy },
	{ "nki.tensor_copy", 2, make_copy },
	{ "nki.memset", 2, make_copy },
	{ "nki.matmul", 3, make_matmul },
	{ "nki.activation", 3, make_activation },
	{ "nki.activation_reduce", 5, make_activation_reduce },
	{ "nki.reciprocal", 2, make_reciprocal },
	{ "nki.tensortensor", 4, make_binary },
	{ "nki.tensorscalar", 4, make_binary },
	{ "nki.tensorscalar_reduce", 6, make_binary_reduce },
	{ "nki.scalar_tensor_tensor", 6, make_two_binary },
	{ "nki.scalar_tensor_scalar", 6, make_two_binary },
	{ "nki.tensorreduce", 4, make_reduce },
	{ "nki.identity", 2, make_identity },
	{ "nki.affine_select", 4, make_select },
};

/* ---- calls */

/* Are the operands numbers or, where they name an operator, texts? */
static bool
are_scalars(const struct nki *x)
{
	for (int i = 0; i < x->n; i++) {
		if (x->args[i]->kind != EXPR_STRING &&
		    (!dtype_is_number(x->args[i]->type) ||
		     x->args[i]->type.lanes != 1)) {
			return false;
		}
	}
	return x->args[0]->kind == EXPR_LOAD;
}

/* The statement that the call stands for, or NULL. */
static struct stmt *
meaning(struct script_reader *r, const struct stmt *attr, struct stmt *call)
{
	const struct expr *e = call->args[0];
	struct nki x = { .r = r, .attr = attr, .call = call };

	if (e->kind != EXPR_CALL || e->u.intrin != INTRIN_CALL_INTRIN ||
	    e->n_args < 2) {
		return NULL;
	}
	x.args = e->args + 1;
	x.n = e->n_args - 1;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].name, e->args[0]->u.text) == 0 &&
		    x.n >= rows[i].n && x.n <= MAX_OPERANDS &&
		    are_scalars(&x)) {
			return rows[i].make(&x);
		}
	}
	return NULL;
}

void
script_nki(struct script_reader *r, struct stmt *attr)
{
	VEC(struct stmt *) calls = { 0 };
	struct stmt *s;

	if (strcmp(attr->u.key, "tensorized_nki_instruction") != 0) {
		return;
	}
	for (struct stmt_iter it =
		     stmt_each_of(attr->children[0], STMT_EVALUATE);
	     (s = stmt_next(&it));) {
		vec_push(&r->m->arena, &calls, s);
	}
	for (int i = 0; i < calls.n; i++) {
		s = meaning(r, attr, calls.data[i]);
		if (s) {
			s->pos = calls.data[i]->pos;
			stmt_replace(r->f, calls.data[i], s);
		}
	}
}
