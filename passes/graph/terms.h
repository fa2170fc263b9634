/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that sum, whose sums have several terms each. */
#ifndef TIRC_TERMS_H
#define TIRC_TERMS_H

#include "graph.h"

/* Is each result of n, an operator that sums or averages elements, made of
 * several elements, or of none? False: one may be made of a single element. */
bool has_several_terms(struct graph *g, const struct node *n);

#endif
