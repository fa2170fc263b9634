/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about thread loops for the passes on kernels. */
#include "thread_loops.h"

#include <string.h>

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

struct kernel_finder {
	struct arena *arena;
	struct stmt_vec *out;
};

static bool
find_kernel(void *ctx, struct stmt *s)
{
	struct kernel_finder *k = ctx;

	if (tag_of(s) < 0) {
		return true;
	}
	vec_push(k->arena, &k->out->list, s);
	return false;
}

void
threads_kernels(const struct func *f, struct stmt_vec *out)
{
	struct kernel_finder k = { &f->module->arena, out };

	if (f->body) {
		stmt_visit(f->body, find_kernel, &k);
	}
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

struct varying {
	const struct stmt *at;
	bool found;
};

static void
find_varying(void *ctx, const struct expr *e)
{
	struct varying *v = ctx;

	if (e->kind == EXPR_LOAD ||
	    (e->kind == EXPR_CALL && !intrin_is_pure(e->u.intrin))) {
		v->found = true;
	}
	if (e->kind != EXPR_VAR || v->found) {
		return;
	}
	for (const struct stmt *s = v->at->parent; s; s = s->parent) {
		if (s->kind == STMT_FOR && s->u.loop.var == e->u.var) {
			v->found = tag_is_thread(tag_of(s)) ||
				   !expr_is_uniform(s->args[0], s);
			return;
		}
		if (s->kind == STMT_LET && s->u.var == e->u.var) {
			v->found = !expr_is_uniform(s->args[0], s);
			return;
		}
	}
}

bool
expr_is_uniform(const struct expr *e, const struct stmt *at)
{
	struct varying v = { at, false };

	expr_visit(e, find_varying, &v);
	return !v.found;
}

static void
find_shuffle(void *ctx, const struct expr *e)
{
	const struct expr **found = ctx;

	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_SHUFFLE_XOR) {
		*found = e;
	}
}

const struct expr *
stmt_shuffle(const struct stmt *s)
{
	const struct expr *found = NULL;

	if (s->kind == STMT_STORE) {
		expr_visit(s->args[0], find_shuffle, &found);
	}
	return found;
}
