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

/* One of four changes of all expressions of statements: a rewrite by pre (see
 * expr_rewrite), the replacement of `old` by `new`, a substitution by vars, the
 * replacement of the buffer `from` by `to`. The fields of the other three are
 * NULL. */
struct mapper {
	struct module *module;
	const struct expr *(*pre)(void *ctx, const struct expr *e);
	void *ctx;
	const struct expr *old, *new;
	const struct var_map *vars;
	/* NULL, both, if no buffer is replaced */
	const struct buffer *from, *to;
};

static const struct expr *
apply(const struct mapper *m, const struct expr *e)
{
	if (!e) {
		return NULL;
	}
	if (m->pre) {
		return expr_rewrite(m->module, e, m->pre, m->ctx);
	}
	if (m->old) {
		return expr_replace(m->module, e, &m->old, &m->new, 1);
	}
	return m->vars ? expr_substitute(m->module, e, m->vars)
		       : expr_replace_buffer(m->module, e, m->from, m->to);
}

static const struct buffer *
apply_buffer(const struct mapper *m, const struct buffer *b)
{
	return m->from && b == m->from ? m->to : b;
}

static struct region *
map_regions(const struct mapper *m, const struct region *list, int n)
{
	struct arena *a = &m->module->arena;
	struct region *copy;

	if (n == 0) {
		return NULL;
	}
	copy = arena_copy(a, list, sizeof *list * (size_t)n);
	for (int i = 0; i < n; i++) {
		const struct range *old = list[i].ranges;
		int ndim = list[i].buffer->ndim;

		copy[i].buffer = apply_buffer(m, list[i].buffer);
		if (old == NULL) {
			continue;
		}
		copy[i].ranges = arena_array(a, struct range, ndim + 1);
		for (int d = 0; d < ndim; d++) {
			copy[i].ranges[d].min = apply(m, old[d].min);
			copy[i].ranges[d].extent = apply(m, old[d].extent);
		}
	}
	return copy;
}

struct region *
regions_substitute(struct module *m, const struct region *list, int n,
		   const struct var_map *map)
{
	struct mapper mapper = { .module = m, .vars = map };

	return map_regions(&mapper, list, n);
}

static bool
changes(const struct mapper *m, const struct expr *e)
{
	return apply(m, e) != e;
}

static bool
regions_change(const struct mapper *m, const struct region *list, int n)
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

/* Does the replacement change anything in the block? Most blocks of a function
 * are not changed by it, and are not copied. */
static bool
block_changes(const struct mapper *m, const struct block *b)
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
map_block(struct func *f, const struct mapper *m, struct stmt *s)
{
	struct arena *arena = &m->module->arena;
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
	stmt_set_block(f, s, copy);
}

static void
map_all(struct func *f, struct mapper *m, struct stmt *s)
{
	m->module = f->module;
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			stmt_set_arg(f, s, i, apply(m, s->args[i]));
		}
		if (s->kind == STMT_BLOCK) {
			map_block(f, m, s);
		} else if (s->kind == STMT_STORE || s->kind == STMT_ALLOC) {
			const struct buffer *b = apply_buffer(m, s->u.buffer);

			if (b != s->u.buffer) {
				stmt_write(f, &s->u.buffer, &b, sizeof(b));
			}
		}
	}
}

void
stmt_rewrite(struct func *f, struct stmt *s,
	     const struct expr *(*pre)(void *ctx, const struct expr *e),
	     void *ctx)
{
	struct mapper m = { .pre = pre, .ctx = ctx };

	map_all(f, &m, s);
}

void
stmt_replace_expr(struct func *f, struct stmt *s, const struct expr *from,
		  const struct expr *to)
{
	struct mapper m = { .old = from, .new = to };

	map_all(f, &m, s);
}

void
stmt_substitute(struct func *f, struct stmt *s, const struct var_map *map)
{
	struct mapper m = { .vars = map };

	if (map->n > 0) {
		map_all(f, &m, s);
	}
}

void
stmt_replace_buffer(struct func *f, struct stmt *s, const struct buffer *from,
		    const struct buffer *to)
{
	struct mapper m = { .from = from, .to = to };

	map_all(f, &m, s);
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

void
func_rename_calls(struct func *f, enum intrin call, const char *from,
		  const char *to)
{
	struct renaming r = { f->module, call, from, to };

	stmt_rewrite(f, f->body, rename_call, &r);
}
