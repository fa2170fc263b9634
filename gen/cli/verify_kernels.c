/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each kernel of a folder's source separately, in a process of its own, on
 * the cases for which the interpreter has results. If a file differs from what
 * tirc writes, the source that tirc writes runs on the same cases, too, and a
 * difference of one bit between the two results is reported. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "process.h"
#include "tuning.h"
#include "verify_cmd.h"

/* The longest time of a kernel's run: LEAST_SECONDS, plus TIMES_INTERPRETER
 * times (on a simulator SIMULATED_TIMES times) as long as the interpreter takes
 * for the same cases. */
enum { LEAST_SECONDS = 10, TIMES_INTERPRETER = 20, SIMULATED_TIMES = 50 };

bool
verify_beside(struct verifying *v, struct harness *out)
{
	const char *scratch = cleanup_scratch();

	*out = v->fresh;
	memset(&out->sources, 0, sizeof out->sources);
	memset(&out->results, 0, sizeof out->results);
	out->factors = NULL;
	out->folder = NULL;
	if (scratch == NULL) {
		return false;
	}
	out->folder = arena_printf(v->a, "%s/build-XXXXXX", scratch);
	return mkdtemp(out->folder) != NULL ||
	       cli_error("cannot make a folder in %s", scratch);
}

/* -- building -- */

/* Writes the files of tirc compile into the folder of h. */
static bool
write_fresh(struct verifying *v, struct harness *h)
{
	return tirc_write(v->fresh.t, h->folder) ||
	       (cli_messages(v->fresh.t), false);
}

/* Builds the program that calls single kernels, from the files in the folder of
 * h. Returns false after an error message. */
static bool
build_kernels(struct verifying *v, struct harness *h)
{
	const struct package *p = tirc_compiled_package(v->fresh.t);
	const char *text = package_kernel_harness(p);

	if (text == NULL) {
		cli_messages(v->fresh.t);
		return false;
	}
	for (int i = 0; i < v->fresh.sources.n; i++) {
		if (strcmp(v->fresh.sources.data[i],
			   package_kernels_source(p)) != 0) {
			harness_add_source(h, v->fresh.sources.data[i]);
		}
	}
	return harness_build(h, text);
}

static bool
build(struct verifying *v)
{
	if (!verify_beside(v, &v->given_kernels) ||
	    !(v->folder != NULL ? verify_write_given(v, &v->given_kernels)
				: write_fresh(v, &v->given_kernels))) {
		return false;
	}
	if (!build_kernels(v, &v->given_kernels)) {
		if (v->same_texts) {
			v->not_run = "the target's compiler cannot build the "
				     "program that calls the kernels";
		} else {
			v->not_built = "the compiler refuses it";
		}
		return true;
	}
	if (v->same_texts) {
		return true;
	}
	v->fresh_is_built = true;
	return verify_beside(v, &v->fresh_kernels) &&
	       write_fresh(v, &v->fresh_kernels) &&
	       build_kernels(v, &v->fresh_kernels);
}

/* -- running -- */

/* A run of the program on the cases of one kernel. */
struct running {
	struct verifying *v;
	struct arena *a;
	const struct verified_kernel *k;
	int index;
	const struct verify_cases *cases;
	/* for each parameter: its results, like cases->want */
	unsigned char **got;
	/* for each case: the kernel's parameter with a wrong write, or -1 */
	int *damage;
};

static const char *
file_name(struct arena *a, const char *stem, int i)
{
	return arena_printf(a, "%s_%d.bin", stem, i);
}

/* Appends the letter of a parameter and its number or size, in the form that
 * the program reads (kernel_harness.tmpl). */
static void
put_parameter(const struct running *r, int i, struct strbuf *out)
{
	const struct kernel_arg *arg = &r->k->of.kernel->args.data[i];
	const int p = verify_param_at(&r->k->of, i);

	switch (arg->kind) {
	case ARG_WEIGHT:
		strbuf_puts(out, " c 0");
		break;
	case ARG_DIM:
		strbuf_printf(out, " n %lld", (long long)r->cases->values[p]);
		break;
	case ARG_SCRATCH:
		strbuf_printf(out, " s %lld", (long long)arg->scratch_bytes);
		break;
	case ARG_TENSOR:
		strbuf_printf(out, " %c %lld",
			      r->cases->want[p] != NULL ? 'w' : 'r',
			      (long long)r->cases->bytes[p]);
		break;
	}
}

static bool
write_inputs(const struct running *r, struct harness *h)
{
	int n = r->k->of.kernel->args.n;
	struct strbuf text;
	bool ok = true;

	strbuf_init(&text);
	strbuf_printf(&text, "%d %d %d", r->index, r->cases->n, n);
	harness_expect_none(h);
	for (int i = 0; ok && i < n; i++) {
		const int p = verify_param_at(&r->k->of, i);

		put_parameter(r, i, &text);
		if (p < 0 || r->cases->in[p] == NULL) {
			continue;
		}
		ok = harness_write(h, file_name(r->a, "array", i),
				   r->cases->in[p],
				   (size_t)r->cases->bytes[p] *
					   (size_t)r->cases->n);
		if (ok && r->cases->want[p] != NULL) {
			ok = harness_expect(h, file_name(r->a, "result", i));
		}
		if (ok && r->cases->want[p] != NULL && r->v->keeps_want) {
			ok = harness_write(h, file_name(r->a, "expected", i),
					   r->cases->want[p],
					   (size_t)r->cases->bytes[p] *
						   (size_t)r->cases->n);
		}
	}
	strbuf_putc(&text, '\n');
	ok = ok && harness_write(h, "arguments.txt", text.data, text.len) &&
	     harness_expect(h, "damage.txt");
	strbuf_release(&text);
	return ok;
}

/* Reads the results of the program. Returns NULL, or the reason of a failure. */
static const char *
read_results(struct running *r, struct harness *h)
{
	FILE *f = fopen(harness_path(h, "damage.txt"), "r");
	bool ok = f != NULL;

	for (int i = 0; ok && i < r->cases->n; i++) {
		ok = fscanf(f, "%d", &r->damage[i]) == 1;
	}
	if (f != NULL) {
		fclose(f);
	}
	for (int i = 0; ok && i < r->k->of.plain->params.n; i++) {
		size_t bytes = (size_t)r->cases->bytes[i] * (size_t)r->cases->n;

		if (r->cases->want[i] == NULL) {
			continue;
		}
		f = fopen(harness_path(h, file_name(r->a, "result",
						    r->k->of.place[i])),
			  "rb");
		ok = f != NULL && fread(r->got[i], 1, bytes, f) == bytes;
		if (f != NULL) {
			fclose(f);
		}
	}
	return ok ? NULL : "wrote too few results";
}

/* Runs the kernel on the cases. Returns NULL, or how the program failed.
 * *status: its exit status. */
static const char *
run(struct running *r, struct harness *h, int *status)
{
	const struct func *f = r->k->of.plain;
	const char *why;

	*status = 0;
	r->damage = arena_array(r->a, int, r->cases->n + 1);
	r->got = arena_array(r->a, unsigned char *, f->params.n + 1);
	for (int i = 0; i < f->params.n; i++) {
		if (r->cases->want[i] != NULL) {
			r->got[i] = arena_alloc(r->a,
						(size_t)r->cases->bytes[i] *
								(size_t)r->cases
									->n +
							1);
		}
	}
	if (!write_inputs(r, h)) {
		return "its files cannot be written";
	}
	why = harness_try(h, "", status);
	return why != NULL ? why : read_results(r, h);
}

static const char *
damage_text(const struct running *r)
{
	for (int i = 0; i < r->cases->n; i++) {
		int at = r->damage[i];

		if (at >= 0 && at < r->k->of.kernel->args.n) {
			const struct kernel_arg *arg =
				&r->k->of.kernel->args.data[at];

			return arena_printf(
				r->a, "case %d (%s): it writes %s %s", i + 1,
				verify_mood_name(r->cases->moods[i]),
				arg->kind == ARG_TENSOR && !arg->written
					? "into its input, or around it,"
					: "outside of",
				arg->buffer != NULL ? arg->buffer->name
						    : "an array");
		}
	}
	return NULL;
}

/* A copy of the text that outlives the arena of a run. */
static const char *
keep(struct verifying *v, const char *text)
{
	return text != NULL ? arena_strdup(v->a, text) : NULL;
}

/* Runs the source that tirc writes on the same cases, and compares the results
 * with those of the folder's source bit by bit. */
static void
compare_with_fresh(struct running *given, struct verified_kernel *k)
{
	struct running fresh = *given;
	struct verifying *v = given->v;
	const char *why;
	int status;

	v->fresh_kernels.most_seconds = v->given_kernels.most_seconds;
	why = run(&fresh, &v->fresh_kernels, &status);
	if (why != NULL) {
		k->not_run = keep(v, arena_printf(given->a,
						  "as tirc writes it, the "
						  "program %s",
						  why));
		return;
	}
	if (k->other == NULL) {
		k->other = keep(v, verify_bits(given->a, &k->of, given->cases,
					       fresh.got, given->got));
	}
}

/* Does the exit status say that no program, or not this one, can run here? */
static bool
cannot_run(int status)
{
	return status < 0 || harness_lacks_instructions(status) ||
	       harness_lacks_memory(status);
}

static const char *
why_not_run(const struct running *r, const char *why, int status)
{
	if (status < 0) {
		return arena_printf(r->a, "the program %s", why);
	}
	if (harness_lacks_memory(status)) {
		return arena_printf(r->a,
				    "the machine has too little memory for the "
				    "arrays of kernel %s",
				    r->k->of.kernel->name);
	}
	return "this processor lacks instructions of the source; give --runner "
	       "a processor that has them";
}

static void
run_size(struct verifying *v, int index, int size)
{
	struct verified_kernel *k = &v->kernels.data[index];
	struct verify_cases cases;
	struct arena a;
	struct running r = {
		.v = v, .a = &a, .k = k, .index = index, .cases = &cases
	};
	double start = process_clock();
	const char *why;
	int status = 0;

	arena_init(&a);
	why = verify_cases_make(&a, &k->of, size, v->seed, &cases);
	if (why != NULL) {
		if (k->result.cases == 0) {
			k->not_run = why;
		}
		arena_release(&a);
		return;
	}
	k->not_run = NULL;
	v->given_kernels.most_seconds = LEAST_SECONDS +
					(tirc_summary(v->fresh.t).simulator !=
							 NULL
						 ? SIMULATED_TIMES
						 : TIMES_INTERPRETER) *
						(process_clock() - start);
	why = run(&r, &v->given_kernels, &status);
	if (why != NULL && cannot_run(status)) {
		v->not_run = keep(v, why_not_run(&r, why, status));
	} else if (why != NULL) {
		k->wrong = keep(v, arena_printf(&a, "the program %s", why));
	} else {
		verify_compare(&a, &k->of, &cases, v->seed, r.got, &k->result);
		k->result.differs = keep(v, k->result.differs);
		k->wrong = k->result.differs != NULL ? k->result.differs
						     : keep(v, damage_text(&r));
		if (!v->same_texts) {
			compare_with_fresh(&r, k);
		}
	}
	arena_release(&a);
}

static void
run_kernel(struct verifying *v, int index)
{
	struct verified_kernel *k = &v->kernels.data[index];
	int sizes;

	if (k->of.obstacle != NULL) {
		k->not_run = k->of.obstacle;
		return;
	}
	k->result.equal = true;
	sizes = verify_sizes(&k->of);
	for (int i = 0; i < sizes && k->wrong == NULL && v->not_run == NULL;
	     i++) {
		run_size(v, index, i);
	}
}

bool
verify_kernels(struct verifying *v)
{
	v->alone_not_run = package_kernels_obstacle(
		tirc_compiled_package(v->fresh.t));
	if (v->not_run != NULL || v->alone_not_run != NULL) {
		return true;
	}
	if (!build(v)) {
		return false;
	}
	for (int i = 0;
	     v->not_built == NULL && v->not_run == NULL && i < v->kernels.n;
	     i++) {
		if (!v->cli->quiet) {
			style_progress(NULL, "running kernels", i + 1,
				       v->kernels.n);
		}
		run_kernel(v, i);
	}
	style_progress_end();
	return true;
}

/* -- constants -- */

/* Runs the program for kernel `index` without any case: then it writes only the
 * kernel's constants. False if the run fails. */
static bool
write_constants(struct verifying *v, int index)
{
	const struct kernel *k = v->kernels.data[index].of.kernel;
	struct harness *h = &v->given_kernels;
	struct strbuf text;
	int status;
	bool ok = true;

	strbuf_init(&text);
	strbuf_printf(&text, "%d 0 %d", index, k->args.n);
	harness_expect_none(h);
	for (int i = 0; ok && i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];

		if (arg->kind != ARG_WEIGHT) {
			strbuf_puts(&text, " n 0");
			continue;
		}
		strbuf_printf(&text, " c %lld", (long long)arg->weight->bytes);
		ok = harness_expect(h, file_name(v->a, "result", i));
	}
	strbuf_putc(&text, '\n');
	ok = ok && harness_write(h, "arguments.txt", text.data, text.len) &&
	     harness_expect(h, "damage.txt") &&
	     harness_try(h, "", &status) == NULL;
	strbuf_release(&text);
	return ok;
}

/* Reads the bytes of a constant that the program has written, into arena a. NULL
 * if it has written fewer. */
static const unsigned char *
read_constant(struct arena *a, const struct verifying *v, int arg, size_t bytes)
{
	unsigned char *data = arena_alloc(a, bytes + 1);
	FILE *f = fopen(harness_path(&v->given_kernels,
				     file_name(a, "result", arg)),
			"rb");
	bool ok = f != NULL && fread(data, 1, bytes, f) == bytes;

	if (f != NULL) {
		fclose(f);
	}
	return ok ? data : NULL;
}

const char *
verify_constants(struct verifying *v, int index)
{
	const struct verify_kernel *of = &v->kernels.data[index].of;
	const struct kernel *k = of->kernel;
	const char *found = NULL;

	if (!write_constants(v, index)) {
		return NULL;
	}
	for (int i = 0; i < k->args.n && found == NULL; i++) {
		const struct weight *w = k->args.data[i].weight;
		const unsigned char *got;
		struct arena a;

		if (k->args.data[i].kind != ARG_WEIGHT) {
			continue;
		}
		arena_init(&a);
		got = read_constant(&a, v, i, (size_t)w->bytes);
		if (got != NULL) {
			found = keep(v, verify_constant(&a, of, w, got));
		}
		arena_release(&a);
	}
	return found;
}

bool
verify_kernel_again(struct verifying *v, int index, struct cli *other,
		    const char *folder, struct verified_kernel *out)
{
	struct verified_kernel was = v->kernels.data[index];
	struct harness given = v->given_kernels;
	bool ok = verify_beside(v, &v->given_kernels);

	v->given_kernels.cli = other;
	v->keeps_want = folder != NULL;
	if (folder != NULL) {
		v->given_kernels.folder = arena_strdup(v->a, folder);
	}
	ok = ok && write_fresh(v, &v->given_kernels) &&
	     build_kernels(v, &v->given_kernels);
	if (ok) {
		v->kernels.data[index].wrong = NULL;
		v->kernels.data[index].not_run = NULL;
		v->kernels.data[index].result = (struct verify_result){
			.cases = 0
		};
		run_kernel(v, index);
	}
	*out = v->kernels.data[index];
	v->kernels.data[index] = was;
	v->given_kernels = given;
	return ok;
}

void
verify_list_kernels(struct verifying *v)
{
	struct program *p = tirc_compiled_program(v->fresh.t);

	for (int i = 0; i < p->kernels.n; i++) {
		struct verified_kernel one = { .changed = false };

		verify_kernel_init(p, i, &one.of);
		vec_push(v->a, &v->kernels, one);
	}
}
