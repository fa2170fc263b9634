/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are mapped into memory, and files whose names a model or a
 * partition contains. */
#ifndef TIRC_ONNX_FILE_H
#define TIRC_ONNX_FILE_H

#include "arena.h"

/* -- file.c: mapped files -- */

/* The bytes of a file: mapped, or read into memory that onnx_file_close()
 * frees, if the file cannot be mapped. */
struct onnx_map {
	char *path;
	const uint8_t *base;
	size_t length;
	/* SHARED: the bytes belong to another struct onnx_file, which lives
	 * longer */
	enum { BYTES_MAPPED, BYTES_OWNED, BYTES_SHARED } kind;
};

struct onnx_file {
	struct onnx_map *maps;
	int n, cap;
	char **kept; /* messages to which models in text form were converted;
		      * their bytes live as long as the maps */
	int n_kept;
};

struct onnx_file *onnx_file_new(void);
/* Maps the file at path, unless it is mapped already. The result is valid until
 * the next call. NULL if the file cannot be read; then *why is the reason, in
 * the arena. */
const struct onnx_map *onnx_file_map(struct onnx_file *file, const char *path,
				     struct arena *a, const char **why);
/* Maps the file `name` in a folder, named by a model or a partition (the
 * owner): a regular file without further hard links, in the owner's folder or
 * below. NULL if the file cannot be read; then *why is the end of a sentence
 * about the file: "is a symbolic link; put the file itself there". */
const struct onnx_map *onnx_file_map_beside(struct onnx_file *file,
					    const char *owner,
					    const char *folder,
					    const char *name, struct arena *a,
					    const char **why);
/* The map that `from` has for this path; it becomes a map of `file`, too, so
 * that the file at the path is not opened again. NULL if `from` is NULL or has
 * no map for the path. */
const struct onnx_map *onnx_file_share(struct onnx_file *file,
				       const struct onnx_file *from,
				       const char *path);
/* Takes ownership of the bytes, which live until onnx_file_close(). False: out
 * of memory. */
bool onnx_file_keep(struct onnx_file *file, struct strbuf *bytes);
/* Lets the system drop these pages, which have been read; a later access loads
 * them again. */
void onnx_file_forget(const void *at, size_t length);
/* The first 16 hex digits of the SHA-256 of the bytes; mapped: their pages may
 * be dropped after reading. */
const char *sha256_text_of(struct arena *a, const uint8_t *data, size_t length,
			   bool mapped);
/* Like sha256_text_of, all 64 digits. */
const char *sha256_whole_of(struct arena *a, const uint8_t *data, size_t length,
			    bool mapped);

/* -- beside.c: files that a model or a partition names -- */

/* Opens a file as onnx_file_map_beside does; returns the descriptor, or -1 with
 * *why. */
int beside_open(struct arena *a, const char *owner, const char *folder,
		const char *name, const char **why);

#endif
