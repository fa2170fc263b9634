/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the whole model with the source of a folder. */
#include <string.h>

#include "compare.h"
#include "interpreted.h"
#include "verify_cmd.h"

/* The longest time of a run of the whole model. */
enum { MOST_SECONDS = 600 };

static bool
build(struct verifying *v, struct harness *h)
{
	for (int i = 0; i < v->fresh.sources.n; i++) {
		harness_add_source(h, v->fresh.sources.data[i]);
	}
	return harness_build_model(h);
}

bool
verify_build_fresh(struct verifying *v, struct harness *out)
{
	if (!verify_beside(v, out)) {
		return false;
	}
	if (!tirc_write(v->fresh.t, out->folder)) {
		cli_messages(v->fresh.t);
		return false;
	}
	return build(v, out) && harness_set_states(out, NULL);
}

/* Runs the source that tirc writes and the folder's source on random inputs,
 * and compares the outputs bit by bit. Returns false after an error message. */
static bool
compare_with_fresh(struct verifying *v)
{
	int n = harness_results(&v->given);
	struct array *want = arena_array(v->a, struct array, n + 1);
	struct array *got = arena_array(v->a, struct array, n + 1);
	struct harness fresh;
	struct data_set d;

	if (!verify_build_fresh(v, &fresh)) {
		return false;
	}
	if (!interpreted_inputs(&fresh, NULL, &d) ||
	    !harness_run(&fresh, d.inputs, want)) {
		return false;
	}
	if (!harness_set_states(&v->given, NULL) ||
	    !harness_run(&v->given, d.inputs, got)) {
		v->whole_failed = true;
		return true;
	}
	for (int i = 0; i < n; i++) {
		if (want[i].elems != got[i].elems ||
		    memcmp(want[i].data, got[i].data,
			   (size_t)want[i].elems *
				   (size_t)dtype_bytes(want[i].type)) != 0) {
			v->whole_other = got[i].name;
			break;
		}
	}
	return true;
}

bool
verify_whole(struct verifying *v)
{
	if (v->not_run != NULL || v->not_built != NULL) {
		return true;
	}
	for (int i = 0; i < v->kernels.n; i++) {
		const struct verified_kernel *k = &v->kernels.data[i];

		/* the run of the whole model would crash or hang just as this
		 * kernel did */
		if (k->wrong != NULL && k->result.differs == NULL) {
			return true;
		}
	}
	if (!verify_beside(v, &v->given) || !verify_write_given(v, &v->given)) {
		return false;
	}
	v->given.most_seconds = MOST_SECONDS;
	if (!build(v, &v->given)) {
		v->not_built = "the compiler refuses it";
		return !v->same_texts;
	}
	test_on_data(&v->given, NULL, 0, &v->runs);
	if (v->n_paths > 0) {
		test_on_data(&v->given, v->paths, v->n_paths, &v->runs);
	}
	v->whole_failed = v->runs.passed + v->runs.undecided != v->runs.n;
	return v->same_texts || compare_with_fresh(v);
}
