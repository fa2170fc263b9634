/* SPDX-License-Identifier: Apache-2.0 */
/* Loads backends from their folders. */
#ifndef TIRC_BACKEND_LOAD_H
#define TIRC_BACKEND_LOAD_H

#include "backend.h"
#include "json_read.h"

/* The word that templates have for an operator: its name in lower case, without
 * the domain. */
const char *backend_op_word(struct arena *a, const char *op);

/* A function that runs p, a pass of backend b over regions that is a command.
 * The loader sets region_pass.run to this function. */
typedef bool region_command_fn(struct graph *g, const struct backend *b,
			       const struct region_pass *p);

/* Loads a backend. named: "NAME" or "NAME=DIR", each with options
 * ":option=value,option=value". The backend of "NAME" is embedded or in `dir`
 * (--byoc-path, or NULL), which contains folders of backends or is the folder
 * of one backend; it is an error if the name is found both there and among the
 * embedded backends. The backend of "NAME=DIR" is searched only in DIR, which
 * may be such a folder, too. A backend in a folder is code: it may load shared
 * objects and run commands. run_command runs those of the backend's passes that
 * are commands (partition_run_command). NULL after a diagnostic. */
const struct backend *backend_load(struct module *m, const char *named,
				   const char *dir,
				   region_command_fn *run_command);
/* Is there an embedded backend of this name? */
bool backend_is_embedded(struct module *m, const char *name);
/* Closes the shared objects of the backend's passes. */
void backend_close(const struct backend *b);
/* The sorted names of the available backends: the embedded ones and those in
 * dir, which may be NULL. *n: the number of names. */
const char *const *backend_names(struct module *m, const char *dir, int *n);

/* region_object.c: region passes that are shared objects; opened when
 * backend.json is read. False after a diagnostic. */
bool backend_open_object(struct module *m, struct json at,
			 struct region_pass *p);
void backend_close_object(const struct region_pass *p);

#endif
