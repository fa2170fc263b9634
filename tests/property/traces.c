/* SPDX-License-Identifier: Apache-2.0 */
/* traces TARGET MODEL.onnx: every kernel's default schedule, done again on the
 * kernel's unscheduled function from its trace, gives the same text: from the
 * steps in memory, and from the trace written and read as Python and as
 * JSON; and a program whose kernels are scheduled by those texts is the same
 * program. With PRINT=1 the Python form is shown. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/check.h"
#include "dialects.h"
#include "kernel.h"
#include "kernels.h"
#include "onnx_import.h"
#include "trace_json.h"
#include "trace_python.h"

/* The scheduled functions as the compiler made them, by name. */
struct seen {
	struct arena *arena;
	VEC(const char *) names;
	VEC(const char *) texts;
};

static const char *
text_of(struct arena *a, const struct func *f)
{
	struct strbuf out;
	const char *text;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	text = arena_strndup(a, out.data, out.len);
	strbuf_release(&out);
	return text;
}

static void
after_func(void *ctx, const char *pass, const struct func *f)
{
	struct seen *seen = ctx;

	if (strcmp(pass, "schedule") == 0) {
		vec_push(seen->arena, &seen->names, f->name);
		vec_push(seen->arena, &seen->texts, text_of(seen->arena, f));
	}
}

static void
show(const struct diags *diags)
{
	for (int i = 0; i < diags->list.n; i++) {
		struct strbuf text;

		strbuf_init(&text);
		diag_format(&diags->list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
		strbuf_release(&text);
	}
}

enum form { IN_MEMORY, AS_PYTHON, AS_JSON };

static void
check_again(struct program *p, const struct kernel *k, const char *want,
	    const struct sched *first, enum form form)
{
	struct module *m = p->graph->module;
	struct sched again;
	struct strbuf text;
	struct source src = { .name = "trace" };
	bool ok;

	sched_init(&again, kernel_unscheduled(p, k));
	strbuf_init(&text);
	if (form == AS_JSON) {
		trace_json_write(first, SCRIPT_CURRENT, &text);
	} else {
		trace_print_python(first, SCRIPT_CURRENT, &text);
	}
	src.text = text.data;
	src.length = text.len;
	ok = form == AS_JSON ? trace_json_read(&again, &src)
	     : form == AS_PYTHON
		     ? trace_read_python(&again, &src)
		     : sched_replay(&again, first->trace.data, first->trace.n);
	if (!CHECK(ok)) {
		show(&again.diags);
		show(&m->diags);
		fprintf(stderr, "%s\n%s\n", k->name, text.data);
	} else {
		CHECK_STR_EQ(text_of(&m->arena, again.func), want);
	}
	strbuf_release(&text);
}

static void
check_kernel(struct program *p, const struct kernel *k, const char *want)
{
	struct module *m = p->graph->module;
	struct sched first;

	if (!CHECK(kernel_schedule(p, k, NULL, &first))) {
		return;
	}
	if (getenv("PRINT")) {
		struct strbuf text;

		strbuf_init(&text);
		trace_print_python(&first, SCRIPT_CURRENT, &text);
		printf("# %s\n%s\n", k->name, text.data);
		strbuf_release(&text);
	}
	CHECK_STR_EQ(text_of(&m->arena, first.func), want);
	check_again(p, k, want, &first, IN_MEMORY);
	check_again(p, k, want, &first, AS_PYTHON);
	check_again(p, k, want, &first, AS_JSON);
}

/* -- put back into the build */

static enum hook_schedule
from_text(void *ctx, const struct kernel *k, struct sched *s,
	  const char **words)
{
	struct program *p = ctx;
	struct sched first;
	struct strbuf text;
	struct source src = { .name = "schedule.py" };
	bool ok;

	(void)words;
	for (int i = 0; i < p->kernels.n; i++) {
		if (strcmp(p->kernels.data[i]->name, k->name) != 0) {
			continue;
		}
		if (!CHECK(kernel_schedule(p, p->kernels.data[i], NULL,
					   &first))) {
			return HOOK_SCHEDULE_FAILED;
		}
		strbuf_init(&text);
		trace_print_python(&first, SCRIPT_OLD, &text);
		src.text = arena_strdup(&s->module->arena, text.data);
		src.length = text.len;
		strbuf_release(&text);
		ok = trace_read_python(s, &src);
		return ok ? HOOK_SCHEDULE_DONE : HOOK_SCHEDULE_FAILED;
	}
	return HOOK_SCHEDULE_NONE;
}

/* A program whose kernels are scheduled by the texts of the first one's. */
static void
check_build(struct program *p)
{
	struct module *m = p->graph->module;
	struct pass_hooks hooks = { .ctx = p, .schedule = from_text };
	struct program again;

	if (!CHECK(program_build(p->graph, p->target, &hooks, &again)) ||
	    !CHECK_EQ(again.kernels.n, p->kernels.n)) {
		show(&m->diags);
		return;
	}
	for (int i = 0; i < p->kernels.n; i++) {
		CHECK_STR_EQ(text_of(&m->arena, again.kernels.data[i]->func),
			     text_of(&m->arena, p->kernels.data[i]->func));
	}
	CHECK_EQ(again.weights.n, p->weights.n);
	for (int i = 0; i < p->weights.n && i < again.weights.n; i++) {
		CHECK_EQ(again.weights.data[i]->map != NULL,
			 p->weights.data[i]->map != NULL);
		CHECK_EQ(again.weights.data[i]->bytes,
			 p->weights.data[i]->bytes);
	}
}

int
main(int argc, char **argv)
{
	struct module *m = module_new();
	struct seen seen = { .arena = &m->arena };
	struct pass_hooks hooks = { .ctx = &seen, .after_func = after_func };
	static const struct settings settings = {
		.conv = CONV_AUTO,
		.conv_gflops = 100,
		.conv_gbytes = 10,
	};
	struct import_options options = { 0 };
	struct onnx_file *file = NULL;
	struct program p = { 0 };
	const struct target *target;
	struct graph *g;

	if (argc != 3) {
		fprintf(stderr, "usage: %s target model.onnx\n", argv[0]);
		return 2;
	}
	target = target_load(m, argv[1], NULL);
	g = onnx_import(m, argv[2], &options, &file);
	if (g) {
		g->settings = &settings;
	}
	if (!CHECK(target && g && graph_optimize(g, &hooks) &&
		   program_build(g, target, &hooks, &p))) {
		show(&m->diags);
		return 1;
	}
	for (int i = 0; i < p.kernels.n; i++) {
		const char *want = NULL;

		for (int k = 0; k < seen.names.n; k++) {
			if (strcmp(seen.names.data[k],
				   p.kernels.data[i]->name) == 0) {
				want = seen.texts.data[k];
			}
		}
		check_kernel(&p, p.kernels.data[i], want);
	}
	check_build(&p);
	fprintf(stderr, "%d kernels\n", p.kernels.n);
	onnx_file_close(file);
	module_free(m);
	return check_done();
}
