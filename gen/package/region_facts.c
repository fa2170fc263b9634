/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about an operator that libraries need, in one form for all models:
 * windows with explicit padding; matrix products as rows, columns and strides;
 * axes counted from the front. */
#include "ops.h"
#include "regions.h"
#include "window.h"

void
region_ints(struct tdata *data, const char *list, const int64_t *v, int n)
{
	tdata_list(data, list);
	for (int i = 0; i < n; i++) {
		struct tdata *item = tdata_item(data, list);

		tdata_int(item, "value", v[i]);
		tdata_int(item, "index", i);
	}
}

/* -- windows -- */

static bool
fixed_dim(const struct tensor *t, int d, int64_t *v)
{
	return t != NULL && d < t->ndim && expr_is_int(t->shape[d], v);
}

/* The padding at the end with which floor((in + begin + end - reach) / stride)
 * + 1 is the size of the result. */
static int64_t
end_padding(const struct window *w, int d, bool transposed)
{
	int64_t in, out, begin, end, reach;

	if (!expr_is_int(w->in[d], &in) || !expr_is_int(w->out[d], &out) ||
	    !expr_is_int(w->begin[d], &begin) ||
	    !expr_is_int(w->end[d], &end)) {
		return 0;
	}
	reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
	if (transposed) {
		return (in - 1) * w->stride[d] + reach - out - begin;
	}
	if ((in + begin + end - reach) / w->stride[d] + 1 == out) {
		return end;
	}
	return (out - 1) * w->stride[d] + reach - in - begin;
}

/* Adds the dimensions of a convolution's weights. For a grouped convolution,
 * libraries expect the group as an additional first dimension. */
static void
grouped_dims(struct tdata *data, const struct node *n, int64_t group,
	     bool transposed)
{
	const struct tensor *w = n->inputs[1];
	int64_t dims[3 + WINDOW_MAX] = { group }, v;
	int from = group > 1 ? 0 : 1;

	for (int i = 0; i < w->ndim && i < 2 + WINDOW_MAX; i++) {
		dims[1 + i] = expr_is_int(w->shape[i], &v) ? v : 0;
	}
	tdata_int(data, "weights_ndim", w->ndim + 1 - from);
	/* dims has the group, then [out][in / g], or for a transposed
	 * convolution [in][out / g]; the outputs are moved to the front. */
	dims[1] /= group;
	region_ints(data, "weights_stored", dims + from, w->ndim + 1 - from);
	if (transposed) {
		int64_t in = dims[1];

		dims[1] = dims[2];
		dims[2] = in;
	}
	region_ints(data, "weights_dims", dims + from, w->ndim + 1 - from);
}

static void
add_window(struct region_text *x, struct tdata *data, const struct node *n)
{
	bool transposed = strcmp(n->op_type, "ConvTranspose") == 0;
	bool pool = n->n_inputs < 2 || strstr(n->op_type, "Pool") != NULL;
	int64_t kernel[WINDOW_MAX], begin[WINDOW_MAX], end[WINDOW_MAX];
	int64_t gaps[WINDOW_MAX], group = node_attr_int(n, "group", 1);
	struct window w;

	for (int d = 0; !pool && d < n->inputs[1]->ndim - 2 && d < WINDOW_MAX;
	     d++) {
		if (!fixed_dim(n->inputs[1], 2 + d, &kernel[d])) {
			return;
		}
	}
	if (window_of_node(x->k->m, n, pool ? NULL : kernel, transposed, &w) !=
	    NULL) {
		return;
	}
	for (int d = 0; d < w.n; d++) {
		begin[d] = 0;
		expr_is_int(w.begin[d], &begin[d]);
		end[d] = end_padding(&w, d, transposed);
		gaps[d] = w.dilation[d] - 1;
	}
	tdata_int(data, "spatial", w.n);
	region_ints(data, "kernel", w.kernel, w.n);
	region_ints(data, "strides", w.stride, w.n);
	region_ints(data, "dilations", w.dilation, w.n);
	region_ints(data, "dilation_gaps", gaps, w.n);
	region_ints(data, "pads_begin", begin, w.n);
	region_ints(data, "pads_end", end, w.n);
	region_ints(data, "output_padding", w.output_padding, w.n);
	tdata_int(data, "group", group);
	tdata_flag(data, "is_grouped", group > 1);
	if (!pool) {
		grouped_dims(data, n, group, transposed);
	}
}

static bool
has_window(const struct node *n)
{
	return n->n_inputs > 0 && n->inputs[0] != NULL &&
	       n->inputs[0]->ndim > 2 &&
	       (node_attr(n, "kernel_shape") != NULL ||
		(n->op != NULL && n->op->fuse == FUSE_COMPUTE &&
		 n->n_inputs > 1 && strncmp(n->op_type, "Conv", 4) == 0));
}

/* -- matrix products -- */

/* An operand of a matrix product and its layout in memory. If a Transpose in
 * the match computes it, `memory` is the input of the Transpose, else the
 * tensor itself. */
struct operand {
	/* has the dimensions of the product */
	const struct tensor *tensor;
	const struct tensor *memory;
	/* stride[d]: the distance in memory, in elements, from one index of
	 * dimension d to the next */
	const struct expr **stride;
	/* the elements of a column are contiguous, because those of the second
	 * last dimension are */
	bool columns;
};

struct matmul {
	struct operand a, b;
	const struct expr *rows, *columns, *inner;
	/* the number of rows of all matrices of the result together */
	const struct expr *all_rows;
	bool a_trans, b_trans;
	/* The loops around the product: the extent of each, and the distances
	 * by which an iteration moves in a, b and the result. */
	int n_loops;
	const struct expr **extent, **a_step, **b_step, **y_step;
};

static const struct expr *
dim_from_end(struct module *m, const struct tensor *t, int i)
{
	return i < t->ndim ? t->shape[t->ndim - 1 - i] : expr_i32(m, 1);
}

/* Adds a loop with the strides `step` of the three operands. If the new loop
 * and the last loop together access all operands without gaps, extends the last
 * loop instead. */
static void
add_loop(struct module *m, struct matmul *p, const struct expr *extent,
	 const struct expr *const *step)
{
	const struct expr **steps[3] = { p->a_step, p->b_step, p->y_step };
	int last = p->n_loops - 1;
	bool same = last >= 0;

	if (expr_is_value(extent, 1)) {
		return;
	}
	for (int i = 0; i < 3 && same; i++) {
		same = steps[i][last] == expr_mul(m, extent, step[i]);
	}
	if (same) {
		p->extent[last] = expr_mul(m, p->extent[last], extent);
	} else {
		last = p->n_loops++;
		p->extent[last] = extent;
	}
	for (int i = 0; i < 3; i++) {
		steps[i][last] = step[i];
	}
}

static struct operand
operand_of(struct region_text *x, const struct node *reader,
	   const struct tensor *t)
{
	struct module *m = x->k->m;
	const struct node *n = t->producer;
	const int64_t *perm = NULL;
	const struct expr *elems = expr_i32(m, 1);
	const struct expr **dense = arena_exprs(x->k->a, t->ndim + 1);
	struct operand o = { .tensor = t, .memory = t };

	if (n != NULL && n->match == reader->match && t->ndim > 1 &&
	    strcmp(n->op_type, "Transpose") == 0 &&
	    node_attr_ints(n, "perm", &perm) == t->ndim &&
	    (perm[t->ndim - 1] == t->ndim - 1 ||
	     perm[t->ndim - 2] == t->ndim - 1)) {
		o.memory = n->inputs[0];
		o.columns = perm[t->ndim - 1] != t->ndim - 1;
	} else {
		perm = NULL;
	}
	o.stride = arena_exprs(x->k->a, t->ndim + 1);
	for (int d = t->ndim - 1; d >= 0; d--) {
		dense[d] = elems;
		elems = expr_mul_sizes(m, o.memory->shape[d], elems);
	}
	for (int d = 0; d < t->ndim; d++) {
		o.stride[d] = dense[perm != NULL ? perm[d] : d];
	}
	return o;
}

/* The stride of the operand along dimension i, where i counts from the last
 * dimension; 0 if the operand is broadcast along it. */
static const struct expr *
step_of(struct module *m, const struct operand *o, int i)
{
	const struct tensor *t = o->tensor;

	if (i >= t->ndim || expr_is_value(dim_from_end(m, t, i), 1)) {
		return expr_i32(m, 0);
	}
	return o->stride[t->ndim - 1 - i];
}

/* The distance in memory between two rows of the matrix, or, if columns are
 * contiguous, between two columns. */
static const struct expr *
stored_row(struct module *m, const struct operand *o)
{
	int n = o->tensor->ndim;

	return n < 2 ? expr_i32(m, 1) : o->stride[o->columns ? n - 1 : n - 2];
}

static void
find_loops(struct region_text *x, struct matmul *p, const struct node *n,
	   const struct tensor *y)
{
	struct module *m = x->k->m;
	const struct tensor *a = p->a.tensor, *b = p->b.tensor;
	const struct operand whole = operand_of(x, n, y);
	/* An operand that is a single row or column may have only one
	 * dimension. */
	int a_inner = a->ndim > 1 ? 2 : 1, b_inner = b->ndim > 1 ? 2 : 1;
	int y_inner = a_inner + b_inner - 2;
	int batch = y->ndim - y_inner;
	bool one_b = true;

	p->extent = arena_exprs(x->k->a, y->ndim + 1);
	p->a_step = arena_exprs(x->k->a, y->ndim + 1);
	p->b_step = arena_exprs(x->k->a, y->ndim + 1);
	p->y_step = arena_exprs(x->k->a, y->ndim + 1);
	for (int i = b_inner; i < b->ndim; i++) {
		one_b = one_b && expr_is_value(dim_from_end(m, b, i), 1);
	}
	if (one_b && !p->a_trans && a_inner == 2 && p->a.memory == a) {
		/* b is the same matrix for all matrices of a: these become one
		 * matrix with all their rows */
		for (int i = 2; i < a->ndim; i++) {
			p->rows = expr_mul(m, p->rows, dim_from_end(m, a, i));
		}
		return;
	}
	for (int i = batch - 1; i >= 0; i--) {
		const struct expr *step[3] = {
			step_of(m, &p->a, i + a_inner),
			step_of(m, &p->b, i + b_inner),
			step_of(m, &whole, i + y_inner),
		};

		add_loop(m, p, dim_from_end(m, y, i + y_inner), step);
	}
}

/* The name of loop n: i, j, k, …, with a number if a parameter has this name. */
static const char *
loop_name(struct region_text *x, int n)
{
	const char *name = arena_printf(x->k->a, "%c", 'i' + n);

	for (int i = 2; !name_set_takes(&x->names, name); i++) {
		name = arena_printf(x->k->a, "%c_%d", 'i' + n, i);
	}
	return name;
}

/* The offset of an operand, as the sum over the loops, such as "i * 64 + j *
 * 8"; "" if the offset is 0. */
static const char *
offset_text(struct region_text *x, const struct matmul *p,
	    const struct expr *const *step)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < p->n_loops; i++) {
		if (expr_is_value(step[i], 0)) {
			continue;
		}
		strbuf_printf(&s, "%s%s", s.len > 0 ? " + " : "",
			      loop_name(x, i));
		if (expr_is_value(step[i], 1)) {
			continue;
		}
		strbuf_printf(&s, " * %s", region_expr(x, step[i]));
	}
	text = arena_strdup(x->k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

static const char *
tabs(struct region_text *x, int n)
{
	char *text = arena_alloc(x->k->a, (size_t)n + 1);

	memset(text, '\t', (size_t)n);
	text[n] = '\0';
	return text;
}

static void
put_matmul(struct region_text *x, struct tdata *data, const struct matmul *p)
{
	struct module *m = x->k->m;

	tdata_text(data, "a", region_name_of(x, p->a.memory));
	tdata_text(data, "b", region_name_of(x, p->b.memory));
	tdata_text(data, "all_rows", region_expr(x, p->all_rows));
	tdata_flag(data, "all_one_row", expr_is_value(p->all_rows, 1));
	tdata_text(data, "y_elems",
		   region_expr(x, expr_mul(m, p->all_rows, p->columns)));
	tdata_text(data, "rows", region_expr(x, p->rows));
	tdata_text(data, "columns", region_expr(x, p->columns));
	tdata_text(data, "inner", region_expr(x, p->inner));
	tdata_flag(data, "a_trans", p->a_trans);
	tdata_flag(data, "b_trans", p->b_trans);
	tdata_text(data, "a_stride",
		   region_expr(x, p->a.tensor->ndim < 2
					  ? p->inner
					  : stored_row(m, &p->a)));
	tdata_text(data, "b_stride", region_expr(x, stored_row(m, &p->b)));
	tdata_flag(data, "one_row", expr_is_value(p->rows, 1));
	tdata_flag(data, "one_column", expr_is_value(p->columns, 1));
	tdata_text(data, "row", loop_name(x, 0));
	tdata_text(data, "column", loop_name(x, 1));
	tdata_list(data, "loops");
	for (int i = 0; i < p->n_loops; i++) {
		struct tdata *loop = tdata_item(data, "loops");

		tdata_text(loop, "var", loop_name(x, i));
		tdata_text(loop, "extent", region_expr(x, p->extent[i]));
		tdata_text(loop, "indent", tabs(x, i));
		tdata_text(loop, "outdent", tabs(x, p->n_loops - 1 - i));
	}
	tdata_text(data, "inside", tabs(x, p->n_loops));
	tdata_text(data, "a_offset", offset_text(x, p, p->a_step));
	tdata_text(data, "b_offset", offset_text(x, p, p->b_step));
	tdata_text(data, "y_offset", offset_text(x, p, p->y_step));
}

static void
add_matmul(struct region_text *x, struct tdata *data, const struct node *n)
{
	struct module *m = x->k->m;
	const struct tensor *a = n->inputs[0], *b = n->inputs[1];
	struct matmul p = { 0 };

	p.a = operand_of(x, n, a);
	p.b = operand_of(x, n, b);
	p.a_trans = node_attr_int(n, "transA", 0) != 0;
	p.b_trans = node_attr_int(n, "transB", 0) != 0;
	p.inner = dim_from_end(m, a, p.a_trans ? 1 : 0);
	p.rows = a->ndim < 2 ? expr_i32(m, 1)
			     : dim_from_end(m, a, p.a_trans ? 0 : 1);
	p.columns = b->ndim < 2 ? expr_i32(m, 1)
				: dim_from_end(m, b, p.b_trans ? 1 : 0);
	p.a_trans = p.a_trans != p.a.columns;
	p.b_trans = p.b_trans != p.b.columns;
	p.all_rows = expr_i32(m, 1);
	for (int i = b->ndim < 2 ? 0 : 1; i < n->outputs[0]->ndim; i++) {
		p.all_rows = expr_mul(m, p.all_rows,
				      dim_from_end(m, n->outputs[0], i));
	}
	find_loops(x, &p, n, n->outputs[0]);
	put_matmul(x, data, &p);
}

/* -- axes -- */

static void
add_axis(struct tdata *data, const struct node *n)
{
	const struct tensor *t = n->inputs[0];
	int64_t axis;

	if (node_attr(n, "axis") == NULL || t == NULL || t->ndim < 0) {
		return;
	}
	axis = node_attr_int(n, "axis", 0);
	tdata_int(data, "axis", axis < 0 ? axis + t->ndim : axis);
	tdata_flag(data, "axis_is_last", axis == -1 || axis == t->ndim - 1);
}

void
region_node_facts(struct region_text *x, struct tdata *data,
		  const struct node *n)
{
	if (has_window(n)) {
		add_window(x, data, n);
	}
	if ((strcmp(n->op_type, "MatMul") == 0 ||
	     strcmp(n->op_type, "Gemm") == 0) &&
	    n->n_inputs > 1) {
		add_matmul(x, data, n);
	}
	if (n->n_inputs > 0) {
		add_axis(data, n);
	}
}
