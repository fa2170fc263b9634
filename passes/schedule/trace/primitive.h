/* SPDX-License-Identifier: Apache-2.0 */
/* The table of schedule primitives, and sched_apply. The C functions of
 * schedule.h, the Python form (gen/program/) and the JSON trace all apply
 * primitives with it, so that a step means the same in all of them. */
#ifndef TIRC_PRIMITIVE_H
#define TIRC_PRIMITIVE_H

#include "func.h"
#include "index_map.h"

struct edit;
struct sched;

enum sched_value_kind {
	SV_NONE,  /* no value; also a factor to be inferred */
	SV_BLOCK, /* the id of the statement that is the block */
	SV_LOOP,  /* the id of the statement that is the loop */
	SV_INT,
	SV_FLOAT,
	SV_BOOL,
	SV_STRING,
	SV_EXPR, /* an expression of sizes, constants and sampled values */
	SV_MAP,  /* an index map; only its forward direction counts */
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
	/* A buffer that the block in the argument before this one reads (or
	 * writes): its index among these or its name. The primitive gets a
	 * valid index. */
	PARAM_READ_INDEX,
	PARAM_WRITE_INDEX,
	/* ("read", 0), ("write", 0), or the buffer's name; the primitive gets
	 * an SV_LIST of an SV_STRING and an SV_INT in range. TVM's trace has
	 * two attributes instead: the index, and 0 (read) or 1 (write). */
	PARAM_BUFFER,
	/* a loop, LOOP_ROOT or LOOP_INLINE */
	PARAM_PLACE,
	PARAM_STAR,    /* in Python, the list is passed as f(*loops) */
	PARAM_FACTORS, /* in TVM's trace, the elements are separate inputs */
	/* the decision of a sampling; if the argument is given, it is put in
	 * e->decision */
	PARAM_DECISION
};

/* A parameter of a primitive. accepts: the set of the kinds that its value, or
 * each element of a list, may have, as bits 1 << enum sched_value_kind. */
struct sched_param {
	const char *name; /* the parameter's name in TVM's Python */
	unsigned accepts;
	bool is_list;
	/* in TVM's trace, the argument is among the inputs, not among the
	 * attributes */
	bool is_input;
	enum sched_param_role role;
	bool optional;
	/* the default value, if the parameter is optional */
	struct sched_value initial;
};

/* Applies a primitive: edits e->f; sets *out, which is SV_NONE before, to its
 * result. args has one value for each parameter, of an accepted kind: defaults
 * are filled in, integers are converted to expressions if the parameter is an
 * expression, sampled values are replaced by their decisions, and loops and
 * blocks are checked: edit_loop(e, args[0].u.id) is not NULL. False after
 * edit_fail, with all edits undone. */
typedef bool primitive_fn(struct edit *e, const struct sched_value *args,
			  struct sched_value *out);

struct primitive {
	const char *name; /* the method of TVM's Schedule, "compute_at" */
	/* TVM's name for the primitive in traces, "ComputeAt" */
	const char *kind;
	/* what the primitive does, as one line for the docs */
	const char *what;
	const struct sched_param *params;
	int n_params;
	/* the primitive changes nothing, and is recorded because later steps
	 * use its results */
	bool is_query;
	/* the primitive's result is a list, even if it has one item */
	bool gives_list;
	primitive_fn *apply;
};

/* The table of primitives, which are the rows of primitives.def; sets *n to
 * their number. */
const struct primitive *sched_primitives(int *n);
const struct primitive *sched_primitive_find(const char *name);

/* Checks the arguments (one for each parameter; optional ones at the end may be
 * missing), applies the primitive, and records the step with its results. Sets
 * *out to the primitive's result. False after an error in s->diags; then the
 * program is unchanged. out may be NULL. */
bool sched_apply(struct sched *s, const char *primitive,
		 const struct sched_value *args, int n_args,
		 struct sched_value *out);

/* sch.get(v) in Python: the expression e with sampled values replaced by the
 * values decided for them. */
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
/* A value that is a list of the n items, which are copied to the module's
 * arena. */
struct sched_value sv_list(struct module *m, const struct sched_value *items,
			   int n);

#endif
