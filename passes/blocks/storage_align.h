/* SPDX-License-Identifier: Apache-2.0 */
/* Padding of buffers for storage_align. */
#ifndef TIRC_STORAGE_ALIGN_H
#define TIRC_STORAGE_ALIGN_H

#include "expr.h"

/* A note: on a block a list of [write, axis, factor, offset], on an ALLOC of
 * [axis, factor, offset]. */
#define STORAGE_ALIGN "buffer_dim_align"

/* Pads a buffer's shape: the extents inside of the axes in list (an ALLOC's
 * note, or NULL) grow until the axes' strides are congruent to offset modulo
 * factor. Symbolic extents stay. */
void storage_align_shape(struct module *m, const struct expr *list,
			 const struct expr **shape, int ndim);

#endif
