/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dump [--graph] [--dim NAME=MIN[..MAX]] [--input-shape NAME:1,2] FILE
 *
 * Imports a model. Prints one line per tensor, "name<TAB>type<TAB>1,3,n" with
 * tabs and newlines in names as '?', or with --graph the graph's text, its
 * digest first; where the import fails, its messages on standard error, and
 * exits with 1. Lets the Python tests see what the importer makes of a file. */
#include <stdio.h>
#include <stdlib.h>

#include "graph_text.h"
#include "onnx_import.h"

#define MAX_OPTIONS 32

static struct dim_binding dims[MAX_OPTIONS];
static struct input_shape shapes[MAX_OPTIONS];
static int64_t sizes[MAX_OPTIONS][16];

static void
parse_dim(char *text, struct import_options *o)
{
	char *equals = strrchr(text, '='), *dots;
	struct dim_binding *d = &dims[o->n_dims++];

	if (!equals) {
		exit(2);
	}
	*equals = '\0';
	d->name = text;
	d->min = d->max = strtoll(equals + 1, &dots, 10);
	if (strncmp(dots, "..", 2) == 0) {
		d->max = strtoll(dots + 2, NULL, 10);
	}
}

static void
parse_shape(char *text, struct import_options *o)
{
	char *at = strrchr(text, ':');
	struct input_shape *s = &shapes[o->n_shapes];
	int64_t *list = sizes[o->n_shapes++];

	if (!at) {
		exit(2);
	}
	*at++ = '\0';
	s->name = text;
	s->dims = list;
	while (*at && s->ndim < 16) {
		list[s->ndim++] = strtoll(at, &at, 10);
		at += *at == ',';
	}
}

static void
print_name(const char *name)
{
	for (; *name; ++name) {
		putchar(*name == '\t' || *name == '\n' ? '?' : *name);
	}
}

static void
print_tensor(const struct tensor *t)
{
	int64_t v;

	print_name(t->name);
	printf("\t%s\t", dtype_name(t->type));
	for (int d = 0; d < t->ndim; ++d) {
		if (expr_is_int(t->shape[d], &v)) {
			printf("%s%lld", d ? "," : "", (long long)v);
		} else {
			printf("%s?", d ? "," : "");
		}
	}
	putchar('\n');
}

static void
print_messages(const struct module *m)
{
	for (int i = 0; i < m->diags.list.n; ++i) {
		struct strbuf line;

		strbuf_init(&line);
		diag_format(&m->diags.list.data[i], &line);
		fprintf(stderr, "%s: %s\n",
			diag_id_name(m->diags.list.data[i].id), line.data);
		strbuf_release(&line);
	}
}

static void
print_graph(const struct graph *g)
{
	struct strbuf text;

	strbuf_init(&text);
	printf("digest %.16s\n", g->digest);
	if (!graph_verify_text(g)) {
		print_messages(g->module);
		exit(1);
	}
	graph_print(g, &text);
	fputs(text.data ? text.data : "", stdout);
	strbuf_release(&text);
}

int
main(int argc, char **argv)
{
	struct import_options options = { .dims = dims, .shapes = shapes };
	struct module *m = module_new();
	struct onnx_file *file;
	bool text = false;
	int i = 1;

	for (; i < argc - 1; ++i) {
		if (strcmp(argv[i], "--graph") == 0) {
			text = true;
		} else if (strcmp(argv[i], "--dim") == 0) {
			parse_dim(argv[++i], &options);
		} else if (strcmp(argv[i], "--input-shape") == 0) {
			parse_shape(argv[++i], &options);
		}
	}
	struct graph *g = onnx_import(m, argv[i], &options, &file);

	print_messages(m);
	if (g && !graph_verify(g)) {
		print_messages(m);
		return 3;
	}
	for (int k = 0; g && k < g->assumptions.n; ++k) {
		fprintf(stderr, "assumed: %s\n", g->assumptions.data[k]);
	}
	if (g && text) {
		print_graph(g);
	}
	for (int k = 0; g && !text && k < g->tensors.n; ++k) {
		print_tensor(g->tensors.data[k]);
	}
	onnx_file_close(file);
	module_free(m);
	return g ? 0 : 1;
}
