/* SPDX-License-Identifier: Apache-2.0 */
/* Finds accesses of a program that are outside of their arrays in every run.
 *
 * for i in range(4):
 *  B[i + 1] = A[i]         # B has 4 elements, and B[4] is stored
 *
 * An error is reported only if it is certain. An index that is a sum of
 * multiples of loop variables takes all values that the loops give it, if the
 * loops run at least once and no condition is around the access. Any other
 * index is the program's own responsibility, as in C. */
#include "index_checks.h"

#include "analyse.h"
#include "memo.h"

struct checking {
	struct module *m;
	struct func *f;
	const char *file;
	const struct stmt *at;
	struct analyser a;
	VEC(struct var *) vars; /* the variables of the enclosing loops */
	VEC(struct bounds) ranges;
	struct memo seen;
	bool ok;
};

/* If the index e surely takes its smallest and its largest value in each run,
 * sets *out to both values and returns true. */
static bool
exact_range(struct checking *c, const struct expr *e, struct bounds *out)
{
	int64_t *coeff = arena_array(&c->m->arena, int64_t, c->vars.n + 1);
	const struct expr *rest;
	int64_t first, low, high;

	/* simplify() replaces variables of LET by their values */
	e = simplify(&c->a, e);
	if (!analyse_affine(&c->a, e, c->vars.data, c->vars.n, coeff, &rest) ||
	    !expr_is_int(simplify(&c->a, rest), &first)) {
		return false;
	}
	*out = (struct bounds){ first, first };
	for (int i = 0; i < c->vars.n; i++) {
		struct bounds r = c->ranges.data[i];

		if (__builtin_mul_overflow(coeff[i], r.min, &low) ||
		    __builtin_mul_overflow(coeff[i], r.max, &high) ||
		    __builtin_add_overflow(out->min, low < high ? low : high,
					   &out->min) ||
		    __builtin_add_overflow(out->max, low < high ? high : low,
					   &out->max)) {
			return false;
		}
	}
	return true;
}

/* Does the same as exact_range() for an index that may be a vector; *out covers
 * all its lanes. */
static bool
index_range(struct checking *c, const struct expr *e, struct bounds *out)
{
	struct bounds step;
	int lanes = e->type.lanes;

	if (lanes == 1) {
		return exact_range(c, e, out);
	}
	if (e->kind != EXPR_RAMP || !exact_range(c, e->args[0], out) ||
	    !exact_range(c, e->args[1], &step) || step.min != step.max ||
	    step.min > INT32_MAX || step.min < INT32_MIN ||
	    out->min < INT64_MIN / 2 || out->max > INT64_MAX / 2) {
		return false;
	}
	if (step.min < 0) {
		out->min += step.min * (lanes - 1);
	} else {
		out->max += step.min * (lanes - 1);
	}
	return true;
}

static void
check_access(struct checking *c, const struct buffer *b,
	     const struct expr *const *index)
{
	for (int d = 0; d < b->ndim && c->ok; d++) {
		struct bounds r;
		struct strbuf text;
		int64_t size;

		if (!expr_is_int(b->shape[d], &size) ||
		    !index_range(c, index[d], &r) ||
		    (r.min >= 0 && r.max < size)) {
			continue;
		}
		strbuf_init(&text);
		expr_print(index[d], &text);
		c->ok = diag_error(
			&c->m->diags, DIAG_BAD_PROGRAM,
			(struct diag_place){ .file = c->file,
					     .line = c->at->pos.line,
					     .col = c->at->pos.col,
					     .item = c->f->name },
			"%s has %lld element%s in dimension %d, and the index "
			"%s goes from %lld to %lld there; correct the index, "
			"the loop or the shape",
			b->name, (long long)size, size == 1 ? "" : "s", d,
			text.data, (long long)r.min, (long long)r.max);
		strbuf_release(&text);
	}
}

/* Checks the loads in e that are evaluated in each run. Skips the parts that a
 * condition selects, and addresses. */
static void
check_loads(struct checking *c, const struct expr *e)
{
	int n = e->n_args;

	if (!c->ok || memo_get(&c->seen, e) != NULL) {
		return;
	}
	memo_put(&c->seen, e, e);
	if (e->kind == EXPR_LOAD) {
		check_access(c, e->u.buffer, e->args);
	} else if (e->kind == EXPR_SELECT || e->kind == EXPR_IF ||
		   e->kind == EXPR_AND || e->kind == EXPR_OR) {
		n = 1;
	} else if (e->kind == EXPR_CALL && intrin_is_address(e->u.intrin)) {
		/* an address may be that behind the last element */
		return;
	}
	for (int i = 0; i < n; i++) {
		check_loads(c, e->args[i]);
	}
}

static void check(struct checking *c, const struct stmt *s);

static void
check_loop(struct checking *c, const struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&c->a);
	int n = c->vars.n;
	int64_t min, extent;

	if (!expr_is_int(simplify(&c->a, s->args[1]), &extent)) {
		/* the loop may have no iterations, so that no access in it is
		 * certain */
		return;
	}
	if (extent <= 0) {
		return;
	}
	if (expr_is_int(simplify(&c->a, s->args[0]), &min) &&
	    min <= INT64_MAX - extent) {
		struct bounds range = { min, min + extent - 1 };

		vec_push(&c->m->arena, &c->vars, s->u.loop.var);
		vec_push(&c->m->arena, &c->ranges, range);
	}
	analyser_bind(&c->a, s->u.loop.var, s->args[0], s->args[1]);
	check(c, s->children[0]);
	c->vars.n = c->ranges.n = n;
	analyser_pop(&c->a, mark);
}

static void
check(struct checking *c, const struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(&c->a);

	if (!c->ok) {
		return;
	}
	c->at = s;
	memo_init(&c->seen);
	for (int i = 0; i < s->n_args; i++) {
		if (s->args[i] != NULL) {
			check_loads(c, s->args[i]);
		}
	}
	memo_release(&c->seen);
	if (s->kind == STMT_STORE) {
		check_access(c, s->u.buffer, s->args + 1);
	}
	switch (s->kind) {
	case STMT_FOR:
		check_loop(c, s);
		return;
	case STMT_IF:
	case STMT_WHILE:
	case STMT_BLOCK:
		return;
	case STMT_LET:
		analyser_bind_inlined(&c->a, s->u.var, s->args[0]);
		break;
	default:
		break;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] != NULL) {
			check(c, s->children[i]);
		}
	}
	analyser_pop(&c->a, mark);
}

bool
program_check_indices(struct func *f, const char *file)
{
	struct checking c = {
		.m = f->module, .f = f, .file = file, .ok = true
	};

	analyser_init(&c.a, f->module);
	check(&c, f->body);
	return c.ok;
}
