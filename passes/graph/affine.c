/* SPDX-License-Identifier: Apache-2.0 */
/* Affine maps y = x * scale + shift along one axis. */
#include "affine.h"

#include <math.h>

#define SCALE_MIN 0x1p-64
#define SCALE_MAX 0x1p64

void
affine_init(struct graph *g, struct affine *a)
{
	*a = (struct affine){ .axis = -1, .n = 1 };
	a->scale = arena_array(&g->module->arena, double, 1);
	a->shift = arena_array(&g->module->arena, double, 1);
	a->scale[0] = 1;
}

bool
affine_read(struct graph *g, struct tensor *constant, int ndim, bool additive,
	    struct affine *a)
{
	double *values, *other;
	int64_t n;

	*a = (struct affine){ .axis = -1 };
	if (constant->ndim < 0 || constant->ndim > ndim ||
	    tensor_bytes_max(constant) > 8 * AFFINE_CHANNELS_MAX) {
		return false;
	}
	for (int i = 0; i < constant->ndim; i++) {
		if (!expr_is_value(constant->shape[i], 1)) {
			if (a->axis >= 0) {
				return false;
			}
			a->axis = constant->ndim - 1 - i;
		}
	}
	values = constant_doubles(g, constant, &n);
	if (!values || n < 1) {
		return false;
	}
	other = arena_array(&g->module->arena, double, n);
	for (int64_t i = 0; i < n && additive; i++) {
		other[i] = 1;
	}
	a->n = n;
	a->scale = additive ? other : values;
	a->shift = additive ? values : other;
	a->scale_of = additive ? NULL : constant;
	a->shift_of = additive ? constant : NULL;
	return true;
}

/* A tensor that describes a * b or a + b for the user, as `form` says. If a or
 * b is NULL, which stands for the neutral number, returns the other. */
static struct tensor *
described(struct graph *g, struct tensor *a, const char *form, struct tensor *b)
{
	struct tensor *in[2] = { a, b };

	return a == NULL   ? b
	       : b == NULL ? a
			   : graph_describe(g, form, NULL, in, 2);
}

struct tensor *
affine_described_product(struct graph *g, struct tensor *a, struct tensor *b)
{
	return described(g, a, "$0 * $1", b);
}

struct tensor *
affine_described_map(struct graph *g, struct tensor *x, const struct affine *a)
{
	if (x != NULL) {
		x = described(g, x, "$0 * $1", a->scale_of);
	}
	return described(g, x, "$0 + $1", a->shift_of);
}

bool
affine_compose(struct graph *g, struct affine *a, const struct affine *b)
{
	struct affine c = { .axis = a->axis >= 0 ? a->axis : b->axis };

	if (a->axis >= 0 && b->axis >= 0 &&
	    (a->axis != b->axis || a->n != b->n)) {
		return false;
	}
	c.n = a->axis >= 0 ? a->n : b->n;
	c.scale_of = described(g, a->scale_of, "$0 * $1", b->scale_of);
	c.shift_of = affine_described_map(g, a->shift_of, b);
	c.scale = arena_array(&g->module->arena, double, c.n);
	c.shift = arena_array(&g->module->arena, double, c.n);
	for (int64_t i = 0; i < c.n; i++) {
		int64_t ia = a->axis >= 0 ? i : 0, ib = b->axis >= 0 ? i : 0;

		c.scale[i] = a->scale[ia] * b->scale[ib];
		c.shift[i] = a->shift[ia] * b->scale[ib] + b->shift[ib];
	}
	*a = c;
	return true;
}

bool
affine_constant_fits(struct dtype t, double v)
{
	double least = ldexp(1, 1 - dtype_float_form(t).bias);
	double stored = number_round(t, (union number){ .f = v }).f;

	return v == 0 || (isfinite(stored) && fabs(stored) >= least);
}

bool
affine_scale_is_moderate(double v)
{
	return v == 0 || (fabs(v) >= SCALE_MIN && fabs(v) <= SCALE_MAX);
}

bool
affine_is_neutral(const struct affine *a, bool scale)
{
	for (int64_t i = 0; i < a->n; i++) {
		if (scale ? a->scale[i] != 1 : a->shift[i] != 0) {
			return false;
		}
	}
	return true;
}

struct tensor *
affine_along(struct graph *g, const char *base, struct dtype type, int ndim,
	     int axis, int64_t n, const double *values)
{
	int64_t *shape = arena_array(&g->module->arena, int64_t, ndim + 1);

	for (int i = 0; i < ndim; i++) {
		shape[i] = i == axis ? n : 1;
	}
	return constant_floats(g, base, type, ndim, shape, values);
}

struct tensor *
affine_constant(struct graph *g, const struct affine *a, bool scale,
		struct dtype type, const char *base)
{
	const double *values = scale ? a->scale : a->shift;
	struct tensor *of = scale ? a->scale_of : a->shift_of;
	struct tensor *c = a->axis < 0
				   ? affine_along(g, base, type, 0, -1, 1,
						  values)
				   : affine_along(g, base, type, a->axis + 1, 0,
						  a->n, values);

	return of != NULL ? graph_made_of(g, c, "$0", NULL, &of, 1) : c;
}

/* -- nodes that are affine maps -- */

bool
affine_is_link(const struct node *n)
{
	return node_is(n, "Mul") || node_is(n, "Add") || node_is(n, "Sub") ||
	       node_is(n, "Div");
}

bool
affine_link_read(struct graph *g, struct node *n, struct affine_link *link)
{
	bool mul = node_is(n, "Mul"), sub = node_is(n, "Sub");
	bool div = node_is(n, "Div"), additive = !mul && !div;
	int x_input = affine_is_link(n) ? only_variable_input(n) : -1;
	struct affine *map = &link->map;
	const char *form = sub ? "-$0" : div ? "1 / $0" : "$0";
	struct tensor *c, *of;

	if (x_input < 0 || ((sub || div) && x_input != 0)) {
		return false;
	}
	c = n->inputs[1 - x_input];
	if (!dtype_is_float(c->type) ||
	    !tensor_same_shape(n->inputs[x_input], n->outputs[0]) ||
	    !affine_read(g, c, n->outputs[0]->ndim, additive, map)) {
		return false;
	}
	for (int64_t i = 0; i < map->n; i++) {
		if (sub) {
			map->shift[i] = -map->shift[i];
		} else if (div) {
			map->scale[i] = 1 / map->scale[i];
		}
	}
	of = graph_describe(g, form, n, &c, 1);
	*(additive ? &map->shift_of : &map->scale_of) = of;
	link->node = n;
	link->x = n->inputs[x_input];
	link->scales = !additive;
	return true;
}
