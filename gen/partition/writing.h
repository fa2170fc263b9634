/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the files that write a partition. */
#ifndef TIRC_WRITING_H
#define TIRC_WRITING_H

#include "json_put.h"
#include "origins.h"
#include "partition.h"

struct writing {
	struct graph *g;
	struct module *m;
	const char *const *symbols; /* names of the dimensions */
	struct strbuf *out;         /* the JSON */
	FILE *file;                 /* for constants */
	/* the number of bytes that were written to `file` so far */
	int64_t at_bytes;
	bool failed; /* writing to `file` has failed */
	/* The origins of the graph, sorted by name (origins.h). */
	const struct origin_name *origins;
};

/* Writes a key and a colon. */
void write_key(struct writing *w, const char *key);
/* Writes a text, or null. False after a diagnostic if JSON cannot represent
 * it. */
bool write_text(struct writing *w, const char *text);
/* write_values.c: writes the elements of a constant under the key "splat",
 * "values" or "weights", which is the last key in the constant's object. False
 * after a diagnostic. */
bool write_value(struct writing *w, const struct value *v);
bool write_tensor(struct writing *w, struct tensor *t);
/* write_nodes.c */
bool write_node(struct writing *w, const struct node *n);
/* Writes a reference to an origin: its name, or its index. */
void write_origin_of(struct writing *w, int origin);
bool write_origin(struct writing *w, const struct origin *o, int position);
/* write_regions.c */
bool write_regions(struct writing *w);

#endif
