/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that run while a condition holds: through the interpreter, lowering
 * and as text. */
#include <stdlib.h>

#include "check.h"

#include "interp.h"
#include "lower.h"

struct setup {
	struct module *m;
	struct func *f;
	const struct buffer *x, *y;
	struct var *n;
};

static const struct buffer *
make_buffer(struct module *m, const char *name, const char *scope, int ndim,
	    const struct expr *extent)
{
	struct buffer_spec spec = {
		.name = name,
		.type = dtype_of(DT_I32),
		.ndim = ndim,
		.shape = &extent,
		.scope = scope,
	};

	return buffer_new(m, &spec);
}

/* A function of x[n], y[n] and n. */
static struct setup
begin(const char *name)
{
	struct setup s = { .m = module_new() };

	s.n = var_new_dim(s.m, "n", 1, 40);
	s.f = func_new(s.m, name);
	s.x = make_buffer(s.m, "x", NULL, 1, s.n->expr);
	s.y = make_buffer(s.m, "y", NULL, 1, s.n->expr);
	func_add_param(s.f, s.x->data, s.x);
	func_add_param(s.f, s.y->data, s.y);
	func_add_param(s.f, s.n, NULL);
	return s;
}

static const struct expr *
cell(struct setup *s, const struct buffer *b)
{
	return expr_load(s->m, b, NULL, 0);
}

static struct stmt *
set(struct setup *s, const struct buffer *b, const struct expr *value)
{
	return stmt_store(s->f, b, value, NULL, 0);
}

#define SEQ(s, ...)                                                            \
	stmt_seq((s)->f, (struct stmt *[]){ __VA_ARGS__ },                     \
		 (int)(sizeof((struct stmt *[]){ __VA_ARGS__ }) /              \
		       sizeof(struct stmt *)))

static void
print_diags(const struct module *m)
{
	for (int i = 0; i < m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", m->diags.list.data[i].message);
	}
}

static void
check_run(struct setup *s, const int32_t *x, const int32_t *want, int n,
	  const char *when)
{
	int32_t y[40];
	struct run_arg args[] = { { .read = x },
				  { .data = y },
				  { .scalar = n } };

	memset(y, 0xFF, sizeof y);
	CHECK(func_verify(s->f));
	CHECK(interp_run(s->f, args, 3));
	print_diags(s->m);
	for (int i = 0; i < n; i++) {
		if (!CHECK_EQ(y[i], want[i])) {
			fprintf(stderr, "\t%s, element %d of %d\n", when, i, n);
		}
	}
}

/* Before and after lowering; the executor leaves it to the interpreter. */
static void
finish(struct setup *s, struct stmt *body, const int32_t *x,
       const int32_t *want, int n)
{
	struct arena arena;
	struct block root = { .name = "root" };

	s->f->body = stmt_block(s->f, &root, expr_bool(s->m, true), NULL, NULL,
				body);
	check_run(s, x, want, n, "as made");
	arena_init(&arena);
	CHECK(exec_compile(&arena, s->f) == NULL);
	arena_release(&arena);
	CHECK(lower_func(s->f, NULL));
	print_diags(s->m);
	check_run(s, x, want, n, "lowered");
	if (getenv("PRINT")) {
		struct strbuf out;

		strbuf_init(&out);
		func_print(s->f, SCRIPT_CURRENT, &out);
		fprintf(stderr, "%s\n", out.data);
		strbuf_release(&out);
	}
	module_free(s->m);
}

/* How many steps until x[i] is 1: halve it, or triple it and add one. */
static void
test_collatz(void)
{
	struct setup s = begin("collatz");
	struct module *m = s.m;
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	const struct buffer *v = make_buffer(m, "v", "local", 0, NULL);
	const struct buffer *steps = make_buffer(m, "steps", "local", 0, NULL);
	const struct expr *at = i->expr, *two = expr_i32(m, 2);
	const struct expr *even = expr_eq(m, expr_floormod(m, cell(&s, v), two),
					  expr_i32(m, 0));
	struct stmt *body =
		SEQ(&s,
		    stmt_if(s.f, even,
			    set(&s, v, expr_floordiv(m, cell(&s, v), two)),
			    set(&s, v,
				expr_add(m,
					 expr_mul(m, cell(&s, v),
						  expr_i32(m, 3)),
					 expr_i32(m, 1)))),
		    set(&s, steps,
			expr_add(m, cell(&s, steps), expr_i32(m, 1))));
	static const int32_t x[] = { 1, 2, 3, 7, 27, 8 };
	static const int32_t want[] = { 0, 1, 7, 16, 111, 3 };

	body = SEQ(&s, set(&s, v, expr_load(m, s.x, &at, 1)),
		   set(&s, steps, expr_i32(m, 0)),
		   stmt_while(s.f, expr_lt(m, expr_i32(m, 1), cell(&s, v)),
			      body),
		   stmt_store(s.f, s.y, cell(&s, steps), &at, 1));
	body = stmt_alloc(s.f, v, stmt_alloc(s.f, steps, body));
	body = stmt_for(s.f, i, expr_i32(m, 0), s.n->expr, FOR_SERIAL, body);
	finish(&s, body, x, want, 6);
}

/* y[i]: the first place where sorted x is not below i * 3. A load bounds what
 * the next load reads. */
static void
test_search(void)
{
	struct setup s = begin("search");
	struct module *m = s.m;
	struct var *i = var_new(m, "i", dtype_of(DT_I32));
	struct var *mid = var_new(m, "mid", dtype_of(DT_I32));
	const struct buffer *lo = make_buffer(m, "lo", "local", 0, NULL);
	const struct buffer *hi = make_buffer(m, "hi", "local", 0, NULL);
	const struct expr *at = i->expr, *middle = mid->expr;
	const struct expr *below = expr_lt(m, expr_load(m, s.x, &middle, 1),
					   expr_mul(m, at, expr_i32(m, 3)));
	struct stmt *body;
	static const int32_t x[] = { -1, 0, 2, 5, 5, 9, 12 };
	static const int32_t want[] = { 1, 3, 5, 5, 6, 7, 7 };

	body = stmt_if(s.f, below,
		       set(&s, lo, expr_add(m, middle, expr_i32(m, 1))),
		       set(&s, hi, middle));
	body = stmt_let(s.f, mid,
			expr_floordiv(m,
				      expr_add(m, cell(&s, lo), cell(&s, hi)),
				      expr_i32(m, 2)),
			body);
	body = SEQ(&s, set(&s, lo, expr_i32(m, 0)), set(&s, hi, s.n->expr),
		   stmt_while(s.f, expr_lt(m, cell(&s, lo), cell(&s, hi)),
			      body),
		   stmt_store(s.f, s.y, cell(&s, lo), &at, 1));
	body = stmt_alloc(s.f, lo, stmt_alloc(s.f, hi, body));
	body = stmt_for(s.f, i, expr_i32(m, 0), s.n->expr, FOR_SERIAL, body);
	finish(&s, body, x, want, 7);
}

/* Sums of x, started inside the loop under a condition, so that the storage
 * may not move inside; and what a condition says of a cell ends with the next
 * store to it:
 *
 *	while at < n:
 *	    if at % 3 == 0: acc = 0
 *	    acc = acc + x[at]
 *	    if at < 5:
 *	        y[at] = acc
 *	        at = at + 1
 *	        if at < 5: y[at - 1] = y[at - 1] + 100
 *	    else:
 *	        y[at] = acc
 *	        at = at + 1 */
static void
test_carried(void)
{
	struct setup s = begin("carried");
	struct module *m = s.m;
	const struct buffer *pos = make_buffer(m, "at", "local", 0, NULL);
	const struct buffer *acc = make_buffer(m, "acc", "local", 0, NULL);
	const struct expr *at = cell(&s, pos), *five = expr_i32(m, 5);
	const struct expr *last = expr_sub(m, at, expr_i32(m, 1));
	struct stmt *body, *then, *start;
	static const int32_t x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const int32_t want[] = { 101, 103, 106, 104, 9, 15, 7, 15 };

	start = stmt_if(s.f,
			expr_eq(m, expr_floormod(m, at, expr_i32(m, 3)),
				expr_i32(m, 0)),
			set(&s, acc, expr_i32(m, 0)), NULL);
	then = stmt_if(s.f, expr_lt(m, at, five),
		       stmt_store(s.f, s.y,
				  expr_add(m, expr_load(m, s.y, &last, 1),
					   expr_i32(m, 100)),
				  &last, 1),
		       NULL);
	then = SEQ(&s, stmt_store(s.f, s.y, cell(&s, acc), &at, 1),
		   set(&s, pos, expr_add(m, at, expr_i32(m, 1))), then);
	body = SEQ(&s, stmt_store(s.f, s.y, cell(&s, acc), &at, 1),
		   set(&s, pos, expr_add(m, at, expr_i32(m, 1))));
	body = SEQ(&s, start,
		   set(&s, acc,
		       expr_add(m, cell(&s, acc), expr_load(m, s.x, &at, 1))),
		   stmt_if(s.f, expr_lt(m, at, five), then, body));
	body = SEQ(&s, set(&s, pos, expr_i32(m, 0)),
		   stmt_while(s.f, expr_lt(m, at, s.n->expr), body));
	body = stmt_alloc(s.f, pos, stmt_alloc(s.f, acc, body));
	finish(&s, body, x, want, 8);
}

/* A ring of four elements whose place is a cell: no window of it is enough. */
static void
test_ring(void)
{
	struct setup s = begin("ring");
	struct module *m = s.m;
	const struct buffer *pos = make_buffer(m, "at", "local", 0, NULL);
	const struct buffer *ring = make_buffer(m, "ring", "local", 1,
						expr_i32(m, 4));
	struct var *k = var_new(m, "k", dtype_of(DT_I32));
	const struct expr *at = cell(&s, pos), *ki = k->expr;
	const struct expr *slot = expr_floormod(m, at, expr_i32(m, 4));
	struct stmt *body;
	static const int32_t x[] = { 1, 2, 3, 4, 5, 6 };
	static const int32_t want[] = { 1, 2, 3, 5, 7, 9 };

	/* ring[at % 4] = x[at]; y[at] = that plus ring[(at + 2) % 4] */
	body = SEQ(&s,
		   stmt_store(s.f, ring, expr_load(m, s.x, &at, 1), &slot, 1),
		   stmt_store(s.f, s.y, expr_load(m, ring, &slot, 1), &at, 1));
	slot = expr_floormod(m, expr_add(m, at, expr_i32(m, 1)),
			     expr_i32(m, 4));
	body = SEQ(&s, body,
		   stmt_store(s.f, s.y,
			      expr_add(m, expr_load(m, s.y, &at, 1),
				       expr_load(m, ring, &slot, 1)),
			      &at, 1),
		   set(&s, pos, expr_add(m, at, expr_i32(m, 1))));
	body = SEQ(&s,
		   stmt_for(s.f, k, expr_i32(m, 0), expr_i32(m, 4), FOR_SERIAL,
			    stmt_store(s.f, ring, expr_i32(m, 0), &ki, 1)),
		   set(&s, pos, expr_i32(m, 0)),
		   stmt_while(s.f, expr_lt(m, at, s.n->expr), body));
	body = stmt_alloc(s.f, pos, stmt_alloc(s.f, ring, body));
	finish(&s, body, x, want, 6);
}

/* An element is written, the cell in its index moves, and it is read at the
 * old place:
 *
 *	kept[at] = x[at]
 *	at = at + 1
 *	y[at - 1] = kept[at - 1] * 2 */
static void
test_moving(void)
{
	struct setup s = begin("moving");
	struct module *m = s.m;
	const struct buffer *pos = make_buffer(m, "at", "local", 0, NULL);
	const struct buffer *kept = make_buffer(m, "kept", "local", 1,
						expr_i32(m, 40));
	const struct expr *at = cell(&s, pos);
	const struct expr *last = expr_sub(m, at, expr_i32(m, 1));
	struct stmt *body;
	static const int32_t x[] = { 4, 3, 2, 9 };
	static const int32_t want[] = { 8, 6, 4, 18 };

	body = SEQ(&s, stmt_store(s.f, kept, expr_load(m, s.x, &at, 1), &at, 1),
		   set(&s, pos, expr_add(m, at, expr_i32(m, 1))),
		   stmt_store(s.f, s.y,
			      expr_mul(m, expr_load(m, kept, &last, 1),
				       expr_i32(m, 2)),
			      &last, 1));
	body = SEQ(&s, set(&s, pos, expr_i32(m, 0)),
		   stmt_while(s.f, expr_lt(m, at, s.n->expr), body));
	body = stmt_alloc(s.f, pos, stmt_alloc(s.f, kept, body));
	finish(&s, body, x, want, 4);
}

static void
test_print(void)
{
	struct setup s = begin("fill");
	struct module *m = s.m;
	const struct buffer *pos = make_buffer(m, "at", "local", 0, NULL);
	const struct expr *at = cell(&s, pos);
	struct strbuf out;

	s.f->body =
		stmt_alloc(s.f, pos,
			   SEQ(&s, set(&s, pos, expr_i32(m, 0)),
			       stmt_while(s.f, expr_lt(m, at, s.n->expr),
					  SEQ(&s,
					      stmt_store(s.f, s.y, at, &at, 1),
					      set(&s, pos,
						  expr_add(m, at,
							   expr_i32(m, 1)))))));
	CHECK(func_verify(s.f));
	strbuf_init(&out);
	func_print(s.f, SCRIPT_CURRENT, &out);
	CHECK_STR_EQ(strstr(out.data, "    at = "),
		     "    at = T.decl_buffer((), \"int32\", "
		     "scope=\"local\")\n"
		     "    at[()] = 0\n"
		     "    while at[()] < n:\n"
		     "        y[at[()]] = at[()]\n"
		     "        at[()] = at[()] + 1\n");
	strbuf_release(&out);
	/* A condition is a bool. */
	stmt_set_arg(s.f, s.f->body->children[0]->children[1], 0, at);
	CHECK(!func_verify(s.f));
	module_free(s.m);
}

int
main(void)
{
	test_collatz();
	test_search();
	test_carried();
	test_ring();
	test_moving();
	test_print();
	return check_done();
}
