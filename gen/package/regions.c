/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the regions with the templates of their backends, and adds the data
 * for the calls of the regions in the model's own functions.
 * docs/reference/backend.md lists the names of this data. */
#include "regions.h"
#include "kernels.h"
#include "package.h"

/* -- backends in use -- */

/* Sets k->backends to the backends of the model's regions, in the order of
 * their first regions. */
static void
find_backends(struct packer *k)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct graph_region *r =
			k->p->kernels.data[i]->group->region;
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

/* Sets k->runtime to the runtime files of these backends, each once. */
static void
find_runtime(struct packer *k)
{
	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		for (int f = 0; f < b->n_runtime; f++) {
			bool known = false;

			for (int n = 0; n < k->runtime.n; n++) {
				known = known ||
					strcmp(b->runtime[f].name,
					       k->runtime.data[n]->name) == 0;
			}
			if (!known) {
				vec_push(k->a, &k->runtime, &b->runtime[f]);
			}
		}
	}
}

bool
regions_add_runtime(struct packer *k)
{
	for (int i = 0; i < k->runtime.n; i++) {
		const struct backend_file *from = k->runtime.data[i];
		size_t length = strlen(from->name);
		struct out_file f = {
			.name = from->name,
			.kind = OUT_TEXT,
			.text = from->text,
			.length = strlen(from->text),
			.is_source = length > 2 &&
				     strcmp(from->name + length - 2, ".c") == 0,
		};

		for (int n = 0; n < k->out->files.n; n++) {
			if (strcmp(k->out->files.data[n].name, f.name) == 0) {
				return diag_error(
					&k->m->diags, DIAG_BAD_OPTION,
					(struct diag_place){ .file = "--name" },
					"%s is a file of the backend's "
					"runtime; give the model another name",
					f.name);
			}
		}
		vec_push(k->a, &k->out->files, f);
	}
	return true;
}

void
regions_prepare(struct packer *k)
{
	find_backends(k);
	find_runtime(k);
	k->library_cflags = joined(k, "", false);
	k->library_ldflags = joined(k, "", true);
	k->cflags = joined(k, k->p->target->cflags, false);
	k->ldflags = joined(k,
			    k->p->target->ldflags != NULL
				    ? k->p->target->ldflags
				    : "",
			    true);
}

/* Adds n headers. System headers are added to those of u; headers in quotes are
 * added to a list in `data`, because they come last. */
static void
need_headers(struct packer *k, struct unit *u, struct tdata *data,
	     const char *const *names, int n)
{
	for (int i = 0; i < n; i++) {
		size_t length = strlen(names[i]);

		if (names[i][0] == '"') {
			tdata_text(tdata_item(data, "library_includes"),
				   "header", names[i]);
		} else {
			unit_need(u, names[i][0] == '<' && length > 2
					     ? arena_strndup(k->a, names[i] + 1,
							     length - 2)
					     : names[i]);
		}
	}
}

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

		if (in_header) {
			need_headers(k, u, data, b->header_includes,
				     b->n_header_includes);
		} else {
			need_headers(k, u, data, b->includes, b->n_includes);
		}
	}
}

/* -- templates -- */

/* Renders a template of a backend. *out: the text; NULL if it is empty. Returns
 * false after a diagnostic. */
static bool
render(struct packer *k, const struct backend_file *t, const struct tdata *data,
       const char **out)
{
	struct strbuf s;
	bool ok;

	*out = NULL;
	strbuf_init(&s);
	ok = template_render(&k->m->diags, t->file, NULL, t->text, data, &s);
	if (ok && s.len > 0) {
		if (s.data[s.len - 1] == '\n') {
			/* removes the last newline, because the surrounding
			 * template adds one */
			s.data[s.len - 1] = '\0';
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

/* The data that all templates of a backend may use. */
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
		tdata_flag(data,
			   arena_printf(k->a, "option_%s_is_%s", o->name,
					o->value),
			   true);
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
					   ? arena_printf(a, "%lld",
							  (long long)f->i)
					   : arena_printf(a, "%.9g", f->f);

		region_plain_text(x, item, "attr", "the name of an attribute",
				  f->name);
		region_plain_text(x, item, "value", f->name, text);
		region_plain_text(x, data, arena_printf(a, "attr_%s", f->name),
				  f->name, text);
	}
}

/* Adds to a list in data the first n parameters of the function that prepares
 * the region, followed by a parameter for the region's weights. Returns false
 * after a diagnostic. */
static bool
add_preparing(struct region_text *x, struct tdata *data, const char *list,
	      int n)
{
	struct func f = *x->kernel->init;
	struct tdata *name = tdata_new(x->k->a);

	f.params.n = n;
	if (!unit_parameters(x->u, &f, data, list, x->bound + x->n_bound)) {
		return false;
	}
	if (x->r->constants.n > 0) {
		tdata_text(name, "name", x->kernel->name);
		tdata_text(tdata_item(data, list), "text",
			   packer_render(x->k, x->k->d->regions.weights, name));
	}
	return true;
}

/* Binds the parameters of the region's functions to names, and adds the names
 * to the data. Constants get the names of the init function's parameters.
 * Returns false after a diagnostic. */
static bool
add_parameters(struct region_text *x, struct tdata *data)
{
	const struct kernel *kernel = x->kernel;
	const struct func *init = kernel->init;
	struct tdata *unused = tdata_new(x->k->a);
	int n = kernel->func->params.n;

	x->bound = arena_array(x->k->a, struct binding,
			       n + 1 + (init != NULL ? init->params.n : 0));
	x->n_bound = n;
	tdata_list(data, "plan_parameters");
	tdata_list(data, "init_parameters");
	tdata_flag(data, "has_weights", x->r->constants.n > 0);
	if (!unit_parameters(x->u, kernel->func, data, "parameters",
			     x->bound)) {
		return false;
	}
	if (init == NULL) {
		return true;
	}
	if (!add_preparing(x, data, "plan_parameters", 1) ||
	    !add_preparing(x, data, "init_parameters", 2) ||
	    !unit_parameters(x->u, init, unused, "parameters", x->bound + n)) {
		return false;
	}
	x->n_bound += init->params.n;
	return true;
}

static struct tdata *
region_data(struct packer *k, struct unit *u, const struct kernel *kernel,
	    const struct backend_file *t)
{
	struct region_text *x = arena_new(k->a, struct region_text);
	struct tdata *data;

	*x = (struct region_text){
		.k = k,
		.u = u,
		.kernel = kernel,
		.r = kernel->group->region,
		.b = kernel->group->region->backend,
	};
	data = backend_data(k, x->b, t);
	if (!add_parameters(x, data)) {
		return NULL;
	}
	region_name_tensors(x);
	region_counts(x, data);
	tdata_text(data, "region", kernel->name);
	add_attrs(x, data);
	add_list(x, data, "inputs", x->r->inputs.data, x->r->inputs.n);
	add_list(x, data, "constants", x->r->constants.data, x->r->constants.n);
	add_list(x, data, "outputs", x->r->outputs.data, x->r->outputs.n);
	tdata_list(data, "tensors");
	for (int i = 0; i < x->tensors.n; i++) {
		region_tensor(x, tdata_item(data, "tensors"),
			      x->tensors.data[i].tensor, NULL);
	}
	region_matches(x, data);
	return data;
}

/* Renders the template `key` of the region's backend. *out: the text; NULL if
 * the backend has no such template. Returns false after a diagnostic. */
static bool
render_region(struct packer *k, struct unit *u, const struct kernel *kernel,
	      const char *key, const char **out)
{
	const struct backend_file *t =
		backend_template(kernel->group->region->backend, key);
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

/* -- texts that the regions of a backend share -- */

static bool
render_shared(struct packer *k, const struct backend *b, const char *key,
	      const char **out)
{
	const struct backend_file *t = backend_template(b, key);

	*out = NULL;
	return t == NULL || render(k, t, backend_data(k, b, t), out);
}

/* -- all regions, in the header and in the source -- */

/* Adds to a list in data an item that has the text as the value of `name`; adds
 * nothing if the text is NULL. */
static void
add_text(struct tdata *data, const char *list, const char *name,
	 const char *text)
{
	if (text != NULL) {
		tdata_text(tdata_item(data, list), name, text);
	}
}

static bool
add_members(struct packer *k, struct unit *u, struct tdata *data)
{
	const char *text;

	for (int i = 0; i < k->backends.n; i++) {
		const struct backend *b = k->backends.data[i];

		if (!render_shared(k, b, "shared_members", &text)) {
			return false;
		}
		add_text(data, "library_members", "member", text);
	}
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->init == NULL) {
			continue;
		}
		if (!render_region(k, u, kernel, "members", &text)) {
			return false;
		}
		add_text(data, "library_members", "member", text);
	}
	return true;
}

void
regions_common(struct packer *k, struct tdata *data)
{
	const int64_t align = workspace_align(k);
	/* The offset of the libraries' memory in the workspace, after the part
	 * for kernels. It is 0 in the graph form, in which the libraries have a
	 * workspace of their own. */
	int64_t planned = k->o->graph ? 0 : k->p->plan.workspace_bytes;

	tdata_flag(data, "library_state", k->p->model != NULL);
	tdata_flag(data, "file_or_library",
		   k->p->model != NULL || k->out->weights == WEIGHTS_FILE);
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
	struct unit u; /* has the same names as the source's unit */

	unit_init(&u, k->m, k->d);
	u.model = k->model;
	reserve_kernel_names(k, &u);
	tdata_list(data, "library_members");
	return add_members(k, &u, data);
}

/* -- constants of regions -- */

/* The text of a constant in the init function. */
static const char *
weight_text(struct packer *k, struct unit *u, const struct kernel_arg *arg,
	    const struct buffer *wanted)
{
	const struct func *entry = k->p->entry;
	int first = entry_count_pointers(k->g), i = arg->weight->index;
	struct bindings bound = { 0 };

	bind_weight(k, &entry->params.data[first + i], i, &bound);
	return unit_argument(u, &bound.list.data[0], wanted);
}

/* Is a member with its value too long for one line? */
static bool
is_long(const struct packer *k, const char *name, const char *value)
{
	const size_t around = 3 * (size_t)k->d->tab_columns + 5;

	return around + strlen(name) + strlen(value) >
	       (size_t)k->d->line_columns;
}

/* Adds to row the list "members" of the members of the structure that holds a
 * region's constants. Returns false after a diagnostic. */
static bool
add_members_of(struct packer *k, struct unit *u, const struct kernel *kernel,
	       struct tdata *row)
{
	const struct func *init = kernel->init;
	struct binding *bound = arena_array(k->a, struct binding,
					    init->params.n);
	int n = 2; /* the first parameters are the model and the memory */

	if (!unit_parameters(u, init, tdata_new(k->a), "unused", bound)) {
		return false;
	}
	tdata_list(row, "members");
	for (int i = 0; i < kernel->args.n; i++) {
		const struct kernel_arg *arg = &kernel->args.data[i];
		struct tdata *item;
		const char *value;

		if (arg->kind != ARG_WEIGHT) {
			continue;
		}
		item = tdata_item(row, "members");
		value = weight_text(k, u, arg, init->params.data[n].buffer);
		tdata_text(item, "name", bound[n].text);
		tdata_text(item, "type",
			   unit_element_type(u, init->params.data[n].buffer));
		tdata_text(item, "shape", shape_text(k, arg->tensor));
		tdata_text(item, "value", value);
		tdata_flag(item, "long", is_long(k, bound[n].text, value));
		n++;
	}
	tdata_flag(row, "has_weights", n > 2);
	return true;
}

/* Adds the list "states" of the regions that keep a state between runs, with
 * their constants. Returns false after a diagnostic. */
static bool
add_states(struct packer *k, struct unit *u, struct tdata *data)
{
	bool weighs = false;

	tdata_list(data, "states");
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];
		struct tdata *row, *name = tdata_new(k->a);

		if (kernel->init == NULL) {
			continue;
		}
		row = tdata_item(data, "states");
		tdata_text(name, "name", kernel->name);
		tdata_text(row, "region", kernel->name);
		tdata_text(row, "memory",
			   packer_render(k, k->d->regions.memory, name));
		if (!add_members_of(k, u, kernel, row)) {
			return false;
		}
		weighs = weighs || kernel->init->params.n > 2;
	}
	tdata_flag(data, "library_weighs", weighs);
	return true;
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
		add_text(data, "libraries", "text", text);
	}
	return add_states(k, u, data);
}
