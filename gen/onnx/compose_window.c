/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of signals, as sums of cosines.
 *
 *	before	y = HannWindow(n)
 *	after	y_at = Range(0, n, 1)
 *		y_angle = Mul(Cast(y_at), 2 pi / n)
 *		y = 0.5 - 0.5 * Cos(y_angle) */
#include "compose.h"

struct tensor *
compose_count(struct compose *c, const char *what, struct tensor *n,
	      struct dtype type)
{
	struct tensor *at = compose_node(c, "at", "Range", 3,
					 compose_scalar(c, "first", n->type, 0),
					 n,
					 compose_scalar(c, "step", n->type, 1));

	return compose_cast(c, what, at, type);
}

/* a0 - a1 * cos(angle) + a2 * cos(2 * angle), in float32. */
static bool
window(struct compose *c, double a0, double a1, double a2)
{
	struct tensor *n = compose_input(c, 0), *angle, *y, *size;
	struct dtype type, f32 = dtype_of(DT_F32);

	if (n->ndim != 0 || !dtype_is_int(n->type)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its size must be one integer, a scalar");
	}
	if (!dtype_from_onnx(node_attr_int(c->node, "output_datatype", 1),
			     &type)) {
		return compose_refuse(c,
				      "its output_datatype is not supported");
	}
	size = compose_cast(c, "size", n, f32);
	if (node_attr_int(c->node, "periodic", 1) == 0) {
		size = compose_with(c, "last", "Sub", size, 1);
	}
	size = compose_2(c, "increment", "Div",
			 compose_scalar(c, "tau", f32, 6.283185307179586),
			 size);
	angle = compose_2(c, "angle", "Mul", compose_count(c, "place", n, f32),
			  size);
	y = compose_with(c, "wave", "Mul", compose_1(c, "cos", "Cos", angle),
			 a1);
	y = compose_2(c, "window", "Sub", compose_scalar(c, "mean", f32, a0),
		      y);
	if (a2 != 0) {
		angle = compose_with(c, "twice", "Mul", angle, 2);
		y = compose_2(c, "sum", "Add", y,
			      compose_with(c, "second", "Mul",
					   compose_1(c, "cos_twice", "Cos",
						     angle),
					   a2));
	}
	compose_result(c, 0, compose_cast(c, "cast", y, type));
	return true;
}

bool
compose_hann(struct compose *c)
{
	return window(c, 0.5, 0.5, 0);
}

bool
compose_hamming(struct compose *c)
{
	return window(c, 25.0 / 46, 21.0 / 46, 0);
}

bool
compose_blackman(struct compose *c)
{
	return window(c, 0.42, 0.5, 0.08);
}
