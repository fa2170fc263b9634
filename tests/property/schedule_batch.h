/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of many trials as one source file: compiled once, each run on its
 * data and compared. */
#ifndef SCHEDULE_BATCH_H
#define SCHEDULE_BATCH_H

#include "schedule_trial.h"

#include "dialects.h"

/* Buffers between kernels, which whoever launches them provides. */
enum { MAX_BETWEEN = 24 };

struct batch_entry {
	uint64_t seed;
	struct strbuf text; /* lowered functions; the last is k<number> */
	int n_params, size;
	bool has_size;
	size_t bytes[RANDOM_MAX_PARAMS];
	void *in[RANDOM_MAX_PARAMS];
	void *expected; /* of parameter `output` */
	int output;
	struct dtype type;
	double tolerance;
	int n_between;
	size_t between[MAX_BETWEEN]; /* bytes */
};

enum { BATCH_MAX = 64 };

/* cc: a compiler and its flags; or, if the dialect leaves launches to the
 * host, a program that is given the folder (../gpu/opencl_run.c). */
struct batch {
	char dialect[32], target[32];
	const char *folder, *cc;
	struct trial_kind kind;
	bool is_planned; /* launches are the host's */
	bool has_tiles;  /* the target has tensor cores */
	struct batch_entry entries[BATCH_MAX];
	int n;
	int n_run; /* in all batches: functions that were compiled and run */
	int n_kernels; /* of which so many kernels */
	int n_refused; /* that no kernels can be made of */
};

/* What the target and its dialect say of it; behind its name stand facts that
 * it may have, " -KEY=VALUE" each. False: reported. */
bool batch_init(struct batch *b, const char *target, const char *folder,
		const char *cc);

/* Adds what a trial has come to; what cannot be lowered, has threads in a dialect
 * without or none in one with them is left out. False: t->trouble. */
bool batch_add(struct batch *b, struct trial *t);
/* Compiles and compares what there is, and empties it. Returns what is wrong,
 * with the seed of the first trial that it is wrong for. */
enum trouble batch_finish(struct batch *b, uint64_t *seed);

/* -- schedule_device.c: trials as kernels */

/* Splits f, runs it with arguments as interp_run has them and looks for races;
 * notes the buffers between. False: t->trouble, or (TROUBLE_NONE) it is none
 * that kernels can be made of. */
bool device_run(struct batch *b, struct trial *t, struct func *f,
		const struct run_arg *args, int n_args, struct batch_entry *x);
/* Writes text with launches as a host's compiler can take them: what is called
 * emulate there. */
void device_print_host(const char *text, FILE *out);
/* The plan of entry `number` (functions: host functions of all; params: of
 * entries before) and the files of its buffers. */
bool device_print_plan(const struct batch *b, int number,
		       const struct func *host, int *params, FILE *out);

#endif
