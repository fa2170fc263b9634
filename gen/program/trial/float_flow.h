/* SPDX-License-Identifier: Apache-2.0 */
/* Which integers of a source's functions depend on floats: their values, or
 * whether or where they are stored; through variables, arrays and calls. Private
 * to float_checks.c and float_flow.c. */
#ifndef TIRC_FLOAT_FLOW_H
#define TIRC_FLOAT_FLOW_H

#include "float_checks.h"
#include "pointer_map.h"

enum {
	MARK_FLOAT = 1, /* a variable or an array that depends on floats */
	MARK_MAYBE = 2, /* an array that is stored if a float says so */
};

/* A function of the source. */
struct part {
	const struct func *f;
	bool reached; /* the checked function, or one that it calls */
	bool control; /* whether it runs, or goes on, depends on floats */
	bool result;  /* so does its result */
};

struct flow {
	struct module *m;
	const struct float_check *of;
	struct part *parts; /* by callee */
	struct pointer_map marks;
	bool changed;
};

/* Sets w->marks, and the parts of all functions that are reached. */
void flow_all(struct flow *w);
bool has_mark(const struct flow *w, const struct var *v, int bit);
/* Does e depend on floats? */
bool is_rounded(const struct flow *w, const struct expr *e);
/* Does one of the list? NULLs are skipped. */
bool any_rounded(const struct flow *w, const struct expr *const *list, int n);
/* Is e a call of a function by its name? */
bool is_call(const struct expr *e);
/* The pointer of the array that is the argument of a call; NULL if there is
 * none. *at: the element whose address it is; NULL if it is no address. */
const struct var *array_of(const struct expr *arg, const struct expr **at);

#endif
