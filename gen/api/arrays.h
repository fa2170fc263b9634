/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes arrays in files: ONNX .pb, NumPy .npy and .npz. */
#ifndef TIRC_ARRAYS_H
#define TIRC_ARRAYS_H

#include "onnx_import.h"

/* What arrays_read does with an array: reads it; skips it without reading its
 * data; or fails. */
enum array_use { ARRAY_TAKEN, ARRAY_LEFT_OUT, ARRAY_REFUSED };

/* Called for each member of a .npz when its name, type and shape are known,
 * before its data is unpacked; n: the number of members. accepts() reports the
 * reason if it returns ARRAY_REFUSED. */
struct array_filter {
	enum array_use (*accepts)(void *ctx, const struct array *a, int n);
	void *ctx;
};

/* Reads one array from a .npy or .pb file, or all arrays of a .npz, each with
 * the name of its member; a .npz is refused without a filter. Reads and unpacks
 * no more data than the type and shape in a header require. Each byte of a bool
 * is checked to be 0 or 1. False after a diagnostic on m, or after the filter
 * has reported. */
bool arrays_read(struct module *m, const char *path,
		 const struct array_filter *filter, struct array **list,
		 int *n);
/* Reads the array in FOLDER/FILE, a .pb file of a data set. It must be a plain
 * file, and the folder must not be a link. */
bool arrays_read_set(struct module *m, const char *folder, const char *file,
		     struct array *out);
/* Has the array elements of type t? If the file gives only the width of the
 * elements, because NumPy lacks their type (array.is_bits): have they the width
 * of t? */
bool array_is(const struct array *a, struct dtype t);
/* Can n arrays be written to a file with this name? A .npy has one array, a
 * .npz any number. */
bool arrays_can_save(const char *path, int n);
/* Writes the arrays; the members of a .npz are not compressed. False after a
 * diagnostic on m. */
bool arrays_save(struct module *m, const char *path, const struct array *list,
		 int n);

#endif
