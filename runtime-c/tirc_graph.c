/* SPDX-License-Identifier: MIT-0 */
/* Runs a graph: its memory, its inputs and outputs, its nodes one after the
 * other, and functions that replace kernels. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_graph_parts.h"

/* Offsets in the header of a file of weights, in bytes; the values follow
 * it. */
#define PARAMS_ORDER 16
#define PARAMS_DIGEST 32
#define PARAMS_VALUES 64

/* -- memory, names, messages -- */

void *
graph_new(struct tirc_graph *g, size_t n, size_t size)
{
	/* the struct's size as a multiple of 16, so that what follows is
	 * aligned for any type */
	const size_t before = (sizeof(struct piece) + 15) / 16 * 16;
	struct piece *p;

	if (n == 0 || size == 0) {
		n = size = 1;
	}
	p = n > (SIZE_MAX - before) / size ? NULL
					   : calloc(1, before + n * size);
	if (p == NULL) {
		graph_fail(g, TIRC_GRAPH_NO_MEMORY, "no memory");
		return NULL;
	}
	p->next = g->pieces;
	g->pieces = p;
	return (char *)p + before;
}

enum tirc_graph_status
graph_fail(struct tirc_graph *g, enum tirc_graph_status status,
	   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(g->message, sizeof g->message, format, args);
	va_end(args);
	/* replaces control characters, which names in the JSON may have */
	for (char *p = g->message; *p != '\0'; p++) {
		if (*p < ' ' || *p > '~') {
			*p = '?';
		}
	}
	return status;
}

static int
by_text(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

void
graph_sort_names(struct names *names, const char **twice)
{
	if (names->n > 1) {
		qsort(names->list, names->n, sizeof *names->list, by_text);
	}
	for (size_t i = 1; i < names->n; i++) {
		if (by_text(&names->list[i - 1], &names->list[i]) == 0) {
			*twice = names->list[i].text;
		}
	}
}

size_t
graph_find(const struct names *names, const char *text)
{
	struct name key = { NULL, 0 };
	const struct name *found = NULL;

	key.text = text;
	if (names->n > 0) {
		found = bsearch(&key, names->list, names->n,
				sizeof *names->list, by_text);
	}
	return found != NULL ? found->at : NOWHERE;
}

/* -- creation -- */

static uint64_t
params_digest(const unsigned char *params, size_t bytes)
{
	uint64_t digest = UINT64_C(0x7469726362696e);
	size_t at = PARAMS_VALUES;

	while (at < bytes) {
		const size_t left = bytes - at;
		uint64_t word = 0;

		memcpy(&word, params + at, left < 8 ? left : 8);
		digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		digest ^= digest >> 32;
		at += 8;
	}
	return digest;
}

static enum tirc_graph_status
check_align(struct tirc_graph *g, const char *what, const void *p, size_t align)
{
	if ((uintptr_t)p % align != 0) {
		return graph_fail(g, TIRC_GRAPH_MISALIGNED,
				  "the %s must be aligned to %lu bytes", what,
				  (unsigned long)align);
	}
	return TIRC_GRAPH_OK;
}

static enum tirc_graph_status
take_params(struct tirc_graph *g)
{
	const struct tirc_graph_config *c = &g->config;
	enum tirc_graph_status status;
	uint32_t order;
	uint64_t digest;

	if (g->params_bytes == 0) {
		return TIRC_GRAPH_OK;
	}
	if (c->params == NULL) {
		return graph_fail(g, TIRC_GRAPH_NULL,
				  "the graph needs its file of weights");
	}
	if (c->params_bytes != g->params_bytes) {
		return graph_fail(g, TIRC_GRAPH_BAD_PARAMS,
				  "the weights are %.0f bytes, not %.0f",
				  (double)c->params_bytes,
				  (double)g->params_bytes);
	}
	g->params = c->params;
	status = check_align(g, "weights", g->params, g->params_align);
	if (status != TIRC_GRAPH_OK) {
		return status;
	}
	memcpy(&order, g->params + PARAMS_ORDER, sizeof order);
	memcpy(&digest, g->params + PARAMS_DIGEST, sizeof digest);
	if (order != 0x01020304u || digest != g->params_digest ||
	    (!c->trust_params &&
	     params_digest(g->params, g->params_bytes) != digest)) {
		return graph_fail(g, TIRC_GRAPH_BAD_PARAMS,
				  "the weights belong to another graph or have "
				  "been changed");
	}
	return TIRC_GRAPH_OK;
}

static enum tirc_graph_status
take_workspace(struct tirc_graph *g)
{
	const struct tirc_graph_config *c = &g->config;
	const size_t align = g->workspace_align;

	if (c->workspace == NULL) {
		unsigned char *p = graph_new(g, g->workspace_bytes + align, 1);

		if (p == NULL) {
			return TIRC_GRAPH_NO_MEMORY;
		}
		g->workspace = p + (align - (uintptr_t)p % align);
		return TIRC_GRAPH_OK;
	}
	if (c->workspace_bytes < g->workspace_bytes) {
		return graph_fail(g, TIRC_GRAPH_SMALL_WORKSPACE,
				  "the workspace must have %.0f bytes",
				  (double)g->workspace_bytes);
	}
	g->workspace = c->workspace;
	return check_align(g, "workspace", c->workspace, align);
}

static enum tirc_graph_status
make_state(struct tirc_graph *g)
{
	const struct tirc_kernel_state *s = g->config.kernels->state;
	int status = 0;

	if (s == NULL) {
		return TIRC_GRAPH_OK;
	}
	g->state = s->create(g->params, &status);
	if (g->state != NULL) {
		return TIRC_GRAPH_OK;
	}
	if (status == 0) {
		return graph_fail(g, TIRC_GRAPH_NO_MEMORY,
				  "no memory for the state of the kernels");
	}
	return graph_fail(g, TIRC_GRAPH_LIBRARY,
			  "a library cannot prepare the kernels; its status "
			  "is %d",
			  status);
}

static void
say(const struct tirc_graph_config *c, const char *text)
{
	if (c->message != NULL && c->message_bytes > 0) {
		snprintf(c->message, c->message_bytes, "%s", text);
	}
}

enum tirc_graph_status
tirc_graph_create(struct tirc_graph **out,
		  const struct tirc_graph_config *config)
{
	struct tirc_graph *g;
	enum tirc_graph_status status;

	if (out != NULL) {
		*out = NULL;
	}
	if (out == NULL || config == NULL) {
		return TIRC_GRAPH_NULL;
	}
	if (config->json == NULL || config->kernels == NULL) {
		say(config, "a graph needs its JSON and its kernels");
		return TIRC_GRAPH_NULL;
	}
	g = calloc(1, sizeof *g);
	if (g == NULL) {
		say(config, "no memory");
		return TIRC_GRAPH_NO_MEMORY;
	}
	g->config = *config;
	status = graph_read(g, config->json, config->json_bytes);
	if (status == TIRC_GRAPH_OK) {
		status = graph_check(g);
	}
	if (status == TIRC_GRAPH_OK) {
		status = take_params(g);
	}
	if (status == TIRC_GRAPH_OK) {
		status = take_workspace(g);
	}
	if (status == TIRC_GRAPH_OK) {
		status = make_state(g);
	}
	if (status != TIRC_GRAPH_OK) {
		say(config, g->message);
		tirc_graph_destroy(g);
		return status;
	}
	g->config.json = NULL;
	g->config.message = NULL;
	*out = g;
	return TIRC_GRAPH_OK;
}

void
tirc_graph_destroy(struct tirc_graph *g)
{
	struct piece *p = g != NULL ? g->pieces : NULL;

	if (g != NULL && g->state != NULL) {
		g->config.kernels->state->destroy(g->state);
	}
	while (p != NULL) {
		struct piece *next = p->next;

		free(p);
		p = next;
	}
	free(g);
}

const char *
tirc_graph_message(const struct tirc_graph *g)
{
	return g != NULL ? g->message : "there is no graph";
}

/* -- inputs and outputs -- */

enum tirc_graph_status
graph_unknown(struct tirc_graph *g, const char *what, const char *name)
{
	return graph_fail(g, TIRC_GRAPH_UNKNOWN, "there is no %s '%.60s'", what,
			  name);
}

size_t
graph_find_size(const struct tirc_graph *g, const char *name)
{
	for (size_t i = 0; i < g->n_sizes; i++) {
		if (strcmp(g->sizes[i].name, name) == 0) {
			return i;
		}
	}
	return NOWHERE;
}

size_t
graph_find_io(const struct io *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0) {
			return i;
		}
	}
	return NOWHERE;
}

static enum tirc_graph_status
check_data(struct tirc_graph *g, const struct io *io, const void *data)
{
	if ((uintptr_t)data % g->tensors[io->tensor].element_bytes != 0) {
		return graph_fail(g, TIRC_GRAPH_MISALIGNED,
				  "'%.60s' is not aligned for %s", io->name,
				  g->tensors[io->tensor].dtype);
	}
	return TIRC_GRAPH_OK;
}

/* Discards the results of an earlier run. */
static enum tirc_graph_status
start_over(struct tirc_graph *g)
{
	if (g->is_running) {
		return graph_fail(g, TIRC_GRAPH_BUSY,
				  "the call is not allowed while a node is "
				  "being watched");
	}
	g->done = 0;
	return TIRC_GRAPH_OK;
}

enum tirc_graph_status
tirc_graph_set_size(struct tirc_graph *g, const char *name, int64_t value)
{
	char message[MESSAGE_BYTES];
	enum tirc_graph_status status;
	const struct size *s;
	int64_t before;
	size_t i;

	if (g == NULL || name == NULL) {
		return TIRC_GRAPH_NULL;
	}
	i = graph_find_size(g, name);
	if (i == NOWHERE) {
		return graph_unknown(g, "size", name);
	}
	s = &g->sizes[i];
	if (value < s->min || value > s->max) {
		return graph_fail(g, TIRC_GRAPH_BAD_SIZE,
				  "%.60s must be from %.0f to %.0f", name,
				  (double)s->min, (double)s->max);
	}
	status = start_over(g);
	if (status != TIRC_GRAPH_OK) {
		return status;
	}
	for (size_t k = 0; k < g->n_inputs; k++) {
		g->inputs[k].is_own = 0;
	}
	before = g->values[i];
	g->values[i] = value;
	status = graph_measure(g);
	if (status != TIRC_GRAPH_OK) {
		memcpy(message, g->message, sizeof message);
		g->values[i] = before;
		graph_measure(g);
		memcpy(g->message, message, sizeof message);
	}
	return status;
}

/* Sets *out to the input or output in `list` to which the caller assigns
 * memory, checks the pointer, and discards the results of an earlier run. */
static enum tirc_graph_status
take_data(struct tirc_graph *g, struct io *list, size_t n, const char *what,
	  const char *name, const void *data, struct io **out)
{
	const size_t at = graph_find_io(list, n, name);
	enum tirc_graph_status status;

	if (at == NOWHERE) {
		return graph_unknown(g, what, name);
	}
	*out = &list[at];
	status = check_data(g, *out, data);
	return status != TIRC_GRAPH_OK ? status : start_over(g);
}

enum tirc_graph_status
tirc_graph_set_input(struct tirc_graph *g, const char *name, const void *data,
		     size_t bytes)
{
	struct io *io;
	enum tirc_graph_status status;

	if (g == NULL || name == NULL || data == NULL) {
		return TIRC_GRAPH_NULL;
	}
	status = take_data(g, g->inputs, g->n_inputs, "input", name, data, &io);
	if (status == TIRC_GRAPH_OK) {
		io->in = data;
		io->is_own = 0;
		io->bytes = bytes;
	}
	return status;
}

enum tirc_graph_status
tirc_graph_set_output(struct tirc_graph *g, const char *name, void *data,
		      size_t bytes)
{
	struct io *io;
	enum tirc_graph_status status;

	if (g == NULL || name == NULL) {
		return TIRC_GRAPH_NULL;
	}
	status = take_data(g, g->outputs, g->n_outputs, "output", name, data,
			   &io);
	if (status == TIRC_GRAPH_OK) {
		io->out = data;
		io->bytes = bytes;
	}
	return status;
}

/* -- running -- */

/* The node named `name`; NULL, with a message, if the graph has none. */
static struct node *
find_node(struct tirc_graph *g, const char *name)
{
	const size_t at = graph_find(&g->node_names, name);

	if (at == NOWHERE) {
		graph_unknown(g, "node", name);
		return NULL;
	}
	return &g->nodes[at];
}

enum tirc_graph_status
graph_bad_bytes(struct tirc_graph *g, const char *name, size_t bytes,
		size_t wanted)
{
	return graph_fail(g, TIRC_GRAPH_BAD_SIZE,
			  "'%.60s' has %.0f bytes, not %.0f", name,
			  (double)wanted, (double)bytes);
}

/* The pointer without const, because a kernel has a single list of pointers,
 * for the arrays that it writes and for those that it only reads. */
static unsigned char *
as_argument(const void *only_read)
{
	union {
		const void *from;
		unsigned char *to;
	} pointer;

	pointer.from = only_read;
	return pointer.to;
}

unsigned char *
graph_address(const struct tirc_graph *g, enum storage at, size_t io)
{
	switch (at) {
	case AT_INPUT:
		/* an input is not written: graph_check refuses kernels that
		 * write one */
		return g->inputs[io].is_own ? g->inputs[io].own
					    : as_argument(g->inputs[io].in);
	case AT_OUTPUT:
		return g->outputs[io].is_own ? g->outputs[io].own
					     : g->outputs[io].out;
	default:
		return g->workspace;
	}
}

static void
aim_node(const struct tirc_graph *g, struct node *n)
{
	for (size_t i = 0; i < n->kernel->n_args; i++) {
		const struct arg *a = &n->args[i];
		unsigned char *p;

		if (a->kind == ARG_TENSOR) {
			const struct tensor *t = &g->tensors[a->tensor];

			p = graph_address(g, t->at, t->io) + t->offset;
		} else if (a->kind == ARG_SCRATCH) {
			p = g->workspace + a->offset;
		} else {
			p = as_argument(g->params + a->offset);
		}
		n->pointers[i] = p;
	}
	n->pointers[n->kernel->n_args] = g->state;
}

/* Sets the memory of an input or output for a run, which must have as many
 * bytes as the kernels may access: the caller's, or the graph's own if the
 * caller has set none, or less because a symbolic size is below its maximum. */
static enum tirc_graph_status
choose_memory(struct tirc_graph *g, struct io *io)
{
	const struct tensor *t = &g->tensors[io->tensor];
	const int is_set = io->in != NULL || io->out != NULL;

	if (is_set && io->bytes != t->bytes) {
		return graph_bad_bytes(g, io->name, io->bytes, t->bytes);
	}
	io->is_own = !is_set || t->bytes < t->capacity;
	if (io->is_own && io->own == NULL) {
		io->own = graph_new(g, t->capacity, 1);
		if (io->own == NULL) {
			return TIRC_GRAPH_NO_MEMORY;
		}
	}
	return TIRC_GRAPH_OK;
}

/* Checks that the symbolic sizes fit together and that all inputs are set, and
 * sets the pointers of the nodes. */
static enum tirc_graph_status
begin(struct tirc_graph *g)
{
	const struct tirc_kernels *kernels = g->config.kernels;
	enum tirc_graph_status status = TIRC_GRAPH_OK;

	if (kernels->fit != NULL && !kernels->fit(g->values)) {
		return graph_fail(g, TIRC_GRAPH_BAD_SIZE,
				  "the symbolic sizes do not fit together: an "
				  "operator requires other ones");
	}
	for (size_t i = 0; i < g->n_inputs && !status; i++) {
		struct io *io = &g->inputs[i];

		if (io->in == NULL) {
			return graph_fail(g, TIRC_GRAPH_UNSET,
					  "input '%.60s' has not been set",
					  io->name);
		}
		status = choose_memory(g, io);
		if (!status && io->is_own) {
			memcpy(io->own, io->in, io->bytes);
		}
	}
	for (size_t i = 0; i < g->n_outputs && !status; i++) {
		status = choose_memory(g, &g->outputs[i]);
	}
	if (status != TIRC_GRAPH_OK) {
		return status;
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		aim_node(g, &g->nodes[i]);
	}
	return TIRC_GRAPH_OK;
}

/* Copies outputs that the kernels wrote to the graph's own memory. */
static void
finish(struct tirc_graph *g)
{
	for (size_t i = 0; i < g->n_outputs; i++) {
		const struct io *io = &g->outputs[i];

		if (io->is_own && io->out != NULL) {
			memcpy(io->out, io->own, io->bytes);
		}
	}
}

/* Asks the kernels' state (struct tirc_kernel_state) for the status of the node
 * that has just run. */
static enum tirc_graph_status
ask_library(struct tirc_graph *g, const struct node *n)
{
	const int status = g->state != NULL
				   ? g->config.kernels->state->status(g->state)
				   : 0;

	return status == 0 ? TIRC_GRAPH_OK
			   : graph_fail(g, TIRC_GRAPH_LIBRARY,
					"node '%.60s': a call of its library "
					"failed with status %d",
					n->name, status);
}

static enum tirc_graph_status
run(struct tirc_graph *g, size_t end)
{
	enum tirc_graph_status status;

	if (g->is_running) {
		return start_over(g);
	}
	if (g->done == 0) {
		status = begin(g);
		if (status != TIRC_GRAPH_OK) {
			return status;
		}
	}
	while (g->done < end) {
		const struct node *n = &g->nodes[g->done];

		n->function(n->pointers, g->values, n->context);
		status = ask_library(g, n);
		if (status != TIRC_GRAPH_OK) {
			return status;
		}
		g->done++;
		if (g->after != NULL) {
			g->is_running = 1;
			g->after(g->after_arg, g, n->name);
			g->is_running = 0;
		}
	}
	if (end == g->n_nodes) {
		finish(g);
	}
	return TIRC_GRAPH_OK;
}

enum tirc_graph_status
tirc_graph_run(struct tirc_graph *g)
{
	const enum tirc_graph_status status = tirc_graph_restart(g);

	return status != TIRC_GRAPH_OK ? status : run(g, g->n_nodes);
}

enum tirc_graph_status
tirc_graph_restart(struct tirc_graph *g)
{
	return g != NULL ? start_over(g) : TIRC_GRAPH_NULL;
}

enum tirc_graph_status
tirc_graph_run_to(struct tirc_graph *g, const char *node)
{
	const struct node *n;
	size_t end;

	if (g == NULL || node == NULL) {
		return TIRC_GRAPH_NULL;
	}
	n = find_node(g, node);
	if (n == NULL) {
		return TIRC_GRAPH_UNKNOWN;
	}
	end = (size_t)(n - g->nodes) + 1;
	if (g->done > end && !g->is_running) {
		g->done = 0;
	}
	return run(g, end);
}

enum tirc_graph_status
tirc_graph_continue(struct tirc_graph *g)
{
	return g != NULL ? run(g, g->n_nodes) : TIRC_GRAPH_NULL;
}

size_t
tirc_graph_done(const struct tirc_graph *g)
{
	return g != NULL ? g->done : 0;
}

enum tirc_graph_status
tirc_graph_get_output(struct tirc_graph *g, const char *name, void *to,
		      size_t bytes)
{
	const struct io *io;
	size_t at;

	if (g == NULL || name == NULL || to == NULL) {
		return TIRC_GRAPH_NULL;
	}
	at = graph_find_io(g->outputs, g->n_outputs, name);
	if (at == NOWHERE) {
		return graph_unknown(g, "output", name);
	}
	io = &g->outputs[at];
	return tirc_graph_copy(g, g->tensors[io->tensor].name, to, bytes);
}

/* -- functions that replace kernels -- */

enum tirc_graph_status
tirc_graph_get_kernel(struct tirc_graph *g, const char *node,
		      struct tirc_kernel *out)
{
	const struct node *n;

	if (g == NULL || node == NULL || out == NULL) {
		return TIRC_GRAPH_NULL;
	}
	n = find_node(g, node);
	if (n == NULL) {
		return TIRC_GRAPH_UNKNOWN;
	}
	*out = *n->kernel;
	out->function = n->function;
	return TIRC_GRAPH_OK;
}

enum tirc_graph_status
tirc_graph_set_kernel(struct tirc_graph *g, const char *node,
		      tirc_kernel_function *function, const void *context)
{
	struct node *n;

	if (g == NULL || node == NULL) {
		return TIRC_GRAPH_NULL;
	}
	n = find_node(g, node);
	if (n == NULL) {
		return TIRC_GRAPH_UNKNOWN;
	}
	n->function = function != NULL ? function : n->kernel->function;
	n->context = function != NULL ? context : g->config.context;
	return TIRC_GRAPH_OK;
}
