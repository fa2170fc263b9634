/* SPDX-License-Identifier: Apache-2.0 */
/* The graph after all passes: as a picture by Graphviz' dot, if it is
 * installed, and as a list of the tensors that each node reads. */
#include "picture.h"
#include "process.h"
#include "text.h"

/* MOST_NODES: a picture of more nodes is unreadable, and dot takes long.
 * NAME_BYTES: longer names in the picture are cut. */
enum { MOST_NODES = 1000, NAME_BYTES = 40, DOT_SECONDS = 60 };

/* A node's kernel: its index in the program, or -1. */
static int
kernel_of(const int *by_group, const struct node *n)
{
	return n->group >= 0 ? by_group[n->group] : -1;
}

/* By id of a group: the index of the kernel that was made of the group, or
 * -1. */
static int *
kernels_by_group(struct reporting *r)
{
	int *out = arena_array(r->a, int, r->g->groups.n + 1);

	for (int i = 0; i < r->g->groups.n; i++) {
		out[i] = -1;
	}
	for (int i = 0; i < r->p->kernels.n; i++) {
		const struct group *group = r->p->kernels.data[i]->group;

		if (group->id >= 0 && group->id < r->g->groups.n) {
			out[group->id] = i;
		}
	}
	return out;
}

/* -- the list -- */

static void
add_edges(struct reporting *r, const int *by_group)
{
	tdata_list(r->data, "edges");
	for (int i = 0; i < r->g->nodes.n; i++) {
		const struct node *n = r->g->nodes.data[i];
		int kernel = kernel_of(by_group, n);
		struct tdata *row = tdata_item(r->data, "edges");

		tdata_text(row, "node", node_label(r->g, n));
		tdata_text(row, "op", n->op_type);
		tdata_text(row, "kernel",
			   kernel >= 0 ? r->p->kernels.data[kernel]->name
				       : NULL);
		tdata_list(row, "reads");
		for (int k = 0; k < n->n_inputs; k++) {
			const struct tensor *t = n->inputs[k];

			if (t != NULL && !tensor_is_constant(t)) {
				tdata_text(tdata_item(row, "reads"), "tensor",
					   tensor_label(t));
			}
		}
	}
}

/* -- the picture -- */

/* Appends a name in dot's quotes: cut, and with hidden characters in their
 * visible form. */
static void
put_name(struct reporting *r, const char *name, struct strbuf *out)
{
	const char *cut = text_cut(r->a, name, NAME_BYTES, NAME_BYTES);
	struct strbuf visible;

	strbuf_init(&visible);
	text_put_visible(&visible, cut, strlen(cut), "");
	for (size_t i = 0; i < visible.len; i++) {
		if (visible.data[i] == '"' || visible.data[i] == '\\') {
			strbuf_putc(out, '\\');
		}
		strbuf_putc(out, visible.data[i]);
	}
	strbuf_release(&visible);
}

static void
put_node(struct reporting *r, const int *by_group, int i, struct strbuf *out)
{
	const struct node *n = r->g->nodes.data[i];
	int kernel = kernel_of(by_group, n);

	strbuf_printf(out, "n%d [id=\"picture-%d\", label=\"", i, i);
	put_name(r, n->op_type, out);
	strbuf_puts(out, "\\n");
	put_name(r, node_label(r->g, n), out);
	if (kernel < 0) {
		strbuf_puts(out, "\", fillcolor=\"#ffffff\"]\n");
		return;
	}
	strbuf_printf(out,
		      "\", fillcolor=\"%s\", URL=\"#kernel-%s\", "
		      "tooltip=\"kernel %s\"]\n",
		      kernel_colour(r->a, kernel),
		      r->p->kernels.data[kernel]->name,
		      r->p->kernels.data[kernel]->name);
}

/* Appends an oval for an input or output of the graph. */
static void
put_end(struct reporting *r, const char *kind, int i, const struct tensor *t,
	struct strbuf *out)
{
	strbuf_printf(out,
		      "%s%d [id=\"picture-%s-%d\", shape=oval, "
		      "fillcolor=\"#ffffff\", label=\"",
		      kind, i, kind, i);
	put_name(r, tensor_label(t), out);
	strbuf_puts(out, "\"]\n");
}

static void
put_edge(struct strbuf *out, int *edges, const char *from, int i,
	 const char *to, int k)
{
	strbuf_printf(out, "%s%d -> %s%d [id=\"picture-edge-%d\"]\n", from, i,
		      to, k, (*edges)++);
}

/* Appends the graph in dot's language. */
static void
put_graph(struct reporting *r, const int *by_group, struct strbuf *out)
{
	const struct graph *g = r->g;
	int *position = arena_array(r->a, int, g->next_node_id + 1);
	int edges = 0;

	strbuf_puts(out, "digraph graph_of_model {"
			 " graph [id=\"picture\", bgcolor=\"transparent\"]\n"
			 "node [shape=box, style=filled, fontsize=11, "
			 "fontname=\"sans-serif\"]\n");
	for (int i = 0; i < g->nodes.n; i++) {
		position[g->nodes.data[i]->id] = i;
		put_node(r, by_group, i, out);
	}
	for (int i = 0; i < g->inputs.n; i++) {
		put_end(r, "input", i, g->inputs.data[i], out);
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			const struct tensor *t = n->inputs[k];
			int input = t != NULL ? tensor_index(t, g->inputs.data,
							     g->inputs.n)
					      : -1;

			if (input >= 0) {
				put_edge(out, &edges, "input", input, "n", i);
			} else if (t != NULL && t->producer != NULL) {
				put_edge(out, &edges, "n",
					 position[t->producer->id], "n", i);
			}
		}
	}
	for (int i = 0; i < g->outputs.n; i++) {
		const struct tensor *t = g->outputs.data[i];

		put_end(r, "output", i, t, out);
		if (t->producer != NULL) {
			put_edge(out, &edges, "n", position[t->producer->id],
				 "output", i);
		}
	}
	strbuf_puts(out, "}\n");
}

/* Runs dot on the text. Sets *svg to the picture's <svg> element and returns
 * NULL, or returns the reason why no picture was made. */
static const char *
run_dot(struct reporting *r, const struct strbuf *text, const char **svg)
{
	struct command command = { 0 };
	struct strbuf out;
	const struct process process = {
		.command = &command,
		.input = text->data,
		.input_bytes = text->len,
		.out = &out,
		.is_quiet = true,
		.most_seconds = DOT_SECONDS,
	};
	const char *why, *start;

	command_add_word(r->a, &command, "dot");
	command_add_word(r->a, &command, "-Tsvg");
	strbuf_init(&out);
	why = process_run(r->a, &process);
	start = why == NULL && out.data != NULL ? strstr(out.data, "<svg")
						: NULL;
	*svg = start != NULL ? arena_strdup(r->a, start) : NULL;
	if (why == NULL && start == NULL) {
		why = "gives no picture";
	}
	strbuf_release(&out);
	return why;
}

void
add_graph_picture(struct reporting *r)
{
	const int *by_group = kernels_by_group(r);
	const char *svg = NULL, *why = NULL;
	struct strbuf text;

	add_edges(r, by_group);
	if (r->g->nodes.n > MOST_NODES) {
		why = arena_printf(r->a,
				   "There is no picture: the graph has %d "
				   "nodes, more than a page can show.",
				   r->g->nodes.n);
	} else if (r->request->form == REPORT_HTML) {
		strbuf_init(&text);
		put_graph(r, by_group, &text);
		why = run_dot(r, &text, &svg);
		strbuf_release(&text);
		why = why != NULL ? arena_printf(r->a,
						 "There is no picture: "
						 "Graphviz' dot %s.",
						 why)
				  : NULL;
	}
	tdata_text(r->data, "graph_picture", svg);
	tdata_text(r->data, "no_picture", why);
}
