/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in TVM's words: as the text of a Relay module, which TVM had until
 * version 0.18, or of a Relax module. The operators' names and attributes are rows of
 * relay_ops.def. gen/onnx/relay/ reads Relay's text. */
#ifndef TIRC_RELAY_H
#define TIRC_RELAY_H

#include "graph.h"

/* The functions of the module that a graph is: first main, then one for each
 * region of a backend. */
int relay_function_count(const struct graph *g);
/* The name of a function: "main", or "tvmgen_default_dnnl_main_0" for a region.
 * The graph's arena owns it. */
const char *relay_function_name(const struct graph *g, int function);
/* The tensors of the graph's constants that its nodes read as arguments, in the
 * order in which Relay's main has them as parameters; in the arena. */
struct tensor *const *relay_params(struct graph *g, int *n);

/* Their names in the text, without %; in the arena. */
const char *const *relay_param_names(struct graph *g);

/* relay_print appends the text of the whole module, relay_print_function that
 * of one function; relax_print appends the whole module as Relax. */
void relay_print(struct graph *g, struct strbuf *out);
void relay_print_function(struct graph *g, int function, struct strbuf *out);
void relax_print(struct graph *g, struct strbuf *out);

#endif
