/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier accepts a sound function and names each way to break it. */
#include "check.h"

#include "te.h"

struct sample {
	struct module *m;
	struct func *f;
	struct stmt *loop, *block, *store; /* of C = A + 1 */
	const struct buffer *a, *c;
};

static struct sample
sample_new(void)
{
	struct sample s = { .m = module_new() };
	struct module *m = s.m;
	struct dtype f32 = dtype_of(DT_F32);
	const struct expr *shape[] = { expr_i32(m, 8) };
	struct te_tensor *a = te_placeholder(m, "A", f32, 1, shape);
	struct iter_var *axes = te_axes(m, 1, shape, NULL);
	struct te_tensor *c =
		te_compute(m, "C", "elementwise", 1, axes,
			   expr_add(m, te_at(m, a, &axes->var->expr, 1),
				    expr_float(m, f32, 1)),
			   &a, 1);
	struct te_tensor *params[] = { a, c };

	s.f = te_to_func(m, "main", params, 2);
	s.loop = s.f->body->children[0];
	s.block = s.loop->children[0];
	s.store = s.block->children[0];
	s.a = a->buffer;
	s.c = c->buffer;
	return s;
}

static void
check_sound(struct func *f)
{
	bool holds = func_verify(f);

	if (!CHECK(holds)) {
		fprintf(stderr, "%s\n", f->module->diags.list.data[0].message);
	}
}

/* The function is refused, and the first message starts with what. */
static void
check_broken(struct sample *s, const char *what)
{
	struct diags *d = &s->m->diags;

	CHECK(!func_verify(s->f));
	if (CHECK(d->list.n > 0)) {
		const char *message = d->list.data[0].message;

		CHECK_EQ(d->list.data[0].id, DIAG_VERIFY);
		if (!CHECK(strncmp(message, what, strlen(what)) == 0)) {
			fprintf(stderr, "got \"%s\", want \"%s\"\n", message,
				what);
		}
	}
	module_free(s->m);
}

static void
test_links(void)
{
	struct sample s = sample_new();

	check_sound(s.f);
	s.store->parent = s.loop;
	check_broken(&s, "a statement has a wrong parent link");

	s = sample_new();
	s.store->id = s.loop->id;
	check_broken(&s, "two statements have the same id");

	s = sample_new();
	s.store->id = s.f->next_id;
	check_broken(&s, "a statement id is out of range");

	s = sample_new();
	struct stmt *twice[] = { s.loop, s.loop };

	s.f->body->children[0] = stmt_seq(s.f, twice, 2);
	s.f->body->children[0]->parent = s.f->body;
	check_broken(&s, "a statement is in two places");

	s = sample_new();
	s.loop->children[0] = NULL;
	check_broken(&s, "a child is missing");

	s = sample_new();
	s.loop->n_args = 1;
	check_broken(&s, "a statement has the wrong number");

	s = sample_new();
	s.store->args[0] = NULL;
	check_broken(&s, "an argument is missing");

	s = sample_new();
	s.f->body = NULL;
	check_broken(&s, "a function has no body");
}

static void
test_scopes(void)
{
	struct sample s = sample_new();
	const struct expr *stranger =
		var_new(s.m, "stranger", dtype_of(DT_I32))->expr;

	s.block->args[1] = stranger;
	check_broken(&s, "a variable used outside of its scope: stranger");

	s = sample_new();
	s.f->params.n = 1; /* C is unknown now */
	check_broken(&s, "buffer 'C' is used outside its scope");

	s = sample_new();
	struct stmt *loop = stmt_for(s.f, s.loop->u.loop.var, expr_i32(s.m, 0),
				     expr_i32(s.m, 2), FOR_SERIAL, s.block);

	s.loop->children[0] = loop;
	loop->parent = s.loop;
	check_broken(&s, "a variable is bound twice");

	s = sample_new();
	struct stmt *alloc = stmt_alloc(s.f, s.a, s.loop);

	s.f->body->children[0] = alloc;
	alloc->parent = s.f->body;
	check_broken(&s, "buffer 'A' is declared twice");
}

static void
test_types(void)
{
	struct sample s = sample_new();
	const struct expr *half = expr_float(s.m, dtype_of(DT_F16), 1);

	s.store->args[0] = half;
	check_broken(&s, "an element of 'C' gets a value of a different type");

	s = sample_new();
	s.loop->args[1] = expr_int(s.m, dtype_of(DT_I64), 8);
	check_broken(&s, "a loop's range and its variable");

	s = sample_new();
	s.store->args[1] = expr_float(s.m, dtype_of(DT_F32), 0);
	check_broken(&s, "an index is not an integer");

	s = sample_new();
	struct stmt *branch = stmt_if(s.f, expr_i32(s.m, 1), s.store, NULL);

	s.block->children[0] = branch;
	branch->parent = s.block;
	check_broken(&s, "a condition is not a bool");

	s = sample_new();
	const struct expr *load = expr_load(s.m, s.a, &s.store->args[1], 1);
	struct expr payload = { .kind = EXPR_ADD, .type = load->type };
	const struct expr *mixed[] = { load, expr_i32(s.m, 1) };

	s.store->args[0] = expr_make(s.m, &payload, mixed, 2);
	check_broken(&s, "operands have different types");

	s = sample_new();
	payload.kind = EXPR_INT;
	payload.type = dtype_of(DT_I8);
	payload.u.ival = 300;
	const struct expr *big = expr_make(s.m, &payload, NULL, 0);

	s.store->args[0] = expr_cast(s.m, dtype_of(DT_F32), big);
	if (s.store->args[0]->kind != EXPR_CAST) { /* folded */
		payload.kind = EXPR_CAST;
		payload.type = dtype_of(DT_F32);
		s.store->args[0] = expr_make(s.m, &payload, &big, 1);
	}
	check_broken(&s, "a literal's type cannot represent its value");

	s = sample_new();
	s.f->ret = dtype_of(DT_I32);
	s.f->body->children[0] = stmt_return(s.f,
					     expr_float(s.m, dtype_of(DT_F32),
							0));
	s.f->body->children[0]->parent = s.f->body;
	check_broken(&s, "a return has the wrong type");

	s = sample_new();
	struct iter_var axis = te_reduce_axis(s.m, "k", expr_i32(s.m, 2));
	const struct expr *one = expr_float(s.m, dtype_of(DT_F32), 1);

	s.store->args[0] = te_sum(s.m, one, &axis, 1);
	check_broken(&s, "a reduction in a function's body");
}

static void
test_blocks(void)
{
	struct sample s = sample_new();
	struct block b = *s.block->u.block;

	b.n_reads = 0;
	stmt_set_block(s.f, s.block, &b);
	check_broken(&s, "block 'C' does not declare that it reads 'A'");

	s = sample_new();
	b = *s.block->u.block;
	b.n_writes = 0;
	stmt_set_block(s.f, s.block, &b);
	check_broken(&s, "block 'C' does not declare that it writes 'C'");

	/* Declared, but not these elements. */
	s = sample_new();
	struct range range = { expr_i32(s.m, 0), expr_i32(s.m, 4) };
	struct region region = { s.c, &range };

	b = *s.block->u.block;
	b.writes = &region;
	stmt_set_block(s.f, s.block, &b);
	s.store->args[1] = expr_i32(s.m, 3);
	check_sound(s.f);
	s.store->args[1] = expr_i32(s.m, 4);
	check_broken(&s, "block 'C' does not declare that it writes 'C'");

	s = sample_new();
	s.block->n_args = 1;
	check_broken(&s, "a block needs a predicate");

	s = sample_new();
	s.block->args[0] = expr_i32(s.m, 1);
	check_broken(&s, "a condition is not a bool");

	s = sample_new();
	s.block->args[1] = expr_int(s.m, dtype_of(DT_I64), 0);
	check_broken(&s, "a binding and its iter var");

	s = sample_new();
	s.loop->u.loop.kind = FOR_THREAD;
	check_broken(
		&s,
		"a loop has a thread name but is not bound, or the reverse");
}

int
main(void)
{
	test_links();
	test_scopes();
	test_types();
	test_blocks();
	return check_done();
}
