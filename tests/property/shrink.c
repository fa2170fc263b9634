/* SPDX-License-Identifier: Apache-2.0 */
/* From a seed that goes wrong to little that goes wrong: steps are left out,
 * then stages of the program, while the same trouble remains. Each try is a
 * process of its own, so crashes and endless loops shrink like the rest. */
#define _GNU_SOURCE
#include "schedules.h"

#include "script.h"
#include "trace.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shrinker {
	struct trial t;
	const struct batch *settings;
	enum trouble trouble;
	struct sched_step *steps;
	int n_steps;
	bool refused; /* the last step is one that was refused, or crashed */
	int stages;   /* 0: all */
};

/* -- a try in its own process */

static enum trouble
wait_for(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) < 0) {
		return TROUBLE_NONE;
	}
	return WIFEXITED(status)             ? (enum trouble)WEXITSTATUS(status)
	       : WTERMSIG(status) == SIGALRM ? TROUBLE_HANG
					     : TROUBLE_CRASH;
}

static pid_t
begin_try(void)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		alarm(60);
		if (!getenv("TIRC_SHOW")) {
			freopen("/dev/null", "w", stderr);
		}
	}
	return child;
}

/* Applies the steps; those that do not fit any more are left out. */
static void
apply_fitting(struct shrinker *k)
{
	int n = k->n_steps - k->refused;

	for (;;) {
		int done;

		trial_begin(&k->t);
		if (sched_replay(&k->t.sched, k->steps, n)) {
			return;
		}
		done = k->t.sched.trace.n;
		for (int i = done; i + 1 < k->n_steps; i++) {
			k->steps[i] = k->steps[i + 1];
		}
		k->n_steps--;
		n--;
	}
}

/* All of it again: by rules, or as far as steps fit. */
static bool
schedule(struct shrinker *k)
{
	if (k->t.target) {
		trial_begin(&k->t);
		return trial_schedule(&k->t, NULL);
	}
	apply_fitting(k);
	trial_note_device(&k->t);
	return true;
}

static enum trouble
check_refused(struct shrinker *k)
{
	struct strbuf before, after;
	int errors;
	bool same;

	strbuf_init(&before);
	strbuf_init(&after);
	func_print(k->t.sched.func, SCRIPT_CURRENT, &before);
	trial_begin(&k->t);
	errors = k->t.sched.diags.n_errors;
	if (sched_replay(&k->t.sched, k->steps, k->n_steps)) {
		return TROUBLE_NONE;
	}
	func_print(k->t.sched.func, SCRIPT_CURRENT, &after);
	same = strcmp(before.data, after.data) == 0;
	return !same                                 ? TROUBLE_ROLLBACK
	       : k->t.sched.diags.n_errors == errors ? TROUBLE_SILENT
						     : TROUBLE_NONE;
}

static enum trouble
check(struct shrinker *k)
{
	struct batch b = *k->settings;
	struct trial *t = &k->t;
	enum trouble found;
	uint64_t seed;

	if (k->stages && !trial_remake(t, k->stages)) {
		return t->trouble;
	}
	if (!schedule(k)) {
		return t->trouble;
	}
	if (k->refused) {
		return check_refused(k);
	}
	if (!trial_check(t, true) || !trial_check_traces(t)) {
		return t->trouble;
	}
	if (k->trouble < TROUBLE_RACE || k->trouble > TROUBLE_SOURCE_RESULT) {
		return TROUBLE_NONE;
	}
	b.n = 0;
	found = batch_add(&b, t) ? batch_finish(&b, &seed) : t->trouble;
	return found;
}

static bool
still_fails(struct shrinker *k)
{
	pid_t child = begin_try();

	if (child == 0) {
		_exit((int)check(k));
	}
	return wait_for(child) == k->trouble;
}

/* -- the whole trial, to see what is wrong and where */

static enum trouble
whole(const struct shrinker *k, uint64_t seed, struct trial_place *place)
{
	pid_t child = begin_try();

	if (child == 0) {
		struct batch b = *k->settings;
		struct trial t;
		bool good;
		uint64_t first;

		b.n = 0;
		good = schedule_trial_run(&t, seed, NULL, place, &b);
		_exit((int)(good ? batch_finish(&b, &first) : t.trouble));
	}
	return wait_for(child);
}

/* The arguments as the trace has them: one per parameter. */
static struct sched_step
as_traced(struct module *m, const struct random_step *step)
{
	const struct primitive *p = step->primitive;
	struct sched_value *args = arena_array(&m->arena, struct sched_value,
					       p->n_params + 1);
	struct sched_step out = { .primitive = p, .args = args };

	for (int i = 0; i < p->n_params; i++) {
		args[i] = i < step->n_args        ? step->args[i]
			  : p->params[i].optional ? p->params[i].initial
						  : sv_none();
	}
	return out;
}

/* The steps up to where it goes wrong, without checks. */
static bool
collect(struct shrinker *k, uint64_t seed, const struct trial_place *place)
{
	struct trial *t = &k->t;
	struct random_step last;
	bool has_last = false;

	if (!schedule_trial_make(t, seed, k->settings->kind)) {
		return false;
	}
	for (int i = 0; i <= place->step && i < trial_steps(t); i++) {
		if (!trial_choose(t, i, &last)) {
			continue;
		}
		if (i == place->step && place->at == AT_STEP) {
			has_last = true;
			break;
		}
		has_last = !sched_apply(&t->sched, last.primitive->name,
					last.args, last.n_args, NULL);
	}
	k->refused = has_last &&
		     (place->at == AT_STEP || k->trouble == TROUBLE_ROLLBACK ||
		      k->trouble == TROUBLE_SILENT);
	k->n_steps = t->sched.trace.n + k->refused;
	k->steps = arena_array(&t->m->arena, struct sched_step, k->n_steps + 1);
	for (int i = 0; i < t->sched.trace.n; i++) {
		k->steps[i] = t->sched.trace.data[i];
	}
	if (k->refused) {
		k->steps[k->n_steps - 1] = as_traced(t->m, &last);
	}
	return true;
}

/* -- leaving out */

static bool
try_without(struct shrinker *k, int from, int n)
{
	struct sched_step *all = k->steps;
	int n_all = k->n_steps;
	bool fails;

	k->steps = arena_array(&k->t.m->arena, struct sched_step, n_all + 1);
	k->n_steps = 0;
	for (int i = 0; i < n_all; i++) {
		if (i < from || i >= from + n) {
			k->steps[k->n_steps++] = all[i];
		}
	}
	fails = still_fails(k);
	if (!fails) {
		k->steps = all;
		k->n_steps = n_all;
	}
	return fails;
}

static void
drop_steps(struct shrinker *k)
{
	for (int n = k->n_steps / 2; n >= 1; n /= 2) {
		for (int from = k->n_steps - k->refused - n; from >= 0;
		     from -= n) {
			try_without(k, from, n);
		}
	}
}

static void
drop_stages(struct shrinker *k)
{
	for (int n = 1; n < k->t.program.n_stages; n++) {
		k->stages = n;
		if (still_fails(k)) {
			return;
		}
	}
	k->stages = 0;
}

enum trouble
shrink(uint64_t seed, const struct batch *settings)
{
	struct trial_place *place = mmap(NULL, sizeof *place,
					 PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct shrinker k = { .settings = settings };
	bool whole_program;

	k.trouble = whole(&k, seed, place);
	fprintf(stderr, "seed %llu: %s (step %d)\n", (unsigned long long)seed,
		trouble_text(k.trouble), place->step);
	if (k.trouble == TROUBLE_NONE) {
		return k.trouble;
	}
	if (!collect(&k, seed, place)) {
		trial_print(&k.t, stderr);
		return k.trouble;
	}
	whole_program = still_fails(&k);
	if (whole_program) {
		drop_steps(&k);
		drop_stages(&k);
		drop_steps(&k);
	} else {
		fprintf(stderr, "(not seen again from the trace alone; all "
				"of it follows)\n");
	}
	if (k.stages) {
		trial_remake(&k.t, k.stages);
	}
	schedule(&k);
	if (k.refused) {
		fprintf(stderr, "the last step is %s\n",
			k.steps[k.n_steps - 1].primitive->name);
	} else if (k.trouble != TROUBLE_CRASH && k.trouble != TROUBLE_HANG) {
		check(&k);
	}
	trial_print(&k.t, stderr);
	return k.trouble;
}
