/* SPDX-License-Identifier: Apache-2.0 */
/* The run of a program or a trace, with all libraries. */
#ifndef TIRC_START_H
#define TIRC_START_H

#include "eval.h"

/* Begins the evaluation of the program in src: sets the limits and the names
 * that exist from the start. */
void eval_start(struct eval *ev, struct module *m, const struct source *src,
		const struct program_options *o, struct program_result *out);
/* Runs all its statements. */
bool eval_whole(struct eval *ev, const struct py_node *tree);

extern const struct libraries libraries;

#endif
