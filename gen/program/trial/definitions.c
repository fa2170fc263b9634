/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the external functions that a program declares
 * (te.decl_tensor_intrin), so that the program can be tested: a definition
 * computes what the declaration says. */
#include "interp.h"
#include "intrinsic_make.h"
#include "iterate.h"
#include "trial.h"

struct defining {
	struct module *m;
	const struct program_result *list;
	/* for each external function: a definition of what it computes */
	struct program_result outside;
	VEC(struct run_callee) callees;
};

/* Sets *made to the module's function named `symbol`. If there is none, adds a
 * function that computes what the program declares for the name; *made is NULL
 * if the program declares nothing for it. Returns false after a diagnostic. */
static bool
define(struct defining *d, const char *symbol, struct func **made)
{
	const struct tensor_call *call = tensor_intrins_call(d->list->intrins,
							     symbol);
	const char *why = "";

	*made = module_find_func(d->m, symbol);
	if (*made || !call) {
		return true;
	}
	*made = intrinsic_reference(d->m, call, &why);
	if (!*made) {
		return diag_error(&d->m->diags, DIAG_BAD_PROGRAM,
				  (struct diag_place){ .file = d->list->file },
				  "'%s' cannot be tested: %s", symbol, why);
	}
	vec_push(&d->m->arena, &d->m->funcs, *made);
	return true;
}

/* Adds a definition of each external function that the source calls to
 * d->outside, under its prefixed name. Returns false after a diagnostic, which
 * is also reported if the program declares no computation for a function. */
static bool
define_externals(struct defining *d, const struct program_sources *text)
{
	for (int i = 0; i < text->needs.externals.n; i++) {
		const char *symbol = text->needs.externals.data[i];
		struct program_func f = {
			.stage = PROGRAM_CREATED,
			.symbol = arena_printf(&d->m->arena, "%s%s",
					       text->external_prefix
						       ? text->external_prefix
						       : "",
					       symbol)
		};

		if (!define(d, symbol, &f.func)) {
			return false;
		}
		if (!f.func || !tensor_intrins_call(d->list->intrins, symbol)) {
			return diag_error(
				&d->m->diags, DIAG_UNSUPPORTED,
				(struct diag_place){ .file = d->list->file },
				"the source calls '%s', which the program only "
				"declares, so that there is no definition to "
				"test with; declare what it computes with "
				"te.decl_tensor_intrin",
				symbol);
		}
		vec_push(&d->m->arena, &d->outside.funcs, f);
	}
	return true;
}

static void
add_callee(struct defining *d, const char *name, const struct func *f,
	   bool external)
{
	struct run_callee callee = { .name = name,
				     .func = f,
				     .external = external };

	for (int i = 0; i < d->callees.n; i++) {
		if (d->callees.data[i].external == external &&
		    strcmp(d->callees.data[i].name, name) == 0) {
			return;
		}
	}
	vec_push(&d->m->arena, &d->callees, callee);
}

/* Defines the external functions that f calls, for the interpreter. source: f
 * is a function of the source, and the definitions are also added to
 * d->callees. Returns false after an error. */
static bool
define_called(struct defining *d, const struct func *f, bool source)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *x;

	while ((x = tree_next(&it))) {
		struct func *made;

		if (x->u.intrin != INTRIN_CALL_EXTERN) {
			continue;
		}
		if (!define(d, x->args[0]->u.text, &made)) {
			tree_stop(&it);
			return false;
		}
		if (made && source) {
			add_callee(d, x->args[0]->u.text, made, true);
		}
	}
	return true;
}

bool
trial_define_called(struct module *m, const struct program_result *list,
		    const struct func *f)
{
	struct defining d = { .m = m, .list = list };

	return define_called(&d, f, false);
}

/* Sets d->callees. written: the source of the definitions. Returns false after
 * a diagnostic. */
static bool
add_callees(struct defining *d, struct program_sources *text,
	    const struct program_sources *written)
{
	for (int i = 0; i < d->list->funcs.n; i++) {
		add_callee(d, text->funcs[i]->name, text->funcs[i], false);
	}
	for (int i = 0; i < d->outside.funcs.n; i++) {
		add_callee(d, text->needs.externals.data[i], written->funcs[i],
			   true);
	}
	for (int i = 0; i < d->list->funcs.n; i++) {
		if (!define_called(d, text->funcs[i], true)) {
			return false;
		}
	}
	text->callees = d->callees.data;
	text->n_callees = d->callees.n;
	return true;
}

bool
trial_definitions(struct module *m, const struct program_result *list,
		  const struct program_options *o, const char *target,
		  struct program_sources *text)
{
	struct defining d = { .m = m, .list = list };
	struct program_options outside = *o;
	struct program_sources written = { 0 };

	d.outside.file = list->file;
	d.outside.intrins = list->intrins;
	if (!define_externals(&d, text)) {
		return false;
	}
	for (int i = 0; i < list->funcs.n; i++) {
		struct func *plain = list->funcs.data[i].plain;

		if (!define_called(&d, plain, false)) {
			return false;
		}
		if (!module_find_func(m, plain->name)) {
			vec_push(&m->arena, &m->funcs, plain);
		}
	}
	if (d.outside.funcs.n == 0) {
		return add_callees(&d, text, &written);
	}
	outside.stem = arena_printf(&m->arena, "%s_definitions",
				    o->stem ? o->stem : "program");
	if (!program_source(m, &d.outside, &outside, target, &written)) {
		return false;
	}
	text->definitions_name = written.source_name;
	text->definitions = written.source;
	return add_callees(&d, text, &written);
}
