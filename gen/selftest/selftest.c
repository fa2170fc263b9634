/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the self-test: a part for each type and vector type, a driver
 * that calls all parts, a header, a main program for machines with output, and
 * instructions. If kernels are launched from another language, a program in
 * that language lists the cells, and the self-test consists only of the
 * parts. */
#include "selftest.h"

#include "emit.h"
#include "selftest_cells.h"

#define LINE_VALUES 6

static const char tolerance_f32[] = "2e-6", tolerance_f64[] = "1e-13";

struct pack {
	struct module *m;
	const struct dialect *d;
	const struct dialect *host; /* the dialect in which the main program is
				     * written */
	struct tdata *data;         /* data for all templates */
	struct selftest *out;
};

static bool
add_file(struct pack *p, enum template_id id, const char *name,
	 const struct tdata *data)
{
	const struct dialect_template *t = &p->d->templates[id];
	struct selftest_file file = { name, NULL };
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = name != NULL &&
	     template_render(&p->m->diags, t->file, NULL, t->text, data, &s);
	if (ok) {
		file.text = arena_strdup(&p->m->arena, s.data);
		if (id != TEMPLATE_SELFTEST_README) {
			file.text = dialect_comments(p->d, &p->m->arena,
						     file.text, NULL);
		}
		vec_push(&p->m->arena, &p->out->files, file);
	}
	strbuf_release(&s);
	return ok;
}

/* -- data of a part -- */

/* The text of an element as a literal. If the type is only stored, the text is
 * that of the element's bits as an integer. */
static const char *
element_text(struct cell_part *part, struct dtype t, const void *data, int i)
{
	static const enum dtype_kind bits[] = { DT_U8, DT_U16 };

	if (part->u.d->types[t.kind].is_stored_only) {
		t = dtype_of(bits[dtype_bytes(t) - 1]);
		return arena_printf(&part->m->arena, "%llu",
				    (unsigned long long)number_load(t, data,
								    (size_t)i)
					    .u);
	}
	return unit_literal(&part->u, t, number_load(t, data, (size_t)i));
}

/* Has the array an element that has no literal, because it is an infinity or
 * NaN, so that its text is an expression? */
static bool
has_special(struct cell_part *part, struct dtype t, const void *values)
{
	bool special = false;

	for (int i = 0; i < CELL_VALUES && dtype_is_float(t) &&
			!part->u.d->types[t.kind].is_stored_only;
	     i++) {
		double v = number_load(t, values, (size_t)i).f;

		special |= v - v != 0.0;
	}
	return special;
}

/* Adds an array of values to the list "arrays" of data. given: the array is an
 * input of the cells, which on a device is filled at run time. */
static void
add_array(struct cell_part *part, struct tdata *data, const char *name,
	  struct dtype t, const void *values, bool given)
{
	struct tdata *item = tdata_item(data, "arrays");
	struct arena *a = &part->m->arena;

	unit_need_type(&part->u, t);
	given &= part->u.d->device.rejected == NULL;
	tdata_flag(item, "given", given);
	tdata_flag(item, "special", given || has_special(part, t, values));
	tdata_text(item, "name", name);
	tdata_text(item, "type", part->u.d->types[t.kind].spelling);
	for (int i = 0; i < CELL_VALUES; i += LINE_VALUES) {
		const char *line = "";

		for (int k = i; k < i + LINE_VALUES && k < CELL_VALUES; k++) {
			line = arena_printf(a, "%s%s%s", line,
					    k > i ? ", " : "",
					    element_text(part, t, values, k));
		}
		tdata_text(tdata_item(item, "values"), "line",
			   i + LINE_VALUES < CELL_VALUES
				   ? arena_printf(a, "%s,", line)
				   : line);
	}
}

/* Adds to the item the mask of the magnitude bits of t, a narrow float, and its
 * NaN patterns. */
static void
add_bits(struct tdata *item, struct dtype t)
{
	struct float_form f = dtype_float_form(t);
	int64_t sign = float_form_sign(f), low = sign, high = sign;
	bool one_zero = f.specials == SPECIALS_ONE_ZERO;

	if (!one_zero && f.specials != SPECIALS_FINITE) {
		low = (int64_t)float_form_highest(f) + 1 +
		      (f.specials == SPECIALS_IEEE);
		high = sign - 1;
	}
	tdata_int(item, "magnitude", one_zero ? 2 * sign - 1 : sign - 1);
	tdata_int(item, "nan_low", low);
	tdata_int(item, "nan_high", high);
}

static const char *
compare_name(struct cell_part *part, const struct cell *c)
{
	return arena_printf(&part->m->arena, "%s_%s", c->near ? "near" : "same",
			    dtype_short(c->out));
}

/* Adds the functions with which the test program compares results, for the
 * types in use. */
static void
add_compares(struct cell_part *part, struct tdata *data)
{
	const struct dialect *d = part->u.d;

	tdata_list(data, "compares");
	for (int i = 0; i < part->cells.n; i++) {
		const struct cell *c = &part->cells.data[i];
		const struct spelled_type *s = &d->types[c->out.kind];
		const char *name = compare_name(part, c);
		bool is_float = dtype_is_float(c->out), again = false;
		union number tolerance = { 0 }, tiny = { 0 }, zero = { 0 };
		struct tdata *item;

		for (int k = 0; k < i && !again; k++) {
			again = strcmp(compare_name(part, &part->cells.data[k]),
				       name) == 0;
		}
		if (again) {
			continue;
		}
		item = tdata_item(data, "compares");
		tdata_text(item, "name", name);
		tdata_text(item, "type", s->spelling);
		tdata_flag(item, "near", c->near);
		tdata_flag(item, "float", is_float);
		tdata_flag(item, "stored", s->is_stored_only && is_float);
		if (s->is_stored_only && is_float) {
			add_bits(item, c->out);
		} else if (is_float) {
			bool wide = dtype_bits(c->out) == 64;

			tolerance.f = wide                       ? 1e-13
				      : dtype_bits(c->out) == 32 ? 2e-6
								 : 0.01;
			tiny.f = wide                       ? 1e-300
				 : dtype_bits(c->out) == 32 ? 1e-37
							    : 1e-6;
			tdata_text(item, "tolerance",
				   unit_literal(&part->u, c->out, tolerance));
			tdata_text(item, "tiny",
				   unit_literal(&part->u, c->out, tiny));
			tdata_text(item, "zero",
				   unit_literal(&part->u, c->out, zero));
		}
	}
}

/* Names of the input arrays of a cell. */
static const char *const input_names[] = { "a", "b", "c", "plain" };

static int
input_of(const struct cell *c, int argument)
{
	return argument == 1 && c->no_zero ? 3 : argument;
}

static void
add_cell(struct cell_part *part, struct tdata *item, const struct cell *c)
{
	tdata_text(item, "name", c->name + strlen("cell_"));
	tdata_text(item, "type", part->u.d->types[c->out.kind].spelling);
	tdata_text(item, "function", compare_name(part, c));
	tdata_list(item, "arguments");
	for (int j = 0; j < 3; j++) {
		if (c->uses[j]) {
			tdata_text(tdata_item(item, "arguments"), "value",
				   input_names[input_of(c, j)]);
		}
	}
}

static void
add_cells(struct cell_part *part, struct tdata *data)
{
	unsigned char in[4][CELL_VALUES * 8];
	bool used[4] = { false };
	struct dtype t = dtype_of(part->type.kind);

	tdata_list(data, "cells");
	tdata_list(data, "arrays");
	for (int i = 0; i < part->cells.n; i++) {
		const struct cell *c = &part->cells.data[i];

		add_cell(part, tdata_item(data, "cells"), c);
		for (int j = 0; j < 3; j++) {
			used[input_of(c, j)] |= c->uses[j];
		}
	}
	cell_inputs(t, in);
	for (int j = 0; j < 4; j++) {
		if (used[j]) {
			add_array(part, data, input_names[j], t, in[j], true);
		}
	}
	for (int i = 0; i < part->cells.n; i++) {
		const struct cell *c = &part->cells.data[i];

		add_array(part, data,
			  arena_printf(&part->m->arena, "want_%s",
				       c->name + strlen("cell_")),
			  c->out, c->want, false);
	}
}

/* Adds to the list "parts" a row about the part, which the templates of the
 * other files use. */
static void
add_row(struct pack *p, struct cell_part *part, const char *name,
	const char *file)
{
	struct tdata *row = tdata_item(p->data, "parts");

	tdata_text(row, "part", name);
	tdata_text(row, "file", file);
	tdata_int(row, "threads", CELL_VALUES / part->type.lanes);
	unit_add_includes(&part->u, row);
	tdata_list(row, "cells");
	for (int i = 0; i < part->cells.n; i++) {
		add_cell(part, tdata_item(row, "cells"), &part->cells.data[i]);
	}
}

static bool
add_part(struct pack *p, struct dtype t)
{
	struct cell_part part = { .m = p->m, .type = t };
	struct tdata *data = tdata_new(&p->m->arena);
	struct arena *a = &p->m->arena;
	const char *name = t.lanes > 1 ? arena_printf(a, "%sx%d",
						      dtype_short(t), t.lanes)
				       : dtype_short(t);
	const char *file = emit_program_name(p->m, p->d,
					     arena_printf(a, "selftest_%s",
							  name));
	struct strbuf helpers;
	bool ok = true;

	unit_init(&part.u, p->m, p->d);
	strbuf_init(&part.text);
	strbuf_init(&helpers);
	if (t.lanes > 1 && (t.kind == DT_F16 || t.kind == DT_BF16)) {
		cells_of_halves(&part);
	} else if (t.lanes > 1) {
		cells_of_vectors(&part);
	} else {
		cells_of_type(&part);
	}
	tdata_outer(data, p->data);
	tdata_text(data, "part", name);
	if (part.text.len > 0) {
		/* removes the last newline, because the template adds one */
		part.text.data[part.text.len - 1] = '\0';
	}
	tdata_text(data, "text",
		   part.text.data != NULL ? arena_strdup(a, part.text.data)
					  : "");
	add_cells(&part, data);
	add_compares(&part, data);
	ok = !part.failed && unit_print_helpers(&part.u, &helpers);
	if (helpers.len > 0) {
		/* removes the last newline, because the template adds one */
		helpers.data[helpers.len - 1] = '\0';
	}
	tdata_text(data, "helpers",
		   helpers.data != NULL ? arena_strdup(a, helpers.data) : "");
	unit_add_includes(&part.u, data);
	for (int i = 0; i < part.rejected.n; i++) {
		tdata_text(tdata_item(p->data, "rejected"), "reason",
			   part.rejected.data[i]);
	}
	p->out->n_rejected += part.rejected.n;
	p->out->n_cells += part.cells.n;
	if (ok && part.cells.n > 0) {
		ok = add_file(p, TEMPLATE_SELFTEST, file, data);
		add_row(p, &part, name, file);
	}
	strbuf_release(&part.text);
	strbuf_release(&helpers);
	return ok;
}

static bool
is_tested(const struct dialect *d, int kind)
{
	struct dtype t = dtype_of((enum dtype_kind)kind);

	return (dtype_is_int(t) || dtype_is_float(t) || kind == DT_BOOL) &&
	       dialect_computes(t) && d->types[kind].rejected == NULL;
}

static bool
add_vectors(struct pack *p, const struct target *target)
{
	bool any = target != NULL && p->d->vectors.rejected == NULL;
	bool ok = true;

	for (int i = 0; ok && any && i < target->vectors.n; i++) {
		struct dtype t = target->vectors.data[i];

		if (CELL_VALUES % t.lanes != 0) {
			continue;
		}
		ok = add_part(p, t);
		if (ok && t.kind == DT_F32 && dialect_has_half_vectors(p->d)) {
			ok = add_part(p, (struct dtype){ DT_F16, t.lanes }) &&
			     add_part(p, (struct dtype){ DT_BF16, t.lanes });
		}
	}
	return ok;
}

/* The dialect in which the main program is written: d itself, or the language
 * that launches its kernels. NULL after a diagnostic. */
static const struct dialect *
host_of(struct module *m, const struct dialect *d)
{
	const struct device_forms *f = &d->device;
	struct diag_place place = { .file = d->file };

	if (f->rejected != NULL) {
		return d;
	}
	if (f->no_launch != NULL && f->host != NULL) {
		return dialect_load(m, f->host, d->dir);
	}
	if (f->no_launch != NULL) {
		diag_error(&m->diags, DIAG_UNSUPPORTED, place,
			   "no self-test: %s; write a host program for the "
			   "output of codegen",
			   f->no_launch);
		return NULL;
	}
	if (f->memory == NULL) {
		diag_error(&m->diags, DIAG_UNSUPPORTED, place,
			   "no self-test: /device/selftest does not define "
			   "the memory shared by host and device");
		return NULL;
	}
	return d;
}

static bool
add_program(struct pack *p)
{
	const char *name = emit_program_name(p->m, p->host, "main");

	tdata_text(p->data, "symbol", name);
	return (p->host != p->d ||
		(add_file(p, TEMPLATE_SELFTEST_HEADER,
			  emit_program_header_name(p->m, p->d, "selftest"),
			  p->data) &&
		 add_file(p, TEMPLATE_SELFTEST_ALL,
			  emit_program_name(p->m, p->d, "selftest"),
			  p->data))) &&
	       add_file(p, TEMPLATE_SELFTEST_MAIN, name, p->data) &&
	       add_file(p, TEMPLATE_SELFTEST_README, "README.md", p->data);
}

bool
selftest_build(struct module *m, const struct dialect *d,
	       const struct target *target, struct selftest *out)
{
	struct pack p = { .m = m,
			  .d = d,
			  .data = tdata_new(&m->arena),
			  .host = host_of(m, d),
			  .out = out };
	bool ok = p.host != NULL;

	tdata_text(p.data, "memory", d->device.memory);
	tdata_text(p.data, "wait", d->device.wait);
	tdata_text(p.data, "dialect", d->name);
	tdata_text(p.data, "description", d->description);
	tdata_int(p.data, "n", CELL_VALUES);
	tdata_text(p.data, "header",
		   emit_program_header_name(m, d, "selftest"));
	tdata_text(p.data, "file", emit_program_name(m, d, "selftest"));
	tdata_printf(p.data, "compiler", "%s %s",
		     target != NULL ? target->cc : "cc",
		     target != NULL ? target->cflags : "");
	tdata_text(p.data, "ldflags", target != NULL ? target->ldflags : "");
	tdata_text(p.data, "device_flags",
		   target != NULL ? target->device_cflags : "");
	tdata_text(p.data, "tolerance", tolerance_f32);
	tdata_text(p.data, "tiny", tolerance_f64);
	tdata_list(p.data, "parts");
	tdata_list(p.data, "rejected");
	for (int k = 0; ok && k < DT_COUNT; k++) {
		ok = !is_tested(d, k) ||
		     add_part(&p, dtype_of((enum dtype_kind)k));
	}
	ok = ok && add_vectors(&p, target);
	tdata_int(p.data, "count", out->n_cells);
	return ok && add_program(&p);
}
