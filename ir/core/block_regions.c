/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of a block: the union of the body's accesses, per buffer in the order
 * of first access, with the variables defined inside the block replaced by the
 * ends of their ranges. */
#include "block_regions.h"

#include "iterate.h"
#include "sum.h"

/* A variable bound inside the block: a loop's, with its first and last value,
 * or a LET's, with NULL for both. */
struct inner {
	const struct var *var;
	const struct expr *first, *last;
};

struct found {
	struct region region;
	bool written;
};

struct collector {
	struct func *f;
	VEC(struct inner) vars;
	/* the buffers that are allocated inside the block, which have no
	 * regions */
	VEC(const struct buffer *) own;
	VEC(struct found) list;
};

static bool
is_own(const struct collector *c, const struct buffer *b)
{
	return vec_has(&c->own, b);
}

/* May the value of e change inside the block? True if e uses a variable that is
 * bound inside the block, contains a load, or has several lanes. */
static bool
depends(const struct collector *c, const struct expr *e)
{
	bool hit = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		hit |= e->kind == EXPR_LOAD || e->type.lanes > 1;
		for (int i = 0; i < c->vars.n && e->kind == EXPR_VAR; i++) {
			hit |= c->vars.data[i].var == e->u.var;
		}
	}
	return hit;
}

/* The smallest or the largest value of e over the ranges of the inner
 * variables; NULL if it is not known. */
static const struct expr *
extreme(const struct collector *c, const struct expr *e, bool greatest)
{
	struct module *m = c->f->module;

	if (e->type.lanes > 1) {
		int64_t stride;

		if (e->kind != EXPR_RAMP || !expr_is_int(e->args[1], &stride) ||
		    stride < 0) {
			return NULL;
		}
		const struct expr *last = expr_int(m, e->args[0]->type,
						   stride *
							   (e->type.lanes - 1));

		e = greatest ? expr_add(m, e->args[0], last) : e->args[0];
	}
	for (int i = c->vars.n - 1; i >= 0; i--) {
		const struct inner *v = &c->vars.data[i];
		struct sum l;
		int64_t coefficient = 0;

		if (!expr_uses_var(e, v->var)) {
			continue;
		}
		if (!v->first || !sum_of(e, &l)) {
			return NULL;
		}
		for (int k = 0; k < l.n; k++) {
			if (l.atom[k] == v->var->expr) {
				coefficient = l.coefficient[k];
			} else if (expr_uses_var(l.atom[k], v->var)) {
				return NULL;
			}
		}
		struct var *from = v->var->expr->u.var;
		const struct expr *to = (coefficient > 0) == greatest
						? v->last
						: v->first;
		struct var_map map = { &from, &to, 1 };

		e = expr_substitute(m, e, &map);
	}
	return depends(c, e) ? NULL : e;
}

static void
whole(struct module *m, const struct buffer *b, int d, struct range *out)
{
	out->min = expr_int(m, b->shape[d]->type, 0);
	out->extent = b->shape[d];
}

static void
make_range(struct collector *c, const struct buffer *b, int d,
	   const struct expr *first, const struct expr *last, struct range *out)
{
	struct module *m = c->f->module;
	const struct expr *lo = extreme(c, first, false);
	const struct expr *hi = extreme(c, last, true);
	int64_t extent;

	whole(m, b, d, out);
	if (!lo || !hi || !dtype_equal(lo->type, hi->type)) {
		return;
	}
	out->min = lo;
	out->extent = sum_difference(hi, lo, &extent)
			      ? expr_int(m, lo->type, extent + 1)
			      : expr_add(m, expr_sub(m, hi, lo),
					 expr_int(m, lo->type, 1));
}

static void
unite(struct module *m, const struct buffer *b, int d, struct range *into,
      const struct range *more)
{
	int64_t apart, a, b_extent;

	if (into->min == more->min && into->extent == more->extent) {
		return;
	}
	if (!sum_difference(more->min, into->min, &apart) ||
	    !expr_is_int(into->extent, &a) ||
	    !expr_is_int(more->extent, &b_extent)) {
		whole(m, b, d, into);
		return;
	}
	int64_t end = apart + b_extent > a ? apart + b_extent : a;

	if (apart < 0) {
		into->min = more->min;
		end -= apart;
	}
	into->extent = expr_int(m, into->min->type, end);
}

static void
add_region(struct collector *c, const struct buffer *b,
	   const struct range *ranges, bool written)
{
	struct arena *arena = &c->f->module->arena;

	if (is_own(c, b)) {
		return;
	}
	for (int i = 0; i < c->list.n; i++) {
		struct found *at = &c->list.data[i];

		if (at->region.buffer == b && at->written == written) {
			for (int d = 0; d < b->ndim; d++) {
				unite(c->f->module, b, d, &at->region.ranges[d],
				      &ranges[d]);
			}
			return;
		}
	}
	struct found one = { .written = written };

	one.region.buffer = b;
	one.region.ranges = arena_copy(arena, ranges,
				       sizeof *ranges * (size_t)b->ndim);
	vec_push(arena, &c->list, one);
}

static void
add_access(struct collector *c, const struct buffer *b,
	   const struct expr *const *index, bool written)
{
	struct range *ranges = arena_array(&c->f->module->arena, struct range,
					   b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		make_range(c, b, d, index[d], index[d], &ranges[d]);
	}
	add_region(c, b, ranges, written);
}

/* Adds the whole buffer b as a region: a callee that gets the address of an
 * element may access all of the buffer. */
static void
add_address(struct collector *c, const struct buffer *b, bool only_read)
{
	struct range *ranges = arena_array(&c->f->module->arena, struct range,
					   b->ndim + 1);

	for (int d = 0; d < b->ndim; d++) {
		whole(c->f->module, b, d, &ranges[d]);
	}
	add_region(c, b, ranges, false);
	if (!only_read) {
		add_region(c, b, ranges, true);
	}
}

static void
see_loads(struct collector *c, const struct stmt *s)
{
	struct tree_iter it = exprs_each(s->args, s->n_args);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		if (e->kind == EXPR_LOAD) {
			add_access(c, e->u.buffer, e->args, false);
		} else if (e->kind == EXPR_CALL &&
			   intrin_is_address(e->u.intrin)) {
			add_address(c, e->args[0]->u.buffer,
				    e->u.intrin == INTRIN_READ_ADDRESS_OF);
		}
	}
}

static void collect(struct collector *c, const struct stmt *s);

static void
push_inner(struct collector *c, const struct var *var, const struct expr *min,
	   const struct expr *extent)
{
	struct module *m = c->f->module;
	struct inner one = { .var = var, .first = min };

	if (min) {
		one.last = expr_sub(m, expr_add(m, min, extent),
				    expr_int(m, min->type, 1));
	}
	vec_push(&m->arena, &c->vars, one);
}

/* Adds the regions that the inner block s declares, with the bindings of s in
 * place of its variables. */
static void
collect_block(struct collector *c, const struct stmt *s)
{
	struct module *m = c->f->module;
	const struct block *b = s->u.block;
	struct var **from = arena_array(&m->arena, struct var *,
					b->n_iters + 1);
	struct var_map map = { from, s->args + 1, b->n_iters };

	for (int i = 0; i < b->n_iters; i++) {
		from[i] = b->iters[i].var;
	}
	for (int i = 0; i < b->n_reads + b->n_writes; i++) {
		bool written = i >= b->n_reads;
		const struct region *r = written ? &b->writes[i - b->n_reads]
						 : &b->reads[i];
		struct range *ranges = arena_array(&m->arena, struct range,
						   r->buffer->ndim + 1);

		for (int d = 0; d < r->buffer->ndim; d++) {
			const struct range *at = &r->ranges[d];
			const struct expr *min = expr_substitute(m, at->min,
								 &map);
			const struct expr *last =
				expr_sub(m,
					 expr_add(m, min,
						  expr_substitute(m, at->extent,
								  &map)),
					 expr_int(m, min->type, 1));

			make_range(c, r->buffer, d, min, last, &ranges[d]);
		}
		add_region(c, r->buffer, ranges, written);
	}
}

static void
collect(struct collector *c, const struct stmt *s)
{
	struct arena *arena = &c->f->module->arena;
	int vars = c->vars.n;

	see_loads(c, s);
	switch (s->kind) {
	case STMT_BLOCK:
		collect_block(c, s);
		return;
	case STMT_STORE:
		add_access(c, s->u.buffer, s->args + 1, true);
		break;
	case STMT_FOR:
		push_inner(c, s->u.loop.var, s->args[0], s->args[1]);
		break;
	case STMT_LET:
		push_inner(c, s->u.var, NULL, NULL);
		break;
	case STMT_ALLOC:
		vec_push(arena, &c->own, s->u.buffer);
		break;
	default:
		break;
	}
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			collect(c, s->children[i]);
		}
	}
	c->vars.n = vars;
}

void
block_infer_regions(struct func *f, struct stmt *block, bool reads, bool writes)
{
	struct arena *arena = &f->module->arena;
	struct block copy = *block->u.block;
	struct collector c = { .f = f };
	bool has_init = block->children[1] != NULL;

	for (int i = 0; i < copy.n_allocs; i++) {
		vec_push(arena, &c.own, copy.allocs[i]);
	}
	if (has_init) {
		collect(&c, block->children[1]);
	}
	collect(&c, block->children[0]);

	struct region *read = arena_array(arena, struct region, c.list.n + 1);
	struct region *written = arena_array(arena, struct region,
					     c.list.n + 1);
	int n_read = 0, n_written = 0;

	for (int i = 0; i < c.list.n; i++) {
		if (c.list.data[i].written) {
			written[n_written++] = c.list.data[i].region;
		}
	}
	for (int i = 0; i < c.list.n; i++) {
		bool updated = false;

		for (int k = 0; k < n_written && has_init; k++) {
			updated |= written[k].buffer ==
				   c.list.data[i].region.buffer;
		}
		if (!c.list.data[i].written && !updated) {
			read[n_read++] = c.list.data[i].region;
		}
	}
	if (reads) {
		copy.reads = read;
		copy.n_reads = n_read;
	}
	if (writes) {
		copy.writes = written;
		copy.n_writes = n_written;
	}
	stmt_set_block(f, block, &copy);
}
