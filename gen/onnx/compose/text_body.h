/* SPDX-License-Identifier: Apache-2.0 */
/* Compositions that are written as ONNX functions, in ONNX's text form: the
 * files of compositions/, which are a part of the program.
 *
 *	<domain: "com.microsoft", opset_import: ["": 28]>
 *
 *	QuickGelu <alpha: float = 1.702> (x) => (y) {
 *		y = Swish <alpha = @alpha> (x)
 *	}
 *
 * Where a shape, a type or the presence of an input decides, the text has an
 * expression in Python's grammar (body_eval.c), in quotes: in place of a node's
 * name, of an attribute's name after @, or of an input's name.
 *
 *	["bias"] sum = Add (x, bias)
 *	swapped = Transpose <perm = @"[1, 0] if x.ndim == 2 else [0, 2, 1]"> (x)
 *	scaled = Mul (x, "1 / sqrt(x.shape[-1])")
 *
 * A node is made if the expression in place of its name is true. If it is
 * false, the node's first output is its first input, unless a node before it in
 * the text has made this output. An attribute whose expression is None is
 * absent. An expression in place of an input gives a constant: a number has the
 * type of the last other input that is no bool; a list of integers may contain
 * symbolic sizes. A node that no wanted output needs is not made. Cast,
 * CastLike and Reshape that change nothing, and Identity, are not made
 * either.
 *
 * The operators of the domain tirc in the texts are pieces that other texts and
 * functions in C share, and tirc.Error, without outputs, which reports a
 * mistake of the model: its attribute is a text with expressions in {}, named
 * after the kind of mistake (model, attribute, shape, type, unsupported). */
#ifndef TIRC_TEXT_BODY_H
#define TIRC_TEXT_BODY_H

#include "compose.h"

/* A function in a file of compositions/, as a row of the table that
 * compositions.py makes when tirc is built. */
struct composition_text {
	const char *domain, *op_type;
	/* the text starts with empty lines, so that each line has the number
	 * that it has in the file */
	const char *file, *text;
};

struct body_node {
	const Onnx__NodeProto *proto;
	/* the node is made if this is true; NULL: it is always made */
	const struct py_node *condition;
	/* for each input or attribute: its expression, or NULL */
	const struct py_node **inputs, **attrs;
};

/* A function of the texts that was read, with its expressions. */
struct text_body {
	const struct composition_text *row;
	const Onnx__FunctionProto *proto;
	struct tensor_source source; /* the message that contains the function's
				      * constant tensors */
	struct body_node *nodes;     /* one for each node of proto */
};

/* -- body_read.c */

/* The functions of all texts; *n: their number. */
const struct composition_text *composition_texts(int *n);
/* The function for an operator; NULL if no file of compositions/ has a function
 * for it. */
const struct composition_text *composition_text_find(const char *domain,
						     const char *op_type);
/* Reads a function; NULL after a diagnostic about a mistake in its text. The
 * result lives as long as the import. body_read, for rows of the table, reads
 * each row only once. */
const struct text_body *body_of(struct importer *imp,
				const struct composition_text *row);
const struct text_body *body_read(struct importer *imp,
				  const struct composition_text *row);
/* Is it the function of an operator of Relay, whose text people write? */
bool body_is_relay(const struct text_body *b);
/* The function's default of an attribute, or NULL. */
const Onnx__AttributeProto *body_default(const struct text_body *b,
					 const char *name);

/* -- body_run.c */

/* Makes the nodes and results of the node c->node from its text. False after a
 * diagnostic. */
bool body_compose(struct compose *c, const struct text_body *b);
/* Sets *id to the kind of mistake that `name`, an attribute of tirc.Error,
 * stands for; false if there is no such kind. */
bool body_error_kind(const char *name, enum diag_id *id);

/* -- body_value.c, body_tensor.c, body_eval.c: expressions */

enum body_kind {
	BODY_NONE,
	BODY_BOOL,
	BODY_INT, /* may contain symbolic sizes */
	BODY_FLOAT,
	BODY_STRING,
	BODY_TYPE, /* of elements */
	BODY_LIST,
	BODY_TENSOR
};

struct body_value {
	enum body_kind kind;
	bool truth;
	const struct expr *size;
	double number;
	const char *text;
	struct dtype type;
	const struct body_value *items;
	int n;
	struct tensor *tensor;
	/* BODY_NONE, BODY_TENSOR: if the value is an input of the model's node,
	 * the input's index plus 1; else 0 */
	int input;
};

/* A call of a function of the texts: the state of the call while its nodes are
 * made. */
struct body_frame {
	struct compose *c;
	const struct text_body *body; /* the function */
	const struct attr *attrs;     /* of the call */
	int n_attrs;
	/* the names that the caller of a piece gives to its outputs, or NULL */
	char *const *results;
	/* maps the name of a tensor or of a value to its index in `values` */
	struct text_map names;
	VEC(struct body_value) values;
	const char *what;      /* the ending of the names of new constants */
	const char *expressed; /* the text of the expression that is being
			     * evaluated, for messages */
};

/* Sets *out to the attribute `name` of the call, or else to the function's
 * default for it; false if there is neither, or after a diagnostic. */
bool body_attribute(struct body_frame *f, const char *name, struct attr *out);
struct body_value body_attribute_value(struct body_frame *f,
				       const struct attr *a);
/* The value that body_bind() has given to a name, or NULL. */
struct body_value *body_name(struct body_frame *f, const char *name);
/* The value of a name in an expression: the value that body_bind() gave to it; the
 * value of the attribute with this name; infinity for `inf`; INT64_MAX for `end`;
 * else None. */
struct body_value body_named(struct body_frame *f, const char *name);
/* Gives a value to a name. */
void body_bind(struct body_frame *f, const char *name, struct body_value v);
/* The value of e, whose text is `expressed`; after a diagnostic c->failed is
 * set. */
struct body_value body_evaluate(struct body_frame *f, const struct py_node *e,
				const char *expressed);
bool body_is_true(const struct body_value *v);
/* The value as a tensor, NULL for BODY_NONE. A number becomes a constant of the
 * given type; if that is void, int64 or float32. */
struct tensor *body_tensor(struct body_frame *f, const struct body_value *v,
			   struct dtype type);
/* Reports that the expression under evaluation has no value; returns None. */
struct body_value body_no_value(struct body_frame *f);
/* The expressions of a list of n sizes, as an array. */
const struct expr **body_sizes(struct body_frame *f,
			       const struct body_value *list);

/* -- body_check.c */

/* Reads a text and checks its expressions, operators, numbers of inputs and
 * outputs, and names. False after diagnostics. */
bool composition_text_check(struct importer *imp,
			    const struct composition_text *row);

#endif
