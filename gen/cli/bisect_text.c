/* SPDX-License-Identifier: Apache-2.0 */
/* The words of tirc bisect: its lines, and the names of nodes. */
#include <stdarg.h>
#include <string.h>

#include "bisect_cmd.h"

void
bisect_line(const struct bisecting *b, const char *stage, const char *fmt, ...)
{
	va_list ap;

	if (b->cli->quiet) {
		return;
	}
	say(stdout, "%s", stage);
	for (size_t i = strlen(stage); i < 10; i++) {
		say(stdout, " ");
	}
	va_start(ap, fmt);
	say_args(stdout, fmt, ap);
	va_end(ap);
	say(stdout, "\n");
}

/* "Conv 'conv1'" */
static const char *
named(struct arena *a, const char *op, const char *name)
{
	return name != NULL && name[0] != '\0'
		       ? arena_printf(a, "%s '%s'", op, name)
		       : op;
}

/* "Conv 'conv1'": a node of the model. */
static const char *
origin_text(struct arena *a, const struct graph *g, int origin)
{
	const struct origin *o = &g->origins.data[origin];

	return named(a, o->op_type, o->name);
}

const char *
bisect_node_text(struct arena *a, const struct graph *g, const struct node *n)
{
	const char *text = arena_printf(a, "node %s",
					named(a, n->op_type, n->name));
	const char *from = "";

	for (int i = 0; i < n->origins.n; i++) {
		const struct origin *o = &g->origins.data[n->origins.data[i]];

		if (n->origins.n == 1 && strcmp(o->op_type, n->op_type) == 0 &&
		    strcmp(o->name, n->name) == 0) {
			return text;
		}
		from = arena_printf(a, "%s%s%s", from, i > 0 ? ", " : "",
				    origin_text(a, g, n->origins.data[i]));
	}
	return n->origins.n > 0
		       ? arena_printf(a, "%s (of the model's %s)", text, from)
		       : text;
}

const char *
kernel_nodes_text(struct arena *a, const struct graph *g,
		  const struct kernel *k)
{
	bool *listed = arena_array(a, bool, g->origins.n + 1);
	const char *text = "";
	int n = 0;

	for (int i = 0; i < k->group->nodes.n; i++) {
		const struct node *node = k->group->nodes.data[i];

		for (int o = 0; o < node->origins.n; o++) {
			int origin = node->origins.data[o];

			if (!listed[origin]) {
				text = arena_printf(a, "%s%s%s", text,
						    n++ > 0 ? ", " : "",
						    origin_text(a, g, origin));
			}
			listed[origin] = true;
		}
	}
	return n == 0 ? arena_printf(a, "kernel %s", k->name)
		      : arena_printf(a, "kernel %s (node%s %s)", k->name,
				     n == 1 ? "" : "s", text);
}

const char *
bisect_kernel_text(const struct bisecting *b, const struct kernel *k)
{
	return kernel_nodes_text(b->a,
				 tirc_compiled_program(b->verify.fresh.t)
					 ->graph,
				 k);
}
