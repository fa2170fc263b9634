/* SPDX-License-Identifier: Apache-2.0 */
/* The library of Python's built-in functions: its table of names. */
#include "python_parts.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "python.def"
#undef NAME
};

const struct library python_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
};
