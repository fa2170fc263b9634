/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of graphs as a file: prints a whole graph, and reads it
 * back.
 *
 *	graph mnist {fixed_point = 1}
 *	  dim batch: 1..4
 *	  input x: float32[batch, 8]
 *	  const w: float32[8, 2] = splat 0.5
 *	  const v: float32[8, 2] = Mul (w, w)
 *	  p: float32[batch, 2] = MatMul first (x, v)
 *	  y: float32[batch, 2] = LeakyRelu (p) {alpha = 0.125}
 *	  output y
 *	  state h = past
 *
 * The text has everything that a pass reads, except regions, groups and the
 * places in memory that fusion chooses. The text does not have origins, nor the
 * names of tensors in the model. */
#ifndef TIRC_GRAPH_TEXT_H
#define TIRC_GRAPH_TEXT_H

#include "graph.h"
#include "python.h"

/* graph_print with all values of all constants. */
void graph_print_whole(const struct graph *g, struct strbuf *out);

/* Reads a graph from its text. The text may leave out the type of a node's
 * output: then the type is unknown. If make_values is set, constants without
 * values get small numbers, which are always the same for the same text; else a
 * constant without values is an error. Operators are only names until
 * ops_resolve() is called. NULL after one diagnostic, DIAG_BAD_PROGRAM, with
 * the position. */
struct graph *graph_read(struct module *m, const struct source *src,
			 bool make_values);

/* Prints g, reads the text back and prints that graph: are the two texts equal?
 * If not, reports DIAG_VERIFY. Constants of more than 2^12 elements together
 * are printed without their values. Graphs with regions, with groups or with
 * more than 2^20 elements of constants are not checked: true. */
bool graph_verify_text(const struct graph *g);

#endif
