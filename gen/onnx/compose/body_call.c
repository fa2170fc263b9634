/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of expressions in the texts of compositions (body_eval.c lists
 * them). */
#include "body_value.h"

#include <math.h>

#include "ops.h"

static struct body_value
call_range(struct body_frame *f, const struct body_value *in, int n)
{
	struct body_value *items;
	int64_t from = 0, to;

	if (!body_int(f, &in[n - 1], &to) ||
	    (n > 1 && !body_int(f, &in[0], &from))) {
		return none();
	}
	if (from < -BODY_LIST_MOST || to - from > BODY_LIST_MOST) {
		return body_no_value(f);
	}
	items = body_items(f, to > from ? (int)(to - from) : 0);
	for (int64_t i = from; i < to; i++) {
		items[i - from] = integer(f, i);
	}
	return list(items, to > from ? (int)(to - from) : 0);
}

/* The larger one of two or more sizes or numbers. */
static struct body_value
call_max(struct body_frame *f, const struct body_value *in, int n)
{
	struct body_value best = in[0];
	double x, y;
	int64_t v;

	for (int i = 1; i < n && !f->c->failed; i++) {
		bool sizes = best.kind == BODY_INT && in[i].kind == BODY_INT;

		if (sizes && !(expr_is_int(best.size, &v) &&
			       expr_is_int(in[i].size, &v))) {
			best = size(expr_max(f->c->m, best.size, in[i].size));
		} else if (body_real(f, &best, &x) &&
			   body_real(f, &in[i], &y) && y > x) {
			best = in[i];
		}
	}
	return best;
}

static struct body_value
call_product(struct body_frame *f, const struct body_value *in)
{
	const struct expr *all = expr_i32(f->c->m, 1);
	const struct expr **sizes = body_sizes(f, in);

	for (int i = 0; i < in->n; i++) {
		all = expr_mul(f->c->m, all, sizes[i]);
	}
	return size(all);
}

/* The sizes in a list of integers, or None. */
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

/* x.shape[d], which must be a number. */
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

/* The names, with the least number of arguments. */
static const struct {
	const char *name;
	int least;
} functions[] = {
	{ "dtype", 1 },   { "elements", 1 }, { "fixed", 1 }, { "known", 2 },
	{ "len", 1 },     { "like", 2 },     { "max", 1 },   { "range", 1 },
	{ "product", 1 }, { "sqrt", 1 },
};

bool
body_is_function(const char *name, int n)
{
	struct dtype t;

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (strcmp(functions[i].name, name) == 0) {
			return n >= functions[i].least;
		}
	}
	return dtype_from_name(name, &t) && n == 1;
}

struct body_value
body_call(struct body_frame *f, const char *name, const struct body_value *in,
	  int n)
{
	struct dtype t;
	int64_t i;
	double v;

	if (strcmp(name, "max") == 0) {
		return call_max(f, in, n);
	}
	if (strcmp(name, "range") == 0) {
		return call_range(f, in, n);
	}
	if (strcmp(name, "elements") == 0) {
		return call_elements(f, in);
	}
	if (strcmp(name, "known") == 0) {
		return call_known(f, in);
	}
	if (strcmp(name, "len") == 0) {
		return integer(f, in->kind == BODY_LIST ? in->n : 0);
	}
	if (strcmp(name, "product") == 0) {
		return call_product(f, in);
	}
	if (strcmp(name, "fixed") == 0) {
		return truth(in->kind == BODY_INT && expr_is_int(in->size, &i));
	}
	if (strcmp(name, "sqrt") == 0) {
		return body_real(f, in, &v) ? number(sqrt(v)) : none();
	}
	if (strcmp(name, "dtype") == 0) {
		return body_int(f, in, &i) && dtype_from_onnx(i, &t)
			       ? type_value(t)
			       : none();
	}
	if (strcmp(name, "like") == 0) {
		const struct tensor *x = body_needed_tensor(f, in);

		return x ? body_typed(f, x->type, &in[1]) : none();
	}
	return dtype_from_name(name, &t) ? body_typed(f, t, in)
					 : body_no_value(f);
}
