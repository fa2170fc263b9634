/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of com.microsoft that ai.onnx has, too, some of them with other
 * attributes or input shapes.
 *
 *	before	y = com.microsoft.GridSample<mode="bilinear">(x, at)
 *	after	y = GridSample<mode="linear">(x, at)
 */
#include "compose.h"

bool
compose_grid_sample(struct compose *c)
{
	const char *mode = node_attr_string(c->node, "mode", "bilinear");

	compose_keep_attrs(c, "align_corners padding_mode");
	compose_set_string(c, "mode",
			   strcmp(mode, "bilinear") == 0  ? "linear"
			   : strcmp(mode, "bicubic") == 0 ? "cubic"
							  : mode);
	compose_result(c, 0,
		       compose_2(c, "sample", "GridSample", compose_input(c, 0),
				 compose_input(c, 1)));
	return true;
}

/* Makes the operator op_type with the inputs of the node, at most three, and
 * with those of its attributes that `attrs` names. */
static bool
same_operator(struct compose *c, const char *op_type, const char *attrs)
{
	compose_keep_attrs(c, attrs);
	compose_result(c, 0,
		       compose_node(c, "same", op_type, 3, compose_input(c, 0),
				    compose_input(c, 1), compose_input(c, 2)));
	return true;
}

bool
compose_quantize(struct compose *c)
{
	return same_operator(c, "QuantizeLinear", "axis block_size");
}

bool
compose_dequantize(struct compose *c)
{
	return same_operator(c, "DequantizeLinear", "axis block_size");
}

bool
compose_ms_trilu(struct compose *c)
{
	return same_operator(c, "Trilu", "upper");
}

bool
compose_ms_gather_nd(struct compose *c)
{
	return same_operator(c, "GatherND", "");
}

/* Input i, which has one element, as a scalar; the constant `value` if it is
 * absent. */
static struct tensor *
number(struct compose *c, const char *what, int i, struct dtype type,
       double value)
{
	struct tensor *x = compose_input(c, i);

	return x ? compose_reshape(c, what, x, 0, NULL)
		 : compose_scalar(c, what, type, value);
}

bool
compose_ms_range(struct compose *c)
{
	struct dtype type = compose_input(c, 0)->type;

	compose_result(c, 0,
		       compose_node(c, "same", "Range", 3,
				    number(c, "start", 0, type, 0),
				    number(c, "limit", 1, type, 0),
				    number(c, "delta", 2, type, 1)));
	return true;
}

/* Pad; the pads may be a matrix of one row. */
bool
compose_ms_pad(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *pads = compose_input(c, 1);
	const struct expr *count = expr_index(c->m, 2 * (int64_t)x->ndim);
	struct tensor *value = compose_input(c, 2);

	pads = compose_reshape(c, "pads", pads, 1, &count);
	value = value ? compose_reshape(c, "value", value, 0, NULL) : NULL;
	compose_keep_attrs(c, "mode");
	compose_result(c, 0, compose_node(c, "same", "Pad", 3, x, pads, value));
	return true;
}

bool
compose_expand_dims(struct compose *c)
{
	const struct expr *one = expr_index(c->m, 1);
	struct tensor *axis = compose_cast(c, "axis", compose_input(c, 1),
					   dtype_of(DT_I64));

	axis = compose_reshape(c, "axes", axis, 1, &one);
	compose_result(c, 0,
		       compose_2(c, "same", "Unsqueeze", compose_input(c, 0),
				 axis));
	return true;
}

/* MatMulInteger16: 16-bit operands, 32-bit sums. */
bool
compose_matmul_16(struct compose *c)
{
	struct tensor *a = compose_input(c, 0), *b = compose_input(c, 1);
	bool is_signed = dtype_class(a->type) == DTC_INT ||
			 dtype_class(b->type) == DTC_INT;
	struct dtype type = dtype_of(is_signed ? DT_I32 : DT_U32);

	a = compose_cast(c, "a", a, type);
	b = compose_cast(c, "b", b, type);
	compose_result(c, 0, compose_2(c, "same", "MatMul", a, b));
	return true;
}

bool
compose_inverse(struct compose *c)
{
	static const char *const what = "inverse";
	struct tensor *x = compose_input(c, 0), *y;

	compose_nodes(c, "tirc", "Inverse", &x, 1, &what, 1, &y);
	compose_result(c, 0, y);
	return true;
}
