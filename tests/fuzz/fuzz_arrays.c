/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of arrays: .npy, .npz and .pb. What is read has the bytes
 * that its shape says; a refusal has a message. */
#define _GNU_SOURCE

#include "arrays.h"
#include "fuzz_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

/* Small arrays of any type. */
static enum array_use
is_small(void *ctx, const struct array *x, int n)
{
	struct module *m = ctx;

	(void)n;
	if (x->elems <= 1 << 20) {
		return ARRAY_TAKEN;
	}
	diag_error(&m->diags, DIAG_UNSUPPORTED,
		   (struct diag_place){ .item = x->name }, "is large");
	return ARRAY_REFUSED;
}

static void
touch(const struct array *x)
{
	const unsigned char *bytes = x->data;
	int64_t elems = 1, n;

	for (int d = 0; d < x->ndim; d++) {
		if (x->shape[d] < 0) {
			abort();
		}
		elems = x->shape[d] == 0 ? 0 : elems;
	}
	for (int d = 0; d < x->ndim && elems > 0; d++) {
		elems *= x->shape[d];
	}
	n = x->elems * dtype_bytes(x->type);
	if (x->elems != elems || x->name == NULL) {
		abort();
	}
	for (int64_t i = 0; i < n; i++) {
		sink = (unsigned char)(sink + bytes[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = { "a.npy", "a.npz", "a.pb" };
	char path[128];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct module *m = module_new();
		struct array_filter filter = { is_small, m };
		struct array *list = NULL;
		int n = 0;

		fuzz_write(files[i], data, size);
		snprintf(path, sizeof path, "%s/%s", fuzz_folder(), files[i]);
		if (arrays_read(m, path, &filter, &list, &n)) {
			for (int k = 0; k < n; k++) {
				touch(&list[k]);
			}
		} else if (m->diags.n_errors == 0) {
			abort();
		}
		module_free(m);
	}
	return 0;
}
