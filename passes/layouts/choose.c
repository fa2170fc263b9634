/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the tensors with blocked channels (NCHWc). A tensor qualifies if
 * every kernel that accesses it indexes its second dimension by a separate
 * axis, if no view gives it another shape, and if the size of a block divides
 * the number of channels. A halo of zeros replaces the padding of reads beyond
 * an edge. The parts of a concatenation have the layout of the whole tensor. */
#include "layouts.h"
#include "product_instr.h"
#include "scope.h"

enum { CHANNELS = 1 };

struct choice {
	struct program *p;
	struct arena *arena;
	/* by tensor id: the layout that is chosen so far; NULL if the tensor is
	 * row-major */
	struct tensor_layout **of;
};

/* The smallest blocks: of bytes, fewer channels take as long as a vector; if
 * loops over them are to become vectors, these lanes must be many. */
enum {
	SMALLEST_BLOCK = 8,
	SMALLEST_BLOCK_BYTES = 4,
	SMALLEST_BLOCK_LOOPS = 16
};

/* The target's channel block for type t, or the largest of its halves, quarters
 * and so on that divides the channels; 0 if only blocks that are too small
 * divide them. */
static int64_t
block_for(const struct target *target, struct dtype t, int64_t channels)
{
	int64_t least = dtype_bits(t) != 8 ? SMALLEST_BLOCK
			: target->dot_loops && dtype_is_int(t)
				? SMALLEST_BLOCK_LOOPS
				: SMALLEST_BLOCK_BYTES;

	for (int64_t c = target_block_elems(target, t); c >= least; c /= 2) {
		if (channels > 0 && channels % c == 0) {
			return c;
		}
	}
	return 0;
}

static struct tensor *
whole_of(struct tensor *t)
{
	while (t->part_of != NULL) {
		t = t->part_of;
	}
	return t;
}

static bool
in_view(const struct graph *g, const struct node *n)
{
	return n->group >= 0 && (g->groups.data[n->group]->is_view ||
				 g->groups.data[n->group]->is_control);
}

/* Can the channels of tensor t be stored in blocks? If so, sets *block to the
 * number of channels in a block. How kernels access t is checked later. */
static bool
may_have_blocks(const struct choice *c, const struct tensor *t, int64_t *block)
{
	const struct graph *g = c->p->graph;
	int64_t channels;

	if (t->producer == NULL || t->is_output || tensor_is_constant(t) ||
	    t->ndim < 3 || t->type.lanes != 1 ||
	    (dtype_class(t->type) != DTC_FLOAT &&
	     !(dtype_is_int(t->type) && dtype_bits(t->type) == 8)) ||
	    !expr_is_int(t->shape[CHANNELS], &channels)) {
		return false;
	}
	*block = block_for(c->p->target, t->type, channels);
	if (*block == 0) {
		return false;
	}
	if (in_view(g, t->producer) && (t->producer->inputs[0] == NULL ||
					t->producer->inputs[0]->part_of != t)) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		const struct node *user = t->uses.data[i].node;

		if (in_view(g, user) && t->part_of != user->outputs[0]) {
			return false;
		}
	}
	return true;
}

/* The innermost block around the access; NULL if there is none. */
static const struct stmt *
block_around(const struct access *x)
{
	const struct stmt *s = x->at;

	while (s != NULL && s->kind != STMT_BLOCK) {
		s = s->parent;
	}
	return s;
}

/* The iter var that is the index of x in dimension d, of the block around x;
 * NULL if the index is anything else. */
static const struct iter_var *
axis_at(struct module *m, const struct access *x, int d)
{
	const struct stmt *s = block_around(x);
	struct analyser a;
	const struct expr *index;

	if (x->address) {
		return NULL;
	}
	analyser_init(&a, m);
	analyser_enter_scope(&a, x->at);
	index = simplify(&a, x->index[d]);
	for (int i = 0;
	     s != NULL && index->kind == EXPR_VAR && i < s->u.block->n_iters;
	     i++) {
		if (s->u.block->iters[i].var == index->u.var) {
			return &s->u.block->iters[i];
		}
	}
	return NULL;
}

/* Does the access's index of the channels run from 0 to all channels? */
static bool
is_channel_axis(struct module *m, const struct access *x,
		const struct expr *channels)
{
	const struct iter_var *axis = axis_at(m, x, CHANNELS);

	return axis != NULL && expr_is_value(axis->min, 0) &&
	       axis->extent == channels;
}

/* Does the access's block sum products of rows with another array, so that a dot
 * product reads elements that blocks of channels would take apart? */
static bool
sums_rows(struct module *m, const struct access *x)
{
	const struct iter_var *channel = axis_at(m, x, CHANNELS);
	const struct iter_var *last = axis_at(m, x, x->buffer->ndim - 1);
	const struct stmt *s = block_around(x);

	return s != NULL && s->u.block->n_reads > 1 && channel != NULL &&
	       channel->kind == ITER_SPATIAL && last != NULL &&
	       last->kind == ITER_REDUCE;
}

/* Is the buffer one of the kernel's constants? */
static bool
is_weight(const struct kernel *k, const struct buffer *b)
{
	for (int a = 0; a < k->args.n; a++) {
		if (k->args.data[a].buffer == b) {
			return k->args.data[a].kind == ARG_WEIGHT;
		}
	}
	return false;
}

/* Are the channels of access x the rows of a product with a constant matrix,
 * whose columns are computed in the lanes of vectors? In x[i, k] * w[k, j], w
 * has no index i, so that blocks of rows i would only scatter the elements that
 * the lanes store. (The channels of a convolution, in contrast, are an index of
 * its weights.) */
static bool
are_rows(struct module *m, const struct kernel *k, const struct access *x)
{
	const struct iter_var *channel = axis_at(m, x, CHANNELS);
	const struct stmt *s = block_around(x);
	struct access_list all = { 0 };
	bool reduces = false, rows = false;

	if (channel == NULL || channel->kind != ITER_SPATIAL) {
		return false;
	}
	for (int i = 0; i < s->u.block->n_iters; i++) {
		reduces |= s->u.block->iters[i].kind == ITER_REDUCE;
	}
	access_collect(k->func, s->children[0], NULL, &all);
	for (int i = 0; reduces && i < all.list.n; i++) {
		const struct access *w = &all.list.data[i];
		bool uses = false;

		if (!is_weight(k, w->buffer)) {
			continue;
		}
		for (int d = 0; d < w->buffer->ndim; d++) {
			uses |= expr_uses_var(w->index[d], channel->var);
		}
		rows |= !uses;
	}
	return rows;
}

/* The number of rows of a product with a constant matrix that the kernel
 * computes; NULL if it computes none. */
static const struct expr *
rows_of_product(struct module *m, const struct kernel *k)
{
	struct access_list all = { 0 };

	access_collect(k->func, k->func->body, NULL, &all);
	for (int i = 0; i < all.list.n; i++) {
		const struct access *x = &all.list.data[i];

		if (x->load == NULL && x->buffer->ndim > CHANNELS + 1 &&
		    are_rows(m, k, x)) {
			return axis_at(m, x, CHANNELS)->extent;
		}
	}
	return NULL;
}

static bool
channel_by_channel(const struct choice *c, const struct kernel *k,
		   const struct kernel_arg *arg)
{
	struct module *m = c->p->graph->module;
	struct access_list all = accesses_of(k->func, k->func->body,
					     arg->buffer);
	bool dots = target_dot_depth(c->p->target, arg->tensor->type) > 1;

	for (int i = 0; i < all.list.n; i++) {
		if (!is_channel_axis(m, &all.list.data[i],
				     arg->tensor->shape[CHANNELS]) ||
		    (dots && sums_rows(m, &all.list.data[i]))) {
			return false;
		}
	}
	return true;
}

/* Is there a layout for a tensor of the kernel? */
static bool
has_layout(const struct choice *c, const struct kernel *k)
{
	for (int a = 0; a < k->args.n; a++) {
		const struct kernel_arg *arg = &k->args.data[a];

		if (arg->kind == ARG_TENSOR && c->of[arg->tensor->id] != NULL) {
			return true;
		}
	}
	return false;
}

static void
drop_unfit(struct choice *c, struct kernel *const *kernels, int n)
{
	for (int i = 0; i < n; i++) {
		const struct kernel *k = kernels[i];
		const struct expr *rows;

		if (!has_layout(c, k)) {
			continue;
		}
		rows = rows_of_product(c->p->graph->module, k);
		for (int a = 0; a < k->args.n; a++) {
			const struct kernel_arg *arg = &k->args.data[a];

			if (arg->kind == ARG_TENSOR &&
			    c->of[arg->tensor->id] != NULL &&
			    (arg->tensor->shape[CHANNELS] == rows ||
			     !channel_by_channel(c, k, arg))) {
				c->of[arg->tensor->id] = NULL;
			}
		}
	}
}

static bool
same_block(const struct tensor_layout *a, const struct tensor_layout *b)
{
	return a == NULL || b == NULL ? a == b : a->block == b->block;
}

/* Makes channel blocks of concatenations agree: a concatenation and its parts
 * all have blocks of the same size, or all have no blocks. */
static void
unify_parts(struct choice *c)
{
	struct graph *g = c->p->graph;
	bool again = true;

	while (again) {
		again = false;
		for (int i = 0; i < g->tensors.n; i++) {
			struct tensor *t = g->tensors.data[i];
			struct tensor *whole = t->part_of;

			if (whole == NULL ||
			    same_block(c->of[t->id], c->of[whole->id])) {
				continue;
			}
			c->of[t->id] = c->of[whole->id] = NULL;
			again = true;
		}
	}
}

/* Tensors that share bytes must have the same halo: a part of a concatenation
 * gets the layout of the whole. */
static void
one_layout_per_storage(struct choice *c)
{
	struct graph *g = c->p->graph;

	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];

		if (c->of[t->id] != NULL) {
			c->of[t->id] = c->of[whole_of(t)->id];
		}
	}
}

static void
find_halos(struct choice *c, struct kernel *const *kernels, int n)
{
	for (int i = 0; i < n; i++) {
		struct kernel *k = kernels[i];

		for (int a = 0; a < k->args.n; a++) {
			const struct kernel_arg *arg = &k->args.data[a];
			struct guarded_loads loads = { 0 };
			struct tensor_layout *l;

			if (arg->kind != ARG_TENSOR ||
			    c->of[arg->tensor->id] == NULL ||
			    layouts_copies_border(c->p->graph->module, k->func,
						  arg->buffer, false,
						  c->p->target)) {
				continue;
			}
			l = c->of[arg->tensor->id];
			guarded_loads_find(k->func, arg->buffer, &loads);
			guarded_loads_widen_halo(k->func, arg->buffer, &loads,
						 l);
		}
	}
}

/* Sets the byte offsets of the parts of concatenations in the layout of the
 * whole. The concatenation axis is the channels, which are the outermost
 * dimension whose extent is not 1. */
static void
place_parts(struct choice *c)
{
	struct graph *g = c->p->graph;

	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *whole = g->tensors.data[i];
		const struct node *n = whole->producer;
		int64_t offset = 0;

		if (whole->layout == NULL || n == NULL || !in_view(g, n)) {
			continue;
		}
		for (int k = 0; k < n->n_inputs; k++) {
			struct tensor *t = n->inputs[k];
			int64_t bytes = dtype_bytes(t->type), extent;
			int ndim;
			const struct expr **shape = layout_shape(g->module, t,
								 t->layout,
								 &ndim);

			for (int d = 0; d < ndim; d++) {
				if (expr_is_int(shape[d], &extent)) {
					bytes *= extent;
				}
			}
			t->part_offset_bytes = offset;
			offset += bytes;
		}
	}
}

/* Has the layout a halo only in spatial dimensions, not in those of the batch
 * and the channels? A halo is wanted only in spatial dimensions. */
static bool
is_spatial(const struct tensor_layout *l)
{
	return l->before[0] == 0 && l->after[0] == 0 &&
	       l->before[CHANNELS] == 0 && l->after[CHANNELS] == 0;
}

void
layouts_choose(struct program *p, struct kernel *const *kernels, int n)
{
	struct graph *g = p->graph;
	struct choice c = { p, &g->module->arena, NULL };

	if (p->target->block_elems == 0) {
		return;
	}
	c.of = arena_array(c.arena, struct tensor_layout *, g->tensors.n + 1);
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];
		struct tensor_layout *l;
		int64_t block;

		if (!may_have_blocks(&c, t, &block)) {
			continue;
		}
		l = arena_new(c.arena, struct tensor_layout);
		l->axis = CHANNELS;
		l->block = block;
		l->before = arena_array(c.arena, int64_t, t->ndim);
		l->after = arena_array(c.arena, int64_t, t->ndim);
		c.of[t->id] = l;
	}
	drop_unfit(&c, kernels, n);
	unify_parts(&c);
	one_layout_per_storage(&c);
	if (!p->target->optimize_memory) {
		find_halos(&c, kernels, n);
		layouts_drop_halos_of_overwrites(p, kernels, n, c.of);
	}
	for (int i = 0; i < g->tensors.n; i++) {
		struct tensor *t = g->tensors.data[i];

		if (c.of[t->id] != NULL && is_spatial(c.of[t->id])) {
			t->layout = c.of[t->id];
		}
	}
	place_parts(&c);
}
