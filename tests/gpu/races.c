/* SPDX-License-Identifier: Apache-2.0 */
/* races CASE, races FILE.py: the kernels of a case, or of a program, give what
 * the definition gives, without a race; and without any one of their barriers,
 * where there are some, a race is found: none is needless. */
#include "cases_run.h"

#include <stdio.h>

static bool
same(const struct gpu_run *r)
{
	for (int i = 0; i < r->plain->params.n; i++) {
		const float *got = r->args[i].data, *want = r->want[i].data;

		for (int64_t k = 0; k < r->bytes[i] / 4; k++) {
			float d = got[k] - want[k];
			float scale = want[k] < 0 ? -want[k] : want[k];

			if (!(d <= 1e-5f * scale + 1e-6f &&
			      -d <= 1e-5f * scale + 1e-6f)) {
				fprintf(stderr,
					"parameter %d, element %d: "
					"%g, not %g\n",
					i, (int)k, (double)got[k],
					(double)want[k]);
				return false;
			}
		}
	}
	return true;
}

struct barriers {
	struct arena *arena;
	VEC(struct stmt *) list;
};

static bool
find_barrier(void *ctx, struct stmt *s)
{
	struct barriers *b = ctx;

	if (s->kind == STMT_EVALUATE && s->args[0]->kind == EXPR_CALL &&
	    s->args[0]->u.intrin == INTRIN_STORAGE_SYNC) {
		vec_push(b->arena, &b->list, s);
	}
	return true;
}

/* The kernels of a case; with NULL, of the program. */
static bool
build(struct gpu_run *r, const struct gpu_case *c, const char *program,
      bool print)
{
	return (c != NULL ? gpu_run_build(r, c, print)
			  : gpu_run_program(r, program)) &&
	       gpu_run_fill(r);
}

/* Without the which-th barrier there must be a race; *done: there are not
 * that many. */
static bool
races_without(const struct gpu_case *c, const char *program, int which,
	      bool *done)
{
	struct barriers b = { 0 };
	struct gpu_run r;
	bool ok = build(&r, c, program, false);

	b.arena = &r.m->arena;
	for (int i = 0; ok && i < r.split.n_launches; i++) {
		stmt_visit(r.split.launches[i].kernel->body, find_barrier, &b);
	}
	*done = !ok || which >= b.list.n;
	if (!*done) {
		struct stmt *s = b.list.data[which], *top = s;
		struct func *k = r.split.launches[0].kernel;

		while (top->parent) {
			top = top->parent;
		}
		for (int i = 0; i < r.split.n_launches; i++) {
			if (r.split.launches[i].kernel->body == top) {
				k = r.split.launches[i].kernel;
			}
		}
		stmt_remove(k, s);
		ok = !interp_run(r.split.host, r.args, r.n);
		ok |= !interp_run_races(r.split.host, r.args, r.n);
		if (!ok) {
			fprintf(stderr, "barrier %d of %s is not needed\n",
				which, c != NULL ? c->name : program);
		}
	}
	module_free(r.m);
	return ok;
}

int
main(int argc, char **argv)
{
	const struct gpu_case *c = argc > 1 ? gpu_case_find(argv[1]) : NULL;
	bool program = argc > 1 && strstr(argv[1], ".py") != NULL;
	struct gpu_run r;
	bool ok, done = false;

	if (!c && !program) {
		fprintf(stderr, "there is no such case\n");
		return 1;
	}
	ok = build(&r, c, argv[1], argc > 2);
	ok = ok && interp_run_races(r.split.host, r.args, r.n);
	for (int i = 0; i < r.m->diags.list.n; i++) {
		fprintf(stderr, "%s\n", r.m->diags.list.data[i].message);
	}
	ok = ok && same(&r);
	module_free(r.m);
	for (int which = 0; ok && !done; which++) {
		ok = races_without(c, argv[1], which, &done);
	}
	return !ok;
}
