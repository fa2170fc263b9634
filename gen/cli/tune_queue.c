/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of --queue: sends jobs to workers through a queue. At any time it
 * has sent at most one job of each kernel. */
#include <string.h>
#include <time.h>

#include "queue_job.h"
#include "tune_runner.h"
#include "tuning.h"

/* The period after which the tuner checks that unanswered jobs are still in the
 * queue. */
enum { LOOK_SECONDS = 10 };

struct sent {
	const char *id;
	int task;
	const struct tune_job *job;
	struct queue_message message;
};

struct fleet {
	struct harness *h;
	struct queue *queue;
	const char *facts, *jobs, *id, *answers;
	const char *after; /* the number of the last answer that was read */
	/* workers take measurements from records and send no results */
	bool replays;
	bool looked_for_workers;
	time_t looked;
	long n;
	VEC(struct sent) sent;
};

static void
look_for_workers(struct fleet *f)
{
	int n;

	if (f->looked_for_workers) {
		return;
	}
	f->looked_for_workers = true;
	if (queue_count_workers(f->queue, f->jobs, &n) && n == 0) {
		cli_note("no worker for this target has announced itself yet; "
			 "start some with tirc worker");
	}
}

static const char *
start(void *ctx, int task, const struct tune_job *candidate,
      const struct tune_job *rules)
{
	struct fleet *f = ctx;
	struct arena *a = &f->h->m->arena;
	struct sent s = { .task = task, .job = candidate };
	const char *why;

	look_for_workers(f);
	s.id = arena_printf(a, "%s-%ld", f->id, ++f->n);
	why = queue_write_job(a, s.id, f->facts, candidate, rules, &s.message);
	if (why == NULL && !queue_offer(f->queue, a, f->jobs, &s.message)) {
		why = "it cannot be sent";
	}
	if (why == NULL) {
		vec_push(a, &f->sent, s);
	}
	return why;
}

/* Sends jobs again that have no answer and are no longer in the queue, because
 * the server lost them. */
static bool
send_lost(struct fleet *f)
{
	time_t now = time(NULL);

	if (now - f->looked < LOOK_SECONDS) {
		return true;
	}
	f->looked = now;
	for (int i = 0; i < f->sent.n; i++) {
		struct sent *s = &f->sent.data[i];
		bool there;

		if (!queue_has(f->queue, f->jobs, s->message.entry, &there) ||
		    (!there && !queue_offer(f->queue, &f->h->m->arena, f->jobs,
					    &s->message))) {
			return false;
		}
	}
	return true;
}

static bool
finish(void *ctx, struct arena *a, int *task, const char **why,
       struct measurement *out)
{
	struct fleet *f = ctx;
	struct queue_message m;
	const char *id;

	*task = -1;
	if (!queue_next(f->queue, a, f->answers, f->after, &m)) {
		return false;
	}
	if (m.entry == NULL) {
		return send_lost(f);
	}
	f->after = m.entry;
	id = queue_answered(a, &m);
	for (int i = 0; id != NULL && i < f->sent.n; i++) {
		struct sent *s = &f->sent.data[i];

		if (strcmp(s->id, id) == 0) {
			*task = s->task;
			*why = queue_read_answer(a, &m, s->job, !f->replays,
						 out);
			*s = f->sent.data[--f->sent.n];
			break;
		}
	}
	return true;
}

static void
give_up(void *ctx)
{
	struct fleet *f = ctx;
	bool ok = true;

	for (int i = 0; ok && i < f->sent.n; i++) {
		ok = queue_remove(f->queue, f->jobs,
				  f->sent.data[i].message.entry);
	}
	if (ok) {
		queue_forget(f->queue, f->answers);
	}
	queue_close(f->queue);
	f->queue = NULL;
}

struct tune_runner
tune_runner_queue(struct harness *h, const char *url, const char *word)
{
	struct arena *a = &h->m->arena;
	struct fleet *f = arena_new(a, struct fleet);
	struct tune_model model;
	struct tune_runner r = { 0 };

	if (word != NULL && strcmp(word, "replay") != 0) {
		cli_error("--runner %s: with --queue the workers run the "
			  "measurements; give --runner to tirc worker",
			  word);
		return r;
	}
	tirc_tune_model(h->t, &model);
	f->h = h;
	f->facts = model.facts;
	f->jobs = queue_jobs_name(a, model.facts);
	f->id = queue_new_id(a);
	f->answers = queue_answers_name(a, f->id);
	f->after = "0";
	f->replays = word != NULL;
	f->looked = time(NULL);
	f->queue = queue_open(url);
	if (f->queue != NULL) {
		r = (struct tune_runner){ .ctx = f,
					  .start = start,
					  .finish = finish,
					  .give_up = give_up };
	}
	return r;
}
