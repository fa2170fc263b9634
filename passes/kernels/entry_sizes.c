/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that are known only when the model runs, in the entry function: they
 * are read from the tensor that holds them, then checked, and then passed to
 * the following kernels and to the caller.
 *
 *   count(x, found)
 *   let y_count = found[0]:
 *     if y_count > 0:
 *       y(x, y_out, y_count)
 *     y_count_out[0] = y_count */
#include <assert.h>

#include "entry.h"

#include "iterate.h"
#include "size_bounds.h"

static int
body_of(const struct entry *e, int kernel)
{
	return kernel_body(e->p->kernels.data[kernel]);
}

/* The index of the last kernel that writes t; -1 if no kernel does. */
static int
last_writer(const struct entry *e, const struct tensor *t)
{
	for (int i = e->p->kernels.n - 1; i >= 0; i--) {
		const struct kernel *k = e->p->kernels.data[i];

		for (int a = 0; a < k->args.n; a++) {
			if (k->args.data[a].written &&
			    k->args.data[a].tensor == t) {
				return i;
			}
		}
	}
	return -1;
}

/* The index of the last kernel in the branches that the node (an EndIf) ends;
 * -1 if these branches have no kernels. */
static int
last_of_branches(const struct entry *e, const struct node *end)
{
	struct graph *g = e->p->graph;
	int i = e->p->kernels.n - 1;

	while (i >= 0 &&
	       !graph_body_within(g, body_of(e, i),
				  (int)node_attr_int(end, "then", 0)) &&
	       !graph_body_within(g, body_of(e, i),
				  (int)node_attr_int(end, "else", 0))) {
		i--;
	}
	return i;
}

static int complete_after(const struct entry *e, struct tensor **written,
			  int *body);

/* The index of the kernel after which all parts of a concatenation without a
 * copy are complete; -1 if t is another tensor. */
static int
last_of_parts(const struct entry *e, const struct tensor *t)
{
	const struct node *n = t->producer;
	int last = -1, body;

	for (int i = 0; n != NULL && i < n->n_inputs; i++) {
		struct tensor *part = n->inputs[i];
		int at;

		if (part == NULL || part->part_of != t) {
			return -1;
		}
		at = complete_after(e, &part, &body);
		last = at > last ? at : last;
	}
	return last;
}

/* The index of the kernel after which the tensor's bytes are complete; -1 if
 * they are an input's. *written is set to the tensor that owns the memory of
 * these bytes, and *body to the branch or loop whose statements follow the
 * kernel, or to 0. */
static int
complete_after(const struct entry *e, struct tensor **written, int *body)
{
	*body = 0;
	for (struct tensor *t = *written; t != NULL;
	     t = t->producer != NULL ? t->producer->inputs[0] : NULL) {
		int i = last_writer(e, t);

		i = i >= 0 ? i : last_of_parts(e, t);
		*written = t;
		if (i >= 0) {
			*body = body_of(e, i);
			return i;
		}
		if (t->producer != NULL && node_ends_if(t->producer)) {
			*body = t->producer->body;
			return last_of_branches(e, t->producer);
		}
	}
	return -1;
}

struct var *
entry_given(struct entry *e, const char *name, struct dtype type)
{
	name = arena_printf(&e->m->arena, "%s_given", name);
	return var_new(e->m, name_set_add(&e->names, name), type);
}

/* A load of element `index` of the tensor, in row-major order. */
static const struct expr *
load_size(struct entry *e, int kernel, struct tensor *t, int index)
{
	struct module *m = e->m;
	const struct expr *at = expr_i32(m, index);
	const struct expr *extent = expr_i32(m, index + 1);
	struct buffer_spec spec = {
		.name = t->name, .type = t->type, .ndim = 1, .shape = &extent
	};
	struct buffer *b;

	if (t->value != NULL && t->value->data != NULL) {
		return expr_int(m, t->type,
				number_load(t->type, t->value->data,
					    (size_t)index)
					.i);
	}
	b = buffer_new(m, &spec);
	b->data = entry_read(e, kernel >= 0 ? e->p->kernels.data[kernel] : NULL,
			     t)
			  ->u.var;
	return expr_load(m, b, &at, 1);
}

/* The last item in the list of the items that come after the kernel; -1 if the
 * list is empty. l->next gives the item before an item. */
static int
after(const struct after_kernel *l, int kernel)
{
	return l->last[kernel + 1];
}

static void
init_after(struct entry *e, struct after_kernel *l, int n)
{
	struct arena *a = &e->m->arena;

	l->last = arena_array(a, int, e->p->kernels.n + 1);
	l->next = arena_array(a, int, n + 1);
	for (int i = 0; i <= e->p->kernels.n; i++) {
		l->last[i] = -1;
	}
}

static void
add_after(struct after_kernel *l, int kernel, int item)
{
	l->next[item] = l->last[kernel + 1];
	l->last[kernel + 1] = item;
}

static bool
is_read_here(const struct entry *e, int size, int kernel, int body)
{
	return e->size_tensor[size] != NULL && e->read_after[size] == kernel &&
	       e->read_in[size] == body;
}

/* Are all sizes of check c known in the body after the kernel, but not before?
 * Checks that use no size that is read at run time are made first of all; sizes
 * of other branches have no variable there. */
static bool
becomes_known(const struct entry *e, const size_numbers *c, int kernel,
	      int body)
{
	bool here = c->n == 0 && body == 0;

	for (int k = 0; k < c->n; k++) {
		int i = c->data[k];

		if (e->size_tensor[i] == NULL ||
		    !graph_body_within(e->p->graph, body, e->read_in[i])) {
			return false;
		}
		here |= is_read_here(e, i, kernel, body);
	}
	return here;
}

static struct stmt *
refuse_unless(struct entry *e, const struct expr *holds, struct stmt *rest)
{
	struct func *f = e->f;
	struct stmt *no = stmt_evaluate(f, e->p->bad_size->expr);
	struct stmt *both[2] = { NULL, rest };

	if (e->p->target->single_exit) {
		return stmt_if(f, holds, rest, no);
	}
	both[0] = stmt_if(f, expr_not(e->m, holds), no, NULL);
	return stmt_seq(f, both, 2);
}

/* Puts before `rest` the checks that can be made in the body after the kernel,
 * and not earlier. */
static struct stmt *
check_sizes(struct entry *e, int kernel, int body, struct stmt *rest)
{
	const struct graph *g = e->p->graph;

	for (int i = after(&e->checks_after, kernel); i >= 0;
	     i = e->checks_after.next[i]) {
		if (becomes_known(e, &e->check_sizes[i], kernel, body)) {
			rest = refuse_unless(e, g->checks.data[i].condition,
					     rest);
		}
	}
	return rest;
}

/* Makes, for the size with this number, the statement: let n_read: i64 =
 * size[0]: if n_read is within the bounds: let n = n_read: rest */
static struct stmt *
read_size(struct entry *e, int number, struct stmt *rest)
{
	const struct run_size *s = &e->p->graph->run_sizes.data[number];
	struct module *m = e->m;
	struct tensor *t = e->size_tensor[number];
	const struct expr *value = e->size_value[number];
	const struct expr *x = value;
	struct var *wide = NULL;

	if (!s->proven) {
		wide = entry_given(e, s->var->name, t->type);
		x = wide->expr;
	}
	rest = stmt_let(e->f, s->var, expr_cast(m, s->var->type, x), rest);
	if (wide != NULL) {
		rest = refuse_unless(e,
				     expr_and(m,
					      expr_le(m,
						      expr_int(m, t->type,
							       s->var->min),
						      x),
					      expr_le(m, x,
						      expr_int(m, t->type,
							       s->var->max))),
				     rest);
		rest = stmt_let(e->f, wide, value, rest);
	}
	return rest;
}

/* Is v a factor of x, so that a tensor with the extent x has no elements if v
 * is 0? */
static bool
is_factor(const struct expr *x, const struct var *v)
{
	return (x->kind == EXPR_VAR && x->u.var == v) ||
	       (x->kind == EXPR_MUL &&
		(is_factor(x->args[0], v) || is_factor(x->args[1], v)));
}

static const struct expr *
both(struct module *m, const struct expr *a, const struct expr *b)
{
	return a == NULL ? b : expr_and(m, a, b);
}

/* For a device, which cannot launch a kernel with 0 threads: the condition that
 * each size of the kernel's result that is a formula, and may be 0, is above 0.
 * NULL if no such size may be 0, or if the kernel has several results. */
static const struct expr *
has_launch(const struct entry *e, const struct kernel *k)
{
	const struct expr *holds = NULL;
	const struct tensor *t = NULL;

	for (int a = 0; a < k->args.n; a++) {
		if (k->args.data[a].written && k->args.data[a].tensor != NULL) {
			if (t != NULL) {
				return NULL;
			}
			t = k->args.data[a].tensor;
		}
	}
	for (int d = 0; t != NULL && k->device != NULL && d < t->ndim; d++) {
		const struct expr *size = t->shape[d];

		if (size->kind != EXPR_VAR && size->kind != EXPR_INT &&
		    size_may_be_empty(size)) {
			holds = both(e->m, holds,
				     expr_lt(e->m,
					     expr_int(e->m, size->type, 0),
					     entry_wide(e, size)));
		}
	}
	return holds;
}

/* The condition that the kernel's results have elements; NULL if they always
 * have. */
static const struct expr *
has_results(const struct entry *e, const struct kernel *k)
{
	const struct expr *holds = has_launch(e, k);

	for (int i = 0; i < k->args.n; i++) {
		const struct var *v = k->args.data[i].var;
		bool empty = v != NULL && v->is_dim && v->min == 0;

		for (int a = 0; a < k->args.n && empty; a++) {
			const struct tensor *t = k->args.data[a].tensor;
			bool factor = !k->args.data[a].written || t == NULL;

			for (int d = 0; !factor && d < t->ndim; d++) {
				factor = is_factor(t->shape[d], v);
			}
			empty = factor;
		}
		if (empty) {
			const struct expr *some = expr_lt(e->m,
							  expr_int(e->m,
								   v->type, 0),
							  v->expr);

			holds = both(e->m, holds, some);
		}
	}
	return holds;
}

struct stmt *
entry_give_sizes(struct entry *e)
{
	struct module *m = e->m;
	VEC(struct stmt *) stores = { 0 };

	for (int i = 0; i < e->p->given_sizes.n; i++) {
		const struct given_size *s = &e->p->given_sizes.data[i];
		const struct expr *at = expr_i32(m, 0);

		vec_push(&m->arena, &stores,
			 stmt_store(e->f, s->buffer, s->size->expr, &at, 1));
	}
	return stmt_seq(e->f, stores.data, stores.n);
}

bool
entry_reads_after(const struct entry *e, int kernel, int body)
{
	for (int i = after(&e->sizes_after, kernel); i >= 0;
	     i = e->sizes_after.next[i]) {
		if (is_read_here(e, i, kernel, body)) {
			return true;
		}
	}
	return false;
}

void
entry_load_sizes(struct entry *e, int kernel, int body)
{
	for (int i = after(&e->sizes_after, kernel); i >= 0;
	     i = e->sizes_after.next[i]) {
		if (is_read_here(e, i, kernel, body)) {
			e->size_value[i] = load_size(e, kernel,
						     e->size_tensor[i],
						     e->size_index[i]);
		}
	}
}

struct stmt *
entry_with_sizes(struct entry *e, int kernel, int body, struct stmt *rest)
{
	rest = check_sizes(e, kernel, body, rest);
	for (int i = after(&e->sizes_after, kernel); i >= 0;
	     i = e->sizes_after.next[i]) {
		if (is_read_here(e, i, kernel, body)) {
			rest = read_size(e, i, rest);
		}
	}
	return rest;
}

struct stmt *
entry_divide_sizes(struct entry *e, struct stmt *rest)
{
	struct module *m = e->m;
	const struct graph *g = e->p->graph;

	for (int i = g->steps.n - 1; i >= 0; i--) {
		const struct dim_step *s = &g->steps.data[i];
		const struct expr *given = s->given->expr;
		const struct expr *step = expr_int(m, given->type, s->step);
		const struct expr *left = expr_binary(m, EXPR_TRUNCMOD, given,
						      step);

		rest = stmt_let(e->f, s->var,
				expr_binary(m, EXPR_DIV, given, step), rest);
		rest = refuse_unless(e,
				     expr_eq(m, left,
					     expr_int(m, given->type, 0)),
				     rest);
	}
	return rest;
}

/* Has the entry function read, before kernel k runs, all sizes on which the
 * nodes of k rely, and those for which its group, or a branch or loop around k,
 * waits? */
static bool
knows_sizes(const struct entry *e, const struct kernel *k)
{
	const struct graph *g = e->p->graph;
	const struct group *group = k->group;
	size_numbers sizes = { 0 };
	int body = kernel_body(k);

	for (int i = 0; i < group->nodes.n; i++) {
		graph_add_node_sizes(&e->numbers, group->nodes.data[i], &sizes);
	}
	for (;;) {
		for (int i = 0; i < group->waits.n; i++) {
			vec_push(&e->m->arena, &sizes, group->waits.data[i]);
		}
		if (body == 0) {
			break;
		}
		group = g->groups.data[g->bodies.data[body].end->group];
		body = g->bodies.data[body].parent;
	}
	for (int i = 0; i < sizes.n; i++) {
		if (e->size_tensor[sizes.data[i]] != NULL &&
		    e->size_value[sizes.data[i]] == NULL) {
			return false;
		}
	}
	return true;
}

struct stmt *
entry_call_some(struct entry *e, const struct kernel *k)
{
	struct stmt *call;

	assert(knows_sizes(e, k));
	e->some = has_results(e, k);
	call = entry_call(e, k);
	return e->some != NULL ? stmt_if(e->f, e->some, call, NULL) : call;
}

/* Sets *given to the variables in the outputs' shapes. The entry function stores
 * the run-time sizes among them for the caller (struct given_size). */
static void
find_given(const struct graph *g, struct arena *a, struct pointer_map *given)
{
	pointer_map_init(given, a);
	for (int i = 0; i < g->outputs.n; i++) {
		const struct tensor *t = g->outputs.data[i];
		struct tree_iter it = exprs_each_of(t->shape, t->ndim,
						    EXPR_VAR);
		const struct expr *e;

		while ((e = tree_next(&it)) != NULL) {
			pointer_map_add(given, e->u.var);
		}
	}
}

/* Finds for each check the sizes in it, and the last kernel after which one of
 * these sizes is read. */
static void
find_checked_sizes(struct entry *e)
{
	const struct graph *g = e->p->graph;

	e->check_sizes = arena_array(&e->m->arena, size_numbers,
				     g->checks.n + 1);
	init_after(e, &e->checks_after, g->checks.n);
	for (int i = 0; i < g->checks.n; i++) {
		size_numbers *sizes = &e->check_sizes[i];
		int kernel = -1;

		graph_add_sizes(&e->numbers, &g->checks.data[i].condition, 1,
				sizes);
		for (int k = 0; k < sizes->n; k++) {
			int at = e->read_after[sizes->data[k]];

			kernel = at > kernel ? at : kernel;
		}
		add_after(&e->checks_after, kernel, i);
	}
}

static void
add_given_size(struct entry *e, const struct var *v)
{
	const struct expr *one = expr_i32(e->m, 1);
	struct buffer_spec spec = {
		.name = name_set_add(&e->names,
				     arena_printf(&e->m->arena, "%s_out",
						  v->name)),
		.type = v->type,
		.ndim = 1,
		.shape = &one,
	};
	struct given_size given = { v, buffer_new(e->m, &spec) };

	func_add_param(e->f, given.buffer->data, given.buffer);
	vec_push(&e->m->arena, &e->p->given_sizes, given);
}

/* The number of the innermost loop body around `body`, or `body` itself if it
 * is the body of a loop; 0 if there is no loop around it. */
static int
loop_around(const struct graph *g, int body)
{
	while (body > 0 && !g->bodies.data[body].is_loop) {
		body = g->bodies.data[body].parent;
	}
	return body;
}

/* A tensor outside of the loop whose shape contains the size v, although each
 * iteration of the loop computes v anew; NULL if there is no such tensor. */
static const struct tensor *
sized_outside(struct graph *g, const struct var *v, int loop)
{
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		bool inside = graph_body_within(g, n->body, loop);

		for (int k = 0; k < n->n_outputs && !inside; k++) {
			const struct tensor *t = n->outputs[k];

			for (int d = 0; t != NULL && d < t->ndim; d++) {
				if (expr_uses_var(t->shape[d], v)) {
					return t;
				}
			}
		}
	}
	return NULL;
}

/* Can the entry function refuse a run because of the size s: is s in a checked
 * condition, or are its bounds not proven? */
static bool
is_checked(const struct graph *g, const struct run_size *s)
{
	for (int i = 0; i < g->checks.n; i++) {
		if (size_check_uses(&g->checks.data[i], s->var)) {
			return true;
		}
	}
	return !s->proven;
}

/* Can the size s have a different value in each iteration of the loop? If not,
 * reports a diagnostic and returns false. */
static bool
check_loop_size(const struct entry *e, const struct node *n,
		const struct run_size *s, int loop)
{
	struct graph *g = e->p->graph;
	const struct tensor *t = sized_outside(g, s->var, loop);

	if (t != NULL) {
		return diag_error(
			&e->m->diags, DIAG_UNSUPPORTED, node_place(g, n),
			"its size '%s' is known only when an iteration "
			"of a loop runs, and '%s', which all iterations "
			"share, has it; pad it to a constant size in "
			"the loop, or make the size constant with "
			"--const-input",
			s->var->name, t->name);
	}
	if (is_checked(g, s) && e->p->target->single_exit) {
		return diag_error(
			&e->m->diags, DIAG_UNSUPPORTED, node_place(g, n),
			"its size '%s' has to be checked in each "
			"iteration of a loop, which a function with "
			"one exit does not do; choose another target, "
			"or make the size constant with --const-input",
			s->var->name);
	}
	return true;
}

bool
entry_find_sizes(struct entry *e)
{
	struct graph *g = e->p->graph;
	struct arena *a = &e->m->arena;
	int n = g->run_sizes.n;
	bool checks = g->checks.n > 0 || g->steps.n > 0;
	struct pointer_map given;

	graph_number_sizes(g, &e->numbers);
	e->size_tensor = arena_array(a, struct tensor *, n + 1);
	e->size_index = arena_array(a, int, n + 1);
	e->read_after = arena_array(a, int, n + 1);
	e->read_in = arena_array(a, int, n + 1);
	e->size_value = arena_exprs(a, n + 1);
	init_after(e, &e->sizes_after, n);
	find_given(g, a, &given);
	for (int i = 0; i < n; i++) {
		const struct run_size *s = &g->run_sizes.data[i];
		struct node *node = graph_run_size(g, s->var,
						   &e->size_index[i]);
		int loop;

		e->read_after[i] = -1;
		if (node == NULL) {
			continue;
		}
		e->size_tensor[i] = node->outputs[0];
		e->read_after[i] = complete_after(e, &e->size_tensor[i],
						  &e->read_in[i]);
		add_after(&e->sizes_after, e->read_after[i], i);
		loop = loop_around(g, e->read_in[i]);
		if (loop > 0 && !check_loop_size(e, node, s, loop)) {
			return false;
		}
		name_set_add(&e->names, s->var->name);
		checks |= !s->proven;
		if (pointer_map_get(&given, s->var, 0)) {
			add_given_size(e, s->var);
		}
	}
	find_checked_sizes(e);
	if (checks) {
		e->p->bad_size = var_new(e->m,
					 name_set_add(&e->names, "bad_size"),
					 dtype_of(DT_I32));
		func_add_param(e->f, e->p->bad_size, NULL);
	}
	return true;
}
