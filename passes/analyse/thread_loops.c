/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about thread loops for the passes on kernels. */
#include "thread_loops.h"

#include <string.h>

#include "iterate.h"

static const char *const names[TAG_COUNT] = {
	"blockIdx.z",  "blockIdx.y",  "blockIdx.x",
	"threadIdx.z", "threadIdx.y", "threadIdx.x",
};

const char *
tag_name(int tag)
{
	return names[tag];
}

int
tag_of_name(const char *thread)
{
	for (int i = 0; i < TAG_COUNT; i++) {
		if (strcmp(thread, names[i]) == 0) {
			return i;
		}
	}
	return strncmp(thread, "vthread", 7) == 0 ||
			       strncmp(thread, "cthread", 7) == 0
		       ? TAG_VIRTUAL
		       : TAG_UNKNOWN;
}

int
tag_of(const struct stmt *s)
{
	return s->kind == STMT_FOR && s->u.loop.kind == FOR_THREAD
		       ? tag_of_name(s->u.loop.thread)
		       : -1;
}

bool
tag_is_thread(int tag)
{
	return tag >= TAG_THREAD_Z && tag <= TAG_THREAD_X;
}

struct stmt_list
threads_kernels(const struct func *f)
{
	struct stmt_list found = { 0 };
	struct stmt *s;

	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		if (tag_of(s) >= 0) {
			vec_push(&f->module->arena, &found.list, s);
			stmt_skip(&it);
		}
	}
	return found;
}

bool
buffer_is_shared(const struct buffer *b)
{
	return strcmp(b->scope, "shared") == 0 ||
	       strncmp(b->scope, "shared.", 7) == 0;
}

bool
buffer_is_private(const struct buffer *b)
{
	return strcmp(b->scope, "local") == 0 || buffer_is_fragment(b);
}

bool
buffer_is_fragment(const struct buffer *b)
{
	return strncmp(b->scope, "wmma.", 5) == 0;
}

struct stmt *
threads_body(struct stmt *kernel, struct stmt **loops)
{
	struct stmt *s = kernel;

	for (int i = 0; i < TAG_COUNT; i++) {
		loops[i] = NULL;
	}
	for (;;) {
		int tag = tag_of(s);

		if (tag >= 0 && tag < TAG_COUNT && !loops[tag]) {
			loops[tag] = s;
		} else if (s->kind != STMT_ALLOC ||
			   !buffer_is_shared(s->u.buffer)) {
			return s;
		}
		s = s->children[0];
	}
}

/* At the statement `at`, may the variable's value differ between the threads of
 * a block? */
static bool
varies(const struct var *v, const struct stmt *at)
{
	for (const struct stmt *s = at->parent; s; s = s->parent) {
		if (s->kind == STMT_FOR && s->u.loop.var == v) {
			return tag_is_thread(tag_of(s)) ||
			       !expr_is_uniform(s->args[0], s);
		}
		if (s->kind == STMT_LET && s->u.var == v) {
			return !expr_is_uniform(s->args[0], s);
		}
	}
	return false;
}

bool
expr_is_uniform(const struct expr *e, const struct stmt *at)
{
	struct expr_iter it = expr_each(e);
	bool found = false;

	while (!found && (e = expr_next(&it)) != NULL) {
		found = e->kind == EXPR_LOAD ||
			(e->kind == EXPR_CALL &&
			 !intrin_is_pure(e->u.intrin)) ||
			(e->kind == EXPR_VAR && varies(e->u.var, at));
	}
	expr_stop(&it);
	return !found;
}

const struct expr *
stmt_shuffle(const struct stmt *s)
{
	const struct expr *found = NULL, *e;

	if (s->kind != STMT_STORE) {
		return NULL;
	}
	for (struct expr_iter it = expr_each_of(s->args[0], EXPR_CALL);
	     (e = expr_next(&it));) {
		if (e->u.intrin == INTRIN_SHUFFLE_XOR) {
			found = e;
		}
	}
	return found;
}
