/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that the tests of threads, dialects and devices share: a function as
 * it is defined, and the same one scheduled for threads. */
#ifndef GPU_CASES_H
#define GPU_CASES_H

#include "schedule.h"
#include "te.h"

struct gpu_case {
	const char *name;
	int64_t sizes[3];
	bool symbolic; /* the sizes are parameters */
	struct func *(*make)(struct module *m, const struct gpu_case *c);
	bool (*schedule)(struct sched *s);
};

extern const struct gpu_case gpu_cases[];
extern const int gpu_case_count;
const struct gpu_case *gpu_case_find(const char *name);

#endif
