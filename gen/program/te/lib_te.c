/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions: placeholders, axes, elements of tensors, and te.compute. */
#include <stdio.h>

#include "te_parts.h"

/* -- leaves -- */

static bool
room_for_tensors(struct call *c)
{
	return c->ev->n_tensors < EVAL_MAX_TENSORS ||
	       call_error(c, -1, "more than %d tensors", EVAL_MAX_TENSORS);
}

struct pval
te_made(struct eval *ev, struct te_tensor *const *made, int n, int depth,
	bool one)
{
	struct pval list = pv_list_of(ev, PV_LIST, NULL, 0);

	for (int i = 0; i < n; i++) {
		te_remember(ev, made[i], depth);
		vec_push(ev->a, list.u.list, pv_tensor(ev, made[i]));
	}
	return one ? list.u.list->data[0] : list;
}

bool
te_make_placeholder(struct call *c, struct pval *out)
{
	const struct expr **shape;
	struct dtype type = dtype_of(DT_F32);
	const char *name = "placeholder";
	struct te_tensor *t;
	int n;

	if (!arg_shape(c, 0, &shape, &n) ||
	    (arg_given(c, 1) && !arg_dtype(c, 1, &type)) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &name)) ||
	    !room_for_tensors(c)) {
		return false;
	}
	t = te_placeholder(c->ev->m, name, type, n, shape);
	te_remember(c->ev, t, 1);
	*out = pv_tensor(c->ev, t);
	return true;
}

/* te.var("n"), and te.size_var("n"), a variable that is not negative. */
bool
te_make_var(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct dtype type = dtype_of(DT_I32);
	const char *name = "tindex";
	struct var *v;

	if ((arg_given(c, 0) && !arg_text(c, 0, &name)) ||
	    (arg_given(c, 1) && !arg_dtype(c, 1, &type))) {
		return false;
	}
	v = var_new(ev->m, name, type);
	if (c->row->name[0] == 's' || c->row->name[0] == 'S') {
		v->min = 0;
		v->max = BOUND_POS_INF;
	}
	*out = pv_expr(v->expr, 1);
	return true;
}

bool
te_make_const(struct call *c, struct pval *out)
{
	struct module *m = c->ev->m;
	const struct pval *v = &c->args[0];
	const struct expr *e;
	struct py_number n;
	struct dtype type;

	if (!pv_number(v, &n)) {
		return value_kind_error(c, 0, "a number");
	}
	e = typed_number(m, &n).e;
	type = n.kind == PY_NUMBER_FLOAT ? dtype_of(DT_F32)
	       : n.kind == PY_NUMBER_INT ? expr_index(m, n.i)->type
					 : e->type;
	if (arg_given(c, 1) && !arg_dtype(c, 1, &type)) {
		return false;
	}
	if (!dtype_is_float(type) && !dtype_is_int(type) &&
	    dtype_class(type) != DTC_BOOL) {
		return call_error(c, 1, "no constant is of type %s",
				  dtype_name(type));
	}
	if (!typed_fits(&c->ev->typing, c->spans[0], e, type,
			"use a number that it holds, or a wider type")) {
		return false;
	}
	*out = pv_expr(expr_cast(m, type, e), 1);
	return true;
}

bool
te_make_reduce_axis(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const char *name = "rv";
	struct iter_var iv = { .kind = ITER_REDUCE };
	struct pval *dom, extent;
	struct typed ends[2];
	int64_t count;
	int n, depth;

	if ((arg_given(c, 1) && !arg_text(c, 1, &name)) ||
	    !arg_items(c, 0, &dom, &n)) {
		return false;
	}
	if (n != 2) {
		return call_error(c, 0,
				  "an axis runs over a pair (begin, "
				  "end)");
	}
	if (!value_expr(ev, c->spans[0], &dom[0], &iv.min, &depth) ||
	    !eval_binary(ev, c->spans[0], PY_OP_SUB, &dom[1], &dom[0],
			 &extent) ||
	    !value_expr(ev, c->spans[0], &extent, &iv.extent, &depth)) {
		return false;
	}
	if (!dtype_is_int(iv.min->type) || !dtype_is_int(iv.extent->type) ||
	    iv.extent->type.lanes != 1 || depth > 100) {
		return call_error(c, 0, "the bounds of an axis are integers");
	}
	if (expr_is_int(iv.extent, &count) && count < 0) {
		return call_error(c, 0, "the axis ends before it begins");
	}
	ends[0] = typed_expr(iv.min);
	ends[1] = typed_expr(iv.extent);
	if (!typed_promote(&ev->typing, c->spans[0], &ends[0], &ends[1],
			   &iv.min, &iv.extent)) {
		return false;
	}
	iv.var = var_new(ev->m, name, iv.extent->type);
	*out = pv_axis(ev, &iv);
	return true;
}

/* Implements thread_axis(tag) and thread_axis(dom, tag, name). Returns false
 * after an error. */
bool
te_make_thread_axis(struct call *c, struct pval *out)
{
	static const char *const tags[] = {
		"blockIdx.x",  "blockIdx.y",  "blockIdx.z", "threadIdx.x",
		"threadIdx.y", "threadIdx.z", "vthread",    "vthread.x",
		"vthread.y",   "vthread.z",   "cthread",
	};
	struct eval *ev = c->ev;
	struct axis *x = arena_new(ev->a, struct axis);
	int tag_at = c->args[0].kind == PV_STRING ? 0 : 1;
	const char *tag, *name;
	bool known = false;

	if (arg_missing(c, tag_at)) {
		return call_error(c, -1,
				  "thread_axis() needs a tag such as "
				  "\"threadIdx.x\"");
	}
	if (!arg_text(c, tag_at, &tag)) {
		return false;
	}
	name = tag;
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		known |= strcmp(tags[i], tag) == 0;
	}
	if (!known) {
		return call_error(c, tag_at, "there is no thread %s%s", tag,
				  py_suggest(ev->a, tag, tags, 7));
	}
	if (arg_given(c, 2) && !arg_text(c, 2, &name)) {
		return false;
	}
	x->thread = tag;
	x->iv.kind = ITER_SPATIAL;
	x->iv.var = var_new(ev->m, name, dtype_of(DT_I32));
	x->iv.min = expr_i32(ev->m, 0);
	if (tag_at == 1 && arg_given(c, 0)) {
		struct pval *dom;
		int n, depth;

		if (!arg_items(c, 0, &dom, &n)) {
			return false;
		}
		if (n < 1 || n > 2 ||
		    !value_expr(ev, c->spans[0], &dom[n - 1], &x->iv.extent,
				&depth)) {
			return call_error(c, 0,
					  "a thread axis runs over a "
					  "pair (0, end)");
		}
	}
	*out = (struct pval){ .kind = PV_THREAD, .depth = 1, .u.axis = x };
	return true;
}

/* -- elements -- */

static bool
check_index(struct eval *ev, struct py_span at, const struct buffer *b, int d,
	    const struct expr *index)
{
	int64_t v, size;

	if (!dtype_is_int(index->type)) {
		return eval_error(ev, at,
				  "index %d of %s is of type %s; "
				  "indices are integers",
				  d, b->name, dtype_name(index->type));
	}
	if (expr_is_int(index, &v) &&
	    (v < 0 || (expr_is_int(b->shape[d], &size) && v >= size))) {
		struct strbuf s;

		strbuf_init(&s);
		expr_print(b->shape[d], &s);
		eval_error(ev, at,
			   "index %d of %s is %lld, but there are %s "
			   "elements",
			   d, b->name, (long long)v, s.data);
		strbuf_release(&s);
		return false;
	}
	return true;
}

/* A(i, j) and A[i, j], and A[i][j], which adds the indices one by one. Returns
 * false after an error. */
static bool
te_index(struct eval *ev, struct py_span at, const struct pval *of,
	 const struct pval *index, int n, struct pval *out)
{
	bool part = of->kind == PV_TENSOR_PART;
	struct te_tensor *t = part ? of->u.part->tensor : of->u.tensor;
	int have = part ? of->u.part->n : 0;
	int total = have + n;
	const struct expr **all;
	int depth = of->depth;

	if (total > t->buffer->ndim) {
		return eval_error(ev, at, "%s has %d dimension%s, not %d",
				  t->buffer->name, t->buffer->ndim,
				  t->buffer->ndim == 1 ? "" : "s", total);
	}
	all = arena_exprs(ev->a, total + 1);
	for (int d = 0; d < have; d++) {
		all[d] = of->u.part->index[d];
	}
	for (int d = 0; d < n; d++) {
		int deep;

		if (index[d].kind == PV_SLICE) {
			return eval_error(ev, at,
					  "slices of tensors are not "
					  "read; compute the elements with "
					  "te.compute or topi.strided_slice");
		}
		if (!value_expr(ev, at, &index[d], &all[have + d], &deep) ||
		    !check_index(ev, at, t->buffer, have + d, all[have + d])) {
			return false;
		}
		if (expr_has(all[have + d], EXPR_REDUCE)) {
			return eval_error(ev, at,
					  "a reduction cannot be an "
					  "index");
		}
		depth = deep + 1 > depth ? deep + 1 : depth;
	}
	if (total < t->buffer->ndim) {
		struct pv_part *p = arena_new(ev->a, struct pv_part);

		p->tensor = t;
		p->index = all;
		p->n = total;
		*out = (struct pval){ .kind = PV_TENSOR_PART,
				      .depth = depth,
				      .u.part = p };
		return true;
	}
	*out = pv_expr(te_at(ev->m, t, all, total), depth);
	return eval_expr_fits(ev, at, out->u.expr, depth);
}

bool
te_call_tensor(struct eval *ev, struct py_span at, const struct pval *of,
	       const struct call_args *args, struct pval *out)
{
	for (int i = 0; i < args->given.n; i++) {
		if (args->given.data[i].name) {
			return eval_error(ev, args->given.data[i].span,
					  "indices have no names");
		}
	}
	return te_index(ev, at, of, args->values.data, args->values.n, out);
}

bool
te_subscript(struct eval *ev, struct py_span at, const struct pval *of,
	     const struct pval *index, struct pval *out)
{
	if (index->kind == PV_TUPLE) {
		return te_index(ev, at, of, index->u.list->data,
				index->u.list->n, out);
	}
	return te_index(ev, at, of, index, 1, out);
}

/* -- compute -- */

struct checker {
	struct eval *ev;
	const struct iter_var *axes, *over;
	int n_axes, n_over;
	/* the axis of another stage that the body of this stage uses by
	 * mistake; NULL if there is none */
	const struct var *stray;
	bool reduces;
	VEC(struct te_tensor *) inputs;
};

static bool
among(const struct iter_var *axes, int n, const struct var *v)
{
	for (int i = 0; i < n; i++) {
		if (axes[i].var == v) {
			return true;
		}
	}
	return false;
}

static void
check_node(struct checker *k, const struct expr *e)
{
	struct eval *ev = k->ev;

	k->reduces |= e->kind == EXPR_REDUCE;
	if (e->kind == EXPR_VAR && e->u.var->id < ev->axes.n &&
	    ev->axes.data[e->u.var->id] &&
	    !among(k->axes, k->n_axes, e->u.var) &&
	    !among(k->over, k->n_over, e->u.var)) {
		k->stray = e->u.var;
	}
	if (e->kind == EXPR_LOAD) {
		struct te_tensor *t = te_tensor_of(ev, e->u.buffer);

		if (vec_has(&k->inputs, t)) {
			return;
		}
		if (t) {
			vec_push(ev->a, &k->inputs, t);
		}
	}
}

/* Checks the body of a stage: only its outermost node may be a reduction, and
 * all its axes must belong to the stage. Returns false after an error. */
static bool
check_body(struct checker *k, struct py_span at, const struct expr *e)
{
	struct eval *ev = k->ev;
	struct exprs parts = { 0 };
	struct tree_iter it;
	const struct expr *x;

	k->over = NULL;
	k->n_over = 0;
	k->reduces = false;
	if (e->kind == EXPR_REDUCE) {
		k->over = e->u.reduce->axes;
		k->n_over = e->u.reduce->n_axes;
	}
	te_body_parts(ev->a, e, &parts);
	it = exprs_each(parts.list.data, parts.list.n);
	while ((x = tree_next(&it)) != NULL) {
		check_node(k, x);
	}
	if (k->reduces) {
		return eval_error(ev, at,
				  "a reduction must be the whole expression of "
				  "a te.compute; compute it in a tensor of its "
				  "own and use that tensor");
	}
	if (k->stray) {
		return eval_error(ev, at,
				  "axis %s is used, but nothing here "
				  "runs over it; put it into the axis list of "
				  "te.sum, te.max, …",
				  k->stray->name);
	}
	if (dtype_class(e->type) == DTC_STRING ||
	    dtype_class(e->type) == DTC_HANDLE ||
	    dtype_class(e->type) == DTC_VOID || e->type.lanes != 1) {
		return eval_error(ev, at, "an element cannot be of type %s",
				  dtype_name(e->type));
	}
	return true;
}

/* Sets *out to the names of the n axes, which are the names of the parameters
 * of f. Returns false after an error if f does not have n parameters. */
static bool
axis_names(struct call *c, const struct pval *f, int n, const char ***out)
{
	const struct py_node *def = f->kind == PV_CLOSURE ? f->u.closure->def
							  : NULL;
	const char **names = arena_array(c->ev->a, const char *, n + 1);
	int plain = 0, star = 0;

	for (int i = 0; def && i < def->n_params; i++) {
		plain += def->params[i].kind == PY_PARAM_PLAIN &&
			 !def->params[i].initial &&
			 !def->params[i].keyword_only;
		star += def->params[i].kind == PY_PARAM_STAR;
	}
	if (def && !star && plain != n) {
		return call_error(c, 1,
				  "the function takes %d indices, but "
				  "the shape has %d dimension%s",
				  plain, n, n == 1 ? "" : "s");
	}
	for (int i = 0; i < n; i++) {
		names[i] = arena_printf(c->ev->a, "i%d", i);
	}
	for (int i = 0, at = 0; def && i < def->n_params && at < n; i++) {
		if (def->params[i].kind == PY_PARAM_PLAIN &&
		    !(star && plain == 0)) {
			names[at++] = def->params[i].name;
		}
	}
	*out = names;
	return true;
}

static bool
compute_bodies(struct call *c, const struct pval *value,
	       const struct expr ***bodies, int *n, int *depth)
{
	struct eval *ev = c->ev;
	bool one = value->kind != PV_TUPLE && value->kind != PV_LIST;
	const struct pval *items;

	if (!eval_items_or_one(ev, c->spans[1], value, one, &items, n)) {
		return false;
	}
	if (*n < 1 || *n > 16) {
		return call_error(c, 1, "%d values for one element", *n);
	}
	*bodies = arena_exprs(ev->a, *n);
	*depth = 0;
	for (int i = 0; i < *n; i++) {
		int deep;

		if (items[i].kind == PV_NONE) {
			return call_error(c, 1,
					  "the function returns None; "
					  "is a return missing?");
		}
		if (!value_expr(ev, c->spans[1], &items[i], &(*bodies)[i],
				&deep)) {
			return false;
		}
		*depth = deep > *depth ? deep : *depth;
	}
	return true;
}

/* Checks the bodies of a stage with several outputs: all must be parts of one
 * reduction, or none may be a reduction. Returns false after an error. */
static bool
check_together(struct call *c, const struct expr *const *bodies, int n)
{
	const struct reduction *first = bodies[0]->kind == EXPR_REDUCE
						? bodies[0]->u.reduce
						: NULL;

	for (int i = 0; i < n; i++) {
		const struct reduction *r = bodies[i]->kind == EXPR_REDUCE
						    ? bodies[i]->u.reduce
						    : NULL;

		if (!r != !first ||
		    (r && (r->reducer != first->reducer || r->index != i ||
			   r->reducer->n != n))) {
			return call_error(c, 1,
					  "the outputs of a reduction "
					  "are those of one reducer, in its "
					  "order");
		}
	}
	return true;
}

/* The value of te.tag_scope(tag): stages that are made within its `with` block
 * have the tag. */
struct tag_scope {
	const char *tag;
};

bool
te_tag_scope(struct call *c, struct pval *out)
{
	struct tag_scope *s = arena_new(c->ev->a, struct tag_scope);

	*out = pv_any(PV_TAG_SCOPE, s);
	return arg_text(c, 0, &s->tag);
}

static bool
enter_tag(struct eval *ev, struct py_span at, const struct pval *v,
	  struct pval *out)
{
	const struct tag_scope *s = v->u.any;

	if (ev->tag) {
		return eval_error(ev, at,
				  "a tag scope cannot be inside of "
				  "another one");
	}
	ev->tag = s->tag;
	*out = pv_none();
	return true;
}

static void
leave_tag(struct eval *ev, const struct pval *v)
{
	(void)v;
	ev->tag = NULL;
}

const struct kind_ops tag_scope_ops = { .enter = enter_tag,
					.leave = leave_tag };

bool
te_make_compute(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct expr **shape, **bodies = NULL;
	const char *tag = ev->tag ? ev->tag : "";
	const char *name = "compute", **names = NULL, **output_names;
	struct checker k = { .ev = ev };
	struct iter_var *axes;
	struct te_tensor **made;
	struct pval *index, value;
	int rank, n = 0, depth = 0;

	if (!arg_shape(c, 0, &shape, &rank) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &name)) ||
	    (arg_given(c, 3) && !arg_text(c, 3, &tag)) ||
	    !axis_names(c, &c->args[1], rank, &names) || !room_for_tensors(c)) {
		return false;
	}
	axes = te_axes(ev->m, rank, shape, names);
	index = arena_array(ev->a, struct pval, rank + 1);
	for (int d = 0; d < rank; d++) {
		index[d] = pv_axis(ev, &axes[d]);
	}
	if (!eval_apply(ev, c->spans[1], &c->args[1], index, rank, &value) ||
	    !compute_bodies(c, &value, &bodies, &n, &depth) ||
	    !check_together(c, bodies, n)) {
		return false;
	}
	k.axes = axes;
	k.n_axes = rank;
	output_names = arena_array(ev->a, const char *, n);
	for (int i = 0; i < n; i++) {
		if (!check_body(&k, c->spans[1], bodies[i])) {
			return false;
		}
		output_names[i] = n == 1 ? name
					 : arena_printf(ev->a, "%s_v%d", name,
							i);
	}
	made = arena_array(ev->a, struct te_tensor *, n);
	te_compute_multi(ev->m, output_names, tag, rank, axes, bodies, n,
			 k.inputs.data, k.inputs.n, made);
	if (n > 1) {
		made[0]->stage->name = name;
	}
	*out = te_made(ev, made, n, depth + 1,
		       value.kind != PV_TUPLE && value.kind != PV_LIST);
	return true;
}
