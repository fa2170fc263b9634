/* SPDX-License-Identifier: Apache-2.0 */
/* What the builders and the walkers share; not for users of expr.h. */
#ifndef TIRC_EXPR_BUILD_H
#define TIRC_EXPR_BUILD_H

#include "expr.h"

/* The type of a call: as its table row says, from the type of its first
 * argument or as given. */
struct dtype expr_call_type(enum intrin op, struct dtype given,
			    struct dtype arg0);

#endif
