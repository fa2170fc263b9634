/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the verb verify share: the state of the verification of a
 * folder. */
#ifndef TIRC_VERIFY_CMD_H
#define TIRC_VERIFY_CMD_H

#include "difference.h"
#include "harness.h"
#include "text_map.h"
#include "verify_kernel.h"
#include "verifying.h"

/* Lines of a file in the folder that differ from the lines that tirc writes in
 * this file. */
struct verified_change {
	struct line_change lines;
	int kernel; /* the kernel whose function these lines are, or -1 */
	int weight; /* the constant whose elements these lines define, or -1 */
};

/* A file that tirc writes for the model, compared with the file in the folder. */
struct verified_file {
	const char *name;
	bool is_text;
	/* the content of the file in the folder; NULL: the folder has no such
	 * file */
	const char *data;
	size_t bytes;
	const char *sha256;
	const char *why; /* why the file cannot be read, or NULL */
	bool same;
	VEC(struct verified_change) changes;
};

/* The paths, within the folder of the source, of files that tirc did not write and
 * that change what is built. */
struct added_files {
	VEC(const char *) list;
};

struct verified_kernel {
	struct verify_kernel of;
	/* the lines of the kernel's function, or of a constant that the kernel
	 * reads, differ */
	bool changed;
	struct verify_result result;
	const char *not_run; /* why the kernel was not run, or NULL */
	/* The kernel's error, or NULL: a wrong element, a crash, or a write
	 * outside of an array. */
	const char *wrong;
	/* The first element for which the source in the folder and the source
	 * that tirc writes give different values, both within the tolerance; or
	 * NULL. */
	const char *other;
};

struct verifying {
	struct cli *cli;
	/* the folder of the source; NULL: the source is the one that tirc
	 * writes */
	const char *folder;
	/* the data sets of --data */
	const char **paths;
	int n_paths;
	struct tirc *stating; /* owns `stated` */
	struct stated stated;
	/* the options that come from `stated` and that do not have a member of
	 * their own there, as on the command line: "--conv direct" */
	VEC(const char *) taken;
	bool gave_sizes; /* the command line has options about sizes */
	int64_t number;  /* the value of --seed, or 1 */
	uint64_t seed;
	struct arena *a;
	/* Programs with the whole model and programs with its kernels: the
	 * fresh ones have the source that tirc writes, the given ones the
	 * folder's source. `fresh` owns the model and the messages. The fresh
	 * programs are built only if a text differs. */
	struct harness fresh, given, fresh_kernels, given_kernels;
	bool fresh_is_built;
	/* the program stores the right results of a kernel's run, too */
	bool keeps_want;
	VEC(struct verified_file) files;
	/* all files are those that tirc writes, and the folder has no other
	 * files that change what is built */
	bool same_texts;
	struct added_files added;
	/* what differs in the folder's NAME.json from the one that tirc writes,
	 * a line for each change; NULL if nothing does */
	const char *other_options;
	const char *not_run; /* why no program is run, or NULL */
	/* why no kernel is run separately, or NULL */
	const char *alone_not_run;
	/* the error of the compiler on the folder's source, or NULL */
	const char *not_built;
	VEC(struct verified_kernel) kernels;
	/* the verdicts on the runs of the whole model */
	struct tally runs;
	/* as verified_kernel.other, but for the whole model */
	const char *whole_other;
	bool whole_failed;
};

/* cmd_verify.c: why programs of the target cannot run here, or NULL. */
const char *verify_obstacle(struct verifying *v);

/* verify_stated.c */
/* Sets the options of the command line that the user did not give to those that
 * the folder's NAME.json states. Returns false after an error message. */
bool verify_take_stated(struct verifying *v);
/* A note about the options that come from NAME.json, for a model that cannot be
 * compiled with them. */
void verify_note_stated(const struct verifying *v);

/* verify_files.c */
/* Compares the folder's files with the files that tirc writes. Returns false
 * after an error message. */
bool verify_files(struct verifying *v);
/* Copies the folder's files into the folder of h. Returns false after an error
 * message. */
bool verify_write_given(struct verifying *v, struct harness *h);

/* Reads an open file of at most `most` bytes. Returns NULL, or the reason of a
 * failure. */
const char *verify_read(int fd, int64_t most, struct strbuf *out);

/* verify_options.c: after verify_files(): if the folder's NAME.json differs from
 * the one that tirc writes, sets v->other_options. Sets v->not_run if the kernels
 * have other parameters, or if the folder lacks a file of the source. */
void verify_find_options(struct verifying *v);

/* verify_added.c: finds such files in the folder, or in folders below it.
 * written: the paths, within the folder, of the n files that tirc wrote. */
void verify_find_added(struct arena *a, const char *folder,
		       const char *const *written, int n,
		       struct added_files *out);

/* verify_kernels.c: builds the programs and runs each kernel separately.
 * Returns false after an error message. */
bool verify_kernels(struct verifying *v);
/* Sets v->kernels to a list of all kernels of the model. */
void verify_list_kernels(struct verifying *v);
/* After verify_kernels(): builds the source that tirc writes with the options
 * `other`, which may name another compiler, and runs kernel `index`: in a folder, where
 * the program, its inputs and the right results stay, or in a temporary one (folder
 * NULL). Returns false if the source cannot be built. */
bool verify_kernel_again(struct verifying *v, int index, struct cli *other,
			 const char *folder, struct verified_kernel *out);
/* After verify_kernels(): the first element of a constant of kernel `index` that
 * the program has in another form than the model and the constant's layout say,
 * as "conv_w[3] is stored as 2, not 1"; NULL if all are right, or are not read. */
const char *verify_constants(struct verifying *v, int index);
/* Makes *out a harness for the model of v->fresh in a new empty folder. Returns
 * false after an error message. */
bool verify_beside(struct verifying *v, struct harness *out);

/* verify_whole.c: builds the program of the whole model, from the source that tirc
 * writes, in a new folder. Returns false after an error message. */
bool verify_build_fresh(struct verifying *v, struct harness *out);
/* Runs the whole model. Returns false after an error message. */
bool verify_whole(struct verifying *v);

/* verify_certificate.c */
/* The result in a word: "verified", "text only" or "differs". */
const char *verify_verdict(const struct verifying *v);
bool verify_is_verdict(const char *word);
/* Writes the certificate to a file. Returns false after an error message. */
bool verify_write_certificate(struct verifying *v, const char *path);
/* tirc verify --check: compares the digests of a certificate with the files.
 * Returns the exit status. */
int verify_check(struct cli *c, const char *certificate, const char *folder);

#endif
