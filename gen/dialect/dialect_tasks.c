/* SPDX-License-Identifier: Apache-2.0 */
/* How a dialect hands the iterations of a parallel loop to threads that the
 * caller has, if it does; how kernels look that are called
 * by name; and functions whose text others bring. */
#include "dialect_load.h"

void
dialect_read_tasks(struct loader *l, struct json j)
{
	struct dialect *d = l->d;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "used runtime parameter argument array scalar "
			   "declare call");
	d->tasks.used = json_bool(json_get(j, "used"));
	d->tasks.runtime = json_text(json_get(j, "runtime"), true);
	d->tasks.parameter = json_text(json_get(j, "parameter"), true);
	d->tasks.argument = json_text(json_get(j, "argument"), true);
	d->tasks.array = json_text(json_get(j, "array"), true);
	d->tasks.scalar = json_text(json_get(j, "scalar"), true);
	d->tasks.declare = json_text(json_get(j, "declare"), true);
	d->tasks.call = json_text(json_get(j, "call"), true);
}

void
dialect_read_graph(struct loader *l, struct json j)
{
	struct graph_forms *f = &l->d->graph;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected array size runtime ldflags");
	f->rejected = json_text(json_get(j, "rejected"), false);
	f->array = json_text(json_get(j, "array"), f->rejected == NULL);
	f->size = json_text(json_get(j, "size"), f->rejected == NULL);
	f->runtime = dialect_read_names(json_get(j, "runtime"));
	f->ldflags = json_text(json_get(j, "ldflags"), f->rejected == NULL);
}

void
dialect_read_regions(struct loader *l, struct json j)
{
	struct region_forms *f = &l->d->regions;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "rejected parameter argument memory weights");
	f->rejected = json_text(json_get(j, "rejected"), false);
	if (f->rejected == NULL) {
		f->parameter = json_text(json_get(j, "parameter"), true);
		f->argument = json_text(json_get(j, "argument"), true);
		f->memory = json_text(json_get(j, "memory"), true);
		f->weights = json_text(json_get(j, "weights"), true);
	}
}

void
dialect_read_comments(struct loader *l, struct json j)
{
	struct comment_forms *c = &l->d->comments;

	if (!json_is_object(j, true)) {
		return;
	}
	json_check_keys(j, "open next close line");
	c->open = json_text(json_get(j, "open"), true);
	c->next = json_text(json_get(j, "next"), true);
	c->close = json_text(json_get(j, "close"), true);
	c->line = json_text(json_get(j, "line"), false);
}

bool
dialect_takes_regions(struct module *m, const struct dialect *d, bool regions)
{
	struct diag_place place = { .file = d->file };

	return !regions || d->regions.rejected == NULL ||
	       diag_error(&m->diags, DIAG_UNSUPPORTED, place,
			  "dialect %s has no places for regions of backends: "
			  "%s",
			  d->name, d->regions.rejected);
}
