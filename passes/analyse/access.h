/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of a buffer, for schedule primitives and lowering. */
#ifndef TIRC_ACCESS_H
#define TIRC_ACCESS_H

#include "analyse.h"
#include "func.h"
#include "iterate.h"
#include "pointer_map.h"

struct access {
	const struct buffer *buffer;
	/* the statement that contains the access: a STORE if it writes */
	struct stmt *at;
	/* the LOAD expression that is the access; NULL if the STORE itself is
	 * the access */
	const struct expr *load;
	const struct expr *const *index;
	/* the address of the element is taken: then other elements of the
	 * buffer, too, may be read and written */
	bool address;
	/* the access only writes elements: by a STORE, or through the
	 * address */
	bool fills;
};

struct access_list {
	VEC(struct access) list;
};

/* All loads and stores of buffer (NULL: of any buffer) at or below s, in
 * program order. An element whose address is taken counts as a load with the
 * flag `address`. */
void access_collect(const struct func *f, struct stmt *s,
		    const struct buffer *buffer, struct access_list *out);
/* Does the same as access_collect, but returns a new list. */
struct access_list accesses_of(const struct func *f, struct stmt *s,
			       const struct buffer *buffer);

/* The statements that access each buffer of a function, found in one walk. The
 * index remains valid while edits change the arguments of these statements,
 * move or wrap them, or replace the buffer in statements that access a single
 * buffer. */
struct access_index {
	struct pointer_map numbers; /* by buffer: its index in users */
	VEC(struct stmt_list) users;
};

void access_index_init(struct access_index *x, const struct func *f);
/* Returns what accesses_of(f, s, buffer) returns, but finds it by the index. */
struct access_list access_index_of(const struct access_index *x,
				   const struct func *f, struct stmt *s,
				   const struct buffer *buffer);

/* Does the access write? Stores do, and so do calls with an address argument in
 * a block that declares a write region of the buffer. */
bool access_writes(const struct access *x);
/* Does s load elements of b with other indices than it stores with? Addresses do not
 * count. */
bool access_loads_others(const struct func *f, struct stmt *s,
			 const struct buffer *b);
/* May `part`, a statement of the block, run before all other statements of `within`:
 * does none of those outside of the block access a buffer that `part` writes, or write
 * one that it reads? */
bool part_is_apart(const struct func *f, struct stmt *within,
		   const struct stmt *block, struct stmt *part);
/* Is an access of the list the address of an element, not its value? */
bool access_any_address(const struct access_list *list);

/* The number of statements that contain s. */
int stmt_depth(const struct stmt *s);
/* The innermost statement that contains both a and b. */
struct stmt *stmt_common(struct stmt *a, struct stmt *b);
bool stmt_contains(const struct stmt *outer, const struct stmt *inner);

/* Gives the analyser the facts that hold at s: ranges of loops, values of LETs
 * and block iter vars, and conditions. */
void analyser_enter(struct analyser *a, const struct stmt *s);
/* Initializes the analyser with the facts that hold at s (as
 * analyser_enter). */
void analyser_at(struct analyser *a, struct module *m, const struct stmt *s);
/* An upper bound of the number of iterations of a FOR; BOUND_POS_INF if no
 * bound is known. */
int64_t loop_most_iterations(struct module *m, const struct stmt *loop);
/* Like analyser_enter, but the iter vars of blocks around s have ranges instead
 * of values, so that simplified expressions keep the iter vars and can be used
 * in these blocks. */
void analyser_enter_scope(struct analyser *a, const struct stmt *s);

/* Enters the block and assumes that its iter vars are within their domains. */
void analyser_enter_domains(struct analyser *a, const struct stmt *block);

/* The loops between top (included) and s as iteration variables, outermost
 * first; sets *n to their number: the iteration domain of an access at s inside
 * top. The array is in the arena. */
struct iter_var *loops_between(const struct func *f, const struct stmt *top,
			       const struct stmt *s, int *n);

/* Replaces the buffer `from` by `to` in all accesses below s and in the
 * parameters of f. index computes the new indices (to->ndim expressions) from
 * the old indices of an access in statement `at`. */
typedef void (*index_fn)(void *ctx, const struct stmt *at,
			 const struct expr *const *old,
			 const struct expr **new);
void buffer_remap(struct func *f, struct stmt *s, const struct buffer *from,
		  const struct buffer *to, index_fn index, void *ctx);
/* Like buffer_remap, for the buffer of an ALLOC; uses: all accesses of the
 * buffer. */
void uses_remap(struct func *f, struct stmt *alloc,
		const struct access_list *uses, const struct buffer *to,
		index_fn index, void *ctx);
/* Like buffer_remap, but the parameters do not change. */
void access_remap(struct func *f, struct stmt *s, const struct buffer *from,
		  const struct buffer *to, index_fn index, void *ctx);

/* The bounding box of all accesses in the list, in terms of variables bound
 * outside of top. In a dimension, the range is the buffer's whole extent if no
 * bound is known, if the bound exceeds the extent, or if the address of an
 * element is taken. */
void access_cover(const struct func *f, const struct stmt *top,
		  const struct access *list, int n, struct range *ranges);
/* Does the same as access_cover, but the box is not clipped to the buffer.
 * False if the accesses have no bound in some dimension. */
bool access_box(const struct func *f, const struct stmt *top,
		const struct access *list, int n, struct range *ranges);

/* Splits a conjunction a && b && … into its conjuncts (expr_conjuncts), and
 * joins conjuncts to one condition, or to NULL if there are no conjuncts. */
struct conjuncts {
	VEC(const struct expr *) list;
};
void expr_conjuncts(struct module *m, const struct expr *e,
		    struct conjuncts *out);
const struct expr *expr_conjunction(struct module *m,
				    const struct expr *const *list, int n);

/* Does e contain a LOAD? */
bool expr_has_load(const struct expr *e);
/* Does argument 0 of e decide which of its other arguments are evaluated? */
bool expr_is_lazy(const struct expr *e);
/* Does e have a call with an effect? */
bool expr_has_effect(const struct expr *e);
/* Can e be computed wherever the analyser's facts hold, even if conditions that
 * guard e do not? True if it has no load, no call with an effect, and no
 * integer division by a divisor that may be zero or negative. */
bool expr_is_total(struct analyser *a, const struct expr *e);
/* For a STORE b[i] = b[i] op value, with a binary operator: the index of the
 * operand b[i], 0 or 1. -1 if the STORE has another form. */
int access_own_operand(const struct stmt *store);

#endif
