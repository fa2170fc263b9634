/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether a traced program can be emitted. */
#include "packer.h"

static bool
refuse(const struct packer *k, const char *why)
{
	struct diag_place place = { .file = k->g->file };

	return diag_error(&k->m->diags, DIAG_BAD_OPTION, place, "--trace %s",
			  why);
}

bool
trace_allowed(const struct packer *k)
{
	if (package_on_device(k)) {
		return refuse(k, "shows tensors in the memory of a processor, "
				 "and those of this target are on a device; "
				 "choose a target of C");
	}
	if (k->o->graph) {
		return refuse(k, "is for --form aot; the executor of a graph "
				 "shows each tensor by tirc_graph_watch");
	}
	if (k->d->access.traced == NULL) {
		return refuse(k, "is not spelled by this dialect: it has no "
				 "access.traced");
	}
	if (k->d->spaces[SPACE_WORKSPACE] != NULL ||
	    k->d->spaces[SPACE_INTERFACE] != NULL) {
		return refuse(k, "passes plain pointers, and the arrays of "
				 "this dialect have an address space");
	}
	return true;
}

struct renaming {
	struct module *m;
	const char *from, *to;
};

static const struct expr *
rename_shown(void *ctx, const struct expr *e)
{
	const struct renaming *r = ctx;
	const struct expr **args;

	if (e->kind != EXPR_CALL || e->u.intrin != INTRIN_CALL_EXTERN ||
	    strcmp(e->args[0]->u.text, ENTRY_TRACED) != 0 ||
	    strcmp(e->args[1]->u.text, r->from) != 0) {
		return NULL;
	}
	args = arena_copy(&r->m->arena, e->args,
			  sizeof *args * (size_t)e->n_args);
	args[1] = expr_string(r->m, r->to);
	return expr_call(r->m, e->u.intrin, e->type, args, e->n_args);
}

void
trace_rename(struct packer *k, const char *from, const char *to)
{
	struct renaming r = { k->m, from, to };

	if (k->p->traced) {
		stmt_rewrite(k->p->entry, k->p->entry->body, rename_shown, &r);
	}
}
