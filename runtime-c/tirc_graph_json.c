/* SPDX-License-Identifier: MIT-0 */
/* Reads a graph from its JSON and checks each member's type and range.
 * tirc_graph_check.c checks that the parts fit together. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_graph_parts.h"

#define FORMAT "tirc graph 1"
/* the largest integer up to which double represents all integers exactly */
#define LARGEST 9007199254740992.0
#define DEEPEST 32 /* nesting of operations */
#define MOST_DIMS 32

struct reader {
	struct tirc_graph *g;
	const char *list; /* "tensors", for messages */
	int row;
	enum tirc_graph_status status;
};

static int
wrong(struct reader *r, const char *key, const char *problem)
{
	if (r->status == TIRC_GRAPH_OK && r->row >= 0) {
		r->status = graph_fail(r->g, TIRC_GRAPH_BAD_JSON,
				       "%s[%d]: \"%.60s\" %s", r->list, r->row,
				       key, problem);
	} else if (r->status == TIRC_GRAPH_OK) {
		r->status = graph_fail(r->g, TIRC_GRAPH_BAD_JSON,
				       "\"%.60s\" %s", key, problem);
	}
	return 0;
}

static void *
room(struct reader *r, size_t n, size_t size)
{
	void *p = graph_new(r->g, n, size);

	if (p == NULL && r->status == TIRC_GRAPH_OK) {
		r->status = TIRC_GRAPH_NO_MEMORY;
	}
	return p;
}

static const cJSON *
member(const cJSON *row, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(row, key);
}

/* A copy of the text that row has for the key, owned by the graph; an error if
 * row has no text there. */
static const char *
read_text(struct reader *r, const cJSON *row, const char *key)
{
	const cJSON *item = member(row, key);
	size_t n;
	char *copy;

	if (!cJSON_IsString(item) || item->valuestring[0] == '\0') {
		wrong(r, key, "must be a non-empty string");
		return "";
	}
	n = strlen(item->valuestring) + 1;
	copy = room(r, n, 1);
	if (copy == NULL) {
		return "";
	}
	memcpy(copy, item->valuestring, n);
	return copy;
}

static int
is_whole(const cJSON *item, double least, double most)
{
	return cJSON_IsNumber(item) && item->valuedouble >= least &&
	       item->valuedouble <= most &&
	       item->valuedouble == (double)(int64_t)item->valuedouble;
}

static int64_t
read_number(struct reader *r, const cJSON *row, const char *key, double least)
{
	const cJSON *item = member(row, key);

	if (!is_whole(item, least, LARGEST)) {
		wrong(r, key, "must be an integer, and not too small");
		return (int64_t)least;
	}
	return (int64_t)item->valuedouble;
}

static size_t
read_bytes(struct reader *r, const cJSON *row, const char *key)
{
	int64_t v = read_number(r, row, key, 0.0);

	if ((uint64_t)v > SIZE_MAX / 4) {
		wrong(r, key, "is larger than the address space");
		return 0;
	}
	return (size_t)v;
}

/* Reads an alignment, which must be a power of two. */
static size_t
read_align(struct reader *r, const cJSON *row, const char *key)
{
	size_t v = read_bytes(r, row, key);

	if (v == 0 || v > 65536 || (v & (v - 1)) != 0) {
		wrong(r, key, "must be a power of two");
		return 1;
	}
	return v;
}

/* Sets *n to the number of rows of the list `key`; the rows must be objects.
 * Returns the first row; NULL if the list is empty. */
static const cJSON *
read_rows(struct reader *r, const cJSON *all, const char *key, size_t *n)
{
	const cJSON *list = member(all, key);
	const cJSON *row;

	*n = 0;
	r->list = key;
	r->row = -1;
	if (!cJSON_IsArray(list)) {
		wrong(r, key, "must be a list");
		return NULL;
	}
	cJSON_ArrayForEach(row, list)
	{
		if (!cJSON_IsObject(row)) {
			wrong(r, key, "must be a list of objects");
			*n = 0;
			return NULL;
		}
		++*n;
	}
	return list->child;
}

/* -- shapes -- */

static enum term_kind
operation(const char *text)
{
	static const struct {
		const char *text;
		enum term_kind kind;
	} all[] = {
		{ "+", TERM_ADD },       { "-", TERM_SUB },
		{ "*", TERM_MUL },       { "/", TERM_DIV },
		{ "//", TERM_FLOORDIV }, { "%", TERM_FLOORMOD },
		{ "min", TERM_MIN },     { "max", TERM_MAX },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (strcmp(all[i].text, text) == 0) {
			return all[i].kind;
		}
	}
	return TERM_NUMBER;
}

/* Appends to d the terms of a dimension: 7, "batch" or ["+", "batch", 7]. Only
 * counts the terms if d->terms is NULL. */
static void
read_terms(struct reader *r, const cJSON *item, struct dim *d, int depth)
{
	struct term t = { TERM_NUMBER, 0 };

	if (is_whole(item, -LARGEST, LARGEST)) {
		t.value = (int64_t)item->valuedouble;
	} else if (cJSON_IsString(item)) {
		size_t at = graph_find_size(r->g, item->valuestring);

		t.kind = TERM_SIZE;
		t.value = (int64_t)at;
		if (at == NOWHERE) {
			wrong(r, "shape", "has a name that is not in sizes");
			return;
		}
	} else if (cJSON_GetArraySize(item) == 3 && depth < DEEPEST &&
		   cJSON_IsString(item->child)) {
		t.kind = operation(item->child->valuestring);
		if (t.kind == TERM_NUMBER) {
			wrong(r, "shape", "has an unknown operation");
			return;
		}
		read_terms(r, item->child->next, d, depth + 1);
		read_terms(r, item->child->next->next, d, depth + 1);
	} else {
		wrong(r, "shape", "must have numbers, sizes, operations");
		return;
	}
	if (d->terms != NULL) {
		d->terms[d->n] = t;
	}
	d->n++;
}

static void
read_shape(struct reader *r, const cJSON *row, struct tensor *t)
{
	const cJSON *list = member(row, "shape");
	const cJSON *item;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MOST_DIMS) {
		wrong(r, "shape", "must be a list, and not too long");
		return;
	}
	t->dims = room(r, MOST_DIMS, sizeof *t->dims);
	t->shape = room(r, MOST_DIMS, sizeof *t->shape);
	cJSON_ArrayForEach(item, list)
	{
		struct dim counted = { NULL, 0 };
		struct dim *d;

		read_terms(r, item, &counted, 0);
		if (r->status != TIRC_GRAPH_OK) {
			return;
		}
		d = &t->dims[t->ndim++];
		d->terms = room(r, counted.n, sizeof *d->terms);
		if (d->terms == NULL) {
			return;
		}
		read_terms(r, item, d, 0);
	}
}

/* Reads the padding before or after the elements (`key`): a number for each
 * dimension of t. NULL after an error. */
static int64_t *
read_around(struct reader *r, const cJSON *row, const char *key,
	    const struct tensor *t)
{
	const cJSON *list = member(row, key);
	const cJSON *item;
	int64_t *out = room(r, t->ndim + 1, sizeof *out);
	size_t n = 0;

	if (!cJSON_IsArray(list) ||
	    (size_t)cJSON_GetArraySize(list) != t->ndim) {
		wrong(r, key, "must have a number for each dimension");
		return NULL;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (!is_whole(item, 0.0, 65536.0)) {
			wrong(r, key, "must have integers from 0 to 65536");
			return NULL;
		}
		if (out != NULL) {
			out[n++] = (int64_t)item->valuedouble;
		}
	}
	return out;
}

static void
read_layout(struct reader *r, const cJSON *row, struct tensor *t)
{
	t->axis = NOWHERE;
	if (member(row, "block") != NULL) {
		t->block = read_number(r, row, "block", 1.0);
		t->axis = (size_t)read_number(r, row, "axis", 0.0);
		if (t->block > 65536 || t->axis >= t->ndim) {
			wrong(r, "block", "is too large, or has no axis");
		}
	}
	if (member(row, "before") != NULL) {
		t->before = read_around(r, row, "before", t);
		t->after = read_around(r, row, "after", t);
	}
}

/* -- tensors -- */

/* The size of an element, from the name of its type: bool, or a class, the
 * number of bits and their meaning, as in float8_e4m3fn. An element takes whole
 * bytes. 0 if no type has this name. */
static size_t
element_bytes(const char *dtype)
{
	static const char *const classes[] = { "int", "uint", "float",
					       "bfloat" };
	char *end;

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		size_t n = strlen(classes[i]);
		unsigned long bits;

		if (strncmp(dtype, classes[i], n) != 0 || dtype[n] < '1' ||
		    dtype[n] > '9') {
			continue;
		}
		bits = strtoul(dtype + n, &end, 10);
		if (bits <= 64 && (bits & (bits - 1)) == 0 &&
		    (*end == '\0' || *end == '_')) {
			return (bits + 7) / 8;
		}
	}
	return strcmp(dtype, "bool") == 0 ? 1 : 0;
}

static void
read_place(struct reader *r, const cJSON *row, struct tensor *t)
{
	const char *at = read_text(r, row, "at");
	const struct tirc_graph *g = r->g;

	if (strcmp(at, "input") == 0) {
		t->at = AT_INPUT;
		t->io = graph_find_io(g->inputs, g->n_inputs,
				      read_text(r, row, "of"));
	} else if (strcmp(at, "output") == 0) {
		t->at = AT_OUTPUT;
		t->io = graph_find_io(g->outputs, g->n_outputs,
				      read_text(r, row, "of"));
	} else if (strcmp(at, "workspace") != 0) {
		wrong(r, "at", "must be workspace, input or output");
	}
	if (t->io == NOWHERE) {
		wrong(r, "of", "is no input or output");
	}
	t->offset = read_bytes(r, row, "offset");
	t->capacity = read_bytes(r, row, "bytes");
}

static void
add_name(struct names *names, const char *text, size_t at)
{
	struct name *name = &names->list[names->n++];

	name->text = text;
	name->at = at;
}

static void
read_tensors(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *row = read_rows(r, all, "tensors", &g->n_tensors);

	g->tensors = room(r, g->n_tensors + 1, sizeof *g->tensors);
	g->tensor_names.list = room(r, g->n_tensors + 1,
				    sizeof *g->tensor_names.list);
	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct tensor *t = &g->tensors[++r->row];

		t->name = read_text(r, row, "name");
		t->dtype = read_text(r, row, "dtype");
		t->element_bytes = element_bytes(t->dtype);
		if (t->element_bytes == 0) {
			wrong(r, "dtype", "is unknown");
		}
		read_shape(r, row, t);
		read_layout(r, row, t);
		read_place(r, row, t);
		add_name(&g->tensor_names, t->name, (size_t)r->row);
	}
}

/* Reads the names that the tensors have in the model: { "conv1":
 * "/net/conv1/output" }. */
static void
read_model_names(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *object = member(all, "model_names");
	const cJSON *item;
	size_t n;

	r->row = -1;
	if (object == NULL) {
		return;
	}
	if (!cJSON_IsObject(object)) {
		wrong(r, "model_names", "must be an object");
		return;
	}
	n = (size_t)cJSON_GetArraySize(object);
	g->model_names.list = room(r, n + 1, sizeof *g->model_names.list);
	cJSON_ArrayForEach(item, object)
	{
		size_t at = graph_find(&g->tensor_names, item->string);
		const char *name;

		if (at == NOWHERE) {
			wrong(r, "model_names",
			      "has a name that no tensor has");
		}
		if (r->status != TIRC_GRAPH_OK) {
			return;
		}
		name = read_text(r, object, item->string);
		g->tensors[at].model_name = name;
		add_name(&g->model_names, name, at);
	}
}

/* -- inputs, outputs, sizes -- */

static void
read_sizes(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *row = read_rows(r, all, "sizes", &g->n_sizes);
	size_t n = g->n_sizes;

	g->sizes = room(r, n + 1, sizeof *g->sizes);
	g->values = room(r, n + 1, sizeof *g->values);
	g->n_sizes = 0;
	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct size *s = &g->sizes[++r->row];

		s->name = read_text(r, row, "name");
		s->min = read_number(r, row, "min", 0.0);
		s->max = read_number(r, row, "max", (double)s->min);
		if (s->max > INT32_MAX) {
			wrong(r, "max", "is too large");
		}
		if (graph_find_size(g, s->name) != NOWHERE) {
			wrong(r, "name", "is used twice");
		}
		g->values[g->n_sizes++] = s->max;
	}
}

static struct io *
read_ios(struct reader *r, const cJSON *all, const char *key, size_t *n)
{
	const cJSON *row = read_rows(r, all, key, n);
	struct io *list = room(r, *n + 1, sizeof *list);

	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct io *io = &list[++r->row];

		io->name = read_text(r, row, "name");
		if (graph_find_io(list, (size_t)r->row, io->name) != NOWHERE) {
			wrong(r, "name", "is used twice");
		}
	}
	return list;
}

/* Sets the tensor of each input or output, and checks that it is dense and
 * starts at offset 0 of the memory of this input or output. */
static void
read_io_tensors(struct reader *r, const cJSON *all, const char *key,
		struct io *list, enum storage at)
{
	const struct tirc_graph *g = r->g;
	size_t n;
	const cJSON *row = read_rows(r, all, key, &n);

	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct io *io = &list[++r->row];
		const char *name = read_text(r, row, "tensor");
		const struct tensor *t;

		io->tensor = graph_find(&g->tensor_names, name);
		t = io->tensor == NOWHERE ? NULL : &g->tensors[io->tensor];
		if (t == NULL || t->at != at || t->io != (size_t)r->row ||
		    t->offset != 0 || t->axis != NOWHERE || t->before != NULL) {
			wrong(r, "tensor",
			      "must be a dense tensor at the start of "
			      "this input or output");
		}
	}
}

/* -- nodes -- */

static const struct tirc_kernel *
find_kernel(const struct tirc_kernels *kernels, const char *name)
{
	for (size_t i = 0; i < kernels->n; i++) {
		if (strcmp(kernels->list[i].name, name) == 0) {
			return &kernels->list[i];
		}
	}
	return NULL;
}

static size_t
read_tensor_name(struct reader *r, const cJSON *row, const char *key)
{
	size_t at = graph_find(&r->g->tensor_names, read_text(r, row, key));

	if (at == NOWHERE) {
		wrong(r, key, "must be the name of a tensor");
		return 0;
	}
	return at;
}

/* Reads an argument: {"read": t}, {"write": t}, {"update": t, "of": t},
 * {"scratch": at, "bytes": n} or {"param": at, "bytes": n}. */
static void
read_arg(struct reader *r, const cJSON *row, struct arg *a)
{
	a->of = NOWHERE;
	if (member(row, "read") != NULL) {
		a->tensor = read_tensor_name(r, row, "read");
	} else if (member(row, "write") != NULL) {
		a->tensor = read_tensor_name(r, row, "write");
		a->written = 1;
	} else if (member(row, "update") != NULL) {
		a->tensor = read_tensor_name(r, row, "update");
		a->of = read_tensor_name(r, row, "of");
		a->written = 1;
	} else if (member(row, "scratch") != NULL) {
		a->kind = ARG_SCRATCH;
		a->offset = read_bytes(r, row, "scratch");
		a->bytes = read_bytes(r, row, "bytes");
		a->written = 1;
	} else if (member(row, "param") != NULL) {
		a->kind = ARG_PARAM;
		a->offset = read_bytes(r, row, "param");
		a->bytes = read_bytes(r, row, "bytes");
	} else {
		wrong(r, "args",
		      "must have read, write, update, scratch or param "
		      "in each object");
	}
}

static void
read_args(struct reader *r, const cJSON *row, struct node *n)
{
	const cJSON *list = member(row, "args");
	const cJSON *item;
	size_t i = 0;

	n->args = room(r, n->kernel->n_args + 1, sizeof *n->args);
	n->pointers = room(r, n->kernel->n_args + 1, sizeof *n->pointers);
	if (!cJSON_IsArray(list) ||
	    (size_t)cJSON_GetArraySize(list) != n->kernel->n_args) {
		wrong(r, "args",
		      "must have as many objects as the kernel has "
		      "arguments");
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsObject(item)) {
			wrong(r, "args", "must be a list of objects");
		}
		if (r->status != TIRC_GRAPH_OK) {
			return;
		}
		read_arg(r, item, &n->args[i++]);
	}
}

static void
read_nodes(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *row = read_rows(r, all, "nodes", &g->n_nodes);

	g->nodes = room(r, g->n_nodes + 1, sizeof *g->nodes);
	g->node_names.list = room(r, g->n_nodes + 1,
				  sizeof *g->node_names.list);
	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct node *n = &g->nodes[++r->row];
		const char *kernel = read_text(r, row, "kernel");

		n->name = read_text(r, row, "name");
		n->kernel = find_kernel(g->config.kernels, kernel);
		if (n->kernel == NULL) {
			r->status = graph_fail(
				g, TIRC_GRAPH_BAD_KERNELS,
				"nodes[%d]: there is no kernel '%.60s'", r->row,
				kernel);
			return;
		}
		n->function = n->kernel->function;
		n->context = g->config.context;
		read_args(r, row, n);
		add_name(&g->node_names, n->name, (size_t)r->row);
	}
}

/* Has a tensor no elements, whatever the symbolic sizes? */
static int
is_empty(const cJSON *tensor)
{
	const cJSON *extent;

	cJSON_ArrayForEach(extent, member(tensor, "shape"))
	{
		if (cJSON_IsNumber(extent) && extent->valuedouble == 0) {
			return 1;
		}
	}
	return 0;
}

/* Finds, for each tensor, the last node that writes it. */
static void
read_writers(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	size_t n;
	const cJSON *row = read_rows(r, all, "tensors", &n);

	for (; row != NULL && r->status == TIRC_GRAPH_OK; row = row->next) {
		struct tensor *t = &g->tensors[++r->row];
		const cJSON *list = member(row, "from");
		const cJSON *item;

		if (!cJSON_IsArray(list)) {
			wrong(r, "from", "must be a list");
		}
		cJSON_ArrayForEach(item, list)
		{
			size_t at = cJSON_IsString(item)
					    ? graph_find(&g->node_names,
							 item->valuestring)
					    : NOWHERE;

			if (at == NOWHERE) {
				wrong(r, "from", "must have names of nodes");
			} else if (at + 1 > t->ready) {
				t->ready = at + 1;
				t->node = g->nodes[at].name;
			}
		}
		if (t->ready == 0 && t->at != AT_INPUT && !is_empty(row)) {
			wrong(r, "from",
			      "is empty, but the tensor is no input");
		}
	}
}

/* -- the whole graph -- */

/* Reads the sizes and alignments of the workspace and of the parameters, and
 * the digest of the parameters, which may be absent, from the JSON `all`. */
static void
read_memory(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *workspace = member(all, "workspace");
	const cJSON *params = member(all, "params");
	const char *digest;

	r->list = "workspace";
	g->workspace_bytes = read_bytes(r, workspace, "bytes");
	g->workspace_align = read_align(r, workspace, "align");
	if (params == NULL) {
		return;
	}
	g->params_bytes = read_bytes(r, params, "bytes");
	g->params_align = read_align(r, params, "align");
	digest = read_text(r, params, "digest");
	if (g->params_bytes < 64) {
		wrong(r, "bytes", "of params must be 64 at least");
	}
	if (strlen(digest) != 16 || strspn(digest, "0123456789abcdef") != 16) {
		wrong(r, "digest", "must be 16 hexadecimal digits");
		return;
	}
	for (; *digest != '\0'; digest++) {
		g->params_digest = g->params_digest << 4 |
				   (uint64_t)(*digest <= '9'
						      ? *digest - '0'
						      : *digest - 'a' + 10);
	}
}

static void
sort_names(struct reader *r, struct names *names, const char *what)
{
	const char *twice = NULL;

	if (r->status == TIRC_GRAPH_OK) {
		graph_sort_names(names, &twice);
	}
	if (twice != NULL) {
		r->status = graph_fail(r->g, TIRC_GRAPH_BAD_JSON,
				       "there are two %s '%.60s'", what, twice);
	}
}

static void
read_all(struct reader *r, const cJSON *all)
{
	struct tirc_graph *g = r->g;
	const cJSON *format = member(all, "format");

	if (!cJSON_IsString(format) ||
	    strcmp(format->valuestring, FORMAT) != 0) {
		wrong(r, "format", "must be \"" FORMAT "\"");
		return;
	}
	g->version = read_text(r, all, "version");
	read_memory(r, all);
	read_sizes(r, all);
	g->inputs = read_ios(r, all, "inputs", &g->n_inputs);
	g->outputs = read_ios(r, all, "outputs", &g->n_outputs);
	if (r->status != TIRC_GRAPH_OK) {
		return;
	}
	read_tensors(r, all);
	sort_names(r, &g->tensor_names, "tensors");
	if (r->status != TIRC_GRAPH_OK) {
		return;
	}
	read_io_tensors(r, all, "inputs", g->inputs, AT_INPUT);
	read_io_tensors(r, all, "outputs", g->outputs, AT_OUTPUT);
	read_nodes(r, all);
	sort_names(r, &g->node_names, "nodes");
	if (r->status != TIRC_GRAPH_OK) {
		return;
	}
	read_writers(r, all);
	read_model_names(r, all);
	sort_names(r, &g->model_names, "tensors with the model's name");
}

enum tirc_graph_status
graph_read(struct tirc_graph *g, const char *text, size_t bytes)
{
	struct reader r = { NULL, "", -1, TIRC_GRAPH_OK };
	const char *end = NULL;
	cJSON *all = cJSON_ParseWithLengthOpts(text, bytes, &end, 0);

	r.g = g;
	while (all != NULL && end < text + bytes &&
	       (*end == ' ' || *end == '\n' || *end == '\t' || *end == '\r' ||
		*end == '\0')) {
		end++;
	}
	if (all == NULL || end < text + bytes || !cJSON_IsObject(all)) {
		cJSON_Delete(all);
		return graph_fail(g, TIRC_GRAPH_BAD_JSON,
				  "the text is not a JSON object");
	}
	read_all(&r, all);
	cJSON_Delete(all);
	return r.status;
}
