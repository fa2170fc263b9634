/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs under random schedules: every primitive of the table, with
 * any arguments. What is applied keeps the result, what is refused changes
 * nothing, what has come of it reads back, lowers, is done again from its
 * trace, and is the same as compiled source.
 * Some programs are scheduled by the rules of a target instead.
 * argv: target (with facts that it may have), folder to work in, compiler and
 * flags, first seed, number of seeds; "shrink" and a seed instead of the last two look at one that went
 * wrong. Stops at the third failure, or as many as TIRC_FAILURES says. */
#define _GNU_SOURCE
#include "schedules.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { TRIAL_SECONDS = 120, MEMORY_MIB = 24 };

/* What no random step can apply, and why. */
static const struct {
	const char *primitive, *reason;
} inapplicable[] = {
	{ "", "" },
};

/* For the handler of crashes, which starts the shrinker. */
static struct {
	char **argv;
	uint64_t seed;
} now;

static void
on_crash(int signal_number)
{
	char seed[24];

	(void)signal_number;
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)now.seed);
	execl("/proc/self/exe", now.argv[0], now.argv[1], now.argv[2],
	      now.argv[3], "shrink", seed, (char *)NULL);
	_exit(1);
}

static void
watch(char **argv)
{
	struct sigaction action = { .sa_handler = on_crash,
				    .sa_flags = SA_NODEFER };

	now.argv = argv;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
}

bool
schedule_trial_run(struct trial *t, uint64_t seed, struct trial_counts *counts,
		   struct trial_place *place, struct batch *b)
{
	struct trial_place own;
	struct random_step step;

	place = place ? place : &own;
	*place = (struct trial_place){ 0 };
	if (!schedule_trial_make(t, seed, b->kind)) {
		return false;
	}
	if (t->target && (!trial_schedule(t, counts) || t->is_refused)) {
		b->n_refused += t->is_refused;
		return t->is_refused;
	}
	for (int i = 0; i < trial_steps(t); i++) {
		place->step = i;
		place->at = AT_CHOICE;
		if (!trial_choose(t, i, &step)) {
			continue;
		}
		place->at = AT_STEP;
		if (!trial_step(t, &step, counts, place)) {
			return false;
		}
	}
	place->at = AT_END;
	place->step = trial_steps(t);
	return trial_check(t, true) && trial_check_traces(t) && batch_add(b, t);
}

/* AddressSanitizer keeps what was freed for a while, and finds leaks itself. */
#if defined __SANITIZE_ADDRESS__
enum { KEEPS_FREED = 1 };
#else
enum { KEEPS_FREED = 0 };
#endif

/* Resident memory; 0: not known here, or no measure of what is in use. */
static long
memory_kib(void)
{
	FILE *f = KEEPS_FREED ? NULL : fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (f) {
		if (fscanf(f, "%ld %ld", &size, &resident) != 2) {
			resident = 0;
		}
		fclose(f);
	}
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static bool
is_inapplicable(const char *name, const char **reason)
{
	size_t n = sizeof inapplicable / sizeof *inapplicable;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(inapplicable[i].primitive, name) == 0) {
			*reason = inapplicable[i].reason;
			return true;
		}
	}
	return false;
}

/* How often each primitive was applied. In a long run each must have been, in
 * a short one most of them. */
static bool
check_counts(const struct trial_counts *counts, uint64_t n_trials)
{
	int n, never = 0;
	const struct primitive *list = sched_primitives(&n);

	for (int i = 0; i < n; i++) {
		const char *reason = NULL;
		bool exempt = is_inapplicable(list[i].name, &reason);

		fprintf(stderr, "%-26s %7d applied %7d refused%s%s\n",
			list[i].name, counts->applied[i], counts->refused[i],
			exempt ? ": " : "", exempt ? reason : "");
		never += counts->applied[i] == 0 && !exempt;
	}
	fprintf(stderr, "%d by rules\n", counts->by_rules);
	for (int i = 0; i < counts->n_reached; i++) {
		fprintf(stderr, "%-44s %4d times\n", counts->reached[i].symbol,
			counts->reached[i].times);
	}
	fprintf(stderr,
		"%lld steps, %lld lowered on the way, %d of %d "
		"primitives never applied\n",
		(long long)counts->steps, (long long)counts->lowered, never, n);
	return n_trials >= 5000  ? never == 0
	       : n_trials >= 100 ? never * 4 <= n
				 : true;
}

static bool
run_all(struct batch *b, uint64_t first, uint64_t n)
{
	static struct trial_counts counts;
	const char *most = getenv("TIRC_FAILURES");
	int failed = 0, enough = most ? atoi(most) : 3;
	long early = 0, late;

	for (uint64_t i = 0; i < n && failed < enough; i++) {
		struct trial t;
		uint64_t seed = now.seed = first + i;
		bool good;

		alarm(TRIAL_SECONDS);
		good = schedule_trial_run(&t, seed, &counts, NULL, b);
		trial_release(&t);
		alarm(0);
		if (good && (b->n == BATCH_MAX || i + 1 == n)) {
			good = batch_finish(b, &seed) == TROUBLE_NONE;
		}
		if (!good) {
			failed++;
			shrink(seed, b);
		}
		if (i == n / 4) {
			early = memory_kib();
		}
		if ((i + 1) % 500 == 0) {
			fprintf(stderr, "%llu trials, %ld KiB\n",
				(unsigned long long)i + 1, memory_kib());
		}
	}
	late = memory_kib();
	fprintf(stderr,
		"%d functions run by %s, %d kernels; no kernels of "
		"%d\n",
		b->n_run, b->dialect, b->n_kernels, b->n_refused);
	fprintf(stderr,
		"%d failed; %ld KiB after a quarter, %ld at the "
		"end\n",
		failed, early, late);
	if (late - early > MEMORY_MIB * 1024) {
		fprintf(stderr, "memory has grown\n");
		failed++;
	}
	if (b->has_tiles && n >= 64 && counts.n_reached == 0) {
		fprintf(stderr, "no product by tiles\n");
		failed++;
	}
	return check_counts(&counts, n) && failed == 0;
}

int
main(int argc, char **argv)
{
	static struct batch b;

	if (argc != 6) {
		fprintf(stderr,
			"usage: %s 'target facts' folder "
			"'compiler flags' first count\n",
			argv[0]);
		return 2;
	}
	if (!batch_init(&b, argv[1], argv[2], argv[3])) {
		return 1;
	}
	if (strcmp(argv[4], "shrink") == 0) {
		shrink(strtoull(argv[5], NULL, 10), &b);
		return 1;
	}
	watch(argv);
	return !run_all(&b, strtoull(argv[4], NULL, 10),
			strtoull(argv[5], NULL, 10));
}
