/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a report: the model, the options of the compilation, and the
 * files. */
#include "rows.h"

static void
add_fact(struct tdata *data, const char *key, const char *value)
{
	struct tdata *row;

	if (value == NULL || value[0] == '\0') {
		return;
	}
	row = tdata_item(data, "facts");
	tdata_text(row, "key", key);
	tdata_text(row, "value", value);
}

static void
add_number(struct reporting *r, const char *key, int64_t v, const char *unit)
{
	if (v > 0) {
		add_fact(r->data, key,
			 arena_printf(r->a, "%lld%s", (long long)v, unit));
	}
}

/* Adds the facts of the target by which schedules and plans are chosen. */
static void
add_target(struct reporting *r)
{
	const struct target *t = r->p->target;

	add_fact(r->data, "target", t->name);
	add_fact(r->data, "dialect", r->request->package->dialect->name);
	add_fact(r->data, "compiler", r->request->package->cc_line);
	add_number(r, "vector registers", t->vector_bytes, " bytes each");
	add_number(r, "first cache", t->l1_bytes, " bytes");
	add_number(r, "second cache", t->l2_bytes, " bytes");
	add_number(r, "cores", t->cores, "");
	add_number(r, "threads of a block, at most", t->max_threads, "");
	add_number(r, "shared memory of a block", t->shared_bytes, " bytes");
	add_number(r, "limit of a kernel's local arrays", t->stack_limit_bytes,
		   " bytes");
	add_number(r, "alignment", t->align_bytes, " bytes");
}

static void
add_options(struct reporting *r)
{
	tdata_list(r->data, "options");
	for (int i = 0; i < r->request->n_options; i++) {
		const struct report_option *o = &r->request->options[i];
		struct tdata *row = tdata_item(r->data, "options");

		tdata_text(row, "name", o->name);
		tdata_text(row, "value", o->value);
		tdata_text(row, "what", o->what);
	}
}

static void
add_files(struct reporting *r)
{
	const struct package *pkg = r->request->package;

	tdata_list(r->data, "files_read");
	for (int i = 0; i < r->request->n_files; i++) {
		struct tdata *row = tdata_item(r->data, "files_read");

		tdata_text(row, "path", r->request->files[i].path);
		tdata_text(row, "sha256", r->request->files[i].sha256);
	}
	tdata_list(r->data, "files");
	for (int i = 0; i < pkg->files.n; i++) {
		struct tdata *row = tdata_item(r->data, "files");

		tdata_text(row, "name", pkg->files.data[i].name);
		tdata_int(row, "bytes", r->finished.files[i].bytes);
		tdata_text(row, "sha256", r->finished.files[i].sha256);
	}
}

void
add_head(struct reporting *r)
{
	const struct graph *g = r->g;

	tdata_text(r->data, "model", package_model(r->request->package));
	tdata_text(r->data, "version", r->request->version);
	tdata_list(r->data, "facts");
	add_fact(r->data, "name in the model", g->name);
	add_fact(r->data, "made by", g->producer);
	add_target(r);
	add_number(r, "workspace", r->p->plan.workspace_bytes, " bytes");
	add_number(r, "weights", r->request->package->weights_bytes, " bytes");
	add_options(r);
	add_files(r);
}
