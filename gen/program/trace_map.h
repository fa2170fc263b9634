/* SPDX-License-Identifier: Apache-2.0 */
/* Index maps in TVM's format: a graph of objects in JSON. */
#ifndef TIRC_TRACE_MAP_H
#define TIRC_TRACE_MAP_H

#include "kernel.h"

/* Appends the map as JSON in TVM's form, which begins with {"root": 1, "nodes":
 * [{"type_key": ""}, {"type_key": "tir.IndexMap", … */
void index_map_save(struct module *m, const struct index_map *map,
		    struct strbuf *out);
/* Converts JSON in TVM's form to the text of a lambda, in the module's arena.
 * Returns NULL if the JSON is not an index map. */
const char *index_map_load(struct module *m, const char *text);

#endif
