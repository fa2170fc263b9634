/* SPDX-License-Identifier: Apache-2.0 */
/* Dialects and targets by name: loads, lists, shows and checks them. */
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

/* Loads a dialect with all that it inherits, from dir (if not NULL) or the
 * embedded templates. NULL after diagnostics with file and place. */
const struct dialect *dialect_load(struct module *m, const char *name,
				   const char *dir);
/* Loads a dialect as dialect_load does, in a mode of --fp: "default", "strict"
 * or "fast". */
const struct dialect *dialect_load_fp(struct module *m, const char *name,
				      const char *dir, const char *fp);
/* The dialect of a target, in the target's mode of --fp and with its widths of
 * types. NULL after diagnostics. */
const struct dialect *
dialect_for_target(struct module *m, const struct target *t, const char *dir);
/* Loads the target with this name or alias, or the target for a target string
 * of TVM; NULL: the default target. Attributes and facts may follow the name,
 * each as " -KEY=VALUE" (target_files.h). NULL after diagnostics. */
const struct target *target_load(struct module *m, const char *name,
				 const char *dir);
/* target_tvm.c: the text of tirc's target for one of TVM's target strings, "x86-64-v3"
 * for "llvm -mcpu=haswell"; a text of another kind of target is returned unchanged.
 * Adds a note at the place for each of TVM's options that changes nothing here.
 * NULL after a diagnostic there. */
const char *target_of_tvm(struct module *m, const char *text,
			  struct diag_place place);
/* Loads a target from a text in a file (named `file` in messages), which may
 * only name a target and change facts: numbers, flags and vector types. NULL
 * after a diagnostic. */
const struct target *target_load_from(struct module *m, const char *name,
				      const char *dir, const char *file);
/* Loads a target from a text in a program: as target_load_from(), but messages
 * name the text. */
const struct target *target_load_named(struct module *m, const char *text,
				       const char *dir);
/* The text without the facts that target_load_from() refuses; *left_out: these
 * facts as a text, or "". */
const char *target_text_for_file(struct module *m, const char *text,
				 const char **left_out);
/* Loads a target and reports every mistake in its file. Unlike target_load(),
 * also loads a target that stands for the machine at hand. NULL after a
 * mistake. */
const struct target *target_check(struct module *m, const char *name,
				  const char *dir);
/* If the text names a target that stands for the machine at hand: returns the
 * target for the instruction sets that the compiler uses, with facts of the
 * machine, "x86-64-v3 -l1_bytes=32768". Any other text is returned unchanged.
 * cc: the command of the compiler, NULL: that of the target; cflags: all flags
 * of the compiler, NULL: the flags of the returned target. NULL after a
 * diagnostic. */
const char *target_at_hand(struct module *m, const char *text, const char *dir,
			   const char *cc, const char *cflags);
/* The flags of the first requirement in `all` that has a macro which the
 * compiler cc does not define with the flags cflags. NULL if the compiler
 * defines all macros, or does not run. */
const char *target_flags_lacking(struct module *m,
				 const struct requirement *const *all, int n,
				 const char *cc, const char *cflags);
/* Runs the compiler to find the instruction sets that it uses with these flags.
 * Returns those of them that the processor of this machine lacks, such as
 * "AVX512F"; NULL if it lacks none, or if the compiler does not tell which sets
 * it uses. */
const char *target_processor_lacks(struct module *m, const char *cc,
				   const char *cflags);
/* The name of the embedded target that is the default; "none" if there is
 * none. */
const char *target_default(struct module *m);
/* The name of the embedded target that stands for the machine at hand, or
 * NULL. */
const char *target_of_machine(struct module *m);
/* A copy of the target for a goal of --optimize, a word; NULL is "speed". NULL
 * after a diagnostic: an unknown word, or a goal for which the target has no
 * flags. */
const struct target *target_with_goal(struct module *m, const struct target *t,
				      const char *goal);
/* A copy of the target in a mode of --fp, with the flags of the mode; NULL
 * after a diagnostic. */
const struct target *target_with_fp(struct module *m, const struct target *t,
				    const char *fp);
/* Sorted names: of the embedded dialects whose parents are all embedded, and of
 * the targets of these dialects. */
const char *const *dialect_names(struct module *m, int *n);
const char *const *target_names(struct module *m, int *n);
/* The description of an embedded target. */
const char *target_description(struct module *m, const char *name);
/* Sorted names of the dialects and of the targets in a folder; an empty list if
 * dir is NULL. */
const char *const *dialect_names_in(struct module *m, const char *dir, int *n);
const char *const *target_names_in(struct module *m, const char *dir, int *n);
/* Does the target's file, or a file that it extends, name this dialect? */
bool target_is_of(struct module *m, const char *target, const char *dialect,
		  const char *dir);
/* The name of a target of the dialect, from the folder `dir` or embedded:
 * preferably a target whose own file names the dialect, otherwise a target that
 * inherits the dialect; NULL if there is none. */
const char *target_of_dialect(struct module *m, const char *dialect,
			      const char *dir);

/* dialect_show.c: the list of dialects, and the forms of a dialect, as a table
 * for users or as JSON; NULL after a diagnostic. */
const char *dialect_list_text(struct module *m, const char *dir, bool json);
const char *dialect_show_text(struct module *m, const char *name,
			      const char *dir, bool json);
/* The dialect's JSON with all inherited keys; NULL after a diagnostic. */
const char *dialect_merged_text(struct module *m, const char *name,
				const char *dir);
/* Splits "path/NAME" into a dialect's name and its folder; a name without a
 * path leaves *dir unchanged. */
void dialect_of_argument(struct module *m, const char *argument,
			 const char **name, const char **dir);
/* Checks that the dialect has a form for regions of backends if the model has
 * regions. False after a diagnostic. */
bool dialect_takes_regions(struct module *m, const struct dialect *d,
			   bool regions);
/* Does the dialect make the workspace one array for each type, instead of one
 * array of bytes? */
bool dialect_wants_parts(const struct dialect *d);
/* Must the entry function have only one exit in this dialect? */
bool dialect_has_single_exit(const struct dialect *d);
/* Can the calls of a model in this dialect be data, as --form graph has them? */
bool dialect_has_graphs(const struct dialect *d);
/* Do definitions of weights have the target's alignment in this dialect? */
bool dialect_aligns_weights(const struct dialect *d);
/* Does the dialect have a memory for the caller's arrays other than the memory
 * of the workspace? */
bool dialect_wants_interface_apart(const struct dialect *d);
/* Does the dialect spell fmax of vectors? */
bool dialect_has_fmax_vectors(const struct dialect *d);
/* Can vectors of 16-bit floats be converted to float32 in this dialect? */
bool dialect_has_half_vectors(const struct dialect *d);
/* Can programs read the bits of a float as an integer in this dialect? */
bool dialect_reads_float_bits(const struct dialect *d);

#endif
