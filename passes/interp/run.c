/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function with the executor if possible. After a fault, the interpreter runs it
 * again and reports the fault. */
#include "interp.h"

/* Runs f with the executor; overflow: NULL, or gets the overflows. Returns false if the
 * interpreter must run it. */
static bool
execute(struct func *f, const struct run_arg *args, int n,
	struct run_overflow *overflow)
{
	struct arena arena;
	const struct exec *x;
	bool done;

	arena_init(&arena);
	x = exec_compile(&arena, f);
	done = x != NULL &&
	       (overflow != NULL ? exec_run_overflow(x, args, n, overflow)
				 : exec_run(x, args, n));
	arena_release(&arena);
	return done;
}

bool
run_func(struct func *f, const struct run_arg *args, int n)
{
	return execute(f, args, n, NULL) || interp_run(f, args, n);
}

bool
run_func_overflow(struct func *f, const struct run_arg *args, int n,
		  struct run_overflow *out)
{
	return execute(f, args, n, out) || interp_run_overflow(f, args, n, out);
}
