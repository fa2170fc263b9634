/* SPDX-License-Identifier: Apache-2.0 */
/* The table of schedule primitives, and sched_apply. The C functions of
 * schedule.h, the Python form (gen/program/) and the JSON trace all apply
 * primitives with it, so that they mean the same. */
#ifndef TIRC_PRIMITIVE_H
#define TIRC_PRIMITIVE_H

#include "func.h"
#include "index_map.h"

struct edit;
struct sched;

enum sched_value_kind {
	SV_NONE,  /* also a factor to be inferred */
	SV_BLOCK, /* the id of a block's statement */
	SV_LOOP,  /* the id of a loop's statement */
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
	/* A buffer of the block in the argument before: its index or name. The
	 * primitive gets a valid index. */
	PARAM_READ_INDEX,
	PARAM_WRITE_INDEX,
	/* ("read", 0), ("write", 0), or the buffer's name; the primitive gets
	 * an SV_LIST of an SV_STRING and an SV_INT in range. TVM's trace has
	 * two attributes instead: the index, and 0 (read) or 1 (write). */
	PARAM_BUFFER,
	PARAM_STAR,    /* f(*loops) in Python */
	PARAM_FACTORS, /* separate inputs in TVM's trace */
	PARAM_DECISION /* the decision of a sampling: in e->decision if it is
		        * given */
};

/* A parameter. accepts: the set of kinds of its values, or of the elements of a
 * list, as bits 1 << enum sched_value_kind. */
struct sched_param {
	const char *name; /* the name in TVM's Python */
	unsigned accepts;
	bool is_list;
	bool is_input; /* TVM's trace has it among the inputs, not the
		        * attributes */
	enum sched_param_role role;
	bool optional;
	struct sched_value initial; /* the default if it is optional */
};

/* Edits e->f; out starts as SV_NONE. args has one value for each parameter, of
 * an accepted kind: defaults are filled in, integers are made expressions if
 * the parameter is one, sampled values are replaced by their decisions, and
 * loops and blocks are checked: edit_loop(e, args[0].u.id) is not NULL. False
 * after edit_fail, with all edits undone. */
typedef bool primitive_fn(struct edit *e, const struct sched_value *args,
			  struct sched_value *out);

struct primitive {
	const char *name; /* "compute_at", the method of TVM's Schedule */
	const char *kind; /* "ComputeAt", TVM's name in traces */
	const char *what; /* one line for the docs */
	const struct sched_param *params;
	int n_params;
	bool is_query; /* the primitive changes nothing; it is recorded for its
		        * results */
	primitive_fn *apply;
};

/* The rows of primitives.def. */
const struct primitive *sched_primitives(int *n);
const struct primitive *sched_primitive_find(const char *name);

/* Checks the arguments (one for each parameter; optional ones at the end may be
 * missing), applies the primitive and records the step with its results. False
 * after an error in s->diags; then the program is unchanged. out may be
 * NULL. */
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
/* Copies the items into the module's arena. */
struct sched_value sv_list(struct module *m, const struct sched_value *items,
			   int n);

#endif
