/* SPDX-License-Identifier: Apache-2.0 */
/* The library of modules, targets, built functions and their arrays: its names,
 * and the functions for its kinds of values. */
#include "build_parts.h"
#include "numpy.h"
#include "objects.h"

static const struct name_row rows[] = {
#define NAME NAME_ROW
#include "build.def"
#undef NAME
};

const struct library build_library = {
	.rows = rows,
	.n_rows = sizeof rows / sizeof *rows,
};

static void
target_text(struct eval *ev, const struct pval *v, bool repr,
	    struct strbuf *out)
{
	(void)ev;
	(void)repr;
	strbuf_puts(out, v->u.target->said);
}

static void
irmodule_text(struct eval *ev, const struct pval *v, bool repr,
	      struct strbuf *out)
{
	if (v->u.module->relay.kind == PV_OBJECT) {
		object_put(ev, &v->u.module->relay, repr, 0, out);
	} else {
		pv_script_text(ev, v, repr, out);
	}
}

const struct kind_ops irmodule_ops = {
	.text = irmodule_text,
	.subscript = module_function,
	.set_element = module_set,
};

const struct kind_ops built_ops = {
	.subscript = module_function,
	.call = nd_call,
};

const struct kind_ops func_ops = { .text = pv_script_text, .call = nd_call };
const struct kind_ops script_ops = { .text = pv_script_text };
const struct kind_ops target_ops = { .text = target_text };
const struct kind_ops device_ops = { .text = nd_text };
const struct kind_ops timer_ops = { .call = nd_time };

const struct kind_ops nd_ops = {
	.text = nd_text,
	.items = np_items,
	.subscript = np_subscript,
};
