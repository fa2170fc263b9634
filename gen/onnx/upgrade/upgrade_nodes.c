/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers with which adapters change nodes and insert new ones. */
#include "ops.h"
#include "upgrade.h"

bool
upgrade_refuse(struct upgrade *u, const char *text)
{
	return diag_error(&u->imp->m->diags, DIAG_UNSUPPORTED,
			  node_place(u->g, u->node), "%s", text);
}

void
upgrade_set_n_inputs(struct upgrade *u, int n)
{
	struct node *node = u->node;
	struct tensor **old = node->inputs;
	int old_n = node->n_inputs;

	for (int i = n; i < old_n; i++) {
		node_set_input(node, i, NULL);
	}
	if (n > old_n) {
		node->inputs = arena_array(&u->imp->m->arena, struct tensor *,
					   n + 1);
		for (int i = 0; i < old_n; i++) {
			node->inputs[i] = old[i];
		}
	}
	node->n_inputs = n;
}

static const char *
output_name(const struct upgrade *u)
{
	for (int k = 0; k < u->node->n_outputs; k++) {
		if (u->node->outputs[k]) {
			return u->node->outputs[k]->name;
		}
	}
	return u->node->name;
}

const char *
upgrade_name(struct upgrade *u, const char *what)
{
	return arena_printf(&u->imp->tmp, "%s_%s", output_name(u), what);
}

struct tensor *
upgrade_tensor(struct upgrade *u, const char *what)
{
	return graph_tensor(u->g, upgrade_name(u, what));
}

void
upgrade_input_ints(struct upgrade *u, int i, const char *what,
		   const int64_t *values, int n)
{
	if (u->node->n_inputs <= i) {
		upgrade_set_n_inputs(u, i + 1);
	}
	node_set_input(u->node, i,
		       graph_constant_ints(u->g, upgrade_name(u, what), n,
					   values));
}

void
upgrade_input_scalar(struct upgrade *u, int i, const char *what,
		     struct dtype type, double value)
{
	union number from = { .f = value };
	void *data = arena_alloc(&u->imp->m->arena, 16);

	number_store(type, data, 0, number_cast(type, dtype_of(DT_F64), from));
	if (u->node->n_inputs <= i) {
		upgrade_set_n_inputs(u, i + 1);
	}
	node_set_input(u->node, i,
		       graph_constant(u->g, upgrade_name(u, what), type, 0,
				      NULL, data));
}

struct node *
upgrade_insert(struct upgrade *u, int pos, const char *op_type,
	       struct tensor **in, int n_in, struct tensor *out)
{
	struct importer *imp = u->imp;
	struct node *n = graph_node_at(u->g, pos, "", op_type, u->node->name,
				       in, n_in, &out, 1);

	for (int i = 0; i < u->node->origins.n; i++) {
		vec_push(&imp->m->arena, &n->origins, u->node->origins.data[i]);
	}
	while (imp->versions.n <= n->id) {
		vec_push(&imp->tmp, &imp->versions, GRAPH_CANONICAL_OPSET);
	}
	n->op = op_find("", op_type);
	return n;
}
