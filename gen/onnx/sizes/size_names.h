/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of inputs that have names, and formulas of names. */
#ifndef TIRC_ONNX_SIZE_NAMES_H
#define TIRC_ONNX_SIZE_NAMES_H

#include "importer.h"

struct size_name {
	const char *name;    /* as the model writes it; may be a formula */
	const char *what;    /* of a size without a name in the model, which
			      * got one: "dimension 2 of input 'x'" */
	const char *formula; /* of other names; NULL: none */
	bool bound;          /* an option gives min..max, in steps */
	bool related;        /* --dim gives the formula */
	bool leading;        /* the first dimension of an input */
	bool batch;          /* leading, and named like a batch, or without a
			      * name in the model */
	bool needed;         /* an input, or a formula that is used, has it */
	bool from_option;    /* only options have the name */
	bool busy;           /* its expression is being made */
	int64_t min, max, step;
	const struct expr *expr;
};

struct size_names {
	struct importer *imp;
	VEC(struct size_name) list;
	struct text_map numbers; /* of the names in the list */
};

/* Is the text of a dimension the name of a size? Exporters write "?", "", "-1" or
 * "None" for a size that they do not know: two such dimensions may differ. */
bool size_is_name(const char *text);
/* A name that an input has; leading: of its first dimension. */
void size_names_add(struct size_names *s, const char *name, bool leading);
/* A new name for dimension d of an input, which has none in the model. unknown: the
 * model gives no number either. */
const char *size_names_new(struct size_names *s, const char *input, int d,
			   bool unknown);
/* The size `name` is the formula, which an option gives. False: reported. */
bool size_names_relate(struct size_names *s, const char *name,
		       const char *formula, const char *option);
/* An option gives the name a number or a range. False: reported. */
bool size_names_bind(struct size_names *s, const char *name, int64_t min,
		     int64_t max, int64_t step, const char *option);
/* Applies --dim, makes the variables and expressions. False: reported. */
bool size_names_settle(struct size_names *s);
/* NULL: no such name. */
struct size_name *size_names_find(const struct size_names *s, const char *name);

#endif
