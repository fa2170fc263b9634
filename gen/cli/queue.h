/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of jobs on a Redis server, in streams with a group of workers. A
 * worker that takes a job owns it until the worker answers. If the worker gives
 * no sign of life for some time, another worker may take the job over. The
 * queue accepts only the first answer to a job. */
#ifndef TIRC_QUEUE_H
#define TIRC_QUEUE_H

#include "arena.h"

struct queue;

struct queue_field {
	const char *name;
	const void *data; /* a text, or any bytes */
	size_t bytes;
};

struct queue_message {
	/* the message's number in the stream; NULL: no message was read */
	const char *entry;
	VEC(struct queue_field) fields;
};

void queue_put(struct arena *a, struct queue_message *m, const char *name,
	       const void *data, size_t bytes);
void queue_put_text(struct arena *a, struct queue_message *m, const char *name,
		    const char *text);
/* The value of the field `name` as a text, copied to the arena; NULL if the
 * message has no such field, or if the value contains a zero byte. */
const char *queue_text(struct arena *a, const struct queue_message *m,
		       const char *name);

/* Connects to a server redis://HOST:PORT. Returns NULL after an error message.
 * Each function below returns false after an error message: if the server
 * cannot be reached for half a minute, or refuses a command. */
struct queue *queue_open(const char *url);
void queue_close(struct queue *q);

/* Appends a job to the stream `jobs` and sets job->entry to its number, in the
 * arena. */
bool queue_offer(struct queue *q, struct arena *a, const char *jobs,
		 struct queue_message *job);
/* Takes the next job from the queue, or a job whose worker gave no sign of life
 * for `idle` milliseconds. If there is no such job, waits about a second for
 * one; out->entry is NULL if none came. *deliveries: how many workers have
 * taken this job. */
bool queue_take(struct queue *q, struct arena *a, const char *jobs,
		const char *worker, long idle, struct queue_message *out,
		long *deliveries);
/* Tells the queue that the worker is alive and has this job, unless another
 * worker has taken the job over. */
bool queue_keep(struct queue *q, const char *jobs, const char *worker,
		const char *entry);
/* Gives the job of this entry back to the queue, so that another worker can
 * take the job at once. */
bool queue_release(struct queue *q, const char *jobs, const char *worker,
		   const char *entry);
/* Appends the answer to the stream `answers` unless the job `id` already has an
 * answer, and removes the job. */
bool queue_answer(struct queue *q, const char *jobs, const char *entry,
		  const char *id, const char *answers,
		  const struct queue_message *answer);
/* Reads the answer after the answer with the number `after` ("0": the first
 * answer). If there is no such answer yet, waits about a second for it;
 * out->entry is NULL if none came. */
bool queue_next(struct queue *q, struct arena *a, const char *answers,
		const char *after, struct queue_message *out);
/* Sets *there to whether the job is in the stream. */
bool queue_has(struct queue *q, const char *jobs, const char *entry,
	       bool *there);
bool queue_remove(struct queue *q, const char *jobs, const char *entry);
bool queue_forget(struct queue *q, const char *answers);
/* Announces for a minute that the worker takes the jobs of the stream; `what`
 * describes the worker. NULL withdraws the announcement. */
bool queue_announce(struct queue *q, const char *jobs, const char *worker,
		    const char *what);
/* Sets *n to the number of workers that announced themselves at this queue. */
bool queue_count_workers(struct queue *q, const char *jobs, int *n);

#endif
