/* SPDX-License-Identifier: Apache-2.0 */
/* A model, planned and lowered but not emitted: its entry function, run by
 * the interpreter over a workspace full of 0xFF, gives the outputs that its
 * test data expects; and the executor gives the interpreter's bits for every
 * kernel that it takes. argv: target, model.onnx, test data directory, and, for
 * convolutions by tiles, "winograd". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dialects.h"
#include "interp.h"
#include "kernel.h"
#include "kernels.h"
#include "onnx_import.h"
#include "passes.h"
#include "plan.h"

struct bytes {
	unsigned char *data;
	size_t n;
};

static bool
append(void *ctx, const void *data, size_t n)
{
	struct bytes *b = ctx;

	memcpy(b->data + b->n, data, n);
	b->n += n;
	return true;
}

static void *
storage(struct module *m, const struct buffer *b)
{
	int64_t elems = 0;
	size_t bytes;
	void *data;

	buffer_max_elems(b, &elems);
	bytes = (size_t)(elems * dtype_bytes(b->type));
	data = arena_alloc(&m->arena, bytes + 64);
	memset(data, 0xFF, bytes);
	return data;
}

static bool
read_test_data(struct module *m, const char *folder, const char *kind, int i,
	       struct array *out)
{
	return onnx_read_tensor(m,
				arena_printf(&m->arena, "%s/%s_%d.pb", folder,
					     kind, i),
				out);
}

/* Sizes are what the test data's shapes say. */
static void
read_sizes(const struct program *p, int input, const struct array *in,
	   struct run_arg *sizes)
{
	const struct tensor *t = p->graph->inputs.data[input];

	for (int d = 0; d < t->ndim && d < in->ndim; d++) {
		for (int i = 0; i < p->graph->dims.n; i++) {
			if (t->shape[d] == p->graph->dims.data[i]->expr) {
				sizes[i].scalar = in->shape[d];
			}
		}
	}
}

/* The parameters of the entry: inputs, outputs, weights, workspace, sizes. */
static bool
make_args(struct program *p, const char *folder, struct run_arg *args)
{
	struct module *m = p->graph->module;
	struct run_arg *sizes = args + p->entry->params.n - p->graph->dims.n;
	int n = 0;

	for (int i = 0; i < p->graph->inputs.n; i++) {
		struct array in;

		if (!read_test_data(m, folder, "input", i, &in)) {
			return false;
		}
		read_sizes(p, i, &in, sizes);
		args[n++].data = in.data;
	}
	for (int i = 0; i < p->graph->outputs.n; i++, n++) {
		args[n].data = storage(m, p->entry->params.data[n].buffer);
	}
	for (int i = 0; i < p->weights.n; i++, n++) {
		struct bytes b = { storage(m, p->weights.data[i]->buffer), 0 };

		if (!weight_stream(p->graph, p->weights.data[i], append, &b)) {
			return false;
		}
		args[n].data = b.data;
	}
	if (p->plan.workspace_bytes > 0) {
		args[n].data = malloc((size_t)p->plan.workspace_bytes);
		memset(args[n].data, 0xFF, (size_t)p->plan.workspace_bytes);
	}
	return true;
}

static bool
outputs_match(const struct program *p, const char *folder,
	      const struct run_arg *args)
{
	struct module *m = p->graph->module;
	bool same = true;

	for (int i = 0; i < p->graph->outputs.n; i++) {
		const void *got = args[p->graph->inputs.n + i].data;
		struct array want;
		double worst = 0, largest = 0;

		if (!read_test_data(m, folder, "output", i, &want)) {
			return false;
		}
		for (int64_t k = 0; k < want.elems; k++) {
			struct dtype t = want.type;
			union number x = number_load(t, want.data, (size_t)k);
			union number y = number_load(t, got, (size_t)k);

			x = number_cast(dtype_of(DT_F64), t, x);
			y = number_cast(dtype_of(DT_F64), t, y);
			largest = fmax(largest, fabs(x.f));
			worst = isnan(y.f) ? INFINITY
					   : fmax(worst, fabs(x.f - y.f));
		}
		fprintf(stderr, "output %d: off by %g of %g\n", i, worst,
			largest);
		same &= worst <= 1e-6 + 1e-4 * largest;
	}
	return same;
}

/* Each kernel by itself, on arguments of small numbers. */
static bool
kernels_match(const struct program *p, int *n_compiled)
{
	struct module *m = p->graph->module;
	bool same = true;

	for (int i = 0; i < p->kernels.n; i++) {
		struct func *f = p->kernels.data[i]->func;
		int n = f->params.n;
		struct run_arg *slow = arena_array(&m->arena, struct run_arg,
						   n + 1);
		struct run_arg *fast = arena_array(&m->arena, struct run_arg,
						   n + 1);
		struct arena arena;
		const struct exec *x;

		arena_init(&arena);
		x = exec_compile(&arena, f);
		for (int k = 0; x && k < n; k++) {
			const struct buffer *b = f->params.data[k].buffer;
			int64_t elems = 0;

			if (!b || !buffer_max_elems(b, &elems)) {
				x = NULL; /* a size: not here */
				break;
			}
			slow[k].data = storage(m, b);
			fast[k].data = storage(m, b);
			for (int64_t e = 0; e < elems; e++) {
				union number v = { .i = (e * 7 + k) % 11 };

				v = number_cast(b->type, dtype_of(DT_I64), v);
				number_store(b->type, slow[k].data, (size_t)e,
					     v);
				number_store(b->type, fast[k].data, (size_t)e,
					     v);
			}
		}
		if (x) {
			bool ran = interp_run(f, slow, n);

			++*n_compiled;
			same &= ran == exec_run(x, fast, n);
			for (int k = 0; ran && k < n; k++) {
				const struct buffer *b =
					f->params.data[k].buffer;
				int64_t elems = 0;

				buffer_max_elems(b, &elems);
				if (memcmp(slow[k].data, fast[k].data,
					   (size_t)(elems *
						    dtype_bytes(b->type)))) {
					fprintf(stderr, "%s: '%s' differs\n",
						f->name, b->name);
					same = false;
				}
			}
		}
		arena_release(&arena);
	}
	return same;
}

/* Is there a kernel of this operator? */
static bool
has_operator(const struct program *p, const char *op_type)
{
	for (int i = 0; i < p->kernels.n; i++) {
		if (strcmp(p->kernels.data[i]->group->anchor->op_type,
			   op_type) == 0) {
			return true;
		}
	}
	return false;
}

static const struct settings winograd_settings = {
	.conv = CONV_WINOGRAD,
	.conv_gflops = 100,
	.conv_gbytes = 10,
};

static bool
check_model(struct module *m, const char *target_name, const char *path,
	    const char *folder, bool winograd)
{
	struct import_options options = { 0 };
	struct pass_hooks hooks = { 0 };
	struct onnx_file *file = NULL;
	struct program p = { 0 };
	const struct target *target = target_load(m, target_name, NULL);
	struct graph *g = target ? onnx_import(m, path, &options, &file) : NULL;
	struct run_arg *args;
	int n_compiled = 0;
	bool same;

	if (g && winograd) {
		g->settings = &winograd_settings;
	}
	if (!g || !graph_optimize(g, &hooks) ||
	    !program_build(g, target, &hooks, &p) ||
	    has_operator(&p, "WinogradProduct") != winograd) {
		return false;
	}
	args = arena_array(&m->arena, struct run_arg, p.entry->params.n + 1);
	same = func_verify(p.entry) && make_args(&p, folder, args) &&
	       interp_run_entry(p.entry, args, p.entry->params.n) &&
	       outputs_match(&p, folder, args);
	if (p.plan.workspace_bytes > 0) {
		free(args[p.entry->params.n - g->dims.n - 1].data);
	}
	same &= kernels_match(&p, &n_compiled);
	fprintf(stderr, "%d kernels, %d by the executor\n", p.kernels.n,
		n_compiled);
	if (file) {
		onnx_file_close(file);
	}
	return same;
}

int
main(int argc, char **argv)
{
	struct module *m = module_new();
	struct strbuf text;
	bool same;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: %s target model.onnx data [winograd]\n",
			argv[0]);
		return 2;
	}
	same = check_model(m, argv[1], argv[2], argv[3], argc == 5);
	strbuf_init(&text);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &text);
		strbuf_putc(&text, '\n');
	}
	fputs(text.data ? text.data : "", stderr);
	strbuf_release(&text);
	module_free(m);
	return !same;
}
