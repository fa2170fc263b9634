/* SPDX-License-Identifier: Apache-2.0 */
/* tensorize: replaces a block by an instruction that computes the same.
 *
 *   with T.block("C_o"):                    with T.block("C_o"):
 *       v_i_o, v_k_o = …                        v_i_o, v_k_o = …
 *       for i, j, k in T.grid(8, 8, 8):  ->     T.call_extern("gemm8x8",
 *           with T.block("C"): …                    T.address_of(A[v_i_o * 8, …
 *
 * The implementation's parameters become views of the program's buffers, with
 * the buffers' strides. If a parameter is declared dense, if its address is
 * passed to an external symbol, and if its view is not dense, the parameter
 * gets a dense copy of the tile (tensor_tile.h). */
#include "blockize.h"
#include "iterate.h"
#include "storage_align.h"
#include "tensor_match.h"
#include "tensor_tile.h"

struct tensorizer {
	struct edit *e;
	const struct tensor_intrin *intrin;
	struct stmt *outer;
	struct tensor_match match;
	struct tensor_leaves want, have;
	/* by parameter of the part that was inlined last: true if a dense copy
	 * of the tile replaces the parameter */
	bool *copied;
};

static bool
refuse(struct tensorizer *z, const char *why)
{
	return edit_fail(z->e,
			 "block %s does not match %s: %s; choose other tiles "
			 "or another intrinsic",
			 z->outer->u.block->name, z->intrin->name, why);
}

/* -- views in place of parameters */

struct inlining {
	struct tensorizer *z;
	const struct tensor_view *view;
};

static const struct expr *
lanes_add(struct module *m, const struct expr *base, const struct expr *x)
{
	if (x->type.lanes <= 1) {
		return expr_add(m, base, x);
	}
	if (x->kind == EXPR_RAMP) {
		return expr_ramp(m, expr_add(m, base, x->args[0]), x->args[1],
				 x->type.lanes);
	}
	if (x->kind == EXPR_BROADCAST) {
		return expr_broadcast(m, expr_add(m, base, x->args[0]),
				      x->type.lanes);
	}
	return expr_add(m, expr_broadcast(m, base, x->type.lanes), x);
}

static const struct expr *
stepped(struct module *m, const struct expr *x, int64_t step)
{
	const struct expr *by = expr_i32(m, step);

	return step == 1
		       ? x
		       : expr_mul(m, x,
				  x->type.lanes > 1
					  ? expr_broadcast(m, by, x->type.lanes)
					  : by);
}

static void
view_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	   const struct expr **new)
{
	const struct inlining *in = ctx;
	const struct tensor_view *v = in->view;
	struct module *m = in->z->e->m;

	(void)at;
	for (int d = 0; d < v->target->ndim; d++) {
		new[d] = v->offset[d];
		for (int k = 0; k < v->param->ndim; k++) {
			if (v->dim_of[k] == d) {
				new[d] = lanes_add(m, v->offset[d],
						   stepped(m, old[k],
							   v->step[k]));
			}
		}
	}
}

/* Adds entries to `map` that replace the sizes, strides and pointer of
 * parameter p by those of the view v. False after a diagnostic. */
static bool
bind_sizes(struct tensorizer *z, const struct buffer *p,
	   const struct tensor_view *v, struct var_map *map)
{
	struct edit *e = z->e;
	struct module *m = e->m;
	struct analyser *a = &z->match.a;

	for (int d = 0; d < p->ndim; d++) {
		const struct expr *size = v->param->shape[d], *stride;
		struct var_map sizes = { z->match.sizes.data,
					 z->match.size_values.data,
					 z->match.sizes.n };

		size = expr_substitute(m, size, &sizes);
		if (p->shape[d]->kind == EXPR_VAR) {
			map->from[map->n] = p->shape[d]->u.var;
			map->to[map->n++] = size;
		}
		if (!p->strides || v->dim_of[d] < 0) {
			continue;
		}
		stride = simplify(a, view_stride(m, v, d));
		for (int i = 0; i < map->n; i++) {
			if (p->strides[d]->kind == EXPR_VAR &&
			    map->from[i] == p->strides[d]->u.var &&
			    !prove_equal(a, map->to[i], stride)) {
				return edit_fail(e,
						 "two strides differ that %s "
						 "requires to be equal; "
						 "choose another layout",
						 z->intrin->name);
			}
		}
		if (p->strides[d]->kind == EXPR_VAR) {
			map->from[map->n] = p->strides[d]->u.var;
			map->to[map->n++] = stride;
		} else if (!expr_is_value(size, 1) &&
			   !prove_equal(a, p->strides[d], stride)) {
			return edit_fail(e,
					 "%s requires another stride in "
					 "dimension %d of %s; change its "
					 "layout, or copy it first",
					 z->intrin->name, v->dim_of[d],
					 v->target->name);
		}
	}
	return true;
}

static const struct expr *
view_address(struct module *m, const struct tensor_view *v, struct dtype t)
{
	const struct expr *first = expr_load(m, v->target, v->offset,
					     v->target->ndim);

	return expr_call(m, INTRIN_ADDRESS_OF, t, &first, 1);
}

struct pointers {
	struct tensorizer *z;
	const struct func *part;
};

static const struct expr *
replace_pointer(void *ctx, const struct expr *x)
{
	const struct pointers *p = ctx;

	if (x->kind != EXPR_VAR) {
		return NULL;
	}
	for (int i = 0; i < p->part->params.n; i++) {
		if (p->part->params.data[i].var == x->u.var) {
			return view_address(p->z->e->m, &p->z->match.views[i],
					    x->type);
		}
	}
	return NULL;
}

/* Makes the part, which is below `scratch`, use a dense copy of parameter i.
 * False after a diagnostic. */
static bool
copy_tile(struct tensorizer *z, const struct func *part, int i,
	  struct stmt *scratch, const struct buffer **tile)
{
	const char *why;

	*tile = tensor_tile(&z->match, i, part, z->intrin, &why);
	if (!*tile) {
		return edit_fail(
			z->e,
			"%s is declared for dense buffers, but %s %s; "
			"copy the tile into a dense buffer (cache_read, "
			"cache_write), or declare strides in its "
			"buffers and pass them",
			z->intrin->name, z->match.views[i].target->name, why);
	}
	tensor_tile_use(&z->match, i, part, z->intrin, *tile, scratch);
	z->copied[i] = true;
	return true;
}

/* The body of a part of the instruction (its init or its update), with the
 * block's tiles in place of the part's parameters; NULL after a diagnostic. */
static struct stmt *
inline_part(struct tensorizer *z, const struct func *part)
{
	struct edit *e = z->e;
	struct arena *arena = &e->m->arena;
	struct stmt *body = part->body, *scratch;
	const struct block *root = NULL;
	struct pointers pointers = { z, part };
	struct var_map map = { 0 };
	const struct buffer **tiles;
	int room = 1;

	if (part->params.n != z->match.n_views) {
		edit_fail(e,
			  "an implementation of %s has %d parameters, but "
			  "its description has %d",
			  z->intrin->name, part->params.n, z->match.n_views);
		return NULL;
	}
	for (int i = 0; i < part->params.n; i++) {
		room += 2 * part->params.data[i].buffer->ndim;
	}
	map.from = arena_array(arena, struct var *, room);
	map.to = arena_exprs(arena, room);
	tiles = arena_array(arena, const struct buffer *, part->params.n + 1);
	for (int i = 0; i < part->params.n; i++) {
		if (!bind_sizes(z, part->params.data[i].buffer,
				&z->match.views[i], &map)) {
			return NULL;
		}
	}
	if (body->kind == STMT_BLOCK && body->u.block->n_iters == 0) {
		root = body->u.block;
		body = body->children[0];
	}
	/* A temporary parent statement, so that the whole body can be
	 * replaced. */
	scratch = stmt_attr(e->f, "tensorize", expr_bool(e->m, true),
			    stmt_clone(e->f, body, true));
	for (int i = 0; i < part->params.n; i++) {
		z->copied[i] = false;
		if (tensor_tile_needed(&z->match, i, part) &&
		    !copy_tile(z, part, i, scratch, &tiles[i])) {
			return NULL;
		}
	}
	for (int i = 0; i < part->params.n; i++) {
		struct inlining in = { z, &z->match.views[i] };

		access_remap(e->f, scratch, part->params.data[i].buffer,
			     in.view->target, view_index, &in);
	}
	stmt_rewrite(e->f, scratch, replace_pointer, &pointers);
	stmt_substitute(e->f, scratch, &map);
	body = scratch->children[0];
	for (int i = part->params.n - 1; i >= 0; i--) {
		body = tiles[i] ? stmt_alloc(e->f, tiles[i], body) : body;
	}
	for (int i = root ? root->n_allocs - 1 : -1; i >= 0; i--) {
		const struct buffer *own =
			buffer_with_scope(e->m, root->allocs[i],
					  root->allocs[i]->scope);

		stmt_replace_buffer(e->f, body, root->allocs[i], own);
		body = stmt_alloc(e->f, own, body);
	}
	return body;
}

/* -- calls of external symbols */

/* Parameter number i, p, with the strides of the call's view. A dense copy of a
 * tile has no strides. */
static const struct buffer *
view_buffer(struct tensorizer *z, int i, const struct buffer *p)
{
	struct buffer *view = tensor_view_buffer(&z->match, i, p);

	if (z->copied[i]) {
		view->strides = NULL;
	}
	return view;
}

/* Can the symbol that was made for an earlier call (old) be used for these
 * views, too? A symbol without stride parameters fits only one set of
 * strides. */
static bool
same_views(struct tensorizer *z, const struct tensor_call *old,
	   const struct func *part, const struct buffer *const *views)
{
	if (old->part->params.n != part->params.n) {
		return false;
	}
	for (int i = 0; i < z->match.n_views; i++) {
		const struct buffer *x = old->views[i], *y = views[i];

		if (!dtype_equal(x->type, y->type)) {
			return false;
		}
		if (old->part->params.data[i].buffer->strides) {
			continue;
		}
		for (int d = 0; d < y->ndim; d++) {
			if (x->ndim != y->ndim ||
			    !prove_equal(&z->match.a,
					 buffer_stride(z->e->m, x, d),
					 buffer_stride(z->e->m, y, d))) {
				return false;
			}
		}
	}
	return true;
}

static bool
record_call(struct tensorizer *z, const struct func *part, const char *symbol)
{
	struct edit *e = z->e;
	struct tensor_intrins *known = e->s->intrins;
	struct tensor_call call = { z->intrin, symbol, part, NULL };
	struct tensor_call *old;

	call.views = arena_array(&e->m->arena, const struct buffer *,
				 z->match.n_views + 1);
	for (int i = 0; i < z->match.n_views; i++) {
		call.views[i] = view_buffer(z, i, part->params.data[i].buffer);
	}
	old = tensor_intrins_call(known, symbol);
	if (!old) {
		vec_push(known->arena, &known->calls, call);
		return true;
	}
	if (same_views(z, old, part, call.views)) {
		return true;
	}
	if (stmt_call_of(e->f->body, INTRIN_CALL_EXTERN, symbol)) {
		return edit_fail(e,
				 "%s is called elsewhere with views of other "
				 "strides, but has no parameters for them; "
				 "declare strides in its buffers and pass them",
				 symbol);
	}
	*old = call;
	return true;
}

static bool
record_calls(struct tensorizer *z, const struct func *part)
{
	struct tree_iter it = tree_each_of(part->body, EXPR_CALL);
	bool ok = true;
	const struct expr *x;

	while (ok && (x = tree_next(&it)) != NULL) {
		ok = x->u.intrin != INTRIN_CALL_EXTERN ||
		     record_call(z, part, x->args[0]->u.text);
	}
	tree_stop(&it);
	return ok;
}

/* -- alignment */

/* The alignment in bytes that the first element of the buffer surely has. */
static int64_t
known_align(const struct edit *e, const struct buffer *b)
{
	int64_t bytes = b->align_bytes > buffer_element_bytes(b)
				? b->align_bytes
				: buffer_element_bytes(b);

	for (int i = 0; i < e->f->params.n && e->s->param_align; i++) {
		if (e->f->params.data[i].buffer == b &&
		    e->s->param_align[i] > bytes) {
			bytes = e->s->param_align[i];
		}
	}
	return bytes;
}

/* Does the view provably begin at a multiple of `bytes`? Alignments of arrays
 * in scopes of a device are the task of the device's rules and facts. */
static bool
starts_aligned(struct tensorizer *z, const struct tensor_view *v, int64_t bytes)
{
	const struct buffer *b = v->target;
	const struct expr *at = expr_i32(z->e->m, 0);
	struct modular m;

	if (bytes <= buffer_element_bytes(b) ||
	    strcmp(b->scope, "global") != 0) {
		return true;
	}
	for (int d = 0; d < b->ndim; d++) {
		at = expr_add(z->e->m, at,
			      expr_mul(z->e->m, v->offset[d],
				       buffer_stride(z->e->m, b, d)));
	}
	at = expr_mul(z->e->m, at, expr_i32(z->e->m, buffer_element_bytes(b)));
	m = analyse_modular(&z->match.a, at);
	return known_align(z->e, b) % bytes == 0 && m.coeff % bytes == 0 &&
	       m.base % bytes == 0;
}

static bool
views_aligned(struct tensorizer *z)
{
	for (int i = 0; i < z->match.n_views; i++) {
		const struct tensor_view *v = &z->match.views[i];

		if (v->target != NULL &&
		    !starts_aligned(z, v, v->param->align_bytes)) {
			return edit_fail(z->e,
					 "%s needs %s aligned to %d bytes; "
					 "declare it with "
					 "align=%d, and begin at a multiple",
					 z->intrin->name, v->target->name,
					 v->param->align_bytes,
					 v->param->align_bytes);
		}
	}
	return true;
}

/* -- choosing the parts */

static bool
match_all(struct tensorizer *z, enum tensor_part part)
{
	if (z->want.list.n != z->have.list.n) {
		return refuse(z, arena_printf(&z->e->m->arena,
					      "it contains %d blocks, the "
					      "description %d",
					      z->have.list.n, z->want.list.n));
	}
	for (int i = 0; i < z->want.list.n; i++) {
		if (!tensor_match_block(&z->match, &z->want.list.data[i],
					&z->have.list.data[i], part)) {
			return refuse(z, z->match.why);
		}
	}
	for (int i = 0; i < z->match.n_views; i++) {
		if (!z->match.views[i].target) {
			return refuse(z, "the description does not use all "
					 "of its parameters");
		}
	}
	return true;
}

/* Does the outer block's init match the reset of the intrinsic? */
static bool
match_reset(struct tensorizer *z)
{
	struct tensor_leaves inits = { 0 };

	return tensor_leaves(z->e->f, z->outer->children[1], &inits) &&
	       inits.list.n == 1 && z->want.list.n == 1 &&
	       tensor_match_block(&z->match, &z->want.list.data[0],
				  &inits.list.data[0], TENSOR_INIT);
}

static bool
put_part(struct tensorizer *z, int slot, const struct func *part)
{
	struct stmt *body = views_aligned(z) ? inline_part(z, part) : NULL;

	if (!body) {
		return false;
	}
	stmt_set_child(z->e->f, z->outer, slot, body);
	return record_calls(z, part);
}

static bool
replace_body(struct tensorizer *z)
{
	const struct tensor_intrin *t = z->intrin;
	struct stmt *first = z->have.list.data[0].block, *init;
	bool described = z->want.list.data[0].block->children[1] != NULL;

	if (described && first->children[1]) {
		return match_all(z, TENSOR_ALL) && put_part(z, 0, t->impl);
	}
	if (!described && first->children[1]) {
		/* The instruction adds to the accumulator, which must be
		 * initialized first. */
		if (z->outer->children[1]) {
			return refuse(z, "it initializes the reduction twice");
		}
		init = detach_init(z->e, z->outer->children[0], first);
		if (!init) {
			return false;
		}
		stmt_set_child(z->e->f, z->outer, 1, init);
	}
	if (!described) {
		return match_all(z, TENSOR_ALL) && put_part(z, 0, t->impl);
	}
	if (!t->update) {
		return refuse(z, "outer loops continue the reduction, but "
				 "the instruction has no update form");
	}
	if (!match_all(z, TENSOR_UPDATE)) {
		return false;
	}
	if (z->outer->children[1] && t->reset && match_reset(z) &&
	    !put_part(z, 1, t->reset)) {
		return false;
	}
	return put_part(z, 0, t->update);
}

/* -- strides from storage_align */

static void
grow(struct edit *e, const struct buffer *b, const struct expr *list)
{
	const struct expr **shape = arena_exprs(&e->m->arena, b->ndim + 1);
	bool same = true;

	for (int d = 0; d < b->ndim; d++) {
		shape[d] = b->shape[d];
	}
	storage_align_shape(e->m, list, shape, b->ndim);
	for (int d = 0; d < b->ndim; d++) {
		same &= shape[d] == b->shape[d];
	}
	if (!same) {
		buffer_swap_all(e->f, b,
				buffer_with_shape(e->m, b, b->ndim, shape));
	}
}

/* Applies storage_align to the buffers of the block now, and not only when
 * storage is allocated, because the call receives strides. */
static void
grow_aligned(struct edit *e, struct stmt *outer)
{
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(e->f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		const struct expr *list = stmt_note(s, STORAGE_ALIGN), *x,
				  *what;
		int i = 0;

		while ((x = storage_align_next(list, &i))) {
			struct access_list uses = { 0 };
			const struct buffer *b;
			int64_t which;

			if (!expr_is_int(x->args[0], &which) || which < 0 ||
			    which >= s->u.block->n_writes) {
				continue;
			}
			b = s->u.block->writes[which].buffer;
			access_collect(e->f, outer, b, &uses);
			if (uses.list.n > 0) {
				what = expr_list(e->m, x->args + 1, 3);
				grow(e, b, expr_list(e->m, &what, 1));
			}
		}
	}
}

static bool
tensorize_block(struct edit *e, struct stmt *outer,
		const struct tensor_intrin *intrin)
{
	struct tensorizer z = { .e = e, .intrin = intrin, .outer = outer };
	struct stmt *desc = intrin->desc->body;

	tensor_match_init(&z.match, e, intrin->desc, outer);
	z.copied = arena_array(&e->m->arena, bool, z.match.n_views + 1);
	if (desc->kind != STMT_BLOCK || desc->u.block->n_iters > 0 ||
	    !tensor_leaves(intrin->desc, desc->children[0], &z.want)) {
		return edit_fail(e,
				 "the description of %s is not a root block "
				 "with loops around blocks",
				 intrin->name);
	}
	if (!tensor_leaves(e->f, outer->children[0], &z.have)) {
		return edit_fail(e,
				 "block %s contains other statements than "
				 "loops around blocks; blockize the loops to "
				 "replace",
				 outer->u.block->name);
	}
	return replace_body(&z);
}

bool
prim_tensorize(struct edit *e, const struct sched_value *args,
	       struct sched_value *out)
{
	const struct tensor_intrin *intrin =
		tensor_intrins_find(e->s->intrins, args[1].u.text);
	struct stmt *s = func_find(e->f, args[0].u.id);

	(void)out;
	if (!intrin) {
		return edit_fail(e,
				 "there is no tensor intrinsic \"%s\"; "
				 "declare or register it first",
				 args[1].u.text);
	}
	if (s->kind == STMT_FOR) {
		s = blockize_loop(e, s, args[2].u.ival);
	}
	if (s) {
		grow_aligned(e, s);
	}
	return s && tensorize_block(e, s, intrin);
}
