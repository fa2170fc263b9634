/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_model MODEL FOLDER: computes a model whose inputs are all
 * initializers, node by node, from the operators' definitions (TE, its
 * phase-0 function, the interpreter), and writes FOLDER/output_K.pb. Exit
 * status 0, or 1 with what is wrong. */
#include <stdio.h>

#include "onnx_import.h"
#include "ops.h"

static void
print_diags(const struct module *m)
{
	for (int i = 0; i < m->diags.list.n; i++) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&m->diags.list.data[i], &s);
		fprintf(stderr, "%s\n", s.data);
		strbuf_release(&s);
	}
}

static void
substitute(struct module *m, const struct expr **list, int n,
	   const struct var_map *map)
{
	for (int i = 0; i < n; i++) {
		list[i] = expr_substitute(m, list[i], map);
	}
}

/* After a tirc.RunSize: puts the sizes that it has read into the shapes and the
 * known elements of all tensors. */
static void
settle_sizes(struct graph *g, const struct node *n)
{
	struct module *m = g->module;
	const struct tensor *read = n->outputs[0];
	int first = node_run_sizes(n);

	for (int i = 0; i < read->n_elems; i++) {
		union number size = number_load(read->type, read->value->data,
						(size_t)i);
		struct var *from = g->run_sizes.data[first + i].var;
		const struct expr *to = expr_int(m, from->type, size.i);
		const struct var_map map = { &from, &to, 1 };

		for (int k = 0; k < g->tensors.n; k++) {
			struct tensor *t = g->tensors.data[k];

			substitute(m, t->shape, t->ndim, &map);
			if (t->elems) {
				substitute(m, t->elems, t->n_elems, &map);
			}
		}
	}
}

static bool
evaluate(struct graph *g)
{
	if (graph_has_control(g)) {
		fprintf(stderr, "branches and loops are not supported here\n");
		return false;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const struct value **out = arena_array(&g->module->arena,
						       const struct value *,
						       n->n_outputs + 1);

		if (!ops_evaluate(g, n, out)) {
			return false;
		}
		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k]) {
				n->outputs[k]->value = out[k];
			}
		}
		if (node_run_sizes(n) >= 0) {
			settle_sizes(g, n);
		}
	}
	return true;
}

static bool
write_output(struct module *m, const struct tensor *t, const char *folder,
	     int index)
{
	struct array a = { .name = t->name,
			   .type = t->type,
			   .ndim = t->ndim,
			   .elems = t->value->elems,
			   .data = arena_copy(&m->arena, t->value->data,
					      t->value->bytes) };

	a.shape = arena_array(&m->arena, int64_t, t->ndim + 1);
	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &a.shape[d])) {
			return false;
		}
	}
	return onnx_write_tensor(m,
				 arena_printf(&m->arena, "%s/output_%d.pb",
					      folder, index),
				 &a);
}

int
main(int argc, char **argv)
{
	struct import_options options = { .seeded = true, .seed = 1 };
	struct module *m = module_new();
	struct onnx_file *file = NULL;
	struct graph *g;
	bool ok = false;

	if (argc != 3) {
		fprintf(stderr, "usage: evaluate_model MODEL FOLDER\n");
		return 2;
	}
	g = onnx_import(m, argv[1], &options, &file);
	if (g && evaluate(g)) {
		ok = true;
		for (int i = 0; i < g->outputs.n && ok; i++) {
			ok = write_output(m, g->outputs.data[i], argv[2], i);
		}
	}
	print_diags(m);
	if (file) {
		onnx_file_close(file);
	}
	module_free(m);
	return ok ? 0 : 1;
}
