/* SPDX-License-Identifier: Apache-2.0 */
/* For languages without vectors, or with vectors that are only loaded and stored:
 * statements on vectors become loops over their lanes. A variable that holds a vector
 * becomes an array of its lanes. Works on lowered functions.
 *
 *	x: float32x4 = A[0:4]           x = T.alloc((4,), "float32")
 *	B[i * 4:i * 4 + 4] = x + x  ->  for lane in range(4):
 *	                                    x[lane] = A[lane]
 *	                                for lane in range(4):
 *	                                    B[i * 4 + lane] = x[lane] + x[lane]
 *
 * All lanes of a value are computed before one is stored. So if the value reads
 * other elements of the array that is stored, its lanes are kept in an array. */
#include "lower.h"

#include "iterate.h"
#include "memo.h"

struct lane_loops {
	struct func *f;
	struct module *m;
	/* the variables that hold vectors, and the arrays of their lanes */
	VEC(const struct var *) vars;
	VEC(const struct buffer *) arrays;
	const struct expr *lane; /* the variable of the current loop */
	/* by expression: its value in the current lane */
	struct memo done;
	bool failed;
};

static const struct expr *lane_of(struct lane_loops *x, const struct expr *e);

static const struct buffer *
array_of(const struct lane_loops *x, const struct var *v)
{
	for (int i = 0; i < x->vars.n; i++) {
		if (x->vars.data[i] == v) {
			return x->arrays.data[i];
		}
	}
	return NULL;
}

static const struct expr *
give_up(struct lane_loops *x, const struct expr *e)
{
	x->failed = true;
	return e;
}

/* Rebuilds the operation e, which has no payload of its own, on the lanes of its
 * operands. */
static const struct expr *
operation(struct lane_loops *x, const struct expr *e)
{
	const struct expr **args = arena_exprs(&x->m->arena, e->n_args + 1);
	struct dtype number = { e->type.kind, 1 };

	for (int i = 0; i < e->n_args; i++) {
		args[i] = lane_of(x, e->args[i]);
	}
	switch (e->kind) {
	case EXPR_LOAD:
		return e->u.buffer->type.lanes == 1
			       ? expr_load(x->m, e->u.buffer, args, e->n_args)
			       : give_up(x, e);
	case EXPR_CAST:
		return expr_cast(x->m, number, args[0]);
	case EXPR_CALL:
		return intrin_is_pure(e->u.intrin) &&
				       e->u.intrin != INTRIN_CALL_INTRIN &&
				       !intrin_is_address(e->u.intrin) &&
				       e->n_args > 0 &&
				       e->args[0]->type.lanes == e->type.lanes
			       ? expr_call(x->m, e->u.intrin, number, args,
					   e->n_args)
			       : give_up(x, e);
	default:
		return expr_rebuild(x->m, e, args);
	}
}

static const struct expr *
of_vector(struct lane_loops *x, const struct expr *e)
{
	struct dtype number = { e->type.kind, 1 };
	const struct buffer *array;

	switch (e->kind) {
	case EXPR_INT:
		return expr_int(x->m, number, e->u.ival);
	case EXPR_FLOAT:
		return expr_float(x->m, number, e->u.fval);
	case EXPR_BROADCAST:
		return e->args[0];
	case EXPR_RAMP:
		return expr_add(x->m, e->args[0],
				expr_mul(x->m, expr_cast(x->m, number, x->lane),
					 e->args[1]));
	case EXPR_VAR:
		array = array_of(x, e->u.var);
		return array != NULL ? expr_load(x->m, array, &x->lane, 1)
				     : give_up(x, e);
	default:
		return operation(x, e);
	}
}

/* Does the expression have a vector in it? */
static bool
has_vector(const struct expr *e)
{
	struct expr_iter it = expr_each(e);
	const struct expr *one;
	bool found = false;

	while (!found && (one = expr_next(&it)) != NULL) {
		found = one->type.lanes > 1;
	}
	expr_stop(&it);
	return found;
}

/* The value of e in the current lane; a number is the same in all. */
static const struct expr *
lane_of(struct lane_loops *x, const struct expr *e)
{
	const struct memo_entry *known = memo_get(&x->done, e);
	const struct expr *result;

	if (known != NULL) {
		return known->value;
	}
	result = e->type.lanes > 1 ? of_vector(x, e)
		 : has_vector(e)   ? give_up(x, e)
				   : e;
	memo_put(&x->done, e, result);
	return result;
}

/* -- statements -- */

/* A loop over n lanes that stores the lane's value in `to`. The index is that of
 * the lane if `index` is NULL. */
static struct stmt *
store_lanes(struct lane_loops *x, const struct buffer *to,
	    const struct expr *const *index, int n_index,
	    const struct expr *value, int n)
{
	struct var *v = var_new(x->m, "lane", dtype_of(DT_I32));
	const struct expr **at = arena_exprs(&x->m->arena, n_index + 1);
	struct stmt *store;

	x->lane = v->expr;
	memo_init(&x->done);
	for (int i = 0; i < n_index; i++) {
		at[i] = lane_of(x, index[i]);
	}
	store = n_index > 0
			? stmt_store(x->f, to, lane_of(x, value), at, n_index)
			: stmt_store(x->f, to, lane_of(x, value), &x->lane, 1);
	memo_release(&x->done);
	return stmt_for(x->f, v, expr_i32(x->m, 0), expr_i32(x->m, n),
			FOR_SERIAL, store);
}

static const struct buffer *
new_array(struct lane_loops *x, const char *name, struct dtype type)
{
	const struct expr *extent = expr_i32(x->m, type.lanes);
	struct buffer_spec spec = {
		.name = name,
		.type = { type.kind, 1 },
		.ndim = 1,
		.shape = &extent,
		.scope = "local",
	};

	return buffer_new(x->m, &spec);
}

/* Do the indices read the memory that the statement stores to? Then a lane's index
 * could be read after the store of another lane. */
static bool
indices_read_stored(const struct stmt *s)
{
	bool found = false;

	for (int i = 1; i < s->n_args; i++) {
		struct expr_iter it = expr_each(s->args[i]);
		const struct expr *e;

		while ((e = expr_next(&it)) != NULL) {
			found |= e->kind == EXPR_LOAD &&
				 e->u.buffer->data == s->u.buffer->data;
		}
		expr_stop(&it);
	}
	return found;
}

/* Is it certain that the lanes store to different elements: is an index a ramp? */
static bool
lanes_are_apart(const struct stmt *s)
{
	int64_t stride;

	for (int i = 1; i < s->n_args; i++) {
		if (s->args[i]->kind == EXPR_RAMP &&
		    expr_is_int(s->args[i]->args[1], &stride) && stride != 0) {
			return true;
		}
	}
	return false;
}

/* May the value read elements of the stored array other than, in each lane, the
 * one that is stored? */
static bool
reads_others(const struct stmt *s)
{
	struct expr_iter it = expr_each(s->args[0]);
	const struct expr *e;
	bool found = false;

	while (!found && (e = expr_next(&it)) != NULL) {
		if (e->kind != EXPR_LOAD ||
		    e->u.buffer->data != s->u.buffer->data) {
			continue;
		}
		found |= e->u.buffer != s->u.buffer || !lanes_are_apart(s);
		for (int i = 0; !found && i < e->n_args; i++) {
			found |= e->args[i] != s->args[i + 1];
		}
	}
	expr_stop(&it);
	return found;
}

/* Are the indices those of neighbours: numbers, and a ramp with the step 1 last? */
static bool
are_neighbours(const struct expr *const *index, int n)
{
	for (int i = 0; i < n; i++) {
		bool ramp = i == n - 1 && index[i]->kind == EXPR_RAMP &&
			    expr_is_value(index[i]->args[1], 1);

		if (!ramp && index[i]->type.lanes > 1) {
			return false;
		}
	}
	return true;
}

/* Does the statement copy neighbours, as a whole vector, and compute nothing? */
static bool
copies(const struct stmt *s)
{
	const struct expr *e = s->args[0];

	return e->kind == EXPR_LOAD && e->type.lanes > 1 &&
	       are_neighbours(e->args, e->n_args) &&
	       are_neighbours(s->args + 1, s->n_args - 1);
}

/* The number of lanes that the statement stores; 1 for a number. */
static int
lanes_stored(const struct stmt *s)
{
	int n = s->args[0]->type.lanes;

	for (int i = 1; i < s->n_args; i++) {
		n = s->args[i]->type.lanes > n ? s->args[i]->type.lanes : n;
	}
	return n;
}

static void
replace_store(struct lane_loops *x, struct stmt *s)
{
	const struct buffer *b = s->u.buffer, *array;
	const struct expr *const *index = s->args + 1;
	int n = lanes_stored(s);
	struct stmt *loops[2];
	struct var *copy;

	if (n == 1) {
		return;
	}
	if (b->type.lanes > 1 || indices_read_stored(s)) {
		x->failed = true;
		return;
	}
	if (!reads_others(s)) {
		stmt_replace(x->f, s,
			     store_lanes(x, b, index, s->n_args - 1, s->args[0],
					 n));
		return;
	}
	array = new_array(x, "lanes",
			  (struct dtype){ b->type.kind, (uint16_t)n });
	copy = var_new(x->m, "lanes", s->args[0]->type);
	loops[0] = store_lanes(x, array, NULL, 0, s->args[0], n);
	vec_push(&x->m->arena, &x->vars, copy);
	vec_push(&x->m->arena, &x->arrays, array);
	loops[1] = store_lanes(x, b, index, s->n_args - 1, copy->expr, n);
	stmt_replace(x->f, s,
		     stmt_alloc(x->f, array, stmt_seq(x->f, loops, 2)));
}

/* Replaces the variable by an array, whose lanes are stored first. */
static void
replace_let(struct lane_loops *x, struct stmt *s)
{
	const struct var *v = s->u.var;
	const struct buffer *array;
	struct stmt *parts[2], *empty = stmt_seq(x->f, NULL, 0);

	if (v->type.lanes == 1) {
		return;
	}
	array = new_array(x, v->name, v->type);
	parts[0] = store_lanes(x, array, NULL, 0, s->args[0], v->type.lanes);
	parts[1] = s->children[0];
	stmt_set_child(x->f, s, 0, empty);
	vec_push(&x->m->arena, &x->vars, v);
	vec_push(&x->m->arena, &x->arrays, array);
	stmt_replace(x->f, s,
		     stmt_alloc(x->f, array, stmt_seq(x->f, parts, 2)));
}

bool
lower_has_vectors(const struct func *f)
{
	struct tree_iter it = tree_each(f->body);
	const struct expr *e;
	bool found = false;

	while (!found && (e = tree_next(&it)) != NULL) {
		found = e->type.lanes > 1;
	}
	tree_stop(&it);
	return found;
}

bool
lower_lane_loops(struct func *f, bool keeps_copies)
{
	struct lane_loops x = { .f = f, .m = f->module };
	VEC(struct stmt *) found = { 0 };
	struct stmt_iter it = stmt_each(f->body);
	struct stmt *s;

	while ((s = stmt_next(&it)) != NULL) {
		if (s->kind == STMT_LET ||
		    (s->kind == STMT_STORE && !(keeps_copies && copies(s)))) {
			vec_push(&x.m->arena, &found, s);
		}
	}
	for (int i = 0; i < found.n && !x.failed; i++) {
		if (found.data[i]->kind == STMT_LET) {
			replace_let(&x, found.data[i]);
		} else {
			replace_store(&x, found.data[i]);
		}
	}
	return !x.failed && (keeps_copies || !lower_has_vectors(f));
}
