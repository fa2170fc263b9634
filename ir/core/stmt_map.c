/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces expressions, variables and buffers everywhere in a statement tree:
 * in args, regions and iteration domains. */
#include "stmt.h"

#include "func.h"
#include "iterate.h"

bool
regions_have(const struct region *list, int n, const struct buffer *b)
{
	for (int i = 0; i < n; i++) {
		if (list[i].buffer == b) {
			return true;
		}
	}
	return false;
}

struct region *
regions_map(struct arena *a, const struct region *list, int n,
	    const struct expr *(*map)(void *ctx, const struct expr *e),
	    void *ctx)
{
	struct region *copy;

	if (n == 0) {
		return NULL;
	}
	copy = arena_copy(a, list, sizeof *list * (size_t)n);
	for (int i = 0; i < n; i++) {
		int ndim = list[i].buffer->ndim;

		if (list[i].ranges == NULL) {
			continue;
		}
		copy[i].ranges = arena_array(a, struct range, ndim + 1);
		for (int d = 0; d < ndim; d++) {
			copy[i].ranges[d].min = map(ctx, list[i].ranges[d].min);
			copy[i].ranges[d].extent =
				map(ctx, list[i].ranges[d].extent);
		}
	}
	return copy;
}

struct mapper {
	struct func *func;
	const struct expr *(*map)(void *ctx, const struct expr *e);
	void *ctx;
	const struct buffer *from, *to; /* both NULL if no buffer is replaced */
};

static const struct expr *
apply(void *ctx, const struct expr *e)
{
	struct mapper *m = ctx;

	return e ? m->map(m->ctx, e) : NULL;
}

static const struct buffer *
apply_buffer(const struct mapper *m, const struct buffer *b)
{
	return m->from && b == m->from ? m->to : b;
}

static struct region *
map_regions(struct mapper *m, const struct region *list, int n)
{
	struct region *copy = regions_map(&m->func->module->arena, list, n,
					  apply, m);

	for (int i = 0; i < n; i++) {
		copy[i].buffer = apply_buffer(m, list[i].buffer);
	}
	return copy;
}

static bool
changes(struct mapper *m, const struct expr *e)
{
	return apply(m, e) != e;
}

static bool
regions_change(struct mapper *m, const struct region *list, int n)
{
	for (int i = 0; i < n; i++) {
		const struct range *ranges = list[i].ranges;

		if (apply_buffer(m, list[i].buffer) != list[i].buffer) {
			return true;
		}
		for (int d = 0; ranges && d < list[i].buffer->ndim; d++) {
			if (changes(m, ranges[d].min) ||
			    changes(m, ranges[d].extent)) {
				return true;
			}
		}
	}
	return false;
}

/* Does the block change? Most blocks of a function do not, and are not
 * copied. */
static bool
block_changes(struct mapper *m, const struct block *b)
{
	for (int i = 0; i < b->n_iters; i++) {
		if (changes(m, b->iters[i].min) ||
		    changes(m, b->iters[i].extent)) {
			return true;
		}
	}
	for (int i = 0; m->from && i < b->n_allocs; i++) {
		if (b->allocs[i] == m->from) {
			return true;
		}
	}
	return regions_change(m, b->reads, b->n_reads) ||
	       regions_change(m, b->writes, b->n_writes);
}

static void
map_block(struct mapper *m, struct stmt *s)
{
	struct arena *arena = &m->func->module->arena;
	const struct block *b = s->u.block;
	struct block *copy;

	if (!block_changes(m, b)) {
		return;
	}
	copy = arena_copy(arena, b, sizeof *b);
	if (b->n_iters > 0) {
		copy->iters = arena_copy(arena, b->iters,
					 sizeof *b->iters * (size_t)b->n_iters);
	}
	for (int i = 0; i < b->n_iters; i++) {
		copy->iters[i].min = apply(m, b->iters[i].min);
		copy->iters[i].extent = apply(m, b->iters[i].extent);
	}
	copy->reads = map_regions(m, b->reads, b->n_reads);
	copy->writes = map_regions(m, b->writes, b->n_writes);
	if (m->from && b->n_allocs > 0) {
		copy->allocs = arena_copy(arena, b->allocs,
					  sizeof(*b->allocs) *
						  (size_t)b->n_allocs);
		for (int i = 0; i < b->n_allocs; i++) {
			copy->allocs[i] = apply_buffer(m, b->allocs[i]);
		}
	}
	stmt_set_block(m->func, s, copy);
}

static void
map_all(struct mapper *m, struct stmt *s)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			stmt_set_arg(m->func, s, i, apply(m, s->args[i]));
		}
		if (s->kind == STMT_BLOCK) {
			map_block(m, s);
		} else if (s->kind == STMT_STORE || s->kind == STMT_ALLOC) {
			const struct buffer *b = apply_buffer(m, s->u.buffer);

			if (b != s->u.buffer) {
				stmt_write(m->func, &s->u.buffer, &b,
					   sizeof(b));
			}
		}
	}
}

void
stmt_map_exprs(struct func *f, struct stmt *s,
	       const struct expr *(*map)(void *ctx, const struct expr *e),
	       void *ctx)
{
	struct mapper m = { .func = f, .map = map, .ctx = ctx };

	map_all(&m, s);
}

struct substitution {
	struct module *module;
	const struct var_map *map;
};

static const struct expr *
substitute(void *ctx, const struct expr *e)
{
	const struct substitution *s = ctx;

	return expr_substitute(s->module, e, s->map);
}

void
stmt_substitute(struct func *f, struct stmt *s, const struct var_map *map)
{
	struct substitution sub = { f->module, map };

	if (map->n > 0) {
		stmt_map_exprs(f, s, substitute, &sub);
	}
}

struct buffer_swap {
	struct module *module;
	const struct buffer *from, *to;
};

static const struct expr *
swap_loads(void *ctx, const struct expr *e)
{
	const struct buffer_swap *s = ctx;

	return expr_replace_buffer(s->module, e, s->from, s->to);
}

void
stmt_replace_buffer(struct func *f, struct stmt *s, const struct buffer *from,
		    const struct buffer *to)
{
	struct buffer_swap swap = { f->module, from, to };
	struct mapper m = {
		.func = f,
		.map = swap_loads,
		.ctx = &swap,
		.from = from,
		.to = to,
	};

	map_all(&m, s);
}

struct renaming {
	struct module *module;
	enum intrin call;
	const char *from, *to;
};

static const struct expr *
rename_call(void *ctx, const struct expr *e)
{
	const struct renaming *r = ctx;
	const struct expr **args;

	if (e->kind != EXPR_CALL || e->u.intrin != r->call ||
	    strcmp(e->args[0]->u.text, r->from) != 0) {
		return NULL;
	}
	args = arena_copy(&r->module->arena, e->args,
			  sizeof *args * (size_t)e->n_args);
	args[0] = expr_string(r->module, r->to);
	return expr_call(r->module, r->call, e->type, args, e->n_args);
}

static const struct expr *
rename_calls(void *ctx, const struct expr *e)
{
	const struct renaming *r = ctx;

	return expr_rewrite(r->module, e, rename_call, ctx);
}

void
func_rename_calls(struct func *f, enum intrin call, const char *from,
		  const char *to)
{
	struct renaming r = { f->module, call, from, to };

	stmt_map_exprs(f, f->body, rename_calls, &r);
}
