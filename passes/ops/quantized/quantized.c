/* SPDX-License-Identifier: Apache-2.0 */
/* tirc's own operators between integers, made by the passes `integers`,
 * `requantize` and `tables`: the requantization from 32 bits to 8 (Requantize,
 * MultiplyShift), sums and products of two 8-bit tensors, and look-up tables.
 * Sums of products in 32 bits are in conv.c, matmul.c and pool.c. Requantize
 * rounds in one of these ways:
 *
 *	nearest  y = clamp(round((x + offset) * scale)) + zero, the product in
 *	         double, rounded once, half to even, as ONNX defines
 *	fixed    the same with a multiplier of 31 bits and a power of two,
 *	         rounded twice, as TFLite's reference kernels do
 *	average  y = x / count, half away from zero: TFLite's average
 *
 * The result is clamped to `low` and `high`, values of y. A factor is one
 * number, or one for each index along `axis`. */
#include "define.h"

/* Checks that the attributes with these names fit in 32 bits; false after a
 * diagnostic. Passes make valid nodes, but an edited partition may contain
 * invalid ones. */
static bool
check_ints(struct infer *c, const struct node *n, const char *const *names,
	   int count)
{
	for (int i = 0; i < count; i++) {
		int64_t v = node_attr_int(n, names[i], 0);

		if (v < INT32_MIN || v > INT32_MAX) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "the attribute '%s' must fit 32 "
					   "bits",
					   names[i]);
		}
	}
	return true;
}

/* The range of exponents of fixed-point numbers that the intrinsic scale_fixed
 * accepts. */
enum { EXPONENT_LEAST = -31, EXPONENT_MOST = 31 };

static bool
check_exponents(struct infer *c, const struct node *n, const char *const *names,
		int count)
{
	for (int i = 0; i < count; i++) {
		int64_t v = node_attr_int(n, names[i], 0);

		if (v < EXPONENT_LEAST || v > EXPONENT_MOST) {
			return infer_error(c, DIAG_BAD_ATTRIBUTE,
					   "the attribute '%s' must be from %d "
					   "to %d",
					   names[i], EXPONENT_LEAST,
					   EXPONENT_MOST);
		}
	}
	return true;
}

/* Sets *t to the result type of a requantization; false after a diagnostic. */
static bool
result_type(struct infer *c, const struct node *n, struct dtype *t)
{
	static const char *const names[] = { "zero", "low", "high", "offset" };

	if (!dtype_from_onnx(node_attr_int(n, "to", 3), t) ||
	    !dtype_is_int(*t)) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "the attribute 'to' is not the number of "
				   "an integer type; give one");
	}
	return check_ints(c, n, names, 4);
}

/* Checks that input i is one number of the type, or one for each index along
 * `axis`; false after a diagnostic. */
static bool
check_factor(struct infer *c, const struct node *n, int i, enum dtype_kind kind)
{
	const struct tensor *x = n->inputs[0], *t = node_input(n, i);
	int64_t axis = node_attr_int(n, "axis", 1);

	if (!t || t->type.kind != kind) {
		return infer_error(c, DIAG_BAD_TYPE, "input %d must be %s", i,
				   dtype_name(dtype_of(kind)));
	}
	if (t->ndim != 0 && (t->ndim != 1 || axis < 0 || axis >= x->ndim ||
			     !dims_equal(c, t->shape[0], x->shape[axis]))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input %d must have one number, or one "
				   "for each index along 'axis'",
				   i);
	}
	return true;
}

static bool
check_rounding(struct infer *c, const struct node *n)
{
	const char *rounding = node_attr_string(n, "rounding", "nearest");
	int64_t count = node_attr_int(n, "count", 1);

	if (strcmp(rounding, "nearest") == 0) {
		return check_factor(c, n, 1, DT_F64);
	}
	if (strcmp(rounding, "fixed") == 0) {
		return check_factor(c, n, 1, DT_I32) &&
		       check_factor(c, n, 2, DT_I32) &&
		       infer_numbers(c, n, 2, "exponents", EXPONENT_LEAST,
				     EXPONENT_MOST + 1);
	}
	return (count > 0 && count <= INT32_MAX) ||
	       infer_error(c, DIAG_BAD_ATTRIBUTE,
			   "count is %lld; it must be above 0",
			   (long long)count);
}

bool
infer_requantize(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct dtype t;

	if (!result_type(c, n, &t) || !check_rounding(c, n)) {
		return false;
	}
	infer_set(c, n->outputs[0], t, x->ndim, x->shape);
	return true;
}

/* The factor (input i) for the output element at an index. */
static const struct expr *
factor(struct define *c, const struct node *n, int i,
       struct te_tensor *const *in, const struct expr *const *index)
{
	const struct expr *literal = define_literal(c, n, i);
	int64_t axis = node_attr_int(n, "axis", 1);

	if (literal) {
		return literal;
	}
	return in[i]->buffer->ndim == 0
		       ? te_at(c->module, in[i], NULL, 0)
		       : te_at(c->module, in[i], &index[axis], 1);
}

static const struct expr *
clamp(struct define *c, const struct expr *e, int64_t low, int64_t high)
{
	return expr_min(c->module,
			expr_max(c->module, e, like(c, e, (double)low)),
			like(c, e, (double)high));
}

/* e plus the node's zero point, clamped to the attributes low and high, in y's
 * type. */
static const struct expr *
add_zero(struct define *c, const struct node *n, const struct expr *e)
{
	struct module *m = c->module;
	int64_t zero = node_attr_int(n, "zero", 0);

	e = clamp(c, e, node_attr_int(n, "low", -128) - zero,
		  node_attr_int(n, "high", 127) - zero);
	e = expr_add(m, e, like(c, e, (double)zero));
	return expr_cast(m, n->outputs[0]->type, e);
}

static const struct expr *
average(struct define *c, const struct expr *e, int64_t count)
{
	struct module *m = c->module;
	const struct expr *half = like(c, e, (double)(count / 2));
	const struct expr *up = expr_add(m, e, half);
	const struct expr *down = expr_sub(m, e, half);

	e = expr_select(m, expr_lt(m, like(c, e, 0), e), up, down);
	return expr_div(m, e, like(c, e, (double)count));
}

bool
define_requantize(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const char *rounding = node_attr_string(n, "rounding", "nearest");
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *e;

	e = expr_cast(m, dtype_of(DT_I32), te_at(m, in[0], index, y->ndim));
	e = expr_add(m, e, like(c, e, (double)node_attr_int(n, "offset", 0)));
	if (strcmp(rounding, "average") == 0) {
		e = average(c, e, node_attr_int(n, "count", 1));
	} else if (strcmp(rounding, "nearest") == 0) {
		const struct expr *args[2] = { e, factor(c, n, 1, in, index) };

		e = expr_call(m, INTRIN_SCALE_NEAREST, e->type, args, 2);
	} else {
		const struct expr *args[3] = { e, factor(c, n, 1, in, index),
					       factor(c, n, 2, in, index) };

		e = expr_call(m, INTRIN_SCALE_FIXED, e->type, args, 3);
	}
	e = add_zero(c, n, e);
	out[0] = define_stage(c, "requantize", "broadcast", y->ndim, axes, e);
	return true;
}

/* ---- requantization by one product of integers ----
 *
 *	y = clamp((high (x * 2^left * multiplier) + addend) >> right)
 *
 * high is the high word of the 64-bit product; the shift is toward minus
 * infinity. The addend includes half a step and the zero point. If x < 0, the
 * input `negative`, if present, is added to the sum before the shift. With the
 * attribute `even`, 1 is added to this sum, too, if high >> right is odd. The
 * pass `requantize` replaces Requantize by this node if both give the same y
 * for all possible x. */

static bool
check_shift(struct infer *c, const struct node *n, const char *name)
{
	int64_t v = node_attr_int(n, name, 0);

	return (v >= 0 && v <= 30) ||
	       infer_error(c, DIAG_BAD_ATTRIBUTE,
			   "the attribute '%s' must be from 0 to 30", name);
}

/* (e + addend) >> right. If e < 0, `negative` is added to e (nothing if it is
 * NULL); with `even`, 1 is added if e >> right is odd. */
static const struct expr *
shift_right(struct define *c, const struct node *n, const struct expr *e,
	    const struct expr *is_negative, const struct expr *addend,
	    const struct expr *negative)
{
	struct module *m = c->module;
	const struct expr *zero = like(c, e, 0), *sum = expr_add(m, e, addend);
	const struct expr *right = like(c, e,
					(double)node_attr_int(n, "right", 0));

	if (negative) {
		sum = expr_add(m, sum,
			       expr_select(m, is_negative, negative, zero));
	}
	if (node_attr_int(n, "even", 0)) {
		e = expr_call2(m, INTRIN_SHR, e, right);
		sum = expr_add(m, sum,
			       expr_call2(m, INTRIN_BITAND, e, like(c, e, 1)));
	}
	return expr_call2(m, INTRIN_SHR, sum, right);
}

bool
infer_multiply_shift(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	struct dtype t;

	if (!check_shift(c, n, "left") || !check_shift(c, n, "right") ||
	    !result_type(c, n, &t) || !check_factor(c, n, 1, DT_I32) ||
	    !check_factor(c, n, 2, DT_I32) ||
	    (node_input(n, 3) && !check_factor(c, n, 3, DT_I32))) {
		return false;
	}
	infer_set(c, n->outputs[0], t, x->ndim, x->shape);
	return true;
}

bool
define_multiply_shift(struct define *c, const struct node *n,
		      struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *x, *e;

	x = expr_cast(m, dtype_of(DT_I32), te_at(m, in[0], index, y->ndim));
	e = expr_call2(m, INTRIN_SHL, x,
		       like(c, x, (double)node_attr_int(n, "left", 0)));
	e = expr_call2(m, INTRIN_MUL_HIGH, e, factor(c, n, 1, in, index));
	e = shift_right(c, n, e, expr_lt(m, x, like(c, x, 0)),
			factor(c, n, 2, in, index),
			node_input(n, 3) ? factor(c, n, 3, in, index) : NULL);
	e = clamp(c, e, node_attr_int(n, "low", -128),
		  node_attr_int(n, "high", 127));
	out[0] = define_stage(c, "requantize", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}

/* ---- functions of one byte ---- */

/* tirc.Table: the output has the shape of input 0 and the type of input 1,
 * which has an element for each number of input 0's type, from the lowest. */
bool
infer_table(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *table = n->inputs[1];

	if (dtype_bits(x->type) > 8) {
		return infer_error(c, DIAG_BAD_TYPE,
				   "input 0 is %s; it must be an integer of "
				   "at most 8 bits",
				   dtype_name(x->type));
	}
	if (!infer_form(c, n, 1, TYPES_INTEGER, 1, 1)) {
		return false;
	}
	if (!expr_is_value(table->shape[0], 1 << dtype_bits(x->type))) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "input 1 must have %d elements",
				   1 << dtype_bits(x->type));
	}
	infer_set(c, n->outputs[0], table->type, x->ndim, x->shape);
	return true;
}

bool
define_table(struct define *c, const struct node *n,
	     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr *e;

	e = te_at(m, in[0], axes_exprs(c, axes, y->ndim), y->ndim);
	e = expr_cast(m, dtype_of(DT_I32), e);
	if (dtype_class(x->type) == DTC_INT) {
		e = expr_add(m, e, like(c, e, 1 << (dtype_bits(x->type) - 1)));
	}
	out[0] = define_stage(c, "table", "broadcast", y->ndim, axes,
			      te_at(m, in[1], &e, 1));
	return true;
}

/* ---- TFLite's Add and Mul ---- */

bool
infer_fixed_binary(struct infer *c, struct node *n)
{
	const struct tensor *const in[2] = { n->inputs[0], n->inputs[1] };
	const struct expr **shape;
	static const char *const names[] = {
		"a_zero",       "b_zero",     "a_multiplier", "a_exponent",
		"b_multiplier", "b_exponent", "y_multiplier", "y_exponent",
		"a_factor",     "b_factor",   "constant",     "addend",
		"negative",
	};
	static const char *const exponents[] = { "a_exponent", "b_exponent",
						 "y_exponent" };
	struct dtype t;
	int ndim;

	if (!result_type(c, n, &t) || !check_ints(c, n, names, 13) ||
	    !check_exponents(c, n, exponents, 3) ||
	    !check_shift(c, n, "right") ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 0, INT32_MAX) ||
	    !infer_broadcast(c, in, 2, &ndim, &shape)) {
		return false;
	}
	infer_set(c, n->outputs[0], t, ndim, shape);
	return true;
}

/* e times the fixed-point number of the attributes WHICH_multiplier and
 * WHICH_exponent. */
static const struct expr *
scaled(struct define *c, const struct node *n, const struct expr *e,
       const char *which)
{
	struct arena *a = &c->module->arena;
	const struct expr *args[3] = {
		e,
		like(c, e,
		     (double)node_attr_int(n,
					   arena_printf(a, "%s_multiplier",
							which),
					   0)),
		like(c, e,
		     (double)node_attr_int(n,
					   arena_printf(a, "%s_exponent",
							which),
					   0))
	};

	return expr_call(c->module, INTRIN_SCALE_FIXED, e->type, args, 3);
}

/* Input i minus its zero point, in 32 bits. */
static const struct expr *
operand(struct define *c, const struct node *n, int i,
	struct te_tensor *const *in, const struct expr *const *index)
{
	static const char *const zeros[] = { "a_zero", "b_zero" };
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	const struct expr *e = define_literal(c, n, i);

	if (!e) {
		e = define_broadcast(c, in[i], index, y->shape, y->ndim);
	}
	e = expr_cast(m, dtype_of(DT_I32), e);
	return expr_sub(m, e,
			like(c, e, (double)node_attr_int(n, zeros[i], 0)));
}

bool
define_fixed_add(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim);
	const struct expr *a = operand(c, n, 0, in, index);
	const struct expr *b = operand(c, n, 1, in, index), *one;

	/* The sum is formed with 20 additional fraction bits, as in TFLite, to
	 * keep the precision of the scaled inputs. */
	one = like(c, a, 1 << 20);
	a = scaled(c, n, expr_mul(m, a, one), "a");
	b = scaled(c, n, expr_mul(m, b, one), "b");
	a = add_zero(c, n, scaled(c, n, expr_add(m, a, b), "y"));
	out[0] = define_stage(c, "add", "broadcast", y->ndim, axes, a);
	return true;
}

bool
define_fixed_mul(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *e;

	e = expr_mul(m, operand(c, n, 0, in, index),
		     operand(c, n, 1, in, index));
	e = add_zero(c, n, scaled(c, n, e, "y"));
	out[0] = define_stage(c, "mul", "broadcast", y->ndim, axes, e);
	return true;
}

/* ---- Add by one sum of products ----
 *
 *	z = a * a_factor + b * b_factor + constant
 *	y = clamp((z + addend) >> right)
 *
 * as in MultiplyShift, but `negative` is an attribute. The pass `requantize`
 * makes this node if it equals the original sum for all a and b. */

static const struct expr *
scaled_by(struct define *c, const struct node *n, const char *attribute,
	  const struct expr *e)
{
	return expr_mul(c->module, e,
			like(c, e, (double)node_attr_int(n, attribute, 0)));
}

bool
define_add_shift(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *z, *e;
	int64_t negative = node_attr_int(n, "negative", 0);

	z = scaled_by(c, n, "a_factor", operand(c, n, 0, in, index));
	z = expr_add(m, z,
		     scaled_by(c, n, "b_factor", operand(c, n, 1, in, index)));
	z = expr_add(m, z, like(c, z, (double)node_attr_int(n, "constant", 0)));
	e = shift_right(c, n, z, expr_lt(m, z, like(c, z, 0)),
			like(c, z, (double)node_attr_int(n, "addend", 0)),
			negative != 0 ? like(c, z, (double)negative) : NULL);
	e = clamp(c, e, node_attr_int(n, "low", -128),
		  node_attr_int(n, "high", 127));
	out[0] = define_stage(c, "add", "broadcast", y->ndim, axes,
			      expr_cast(m, y->type, e));
	return true;
}
