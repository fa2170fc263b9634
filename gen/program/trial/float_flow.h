/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the integers of a source's functions that depend on floats: their value
 * depends on floats, or it depends on floats whether or where they are stored.
 * The dependence may go through variables, arrays and calls. Private to
 * float_checks.c and float_flow.c. */
#ifndef TIRC_FLOAT_FLOW_H
#define TIRC_FLOAT_FLOW_H

#include "float_checks.h"
#include "pointer_map.h"

enum {
	/* a variable or an array whose values depend on floats */
	MARK_FLOAT = 1,
	/* an array; it depends on floats whether its elements are stored */
	MARK_MAYBE = 2,
};

/* The state of one function of the source. */
struct part {
	const struct func *f;
	/* the function is the checked one, or is called from it */
	bool reached;
	/* it depends on floats whether the function is called, or how far it
	 * runs */
	bool control;
	bool result; /* the result of the function depends on floats */
};

struct flow {
	struct module *m;
	const struct float_check *of;
	struct part *parts; /* for each callee */
	struct pointer_map marks;
	bool changed;
};

/* Sets w->marks and w->parts for the checked function and all functions that it
 * calls, directly or indirectly. */
void flow_all(struct flow *w);
bool has_mark(const struct flow *w, const struct var *v, int bit);
/* Does the value of e depend on floats? */
bool is_rounded(const struct flow *w, const struct expr *e);
/* Does the value of one of the n expressions in `list` depend on floats? NULLs
 * are skipped. */
bool any_rounded(const struct flow *w, const struct expr *const *list, int n);
/* Does e call a function by its name? */
bool is_call(const struct expr *e);
/* The pointer of the array that is passed as the argument `arg` of a call; NULL
 * if arg is no array. Sets *at to the element whose address arg is; to NULL if
 * arg is not an address. */
const struct var *array_of(const struct expr *arg, const struct expr **at);

#endif
