/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of tensors, operations, axes and buffers; te.scan, te.extern, and
 * te.decl_tensor_intrin. */
#include "intrinsic_make.h"

#include "te_parts.h"

static struct pval
size_value(const struct expr *e)
{
	int64_t v;

	return expr_is_int(e, &v) ? pv_int(v) : pv_expr(e, 1);
}

/* A tuple of n sizes or strides. */
static struct pval
sizes_value(struct eval *ev, const struct expr *const *sizes, int n)
{
	struct pval out = pv_list_of(ev, PV_TUPLE, NULL, 0);

	for (int d = 0; d < n; d++) {
		vec_push(ev->a, out.u.list, size_value(sizes[d]));
	}
	return out;
}

bool
tensor_attribute(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct buffer *b = c->self.kind == PV_BUFFER
					 ? c->self.u.buffer
					 : c->self.u.tensor->buffer;
	const char *name = c->row->name;

	if (strcmp(name, "shape") == 0) {
		*out = sizes_value(ev, b->shape, b->ndim);
	} else if (strcmp(name, "strides") == 0) {
		/* as in TVM, a buffer without gaps has an empty tuple */
		*out = sizes_value(ev, b->strides, b->strides ? b->ndim : 0);
	} else if (strcmp(name, "ndim") == 0) {
		*out = pv_int(b->ndim);
	} else if (strcmp(name, "name") == 0) {
		*out = pv_string(ev, b->name);
	} else if (strcmp(name, "value_index") == 0) {
		*out = pv_int(c->self.u.tensor->index);
	} else { /* the attribute op */
		*out = (struct pval){ .kind = PV_OP,
				      .depth = c->self.depth,
				      .u.tensor = c->self.u.tensor };
	}
	return true;
}

static struct pval
axes_value(struct eval *ev, const struct iter_var *axes, int n)
{
	struct pval out = pv_list_of(ev, PV_LIST, NULL, 0);

	for (int i = 0; i < n; i++) {
		vec_push(ev->a, out.u.list, pv_axis(ev, &axes[i]));
	}
	return out;
}

bool
op_attribute(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct te_tensor *t = c->self.u.tensor;
	const struct te_stage *s = t->stage;
	const char *name = c->row->name;

	if (strcmp(name, "name") == 0) {
		*out = pv_string(ev, s ? s->name : t->buffer->name);
	} else if (strcmp(name, "tag") == 0) {
		*out = pv_string(ev, s && s->tag ? s->tag : "");
	} else if (strcmp(name, "num_outputs") == 0) {
		*out = pv_int(s ? s->n_out : 1);
	} else if (strcmp(name, "input_tensors") == 0) {
		*out = pv_list_of(ev, PV_LIST, NULL, 0);
		for (int i = 0; s && i < s->n_inputs; i++) {
			vec_push(ev->a, out->u.list,
				 pv_tensor(ev, s->inputs[i]));
		}
	} else if (strcmp(name, "scan_axis") == 0) {
		if (!s || s->kind != TE_SCAN) {
			return call_error(c, -1, "%s is not a scan",
					  t->buffer->name);
		}
		*out = pv_axis(ev, &s->scan->axis);
	} else if (!s) {
		return call_error(c, -1, "%s is a placeholder; it has no axes",
				  t->buffer->name);
	} else if (strcmp(name, "axis") == 0) {
		*out = axes_value(ev, s->axes, s->n_axes);
	} else if (s->n_out > 0 && s->kind == TE_COMPUTE &&
		   /* the attribute reduce_axis */
		   s->bodies[0]->kind == EXPR_REDUCE) {
		*out = axes_value(ev, s->bodies[0]->u.reduce->axes,
				  s->bodies[0]->u.reduce->n_axes);
	} else {
		*out = pv_list_of(ev, PV_LIST, NULL, 0);
	}
	return true;
}

bool
op_output(struct call *c, struct pval *out)
{
	struct te_tensor *t = c->self.u.tensor;
	int64_t i;

	if (!arg_int(c, 0, 0, t->stage ? t->stage->n_out - 1 : 0, &i)) {
		return false;
	}
	*out = pv_tensor(c->ev, t->stage ? t->stage->out[i] : t);
	return true;
}

bool
axis_attribute(struct call *c, struct pval *out)
{
	const struct axis *x = c->self.u.axis;

	if (strcmp(c->row->name, "var") == 0) {
		*out = pv_expr(x->iv.var->expr, 1);
	} else if (strcmp(c->row->name, "thread_tag") == 0) {
		*out = pv_string(c->ev, x->thread ? x->thread : "");
	} else { /* the attribute dom */
		*out = c->self;
	}
	return true;
}

bool
axis_extent(struct call *c, struct pval *out)
{
	const struct axis *x = c->self.u.axis;
	const struct expr *e = c->row->name[0] == 'm' ? x->iv.min
						      : x->iv.extent;

	if (!e) {
		return call_error(c, -1,
				  "the axis has no extent before the "
				  "function is lowered");
	}
	*out = size_value(e);
	return true;
}

/* -- buffers -- */

bool
tir_decl_buffer(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct buffer_spec spec = { .name = "buffer",
				    .type = dtype_of(DT_F32),
				    .scope = "" /* any */ };
	const struct expr **shape, **strides = NULL;
	int64_t align = 0;
	int n;

	if (!arg_shape(c, 0, &shape, &spec.ndim) ||
	    (arg_given(c, 1) && !arg_dtype(c, 1, &spec.type)) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &spec.name)) ||
	    (arg_given(c, 6) && !arg_text(c, 6, &spec.scope)) ||
	    (arg_given(c, 7) && !arg_int(c, 7, -1, 4096, &align))) {
		return false;
	}
	if (arg_given(c, 4)) {
		if (!arg_shape(c, 4, &strides, &n)) {
			return false;
		}
		if (n != spec.ndim && n > 0) {
			return call_error(c, 4,
					  "%d strides for %d "
					  "dimensions",
					  n, spec.ndim);
		}
		spec.strides = n > 0 ? strides : NULL;
	}
	spec.shape = shape;
	spec.align_bytes = align > 0 ? (int)align : 0;
	*out = pv_any(PV_BUFFER, buffer_new(ev->m, &spec));
	return true;
}

/* A.access_ptr("r"): the address of the first element. The access mask is
 * ignored, because the passes find out themselves whether the array is read or
 * written. */
bool
buffer_access_ptr(struct call *c, struct pval *out)
{
	struct module *m = c->ev->m;
	const struct buffer *b = c->self.u.buffer;
	const struct expr **at = arena_exprs(c->ev->a, b->ndim + 1);
	const struct expr *load;
	int64_t offset = 0;

	if (arg_given(c, 3) && !arg_int(c, 3, 0, 0, &offset)) {
		return false;
	}
	for (int d = 0; d < b->ndim; d++) {
		at[d] = expr_int(m, b->shape[d]->type, 0);
	}
	load = expr_load(m, b, at, b->ndim);
	*out = pv_expr(expr_call(m, INTRIN_ADDRESS_OF, dtype_of(DT_HANDLE),
				 &load, 1),
		       2);
	return true;
}

/* -- scan -- */

static bool
report(struct call *c, const char *why)
{
	return call_error(c, -1, "%s", why);
}

bool
te_make_scan(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_tensor **init, **update, **state, **inputs = NULL, **made;
	const char *name = "scan", *tag = "", *why;
	int n, n_update, n_state, n_inputs = 0, depth = 0;

	if (!arg_tensors(c, 0, &init, &n) ||
	    !arg_tensors(c, 1, &update, &n_update) ||
	    !arg_tensors(c, 2, &state, &n_state) ||
	    (arg_given(c, 3) && !arg_tensors(c, 3, &inputs, &n_inputs)) ||
	    (arg_given(c, 4) && !arg_text(c, 4, &name)) ||
	    (arg_given(c, 5) && !arg_text(c, 5, &tag))) {
		return false;
	}
	if (n_update != n || n_state != n || n < 1) {
		return call_error(c, -1,
				  "a scan needs as many updates and "
				  "states as initial tensors (%d, %d and %d "
				  "are given)",
				  n, n_update, n_state);
	}
	for (int i = 0; i < n; i++) {
		const struct buffer *a = init[i]->buffer;
		const struct buffer *b = update[i]->buffer;

		if (a->ndim > 0 && b->ndim > 0 &&
		    !dtype_equal(a->shape[0]->type, b->shape[0]->type)) {
			return call_error(c, 0,
					  "%s and %s count time in %s "
					  "and %s; give their sizes one type",
					  a->name, b->name,
					  dtype_name(a->shape[0]->type),
					  dtype_name(b->shape[0]->type));
		}
	}
	made = arena_array(ev->a, struct te_tensor *, n);
	if (!te_scan(ev->m, name, tag, init, update, state, n, inputs, n_inputs,
		     made, &why)) {
		return report(c, why);
	}
	for (int i = 0; i < n; i++) {
		int deep = te_depth(ev, init[i]);

		depth = deep > depth ? deep : depth;
		deep = te_depth(ev, update[i]);
		depth = deep > depth ? deep : depth;
	}
	*out = te_made(ev, made, n, depth + 1, n == 1);
	return true;
}

/* -- extern -- */

/* Reads the first argument, which is a shape or a list of shapes. Returns false
 * after an error. */
static bool
extern_shapes(struct call *c, const struct expr ****shapes, int **ndims, int *n)
{
	struct pval *items;
	bool many;

	if (!arg_items(c, 0, &items, n)) {
		return false;
	}
	many = *n > 0 &&
	       (items[0].kind == PV_LIST || items[0].kind == PV_TUPLE);
	*n = many ? *n : 1;
	*shapes = arena_array(c->ev->a, const struct expr **, *n);
	*ndims = arena_array(c->ev->a, int, *n);
	for (int i = 0; i < *n; i++) {
		struct call one = *c;

		one.args = many ? &items[i] : &c->args[0];
		one.n = 1;
		if (!arg_shape(&one, 0, &(*shapes)[i], &(*ndims)[i])) {
			return false;
		}
	}
	return true;
}

static bool
extern_types(struct call *c, int n, struct te_tensor *const *inputs,
	     int n_inputs, struct dtype **types)
{
	struct pval *items = NULL;
	int given = 0;

	*types = arena_array(c->ev->a, struct dtype, n);
	if (arg_given(c, 4) && !arg_items(c, 4, &items, &given)) {
		return false;
	}
	if (arg_given(c, 4) && given != 1 && given != n) {
		return call_error(c, 4, "%d types for %d outputs", given, n);
	}
	for (int i = 0; i < n; i++) {
		struct call one = *c;

		if (!items) {
			if (n_inputs == 0) {
				return call_error(c, -1,
						  "give the dtype of "
						  "what has no inputs");
			}
			(*types)[i] = inputs[0]->buffer->type;
			continue;
		}
		one.args = &items[given == 1 ? 0 : i];
		if (!arg_dtype(&one, 0, &(*types)[i])) {
			return false;
		}
	}
	return true;
}

static struct pval
buffer_list(struct eval *ev, const struct buffer *const *list, int n)
{
	struct pval out = pv_list_of(ev, PV_LIST, NULL, 0);

	for (int i = 0; i < n; i++) {
		vec_push(ev->a, out.u.list, pv_any(PV_BUFFER, list[i]));
	}
	return out;
}

/* A function whose parameters are the inputs and outputs of the stage and whose
 * statement is `body`. */
static struct func *
func_of(struct call *c, const char *name, const struct te_stage *s,
	const struct pval *body)
{
	struct func *f = func_new(c->ev->m, name);

	for (int i = 0; i < s->n_inputs + s->n_out; i++) {
		const struct buffer *b =
			i < s->n_inputs ? s->inputs[i]->buffer
					: s->out[i - s->n_inputs]->buffer;

		func_add_param(f, b->data, b);
	}
	f->body = stmt_clone(f, body->u.stmt, false);
	return f;
}

bool
te_make_extern(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_tensor **inputs, **made;
	const struct expr ***shapes, *call = NULL;
	struct func *filled = NULL;
	const struct buffer **in, **results;
	const char *name = "extern", *tag = "", *why;
	struct dtype *types;
	struct pval both[2], body;
	int *ndims, n, n_inputs, depth = 0, deep;

	if (!extern_shapes(c, &shapes, &ndims, &n) ||
	    !arg_tensors(c, 1, &inputs, &n_inputs) ||
	    (arg_given(c, 3) && !arg_text(c, 3, &name)) ||
	    !extern_types(c, n, inputs, n_inputs, &types) ||
	    (arg_given(c, 7) && !arg_text(c, 7, &tag))) {
		return false;
	}
	if (arg_given(c, 5) || arg_given(c, 6)) {
		return call_error(c, arg_given(c, 5) ? 5 : 6,
				  "buffers of the program's own are not "
				  "supported here; the function gets the "
				  "buffers of the tensors");
	}
	made = arena_array(ev->a, struct te_tensor *, n);
	te_extern(ev->m, name, tag, types, ndims,
		  (const struct expr *const *const *)shapes, n, inputs,
		  n_inputs, made);
	in = arena_array(ev->a, const struct buffer *, n_inputs + 1);
	results = arena_array(ev->a, const struct buffer *, n);
	for (int i = 0; i < n_inputs; i++) {
		in[i] = inputs[i]->buffer;
		deep = te_depth(ev, inputs[i]);
		depth = deep > depth ? deep : depth;
	}
	for (int i = 0; i < n; i++) {
		results[i] = made[i]->buffer;
	}
	both[0] = buffer_list(ev, in, n_inputs);
	both[1] = buffer_list(ev, results, n);
	if (!eval_apply(ev, c->spans[2], &c->args[2], both, 2, &body)) {
		return false;
	}
	if (body.kind == PV_STMT) {
		filled = func_of(c, name, made[0]->stage, &body);
	} else if (!value_expr(ev, c->spans[2], &body, &call, &deep)) {
		return false;
	}
	if (!te_extern_body(ev->m, made[0], NULL, call, filled, &why)) {
		return report(c, why);
	}
	*out = te_made(ev, made, n, depth + 1, n == 1);
	return true;
}

/* -- te.decl_tensor_intrin -- */

/* If the argument `binds` (a dict) has a buffer for the tensor t, sets views[i]
 * to it. */
static void
use_binds(struct call *c, const struct te_tensor *t, int i,
	  const struct buffer **views)
{
	const struct pv_dict *d;

	if (!arg_given(c, 3) || c->args[3].kind != PV_DICT) {
		return;
	}
	d = c->args[3].u.dict;
	for (int k = 0; k < d->keys.n; k++) {
		if (d->keys.data[k].kind == PV_TENSOR &&
		    d->keys.data[k].u.tensor == t &&
		    d->values.data[k].kind == PV_BUFFER) {
			views[i] = d->values.data[k].u.buffer;
		}
	}
}

static bool
intrin_part(struct call *c, const struct pval *v, struct func *f,
	    struct stmt **out)
{
	*out = NULL;
	return v->kind == PV_NONE || value_stmt(c->ev, c->spans[1], v, f, out);
}

/* `name`, with a number added if another intrinsic has this name. A schedule
 * refers to intrinsics by name, and a later declaration must not replace an
 * earlier one. */
static const char *
unique_intrin(struct eval *ev, const char *name)
{
	const char *text = name;
	int suffix = 0;

	for (int i = 0; i < ev->intrins->list.n; i++) {
		if (strcmp(ev->intrins->list.data[i]->name, text) == 0) {
			text = arena_printf(ev->a, "%s_%d", name, ++suffix);
			i = -1;
		}
	}
	return text;
}

bool
te_decl_tensor_intrin(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct buffer **views;
	const struct tensor_intrin *made;
	struct stmt *parts[3] = { NULL };
	struct func *f = func_new(ev->m, "detached");
	struct pval both[2], value, *items;
	const struct te_tensor *t;
	const char *name = NULL, *why;
	int n_views, n_in, n = 1;

	if (c->args[0].kind != PV_OP || !c->args[0].u.tensor->stage) {
		return value_kind_error(c, 0, "the op of a computed tensor");
	}
	t = c->args[0].u.tensor;
	if (arg_given(c, 2) && !arg_text(c, 2, &name)) {
		return false;
	}
	if (!name) {
		name = c->args[1].kind == PV_CLOSURE && t->stage
			       ? t->stage->name
			       : "tensor_intrin";
	}
	name = unique_intrin(ev, name);
	views = tensor_intrin_views(ev->m, t, &n_views);
	n_in = n_views - t->stage->n_out;
	for (int i = 0; i < n_views; i++) {
		use_binds(c,
			  i < n_in ? t->stage->inputs[i]
				   : t->stage->out[i - n_in],
			  i, views);
	}
	both[0] = buffer_list(ev, views, n_in);
	both[1] = buffer_list(ev, views + n_in, n_views - n_in);
	if (!eval_apply(ev, c->spans[1], &c->args[1], both, 2, &value)) {
		return false;
	}
	items = &value;
	if ((value.kind == PV_TUPLE || value.kind == PV_LIST) &&
	    !eval_items(ev, c->spans[1], &value, &items, &n)) {
		return false;
	}
	if (n < 1 || n > 3) {
		return call_error(c, 1,
				  "the function returns %d statements; "
				  "it may return (compute, reset, update)",
				  n);
	}
	for (int i = 0; i < n; i++) {
		if (!intrin_part(c, &items[i], f, &parts[i])) {
			return false;
		}
	}
	if (!te_tensor_intrin_of(ev->m, name, t, views, parts[0], parts[1],
				 parts[2], &made, &why)) {
		return report(c, why);
	}
	tensor_intrins_add(ev->intrins, made);
	*out = pv_any(PV_INTRIN, made);
	return true;
}

bool
te_create_prim_func(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct te_tensor **params;
	struct program_func made = { .stage = PROGRAM_CREATED,
				     .line = c->span.line,
				     .col = c->span.col };
	const char *why;
	int n;

	if (!arg_tensors(c, 0, &params, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < i; k++) {
			if (params[k]->buffer == params[i]->buffer) {
				return call_error(c, 0, "%s is listed twice",
						  params[i]->buffer->name);
			}
		}
	}
	if (!te_check_params(ev->m, params, n, &why)) {
		return report(c, why);
	}
	made.func = te_to_func(ev->m, "main", params, n);
	func_set_note(made.func, "global_symbol", expr_string(ev->m, "main"));
	func_set_note(made.func, "tir.noalias", expr_bool(ev->m, true));
	made.plain = made.func;
	*out = (struct pval){ .kind = PV_FUNC,
			      .u.func = arena_copy(ev->a, &made, sizeof made) };
	return true;
}
