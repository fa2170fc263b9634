/* SPDX-License-Identifier: Apache-2.0 */
/* A region pass in a shared object. */
#include <dlfcn.h>

#include "backend_load.h"
#include "tirc_region_pass.h"

struct region_object {
	void *object;
	bool (*pass)(struct graph *g, const struct backend *b);
};

static bool
run_object(struct graph *g, const struct backend *b,
	   const struct region_pass *p)
{
	const struct region_object *o = p->ctx;
	int errors = g->module->diags.n_errors;

	if (o->pass(g, b)) {
		return g->module->diags.n_errors == errors;
	}
	return g->module->diags.n_errors != errors
		       ? false
		       : diag_error(&g->module->diags, DIAG_TOOL,
				    (struct diag_place){ .file = p->object,
							 .item = p->name },
				    "the pass failed without a message");
}

bool
backend_open_object(struct module *m, struct json at, struct region_pass *p)
{
	struct region_object *o = arena_new(&m->arena, struct region_object);
	const int *interface;
	void *symbol;

	/* dlopen would search a name without '/' in other folders. */
	if (strchr(p->object, '/') == NULL) {
		p->object = arena_printf(&m->arena, "./%s", p->object);
	}
	o->object = dlopen(p->object, RTLD_NOW | RTLD_LOCAL);
	p->ctx = o;
	p->run = run_object;
	if (o->object == NULL) {
		return json_error(at, "%s", dlerror());
	}
	interface = dlsym(o->object, "tirc_region_pass_interface");
	symbol = dlsym(o->object, "tirc_region_pass");
	if (interface == NULL || symbol == NULL) {
		return json_error(at,
				  "%s defines no pass; define one with "
				  "TIRC_REGION_PASS of tirc_region_pass.h",
				  p->object);
	}
	if (*interface != TIRC_REGION_PASS_INTERFACE) {
		return json_error(at,
				  "%s was built for another version of tirc; "
				  "compile it again with this one's headers",
				  p->object);
	}
	/* ISO C has no conversion from object to function pointers. */
	memcpy(&o->pass, &symbol, sizeof symbol);
	return true;
}

void
backend_close_object(const struct region_pass *p)
{
	struct region_object *o = p->ctx;

	if (o != NULL && o->object != NULL) {
		dlclose(o->object);
		o->object = NULL;
	}
}
