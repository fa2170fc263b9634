/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of many trials as one source file: compiled once, each run on its
 * data and compared. */
#ifndef SCHEDULE_BATCH_H
#define SCHEDULE_BATCH_H

#include "schedule_trial.h"

struct batch_entry {
	uint64_t seed;
	struct strbuf text;     /* lowered functions; the last is k<number> */
	int n_params, size;
	bool has_size;
	size_t bytes[RANDOM_MAX_PARAMS];
	void *in[RANDOM_MAX_PARAMS];
	void *expected;         /* of parameter `output` */
	int output;
	struct dtype type;
	double tolerance;
};

enum { BATCH_MAX = 64 };

struct batch {
	const char *dialect, *folder, *cc;
	struct batch_entry entries[BATCH_MAX];
	int n;
};

/* Adds what a trial has come to; what has threads or cannot be lowered is left
 * out. False: t->trouble. */
bool batch_add(struct batch *b, struct trial *t);
/* Compiles and compares what there is, and empties it. Returns what is wrong,
 * with the seed of the first trial that it is wrong for. */
enum trouble batch_finish(struct batch *b, uint64_t *seed);

#endif
