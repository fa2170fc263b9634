/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding of a node: runs its definition, as a phase-0 function, on
 * the bytes of its inputs. So every node that can be emitted can also be
 * folded. */
#include "define.h"

#include "interp.h"
#include "iterate.h"

/* The elements of a constant in memory; if the constant is stored as one number
 * for all elements, they are written to memory of arena a. */
static const void *
value_bytes(struct arena *a, const struct value *v)
{
	size_t done = (size_t)dtype_bytes(v->type), more;
	char *bytes;

	if (v->data) {
		return v->data;
	}
	bytes = arena_alloc(a, v->bytes + done);
	number_store(v->type, bytes, 0, v->fill);
	for (; done < v->bytes; done += more) {
		more = v->bytes - done < done ? v->bytes - done : done;
		memcpy(bytes + done, bytes, more);
	}
	return bytes;
}

static const struct value *
new_value(struct arena *a, const struct tensor *t, void **data)
{
	struct value *v = arena_new(a, struct value);

	v->type = t->type;
	if (!tensor_const_elems(t, &v->elems)) {
		return NULL;
	}
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(t->type);
	*data = arena_alloc(a, v->bytes + 1);
	v->data = *data;
	return v;
}

/* The number of bytes that evaluating n allocates: for results, and for inputs
 * that are stored as one number. */
static int64_t
evaluation_bytes(const struct node *n)
{
	int64_t bytes = 0, elems;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct value *v = n->inputs[i] ? n->inputs[i]->value
						     : NULL;

		bytes = quota_plus(bytes,
				   v && !v->data ? (int64_t)v->bytes : 0);
	}
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] &&
		    tensor_const_elems(n->outputs[i], &elems)) {
			bytes = quota_plus(
				bytes,
				quota_times(elems,
					    dtype_bytes(n->outputs[i]->type)));
		}
	}
	return bytes;
}

struct func *
ops_function(struct graph *g, const struct node *n)
{
	struct module *m = g->module;
	struct arena *a = &m->arena;
	int most = n->n_inputs + n->n_outputs + 1, count = 0;
	struct te_tensor **in = arena_array(a, struct te_tensor *, most);
	struct te_tensor **results = arena_array(a, struct te_tensor *, most);
	struct te_tensor **params = arena_array(a, struct te_tensor *, most);

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t) {
			in[i] = te_placeholder(m, t->name, t->type, t->ndim,
					       t->shape);
			params[count++] = in[i];
		}
	}
	if (!ops_define(g, n, in, results)) {
		return NULL;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			params[count++] = results[k];
		}
	}
	return te_to_func(m, "evaluate", params, count);
}

/* Computes the outputs of n, whose inputs must be constants. Sets out[k] to the
 * value of output k, or to NULL if n omits output k. `operands`: an arena for
 * the bytes of the inputs. False after a diagnostic. */
static bool
evaluate(struct graph *g, const struct node *n, struct arena *operands,
	 const struct value **out)
{
	struct module *m = g->module;
	struct arena *a = &m->arena;
	int most = n->n_inputs + n->n_outputs + 1, count = 0;
	/* Does any output have elements? If not, nothing is run, because loops
	 * around an empty buffer would take time, too. */
	bool any = false;
	struct run_arg *args = arena_array(a, struct run_arg, most);
	struct func *f;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (!t) {
			continue;
		}
		if (!t->value) {
			return diag_error(&m->diags, DIAG_INTERPRET,
					  node_place(g, n),
					  "input '%s' has no constant value",
					  t->name);
		}
		args[count].bytes = (int64_t)t->value->bytes;
		args[count++].read = value_bytes(operands, t->value);
	}
	for (int k = 0; k < n->n_outputs; k++) {
		out[k] = NULL;
		if (!n->outputs[k]) {
			continue;
		}
		out[k] = new_value(a, n->outputs[k], &args[count].data);
		if (!out[k]) {
			return diag_error(&m->diags, DIAG_UNKNOWN_SHAPE,
					  node_place(g, n),
					  "the size of '%s' is not constant",
					  n->outputs[k]->name);
		}
		any = any || out[k]->elems > 0;
		args[count++].bytes = (int64_t)out[k]->bytes;
	}
	f = ops_function(g, n);
	return f && (!any || run_func(f, args, count));
}

bool
ops_evaluate(struct graph *g, const struct node *n, const struct value **out)
{
	struct arena operands;
	bool good;

	if (!quota_check_memory(g->module, node_place(g, n),
				evaluation_bytes(n))) {
		return false;
	}
	arena_init(&operands);
	good = evaluate(g, n, &operands, out);
	arena_release(&operands);
	return good;
}

/* The number of times that the stores in s are executed together. */
static int64_t
stmt_work(const struct stmt *s)
{
	int64_t sum = s->kind == STMT_STORE, extent;

	for (int i = 0; i < s->n_children; i++) {
		int64_t work = s->children[i] ? stmt_work(s->children[i]) : 0;

		sum = quota_plus(sum, work);
	}
	if (s->kind != STMT_FOR) {
		return sum;
	}
	return expr_is_int(s->args[1], &extent) ? quota_times(sum, extent)
						: INT64_MAX;
}

/* The size of a buffer in bytes; INT64_MAX if its shape is not constant. */
static int64_t
buffer_bytes(const struct buffer *b)
{
	int64_t bytes = dtype_bytes(b->type), extent;

	for (int d = 0; d < b->ndim; d++) {
		bytes = expr_is_int(b->shape[d], &extent)
				? quota_times(bytes, extent)
				: INT64_MAX;
	}
	return bytes;
}

/* The size in bytes of all buffers that statements in s allocate. */
static int64_t
allocated_bytes(struct stmt *s)
{
	int64_t sum = 0;

	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		if (s->kind == STMT_ALLOC) {
			sum = quota_plus(sum, buffer_bytes(s->u.buffer));
		}
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_allocs; i++) {
			sum = quota_plus(sum,
					 buffer_bytes(s->u.block->allocs[i]));
		}
	}
	return sum;
}

struct ops_cost
ops_cost(struct graph *g, const struct node *n)
{
	struct ops_cost cost = { INT64_MAX, INT64_MAX };
	struct module *m = g->module;
	struct arena *a = &m->arena;
	int most = n->n_inputs + n->n_outputs + 1, count = 0;
	struct te_tensor **in = arena_array(a, struct te_tensor *, most);
	struct te_tensor **results = arena_array(a, struct te_tensor *, most);
	struct te_tensor **params = arena_array(a, struct te_tensor *, most);
	const struct func *f;

	if (!ops_define_alone(g, n, in, results)) {
		return cost;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (in[i]) {
			params[count++] = in[i];
		}
	}
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			params[count++] = results[k];
		}
	}
	f = te_to_func(m, "work", params, count);
	cost.work = stmt_work(f->body);
	cost.bytes = allocated_bytes(f->body);
	return cost;
}
