/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled program as files: header, source, weights, build files and
 * metadata. */
#ifndef TIRC_PACKAGE_H
#define TIRC_PACKAGE_H

#include "anchors.h"
#include "dialects.h"
#include "kernel.h"

struct emit_options {
	const char *name; /* model identifier stem, e.g. "resnet50" */
	enum weights_form weights;
	const char *section; /* for WEIGHTS_SECTION */
	const char *version; /* "0.1.0" */
	bool profile;        /* the entry reports the end of each kernel */
	/* no entry: a table of kernels, and the graph of their calls as JSON */
	bool graph;
};

/* Files of a compiled program, in memory except for the weights, which are
 * computed when they are written. */
enum out_kind {
	OUT_TEXT,
	OUT_WEIGHTS_TEXT, /* text is the file's beginning */
	OUT_WEIGHTS_BLOB  /* text is NULL */
};

struct out_file {
	const char *name; /* relative to the output folder */
	enum out_kind kind;
	const char *text;
	size_t length;          /* of text; of the whole file for a blob */
	struct anchors anchors; /* of the digests, filled in on writing */
	bool is_source;         /* to be compiled */
};

struct package {
	VEC(struct out_file) files;
	enum weights_form weights; /* the chosen form; AUTO: no weights */
	int64_t weights_bytes;     /* of the values only */
	/* the command that compiles it in its folder */
	const char *cc_line;
	/* the command that builds or checks a firmware package in its folder;
	 * NULL: none */
	const char *next;
	/* Flags of the target and of the libraries; library_cflags: of the
	 * libraries only. */
	const char *cflags, *ldflags, *library_cflags;
	const struct dialect *dialect;
	/* What its sources rely on. */
	VEC(const struct requirement *) relied_on;
	/* of each weight's array, up to the initialiser */
	const char *const *definitions;
	struct packer *packer; /* private to package/ */
};

/* Header, source, weights, build files and metadata as text. */
bool package_build(struct program *p, const struct dialect *d,
		   const struct emit_options *o, struct package *out);
/* Writes into dir (made if missing): each file to a temporary name first,
 * renamed when all are whole; unchanged ones are not touched. A file that tirc
 * did not write is replaced only with force. */
bool package_write(struct program *p, const struct package *pkg,
		   const char *dir, bool force);

/* The name of t's member in the inputs or outputs structure. */
const char *package_field(const struct package *pkg, const struct tensor *t);
/* The fate of each node of the model. */
struct node_fate;
const struct node_fate *package_fates(const struct package *pkg);
/* The stem of the package's symbols. */
const char *package_model(const struct package *pkg);
/* A program that runs the model on files: input_0.bin, … to output_0.bin, …;
 * arguments: repetitions, then the symbolic sizes; prints the nanoseconds of
 * each run. With emit_options.profile, profile.txt has the number of threads,
 * the speed of one thread (operations per second, then bytes per second from
 * the first cache, the second cache and memory), and for each run a line with
 * the nanoseconds of each kernel. NULL: diagnosed. */
const char *package_harness(const struct package *pkg);
/* The other sources of that program, from runtime-c, and its libraries. */
int package_harness_files(const struct package *pkg);
const char *package_harness_file(const struct package *pkg, int i,
				 const char **name);
const char *package_harness_ldflags(const struct package *pkg);

#endif
