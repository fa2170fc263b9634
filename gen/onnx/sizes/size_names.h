/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of inputs that are names, and formulas of names. */
#ifndef TIRC_SIZE_NAMES_H
#define TIRC_SIZE_NAMES_H

#include "importer.h"

struct size_name {
	const char *name; /* as in the model; may be a formula */
	/* For a new name of a size without one: "dimension 2 of input 'x'". */
	const char *what;
	const char *formula; /* of other names, else NULL */
	/* an option gives the range min..max, with a step */
	bool bound;
	bool related; /* the formula is from --dim */
	bool leading; /* it is the first dimension of an input */
	/* leading, and its name is like a batch's or the model gives none */
	bool batch;
	bool needed;      /* used by an input or by a formula that is used */
	bool from_option; /* the model does not have the name */
	bool busy;        /* resolve() is at work on it: finds cycles */
	int64_t min, max, step;
	const struct expr *expr;
};

struct size_names {
	struct importer *imp;
	VEC(struct size_name) list;
	struct text_map numbers; /* of the names in the list */
};

/* Is the text of a dimension a name? Exporters write "?", "", "-1" or "None"
 * for unknown sizes, and two of these may differ. */
bool size_is_name(const char *text);
/* Adds the name of a size of an input; leading: it is the first dimension. */
void size_names_add(struct size_names *s, const char *name, bool leading);
/* Makes a name for dimension d of an input, which has no name in the model.
 * unknown: it has no number either. */
const char *size_names_new(struct size_names *s, const char *input, int d,
			   bool unknown);
/* Defines the size `name` as a formula from an option. False after a
 * diagnostic. */
bool size_names_relate(struct size_names *s, const char *name,
		       const char *formula, const char *option);
/* Gives a name the range of an option; min == max for a number. False after a
 * diagnostic. */
bool size_names_bind(struct size_names *s, const char *name, int64_t min,
		     int64_t max, int64_t step, const char *option);
/* Applies --dim and makes the expressions of all names, with size variables for
 * ranges. False after a diagnostic. */
bool size_names_settle(struct size_names *s);
/* The row of a name, or NULL. */
struct size_name *size_names_find(const struct size_names *s, const char *name);

#endif
