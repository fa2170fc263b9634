/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of the tuner and their answers as messages of a queue. The reader of a
 * message checks every field, because strangers may write to a queue. */
#ifndef TIRC_QUEUE_JOB_H
#define TIRC_QUEUE_JOB_H

#include "queue.h"
#include "tune.h"

/* The name of the stream of jobs for targets with these facts: "tirc:jobs:" and
 * a digest of the facts. */
const char *queue_jobs_name(struct arena *a, const char *facts);
/* The name of the stream of answers to the tuner with this id. */
const char *queue_answers_name(struct arena *a, const char *id);
/* A new random id of a tuner, 16 hexadecimal digits. The ids of its jobs are
 * ID-1, ID-2, … */
const char *queue_new_id(struct arena *a);

/* Returns NULL, or the reason why the job cannot be sent. */
const char *queue_write_job(struct arena *a, const char *id, const char *facts,
			    const struct tune_job *candidate,
			    const struct tune_job *rules,
			    struct queue_message *out);
/* A job in the form in which a worker measures it. is_rules: the candidate is
 * the rules' own schedule, and `rules` is not set. */
struct queue_job {
	const char *id; /* NULL if the message has no valid id */
	struct tune_task task;
	struct kernel kernel;
	struct tune_job candidate, rules;
	bool is_rules;
};
/* Returns NULL, or the reason why the message is not a valid job for a target
 * with these facts. */
const char *queue_read_job(struct arena *a, const struct queue_message *m,
			   const char *facts, struct queue_job *out);

/* Writes an answer to `job`. why: what the runner's measure() returned: NULL,
 * or the reason why there is no measurement. */
void queue_write_answer(struct arena *a, const struct queue_job *job,
			const char *why, const struct measurement *of,
			struct queue_message *out);
/* The id of the job that the message answers; NULL if the message is not an
 * answer. */
const char *queue_answered(struct arena *a, const struct queue_message *m);
/* Reads the measurement of a job. has_results: the answer must have the arrays
 * that the job computes. Returns NULL or a reason, as measure() does. */
const char *queue_read_answer(struct arena *a, const struct queue_message *m,
			      const struct tune_job *job, bool has_results,
			      struct measurement *out);

#endif
