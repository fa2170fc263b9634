/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test --each-region: compares each region of a backend with generated
 * code. Builds two programs. The first has no backends and computes the inputs
 * and expected outputs of all regions from the model's data. The second has
 * only the regions and reads these inputs (passes/byoc/isolate.c). */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "data_set.h"
#include "interpreted.h"

struct twins {
	struct cli generated_cli, alone_cli;
	struct harness generated, alone;
	/* the first n_read outputs of `generated` are the inputs of `alone` */
	int n_read;
};

static bool
open_one(struct harness *h, struct cli *copy, const struct cli *c,
	 const char *regions, char **kept)
{
	*copy = *c;
	copy->tirc.regions = regions;
	copy->repeat = 1;
	if (c->keep != NULL) {
		size_t size = strlen(c->keep) + strlen(regions) + 2;
		char *path = malloc(size);

		if (path != NULL) {
			snprintf(path, size, "%s/%s", c->keep, regions);
		}
		*kept = path;
		copy->keep = path;
	}
	return harness_open(h, copy);
}

static int
find_output(struct tirc *t, const char *name)
{
	for (int i = 0; i < tirc_output_count(t); i++) {
		if (strcmp(tirc_output(t, i).name, name) == 0) {
			return i;
		}
	}
	return -1;
}

static bool
run_twins(struct twins *w, const char *where, const struct array *inputs,
	  bool *bad)
{
	struct harness *g = &w->generated, *a = &w->alone;
	int n_in = tirc_input_count(g->t);
	int n_made = tirc_output_count(a->t);
	struct array *want = arena_array(&g->m->arena, struct array,
					 harness_results(g) + 1);
	struct array *got = arena_array(&g->m->arena, struct array,
					harness_results(a) + 1);
	struct array *fed = arena_array(&g->m->arena, struct array,
					n_in + w->n_read + 1);
	struct pair *pairs = arena_array(&g->m->arena, struct pair, n_made + 1);

	if (!harness_run(g, inputs, want)) {
		return false;
	}
	for (int i = 0; i < n_in; i++) {
		fed[i] = inputs[i];
	}
	for (int i = 0; i < w->n_read; i++) {
		fed[n_in + i] = want[i];
	}
	if (!harness_run(a, fed, got)) {
		return false;
	}
	for (int i = 0; i < n_made; i++) {
		struct tirc_tensor y = tirc_output(a->t, i);
		int kernel = tirc_output_kernel(a->t, i);
		int twin = find_output(g->t, y.name);

		if (twin < 0) {
			say(stderr,
			    "error: generated code has no output "
			    "for '%s'\n",
			    y.name);
			return false;
		}
		pairs[i] = (struct pair){
			.where = kernel < 0 ? where
					    : arena_printf(&g->m->arena,
							   "%s  %s", where,
							   tirc_kernel(a->t,
								       kernel)
								   .name),
			.result = i,
			.got = &got[i],
			.want = &want[twin],
			.step = tirc_output(g->t, twin).step,
			.arithmetic = tirc_output(g->t, twin).arithmetic
		};
	}
	*bad |= !harness_compare(a, fed, pairs, n_made);
	return true;
}

static bool
compare_all(struct twins *w, bool *bad)
{
	struct harness *g = &w->generated;
	const char **paths;
	int n = data_set_list(g, &paths);

	w->n_read = tirc_input_count(w->alone.t) - tirc_input_count(g->t);
	for (int i = 0; i < (n > 0 ? n : 1); i++) {
		struct data_set d;

		if (n == 0 ? !interpreted_inputs(g, NULL, &d)
			   : !data_set_read(g, paths[i], true, &d)) {
			return false;
		}
		if (!run_twins(w, d.where, d.inputs, bad)) {
			return false;
		}
	}
	return true;
}

int
test_each_region(struct cli *c)
{
	struct twins w = { 0 };
	char *kept[2] = { NULL, NULL };
	bool ok, bad = false;

	if (c->keep != NULL && !harness_may_keep(c->keep)) {
		return CLI_INPUT;
	}
	ok = open_one(&w.alone, &w.alone_cli, c, "alone", &kept[0]);
	if (ok && tirc_region_count(w.alone.t) == 0) {
		say(stdout, "there are no regions to compare\n");
	} else if (ok) {
		ok = open_one(&w.generated, &w.generated_cli, c, "generated",
			      &kept[1]) &&
		     compare_all(&w, &bad);
		if (ok && !c->quiet) {
			cli_note_backends(w.alone.t);
			say(stdout, "%d region%s compared%s\n",
			    tirc_region_count(w.alone.t),
			    tirc_region_count(w.alone.t) == 1 ? "" : "s",
			    bad ? ", with differences" : ", all alike");
		}
		harness_close(&w.generated);
	}
	harness_close(&w.alone);
	for (int i = 0; i < 2; i++) {
		free(kept[i]);
	}
	return ok && !bad ? CLI_DONE : CLI_INPUT;
}
