/* SPDX-License-Identifier: Apache-2.0 */
/* Value ranges of expressions; for arrays see value_range_sums.c. */
#include "iterate.h"
#include "value_range_parts.h"

struct bounds
value_range_of_type(struct dtype t)
{
	uint64_t max = dtype_max_int(t);

	return (struct bounds){ dtype_min_int(t),
				max > INT64_MAX ? INT64_MAX : (int64_t)max };
}

int64_t
value_range_magnitude(struct bounds v)
{
	if (v.min == INT64_MIN) {
		return INT64_MAX;
	}
	return -v.min > v.max ? -v.min : v.max;
}

bool
value_range_add(struct bounds a, struct bounds b, struct bounds *sum)
{
	return !__builtin_add_overflow(a.min, b.min, &sum->min) &&
	       !__builtin_add_overflow(a.max, b.max, &sum->max);
}

bool
value_range_sub(struct bounds a, struct bounds b, struct bounds *difference)
{
	return !__builtin_sub_overflow(a.min, b.max, &difference->min) &&
	       !__builtin_sub_overflow(a.max, b.min, &difference->max);
}

bool
value_range_mul(struct bounds a, struct bounds b, struct bounds *product)
{
	const int64_t x[] = { a.min, a.max }, y[] = { b.min, b.max };
	struct bounds r = { INT64_MAX, INT64_MIN };
	int64_t corner;

	for (int i = 0; i < 4; i++) {
		if (__builtin_mul_overflow(x[i / 2], y[i % 2], &corner)) {
			return false;
		}
		r = bounds_union(r, (struct bounds){ corner, corner });
	}
	*product = r;
	return true;
}

static void
find_binders(struct value_ranges *r, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		if (s->kind == STMT_FOR || s->kind == STMT_LET ||
		    s->kind == STMT_BLOCK) {
			vec_push(&r->module->arena, &r->binders, s);
		}
	}
}

void
value_ranges_init(struct value_ranges *r, const struct func *f,
		  const struct tensor_intrins *intrins)
{
	memset(r, 0, sizeof *r);
	r->module = f->module;
	r->func = f;
	r->intrins = intrins;
	find_binders(r, f->body);
}

void
value_ranges_state(struct value_ranges *r, const struct buffer *b,
		   struct bounds range)
{
	struct buffer_range known = { .data = b->data,
				      .range = range,
				      .how = RANGE_STATED };

	if (dtype_is_int(b->type) && !func_writes(r->func, b)) {
		vec_push(&r->module->arena, &r->buffers, known);
	}
}

/* -- variables -- */

/* The value of the variable v if all LETs that bind v give it the same value
 * (several LETs bind v if a statement was copied); else NULL. */
static const struct expr *
let_value(const struct value_ranges *r, const struct var *v)
{
	const struct expr *value = NULL;

	for (int i = 0; i < r->binders.n; i++) {
		const struct stmt *s = r->binders.data[i];

		if (s->kind != STMT_LET || s->u.var != v) {
			continue;
		}
		if (value != NULL && value != s->args[0]) {
			return NULL;
		}
		value = s->args[0];
	}
	return value;
}

const struct expr *
value_range_resolved(const struct value_ranges *r, const struct expr *e)
{
	while (e->kind == EXPR_VAR) {
		const struct expr *value = let_value(r, e->u.var);

		if (value == NULL) {
			break;
		}
		e = value;
	}
	return e;
}

/* The range of v in min <= v < min + extent. */
static struct bounds
range_of_domain(struct value_ranges *r, const struct var *v,
		const struct expr *min, const struct expr *extent)
{
	struct bounds first, n, last;
	bool fits;

	first = value_range_of(r, min, &fits);
	n = value_range_of(r, extent, &fits);
	if (!value_range_add(first, n, &last) || last.max == INT64_MIN) {
		return value_range_of_type(v->type);
	}
	return (struct bounds){ first.min, last.max - 1 > first.min
						   ? last.max - 1
						   : first.min };
}

/* The union of the ranges that v gets from all loops, blocks and LETs that bind
 * it. */
static struct bounds
range_of_var(struct value_ranges *r, const struct var *v)
{
	struct bounds all = value_range_of_type(v->type), found = all;
	int n = 0;
	bool fits;

	if (v->is_dim) {
		return v->min <= v->max ? (struct bounds){ v->min, v->max }
					: all;
	}
	for (int i = 0; i < r->binders.n; i++) {
		const struct stmt *s = r->binders.data[i];
		struct bounds one = all;
		bool binds = s->kind == STMT_LET && s->u.var == v;

		if (binds) {
			one = value_range_of(r, s->args[0], &fits);
		} else if (s->kind == STMT_FOR && s->u.loop.var == v) {
			binds = true;
			one = range_of_domain(r, v, s->args[0], s->args[1]);
		}
		for (int k = 0;
		     s->kind == STMT_BLOCK && k < s->u.block->n_iters; k++) {
			const struct iter_var *iter = &s->u.block->iters[k];

			if (iter->var == v) {
				binds = true;
				one = range_of_domain(r, v, iter->min,
						      iter->extent);
			}
		}
		if (binds) {
			found = n++ > 0 ? bounds_union(found, one) : one;
		}
	}
	return found;
}

/* -- expressions -- */

/* Does t have values above INT64_MAX, so that values above a.max are
 * possible? */
static bool
is_open(struct dtype t, struct bounds a)
{
	return dtype_max_int(t) > INT64_MAX && a.max == INT64_MAX;
}

static struct bounds
exact_or_type(struct dtype t, bool computed, struct bounds v, bool *fits)
{
	struct bounds all = value_range_of_type(t);

	*fits = computed && bounds_within(v, all);
	return *fits ? v : all;
}

static struct bounds
arithmetic(struct value_ranges *r, const struct expr *e, bool *fits)
{
	struct bounds a = value_range_of(r, e->args[0], fits);
	struct bounds b = value_range_of(r, e->args[1], fits), v;
	bool open = is_open(e->type, a) || is_open(e->type, b);
	bool ok = e->kind == EXPR_ADD   ? value_range_add(a, b, &v)
		  : e->kind == EXPR_SUB ? value_range_sub(a, b, &v)
					: value_range_mul(a, b, &v);

	return exact_or_type(e->type, ok && !open, v, fits);
}

static struct bounds
of_call(struct value_ranges *r, const struct expr *e, bool *fits)
{
	struct bounds all = value_range_of_type(e->type), a, v;
	int64_t amount;
	bool inner;

	if (e->u.intrin == INTRIN_LIKELY) {
		return value_range_of(r, e->args[0], fits);
	}
	if (e->u.intrin == INTRIN_MUL_HIGH) {
		*fits = true;
		return value_range_mul(value_range_of(r, e->args[0], &inner),
				       value_range_of(r, e->args[1], &inner),
				       &v)
			       ? (struct bounds){ v.min >> 32, v.max >> 32 }
			       : all;
	}
	if (e->u.intrin == INTRIN_SHR && expr_is_int(e->args[1], &amount) &&
	    amount >= 0 && amount < dtype_bits(e->type)) {
		a = value_range_of(r, e->args[0], &inner);
		*fits = true;
		if (is_open(e->type, a) && amount > 0) {
			a.max = (int64_t)(UINT64_MAX >> amount);
			return (struct bounds){ a.min >> amount, a.max };
		}
		return (struct bounds){ a.min >> amount, a.max >> amount };
	}
	if (e->u.intrin == INTRIN_BITAND) {
		for (int i = 0; i < 2; i++) {
			a = value_range_of(r, e->args[i], fits);
			if (a.min >= 0) {
				*fits = true;
				return (struct bounds){ 0, a.max };
			}
		}
	}
	*fits = true;
	return all;
}

static struct bounds
range_of(struct value_ranges *r, const struct expr *e, bool *fits)
{
	struct bounds all = value_range_of_type(e->type), a;
	int64_t divisor;
	bool inner;

	*fits = true;
	if (!dtype_is_int(e->type)) {
		return (struct bounds){ INT64_MIN, INT64_MAX };
	}
	switch (e->kind) {
	case EXPR_INT:
		return (struct bounds){ e->u.ival, e->u.ival };
	case EXPR_CAST:
		if (!dtype_is_int(e->args[0]->type)) {
			return all;
		}
		a = value_range_of(r, e->args[0], &inner);
		return bounds_within(a, all) && !is_open(e->args[0]->type, a)
			       ? a
			       : all;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		return arithmetic(r, e, fits);
	case EXPR_BROADCAST:
		return value_range_of(r, e->args[0], fits);
	case EXPR_IF:
	case EXPR_SELECT:
		return bounds_union(value_range_of(r, e->args[1], &inner),
				    value_range_of(r, e->args[2], &inner));
	case EXPR_MIN:
	case EXPR_MAX:
		return bounds_binary(e->kind,
				     value_range_of(r, e->args[0], &inner),
				     value_range_of(r, e->args[1], &inner));
	case EXPR_FLOORMOD:
		return expr_is_int(e->args[1], &divisor) && divisor > 0
			       ? (struct bounds){ 0, divisor - 1 }
			       : all;
	case EXPR_VAR:
		return range_of_var(r, e->u.var);
	case EXPR_LOAD:
		return value_range_of_buffer(r, e->u.buffer).range;
	case EXPR_CALL:
		return of_call(r, e, fits);
	default:
		return all;
	}
}

/* -- cache -- */

/* The cache slot of e, or the free slot in which e would be stored. */
static struct expr_range *
place_of(const struct value_ranges *r, const struct expr *e)
{
	size_t i = ((uintptr_t)e >> 4) * 2654435761u % r->cap_known;

	while (r->known[i].expr != NULL && r->known[i].expr != e) {
		i = i + 1 < r->cap_known ? i + 1 : 0;
	}
	return &r->known[i];
}

static void
make_room(struct value_ranges *r)
{
	struct value_ranges old = *r;

	r->cap_known = old.cap_known > 0 ? 2 * old.cap_known : 64;
	r->known = arena_array(&r->module->arena, struct expr_range,
			       r->cap_known);
	for (size_t i = 0; i < old.cap_known; i++) {
		if (old.known[i].expr != NULL) {
			*place_of(r, old.known[i].expr) = old.known[i];
		}
	}
}

struct bounds
value_range_of(struct value_ranges *r, const struct expr *e, bool *fits)
{
	struct expr_range found = { .expr = e };

	if (e->n_args == 0 && e->kind != EXPR_VAR) {
		return range_of(r, e, fits);
	}
	if (r->n_known > 0 && place_of(r, e)->expr == e) {
		found = *place_of(r, e);
		*fits = found.fits;
		return found.range;
	}
	found.range = range_of(r, e, fits);
	found.fits = *fits;
	if (2 * (r->n_known + 1) > r->cap_known) {
		make_room(r);
	}
	*place_of(r, e) = found;
	r->n_known++;
	return found.range;
}
