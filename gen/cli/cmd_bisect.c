/* SPDX-License-Identifier: Apache-2.0 */
/* tirc bisect: which pass, node, kernel or flag made an output wrong? */
#include <dirent.h>
#include <string.h>

#include "bisect_cmd.h"
#include "compare.h"
#include "random.h"

/* The exit statuses. */
enum { BISECT_SAME = 0, BISECT_FAULT = 1, BISECT_TROUBLE = 2 };

/* Runs the model's program on the data sets. False after an error message. */
static bool
run_model(struct bisecting *b)
{
	struct verifying *v = &b->verify;

	if (v->not_run != NULL) {
		bisect_line(b, "model", "not run: %s", v->not_run);
		return true;
	}
	if (!verify_build_fresh(v, &v->given)) {
		return false;
	}
	test_on_data(&v->given, b->paths, b->n_paths, &b->runs);
	bisect_line(b, "model", "%s, as C, %s",
		    b->runs.passed + b->runs.undecided == b->runs.n ? "right"
								    : "wrong",
		    b->n_paths > 0 ? "beside the expected outputs"
				   : "beside the interpreter on random "
				     "inputs");
	return true;
}

/* Is the folder `path` of -o absent or empty? If not, prints an error message
 * and returns false, so that nothing in the folder is replaced and no link in
 * it is followed. */
static bool
check_out(const char *path)
{
	DIR *dir = path != NULL ? opendir(path) : NULL;
	const struct dirent *e;
	bool ok = true;

	while (dir != NULL && ok && (e = readdir(dir)) != NULL) {
		ok = strcmp(e->d_name, ".") == 0 ||
		     strcmp(e->d_name, "..") == 0 ||
		     cli_error(
			     "-o %s: this folder is not empty; name a new one",
			     path);
	}
	if (dir != NULL) {
		closedir(dir);
	}
	return ok;
}

/* Compiles the model. False after an error message. */
static bool
begin(struct bisecting *b)
{
	struct verifying *v = &b->verify;

	v->cli = b->cli;
	if (!harness_emit(&v->fresh, b->cli)) {
		return false;
	}
	v->a = b->a = &v->fresh.m->arena;
	verify_list_kernels(v);
	v->same_texts = true;
	v->number = 1;
	v->seed = RANDOM_SEED + 2;
	v->not_run = verify_obstacle(v);
	b->n_paths = data_set_list(&v->fresh, &b->paths);
	return data_sets_check(&v->fresh, b->paths, b->n_paths);
}

bool
bisect_part_is_wrong(struct bisecting *b)
{
	bool ok = begin(b) &&
		  (b->in_kernels ? bisect_kernels(b) : bisect_graph(b));

	harness_close(&b->verify.fresh);
	return ok && b->verdict != NULL;
}

static const char *
tensor_text(const struct bisecting *b, const struct tensor *t)
{
	return t == NULL ? "its scratch memory"
			 : arena_printf(b->a, "the tensor %s",
					t->model_name != NULL ? t->model_name
							      : t->name);
}

/* Describes the fault where each kernel and the graph are right: the places of
 * tensors in memory or the order of the calls are wrong, or the fault shows in the
 * whole model alone, such as a flag of the compiler for values that the cases of
 * the kernels lack. */
static const char *
plan_text(struct bisecting *b)
{
	struct plan_fault f;
	const char *reader;

	if (plan_is_right(b->a, tirc_compiled_program(b->verify.fresh.t), &f)) {
		return "The model as a whole is wrong, but the graph, each "
		       "kernel by itself, the order of the calls and the "
		       "places of tensors in memory are right: try the model "
		       "without the flags of the compiler (--cflags).";
	}
	reader = bisect_kernel_text(b, f.kernel);
	if (f.by == NULL) {
		bisect_line(b, "plan", "a tensor is read before it is stored");
		return arena_printf(b->a,
				    "The order of the calls made %s wrong: it "
				    "reads %s, which no kernel has stored "
				    "before.",
				    reader, tensor_text(b, f.tensor));
	}
	bisect_line(b, "plan", "two tensors that are needed at once overlap");
	return arena_printf(b->a,
			    "The memory plan made %s wrong: it reads %s, over "
			    "which %s stores %s, from byte %lld of the "
			    "workspace on.",
			    reader, tensor_text(b, f.tensor),
			    f.by == f.kernel ? "it"
					     : bisect_kernel_text(b, f.by),
			    tensor_text(b, f.over), (long long)f.from);
}

static bool
bisect(struct bisecting *b)
{
	if (!run_model(b) || !bisect_graph(b) ||
	    (b->verdict == NULL && !bisect_kernels(b))) {
		return false;
	}
	if (b->verdict == NULL &&
	    b->runs.passed + b->runs.undecided < b->runs.n) {
		b->verdict = plan_text(b);
	}
	if (b->verdict != NULL && b->cli->out != NULL && !bisect_minimal(b)) {
		return false;
	}
	if (b->verdict != NULL) {
		say(stdout, "%s\n", b->verdict);
	} else if (!b->cli->quiet) {
		say(stdout, "Nothing is wrong.\n");
	}
	return true;
}

int
cmd_bisect(struct cli *c)
{
	struct bisecting b = { .cli = c };
	struct node_results results;
	bool ok;

	if (c->verify_data != NULL) {
		c->rest = &c->verify_data;
		c->n_rest = 1;
	}
	if (!check_out(c->out)) {
		return BISECT_TROUBLE;
	}
	cli_use_machine(c);
	data_set_open_folders(c);
	data_sizes(c);
	node_results_init(&results);
	c->results = &results;
	ok = begin(&b) && bisect(&b);
	harness_close(&b.verify.fresh);
	node_results_release(&results);
	return !ok                 ? BISECT_TROUBLE
	       : b.verdict != NULL ? BISECT_FAULT
				   : BISECT_SAME;
}
