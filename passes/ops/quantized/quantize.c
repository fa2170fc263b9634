/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's QuantizeLinear and DequantizeLinear, between floats and integers:
 * inference and definition, per tensor, per axis and in blocks. tirc's own
 * operators between integers are in quantized.c. */
#include "define.h"

/* The scale or zero point (input i) that applies to the element at `index`:
 * there is one for the whole tensor, one for each index along the axis, or one
 * for each block of the axis. */
static const struct expr *
quant_param(struct define *c, const struct node *n, int i,
	    struct te_tensor *const *in, const struct expr *const *index)
{
	struct module *m = c->module;
	const struct expr *literal = define_literal(c, n, i), **at;
	int ndim = n->inputs[0]->ndim;
	int64_t axis = node_attr_int(n, "axis", 1);
	int64_t block = node_attr_int(n, "block_size", 0);

	if (literal) {
		return literal;
	}
	axis = axis < 0 ? axis + ndim : axis;
	if (in[i]->buffer->ndim == 0) {
		return te_at(m, in[i], NULL, 0);
	}
	if (in[i]->buffer->ndim == 1 && block == 0) {
		const struct expr *only = expr_i32(m, 0);

		return te_at(m, in[i],
			     expr_is_value(in[i]->buffer->shape[0], 1)
				     ? &only
				     : &index[axis],
			     1);
	}
	at = arena_copy(&m->arena, index, sizeof *index * (size_t)ndim);
	at[axis] = expr_floordiv(m, index[axis], expr_index(m, block));
	return te_at(m, in[i], at, ndim);
}

/* The number of blocks of a size: ceil(size / block). */
static const struct expr *
blocks_of(struct module *m, const struct expr *size, int64_t block)
{
	return dim_normal(m, expr_floordiv(m,
					   expr_add(m, size,
						    expr_index(m, block - 1)),
					   expr_index(m, block)));
}

static bool
is_single(const struct tensor *t)
{
	return t->ndim == 0 || (t->ndim == 1 && expr_is_value(t->shape[0], 1));
}

static bool
check_params(struct infer *c, const struct node *n)
{
	const struct tensor *x = n->inputs[0], *scale = n->inputs[1];
	const struct tensor *zero = node_input(n, 2);
	int64_t block = node_attr_int(n, "block_size", 0);
	int axis;

	if (!infer_form(c, n, 1, TYPES_NUMBER, 0, x->ndim > 1 ? x->ndim : 1) ||
	    !infer_form(c, n, 2, TYPES_NUMBER, 0, x->ndim > 1 ? x->ndim : 1)) {
		return false;
	}
	if (is_single(scale) && (!zero || is_single(zero))) {
		return true;
	}
	if (zero && zero->ndim != scale->ndim) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "scale and zero point have different "
				   "ranks; correct their shapes");
	}
	if (!infer_axis(c, node_attr_int(n, "axis", 1), x->ndim, &axis)) {
		return false;
	}
	if (block < 0 || (block > 0 && scale->ndim != x->ndim) ||
	    (block == 0 && scale->ndim != 1)) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "the scale has rank %d; it must be a "
				   "scalar, a vector, or, with block_size, "
				   "have the input's rank",
				   scale->ndim);
	}
	for (int d = 0; d < scale->ndim; d++) {
		const struct expr *size = block == 0 ? x->shape[axis]
					  : d != axis
						  ? x->shape[d]
						  : blocks_of(c->module,
							      x->shape[axis],
							      block);

		if (!dims_equal(c, scale->shape[d], size) ||
		    (zero && !dims_equal(c, zero->shape[d], size))) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "scale or zero point does not "
					   "match dimension %d of the input; "
					   "correct their shapes",
					   d);
		}
	}
	return true;
}

bool
infer_quantize(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *zero = node_input(n, 2);
	int64_t number = node_attr_int(n, "output_dtype", 0);
	struct dtype t = zero ? zero->type : dtype_of(DT_U8);

	if (!check_params(c, n)) {
		return false;
	}
	if (!zero && number != 0 && !dtype_from_onnx(number, &t)) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "output_dtype %lld is not supported; "
				   "choose an integer type",
				   (long long)number);
	}
	infer_set(c, n->outputs[0], t, x->ndim, x->shape);
	return true;
}

/* x / scale in the type of n's attribute precision (upgrade_quantize in
 * gen/onnx/upgrade/), as a value of type f; without the attribute, it is
 * computed in type f. */
static const struct expr *
quotient(struct define *c, const struct node *n, struct dtype f,
	 const struct expr *x, const struct expr *scale)
{
	struct module *m = c->module;
	struct dtype t = f;

	dtype_from_onnx(node_attr_int(n, "precision", 0), &t);
	x = expr_cast(m, f, expr_cast(m, t, x));
	scale = expr_cast(m, f, expr_cast(m, t, scale));
	return expr_cast(m, f, expr_cast(m, t, expr_div(m, x, scale)));
}

/* QuantizeLinear rounds half to even and saturates (to floats only if the
 * attribute is set). */
bool
define_quantize(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct dtype f = accumulator_type(n->inputs[1]->type);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *e, *zero;

	if (!dtype_is_float(f)) {
		f = dtype_of(DT_F32);
	}
	if (node_attr_int(n, "precision", 0) ==
	    dtype_onnx_number(dtype_of(DT_F64))) {
		f = dtype_of(DT_F64);
	}
	e = quotient(c, n, f, te_at(m, in[0], index, y->ndim),
		     quant_param(c, n, 1, in, index));
	if (dtype_is_int(y->type)) {
		e = expr_call1(m, INTRIN_NEARBYINT, e);
	}
	if (node_input(n, 2)) {
		zero = quant_param(c, n, 2, in, index);
		e = expr_add(m, e, expr_cast(m, f, zero));
	}
	e = dtype_is_int(y->type) ? expr_call(m, INTRIN_TO_INT, y->type, &e, 1)
				  : saturate_to(c, n, y->type, e);
	out[0] = define_stage(c, "quantize", "elementwise", y->ndim, axes, e);
	return true;
}

bool
infer_dequantize(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	int64_t number = node_attr_int(n, "output_dtype", 0);
	struct dtype t = n->inputs[1]->type;

	if (!check_params(c, n)) {
		return false;
	}
	if (number != 0 && !dtype_from_onnx(number, &t)) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "output_dtype %lld is not supported; "
				   "choose a float type",
				   (long long)number);
	}
	infer_set(c, n->outputs[0], t, x->ndim, x->shape);
	return true;
}

/* (x - zero) * scale, with an integer difference. */
bool
define_dequantize(struct define *c, const struct node *n,
		  struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct dtype f = accumulator_type(n->inputs[1]->type);
	struct dtype wide = dtype_is_float(x->type) ? f : dtype_of(DT_I32);
	struct iter_var *axes = define_axes(c, y);
	const struct expr **index = axes_exprs(c, axes, y->ndim), *e, *zero;

	e = te_at(m, in[0], index, y->ndim);
	zero = node_input(n, 2) ? quant_param(c, n, 2, in, index) : NULL;
	if (zero && !expr_is_value(zero, 0)) {
		e = expr_sub(m, expr_cast(m, wide, e),
			     expr_cast(m, wide, zero));
	}
	e = expr_mul(m, expr_cast(m, f, e),
		     expr_cast(m, f, quant_param(c, n, 1, in, index)));
	out[0] = define_stage(c, "dequantize", "elementwise", y->ndim, axes,
			      convert_to(c, y->type, e));
	return true;
}
