/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a backend's folder. */
#ifndef TIRC_BACKEND_LOAD_H
#define TIRC_BACKEND_LOAD_H

#include "backend.h"
#include "json_read.h"

/* An operator's name in templates: lower case, without a domain. */
const char *backend_op_word(struct arena *a, const char *op);

/* Runs a region pass that is a command, as region_pass.run. */
typedef bool region_command_fn(struct graph *g, const struct backend *b,
			       const struct region_pass *p);

/* Loads a backend. named: "NAME", "NAME=DIR", each perhaps with
 * ":option=value,option=value" behind it. The backend of "NAME" is embedded, or in
 * `dir` (--byoc-path, or NULL), a folder of backends' folders or a backend's
 * folder; if both have it, that is an error. The backend of "NAME=DIR" is in the
 * folder DIR alone, likewise. A folder's backend is code: it may load shared objects
 * and run commands. run_command runs the passes that are commands
 * (partition_run_command). NULL: diagnosed. */
const struct backend *backend_load(struct module *m, const char *named,
				   const char *dir,
				   region_command_fn *run_command);
bool backend_is_embedded(struct module *m, const char *name);
/* Closes the shared objects of its passes. */
void backend_close(const struct backend *b);
/* The names of the available backends, sorted. */
const char *const *backend_names(struct module *m, const char *dir, int *n);

/* region_object.c: a region pass that is a shared object; opened while
 * reading. */
bool backend_open_object(struct module *m, struct json at,
			 struct region_pass *p);
void backend_close_object(const struct region_pass *p);

#endif
