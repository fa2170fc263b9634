/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the operations of a function, and measures a kernel. */
#include <math.h>

#include "access.h"
#include "func_work.h"
#include "iterate.h"
#include "kernel_build.h"
#include "lower.h"
#include "ops.h"
#include "pointer_map.h"
#include "rounding.h"

/* The operations of a kernel: on floats, and on integers; of a vector each lane
 * counts. Of the indices of loads, comparisons of floats count, which choose an
 * element by its data; index arithmetic is not counted. */
struct work {
	double floats, ints;
	/* a loop with operations has no bound that is known before it runs */
	bool by_values;
};

static bool
is_comparison(const struct expr *e)
{
	switch (e->kind) {
	case EXPR_EQ:
	case EXPR_NE:
	case EXPR_LT:
	case EXPR_LE:
	case EXPR_GT:
	case EXPR_GE:
		return true;
	default:
		return false;
	}
}

/* Is e a comparison of data? Comparisons of indices are parts of guards. */
static bool
compares_data(const struct expr *e)
{
	return is_comparison(e) && expr_has(e, EXPR_LOAD);
}

static void
count_index(const struct expr *e, struct work *w)
{
	if (compares_data(e) && dtype_is_float(e->args[0]->type)) {
		w->floats += e->args[0]->type.lanes;
	}
	for (int i = 0; i < e->n_args; i++) {
		count_index(e->args[i], w);
	}
}

/* What count_expr() needs to know. */
struct counting {
	struct analyser *a;
	/* the expressions that are counted already, or NULL: an expression
	 * counts where it occurs */
	struct pointer_map *seen;
};

static void count_expr(const struct counting *c, const struct expr *e,
		       struct work *w);

/* A choice by an index: i == 0 ? x : i == 1 ? y : z. */
static bool
is_choice(const struct expr *e, const struct expr *index)
{
	return e->kind == EXPR_SELECT && e->args[0]->kind == EXPR_EQ &&
	       e->args[0]->args[0]->kind == EXPR_VAR &&
	       e->args[0]->args[1]->kind == EXPR_INT &&
	       (index == NULL || e->args[0]->args[0] == index);
}

/* Counts a choice by an index: for each value of the index one branch, and what
 * branches have in common once, as loops over the index that are unrolled compute
 * it. Returns false, with nothing counted, if the index has no bounds. */
static bool
count_choice(const struct counting *c, const struct expr *e, struct work *w)
{
	const struct expr *index = e->args[0]->args[0];
	struct bounds b = analyse_bounds(c->a, index);
	double values = (double)b.max - (double)b.min + 1;
	struct work all = { 0 };
	struct pointer_map seen;
	struct counting once = { c->a, &seen };
	struct arena arena;

	if (b.min == BOUND_NEG_INF || b.max == BOUND_POS_INF || values < 1) {
		return false;
	}
	arena_init(&arena);
	pointer_map_init(&seen, &arena);
	for (; is_choice(e, index); e = e->args[2]) {
		count_expr(&once, e->args[1], &all);
	}
	count_expr(&once, e, &all);
	arena_release(&arena);
	w->floats += all.floats / values;
	w->ints += all.ints / values;
	return true;
}

static void
count_expr(const struct counting *c, const struct expr *e, struct work *w)
{
	struct dtype type = e->type;
	bool counts = false;

	if (c->seen != NULL && e->n_args > 0 && !pointer_map_add(c->seen, e)) {
		return;
	}
	if (c->seen == NULL && is_choice(e, NULL) && count_choice(c, e, w)) {
		return;
	}

	if (is_comparison(e)) {
		if (!compares_data(e)) {
			return;
		}
		type = e->args[0]->type;
		counts = true;
	}
	switch (e->kind) {
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
	case EXPR_DIV:
	case EXPR_FLOORDIV:
	case EXPR_MIN:
	case EXPR_MAX:
	case EXPR_CALL:
		counts = true;
		break;
	case EXPR_LOAD:
		count_index(e, w);
		return;
	default:
		break;
	}
	if (counts && dtype_is_float(type)) {
		w->floats += type.lanes;
	} else if (counts && dtype_is_int(type)) {
		w->ints += type.lanes;
	}
	for (int i = 0; i < e->n_args; i++) {
		count_expr(c, e->args[i], w);
	}
}

/* Is the value of a LET data rather than an index? */
static bool
is_value(const struct expr *e)
{
	return dtype_is_float(e->type) || expr_has(e, EXPR_LOAD);
}

/* The largest number of iterations of the loop. An extent that depends on sizes
 * or on other loops is bounded by their largest values; -1 if no bound is
 * known. */
static double
known_iterations(struct analyser *a, const struct stmt *loop)
{
	int64_t extent;
	struct bounds b;

	if (expr_is_int(loop->args[1], &extent)) {
		return (double)extent;
	}
	b = analyse_bounds(a, loop->args[1]);
	return b.max < BOUND_POS_INF ? (double)b.max : -1;
}

/* Like known_iterations, but 1 if no bound is known. */
static double
most_iterations(struct analyser *a, const struct stmt *loop)
{
	double n = known_iterations(a, loop);

	return n < 0 ? 1 : n;
}

/* Multiplies the operations of a loop's body by its iterations. */
static void
repeat(struct analyser *a, const struct stmt *s, struct work *w)
{
	double n = s->kind == STMT_FOR ? known_iterations(a, s) : -1;

	w->by_values |= n < 0 && w->floats + w->ints > 0;
	w->floats *= n < 0 ? 1 : n;
	w->ints *= n < 0 ? 1 : n;
}

static void
bind_iters(struct analyser *a, const struct block *b)
{
	for (int i = 0; i < b->n_iters; i++) {
		analyser_bind(a, b->iters[i].var, b->iters[i].min,
			      b->iters[i].extent);
	}
}

static struct work
count_stmt(struct analyser *a, const struct stmt *s)
{
	const struct counting c = { .a = a };
	struct work w = { 0 };
	struct analyser_mark mark = analyser_mark(a);

	if (s->kind == STMT_STORE) {
		count_expr(&c, s->args[0], &w);
		return w;
	}
	if (s->kind == STMT_LET && is_value(s->args[0])) {
		count_expr(&c, s->args[0], &w);
	}
	if (s->kind == STMT_BLOCK) {
		bind_iters(a, s->u.block);
	}
	if (s->kind == STMT_LET && dtype_is_int(s->args[0]->type) &&
	    s->args[0]->type.lanes == 1) {
		analyser_bind_value(a, s->u.var, s->args[0]);
	}
	if (s->kind == STMT_FOR) {
		analyser_bind(a, s->u.loop.var, s->args[0], s->args[1]);
	}
	/* the init of a block runs once for all its reductions */
	for (int i = 0; i < (s->kind == STMT_BLOCK ? 1 : s->n_children); i++) {
		struct work child = { 0 };

		if (s->children[i] != NULL) {
			child = count_stmt(a, s->children[i]);
		}
		w.by_values |= child.by_values;
		/* Of an IF, the branch with more operations counts. */
		if (s->kind != STMT_IF) {
			w.floats += child.floats;
			w.ints += child.ints;
		} else if (child.floats + child.ints > w.floats + w.ints) {
			w.floats = child.floats;
			w.ints = child.ints;
		}
	}
	analyser_pop(a, mark);
	if (s->kind == STMT_FOR || s->kind == STMT_WHILE) {
		repeat(a, s, &w);
	}
	return w;
}

/* Binds each scalar of f to its value in `values`, or, if `values` is NULL, to
 * its largest value. */
static void
bind_scalars(struct analyser *an, const struct func *f, const int64_t *values)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		int64_t value;

		if (p->buffer != NULL || !dtype_is_int(p->var->type)) {
			continue;
		}
		value = values != NULL ? values[i]
				       : analyse_bounds(an, p->var->expr).max;
		if (value < BOUND_POS_INF) {
			analyser_bind(an, p->var,
				      expr_int(f->module, p->var->type, value),
				      expr_int(f->module, p->var->type, 1));
		}
	}
}

static struct work
count_func(const struct func *f, const int64_t *values)
{
	struct analyser an;

	analyser_init(&an, f->module);
	bind_scalars(&an, f, values);
	return count_stmt(&an, f->body);
}

void
func_operations(const struct func *f, const int64_t *values, double *floats,
		double *ints)
{
	struct work work = count_func(f, values);

	*floats = work.floats;
	*ints = work.ints;
}

static double
count_runs(struct analyser *a, const struct stmt *s)
{
	struct analyser_mark mark = analyser_mark(a);
	double n = 0;

	if (s->kind == STMT_FOR) {
		analyser_bind(a, s->u.loop.var, s->args[0], s->args[1]);
	} else if (s->kind == STMT_LET && dtype_is_int(s->args[0]->type) &&
		   s->args[0]->type.lanes == 1) {
		analyser_bind_value(a, s->u.var, s->args[0]);
	}
	/* the init of a block runs once for all its reductions */
	for (int i = 0; i < (s->kind == STMT_BLOCK ? 1 : s->n_children); i++) {
		double child = s->children[i] != NULL
				       ? count_runs(a, s->children[i])
				       : 0;

		n = s->kind != STMT_IF ? n + child : child > n ? child : n;
	}
	analyser_pop(a, mark);
	return 1 + (s->kind == STMT_FOR ? n * most_iterations(a, s) : n);
}

double
func_statements(const struct func *f, const int64_t *values)
{
	struct analyser an;

	analyser_init(&an, f->module);
	bind_scalars(&an, f, values);
	return f->body != NULL ? count_runs(&an, f->body) : 0;
}

static int64_t
arg_bytes(const struct kernel_arg *arg)
{
	int64_t elems;

	if (arg->buffer == NULL || !buffer_max_elems(arg->buffer, &elems)) {
		return 0;
	}
	return (arg->is_element ? elems / arg->n_elements : elems) *
	       buffer_element_bytes(arg->buffer);
}

/* The bytes of one array that a kernel's function accesses, at most. */
struct array_bytes {
	double read, written;
	/* the address of an element is taken: all elements may be accessed */
	bool read_whole, written_whole;
};

/* The bytes of all arrays of a function, in one walk over its accesses. */
struct array_table {
	/* from the variable of an array's data to the array's index */
	struct pointer_map index;
	VEC(struct array_bytes) list;
	struct arena arena; /* of the table */
};

static struct array_bytes *
bytes_of(struct array_table *t, const struct buffer *b)
{
	int i = pointer_map_get(&t->index, b->data, -1);

	if (i < 0) {
		i = t->list.n;
		pointer_map_put(&t->index, b->data, i);
		vec_push(&t->arena, &t->list, ((struct array_bytes){ 0 }));
	}
	return &t->list.data[i];
}

/* The largest number of bytes of all runs of the access; infinite in a loop that
 * runs until a condition holds. */
static double
access_bytes(struct module *m, const struct access *x)
{
	double times = x->load != NULL ? x->load->type.lanes
				       : x->at->args[0]->type.lanes;

	for (const struct stmt *s = x->at; s != NULL; s = s->parent) {
		times *= s->kind == STMT_FOR
				 ? (double)loop_most_iterations(m, s)
			 : s->kind == STMT_WHILE ? (double)INFINITY
						 : 1;
	}
	return times * buffer_element_bytes(x->buffer) / x->buffer->type.lanes;
}

/* Fills the table with the arrays of f. The caller releases t->arena. */
static void
measure_arrays(const struct func *f, struct array_table *t)
{
	struct module *m = f->module;
	struct access_list list = accesses_of(f, f->body, NULL);

	pointer_map_init(&t->index, &t->arena);
	for (int i = 0; i < list.list.n; i++) {
		const struct access *x = &list.list.data[i];
		struct array_bytes *b = bytes_of(t, x->buffer);

		if (x->address) {
			b->read_whole = b->written_whole = true;
		} else if (x->load != NULL) {
			b->read += access_bytes(m, x);
		} else {
			b->written += access_bytes(m, x);
		}
	}
}

/* The largest number of bytes of the argument that the function accesses. These
 * are not all of its bytes if the function accesses few elements, such as one
 * row of a table for each index. whole: an element's address is taken. */
static int64_t
accessed_bytes(const struct kernel_arg *arg, double bytes, bool whole)
{
	int64_t all = arg_bytes(arg);

	return !whole && bytes > 0 && bytes < (double)all ? (int64_t)bytes
							  : all;
}

void
kernel_count(struct kernel *k)
{
	struct work work = count_func(k->func, NULL);
	struct array_table t = { 0 };

	arena_init(&t.arena);
	/* parts of a choice are fractions, of which a loop has whole ones */
	k->flops = round(work.floats);
	k->int_ops = round(work.ints);
	k->counts_vary = work.by_values;
	measure_arrays(k->func, &t);
	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];

		if (arg->buffer != NULL) {
			const struct array_bytes *b = bytes_of(&t, arg->buffer);

			arg->most_read_bytes = b->read_whole ? INFINITY
							     : b->read;
		}
	}
	arena_release(&t.arena);
}

/* Adds the bytes that the kernel reads and writes of each argument: reads as
 * they are defined, writes as they are lowered, with borders. */
static void
measure_bytes(struct kernel *k)
{
	struct array_table t = { 0 };

	arena_init(&t.arena);
	if (k->group->region == NULL) {
		measure_arrays(k->func, &t);
	}
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		struct array_bytes b = { 0 };
		int64_t read;

		if (arg->kind == ARG_SCRATCH) {
			continue;
		}
		if (arg->buffer != NULL && k->group->region == NULL) {
			b = *bytes_of(&t, arg->buffer);
		}
		read = arg->read ? accessed_bytes(arg, arg->most_read_bytes,
						  false)
				 : 0;
		k->read_bytes += read;
		k->write_bytes += arg->written ? accessed_bytes(arg, b.written,
								b.written_whole)
					       : 0;
		k->weight_bytes += arg->kind == ARG_WEIGHT ? read : 0;
	}
	arena_release(&t.arena);
}

void
kernel_measure(struct kernel *k)
{
	k->local_bytes = lower_stack_bytes(k->func);
	k->forbids_contraction = func_forbids_contraction(k->func);
	for (int i = 0; i < k->group->nodes.n; i++) {
		const struct node *n = k->group->nodes.data[i];
		int64_t macs = op_macs(n);

		k->macs += macs;
		k->int_macs |= macs > 0 && !dtype_is_float(n->inputs[0]->type);
	}
	if (k->group->region != NULL) {
		k->flops = 2 * (double)k->macs;
		k->int_ops = 0;
	}
	measure_bytes(k);
}
