/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of an import, and the operators whose nodes are replaced. */
#ifndef TIRC_FINISH_H
#define TIRC_FINISH_H

#include "importer.h"

/* -- finish.c: from imported nodes to a graph with types and shapes -- */

bool import_finish(struct importer *imp);

/* expanders.c: the value of importer.expander. */
const struct expander *find_expander(const char *domain, const char *op_type);
/* The same of importer.knows_operator. */
bool knows_operator(const char *domain, const char *op_type);

#endif
