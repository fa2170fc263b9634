/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that sum, whose sums have one term each. */
#ifndef TIRC_GRAPH_TERMS_H
#define TIRC_GRAPH_TERMS_H

#include "graph.h"

/* Is a result of n, an operator that sums, or multiplies, or averages elements,
 * made of one element? False if sizes that are not known decide. */
bool has_one_term(struct graph *g, struct node *n);

#endif
