/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels in the graph form. Each kernel has a wrapper function, which
 * passes arrays and sizes to it. All wrappers have the same signature and are
 * listed in a table.
 *
 * conv1(args[0], args[1], args[2], (int32_t)sizes[0]); */
#include "kernel.h"
#include "package.h"
#include "packer.h"

/* Binds the symbolic size v to an element of the array `sizes`. */
static struct binding
bind_size(struct packer *k, struct var *v)
{
	struct binding b = { .var = v, .kind = VALUE_SCALAR };
	struct tdata *data = tdata_new(k->a);

	for (int i = 0; i < k->g->dims.n; i++) {
		if (k->g->dims.data[i] == v) {
			tdata_int(data, "index", i);
		}
	}
	tdata_text(data, "type", k->d->types[v->type.kind].spelling);
	b.text = packer_render(k, k->d->graph.size, data);
	return b;
}

/* Binds the parameter v of the kernel to an element of `args` or `sizes`.
 * *arrays: the number of arrays so far. */
static struct binding
bind_arg(struct packer *k, const struct kernel_arg *arg, struct var *v,
	 int *arrays)
{
	struct binding b = { .var = v, .kind = VALUE_VOID_POINTER };
	struct tdata *data = tdata_new(k->a);

	if (arg->kind == ARG_DIM) {
		return bind_size(k, v);
	}
	tdata_int(data, "index", (*arrays)++);
	b.text = packer_render(k, k->d->graph.array, data);
	return b;
}

/* Prints the wrapper's call of the kernel. *sized: does it have symbolic sizes
 * as arguments? Returns false after a diagnostic. */
static bool
print_call(struct packer *k, struct unit *u, const struct kernel *kernel,
	   bool *sized, struct strbuf *out)
{
	int n = 0, arrays = 0;
	struct func *f = func_new(k->m, kernel->name);
	const struct expr **args = arena_exprs(k->a, kernel->args.n + 2);
	struct bindings bound = { 0 };

	args[n++] = expr_string(k->m, kernel->func->name);
	if (kernel->init != NULL) {
		func_add_param(f, k->p->model, NULL);
		args[n++] = k->p->model->expr;
		bind_model(k, &bound);
	}
	for (int i = 0; i < kernel->args.n; i++) {
		const struct kernel_arg *arg = &kernel->args.data[i];
		struct var *v = arg->kind == ARG_DIM
					? arg->var
					: var_new(k->m, arg->buffer->name,
						  dtype_of(DT_HANDLE));

		*sized |= arg->kind == ARG_DIM;
		if (arg->kind == ARG_DIM || graph_arg_listed(kernel, arg)) {
			func_add_param(f, v, NULL);
			args[n++] = v->expr;
			vec_push(k->a, &bound.list,
				 bind_arg(k, arg, v, &arrays));
		}
	}
	f->body = stmt_evaluate(f, expr_call(k->m, INTRIN_CALL_FUNC,
					     dtype_of(DT_VOID), args, n));
	return unit_body(u, f, bound.list.data, bound.list.n, out);
}

static void
add_arguments(const struct kernel *kernel, struct tdata *row)
{
	int n = 0;

	tdata_list(row, "arguments");
	for (int i = 0; i < kernel->args.n; i++) {
		const struct kernel_arg *arg = &kernel->args.data[i];
		struct tdata *item;

		if (!graph_arg_listed(kernel, arg)) {
			continue;
		}
		item = tdata_item(row, "arguments");
		tdata_text(item, "name", arg->buffer->name);
		tdata_int(item, "bytes", graph_arg_bytes(arg));
		tdata_int(item, "align", graph_arg_align(arg));
		tdata_int(item, "stored",
			  arg->written || arg->kind == ARG_SCRATCH);
		n++;
	}
	tdata_int(row, "count", n);
}

/* Does a region of a backend prepare a state from weights? Such a state keeps
 * the weights between runs. */
static bool
weights_kept(const struct packer *k)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int a = 0; kernel->init != NULL && a < kernel->args.n;
		     a++) {
			if (kernel->args.data[a].kind == ARG_WEIGHT) {
				return true;
			}
		}
	}
	return false;
}

/* Adds "checks": the body of the function that checks the conditions of
 * operators on the symbolic sizes. Adds nothing if there are no conditions.
 * Returns false after a diagnostic. */
static bool
add_checks(struct packer *k, struct unit *u, struct tdata *data)
{
	struct func *f = func_new(k->m, "sizes_fit");
	struct bindings bound = { 0 };
	const struct expr *all = NULL;
	struct strbuf body;
	bool ok = true;

	for (int i = 0; i < k->g->checks.n; i++) {
		const struct expr *one = k->g->checks.data[i].condition;

		all = all == NULL ? one : expr_and(k->m, all, one);
	}
	tdata_list(data, "checks");
	if (all == NULL) {
		return true;
	}
	for (int i = 0; i < k->g->dims.n; i++) {
		func_add_param(f, k->g->dims.data[i], NULL);
		vec_push(k->a, &bound.list, bind_size(k, k->g->dims.data[i]));
	}
	f->body = stmt_return(f, all);
	strbuf_init(&body);
	ok = unit_body(u, f, bound.list.data, bound.list.n, &body);
	if (ok) {
		tdata_text(tdata_item(data, "checks"), "body",
			   arena_strdup(k->a, body.data));
	}
	strbuf_release(&body);
	return ok;
}

bool
add_graph_entries(struct packer *k, struct unit *u, struct tdata *data)
{
	bool ok = add_checks(k, u, data);
	int n = 0;

	tdata_list(data, "entries");
	for (int i = 0; ok && i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		struct tdata *row;
		bool sized = false;
		struct strbuf s;

		if (kernel->owner != kernel) {
			continue;
		}
		n++;
		row = tdata_item(data, "entries");
		strbuf_init(&s);
		ok = print_call(k, u, kernel, &sized, &s);
		tdata_text(row, "symbol", k->kernel_symbols[i]);
		tdata_text(row, "name", kernel->func->name);
		tdata_text(row, "body", ok ? arena_strdup(k->a, s.data) : "");
		tdata_flag(row, "sized", sized);
		tdata_flag(row, "shared", unit_shares(u, kernel->func));
		tdata_flag(row, "keeps", kernel->init != NULL);
		add_arguments(kernel, row);
		strbuf_release(&s);
	}
	tdata_flag(data, "state_weighs", weights_kept(k));
	tdata_int(data, "n_kernels", n);
	tdata_int(data, "n_sizes", k->g->dims.n);
	return ok;
}

bool
add_graph_header(struct packer *k)
{
	struct tdata *data = tdata_new(k->a);
	struct unit u;

	unit_init(&u, k->m, k->d);
	unit_need(&u, "stddef.h");
	unit_need(&u, "stdint.h");
	tdata_outer(data, k->data);
	regions_need(k, &u, data, true);
	if (!regions_in_header(k, data)) {
		return false;
	}
	unit_add_includes(&u, data);
	tdata_list(data, "entries");
	for (int i = 0; i < k->p->kernels.n; i++) {
		if (k->kernel_symbols[i] != NULL) {
			tdata_text(tdata_item(data, "entries"), "symbol",
				   k->kernel_symbols[i]);
		}
	}
	return add_template_file(k, TEMPLATE_GRAPH_HEADER, data, FILE_HEADER,
				 OUT_TEXT);
}
