/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of inputs that are names, and formulas of names. */
#ifndef TIRC_SIZE_NAMES_H
#define TIRC_SIZE_NAMES_H

#include "importer.h"

/* A name for sizes of inputs: all sizes with this name are equal. */
struct size_name {
	const char *name; /* as in the model; may be a formula */
	/* If the model has no name for the size and tirc made one: the size in
	 * words, "dimension 2 of input 'x'". */
	const char *what;
	const char *formula; /* the size as a formula of other names, or NULL */
	/* an option gives the size a number or a range: min, max and step are
	 * set */
	bool bound;
	bool related; /* the formula is from an option, not from the model */
	bool leading; /* the size is that of the first dimension of an input */
	/* a first dimension that is probably the batch: its name says so, or
	 * the model gives it neither a name nor a number */
	bool batch;
	/* the size is used by an input, or by a formula that is itself used */
	bool needed;
	bool from_option; /* only an option mentions the name, the model does
			   * not */
	/* no option gives the size, which is 1 because `batch` is set; or a size
	 * in its formula is such a size. Final after size_names_settle(). */
	bool assumed;
	/* resolve() is computing this size: by this flag it finds formulas that
	 * use each other */
	bool busy;
	int64_t min, max, step;  /* if `bound` */
	const struct expr *expr; /* set by size_names_settle() */
};

struct size_names {
	struct importer *imp;
	VEC(struct size_name) list;
	struct text_map numbers; /* maps a name to its index in the list */
};

/* Is the text of a dimension a name? Exporters write "?", "", "-1" or "None"
 * for unknown sizes, and two of these may differ. */
bool size_is_name(const char *text);
/* Adds the name of a size of an input. leading: the size belongs to the input's
 * first dimension. */
void size_names_add(struct size_names *s, const char *name, bool leading);
/* Makes and returns a name for dimension d of an input; the model gives no name
 * to its size. unknown: the model gives no number to the size either. */
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
/* The entry of a name in the list, or NULL. */
struct size_name *size_names_find(const struct size_names *s, const char *name);

#endif
