/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of nodes, and a node's place in messages. */
#include "graph.h"

const struct attr *
node_attr(const struct node *n, const char *name)
{
	for (int i = 0; i < n->attrs.n; i++) {
		if (strcmp(n->attrs.data[i].name, name) == 0) {
			return &n->attrs.data[i];
		}
	}
	return NULL;
}

int64_t
node_attr_int(const struct node *n, const char *name, int64_t def)
{
	const struct attr *a = node_attr(n, name);

	return a && a->kind == ATTR_INT ? a->i : def;
}

double
node_attr_float(const struct node *n, const char *name, double def)
{
	const struct attr *a = node_attr(n, name);

	if (a && a->kind == ATTR_INT) {
		return (double)a->i;
	}
	return a && a->kind == ATTR_FLOAT ? a->f : (double)(float)def;
}

const char *
node_attr_string(const struct node *n, const char *name, const char *def)
{
	const struct attr *a = node_attr(n, name);

	return a && a->kind == ATTR_STRING ? a->s : def;
}

int
node_attr_ints(const struct node *n, const char *name, const int64_t **values)
{
	const struct attr *a = node_attr(n, name);

	if (!a || a->kind != ATTR_INTS) {
		*values = NULL;
		return 0;
	}
	*values = a->ints;
	return a->n;
}

void
node_set_attr(struct graph *g, struct node *n, const struct attr *attr)
{
	for (int i = 0; i < n->attrs.n; i++) {
		if (strcmp(n->attrs.data[i].name, attr->name) == 0) {
			n->attrs.data[i] = *attr;
			return;
		}
	}
	vec_push(&g->module->arena, &n->attrs, *attr);
}

void
node_set_attr_int(struct graph *g, struct node *n, const char *name, int64_t v)
{
	struct attr a = { .kind = ATTR_INT, .i = v };

	a.name = arena_strdup(&g->module->arena, name);
	node_set_attr(g, n, &a);
}

void
node_set_attr_float(struct graph *g, struct node *n, const char *name, double v)
{
	struct attr a = { .kind = ATTR_FLOAT, .f = v };

	a.name = arena_strdup(&g->module->arena, name);
	node_set_attr(g, n, &a);
}

void
node_set_attr_string(struct graph *g, struct node *n, const char *name,
		     const char *v)
{
	struct attr a = { .kind = ATTR_STRING, .s_len = strlen(v) };

	a.name = arena_strdup(&g->module->arena, name);
	a.s = arena_strdup(&g->module->arena, v);
	node_set_attr(g, n, &a);
}

void
node_set_attr_ints(struct graph *g, struct node *n, const char *name,
		   const int64_t *v, int count)
{
	struct attr a = { .kind = ATTR_INTS, .n = count };

	a.name = arena_strdup(&g->module->arena, name);
	a.ints = arena_copy(&g->module->arena, v, sizeof *v * (size_t)count);
	node_set_attr(g, n, &a);
}

void
node_remove_attr(struct node *n, const char *name)
{
	for (int i = 0; i < n->attrs.n; i++) {
		struct attr *a = &n->attrs.data[i];

		if (strcmp(a->name, name) == 0) {
			memmove(a, a + 1,
				sizeof *a * (size_t)(n->attrs.n - 1 - i));
			n->attrs.n--;
			return;
		}
	}
}

/* Have a and b the same bits? With this comparison 0 differs from -0, and a NaN
 * equals itself. */
static bool
same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

static bool
same_tensor(const struct attr *a, const struct attr *b)
{
	const struct value *v = a->tensor, *w = b->tensor;

	if (v == w) {
		return true;
	}
	if (!v || !w || !dtype_equal(v->type, w->type) ||
	    v->bytes != w->bytes || !v->data || !w->data ||
	    a->tensor_ndim != b->tensor_ndim) {
		return false;
	}
	for (int i = 0; i < a->tensor_ndim; i++) {
		if (a->tensor_shape[i] != b->tensor_shape[i]) {
			return false;
		}
	}
	return memcmp(v->data, w->data, v->bytes) == 0;
}

bool
attr_equal(const struct attr *a, const struct attr *b)
{
	if (a->kind != b->kind || strcmp(a->name, b->name) != 0 ||
	    a->n != b->n) {
		return false;
	}
	switch (a->kind) {
	case ATTR_INT:
		return a->i == b->i;
	case ATTR_FLOAT:
		return same_double(a->f, b->f);
	case ATTR_STRING:
		return a->s_len == b->s_len &&
		       memcmp(a->s, b->s, a->s_len) == 0;
	case ATTR_INTS:
		return a->n == 0 || memcmp(a->ints, b->ints,
					   sizeof *a->ints * (size_t)a->n) == 0;
	case ATTR_FLOATS:
		return a->n == 0 ||
		       memcmp(a->floats, b->floats,
			      sizeof *a->floats * (size_t)a->n) == 0;
	case ATTR_STRINGS:
		for (int i = 0; i < a->n; i++) {
			if (strcmp(a->strings[i], b->strings[i]) != 0) {
				return false;
			}
		}
		return true;
	case ATTR_TENSOR:
		return same_tensor(a, b);
	case ATTR_GRAPH:
		return a->graph == b->graph;
	}
	return false;
}

struct node *
sole_user(const struct tensor *t)
{
	return t->uses.n == 1 && !t->is_output ? t->uses.data[0].node : NULL;
}

bool
tensor_same_shape(const struct tensor *a, const struct tensor *b)
{
	if (a->ndim < 0 || a->ndim != b->ndim) {
		return false;
	}
	for (int d = 0; d < a->ndim; d++) {
		int64_t x, y;

		if (a->shape[d] != b->shape[d] &&
		    !(expr_is_int(a->shape[d], &x) &&
		      expr_is_int(b->shape[d], &y) && x == y)) {
			return false;
		}
	}
	return true;
}

bool
tensor_same_type(const struct tensor *a, const struct tensor *b)
{
	return dtype_equal(a->type, b->type) && tensor_same_shape(a, b);
}

int
tensor_index(const struct tensor *t, struct tensor *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (list[i] == t) {
			return i;
		}
	}
	return -1;
}

const char *
node_key(const struct node *n)
{
	for (int i = 0; i < n->n_outputs; i++) {
		if (n->outputs[i] != NULL) {
			return n->outputs[i]->name;
		}
	}
	return NULL;
}

/* The position in the main graph of the node that has the origin, or whose
 * nested graph has it. */
static int
outermost_index(const struct graph *g, int origin)
{
	while (g->origins.data[origin].within >= 0) {
		origin = g->origins.data[origin].within;
	}
	return g->origins.data[origin].index;
}

/* The place of a node in messages: its name, or, if it has no name, that of its
 * first output: users find either name in the model. */
struct diag_place
node_place(const struct graph *g, const struct node *n)
{
	struct diag_place place = { .file = g->file };
	struct arena *a = &g->module->arena;
	int index = n->origins.n > 0 ? outermost_index(g, n->origins.data[0])
				     : n->id;
	const char *name = n->name;

	if (!*name && n->n_outputs > 0 && n->outputs[0]) {
		name = n->outputs[0]->name;
	}
	place.item = arena_printf(a, "node %d %s%s%s '%s'", index, n->domain,
				  *n->domain ? "." : "", n->op_type, name);
	return place;
}
