/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule-for KERNEL=FILE: a kernel of a model scheduled by hand. The file
 * is a schedule in Python form, a trace as JSON, or the kernel's whole program
 * as TVMScript. */
#include <string.h>

#include "float_checks.h"
#include "index_checks.h"
#include "intrinsics.h"
#include "iterate.h"
#include "script.h"
#include "source_load.h"
#include "text.h"
#include "tirc_context.h"
#include "trace_json.h"
#include "trace_python.h"

static bool
fail(struct tirc *t, const char *file, const char *problem)
{
	return diag_error(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .item = "--schedule-for" },
			  "%s: %s", file, problem);
}

bool
context_schedules(struct tirc *t)
{
	const struct tirc_options *o = &t->options;

	for (int i = t->by_hand.n; i < o->n_schedule_for; i++) {
		const char *text = o->schedule_for[i];
		const char *equals = strchr(text, '=');
		struct by_hand one = { 0 };

		if (equals == NULL || equals == text || equals[1] == '\0') {
			return context_bad_option(
				t, "--schedule-for", text,
				"KERNEL=FILE, such as conv1=conv1.py");
		}
		one.kernel = arena_strndup(&t->m->arena, text,
					   (size_t)(equals - text));
		one.file = equals + 1;
		vec_push(&t->m->arena, &t->by_hand, one);
	}
	return true;
}

/* Is the text a program that defines a function? If not, the text is a
 * schedule. Only searches for "prim_func". */
static bool
is_program(const struct source *src)
{
	static const char mark[] = "prim_func";
	size_t n = sizeof mark - 1;

	for (size_t i = 0; i + n <= src->length; i++) {
		if (memcmp(src->text + i, mark, n) == 0) {
			return true;
		}
	}
	return false;
}

/* Reads the only function in the text of `src`; NULL after a diagnostic, also
 * if the text has several functions. */
static struct func *
read_program(struct tirc *t, const struct source *src)
{
	int made;
	struct func *g = add_pass_read(t->m, src, &made);

	if (made >= 0 && made != 1) {
		fail(t, src->name,
		     "the file has several functions; keep only the kernel's");
		return NULL;
	}
	return g;
}

/* Are the functions that f calls intrinsics of the dialect, and has it no
 * instruction by its name, whose accesses nothing proves, unless the dialect's
 * schedules made it (by_schedule)? False after a diagnostic. */
static bool
calls_intrinsics(struct tirc *t, const char *file, const struct func *f,
		 bool by_schedule)
{
	const struct intrinsic_set *set = intrinsic_set_load(t->m,
							     t->dialect->dir);
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *x;
	bool good = set != NULL;

	while (good && (x = tree_next(&it))) {
		if (x->u.intrin == INTRIN_CALL_INTRIN && !by_schedule) {
			good = fail(t, file,
				    "it has an instruction by its name, whose "
				    "accesses are not proven: run and test do "
				    "not; compile the model, and run the "
				    "source yourself");
			break;
		}
		good = x->u.intrin != INTRIN_CALL_EXTERN ||
		       intrinsic_set_symbol(set, x->args[0]->u.text) != NULL ||
		       fail(t, file,
			    arena_printf(&t->m->arena,
					 "it calls the function '%s', which "
					 "only this file names: run and test "
					 "do not; compile the model, and link "
					 "the function yourself",
					 x->args[0]->u.text));
	}
	tree_stop(&it);
	return good;
}

/* The file may come from a stranger and may hold a whole program. A kernel in
 * it must not access elements outside of its arrays, nor, where its source will
 * be run, call functions of the machine; there, each access of a program is
 * proven. by_schedule: f was made from the model's kernel by schedule steps,
 * which keep its accesses, so that they need no proof. False after a
 * diagnostic. */
bool
context_check_schedule(struct tirc *t, const char *by, const struct func *f,
		       bool by_schedule)
{
	struct func *lowered = func_clone(f, f->name);

	return (!t->options.self_contained ||
		calls_intrinsics(t, by, f, by_schedule)) &&
	       program_lower(lowered, 3, false, NULL) &&
	       program_check_indices(lowered, by) &&
	       (by_schedule || !t->options.self_contained ||
		program_prove_indices(lowered, by));
}

/* Replaces the kernel f by the program in the file, if that has the signature
 * of the unscheduled kernel. If not, the program waits in *one until the rules
 * have run, which may change the layout of constants. Says which was done. */
static enum hook_schedule
take_program(struct tirc *t, struct by_hand *one, struct func *f,
	     const struct source *src)
{
	struct func *g = read_program(t, src);

	if (g == NULL) {
		return HOOK_SCHEDULE_FAILED;
	}
	one->mismatch = func_mismatch(f, g);
	if (one->mismatch != NULL) {
		one->program = g;
		return HOOK_SCHEDULE_AFTER;
	}
	return func_adopt(f, g) &&
			       context_check_schedule(t, one->file, f, false)
		       ? HOOK_SCHEDULE_DONE
		       : HOOK_SCHEDULE_FAILED;
}

static enum hook_schedule
apply(struct tirc *t, struct by_hand *one, struct sched *s)
{
	struct source src;
	bool good;

	one->used = true;
	if (!source_load(t->m, one->file, &src)) {
		return HOOK_SCHEDULE_FAILED;
	}
	if (!text_ends_in(one->file, ".json") && is_program(&src)) {
		return take_program(t, one, s->func, &src);
	}
	good = text_ends_in(one->file, ".json") ? trace_json_read(s, &src)
						: trace_read_python(s, &src);
	return good && context_check_schedule(t, one->file, s->func, true)
		       ? HOOK_SCHEDULE_DONE
		       : HOOK_SCHEDULE_FAILED;
}

static struct by_hand *
find(struct tirc *t, const char *kernel)
{
	for (int i = 0; i < t->by_hand.n; i++) {
		if (strcmp(t->by_hand.data[i].kernel, kernel) == 0) {
			return &t->by_hand.data[i];
		}
	}
	return NULL;
}

enum hook_schedule
context_schedule(struct tirc *t, const struct kernel *k, struct sched *s)
{
	struct by_hand *one = find(t, k->name);

	return one != NULL ? apply(t, one, s) : HOOK_SCHEDULE_NONE;
}

bool
context_after_rules(void *ctx, const char *kernel, struct func *f)
{
	struct tirc *t = ctx;
	struct by_hand *one = find(t, kernel);
	const char *mismatch = func_mismatch(f, one->program);

	if (mismatch == NULL) {
		return func_adopt(f, one->program) &&
		       context_check_schedule(t, one->file, f, false);
	}
	if (strcmp(mismatch, one->mismatch) != 0) {
		mismatch = arena_printf(&t->m->arena,
					"%s; with the rules' layout of "
					"constants %s",
					one->mismatch, mismatch);
	}
	return fail(
		t, one->file,
		arena_printf(
			&t->m->arena,
			"%s; keep the signature that `tirc lower --from-onnx MODEL "
			"--kernel %s` prints with --unscheduled or, for this target, "
			"with --phase 0",
			mismatch, kernel));
}

bool
context_schedules_used(struct tirc *t)
{
	int n = t->program.kernels.n;
	const char **names = arena_array(&t->m->arena, const char *, n + 1);

	for (int i = 0; i < n; i++) {
		names[i] = t->program.kernels.data[i]->name;
	}
	for (int i = 0; i < t->by_hand.n; i++) {
		const struct by_hand *one = &t->by_hand.data[i];
		const char *near;

		if (one->used) {
			continue;
		}
		near = text_nearest(one->kernel, names, n);
		return fail(
			t, one->kernel,
			arena_printf(
				&t->m->arena,
				"the model has no kernel of that name; %s%s",
				near != NULL ? "did you mean "
					     : "`tirc inspect` lists them",
				near != NULL ? near : ""));
	}
	return true;
}
