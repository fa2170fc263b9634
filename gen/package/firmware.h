/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware packages: the emitted files of a model in the folders that a build
 * system expects, with an example and a self-test. A kind of package is a folder
 * templates/packages/KIND with package.json and templates. */
#ifndef TIRC_FIRMWARE_H
#define TIRC_FIRMWARE_H

#include "package.h"

struct firmware_file {
	const char *to;   /* a template of the path in the package */
	const char *file; /* of the template, for messages */
	const char *text;
};

struct firmware_kind {
	const char *name, *file, *description;
	/* The folders of emitted files; "": the package's own; NULL: these files
	 * are left out. */
	const char *sources, *headers, *reports;
	/* A template of the command that builds or checks the package in its folder;
	 * NULL: there is none to show. */
	const char *next;
	VEC(struct firmware_file) files;
};

/* The values of a self-test: dense, an array for each input, for each output, and
 * behind these for each tensor that a run leaves in the workspace. An element of
 * output i may differ from the expected one by allowed[i][element]. */
struct self_test {
	const void *const *inputs, *const *outputs;
	const double *const *allowed;
	const struct placement *const *left;
	int n_left;
};

/* The names of the kinds, sorted: embedded ones and those in the folder dir (or
 * NULL). */
const char *const *firmware_names(struct module *m, const char *dir, int *n);
/* Loads a kind; NULL: diagnosed. */
const struct firmware_kind *firmware_load(struct module *m, const char *name,
					  const char *dir);
/* Does a path of a package stay below its folder? */
bool firmware_stays_below(const char *path);
/* Puts the files of a compiled model into their folders and adds those of the
 * kind. False: diagnosed. */
bool firmware_arrange(struct package *pkg, const struct firmware_kind *kind,
		      const struct self_test *values);

#endif
