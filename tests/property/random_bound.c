/* SPDX-License-Identifier: Apache-2.0 */
/* How large the values of a random program can get, and how many roundings
 * they have gone through: what a comparison may allow (random_te.h).
 *
 * Where nothing cancels, a value that went through k roundings has a relative
 * error of at most about k units: a sum has one more than the worse of its
 * terms, a product one more than both together, a reduction one for each of
 * its terms (Higham, Accuracy and Stability of Numerical Algorithms, ch. 3). */
#include "random_te.h"

#include <math.h>

struct size {
	double magnitude, roundings;
};

struct known {
	const struct buffer *buffer;
	struct size size;
};

/* What a LET names. */
struct named {
	const struct var *var;
	struct size size;
};

struct bounds {
	struct module *m;
	struct arena *arena;
	VEC(struct known) all;
	VEC(struct named) lets;
	const struct random_options *options;
	const struct expr *own; /* the load of what a reduction updates */
	double length;          /* terms of the reduction at hand */
	bool too_large;
};

static struct known *
entry(struct bounds *w, const struct buffer *b)
{
	struct known k = { .buffer = b };

	for (int i = 0; i < w->all.n; i++) {
		if (w->all.data[i].buffer == b) {
			return &w->all.data[i];
		}
	}
	vec_push(w->arena, &w->all, k);
	return &w->all.data[w->all.n - 1];
}

static double
type_limit(struct dtype t)
{
	return dtype_class(t) == DTC_BOOL
		       ? 1
		       : ldexp(1, t.kind == DT_U64 ? 64 : 8 * dtype_bytes(t));
}

/* What one rounding to the type is, in those of float. */
static double
rounding_of(struct dtype t)
{
	return t.kind == DT_F16 ? 0x1p13 : t.kind == DT_BF16 ? 0x1p16 : 1;
}

static struct size bound(struct bounds *w, const struct expr *e);

static struct size
bound_operator(struct bounds *w, const struct expr *e)
{
	struct size a = bound(w, e->args[0]), b = a, out;

	for (int i = 1; i < e->n_args; i++) {
		b = bound(w, e->args[i]);
		if (i + 1 < e->n_args) { /* a SELECT's, an IF's */
			a = b;
		}
	}
	out.magnitude = fmax(a.magnitude, b.magnitude);
	out.roundings = fmax(a.roundings, b.roundings);
	if (e->kind == EXPR_ADD || e->kind == EXPR_SUB) {
		out.magnitude = a.magnitude + b.magnitude;
		out.roundings += rounding_of(e->type);
	} else if (e->kind == EXPR_MUL) {
		out.magnitude = a.magnitude * b.magnitude;
		out.roundings = a.roundings + b.roundings +
				rounding_of(e->type);
	} else if (e->kind == EXPR_CAST &&
		   rounding_of(e->type) > rounding_of(e->args[0]->type)) {
		out.roundings += rounding_of(e->type);
	} else if (e->kind == EXPR_CALL) { /* ceil, bits */
		out.magnitude = a.magnitude + b.magnitude + 1;
	}
	return out;
}

static struct size
bound(struct bounds *w, const struct expr *e)
{
	struct size out = { 0, 0 };

	switch (e->kind) {
	case EXPR_INT:
		out.magnitude = fabs((double)e->u.ival);
		break;
	case EXPR_FLOAT:
		out.magnitude = fabs(e->u.fval);
		break;
	case EXPR_LOAD:
		if (e != w->own) {
			out = entry(w, e->u.buffer)->size;
		}
		break;
	case EXPR_VAR:
		out.magnitude = 4096; /* a loop or a size */
		for (int i = 0; i < w->lets.n; i++) {
			if (w->lets.data[i].var == e->u.var) {
				out = w->lets.data[i].size;
			}
		}
		break;
	default:
		if (e->n_args > 0) {
			out = bound_operator(w, e);
		}
		break;
	}
	if (!dtype_is_float(e->type)) {
		out.roundings = 0;
		out.magnitude = fmin(out.magnitude, type_limit(e->type));
	} else if (out.magnitude > (w->options->positive     ? 1e37
				    : e->type.kind == DT_F64 ? 0x1p53
							     : 0x1p24)) {
		w->too_large = true;
	}
	return out;
}

static bool
bound_store(void *ctx, struct stmt *s)
{
	struct bounds *w = ctx;
	const struct expr *value;
	struct size *of, found;

	if (s->kind == STMT_BLOCK) {
		w->length = 1;
		for (int i = 0; i < s->u.block->n_iters; i++) {
			int64_t extent = RANDOM_MAX_SIZE;

			expr_is_int(s->u.block->iters[i].extent, &extent);
			w->length *= s->u.block->iters[i].kind == ITER_REDUCE
					     ? (double)extent
					     : 1;
		}
		/* What a reduction starts at is neutral. */
		if (s->children[1]) {
			stmt_visit(s->children[0], bound_store, w);
			return false;
		}
	}
	if (s->kind == STMT_LET) {
		struct named let = { s->u.var, bound(w, s->args[0]) };

		vec_push(w->arena, &w->lets, let);
	}
	if (s->kind != STMT_STORE) {
		return true;
	}
	value = s->args[0];
	w->own = expr_load(w->m, s->u.buffer, s->args + 1, s->n_args - 1);
	found = bound(w, value);
	if (value->kind == EXPR_ADD &&
	    (value->args[0] == w->own || value->args[1] == w->own)) {
		found.magnitude *= w->length;
		found.roundings += w->length;
	}
	w->own = NULL;
	of = &entry(w, s->u.buffer)->size;
	of->magnitude = fmax(of->magnitude, found.magnitude);
	of->roundings = fmax(of->roundings, found.roundings);
	if (dtype_is_float(value->type) &&
	    of->magnitude > (w->options->positive ? 1e37 : 0x1p24)) {
		w->too_large = true;
	}
	return true;
}

double
random_roundings(const struct random_program *p,
		 const struct random_options *options)
{
	struct bounds w = { .m = p->func->module, .options = options };

	w.arena = &w.m->arena;
	for (int i = 0; i < p->n_params; i++) {
		if (i != p->output) {
			entry(&w, p->buffer[i])->size.magnitude =
				p->index_bound[i] > 0 ? p->index_bound[i]
				: dtype_is_float(p->buffer[i]->type) ? 3
				: options->product_size &&
						dtype_bytes(
							p->buffer[i]->type) == 1
					? 255
					: 4;
		}
	}
	/* A scan goes round as often as it has steps. */
	for (int i = 0; i < RANDOM_MAX_SIZE && !w.too_large; i++) {
		stmt_visit(p->func->body, bound_store, &w);
	}
	return w.too_large ? HUGE_VAL
	       : options->positive
		       ? entry(&w, p->buffer[p->output])->size.roundings
		       : 0;
}
