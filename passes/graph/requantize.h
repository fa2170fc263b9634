/* SPDX-License-Identifier: Apache-2.0 */
/* Private declarations of the pass `requantize`. */
#ifndef TIRC_REQUANTIZE_H
#define TIRC_REQUANTIZE_H

#include "channels.h"

/* The sign of the number that is scaled: NEGATIVE, or OTHER for zero and
 * positive numbers. */
enum sign { NEGATIVE, OTHER, SIGNS };

/* A range of numbers to add before the right shift of tirc.MultiplyShift, each
 * of which gives the required results; empty if to < from. */
struct addends {
	int64_t from, to;
};

/* Sets *v to the larger, or to the smaller, of *v and the bound. */
void addend_at_least(int64_t *v, int64_t bound);
void addend_at_most(int64_t *v, int64_t bound);
/* The range of the addends that are in both ranges a and b. */
struct addends both_addends(struct addends a, struct addends b);
/* Is the range empty? */
bool no_addend(struct addends a);
/* The addend of the range a that is nearest to v. */
int64_t nearest_addend(struct addends a, int64_t v);

/* requantize_sum.c: a tirc.Add, or an Add between DequantizeLinear and
 * QuantizeLinear, becomes tirc.AddShift, if both are equal for all bytes. False
 * after a diagnostic. */
bool requantize_sum(struct graph *g, struct node *n);

#endif
