/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of an import, and the operators whose nodes are replaced. */
#ifndef TIRC_FINISH_H
#define TIRC_FINISH_H

#include "importer.h"

/* finish.c: upgrades the imported nodes, infers types and shapes, replaces
 * nodes that are compositions or deferred, and checks the outputs of the graph.
 * False after a diagnostic. */
bool import_finish(struct importer *imp);

/* expanders.c: the functions for importer.expander and
 * importer.knows_operator. */
const struct expander *find_expander(const char *domain, const char *op_type);
bool knows_operator(const char *domain, const char *op_type);

#endif
