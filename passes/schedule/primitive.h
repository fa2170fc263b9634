/* SPDX-License-Identifier: Apache-2.0 */
/* The table of schedule primitives, and the one way to apply one. The C
 * functions of schedule.h, the Python form (gen/program/) and the JSON trace
 * all come through sched_apply, so they mean the same. */
#ifndef TIRC_PRIMITIVE_H
#define TIRC_PRIMITIVE_H

#include "func.h"
#include "kernel.h"

struct edit;
struct sched;

enum sched_value_kind {
	SV_NONE,   /* also: to be inferred, where a list of factors allows it */
	SV_BLOCK,  /* id of a block's statement */
	SV_LOOP,   /* id of a loop's statement */
	SV_INT, SV_FLOAT, SV_BOOL, SV_STRING,
	SV_EXPR,   /* over sizes and, for sampled values, constants */
	SV_MAP,    /* an index map */
	SV_LIST
};

struct sched_value {
	enum sched_value_kind kind;
	union {
		int id;
		int64_t ival; /* SV_INT, SV_BOOL */
		double fval;
		const char *text;
		const struct expr *expr;
		const struct index_map *map;
	} u;
	const struct sched_value *items; /* SV_LIST */
	int n;
};

/* What a parameter accepts: bits of 1 << enum sched_value_kind, of elements
 * where it is a list. */
struct sched_param {
	const char *name; /* as in TVM's Python */
	unsigned accepts;
	bool is_list;
	bool is_input; /* TVM's trace holds it among inputs, not attributes */
	bool optional;
	struct sched_value initial; /* if optional */
};

/* Edits e->f; out starts as SV_NONE. False after edit_fail; whatever was done
 * is rolled back then. */
typedef bool primitive_fn(struct edit *e, const struct sched_value *args,
			  struct sched_value *out);

struct primitive {
	const char *name; /* "compute_at", the method of TVM's Schedule */
	const char *kind; /* "ComputeAt", TVM's name in traces */
	const char *what; /* one line for the docs */
	const struct sched_param *params;
	int n_params;
	bool is_query; /* changes nothing; recorded for its results */
	primitive_fn *apply;
};

const struct primitive *sched_primitives(int *n);
const struct primitive *sched_primitive_find(const char *name);

/* Applies a primitive to checked arguments (one per parameter; n_args may be
 * smaller where the rest is optional), records the step with its results, or
 * reports on s->diags, leaves the program as it was and returns false. out may
 * be NULL. */
bool sched_apply(struct sched *s, const char *primitive,
		 const struct sched_value *args, int n_args,
		 struct sched_value *out);

struct sched_value sv_block(int id);
struct sched_value sv_loop(int id);
struct sched_value sv_int(int64_t v);
struct sched_value sv_bool(bool v);
struct sched_value sv_string(const char *text);
struct sched_value sv_expr(const struct expr *e);
struct sched_value sv_map(const struct index_map *map);
/* Copies the items into the module's arena. */
struct sched_value sv_list(struct module *m, const struct sched_value *items,
			   int n);

#endif
