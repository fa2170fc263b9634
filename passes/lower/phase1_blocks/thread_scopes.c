/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory the buffers of threads are in, and which statements are one kernel.
 *
 *   R = alloc(4, "local")                    R = alloc(4, "shared")
 *   for i in thread(4, "blockIdx.x"):        for i in thread(4, "blockIdx.x"):
 *       R[i] = A[i]                    ->        R[i] = A[i]
 *       for t in thread(8, ...x"):               for t in thread(8, ...x"):
 *           C[i, t] = R[i]                           C[i, t] = R[i]
 */
#include "thread_scopes.h"

#include <string.h>

#include "carried.h"
#include "iterate.h"
#include "lower_passes.h"
#include "thread_loops.h"

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

/* Is s a loop of threads or inside of one? Loops of virtual threads count too,
 * as each virtual thread has data of its own. */
static bool
in_kernel(const struct stmt *s)
{
	while (s && tag_of(s) < 0) {
		s = s->parent;
	}
	return s != NULL;
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
	/* Private and shared memory is lost after a launch, so values must not
	 * be carried there from one launch to the next. */
	if (!in_kernel(carried_scope(f, alloc, common, &uses))) {
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

/* The number of accesses below common that are inside of a loop that is bound to
 * the index; *stores: the number of those among them that may store. */
static int
count_inside(const struct access_list *uses, const struct stmt *common, int tag,
	     int *stores)
{
	int inside = 0;

	*stores = 0;
	for (int i = 0; i < uses->list.n; i++) {
		const struct access *x = &uses->list.data[i];

		if (has_tag_between(common, x->at, tag)) {
			inside++;
			*stores += x->load == NULL || x->address;
		}
	}
	return inside;
}

/* Are accesses below common both inside and outside of a loop that is bound to a
 * block index? */
static bool
mixes_blocks(const struct access_list *uses, const struct stmt *common)
{
	int stores;

	for (int tag = 0; tag < TAG_COUNT; tag++) {
		int inside = count_inside(uses, common, tag, &stores);

		if (!tag_is_thread(tag) && inside > 0 &&
		    inside < uses->list.n) {
			return true;
		}
	}
	return false;
}

/* Does a thread store below common, inside of a loop that is bound to a thread
 * index, what is accessed outside of such a loop? What is stored outside of the
 * loop alone each thread stores for itself. */
static bool
gives_to_others(const struct access_list *uses, const struct stmt *common)
{
	for (int tag = 0; tag < TAG_COUNT; tag++) {
		int stores, inside = count_inside(uses, common, tag, &stores);

		if (tag_is_thread(tag) && stores > 0 && inside < uses->list.n) {
			return true;
		}
	}
	return false;
}

/* Checks a declared scope. Each block of threads has its own copy of a shared
 * buffer, so accesses must not be both inside and outside of a loop over blocks.
 * A local buffer that holds what a thread gives to others, such as the result of a
 * reduction across threads, becomes shared. */
static bool
check_scope(struct func *f, const struct stmt *alloc)
{
	const struct buffer *buffer = alloc->u.buffer;
	bool local = strcmp(buffer->scope, "local") == 0;
	struct access_list uses = { 0 };
	struct stmt *common;

	if (!local && strcmp(buffer->scope, "shared") != 0) {
		return true;
	}
	access_collect(f, alloc->children[0], buffer, &uses);
	if (uses.list.n == 0) {
		return true;
	}
	common = uses.list.data[0].at;
	for (int i = 1; i < uses.list.n; i++) {
		common = stmt_common(common, uses.list.data[i].at);
	}
	if (mixes_blocks(&uses, common)) {
		return func_error(f, DIAG_UNSUPPORTED,
				  "%s belongs to one block of "
				  "threads, but is used inside and "
				  "outside of loops over blocks; bind "
				  "those loops alike",
				  buffer->name);
	}
	if (local && gives_to_others(&uses, common)) {
		stmt_replace_buffer(f, f->body, buffer,
				    buffer_with_scope(f->module, buffer,
						      "shared"));
	}
	return true;
}

bool
threads_choose_scopes(struct func *f)
{
	struct stmt_list allocs = stmts_of(&f->module->arena, f->body,
					   STMT_ALLOC);

	for (int i = 0; i < allocs.list.n; i++) {
		if (!check_scope(f, allocs.list.data[i])) {
			return false;
		}
		choose_scope(f, allocs.list.data[i]);
	}
	return true;
}

/* -- kernels */

/* The statement around all accesses of a buffer that a kernel's threads have, if it
 * is not inside of a thread loop; else NULL. NULL also for a buffer that is never
 * read, whose elements may be lost with each kernel. */
static struct stmt *
around_uses(struct func *f, const struct stmt *alloc)
{
	const struct buffer *b = alloc->u.buffer;
	struct access_list uses = { 0 };
	struct stmt *common;
	bool any = false, is_read = false;

	if (!buffer_is_shared(b) && !buffer_is_private(b)) {
		return NULL;
	}
	access_collect(f, alloc->children[0], b, &uses);
	common = uses.list.n > 0 ? uses.list.data[0].at : NULL;
	for (int i = 0; i < uses.list.n; i++) {
		common = stmt_common(common, uses.list.data[i].at);
		any |= in_kernel(uses.list.data[i].at);
		is_read |= !uses.list.data[i].fills;
	}
	return any && is_read && !in_kernel(common) ? common : NULL;
}

static bool
is_among(const struct stmt *s, const struct stmt_list *all)
{
	for (int i = 0; i < all->list.n; i++) {
		if (all->list.data[i] == s) {
			return true;
		}
	}
	return false;
}

static bool
is_inside_one(const struct stmt *s, const struct stmt_list *all)
{
	while ((s = s->parent) != NULL) {
		if (is_among(s, all)) {
			return true;
		}
	}
	return false;
}

/* What becomes a kernel: each outermost thread loop; but all of the statements
 * that use one shared or local buffer, which does not outlive a kernel, are one. */
struct stmt_list
threads_roots(struct func *f)
{
	struct arena *arena = &f->module->arena;
	struct stmt_list loops = threads_kernels(f), all = { 0 }, roots = { 0 };
	struct stmt_list allocs = stmts_of(arena, f->body, STMT_ALLOC);

	for (int i = 0; i < allocs.list.n; i++) {
		struct stmt *s = around_uses(f, allocs.list.data[i]);

		if (s && !is_among(s, &all)) {
			vec_push(arena, &all.list, s);
		}
	}
	for (int i = 0; i < loops.list.n; i++) {
		vec_push(arena, &all.list, loops.list.data[i]);
	}
	for (int i = 0; i < all.list.n; i++) {
		if (!is_inside_one(all.list.data[i], &all)) {
			vec_push(arena, &roots.list, all.list.data[i]);
		}
	}
	return roots;
}
