/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of threads: what is a race, where barriers go, what is refused. The
 * programs that run on devices are in tests/gpu. */
#include "check.h"

#include "host_device.h"
#include "interp.h"
#include "lower.h"
#include "lower_passes.h"
#include "schedule.h"
#include "te.h"
#include "thread_loops.h"

enum { N = 8 };

/* A function of A[N] and B[N] whose body is made by hand. */
struct hand {
	struct module *m;
	struct func *f;
	const struct buffer *a, *b, *s; /* s: shared */
	float in[N], out[N];
};

static const struct buffer *
array(struct module *m, const char *name, const char *scope)
{
	const struct expr *n = expr_i32(m, N);
	struct buffer_spec spec = { .name = name,
				    .type = dtype_of(DT_F32),
				    .ndim = 1,
				    .shape = &n,
				    .scope = scope };

	return buffer_new(m, &spec);
}

static void
hand_start(struct hand *h)
{
	h->m = module_new();
	h->f = func_new(h->m, "k");
	vec_push(&h->m->arena, &h->m->funcs, h->f);
	h->a = array(h->m, "A", "global");
	h->b = array(h->m, "B", "global");
	h->s = array(h->m, "S", "shared");
	func_add_param(h->f, h->a->data, h->a);
	func_add_param(h->f, h->b->data, h->b);
	for (int i = 0; i < N; i++) {
		h->in[i] = (float)(i + 1);
		h->out[i] = -1.0f;
	}
}

static struct var *
index_var(struct hand *h, const char *name)
{
	return var_new(h->m, name, dtype_of(DT_I32));
}

static struct stmt *
threads(struct hand *h, struct var *v, int n, const char *tag,
	struct stmt *body)
{
	struct stmt *s = stmt_for(h->f, v, expr_i32(h->m, 0), expr_i32(h->m, n),
				  FOR_THREAD, body);

	s->u.loop.thread = tag;
	return s;
}

static struct stmt *
store(struct hand *h, const struct buffer *b, const struct expr *i,
      const struct expr *value)
{
	return stmt_store(h->f, b, value, &i, 1);
}

static const struct expr *
load(struct hand *h, const struct buffer *b, const struct expr *i)
{
	return expr_load(h->m, b, &i, 1);
}

static struct stmt *
barrier(struct hand *h)
{
	const struct expr *scope = expr_string(h->m, "shared");

	return stmt_evaluate(h->f, expr_call(h->m, INTRIN_STORAGE_SYNC,
					     dtype_of(DT_VOID), &scope, 1));
}

static bool
run(struct hand *h, bool races)
{
	struct run_arg args[2] = { { .data = h->in }, { .data = h->out } };

	return races ? interp_run_races(h->f, args, 2)
		     : interp_run(h->f, args, 2);
}

static bool
says(const struct diags *d, const char *text)
{
	const char *last = d->list.n > 0 ? d->list.data[d->list.n - 1].message
					 : "";

	if (strstr(last, text)) {
		return true;
	}
	fprintf(stderr, "the message is: %s\n", last);
	return false;
}

struct counter {
	int barriers, under_if;
};

static bool
count(void *ctx, struct stmt *s)
{
	struct counter *c = ctx;

	if (s->kind == STMT_EVALUATE && s->args[0]->kind == EXPR_CALL &&
	    s->args[0]->u.intrin == INTRIN_STORAGE_SYNC) {
		c->barriers++;
		for (struct stmt *p = s->parent; p; p = p->parent) {
			c->under_if += p->kind == STMT_IF;
		}
	}
	return true;
}

static struct counter
barriers(struct func *f)
{
	struct counter c = { 0, 0 };

	stmt_visit(f->body, count, &c);
	return c;
}

/* -- races */

static void
test_two_threads_write(void)
{
	struct hand h;
	struct var *t;

	hand_start(&h);
	t = index_var(&h, "t");
	h.f->body = threads(&h, t, N, "threadIdx.x",
			    store(&h, h.b, expr_i32(h.m, 0),
				  load(&h, h.a, t->expr)));
	CHECK(func_verify(h.f));
	CHECK(run(&h, false));
	CHECK(!run(&h, true));
	CHECK(says(&h.m->diags, "no barrier between"));
	module_free(h.m);
}

/* Blocks never wait for each other, whatever barriers there are. */
static void
test_two_blocks_meet(void)
{
	struct hand h;
	struct var *b, *t;
	const struct expr *other;
	struct stmt *list[3];

	hand_start(&h);
	b = index_var(&h, "b");
	t = index_var(&h, "t");
	other = expr_sub(h.m, expr_i32(h.m, N - 1), b->expr);
	list[0] = store(&h, h.b, b->expr, load(&h, h.a, b->expr));
	list[1] = barrier(&h);
	list[2] = store(&h, h.a, b->expr, load(&h, h.b, other));
	h.f->body = threads(&h, b, N, "blockIdx.x",
			    threads(&h, t, 1, "threadIdx.x",
				    stmt_seq(h.f, list, 3)));
	CHECK(func_verify(h.f));
	CHECK(!run(&h, true));
	module_free(h.m);
}

static void
test_own_elements(void)
{
	struct hand h;
	struct var *b, *t;
	const struct expr *i;

	hand_start(&h);
	b = index_var(&h, "b");
	t = index_var(&h, "t");
	i = expr_add(h.m, expr_mul(h.m, b->expr, expr_i32(h.m, 4)), t->expr);
	h.f->body = threads(&h, b, 2, "blockIdx.x",
			    threads(&h, t, 4, "threadIdx.x",
				    store(&h, h.b, i, load(&h, h.a, i))));
	CHECK(run(&h, true));
	CHECK(h.out[7] == 8.0f);
	CHECK(lower_func(h.f, NULL));
	CHECK_EQ(barriers(h.f).barriers, 0);
	module_free(h.m);
}

/* -- barriers: B[t] = S[N - 1 - t] after S[t] = A[t] */

static void
make_mirror(struct hand *h, bool with_barrier, int guard)
{
	struct var *t;
	const struct expr *other;
	struct stmt *list[3], *body;
	int n = 0;

	hand_start(h);
	t = index_var(h, "t");
	other = expr_sub(h->m, expr_i32(h->m, (guard ? guard : N) - 1),
			 t->expr);
	list[n++] = store(h, h->s, t->expr, load(h, h->a, t->expr));
	if (with_barrier) {
		list[n++] = barrier(h);
	}
	list[n++] = store(h, h->b, t->expr, load(h, h->s, other));
	body = stmt_seq(h->f, list, n);
	if (guard) {
		body = stmt_if(h->f,
			       expr_lt(h->m, t->expr, expr_i32(h->m, guard)),
			       body, NULL);
	}
	h->f->body = stmt_alloc(h->f, h->s,
				threads(h, t, N, "threadIdx.x", body));
	CHECK(func_verify(h->f));
}

static void
check_mirror(struct hand *h, int n, int n_barriers)
{
	struct counter c;

	CHECK(lower_func(h->f, NULL));
	c = barriers(h->f);
	CHECK_EQ(c.barriers, n_barriers);
	CHECK_EQ(c.under_if, 0);
	CHECK(run(h, true));
	for (int i = 0; i < n; i++) {
		CHECK(h->out[i] == (float)(n - i));
	}
	module_free(h->m);
}

static void
test_barriers(void)
{
	struct hand h;

	make_mirror(&h, false, 0);
	CHECK(!run(&h, false)); /* reads what is not written yet */
	check_mirror(&h, N, 1);
	/* Its own barrier is enough. */
	make_mirror(&h, true, 0);
	CHECK(run(&h, true));
	check_mirror(&h, N, 1);
	/* All threads come to the barrier, those that do nothing too. */
	make_mirror(&h, false, 5);
	check_mirror(&h, 5, 1);
	make_mirror(&h, true, 5);
	CHECK(!run(&h, false));
	CHECK(says(&h.m->diags, "not all threads"));
	h.m->diags.list.n = 0;
	check_mirror(&h, 5, 1);
}

/* for r in t + 1: a barrier that some threads come to more often */
static void
test_ragged_loop(void)
{
	struct hand h;
	struct var *t, *r;
	const struct expr *last;
	struct stmt *list[2];

	hand_start(&h);
	t = index_var(&h, "t");
	r = index_var(&h, "r");
	last = expr_i32(h.m, N - 1);
	list[0] = store(&h, h.s, t->expr, load(&h, h.a, r->expr));
	list[1] = store(&h, h.b, t->expr,
			load(&h, h.s, expr_sub(h.m, last, t->expr)));
	h.f->body = stmt_alloc(h.f, h.s,
			       threads(&h, t, N, "threadIdx.x",
				       stmt_for(h.f, r, expr_i32(h.m, 0),
						expr_add(h.m, t->expr,
							 expr_i32(h.m, 1)),
						FOR_SERIAL,
						stmt_seq(h.f, list, 2))));
	CHECK(!lower_func(h.f, NULL));
	CHECK(says(&h.m->diags, "its range differs between threads"));
	module_free(h.m);
}

/* -- what is refused */

static void
test_unknown_tag(void)
{
	struct hand h;
	struct var *t;

	hand_start(&h);
	t = index_var(&h, "t");
	h.f->body = threads(&h, t, N, "threadIdx.w",
			    store(&h, h.b, t->expr, load(&h, h.a, t->expr)));
	CHECK(!lower_func(h.f, NULL));
	CHECK(says(&h.m->diags, "is bound to 'threadIdx.w'"));
	module_free(h.m);
}

/* local = A by the threads; B = local, all of it by one of them: the array becomes
 * shared. */
static void
test_local_is_shared(void)
{
	struct hand h;
	struct buffer_spec spec = { .name = "mine",
				    .ndim = 1,
				    .scope = "local" };
	const struct expr *shape;
	const struct buffer *mine;
	struct var *t, *i;
	struct stmt *pair[2], *s;
	int n = 0;

	hand_start(&h);
	shape = expr_i32(h.m, N);
	spec.type = h.a->type;
	spec.shape = &shape;
	mine = buffer_new(h.m, &spec);
	t = index_var(&h, "t");
	i = index_var(&h, "i");
	pair[0] = threads(&h, t, N, "threadIdx.x",
			  store(&h, mine, t->expr, load(&h, h.a, t->expr)));
	pair[1] = stmt_for(h.f, i, expr_i32(h.m, 0), shape, FOR_SERIAL,
			   store(&h, h.b, i->expr, load(&h, mine, i->expr)));
	h.f->body = stmt_alloc(h.f, mine, stmt_seq(h.f, pair, 2));
	CHECK(lower_func(h.f, NULL));
	for (struct stmt_iter it = stmt_each_of(h.f->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		CHECK(strcmp(s->u.buffer->scope, "shared") == 0);
		n++;
	}
	CHECK(n == 1);
	module_free(h.m);
}

static void
test_split_refuses(void)
{
	struct device_limits few = { .max_threads = 4 };
	struct device_limits small = { .shared_bytes = 16 };
	struct host_device out;
	struct hand h;
	struct var *t, *i;
	struct stmt *pair[2];

	hand_start(&h);
	i = index_var(&h, "i");
	t = index_var(&h, "t");
	pair[0] = threads(&h, t, N, "threadIdx.x",
			  store(&h, h.b, t->expr, load(&h, h.a, t->expr)));
	pair[1] = stmt_for(h.f, i, expr_i32(h.m, 0), expr_i32(h.m, N),
			   FOR_SERIAL,
			   store(&h, h.b, i->expr,
				 expr_float(h.m, dtype_of(DT_F32), 1.0)));
	h.f->body = pair[0];
	CHECK(!lower_split_host_device(h.m, h.f, &few, NULL, &out));
	CHECK(says(&h.m->diags, "8 threads in a block, the device 4"));
	h.f->body = pair[1];
	CHECK(!lower_split_host_device(h.m, h.f, NULL, NULL, &out));
	CHECK(says(&h.m->diags, "no loop is bound"));
	h.f->body = stmt_seq(h.f, pair, 2);
	CHECK(!lower_split_host_device(h.m, h.f, NULL, NULL, &out));
	CHECK(says(&h.m->diags, "B is touched by a statement that no thread"));
	CHECK_EQ(h.m->funcs.n, 1);
	CHECK(h.m->funcs.data[0] == h.f);
	module_free(h.m);

	make_mirror(&h, true, 0);
	CHECK(lower_func(h.f, NULL));
	CHECK(!lower_split_host_device(h.m, h.f, &small, NULL, &out));
	CHECK(says(&h.m->diags, "32 bytes of shared arrays"));
	CHECK(lower_split_host_device(h.m, h.f, NULL, NULL, &out));
	CHECK_EQ(out.n_launches, 1);
	CHECK_EQ(out.launches[0].shared_bytes, 32);
	CHECK_EQ(h.m->funcs.n, 2);
	CHECK(lower_is_kernel(out.launches[0].kernel));
	CHECK(!lower_is_kernel(out.host));
	module_free(h.m);
}

/* A launch of other extents than the kernel's loops have. */
static void
test_launch_fits(void)
{
	struct host_device out;
	struct hand h;
	struct stmt *s;
	const struct expr *args[16];

	make_mirror(&h, true, 0);
	CHECK(lower_func(h.f, NULL));
	CHECK(lower_split_host_device(h.m, h.f, NULL, NULL, &out));
	h.f = out.host;
	CHECK(run(&h, true));
	CHECK(h.out[0] == 8.0f);
	s = h.f->body;
	CHECK(s->kind == STMT_EVALUATE);
	for (int i = 0; i < s->args[0]->n_args; i++) {
		args[i] = s->args[0]->args[i];
	}
	args[4] = expr_i32(h.m, 4);
	stmt_set_arg(h.f, s, 0,
		     expr_call(h.m, INTRIN_LAUNCH, dtype_of(DT_VOID), args,
			       s->args[0]->n_args));
	CHECK(!run(&h, false));
	CHECK(says(&h.m->diags, "was launched with 4"));
	module_free(h.m);
}

/* -- reductions across threads: B[i] = sum A[i, k] */

static struct func *
row_sum(struct module *m)
{
	const struct expr *shape[2] = { expr_i32(m, 4), expr_i32(m, 24) };
	const char *names[] = { "i" };
	struct iter_var *i = te_axes(m, 1, shape, names);
	struct iter_var k = te_reduce_axis(m, "k", shape[1]);
	const struct expr *at[2] = { i[0].var->expr, k.var->expr };
	struct te_tensor *io[2];

	io[0] = te_placeholder(m, "A", dtype_of(DT_F32), 2, shape);
	io[1] = te_compute(m, "B", "", 1, i,
			   te_sum(m, te_at(m, io[0], at, 2), &k, 1), io, 1);
	return te_to_func(m, "row_sum", io, 2);
}

static void
test_reduction_refusals(void)
{
	struct module *m = module_new();
	struct func *f = row_sum(m);
	struct sched s;
	int *l, n, b, o[2], init;

	sched_init(&s, f);
	b = sched_get_block(&s, "B");
	CHECK(sched_get_loops(&s, b, &l, &n));
	CHECK(!sched_bind(&s, l[1], "blockIdx.x"));
	CHECK(says(&s.diags, "drives a reduction or scan"));
	CHECK(!sched_bind(&s, l[0], "laneIdx.x"));
	CHECK(says(&s.diags, "there is no 'laneIdx.x'"));
	/* A spatial loop inside of the one that reduces. */
	CHECK(sched_reorder(&s, (int[]){ l[1], l[0] }, 2));
	CHECK(sched_bind(&s, l[1], "threadIdx.x"));
	CHECK(!lower_func(f, NULL));
	CHECK(says(&m->diags, "does not reduce; reorder it outwards"));
	module_free(m);

	m = module_new();
	f = row_sum(m);
	sched_init(&s, f);
	b = sched_get_block(&s, "B");
	CHECK(sched_get_loops(&s, b, &l, &n));
	CHECK(sched_split(&s, l[1], (int64_t[]){ 0, 8 }, 2, o));
	CHECK(sched_bind(&s, o[1], "threadIdx.x"));
	CHECK(sched_decompose_reduction(&s, b, o[0], &init));
	CHECK(!lower_func(f, NULL));
	CHECK(says(&m->diags, "do not decompose it"));
	module_free(m);

	/* Every thread would start there. */
	m = module_new();
	f = row_sum(m);
	stmt_set_arg(f, func_find_block(f, "B")->children[1], 0,
		     expr_float(m, dtype_of(DT_F32), 5));
	sched_init(&s, f);
	CHECK(sched_get_loops(&s, sched_get_block(&s, "B"), &l, &n));
	CHECK(sched_bind(&s, l[1], "threadIdx.x"));
	CHECK(!lower_func(f, NULL));
	CHECK(says(&m->diags, "its init value is not 0"));
	module_free(m);
}

/* Two loops of the reduction, and rows, are bound: a tree per row. */
static void
test_reduction_rows(void)
{
	struct module *m = module_new();
	struct func *f = row_sum(m);
	struct host_device out;
	struct run_arg args[2];
	float a[4 * 24], want[4] = { 0 }, got[4];
	struct sched s;
	int *l, n, o[3];

	for (int i = 0; i < 4 * 24; i++) {
		a[i] = (float)(i % 7 - 3);
		want[i / 24] += a[i];
	}
	sched_init(&s, f);
	CHECK(sched_get_loops(&s, sched_get_block(&s, "B"), &l, &n));
	CHECK(sched_split(&s, l[1], (int64_t[]){ 2, 0, 3 }, 3, o));
	CHECK(sched_bind(&s, l[0], "threadIdx.y"));
	CHECK(sched_bind(&s, o[0], "threadIdx.z"));
	CHECK(sched_bind(&s, o[2], "threadIdx.x"));
	CHECK(lower_func(f, NULL));
	CHECK(lower_split_host_device(m, f, NULL, NULL, &out));
	args[0].data = a;
	args[1].data = got;
	CHECK(interp_run_races(out.host, args, 2));
	for (int i = 0; i < 4; i++) {
		CHECK(got[i] == want[i]);
	}
	CHECK_EQ(m->diags.list.n, 0);
	module_free(m);
}

int
main(void)
{
	test_two_threads_write();
	test_two_blocks_meet();
	test_own_elements();
	test_barriers();
	test_ragged_loop();
	test_unknown_tag();
	test_local_is_shared();
	test_split_refuses();
	test_launch_fits();
	test_reduction_refusals();
	test_reduction_rows();
	return check_done();
}
