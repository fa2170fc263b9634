/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the primitives share: see edit.h. */
#include "edit.h"

#include "size_bounds.h"

struct edit
edit_begin(struct sched *s, const char *primitive)
{
	return (struct edit){ .s = s,
			      .f = s->func,
			      .m = s->module,
			      .primitive = primitive,
			      .checkpoint = func_checkpoint(s->func),
			      .n_wrapped = s->module->n_wrapped };
}

bool
edit_fail(struct edit *e, const char *fmt, ...)
{
	struct diag_place place = { 0 };
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(&e->m->arena, fmt, ap);
	va_end(ap);
	place.item = arena_printf(&e->m->arena, "step %d, %s",
				  e->s->trace.n + 1, e->primitive);
	func_rollback(e->f, e->checkpoint);
	return diag_error(&e->s->diags, DIAG_BAD_SCHEDULE, place, "%s", text);
}

void
edit_note(struct edit *e, const char *fmt, ...)
{
	struct arena *arena = &e->m->arena;
	struct diag_place place = { 0 };
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	place.item = arena_printf(arena, "%s: step %d, %s", e->f->name,
				  e->s->trace.n + 1, e->primitive);
	diag_note(&e->m->diags, DIAG_ASSUMPTION, place, "%s", text);
}

struct stmt *
edit_loop(struct edit *e, int id)
{
	struct stmt *s = func_find(e->f, id);

	if (!s || s->kind != STMT_FOR) {
		edit_fail(e,
			  "%d is not a loop (any more); get the loops of "
			  "a block again",
			  id);
		return NULL;
	}
	return s;
}

struct stmt *
edit_block(struct edit *e, int id)
{
	struct stmt *s = func_find(e->f, id);

	if (!s || s->kind != STMT_BLOCK) {
		edit_fail(e, "%d is not a block (any more); get it by name",
			  id);
		return NULL;
	}
	return s;
}

struct stmt **
edit_loops(struct edit *e, const struct sched_value *list)
{
	struct stmt **loops = arena_array(&e->m->arena, struct stmt *,
					  list->n + 1);

	if (list->n < 1) {
		edit_fail(e, "no loops; name at least one");
		return NULL;
	}
	for (int i = 0; i < list->n; i++) {
		if (!(loops[i] = edit_loop(e, list->items[i].u.id))) {
			return NULL;
		}
	}
	return loops;
}

bool
edit_check_no_address(struct edit *e, const struct buffer *b)
{
	struct access_list all = accesses_of(e->f, e->f->body, b);

	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].address) {
			return edit_fail(e,
					 "the address of %s is passed to a "
					 "call; do this before tensorizing",
					 b->name);
		}
	}
	return true;
}

/* -- sizes */

/* No machine has a buffer of more bytes. */
#define MOST_BYTES ((int64_t)1 << 48)

/* Does the buffer have at most MOST_BYTES for the smallest sizes, and no
 * negative extent? */
static bool
is_possible(const struct buffer *b)
{
	int64_t bytes = buffer_element_bytes(b), least, most;

	for (int d = 0; d < b->ndim; d++) {
		if (!size_bounds(b->shape[d], &least, &most)) {
			continue;
		}
		if (most < 0 || __builtin_mul_overflow(bytes, least, &bytes) ||
		    bytes > MOST_BYTES) {
			return false;
		}
	}
	return true;
}

static bool
check_buffer(struct edit *e, const struct buffer *b)
{
	return b == NULL || is_possible(b) ||
	       edit_fail(e,
			 "%s would have more than 2^48 bytes; use smaller "
			 "numbers",
			 b->name);
}

/* Does a loop have a negative number of iterations? */
static bool
is_negative(const struct stmt *s)
{
	int64_t extent;

	return s->kind == STMT_FOR && expr_is_int(s->args[1], &extent) &&
	       extent < 0;
}

/* Checks the buffers that the statement allocates; false after a diagnostic. */
static bool
check_allocs(struct edit *e, const struct stmt *s)
{
	const struct block *b = s->kind == STMT_BLOCK ? s->u.block : NULL;

	for (int i = 0; b != NULL && i < b->n_allocs; i++) {
		if (!check_buffer(e, b->allocs[i])) {
			return false;
		}
	}
	return true;
}

bool
edit_check_sizes(struct edit *e)
{
	struct stmt_iter it = stmt_each(e->f->body);
	bool wrong = e->m->n_wrapped != e->n_wrapped, good = true;
	const struct stmt *s;

	for (int i = 0; i < e->f->params.n && good && !wrong; i++) {
		good = check_buffer(e, e->f->params.data[i].buffer);
	}
	while (good && !wrong && (s = stmt_next(&it)) != NULL) {
		wrong = is_negative(s);
		good = check_allocs(e, s);
	}
	return good && (!wrong || edit_fail(e, "a size or an index does not "
					       "fit its type; use smaller "
					       "numbers"));
}
