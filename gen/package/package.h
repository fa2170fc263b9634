/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled program as files: header, source, weights, build files and
 * metadata. */
#ifndef TIRC_PACKAGE_H
#define TIRC_PACKAGE_H

#include "anchors.h"
#include "dialects.h"
#include "kernel.h"

/* Where the source shows an option: in its first comment, in NAME.json as a member of
 * "options". Elsewhere are what other comments and other members show. */
enum shaping_place { SHAPING_IN_COMMENT = 1, SHAPING_IN_METADATA = 2 };

/* An option that shapes the source. */
struct shaping_option {
	const char *name;      /* as on the command line: "--conv" */
	const char *what;      /* what it sets, for a report */
	const char *otherwise; /* the default; NULL of a list */
	/* The values, as on the command line, of files only the last part of the
	 * path; n_values 0: the default. */
	const char *const *values;
	int n_values;
	bool is_list;    /* the option may be given several times */
	unsigned places; /* a set of enum shaping_place */
};

struct emit_options {
	/* the beginning of the emitted names, such as "resnet50" */
	const char *name;
	enum weights_form weights;
	const char *section; /* for WEIGHTS_SECTION: the section's name */
	const char *version; /* the version of tirc, such as "0.1.0" */
	const struct shaping_option *shaping;
	int n_shaping;
	/* the entry function reports when each kernel has ended */
	bool profile;
	/* --form graph: the program has no entry function, but a table of
	 * kernels, and their calls as JSON. */
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
	const char *name; /* the path in the output folder */
	enum out_kind kind;
	const char *text;
	/* the bytes of the text; for OUT_WEIGHTS_BLOB, of the whole file */
	size_t length;
	/* the positions in the text at which digests are filled in at the end */
	struct anchors anchors;
	bool is_source;   /* the file is a source that the build compiles */
	bool is_metadata; /* the file is NAME.json */
};

struct package {
	VEC(struct out_file) files;
	/* the form in which the weights are written; AUTO: the model has no
	 * weights */
	enum weights_form weights;
	int64_t weights_bytes; /* without headers and padding */
	/* the command that compiles the package, for a shell in its folder */
	const char *cc_line;
	/* The command that builds or checks the firmware package, for a shell
	 * in its folder; or NULL. */
	const char *next;
	/* The flags for the compiler and the linker that the target and the
	 * libraries need. library_cflags: only the flags for the compiler that
	 * the libraries need. */
	const char *cflags, *ldflags, *library_cflags;
	const struct dialect *dialect;
	/* macros that the compiler must define; the sources do not compile
	 * otherwise */
	VEC(const struct requirement *) relied_on;
	/* definitions[i]: the definition of weight i, without its initializer */
	const char *const *definitions;
	struct packer *packer; /* private to package/ */
};

/* Makes the files of a compiled program: header, source, weights, build files
 * and metadata. Returns false after a diagnostic. */
bool package_build(struct program *p, const struct dialect *d,
		   const struct emit_options *o, struct package *out);
/* Writes the files into dir, which is made if it is missing. Each file is
 * written under a temporary name, and all are renamed when all are complete. A
 * file that does not change is not touched. A file that tirc did not write is
 * only replaced with `force`. Returns false after a diagnostic. */
bool package_write(struct program *p, const struct package *pkg,
		   const char *dir, bool force);

/* A file of a package with the content that package_write() would write. */
struct finished_file {
	const char *sha256; /* 64 hex digits */
	int64_t bytes;
	const char *text; /* NULL for a file of weights */
};

struct finished {
	struct finished_file *files; /* for each file in package.files */
	/* for each weight: its digest in comments and metadata */
	const uint64_t *weight_digests;
};

/* Computes the contents of all files, but does not write them. Returns false
 * after a diagnostic. */
bool package_finish(struct program *p, const struct package *pkg,
		    struct finished *out);

/* The name of the member for t, an input or output, in the emitted
 * structure. */
const char *package_field(const struct package *pkg, const struct tensor *t);
/* What became of the model's nodes, as packer_fates() finds it. */
struct node_fate;
const struct node_fate *package_fates(const struct package *pkg);
/* The name of the model in the package, with which all symbols begin. */
const char *package_model(const struct package *pkg);
/* The source of a program that runs the model on files input_0.bin, …, and
 * writes output_0.bin, …. Its arguments are the number of repetitions and then
 * the symbolic sizes; it prints the nanoseconds of each run. With
 * emit_options.profile it also writes profile.txt: the number of threads; the
 * speed of one thread (operations per second, then bytes per second from the
 * first cache, the second cache and memory); and for each run a line with the
 * nanoseconds of each kernel. Returns NULL after a diagnostic. */
const char *package_harness(const struct package *pkg);
/* package_harness_files: the number of sources of runtime-c that the program of
 * package_harness() needs in addition; package_harness_file: source number i;
 * package_harness_ldflags: the flags for the linker that this program needs. */
int package_harness_files(const struct package *pkg);
const char *package_harness_file(const struct package *pkg, int i,
				 const char **name);
const char *package_harness_ldflags(const struct package *pkg);
/* kernel_harness.c: the source of a program that includes the model's source
 * and calls a single kernel; the template of this source describes the files
 * that it reads and writes. Kernels are numbered in the order of execution;
 * regions of backends are left out. Returns NULL after a diagnostic. */
const char *package_kernel_harness(const struct package *pkg);
/* The reason why there can be no program that calls single kernels of this
 * package; NULL if there can. */
const char *package_kernels_obstacle(const struct package *pkg);
/* The source file that the program of package_kernel_harness() includes. */
const char *package_kernels_source(const struct package *pkg);

#endif
