/* SPDX-License-Identifier: Apache-2.0 */
/* Infers a block's read and write regions from its body. */
#ifndef TIRC_BLOCK_REGIONS_H
#define TIRC_BLOCK_REGIONS_H

#include "func.h"

/* Sets the read regions, the write regions or both of a block whose body and
 * init have been built; inner blocks count by the regions that they declare.
 * The range of a dimension is an interval if the index in this dimension is a
 * sum of variables of inner loops; else it is the whole dimension. A block with
 * an init has no read region for a buffer that it writes. */
void block_infer_regions(struct func *f, struct stmt *block, bool reads,
			 bool writes);

#endif
