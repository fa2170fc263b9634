/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_dims MODEL FOLDER NAME=MIN..MAX=VALUE…: imports a model with
 * bounded symbolic dimensions, computes it node by node in the interpreter
 * with the dimensions passed as the values given, from FOLDER/input_K.pb, and
 * writes FOLDER/output_K.pb. Exit status 1 with what is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "interp.h"
#include "onnx_import.h"
#include "ops.h"

enum { DIMS_MAX = 8 };

struct setting {
	struct dim_binding dims[DIMS_MAX];
	int64_t values[DIMS_MAX];
	int n;
};

static bool
parse_dim(struct setting *s, char *text)
{
	char *equals = strchr(text, '=');
	long long min, max, value;

	if (!equals || s->n == DIMS_MAX ||
	    sscanf(equals, "=%lld..%lld=%lld", &min, &max, &value) != 3) {
		return false;
	}
	*equals = '\0';
	s->dims[s->n] = (struct dim_binding){
		.name = text, .min = min, .max = max, .step = 1
	};
	s->values[s->n++] = value;
	return true;
}

static int64_t
value_of(const struct setting *s, const char *name)
{
	for (int i = 0; i < s->n; i++) {
		if (strcmp(s->dims[i].name, name) == 0) {
			return s->values[i];
		}
	}
	return -1;
}

/* A dimension with the values put in; -1: it is not known then. */
static int64_t
size_of(const struct setting *s, struct graph *g, const struct expr *e)
{
	struct var_map map = { .n = g->dims.n, .from = g->dims.data };
	const struct expr *to[DIMS_MAX];
	int64_t v;

	for (int i = 0; i < g->dims.n && i < DIMS_MAX; i++) {
		struct var *dim = g->dims.data[i];

		to[i] = expr_int(g->module, dim->type, value_of(s, dim->name));
	}
	map.to = to;
	e = expr_substitute(g->module, e, &map);
	return expr_is_int(e, &v) ? v : -1;
}

static struct value *
new_value(const struct setting *s, struct graph *g, const struct tensor *t,
	  void **bytes)
{
	struct value *v = arena_new(&g->module->arena, struct value);

	v->type = t->type;
	v->elems = 1;
	for (int d = 0; d < t->ndim; d++) {
		int64_t size = size_of(s, g, t->shape[d]);

		if (size < 0) {
			fprintf(stderr, "%s: dimension %d is not known\n",
				t->name, d);
			return NULL;
		}
		v->elems *= size;
	}
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(t->type);
	*bytes = arena_alloc(&g->module->arena, v->bytes + 1);
	v->data = *bytes;
	return v;
}

static bool
run_node(const struct setting *s, struct graph *g, struct node *n)
{
	struct module *m = g->module;
	int most = n->n_inputs + n->n_outputs, count = 0;
	struct te_tensor **in = arena_array(&m->arena, struct te_tensor *,
					    most + 1);
	struct te_tensor **out = arena_array(&m->arena, struct te_tensor *,
					     most + 1);
	struct te_tensor **params = arena_array(&m->arena, struct te_tensor *,
						most + 1);
	struct run_arg *args = arena_array(&m->arena, struct run_arg,
					   most + DIMS_MAX);
	struct func *f;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t) {
			in[i] = te_placeholder(m, t->name, t->type, t->ndim,
					       t->shape);
			params[count] = in[i];
			args[count++].read = t->value->data;
		}
	}
	if (!ops_define(g, n, in, out)) {
		return false;
	}
	for (int k = 0; k < n->n_outputs; k++) {
		void *bytes;
		struct value *v = new_value(s, g, n->outputs[k], &bytes);

		if (!v) {
			return false;
		}
		n->outputs[k]->value = v;
		params[count] = out[k];
		args[count++].data = bytes;
	}
	f = te_to_func(m, "node", params, count);
	for (int i = count; i < f->params.n; i++) {
		args[i].scalar = value_of(s, f->params.data[i].var->name);
	}
	return interp_run(f, args, f->params.n);
}

/* Values are of this run: what was known of other sizes must not be used. */
static bool
run_graph(const struct setting *s, struct graph *g, const char *folder)
{
	struct module *m = g->module;
	struct array a;

	for (int i = 0; i < g->inputs.n; i++) {
		void *bytes;
		struct value *v = new_value(s, g, g->inputs.data[i], &bytes);

		if (!v ||
		    !onnx_read_tensor(m,
				      arena_printf(&m->arena, "%s/input_%d.pb",
						   folder, i),
				      &a) ||
		    a.elems != v->elems) {
			return false;
		}
		v->data = a.data;
		g->inputs.data[i]->value = v;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!run_node(s, g, g->nodes.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < g->outputs.n; i++) {
		struct tensor *t = g->outputs.data[i];

		a = (struct array){ .name = t->name,
				    .type = t->type,
				    .ndim = t->ndim,
				    .elems = t->value->elems,
				    .data = arena_copy(&m->arena,
						       t->value->data,
						       t->value->bytes) };
		a.shape = arena_array(&m->arena, int64_t, t->ndim + 1);
		for (int d = 0; d < t->ndim; d++) {
			a.shape[d] = size_of(s, g, t->shape[d]);
		}
		if (!onnx_write_tensor(m,
				       arena_printf(&m->arena,
						    "%s/output_%d.pb", folder,
						    i),
				       &a)) {
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct setting s = { .n = 0 };
	struct import_options options = { .n_shapes = 0 };
	struct module *m = module_new();
	struct onnx_file *file = NULL;
	struct graph *g;
	bool ok;

	for (int i = 3; i < argc; i++) {
		if (!parse_dim(&s, argv[i])) {
			return 2;
		}
	}
	options.dims = s.dims;
	options.n_dims = s.n;
	g = onnx_import(m, argv[1], &options, &file);
	ok = g && run_graph(&s, g, argv[2]);
	for (int i = 0; i < m->diags.list.n; i++) {
		struct strbuf text;

		strbuf_init(&text);
		diag_format(&m->diags.list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
		strbuf_release(&text);
	}
	if (file) {
		onnx_file_close(file);
	}
	module_free(m);
	return ok ? 0 : 1;
}
