/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the errors of programs with their positions, and limits the work that
 * a program may cause. */
#include <stdarg.h>

#include "eval.h"

bool
eval_error(struct eval *ev, struct py_span at, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(ev->a, fmt, ap);
	va_end(ap);
	ev->raised.kind = PV_MISSING;
	return py_error(ev->m, ev->src, at, "%s", text);
}

bool
call_error(struct call *c, int i, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(c->ev->a, fmt, ap);
	va_end(ap);
	c->ev->raised.kind = PV_MISSING;
	return py_error(c->ev->m, c->ev->src, i >= 0 ? c->spans[i] : c->span,
			"%s", text);
}

bool
eval_locate(struct eval *ev, struct py_span at, int first)
{
	struct diags *d = &ev->m->diags;

	for (int i = first; i < d->list.n; i++) {
		struct diag *one = &d->list.data[i];
		struct diag located;
		enum diag_id id = one->id;
		int errors = d->n_errors;

		bool here = one->place.file &&
			    (strcmp(one->place.file, ev->src->name) == 0 ||
			     strcmp(one->place.file, ev->program->name) == 0);

		if (one->severity != DIAG_ERROR ||
		    (here && one->place.line > 0)) {
			continue;
		}
		/* the new text is the name in the diagnostic, or else its file,
		 * followed by its message */
		const char *of = one->place.item ? one->place.item
				 : here          ? NULL
						 : one->place.file;

		py_error(ev->m, ev->src, at, "%s%s%s", of ? of : "",
			 of ? ": " : "", one->message);
		located = d->list.data[d->list.n - 1];
		located.id = id;
		d->list.data[i] = located;
		d->list.n--;
		d->n_errors = errors;
	}
	return false;
}

struct diag_place
call_place(const struct call *c, int i)
{
	struct py_span at = i >= 0 ? c->spans[i] : c->span;

	return (struct diag_place){ .file = c->ev->src->name,
				    .line = at.line,
				    .col = at.col };
}

/* -- limits -- */

bool
eval_tick(struct eval *ev, struct py_span at, int64_t n)
{
	ev->steps += n;
	ev->fatal |= ev->steps > ev->max_steps ||
		     ev->a->used_bytes > ev->max_bytes;
	if (ev->steps > ev->max_steps) {
		return eval_error(ev, at,
				  "the program does not come to an "
				  "end within %lld steps; is there a loop "
				  "without one?",
				  (long long)ev->max_steps);
	}
	if (ev->a->used_bytes > ev->max_bytes) {
		return eval_error(ev, at,
				  "the program takes more than %zu MB "
				  "to read",
				  ev->max_bytes >> 20);
	}
	return true;
}

bool
eval_tick_bytes(struct eval *ev, struct py_span at, size_t n)
{
	return eval_tick(ev, at, (int64_t)(n / 8));
}
