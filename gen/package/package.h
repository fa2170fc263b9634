/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled program as files: header, source, weights, build files and
 * metadata. */
#ifndef TIRC_PACKAGE_H
#define TIRC_PACKAGE_H

#include "anchors.h"
#include "dialects.h"
#include "kernel.h"

struct emit_options {
	const char *name; /* beginning of the emitted names: "resnet50" */
	enum weights_form weights;
	const char *section; /* the section for WEIGHTS_SECTION */
	const char *version; /* of tirc: "0.1.0" */
	/* the entry function reports the end of each kernel */
	bool profile;
	/* --form graph: no entry function, but a table of kernels and their
	 * calls as JSON */
	bool graph;
};

/* The files of a compiled program. They are in memory, except for the weights,
 * which are computed when the files are written. */
enum out_kind {
	OUT_TEXT,
	OUT_WEIGHTS_TEXT, /* text is the beginning of the file; the weights
			   * follow */
	OUT_WEIGHTS_BLOB  /* text is NULL */
};

struct out_file {
	const char *name; /* path in the output folder */
	enum out_kind kind;
	const char *text;
	size_t length; /* bytes of the text; for a blob, of the whole file */
	/* where in the text digests are filled in at the end */
	struct anchors anchors;
	bool is_source;   /* to compile */
	bool is_metadata; /* NAME.json */
};

struct package {
	VEC(struct out_file) files;
	/* the form of the weights that was chosen; AUTO: there are no
	 * weights */
	enum weights_form weights;
	int64_t weights_bytes; /* without headers and padding */
	/* the command that compiles the package, to run in its folder */
	const char *cc_line;
	/* the command that builds or checks the firmware package, to run in its
	 * folder; or NULL */
	const char *next;
	/* Flags for the compiler and the linker, of the target and of
	 * libraries; library_cflags: only those of libraries. */
	const char *cflags, *ldflags, *library_cflags;
	const struct dialect *dialect;
	/* macros of the compiler without which the sources refuse to compile */
	VEC(const struct requirement *) relied_on;
	/* definitions[i]: the definition of weight i, up to the initializer */
	const char *const *definitions;
	struct packer *packer; /* private to package/ */
};

/* Makes the files of a compiled program: header, source, weights, build files
 * and metadata. False after a diagnostic. */
bool package_build(struct program *p, const struct dialect *d,
		   const struct emit_options *o, struct package *out);
/* Writes the files into dir, which is made if missing. Each is written under a
 * temporary name; all are renamed when all are complete. Unchanged files are
 * not touched. A file that tirc did not write is only replaced with `force`.
 * False after a diagnostic. */
bool package_write(struct program *p, const struct package *pkg,
		   const char *dir, bool force);

/* A file of a package as package_write writes it. */
struct finished_file {
	const char *sha256; /* 64 hex digits */
	int64_t bytes;
	const char *text; /* NULL for a file of weights */
};

struct finished {
	struct finished_file *files; /* by index in package.files */
	/* by index of the weight: the digest that comments and metadata have */
	const uint64_t *weight_digests;
};

/* Computes all files, but writes none. False after a diagnostic. */
bool package_finish(struct program *p, const struct package *pkg,
		    struct finished *out);

/* The name of the member for t, an input or output, in the emitted
 * structure. */
const char *package_field(const struct package *pkg, const struct tensor *t);
/* The fates of the model's nodes, as packer_fates() gives them. */
struct node_fate;
const struct node_fate *package_fates(const struct package *pkg);
/* The name of the model in the package, with which all symbols begin. */
const char *package_model(const struct package *pkg);
/* A program that runs the model on files input_0.bin, …, and writes
 * output_0.bin, …. Its arguments are the number of repetitions, then the
 * symbolic sizes; it prints the nanoseconds of each run. With
 * emit_options.profile it writes profile.txt: the number of threads; the speed
 * of one thread (operations per second, then bytes per second from the first
 * cache, the second cache and memory); and for each run a line with the
 * nanoseconds of each kernel. NULL after a diagnostic. */
const char *package_harness(const struct package *pkg);
/* The sources from runtime-c that the program of package_harness() needs besides
 * its own text, and its flags for the linker. */
int package_harness_files(const struct package *pkg);
const char *package_harness_file(const struct package *pkg, int i,
				 const char **name);
const char *package_harness_ldflags(const struct package *pkg);
/* kernel_harness.c: a program that includes the source and calls one kernel by
 * itself; the template says what its files are. Kernels have their numbers in
 * the order of execution; regions of backends are left out. NULL after a
 * diagnostic. */
const char *package_kernel_harness(const struct package *pkg);
/* Why the package has no program that calls its kernels one by one, or NULL. */
const char *package_kernels_obstacle(const struct package *pkg);
/* The source file that this program includes. */
const char *package_kernels_source(const struct package *pkg);

#endif
