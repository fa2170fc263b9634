/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as text: their backend's templates, filled in, and what the model's
 * own functions say of them. docs/byoc.md has the names. */
#include "regions.h"

/* -- backends in use -- */

static bool
uses(const struct packer *k, const struct backend *b)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct graph_region *r = k->p->kernels.data[i]->group
							->region;

		if (r != NULL && r->backend == b) {
			return true;
		}
	}
	return false;
}

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
		unit_need(u, "string.h");
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

static bool
render(struct packer *k, const struct backend *b, const char *key,
       const struct tdata *data, const char **out)
{
	const struct backend_file *t = backend_template(b, key);
	struct strbuf s;
	bool ok = true;

	*out = NULL;
	if (t == NULL) {
		return true;
	}
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

static void
add_attrs(struct region_text *x, struct tdata *data)
{
	struct arena *a = x->k->a;

	for (int i = 0; i < x->b->n_options; i++) {
		const struct backend_option *o = &x->b->options[i];

		tdata_text(data, arena_printf(a, "option_%s", o->name),
			   o->value);
		for (int v = 0; v < o->n_values; v++) {
			tdata_flag(data, arena_printf(a, "option_%s_is_%s",
						o->name, o->values[v]),
				   o->value != NULL &&
				   strcmp(o->value, o->values[v]) == 0);
		}
	}
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
region_data(struct packer *k, struct unit *u, const struct kernel *kernel)
{
	struct tdata *data = tdata_new(k->a);
	struct region_text *x = arena_new(k->a, struct region_text);

	*x = (struct region_text){
		.k = k, .u = u, .kernel = kernel, .r = kernel->group->region,
		.b = kernel->group->region->backend,
	};
	tdata_outer(data, k->data);
	if (!add_parameters(x, data)) {
		return NULL;
	}
	region_name_tensors(x);
	tdata_text(data, "region", kernel->name);
	tdata_text(data, "backend", x->b->name);
	tdata_flag(data, "state", x->b->state);
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

bool
region_print(struct packer *k, struct unit *u, const struct kernel *kernel,
	     const char **out)
{
	const struct backend *b = kernel->group->region->backend;
	struct tdata *data = region_data(k, u, kernel);

	return data != NULL && render(k, b, "region", data, out);
}

/* -- all of them, in the header and in the source -- */

static bool
add_members(struct packer *k, struct unit *u, struct tdata *data)
{
	const char *text;

	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		if (!render(k, b, "shared_members", data, &text)) {
			return false;
		}
		if (text != NULL) {
			tdata_text(tdata_item(data, "library_members"),
				   "member", text);
		}
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		struct tdata *region;

		if (kernel->init == NULL) {
			continue;
		}
		region = region_data(k, u, kernel);
		if (region == NULL || !render(k, kernel->group->region->backend,
					      "members", region, &text)) {
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
	int64_t planned = k->p->plan.workspace_bytes;

	tdata_flag(data, "library_state", k->p->model != NULL);
	tdata_flag(data, "has_locals", k->p->model != NULL ||
		   k->out->weights == WEIGHTS_FILE);
	tdata_flag(data, "after_sizes", k->p->model != NULL ||
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

		if (b->state && uses(k, b) &&
		    backend_template(b, "shared") != NULL) {
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

static void
put_uses(struct packer *k, struct tdata *data, const char *const *uses, int n,
	 bool found)
{
	for (int i = 0; i < n; i++) {
		tdata_flag(data, arena_printf(k->a, "uses_%s", uses[i]),
			   found);
	}
}

/* What a match found: its pattern, and its followers. */
static void
put_match_uses(struct packer *k, struct tdata *data, const struct pattern *p,
	       const struct region_match *match)
{
	put_uses(k, data, p->uses, p->n_uses, true);
	for (int c = 0; c < p->n_chains; c++) {
		for (int i = 0; i < p->chains[c].n_one_of; i++) {
			const struct pattern_graph *g =
				&p->chains[c].one_of[i];

			for (int n = 0; n < match->nodes.n; n++) {
				const char *f = match->nodes.data[n].follower;

				if (f != NULL && strcmp(f, g->name) == 0) {
					put_uses(k, data, g->uses, g->n_uses,
						 true);
				}
			}
		}
	}
}

/* "uses_WORD" for each word of the backend's patterns: whether some region has
 * a match of such a pattern or follower. */
static struct tdata *
shared_data(struct packer *k, const struct backend *b,
	    const struct tdata *outer)
{
	struct tdata *data = tdata_new(k->a);

	tdata_outer(data, outer);
	for (int i = 0; i < b->n_patterns; i++) {
		const struct pattern *p = &b->patterns[i];

		put_uses(k, data, p->uses, p->n_uses, false);
		for (int c = 0; c < p->n_chains; c++) {
			for (int f = 0; f < p->chains[c].n_one_of; f++) {
				put_uses(k, data, p->chains[c].one_of[f].uses,
					 p->chains[c].one_of[f].n_uses, false);
			}
		}
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct graph_region *r = k->p->kernels.data[i]->group
							->region;

		for (int n = 0; r != NULL && r->backend == b &&
				n < r->matches.n; n++) {
			for (int p = 0; p < b->n_patterns; p++) {
				if (strcmp(b->patterns[p].name,
					   r->matches.data[n]->pattern) == 0) {
					put_match_uses(k, data,
						       &b->patterns[p],
						       r->matches.data[n]);
				}
			}
		}
	}
	return data;
}

bool
regions_in_source(struct packer *k, struct unit *u, struct tdata *data)
{
	tdata_list(data, "libraries");
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];
		const char *text;

		if (!render(k, b, "shared", shared_data(k, b, data), &text)) {
			return false;
		}
		if (text != NULL) {
			tdata_text(tdata_item(data, "libraries"), "text",
				   text);
		}
	}
	return print_init(k, u, data);
}
