/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of one compilation's output, memory and analysis of sizes, so that
 * a small model from an untrusted source cannot fill the disk or the memory, or
 * take hours. */
#ifndef TIRC_QUOTA_H
#define TIRC_QUOTA_H

#include "diag.h"

struct module;

/* The default limits of a module: QUOTA_INPUT_TIMES times the input's bytes,
 * plus these bytes. */
#define QUOTA_INPUT_TIMES 4
#define QUOTA_OUTPUT_BYTES ((int64_t)1000000000)
#define QUOTA_MEMORY_BYTES ((int64_t)4000000000)
/* The most steps that the analysis of sizes may take: QUOTA_STEPS, which take
 * some seconds, plus QUOTA_STEPS_PER_BYTE for each byte of the input. A node of
 * a model usually takes some hundreds of steps. */
#define QUOTA_STEPS ((int64_t)20000000)
#define QUOTA_STEPS_PER_BYTE 16

struct quota {
	/* the number of bytes of the model's files that are known so far */
	int64_t input_bytes;
	/* The limits that the caller set; 0: the default limit. */
	int64_t output_bytes, memory_bytes;
	bool memory_told; /* the error about the limit of memory was reported */
	int64_t steps;    /* steps taken: an expression made or simplified, or
			   * as much work on a regular expression */
};

/* The sum and the product of two numbers that are at least 0, of bytes or
 * steps; INT64_MAX if the result is larger. */
int64_t quota_plus(int64_t a, int64_t b);
int64_t quota_times(int64_t a, int64_t b);

/* The number of bytes that may be written; also the largest size of a computed
 * constant. */
int64_t quota_output(const struct module *m);
/* Sets the number of bytes of the input, and the hard limit of the module's
 * arena, which follows from it: a quarter above the limit of memory. An
 * allocation beyond the hard limit ends the process; this concerns only
 * allocations without a check before them. */
void quota_of_input(struct module *m, int64_t bytes);
/* The limit of output and where it comes from, for messages: "1000000000 bytes
 * (4 times the input and 1 GB)". Owned by the arena. */
const char *quota_output_text(struct module *m);

/* May `bytes` bytes be written? If not, reports an error that names the option
 * that allows more, and returns false; what: the subject of the message, such
 * as "the weights". */
bool quota_check_output(struct module *m, struct diag_place place,
			const char *what, int64_t bytes);
/* Reports that the output exceeds the limit, for writers that do not know its
 * size beforehand. Returns false. */
bool quota_output_exceeded(struct module *m, struct diag_place place,
			   const char *what);
/* Would the module's arena, including the arenas that count in it, stay within
 * the limit of memory after an allocation of `more` bytes? If not, returns
 * false after an error, which is reported once. To be called in loops whose
 * length depends on the input. */
bool quota_check_memory(struct module *m, struct diag_place place,
			int64_t more);
/* Is the analysis of sizes within the limit of steps? False after an error. To
 * be called after the shapes of a node are inferred. */
bool quota_check_steps(struct module *m, struct diag_place place);

#endif
