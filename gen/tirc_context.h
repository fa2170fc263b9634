/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind the public interface. */
#ifndef TIRC_CONTEXT_H
#define TIRC_CONTEXT_H

#include "emit.h"
#include "onnx_import.h"
#include "tirc.h"

struct tirc {
	struct tirc_options options;
	struct module *m;
	struct onnx_file *file;
	struct graph *graph;
	const struct target *target;
	const struct dialect *dialect;
	struct program program;
	struct package package;
	bool compiled;
	VEC(struct tirc_node) nodes;
	VEC(const char *) messages;
	const char *const *targets;
	int n_targets;
};

#endif
