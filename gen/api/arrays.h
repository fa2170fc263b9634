/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes arrays in files: ONNX .pb, NumPy .npy and .npz. */
#ifndef TIRC_CLI_ARRAYS_H
#define TIRC_CLI_ARRAYS_H

#include "onnx_import.h"

/* ARRAY_LEFT_OUT: its data is not read. */
enum array_use { ARRAY_TAKEN, ARRAY_LEFT_OUT, ARRAY_REFUSED };

/* Asked of each member of a .npz before its data is unpacked, when its name, type
 * and shape are known; n: the members. If the function refuses it, it reports
 * why. */
struct array_filter {
	enum array_use (*accepts)(void *ctx, const struct array *a, int n);
	void *ctx;
};

/* One array of a .npy or .pb file, or all of a .npz (names: its members; without
 * a filter, it is refused). Not more is read or unpacked than type and shape in
 * a header ask for. Bytes of bools are 0 or 1. False with a diagnostic on m, or
 * after the filter's report. */
bool arrays_read(struct module *m, const char *path,
		 const struct array_filter *filter, struct array **list,
		 int *n);
/* The array of FOLDER/FILE, a .pb file of a data set: a plain file in a folder
 * that is no link. */
bool arrays_read_set(struct module *m, const char *folder, const char *file,
		     struct array *out);
/* Are its elements of type t? Compares the width only if NumPy has no such type
 * and the file has only the width. */
bool array_is(const struct array *a, struct dtype t);
/* Can n arrays be written to a file of that name? One to a .npy, any number to
 * a .npz. */
bool arrays_can_save(const char *path, int n);
/* Writes them; the members of a .npz are stored, not compressed. False with a
 * diagnostic on m. */
bool arrays_save(struct module *m, const char *path, const struct array *list,
		 int n);

#endif
