/* SPDX-License-Identifier: Apache-2.0 */
/* The partition as files: the simplified graph and its regions as JSON, the
 * constants as bytes in a second file. Reading restores exactly what was
 * written, so a compilation that stops here and continues from the files gives
 * the same output; any program may edit the files in between. docs/reference/backend.md
 * describes the format, templates/schema/partition.schema.json its keys. */
#ifndef TIRC_PARTITION_H
#define TIRC_PARTITION_H

#include <stdio.h>

#include "backend.h"
#include "graph.h"
#include "onnx_import.h"

/* Properties of the compilation, not of the graph. */
struct partition_facts {
	const char *target; /* the target of the passes; NULL: not known */
	/* Reading: backends that are already loaded are used by name. Others
	 * must be embedded ones, since a backend's folder is code, which a
	 * partition cannot choose; they are listed in graph.backends, for the
	 * caller to close. */
	const struct backend *const *backends;
	int n_backends;
	/* Reading an edited partition of this graph: unchanged constants are
	 * shared, changed ones are copied from the file; the backends must be
	 * the same. Or NULL. */
	const struct graph *before;
};

/* Writes the file `path` and the constants beside it ("p.weights" beside
 * "p.json"), both or neither. False after a diagnostic. */
bool partition_write(struct graph *g, const struct partition_facts *facts,
		     const char *path, bool force);
/* The same as text, which names the constants' file `weights`; its bytes are
 * written to `file`. False after a diagnostic, or without one if the file
 * cannot be written (errno says why). */
bool partition_text(struct graph *g, const struct partition_facts *facts,
		    const char *weights, FILE *file, struct strbuf *out);

/* Does the file begin with the first character of a JSON object? */
bool partition_is(const char *path);
/* Reads what partition_write wrote. *file keeps the constants mapped and must
 * outlive the graph (onnx_file_close). NULL after diagnostics, with the file
 * and the place in it. */
struct graph *partition_read(struct module *m, const char *path,
			     struct partition_facts *facts,
			     struct onnx_file **file);
/* The same from a text; the constants' file is in folder, and messages use name
 * as the path. */
struct graph *partition_read_text(struct module *m, const char *name,
				  const char *folder, const char *text,
				  struct partition_facts *facts,
				  struct onnx_file **file);

/* Runs a region pass that is a command, which reads the partition as JSON and
 * writes the edited one. False after a diagnostic. */
bool partition_run_command(struct graph *g, const struct backend *b,
			   const struct region_pass *p);

/* Replaces the content of g by the edited graph. */
void partition_adopt(struct graph *g, const struct graph *edited);

#endif
