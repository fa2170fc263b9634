/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_cases DIALECT CASE [FOLDER]: the source of a case (or of a program, a
 * file that ends with .py), on standard output, and in FOLDER all that it takes to run it: the source, launches.json, the
 * data of each parameter before (N.in) and after (N.want), and `plan`:
 *
 *	source vector_add.cl
 *	function vector_add
 *	buffer float32 4000         a parameter of the function, in bytes
 *	scalar 1000
 *	launch vector_add_kernel 32 1 1 32 1 1 0 1 2 3
 *
 * where a launch has its extents and which parameters it gets. */
#include <stdio.h>

#include "cases_run.h"
#include "emit.h"

static void
report(const struct module *m)
{
	for (int i = 0; i < m->diags.list.n; i++) {
		struct strbuf s;

		strbuf_init(&s);
		diag_format(&m->diags.list.data[i], &s);
		fprintf(stderr, "%s\n", s.data);
		strbuf_release(&s);
	}
}

static bool
write_file(struct gpu_run *r, const char *folder, const char *name,
	   const void *bytes, size_t n)
{
	const char *path = arena_printf(&r->m->arena, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	bool ok = file != NULL && fwrite(bytes, 1, n, file) == n;

	return file != NULL && fclose(file) == 0 && ok;
}

static void
plan_launch(struct gpu_run *r, const struct launch *l, struct strbuf *out)
{
	const struct func *host = r->split.host;

	strbuf_printf(out, "launch %s", l->kernel->name);
	for (int i = 0; i < 6; i++) {
		strbuf_printf(out, " %lld",
			      (long long)
				      gpu_run_value(r,
						    i < 3 ? l->grid[i]
							  : l->block[i - 3]));
	}
	for (int i = 0; i < l->kernel->params.n; i++) {
		for (int k = 0; k < host->params.n; k++) {
			if (host->params.data[k].var ==
			    l->kernel->params.data[i].var) {
				strbuf_printf(out, " %d", k);
			}
		}
	}
	strbuf_printf(out, "\n");
}

static bool
write_all(struct gpu_run *r, const char *folder, const char *source,
	  const struct strbuf *text, const struct strbuf *launches)
{
	const struct func *host = r->split.host;
	struct strbuf plan;
	bool ok = true;

	strbuf_init(&plan);
	strbuf_printf(&plan, "source %s\nfunction %s\n", source, host->name);
	for (int i = 0; i < host->params.n && ok; i++) {
		if (host->params.data[i].buffer == NULL) {
			strbuf_printf(&plan, "scalar %lld\n",
				      (long long)r->args[i].scalar);
			continue;
		}
		strbuf_printf(&plan, "buffer %s %lld\n",
			      dtype_name(host->params.data[i].buffer->type),
			      (long long)r->bytes[i]);
		ok = write_file(r, folder,
				arena_printf(&r->m->arena, "%d.in", i),
				r->args[i].data, (size_t)r->bytes[i]);
		if (i < r->plain->params.n) {
			ok = ok &&
			     write_file(r, folder,
					arena_printf(&r->m->arena, "%d.want",
						     i),
					r->want[i].data, (size_t)r->bytes[i]);
		}
	}
	for (int i = 0; i < r->split.n_launches; i++) {
		plan_launch(r, &r->split.launches[i], &plan);
	}
	ok = ok && write_file(r, folder, "plan", plan.data, plan.len) &&
	     write_file(r, folder, source, text->data, text->len) &&
	     write_file(r, folder, "launches.json", launches->data,
			launches->len);
	strbuf_release(&plan);
	return ok;
}

static bool
build(struct gpu_run *r, const char *name)
{
	const struct gpu_case *c = gpu_case_find(name);
	size_t n = strlen(name);

	if (n > 3 && strcmp(name + n - 3, ".py") == 0) {
		return gpu_run_program(r, name);
	}
	return c != NULL && gpu_run_build(r, c, false);
}

int
main(int argc, char **argv)
{
	struct strbuf text, launches;
	struct program_part part = { 0 };
	const struct dialect *d;
	struct gpu_run r;
	bool ok;

	if (argc < 3 || !build(&r, argv[2]) || !gpu_run_fill(&r)) {
		fprintf(stderr, "usage: gpu_cases DIALECT CASE [FOLDER]\n");
		return 1;
	}
	strbuf_init(&text);
	strbuf_init(&launches);
	d = dialect_load(r.m, argv[1], NULL);
	part.func = r.split.host;
	part.split = &r.split;
	ok = d != NULL &&
	     emit_program(r.m, d,
			  &(struct program_text){ .origin = "from the tests",
						  .stem = r.c->name,
						  .parts = &part,
						  .n = 1 },
			  &text, NULL) &&
	     emit_launches(r.m, d, &part, 1, &launches);
	if (ok) {
		fputs(text.data, stdout);
	}
	if (ok && argc > 3) {
		ok = write_all(&r, argv[3],
			       emit_program_name(r.m, d, part.func->name),
			       &text, &launches);
	}
	report(r.m);
	strbuf_release(&text);
	strbuf_release(&launches);
	module_free(r.m);
	return !ok;
}
