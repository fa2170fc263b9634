/* SPDX-License-Identifier: Apache-2.0 */
/* Dialects and targets by name: loading, listing, showing and checking them. */
#ifndef TIRC_DIALECTS_H
#define TIRC_DIALECTS_H

#include "module.h"
#include "target.h"

struct dialect;

enum weights_form {
	WEIGHTS_AUTO,
	WEIGHTS_C,
	WEIGHTS_INCBIN,
	WEIGHTS_FILE,
	WEIGHTS_SECTION
};

/* A dialect or target by name, from dir (if not NULL) or the embedded
 * templates; "extends" resolved; every mistake reported with file and place.
 * NULL on error. */
const struct dialect *dialect_load(struct module *m, const char *name,
				   const char *dir);
/* The same with what the dialect has for a mode of --fp: "default", "strict"
 * or "fast". */
const struct dialect *dialect_load_fp(struct module *m, const char *name,
				      const char *dir, const char *fp);
/* The target's dialect, in its mode, with what the target says of widths. */
const struct dialect *
dialect_for_target(struct module *m, const struct target *t, const char *dir);
/* The same for targets, which may have aliases. name NULL: the default one. It may
 * be followed by attributes and facts, " -KEY=VALUE" each: target_files.h. */
const struct target *target_load(struct module *m, const char *name,
				 const char *dir);
/* The target in that mode, its flags included; NULL: diagnosed. */
const struct target *target_with_fp(struct module *m, const struct target *t,
				    const char *fp);
/* Names of what is embedded, sorted: dialects of which all that they extend is
 * there, targets of those. */
const char *const *dialect_names(struct module *m, int *n);
const char *const *target_names(struct module *m, int *n);
/* What an embedded target says that it is. */
const char *target_description(struct module *m, const char *name);
/* Names of what a folder adds, sorted; none where dir is NULL. */
const char *const *dialect_names_in(struct module *m, const char *dir, int *n);
const char *const *target_names_in(struct module *m, const char *dir, int *n);
bool target_is_of(struct module *m, const char *target, const char *dialect,
		  const char *dir);
/* A target of that dialect, of the folder or embedded; rather one that says so
 * itself than one that extends it. NULL: there is none. */
const char *target_of_dialect(struct module *m, const char *dialect,
			      const char *dir);

/* dialect_show.c: all dialects, and what one of them spells, as text for
 * people or as JSON; NULL: diagnosed. */
const char *dialect_list_text(struct module *m, const char *dir, bool json);
const char *dialect_show_text(struct module *m, const char *name,
			      const char *dir, bool json);
/* The dialect's JSON with all that it inherits in it. NULL: diagnosed. */
const char *dialect_merged_text(struct module *m, const char *name,
				const char *dir);
/* "path/NAME" is the dialect NAME in the folder "path"; a mere
 * name is one of dir. */
void dialect_of_argument(struct module *m, const char *argument,
			 const char **name, const char **dir);
/* False, diagnosed, if there are regions and its models have no places for
 * them. */
bool dialect_takes_regions(struct module *m, const struct dialect *d,
			   bool regions);
/* Does its workspace have an array for each type? */
bool dialect_wants_parts(const struct dialect *d);
/* Does the entry function have one exit? */
bool dialect_has_single_exit(const struct dialect *d);
/* Are arrays of weights aligned to what the target wants? */
bool dialect_aligns_weights(const struct dialect *d);
/* Are the caller's arrays in another memory than its workspace? */
bool dialect_wants_interface_apart(const struct dialect *d);
/* Is the larger of two numbers (fmax) spelled for vectors? */
bool dialect_has_fmax_vectors(const struct dialect *d);

#endif
