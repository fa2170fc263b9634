/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by operators with index inputs. */
#ifndef TIRC_INDICES_H
#define TIRC_INDICES_H

#include "define.h"

/* Are the elements of input i of n constants in [0, size)? */
bool indices_known(struct module *m, const struct node *n, int i,
		   const struct expr *size);
/* The index e, from data, in a type that can represent `size`. */
const struct expr *index_as_wide(struct module *m, const struct expr *e,
				 const struct expr *size);
/* Checks that the indices, input 1, which have the rank of the data, input 0,
 * are not larger than the data in any dimension except `axis`. */
bool infer_indices_within(struct infer *c, const struct node *n, int axis);
/* Checks that input i has a type of indices; false after a diagnostic. */
bool infer_index_type(struct infer *c, const struct node *n, int i);
/* The number of dimensions, after the first `batch` dimensions, in which a
 * tuple of input 1 is an index; 0 after a diagnostic. */
int infer_tuple_length(struct infer *c, const struct node *n, int batch);

#endif
