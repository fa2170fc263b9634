/* SPDX-License-Identifier: Apache-2.0 */
#include "cases_run.h"

#include <stdio.h>

#include "lower.h"
#include "program.h"

#define SIZES                                                                  \
	{                                                                      \
		33, 1000, 40                                                   \
	} /* of m, n and any other */

/* What a thread may load or store at once. */
enum { WIDE_BYTES = 16 };

static void
report(const struct diags *d)
{
	for (int i = 0; i < d->list.n; i++) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&d->list.data[i], &s);
		fprintf(stderr, "%s\n", s.data);
		strbuf_release(&s);
	}
}

static void
show(const struct func *f)
{
	struct strbuf out;

	strbuf_init(&out);
	func_print(f, SCRIPT_CURRENT, &out);
	fprintf(stderr, "%s\n", out.data);
	strbuf_release(&out);
}

static void
show_pass(void *ctx, const char *pass, const struct func *f)
{
	(void)ctx;
	fprintf(stderr, "# after %s\n", pass);
	show(f);
}

bool
gpu_run_build(struct gpu_run *r, const struct gpu_case *c, bool print)
{
	struct pass_hooks hooks = { .after_func = show_pass };
	struct sched s;
	struct func *f;

	memset(r, 0, sizeof *r);
	r->m = module_new();
	r->c = c;
	f = c->make(r->m, c);
	r->plain = func_clone(f,
			      arena_printf(&r->m->arena, "%s_plain", f->name));
	sched_init(&s, f);
	if (!c->schedule(&s)) {
		report(&s.diags);
		return false;
	}
	if (print) {
		show(f);
	}
	if (!lower_func(f, print ? &hooks : NULL) ||
	    !lower_split_host_device(r->m, f, NULL, NULL, &r->split)) {
		report(&r->m->diags);
		return false;
	}
	for (int i = 0; i < r->m->funcs.n; i++) {
		if (print) {
			show(r->m->funcs.data[i]);
		}
		if (!func_verify(r->m->funcs.data[i])) {
			report(&r->m->diags);
			return false;
		}
	}
	return true;
}

static bool
read_source(struct gpu_run *r, const char *path, struct source *out)
{
	FILE *f = fopen(path, "rb");
	struct strbuf s;
	int c;

	strbuf_init(&s);
	while (f && (c = getc(f)) != EOF) {
		strbuf_putc(&s, (char)c);
	}
	out->name = path;
	out->length = s.len;
	out->text = arena_copy(&r->m->arena, s.data ? s.data : "", s.len + 1);
	strbuf_release(&s);
	return f && fclose(f) == 0;
}

bool
gpu_run_program(struct gpu_run *r, const char *path)
{
	static const struct gpu_case any = {
		.name = "program",
		.sizes = SIZES,
		.symbolic = true,
	};
	const char *slash = strrchr(path, '/');
	struct program_options o = { 0 };
	struct program_result all;
	struct source src;
	struct func *f = NULL;

	memset(r, 0, sizeof *r);
	r->m = module_new();
	r->c = &any;
	o.stem = arena_strdup(&r->m->arena, slash ? slash + 1 : path);
	if (!read_source(r, path, &src) || !program_run(r->m, &src, &o, &all)) {
		report(&r->m->diags);
		return false;
	}
	for (int i = 0; i < all.funcs.n; i++) {
		struct func *g = func_clone(all.funcs.data[i].func, "program");

		g->facts.wide_bytes = WIDE_BYTES;
		if ((all.funcs.data[i].stage < PROGRAM_LOWERED &&
		     !program_lower(g, 3, false, NULL))) {
			report(&r->m->diags);
			return false;
		}
		if (lower_has_threads(g)) {
			f = g;
			r->plain = all.funcs.data[i].plain;
		}
	}
	/* CUDA and OpenCL load and store vectors, and compute lane by lane */
	if (!f || !r->plain ||
	    (lower_has_vectors(f) && !lower_lane_loops(f, true)) ||
	    !lower_split_host_device(r->m, f, NULL, NULL, &r->split)) {
		report(&r->m->diags);
		return false;
	}
	return true;
}

static int64_t
scalar_of(const struct gpu_run *r, const char *name)
{
	return r->c->sizes[name[0] == 'm' ? 0 : name[0] == 'n' ? 1 : 2];
}

int64_t
gpu_run_value(struct gpu_run *r, const struct expr *e)
{
	const struct func *f = r->split.host;
	struct analyser a;
	int64_t v = -1;

	analyser_init(&a, r->m);
	for (int i = 0; i < f->params.n; i++) {
		struct var *from = f->params.data[i].var;

		if (!f->params.data[i].buffer) {
			const struct expr *to = expr_int(r->m, from->type,
							 scalar_of(r,
								   from->name));
			struct var_map map = { &from, &to, 1 };

			e = expr_substitute(r->m, e, &map);
		}
	}
	expr_is_int(simplify(&a, e), &v);
	return v;
}

static int64_t
bytes_of(struct gpu_run *r, const struct buffer *b)
{
	int64_t elems = 1;

	for (int d = 0; d < b->ndim; d++) {
		elems *= gpu_run_value(r, b->shape[d]);
	}
	return elems * dtype_bytes(b->type);
}

bool
gpu_run_fill(struct gpu_run *r)
{
	const struct func *f = r->split.host;
	struct arena *a = &r->m->arena;
	uint32_t state = 1;

	r->n = f->params.n;
	r->args = arena_array(a, struct run_arg, r->n);
	r->want = arena_array(a, struct run_arg, r->n);
	r->bytes = arena_array(a, int64_t, r->n);
	for (int i = 0; i < r->n; i++) {
		const struct param *p = &f->params.data[i];
		void *data;

		if (!p->buffer) {
			r->args[i].scalar = scalar_of(r, p->var->name);
			r->want[i] = r->args[i];
			continue;
		}
		r->bytes[i] = bytes_of(r, p->buffer);
		data = arena_alloc(a, (size_t)r->bytes[i] + 8);
		for (int64_t k = 0;
		     k < r->bytes[i] / dtype_bytes(p->buffer->type); k++) {
			union number v = { .i = 0 };
			int small;

			state = state * 1103515245u + 12345u;
			small = (int)(state >> 16) % 9 - 4;
			if (dtype_is_float(p->buffer->type)) {
				v.f = small;
			} else {
				v.i = small;
			}
			number_store(p->buffer->type, data, (size_t)k, v);
		}
		r->args[i].data = data;
		r->want[i].data = arena_copy(a, data, (size_t)r->bytes[i] + 8);
	}
	/* The definition has no intermediate buffers as parameters. */
	if (!interp_run(r->plain, r->want, r->plain->params.n)) {
		report(&r->m->diags);
		return false;
	}
	return true;
}
