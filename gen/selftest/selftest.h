/* SPDX-License-Identifier: Apache-2.0 */
/* A test program for a dialect whose compiler runs on another machine: a
 * function for each operation and type, its inputs, the interpreter's results
 * as expected values, and a function of the user that receives each outcome. */
#ifndef TIRC_SELFTEST_H
#define TIRC_SELFTEST_H

#include "dialects.h"

struct selftest_file {
	const char *name, *text;
};

struct selftest {
	VEC(struct selftest_file) files;
	/* the number of tested operations on types (cells), and the number of
	 * those that the dialect does not have */
	int n_cells, n_rejected;
};

/* Makes the files of the self-test in memory. target NULL: vectors are not
 * tested. False after a diagnostic. */
bool selftest_build(struct module *m, const struct dialect *d,
		    const struct target *target, struct selftest *out);

/* Reports all mistakes in the folder of a dialect, or of several dialects and
 * targets; writes nothing. *checked: a text that lists what was checked. */
bool dialect_check(struct module *m, const char *path, const char **checked);

#endif
