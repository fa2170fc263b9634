/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled program as files: header, source, weights, build files and
 * metadata. */
#ifndef TIRC_PACKAGE_H
#define TIRC_PACKAGE_H

#include "dialects.h"
#include "kernel.h"

struct emit_options {
	const char *name; /* model identifier stem, e.g. "resnet50" */
	enum weights_form weights;
	const char *section; /* for WEIGHTS_SECTION */
	const char *version; /* "0.1.0" */
	bool profile;        /* the entry says when each kernel is done */
	bool graph;          /* no entry: kernels in a table, and as JSON the
			       * graph of their calls */
};

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
