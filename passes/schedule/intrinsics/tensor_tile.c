/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor_tile.h"

#include "edit.h"
#include "iterate.h"

struct buffer *
tensor_view_buffer(struct tensor_match *match, int i, const struct buffer *p)
{
	struct module *m = match->e->m;
	const struct tensor_view *v = &match->views[i];
	struct buffer *copy = arena_copy(&m->arena, p, sizeof *p);
	const struct expr **shape = arena_exprs(&m->arena, p->ndim + 1);
	const struct expr **strides = arena_exprs(&m->arena, p->ndim + 1);
	struct var_map sizes = { match->sizes.data, match->size_values.data,
				 match->sizes.n };
	bool dense = true;

	/* a new id, because buffers of loads are compared by their ids */
	copy->id = m->next_buffer_id++;
	for (int d = p->ndim - 1; d >= 0; d--) {
		const struct expr *compact = expr_i32(m, 1);

		shape[d] = expr_substitute(m, v->param->shape[d], &sizes);
		for (int k = d + 1; k < p->ndim; k++) {
			compact = expr_mul_sizes(m, compact, shape[k]);
		}
		strides[d] = v->dim_of[d] < 0 ? compact
					      : simplify(&match->a,
							 view_stride(m, v, d));
		dense &= expr_is_value(shape[d], 1) ||
			 prove_equal(&match->a, strides[d], compact);
	}
	copy->shape = shape;
	copy->strides = dense ? NULL : strides;
	return copy;
}

/* ---- which views */

/* Does an argument of the call contain parameter p? */
static bool
passes_param(const struct expr *call, const struct param *p)
{
	struct tree_iter it = exprs_each(call->args + 1, call->n_args - 1);
	const struct expr *e;
	bool passed = false;

	while ((e = tree_next(&it)) != NULL) {
		passed |= (e->kind == EXPR_VAR && e->u.var == p->var) ||
			  (e->kind == EXPR_CALL &&
			   intrin_is_address(e->u.intrin) &&
			   e->args[0]->kind == EXPR_LOAD &&
			   e->args[0]->u.buffer == p->buffer);
	}
	return passed;
}

bool
tensor_tile_needed(struct tensor_match *match, int i, const struct func *part)
{
	const struct param *p = &part->params.data[i];
	struct tree_iter it = tree_each_of(part->body, EXPR_CALL);
	bool passed = false;
	const struct expr *e;

	if (p->buffer->strides) {
		return false;
	}
	while ((e = tree_next(&it)) != NULL) {
		passed |= e->u.intrin == INTRIN_CALL_EXTERN &&
			  passes_param(e, p);
	}
	return passed &&
	       tensor_view_buffer(match, i, p->buffer)->strides != NULL;
}

/* Are the elements along the view's last axis adjacent in memory? */
static bool
has_rows(const struct buffer *view)
{
	int d = view->ndim - 1;

	while (d > 0 && expr_is_value(view->shape[d], 1)) {
		d--;
	}
	return expr_is_value(view->strides[d], 1);
}

/* Does the description store all elements of its parameter b? */
static bool
writes_all(const struct func *desc, const struct buffer *b)
{
	struct access_list all = accesses_of(desc, desc->body, b);
	struct access_list stores = { 0 };
	struct arena *a = &desc->module->arena;
	struct range *box = arena_array(a, struct range, b->ndim + 1);

	for (int i = 0; i < all.list.n; i++) {
		if (access_writes(&all.list.data[i])) {
			vec_push(a, &stores.list, all.list.data[i]);
		}
	}
	if (stores.list.n == 0 ||
	    !access_box(desc, desc->body, stores.list.data, stores.list.n,
			box)) {
		return stores.list.n == 0;
	}
	for (int d = 0; d < b->ndim; d++) {
		if (!expr_is_value(box[d].min, 0) ||
		    box[d].extent != b->shape[d]) {
			return false;
		}
	}
	return true;
}

const struct buffer *
tensor_tile(struct tensor_match *match, int i, const struct func *part,
	    const struct tensor_intrin *intrin, const char **why)
{
	struct module *m = match->e->m;
	const struct buffer *p = part->params.data[i].buffer;
	const struct buffer *target = match->views[i].target;
	const struct buffer *view = tensor_view_buffer(match, i, p);
	struct buffer_spec spec = {
		.name = arena_printf(&m->arena, "%s_tile", target->name),
		.type = p->type,
		.ndim = p->ndim,
		.shape = view->shape,
		.scope = "local",
		.align_bytes = p->align_bytes,
	};
	int64_t elems;

	*why = strchr(target->scope, '.') ? "is in a scope of the target's own"
	       : intrin->threads > 1
		       ? "is strided, and several threads share it"
	       : !buffer_const_elems(view, &elems)
		       ? "is strided, and the tile's size is not constant"
	       : func_has_param(match->e->f, target) && !has_rows(view)
		       ? "is strided along the tile's last axis"
	       : !writes_all(intrin->desc, intrin->desc->params.data[i].buffer)
		       ? "is strided, and the description writes only a part "
			 "of the tile"
		       : NULL;
	return *why ? NULL : buffer_new(m, &spec);
}

/* ---- copies */

/* The loops that copy a tile: to[i] = from[i] for each index i of the shape. */
static struct stmt *
copy_loops(struct func *f, const struct buffer *from, const struct buffer *to,
	   const struct expr *const *shape)
{
	struct module *m = f->module;
	struct var **vars = arena_array(&m->arena, struct var *, to->ndim + 1);
	const struct expr **at = arena_exprs(&m->arena, to->ndim + 1);
	struct stmt *s;

	for (int d = 0; d < to->ndim; d++) {
		vars[d] = var_new(m, arena_printf(&m->arena, "t%d", d),
				  shape[d]->type);
		at[d] = vars[d]->expr;
	}
	s = stmt_store(f, to, expr_load(m, from, at, from->ndim), at, to->ndim);
	for (int d = to->ndim - 1; d >= 0; d--) {
		s = stmt_for(f, vars[d], expr_int(m, shape[d]->type, 0),
			     shape[d], FOR_SERIAL, s);
	}
	return s;
}

/* Does `part` read the values that parameter i has before the part runs? The
 * implementation of a whole reduction does not read its sums: it initializes
 * them. */
static bool
part_reads(const struct tensor_intrin *t, const struct func *part, int i,
	   bool has_init)
{
	const struct buffer *b = t->desc->params.data[i].buffer;

	if (part == t->reset) {
		return false;
	}
	return func_reads(t->desc, b) &&
	       (part == t->update || !has_init || !func_writes(t->desc, b));
}

void
tensor_tile_use(struct tensor_match *match, int i, const struct func *part,
		const struct tensor_intrin *intrin, const struct buffer *tile,
		struct stmt *scratch)
{
	struct func *f = match->e->f;
	const struct param *p = &part->params.data[i];
	struct var *from[1] = { p->var };
	const struct expr *to[1] = { tile->data->expr };
	struct var_map map = { from, to, 1 };
	struct stmt *list[3], *s;
	bool has_init = false;
	int n = 0;

	for (struct stmt_iter it = stmt_each_of(intrin->desc->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		has_init |= s->parent && s->children[1] != NULL;
	}
	stmt_replace_buffer(f, scratch, p->buffer, tile);
	stmt_substitute(f, scratch, &map);
	if (part_reads(intrin, part, i, has_init)) {
		list[n++] = copy_loops(f, p->buffer, tile, tile->shape);
	}
	list[n++] = stmt_clone(f, scratch->children[0], true);
	if (func_writes(intrin->desc, intrin->desc->params.data[i].buffer)) {
		list[n++] = copy_loops(f, tile, p->buffer, tile->shape);
	}
	stmt_set_child(f, scratch, 0, stmt_seq(f, list, n));
}
