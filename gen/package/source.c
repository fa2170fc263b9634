/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the source: the kernels, the memory plan in a comment, and the entry
 * function. */
#include "comment_text.h"
#include "kernels.h"
#include "package.h"
#include "packer.h"
#include "plan.h"

/* -- the memory plan -- */

/* A use of a tensor: an argument of a kernel that reads the tensor, writes it,
 * or overwrites its memory. */
struct user {
	const struct kernel *kernel;
	const struct kernel_arg *arg;
	bool writes;
	int next; /* the index of the next use of the same tensor, or -1 */
};

/* For each tensor, the arguments that access it, in the order of execution. An
 * access to a view is an access to the tensor whose memory the view shares. */
struct users {
	VEC(struct user) list;
	/* for each tensor's id: the index in the list of the tensor's first
	 * use, or -1 */
	int *first;
};

/* The place whose pointer the entry function uses for t; NULL if it uses none. */
static const struct placement *
place_used(const struct packer *k, struct tensor *t)
{
	const struct placement *at = plan_find(&k->p->plan, t);

	if (at == NULL || (at->of == NULL && at->var == NULL)) {
		at = plan_find(&k->p->plan, graph_view_root(k->g, t));
	}
	return at != NULL && at->of != NULL ? at->of : at;
}

/* The id of the tensor whose pointer t uses. */
static int
place_id(const struct packer *k, struct tensor *t)
{
	const struct placement *at = place_used(k, t);

	return at != NULL ? at->tensor->id : t->id;
}

/* What a comment adds to the kernel that overwrites its input with a result. */
static const char *
in_place_text(const struct packer *k, const struct kernel_arg *arg)
{
	const struct placement *from, *to = place_used(k, arg->tensor);

	if (arg->in_place == NULL) {
		return "";
	}
	from = place_used(k, arg->in_place);
	return from == NULL || from == to || place_name(from) == NULL
		       ? " (in place)"
		       : arena_printf(k->a, " (in place of %s)",
				      place_name(from));
}

static void
add_user(struct packer *k, struct users *u, struct tensor *t, struct user x)
{
	int id = place_id(k, t);

	x.next = u->first[id];
	u->first[id] = u->list.n;
	vec_push(k->a, &u->list, x);
}

/* Visits the kernels from the last to the first, so that the list of uses of
 * each tensor starts with its first use. */
static void
find_users(struct packer *k, struct users *u)
{
	*u = (struct users){ .first = arena_array(k->a, int,
						  k->g->tensors.n + 1) };
	memset(u->first, -1, sizeof *u->first * (size_t)k->g->tensors.n);
	for (int i = k->p->kernels.n - 1; i >= 0; i--) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int j = kernel->args.n - 1; j >= 0; j--) {
			const struct kernel_arg *arg = &kernel->args.data[j];

			if (arg->kind != ARG_TENSOR || arg->tensor == NULL) {
				continue;
			}
			add_user(k, u, arg->tensor,
				 (struct user){ kernel, arg, arg->written,
						-1 });
			if (arg->in_place != NULL &&
			    place_id(k, arg->in_place) !=
				    place_id(k, arg->tensor)) {
				add_user(k, u, arg->in_place,
					 (struct user){ kernel, arg, false,
							-1 });
			}
		}
	}
}

/* Appends who writes the place and who reads it, in the order of the calls:
 * ", written by conv1, read by relu1, add1". */
static void
say_users(const struct packer *k, const struct users *u,
	  const struct placement *at, struct strbuf *s)
{
	const struct kernel *last = NULL;
	const char *before = "";

	for (int i = u->first[at->tensor->id]; i >= 0;
	     i = u->list.data[i].next) {
		const struct user *x = &u->list.data[i];
		const char *verb = x->writes ? "written by " : "read by ";

		if (!x->writes && x->kernel == last) {
			continue;
		}
		strbuf_printf(s, ", %s%s%s",
			      strcmp(verb, before) != 0 ? verb : "",
			      x->kernel->name,
			      x->writes ? in_place_text(k, x->arg) : "");
		before = verb;
		last = x->kernel;
	}
	if (at->read_by_entry) {
		strbuf_printf(s, ", read by %s_run", k->model);
	}
}

const char *
place_name(const struct placement *at)
{
	at = at->of != NULL ? at->of : at;
	return at->name != NULL  ? at->name
	       : at->var != NULL ? at->var->name
				 : NULL;
}

/* Sets the final names of the pointers in the entry function, so that the
 * memory plan in the comment has the names of the code. plan->named and
 * u->pointers are both in the order of the code. */
static void
name_places(struct packer *k, const struct unit *u)
{
	struct memory_plan *plan = &k->p->plan;
	int next = 0;

	for (int i = 0; i < plan->named.n; i++) {
		struct placement *at = &plan->places.data[plan->named.data[i]];

		if (next < u->pointers.n &&
		    u->pointers.data[next].var == at->var) {
			at->name = u->pointers.data[next++].text;
		}
	}
}

static void
add_plan(struct packer *k, struct tdata *data)
{
	const struct memory_plan *plan = &k->p->plan;
	struct users users;

	find_users(k, &users);
	tdata_list(data, "plan");
	for (int i = 0; i < plan->named.n; i++) {
		const struct placement *at =
			&plan->places.data[plan->named.data[i]];
		struct strbuf s;

		strbuf_init(&s);
		strbuf_printf(&s, "bytes %lld..%lld: %s",
			      (long long)at->offset_bytes,
			      (long long)(at->offset_bytes + at->bytes - 1),
			      place_name(at));
		if (at->tensor == NULL) {
			strbuf_printf(&s, ", scratch of %s",
				      at->scratch_of->name);
		} else {
			say_users(k, &users, at, &s);
		}
		tdata_text(tdata_item(data, "plan"), "place",
			   comment_wrap(k->a, k->d,
					comment_text(k->a, k->d, s.data), 5));
		strbuf_release(&s);
	}
}

/* -- the entry function -- */

static struct binding
bind_named(struct packer *k, const struct param *param, const char *text,
	   const char *name)
{
	struct tdata *data = tdata_new(k->a);
	struct binding b = { .var = param->var, .buffer = param->buffer };

	tdata_text(data, "name", name);
	b.text = packer_render(k, text, data);
	b.kind = param->buffer != NULL ? VALUE_POINTER : VALUE_SCALAR;
	b.space = SPACE_INTERFACE;
	return b;
}

/* Are the offsets of weights in the weights file named constants in the source?
 * A named constant is relative to that of the previous array, so that a changed
 * size changes one line. The offsets are literals in the graph form, and if an
 * enumerator cannot represent them. */
static bool
places_are_named(const struct packer *k)
{
	return (k->out->weights == WEIGHTS_FILE || k->d->weights.copied) &&
	       !k->o->graph && k->blob_bytes < INT32_MAX &&
	       k->blob_bytes >> (k->d->int_bits - 1) == 0;
}

static const char *
weight_place_name(const struct packer *k, int i)
{
	return arena_printf(k->a, "at_%s", k->p->weights.data[i]->name);
}

static void
add_places(struct packer *k, struct tdata *data)
{
	int64_t before = 0;

	tdata_flag(data, "placed", places_are_named(k) && k->p->weights.n > 0);
	tdata_list(data, "places");
	for (int i = 0; places_are_named(k) && i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		struct tdata *row = tdata_item(data, "places");

		tdata_text(row, "name", weight_place_name(k, i));
		add_weight_note(k, row, i, true, "\t", k->names);
		tdata_text(row, "before",
			   i > 0 ? arena_printf(k->a, "%s + ",
						weight_place_name(k, i - 1))
				 : "");
		tdata_int(row, "step", w->offset_bytes - before);
		tdata_text(row, "end", i + 1 < k->p->weights.n ? "," : "");
		before = w->offset_bytes;
	}
}

void
bind_weight(struct packer *k, const struct param *param, int i,
	    struct bindings *bound)
{
	struct binding b = { .var = param->var, .buffer = param->buffer };
	struct tdata *data = tdata_new(k->a);

	b.is_const = true;
	b.space = SPACE_WEIGHTS;
	b.buffer = k->p->weights.data[i]->buffer;
	b.flat = k->d->functions.flat;
	if (k->out->weights == WEIGHTS_FILE || k->d->weights.copied) {
		tdata_text(data, "name", k->p->weights.data[i]->name);
		if (places_are_named(k)) {
			tdata_text(data, "offset", weight_place_name(k, i));
		} else {
			tdata_int(data, "offset",
				  k->p->weights.data[i]->offset_bytes);
		}
		b.text = packer_render(k, k->d->access.weight, data);
		b.kind = VALUE_CONST_VOID_POINTER;
	} else {
		b.text = k->weight_symbols[i];
		b.kind = b.flat ? VALUE_POINTER : VALUE_ARRAY;
	}
	vec_push(k->a, &bound->list, b);
}

void
bind_model(struct packer *k, struct bindings *bound)
{
	struct binding b = { .var = k->p->model, .kind = VALUE_VOID_POINTER };

	b.text = k->d->regions.argument;
	vec_push(k->a, &bound->list, b);
}

/* Binds a parameter that is the workspace's array of one type. */
static struct binding
bind_part(struct packer *k, const struct param *param)
{
	struct binding b = { .var = param->var,
			     .buffer = param->buffer,
			     .kind = VALUE_POINTER,
			     .space = SPACE_WORKSPACE };
	struct tdata *data = tdata_new(k->a);

	tdata_text(data, "name", dialect_arena_name(k->d, param->buffer->type));
	b.text = packer_render(k, k->d->access.arena, data);
	return b;
}

/* Binds the parameter that stands for the statement that ends the run, because
 * a size is out of its bounds. */
static struct binding
bind_refusal(struct packer *k, const struct param *param)
{
	struct binding b = { .var = param->var, .kind = VALUE_SCALAR };
	struct tdata *data = tdata_new(k->a);

	tdata_text(data, "MODEL", k->upper);
	b.text = packer_render(k, k->d->access.refuse, data);
	return b;
}

/* Binds the inputs and outputs for which the caller passes pointers. */
static void
bind_pointers(struct packer *k, struct bindings *bound)
{
	const struct param *param = k->p->entry->params.data;

	for (int i = 0; i < k->g->inputs.n; i++) {
		if (!k->g->inputs.data[i]->in_workspace) {
			struct binding b = bind_named(k, param++,
						      k->d->access.input,
						      k->input_fields[i]);

			b.is_const = true;
			vec_push(k->a, &bound->list, b);
		}
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		if (!k->g->outputs.data[i]->in_workspace) {
			vec_push(k->a, &bound->list,
				 bind_named(k, param++, k->d->access.output,
					    k->output_fields[i]));
		}
	}
}

/* Binds the parameters of the entry function, in this order: inputs, outputs,
 * weights, the workspace (if there is one), sizes. */
static void
bind_entry(struct packer *k, struct bindings *bound)
{
	const struct func *f = k->p->entry;
	int first = entry_count_pointers(k->g), n_weights = k->p->weights.n;
	int dim = 0, sizes = 0;

	bind_pointers(k, bound);
	for (int i = first; i < f->params.n; i++) {
		const struct param *param = &f->params.data[i];
		struct binding b;

		if (i < first + n_weights) {
			bind_weight(k, param, i - first, bound);
			continue;
		} else if (param->var == k->p->model) {
			bind_model(k, bound);
			continue;
		} else if (param->var == k->p->bad_size) {
			b = bind_refusal(k, param);
		} else if (sizes < k->p->given_sizes.n &&
			   param->buffer ==
				   k->p->given_sizes.data[sizes].buffer) {
			b = bind_named(k, param, k->d->access.output,
				       k->size_fields[sizes++]);
		} else if (param->buffer != NULL) {
			b = bind_part(k, param);
		} else if (dtype_class(param->var->type) == DTC_HANDLE) {
			b = bind_named(k, param, k->d->access.workspace, "");
			b.kind = VALUE_VOID_POINTER;
			b.space = SPACE_WORKSPACE;
		} else {
			b = bind_named(k, param, k->d->access.input,
				       k->dim_fields[dim++]);
		}
		vec_push(k->a, &bound->list, b);
	}
}

static bool
print_entry(struct packer *k, struct unit *u, struct tdata *data,
	    struct strbuf *out)
{
	/* a copy, because declarations of pointers to places may be removed
	 * from its body */
	struct func *entry = arena_copy(k->a, k->p->entry, sizeof *entry);
	struct bindings bound = { 0 };

	u->entry = entry;
	u->traced = k->p->traced;
	bind_entry(k, &bound);
	if (package_on_device(k)) {
		add_staging(k, data, u, &bound);
		add_device_places(k, data, &bound, entry);
		add_launch_names(k, data);
		add_uploads(k, data);
	}
	return unit_body(u, entry, bound.list.data, bound.list.n, out);
}

/* Adds a pointer that the caller passes to the lists of pointers that the
 * source checks. align: the alignment in bytes that the pointer must have; 0:
 * any. */
static void
add_pointer(struct packer *k, struct tdata *data, const char *text,
	    const char *field, int own_bytes, int align)
{
	struct tdata *name = tdata_new(k->a);
	const char *path;

	tdata_text(name, "name", field);
	path = packer_render(k, text, name);
	tdata_text(tdata_item(data, "pointers"), "path", path);
	if (own_bytes > 1 || align > 1) {
		struct tdata *item = tdata_item(data, "aligned");

		tdata_text(item, "path", path);
		tdata_text(item, "bytes", NULL);
		if (align > own_bytes) {
			tdata_int(item, "bytes", align);
		}
		tdata_flag(data, "any_aligned", true);
	}
}

static void
add_tensor_pointer(struct packer *k, struct tdata *data, const char *text,
		   const char *field, const struct tensor *t)
{
	if (!t->in_workspace) {
		add_pointer(k, data, text, field, dtype_bytes(t->type),
			    k->array_align);
	}
}

static void
add_pointer_checks(struct packer *k, struct tdata *data)
{
	tdata_list(data, "pointers");
	tdata_list(data, "aligned");
	tdata_flag(data, "any_aligned", false);
	for (int i = 0; i < k->g->inputs.n; i++) {
		add_tensor_pointer(k, data, k->d->access.input,
				   k->input_fields[i], k->g->inputs.data[i]);
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		add_tensor_pointer(k, data, k->d->access.output,
				   k->output_fields[i], k->g->outputs.data[i]);
	}
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		add_pointer(k, data, k->d->access.output, k->size_fields[i],
			    dtype_bytes(k->p->given_sizes.data[i].size->type),
			    0);
	}
}

static bool
uses_workspace(const struct packer *k)
{
	const struct func *f = k->p->entry;

	if (k->p->plan.parts.n > 0) {
		return true;
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct var *v = f->params.data[i].var;

		if (f->params.data[i].buffer == NULL && v != k->p->model &&
		    dtype_class(v->type) == DTC_HANDLE) {
			return true;
		}
	}
	return false;
}

/* Does the function NAME_run read weights? The weights of regions with a state
 * are passed to NAME_init instead. */
static bool
uses_weights(const struct packer *k)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int n = 0; kernel->init == NULL && n < kernel->args.n;
		     n++) {
			if (kernel->args.data[n].kind == ARG_WEIGHT) {
				return true;
			}
		}
	}
	return false;
}

static void
add_declarations(struct packer *k, struct tdata *data, struct unit *u)
{
	bool declared = k->p->weights.n > 0 && !k->o->graph &&
			k->out->weights != WEIGHTS_FILE;

	tdata_list(data, "weights");
	tdata_flag(data, "declared", declared);
	for (int i = 0; declared && i < k->p->weights.n; i++) {
		struct tdata *row = tdata_item(data, "weights");

		add_weight_note(k, row, i, true, "", k->names);
		tdata_text(row, "declaration",
			   weight_line(k, i, k->d->weights.declare, u));
	}
	add_places(k, data);
	tdata_text(data, "weights_file",
		   k->out->weights == WEIGHTS_INCBIN ? k->files[FILE_INCBIN]
						     : k->files[FILE_WEIGHTS]);
}

static bool
any_shares(const struct packer *k, const struct unit *u)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		if (unit_shares(u, k->p->kernels.data[i]->func)) {
			return true;
		}
	}
	return false;
}

bool
add_source(struct packer *k)
{
	struct anchors anchors = { .arena = k->a };
	struct arena tmp;
	struct tdata *data;
	const char *text;
	struct unit u;
	struct strbuf s;
	bool ok = true;

	arena_init_within(&tmp, k->a);
	data = tdata_new(&tmp);
	unit_init(&u, k->m, k->d);
	u.model = k->model;
	u.names = k->names;
	u.no_lanes = k->p->target->vector_bytes == 0;
	reserve_kernel_names(k, &u);
	tdata_outer(data, k->data);
	for (int i = 0; i < k->d->source_needs.n; i++) {
		unit_need(&u, k->d->source_needs.data[i]);
	}
	if (k->out->weights == WEIGHTS_FILE && !k->o->graph) {
		for (int i = 0; i < k->d->file_weights_needs.n; i++) {
			unit_need(&u, k->d->file_weights_needs.data[i]);
		}
	}
	if (k->g->states.n > 0 && !package_on_device(k)) {
		unit_need(&u, "string.h");
	}
	regions_need(k, &u, data, false);
	tdata_list(data, "kernels");
	ok = regions_in_source(k, &u, data);
	ok = ok && (k->kernels != k->d || add_kernels(k, &u, data));
	tdata_flag(data, "shares", any_shares(k, &u));
	add_declarations(k, data, &u);
	add_pointer_checks(k, data);
	tdata_flag(data, "workspace_used", uses_workspace(k));
	tdata_flag(data, "weights_used",
		   uses_weights(k) && (k->out->weights == WEIGHTS_FILE ||
				       k->d->weights.copied));
	strbuf_init(&s);
	tdata_list(data, "entries");
	if (k->o->graph) {
		ok = ok && add_graph_entries(k, &u, data);
	} else {
		ok = ok && print_entry(k, &u, data, &s);
		name_places(k, &u);
	}
	tdata_flag(k->data, "reads_back", u.reads_back);
	add_plan(k, data);
	tdata_text(data, "body",
		   ok && s.data != NULL ? arena_strdup(k->a, s.data) : "");
	strbuf_release(&s);
	ok = ok && add_helpers(k, &u, data);
	unit_add_includes(&u, data);
	text = ok ? source_text(k, k->d, data, &anchors) : NULL;
	if (text != NULL) {
		add_file(k, FILE_SOURCE, OUT_TEXT, text, &anchors);
	}
	arena_release(&tmp);
	return text != NULL;
}
