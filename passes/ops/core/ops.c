/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators, and the look-up of nodes' operators in it. */
#include "define.h"

#include <stdlib.h>

static const struct op table[] = {
#define MAP(id, min, max, accepts, inf, fn)                                    \
	{ .name = #id,                                                         \
	  .domain = "",                                                        \
	  .min_inputs = min,                                                   \
	  .max_inputs = max,                                                   \
	  .min_outputs = 1,                                                    \
	  .max_outputs = 1,                                                    \
	  .types = TYPES_##accepts,                                            \
	  .fuse = (max) == 1 ? FUSE_ELEMENTWISE : FUSE_BROADCAST,              \
	  .infer = infer_##inf,                                                \
	  .define = define_map,                                                \
	  .body = body_##fn },
#define OP(id, dom, min_in, max_in, min_out, max_out, accepts, fusion, inf,    \
	   fn)                                                                 \
	{ .name = #id,                                                         \
	  .domain = dom,                                                       \
	  .min_inputs = min_in,                                                \
	  .max_inputs = max_in,                                                \
	  .min_outputs = min_out,                                              \
	  .max_outputs = max_out,                                              \
	  .types = TYPES_##accepts,                                            \
	  .fuse = FUSE_##fusion,                                               \
	  .infer = infer_##inf,                                                \
	  .define = define_##fn },
#include "ops.def"
#undef MAP
#undef OP
};

enum { TABLE_N = sizeof table / sizeof table[0] };

const struct op *
op_list(int *n)
{
	*n = TABLE_N;
	return table;
}

const struct op *
op_find(const char *domain, const char *name)
{
	if (strcmp(domain, "ai.onnx") == 0) {
		domain = "";
	}
	for (int i = 0; i < TABLE_N; i++) {
		if (table[i].name[0] == name[0] &&
		    strcmp(table[i].name, name) == 0 &&
		    strcmp(table[i].domain, domain) == 0) {
			return &table[i];
		}
	}
	return NULL;
}

static bool
same_operator(const struct node *a, const struct node *b)
{
	return strcmp(a->domain, b->domain) == 0 &&
	       strcmp(a->op_type, b->op_type) == 0;
}

/* Reports that the operator of the first node is unknown, and lists the n nodes
 * that have this operator. */
static void
refuse_operator(struct graph *g, struct node *const *nodes, int n)
{
	struct arena *a = &g->module->arena;
	const struct node *first = nodes[0];
	const char *list = "";

	for (int i = 0; i < n; i++) {
		const char *label = node_label(g, nodes[i]);

		if (i == 5) {
			list = arena_printf(a, "%s, …", list);
			break;
		}
		list = arena_printf(a, "%s%s%s", list, i > 0 ? ", " : "",
				    label);
	}
	diag_error(&g->module->diags, DIAG_UNSUPPORTED_OPERATOR,
		   node_place(g, first),
		   "operator %s%s%s%s is not supported; give an ONNX function "
		   "of that name with --functions FILE, express it by other "
		   "operators, or leave it out of the model",
		   first->domain, first->domain[0] ? "." : "", first->op_type,
		   n > 1 ? arena_printf(a, " (%d nodes: %s)", n, list) : "");
}

static int
by_operator(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a;
	const struct node *y = *(struct node *const *)b;
	int order = strcmp(x->domain, y->domain);

	if (order == 0) {
		order = strcmp(x->op_type, y->op_type);
	}
	return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

bool
ops_resolve_from(struct graph *g, int first)
{
	VEC(struct node *) unknown = { 0 };
	int n;

	for (int i = first; i < g->nodes.n; i++) {
		struct node *node = g->nodes.data[i];

		if (!node->op) {
			node->op = op_find(node->domain, node->op_type);
		}
		if (!node->op) {
			vec_push(&g->module->arena, &unknown, node);
		}
	}
	if (unknown.n == 0) {
		return true;
	}
	qsort(unknown.data, (size_t)unknown.n, sizeof *unknown.data,
	      by_operator);
	for (int i = 0; i < unknown.n; i += n) {
		for (n = 1; i + n < unknown.n &&
			    same_operator(unknown.data[i], unknown.data[i + n]);
		     n++) {
		}
		refuse_operator(g, unknown.data + i, n);
	}
	return false;
}

bool
ops_resolve(struct graph *g)
{
	return ops_resolve_from(g, 0);
}
