/* SPDX-License-Identifier: Apache-2.0 */
/* Stable sorting by the bytes of the keys, from the lowest byte on (D. Knuth,
 * The Art of Computer Programming 3, 5.2.5, algorithm R):
 *
 *	for byte in bytes of a key:
 *		for d in 256: place[d] = 0
 *		for p in size: place[digit of p] += 1
 *		next = 0
 *		for d in 256: place[d], next = next, next + place[d]
 *		for p in size:
 *			the element goes to place[digit] of the other array
 *			place[digit] += 1
 *
 * The time does not depend on the values, and elements are not compared. */
#include "radix_sort.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* The number of bytes of a key is even, so that the result is in array 0. */
struct dtype
sort_key_type(struct dtype t)
{
	int bits = dtype_bits(accumulator_type(t));

	return dtype_of(bits <= 16 ? DT_U16 : bits <= 32 ? DT_U32 : DT_U64);
}

/* The first: the largest integer of type t; the second: the one with only the
 * highest bit. */
static const struct expr *
all_bits(struct module *m, struct dtype t)
{
	return expr_sub(m, expr_int(m, t, 0), expr_int(m, t, 1));
}

static const struct expr *
sign_bit(struct module *m, struct dtype t)
{
	int64_t rest = (int64_t)(UINT64_MAX >> (65 - dtype_bits(t)));

	return expr_add(m, expr_int(m, t, rest), expr_int(m, t, 1));
}

/* The bits of a float as an integer that has the same order: for a negative
 * number the complement, else with the sign bit set. Both zeroes become 0 with
 * the sign bit set, NaN the largest integer. */
static const struct expr *
key_of_float(struct step_names *names, const struct expr *x)
{
	struct module *m = names->s->m;
	struct dtype t = sort_key_type(x->type);
	const struct expr *zero = expr_float(m, x->type, 0), *bits, *e;
	const struct expr *all = all_bits(m, t);

	bits = expr_call(m, INTRIN_REINTERPRET, t, &x, 1);
	bits = step_name(names, "bits", bits);
	e = expr_select(m, expr_eq(m, x, zero), expr_int(m, t, 0), bits);
	e = expr_select(m, expr_lt(m, x, zero), expr_sub(m, all, bits),
			expr_add(m, sign_bit(m, t), e));
	return expr_select(m, expr_call1(m, INTRIN_ISNAN, x), all, e);
}

const struct expr *
sort_key(const struct radix_sort *o, struct step_names *names,
	 const struct expr *x)
{
	struct module *m = o->s->m;
	struct dtype t = sort_key_type(x->type);
	const struct expr *key;

	x = step_name(names, "value",
		      expr_cast(m, accumulator_type(x->type), x));
	if (dtype_is_float(x->type)) {
		key = key_of_float(names, x);
	} else {
		key = expr_cast(m, t, x);
		if (dtype_is_signed(x->type)) {
			key = expr_add(m, key, sign_bit(m, t));
		}
	}
	return step_name(names, "key",
			 o->largest ? expr_sub(m, all_bits(m, t), key) : key);
}

const struct expr *
sort_last_key(const struct radix_sort *o)
{
	return all_bits(o->s->m, o->keys->buffer->type);
}

struct sort_item
sort_item(const struct radix_sort *o, const struct expr *half,
	  const struct expr *p)
{
	struct module *m = o->s->m;

	o->at[o->rank - 2] = half;
	o->at[o->rank - 1] = p;
	return (struct sort_item){ te_at(m, o->keys, o->at, o->rank),
				   te_at(m, o->positions, o->at, o->rank) };
}

struct stmt *
sort_put(const struct radix_sort *o, const struct expr *half,
	 const struct expr *p, struct sort_item item)
{
	struct func *f = o->s->f;
	struct stmt *list[2];

	o->at[o->rank - 2] = half;
	o->at[o->rank - 1] = p;
	list[0] = stmt_store(f, o->keys->buffer, item.key, o->at, o->rank);
	list[1] = stmt_store(f, o->positions->buffer, item.position, o->at,
			     o->rank);
	return stmt_seq(f, list, 2);
}

/* The state of one pass: the sort by one byte of the keys. */
struct digit_sort {
	const struct radix_sort *o;
	const struct buffer *places, *next;
	/* size: the number of elements; from, to: which of the two arrays is
	 * read and which written, 0 or 1 */
	const struct expr *size, *from, *to;
	const struct expr *shift;
	struct dtype index;
};

static const struct expr *
place(const struct digit_sort *g, const struct expr *digit)
{
	return expr_load(g->o->s->m, g->places, &digit, 1);
}

static struct stmt *
set_place(const struct digit_sort *g, const struct expr *digit,
	  const struct expr *value)
{
	return stmt_store(g->o->s->f, g->places, value, &digit, 1);
}

static struct var *
digit_var(const struct digit_sort *g)
{
	return var_new(g->o->s->m, "digit", g->index);
}

/* The body, with the variable `digit` for the byte of element p's key. */
static struct stmt *
with_digit(const struct digit_sort *g, struct var *digit, const struct expr *p,
	   struct stmt *body)
{
	struct steps *s = g->o->s;
	struct module *m = s->m;
	const struct expr *key = sort_item(g->o, g->from, p).key;

	key = expr_call2(m, INTRIN_SHR, key, g->shift);
	key = expr_call2(m, INTRIN_BITAND, key,
			 expr_int(m, key->type, DIGITS - 1));
	return stmt_let(s->f, digit, expr_cast(m, g->index, key), body);
}

/* place[digit] += 1 */
static struct stmt *
count_one(const struct digit_sort *g, const struct expr *digit)
{
	struct module *m = g->o->s->m;

	return set_place(g, digit,
			 expr_add(m, place(g, digit),
				  expr_int(m, g->places->type, 1)));
}

/* Computes the first place of each digit, from the number of elements that have
 * it. */
static struct stmt *
find_places(const struct digit_sort *g)
{
	struct steps *s = g->o->s;
	struct module *m = s->m;
	const struct expr *digits = expr_int(m, g->index, DIGITS);
	const struct expr *zero = expr_int(m, g->places->type, 0);
	struct var *clear = digit_var(g), *count = digit_var(g);
	struct var *sum = digit_var(g), *p = var_new(m, "p", g->index);
	struct var *n = var_new(m, "n", g->places->type);
	struct stmt *add;

	add = step_seq(s, 2, set_place(g, sum->expr, step_get(s, g->next)),
		       step_set(s, g->next,
				expr_add(m, step_get(s, g->next), n->expr)),
		       NULL, NULL);
	add = stmt_let(s->f, n, place(g, sum->expr), add);
	add = step_seq(s, 2, step_set(s, g->next, zero),
		       step_for(s, sum, digits, add), NULL, NULL);
	return step_seq(s, 3,
			step_for(s, clear, digits,
				 set_place(g, clear->expr, zero)),
			step_for(s, p, g->size,
				 with_digit(g, count, p->expr,
					    count_one(g, count->expr))),
			step_alloc(s, g->next, add), NULL);
}

/* Moves the elements to their places in the other array. */
static struct stmt *
move(const struct digit_sort *g)
{
	const struct radix_sort *o = g->o;
	struct steps *s = o->s;
	struct module *m = s->m;
	struct var *p = var_new(m, "p", g->index), *digit = digit_var(g);
	struct var *at = var_new(m, "at", g->index);
	struct stmt *body;

	body = step_seq(s, 2,
			sort_put(o, g->to, at->expr,
				 sort_item(o, g->from, p->expr)),
			count_one(g, digit->expr), NULL, NULL);
	body = stmt_let(s->f, at, expr_cast(m, g->index, place(g, digit->expr)),
			body);
	return step_for(s, p, g->size, with_digit(g, digit, p->expr, body));
}

struct stmt *
sort_steps(const struct radix_sort *o, const struct expr *size)
{
	struct steps *s = o->s;
	struct module *m = s->m;
	struct dtype i = size->type, key = o->keys->buffer->type;
	struct var *byte = var_new(m, "byte", i), *from = var_new(m, "from", i);
	struct var *to = var_new(m, "to", i);
	const struct expr *digits = expr_int(m, i, DIGITS);
	struct buffer_spec places = { .name = "place",
				      .type = dtype_of(DT_U32),
				      .ndim = 1,
				      .shape = &digits,
				      .scope = "local" };
	struct digit_sort g = {
		.o = o,
		.places = buffer_new(m, &places),
		.next = step_local(s, "next", places.type),
		.size = size,
		.from = from->expr,
		.to = to->expr,
		.shift = expr_cast(m, key,
				   expr_mul(m, byte->expr,
					    expr_int(m, i, DIGIT_BITS))),
		.index = i,
	};
	struct stmt *body;

	body = step_seq(s, 2, find_places(&g), move(&g), NULL, NULL);
	body = stmt_let(s->f, to, expr_sub(m, expr_int(m, i, 1), from->expr),
			body);
	body = stmt_let(s->f, from,
			expr_floormod(m, byte->expr, expr_int(m, i, 2)), body);
	body = step_for(s, byte, expr_int(m, i, dtype_bits(key) / DIGIT_BITS),
			body);
	return stmt_alloc(s->f, g.places, body);
}
