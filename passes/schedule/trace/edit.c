/* SPDX-License-Identifier: Apache-2.0 */
/* What the primitives share: see edit.h. */
#include "edit.h"

#include <assert.h>

struct edit
edit_begin(struct sched *s, const char *primitive)
{
	return (struct edit){ .s = s,
			      .f = s->func,
			      .m = s->module,
			      .primitive = primitive,
			      .checkpoint = func_checkpoint(s->func) };
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
