/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of a target's file, from target.def. */
#include "target_keys.h"

#include "json_key_rows.h"
#include "target.h"

static const struct key rows[] = {
#define KEY KEY_ROW
#include "target.def"
};

const struct key_table target_keys = {
	.title = "a target of tirc",
	.doc = "A dialect, and what schedules and plans need to know of the "
	       "machine. A target that extends another need hold only what "
	       "differs. The loader also checks that, with what is extended, "
	       "all is there.",
	.extends = true,
	.rows = rows,
	.n = sizeof rows / sizeof *rows,
};
