/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware packages: the emitted files of a model in the folders that a build
 * system expects, with an example and a self-test. A kind of package is a
 * folder templates/packages/KIND that contains package.json and templates. */
#ifndef TIRC_FIRMWARE_H
#define TIRC_FIRMWARE_H

#include "package.h"

struct firmware_file {
	const char *to;   /* the file's path in the package, a template
			   * itself */
	const char *file; /* path of the template, for messages */
	const char *text;
};

struct firmware_kind {
	const char *name, *file, *description;
	/* The folders into which emitted sources, headers and reports are
	 * moved. "": the package's main folder; NULL: files of this kind are
	 * left out of the package. */
	const char *sources, *headers, *reports;
	/* A template of the command that builds or checks the package, to run
	 * in its folder; or NULL. */
	const char *next;
	VEC(struct firmware_file) files;
};

/* The values of a self-test. inputs[i]: a dense array for input i. outputs: an
 * array for each output, then one for each of the n_left tensors that a run
 * leaves in the workspace. Element e of output i may differ from a run's result
 * by allowed[i][e]. */
struct self_test {
	const void *const *inputs, *const *outputs;
	const double *const *allowed;
	const struct placement *const *left;
	int n_left;
};

/* The sorted names of all kinds: the embedded ones and those in the folder dir
 * (or NULL). */
const char *const *firmware_names(struct module *m, const char *dir, int *n);
/* Loads a kind of package; NULL after a diagnostic. */
const struct firmware_kind *firmware_load(struct module *m, const char *name,
					  const char *dir);
/* Does a path in a package stay inside the package? */
bool firmware_stays_below(const char *path);
/* Moves the files of a compiled model into the folders that the kind of
 * firmware package has, and adds the files of the kind. Returns false after a
 * diagnostic. */
bool firmware_arrange(struct package *pkg, const struct firmware_kind *kind,
		      const struct self_test *values);

#endif
