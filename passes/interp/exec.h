/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's program: a tree of scalar loops whose leaves are straight-line
 * code over columns. A column holds one value per lane; the lanes are up to
 * EXEC_LANES consecutive iterations of one loop, which is chosen so that they
 * are independent. Private to passes/interp. */
#ifndef TIRC_EXEC_H
#define TIRC_EXEC_H

#include "interp.h"
#include "scalar.h"

enum { EXEC_LANES = 256, EXEC_COLUMN_BYTES = EXEC_LANES * 8 };

/* How values are stored in a column: a narrow float as a float; every integer
 * as an int64_t that is already wrapped to its type (a uint64 as the int64_t
 * with the same bits). */
enum column { COLUMN_F32, COLUMN_F64, COLUMN_INT, COLUMN_BOOL };

enum exec_code {
	EXEC_ENV,   /* dst = env[index]: the variable of a loop or parameter */
	EXEC_LOAD,  /* dst = the elements at address `index` */
	EXEC_STORE, /* stores register a to address `index` */
	/* for each lane in order: element at address `index` (op)= a, with the
	 * operator `kind` */
	EXEC_FOLD,
	/* dst = a op b, with the operator `kind`, on operands of type `from` */
	EXEC_BINARY,
	EXEC_NOT,
	EXEC_SELECT,    /* dst = c ? a : b, lane by lane */
	EXEC_CAST,      /* dst = a, converted from type `from` to `type` */
	EXEC_CALL,      /* dst = the intrinsic `index` of a, b, c */
	EXEC_BROADCAST, /* dst = in every lane, the uniform value a */
	EXEC_SKIP,      /* jumps to op `index` unless a is true in some lane */
	/* was a store, which the op that computes the stored value now does
	 * itself */
	EXEC_NOTHING,
};

struct exec_op {
	uint8_t code; /* an enum exec_code */
	uint8_t kind; /* an enum expr_kind: the operator of BINARY and FOLD */
	bool uniform; /* the value of the register is the same in all lanes */
	bool a_uniform, b_uniform;
	struct dtype type, from;
	enum column column; /* of operands of type `from` */
	/* the register that gets the result; -1: the op has no result */
	int dst;
	int a, b, c;
	/* the register with the mask of the lanes to compute; -1: all lanes are
	 * computed */
	int mask;
	int index;
	/* the address to which the result is written in place of register dst;
	 * -1 if it is written to dst */
	int direct;
	/* the op is in a region of ops, which EXEC_SKIP may skip */
	bool skippable;
	/* of a LOAD: dst stands for the memory itself, not for a copy */
	bool aliases;
};

/* An address in elements: base + sum coeff * env[slot] + sum coeff * register +
 * lane * stride, plus register `gather` if there is one. A term is one of the
 * products. */
struct exec_term {
	int64_t coeff;
	int slot;
	bool is_register;
};

struct exec_address {
	int buffer;
	struct dtype type;
	int64_t base;
	int64_t stride;
	int64_t row_stride; /* only used while the address is being built */
	VEC(struct exec_term) terms;
	int gather;
};

/* A constant. While programs are built, the constant's register is EXEC_PRESET
 * plus the number of the constant. An integer constant may differ from lane to
 * lane: value + lane % inner * step + lane / inner * row_step. */
struct exec_preset {
	enum column column;
	union number value;
	int inner;
	int64_t step, row_step;
};

enum { EXEC_PRESET = 1 << 24 };

struct exec_program {
	VEC(struct exec_op) ops;
	VEC(struct exec_address) addresses;
	int n_regs;
	/* the register of the value that the node needs: the bound of a loop or
	 * the condition of an if; -1: the node needs no value */
	int result;
};

enum exec_node_kind {
	EXEC_SEQ,
	EXEC_LOOP,
	EXEC_LEAF,
	EXEC_IF,
	EXEC_SET,
	EXEC_ALLOC
};

struct exec_node {
	enum exec_node_kind kind;
	struct exec_node **children; /* SEQ: any number; LOOP, SET, ALLOC: 1;
				      * IF: 2 */
	int n_children;
	int slot; /* LOOP, SET: the slot of the variable in env */
	/* LOOP: the number of iterations that are computed together, as lanes;
	 * 0: the loop has no lanes */
	int strip;
	int inner;    /* LOOP: the number of lanes per iteration */
	bool is_bool; /* SET: the variable is a bool */
	/* LOOP: the range, where min_program or extent_program is NULL */
	int64_t min, extent;
	struct exec_program *min_program, *extent_program;
	/* what the node computes: the statements of a LEAF, the condition of an
	 * IF, the value of a SET */
	struct exec_program *program;
	/* LEAF: a loop around it has lanes */
	bool has_lanes;
	int buffer; /* ALLOC: the index of the allocated buffer */
	int64_t bytes;
};

struct exec {
	struct exec_node *root;
	int n_slots, n_buffers, n_regs;
	int64_t *elems; /* by buffer: the number of its elements in memory */
	/* constants; their registers follow the other registers, from n_regs
	 * on */
	VEC(struct exec_preset) presets;
	VEC(struct exec_program *) programs;
	/* by parameter: for a scalar, its slot in env; for an array, the index
	 * of its buffer; the other one of the two is -1 */
	int *param_slot, *param_buffer;
	/* by parameter: the number of bytes of its buffer */
	int64_t *param_bytes;
	int n_params;
};

/* exec_names.c, exec_expr.c: building programs. A binding is what a variable
 * stands for. */
struct exec_binding {
	const struct var *var;
	/* the value of the variable of a block or LET; NULL for other
	 * variables */
	const struct expr *value;
	/* the register that has a LET's value, or -1 */
	int reg;
	/* the slot in env of a loop variable or parameter, or -1 */
	int slot;
};

/* Which iterations are the lanes of a program. If row_var is NULL: the
 * iterations of the loop var. Else: those of the two loops row_var and, inside
 * of it, `var`, a short loop of `inner` iterations. */
struct exec_lanes {
	const struct var *var; /* NULL if there is one lane */
	const struct var *row_var;
	int slot; /* the slot of the loop that is run in strips of lanes */
	/* if row_var is not NULL: the number of iterations of `var`, which are
	 * the lanes of one row (one iteration of row_var); else EXEC_LANES */
	int inner;
};

/* The register of a value that was computed in the current region of ops, or in
 * a region around it. */
struct exec_memo {
	const struct expr *expr;
	int reg;
};

struct exec_builder {
	struct arena *arena;
	const struct func *func;
	struct exec *exec;
	VEC(struct exec_binding) bindings;
	VEC(const struct buffer *) buffers;
	/* Of the program being built. */
	struct exec_program *program;
	struct exec_lanes lanes;
	/* the register with the mask of the current region; -1: all lanes are
	 * computed */
	int mask;
	int region_depth;
	VEC(struct exec_memo) memo;
	VEC(bool) reg_uniform;
	/* the function uses something that the executor does not support, so
	 * that it is not compiled */
	bool failed;
};

enum column exec_column(struct dtype t);
int exec_slot(struct exec_builder *b, const struct var *v);
int exec_buffer(struct exec_builder *b, const struct buffer *buffer);
const struct exec_binding *exec_find(const struct exec_builder *b,
				     const struct var *v);
void exec_bind(struct exec_builder *b, const struct var *v,
	       const struct expr *value, int reg, int slot);

struct exec_program *exec_begin(struct exec_builder *b,
				const struct exec_lanes *lanes);
void exec_end(struct exec_builder *b);
int exec_value(struct exec_builder *b, const struct expr *e);
bool exec_is_uniform(const struct exec_builder *b, int reg);
void exec_store(struct exec_builder *b, const struct buffer *buffer,
		const struct expr *const *index, const struct expr *value);
void exec_fold(struct exec_builder *b, const struct buffer *buffer,
	       const struct expr *const *index, enum expr_kind kind,
	       const struct expr *value);
/* A region of ops, from exec_region_begin to exec_region_end: the ops are
 * executed only in the lanes in which the condition is true (or, if negated,
 * false). */
struct exec_region {
	/* mask, memo: the builder's mask and the length of its memo before the
	 * region; skip: the index of the EXEC_SKIP op that jumps to the
	 * region's end. */
	int mask, skip, memo;
};
struct exec_region exec_region_begin(struct exec_builder *b, int condition,
				     bool negated);
void exec_region_end(struct exec_builder *b, struct exec_region region);
/* Sets coeff[i] to the constant coefficient of vars[i] in e, with the values of
 * block and LET variables substituted. False if e is not affine in the
 * variables vars. Variables of e that are not in vars are ignored. */
bool exec_affine(const struct exec_builder *b, const struct expr *e,
		 const struct var *const *vars, int n, int64_t *coeff);
bool exec_uses(const struct exec_builder *b, const struct expr *e,
	       const struct var *v);

/* Functions of exec_expr.c that the code for addresses uses. */
int exec_binary(struct exec_builder *b, enum expr_kind kind, struct dtype type,
		struct dtype from, int x, int y);
int exec_constant_int(struct exec_builder *b, int64_t value);
/* The register of a constant that holds an offset for each lane: the offset
 * grows by `step` from lane to lane in a row, and by row_step from row to
 * row. */
int exec_lane_table(struct exec_builder *b, int64_t step, int64_t row_step);
/* exec_address.c: adds the address of an element to the program; returns its
 * index in program.addresses. */
int exec_address(struct exec_builder *b, const struct buffer *buffer,
		 const struct expr *const *index);

/* exec_regs.c: finishes a program: loads read memory directly, values are
 * computed directly at the place of their stores, registers are reused. */
void exec_finish_program(struct arena *a, struct exec_program *p);
/* Renumbers the registers of constants, so that they follow the other
 * registers. */
void exec_place_presets(struct exec *x);

/* exec_leaf.c: can exec_leaf add s to a program? It must consist of stores,
 * conditions, LETs and blocks without allocations. */
bool exec_is_leaf(const struct stmt *s);
/* Adds s, without loops, to the current program. folded: the store in s that
 * becomes a fold over the lanes, or NULL. */
void exec_leaf(struct exec_builder *b, const struct stmt *s,
	       const struct stmt *folded);
/* For a store of the form "B[i] = B[i] + value" (or with *, min or max), where
 * `value` does not read B: returns `value`; else NULL. */
const struct expr *exec_folded_value(const struct stmt *store);
/* Makes the bindings of the block's iter vars known as their values. */
void exec_bind_block(struct exec_builder *b, const struct stmt *s);
/* Can the value of the LET be substituted for its variable? It can only if the
 * value is an integer and contains no load. */
bool exec_let_is_symbolic(const struct stmt *s);

/* exec_choose.c: which loop of a perfect nest has the iterations that become
 * the lanes. */
struct exec_choice {
	/* the index of the loop whose iterations become lanes; -1: no loop was
	 * chosen */
	int lanes;
	/* the index of a loop around the loop `lanes` whose iterations become
	 * rows of lanes; -1: there are no rows */
	int rows;
	/* the number of lanes (if there are rows, of the lanes in one row);
	 * iterations of absorbed loops are included */
	int64_t extent;
	int64_t row_extent;
	/* the number of iterations whose lanes are computed together */
	int strip;
	/* by loop: true if the loop is absorbed: its iterations are lanes,
	 * too */
	bool *absorbed;
	/* the store whose values in all lanes are folded into one element; NULL
	 * if there is no such store */
	const struct stmt *folded;
};
struct exec_choice exec_choose(struct exec_builder *b,
			       const struct stmt *const *loops, int n,
			       const struct stmt *body);

/* exec_column.c, exec_map.c: read and write one lane of a column of type t. */
union number column_get(struct dtype t, const void *column, int lane);
void column_set(struct dtype t, void *column, int lane, union number n);
/* Wraps every lane to a narrower integer type. */
void column_wrap(struct dtype t, int64_t *d, int n);
/* Ops on columns of n lanes. False after an integer division by zero in a lane
 * of the mask. */
bool column_binary(const struct exec_op *op, void *dst, const void *a,
		   const void *b, const unsigned char *mask, int n);
/* Notes the overflows of such an op, before it is computed. */
void column_overflow(const struct exec_op *op, const void *a, const void *b,
		     const unsigned char *mask, int n,
		     struct run_overflow *out);
void column_select(enum column column, void *dst, const unsigned char *c,
		   bool c_uniform, const void *a, const void *b, int n);
void column_cast(struct dtype to, struct dtype from, void *dst, const void *a,
		 int n);
bool column_call(const struct exec_op *op, void *dst, const void *a,
		 const void *b, const void *c, const unsigned char *mask,
		 int n);
void column_broadcast(enum column column, void *dst, const void *a, int n);
bool column_fold(const struct exec_op *op, void *cell, const void *a,
		 const unsigned char *mask, int n);
/* Load and store elements at base[offset + lane * stride], or, if index is not
 * NULL, at base[offset + index[lane]]. */
void column_load(struct dtype t, void *dst, const void *base, int64_t offset,
		 int64_t stride, const int64_t *index,
		 const unsigned char *mask, int n);
void column_store(struct dtype t, void *base, int64_t offset, int64_t stride,
		  const int64_t *index, const void *a,
		  const unsigned char *mask, int n);
/* Do elements of this type have the same representation in memory and in
 * columns? */
bool column_is_memory(struct dtype t);

#endif
