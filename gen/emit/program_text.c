/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor program as one source file: its kernels with their launch
 * parameters, then the host functions. Also the launches as JSON, for host code
 * that a user writes. */
#include <cjson/cJSON.h>

#include "comment_text.h"
#include "emit.h"
#include "host_device.h"
#include "json_put.h"
#include "kernel.h"
#include "program_facts.h"
#include "rounding.h"
#include "unit.h"
#include "version.h"

static bool
render(struct module *m, const char *file, const char *item, const char *text,
       const struct tdata *data, struct strbuf *out)
{
	return template_render(&m->diags, file, item, text, data, out);
}

/* Renders a whole file from a template; its comments get the form of the
 * dialect. */
static bool
render_file(struct module *m, const struct dialect *d, enum template_id id,
	    const struct tdata *data, struct strbuf *out)
{
	const struct dialect_template *t = &d->templates[id];
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = render(m, t->file, NULL, t->text, data, &s);
	if (ok) {
		strbuf_puts(out, dialect_comments(d, &m->arena,
						  s.data != NULL ? s.data : "",
						  NULL));
	}
	strbuf_release(&s);
	return ok;
}

/* Adds the texts for the head of each file. */
static void
add_banner(struct module *m, const struct dialect *d,
	   const struct program_text *p, struct tdata *data)
{
	struct arena *a = &m->arena;

	tdata_text(data, "model", comment_text(a, d, p->stem));
	tdata_text(data, "origin", p->origin);
	tdata_text(data, "flags",
		   p->cflags != NULL ? comment_flags(a, d, p->cflags) : NULL);
	tdata_text(data, "device_flags",
		   p->device_cflags != NULL
			   ? comment_flags(a, d, p->device_cflags)
			   : NULL);
}

static int
used_extents(const struct expr *const *extents)
{
	int n = 3;

	while (n > 1 && expr_is_value(extents[n - 1], 1)) {
		n--;
	}
	return n;
}

static const char *
extents_text(struct unit *u, const struct func *host,
	     const struct expr *const *extents)
{
	const char *text = "";

	for (int i = 0; i < used_extents(extents); i++) {
		text = arena_printf(u->a, "%s%s%s", text, i > 0 ? ", " : "",
				    unit_expr(u, host, extents[i]));
	}
	return text;
}

/* The text without the empty lines at its end. */
static const char *
trimmed(struct unit *u, const struct strbuf *text)
{
	size_t n = text->len;

	while (n > 0 && text->data[n - 1] == '\n') {
		n--;
	}
	return arena_strndup(u->a, text->data, n);
}

static bool
add_kernel(struct unit *u, const struct func *host, const struct launch *l,
	   const char *schedule, struct tdata *list)
{
	struct tdata *data = tdata_item(list, "functions");
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	tdata_flag(data, "comment", true);
	tdata_text(data, "name", l->kernel->name);
	tdata_list(data, "facts");
	program_add_fact(data, "grid  ", extents_text(u, host, l->grid));
	program_add_fact(data, "block ", extents_text(u, host, l->block));
	if (l->shared_bytes > 0) {
		program_add_fact(data, "shared",
				 arena_printf(u->a, "%lld bytes",
					      (long long)l->shared_bytes));
	}
	if (schedule != NULL && schedule[0] != '\0') {
		program_add_fact(data, "sched.",
				 comment_wrap(u->a, u->d,
					      comment_text(u->a, u->d,
							   schedule),
					      13));
	}
	u->apart = func_forbids_contraction(l->kernel);
	unit_add_guard(u, data, u->apart, u->apart);
	ok = unit_func(u, l->kernel, &text);
	u->apart = false;
	tdata_text(data, "text", ok ? trimmed(u, &text) : "");
	strbuf_release(&text);
	return ok;
}

static bool
add_function(struct unit *u, const struct program_part *part,
	     struct tdata *list)
{
	const struct func *f = part->func;
	struct tdata *data = tdata_item(list, "functions");
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	tdata_flag(data, "comment",
		   part->schedule != NULL && part->split == NULL);
	tdata_text(data, "name", f->name);
	tdata_list(data, "facts");
	if (part->schedule != NULL && part->split == NULL) {
		program_add_arrays(u, part, data);
		program_add_schedule(u, part, data);
	}
	u->apart = func_forbids_contraction(f);
	unit_add_guard(u, data, u->apart, u->apart);
	ok = unit_exported(u, f, &text);
	u->apart = false;
	tdata_text(data, "text", ok ? trimmed(u, &text) : "");
	strbuf_release(&text);
	return ok;
}

static void
reserve_names(struct unit *u, const struct program_text *p)
{
	for (int i = 0; i < p->n; i++) {
		const struct host_device *s = p->parts[i].split;

		name_set_add(&u->globals, p->parts[i].func->name);
		for (int k = 0; s != NULL && k < s->n_launches; k++) {
			name_set_add(&u->globals, s->launches[k].kernel->name);
		}
	}
}

/* Does this part of the program have a function that the host can call? It does
 * not if it is split into host and device code and the dialect has no
 * launches. */
static bool
is_called(const struct dialect *d, const struct program_part *part)
{
	return part->split == NULL || d->device.no_launch == NULL;
}

static bool
any_called(const struct dialect *d, const struct program_text *p)
{
	for (int i = 0; i < p->n; i++) {
		if (is_called(d, &p->parts[i])) {
			return true;
		}
	}
	return false;
}

static void
note_needs(const struct unit *u, struct program_needs *needs)
{
	const struct requirement *r;

	for (int i = 0; (r = unit_relied_on(u, i)) != NULL; i++) {
		vec_push(u->a, &needs->relied_on, r);
	}
	for (int i = 0; i < u->externals.n; i++) {
		if (u->externals.data[i].symbol == NULL) {
			vec_push(u->a, &needs->externals,
				 u->externals.data[i].name);
		}
	}
}

bool
emit_program(struct module *m, const struct dialect *d,
	     const struct program_text *p, struct strbuf *out,
	     struct program_needs *needs)
{
	struct tdata *data = tdata_new(&m->arena);
	struct strbuf helpers;
	struct unit u;
	bool ok = true;

	unit_init(&u, m, d);
	u.no_lanes = p->no_lanes;
	u.external_prefix = p->external_prefix;
	reserve_names(&u, p);
	add_banner(m, d, p, data);
	tdata_text(data, "header_name",
		   p->with_header && any_called(d, p)
			   ? emit_program_header_name(m, d, p->stem)
			   : NULL);
	tdata_list(data, "functions");
	for (int i = 0; i < p->n && ok; i++) {
		const struct host_device *s = p->parts[i].split;

		for (int k = 0; s != NULL && k < s->n_launches && ok; k++) {
			ok = add_kernel(&u, s->host, &s->launches[k],
					k == 0 ? p->parts[i].schedule : NULL,
					data);
		}
		if (ok && is_called(d, &p->parts[i])) {
			ok = add_function(&u, &p->parts[i], data);
		}
	}
	strbuf_init(&helpers);
	ok = ok && unit_print_helpers(&u, &helpers);
	if (ok) {
		tdata_text(data, "helpers",
			   helpers.len > 0 ? trimmed(&u, &helpers) : NULL);
		unit_add_includes(&u, data);
		ok = render_file(m, d, TEMPLATE_UNIT, data, out);
		if (needs != NULL) {
			note_needs(&u, needs);
		}
	}
	strbuf_release(&helpers);
	return ok;
}

bool
emit_program_header(struct module *m, const struct dialect *d,
		    const struct program_text *p, struct strbuf *out)
{
	struct tdata *data = tdata_new(&m->arena);
	struct unit u;
	/* a macro does not begin with a digit */
	char *guard = arena_printf(&m->arena, "%s%s",
				   p->stem[0] >= '0' && p->stem[0] <= '9' ? "P"
									  : "",
				   p->stem);

	if (!any_called(d, p)) {
		return true;
	}
	for (char *at = guard; *at != '\0'; at++) {
		*at = (char)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A'
			     : (*at >= 'A' && *at <= 'Z') ||
					     (*at >= '0' && *at <= '9')
				     ? *at
				     : '_');
	}
	unit_init(&u, m, d);
	reserve_names(&u, p);
	add_banner(m, d, p, data);
	tdata_text(data, "GUARD", guard);
	tdata_list(data, "functions");
	for (int i = 0; i < p->n; i++) {
		struct strbuf text;
		struct tdata *row;
		bool ok;

		if (!is_called(d, &p->parts[i])) {
			continue;
		}
		row = tdata_item(data, "functions");
		tdata_text(row, "name", p->parts[i].func->name);
		tdata_list(row, "facts");
		program_add_arrays(&u, &p->parts[i], row);
		tdata_flag(row, "no_overlap",
			   program_has_overlap(&p->parts[i]));
		strbuf_init(&text);
		ok = unit_prototype(&u, p->parts[i].func, &text);
		tdata_text(row, "prototype", ok ? trimmed(&u, &text) : "");
		strbuf_release(&text);
		if (!ok) {
			return false;
		}
	}
	unit_add_includes(&u, data);
	return render_file(m, d, TEMPLATE_UNIT_HEADER, data, out);
}

static bool
add_call(struct unit *u, const struct program_part *part, int index,
	 struct tdata *list)
{
	const struct func *f = part->func;
	struct tdata *data = tdata_item(list, "functions");

	tdata_int(data, "index", index);
	tdata_text(data, "name", f->name);
	tdata_int(data, "count", f->params.n);
	tdata_list(data, "arguments");
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		struct tdata *row = tdata_item(data, "arguments");
		const char *type = p->buffer != NULL
					   ? ""
					   : unit_type(u, p->var->type);

		if (type == NULL) {
			return false;
		}
		tdata_int(row, "index", i);
		tdata_text(row, "type", type);
		tdata_flag(row, "array", p->buffer != NULL);
		tdata_flag(row, "given", i < part->n_params);
		tdata_flag(row, "kept",
			   p->buffer != NULL && i < part->n_params &&
				   func_writes(f, p->buffer));
	}
	return true;
}

bool
emit_program_caller(struct module *m, const struct dialect *d,
		    const struct program_text *p, struct strbuf *out)
{
	struct tdata *data = tdata_new(&m->arena);
	struct unit u;

	unit_init(&u, m, d);
	add_banner(m, d, p, data);
	tdata_text(data, "header_name",
		   emit_program_header_name(m, d, p->stem));
	tdata_flag(data, "board", p->on_board);
	tdata_list(data, "functions");
	for (int i = 0; i < p->n; i++) {
		if (!add_call(&u, &p->parts[i], i, data)) {
			return false;
		}
	}
	return render_file(m, d, TEMPLATE_CALLER, data, out);
}

static const char *
file_name(struct module *m, const struct dialect *d, enum file_id id,
	  const char *item, const char *stem)
{
	struct tdata *data = tdata_new(&m->arena);
	const char *name = NULL;
	struct strbuf s;

	strbuf_init(&s);
	tdata_text(data, "model", stem);
	if (render(m, d->file, item, d->files[id], data, &s)) {
		name = arena_strdup(&m->arena, s.data);
	}
	strbuf_release(&s);
	return name;
}

const char *
emit_program_name(struct module *m, const struct dialect *d, const char *stem)
{
	return file_name(m, d, FILE_UNIT, "/files/unit", stem);
}

const char *
emit_program_header_name(struct module *m, const struct dialect *d,
			 const char *stem)
{
	return file_name(m, d, FILE_HEADER, "/files/header", stem);
}

/* -- launches as data -- */

static cJSON *
json_extents(struct unit *u, const struct func *host,
	     const struct expr *const *extents)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < 3; i++) {
		int64_t v;

		cJSON_AddItemToArray(list,
				     expr_is_int(extents[i], &v)
					     ? cJSON_CreateNumber((double)v)
					     : cJSON_CreateString(
						       unit_expr(u, host,
								 extents[i])));
	}
	return list;
}

static cJSON *
json_argument(struct unit *u, const struct func *host,
	      const struct func *kernel, const struct param *p)
{
	cJSON *j = cJSON_CreateObject();
	cJSON *shape;

	cJSON_AddStringToObject(j, "name",
				p->buffer != NULL ? p->buffer->name
						  : p->var->name);
	cJSON_AddStringToObject(j, "dtype",
				dtype_name(p->buffer != NULL ? p->buffer->type
							     : p->var->type));
	if (p->buffer == NULL) {
		return j;
	}
	shape = cJSON_AddArrayToObject(j, "shape");
	for (int i = 0; i < p->buffer->ndim; i++) {
		int64_t v;

		cJSON_AddItemToArray(shape,
				     expr_is_int(p->buffer->shape[i], &v)
					     ? cJSON_CreateNumber((double)v)
					     : cJSON_CreateString(unit_expr(
						       u, host,
						       p->buffer->shape[i])));
	}
	cJSON_AddBoolToObject(j, "read", func_reads(kernel, p->buffer));
	cJSON_AddBoolToObject(j, "written", func_writes(kernel, p->buffer));
	return j;
}

bool
emit_launches(struct module *m, const struct dialect *d,
	      const struct program_part *parts, int n, struct strbuf *out)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *list;
	struct unit u;

	/* the file is known as one that tirc may replace */
	cJSON_AddStringToObject(root, "generator",
				arena_printf(&m->arena, "tirc %s",
					     version_text()));
	list = cJSON_AddArrayToObject(root, "launches");

	unit_init(&u, m, d);
	for (int i = 0; i < n; i++) {
		const struct host_device *s = parts[i].split;

		for (int k = 0; s != NULL && k < s->n_launches; k++) {
			const struct launch *l = &s->launches[k];
			cJSON *j = cJSON_CreateObject(), *args;

			cJSON_AddItemToArray(list, j);
			cJSON_AddStringToObject(j, "function", s->host->name);
			cJSON_AddStringToObject(j, "kernel", l->kernel->name);
			cJSON_AddItemToObject(j, "grid",
					      json_extents(&u, s->host,
							   l->grid));
			cJSON_AddItemToObject(j, "block",
					      json_extents(&u, s->host,
							   l->block));
			cJSON_AddNumberToObject(j, "shared_bytes",
						(double)l->shared_bytes);
			args = cJSON_AddArrayToObject(j, "arguments");
			for (int p = 0; p < l->kernel->params.n; p++) {
				cJSON_AddItemToArray(
					args,
					json_argument(&u, s->host, l->kernel,
						      &l->kernel->params
							       .data[p]));
			}
		}
	}
	json_put(out, root, true);
	strbuf_putc(out, '\n');
	cJSON_Delete(root);
	return true;
}
