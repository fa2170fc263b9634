/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of one compilation's output and memory, so that a small file of a
 * stranger fills neither disk nor memory. */
#ifndef TIRC_QUOTA_H
#define TIRC_QUOTA_H

#include "diag.h"

struct module;

/* Of a module. The default limits are 4 times the input, and these bytes. */
#define QUOTA_INPUT_TIMES 4
#define QUOTA_OUTPUT_BYTES ((int64_t)1000000000)
#define QUOTA_MEMORY_BYTES ((int64_t)4000000000)
/* Steps of the analysis of sizes, which takes some hundreds for a node of a model:
 * seconds. More for each byte of the input. */
#define QUOTA_STEPS ((int64_t)20000000)
#define QUOTA_STEPS_PER_BYTE 16

struct quota {
	int64_t input_bytes; /* of the model's files, as far as known */
	/* The caller's limits; 0: the default. */
	int64_t output_bytes, memory_bytes;
	bool memory_told;   /* the limit of memory was reported */
	int64_t steps;      /* expressions that were made or simplified */
	int64_t most_steps; /* of the analysis of sizes; 0: the default */
};

/* Sums and products of bytes or steps of at least 0; INT64_MAX stands for any
 * larger number, too. */
int64_t quota_plus(int64_t a, int64_t b);
int64_t quota_times(int64_t a, int64_t b);

/* The bytes that may be written. A computed constant has at most as many. */
int64_t quota_output(const struct module *m);
/* Sets the input's bytes, and the end of the module's arena accordingly. */
void quota_of_input(struct module *m, int64_t bytes);
/* Sets the bytes at which the arena ends the process, for allocations that no
 * check precedes: a quarter above the limit. */
void quota_set_end(const struct module *m, struct arena *a);
/* "1000000000 bytes (4 times the input and 1 GB)": the limit of output and where
 * it comes from, for messages. Owned by the arena. */
const char *quota_output_text(struct module *m);

/* May `bytes` be written? Else reports it, with the option that allows it; what:
 * the subject of the message, such as "the weights". */
bool quota_check_output(struct module *m, struct diag_place place,
			const char *what, int64_t bytes);
/* Reports that more was written than may be, where the whole is not known. Returns
 * false. */
bool quota_output_exceeded(struct module *m, struct diag_place place,
			   const char *what);
/* Is the arena within its limit, with `more` bytes? Else false, reported once. For
 * steps whose number the input decides. */
bool quota_check_memory(struct module *m, struct diag_place place,
			int64_t more);
/* Is the analysis of sizes within its steps? Else false, reported. For nodes whose
 * shapes are inferred. */
bool quota_check_steps(struct module *m, struct diag_place place);

#endif
