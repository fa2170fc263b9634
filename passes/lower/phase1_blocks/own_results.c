/* SPDX-License-Identifier: Apache-2.0 */
/* What all threads of a row get by shuffles each of them keeps, instead of
 * getting it back from shared memory.
 *
 *   S = alloc((), "shared")                   S = alloc((), "local")
 *   for t in thread(4, "threadIdx.x"):        for t in thread(4, "threadIdx.x"):
 *       part = A[t]                               S = A[t]
 *       part = part + shuffle_xor(part, 2)  ->    S = S + shuffle_xor(S, 2)
 *       part = part + shuffle_xor(part, 1)        S = S + shuffle_xor(S, 1)
 *       if t == 0:                                C[t] = A[t] / S
 *           S = part
 *       C[t] = A[t] / S
 *
 * After such steps over all bits of the thread's number the threads have the same
 * value, bit for bit, if the operation gives the same for both orders of its
 * operands. A maximum of floats may be +0 in one thread and -0 in another: it is
 * left, unless the first thread alone reads it. The threads must read only what their
 * own row has computed. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "thread_loops.h"

struct row_result {
	struct func *func;
	struct stmt *alloc;  /* of `part` */
	struct stmt *thread; /* the loop over threadIdx.x around it */
	struct stmt *guard;  /* if t == 0: */
	struct stmt *store;  /* S = part */
	const struct buffer *part, *result;
	/* threads may have different bits: the first one's count */
	bool by_first;
};

/* Is the guard's condition t == 0, and nothing else? */
static bool
is_first_thread(const struct stmt *guard, const struct stmt *thread)
{
	const struct expr *cond = guard->args[0];

	return cond->kind == EXPR_EQ && guard->children[1] == NULL &&
	       cond->args[0] == thread->u.loop.var->expr &&
	       expr_is_value(cond->args[1], 0);
}

/* Is op one of which threads combine parts? Sets x->by_first if it may give other
 * bits for the other order of its operands. */
static bool
is_combining(struct row_result *x, const struct expr *op)
{
	switch (op->kind) {
	case EXPR_MAX:
	case EXPR_MIN:
		x->by_first |= dtype_is_float(op->type);
		return true;
	case EXPR_ADD:
	case EXPR_MUL:
	case EXPR_AND:
	case EXPR_OR:
		return true;
	default:
		return false;
	}
}

static bool
is_load_of(const struct expr *e, const struct buffer *b)
{
	return e->kind == EXPR_LOAD && e->u.buffer == b;
}

/* Is s the step part = part op shuffle_xor(part, bit)? */
static bool
is_step(struct row_result *x, const struct stmt *s, int64_t bit)
{
	const struct expr *value, *other;

	if (s->kind != STMT_STORE || s->u.buffer != x->part) {
		return false;
	}
	value = s->args[0];
	if (!is_combining(x, value) || !is_load_of(value->args[0], x->part)) {
		return false;
	}
	other = value->args[1];
	return other->kind == EXPR_CALL &&
	       other->u.intrin == INTRIN_SHUFFLE_XOR &&
	       is_load_of(other->args[0], x->part) &&
	       expr_is_value(other->args[1], bit);
}

/* Is s the load part = all[…, t % n], the same for all threads of the same
 * t % n? */
static bool
loads_by_lane(const struct row_result *x, const struct stmt *s, int64_t n)
{
	const struct var *t = x->thread->u.loop.var;
	const struct expr *load = s->kind == STMT_STORE ? s->args[0] : NULL;
	const struct expr *last;

	if (load == NULL || s->u.buffer != x->part || load->kind != EXPR_LOAD ||
	    load->n_args == 0) {
		return false;
	}
	for (int i = 0; i < load->n_args - 1; i++) {
		if (expr_uses_var(load->args[i], t)) {
			return false;
		}
	}
	last = load->args[load->n_args - 1];
	return last->kind == EXPR_FLOORMOD && last->args[0] == t->expr &&
	       expr_is_value(last->args[1], n);
}

/* Do the statements before the guard give all threads along threadIdx.x the same
 * value of part? */
static bool
is_in_all_threads(struct row_result *x)
{
	const struct stmt *list = x->guard->parent;
	int64_t n = 1, threads;
	int i = stmt_slot(x->guard) - 1;

	for (; i >= 0 && is_step(x, list->children[i], n); i--) {
		n *= 2;
	}
	return n > 1 && expr_is_int(x->thread->args[1], &threads) &&
	       (threads == n || (threads % n == 0 && i >= 0 &&
				 loads_by_lane(x, list->children[i], n)));
}

/* Finds the statement if t == 0: S = part among those of the list. False if there
 * is none. */
static bool
find_guard(struct row_result *x, struct stmt *list)
{
	for (int i = 0; i < list->n_children; i++) {
		struct stmt *s = list->children[i];

		if (s->kind == STMT_IF && is_first_thread(s, x->thread) &&
		    s->children[0]->kind == STMT_STORE &&
		    is_load_of(s->children[0]->args[0], x->part)) {
			x->guard = s;
			x->store = s->children[0];
			x->result = x->store->u.buffer;
			return true;
		}
	}
	return false;
}

/* Sets *out to the result that the alloc of a variable is for; false if the alloc
 * is not one of such a variable. */
static bool
find_result(struct func *f, struct stmt *alloc, struct row_result *out)
{
	struct stmt *list = alloc->children[0];

	*out = (struct row_result){ .func = f,
				    .alloc = alloc,
				    .part = alloc->u.buffer };
	for (out->thread = alloc;
	     out->thread != NULL && tag_of(out->thread) != TAG_THREAD_X;) {
		out->thread = out->thread->parent;
	}
	return out->thread != NULL && out->part->ndim == 0 &&
	       buffer_is_private(out->part) && list->kind == STMT_SEQ &&
	       find_guard(out, list) && buffer_is_shared(out->result) &&
	       is_in_all_threads(out);
}

/* Is s a statement of the list that the guard is in, or inside of one, up to the
 * guard? */
static bool
is_before_guard(const struct row_result *x, const struct stmt *s)
{
	const struct stmt *list = x->guard->parent;

	while (s != NULL && s->parent != list) {
		s = s->parent;
	}
	return s != NULL && stmt_slot(s) <= stmt_slot(x->guard);
}

/* Is part of no use behind the guard? */
static bool
ends_with_guard(const struct row_result *x)
{
	struct access_list uses = accesses_of(x->func, x->alloc, x->part);

	for (int i = 0; i < uses.list.n; i++) {
		if (!is_before_guard(x, uses.list.data[i].at)) {
			return false;
		}
	}
	return true;
}

/* Is the result one of the row: does the number of each other thread index around
 * it select the element? */
static bool
is_of_row(const struct row_result *x)
{
	for (const struct stmt *s = x->alloc; s != NULL; s = s->parent) {
		bool used = s == x->thread || !tag_is_thread(tag_of(s)) ||
			    expr_is_value(s->args[1], 1);

		for (int d = 0; !used && d < x->result->ndim; d++) {
			used = expr_uses_var(x->store->args[1 + d],
					     s->u.loop.var);
		}
		if (!used) {
			return false;
		}
	}
	return true;
}

/* Does the access read the element that is stored? */
static bool
is_same_element(const struct row_result *x, const struct access *load)
{
	for (int d = 0; d < x->result->ndim; d++) {
		if (load->index[d] != x->store->args[1 + d]) {
			return false;
		}
	}
	return true;
}

/* Does the first thread alone execute the statement? */
static bool
is_by_first_thread(const struct row_result *x, const struct stmt *s)
{
	struct module *m = x->func->module;
	const struct expr *t = x->thread->u.loop.var->expr;
	struct analyser a;

	analyser_at(&a, m, s);
	return prove(&a, expr_le(m, t, expr_int(m, t->type, 0)));
}

/* Is the result stored there alone, and read only where it was stored for the
 * row of the thread that reads? */
static bool
is_read_by_own_row(const struct row_result *x)
{
	struct access_list uses = accesses_of(x->func, x->func->body,
					      x->result);

	for (int i = 0; i < uses.list.n; i++) {
		const struct access *u = &uses.list.data[i];

		if (u->at == x->store && u->load == NULL) {
			continue;
		}
		if (u->load == NULL || u->address ||
		    is_before_guard(x, u->at) || !is_same_element(x, u) ||
		    (x->by_first && !is_by_first_thread(x, u->at))) {
			return false;
		}
	}
	return true;
}

static const struct expr *
of_result(void *ctx, const struct expr *e)
{
	const struct row_result *x = ctx;

	return is_load_of(e, x->part)
		       ? expr_load(x->func->module, x->result,
				   x->store->args + 1, x->result->ndim)
		       : NULL;
}

/* Puts the result, a private one, in the place of part. */
static void
keep_result(struct row_result *x)
{
	struct func *f = x->func;
	struct stmt_list stores = { 0 };
	struct stmt *s;

	stmt_remove(f, x->guard);
	for (struct stmt_iter it = stmt_each_of(x->alloc, STMT_STORE);
	     (s = stmt_next(&it));) {
		if (s->u.buffer == x->part) {
			vec_push(&f->module->arena, &stores.list, s);
		}
	}
	stmt_rewrite(f, x->alloc, of_result, x);
	for (int i = 0; i < stores.list.n; i++) {
		s = stores.list.data[i];
		stmt_replace(f, s,
			     stmt_store(f, x->result, s->args[0],
					x->store->args + 1, x->result->ndim));
	}
	stmt_replace(f, x->alloc, x->alloc->children[0]);
	stmt_replace_buffer(f, f->body, x->result,
			    buffer_with_scope(f->module, x->result, "local"));
}

bool
lower_own_results(struct func *f)
{
	struct stmt_list allocs = stmts_of(&f->module->arena, f->body,
					   STMT_ALLOC);

	for (int i = 0; i < allocs.list.n; i++) {
		struct row_result x;

		if (find_result(f, allocs.list.data[i], &x) && is_of_row(&x) &&
		    ends_with_guard(&x) && is_read_by_own_row(&x)) {
			keep_result(&x);
		}
	}
	return true;
}
