/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces queue_redis.c in a tirc that was built without hiredis: opening a
 * queue is an error. */
#include "cli.h"
#include "queue.h"

struct queue *
queue_open(const char *url)
{
	cli_error("--queue %s: this tirc was built without hiredis; install "
		  "libhiredis-dev and build it again",
		  url);
	return NULL;
}

void
queue_close(struct queue *q)
{
	(void)q;
}

/* The functions below are never called, because no queue is ever open. */
bool
queue_offer(struct queue *q, struct arena *a, const char *jobs,
	    struct queue_message *job)
{
	(void)q, (void)a, (void)jobs, (void)job;
	return false;
}

bool
queue_take(struct queue *q, struct arena *a, const char *jobs,
	   const char *worker, long idle, struct queue_message *out,
	   long *deliveries)
{
	(void)q, (void)a, (void)jobs, (void)worker, (void)idle, (void)out,
		(void)deliveries;
	return false;
}

bool
queue_keep(struct queue *q, const char *jobs, const char *worker,
	   const char *entry)
{
	(void)q, (void)jobs, (void)worker, (void)entry;
	return false;
}

bool
queue_release(struct queue *q, const char *jobs, const char *worker,
	      const char *entry)
{
	(void)q, (void)jobs, (void)worker, (void)entry;
	return false;
}

bool
queue_answer(struct queue *q, const char *jobs, const char *entry,
	     const char *id, const char *answers,
	     const struct queue_message *answer)
{
	(void)q, (void)jobs, (void)entry, (void)id, (void)answers, (void)answer;
	return false;
}

bool
queue_next(struct queue *q, struct arena *a, const char *answers,
	   const char *after, struct queue_message *out)
{
	(void)q, (void)a, (void)answers, (void)after, (void)out;
	return false;
}

bool
queue_has(struct queue *q, const char *jobs, const char *entry, bool *there)
{
	(void)q, (void)jobs, (void)entry, (void)there;
	return false;
}

bool
queue_remove(struct queue *q, const char *jobs, const char *entry)
{
	(void)q, (void)jobs, (void)entry;
	return false;
}

bool
queue_forget(struct queue *q, const char *answers)
{
	(void)q, (void)answers;
	return false;
}

bool
queue_announce(struct queue *q, const char *jobs, const char *worker,
	       const char *what)
{
	(void)q, (void)jobs, (void)worker, (void)what;
	return false;
}

bool
queue_count_workers(struct queue *q, const char *jobs, int *n)
{
	(void)q, (void)jobs, (void)n;
	return false;
}
