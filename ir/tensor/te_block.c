/* SPDX-License-Identifier: Apache-2.0 */
/* The loops and the block of one stage of tensor expressions. */
#include "iterate.h"
#include "te_build.h"

#include <assert.h>

/* The read regions of a block, one for each buffer. In each dimension, the
 * region is the index if all loads of the buffer have the same index and this
 * index contains no load; else the whole extent. */
struct region_list {
	struct module *m;
	VEC(struct region) list;
};

static void
add_read(struct region_list *l, const struct expr *e)
{
	struct module *m = l->m;
	struct region *r = NULL;

	for (int i = 0; i < l->list.n; i++) {
		if (l->list.data[i].buffer == e->u.buffer) {
			r = &l->list.data[i];
		}
	}
	if (!r) {
		struct region fresh = { e->u.buffer,
					arena_array(&m->arena, struct range,
						    e->n_args + 1) };

		for (int d = 0; d < e->n_args; d++) {
			const struct expr *at = e->args[d];
			const struct expr *size = e->u.buffer->shape[d];
			bool indirect = expr_has(at, EXPR_LOAD);

			fresh.ranges[d].min = indirect ? expr_int(m, size->type,
								  0)
						       : at;
			fresh.ranges[d].extent = indirect
							 ? size
							 : expr_int(m, at->type,
								    1);
		}
		vec_push(&m->arena, &l->list, fresh);
		return;
	}
	for (int d = 0; d < e->n_args; d++) {
		if (r->ranges[d].min != e->args[d]) {
			const struct expr *size = e->u.buffer->shape[d];

			r->ranges[d].min = expr_int(m, size->type, 0);
			r->ranges[d].extent = size;
		}
	}
}

static void
add_reads(struct region_list *l, const struct expr *e)
{
	for (struct expr_iter it = expr_each_of(e, EXPR_LOAD);
	     (e = expr_next(&it));) {
		add_read(l, e);
	}
}

struct te_nest
te_nest_new(struct te_build *b, int n)
{
	struct arena *a = &b->m->arena;

	return (struct te_nest){ arena_array(a, struct iter_var, n),
				 arena_array(a, struct var *, n),
				 arena_array(a, struct range, n),
				 arena_exprs(a, n),
				 { arena_array(a, struct var *, n),
				   arena_exprs(a, n), 0 } };
}

void
te_nest_add(struct te_build *b, struct te_nest *n, const struct iter_var *axis)
{
	struct module *m = b->m;
	int i = n->map.n++;
	struct iter_var *it = &n->iters[i];
	struct strbuf name;

	strbuf_init(&name);
	strbuf_printf(&name, "v_%s", axis->var->name);
	*it = *axis;
	it->var = var_new(m, name.data, axis->var->type);
	strbuf_release(&name);
	n->loops[i] = var_new(m, axis->var->name, axis->var->type);
	n->ranges[i] = (struct range){ axis->min, axis->extent };
	n->bindings[i] = n->loops[i]->expr;
	n->map.from[i] = axis->var;
	n->map.to[i] = it->var->expr;
}

/* Adds to the nest the first axis of a stage of a scan: the step's time, or a
 * loop over the times that the step needs. */
static void
nest_add_time(struct te_build *b, struct te_nest *n,
	      const struct iter_var *axis, const struct te_step *step)
{
	struct module *m = b->m;
	struct dtype t = axis->var->type;
	const struct expr *now = expr_add(m, step->now,
					  expr_int(m, t, step->first));
	int i = n->map.n;

	te_nest_add(b, n, axis);
	n->iters[i].kind = ITER_SCAN;
	n->iters[i].min = expr_add(m, step->axis.min,
				   expr_int(m, t, step->first));
	n->iters[i].extent = expr_add(m, step->axis.extent,
				      expr_int(m, t, step->last - step->first));
	if (step->first == step->last) {
		n->loops[i] = NULL;
		n->bindings[i] = now;
		return;
	}
	n->ranges[i].min = expr_int(m, t, 0);
	n->ranges[i].extent = expr_int(m, t, step->last - step->first + 1);
	n->bindings[i] = expr_add(m, now, n->loops[i]->expr);
}

struct stmt *
te_nest_loops(struct te_build *b, const struct te_nest *n, struct stmt *body)
{
	for (int i = n->map.n - 1; i >= 0; i--) {
		if (n->loops[i]) {
			body = stmt_for(b->f, n->loops[i], n->ranges[i].min,
					n->ranges[i].extent, FOR_SERIAL, body);
		}
	}
	return body;
}

const struct expr *
te_inside(struct te_build *b, const struct expr *e, const struct var_map *map)
{
	e = expr_substitute(b->m, e, map);
	for (int i = 0; i < b->redirects.n; i++) {
		e = expr_replace_buffer(b->m, e, b->redirects.data[i].from,
					b->redirects.data[i].to);
	}
	return e;
}

/* A statement that stores values[k] into each output k. */
static struct stmt *
store_all(struct te_build *b, const struct te_stage *s,
	  const struct expr *const *values, const struct expr *const *index)
{
	struct stmt **list = arena_array(&b->m->arena, struct stmt *, s->n_out);

	for (int k = 0; k < s->n_out; k++) {
		list[k] = stmt_store(b->f, te_target(b, s->out[k]->buffer),
				     values[k], index, s->n_axes);
	}
	return stmt_seq(b->f, list, s->n_out);
}

/* Does the same as store_all for values that may read other outputs: all values
 * are computed before the first is stored. */
static struct stmt *
store_at_once(struct te_build *b, const struct te_stage *s,
	      const struct expr *const *values, const struct expr *const *index)
{
	struct module *m = b->m;
	const struct expr **now = arena_exprs(&m->arena, s->n_out);
	struct var **lets = arena_array(&m->arena, struct var *, s->n_out);
	struct stmt *body;

	for (int k = 0; k < s->n_out; k++) {
		lets[k] = var_new(m,
				  arena_printf(&m->arena, "v_%s",
					       s->out[k]->buffer->name),
				  values[k]->type);
		now[k] = lets[k]->expr;
	}
	body = store_all(b, s, now, index);
	for (int k = s->n_out - 1; k >= 0; k--) {
		body = stmt_let(b->f, lets[k], values[k], body);
	}
	return body;
}

/* Does the reduction have no iterations? Then its block, and with it the init,
 * would never run. */
static bool
is_empty(const struct reduction *r)
{
	for (int i = 0; i < r->n_axes; i++) {
		if (expr_is_value(r->axes[i].extent, 0)) {
			return true;
		}
	}
	return false;
}

/* Does the update bind its sources to names? It does if the reduction has
 * several values, which are stored together, or if its result is not simply
 * "lhs op rhs": such a result may contain a source twice, and then contains its
 * name twice. */
static bool
names_sources(const struct reducer *r)
{
	const struct expr *e = r->result[0];

	return r->n > 1 || !expr_combines(e) || e->args[0] != r->lhs[0]->expr ||
	       e->args[1] != r->rhs[0]->expr;
}

/* One step of a reduction: combines the outputs with the sources. With several
 * values, each source has a name, and all are stored together:
 *
 *	value = x[v_i, v_k]
 *	index = v_k
 *	if value > best[v_i] or …:
 *	    best[v_i] = value
 *	    best_index[v_i] = index
 *  */
static struct stmt *
update(struct te_build *b, const struct te_stage *s, const struct reducer *r,
       const struct expr *const *sources, const struct expr *const *index)
{
	struct module *m = b->m;
	struct arena *a = &m->arena;
	int n = r->n;
	struct var_map map = { arena_array(a, struct var *, 2 * n),
			       arena_exprs(a, 2 * n), 2 * n };
	const struct expr **values = arena_exprs(a, n);
	struct var **lets = arena_array(a, struct var *, n);
	const struct expr *take = n > 1 ? reducer_takes_all(r) : NULL;
	bool named = names_sources(r);
	struct stmt *body;

	for (int k = 0; k < n; k++) {
		lets[k] = var_new(m, r->rhs[k]->name, sources[k]->type);
		map.from[k] = r->lhs[k];
		map.to[k] = expr_load(m, te_target(b, s->out[k]->buffer), index,
				      s->n_axes);
		map.from[n + k] = r->rhs[k];
		map.to[n + k] = named ? lets[k]->expr : sources[k];
	}
	for (int k = 0; k < n; k++) {
		values[k] = take ? lets[k]->expr
				 : expr_substitute(m, r->result[k], &map);
	}
	if (take) {
		body = stmt_if(b->f, expr_substitute(m, take, &map),
			       store_all(b, s, values, index), NULL);
	} else {
		body = n > 1 ? store_at_once(b, s, values, index)
			     : store_all(b, s, values, index);
	}
	for (int k = n - 1; k >= 0 && named; k--) {
		body = stmt_let(b->f, lets[k], sources[k], body);
	}
	return body;
}

/* The sources of a reduction, as expressions of the block's variables. */
static const struct expr **
reduce_sources(struct te_build *b, const struct expr *body,
	       const struct var_map *map)
{
	struct module *m = b->m;
	const struct reduction *r = body->u.reduce;
	const struct expr **sources = arena_exprs(&m->arena, r->reducer->n);

	for (int k = 0; k < r->reducer->n; k++) {
		sources[k] = te_inside(b, body->args[k], map);
		if (r->condition) {
			sources[k] = expr_if(m, te_inside(b, r->condition, map),
					     sources[k],
					     r->reducer->identity[k]);
		}
	}
	return sources;
}

/* The initial values of a reduction, as expressions of the block's
 * variables. */
static const struct expr **
reduce_start(struct te_build *b, const struct reduction *r,
	     const struct var_map *map)
{
	const struct expr **start = arena_exprs(&b->m->arena, r->reducer->n);

	for (int k = 0; k < r->reducer->n; k++) {
		start[k] = r->init ? te_inside(b, r->init[k], map)
				   : r->reducer->identity[k];
	}
	return start;
}

static struct region *
point_regions(struct te_build *b, const struct te_stage *s,
	      const struct expr *const *index)
{
	struct arena *a = &b->m->arena;
	struct region *list = arena_array(a, struct region, s->n_out);

	for (int k = 0; k < s->n_out; k++) {
		list[k].buffer = te_target(b, s->out[k]->buffer);
		list[k].ranges = arena_array(a, struct range, s->n_axes + 1);
		for (int d = 0; d < s->n_axes; d++) {
			list[k].ranges[d].min = index[d];
			list[k].ranges[d].extent = expr_int(b->m,
							    index[d]->type, 1);
		}
	}
	return list;
}

struct stmt *
te_build_compute(struct te_build *b, const struct te_stage *s,
		 const struct te_step *step)
{
	struct module *m = b->m;
	bool reduces = s->bodies[0]->kind == EXPR_REDUCE;
	const struct reduction *r = reduces ? s->bodies[0]->u.reduce : NULL;
	struct te_nest nest = te_nest_new(b, s->n_axes + (r ? r->n_axes : 0));
	const struct expr **values = arena_exprs(&m->arena, s->n_out);
	const struct expr **start = NULL;
	struct region_list reads = { .m = m };
	struct block block = { .name = te_unique_name(b, s->name) };
	struct stmt *body, *init = NULL;

	reduces = reduces && !is_empty(r);
	for (int i = 0; i < s->n_axes; i++) {
		if (step && i == 0) {
			nest_add_time(b, &nest, &s->axes[0], step);
		} else {
			te_nest_add(b, &nest, &s->axes[i]);
		}
	}
	for (int i = 0; reduces && i < r->n_axes; i++) {
		te_nest_add(b, &nest, &r->axes[i]);
	}
	if (r) {
		assert(r->reducer->n == s->n_out);
		start = reduce_start(b, r, &nest.map);
	}
	if (reduces) {
		values = reduce_sources(b, s->bodies[0], &nest.map);
		init = store_all(b, s, start, nest.map.to);
		body = update(b, s, r->reducer, values, nest.map.to);
	} else {
		for (int k = 0; k < s->n_out; k++) {
			values[k] = r ? start[k]
				      : te_inside(b, s->bodies[k], &nest.map);
		}
		body = store_all(b, s, values, nest.map.to);
	}
	block.iters = nest.iters;
	block.n_iters = nest.map.n;
	for (int k = 0; k < s->n_out; k++) {
		add_reads(&reads, values[k]);
	}
	for (int k = 0; reduces && k < s->n_out; k++) {
		add_reads(&reads, start[k]);
	}
	block.reads = reads.list.data;
	block.n_reads = reads.list.n;
	block.writes = point_regions(b, s, nest.map.to);
	block.n_writes = s->n_out;
	body = stmt_block(b->f, &block, expr_bool(m, true), nest.bindings, init,
			  body);
	if (b->blocks) {
		struct te_block made = { s, body->id };

		vec_push(&m->arena, b->blocks, made);
	}
	return te_nest_loops(b, &nest, body);
}

struct stmt *
te_build_copy(struct te_build *b, const char *name, const struct buffer *from,
	      const struct buffer *out, const struct te_step *step,
	      const struct expr *extent)
{
	struct module *m = b->m;
	struct te_nest nest = te_nest_new(b, out->ndim);
	struct region_list reads = { .m = m };
	struct block block = { .name = te_unique_name(b, name) };
	struct region write = { out, arena_array(&m->arena, struct range,
						 out->ndim + 1) };
	const struct expr *value;
	struct stmt *body;

	for (int d = 0; d < out->ndim; d++) {
		const char *axis = d == 0 && step
					   ? step->axis.var->name
					   : arena_printf(&m->arena, "i%d", d);
		struct iter_var it = te_reduce_axis(m, axis,
						    d == 0 && extent
							    ? extent
							    : out->shape[d]);

		it.kind = ITER_SPATIAL;
		if (d == 0 && step) {
			nest_add_time(b, &nest, &it, step);
		} else {
			te_nest_add(b, &nest, &it);
		}
		write.ranges[d].min = nest.map.to[d];
		write.ranges[d].extent = expr_int(m, it.var->type, 1);
	}
	value = expr_load(m, from, nest.map.to, out->ndim);
	add_reads(&reads, value);
	block.iters = nest.iters;
	block.n_iters = nest.map.n;
	block.reads = reads.list.data;
	block.n_reads = reads.list.n;
	block.writes = arena_copy(&m->arena, &write, sizeof write);
	block.n_writes = 1;
	body = stmt_store(b->f, out, value, nest.map.to, out->ndim);
	body = stmt_block(b->f, &block, expr_bool(m, true), nest.bindings, NULL,
			  body);
	return te_nest_loops(b, &nest, body);
}
