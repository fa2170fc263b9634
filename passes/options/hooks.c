/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the code that runs passes. */
#include "hooks.h"

#include <string.h>
#include <time.h>

bool
hooks_disable(const struct pass_hooks *hooks, const char *pass)
{
	for (int i = 0; hooks && i < hooks->n_disabled; i++) {
		if (strcmp(hooks->disabled[i], pass) == 0) {
			return true;
		}
	}
	return false;
}

static double
now(void)
{
	struct timespec t;

	timespec_get(&t, TIME_UTC);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double
hooks_start(const struct pass_hooks *hooks)
{
	return hooks && hooks->took ? now() : 0;
}

void
hooks_took(const struct pass_hooks *hooks, const char *pass, double start)
{
	if (hooks && hooks->took) {
		hooks->took(hooks->ctx, pass, now() - start);
	}
}
