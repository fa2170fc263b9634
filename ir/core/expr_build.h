/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the builders and the walks; not for users of
 * expr.h. */
#ifndef TIRC_EXPR_BUILD_H
#define TIRC_EXPR_BUILD_H

#include "expr.h"

/* The type of a call of op, by its row of intrin.def: arg0, the type of the
 * first argument; bool; void; or the given type. */
struct dtype expr_call_type(enum intrin op, struct dtype given,
			    struct dtype arg0);
/* Like expr_select() or expr_if(), depending on `kind`, but also makes a node
 * if the two values are equal. */
const struct expr *expr_choice(struct module *m, enum expr_kind kind,
			       const struct expr *c, const struct expr *a,
			       const struct expr *b);

#endif
