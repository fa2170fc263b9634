/* SPDX-License-Identifier: MIT-0 */
/* Checks that the parts of a graph fit together: every tensor is within its
 * memory, each argument has at least as many bytes as the kernel accesses by
 * the table of kernels, and each tensor that a node reads has been written
 * before that node and not been overwritten since. */
#include <string.h>

#include "tirc_graph_parts.h"

/* -- shapes -- */

static int
add(int64_t a, int64_t b, int64_t *out)
{
	if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) {
		return 0;
	}
	*out = a + b;
	return 1;
}

static int
multiply(int64_t a, int64_t b, int64_t *out)
{
	const int64_t most = INT64_C(1) << 31;

	if (a > most || a < -most || b > most || b < -most) {
		return 0;
	}
	*out = a * b;
	return 1;
}

/* Sets *out to the result of the operator `kind` on a and b; returns 0 on
 * overflow and on division by 0, else 1. */
static int
apply(enum term_kind kind, int64_t a, int64_t b, int64_t *out)
{
	int64_t rest;

	switch (kind) {
	case TERM_ADD:
		return add(a, b, out);
	case TERM_SUB:
		return b != INT64_MIN && add(a, -b, out);
	case TERM_MUL:
		return multiply(a, b, out);
	case TERM_MIN:
		*out = a < b ? a : b;
		return 1;
	case TERM_MAX:
		*out = a > b ? a : b;
		return 1;
	default:
		break;
	}
	if (b == 0 || (b == -1 && a == INT64_MIN)) {
		return 0;
	}
	rest = a % b;
	if (kind == TERM_DIV) {
		*out = a / b;
	} else if (kind == TERM_FLOORDIV) {
		*out = a / b - (rest != 0 && (rest < 0) != (b < 0));
	} else {
		*out = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
	}
	return 1;
}

static int
measure_dim(const struct tirc_graph *g, const struct dim *d, int64_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct term *t = &d->terms[i];

		if (t->kind == TERM_NUMBER) {
			g->stack[n++] = t->value;
		} else if (t->kind == TERM_SIZE) {
			g->stack[n++] = g->values[t->value];
		} else {
			n--;
			if (!apply(t->kind, g->stack[n - 1], g->stack[n],
				   &g->stack[n - 1])) {
				return 0;
			}
		}
	}
	*out = g->stack[0];
	return *out >= 0 && *out <= INT64_C(1) << 40;
}

/* Multiplies *n, a number of bytes, by `by`; false on overflow. */
static int
grow(size_t *n, int64_t by)
{
	if ((uint64_t)by > SIZE_MAX / 8 ||
	    (by > 0 && *n > SIZE_MAX / 8 / (size_t)by)) {
		return 0;
	}
	*n *= (size_t)by;
	return 1;
}

static int
measure(const struct tirc_graph *g, struct tensor *t)
{
	size_t stored = t->element_bytes;

	t->bytes = t->element_bytes;
	for (size_t d = 0; d < t->ndim; d++) {
		int64_t extent;

		if (!measure_dim(g, &t->dims[d], &extent) ||
		    !grow(&t->bytes, extent)) {
			return 0;
		}
		t->shape[d] = extent;
		if (t->before != NULL) {
			extent += t->before[d] + t->after[d];
		}
		if (d == t->axis) {
			extent = (extent + t->block - 1) / t->block * t->block;
		}
		if (!grow(&stored, extent)) {
			return 0;
		}
	}
	return stored <= t->capacity && t->bytes <= t->capacity;
}

enum tirc_graph_status
graph_measure(struct tirc_graph *g)
{
	for (size_t i = 0; i < g->n_tensors; i++) {
		if (!measure(g, &g->tensors[i])) {
			return graph_fail(
				g, TIRC_GRAPH_BAD_SIZE,
				"tensor '%.60s' has no valid shape with these "
				"sizes, or does not fit into its memory",
				g->tensors[i].name);
		}
	}
	return TIRC_GRAPH_OK;
}

/* -- memory -- */

struct place {
	enum storage at;
	size_t io, offset, bytes;
};

static struct place
place_of_tensor(const struct tensor *t)
{
	struct place p = { AT_WORKSPACE, 0, 0, 0 };

	p.at = t->at;
	p.io = t->io;
	p.offset = t->offset;
	p.bytes = t->capacity;
	return p;
}

static struct place
place_of(const struct tirc_graph *g, const struct arg *a)
{
	struct place p = { AT_WORKSPACE, 0, 0, 0 };

	if (a->kind == ARG_TENSOR) {
		return place_of_tensor(&g->tensors[a->tensor]);
	}
	p.offset = a->offset;
	p.bytes = a->bytes;
	return p;
}

static int
overlap(const struct place *a, const struct place *b)
{
	return a->at == b->at && a->io == b->io &&
	       a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

size_t
graph_writer(const struct tirc_graph *g, const struct tensor *t, size_t from,
	     size_t to)
{
	const struct place place = place_of_tensor(t);

	for (size_t i = from; i < to; i++) {
		const struct node *n = &g->nodes[i];

		for (size_t k = 0; k < n->kernel->n_args; k++) {
			const struct place other = place_of(g, &n->args[k]);

			if (n->args[k].written && overlap(&place, &other)) {
				return i;
			}
		}
	}
	return NOWHERE;
}

/* Sets *bytes and *align to the size and the alignment of the whole memory in
 * which the argument is: the parameters, the workspace, or the memory of an
 * input or output. */
static void
ground(const struct tirc_graph *g, const struct arg *a, size_t *bytes,
       size_t *align)
{
	const struct tensor *t = &g->tensors[a->tensor];

	if (a->kind == ARG_PARAM) {
		*bytes = g->params_bytes;
		*align = g->params_align;
	} else if (a->kind == ARG_SCRATCH || t->at == AT_WORKSPACE) {
		*bytes = g->workspace_bytes;
		*align = g->workspace_align;
	} else {
		const struct tensor *io =
			&g->tensors[t->at == AT_INPUT
					    ? g->inputs[t->io].tensor
					    : g->outputs[t->io].tensor];

		*bytes = io->capacity;
		*align = io->element_bytes;
	}
}

/* -- nodes -- */

static enum tirc_graph_status
bad_arg(struct tirc_graph *g, const struct node *n, size_t i,
	enum tirc_graph_status status, const char *problem)
{
	return graph_fail(g, status, "node '%.60s', argument '%.40s': %s",
			  n->name, n->kernel->args[i].name, problem);
}

static enum tirc_graph_status
check_arg(struct tirc_graph *g, const struct node *n, size_t i)
{
	const struct tirc_kernel_arg *wanted = &n->kernel->args[i];
	const struct arg *a = &n->args[i];
	const struct place p = place_of(g, a);
	size_t bytes, align;

	ground(g, a, &bytes, &align);
	if (p.offset > bytes || p.bytes > bytes - p.offset) {
		return bad_arg(g, n, i, TIRC_GRAPH_BAD_JSON,
			       "it is outside of its memory");
	}
	if (p.bytes < wanted->bytes) {
		return bad_arg(g, n, i, TIRC_GRAPH_BAD_KERNELS,
			       "the kernel accesses more bytes");
	}
	if (wanted->align > align || p.offset % wanted->align != 0) {
		return bad_arg(g, n, i, TIRC_GRAPH_BAD_KERNELS,
			       "the kernel needs a larger alignment");
	}
	if (!wanted->written != !a->written) {
		return bad_arg(g, n, i, TIRC_GRAPH_BAD_KERNELS,
			       wanted->written
				       ? "the kernel writes it"
				       : "the kernel does not write it");
	}
	if (a->written && p.at == AT_INPUT) {
		return bad_arg(g, n, i, TIRC_GRAPH_BAD_JSON,
			       "an input must not be written");
	}
	return TIRC_GRAPH_OK;
}

/* Checks that the whole tensor is written before node `at` runs, and that no
 * node overwrites a part of it in between. */
static enum tirc_graph_status
check_read(struct tirc_graph *g, size_t at, size_t arg, size_t tensor)
{
	const struct tensor *t = &g->tensors[tensor];

	if (t->ready > at) {
		return bad_arg(g, &g->nodes[at], arg, TIRC_GRAPH_BAD_JSON,
			       "it is read before it is written");
	}
	if (graph_writer(g, t, t->ready, at) != NOWHERE) {
		return bad_arg(g, &g->nodes[at], arg, TIRC_GRAPH_BAD_JSON,
			       "it is overwritten before it is read");
	}
	return TIRC_GRAPH_OK;
}

/* Checks argument i of n, a tensor that is written: it must start where the
 * tensor starts that it overwrites, if it overwrites one, and share no bytes
 * with another argument. */
static enum tirc_graph_status
check_sharing(struct tirc_graph *g, const struct node *n, size_t i)
{
	const struct place p = place_of(g, &n->args[i]);

	if (n->args[i].of != NOWHERE) {
		const struct tensor *t = &g->tensors[n->args[i].of];

		if (t->at != p.at || t->io != p.io || t->offset != p.offset) {
			return bad_arg(
				g, n, i, TIRC_GRAPH_BAD_JSON,
				"it starts elsewhere than the tensor that it updates");
		}
	}
	for (size_t k = 0; k < n->kernel->n_args; k++) {
		const struct place other = place_of(g, &n->args[k]);

		if (k != i && n->args[k].kind != ARG_PARAM &&
		    overlap(&p, &other)) {
			return bad_arg(g, n, i, TIRC_GRAPH_BAD_JSON,
				       "it shares bytes with another argument");
		}
	}
	return TIRC_GRAPH_OK;
}

static enum tirc_graph_status
check_node(struct tirc_graph *g, size_t at)
{
	const struct node *n = &g->nodes[at];
	enum tirc_graph_status status = TIRC_GRAPH_OK;

	for (size_t i = 0; i < n->kernel->n_args && !status; i++) {
		const struct arg *a = &n->args[i];

		status = check_arg(g, n, i);
		if (!status && a->kind == ARG_TENSOR && !a->written) {
			status = check_read(g, at, i, a->tensor);
		}
		if (!status && a->of != NOWHERE) {
			status = check_read(g, at, i, a->of);
		}
		if (!status && a->written) {
			status = check_sharing(g, n, i);
		}
	}
	return status;
}

/* -- the whole graph -- */

static enum tirc_graph_status
check_tensor(struct tirc_graph *g, size_t i)
{
	const struct tensor *t = &g->tensors[i];
	struct arg a = { ARG_TENSOR, 0, 0, 0, 0, NOWHERE };
	size_t bytes, align;

	a.tensor = i;
	ground(g, &a, &bytes, &align);
	if (t->offset > bytes || t->capacity > bytes - t->offset ||
	    t->offset % t->element_bytes != 0 || t->element_bytes > align) {
		return graph_fail(g, TIRC_GRAPH_BAD_JSON,
				  "tensor '%.60s' is outside of its memory or "
				  "not aligned",
				  t->name);
	}
	return TIRC_GRAPH_OK;
}

/* Checks that the node after which the tensor counts as written does write to
 * the tensor. */
static enum tirc_graph_status
check_from(struct tirc_graph *g, const struct tensor *t)
{
	if (t->ready > 0 && t->capacity > 0 &&
	    graph_writer(g, t, t->ready - 1, t->ready) == NOWHERE) {
		return graph_fail(g, TIRC_GRAPH_BAD_JSON,
				  "tensor '%.60s': node '%.60s', the last in "
				  "its \"from\", does not write it",
				  t->name, t->node);
	}
	return TIRC_GRAPH_OK;
}

/* Checks that the kernels accept the graph's ranges of symbolic sizes. */
static enum tirc_graph_status
check_sizes(struct tirc_graph *g)
{
	const struct tirc_kernels *k = g->config.kernels;
	int same = k->n_sizes == g->n_sizes;

	for (size_t i = 0; same && i < g->n_sizes; i++) {
		same = strcmp(k->sizes[i].name, g->sizes[i].name) == 0 &&
		       k->sizes[i].min <= g->sizes[i].min &&
		       k->sizes[i].max >= g->sizes[i].max;
	}
	return same ? TIRC_GRAPH_OK
		    : graph_fail(g, TIRC_GRAPH_BAD_KERNELS,
				 "the kernels are compiled for other ranges of "
				 "symbolic sizes than the JSON has");
}

enum tirc_graph_status
graph_check(struct tirc_graph *g)
{
	enum tirc_graph_status status;
	size_t most = 0;

	if (g->config.kernels->version == NULL ||
	    strcmp(g->config.kernels->version, g->version) != 0) {
		return graph_fail(g, TIRC_GRAPH_BAD_KERNELS,
				  "the kernels belong to another graph: their "
				  "version is %.40s, the JSON's is %.40s",
				  g->config.kernels->version != NULL
					  ? g->config.kernels->version
					  : "nothing",
				  g->version);
	}
	status = check_sizes(g);
	if (status != TIRC_GRAPH_OK) {
		return status;
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		for (size_t d = 0; d < g->tensors[i].ndim; d++) {
			const size_t n = g->tensors[i].dims[d].n;

			most = n > most ? n : most;
		}
	}
	g->stack = graph_new(g, most + 1, sizeof *g->stack);
	if (g->stack == NULL) {
		return TIRC_GRAPH_NO_MEMORY;
	}
	status = graph_measure(g);
	for (size_t i = 0; i < g->n_tensors && !status; i++) {
		status = check_tensor(g, i);
	}
	for (size_t i = 0; i < g->n_nodes && !status; i++) {
		status = check_node(g, i);
	}
	for (size_t i = 0; i < g->n_tensors && !status; i++) {
		status = check_from(g, &g->tensors[i]);
	}
	return status;
}
