/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels as text, with where they come from: within the source, or, where
 * a device has a language of its own, in a file of theirs. */
#include <stdio.h>

#include "host_device.h"
#include "kernels.h"
#include "packer.h"

#define ROW_COLUMN 15 /* where the text of a comment's row starts */

static void
add_row(struct packer *k, struct tdata *data, const char *list,
	const char *label, const char *text)
{
	struct tdata *row = tdata_item(data, list);

	tdata_printf(row, "label", "%-8s", label);
	tdata_text(row, "text", comment_wrap(k, comment_text(k->a, text),
					     ROW_COLUMN));
}

/* Names that only count nodes are left out: they change with every edit of
 * the model, and the metadata have them. Then the result's name may tell. */
static const char *
nodes_text(struct packer *k, const struct kernel *kernel)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	for (int i = 0; i < kernel->group->nodes.n; i++) {
		const struct node *node = kernel->group->nodes.data[i];

		for (int o = 0; o < node->origins.n; o++) {
			const struct origin *from =
				&k->g->origins.data[node->origins.data[o]];
			const char *stem = name_stem(k->a, from->name);

			if (stem == NULL && from->output != NULL) {
				stem = name_stem(k->a, from->output);
			}
			strbuf_puts(&s, s.len > 0 ? ", " : "");
			if (stem != NULL) {
				strbuf_printf(&s, "%s (%s)", stem,
					      from->op_type);
			} else {
				strbuf_puts(&s, from->op_type);
			}
		}
	}
	text = arena_strdup(k->a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return text;
}

/* How it lies in memory, where that is not row by row. */
static const char *
memory_text(const struct packer *k, const struct tensor *t)
{
	const struct tensor_layout *l = t->layout;
	const char *text = "";
	bool around = false;

	for (int d = 0; l != NULL && d < t->ndim; d++) {
		around |= l->before[d] > 0 || l->after[d] > 0;
	}
	if (l != NULL && l->axis >= 0) {
		text = arena_printf(k->a, ", in blocks of %lld",
				    (long long)l->block);
	}
	if (around && l->fill != 0) {
		return arena_printf(k->a, "%s, %lld around", text,
				    (long long)l->fill);
	}
	return around ? arena_printf(k->a, "%s, zeroes around", text) : text;
}

/* Exporters join names of many operators to one; the metadata have all of
 * it. */
static const char *
short_title(struct packer *k, const struct tensor *t)
{
	enum { MOST = 56, PART = 24 };
	size_t n = strlen(t->name);

	return n <= MOST ? t->name
	       : arena_printf(k->a, "%.*s ... %s", PART, t->name,
			      t->name + n - PART);
}

static const char *
weight_symbol(const struct packer *k, const struct weight *w)
{
	for (int i = 0; i < k->p->weights.n; i++) {
		if (k->p->weights.data[i] == w) {
			return k->weight_symbols[i];
		}
	}
	return "";
}

/* Its name in quotes, or, where that only counts, who writes it; "" for what
 * the kernel itself writes. */
static const char *
tensor_name(struct packer *k, const struct kernel *kernel,
	    const struct tensor *t)
{
	const struct kernel *from = writer_of(k, t);

	if (name_stem(k->a, t->name) != NULL || t->is_input || t->is_output) {
		return arena_printf(k->a, "\"%s\"", short_title(k, t));
	}
	return from != NULL && from != kernel
	       ? arena_printf(k->a, "of %s", from->name) : "";
}

/* "relu1": f32 [1][64][56][56], in blocks of 16. Of a function that several
 * kernels call: without the name. */
static const char *
tensor_text(struct packer *k, const struct kernel *kernel,
	    const struct kernel_arg *arg)
{
	const struct tensor *t = arg->tensor;
	const char *name = kernel->n_callers > 1
			   ? "" : tensor_name(k, kernel, t);
	bool quoted = name[0] == '"';

	return arena_printf(k->a, "%s%s%s %s%s%s%s%s", quoted ? name : "",
			    quoted ? ": " : "", short_name(t->type),
			    shape_text(k, t), name[0] && !quoted ? " " : "",
			    quoted ? "" : name, memory_text(k, t),
			    arg->in_place != NULL ? ", in place" : "");
}

/* The kernel as a function; those of a device, of which each has its own. */
static bool
print_functions(struct unit *u, const struct kernel *kernel,
		struct strbuf *out)
{
	const struct host_device *device = kernel->device;

	if (device == NULL) {
		return unit_func(u, kernel->func, out);
	}
	for (int i = 0; i < device->n_launches; i++) {
		strbuf_puts(out, i > 0 ? "\n" : "");
		if (!unit_func(u, device->launches[i].kernel, out)) {
			return false;
		}
	}
	return true;
}

/* Has it a function in which no product may be added unrounded, while in others
 * it may? NULL: no. */
static bool
is_exact(const struct packer *k, const struct kernel *kernel)
{
	return kernel != NULL && kernel->rounds &&
	       strcmp(k->p->target->fp, "strict") != 0;
}

/* The kernel with the function that is printed before that of the i-th one
 * (step -1) or behind it (1), or NULL. */
static const struct kernel *
printed_beside(const struct packer *k, int i, int step)
{
	for (i += step; i >= 0 && i < k->p->kernels.n; i += step) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel) {
			return kernel;
		}
	}
	return NULL;
}

/* What one of the kernels that share a function gives it: "conv2: Conv, Relu;
 * x "relu1", w net_conv2_w, y "relu2"". */
static const char *
call_text(struct packer *k, const struct kernel *kernel)
{
	struct strbuf s;
	const char *nodes = nodes_text(k, kernel), *text, *before = "; ";

	strbuf_init(&s);
	strbuf_printf(&s, "%s: %s", kernel->name, nodes);
	for (int i = 0; i < kernel->args.n; i++) {
		const struct kernel_arg *arg = &kernel->args.data[i];
		const char *given = "";

		if (arg->kind == ARG_WEIGHT) {
			given = weight_symbol(k, arg->weight);
		} else if (arg->kind == ARG_TENSOR) {
			given = tensor_name(k, kernel, arg->tensor);
		}
		if (given[0] != '\0') {
			strbuf_printf(&s, "%s%s %s", before, arg->buffer->name,
				      given);
			before = ", ";
		}
	}
	text = arena_strdup(k->a, s.data);
	strbuf_release(&s);
	return text;
}

static void
add_callers(struct packer *k, struct tdata *item, const struct kernel *owner)
{
	const char *label = arena_printf(k->a, "%d calls", owner->n_callers);

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == owner) {
			add_row(k, item, "calls", label,
				call_text(k, kernel));
			label = "";
		}
	}
}

static bool
add_kernel(struct packer *k, struct tdata *data, int i, struct unit *u)
{
	const struct kernel *kernel = k->p->kernels.data[i];
	struct tdata *item = tdata_item(data, "kernels");
	struct strbuf s;
	bool ok;

	if (kernel->group->region != NULL) {
		const char *text;

		ok = region_print(k, u, kernel, &text);
		tdata_text(item, "text", text);
	} else {
		strbuf_init(&s);
		u->apart = is_exact(k, kernel);
		ok = print_functions(u, kernel, &s);
		u->apart = false;
		if (ok) {
			/* The template ends the line. */
			s.data[s.len - 1] = '\0';
			tdata_text(item, "text", arena_strdup(k->a, s.data));
		}
		strbuf_release(&s);
	}
	tdata_flag(item, "exact_starts", is_exact(k, kernel) &&
		   !is_exact(k, printed_beside(k, i, -1)));
	tdata_flag(item, "exact_ends", is_exact(k, kernel) &&
		   !is_exact(k, printed_beside(k, i, 1)));
	tdata_text(item, "title", comment_wrap(k, comment_text(k->a,
		kernel->title != NULL ? kernel->title : kernel->name), 3));
	tdata_list(item, "nodes");
	tdata_list(item, "calls");
	tdata_flag(item, "each_call", kernel->n_callers > 1);
	if (kernel->n_callers > 1) {
		add_callers(k, item, kernel);
	} else if (nodes_text(k, kernel)[0] != '\0') {
		add_row(k, item, "nodes", "nodes", nodes_text(k, kernel));
	}
	tdata_list(item, "tensors");
	for (int a = 0; a < kernel->args.n; a++) {
		const struct kernel_arg *arg = &kernel->args.data[a];

		if (arg->kind == ARG_TENSOR && arg->buffer != NULL) {
			add_row(k, item, "tensors", arg->buffer->name,
				tensor_text(k, kernel, arg));
		}
	}
	tdata_list(item, "schedules");
	if (kernel->schedule != NULL && kernel->schedule[0] != '\0') {
		add_row(k, item, "schedules", "schedule", kernel->schedule);
	}
	if (kernel->group->region != NULL) {
		add_row(k, item, "schedules",
			kernel->group->region->backend->name,
			region_patterns(k->g, kernel->group->region));
	}
	tdata_text(item, "work", comment_wrap(k, work_text(k, kernel),
					      ROW_COLUMN));
	return ok;
}

/* The functions of a region that keeps something between runs. */
static void
reserve_region_names(struct packer *k, struct unit *u,
		     const struct kernel *kernel)
{
	static const char *const endings[] = { "plan", "init", "fini" };

	if (kernel->init == NULL) {
		return;
	}
	vec_push(k->a, &u->callees, kernel->init);
	for (int i = 0; i < 3; i++) {
		name_set_add(&u->globals, arena_printf(k->a, "%s_%s",
						kernel->name, endings[i]));
	}
}

void
reserve_kernel_names(struct packer *k, struct unit *u)
{
	u->model_var = k->p->model;
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner != kernel) {
			continue;
		}
		if (kernel->device == NULL) {
			name_set_add(&u->globals, kernel->func->name);
			vec_push(k->a, &u->callees, kernel->func);
			reserve_region_names(k, u, kernel);
			continue;
		}
		for (int l = 0; l < kernel->device->n_launches; l++) {
			const struct func *f =
				kernel->device->launches[l].kernel;

			name_set_add(&u->globals, f->name);
			vec_push(k->a, &u->callees, f);
		}
	}
	for (int i = 0; i < k->p->weights.n; i++) {
		name_set_add(&u->globals, k->weight_symbols[i]);
	}
}

bool
add_helpers(struct packer *k, struct unit *u, struct tdata *data)
{
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = unit_print_helpers(u, &s);
	if (ok && s.len > 0) {
		s.data[s.len - 1] = '\0'; /* the template ends the line */
	}
	tdata_text(data, "helpers", ok && s.data != NULL
		   ? arena_strdup(k->a, s.data) : "");
	strbuf_release(&s);
	return ok;
}

bool
add_kernels(struct packer *k, struct unit *u, struct tdata *data)
{
	packer_tell_constants(k, u);
	tdata_list(data, "kernels");
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel && !add_kernel(k, data, i, u)) {
			return false;
		}
	}
	return true;
}

bool
add_kernels_file(struct packer *k)
{
	const struct dialect *d = k->kernels;
	struct tdata *data = tdata_new(k->a);
	const char *name, *text = NULL;
	struct unit u;
	bool ok;

	unit_init(&u, k->m, d);
	u.model = k->model;
	reserve_kernel_names(k, &u);
	tdata_outer(data, k->data);
	for (int i = 0; i < d->source_needs.n; i++) {
		unit_need(&u, d->source_needs.data[i]);
	}
	ok = add_kernels(k, &u, data) && add_helpers(k, &u, data);
	unit_add_includes(&u, data);
	if (ok) {
		text = template_text(k, d, TEMPLATE_SOURCE, data);
	}
	if (text == NULL) {
		return false;
	}
	name = packer_render(k, d->files[FILE_SOURCE], k->data);
	return add_program(k, name, add_named_file(k, name, OUT_TEXT, text));
}
