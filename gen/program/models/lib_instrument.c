/* SPDX-License-Identifier: Apache-2.0 */
/* The instruments of a pass context: objects of the program whose methods are called
 * when the context begins and ends, and before and after each pass over a module. */
#include "objects.h"
#include "relay_values.h"
#include "tir_nodes.h"

/* Calls the method of each instrument of the context that has it, with n arguments,
 * until one gives False; *truth: none did. Returns false after an error. */
static bool
call_each(struct eval *ev, struct py_span at, const struct pv_pass_context *of,
	  const char *method, const struct pval *args, int n, bool *truth)
{
	*truth = true;
	for (int i = 0; of != NULL && *truth && i < of->n_instruments; i++) {
		struct pval result;
		bool found;

		if (!object_special(ev, at, &of->instruments[i], method, args,
				    n, &result, &found) ||
		    (found && result.kind != PV_NONE &&
		     !eval_truth(ev, at, &result, truth))) {
			return false;
		}
	}
	return true;
}

bool
instruments_before(struct eval *ev, struct py_span at,
		   const struct pv_pass *pass, const struct pval *module,
		   bool *runs)
{
	struct pval args[2] = { *module, pv_any(PV_PASS, pass) };
	bool unused;

	return call_each(ev, at, ev->context, "should_run", args, 2, runs) &&
	       (!*runs || call_each(ev, at, ev->context, "run_before_pass",
				    args, 2, &unused));
}

bool
instruments_after(struct eval *ev, struct py_span at,
		  const struct pv_pass *pass, const struct pval *module)
{
	struct pval args[2] = { *module, pv_any(PV_PASS, pass) };
	bool unused;

	return call_each(ev, at, ev->context, "run_after_pass", args, 2,
			 &unused);
}

bool
instruments_enter(struct eval *ev, struct py_span at, const struct pval *v,
		  struct pval *out)
{
	bool unused;

	*out = *v;
	return call_each(ev, at, v->u.any, "enter_pass_ctx", NULL, 0, &unused);
}

void
instruments_leave(struct eval *ev, const struct pval *v)
{
	struct py_span at = { 0 };
	bool unused;

	if (!ev->fatal) {
		call_each(ev, at, v->u.any, "exit_pass_ctx", NULL, 0, &unused);
	}
}

void
pass_text(struct eval *ev, const struct pval *v, bool repr, struct strbuf *out)
{
	const struct pv_pass *pass = v->u.any;

	(void)ev;
	(void)repr;
	strbuf_printf(out,
		      "The meta data of the pass - pass name: %s, opt_level: "
		      "%d, required passes: []",
		      pass->name, pass->level);
}
