/* SPDX-License-Identifier: Apache-2.0 */
/* Padding of buffers for storage_align. */
#ifndef TIRC_STORAGE_ALIGN_H
#define TIRC_STORAGE_ALIGN_H

#include "expr.h"

/* The name of a note. On a block: a list of [index of the write region, axis,
 * factor, offset]; on an ALLOC: a list of [axis, factor, offset]. */
#define STORAGE_ALIGN "buffer_dim_align"

/* The largest factor. */
enum { STORAGE_ALIGN_MOST = 65536 };

/* The entry of a block's note at index *i or behind it that is a list of four
 * values; *i becomes the index behind that entry. NULL if there is no further
 * entry. A note may be NULL, and in users' programs may have any form. */
const struct expr *storage_align_next(const struct expr *note, int *i);

/* Pads a buffer's shape. For each entry of list (an ALLOC's note, or NULL), the
 * extents inside of the axis grow until the axis's stride is congruent to
 * offset modulo factor. Symbolic extents do not change. */
void storage_align_shape(struct module *m, const struct expr *list,
			 const struct expr **shape, int ndim);

#endif
