/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs with any annotation, merged and partitioned, have no cycle and
 * mean the same. Regions are evaluated as functions: from what is said to go
 * in, to what is said to come out; all else is forgotten.
 *
 * Annotations are made up (nodes by themselves, neighbours, nodes from
 * anywhere), or come of the patterns of tests/byoc/backends. */
#include <stdlib.h>

#include "backend_load.h"
#include "random_graph.h"
#include "rewrite.h"

/* -- evaluation -- */

static void
evaluate_node(struct graph *g, struct node *n)
{
	const struct value *out[8] = { NULL };

	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] && !CHECK(tensor_value(g, n->inputs[i]))) {
			fprintf(stderr, "%s is not known yet\n",
				n->inputs[i]->name);
			return;
		}
	}
	CHECK(ops_evaluate(g, n, out));
	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			n->outputs[k]->value = out[k];
		}
	}
}

static bool
contains(struct tensor *const *list, int n, const struct tensor *t)
{
	for (int i = 0; i < n; i++) {
		if (list[i] == t) {
			return true;
		}
	}
	return false;
}

/* What is said to go in is all that goes in, and what is said to come out is
 * known afterwards, nothing else. */
static void
evaluate_region(struct graph *g, const struct graph_region *r)
{
	for (int i = 0; i < r->inputs.n; i++) {
		CHECK(r->inputs.data[i]->value != NULL);
	}
	for (int i = 0; i < r->matches.n; i++) {
		const struct region_match *m = r->matches.data[i];

		for (int k = 0; k < m->nodes.n; k++) {
			struct node *n = m->nodes.data[k].node;

			for (int x = 0; x < n->n_inputs; x++) {
				struct tensor *t = n->inputs[x];

				CHECK(t == NULL ||
				      contains(r->inputs.data, r->inputs.n,
					       t) ||
				      contains(r->constants.data,
					       r->constants.n, t) ||
				      (t->producer &&
				       region_has(r, t->producer)));
			}
			evaluate_node(g, n);
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; region_has(r, n) && k < n->n_outputs; k++) {
			struct tensor *t = n->outputs[k];

			if (t && !contains(r->outputs.data, r->outputs.n, t)) {
				t->value = NULL;
			}
		}
	}
}

static void
evaluate_regions(struct graph *g)
{
	struct value v = { .type = dtype_of(DT_F32),
			   .data = input_data,
			   .elems = 24,
			   .bytes = sizeof(float) * 24 };

	g->inputs.data[0]->value = arena_copy(&g->module->arena, &v, sizeof v);
	for (int i = 0; i < g->nodes.n;) {
		struct node *n = g->nodes.data[i];
		const struct graph_region *r = n->match ? n->match->region
							: NULL;
		int count = r ? region_node_count(r) : 1;

		if (!r) {
			evaluate_node(g, n);
			i++;
			continue;
		}
		for (int k = i; k < i + count; k++) {
			CHECK(k < g->nodes.n &&
			      region_has(r, g->nodes.data[k]));
		}
		evaluate_region(g, r);
		i += count;
	}
}

/* -- annotations -- */

static void
annotate_randomly(struct maker *k, const struct backend *const *backends)
{
	struct graph *g = k->g;

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const struct backend *b = backends[roll(k, 2)];
		struct region_match *m;
		int more = roll(k, 4);

		if (n->match || roll(k, 4) == 0) {
			continue;
		}
		m = region_match_new(g, b, b->name, "any");
		region_match_add(g, m, n, "node", -1, NULL);
		/* Others, in order: readers or not. */
		for (int at = i + 1; more > 1 && at < g->nodes.n; at++) {
			if (!g->nodes.data[at]->match && roll(k, 3) == 0) {
				region_match_add(g, m, g->nodes.data[at],
						 "node", -1, NULL);
				more--;
			}
		}
	}
}

/* A region is a group, and nothing else is in it. */
static void
check_groups(const struct graph *g)
{
	for (int i = 0; i < g->groups.n; i++) {
		const struct group *group = g->groups.data[i];

		if (group->region != NULL) {
			CHECK_EQ(group->nodes.n,
				 region_node_count(group->region));
		}
		for (int k = 0; k < group->nodes.n; k++) {
			const struct node *n = group->nodes.data[k];

			CHECK((n->match ? n->match->region : NULL) ==
			      group->region);
		}
	}
}

static int total_regions, total_joined, total_apart;

static void
check_partition(struct maker *k, const struct graph *plain, uint32_t seed)
{
	struct graph *g = k->g;

	CHECK(graph_verify(g));
	total_regions += g->regions.n;
	for (int i = 0; i < g->regions.n; i++) {
		CHECK_EQ(g->regions.data[i]->id, i);
		total_joined += g->regions.data[i]->matches.n > 1;
	}
	for (int i = 0; i < k->m->diags.list.n; i++) {
		total_apart += k->m->diags.list.data[i].id ==
			       DIAG_BAD_PARTITION;
	}
	CHECK_EQ(k->m->diags.n_errors, 0);
	evaluate_regions(g);
	for (int i = 0; i < plain->outputs.n; i++) {
		compare(plain->outputs.data[i], g->outputs.data[i], seed);
	}
}

static void
check_seed(uint32_t seed, const struct backend *const *made_up,
	   const struct backend *const *first)
{
	struct pass_hooks hooks = { .after_graph = verify };
	struct maker plain, k;
	int failed = check_failed;

	make_graph(&plain, seed, 1);
	evaluate(plain.g, 1);
	for (int way = 0; way < 3; way++) {
		make_graph(&k, seed, 1);
		if (way == 2) {
			k.g->backends = first;
			k.g->n_backends = 1;
		}
		CHECK(graph_to_partition(k.g, &hooks));
		if (way < 2) {
			k.random = seed + 1000u * (uint32_t)way;
			k.g->backends = made_up;
			k.g->n_backends = 2;
			annotate_randomly(&k, made_up);
			CHECK(graph_merge(k.g));
			CHECK(graph_partition(k.g));
		}
		CHECK(graph_to_groups(k.g, &hooks));
		check_groups(k.g);
		check_partition(&k, plain.g, seed);
		if (check_failed != failed) {
			fprintf(stderr, "seed %u, way %d\n", seed, way);
			print_graph(k.g);
			print_diags(k.m);
			failed = check_failed;
		}
		module_free(k.m);
	}
	module_free(plain.m);
}

int
main(int argc, char **argv)
{
	uint32_t from = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 60;
	const struct backend one = { .name = "one", .merge = true };
	const struct backend two = { .name = "two",
				     .merge = true,
				     .max_matches = 3 };
	const struct backend *const made_up[] = { &one, &two };
	const char *root = getenv("TIRC_ROOT");
	struct module *m = module_new();
	const struct backend *first =
		backend_load(m, "first",
			     arena_printf(&m->arena, "%s/tests/byoc/backends",
					  root ? root : "."),
			     NULL);

	if (!CHECK(first != NULL)) {
		print_diags(m);
		return check_done();
	}
	for (uint32_t seed = from; seed < from + count; seed++) {
		check_seed(seed, made_up, &first);
	}
	fprintf(stderr,
		"%d regions, %d of several matches, %d matches taken "
		"apart\n",
		total_regions, total_joined, total_apart);
	if (count >= 60) {
		CHECK(total_regions > 100 && total_joined > 20 &&
		      total_apart > 0);
	}
	module_free(m);
	return check_done();
}
