/* SPDX-License-Identifier: Apache-2.0 */
/* A test program for a dialect whose compiler is on another machine: a function
 * per operation and type, its inputs, the results expected by the interpreter,
 * and a user's function that receives each outcome. */
#ifndef TIRC_SELFTEST_H
#define TIRC_SELFTEST_H

#include "dialects.h"

struct selftest_file {
	const char *name, *text;
};

struct selftest {
	VEC(struct selftest_file) files;
	int n_cells, n_rejected;
};

/* target NULL: no vectors are tested. False after an error. */
bool selftest_build(struct module *m, const struct dialect *d,
		    const struct target *target, struct selftest *out);

/* Reports all mistakes in a dialect's folder, or in a folder of dialects and
 * targets; writes nothing. *checked: a description of what was checked. */
bool dialect_check(struct module *m, const char *path, const char **checked);

#endif
