/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a function of a program's source in the interpreter before the source is
 * compiled. It runs the function after schedule and lowering, and not in the
 * form that the program wrote. */
#include <stdlib.h>

#include "float_checks.h"
#include "interp.h"
#include "trial.h"

/* The end of a message about a function: the values of its scalars for which
 * the error occurs. */
static const char *
condition(struct module *m, const struct func *plain, const int64_t *values)
{
	const char *text = "", *before = " for ";

	for (int i = 0; i < plain->params.n; i++) {
		const struct param *p = &plain->params.data[i];

		if (!p->buffer) {
			text = arena_printf(&m->arena, "%s%s%s=%lld", text,
					    before, p->var->name,
					    (long long)values[i]);
			before = ", ";
		}
	}
	return arena_printf(&m->arena,
			    ", as the function is scheduled and lowered%s; its "
			    "source is not run",
			    text);
}

/* Checks that each access is inside of its array however floats are rounded.
 * Returns false after a diagnostic. */
static bool
check_floats(struct module *m, const struct program_sources *text, int at,
	     const int64_t *values, const struct run_source *how)
{
	const struct func *f = text->funcs[at];
	bool *is_short = arena_array(&m->arena, bool, f->params.n + 1);
	struct float_check check = { .callees = text->callees,
				     .n_callees = text->n_callees,
				     .first = at,
				     .values = trial_map(m, f, values),
				     .is_short = is_short,
				     .file = how->file,
				     .line = how->line,
				     .col = how->col,
				     .ending = how->ending };

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems;

		is_short[i] = b &&
			      (!trial_elems(f, i, values, &elems) ||
			       elems * dtype_bytes(b->type) > how->bytes[i]);
	}
	return program_check_floats(m, &check);
}

bool
trial_check(struct module *m, const struct program_result *list,
	    const struct program_sources *text, int at, const int64_t *values,
	    void *const *in, const struct trial_watch *watch)
{
	struct run_steps steps = trial_run_steps(watch);
	const struct program_func *from = &list->funcs.data[at];
	const struct func *f = text->funcs[at];
	int n = f->params.n;
	struct run_arg *args = arena_array(&m->arena, struct run_arg, n + 1);
	int64_t *bytes = arena_array(&m->arena, int64_t, n + 1);
	struct run_source how = { .file = list->file,
				  .line = from->line,
				  .col = from->col,
				  .ending = condition(m, from->plain, values),
				  .n_given = from->plain->params.n,
				  .bytes = bytes,
				  .steps = &steps,
				  .callees = text->callees,
				  .n_callees = text->n_callees };
	bool ok = true;

	for (int i = 0; i < n && ok; i++) {
		/* The caller's arrays have the sizes in the function before its
		 * schedule. */
		const struct func *holds = i < how.n_given ? from->plain : f;
		const struct buffer *b = holds->params.data[i].buffer;

		args[i].scalar = values[i];
		if (!b) {
			continue;
		}
		ok = trial_elems(holds, i, values, &bytes[i]);
		bytes[i] = ok ? bytes[i] * dtype_bytes(b->type) : 0;
		args[i].data = malloc((size_t)bytes[i] + 1);
		ok = ok && (args[i].data != NULL ||
			    quota_check_memory(m,
					       (struct diag_place){
						       .file = list->file },
					       INT64_MAX));
		if (ok && i < how.n_given) {
			memcpy(args[i].data, in[i], (size_t)bytes[i]);
		} else if (ok) {
			memset(args[i].data, 0xFF, (size_t)bytes[i]);
		}
	}
	ok = ok && check_floats(m, text, at, values, &how) &&
	     interp_run_source(f, args, n, &how);
	for (int i = 0; i < n; i++) {
		if (f->params.data[i].buffer) {
			free(args[i].data);
		}
	}
	return ok;
}
