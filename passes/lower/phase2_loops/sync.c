/* SPDX-License-Identifier: Apache-2.0 */
/* Lets the threads of a block wait for each other where one would otherwise
 * read what another has not written yet, or write what another has yet to
 * read.
 *
 *   for k_o in range(8):                     for k_o in range(8):
 *       s[ty, tx] = A[ty, k_o * 16 + tx]         s[ty, tx] = A[...]
 *       for k_i in range(16):            ->      T.tvm_storage_sync("shared")
 *           acc = acc + s[ty, k_i]               for k_i in range(16): ...
 *                                                T.tvm_storage_sync("shared")
 *
 * A barrier stands where all threads of the block come by: conditions that
 * differ between threads are moved inside, to what needs them. Needs the pass
 * "threads" to have been there. */
#include "lower_passes.h"

#include <string.h>

#include "touch.h"

/* What a piece of program touches before its first barrier and after its
 * last; without a barrier both are everything. */
struct summary {
	struct touches head, tail;
	bool waits;  /* there is a barrier in it */
	bool clears; /* and no way around it */
};

struct sync {
	struct func *func;
	struct touch_kernel kernel;
	bool dry; /* only look */
	bool failed;
};

static void walk_child(struct sync *y, struct stmt *parent, int slot,
		       struct summary *out);

static void
sync_fail(struct sync *y, const char *fmt, ...)
{
	struct module *m = y->func->module;
	struct diag_place place = { .item = y->func->name };
	va_list ap;

	if (y->failed || y->dry) {
		return;
	}
	va_start(ap, fmt);
	diag_error(&m->diags, DIAG_UNSUPPORTED, place, "%s",
		   arena_vprintf(&m->arena, fmt, ap));
	va_end(ap);
	y->failed = true;
}

static void
append(struct sync *y, struct touches *to, const struct touches *from)
{
	for (int i = 0; i < from->list.n; i++) {
		vec_push(&y->func->module->arena, &to->list,
			 from->list.data[i]);
	}
}

static struct stmt *
barrier(struct sync *y, enum meeting m)
{
	const struct expr *scope = expr_string(y->func->module,
					       m == MEET_GLOBAL ? "block"
								: "shared");

	return stmt_evaluate(y->func,
			     expr_call(y->func->module, INTRIN_STORAGE_SYNC,
				       dtype_of(DT_VOID), &scope, 1));
}

static bool
is_barrier(const struct stmt *s)
{
	return s->kind == STMT_EVALUATE && s->args[0]->kind == EXPR_CALL &&
	       s->args[0]->u.intrin == INTRIN_STORAGE_SYNC &&
	       (strcmp(s->args[0]->args[0]->u.text, "shared") == 0 ||
		strcmp(s->args[0]->args[0]->u.text, "block") == 0);
}

static void
put_before(struct sync *y, struct stmt *s, enum meeting m)
{
	struct stmt_place place = stmt_place_of(s);
	struct stmt *pair[2] = { NULL, s };

	if (!y->dry) {
		pair[0] = barrier(y, m);
		stmt_put(y->func, place, stmt_seq(y->func, pair, 2));
	}
}

static void
put_after(struct sync *y, struct stmt *s, enum meeting m)
{
	struct stmt_place place = stmt_place_of(s);
	struct stmt *pair[2] = { s, NULL };

	if (!y->dry) {
		pair[1] = barrier(y, m);
		stmt_put(y->func, place, stmt_seq(y->func, pair, 2));
	}
}

/* -- conditions that differ between threads */

static void
push_guard(struct sync *y, struct stmt *s, const struct expr *cond)
{
	struct func *f = y->func;
	struct stmt_place place = stmt_place_of(s);

	switch (s->kind) {
	case STMT_SEQ:
		for (int i = 0; i < s->n_children; i++) {
			push_guard(y, s->children[i], cond);
		}
		return;
	case STMT_ALLOC:
	case STMT_ATTR:
		push_guard(y, s->children[0], cond);
		return;
	case STMT_LET:
		if (!expr_has_load(s->args[0])) {
			push_guard(y, s->children[0], cond);
			return;
		}
		break;
	case STMT_FOR:
		if (expr_is_uniform(s->args[0], s) &&
		    expr_is_uniform(s->args[1], s)) {
			push_guard(y, s->children[0], cond);
			return;
		}
		break;
	case STMT_IF:
		if (!s->children[1] && !expr_has_load(s->args[0])) {
			struct stmt *body = s->children[0];

			push_guard(y, body,
				   expr_and(f->module, cond, s->args[0]));
			stmt_replace(f, s, s->children[0]);
			return;
		}
		break;
	default:
		if (is_barrier(s)) {
			return;
		}
		if (stmt_shuffle(s) != NULL) {
			sync_fail(y, "threads of a warp exchange values under "
				     "a condition that differs between them");
		}
		break;
	}
	stmt_put(f, place, stmt_if(f, cond, s, NULL));
}

static bool
is_plain_if(const struct stmt *s)
{
	return s->kind == STMT_IF && !s->children[1] &&
	       !expr_has_load(s->args[0]);
}

/* A barrier within s? (None is made.) */
static bool
would_wait(struct sync *y, struct stmt *s)
{
	struct summary sum = { 0 };
	bool dry = y->dry;

	y->dry = true;
	walk_child(y, s, 0, &sum);
	y->dry = dry;
	return sum.waits;
}

/* -- the walk */

static void
walk_seq(struct sync *y, struct stmt *s, struct summary *out)
{
	out->clears = false;
	for (int i = 0; i < s->n_children && !y->failed; i++) {
		struct summary c = { 0 };
		enum meeting meet;

		walk_child(y, s, i, &c);
		meet = touches_meet(&y->kernel, &out->tail, &c.head, s);
		if (meet != MEET_NEVER) {
			int n = s->n_children;

			put_before(y, s->children[i], meet);
			i += s->n_children - n;
			out->tail.list.n = 0;
			out->waits = out->clears = true;
		}
		if (!out->clears) {
			append(y, &out->head, &c.head);
		}
		if (c.clears) {
			out->tail.list.n = 0;
		}
		append(y, &out->tail, &c.tail);
		out->waits |= c.waits;
		out->clears |= c.clears;
	}
}

/* What the statement's own values touch comes before its child. */
static void
put_own_first(struct sync *y, struct stmt *s, struct summary *out)
{
	struct touches own = { 0 }, head = { 0 };
	enum meeting meet;

	touch_collect(&y->kernel, s, &own);
	if (own.list.n == 0) {
		return;
	}
	meet = touches_meet(&y->kernel, &own, &out->head, s);
	if (meet != MEET_NEVER && s->kind == STMT_IF &&
	    !expr_is_uniform(s->args[0], s)) {
		sync_fail(y, "threads change what a condition reads that "
			     "differs between them, so that a barrier would be "
			     "needed under it");
		return;
	}
	if (meet != MEET_NEVER) {
		put_before(y, s->children[0], meet);
		out->waits = out->clears = true;
		out->head = own;
		return;
	}
	append(y, &head, &own);
	append(y, &head, &out->head);
	out->head = head;
	if (!out->clears) {
		append(y, &out->tail, &own);
	}
}

static void
walk_loop(struct sync *y, struct stmt *s, struct summary *out)
{
	struct analyser a;
	enum meeting meet;

	walk_child(y, s, 0, out);
	meet = touches_meet(&y->kernel, &out->tail, &out->head, s);
	if (meet != MEET_NEVER && !expr_is_value(s->args[1], 1)) {
		put_after(y, s->children[0], meet);
		out->tail.list.n = 0;
		out->waits = out->clears = true;
	}
	if (out->waits && (!expr_is_uniform(s->args[0], s) ||
			   !expr_is_uniform(s->args[1], s))) {
		sync_fail(y,
			  "loop %s needs a barrier, and its range differs "
			  "between threads",
			  s->u.loop.var->name);
	}
	if (out->waits && s->u.loop.kind == FOR_VECTORIZED) {
		sync_fail(y, "loop %s needs a barrier and is vectorized",
			  s->u.loop.var->name);
	}
	analyser_init(&a, y->func->module);
	analyser_enter(&a, s);
	if (out->clears && analyse_bounds(&a, s->args[1]).min < 1) {
		out->clears = false;
	}
	put_own_first(y, s, out);
}

static void
walk_if(struct sync *y, struct stmt *s, struct summary *out)
{
	struct summary other = { 0 };

	walk_child(y, s, 0, out);
	if (s->n_children > 1 && s->children[1]) {
		walk_child(y, s, 1, &other);
	}
	append(y, &out->head, &other.head);
	append(y, &out->tail, &other.tail);
	out->waits |= other.waits;
	out->clears &= other.clears;
	if (out->waits && !expr_is_uniform(s->args[0], s)) {
		sync_fail(y, "a barrier is needed under a condition that "
			     "differs between threads");
	}
	put_own_first(y, s, out);
}

static void
walk_while(struct sync *y, struct stmt *s, struct summary *out)
{
	enum meeting meet;

	walk_child(y, s, 0, out);
	put_own_first(y, s, out);
	meet = touches_meet(&y->kernel, &out->tail, &out->head, s);
	if (meet != MEET_NEVER) {
		put_after(y, s->children[0], meet);
		out->tail.list.n = 0;
		out->waits = true;
	}
	out->clears = false;
	if (out->waits) {
		/* The condition reads memory: nothing says that it is the
		 * same for all. */
		sync_fail(y, "a barrier is needed in a while loop");
	}
}

static void
walk(struct sync *y, struct stmt *s, struct summary *out)
{
	switch (s->kind) {
	case STMT_SEQ:
		walk_seq(y, s, out);
		break;
	case STMT_FOR:
		walk_loop(y, s, out);
		break;
	case STMT_IF:
		walk_if(y, s, out);
		break;
	case STMT_WHILE:
		walk_while(y, s, out);
		break;
	case STMT_LET:
	case STMT_ATTR:
	case STMT_ALLOC:
		walk_child(y, s, 0, out);
		put_own_first(y, s, out);
		break;
	default:
		if (is_barrier(s)) {
			out->waits = out->clears = true;
		} else {
			touch_collect(&y->kernel, s, &out->head);
			append(y, &out->tail, &out->head);
			out->waits = stmt_shuffle(s) != NULL;
		}
		break;
	}
}

static void
walk_child(struct sync *y, struct stmt *parent, int slot, struct summary *out)
{
	while (!y->dry) {
		struct stmt *s = parent->children[slot];

		if (!is_plain_if(s) || expr_is_uniform(s->args[0], s) ||
		    !would_wait(y, s)) {
			break;
		}
		push_guard(y, s->children[0], s->args[0]);
		stmt_replace(y->func, s, s->children[0]);
	}
	walk(y, parent->children[slot], out);
}

/* What has arrived is known by now: which buffers is all that is left to say. */
static const struct expr *
first_element(void *ctx, const struct expr *e)
{
	struct func *f = ctx;
	struct module *m = f->module;
	const struct buffer *b = e->u.buffer;
	const struct expr **index;

	if (e->kind != EXPR_LOAD) {
		return NULL;
	}
	index = arena_array(&m->arena, const struct expr *, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		index[d] = expr_int(m, e->args[d]->type, 0);
	}
	return expr_load(m, b, index, b->ndim);
}

static bool
forget_places(void *ctx, struct stmt *s)
{
	struct func *f = ctx;

	if (s->kind == STMT_EVALUATE && s->args[0]->kind == EXPR_CALL &&
	    s->args[0]->u.intrin == INTRIN_ASYNC_WAIT) {
		stmt_set_arg(f, s, 0,
			     expr_rewrite(f->module, s->args[0], first_element,
					  f));
	}
	return true;
}

bool
lower_sync(struct func *f)
{
	struct stmt_vec kernels = { 0 };
	bool ok = true;

	threads_kernels(f, &kernels);
	for (int i = 0; i < kernels.list.n && ok; i++) {
		struct sync y = { .func = f };
		struct stmt *kernel = kernels.list.data[i], *body;
		struct summary sum = { 0 };

		touch_kernel_init(&y.kernel, f, kernel);
		body = threads_body(kernel, y.kernel.loops);
		if (body != kernel && body->parent) {
			walk_child(&y, body->parent, 0, &sum);
		}
		ok = !y.failed;
	}
	stmt_visit(f->body, forget_places, f);
	return ok;
}
