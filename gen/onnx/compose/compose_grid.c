/* SPDX-License-Identifier: Apache-2.0 */
/* AffineGrid: the coordinates of each pixel of a grid of h * w (or d * h * w)
 * pixels after an affine map.
 *
 *	before	y = AffineGrid(theta, [n, c, h, w])   # theta: [n, 2, 3]
 *	after	y[n][i][j] = theta[n][:, 0] * x[j] + theta[n][:, 1] * y[i] +
 *			     theta[n][:, 2]
 *
 * with x and y from -1 to 1. */
#include "compose.h"

/* Element i of the list, as a scalar. */
static struct tensor *
element(struct compose *c, struct tensor *list, int i)
{
	struct tensor *one = compose_slice(c, "dimension", list, 0,
					   expr_index(c->m, i),
					   expr_index(c->m, i + 1));

	return compose_squeeze(c, "count", one, 0);
}

/* n positions from -1 to 1. With align_corners the centres of the first and the
 * last pixel are at -1 and 1, otherwise their outer edges. */
static struct tensor *
positions(struct compose *c, struct tensor *n, struct dtype type)
{
	bool centres = node_attr_int(c->node, "align_corners", 0) != 0;
	struct tensor *count = compose_cast(c, "pixels", n, type);
	struct tensor *at, *step;

	if (centres) {
		count = compose_with(c, "last", "Sub", count, 1);
		count = compose_with(c, "steps", "Max", count, 1);
	}
	step = compose_2(c, "step", "Div", compose_scalar(c, "two", type, 2),
			 count);
	at = compose_2(c, "offset", "Mul", compose_count(c, "pixel", n, type),
		       step);
	at = compose_with(c, "from", "Sub", at, 1);
	return centres ? at
		       : compose_2(c, "centre", "Add", at,
				   compose_with(c, "half", "Div", step, 2));
}

/* Column k of theta, [n][rows], as [n][1]…[1][rows] with `axes` dimensions of
 * size 1. */
static struct tensor *
column(struct compose *c, struct tensor *theta, int k, int axes)
{
	const struct expr *shape[5];
	struct tensor *t = compose_slice(c, "column", theta, 2,
					 expr_index(c->m, k),
					 expr_index(c->m, k + 1));

	shape[0] = theta->shape[0];
	for (int d = 1; d <= axes; d++) {
		shape[d] = expr_index(c->m, 1);
	}
	shape[axes + 1] = theta->shape[1];
	return compose_reshape(c, "coefficients", t, axes + 2, shape);
}

bool
compose_affine_grid(struct compose *c)
{
	struct tensor *theta = compose_input(c, 0), *size = compose_input(c, 1);
	struct tensor *y;
	int64_t n = 0, rows = 0, columns = 0;
	int axes;

	if (theta->ndim == 3 && size->ndim == 1) {
		expr_is_int(size->shape[0], &n);
		expr_is_int(theta->shape[1], &rows);
		expr_is_int(theta->shape[2], &columns);
	}
	axes = (int)rows;
	if ((n != 4 && n != 5) || rows != n - 2 || columns != n - 1) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "theta must be [n, 2, 3] and the size of "
				     "4 elements, or [n, 3, 4] and 5; correct "
				     "their shapes");
	}
	y = column(c, theta, axes, axes);
	for (int k = 0; k < axes; k++) {
		const struct expr *shape[] = { expr_index(c->m, 1),
					       expr_index(c->m, 1),
					       expr_index(c->m, 1),
					       expr_index(c->m, 1) };
		struct tensor *at = positions(c,
					      element(c, size, (int)n - 1 - k),
					      theta->type);

		shape[0] = at->shape[0];
		at = compose_reshape(c, "along", at, k + 2, shape);
		y = compose_2(c, "sum", "Add", y,
			      compose_2(c, "part", "Mul",
					column(c, theta, k, axes), at));
	}
	compose_result(c, 0, y);
	return true;
}
