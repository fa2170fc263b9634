/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: backends and their regions. */
#include <string.h>

#include "backend_load.h"
#include "ops.h"
#include "partition.h"
#include "tirc_context.h"

bool
context_load_backends(struct tirc *t)
{
	const struct tirc_options *o = &t->options;

	for (int i = t->backends.n; i < o->n_byoc; i++) {
		const struct backend *b = backend_load(t->m, o->byoc[i],
						       o->byoc_path,
						       partition_run_command);

		if (b == NULL) {
			return false;
		}
		for (int k = 0; k < t->backends.n; k++) {
			if (strcmp(t->backends.data[k]->name, b->name) == 0) {
				backend_close(b);
				return context_bad_option(t, "--byoc",
							  o->byoc[i],
							  "each backend once");
			}
		}
		vec_push(&t->m->arena, &t->backends, b);
	}
	return true;
}

bool
context_backends(struct tirc *t)
{
	const struct tirc_options *o = &t->options;

	if (t->graph->is_partitioned) {
		return true;
	}
	if (!context_load_backends(t)) {
		return false;
	}
	if (t->backends.n > 0) {
		t->graph->backends = t->backends.data;
		t->graph->n_backends = t->backends.n;
	}
	if (o->explain && t->graph->byoc_notes == NULL) {
		byoc_enable_notes(t->graph);
	}
	return true;
}

void
context_keep_backend(struct tirc *t, const struct backend *b)
{
	vec_add(&t->m->arena, &t->backends, b);
}

void
context_close_backends(struct tirc *t)
{
	for (int i = 0; i < t->backends.n; i++) {
		backend_close(t->backends.data[i]);
	}
}

/* -- regions -- */

int
tirc_region_count(const struct tirc *t)
{
	return t->graph != NULL ? t->graph->regions.n : 0;
}

/* The patterns that matched in the region, each with its number of matches, in
 * the order of each pattern's first match: "20 conv, 1 pool". */
static const char *
patterns_text(struct arena *a, const struct graph_region *r)
{
	const char *text = "";

	for (int i = 0; i < r->matches.n; i++) {
		const char *name = r->matches.data[i]->pattern;
		int n = 0;

		for (int k = 0; k < r->matches.n; k++) {
			if (strcmp(r->matches.data[k]->pattern, name) == 0) {
				n += k < i ? -r->matches.n : 1;
			}
		}
		if (n > 0) {
			text = arena_printf(a, "%s%s%d %s", text,
					    *text != '\0' ? ", " : "", n, name);
		}
	}
	return text;
}

/* backend.differs of the backend with this name. */
static const char *
differs(const struct tirc *t, const char *name)
{
	for (int i = 0; i < t->backends.n; i++) {
		if (strcmp(t->backends.data[i]->name, name) == 0) {
			return t->backends.data[i]->differs;
		}
	}
	return NULL;
}

struct tirc_region
tirc_region(struct tirc *t, int i)
{
	const struct graph_region *r = t->graph->regions.data[i];
	struct tirc_region out = {
		.name = r->name,
		.backend = r->backend_name,
		.differs = differs(t, r->backend_name),
		.what = patterns_text(&t->m->arena, r),
		.nodes = region_node_count(r),
		.inputs = r->inputs.n,
		.outputs = r->outputs.n,
		.macs = region_macs(r),
	};

	return out;
}

struct tirc_shares
tirc_shares(const struct tirc *t)
{
	struct tirc_shares s = { 0 };

	for (int i = 0; t->graph != NULL && i < t->graph->nodes.n; i++) {
		const struct node *n = t->graph->nodes.data[i];
		bool taken = n->match != NULL && n->match->region != NULL;

		s.nodes++;
		s.macs += op_macs(n);
		s.region_nodes += taken;
		s.region_macs += taken ? op_macs(n) : 0;
	}
	return s;
}

const char *
tirc_explain(struct tirc *t)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	byoc_explain(t->graph, &s);
	text = arena_strndup(&t->m->arena, s.data != NULL ? s.data : "", s.len);
	strbuf_release(&s);
	return text;
}

int
tirc_backend_count(struct tirc *t)
{
	int n;

	backend_names(t->m, t->options.byoc_path, &n);
	return n;
}

const char *
tirc_backend(struct tirc *t, int i)
{
	int n;

	return backend_names(t->m, t->options.byoc_path, &n)[i];
}
