/* SPDX-License-Identifier: Apache-2.0 */
/* Dialects (data) and the one walker that prints lowered TIR with them. */
#ifndef TIRC_EMIT_H
#define TIRC_EMIT_H

#include "host_device.h"
#include "kernel.h"

struct dialect;

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
/* dialect_check.c: "path/NAME" is the dialect NAME in the folder "path"; a mere
 * name is one of dir. */
void dialect_of_argument(struct module *m, const char *argument,
			 const char **name, const char **dir);
/* Reports every mistake in a dialect's folder, or in a folder of dialects and
 * targets; nothing is written. *checked: what it looked at. */
bool dialect_check(struct module *m, const char *path, const char **checked);

/* False, diagnosed, if there are regions and its models have no places for
 * them. */
bool dialect_takes_regions(struct module *m, const struct dialect *d,
			   bool regions);
/* Does its workspace have an array for each type? */
bool dialect_wants_parts(const struct dialect *d);
/* Are arrays of weights aligned to what the target wants? */
bool dialect_aligns_weights(const struct dialect *d);
/* Are the caller's arrays in another memory than its workspace? */
bool dialect_wants_interface_apart(const struct dialect *d);
/* Is the larger of two numbers (fmax) spelled for vectors? */
bool dialect_has_fmax_vectors(const struct dialect *d);

enum weights_form {
	WEIGHTS_AUTO,
	WEIGHTS_C,
	WEIGHTS_INCBIN,
	WEIGHTS_FILE,
	WEIGHTS_SECTION
};

struct emit_options {
	const char *name; /* model identifier stem, e.g. "resnet50" */
	enum weights_form weights;
	const char *section; /* for WEIGHTS_SECTION */
	const char *version; /* "0.1.0" */
	bool profile;        /* the entry says when each kernel is done */
	bool graph;          /* no entry: kernels in a table, and as JSON the
			       * graph of their calls */
};

/* The text of one function as its dialect spells it. */
bool emit_func(struct module *m, const struct dialect *d, const struct func *f,
	       struct strbuf *out);

/* A function of a tensor program. */
struct program_part {
	const struct func *func;         /* lowered; the host's, if split */
	const struct host_device *split; /* NULL: it has no kernels */
	const char *schedule; /* for the comment: "split(i, …); …"; or NULL */
};

/* The files of a tensor program. */
struct program_text {
	const char *title;
	const char *stem; /* of the file names */
	const struct program_part *parts;
	int n;
	bool with_header; /* the source includes it */
};

/* One source file of them, in this order; each split one as its kernels, and
 * its host function where the dialect spells launches. */
bool emit_program(struct module *m, const struct dialect *d,
		  const struct program_text *p, struct strbuf *out);
/* Its header: prototypes of the functions that a host calls. Nothing is
 * appended where there are none. */
bool emit_program_header(struct module *m, const struct dialect *d,
			 const struct program_text *p, struct strbuf *out);
const char *emit_program_header_name(struct module *m, const struct dialect *d,
				     const char *stem);
/* What the file is called: "net.c" for "net", as the dialect has it. */
const char *emit_program_name(struct module *m, const struct dialect *d,
			      const char *stem);
/* The launches as JSON: extents of grid and block along x, y, z (numbers, or
 * expressions of the function's scalar arguments), and the arguments. */
bool emit_launches(struct module *m, const struct dialect *d,
		   const struct program_part *parts, int n, struct strbuf *out);

/* Files of a compiled program, in memory but for the weights, which are
 * streamed when written. */
enum out_kind {
	OUT_TEXT,
	OUT_WEIGHTS_TEXT, /* text is how the file starts */
	OUT_WEIGHTS_BLOB  /* text is NULL */
};

struct out_file {
	const char *name; /* relative to the output folder */
	enum out_kind kind;
	const char *text;
	size_t length;   /* of text; of the whole file for a blob */
	bool has_digest; /* holds WEIGHTS_DIGEST_MARK, filled in on writing */
	bool is_source;  /* to be compiled */
};

struct package {
	VEC(struct out_file) files;
	enum weights_form weights; /* as decided; AUTO if there are none */
	int64_t weights_bytes;     /* of the values alone */
	const char *cc_line;       /* how to compile it, in its folder */
	/* The target's flags and those that libraries want; theirs alone. */
	const char *cflags, *ldflags, *library_cflags;
	const struct dialect *dialect;
	const char *const
		*definitions;  /* of each weight, as its array starts */
	struct packer *packer; /* package/'s own */
};

/* Header, source, weights, build files and metadata as text. */
bool package_build(struct program *p, const struct dialect *d,
		   const struct emit_options *o, struct package *out);
/* Writes into dir (made if missing): each file to a temporary name first,
 * renamed when all are whole; unchanged ones are not touched. A file that tirc
 * did not write is replaced only with force. */
bool package_write(struct program *p, const struct package *pkg,
		   const char *dir, bool force);

/* The member of the inputs or outputs structure that stands for t. */
const char *package_field(const struct package *pkg, const struct tensor *t);
/* The stem of its symbols. */
const char *package_model(const struct package *pkg);
/* A program that runs the model on files: input_0.bin, … to output_0.bin, …;
 * arguments: repetitions, then the symbolic sizes; prints the nanoseconds of
 * each run. With emit_options.profile, profile.txt has how many threads there
 * are, what one of them reaches (operations, then bytes, per second: from the
 * first cache, the second, memory) and a line for each run with the
 * nanoseconds of each kernel. NULL: diagnosed. */
const char *package_harness(const struct package *pkg);
/* What else that program is made of: files of runtime-c; and linked with. */
int package_harness_files(const struct package *pkg);
const char *package_harness_file(const struct package *pkg, int i,
				 const char **name);
const char *package_harness_ldflags(const struct package *pkg);

#endif
