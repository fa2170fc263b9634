/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a kernel in which two threads of a block add to the same element:
 *
 *   for tz in thread(5, "threadIdx.z"):
 *     for ty in thread(3, "threadIdx.y"):
 *       S[tz + ty] = S[tz + ty] + A[tz + ty]     # (0, 1) and (1, 0)
 *
 * The element would get the sum of only one of the threads, or of both: a data
 * race. Threads may store the same element if they store the same value. */
#include "thread_updates.h"

#include "access.h"
#include "analyse.h"
#include "iterate.h"
#include "thread_loops.h"

enum { AXES = 3, MOST_THREADS = 1024 };

struct thread {
	int64_t at[AXES]; /* the values of threadIdx.z, y and x */
};

struct updates {
	struct func *func;
	/* the variable of each index; NULL if the kernel does not use it */
	struct var *vars[AXES];
	int64_t extents[AXES];
};

/* A store that updates an element, the threads that may execute it, and how its
 * indices depend on them. */
struct update {
	struct updates *all;
	const struct stmt *store;
	int64_t low[AXES], high[AXES];
	/* the coefficient of each thread index, by dimension of the buffer */
	int64_t *coeff[AXES];
	enum runs { UNKNOWN, RUNS, MAY_NOT_RUN } runs[MOST_THREADS];
};

/* Is e the stored element plus or times another value? */
static bool
adds_to(const struct expr *e, const struct stmt *store)
{
	const struct buffer *b = store->u.buffer;

	switch (e->kind) {
	case EXPR_LOAD:
		for (int d = 0; e->u.buffer == b && d < b->ndim; d++) {
			if (e->args[d] != store->args[1 + d]) {
				return false;
			}
		}
		return e->u.buffer == b;
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		return adds_to(e->args[0], store) || adds_to(e->args[1], store);
	case EXPR_CAST:
		return adds_to(e->args[0], store);
	default:
		return false;
	}
}

/* Sets the coefficients of the thread indices in the indices of the store.
 * False unless each index is a sum of multiples of thread indices and of terms
 * that are the same in all threads. */
static bool
find_coefficients(struct update *u)
{
	struct module *m = u->all->func->module;
	int ndim = u->store->u.buffer->ndim;
	struct analyser a;

	analyser_at(&a, m, u->store);
	for (int k = 0; k < AXES; k++) {
		u->coeff[k] = arena_array(&m->arena, int64_t, ndim + 1);
		u->low[k] = u->high[k] = 0;
		if (u->all->vars[k] != NULL) {
			struct bounds b = analyse_bounds(&a,
							 u->all->vars[k]->expr);

			u->low[k] = b.min > 0 ? b.min : 0;
			u->high[k] = b.max < u->all->extents[k]
					     ? b.max
					     : u->all->extents[k] - 1;
		}
	}
	for (int d = 0; d < ndim; d++) {
		const struct expr *rest = u->store->args[1 + d];

		for (int k = 0; k < AXES; k++) {
			if (u->all->vars[k] != NULL &&
			    !analyse_affine(&a, rest, &u->all->vars[k], 1,
					    &u->coeff[k][d], &rest)) {
				return false;
			}
		}
	}
	return true;
}

/* Do two threads whose indices differ by `by` store to the same element? */
static bool
is_same_element(const struct update *u, const struct thread *by)
{
	bool same = true;

	for (int d = 0; d < u->store->u.buffer->ndim; d++) {
		int64_t distance = 0;

		for (int k = 0; k < AXES; k++) {
			distance += u->coeff[k][d] * by->at[k];
		}
		same = same && distance == 0;
	}
	return same;
}

/* The expression e with the thread index variables replaced by the indices of
 * thread t. */
static const struct expr *
at_thread(const struct update *u, const struct expr *e, const struct thread *t)
{
	struct module *m = u->all->func->module;
	const struct expr *values[AXES];
	struct var *vars[AXES];
	struct var_map map = { vars, values, 0 };
	struct analyser a;

	for (int k = 0; k < AXES; k++) {
		if (u->all->vars[k] != NULL) {
			vars[map.n] = u->all->vars[k];
			values[map.n++] = expr_int(m, u->all->vars[k]->type,
						   t->at[k]);
		}
	}
	analyser_init(&a, m);
	return simplify(&a, expr_substitute(m, e, &map));
}

/* Is it certain that thread t runs the store: do all conditions around it hold
 * for t? */
static bool
certainly_runs(const struct update *u, const struct thread *t)
{
	const struct stmt *below = u->store;

	for (const struct stmt *s = below->parent; s != NULL;
	     below = s, s = s->parent) {
		if (s->kind == STMT_WHILE) {
			return false;
		}
		if (s->kind == STMT_IF &&
		    !expr_is_value(at_thread(u, s->args[0], t),
				   below == s->children[0])) {
			return false;
		}
		if (s->kind == STMT_FOR && tag_of(s) < 0 &&
		    at_thread(u, s->args[1], t) != s->args[1]) {
			return false;
		}
	}
	return true;
}

/* The same as certainly_runs(), computed once for each thread. */
static bool
runs(struct update *u, const struct thread *t)
{
	int64_t i = 0;

	for (int k = 0; k < AXES; k++) {
		i = i * (u->high[k] - u->low[k] + 1) + t->at[k] - u->low[k];
	}
	if (u->runs[i] == UNKNOWN) {
		u->runs[i] = certainly_runs(u, t) ? RUNS : MAY_NOT_RUN;
	}
	return u->runs[i] == RUNS;
}

static bool
next_thread(const struct update *u, struct thread *t)
{
	for (int k = AXES - 1; k >= 0; k--) {
		if (t->at[k]++ < u->high[k]) {
			return true;
		}
		t->at[k] = u->low[k];
	}
	return false;
}

/* Finds a thread *t such that both t and t + by are threads of the launch and
 * certainly run the store; false if there is no such thread. */
static bool
find_pair(struct update *u, const struct thread *by, struct thread *t)
{
	bool more = true;

	for (*t = (struct thread){ { u->low[0], u->low[1], u->low[2] } }; more;
	     more = next_thread(u, t)) {
		struct thread other = *t;
		bool is_thread = true;

		for (int k = 0; k < AXES; k++) {
			other.at[k] += by->at[k];
			is_thread = is_thread && other.at[k] >= u->low[k] &&
				    other.at[k] <= u->high[k];
		}
		if (is_thread && runs(u, t) && runs(u, &other)) {
			return true;
		}
	}
	return false;
}

static const char *
thread_text(const struct update *u, const struct thread *t)
{
	const char *text = "";

	for (int k = 0; k < AXES; k++) {
		if (u->all->vars[k] != NULL) {
			text = arena_printf(&u->all->func->module->arena,
					    "%s%s%s %lld", text,
					    *text != '\0' ? ", " : "",
					    tag_name(TAG_THREAD_Z + k),
					    (long long)t->at[k]);
		}
	}
	return text;
}

static bool
refuse(const struct update *u, const struct thread *t, const struct thread *by)
{
	const char *name = u->store->u.buffer->name;
	struct thread other = *t;

	for (int k = 0; k < AXES; k++) {
		other.at[k] += by->at[k];
	}
	return func_error(u->all->func, DIAG_UNSUPPORTED,
			  "the threads with %s and with %s add to the same "
			  "element of %s, and do not wait for each other; "
			  "compute %s outside of the loops over them",
			  thread_text(u, t), thread_text(u, &other), name,
			  name);
}

static bool
check(struct update *u)
{
	struct thread by, t;

	for (by.at[0] = 0; by.at[0] <= u->high[0] - u->low[0]; by.at[0]++) {
		int64_t y = u->high[1] - u->low[1], x = u->high[2] - u->low[2];

		for (by.at[1] = by.at[0] > 0 ? -y : 0; by.at[1] <= y;
		     by.at[1]++) {
			bool later = by.at[0] > 0 || by.at[1] > 0;

			for (by.at[2] = later ? -x : 1; by.at[2] <= x;
			     by.at[2]++) {
				if (is_same_element(u, &by) &&
				    find_pair(u, &by, &t)) {
					return refuse(u, &t, &by);
				}
			}
		}
	}
	return true;
}

bool
threads_update_apart(struct func *f, struct stmt *kernel)
{
	struct updates all = { .func = f };
	struct stmt *loops[TAG_COUNT], *body = threads_body(kernel, loops);
	int64_t threads = 1;

	for (int k = 0; k < AXES; k++) {
		const struct stmt *loop = loops[TAG_THREAD_Z + k];

		if (loop == NULL) {
			continue;
		}
		if (!expr_is_int(loop->args[1], &all.extents[k]) ||
		    all.extents[k] > MOST_THREADS) {
			return true;
		}
		all.vars[k] = loop->u.loop.var;
		threads *= all.extents[k];
	}
	if (threads <= 1 || threads > MOST_THREADS) {
		return true;
	}
	for (struct stmt_iter it = stmt_each_of(body, STMT_STORE);
	     (body = stmt_next(&it));) {
		struct update u = { .all = &all, .store = body };

		if (!buffer_is_private(body->u.buffer) &&
		    body->args[0]->kind != EXPR_LOAD &&
		    adds_to(body->args[0], body) && find_coefficients(&u) &&
		    !check(&u)) {
			return false;
		}
	}
	return true;
}
