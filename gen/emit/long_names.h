/* SPDX-License-Identifier: Apache-2.0 */
/* Long names of the model in the comments of an emitted file. Exporters make
 * names of 60 to 300 bytes from the paths of modules. A comment shows a short
 * form of such a name, its last parts and the parts with numbers. A table at
 * the end of the file has the whole name:
 *
 * 	/text_model/encoder/layers.11/self_attn/k_proj/MatMul_output_0
 * 	...layers.11/...k_proj/MatMul_output_0
 *
 * The short form follows from the name alone, unless another long name of the
 * model has the same short form: then both get a longer form, or a hash. So
 * forms rarely change when a node is added to a model. */
#ifndef TIRC_LONG_NAMES_H
#define TIRC_LONG_NAMES_H

#include "arena.h"

struct dialect;
struct long_names;

struct long_names *long_names_new(struct arena *a, const struct dialect *d);
/* Registers a name of the model, which may be NULL. All names must be
 * registered before the first is shown. */
void long_names_tell(struct long_names *n, const char *name);
/* The text that comments show for a name: its short form; the name itself if it
 * is not long or was not registered, or if n is NULL. */
const char *long_names_show(struct long_names *n, const char *name);
/* A copy of text in which each name in quotes is replaced by the form of this
 * name for comments. */
const char *long_names_show_quoted(struct long_names *n, const char *text);
/* A comment with all long names whose short forms are in the text of a file,
 * sorted by these forms; "" if the text contains none. */
const char *long_names_table(struct long_names *n, const char *text);

#endif
