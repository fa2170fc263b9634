/* SPDX-License-Identifier: Apache-2.0 */
/* tirc test of a quantized model whose results differ from those of a data set:
 * are the results equal to those of the data set with the other value of
 * --requant? If they are, the data set was recorded with the other rounding,
 * and a note says so. Then the data set cannot show whether the program is
 * right, and the interpreter's results decide whether it is. */
#include <string.h>

#include "compare.h"
#include "interpreted.h"

/* The number of elements, in all results, that differ from the expected
 * elements by more than errors of float arithmetic. *far: does an element
 * differ by more than one step? */
static int64_t
count_unequal(const struct cli *c, const struct pair *pairs, int n, bool *far)
{
	int64_t unequal = 0;

	*far = false;
	for (int i = 0; i < n; i++) {
		struct comparison found;

		pair_compare(c, &pairs[i], &found);
		unequal += found.stepped + found.other_side + found.bad;
		unequal += !found.same_shape;
		*far |= found.other_side + found.bad > 0 || found.too_many;
	}
	return unequal;
}

/* Returns the program with the other rounding. The first call builds this
 * program; NULL if it cannot be built. */
static struct harness *
with_other(struct other_rounding *r, struct harness *h)
{
	struct cli *c;

	if (r->tried) {
		return r->program;
	}
	r->tried = true;
	r->rounding = tirc_summary(h->t).rounding;
	if (r->rounding == NULL || tirc_is_partition(h->cli->model)) {
		return NULL;
	}
	r->other = strcmp(r->rounding, "tflite") == 0 ? "onnx" : "tflite";
	c = harness_twin_options(h);
	c->tirc.requant = r->other;
	r->program = arena_new(&h->m->arena, struct harness);
	if (!harness_open(r->program, c)) {
		harness_close(r->program);
		r->program = NULL;
	}
	return r->program;
}

const char *
other_rounding_try(struct other_rounding *r, struct harness *h,
		   const struct array *inputs, const struct pair *pairs, int n)
{
	struct arena *a = &h->m->arena;
	struct pair *now = arena_copy(a, pairs, sizeof *pairs * (size_t)n);
	struct harness *other;
	struct array *got;
	int64_t unequal, then;
	bool far;

	unequal = count_unequal(h->cli, pairs, n, &far);
	if (!far || (other = with_other(r, h)) == NULL) {
		return NULL;
	}
	got = arena_array(a, struct array, harness_results(other) + 1);
	if (!harness_set_states(other, h->states) ||
	    !harness_run(other, inputs, got)) {
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		now[i].got = &got[pairs[i].result];
		now[i].observed = NULL;
	}
	then = count_unequal(h->cli, now, n, &far);
	if (then == 0 && r->n_equal++ == 0) {
		r->where = pairs[0].where;
	}
	r->n_closer += then < unequal;
	r->unequal += unequal;
	r->unequal_then += then;
	return then == 0 ? r->other : NULL;
}

bool
other_rounding_agrees(struct harness *h, const struct array *inputs,
		      struct pair *pairs, int n)
{
	struct arena *a = &h->m->arena;
	struct data_set own = { 0 };

	if (!interpreted_results(h, inputs, &own)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct pair now = pairs[i];

		if (!own.expected[now.result]) {
			continue;
		}
		now.want = &own.want[now.result];
		now.where = arena_printf(a, "%s by the interpreter", now.where);
		if (!pair_near(h->cli, &now)) {
			pairs[i] = now;
			return false;
		}
	}
	return true;
}

void
other_rounding_end(struct other_rounding *r, struct harness *h)
{
	if (h->cli->quiet) {
		/* --quiet: prints no notes */
	} else if (r->n_equal > 0) {
		cli_note("%s ha%s %s rounding: with --requant %s all results "
			 "are equal, and about --requant %s they say little; "
			 "docs/how-to/verify.md shows how to record results of "
			 "either",
			 r->n_equal == 1
				 ? r->where
				 : arena_printf(&h->m->arena, "%d data sets",
						r->n_equal),
			 r->n_equal == 1 ? "s" : "ve",
			 other_rounding_owner(r->other), r->other, r->rounding);
	} else if (r->n_closer > 0) {
		cli_note("the results are closer with --requant %s, where %lld "
			 "element%s in place of %lld: the data may have %s "
			 "rounding (docs/how-to/verify.md)",
			 r->other, (long long)r->unequal_then,
			 r->unequal_then == 1 ? " differs" : "s differ",
			 (long long)r->unequal, other_rounding_owner(r->other));
	}
	if (r->program != NULL) {
		harness_close(r->program);
	}
}
