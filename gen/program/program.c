/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a tensor program: reads its text, evaluates its statements, and collects
 * its functions. */
#include "program.h"

#include "intrinsics_attach.h"
#include "program_parts.h"
#include "start.h"
#include "tir_parts.h"

enum {
	DEFAULT_STEPS = 20 * 1000 * 1000,
	DEFAULT_BYTES = 2000 * 1024 * 1024ULL / 4 /* 500 MB */
};

static void
set_name(struct eval *ev, const char *name, const char *value)
{
	struct pval v = pv_string(ev, value);

	eval_scope_set(ev, ev->globals, name, &v);
}

/* Called after the program has run: adds the TVMScript functions that are bound
 * to names at the top level to the result. */
static void
gather_written(struct eval *ev)
{
	for (int i = 0; i < ev->globals->names.n; i++) {
		const struct pval *v = &ev->globals->names.data[i].value;

		if (v->kind == PV_FUNC) {
			remember_func(ev, v->u.func);
		}
		for (int k = 0;
		     v->kind == PV_IRMODULE && k < v->u.module->funcs.n; k++) {
			remember_func(ev, v->u.module->funcs.data[k]);
		}
	}
}

void
eval_start(struct eval *ev, struct module *m, const struct source *src,
	   const struct program_options *o, struct program_result *out)
{
	size_t bytes = o->max_bytes > 0 ? (size_t)o->max_bytes
					: (size_t)DEFAULT_BYTES;

	*ev = (struct eval){
		.m = m,
		.a = &m->arena,
		.src = src,
		.program = src,
		.typing = { m, src, &typing_of_programs },
		.o = o,
		.libraries = &libraries,
		.result = out,
		.max_steps = o->max_steps > 0 ? o->max_steps : DEFAULT_STEPS,
		.max_bytes = m->arena.used_bytes + bytes,
		.globals = arena_new(&m->arena, struct scope),
		.intrins = arena_new(&m->arena, struct tensor_intrins),
	};
	tensor_intrins_init(ev->intrins, ev->a);
	out->intrins = ev->intrins;
	set_name(ev, "__name__", "__main__");
	set_name(ev, "__file__", src->name);
}

bool
eval_whole(struct eval *ev, const struct py_node *tree)
{
	struct pval unused;
	enum flow flow = eval_suite(ev, ev->globals, tree, &unused);

	if (flow == FLOW_ERROR || flow == FLOW_NEXT) {
		return flow == FLOW_NEXT;
	}
	return eval_error(ev, ev->left_at, "%s outside of a %s",
			  flow == FLOW_RETURN  ? "return"
			  : flow == FLOW_BREAK ? "break"
					       : "continue",
			  flow == FLOW_RETURN ? "function" : "loop");
}

bool
program_run(struct module *m, const struct source *src,
	    const struct program_options *o, struct program_result *out)
{
	const struct py_node *tree = py_parse(m, src);
	int first = m->diags.list.n;
	struct eval ev;
	bool ok;

	memset(out, 0, sizeof *out);
	out->file = src->name;
	if (!tree) {
		return false;
	}
	eval_start(&ev, m, src, o, out);
	intrinsics_attach(m, o->dialect_path, ev.intrins);
	ok = eval_whole(&ev, tree);
	absent_note(&ev, src->name, first);
	if (ok) {
		schedule_finish(&ev);
		gather_written(&ev);
	}
	return ok;
}
