/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts a call before the first kernel and after each kernel of the entry
 * function, to measure times:
 *
 * conv1(…)               NAME_profile(0)
 * fc(…)          ->      conv1(…)
 *                        NAME_profile(1)
 *                        fc(…)
 *                        NAME_profile(2) */
#include <assert.h>

#include "kernel.h"
#include "packer.h"

static struct stmt *
say_done(struct packer *k, int kernels)
{
	const struct expr *args[2] = {
		expr_string(k->m, arena_printf(k->a, "%s_profile", k->model)),
		expr_i32(k->m, kernels),
	};

	return stmt_evaluate(k->p->entry,
			     expr_call(k->m, INTRIN_CALL_EXTERN,
				       dtype_of(DT_VOID), args, 2));
}

bool
profile_allowed(const struct packer *k)
{
	struct diag_place place = { .file = k->g->file };

	return !graph_has_control(k->g) ||
	       diag_error(&k->m->diags, DIAG_BAD_OPTION, place,
			  "--profile measures kernels that run once each, and "
			  "the model has branches or loops; remove --profile");
}

void
add_profile_calls(struct packer *k)
{
	struct func *f = k->p->entry;
	struct stmt *calls = f->body;
	struct stmt_place place;
	VEC(struct stmt *) said = { 0 };
	int n = k->p->kernels.n;

	while (calls != NULL && calls->kind == STMT_LET) {
		calls = calls->children[0];
	}
	if (n == 0) {
		return;
	}
	assert(n == 1 || (calls->kind == STMT_SEQ && calls->n_children == n));
	place = stmt_place_of(calls);
	vec_push(k->a, &said, say_done(k, 0));
	for (int i = 0; i < n; i++) {
		struct stmt *call = n == 1 ? calls : calls->children[i];

		vec_push(k->a, &said, call);
		vec_push(k->a, &said, say_done(k, i + 1));
	}
	stmt_put(f, place, stmt_seq(f, said.data, said.n));
}
