/* SPDX-License-Identifier: Apache-2.0 */
/* The partition as data: the cleaned graph and its regions as JSON, constants
 * in a file of bytes beside it. What is read is what was written, so that a
 * compilation that stops here and goes on from the files gives the same
 * output; between the two any program may edit them. docs/byoc.md has the
 * form, templates/schema/partition.schema.json its keys. */
#ifndef TIRC_PARTITION_H
#define TIRC_PARTITION_H

#include <stdio.h>

#include "backend.h"
#include "graph.h"
#include "onnx_import.h"

/* What belongs to the compilation rather than to the graph. */
struct partition_facts {
	const char *target; /* whose facts the passes used; NULL: not known */
	/* Reading: backends that are loaded already stand for those of their
	 * name; the others are looked for in byoc_path (or NULL), and are
	 * the caller's to close, as graph.backends tells them. */
	const struct backend *const *backends;
	int n_backends;
	const char *byoc_path;
	/* Reading what was written of this graph: its constants that did not
	 * change are shared, and none needs the file afterwards; its backends
	 * must be there as they were. Or NULL. */
	const struct graph *before;
};

/* Writes PATH and, beside it, the constants: "p.json" has "p.weights". Both
 * or none. False after a diagnostic. */
bool partition_write(struct graph *g, const struct partition_facts *facts,
		     const char *path, bool force);
/* The same as text; `weights` is the name that it gives the constants' file,
 * whose bytes go to `file`. False after a diagnostic; without one where the
 * file cannot be written (errno says why). */
bool partition_text(struct graph *g, const struct partition_facts *facts,
		    const char *weights, FILE *file, struct strbuf *out);

/* Is the file's first character one of JSON's objects? */
bool partition_is(const char *path);
/* Reads what partition_write wrote. *file keeps the constants mapped and must
 * outlive the graph (onnx_file_close). NULL after diagnostics, with the file
 * and the place in it. */
struct graph *partition_read(struct module *m, const char *path,
			     struct partition_facts *facts,
			     struct onnx_file **file);
/* The same of a text; folder is where the constants' file is looked for, name
 * stands for the path in messages. */
struct graph *partition_read_text(struct module *m, const char *name,
				  const char *folder, const char *text,
				  struct partition_facts *facts,
				  struct onnx_file **file);

/* Runs a region pass that is a command: it is given the partition as JSON and
 * gives it back, edited. False after a diagnostic. */
bool partition_run_command(struct graph *g, const struct backend *b,
			   const struct region_pass *p);

/* g becomes what was read of it after an edit. */
void partition_adopt(struct graph *g, const struct graph *edited);

#endif
