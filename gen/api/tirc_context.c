/* SPDX-License-Identifier: Apache-2.0 */
/* Functions about a context that the files of the public interface share. */
#include "tirc_context.h"

bool
context_bad_option(struct tirc *t, const char *option, const char *value,
		   const char *expected)
{
	return diag_error(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ 0 },
			  "%s %s: not understood; expected %s", option, value,
			  expected);
}

/* tirc_compile sets s->after, the tensor with the state's value after a run;
 * before tirc_compile this tensor is the model's output s->output */
const struct tensor *
context_state_tensor(const struct tirc *t, int i)
{
	const struct graph_state *s = &t->graph->states.data[i];

	return s->after != NULL ? s->after : t->graph->outputs.data[s->output];
}
