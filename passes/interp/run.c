/* SPDX-License-Identifier: Apache-2.0 */
/* Running a function the fastest way that can. */
#include "interp.h"

bool
run_func(struct func *f, const struct run_arg *args, int n)
{
	return interp_run(f, args, n);
}
