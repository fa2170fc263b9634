/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of expressions in the texts of compositions (body_eval.c lists
 * them). */
#include "body_value.h"

#include <math.h>

#include "ops.h"

static struct body_value
integers(struct body_frame *f, int64_t from, int64_t to)
{
	struct body_value *items;
	int64_t count = 0;

	if (to > from && (__builtin_sub_overflow(to, from, &count) ||
			  count > BODY_LIST_MOST)) {
		return body_long_list(f);
	}
	items = body_items(f, (int)count);
	for (int64_t i = 0; i < count; i++) {
		items[i] = integer(f, from + i);
	}
	return list(items, (int)count);
}

/* range(to) */
static struct body_value
call_range_to(struct body_frame *f, const struct body_value *in)
{
	int64_t to;

	return body_int(f, in, &to) ? integers(f, 0, to) : none();
}

/* range(from, to) */
static struct body_value
call_range(struct body_frame *f, const struct body_value *in)
{
	int64_t from, to;

	return body_int(f, &in[0], &from) && body_int(f, &in[1], &to)
		       ? integers(f, from, to)
		       : none();
}

/* The larger one of two sizes or numbers. */
static struct body_value
call_max(struct body_frame *f, const struct body_value *in)
{
	if (body_symbolic(&in[0], &in[1])) {
		return size(expr_max(f->c->m, in[0].size, in[1].size));
	}
	return in[body_compare(f, PY_OP_GT, &in[1], &in[0])];
}

static struct body_value
call_product(struct body_frame *f, const struct body_value *in)
{
	struct body_value all = integer(f, 1);

	for (int i = 0; i < in->n && !f->c->failed; i++) {
		all = body_binary(f, PY_OP_MUL, &all, &in->items[i]);
	}
	return all;
}

/* elements(x): the elements of the integer tensor x as a list of sizes; None if
 * x is not a tensor or its elements are not known. */
static struct body_value
call_elements(struct body_frame *f, const struct body_value *in)
{
	struct tensor *t = in->tensor;
	const struct node reader = { .inputs = &t, .n_inputs = 1 };
	const struct expr *const *sizes;
	struct body_value *items;
	int count;

	if (in->kind != BODY_TENSOR ||
	    !input_elems(f->c->m, &reader, 0, &sizes, &count)) {
		return none();
	}
	items = body_items(f, count);
	for (int i = 0; i < count; i++) {
		items[i] = size(sizes[i]);
	}
	return list(items, count);
}

/* known(x, d): the size x.shape[d], if it is known as a number; else reports a
 * diagnostic. */
static struct body_value
call_known(struct body_frame *f, const struct body_value *in)
{
	const struct tensor *t = body_needed_tensor(f, &in[0]);
	int64_t d;

	return t && body_int(f, &in[1], &d) && d >= 0 && d < ONNX_MAX_RANK &&
			       compose_known_dim(f->c, t, (int)d, &d)
		       ? integer(f, d)
		       : none();
}

static struct body_value
call_len(struct body_frame *f, const struct body_value *in)
{
	return integer(f, in->kind == BODY_LIST ? in->n : 0);
}

static struct body_value
call_fixed(struct body_frame *f, const struct body_value *in)
{
	int64_t i;

	(void)f;
	return truth(in->kind == BODY_INT && expr_is_int(in->size, &i));
}

static struct body_value
call_sqrt(struct body_frame *f, const struct body_value *in)
{
	double v;

	return body_real(f, in, &v) ? number(sqrt(v)) : none();
}

static struct body_value
call_dtype(struct body_frame *f, const struct body_value *in)
{
	struct dtype t;
	int64_t i;

	return body_int(f, in, &i) && dtype_from_onnx(i, &t) ? type_value(t)
							     : none();
}

static struct body_value
call_like(struct body_frame *f, const struct body_value *in)
{
	const struct tensor *x = body_needed_tensor(f, in);

	return x ? body_typed(f, x->type, &in[1]) : none();
}

/* onnx(t): ONNX's number of the type t, or of the type with this name */
static struct body_value
call_onnx(struct body_frame *f, const struct body_value *in)
{
	struct dtype t = in->type;

	if (in->kind != BODY_TYPE &&
	    (in->kind != BODY_STRING || !dtype_from_name(in->text, &t))) {
		return body_no_value(f);
	}
	return integer(f, dtype_onnx_number(t));
}

static const struct function {
	const char *name;
	int n; /* arguments */
	struct body_value (*fn)(struct body_frame *f,
				const struct body_value *in);
} functions[] = {
	{ "both_ends", 2, body_both_ends },
	{ "dtype", 1, call_dtype },
	{ "elements", 1, call_elements },
	{ "filled", 2, body_filled },
	{ "fixed", 1, call_fixed },
	{ "known", 2, call_known },
	{ "len", 1, call_len },
	{ "like", 2, call_like },
	{ "listed", 1, body_listed },
	{ "max", 2, call_max },
	{ "onnx", 1, call_onnx },
	{ "product", 1, call_product },
	{ "range", 1, call_range_to },
	{ "range", 2, call_range },
	{ "reshaped", 2, body_reshaped },
	{ "sqrt", 1, call_sqrt },
};

static const struct function *
find_function(const char *name, int n)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		const struct function *fn = &functions[i];

		if (fn->n == n && strcmp(fn->name, name) == 0) {
			return fn;
		}
	}
	return NULL;
}

bool
body_is_function(const char *name, int n)
{
	struct dtype t;

	return find_function(name, n) || (dtype_from_name(name, &t) && n == 1);
}

struct body_value
body_call(struct body_frame *f, const char *name, const struct body_value *in,
	  int n)
{
	const struct function *fn = find_function(name, n);
	struct dtype t;

	if (fn) {
		return fn->fn(f, in);
	}
	return n == 1 && dtype_from_name(name, &t) ? body_typed(f, t, in)
						   : body_no_value(f);
}
