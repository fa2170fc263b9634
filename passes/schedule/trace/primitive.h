/* SPDX-License-Identifier: Apache-2.0 */
/* The table of schedule primitives, and the one way to apply one. The C
 * functions of schedule.h, the Python form (gen/program/) and the JSON trace
 * all come through sched_apply, so they mean the same. */
#ifndef TIRC_PRIMITIVE_H
#define TIRC_PRIMITIVE_H

#include "func.h"
#include "index_map.h"

struct edit;
struct sched;

enum sched_value_kind {
	SV_NONE,  /* also: to be inferred, where a list of factors allows it */
	SV_BLOCK, /* id of a block's statement */
	SV_LOOP,  /* id of a loop's statement */
	SV_INT,
	SV_FLOAT,
	SV_BOOL,
	SV_STRING,
	SV_EXPR, /* over sizes and, for sampled values, constants */
	SV_MAP,  /* an index map; its forward direction alone counts */
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

enum sched_param_role {
	PARAM_PLAIN,
	/* Which buffer of the block given before: a number, or its name;
	 * the primitive gets the number, which is in range. */
	PARAM_READ_INDEX,
	PARAM_WRITE_INDEX,
	/* ("read", 0), ("write", 0), or the buffer's name; the primitive gets
	 * an SV_LIST of an SV_STRING and an SV_INT in range. TVM's trace has
	 * two attributes for it: the number, and 0 (read) or 1. */
	PARAM_BUFFER,
	PARAM_STAR,    /* f(*loops) in Python */
	PARAM_FACTORS, /* one by one among the inputs of TVM's trace */
	PARAM_DECISION /* of a sampling: made (e->decision) or given */
};

/* What a parameter accepts: bits of 1 << enum sched_value_kind, of elements
 * where it is a list. */
struct sched_param {
	const char *name; /* as in TVM's Python */
	unsigned accepts;
	bool is_list;
	bool is_input; /* TVM's trace holds it among inputs, not attributes */
	enum sched_param_role role;
	bool optional;
	struct sched_value initial; /* if optional */
};

/* Edits e->f; out starts as SV_NONE. args has one value per parameter, of an
 * accepted kind (defaults filled in; an integer where an expression is asked
 * is one; sampled values are replaced by what was decided); loops and blocks
 * are alive: edit_loop(e, args[0].u.id) is not NULL. False after edit_fail;
 * whatever was done is rolled back then. */
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

/* The rows of primitives.def. */
const struct primitive *sched_primitives(int *n);
const struct primitive *sched_primitive_find(const char *name);

/* Applies a primitive to checked arguments (one per parameter; n_args may be
 * smaller where the rest is optional), records the step with its results, or
 * reports on s->diags, leaves the program as it was and returns false. out may
 * be NULL. */
bool sched_apply(struct sched *s, const char *primitive,
		 const struct sched_value *args, int n_args,
		 struct sched_value *out);

/* What is written sch.get(v) in Python: a sampled value's expression with the
 * values decided put in. */
const struct expr *sched_get_value(struct sched *s, const struct expr *e);

struct sched_value sv_none(void);
struct sched_value sv_block(int id);
struct sched_value sv_loop(int id);
struct sched_value sv_int(int64_t v);
struct sched_value sv_float(double v);
struct sched_value sv_bool(bool v);
struct sched_value sv_string(const char *text);
struct sched_value sv_expr(const struct expr *e);
struct sched_value sv_map(const struct index_map *map);
/* Copies the items into the module's arena. */
struct sched_value sv_list(struct module *m, const struct sched_value *items,
			   int n);

#endif
