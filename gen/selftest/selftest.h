/* SPDX-License-Identifier: Apache-2.0 */
/* A program that tries a dialect with a compiler that is not here: a function
 * for every operation and type, its inputs, what the interpreter says it must
 * give, and one function of the user's that is told of each. */
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

/* target may be NULL: no vectors then. False: diagnosed. */
bool selftest_build(struct module *m, const struct dialect *d,
		    const struct target *target, struct selftest *out);

/* Reports every mistake in a dialect's folder, or in a folder of dialects and
 * targets; nothing is written. *checked: what it looked at. */
bool dialect_check(struct module *m, const char *path, const char **checked);

#endif
