/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as text: their backend's templates, filled in, and what the model's
 * own functions say of them. docs/byoc.md has the names. */
#include "regions.h"

/* -- backends in use -- */

/* In order of their first region. */
static void
find_backends(struct packer *k)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct graph_region *r = k->p->kernels.data[i]->group
							->region;
		bool known = r == NULL;

		for (int n = 0; n < k->backends.n && !known; n++) {
			known = k->backends.data[n] == r->backend;
		}
		if (!known) {
			vec_push(k->a, &k->backends, r->backend);
		}
	}
}

static const char *
joined(struct packer *k, const char *text, bool link)
{
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];
		const char *more = link ? b->ldflags : b->cflags;

		if (more != NULL && more[0] != '\0') {
			text = arena_printf(k->a, "%s%s%s", text,
					    text[0] != '\0' ? " " : "", more);
		}
	}
	return text;
}

void
regions_prepare(struct packer *k)
{
	find_backends(k);
	k->library_cflags = joined(k, "", false);
	k->library_ldflags = joined(k, "", true);
	k->cflags = joined(k, k->p->target->cflags, false);
	k->ldflags = joined(k, k->p->target->ldflags != NULL
			       ? k->p->target->ldflags : "", true);
}

/* Headers of the system are in the order of all; those in quotes behind. */
void
regions_need(struct packer *k, struct unit *u, struct tdata *data,
	     bool in_header)
{
	tdata_list(data, "library_includes");
	if (k->p->model != NULL && !in_header) {
		unit_need(u, k->o->graph ? "stdlib.h" : "string.h");
	}
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		for (int n = 0; n < b->n_includes; n++) {
			const char *name = b->includes[n];
			size_t length = strlen(name);

			if (in_header && !b->state) {
				continue;
			}
			if (name[0] == '"') {
				tdata_text(tdata_item(data,
						      "library_includes"),
					   "header", name);
			} else {
				unit_need(u, name[0] == '<' && length > 2
					  ? arena_strndup(k->a, name + 1,
							  length - 2) : name);
			}
		}
	}
}

/* -- templates -- */

/* *out NULL: nothing comes out. */
static bool
render(struct packer *k, const struct backend_file *t,
       const struct tdata *data, const char **out)
{
	struct strbuf s;
	bool ok;

	*out = NULL;
	strbuf_init(&s);
	ok = template_render(&k->m->diags, t->file, NULL, t->text, data, &s);
	if (ok && s.len > 0) {
		if (s.data[s.len - 1] == '\n') {
			s.data[s.len - 1] = '\0'; /* ends the line around it */
		}
		*out = arena_strdup(k->a, s.data);
	}
	strbuf_release(&s);
	return ok;
}

/* -- one region -- */

static void
add_list(struct region_text *x, struct tdata *data, const char *list,
	 struct tensor *const *tensors, int n)
{
	tdata_list(data, list);
	for (int i = 0; i < n; i++) {
		region_tensor(x, tdata_item(data, list), tensors[i], NULL);
	}
}

/* What all templates of a backend are told. */
static struct tdata *
backend_data(struct packer *k, const struct backend *b,
	     const struct backend_file *t)
{
	struct tdata *data = tdata_new(k->a);

	tdata_knows(data, t->names);
	tdata_text(data, "model", k->model);
	tdata_text(data, "MODEL", k->upper);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	tdata_text(data, "backend", b->name);
	tdata_flag(data, "state", b->state);
	for (int i = 0; i < b->n_options; i++) {
		const struct backend_option *o = &b->options[i];

		tdata_text(data, arena_printf(k->a, "option_%s", o->name),
			   o->value);
		tdata_flag(data, arena_printf(k->a, "option_%s_is_%s", o->name,
					      o->value), true);
	}
	return data;
}

static void
add_attrs(struct region_text *x, struct tdata *data)
{
	struct arena *a = x->k->a;

	tdata_list(data, "attrs");
	for (int i = 0; i < x->r->attrs.n; i++) {
		const struct fact *f = &x->r->attrs.data[i];
		struct tdata *item = tdata_item(data, "attrs");
		const char *text = f->kind == FACT_TEXT ? f->text
			: f->kind == FACT_INT
			? arena_printf(a, "%lld", (long long)f->i)
			: arena_printf(a, "%.9g", f->f);

		tdata_text(item, "attr", f->name);
		tdata_text(item, "value", text);
		tdata_text(data, arena_printf(a, "attr_%s", f->name), text);
	}
}

static bool
add_parameters(struct region_text *x, struct tdata *data)
{
	const struct kernel *kernel = x->kernel;
	int n = kernel->func->params.n;

	x->bound = arena_array(x->k->a, struct binding, n + 1 +
			       (kernel->init != NULL
				? kernel->init->params.n : 0));
	x->n_bound = n;
	tdata_list(data, "init_parameters");
	if (!unit_parameters(x->u, kernel->func, data, "parameters",
			     x->bound)) {
		return false;
	}
	if (kernel->init != NULL) {
		if (!unit_parameters(x->u, kernel->init, data,
				     "init_parameters", x->bound + n)) {
			return false;
		}
		x->n_bound += kernel->init->params.n;
	}
	return true;
}

static struct tdata *
region_data(struct packer *k, struct unit *u, const struct kernel *kernel,
	    const struct backend_file *t)
{
	struct region_text *x = arena_new(k->a, struct region_text);
	struct tdata *data;

	*x = (struct region_text){
		.k = k, .u = u, .kernel = kernel, .r = kernel->group->region,
		.b = kernel->group->region->backend,
	};
	data = backend_data(k, x->b, t);
	if (!add_parameters(x, data)) {
		return NULL;
	}
	region_name_tensors(x);
	tdata_text(data, "region", kernel->name);
	add_attrs(x, data);
	add_list(x, data, "inputs", x->r->inputs.data, x->r->inputs.n);
	add_list(x, data, "constants", x->r->constants.data,
		 x->r->constants.n);
	add_list(x, data, "outputs", x->r->outputs.data, x->r->outputs.n);
	tdata_list(data, "tensors");
	for (int i = 0; i < x->tensors.n; i++) {
		region_tensor(x, tdata_item(data, "tensors"),
			      x->tensors.data[i].tensor, NULL);
	}
	region_matches(x, data);
	return data;
}

/* *out NULL: the backend has no such template. */
static bool
render_region(struct packer *k, struct unit *u, const struct kernel *kernel,
	      const char *key, const char **out)
{
	const struct backend_file *t = backend_template(
		kernel->group->region->backend, key);
	struct tdata *data;

	*out = NULL;
	if (t == NULL) {
		return true;
	}
	data = region_data(k, u, kernel, t);
	return data != NULL && render(k, t, data, out);
}

bool
region_print(struct packer *k, struct unit *u, const struct kernel *kernel,
	     const char **out)
{
	return render_region(k, u, kernel, "region", out);
}

/* -- what regions share -- */

static void
put_uses(struct packer *k, struct tdata *data, const char *const *uses, int n)
{
	for (int i = 0; i < n; i++) {
		tdata_flag(data, arena_printf(k->a, "uses_%s", uses[i]),
			   true);
	}
}

/* What a match found: its pattern, and its followers. */
static void
put_match_uses(struct packer *k, struct tdata *data, const struct pattern *p,
	       const struct region_match *match)
{
	put_uses(k, data, p->uses, p->n_uses);
	for (int c = 0; c < p->n_chains; c++) {
		for (int i = 0; i < p->chains[c].n_one_of; i++) {
			const struct pattern_graph *g =
				&p->chains[c].one_of[i];

			for (int n = 0; n < match->nodes.n; n++) {
				const char *f = match->nodes.data[n].follower;

				if (f != NULL && strcmp(f, g->name) == 0) {
					put_uses(k, data, g->uses, g->n_uses);
				}
			}
		}
	}
}

/* "uses_WORD" for each word of a pattern or follower of which some region has
 * a match. */
static bool
render_shared(struct packer *k, const struct backend *b, const char *key,
	      const char **out)
{
	const struct backend_file *t = backend_template(b, key);
	struct tdata *data;

	*out = NULL;
	if (t == NULL) {
		return true;
	}
	data = backend_data(k, b, t);
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct graph_region *r = k->p->kernels.data[i]->group
							->region;

		for (int n = 0; r != NULL && r->backend == b &&
				n < r->matches.n; n++) {
			const struct region_match *match = r->matches.data[n];

			put_match_uses(k, data, backend_pattern(b,
							match->pattern),
				       match);
		}
	}
	return render(k, t, data, out);
}

/* -- all of them, in the header and in the source -- */

static bool
add_members(struct packer *k, struct unit *u, struct tdata *data)
{
	const char *text;

	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		if (!render_shared(k, b, "shared_members", &text)) {
			return false;
		}
		if (text != NULL) {
			tdata_text(tdata_item(data, "library_members"),
				   "member", text);
		}
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->init == NULL) {
			continue;
		}
		if (!render_region(k, u, kernel, "members", &text)) {
			return false;
		}
		if (text != NULL) {
			tdata_text(tdata_item(data, "library_members"),
				   "member", text);
		}
	}
	return true;
}

void
regions_common(struct packer *k, struct tdata *data)
{
	const int64_t align = workspace_align(k);
	/* As a graph libraries have a workspace of their own. */
	int64_t planned = k->o->graph ? 0 : k->p->plan.workspace_bytes;

	tdata_flag(data, "library_state", k->p->model != NULL);
	tdata_flag(data, "file_or_library", k->p->model != NULL ||
		   k->out->weights == WEIGHTS_FILE);
	tdata_int(data, "planned_bytes", (planned + align - 1) / align * align);
	tdata_list(data, "states");
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->init != NULL) {
			tdata_text(tdata_item(data, "states"), "region",
				   kernel->name);
		}
	}
	tdata_list(data, "opens");
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		if (b->state && backend_template(b, "shared") != NULL) {
			tdata_text(tdata_item(data, "opens"), "backend",
				   b->name);
		}
	}
}

bool
regions_in_header(struct packer *k, struct tdata *data)
{
	struct unit u; /* names as the source has them */

	unit_init(&u, k->m, k->d);
	u.model = k->model;
	reserve_kernel_names(k, &u);
	tdata_list(data, "library_members");
	return add_members(k, &u, data);
}

/* The calls that prepare the regions, with their memory and weights. */
static bool
print_init(struct packer *k, struct unit *u, struct tdata *data)
{
	struct bindings bound = { 0 };
	struct func *f = k->p->init;
	struct strbuf s;
	bool ok;

	tdata_text(data, "init_body", NULL);
	if (f == NULL) {
		return true;
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		struct binding b = { .var = k->p->memory.data[i],
				     .kind = VALUE_VOID_POINTER };
		struct tdata *name = tdata_new(k->a);

		tdata_text(name, "name", k->p->kernels.data[i]->name);
		if (b.var != NULL) {
			b.text = packer_render(k, k->d->regions.memory, name);
			vec_push(k->a, &bound.list, b);
		}
	}
	bind_model(k, &bound);
	for (int i = 0; i < k->p->weights.n; i++) {
		bind_weight(k, &f->params.data[f->params.n -
					       k->p->weights.n + i], i,
			    &bound);
	}
	strbuf_init(&s);
	ok = unit_body(u, f, bound.list.data, bound.list.n, &s);
	tdata_text(data, "init_body", ok && s.data != NULL
		   ? arena_strdup(k->a, s.data) : "");
	strbuf_release(&s);
	return ok;
}

bool
regions_in_source(struct packer *k, struct unit *u, struct tdata *data)
{
	tdata_list(data, "libraries");
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];
		const char *text;

		if (!render_shared(k, b, "shared", &text)) {
			return false;
		}
		if (text != NULL) {
			tdata_text(tdata_item(data, "libraries"), "text",
				   text);
		}
	}
	return print_init(k, u, data);
}
