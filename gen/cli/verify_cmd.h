/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the verb verify: what is known of a folder while it is verified. */
#ifndef TIRC_VERIFY_CMD_H
#define TIRC_VERIFY_CMD_H

#include "difference.h"
#include "harness.h"
#include "verify_kernel.h"
#include "verifying.h"

/* Lines of a file that differ from what tirc writes. */
struct verified_change {
	struct line_change lines;
	int kernel; /* in whose lines it is, or -1 */
	int weight; /* the constant in whose elements it is, or -1 */
};

/* A file that tirc writes for the model. */
struct verified_file {
	const char *name;
	bool is_text;
	/* the bytes in the folder; NULL: there is no such file */
	const char *data;
	size_t bytes;
	const char *sha256;
	const char *why; /* it cannot be read, or NULL */
	bool same;
	VEC(struct verified_change) changes;
};

struct verified_kernel {
	struct verify_kernel of;
	bool changed; /* its lines, or a constant that it reads */
	struct verify_result result;
	const char *not_run; /* why, or NULL */
	/* what is wrong with it, or NULL: an element, a crash, a write outside of
	 * an array */
	const char *wrong;
	/* the first element that the source as tirc writes it computes otherwise,
	 * within the tolerance; or NULL */
	const char *other;
};

struct verifying {
	struct cli *cli;
	const char *folder;
	struct tirc *stating; /* owns what the folder states */
	struct stated stated;
	int64_t number; /* of --seed */
	uint64_t seed;
	struct arena *a;
	/* Programs of the model and of its kernels: `fresh` from the source as
	 * tirc writes it, `given` from the folder's source. fresh owns the model
	 * and the messages; the fresh programs are built if a text differs. */
	struct harness fresh, given, fresh_kernels, given_kernels;
	bool fresh_is_built;
	VEC(struct verified_file) files;
	bool same_texts;
	const char *not_run;       /* why no program is run, or NULL */
	const char *alone_not_run; /* why no kernel is run by itself, or NULL */
	const char *not_built;     /* the folder's source is not: what failed */
	VEC(struct verified_kernel) kernels;
	struct tally runs;       /* of the whole model */
	const char *whole_other; /* as verified_kernel.other */
	bool whole_failed;
};

/* verify_files.c */
/* Takes the options that the folder's NAME.json states, where the command line
 * has none. False after an error message. */
bool verify_take_stated(struct verifying *v);
/* Compares the folder's files with those of v->fresh. False after an error
 * message. */
bool verify_files(struct verifying *v);
/* Writes the folder's files into the folder of h. False after an error
 * message. */
bool verify_write_given(struct verifying *v, struct harness *h);

/* Reads a file of at most so many bytes. NULL, or why it cannot be read. */
const char *verify_read(int fd, int64_t most, struct strbuf *out);

/* verify_kernels.c: builds the programs and runs each kernel by itself. False
 * after an error message. */
bool verify_kernels(struct verifying *v);
/* A harness for v->fresh's model in a folder of its own, without files. False
 * after an error message. */
bool verify_beside(struct verifying *v, struct harness *out);

/* verify_whole.c: runs the whole model. False after an error message. */
bool verify_whole(struct verifying *v);

/* verify_certificate.c */
/* "verified", "text only" or "differs". */
const char *verify_verdict(const struct verifying *v);
/* Writes the certificate. False after an error message. */
bool verify_write_certificate(struct verifying *v, const char *path);
/* tirc verify --check: compares the digests of a certificate with the files. The
 * exit status. */
int verify_check(struct cli *c, const char *certificate, const char *folder);

#endif
