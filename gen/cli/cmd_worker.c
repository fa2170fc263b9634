/* SPDX-License-Identifier: Apache-2.0 */
/* tirc worker: measures the jobs that tirc tune --queue sends. It takes sources
 * from the queue and compiles and runs them. It checks every field of a job.
 * The queue gives it no commands to run. While a job is measured, a second
 * thread tells the queue that the worker is alive. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "queue_job.h"
#include "tune_runner.h"
#include "tuning.h"

/* If a worker gives no sign of life for TAKE_OVER_SECONDS, another worker takes
 * over its job. If MOST_DELIVERIES workers have taken a job and none has
 * answered it, it is answered with an error. A worker announces itself every
 * ANNOUNCE_SECONDS. */
enum { TAKE_OVER_SECONDS = 30, MOST_DELIVERIES = 5, ANNOUNCE_SECONDS = 20 };

/* tirc needs some compiled model to build programs for a target; the worker has
 * no model of its own and uses this one. */
static const char stand_in[] =
	"<ir_version: 8, opset_import: [\"\" : 17]>\n"
	"stand_in (float[4] x) => (float[4] y) { y = Relu(x) }\n";

/* The data of the thread that gives signs of life; `lock` guards `entry` and
 * `ends`, which the main thread writes. */
struct pulse {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue *queue; /* the thread's own connection to the queue */
	const char *jobs, *worker;
	/* the queue entry of the job that is being measured, or "" */
	char entry[64];
	bool ends;
	long every; /* the period of the signs of life, in milliseconds */
};

struct worker {
	struct cli *c;
	struct harness h;
	struct queue *queue;
	struct tune_runner runner;
	const char *facts, *jobs, *name, *announcement;
	/* the time without a sign of life until a take-over, in milliseconds */
	long idle;
	time_t announced;
	struct pulse pulse;
	/* Jobs that were measured, one of each task. Two jobs have the same
	 * task if their workloads and the traces of their rules' schedules are
	 * equal. */
	VEC(const struct queue_job *) known;
};

/* -- signs of life -- */

static void *
give_signs(void *ctx)
{
	struct pulse *p = ctx;

	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		struct timespec until;
		char entry[sizeof p->entry];

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += p->every / 1000;
		until.tv_nsec += p->every % 1000 * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&p->changed, &p->lock, &until);
		memcpy(entry, p->entry, sizeof entry);
		pthread_mutex_unlock(&p->lock);
		if (entry[0] != '\0') {
			queue_keep(p->queue, p->jobs, p->worker, entry);
		}
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void
set_entry(struct pulse *p, const char *entry)
{
	pthread_mutex_lock(&p->lock);
	snprintf(p->entry, sizeof p->entry, "%s", entry);
	pthread_mutex_unlock(&p->lock);
}

static bool
pulse_start(struct worker *w)
{
	struct pulse *p = &w->pulse;

	p->queue = queue_open(w->c->queue);
	p->jobs = w->jobs;
	p->worker = w->name;
	p->every = w->idle / 4 + 1;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	if (p->queue != NULL &&
	    pthread_create(&p->thread, NULL, give_signs, p) != 0) {
		queue_close(p->queue);
		p->queue = NULL;
		cli_error("a thread cannot be started");
	}
	return p->queue != NULL;
}

static void
pulse_end(struct pulse *p)
{
	if (p->queue == NULL) {
		return;
	}
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	queue_close(p->queue);
}

/* -- jobs -- */

/* The runner identifies the compiled program of the rules' schedule by the
 * pointer to its task. This function gives a job the pointer of an earlier job
 * with the same kernel and rules' schedule, so that the program is not compiled
 * again. */
static void
share_task(struct worker *w, struct queue_job *job)
{
	struct arena *a = &w->h.m->arena;
	const struct tune_job *rules = job->is_rules ? &job->candidate
						     : &job->rules;
	struct queue_job *one;

	for (int i = 0; i < w->known.n; i++) {
		const struct queue_job *k = w->known.data[i];

		if (strcmp(k->task.workload, job->task.workload) == 0 &&
		    strcmp(k->rules.trace, rules->trace) == 0) {
			job->candidate.task = job->rules.task = &k->task;
			return;
		}
	}
	one = arena_new(a, struct queue_job);
	one->kernel.name = arena_strdup(a, job->kernel.name);
	one->kernel.title = arena_strdup(a, job->kernel.title);
	one->task.workload = arena_strdup(a, job->task.workload);
	one->task.kernel = &one->kernel;
	one->rules.trace = arena_strdup(a, rules->trace);
	job->candidate.task = job->rules.task = &one->task;
	vec_push(a, &w->known, one);
}

static const char *
measure(struct worker *w, struct arena *a, struct queue_job *job,
	struct measurement *of)
{
	share_task(w, job);
	return w->runner.measure(w->runner.ctx, a, &job->candidate,
				 job->is_rules ? &job->candidate : &job->rules,
				 of);
}

static void
tell(const struct worker *w, const struct queue_job *job, const char *why,
     const struct measurement *of)
{
	if (w->c->quiet) {
		return;
	}
	if (why != NULL) {
		say(stdout, "%s  %s\n",
		    job->kernel.name != NULL ? job->kernel.name : "?", why);
	} else {
		say(stdout, "%s  %.0f %s, the rules' schedule %.0f\n",
		    job->kernel.name, of->rounds[0].time, of->unit,
		    of->rounds[0].rules_time);
	}
	fflush(stdout);
}

/* Measures a job and sends the answer. Returns false if the connection to the
 * queue is lost. */
static bool
work(struct worker *w, struct arena *a, const struct queue_message *m,
     long deliveries)
{
	struct queue_job job;
	struct measurement of = { 0 };
	struct queue_message answer;
	const char *why = queue_read_job(a, m, w->facts, &job);

	if (job.id == NULL) {
		cli_note("a message of the queue is not a valid job: %s", why);
		return queue_remove(w->queue, w->jobs, m->entry);
	}
	if (why != NULL) {
		why = arena_printf(a, "the worker refuses the job: %s", why);
	} else if (deliveries > MOST_DELIVERIES) {
		why = "no worker that took it has answered";
	} else {
		set_entry(&w->pulse, m->entry);
		why = measure(w, a, &job, &of);
		set_entry(&w->pulse, "");
	}
	if (cleanup_was_stopped()) {
		return queue_release(w->queue, w->jobs, w->name, m->entry);
	}
	tell(w, &job, why, &of);
	queue_write_answer(a, &job, why, &of, &answer);
	return queue_answer(w->queue, w->jobs, m->entry, job.id,
			    queue_answers_name(a, job.id), &answer);
}

static bool
announce(struct worker *w)
{
	time_t now = time(NULL);

	if (now - w->announced < ANNOUNCE_SECONDS) {
		return true;
	}
	w->announced = now;
	return queue_announce(w->queue, w->jobs, w->name, w->announcement);
}

static bool
work_on(struct worker *w)
{
	bool ok = true;

	while (ok && !cleanup_was_stopped()) {
		struct queue_message m;
		struct arena a;
		long deliveries;

		arena_init(&a);
		ok = announce(w) && queue_take(w->queue, &a, w->jobs, w->name,
					       w->idle, &m, &deliveries);
		if (ok && m.entry != NULL) {
			ok = work(w, &a, &m, deliveries);
		}
		arena_release(&a);
	}
	return ok;
}

/* -- the verb -- */

static bool
write_stand_in(struct worker *w)
{
	const char *scratch = cleanup_scratch();

	if (scratch == NULL) {
		return false;
	}
	w->c->model = arena_printf(&w->c->arena, "%s/stand_in.onnxtxt",
				   scratch);
	return tune_write(scratch, "stand_in.onnxtxt", stand_in,
			  sizeof stand_in - 1);
}

static bool
open_target(struct worker *w)
{
	struct harness *h = &w->h;

	h->cli = w->c;
	h->m = module_new();
	if (!write_stand_in(w)) {
		return false;
	}
	h->t = cli_open(w->c);
	if (h->t == NULL || !harness_begin(h, w->c)) {
		return false;
	}
	if (!tirc_compile(h->t)) {
		cli_messages(h->t);
		return false;
	}
	return true;
}

static bool
open_queue(struct worker *w, const char *runner)
{
	struct arena *a = &w->h.m->arena;
	struct tune_model model;
	char host[64] = "worker";

	if (!tune_runner_open(&w->h, runner, &w->runner)) {
		cli_messages(w->h.t);
		return false;
	}
	gethostname(host, sizeof host - 1);
	tirc_tune_model(w->h.t, &model);
	w->facts = model.facts;
	w->jobs = queue_jobs_name(a, w->facts);
	w->name = arena_printf(a, "%s-%ld-%s", host, (long)getpid(),
			       queue_new_id(a));
	w->announcement = arena_printf(a, "%s: %s, %s",
				       tirc_summary(w->h.t).target,
				       w->runner.machine != NULL
					       ? w->runner.machine
					       : "recorded times",
				       w->runner.compiler != NULL
					       ? w->runner.compiler
					       : "no compiler");
	w->idle = w->c->seconds > 0 ? (long)(1000 * w->c->seconds)
				    : 1000 * TAKE_OVER_SECONDS;
	w->queue = queue_open(w->c->queue);
	return w->queue != NULL && pulse_start(w);
}

int
cmd_worker(struct cli *c)
{
	struct worker w = { .c = c };
	const char *runner = c->runner;
	bool ok;

	c->runner = NULL;
	c->has_summary = true;
	c->confine = c->confine != NULL ? c->confine : "require";
	if (c->queue == NULL) {
		cli_error("no queue is given; add --queue redis://HOST:PORT");
		return CLI_USAGE;
	}
	if (runner == NULL || strcmp(runner, "local") == 0) {
		cli_use_machine(c);
	}
	ok = open_target(&w) && open_queue(&w, runner);
	if (ok) {
		cleanup_stop_first();
		if (!c->quiet) {
			say(stdout, "worker   %s\n", w.announcement);
			fflush(stdout);
		}
		ok = work_on(&w);
		ok = ok && queue_announce(w.queue, w.jobs, w.name, NULL);
	}
	pulse_end(&w.pulse);
	queue_close(w.queue);
	harness_close(&w.h);
	cleanup_end_if_stopped();
	return ok ? CLI_DONE : CLI_INPUT;
}
