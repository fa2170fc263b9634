/* SPDX-License-Identifier: Apache-2.0 */
/* script TARGET MODEL.onnx: every function of a model, printed in both
 * spellings, reads back as an equal one that prints as the same text: each
 * kernel as it was scheduled and after each lowering pass, and the entry. */
#include <stdio.h>

#include "../unit/check.h"
#include "dialects.h"
#include "kernel.h"
#include "kernels.h"
#include "onnx_import.h"
#include "script.h"

static void
show(const struct diags *diags)
{
	for (int i = 0; i < diags->list.n; i++) {
		struct strbuf text;

		strbuf_init(&text);
		diag_format(&diags->list.data[i], &text);
		fprintf(stderr, "%s\n", text.data);
		strbuf_release(&text);
	}
}

static void
check_func(const char *pass, const struct func *f)
{
	struct strbuf text;

	if (CHECK(func_verify_text(f))) {
		return;
	}
	strbuf_init(&text);
	func_print(f, SCRIPT_CURRENT, &text);
	fprintf(stderr, "%s after %s\n%s\n", f->name, pass, text.data);
	strbuf_release(&text);
}

static void
after_func(void *ctx, const char *pass, const struct func *f)
{
	(void)ctx;
	check_func(pass, f);
}

int
main(int argc, char **argv)
{
	struct module *m = module_new();
	struct pass_hooks hooks = { .after_func = after_func };
	struct import_options options = { 0 };
	struct onnx_file *file = NULL;
	struct program p = { 0 };
	const struct target *target;
	struct graph *g;

	if (argc != 3) {
		fprintf(stderr, "usage: %s target model.onnx\n", argv[0]);
		return 2;
	}
	target = target_load(m, argv[1], NULL);
	g = onnx_import(m, argv[2], &options, &file);
	if (!CHECK(target && g && graph_optimize(g, &hooks) &&
		   program_build(g, target, &hooks, &p))) {
		show(&m->diags);
		return 1;
	}
	for (int i = 0; i < p.kernels.n; i++) {
		check_func("phase 0",
			   kernel_unscheduled(&p, p.kernels.data[i]));
	}
	check_func("planning", p.entry);
	show(&m->diags);
	onnx_file_close(file);
	module_free(m);
	return check_done();
}
