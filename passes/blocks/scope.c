/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, the blocks around statements: finds blocks, edits the buffers that a
 * scope allocates, and makes new nests for blocks. */
#include "scope.h"

#include "iterate.h"

struct stmt *
scope_of(const struct stmt *s)
{
	struct stmt *p = s->parent;

	while (p && p->kind != STMT_BLOCK) {
		p = p->parent;
	}
	return p;
}

struct stmt *
scope_child(const struct stmt *s)
{
	const struct stmt *scope = scope_of(s);

	for (;;) {
		const struct stmt *p = s->parent;

		if (p == scope || (p->kind == STMT_SEQ && p->parent == scope)) {
			int i = 0;

			while (p->children[i] != s) {
				i++;
			}
			return p->children[i];
		}
		s = p;
	}
}

void
blocks_below(struct func *f, struct stmt *s, struct stmt_list *out)
{
	for (struct stmt_iter it = stmt_each_of(s, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		vec_push(&f->module->arena, &out->list, s);
		stmt_skip(&it);
	}
}

struct stmt_list
loops_noted(struct func *f, const char *note)
{
	struct stmt_list found = { 0 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_FOR);
	     (s = stmt_next(&it));) {
		if (stmt_note(s, note) != NULL) {
			vec_push(&f->module->arena, &found.list, s);
		}
	}
	return found;
}

bool
stmt_before(const struct func *f, const struct stmt *s, const struct stmt *t)
{
	struct stmt_iter it = stmt_each(f->body);
	const struct stmt *x;

	while ((x = stmt_next(&it)) != NULL && x != s && x != t) {
	}
	return x == s;
}

/* -- buffers */

void
scope_add_alloc(struct func *f, struct stmt *scope, const struct buffer *b)
{
	struct block copy = *scope->u.block;
	const struct buffer **list = arena_array(&f->module->arena,
						 const struct buffer *,
						 copy.n_allocs + 1);

	for (int i = 0; i < copy.n_allocs; i++) {
		list[i] = copy.allocs[i];
	}
	list[copy.n_allocs++] = b;
	copy.allocs = list;
	stmt_set_block(f, scope, &copy);
}

bool
scope_owns(const struct stmt *scope, const struct buffer *b)
{
	for (int i = 0; i < scope->u.block->n_allocs; i++) {
		if (scope->u.block->allocs[i] == b) {
			return true;
		}
	}
	return false;
}

void
scope_drop_alloc(struct func *f, struct stmt *scope, const struct buffer *b)
{
	struct block copy = *scope->u.block;
	const struct buffer **list = arena_array(&f->module->arena,
						 const struct buffer *,
						 copy.n_allocs + 1);
	int k = 0;

	for (int i = 0; i < copy.n_allocs; i++) {
		if (copy.allocs[i] != b) {
			list[k++] = copy.allocs[i];
		}
	}
	copy.allocs = list;
	copy.n_allocs = k;
	stmt_set_block(f, scope, &copy);
}

void
buffer_swap_all(struct func *f, const struct buffer *from,
		const struct buffer *to)
{
	stmt_replace_buffer(f, f->body, from, to);
	for (int i = 0; i < f->params.n; i++) {
		struct param *p = &f->params.data[i];

		if (p->buffer == from) {
			struct param new = { .var = to->data,
					     .buffer = to,
					     .space = p->space };

			stmt_write(f, p, &new, sizeof new);
		}
	}
}

/* May a loop of this extent have 0 iterations, and surely not more than one? */
static bool
may_be_left_out(struct analyser *a, const struct expr *extent)
{
	struct bounds b = analyse_bounds(a, extent);

	return b.min < 1 && b.max == 1;
}

void
bind_kept(struct analyser *a, const struct var *v, const struct expr *min,
	  const struct expr *extent, bool keep_units)
{
	if (keep_units && expr_is_value(extent, 1)) {
		extent = expr_int(a->module, extent->type, 2);
	} else if (may_be_left_out(a, extent)) {
		extent = expr_add(a->module, extent,
				  expr_int(a->module, extent->type, 1));
	}
	analyser_bind(a, v, min, extent);
}

/* Binds the loops around the statement anew (bind_kept). */
static void
keep_loops(struct analyser *a, const struct stmt *s, bool keep_units)
{
	for (s = s->parent; s && s->kind != STMT_BLOCK; s = s->parent) {
		if (s->kind == STMT_FOR) {
			bind_kept(a, s->u.loop.var, s->args[0], s->args[1],
				  keep_units);
		}
	}
}

void
bindings_simplify(struct func *f, struct stmt *s, bool keep_units)
{
	struct stmt_list blocks = { 0 };

	blocks_below(f, s, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];
		struct analyser a;

		analyser_init(&a, f->module);
		analyser_enter_scope(&a, b);
		keep_loops(&a, b, keep_units);
		for (int k = 0; k < b->n_args; k++) {
			stmt_set_arg(f, b, k, simplify(&a, b->args[k]));
		}
	}
}

/* -- blocks and their nests */

bool
identity_index(const struct stmt *block, const struct buffer *b,
	       const struct expr *const *index, int *iter_of)
{
	const struct block *blk = block->u.block;

	for (int d = 0; d < b->ndim; d++) {
		iter_of[d] = -1;
		for (int i = 0; i < blk->n_iters; i++) {
			if (index[d] == blk->iters[i].var->expr) {
				iter_of[d] = i;
			}
		}
		for (int k = 0; k < d && iter_of[d] >= 0; k++) {
			if (iter_of[k] == iter_of[d]) {
				return false;
			}
		}
		if (iter_of[d] < 0 && !(expr_is_value(index[d], 0) &&
					expr_is_value(b->shape[d], 1))) {
			return false;
		}
	}
	return true;
}

struct stmt *
sole_store(const struct stmt *block)
{
	struct stmt *s = block->children[0];

	return s->kind == STMT_STORE ? s : NULL;
}

const char *
iter_axis_name(const char *iter_name)
{
	return strncmp(iter_name, "v_", 2) == 0 && iter_name[2] ? iter_name + 2
								: iter_name;
}

struct stmt *
nest_for_block(struct func *f, struct stmt *block, const struct range *ranges,
	       const struct stmt *context, bool unit_loops)
{
	struct module *m = f->module;
	const struct block *b = block->u.block;
	struct var **vars = arena_array(&m->arena, struct var *,
					b->n_iters + 1);
	const struct expr **extents = arena_exprs(&m->arena, b->n_iters + 1);
	const struct expr *predicate = expr_bool(m, true);
	struct stmt *nest = block;
	struct analyser a, kept;

	analyser_init(&a, m);
	analyser_init(&kept, m);
	if (context) {
		analyser_enter(&a, context);
		analyser_enter(&kept, context);
		keep_loops(&kept, context, false);
	}
	for (int i = 0; i < b->n_iters; i++) {
		const struct iter_var *it = &b->iters[i];
		/* an index of the axis may be of a wider type, such as that of a
		 * longer axis of the reader */
		struct dtype t = it->var->type;
		const struct expr *extent = expr_cast(m, t, ranges[i].extent);
		const struct expr *value = expr_cast(m, t, ranges[i].min), *end;

		extents[i] = extent;
		if (unit_loops || !expr_is_value(extent, 1)) {
			const char *axis = iter_axis_name(it->var->name);
			const struct expr *none = expr_int(m, it->var->type, 0);

			/* The loop covers only a part of the axis, as h_i in h
			 * = h_o * 4 + h_i. */
			if (value != it->min) {
				axis = arena_printf(&m->arena, "%s_i", axis);
			}
			vars[i] = var_new(m, axis, it->var->type);
			analyser_bind(&a, vars[i], none, extent);
			analyser_assume(&a, expr_lt(m, none, extent));
			bind_kept(&kept, vars[i], none, extent, false);
			value = expr_add(m, value, vars[i]->expr);
		}
		value = simplify(&kept, value);
		stmt_set_arg(f, block, i + 1, value);
		end = expr_add(m, it->min, it->extent);
		if (!prove(&a, expr_le(m, it->min, value))) {
			predicate = expr_and(m, predicate,
					     expr_le(m, it->min, value));
		}
		if (!prove(&a, expr_lt(m, value, end))) {
			predicate = expr_and(m, predicate,
					     expr_lt(m, value, end));
		}
	}
	stmt_set_arg(f, block, 0, predicate);
	for (int i = b->n_iters - 1; i >= 0; i--) {
		if (vars[i]) {
			nest = stmt_for(f, vars[i],
					expr_int(m, vars[i]->type, 0),
					extents[i], FOR_SERIAL, nest);
		}
	}
	return nest;
}
