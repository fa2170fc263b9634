/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of a model as text: its program and its schedule, in forms that
 * --schedule-for accepts after an edit. */
#include <string.h>

#include "kernels.h"
#include "lower.h"
#include "schedule.h"
#include "text.h"
#include "tirc_context.h"
#include "trace.h"
#include "trace_json.h"

static struct kernel *
find_kernel(struct tirc *t, const char *name)
{
	struct arena *a = &t->m->arena;
	int n = t->program.kernels.n;
	const char **names = arena_array(a, const char *, n + 1);
	const char *near;

	for (int i = 0; i < n; i++) {
		struct kernel *k = t->program.kernels.data[i];

		names[i] = k->name;
		if (strcmp(k->name, name) == 0) {
			return k;
		}
	}
	near = text_nearest(name, names, n);
	context_bad_option(
		t, "--kernel", name,
		near != NULL ? arena_printf(a,
					    "a kernel of the model, such "
					    "as %s",
					    near)
			     : "a kernel of the model; `tirc inspect` lists "
			       "them");
	return NULL;
}

static const char *
keep(struct tirc *t, struct strbuf *text)
{
	const char *copy = arena_strndup(&t->m->arena,
					 text->len > 0 ? text->data : "",
					 text->len);

	strbuf_release(text);
	return copy;
}

const char *
tirc_kernel_script(struct tirc *t, const char *kernel, int phase,
		   bool old_script)
{
	struct kernel *k = find_kernel(t, kernel);
	struct pass_hooks hooks;
	struct strbuf text;
	struct sched s;
	struct func *f;

	if (k == NULL || !context_hooks(t, &hooks)) {
		return NULL;
	}
	if (phase < 0) {
		f = kernel_unscheduled(&t->program, k);
	} else if (kernel_schedule(&t->program, k, &hooks, &s)) {
		f = s.func;
		if (phase > 0) {
			kernel_note_vectors(t->program.target, f);
		}
		if (!lower_func_to(f, phase, &hooks)) {
			return NULL;
		}
	} else {
		return NULL;
	}
	if (f == NULL) {
		return NULL;
	}
	strbuf_init(&text);
	func_print(f, old_script ? SCRIPT_OLD : SCRIPT_CURRENT, &text);
	return keep(t, &text);
}

const char *
tirc_kernel_trace(struct tirc *t, const char *kernel, bool json)
{
	struct kernel *k = find_kernel(t, kernel);
	struct pass_hooks hooks;
	struct strbuf text;
	struct sched s;

	if (k == NULL || !context_hooks(t, &hooks) ||
	    !kernel_schedule(&t->program, k, &hooks, &s)) {
		return NULL;
	}
	strbuf_init(&text);
	if (json) {
		trace_json_write(&s, SCRIPT_CURRENT, &text);
	} else {
		trace_print_python(&s, SCRIPT_CURRENT, &text);
	}
	return keep(t, &text);
}

const char *
tirc_kernel_explanation(struct tirc *t, const char *kernel)
{
	struct kernel *k = find_kernel(t, kernel);
	struct strbuf text;
	const char *copy;
	bool good;

	if (k == NULL) {
		return NULL;
	}
	strbuf_init(&text);
	good = kernel_explain(&t->program, k, &text);
	copy = keep(t, &text);
	return good ? copy : NULL;
}
