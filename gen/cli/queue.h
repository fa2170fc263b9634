/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of jobs on a Redis server: streams with a group of workers. A job that was
 * taken belongs to its worker until that answers, or gives no sign of life for
 * some time; then another may take it. A job has one answer, whoever is first. */
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
	const char *entry; /* its number in the stream; NULL: no message */
	VEC(struct queue_field) fields;
};

void queue_put(struct arena *a, struct queue_message *m, const char *name,
	       const void *data, size_t bytes);
void queue_put_text(struct arena *a, struct queue_message *m, const char *name,
		    const char *text);
/* The value of the field as a text without zero bytes, in the arena; NULL if there
 * is none. */
const char *queue_text(struct arena *a, const struct queue_message *m,
		       const char *name);

/* Connects with redis://HOST:PORT. NULL after an error message. All functions
 * below return false after an error message: when the server has been out of
 * reach for half a minute, or refuses what it is asked. */
struct queue *queue_open(const char *url);
void queue_close(struct queue *q);

/* Appends a job; its number becomes job->entry, in the arena. */
bool queue_offer(struct queue *q, struct arena *a, const char *jobs,
		 struct queue_message *job);
/* Takes the next job, or that of a worker that has given no sign of life for so
 * many milliseconds; waits about a second. *deliveries: how many workers have
 * taken it. */
bool queue_take(struct queue *q, struct arena *a, const char *jobs,
		const char *worker, long idle, struct queue_message *out,
		long *deliveries);
/* The worker's sign of life for a job, unless another one has taken it. */
bool queue_keep(struct queue *q, const char *jobs, const char *worker,
		const char *entry);
/* Lets another worker take the job at once. */
bool queue_release(struct queue *q, const char *jobs, const char *worker,
		   const char *entry);
/* Appends the answer to the stream `answers`, unless the job `id` has one, and
 * removes the job. */
bool queue_answer(struct queue *q, const char *jobs, const char *entry,
		  const char *id, const char *answers,
		  const struct queue_message *answer);
/* Reads the answer after the one with this number ("0": the first); waits about a
 * second. */
bool queue_next(struct queue *q, struct arena *a, const char *answers,
		const char *after, struct queue_message *out);
/* Sets *there: is the job in the stream? */
bool queue_has(struct queue *q, const char *jobs, const char *entry,
	       bool *there);
bool queue_remove(struct queue *q, const char *jobs, const char *entry);
bool queue_forget(struct queue *q, const char *answers);
/* Says for a minute that the worker takes such jobs; with NULL, that it takes no
 * more. */
bool queue_announce(struct queue *q, const char *jobs, const char *worker,
		    const char *what);
/* Sets *n to the number of workers that have said so. */
bool queue_count_workers(struct queue *q, const char *jobs, int *n);

#endif
