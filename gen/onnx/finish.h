/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of an import, and the operators whose nodes are replaced. */
#ifndef TIRC_ONNX_FINISH_H
#define TIRC_ONNX_FINISH_H

#include "importer.h"

/* -- finish.c: upgrade, sort, resolve, infer, compare -- */

bool import_finish(struct importer *imp);

/* expanders.c: for struct importer. */
const struct expander *find_expander(const char *domain, const char *op_type);

#endif
