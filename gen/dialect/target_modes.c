/* SPDX-License-Identifier: Apache-2.0 */
/* The changes of a target by the options --fp and --optimize. */
#include "dialects.h"

static const char *const fp_modes[] = { "default", "strict", "fast" };

/* The goals of --optimize for which a target can have separate flags, in the
 * order of goal_cflags. */
static const char *const goals[] = { "speed", "balanced", "size" };

const struct target *
target_with_fp(struct module *m, const struct target *t, const char *fp)
{
	struct target *own = arena_copy(&m->arena, t, sizeof *t);
	struct diag_place place = { .file = t->name };

	if (fp == NULL || strcmp(fp, fp_modes[0]) == 0) {
		return t;
	}
	for (int i = 0; i < 2; i++) {
		if (strcmp(fp, fp_modes[i + 1]) != 0) {
			continue;
		}
		if (t->fp_cflags[i] == NULL) {
			diag_error(&m->diags, DIAG_BAD_OPTION, place,
				   "the target does not say what --fp %s is; "
				   "leave the option out or take another "
				   "target",
				   fp);
			return NULL;
		}
		own->fp = fp_modes[i + 1];
		if (t->fp_cflags[i][0] != '\0') {
			own->cflags = arena_printf(&m->arena, "%s %s",
						   t->cflags, t->fp_cflags[i]);
		}
		return own;
	}
	place.file = "--fp";
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "'%s' is none of strict, default and fast", fp);
	return NULL;
}

/* The flags with the words `part` replaced by `by`; if they do not contain
 * `part`, with `by` at the end. */
static const char *
flags_with(struct arena *a, const char *flags, const char *part, const char *by)
{
	size_t n = strlen(part);

	for (const char *at = strstr(flags, part); n > 0 && at != NULL;
	     at = strstr(at + 1, part)) {
		if ((at == flags || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0')) {
			return arena_printf(a, "%.*s%s%s", (int)(at - flags),
					    flags, by, at + n);
		}
	}
	return arena_printf(a, "%s %s", flags, by);
}

const struct target *
target_with_goal(struct module *m, const struct target *t, const char *goal)
{
	struct target *own = arena_copy(&m->arena, t, sizeof *t);
	struct diag_place place = { .file = t->name };

	own->goal = goal != NULL ? goal : goals[0];
	own->optimize_memory = strcmp(own->goal, "memory") == 0;
	if (own->optimize_memory || strcmp(own->goal, goals[0]) == 0) {
		return own;
	}
	for (int i = 1; i < 3; i++) {
		if (strcmp(goal, goals[i]) != 0) {
			continue;
		}
		if (t->goal_cflags[0] == NULL || t->goal_cflags[i] == NULL) {
			diag_error(&m->diags, DIAG_BAD_OPTION, place,
				   "the target does not say what --optimize %s "
				   "is; leave the option out and give the "
				   "compiler -Os, or take another target",
				   goal);
			return NULL;
		}
		own->inlines_helpers = true;
		own->cflags = flags_with(&m->arena, t->cflags,
					 t->goal_cflags[0], t->goal_cflags[i]);
		return own;
	}
	place.file = "--optimize";
	diag_error(&m->diags, DIAG_BAD_OPTION, place,
		   "'%s' is none of speed, balanced and size, for less code, "
		   "and memory, for less RAM",
		   goal);
	return NULL;
}
