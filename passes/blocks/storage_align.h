/* SPDX-License-Identifier: Apache-2.0 */
/* What storage_align asks for. */
#ifndef TIRC_STORAGE_ALIGN_H
#define TIRC_STORAGE_ALIGN_H

#include "expr.h"

/* A note: on a block a list of [write, axis, factor, offset], on an ALLOC of
 * [axis, factor, offset]. */
#define STORAGE_ALIGN "buffer_dim_align"

/* The shape of a buffer, of which the extents behind the axes in list (as on an
 * ALLOC; or NULL) grow until strides are offset more than a multiple of factor.
 * What is not constant stays. */
void storage_align_shape(struct module *m, const struct expr *list,
			 const struct expr **shape, int ndim);

#endif
