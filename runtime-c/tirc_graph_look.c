/* SPDX-License-Identifier: MIT-0 */
/* Access to the tensors of a graph between nodes, in their layout in memory or
 * dense. */
#include <stdlib.h>
#include <string.h>

#include "tirc_graph_parts.h"

/* The tensor that has this name in the graph, or, if none has, the tensor that
 * has it in the model. NULL, with a message, if there is neither. */
static struct tensor *
find_tensor(struct tirc_graph *g, const char *name)
{
	size_t at = graph_find(&g->tensor_names, name);

	if (at == NOWHERE) {
		at = graph_find(&g->model_names, name);
	}
	if (at == NOWHERE) {
		graph_unknown(g, "tensor", name);
		return NULL;
	}
	return &g->tensors[at];
}

static const unsigned char *
data_of(const struct tirc_graph *g, const struct tensor *t)
{
	const unsigned char *p = graph_address(g, t->at, t->io);
	const struct io *io = t->at == AT_INPUT ? &g->inputs[t->io] : NULL;

	/* also NULL for an input that is smaller than its maximum, until a run
	 * has copied it */
	if (p == NULL || t->ready > g->done ||
	    (io != NULL && !io->is_own &&
	     io->bytes != g->tensors[io->tensor].capacity) ||
	    graph_writer(g, t, t->ready, g->done) != NOWHERE) {
		return NULL;
	}
	return p + t->offset;
}

enum tirc_graph_status
tirc_graph_tensor_at(struct tirc_graph *g, size_t i,
		     struct tirc_graph_tensor *out)
{
	const struct tensor *t;

	if (g == NULL || out == NULL) {
		return TIRC_GRAPH_NULL;
	}
	if (i >= g->n_tensors) {
		return graph_fail(g, TIRC_GRAPH_UNKNOWN,
				  "the graph has only %lu tensors",
				  (unsigned long)g->n_tensors);
	}
	t = &g->tensors[i];
	out->name = t->name;
	out->model_name = t->model_name;
	out->dtype = t->dtype;
	out->node = t->node;
	out->ndim = t->ndim;
	out->shape = t->shape;
	out->bytes = t->bytes;
	out->data = data_of(g, t);
	out->is_dense = t->axis == NOWHERE && t->before == NULL;
	return TIRC_GRAPH_OK;
}

enum tirc_graph_status
tirc_graph_tensor(struct tirc_graph *g, const char *name,
		  struct tirc_graph_tensor *out)
{
	const struct tensor *t;

	if (g == NULL || name == NULL || out == NULL) {
		return TIRC_GRAPH_NULL;
	}
	t = find_tensor(g, name);
	if (t == NULL) {
		return TIRC_GRAPH_UNKNOWN;
	}
	return tirc_graph_tensor_at(g, (size_t)(t - g->tensors), out);
}

size_t
tirc_graph_tensor_count(const struct tirc_graph *g)
{
	return g != NULL ? g->n_tensors : 0;
}

size_t
tirc_graph_input_count(const struct tirc_graph *g)
{
	return g != NULL ? g->n_inputs : 0;
}

size_t
tirc_graph_output_count(const struct tirc_graph *g)
{
	return g != NULL ? g->n_outputs : 0;
}

static enum tirc_graph_status
io_at(struct tirc_graph *g, const struct io *list, size_t n, size_t i,
      const char **name, struct tirc_graph_tensor *out)
{
	if (name == NULL) {
		return TIRC_GRAPH_NULL;
	}
	if (i >= n) {
		return graph_fail(g, TIRC_GRAPH_UNKNOWN,
				  "the graph has only %lu %s", (unsigned long)n,
				  list == g->inputs ? "inputs" : "outputs");
	}
	*name = list[i].name;
	return tirc_graph_tensor_at(g, list[i].tensor, out);
}

enum tirc_graph_status
tirc_graph_input_at(struct tirc_graph *g, size_t i, const char **name,
		    struct tirc_graph_tensor *out)
{
	return g != NULL ? io_at(g, g->inputs, g->n_inputs, i, name, out)
			 : TIRC_GRAPH_NULL;
}

enum tirc_graph_status
tirc_graph_output_at(struct tirc_graph *g, size_t i, const char **name,
		     struct tirc_graph_tensor *out)
{
	return g != NULL ? io_at(g, g->outputs, g->n_outputs, i, name, out)
			 : TIRC_GRAPH_NULL;
}

/* The position of an element in memory, counted in elements. */
static size_t
element_at(const struct tensor *t, const int64_t *index)
{
	int64_t at = 0, inner = 0;

	for (size_t d = 0; d < t->ndim; d++) {
		const int64_t before = t->before != NULL ? t->before[d] : 0;
		const int64_t after = t->before != NULL ? t->after[d] : 0;
		int64_t extent = before + t->shape[d] + after;
		int64_t i = before + index[d];

		if (d == t->axis) {
			extent = (extent + t->block - 1) / t->block;
			inner = i % t->block;
			i /= t->block;
		}
		at = at * extent + i;
	}
	return (size_t)(t->axis != NOWHERE ? at * t->block + inner : at);
}

/* Moves index to the next element in row-major order. */
static void
next_index(const struct tensor *t, int64_t *index)
{
	for (size_t d = t->ndim; d-- > 0;) {
		if (++index[d] < t->shape[d]) {
			return;
		}
		index[d] = 0;
	}
}

static void
unfold(const struct tensor *t, const unsigned char *from, unsigned char *to,
       int64_t *index)
{
	memset(index, 0, (t->ndim + 1) * sizeof *index);
	for (size_t at = 0; at < t->bytes; at += t->element_bytes) {
		memcpy(to + at, from + element_at(t, index) * t->element_bytes,
		       t->element_bytes);
		next_index(t, index);
	}
}

enum tirc_graph_status
tirc_graph_copy(struct tirc_graph *g, const char *tensor, void *to,
		size_t bytes)
{
	const struct tensor *t;
	const unsigned char *from;
	int64_t *index;

	if (g == NULL || tensor == NULL || to == NULL) {
		return TIRC_GRAPH_NULL;
	}
	t = find_tensor(g, tensor);
	if (t == NULL) {
		return TIRC_GRAPH_UNKNOWN;
	}
	if (bytes != t->bytes) {
		return graph_bad_bytes(g, tensor, bytes, t->bytes);
	}
	from = data_of(g, t);
	if (from == NULL) {
		return graph_fail(
			g, TIRC_GRAPH_NOT_THERE,
			"tensor '%.60s' is not available: %s%.60s", tensor,
			t->ready > g->done ? "it is not computed yet; run to "
			: t->node != NULL
				? "it is overwritten; run to or watch "
				: "its input is not set",
			t->node != NULL ? t->node : "");
	}
	if (t->axis == NOWHERE && t->before == NULL) {
		memcpy(to, from, bytes);
		return TIRC_GRAPH_OK;
	}
	index = malloc((t->ndim + 1) * sizeof *index);
	if (index == NULL) {
		return graph_fail(g, TIRC_GRAPH_NO_MEMORY, "no memory");
	}
	unfold(t, from, to, index);
	free(index);
	return TIRC_GRAPH_OK;
}

size_t
tirc_graph_node_count(const struct tirc_graph *g)
{
	return g != NULL ? g->n_nodes : 0;
}

const char *
tirc_graph_node_name(const struct tirc_graph *g, size_t i)
{
	return g != NULL && i < g->n_nodes ? g->nodes[i].name : NULL;
}

enum tirc_graph_status
tirc_graph_watch(struct tirc_graph *g,
		 void (*after)(void *arg, struct tirc_graph *g,
			       const char *node),
		 void *arg)
{
	if (g == NULL) {
		return TIRC_GRAPH_NULL;
	}
	g->after = after;
	g->after_arg = arg;
	return TIRC_GRAPH_OK;
}
