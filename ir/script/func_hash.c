/* SPDX-License-Identifier: Apache-2.0 */
/* A hash that is the same for functions that funcs_equal considers equal: it
 * covers kinds, types, literals and extents, in order, but not names, variables
 * and ids. */
#include "iterate.h"
#include "script.h"
#include "secret_hash.h"

struct hasher {
	uint64_t at;
	bool but_literals; /* the parameter of func_hash */
	bool loose; /* literals do not count in the expression that is hashed */
	/* The hashes of expressions that are computed so far: known[0] with
	 * their literals, known[1] without. */
	struct memo known[2];
};

static void
put(struct hasher *x, uint64_t v)
{
	x->at = secret_mix(x->at, v);
}

static uint64_t
of_dtype(struct dtype t)
{
	return (uint64_t)t.kind << 16 | t.lanes;
}

static uint64_t
of_number(double v)
{
	uint64_t bits;

	if (v != v) {
		return 1; /* all NaNs are equal */
	}
	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static uint64_t
of_expr(struct hasher *x, const struct expr *e)
{
	const struct memo_entry *known = memo_get(&x->known[x->loose], e);
	uint64_t h = secret_mix(e->kind, of_dtype(e->type));
	bool loose = x->loose;

	if (known != NULL) {
		return (uint64_t)(uintptr_t)known->value;
	}
	switch (e->kind) {
	case EXPR_INT:
		h = secret_mix(h, x->loose ? 0 : (uint64_t)e->u.ival);
		break;
	case EXPR_FLOAT:
		h = secret_mix(h, x->loose ? 0 : of_number(e->u.fval));
		break;
	case EXPR_LOAD:
		h = secret_mix(h, of_dtype(e->u.buffer->type));
		break;
	case EXPR_CALL:
		h = secret_mix(h, (uint64_t)e->u.intrin);
		break;
	default:
		break;
	}
	/* in the indices of a LOAD, literals count, as in funcs_equal */
	x->loose = loose && e->kind != EXPR_LOAD;
	for (int i = 0; i < e->n_args; i++) {
		h = secret_mix(h, of_expr(x, e->args[i]));
	}
	x->loose = loose;
	h = (uintptr_t)h;
	memo_put(&x->known[loose], e, (const void *)(uintptr_t)h);
	return h;
}

static void
put_buffer(struct hasher *x, const struct buffer *b)
{
	put(x, of_dtype(b->type));
	put(x, (uint64_t)b->ndim);
	put(x, (uint64_t)b->align_bytes);
	for (int d = 0; d < b->ndim; d++) {
		put(x, of_expr(x, b->shape[d]));
	}
}

static void
put_stmt(struct hasher *x, const struct stmt *s)
{
	put(x, (uint64_t)s->kind);
	put(x, (uint64_t)s->n_args);
	for (int i = 0; i < s->n_args; i++) {
		/* literals are left out only in values of STORE and LET, as in
		 * funcs_equal: sizes of loops always count */
		x->loose = x->but_literals && i == 0 &&
			   (s->kind == STMT_STORE || s->kind == STMT_LET);
		put(x, s->args[i] != NULL ? of_expr(x, s->args[i]) : 0);
		x->loose = false;
	}
	if (s->kind == STMT_FOR) {
		put(x, (uint64_t)s->u.loop.kind);
	} else if (s->kind == STMT_ALLOC) {
		put_buffer(x, s->u.buffer);
	}
}

uint64_t
func_hash(const struct func *f, bool but_literals)
{
	struct hasher x = {
		.at = (uint64_t)f->params.n,
		.but_literals = but_literals,
	};
	const struct stmt *s;

	memo_init(&x.known[0]);
	memo_init(&x.known[1]);
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		put(&x, of_dtype(p->var->type));
		if (p->buffer != NULL) {
			put_buffer(&x, p->buffer);
		}
	}
	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		put_stmt(&x, s);
	}
	memo_release(&x.known[0]);
	memo_release(&x.known[1]);
	return x.at;
}
