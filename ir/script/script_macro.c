/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: definitions of macros, their parameters and decorators.
 * script_stmt.c reads a macro's suite in place of a call. */
#include "script_read.h"

enum { MAX_PARAMS = 256 };

const char *
script_macro_params(struct script_reader *r, const struct py_node *call,
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
