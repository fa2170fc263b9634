/* SPDX-License-Identifier: Apache-2.0 */
/* The context behind the public interface. */
#ifndef TIRC_CONTEXT_H
#define TIRC_CONTEXT_H

#include "add_pass.h"
#include "firmware.h"
#include "hooks.h"
#include "onnx_import.h"
#include "package.h"
#include "tirc.h"

/* One --schedule-for. */
struct by_hand {
	const char *kernel, *file;
	bool used;
	struct func *program; /* adopted after the rules, */
	const char *mismatch; /* because of this mismatch before */
};

struct tirc {
	struct tirc_options options;
	struct module *m;
	struct onnx_file *file;
	struct graph *graph;
	struct settings settings;               /* of the graph */
	const struct const_input *const_inputs; /* of the options */
	const char *target_file; /* the partition that the target's text is of,
				  * or NULL */
	const struct target *target;
	const struct dialect *dialect;
	struct program program;
	struct package package;
	const struct firmware_kind *kind; /* NULL: no firmware package */
	bool partitioned; /* the passes before the partition have run */
	bool compiled;
	/* Of a package, once compiled: the tensors that a run leaves in the
	 * workspace, and whether integers alone take part in the computation
	 * of a tensor, by its id. */
	VEC(const struct placement *) left;
	const bool *exact;
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

/* tirc_hooks.c: sets the hooks that the options ask for. False after a
 * diagnostic about an option. May be called more than once. */
bool context_hooks(struct tirc *t, struct pass_hooks *out);
void context_close_passes(struct tirc *t);
/* tirc_byoc.c: loads the backends of the options, once, for the graph. */
bool context_backends(struct tirc *t);
bool context_load_backends(struct tirc *t); /* without a graph */
/* Closes a backend that was loaded elsewhere with the others. */
void context_keep_backend(struct tirc *t, const struct backend *b);
void context_close_backends(struct tirc *t);
/* tirc_states.c: finds the states of the options in the graph. */
bool context_states(struct tirc *t);
/* The value of state i after a run. */
const struct tensor *context_state_tensor(const struct tirc *t, int i);
/* tirc_left.c: fill t->left, and compute t->exact. */
void context_find_left(struct tirc *t);
const bool *context_exact(struct tirc *t);
/* tirc_info.c: a tensor of the interface. */
struct tirc_tensor context_tensor(struct tirc *t, const struct tensor *x);
/* schedule_for.c: reads the options; the hook of struct pass_hooks; checks that
 * every named kernel exists. */
bool context_schedules(struct tirc *t);
enum hook_schedule context_schedule(void *ctx, const char *kernel,
				    struct sched *s);
bool context_after_rules(void *ctx, const char *kernel, struct func *f);
bool context_schedules_used(struct tirc *t);
bool context_bad_option(struct tirc *t, const char *option, const char *value,
			const char *expected);
void context_progress(struct tirc *t, const char *step, int done, int total);

#endif
