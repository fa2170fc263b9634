/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes the regions: gives up regions that are too small (min_macs and other
 * limits of the backend), and, for each region that is kept, makes its nodes
 * adjacent and sets its name and its lists of inputs and outputs. */
#include <assert.h>

#include "byoc.h"
#include "rewrite.h"

/* Checks that a backend's pass left a valid graph and valid regions. False
 * after an error that names the pass. */
static bool
check_pass_result(struct graph *g, const struct backend *b,
		  const struct region_pass *p)
{
	const struct diag_place place = { .file = b->file, .item = p->name };
	const struct graph_region *one = NULL;

	if (!graph_verify(g)) {
		return diag_error(&g->module->diags, DIAG_BAD_PARTITION, place,
				  "the pass left a graph with the errors "
				  "above; correct the pass");
	}
	if (!graph_region_sort(g, &one)) {
		return diag_error(
			&g->module->diags, DIAG_BAD_PARTITION, place,
			"after the pass, region %s needs a value that "
			"is computed from its own outputs; the pass "
			"has to make two regions of it, or take a "
			"node out of it",
			one->name != NULL ? one->name
					  : one->matches.data[0]
						    ->nodes.data[0]
						    .node->name);
	}
	return true;
}

bool
byoc_run_passes(struct graph *g, enum region_stage stage)
{
	for (int i = 0; i < g->n_backends; i++) {
		const struct backend *b = g->backends[i];

		for (int k = 0; k < b->n_passes; k++) {
			const struct region_pass *p = &b->passes[k];

			if (p->after != stage) {
				continue;
			}
			if (!p->run(g, b, p) || !check_pass_result(g, b, p)) {
				return false;
			}
		}
	}
	return true;
}

static bool
is_alone(const struct graph_region *r)
{
	for (int i = 0; i < r->matches.n; i++) {
		const struct pattern *p =
			backend_pattern(r->backend,
					r->matches.data[i]->pattern);

		if (p == NULL || p->alone) {
			return false;
		}
	}
	return true;
}

/* The reason why region r is too small for its backend and is given up; NULL if
 * it is kept. */
static const char *
not_worth_it(struct graph *g, const struct graph_region *r)
{
	int64_t macs = region_macs(r);

	if (macs < r->backend->min_macs) {
		return arena_printf(&g->module->arena,
				    "its region has %lld "
				    "multiply-accumulates; %lld would be "
				    "worth it",
				    (long long)macs,
				    (long long)r->backend->min_macs);
	}
	return is_alone(r) ? "its pattern needs another one in the same "
			     "region"
			   : NULL;
}

static void
give_up(struct graph *g, struct graph_region *r, const char *why)
{
	for (int i = 0; i < r->matches.n; i++) {
		struct region_match *m = r->matches.data[i];

		m->region = NULL;
		for (int k = 0; k < m->nodes.n; k++) {
			m->nodes.data[k].node->match = NULL;
			byoc_note(g, m->nodes.data[k].node, m->backend, NULL,
				  m->pattern, why);
		}
	}
}

/* Names the regions of each backend NAME_0, NAME_1, … in order. */
static void
name_regions(struct graph *g)
{
	for (int i = 0; i < g->regions.n; i++) {
		struct graph_region *r = g->regions.data[i];
		int number = 0;

		for (int k = 0; k < i; k++) {
			number += strcmp(g->regions.data[k]->backend_name,
					 r->backend_name) == 0;
		}
		r->name = arena_printf(&g->module->arena, "%s_%d",
				       r->backend_name, number);
	}
}

bool
graph_partition(struct graph *g)
{
	const struct graph_region *one = NULL;
	int kept = 0;

	if (g->n_backends == 0 || g->is_partitioned) {
		return true;
	}
	for (int i = 0; i < g->regions.n; i++) {
		struct graph_region *r = g->regions.data[i];
		const char *why = not_worth_it(g, r);

		if (why != NULL) {
			give_up(g, r, why);
		} else {
			r->id = kept;
			g->regions.data[kept++] = r;
		}
	}
	g->regions.n = kept;
	if (!graph_region_sort(g, &one)) {
		assert(!"merged regions depend on each other");
	}
	name_regions(g);
	graph_region_borders(g);
	g->is_partitioned = true;
	return byoc_run_passes(g, REGION_PARTITIONED);
}
