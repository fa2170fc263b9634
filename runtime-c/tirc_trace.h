/* SPDX-License-Identifier: MIT-0 */
/* Writes the trace of a model that `tirc compile --trace` wrote, for
 * `tirc compare`:
 *
 *	static void
 *	put(void *out, const char *bytes, size_t n)
 *	{
 *		fwrite(bytes, 1, n, out);          or: to the serial port
 *	}
 *
 *	struct tirc_trace trace = { .put = put, .out = stdout };
 *
 *	config.trace = tirc_trace_tensor;
 *	config.trace_context = &trace;
 *	net_init(&m, &config);
 *	tirc_trace_begin(&trace, "net", NET_MODEL_DIGEST);
 *	net_run(&m, &in, &out);
 *	tirc_trace_end(&trace);
 *
 * C99, no heap, no stdio, no variables of its own. Instances of a model may
 * write at once, each by its own struct tirc_trace. */
#ifndef TIRC_TRACE_H
#define TIRC_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tirc_trace {
	/* Writes n bytes. The bytes are lines of printable ASCII; with `raw`,
	 * the elements of tensors are among them as they lie in memory. */
	void (*put)(void *out, const char *bytes, size_t n);
	void *out;
	int raw; /* 0: elements as hexadecimal digits; else as raw bytes */
	unsigned long tensors; /* written since tirc_trace_begin() */
	uint32_t check;        /* of the present tensor */
};

/* Begins a run. model: its name, without spaces; digest: the header's
 * NET_MODEL_DIGEST, or "" */
void tirc_trace_begin(struct tirc_trace *t, const char *model,
		      const char *digest);
/* For the member `trace` of a model's configuration; trace_context: the struct
 * tirc_trace. Writes one tensor. */
void tirc_trace_tensor(void *trace_context, const char *kernel,
		       const char *tensor, const char *type, int32_t rank,
		       const int64_t *sizes, const void *data, size_t bytes);
/* Ends the run. */
void tirc_trace_end(struct tirc_trace *t);

#ifdef __cplusplus
}
#endif

#endif
