/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the evaluation of a program or a trace, with all libraries. */
#ifndef TIRC_START_H
#define TIRC_START_H

#include "eval.h"

/* Prepares the evaluation of the text src: sets the limits, and defines the
 * names that exist from the start. */
void eval_start(struct eval *ev, struct module *m, const struct source *src,
		const struct program_options *o, struct program_result *out);
/* Runs all statements of the program. Returns false after an error. */
bool eval_whole(struct eval *ev, const struct py_node *tree);

extern const struct libraries libraries;

#endif
