/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of backend.json, from backend.def. */
#include "backend_keys.h"

#include "json_key_rows.h"
#include "loading.h"

static const struct key rows[] = {
#define KEY KEY_ROW
#include "backend.def"
};

const struct key_table backend_keys = {
	.title = "a backend of tirc (byoc/NAME/backend.json)",
	.doc = "The nodes that a backend takes of a model, and the files that "
	       "its source is made of.",
	.rows = rows,
	.n = sizeof rows / sizeof *rows,
};
