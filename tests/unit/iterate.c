/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators: their order, what they skip, and deep and wide trees. */
#include "iterate.h"

#include "check.h"
#include "func.h"

static const struct dtype i32 = { DT_I32, 1 };

static int
count_nodes(const struct expr *e)
{
	struct expr_iter it = expr_each(e);
	int n = 0;

	while (expr_next(&it) != NULL) {
		n++;
	}
	CHECK(expr_next(&it) == NULL);
	return n;
}

static void
check_exprs(struct module *m)
{
	struct var *x = var_new(m, "x", i32), *y = var_new(m, "y", i32);
	const struct expr *sum = expr_add(m, x->expr, y->expr);
	const struct expr *e = expr_mul(m, sum, sum);
	const struct expr *order[] = { x->expr, y->expr, sum, e };
	struct expr_iter it = expr_each(e);

	for (int i = 0; i < 4; i++) {
		CHECK(expr_next(&it) == order[i]);
	}
	CHECK(expr_next(&it) == NULL && expr_next(&it) == NULL);
	CHECK_EQ(count_nodes(x->expr), 1);
	it = expr_each_of(e, EXPR_VAR);
	CHECK(expr_next(&it) == x->expr && expr_next(&it) == y->expr);
	CHECK(expr_next(&it) == NULL);
	CHECK(expr_has(e, EXPR_ADD) && !expr_has(e, EXPR_SUB));
	/* 2^60 paths, 64 nodes */
	for (int i = 0; i < 60; i++) {
		e = expr_add(m, e, e);
	}
	CHECK_EQ(count_nodes(e), 64);
}

/* An iteration that ends early may have come to memory of its own. */
static void
check_deep_expr(struct module *m)
{
	struct var *x = var_new(m, "x", i32);
	const struct expr *e = x->expr;
	struct expr_iter it;

	for (int i = 0; i < 200000; i++) {
		e = expr_add(m, e, x->expr);
	}
	CHECK_EQ(count_nodes(e), 200001);
	it = expr_each(e);
	CHECK(expr_next(&it) == x->expr);
	expr_stop(&it);
	expr_stop(&it);
	CHECK(expr_next(&it) == NULL);
	it = expr_each(e);
	expr_stop(&it);
	CHECK(expr_next(&it) == NULL);
}

/* Besides the value: the axis, the condition and the initial value. */
static void
check_reduction(struct module *m)
{
	struct var *k = var_new(m, "k", i32), *n = var_new(m, "n", i32);
	struct var *c = var_new(m, "c", dtype_of(DT_BOOL));
	const struct expr *value = expr_i32(m, 7), *init = expr_i32(m, 9);
	struct iter_var axis = { k, expr_i32(m, 3), n->expr, ITER_REDUCE };
	struct reduction r = {
		reducer_sum(m, i32), &axis, 1, 0, c->expr, &init
	};
	const struct expr *e = expr_reduce(m, &r, &value, 1);
	const struct expr *order[] = { value,   axis.min, n->expr,
				       c->expr, init,     e };
	struct expr_iter it = expr_each(e);

	for (int i = 0; i < 6; i++) {
		CHECK(expr_next(&it) == order[i]);
	}
	CHECK(expr_next(&it) == NULL);
}

static struct stmt *
evaluate(struct func *f, int64_t v)
{
	return stmt_evaluate(f, expr_i32(f->module, v));
}

static void
check_stmts(struct func *f)
{
	struct module *m = f->module;
	struct var *i = var_new(m, "i", i32);
	const struct expr *c = expr_lt(m, i->expr, expr_i32(m, 4));
	struct stmt *parts[2] = { evaluate(f, 1), NULL }, *body, *loop;
	struct stmt_iter it;

	/* for i: { 1; if (c) 2; }, with an absent else */
	parts[1] = stmt_if(f, c, evaluate(f, 2), NULL);
	body = stmt_seq(f, parts, 2);
	loop = stmt_for(f, i, expr_i32(m, 0), expr_i32(m, 8), FOR_SERIAL, body);
	it = stmt_each(loop);
	CHECK(stmt_next(&it) == loop && stmt_next(&it) == body);
	CHECK(stmt_next(&it) == parts[0] && stmt_next(&it) == parts[1]);
	stmt_skip(&it);
	CHECK(stmt_next(&it) == NULL && stmt_next(&it) == NULL);
	it = stmt_each_of(loop, STMT_EVALUATE);
	CHECK(stmt_next(&it) == parts[0]);
	CHECK(stmt_next(&it) == parts[1]->children[0]);
	CHECK(stmt_next(&it) == NULL);
	it = stmt_each(parts[0]); /* nothing beside the root */
	CHECK(stmt_next(&it) == parts[0] && stmt_next(&it) == NULL);
	it = stmt_each(NULL);
	CHECK(stmt_next(&it) == NULL);
	CHECK(stmt_has(loop, STMT_IF) && !stmt_has(loop, STMT_WHILE));
	CHECK(stmt_uses_var(loop, i) && !stmt_uses_var(parts[0], i));
	CHECK_EQ(stmts_of(&m->arena, loop, STMT_EVALUATE).list.n, 2);
}

/* Many levels, with statements before and after the deep one. */
static void
check_deep_stmt(struct func *f)
{
	struct module *m = f->module;
	struct stmt *s = evaluate(f, 0);
	struct stmt_list all;
	int64_t v, depth = 96;

	for (int64_t i = 1; i <= depth; i++) {
		struct stmt *list[3] = { evaluate(f, -i), s, evaluate(f, i) };
		struct var *x = var_new(m, "x", i32);

		s = stmt_let(f, x, expr_i32(m, 0), stmt_seq(f, list, 3));
	}
	all = stmts_of(&m->arena, s, STMT_EVALUATE);
	CHECK_EQ(all.list.n, 2 * depth + 1);
	for (int i = 0; i < all.list.n; i++) {
		CHECK(expr_is_int(all.list.data[i]->args[0], &v));
		CHECK_EQ(v, i - depth);
	}
}

static void
check_trees(struct func *f)
{
	struct module *m = f->module;
	struct var *x = var_new(m, "x", i32);
	const struct expr *cond = expr_lt(m, x->expr, expr_i32(m, 4));
	const struct expr *name = expr_string(m, "g"), *call, *e;
	struct stmt *then, *s;
	struct tree_iter it;
	int n = 0;

	call = expr_call(m, INTRIN_CALL_EXTERN, i32, &name, 1);
	then = stmt_evaluate(f, call);
	s = stmt_if(f, cond, then, stmt_return(f, NULL));
	for (it = tree_each(s); (e = tree_next(&it));) {
		CHECK(it.at == (n < 3 ? s : then));
		n++;
	}
	CHECK_EQ(n, 5);
	CHECK(tree_next(&it) == NULL);
	it = tree_each_of(s, EXPR_CALL);
	CHECK(tree_next(&it) == call && tree_next(&it) == NULL);
	it = tree_each_arg(s);
	CHECK(tree_next(&it) == x->expr && it.at == s);
	tree_stop(&it);
	CHECK(tree_next(&it) == NULL);
	it = exprs_each(NULL, 3);
	CHECK(tree_next(&it) == NULL);
	it = exprs_each_of(s->args, s->n_args, EXPR_VAR);
	CHECK(tree_next(&it) == x->expr && tree_next(&it) == NULL);
	CHECK(stmt_call_of(s, INTRIN_CALL_EXTERN, "g") == call);
	CHECK(stmt_call_of(s, INTRIN_CALL_EXTERN, "h") == NULL);
}

int
main(void)
{
	struct module *m = module_new();
	struct func *f = func_new(m, "f");

	check_exprs(m);
	check_deep_expr(m);
	check_reduction(m);
	check_stmts(f);
	check_deep_stmt(f);
	check_trees(f);
	module_free(m);
	return check_done();
}
