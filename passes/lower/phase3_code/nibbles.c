/* SPDX-License-Identifier: Apache-2.0 */
/* Computes integers of fewer than 8 bits as bytes, so that no dialect needs their
 * types. Results are wrapped to their low bits:
 *
 *	y: int4, a: int4                     y: int8, a: int8
 *	y[i] = a[i] + T.int4(1)        ->    y[i] = T.nibble(T.Cast("uint8",
 *	                                         a[i] + T.int8(1)), 0)
 *
 * Each element takes a byte, sign-extended, except in constant parameters of 4
 * bits that the function's note "packed" lists ("w, w_1"): these have two elements
 * per byte, the first in the low nibble, in row-major order. If the last extent is
 * even, no byte spans two rows, and the array keeps its dimensions:
 *
 *	w: int4[8, 6]   w[i, k]        ->    T.nibble(w[i, k // 2], k % 2)
 *	w: int4[8, 6, 2]  w[i, k, h]   ->    T.nibble(w[i, k], h)
 *	w: int4[8, 9]   w[i, k]        ->    T.nibble(w[(i * 9 + k) // 2],
 *	                                              (i * 9 + k) % 2)
 */
#include "lower_passes.h"

#include <string.h>

#include "access.h"
#include "iterate.h"
#include "memo.h"

struct nibbles {
	struct func *func;
	struct module *module;
	/* the names in the function's note "packed"; NULL if it does not have
	 * the note */
	const char *packed;
	VEC(const struct buffer *) from, to;
	/* variables of few bits, and the data pointers of the buffers in
	 * `from` */
	VEC(struct var *) vars;
	VEC(struct var *) bytes;
	const struct stmt *at;
	/* the rewritten expressions of the current statement, by the original
	 * expression */
	struct memo done;
	bool failed;
};

static bool
is_short(struct dtype t)
{
	return !dtype_equal(dtype_stored(t), t);
}

/* -- does the function have integers of fewer than 8 bits? -- */

static bool
body_has_short(const struct func *f)
{
	struct stmt_iter it = stmt_each(f->body);
	struct tree_iter exprs = tree_each(f->body);
	const struct expr *e;
	const struct stmt *s;
	bool found = false;

	while (!found && (e = tree_next(&exprs)) != NULL) {
		found = is_short(e->type);
	}
	tree_stop(&exprs);
	while (!found && (s = stmt_next(&it)) != NULL) {
		found = (s->kind == STMT_ALLOC || s->kind == STMT_STORE) &&
			is_short(s->u.buffer->type);
	}
	return found;
}

static bool
has_short(const struct func *f)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		if (is_short(p->buffer != NULL ? p->buffer->type
					       : p->var->type)) {
			return true;
		}
	}
	return body_has_short(f);
}

/* -- buffers -- */

static bool
is_packed(const struct nibbles *n, const struct buffer *b)
{
	size_t length = strlen(b->name);

	for (const char *at = n->packed; at != NULL && *at != '\0';) {
		size_t word = strcspn(at, ",");

		if (word == length && strncmp(at, b->name, word) == 0) {
			return true;
		}
		at += word;
		at += strspn(at, ", ");
	}
	return false;
}

/* Is the last extent of b even, so that no byte holds elements of two rows? */
static bool
has_even_rows(const struct buffer *b)
{
	int64_t row;

	return b->ndim > 0 && expr_is_int(b->shape[b->ndim - 1], &row) &&
	       row % 2 == 0;
}

/* Is the extent of the last dimension 2, the two elements of a byte? */
static bool
is_pairs(const struct buffer *b)
{
	return b->ndim > 1 && expr_is_value(b->shape[b->ndim - 1], 2);
}

static const struct expr *
half(struct nibbles *n, const struct expr *e)
{
	return expr_floordiv(n->module, e, expr_int(n->module, e->type, 2));
}

static const struct buffer *
packed_buffer(struct nibbles *n, const struct buffer *b)
{
	struct module *m = n->module;
	const struct expr **shape = arena_exprs(&m->arena, b->ndim + 1);
	struct buffer_spec spec = {
		.name = b->name,
		.type = dtype_of(DT_U8),
		.ndim = b->ndim,
		.shape = shape,
		.scope = b->scope,
	};
	int64_t elems = 0;

	if (has_even_rows(b)) {
		memcpy(shape, b->shape, sizeof *shape * (size_t)b->ndim);
		shape[b->ndim - 1] = half(n, shape[b->ndim - 1]);
		spec.ndim -= is_pairs(b);
	} else {
		buffer_const_elems(b, &elems);
		shape[0] = expr_index(m, (elems + 1) / 2);
		spec.ndim = 1;
	}
	return buffer_new(m, &spec);
}

static void
map_var(struct nibbles *n, struct var *from, struct var *to)
{
	vec_push(&n->module->arena, &n->vars, from);
	vec_push(&n->module->arena, &n->bytes, to);
}

/* The buffer of bytes that replaces b; b itself if its elements have 8 bits or
 * more. */
static const struct buffer *
in_bytes(struct nibbles *n, const struct buffer *b)
{
	struct module *m = n->module;
	const struct buffer *to;

	if (!is_short(b->type)) {
		return b;
	}
	for (int i = 0; i < n->from.n; i++) {
		if (n->from.data[i] == b) {
			return n->to.data[i];
		}
	}
	if (is_packed(n, b)) {
		to = packed_buffer(n, b);
	} else {
		struct buffer_spec spec = {
			.name = b->name,
			.type = dtype_stored(b->type),
			.ndim = b->ndim,
			.shape = b->shape,
			.strides = b->strides,
			.scope = b->scope,
			.align_bytes = b->align_bytes,
		};

		to = buffer_new(m, &spec);
	}
	vec_push(&m->arena, &n->from, b);
	vec_push(&m->arena, &n->to, to);
	map_var(n, b->data, to->data);
	return to;
}

/* -- values -- */

static const struct expr *
constant(struct nibbles *n, struct dtype t, int64_t v)
{
	return expr_broadcast(n->module,
			      expr_int(n->module, dtype_of(t.kind), v),
			      t.lanes);
}

static const struct expr *
nibble(struct nibbles *n, struct dtype t, const struct expr *pair,
       const struct expr *k)
{
	const struct expr *args[2] = { pair, k };

	return expr_call(n->module, INTRIN_NIBBLE, t, args, 2);
}

static int64_t
mask(struct dtype t)
{
	return (1 << dtype_bits(t)) - 1;
}

/* The low bits of the integer e as a byte: as many bits as type t has,
 * sign-extended if t is signed: by the intrinsic `nibble`, or as ((e & 3) ^ 2)
 * - 2. */
static const struct expr *
low_bits(struct nibbles *n, struct dtype t, const struct expr *e)
{
	struct module *m = n->module;
	struct dtype bits = { DT_U8, t.lanes }, bytes = dtype_stored(t);
	const struct expr *sign;

	e = expr_cast(m, bits, e);
	if (dtype_is_signed(t) && dtype_bits(t) == 4) {
		return nibble(n, bytes, e,
			      constant(n, (struct dtype){ DT_I32, t.lanes },
				       0));
	}
	e = expr_call2(m, INTRIN_BITAND, e, constant(n, bits, mask(t)));
	if (!dtype_is_signed(t)) {
		return e;
	}
	sign = constant(n, bytes, mask(t) / 2 + 1);
	e = expr_call2(m, INTRIN_BITXOR, expr_cast(m, bytes, e), sign);
	return expr_sub(m, e, sign);
}

/* The float e rounded to an integer, and saturated to the range of type t. */
static const struct expr *
saturate(struct nibbles *n, struct dtype t, const struct expr *e)
{
	struct module *m = n->module;
	struct dtype bytes = dtype_stored(t);
	int64_t least = dtype_min_int(t), most = (int64_t)dtype_max_int(t);

	e = expr_call(m, INTRIN_TO_INT, bytes, &e, 1);
	e = expr_min(m, e, constant(n, bytes, most));
	return least < 0 ? expr_max(m, e, constant(n, bytes, least)) : e;
}

static const struct expr *
cast(struct nibbles *n, struct dtype t, const struct expr *from,
     const struct expr *e)
{
	if (dtype_is_float(e->type)) {
		return saturate(n, t, e);
	}
	if (dtype_class(e->type) == DTC_BOOL || dtype_equal(from->type, t)) {
		return expr_cast(n->module, dtype_stored(t), e);
	}
	return low_bits(n, t, e);
}

/* For e, which reinterprets args[0] as another type: the bits of args[0] as a
 * byte of e's type. A float is first reinterpreted as a whole byte. */
static const struct expr *
reinterpreted(struct nibbles *n, const struct expr *e,
	      const struct expr *const *args)
{
	const struct expr *a = args[0];

	if (dtype_is_float(a->type)) {
		a = expr_call(n->module, INTRIN_REINTERPRET,
			      (struct dtype){ DT_U8, a->type.lanes }, &a, 1);
	}
	return low_bits(n, e->type, a);
}

static const struct expr *
call(struct nibbles *n, const struct expr *e, const struct expr *const *args)
{
	struct module *m = n->module;
	struct dtype t = dtype_stored(e->type);
	const struct expr *v;

	switch (e->u.intrin) {
	case INTRIN_TO_INT:
		return saturate(n, e->type, args[0]);
	case INTRIN_REINTERPRET:
		return reinterpreted(n, e, args);
	case INTRIN_POPCOUNT:
		v = expr_call2(m, INTRIN_BITAND, args[0],
			       constant(n, t, mask(e->type)));
		return expr_call1(m, INTRIN_POPCOUNT, v);
	default:
		break;
	}
	v = expr_call(m, e->u.intrin, t, args, e->n_args);
	switch (e->u.intrin) {
	case INTRIN_ABS:
	case INTRIN_POW:
	case INTRIN_FMA:
	case INTRIN_SHL:
	case INTRIN_BITNOT:
		return low_bits(n, e->type, v);
	default:
		/* the result of this operation always fits in the type: it is
		 * not wrapped */
		return v;
	}
}

/* The simplified form of e; but e itself if the simplified form divides a
 * number that may be negative: such a floor division takes more than one
 * instruction. */
static const struct expr *
simpler(struct analyser *a, const struct expr *e)
{
	const struct expr *to = simplify(a, e), *x;
	bool negative = false;

	for (struct expr_iter it = expr_each(to); (x = expr_next(&it));) {
		negative |= (x->kind == EXPR_FLOORDIV ||
			     x->kind == EXPR_FLOORMOD) &&
			    analyse_bounds(a, x->args[0]).min < 0;
	}
	return negative ? e : to;
}

/* The row-major position of the element at an index, in 64 bits if the buffer
 * has more than INT32_MAX elements. */
static const struct expr *
flat(struct nibbles *n, const struct buffer *b, const struct expr *const *index)
{
	struct module *m = n->module;
	const struct expr *k = expr_i32(m, 0);
	int64_t elems = 0;

	buffer_const_elems(b, &elems);
	if (elems > INT32_MAX) {
		k = expr_int(m, dtype_of(DT_I64), 0);
	}
	for (int i = 0; i < b->ndim; i++) {
		k = expr_add(m,
			     expr_mul(m, k, expr_cast(m, k->type, b->shape[i])),
			     expr_cast(m, k->type, index[i]));
	}
	return k;
}

/* The load of an element of a packed constant: the byte, then its nibble. */
static const struct expr *
unpacked(struct nibbles *n, const struct expr *e, const struct buffer *to,
	 const struct expr *const *index)
{
	const struct buffer *b = e->u.buffer;
	struct module *m = n->module;
	const struct expr **at = arena_exprs(&m->arena, b->ndim + 1);
	const struct expr *k, *which;
	struct analyser a;

	analyser_at(&a, m, n->at);
	if (has_even_rows(b)) {
		memcpy(at, index, sizeof *at * (size_t)b->ndim);
		k = index[b->ndim - 1];
	} else {
		k = simplify(&a, flat(n, b, index));
	}
	if (k->type.lanes != 1) {
		n->failed = true;
		func_error(n->func, DIAG_BAD_PROGRAM,
			   "a vector of %s, a constant that has two elements "
			   "in a byte; read them one by one",
			   b->name);
		return constant(n, dtype_stored(e->type), 0);
	}
	if (!is_pairs(b)) {
		at[to->ndim - 1] = simpler(&a, half(n, k));
	}
	which = simpler(&a, expr_floormod(m, k, expr_int(m, k->type, 2)));
	return nibble(n, dtype_stored(e->type), expr_load(m, to, at, to->ndim),
		      expr_cast(m, dtype_of(DT_I32), which));
}

static const struct expr *
load(struct nibbles *n, const struct expr *e, const struct expr *const *index)
{
	const struct buffer *to = in_bytes(n, e->u.buffer);

	return is_packed(n, e->u.buffer) && to != e->u.buffer
		       ? unpacked(n, e, to, index)
		       : expr_load(n->module, to, index, e->n_args);
}

/* Computes an operation whose type has fewer than 8 bits on bytes. */
static const struct expr *
computed(struct nibbles *n, const struct expr *e,
	 const struct expr *const *args)
{
	struct dtype t = dtype_stored(e->type);
	const struct expr *v;

	switch (e->kind) {
	case EXPR_INT:
		return expr_int(n->module, t, e->u.ival);
	case EXPR_CAST:
		return cast(n, e->type, e->args[0], args[0]);
	case EXPR_CALL:
		return call(n, e, args);
	default:
		v = expr_rebuild(n->module, e, args);
		break;
	}
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_FLOORDIV: /* -8 // -1 does not fit */
		return low_bits(n, e->type, v);
	default:
		return v;
	}
}

static const struct expr *
variable(const struct nibbles *n, const struct expr *e)
{
	for (int i = 0; i < n->vars.n; i++) {
		if (n->vars.data[i] == e->u.var) {
			return n->bytes.data[i]->expr;
		}
	}
	return e;
}

/* Rebuilds the operation e, of 8 bits or more, on args: its operands, of which
 * some became bytes with the same values. */
static const struct expr *
rebuilt(struct nibbles *n, const struct expr *e, const struct expr *const *args)
{
	return e->kind == EXPR_CALL && e->u.intrin == INTRIN_REINTERPRET &&
			       dtype_is_int(e->type) &&
			       dtype_is_int(args[0]->type)
		       ? expr_cast(n->module, e->type, args[0])
		       : expr_rebuild(n->module, e, args);
}

static const struct expr *
rewritten(struct nibbles *n, const struct expr *e)
{
	const struct memo_entry *known = memo_get(&n->done, e);
	const struct expr **args, *result = e;
	bool changed = false;

	if (known != NULL) {
		return known->value;
	}
	args = arena_exprs(&n->module->arena, e->n_args + 1);
	for (int i = 0; i < e->n_args; i++) {
		args[i] = rewritten(n, e->args[i]);
		changed |= args[i] != e->args[i];
	}
	if (e->kind == EXPR_VAR) {
		result = variable(n, e);
	} else if (e->kind == EXPR_LOAD) {
		result = load(n, e, args);
	} else if (is_short(e->type)) {
		result = computed(n, e, args);
	} else if (changed) {
		result = rebuilt(n, e, args);
	}
	if (result->kind == EXPR_CALL && intrin_is_address(result->u.intrin) &&
	    result->args[0]->kind != EXPR_LOAD) {
		n->failed = true;
		func_error(n->func, DIAG_BAD_PROGRAM,
			   "the address of an element of %s, a constant that "
			   "has two elements in a byte; read it by its index",
			   e->args[0]->u.buffer->name);
	}
	memo_put(&n->done, e, result);
	return result;
}

/* -- statements -- */

static void
rewrite_var(struct nibbles *n, struct var **slot)
{
	struct var *v = *slot, *to;

	if (is_short(v->type)) {
		to = var_new(n->module, v->name, dtype_stored(v->type));
		map_var(n, v, to);
		stmt_write(n->func, slot, &to, sizeof(to));
	}
}

static void
rewrite_stmt(struct nibbles *n, struct stmt *s)
{
	struct func *f = n->func;

	n->at = s;
	memo_init(&n->done);
	for (int i = 0; i < s->n_args && !n->failed; i++) {
		if (s->args[i] != NULL) {
			stmt_set_arg(f, s, i, rewritten(n, s->args[i]));
		}
	}
	memo_release(&n->done);
	if (s->kind == STMT_FOR) {
		rewrite_var(n, &s->u.loop.var);
	} else if (s->kind == STMT_LET) {
		rewrite_var(n, &s->u.var);
	} else if (s->kind == STMT_STORE || s->kind == STMT_ALLOC) {
		const struct buffer *to = in_bytes(n, s->u.buffer);

		if (to != s->u.buffer) {
			stmt_write(f, &s->u.buffer, &to, sizeof(to));
		}
	}
}

static void
rewrite_params(struct nibbles *n)
{
	for (int i = 0; i < n->func->params.n; i++) {
		struct param *p = &n->func->params.data[i], new = *p;

		if (p->buffer != NULL) {
			new.buffer = in_bytes(n, p->buffer);
			new.var = new.buffer->data;
		} else if (is_short(p->var->type)) {
			new.var = var_new(n->module, p->var->name,
					  dtype_stored(p->var->type));
			map_var(n, p->var, new.var);
		} else {
			continue;
		}
		stmt_write(n->func, p, &new, sizeof new);
	}
}

bool
lower_nibbles(struct func *f)
{
	struct nibbles n = { .func = f,
			     .module = f->module,
			     .packed = note_text(func_note(f, "packed")) };
	struct stmt_iter it = stmt_each(f->body);
	struct stmt *s;

	if (!has_short(f)) {
		return true;
	}
	rewrite_params(&n);
	while (!n.failed && (s = stmt_next(&it)) != NULL) {
		rewrite_stmt(&n, s);
	}
	func_set_note(f, "packed", NULL);
	return !n.failed;
}
