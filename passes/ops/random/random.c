/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.Random: 64 random bits for each element of a shape, as two words. The
 * generator is Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D.
 * E. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, 2011. It is
 * counter-based: the words of an element depend only on its number, on `run`
 * and on two keys, so that elements can be computed in any order.
 *
 *	c0 = element, c1 = 0, c2 = run mod 2^32, c3 = run / 2^32
 *	for 10 rounds:
 *		p = 0xD2511F53 c0, q = 0xCD9E8D57 c2		# of 64 bits
 *		c0 = q / 2^32 ^ c1 ^ k0, c1 = q mod 2^32
 *		c2 = p / 2^32 ^ c3 ^ k1, c3 = p mod 2^32
 *		k0 += 0x9E3779B9, k1 += 0xBB67AE85
 *	first = c0, second = c1
 *
 * Inputs: the sizes of the shape; run, one int64. */
#include "dims.h"
#include "steps.h"

enum { ROUNDS = 10 };

bool
infer_random(struct infer *c, struct node *n)
{
	const struct tensor *run = n->inputs[1];
	const struct expr *const *shape;
	int64_t elems;
	int count;

	if (!input_elems(c->module, n, 0, &shape, &count)) {
		return infer_needs_constant(c, n, 0);
	}
	if (run->type.kind != DT_I64 || run->ndim != 1 ||
	    !tensor_const_elems(run, &elems) || elems != 1) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the number of the run must be one int64; "
				   "correct the model");
	}
	for (int k = 0; k < 2; k++) {
		infer_set(c, n->outputs[k], dtype_of(DT_U32), count, shape);
	}
	return true;
}

struct generator {
	struct steps s;
	struct module *m;
	const struct buffer *counter[4], *key[2];
};

static const struct expr *
low_word(struct module *m, const struct expr *e)
{
	return expr_cast(m, dtype_of(DT_U32), e);
}

static const struct expr *
high_word(struct module *m, const struct expr *e)
{
	return low_word(m,
			expr_call2(m, INTRIN_SHR, e, expr_int(m, e->type, 32)));
}

static const struct expr *
word(struct module *m, int64_t v)
{
	return expr_int(m, dtype_of(DT_U32), v);
}

/* The 64-bit product of counter i and a number. */
static const struct expr *
product(struct generator *g, struct step_names *names, const char *name, int i,
	int64_t by)
{
	struct dtype wide = dtype_of(DT_U64);

	return step_name(names, name,
			 expr_mul(g->m,
				  expr_cast(g->m, wide,
					    step_get(&g->s, g->counter[i])),
				  expr_int(g->m, wide, by)));
}

/* Computes counters i and i + 1 from a product. */
static struct stmt *
mix(struct generator *g, int i, const struct expr *from)
{
	struct steps *s = &g->s;
	const struct expr *e = expr_call2(g->m, INTRIN_BITXOR,
					  high_word(g->m, from),
					  step_get(s, g->counter[i + 1]));

	e = expr_call2(g->m, INTRIN_BITXOR, e, step_get(s, g->key[i / 2]));
	return step_seq(s, 2, step_set(s, g->counter[i], e),
			step_set(s, g->counter[i + 1], low_word(g->m, from)),
			NULL, NULL);
}

static struct stmt *
next_key(struct generator *g, int i, int64_t by)
{
	return step_set(&g->s, g->key[i],
			expr_add(g->m, step_get(&g->s, g->key[i]),
				 word(g->m, by)));
}

static struct stmt *
rounds(struct generator *g)
{
	struct step_names names = { .s = &g->s };
	struct var *v = var_new(g->m, "round", dtype_of(DT_I32));
	const struct expr *p = product(g, &names, "p", 0, 0xD2511F53);
	const struct expr *q = product(g, &names, "q", 2, 0xCD9E8D57);
	struct stmt *one = step_seq(&g->s, 4, mix(g, 0, q), mix(g, 2, p),
				    next_key(g, 0, 0x9E3779B9),
				    next_key(g, 1, 0xBB67AE85));

	return step_for(&g->s, v, expr_i32(g->m, ROUNDS),
			step_named(&names, one));
}

/* The number of the element at the axes in row-major order. */
static const struct expr *
element_number(struct module *m, const struct tensor *y, struct iter_var *axes)
{
	const struct expr *e = word(m, 0);

	for (int d = 0; d < y->ndim; d++) {
		e = expr_add(m, expr_mul(m, e, low_word(m, y->shape[d])),
			     low_word(m, axes[d].var->expr));
	}
	return e;
}

static struct stmt *
start(struct generator *g, const struct node *n, const struct expr *element,
      const struct te_tensor *run_of)
{
	struct steps *s = &g->s;
	struct module *m = g->m;
	const struct expr *zero = expr_i32(m, 0);
	const struct expr *run = expr_cast(m, dtype_of(DT_U64),
					   te_at(m, run_of, &zero, 1));
	struct stmt *counters, *keys;

	counters = step_seq(s, 4, step_set(s, g->counter[0], element),
			    step_set(s, g->counter[1], word(m, 0)),
			    step_set(s, g->counter[2], low_word(m, run)),
			    step_set(s, g->counter[3], high_word(m, run)));
	keys = step_seq(s, 2,
			step_set(s, g->key[0],
				 word(m, node_attr_int(n, "seed", 0))),
			step_set(s, g->key[1],
				 word(m, node_attr_int(n, "stream", 0))),
			NULL, NULL);
	return step_seq(s, 2, counters, keys, NULL, NULL);
}

bool
define_random(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "first", "second" };
	static const char *const locals[] = {
		"c0", "c1", "c2", "c3", "k0", "k1"
	};
	const struct tensor *y = n->outputs[0];
	struct dtype types[] = { y->type, y->type };
	int ndims[] = { y->ndim, y->ndim };
	const struct expr *const *shapes[] = { y->shape, y->shape };
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = arena_exprs(&c->module->arena, y->ndim + 1);
	struct te_tensor *run[] = { in[1] };
	struct generator g = { .m = c->module };
	struct stmt *body, *store[2];

	g.s = steps_begin(c, "random", "random", names, types, ndims, shapes, 2,
			  run, 1, out);
	for (int d = 0; d < y->ndim; d++) {
		at[d] = axes[d].var->expr;
	}
	for (int i = 0; i < 6; i++) {
		*(i < 4 ? &g.counter[i]
			: &g.key[i - 4]) = step_local(&g.s, locals[i], y->type);
	}
	for (int k = 0; k < 2; k++) {
		store[k] = stmt_store(g.s.f, g.s.out[k]->buffer,
				      step_get(&g.s, g.counter[k]), at,
				      y->ndim);
	}
	body = step_seq(&g.s, 4,
			start(&g, n, element_number(c->module, y, axes), in[1]),
			rounds(&g), store[0], store[1]);
	for (int i = 0; i < 6; i++) {
		body = step_alloc(&g.s, i < 4 ? g.counter[i] : g.key[i - 4],
				  body);
	}
	steps_end(&g.s, axes, y->ndim, body);
	return true;
}
