/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels and barriers as text, where the dialect has them. */
#include "walk.h"

static struct piece
failed(struct walker *w, const char *why)
{
	walk_fail(w, "%s", why);
	return (struct piece){ "", w->d->primary };
}

/* The extents, x first, without the ones behind the last that is none. */
static void
add_extents(struct walker *w, struct tdata *data, const char *key,
	    const char *many, const struct expr *const *extents)
{
	int n = 3;

	while (n > 1 && expr_is_value(extents[n - 1], 1)) {
		n--;
	}
	tdata_flag(data, many, n > 1);
	for (int i = 0; i < n; i++) {
		tdata_text(tdata_item(data, key), "extent",
			   layout_flat(w->a, walk_expr(w, extents[i],
						w->d->assignment)));
	}
}

/* The arguments of a model's launch, each in its form: handles and numbers are
 * no C parameters there. */
static const char *
form_arguments(struct walker *w, const struct expr *e)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	strbuf_putc(&s, MARK_OPEN);
	for (int i = 7; i < e->n_args; i++) {
		const struct binding *b = e->args[i]->kind == EXPR_VAR
			? walk_find(w, e->args[i]->u.var) : NULL;
		bool pointer = b != NULL && b->kind != VALUE_SCALAR;
		struct tdata *data = tdata_new(w->a);

		tdata_text(data, "type", pointer ? NULL
			   : unit_type(w->u, e->args[i]->type));
		tdata_text(data, "value", pointer ? b->text
			   : walk_expr(w, e->args[i], w->d->assignment));
		strbuf_printf(&s, "%s%s", i > 7 ? "," TEXT_SPACE : "",
			      walk_render(w, pointer ? w->d->device.pointer
						     : w->d->device.number,
					  data));
	}
	strbuf_putc(&s, MARK_CLOSE);
	text = arena_strdup(w->a, s.data);
	strbuf_release(&s);
	return text;
}

struct piece
walk_launch(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	struct tdata *data = tdata_new(w->a);

	const char *launch = w->u->model != NULL ? f->model_launch : f->launch;

	if (launch == NULL) {
		return failed(w, f->rejected != NULL ? f->rejected
						     : f->no_launch);
	}
	tdata_text(data, "callee", e->args[0]->u.text);
	tdata_text(data, "arguments", w->u->model != NULL && f->pointer != NULL
		   ? form_arguments(w, e) : walk_arguments(w, e, 7));
	tdata_int(data, "count", e->n_args - 7);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	add_extents(w, data, "grid", "many_grid", e->args + 1);
	add_extents(w, data, "block", "many_block", e->args + 4);
	return (struct piece){ walk_render(w, launch, data),
			       w->d->primary };
}

struct piece
walk_barrier(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	const char *scope = e->args[0]->u.text;
	int which = strcmp(scope, "shared") == 0 ? BARRIER_SHARED
		  : strcmp(scope, "block") == 0 ? BARRIER_BLOCK : -1;

	if (f->rejected != NULL) {
		return failed(w, f->rejected);
	}
	if (which < 0) {
		walk_fail(w, "a barrier of scope '%s'; there are 'shared' and "
			  "'block'", scope);
		return (struct piece){ "", w->d->primary };
	}
	return (struct piece){ f->barriers[which], w->d->primary };
}

struct piece
walk_shuffle(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	struct tdata *data = tdata_new(w->a);

	if (f->rejected != NULL || f->shuffle_xor == NULL) {
		return failed(w, f->rejected != NULL ? f->rejected
			      : "threads that exchange values without memory");
	}
	tdata_text(data, "value", walk_expr(w, e->args[0],
					    w->d->assignment));
	tdata_text(data, "bits", walk_expr(w, e->args[1], w->d->assignment));
	return (struct piece){ walk_render(w, f->shuffle_xor, data),
			       w->d->primary };
}
