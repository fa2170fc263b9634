/* SPDX-License-Identifier: Apache-2.0 */
/* A case with data: what it gives as it is defined, and as kernels. */
#ifndef GPU_CASES_RUN_H
#define GPU_CASES_RUN_H

#include "cases.h"
#include "host_device.h"
#include "interp.h"

struct gpu_run {
	struct module *m;
	const struct gpu_case *c;
	struct func *plain; /* as it is defined */
	struct host_device split;
	int n;                /* parameters of the host function */
	struct run_arg *args; /* for it, outputs and intermediates last */
	struct run_arg *want; /* what they hold in the end */
	int64_t *bytes;       /* 0: a scalar */
};

/* Schedules and lowers; print: to stderr, what comes of it. */
bool gpu_run_build(struct gpu_run *r, const struct gpu_case *c, bool print);
/* The same of the last function for threads that a program makes; its sizes
 * are SIZES of cases_run.c. */
bool gpu_run_program(struct gpu_run *r, const char *path);
/* Data, the definition run on it (want), the kernels' arguments (args). */
bool gpu_run_fill(struct gpu_run *r);
/* An extent as a number. */
int64_t gpu_run_value(struct gpu_run *r, const struct expr *e);

#endif
