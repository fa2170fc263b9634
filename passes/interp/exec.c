/* SPDX-License-Identifier: Apache-2.0 */
/* The executor: compiles a function into a tree of loops over programs:
 *
 *	for i in range(64):                  loop i: 64
 *	    for j in range(1000):              loop j: 1000, in strips of 256
 *	        with T.sblock("C"): ...          r0 = load A + i*1000 + j
 *	            C[i, j] = A[i, j] * s[i]     r1 = load s + i   (uniform)
 *	                                         C + i*1000 + j = r0 * r1
 *
 * It returns NULL for functions with vectors, calls, while, return, asserts,
 * handles, or sizes that are not constant inside of a shape. */
#include "exec.h"

static struct exec_node *exec_statement(struct exec_builder *b,
					const struct stmt *s);

static struct exec_node *
new_node(struct exec_builder *b, enum exec_node_kind kind, int n_children)
{
	struct exec_node *x = arena_new(b->arena, struct exec_node);

	x->kind = kind;
	x->children = arena_array(b->arena, struct exec_node *, n_children + 1);
	x->n_children = n_children;
	return x;
}

static struct exec_program *
value_program(struct exec_builder *b, const struct expr *e)
{
	struct exec_program *p = exec_begin(b, NULL);

	p->result = exec_value(b, e);
	exec_end(b);
	return p;
}

static struct exec_node *
leaf_node(struct exec_builder *b, const struct stmt *s,
	  const struct stmt *folded, const struct exec_lanes *lanes)
{
	struct exec_node *x = new_node(b, EXEC_LEAF, 0);

	x->program = exec_begin(b, lanes);
	x->has_lanes = lanes != NULL;
	exec_leaf(b, s, folded);
	exec_end(b);
	return x;
}

/* ---- loops */

static bool
has_constant_range(const struct stmt *loop)
{
	return loop->args[0]->kind == EXPR_INT &&
	       loop->args[1]->kind == EXPR_INT;
}

/* Returns the number of loops of the perfect nest that starts at s, and sets
 * *body to the nest's body. Only the first loop may have a range that is not
 * constant. */
static int
measure_nest(const struct stmt *s, const struct stmt **body)
{
	int n = 1;
	const struct stmt *at = s->children[0];

	while (at->kind == STMT_FOR && has_constant_range(s) &&
	       has_constant_range(at)) {
		at = at->children[0];
		n++;
	}
	*body = at;
	return n;
}

static struct exec_node *
loop_node(struct exec_builder *b, const struct stmt *loop)
{
	struct exec_node *x = new_node(b, EXEC_LOOP, 1);

	if (!expr_is_int(loop->args[0], &x->min)) {
		x->min_program = value_program(b, loop->args[0]);
	}
	if (!expr_is_int(loop->args[1], &x->extent)) {
		x->extent_program = value_program(b, loop->args[1]);
	}
	return x;
}

static struct exec_node *
compile_nest(struct exec_builder *b, const struct stmt *s, int n,
	     const struct stmt *body)
{
	const struct stmt **loops = arena_array(b->arena, const struct stmt *,
						n);
	struct exec_node **at;
	struct exec_node *root = NULL;
	struct exec_lanes lanes = { NULL, NULL, -1, EXEC_LANES };

	for (int i = 0; i < n; i++) {
		loops[i] = i ? loops[i - 1]->children[0] : s;
	}
	struct exec_choice choice = exec_choose(b, loops, n, body);

	at = &root;
	for (int i = 0; i < n; i++) {
		struct exec_node *x = loop_node(b, loops[i]);

		x->slot = exec_slot(b, loops[i]->u.loop.var);
		if (i == choice.lanes) {
			lanes.var = loops[i]->u.loop.var;
		} else if (i == choice.rows) {
			lanes.row_var = loops[i]->u.loop.var;
		}
		if (choice.absorbed[i] ||
		    (i == choice.lanes && choice.rows >= 0)) {
			/* the iterations of this loop are lanes, so that its
			 * variable stays 0 */
			continue;
		}
		if (i == choice.lanes || i == choice.rows) {
			x->strip = choice.strip;
			x->inner = i == choice.rows ? (int)choice.extent : 1;
			x->extent = i == choice.rows ? choice.row_extent
						     : choice.extent;
			lanes.slot = x->slot;
		}
		*at = x;
		at = &x->children[0];
	}
	if (choice.rows >= 0) {
		lanes.inner = (int)choice.extent;
	}
	*at = leaf_node(b, body, choice.folded, lanes.var ? &lanes : NULL);
	return root;
}

static struct exec_node *
compile_for(struct exec_builder *b, const struct stmt *s)
{
	const struct stmt *body;
	int n = measure_nest(s, &body);
	int mark = b->bindings.n;
	struct exec_node *x;

	if (exec_is_leaf(body)) {
		x = compile_nest(b, s, n, body);
	} else {
		x = loop_node(b, s);
		x->slot = exec_slot(b, s->u.loop.var);
		x->children[0] = exec_statement(b, s->children[0]);
	}
	b->bindings.n = mark;
	return x;
}

/* ---- the rest */

static struct exec_node *
alloc_node(struct exec_builder *b, const struct buffer *buffer)
{
	struct exec_node *x = new_node(b, EXEC_ALLOC, 1);
	int64_t elems;

	if (!buffer_const_elems(buffer, &elems) || buffer->strides ||
	    buffer->type.lanes != 1) {
		b->failed = true;
		return x;
	}
	x->buffer = exec_buffer(b, buffer);
	x->bytes = elems * dtype_bytes(buffer->type);
	return x;
}

static struct exec_node *
if_node(struct exec_builder *b, const struct expr *condition, int n_children)
{
	struct exec_node *x = new_node(b, EXEC_IF, n_children);

	x->program = value_program(b, condition);
	return x;
}

static struct exec_node *
compile_block(struct exec_builder *b, const struct stmt *s)
{
	struct module *m = b->func->module;
	const struct block *block = s->u.block;
	const struct expr *first = expr_bool(m, true);
	int mark = b->bindings.n;
	struct exec_node *root = NULL;
	struct exec_node **at = &root;

	if (!expr_is_value(s->args[0], 1)) {
		*at = if_node(b, s->args[0], 1);
		at = &(*at)->children[0];
	}
	for (int i = 0; i < block->n_iters; i++) {
		if (block->iters[i].kind == ITER_REDUCE) {
			first = expr_and(m, first,
					 expr_eq(m, s->args[1 + i],
						 block->iters[i].min));
		}
	}
	exec_bind_block(b, s);
	for (int i = 0; i < block->n_allocs; i++) {
		*at = alloc_node(b, block->allocs[i]);
		at = &(*at)->children[0];
	}
	if (s->children[1]) {
		*at = new_node(b, EXEC_SEQ, 2);
		(*at)->children[0] = if_node(b, first, 1);
		(*at)->children[0]->children[0] =
			exec_statement(b, s->children[1]);
		at = &(*at)->children[1];
	}
	*at = exec_statement(b, s->children[0]);
	b->bindings.n = mark;
	return root;
}

static struct exec_node *
compile_let(struct exec_builder *b, const struct stmt *s)
{
	int mark = b->bindings.n;
	struct exec_node *x;

	if (exec_let_is_symbolic(s)) {
		exec_bind(b, s->u.var, s->args[0], -1, -1);
		x = exec_statement(b, s->children[0]);
	} else {
		x = new_node(b, EXEC_SET, 1);
		x->program = value_program(b, s->args[0]);
		x->is_bool = exec_column(s->u.var->type) == COLUMN_BOOL;
		b->failed |= dtype_is_float(s->u.var->type);
		x->slot = exec_slot(b, s->u.var);
		x->children[0] = exec_statement(b, s->children[0]);
	}
	b->bindings.n = mark;
	return x;
}

static struct exec_node *
compile_if(struct exec_builder *b, const struct stmt *s)
{
	bool both = s->n_children > 1 && s->children[1];
	struct exec_node *x = if_node(b, s->args[0], both ? 2 : 1);

	for (int i = 0; i < x->n_children; i++) {
		x->children[i] = exec_statement(b, s->children[i]);
	}
	return x;
}

static struct exec_node *
exec_statement(struct exec_builder *b, const struct stmt *s)
{
	struct exec_node *x;

	if (b->failed) {
		return NULL;
	}
	if (exec_is_leaf(s) && s->kind != STMT_SEQ) {
		return leaf_node(b, s, NULL, NULL);
	}
	switch (s->kind) {
	case STMT_FOR:
		return compile_for(b, s);
	case STMT_BLOCK:
		return compile_block(b, s);
	case STMT_LET:
		return compile_let(b, s);
	case STMT_IF:
		return compile_if(b, s);
	case STMT_ATTR:
		return exec_statement(b, s->children[0]);
	case STMT_ALLOC:
		x = alloc_node(b, s->u.buffer);
		x->children[0] = exec_statement(b, s->children[0]);
		return x;
	case STMT_SEQ:
		x = new_node(b, EXEC_SEQ, s->n_children);
		for (int i = 0; i < s->n_children; i++) {
			x->children[i] = exec_statement(b, s->children[i]);
		}
		return x;
	default:
		b->failed = true;
		return NULL;
	}
}

/* Sets *elems to the number of elements that the buffer spans in memory. False if it
 * is not constant, or if there are too many bytes. */
static bool
count_elems(const struct buffer *b, int64_t *elems)
{
	int64_t bytes;

	return buffer_span(b, elems) &&
	       !__builtin_mul_overflow(*elems, dtype_bytes(b->type), &bytes);
}

static void
measure_buffers(struct exec_builder *b)
{
	struct exec *x = b->exec;

	x->elems = arena_array(b->arena, int64_t, x->n_buffers + 1);
	for (int i = 0; i < x->n_buffers; i++) {
		b->failed |= !count_elems(b->buffers.data[i], &x->elems[i]);
	}
	for (int i = 0; i < x->n_params; i++) {
		int at = x->param_buffer[i];

		if (at >= 0) {
			x->param_bytes[i] = x->elems[at] *
					    dtype_bytes(
						    b->buffers.data[at]->type);
		}
	}
}

struct exec *
exec_compile(struct arena *a, const struct func *f)
{
	struct exec *x = arena_new(a, struct exec);
	struct exec_builder b = { .arena = a, .func = f, .exec = x };

	if (!f->body || f->ret.kind != DT_VOID) {
		return NULL;
	}
	x->n_params = f->params.n;
	x->param_slot = arena_array(a, int, f->params.n + 1);
	x->param_buffer = arena_array(a, int, f->params.n + 1);
	x->param_bytes = arena_array(a, int64_t, f->params.n + 1);
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		x->param_slot[i] = -1;
		x->param_buffer[i] = -1;
		if (p->buffer) {
			x->param_buffer[i] = exec_buffer(&b, p->buffer);
		} else if (dtype_is_int(p->var->type)) {
			x->param_slot[i] = exec_slot(&b, p->var);
		} else {
			b.failed = true;
		}
	}
	x->root = exec_statement(&b, f->body);
	measure_buffers(&b);
	if (b.failed) {
		return NULL;
	}
	exec_place_presets(x);
	return x;
}
