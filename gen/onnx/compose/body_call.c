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

static struct body_value
extreme(struct body_frame *f, bool largest, const struct body_value *in, int n)
{
	struct body_value best = in[0];
	double x, y;

	for (int i = 1; i < n && !f->c->failed; i++) {
		const struct body_value *v = &in[i];
		int64_t a, b;

		if (best.kind == BODY_INT && v->kind == BODY_INT &&
		    !(expr_is_int(best.size, &a) && expr_is_int(v->size, &b))) {
			best = size(
				largest ? expr_max(f->c->m, best.size, v->size)
					: expr_min(f->c->m, best.size,
						   v->size));
		} else if (body_real(f, &best, &x) && body_real(f, v, &y)) {
			best = (largest ? y > x : y < x) ? *v : best;
		}
	}
	return best;
}

static struct body_value
any_or_all(bool any, const struct body_value *of)
{
	for (int i = 0; i < of->n; i++) {
		if (body_is_true(&of->items[i]) == any) {
			return truth(any);
		}
	}
	return truth(!any);
}

static struct body_value
call_min(struct body_frame *f, const struct body_value *in, int n)
{
	return extreme(f, false, in, n);
}

static struct body_value
call_max(struct body_frame *f, const struct body_value *in, int n)
{
	return extreme(f, true, in, n);
}

static struct body_value
call_any(struct body_frame *f, const struct body_value *in, int n)
{
	(void)f;
	(void)n;
	return any_or_all(true, in);
}

static struct body_value
call_all(struct body_frame *f, const struct body_value *in, int n)
{
	(void)f;
	(void)n;
	return any_or_all(false, in);
}

static struct body_value
call_len(struct body_frame *f, const struct body_value *in, int n)
{
	(void)n;
	return integer(f, in->kind == BODY_LIST ? in->n : 0);
}

static struct body_value
call_sqrt(struct body_frame *f, const struct body_value *in, int n)
{
	double v;

	(void)n;
	return body_real(f, in, &v) ? number(sqrt(v)) : none();
}

static struct body_value
call_dtype(struct body_frame *f, const struct body_value *in, int n)
{
	struct dtype t;
	int64_t i;

	(void)n;
	return body_int(f, in, &i) && dtype_from_onnx(i, &t) ? type_value(t)
							     : none();
}

static struct body_value
call_value(struct body_frame *f, const struct body_value *in, int n)
{
	struct tensor *t = in->tensor;
	const struct node reader = { .inputs = &t, .n_inputs = n };
	double v;

	(void)f;
	return in->kind == BODY_TENSOR && input_scalar(&reader, 0, &v)
		       ? number(v)
		       : none();
}

static struct body_value
call_like(struct body_frame *f, const struct body_value *in, int n)
{
	const struct tensor *t = body_needed_tensor(f, in);

	return t && n == 2 ? body_typed(f, t->type, &in[1]) : none();
}

static struct body_value
call_known(struct body_frame *f, const struct body_value *in, int n)
{
	const struct tensor *t = body_needed_tensor(f, in);
	int64_t d;

	return t && n == 2 && body_int(f, &in[1], &d) && d > -ONNX_MAX_RANK &&
			       d < ONNX_MAX_RANK &&
			       compose_known_dim(f->c, t, (int)d, &d)
		       ? integer(f, d)
		       : none();
}

static struct body_value
call_fixed(struct body_frame *f, const struct body_value *in, int n)
{
	int64_t v;

	(void)f;
	(void)n;
	return truth(in->kind == BODY_INT && expr_is_int(in->size, &v));
}

static struct body_value
call_elements(struct body_frame *f, const struct body_value *in, int n)
{
	struct tensor *t = in->tensor;
	const struct node reader = { .inputs = &t, .n_inputs = n };
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

static const struct function {
	const char *name;
	struct body_value (*call)(struct body_frame *f,
				  const struct body_value *in, int n);
} functions[] = {
	{ "all", call_all },     { "any", call_any },
	{ "dtype", call_dtype }, { "elements", call_elements },
	{ "fixed", call_fixed }, { "known", call_known },
	{ "len", call_len },     { "like", call_like },
	{ "max", call_max },     { "min", call_min },
	{ "range", call_range }, { "sqrt", call_sqrt },
	{ "value", call_value },
};

static const struct function *
find(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		if (strcmp(functions[i].name, name) == 0) {
			return &functions[i];
		}
	}
	return NULL;
}

bool
body_is_function(const char *name)
{
	struct dtype t;

	return find(name) || dtype_from_name(name, &t);
}

struct body_value
body_call(struct body_frame *f, const char *name, const struct body_value *in,
	  int n)
{
	const struct function *to = find(name);
	struct dtype t;

	return to                          ? to->call(f, in, n)
	       : dtype_from_name(name, &t) ? body_typed(f, t, in)
					   : body_no_value(f);
}
