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

/* The dialect of a name, from dir (if not NULL) or the embedded templates, with
 * all that it inherits. NULL after errors with file and place. */
const struct dialect *dialect_load(struct module *m, const char *name,
				   const char *dir);
/* The dialect in a mode of --fp: "default", "strict" or "fast". */
const struct dialect *dialect_load_fp(struct module *m, const char *name,
				      const char *dir, const char *fp);
/* The target's dialect in the target's mode, with the target's widths of types. */
const struct dialect *
dialect_for_target(struct module *m, const struct target *t, const char *dir);
/* The target of a name or alias; NULL: the default target. Attributes and facts,
 * " -KEY=VALUE" each, may follow the name: target_files.h. */
const struct target *target_load(struct module *m, const char *name,
				 const char *dir);
/* The same for a text that a file holds, which may only name a target and change
 * its facts: numbers, flags and vector types. */
const struct target *target_load_from(struct module *m, const char *name,
				      const char *dir, const char *file);
/* The text without the facts that target_load_from() refuses; *left_out: the refused
 * facts, "" if there are none. */
const char *target_text_for_file(struct module *m, const char *text,
				 const char **left_out);
/* Reports every mistake in the target's file, which may also be of a target that
 * stands for the machine at hand; NULL after one. */
const struct target *target_check(struct module *m, const char *name,
				  const char *dir);
/* The text with a target that stands for the machine at hand replaced by the
 * target that fits its compiler, and the machine's facts: "x86-64-v3
 * -l1_bytes=32768". Another text as it is. cc: the command of the compiler, NULL:
 * the target's; cflags: all its flags, NULL: those of the target that is
 * found. NULL: reported. */
const char *target_at_hand(struct module *m, const char *text, const char *dir,
			   const char *cc, const char *cflags);
/* The flags of the first requirement whose macros the compiler, with these flags,
 * does not define; NULL: it defines all, or cannot be asked. */
const char *target_flags_lacking(struct module *m,
				 const struct requirement *const *all, int n,
				 const char *cc, const char *cflags);
/* The embedded target that is used if none is named, or "none". */
const char *target_default(struct module *m);
/* The embedded target that stands for the machine at hand; NULL: none does. */
const char *target_of_machine(struct module *m);
/* The target in a mode of --fp, with the mode's flags; NULL after an error. */
const struct target *target_with_fp(struct module *m, const struct target *t,
				    const char *fp);
/* The sorted names of the embedded dialects whose parents are all embedded, and of
 * the targets of these dialects. */
const char *const *dialect_names(struct module *m, int *n);
const char *const *target_names(struct module *m, int *n);
/* The description of an embedded target. */
const char *target_description(struct module *m, const char *name);
/* The sorted names of a folder's dialects, and of its targets; dir NULL: an empty
 * list. */
const char *const *dialect_names_in(struct module *m, const char *dir, int *n);
const char *const *target_names_in(struct module *m, const char *dir, int *n);
bool target_is_of(struct module *m, const char *target, const char *dialect,
		  const char *dir);
/* A target of the dialect, from the folder or embedded: a target whose own file
 * names the dialect if there is one, else one that inherits it; or NULL. */
const char *target_of_dialect(struct module *m, const char *dialect,
			      const char *dir);

/* dialect_show.c: the list of dialects, and the forms of a dialect, as a table
 * for people or as JSON; NULL after an error. */
const char *dialect_list_text(struct module *m, const char *dir, bool json);
const char *dialect_show_text(struct module *m, const char *name,
			      const char *dir, bool json);
/* The dialect's JSON with all inherited keys. NULL after an error. */
const char *dialect_merged_text(struct module *m, const char *name,
				const char *dir);
/* Splits "path/NAME" into the dialect's name and its folder; for a name without a
 * path, *dir stays. */
void dialect_of_argument(struct module *m, const char *argument,
			 const char **name, const char **dir);
/* False after an error if the model has regions of backends and the dialect has no
 * form for them. */
bool dialect_takes_regions(struct module *m, const struct dialect *d,
			   bool regions);
/* Does its workspace have an array for each type? */
bool dialect_wants_parts(const struct dialect *d);
/* Does the entry function have one exit? */
bool dialect_has_single_exit(const struct dialect *d);
/* Do its arrays of weights have the target's alignment? */
bool dialect_aligns_weights(const struct dialect *d);
/* Are the caller's arrays in another memory than its workspace? */
bool dialect_wants_interface_apart(const struct dialect *d);
/* Does it have a form of fmax for vectors? */
bool dialect_has_fmax_vectors(const struct dialect *d);
/* Can it read the bits of a float as an integer? */
bool dialect_reads_float_bits(const struct dialect *d);

#endif
