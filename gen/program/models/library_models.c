/* SPDX-License-Identifier: Apache-2.0 */
/* The library of models: its names, and the functions for its kinds of values. */
#include "build_parts.h"
#include "relay_values.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "models.def"
#undef NAME
};

const struct library models_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
};

/* lib["default"] and vm["main"] return the value itself, which has the methods
 * of a runtime. */
static bool
same_subscript(struct eval *ev, struct py_span at, const struct pval *of,
	       const struct pval *index, struct pval *out)
{
	(void)ev;
	(void)at;
	(void)index;
	*out = *of;
	return true;
}

/* lib["default"](device): the value itself. */
static bool
same_call(struct eval *ev, struct py_span at, const struct pval *f,
	  const struct call_args *args, struct pval *out)
{
	(void)ev;
	(void)at;
	(void)args;
	*out = *f;
	return true;
}

const struct kind_ops graph_ops = {
	.text = rmod_text,
	.subscript = rmod_function,
	.set_element = rmod_set_function,
};

const struct kind_ops graph_func_ops = { .text = rmod_text };
const struct kind_ops pass_ops = { .text = pass_text, .call = pass_call };
const struct kind_ops pass_context_ops = {
	.enter = instruments_enter,
	.leave = instruments_leave,
};
const struct kind_ops tvmc_result_ops = { .text = tvmc_result_text };

const struct kind_ops library_ops = {
	.items = library_items,
	.subscript = same_subscript,
	.call = same_call,
};

const struct kind_ops runtime_ops = {
	.subscript = same_subscript,
	.call = runtime_call,
};
