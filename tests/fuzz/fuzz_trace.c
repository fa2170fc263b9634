/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a trace: it is refused with one message, or its runs have what they
 * say, and each tensor is read as a tensor of a model with blocks of channels, a
 * halo and shifted bytes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "quota.h"
#include "traces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_record(struct module *m, const struct trace_record *r)
{
	int64_t elems = 1, before[4] = { 0, 0, 1, 1 },
		after[4] = { 0, 0, 1, 0 };
	struct tensor_layout layout = { .axis = 1,
					.block = 4,
					.before = before,
					.after = after,
					.filled = true };
	const struct expr *one = expr_i32(m, 1), *shape[4] = { one };
	struct tensor t = { .type = r->array.type, .ndim = 4, .shape = shape };
	struct array out;
	bool is_halo;

	for (int d = 0; d < r->array.ndim; d++) {
		elems = quota_times(elems, r->array.shape[d]);
	}
	if (r->kernel == NULL || r->array.name == NULL ||
	    elems != r->array.elems) {
		abort();
	}
	for (int d = 0; d < 4; d++) {
		shape[d] = var_new(m, "n", dtype_of(DT_I32))->expr;
	}
	traced_elements(&m->arena, &t, &r->array, &out, &is_halo);
	t.layout = &layout;
	traced_elements(&m->arena, &t, &r->array, &out, &is_halo);
	t.stored_offset = dtype_bytes(t.type) == 1 ? 128 : 0;
	traced_elements(&m->arena, &t, &r->array, &out, &is_halo);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	int fd = memfd_create("fuzz.trace", 0);
	struct trace trace;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (trace_read(m, path, &trace)) {
		for (int i = 0; i < trace.runs.n; i++) {
			const struct trace_run *run = &trace.runs.data[i];

			for (int k = 0; k < run->records.n; k++) {
				check_record(m, &run->records.data[k]);
			}
		}
		if (trace.runs.n == 0 || !trace_is(path)) {
			abort();
		}
	} else if (m->diags.n_errors != 1) {
		abort();
	}
	close(fd);
	module_free(m);
	return 0;
}
