/* SPDX-License-Identifier: Apache-2.0 */
/* The computations of a kernel as formulas. */
#ifndef TIRC_FORMULA_H
#define TIRC_FORMULA_H

#include "func.h"

struct formulas {
	VEC(const char *) list;
	/* the lines are TVMScript, because a statement of the function cannot
	 * be written as a formula */
	bool is_script;
};

/* A line for each block of f, a function before its schedule:
 *
 *	conv[n, oc, oh, ow] = sum over ic < 16, kh < 3 of (x[n, ic, oh + kh, ow]
 *	* w[oc, ic, kh]), for n < 1, oc < 24, oh < 4, ow < 4
 */
struct formulas formulas_of(const struct func *f);

/* Appends an expression in the form of formulas. */
void formula_put(const struct expr *e, struct strbuf *out);

#endif
