/* SPDX-License-Identifier: Apache-2.0 */
/* te.extern: a given statement computes the outputs.
 *
 *   with T.block("C"):
 *       T.reads(A[0:n, 0:m])
 *       T.writes(C[0:n, 0:m])
 *       T.evaluate(T.call_extern("int32", "f", T.address_of(A[0, 0]), …))
 *
 * With axes, the statement runs once at each of their points:
 *
 *   for i in range(n):
 *       with T.block("C"):
 *           v_i = T.axis.spatial(n, i)
 *           T.reads(A[v_i, 0:m])
 *           T.writes(C[v_i, 0:m])
 *           for j in range(m): … */
#include "block_regions.h"
#include "iterate.h"
#include "te_build.h"

#include <assert.h>

void
te_extern(struct module *m, const char *name, const char *tag,
	  const struct dtype *types, const int *ndims,
	  const struct expr *const *const *shapes, int n,
	  struct te_tensor *const *inputs, int n_inputs, struct te_tensor **out)
{
	struct arena *a = &m->arena;
	struct te_stage *s = arena_new(a, struct te_stage);

	s->kind = TE_EXTERN;
	s->name = arena_strdup(a, name);
	s->tag = tag;
	s->n_out = n;
	s->out = arena_array(a, struct te_tensor *, n);
	s->inputs = arena_array(a, struct te_tensor *, n_inputs + 1);
	s->n_inputs = n_inputs;
	s->external = arena_new(a, struct te_extern);
	for (int i = 0; i < n_inputs; i++) {
		s->inputs[i] = inputs[i];
	}
	for (int k = 0; k < n; k++) {
		struct te_tensor *t =
			te_placeholder(m,
				       n > 1 ? arena_printf(a, "%s_%d", name, k)
					     : name,
				       types[k], ndims[k], shapes[k]);

		t->stage = s;
		t->index = k;
		s->out[k] = t;
		out[k] = t;
	}
}

void
te_extern_axes(struct te_tensor *out, struct iter_var *axes, int n_axes)
{
	out->stage->axes = axes;
	out->stage->n_axes = n_axes;
}

static const struct buffer *
tensor_buffer(const struct te_stage *s, int i)
{
	return i < s->n_inputs ? s->inputs[i]->buffer
			       : s->out[i - s->n_inputs]->buffer;
}

static bool
check_view(struct module *m, const struct buffer *view,
	   const struct buffer *own, const char **why)
{
	if (view->ndim != own->ndim || !dtype_equal(view->type, own->type)) {
		*why = arena_printf(&m->arena,
				    "the buffer '%s' for '%s' has another "
				    "rank or type",
				    view->name, own->name);
		return false;
	}
	return true;
}

/* The function's body without a root block around it. */
static struct stmt *
plain_body(const struct func *f)
{
	struct stmt *s = f->body;

	return s && s->kind == STMT_BLOCK && s->u.block->n_iters == 0 &&
			       !s->children[1] && expr_is_value(s->args[0], 1)
		       ? s->children[0]
		       : s;
}

struct known_buffers {
	const struct buffer *const *views;
	int n;
	struct stmt *body; /* NULL for a call */
};

static bool
is_known(const struct known_buffers *k, const struct buffer *b)
{
	struct stmt *s;

	for (int i = 0; i < k->n; i++) {
		if (k->views[i] == b) {
			return true;
		}
	}
	if (!k->body) {
		return false;
	}
	for (struct stmt_iter it = stmt_each_of(k->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		if (s->u.buffer == b) {
			return true;
		}
	}
	return false;
}

/* A buffer that `call`, or the body if call is NULL, reads or writes although it
 * is neither an input or output of the extern operation nor allocated in the
 * body; NULL if there is no such buffer. */
static const struct buffer *
foreign_buffer(const struct known_buffers *k, const struct expr *call)
{
	struct tree_iter it = call ? exprs_each(&call, 1) : tree_each(k->body);
	const struct expr *e;
	struct stmt *s;

	while ((e = tree_next(&it)) != NULL) {
		if (e->kind == EXPR_LOAD && !is_known(k, e->u.buffer)) {
			return e->u.buffer;
		}
	}
	if (!k->body) {
		return NULL;
	}
	for (struct stmt_iter at = stmt_each_of(k->body, STMT_STORE);
	     (s = stmt_next(&at));) {
		if (!is_known(k, s->u.buffer)) {
			return s->u.buffer;
		}
	}
	return NULL;
}

static bool
check_buffers(struct module *m, const struct te_stage *s,
	      const struct expr *call, const struct func *func,
	      const char **why)
{
	struct known_buffers k = { s->external->views, s->n_inputs + s->n_out,
				   func ? plain_body(func) : NULL };
	const struct buffer *foreign = foreign_buffer(&k, call);

	if (foreign) {
		*why = arena_printf(&m->arena,
				    "the body of '%s' uses the buffer '%s', "
				    "which is none of its inputs and outputs; "
				    "add its tensor to the inputs",
				    s->name, foreign->name);
	}
	return !foreign;
}

bool
te_extern_body(struct module *m, struct te_tensor *out,
	       const struct buffer *const *views, const struct expr *call,
	       struct func *func, const char **why)
{
	struct te_stage *s = out->stage;
	struct te_extern *x = s ? s->external : NULL;
	int n = s ? s->n_inputs + s->n_out : 0, count = 0;

	if (!x || !call == !func) {
		*why = "te.extern takes one body: a call or a function";
		return false;
	}
	x->views = arena_array(&m->arena, const struct buffer *, n + 1);
	for (int i = 0; i < n; i++) {
		x->views[i] = views ? views[i] : tensor_buffer(s, i);
	}
	for (int i = 0; func && i < func->params.n; i++) {
		if (!func->params.data[i].buffer || count >= n) {
			count = -1;
			break;
		}
		x->views[count++] = func->params.data[i].buffer;
	}
	if (func && count != n) {
		*why = arena_printf(&m->arena,
				    "the parameters of the function '%s' "
				    "must be exactly the %d inputs and "
				    "outputs of '%s'",
				    func->name, n, s->name);
		return false;
	}
	if (func && (stmt_has(plain_body(func), STMT_BLOCK) ||
		     stmt_has(plain_body(func), STMT_RETURN))) {
		*why = arena_printf(&m->arena,
				    "the function '%s' has blocks or "
				    "returns; the body of te.extern may have "
				    "neither",
				    func->name);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!check_view(m, x->views[i], tensor_buffer(s, i), why)) {
			return false;
		}
	}
	x->call = call;
	x->func = func;
	return check_buffers(m, s, call, func, why);
}

struct bound_vars {
	struct arena *arena;
	VEC(const struct var *) list;
};

static void
note_bound(struct bound_vars *b, const struct var *var)
{
	vec_push(b->arena, &b->list, var);
}

/* Lists the variables in n sizes or strides of a view as bound: such a variable
 * does not become a parameter, since the values of the call replace it. */
static void
bind_sizes(struct bound_vars *b, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each_of(list, n, EXPR_VAR);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		note_bound(b, e->u.var);
	}
}

static void
note_free(struct te_build *b, const struct bound_vars *bound,
	  const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each_of(list, n, EXPR_VAR);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		bool is_bound = false;

		for (int i = 0; !is_bound && i < bound->list.n; i++) {
			is_bound = bound->list.data[i] == e->u.var;
		}
		if (!is_bound) {
			te_note_free(b, e->u.var);
		}
	}
}

void
te_extern_vars(struct te_build *b, const struct te_stage *s)
{
	const struct te_extern *x = s->external;
	struct bound_vars bound = { .arena = &b->m->arena };
	struct stmt *at;

	for (int i = 0; i < s->n_inputs + s->n_out; i++) {
		const struct buffer *own = tensor_buffer(s, i),
				    *view = x->views[i];

		note_bound(&bound, view->data);
		if (view != own) {
			bind_sizes(&bound, view->shape, own->ndim);
			bind_sizes(&bound, view->strides, own->ndim);
		}
	}
	if (x->call) {
		note_free(b, &bound, &x->call, 1);
		return;
	}
	for (struct stmt_iter it = stmt_each(plain_body(x->func));
	     (at = stmt_next(&it));) {
		if (at->kind == STMT_FOR) {
			note_bound(&bound, at->u.loop.var);
		} else if (at->kind == STMT_LET) {
			note_bound(&bound, at->u.var);
		} else if (at->kind == STMT_ALLOC) {
			note_bound(&bound, at->u.buffer->data);
		}
		note_free(b, &bound, at->args, at->n_args);
	}
}

/* Adds to the map the variable `from` of the body, a view's pointer, size or
 * stride; does nothing if `from` is not a variable. */
static void
map_add(struct var_map *map, const struct expr *from, const struct expr *to)
{
	if (from->kind != EXPR_VAR || from == to) {
		return;
	}
	for (int i = 0; i < map->n; i++) {
		if (map->from[i] == from->u.var) {
			return;
		}
	}
	map->from[map->n] = from->u.var;
	map->to[map->n++] = to;
}

static struct var_map
view_map(struct te_build *b, const struct te_stage *s)
{
	struct arena *a = &b->m->arena;
	const struct te_extern *x = s->external;
	struct var_map map = { 0 };
	int n = s->n_inputs + s->n_out, room = 1;

	for (int i = 0; i < n; i++) {
		room += 1 + 2 * x->views[i]->ndim;
	}
	map.from = arena_array(a, struct var *, room);
	map.to = arena_exprs(a, room);
	for (int i = 0; i < n; i++) {
		const struct buffer *view = x->views[i];
		const struct buffer *own = te_target(b, tensor_buffer(s, i));
		const struct expr *span = NULL;

		map_add(&map, view->data->expr, own->data->expr);
		for (int d = own->ndim - 1; d >= 0; d--) {
			map_add(&map, view->shape[d], own->shape[d]);
			if (view->strides && span) {
				map_add(&map, view->strides[d], span);
			} else if (view->strides) {
				map_add(&map, view->strides[d],
					expr_int(b->m, own->shape[d]->type, 1));
			}
			span = span ? expr_mul_sizes(b->m, own->shape[d], span)
				    : own->shape[d];
		}
	}
	return map;
}

static void
whole(struct te_build *b, const struct buffer *buffer, struct region *out)
{
	out->buffer = buffer;
	out->ranges = arena_array(&b->m->arena, struct range, buffer->ndim + 1);
	for (int d = 0; d < buffer->ndim; d++) {
		out->ranges[d].min = expr_int(b->m, buffer->shape[d]->type, 0);
		out->ranges[d].extent = buffer->shape[d];
	}
}

/* The regions that a call, or a function without axes, may read and write: all
 * of each buffer. */
static void
whole_regions(struct te_build *b, const struct te_stage *s, struct block *block)
{
	struct arena *a = &b->m->arena;

	block->reads = arena_array(a, struct region, s->n_inputs + 1);
	block->writes = arena_array(a, struct region, s->n_out + 1);
	block->n_writes = s->n_out;
	for (int i = 0; i < s->n_inputs; i++) {
		bool again = false;

		for (int k = 0; k < i; k++) {
			again |= s->inputs[k] == s->inputs[i];
		}
		if (!again) {
			whole(b, te_target(b, s->inputs[i]->buffer),
			      &block->reads[block->n_reads++]);
		}
	}
	for (int k = 0; k < s->n_out; k++) {
		whole(b, te_target(b, s->out[k]->buffer), &block->writes[k]);
	}
}

struct stmt *
te_build_extern(struct te_build *b, const struct te_stage *s)
{
	struct module *m = b->m;
	const struct te_extern *x = s->external;
	struct block block = { .name = te_unique_name(b, s->name) };
	struct te_nest nest = te_nest_new(b, s->n_axes);
	struct var_map map = view_map(b, s);
	struct stmt *body;

	assert(x->call || x->func);
	for (int i = 0; i < s->n_axes; i++) {
		te_nest_add(b, &nest, &s->axes[i]);
	}
	block.iters = nest.iters;
	block.n_iters = nest.map.n;
	if (x->call) {
		body = stmt_evaluate(b->f, x->call);
	} else {
		/* a clone, since statements have ids and a journal that belong
		 * to their function */
		body = stmt_clone(b->f, plain_body(x->func), true);
	}
	if (s->n_axes == 0) {
		whole_regions(b, s, &block);
	}
	body = stmt_block(b->f, &block, expr_bool(m, true), nest.bindings, NULL,
			  body);
	for (int i = 0; i < s->n_inputs + s->n_out; i++) {
		stmt_replace_buffer(b->f, body, x->views[i],
				    te_target(b, tensor_buffer(s, i)));
	}
	stmt_substitute(b->f, body, &map);
	stmt_substitute(b->f, body, &nest.map);
	if (s->n_axes > 0) {
		block_infer_regions(b->f, body, true, true);
	}
	return te_nest_loops(b, &nest, body);
}
