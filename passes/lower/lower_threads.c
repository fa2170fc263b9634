/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each kernel one loop per thread index, at its top.
 *
 *   for i_i in thread(32, "threadIdx.x"):     for bx in thread(n, "blockIdx.x"):
 *     for i_o in thread(n, "blockIdx.x"):       for tx in thread(32, ...x"):
 *       for a in thread(16, "threadIdx.x"):         if tx < 16:
 *         S[a] = A[i_o * 16 + a]          ->            S[tx] = A[bx*16 + tx]
 *       B[i_o * 32 + i_i] = S[...]                  B[bx*32 + tx] = S[...]
 *
 * Loops of one index may have different extents: the widest counts, the
 * others get a guard. What is stored to memory that others see under no loop
 * of an index is stored by its first thread alone. Intermediate buffers
 * within a kernel that nobody gave a scope become local, where one thread
 * makes and uses them, or shared. */
#include "lower_passes.h"

#include <string.h>

#include "thread_loops.h"

struct binder {
	struct func *func;
	struct stmt *root;
	struct stmt_vec loops[TAG_COUNT];
	struct var *vars[TAG_COUNT];
	const struct expr *extents[TAG_COUNT];
	struct stmt_vec stores;
	bool failed;
};

static bool
bind_fail(struct binder *b, const char *fmt, ...)
{
	struct module *m = b->func->module;
	struct diag_place place = { .item = b->func->name };
	va_list ap;

	va_start(ap, fmt);
	diag_error(&m->diags, DIAG_UNSUPPORTED, place, "%s",
		   arena_vprintf(&m->arena, fmt, ap));
	va_end(ap);
	b->failed = true;
	return false;
}

/* -- scopes */

static bool
has_thread_between(const struct stmt *top, const struct stmt *s, bool threads)
{
	for (; s && s != top; s = s->parent) {
		int tag = tag_of(s);

		if (tag >= 0 && tag < TAG_COUNT &&
		    tag_is_thread(tag) == threads) {
			return true;
		}
	}
	return false;
}

static void
choose_scope(struct func *f, struct stmt *alloc)
{
	const struct buffer *b = alloc->u.buffer;
	struct access_list uses = { 0 };
	struct stmt *common;
	const char *scope = "local";

	if (strcmp(b->scope, "global") != 0) {
		return;
	}
	access_collect(f, alloc->children[0], b, &uses);
	if (uses.list.n == 0) {
		return;
	}
	common = uses.list.data[0].at;
	for (int i = 1; i < uses.list.n; i++) {
		common = stmt_common(common, uses.list.data[i].at);
	}
	/* common is a thread loop itself, or below one? */
	if (tag_of(common) < 0 && !has_thread_between(NULL, common, true) &&
	    !has_thread_between(NULL, common, false)) {
		return;
	}
	for (int i = 0; i < uses.list.n; i++) {
		if (has_thread_between(common, uses.list.data[i].at, false)) {
			return;
		}
		if (has_thread_between(common, uses.list.data[i].at, true)) {
			scope = "shared";
		}
	}
	stmt_replace_buffer(f, f->body, b,
			    buffer_with_scope(f->module, b, scope));
}

static bool
has_tag_between(const struct stmt *top, const struct stmt *s, int tag)
{
	for (; s && s != top; s = s->parent) {
		if (tag_of(s) == tag) {
			return true;
		}
	}
	return false;
}

/* A buffer that was declared local: what the threads of a loop store each
 * thread has for itself. It cannot be used outside of such loops. So it is
 * with the blocks of a loop and what was declared shared. */
static bool
check_scope(struct binder *b, const struct stmt *alloc)
{
	const struct buffer *buffer = alloc->u.buffer;
	bool local = strcmp(buffer->scope, "local") == 0;
	struct access_list uses = { 0 };
	struct stmt *common;

	if (!local && strcmp(buffer->scope, "shared") != 0) {
		return true;
	}
	access_collect(b->func, alloc->children[0], buffer, &uses);
	if (uses.list.n == 0) {
		return true;
	}
	common = uses.list.data[0].at;
	for (int i = 1; i < uses.list.n; i++) {
		common = stmt_common(common, uses.list.data[i].at);
	}
	for (int tag = 0; tag < TAG_COUNT; tag++) {
		int inside = 0;

		if (tag_is_thread(tag) && !local) {
			continue;
		}
		for (int i = 0; i < uses.list.n; i++) {
			inside += has_tag_between(common,
						  uses.list.data[i].at, tag);
		}
		if (inside > 0 && inside < uses.list.n &&
		    !tag_is_thread(tag)) {
			return bind_fail(b, "%s belongs to one block of "
					 "threads, but is used inside and "
					 "outside of loops over blocks; bind "
					 "those loops alike", buffer->name);
		}
		if (inside > 0 && inside < uses.list.n) {
			return bind_fail(b, "%s is local to a thread, but is "
					 "used inside and outside of loops "
					 "over threads; set_scope to "
					 "\"shared\"", buffer->name);
		}
	}
	return true;
}

static bool
find_alloc(void *ctx, struct stmt *s)
{
	struct binder *b = ctx;

	if (s->kind == STMT_ALLOC) {
		vec_push(&b->func->module->arena, &b->stores.list, s);
	}
	return true;
}

static bool
choose_scopes(struct func *f)
{
	struct binder b = { .func = f };

	stmt_visit(f->body, find_alloc, &b);
	for (int i = 0; i < b.stores.list.n; i++) {
		if (!check_scope(&b, b.stores.list.data[i])) {
			return false;
		}
		choose_scope(f, b.stores.list.data[i]);
	}
	return true;
}

/* -- one kernel */

static bool
find_loop(void *ctx, struct stmt *s)
{
	struct binder *b = ctx;
	struct arena *arena = &b->func->module->arena;
	int tag = tag_of(s);

	if (tag == TAG_UNKNOWN) {
		return bind_fail(b, "loop %s is bound to '%s'; there are "
				 "blockIdx.x, .y, .z, threadIdx.x, .y, .z and "
				 "vthread", s->u.loop.var->name,
				 s->u.loop.thread);
	}
	if (tag >= 0 && tag < TAG_COUNT) {
		vec_push(arena, &b->loops[tag].list, s);
	}
	if (s->kind == STMT_STORE && !buffer_is_private(s->u.buffer)) {
		vec_push(arena, &b->stores.list, s);
	}
	return true;
}

struct inner_use {
	const struct stmt *root, *at;
	const struct var *found;
};

static void
find_inner(void *ctx, const struct expr *e)
{
	struct inner_use *u = ctx;

	for (const struct stmt *s = u->at->parent;
	     e->kind == EXPR_VAR && s && s != u->root->parent;
	     s = s->parent) {
		if ((s->kind == STMT_FOR && s->u.loop.var == e->u.var) ||
		    (s->kind == STMT_LET && s->u.var == e->u.var)) {
			u->found = e->u.var;
		}
	}
}

/* How many threads the loop needs, in terms of what is known before the
 * launch; NULL (reported) if that depends on what happens in the kernel. */
static const struct expr *
launch_extent(struct binder *b, const struct stmt *loop)
{
	struct module *m = b->func->module;
	struct inner_use use = { b->root, loop, NULL };
	const struct expr *extent = loop->args[1];
	struct analyser a;
	struct bounds bounds;

	if (expr_has_load(extent)) {
		bind_fail(b, "the extent of loop %s, bound to %s, is read from "
			  "memory", loop->u.loop.var->name,
			  loop->u.loop.thread);
		return NULL;
	}
	expr_visit(extent, find_inner, &use);
	if (!use.found) {
		return extent;
	}
	analyser_init(&a, m);
	analyser_enter(&a, loop);
	bounds = analyse_bounds(&a, extent);
	if (bounds.max == BOUND_POS_INF) {
		bind_fail(b, "the extent of loop %s, bound to %s, depends on "
			  "%s and has no bound; bind a loop of another extent",
			  loop->u.loop.var->name, loop->u.loop.thread,
			  use.found->name);
		return NULL;
	}
	return expr_int(m, extent->type, bounds.max);
}

static const struct expr *
as_type(struct module *m, const struct expr *e, struct dtype t)
{
	int64_t v;

	return dtype_equal(e->type, t) ? e
	       : expr_is_int(e, &v)    ? expr_int(m, t, v)
				       : expr_cast(m, t, e);
}

/* The axis that the index stands for; where there are several, "tx". */
static const char *
index_name(const struct binder *b, int tag)
{
	static const char *const names[TAG_COUNT] = { "bz", "by", "bx",
						      "tz", "ty", "tx" };
	const char *name = b->loops[tag].list.data[0]->u.loop.var->name;

	for (int i = 1; i < b->loops[tag].list.n; i++) {
		if (strcmp(b->loops[tag].list.data[i]->u.loop.var->name,
			   name) != 0) {
			return names[tag];
		}
	}
	return name;
}

static bool
is_under(const struct stmt *s, const struct stmt *root, int tag)
{
	for (; s != root->parent; s = s->parent) {
		if (tag_of(s) == tag) {
			return true;
		}
	}
	return false;
}

static bool
stores_outside(const struct binder *b, int tag)
{
	for (int i = 0; i < b->stores.list.n; i++) {
		if (!is_under(b->stores.list.data[i], b->root, tag)) {
			return true;
		}
	}
	return false;
}

/* One variable and one extent for all loops of the index. */
static bool
unify(struct binder *b, int tag)
{
	struct module *m = b->func->module;
	const struct expr *widest = NULL;
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter(&a, b->root);
	for (int i = 0; i < b->loops[tag].list.n; i++) {
		struct stmt *loop = b->loops[tag].list.data[i];
		const struct expr *e = launch_extent(b, loop);

		if (!e) {
			return false;
		}
		if (!widest) {
			b->vars[tag] = var_new(m, index_name(b, tag),
					       loop->u.loop.var->type);
			widest = e;
			continue;
		}
		e = as_type(m, e, widest->type);
		if (prove(&a, expr_le(m, e, widest))) {
			continue;
		}
		widest = prove(&a, expr_le(m, widest, e))
				 ? e
				 : simplify(&a, expr_max(m, widest, e));
	}
	/* Without a thread nothing runs, not even what others are to do. */
	if (stores_outside(b, tag) &&
	    !prove(&a, expr_le(m, expr_int(m, widest->type, 1), widest))) {
		widest = expr_max(m, widest, expr_int(m, widest->type, 1));
	}
	b->extents[tag] = widest;
	return true;
}

static bool
holds_tag(const struct stmt *s, int tag)
{
	if (tag_of(s) == tag) {
		return true;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && holds_tag(s->children[i], tag)) {
			return true;
		}
	}
	return false;
}

/* Puts what is below s and under no further loop of the index under cond. */
static void
guard_parts(struct func *f, struct stmt *s, int tag, const struct expr *cond)
{
	if (!holds_tag(s, tag)) {
		struct stmt_place place = stmt_place_of(s);

		stmt_put(f, place, stmt_if(f, cond, s, NULL));
		return;
	}
	if (tag_of(s) == tag) {
		return;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			int n = s->n_children;

			guard_parts(f, s->children[i], tag, cond);
			i += s->n_children - n;
		}
	}
}

/* Blocks of threads do not wait for each other: what a kernel stores in a loop
 * over blocks it can read in such loops only, and the other way round. */
static bool
check_blocks(struct binder *b)
{
	for (int i = 0; i < b->stores.list.n; i++) {
		const struct stmt *s = b->stores.list.data[i];
		struct access_list uses = { 0 };

		if (buffer_is_shared(s->u.buffer)) {
			continue;
		}
		access_collect(b->func, b->root, s->u.buffer, &uses);
		for (int tag = TAG_BLOCK_Z; tag <= TAG_BLOCK_X; tag++) {
			bool inside = is_under(s, b->root, tag);

			if (!b->vars[tag] ||
			    expr_is_value(b->extents[tag], 1)) {
				continue;
			}
			for (int k = 0; k < uses.list.n; k++) {
				if (!uses.list.data[k].load ||
				    is_under(uses.list.data[k].at, b->root,
					     tag) == inside) {
					continue;
				}
				return bind_fail(b, "%s is stored inside and "
						 "read outside of loops over "
						 "%s, or the other way round; "
						 "blocks do not wait for each "
						 "other: bind an outer loop",
						 s->u.buffer->name,
						 tag_name(tag));
			}
		}
	}
	return true;
}

/* Stores that several threads would do, all the same. */
static void
guard_stores(struct binder *b)
{
	struct func *f = b->func;
	struct module *m = f->module;

	for (int i = 0; i < b->stores.list.n; i++) {
		struct stmt *s = b->stores.list.data[i];
		const struct expr *cond = NULL;

		for (int tag = 0; tag < TAG_COUNT; tag++) {
			const struct expr *v, *first;

			if (!b->vars[tag] || is_under(s, b->root, tag) ||
			    (buffer_is_shared(s->u.buffer) &&
			     !tag_is_thread(tag)) ||
			    expr_is_value(b->extents[tag], 1)) {
				continue;
			}
			v = b->vars[tag]->expr;
			first = expr_eq(m, v, expr_int(m, v->type, 0));
			cond = cond ? expr_and(m, cond, first) : first;
		}
		if (cond) {
			struct stmt_place place = stmt_place_of(s);

			stmt_put(f, place, stmt_if(f, cond, s, NULL));
		}
	}
}

/* The loop goes; its variable becomes the index. */
static void
dissolve(struct binder *b, int tag, struct stmt *loop)
{
	struct func *f = b->func;
	struct module *m = f->module;
	struct var *old = loop->u.loop.var;
	const struct expr *v = as_type(m, b->vars[tag]->expr, old->type);
	const struct expr *value = expr_add(m, v, loop->args[0]);
	struct var_map map = { &old, &value, 1 };
	struct stmt *body = loop->children[0];
	struct analyser a;

	analyser_init(&a, m);
	analyser_enter(&a, loop);
	stmt_substitute(f, body, &map);
	if (!prove(&a, expr_lt(m, v, loop->args[1]))) {
		guard_parts(f, body, tag, expr_lt(m, v, loop->args[1]));
		body = loop->children[0];
	}
	stmt_replace(f, loop, body);
}

/* Threads are in a block, also where there is but one: what they share stands
 * between its loop and theirs. */
static void
add_block(struct binder *b)
{
	struct module *m = b->func->module;

	for (int tag = TAG_BLOCK_Z; tag <= TAG_BLOCK_X; tag++) {
		if (b->vars[tag]) {
			return;
		}
	}
	for (int tag = TAG_THREAD_Z; tag <= TAG_THREAD_X; tag++) {
		if (b->vars[tag]) {
			b->vars[TAG_BLOCK_X] = var_new(m, "bx",
						       dtype_of(DT_I32));
			b->extents[TAG_BLOCK_X] = expr_i32(m, 1);
			return;
		}
	}
}

/* The chain of the kernel's loops, around all that there is. */
static void
wrap(struct binder *b)
{
	struct func *f = b->func;
	struct stmt *inner = b->root;

	for (int tag = TAG_COUNT - 1; tag >= 0; tag--) {
		struct stmt_place place = stmt_place_of(inner);
		struct var *v = b->vars[tag];

		if (!v) {
			continue;
		}
		inner = stmt_for(f, v, expr_int(f->module, v->type, 0),
				 as_type(f->module, b->extents[tag], v->type),
				 FOR_THREAD, inner);
		inner->u.loop.thread = tag_name(tag);
		if (b->loops[tag].list.n > 0) {
			inner->notes = b->loops[tag].list.data[0]->notes;
		}
		stmt_put(f, place, inner);
	}
}

static bool
bind_kernel(struct func *f, struct stmt *root)
{
	struct binder b = { .func = f, .root = root };

	stmt_visit(root, find_loop, &b);
	if (b.failed) {
		return false;
	}
	for (int tag = 0; tag < TAG_COUNT; tag++) {
		if (b.loops[tag].list.n > 0 && !unify(&b, tag)) {
			return false;
		}
	}
	if (!check_blocks(&b)) {
		return false;
	}
	guard_stores(&b);
	add_block(&b);
	wrap(&b);
	/* In program order: an outer loop's guard leaves inner ones out. */
	for (int tag = 0; tag < TAG_COUNT; tag++) {
		for (int i = 0; i < b.loops[tag].list.n; i++) {
			dissolve(&b, tag, b.loops[tag].list.data[i]);
		}
	}
	return true;
}

bool
lower_threads(struct func *f)
{
	struct stmt_vec kernels = { 0 };

	threads_kernels(f, &kernels);
	if (kernels.list.n == 0) {
		return true;
	}
	if (!choose_scopes(f)) {
		return false;
	}
	for (int i = 0; i < kernels.list.n; i++) {
		if (!bind_kernel(f, kernels.list.data[i])) {
			return false;
		}
	}
	return true;
}
