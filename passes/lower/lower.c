/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes of lower.def in order. */
#include "lower.h"

#include "lower_passes.h"
#include "script.h"

enum { OPTIONAL, NEEDED };

static const struct lower_pass passes[] = {
#define LOWER(phase, name, function, needed, what)                             \
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

/* The pass `simplify`; several rows of lower.def run it. */
bool
lower_simplify(struct func *f)
{
	simplify_func(f);
	return true;
}

/* Verifies f after a pass. what: the pass's name, for the message; seen: the
 * text of f at the last check (see func_verify_new_text). False after a
 * diagnostic. */
static bool
is_sound(struct func *f, const char *what, struct strbuf *seen)
{
	struct diag_place place = { .item = f->name };

	if ((!TIRC_VERIFY || func_verify(f)) &&
	    (!TIRC_VERIFY_TEXT || func_verify_new_text(f, seen))) {
		return true;
	}
	diag_note(&f->module->diags, DIAG_VERIFY, place, "after %s", what);
	return false;
}

static bool
run_pass(struct func *f, const struct lower_pass *pass,
	 const struct pass_hooks *hooks, struct strbuf *seen)
{
	double start = hooks_start(hooks);

	if (hooks_disable(hooks, pass->name)) {
		return true;
	}
	if (!pass->run(f) ||
	    !quota_check_memory(f->module,
				(struct diag_place){ .item = f->name }, 0)) {
		return false;
	}
	hooks_took(hooks, pass->name, start);
	if (!is_sound(f, pass->name, seen)) {
		return false;
	}
	if (hooks && hooks->after_func) {
		hooks->after_func(hooks->ctx, pass->name, f);
	}
	return true;
}

/* Runs a pass that the caller added. Its result is always verified: an invalid
 * result is the caller's error, not a bug in tirc. */
static bool
run_user_pass(struct func *f, const struct user_pass *pass,
	      const struct pass_hooks *hooks)
{
	double start = hooks_start(hooks);
	int errors = f->module->diags.n_errors;

	if (!pass->run(pass->ctx, f)) {
		return false;
	}
	hooks_took(hooks, pass->name, start);
	if (!func_verify(f) || f->module->diags.n_errors > errors) {
		return func_error(f, DIAG_BAD_PROGRAM,
				  "the program is broken after the added pass "
				  "%s; correct what it makes",
				  pass->name);
	}
	if (hooks->after_func) {
		hooks->after_func(hooks->ctx, pass->name, f);
	}
	return true;
}

static bool
end_phase(struct func *f, int phase, const struct pass_hooks *hooks)
{
	for (int i = 0; hooks && i < hooks->n_added; i++) {
		if (hooks->added[i].phase == phase &&
		    !run_user_pass(f, &hooks->added[i], hooks)) {
			return false;
		}
	}
	if (hooks && hooks->after_phase) {
		hooks->after_phase(hooks->ctx, phase, f);
	}
	return true;
}

static bool
run_passes(struct func *f, int last, const struct pass_hooks *hooks,
	   struct strbuf *seen)
{
	if (!is_sound(f, "the schedule", seen) || !end_phase(f, 0, hooks)) {
		return false;
	}
	for (int i = 0; i < N_PASSES && passes[i].phase <= last; i++) {
		if (!run_pass(f, &passes[i], hooks, seen)) {
			return false;
		}
		if ((i + 1 == N_PASSES ||
		     passes[i + 1].phase > passes[i].phase) &&
		    !end_phase(f, passes[i].phase, hooks)) {
			return false;
		}
	}
	return true;
}

bool
lower_func_to(struct func *f, int last, const struct pass_hooks *hooks)
{
	struct strbuf seen;
	bool done;

	strbuf_init(&seen);
	done = run_passes(f, last, hooks, &seen);
	strbuf_release(&seen);
	return done;
}

bool
lower_func(struct func *f, const struct pass_hooks *hooks)
{
	return lower_func_to(f, LAST_PHASE, hooks);
}
