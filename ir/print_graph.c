/* SPDX-License-Identifier: Apache-2.0 */
/* The readable text form of graphs:
 *
 *	graph mnist
 *	  input Input3: float32[1, 1, 28, 28]
 *	  const Parameter5: float32[8, 1, 5, 5]
 *	  const scaled: float32[8] = Mul(a, b)
 *	  Plus30: float32[1, 8, 28, 28] = Conv (Input3, Parameter5) {group = 1}
 *	  output Plus30
 *
 * What a backend takes says so behind it; regions, where there are some, stand
 * as lines "region NAME:" before their nodes:
 *
 *	  region cblas_0:
 *	    y: float32[8] = MatMul (x, w)  # cblas.product product
 *
 * Groups, where fusion made them, stand as lines "group 3 (Conv):" before
 * their nodes. */
#include "graph.h"
#include "graph_region.h"

#define SMALL_CONSTANT 8 /* constants of so many elements are shown whole */

static void
print_name(const char *name, struct strbuf *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789_./:-";

	if (*name && name[strspn(name, plain)] == '\0') {
		strbuf_puts(out, name);
		return;
	}
	strbuf_putc(out, '"');
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '"' || c == '\\') {
			strbuf_printf(out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(out, "\\x%02x", c);
		} else {
			strbuf_putc(out, (char)c);
		}
	}
	strbuf_putc(out, '"');
}

void
tensor_print_type(const struct tensor *t, struct strbuf *out)
{
	strbuf_puts(out, t->typed ? dtype_name(t->type) : "?");
	if (t->ndim < 0) {
		strbuf_puts(out, "[?]");
		return;
	}
	strbuf_putc(out, '[');
	for (int i = 0; i < t->ndim; i++) {
		int64_t extent;

		if (i > 0) {
			strbuf_puts(out, ", ");
		}
		if (expr_is_int(t->shape[i], &extent)) {
			strbuf_printf(out, "%lld", (long long)extent);
		} else {
			expr_print(t->shape[i], out);
		}
	}
	strbuf_putc(out, ']');
}

static void
print_typed(const struct tensor *t, struct strbuf *out)
{
	print_name(t->name, out);
	strbuf_puts(out, ": ");
	tensor_print_type(t, out);
}

static void
print_number(struct dtype type, union number v, struct strbuf *out)
{
	if (dtype_is_float(type)) {
		strbuf_printf(out, "%.9g", v.f);
	} else if (dtype_is_signed(type)) {
		strbuf_printf(out, "%lld", (long long)v.i);
	} else {
		strbuf_printf(out, "%llu", (unsigned long long)v.u);
	}
}

static void
print_value(const struct value *v, struct strbuf *out)
{
	if (!v->data) {
		strbuf_puts(out, " = splat ");
		print_number(v->type, v->fill, out);
		return;
	}
	if (v->elems > SMALL_CONSTANT) {
		return;
	}
	strbuf_puts(out, " = {");
	for (int64_t i = 0; i < v->elems; i++) {
		strbuf_puts(out, i > 0 ? ", " : "");
		print_number(v->type, number_load(v->type, v->data, (size_t)i),
			     out);
	}
	strbuf_putc(out, '}');
}

static void
print_attr(const struct attr *a, struct strbuf *out)
{
	strbuf_printf(out, "%s = ", a->name);
	switch (a->kind) {
	case ATTR_INT:
		strbuf_printf(out, "%lld", (long long)a->i);
		break;
	case ATTR_FLOAT:
		strbuf_printf(out, "%.9g", a->f);
		break;
	case ATTR_STRING:
		print_name(a->s, out);
		break;
	case ATTR_INTS:
	case ATTR_FLOATS:
	case ATTR_STRINGS:
		strbuf_putc(out, '[');
		for (int i = 0; i < a->n; i++) {
			strbuf_puts(out, i > 0 ? ", " : "");
			if (a->kind == ATTR_INTS) {
				strbuf_printf(out, "%lld",
					      (long long)a->ints[i]);
			} else if (a->kind == ATTR_FLOATS) {
				strbuf_printf(out, "%.9g", a->floats[i]);
			} else {
				print_name(a->strings[i], out);
			}
		}
		strbuf_putc(out, ']');
		break;
	case ATTR_TENSOR:
		strbuf_printf(out, "tensor %s of %lld",
			      dtype_name(a->tensor->type),
			      (long long)a->tensor->elems);
		break;
	case ATTR_GRAPH:
		strbuf_puts(out, "graph ");
		print_name(a->graph->name, out);
		break;
	}
}

static void
print_call(const struct node *n, struct strbuf *out)
{
	if (*n->domain) {
		strbuf_printf(out, "%s.", n->domain);
	}
	strbuf_puts(out, n->op_type);
	if (*n->name) {
		strbuf_putc(out, ' ');
		print_name(n->name, out);
	}
	strbuf_puts(out, " (");
	for (int i = 0; i < n->n_inputs; i++) {
		strbuf_puts(out, i > 0 ? ", " : "");
		if (n->inputs[i]) {
			print_name(n->inputs[i]->name, out);
		} else {
			strbuf_putc(out, '_');
		}
	}
	strbuf_putc(out, ')');
	for (int i = 0; i < n->attrs.n; i++) {
		strbuf_puts(out, i > 0 ? ", " : " {");
		print_attr(&n->attrs.data[i], out);
	}
	strbuf_puts(out, n->attrs.n > 0 ? "}" : "");
}

void
node_print(const struct node *n, struct strbuf *out)
{
	for (int i = 0; i < n->n_outputs; i++) {
		strbuf_puts(out, i > 0 ? ", " : "");
		if (n->outputs[i]) {
			print_typed(n->outputs[i], out);
		} else {
			strbuf_putc(out, '_');
		}
	}
	strbuf_puts(out, " = ");
	print_call(n, out);
}

static void
print_constants(const struct graph *g, struct strbuf *out)
{
	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (!tensor_is_constant(t) || t->producer) {
			continue;
		}
		strbuf_puts(out, "  const ");
		print_typed(t, out);
		if (t->value) {
			print_value(t->value, out);
		} else {
			strbuf_puts(out, " = ");
			print_call(t->recipe, out);
			if (t->output_index > 0) {
				strbuf_printf(out, "[%d]", t->output_index);
			}
		}
		strbuf_putc(out, '\n');
	}
}

/* What a backend takes, and as what. */
static void
print_role(const struct node *n, struct strbuf *out)
{
	const struct match_node *role = region_role(n);

	if (role != NULL) {
		strbuf_printf(out, "  # %s.%s", n->match->backend_name,
			      n->match->pattern);
		if (role->follower != NULL) {
			strbuf_printf(out, ", %d %s", role->step,
				      role->follower);
		}
		if (role->follower == NULL ||
		    strcmp(role->follower, role->role) != 0) {
			strbuf_printf(out, " %s", role->role);
		}
	}
}

static void
print_nodes(const struct graph *g, struct strbuf *out)
{
	const struct graph_region *inside = NULL;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		const struct graph_region *r = n->match ? n->match->region
							: NULL;

		if (r != NULL && r != inside) {
			strbuf_printf(out, "  region %s:\n", r->name);
		}
		inside = r;
		strbuf_puts(out, r != NULL ? "    " : "  ");
		node_print(n, out);
		print_role(n, out);
		strbuf_putc(out, '\n');
	}
}

static void
print_groups(const struct graph *g, struct strbuf *out)
{
	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];

		strbuf_printf(out, "  %s %d (%s):\n",
			      group->is_view ? "view" : "group", group->id,
			      group->region != NULL ? group->region->name
						    : group->anchor->op_type);
		for (int k = 0; k < group->nodes.n; k++) {
			strbuf_puts(out, "    ");
			node_print(group->nodes.data[k], out);
			strbuf_putc(out, '\n');
		}
	}
}

void
graph_print(const struct graph *g, struct strbuf *out)
{
	strbuf_puts(out, "graph ");
	print_name(g->name, out);
	strbuf_putc(out, '\n');
	for (int i = 0; i < g->dims.n; i++) {
		const struct var *v = g->dims.data[i];

		strbuf_printf(out, "  dim %s: %lld..%lld\n", v->name,
			      (long long)v->min, (long long)v->max);
	}
	for (int i = 0; i < g->inputs.n; i++) {
		strbuf_puts(out, "  input ");
		print_typed(g->inputs.data[i], out);
		strbuf_putc(out, '\n');
	}
	print_constants(g, out);
	if (g->groups.n > 0) {
		print_groups(g, out);
	} else {
		print_nodes(g, out);
	}
	for (int i = 0; i < g->outputs.n; i++) {
		strbuf_puts(out, "  output ");
		print_name(g->outputs.data[i]->name, out);
		strbuf_putc(out, '\n');
	}
}
