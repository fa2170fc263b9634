/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: a reduction across threads as TVM's lowering writes it. Each
 * thread of a group gets the values of all threads of the group, combined. It is read
 * as a tree in shared memory, with a barrier after each step:
 *
 *	T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", 0)
 *	T.tvm_thread_allreduce(T.uint32(1), A[tx], True, B[0], tx)
 *
 *	all[tx] = A[tx]
 *	if tx < 2:                            (of 4 threads)
 *	    all[tx] = all[tx] + all[tx + 2]
 *	if tx < 1:
 *	    all[tx] = all[tx] + all[tx + 1]
 *	B[0] = all[0]
 *
 * and a barrier after that.
 */
#include "iterate.h"
#include "script_read.h"

enum { REDUCTION_THREADS_MAX = 4096 };

/* One of the values that the threads of a group reduce together. */
struct reduced {
	const struct expr *source, *identity;
	/* where each thread stores the result */
	const struct buffer *result;
	const struct expr **at;
	/* the shared array of the threads' values */
	const struct buffer *all;
};

struct allreduce {
	struct script_reader *r;
	const struct py_node *call, *combiner;
	struct reduced *values;
	int n;
	/* the condition under which a thread has a value; NULL: every thread
	 * has one */
	const struct expr *condition;
	/* the number of the thread in its group, and the number of threads in
	 * the group */
	const struct expr *number;
	int64_t n_threads;
	/* the indices and sizes of `all`; the last index is the thread's number */
	const struct expr **index, **shape;
	int ndim;
};

bool
script_reduce_scope(struct script_reader *r, const struct py_node *call)
{
	const struct py_node *of = call->n_kids > 1 ? call->kids[1] : NULL;

	if (!script_calls(r, call, "attr") || !of ||
	    !script_calls(r, of, "comm_reducer")) {
		return false;
	}
	r->reducer = of;
	return true;
}

/* ---- threads */

static bool
is_thread(const struct script_loop *loop)
{
	return loop->thread && strncmp(loop->thread, "threadIdx.", 10) == 0;
}

/* The loop of threads whose variable is the value of node; NULL after an error. */
static const struct script_loop *
thread_of(struct script_reader *r, const struct py_node *node)
{
	const struct expr *e;

	if (!script_expr(r, node, &e)) {
		return NULL;
	}
	for (int i = r->loops.n - 1; i >= 0; i--) {
		const struct script_loop *loop = &r->loops.data[i];

		if (e->kind == EXPR_VAR && loop->var == e->u.var &&
		    is_thread(loop)) {
			return loop;
		}
	}
	script_fail(r, node,
		    "no index of a thread; name the variable of a "
		    "loop that is bound to threadIdx.x, y or z");
	return NULL;
}

static const struct expr *
from_zero(struct module *m, const struct script_loop *loop)
{
	return expr_sub(m, loop->var->expr, loop->min);
}

/* Reads the n threads of a group, in `list`, and adds a dimension for each
 * thread index that distinguishes groups. False after an error. */
static bool
read_threads(struct allreduce *a, const struct py_node *const *list, int n)
{
	struct script_reader *r = a->r;
	const char *tags[16];
	int n_tags = 0;

	a->n_threads = 1;
	for (int i = 0; i < n && i < 3; i++) {
		const struct script_loop *loop = thread_of(r, list[i]);
		const struct expr *own;
		int64_t extent;

		if (!loop) {
			return false;
		}
		for (int k = 0; k < n_tags; k++) {
			if (strcmp(tags[k], loop->thread) == 0) {
				return script_fail(r, list[i],
						   "%s twice; name each index "
						   "of threads once",
						   loop->thread);
			}
		}
		if (!expr_is_int(loop->extent, &extent) || extent < 1 ||
		    extent > REDUCTION_THREADS_MAX / a->n_threads) {
			return script_fail(r, list[i],
					   "a number of threads that is no "
					   "constant, or above %d",
					   REDUCTION_THREADS_MAX);
		}
		own = expr_cast(r->m, dtype_of(DT_I32), from_zero(r->m, loop));
		a->number = a->number
				    ? expr_add(r->m,
					       expr_mul(r->m, a->number,
							expr_i32(r->m, extent)),
					       own)
				    : own;
		a->n_threads *= extent;
		tags[n_tags++] = loop->thread;
	}
	a->index = arena_exprs(&r->m->arena, 4);
	a->shape = arena_exprs(&r->m->arena, 4);
	for (int i = r->loops.n - 1; i >= 0 && n_tags < 3; i--) {
		const struct script_loop *loop = &r->loops.data[i];
		bool known = !is_thread(loop);

		for (int k = 0; k < n_tags; k++) {
			known |= strcmp(tags[k],
					loop->thread ? loop->thread : "") == 0;
		}
		if (known) {
			continue;
		}
		a->index[a->ndim] = from_zero(r->m, loop);
		a->shape[a->ndim++] = loop->extent;
		tags[n_tags++] = loop->thread;
	}
	a->index[a->ndim] = a->number;
	a->shape[a->ndim++] = expr_i32(r->m, a->n_threads);
	return true;
}

/* ---- values */

/* Reads where the result is stored: B[i], or B.data for its first element. */
static bool
read_result(struct script_reader *r, const struct py_node *node,
	    struct reduced *out)
{
	struct script_value v;
	bool first = node->kind == PY_ATTRIBUTE &&
		     strcmp(node->text, "data") == 0;

	if (node->kind != PY_SUBSCRIPT && !first) {
		return script_fail(r, node,
				   "no element of a buffer; write "
				   "B[0]");
	}
	if (!script_eval(r, node->kids[0], &v)) {
		return false;
	}
	if (v.kind == SCRIPT_BUFFER && v.view && v.view->flat &&
	    !dtype_equal(v.view->type, v.buffer->type)) {
		return script_fail(r, node,
				   "an element of another type than the memory "
				   "of '%s' has; reduce into a buffer of that "
				   "type",
				   v.buffer->name);
	}
	if (!first) {
		return script_element(r, node, &v, &out->result, &out->at);
	}
	if (v.kind != SCRIPT_BUFFER || v.view) {
		return script_fail(r, node,
				   "no element of a buffer; write "
				   "B[0]");
	}
	out->result = v.buffer;
	out->at = arena_exprs(&r->m->arena, v.buffer->ndim + 1);
	for (int d = 0; d < v.buffer->ndim; d++) {
		out->at[d] = expr_int(r->m, v.buffer->shape[d]->type, 0);
	}
	return true;
}

/* Reads value i of the reduction: its source, its result, its identity element.
 * False after an error. */
static bool
read_one(struct allreduce *a, int i, const struct py_node *source,
	 const struct py_node *result, const struct py_node *identity)
{
	struct script_reader *r = a->r;
	struct reduced *one = &a->values[i];
	struct dtype t;

	if (!read_result(r, result, one)) {
		return false;
	}
	t = one->result->type;
	return script_expr_as(r, source, t, &one->source) &&
	       script_expr_as(r, identity, t, &one->identity);
}

/* Sets out[i] to value number i of `left` and `right`, combined. False after an
 * error. */
static bool
combine(struct allreduce *a, const struct expr *const *left,
	const struct expr *const *right, const struct expr **out)
{
	struct script_reader *r = a->r;
	const struct py_node *f = a->combiner, *body = f->kids[0];
	const struct py_node *const *parts;
	int names = r->names.n, n;

	for (int i = 0; i < a->n; i++) {
		script_define(r, f->params[i].name,
			      script_value_of(left[i], false));
		script_define(r, f->params[a->n + i].name,
			      script_value_of(right[i], false));
	}
	parts = script_items(&body, &n);
	if (n != a->n) {
		return script_fail(r, body, "%d values where %d are reduced", n,
				   a->n);
	}
	for (int i = 0; i < n; i++) {
		if (!script_expr_as(r, parts[i], a->values[i].result->type,
				    &out[i])) {
			return false;
		}
	}
	script_leave(r, names);
	return true;
}

/* ---- statements */

static const struct expr *
load_at(struct allreduce *a, int i, const struct expr *number)
{
	a->index[a->ndim - 1] = number;
	return expr_load(a->r->m, a->values[i].all, a->index, a->ndim);
}

/* Stores value number i of the thread. */
static struct stmt *
store_own(struct allreduce *a, int i, const struct expr *value)
{
	a->index[a->ndim - 1] = a->number;
	return stmt_store(a->r->f, a->values[i].all, value, a->index, a->ndim);
}

/* Sets *out to the step of the tree in which thread i, for each i < half,
 * combines its values with those of thread i + half. False after an error. */
static bool
halving_step(struct allreduce *a, int64_t half, struct stmt **out)
{
	struct script_reader *r = a->r;
	struct module *m = r->m;
	const struct expr *offset = expr_i32(m, half);
	const struct expr *other = expr_add(m, a->number, offset);
	const struct expr *condition = expr_lt(m, a->number, offset);
	const struct expr **left = arena_exprs(&m->arena, 3 * (a->n + 1));
	const struct expr **right = left + a->n + 1, **both = right + a->n + 1;
	struct stmt **stores = arena_array(&m->arena, struct stmt *, a->n + 1);

	if (half * 2 > a->n_threads) {
		condition = expr_and(m, condition,
				     expr_lt(m, other,
					     expr_i32(m, a->n_threads)));
	}
	for (int i = 0; i < a->n; i++) {
		left[i] = load_at(a, i, a->number);
		right[i] = load_at(a, i, other);
	}
	if (!combine(a, left, right, both)) {
		return false;
	}
	if (a->n == 1) {
		*out = stmt_if(r->f, condition, store_own(a, 0, both[0]), NULL);
		return true;
	}
	/* all values are computed before the first value is stored */
	struct var **vars = arena_array(&m->arena, struct var *, a->n);

	for (int i = 0; i < a->n; i++) {
		vars[i] = var_new(m, a->values[i].result->name, both[i]->type);
		stores[i] = store_own(a, i, vars[i]->expr);
	}
	*out = stmt_seq(r->f, stores, a->n);
	for (int i = a->n - 1; i >= 0; i--) {
		*out = stmt_let(r->f, vars[i], both[i], *out);
	}
	*out = stmt_if(r->f, condition, *out, NULL);
	return true;
}

/* Sets *out to the statement in which the thread stores its values. */
static struct stmt *
contribute(struct allreduce *a)
{
	struct script_reader *r = a->r;
	struct stmt **own = arena_array(&r->m->arena, struct stmt *, a->n);
	struct stmt **none = arena_array(&r->m->arena, struct stmt *, a->n);

	for (int i = 0; i < a->n; i++) {
		own[i] = store_own(a, i, a->values[i].source);
		if (a->condition) {
			none[i] = store_own(a, i, a->values[i].identity);
		}
	}
	return a->condition
		       ? stmt_if(r->f, a->condition, stmt_seq(r->f, own, a->n),
				 stmt_seq(r->f, none, a->n))
		       : stmt_seq(r->f, own, a->n);
}

/* The statement in which a thread waits until all threads of the block have stored. */
static struct stmt *
barrier(struct script_reader *r)
{
	const struct expr *scope = expr_string(r->m, "shared");

	return stmt_evaluate(r->f, expr_call(r->m, INTRIN_STORAGE_SYNC,
					     dtype_of(DT_VOID), &scope, 1));
}

static bool
expand(struct allreduce *a, struct stmt **out)
{
	struct script_reader *r = a->r;
	struct module *m = r->m;
	VEC(struct stmt *) list = { 0 };
	int64_t half = 1;

	for (int i = 0; i < a->n; i++) {
		struct buffer_spec spec = {
			.name = arena_printf(&m->arena, "%s_all",
					     a->values[i].result->name),
			.type = a->values[i].result->type,
			.ndim = a->ndim,
			.shape = a->shape,
			.scope = "shared",
		};

		a->values[i].all = buffer_new(m, &spec);
	}
	vec_push(&m->arena, &list, contribute(a));
	vec_push(&m->arena, &list, barrier(r));
	while (half * 2 < a->n_threads) {
		half *= 2;
	}
	for (; half > 0 && a->n_threads > 1; half /= 2) {
		struct stmt *step;

		if (!halving_step(a, half, &step)) {
			return false;
		}
		vec_push(&m->arena, &list, step);
		vec_push(&m->arena, &list, barrier(r));
	}
	for (int i = 0; i < a->n; i++) {
		const struct reduced *one = &a->values[i];

		vec_push(&m->arena, &list,
			 stmt_store(r->f, one->result,
				    load_at(a, i, expr_i32(m, 0)), one->at,
				    one->result->ndim));
	}
	/* if the call is in a loop, the values of the next iteration are stored
	 * only after all threads have read the result */
	vec_push(&m->arena, &list, barrier(r));
	*out = stmt_seq(r->f, list.data, list.n);
	for (int i = a->n - 1; i >= 0; i--) {
		*out = stmt_alloc(r->f, a->values[i].all, *out);
	}
	return true;
}

/* Sets a->combiner to that of the reducer around the call. Returns its identity
 * elements, one for each value, or NULL after an error. */
static const struct py_node *const *
find_reducer(struct allreduce *a)
{
	struct script_reader *r = a->r;
	const struct py_node *found[2];
	const struct py_node *const *identities;
	int n;

	if (!r->reducer) {
		script_fail(r, a->call,
			    "no reducer around it; write T.attr("
			    "T.comm_reducer(lambda x, y: x + y, "
			    "[T.float32(0)]), \"reduce_scope\", 0)");
		return NULL;
	}
	if (!script_args(r, r->reducer, "combiner, identities", found)) {
		return NULL;
	}
	a->combiner = found[0];
	identities = script_items(&found[1], &n);
	if (a->combiner->kind != PY_LAMBDA || n != a->n ||
	    a->combiner->n_params != 2 * n) {
		script_fail(r, r->reducer,
			    "a reducer of other than %d %s; give it a "
			    "lambda of twice as many, and as many "
			    "identity elements",
			    a->n, a->n == 1 ? "value" : "values");
		return NULL;
	}
	return identities;
}

bool
script_allreduce(struct script_reader *r, const struct py_node *call,
		 struct script_suite *suite)
{
	struct allreduce a = { .r = r, .call = call };
	const struct py_node *const *identities;
	const struct py_node *const *list;
	struct script_typed_args args;
	int64_t n;
	struct stmt *s;

	if (!script_typed_args(r, call, &args)) {
		return false;
	}
	list = args.list;
	if (args.n < 1 || !script_constant(r, list[0], &n)) {
		return script_fail(r, call,
				   "no number of values; write it first, as in "
				   "T.uint32(1)");
	}
	/* the arguments: the number n of values, n sources, the condition, n
	 * results, up to 3 threads */
	if (n < 1 || n > 16 || args.n < 2 * n + 3 || args.n > 2 * n + 5) {
		return script_fail(
			r, call,
			"%d arguments for %lld values; give a source "
			"and a result for each, a condition, and one "
			"to three threads",
			args.n, (long long)n);
	}
	a.n = (int)n;
	a.values = arena_array(&r->m->arena, struct reduced, a.n);
	identities = find_reducer(&a);
	if (!identities || !script_condition(r, list[a.n + 1], &a.condition)) {
		return false;
	}
	if (expr_is_value(a.condition, 1)) {
		a.condition = NULL;
	}
	for (int i = 0; i < a.n; i++) {
		if (!read_one(&a, i, list[1 + i], list[a.n + 2 + i],
			      identities[i])) {
			return false;
		}
	}
	if (!read_threads(&a, list + 2 * a.n + 2, args.n - 2 * a.n - 2) ||
	    !expand(&a, &s)) {
		return false;
	}
	r->has_allreduce = true;
	script_push(r, suite, call, s);
	return true;
}

/* Does the block, which has no init, write only to memory that each thread has
 * of its own? */
static bool
is_private(const struct stmt *s)
{
	const struct block *b = s->u.block;

	for (int i = 0; i < b->n_writes; i++) {
		if (strcmp(b->writes[i].buffer->scope, "local") != 0) {
			return false;
		}
	}
	return s->n_children == 1 || s->children[1] == NULL;
}

void
script_private_reductions(struct script_reader *r)
{
	struct stmt *s;

	if (!r->has_allreduce) {
		return;
	}
	for (struct stmt_iter it = stmt_each_of(r->f->body, STMT_BLOCK);
	     (s = stmt_next(&it));) {
		struct block block = *s->u.block;
		struct iter_var *iters = arena_array(&r->m->arena,
						     struct iter_var,
						     block.n_iters + 1);

		if (!is_private(s)) {
			continue;
		}
		for (int i = 0; i < block.n_iters; i++) {
			iters[i] = block.iters[i];
			if (iters[i].kind == ITER_REDUCE) {
				iters[i].kind = ITER_OPAQUE;
			}
		}
		block.iters = iters;
		stmt_set_block(r->f, s, &block);
	}
}
