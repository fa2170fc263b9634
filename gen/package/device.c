/* SPDX-License-Identifier: Apache-2.0 */
/* The data for models on a device: the kernels that the host launches by name,
 * the weights that it uploads, the buffers for parts of the workspace, and the
 * places of the caller's arrays in the staging memory. */
#include <assert.h>

#include "host_device.h"
#include "kernel.h"
#include "package.h"
#include "packer.h"
#include "plan.h"

bool
package_on_device(const struct packer *k)
{
	return k->kernels->device.rejected == NULL;
}

/* -- kernels -- */

void
add_launch_names(struct packer *k, struct tdata *data)
{
	int64_t beyond = k->kernels->device.pool_beyond;

	tdata_list(data, "launches");
	tdata_list(data, "pooled");
	tdata_flag(data, "boxed", false);
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int l = 0;
		     kernel->device != NULL && kernel->owner == kernel &&
		     l < kernel->device->n_launches;
		     l++) {
			const struct launch *one = &kernel->device->launches[l];
			struct tdata *row;

			tdata_text(tdata_item(data, "launches"), "name",
				   one->kernel->name);
			if (func_calls(one->kernel, INTRIN_COPY_BOX)) {
				tdata_flag(data, "boxed", true);
			}
			if (beyond == 0 || one->shared_bytes <= beyond) {
				continue;
			}
			row = tdata_item(data, "pooled");
			tdata_text(row, "name", one->kernel->name);
			tdata_int(row, "bytes", one->shared_bytes);
		}
	}
}

/* n bytes of a text as a string literal of C. */
static const char *
quoted(struct arena *a, const char *text, size_t n)
{
	struct strbuf s;
	const char *out;

	strbuf_init(&s);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"' || text[i] == '\\') {
			strbuf_putc(&s, '\\');
		}
		if (text[i] == '\t') {
			strbuf_puts(&s, "\\t");
		} else {
			strbuf_putc(&s, text[i]);
		}
	}
	out = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return out;
}

bool
add_program(struct packer *k, const char *name, const char *text)
{
	struct tdata *data = tdata_new(k->a);
	int lines = 0;

	tdata_list(data, "program");
	for (; *text != '\0'; lines++) {
		size_t n = strcspn(text, "\n");

		tdata_text(tdata_item(data, "program"), "line",
			   quoted(k->a, text, n));
		text += n + (text[n] == '\n');
	}
	tdata_int(k->data, "program_lines", lines);
	tdata_outer(data, k->data);
	tdata_text(data, "kernels_file", name);
	return add_template_file(k, TEMPLATE_PROGRAM, data, FILE_PROGRAM,
				 OUT_TEXT);
}

/* The size of a part of a buffer, which must not have 0 bytes. */
static int64_t
at_least_one_byte(int64_t bytes)
{
	return bytes > 0 ? bytes : 1;
}

/* -- tensors in the workspace. Each part of the workspace has the size of its
 * tensor, so that the parts that one kernel gets overlap only if the kernel
 * just reads them. -- */

/* The place in the workspace to which a pointer of the entry function points. */
static const struct placement *
place_of(const struct packer *k, const struct var *pointer)
{
	const struct memory_plan *plan = &k->p->plan;

	for (int i = 0; i < plan->named.n; i++) {
		const struct placement *at =
			&plan->places.data[plan->named.data[i]];

		if (at->var == pointer) {
			return at;
		}
	}
	assert(!"a pointer into the workspace to no tensor");
	return NULL;
}

static bool
is_place(const struct stmt *s)
{
	return s->kind == STMT_LET && s->args[0]->kind == EXPR_CALL &&
	       s->args[0]->u.intrin == INTRIN_PTR_ADD;
}

void
add_device_places(struct packer *k, struct tdata *data, struct bindings *bound,
		  struct func *body)
{
	struct stmt *s = body->body;

	tdata_list(data, "buffers");
	while (k->d->device.place != NULL && is_place(s)) {
		struct tdata *row = tdata_item(data, "buffers");
		struct tdata *name = tdata_new(k->a);
		struct binding b = { .var = s->u.var,
				     .kind = VALUE_VOID_POINTER };
		const struct placement *at = place_of(k, s->u.var);

		tdata_text(row, "name", s->u.var->name);
		tdata_int(row, "offset", at->offset_bytes);
		tdata_int(row, "bytes", at_least_one_byte(at->bytes));
		tdata_text(name, "name", s->u.var->name);
		b.text = packer_render(k, k->d->device.place, name);
		vec_push(k->a, &bound->list, b);
		s = s->children[0];
	}
	body->body = s;
}

/* -- the caller's arrays -- */

/* The bytes of the copy of t, an input or output, in the staging memory,
 * through which the host and the device exchange data. */
static int64_t
place_bytes(const struct tensor *t)
{
	return at_least_one_byte(largest_count(t) * dtype_bytes(t->type));
}

/* The texts of expressions for numbers of elements. Each text is made once,
 * because many arrays have the same shape. */
struct counts {
	struct bindings sizes;   /* the sizes of the inputs */
	struct pointer_map text; /* from an expression to its index in texts */
	VEC(const char *) texts;
};

/* The text with which the host reads size i, one of the sizes that the model
 * computes for its caller. */
static const char *
given_size_text(struct packer *k, int i)
{
	struct tdata *data = tdata_new(k->a);
	const char *text;

	tdata_text(data, "name", k->size_fields[i]);
	text = packer_render(k, k->d->access.output, data);
	data = tdata_new(k->a);
	tdata_text(data, "array", text);
	tdata_list(data, "indices");
	tdata_text(tdata_item(data, "indices"), "index", "0");
	return packer_render(k, k->d->access.element, data);
}

static void
counts_init(struct packer *k, struct counts *c, const struct bindings *bound)
{
	*c = (struct counts){ 0 };
	pointer_map_init(&c->text, k->a);
	for (int i = 0; i < bound->list.n; i++) {
		if (bound->list.data[i].kind == VALUE_SCALAR) {
			vec_push(k->a, &c->sizes.list, bound->list.data[i]);
		}
	}
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		struct binding b = { .var = k->p->given_sizes.data[i].size,
				     .kind = VALUE_SCALAR };

		b.text = given_size_text(k, i);
		vec_push(k->a, &c->sizes.list, b);
	}
}

/* The number of elements of t, as an expression of the sizes of the inputs. It
 * is computed in 64 bits if it may exceed 32 bits. */
static const char *
count_text(struct packer *k, struct unit *u, struct counts *c,
	   const struct tensor *t)
{
	bool wide = largest_count(t) > INT32_MAX;
	struct dtype type = dtype_of(wide ? DT_I64 : DT_I32);
	const struct expr *n = expr_int(k->m, type, 1);
	int at;

	for (int d = 0; d < t->ndim; d++) {
		n = expr_mul(k->m, n,
			     expr_cast(k->m, type,
				       graph_given_size(k->g, t->shape[d])));
	}
	at = pointer_map_get(&c->text, n, c->texts.n);
	if (at == c->texts.n) {
		pointer_map_put(&c->text, n, at);
		vec_push(k->a, &c->texts,
			 unit_bound_expr(u, k->p->entry, c->sizes.list.data,
					 c->sizes.list.n, n));
	}
	return c->texts.data[at];
}

void
add_staging(struct packer *k, struct tdata *data, struct unit *u,
	    const struct bindings *bound)
{
	const struct graph *g = k->g;
	struct counts counts;
	int64_t align = k->p->target->align_bytes, at = 0;

	counts_init(k, &counts, bound);
	tdata_list(data, "inputs");
	tdata_list(data, "outputs");
	tdata_flag(data, "no_inputs", g->inputs.n == 0 && g->dims.n == 0);
	for (int i = 0; i < g->inputs.n + g->outputs.n; i++) {
		bool in = i < g->inputs.n;
		int o = i - g->inputs.n;
		const struct tensor *t = in ? g->inputs.data[i]
					    : g->outputs.data[o];
		struct tdata *row = tdata_item(data, in ? "inputs" : "outputs");

		tdata_text(row, "name",
			   in ? k->input_fields[i] : k->output_fields[o]);
		tdata_text(row, "type", k->d->types[t->type.kind].spelling);
		tdata_text(row, "count", count_text(k, u, &counts, t));
		tdata_int(row, "index", i);
		tdata_int(row, "offset", at);
		tdata_int(row, "bytes", place_bytes(t));
		tdata_flag(row, "copied", largest_count(t) > 0);
		at += (place_bytes(t) + align - 1) / align * align;
	}
}

static bool
is_callers(const struct packer *k, const struct kernel_arg *arg)
{
	const struct placement *at = arg->tensor != NULL
					     ? plan_find(&k->p->plan,
							 arg->tensor)
					     : NULL;

	return arg->buffer != NULL && at != NULL &&
	       (at->kind == PLACE_INPUT || at->kind == PLACE_OUTPUT);
}

void
package_find_array_align(struct packer *k)
{
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		for (int a = 0; a < kernel->args.n; a++) {
			const struct kernel_arg *arg = &kernel->args.data[a];

			if (is_callers(k, arg) &&
			    arg->buffer->align_bytes > k->array_align) {
				k->array_align = arg->buffer->align_bytes;
			}
		}
	}
}

static int64_t
staging_bytes(const struct packer *k)
{
	const struct graph *g = k->g;
	int64_t align = k->p->target->align_bytes, at = 0;

	for (int i = 0; i < g->inputs.n + g->outputs.n; i++) {
		const struct tensor *t =
			i < g->inputs.n ? g->inputs.data[i]
					: g->outputs.data[i - g->inputs.n];

		at += (place_bytes(t) + align - 1) / align * align;
	}
	return at;
}

/* -- weights -- */

void
add_uploads(struct packer *k, struct tdata *data)
{
	tdata_list(data, "uploads");
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];
		struct tdata *row = tdata_item(data, "uploads");

		tdata_text(row, "name", w->name);
		tdata_text(row, "symbol", k->weight_symbols[i]);
		tdata_int(row, "offset", w->offset_bytes);
		tdata_int(row, "bytes", w->bytes);
	}
}

/* -- counts -- */

static int
at_least_one(int n)
{
	return n > 0 ? n : 1;
}

void
add_device_counts(struct packer *k)
{
	struct tdata *d = k->data;
	int launches = 0, places = 0;

	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel) {
			launches += kernel->device->n_launches;
		}
	}
	for (const struct stmt *s = k->p->entry->body; s != NULL && is_place(s);
	     s = s->children[0]) {
		places++;
	}
	tdata_int(d, "staging_bytes", staging_bytes(k));
	tdata_int(d, "array_align", k->array_align);
	tdata_flag(d, "wide", k->array_align > 0);
	tdata_int(d, "n_launches", at_least_one(launches));
	tdata_int(d, "n_weights", at_least_one(k->p->weights.n));
	tdata_int(d, "n_buffers", at_least_one(places));
	tdata_int(d, "n_io", at_least_one(k->g->inputs.n + k->g->outputs.n));
	tdata_text(d, "device_flags", k->p->target->device_cflags);
}
