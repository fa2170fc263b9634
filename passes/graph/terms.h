/* SPDX-License-Identifier: Apache-2.0 */
/* Do the sums of an operator have several terms? */
#ifndef TIRC_TERMS_H
#define TIRC_TERMS_H

#include "graph.h"

/* n sums or averages elements. True if each element of its result is provably
 * computed from several elements, or from none; false if one may be computed
 * from a single element. */
bool has_several_terms(struct graph *g, const struct node *n);

#endif
