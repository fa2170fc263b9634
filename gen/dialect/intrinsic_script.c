/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the functions in the script of a tensor intrinsic, for schedules. */
#include "intrinsics.h"

#include "intrinsics_attach.h"
#include "script.h"

/* The name of the script in messages: its file, and the member if the intrinsic
 * is one of a family. */
static const char *
script_name(struct module *m, const struct intrinsic_data *d)
{
	return d->values == NULL ? d->script_file
				 : arena_printf(&m->arena, "%s (%s)",
						d->script_file, d->name);
}

static bool fail(struct module *m, const struct intrinsic_data *d,
		 const char *fmt, ...) TIRC_PRINTF(3, 4);

static bool
fail(struct module *m, const struct intrinsic_data *d, const char *fmt, ...)
{
	struct diag_place place = { .file = script_name(m, d) };
	va_list ap;

	va_start(ap, fmt);
	diag_error(&m->diags, DIAG_BAD_DIALECT, place, "%s",
		   arena_vprintf(&m->arena, fmt, ap));
	va_end(ap);
	return false;
}

/* Checks that f, a part of an intrinsic, has the parameters of its description;
 * f may be NULL. False after a diagnostic. */
static bool
check_part(struct module *m, const struct intrinsic_data *d,
	   const struct func *desc, const struct func *f)
{
	const char *why;

	return !f || tensor_intrin_same_params(m, desc, f, &why) ||
	       fail(m, d, "%s", why);
}

/* Checks that each limit is for a variable in the shapes of parameters. False
 * after a diagnostic. */
static bool
check_limits(struct module *m, const struct intrinsic_data *d,
	     const struct func *desc)
{
	for (int i = 0; i < d->n_limits; i++) {
		bool known = false;

		for (int k = 0; k < desc->params.n; k++) {
			const struct buffer *b = desc->params.data[k].buffer;

			for (int x = 0; b && x < b->ndim; x++) {
				known |= b->shape[x]->kind == EXPR_VAR &&
					 strcmp(b->shape[x]->u.var->name,
						d->limits[i].variable) == 0;
			}
		}
		if (!known) {
			return fail(m, d,
				    "no buffer of desc has the size '%s', "
				    "which /limits of intrinsic.json names",
				    d->limits[i].variable);
		}
	}
	return true;
}

/* Sets *src to the script of a family, rendered for one member. False after a
 * diagnostic. */
static bool
fill_script(struct module *m, const struct intrinsic_data *d,
	    struct source *src)
{
	struct strbuf out;
	bool good;

	strbuf_init(&out);
	good = template_render(&m->diags, d->script_file, NULL, d->script,
			       d->values, &out);
	src->name = script_name(m, d);
	src->text = arena_strndup(&m->arena, out.len > 0 ? out.data : "",
				  out.len);
	src->length = out.len;
	strbuf_release(&out);
	return good;
}

static bool
read_script(struct module *m, const struct intrinsic_data *d,
	    struct tensor_intrin *t)
{
	struct source src = { d->script_file, d->script, strlen(d->script) };

	if ((d->values != NULL && !fill_script(m, d, &src)) ||
	    !script_read(m, &src)) {
		return false;
	}
	t->desc = module_find_func(m, "desc");
	t->impl = module_find_func(m, "impl");
	t->reset = module_find_func(m, "reset");
	t->update = module_find_func(m, "update");
	if (!t->desc || !t->impl) {
		return fail(m, d,
			    "a function 'desc' and one 'impl' are "
			    "wanted");
	}
	tensor_intrin_open_scopes(t->desc);
	tensor_intrin_open_scopes(t->impl);
	tensor_intrin_open_scopes(t->reset);
	tensor_intrin_open_scopes(t->update);
	return check_limits(m, d, t->desc) &&
	       check_part(m, d, t->desc, t->desc) &&
	       check_part(m, d, t->desc, t->impl) &&
	       check_part(m, d, t->desc, t->reset) &&
	       check_part(m, d, t->desc, t->update);
}

bool
intrinsic_register(struct module *m, const struct intrinsic_data *d,
		   struct tensor_intrins *out)
{
	struct tensor_intrin *t = arena_new(&m->arena, struct tensor_intrin);
	int cap = m->funcs.cap, n = m->funcs.n;
	struct func **kept = m->funcs.data;
	bool good;

	t->name = d->name;
	t->what = d->what;
	t->requires = d->requires.data;
	t->n_requires = d->requires.n;
	t->threads = d->threads;
	t->rounds_to = d->rounds_to;
	t->limits = d->limits;
	t->n_limits = d->n_limits;
	/* the script must not add its functions to the module */
	m->funcs.data = NULL;
	m->funcs.n = m->funcs.cap = 0;
	good = read_script(m, d, t);
	m->funcs.data = kept;
	m->funcs.n = n;
	m->funcs.cap = cap;
	if (good) {
		tensor_intrins_add(out, t);
	}
	return good;
}

bool
intrinsic_set_register(struct module *m, const struct intrinsic_set *set,
		       struct tensor_intrins *out)
{
	bool good = true;

	for (int i = 0; i < set->list.n; i++) {
		good &= intrinsic_register(m, &set->list.data[i], out);
	}
	return good;
}

bool
intrinsic_find(struct module *m, const struct intrinsic_set *set,
	       const char *name, struct tensor_intrins *out)
{
	if (tensor_intrins_find(out, name)) {
		return true;
	}
	for (int i = 0; i < set->list.n; i++) {
		if (strcmp(set->list.data[i].name, name) == 0) {
			return intrinsic_register(m, &set->list.data[i], out);
		}
	}
	return true;
}

struct attached {
	struct module *m;
	const char *dir;
	bool tried;
	const struct intrinsic_set *set; /* loaded when first needed */
};

static void
look_up(struct tensor_intrins *t, const char *name)
{
	struct attached *x = t->look_up_ctx;

	if (!x->tried) {
		x->tried = true;
		x->set = intrinsic_set_load(x->m, x->dir);
	}
	for (int i = 0; x->set && i < x->set->list.n; i++) {
		if (strcmp(x->set->list.data[i].name, name) == 0) {
			intrinsic_register(x->m, &x->set->list.data[i], t);
		}
	}
}

void
intrinsics_attach(struct module *m, const char *dir, struct tensor_intrins *out)
{
	struct attached *x = arena_new(&m->arena, struct attached);

	x->m = m;
	x->dir = dir;
	out->look_up = look_up;
	out->look_up_ctx = x;
}
