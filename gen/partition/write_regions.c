/* SPDX-License-Identifier: Apache-2.0 */
/* Writes backends, matches and regions. The name of a node's first output
 * identifies the node. */
#include <math.h>
#include <string.h>

#include "backend.h"
#include "graph_region.h"
#include "writing.h"

static bool
write_fact(struct writing *w, const struct fact *f)
{
	switch (f->kind) {
	case FACT_TEXT:
		return write_text(w, f->text);
	case FACT_INT:
		json_put_int(w->out, f->i);
		return true;
	case FACT_FLOAT:
		/* without the object, readers could not distinguish 1.0 from
		 * 1 */
		if (f->f == floor(f->f) || isnan(f->f) || isinf(f->f)) {
			strbuf_puts(w->out, "{\"float\": ");
			json_put_float(w->out, dtype_of(DT_F64), f->f);
			strbuf_putc(w->out, '}');
		} else {
			json_put_float(w->out, dtype_of(DT_F64), f->f);
		}
		return true;
	case FACT_INTS:
		strbuf_putc(w->out, '[');
		for (int i = 0; i < f->n; i++) {
			strbuf_puts(w->out, i > 0 ? ", " : "");
			json_put_int(w->out, f->ints[i]);
		}
		strbuf_putc(w->out, ']');
		return true;
	}
	return true;
}

/* Writes the facts of a step as the member `key`, if there are any. */
static bool
write_facts(struct writing *w, const char *key, const struct fact *list, int n,
	    int step)
{
	int written = 0;

	for (int i = 0; i < n; i++) {
		if (list[i].step != step) {
			continue;
		}
		if (written++ == 0) {
			write_key(w, key);
			strbuf_putc(w->out, '{');
		} else {
			strbuf_puts(w->out, ", ");
		}
		if (!write_text(w, list[i].name)) {
			return false;
		}
		strbuf_puts(w->out, ": ");
		if (!write_fact(w, &list[i])) {
			return false;
		}
	}
	strbuf_puts(w->out, written > 0 ? "}" : "");
	return true;
}

/* Writes "role": "node" for each node of a step. */
static bool
write_roles(struct writing *w, const struct region_match *m, int step)
{
	bool first = true;

	strbuf_puts(w->out, "\"nodes\": {");
	for (int i = 0; i < m->nodes.n; i++) {
		const struct match_node *n = &m->nodes.data[i];

		if (n->step != step) {
			continue;
		}
		strbuf_puts(w->out, first ? "" : ", ");
		first = false;
		if (!write_text(w, n->role)) {
			return false;
		}
		strbuf_puts(w->out, ": ");
		if (!write_text(w, node_key(n->node))) {
			return false;
		}
	}
	strbuf_putc(w->out, '}');
	return true;
}

static const char *
follower_of(const struct region_match *m, int step)
{
	for (int i = 0; i < m->nodes.n; i++) {
		if (m->nodes.data[i].step == step) {
			return m->nodes.data[i].follower;
		}
	}
	return NULL;
}

static bool
write_match(struct writing *w, const struct region_match *m)
{
	strbuf_puts(w->out, "{\"pattern\": ");
	if (!write_text(w, m->pattern)) {
		return false;
	}
	strbuf_puts(w->out, ", ");
	if (!write_roles(w, m, -1) ||
	    !write_facts(w, "facts", m->facts.data, m->facts.n, -1)) {
		return false;
	}
	if (m->n_steps > 0) {
		write_key(w, "steps");
		strbuf_putc(w->out, '[');
	}
	for (int s = 0; s < m->n_steps; s++) {
		strbuf_puts(w->out, s > 0 ? ", {\"name\": " : "{\"name\": ");
		if (!write_text(w, follower_of(m, s))) {
			return false;
		}
		strbuf_puts(w->out, ", ");
		if (!write_roles(w, m, s) ||
		    !write_facts(w, "facts", m->facts.data, m->facts.n, s)) {
			return false;
		}
		strbuf_putc(w->out, '}');
	}
	strbuf_puts(w->out, m->n_steps > 0 ? "]}" : "}");
	return true;
}

static bool
write_region(struct writing *w, const struct graph_region *r)
{
	strbuf_puts(w->out, "{\"name\": ");
	if (!write_text(w, r->name)) {
		return false;
	}
	write_key(w, "backend");
	if (!write_text(w, r->backend->name)) {
		return false;
	}
	write_key(w, "attrs");
	strbuf_putc(w->out, '{');
	for (int i = 0; i < r->attrs.n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_text(w, r->attrs.data[i].name)) {
			return false;
		}
		strbuf_puts(w->out, ": ");
		if (!write_fact(w, &r->attrs.data[i])) {
			return false;
		}
	}
	strbuf_putc(w->out, '}');
	write_key(w, "matches");
	strbuf_putc(w->out, '[');
	for (int i = 0; i < r->matches.n; i++) {
		strbuf_puts(w->out, i > 0 ? ",\n\t\t\t" : "\n\t\t\t");
		if (!write_match(w, r->matches.data[i])) {
			return false;
		}
	}
	strbuf_puts(w->out, "]}");
	return true;
}

static bool
write_backend(struct writing *w, const struct backend *b)
{
	strbuf_puts(w->out, "{\"name\": ");
	if (!write_text(w, b->name)) {
		return false;
	}
	write_key(w, "options");
	strbuf_putc(w->out, '{');
	for (int i = 0; i < b->n_options; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_text(w, b->options[i].name)) {
			return false;
		}
		strbuf_puts(w->out, ": ");
		if (!write_text(w, b->options[i].value)) {
			return false;
		}
	}
	strbuf_puts(w->out, "}}");
	return true;
}

/* Writes the matches that are in no region yet, as between the passes annotate
 * and merge. */
static bool
write_open_matches(struct writing *w)
{
	const struct graph *g = w->g;
	int n = 0;

	strbuf_puts(w->out, ",\n\t\"matches\": [");
	for (int i = 0; i < g->nodes.n; i++) {
		const struct region_match *m = g->nodes.data[i]->match;

		if (m == NULL || m->region != NULL ||
		    m->nodes.data[0].node != g->nodes.data[i]) {
			continue;
		}
		strbuf_puts(w->out, n++ > 0 ? ",\n\t\t" : "\n\t\t");
		strbuf_puts(w->out, "{\"backend\": ");
		if (!write_text(w, m->backend->name)) {
			return false;
		}
		write_key(w, "match");
		if (!write_match(w, m)) {
			return false;
		}
		strbuf_putc(w->out, '}');
	}
	strbuf_puts(w->out, n > 0 ? "\n\t]" : "]");
	return true;
}

bool
write_regions(struct writing *w)
{
	const struct graph *g = w->g;

	strbuf_puts(w->out, ",\n\t\"backends\": [");
	for (int i = 0; i < g->n_backends; i++) {
		strbuf_puts(w->out, i > 0 ? ",\n\t\t" : "\n\t\t");
		if (!write_backend(w, g->backends[i])) {
			return false;
		}
	}
	strbuf_puts(w->out, g->n_backends > 0 ? "\n\t]" : "]");
	if (!write_open_matches(w)) {
		return false;
	}
	strbuf_puts(w->out, ",\n\t\"regions\": [");
	for (int i = 0; i < g->regions.n; i++) {
		strbuf_puts(w->out, i > 0 ? ",\n\t\t" : "\n\t\t");
		if (!write_region(w, g->regions.data[i])) {
			return false;
		}
	}
	strbuf_puts(w->out, g->regions.n > 0 ? "\n\t]" : "]");
	return true;
}
