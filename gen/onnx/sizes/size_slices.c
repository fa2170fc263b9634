/* SPDX-License-Identifier: Apache-2.0 */
/* Slice with bounds that are known only at run time
 * (passes/ops/movement/slice.c):
 *
 *	before	y = Slice(x, starts, ends)
 *	after	h = Shape(x)
 *		n = tirc.RunSize(tirc.SliceCount(starts, ends, h))
 *		s = tirc.RunSize(tirc.SliceStart(starts, h))
 *		y = tirc.Part(x, s, n)
 *
 * The size of x is a bound of both n and s. */
#include "ops.h"
#include "sizes.h"

struct slicing {
	int n;
	const int64_t *axes, *steps;
	struct tensor *shape; /* the shape of x */
	/* for each sliced dimension: 0, and the largest size */
	int64_t *zero, *most;
};

static struct node *
as_tirc(struct sizing *s, struct node *n, const char *op_type,
	const struct slicing *p)
{
	n->domain = "tirc";
	n->op_type = op_type;
	n->op = op_find("tirc", op_type);
	node_set_attr_ints(s->u.g, n, "axes", p->axes, p->n);
	node_set_attr_ints(s->u.g, n, "steps", p->steps, p->n);
	return n;
}

/* Reads the axes and steps of the node into p; false if they are unknown or
 * wrong. */
static bool
find_axes(struct sizing *s, struct slicing *p)
{
	const struct node *n = s->u.node;
	const struct tensor *x = n->inputs[0];
	struct arena *a = &s->u.imp->m->arena;
	int64_t *axes = arena_array(a, int64_t, p->n + 1);
	int64_t *steps = arena_array(a, int64_t, p->n + 1);
	const int64_t *given;
	int n_given;

	for (int i = 0; i < p->n; i++) {
		axes[i] = i;
		steps[i] = 1;
	}
	if (node_input(n, 3)) {
		if (!input_ints(s->u.imp->m, n, 3, &given, &n_given) ||
		    n_given != p->n) {
			return false;
		}
		memcpy(axes, given, sizeof *axes * (size_t)p->n);
	}
	if (node_input(n, 4)) {
		if (!input_ints(s->u.imp->m, n, 4, &given, &n_given) ||
		    n_given != p->n) {
			return false;
		}
		memcpy(steps, given, sizeof *steps * (size_t)p->n);
	}
	for (int i = 0; i < p->n; i++) {
		axes[i] += axes[i] < 0 ? x->ndim : 0;
		if (axes[i] < 0 || axes[i] >= x->ndim || steps[i] == 0) {
			return false;
		}
		/* find_sizes() refuses larger sizes, so that a larger step
		 * makes no difference */
		steps[i] = steps[i] > INT32_MAX    ? INT32_MAX
			   : steps[i] < -INT32_MAX ? -INT32_MAX
						   : steps[i];
	}
	p->axes = axes;
	p->steps = steps;
	return true;
}

static bool
find_sizes(struct sizing *s, struct slicing *p)
{
	const struct tensor *x = s->u.node->inputs[0];

	p->zero = arena_array(&s->u.imp->tmp, int64_t, p->n + 1);
	p->most = arena_array(&s->u.imp->tmp, int64_t, p->n + 1);
	for (int i = 0; i < p->n; i++) {
		struct tensor one = { .ndim = 1,
				      .shape = &x->shape[p->axes[i]] };

		p->zero[i] = 0;
		if (!tensor_max_elems(&one, &p->most[i]) ||
		    p->most[i] > INT32_MAX) {
			return size_no_bound(s, tensor_label(
							s->u.node->outputs[0]));
		}
	}
	return true;
}

/* Are all starts constants that are at least 0, with positive steps? Then each
 * is an index in the dimension, or the slice is empty. (A start beyond the end
 * with a negative step would mean the last element.) */
static bool
starts_are_plain(struct importer *imp, const struct node *n,
		 const int64_t *steps)
{
	const int64_t *starts;
	int count;

	if (!input_ints(imp->m, n, 1, &starts, &count)) {
		return false;
	}
	for (int i = 0; i < count; i++) {
		if (starts[i] < 0 || starts[i] > INT32_MAX || steps[i] < 0) {
			return false;
		}
	}
	return true;
}

/* Inserts a node tirc.op_type with the inputs `in`, and a tirc.RunSize that
 * reads its result. Returns the sizes that were read; size i is at most
 * most[i]. */
static struct tensor *
read_bounds(struct sizing *s, const struct slicing *p, const char *op_type,
	    const char *what, struct tensor **in, int n_in, int64_t *most)
{
	const char *y = tensor_label(s->u.node->outputs[0]);
	const char *name = arena_printf(&s->u.imp->tmp, "%s_%s", y, what);
	const char *names[] = { name, y };
	struct tensor *t = upgrade_tensor(&s->u, what);
	struct node *made = upgrade_insert(&s->u, s->at++, "Slice", in, n_in,
					   t);

	as_tirc(s, made, op_type, p);
	return size_variables(s, t, name, p->n, p->zero, most, true,
			      most == p->most ? NULL
					      : size_bound(s->u.imp, names, 2));
}

bool
size_slice(struct sizing *s)
{
	struct node *n = s->u.node;
	struct slicing p = { 0 };
	int64_t elems[2], *most;
	struct tensor *in[3] = { n->inputs[1], n->inputs[2], NULL };
	struct tensor *starts = in[0], *counts;

	if (in[0] && in[1] && (in[0]->ndim != 1 || in[1]->ndim != 1)) {
		return diag_error(&s->u.imp->m->diags, DIAG_BAD_SHAPE,
				  node_place(s->u.g, n),
				  "starts and ends must have one dimension; "
				  "correct the model");
	}
	if (!in[0] || !in[1] || !tensor_const_elems(in[0], &elems[0]) ||
	    !tensor_const_elems(in[1], &elems[1]) || elems[0] != elems[1] ||
	    elems[0] > ONNX_MAX_RANK) {
		return true; /* type inference reports the error */
	}
	p.n = (int)elems[0];
	if (!find_axes(s, &p)) {
		return true;
	}
	if (!find_sizes(s, &p)) {
		return false;
	}
	p.shape = size_insert(s, "Shape", "shape", n->inputs[0], NULL);
	most = arena_array(&s->u.imp->tmp, int64_t, p.n + 1);
	for (int i = 0; i < p.n; i++) {
		int64_t step = p.steps[i] < 0 ? -p.steps[i] : p.steps[i];

		most[i] = (p.most[i] + step - 1) / step;
	}
	in[2] = p.shape;
	counts = read_bounds(s, &p, "SliceCount", "count", in, 3, most);
	if (!starts_are_plain(s->u.imp, n, p.steps)) {
		in[1] = p.shape;
		starts = read_bounds(s, &p, "SliceStart", "start", in, 2,
				     p.most);
	}
	node_resize_inputs(n, 3);
	node_set_input(n, 1, starts);
	node_set_input(n, 2, counts);
	as_tirc(s, n, "Part", &p);
	return true;
}
