/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as what a folder of tensor intrinsics says, beside a script and texts: a
 * refusal has a message. */
#define _DEFAULT_SOURCE
#include "fuzz_folder.h"

#include <string.h>

#include "intrinsics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char script[] =
	"from tvm.script import ir as I\n"
	"from tvm.script import tir as T\n"
	"@I.ir_module\n"
	"class Intrinsic:\n"
	"    @T.prim_func\n"
	"    def desc(y: T.handle):\n"
	"        Y = T.match_buffer(y, (8,), \"{{type}}\", strides=[1])\n"
	"        for i in range(8):\n"
	"            with T.sblock(\"fill\"):\n"
	"                vi = T.axis.spatial(8, i)\n"
	"                T.reads()\n"
	"                T.writes(Y[vi])\n"
	"                Y[vi] = T.Cast(\"{{type}}\", 0)\n"
	"    @T.prim_func\n"
	"    def impl(y: T.handle):\n"
	"        Y = T.match_buffer(y, (8,), \"{{type}}\", strides=[1])\n"
	"        T.evaluate(T.call_extern(\"void\", \"f\","
	" T.address_of(Y[0])))\n";
static const char text[] =
	"{{function}} {{name}}({{c_type}} *y) { {{twin}} }\n";

static void
make_folder(void)
{
	char path[96];

	snprintf(path, sizeof path, "%s/intrinsics", fuzz_folder());
	if (mkdir(path, 0700) != 0) {
		return; /* it is there */
	}
	strcat(path, "/fuzz");
	if (mkdir(path, 0700) != 0) {
		abort();
	}
	fuzz_write("intrinsics/fuzz/intrinsic.py", script, sizeof script - 1);
	fuzz_write("intrinsics/fuzz/twin.tmpl", text, sizeof text - 1);
	fuzz_write("intrinsics/fuzz/cuda.tmpl", text, sizeof text - 1);
}

static void
must_tell(const struct module *m, bool good)
{
	if (good != (m->diags.n_errors == 0)) {
		abort();
	}
}

/* What is only asked for by whoever schedules and prints. */
static void
use(struct module *m, const struct intrinsic_data *d)
{
	struct tensor_intrins known = { .arena = &m->arena };
	bool good = intrinsic_register(m, d, &known);

	for (int i = 0; i < d->symbols.n; i++) {
		const struct intrinsic_symbol *s = &d->symbols.data[i];

		for (int k = 0; k < s->texts.n; k++) {
			struct strbuf out;

			strbuf_init(&out);
			good &= intrinsic_text_print(m, s, &s->texts.data[k],
						     NULL, &out);
			strbuf_release(&out);
		}
	}
	must_tell(m, good);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *m = module_new();
	const struct intrinsic_set *set;

	make_folder();
	fuzz_write("intrinsics/fuzz/intrinsic.json", data, size);
	set = intrinsic_set_load(m, fuzz_folder());
	must_tell(m, set != NULL);
	for (int i = 0; set != NULL && i < set->list.n; i++) {
		if (set->list.data[i].own && m->diags.n_errors == 0) {
			use(m, &set->list.data[i]);
		}
	}
	module_free(m);
	return 0;
}
