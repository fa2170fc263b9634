/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of intrinsic.json, from intrinsic.def. */
#include "intrinsic_keys.h"

#include "intrinsics.h"
#include "json_key_rows.h"

static const struct key rows[] = {
#define KEY KEY_ROW
#include "intrinsic.def"
};

const struct key_table intrinsic_keys = {
	.title = "a tensor intrinsic of tirc, or a family of them "
		 "(intrinsics/NAME/intrinsic.json)",
	.doc = "What an intrinsic needs, and the symbols that its script "
	       "calls.",
	.rows = rows,
	.n = sizeof rows / sizeof *rows,
};
