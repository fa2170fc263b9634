/* SPDX-License-Identifier: Apache-2.0 */
/* Streams the stored bytes of a constant. Its recipe and its layout are
 * composed to one expression, which is evaluated chunk by chunk over the
 * outermost dimensions, so that neither the result nor the source is ever
 * entirely in memory.
 *
 *	for c in range(rows):           # rows of a chunk, `start` a parameter
 *	  for i, j in grid(…):
 *	    out[c, i, j] = w[f(start + c, i, j)] * s[…] */
#define _DEFAULT_SOURCE /* madvise */

#include "analyse.h"
#include "interp.h"
#include "plan.h"

#include <sys/mman.h>
#include <unistd.h>

#define CHUNK_BYTES (4 << 20)
/* the pages of the source are released each time this number of bytes of output
 * is done */
#define DROP_BYTES (16 << 20)

typedef bool sink_fn(void *ctx, const void *bytes, size_t n);

/* Releases pages of a mapped file; a later access reads them again. */
static void
drop_pages(const struct value *v, size_t from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)v->data + from, end = start + bytes;

	if (v->mapped && v->data) {
		start -= start % page;
		madvise((void *)start, end - start, MADV_DONTNEED);
	}
}

static bool
stream_value(const struct value *v, sink_fn *sink, void *ctx)
{
	const char *data = v->data;

	for (size_t at = 0; at < v->bytes; at += CHUNK_BYTES) {
		size_t n = v->bytes - at < CHUNK_BYTES ? v->bytes - at
						       : CHUNK_BYTES;

		if (!sink(ctx, data + at, n)) {
			return false;
		}
		drop_pages(v, at, n);
	}
	return true;
}

static bool
stream_splat(const struct value *v, sink_fn *sink, void *ctx)
{
	struct arena scratch;
	size_t unit = (size_t)dtype_bytes(v->type);
	size_t chunk = v->bytes < CHUNK_BYTES ? v->bytes : CHUNK_BYTES;
	char *data;
	bool ok = true;

	arena_init(&scratch);
	data = arena_alloc(&scratch, chunk + 1);
	for (size_t i = 0; i < chunk / unit; i++) {
		number_store(v->type, data, i, v->fill);
	}
	for (size_t at = 0; ok && at < v->bytes; at += chunk) {
		ok = sink(ctx, data,
			  v->bytes - at < chunk ? v->bytes - at : chunk);
	}
	arena_release(&scratch);
	return ok;
}

/* A weight that is being streamed: its value as an expression over the indices
 * of the stored array. */
struct stream {
	struct graph *graph;
	struct module *module;
	const struct weight *weight;
	struct tensor **sources;
	struct te_tensor **placeholders;
	int n_sources;
	int ndim; /* the rank of the stored array */
	int64_t *extents;
	struct var **index; /* the index variable of each dimension */
	const struct expr *value;
	/* the dimension that is divided into chunks; the indices in the
	 * dimensions before it are parameters of a chunk's program */
	int split;
	/* the number of indices of dimension `split` in a chunk */
	int64_t rows;
	int64_t row_bytes;
};

/* The compiled program that computes a chunk of `rows` rows. */
struct program_chunk {
	struct func *func;
	struct exec *exec;
	int64_t rows;
};

static void
list_stages(struct arena *a, struct te_tensor *t, struct te_tensor ***list,
	    int *n, int *cap)
{
	for (int i = 0; i < *n; i++) {
		if ((*list)[i] == t) {
			return;
		}
	}
	for (int i = 0; t->stage && i < t->stage->n_inputs; i++) {
		list_stages(a, t->stage->inputs[i], list, n, cap);
	}
	if (*n == *cap) {
		*list = arena_grow(a, *list, *n, cap, *n + 1, sizeof **list);
	}
	(*list)[(*n)++] = t;
}

/* The element of t at the index `point`, as one expression over the source
 * constants. NULL if t has a reduction or an ordered store, which no expression
 * can express. */
static const struct expr *
composed(struct module *m, struct te_tensor *t, const struct expr *const *point)
{
	struct te_tensor **list = NULL;
	const struct expr *e = te_at(m, t, point, t->buffer->ndim);
	int n = 0, cap = 0;

	list_stages(&m->arena, t, &list, &n, &cap);
	for (int i = n - 1; i >= 0; i--) {
		struct te_stage *stage = list[i]->stage;

		if (!stage) {
			continue;
		}
		if (stage->kind != TE_COMPUTE ||
		    stage->bodies[list[i]->index]->kind == EXPR_REDUCE) {
			return NULL;
		}
		e = te_inline(m, e, list[i]);
	}
	return e;
}

/* Sets the extents of the stored array. If the weight has no index map, they
 * are the extents of the tensor, in row-major order. */
static void
init_shape(struct stream *s)
{
	const struct index_map *map = s->weight->map;
	const struct tensor *t = s->weight->tensor;
	struct module *m = s->module;

	s->ndim = map ? map->n_physical : t->ndim;
	s->extents = arena_array(&m->arena, int64_t, s->ndim + 1);
	s->index = arena_array(&m->arena, struct var *, s->ndim + 1);
	for (int d = 0; d < s->ndim; d++) {
		const struct expr *extent = map ? map->physical_shape[d]
						: t->shape[d];

		expr_is_int(extent, &s->extents[d]);
		s->index[d] = var_new(m, arena_printf(&m->arena, "p%d", d),
				      extent->type);
	}
}

/* Sets s->value to the expression of the value at an index of the stored array:
 * the logical element, or 0 in padding. False if it has none. */
static bool
init_value(struct stream *s)
{
	struct module *m = s->module;
	const struct index_map *map = s->weight->map;
	struct tensor *t = s->weight->tensor;
	const struct expr **point;
	struct te_tensor *te;

	te = tensor_const_te(s->graph, t, &s->sources, &s->placeholders,
			     &s->n_sources);
	if (!te) {
		return false;
	}
	point = arena_exprs(&m->arena, te->buffer->ndim + s->ndim + 1);
	if (map) {
		const struct expr **to = arena_exprs(&m->arena, s->ndim);
		struct var_map vars = { map->physical, to, s->ndim };

		for (int d = 0; d < s->ndim; d++) {
			to[d] = s->index[d]->expr;
		}
		for (int d = 0; d < map->n_logical; d++) {
			point[d] = expr_substitute(m, map->to_logical[d],
						   &vars);
		}
		s->value = composed(m, te, point);
		if (s->value && map->in_range) {
			s->value = expr_if(m,
					   expr_substitute(m, map->in_range,
							   &vars),
					   s->value, expr_const(m, t->type, 0));
		}
	} else {
		for (int d = 0; d < s->ndim; d++) {
			point[d] = s->index[d]->expr;
		}
		s->value = composed(m, te, point);
	}
	return true;
}

/* Chooses the dimension along which the array is divided into chunks: the first
 * dimension of which at least one row fits into a chunk. */
static void
init_split(struct stream *s)
{
	int64_t bytes = dtype_bytes(s->weight->tensor->type);

	s->row_bytes = bytes;
	s->split = s->ndim - 1;
	s->rows = 1;
	for (int d = s->ndim - 1; d >= 0 && bytes <= CHUNK_BYTES; d--) {
		s->split = d;
		s->row_bytes = bytes;
		bytes *= s->extents[d];
	}
	if (s->ndim > 0) {
		s->rows = CHUNK_BYTES / s->row_bytes;
		if (s->rows > s->extents[s->split]) {
			s->rows = s->extents[s->split];
		}
	}
}

static const struct expr *
simplified(struct stream *s, const struct expr *value, struct var *row,
	   int64_t rows, struct var *start)
{
	struct analyser a;
	struct module *m = s->module;

	analyser_init(&a, m);
	for (int d = 0; d < s->ndim; d++) {
		int64_t extent = s->extents[d];

		if (d == s->split) {
			analyser_bind(&a, row, expr_index(m, 0),
				      expr_index(m, rows));
			analyser_bind(&a, start, expr_index(m, 0),
				      expr_index(m, extent - rows + 1));
		} else {
			analyser_bind(&a, s->index[d], expr_index(m, 0),
				      expr_index(m, extent));
		}
	}
	return simplify(&a, value);
}

/* Builds the loop nest of a chunk of `rows` rows, with the sources, the chunk
 * and the fixed outer indices as parameters. */
static void
build_chunk(struct stream *s, int64_t rows, struct program_chunk *out)
{
	struct module *m = s->module;
	struct arena *a = &m->arena;
	const struct expr **index = arena_exprs(a, s->ndim + 1);
	const struct expr **shape = arena_exprs(a, s->ndim + 1);
	const struct expr *value = s->value;
	const struct buffer *chunk;
	struct func *f = func_new(m, "weight_chunk");
	struct var *row = NULL, *start = NULL;
	struct stmt *body;
	int n = 0;

	if (s->ndim > 0) {
		struct var *whole = s->index[s->split];
		struct var_map map = { &whole, NULL, 1 };
		const struct expr *sum;

		row = var_new(m, "row", whole->type);
		start = var_new(m, "start", whole->type);
		sum = expr_add(m, start->expr, row->expr);
		map.to = &sum;
		value = simplified(s, expr_substitute(m, value, &map), row,
				   rows, start);
	}
	for (int d = s->split; d < s->ndim; d++, n++) {
		index[n] = d == s->split ? row->expr : s->index[d]->expr;
		shape[n] = expr_index(m, d == s->split ? rows : s->extents[d]);
	}
	chunk = buffer_new(m, &(struct buffer_spec){
				      .name = "chunk",
				      .type = s->weight->tensor->type,
				      .ndim = n,
				      .shape = shape });
	for (int i = 0; i < s->n_sources; i++) {
		const struct buffer *b = s->placeholders[i]->buffer;

		func_add_param(f, b->data, b);
	}
	func_add_param(f, chunk->data, chunk);
	for (int d = 0; d < s->split; d++) {
		func_add_param(f, s->index[d], NULL);
	}
	if (start) {
		func_add_param(f, start, NULL);
	}
	body = stmt_store(f, chunk, value, index, n);
	for (int i = n - 1; i >= 0; i--) {
		struct var *v = i == 0 ? row : s->index[s->split + i];

		body = stmt_for(f, v, expr_index(m, 0), shape[i], FOR_SERIAL,
				body);
	}
	f->body = body;
	out->func = f;
	out->rows = rows;
}

static void
drop_sources(const struct stream *s)
{
	for (int i = 0; i < s->n_sources; i++) {
		const struct value *v = s->sources[i]->value;

		drop_pages(v, 0, v->bytes);
	}
}

/* Advances the indices of the dimensions before the split one to those of the
 * next chunk; false when all chunks are done. */
static bool
next_outer(const struct stream *s, struct run_arg *outer)
{
	for (int d = s->split - 1; d >= 0; d--) {
		if (++outer[d].scalar < s->extents[d]) {
			return true;
		}
		outer[d].scalar = 0;
	}
	return false;
}

static bool
run_chunk(struct stream *s, struct arena *scratch, struct program_chunk *p,
	  int64_t rows, const struct run_arg *args, int n)
{
	if (p->rows != rows) {
		build_chunk(s, rows, p);
		p->exec = exec_compile(scratch, p->func);
	}
	/* after a fault of the executor, the interpreter runs the function and
	 * reports it */
	return (p->exec && exec_run(p->exec, args, n)) ||
	       interp_run(p->func, args, n);
}

static bool
stream_computed(struct stream *s, sink_fn *sink, void *ctx)
{
	struct program_chunk whole = { .rows = -1 }, tail = { .rows = -1 };
	int64_t extent, dropped = 0;
	struct arena scratch;
	struct run_arg *args, *outer;
	int n = s->n_sources + 1 + (s->ndim > 0 ? s->split + 1 : 0);
	bool ok = true;

	if (s->ndim == 0) {
		s->split = 0;
		s->rows = 1;
	}
	extent = s->ndim > 0 ? s->extents[s->split] : 1;
	arena_init(&scratch);
	args = arena_array(&scratch, struct run_arg, n);
	outer = args + s->n_sources + 1;
	for (int i = 0; i < s->n_sources; i++) {
		args[i].data = (void *)(uintptr_t)s->sources[i]->value->data;
		args[i].bytes = (int64_t)s->sources[i]->value->bytes;
	}
	args[s->n_sources].data = arena_alloc(&scratch,
					      (size_t)(s->rows * s->row_bytes) +
						      1);
	args[s->n_sources].bytes = s->rows * s->row_bytes;
	do {
		for (int64_t at = 0; ok && at < extent; at += s->rows) {
			int64_t rows = extent - at < s->rows ? extent - at
							     : s->rows;

			if (s->ndim > 0) {
				outer[s->split].scalar = at;
			}
			ok = run_chunk(s, &scratch,
				       rows == s->rows ? &whole : &tail, rows,
				       args, n) &&
			     sink(ctx, args[s->n_sources].data,
				  (size_t)(rows * s->row_bytes));
			dropped += rows * s->row_bytes;
			if (dropped >= DROP_BYTES) {
				drop_sources(s);
				dropped = 0;
			}
		}
	} while (ok && s->ndim > 0 && next_outer(s, outer));
	drop_sources(s);
	arena_release(&scratch);
	return ok;
}

/* Streams the bytes of w; an element of 4 bits takes a whole byte. */
static bool
stream(struct graph *g, const struct weight *w, sink_fn *sink, void *ctx)
{
	struct stream s = { .graph = g, .module = g->module, .weight = w };
	const struct value *v = w->tensor->value;

	if (!w->map && v) {
		return v->data ? stream_value(v, sink, ctx)
			       : stream_splat(v, sink, ctx);
	}
	init_shape(&s);
	for (int d = 0; d < s.ndim; d++) {
		if (s.extents[d] == 0) {
			return true;
		}
	}
	if (!init_value(&s)) {
		return false;
	}
	if (!s.value) {
		/* A constant with a reduction is evaluated as a whole, then its
		 * bytes are streamed. */
		if (!tensor_value(g, w->tensor)) {
			return false;
		}
		return stream(g, w, sink, ctx);
	}
	init_split(&s);
	return stream_computed(&s, sink, ctx);
}

/* The state of a sink that packs two elements of 4 bits in a byte. */
struct packing {
	sink_fn *sink;
	void *ctx;
	uint8_t first; /* the low four bits of the byte that is not complete
			* yet */
	bool has_first;
};

static bool
pack(void *ctx, const void *bytes, size_t n)
{
	struct packing *p = ctx;
	const uint8_t *in = bytes;
	uint8_t out[4096];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!p->has_first) {
			p->first = in[i] & 15;
			p->has_first = true;
			continue;
		}
		out[k++] = (uint8_t)(p->first | in[i] << 4);
		p->has_first = false;
		if (k == sizeof out) {
			if (!p->sink(p->ctx, out, k)) {
				return false;
			}
			k = 0;
		}
	}
	return k == 0 || p->sink(p->ctx, out, k);
}

bool
weight_stream(struct graph *g, const struct weight *w, sink_fn *sink, void *ctx)
{
	struct packing p = { .sink = sink, .ctx = ctx };

	if (!w->paired) {
		return stream(g, w, sink, ctx);
	}
	return stream(g, w, pack, &p) &&
	       (!p.has_first || sink(ctx, &p.first, 1));
}

struct filling {
	unsigned char *at, *end;
};

static bool
fill(void *ctx, const void *bytes, size_t n)
{
	struct filling *f = ctx;

	if (n > (size_t)(f->end - f->at)) {
		return false;
	}
	memcpy(f->at, bytes, n);
	f->at += n;
	return true;
}

bool
weight_copy(struct graph *g, const struct weight *w, void *data, size_t bytes)
{
	struct filling f = { data, (unsigned char *)data + bytes };

	return weight_stream(g, w, fill, &f) && f.at == f.end;
}
