/* SPDX-License-Identifier: Apache-2.0 */
/* The program that calls single kernels of a model, for tirc verify. It
 * includes the model's source, because kernels are static functions there. */
#include "packer.h"

const char *
package_kernels_obstacle(const struct package *pkg)
{
	const struct packer *k = pkg->packer;

	return package_on_device(k) ? "a device runs the kernels"
	       : k->o->graph        ? "--form graph has no functions to call"
	       : k->d->weights.copied
		       ? "the target's constants lie in a memory of their own"
		       : NULL;
}

/* The text of a constant in the entry function. */
static const char *
constant_text(struct packer *k, const struct kernel *kernel, int i)
{
	struct bindings bound = { 0 };

	bind_weight(k, &kernel->func->params.data[i],
		    kernel->args.data[i].weight->index, &bound);
	return bound.list.data[0].text;
}

static void
add_argument(struct packer *k, struct tdata *row, int number, int i, bool last)
{
	const struct kernel *kernel = k->p->kernels.data[number];
	const struct kernel_arg *arg = &kernel->args.data[i];
	struct tdata *data = tdata_item(row, "arguments");

	tdata_int(data, "kernel", number);
	tdata_int(data, "index", i);
	tdata_flag(data, "constant", arg->kind == ARG_WEIGHT);
	tdata_flag(data, "number", arg->kind == ARG_DIM);
	tdata_flag(data, "array",
		   arg->kind == ARG_TENSOR || arg->kind == ARG_SCRATCH);
	tdata_flag(data, "threads", false);
	tdata_flag(data, "last", last);
	if (arg->kind == ARG_WEIGHT) {
		tdata_text(data, "text", constant_text(k, kernel, i));
	} else if (arg->kind == ARG_DIM) {
		tdata_text(data, "type",
			   k->d->types[arg->var->type.kind].spelling);
	}
}

static void
add_function(struct packer *k, struct tdata *data, const struct unit *u,
	     int index)
{
	const struct kernel *kernel = k->p->kernels.data[index];
	const bool shares = unit_shares(u, kernel->func);
	struct tdata *row = tdata_item(data, "functions"), *model;

	tdata_int(row, "index", index);
	tdata_text(row, "name", kernel->func->name);
	tdata_list(row, "arguments");
	for (int i = 0; i < kernel->args.n; i++) {
		add_argument(k, row, index, i,
			     !shares && i + 1 == kernel->args.n);
	}
	if (shares) {
		model = tdata_item(row, "arguments");
		tdata_flag(model, "constant", false);
		tdata_flag(model, "number", false);
		tdata_flag(model, "array", false);
		tdata_flag(model, "threads", true);
		tdata_flag(model, "last", true);
	}
}

const char *
package_kernel_harness(const struct package *pkg)
{
	struct packer *k = pkg->packer;
	struct tdata *data = tdata_new(k->a);
	struct unit u;
	int most = 1;

	tdata_outer(data, k->data);
	unit_init(&u, k->m, k->d);
	u.model = k->model;
	tdata_list(data, "functions");
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->group->region == NULL) {
			add_function(k, data, &u, i);
			most = kernel->args.n > most ? kernel->args.n : most;
		}
	}
	tdata_text(data, "source", k->files[FILE_SOURCE]);
	tdata_int(data, "most_params", most);
	return template_text(k, k->d, TEMPLATE_KERNEL_HARNESS, data, NULL);
}

const char *
package_kernels_source(const struct package *pkg)
{
	return pkg->packer->files[FILE_SOURCE];
}
