/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that find elements: the number of elements found is the size of
 * their results (sizes.c). */
#include "ops.h"
#include "sizes.h"

/* -- NonZero -- */

bool
size_nonzero(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *x = n->inputs[0], *count;
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y,
				arena_printf(&s->u.imp->tmp, "%s_count", y) };
	struct node *node;
	int64_t least = 0, most;

	if (!tensor_max_elems(x, &most)) {
		return size_no_bound(s, y);
	}
	count = upgrade_tensor(&s->u, "found");
	node = upgrade_insert(&s->u, s->at++, "CountNonZero", &x, 1, count);
	node->domain = "tirc";
	node->op = op_find("tirc", "CountNonZero");
	node_resize_inputs(n, 2);
	node_set_input(n, 1,
		       size_variables(s, count, names[1], 1, &least, &most,
				      true, size_bound(s->u.imp, names, 2)));
	return true;
}

/* -- NonMaxSuppression -- */

/* Sets *most to the largest number of boxes that can be kept: all boxes of all
 * classes, or fewer if the maximum for each class is a constant. False if the
 * sizes have no bound. */
static bool
most_boxes(struct sizing *s, int64_t *most)
{
	const struct tensor *scores = s->u.node->inputs[1];
	double limit;
	int64_t boxes;

	if (!tensor_max_elems(scores, most)) {
		return false;
	}
	if (input_scalar(s->u.node, 2, &limit) && scores->ndim == 3 &&
	    expr_is_int(scores->shape[2], &boxes) && boxes > 0 &&
	    limit < (double)boxes) {
		*most = *most / boxes * (limit > 0 ? (int64_t)limit : 0);
	}
	return true;
}

/*	before	y = NonMaxSuppression(boxes, scores, …)
 *	after	kept, count, sides = tirc.NonMaxSuppression(boxes, scores, …)
 *		n = tirc.RunSize(count)
 *		y = Slice(kept, 0, n, 0) */
bool
size_nms(struct sizing *s)
{
	struct node *n = s->u.node;
	struct arena *tmp = &s->u.imp->tmp;
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y, arena_printf(tmp, "%s_count", y) };
	int64_t centers = node_attr_int(n, "center_point_box", 0);
	int64_t least = 0, most;
	struct tensor *in[5] = { NULL }, *kept, *number, *count;
	struct node *made;

	if (!node_input(n, 1) || n->n_inputs > 5) {
		return true; /* type inference reports the error */
	}
	if (!most_boxes(s, &most)) {
		return size_no_bound(s, y);
	}
	for (int i = 0; i < n->n_inputs; i++) {
		in[i] = n->inputs[i];
	}
	kept = upgrade_tensor(&s->u, "kept");
	number = upgrade_tensor(&s->u, "number");
	made = upgrade_insert(&s->u, s->at++, "NonMaxSuppression", in, 5, kept);
	made->domain = "tirc";
	made->op = op_find("tirc", "NonMaxSuppression");
	node_add_output(made, number);
	node_add_output(made, upgrade_tensor(&s->u, "sides"));
	node_set_attr_int(s->u.g, made, "center_point_box", centers);
	count = size_variables(s, number, names[1], 1, &least, &most, true,
			       size_bound(s->u.imp, names, 2));
	n->attrs.n = 0;
	n->domain = "";
	n->op_type = "Slice";
	n->op = op_find("", "Slice");
	node_resize_inputs(n, 4);
	node_set_input(n, 0, kept);
	node_set_input(n, 1, size_constant(s, "first", 0));
	node_set_input(n, 2, count);
	node_set_input(n, 3, size_constant(s, "rows", 0));
	return true;
}

/* -- Unique -- */

/* Removes output k from the node, so that another node can compute its tensor,
 * which is returned; NULL if the output is absent. */
static struct tensor *
take_output(struct node *n, int k)
{
	struct tensor *t = k < n->n_outputs ? n->outputs[k] : NULL;

	if (t) {
		n->outputs[k] = NULL;
		t->producer = NULL;
	}
	return t;
}

/* Inserts a Slice that makes `out` the first `count` elements of t. */
static void
insert_head(struct sizing *s, struct tensor *t, struct tensor *count,
	    struct tensor *out)
{
	struct tensor *in[] = { t, size_constant(s, "from", 0), count,
				size_constant(s, "of", 0) };

	upgrade_insert(&s->u, s->at++, "Slice", in, 4, out);
}

/* x as a matrix with a row for each index of the axis; if axis is NULL, with a
 * row for each element of x. *values: x itself, or x flattened, from which the
 * caller gathers the result. */
static struct tensor *
rows_of(struct sizing *s, struct tensor *x, const struct attr *axis,
	struct tensor **values)
{
	struct graph *g = s->u.g;
	int64_t perm[ONNX_MAX_RANK], shape[2] = { -1, 1 };
	int at, n = 1;

	*values = x;
	if (!axis) {
		*values = size_insert(s, "Reshape", "elements", x,
				      size_constant(s, "all", -1));
		return size_insert(
			s, "Reshape", "column", x,
			graph_constant_ints(g,
					    arena_printf(&s->u.imp->tmp,
							 "%s_column",
							 s->u.node->outputs[0]
								 ->name),
					    2, shape));
	}
	at = (int)(axis->i < 0 ? axis->i + x->ndim : axis->i);
	perm[0] = at;
	for (int d = 0; d < x->ndim; d++) {
		if (d != at) {
			perm[n++] = d;
		}
	}
	if (at > 0) {
		x = size_insert(s, "Transpose", "along", x, NULL);
		node_set_attr_ints(g, x->producer, "perm",
				   arena_copy(&g->module->arena, perm,
					      sizeof *perm * (size_t)n),
				   n);
	}
	x = size_insert(s, "Flatten", "rows", x, NULL);
	node_set_attr_int(g, x->producer, "axis", 1);
	return x;
}

/*	before	y, indices, inverse, counts = Unique(x)
 *	after	rows = Reshape(x, [-1, 1])
 *		first, inverse, all, number = tirc.Unique(rows)
 *		n = tirc.RunSize(number)
 *		indices = Slice(first, 0, n, 0)
 *		counts = Slice(all, 0, n, 0)
 *		y = Gather(x, indices) */
bool
size_unique(struct sizing *s)
{
	struct node *n = s->u.node;
	struct tensor *x = n->inputs[0], *out[4], *rows, *values, *count;
	const struct attr *axis = node_attr(n, "axis");
	const char *y = tensor_label(n->outputs[0]);
	const char *names[] = { y,
				arena_printf(&s->u.imp->tmp, "%s_count", y) };
	struct tensor *indices = take_output(n, 1);
	struct tensor *inverse = take_output(n, 2);
	struct tensor *counts = take_output(n, 3);
	int64_t sorted = node_attr_int(n, "sorted", 1);
	int64_t along = axis ? axis->i : 0, least = 0, most;
	struct node *made;

	if (axis && (along < -x->ndim || along >= x->ndim)) {
		return diag_error(&s->u.imp->m->diags, DIAG_BAD_ATTRIBUTE,
				  node_place(s->u.g, n),
				  "axis %lld is outside of [%d, %d); correct "
				  "the model",
				  (long long)along, -x->ndim, x->ndim);
	}
	if (!tensor_max_elems(x, &most) || most > INT32_MAX) {
		return size_no_bound(s, y);
	}
	rows = rows_of(s, x, axis, &values);
	out[0] = upgrade_tensor(&s->u, "first");
	made = upgrade_insert(&s->u, s->at++, "Unique", &rows, 1, out[0]);
	made->domain = "tirc";
	made->op = op_find("tirc", "Unique");
	out[1] = inverse ? inverse : upgrade_tensor(&s->u, "inverse");
	out[2] = upgrade_tensor(&s->u, "all_counts");
	out[3] = upgrade_tensor(&s->u, "number");
	for (int k = 1; k < 4; k++) {
		node_add_output(made, out[k]);
	}
	node_set_attr_int(s->u.g, made, "sorted", sorted);
	node_set_attr_int(s->u.g, made, "rows", 1);
	if (axis && expr_is_int(x->shape[along < 0 ? along + x->ndim : along],
				&least)) {
		most = least;
		least = 0;
	}
	count = size_variables(s, out[3], names[1], 1, &least, &most, true,
			       size_bound(s->u.imp, names, 2));
	indices = indices ? indices : upgrade_tensor(&s->u, "indices");
	insert_head(s, out[0], count, indices);
	if (counts) {
		insert_head(s, out[2], count, counts);
	}
	n->attrs.n = 0;
	n->n_outputs = 1;
	n->domain = "";
	n->op_type = "Gather";
	n->op = op_find("", "Gather");
	node_resize_inputs(n, 2);
	node_set_input(n, 0, values);
	node_set_input(n, 1, indices);
	node_set_attr_int(s->u.g, n, "axis", along);
	return true;
}
