/* SPDX-License-Identifier: Apache-2.0 */
/* Builds tensor intrinsics from tensor expressions, and reference functions:
 * loop nests with the semantics of the symbols that an intrinsic calls.
 *
 *   gemm8x8(w, x, y):           fill_zero(y):    fuse_gemm8x8_add(w, x, y):
 *       for i, j:                   for i, j:        for i, j, k:
 *           y[i, j] = 0                 y = 0            y += w * x
 *           for k: y += w * x
 */
#include "intrinsic_make.h"

#include <assert.h>

#include "block_init.h"
#include "iterate.h"

/* ---- from tensor expressions */

const struct buffer **
tensor_intrin_views(struct module *m, const struct te_tensor *out, int *n)
{
	const struct te_stage *s = out->stage;
	const struct buffer **views;

	*n = s->n_inputs + s->n_out;
	views = arena_array(&m->arena, const struct buffer *, *n + 1);
	for (int i = 0; i < *n; i++) {
		const struct buffer *own =
			i < s->n_inputs ? s->inputs[i]->buffer
					: s->out[i - s->n_inputs]->buffer;
		struct buffer_spec spec = {
			.name = own->name,
			.type = own->type,
			.ndim = own->ndim,
			.shape = own->shape,
			.scope = "", /* any scope */
		};

		views[i] = buffer_new(m, &spec);
	}
	return views;
}

static struct func *
make_part(struct module *m, const char *name, const struct buffer *const *views,
	  int n, const struct stmt *body)
{
	struct func *f;

	if (!body) {
		return NULL;
	}
	f = func_new(m, name);
	for (int i = 0; i < n; i++) {
		func_add_param(f, views[i]->data, views[i]);
	}
	f->body = stmt_clone(f, body, false);
	return f;
}

static bool
in_shape(const struct buffer *b, const struct var *v)
{
	for (int d = 0; d < b->ndim; d++) {
		if (expr_uses_var(b->shape[d], v) ||
		    (b->strides && expr_uses_var(b->strides[d], v))) {
			return true;
		}
	}
	return false;
}

/* Does a statement of f define the variable v, or the buffer of the load e? */
static bool
defines(const struct func *f, const struct expr *e)
{
	struct stmt *s;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if ((s->kind == STMT_FOR && e->kind == EXPR_VAR &&
		     s->u.loop.var == e->u.var) ||
		    (s->kind == STMT_LET && e->kind == EXPR_VAR &&
		     s->u.var == e->u.var) ||
		    (s->kind == STMT_ALLOC &&
		     (e->kind == EXPR_LOAD ? s->u.buffer == e->u.buffer
					   : s->u.buffer->data == e->u.var))) {
			return true;
		}
	}
	return false;
}

/* Is the variable or the loaded buffer e a buffer parameter of f, or the
 * pointer, a size or a stride of a buffer parameter? */
static bool
is_parameter(const struct func *f, const struct expr *e)
{
	bool known = false;

	for (int i = 0; !known && i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		known = e->kind == EXPR_LOAD
				? e->u.buffer == b
				: e->u.var == b->data || in_shape(b, e->u.var);
	}
	return known;
}

/* The name, for a message, of a variable or a loaded buffer that f, a part of
 * an intrinsic, uses but neither defines nor has as a parameter. NULL if there
 * is none. */
static const char *
foreign_name(const struct func *f)
{
	struct tree_iter it = tree_each(f->body);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		if ((e->kind == EXPR_VAR || e->kind == EXPR_LOAD) &&
		    !is_parameter(f, e) && !defines(f, e)) {
			return e->kind == EXPR_LOAD ? e->u.buffer->name
						    : e->u.var->name;
		}
	}
	return NULL;
}

static bool
check_part(struct module *m, const struct func *f, const char **why)
{
	const char *foreign = f ? foreign_name(f) : NULL;

	if (foreign) {
		*why = arena_printf(&m->arena,
				    "the call of '%s' uses '%s', which is "
				    "not one of its buffers; use the buffers "
				    "passed to the lowering function",
				    f->name, foreign);
	}
	return !foreign;
}

/* Removes those parameters of f that are sizes: matching binds the sizes in a
 * description to sizes in the program. */
static void
drop_sizes(struct func *f)
{
	while (f->params.n > 0 && !f->params.data[f->params.n - 1].buffer) {
		f->params.n--;
	}
}

/* Gives the description's buffers the scopes of the views, in order. */
static void
use_scopes(struct func *f, const struct buffer *const *views)
{
	for (int i = 0; i < f->params.n; i++) {
		struct param *p = &f->params.data[i];
		const struct buffer *old = p->buffer;
		const struct buffer *b = buffer_with_scope(f->module, old,
							   views[i]->scope);

		stmt_replace_buffer(f, f->body, old, b);
		*p = (struct param){ .var = b->data, .buffer = b };
	}
}

bool
te_tensor_intrin_of(struct module *m, const char *name,
		    const struct te_tensor *out,
		    const struct buffer *const *views,
		    const struct stmt *compute, const struct stmt *reset,
		    const struct stmt *update,
		    const struct tensor_intrin **made, const char **why)
{
	struct arena *a = &m->arena;
	struct tensor_intrin *t = arena_new(a, struct tensor_intrin);
	const struct te_stage *s = out->stage;
	struct te_tensor **params;
	int n;

	if (!s || s->kind != TE_COMPUTE) {
		*why = "a tensor intrinsic is declared by a result of "
		       "te.compute";
		return false;
	}
	if (!compute) {
		*why = "the lowering function returns no call; it must "
		       "return the computation, or a tuple of computation, "
		       "reset and update";
		return false;
	}
	n = s->n_inputs + s->n_out;
	params = arena_array(a, struct te_tensor *, n + 1);
	for (int i = 0; i < n; i++) {
		struct te_tensor *input = i < s->n_inputs
						  ? s->inputs[i]
						  : s->out[i - s->n_inputs];

		params[i] = input;
		if (i < s->n_inputs && input->stage) {
			*why = arena_printf(a,
					    "'%s' is computed; inputs of an "
					    "instruction must be placeholders",
					    input->buffer->name);
			return false;
		}
		if (views[i]->ndim != input->buffer->ndim ||
		    !dtype_equal(views[i]->type, input->buffer->type)) {
			*why = arena_printf(a,
					    "the buffer '%s' differs from "
					    "'%s' in rank or type",
					    views[i]->name,
					    input->buffer->name);
			return false;
		}
	}
	t->name = arena_strdup(a, name);
	t->what = arena_printf(a, "declared by the program: %s", s->name);
	t->desc = te_to_func(m, t->name, params, n);
	drop_sizes(t->desc);
	use_scopes(t->desc, views);
	t->impl = make_part(m, arena_printf(a, "%s_compute", name), views, n,
			    compute);
	t->reset = make_part(m, arena_printf(a, "%s_reset", name), views, n,
			     reset);
	t->update = make_part(m, arena_printf(a, "%s_update", name), views, n,
			      update);
	*made = t;
	return check_part(m, t->impl, why) && check_part(m, t->reset, why) &&
	       check_part(m, t->update, why);
}

bool
te_tensor_intrin(struct module *m, const char *name,
		 const struct te_tensor *out, const struct buffer *const *views,
		 const struct expr *compute, const struct expr *reset,
		 const struct expr *update, const struct tensor_intrin **made,
		 const char **why)
{
	struct func *f = func_new(m, name);

	return te_tensor_intrin_of(m, name, out, views,
				   compute ? stmt_evaluate(f, compute) : NULL,
				   reset ? stmt_evaluate(f, reset) : NULL,
				   update ? stmt_evaluate(f, update) : NULL,
				   made, why);
}

/* ---- references */

/* The index of the parameter of `part` whose first element's address `arg` is;
 * -1 if arg is something else. */
static int
param_of(const struct func *part, const struct expr *arg)
{
	if (arg->kind == EXPR_CALL && intrin_is_address(arg->u.intrin)) {
		for (int d = 0; d < arg->args[0]->n_args; d++) {
			if (!expr_is_value(arg->args[0]->args[d], 0)) {
				return -1;
			}
		}
	}
	for (int i = 0; i < part->params.n; i++) {
		const struct param *p = &part->params.data[i];

		if (p->buffer &&
		    (arg->kind == EXPR_VAR
			     ? arg->u.var == p->var
			     : arg->kind == EXPR_CALL &&
				       intrin_is_address(arg->u.intrin) &&
				       arg->args[0]->u.buffer == p->buffer)) {
			return i;
		}
	}
	return -1;
}

/* Is the variable v among the arguments of the call? */
static bool
is_passed(const struct expr *call, const struct var *v)
{
	for (int i = 1; i < call->n_args; i++) {
		if (call->args[i] == v->expr) {
			return true;
		}
	}
	return false;
}

/* Parameter i of the symbol, as a view. Strides that the call passes become
 * parameters of the function; other strides are taken from the program's
 * buffer. */
static const struct buffer *
told_view(struct module *m, const struct tensor_call *call,
	  const struct expr *e, int i)
{
	const struct buffer *p = call->part->params.data[i].buffer;
	struct buffer *view;

	for (int d = 0; p->strides && d < p->ndim; d++) {
		const struct expr *x = p->strides[d];

		if (x->kind == EXPR_VAR && !is_passed(e, x->u.var)) {
			return call->views[i];
		}
	}
	if (!p->strides) {
		return call->views[i];
	}
	view = arena_copy(&m->arena, call->views[i], sizeof *view);
	view->id = m->next_buffer_id++;
	view->strides = p->strides;
	return view;
}

/* Adds the symbol's parameters to f: pointers to views, and numbers. False with
 * the reason in *why. */
static bool
add_params(struct func *f, const struct tensor_call *call, const struct expr *e,
	   const struct buffer **views, bool *passed, const char **why)
{
	struct module *m = f->module;

	for (int i = 0; i < call->part->params.n; i++) {
		views[i] = told_view(m, call, e, i);
		/* the parameter's scope is left open: the view takes the scope
		 * of the caller's buffer */
		if (views[i]->scope[0] == '\0') {
			struct buffer *view = arena_copy(&m->arena, views[i],
							 sizeof *view);

			view->id = m->next_buffer_id++;
			view->scope = "global";
			views[i] = view;
		}
	}
	for (int i = 1; i < e->n_args; i++) {
		const struct expr *arg = e->args[i];
		int p = param_of(call->part, arg);

		if (p >= 0 && passed[p]) {
			*why = arena_printf(&m->arena,
					    "'%s' gets the buffer '%s' "
					    "twice, which is ambiguous",
					    call->symbol, views[p]->name);
			return false;
		}
		if (p >= 0) {
			passed[p] = true;
			func_add_param(f, views[p]->data, views[p]);
		} else if (dtype_class(arg->type) == DTC_HANDLE) {
			*why = arena_printf(&m->arena,
					    "'%s' gets an address inside of "
					    "a buffer, whose use is not "
					    "declared",
					    call->symbol);
			return false;
		} else if (arg->kind == EXPR_VAR) {
			func_add_param(f, arg->u.var, NULL);
		} else {
			func_add_param(f,
				       var_new(m,
					       arena_printf(&m->arena, "a%d",
							    i - 1),
					       arg->type),
				       NULL);
		}
	}
	return true;
}

/* The init of a block as a statement, inside of the loops that the block's
 * spatial iter vars need; NULL if the block has no init. */
static struct stmt *
only_init(struct func *f, struct stmt *block)
{
	const struct expr **bindings;
	struct block init;
	struct stmt *s, *p;

	if (!block->children[1]) {
		return NULL;
	}
	init = init_header(f, block, &bindings);
	s = stmt_block(f, &init, expr_bool(f->module, true), bindings, NULL,
		       block->children[1]);
	for (p = block->parent; p && p->kind == STMT_FOR; p = p->parent) {
		bool used = false;

		for (int i = 0; i < init.n_iters; i++) {
			used |= expr_uses_var(bindings[i], p->u.loop.var);
		}
		if (used) {
			s = stmt_for(f, p->u.loop.var, p->args[0], p->args[1],
				     FOR_SERIAL, s);
		}
	}
	return s;
}

/* Makes the body of call->part (impl, reset or update), expressed with desc's
 * parameters. False with the reason in *why. */
static bool
take_part(struct func *f, const struct tensor_call *call, const char **why)
{
	const struct tensor_intrin *t = call->intrin;
	struct stmt_list blocks = { 0 }, inits = { 0 };
	struct stmt *s;

	if (call->part == t->impl) {
		return true;
	}
	for (struct stmt_iter it = stmt_each_of(f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		if (s->parent) {
			vec_push(&f->module->arena, &blocks.list, s);
			stmt_skip(&it);
		}
	}
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];
		struct stmt *init;

		if (call->part == t->update) {
			stmt_set_child(f, b, 1, NULL);
			continue;
		}
		init = only_init(f, b);
		if (init) {
			vec_push(&f->module->arena, &inits.list, init);
		}
	}
	if (call->part == t->reset) {
		if (inits.list.n == 0) {
			*why = arena_printf(&f->module->arena,
					    "'%s' has nothing to reset: '%s' "
					    "is not a reduction",
					    call->symbol, t->name);
			return false;
		}
		stmt_set_child(f, f->body, 0,
			       stmt_seq(f, inits.list.data, inits.list.n));
	}
	return true;
}

static void
use_views(struct func *f, const struct tensor_call *call,
	  const struct buffer *const *views)
{
	struct arena *a = &f->module->arena;
	const struct func *desc = call->intrin->desc;
	struct var_map map = { 0 };
	int room = 1;

	for (int i = 0; i < desc->params.n; i++) {
		room += 1 + desc->params.data[i].buffer->ndim;
	}
	map.from = arena_array(a, struct var *, room);
	map.to = arena_exprs(a, room);
	for (int i = 0; i < desc->params.n; i++) {
		const struct buffer *from = desc->params.data[i].buffer;
		const struct buffer *to = views[i];

		stmt_replace_buffer(f, f->body, from, to);
		for (int d = 0; d < from->ndim; d++) {
			if (from->shape[d]->kind == EXPR_VAR) {
				map.from[map.n] = from->shape[d]->u.var;
				map.to[map.n++] = to->shape[d];
			}
		}
	}
	stmt_substitute(f, f->body, &map);
}

struct func *
intrinsic_reference(struct module *m, const struct tensor_call *call,
		    const char **why)
{
	const struct func *desc = call->intrin->desc;
	const struct expr *found = stmt_call_of(call->part->body,
						INTRIN_CALL_EXTERN,
						call->symbol);
	bool *passed = arena_array(&m->arena, bool, desc->params.n + 1);
	const struct buffer **views = arena_array(&m->arena,
						  const struct buffer *,
						  desc->params.n + 1);
	struct func *f = func_clone(desc, call->symbol);

	assert(found);
	f->params.n = 0;
	if (!add_params(f, call, found, views, passed, why) ||
	    !take_part(f, call, why)) {
		return NULL;
	}
	use_views(f, call, views);
	for (int i = 0; i < desc->params.n; i++) {
		const struct buffer *b = views[i];

		if (!passed[i] && (func_reads(f, b) || func_writes(f, b))) {
			*why = arena_printf(&m->arena,
					    "'%s' does not get the buffer "
					    "'%s', which it needs",
					    call->symbol, b->name);
			return NULL;
		}
	}
	return f;
}

bool
intrinsic_references(struct module *m, const struct tensor_intrins *t,
		     const char **why)
{
	for (int i = 0; i < t->calls.n; i++) {
		const struct tensor_call *call = &t->calls.data[i];
		struct func *f;

		if (module_find_func(m, call->symbol)) {
			continue;
		}
		f = intrinsic_reference(m, call, why);
		if (!f) {
			return false;
		}
		vec_push(&m->arena, &m->funcs, f);
	}
	return true;
}
