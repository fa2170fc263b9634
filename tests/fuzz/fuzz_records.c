/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of records: each record is printed and read again, drawn, and
 * its trace applied to a kernel, which stays sound, and as it was after a
 * refusal. The golden records of tests/exec/tool are of this kernel. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record_apply.h"
#include "records_plot.h"
#include "script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char kernel[] =
	"@T.prim_func\n"
	"def product(x: T.Buffer((24, 32), \"float32\"),\n"
	"            w: T.Buffer((32, 96), \"float32\"),\n"
	"            y: T.Buffer((24, 96), \"float32\")):\n"
	"    matmul = T.sblock_alloc_buffer((24, 96), \"float32\")\n"
	"    for i, j, k in T.grid(24, 96, 32):\n"
	"        with T.sblock(\"matmul\"):\n"
	"            v_i, v_j, v_k = T.axis.remap(\"SSR\", [i, j, k])\n"
	"            with T.init():\n"
	"                matmul[v_i, v_j] = T.float32(0)\n"
	"            matmul[v_i, v_j] = matmul[v_i, v_j] + "
	"x[v_i, v_k] * w[v_k, v_j]\n"
	"    for i_1, j_1 in T.grid(24, 96):\n"
	"        with T.sblock(\"map\"):\n"
	"            v_i_1, v_j_1 = T.axis.remap(\"SS\", [i_1, j_1])\n"
	"            y[v_i_1, v_j_1] = T.max(matmul[v_i_1, v_j_1], "
	"T.float32(0))\n";

static void
read_bytes(struct module *m, const void *data, size_t size, struct records *out)
{
	char path[64];
	int fd = memfd_create("fuzz.jsonl", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!records_read(m, path, out) && m->diags.n_errors == 0) {
		abort();
	}
	close(fd);
}

/* What is printed is the record that was read. */
static void
print_again(struct module *m, const struct record *r)
{
	struct records again = { 0 };
	struct strbuf text;

	strbuf_init(&text);
	record_print(r, &text);
	read_bytes(m, text.data, text.len, &again);
	if (again.list.n != 1 || again.n_bad != 0 ||
	    strcmp(again.list.data[0].workload, r->workload) != 0 ||
	    again.list.data[0].n_decisions != r->n_decisions ||
	    (again.list.data[0].error != NULL) != (r->error != NULL)) {
		abort();
	}
	strbuf_release(&text);
}

static bool
takes_all(void *ctx, const char *by, const struct func *f)
{
	(void)ctx;
	(void)by;
	(void)f;
	return true;
}

static void
apply(const struct record *r)
{
	struct module *m = module_new();
	const struct source src = { "kernel.py", kernel, sizeof kernel - 1 };
	struct sched s;
	const char *why;

	if (!script_read(m, &src)) {
		abort();
	}
	sched_init(&s, m->funcs.data[0]);
	why = record_apply(m, r, &s, takes_all, NULL);
	if (!func_verify(s.func) || m->diags.n_errors != 0 ||
	    (why != NULL && s.trace.n != 0)) {
		abort();
	}
	module_free(m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	struct records list = { 0 };
	struct strbuf text;

	read_bytes(m, data, size, &list);
	strbuf_init(&text);
	if (records_plot(&m->arena, &list, &text) != (list.list.n > 0)) {
		abort();
	}
	strbuf_release(&text);
	for (int i = 0; i < list.list.n; i++) {
		const struct record *r = &list.list.data[i];

		print_again(m, r);
		record_words(&m->arena, r->decisions, r->n_decisions);
		if (r->error == NULL) {
			apply(r);
		}
	}
	module_free(m);
	return 0;
}
