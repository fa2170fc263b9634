/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_driver URL WORKERS TUNERS SECONDS: simulates a fleet on a queue. The
 * workers and tuners are processes that use the queue as `tirc worker` and
 * `tirc tune` do, but jobs are JOB_BYTES bytes that nobody compiles, and a
 * worker takes a random time between half a second and a second and a half for
 * each. Each tuner has WORKERS / TUNERS jobs under way. After SECONDS seconds
 * the tuners offer no more jobs and wait for the answers to the jobs under way.
 *
 * Prints a line of JSON: the number of jobs and of answers, the seconds from
 * the first to the last answer, and quantiles in milliseconds of the time that
 * a job waits for a worker (`wait`) and that an answer takes to the tuner
 * (`back`). The exit status is 1 if a job has no answer or two. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "queue.h"
#include "random.h"

enum { JOB_BYTES = 20000, MOST_JOBS = 1 << 16, DRAIN_SECONDS = 60 };

#define JOBS "tirc:load:jobs"
#define IDLE_MILLISECONDS 30000

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static _Noreturn void
stop(const char *why)
{
	fprintf(stderr, "fleet_driver: %s\n", why);
	exit(2);
}

static const char *
answers_of(struct arena *a, const char *tuner)
{
	return arena_printf(a, "tirc:load:answers:%s", tuner);
}

static int64_t
number_of(struct arena *a, const struct queue_message *m, const char *name)
{
	const char *text = queue_text(a, m, name);

	if (text == NULL) {
		stop("a message lacks a field");
	}
	return strtoll(text, NULL, 10);
}

static void
put_number(struct arena *a, struct queue_message *m, const char *name,
	   int64_t value)
{
	queue_put_text(a, m, name, arena_printf(a, "%lld", (long long)value));
}

/* ---- a worker ---- */

/* Answers a job: its number, when it was offered, taken and answered. */
static bool
answer(struct queue *q, struct arena *a, const struct queue_message *job,
       int64_t taken)
{
	const char *tuner = queue_text(a, job, "tuner");
	const char *id = queue_text(a, job, "id");
	struct queue_message out = { 0 };

	if (tuner == NULL || id == NULL) {
		stop("a job lacks a field");
	}
	put_number(a, &out, "job", number_of(a, job, "job"));
	put_number(a, &out, "offered", number_of(a, job, "offered"));
	put_number(a, &out, "taken", taken);
	put_number(a, &out, "answered", now());
	return queue_answer(q, JOBS, job->entry, id, answers_of(a, tuner),
			    &out);
}

static void
work(const char *url, int number)
{
	uint64_t state = (uint64_t)number + 1;
	struct queue *q = queue_open(url);
	char name[32];

	snprintf(name, sizeof name, "worker-%d", number);
	while (q != NULL) {
		struct queue_message job;
		struct timespec rest = { 0 };
		struct arena a;
		long deliveries;
		bool ok;

		arena_init(&a);
		ok = queue_take(q, &a, JOBS, name, IDLE_MILLISECONDS, &job,
				&deliveries);
		if (ok && job.entry != NULL) {
			int64_t taken = now();
			int64_t ns = 500000000 + (int64_t)(random_next(&state) %
							   1000000000);

			rest.tv_sec = ns / 1000000000;
			rest.tv_nsec = ns % 1000000000;
			nanosleep(&rest, NULL);
			ok = answer(q, &a, &job, taken);
		}
		arena_release(&a);
		if (!ok) {
			break;
		}
	}
	exit(1);
}

/* ---- a tuner ---- */

/* The times of one answer, in nanoseconds. */
struct times {
	int64_t wait, back, at;
};

struct tuner {
	struct queue *queue;
	char name[24];
	int n_jobs, n_answers, n_twice;
	bool answered[MOST_JOBS];
	struct times times[MOST_JOBS];
};

static void
offer(struct tuner *t)
{
	static const char source[JOB_BYTES];
	struct queue_message job = { 0 };
	struct arena a;

	if (t->n_jobs == MOST_JOBS) {
		stop("too many jobs");
	}
	arena_init(&a);
	queue_put_text(&a, &job, "id",
		       arena_printf(&a, "%s-%d", t->name, t->n_jobs));
	queue_put_text(&a, &job, "tuner", t->name);
	put_number(&a, &job, "job", t->n_jobs++);
	put_number(&a, &job, "offered", now());
	queue_put(&a, &job, "source", source, sizeof source);
	if (!queue_offer(t->queue, &a, JOBS, &job)) {
		exit(2);
	}
	arena_release(&a);
}

static void
note(struct tuner *t, struct arena *a, const struct queue_message *m)
{
	int64_t at = now(), taken = number_of(a, m, "taken");
	int64_t job = number_of(a, m, "job");

	if (t->answered[job]) {
		t->n_twice++;
		return;
	}
	t->answered[job] = true;
	t->times[t->n_answers++] = (struct times){
		.wait = taken - number_of(a, m, "offered"),
		.back = at - number_of(a, m, "answered"),
		.at = at,
	};
}

static void
tune(struct tuner *t, int jobs, int seconds)
{
	const int64_t end = now() + (int64_t)seconds * 1000000000;
	const int64_t last = end + (int64_t)DRAIN_SECONDS * 1000000000;
	char after[64] = "0";

	for (int i = 0; i < jobs; i++) {
		offer(t);
	}
	while (t->n_answers < t->n_jobs && now() < last) {
		struct queue_message m = { 0 };
		struct arena a;

		arena_init(&a);
		if (!queue_next(t->queue, &a, answers_of(&a, t->name), after,
				&m)) {
			exit(2);
		}
		if (m.entry != NULL) {
			snprintf(after, sizeof after, "%s", m.entry);
			note(t, &a, &m);
			if (now() < end) {
				offer(t);
			}
		}
		arena_release(&a);
	}
}

/* Runs a tuner and writes what it measured to the pipe. */
static void
run_tuner(const char *url, int number, int jobs, int seconds, int to)
{
	struct tuner *t = calloc(1, sizeof *t);
	FILE *out = fdopen(to, "w");

	if (t == NULL || out == NULL) {
		stop("no memory");
	}
	snprintf(t->name, sizeof t->name, "tuner-%d", number);
	t->queue = queue_open(url);
	if (t->queue == NULL) {
		exit(2);
	}
	tune(t, jobs, seconds);
	fwrite(&t->n_jobs, sizeof t->n_jobs, 1, out);
	fwrite(&t->n_answers, sizeof t->n_answers, 1, out);
	fwrite(&t->n_twice, sizeof t->n_twice, 1, out);
	fwrite(t->times, sizeof *t->times, (size_t)t->n_answers, out);
	exit(fclose(out) == 0 ? 0 : 2);
}

/* ---- all of them ---- */

/* What all tuners measured. */
struct totals {
	int n_jobs, n_answers, n_twice;
	int64_t *wait, *back;
	int64_t first, last;
};

static void
read_tuner(struct totals *t, int from)
{
	FILE *in = fdopen(from, "r");
	int n_jobs, n_answers, n_twice;
	struct times one;

	if (in == NULL || fread(&n_jobs, sizeof n_jobs, 1, in) != 1 ||
	    fread(&n_answers, sizeof n_answers, 1, in) != 1 ||
	    fread(&n_twice, sizeof n_twice, 1, in) != 1) {
		stop("a tuner failed");
	}
	t->n_jobs += n_jobs;
	t->n_twice += n_twice;
	while (fread(&one, sizeof one, 1, in) == 1) {
		t->wait[t->n_answers] = one.wait;
		t->back[t->n_answers++] = one.back;
		t->first = t->first == 0 || one.at < t->first ? one.at
							      : t->first;
		t->last = one.at > t->last ? one.at : t->last;
	}
	fclose(in);
}

static int
by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void
print_quantiles(const char *name, int64_t *list, int n)
{
	static const double at[] = { 0.5, 0.95, 0.99, 1 };

	qsort(list, (size_t)n, sizeof *list, by_value);
	printf(", \"%s\": [", name);
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		int k = n == 0 ? 0 : (int)ceil(at[i] * n) - 1;

		printf("%s%.1f", i > 0 ? ", " : "",
		       n == 0 ? 0 : (double)list[k] / 1e6);
	}
	printf("]");
}

static pid_t
start(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		stop("a process cannot be started");
	}
	return pid;
}

int
main(int argc, char **argv)
{
	int workers, tuners, seconds, pipes[2];
	struct totals t = { 0 };
	pid_t *pid;
	int *from;

	if (argc != 5) {
		stop("usage: fleet_driver URL WORKERS TUNERS SECONDS");
	}
	workers = atoi(argv[2]);
	tuners = atoi(argv[3]);
	seconds = atoi(argv[4]);
	if (workers < 1 || tuners < 1 || tuners > workers || seconds < 1) {
		stop("at least one worker, tuner and second, please, and no "
		     "more tuners than workers");
	}
	pid = calloc((size_t)workers, sizeof *pid);
	from = calloc((size_t)tuners, sizeof *from);
	t.wait = calloc((size_t)tuners * MOST_JOBS, sizeof *t.wait);
	t.back = calloc((size_t)tuners * MOST_JOBS, sizeof *t.back);
	if (pid == NULL || from == NULL || t.wait == NULL || t.back == NULL) {
		stop("no memory");
	}
	for (int i = 0; i < workers; i++) {
		pid[i] = start();
		if (pid[i] == 0) {
			work(argv[1], i);
		}
	}
	for (int i = 0; i < tuners; i++) {
		if (pipe(pipes) != 0) {
			stop("no pipe");
		}
		if (start() == 0) {
			run_tuner(argv[1], i, workers / tuners, seconds,
				  pipes[1]);
		}
		close(pipes[1]);
		from[i] = pipes[0];
	}
	for (int i = 0; i < tuners; i++) {
		read_tuner(&t, from[i]);
	}
	for (int i = 0; i < workers; i++) {
		kill(pid[i], SIGKILL);
	}
	while (wait(NULL) > 0) {
	}
	printf("{\"jobs\": %d, \"answers\": %d, \"twice\": %d, "
	       "\"seconds\": %.1f",
	       t.n_jobs, t.n_answers, t.n_twice,
	       (double)(t.last - t.first) / 1e9);
	print_quantiles("wait", t.wait, t.n_answers);
	print_quantiles("back", t.back, t.n_answers);
	printf("}\n");
	return t.n_jobs == t.n_answers && t.n_twice == 0 ? 0 : 1;
}
