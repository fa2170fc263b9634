/* SPDX-License-Identifier: Apache-2.0 */
/* RotaryEmbedding: pairs of elements of each head are rotated by an angle that
 * depends on the position of the token.
 *
 *	before	y = RotaryEmbedding(x, cos, sin)   # x: [b, h, s, 2 * n]
 *	after	a, b = the first and the second half of x, or its even and its
 *		odd elements
 *		y = Concat(a * cos - b * sin, a * sin + b * cos) */
#include "compose_attention.h"

/* The rows of a cos or sin table at the positions, [b][s][n], as
 * [b][1][s][n]. */
static struct tensor *
rows_at(struct compose *c, const char *what, struct tensor *cache,
	struct tensor *positions)
{
	if (positions) {
		compose_set_int(c, "axis", 0);
		cache = compose_2(c, what, "Gather", cache, positions);
	}
	return compose_unsqueeze(c, arena_printf(&c->imp->tmp, "%s_rows", what),
				 cache, cache->ndim == 3 ? 1 : 0);
}

static struct tensor *
rotated(struct compose *c, const char *what, const char *op_type,
	struct tensor *a, struct tensor *by_a, struct tensor *b,
	struct tensor *by_b)
{
	struct tensor *first = compose_2(c, "first", "Mul", a, by_a);

	return compose_2(c, what, op_type, first,
			 compose_2(c, "second", "Mul", b, by_b));
}

/* Rotates pairs of elements that are `half` apart: x is [b][heads][s][2 *
 * half]. */
static struct tensor *
rotate_halves(struct compose *c, struct tensor *x, int64_t half,
	      struct tensor *cos, struct tensor *sin)
{
	const struct expr *zero = expr_index(c->m, 0);
	const struct expr *middle = expr_index(c->m, half);
	struct tensor *a = compose_slice(c, "a", x, -1, zero, middle);
	struct tensor *b = compose_slice(c, "b", x, -1, middle,
					 expr_index(c->m, 2 * half));
	struct tensor *real = rotated(c, "real", "Sub", a, cos, b, sin);

	return compose_concat(c, "rotated", -1, real,
			      rotated(c, "imag", "Add", a, sin, b, cos));
}

/* Rotates pairs of neighbouring elements: the last dimension as [n][2]. */
static struct tensor *
rotate_pairs(struct compose *c, struct tensor *x, int64_t half,
	     struct tensor *cos, struct tensor *sin)
{
	const struct expr *shape[] = { x->shape[0], x->shape[1], x->shape[2],
				       expr_index(c->m, half),
				       expr_index(c->m, 2) };
	const struct expr *flat[] = { x->shape[0], x->shape[1], x->shape[2],
				      expr_index(c->m, 2 * half) };
	const struct expr *zero = expr_index(c->m, 0);
	const struct expr *one = expr_index(c->m, 1);
	struct tensor *pairs = compose_reshape(c, "pairs", x, 5, shape);
	struct tensor *a = compose_slice(c, "even", pairs, -1, zero, one);
	struct tensor *b = compose_slice(c, "odd", pairs, -1, one, NULL);
	struct tensor *real;

	cos = compose_unsqueeze(c, "cos_pairs", cos, -1);
	sin = compose_unsqueeze(c, "sin_pairs", sin, -1);
	real = rotated(c, "real", "Sub", a, cos, b, sin);
	pairs = compose_concat(c, "turned", -1, real,
			       rotated(c, "imag", "Add", a, sin, b, cos));
	return compose_reshape(c, "rotated", pairs, 4, flat);
}

static bool
check_caches(struct compose *c, const struct rotation *r, int64_t half)
{
	for (int i = 0; i < 2; i++) {
		const struct tensor *t = i == 0 ? r->cos : r->sin;

		if (t->ndim != (r->positions ? 2 : 3) ||
		    !expr_is_value(t->shape[t->ndim - 1], half)) {
			return compose_error(
				c, DIAG_BAD_SHAPE,
				"'%s' must have %d dimensions, the last of "
				"%lld elements; correct its shape",
				t->name, r->positions ? 2 : 3, (long long)half);
		}
	}
	return true;
}

struct tensor *
rotate(struct compose *c, const struct rotation *r, struct tensor *x)
{
	struct tensor *cos, *sin, *done, *whole = x;
	int64_t size, turned;

	if (!compose_known_dim(c, x, 3, &size)) {
		return c->stand_in;
	}
	turned = r->turned > 0 ? r->turned : size;
	if (turned > size || turned % 2 != 0) {
		compose_error(c, DIAG_BAD_ATTRIBUTE,
			      "it rotates %lld of %lld elements; correct the "
			      "model",
			      (long long)turned, (long long)size);
		return c->stand_in;
	}
	if (!check_caches(c, r, turned / 2)) {
		return c->stand_in;
	}
	cos = rows_at(c, "cos", r->cos, r->positions);
	sin = rows_at(c, "sin", r->sin, r->positions);
	if (turned < size) {
		x = compose_slice(c, "part", x, -1, expr_index(c->m, 0),
				  expr_index(c->m, turned));
	}
	done = r->interleaved ? rotate_pairs(c, x, turned / 2, cos, sin)
			      : rotate_halves(c, x, turned / 2, cos, sin);
	if (turned < size) {
		done = compose_concat(c, "whole", -1, done,
				      compose_slice(c, "rest", whole, -1,
						    expr_index(c->m, turned),
						    NULL));
	}
	return done;
}

bool
compose_rotary(struct compose *c)
{
	const struct node *n = c->node;
	struct tensor *x = compose_input(c, 0);
	struct rotation r = {
		.cos = compose_input(c, 1),
		.sin = compose_input(c, 2),
		.positions = compose_input(c, 3),
		.interleaved = node_attr_int(n, "interleaved", 0) != 0,
		.turned = node_attr_int(n, "rotary_embedding_dim", 0),
	};
	bool flat = x->ndim == 3;

	if (x->ndim != 3 && x->ndim != 4) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "'%s' has %d dimensions; 3 or 4 are "
				     "needed",
				     x->name, x->ndim);
	}
	if (flat && !attention_split_heads(c, "heads", &x,
					   node_attr_int(n, "num_heads", 0))) {
		return false;
	}
	x = rotate(c, &r, x);
	compose_result(c, 0, flat ? attention_join_heads(c, x) : x);
	return true;
}
