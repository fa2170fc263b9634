/* SPDX-License-Identifier: Apache-2.0 */
/* A region pass that is a command. */
#include "backend_load.h"

bool
backend_run_command(struct graph *g, const struct backend *b,
		    const struct region_pass *p)
{
	return diag_error(&g->module->diags, DIAG_UNSUPPORTED,
			  (struct diag_place){ .file = b->file,
					       .item = p->name },
			  "region passes that are commands are not run yet; "
			  "take a shared object");
}
