/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes of lower.def in order. */
#include "lower.h"

#include "lower_passes.h"
#include "script.h"

enum { OPTIONAL, NEEDED };

static const struct lower_pass passes[] = {
#define LOWER(phase, name, function, needed, what) \
	{ name, what, phase, needed == NEEDED, function },
#include "lower.def"
#undef LOWER
};

enum { N_PASSES = sizeof passes / sizeof passes[0] };

const struct lower_pass *
lower_passes(int *n)
{
	*n = N_PASSES;
	return passes;
}

/* One row of the table may occur more than once. */
bool
lower_simplify(struct func *f)
{
	simplify_func(f);
	return true;
}

/* what: the pass that f comes from. */
static bool
is_sound(struct func *f, const char *what)
{
	struct diag_place place = { .item = f->name };

	if ((!TIRC_VERIFY || func_verify(f)) &&
	    (!TIRC_VERIFY_TEXT || func_verify_text(f))) {
		return true;
	}
	diag_note(&f->module->diags, DIAG_VERIFY, place, "after %s", what);
	return false;
}

bool
lower_func(struct func *f, const struct pass_hooks *hooks)
{
	if (!is_sound(f, "the schedule")) {
		return false;
	}
	for (int i = 0; i < N_PASSES; i++) {
		if (!passes[i].run(f) || !is_sound(f, passes[i].name)) {
			return false;
		}
		if (hooks && hooks->after_func) {
			hooks->after_func(hooks->ctx, passes[i].name, f);
		}
	}
	return true;
}
