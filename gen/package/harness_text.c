/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the program that runs the model on given inputs and writes its
 * results, for `tirc run` and `tirc test`. */
#include "data_files.h"
#include "packer.h"

static void
add_io(struct packer *k, struct tdata *data, const char *list, int i,
       const struct tensor *t, const char *field, const char *macro)
{
	struct tdata *row = tdata_item(data, list);

	tdata_text(row, "type", k->d->types[t->type.kind].spelling);
	tdata_int(row, "index", i);
	tdata_text(row, "name", field);
	tdata_text(row, "NAME", macro);
	tdata_flag(row, "held", t->in_workspace);
}

/* Sets the sizes of the arrays with which the program measures the bandwidth:
 * half of each cache; for the memory the data of the model, but more than the
 * caches can hold. */
static void
add_profile(struct packer *k, struct tdata *data)
{
	const struct target *t = k->p->target;
	int64_t l1 = t->l1_bytes > 0 ? t->l1_bytes : 32768;
	int64_t l2 = t->l2_bytes > 0 ? t->l2_bytes : 8 * l1;
	int64_t all = k->out->weights_bytes + k->p->plan.workspace_bytes;
	const int64_t most = INT64_C(256) << 20;

	all = all < 4 * l2 ? 4 * l2 : all > most ? most : all;
	tdata_int(data, "kernels", k->p->kernels.n);
	tdata_int(data, "l1_bytes", l1 / 2);
	tdata_int(data, "l2_bytes", l2 / 2);
	tdata_int(data, "all_bytes", all);
}

/* Adds to the data the source of the runtime that the dialect needs for tasks
 * (threads). Returns false after a diagnostic. */
static bool
add_runtime(struct packer *k, struct tdata *data)
{
	const char *file;
	const char *text = data_file(k->m, NULL,
				     arena_printf(k->a, "runtime/%s",
						  k->d->tasks.runtime),
				     &file);
	struct diag_place place = { .file = k->d->file };

	if (text == NULL) {
		return diag_error(&k->m->diags, DIAG_BAD_DIALECT, place,
				  "/tasks/runtime: there is no %s; name a "
				  "file of runtime-c",
				  k->d->tasks.runtime);
	}
	tdata_text(data, "runtime", text);
	return true;
}

const char *
package_harness(const struct package *pkg)
{
	struct packer *k = pkg->packer;
	struct tdata *data = tdata_new(k->a);

	tdata_outer(data, k->data);
	tdata_list(data, "inputs");
	tdata_list(data, "outputs");
	tdata_list(data, "sizes");
	if (k->d->tasks.used && !add_runtime(k, data)) {
		return NULL;
	}
	tdata_list(data, "board");
	if (k->p->target->simulator.command != NULL) {
		tdata_item(data, "board");
	}
	tdata_list(data, "profile");
	if (k->o->profile) {
		add_profile(k, tdata_item(data, "profile"));
	}
	tdata_int(data, "n_arguments", 2 + k->g->dims.n);
	for (int i = 0; i < k->g->inputs.n; i++) {
		add_io(k, data, "inputs", i, k->g->inputs.data[i],
		       k->input_fields[i], k->input_macros[i]);
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		add_io(k, data, "outputs", i, k->g->outputs.data[i],
		       k->output_fields[i], k->output_macros[i]);
	}
	for (int i = 0; i < k->g->dims.n; i++) {
		struct tdata *row = tdata_item(data, "sizes");

		tdata_text(row, "name", k->dim_fields[i]);
		tdata_text(row, "type",
			   k->d->types[k->g->dims.data[i]->type.kind].spelling);
		tdata_int(row, "index", 2 + i);
	}
	return template_text(k, k->d,
			     k->o->graph ? TEMPLATE_GRAPH_HARNESS
					 : TEMPLATE_HARNESS,
			     data, NULL);
}

int
package_harness_files(const struct package *pkg)
{
	const struct packer *k = pkg->packer;

	return k->o->graph ? k->d->graph.runtime.n
			   : k->p->target->simulator.n_runtime;
}

const char *
package_harness_file(const struct package *pkg, int i, const char **name)
{
	const struct packer *k = pkg->packer;
	const char *file;

	*name = k->o->graph ? k->d->graph.runtime.data[i]
			    : k->p->target->simulator.runtime[i];
	return data_file(k->m, NULL, arena_printf(k->a, "runtime/%s", *name),
			 &file);
}

const char *
package_harness_ldflags(const struct package *pkg)
{
	const struct packer *k = pkg->packer;
	const struct simulator *s = &k->p->target->simulator;

	return k->o->graph          ? k->d->graph.ldflags
	       : s->command != NULL ? s->ldflags
				    : "";
}
