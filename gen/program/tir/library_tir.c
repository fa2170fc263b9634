/* SPDX-License-Identifier: Apache-2.0 */
/* The library of statements and of schedules of blocks: its names, and the
 * functions for its kinds of values. */
#include "tir_nodes.h"
#include "tir_parts.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "tir.def"
#undef NAME
};

const struct library tir_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
	.find = schedule_method,
	.list = schedule_names,
};

const struct kind_ops handle_ops = { .text = handle_text };

static const char *
stmt_class_name(struct eval *ev, const struct pval *v)
{
	return arena_printf(ev->a, "tvm.tir.stmt.%s", stmt_class(v->u.stmt));
}

static bool
is_instance(const struct pval *v, const char *name)
{
	return stmt_is_instance(v->u.stmt, name);
}

const struct kind_ops stmt_ops = {
	.class_name = stmt_class_name,
	.is_instance = is_instance,
};
