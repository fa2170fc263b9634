/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel whose results differ from those of its nodes, and the
 * cause: a step of the schedule, a pass of lowering, a text of the dialect,
 * or a flag of the compiler. */
#include <string.h>

#include "bisect_cmd.h"
#include "process.h"
#include "schedule.h"

/* One kernel that is wrong. */
struct kernel_bisect {
	struct bisecting *b;
	int index;
	struct verified_kernel *verified;
	struct lowering lowering;
	const struct sched *sched;
	/* why the lowering of the kernel was not compared, or NULL */
	const char *not_asked;
	/* the wrong element or access in the last comparison */
	const char *why;
};

static const char *
text_of(const struct kernel_bisect *s)
{
	return bisect_kernel_text(s->b, s->verified->of.kernel);
}

/* -- in the interpreter -- */

static enum bisect_state
ask_step(void *ctx, int step)
{
	struct kernel_bisect *s = ctx;
	struct arena scratch;
	const char *why;
	enum bisect_state state;

	arena_init(&scratch);
	state = lowering_ask(&scratch, &s->lowering, s->lowering.again.kernel,
			     s->lowering.steps.data[step].func, &why);
	s->why = why != NULL ? arena_strdup(s->b->a, why) : s->why;
	arena_release(&scratch);
	return state;
}

/* Is the kernel right after the first `step` + 1 steps of its schedule? */
static enum bisect_state
ask_primitive(void *ctx, int step)
{
	struct kernel_bisect *s = ctx;
	struct program *p = s->verified->of.program;
	struct diags *diags = &p->graph->module->diags;
	int n_diags = diags->list.n;
	enum bisect_state state = BISECT_UNKNOWN;
	struct kernel_again again;
	struct arena scratch;
	const char *why;

	if (kernel_again(p, s->verified->of.kernel, &again) &&
	    kernel_again_replay(p, &again, s->sched->trace.data, step + 1)) {
		arena_init(&scratch);
		state = lowering_ask(&scratch, &s->lowering, again.kernel,
				     again.kernel->func, &why);
		arena_release(&scratch);
	}
	diags_drop_errors(diags, n_diags, DIAG_COUNT);
	return state;
}

/* The constant of the kernel whose layout is wrong, in words, or NULL. */
static const char *
layout_text(struct kernel_bisect *s)
{
	const struct kernel *k = s->verified->of.kernel;
	struct module *m = s->verified->of.program->graph->module;
	const char *why = NULL;

	for (int i = 0; i < k->args.n && why == NULL; i++) {
		if (k->args.data[i].kind == ARG_WEIGHT) {
			why = layout_fault(s->b->a, m, k->args.data[i].weight);
		}
	}
	return why == NULL ? NULL
			   : arena_printf(s->b->a, "layout of a constant (%s)",
					  why);
}

/* The part of the schedule that made the kernel wrong. */
static const char *
schedule_text(struct kernel_bisect *s)
{
	struct arena *a = s->b->a;
	const struct kernel *k = s->verified->of.kernel;
	const char *layout = layout_text(s);
	int n, before, step;

	if (layout != NULL) {
		return layout;
	}
	s->sched = s->lowering.again.sched;
	n = s->sched->trace.n;
	if (n == 0 || ask_primitive(s, n - 1) != BISECT_WRONG) {
		return arena_printf(a, "schedule (%s)", k->schedule);
	}
	step = bisect_search(0, n - 1, ask_primitive, s, &before);
	return arena_printf(a, "step %s of the schedule (%s)",
			    s->sched->trace.data[step].text, k->schedule);
}

/* The pass that made the kernel wrong, in words. NULL: it is right after all passes, or
 * the interpreter cannot run it. */
static const char *
find_pass(struct kernel_bisect *s)
{
	struct arena *a = s->b->a;
	struct tirc *t = s->b->verify.fresh.t;
	struct lowering *l = &s->lowering;
	const char *also = "";
	int before, step, last;

	*l = (struct lowering){ .of = &s->verified->of,
				.seed = s->b->verify.seed };
	if (!tirc_lower_again(t, s->verified->of.kernel, lowering_add, l,
			      &l->again)) {
		cli_messages(t);
		s->not_asked = "it cannot be lowered again";
		return NULL;
	}
	last = l->steps.n - 1;
	switch (lowering_find_case(a, l, l->steps.data[last].func)) {
	case BISECT_RIGHT:
		return NULL;
	case BISECT_UNKNOWN:
		s->not_asked = "the interpreter cannot run its instructions";
		return NULL;
	case BISECT_WRONG:
		break;
	}
	step = bisect_search(0, last, ask_step, s, &before);
	ask_step(s, step);
	for (int i = before + 1; i < step; i++) {
		also = arena_printf(a, "%spass %s or ", also,
				    l->steps.data[i].pass);
	}
	return step == 0 ? arena_printf(a, "%s", schedule_text(s))
			 : arena_printf(a, "%slowering pass %s", also,
					l->steps.data[step].pass);
}

/* -- flags -- */

/* Is the kernel right if its source is compiled with the command cc? */
static bool
is_right_with(struct kernel_bisect *s, const char *cc)
{
	struct verified_kernel again;
	struct cli other = *s->b->cli;

	other.cc = cc;
	other.cflags = "";
	other.quiet = true;
	return verify_kernel_again(&s->b->verify, s->index, &other, NULL,
				   &again) &&
	       again.wrong == NULL && again.not_run == NULL;
}

static bool
begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

/* Does the source still compile without this flag? It does for flags of
 * optimisation, of code generation, and for macros. */
static bool
is_choice(const char *flag)
{
	return begins(flag, "-O") || begins(flag, "-f") || begins(flag, "-D") ||
	       begins(flag, "-U");
}

/* The command without the word at index left_out; left_out -1: the command with
 * all words. */
static const char *
without(struct kernel_bisect *s, const struct command *command, int left_out)
{
	const char *text = "";

	for (int i = 0; i < command->words.n; i++) {
		if (i != left_out) {
			text = arena_printf(s->b->a, "%s%s%s", text,
					    i > 0 ? " " : "",
					    command_quoted(s->b->a,
							   command->words
								   .data[i]));
		}
	}
	return text;
}

/* The flag of the compiler that makes the kernel wrong, in words; NULL if the
 * kernel stays wrong without each of the flags and with -O0. */
static const char *
find_flag(struct kernel_bisect *s)
{
	struct arena *a = s->b->a;
	const char *cc = harness_compiler(&s->b->verify.fresh);
	struct command command = { 0 };

	if (!command_add(a, &command, cc)) {
		return NULL;
	}
	for (int i = command.words.n - 1; i > 0; i--) {
		const char *flag = command.words.data[i];

		if (is_choice(flag) && !begins(flag, "-O") &&
		    is_right_with(s, without(s, &command, i))) {
			return arena_printf(a, "flag %s of the compiler %s",
					    flag, command.words.data[0]);
		}
	}
	return is_right_with(s, arena_printf(a, "%s -O0",
					     without(s, &command, -1)))
		       ? arena_printf(a,
				      "optimisation of the compiler %s (right "
				      "with -O0)",
				      command.words.data[0])
		       : NULL;
}

/* -- all kernels -- */

/* Notes the part of the model that the kernel computes. */
static void
note_part(struct kernel_bisect *s)
{
	const struct kernel *k = s->verified->of.kernel;
	struct arena *a = s->b->a;
	const char **given = arena_array(a, const char *, k->args.n + 1);
	const char **results = arena_array(a, const char *, k->args.n + 1);
	struct model_part *part = &s->b->part;

	s->b->in_kernels = true;
	*part = (struct model_part){ .given = given, .results = results };
	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];
		const char *name = arg->tensor != NULL ? arg->tensor->model_name
						       : NULL;

		if (arg->kind != ARG_TENSOR || name == NULL) {
			continue;
		}
		if (arg->written) {
			results[part->n_results++] = name;
		} else {
			given[part->n_given++] = name;
		}
		if (arg->in_place != NULL && arg->in_place->model_name) {
			given[part->n_given++] = arg->in_place->model_name;
		}
	}
}

/* Builds the program of the wrong kernel in b->kernel_folder, if the user wants
 * that folder. */
static void
keep_program(struct kernel_bisect *s)
{
	struct verified_kernel again;

	if (s->b->kernel_folder != NULL) {
		verify_kernel_again(&s->b->verify, s->index, s->b->cli,
				    s->b->kernel_folder, &again);
	}
}

/* What made a kernel wrong whose lowered function is right in the interpreter,
 * or cannot run there, in words: a constant as it is stored, a flag of the
 * compiler, or a text of the dialect. */
static const char *
find_outside(struct kernel_bisect *s)
{
	struct bisecting *b = s->b;
	const char *what = verify_constants(&b->verify, s->index), *intrinsic;

	if (what != NULL) {
		bisect_line(b, "constants", "%s", what);
		return arena_printf(b->a, "place or form of a constant (%s)",
				    what);
	}
	what = find_flag(s);
	if (what != NULL) {
		bisect_line(b, "flags", "wrong by the %s", what);
		return what;
	}
	bisect_line(b, "flags", "wrong with any");
	what = arena_printf(b->a, "%stext in the dialect %s",
			    s->not_asked != NULL ? "lowering, or the " : "",
			    tirc_compiled_program(b->verify.fresh.t)
				    ->target->dialect);
	intrinsic = s->lowering.steps.n > 0 ? lowering_intrinsic(&s->lowering)
					    : NULL;
	return intrinsic == NULL
		       ? what
		       : arena_printf(b->a,
				      "text of the intrinsic %s, or the %s,",
				      intrinsic, what);
}

static void
explain(struct kernel_bisect *s, const char *wrong)
{
	struct bisecting *b = s->b;
	const char *what;

	note_part(s);
	keep_program(s);
	what = find_pass(s);
	if (what != NULL) {
		wrong = s->why != NULL ? s->why : wrong;
		bisect_line(b, "lowering", "wrong in the interpreter after: %s",
			    what);
	} else {
		if (s->not_asked != NULL) {
			bisect_line(b, "lowering", "not compared: %s",
				    s->not_asked);
		} else {
			bisect_line(b, "lowering",
				    "right in the interpreter "
				    "after all passes");
		}
		what = find_outside(s);
	}
	b->verdict = arena_printf(b->a, "The %s made %s wrong: %s.", what,
				  text_of(s), wrong);
}

/* Where no program can be run: compares the kernels after each pass in the
 * interpreter. */
static void
interpret(struct bisecting *b)
{
	struct verifying *v = &b->verify;
	int n = 0;

	for (int i = 0; i < v->kernels.n && b->verdict == NULL; i++) {
		struct kernel_bisect s = { .b = b,
					   .index = i,
					   .verified = &v->kernels.data[i] };
		const char *what;

		if (s.verified->of.obstacle != NULL) {
			continue;
		}
		what = find_pass(&s);
		n += s.not_asked == NULL;
		if (what != NULL) {
			note_part(&s);
			b->verdict = arena_printf(b->a,
						  "The %s made %s wrong: %s.",
						  what, text_of(&s), s.why);
		}
	}
	bisect_line(b, "kernels", "%s, %d of %d in the interpreter",
		    b->verdict != NULL ? "wrong" : "right", n, v->kernels.n);
}

bool
bisect_kernels(struct bisecting *b)
{
	struct verifying *v = &b->verify;
	int n = 0;

	if (!verify_kernels(v)) {
		return false;
	}
	if (v->not_run != NULL || v->alone_not_run != NULL ||
	    v->not_built != NULL) {
		bisect_line(b, "kernels", "not run as C: %s",
			    v->not_run != NULL         ? v->not_run
			    : v->alone_not_run != NULL ? v->alone_not_run
						       : v->not_built);
		interpret(b);
		return true;
	}
	for (int i = 0; i < v->kernels.n; i++) {
		n += v->kernels.data[i].not_run == NULL;
	}
	for (int i = 0; i < v->kernels.n && b->verdict == NULL; i++) {
		struct kernel_bisect s = { .b = b,
					   .index = i,
					   .verified = &v->kernels.data[i] };

		if (s.verified->wrong != NULL) {
			bisect_line(b, "kernels", "%s is wrong: %s",
				    s.verified->of.kernel->name,
				    s.verified->wrong);
			explain(&s, s.verified->wrong);
		}
	}
	if (b->verdict == NULL) {
		bisect_line(b, "kernels",
			    "right, %d of %d as C, beside the interpreter", n,
			    v->kernels.n);
	}
	return true;
}
