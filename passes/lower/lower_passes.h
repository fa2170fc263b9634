/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of lower.def. */
#ifndef TIRC_LOWER_PASSES_H
#define TIRC_LOWER_PASSES_H

#include "func.h"

#define LOWER(phase, name, function, needed, what)                             \
	bool function(struct func *f);
#include "lower.def"
#undef LOWER

#endif
