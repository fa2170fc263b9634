/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as formulas of other sizes, as exporters write them and as --dim takes
 * them: "past + 1", "2*n", "floor(n/2 - 1/2) + 1", "((s0 - 1)//2) + 1", "Max(1,
 * s0)".
 *
 *	sum	term, then + or - term …
 *	term	factor, then *, /, // or % factor …
 *	factor	a number, a name, -factor, (sum), name(sum, …)
 *
 * Inside of floor() and ceil(), values may be fractions: an expression divided
 * by a constant. */
#include <ctype.h>
#include <stdlib.h>

#include "import_inputs.h"

struct reading {
	struct module *m;
	const char *at;
	formula_name *name;
	void *ctx;
	int depth;
	bool failed;
};

/* The fraction over / under, under > 0. */
struct ratio {
	const struct expr *over;
	int64_t under;
};

enum {
	MOST_NESTED = 64,
	MOST_UNDER = 1 << 20,
	MOST_ARGUMENTS = 8,
	MOST_NAME = 16
};

static struct ratio read_sum(struct reading *r);

static struct ratio
whole(const struct expr *e)
{
	return (struct ratio){ e, 1 };
}

static struct ratio
fail(struct reading *r)
{
	r->failed = true;
	return whole(expr_index(r->m, 1));
}

/* Skips spaces. If the next characters are `text`, skips these, too, and
 * returns true; else returns false. */
static bool
next_is(struct reading *r, const char *text)
{
	size_t n = strlen(text);

	while (*r->at == ' ') {
		r->at++;
	}
	if (strncmp(r->at, text, n) != 0) {
		return false;
	}
	r->at += n;
	return true;
}

/* The expression `a op b`: a sum, difference or product of sizes. A constant
 * result that does not fit in 32 bits is an error: the builders of expressions
 * would wrap it. */
static const struct expr *
compute(struct reading *r, enum expr_kind op, const struct expr *a,
	const struct expr *b)
{
	int64_t x, y, v;

	if (expr_is_int(a, &x) && expr_is_int(b, &y)) {
		v = op == EXPR_MUL ? x * y : op == EXPR_SUB ? x - y : x + y;
		r->failed |= v < INT32_MIN || v > INT32_MAX;
	}
	if (r->failed) {
		return expr_index(r->m, 0);
	}
	return op == EXPR_MUL   ? expr_mul(r->m, a, b)
	       : op == EXPR_SUB ? expr_sub(r->m, a, b)
				: expr_add(r->m, a, b);
}

static const struct expr *
scaled(struct reading *r, const struct expr *e, int64_t by)
{
	return compute(r, EXPR_MUL, e, expr_index(r->m, by));
}

static struct ratio
ratio_of(struct reading *r, const struct expr *over, int64_t under)
{
	if (r->failed || under > MOST_UNDER) {
		return fail(r);
	}
	return (struct ratio){ over, under };
}

static struct ratio
add(struct reading *r, struct ratio a, struct ratio b, bool subtract)
{
	return ratio_of(r,
			compute(r, subtract ? EXPR_SUB : EXPR_ADD,
				scaled(r, a.over, b.under),
				scaled(r, b.over, a.under)),
			a.under * b.under);
}

static struct ratio
multiply(struct reading *r, struct ratio a, struct ratio b)
{
	return ratio_of(r, compute(r, EXPR_MUL, a.over, b.over),
			a.under * b.under);
}

static struct ratio
divide(struct reading *r, struct ratio a, struct ratio b)
{
	int64_t by;

	if (!expr_is_int(b.over, &by) || by < 1 || by > MOST_UNDER) {
		return fail(r);
	}
	return ratio_of(r, scaled(r, a.over, b.under), a.under * by);
}

static struct ratio
round_down(struct reading *r, struct ratio a)
{
	return whole(a.under == 1 ? a.over
				  : expr_floordiv(r->m, a.over,
						  expr_index(r->m, a.under)));
}

static struct ratio
round_up(struct reading *r, struct ratio a)
{
	a.over = compute(r, EXPR_ADD, a.over, expr_index(r->m, a.under - 1));
	return round_down(r, a);
}

/* The remainder a - b * floor(a / b). */
static struct ratio
modulo(struct reading *r, struct ratio a, struct ratio b)
{
	struct ratio times = round_down(r, divide(r, a, b));

	return add(r, a, multiply(r, times, b), true);
}

static struct ratio
extreme(struct reading *r, struct ratio a, struct ratio b, bool least)
{
	const struct expr *x = scaled(r, a.over, b.under);
	const struct expr *y = scaled(r, b.over, a.under);

	return ratio_of(r, least ? expr_min(r->m, x, y) : expr_max(r->m, x, y),
			a.under * b.under);
}

static struct ratio
read_call(struct reading *r, const char *name)
{
	struct ratio a[MOST_ARGUMENTS];
	int n = 0;

	do {
		a[n++] = read_sum(r);
	} while (n < MOST_ARGUMENTS && next_is(r, ","));
	if (!next_is(r, ")")) {
		return fail(r);
	}
	if (strcmp(name, "floor") == 0 && n == 1) {
		return round_down(r, a[0]);
	}
	if ((strcmp(name, "ceil") == 0 || strcmp(name, "ceiling") == 0) &&
	    n == 1) {
		return round_up(r, a[0]);
	}
	if (strcmp(name, "floordiv") == 0 && n == 2) {
		return round_down(r, divide(r, a[0], a[1]));
	}
	if (strcmp(name, "mod") == 0 && n == 2) {
		return modulo(r, a[0], a[1]);
	}
	if (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) {
		return fail(r);
	}
	for (int i = 1; i < n; i++) {
		a[0] = extreme(r, a[0], a[i], name[1] == 'i');
	}
	return a[0];
}

static struct ratio
read_name(struct reading *r)
{
	const char *start = r->at;
	char low[MOST_NAME] = "";
	size_t n = 0;

	while (isalnum((unsigned char)start[n]) || start[n] == '_' ||
	       start[n] == '.') {
		n++;
	}
	r->at += n;
	if (!next_is(r, "(")) {
		const struct expr *value = r->name(r->ctx, start, n);

		return value != NULL ? whole(value) : fail(r);
	}
	if (n >= sizeof low) {
		return fail(r);
	}
	for (size_t i = 0; i < n; i++) {
		low[i] = (char)tolower((unsigned char)start[i]);
	}
	return read_call(r, low);
}

static struct ratio
read_factor(struct reading *r)
{
	struct ratio x;

	if (next_is(r, "-")) {
		x = ++r->depth > MOST_NESTED ? fail(r) : read_factor(r);
		r->depth--;
		return add(r, whole(expr_index(r->m, 0)), x, true);
	}
	if (next_is(r, "(")) {
		x = read_sum(r);
		return next_is(r, ")") ? x : fail(r);
	}
	if (isdigit((unsigned char)*r->at)) {
		char *end;
		long long v = strtoll(r->at, &end, 10);

		r->at = end;
		return v <= INT32_MAX ? whole(expr_index(r->m, v)) : fail(r);
	}
	if (isalpha((unsigned char)*r->at) || *r->at == '_') {
		return read_name(r);
	}
	return fail(r);
}

static struct ratio
read_term(struct reading *r)
{
	struct ratio x = read_factor(r);

	while (!r->failed) {
		if (next_is(r, "*")) {
			x = multiply(r, x, read_factor(r));
		} else if (next_is(r, "//")) {
			x = round_down(r, divide(r, x, read_factor(r)));
		} else if (next_is(r, "/")) {
			x = divide(r, x, read_factor(r));
		} else if (next_is(r, "%")) {
			x = modulo(r, x, read_factor(r));
		} else {
			return x;
		}
	}
	return x;
}

static struct ratio
read_sum(struct reading *r)
{
	struct ratio x;

	if (++r->depth > MOST_NESTED) {
		r->depth--;
		return fail(r);
	}
	x = read_term(r);
	while (!r->failed) {
		if (next_is(r, "+")) {
			x = add(r, x, read_term(r), false);
		} else if (next_is(r, "-")) {
			x = add(r, x, read_term(r), true);
		} else {
			break;
		}
	}
	r->depth--;
	return x;
}

const struct expr *
formula_read(struct module *m, const char *text, formula_name *name, void *ctx)
{
	struct reading r = { .m = m, .at = text, .name = name, .ctx = ctx };
	struct ratio x = read_sum(&r);

	next_is(&r, "");
	return r.failed || *r.at != '\0' || x.under != 1 ? NULL : x.over;
}
