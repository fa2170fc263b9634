/* SPDX-License-Identifier: Apache-2.0 */
/* tirc.NonMaxSuppression: keeps boxes, class by class, in descending order of their scores;
 * the steps are passes/ops/steps/nms.py.
 *
 * Inputs: boxes and scores; optional inputs: the largest number of boxes of a
 * class, a threshold for the intersection over the union, and a threshold for
 * the score. Results: rows [b, c, box], with room for the largest possible
 * number of rows, and the number of rows. Additional buffers hold the heap, and
 * the sides of the kept boxes, with which later boxes are compared. */
#include "dims.h"
#include "steps.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST, N_INPUTS };

enum { KEPT, COUNT, SIDES, LEFT_SCORES, LEFT_BOXES, N_MADE };

bool
infer_nms(struct infer *c, struct node *n)
{
	struct module *m = c->module;
	const struct tensor *boxes = n->inputs[BOXES];
	const struct tensor *scores = n->inputs[SCORES];
	const struct expr *rows[2], *one = expr_i32(m, 1), *per_class;
	int64_t elems;
	double most;

	if (!infer_form(c, n, BOXES, TYPES_FLOAT, 3, 3) ||
	    !infer_form(c, n, SCORES, TYPES_FLOAT, 3, 3)) {
		return false;
	}
	if (!dims_equal(c, boxes->shape[0], scores->shape[0]) ||
	    !dims_equal(c, boxes->shape[1], scores->shape[2]) ||
	    !dims_equal(c, boxes->shape[2], expr_i32(m, 4))) {
		return infer_error(
			c, DIAG_BAD_SHAPE,
			"boxes must be [batch, boxes, 4] and scores "
			"[batch, classes, boxes]; correct the model");
	}
	for (int i = MOST; i <= LEAST; i++) {
		if (node_input(n, i) &&
		    (!tensor_const_elems(n->inputs[i], &elems) || elems != 1)) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "input %d must be one number; "
					   "correct its shape",
					   i);
		}
	}
	per_class = scores->shape[2];
	if (!node_input(n, MOST)) {
		per_class = expr_i32(m, 0);
	} else if (input_scalar(n, MOST, &most) && most < INT32_MAX) {
		per_class = dim_min(m, per_class,
				    expr_index(m,
					       most > 0 ? (int64_t)most : 0));
	}
	rows[0] = dim_mul(m, dim_mul(m, scores->shape[0], scores->shape[1]),
			  per_class);
	rows[1] = expr_i32(m, 3);
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 2, rows);
	infer_set(c, n->outputs[1], dtype_of(DT_I32), 1, &one);
	rows[1] = expr_i32(m, 4);
	infer_set(c, n->outputs[2], boxes->type, 2, rows);
	return true;
}

/* The threshold that the given input has; 0 if the input is absent. */
static const struct expr *
threshold(struct define *c, const struct node *n, struct te_tensor *const *in,
	  int input)
{
	return node_input(n, input)
		       ? define_scalar(c, n, in, input)
		       : expr_float(c->module, dtype_of(DT_F32), 0);
}

/* Defines the name for the largest number of boxes of a class in the steps. A
 * constant limit that is at least the number of boxes needs no test. */
static void
bind_limit(struct steps *s, const struct node *n, struct te_tensor *const *in)
{
	const struct expr *most = expr_int(s->m, dtype_of(DT_U32), 0);
	bool is_known, is_limited = true;
	int64_t boxes;
	double limit;

	if (node_input(n, MOST)) {
		is_known = input_scalar(n, MOST, &limit) && limit >= 0;
		is_limited = !is_known ||
			     (limit < INT32_MAX &&
			      !(expr_is_int(n->inputs[SCORES]->shape[2],
					    &boxes) &&
				limit >= (double)boxes));
		most = !is_known    ? define_scalar(s->c, n, in, MOST)
		       : is_limited ? expr_int(s->m, most->type, (int64_t)limit)
				    : most;
	}
	steps_value(s, "most", most);
	steps_flag(s, "is_limited", is_limited);
	steps_flag(s, "keeps_any", node_input(n, MOST) != NULL);
}

bool
define_nms(struct define *c, const struct node *n, struct te_tensor *const *in,
	   struct te_tensor **out)
{
	static const char *const names[] = { "kept", "count", "sides",
					     "scores_left", "boxes_left" };
	struct module *m = c->module;
	const struct tensor *kept = n->outputs[KEPT];
	const struct tensor *sides = n->outputs[SIDES];
	const struct tensor *scores = n->inputs[SCORES];
	struct dtype i32 = dtype_of(DT_I32);
	struct te_tensor **used = arena_array(&m->arena, struct te_tensor *,
					      N_INPUTS);
	struct te_tensor *made[N_MADE];
	struct steps s;
	int n_used = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i] != NULL && (i < MOST || !define_literal(c, n, i))) {
			used[n_used++] = in[i];
		}
	}
	s = steps_begin(c, names[0], "nms", names,
			(struct dtype[]){ kept->type, i32, sides->type,
					  scores->type, i32 },
			(int[]){ 2, 1, 2, 1, 1 },
			(const struct expr *const *[]){
				kept->shape, n->outputs[COUNT]->shape,
				sides->shape, scores->shape + 2,
				scores->shape + 2 },
			N_MADE, used, n_used, made);
	steps_tensor(&s, "boxes", in[BOXES]);
	steps_tensor(&s, "scores", in[SCORES]);
	steps_tensor(&s, "rows", made[KEPT]);
	steps_tensor(&s, "heap_values", made[LEFT_SCORES]);
	steps_tensor(&s, "heap_positions", made[LEFT_BOXES]);
	steps_flag(&s, "largest", true);
	steps_flag(&s, "first_root", true);
	steps_flag(&s, "no_nan", node_input(n, LEAST) != NULL);
	steps_type(&s, "index", i32);
	steps_order(&s, scores->type);
	steps_flag(&s, "is_center",
		   node_attr_int(n, "center_point_box", 0) != 0);
	steps_value(&s, "overlap", threshold(c, n, in, OVERLAP));
	steps_value(&s, "least", threshold(c, n, in, LEAST));
	steps_flag(&s, "has_least", node_input(n, LEAST) != NULL);
	bind_limit(&s, n, in);
	for (int i = KEPT; i <= SIDES; i++) {
		out[i] = made[i];
	}
	return steps_run(&s, "nms", NULL, 0);
}
