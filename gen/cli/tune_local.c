/* SPDX-License-Identifier: Apache-2.0 */
/* The runner "local": compiles a candidate and runs it in turn with the rules'
 * schedule, so that both run at the same clock frequency and under the same
 * load of the machine; the ratio of their times is the measurement. On a
 * simulator, which counts instructions, each runs only once. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "process.h"
#include "tune_runner.h"

enum {
	ROUNDS = 7,
	FIRST_CALLS = 3,
	MOST_CALLS = 20000,
	COMPILE_SECONDS = 300,
	RUN_SECONDS = 60,
	/* A candidate counts as one that hangs if it takes MOST_TIMES times as
	 * long as the rules' schedule and RUN_SECONDS more. */
	MOST_TIMES = 20,
	/* the largest length of an error message that is sent */
	MOST_TEXT = 300
};

/* The time that the calls of one round should take. */
#define ROUND_NS 1.5e7
/* After the first round, a candidate that is this many times slower than the
 * rules' schedule is not measured further. */
#define HOPELESS 1.5

struct built {
	const struct tune_task *task;
	const char *folder;
	long calls;
	double ns; /* the time of one call of the function, in nanoseconds */
};

struct local {
	struct harness *h;
	const char *machine, *compiler;
	bool simulated;
	int n_given; /* number of arguments of the present job */
	/* for each task: its rules' schedule as a built program */
	VEC(struct built) rules;
};

/* The line with "error:" in a program's output, else its first line. */
static const char *
first_words(struct arena *a, const struct strbuf *out)
{
	const char *text = out->len > 0 ? out->data : "", *at;
	size_t n;

	at = strstr(text, "error:");
	at = at != NULL ? at : text;
	n = strcspn(at, "\r\n");
	return arena_strndup(a, at, n < MOST_TEXT ? n : MOST_TEXT);
}

static const char *
run_in(struct arena *a, const char *folder, const struct command *command,
       const struct confinement *confined, double seconds, const char *what)
{
	struct strbuf out;
	const struct process p = { .command = command,
				   .folder = folder,
				   .confined = confined,
				   .out = &out,
				   .is_together = true,
				   .most_seconds = seconds };
	const char *why;

	strbuf_init(&out);
	why = process_run(a, &p);
	cleanup_pause_if_interrupted();
	if (why != NULL) {
		const char *words = first_words(a, &out);

		why = arena_printf(a, "%s %s%s%s", what, why,
				   words[0] != '\0' ? ": " : "", words);
	}
	strbuf_release(&out);
	return why;
}

static int
compare(const void *a, const void *b)
{
	return cli_compare_doubles(a, b);
}

/* Sets *time to the median of the times that a program wrote for its calls.
 * Returns NULL, or the reason of a failure. */
static const char *
read_times(struct arena *a, const char *folder, long calls, double *time)
{
	FILE *f = fopen(arena_printf(a, "%s/times.txt", folder), "r");
	double *list = arena_array(a, double, calls + 1);
	long n = 0;

	while (f != NULL && n < calls && fscanf(f, "%lf", &list[n]) == 1) {
		n++;
	}
	if (f != NULL) {
		fclose(f);
	}
	if (n < calls) {
		return "it wrote too few times";
	}
	qsort(list, (size_t)n, sizeof *list, compare);
	*time = list[n / 2] > 0 ? list[n / 2] : 1;
	return NULL;
}

/* Sets *out to the confinement of the program in the folder. Returns false
 * after an error message. */
static bool
confine(struct local *l, struct arena *a, const char *folder,
	const struct command *command, const struct confinement **out)
{
	struct harness there = *l->h;
	bool ok;

	there.folder = arena_strdup(a, folder);
	memset(&there.results, 0, sizeof there.results);
	ok = harness_expect(&there, "times.txt");
	for (int i = 0; ok && i < l->n_given; i++) {
		ok = harness_expect(&there,
				    arena_printf(a, "result_%d.bin", i));
	}
	return ok && harness_confine(&there, command, out);
}

static const char *
run(struct local *l, struct arena *a, const char *folder, long calls,
    double seconds, double *time)
{
	struct tirc_summary s = tirc_summary(l->h->t);
	const struct confinement *confined = NULL;
	struct command c = { 0 };
	const char *why;

	if (s.simulator != NULL) {
		command_add(a, &c, s.simulator);
	}
	command_add_word(a, &c, "./harness");
	if (s.simulator != NULL) {
		command_add(a, &c, s.simulator_argument);
		command_add_word(a, &c, "");
	}
	if (!confine(l, a, folder, &c, &confined)) {
		return "it cannot be confined";
	}
	why = run_in(a, folder, &c, confined, seconds, "the program");
	return why != NULL ? why : read_times(a, folder, calls, time);
}

static const char *
build(struct local *l, struct arena *a, const struct tune_job *job,
      const char *folder)
{
	struct command c = tune_compile_command(l->h, job);

	return run_in(a, folder, &c, NULL, COMPILE_SECONDS, "the compiler");
}

/* `rules` is the job of a task's rules' schedule. Sets *out to the program that
 * was built from it, with the number of calls in a round. Builds the program if
 * this is the first job of the task. Returns NULL, or the reason why it cannot
 * be built. */
static const char *
build_rules(struct local *l, struct arena *a, const struct tune_job *rules,
	    struct built **out)
{
	struct built one = { .task = rules->task, .calls = FIRST_CALLS };
	const char *why;

	for (int i = 0; i < l->rules.n; i++) {
		if (l->rules.data[i].task == rules->task) {
			*out = &l->rules.data[i];
			return NULL;
		}
	}
	one.calls = l->simulated ? 1 : FIRST_CALLS;
	one.folder = tune_folder(l->h, rules, one.calls);
	if (one.folder == NULL) {
		return "its files cannot be written";
	}
	why = build(l, a, rules, one.folder);
	if (why == NULL) {
		why = run(l, a, one.folder, one.calls, 10 * RUN_SECONDS,
			  &one.ns);
	}
	if (why != NULL) {
		return why;
	}
	if (!l->simulated) {
		double calls = ROUND_NS / one.ns;

		one.calls = calls < FIRST_CALLS  ? FIRST_CALLS
			    : calls > MOST_CALLS ? MOST_CALLS
						 : (long)calls;
		if (!tune_write_arguments(rules, one.folder, one.calls)) {
			return "its files cannot be written";
		}
	}
	vec_push(&l->h->m->arena, &l->rules, one);
	*out = &l->rules.data[l->rules.n - 1];
	return NULL;
}

static void
remove_folder(struct arena *a, const char *folder)
{
	struct command c = { 0 };
	const struct process p = { .command = &c };

	command_add_word(a, &c, "rm");
	command_add_word(a, &c, "-rf");
	command_add_word(a, &c, "--");
	command_add_word(a, &c, folder);
	process_run(a, &p);
}

/* Runs the rules' schedule and the candidate in turn, round by round. Returns
 * NULL, or the reason of a failure. */
static const char *
run_rounds(struct local *l, struct arena *a, struct built *rules,
	   const char *folder, struct measurement *out)
{
	struct record_round *rounds = arena_array(a, struct record_round,
						  ROUNDS);
	double seconds = RUN_SECONDS +
			 MOST_TIMES * 1e-9 * rules->ns * (double)rules->calls;
	const char *why = NULL;
	int n = l->simulated ? 1 : ROUNDS;

	out->rounds = rounds;
	out->unit = l->simulated ? "instructions" : "ns";
	for (int i = 0; i < n; i++) {
		struct record_round *r = &rounds[i];

		if (l->simulated) {
			r->rules_time = rules->ns;
		} else {
			why = run(l, a, rules->folder, rules->calls,
				  10 * RUN_SECONDS, &r->rules_time);
		}
		if (why == NULL) {
			why = run(l, a, folder, rules->calls, seconds,
				  &r->time);
		}
		if (why != NULL) {
			return why;
		}
		out->n_rounds++;
		if (r->time > HOPELESS * r->rules_time) {
			break;
		}
	}
	return NULL;
}

static const char *
measure(void *ctx, struct arena *a, const struct tune_job *candidate,
	const struct tune_job *rules, struct measurement *out)
{
	struct local *l = ctx;
	const char *folder, *why;
	struct built *of_rules;

	l->n_given = candidate->n_given;
	out->machine = l->machine;
	out->compiler = l->compiler;
	if (!candidate->has_caller) {
		return "this machine cannot launch its kernels; give a --runner "
		       "cmd:PROGRAM that can";
	}
	why = build_rules(l, a, rules, &of_rules);
	if (why != NULL) {
		return why;
	}
	folder = candidate == rules
			 ? of_rules->folder
			 : tune_folder(l->h, candidate, of_rules->calls);
	if (folder == NULL) {
		return "its files cannot be written";
	}
	if (candidate != rules) {
		why = build(l, a, candidate, folder);
	}
	if (why == NULL) {
		why = run_rounds(l, a, of_rules, folder, out);
	}
	if (why == NULL) {
		why = tune_read_outputs(a, candidate, folder, &out->outputs);
	}
	if (candidate != rules) {
		remove_folder(a, folder);
	}
	return why;
}

/* Pins this process and its children to the core on which it runs, so that the
 * caches stay warm, and measured times vary less. */
static void
stay_on_core(void)
{
	cpu_set_t set;
	int core = sched_getcpu();

	if (core >= 0) {
		CPU_ZERO(&set);
		CPU_SET(core, &set);
		sched_setaffinity(0, sizeof set, &set);
	}
}

struct tune_runner
tune_runner_local(struct harness *h)
{
	struct local *l = arena_new(&h->m->arena, struct local);
	struct tirc_summary s = tirc_summary(h->t);

	l->h = h;
	l->simulated = s.simulator != NULL;
	l->machine = l->simulated ? s.simulator : tune_machine(&h->m->arena);
	l->compiler = tune_compiler(h);
	if (s.cores == 0) {
		stay_on_core();
	}
	return (struct tune_runner){ .ctx = l,
				     .machine = l->machine,
				     .compiler = l->compiler,
				     .measure = measure };
}
