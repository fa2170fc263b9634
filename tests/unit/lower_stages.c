/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual threads, double buffers and software pipelines: lowering keeps the
 * results; what cannot be overlapped is refused. */
#include "schedule_help.h"

#include "primitive.h"

static int
loop(struct trial *t, const char *name, int i)
{
	int *list = NULL, n = 0;

	CHECK(sched_get_loops(&t->s, sched_get_block(&t->s, name), &list, &n));
	CHECK(i < n);
	return i < n ? list[i] : 0;
}

static void
note(struct trial *t, struct sched_value at, const char *key,
     struct sched_value value)
{
	struct sched_value args[] = { at, sv_string(key), value };

	CHECK(sched_apply(&t->s, "annotate", args, 3, NULL));
}

static struct sched_value
numbers(struct trial *t, int n, const int *v)
{
	struct sched_value list[8] = { 0 };

	for (int i = 0; i < n; i++) {
		list[i] = sv_int(v[i]);
	}
	return sv_list(t->m, list, n);
}

static void
pipelined(struct trial *t, int at, int n, const int *stage, const int *order)
{
	note(t, sv_loop(at), "software_pipeline_stage", numbers(t, n, stage));
	note(t, sv_loop(at), "software_pipeline_order", numbers(t, n, order));
	CHECK(trial_same(t));
}

/* a = x + 1, b = a * 2, y = b - 3, element by element */
static struct func *
make_chain(struct module *m, int rows, int cols)
{
	static const char *const names[] = { "i", "j" };
	static const char *const stages[] = { "a", "b", "y" };
	struct te_tensor *x = input(m, "x", 2, (int[]){ rows, cols });
	struct te_tensor *last = x;

	for (int k = 0; k < 3; k++) {
		struct iter_var *ij = axes(m, 2, (int[]){ rows, cols }, names);
		const struct expr *at[] = { ij[0].var->expr, ij[1].var->expr };
		const struct expr *v = te_at(m, last, at, 2);
		const struct expr *c = expr_float(m, dtype_of(DT_F32), k + 1);

		v = k == 0   ? expr_add(m, v, c)
		    : k == 1 ? expr_mul(m, v, c)
			     : expr_sub(m, v, c);
		last = te_compute(m, stages[k], "elementwise", 2, ij, v, &last,
				  1);
	}
	return te_to_func(m, "chain", (struct te_tensor *[]){ x, last }, 2);
}

static void
start_chain(struct trial *t, struct module *m, int rows)
{
	trial_start(t, m, make_chain(m, rows, 3));
	CHECK(sched_compute_at(&t->s, sched_get_block(&t->s, "b"),
			       loop(t, "y", 0)));
	CHECK(sched_compute_at(&t->s, sched_get_block(&t->s, "a"),
			       loop(t, "y", 0)));
}

static void
test_pipeline(void)
{
	static const int stages[][3] = {
		{ 0, 1, 2 }, { 0, 0, 1 }, { 0, 1, 1 }, { 0, 0, 0 }, { 0, 2, 3 }
	};
	static const int orders[][3] = { { 0, 1, 2 },
					 { 2, 1, 0 },
					 { 1, 2, 0 } };
	struct module *m = module_new();
	struct trial t;

	for (int rows = 1; rows < 6; rows++) {
		for (int k = 0; k < 5; k++) {
			start_chain(&t, m, rows);
			pipelined(&t, loop(&t, "y", 0), 3, stages[k],
				  orders[0]);
			CHECK(trial_lower(&t));
			CHECK(!trial_text_has(&t, "software_pipeline"));
		}
	}
	/* Later stages first: nothing runs in the order of the text. */
	start_chain(&t, m, 7);
	pipelined(&t, loop(&t, "y", 0), 3, stages[0], orders[1]);
	CHECK(trial_lower(&t));
	CHECK(trial_text_has(&t, "range(5)"));
	start_chain(&t, m, 7);
	pipelined(&t, loop(&t, "y", 0), 3, stages[0], orders[2]);
	CHECK(trial_lower(&t));
	module_free(m);
}

static void
test_pipeline_of_reduction(void)
{
	struct module *m = module_new();
	struct trial t;
	int out[2], copy, init;
	int c;

	/* Copies of a and b for each part of the reduction, one part ahead. */
	trial_start(&t, m, make_matmul(m, 4, 12, 5));
	c = sched_get_block(&t.s, "c");
	CHECK(sched_split(&t.s, loop(&t, "c", 2), (int64_t[]){ 0, 4 }, 2, out));
	CHECK(sched_reorder(&t.s,
			    (int[]){ out[0], loop(&t, "c", 0), loop(&t, "c", 1),
				     out[1] },
			    4));
	for (int i = 0; i < 2; i++) {
		CHECK(sched_cache_read(&t.s, c, i, "local", &copy));
		CHECK(sched_compute_at(&t.s, copy, loop(&t, "c", 0)));
	}
	CHECK(sched_decompose_reduction(&t.s, c, loop(&t, "c", 0), &init));
	pipelined(&t, loop(&t, "c_update", 0), 3, (int[]){ 0, 0, 1 },
		  (int[]){ 0, 1, 2 });
	CHECK(trial_lower(&t));
	CHECK(trial_text_has(&t, "(2, 4, 4)"));
	module_free(m);
}

static void
test_pipeline_refusals(void)
{
	struct module *m = module_new();
	struct trial t;
	struct pass_hooks hooks = { 0 };
	static const struct {
		int n, stage[3], order[3];
		const char *why;
	} cases[] = {
		{ 2, { 0, 1 }, { 0, 1 }, "it holds 3 statements" },
		{ 3, { 1, 0, 2 }, { 0, 1, 2 }, "would run before" },
		{ 3, { 0, 0, 0 }, { 2, 1, 0 }, "would run before" },
		{ 3, { 0, 1, 2 }, { 0, 1, 1 }, "same place in the order" },
		{ 3, { 0, 1, 900 }, { 0, 1, 2 }, "not a small number" },
	};

	for (int i = 0; i < 5; i++) {
		start_chain(&t, m, 4);
		pipelined(&t, loop(&t, "y", 0), cases[i].n, cases[i].stage,
			  cases[i].order);
		m->diags.list.n = 0;
		CHECK(!lower_func(t.f, &hooks));
		if (!CHECK(m->diags.list.n == 1 &&
			   strstr(m->diags.list.data[0].message,
				  cases[i].why))) {
			fprintf(stderr, "wanted \"%s\", got \"%s\"\n",
				cases[i].why,
				m->diags.list.n ? m->diags.list.data[0].message
						: "nothing");
		}
	}
	start_chain(&t, m, 4);
	note(&t, sv_loop(loop(&t, "y", 0)), "software_pipeline_stage",
	     numbers(&t, 3, cases[1].order));
	m->diags.list.n = 0;
	CHECK(!lower_func(t.f, &hooks));
	CHECK(m->diags.list.n == 1 &&
	      strstr(m->diags.list.data[0].message, "only one of"));
	module_free(m);
}

static void
test_double_buffer(void)
{
	struct module *m = module_new();
	struct trial t;
	int out[2], copy, init, c;

	start_chain(&t, m, 6);
	note(&t, sv_block(sched_get_block(&t.s, "a")), "double_buffer_scope",
	     sv_int(0));
	CHECK(trial_lower(&t));
	CHECK(trial_text_has(&t, "(2, 3)"));
	CHECK(!trial_text_has(&t, "double_buffer"));
	trial_start(&t, m, make_matmul(m, 4, 12, 5));
	c = sched_get_block(&t.s, "c");
	CHECK(sched_split(&t.s, loop(&t, "c", 2), (int64_t[]){ 0, 4 }, 2, out));
	CHECK(sched_reorder(&t.s,
			    (int[]){ out[0], loop(&t, "c", 0), loop(&t, "c", 1),
				     out[1] },
			    4));
	CHECK(sched_cache_read(&t.s, c, 0, "local", &copy));
	CHECK(sched_compute_at(&t.s, copy, loop(&t, "c", 0)));
	CHECK(sched_decompose_reduction(&t.s, c, loop(&t, "c", 0), &init));
	note(&t, sv_block(copy), "double_buffer_scope", sv_int(0));
	CHECK(trial_lower(&t));
	CHECK(trial_text_has(&t, "(2, 4, 4)"));
	module_free(m);
}

static void
test_virtual_threads(void)
{
	struct module *m = module_new();
	struct trial t;
	int out[2], c;

	trial_start(&t, m, make_matmul(m, 8, 5, 6));
	c = sched_get_block(&t.s, "c");
	CHECK(sched_split(&t.s, loop(&t, "y", 0), (int64_t[]){ 2, 0 }, 2, out));
	CHECK(sched_bind(&t.s, out[0], "vthread.x"));
	CHECK(sched_compute_at(&t.s, c, out[1]));
	CHECK(trial_same(&t));
	CHECK(trial_lower(&t));
	CHECK(!trial_text_has(&t, "vthread"));
	/* Two of them, and one around a sum that all share. */
	trial_start(&t, m, make_matmul(m, 8, 5, 6));
	c = sched_get_block(&t.s, "c");
	CHECK(sched_bind(&t.s, loop(&t, "y", 1), "vthread.y"));
	CHECK(sched_split(&t.s, loop(&t, "y", 0), (int64_t[]){ 2, 0 }, 2, out));
	CHECK(sched_bind(&t.s, out[0], "vthread.x"));
	CHECK(sched_compute_at(&t.s, c, loop(&t, "y", 2)));
	CHECK(trial_lower(&t));
	CHECK(!trial_text_has(&t, "vthread"));
	trial_start(&t, m, make_softmax(m, 4, 6));
	CHECK(sched_compute_at(&t.s, sched_get_block(&t.s, "sum"),
			       loop(&t, "y", 0)));
	CHECK(sched_compute_at(&t.s, sched_get_block(&t.s, "e"),
			       loop(&t, "y", 0)));
	CHECK(sched_bind(&t.s, loop(&t, "y", 0), "vthread"));
	CHECK(trial_lower(&t));
	CHECK(!trial_text_has(&t, "vthread"));
	module_free(m);
}

int
main(void)
{
	test_pipeline();
	test_pipeline_of_reduction();
	test_pipeline_refusals();
	test_double_buffer();
	test_virtual_threads();
	return check_done();
}
