/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the tuner: choose a task, make a candidate, measure it, check its
 * results, and write a record. */
#include "tune.h"

#include <math.h>
#include <stdlib.h>

#include "search.h"
#include "version.h"

struct tuning {
	struct tune_model *m;
	struct arena *arena;
	const struct tune_runner *runner;
	const struct tune_options *o;
};

/* The state of a task during the tuning. */
struct tuned {
	struct tune_task *task;
	struct tune_state *state;
	struct search *search; /* NULL before the first trial */
	/* the job of the schedule that the rules make by themselves */
	struct tune_job rules;
	struct tune_job job; /* the present job */
	bool is_measured;    /* a runner is measuring the job at present */
	bool has_rules;
	/* An earlier record of the rules' own schedule agrees with the present
	 * one, so that earlier records of other schedules can be used. */
	bool trusts_earlier;
	/* the traces of all schedules that were made */
	VEC(const char *) traces;
};

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double
median(struct arena *a, const struct record_round *rounds, int n,
       double (*of)(const struct record_round *r))
{
	double *list = arena_array(a, double, n + 1);

	for (int i = 0; i < n; i++) {
		list[i] = of(&rounds[i]);
	}
	qsort(list, (size_t)n, sizeof *list, compare);
	return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

static double
time_of(const struct record_round *r)
{
	return r->time;
}

static double
rules_time_of(const struct record_round *r)
{
	return r->rules_time;
}

static double
ratio_of(const struct record_round *r)
{
	return r->time / r->rules_time;
}

/* -- one trial -- */

static const char *
check(struct tuning *t, const struct tune_job *job, const struct measurement *x)
{
	const char *why = x->n_rounds < 1 ? "the runner measured nothing"
					  : NULL;

	for (int i = 0; why == NULL && x->outputs != NULL && i < job->outputs.n;
	     i++) {
		why = tune_check(t->m, job->task, &job->outputs.data[i],
				 x->outputs[i]);
	}
	return why;
}

static struct record
record_of(const struct tuning *t, const struct tuned *x,
	  const struct tune_job *job, const struct measurement *of)
{
	const struct kernel *k = x->task->kernel;

	return (struct record){
		.workload = x->task->workload,
		.kernel = k->name,
		.computes = k->title,
		.target = t->m->program->target->name,
		.facts = t->m->facts,
		.decisions = job->decisions,
		.n_decisions = job->n_decisions,
		.trace = job->trace,
		.unit = of->unit,
		.rounds = of->rounds,
		.n_rounds = of->n_rounds,
		.machine = of->machine != NULL ? of->machine : "unknown",
		.compiler = of->compiler != NULL ? of->compiler : "unknown",
		.tirc = version_text(),
		.date = record_date(t->arena),
	};
}

/* Counts a trial and stores its result. Returns the ratio of the record;
 * negative if the measurement failed. */
static double
note(struct tuning *t, struct tuned *x, const struct record *r)
{
	struct tune_state *s = x->state;
	double ratio;

	s->trials++;
	if (r->error != NULL) {
		s->failed++;
		return -1;
	}
	ratio = median(t->arena, r->rounds, r->n_rounds, ratio_of);
	s->unit = r->unit;
	if (s->rules_time == 0) {
		s->rules_time = r->rules_time;
	}
	if (ratio < s->best_ratio && ratio <= 1 - t->o->least_gain &&
	    ratio <= RECORD_MOST) {
		s->best_ratio = ratio;
		s->best = record_words(t->arena, r->decisions, r->n_decisions);
	}
	return ratio;
}

static bool
knows(void *ctx, const struct choices *made)
{
	return search_knows(ctx, made);
}

/* -- records of an earlier run -- */

/* Does the record's schedule take about as long as the rules' schedule? Then it
 * may be a record of the rules' schedule itself. */
static bool
is_of_rules(const struct record *r)
{
	enum { PER_CENT = 10 };

	return r->error == NULL && fabs(record_ratio(r) - 1) * 100 <= PER_CENT;
}

static bool
is_same(const char *known, const char *text)
{
	return known == NULL || strcmp(known, text) == 0;
}

/* The last earlier record of the job's schedule; NULL if the job must be
 * measured. */
static const struct record *
find_earlier(const struct tuning *t, const struct tuned *x,
	     const struct tune_job *job)
{
	const struct records *list = t->o->earlier;

	for (int i = list != NULL && (!x->has_rules || x->trusts_earlier)
			     ? list->list.n - 1
			     : -1;
	     i >= 0; i--) {
		const struct record *r = &list->list.data[i];

		if (r->trace != NULL &&
		    strcmp(r->workload, x->task->workload) == 0 &&
		    strcmp(r->facts, t->m->facts) == 0 &&
		    is_same(t->runner->machine, r->machine) &&
		    is_same(t->runner->compiler, r->compiler) &&
		    strcmp(r->trace, job->trace) == 0) {
			return x->has_rules || is_of_rules(r) ? r : NULL;
		}
	}
	return NULL;
}

/* Tells the search the result of an earlier record of the job, in place of a
 * measurement. */
static void
reuse(struct tuning *t, struct tuned *x, const struct tune_job *job,
      const struct record *r)
{
	double ratio = note(t, x, r);

	x->state->known++;
	search_tell(x->search, ratio < 0 ? SEARCH_FAILED : SEARCH_MEASURED,
		    &job->choices, ratio);
}

static const struct tune_job *
rules_of(const struct tuned *x)
{
	return x->has_rules ? &x->rules : &x->job;
}

/* Called when a job has ended. If it was the first job of the task, which has
 * the rules' own schedule, keeps it as x->rules. */
static void
end_rules(struct tuned *x)
{
	if (!x->has_rules) {
		x->has_rules = true;
		x->rules = x->job;
		x->state->ended = x->task->obstacle != NULL;
	}
}

/* Handles the end of the present job: checks the measurement `of`, makes a
 * record of it, or, if the job failed, of the reason `why`, and passes the
 * record on. Returns false if the tuning must end. */
static bool
take(struct tuning *t, struct tuned *x, const char *why,
     const struct measurement *of)
{
	struct record r;
	double ratio;
	bool go_on;

	if (why == NULL) {
		why = check(t, &x->job, of);
	}
	r = record_of(t, x, &x->job, of);
	r.error = why;
	if (why == NULL) {
		r.time = median(t->arena, of->rounds, of->n_rounds, time_of);
		r.rules_time = median(t->arena, of->rounds, of->n_rounds,
				      rules_time_of);
	}
	if (why != NULL && !x->has_rules) {
		x->task->obstacle = arena_printf(
			t->arena, "the rules' own schedule is not measured: %s",
			why);
	}
	ratio = note(t, x, &r);
	search_tell(x->search, ratio < 0 ? SEARCH_FAILED : SEARCH_MEASURED,
		    &x->job.choices, ratio);
	go_on = t->o->record(t->o->ctx, x->state, &r);
	end_rules(x);
	return go_on;
}

/* Was a schedule with the same steps made before for this task? Different
 * decisions may lead to the same steps. If not, notes the steps. */
static bool
is_made(struct tuning *t, struct tuned *x, const char *trace)
{
	for (int i = 0; i < x->traces.n; i++) {
		if (strcmp(x->traces.data[i], trace) == 0) {
			return true;
		}
	}
	vec_push(t->arena, &x->traces, trace);
	return false;
}

/* Makes the next job of the task. Returns true if the job must be measured;
 * false if an earlier record has its result, or if the task has ended. */
static bool
next_job(struct tuning *t, struct tuned *x)
{
	struct search_candidate candidate;
	const struct record *earlier;
	const char *why;

	/* A candidate that is not a valid schedule or is known already is not
	 * counted as a trial. */
	do {
		if (x->state->trials >= t->o->trials ||
		    !search_next(x->search, &candidate)) {
			x->state->ended = true;
			return false;
		}
		why = tune_job_make(t->m, x->task, candidate.preferred,
				    candidate.n, knows, x->search, &x->job);
		if (why == NULL && is_made(t, x, x->job.trace)) {
			why = "";
		}
		if (why != NULL) {
			search_tell(x->search, SEARCH_FAILED,
				    x->job.choices.asked.n > 0 ? &x->job.choices
							       : NULL,
				    0);
		}
		if (why != NULL && !x->has_rules) {
			x->task->obstacle = why;
			x->state->ended = true;
			return false;
		}
	} while (why != NULL);
	earlier = find_earlier(t, x, &x->job);
	x->trusts_earlier |= earlier != NULL && !x->has_rules;
	if (earlier != NULL) {
		reuse(t, x, &x->job, earlier);
		end_rules(x);
	}
	return earlier == NULL;
}

/* The task for the next trial: the task whose share of the model's time,
 * divided by its number of trials plus 1, is largest. NULL if all tasks have
 * ended or are being measured. */
static struct tuned *
next_task(struct tuned *list, int n)
{
	struct tuned *found = NULL;
	double most = -1;

	for (int i = 0; i < n; i++) {
		double share = list[i].task->share /
			       (list[i].state->trials + 1);

		if (!list[i].state->ended && !list[i].is_measured &&
		    share > most) {
			most = share;
			found = &list[i];
		}
	}
	return found;
}

/* Prepares a task before its first trial. Returns false if the task cannot be
 * tuned or has ended. */
static bool
prepare(struct tuning *t, struct tuned *x)
{
	if (x->search == NULL) {
		x->search = search_new(t->arena, t->o->seed, t->o->least_gain);
		x->state->ended = !tune_task_prepare(t->m, x->task,
						     t->o->seed + 1);
	}
	return !x->state->ended;
}

/* Starts measurements of tasks that have trials left, one of each task and at
 * most MOST_AT_ONCE. Returns false if the tuning must end. */
static bool
start_jobs(struct tuning *t, struct tuned *list, int n, int *running)
{
	enum { MOST_AT_ONCE = 256 };
	struct tuned *x;

	while (*running < MOST_AT_ONCE && (x = next_task(list, n)) != NULL) {
		const struct measurement none = { 0 };
		const char *why;

		if (!t->o->go_on(t->o->ctx, x->state)) {
			return false;
		}
		if (!prepare(t, x) || !next_job(t, x)) {
			continue;
		}
		why = t->runner->start(t->runner->ctx, (int)(x - list), &x->job,
				       rules_of(x));
		if (why != NULL && !take(t, x, why, &none)) {
			return false;
		}
		x->is_measured = why == NULL;
		*running += why == NULL;
	}
	return true;
}

/* Tunes with a runner that measures several jobs at once. Each task has only
 * one job at a time, and its search continues when the measurement has ended.
 * So the result does not depend on the order in which measurements end. */
static void
tune_at_once(struct tuning *t, struct tuned *list, int n)
{
	int running = 0, task;
	bool go_on = true;

	while (go_on && start_jobs(t, list, n, &running) && running > 0) {
		struct measurement of = { 0 };
		const char *why = NULL;

		go_on = t->runner->finish(t->runner->ctx, t->arena, &task, &why,
					  &of);
		if (!go_on || task < 0) {
			go_on = go_on && t->o->go_on(t->o->ctx, NULL);
			continue;
		}
		list[task].is_measured = false;
		running--;
		go_on = take(t, &list[task], why, &of);
	}
	t->runner->give_up(t->runner->ctx);
}

void
tune_run(struct tune_model *m, struct tune_tasks *tasks,
	 const struct tune_runner *runner, const struct tune_options *o,
	 struct tune_state *states)
{
	struct arena *a = &m->program->graph->module->arena;
	struct tuning t = { m, a, runner, o };
	int n = tasks->list.n;
	struct tuned *list = arena_array(a, struct tuned, n + 1), *x;
	bool go_on = true;

	for (int i = 0; i < n; i++) {
		struct tune_task *task = &tasks->list.data[i];

		states[i] = (struct tune_state){
			.task = task,
			.best_ratio = 1,
			.ended = task->obstacle != NULL ||
				 task->share < o->least_share
		};
		list[i] = (struct tuned){ .task = task, .state = &states[i] };
	}
	if (runner->start != NULL) {
		tune_at_once(&t, list, n);
		return;
	}
	while (go_on && (x = next_task(list, n)) != NULL &&
	       o->go_on(o->ctx, x->state)) {
		struct measurement of = { 0 };

		if (prepare(&t, x) && next_job(&t, x)) {
			const char *why = runner->measure(runner->ctx, a,
							  &x->job, rules_of(x),
							  &of);

			go_on = take(&t, x, why, &of);
		}
	}
}
