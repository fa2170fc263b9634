/* SPDX-License-Identifier: Apache-2.0 */
/* What operators with indices among their inputs share. */
#ifndef TIRC_OPS_INDICES_H
#define TIRC_OPS_INDICES_H

#include "define.h"

/* Are the indices of input i constants that lie in [0, size)? */
bool indices_known(struct module *m, const struct node *n, int i,
		   const struct expr *size);
/* Input i has a type of indices, else a diagnostic. */
bool infer_index_type(struct infer *c, const struct node *n, int i);
/* The number of dimensions behind the first `batch` ones that one tuple of
 * input 1 selects; 0 with a diagnostic. */
int infer_tuple_length(struct infer *c, const struct node *n, int batch);

#endif
