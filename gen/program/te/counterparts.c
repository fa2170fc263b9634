/* SPDX-License-Identifier: Apache-2.0 */
/* Names of TVM that programs cannot use in tirc, each with a message that says
 * what to use instead. */
#include "te_parts.h"

static const struct {
	const char *name, *instead;
} counterparts[] = {
	{ "extern_primfunc", "a PrimFunc does not become a tensor; write it as "
			     "te.compute, or by tvm.tir.ir_builder" },
	{ "call_packed", "there is no registry of functions; "
			 "tir.call_extern(type, name, "
			 "buffer.access_ptr(\"r\"), …) calls a function of C" },
	{ "download_testdata", "a program has no network; put the file beside "
			       "the program, and give its name, to onnx.load "
			       "for a model" },
	{ "download", "a program has no network; put the file beside the "
		      "program, and give its name, to onnx.load for a model" },
};

bool
te_counterpart(struct call *c, struct pval *out)
{
	(void)out;
	for (size_t i = 0; i < sizeof counterparts / sizeof *counterparts;
	     i++) {
		if (strcmp(counterparts[i].name, c->row->name) == 0) {
			return call_error(c, -1, "%s() is not here: %s",
					  c->row->name,
					  counterparts[i].instead);
		}
	}
	return call_error(c, -1, "%s() is not here", c->row->name);
}
