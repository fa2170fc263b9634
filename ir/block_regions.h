/* SPDX-License-Identifier: Apache-2.0 */
/* What a block touches, found from its body. */
#ifndef TIRC_IR_BLOCK_REGIONS_H
#define TIRC_IR_BLOCK_REGIONS_H

#include "func.h"

/* Gives block, whose body is complete, the regions that its body reads or
 * writes: intervals where indices are sums of the loops inside, else whole
 * dimensions. What a block with an init writes it does not also read. */
void block_infer_regions(struct func *f, struct stmt *block, bool reads,
			 bool writes);

#endif
