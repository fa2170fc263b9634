/* SPDX-License-Identifier: Apache-2.0 */
/* Prints for each node which backend took it, or why no backend did. The passes
 * note each condition that did not hold for a node. A note has the key of the
 * node and not a pointer, because a backend's pass may replace all nodes of the
 * graph. */
#include "byoc.h"

struct note_row {
	const char *node; /* node_key */
	const struct backend *backend;
	const char *pattern, *role, *why;
};

struct byoc_notes {
	VEC(struct note_row) list;
};

void
byoc_enable_notes(struct graph *g)
{
	g->byoc_notes = arena_new(&g->module->arena, struct byoc_notes);
}

void
byoc_note(struct graph *g, const struct node *n, const struct backend *b,
	  const struct pattern *p, const char *role, const char *why)
{
	struct note_row row = { node_key(n), b, p != NULL ? p->name : role,
				role, why };

	if (g->byoc_notes == NULL || row.node == NULL) {
		return;
	}
	for (int i = 0; i < g->byoc_notes->list.n; i++) {
		const struct note_row *r = &g->byoc_notes->list.data[i];

		if (r->backend == b && r->role == role &&
		    r->pattern == row.pattern &&
		    strcmp(r->node, row.node) == 0 &&
		    strcmp(r->why, why) == 0) {
			return;
		}
	}
	vec_push(&g->module->arena, &g->byoc_notes->list, row);
}

static void
print_place(const struct node *n, struct strbuf *out)
{
	const char *key = node_key(n);

	strbuf_printf(out, "%s%s%s -> %s: ", n->domain,
		      *n->domain != '\0' ? "." : "", n->op_type,
		      key != NULL ? key : "?");
}

static bool
knows_op(const struct pattern_graph *g, const struct node *n)
{
	for (int i = 0; i < g->n_nodes; i++) {
		if (byoc_is_op(&g->nodes[i], n)) {
			return true;
		}
	}
	return false;
}

/* The first pattern of b that has n's operator in its body or in a follower;
 * NULL if no pattern of b has it. */
static const struct pattern *
pattern_with(const struct backend *b, const struct node *n)
{
	for (int i = 0; i < b->n_patterns; i++) {
		const struct pattern *p = &b->patterns[i];

		if (knows_op(&p->variants[0], n)) {
			return p;
		}
		for (int k = 0; k < p->n_chains; k++) {
			for (int x = 0; x < p->chains[k].n_one_of; x++) {
				if (knows_op(&p->chains[k].one_of[x], n)) {
					return p;
				}
			}
		}
	}
	return NULL;
}

static void
print_reasons(const struct graph *g, const struct node *n,
	      const struct backend *b, struct strbuf *out)
{
	const struct pattern *p = pattern_with(b, n);
	const char *key = node_key(n);
	int count = 0;

	for (int i = 0; g->byoc_notes && i < g->byoc_notes->list.n; i++) {
		const struct note_row *r = &g->byoc_notes->list.data[i];

		if (r->backend != b || key == NULL ||
		    strcmp(r->node, key) != 0) {
			continue;
		}
		strbuf_printf(out, "\n    %s: as ", b->name);
		if (strcmp(r->role, r->pattern) != 0) {
			strbuf_printf(out, "'%s' of ", r->role);
		}
		strbuf_printf(out, "pattern %s: %s", r->pattern, r->why);
		count++;
	}
	if (count == 0 && p == NULL) {
		strbuf_printf(out, "\n    %s: no pattern has the operator %s",
			      b->name, n->op_type);
	} else if (count == 0) {
		strbuf_printf(out,
			      "\n    %s: only as a part of pattern %s, which "
			      "does not match here",
			      b->name, p->name);
	}
}

void
byoc_explain(const struct graph *g, struct strbuf *out)
{
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		const struct match_node *role = region_role(n);

		print_place(n, out);
		if (role != NULL) {
			strbuf_printf(out, "%s, pattern %s, ",
				      n->match->region != NULL
					      ? n->match->region->name
					      : n->match->backend_name,
				      n->match->pattern);
			if (role->step >= 0) {
				strbuf_printf(out, "follower %d, %s\n",
					      role->step, role->follower);
			} else {
				strbuf_printf(out, "'%s'\n", role->role);
			}
			continue;
		}
		strbuf_puts(out, "generated");
		for (int k = 0; k < g->n_backends; k++) {
			print_reasons(g, n, g->backends[k], out);
		}
		strbuf_putc(out, '\n');
	}
}
