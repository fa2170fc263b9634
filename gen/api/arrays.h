/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes arrays in files: ONNX .pb, NumPy .npy and .npz. */
#ifndef TIRC_CLI_ARRAYS_H
#define TIRC_CLI_ARRAYS_H

#include "onnx_import.h"

/* One array of a .npy or .pb file, or all of a .npz (names: its members).
 * False with a diagnostic on m. */
bool arrays_read(struct module *m, const char *path, struct array **list,
		 int *n);
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
