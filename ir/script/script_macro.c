/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: what the definition of a macro says. script_stmt.c reads its
 * suite in the place of a call. */
#include "script_read.h"

enum {
	MAX_PARAMS = 256,
	MAX_NESTED = 100,    /* macros that call macros */
	MAX_EXPANDED = 10000 /* calls of macros in a function */
};

/* The parameters of a macro as a signature for script_args: "A, i, scale?". NULL
 * after an error. */
static const char *
macro_params(struct script_reader *r, const struct py_node *call,
	     const struct py_node *def)
{
	const char *text = "";

	for (int i = 0; i < def->n_params; i++) {
		const struct py_param *p = &def->params[i];

		if (p->kind != PY_PARAM_PLAIN || def->n_params > MAX_PARAMS) {
			script_fail(r, call,
				    "%s has parameters that are not one by "
				    "one, or more than %d; name each",
				    def->text, MAX_PARAMS);
			return NULL;
		}
		text = arena_printf(&r->m->arena, "%s%s%s%s", text,
				    i ? ", " : "", p->name,
				    p->initial ? "?" : "");
	}
	return text;
}

/* Evaluates the arguments, still with the names of the caller. */
static bool
macro_arguments(struct script_reader *r, const struct py_node *call,
		const struct py_node *def, struct script_value *values)
{
	const struct py_node **found = arena_array(&r->m->arena,
						   const struct py_node *,
						   def->n_params + 1);
	const char *params = macro_params(r, call, def);

	if (!params || !script_args(r, call, params, found)) {
		return false;
	}
	for (int i = 0; i < def->n_params; i++) {
		const struct py_node *value = found[i] ? found[i]
						       : def->params[i].initial;

		if (!script_eval(r, value, &values[i])) {
			return false;
		}
	}
	return true;
}

bool
script_enter_macro(struct script_reader *r, const struct py_node *call,
		   const struct py_node *def, bool hides,
		   struct script_macro *out)
{
	struct script_value *values = arena_array(&r->m->arena,
						  struct script_value,
						  def->n_params + 1);

	*out = (struct script_macro){ r->names.n, r->n_hidden };
	if (r->macro_depth >= MAX_NESTED || r->n_expanded >= MAX_EXPANDED) {
		return script_fail(r, call,
				   "macros in macros more than %d deep, or "
				   "more than %d calls of them; write a loop",
				   MAX_NESTED, MAX_EXPANDED);
	}
	if (!macro_arguments(r, call, def, values)) {
		return false;
	}
	r->macro_depth++;
	r->n_expanded++;
	if (hides) {
		r->n_hidden = out->names;
	}
	for (int i = 0; i < def->n_params; i++) {
		script_define(r, def->params[i].name, values[i]);
	}
	return true;
}

void
script_leave_macro(struct script_reader *r, const struct script_macro *m)
{
	script_leave(r, m->names);
	r->n_hidden = m->hidden;
	r->macro_depth--;
}

bool
script_macro_sees_caller(const struct py_node *def)
{
	for (int i = 0; i < def->n_decorators; i++) {
		const struct py_node *d = def->decorators[i];

		for (int k = 1; d->kind == PY_CALL && k < d->n_kids; k++) {
			const struct py_node *value = d->kids[k];

			if (value->kind == PY_KEYWORD) {
				value = value->kids[0];
			}
			if (value->kind == PY_FALSE) {
				return true;
			}
		}
	}
	return false;
}
