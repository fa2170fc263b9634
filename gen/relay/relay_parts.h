/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of gen/relay/ share. */
#ifndef TIRC_RELAY_PARTS_H
#define TIRC_RELAY_PARTS_H

#include "identifiers.h"
#include "relay.h"

/* The two languages of the texts. */
enum relay_form { RELAY_TEXT, RELAX_TEXT };

/* A row of relay_ops.def. */
struct relay_row {
	const char *op, *relay, *relax, *args, *attrs;
};

/* The row for the node's operator; NULL if it has none, or, in Relay, if the
 * operator of the row computes something else. */
const struct relay_row *relay_row_of(const struct node *n,
				     enum relay_form form);
/* The name of the node's operator in Relay or Relax: the name in its row, with
 * the number of dimensions, or "onnx.NAME" if it has no row; in the arena. */
const char *relay_op_name(struct graph *g, const struct node *n,
			  enum relay_form form);
/* Is input i of the node an argument of Relay's operator, rather than one of
 * its attributes? */
bool relay_is_argument(const struct node *n, int i, enum relay_form form);
/* Appends the attributes of the node, each after ", " (the first one not, if
 * *first is set): those in its row, or, if it has no row, its ONNX
 * attributes. */
void relay_put_attributes(struct graph *g, const struct node *n,
			  enum relay_form form, bool *first,
			  struct strbuf *out);
/* Appends the number with which a ConstantOfShape fills its result, as an
 * argument. */
void relay_put_fill(const struct node *n, enum relay_form form,
		    struct strbuf *out);
/* Appends a shape, "(1, 3, 8, 8)" or "(8,)"; a size that varies is a question
 * mark in Relay, a name or formula in Relax. */
void relay_put_shape(const struct tensor *t, enum relay_form form,
		     struct strbuf *out);

#endif
