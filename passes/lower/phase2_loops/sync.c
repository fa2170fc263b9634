/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts barriers between conflicting accesses (read after write, write after
 * read) of different threads of a block.
 *
 *   for k_o in range(8):                     for k_o in range(8):
 *       s[ty, tx] = A[ty, k_o * 16 + tx]         s[ty, tx] = A[...]
 *       for k_i in range(16):            ->      T.tvm_storage_sync("shared")
 *           acc = acc + s[ty, k_i]               for k_i in range(16): ...
 *                                                T.tvm_storage_sync("shared")
 *
 * All threads of the block must reach a barrier: conditions that differ between
 * threads are pushed down to the guarded statements. Runs after the pass
 * `threads`. */
#include "lower_passes.h"

#include <string.h>

#include "iterate.h"
#include "thread_conflicts.h"

/* The accesses of a statement before its first barrier (head) and after its
 * last barrier (tail); if the statement has no barrier, both contain all of its
 * accesses. */
struct summary {
	struct thread_accesses head, tail;
	bool has_barrier; /* the statement contains a barrier */
	/* every path through the statement has a barrier */
	bool always_barrier;
};

struct sync {
	struct func *func;
	struct conflict_kernel kernel;
	bool dry; /* only analyse: insert nothing */
	bool failed;
};

static void walk_child(struct sync *y, struct stmt *parent, int slot,
		       struct summary *out);

static void
sync_fail(struct sync *y, const char *fmt, ...)
{
	va_list ap;

	if (y->failed || y->dry) {
		return;
	}
	va_start(ap, fmt);
	func_error(y->func, DIAG_UNSUPPORTED, "%s",
		   arena_vprintf(&y->func->module->arena, fmt, ap));
	va_end(ap);
	y->failed = true;
}

static void
append(struct sync *y, struct thread_accesses *to,
       const struct thread_accesses *from)
{
	for (int i = 0; i < from->list.n; i++) {
		vec_push(&y->func->module->arena, &to->list,
			 from->list.data[i]);
	}
}

static struct stmt *
barrier(struct sync *y, enum conflict m)
{
	const struct expr *scope = expr_string(y->func->module,
					       m == CONFLICT_GLOBAL ? "block"
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
put_before(struct sync *y, struct stmt *s, enum conflict m)
{
	struct stmt_place place = stmt_place_of(s);
	struct stmt *pair[2] = { NULL, s };

	if (!y->dry) {
		pair[0] = barrier(y, m);
		stmt_put(y->func, place, stmt_seq(y->func, pair, 2));
	}
}

static void
put_after(struct sync *y, struct stmt *s, enum conflict m)
{
	struct stmt_place place = stmt_place_of(s);
	struct stmt *pair[2] = { s, NULL };

	if (!y->dry) {
		pair[1] = barrier(y, m);
		stmt_put(y->func, place, stmt_seq(y->func, pair, 2));
	}
}

/* -- conditions that differ between threads */

/* Puts the condition around the statements within s, but not around barriers,
 * which all threads must reach; conditions of IFs in s are joined with it. Not
 * inside of loops whose bounds differ between threads. */
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

/* Would the pass insert a barrier within s? The pass finds out by a walk that
 * changes nothing. */
static bool
needs_barrier(struct sync *y, struct stmt *s)
{
	struct summary sum = { 0 };
	bool dry = y->dry;

	y->dry = true;
	walk_child(y, s, 0, &sum);
	y->dry = dry;
	return sum.has_barrier;
}

/* -- the walk */

/* Sets *out to the accesses and barriers of a sequence, and puts a barrier
 * before each child whose accesses conflict with accesses since the last
 * barrier. */
static void
walk_seq(struct sync *y, struct stmt *s, struct summary *out)
{
	out->always_barrier = false;
	for (int i = 0; i < s->n_children && !y->failed; i++) {
		struct summary c = { 0 };
		enum conflict conflict;

		walk_child(y, s, i, &c);
		conflict = accesses_conflict(&y->kernel, &out->tail, &c.head,
					     s);
		if (conflict != CONFLICT_NONE) {
			int n = s->n_children;

			put_before(y, s->children[i], conflict);
			i += s->n_children - n;
			out->tail.list.n = 0;
			out->has_barrier = out->always_barrier = true;
		}
		if (!out->always_barrier) {
			append(y, &out->head, &c.head);
		}
		if (c.always_barrier) {
			out->tail.list.n = 0;
		}
		append(y, &out->tail, &c.tail);
		out->has_barrier |= c.has_barrier;
		out->always_barrier |= c.always_barrier;
	}
}

/* Adds the accesses of the statement's own operands at the start of *out, which
 * has the accesses of its child; puts a barrier between the two if they
 * conflict. */
static void
prepend_operands(struct sync *y, struct stmt *s, struct summary *out)
{
	struct thread_accesses own = { 0 }, head = { 0 };
	enum conflict conflict;

	thread_access_collect(&y->kernel, s, &own);
	if (own.list.n == 0) {
		return;
	}
	conflict = accesses_conflict(&y->kernel, &own, &out->head, s);
	if (conflict != CONFLICT_NONE && s->kind == STMT_IF &&
	    !expr_is_uniform(s->args[0], s)) {
		sync_fail(y, "threads change what a condition reads that "
			     "differs between them, so that a barrier would be "
			     "needed under it");
		return;
	}
	if (conflict != CONFLICT_NONE) {
		put_before(y, s->children[0], conflict);
		out->has_barrier = out->always_barrier = true;
		out->head = own;
		return;
	}
	append(y, &head, &own);
	append(y, &head, &out->head);
	out->head = head;
	if (!out->always_barrier) {
		append(y, &out->tail, &own);
	}
}

static void
walk_loop(struct sync *y, struct stmt *s, struct summary *out)
{
	struct analyser a;
	enum conflict conflict;

	walk_child(y, s, 0, out);
	conflict = accesses_conflict(&y->kernel, &out->tail, &out->head, s);
	if (conflict != CONFLICT_NONE && !expr_is_value(s->args[1], 1)) {
		put_after(y, s->children[0], conflict);
		out->tail.list.n = 0;
		out->has_barrier = out->always_barrier = true;
	}
	if (out->has_barrier && (!expr_is_uniform(s->args[0], s) ||
				 !expr_is_uniform(s->args[1], s))) {
		sync_fail(y,
			  "loop %s needs a barrier, and its range differs "
			  "between threads",
			  s->u.loop.var->name);
	}
	if (out->has_barrier && s->u.loop.kind == FOR_VECTORIZED) {
		sync_fail(y, "loop %s needs a barrier and is vectorized",
			  s->u.loop.var->name);
	}
	analyser_at(&a, y->func->module, s);
	if (out->always_barrier && analyse_bounds(&a, s->args[1]).min < 1) {
		out->always_barrier = false;
	}
	prepend_operands(y, s, out);
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
	out->has_barrier |= other.has_barrier;
	out->always_barrier &= other.always_barrier;
	if (out->has_barrier && !expr_is_uniform(s->args[0], s)) {
		sync_fail(y, "a barrier is needed under a condition that "
			     "differs between threads");
	}
	prepend_operands(y, s, out);
}

static void
walk_while(struct sync *y, struct stmt *s, struct summary *out)
{
	enum conflict conflict;

	walk_child(y, s, 0, out);
	prepend_operands(y, s, out);
	conflict = accesses_conflict(&y->kernel, &out->tail, &out->head, s);
	if (conflict != CONFLICT_NONE) {
		put_after(y, s->children[0], conflict);
		out->tail.list.n = 0;
		out->has_barrier = true;
	}
	out->always_barrier = false;
	if (out->has_barrier) {
		/* The condition may differ between threads, because it reads
		 * memory. */
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
		prepend_operands(y, s, out);
		break;
	default:
		if (is_barrier(s)) {
			out->has_barrier = out->always_barrier = true;
		} else {
			thread_access_collect(&y->kernel, s, &out->head);
			append(y, &out->tail, &out->head);
			out->has_barrier = stmt_shuffle(s) != NULL;
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
		    !needs_barrier(y, s)) {
			break;
		}
		push_guard(y, s->children[0], s->args[0]);
		stmt_replace(y->func, s, s->children[0]);
	}
	walk(y, parent->children[slot], out);
}

/* After the barriers are placed, only the buffers of an async_wait matter: the
 * indices of its addresses become 0. */
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
	index = arena_exprs(&m->arena, b->ndim + 1);
	for (int d = 0; d < b->ndim; d++) {
		index[d] = expr_int(m, e->args[d]->type, 0);
	}
	return expr_load(m, b, index, b->ndim);
}

static void
drop_wait_indices(struct func *f)
{
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(f->body, STMT_EVALUATE);
	     (s = stmt_next(&it));) {
		if (s->args[0]->kind == EXPR_CALL &&
		    s->args[0]->u.intrin == INTRIN_ASYNC_WAIT) {
			stmt_set_arg(f, s, 0,
				     expr_rewrite(f->module, s->args[0],
						  first_element, f));
		}
	}
}

bool
lower_sync(struct func *f)
{
	struct stmt_list kernels = threads_kernels(f);
	bool ok = true;

	for (int i = 0; i < kernels.list.n && ok; i++) {
		struct sync y = { .func = f };
		struct stmt *kernel = kernels.list.data[i], *body;
		struct summary sum = { 0 };

		conflict_kernel_init(&y.kernel, f, kernel);
		body = threads_body(kernel, y.kernel.loops);
		if (body != kernel && body->parent) {
			walk_child(&y, body->parent, 0, &sum);
		}
		ok = !y.failed;
	}
	drop_wait_indices(f);
	return ok;
}
