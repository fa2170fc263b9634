/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of graphs as a file: all of it printed, and read back.
 *
 *	graph mnist {fixed_point = 1}
 *	  dim batch: 1..4
 *	  input x: float32[batch, 8]
 *	  const w: float32[8, 2] = splat 0.5
 *	  const v: float32[8, 2] = Mul (w, w)
 *	  p: float32[batch, 2] = MatMul first (x, v)
 *	  y: float32[batch, 2] = LeakyRelu (p) {alpha = 0.125}
 *	  output y
 *
 * The text holds what a pass looks at, but for regions, groups and the places
 * in memory that fusion decides on. It leaves out where things come from
 * (origins, names in the model). */
#ifndef TIRC_IR_GRAPH_TEXT_H
#define TIRC_IR_GRAPH_TEXT_H

#include "graph.h"
#include "python.h"

/* graph_print with all values of all constants. */
void graph_print_whole(const struct graph *g, struct strbuf *out);

/* A graph from its text. Types of what nodes compute may be left out: they are
 * not known then. make_values: constants without values get small numbers, the
 * same for the same text; else they are a mistake. Operators are names yet
 * (ops_resolve). NULL after one diagnostic, DIAG_BAD_PROGRAM, with the place. */
struct graph *graph_read(struct module *m, const struct source *src,
			 bool make_values);

/* Prints g whole and reads it back: the same text again? If not, a DIAG_VERIFY
 * says so. True of what cannot be read (nodes of backends, groups), and of graphs with
 * very many constants' elements. */
bool graph_verify_text(const struct graph *g);

#endif
