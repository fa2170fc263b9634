/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: immutable, hash-consed in the module. Two expressions are
 * structurally equal if and only if their pointers are equal. But equal LOADs
 * need not have equal values if there is a store between them. The interner
 * (expr_make) never rewrites; the builders (expr_add, …) fold constants and
 * drop neutral elements. */
#ifndef TIRC_EXPR_H
#define TIRC_EXPR_H

#include "module.h"

enum expr_kind {
#define EXPR(id, payload, n, script, prec) EXPR_##id,
#include "expr.def"
#undef EXPR
	EXPR_KIND_COUNT
};

enum intrin {
#define INTRIN(id, name, n, effect, result) INTRIN_##id,
#include "intrin.def"
#undef INTRIN
	INTRIN_COUNT
};

struct buffer;
struct reducer;

/* A variable is identified by its address: two variables may have the same
 * name. min and max are the bounds of the variable's value, if they are known;
 * for a variable of a dimension, its declared bounds. */
struct var {
	const char *name;
	struct dtype type;
	/* ids increase in the order of creation; each is unique in the
	 * module */
	int id;
	const struct expr *expr; /* the VAR node of this variable */
	/* the variable is a symbolic size, bounded by min..max */
	bool is_dim;
	/* min > max: the bounds are not known; max INT64_MAX: no upper bound */
	int64_t min, max;
};

/* An operation on n values (n > 1 for argmax), taken to be commutative and
 * associative. result[k] is value k of the combination of lhs[0..n) and
 * rhs[0..n); identity[k] is value k of the neutral element. */
struct reducer {
	const char *name; /* "sum", "max", "min", "prod", or the user's */
	int n;
	struct var **lhs, **rhs;
	const struct expr **result;
	const struct expr **identity;
};

enum iter_kind { ITER_SPATIAL, ITER_REDUCE, ITER_SCAN, ITER_OPAQUE };

/* A variable that iterates over a domain, with min <= var < min + extent.
 * Kinds: spatial, a reduction, SCAN: iterations run in order, OPAQUE: it is not
 * known which. */
struct iter_var {
	struct var *var;
	const struct expr *min, *extent;
	enum iter_kind kind;
};

struct reduction {
	const struct reducer *reducer;
	struct iter_var *axes;
	int n_axes;
	/* which of the reducer's results this expression is */
	int index;
	/* the condition under which an iteration is part of the reduction;
	 * NULL: every iteration is */
	const struct expr *condition;
	/* the initial values of the results; NULL: the reducer's identity
	 * elements */
	const struct expr *const *init;
};

struct expr {
	enum expr_kind kind;
	struct dtype type;
	uint32_t hash;
	uint32_t id; /* increases in the order of creation, which is
		      * deterministic */
	int n_args;
	bool loads; /* is a LOAD in the expression? */
	/* Bit id % 64 is 1 for each variable in the expression: the expression
	 * does not use a variable whose bit (var_bit) is 0. */
	uint64_t var_bits;
	union {
		int64_t ival;
		double fval;
		const char *text;
		struct var *var;
		const struct buffer *buffer;
		enum intrin intrin;
		const struct reduction *reduce;
	} u;
	const struct expr *args[];
};

/* Facts about kinds of expressions and intrinsics, from the columns of expr.def
 * and intrin.def. */
const char *expr_kind_name(enum expr_kind kind);
int expr_kind_arity(enum expr_kind kind); /* -1: any number */
const char *intrin_name(enum intrin op);
int intrin_arity(enum intrin op);
bool intrin_is_pure(enum intrin op);
/* How the type of a call follows from the intrinsic: it is the type of the
 * first argument, bool, void, or a type that the caller gives. */
enum intrin_result { RESULT_SAME, RESULT_BOOL, RESULT_VOID, RESULT_OTHER };
enum intrin_result intrin_result(enum intrin op);
/* is the result of the intrinsic an element's address? */
bool intrin_is_address(enum intrin op);

/* The groups of arguments of a COPY_BOX, each with one argument per
 * dimension. */
enum box_part { BOX_SIZE, BOX_STRIDE, BOX_FIRST, BOX_EXTENT, BOX_PARTS };

/* The number of dimensions of a COPY_BOX with these arguments; 0 if they are
 * not valid. */
int copy_box_rank(const struct expr *const *args, int n);
const struct expr *copy_box_part(const struct expr *copy, enum box_part part,
				 int dim);
bool intrin_from_name(const char *name, enum intrin *out);

/* The interner, through which every node is made. Returns the node with the
 * kind, type and u of `payload` and with these args; makes a new node only if
 * no such node exists. */
const struct expr *expr_make(struct module *m, const struct expr *payload,
			     const struct expr *const *args, int n_args);

struct var *var_new(struct module *m, const char *name, struct dtype type);
/* A new variable for a symbolic size in [min, max], of type i32, or i64 if max
 * does not fit in i32. */
struct var *var_new_dim(struct module *m, const char *name, int64_t min,
			int64_t max);

/* Leaves. */
const struct expr *expr_int(struct module *m, struct dtype t, int64_t v);
const struct expr *expr_i32(struct module *m, int64_t v);
/* An index constant: i32 if v fits, else i64. */
const struct expr *expr_index(struct module *m, int64_t v);
const struct expr *expr_float(struct module *m, struct dtype t, double v);
/* v as a literal of type t: a float, an integer or a bool. */
const struct expr *expr_const(struct module *m, struct dtype t, double v);
const struct expr *expr_bool(struct module *m, bool v);
const struct expr *expr_string(struct module *m, const char *text);

/* Builders. Those with two operands first unify the types: an integer literal
 * takes the type of the other operand; i32 with i64 gives i64; other mixes are
 * a bug (assert). Comparisons give bool. They fold constants and x+0, x*1, x*0
 * (ints), x&&true, …. */
const struct expr *expr_binary(struct module *m, enum expr_kind kind,
			       const struct expr *a, const struct expr *b);
const struct expr *expr_add(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_sub(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_mul(struct module *m, const struct expr *a,
			    const struct expr *b);
/* A product of sizes or strides: a constant that leaves int32 has type i64. */
const struct expr *expr_mul_sizes(struct module *m, const struct expr *a,
				  const struct expr *b);
const struct expr *expr_div(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_floordiv(struct module *m, const struct expr *a,
				 const struct expr *b);
const struct expr *expr_floormod(struct module *m, const struct expr *a,
				 const struct expr *b);
const struct expr *expr_min(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_max(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_eq(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *expr_lt(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *expr_le(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *expr_and(struct module *m, const struct expr *a,
			    const struct expr *b);
const struct expr *expr_or(struct module *m, const struct expr *a,
			   const struct expr *b);
const struct expr *expr_not(struct module *m, const struct expr *a);
const struct expr *expr_neg(struct module *m, const struct expr *a);
const struct expr *expr_select(struct module *m, const struct expr *c,
			       const struct expr *a, const struct expr *b);
const struct expr *expr_if(struct module *m, const struct expr *c,
			   const struct expr *a, const struct expr *b);
const struct expr *expr_cast(struct module *m, struct dtype t,
			     const struct expr *a);
const struct expr *expr_load(struct module *m, const struct buffer *b,
			     const struct expr *const *index, int n);
const struct expr *expr_call(struct module *m, enum intrin op, struct dtype t,
			     const struct expr *const *args, int n);
/* expr_call1 and expr_call2: a call of op with one argument, and with two,
 * whose types are unified. The type of the call is the one that enum
 * intrin_result gives for op, which must not be RESULT_OTHER. */
const struct expr *expr_call1(struct module *m, enum intrin op,
			      const struct expr *a);
const struct expr *expr_call2(struct module *m, enum intrin op,
			      const struct expr *a, const struct expr *b);
/* The list [items…] as the value of an annotation (items may be lists). */
const struct expr *expr_list(struct module *m, const struct expr *const *items,
			     int n);
bool expr_is_list(const struct expr *e);
const struct expr *expr_ramp(struct module *m, const struct expr *base,
			     const struct expr *stride, int lanes);
const struct expr *expr_broadcast(struct module *m, const struct expr *a,
				  int lanes);
const struct expr *expr_reduce(struct module *m, const struct reduction *r,
			       const struct expr *const *sources, int n);

/* Room in an arena for n expressions. */
#define arena_exprs(a, n) arena_array((a), const struct expr *, (n))

/* Queries. */
bool expr_is_int(const struct expr *e, int64_t *v); /* an INT? sets *v */
/* Is e a commutative, associative operator: +, *, min, max or fmax? */
bool expr_combines(const struct expr *e);
bool expr_is_extreme(const struct expr *e); /* min, max or fmax */
bool expr_is_isnan_of(const struct expr *e,
		      const struct expr *x);         /* isnan(x)? */
bool expr_is_value(const struct expr *e, int64_t v); /* this INT literal? */
/* Can t represent the value of the literal e, an INT or a FLOAT? A float type
 * can represent, rounded, the values up to its largest finite value, infinities
 * and NaN. */
bool expr_literal_fits(const struct expr *e, struct dtype t);
bool expr_uses_var(const struct expr *e, const struct var *v);
/* The bit in expr.var_bits that stands for the variable v. */
static inline uint64_t
var_bit(const struct var *v)
{
	return (uint64_t)1 << (v->id & 63);
}
bool expr_uses_buffer(const struct expr *e, const struct buffer *b);

/* Calls visit once on e and on every distinct node below it, children first. */
void expr_visit(const struct expr *e,
		void (*visit)(void *ctx, const struct expr *e), void *ctx);

/* Rebuilds e with the folding builders. pre is called on each original node
 * before its children. It returns the replacement of the node, or NULL: then
 * the node is rebuilt with its rewritten args. Each shared node is rewritten
 * once. */
const struct expr *expr_rewrite(struct module *m, const struct expr *e,
				const struct expr *(*pre)(void *ctx,
							  const struct expr *e),
				void *ctx);
/* Replaces each node from[i] in e by to[i]. */
const struct expr *expr_replace(struct module *m, const struct expr *e,
				const struct expr *const *from,
				const struct expr *const *to, int n);
/* Rebuilds a node with new args through the builders. */
const struct expr *expr_rebuild(struct module *m, const struct expr *e,
				const struct expr *const *args);

struct var_map {
	struct var **from;
	const struct expr **to;
	int n;
};
const struct expr *expr_substitute(struct module *m, const struct expr *e,
				   const struct var_map *map);
/* Returns e with each LOAD of the buffer `from` replaced by a LOAD of the
 * buffer `to` with the same indices. */
const struct expr *expr_replace_buffer(struct module *m, const struct expr *e,
				       const struct buffer *from,
				       const struct buffer *to);

/* Built-in reducers over one value of type t. */
const struct reducer *reducer_sum(struct module *m, struct dtype t);
const struct reducer *reducer_prod(struct module *m, struct dtype t);
const struct reducer *reducer_max(struct module *m, struct dtype t);
const struct reducer *reducer_min(struct module *m, struct dtype t);
/* If the result of r is always either lhs as a whole or rhs as a whole (all
 * values of a tuple), as for argmax: the condition under which it is rhs. Else
 * NULL. */
const struct expr *reducer_takes_all(const struct reducer *r);

#endif
