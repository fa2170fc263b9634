/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind the public interface. */
#ifndef TIRC_CONTEXT_H
#define TIRC_CONTEXT_H

#include "add_pass.h"
#include "hooks.h"
#include "onnx_import.h"
#include "package.h"
#include "tirc.h"

/* One --schedule-for. */
struct by_hand {
	const char *kernel, *file;
	bool used;
	struct func *program; /* to be taken after the rules, */
	const char *mismatch; /* for it does not fit before */
};

struct tirc {
	struct tirc_options options;
	struct module *m;
	struct onnx_file *file;
	struct graph *graph;
	const struct target *target;
	const struct dialect *dialect;
	struct program program;
	struct package package;
	bool partitioned; /* the graph is past its cleaning passes */
	bool compiled;
	VEC(struct tirc_node) nodes;
	VEC(const char *) messages;
	VEC(struct tirc_source) sources;
	const char *const *targets;
	int n_targets;
	VEC(const struct backend *) backends; /* --byoc */
	VEC(struct user_pass) passes;         /* --add-pass */
	VEC(struct tirc_timing) timings;
	bool passes_open;
	VEC(struct by_hand) by_hand;
};

/* tirc_hooks.c: what the options want of the passes. False after a diagnostic
 * about an option. May be called more than once. */
bool context_hooks(struct tirc *t, struct pass_hooks *out);
void context_close_passes(struct tirc *t);
/* tirc_byoc.c: loads the backends of the options, once, for the graph. */
bool context_backends(struct tirc *t);
bool context_load_backends(struct tirc *t); /* not yet for a graph */
/* One that was loaded otherwise is closed with the others. */
void context_keep_backend(struct tirc *t, const struct backend *b);
void context_close_backends(struct tirc *t);
/* schedule_for.c: reads the options; is the hook of struct pass_hooks; has
 * every kernel that is named been found? */
bool context_schedules(struct tirc *t);
enum hook_schedule context_schedule(void *ctx, const char *kernel,
				    struct sched *s);
bool context_after_rules(void *ctx, const char *kernel, struct func *f);
bool context_schedules_used(struct tirc *t);
bool context_bad_option(struct tirc *t, const char *option, const char *value,
			const char *expected);

#endif
