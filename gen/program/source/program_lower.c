/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers a function of a program, perhaps without unrolling and partitioning
 * loops. */
#include "calls.h"
#include "lower.h"
#include "program.h"

bool
program_lower(struct func *f, int phase, bool simple,
	      const struct pass_hooks *hooks)
{
	struct pass_hooks fewer = { 0 };
	VEC(const char *) disabled = { 0 };
	int n;
	const struct lower_pass *passes = lower_passes(&n);

	if (phase > 0) {
		program_name_addresses(f);
	}
	if (!simple) {
		return lower_func_to(f, phase, hooks);
	}
	if (hooks) {
		fewer = *hooks;
	}
	for (int i = 0; i < fewer.n_disabled; i++) {
		vec_push(&f->module->arena, &disabled, fewer.disabled[i]);
	}
	for (int i = 0; i < n; i++) {
		if (passes[i].phase == 2 && !passes[i].needed) {
			vec_push(&f->module->arena, &disabled, passes[i].name);
		}
	}
	fewer.disabled = disabled.data;
	fewer.n_disabled = disabled.n;
	return lower_func_to(f, phase, &fewer);
}
