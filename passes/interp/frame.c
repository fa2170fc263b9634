/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves a function for the interpreter: every expression, variable and
 * buffer is looked up once, before the function runs. */
#include "frame.h"

#include <stdlib.h>

#include "thread_loops.h"

/* An array that an ALLOC fills counts as one statement for each STEP_BYTES
 * bytes, which take about as long as a statement. */
enum { STEP_BYTES = 256 };

/* The slot for `key`; *slot is NULL until the caller sets it. The returned
 * pointer is valid until the next call. */
static void **
frame_slot(struct frame *f, const void *key)
{
	int *place = pointer_map_value(&f->places, key);

	if (*place == 0) {
		vec_push(f->arena, &f->slots, NULL);
		*place = f->slots.n;
	}
	return &f->slots.data[*place - 1];
}

struct var_cell *
frame_var(struct frame *f, const struct var *v)
{
	void **place = frame_slot(f, v);

	if (!*place) {
		struct var_cell *cell = arena_new(f->arena, struct var_cell);

		cell->var = v;
		cell->lanes = arena_array(f->arena, union number,
					  v->type.lanes);
		*place = cell;
	}
	return *place;
}

static struct node **
make_nodes(struct frame *f, const struct expr *const *list, int n)
{
	struct node **nodes = arena_array(f->arena, struct node *, n + 1);

	for (int i = 0; i < n; i++) {
		nodes[i] = frame_node(f, list[i]);
	}
	return nodes;
}

struct buffer_cell *
frame_buffer(struct frame *f, const struct buffer *b)
{
	void **place = frame_slot(f, b);

	if (*place) {
		return *place;
	}
	struct buffer_cell *cell = arena_new(f->arena, struct buffer_cell);

	*place = cell;
	cell->buffer = b;
	cell->shape = make_nodes(f, b->shape, b->ndim);
	if (b->strides) {
		cell->strides = make_nodes(f, b->strides, b->ndim);
	}
	cell->extent = arena_array(f->arena, int64_t, b->ndim + 1);
	cell->stride = arena_array(f->arena, int64_t, b->ndim + 1);
	cell->elem_bytes = dtype_bytes(b->type) * b->type.lanes;
	cell->is_private = !f->interp->source && buffer_is_private(b);
	cell->is_shared = !f->interp->source && buffer_is_shared(b);
	cell->pointer = b->data ? frame_var(f, b->data) : NULL;
	vec_push(f->arena, &f->buffers, cell);
	return cell;
}

struct node *
frame_node(struct frame *f, const struct expr *e)
{
	void **place = frame_slot(f, e);

	if (*place) {
		return *place;
	}
	struct node *n = arena_new(f->arena, struct node);

	*place = n;
	n->expr = e;
	n->lanes = e->type.lanes;
	n->value = arena_array(f->arena, union number, n->lanes);
	n->is_constant = e->kind == EXPR_INT || e->kind == EXPR_FLOAT ||
			 e->kind == EXPR_STRING;
	switch (e->kind) {
	case EXPR_INT:
		n->value[0].i = e->u.ival;
		break;
	case EXPR_FLOAT:
		n->value[0].f = e->u.fval;
		break;
	case EXPR_STRING:
		n->value[0].u = (uint64_t)(uintptr_t)e->u.text;
		break;
	case EXPR_VAR:
		n->var = frame_var(f, e->u.var);
		break;
	case EXPR_LOAD:
		n->buffer = frame_buffer(f, e->u.buffer);
		break;
	default:
		break;
	}
	n->args = make_nodes(f, e->args, e->n_args);
	n->is_data = e->kind == EXPR_LOAD || (n->var && n->var->is_data);
	for (int i = 0; i < e->n_args; i++) {
		n->is_data |= n->args[i]->is_data;
	}
	return n;
}

static void
resolve_block(struct frame *f, struct step *step)
{
	const struct block *b = step->stmt->u.block;

	step->iters = arena_array(f->arena, struct var_cell *, b->n_iters + 1);
	step->iter_min = arena_array(f->arena, struct node *, b->n_iters + 1);
	step->iter_extent = arena_array(f->arena, struct node *,
					b->n_iters + 1);
	for (int i = 0; i < b->n_iters; i++) {
		step->iters[i] = frame_var(f, b->iters[i].var);
		step->iter_min[i] = frame_node(f, b->iters[i].min);
		step->iter_extent[i] = frame_node(f, b->iters[i].extent);
	}
	step->allocs = arena_array(f->arena, struct buffer_cell *,
				   b->n_allocs + 1);
	for (int i = 0; i < b->n_allocs; i++) {
		step->allocs[i] = frame_buffer(f, b->allocs[i]);
	}
}

struct step *
frame_step(struct frame *f, const struct stmt *s)
{
	struct step *step = arena_new(f->arena, struct step);

	step->stmt = s;
	step->args = make_nodes(f, s->args, s->n_args);
	step->children = arena_array(f->arena, struct step *,
				     s->n_children + 1);
	step->tag = tag_of(s);
	switch (s->kind) {
	case STMT_FOR:
		step->var = frame_var(f, s->u.loop.var);
		break;
	case STMT_EVALUATE:
		step->waits = s->args[0]->kind == EXPR_CALL &&
			      s->args[0]->u.intrin == INTRIN_STORAGE_SYNC;
		break;
	case STMT_LET:
		step->var = frame_var(f, s->u.var);
		step->var->is_data |= step->args[0]->is_data;
		break;
	case STMT_STORE:
		step->waits = stmt_shuffle(s) != NULL;
		/* fall through */
	case STMT_ALLOC:
		step->buffer = frame_buffer(f, s->u.buffer);
		break;
	case STMT_BLOCK:
		resolve_block(f, step);
		break;
	default:
		break;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			step->children[i] = frame_step(f, s->children[i]);
			step->waits |= step->children[i]->waits;
		}
	}
	return step;
}

/* ---- storage */

/* Sets the strides of c if its buffer is dense, and the number of elements from
 * the first to the last one in memory. False if these do not fit in their
 * types. */
static bool
measure(struct frame *f, struct buffer_cell *c)
{
	const struct buffer *b = c->buffer;
	int64_t span = 1, bytes;
	bool fits = true;

	c->elems = 1;
	for (int d = b->ndim - 1; d >= 0; d--) {
		if (c->extent[d] == 0) {
			c->elems = 0;
		}
	}
	for (int d = b->ndim - 1; d >= 0; d--) {
		int64_t step = 0;

		c->stride[d] = c->strides ? node_int(f, c->strides[d]) : span;
		if (c->elems == 0) {
			continue; /* nothing is accessed */
		}
		fits = fits && c->stride[d] >= 0 &&
		       !__builtin_mul_overflow(span, c->extent[d], &span) &&
		       !__builtin_mul_overflow(c->extent[d] - 1, c->stride[d],
					       &step) &&
		       !__builtin_add_overflow(c->elems, step, &c->elems);
	}
	return fits &&
	       !__builtin_mul_overflow(c->elems, c->elem_bytes, &bytes) &&
	       bytes <= INT64_MAX / 2;
}

void
buffer_set_room(struct buffer_cell *c, int64_t bytes)
{
	c->room_bytes = bytes;
	c->room = bytes / c->elem_bytes;
}

void
buffer_bind(struct frame *f, struct buffer_cell *c, void *data)
{
	const struct buffer *b = c->buffer;

	f->epoch++;
	for (int d = 0; d < b->ndim; d++) {
		c->extent[d] = node_int(f, c->shape[d]);
		if (c->extent[d] < 0) {
			interp_fail(f, "dimension %d of '%s' is %lld", d,
				    b->name, (long long)c->extent[d]);
			return;
		}
	}
	if (!measure(f, c)) {
		interp_fail(f,
			    "the sizes or strides of '%s' are too large, or "
			    "a stride is negative",
			    b->name);
		return;
	}
	buffer_set_room(c, c->elems * c->elem_bytes);
	c->data = data;
	c->bound = true;
	if (c->pointer) {
		c->pointer->bound = true;
		c->pointer->value.u = (uint64_t)(uintptr_t)data;
	}
}

bool
frame_count_steps(struct frame *f)
{
	struct run_steps *steps = f->interp->steps;

	if (steps->left < 0) {
		interp_fail(f, "its run takes too many steps");
		return false;
	}
	steps->tell(steps->ctx, steps->first - steps->left);
	steps->next = steps->left > steps->every ? steps->left - steps->every
						 : 0;
	return true;
}

bool
frame_fill_steps(struct frame *f, size_t bytes)
{
	return frame_take_steps(f, (int64_t)(bytes / STEP_BYTES));
}

void
buffer_allocate(struct frame *f, struct buffer_cell *c)
{
	buffer_bind(f, c, c->data);
	if (f->interp->failed) {
		return;
	}
	size_t elems = (size_t)c->elems + 1;
	size_t bytes = elems * (size_t)c->elem_bytes;
	struct diag_place place = { .item = f->func->name };

	if (bytes > c->cap_bytes &&
	    !quota_check_memory(f->interp->module, place, (int64_t)bytes)) {
		f->interp->failed = true;
		return;
	}
	if (c->cap_bytes == 0) {
		vec_push(f->arena, &f->owned, c);
	}
	if (bytes > c->cap_bytes || elems > c->cap_elems) {
		free(c->data);
		free(c->written);
		c->data = malloc(bytes);
		c->written = malloc(elems);
		c->cap_bytes = bytes;
		c->cap_elems = elems;
		if (!c->data || !c->written) {
			interp_fail(f, "no memory for '%s' (%zu bytes)",
				    c->buffer->name, bytes);
			return;
		}
	}
	if (f->interp->source) {
		c->is_private = f->interp->lane_loops > 0;
		c->is_shared = f->interp->parallel_loops > 0;
	}
	if (!frame_fill_steps(f, bytes + elems)) {
		return;
	}
	memset(c->data, 0xFF, bytes);
	memset(c->written, 0, elems);
	if (c->pointer) {
		c->pointer->value.u = (uint64_t)(uintptr_t)c->data;
	}
}
