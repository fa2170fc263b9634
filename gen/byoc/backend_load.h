/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a backend's folder. */
#ifndef TIRC_BACKEND_LOAD_H
#define TIRC_BACKEND_LOAD_H

#include "backend.h"
#include "json_read.h"

/* The backend of that name: from `dir` (--byoc-path), a folder that holds
 * folders of backends or is one itself, else of those that came with tirc.
 * named: "NAME" or "NAME:option=value,option=value". NULL: diagnosed. */
const struct backend *backend_load(struct module *m, const char *named,
				   const char *dir);
/* Names of the backends there are, sorted. */
const char *const *backend_names(struct module *m, const char *dir, int *n);

#endif
