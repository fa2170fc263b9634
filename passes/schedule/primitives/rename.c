/* SPDX-License-Identifier: Apache-2.0 */
/* rename_loop and rename_buffer: give names for people who read the code; and
 * enter_postproc, a marker in traces. */
#include "edit.h"
#include "text.h"

static bool
check_name(struct edit *e, const char *name)
{
	return text_is_identifier(name, "") ||
	       edit_fail(e,
			 "\"%s\" is not a name; use letters, digits "
			 "and _",
			 name);
}

/* Renames a variable in the function's record of fused loops (func.fused). */
static void
rename_fused(struct edit *e, const struct var *from, const struct var *to)
{
	for (int i = 0; i < e->f->fused.n; i++) {
		struct fused_axis *axis = &e->f->fused.data[i];

		if (axis->loop == from) {
			stmt_write(e->f, &axis->loop, &to, sizeof to);
			stmt_write(e->f, &axis->name, &to->name,
				   sizeof to->name);
		}
	}
}

bool
prim_rename_loop(struct edit *e, const struct sched_value *args,
		 struct sched_value *out)
{
	struct stmt *loop = edit_loop(e, args[0].u.id);
	const char *name = args[1].u.text;
	struct var *from, *to;
	const struct expr *value;
	struct var_map map = { &from, &value, 1 };

	(void)out;
	if (!loop || !check_name(e, name)) {
		return false;
	}
	from = loop->u.loop.var;
	to = var_new(e->m, name, from->type);
	value = to->expr;
	stmt_substitute(e->f, loop->children[0], &map);
	stmt_write(e->f, &loop->u.loop.var, &to, sizeof to);
	rename_fused(e, from, to);
	return true;
}

bool
prim_rename_buffer(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	const struct stmt *b = edit_block(e, args[0].u.id);
	const struct buffer *old = b->u.block->writes[args[1].u.ival].buffer;
	const char *name = args[2].u.text;
	struct buffer_spec spec = {
		.name = name,
		.type = old->type,
		.ndim = old->ndim,
		.shape = old->shape,
		.strides = old->strides,
		.scope = old->scope,
		.align_bytes = old->align_bytes,
	};

	(void)out;
	if (!check_name(e, name)) {
		return false;
	}
	if (func_has_param(e->f, old)) {
		return edit_fail(e,
				 "%s is a parameter; only buffers inside the "
				 "function can be renamed",
				 old->name);
	}
	stmt_replace_buffer(e->f, e->f->body, old, buffer_new(e->m, &spec));
	return true;
}

bool
prim_enter_postproc(struct edit *e, const struct sched_value *args,
		    struct sched_value *out)
{
	(void)e;
	(void)args;
	(void)out;
	return true;
}
