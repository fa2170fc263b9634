/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators, and the look-up of nodes' operators in it. */
#include "define.h"

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

bool
ops_resolve_from(struct graph *g, int first)
{
	bool ok = true;

	for (int i = first; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];

		if (n->op) {
			continue;
		}
		n->op = op_find(n->domain, n->op_type);
		if (!n->op) {
			ok = diag_error(&g->module->diags,
					DIAG_UNSUPPORTED_OPERATOR,
					node_place(g, n),
					"operator %s%s%s is not supported; "
					"express it by other operators or "
					"leave it out of the model",
					n->domain, n->domain[0] ? "." : "",
					n->op_type);
		}
	}
	return ok;
}

bool
ops_resolve(struct graph *g)
{
	return ops_resolve_from(g, 0);
}
