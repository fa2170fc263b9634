/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each kernel one loop per thread index, at its top.
 *
 *   for i_i in thread(32, "threadIdx.x"):     for bx in thread(n, "blockIdx.x"):
 *     for i_o in thread(n, "blockIdx.x"):       for tx in thread(32, ...x"):
 *       for a in thread(16, "threadIdx.x"):         if tx < 16:
 *         S[a] = A[i_o * 16 + a]          ->            S[tx] = A[bx*16 + tx]
 *       B[i_o * 32 + i_i] = S[...]                  B[bx*32 + tx] = S[...]
 *
 * Loops bound to one thread index may have different extents: the kernel's loop
 * gets the largest extent, and the shorter loops get a guard. A store to shared
 * or global memory that is not inside a loop of an index, or is the same in all
 * iterations of that loop, is executed only by the thread for which the index
 * is 0. Data flow between thread blocks is refused, since they cannot wait for
 * each other. An intermediate buffer without a scope becomes local if each
 * element is written and read by only one thread, else shared. */
#include "lower_passes.h"

#include <string.h>

#include "carried.h"
#include "iterate.h"
#include "thread_conflicts.h"
#include "thread_loops.h"
#include "thread_scopes.h"
#include "thread_updates.h"

struct binder {
	struct func *func;
	struct stmt *root;
	struct stmt_list loops[TAG_COUNT];
	struct var *vars[TAG_COUNT];
	const struct expr *extents[TAG_COUNT];
	/* stores: the stores to buffers that several threads share; calls: the
	 * calls that get an address in such a buffer to write to */
	struct stmt_list stores, calls;
	bool failed;
};

#define bind_fail(b, ...)                                                      \
	((b)->failed = true,                                                   \
	 func_error((b)->func, DIAG_UNSUPPORTED, __VA_ARGS__))

/* -- one kernel */

/* Does a call in the statement get an address to write to in a buffer that
 * several threads share? */
static bool
calls_writer(const struct stmt *s)
{
	struct tree_iter it = exprs_each(s->args, s->n_args);
	bool found = false;
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		found |= e->kind == EXPR_CALL &&
			 e->u.intrin == INTRIN_ADDRESS_OF &&
			 !buffer_is_private(e->args[0]->u.buffer);
	}
	return found;
}

static bool
find_loop(struct binder *b, struct stmt *s)
{
	struct arena *arena = &b->func->module->arena;
	int tag = tag_of(s);

	if (tag == TAG_UNKNOWN) {
		return bind_fail(b,
				 "loop %s is bound to '%s'; there are "
				 "blockIdx.x, .y, .z, threadIdx.x, .y, .z and "
				 "vthread",
				 s->u.loop.var->name, s->u.loop.thread);
	}
	if (tag >= 0 && tag < TAG_COUNT) {
		vec_push(arena, &b->loops[tag].list, s);
	}
	if (s->kind == STMT_STORE && !buffer_is_private(s->u.buffer)) {
		vec_push(arena, &b->stores.list, s);
	}
	if (calls_writer(s)) {
		vec_push(arena, &b->calls.list, s);
	}
	return true;
}

/* A variable in e that is bound by a statement between `root` and `at`; NULL if
 * e has none. */
static const struct var *
inner_var(const struct expr *e, const struct stmt *root, const struct stmt *at)
{
	const struct var *found = NULL;

	for (struct expr_iter it = expr_each_of(e, EXPR_VAR);
	     (e = expr_next(&it));) {
		for (const struct stmt *s = at->parent; s && s != root->parent;
		     s = s->parent) {
			if ((s->kind == STMT_FOR &&
			     s->u.loop.var == e->u.var) ||
			    (s->kind == STMT_LET && s->u.var == e->u.var)) {
				found = e->u.var;
			}
		}
	}
	return found;
}

/* The extent of a thread loop in terms of values known before the launch; NULL
 * (reported) if it depends on values computed in the kernel and has no
 * bound. */
static const struct expr *
launch_extent(struct binder *b, const struct stmt *loop)
{
	struct module *m = b->func->module;
	const struct expr *extent = loop->args[1];
	const struct var *inner;
	struct analyser a;
	struct bounds bounds;

	if (expr_has_load(extent)) {
		bind_fail(b,
			  "the extent of loop %s, bound to %s, is read from "
			  "memory",
			  loop->u.loop.var->name, loop->u.loop.thread);
		return NULL;
	}
	inner = inner_var(extent, b->root, loop);
	if (!inner) {
		return extent;
	}
	analyser_at(&a, m, loop);
	bounds = analyse_bounds(&a, extent);
	if (bounds.max == BOUND_POS_INF) {
		bind_fail(b,
			  "the extent of loop %s, bound to %s, depends on "
			  "%s and has no bound; bind a loop of another extent",
			  loop->u.loop.var->name, loop->u.loop.thread,
			  inner->name);
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

/* The name of the variable for a thread index: the name that the variables of
 * all loops bound to it have, or, if their names differ, "tx" and so on. */
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
any_outside(const struct binder *b, const struct stmt_list *all, int tag)
{
	for (int i = 0; i < all->list.n; i++) {
		if (!is_under(all->list.data[i], b->root, tag)) {
			return true;
		}
	}
	return false;
}

/* Makes one variable for all loops over the thread index, and finds their
 * largest extent. False after a diagnostic. */
static bool
unify(struct binder *b, int tag)
{
	struct module *m = b->func->module;
	const struct expr *widest = NULL;
	struct analyser a;

	analyser_at(&a, m, b->root);
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
	/* A launch without threads executes nothing, not even the stores
	 * outside of the loop. */
	if ((any_outside(b, &b->stores, tag) ||
	     any_outside(b, &b->calls, tag)) &&
	    !prove(&a, expr_le(m, expr_int(m, widest->type, 1), widest))) {
		widest = expr_max(m, widest, expr_int(m, widest->type, 1));
	}
	b->extents[tag] = widest;
	return true;
}

static bool
holds_tag(struct stmt *s, int tag)
{
	struct stmt_iter it = stmt_each(s);

	while ((s = stmt_next(&it)) != NULL && tag_of(s) != tag) {
	}
	return s != NULL;
}

/* Puts the guard `cond` around those parts of s that contain no further loop
 * over the index `tag`. */
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

/* If the condition holds in some iteration of the loop, does it also hold in
 * the loop's first iteration? It does for a comparison a < b or a <= b if a - b
 * does not decrease in the loop variable. */
static bool
holds_first(struct module *m, const struct expr *cond, const struct stmt *loop)
{
	struct var *v = loop->u.loop.var;
	struct analyser a;
	const struct expr *rest;
	int64_t factor;

	if (!expr_uses_var(cond, v)) {
		return true;
	}
	if (cond->kind == EXPR_AND) {
		return holds_first(m, cond->args[0], loop) &&
		       holds_first(m, cond->args[1], loop);
	}
	analyser_at(&a, m, loop);
	return (cond->kind == EXPR_LT || cond->kind == EXPR_LE) &&
	       !holds_data(&a, cond) &&
	       analyse_affine(&a, expr_sub(m, cond->args[0], cond->args[1]), &v,
			      1, &factor, &rest) &&
	       factor >= 0;
}

/* Does s, or a statement between s and the loop, depend on the loop variable?
 * (A condition that the first iteration also meets does not count.) */
static bool
depends_on_thread(struct module *m, const struct stmt *s, struct stmt *loop)
{
	for (const struct stmt *below = NULL; s != loop;
	     below = s, s = s->parent) {
		for (int i = 0; i < s->n_args; i++) {
			if (expr_uses_var(s->args[i], loop->u.loop.var) &&
			    (s->kind != STMT_IF || below != s->children[0] ||
			     !holds_first(m, s->args[i], loop))) {
				return true;
			}
		}
	}
	return false;
}

/* The loop over the index `tag`, inside of root, that contains s but not
 * `other`; NULL if there is none. */
static struct stmt *
separating_loop(struct stmt *s, const struct stmt *other,
		const struct stmt *root, int tag)
{
	for (; s != root->parent; s = s->parent) {
		if (tag_of(s) == tag && !stmt_contains(s, other)) {
			return s;
		}
	}
	return NULL;
}

/* Sets *min and *max to the interval of indices in dimension d that x accesses
 * in iteration v of the loop; false if it is not known. */
static bool
indices_in_iteration(struct binder *b, const struct access *x, int d,
		     struct stmt *loop, const struct expr *v,
		     const struct expr **min, const struct expr **max)
{
	struct module *m = b->func->module;
	const struct expr *now = expr_add(m, v, loop->args[0]);
	struct var_map map = { &loop->u.loop.var, &now, 1 };
	struct iter_var *inner;
	struct analyser a;
	int n;

	analyser_at(&a, m, x->at);
	inner = loops_between(b->func, loop->children[0], x->at, &n);
	if (!analyse_cover(&a, x->index[d], inner, n, min, max) || !*min ||
	    !*max) {
		return false;
	}
	*min = expr_substitute(m, *min, &map);
	*max = expr_substitute(m, *max, &map);
	return true;
}

/* Is it unknown which indices in dimension d the access x reaches, because a
 * call gets the address of an element? */
static bool
reaches_any(const struct access *x, int d)
{
	return x->address && d >= address_dims(x->at, x->buffer);
}

/* For two loops that the same thread blocks run: does each thread block load
 * only elements that the same block has stored? */
static bool
loads_own_elements(struct binder *b, const struct access *store,
		   struct stmt *store_loop, const struct access *load,
		   struct stmt *load_loop)
{
	struct module *m = b->func->module;
	struct var *v = var_new(m, "b", dtype_of(DT_I32));

	for (int d = 0; d < store->buffer->ndim; d++) {
		const struct expr *low, *high, *from, *to;
		struct analyser a;

		if (!expr_uses_var(store->index[d], store_loop->u.loop.var) &&
		    !expr_uses_var(load->index[d], load_loop->u.loop.var)) {
			continue;
		}
		if (reaches_any(store, d) || reaches_any(load, d) ||
		    !indices_in_iteration(b, store, d, store_loop, v->expr,
					  &low, &high) ||
		    !indices_in_iteration(b, load, d, load_loop, v->expr, &from,
					  &to)) {
			return false;
		}
		analyser_at(&a, m, b->root);
		analyser_bind(&a, v, expr_int(m, v->type, 0),
			      load_loop->args[1]);
		if (!prove(&a, expr_le(m, low, from)) ||
		    !prove(&a, expr_le(m, to, high))) {
			return false;
		}
	}
	return true;
}

/* Checks, for a store and another access of the same buffer, that no thread
 * block loads elements that another thread block stores. False after a
 * diagnostic. */
static bool
check_pair(struct binder *b, const struct access *store,
	   const struct access *other, int tag)
{
	struct stmt *s = separating_loop(store->at, other->at, b->root, tag);
	struct stmt *o = separating_loop(other->at, store->at, b->root, tag);
	bool shared = buffer_is_shared(store->buffer);
	const char *does = other->load ? "read" : "stored again";

	if (s && o && !loads_own_elements(b, store, s, other, o) &&
	    (other->load || !loads_own_elements(b, other, o, store, s))) {
		return bind_fail(b,
				 "%s is stored by some blocks of %s and "
				 "%s by others, which do not wait for them: "
				 "bind an outer loop",
				 store->buffer->name, tag_name(tag), does);
	}
	if (!shared && !s != !o) {
		return bind_fail(b,
				 "%s is stored inside and %s outside of "
				 "loops over %s, or the other way round; "
				 "blocks do not wait for each other: bind an "
				 "outer loop",
				 store->buffer->name, does, tag_name(tag));
	}
	return true;
}

/* Do all thread blocks of the tag store the same elements of the buffer? If so,
 * reports an error and returns true. Shared memory is no problem: each block
 * has its own. */
static bool
stores_same_elements(struct binder *b, struct stmt *s,
		     const struct buffer *buffer, int tag)
{
	struct stmt *loop = s;

	while (loop != b->root->parent && tag_of(loop) != tag) {
		loop = loop->parent;
	}
	return loop != b->root->parent && !buffer_is_shared(buffer) &&
	       !depends_on_thread(b->func->module, s, loop) &&
	       !bind_fail(b,
			  "every block of %s stores the same elements of "
			  "%s; set_scope to \"shared\", or compute it "
			  "outside of that loop",
			  tag_name(tag), buffer->name);
}

/* Does the launch have at most one block or thread along the tag's axis? It may
 * have none if a size is 0. */
static bool
is_single(struct binder *b, int tag)
{
	struct analyser a;

	analyser_at(&a, b->func->module, b->root);
	return analyse_bounds(&a, b->extents[tag]).max <= 1;
}

/* Checks a statement that writes to a buffer against all other accesses of the
 * buffer. write: an access by the statement. False after a diagnostic. */
static bool
check_write(struct binder *b, const struct access *write,
	    const struct access_list *uses)
{
	for (int tag = TAG_BLOCK_Z; tag <= TAG_BLOCK_X; tag++) {
		if (!b->vars[tag] || is_single(b, tag)) {
			continue;
		}
		if (stores_same_elements(b, write->at, write->buffer, tag)) {
			return false;
		}
		for (int k = 0; k < uses->list.n; k++) {
			const struct access *x = &uses->list.data[k];

			if (x != write && !check_pair(b, write, x, tag)) {
				return false;
			}
		}
	}
	return true;
}

/* Thread blocks cannot wait for each other: elements that are stored in a loop
 * over thread blocks may only be read in loops over the same blocks, and
 * elements that are read in a loop over thread blocks may only be stored there.
 * A call that gets an address is checked only if it certainly writes through
 * the address. */
static bool
check_blocks(struct binder *b, const struct stmt_list *writers)
{
	for (int i = 0; i < writers->list.n; i++) {
		struct stmt *s = writers->list.data[i];
		struct access_list own = { 0 };

		access_collect(b->func, s, NULL, &own);
		for (int k = 0; k < own.list.n; k++) {
			const struct access *x = &own.list.data[k];
			struct access_list uses = { 0 };

			if (!x->fills || buffer_is_private(x->buffer)) {
				continue;
			}
			access_collect(b->func, b->root, x->buffer, &uses);
			for (int j = 0; j < uses.list.n; j++) {
				const struct access *u = &uses.list.data[j];

				if (u->at == s && u->load == x->load &&
				    !check_write(b, u, &uses)) {
					return false;
				}
			}
		}
	}
	return true;
}

/* Is s in a loop bound to the tag whose threads store different elements? For a
 * tag of thread blocks, any store in such a loop counts, because each block
 * executes all of its stores. */
static bool
is_distributed(struct module *m, struct stmt *s, const struct stmt *root,
	       int tag)
{
	struct stmt *loop = s;

	while (loop != root->parent && tag_of(loop) != tag) {
		loop = loop->parent;
	}
	return loop != root->parent &&
	       (!tag_is_thread(tag) || depends_on_thread(m, s, loop));
}

/* Guards those stores that several threads would execute with the same value,
 * so that only the first thread stores. */
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

			if (!b->vars[tag] ||
			    is_distributed(m, s, b->root, tag) ||
			    (buffer_is_shared(s->u.buffer) &&
			     !tag_is_thread(tag)) ||
			    is_single(b, tag)) {
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

/* Removes a loop over threads and replaces its variable by the variable that
 * the kernel has for this index. */
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

	analyser_at(&a, m, loop);
	stmt_substitute(f, body, &map);
	if (!prove(&a, expr_lt(m, v, loop->args[1]))) {
		guard_parts(f, body, tag,
			    expr_is_value(loop->args[1], 1)
				    ? expr_eq(m, v, expr_int(m, v->type, 0))
				    : expr_lt(m, v, loop->args[1]));
		body = loop->children[0];
	}
	stmt_replace(f, loop, body);
}

/* Adds a loop over one thread block if none exists: shared memory is allocated
 * between the block loop and the thread loops. */
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

/* Wraps the kernel's body in the thread loops. */
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
	struct stmt_iter it = stmt_each(root);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL) {
		if (!find_loop(&b, s)) {
			stmt_skip(&it);
		}
	}
	if (b.failed) {
		return false;
	}
	for (int tag = 0; tag < TAG_COUNT; tag++) {
		if (b.loops[tag].list.n > 0 && !unify(&b, tag)) {
			return false;
		}
	}
	if (!check_blocks(&b, &b.stores) || !check_blocks(&b, &b.calls)) {
		return false;
	}
	guard_stores(&b);
	add_block(&b);
	wrap(&b);
	/* For each thread index, outer loops come before inner ones: the guard
	 * of an outer loop skips inner loops of the same index, so these must
	 * still be there. */
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
	struct stmt_list kernels = threads_kernels(f);

	if (kernels.list.n == 0) {
		return true;
	}
	if (!threads_choose_scopes(f)) {
		return false;
	}
	kernels = threads_roots(f);
	for (int i = 0; i < kernels.list.n; i++) {
		if (!bind_kernel(f, kernels.list.data[i])) {
			return false;
		}
	}
	kernels = threads_kernels(f);
	for (int i = 0; i < kernels.list.n; i++) {
		if (!threads_update_apart(f, kernels.list.data[i])) {
			return false;
		}
	}
	return true;
}
