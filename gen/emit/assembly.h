/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of a device as statements in assembly. */
#ifndef TIRC_ASSEMBLY_H
#define TIRC_ASSEMBLY_H

#include "dialect.h"
#include "expr.h"

/* Has the dialect a family for instructions of this name? */
bool assembly_has(const struct dialect *d, const char *name);
/* The call e of such an instruction as a statement, without its end; texts: those of
 * its arguments behind the name. Sets *why to the reason, if there is no such
 * statement, else to NULL. */
const char *assembly_text(struct module *m, const struct dialect *d,
			  const struct expr *e, const char *const *texts,
			  const char **why);

#endif
