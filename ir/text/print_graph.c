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
 * A node that a backend takes has a comment with its pattern and role; a region
 * is a line "region NAME:" before its nodes:
 *
 *	  region cblas_0:
 *	    y: float32[8] = MatMul (x, w)  # cblas.product product
 *
 * A fusion group is a line "group 3 (Conv):" before its nodes. The settings
 * (settings.def) follow the graph's name; the scale and zero point of a
 * quantized input or output follow that input or output. graph_read.c reads all
 * parts of the text except regions and groups. */
#include "graph_lex.h"
#include "graph_region.h"
#include "size_text.h"

void
tensor_print_type(const struct tensor *t, struct strbuf *out)
{
	struct graph_printer p = { .out = out };

	graph_put_type(&p, t);
}

static void
print_typed(const struct graph_printer *p, const struct tensor *t)
{
	graph_put_name(p, t->name);
	strbuf_puts(p->out, ": ");
	graph_put_type(p, t);
}

/* Prints the operator's name, behind its domain: "com.example.Op". */
static void
print_operator(const struct graph_printer *p, const struct node *n)
{
	struct strbuf name;

	strbuf_init(&name);
	strbuf_printf(&name, "%s%s%s", n->domain, *n->domain ? "." : "",
		      n->op_type);
	graph_put_name(p, name.data);
	strbuf_release(&name);
}

static void
print_call(const struct graph_printer *p, const struct node *n)
{
	struct strbuf *out = p->out;

	print_operator(p, n);
	if (*n->name) {
		strbuf_putc(out, ' ');
		graph_put_name(p, n->name);
	}
	strbuf_puts(out, " (");
	for (int i = 0; i < n->n_inputs; i++) {
		strbuf_puts(out, i > 0 ? ", " : "");
		if (n->inputs[i]) {
			graph_put_name(p, n->inputs[i]->name);
		} else {
			strbuf_putc(out, '_');
		}
	}
	strbuf_putc(out, ')');
	for (int i = 0; i < n->attrs.n; i++) {
		strbuf_puts(out, i > 0 ? ", " : " {");
		graph_put_attr(p, &n->attrs.data[i]);
	}
	strbuf_puts(out, n->attrs.n > 0 ? "}" : "");
}

static void
print_node(const struct graph_printer *p, const struct node *n)
{
	for (int i = 0; i < n->n_outputs; i++) {
		strbuf_puts(p->out, i > 0 ? ", " : "");
		if (n->outputs[i]) {
			print_typed(p, n->outputs[i]);
		} else {
			strbuf_putc(p->out, '_');
		}
	}
	strbuf_puts(p->out, " = ");
	print_call(p, n);
}

/* -- constants, each after the constants of its recipe */

static void
print_constant(const struct graph_printer *p, const struct tensor *t)
{
	strbuf_puts(p->out, "  const ");
	print_typed(p, t);
	if (t->recipe == NULL) {
		graph_put_value(p, t->value);
	} else {
		strbuf_puts(p->out, " = ");
		print_call(p, t->recipe);
		if (t->recipe->n_outputs > 1) {
			strbuf_printf(p->out, "[%d of %d]", t->output_index,
				      t->recipe->n_outputs);
		}
	}
	strbuf_putc(p->out, '\n');
}

/* The first tensor that t's recipe reads and that is not printed yet; NULL if
 * all are printed. */
static const struct tensor *
missing_source(const struct tensor *t, const bool *shown)
{
	const struct node *recipe = t->recipe;

	for (int i = 0; recipe && i < recipe->n_inputs; i++) {
		const struct tensor *in = recipe->inputs[i];

		if (in && tensor_is_constant(in) && !shown[in->id]) {
			return in;
		}
	}
	return NULL;
}

static void
print_constants(const struct graph_printer *p)
{
	const struct graph *g = p->graph;
	struct arena *a = &g->module->arena;
	bool *shown = arena_array(a, bool, g->tensors.n + 1);
	VEC(const struct tensor *) open = { 0 };

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (!tensor_is_constant(t) || t->producer || shown[t->id]) {
			continue;
		}
		vec_push(a, &open, t);
		while (open.n > 0) {
			const struct tensor *last = open.data[open.n - 1];
			const struct tensor *source = missing_source(last,
								     shown);

			if (source) {
				vec_push(a, &open, source);
				continue;
			}
			if (!shown[last->id]) {
				print_constant(p, last);
			}
			shown[last->id] = true;
			open.n--;
		}
	}
}

/* Prints the tensors with known elements that no node computes. */
static void
print_known(const struct graph_printer *p)
{
	const struct graph *g = p->graph;

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->elems && !t->producer && !t->is_input &&
		    !tensor_is_constant(t)) {
			strbuf_puts(p->out, "  known ");
			print_typed(p, t);
			strbuf_puts(p->out, " = {");
			graph_put_sizes(p, t->elems, t->n_elems);
			strbuf_puts(p->out, "}\n");
		}
	}
}

/* -- nodes */

/* Appends the backend that takes the node n, its pattern, and the role of n in
 * it: "cblas.product product". */
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
print_nodes(const struct graph_printer *p)
{
	const struct graph_region *inside = NULL;
	const struct graph *g = p->graph;
	struct strbuf *out = p->out;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		const struct graph_region *r = n->match ? n->match->region
							: NULL;

		if (r != NULL && r != inside) {
			strbuf_printf(out, "  region %s:\n", r->name);
		}
		inside = r;
		strbuf_puts(out, r != NULL ? "    " : "  ");
		print_node(p, n);
		print_role(n, out);
		strbuf_putc(out, '\n');
	}
}

static void
print_groups(const struct graph_printer *p)
{
	const struct graph *g = p->graph;
	struct strbuf *out = p->out;

	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];

		strbuf_printf(out, "  %s %d (%s):\n",
			      group->is_view ? "view" : "group", group->id,
			      group->region != NULL ? group->region->name
						    : group->anchor->op_type);
		for (int k = 0; k < group->nodes.n; k++) {
			strbuf_puts(out, "    ");
			print_node(p, group->nodes.data[k]);
			strbuf_putc(out, '\n');
		}
	}
}

/* -- the whole */

/* Appends how a quantized input or output is stored, real = (stored -
 * zero_point) * scale: "{scale = 0.5, zero_point = 3}". */
static void
print_stored(const struct graph_printer *p, const struct tensor *t)
{
	struct attr facts[3];
	int n = 0;

	if (t->reals) {
		facts[n++] = (struct attr){ .name = "scale",
					    .kind = ATTR_FLOAT,
					    .f = t->reals->scale };
		facts[n++] = (struct attr){ .name = "zero_point",
					    .i = t->reals->zero_point };
	}
	if (t->stored_offset != 0) {
		facts[n++] = (struct attr){ .name = "stored_offset",
					    .i = t->stored_offset };
	}
	for (int i = 0; i < n; i++) {
		strbuf_puts(p->out, i > 0 ? ", " : " {");
		graph_put_attr(p, &facts[i]);
	}
	strbuf_puts(p->out, n > 0 ? "}\n" : "\n");
}

static void
print_settings(const struct graph_printer *p, const struct settings *s)
{
	int n, printed = 0;
	const struct setting_row *rows = settings_rows(&n);

	for (int i = 0; i < n; i++) {
		int value = settings_get(s, i);
		struct attr a = { .name = rows[i].name, .i = value };

		if (value == 0) {
			continue;
		}
		if (rows[i].word) {
			a.kind = ATTR_STRING;
			a.s = rows[i].word(value);
			a.s_len = strlen(a.s);
		}
		strbuf_puts(p->out, printed++ > 0 ? ", " : " {");
		graph_put_attr(p, &a);
	}
	strbuf_puts(p->out, printed > 0 ? "}\n" : "\n");
}

static void
print_dims(const struct graph_printer *p)
{
	for (int i = 0; i < p->graph->dims.n; i++) {
		const struct var *v = p->graph->dims.data[i];

		strbuf_puts(p->out, "  dim ");
		graph_put_name(p, v->name);
		strbuf_printf(p->out, ": %lld..%lld\n", (long long)v->min,
			      (long long)v->max);
	}
	for (int i = 0; i < p->graph->run_sizes.n; i++) {
		const struct var *v = p->graph->run_sizes.data[i].var;

		strbuf_puts(p->out, "  size ");
		graph_put_name(p, v->name);
		strbuf_printf(p->out, ": %lld..%lld\n", (long long)v->min,
			      (long long)v->max);
	}
}

static void
print_graph(const struct graph_printer *p)
{
	const struct graph *g = p->graph;

	strbuf_puts(p->out, "graph ");
	graph_put_name(p, g->name);
	print_settings(p, g->settings);
	print_dims(p);
	for (int i = 0; i < g->inputs.n; i++) {
		strbuf_puts(p->out, "  input ");
		print_typed(p, g->inputs.data[i]);
		print_stored(p, g->inputs.data[i]);
	}
	print_constants(p);
	print_known(p);
	if (g->groups.n > 0) {
		print_groups(p);
	} else {
		print_nodes(p);
	}
	for (int i = 0; i < g->outputs.n; i++) {
		strbuf_puts(p->out, "  output ");
		graph_put_name(p, g->outputs.data[i]->name);
		print_stored(p, g->outputs.data[i]);
	}
	for (int i = 0; i < g->states.n; i++) {
		const struct graph_state *s = &g->states.data[i];

		strbuf_puts(p->out, "  state ");
		graph_put_name(p, g->outputs.data[s->output]->name);
		strbuf_puts(p->out, " = ");
		graph_put_name(p, g->inputs.data[s->input]->name);
		strbuf_putc(p->out, '\n');
	}
}

void
graph_print(const struct graph *g, struct strbuf *out)
{
	print_graph(&(struct graph_printer){
		.graph = g,
		.symbols = size_symbols(g),
		.out = out,
	});
}

void
graph_print_whole(const struct graph *g, struct strbuf *out)
{
	print_graph(&(struct graph_printer){
		.graph = g,
		.symbols = size_symbols(g),
		.whole = true,
		.out = out,
	});
}
