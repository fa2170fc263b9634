/* SPDX-License-Identifier: Apache-2.0 */
/* Building graphs: tensors by unique name, constants, nodes. */
#include <limits.h>

#include "graph.h"
#include "secret_hash.h"
#include "size_bounds.h"
#include "text.h"

/* The slot of the tensor with this name, or the free slot where it would be
 * inserted. */
static struct tensor **
name_slot(const struct name_table *table, const char *name)
{
	uint32_t i = secret_hash(name, strlen(name)) & (table->cap - 1);

	while (table->slot[i] && strcmp(table->slot[i]->name, name) != 0) {
		i = (i + 1) & (table->cap - 1);
	}
	return &table->slot[i];
}

static void
name_table_add(struct graph *g, struct tensor *t)
{
	struct name_table *table = &g->names;

	if (table->n * 2 >= table->cap) {
		struct name_table old = *table;

		table->cap = old.cap ? old.cap * 2 : 64;
		table->slot = arena_array(&g->module->arena, struct tensor *,
					  table->cap);
		for (uint32_t i = 0; i < old.cap; i++) {
			if (old.slot[i]) {
				*name_slot(table,
					   old.slot[i]->name) = old.slot[i];
			}
		}
	}
	*name_slot(table, t->name) = t;
	table->n++;
	t->next_number = 1;
}

/* If `name` is the name of a tensor followed by "_" and a number: returns this
 * tensor, and sets *number. Else NULL. */
static struct tensor *
numbered_tensor(const struct graph *g, const char *name, int *number)
{
	const char *end = strrchr(name, '_');
	int v = 0;

	for (const char *c = end ? end + 1 : "";
	     *c >= '0' && *c <= '9' && v < INT_MAX / 10 - 1; c++) {
		v = v * 10 + (*c - '0');
	}
	*number = v;
	return v > 0 ? graph_find_tensor(g,
					 arena_strndup(&g->module->arena, name,
						       (size_t)(end - name)))
		     : NULL;
}

/* Removes t from the table; the entries after its slot are inserted again, as
 * open addressing requires. */
static void
name_table_remove(struct graph *g, struct tensor *t)
{
	struct name_table *table = &g->names;
	struct tensor **slot = name_slot(table, t->name), *base;
	uint32_t i = (uint32_t)(slot - table->slot);
	int number;

	if (*slot != t) {
		return;
	}
	base = numbered_tensor(g, t->name, &number);
	if (base && number < base->next_number) {
		base->next_number = number;
	}
	*slot = NULL;
	for (i = (i + 1) & (table->cap - 1); table->slot[i];
	     i = (i + 1) & (table->cap - 1)) {
		struct tensor *moved = table->slot[i];

		table->slot[i] = NULL;
		*name_slot(table, moved->name) = moved;
	}
	table->n--;
}

struct graph *
graph_new(struct module *m, const char *name)
{
	struct graph *g = arena_new(&m->arena, struct graph);

	g->module = m;
	g->settings = &settings_none;
	g->name = arena_strdup(&m->arena, name ? name : "");
	return g;
}

struct tensor *
graph_find_tensor(const struct graph *g, const char *name)
{
	return g->names.cap ? *name_slot(&g->names, name) : NULL;
}

const char *
graph_fresh_name(struct graph *g, const char *base)
{
	const char *name = base && *base ? base : "t";
	struct tensor *taken = graph_find_tensor(g, name);

	if (!taken) {
		return arena_strdup(&g->module->arena, name);
	}
	base = name;
	for (;; taken->next_number++) {
		name = arena_printf(&g->module->arena, "%s_%d", base,
				    taken->next_number);
		if (!graph_find_tensor(g, name)) {
			return name;
		}
	}
}

struct tensor *
graph_tensor(struct graph *g, const char *name)
{
	struct tensor *t = arena_new(&g->module->arena, struct tensor);

	t->name = graph_fresh_name(g, name);
	t->id = g->tensors.n;
	t->ndim = -1;
	vec_push(&g->module->arena, &g->tensors, t);
	name_table_add(g, t);
	return t;
}

void
graph_rename(struct graph *g, struct tensor *t, const char *name)
{
	name_table_remove(g, t);
	t->name = graph_fresh_name(g, name);
	name_table_add(g, t);
}

/* Marks t and the tensors that its recipe reads, directly or not. `open` is a
 * stack with room for all tensors. */
static void
mark_used(const struct tensor *t, bool *used, const struct tensor **open)
{
	int n = 0;

	if (!used[t->id]) {
		open[n++] = t;
		used[t->id] = true;
	}
	while (n > 0) {
		const struct node *recipe = open[--n]->recipe;

		for (int k = 0; recipe && k < recipe->n_inputs; k++) {
			const struct tensor *in = recipe->inputs[k];

			if (in && !used[in->id]) {
				open[n++] = in;
				used[in->id] = true;
			}
		}
	}
}

void
graph_drop_unused_tensors(struct graph *g)
{
	struct arena *a = &g->module->arena;
	bool *used = arena_array(a, bool, g->tensors.n + 1);
	const struct tensor **open = arena_array(a, const struct tensor *,
						 g->tensors.n + 1);
	int n = 0;

	for (int i = 0; i < g->tensors.n; i++) {
		g->tensors.data[i]->id = i;
	}
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];

		if (t->is_input || t->is_output || t->producer || t->uses.n) {
			mark_used(t, used, open);
		}
	}
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];

		if (used[i]) {
			t->id = n;
			g->tensors.data[n++] = t;
		} else {
			name_table_remove(g, t);
		}
	}
	g->tensors.n = n;
}

static void
set_const_shape(struct module *m, struct tensor *t, int ndim,
		const int64_t *shape)
{
	t->ndim = ndim;
	t->shape = arena_exprs(&m->arena, ndim + 1);
	for (int i = 0; i < ndim; i++) {
		t->shape[i] = expr_index(m, shape[i]);
	}
}

struct tensor *
graph_constant(struct graph *g, const char *base, struct dtype type, int ndim,
	       const int64_t *shape, const void *data)
{
	struct tensor *t = graph_tensor(g, base);
	struct value *v = arena_new(&g->module->arena, struct value);

	t->type = type;
	t->typed = true;
	set_const_shape(g->module, t, ndim, shape);
	v->type = type;
	v->data = data;
	v->elems = 1;
	for (int i = 0; i < ndim; i++) {
		v->elems *= shape[i];
	}
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(type);
	t->value = v;
	return t;
}

struct tensor *
graph_constant_ints(struct graph *g, const char *base, int n,
		    const int64_t *values)
{
	struct module *m = g->module;
	int64_t shape = n;
	const void *data = arena_copy(&m->arena, values,
				      sizeof(int64_t) * (size_t)n);
	struct tensor *t = graph_constant(g, base, dtype_of(DT_I64), 1, &shape,
					  data);

	t->n_elems = n;
	t->elems = arena_exprs(&m->arena, n + 1);
	for (int i = 0; i < n; i++) {
		t->elems[i] = expr_index(m, values[i]);
	}
	return t;
}

static void
copy_links(struct graph *g, struct node *n, struct tensor *const *inputs,
	   struct tensor *const *outputs)
{
	struct arena *a = &g->module->arena;

	n->inputs = arena_array(a, struct tensor *, n->n_inputs + 1);
	n->outputs = arena_array(a, struct tensor *, n->n_outputs + 1);
	for (int i = 0; i < n->n_inputs; i++) {
		node_set_input(n, i, inputs[i]);
	}
	for (int i = 0; i < n->n_outputs; i++) {
		n->outputs[i] = outputs[i];
		if (outputs[i]) {
			outputs[i]->producer = n;
			outputs[i]->output_index = i;
		}
	}
}

struct node *
graph_node_at(struct graph *g, int pos, const char *domain, const char *op_type,
	      const char *name, struct tensor *const *inputs, int n_inputs,
	      struct tensor *const *outputs, int n_outputs)
{
	struct arena *a = &g->module->arena;
	struct node *n = arena_new(a, struct node);

	n->op_type = arena_strdup(a, op_type);
	n->domain = arena_strdup(a, domain ? domain : "");
	n->name = arena_strdup(a, name ? name : "");
	n->id = g->next_node_id++;
	n->n_inputs = n_inputs;
	n->n_outputs = n_outputs;
	n->graph = g;
	n->group = -1;
	copy_links(g, n, inputs, outputs);
	vec_push(a, &g->nodes, n);
	if (pos >= 0 && pos < g->nodes.n - 1) {
		struct node **at = &g->nodes.data[pos];

		memmove(at + 1, at,
			sizeof *at * (size_t)(g->nodes.n - 1 - pos));
		*at = n;
	}
	return n;
}

void
graph_assume(struct graph *g, const char *text)
{
	struct arena *a = &g->module->arena;

	text = text_cut(a, text, DIAG_WORD_BYTES, DIAG_MESSAGE_BYTES);
	for (int i = 0; i < g->assumptions.n; i++) {
		if (strcmp(g->assumptions.data[i], text) == 0) {
			return;
		}
	}
	vec_push(a, &g->assumptions, text);
}

struct node *
graph_node(struct graph *g, const char *domain, const char *op_type,
	   const char *name, struct tensor *const *inputs, int n_inputs,
	   struct tensor *const *outputs, int n_outputs)
{
	return graph_node_at(g, -1, domain, op_type, name, inputs, n_inputs,
			     outputs, n_outputs);
}

bool
tensor_is_constant(const struct tensor *t)
{
	return t->value || t->recipe;
}

/* Sets *elems to the product of the numbers that `size` returns for the
 * dimensions. False if `size` fails for a dimension, or if the product is too
 * large. */
static bool
elems_of(const struct tensor *t,
	 bool (*size)(const struct expr *extent, int64_t *v), int64_t *elems)
{
	int64_t product = 1;

	if (t->ndim < 0) {
		return false;
	}
	for (int i = 0; i < t->ndim; i++) {
		int64_t extent;

		if (!size(t->shape[i], &extent) ||
		    __builtin_mul_overflow(product, extent, &product)) {
			return false;
		}
	}
	*elems = product;
	return true;
}

bool
tensor_const_elems(const struct tensor *t, int64_t *elems)
{
	return elems_of(t, expr_is_int, elems);
}

static bool
least_size(const struct expr *extent, int64_t *least)
{
	int64_t most;

	return size_bounds(extent, least, &most) && *least >= 0;
}

bool
tensor_min_elems(const struct tensor *t, int64_t *elems)
{
	return elems_of(t, least_size, elems);
}

bool
tensor_max_elems(const struct tensor *t, int64_t *elems)
{
	return elems_of(t, size_max, elems);
}

int
group_index(const struct group *group, const struct node *n)
{
	return vec_find(&group->nodes, n);
}

void
node_add_output(struct node *n, struct tensor *t)
{
	struct tensor **outputs = arena_array(&n->graph->module->arena,
					      struct tensor *,
					      n->n_outputs + 1);

	memcpy(outputs, n->outputs, sizeof *outputs * (size_t)n->n_outputs);
	outputs[n->n_outputs] = t;
	t->producer = n;
	t->output_index = n->n_outputs++;
	n->outputs = outputs;
}

int
node_run_sizes(const struct node *n)
{
	return strcmp(n->domain, "tirc") == 0 &&
			       strcmp(n->op_type, "RunSize") == 0
		       ? (int)node_attr_int(n, "first", 0)
		       : -1;
}

struct tensor *
graph_view_root(const struct graph *g, struct tensor *t)
{
	struct node *n;

	while ((n = t->producer) != NULL && n->group >= 0 &&
	       g->groups.data[n->group]->is_view &&
	       n->inputs[0]->part_of != t) {
		t = n->inputs[0];
	}
	return t;
}

struct node *
graph_run_size(const struct graph *g, const struct var *v, int *index)
{
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		int first = node_run_sizes(n);
		int64_t count = 0;

		if (first < 0 || !tensor_const_elems(n->outputs[0], &count)) {
			continue;
		}
		for (int k = 0; k < count; k++) {
			if (g->run_sizes.data[first + k].var == v) {
				*index = k;
				return n;
			}
		}
	}
	return NULL;
}

struct dim_step
graph_given_dim(const struct graph *g, struct var *dim)
{
	for (int i = 0; i < g->steps.n; i++) {
		if (g->steps.data[i].var == dim) {
			return g->steps.data[i];
		}
	}
	return (struct dim_step){ dim, dim, 1 };
}

/* Replaces a divided dimension by the size that the caller of the model gives:
 * n_8 * 16 becomes 2 * n, and n_8 alone becomes n // 8. */
static const struct expr *
restore_given(void *ctx, const struct expr *e)
{
	const struct graph *g = *(const struct graph **)ctx;
	struct module *m = g->module;
	bool is_product = e->kind == EXPR_MUL;
	const struct expr *atom = is_product ? e->args[0] : e;
	int64_t by = 1;

	if (atom->kind != EXPR_VAR ||
	    (is_product && !expr_is_int(e->args[1], &by))) {
		return NULL;
	}
	for (int i = 0; i < g->steps.n; i++) {
		const struct dim_step *s = &g->steps.data[i];
		const struct expr *n = s->given->expr;

		if (s->var != atom->u.var) {
			continue;
		}
		if (by % s->step == 0) {
			return expr_mul(m, n,
					expr_int(m, n->type, by / s->step));
		}
		n = expr_floordiv(m, n, expr_int(m, n->type, s->step));
		return expr_mul(m, n, expr_int(m, n->type, by));
	}
	return NULL;
}

const struct expr *
graph_given_size(const struct graph *g, const struct expr *e)
{
	return g->steps.n > 0 ? expr_rewrite(g->module, e, restore_given, &g)
			      : e;
}

void
graph_check(struct graph *g, const struct expr *condition)
{
	struct size_check check = { condition, NULL };

	for (int i = 0; i < g->checks.n; i++) {
		if (g->checks.data[i].condition == condition &&
		    g->checks.data[i].unless == NULL) {
			return;
		}
	}
	vec_push(&g->module->arena, &g->checks, check);
}

bool
size_check_uses(const struct size_check *c, const struct var *v)
{
	return expr_uses_var(c->condition, v) ||
	       (c->unless != NULL && expr_uses_var(c->unless, v));
}
