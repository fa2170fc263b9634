/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of the tuner and their answers as messages of a queue. Who reads one checks
 * every field: a queue may have messages of strangers. */
#ifndef TIRC_QUEUE_JOB_H
#define TIRC_QUEUE_JOB_H

#include "queue.h"
#include "tune.h"

/* "tirc:jobs:" and a digest of the facts of a target: the stream of its jobs. */
const char *queue_jobs_name(struct arena *a, const char *facts);
/* The stream of the answers to the tuner that made the job with this id. */
const char *queue_answers_name(struct arena *a, const char *id);
/* A new id of a tuner, 16 hexadecimal digits; its jobs are ID-1, ID-2, … */
const char *queue_new_id(struct arena *a);

/* NULL, or why the job cannot be sent. */
const char *queue_write_job(struct arena *a, const char *id, const char *facts,
			    const struct tune_job *candidate,
			    const struct tune_job *rules,
			    struct queue_message *out);
/* A job as a worker has it. rules is the candidate itself if both are one. */
struct queue_job {
	const char *id; /* NULL if the message has none */
	struct tune_task task;
	struct kernel kernel;
	struct tune_job candidate, rules;
	bool is_rules;
};
/* NULL, or why the message is no job for a target with these facts. */
const char *queue_read_job(struct arena *a, const struct queue_message *m,
			   const char *facts, struct queue_job *out);

/* why: as the runner's measure() returned it. */
void queue_write_answer(struct arena *a, const struct queue_job *job,
			const char *why, const struct measurement *of,
			struct queue_message *out);
/* The id of the job that is answered; NULL if the message is no answer. */
const char *queue_answered(struct arena *a, const struct queue_message *m);
/* Reads the measurement of the job; has_results: the answer must have the arrays
 * that the job computed. As measure() returns. */
const char *queue_read_answer(struct arena *a, const struct queue_message *m,
			      const struct tune_job *job, bool has_results,
			      struct measurement *out);

#endif
