/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensor programs; see random_te.h. */
#include "random_maker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t
rng_next(struct rng *r)
{
	/* splitmix64 */
	uint64_t z = (r->state += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

int
rng_below(struct rng *r, int n)
{
	return (int)(rng_next(r) % (uint64_t)n);
}

int
extent_of(const struct te_tensor *t, int d)
{
	int64_t v = SYMBOLIC;

	expr_is_int(t->buffer->shape[d], &v);
	return (int)v;
}

static const struct expr *
extent_expr(struct maker *k, int extent)
{
	return extent == SYMBOLIC ? k->dim->expr : expr_i32(k->m, extent);
}

bool
is_symbolic(const struct te_tensor *t)
{
	for (int d = 0; d < t->buffer->ndim; d++) {
		if (extent_of(t, d) == SYMBOLIC) {
			return true;
		}
	}
	return false;
}

int
random_extent(struct maker *k)
{
	int max = k->options->max_extent ? k->options->max_extent : 9;

	/* Now and then longer than a strip of the executor. */
	if (!k->options->max_extent && rng_below(k->r, 12) == 0) {
		return 250 + rng_below(k->r, 300);
	}
	return 1 + rng_below(k->r, max);
}

struct dtype
random_type(struct maker *k)
{
	static const enum dtype_kind kinds[] = {
		DT_F32, DT_F32,  DT_F32, DT_F64, DT_I32, DT_I64,  DT_U8,  DT_I8,
		DT_F16, DT_BF16, DT_U16, DT_U32, DT_U64, DT_BOOL, DT_I16,
	};

	if (k->options->floats_only) {
		return dtype_of(DT_F32);
	}
	struct dtype t = dtype_of(
		kinds[rng_below(k->r, (int)(sizeof kinds / sizeof *kinds))]);
	bool half = t.kind == DT_F16 || t.kind == DT_BF16;

	return half && k->options->no_halves ? dtype_of(DT_F32) : t;
}

struct te_tensor *
add_param(struct maker *k, struct dtype t, int ndim,
	  const struct expr *const *shape, int bound)
{
	char name[16];

	snprintf(name, sizeof name, "p%d", k->n_params);
	k->params[k->n_params] = te_placeholder(k->m, name, t, ndim, shape);
	k->bound[k->n_params] = bound;
	return k->params[k->n_params++];
}

static struct te_tensor *
random_placeholder(struct maker *k)
{
	const struct expr *shape[MAX_DIMS];
	int ndim = rng_below(k->r, MAX_DIMS + 1);
	int64_t elems = 1;

	for (int d = 0; d < ndim; d++) {
		int extent = random_extent(k);

		if (elems * extent > 4000) {
			extent = 2;
		}
		elems *= extent;
		if (k->dim && rng_below(k->r, 3) == 0) {
			extent = SYMBOLIC;
		}
		shape[d] = extent_expr(k, extent);
	}
	return add_param(k, random_type(k), ndim, shape, 0);
}

struct te_tensor *
random_tensor(struct maker *k)
{
	return k->tensors[rng_below(k->r, k->n_tensors)];
}

const struct expr *
read_at(struct maker *k, struct te_tensor *t, const struct expr *const *index)
{
	bool known = false;

	for (int i = 0; i < k->n_inputs; i++) {
		known |= k->inputs[i] == t;
	}
	if (!known) {
		k->inputs[k->n_inputs++] = t;
	}
	return te_at(k->m, t, index, t->buffer->ndim);
}

const struct expr *
convert(struct maker *k, struct dtype t, const struct expr *e)
{
	return expr_cast(k->m, t, e);
}

/* Reads some tensor that broadcasts to the axes, or makes a constant. */
static const struct expr *
read_broadcast(struct maker *k, const struct iter_var *axes, int ndim,
	       const int *extent, struct dtype type)
{
	for (int tries = 0; tries < 6; tries++) {
		struct te_tensor *t = random_tensor(k);
		const struct expr *index[MAX_DIMS];
		int n = t->buffer->ndim;
		bool fits = n <= ndim;

		for (int d = 0; d < n && fits; d++) {
			int have = extent_of(t, d);
			int axis = ndim - n + d;

			fits = have == 1 || have == extent[axis];
			index[d] = have == 1 ? expr_i32(k->m, 0)
					     : axes[axis].var->expr;
		}
		if (fits) {
			return convert(k, type, read_at(k, t, index));
		}
	}
	return expr_const(k->m, type, 1 + rng_below(k->r, 3));
}

const struct expr *
random_unary(struct maker *k, const struct expr *x)
{
	static const enum intrin floats[] = {
		INTRIN_ABS,   INTRIN_FLOOR,     INTRIN_CEIL, INTRIN_TRUNC,
		INTRIN_ROUND, INTRIN_NEARBYINT, INTRIN_SQRT, INTRIN_EXP,
		INTRIN_TANH,  INTRIN_SIGMOID,   INTRIN_ERF,  INTRIN_SIN,
		INTRIN_LOG1P, INTRIN_RSQRT,
	};
	int n_floats = k->options->exact
			       ? 6
			       : (int)(sizeof floats / sizeof *floats);

	if (k->options->positive) {
		return expr_call1(k->m, INTRIN_ABS, x);
	}
	if (dtype_is_float(x->type)) {
		return expr_call1(k->m, floats[rng_below(k->r, n_floats)], x);
	}
	if (dtype_class(x->type) == DTC_BOOL) {
		return expr_not(k->m, x);
	}
	if (k->options->exact) {
		return expr_call1(k->m, INTRIN_ABS, x);
	}
	return expr_call1(k->m, rng_below(k->r, 2) ? INTRIN_ABS : INTRIN_BITNOT,
			  x);
}

static const struct expr *
random_binary(struct maker *k, const struct expr *x, const struct expr *y)
{
	static const enum expr_kind kinds[] = {
		EXPR_ADD, EXPR_SUB, EXPR_MUL,      EXPR_MIN,
		EXPR_MAX, EXPR_DIV, EXPR_FLOORMOD, EXPR_FLOORDIV,
	};
	static const enum intrin bits[] = { INTRIN_BITAND, INTRIN_BITOR,
					    INTRIN_BITXOR, INTRIN_SHL,
					    INTRIN_SHR };
	struct module *m = k->m;
	int which = rng_below(k->r, k->options->exact ? 5 : 8);

	if (k->options->positive) {
		which = kinds[which] == EXPR_SUB ? 0 : which % 5;
	}
	if (dtype_class(x->type) == DTC_BOOL) {
		return expr_binary(m, rng_below(k->r, 2) ? EXPR_AND : EXPR_OR,
				   x, y);
	}
	if (dtype_is_int(x->type)) {
		if (which >= 5) { /* never by zero */
			y = expr_max(m, y, expr_const(m, y->type, 1));
		} else if (!k->options->exact && rng_below(k->r, 4) == 0) {
			return expr_call2(m, bits[rng_below(k->r, 5)], x, y);
		}
	} else if (which >= 6) {
		which = 5;
	}
	return expr_binary(m, kinds[which], x, y);
}

/* A tree of operators over what read() gives. */
const struct expr *
random_tree(struct maker *k, const struct iter_var *axes, int ndim,
	    const int *extent, struct dtype type, int depth)
{
	const struct expr *x, *y, *c;

	if (depth == 0) {
		return read_broadcast(k, axes, ndim, extent, type);
	}
	x = random_tree(k, axes, ndim, extent, type, depth - 1);
	switch (rng_below(k->r, 8)) {
	case 0:
	case 1:
		return random_unary(k, x);
	case 2:
		y = random_tree(k, axes, ndim, extent, type, depth - 1);
		c = dtype_class(type) == DTC_BOOL ? x : expr_lt(k->m, x, y);
		return expr_select(k->m, c, y, x);
	case 3: /* by way of another type */
		if (k->options->exact || k->options->floats_only) {
			return x;
		}
		return convert(k, type, convert(k, random_type(k), x));
	default:
		y = random_tree(k, axes, ndim, extent, type, depth - 1);
		return random_binary(k, x, y);
	}
}

struct te_tensor *
finish(struct maker *k, struct iter_var *axes, int ndim,
       const struct expr *body)
{
	char name[16];
	struct te_tensor *t;

	snprintf(name, sizeof name, "t%d", k->n_stages++);
	t = te_compute(k->m, name, "random", ndim, axes, body, k->inputs,
		       k->n_inputs);
	k->tensors[k->n_tensors++] = t;
	k->n_inputs = 0;
	return t;
}

struct iter_var *
axes_of(struct maker *k, int ndim, const int *extent)
{
	const struct expr *shape[MAX_DIMS + 1];

	for (int d = 0; d < ndim; d++) {
		shape[d] = extent_expr(k, extent[d]);
	}
	return te_axes(k->m, ndim, shape, NULL);
}

/* ---- programs */

static void
make_stages(struct maker *k, int n)
{
	static void (*const stages[])(struct maker * k) = {
		make_elementwise, make_elementwise, make_elementwise,
		make_reduction,   make_reduction,   make_window,
		make_gather,      make_transpose,   make_reshape,
		make_concat,      make_matmul,      make_convolution,
		make_largest,     make_scan,
	};

	if (k->options->scans) {
		make_scan(k);
	}
	for (int i = k->options->scans; i < n; i++) {
		if (k->options->idioms && rng_below(k->r, 8) == 0) {
			(rng_below(k->r, 2) ? make_biased_sum : make_padded)(k);
			continue;
		}
		stages[rng_below(k->r, (int)(sizeof stages / sizeof *stages))](
			k);
	}
}

void
random_te(struct module *m, struct rng *r, const struct random_options *options,
	  struct random_program *out)
{
	struct maker k = { .m = m, .r = r, .options = options, .constant = -1 };
	int n_inputs = 1 + rng_below(r, 3);
	int n_stages = 1 + rng_below(r, options->max_stages
						? options->max_stages
						: 4);

	if (options->symbolic) {
		k.dim = options->dim ? options->dim
				     : var_new_dim(m, "n", 1, RANDOM_MAX_SIZE);
	}
	out->n_stages = n_stages;
	if (options->first_stages && options->first_stages < n_stages) {
		n_stages = options->first_stages;
	}
	if (options->product_size) {
		make_product(&k, n_stages - 1);
	} else {
		for (int i = 0; i < n_inputs; i++) {
			k.tensors[k.n_tensors++] = random_placeholder(&k);
		}
		make_stages(&k, n_stages);
	}
	k.params[k.n_params++] = k.tensors[k.n_tensors - 1];
	out->func = te_to_func(m, "main", k.params, k.n_params);
	out->n_params = k.n_params;
	out->output = k.n_params - 1;
	out->constant = k.constant;
	for (int i = 0; i < k.n_params; i++) {
		out->buffer[i] = k.params[i]->buffer;
		out->index_bound[i] = i < k.n_params - 1 ? k.bound[i] : 0;
	}
	out->n_args = out->func->params.n;
	out->dim = out->n_args > k.n_params ? k.dim : NULL;
	random_resize(out, 5);
}

void
random_resize(struct random_program *p, int size)
{
	p->size = size;
	for (int i = 0; i < p->n_params; i++) {
		const struct buffer *b = p->buffer[i];

		p->elems[i] = 1;
		for (int d = 0; d < b->ndim; d++) {
			int64_t extent = size;

			expr_is_int(b->shape[d], &extent);
			p->elems[i] *= extent;
		}
	}
}

/* ---- data */

static union number
random_element(struct dtype t, struct rng *r, int bound,
	       const struct random_options *options)
{
	union number n = { .i = 0 };

	if (bound > 0) {
		n.i = rng_below(r, bound);
	} else if (dtype_class(t) == DTC_BOOL) {
		n.i = rng_below(r, 2);
	} else if (dtype_is_float(t)) {
		n.f = options->exact ? rng_below(r, 7) - 3
		      : options->positive
			      ? (double)rng_below(r, 1800001) / 1e6 + 0.2
			      : (double)rng_below(r, 4000001) / 1e6 - 2;
		n = number_round(t, n);
	} else if (options->exact &&
		   !(options->product_size && dtype_bytes(t) == 1)) {
		n.i = rng_below(r, 4) - (dtype_is_signed(t) ? 1 : 0);
	} else {
		n.u = rng_next(r);
		n = number_round(t, n);
	}
	return n;
}

void
random_data(const struct random_program *p, struct rng *r,
	    const struct random_options *options, struct run_arg *args)
{
	for (int i = 0; i < p->n_params; i++) {
		struct dtype t = p->buffer[i]->type;
		size_t bytes = (size_t)(p->elems[i] * dtype_bytes(t));

		args[i] = (struct run_arg){ .data = malloc(bytes + 1) };
		memset(args[i].data, 0xFF, bytes);
		for (int64_t k = 0; k < p->elems[i] && i != p->output; k++) {
			number_store(t, args[i].data, (size_t)k,
				     random_element(t, r, p->index_bound[i],
						    options));
		}
	}
	if (p->dim) {
		args[p->n_params] = (struct run_arg){ .scalar = p->size };
	}
}

void
random_release(const struct random_program *p, struct run_arg *args)
{
	for (int i = 0; i < p->n_params; i++) {
		free(args[i].data);
	}
}

int64_t
random_difference(const struct random_program *p, const void *a, const void *b,
		  double tolerance)
{
	struct dtype t = p->buffer[p->output]->type;

	for (int64_t i = 0; i < p->elems[p->output]; i++) {
		union number x = number_load(t, a, (size_t)i);
		union number y = number_load(t, b, (size_t)i);
		bool same = x.u == y.u;

		if (dtype_is_float(t)) {
			double scale = fabs(x.f) > 1 ? fabs(x.f) : 1;

			same = x.f == y.f || (isnan(x.f) && isnan(y.f)) ||
			       fabs(x.f - y.f) <= tolerance * scale;
		}
		if (!same) {
			return i;
		}
	}
	return -1;
}
