/* SPDX-License-Identifier: Apache-2.0 */
/* The rule table as data, for the matcher and for its test. */
#ifndef TIRC_RULES_H
#define TIRC_RULES_H

#include "expr.h"

enum wildcard {
	WILD_NONE, /* not a wildcard: an operator whose operands are args */
	WILD_X,
	WILD_Y,
	WILD_Z,
	WILD_P,
	WILD_Q,
	WILD_R,
	WILD_C1,
	WILD_C2,
	WILD_ZERO,
	WILD_TRUE,
	WILD_FALSE, /* literals */
	WILD_COUNT
};

struct pattern {
	enum wildcard wild;
	enum expr_kind kind;
	const struct pattern *args[3];
};

struct rule {
	const char *name;
	const struct pattern *pattern, *replacement;
	bool exact; /* no operation of the pattern may wrap */
	/* does the rule apply to the constants that C1 and C2 matched? */
	bool (*when)(int64_t c1, int64_t c2);
};

extern const struct rule rules_table[];
extern const int rules_count;

#endif
