/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of runs of models (compile --trace), as runtime-c/tirc_trace.c writes
 * them; docs/reference/traces.md describes the format. */
#ifndef TIRC_TRACES_H
#define TIRC_TRACES_H

#include "kernel.h"
#include "onnx_import.h"

/* A tensor of a run, as it lay in memory. */
struct trace_record {
	const char *kernel; /* that wrote it; "" for an input or a state */
	/* the sizes in memory, and the elements in this machine's byte order;
	 * array.name is the tensor's name */
	struct array array;
	int line; /* in the file */
};

struct trace_run {
	const char *model, *digest; /* "" if it is not known */
	VEC(struct trace_record) records;
	int line;
};

struct trace {
	const char *file;
	VEC(struct trace_run) runs; /* at least one */
};

/* Does the file have a line with which a run of a trace begins? False also if
 * it cannot be read. */
bool trace_is(const char *path);
/* Reads a trace, which may have other lines before its first run and between
 * runs. False after a diagnostic. */
bool trace_read(struct module *m, const char *path, struct trace *out);

/* A tensor that a traced program shows. */
struct traced {
	const struct kernel *kernel; /* NULL for an input or a state */
	int index;                   /* of the kernel in the program; -1 */
	const struct tensor *tensor;
};

struct traced_list {
	VEC(struct traced) list;
};

/* The tensors that a run of p shows, in order, if p has no branches and no
 * loops. */
void traced_find(struct arena *a, const struct program *p,
		 struct traced_list *out);
/* Sets *out to the elements of a tensor that lie in memory as `stored` says:
 * row-major, and as the model has them. Returns NULL; else why `stored` is not
 * the tensor, as "has sizes [1,6], where the program has [1,8]", or the first
 * element of the halo with another value than the halo has, as "has 3 beside
 * element [0,1,0,0], where the program has 0". *is_halo tells which. */
const char *traced_elements(struct arena *a, const struct tensor *t,
			    const struct array *stored, struct array *out,
			    bool *is_halo);

#endif
