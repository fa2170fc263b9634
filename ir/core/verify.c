/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of functions: the invariants that every pass relies on.
 * Statements here, expressions in verify_expr.c. An error is a bug in tirc. */
#include "verify.h"

#include <stdlib.h>

#include "iterate.h"

static void verify_stmt(struct verifier *v, struct stmt *s,
			struct stmt *parent);

/* ---- reporting */

enum { MAX_REPORTS = 10 };

void
verify_fail(struct verifier *v, const char *what, const struct expr *e)
{
	struct diag_place place = { .item = v->func->name };
	struct strbuf text;

	if (v->n_errors++ >= MAX_REPORTS) {
		return;
	}
	strbuf_init(&text);
	if (e) {
		expr_print(e, &text);
	}
	if (v->stmt) {
		place.line = v->stmt->pos.line;
		place.col = v->stmt->pos.col;
	}
	if (v->stmt && v->stmt->kind == STMT_BLOCK && v->stmt->u.block) {
		place.item = arena_printf(&v->arena, "%s: block '%s'",
					  v->func->name,
					  v->stmt->u.block->name);
	} else if (v->stmt) {
		place.item = arena_printf(&v->arena, "%s: %s", v->func->name,
					  stmt_kind_name(v->stmt->kind));
	}
	diag_error(&v->func->module->diags, DIAG_VERIFY, place,
		   "%s%s%s; this is a bug", what, e ? ": " : "",
		   e ? text.data : "");
	strbuf_release(&text);
}

/* ---- scopes */

static void
enter_var(struct verifier *v, const struct var *var)
{
	int *mark = pointer_map_value(&v->marks, var);

	if (*mark) {
		verify_fail(v, "a variable is bound twice", var->expr);
	}
	*mark = 1;
}

static void
leave_var(struct verifier *v, const struct var *var)
{
	*pointer_map_value(&v->marks, var) = 0;
}

static void
enter_buffer(struct verifier *v, const struct buffer *b, bool is_param)
{
	int *mark = pointer_map_value(&v->marks, b);

	if (*mark) {
		verify_fail(v,
			    arena_printf(&v->arena,
					 "buffer '%s' is declared twice",
					 b->name),
			    NULL);
	}
	*mark = 1 + v->blocks.n;
	if (!b->data) {
		verify_fail(v,
			    arena_printf(&v->arena,
					 "buffer '%s' has no pointer", b->name),
			    NULL);
	} else if (!is_param) {
		*pointer_map_value(&v->marks, b->data) = 1;
	}
	for (int d = 0; d < b->ndim; d++) {
		verify_index(v, b->shape[d]);
		if (b->strides) {
			verify_index(v, b->strides[d]);
		}
	}
}

static void
leave_buffer(struct verifier *v, const struct buffer *b)
{
	*pointer_map_value(&v->marks, b) = 0;
	if (b->data) {
		*pointer_map_value(&v->marks, b->data) = 0;
	}
}

/* ---- blocks */

static bool
range_holds(const struct range *range, const struct expr *index)
{
	int64_t min, extent, at;

	if (index == range->min) {
		return true;
	}
	if (!expr_is_int(range->min, &min) ||
	    !expr_is_int(range->extent, &extent) || !expr_is_int(index, &at)) {
		/* only indices that are all constants are checked */
		return true;
	}
	return at >= min && at < min + extent;
}

static bool
regions_hold(const struct region *list, int n, const struct buffer *b,
	     const struct expr *const *index)
{
	for (int i = 0; i < n; i++) {
		bool holds = list[i].buffer == b;

		for (int d = 0; holds && index && d < b->ndim; d++) {
			holds = range_holds(&list[i].ranges[d], index[d]);
		}
		if (holds) {
			return true;
		}
	}
	return false;
}

/* Checks that each block around an access of b declares the access, up to the
 * block that allocates b. The root block declares no regions. A block may read
 * a buffer that it writes (a reduction) without declaring the read. */
void
verify_access(struct verifier *v, const struct buffer *b,
	      const struct expr *const *index, bool writes)
{
	int declared = *pointer_map_value(&v->marks, b) - 1,
	    innermost = v->blocks.n - 1;

	for (int i = innermost; i >= 0 && i >= declared; i--) {
		const struct stmt *s = v->blocks.data[i];
		const struct block *block = s->u.block;

		if (s->parent == NULL && block->n_iters == 0) {
			return;
		}
		if (i < innermost) {
			/* for blocks around the innermost one, the indices are
			 * not compared, because they use the inner block's
			 * variables: it is enough that the block declares the
			 * buffer */
			index = NULL;
		}
		if (regions_hold(block->writes, block->n_writes, b, index) ||
		    (!writes &&
		     regions_hold(block->reads, block->n_reads, b, index))) {
			continue;
		}
		verify_fail(v,
			    arena_printf(&v->arena,
					 "block '%s' does not "
					 "declare that it %s '%s'",
					 block->name,
					 writes ? "writes" : "reads", b->name),
			    NULL);
		return;
	}
}

static void
verify_regions(struct verifier *v, const struct region *list, int n)
{
	for (int i = 0; i < n; i++) {
		verify_buffer(v, list[i].buffer);
		for (int d = 0; d < list[i].buffer->ndim; d++) {
			const struct range *range = &list[i].ranges[d];

			verify_index(v, range->min);
			verify_index(v, range->extent);
			if (!dtype_equal(range->min->type,
					 range->extent->type)) {
				verify_fail(v, "a region's range mixes types",
					    range->min);
			}
		}
	}
}

static void
verify_block(struct verifier *v, struct stmt *s)
{
	const struct block *b = s->u.block;

	if (!b || !b->name) {
		verify_fail(v, "a block has no struct block", NULL);
		return;
	}
	if (s->n_args != b->n_iters + 1 || s->n_children != 2) {
		verify_fail(v,
			    "a block needs a predicate and one binding "
			    "per iter var",
			    NULL);
		return;
	}
	v->stmt = s->parent; /* the predicate and the bindings are evaluated
			      * outside the block */
	verify_condition(v, s->args[0]);
	for (int i = 0; i < b->n_iters; i++) {
		const struct iter_var *iter = &b->iters[i];

		verify_index(v, s->args[1 + i]);
		verify_index(v, iter->min);
		verify_index(v, iter->extent);
		if (!dtype_equal(iter->var->type, s->args[1 + i]->type)) {
			verify_fail(v,
				    "a binding and its iter var have "
				    "different types",
				    s->args[1 + i]);
		}
	}
	v->stmt = s;
	for (int i = 0; i < b->n_iters; i++) {
		enter_var(v, b->iters[i].var);
	}
	/* regions name buffers that are allocated outside of the block */
	verify_regions(v, b->reads, b->n_reads);
	verify_regions(v, b->writes, b->n_writes);
	vec_push(&v->arena, &v->blocks, s);
	for (int i = 0; i < b->n_allocs; i++) {
		enter_buffer(v, b->allocs[i], false);
	}
	if (s->children[1]) {
		verify_stmt(v, s->children[1], s);
	}
	verify_stmt(v, s->children[0], s);
	v->blocks.n--;
	v->stmt = s;
	for (int i = 0; i < b->n_allocs; i++) {
		leave_buffer(v, b->allocs[i]);
	}
	for (int i = 0; i < b->n_iters; i++) {
		leave_var(v, b->iters[i].var);
	}
}

/* ---- the other statements */

static void
verify_for(struct verifier *v, struct stmt *s)
{
	const struct var *var = s->u.loop.var;

	verify_index(v, s->args[0]);
	verify_index(v, s->args[1]);
	if (!dtype_equal(s->args[0]->type, var->type) ||
	    !dtype_equal(s->args[1]->type, var->type)) {
		verify_fail(v,
			    "a loop's range and its variable have different "
			    "types",
			    var->expr);
	}
	if ((s->u.loop.kind == FOR_THREAD) != (s->u.loop.thread != NULL)) {
		verify_fail(v,
			    "a loop has a thread name but is not bound, or "
			    "the reverse",
			    var->expr);
	}
	enter_var(v, var);
	verify_stmt(v, s->children[0], s);
	leave_var(v, var);
}

static void
verify_store(struct verifier *v, struct stmt *s)
{
	verify_buffer(v, s->u.buffer);
	if (s->n_args != 1 + s->u.buffer->ndim) {
		verify_fail(v,
			    arena_printf(&v->arena,
					 "a store to '%s' has the wrong "
					 "number of indices",
					 s->u.buffer->name),
			    NULL);
		return;
	}
	verify_expr(v, s->args[0]);
	verify_element(v, s->u.buffer, s->args + 1, s->args[0]);
	verify_access(v, s->u.buffer, s->args + 1, true);
}

static bool
verify_shape(struct verifier *v, const struct stmt *s)
{
	static const struct {
		signed char args, min_children,
			max_children; /* -1: any number */
	} shape[] = {
		[STMT_FOR] = { 2, 1, 1 },     [STMT_BLOCK] = { -1, 1, 2 },
		[STMT_STORE] = { -1, 0, 0 },  [STMT_IF] = { 1, 1, 2 },
		[STMT_LET] = { 1, 1, 1 },     [STMT_ALLOC] = { 0, 1, 1 },
		[STMT_ATTR] = { 1, 1, 1 },    [STMT_EVALUATE] = { 1, 0, 0 },
		[STMT_WHILE] = { 1, 1, 1 },   [STMT_ASSERT] = { 2, 0, 0 },
		[STMT_RETURN] = { -1, 0, 0 }, [STMT_SEQ] = { 0, 0, -1 },
	};
	int n = s->n_children;

	if ((shape[s->kind].args >= 0 && s->n_args != shape[s->kind].args) ||
	    (s->kind == STMT_STORE && s->n_args < 1) ||
	    (s->kind == STMT_RETURN && s->n_args > 1) ||
	    n < shape[s->kind].min_children ||
	    (shape[s->kind].max_children >= 0 &&
	     n > shape[s->kind].max_children)) {
		verify_fail(v,
			    "a statement has the wrong number of "
			    "arguments or children",
			    NULL);
		return false;
	}
	for (int i = 0; i < s->n_args; i++) {
		if (!s->args[i]) {
			verify_fail(v, "an argument is missing", NULL);
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		bool optional = i == 1 &&
				(s->kind == STMT_BLOCK || s->kind == STMT_IF);

		if (!s->children[i] && !optional) {
			verify_fail(v, "a child is missing", NULL);
			return false;
		}
	}
	return true;
}

static void
verify_return(struct verifier *v, const struct stmt *s)
{
	struct dtype want = v->func->ret;

	if ((want.kind == DT_VOID) != (s->n_args == 0)) {
		verify_fail(v,
			    "a return has a value but the function has no "
			    "result, or the reverse",
			    NULL);
	} else if (s->n_args == 1) {
		verify_expr(v, s->args[0]);
		if (!dtype_equal(s->args[0]->type, want)) {
			verify_fail(v, "a return has the wrong type",
				    s->args[0]);
		}
	}
}

static void
verify_kind(struct verifier *v, struct stmt *s)
{
	switch (s->kind) {
	case STMT_FOR:
		verify_for(v, s);
		break;
	case STMT_BLOCK:
		verify_block(v, s);
		break;
	case STMT_STORE:
		verify_store(v, s);
		break;
	case STMT_IF:
	case STMT_WHILE:
		verify_condition(v, s->args[0]);
		for (int i = 0; i < s->n_children; i++) {
			if (s->children[i]) {
				verify_stmt(v, s->children[i], s);
			}
		}
		break;
	case STMT_LET:
		verify_expr(v, s->args[0]);
		if (!dtype_equal(s->args[0]->type, s->u.var->type)) {
			verify_fail(v,
				    "a let and its value have different "
				    "types",
				    s->args[0]);
		}
		enter_var(v, s->u.var);
		verify_stmt(v, s->children[0], s);
		leave_var(v, s->u.var);
		break;
	case STMT_ALLOC:
		enter_buffer(v, s->u.buffer, false);
		verify_stmt(v, s->children[0], s);
		leave_buffer(v, s->u.buffer);
		break;
	case STMT_ATTR:
		verify_expr(v, s->args[0]);
		verify_stmt(v, s->children[0], s);
		break;
	case STMT_EVALUATE:
		verify_expr(v, s->args[0]);
		break;
	case STMT_ASSERT:
		verify_condition(v, s->args[0]);
		if (s->args[1]->kind != EXPR_STRING) {
			verify_fail(v, "an assert has no message", NULL);
		}
		break;
	case STMT_RETURN:
		verify_return(v, s);
		break;
	case STMT_SEQ:
		for (int i = 0; i < s->n_children; i++) {
			verify_stmt(v, s->children[i], s);
		}
		break;
	case STMT_KIND_COUNT:
		break;
	}
}

static void
verify_stmt(struct verifier *v, struct stmt *s, struct stmt *parent)
{
	v->stmt = s;
	v->epoch++;
	if ((unsigned)s->kind >= STMT_KIND_COUNT) {
		verify_fail(v, "a statement has an unknown kind", NULL);
		return;
	}
	if (s->parent != parent) {
		verify_fail(v, "a statement has a wrong parent link", NULL);
		return;
	}
	if (s->id <= 0 || s->id >= v->func->next_id) {
		verify_fail(v, "a statement id is out of range", NULL);
	}
	if (*pointer_map_value(&v->marks, s)) {
		verify_fail(v, "a statement is in two places", NULL);
		return;
	}
	*pointer_map_value(&v->marks, s) = 1;
	vec_push(&v->arena, &v->ids, s->id);
	if (verify_shape(v, s)) {
		verify_kind(v, s);
	}
	v->stmt = parent;
	v->epoch++;
}

/* ---- functions */

/* Marks the variables in the shape and strides of a parameter as defined: they
 * need not be parameters themselves. */
static void
enter_sizes(struct verifier *v, const struct expr *const *list, int n)
{
	struct tree_iter it = exprs_each_of(list, n, EXPR_VAR);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		*pointer_map_value(&v->marks, e->u.var) = 1;
	}
}

static void
verify_params(struct verifier *v)
{
	const struct func *f = v->func;

	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		if (!p->var) {
			verify_fail(v, "a parameter has no variable", NULL);
			continue;
		}
		enter_var(v, p->var);
		if (p->buffer && p->buffer->data != p->var) {
			verify_fail(v,
				    "a buffer parameter is not its buffer's "
				    "pointer",
				    p->var->expr);
		}
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b) {
			enter_sizes(v, b->shape, b->ndim);
			enter_sizes(v, b->strides, b->ndim);
		}
	}
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer) {
			enter_buffer(v, f->params.data[i].buffer, true);
		}
	}
}

static int
compare_ids(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;

	return (x > y) - (x < y);
}

bool
func_verify(const struct func *f)
{
	struct verifier v = { .func = f, .epoch = 1 };

	arena_init(&v.arena);
	pointer_map_init(&v.marks, &v.arena);
	verify_params(&v);
	if (!f->body) {
		verify_fail(&v, "a function has no body", NULL);
	} else {
		verify_stmt(&v, f->body, NULL);
	}
	v.stmt = NULL;
	if (v.ids.n > 0) {
		qsort(v.ids.data, (size_t)v.ids.n, sizeof(int), compare_ids);
	}
	for (int i = 1; i < v.ids.n; i++) {
		if (v.ids.data[i] == v.ids.data[i - 1]) {
			verify_fail(&v, "two statements have the same id",
				    NULL);
			break;
		}
	}
	arena_release(&v.arena);
	return v.n_errors == 0;
}
