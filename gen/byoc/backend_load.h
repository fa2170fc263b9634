/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a backend's folder. */
#ifndef TIRC_BACKEND_LOAD_H
#define TIRC_BACKEND_LOAD_H

#include "backend.h"
#include "json_read.h"

/* Keys of "templates": what files a backend may have. */
#define BACKEND_TEMPLATES "region members shared shared_members"

/* An operator's name as templates have it: in lower case, without a domain. */
const char *backend_op_word(struct arena *a, const char *op);

/* Runs a region pass that is a command, as region_pass.run. */
typedef bool region_command_fn(struct graph *g, const struct backend *b,
			       const struct region_pass *p);

/* The backend of that name: from `dir` (--byoc-path), a folder that holds
 * folders of backends or is one itself, else of those that came with tirc.
 * named: "NAME" or "NAME:option=value,option=value". run_command
 * runs the passes that are commands (partition_run_command). NULL: diagnosed. */
const struct backend *backend_load(struct module *m, const char *named,
				   const char *dir,
				   region_command_fn *run_command);
/* Lets go of the shared objects of its passes. */
void backend_close(const struct backend *b);
/* Names of the backends there are, sorted. */
const char *const *backend_names(struct module *m, const char *dir, int *n);

/* region_object.c: one that is a shared object; opened while reading. */
bool backend_open_object(struct module *m, struct json at,
			 struct region_pass *p);
void backend_close_object(const struct region_pass *p);

#endif
