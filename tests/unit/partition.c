/* SPDX-License-Identifier: Apache-2.0 */
/* Guards: gone where they cannot fail, there where they can; loops whose end
 * is set apart. Each function runs at sizes that are and are not multiples of
 * the tile. */
#include "schedule_help.h"

enum { LARGEST = 45 };

static const char *
text_of(struct module *m, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = arena_strdup(&m->arena, out.data);
	strbuf_release(&out);
	return text;
}

static int
count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++) {
		n++;
	}
	return n;
}

/* y[i] = x[i] + 1, i < n */
static struct func *
make_symbolic(struct module *m, int64_t least)
{
	const struct expr *n = var_new_dim(m, "n", least, 1000)->expr;
	struct te_tensor *x = te_placeholder(m, "x", dtype_of(DT_F32), 1, &n);
	struct iter_var *i = te_axes(m, 1, &n, NULL);
	const struct expr *at = i[0].var->expr;
	struct te_tensor *y =
		te_compute(m, "y", "elementwise", 1, i,
			   expr_add(m, te_at(m, x, &at, 1),
				    expr_float(m, dtype_of(DT_F32), 1)),
			   &x, 1);

	return te_to_func(m, "f", (struct te_tensor *[]){ x, y }, 2);
}

static void
check_run(struct module *m, struct func *f, int least)
{
	for (int n = least; n <= LARGEST; n++) {
		float x[LARGEST], y[LARGEST + 1];
		struct run_arg args[3] = { { .data = x },
					   { .data = y },
					   { .scalar = n } };

		for (int i = 0; i < n; i++) {
			x[i] = (float)(i * 3 % 7);
			y[i] = -1;
		}
		y[n] = -1;
		if (!CHECK(interp_run(f, args, 3))) {
			fprintf(stderr, "n = %d: %s\n", n,
				m->diags.list.data[0].message);
			return;
		}
		for (int i = 0; i < n; i++) {
			CHECK(y[i] == x[i] + 1);
		}
		CHECK(y[n] == -1);
	}
}

static int
only_loop(struct sched *s)
{
	int *loops, n;

	CHECK(sched_get_loops(s, sched_get_block(s, "y"), &loops, &n));
	CHECK_EQ(n, 1);
	return loops[0];
}

static void
lower_and_run(struct module *m, struct func *f, int least)
{
	func_commit(f);
	if (!CHECK(lower_func(f, NULL))) {
		fprintf(stderr, "%s\n", m->diags.list.data[0].message);
	}
	CHECK(func_verify(f));
	check_run(m, f, least);
	if (getenv("PRINT")) {
		fputs(text_of(m, f), stderr);
	}
}

static void
test_symbolic_tail(void)
{
	struct module *m = module_new();
	struct func *f = make_symbolic(m, 1);
	struct sched s;
	const char *text;
	int part[2];

	sched_init(&s, f);
	CHECK(sched_split(&s, only_loop(&s), (int64_t[]){ 0, 8 }, 2, part));
	CHECK(sched_vectorize(&s, part[1]));
	lower_and_run(m, f, 1);
	text = text_of(m, f);
	CHECK_EQ(count(text, "for "), 4);
	CHECK_EQ(count(text, "if "), 1);
	CHECK(strstr(text, "n // 8"));
	module_free(m);
}

/* Plain inner loops are parted where that is asked for only. */
static void
test_hint(void)
{
	static const char *const keys[] = { NULL, "pragma_loop_partition_hint",
					    "loop_partition_hint" };

	for (int k = 0; k < 3; k++) {
		struct module *m = module_new();
		struct func *f = make_symbolic(m, 1);
		struct sched s;
		int part[2];

		sched_init(&s, f);
		CHECK(sched_split(&s, only_loop(&s), (int64_t[]){ 0, 8 }, 2,
				  part));
		if (keys[k]) {
			CHECK(sched_annotate(&s, part[0], keys[k], sv_int(1)));
		}
		lower_and_run(m, f, 1);
		CHECK_EQ(count(text_of(m, f), "if "), 1);
		CHECK_EQ(count(text_of(m, f), "y["), k ? 2 : 1);
		module_free(m);
	}
}

/* Sizes that the factor divides need no guard at all. */
static void
test_provable(void)
{
	struct module *m = module_new();
	const struct expr *k = var_new_dim(m, "k", 1, 100)->expr;
	const struct expr *n = expr_mul(m, k, expr_i32(m, 8));
	struct te_tensor *x = te_placeholder(m, "x", dtype_of(DT_F32), 1, &n);
	struct iter_var *i = te_axes(m, 1, &n, NULL);
	const struct expr *at = i[0].var->expr;
	struct te_tensor *y =
		te_compute(m, "y", "elementwise", 1, i,
			   expr_add(m, te_at(m, x, &at, 1),
				    expr_float(m, dtype_of(DT_F32), 1)),
			   &x, 1);
	struct func *f = te_to_func(m, "f", (struct te_tensor *[]){ x, y }, 2);
	struct sched s;
	int part[3];

	sched_init(&s, f);
	CHECK(sched_split(&s, only_loop(&s), (int64_t[]){ 0, 2, 4 }, 3, part));
	CHECK_EQ(count(text_of(m, f), "T.where"), 0);
	CHECK(lower_func(f, NULL));
	CHECK_EQ(count(text_of(m, f), "if "), 0);
	module_free(m);
}

/* Twice split: the inner guard follows from the outer one, or not. */
static void
test_two_splits(void)
{
	struct module *m = module_new();
	struct func *f = make_symbolic(m, 1);
	struct sched s;
	int part[2], again[2];

	sched_init(&s, f);
	CHECK(sched_split(&s, only_loop(&s), (int64_t[]){ 0, 6 }, 2, part));
	CHECK(sched_split(&s, part[1], (int64_t[]){ 0, 4 }, 2, again));
	CHECK(sched_vectorize(&s, again[1]));
	lower_and_run(m, f, 1);
	module_free(m);
}

/* loop_partition by hand: the guard stays in the last part alone. */
static void
test_by_hand(void)
{
	struct module *m = module_new();
	struct trial t;
	struct sched_value args[2], out;
	int *loops, n, part[2];

	trial_start(&t, m, make_add(m, 1, 1, 30, false));
	CHECK(sched_get_loops(&t.s, sched_get_block(&t.s, "y"), &loops, &n));
	CHECK(sched_split(&t.s, loops[3], (int64_t[]){ 0, 8 }, 2, part));
	CHECK_EQ(count(text_of(m, t.f), "T.where"), 1);
	args[0] = sv_loop(part[0]);
	args[1] = sv_list(m, (struct sched_value[]){ sv_int(3) }, 1);
	CHECK(sched_apply(&t.s, "loop_partition", args, 2, &out));
	CHECK_EQ(out.n, 2);
	CHECK_EQ(count(text_of(m, t.f), "T.where"), 1);
	trial_same(&t);
	trial_lower(&t);
	/* the last part's guard has become the extent of its loop */
	CHECK_EQ(count(text_of(m, t.f), "if "), 0);
	module_free(m);
}

int
main(void)
{
	test_symbolic_tail();
	test_hint();
	test_provable();
	test_two_splits();
	test_by_hand();
	return check_done();
}
