/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of control flow: where branches and loops of a graph begin and
 * end (ir/graph/graph_body.c).
 *
 *	Copy<body=B>(x)         a copy of x that the branch or loop may change
 *	Carry<body=L>(init)     a state of loop L inside of its body
 *	Iteration<body=L>()     the number of the iteration, from 0
 *	ScanInput<body=L, back>(x)
 *	                        the slice of x that the iteration reads
 *	EndIf<body, then=T, else=E, sizes>(condition, T's results, E's results)
 *	EndLoop<body, loop=L, trips, states, counted, condition, back,
 *		images>([count], first states, next states, slices)
 *	                        the last states, and the slices of all iterations
 *
 * `sizes` has three integers for each size in which the branches differ: the
 * result, the dimension, and the index of the variable in graph.run_sizes; the
 * last results of the branches are the values of these sizes.
 *
 * `trips` is the number of iterations; with `counted`, it is input 0; with
 * `condition`, the loop ends when state 0 is false; then `trips` and `counted`
 * may both be absent. `back` tells for each slice whether the slice of the last
 * iteration comes first. `images` is 1 for a loop over the images of a batch,
 * which the model does not have. graph_wrong_control() checks the attributes
 * and where inputs come from; inference checks types and shapes. */
#include "analyse.h"
#include "dims.h"

bool
infer_control_copy(struct infer *c, struct node *n)
{
	infer_like_input(c, n);
	return true;
}

bool
define_control_copy(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	int ndim = n->outputs[0]->ndim;
	const struct expr **index = arena_exprs(&c->module->arena, ndim + 1);

	for (int d = 0; d < ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	out[0] = define_stage(c, "copy", "elementwise", ndim, axes,
			      te_at(c->module, in[0], index, ndim));
	return true;
}

/* tirc.LowBits: an element of fewer than 8 bits is made from the low bits of
 * its byte; elements of other types are not changed. */
bool
define_low_bits(struct define *c, const struct node *n,
		struct te_tensor *const *in, struct te_tensor **out)
{
	struct iter_var *axes = define_axes(c, n->outputs[0]);
	int ndim = n->outputs[0]->ndim;
	const struct expr *e = te_at(c->module, in[0],
				     axes_exprs(c, axes, ndim), ndim);
	struct dtype t = e->type;

	if (!dtype_equal(dtype_stored(t), t)) {
		e = expr_call(c->module, INTRIN_REINTERPRET, dtype_of(DT_U8),
			      &e, 1);
		e = expr_cast(c->module, t, e);
	}
	out[0] = define_stage(c, "low_bits", "elementwise", ndim, axes, e);
	return true;
}

/* Nodes of control flow have no definition as tensor expressions: the entry
 * function implements them. */
bool
define_control_none(struct define *c, const struct node *n,
		    struct te_tensor *const *in, struct te_tensor **out)
{
	(void)c;
	(void)n;
	(void)in;
	(void)out;
	return false;
}

bool
infer_iteration(struct infer *c, struct node *n)
{
	infer_set(c, n->outputs[0], dtype_of(DT_I64), 0, NULL);
	return true;
}

bool
define_iteration(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	const struct graph_body *loop = graph_body(c->graph, n->body);

	(void)in;
	if (loop == NULL || loop->iteration == NULL) {
		return false;
	}
	out[0] = define_stage(c, "iteration", "elementwise", 0, NULL,
			      expr_cast(c->module, dtype_of(DT_I64),
					loop->iteration->expr));
	return true;
}

bool
infer_scan_input(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];

	if (x->ndim < 1) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "a scalar has no slices; correct the model");
	}
	infer_set(c, n->outputs[0], x->type, x->ndim - 1, x->shape + 1);
	return true;
}

/* "float32[2, 3]" */
static const char *
type_text(struct infer *c, const struct tensor *t)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	tensor_print_type(t, &s);
	text = arena_strdup(&c->module->arena, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

/* The variable for the size of dimension `dim` of result k of an EndIf, if the
 * branches have different sizes there (the attribute `sizes`); NULL if both
 * branches have the same size there. */
static const struct expr *
branch_size(const struct node *n, int k, int dim)
{
	const struct graph *g = n->graph;
	const int64_t *sizes;
	int count = node_attr_ints(n, "sizes", &sizes);

	for (int i = 0; i + 2 < count; i += 3) {
		if (sizes[i] == k && sizes[i + 1] == dim && sizes[i + 2] >= 0 &&
		    sizes[i + 2] < g->run_sizes.n) {
			return g->run_sizes.data[sizes[i + 2]].var->expr;
		}
	}
	return NULL;
}

/* The shape of result k, which is the tensor a in one branch and the tensor b
 * in the other. NULL if their types or ranks differ, or if they have different
 * sizes in a dimension for which n has no variable (branch_size). */
static const struct expr **
branch_shape(struct infer *c, const struct node *n, int k,
	     const struct tensor *a, const struct tensor *b)
{
	const struct expr **shape;

	if (!dtype_equal(a->type, b->type) || a->ndim != b->ndim) {
		return NULL;
	}
	shape = arena_exprs(&c->module->arena, a->ndim + 1);
	for (int d = 0; d < a->ndim; d++) {
		shape[d] = a->shape[d];
		if (a->shape[d] != b->shape[d]) {
			shape[d] = branch_size(n, k, d);
		}
		if (shape[d] == NULL) {
			return NULL;
		}
	}
	return shape;
}

/* Checks that input i of the branch or loop is one truth value; false after a
 * diagnostic. */
static bool
check_condition(struct infer *c, const struct node *n, int i)
{
	const struct tensor *t = n->inputs[i];
	int64_t elems;

	return (dtype_class(t->type) == DTC_BOOL &&
		tensor_const_elems(t, &elems) && elems == 1) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "its condition '%s' is %s, not one truth value; "
			   "correct the model",
			   tensor_label(t), type_text(c, t));
}

/* Checks that the number of iterations, input 0, is one integer; false after a
 * diagnostic. */
static bool
check_count(struct infer *c, const struct node *n)
{
	const struct tensor *t = n->inputs[0];
	int64_t elems;

	return ((t->type.kind == DT_I64 || t->type.kind == DT_I32) &&
		tensor_const_elems(t, &elems) && elems == 1) ||
	       infer_error(c, DIAG_BAD_SHAPE,
			   "its number of iterations '%s' is %s, not one "
			   "integer; correct the model",
			   tensor_label(t), type_text(c, t));
}

bool
infer_end_if(struct infer *c, struct node *n)
{
	int count = (n->n_inputs - 1) / 2;

	if (!check_condition(c, n, 0)) {
		return false;
	}
	for (int k = 0; k < count; k++) {
		const struct tensor *a = n->inputs[1 + k];
		const struct tensor *b = n->inputs[1 + count + k];
		const struct expr **shape = branch_shape(c, n, k, a, b);

		if (shape == NULL) {
			return infer_error(
				c, DIAG_BAD_MODEL,
				"the branches give '%s' different types: %s "
				"and %s; make the shapes equal, or the "
				"condition known when the code is generated",
				n->outputs[k] != NULL ? n->outputs[k]->name
						      : a->name,
				type_text(c, a), type_text(c, b));
		}
		infer_set(c, node_output(n, k), a->type, a->ndim, shape);
	}
	return true;
}

/* The largest number of iterations that the loop may make; NULL if it is not
 * known before the loop. */
static const struct expr *
most_iterations(struct infer *c, const struct node *n)
{
	struct module *m = c->module;
	struct loop_end e = node_loop_end(n);
	const struct expr *const *count;
	int elems;

	if (e.counted) {
		return input_elems(m, n, 0, &count, &elems) && elems == 1
			       ? dim_max(m, expr_i32(m, 0), count[0])
			       : NULL;
	}
	return e.trips >= 0 ? expr_index(m, e.trips) : NULL;
}

static bool
refuse_unlimited(struct infer *c, const struct tensor *t)
{
	return infer_error(c, DIAG_BAD_SHAPE,
			   "each iteration has a slice of '%s', but their "
			   "number is not known before the loop; correct the "
			   "model",
			   tensor_label(t));
}

/* Infers stacked result k of a loop, which consists of the slices, each like t,
 * of all iterations. False after a diagnostic if the number of iterations is
 * not known before the loop. */
static bool
infer_stacked(struct infer *c, struct node *n, int k, const struct tensor *t)
{
	const struct expr **shape = arena_exprs(&c->module->arena, t->ndim + 2);

	shape[0] = most_iterations(c, n);
	if (shape[0] == NULL) {
		return refuse_unlimited(c, t);
	}
	for (int d = 0; d < t->ndim; d++) {
		shape[d + 1] = t->shape[d];
	}
	infer_set(c, node_output(n, k), t->type, t->ndim + 1, shape);
	return true;
}

/* Is the number of iterations that the loop makes known before the loop, as a
 * constant or a size? */
static bool
knows_last(struct infer *c, const struct node *n)
{
	struct loop_end e = node_loop_end(n);

	return !e.condition && most_iterations(c, n) != NULL &&
	       (!e.counted || n->inputs[0]->elems != NULL);
}

static bool
refuse_back(struct infer *c, const struct tensor *t)
{
	return infer_error(c, DIAG_BAD_ATTRIBUTE,
			   "the slices of '%s' begin with those of the last "
			   "iteration, whose number is not known; correct the "
			   "model",
			   t->name);
}

/* Checks that each ScanInput of the loop has a slice for each of the loop's
 * iterations; false after a diagnostic. */
static bool
check_slices(struct infer *c, const struct node *n)
{
	int64_t loop = node_attr_int(n, "loop", 0);
	const struct expr *trips = most_iterations(c, n);
	struct analyser a;

	analyser_init(&a, c->module);
	for (int i = 0; i < n->graph->nodes.n; i++) {
		const struct node *s = n->graph->nodes.data[i];
		const struct tensor *x;

		if (strcmp(s->op_type, "ScanInput") != 0 ||
		    strcmp(s->domain, "tirc") != 0 ||
		    node_attr_int(s, "body", 0) != loop) {
			continue;
		}
		x = s->inputs[0];
		if (trips == NULL) {
			return refuse_unlimited(c, x);
		}
		if (node_attr_int(s, "back", 0) != 0 && !knows_last(c, n)) {
			return refuse_back(c, x);
		}
		if (x->shape[0] != trips &&
		    !prove(&a, expr_le(c->module, trips, x->shape[0]))) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "the loop has more iterations than "
					   "'%s' has slices; correct the model",
					   x->name);
		}
	}
	return true;
}

bool
infer_end_loop(struct infer *c, struct node *n)
{
	struct loop_end e = node_loop_end(n);
	const int64_t *back;
	int n_back = node_attr_ints(n, "back", &back);

	if ((e.counted && !check_count(c, n)) ||
	    (e.condition && !check_condition(c, n, e.first))) {
		return false;
	}
	for (int k = 0; k < e.states; k++) {
		const struct tensor *a = n->inputs[e.first + k];
		const struct tensor *b = n->inputs[e.next + k];

		if (!tensor_same_type(a, b)) {
			return infer_error(
				c, DIAG_BAD_MODEL,
				"its state '%s' is %s before an iteration "
				"and %s after it; a loop needs states of one "
				"shape",
				a->name, type_text(c, a), type_text(c, b));
		}
		infer_set(c, node_output(n, k), a->type, a->ndim, a->shape);
	}
	for (int k = 0; k < e.slices; k++) {
		const struct tensor *t = n->inputs[e.slice + k];

		if (!infer_stacked(c, n, e.states + k, t)) {
			return false;
		}
		if (k < n_back && back[k] != 0 && !knows_last(c, n)) {
			return refuse_back(c, t);
		}
	}
	return check_slices(c, n);
}
