/* SPDX-License-Identifier: Apache-2.0 */
/* tirc tvmc: a command line with the options of TVM's program tvmc, on top of
 * tirc's verbs. */
#ifndef TIRC_TVMC_H
#define TIRC_TVMC_H

#include "cli.h"

/* The values of tvmc's options; NULL, 0 or false if an option is absent. */
struct tvmc {
	const char *file; /* the model, or the package to run */
	const char *target, *shapes, *output, *format, *executor, *name, *cc;
	const char *inputs, *outputs, *fill, *device, *model_format;
	const char *records;
	int64_t print_top, repeat, number, trials;
	bool print_time, verbose, help;
};

/* tvmc_compile.c, tvmc_run.c: run the commands. They set the fields of c for
 * tirc's verbs and return the exit status. */
int tvmc_compile(struct cli *c, const struct tvmc *o);
int tvmc_tune_model(struct cli *c, const struct tvmc *o);
int tvmc_run(struct cli *c, const struct tvmc *o);

#endif
