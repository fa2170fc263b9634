/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the place in memory, or the order of calls, that makes a model wrong:
 * follows the calls of the entry function, and keeps for each tensor the bytes
 * that a kernel stored.
 *
 *	let a = workspace + 0, b = workspace + 32:
 *	  conv(x, a)        # a: bytes 0 to 63
 *	  relu(x, b)        # b: bytes 32 to 95, over a
 *	  add(a, b, y)      # reads a, of which relu has overwritten a part
 */
#include <string.h>

#include "bisect.h"
#include "iterate.h"
#include "plan.h"

/* Bytes of an array that a kernel stored. Tensors that are views of the same
 * bytes, or of a part of them, have one owner. */
struct stored {
	const struct var *array;
	int64_t from, to;
	const struct tensor *tensor; /* NULL: scratch memory */
	const struct kernel *kernel;
	int owner;
};

struct following {
	struct program *p;
	struct arena *a;
	/* by id of a tensor: the id of the tensor whose bytes it shares, or its
	 * own id */
	int *owner;
	VEC(struct stored) list; /* in the order of the calls */
	struct plan_fault *fault;
};

static int
owner_of(const struct following *f, int id)
{
	while (f->owner[id] != id) {
		id = f->owner[id];
	}
	return id;
}

static void
join(struct following *f, const struct tensor *t, const struct tensor *other)
{
	if (other != NULL) {
		f->owner[owner_of(f, t->id)] = owner_of(f, other->id);
	}
}

static void
find_owners(struct following *f)
{
	struct graph *g = f->p->graph;

	f->owner = arena_array(f->a, int, g->tensors.n + 1);
	for (int i = 0; i < g->tensors.n; i++) {
		f->owner[i] = i;
	}
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];

		join(f, t, graph_view_root(g, t));
		join(f, t, t->part_of);
	}
}

/* -- arguments of calls -- */

/* The value of a LET that binds v; NULL if none does. */
static const struct expr *
bound_value(struct func *f, const struct expr *v)
{
	struct stmt_iter it = stmt_each_of(f->body, STMT_LET);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL) {
		if (s->u.var->expr == v) {
			return s->args[0];
		}
	}
	return NULL;
}

/* Reads e, an argument of a call: sets the array of *out and the first byte in
 * it. False if e is not a pointer of a known form. */
static bool
locate(struct following *f, const struct expr *e, struct stored *out)
{
	const struct expr *value = bound_value(f->p->entry, e), *at;
	int64_t offset = 0;

	e = value != NULL ? value : e;
	if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_PTR_ADD) {
		at = e->args[1];
		e = e->args[0];
		if (!expr_is_int(at, &offset)) {
			return false;
		}
	} else if (e->kind == EXPR_CALL && e->u.intrin == INTRIN_ADDRESS_OF &&
		   e->args[0]->kind == EXPR_LOAD) {
		const struct buffer *b = e->args[0]->u.buffer;

		if (!expr_is_int(e->args[0]->args[0], &offset)) {
			return false;
		}
		offset *= dtype_bytes(b->type);
		e = b->data->expr;
	}
	out->array = e->kind == EXPR_VAR ? e->u.var : NULL;
	out->from = offset;
	return out->array != NULL;
}

/* Sets *out to the tensor and bytes that the argument `arg` of kernel k has in
 * a call, where its value is e. False if the argument has no bytes in the
 * workspace, an input, an output or a weight. */
static bool
argument(struct following *f, const struct kernel *k,
	 const struct kernel_arg *arg, const struct expr *e, struct stored *out)
{
	const struct placement *at;

	*out = (struct stored){ .tensor = arg->tensor, .kernel = k };
	if ((arg->kind != ARG_TENSOR && arg->kind != ARG_SCRATCH) ||
	    !locate(f, e, out)) {
		return false;
	}
	if (arg->kind == ARG_SCRATCH) {
		out->owner = -1;
		out->to = out->from + arg->scratch_bytes;
		return true;
	}
	at = plan_find(&f->p->plan, arg->tensor);
	out->owner = owner_of(f, arg->tensor->id);
	out->to = out->from + (at != NULL ? at->bytes : 0);
	return at != NULL;
}

/* -- faults -- */

static bool
overlap(const struct stored *x, const struct stored *y)
{
	return x->array == y->array && x->from < y->to && y->from < x->to;
}

static bool
is_parameter(const struct following *f, const struct var *array)
{
	const struct func *entry = f->p->entry;

	for (int i = 0; i < f->p->graph->inputs.n; i++) {
		if (i < entry->params.n && entry->params.data[i].var == array) {
			return true;
		}
	}
	return false;
}

/* Are the bytes of x, which a kernel reads, still those that were stored for
 * it? If another kernel has overwritten a part of it, or no kernel has stored
 * it, sets *f->fault and returns false. */
static bool
check_read(struct following *f, const struct stored *x)
{
	bool any = is_parameter(f, x->array) || x->tensor->producer == NULL;

	for (int i = 0; i < f->list.n; i++) {
		const struct stored *own = &f->list.data[i];

		if (own->owner != x->owner || !overlap(own, x)) {
			continue;
		}
		any = true;
		for (int k = i + 1; k < f->list.n; k++) {
			const struct stored *other = &f->list.data[k];

			if (other->owner != x->owner && overlap(other, own) &&
			    overlap(other, x)) {
				*f->fault = (struct plan_fault){
					.kernel = x->kernel,
					.tensor = x->tensor,
					.over = other->tensor,
					.by = other->kernel,
					.from = other->from > x->from
							? other->from
							: x->from,
				};
				return false;
			}
		}
	}
	if (!any) {
		*f->fault = (struct plan_fault){ .kernel = x->kernel,
						 .tensor = x->tensor };
	}
	return any;
}

/* Does the kernel that is called write only to arrays that do not overlap its
 * other arrays? Arrays that it updates in place may overlap. If not, sets
 * *f->fault and returns false. */
static bool
check_call(struct following *f, const struct stored *args, const bool *written,
	   const struct tensor *const *in_place, int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; written[i] && k < n; k++) {
			bool same = k == i ||
				    (args[k].tensor != NULL &&
				     args[k].owner == args[i].owner) ||
				    (in_place[i] != NULL &&
				     owner_of(f, in_place[i]->id) ==
					     args[k].owner);

			if (same || !overlap(&args[i], &args[k])) {
				continue;
			}
			*f->fault = (struct plan_fault){
				.kernel = args[i].kernel,
				.tensor = args[k].tensor,
				.over = args[i].tensor,
				.by = args[i].kernel,
				.from = args[i].from > args[k].from
						? args[i].from
						: args[k].from,
			};
			return false;
		}
	}
	return true;
}

static bool
check_kernel(struct following *f, const struct kernel *k,
	     const struct expr *call)
{
	const int most = k->args.n + 1;
	struct stored *args = arena_array(f->a, struct stored, most);
	bool *written = arena_array(f->a, bool, most);
	const struct tensor **in_place = arena_array(f->a,
						     const struct tensor *,
						     most);
	int n = 0;

	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];

		if (!argument(f, k, arg, call->args[i + 1], &args[n])) {
			continue;
		}
		if (arg->kind == ARG_TENSOR && arg->read &&
		    !check_read(f, &args[n])) {
			return false;
		}
		in_place[n] = arg->in_place;
		written[n++] = arg->kind == ARG_SCRATCH || arg->written;
	}
	if (!check_call(f, args, written, in_place, n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (written[i]) {
			vec_push(f->a, &f->list, args[i]);
		}
	}
	return true;
}

/* The kernel that the call runs. Several kernels may share the function that it
 * calls: then the first of them that is not marked in called[], and marks it.
 * NULL if the call runs no kernel. */
static const struct kernel *
called_kernel(const struct program *p, const struct expr *call, bool *called)
{
	if (call->kind != EXPR_CALL || call->u.intrin != INTRIN_CALL_FUNC) {
		return NULL;
	}
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		if (!called[i] &&
		    strcmp(k->func->name, call->args[0]->u.text) == 0) {
			called[i] = true;
			return k;
		}
	}
	return NULL;
}

bool
plan_is_right(struct arena *a, struct program *p, struct plan_fault *out)
{
	struct following f = { .p = p, .a = a, .fault = out };
	struct stmt_list calls;
	bool *called = arena_array(a, bool, p->kernels.n + 1);

	*out = (struct plan_fault){ .kernel = NULL };
	for (int i = 0; i < p->kernels.n; i++) {
		if (p->kernels.data[i]->init != NULL ||
		    p->kernels.data[i]->device != NULL ||
		    kernel_body(p->kernels.data[i]) != 0) {
			return true;
		}
	}
	find_owners(&f);
	calls = stmts_of(a, p->entry->body, STMT_EVALUATE);
	for (int i = 0; i < calls.list.n; i++) {
		const struct expr *call = calls.list.data[i]->args[0];
		const struct kernel *k = called_kernel(p, call, called);

		if (k != NULL && !check_kernel(&f, k, call)) {
			return false;
		}
	}
	return true;
}
