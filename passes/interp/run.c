/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function with the executor if possible. */
#include "interp.h"

bool
run_func(struct func *f, const struct run_arg *args, int n)
{
	struct arena arena;
	const struct exec *x;
	bool done;

	arena_init(&arena);
	x = exec_compile(&arena, f);
	done = x && exec_run(x, args, n);
	arena_release(&arena);
	/* After a fault, the interpreter runs the function again and reports
	 * the fault. */
	return done || interp_run(f, args, n);
}
