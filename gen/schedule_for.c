/* SPDX-License-Identifier: Apache-2.0 */
/* --schedule-for KERNEL=FILE: a kernel of a model scheduled by hand. The file
 * is a schedule in Python form, a trace as JSON, or the kernel's whole program
 * as TVMScript. */
#include <string.h>

#include "script.h"
#include "sched_rules.h"
#include "source_load.h"
#include "tirc_context.h"
#include "trace.h"
#include "trace_json.h"

static bool
fail(struct tirc *t, const char *file, const char *problem)
{
	return diag_error(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .item = "--schedule-for" },
			  "%s: %s", file, problem);
}

bool
context_schedules(struct tirc *t)
{
	const struct tirc_options *o = &t->options;

	for (int i = t->by_hand.n; i < o->n_schedule_for; i++) {
		const char *text = o->schedule_for[i];
		const char *equals = strchr(text, '=');
		struct by_hand one = { 0 };

		if (equals == NULL || equals == text || equals[1] == '\0') {
			return context_bad_option(t, "--schedule-for", text,
				"KERNEL=FILE, such as conv1=conv1.py");
		}
		one.kernel = arena_strndup(&t->m->arena, text,
					   (size_t)(equals - text));
		one.file = equals + 1;
		vec_push(&t->m->arena, &t->by_hand, one);
	}
	return true;
}

/* Does the text define a function rather than schedule one? */
static bool
is_program(const struct source *src)
{
	static const char mark[] = "prim_func";
	size_t n = sizeof mark - 1;

	for (size_t i = 0; i + n <= src->length; i++) {
		if (memcmp(src->text + i, mark, n) == 0) {
			return true;
		}
	}
	return false;
}

static bool
take_program(struct tirc *t, struct func *f, const struct source *src)
{
	struct module *m = t->m;
	int before = m->funcs.n, made;
	struct func *g;

	if (!script_read(m, src)) {
		return false;
	}
	made = m->funcs.n - before;
	g = made > 0 ? m->funcs.data[before] : NULL;
	m->funcs.n = before;
	if (made != 1) {
		return fail(t, src->name, "holds several functions; write "
			    "the kernel's alone");
	}
	return func_adopt(f, g);
}

static bool
ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

static bool
apply(struct tirc *t, const char *file, struct sched *s)
{
	struct source src;

	if (!source_load(t->m, file, &src)) {
		return false;
	}
	if (ends_in(file, ".json")) {
		return trace_json_read(s, &src);
	}
	return is_program(&src) ? take_program(t, s->func, &src)
				: trace_read_python(s, &src);
}

enum hook_schedule
context_schedule(void *ctx, const char *kernel, struct sched *s)
{
	struct tirc *t = ctx;

	for (int i = 0; i < t->by_hand.n; i++) {
		struct by_hand *one = &t->by_hand.data[i];

		if (strcmp(one->kernel, kernel) == 0) {
			one->used = true;
			return apply(t, one->file, s) ? HOOK_SCHEDULE_DONE
						      : HOOK_SCHEDULE_FAILED;
		}
	}
	return HOOK_SCHEDULE_NONE;
}

bool
context_schedules_used(struct tirc *t)
{
	int n = t->program.kernels.n;
	const char **names = arena_array(&t->m->arena, const char *, n + 1);

	for (int i = 0; i < n; i++) {
		names[i] = t->program.kernels.data[i]->name;
	}
	for (int i = 0; i < t->by_hand.n; i++) {
		const struct by_hand *one = &t->by_hand.data[i];
		const char *near;

		if (one->used) {
			continue;
		}
		near = py_nearest(one->kernel, names, n);
		return fail(t, one->kernel, arena_printf(&t->m->arena,
			"the model has no kernel of that name; %s%s",
			near != NULL ? "did you mean "
				     : "`tirc inspect` lists them",
			near != NULL ? near : ""));
	}
	return true;
}
