/* SPDX-License-Identifier: Apache-2.0 */
/* A partition as files: the simplified graph and its regions as JSON, the
 * constants as bytes in a second file. Reading restores exactly what was
 * written: a compilation that stops here and continues from the files gives the
 * same output. Any program may edit the files in between.
 * docs/reference/backend.md describes the format;
 * templates/schema/partition.schema.json describes its keys. */
#ifndef TIRC_PARTITION_H
#define TIRC_PARTITION_H

#include <stdio.h>

#include "backend.h"
#include "graph.h"
#include "onnx_import.h"

/* Facts about the compilation that are not a part of the graph. */
struct partition_facts {
	/* the target for which passes have run; NULL: it is not known */
	const char *target;
	/* For reading: backends that are already loaded. The partition may use
	 * these by name. Any other backend that it uses must be embedded, since
	 * a backend's folder is code, which a partition must not choose.
	 * Embedded backends that are loaded are added to graph.backends, and
	 * the caller closes them. */
	const struct backend *const *backends;
	int n_backends;
	/* When an edited partition is read: the graph before the edit; else
	 * NULL. Constants that the edit did not change are shared with this
	 * graph, changed ones are copied from the file; both must have the same
	 * backends. */
	const struct graph *before;
};

/* Writes the JSON to `path` and the constants to a file beside it ("p.weights"
 * beside "p.json"): both or neither. False after a diagnostic. */
bool partition_write(struct graph *g, const struct partition_facts *facts,
		     const char *path, bool force);
/* Appends the graph's partition as JSON to out, and writes the bytes of
 * constants to `file`, which the JSON calls `weights`. False after a
 * diagnostic; or without one if the file cannot be written (see errno). */
bool partition_text(struct graph *g, const struct partition_facts *facts,
		    const char *weights, FILE *file, struct strbuf *out);

/* Is the file a regular file that begins like a JSON object? Then it is read as
 * a partition and not as a model. */
bool partition_is(const char *path);
/* Reads a partition that partition_write wrote. *file keeps the constants
 * mapped and must outlive the graph; close it with onnx_file_close(). NULL
 * after diagnostics with the file and the place of the mistake in it. */
struct graph *partition_read(struct module *m, const char *path,
			     struct partition_facts *facts,
			     struct onnx_file **file);
/* Reads a partition from a text as partition_read does from a file. The
 * constants' file is in `folder`; messages use `name` in place of a path. */
struct graph *partition_read_text(struct module *m, const char *name,
				  const char *folder, const char *text,
				  struct partition_facts *facts,
				  struct onnx_file **file);

/* Runs a region pass that is a command: it reads the graph's partition as JSON
 * and writes an edited one, which replaces the graph. False after a
 * diagnostic. */
bool partition_run_command(struct graph *g, const struct backend *b,
			   const struct region_pass *p);

/* Replaces the content of g by that of the edited graph. */
void partition_adopt(struct graph *g, const struct graph *edited);

#endif
